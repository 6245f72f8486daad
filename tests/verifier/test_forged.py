"""Certificates forged to claim more than they prove, or to cost their reader too much; every digest is right."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from dipc.verifier.document import check_text
from dipc.verifier.functions import Ring, add_closed, multiply
from dipc.verifier.measures import Halfspace, measure_anew
from dipc.verifier.noise import Family
from dipc.verifier.reading import Budget, Exhausted, Rejected, Unreadable, parse
from dipc.verifier.signs import Curve, prove_near_zero
from tests.patience import at_most
from tests.verifier import samples

Document = dict[str, Any]

#: Python's hash of a rational is its residue modulo this.
MODULUS = 2**61 - 1

#: Calls of functions; each takes less than a tenth of them.
PATIENCE = 10_000_000


def sample() -> Document:
    return samples.document(samples.certain(("(exp(-eps)*(1 + eps) - 1/2)^2*3 + 1/10^4",)))


def refusal(document: Document) -> str:
    with pytest.raises((Rejected, Unreadable, Exhausted)) as caught, at_most(PATIENCE):
        check_text(samples.resealed(document))
    return str(caught.value)


def long_rational(seed: int, bits: int = 12_000) -> str:
    return str(Fraction(1, random.Random(seed).getrandbits(bits) | 1))


# --- said, but not proved --------------------------------------------------------------------------


def test_texts_do_not_forge_lines_of_the_report() -> None:
    document = sample()
    words = "x\n  compared     everything\x1b[2K\r\u202e\ud800"
    del document["obligations"][0]["parts"]
    document["obligations"][0] |= {"reason": words}
    lines = list(check_text(samples.resealed(document)).lines())
    assert all(line.isprintable() for line in lines)
    assert not any(line.startswith("  compared") for line in lines)
    assert "\n".join(lines).encode("utf-8")


@pytest.mark.parametrize("name", ["alpha", "dd", "ε", "eps", "exp", "a b", "1", "", "(", "\ud800", "x\n", "еps"])
def test_no_constant_means_something_else(name: str) -> None:
    document = sample()
    document["program"]["constants"][name] = "1"
    message = refusal(document)
    assert message.startswith("program: ")
    assert message.encode("utf-8")


def test_long_constants_are_printed() -> None:
    document = sample()
    document["program"]["constants"]["m"] = "7" * 5_000
    assert any("7" * 5_000 in line for line in check_text(samples.resealed(document)).lines())


def test_rows_with_a_claim_of_their_own_are_named_beside_the_claim() -> None:
    document = sample()
    document["claim"]["beta"] = "exp(-1000*eps)"
    claim = check_text(samples.resealed(document)).claim
    # That of no row is not looked at, and not shown.
    assert claim == "eps in (0, inf); rows have their own: 1 with beta"


def test_what_is_not_derived_is_not_said_to_be() -> None:
    document = samples.document(samples.certain(("1", "1/2")))
    entry = document["obligations"][0]
    del entry["parts"]
    entry["reason"] = "it is plain"
    assert "  obligations  2, 1 of them derived again" in check_text(samples.resealed(document)).lines()


@pytest.mark.parametrize("columns", [["a", "a"], ["a", "dd"], ["a", "q"], ["a", "alpha"]])
def test_columns_with_one_name(columns: list[str]) -> None:
    document = sample()
    document["table"]["outputs"] = columns
    assert refusal(document) == "table: two of its columns have the same name"


def test_dd_from_an_ideal_that_there_is_not() -> None:
    document = sample()
    row = document["rows"][0]
    row |= {"dd": "0", "alpha": "5", "verdict": "accurate", "vacuous": True, "obligation": None}
    document["claim"]["alpha"] = "5"
    assert check_text(samples.resealed(document)).complete
    document["table"]["dd"] = "ideal"
    assert refusal(document) == "row 1: dd is said to come from the `ideal`, but the program has no `ideal`"


def test_a_root_of_two_factors_is_no_two_roots() -> None:
    document = samples.document(samples.certain(("eps - 1",)))
    (factors,) = document["obligations"][0]["chart"]["intervals"]
    assert factors == [{"function": [[0, "0", "-1"], [1, "0", "1"]], "multiplicity": 1, "evidence": None}]
    document = samples.document(samples.certain(("(eps - 1)^2*(eps - 3)",)))
    chart = document["obligations"][0]["chart"]
    factors = [
        {"function": [[0, "0", f"-{root}"], [1, "0", "1"]], "multiplicity": 1, "evidence": None} for root in (1, 1, 3)
    ]
    chart["intervals"] = [factors]
    assert "two roots cannot be told apart" in refusal(document)


# --- cheap to write, dear to check -----------------------------------------------------------------


def cell(document: Document) -> Document:
    ((found,),) = document["obligations"][0]["parts"][0]["cells"]
    assert isinstance(found, dict)
    return found


def factors_of_one(document: Document) -> None:
    cell(document)["factors"] = [{"function": [[0, "0", "1"]], "multiplicity": 10_000, "evidence": None}] * 10_000


def long_factor(document: Document) -> None:
    terms = [[0, str(-j), "1/1" + "0" * 500] for j in range(6_000)]
    cell(document)["factors"] = [{"function": terms, "multiplicity": 2, "evidence": None}]


def factors_of_one_hash(document: Document) -> None:
    terms = [[0, str(-j * MODULUS), "1"] for j in range(20)]
    cell(document)["factors"] = [{"function": terms, "multiplicity": 100, "evidence": None}]


def exponents_of_one_hash(document: Document) -> None:
    document["probabilities"] = [{"value": [[0, str(n * MODULUS), "1"] for n in range(20_000)]}]


def counterexample(document: Document, terms: list[list[Any]]) -> None:
    document["probabilities"] = [{"value": terms}]
    document["betas"] = [{"min": [[]]}]
    stated = {"argument": 0, "eps": "1"}
    entry = {"probability": 0, "beta": 0, "verdict": "inaccurate"}
    document["obligations"] = [entry | {"counterexample": stated}]


def long_exponents(document: Document) -> None:
    counterexample(document, [[0, long_rational(n), "1"] for n in range(300)])


def long_coefficients(document: Document) -> None:
    counterexample(document, [[k, "1", long_rational(k)] for k in range(300)])


def long_sums(document: Document) -> None:
    rows = [
        document["rows"][0] | {"row": n, "alpha": str(n), "own": {"alpha": str(n), "beta": "0^1000+" * 2000 + "1"}}
        for n in range(1, 500)
    ]
    document["rows"] = rows


DEAR: list[Callable[[Document], None]] = [
    factors_of_one,
    long_factor,
    factors_of_one_hash,
    exponents_of_one_hash,
    long_exponents,
    long_coefficients,
    long_sums,
]


@pytest.mark.parametrize("change", DEAR, ids=[change.__name__ for change in DEAR])
def test_what_is_dear_to_check_is_rejected_in_time(change: Callable[[Document], None]) -> None:
    document = sample()
    change(document)
    text = samples.resealed(document)
    with pytest.raises((Rejected, Unreadable, Exhausted)), at_most(PATIENCE):
        check_text(text, Budget(1_000_000))


def test_lists_that_would_fill_the_memory_are_not_made() -> None:
    with pytest.raises(Unreadable, match="more than 3000000 lists and objects"):
        parse("[" + "[]," * 3_000_000 + "1]")


def test_products_and_series_are_counted() -> None:
    draw = random.Random(1)
    left, right = (
        {(0, Fraction(n + draw.getrandbits(60) * MODULUS)): Fraction(1) for n in range(300)} for _ in range(2)
    )
    with pytest.raises(Rejected, match="take too long to compare"):
        multiply(left, right, Budget())
    curve = Curve(tuple((j, 0, 1) for j in range(1, 20_000)))
    with pytest.raises(Exhausted):
        prove_near_zero(curve, 0, Fraction(draw.getrandbits(9_000), 2**9_100 + 1), 1, Budget(1_000_000))
    # No division of long numbers: over the product of the denominators instead.
    f: Ring = {(0, Fraction(n)): Fraction(draw.getrandbits(10_000) | 1) for n in range(100)}
    g: Ring = {(0, Fraction(n)): Fraction(draw.getrandbits(10_000) | 1) for n in range(2)}
    above, below = add_closed((f, f), (g, g), Budget())
    assert above == {key: 2 * c for key, c in below.items()}


def test_orders_of_many_noises_are_given_up_in_time() -> None:
    laws = [(Family.LAPLACE, Fraction(1))] * 80
    star: list[Halfspace] = [(((n, 1), (0, -1)), n) for n in range(1, 40)]
    tail: list[Halfspace] = [(((0, 1), (n, -1)), -n) for n in range(40, 80)]
    with at_most(PATIENCE), pytest.raises(Exhausted):
        measure_anew(laws, star + tail, Budget(1_000_000))
    every: list[Halfspace] = [(((i, 1), (j, -1)), i % 3 + i - j) for i in range(8) for j in range(i)]
    assert "more than 5 noises" in str(measure_anew(laws[:8], every, Budget()))

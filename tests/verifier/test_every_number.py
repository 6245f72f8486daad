"""Claims for every number of queries: the checker finds the runs of the program itself."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.decide.obligation import Verdict
from dipc.verifier.claims import without_ones
from dipc.verifier.document import check_text
from dipc.verifier.every_number import Leg, Total, Walks, require_bounded, stated_term, totals
from dipc.verifier.loops import Iterations, Term
from dipc.verifier.noise import Family
from dipc.verifier.reading import Budget, Exhausted, NotDerived, Rejected
from dipc.verifier.syntax import read_expression, read_program
from tests.questions.real_programs import (
    ABOVE_THRESHOLD,
    LAPLACE,
    NOISY_MAX,
    NUMERIC_SPARSE,
    SPARSE,
    SPARSE_VARIANT,
)
from tests.questions.test_for_all import FINITE, NOT_UNIFORM, OWN, SPLIT, TURNS, changed
from tests.questions.test_index_answers import FLAG
from tests.questions.test_several_loops import MAXIMUM_FIRST, NOISE_FIRST, SPLIT_NOISE
from tests.verifier import samples

F = Fraction

#: The first value is drawn at another rate, and the loop begins at 5.
SELECTION = changed(
    NOISY_MAX,
    ("q[1..m]", "q[5..m]"),
    ("{1..m} = 1", "{5..m} = 5"),
    ("high <- q[1]", "high <- q[5]"),
    ("best <- Lap(eps/2, q[1])", "best <- Lap(eps/5, q[5])"),
    ("2..m", "6..m"),
    ("m = 3", "m = 8"),
    ("beta: m*exp(-alpha*eps/2)", "beta: m*exp(-alpha*eps/5)"),
)

#: An input that belongs to no iteration, one-sided noise, another norm, and a value that is carried on.
SHARED = """
program shared;
const m = 3;
input q[1..m], x : real;
output out[1..m] : bool = false;
output far : real = 0;
var r, t : real;
metric { input: l1; }
claim { alpha: dd; gamma: alpha; beta: 4*m*exp(-alpha*eps/4); }
ideal { for i in 1..m do out[i] <- q[i] + x >= 2 end }
t <- Expo(eps);
for i in 1..m do
  r <- Lap(eps/2, q[i]);
  if r + x - t >= 2 then out[i] <- true; t <- 0 end
end;
far <- Lap(eps, 0)
"""

CLAIMS: dict[str, tuple[str, dict[str, Any]]] = {
    "sparse": (SPARSE, {}),
    "sparse, two": (SPARSE, {"c": 2}),
    "sparse, a sixth": (SPARSE, {"beta": "2*m*c*exp(-alpha*eps/(8*c))/6", "for_all": "m >= 3"}),
    "sparse, at most 1": (SPARSE, {"beta": "min(1, 2*m*c*exp(-alpha*eps/(8*c)))"}),
    "sparse variant": (SPARSE_VARIANT, {"c": 2}),
    "above threshold": (ABOVE_THRESHOLD, {}),
    "at one alpha": (ABOVE_THRESHOLD, {"alpha": 2}),
    "numeric sparse": (NUMERIC_SPARSE, {}),
    "numeric sparse, two": (NUMERIC_SPARSE, {"c": 2}),
    "laplace": (LAPLACE, {"gamma": 3}),
    "laplace, every gamma": (LAPLACE, {"gamma": "free"}),
    "noisy max": (NOISY_MAX, {}),
    "noisy max, trivial near 0": (NOISY_MAX, {"beta": "m*exp(-alpha*eps/2)/3"}),
    "noisy max, another first": (SELECTION, {}),
    "turns": (TURNS, {}),
    "three turns": (changed(TURNS, ("turn = 1 then", "turn = 2 then")), {}),
    "shared": (SHARED, {}),
    "finite inputs": (FINITE, {}),
    "finite inputs of each query": (OWN, {}),
}


@cache
def certificate(name: str) -> str:
    source, given = CLAIMS[name]
    options = {"inputs": "all", "for_all": "m", **given}
    constants = {key: options.pop(key) for key in ("c",) if key in options}
    return dipc.certify(dipc.check(dipc.load(source, **constants), keep_proofs=True, **options))


def foreign(name: str, source: str) -> str:
    """The certificate `name` with another program."""
    data = samples.document(certificate(name))
    data["program"] |= {"text": source, "sha256": sha256(source.encode()).hexdigest()}
    return samples.resealed(data)


def test_cells_of_one_number_are_not_those_of_another() -> None:
    """The place of the first query is 1 in the same half-spaces for m = 1 and m = 2, which have their own classes."""
    source = Path(__file__).resolve().parent.parent.parent / "docs" / "programs" / "first_above.dip"
    accepted = check_text(dipc.certify(dipc.check(dipc.load(source), inputs="all", for_all="m", keep_proofs=True)))
    assert (accepted.verdict, accepted.complete) == ("accurate", True)


@pytest.mark.parametrize("name", CLAIMS)
def test_nothing_is_taken_on_trust(name: str) -> None:
    accepted = check_text(certificate(name))
    assert accepted.verdict == "accurate"
    assert accepted.trusted == ()
    assert accepted.complete


#: Claims that are proved, and what of their proofs is not followed: left open, or on trust.
NOT_FOLLOWED = {
    "rates with m": (SPLIT, "depend on the number"),
    "a beta by a constant": (changed(NOISY_MAX, ("m = 3", "m = 3, c = m"), ("beta: m*", "beta: c*")), "a constant"),
    "a constant that is not used": (changed(NOISY_MAX, ("m = 3", "m = 3, c = m")), "on trust"),
    "two loops": (NOISE_FIRST, "on trust"),
    "two loops with rates": (SPLIT_NOISE, "depend on the number"),
    "a maximum first": (MAXIMUM_FIRST, "on trust"),
}


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_what_is_not_followed_is_named(name: str) -> None:
    source, why = NOT_FOLLOWED[name]
    report = dipc.check(dipc.load(source), inputs="all", for_all="m", keep_proofs=True)
    assert report.verdict is Verdict.ACCURATE
    accepted = check_text(dipc.certify(report))
    assert accepted.verdict == "accurate"
    assert not accepted.complete
    assert accepted.trusted if why == "on trust" else any(why in reason for _, reason in accepted.open_rows)


#: Programs that are the same for one query, and less accurate for many, by what replaces what.
WORSE: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "more noise from the second on": (
        "sparse",
        [
            ("var rT, r : real;", "var rT, r : real; var first : bool = true;"),
            (
                "r <- Lap(eps/(4*c), q[i]);",
                "if first then r <- Lap(eps/(4*c), q[i]) else r <- Lap(eps/9, q[i]) end; first <- false;",
            ),
        ],
    ),
    "another threshold from the second on": (
        "above threshold",
        [("out[i] <- bot end\nend", "out[i] <- bot; rT <- Lap(eps/2, 1) end\nend")],
    ),
    "a threshold that is drawn once more": (
        "above threshold",
        [("out[i] <- bot end\nend", "out[i] <- bot; rT <- Lap(eps/4, rT) end\nend")],
    ),
    "another answer in the end": (
        "laplace",
        [("out[i] <- Lap(eps/delta, q[i])", "out[i] <- Lap(eps/delta, q[i]) + 9")],
    ),
    "a rate that falls": ("noisy max", [("r <- Lap(eps/2, q[i])", "r <- Lap(eps/(2*i), q[i])")]),
    "a rate that falls with m": ("noisy max", [("r <- Lap(eps/2, q[i])", "r <- Lap(eps/m, q[i])")]),
    "a rate that falls with the index so far": (
        "noisy max",
        [("r <- Lap(eps/2, q[i])", "r <- Lap(eps/(2 + 4*(out - 1)*(out - 2)), q[i])")],
    ),
    "the first at another rate": ("noisy max", [("best <- Lap(eps/2, q[1])", "best <- Lap(eps/3, q[1])")]),
    "the last of the largest": ("noisy max", [("r > best", "r < best")]),
    "the index before": ("noisy max", [("best <- r; out <- i", "best <- r; out <- i - 1")]),
    "more noise for one value of an input": (
        "finite inputs",
        [
            (
                "r <- Lap(eps/4, q[i])",
                "if T = 2 then r <- Lap(eps/9, q[i]) else r <- Lap(eps/4, q[i]) end",
            )
        ],
    ),
    "another threshold for one value of an input": (
        "finite inputs",
        [("t <- Lap(eps/2, T)", "if T = 2 then t <- Lap(eps/2, 1) else t <- Lap(eps/2, T) end")],
    ),
    "more noise for one value of a query's own input": (
        "finite inputs of each query",
        [("else r <- Lap(eps/4, q[i]) end", "else if asked[i] then r <- Lap(eps/9, q[i]) else r <- 0 end end")],
    ),
    "a query that was not asked is remembered": (
        "finite inputs of each query",
        [
            ("var r : real;", "var r : real; var quiet : bool = false;"),
            (
                "if asked[i] then if r",
                "if quiet then r <- Lap(eps/9, q[i]) end; quiet <- not asked[i]; if asked[i] then if r",
            ),
        ],
    ),
    "an answer for one value of a query's own input": (
        "finite inputs of each query",
        [("else out[i] <- 1 end end\nend", "else out[i] <- 1 end else if T[i] = 2 then out[i] <- 1 end end\nend")],
    ),
    "another array": ("noisy max", [("input q[1..m] : real;", "input q[1..m] : real; input w[1..m] : real;")]),
    "another norm": ("shared", [("input: l1", "input: linf"), ("q[i] + x >= 2", "q[i] + x >= 2 or x >= 7")]),
    "a third turn": (
        "turns",
        [
            ("turn = 1 then turn <- 0", "turn = 2 then turn <- 0"),
            (
                "else r <- Lap(eps/2, q[i])",
                "else if turn = 1 then r <- Lap(eps/2, q[i]) else r <- Lap(eps/4, q[i]) end",
            ),
        ],
    ),
    "noise that piles up": (
        "turns",
        [
            ("var r : real;", "var r, s : real;"),
            ("if turn = 0 then", "s <- Lap(eps, 0); if turn = 0 then"),
            ("if r >= 0", "if r + s >= 0"),
        ],
    ),
    "noise that is kept": (
        "turns",
        [("var r : real;", "var r : real; var s : real = 0;"), ("if r >= 0", "s <- s + Lap(eps, 0); if r + s >= 0")],
    ),
}


@pytest.mark.parametrize("name", WORSE)
def test_another_program_does_not_have_these_terms(name: str) -> None:
    base, changes = WORSE[name]
    source = CLAIMS[base][0]
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new)
    try:
        accepted = check_text(foreign(base, source))
    except Rejected:
        return
    assert accepted.trusted
    assert not accepted.complete


@pytest.mark.parametrize("name", ["sparse", "numeric sparse, two", "noisy max, another first", "three turns"])
@pytest.mark.parametrize("change", ["fewer fixed", "fewer repeated", "later", "one sum alone"])
def test_fewer_terms_are_not_enough(name: str, change: str) -> None:
    """The inequalities for fewer terms hold, but they are not about the program."""
    data = samples.document(certificate(name))
    union = data["numbers"]["union"]
    changes = 0
    if change == "one sum alone":
        changes = len(union["sums"]) - 1
        union["sums"] = [min(union["sums"], key=lambda total: len(total["fixed"]))]
    for total in union["sums"]:
        if change == "later":
            total["once"] = str(int(total["once"]) + 1)
            changes += 1
        for part in ("fixed", "repeated"):
            if change == f"fewer {part}" and total[part]:
                total[part].pop()
                changes += 1
    assert changes
    try:
        accepted = check_text(samples.resealed(data))
    except Rejected:
        return
    assert not accepted.complete


#: Inputs whose values are others for each number.
GROWING = ("input k : {0..m};", "input k : few; domain few = {0..m};")


@pytest.mark.parametrize("declared", GROWING)
def test_inputs_with_more_values_for_greater_numbers_are_not_followed(declared: str) -> None:
    source = changed(FINITE, ("input T : {0..2};", f"input T : {{0..2}}; {declared}"))
    with pytest.raises(NotDerived, match="the number of values of an input"):
        Iterations.from_program(read_program(source, Budget()), "m", {"m": F(3)}, Budget())


#: Texts that are not alike for every number.
UNLIKE = ("a rate with m", "a constant of m", "an index as a value", "a neighbor", "two loops", "a step beyond")


@pytest.mark.parametrize("name", UNLIKE)
def test_programs_that_are_not_alike_for_every_number(name: str) -> None:
    tree = read_program(NOT_UNIFORM[name][0], Budget())
    with pytest.raises(NotDerived):
        Iterations.from_program(tree, "m", dict.fromkeys(("m", "c", "T", "k", "delta"), F(3)), Budget())


def test_terms_are_found_whatever_their_order_and_scale() -> None:
    laplace, one_sided = (Family.LAPLACE, F(1), F(5)), (Family.ONE_SIDED, F(2), F(5))
    opposite = (Family.ONE_SIDED, F(2), F(-5))
    small, great = (Term.normalized([(*laplace[:2], F(-2)), (*one_sided[:2], F(2))], F(c)) for c in (3, 4))
    assert stated_term([one_sided, laplace], [small, great], lambda least: least <= F(15, 2)) == small
    assert stated_term([one_sided, laplace], [small, great], lambda _: True) == great
    assert stated_term([one_sided, laplace], [small, great], lambda least: least < F(15, 2)) is None
    assert stated_term([opposite, laplace], [small, great], lambda _: True) is None


@pytest.mark.parametrize(
    ("beta", "left"),
    [
        ("min(1, 2*m*exp(-eps))", "2*m*exp(-eps)"),
        ("min(max(m, 2), 3, 1)", "max(m, 2)"),
        ("(min(1, m))", "m"),
        ("min(1, m) + 1", None),
        ("min(1, m)*min(1, 2)", None),
        ("min(1/2, m)", None),
        ("min(0, m)", None),
        ("min(1, m, 2*m)", None),
        ("max(1, m)", None),
    ],
)
def test_only_what_is_at_least_one_is_left_out(beta: str, left: str | None) -> None:
    assert without_ones(read_expression(beta, Budget())) == read_expression(left or beta, Budget())


def test_the_least_of_others_is_not_the_claim() -> None:
    """A certificate for a beta does not prove the claim with the min of that beta and a number below 1."""
    for other in ("min(1/2, {})", "min(0, {})", "min(1, {})/2", "min(1, {}, {}/2)"):
        data = samples.document(certificate("sparse"))
        beta = data["claim"]["beta"]
        data["claim"]["beta"] = other.format(beta, beta)
        with pytest.raises(Rejected):
            check_text(samples.resealed(data))


#: Changes of a text that may leave a program.
EDITS = (
    ("eps/2", "eps"), ("eps/2", "eps/3"), ("q[i]", "q[i] + 1"), (">=", ">"), (">= 0", ">= 1"), (">= 0", "<= 0"),
    ("turn <- 0", "turn <- 1"), ("turn + 1", "turn"), ("turn = 0", "turn >= 1"), ("turn = 1", "r >= 0"),
    ("{0..2} = 0", "{0..2} = 1"), ("if r", "if r + 1"), ("out[i] <- 1", "out[i] <- 0"),
    ("Lap(eps, q[i])", "Lap(eps, 0)"),
    ("r <- Lap(eps/2, q[i])", "r <- Lap(eps/2, r)"), ("= 0;\nvar r : real", "= 0;\nvar r : real = 0"),
    ("for i in 1..m do\n", "for i in 1..m do if turn = 0 then exit end; "), ("claim", "metric { input: l1; } claim"),
)  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_what_is_accepted_for_every_number_is_so_for_some(seed: int) -> None:
    """Changed programs with the first program's certificate: the engine finds accurate whatever the checker accepts."""
    chance = random.Random(seed)
    for _ in range(30):
        source = TURNS
        for old, new in chance.sample(EDITS, chance.choice((1, 1, 2))):
            if old in source:
                places = [at for at in range(len(source)) if source.startswith(old, at)]
                at = chance.choice(places)
                source = source[:at] + new + source[at + len(old) :]
        try:
            accepted = check_text(foreign("turns", source))
        except Rejected:
            continue
        if accepted.complete:
            for number in (1, 2, 3):
                verdict = dipc.check(dipc.load(source, m=number), inputs="all", beta="m*exp(-alpha*eps/2)/2").verdict
                assert verdict is not Verdict.INACCURATE, source


def test_the_paths_through_many_heads_are_counted() -> None:
    """The heads form a ring, with two ways from each to the next: cheap if the ways are alike."""
    term, other = (Term(((Family.LAPLACE, F(1), F(1)),), F(c)) for c in (0, 1))

    def ring(*terms: Term) -> Walks:
        steps = [tuple(Leg((head + 1) % 200, (one,)) for one in terms) for head in range(200)]
        return Walks((), steps, [(Leg(None, ()),)] * 200)

    budget = Budget()
    require_bounded(totals(ring(term), 1, budget), [Total((term,) * 199, (term,), 0)], budget)
    assert budget.steps - budget.left < 1_000_000
    with pytest.raises(Exhausted):
        list(totals(ring(term, other), 1, Budget(2_000_000)))


def test_a_number_far_from_those_before_refutes() -> None:
    """The cases are the numbers before the start, and one number at which the claim is false."""
    source = changed(NOISY_MAX, ("eps/2", "eps/(2*m)"))
    report = dipc.check(
        dipc.load(source), inputs="all", for_all="m", beta="16*m*exp(-alpha*eps/8)", alpha="dd", keep_proofs=True
    )
    text = dipc.certify(report)
    accepted = check_text(text)
    assert (accepted.verdict, accepted.complete) == ("inaccurate", True)
    data = samples.document(text)
    assert [case["constants"]["m"] for case in data["cases"]] == ["1", "2", "3", "4", "9"]
    del data["cases"][-2]
    with pytest.raises(Rejected, match="the numbers before `start`"):
        check_text(samples.resealed(data))
    # At eight the same input does not refute it.
    data = samples.document(text)
    data["cases"][-1]["constants"]["m"] = "8"
    with pytest.raises(Rejected):
        check_text(samples.resealed(data))


@pytest.mark.parametrize("other", ["n <- n + 0;", "n <- n + 1; n <- n - 1;", "n <- 0;"])
def test_counters_that_stand_still_take_few_steps(other: str) -> None:
    data = samples.document(dipc.certify(dipc.check(dipc.load(SPARSE), inputs="all", for_all="m", keep_proofs=True)))
    text = changed(SPARSE, ("n <- n + 1;", other))
    data["program"] |= {"text": text, "sha256": sha256(text.encode()).hexdigest()}
    budget = Budget(200_000)
    assert not check_text(samples.resealed(data), budget).complete
    assert budget.left > 0


def test_an_ideal_that_ends_before_the_loop_is_not_that_of_a_flag() -> None:
    """No input has another answer, but the program may answer yes: the claim is wrong."""
    data = samples.document(dipc.certify(dipc.check(dipc.load(FLAG), inputs="all", for_all="m", keep_proofs=True)))
    data["cases"], data["numbers"]["least"] = [], data["numbers"]["start"]
    assert check_text(samples.resealed(data)).complete
    text = data["program"]["text"].replace("ideal { for", "ideal { exit; for")
    data["program"] |= {"text": text, "sha256": sha256(text.encode()).hexdigest()}
    accepted = check_text(samples.resealed(data))
    assert not accepted.complete
    assert "more than one path leads to the loop" in accepted.trusted[0]

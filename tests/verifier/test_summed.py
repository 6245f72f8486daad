"""Discrete normal noise in the checker: compared with sums over all integers to 50 digits, and forged."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import pytest

import dipc
from dipc.certificate.events import summed_data
from dipc.certificate.privacy import certify_privacy
from dipc.questions.privacy.outcome import read_claim
from dipc.verifier.document import check_text
from dipc.verifier.functions import ONE
from dipc.verifier.noise import Family, NoiseFamily, Normal
from dipc.verifier.normal import Cell, Enclosed, next_to_zero, star_of
from dipc.verifier.reading import Budget, NotDerived, Rejected
from dipc.verifier.reals import Number, Power
from dipc.verifier.summed import Summed, read_summed, summed_of
from dipc.verifier.taylor import Expansion, NotShown, Series
from tests.privacy.test_finite_inputs import question_about
from tests.verifier.mutations import mutated, places
from tests.verifier.samples import resealed

F = Fraction

#: log 3, a square of deviations that is irrational.
LOG3 = Number(F(1), (Power("log", Number(F(3)), F(1)),))

Laws = list[tuple[NoiseFamily, Fraction]]
Rows = list[tuple[tuple[tuple[int, int], ...], Fraction]]


def exact(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


# --- truth --------------------------------------------------------------------------------------------------


def masses(family: NoiseFamily, size: Fraction, eps: Fraction) -> dict[int, mpmath.mpf]:
    """The masses of all integers with a probability of at least 10^-55."""
    if not isinstance(family, Normal):
        z = mpmath.exp(-exact(size * eps))
        return {
            k: (1 - z) / (1 + z) * z ** abs(k) for k in range(-int(130 / (size * eps)), int(130 / (size * eps)) + 1)
        }
    variance = exact(size) * (mpmath.log(3) if family.square == LOG3 else 1) / (1 if family.fixed else exact(eps) ** 2)
    most = int(16 * mpmath.sqrt(variance)) + 1
    weights = {k: mpmath.exp(-(k * k) / (2 * variance)) for k in range(-most, most + 1)}
    whole = sum(weights.values())
    return {k: weight / whole for k, weight in weights.items()}


def probability(laws: Laws, rows: Rows, eps: Fraction) -> mpmath.mpf:
    """The probability by summation over all values; each noise is forgotten after the last half-space with it."""
    states: dict[tuple[int, ...], mpmath.mpf] = {tuple(0 for _ in rows): mpmath.mpf(1)}
    for place, (family, size) in enumerate(laws):
        found: dict[tuple[int, ...], mpmath.mpf] = {}
        form = [dict(row).get(place, 0) for row, _ in rows]
        for k, mass in masses(family, size, eps).items():
            for sums, chance in states.items():
                key = tuple(s + c * k for s, c in zip(sums, form, strict=True))
                found[key] = found.get(key, mpmath.mpf(0)) + chance * mass
        states = found
        for number, (row, d) in enumerate(rows):
            # What is decided is its sign.
            if all(i <= place for i, _ in row):
                left: dict[tuple[int, ...], mpmath.mpf] = {}
                for sums, chance in states.items():
                    if sums[number] + d >= 0:
                        key = (*sums[:number], 0, *sums[number + 1 :])
                        left[key] = left.get(key, mpmath.mpf(0)) + chance
                states = left
                rows = [*rows[:number], (row, F(0)), *rows[number + 1 :]]
    return sum(states.values(), mpmath.mpf(0))


def drawing(chance: random.Random) -> tuple[Laws, Rows]:
    """A random event of one to three noises, one of them discrete normal: stars, chains, and sums of multiples."""
    laws: Laws = []
    for place in range(chance.randint(1, 3)):
        size = F(chance.randint(1, 8), chance.choice((2, 4, 8)))
        families: list[tuple[NoiseFamily, Fraction]] = [
            (Normal(False, whole=True), size),
            (Normal(False, LOG3, True), size / 2),
            (Normal(True, LOG3, True), size / 2),
            (Family.DISCRETE_LAPLACE, F(chance.randint(4, 9), 2)),
        ]
        laws.append(families[chance.choice((0, 0, 0, 1, 2, 3) if place else (0, 0, 1))])
    count = len(laws)
    rows: Rows = []
    if chance.random() < 0.35 and count > 1:
        form = tuple((i, chance.choice((-2, -1, 1, 1, 3))) for i in range(count))
        rows.append((form, F(chance.randint(-8, 12), 2)))
        if chance.random() < 0.5:
            rows.append((tuple((i, -2 * c) for i, c in form), F(chance.randint(1, 19))))
        return laws, rows
    for i in range(1, count):
        rows.append(
            (
                ((chance.choice((0, i - 1)), chance.choice((-2, -1, 1, 1))), (i, chance.choice((-2, -1, 1)))),
                F(chance.randint(-4, 6)),
            )
        )
    for _ in range(chance.choice((0, 1, 2)) if count > 1 else 2):
        rows.append((((chance.randrange(count), chance.choice((-1, 1))),), F(chance.randint(-2, 5))))
    return laws, rows


def written_otherwise(laws: Laws, rows: Rows, chance: random.Random) -> tuple[Laws, Rows]:
    """The same event with noises and half-spaces in another order, with other multiples and signs."""
    order = chance.sample(range(len(laws)), len(laws))
    signs = [chance.choice((-1, 1)) for _ in laws]
    turned: Rows = []
    for form, d in chance.sample(rows, len(rows)):
        times = chance.choice((1, 1, 2, 3))
        turned.append((tuple((order.index(i), times * signs[i] * c) for i, c in form), times * d))
    return [laws[i] for i in order], turned


# --- enclosures ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(n, marks=pytest.mark.slow) for n in range(12, 400))])
def test_sums_over_integers_are_as_near_as_they_say(seed: int) -> None:
    """The bounds by continuous noises next to 0, and those of the tails, are as near as they say, too."""
    chance = random.Random(f"summed {seed}")
    laws, rows = drawing(chance)
    event = summed_of(laws, rows)
    assert summed_of(*written_otherwise(laws, rows, chance)) == event
    assert read_summed(json.loads(json.dumps(summed_data(event)))) == event
    total = Enclosed({(event,): (ONE, ONE)})
    middle = F(chance.choice((2, 4, 5, 9, 16)), 4)
    radius = middle / chance.choice((4, 6, 10, 40))
    eps, found = middle, mpmath.mpf(0)
    with mpmath.workdps(50):
        for reach, terms, accuracy in ((F(0), 1, 160), (radius, 12, 24), (radius, 20, 60)):
            cell = Cell(middle, reach, terms, accuracy, Budget())
            try:
                series = cell.star(event)
            except NotShown:
                assert reach, "at one eps all is shown"
                continue
            except NotDerived:
                continue  # it is too large
            left = F(0)
            if reach:
                left = min(most * q**terms / (1 - q) for q, most, _ in cell.disks(total))
            for u in (F(-1), F(1, 3), F(1)) if reach else (F(0),):
                eps = middle + reach * u
                value = sum(mpmath.mpf(c) * exact(u) ** k for k, c in enumerate(series.coefficients))
                found = probability(laws, rows, eps)
                off = abs(value / mpmath.mpf(2) ** cell.bits - found)
                allowed = mpmath.mpf(2) ** -accuracy + mpmath.mpf(series.error) / mpmath.mpf(2) ** cell.bits
                assert off <= allowed + exact(left) + mpmath.mpf(10) ** -45
        if event.tails is not None:
            missed = mpmath.mpf(10) ** -45
            for rate in event.tails:
                number = rate if isinstance(rate, F) else rate.ends(64)[1] * eps
                missed += mpmath.exp(-exact(number * eps)) / 2
            assert 1 - found <= missed
        for weight in (F(1), F(-1)):
            bound = next_to_zero(Enclosed({(event,): ({(0, F(0)): weight}, ONE)}))
            assert bound is not None, "its weight has a sign"
            low = Cell(eps, F(0), 1, 40, Budget()).enclosure(bound)[0] if bound.terms else F(0)
            assert exact(low) <= exact(weight) * found


@pytest.mark.parametrize("deviation", ["1/1000000", "1/1000", "1/3", "1", "30", "200"])
def test_deviations_of_all_sizes(deviation: str) -> None:
    """The sums agree to 50 digits, also if one value has nearly all of the mass, or none of thousands has much."""
    laws: Laws = [(Normal(True, whole=True), F(deviation) ** 2), (Normal(True, whole=True), F(1, 4))]
    rows: Rows = [(((0, 1), (1, -1)), F(-1)), (((0, 1),), F(3))]
    low, high = Cell(F(1), F(0), 1, 200, Budget()).enclosure(Enclosed({(summed_of(laws, rows),): (ONE, ONE)}))
    with mpmath.workdps(60):
        wanted = probability(laws, rows, F(1))
        assert high - low < F(1, 10**50)
        assert exact(low) - mpmath.mpf(10) ** -50 <= wanted <= exact(high) + mpmath.mpf(10) ** -50


def test_means_that_are_far_apart() -> None:
    """The probability is next to 0 or 1, with a bound that is."""
    for distance, wanted in ((10**6, F(1)), (-(10**6), F(0))):
        event = summed_of(
            [(Normal(False, whole=True), F(4)), (Normal(False, whole=True), F(9))], [(((0, 1), (1, 1)), F(distance))]
        )
        low, high = Cell(F(1, 3), F(0), 1, 100, Budget()).enclosure(Enclosed({(event,): (ONE, ONE)}))
        assert low - F(1, 2**98) <= wanted <= high + F(1, 2**98)


def test_what_is_too_large_is_not_worked_out() -> None:
    wide = summed_of([(Normal(False, whole=True), F(10**12))], [(((0, 1),), F(1))])
    with pytest.raises(NotDerived, match="more than 20000 terms"):
        Cell(F(1), F(0), 1, 40, Budget()).star(wide)
    plain = summed_of([(Normal(False, whole=True), F(1))], [(((0, 1),), F(1))])
    with pytest.raises(NotShown):
        Cell(F(1), F(1), 8, 40, Budget()).star(plain)
    assert not list(Cell(F(1), F(2, 3), 8, 40, Budget()).disks(Enclosed({(plain,): (ONE, ONE)})))


@pytest.mark.parametrize("seed", range(20))
def test_inverses_of_series(seed: int) -> None:
    """The inverse is right for each true series within the error of the given one."""
    chance = random.Random(f"inverse {seed}")
    cell = Expansion(F(1), F(1, 4), 10, 30, Budget())
    one = 1 << cell.bits
    mine = Series(
        [one * chance.randint(2, 50), *(chance.randint(-one, one) for _ in range(9))], chance.choice((0, 5, one >> 20))
    )
    found = cell.inverse(mine)
    moved = list(mine.coefficients)
    for _ in range(mine.error and 3):
        moved[chance.randrange(10)] += chance.choice((-1, 1)) * (mine.error // 3)
    true = [F(one, moved[0])]
    for n in range(1, 10):
        true.append(-sum((F(moved[k], one) * true[n - k] for k in range(1, n + 1)), F(0)) * F(one, moved[0]))
    assert sum(abs(a * one - b) for a, b in zip(true, found.coefficients, strict=True)) <= found.error
    with pytest.raises(NotShown):
        cell.inverse(Series([one, *([-one] * 9)], one))


@pytest.mark.parametrize(
    ("laws", "rows", "why"),
    [
        ([(Normal(False), F(1)), (Normal(False, whole=True), F(1))], [(((0, 1), (1, 1)), F(0))], "is not on integers"),
        (
            [(Normal(False, whole=True), F(1))] * 3,
            [(((0, 1), (1, 1)), F(0)), (((1, 1), (2, 1)), F(0)), (((0, 1), (2, 1)), F(0))],
            "form a cycle",
        ),
        (
            [(Normal(False, whole=True), F(1))] * 3,
            [(((0, 1), (1, 1), (2, 1)), F(0)), (((0, 1), (1, 2)), F(0)), (((0, 1), (2, 3)), F(3))],
            "more than two sums",
        ),
        (
            [(Normal(False, whole=True), F(1))] * 40,
            [(((i, 1), (i + 1, 1)), F(0)) for i in range(39)],
            "too long a chain",
        ),
    ],
)
def test_what_is_no_tree(laws: Laws, rows: Rows, why: str) -> None:
    with pytest.raises(NotDerived, match=why):
        star_of((tuple(laws), tuple(rows)))


BRANCH: list[Any] = [[["1", "discrete-normal", "4", False]], [["1", "0", "3"]], []]


@pytest.mark.parametrize(
    "values",
    [
        [[], BRANCH[1], []],
        [[["0", "discrete-normal", "4", False]], BRANCH[1], []],
        [[["1", "discrete-normal", "0", False]], BRANCH[1], []],
        [[["1", "discrete-laplace", "1", True]], BRANCH[1], []],
        [[["1", "normal", "1", False]], BRANCH[1], []],
        [[["1", "discrete-normal", "4", False, ["-1", []]]], BRANCH[1], []],
        [BRANCH[0], [["0", "1", "3"]], []],
        [BRANCH[0], [["1", "1", "3"]], []],
        [BRANCH[0], [["1", "0", "1/2"]], []],
        [BRANCH[0], BRANCH[1], [[0, BRANCH]]],
        [BRANCH[0], BRANCH[1], [[201, BRANCH]]],
        [BRANCH[0], BRANCH[1], [[200, BRANCH]]],
        [BRANCH[0]],
    ],
)
def test_what_is_read_is_a_tree(values: Any) -> None:
    assert isinstance(read_summed({"values": BRANCH}), Summed)
    with pytest.raises(Rejected):
        read_summed({"values": values})


def test_trees_are_not_read_too_deep() -> None:
    values = BRANCH
    for _ in range(30):
        values = [BRANCH[0], BRANCH[1], [[1, values]]]
    with pytest.raises(Rejected, match="too deep"):
        read_summed({"values": values})


# --- programs -----------------------------------------------------------------------------------------------

SPARSE = """
program sparse;
const m = 2;
input q[1..m] : int;
output out[1..m] : bool;
var t, r : int;
ideal { for i in 1..m do out[i] <- q[i] >= 0 end }
t <- DGauss(2/eps, 0);
for i in 1..m do
  r <- DGauss(3/eps, q[i]);
  out[i] <- r >= t
end
"""
COUNT = "program count; input q : int; output r : int; ideal { r <- q } r <- DGauss(3/eps, q)"
SUM = """
program sum; input q[1..2] : int; output r : bool; var a, b, c : int; ideal { r <- q[1] + 2*q[2] >= 0 }
a <- DGauss(3/eps, q[1]); b <- DGauss(2/eps, q[2]); c <- DGauss(1/eps, 0); r <- a + 2*b >= c
"""
CHAIN = """
program chain; input q[1..3] : int; output r : bool; var a, b, c : int;
ideal { r <- q[1] >= q[2] and q[2] >= q[3] }
a <- DGauss(3/eps, q[1]); b <- DGauss(2/eps, q[2]); c <- DLap(eps, q[3]); r <- a >= b and b >= c
"""
CHOICE = "program choice; input q : {0..2}; output o : bool; o <- DGauss(2/eps, q) >= 1"

#: Programs, what is asked, and the verdict.
QUESTIONS: dict[str, tuple[str, dict[str, Any], str]] = {
    "all inputs": (SPARSE, {"inputs": "all", "alpha": 5, "beta": "2*exp(-5*eps/4)"}, "accurate"),
    "all inputs, refuted": (SPARSE, {"inputs": "all", "alpha": 5, "beta": "exp(-5*eps/2)"}, "inaccurate"),
    "a row": (SPARSE, {"inputs": "q=(4,-4)", "alpha": "dd", "beta": "2*exp(-eps*alpha/4)"}, "accurate"),
    "near its supremum": (
        SPARSE,
        {"inputs": "q=(4,-4)", "alpha": 0, "beta": "1.03*exp(-eps)", "eps": "[1/2, 3/2]"},
        "accurate",
    ),
    "a row, refuted": (
        SPARSE,
        {"inputs": "q=(4,-4)", "alpha": 0, "beta": "exp(-2*eps)", "eps": "[1/2, inf)"},
        "inaccurate",
    ),
    "finite inputs": (
        SPARSE,
        {"inputs": "q=-3..3", "alpha": "dd", "beta": "2*exp(-eps*alpha/4)", "eps": "[1/2, 4]"},
        "accurate",
    ),
    "a point": (SPARSE, {"inputs": "q=(4,-4)", "alpha": 0, "beta": "3/4", "eps": "[1/3, 1/3]"}, "accurate"),
    "a ball": (
        COUNT,
        {"inputs": "all", "alpha": 0, "gamma": 6, "beta": "2*exp(-3*eps)", "eps": "[1/2, inf)"},
        "accurate",
    ),
    "a ball, refuted": (
        COUNT,
        {"inputs": "all", "alpha": 0, "gamma": 6, "beta": "exp(-3*eps)/2", "eps": "[1/2, inf)"},
        "inaccurate",
    ),
    "a ball without eps": (
        COUNT.replace("/eps", ""),
        {"inputs": "all", "alpha": 0, "gamma": 6, "beta": "1/10"},
        "accurate",
    ),
    "an irrational deviation": (
        COUNT.replace("3/eps", "2*sqrt(log(3))/eps"),
        {"inputs": "q=1", "alpha": 0, "gamma": 6, "beta": "2*exp(-3*eps)"},
        "accurate",
    ),
    "against erfc": (
        SPARSE,
        {"inputs": "q=(4,-4)", "alpha": 0, "beta": "2*erfc(eps/2)", "eps": "[1/2, 2]"},
        "accurate",
    ),
    "a sum of three": (SUM, {"inputs": "q=(4,4)", "alpha": 0, "beta": "exp(-eps/2)", "eps": "[1, 4]"}, "accurate"),
    "a sum, for all": (
        SUM.replace("2*", ""),
        {"inputs": "all", "alpha": 4, "beta": "exp(-eps/2)", "eps": "[1, inf)"},
        "accurate",
    ),
    "a chain": (CHAIN, {"inputs": "q=(8,4,0)", "alpha": 0, "beta": "2*exp(-eps/2)"}, "accurate"),
}


@cache
def certificate(name: str) -> str:
    source, options, _ = QUESTIONS[name]
    return dipc.certify(dipc.check(dipc.load(source), keep_proofs=True, **options))


@pytest.mark.parametrize("name", QUESTIONS)
def test_programs_with_discrete_gaussian_noise_are_certified(name: str) -> None:
    accepted = check_text(certificate(name))
    assert accepted.complete
    assert accepted.verdict == QUESTIONS[name][2]


def test_privacy_at_pairs_is_certified() -> None:
    for delta, verdict in (("1/5", "private"), ("1/50", "not private")):
        question = question_about(CHOICE, "linf:1", None)
        report = question.decide(read_claim(question.program, "eps/2", delta, "[1/2, 2]"))
        accepted = check_text(certify_privacy(question, report))
        assert accepted.complete
        assert str(report.verdict) == verdict


# --- forgeries ----------------------------------------------------------------------------------------------


def false_claims() -> Iterator[tuple[str, dict[str, Any]]]:
    """Certificates of slightly false claims, in all their parts."""
    truths: list[tuple[str, Laws, Rows, Fraction, str]] = [
        (
            "near its supremum",
            [(Normal(False, whole=True), F(4)), *[(Normal(False, whole=True), F(9))] * 2],
            [(((0, -1), (1, 1)), F(4)), (((0, 1), (2, -1)), F(3))],
            F(1),
            "exp(-eps)",
        ),
        ("a ball without eps", [(Normal(True, whole=True), F(9))], [(((0, 1),), F(6)), (((0, -1),), F(6))], F(1), ""),
    ]
    for name, laws, rows, eps, fall in truths:
        missed = 1 - probability(laws, rows, eps)
        least = F(str(mpmath.nstr(missed * (mpmath.exp(exact(eps)) if fall else 1), 15)))
        data = json.loads(certificate(name))
        for factor in (F(99, 100), F(999, 1000), 1 - F(1, 10**9)):
            data["claim"]["beta"] = f"({least * factor})" + (f"*{fall}" if fall else "")
            for beta in data["betas"]:
                ((term,),) = beta["min"]
                term[2] = str(least * factor)
            yield name, json.loads(json.dumps(data))


@pytest.mark.parametrize("count", [60, pytest.param(250, marks=pytest.mark.slow)])
def test_what_is_false_is_never_accepted_in_full(count: int) -> None:
    """False claims are not accepted whatever else is changed in their evidence and sums."""
    chance = random.Random(f"forged {count}")
    rejected = 0
    for name, data in false_claims():
        for number in range(count):
            forged = data
            for _ in range(number % 3):
                changed = ("obligations", "probabilities", "rows", "classes")
                forged, _ = mutated(forged, [path for path in places(forged) if path[0] in changed], chance)
            try:
                accepted = check_text(resealed(forged))
            except Rejected:
                rejected += 1
                continue
            if accepted.complete:
                # The sentence is another one then, about no row, another row, or none that is accurate.
                original = json.loads(certificate(name))
                assert accepted.verdict != "accurate" or forged.get("rows") != original.get("rows"), name
                assert not forged.get("rows") or forged["rows"][0]["input"] != original["rows"][0]["input"]
    assert rejected > count


SIGN = "program sign; input q : int; output r : bool; ideal { r <- q >= 0 } r <- DGauss(1/eps, q) >= 0"


def test_a_sum_without_limits_ends_in_no_error() -> None:
    """A certificate may state such a sum, and normal noises in its place are compared with nothing."""
    source = "program s; input q : int; output o : bool; o <- DGauss(1/eps, q) >= 0"
    row = {"q": "2", "o": "true", "dd": "0"}
    report = dipc.check(dipc.load(source), [row], alpha="0", beta="1/5", eps="[1, 5/4]", keep_proofs=True)
    data = json.loads(dipc.certify(report))
    data["probabilities"][0]["stars"][0][1][0]["values"][1].clear()
    assert not check_text(resealed(data)).complete


def test_bounds_of_tails_do_not_cancel_exact_ones() -> None:
    """Far out it fails with about e^(-eps²/2), which is more than any multiple of erfc(eps/√2)."""
    about: dict[str, Any] = {"inputs": "q = 0", "alpha": 0, "beta": "1.01*erfc(eps/sqrt(2))", "eps": "[3, inf)"}
    refuted = dipc.certify(dipc.check(dipc.load(SIGN), keep_proofs=True, **about))
    assert check_text(refuted).verdict == "inaccurate"
    forged = json.loads(refuted)
    forged["verdict"] = forged["rows"][0]["verdict"] = "accurate"
    (obligation,) = forged["obligations"]
    del obligation["counterexample"]
    obligation |= {"verdict": "accurate", "sizes": [24, 16], "cells": [["inf"]]}
    with pytest.raises(Rejected, match="from eps = 3 on, the tails of the function do not show that it is positive"):
        check_text(resealed(forged))


def changes(name: str) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Make each number of the sums, one by one, a little greater and less."""

    def change(path: tuple[str | int, ...], value: Any) -> Callable[[dict[str, Any]], None]:
        def assign(data: dict[str, Any]) -> None:
            for step in path[:-1]:
                data = data[step]  # type: ignore[index]
            data[path[-1]] = value  # type: ignore[index]

        return assign

    data = json.loads(certificate(name))
    for path in places(data["probabilities"]):
        value: Any = data["probabilities"]
        for step in path:
            value = value[step]
        if isinstance(value, bool):
            yield change(("probabilities", *path), not value)
        elif isinstance(value, int):
            yield change(("probabilities", *path), value + 1)
        elif isinstance(value, str) and value.lstrip("-").replace("/", "").isdigit():
            for more in (F(1), F(-1), F(1, 7)):
                yield change(("probabilities", *path), str(F(value) + more))


def test_no_number_of_a_sum_may_be_another() -> None:
    """The stated sum is compared with the program's."""
    tried = 0
    for name in (
        "near its supremum",
        "a row",
        "a point",
        "a ball without eps",
        "a sum of three",
        "a chain",
        "an irrational deviation",
    ):
        for change in changes(name):
            data = json.loads(certificate(name))
            change(data)
            tried += 1
            try:
                accepted = check_text(resealed(data))
            except Rejected:
                continue
            assert not accepted.complete, name
    assert tried > 150

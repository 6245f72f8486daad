"""Certificates about every real input, every number and every gamma: accepted, and no part can be changed."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import dipc
from dipc.certificate import answers, obligations
from dipc.certificate.data import Uncertified
from dipc.certificate.write import certify
from dipc.decide import engine
from dipc.linear.halfspace import Halfspace
from dipc.linear.program import Infeasible, Point, solution
from dipc.measure.measure import BoundMeasurer
from dipc.verifier.document import check_text
from dipc.verifier.linear import Guard
from dipc.verifier.reading import Rejected, Unreadable
from tests.questions.real_programs import ADVERSARIAL, BOTH, LAPLACE, NOISY_MAX, NUMERIC_SPARSE, SPARSE
from tests.verifier.mutations import Path, item_at, mutated, places
from tests.verifier.samples import resealed

#: Finite outputs that are numbers, at a distance from each other.
EXPONENTIAL = """
program p;
input x : {0..2}; output y : {0..2};
metric { output: abs(y - y'); }
ideal { y <- x }
claim { alpha: 0; gamma: free; beta: exp(-gamma*eps/2); }
y <- Exp(eps, v in {0..2} : -abs(v - x));
"""

_SHARP = "2*m*c*exp(-alpha*eps/(8*c))"

QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "sparse": (SPARSE, {"inputs": "all", "beta": f"{_SHARP}/6"}),
    "sparse refuted": (SPARSE, {"inputs": "all", "beta": f"{_SHARP}/7"}),
    "the least of some": (SPARSE, {"inputs": "all", "beta": f"min(1, {_SHARP})"}),
    "numeric sparse": (NUMERIC_SPARSE, {"inputs": "all"}),
    "at one alpha": (NUMERIC_SPARSE, {"inputs": "all", "alpha": 1, "gamma": 1}),
    "every gamma": (LAPLACE, {"inputs": "all", "gamma": "free"}),
    "every gamma refuted": (LAPLACE, {"inputs": "all", "gamma": "free", "beta": "m*exp(-gamma*eps/delta)*9/10"}),
    "the complement": (ADVERSARIAL["a corner of two facets that is not needed"], {"inputs": "all"}),
    "a bounded class": (ADVERSARIAL["between two thresholds"], {"inputs": "all", "eps": "(0, 3]"}),
    "an empty class": (ADVERSARIAL["alpha farther than any input"], {"inputs": "all"}),
    "the discrete metric": (ADVERSARIAL["the discrete metric"], {"inputs": "all"}),
    "one answer": (ADVERSARIAL["one answer"], {"inputs": "all"}),
    "a coin": (ADVERSARIAL["a fair coin"], {"inputs": "all"}),
    "every m": (SPARSE, {"inputs": "all", "for_all": "m >= 3", "beta": f"{_SHARP}/6"}),
    "every m, trivial near 0": (NOISY_MAX, {"inputs": "all", "for_all": "m", "beta": "2*m*exp(-alpha*eps/2)/5"}),
    "every m refuted": (SPARSE, {"inputs": "all", "for_all": "m", "beta": f"{_SHARP}/7"}),
    "jointly": (BOTH, {"inputs": "all"}),
    "jointly, at one alpha": (BOTH, {"inputs": "all", "alpha": 1}),
    "ranges of gamma": (EXPONENTIAL, {}),
    "ranges of gamma refuted": (EXPONENTIAL, {"beta": "exp(-gamma*eps)*9/10"}),
    "ranges of gamma on a curve": (EXPONENTIAL, {"alpha": "gamma"}),
}


@cache
def certificate(name: str) -> str:
    source, options = QUESTIONS[name]
    return dipc.certify(dipc.check(dipc.load(source), keep_proofs=True, **options))


def document(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(certificate(name))
    return data


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_was_decided_is_certified(name: str) -> None:
    source, options = QUESTIONS[name]
    accepted = check_text(certificate(name))
    assert not accepted.open_rows
    assert accepted.verdict == str(dipc.check(dipc.load(source), **options).verdict)
    assert accepted.derived_obligations == accepted.obligations
    # What is not derived from the program is said to be taken on trust.
    assert accepted.complete is not bool(accepted.trusted)
    assert accepted.complete


@pytest.mark.parametrize("n", [1, 2])
def test_means_of_clamped_inputs_are_certified_at_every_distance(n: int) -> None:
    """The mean of a clamped input is that of the flat part at 1, and less on the way down: dd(u) is u - 1 above."""
    text = """program mean; const n = 2; input x[1..n] : real; output y : real; var s : real = 0; ideal { noiseless }
    for i in 1..n do s <- s + max(0, min(1, x[i])) end; y <- s/n + Lap(n*eps)"""
    about = {"inputs": "all", "gamma": 1, "beta": "exp(-n*eps)"}
    accepted = check_text(certify(dipc.check(dipc.load(text, n=n), keep_proofs=True, **about)))  # type: ignore[arg-type]
    assert (accepted.verdict, accepted.complete) == ("accurate", True)


@pytest.mark.parametrize("name", sorted(QUESTIONS.keys() - {"the least of some"}))
def test_nothing_is_measured_or_decided_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source, options = QUESTIONS[name]
    expected = certificate(name)
    report = dipc.check(dipc.load(source), keep_proofs=True, **options)

    def refuse_work(*_: object) -> None:
        raise AssertionError("it was decided for the answer")

    monkeypatch.setattr(engine, "decide", refuse_work)
    monkeypatch.setattr(obligations, "decide", refuse_work)
    monkeypatch.setattr(BoundMeasurer, "measure", refuse_work)
    assert certify(report) == expected


def test_distances_of_finite_answers_are_certified() -> None:
    """Paths with 0 <= r < 1 and r >= 1 lead to near answers: together they are r >= 0, which one comparison implies."""
    text = """program level; input q : real; output o : {0..2}; var r : real; metric { output: abs(o - o'); }
    claim { alpha: dd; gamma: 1; beta: exp(-eps/2); }
    ideal { if q >= 1 then o <- 2 else if q >= 0 then o <- 1 else o <- 0 end end }
    r <- Lap(eps, q); if r >= 1 then o <- 2 else if r >= 0 then o <- 1 else o <- 0 end end"""
    accepted = check_text(certify(dipc.check(dipc.load(text), inputs="all", keep_proofs=True)))
    assert (accepted.verdict, accepted.complete) == ("accurate", True)


def test_a_beta_that_is_no_function_the_checker_reads_is_said_to_be_uncertified() -> None:
    report = dipc.check(dipc.load(SPARSE), inputs="all", beta="2*m/(1 + alpha*eps/100)", keep_proofs=True)
    assert report.verdict is dipc.Verdict.ACCURATE
    accepted = check_text(dipc.certify(report))
    assert not accepted.complete
    assert len(accepted.open_rows) == len(report.rows)


@pytest.mark.parametrize(
    ("beta", "verdict", "complete"),
    [
        ("2*erfc(alpha*eps) + exp(-alpha*eps)/2", "accurate", True),
        ("1/2 + erfc(eps/4)/4", "accurate", True),
        ("erfc(alpha*eps/4)", "inaccurate", True),
        ("erfc(0)/2", "accurate", False),  # which is a number, and that the checker does not read
    ],
)
def test_a_beta_with_erfc_is_certified_beside_laplace_noise(beta: str, verdict: str, complete: bool) -> None:
    """The beta has functions of the normal distribution, and the program has none."""
    threshold = """program p; input x : real; output o : bool; var r : real; claim { alpha: dd; gamma: 0; }
    ideal { o <- x >= 0 } r <- Lap(eps, x); o <- r >= 0"""
    report = dipc.check(dipc.load(threshold), inputs="all", beta=beta, keep_proofs=True)
    accepted = check_text(dipc.certify(report))
    assert (str(report.verdict), accepted.verdict, accepted.complete) == (verdict, verdict, complete)


@pytest.mark.parametrize("deviation", ["1", "eps"])
def test_normal_noise_at_one_eps_has_no_certificate_that_the_checker_rejects(deviation: str) -> None:
    """The checker reads deviations only in programs that are read at every eps."""
    text = f"program p; input x : real; output o : real; ideal {{ o <- x }} o <- Gauss({deviation}, x)"
    report = dipc.check(dipc.load(text, eps=1), inputs="all", alpha=0, gamma=5, beta="1/2", eps=1, keep_proofs=True)
    assert report.verdict is dipc.Verdict.ACCURATE
    with pytest.raises(Uncertified, match="read at one eps"):
        dipc.certify(report)


def test_cells_are_not_cut_along_half_spaces_of_empty_classes_that_they_are_outside_of() -> None:
    """Three classes are empty at alpha = 1: cells behind one of their half-spaces were cut along it up to a limit."""
    text = """program p; domain answer = {a, b}; input x, y : real; output o : answer = a; var n1, n2, n3 : real;
    ideal { if y < -1 then if x < 1 then o <- b else o <- a end else if x + y <= 1 then o <- a else o <- b end end }
    claim { alpha: 1; beta: 3/2*exp(-alpha*eps/2) }
    n1 <- Lap(2*eps, y); n2 <- Lap(eps, x); n3 <- Lap(2*eps, x + y);
    if n1 < -1 then if n2 < 1 then o <- b else o <- a end else if n3 <= 1 then o <- a else o <- b end end"""
    certified = dipc.certify(dipc.check(dipc.load(text), inputs="all", keep_proofs=True))
    accepted = check_text(certified)
    assert (accepted.verdict, accepted.complete) == ("accurate", True)
    assert len(json.loads(certified)["answers"]) < 200


@pytest.mark.parametrize("m", [6, 12, 24])
def test_a_certificate_of_sparse_takes_few_linear_programs(m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cells are m^2/2, but their last guards are alike: linear programs, most of them small, grow with m alone.

    A point is examined with a few guards of each cell, and not with all m of them.
    """
    sizes: list[int] = []
    examined = 0
    holds = Guard.holds

    def counted(system: Sequence[Halfspace], *rest: Any) -> Point | Infeasible:
        sizes.append(len(system))
        return solution(system, *rest)

    def looked_at(guard: Guard, point: Point) -> bool:
        nonlocal examined
        examined += 1
        return holds(guard, point)

    report = dipc.check(dipc.load(SPARSE, m=m), inputs="all", keep_proofs=True)
    answers._solution.cache_clear()
    monkeypatch.setattr(answers, "solution", counted)
    monkeypatch.setattr(Guard, "holds", looked_at)
    assert check_text(dipc.certify(report)).complete
    assert len(sizes) <= 15 * m
    assert sum(size > 6 for size in sizes) <= 4 * m
    assert examined <= 18 * m * m + 100 * m


def test_union_bounds_over_normal_noise_are_said_to_be_uncertified() -> None:
    text = NOISY_MAX.replace("Lap(eps/2,", "Gauss(2/eps,")
    about = {"inputs": "all", "for_all": "m >= 3", "beta": "m*exp(-alpha*eps/8)"}
    report = dipc.check(dipc.load(text), keep_proofs=True, **about)  # type: ignore[arg-type]
    accepted = check_text(dipc.certify(report))
    assert (str(report.verdict), accepted.verdict, accepted.complete) == ("accurate", "accurate", False)


def test_undecided_classes_are_certified_as_such() -> None:
    near_by_another_way = """
    program p; input x : real; output o : real; var r : real;
    ideal { if x >= 0 then o <- x else o <- 0 end }
    claim { alpha: 1; gamma: 1; beta: 2*exp(-alpha*eps/2); }
    r <- Lap(eps, x); if r >= 0 then o <- Lap(2*eps, x) else o <- 0 end
    """
    report = dipc.check(dipc.load(near_by_another_way), inputs="all", keep_proofs=True)
    accepted = check_text(dipc.certify(report))
    assert accepted.verdict == "undecided"
    assert accepted.counts["undecided"] >= 1


# --- changes of single parts ------------------------------------------------------------------------------


def ends_in(*names: str) -> Callable[[Path], bool]:
    """Select paths to a value with this name, or to an item of a list with this name."""
    return lambda path: any(part in names for part in [p for p in path if isinstance(p, str)][-1:])


#: Values that are changed in one document, one at a time.
MOST_CHANGED = 12

#: Parts of a certificate that are numbers which everything else hangs on.
PARTS: list[tuple[str, Callable[[Path], bool]]] = [
    # A multiple of a half-space says the same: which one it is counts.
    ("sparse", lambda path: "weights" in path and path[-1] == 0),
    ("sparse", lambda path: "slacks" in path and path[-1] == "constant"),
    ("sparse", lambda path: "answer" not in path and path[-1] == "kind"),
    ("every m", lambda path: "terms" in path and path[-1] == "constant"),
    ("every m", lambda path: "terms" in path and "noises" in path),
    ("sparse", ends_in("intervals")),
    ("sparse", ends_in("variable")),
    ("the complement", lambda path: "weights" in path and path[-1] == 0),
    ("a bounded class", ends_in("greatest")),
    ("a bounded class", ends_in("intervals")),
    ("an empty class", ends_in("empty")),
    ("jointly", ends_in("kind")),
    ("every m", ends_in("once", "inequalities", "start")),
    ("every m, trivial near 0", ends_in("trivial", "above_one")),
    ("every m", lambda path: path[0] == "cases" and path[-1] == "m"),
    ("sparse refuted", lambda path: "witness" in path and path[-1] in ("obligation", "dd")),
    ("every gamma refuted", lambda path: "witness" in path and path[-1] == "gamma"),
    ("ranges of gamma", lambda path: "ranges" in path and path[-1] == "to"),
    ("ranges of gamma", lambda path: "ranges" in path and path[-1] in ("alpha", "obligation", "beta", "probability")),
]


def bumped(old: Any) -> list[Any]:
    """Values near the old one, but not equal to it."""
    if isinstance(old, bool):
        return [not old]
    if isinstance(old, int):
        return [old + 1, old - 1]
    if isinstance(old, str):
        try:
            value = Fraction(old)
        except ValueError:
            return ["eps", "(0, 1]", "7", "inf"] if old not in ("eps", "(0, 1]", "inf") else ["1"]
        return [str(value + 1), str(value - Fraction(1, 7)), str(-value - 3)]
    return []


@pytest.mark.parametrize(("name", "chosen"), PARTS)
def test_no_part_can_be_changed(name: str, chosen: Callable[[Path], bool]) -> None:
    whole = document(name)
    paths = [path for path in places(whole) if chosen(path) and bumped(item_at(whole, path))]
    assert paths
    chance = random.Random(len(paths))
    for path in chance.sample(paths, min(len(paths), MOST_CHANGED)):
        changed = copy.deepcopy(whole)
        item_at(changed, path[:-1])[path[-1]] = chance.choice(bumped(item_at(whole, path)))
        # One that is no longer what the program has is on trust, and said to be.
        with suppress(Rejected, Unreadable):
            assert not check_text(resealed(changed)).complete, path


def test_half_spaces_that_are_used_cannot_retreat_further() -> None:
    """A greater step would prove more: the bounds that follow from it are not the program's."""
    whole = document("sparse")
    tried = 0
    for number, found in enumerate(whole["cases"][0]["classes"]):
        used = {place for slack in found["required"]["slacks"] for place, _ in slack["weights"]}
        for place in used:
            for name in ("step", "constant"):
                changed = copy.deepcopy(whole)
                half = changed["cases"][0]["classes"][number]["halfspaces"][place]
                half[name] = str(Fraction(half[name]) + 1)
                with suppress(Rejected):
                    assert not check_text(resealed(changed)).complete
                tried += 1
    assert tried


@pytest.mark.parametrize("name", ["every m", "ranges of gamma"])
def test_no_number_and_no_range_can_be_left_out(name: str) -> None:
    whole = document(name)
    if name == "every m":
        del whole["cases"][0]
    else:
        del whole["rows"][0]["ranges"][-1]
    with pytest.raises(Rejected):
        check_text(resealed(whole))


def test_a_class_cannot_be_said_to_have_another_verdict() -> None:
    whole = document("sparse refuted")
    for found in whole["cases"][0]["classes"]:
        before = found["verdict"]
        for verdict in {"accurate", "inaccurate", "undecided"} - {before}:
            found["verdict"] = verdict
            with pytest.raises(Rejected):
                check_text(resealed(whole))
        found["verdict"] = before


#: Words, and what is taken on trust, by the name under which it stands.
_UNCHECKED = {"tool", "program", "answer", "where", "input", "output", "reason", "row"}


def statement(text: str) -> tuple[str, dict[str, int], str, int]:
    accepted = check_text(text)
    return accepted.verdict, accepted.counts, accepted.claim, accepted.derived_obligations


@pytest.mark.parametrize("seed", range(3))
def test_a_change_of_one_value_never_makes_more_of_it(seed: int) -> None:
    """An accepted certificate says the same after the change, except for words that the checker does not check."""
    chance = random.Random(seed)
    names = list(QUESTIONS)
    rejected = 0
    for _ in range(60):
        name = chance.choice(names)
        whole = document(name)
        # Answers are those to what has changed.
        changed, path = mutated(whole, [path for path in places(whole) if path[0] != "answers"], chance)
        try:
            accepted = check_text(resealed(changed))
        except (Rejected, Unreadable):
            rejected += 1
            continue
        # Classes may be taken away: that they are all inputs is left on trust then, which is said.
        if _UNCHECKED.isdisjoint(str(part) for part in path) and not accepted.trusted:
            verdict, counts, _, derived = statement(certificate(name))
            assert accepted.verdict == verdict or accepted.derived_obligations < derived, (name, path)
            # A class that no input is in is not missed.
            assert accepted.counts["rows"] >= counts["rows"] - (name == "an empty class"), (name, path)
    assert rejected > 30


def test_a_certificate_about_every_input_is_about_no_table() -> None:
    with pytest.raises(Rejected, match="not about a table"):
        dipc.verify(certificate("sparse"), table="benchmarks/sparse.csv")

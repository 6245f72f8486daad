"""Privacy for all real inputs by the checker alone: against exact laws at adjacent pairs, and against the engine."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.algebra.exppoly import ExpPoly
from dipc.certificate.privacy import certify_privacy
from dipc.certificate.seal import sealed
from dipc.obligations.engine import Engine
from dipc.privacy.check import PrivacyQuestion
from dipc.privacy.claim import read_claim
from dipc.verifier.alignment import least_budget
from dipc.verifier.budget import Budget
from dipc.verifier.check import check_text
from dipc.verifier.rejection import NotDerived, Rejected
from dipc.verifier.theorem import program_of
from tests.privacy.test_random import EPS, laws, mechanism, pair

ROOT = Path(__file__).resolve().parent.parent.parent


def derived(text: str, distance: str = "linf", radius: int = 1, **constants: int) -> Fraction:
    """The K that the checker finds."""
    program = dipc.load(text, **constants)
    known = dict(program.constants)
    hashed = hashlib.sha256(text.encode()).hexdigest()
    _, machine = program_of(text, hashed, program.name, known, None, Budget())
    return least_budget(machine, distance, Fraction(radius), Budget())[0]


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 203))])
def test_no_pair_exceeds_it(seed: int) -> None:
    choose = random.Random(f"real {seed}")
    text = mechanism(choose, "real")
    try:
        bound = derived(text)
    except NotDerived:
        return
    program = dipc.load(text)
    law = laws(program)
    for _ in range(10):
        one, two = (law(point) for point in pair(choose, "real"))
        for at, eps in enumerate(EPS):
            scale = ExpPoly.term(1, 0, bound).enclosure(eps, 40)[1]
            for answer, values in one.items():
                assert values[at][0] <= two[answer][at][1] * scale


@pytest.mark.parametrize(
    ("name", "distance", "constants", "bound"),
    [
        ("sparse", "linf", {"m": 2}, "1/2"),
        ("sparse", "linf", {"m": 3}, "3/4"),
        ("sparse", "linf", {"m": 5}, "1"),
        ("noisy_max", "linf", {"m": 3}, "1"),
        ("laplace", "l1", {"m": 3}, "1"),
        ("laplace", "linf", {"m": 3}, "3"),
        ("numeric_sparse", "linf", {"m": 3}, "7/9"),
    ],
)
def test_it_is_the_constant(name: str, distance: str, constants: dict[str, int], bound: str) -> None:
    text = (ROOT / "benchmarks" / f"{name}.dip").read_text(encoding="utf-8")
    assert derived(text, distance, **constants) == Fraction(bound)


REAL = "program p; input q[1..2] : real; output y : real; var r : real; "


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (REAL + "y <- q[1];", "no shift"),
        (REAL + "y <- Expo(eps); y <- y + q[1];", "no shift"),
        (REAL + "r <- Lap(eps, 0); if q[1] >= q[2] then y <- r else y <- 1 end", "inputs alone"),
        ("program p; input x : {0, 1}; output y : real; y <- Lap(eps, x);", "not real"),
        ("program p; input x : int; output y : int; y <- DLap(eps, x);", "not real"),
    ],
)
def test_what_shifts_do_not_show(text: str, why: str) -> None:
    with pytest.raises(NotDerived, match=why):
        derived(text)


def test_a_support_that_moves_one_way_only() -> None:
    """q + Expo >= 0: up there is a shift, down there is none, and a move may be either."""
    text = "program p; input q : real; output y : bool; var r : real; r <- Expo(eps); y <- r + q >= 0;"
    with pytest.raises(NotDerived):
        derived(text)


def certificate(budget: str) -> dict[str, Any]:
    program = dipc.load(ROOT / "benchmarks" / "sparse.dip", m=3)
    question = PrivacyQuestion(program, "linf:1", "all", Engine(program.measurer, program.limits, keep_proofs=True))
    found: dict[str, Any] = json.loads(
        certify_privacy(question, question.decide(read_claim(program, budget, None, None)))
    )
    return found


def checked(data: dict[str, Any]) -> Any:
    return check_text(sealed({name: part for name, part in data.items() if name != "digest"}))


def test_both_answers_are_accepted() -> None:
    private, refuted = checked(certificate("3/4*eps")), checked(certificate("2/3*eps"))
    assert (private.verdict, private.complete) == ("private", True)
    assert (refuted.verdict, refuted.complete) == ("not private", True)


def set_to(value: object, *path: str) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        place: Any = data
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        set_to("2/3", "claim", "budget"),
        set_to("linf:2", "adjacent"),
        set_to("hamming:1", "adjacent"),
        set_to({"m": "4", "c": "1", "T": "0"}, "program", "constants"),
    ],
)
def test_what_is_not_shown_is_on_trust(change: Callable[[dict[str, Any]], None]) -> None:
    data = certificate("3/4*eps")
    change(data)
    found = checked(data)
    assert not found.complete
    assert "bounds the loss" in found.trusted[0]


@pytest.mark.parametrize(
    "change",
    [
        set_to("not private", "verdict"),
        set_to("-1", "claim", "budget"),
        set_to([[0, "0", "-1"]], "claim", "delta"),
        set_to([[0, "-1", "1"]], "claim", "delta"),
        set_to([], "claim", "eps"),
        set_to("linf:-1", "adjacent"),
        set_to("near:1", "adjacent"),
        set_to("program sparse;", "program", "text"),
    ],
)
def test_what_makes_no_sense_is_rejected(change: Callable[[dict[str, Any]], None]) -> None:
    data = certificate("3/4*eps")
    change(data)
    with pytest.raises(Rejected):
        checked(data)

"""Privacy for all real inputs by the checker alone, compared with exact laws at adjacent pairs and with the engine."""

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
from dipc.certificate.data import program_data, sealed
from dipc.certificate.privacy import certify_privacy, shifts
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import read_claim
from dipc.verifier.document import check_text
from dipc.verifier.probability import program_of
from dipc.verifier.reading import Budget, NotDerived, Rejected
from dipc.verifier.shifts import Alignment
from tests.privacy.test_random import EPS, laws, mechanism, pair

ROOT = Path(__file__).resolve().parent.parent.parent


def derived(text: str, distance: str = "linf", radius: int = 1, **constants: int) -> Fraction:
    """The K that the checker adds up from the shifts of a certificate. Raises NotDerived if the program has none."""
    program = dipc.load(text, **constants)
    known = dict(program.constants)
    hashed = hashlib.sha256(text.encode()).hexdigest()
    tree, machine = program_of(text, hashed, program.name, known, None, Budget())
    alignment = Alignment.from_program(tree, machine, known, (distance, Fraction(radius)), Budget())
    stated = shifts(program_data(program), None, f"{distance}:{radius}")
    if stated is None:
        raise NotDerived("there are no shifts")
    return alignment.cost(stated, Budget())


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
        (REAL + "r <- Lap(eps, 0); if q[1] >= q[2] then y <- r else y <- 1 end", "inputs without noise"),
        ("program p; input x : {0, 1}; output y : real; y <- Lap(eps, x);", "not real"),
        ("program p; input x : int; output y : int; y <- DLap(eps, x);", "not real"),
    ],
)
def test_what_shifts_do_not_show(text: str, why: str) -> None:
    with pytest.raises(NotDerived, match=why):
        derived(text)


def test_a_support_that_moves_one_way_only() -> None:
    """For q + Expo >= 0 there is a shift upwards and none downwards, and a move may be in either direction."""
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
        set_to("hamming:1", "adjacent"),
        set_to(None, "shifts"),
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
        set_to([[0, "-1", "-1"]], "claim", "delta"),
        set_to([[0, "0", "1"], [0, "-1", "-2"]], "claim", "delta"),
        set_to([], "claim", "eps"),
        set_to("linf:-1", "adjacent"),
        set_to("near:1", "adjacent"),
        set_to("linf:2", "adjacent"),
        set_to({"m": "4", "c": "1", "T": "0"}, "program", "constants"),
        set_to([], "shifts"),
        set_to([], "shifts", "vectors"),
        set_to([], "shifts", "exits"),
        lambda data: data["shifts"]["exits"].pop() and None,
        lambda data: data["shifts"]["exits"][0].pop() and None,
        lambda data: data["shifts"]["exits"][0].append(0),
        lambda data: data["shifts"]["vectors"].reverse(),
        lambda data: data["shifts"]["vectors"].__setitem__(0, []),
        lambda data: data["shifts"]["vectors"][0].append(data["shifts"]["vectors"][0][0]),
        lambda data: data["shifts"]["vectors"][0].append([99, "1"]),
        set_to("program sparse;", "program", "text"),
    ],
)
def test_what_makes_no_sense_is_rejected(change: Callable[[dict[str, Any]], None]) -> None:
    data = certificate("3/4*eps")
    change(data)
    with pytest.raises(Rejected):
        checked(data)


def test_with_a_delta_less_is_claimed() -> None:
    """A claim without delta implies the claim with delta = e^-eps, which is at least 0."""
    data = certificate("3/4*eps")
    set_to([[0, "-1", "1"]], "claim", "delta")(data)
    assert checked(data).complete
    set_to("2/3", "claim", "budget")(data)
    assert not checked(data).complete


def test_a_dearer_shift_shows_less() -> None:
    """A shift twice as far is a shift, too, but costs more than the budget."""
    data = certificate("3/4*eps")
    for vector in data["shifts"]["vectors"]:
        for item in vector:
            item[1] = str(2 * Fraction(item[1]))
    found = checked(data)
    assert not found.complete
    assert "the shifts cost 3/2*eps" in found.trusted[0]


def test_one_sided_noise_is_not_shifted_downwards() -> None:
    text = "program p; input q : real; output y : bool; var r : real; r <- Expo(eps); y <- r >= 1 + q"
    program = dipc.load(text)
    tree, machine = program_of(text, hashlib.sha256(text.encode()).hexdigest(), "p", {}, None, Budget())
    alignment = Alignment.from_program(tree, machine, {}, ("linf", Fraction(1)), Budget())
    assert all(alignment.growing == exit_.rates.keys() for exit_ in alignment.exits)
    (noise,) = alignment.exits[0].rates
    assert not any(exit_.holds({noise: Fraction(-1)}, {}) for exit_ in alignment.exits)
    assert shifts(program_data(program), None, "linf:1") is None

"""Programs of DiPC's format are imported as an interpreter of that format runs them, or refused."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

import dipc
from dipc.algebra.limits import Undecided
from dipc.execution.scripted import ProgramFault, ScriptedRun
from dipc.mechanisms.dipc_input import imported
from dipc.text.core import SampleChoice, SampleExponential, SampleNoise
from dipc.text.diagnostic import DiagnosticError, SourceText
from tests.mechanisms.dipc_format import DipcProgram, OutOfRange, Unassigned, clamped_weights, random_program

#: Keywords of this language by those of DiPC's, and the rates that random programs have, in multiples of eps.
LAWS = {"Lap": "Lap", "DLap": "DLap", "Exp": "Expo"}
RATES = {"eps": 1, "eps/2": Fraction(1, 2), "2*eps": 2, "eps/3": Fraction(1, 3)}


class _Drawn:
    """The draws of one run: places of choices, which are listed, and noises at random."""

    def __init__(self, places: Sequence[int], numbers: random.Random) -> None:
        self._places = places
        self._numbers = numbers
        self.arms: list[int] = []
        self.weight = 1.0
        self.events: list[tuple[Any, ...]] = []

    def _place(self, weights: Sequence[float]) -> int:
        place = self._places[len(self.arms)] if len(self.arms) < len(self._places) else 0
        self.arms.append(len(weights))
        self.weight *= weights[place]
        self.events.append((place,))
        return place

    def coin(self, weight: Fraction) -> bool:
        return not self._place([float(weight), 1 - float(weight)])

    def clamped(self, rate: str, center: int, low: int, high: int) -> int:
        return low + self._place(list(clamped_weights(float(RATES[rate]), center, low, high).values()))

    def noise(self, law: str, rate: str) -> Fraction:
        value = Fraction(self._numbers.randint(-12, 12), 4)
        value = abs(value) if law == "Exp" else value
        self.events.append((LAWS[law], RATES[rate], value))
        return value


class _Replayed:
    """The draws of a run of the imported program: those of the interpreter, in their order."""

    def __init__(self, events: Sequence[tuple[Any, ...]]) -> None:
        self._events = iter(events)

    def noise(self, draw: SampleNoise) -> Fraction:
        law, rate, value = next(self._events)
        assert (draw.law.keyword, draw.rate) == (law, rate)
        return Fraction(value)

    def choice(self, draw: SampleChoice) -> int:
        (place,) = next(self._events)
        assert place < len(draw.arms)
        return int(place)

    def exponential(self, draw: SampleExponential, scores: Sequence[Fraction]) -> int:
        raise AssertionError("there is none")


def _all_runs(theirs: DipcProgram, given: Sequence[Any], seed: int) -> Iterable[tuple[Any, _Drawn]]:
    """Every sequence of choices of the interpreter, with what it returns: None where the program means nothing."""
    todo: list[tuple[int, ...]] = [()]
    while todo:
        places = todo.pop()
        drawn = _Drawn(places, random.Random(seed))
        try:
            result: Any = theirs.run(given, drawn)
        except (OutOfRange, Unassigned):
            result = None
        for depth in range(len(places), len(drawn.arms)):
            done = (*places, *[0] * (depth - len(places)))
            todo += [(*done, place) for place in range(1, drawn.arms[depth])]
        yield result, drawn


def outcome(text: str, seed: int = 0) -> str:
    """Compare all choices of a program under both readings; `read` or `refused`. Raises AssertionError."""
    try:
        program = dipc.load(imported(SourceText("f.txt", text), "f").text)
    except DiagnosticError:
        return "refused"
    theirs = DipcProgram.parse(text)
    run = ScriptedRun(program.flow)
    finite = not any(isinstance(each, SampleNoise) for each in program.core.instructions)
    result = "refused"
    for given in product(*theirs.inputs.values()):
        values = [each if isinstance(each, bool) else Fraction(each) for each in given]
        law: Counter[tuple[Any, ...]] = Counter()
        means_something = True
        for expected, drawn in _all_runs(theirs, given, seed):
            try:
                found = tuple(run.run(values, _Replayed(drawn.events)).values())
            except ProgramFault:
                means_something = False
                continue
            assert expected is not None, f"{given}: the interpreter stops, the program gives {found}\n{text}"
            assert found == expected, f"{given}, {drawn.events}: DiPC gives {expected}, the program {found}\n{text}"
            assert list(map(type, map(_plain, found))) == list(map(type, map(_plain, expected)))
            result = "read"
            law[tuple(map(str, found))] += drawn.weight  # type: ignore[assignment]
        if finite and means_something:
            try:
                _compare_laws(program, values, law, text)
            except Undecided:
                continue
    return result


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool) else Fraction(value)


def _compare_laws(program: dipc.Program, values: Sequence[Any], law: Counter[tuple[Any, ...]], text: str) -> None:
    known = program.outcomes(dict(zip(program.inputs, values, strict=True)))
    exact = {
        tuple(str(each) if each not in ("true", "false") else str(each == "true") for each in one.output.values()): one
        for one in known
    }
    assert exact.keys() == {answer for answer, weight in law.items() if weight}, text
    for answer, one in exact.items():
        low, high = one.probability.enclosure(Fraction(1))
        assert float(low) - 1e-9 <= law[answer] <= float(high) + 1e-9, f"{answer}\n{text}"


@pytest.mark.every_case
@pytest.mark.parametrize("part", range(3))
def test_random_programs_are_imported_as_they_run(part: int) -> None:
    counts = Counter(outcome(random_program(seed), seed) for seed in range(20 * part, 20 * part + 20))
    assert counts["read"] >= 8, counts


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_thousands_of_random_programs_are_imported_as_they_run(part: int) -> None:
    counts = Counter(outcome(random_program(seed), seed) for seed in range(1000 + 400 * part, 1400 + 400 * part))
    assert counts["read"] >= 200, counts


def test_exponential_noise_around_the_variable_itself_keeps_its_value() -> None:
    """The old value was lost: `r = Exp "eps" r` was twice the noise."""
    text = '-1 1\nreal r ; bool b ;\nr = Lap "eps" 0 ;\nr = Exp "eps" r ;\nb = r < 1 ;\nreturn r b ;\n'
    assert outcome(text) == "read"

"""The law of a mechanism twice: of the function as CPython runs it, and of the program that was read from it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import dipc
from dipc.mechanisms.decorator import Mechanism, python_answer
from dipc.text.core import DomType

Law = dict[str, Fraction]


class _Script:
    """Draws of `dipc.choice` that follow a path; the weights of all arms that were not taken are queued."""

    def __init__(self, path: list[int]) -> None:
        self.path, self.place, self.weight = path, 0, Fraction(1)
        self.queued: list[list[int]] = []

    def choice(self, weights: Mapping[Any, Any]) -> Any:
        arms = list(weights.items())
        if self.place == len(self.path):
            self.queued += [[*self.path, other] for other in range(1, len(arms))]
            self.path = [*self.path, 0]
        value, weight = arms[self.path[self.place]]
        self.place += 1
        self.weight *= Fraction(weight).limit_denominator(1000)
        return value


def _plain(answer: object) -> object:
    """The answer with ints for Fractions that are whole: `Fraction(2) == 2`, and both are exact."""
    if isinstance(answer, list | tuple):
        return type(answer)(map(_plain, answer))
    return int(answer) if isinstance(answer, Fraction) and answer.denominator == 1 else answer


def python_law(function: Callable[..., object], arguments: list[Any]) -> Law:
    """The probability of each answer, written with its types, by running the function once for each path of draws."""
    law: Law = {}
    paths: list[list[int]] = [[]]
    drawn = dipc.choice
    try:
        while paths:
            script = _Script(paths.pop())
            dipc.choice = script.choice  # type: ignore[assignment]
            answer = repr(_plain(function(*arguments, eps=1)))
            paths += script.queued
            law[answer] = law.get(answer, Fraction(0)) + script.weight
    finally:
        dipc.choice = drawn
    return law


def answer_in_python(mechanism: Mechanism, output: Mapping[str, object]) -> object:
    """Return the answer that the function of `mechanism` gives where its program has the outputs `output`.

    The values of `output` are those of an outcome: strings such as "3", "true" and "none", or numbers and truth values.
    """
    truths: dict[object, object] = {"true": True, "false": False}
    program = mechanism.program
    answer: dict[str, object] = {}
    for name, value in output.items():
        plain = truths.get(value, value) if isinstance(value, str) else value
        numeric = isinstance(plain, str) and plain.lstrip("-").replace("/", "", 1).isdigit()
        answer[name] = Fraction(str(plain)) if numeric else plain
    return python_answer(program.core.source.accepted, answer, program.constants)


def program_law(mechanism: Mechanism, arguments: list[Any]) -> Law:
    """The probability of each answer of the program, in Python's words."""
    law: Law = {}
    given = [str(value).lower() if isinstance(value, bool) else value for value in arguments]
    for outcome in mechanism.program.outcomes(dict(zip(mechanism.program.inputs, given, strict=True))):
        probability = Fraction(str(outcome.probability))
        if probability:
            answer = repr(answer_in_python(mechanism, outcome.output))
            law[answer] = law.get(answer, Fraction(0)) + probability
    return law


def inputs(mechanism: Mechanism) -> Iterator[list[Any]]:
    """All inputs of a mechanism whose inputs are finite."""
    core = mechanism.program.core
    values = []
    for slot in core.inputs:
        kind = core.slots[slot].type
        values.append(
            [int(v) if isinstance(v, Fraction) else v for v in kind.values]
            if isinstance(kind, DomType)
            else [False, True]
        )
    yield from (list(each) for each in product(*values))


def module_of(text: str, directory: Path, name: str) -> ModuleType:
    """The module of this text."""
    file = directory / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

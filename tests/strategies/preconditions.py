"""Random programs with a precondition; their conditions as text, as truth at a point, and as formulas of Z3.

The reading of conditions and the distances here share nothing with dipc.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import z3

Point = tuple[Fraction, ...]

#: "real", "int", or the values of a finite input.
Type = str | list[int]

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
_ORDERS = ("<", "<=", ">", ">=")


def exact(value: Fraction | int) -> Any:
    return z3.Q(Fraction(value).numerator, Fraction(value).denominator)


def linear_text(form: Point) -> str:
    text = ""
    for place, c in enumerate(form):
        if c:
            term = f"x{place}" if abs(c) == 1 else f"{abs(c)}*x{place}"
            text += (" - " if c < 0 else " + ") + term if text else ("-" if c < 0 else "") + term
    return text


@dataclass(frozen=True)
class Comparison:
    """`function`(forms) op constant; without a function there is one form."""

    forms: tuple[Point, ...]
    op: str
    constant: Fraction
    function: str = ""

    def text(self) -> str:
        forms = ", ".join(map(linear_text, self.forms))
        return (
            f"{self.function}({forms}) {self.op} {self.constant}"
            if self.function
            else f"{forms} {self.op} {self.constant}"
        )

    def holds(self, point: Point) -> bool:
        values = [sum((c * x for c, x in zip(form, point, strict=True)), Fraction(0)) for form in self.forms]
        value = {"min": min, "max": max, "abs": lambda each: abs(each[0])}.get(self.function, lambda each: each[0])(
            values
        )
        return bool(OPERATORS[self.op](value, self.constant))

    def formula(self, unknowns: Sequence[Any]) -> Any:
        values = [z3.Sum([exact(c) * x for c, x in zip(form, unknowns, strict=True)]) for form in self.forms]
        value = values[0]
        for other in [-value] if self.function == "abs" else values[1:]:
            value = (
                z3.If(value <= other, value, other) if self.function == "min" else z3.If(value >= other, value, other)
            )
        return OPERATORS[self.op](value, exact(self.constant))


@dataclass(frozen=True)
class Junction:
    """Conditions joined by `and` or `or`; the negation of one by `not`."""

    op: str
    parts: tuple[Condition, ...]

    def text(self) -> str:
        texts = [f"({part.text()})" for part in self.parts]
        return f"not {texts[0]}" if self.op == "not" else f" {self.op} ".join(texts)

    def holds(self, point: Point) -> bool:
        truths = [part.holds(point) for part in self.parts]
        return not truths[0] if self.op == "not" else all(truths) if self.op == "and" else any(truths)

    def formula(self, unknowns: Sequence[Any]) -> Any:
        formulas = [part.formula(unknowns) for part in self.parts]
        return z3.Not(formulas[0]) if self.op == "not" else (z3.And if self.op == "and" else z3.Or)(formulas)


Condition = Comparison | Junction


def random_form(chance: random.Random, size: int) -> Point:
    while True:
        form = tuple(Fraction(chance.choice([-1, 0, 0, 0, 1, 1, 2])) for _ in range(size))
        if any(form):
            return form


def random_constant(chance: random.Random, *, whole: bool) -> Fraction:
    return Fraction(chance.randint(-2, 3)) if whole or chance.random() < 0.7 else Fraction(chance.randint(-5, 5), 2)


def random_condition(chance: random.Random, size: int, depth: int, *, whole: bool) -> Condition:
    kind = chance.random()
    if not depth or kind < 0.25:
        function = chance.choice(["min", "max", "abs"]) if chance.random() < 0.25 else ""
        count = chance.randint(1, 3) if function in ("min", "max") else 1
        forms = tuple(random_form(chance, size) for _ in range(count))
        op = chance.choice([*OPERATORS] if not function and chance.random() < 0.3 else _ORDERS)
        return Comparison(forms, op, random_constant(chance, whole=whole), function)
    if kind < 0.35:
        return Junction("not", (random_condition(chance, size, depth - 1, whole=whole),))
    parts = tuple(random_condition(chance, size, depth - 1, whole=whole) for _ in range(2))
    return Junction(chance.choice(["and", "and", "or"]), parts)


def box(size: int, low: int, high: int, *, strict: bool = False) -> Condition:
    units = [tuple(Fraction(i == j) for j in range(size)) for i in range(size)]
    above = [Comparison((unit,), ">" if strict else ">=", Fraction(low)) for unit in units]
    return Junction("and", (*above, *(Comparison((unit,), "<=", Fraction(high)) for unit in units)))


@dataclass(frozen=True)
class Case:
    """A program whose answer is the number of the first of `tests` that holds; each is tried again with noise.

    All inputs satisfy `condition`.
    """

    types: tuple[Type, ...]
    condition: Condition
    tests: tuple[Comparison, ...]
    norm: str

    def text(self, *, requires: bool = True, noise: bool = True) -> str:
        names = [f"x{place}" for place in range(len(self.types))]
        lines = ["program p;"]
        for name, type_ in zip(names, self.types, strict=True):
            lines.append(
                f"input {name} : {type_ if isinstance(type_, str) else '{' + ', '.join(map(str, type_)) + '}'};"
            )
        lines.append(f"output out : {{0..{len(self.tests)}}};")
        lines.append(f"requires {self.condition.text()};" if requires else "")
        lines.append(f"metric {{ input: {self.norm} }}")
        lines.append(f"ideal {{ {_first([test.text() for test in self.tests])} }}")
        law, kind = ("DLap", "int") if self.types[0] == "int" else ("Lap", "real")
        lines += [f"var r{place} : {kind};" for place in range(len(self.tests))]
        if not noise:
            return "\n".join([*lines, "out <- 0"])
        lines += [f"r{place} <- {law}(eps, {linear_text(test.forms[0])});" for place, test in enumerate(self.tests)]
        noisy = [f"r{place} {test.op} {test.constant}" for place, test in enumerate(self.tests)]
        return "\n".join([*lines, _first(noisy)])

    def answer(self, point: Point) -> int:
        return next((place for place, test in enumerate(self.tests) if test.holds(point)), len(self.tests))

    def unknowns(self, prefix: str = "x") -> list[Any]:
        return [(z3.Int if type_ == "int" else z3.Real)(f"{prefix}{i}") for i, type_ in enumerate(self.types)]

    def is_input(self, unknowns: Sequence[Any]) -> Any:
        finite = [
            z3.Or([x == exact(value) for value in type_])
            for x, type_ in zip(unknowns, self.types, strict=True)
            if isinstance(type_, list)
        ]
        return z3.And([self.condition.formula(unknowns), *finite])

    @property
    def is_empty(self) -> bool:
        solver = z3.Solver()
        solver.add(self.is_input(self.unknowns()))
        return bool(solver.check() == z3.unsat)

    def points(self, chance: random.Random, most: int) -> list[Point]:
        """Inputs on a grid that satisfy the condition, at most `most`."""
        grid: list[Iterable[int | Fraction]] = []
        for type_ in self.types:
            halves = [Fraction(number, 2) for number in (-4, -2, -1, 0, 1, 2, 3, 4, 6)]
            grid.append(halves if type_ == "real" else range(-4, 5) if type_ == "int" else type_)
        every = [tuple(map(Fraction, point)) for point in product(*grid)]
        allowed = [point for point in every if self.condition.holds(point)]
        return chance.sample(allowed, min(most, len(allowed)))

    def distance(self, point: Point) -> Fraction | None:
        """The infimum of the distances to inputs with another answer, None for infinity, by Z3 or by enumeration."""
        if "real" not in self.types:
            return self._nearest_whole(point)
        unknowns, far = self.unknowns(), z3.Real("far")
        answer = z3.IntVal(len(self.tests))
        for place, test in reversed(list(enumerate(self.tests))):
            answer = z3.If(test.formula(unknowns), z3.IntVal(place), answer)
        optimum = z3.Optimize()
        optimum.add(self.is_input(unknowns), answer != self.answer(point))
        gaps = [z3.Real(f"gap{place}") for place in range(len(point))]
        for gap, x, value in zip(gaps, unknowns, point, strict=True):
            optimum.add(gap >= x - exact(value), gap >= exact(value) - x)
        optimum.add(*([far >= gap for gap in gaps] if self.norm == "linf" else [far >= z3.Sum(gaps)]))
        handle = optimum.minimize(far)
        if optimum.check() != z3.sat:
            return None
        least = z3.simplify(z3.substitute(optimum.lower(handle), (z3.Real("epsilon"), z3.RealVal(0))))
        return Fraction(least.as_string())

    def _nearest_whole(self, point: Point) -> Fraction | None:
        best: Fraction | None = None
        for values in product(*[range(-7, 9) if type_ == "int" else type_ for type_ in self.types]):
            other = tuple(map(Fraction, values))
            if self.condition.holds(other) and self.answer(other) != self.answer(point):
                gaps = [abs(a - b) for a, b in zip(point, other, strict=True)]
                far = max(gaps) if self.norm == "linf" else sum(gaps, Fraction(0))
                best = far if best is None else min(best, far)
        return best

    def rows(self, points: Iterable[Point]) -> list[dict[str, str]]:
        """Rows of a table for the program without its condition: each has its own dd."""
        result = []
        for point in points:
            dd = self.distance(point)
            row = {f"x{place}": str(value) for place, value in enumerate(point)}
            result.append({**row, "out": str(self.answer(point)), "dd": "inf" if dd is None else str(dd)})
        return result


def _first(tests: Sequence[str]) -> str:
    text = "".join(f"if {test} then out <- {place} else " for place, test in enumerate(tests))
    return f"{text}out <- {len(tests)}" + " end" * len(tests)


def random_case(seed: int, kinds: Sequence[str] = ("real", "int", "finite", "mixed")) -> Case:
    chance = random.Random(seed)
    kind = chance.choice(kinds)
    size = 2 if kind == "mixed" else chance.choice([1, 2, 2])
    types: dict[str, tuple[Type, ...]] = {
        "real": ("real",) * size,
        "int": ("int",) * size,
        "finite": ([-2, -1, 0, 1, 2],) * size,
        "mixed": ("real", [0, 1, 3]),
    }
    whole = kind in ("int", "finite")
    condition = random_condition(chance, size, chance.choice([0, 1, 1, 2]), whole=whole)
    if chance.random() < 0.4:
        condition = Junction("and", (condition, box(size, -1, 2, strict=chance.random() < 0.5)))
    tests: list[Comparison] = []
    for _ in range(chance.choice([1, 1, 2])):
        form = (Fraction(chance.choice([1, -1, 2])), Fraction(0)) if kind == "mixed" else random_form(chance, size)
        tests.append(Comparison((form,), chance.choice(_ORDERS), random_constant(chance, whole=whole)))
    return Case(types[kind], condition, tuple(tests), chance.choice(["linf", "linf", "l1"]))

"""d'_u of the program's `metric` block: how far an answer is from the exact one, and which answers are near enough.

The product distance, which is the default, needs none of this: finite outputs are equal, real ones lie in balls. The
other distances of finite outputs are looked up value by value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod

from dipc.algebra.limits import LimitReached, Limits
from dipc.chain.affine import Affine
from dipc.chain.answers import Answer, finite_values, same_value
from dipc.chain.evaluate import evaluate
from dipc.chain.fault import Fault
from dipc.chain.state import SlotValue
from dipc.chain.symbolic import is_symbolic
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.lang import metric as syntax
from dipc.lang.core import Value
from dipc.lang.core_program import CoreProgram
from dipc.lang.display import show_value
from dipc.lang.metric import CoreMetric, Gap
from dipc.metric.formula import Formula, Whole, evaluated, every
from dipc.tables.cells import Cell, CellPool


class Nearness:
    """d'_u of one program whose outputs are finite; `plain` where it is the product distance anyway."""

    def __init__(self, program: CoreProgram, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._program = program
        self._metric = program.metric or CoreMetric()
        self._slots = [program.slots[slot] for slot in program.outputs]
        self._positions = output_positions(program)
        self._pool = CellPool()
        # The largest of the gaps of real outputs is at most gamma where each of them is.
        real = all(is_symbolic(slot.type) for slot in self._slots)
        self.plain = self._metric.same is None and self._metric.output in (
            ("product", "linf") if real else ("product",)
        )

    def accepted(
        self, inputs: Sequence[Cell], answer: Sequence[Cell | None], gamma: Fraction
    ) -> tuple[tuple[Cell, ...], ...]:
        """All answers v with d'_u(v, answer) <= gamma.

        Raises DiagnosticError where the distance is not that of finite outputs, or leaves part of the answer open;
        LimitReached for too many answers.
        """
        return tuple(
            tuple(map(self._pool.cell, output))
            for output, distance in self._distances(inputs, answer)
            if distance is not None and distance <= gamma
        )

    def distances(self, inputs: Sequence[Cell], answer: Sequence[Cell | None]) -> tuple[Fraction, ...]:
        """The finite values that d'_u(v, answer) takes, increasing; raises as `accepted` does."""
        found = {distance for _, distance in self._distances(inputs, answer)}
        return tuple(sorted(distance for distance in found if distance is not None))

    def distance(
        self, inputs: Mapping[int, Value], output: Sequence[Value], answer: Sequence[Value]
    ) -> Fraction | None:
        """d'_u(output, answer) at the input `inputs` (by slot); None is infinity."""
        formula = self._metric.same
        if formula is not None and self._same(formula, inputs, output, answer):
            return Fraction(0)
        kind = self._metric.output
        if isinstance(kind, Gap):
            return self._gap(kind, inputs, output, answer)
        return distance_of_values(kind, output, answer)

    def _distances(
        self, inputs: Sequence[Cell], answer: Sequence[Cell | None]
    ) -> Iterator[tuple[tuple[Value, ...], Fraction | None]]:
        exact = self._complete(answer)
        at = {slot: _value(cell) for slot, cell in zip(self._program.inputs, inputs, strict=True)}
        choices = [finite_values(slot) for slot in self._slots]
        count = prod(map(len, choices))
        if count > self._limits.answers:
            raise LimitReached("answers", f"there are {count} answers, too many to look up the distance of each")
        for output in product(*choices):
            yield output, self.distance(at, output, exact)

    def require_finite(self) -> None:
        """Raise DiagnosticError if some output is real or int."""
        symbolic = [slot.name for slot in self._slots if is_symbolic(slot.type)]
        if symbolic:
            raise DiagnosticError(_not_finite(symbolic[0]))

    def _complete(self, answer: Sequence[Cell | None]) -> tuple[Value, ...]:
        self.require_finite()
        missing = [slot.name for slot, cell in zip(self._slots, answer, strict=True) if cell is None]
        if missing:
            note = "the distance of answers in the `metric` block is about whole answers: fill the cell"
            message = f"the output `{missing[0]}` is left open, so that no answer has a distance from it"
            raise DiagnosticError(Diagnostic("E1133", message, notes=(note,)))
        return tuple(map(_value, answer))

    def _same(
        self, formula: syntax.Formula, inputs: Mapping[int, Value], output: Sequence[Value], answer: Sequence[Value]
    ) -> bool:
        values = [self._held(place, inputs, output, answer) for place in formula.places]
        same = every(joined(self._program, formula, values, inputs, lambda _: False))
        assert isinstance(same, bool), "all values are known"
        return same

    def _gap(self, gap: Gap, inputs: Mapping[int, Value], output: Sequence[Value], answer: Sequence[Value]) -> Fraction:
        values: list[SlotValue] = [self._held(place, inputs, output, answer) for place in gap.places]
        try:
            found = evaluate(gap.value, values, gap.slots)
        except Fault as fault:
            raise fault.diagnosed(self._program.source, *_where(self._program, inputs)) from None
        assert isinstance(found, Fraction)
        if found >= 0:
            return found
        place = self._program.source.excerpt(gap.span)
        notes = (*_where(self._program, inputs), "a distance is at least 0: write `abs(...)`")
        raise DiagnosticError(
            Diagnostic("E1131", f"the distance of two answers is negative: {found}", place, notes=notes)
        )

    def _held(
        self, place: syntax.FormulaSlot, inputs: Mapping[int, Value], output: Sequence[Value], answer: Sequence[Value]
    ) -> Value:
        at = self._positions.get(place.slot)
        return inputs[place.slot] if at is None else (answer if place.primed else output)[at]


def distance_of_values(kind: str, output: Sequence[Value], answer: Sequence[Value]) -> Fraction | None:
    """The distance of two answers, by the name of one that needs no input; None is infinity."""
    pairs = list(zip(output, answer, strict=True))
    equal = all(same_value(one, two) for one, two in pairs)
    if equal or kind == "discrete":
        return Fraction(0 if equal else 1)
    if kind == "linf" and all(_are_numbers(one, two) or same_value(one, two) for one, two in pairs):
        gaps = [abs(one - two) for one, two in pairs if isinstance(one, Fraction) and isinstance(two, Fraction)]
        return max(gaps, default=Fraction(0))
    return None


def output_positions(program: CoreProgram) -> dict[int, int]:
    """By the slot of an output, its place among the outputs."""
    return {slot: at for at, slot in enumerate(program.outputs)}


def joined(
    program: CoreProgram, formula: syntax.Formula, values: Sequence[Answer], inputs: Mapping[int, Answer], whole: Whole
) -> Iterator[Formula]:
    """The conditions of a formula with `values` in its slots, each when it is asked for.

    Raises DiagnosticError, which names the input, for what has no value: an index out of range, a division by zero.
    """
    held: list[SlotValue] = []
    for slot, value in zip(formula.slots, values, strict=True):
        held.append(Affine.number(value) if isinstance(value, Fraction) and is_symbolic(slot.type) else value)
    for condition in formula.conditions:
        try:
            yield evaluated(condition, held, formula.slots, whole)
        except Fault as fault:
            raise fault.diagnosed(program.source, *_where(program, inputs)) from None


def _where(program: CoreProgram, inputs: Mapping[int, Answer]) -> tuple[str, ...]:
    shown = [
        f"{program.slots[slot].name} = {show_value(value)}"
        for slot, value in inputs.items()
        if not isinstance(value, Affine)
    ]
    return (f"this happens at the input {', '.join(shown)}",) if shown else ()


def _are_numbers(one: Value, two: Value) -> bool:
    return isinstance(one, Fraction) and isinstance(two, Fraction)


def _value(cell: Cell | None) -> Value:
    assert cell is not None
    assert cell.value is not None
    return cell.value


def _not_finite(name: str) -> Diagnostic:
    return Diagnostic(
        "E1132",
        f"the output `{name}` has infinitely many values, and the `metric` block gives its own distance of answers",
        notes=("other distances than `output: product` are for bool and DOM outputs",),
    )

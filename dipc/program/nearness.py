"""Distances of answers: formulas over inputs, piecewise affine distances, and the answers that are near enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import assert_never

from dipc.algebra.limits import LimitReached, Limits, NotApplicable
from dipc.chain.state import (
    Affine,
    Answer,
    Constraint,
    Fault,
    SlotValue,
    as_form,
    constraint,
    equality,
    finite_values,
    same_value,
)
from dipc.chain.step import evaluate, evaluate_affine, read
from dipc.claims.given import Cell, CellPool, value_of
from dipc.frozen import frozen
from dipc.text import program as syntax
from dipc.text.ast import COMPARED, CompareOp
from dipc.text.core import (
    Apply,
    Concrete,
    Condition,
    Const,
    DomExpr,
    DomOp,
    Junction,
    LinearComparison,
    Reference,
    Slot,
    Value,
    show_value,
)
from dipc.text.diagnostic import bad_input
from dipc.text.program import CoreMetric, CoreProgram, Gap

# --- Conditions on inputs: linear constraints joined by `and` and `or`, with known parts evaluated --------------------


@frozen
class AllOf:
    """The conjunction of its parts."""

    parts: tuple[Formula, ...]


@frozen
class AnyOf:
    """The disjunction of its parts."""

    parts: tuple[Formula, ...]


Formula = bool | Constraint | AllOf | AnyOf

#: A test that a form is about ints.
Whole = Callable[[Affine], bool]


def all_of(formulas: Iterable[Formula]) -> Formula:
    """Return the conjunction of `formulas`; evaluation stops at one that is False."""
    return _junction(AllOf, formulas, neutral=True)


def any_of(formulas: Iterable[Formula]) -> Formula:
    """Return the disjunction of `formulas`; evaluation stops at one that is True."""
    return _junction(AnyOf, formulas, neutral=False)


def _junction(kind: type[AllOf | AnyOf], formulas: Iterable[Formula], *, neutral: bool) -> Formula:
    result: list[Formula] = []
    for formula in formulas:
        if formula is (not neutral):
            return formula
        if formula is not neutral:
            result += formula.parts if isinstance(formula, kind) else [formula]
    return result[0] if len(result) == 1 else kind(tuple(result)) if result else neutral


def opposite(formula: Formula) -> Formula:
    """Return the negation of `formula`."""
    match formula:
        case bool():
            return not formula
        case Constraint():
            return formula.negation
        case AllOf(formulas):
            return any_of(map(opposite, formulas))
        case AnyOf(formulas):
            return all_of(map(opposite, formulas))
        case _:
            assert_never(formula)


def disjoint(formula: Formula, most: int) -> tuple[tuple[Constraint, ...], ...]:
    """Return conjunctions of constraints: exactly one holds where `formula` holds, and none elsewhere.

    Raises NotApplicable if there are more than `most` of them at any step.
    """
    match formula:
        case bool():
            return ((),) if formula else ()
        case Constraint():
            return ((formula,),)
        case AllOf(formulas):
            constraintses: tuple[tuple[Constraint, ...], ...] = ((),)
            for each in formulas:
                cases = disjoint(each, most)
                if len(constraintses) * len(cases) > most:
                    raise NotApplicable
                constraintses = tuple([(*one, *case) for one in constraintses for case in cases])
            return constraintses
        case AnyOf(formulas):
            one_by_one = [
                disjoint(all_of([*map(opposite, formulas[:position]), each]), most)
                for position, each in enumerate(formulas)
            ]
            if sum(map(len, one_by_one)) > most:
                raise NotApplicable
            return tuple([case for cases in one_by_one for case in cases])
        case _:
            assert_never(formula)


def compared(difference: Affine, op: CompareOp, whole: Whole) -> Formula:
    """Return the formula `difference` `op` 0; `whole` decides whether a form has integer values."""
    if difference.is_number:
        return bool(COMPARED[op](difference.constant, 0))
    match op:
        case CompareOp.EQ:
            both = equality(difference, whole(difference))
            return False if both is None else AllOf(both)
        case CompareOp.NE:
            return opposite(compared(difference, CompareOp.EQ, whole))
        case _:
            return constraint(difference, op, whole(difference))


def evaluated(condition: Condition, values: Sequence[SlotValue], slots: Sequence[Slot], whole: Whole) -> Formula:
    """Return the `condition` of a program as a formula, where its variables `slots` have the `values`.

    `whole` decides whether a form has integer values. Raises Fault if the condition has no value.
    """
    match condition:
        case Concrete(expr=expr):
            truth = evaluate(expr, values, slots)
            assert isinstance(truth, bool)
            return truth
        case LinearComparison(difference, op):
            return compared(evaluate_affine(difference, values, slots), op, whole)
        case Junction(op=op, left=left, right=right):
            formulas = (evaluated(condition_in, values, slots, whole) for condition_in in (left, right))
            return all_of(formulas) if op is DomOp.AND else any_of(formulas)
        case _:
            assert_never(condition)


# --- Distances of answers as functions of real and int inputs: a minimum of maxima of affine forms --------------------

#: The most forms of one distance.
MOST_FORMS = 256

#: The minimum, over the tuples, of the maximum of the forms in each.
Forms = tuple[tuple[Affine, ...], ...]


def pieced(expr: DomExpr, values: Sequence[SlotValue], slots: Sequence[Slot]) -> Forms:
    """Return `expr`, where its variables `slots` have the `values`, as a minimum of maxima of affine forms.

    Raises NotApplicable unless it is built from forms by sums, multiples, min and max, and abs and negatives of single
    forms; Fault if it has no value.
    """
    match expr:
        case Const(value=value):
            return _form(value)
        case Reference(index=index):
            if index is not None:
                expr = replace(expr, index=Const(_number(pieced(index, values, slots))))
            return _form(read(expr, values, slots))
        case Apply(op=op, arguments=arguments, span=span):
            each = [pieced(argument, values, slots) for argument in arguments]
            if all(_is_number(forms) for forms in each):
                known = tuple([Const(_number(forms)) for forms in each])
                return _form(evaluate(Apply(op, known, span), values, slots))
            return _applied(op, each)
    assert_never(expr)


def _applied(op: DomOp, arguments: Sequence[Forms]) -> Forms:
    match op, arguments:
        case DomOp.ADD, (left, right):
            return _sum(left, right)
        case DomOp.SUBTRACT, (left, right):
            return _sum(left, ((-_single(right),),))
        case DomOp.NEGATE, (operand,):
            return ((-_single(operand),),)
        case DomOp.MULTIPLY, (left, right):
            return _scaled(right, _number(left)) if _is_number(left) else _scaled(left, _number(right))
        case DomOp.DIVIDE, (left, right) if _number(right):
            return _scaled(left, 1 / _number(right))
        case DomOp.MIN, _:
            return _few([affines for forms in arguments for affines in forms])
        case DomOp.MAX, _ if prod(map(len, arguments)) <= MOST_FORMS:
            return _few([[form for forms in combination for form in forms] for combination in product(*arguments)])
        case DomOp.ABS, (operand,):
            form = _single(operand)
            return ((form, -form),)
    raise NotApplicable


def _sum(left: Forms, right: Forms) -> Forms:
    if sum(map(len, left)) * sum(map(len, right)) > MOST_FORMS:
        raise NotApplicable
    return _few([[a + b for a in one for b in other] for one in left for other in right])


def _scaled(forms: Forms, factor: Fraction) -> Forms:
    if factor < 0:
        return ((_single(forms).scaled(factor),),)
    return _few([[form.scaled(factor) for form in forms] for forms in forms])


def _few(alternatives: Iterable[Iterable[Affine]]) -> Forms:
    """Return `alternatives` without repeated alternatives, each as a tuple without repeated forms.

    Raises NotApplicable if more than `MOST_FORMS` forms remain in total.
    """
    formses = tuple(dict.fromkeys(tuple(dict.fromkeys(forms)) for forms in alternatives))
    if sum(map(len, formses)) > MOST_FORMS:
        raise NotApplicable
    return formses


def _is_number(forms: Forms) -> bool:
    return len(forms) == len(forms[0]) == 1 and forms[0][0].is_number


def _number(forms: Forms) -> Fraction:
    if not _is_number(forms):
        raise NotApplicable
    return forms[0][0].constant


def _single(forms: Forms) -> Affine:
    if len(forms) != 1 or len(forms[0]) != 1:
        raise NotApplicable
    return forms[0][0]


def _form(value: SlotValue) -> Forms:
    form = as_form(value)
    if form is None:
        raise NotApplicable
    return ((form,),)


# --- d'_u of the program's `metric` block: the distance of an answer from the exact one, and the answers near enough --
#
# The product distance, which is the default, needs none of this: finite outputs are equal, real ones lie in balls.
# Other distances of finite outputs are computed value by value.


class Nearness:
    """The distance d'_u(v, v') of two answers v and v' at the input u, for one program with finite outputs."""

    def __init__(self, program: CoreProgram, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._program = program
        self._metric = program.metric or CoreMetric()
        self._slots = program.output_slots
        self._positions = output_positions(program)
        self._pool = CellPool()

    def accepted(
        self, inputs: Sequence[Cell], answer: Sequence[Cell | None], gamma: Fraction
    ) -> tuple[tuple[Cell, ...], ...]:
        """Return all answers whose distance from `answer` by the program's metric at `inputs` is at most `gamma`.

        Raises DiagnosticError if the program has real or int outputs, or if an output in `answer` is None; LimitReached
        for too many answers.
        """
        return tuple(
            tuple(map(self._pool.cell, output))
            for output, distance in self.all_distances(inputs, answer)
            if distance is not None and distance <= gamma
        )

    def distances(self, inputs: Sequence[Cell], answer: Sequence[Cell | None]) -> tuple[Fraction, ...]:
        """Return the finite distances of answers from `answer` by the program's metric at `inputs`, increasing.

        Raises DiagnosticError if the program has real or int outputs, LimitReached for too many answers.
        """
        result = {distance for _, distance in self.all_distances(inputs, answer)}
        return tuple(sorted(distance for distance in result if distance is not None))

    def distance(
        self, inputs: Mapping[int, Value], output: Sequence[Value], answer: Sequence[Value]
    ) -> Fraction | None:
        """Return the distance of `output` and `answer` at `inputs`, by the program's metric; None is infinity."""
        formula = self._metric.same
        if formula is not None and self._same(formula, inputs, output, answer):
            return Fraction(0)
        kind = self._metric.output
        if isinstance(kind, Gap):
            return self._gap(kind, inputs, output, answer)
        return distance_of_values(kind, output, answer)

    def all_distances(
        self, inputs: Sequence[Cell], answer: Sequence[Cell | None]
    ) -> Iterator[tuple[tuple[Value, ...], Fraction | None]]:
        """Yield each answer with its distance from `answer` by the program's metric at `inputs`, None for infinity.

        Raises DiagnosticError if the program has real or int outputs, LimitReached for too many answers.
        """
        self.require_finite()
        missing = [slot.name for slot, cell in zip(self._slots, answer, strict=True) if cell is None]
        if missing:
            message = f"the cell of the output `{missing[0]}` is empty, so answers have no distance from it"
            raise bad_input("E1133", message, "the `metric` block compares whole answers: fill the cell")
        exact = tuple(map(value_of, answer))
        point = {slot: value_of(cell) for slot, cell in zip(self._program.inputs, inputs, strict=True)}
        choices = [finite_values(slot) for slot in self._slots]
        count = prod(map(len, choices))
        if count > self._limits.answers:
            raise LimitReached("answers", f"there are {count} answers, too many to compute the distance of each")
        for output in product(*choices):
            yield output, self.distance(point, output, exact)

    def require_finite(self) -> None:
        """Raise DiagnosticError if some output is real or int."""
        symbolic = [slot.name for slot in self._slots if slot.is_symbolic]
        if symbolic:
            raise bad_input(
                "E1132",
                f"the output `{symbolic[0]}` has infinitely many values, "
                "and the `metric` block gives its own distance between answers",
                "use `output: product`, or make the outputs bool or DOM: other distances are for these only",
            )

    def _same(
        self, formula: syntax.Formula, inputs: Mapping[int, Value], output: Sequence[Value], answer: Sequence[Value]
    ) -> bool:
        values = [self._held(place, inputs, output, answer) for place in formula.places]
        same = all_of(formula_conditions(self._program, formula, values, inputs, lambda _: False))
        assert isinstance(same, bool), "all values are known"
        return same

    def _gap(self, gap: Gap, inputs: Mapping[int, Value], output: Sequence[Value], answer: Sequence[Value]) -> Fraction:
        values: list[SlotValue] = [self._held(place, inputs, output, answer) for place in gap.places]
        try:
            result = evaluate(gap.value, values, gap.slots)
        except Fault as fault:
            raise fault.diagnosed(self._program.source, *place_notes(self._program, inputs)) from None
        assert isinstance(result, Fraction)
        if result >= 0:
            return result
        place = self._program.source.excerpt(gap.span)
        notes = (*place_notes(self._program, inputs), "a distance must be at least 0: write `abs(...)`")
        raise bad_input("E1131", f"the distance of two answers is negative: {result}", *notes, place=place)

    def _held(
        self, place: syntax.FormulaSlot, inputs: Mapping[int, Value], output: Sequence[Value], answer: Sequence[Value]
    ) -> Value:
        position = self._positions.get(place.slot)
        return inputs[place.slot] if position is None else (answer if place.primed else output)[position]


def distance_of_values(kind: str, output: Sequence[Value], answer: Sequence[Value]) -> Fraction | None:
    """Return the distance of `output` and `answer`, None for infinity, by the distance that `kind` names.

    Examples are "linf" and "discrete". The distance does not depend on the input.
    """
    pairs = list(zip(output, answer, strict=True))
    equal = all(same_value(one, two) for one, two in pairs)
    if equal or kind == "discrete":
        return Fraction(0 if equal else 1)
    if kind == "linf" and all(
        (isinstance(one, Fraction) and isinstance(two, Fraction)) or same_value(one, two) for one, two in pairs
    ):
        gaps = [abs(one - two) for one, two in pairs if isinstance(one, Fraction) and isinstance(two, Fraction)]
        return max(gaps, default=Fraction(0))
    return None


def output_positions(program: CoreProgram) -> dict[int, int]:
    """Return the index of each output slot of `program` among its outputs."""
    return {slot: position for position, slot in enumerate(program.outputs)}


def formula_conditions(
    program: CoreProgram, formula: syntax.Formula, values: Sequence[Answer], inputs: Mapping[int, Answer], whole: Whole
) -> Iterator[Formula]:
    """Yield the conditions of `formula` with `values` in its slots; each is evaluated when it is requested.

    `whole` decides whether a form has integer values. Raises DiagnosticError, which names `inputs` of `program`, for a
    condition without a value: an index out of range, a division by zero.
    """
    held: list[SlotValue] = []
    for slot, value in zip(formula.slots, values, strict=True):
        held.append(Affine.number(value) if isinstance(value, Fraction) and slot.is_symbolic else value)
    for condition in formula.conditions:
        try:
            yield evaluated(condition, held, formula.slots, whole)
        except Fault as fault:
            raise fault.diagnosed(program.source, *place_notes(program, inputs)) from None


def place_notes(program: CoreProgram, inputs: Mapping[int, Answer]) -> tuple[str, ...]:
    """Return a note that shows the values of `inputs` of `program`, by slot; no note if no value is known."""
    assignments = [
        f"{program.slots[slot].name} = {show_value(value)}"
        for slot, value in inputs.items()
        if not isinstance(value, Affine)
    ]
    return (f"this happens at the input {', '.join(assignments)}",) if assignments else ()

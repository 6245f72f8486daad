"""The classes of all real and int inputs: for each answer of det, the convex sets of inputs with that answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import overload

from dipc.algebra.limits import LimitReached, NotApplicable, Undecided
from dipc.chain.state import (
    Affine,
    Answer,
    Constraint,
    Fault,
    SlotValue,
    as_form,
    constraint,
    contradict,
    finite_values,
    same_value,
)
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace, equation
from dipc.linear.program import Infeasible, solution
from dipc.program.ideal import Ideal, Region
from dipc.program.metric import Norm
from dipc.program.nearness import (
    Formula,
    all_of,
    any_of,
    compared,
    disjoint,
    distance_of_values,
    opposite,
    output_positions,
    pieced,
)
from dipc.program.program import Program
from dipc.text.ast import CompareOp
from dipc.text.core import Value
from dipc.text.diagnostic import Excerpt, bad_input
from dipc.text.program import CoreProgram, Gap

_ZERO = Fraction(0)


#: Constraints that all have to hold.
Conjunction = tuple[Constraint, ...]


@frozen
class InputClass:
    """The inputs of one region, for fixed values of the finite inputs, and what decides how far other answers are.

    - `finite` has the values of the finite inputs, by slot, and `region` the set of the other inputs.
    - `decisive` is the region with only those outputs in its answer that dd(u) compares.
    - `others` are the other regions in which det may give the same answer, `rivals` the regions in which it gives
      another one.
    - `alone`: det gives no other answer at all, so that dd is infinite.
    - `rivals_arbitrarily_near`: arbitrarily near to every input of the class, there are inputs with another answer.
    - `rivals_at_one`: at the distance 1 from every input of the class, there is an input with another answer.
    - `whole` are the slots of the int inputs.
    - `integral`: all distances from other answers are integers.
    - `incomplete`: some exits to the answer may be left out of the bounds.
    - `outside` are convex sets that together contain all inputs, with the values in `finite`, at which `requires` does
      not hold.

    A class can represent `count` regions that an exchange of inputs maps into each other. It then has no `others` and
    `rivals`, of which there would be too many. Instead, it has `sections`: each starts with some guards of the region,
    followed by the conjunctions that could replace them. Det gives the answer of the region exactly where, in every
    section, one of the conjunctions holds.
    """

    finite: Mapping[int, Value]
    region: Region
    decisive: Region
    others: Sequence[Region]
    rivals: Sequence[Region]
    alone: bool
    rivals_arbitrarily_near: bool
    rivals_at_one: bool
    whole: frozenset[int]
    integral: bool
    count: int = 1
    sections: tuple[tuple[Conjunction, ...], ...] = ()
    incomplete: bool = False
    outside: tuple[Region, ...] = ()

    @property
    def moving(self) -> bool:
        """Whether there are inputs with other answers in the region itself, arbitrarily near to each of its inputs.

        True if the region has inner points, and an output of det is a form with a real input. Some small step then
        changes the form and stays in the region.
        """
        if not _grows(self.decisive, self.whole):
            return False
        # A guard is about ints or about reals.
        inner = [replace(guard.guard, strict=True) for guard in self.region.guards if not guard.whole]
        return not isinstance(solution(inner), Infeasible)


def finite_cases(ideal: Ideal, among: Sequence[int] | None = None) -> list[dict[int, Value]]:
    """Return all combinations of values of the finite inputs of `ideal`, each as a mapping from slots to values.

    If `among` is given, only the inputs with these slots are combined. Raises LimitReached if there are too many.
    """
    return combinations_of(ideal.program, ideal.finite_inputs if among is None else among)


def combinations_of(program: Program, inputs: Sequence[int]) -> list[dict[int, Value]]:
    """Return all combinations of values of the `inputs` of `program`, which are slots of finite inputs.

    Each is a mapping from slots to values. Raises LimitReached if there are too many.
    """
    slots = [program.core.slots[slot] for slot in inputs]
    domains = [finite_values(slot) for slot in slots]
    most = program.limits.cases
    if prod(map(len, domains)) > most:
        raise LimitReached("cases", f"the finite inputs have more than {most} combinations")
    return [{slot.index: value for slot, value in zip(slots, values, strict=True)} for values in product(*domains)]


def classes(ideal: Ideal, *, apart: bool = True) -> Iterator[InputClass]:
    """Yield classes that together contain all inputs, one for each region of `ideal` and each choice of finite inputs.

    If `apart` is False, the distance from other answers does not matter: the classes have no `others` and `rivals`.

    A class has `rivals_arbitrarily_near` if no other region can have its answer, and an output of det is a form with a
    real input: each step along this input leads to another value. Likewise it has `rivals_at_one` if an output is a
    form with a real or int input. Where `requires` bounds the inputs, such a step may lead to no input. A class then
    has `rivals_arbitrarily_near` only if its answer is `moving`, and `rivals_at_one` only if a step of 1, up or down,
    stays in its region.

    Raises DiagnosticError for programs whose inputs are all finite, and LimitReached if the finite inputs have too many
    combinations. Raises Undecided if it is not known whether an input has a neighbor with another answer.
    """
    whole = frozenset(ideal.whole_inputs)
    bounded = ideal.program.allowed is not None
    combinations = finite_cases(ideal)
    numbers = [value for finite in combinations for value in finite.values() if isinstance(value, Fraction)]
    by_finite = [(finite, ideal.regions(finite)) for finite in combinations]
    every = [region for _, regions in by_finite for region in regions]
    decisive = [replace(region, answer=ideal.metric.decisive(region.answer)) for region in every]
    constant = all(not (isinstance(v, Affine) and v.inputs) for region in decisive for v in region.answer)
    # A real input on which neither answers nor guards depend does not move an input nearer to another answer.
    symbolic = frozenset(ideal.symbolic_inputs)
    idle = symbolic.difference(*map(_slots, decisive)) if ideal.metric.is_plain else frozenset[int]()
    integral = whole | idle == symbolic and all(number.denominator == 1 for number in numbers)
    alone = constant and all(
        a == b if isinstance(a, Affine) or isinstance(b, Affine) else same_value(a, b)
        for region in decisive
        for a, b in zip(region.answer, decisive[0].answer, strict=True)
    )
    if bounded and not constant and ideal.metric.norm is Norm.DISCRETE:
        raise Undecided(
            "with `requires`, the discrete distance between inputs is decided for answers of finite type only"
        )
    for finite, regions in by_finite:
        outside = ideal.outside(finite)
        answers = [replace(region, answer=ideal.metric.decisive(region.answer)) for region in regions]
        numbers_of = dict[object, int]()
        constants = [_number_of(each, numbers_of) for each in answers]
        alike: dict[int | None, list[int]] = {}
        for position, number in enumerate(constants):
            alike.setdefault(number, []).append(position)
        for position, (region, own, number) in enumerate(zip(regions, answers, constants, strict=True)):
            others: Sequence[Region] = ()
            rivals: Sequence[Region] = ()
            if apart and None not in alike:
                # Usually few of thousands of regions have the same answer.
                others = tuple([regions[other] for other in alike[number] if other != position])
                rivals = _OtherRegions(regions, alike[number])
            elif apart:
                agree = [
                    _may_agree(own, its) if number is None or its_number is None else number == its_number
                    for its, its_number in zip(answers, constants, strict=True)
                ]
                same = [other for other, agrees in enumerate(agree) if agrees or other == position]
                others = tuple([regions[other] for other in same if other != position])
                rivals = _OtherRegions(regions, same)
            rivals_arbitrarily_near, rivals_at_one = [
                apart and not others and _grows(own, but) for but in (whole, frozenset[int]())
            ]
            one = InputClass(
                finite, region, own, others, rivals, alone, rivals_arbitrarily_near, rivals_at_one, whole, integral
            )
            if bounded:
                stays = rivals_at_one and _steps_inside(own, whole)
                one = replace(
                    one,
                    rivals_arbitrarily_near=rivals_arbitrarily_near and one.moving,
                    rivals_at_one=stays,
                    outside=outside,
                )
            yield one


class _OtherRegions(Sequence[Region]):
    """A sequence of all `regions` except those with the increasing indices `left_out`.

    Nothing is copied before the sequence is used.
    """

    def __init__(self, regions: Sequence[Region], left_out: Sequence[int]) -> None:
        self._regions = regions
        self._left_out = left_out

    def __len__(self) -> int:
        return len(self._regions) - len(self._left_out)

    @overload
    def __getitem__(self, index: int) -> Region: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Region]: ...

    def __getitem__(self, index: int | slice) -> Region | Sequence[Region]:
        return tuple(self)[index]

    def __iter__(self) -> Iterator[Region]:
        left_out = frozenset(self._left_out)
        return (region for position, region in enumerate(self._regions) if position not in left_out)


def _steps_inside(region: Region, whole: frozenset[int]) -> bool:
    """Return True if a step of 1 along one int input changes the answer at each point of `region`.

    The answer is a form of inputs. The int input is the same for all points, and the step stays in the region. It may
    be up from some points and down from others. `whole` are the slots of the int inputs.
    """
    moved = {slot for value in region.answer if isinstance(value, Affine) for slot, _ in value.inputs if slot in whole}
    for slot in moved:
        up, down = [
            [guard for item in region.guards if (guard := _stepped(item, slot, step)).form != item.form]
            for step in (1, -1)
        ]
        if all(contradict([*region.guards, one.negation, other.negation]) for one, other in product(up, down)):
            return True
    return False


def _stepped(item: Constraint, slot: int, step: int) -> Constraint:
    change = step * sum((c for key, c in item.form.inputs if key == slot), _ZERO)
    return constraint(item.form.shifted(change), CompareOp.GT if item.strict else CompareOp.GE, item.whole)


def same_answers(
    near: NearAnswers, classes: InputClass, answers: Sequence[Sequence[Answer]]
) -> list[tuple[tuple[Constraint, ...], InputClass]]:
    """Cut the class of inputs `classes` by the answers that count as the same as its own answer.

    Return the guards of each part, and the class with the `others`, the `rivals` and the flags of that part. `answers`
    are all answers that det gives. Each of them counts as the same at all inputs of a part or at none, by the `metric`
    block that `near` reads. Raises DiagnosticError for an expression without a value. Raises Undecided past a limit,
    and if the block does not count the class's own answer as the same.
    """
    cases: list[tuple[tuple[Constraint, ...], dict[tuple[Answer, ...], bool]]] = [((), {})]
    most = near.ideal.program.limits.pieces
    for answer in map(tuple, answers):
        differs = near.differ(classes.finite, classes.region.answer, answer)
        sides = [(case, truth) for truth in (True, False) for case in cases_of(differs if truth else opposite(differs))]
        both = [
            ((*guards, *case), {**known, answer: truth})
            for guards, known in cases
            for case, truth in sides
            if not contradict([*classes.region.guards, *guards, *case])
        ]
        if len(both) > most:
            raise LimitReached("pieces", f"the conditions of `same` cut a region into more than {most} pieces")
        cases = both
    core = near.ideal.metric.core
    if any(known[classes.region.answer] for _, known in cases) and (core.input == "discrete" or core.apart is not None):
        raise Undecided("the `metric` block does not count an answer as the same as itself")
    every = (*classes.others, *classes.rivals)
    return [
        (
            guards,
            replace(
                classes,
                others=tuple(region for region in every if not known[region.answer]),
                rivals=tuple(region for region in every if known[region.answer]),
                alone=not any(known.values()),
                # The answer counts as different from itself: another answer is at the distance 0.
                rivals_arbitrarily_near=known[classes.region.answer],
            ),
        )
        for guards, known in cases
    ]


def _grows(region: Region, but: frozenset[int]) -> bool:
    return any(
        isinstance(value, Affine) and any(slot not in but for slot, _ in value.inputs) for value in region.answer
    )


def _number_of(region: Region, known: dict[object, int]) -> int | None:
    """Return a number that identifies the answer of `region`, or None if the answer depends on the inputs.

    Equal answers have equal numbers. `known` has the numbers of answers seen so far; a new answer is added.
    """
    if any(isinstance(value, Affine) for value in region.answer):
        return None
    return known.setdefault(tuple([(isinstance(value, bool), value) for value in region.answer]), len(known))


def _may_agree(left: Region, right: Region) -> bool:
    """Return False only if no answer is given by det both in the region `left` and in the region `right`."""
    pairs = list(zip(left.answer, right.answer, strict=True))
    if any(not isinstance(a, Affine) and not isinstance(b, Affine) and not same_value(a, b) for a, b in pairs):
        return False
    beyond = 1 + max((slot for slot in _slots(left) | _slots(right)), default=0)
    equations: list[Halfspace] = []
    for a, b in pairs:
        if not isinstance(a, Affine) and not isinstance(b, Affine):
            continue
        one, other = as_form(a), _shift_slots(as_form(b), beyond)
        if one is not None and other is not None:
            difference = one - other
            equations += equation(difference.inputs, difference.constant)
    here = [guard.guard for guard in left.guards]
    there = [
        Halfspace(moved.inputs, moved.constant, g.guard.strict)
        for g in right.guards
        if (moved := _shift_slots(g.form, beyond)) is not None
    ]
    return not equations or not isinstance(solution([*here, *there, *equations]), Infeasible)


def _shift_slots(form: Affine | None, beyond: int) -> Affine | None:
    return None if form is None else Affine((), tuple([(slot + beyond, c) for slot, c in form.inputs]), form.constant)


def _slots(region: Region) -> set[int]:
    forms = [guard.form for guard in region.guards] + [v for v in region.answer if isinstance(v, Affine)]
    return {slot for form in forms for slot, _ in form.inputs}


# --- near answers ---------------------------------------------------------------------------------
#
# The conditions on inputs under which an answer is near enough to det's, for a distance given by the `metric` block.
#
# The product distance needs none of this. Outputs are finite: an exit to an answer v counts as one to det's on the
# inputs u with d'_u(v, det(u)) <= gamma, or where the two are the `same`. Both are conditions on u, which cut classes.

#: The most disjoint cases into which one condition is split.
_MOST_CASES = 2_000


@frozen
class NearAnswers:
    """The conditions on inputs under which two answers count as near or as the same, by a `metric` block.

    `ideal` has the program with this block, whose outputs are finite, and `gamma` is the tolerance.
    """

    ideal: Ideal
    gamma: Fraction

    def differ(self, finite: Mapping[int, Value], answer: Sequence[Answer], other: Sequence[Answer]) -> Formula:
        """Return the condition on the real and int inputs under which `other` and `answer` count as different in dd(u).

        `finite` has the values of the finite inputs, by slot. Raises DiagnosticError for an expression without a value.
        """
        return self.ideal.metric.differ(self._here(finite), answer, other)

    def cases(
        self, finite: Mapping[int, Value], region: Region, output: Sequence[object], *, near: bool
    ) -> tuple[tuple[Constraint, ...], ...]:
        """Return disjoint conjunctions that cover exactly the inputs at which `output` is near the answer of `region`.

        If `near` is False, they cover exactly the inputs at which the output is not near. `finite` has the values of
        the finite inputs, by slot. Raises Undecided and DiagnosticError.
        """
        # An output that was never assigned is not near any answer.
        wanted = all(value is not None for value in output) and self._nearness(finite, region, output)
        return cases_of(wanted if near else opposite(wanted))

    def _nearness(self, finite: Mapping[int, Value], region: Region, output: Sequence[object]) -> Formula:
        exact, given = _values(region.answer), _values(output)
        here = self._here(finite)
        metric = self.ideal.metric.core
        same = metric.same is not None and opposite(self.ideal.metric.differ(here, exact, given))
        if same is True:
            return True
        if isinstance(metric.output, Gap):
            return any_of([same, self._gap_condition(metric.output, here, given, region)])
        distance = distance_of_values(metric.output, given, exact)
        return any_of([same, distance is not None and distance <= self.gamma])

    def _gap_condition(self, gap: Gap, here: Mapping[int, Answer], output: Sequence[Value], region: Region) -> Formula:
        """Return the condition on inputs under which `output` is within gamma of the answer of `region`.

        `gap` is the distance of answers that the `metric` block defines. `here` has the inputs by slot, as values and
        forms. Raises Undecided if the distance is not piecewise affine in the inputs, or may be negative.
        """
        program = self.ideal.program.core
        positions = output_positions(program)
        held: list[SlotValue] = []
        for place in gap.places:
            position = positions.get(place.slot)
            held.append(here[place.slot] if position is None else (region.answer if place.primed else output)[position])
        try:
            forms = pieced(gap.value, held, gap.slots)
        except Fault as fault:
            raise fault.diagnosed(program.source) from None
        except NotApplicable:
            raise Undecided("the distance between answers is not piecewise affine in the inputs") from None
        negative = (case for form in forms for case in cases_of(self._all_less(form, CompareOp.LT, _ZERO)))
        if any(not contradict([*region.guards, *case]) for case in negative):
            raise Undecided("the distance between answers may be negative")
        return any_of(self._all_less(form, CompareOp.LE, self.gamma) for form in forms)

    def _all_less(self, forms: Sequence[Affine], op: CompareOp, value: Fraction) -> Formula:
        return all_of(compared(form - Affine.number(value), op, self._is_whole) for form in forms)

    def _is_whole(self, form: Affine) -> bool:
        return all(slot in self.ideal.whole_inputs for slot, _ in form.inputs)

    def _here(self, finite: Mapping[int, Value]) -> dict[int, Answer]:
        return {**finite, **{slot: Affine.input(slot) for slot in self.ideal.symbolic_inputs}}


def require_product(core: CoreProgram) -> None:
    """Raise DiagnosticError if the `metric` block of `core` defines which answers are near or the same.

    Without such a definition, finite outputs are near if they are equal, and real and int ones if they are within
    gamma.
    """
    if not core.has_product_distance:
        same = core.metric is not None and core.metric.same is not None
        what = "answers that count as the same (`same`)" if same else "a distance between answers other than `product`"
        note = "give the constant a number"
        raise bad_input("E1206", f"`--for-all` does not cover {what}", note, place=metric_excerpt(core))


def cases_of(formula: Formula) -> tuple[tuple[Constraint, ...], ...]:
    """Return conjunctions of constraints: where `formula` holds, exactly one of them does; elsewhere none does.

    Raises LimitReached if there are too many.
    """
    try:
        return disjoint(formula, _MOST_CASES)
    except NotApplicable:
        raise LimitReached(None, f"a condition of the `metric` block has more than {_MOST_CASES} cases") from None


def _values(answer: Sequence[object]) -> tuple[Value, ...]:
    assert all(isinstance(value, bool | Fraction | str) for value in answer)
    return tuple(value for value in answer if isinstance(value, bool | Fraction | str))


def metric_excerpt(core: CoreProgram) -> Excerpt | None:
    """Return the text of the `metric` block of `core` as an excerpt for a message, or None without a block."""
    return None if core.metric is None else core.source.excerpt(core.metric.span)

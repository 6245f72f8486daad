"""The classes of all real and int inputs: for each answer of det the convex sets of inputs with that answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

from dipc.algebra.limits import LimitReached, Undecided
from dipc.chain.state import (
    Affine,
    Answer,
    Constraint,
    Fault,
    SlotValue,
    as_form,
    contradict,
    finite_values,
    same_value,
)
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace, equation
from dipc.linear.program import Infeasible, solution
from dipc.program.ideal import Ideal, Region
from dipc.program.nearness import (
    Formula,
    Nearness,
    NotPieced,
    TooMany,
    compared,
    disjoint,
    distance_of_values,
    every,
    opposite,
    output_positions,
    pieced,
    some,
)
from dipc.program.program import Program
from dipc.rules.class_claim import ClassClaim
from dipc.text.ast import CompareOp
from dipc.text.core import Value
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Excerpt
from dipc.text.program import CoreProgram, Gap

_ZERO = Fraction(0)


@frozen
class Section:
    """Some of the guards of a region, and what may stand `instead` of them. What others are instead of other sections
    has no part in it: det gives the answer exactly where one of each section holds."""

    guards: tuple[Constraint, ...]
    instead: tuple[tuple[Constraint, ...], ...]


@frozen
class InputClass:
    """The inputs of one region, for these finite inputs.

    `others` are the other regions where det may give an answer that it gives here, `rivals` those where each answer is
    another; of answers only the outputs count that dd(u) is about, here those of `decisive`. `alone` says that det has
    no other answer at all, so that dd is infinite; `restless` that the answer changes between inputs of the class as
    near to each other as one likes, and `stepping` that it changes from each to some input at the distance 1 (see
    `classes`). `whole` are the int inputs, and `integral` says that all distances of inputs are integers.

    A class may stand for `count` regions that are alike (see `exchange`). It has `sections` in place of `others` and
    `rivals`, which are not gone through: the guards of its region, with what is behind them where the answer is the
    same. With `incomplete` there may be more exits with the answer than those that are known.
    """

    finite: Mapping[int, Value]
    region: Region
    decisive: Region
    others: tuple[Region, ...]
    rivals: tuple[Region, ...]
    alone: bool
    restless: bool
    stepping: bool
    whole: frozenset[int]
    integral: bool
    count: int = 1
    sections: tuple[Section, ...] = ()
    incomplete: bool = False

    @property
    def moving(self) -> bool:
        """Whether the answer changes inside the region, as near to each of its inputs as one likes: if it has inner
        points, steps towards some of them change a form that grows, and lead to other inputs of the region."""
        if not _grows(self.decisive, self.whole):
            return False
        # A guard is about ints or about reals.
        inner = [replace(guard.guard, strict=True) for guard in self.region.guards if not guard.whole]
        return not isinstance(solution(inner), Infeasible)


def finite_cases(ideal: Ideal, among: Sequence[int] | None = None) -> list[dict[int, Value]]:
    """All values of the finite inputs, or of those `among` them, by slot. Raises LimitReached for too many of them."""
    return combinations_of(ideal.program, ideal.finite_inputs if among is None else among)


def combinations_of(program: Program, inputs: Sequence[int]) -> list[dict[int, Value]]:
    """All values of these finite inputs, by slot. Raises LimitReached for too many of them."""
    slots = [program.core.slots[slot] for slot in inputs]
    domains = [finite_values(slot) for slot in slots]
    most = program.limits.cases
    if prod(map(len, domains)) > most:
        raise LimitReached("cases", f"the finite inputs have more than {most} combinations")
    return [{slot.index: value for slot, value in zip(slots, values, strict=True)} for values in product(*domains)]


def classes(ideal: Ideal, *, apart: bool = True) -> Iterator[InputClass]:
    """The classes in the order of the ideal's paths; together they are all inputs. Where it does not matter how far
    other answers are `apart`, no other region is looked at, as if det gave the same answer nowhere else.

    A class is `restless` if an output is a form that grows along some real input, and no other region may have the same
    answer: then every step in that direction leads to another value, here or elsewhere. It is `stepping` if the output
    grows along some int input: then each step of 1 does.
    Raises DiagnosticError for programs whose inputs are all finite, LimitReached for too many of these.
    """
    whole = frozenset(ideal.whole_inputs)
    combinations = finite_cases(ideal)
    numbers = [value for finite in combinations for value in finite.values() if isinstance(value, Fraction)]
    integral = len(whole) == len(ideal.symbolic_inputs) and all(number.denominator == 1 for number in numbers)
    by_finite = [(finite, ideal.regions(finite)) for finite in combinations]
    every = [region for _, regions in by_finite for region in regions]
    decisive = [replace(region, answer=ideal.metric.decisive(region.answer)) for region in every]
    constant = all(not (isinstance(v, Affine) and v.inputs) for region in decisive for v in region.answer)
    alone = constant and all(_same_answer(region, decisive[0]) for region in decisive)
    for finite, regions in by_finite:
        answers = [replace(region, answer=ideal.metric.decisive(region.answer)) for region in regions]
        numbers_of = dict[object, int]()
        constants = [_number_of(each, numbers_of) for each in answers]
        for region, own, number in zip(regions, answers, constants, strict=True):
            pairs = [
                (other, _may_agree(own, its) if number is None or its_number is None else number == its_number)
                for other, its, its_number in zip(regions, answers, constants, strict=True)
                if apart
            ]
            others, rivals = [
                tuple([other for other, agrees in pairs if agrees is alike and other is not region])
                for alike in (True, False)
            ]
            restless, stepping = [apart and not others and _grows(own, but) for but in (whole, frozenset[int]())]
            yield InputClass(finite, region, own, others, rivals, alone, restless, stepping, whole, integral)


def same_answers(
    near: NearAnswers, classes: InputClass, answers: Sequence[Sequence[Answer]]
) -> list[tuple[tuple[Constraint, ...], InputClass]]:
    """The class in parts, with the guards of each: which of the `answers`, all that det gives, count as its own is the
    same on a part. Raises Undecided, and DiagnosticError for what has no value."""
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
        raise Undecided("by the `metric` block an answer is not the same as itself")
    every = (*classes.others, *classes.rivals)
    return [
        (
            guards,
            replace(
                classes,
                others=tuple(region for region in every if not known[region.answer]),
                rivals=tuple(region for region in every if known[region.answer]),
                alone=not any(known.values()),
                # Another answer at a distance of 0, from itself.
                restless=known[classes.region.answer],
            ),
        )
        for guards, known in cases
    ]


def _grows(region: Region, but: frozenset[int]) -> bool:
    """Whether an output is a form that depends on other inputs than these."""
    return any(
        isinstance(value, Affine) and any(slot not in but for slot, _ in value.inputs) for value in region.answer
    )


def _number_of(region: Region, known: dict[object, int]) -> int | None:
    """A number that regions share exactly where they have the same constant answers; None where an answer is a form."""
    if any(isinstance(value, Affine) for value in region.answer):
        return None
    return known.setdefault(tuple([(isinstance(value, bool), value) for value in region.answer]), len(known))


def _may_agree(left: Region, right: Region) -> bool:
    """Whether the answers at some input of one region and some of the other may be the same; False is proved."""
    pairs = list(zip(left.answer, right.answer, strict=True))
    if any(not isinstance(a, Affine) and not isinstance(b, Affine) and not same_value(a, b) for a, b in pairs):
        return False
    beyond = 1 + max((slot for slot in _slots(left) | _slots(right)), default=0)
    equations: list[Halfspace] = []
    for a, b in pairs:
        if not isinstance(a, Affine) and not isinstance(b, Affine):
            continue
        one, other = as_form(a), _moved(as_form(b), beyond)
        if one is not None and other is not None:
            difference = one - other
            equations += equation(difference.inputs, difference.constant)
    here = [guard.guard for guard in left.guards]
    there = [
        Halfspace(moved.inputs, moved.constant, g.guard.strict)
        for g in right.guards
        if (moved := _moved(g.form, beyond)) is not None
    ]
    return not equations or not isinstance(solution([*here, *there, *equations]), Infeasible)


def _moved(form: Affine | None, beyond: int) -> Affine | None:
    """The form of inputs with numbers that are greater by this."""
    return None if form is None else Affine((), tuple([(slot + beyond, c) for slot, c in form.inputs]), form.constant)


def _slots(region: Region) -> set[int]:
    forms = [guard.form for guard in region.guards] + [v for v in region.answer if isinstance(v, Affine)]
    return {slot for form in forms for slot, _ in form.inputs}


def _same_answer(left: Region, right: Region) -> bool:
    pairs = zip(left.answer, right.answer, strict=True)
    return all(a == b if isinstance(a, Affine) or isinstance(b, Affine) else same_value(a, b) for a, b in pairs)


# --- near answers ---------------------------------------------------------------------------------
#
# Which answers are near enough to det's, as conditions on the inputs, where the `metric` block says so.
#
# The product distance needs none of this. Outputs are finite: a way to an answer v is one to det's on the inputs u with
# d'_u(v, det(u)) <= gamma, or where the two are the `same`. Both are conditions on u, by which classes are cut.

#: Cases that one condition falls into.
_MOST_CASES = 2_000


@frozen
class NearAnswers:
    """The answers within gamma of det's, for one program with finite outputs and its `ideal`."""

    ideal: Ideal
    gamma: Fraction

    def differ(self, finite: Mapping[int, Value], answer: Sequence[Answer], other: Sequence[Answer]) -> Formula:
        """For which real and int inputs `other` is another answer than `answer`, as far as dd(u) goes. Raises
        DiagnosticError for what has no value."""
        return self.ideal.metric.differ(self._here(finite), answer, other)

    def cases(
        self, finite: Mapping[int, Value], region: Region, output: Sequence[object], *, near: bool
    ) -> tuple[tuple[Constraint, ...], ...]:
        """Conjunctions, of which exactly one holds at the inputs of the region where `output` is near its answer (or
        where it is not). Raises Undecided and DiagnosticError."""
        # What was never assigned is near nothing.
        wanted = all(value is not None for value in output) and self._near(finite, region, output)
        return cases_of(wanted if near else opposite(wanted))

    def _near(self, finite: Mapping[int, Value], region: Region, output: Sequence[object]) -> Formula:
        exact, given = _values(region.answer), _values(output)
        here = self._here(finite)
        metric = self.ideal.metric.core
        same = metric.same is not None and opposite(self.ideal.metric.differ(here, exact, given))
        if same is True:
            return True
        if isinstance(metric.output, Gap):
            return some([same, self._within(metric.output, here, given, region)])
        distance = distance_of_values(metric.output, given, exact)
        return some([same, distance is not None and distance <= self.gamma])

    def _within(self, gap: Gap, here: Mapping[int, Answer], output: Sequence[Value], region: Region) -> Formula:
        """Where the distance that is a number is at most gamma."""
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
        except NotPieced:
            raise Undecided("the distance of answers is not made of affine functions of the inputs") from None
        negative = (case for form in forms for case in cases_of(self._all_less(form, CompareOp.LT, _ZERO)))
        if any(not contradict([*region.guards, *case]) for case in negative):
            raise Undecided("the distance of answers may be negative")
        return some(self._all_less(form, CompareOp.LE, self.gamma) for form in forms)

    def _all_less(self, forms: Sequence[Affine], op: CompareOp, value: Fraction) -> Formula:
        return every(compared(form - Affine.number(value), op, self._is_whole) for form in forms)

    def _is_whole(self, form: Affine) -> bool:
        """Whether a number is made of ints alone: unlike conditions, it may be made of reals as well."""
        return all(slot in self.ideal.whole_inputs for slot, _ in form.inputs)

    def _here(self, finite: Mapping[int, Value]) -> dict[int, Answer]:
        return {**finite, **{slot: Affine.input(slot) for slot in self.ideal.symbolic_inputs}}


def near_answers(ideal: Ideal, claim: ClassClaim) -> NearAnswers | None:
    """None where the distance of answers is the product distance.

    Raises DiagnosticError for real or int outputs with another one, and where it takes more than two values and gamma
    is not one number.
    """
    core = ideal.program.core
    if core.has_product_distance:
        return None
    Nearness(core).require_finite()
    if ideal.metric.core.output == "product":
        return NearAnswers(ideal, Fraction(0))
    if claim.free_gamma or claim.gamma_moves:
        raise DiagnosticError(_unsupported(core, "a gamma other than a number with this distance of answers"))
    fixed = claim.open().gamma_base if claim.is_open else claim.without_distance().gamma
    return NearAnswers(ideal, fixed)


def require_product(core: CoreProgram) -> None:
    """Raise DiagnosticError where what is the same answer, or a near one, depends on more than equality and gamma."""
    if not core.has_product_distance:
        same = core.metric is not None and core.metric.same is not None
        what = "answers that count as the same (`same`)" if same else "a distance of answers other than `product`"
        notes = ("give the constant a number",)
        raise DiagnosticError(Diagnostic("E1206", f"`--for-all` does not cover {what}", _in_metric(core), notes=notes))


def cases_of(formula: Formula) -> tuple[tuple[Constraint, ...], ...]:
    """Conjunctions of which exactly one holds where the formula does. Raises LimitReached."""
    try:
        return disjoint(formula, _MOST_CASES)
    except TooMany:
        raise LimitReached(None, f"the `metric` block has a condition of more than {_MOST_CASES} cases") from None


def _values(answer: Sequence[object]) -> tuple[Value, ...]:
    """The outputs, all finite."""
    assert all(isinstance(value, bool | Fraction | str) for value in answer)
    return tuple(value for value in answer if isinstance(value, bool | Fraction | str))


def _unsupported(core: CoreProgram, what: str) -> Diagnostic:
    notes = ("give gamma a number, such as --gamma 1",)
    return Diagnostic("E1206", f"`--inputs all` does not cover {what}", _in_metric(core), notes=notes)


def _in_metric(core: CoreProgram) -> Excerpt | None:
    return None if core.metric is None else core.source.excerpt(core.metric.span)

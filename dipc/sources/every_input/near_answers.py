"""Which answers are near enough to det's, as conditions on the inputs, where the `metric` block says so.

The product distance needs none of this. Outputs are finite: a way to an answer v is one to det's on the inputs u with
d'_u(v, det(u)) <= gamma, or where the two are the `same`. Both are conditions on u, by which classes are cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.limits import LimitReached, Undecided
from dipc.chain.affine import Affine
from dipc.chain.answers import Answer
from dipc.chain.constraints import Constraint
from dipc.chain.entailment import contradict
from dipc.chain.fault import Fault
from dipc.chain.state import SlotValue
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Excerpt
from dipc.ideal.ideal import Ideal, Region
from dipc.lang.ast import CompareOp
from dipc.lang.core import Value
from dipc.lang.core_program import CoreProgram
from dipc.lang.metric import Gap
from dipc.metric.formula import Formula, TooMany, compared, disjoint, every, opposite, some
from dipc.metric.nearness import Nearness, distance_of_values, output_positions
from dipc.metric.pieced import NotPieced, pieced
from dipc.sources.every_input.scaling import ClassClaim

_ZERO = Fraction(0)

#: Cases that one condition falls into.
_MOST_CASES = 2_000


@dataclass(frozen=True, slots=True)
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
            at = positions.get(place.slot)
            held.append(here[place.slot] if at is None else (region.answer if place.primed else output)[at])
        try:
            parts = pieced(gap.value, held, gap.slots)
        except Fault as fault:
            raise fault.diagnosed(program.source) from None
        except NotPieced:
            raise Undecided("the distance of answers is not put together from affine functions of the inputs") from None
        negative = (case for part in parts for case in cases_of(self._all_less(part, CompareOp.LT, _ZERO)))
        if any(not contradict([*region.guards, *case]) for case in negative):
            raise Undecided("the distance of answers may be negative")
        return some(self._all_less(part, CompareOp.LE, self.gamma) for part in parts)

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
    nearness = Nearness(core)
    if nearness.plain:
        return None
    nearness.require_finite()
    if ideal.metric.core.output == "product":
        return NearAnswers(ideal, Fraction(0))
    if claim.free_gamma or claim.gamma_moves:
        raise DiagnosticError(_unsupported(core, "gamma as other than a number with this distance of answers"))
    fixed = claim.open().gamma_base if claim.is_open else claim.without_distance().gamma
    return NearAnswers(ideal, fixed)


def require_product(core: CoreProgram) -> None:
    """Raise DiagnosticError where what is the same answer, or a near one, depends on more than equality and gamma."""
    if not Nearness(core).plain:
        same = core.metric is not None and core.metric.same is not None
        what = "answers that count as the same (`same`)" if same else "a distance of answers other than `product`"
        notes = ("give the constant a number",)
        raise DiagnosticError(Diagnostic("E1206", f"`--for-all` does not know {what}", _place(core), notes=notes))


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
    return Diagnostic("E1206", f"`--inputs all` does not know {what}", _place(core), notes=notes)


def _place(core: CoreProgram) -> Excerpt | None:
    return None if core.metric is None else core.source.excerpt(core.metric.span)

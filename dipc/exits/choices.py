"""Every `choose` of a program is a distribution for every eps > 0: proved before anything runs, or refused."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.combine import total
from dipc.algebra.limits import Limits, Undecided
from dipc.algebra.quotient import Closed
from dipc.chain.edge import ExpressionWeight
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Span
from dipc.exits.weights import Weights, numerator_of
from dipc.lang.core import SampleChoice
from dipc.lang.core_program import CoreProgram
from dipc.lang.expressions import FIX_EPS
from dipc.sign import Interval, isolate_roots
from dipc.sign.root_text import number_text, place_text, refined

NEGATIVE = "E0312"
SUM = "E0313"

_ENOUGH = 20
_LONGEST_SUM = 60
_SUM_NOTE = "the weights of a `choose` sum to 1 for every eps > 0: divide each by their sum, or mend one of them"
_FIX = f"where the weights are rational at one eps, {FIX_EPS}"


@dataclass(frozen=True, slots=True)
class Choices:
    """The weights of a program whose every `choose` is a distribution for every eps > 0; or, with `undecided`, of one
    where a limit was reached before that was known: nothing may then be computed from them."""

    weights: Weights
    undecided: Undecided | None = None

    def settled(self) -> Weights:
        """The weights; raises Undecided where they are not known to be those of distributions."""
        if self.undecided is not None:
            raise self.undecided.with_traceback(None)
        return self.weights


def check_choices(program: CoreProgram, limits: Limits) -> Choices:
    """The program's weights; raises DiagnosticError with all that is wrong with them."""
    weights = Weights(program.source, limits, program.only_at)
    found: list[Diagnostic] = []
    undecided: Undecided | None = None
    seen: set[tuple[ExpressionWeight, ...]] = set()
    wrong: set[Span] = set()
    for instruction in program.instructions:
        if not isinstance(instruction, SampleChoice):
            continue
        arms = tuple([ExpressionWeight(weight, weight.span) for _, weight in instruction.arms])
        if arms in seen:
            continue
        seen.add(arms)
        try:
            mistakes = _mistakes(program, instruction, arms, weights, limits)
            if instruction.span in wrong:
                continue  # the same `choose` for other values of the variables in its weights
            found += mistakes
            if mistakes:
                wrong.add(instruction.span)
        except Undecided as reached:
            undecided = undecided or reached.with_traceback(None)
        if len(found) >= _ENOUGH:
            break
    if found:
        raise DiagnosticError(*found)
    return Choices(weights, undecided)


def _mistakes(
    program: CoreProgram,
    choice: SampleChoice,
    arms: tuple[ExpressionWeight, ...],
    weights: Weights,
    limits: Limits,
) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    values: list[Closed] = []
    for arm in arms:
        try:
            value = weights.closed(arm)
        except DiagnosticError as error:
            found.extend(error.diagnostics)
            continue
        values.append(value)
        at = weights.negative_at(value)
        if at is not None:
            message = f"a weight is negative at eps = {at}"
            label = f"this is {_at(value, at)}"
            advice = ("a weight is a probability: it is at least 0 for every eps > 0", _FIX)
            found.append(Diagnostic(NEGATIVE, message, program.source.excerpt(arm.span), label, advice))
    if len(values) < len(arms):
        return found
    whole = total(values)
    if whole != 1:
        at = _refuted(whole)
        shown = str(ClosedForm(whole))
        message = f"the weights sum to {shown}" if len(shown) <= _LONGEST_SUM else "the weights do not sum to 1"
        once = _sum_is_one(whole, limits)
        notes = (*once, _SUM_NOTE, *([_FIX] if once else []))
        label = f"at eps = {at} the weights sum to {_at(whole, at)}"
        found.append(Diagnostic(SUM, message, program.source.excerpt(choice.span), label, notes))
    return found


def _refuted(whole: Closed) -> Fraction:
    """A small natural eps at which a function other than 1 is not 1: it is 1 at finitely many."""
    numerator = numerator_of(whole - 1)
    at = Fraction(1)
    while numerator.value_is_zero(at):
        at += 1
    return at


def _sum_is_one(whole: Closed, limits: Limits) -> list[str]:
    """Where the sum is 1 after all."""
    numerator = numerator_of(whole - 1)
    try:
        roots = isolate_roots(numerator, Interval.positive(), limits)
        if len(roots) == 1:
            return [f"they sum to 1 only {place_text(refined(roots[0], limits))}"]
    except Undecided:
        return []
    return [f"they sum to 1 only at {len(roots)} values of eps"] if roots else []


def _at(value: Closed, eps: Fraction) -> str:
    return number_text(*value.enclosure(eps, 30))

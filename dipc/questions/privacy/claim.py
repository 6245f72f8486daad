"""What is claimed: Pr[P(u) in S] <= e^budget·Pr[P(u') in S] + delta, for the eps of some intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.parametric import Parametric
from dipc.algebra.quotient import Quotient
from dipc.claims.claim import Given, GivenEps, claimed_intervals, expression_text, intervals_text, the_one_eps
from dipc.claims.expression import ClaimExpression, is_transcendental
from dipc.claims.transcendental import enclosed_expression
from dipc.program.program import Program
from dipc.sign.decide import Fails, decide_nonnegative
from dipc.sign.interval import Interval

_EXAMPLE = "write a multiple of eps, such as eps, 3/4*eps or 2*eps"


@dataclass(frozen=True, slots=True)
class PrivacyClaim:
    """(budget·eps, delta)-privacy for every eps of the intervals; the budget is at least 0.

    Where delta has transcendental numbers in it, `transcendental` is how it is written and a function that is at least
    as great, and `delta` is one that is at most as great.
    """

    budget: Fraction
    delta: ClosedForm
    intervals: tuple[Interval, ...]
    transcendental: tuple[str, ClosedForm] | None = None

    @property
    def is_pure(self) -> bool:
        """Whether delta is 0."""
        return self.delta.value.is_zero()

    @property
    def budget_text(self) -> str:
        """`3*eps/4`."""
        return str(ClosedForm(multiple_of_eps(self.budget)))

    @property
    def delta_text(self) -> str:
        """`exp(-eps)/9`."""
        return str(self.delta) if self.transcendental is None else self.transcendental[0]

    @property
    def with_more(self) -> PrivacyClaim | None:
        """The claim with the greater delta of a transcendental one: what refutes it refutes this one."""
        return (
            None if self.transcendental is None else PrivacyClaim(self.budget, self.transcendental[1], self.intervals)
        )

    @property
    def eps_text(self) -> str:
        """`(0, inf)`."""
        return intervals_text(self.intervals)


def multiple_of_eps(factor: Fraction) -> ExpPoly:
    """factor·eps."""
    return ExpPoly.term(factor, 1) if factor else ExpPoly.zero()


def power(factor: Fraction) -> ExpPoly:
    """e^(factor·eps)."""
    return ExpPoly.term(1, 0, factor)


def read_claim(program: Program, budget: Given, delta: Given, eps: GivenEps, option: str = "budget") -> PrivacyClaim:
    """The claim that options make; None is a budget of eps, a delta of 0, and the eps of the program's claim block or
    all. `option` names what gave the budget.

    Raises DiagnosticError for a budget that is no multiple of eps and a delta that is negative or has no exact meaning,
    TypeError for inexact numbers.
    """
    constants = {name: Parametric.number(value) for name, value in program.core.constants.items()}
    intervals = claimed_intervals(program.core, eps, constants)
    factor = Fraction(1) if budget is None else read_budget(program, expression_text(budget, option), option)
    text = "0" if delta is None else expression_text(delta, "delta")
    expression = ClaimExpression.parse("delta", text, "<--delta>")
    if not is_transcendental(expression.tree):
        return PrivacyClaim(factor, _delta(expression, constants, intervals), intervals)
    ends = enclosed_expression(expression, program.core.constants, the_one_eps(intervals))
    low, high = (_delta(end, constants, intervals) for end in ends)
    return PrivacyClaim(factor, low, intervals, None if low == high else (text.strip(), high))


def read_budget(program: Program, text: str, what: str) -> Fraction:
    """The K of a budget K·eps. Raises DiagnosticError for a text that is none; `what` names the option."""
    constants = {name: Parametric.number(value) for name, value in program.core.constants.items()}
    expression = ClaimExpression.parse(what, text, f"<--{what}>")
    value = expression.evaluate(constants).flat()
    if value is not None:
        match value.terms():
            case []:
                return Fraction(0)
            case [(1, exponent, factor)] if not exponent and factor > 0:
                return factor
            case [(1, exponent, factor)] if not exponent:
                raise expression.error("E1402", "a budget is not negative", expression.tree, "", _EXAMPLE)
    raise expression.error("E1401", f"the {what} is no multiple of eps", expression.tree, "", _EXAMPLE)


def _delta(
    expression: ClaimExpression, constants: Mapping[str, Parametric], intervals: tuple[Interval, ...]
) -> ClosedForm:
    value = expression.evaluate(constants)
    numerator, denominator = value.numerator_flat(), value.denominator
    if denominator != 1:
        sign = denominator.sign_at_one()  # a divisor of a claim is nowhere 0
        numerator, denominator = numerator * sign, denominator * sign
    for interval in intervals:
        found = decide_nonnegative(numerator, interval)
        if isinstance(found, Fails):
            message = f"delta is negative at eps = {found.witness}"
            raise expression.error("E1403", message, expression.tree, "", "a probability is at least 0")
    return ClosedForm(numerator if denominator == 1 else Quotient(numerator, denominator))

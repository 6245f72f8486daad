"""The weights of finite random choices in closed form."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.combine import simplest
from dipc.algebra.effort import Meter
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.algebra.quotient import Closed, Quotient
from dipc.chain.edge import ChoiceWeight, ExponentialWeight, ExpressionWeight
from dipc.claim.expression import ClaimExpression
from dipc.diagnostics.diagnostic import DiagnosticError
from dipc.diagnostics.source import Source
from dipc.lang.ast import Binary, BinaryOp, Call, Expr, Number, Unary
from dipc.sign import Fails, Interval, Root, decide_nonnegative, isolate_roots, sign_at
from dipc.sign.root_text import place_text, refined

#: A weight that divides by something that is 0 at some eps.
UNDEFINED = "E0311"


#: What one score of an exponential mechanism costs in each of its weights, with all that is done to their sum.
_STEPS_FOR_A_SCORE = 5_000


class Weights:
    """The weights of one program, each computed once; those of one that is `only_at` an eps are numbers where their
    value there is rational."""

    def __init__(self, source: Source, limits: Limits, only_at: Fraction | None = None) -> None:
        self._source = source
        self._only_at = only_at
        self._limits = limits
        self._meter = Meter(limits)
        self._closed: dict[ChoiceWeight, Closed] = {}
        #: By identity, which the expression kept here holds.
        self._seen: dict[int, tuple[Expr, Closed]] = {}
        self._zeros: dict[ChoiceWeight, tuple[Root, ...]] = {}

    def closed(self, weight: ChoiceWeight) -> Closed:
        """The weight as a function of eps. Raises DiagnosticError where it is undefined for some eps > 0, Undecided
        where the limits do not suffice to find out."""
        if isinstance(weight, ExpressionWeight):
            # Every state at a `choose` has the same expressions, and hashing them takes longer than all else here.
            seen = self._seen.get(id(weight.expression))
            if seen is not None:
                return seen[1]
        known = self._closed.get(weight)
        if known is None:
            match weight:
                case ExponentialWeight(rate, scores, index):
                    self._meter.spend(_STEPS_FOR_A_SCORE * len(scores))
                    known = exponential(rate, scores, index)
                case ExpressionWeight(expression):
                    known = self._expression(expression)
            self._closed[weight] = known
        if isinstance(weight, ExpressionWeight):
            self._seen[id(weight.expression)] = weight.expression, known
        return known

    def possible(self, weight: ChoiceWeight) -> bool:
        """Whether the weight is not 0 for every eps."""
        # Those of the exponential mechanism are positive, and each is as long as there are scores.
        return isinstance(weight, ExponentialWeight) or not self.closed(weight).is_zero()

    def zeros(self, weight: ChoiceWeight) -> tuple[Root, ...]:
        """All eps > 0 at which a possible weight, which is never negative, is 0; refined. Raises Undecided."""
        known = self._zeros.get(weight)
        if known is None:
            if isinstance(weight, ExponentialWeight) or _one_signed(numerator := numerator_of(self.closed(weight))):
                known = ()
            else:
                roots = isolate_roots(numerator, Interval.positive(), self._limits)
                known = tuple(refined(root, self._limits) for root in roots)
            self._zeros[weight] = known
        return known

    def negative_at(self, value: Closed) -> Fraction | None:
        """An eps > 0 at which `value` is negative, None where there is none. Raises Undecided."""
        numerator = numerator_of(value)
        if all(c > 0 for _, _, c in numerator.terms()):
            return None
        decision = decide_nonnegative(numerator, Interval.positive(), self._limits)
        return decision.witness if isinstance(decision, Fails) else None

    def _expression(self, tree: Expr) -> Closed:
        expression = ClaimExpression("a weight", self._source, tree)
        if self._only_at is not None:
            with suppress(DiagnosticError):
                number = expression.rational_at(self._only_at, {})
                if number is not None:
                    return ExpPoly.constant(number)
        for divisor in _divisors(tree):
            form = replace(expression, tree=divisor).evaluate({})
            self._refuse_zeros(expression, form.numerator_flat(), divisor)
        form = expression.evaluate({})
        if form.denominator == 1:
            return form.numerator_flat()
        # No divisor has a zero, so neither has their product: its sign at 1 is its sign everywhere.
        sign = sign_at(form.denominator, Fraction(1), self._limits)
        return simplest(Quotient(form.numerator_flat() * sign, form.denominator * sign))

    def _refuse_zeros(self, expression: ClaimExpression, divisor: ExpPoly, node: Expr) -> None:
        if divisor.is_zero():
            raise expression.error("E0607", "division by zero", node, "this is 0")
        if _one_signed(divisor):
            return
        roots = isolate_roots(divisor, Interval.positive(), self._limits)
        if roots:
            place = place_text(refined(roots[0], self._limits))
            raise expression.error(
                UNDEFINED,
                f"a weight is undefined {place}",
                node,
                f"this divisor is 0 {place}",
                "a weight must have a value for every eps > 0",
            )


def exponential(rate: Fraction, scores: tuple[Fraction, ...], index: int) -> Closed:
    """exp(rate·eps·scores[index]) / Σ exp(rate·eps·score)."""
    chosen = scores[index]
    weights = ExpPoly.from_terms((0, rate * (score - chosen), 1) for score in scores)
    return simplest(Quotient(ExpPoly.one(), weights))


def numerator_of(value: Closed) -> ExpPoly:
    """What has the sign of `value` for every eps > 0."""
    return value.numerator if isinstance(value, Quotient) else value


def _one_signed(value: ExpPoly) -> bool:
    """Whether all coefficients have one sign: then the function has no zero, and needs no analysis."""
    return len({c > 0 for _, _, c in value.terms()}) == 1


def _divisors(tree: Expr) -> Iterator[Expr]:
    """The divisors of an expression, inner ones first."""
    match tree:
        case Binary(op=op, left=left, right=right):
            yield from _divisors(left)
            yield from _divisors(right)
            if op is BinaryOp.DIVIDE and not (isinstance(right, Number) and right.value):
                yield right
        case Unary(operand=operand):
            yield from _divisors(operand)
        case Call(arguments=arguments):
            for argument in arguments:
                yield from _divisors(argument)
        case _:
            return

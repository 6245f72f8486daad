"""Claims about the privacy of a program, and reports on them, with the fields of the JSON contract.

A claim is Pr[P(u) in S] <= e^budget·Pr[P(u') in S] + delta, for the eps of some intervals.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from dipc.above import above
from dipc.algebra.exppoly import ClosedForm, ExpPoly, Quotient
from dipc.algebra.limits import LimitReached, Undecided
from dipc.algebra.parametric import Parametric
from dipc.algebra.reals import Real
from dipc.algebra.record import Record
from dipc.claims.claim import (
    GivenEps,
    GivenValue,
    claimed_intervals,
    constant_values,
    expression_text,
    intervals_text,
    the_one_eps,
)
from dipc.claims.expression import ClaimExpression, is_transcendental, split_exponent
from dipc.decide.obligation import Counterexample
from dipc.frozen import LazyModule, frozen
from dipc.measure.measure import Probability
from dipc.program.program import Program
from dipc.sign.chart import decide_nonnegative, is_nowhere_negative
from dipc.sign.interval import Interval
from dipc.sign.piecewise import PiecewiseForm
from dipc.text.diagnostic import DiagnosticError, bad_input

if TYPE_CHECKING:
    from dipc.claims import transcendental
else:
    transcendental = LazyModule("dipc.claims.transcendental")

#: The lower and upper end of an enclosure.
Ends = tuple[Fraction, Fraction]

_EXAMPLE = "write a multiple of eps, such as eps, 3/4*eps or 2*eps"


@frozen
class IrrationalEps:
    """Intervals of eps with irrational ends: `text` is how the user typed them.

    A claim about them has larger intervals with rational ends. `smaller` are intervals with rational ends inside the
    irrational ones; None for a single irrational eps. `outside` is a function of eps that is 0 on the irrational
    intervals, and positive on the rest of the larger ones; None if none is known.
    """

    text: str
    smaller: tuple[Interval, ...] | None
    outside: PiecewiseForm | None


@frozen
class PrivacyClaim:
    """The claim that a program is (budget·eps + log(ratio), delta)-private for every eps of the `intervals`.

    `budget` is at least 0, and `ratio` at least 1. If delta contains transcendental numbers, `delta` is a lower
    bound, and `transcendental` is (the text of delta, an upper bound).

    If delta contains min, max or abs, `piecewise` is the whole function, and `pieces` are claims with one closed form
    each; `delta` is that of the first. The intervals of the pieces cover those of the claim, and may overlap where
    two forms meet. The claim holds if all pieces hold.

    If ends of eps are irrational, `irrational` has the claim's own intervals, and `intervals` are larger. `greatest`
    is then the greatest eps; None for infinity and for a number of unknown form.
    """

    budget: Fraction
    delta: ClosedForm
    intervals: tuple[Interval, ...]
    transcendental: tuple[str, ClosedForm] | None = None
    piecewise: PiecewiseForm | None = None
    pieces: tuple[PrivacyClaim, ...] = ()
    ratio: Fraction = Fraction(1)
    irrational: IrrationalEps | None = None
    greatest: Real | None = None

    def on_intervals(self, intervals: tuple[Interval, ...]) -> PrivacyClaim:
        """Return the claim on `intervals` with rational ends."""
        pieces = tuple(replace(piece, intervals=intervals) for piece in self.pieces)
        return replace(self, intervals=intervals, pieces=pieces, irrational=None, greatest=None)

    @property
    def scale(self) -> ExpPoly:
        """The factor ratio·e^(budget·eps) of the second probability in the claim, as a function of eps."""
        return power(self.budget) * self.ratio

    @property
    def is_pure(self) -> bool:
        """True if delta is 0."""
        return self.piecewise is None and self.delta.value.is_zero()

    @property
    def is_vacuous(self) -> bool:
        """True if delta is at least 1 for every eps of the intervals, so that every program satisfies the claim.

        False if a limit is reached before this is decided.
        """
        with suppress(LimitReached):
            return all(is_nowhere_negative(each.delta.value - 1, each.intervals) for each in self.pieces or (self,))
        return False

    @property
    def budget_text(self) -> str:
        """The budget as text, for example `3*eps/4`, or `eps + log(2)`."""
        multiple = str(ClosedForm(multiple_of_eps(self.budget)))
        if self.ratio == 1:
            return multiple
        return f"{multiple} + log({self.ratio})" if self.budget else f"log({self.ratio})"

    @property
    def delta_text(self) -> str:
        """The delta as text, for example `exp(-eps)/9`."""
        if self.piecewise is not None:
            return str(self.piecewise)
        return str(self.delta) if self.transcendental is None else self.transcendental[0]

    @property
    def with_more(self) -> PrivacyClaim | None:
        """The claim with the upper bound of a transcendental delta as its delta; None if delta is known exactly.

        It allows at least as much as this claim, so a counterexample to it refutes this claim as well.
        """
        if self.transcendental is None or self.transcendental[1] == self.delta:
            return None
        return PrivacyClaim(self.budget, self.transcendental[1], self.intervals, ratio=self.ratio)

    @property
    def eps_text(self) -> str:
        """The intervals of eps as text, for example `(0, inf)`."""
        return intervals_text(self.intervals) if self.irrational is None else self.irrational.text


def multiple_of_eps(factor: Fraction) -> ExpPoly:
    """Return the function `factor`·eps."""
    return ExpPoly.term(factor, 1) if factor else ExpPoly.ZERO


def power(factor: Fraction) -> ExpPoly:
    """Return the function e^(`factor`·eps)."""
    return ExpPoly.term(1, 0, factor)


def read_claim(
    program: Program,
    budget: GivenValue,
    delta: GivenValue,
    eps: GivenEps,
    option: str = "budget",
    *,
    enclosed: bool = False,
) -> PrivacyClaim:
    """Parse a claim about `program` from options.

    None for `budget` is eps, None for `delta` is 0. None for `eps` is the interval of the program's claim block, or
    all eps > 0. `option` is the name of the option that gave the budget. With `enclosed`, ends of intervals may be
    irrational: the claim then has larger intervals, and its field `irrational` describes the given ones.

    Raises DiagnosticError for a budget that is not a multiple of eps, and for a delta that is negative or has no
    exact value; TypeError for inexact numbers.
    """
    ranges = transcendental.enclosed_intervals(program.core, eps) if enclosed else None
    if ranges is not None:
        claim = read_claim(program, budget, delta, ranges.larger, option)
        if len(claim.pieces) > 1:
            message = "with min, max or abs in delta, the ends of eps have to be rational"
            raise bad_input("E0615", message, "round them to rationals")
        smaller = None if ranges.smaller is None else claimed_intervals(program.core, ranges.smaller)
        outside = None
        if ranges.outside is not None:
            expression = ClaimExpression("eps", program.core.source, ranges.outside)
            value = expression.value(constant_values(program.core), claim.intervals)
            outside = None if isinstance(value, Parametric) else PiecewiseForm(value)
        return replace(claim, irrational=IrrationalEps(ranges.written, smaller, outside), greatest=ranges.greatest)
    intervals = claimed_intervals(program.core, eps)
    factor, ratio = Fraction(1), Fraction(1)
    if budget is not None:
        written = expression_text(budget, option)
        factor, ratio = _factor_and_ratio(program, written, option, the_one_eps(intervals))
    claim = _read_delta(factor, delta, intervals, constant_values(program.core))
    if ratio == 1:
        return claim
    return replace(claim, ratio=ratio, pieces=tuple(replace(piece, ratio=ratio) for piece in claim.pieces))


def _factor_and_ratio(program: Program, text: str, what: str, eps: Fraction | None) -> tuple[Fraction, Fraction]:
    """Parse `text` as a budget K·eps + log(r), with a rational r >= 1, and return (K, r).

    The text may name the constants of `program`. If the claim is about the single `eps`, a rational budget is read as
    a multiple of eps. A logarithm is allowed only if the option `what` is the budget of a claim. Raises
    DiagnosticError.
    """
    constants = constant_values(program.core)
    expression = ClaimExpression.parse(what, text, f"<--{what}>")

    number_, rest = split_exponent(expression.tree, lambda node: expression.rational(node, constants))
    if what != "budget" or not number_.sign:
        return read_budget(program, text, what), Fraction(1)
    factor = Fraction(0) if rest is None else _multiple(replace(expression, tree=rest), constants, what)
    ratio, known = number_.exp().rational, number_.rational
    if ratio is not None and ratio >= 1:
        return factor, ratio
    if eps is not None and known is not None and factor + known / eps >= 0:
        return factor + known / eps, Fraction(1)
    if ratio is not None or (known is not None and known < 0):
        raise expression.error("E1402", "a budget must be at least 0", expression.tree, "", _EXAMPLE)
    raise expression.error("E1401", f"the {what} is not a multiple of eps", expression.tree, "", _EXAMPLE)


def _read_delta(
    factor: Fraction,
    delta: GivenValue,
    intervals: tuple[Interval, ...],
    constants: Mapping[str, Parametric],
) -> PrivacyClaim:
    text = "0" if delta is None else expression_text(delta, "delta")
    expression = ClaimExpression.parse("delta", text, "<--delta>")
    one_eps = the_one_eps(intervals)
    exact = expression if one_eps is None else transcendental.with_powers_of_eps(expression, constants, one_eps)
    if not is_transcendental(exact.tree):
        value = exact.value(constants, intervals)
        if not isinstance(value, Parametric):
            return _in_pieces(factor, exact, PiecewiseForm(value), intervals)
        form = _delta(exact, constants, intervals)
        return PrivacyClaim(factor, form, intervals, None if exact.tree == expression.tree else (text.strip(), form))
    ends = transcendental.enclosed_expression(expression, constants, one_eps)
    low, high = (_delta(end, constants, intervals) for end in ends)
    return PrivacyClaim(factor, low, intervals, None if low == high else (text.strip(), high))


def read_budget(program: Program, text: str, what: str) -> Fraction:
    """Parse `text` as a budget K·eps with the constants of `program`, and return K.

    Raises DiagnosticError for another expression; `what` names the option in the message.
    """
    constants = constant_values(program.core)
    return _multiple(ClaimExpression.parse(what, text, f"<--{what}>"), constants, what)


def _multiple(expression: ClaimExpression, constants: Mapping[str, Parametric], what: str) -> Fraction:
    value = expression.evaluate(constants).flat()
    if value is not None:
        match value.terms():
            case []:
                return Fraction(0)
            case [(1, exponent, factor)] if not exponent and factor > 0:
                return factor
            case [(1, exponent, factor)] if not exponent:
                raise expression.error("E1402", "a budget must be at least 0", expression.tree, "", _EXAMPLE)
    raise expression.error("E1401", f"the {what} is not a multiple of eps", expression.tree, "", _EXAMPLE)


def _in_pieces(
    factor: Fraction, expression: ClaimExpression, whole: PiecewiseForm, intervals: tuple[Interval, ...]
) -> PrivacyClaim:
    pieces = []
    for cell, hull in ((cell, cell.hull(interval)) for interval in intervals for cell in whole.cells(interval)):
        negative = decide_nonnegative(cell.numerator, hull).witness
        if negative is not None and whole.enclosure(negative)[1] < 0:
            raise _negative(expression, negative)
        value = cell.numerator if cell.denominator == 1 else Quotient(cell.numerator, cell.denominator)
        pieces.append(PrivacyClaim(factor, ClosedForm(value), (hull,)))
    return PrivacyClaim(factor, pieces[0].delta, intervals, piecewise=whole, pieces=tuple(pieces))


def _negative(expression: ClaimExpression, eps: Fraction) -> DiagnosticError:
    message = f"delta is negative at eps = {eps}"
    return expression.error("E1403", message, expression.tree, "", "it must be at least 0, like every probability")


def _delta(
    expression: ClaimExpression, constants: Mapping[str, Parametric], intervals: tuple[Interval, ...]
) -> ClosedForm:
    value = expression.evaluate(constants)
    numerator, denominator = value.numerator_flat(), value.denominator
    if denominator != 1:
        sign = denominator.sign_at_one()  # The divisor of a claim has no root.
        numerator, denominator = numerator * sign, denominator * sign
    for interval in intervals:
        negative = decide_nonnegative(numerator, interval).witness
        if negative is not None:
            raise _negative(expression, negative)
    return ClosedForm(numerator if denominator == 1 else Quotient(numerator, denominator))


SCHEMA = "dipc.privacy/1"

#: Values by name; None for an output that was never assigned.
Texts = Mapping[str, str | None]


class PrivacyVerdict(StrEnum):
    """The verdict on a privacy claim: private (proved), not private (refuted by a counterexample), or undecided."""

    PRIVATE = "private"
    NOT_PRIVATE = "not private"
    UNDECIDED = "undecided"


@frozen
class OutputsAtPair(Record):
    """A set of outputs at a pair of adjacent inputs; inputs and outputs have their values by name.

    If both are known as functions of eps, `probability` is Pr[P(input) in outputs], and `allowed` is what a claim
    allows: e^budget·Pr[P(adjacent) in outputs] + delta.
    """

    FIELDS = "input adjacent outputs"

    input: Texts
    adjacent: Texts
    outputs: tuple[Texts, ...]
    probability: Probability | None = None
    allowed: Probability | None = None


@frozen
class PrivacyCounterexample(Record):
    """Adjacent inputs with a set of outputs, `sides`, and an `eps` at which the privacy inequality fails.

    The inequality is Pr[P(input) in outputs] <= e^budget·Pr[P(adjacent) in outputs] + delta. `probability` and
    `allowed` are rigorous enclosures (lo, hi) of its sides: probability[0] > allowed[1].

    With `pure` the set has one element. The finite parts of an output are given by their values; `balls` has the
    interval of each real or int part, by name, or is None.
    """

    FIELDS = "input adjacent outputs=several? output=single? balls+ eps probability allowed"

    sides: OutputsAtPair
    eps: Fraction
    probability: Ends
    allowed: Ends
    pure: bool
    balls: Mapping[str, Ends] | None = None

    @property
    def input(self) -> Texts:
        return self.sides.input

    @property
    def adjacent(self) -> Texts:
        return self.sides.adjacent

    @property
    def outputs(self) -> tuple[Texts, ...]:
        return self.sides.outputs

    @property
    def several(self) -> tuple[Texts, ...] | None:
        """The set of outputs that refutes a claim with delta > 0; None for delta 0, which a single output refutes."""
        return None if self.pure else self.outputs

    @property
    def single(self) -> Texts | None:
        """The output that refutes a claim with delta 0; None for a claim with delta > 0."""
        return self.outputs[0] if self.pure else None


def counterexample_of(
    failure: Counterexample,
    sides: OutputsAtPair,
    claim: PrivacyClaim,
    balls: Mapping[str, Ends] | None = None,
) -> PrivacyCounterexample:
    """Return the counterexample to `claim` that the failed obligation `failure` gives.

    `sides` has the inputs and outputs, with both sides of the inequality if they are functions of eps. The obligation
    states that the allowed value is at least the probability. So the value it requires is the probability, and the
    value it measured is the allowed one. `balls` are the intervals of real and int outputs, by name.
    """
    return PrivacyCounterexample(sides, failure.eps, failure.required, failure.probability, claim.is_pure, balls)


@frozen
class Proved:
    """The result that a claim holds. `by` names the proof for all real inputs; None if pairs are listed."""

    by: str | None


#: The answer of one method to a claim; Undecided has the reason why the claim is neither proved nor refuted.
Answer = Proved | PrivacyCounterexample | Undecided


@frozen
class Numbers(Record):
    """The values >= `least` of a program's constant that an answer covers; `parameter` is the constant's name.

    A refuted claim fails for the value `at`, and with `onwards` for all greater values; `at` is None if nothing is
    refuted. All other fields are for the least K of K·eps-privacy only. There, `each` and `below` are strings, for
    numbers or functions of the constant's value.

    The program is K·eps-private for the K in `each`. With `exact`, no smaller K suffices for any value. Otherwise no
    smaller K suffices for the values up to `attained`, if it is given. From `at` on, no K smaller than the one in
    `below` suffices.
    """

    FIELDS = "parameter least ?(at onwards) ?(constant=each exact) refuted_below=below?"

    parameter: str
    least: int
    at: int | None = None
    onwards: bool = False
    each: str | None = None
    exact: bool = False
    attained: int | None = None
    below: str | None = None


@frozen
class PrivacyAnswer(Record):
    """The fields that all privacy answers begin with: the program, and the adjacent inputs that the answer covers.

    `pairs` counts the ordered pairs; None for all adjacent real inputs. `about` says in words which inputs are covered,
    `adjacency` which of them are adjacent.
    """

    #: The first keys of the JSON object.
    HEAD = "schema program adjacent=adjacency"
    schema = SCHEMA

    program: str
    adjacency: str
    about: str
    pairs: int | None


@frozen
class PrivacyReport(PrivacyAnswer):
    """The `verdict` on a privacy `claim`.

    A report with the verdict NOT_PRIVATE has a `counterexample`, one with UNDECIDED a `reason`. `obligations` counts
    the different inequalities that were decided. `proof` names the proof for all real inputs; None if there is none.
    `numbers` are the values of a constant that the report covers; None for a single program.

    A report has no truth value: `require` raises AssertionError unless the verdict is private.
    """

    FIELDS = (
        "schema program verdict adjacent=adjacency budget=claim.budget_text delta=claim.delta_text eps=claim.eps_text "
        "pairs counterexample reason vacuous+ for_all=numbers?"
    )

    claim: PrivacyClaim
    verdict: PrivacyVerdict
    counterexample: PrivacyCounterexample | None = None
    reason: str | None = None
    obligations: int = 0
    proof: str | None = None
    numbers: Numbers | None = None

    @property
    def vacuous(self) -> bool:
        """True if the program is private only because delta is at least 1."""
        return self.verdict is PrivacyVerdict.PRIVATE and self.claim.is_vacuous

    def __str__(self) -> str:
        text: str = above("privacy").privacy_line(self)
        return text

    def __repr__(self) -> str:
        """Return the first line of the answer, whose numbers are decimals."""
        return f"<dipc report: {str(self).partition(chr(10))[0]}>"

    def __bool__(self) -> bool:
        raise TypeError(
            "a report has one of three verdicts and no truth value: look at its `verdict`, or call `require()`"
        )

    def require(self) -> PrivacyReport:
        """Return the report itself if it is private.

        Raises AssertionError otherwise. The message names adjacent inputs, outputs, eps, the probability and what is
        allowed, or the reason why the claim is undecided.
        """
        if self.verdict is not PrivacyVerdict.PRIVATE:
            raise AssertionError(above("shown").privacy_refusal(self))
        return self

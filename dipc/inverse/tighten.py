"""Find the tightest constant: the least f such that a program is (alpha, f·beta, gamma)-accurate.

f is the supremum of (1 - Pr)/beta over all cases of a question and all eps. It is found exactly: the critical points
are isolated roots of the quotient's derivative, and the values at the ends of intervals are limits. If only lower
bounds of probabilities are known, f is enclosed: it is at least the factor that the exact probabilities need, and at
most the factor that all bounds need.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import floor
from typing import Unpack

import flint

from dipc.above import above
from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, fraction_of
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment, Undecided
from dipc.algebra.numbers import dyadic
from dipc.claims.claim import intervals_text
from dipc.claims.table import TableGiven
from dipc.decide.crossings import USUAL
from dipc.decide.engine import Engine
from dipc.decide.obligation import Bound, Obligation, Verdict, decide_cells
from dipc.decide.scaled import constants_of, scaled_obligation, with_least_constants
from dipc.decide.scope import ClaimScope
from dipc.deprecated import former_property
from dipc.frozen import frozen
from dipc.inverse.question import (
    DIGITS,
    FIRST_DISTANCES,
    INTERRUPTED,
    NEAR_A_TIE,
    Claims,
    GivenInverse,
    Inequality,
    Question,
    Stopped,
    UnknownCases,
    claims_of,
    has_integer_distances,
    interrupted_before,
    measure_inequalities,
    proved_by_check,
    rational_at_irrational_eps,
    read_question,
    scaled,
    suffices_at_ends,
)
from dipc.measure.measure import EnclosedForm, series_of
from dipc.measure.power_series import coefficients, precision
from dipc.options import Options, takes
from dipc.program.program import ProgramGiven, Progress
from dipc.questions.every_input import ClassCase
from dipc.rules.goal import Proof
from dipc.rules.rule import ProofStep, Sharpness
from dipc.sign.chart import EpsCut, ExactCut
from dipc.sign.interval import Interval, simplest_between
from dipc.sign.optimum import (
    Cell,
    Far,
    Highest,
    Peak,
    PeakPlace,
    QuotientValue,
    ReducedQuotient,
    decimal_cell,
    decimal_hull,
    highest,
    number_cell,
    peaks,
    vanishes_at,
)
from dipc.sign.piecewise import BetaForm, FormCell, PiecewiseForm
from dipc.sign.roots import Root
from dipc.text.diagnostic import Diagnostic

# --- The factor that a probability without a closed form needs --------------------------------------------------------
#
# 1. Guess the place of the largest (1 - Pr)/beta, by Newton's method on its Taylor series. The value there, enclosed,
#    is a lower bound of the factor.
# 2. Decide, as any claim, that the factor times 1 + 10^-n suffices for every eps.
# 3. Where the claim holds with the lower bound, no eps needs more. This encloses the places that do.

#: Digits beyond the requested ones up to which the upper and the lower bound of the factor agree.
_MORE = 14

#: The reason why no factor is known where a claim is always met, but by no multiple of a negative beta.
_SIGN_OPEN = "beta has irrational numbers, and is not known to be at least 0"

#: Newton's steps, and bits of numbers.
_STEPS, _COARSE_BITS = 12, 64

#: The digits to which the place of the greatest value is enclosed, tried one after the other.
_DIGITS = (12, 9, 6, 3, 2, 1)


class EnclosedNumber(QuotientValue):
    """A number of which only one enclosure is known; the enclosure cannot be made narrower."""

    __slots__ = ()

    def __init__(self, low: Fraction, high: Fraction) -> None:
        self.low, self.high = low, high

    def narrow(self) -> None:
        raise LimitReached(
            None, "the enclosure of the least factor is too wide to compare the factor with another number"
        )

    def recognize(self) -> None:
        pass

    def is_exactly(self, value: Fraction) -> bool:  # noqa: ARG002 - it is not known
        return False


def enclosed_peak(
    form: EnclosedForm, bound: Bound, beta: BetaForm, intervals: Sequence[Interval], engine: Engine, digits: int
) -> Peak:
    """The maximum of (1 - Pr)/`beta` over all eps of `intervals`, enclosed to more than `digits` digits.

    Pr is the probability `form`, which has no closed form; `bound` is the same probability as a sum of events, for
    `engine`. Raises Undecided if the maximum is not found, for example because it is at an end of an interval.
    """
    closed = beta.closed
    if closed is None or not isinstance(closed.value, ExpPoly):
        raise OutsideFragment("the least factor is known only where beta is a single exponential polynomial")
    needed = partial(_needed, form, closed.value)
    bits = 8 * (digits + _MORE)
    first, *others = intervals
    is_short = not others and first.upper is not None and (first.upper - first.lower) * 10**digits < first.lower
    eps = first.lower if is_short else _highest(needed, intervals, bits)
    with precision(bits, 1):
        (ball,) = coefficients(needed(eps), 1)
        low = dyadic(ball.lower())
    if low <= 0:
        raise OutsideFragment("it could not be shown that a positive factor is needed")
    high = low * (1 + Fraction(1, 10 ** (digits + _MORE)))
    if not suffices(high, closed.value, bound, intervals, engine):
        raise OutsideFragment(f"a factor near {float(low):.12g} is needed, but it could not be shown to be enough")
    within = (eps, first.upper or eps)
    if not is_short:
        within = _enclosing(eps, low, closed.value, bound, intervals, engine)
    return Peak(eps, True, EnclosedNumber(low, high), within)


def _needed(form: EnclosedForm, beta: ExpPoly, eps: Fraction) -> flint.arb_series:
    """The Taylor series of (1 - Pr)/`beta` around `eps`, where Pr is `form`. Raises Undecided if beta is 0 there."""
    if beta.value_is_zero(eps):
        raise OutsideFragment(f"beta is 0 at eps = {eps}, where the least factor is not known")
    return (1 - form.series(eps)) / series_of(beta, eps)


def _highest(needed: partial[flint.arb_series], intervals: Sequence[Interval], bits: int) -> Fraction:
    """Return an approximation of the eps in `intervals` at which a function of eps is largest.

    `needed` gives the Taylor series of this function around any eps. Numbers have `bits` bits. Raises Undecided if the
    function is largest at an end of an interval.
    """
    best: tuple[float, Fraction] | None = None
    with precision(_COARSE_BITS, 1):
        candidates = [(eps, each) for each in intervals for eps in (*USUAL, each.lower, each.upper)]
        for eps in [eps for eps, interval in candidates if eps is not None and eps in interval]:
            try:
                (ball,) = coefficients(needed(eps), 1)
            except LimitReached:
                continue  # for example, a sum has too many terms near 0
            # Where beta is tiny, the quotient has no finite enclosure.
            value = float(ball.lower()) if ball.is_finite() else 0.0
            if best is None or value > best[0]:
                best = value, eps
    if best is None:
        raise OutsideFragment("the factor could not be computed at any of the values of eps that were tried")
    highest = best[1]
    for _ in range(_STEPS):
        with precision(bits, 3):
            _, slope, curvature = coefficients(needed(highest), 3)
            if not curvature < 0:
                raise OutsideFragment("the factor needed has no peak inside the intervals of eps")
            step = dyadic((-slope / (2 * curvature)).mid())
        highest += step
        if not any(highest in interval for interval in intervals):
            raise OutsideFragment("the factor needed is largest next to an end of the intervals of eps")
        highest = Fraction(round(highest * 2**bits), 2**bits)
        if abs(step) < highest / 2 ** (bits // 3):
            break
    return highest


def suffices(factor: Fraction, beta: Closed, bound: Bound, intervals: Sequence[Interval], engine: Engine) -> bool:
    """True if `engine` proves that `bound` >= 1 - `factor`·`beta` on all `intervals`."""
    obligation = Obligation(bound, PiecewiseForm(beta * factor), tuple(intervals))
    return engine.decide(obligation).verdict is Verdict.ACCURATE


def _enclosing(
    eps: Fraction, low: Fraction, beta: ExpPoly, bound: Bound, intervals: Sequence[Interval], engine: Engine
) -> tuple[Fraction, Fraction]:
    """An interval around `eps` that contains all eps with (1 - Pr)/`beta` >= `low`, where `bound` is Pr.

    `engine` proves that the factor `low` suffices on the rest of `intervals`. Raises Undecided if no interval is found.
    """
    for digits in _DIGITS:
        ends = decimal_cell(eps, digits)
        if suffices(low, beta, bound, _parts_outside(intervals, ends), engine):
            return ends
    raise Undecided("the eps at which the least factor is attained could not be enclosed")


def _parts_outside(intervals: Sequence[Interval], ends: tuple[Fraction, Fraction]) -> list[Interval]:
    """Return the parts of `intervals` outside the interval between the two `ends`, including the ends themselves."""
    result = []
    for interval in intervals:
        if interval.lower < ends[0]:
            upper = ends[0] if interval.upper is None else min(ends[0], interval.upper)
            result.append(Interval(interval.lower, upper, interval.lower_closed, True))
        if interval.upper is None or interval.upper > ends[1]:
            low = max(ends[1], interval.lower)
            result.append(Interval(low, interval.upper, True, interval.upper_closed))
    return result


@frozen(eq=False)
class TightSpot:
    """A value of eps (or of a product such as alpha·eps) where the inequality `claimed` needs the greatest factor.

    With beta multiplied by this factor, and by no smaller one, the inequality holds at every value.

    - `eps` encloses the value; two equal numbers are exact. It is (0, 0) for the limit at 0, and None for the limit at
      infinity.
    - `everywhere`: the factor is needed at every value.
    - `attained`: the factor is needed at the value itself. Otherwise the factor is a limit, as the variable approaches
      the value, or, if `by_inputs`, as inputs approach another class of inputs.
    """

    claimed: Inequality
    eps: Cell | None
    everywhere: bool
    attained: bool
    by_inputs: bool = False

    @property
    def place(self) -> Cell | str | None:
        """The enclosure `eps`, None for the limit at infinity, or "all" if the factor is needed at every value."""
        return "all" if self.everywhere else self.eps


@frozen(eq=False)
class Tightest:
    """The least factor f >= 0 with Pr >= 1 - f·beta at every case that is not vacuous and every eps.

    - `factor` is a pair (low, high) with low <= f <= high; high is one unit of the last digit more than low, or both
      are f, which is then rational. None means that no f > 0 suffices.
    - `places` are where f is needed. If `proved`, all of them need exactly f; otherwise their factors agree to the
      requested digits.
    - `kappa` is the largest integer with Pr >= 1 - beta/kappa. It is 0 if beta itself fails, and None if every kappa
      holds (see `holds_for_every_kappa`) or if the largest one is not known.
    - `upper` is set if some probabilities have only lower bounds, which need a larger factor than all exact
      probabilities. Then f lies between `factor` and `upper`. `upper_places` are where these bounds need `upper`; if
      there are none, `upper` was proved by a check.
    - `unknown` are cases without an answer. `factor` is then only a lower bound of f.
    - `claims` are the inequalities, `eps` is the text of their intervals, `digits` the number of digits.
    """

    claims: Claims
    eps: str
    digits: int
    factor: Cell | None
    kappa: int | None
    places: tuple[TightSpot, ...]
    proved: bool
    unknown: tuple[UnknownCases, ...]
    upper: Cell | None = None
    upper_places: tuple[TightSpot, ...] = ()

    def __str__(self) -> str:
        text: str = above("factor").headline(self)
        return text

    def __repr__(self) -> str:
        return f"<dipc factor: {str(self).partition(chr(10))[0]}>"

    @property
    def word(self) -> str:
        return self.claims.question.word

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""
        return any(cases.reason == INTERRUPTED for cases in self.unknown)

    @property
    def complete(self) -> bool:
        """Whether the factor is known to all its digits, for all cases."""
        return not self.unknown and not self.enclosed

    @property
    def at_most(self) -> Cell | None:
        """A proved upper bound of the factor for all cases, as an enclosure, if the factor is not known to all digits.

        Otherwise, or if there is no bound, it is None.
        """
        return None if self.unknown and self.upper_places else self.upper

    @property
    def enclosed(self) -> bool:
        """Whether only a lower and an upper bound of the factor are known."""
        return bool(self.upper_places) or self.upper is not None

    @property
    def scopes(self) -> Mapping[str, ClaimScope]:
        """For each variable, the values at which beta/kappa (or beta, if there is no kappa) is not vacuous."""
        return self.claims.scopes(Fraction(1, self.kappa) if self.kappa else Fraction(1))

    sayings = former_property("sayings", "scopes")

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warnings that the claim may not mean what it seems to."""
        return self.claims.warnings

    @property
    def is_zero(self) -> bool:
        """Whether every factor suffices because Pr = 1 in every case that claims something."""
        return self.factor is not None and not any(self.factor)

    @property
    def holds_for_every_kappa(self) -> bool:
        """Whether Pr >= 1 - beta/kappa is proved for every kappa, as the factor 0 suffices."""
        return self.complete and self.is_zero and self.kappa is None

    @property
    def attained(self) -> bool | None:
        """True if the factor is needed at some eps, False if it is only a limit, None if it is not known."""
        result = {spot.attained for spot in self.places}
        if self.proved or len(result) == 1:
            return True in result
        return None


@takes(GivenInverse, {"digits": DIGITS})
def tighten(program: ProgramGiven, table: TableGiven | None = None, **given: Unpack[GivenInverse]) -> Tightest:
    """Find the least factor f such that `program` is (alpha, f·beta, gamma)-accurate, to `digits` digits.

    `table` and the options in `given` are those of `dipc.check`. Vacuous cases do not count. A case past a limit is
    among the `unknown`. Raises DiagnosticError for a bad table or claim, ValueError for digits that are not positive,
    and Stopped, with the result so far, on Ctrl-C.
    """
    options = Options(**given)
    answer = tightest(read_question(program, table, options), options.digits or DIGITS, options.progress)
    if answer.interrupted:
        raise Stopped(answer)
    return answer


def tightest(question: Question, digits: int = DIGITS, progress: Progress | None = None) -> Tightest:
    """Return the least factor f such that `question` holds with beta multiplied by f, and the places that need f.

    The factor has `digits` digits; `progress` is called with (cases done, cases in all). If the claim has irrational
    numbers, f lies between the factors of two claims with rationals above and below them.
    """
    enclosing = question.enclosing(2 * max(digits, DIGITS) + _MORE)
    if enclosing is None:
        return _tightest(question, digits, progress)
    stronger, weaker = enclosing
    if weaker.around is not None:
        most = _tightest(weaker, digits + _MORE_AT_EPS, progress)
        least = _with_digits(_at_irrational_eps(most, weaker.around), digits)
        if stronger.options == weaker.options:
            return least
        most = _tightest(stronger, digits + _MORE_AT_EPS, progress)
        return _enclosed_factor(least, _with_digits(_in_places(most, weaker.around), digits))
    least = _tightest(weaker, digits, progress)
    if stronger.options == weaker.options:
        return least
    return _touching_factor(_enclosed_factor(least, _tightest(stronger, digits, progress)), stronger)


def _touching_factor(answer: Tightest, stronger: Question) -> Tightest:
    """Return `answer` with the upper end of its factor replaced by a rational that suffices, if one is found.

    `stronger` is the question whose intervals of eps are a little longer than those with irrational ends. The rational
    is the simplest one between the ends of the factor; a proof at the irrational ends shows that it suffices.
    """
    if answer.factor is None or not answer.complete or answer.factor[0] == answer.factor[1]:
        return answer
    low, high = answer.factor
    factor = simplest_between(low, high, lower_closed=True, upper_closed=True)
    if not suffices_at_ends(stronger, factor, scale=True):
        return answer
    kappa = int(1 / factor)
    return replace(answer, factor=(low, factor), kappa=kappa if low * (kappa + 1) > 1 else None)


#: The digits beyond the requested ones that a factor gets on an interval around the claim's only eps.
_MORE_AT_EPS = 6


def _with_digits(answer: Tightest, digits: int) -> Tightest:
    """Return `answer` with irrational factors enclosed to `digits` digits, fewer than before; others do not change."""

    def rounded(ends: Cell | None) -> Cell | None:
        return ends if ends is None or ends[0] == ends[1] else decimal_hull(ends, digits)

    return replace(answer, digits=digits, factor=rounded(answer.factor), upper=rounded(answer.upper))


def _in_places(answer: Tightest, around: Interval) -> Tightest:
    """Return `answer` with the ends of `around` as the place of each inequality about one irrational eps.

    `around` is an interval that contains this eps. The place of an inequality is the eps at which it needs the factor.
    """
    assert around.upper is not None
    place = around.lower, around.upper

    def placed(spots: Sequence[TightSpot]) -> tuple[TightSpot, ...]:
        at_eps = {spot.claimed: spot for spot in spots if spot.claimed.is_around}
        others = [spot for spot in spots if not spot.claimed.is_around]
        return (*(replace(spot, eps=place, attained=True) for spot in at_eps.values()), *others)

    return replace(answer, places=placed(answer.places), upper_places=placed(answer.upper_places))


def _at_irrational_eps(answer: Tightest, around: Interval) -> Tightest:
    """Return the least factor at the irrational eps inside `around`, from `answer`, the factor for all eps in `around`.

    If the least factor is proved to be a rational number, the result has this number. Otherwise the upper end of the
    factor is unchanged, and the lower end is reduced slightly. A factor just below it must be proved to fail at every
    eps in `around`. Without such a proof, the result's factor is 0, a trivial lower bound, and the factor of `answer`
    becomes the field `upper`.
    """
    answer = _in_places(answer, around)
    if answer.factor is None or answer.is_zero:
        # Where beta is 0 or negative in the interval, it need not be so at the eps.
        if answer.holds_for_every_kappa:
            return answer
        rows = tuple(sorted({number for spot in answer.places for number in spot.claimed.rows}))
        return replace(answer, unknown=(*answer.unknown, UnknownCases(NEAR_A_TIE, rows)))
    question = answer.claims.question
    low, high = answer.factor
    tiny = low * Fraction(1, 10**answer.digits)
    for spot in answer.places:
        if not spot.claimed.is_around:
            return answer
        if not spot.claimed.exact:
            continue
        exact = rational_at_irrational_eps(question, spot.claimed, (low - tiny, high), scale=True)
        if exact is not None:
            return replace(answer, factor=(exact, exact), kappa=int(1 / exact))
        with suppress(Undecided):
            beta = scaled(spot.claimed.beta, low - tiny)
            if question.engine.fails_throughout(replace(spot.claimed, beta=beta).obligation):
                kappa = int(1 / high)
                known = (low - tiny) * (kappa + 1) > 1
                return replace(answer, factor=(low - tiny, high), kappa=kappa if known else None)
    return replace(answer, factor=(Fraction(0), Fraction(0)), kappa=None, upper=answer.upper or answer.factor)


def _enclosed_factor(least: Tightest, most: Tightest) -> Tightest:
    """Return the least factor for an irrational beta, from the answers for two rational ones around it.

    `least` is the answer for the greater beta, and `most` the answer for the smaller one. If the two factors differ by
    at most two units of the last digit, they are the ends of the result's `factor`. Otherwise the factor of `least`
    becomes `factor`, a lower bound, and that of `most` becomes `upper`, an upper bound.
    """
    if least.complete and least.factor is None:
        return least
    if least.complete and most.complete and least.factor == most.factor and least.kappa == most.kappa:
        return least
    if least.complete and most.complete and least.factor is not None and most.factor is not None:
        if least.is_zero and most.is_zero and least.kappa == most.kappa:
            return least
        if least.factor[0] and most.factor[0]:
            low, high = (decimal_cell(each, least.digits) for each in (least.factor[0], most.factor[0]))
            if high[1] - low[0] <= 2 * (high[1] - high[0]):
                kappa = least.kappa if least.kappa == most.kappa else None
                return replace(least, factor=(low[0], high[1]), kappa=kappa)
    unknown = {each.rows: each for each in (*least.unknown, *most.unknown)}
    upper = most.at_most or (most.factor if most.complete and not most.is_zero else None)
    bounds = most.upper_places or (most.places if most.complete else ())
    if upper is None and not bounds and not unknown:
        rows = tuple(sorted({number for each in most.claims.distinct for number in each.rows}))
        unknown[rows] = UnknownCases(_SIGN_OPEN, rows)
    return replace(least, kappa=None, unknown=tuple(unknown.values()), upper=upper, upper_places=bounds)


def _with_approached_factor(answer: Tightest) -> Tightest:
    """Return `answer` with `upper` as the upper end of its factor, if this widens the factor by at most one unit.

    The unit is that of the last digit. The result says that the factor is needed in the limit, as inputs approach
    another class. Otherwise `answer` is returned unchanged.
    """
    low, high = answer.factor, answer.upper
    if low is None or high is None or not low[0] or answer.unknown or not answer.upper_places:
        return answer
    unit = decimal_cell(high[1], answer.digits)
    if high[1] - low[0] > unit[1] - unit[0]:
        return answer
    kappa = int(1 / high[1])
    places = [
        replace(spot, attained=False, by_inputs=True) for spot in answer.upper_places if isinstance(spot.eps, tuple)
    ]
    return replace(
        answer,
        factor=(low[0], high[1]),
        kappa=kappa if low[0] * (kappa + 1) > 1 else None,
        places=tuple(places) or answer.places,
        proved=False,
        upper=None,
        upper_places=(),
    )


def _tightest(question: Question, digits: int, progress: Progress | None) -> Tightest:
    """The least factor for `question`, whose beta has no irrational numbers, with the places that need this factor.

    Each case first uses the first rule that gives a proof. If a bound that is not exact then needs a larger factor than
    all exact probabilities, the other rules and single inputs are tried for its case. On Ctrl-C the remaining cases are
    unknown. The factor has `digits` digits; `progress` is called with (cases done, cases in all).
    """
    claims = claims_of(replace(question, scaled=True), progress, best=False)
    limits = claims.question.program.limits
    factors = Factors(claims.question.engine, max(digits, DIGITS))
    unknown = list(claims.unknown)
    known: list[Inequality] = []
    lesser = _lesser_enclosed(claims.distinct, factors)
    for position, claimed in enumerate(claims.distinct):
        if id(claimed) in lesser:
            continue
        try:
            factors.peaks_of(claimed)
        except Undecided as undecided:
            unknown.append(UnknownCases(undecided.reason, claimed.rows))
        except KeyboardInterrupt:
            unknown.append(interrupted_before(claims.distinct[position:]))
            break
        else:
            known.append(claimed)
    nothing = Tightest(
        claims=claims,
        eps=claims.question.written_eps or intervals_text(claims.intervals),
        digits=digits,
        factor=(Fraction(0), Fraction(0)),
        kappa=None,
        places=(),
        proved=True,
        unknown=(),
    )
    most = nothing
    upper: Tightest | None = None
    at_most: Cell | None = None
    try:
        of_integers, unknown = _integer_inequalities(claims, unknown, known, factors, digits)
        known += of_integers
        unknown = _without_lesser(claims, unknown, known, factors, digits)
        known = _improved(claims, known, factors, digits)
        candidates = factors.candidates(known)
        most = _with_greatest(nothing, candidates, limits)
        if not any(spot.claimed.exact for spot in most.places) and most.places:
            upper, most = most, _with_greatest(nothing, [each for each in candidates if each[1].exact], limits)
        at_most, unknown, upper = _by_check(claims, unknown, known, most, upper)
    except Undecided as undecided:
        # Each factor is known, but they could not be compared, or not be written with this many digits.
        rows = {number for claimed in known for number in claimed.rows}
        unknown.append(UnknownCases(undecided.reason, tuple(sorted(rows))))
        most = nothing
    except KeyboardInterrupt:
        unknown.append(interrupted_before(known))
        most = nothing
    forbidding = any(factors.forbidding(claimed) is not None for claimed in known)
    if unknown or upper is not None or at_most is not None:
        kappa = None
    else:
        kappa = 0 if forbidding else most.kappa
    answer = replace(most, kappa=kappa, unknown=tuple(unknown), upper=at_most)
    if upper is not None:
        answer = replace(answer, upper=upper.factor, upper_places=upper.places)
    return _with_approached_factor(answer)


def _without_lesser(
    claims: Claims, unknown: Sequence[UnknownCases], known: Sequence[Inequality], factors: Factors, digits: int
) -> list[UnknownCases]:
    """Return the `unknown` cases of `claims`, except those proved to need at most the factor of `known`.

    `known` are inequalities, and `factors` finds the least factor for all of them, to `digits` digits. A case is
    dropped if it is proved to hold with this factor.
    """
    enough = factors.greatest(known, digits) if known else None
    result = []
    for cases in unknown:
        own = [one for one in claims.distinct if one.rows == cases.rows]
        lesser = (
            bool(own)
            and enough is not None
            and all(
                one.beta.closed is not None
                and suffices(enough, one.beta.closed.value, one.stated, one.intervals, claims.question.engine)
                for one in own
            )
        )
        if not lesser:
            result.append(cases)
    return result


def _by_check(
    claims: Claims,
    unknown: list[UnknownCases],
    known: Sequence[Inequality],
    most: Tightest,
    upper: Tightest | None,
) -> tuple[Cell | None, list[UnknownCases], Tightest | None]:
    """Try to prove, by up to two checks, that cases with an unknown factor need at most the factor of `most`.

    These cases are the `unknown` ones of `claims` and, if `upper` is given, those with a bound in `known` that is not
    exact. `upper` is the answer with the factor that these bounds need, or None. The result has three parts: an upper
    bound of the factor or None, the cases still unknown, and `upper` or None.

    - If the first check proves all cases with the factor of `most`, no case is unknown and `upper` becomes None.
    - If the second check proves them with the factor 1, then 1 is the upper bound, and `upper` becomes None.
    """
    open_cases = {number for cases in unknown for number in cases.rows}
    open_cases |= {number for claimed in known if upper is not None and not claimed.exact for number in claimed.rows}
    if not open_cases or most.factor is None or any(cases.reason == INTERRUPTED for cases in unknown):
        return None, unknown, upper
    # Where the factor is irrational, the other cases are to need less.
    numbers, enough = sorted(open_cases), most.factor[0]
    if proved_by_check(claims, numbers, enough):
        return None, [], None
    bounded = upper is not None and not unknown and upper.factor is not None and upper.factor[1] <= 1
    if enough < 1 and not bounded and proved_by_check(claims, numbers, Fraction(1)):
        return (Fraction(1), Fraction(1)), unknown, None
    return None, unknown, upper


#: The least number of inequalities without a closed form that are compared before each is examined.
_FEW = 3


def _lesser_enclosed(every: Sequence[Inequality], factors: Factors) -> set[int]:
    """Return the ids (Python's `id`) of inequalities in `every` proved to need a smaller factor than another one.

    Only exact inequalities without a closed form are compared. `factors` finds the factor of the inequality that seems
    to need the greatest one. On Ctrl-C the result has the inequalities proved so far.
    """
    posed: list[tuple[Inequality, Obligation]] = []
    for claimed in every:
        if not isinstance(claimed.bound, EnclosedForm) or not claimed.exact:
            continue
        scaled = scaled_obligation(claimed.obligation, least=False)
        if scaled is not None and claimed.stated.has_probabilities:
            posed.append((claimed, scaled))
    if len(posed) < _FEW:
        return set()
    posed.sort(key=lambda pair: sum(constants_of(pair[1].bound), Fraction(0)))
    found: set[int] = set()
    with suppress(Undecided, KeyboardInterrupt):
        pending = [posed[1:]]
        enough = _little_less(factors.peaks_of(posed[0][0]), factors.digits)
        while pending:
            some = pending.pop()
            if not some:
                continue
            if enough is not None and _all_need_less(some, enough, factors):
                found.update(id(claimed) for claimed, _ in some)
            elif len(some) > 1:
                middle = len(some) // 2
                pending += [some[middle:], some[:middle]]
            else:
                own = _little_less(factors.peaks_of(some[0][0]), factors.digits)
                enough = own if enough is None or (own is not None and own > enough) else enough
    return found


def _little_less(peaks: Sequence[Peak], digits: int) -> Fraction | None:
    """Return a number slightly below the value of the only peak whose value is known by an enclosure alone.

    The number is v·(1 - 10^(1 - n)), where v is the lower end of the enclosure, and n is the greater of `digits` and 2.
    The result is None if `peaks` has no such peak, or several.
    """
    values = [peak.value.low for peak in peaks if isinstance(peak.value, EnclosedNumber)]
    return values[0] * (1 - Fraction(1, 10 ** max(1, digits - 1))) if len(values) == 1 else None


def _all_need_less(some: Sequence[tuple[Inequality, Obligation]], enough: Fraction, factors: Factors) -> bool:
    """Return True if it is proved that the factor `enough` suffices for all inequalities of `some`.

    `some` has pairs (inequality, its obligation in a variable multiplied by a constant). The engine of `factors`
    decides one bound that is at most the bounds of all these obligations. The result is False if the betas of the
    obligations differ.
    """
    betas = {scaled.beta for _, scaled in some}
    bound = with_least_constants([scaled.bound for _, scaled in some])
    if bound is None or len(betas) != 1:
        return False
    closed = betas.pop().closed
    return closed is not None and suffices(enough, closed.value, bound, some[0][1].intervals, factors.engine)


#: The most inputs of a class whose claims are examined.
_MOST_INPUTS = 13


def _improved(claims: Claims, known: Sequence[Inequality], factors: Factors, digits: int) -> list[Inequality]:
    """Return the `known` inequalities, with sharper ones in place of bounds that need a greater factor than exact ones.

    A bound that is not exact is replaced by the bounds of the rule that needs the least factor for the case in
    `claims`, and by the claim at one input of the case. The case that needs the greatest factor is improved first,
    until an exact probability needs at least as much. `factors` finds the factors, to `digits` digits. Raises
    Undecided.
    """
    fixed = [claimed for claimed in known if claimed.exact]
    bounded = [claimed for claimed in known if not claimed.exact]
    cases = {number: claims.every[number - 1] for claimed in bounded for number in claimed.rows}
    if not all(isinstance(case, ClassCase) for case in cases.values()):
        return list(known)
    better: dict[int, list[Inequality]] = {n: [c for c in bounded if n in c.rows] for n in cases}
    left = dict(cases)
    while left:
        enough = factors.greatest(fixed, digits)
        needs = {number: factors.greatest(better[number], digits) for number in left}
        number = max(left, key=lambda number: (needs[number] is None, needs[number] or 0))
        most = needs[number]
        if enough is None or (most is not None and most <= enough):
            break
        case = left.pop(number)
        assert isinstance(case, ClassCase)
        better[number] = _least_needing(case, better[number], factors, enough)
        fixed += _at_inputs(case, better[number], factors)
    return list(known) if len(left) == len(cases) else [*fixed, *_merge_cases(better)]


def _least_needing(case: ClassCase, first: list[Inequality], factors: Factors, enough: Fraction) -> list[Inequality]:
    """Return the inequalities of the rule with which `case` needs the least factor.

    The result is `first`, the inequalities of the first rule, if no rule has a known factor, or if an inequality cannot
    be measured. `factors` finds the factor that an inequality needs. The search ends once a rule needs at most the
    factor `enough`.
    """
    choice = case.least_needing(partial(factors.needed, case.number), enough)
    if choice.needed is None:
        return first
    inequalities, unknown = measure_inequalities(
        [(case.number, one) for each in choice.proofs for one in each.steps], factors.engine
    )
    return first if unknown else list(inequalities)


def _at_inputs(case: ClassCase, needing: Sequence[Inequality], factors: Factors) -> list[Inequality]:
    """Return a list of the one inequality, at an input of `case`, that needs the greatest factor.

    Only some inputs are tried. They are chosen for the eps at which the inequalities `needing` need the greatest
    factor. The list is empty if no factor is known. `factors` finds the factors.
    """
    best = highest(peak for claimed in needing for peak in factors.peaks_of(claimed))
    peak_at = (
        None if best is None else next((p.place for p in best.peaks if isinstance(p.place, Fraction | Root)), None)
    )
    product = peak_at.lower if isinstance(peak_at, Root) else peak_at if isinstance(peak_at, Fraction) else None
    result: list[tuple[Fraction | None, Inequality]] = []
    with suppress(Undecided):
        # At one eps a probability at any input is a number; for every eps, odd means would bring high degrees.
        points = all(interval.is_point for claimed in needing for interval in claimed.intervals)
        nearest = Fraction(1, 2 ** (4 * factors.digits)) if points else None
        for posed in case.posed_at_inputs(product or None, _MOST_INPUTS, nearest):
            for claimed in measure_inequalities([(case.number, posed)], factors.engine)[0]:
                with suppress(Undecided):
                    result.append((factors.greatest([claimed], DIGITS), claimed))
    if not result:
        return []
    return [max(result, key=lambda each: (each[0] is None, each[0] or 0))[1]]


def _integer_inequalities(
    claims: Claims, unknown: Sequence[UnknownCases], known: Sequence[Inequality], factors: Factors, digits: int
) -> tuple[list[Inequality], list[UnknownCases]]:
    """Return (inequalities of `unknown` cases about every integer distance, cases that remain unknown).

    For a case of `claims`, the inequalities are about the first few distances and the limit of large ones. The case is
    no longer unknown if it is proved to need no greater factor than some exact inequality, from `known` or from these
    cases. `factors` finds the factors that inequalities need, to `digits` digits.
    """
    every = [
        (case, *_at_distances(case, factors))
        for number in dict.fromkeys(number for cases in unknown for number in cases.rows)
        if isinstance(case := claims.every[number - 1], ClassCase) and has_integer_distances(case)
    ]
    inequalities = [claimed for _, _, lower in every for claimed in lower]
    exact = [*(claimed for claimed in known if claimed.exact), *inequalities]
    best = highest(peak for claimed in exact for peak in factors.peaks_of(claimed))
    proved = set()
    if best is None or not best.is_infinite:
        low, high = (Fraction(0), Fraction(0)) if best is None else best.enclosure(digits)
        for case, small, _ in every:
            if (
                small is not None
                and factors.suffices_for_all(small, digits, high)
                and _suffices_far_away(case, factors.engine, low)
            ):
                inequalities += [claimed for claimed in small if not claimed.exact]
                proved.add(case.number)
    left = [UnknownCases(cases.reason, tuple(n for n in cases.rows if n not in proved)) for cases in unknown]
    return inequalities, [cases for cases in left if cases.rows]


#: The most distances of a class that is bounded.
_MOST_DISTANCES = 24


def _distances(case: ClassCase) -> range:
    greatest = case.goal.greatest
    few = greatest is not None and FIRST_DISTANCES.stop <= greatest <= _MOST_DISTANCES
    return range(1, floor(greatest) + 1) if few and greatest is not None else FIRST_DISTANCES


def _suffices_far_away(case: ClassCase, engine: Engine, factor: Fraction) -> bool:
    """Return True if `engine` proves that `factor` suffices for the inputs of `case` with a large distance dd(u).

    Distances are integers. The large ones are those greater than all that `_distances` lists.
    """
    try:
        return factor > 0 and engine.run(case.proved_from(_distances(case).stop, factor))
    except Undecided:
        return False


def _at_distances(case: ClassCase, factors: Factors) -> tuple[list[Inequality] | None, list[Inequality]]:
    """Return the inequalities of `case` at small integer distances dd(u), and those that bound the factor from below.

    The small distances are those that `_distances` lists. The first list is None if one of its inequalities could not
    be measured. The second list has the exact inequalities of the first, and the limits for large distances. `factors`
    finds the factors that inequalities need.
    """
    small: list[Inequality] | None = []
    exact: list[Inequality] = []
    for distance in _distances(case):
        steps: list[ProofStep] = []
        needs_nothing = False
        with suppress(Undecided):
            certain, choice = case.least_at_distance(distance, partial(factors.needed, case.number))
            steps = [*certain, *(one for proof in choice.proofs for one in proof.steps)]
            needs_nothing = not steps and choice.needed is not None  # no input of the class is at this distance
        found = _measured_inequalities(case, steps, factors)
        if not found and not needs_nothing:
            small = None
            continue
        exact += [claimed for claimed in found if claimed.exact]
        if small is not None:
            small += found
    with suppress(Undecided):
        exact += _measured_inequalities(case, list(case.steps_far_away()), factors)
    return small, exact


def _measured_inequalities(case: ClassCase, steps: Sequence[ProofStep], factors: Factors) -> list[Inequality]:
    """The inequalities of `case` in the proof `steps`; empty if the factor that one of them needs is not known.

    `factors` finds the factor that an inequality needs.
    """
    found, unknown = measure_inequalities([(case.number, one) for one in steps], factors.engine)
    try:
        for claimed in found:
            factors.peaks_of(claimed)
    except Undecided:
        return []
    return [] if unknown else list(found)


def _merge_cases(every: Mapping[int, Sequence[Inequality]]) -> list[Inequality]:
    result: dict[tuple[object, ...], Inequality] = {}
    for number, several in every.items():
        for claimed in several:
            key = (claimed.bound, claimed.beta, claimed.intervals, claimed.variable, claimed.summand)
            known = result.get(key)
            rows = (number,) if known is None else tuple(sorted({*known.rows, number}))
            result[key] = replace(claimed, rows=rows)
    return list(result.values())


def _with_greatest(answer: Tightest, candidates: Sequence[tuple[Peak, Inequality]], limits: Limits) -> Tightest:
    """Return `answer` with the greatest factor of `candidates`, or with the factor 0 if there are none.

    `candidates` has pairs (peak, its inequality). `limits` bound the work.
    """
    digits = answer.digits
    best = highest((peak for peak, _ in candidates), digits)
    if best is None:
        return replace(answer, factor=(Fraction(0), Fraction(0)), kappa=None, places=(), proved=True)
    owners = {id(peak): claimed for peak, claimed in candidates}
    for number in best.numbers:
        number.recognize()
    # Exact inequalities come first, and among them attained peaks; the sort is stable.
    ordered = sorted(best.peaks, key=lambda peak: (not owners[id(peak)].exact, not peak.attained))
    places = []
    for peak in ordered:
        claimed = owners[id(peak)]
        eps = peak.place_cell(digits, limits)
        attained = peak.attained and claimed.sharpness is not Sharpness.FAR_LIMIT
        places.append(TightSpot(claimed, eps, peak.place is Far.EVERYWHERE, attained))
    factor = None
    if not best.is_infinite:
        cells = [number_cell(number, digits) for number in {id(number): number for number in best.numbers}.values()]
        factor = max(low for low, _ in cells), max(high for _, high in cells)
    return replace(answer, factor=factor, kappa=_kappa(best), places=tuple(places), proved=best.proved)


def _kappa(best: Highest) -> int:
    """Return the largest integer k >= 1 such that `best`, the greatest value of a function, is at most 1/k.

    The result is 0 if there is no such k.
    """
    if best.is_infinite:
        return 0
    low, high = best.enclosure(DIGITS)
    # If the maximum is tiny, there are very many integers between the ends.
    kappa, above = int(1 / high), int(1 / low) + 1
    while above - kappa > 1:
        middle = (kappa + above) // 2
        if best.compare_to(Fraction(1, middle)) > 0:
            above = middle
        else:
            kappa = middle
    return kappa


# --- factors --------------------------------------------------------------------------------------
#
# The factor that an obligation needs at each eps, (1 - Pr)/beta, and the places where it is largest.


class Factors:
    """A finder of the factors that inequalities need: the maxima of (1 - Pr)/beta over eps, each computed once.

    A maximum is infinite if no factor suffices. Two quotients that are equal after eps is multiplied by a constant
    share one maximum, as the same Python object. For example, two rows have such quotients if each distance of one row
    is a constant times that of the other.
    """

    def __init__(self, engine: Engine, digits: int) -> None:
        """Measure with `engine`, and enclose maxima of functions without a closed form to `digits` digits."""
        self.engine = engine
        self.digits = digits
        self._limits = engine.limits
        self._by_inequality: dict[int, tuple[Inequality, list[Peak], Fraction | None]] = {}
        self._by_quotient: dict[tuple[object, ...], list[Peak]] = {}

    def peaks_of(self, claimed: Inequality) -> list[Peak]:
        return self._with_peaks(claimed)[1]

    def forbidding(self, claimed: Inequality) -> Fraction | None:
        return self._with_peaks(claimed)[2]

    def _with_peaks(self, claimed: Inequality) -> tuple[Inequality, list[Peak], Fraction | None]:
        result = self._by_inequality.get(id(claimed))
        if result is None:
            only_zero = None
            if isinstance(claimed.bound, EnclosedForm):
                about = claimed.stated, claimed.beta, claimed.intervals
                found: list[Peak] = [enclosed_peak(claimed.bound, *about, self.engine, self.digits)]
            else:
                found, only_zero = self.needs(claimed.bound, claimed.beta, claimed.intervals)
            result = self._by_inequality[id(claimed)] = claimed, found, only_zero
        return result

    def candidates(self, every: Sequence[Inequality]) -> list[tuple[Peak, Inequality]]:
        result = [(peak, claimed) for claimed in every for peak in self.peaks_of(claimed)]
        if result:
            # Some f > 0 is needed somewhere, and does not suffice where only f = 0 does.
            forbidden = [(self.forbidding(claimed), claimed) for claimed in every]
            result += [(Peak(point, True, None), claimed) for point, claimed in forbidden if point is not None]
        return result

    def greatest(self, every: Sequence[Inequality], digits: int) -> Fraction | None:
        """An upper bound of the least factor with which all inequalities in `every` hold; None if no factor suffices.

        The bound exceeds the least factor only after `digits` digits. Raises Undecided.
        """
        best = highest((peak for peak, _ in self.candidates(every)), digits)
        if best is None:
            return Fraction(0)
        return None if best.is_infinite else best.enclosure(digits)[1]

    def suffices_for_all(self, every: Sequence[Inequality], digits: int, enough: Fraction) -> bool:
        """True if it is proved that the factor `enough` suffices for all inequalities `every`. Raises Undecided.

        `digits` is the number of digits to which factors are compared.
        """
        needed = self.greatest(every, digits)
        return needed is not None and needed <= enough

    def needed(self, case: int, proof: Proof) -> Fraction | None:
        """An upper bound of the factor with which all inequalities of `proof` hold; `case` is the number of their case.

        None if no factor suffices, or if an inequality could not be measured. Raises Undecided.
        """
        inequalities, unknown = measure_inequalities([(case, one) for one in proof.steps], self.engine)
        return None if unknown else self.greatest(inequalities, DIGITS)

    def needs(
        self, probability: ClosedForm, beta: BetaForm, intervals: Sequence[Interval]
    ) -> tuple[list[Peak], Fraction | None]:
        """Return the local maxima over eps of the least f >= 0 with f·`beta` >= 1 - `probability`. Raises LimitReached.

        The largest value of a peak is the least factor for all eps of `intervals`. An interval where the probability is
        1 has no peak, as f = 0 suffices. Otherwise, an interval where beta is negative somewhere has one peak, with an
        infinite value. The second result is an eps at which only the factor 0 suffices, since beta is negative there
        and the probability is 1 on the whole interval; None if there is no such eps.
        """
        above, below = fraction_of(probability.value)
        missing = below - above
        found: list[Peak] = []
        only_zero: Fraction | None = None
        for interval in intervals:
            certain = missing.is_zero() or (interval.is_point and missing.value_is_zero(interval.lower))
            if certain and only_zero is not None:
                continue
            negative = decide_cells(ExpPoly.ONE, beta, interval, self._limits).witness
            if certain:
                only_zero = negative
                continue
            if negative is not None:
                found.append(Peak(negative, True, None))
                continue
            met: Fraction | Root | None = None
            for cell in beta.cells(interval, self._limits):
                # A closed form for every eps covers the whole interval; a cell need not.
                sample = None if beta.closed is not None else cell.sample
                every = self._needs(missing * cell.denominator, cell.numerator * below, cell, sample)
                # Beta is continuous, so the joint belongs to the peak of the cell before.
                found += [need for need in every if need.place != met]
                met = self._joint(missing, cell)
        return found, only_zero

    def _joint(self, missing: ExpPoly, cell: FormCell) -> Fraction | Root | None:
        """Return the upper end of `cell` if (1 - Pr)/beta is continuous at this end, else None; `missing` is 1 - Pr."""
        end = cell.upper.place
        if end is None or all(vanishes_at(f, end, self._limits) for f in (cell.numerator, missing)):
            return None
        return end.lower if isinstance(end, Root) and end.is_exact else end

    def _needs(
        self, numerator: ExpPoly, denominator: ExpPoly, cell: FormCell, sample: Fraction | None
    ) -> Iterator[Peak]:
        """Yield the local maxima of `numerator`/`denominator` on `cell`, with their places.

        If the quotient is constant, the place is `sample`, a rational in the cell; if `sample` is None, the place is
        every eps.
        """
        if denominator.is_zero():
            if sample is None:
                yield Peak(Far.EVERYWHERE, True, None)
            else:
                yield Peak(sample, not numerator.value_is_zero(sample), None)
            return
        ratio = ReducedQuotient.from_fraction(numerator, denominator)
        lower, upper = cell.lower, cell.upper
        exact = not isinstance(lower.place, Root) and not isinstance(upper.place, Root)
        rate = ratio.rate() if exact else Fraction(1)
        scaled = ratio.scaled(1 / rate)
        ends = _scaled_end(lower, rate), _scaled_end(upper, rate)
        key = (scaled, *ends)
        highest = self._by_quotient.get(key)
        if highest is None:
            highest = self._by_quotient[key] = peaks(scaled, *ends, self._limits)
        for peak in highest:
            point = _unscaled(peak.place, rate)
            if point is Far.EVERYWHERE and sample is not None:
                point = sample  # the whole cell, but not the whole interval
            yield Peak(point, peak.attained, peak.value)


def _scaled_end(end: ExactCut, rate: Fraction) -> ExactCut:
    return EpsCut(end.place * rate, end.after) if isinstance(end.place, Fraction) else end


def _unscaled(point: PeakPlace, rate: Fraction) -> PeakPlace:
    match point:
        case Fraction():
            return point / rate
        case Root():
            return replace(point, lower=point.lower / rate, upper=point.upper / rate, scale=point.scale * rate)
        case Far():
            return point

"""The least beta as a function of eps: the upper envelope of 1 - Pr over all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits, Undecided
from dipc.algebra.parametric import FLAT, Kind, Parametric, Selection, TooLarge
from dipc.algebra.quotient import Closed, Quotient, fraction_of
from dipc.claims.claim import intervals_text
from dipc.inverse.claims import Claimed, Claims, UnknownCases
from dipc.inverse.question import Question
from dipc.inverse.solution import BetaSolution, EnvelopePiece, Status
from dipc.inverse.solve_eps import Cut, cuts, span_between
from dipc.rules.posed import Variable
from dipc.sign.decide import Holds, decide_nonnegative
from dipc.sign.interval import Interval
from dipc.sign.optimum import Number, number_cell
from dipc.sign.piecewise import PiecewiseForm


@dataclass(frozen=True, slots=True, eq=False)
class _Missing:
    """1 - Pr at some cases, or an upper bound of it."""

    value: Closed
    exact: bool
    rows: tuple[int, ...]

    @property
    def form(self) -> Parametric:
        above, below = fraction_of(self.value)
        return Parametric({} if above.is_zero() else {FLAT: above}, below)


@dataclass(frozen=True, slots=True, eq=False)
class _Envelope:
    """The largest of some functions: its text, and its pieces."""

    text: str
    pieces: tuple[EnvelopePiece, ...]


def solve_beta(claims: Claims, digits: int) -> BetaSolution:
    """The least beta such that every case that claims something holds, in closed form, piece by piece: of eps, and of
    t = alpha*eps or gamma*eps where the claim is about every distance.

    Where a mere bound of 1 - Pr is the largest the answer is undecided: the least beta is at most that. With a constant
    left open there is an answer for each of its values that are told apart, and a bound for the rest. Past a limit the
    answer is undecided, too.
    """
    question = claims.question
    unknown = list(claims.unknown)
    pieces: list[EnvelopePiece] = []
    texts: list[str] = []
    for (variable, intervals), group in claims.alike().items():
        for part in _apart(group) if question.parameter is not None else [group]:
            try:
                if any(claimed.power for claimed in part):
                    pieces.append(_union(part, question, digits))
                    continue
                missing = [_Missing(1 - claimed.bound.value, claimed.exact, claimed.rows) for claimed in part]
                found = _envelope(missing, intervals, variable, digits, question.program.limits)
            except Undecided as undecided:
                unknown.append(UnknownCases(undecided.reason, tuple(n for claimed in part for n in claimed.rows)))
                continue
            texts.append(found.text)
            pieces += found.pieces
    bounds = [piece for piece in pieces if not piece.exact]
    rows = {number for piece in bounds or pieces for number in piece.rows}
    remark = "only an upper bound of 1 - Pr is known" if bounds else ""
    return BetaSolution(
        question=question,
        shown=claims.shown,
        eps=intervals_text(claims.intervals),
        digits=digits,
        status=Status.UNDECIDED if unknown or bounds else Status.SOLVED,
        rows=unknown[0].rows if unknown else tuple(sorted(rows)),
        remark=unknown[0].reason if unknown else remark,
        beta=texts[0] if len(texts) == 1 else "",
        pieces=tuple(pieces),
    )


def _apart(group: Sequence[Claimed]) -> list[list[Claimed]]:
    """By the case: for each value of a constant that is left open, and for all that are not told apart."""
    numbers = sorted({number for claimed in group for number in claimed.rows})
    return [[replace(claimed, rows=(number,)) for claimed in group if number in claimed.rows] for number in numbers]


def _union(part: Sequence[Claimed], question: Question, digits: int) -> EnvelopePiece:
    """A union bound for every value of the constant. Raises Undecided."""
    first = part[0]
    assert question.parameter is not None
    limits = question.program.limits
    whole = Interval.positive() if first.variable is not Variable.EPS else first.intervals[0]
    text = union_text(part, question.parameter, limits)
    return EnvelopePiece(
        span_between(*cuts(whole), digits, limits), text, first.rows, None, first.variable, exact=False
    )


def union_text(part: Sequence[Claimed], parameter: str, limits: Limits) -> str:
    """A union bound of 1 - Pr for every value m of the parameter from some start on: a polynomial in m - start, whose
    coefficients are the largest of those of all sums. Raises Undecided."""
    first = part[0]
    terms = []
    for power in sorted({claimed.power for claimed in part}):
        coefficients = [_Missing(1 - c.bound.value, c.exact, c.rows) for c in part if c.power == power]
        highest = _undominated(coefficients, first.intervals, limits)
        text = str(ClosedForm(highest[0].value)) if len(highest) == 1 else str(_maximum(highest))
        if text != "0":
            exponent = f"^{power}" if power > 1 else ""
            terms.append(f"({text})*({parameter} - {first.start}){exponent}" if power else text)
    return " + ".join(terms) or "0"


def _maximum(highest: Sequence[_Missing]) -> PiecewiseForm:
    return PiecewiseForm(Selection(Kind.MAX, tuple(found.form for found in highest)))


def _envelope(
    missing: list[_Missing], intervals: tuple[Interval, ...], variable: Variable, digits: int, limits: Limits
) -> _Envelope:
    """Raises Undecided past a limit."""
    highest = _undominated(missing, intervals, limits)
    if len(highest) == 1:
        (only,) = highest
        pieces = [_whole(only, interval, variable, digits, limits) for interval in intervals]
        return _Envelope(str(ClosedForm(only.value)), tuple(pieces))
    try:
        envelope = _maximum(highest)
        text = str(envelope)
        split = [
            piece for interval in intervals for piece in _split(envelope, highest, interval, variable, digits, limits)
        ]
    except TooLarge:
        reason = f"{len(highest)} rows need the largest beta in turn, too many to be put in order"
        raise LimitReached(None, reason) from None
    return _Envelope(text, tuple(split))


def _undominated(missing: list[_Missing], intervals: tuple[Interval, ...], limits: Limits) -> list[_Missing]:
    """Those that are needed for the maximum: no other is at least as large at every eps asked about."""
    kept: list[_Missing] = []
    # The likely winners first, so that most others fall to them at once; only a guess. Of equal ones the exact one.
    at = intervals[0].inner_point
    for found in sorted(missing, key=lambda found: (-found.value.enclosure(at, 5)[0], not found.exact)):
        if any(_at_least(other, found, intervals, limits) for other in kept):
            continue
        kept = [other for other in kept if not _at_least(found, other, intervals, limits)]
        kept.append(found)
    return kept


def _at_least(first: _Missing, second: _Missing, intervals: tuple[Interval, ...], limits: Limits) -> bool:
    difference = first.value - second.value
    numerator = difference.numerator if isinstance(difference, Quotient) else difference
    return all(isinstance(decide_nonnegative(numerator, interval, limits), Holds) for interval in intervals)


def _whole(found: _Missing, interval: Interval, variable: Variable, digits: int, limits: Limits) -> EnvelopePiece:
    value = _value(*fraction_of(found.value), interval.lower, digits, limits) if interval.is_point else None
    span = span_between(*cuts(interval), digits, limits)
    return EnvelopePiece(span, str(ClosedForm(found.value)), found.rows, value, variable, found.exact)


def _split(
    envelope: PiecewiseForm,
    highest: list[_Missing],
    interval: Interval,
    variable: Variable,
    digits: int,
    limits: Limits,
) -> list[EnvelopePiece]:
    """The cells of the maximum; neighbors meet in the end that belongs to both."""
    pieces = []
    for cell in envelope.cells(interval, limits):
        owner = next(found for found in highest if _is(found, cell.numerator, cell.denominator))
        lower, upper = Cut(cell.lower.value, not cell.lower.closed), Cut(cell.upper.value, cell.upper.closed)
        span = span_between(lower, upper, digits, limits)
        value = _value(cell.numerator, cell.denominator, interval.lower, digits, limits) if interval.is_point else None
        pieces.append(EnvelopePiece(span, str(ClosedForm(owner.value)), owner.rows, value, variable, owner.exact))
    return pieces


def _is(found: _Missing, numerator: ExpPoly, denominator: ExpPoly) -> bool:
    above, below = fraction_of(found.value)
    return above * denominator == numerator * below


def _value(
    numerator: ExpPoly, denominator: ExpPoly, at: Fraction, digits: int, limits: Limits
) -> tuple[Fraction, Fraction]:
    return number_cell(Number(numerator, denominator, at, limits), digits)

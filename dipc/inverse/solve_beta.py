"""The least beta as a function of eps: the upper envelope of 1 - Pr over all rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits, Undecided
from dipc.algebra.parametric import FLAT, Parametric, TooLarge
from dipc.algebra.quotient import Closed, Quotient, fraction_of
from dipc.algebra.selection import Kind, Selection
from dipc.claim.intervals import intervals_text
from dipc.inverse.holding import Cut, cuts, span_between
from dipc.inverse.obligations import Obligations, Unknown
from dipc.inverse.solution import BetaSolution, EnvelopePiece, Status
from dipc.sign import Holds, Interval, decide_nonnegative
from dipc.sign.digits import number_cell
from dipc.sign.optimum import Number
from dipc.sign.piecewise import PiecewiseForm


@dataclass(frozen=True, slots=True, eq=False)
class _Missing:
    """1 - Pr at some rows."""

    value: Closed
    rows: tuple[int, ...]

    @property
    def form(self) -> Parametric:
        above, below = fraction_of(self.value)
        return Parametric({} if above.is_zero() else {FLAT: above}, below)


def solve_beta(obligations: Obligations, digits: int) -> BetaSolution:
    """The least beta(eps) such that every row that claims something holds, in closed form, piece by piece.

    Past a limit the answer is undecided.
    """
    limits = obligations.program.limits
    intervals = obligations.claim.intervals
    unknown = list(obligations.unknown)
    missing = [_Missing(1 - found.probability.value, found.rows) for found in obligations.distinct]
    pieces: tuple[EnvelopePiece, ...] = ()
    highest: list[_Missing] = []
    text = ""
    try:
        highest = _undominated(missing, intervals, limits)
        if len(highest) == 1:
            text = str(ClosedForm(highest[0].value))
            pieces = tuple(_whole(highest[0], interval, digits, limits) for interval in intervals)
        elif highest:
            envelope = PiecewiseForm(Selection(Kind.MAX, tuple(found.form for found in highest)))
            text = str(envelope)
            pieces = tuple(
                piece for interval in intervals for piece in _split(envelope, highest, interval, digits, limits)
            )
    except Undecided as undecided:
        unknown.append(Unknown(undecided.reason, tuple(number for found in missing for number in found.rows)))
    except TooLarge:
        reason = f"{len(highest)} rows need the largest beta in turn, too many to be put in order"
        unknown.append(Unknown(reason, tuple(number for found in highest for number in found.rows)))
    return BetaSolution(
        program=obligations.program.name,
        table=obligations.table,
        eps=intervals_text(intervals),
        digits=digits,
        status=Status.UNDECIDED if unknown else Status.SOLVED,
        rows=unknown[0].rows if unknown else tuple(sorted({number for piece in pieces for number in piece.rows})),
        remark=unknown[0].reason if unknown else "",
        beta=text,
        pieces=pieces,
    )


def _undominated(missing: list[_Missing], intervals: tuple[Interval, ...], limits: Limits) -> list[_Missing]:
    """Those that are needed for the maximum: no other is at least as large at every eps asked about."""
    kept: list[_Missing] = []
    # The likely winners first, so that most others fall to them at once; only a guess.
    at = intervals[0].inner_point
    for found in sorted(missing, key=lambda found: -found.value.enclosure(at, 5)[0]):
        if any(_at_least(other, found, intervals, limits) for other in kept):
            continue
        kept = [other for other in kept if not _at_least(found, other, intervals, limits)]
        kept.append(found)
    return kept


def _at_least(first: _Missing, second: _Missing, intervals: tuple[Interval, ...], limits: Limits) -> bool:
    difference = first.value - second.value
    numerator = difference.numerator if isinstance(difference, Quotient) else difference
    return all(isinstance(decide_nonnegative(numerator, interval, limits), Holds) for interval in intervals)


def _whole(found: _Missing, interval: Interval, digits: int, limits: Limits) -> EnvelopePiece:
    value = _value(*fraction_of(found.value), interval.lower, digits, limits) if interval.is_point else None
    span = span_between(*cuts(interval), digits, limits)
    return EnvelopePiece(span, str(ClosedForm(found.value)), found.rows, value)


def _split(
    envelope: PiecewiseForm, highest: list[_Missing], interval: Interval, digits: int, limits: Limits
) -> list[EnvelopePiece]:
    """The cells of the maximum; neighbors meet in the end that belongs to both."""
    pieces = []
    for cell in envelope.cells(interval, limits):
        owner = next(found for found in highest if _is(found, cell.numerator, cell.denominator))
        lower, upper = Cut(cell.lower.value, not cell.lower.closed), Cut(cell.upper.value, cell.upper.closed)
        span = span_between(lower, upper, digits, limits)
        value = _value(cell.numerator, cell.denominator, interval.lower, digits, limits) if interval.is_point else None
        pieces.append(EnvelopePiece(span, str(ClosedForm(owner.value)), owner.rows, value))
    return pieces


def _is(found: _Missing, numerator: ExpPoly, denominator: ExpPoly) -> bool:
    above, below = fraction_of(found.value)
    return above * denominator == numerator * below


def _value(
    numerator: ExpPoly, denominator: ExpPoly, at: Fraction, digits: int, limits: Limits
) -> tuple[Fraction, Fraction]:
    return number_cell(Number(numerator, denominator, at, limits), digits)

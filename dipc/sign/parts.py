"""A beta on one interval of eps as quotients of exponential polynomials, each between two ends."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.quotient import Closed, Quotient
from dipc.sign import Interval, RegionEnd, SignLimits
from dipc.sign.piecewise import BetaForm, PiecewiseForm


@dataclass(frozen=True, slots=True)
class Part:
    """numerator/denominator, with denominator > 0, between the ends; `hull` has rational ends and holds the part.
    `sample` is a rational of the part, None where this is the closed form for every eps."""

    lower: RegionEnd
    upper: RegionEnd
    hull: Interval
    sample: Fraction | None
    numerator: ExpPoly
    denominator: ExpPoly


def fraction_of(value: Closed) -> tuple[ExpPoly, ExpPoly]:
    """Numerator and denominator of a closed form; the latter is positive for every eps > 0."""
    return (value.numerator, value.denominator) if isinstance(value, Quotient) else (value, ExpPoly.one())


def parts_of(beta: BetaForm, interval: Interval, limits: SignLimits) -> list[Part]:
    """The interval in parts from left to right, on each of which beta is one quotient. Raises LimitReached."""
    first = RegionEnd(interval.lower, interval.lower_closed)
    last = RegionEnd(interval.upper, interval.upper_closed)
    match beta:
        case ClosedForm():
            return [Part(first, last, interval, None, *fraction_of(beta.value))]
        case PiecewiseForm():
            return [
                Part(
                    first if piece.lower == interval.lower else RegionEnd(piece.lower, closed=True),
                    last if piece.upper == interval.upper else RegionEnd(piece.upper, closed=True),
                    piece.hull,
                    piece.sample,
                    piece.numerator,
                    piece.denominator,
                )
                for piece in beta.pieces(interval, limits)
            ]

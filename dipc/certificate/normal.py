"""Obligations about normal noise as a certificate states them: a sum over stars, and the ends of cells on each of
which the checker's own arithmetic shows what is claimed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import OutsideFragment
from dipc.algebra.reals import Real
from dipc.certificate.data import rational, ring_data
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event
from dipc.measure.measure import Bound, Measurer
from dipc.measure.polyhedral import independent_parts
from dipc.sign.interval import Interval
from dipc.verifier.claims import evaluate
from dipc.verifier.functions import ONE, Closed, multiply_closed, read_ring
from dipc.verifier.noise import Normal
from dipc.verifier.normal import Cell, Enclosed, Star, Sum, at_zero, is_number, star_of, tails_are_positive
from dipc.verifier.reading import DERIVATION_ENDS, Budget, NotDerived, why_it_ends
from dipc.verifier.reals import Number, monomial
from dipc.verifier.syntax import Expr, read_expression

#: Accuracies in bits with numbers of terms, tried one after the other.
_SIZES = ((24, 16), (40, 24), (64, 40), (96, 64), (160, 100))

#: From where tails are looked at.
_STARTS = [Fraction(2) ** n for n in range(-20, 31)]

#: A cell is at least so many times shorter than its interval, and there are so many.
_SHORTEST, _MOST_CELLS = 1 << 30, 1_000

#: The accuracy of a refutation, which is of 20 digits, and a number of terms.
REFUTED = [96, 2]

NO_CELLS = "its Taylor polynomials do not show it in the checker's precision"


def has_normal(bound: Bound) -> bool:
    """Whether the bound is about normal noise."""
    return any(noise.law.is_normal for share in bound.shares for event in share.events for noise in event.noises)


def stars_of(bound: Bound, measurer: Measurer) -> Enclosed:
    """The sum over stars that the bound is. Raises Undecided where it is none."""
    total, budget = Sum(), Budget()
    total.add((), _closed(ExpPoly.constant(bound.constant)), budget)
    try:
        for share in bound.shares:
            weight = _closed(ExpPoly.one() if share.weight is None else share.weight)
            stars: list[Star] = []
            possible = True
            for event in share.events:
                numbers = [item for item in event.constraints if not item.coefficients]
                possible = possible and all(item.constant >= 0 for item in numbers)
                for part in independent_parts(Event(event.noises, _over_noises(event))):
                    if any(noise.law.is_normal for noise in part.noises):
                        stars.append(_star(part))
                    else:
                        weight = multiply_closed(weight, _closed(measurer.measure(part)), budget)
            if possible:
                total.add(tuple(sorted(stars)), weight, budget)
    except DERIVATION_ENDS as error:
        raise OutsideFragment(why_it_ends(error)) from None
    value = total.value
    if not isinstance(value, Enclosed) or any(below != ONE for _, below in value.terms.values()):
        raise OutsideFragment("it is no sum over normal noises with weights that have no denominators")
    return value


def _over_noises(event: Event) -> tuple[Halfspace, ...]:
    return tuple(item for item in event.constraints if item.coefficients)


def _closed(value: object) -> Closed:
    if not isinstance(value, ExpPoly):
        raise OutsideFragment("a weight has a denominator")
    return read_ring(ring_data(value)), ONE


def closed_value(value: object) -> Closed | None:
    """A closed form as the checker has it; None where it has a denominator."""
    return _closed(value) if isinstance(value, ExpPoly) else None


def _star(part: Event) -> Star:
    """Raises NotDerived."""
    laws = []
    for noise in part.noises:
        if not noise.law.is_normal:
            raise OutsideFragment("Gaussian noise is compared with other noise")
        square = _square(noise.law.normal_unit)
        family = Normal(noise.law.fixed, Number(Fraction(1), square.powers))
        laws.append((family, noise.law.normal_variance(noise.rate) * square.factor))
    rows = []
    for item in part.constraints:
        scale = 1
        for _, c in item.coefficients:
            scale *= c.denominator
        d = item.constant + sum((c * part.noises[i].mean for i, c in item.coefficients), Fraction(0))
        rows.append((tuple((i, int(c * scale)) for i, c in item.coefficients), d * scale))
    return star_of((tuple(laws), tuple(rows)))


@cache
def _square(unit: Real) -> Number:
    """The square of a number as the checker has it. Raises NotDerived."""

    def plain(tree: Expr) -> tuple[Fraction, tuple[int, ...]]:
        number = evaluate(tree, {}, Budget()).constant()
        if number is None:
            raise NotDerived("a deviation is no number")
        return number, ()

    number, _ = monomial(read_expression(str(unit), Budget()), plain)
    return number * number


def shown_in_cells(totals: Sequence[Enclosed], intervals: Sequence[Interval]) -> tuple[list[int], list[list[str]]]:
    """The sizes, and the ends of cells of each interval, on each of which all of these are positive. Raises Undecided
    where they are not found."""
    budget = Budget()
    left = [total for total in totals if total.terms]
    try:
        for accuracy, terms in _SIZES:
            search = _Cells(left, accuracy, terms, budget)
            found = [search.ends(interval) if left else [] for interval in intervals]
            if None not in found:
                return [accuracy, terms], [ends for ends in found if ends is not None]
    except DERIVATION_ENDS as error:
        raise OutsideFragment(why_it_ends(error)) from None
    raise OutsideFragment(NO_CELLS)


class _Cells:
    """Looks for cells of one size of numbers."""

    def __init__(self, totals: Sequence[Enclosed], accuracy: int, terms: int, budget: Budget) -> None:
        self._totals = totals
        self._touching = [at_zero(total) == 0 for total in totals]
        self._accuracy, self._terms, self._budget = accuracy, terms, budget

    def ends(self, interval: Interval) -> list[str] | None:
        """Of the cells of an interval; None where they are not found."""
        if interval.is_point or all(map(is_number, self._totals)):
            return [] if self._hold(interval.lower or Fraction(1), Fraction(0), 1) else None
        upper = interval.upper
        ends: list[str] = []
        if upper is None:
            upper = next((start for start in _STARTS if start > interval.lower and self._tails(start)), None)
            if upper is None:
                return None
            ends = ["inf"]
        position, width = interval.lower, upper - interval.lower
        least = width / _SHORTEST
        cells: list[str] = []
        while position < upper:
            width = min(width, upper - position)
            if self._hold(position + width / 2, width / 2, self._terms):
                position += width
                cells.append(rational(position))
                width *= 2
            else:
                width /= 2
            if width < least or len(cells) > _MOST_CELLS:
                return None
        return cells + ends

    def _hold(self, middle: Fraction, radius: Fraction, terms: int) -> bool:
        cell = Cell(middle, radius, terms, self._accuracy, self._budget)
        from_zero = radius > 0 and middle == radius
        return all(
            cell.is_positive_from_zero(total) if touching and from_zero else cell.is_positive(total)
            for total, touching in zip(self._totals, self._touching, strict=True)
        )

    def _tails(self, start: Fraction) -> bool:
        return all(tails_are_positive(total, start, self._budget) for total in self._totals)

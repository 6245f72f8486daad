"""Probabilities of events over normal noises with two centers, enclosed: integrals over a plane.

As in `dipc.measure.normal`, with X = eps·N, and with two values t_1, t_2 to which all others are related: each other
value L has bounds that are linear in them, so that the others are independent given both. Where bounds of one value
meet, or leave no room, and where the centers are related to each other, that is on lines of one direction,
α·t_1 + β·t_2 = c·eps. Then D = α·t_1 + β·t_2 and W = β·v_2·t_1 - α·v_1·t_2 are independent and normal, and with D =
eps·u, W = eps·w

    P(eps) = Σ_pieces ∫ φ(t) ∫ φ(w) Π_i p_i dw dt,    p_i = Φ(x) or Φ(x) - Φ(-x'),    x = (a·t + b·w + d·eps)/√v_i,

where the pieces of t/eps have rational ends. A piece that is the whole line is summed by the trapezoid rule for t; a
half-line from u as t = u·eps ± s, s >= 0, and one between two ends as t = eps·u, by that of Gauss and Legendre on
panels. The inner integral is summed by the trapezoid rule for w, with nodes that are the same for every t and eps.

**Lemma**, with the rules and the bounds of φ and Φ off the line of the lemma of `dipc.measure.normal`: let |eps - e| <=
ν, which is e/2, or 0 for eps = e alone, let c_i = ν·|a·u + d|, the greatest at an end u of the piece, or ν·|d| where it
has none, and F 2 to the number of leaves with two bounds.

  * For t at a real s, or u, x is off the line by c_i/√v_i at most. So given t the trapezoid rule for w with V = 1/v_w +
    Σ b²/v_i, Σ |b|·c_i/v_i for ν·D1 and Σ c_i²/v_i for ν²·D2 is off by as much as it says, and |φ(t)| comes to
    exp(ν²·u²/(2·v_t)) at most, integrated over s; between two ends to |eps|·length·(2π·v_t)^{-1/2} times that.
  * The weights for w come to 2 at most, as the step is at most √(6·v_w). So what is left is a function of t as in that
    lemma, with 2·F for F: where s, or u, is y away from the nearest place of the piece, t is off the line by at most
    y·(1, or |eps|) + ν·|u|, and x by (|a|·y·(1, or |eps|) + c_i)/√v_i. So the trapezoid rule for t has V = 1/v_t +
    Σ a²/v_i and D1 and D2 as there; and on a panel of half-length r that of Gauss and Legendre is off by at most
    8·M·ρ^{-2n}/(1 - 1/ρ), M = r·(1, or |eps|)·2·F·(2π·v_t)^{-1/2}·exp(…), on an ellipse, where y <= r·(ρ - 1/ρ)/2.
  * Beyond s = S there is at most F·exp(ν²·u²/(2·v_t) + Σ c_i²/(2·v_i))·erfc((S - |eps|·|u|)/√(2·v_t))/2.
  * *On the disk*, P is at most 2·K for each piece, K as in that lemma. All errors are analytic there (Cauchy's
    estimate).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from math import ceil, log

import flint

from dipc.algebra.limits import LimitReached, OutsideFragment
from dipc.algebra.numbers import to_fmpq
from dipc.algebra.reals import Real
from dipc.frozen import frozen
from dipc.measure import normal
from dipc.measure.power_series import DISK

#: The most nodes of a piece, times the coefficients of a series.
MOST_NODES = 1_500_000

_ZERO, _ONE = Fraction(0), Fraction(1)

#: A form in the other values.
_Turn = Callable[["Form"], "Form"]

#: (α, β, δ) of α·t_1 + β·t_2 + δ·eps, or of the same in D and W.
Form = tuple[Fraction, Fraction, Fraction]


@frozen
class PlaneLeaf:
    """L of this variance is within its bounds: L + a·D + b·W + d·eps >= 0 for the `lower` (a, b, d), and
    L <= a·D + b·W + d·eps for the `upper`, where there is one."""

    variance: Fraction
    lower: Form
    upper: Form | None

    @property
    def forms(self) -> tuple[Form, ...]:
        """Its bounds."""
        return (self.lower,) if self.upper is None else (self.lower, self.upper)


@frozen
class PlanePiece:
    """All u between the ends (None: no end), and what has to hold of the leaves there."""

    low: Fraction | None
    high: Fraction | None
    leaves: tuple[tuple[PlaneLeaf, int], ...]


@frozen
class PlaneMeasure:
    """The probability that D/eps lies in one of the pieces and the leaves are as this says."""

    outer: normal.Normal
    inner: normal.Normal
    pieces: tuple[PlanePiece, ...]
    unit: Real
    fixed: bool

    def series(self, center: Fraction) -> flint.arb_series:
        """The Taylor series in eps at a positive center, as long and precise as FLINT is set to; each coefficient is
        enclosed. Raises LimitReached."""
        return _integrated(self, center, flint.ctx.prec, flint.ctx.cap)

    def integrated(self, eps: flint.arb_series, near: normal.Ends, center: Fraction) -> flint.arb_series:
        """That in eps around `center`, of which `eps` is eps/κ, `near` its center."""
        length = flint.ctx.cap
        bits = normal.wanted_bits(length)
        total, error = flint.arb_series([0]), flint.arb(0)
        for piece in self.pieces:
            rule = _PlaneRule.of(self, piece, near, bits, wide=length > 1)
            total = total + rule.sum(eps)
            error += rule.error
        return normal.blurred(total, error, center)

    def majorant(self, center: Fraction) -> flint.arb:
        """At least the absolute value on the disk around a positive center."""
        del center
        return flint.arb(to_fmpq(sum((2 * _count(piece, wide=True) for piece in self.pieces), _ZERO)))


@lru_cache(maxsize=512)
def _integrated(measure: PlaneMeasure, center: Fraction, bits: int, length: int) -> flint.arb_series:
    """The series as long and precise as this says, which is what FLINT is set to: events that are alike are many."""
    assert (bits, length) == (flint.ctx.prec, flint.ctx.cap)
    return normal.series_in_unit(measure.integrated, center, measure.unit, fixed=measure.fixed)


def _count(piece: PlanePiece, *, wide: bool) -> Fraction:
    """K."""
    count = _ONE
    for leaf, times in piece.leaves:
        count *= ((1 if leaf.upper is None else 2) * (Fraction(3, 2) if wide else _ONE)) ** times
    return count


#: t = α + β·eps with a weight, to be multiplied by eps where it is `scaled`.
_Node = tuple[flint.arb, flint.arb, flint.arb, bool]


@frozen
class _PlaneRule:
    """How a piece is integrated: the nodes of t, those of w with their step, and a bound of all errors."""

    measure: PlaneMeasure
    piece: PlanePiece
    outer: Sequence[_Node]
    step: flint.arb
    reach: int
    error: flint.arb

    @staticmethod
    def of(measure: PlaneMeasure, piece: PlanePiece, near: normal.Ends, bits: int, *, wide: bool) -> _PlaneRule:
        """With an error of about 2^-bits. Raises LimitReached."""
        away = DISK * near[1] if wide else _ZERO
        ends = [end for end in (piece.low, piece.high) if end is not None]
        outer: list[tuple[int, Fraction, Fraction, Fraction]] = []
        inner: list[tuple[int, Fraction, Fraction, Fraction]] = []
        for leaf, times in piece.leaves:
            off = away * max(abs(a * u + d) for a, _, d in leaf.forms for u in ends or [_ZERO])
            outer.append((times, max(abs(a) for a, _, _ in leaf.forms), off, leaf.variance))
            inner.append((times, max(abs(b) for _, b, _ in leaf.forms), off, leaf.variance))
        doubled = sum(times for leaf, times in piece.leaves if leaf.upper is not None)
        try:
            wanted = 0.7 * (bits + 4 + doubled)
            step, reach, missed = normal.Crossed(measure.inner, tuple(inner), doubled).rule(wanted)
            most = MOST_NODES // ((2 * reach + 1) * flint.ctx.cap)
            line = _Line(normal.Crossed(measure.outer, tuple(outer), doubled + 1), piece, away, near[1] + away)
            nodes, error, mass = line.rule(wanted, most)
        except (OverflowError, ZeroDivisionError):
            raise LimitReached(None, "an integral over normal noise has numbers that are too large") from None
        return _PlaneRule(measure, piece, nodes, step, reach, (error + missed * mass).upper())

    def sum(self, eps: flint.arb_series) -> flint.arb_series:
        """Over all nodes."""
        inner = []
        for k in range(-self.reach, self.reach + 1):
            place = self.step * k
            inner.append((place, self.measure.inner.at(place) * self.step))
        leaves = [(leaf, times, normal.Normal(leaf.variance)) for leaf, times in self.piece.leaves]
        total = flint.arb_series([0])
        for alpha, beta, weight, scaled in self.outer:
            there = eps * beta + alpha
            part = flint.arb_series([0])
            for place, density in inner:
                product = flint.arb_series([density])
                for leaf, times, law in leaves:
                    given = law.below(_at(leaf.lower, there, place, eps), nonnegative=True)
                    if leaf.upper is not None:
                        given = given + law.below(_at(leaf.upper, there, place, eps), nonnegative=True) - 1
                    product = product * (given if times == 1 else normal.power(given, times))
                part = part + product
            part = part * self.measure.outer.density(there, nonnegative=True) * weight
            total = total + (part * eps if scaled else part)
        return total


@frozen
class _Line:
    """The integral over t on a piece; `away` is ν, and `farthest` at least |eps|."""

    crossed: normal.Crossed
    piece: PlanePiece
    away: Fraction
    farthest: Fraction

    def rule(self, wanted: float, most: int) -> tuple[Sequence[_Node], flint.arb, flint.arb]:
        """The nodes, a bound of what they miss, and one of the density, added up. Raises LimitReached for more than so
        many nodes."""
        low, high = self.piece.low, self.piece.high
        one, zero = flint.arb(1), flint.arb(0)
        law = self.crossed.law
        if low is None and high is None:
            step, reach, error = self.crossed.rule(wanted)
            self._watch(2 * reach + 1, most)
            return [(step * k, zero, step, False) for k in range(-reach, reach + 1)], error, one
        edge = max(abs(end) for end in (low, high) if end is not None)
        grown = flint.arb(to_fmpq((self.away * edge) ** 2 / (2 * law.variance))).exp()
        if low is not None and high is not None:
            start, length, stretch, error = low, high - low, self.farthest, zero
            mass = flint.arb(to_fmpq(length * stretch)) * law.peak() * grown
        else:
            off = self.crossed.off_line(_ZERO, self.away * edge)
            start, stretch, mass = _ZERO, _ONE, grown
            length = Fraction(law.far(wanted + float(off))) + edge * self.farthest
            beyond = law.beyond(flint.arb(to_fmpq(length - edge * self.farthest)))
            error = flint.arb(to_fmpq(off)).exp() * beyond * 2**self.crossed.doubled / 2
        panels, ellipse, count = self._panels(length, stretch, edge, wanted, most)
        half = length / (2 * panels)
        exponent = self.crossed.off_line(half * (ellipse - 1 / ellipse) / 2 * stretch, self.away * edge)
        size = flint.arb(to_fmpq(exponent)).exp() * 2**self.crossed.doubled * law.peak()
        size *= flint.arb(to_fmpq(half * stretch))
        ratio = flint.arb(to_fmpq(ellipse))
        error += panels * 8 * size * ratio ** (-2 * count) / (1 - 1 / ratio)
        nodes: list[_Node] = []
        for panel in range(panels):
            middle = flint.arb(to_fmpq(start + (2 * panel + 1) * half))
            for x, weight in normal.legendre(count, flint.ctx.prec):
                s, w = middle + x * flint.arb(to_fmpq(half)), weight * flint.arb(to_fmpq(half))
                if low is not None and high is not None:
                    nodes.append((zero, s, w, True))
                else:
                    end, sign = (low, 1) if low is not None else (high, -1)
                    assert end is not None, "it has one"
                    nodes.append((sign * s, flint.arb(to_fmpq(end)), w, False))
        return nodes, error, mass

    def _panels(
        self, length: Fraction, stretch: Fraction, edge: Fraction, wanted: float, most: int
    ) -> tuple[int, Fraction, int]:
        """So many panels, the ellipse of ρ, and the nodes of each panel, as few in all as are found."""
        wanted += 4 + max(0.0, log(float(length * stretch) / self.crossed.law.far(0.5)))
        found = []
        for panels in normal.PANELS:
            for ellipse in normal.ELLIPSES:
                y = length / (4 * panels) * (ellipse - 1 / ellipse) * stretch
                exponent = float(self.crossed.off_line(y, self.away * edge))
                count = ceil((wanted + exponent) / (2 * log(ellipse)))
                if count <= normal.MOST_NODES:
                    found.append((panels * count, panels, ellipse, count))
        total, panels, ellipse, count = min(found, default=(most + 1, 0, _ONE, 0))
        self._watch(total, most)
        return panels, ellipse, count

    def _watch(self, total: int, most: int) -> None:
        if total > most:
            raise LimitReached(
                None, f"an integral over a plane takes {total} nodes in one direction, and only {most} are looked at"
            )


def _at(form: Form, d: flint.arb_series, w: flint.arb, eps: flint.arb_series) -> flint.arb_series:
    a, b, c = (flint.arb(to_fmpq(each)) for each in form)
    return d * a + (eps * c + w * b)


# --- from events ----------------------------------------------------------------------------------------

Rows = Sequence[tuple[Mapping[int, Fraction], Fraction]]


def plane_measure(values: Sequence[normal.Spread], rows: Rows, unit: Real, *, fixed: bool) -> PlaneMeasure:
    """The measure of half-spaces over independent values. Raises OutsideFragment where there are no two such centers,
    or bounds meet on lines of more than one direction."""
    reason = "Gaussian noises are compared with each other, and no one or two of them with all others"
    for centers in combinations(range(len(values)), 2):
        if all(len(row.keys() - {*centers}) <= 1 for row, _ in rows):
            try:
                return _with_centers(values, rows, centers, unit, fixed=fixed)
            except OutsideFragment as outside:
                reason = outside.reason
    raise OutsideFragment(reason)


def _with_centers(
    values: Sequence[normal.Spread], rows: Rows, centers: tuple[int, int], unit: Real, *, fixed: bool
) -> PlaneMeasure:
    laws = [values[center] for center in centers]
    own: list[Form] = []
    lower: dict[int, set[Form]] = {}
    upper: dict[int, set[Form]] = {}
    for row, d in rows:
        form = row.get(centers[0], _ZERO), row.get(centers[1], _ZERO), d
        rest = [(place, c) for place, c in row.items() if place not in centers]
        if not rest:
            own.append(form)
        for place, c in rest:
            # What c times L and the form come to is not negative.
            side = lower if c > 0 else upper
            side.setdefault(place, set()).add((form[0] / abs(c), form[1] / abs(c), d / abs(c)))
    leaves = sorted({*lower, *upper})
    if any(not isinstance(values[place], normal.Normal) for place in (*centers, *leaves)):
        raise OutsideFragment("Laplace noise is compared with two Gaussian noises that are compared with others")
    first, second = (law.variance for law in laws if isinstance(law, normal.Normal))
    lines = [*own, *_meeting(lower, upper)]
    direction = next(((a, b) for a, b, _ in lines if a or b), (_ONE, _ZERO))
    if any(a * direction[1] != b * direction[0] for a, b, _ in lines):
        raise OutsideFragment("bounds of Gaussian noises meet on lines of more than one direction")
    alpha, beta = direction
    outer = alpha**2 * first + beta**2 * second

    def turned(form: Form) -> Form:
        """In D and W."""
        a, b, d = form
        return (a * alpha * first + b * beta * second) / outer, (a * beta - b * alpha) / outer, d

    # λ·u + δ >= 0 on lines of the direction.
    along = [(turned(form)[0], form[2]) for form in own]
    if any(not slope and d < 0 for slope, d in along):
        return PlaneMeasure(normal.Normal(_ONE), normal.Normal(_ONE), (), unit, fixed)
    low = max((-d / slope for slope, d in along if slope > 0), default=None)
    high = min((-d / slope for slope, d in along if slope < 0), default=None)
    ends = sorted({-d / slope for a, b, d in lines if (slope := turned((a, b, d))[0])})
    inside = [u for u in ends if (low is None or low < u) and (high is None or u < high)]
    pieces: list[PlanePiece] = []
    for start, end in pairwise([low, *inside, high]):
        if start is not None and end is not None and start >= end:
            continue
        middle = normal.between(start, end)
        found = _leaves(values, leaves, lower, upper, turned, middle)
        if found is None:
            continue
        if pieces and (pieces[-1].leaves, pieces[-1].high) == (found, start):
            start = pieces.pop().low
        pieces.append(PlanePiece(start, end, found))
    return PlaneMeasure(normal.Normal(outer), normal.Normal(first * second * outer), tuple(pieces), unit, fixed)


def _meeting(lower: Mapping[int, set[Form]], upper: Mapping[int, set[Form]]) -> Iterator[Form]:
    """Where two bounds of a value meet."""
    for place in {*lower, *upper}:
        level = [*lower.get(place, ()), *((-a, -b, -d) for a, b, d in upper.get(place, ()))]
        for (a, b, d), (e, f, g) in combinations(level, 2):
            yield a - e, b - f, d - g


def _leaves(
    values: Sequence[normal.Spread],
    places: Sequence[int],
    lower: Mapping[int, set[Form]],
    upper: Mapping[int, set[Form]],
    turned: _Turn,
    u: Fraction,
) -> tuple[tuple[PlaneLeaf, int], ...] | None:
    """What has to hold of the leaves around u, for every w; None where that cannot be."""
    found = []
    for place in places:
        law = values[place]
        assert isinstance(law, normal.Normal)
        nearest = []
        for side in (lower, upper):
            forms = sorted(map(turned, side.get(place, ())))
            # Their differences do not depend on w.
            nearest.append(min(forms, key=lambda form: form[0] * u + form[2], default=None))
        first, second = nearest
        if first is not None and second is not None:
            if (first[0] + second[0]) * u + first[2] + second[2] <= 0:
                return None
            found.append(PlaneLeaf(law.variance, first, second))
        else:
            # -L has the same law.
            bound = first if second is None else second
            assert bound is not None
            found.append(PlaneLeaf(law.variance, bound, None))
    return tuple(sorted(Counter(found).items(), key=str))

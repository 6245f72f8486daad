"""Probabilities of events over normal noises with two centers, enclosed: integrals over a plane.

As in `dipc.measure.normal`, with X = eps·N, and with two values t_1, t_2 to which all others are related: each other
value L has bounds that are linear in them, so that the others are independent given both. Where bounds of one value
meet, or leave no room, and where the centers are related to each other, that is on lines of one direction,
α·t_1 + β·t_2 = c·eps. Then D = α·t_1 + β·t_2 and W = β·v_2·t_1 - α·v_1·t_2 are independent and normal, and with D =
eps·u, W = eps·w

    P(eps) = Σ_pieces ∫ eps·φ(eps·u) ∫ eps·φ(eps·w) Π_i p_i dw du,    p_i = Φ(x) or Φ(x) - Φ(-x'),
    x = eps·(a·u + b·w + d)/√v_i,

where the pieces of u have rational ends, and the integrand is entire in u, w and eps on each of them.

**Lemma**, with the notation, and the bounds of φ and Φ at complex arguments, of the lemma of `dipc.measure.normal`.

  * For real w and u = x + iy the inner integral is at most √2·K·exp(2R·y²·Σ a²/v_i), as ∫ |eps·φ(eps·w)| dw <= √2. So
    the outer one is one as in that lemma, with √2·K for K and V = 1/v_D + Σ a²/v_i, by Gauss and Legendre's rule on
    finite pieces, with the ends cut off.
  * For real u the integral of the inner integrand over Im w = y is at most M = √2·K·exp(2R·y²·V'), V' = 1/v_W +
    Σ b²/v_i. So the trapezoid rule with step h has an error of at most 2·M/(e^{2πy/h} - 1), and leaving out |w| > n·h
    leaves out at most √2·K·erfc(n·h·√(R/(2·v_W))), as φ falls.
  * That counts as often as the weights of the outer rule come to: |eps·φ(eps·u)| is at most |eps|·(2π·v_D)^{-1/2}.
  * *On the disk*, P is at most 2·K for each piece. All errors are analytic there (Cauchy's estimate).
  * For eps = e alone there is 1 for √2, R/2 for 2R, and K = Π 1, or 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from math import ceil, log, pi, sqrt

import flint

from dipc.algebra.exppoly import to_fmpq
from dipc.algebra.limits import LimitReached, OutsideFragment
from dipc.algebra.reals import Real
from dipc.frozen import frozen
from dipc.measure import normal

#: The most nodes of a piece, times the coefficients of a series.
MOST_NODES = 400_000

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


def _curvature(law: normal.Normal, piece: PlanePiece, place: int) -> Fraction:
    """1/v + Σ a²/v_i, or with b, the greater of two."""
    terms = (times * max(form[place] ** 2 for form in leaf.forms) / leaf.variance for leaf, times in piece.leaves)
    return law.curvature + sum(terms, _ZERO)


@frozen
class _PlaneRule:
    """How a piece is integrated: the nodes u, and w with their step, and a bound of all errors."""

    measure: PlaneMeasure
    piece: PlanePiece
    outer: Sequence[tuple[flint.arb, flint.arb]]
    step: flint.arb
    reach: int
    error: flint.arb

    @staticmethod
    def of(measure: PlaneMeasure, piece: PlanePiece, near: normal.Ends, bits: int, *, wide: bool) -> _PlaneRule:
        """With an error of about 2^-bits. Raises LimitReached."""
        count = _count(piece, wide=wide)
        root = flint.arb(2).sqrt() if wide else flint.arb(1)
        # What is at most √2·K, as a rational.
        inside = count * (Fraction(3, 2) if wide else 1)
        curvature = _curvature(measure.outer, piece, 0)
        sizes = normal.finite_sizes(measure.outer, piece.low, piece.high, near, curvature, inside, wide=wide)
        inner = _curvature(measure.inner, piece, 1)
        try:
            wanted = 0.7 * (bits + 4) + log(inside)
            steepness = float(sizes.growth * inner)
            step = Fraction(pi / sqrt(wanted * steepness))
            reach = ceil(measure.inner.far(wanted) / (float(sizes.nearest) * float(step))) + 1
        except (OverflowError, ZeroDivisionError):
            raise LimitReached(None, "an integral over normal noise has numbers that are too large") from None
        found = normal.finite_rule(sizes, wanted, MOST_NODES // ((2 * reach + 1) * flint.ctx.cap))
        h = flint.arb(to_fmpq(step))
        y = (flint.arb.pi() / (h * flint.arb(to_fmpq(sizes.growth * inner)))).mid()
        turn = 2 * flint.arb.pi() * y / h
        missed = 2 * (flint.arb(to_fmpq(sizes.growth * inner)) * y * y).exp() / (turn.exp() - 1)
        missed += measure.inner.beyond(h * reach * flint.arb(to_fmpq(sizes.nearest)))
        missed *= root * flint.arb(to_fmpq(count))
        weights = sum((weight for _, weight in found.nodes), flint.arb(0))
        error = found.error + missed * weights * flint.arb(to_fmpq(sizes.farthest)) * measure.outer.peak()
        return _PlaneRule(measure, piece, found.nodes, h, reach, error.upper())

    def sum(self, eps: flint.arb_series) -> flint.arb_series:
        """Over all nodes."""
        inner = []
        for k in range(-self.reach, self.reach + 1):
            place = eps * (self.step * k)
            inner.append((place, self.measure.inner.density(place, nonnegative=True) * eps * self.step))
        leaves = [(leaf, times, normal.Normal(leaf.variance)) for leaf, times in self.piece.leaves]
        total = flint.arb_series([0])
        for node, weight in self.outer:
            there = eps * node
            part = flint.arb_series([0])
            for place, density in inner:
                product = density
                for leaf, times, law in leaves:
                    given = law.below(_at(leaf.lower, there, place, eps), nonnegative=True)
                    if leaf.upper is not None:
                        given = given + law.below(_at(leaf.upper, there, place, eps), nonnegative=True) - 1
                    product = product * (given if times == 1 else normal.power(given, times))
                part = part + product
            total = total + part * self.measure.outer.density(there, nonnegative=True) * eps * weight
        return total


def _at(form: Form, d: flint.arb_series, w: flint.arb_series, eps: flint.arb_series) -> flint.arb_series:
    a, b, c = (flint.arb(to_fmpq(each)) for each in form)
    return d * a + w * b + eps * c


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

"""Probabilities of normal and Laplace noises around one center, in pieces on which the integrand is smooth.

With t = eps·u for the center t, the integrand is smooth except at finitely many u. On each piece between them the
integral is approximated by a sum over nodes. The nodes and their weights are not trusted: their error is bounded.
FORMAT.md states and proves the lemmas N6 and N7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from dipc.verifier.reading import NotDerived
from dipc.verifier.reals import root_around
from dipc.verifier.signs import growth_bits
from dipc.verifier.taylor import MOST_GROWTH, Expansion, Series, root_ends
from dipc.verifier.trees import Leaf, Leaves, Spread, Tree

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The most pieces of one event, and the most panels of a piece.
MOST_PIECES, MOST_PANELS = 60, 128

#: The ellipses that bound the error of a rule, and the numbers of panels that are tried.
_ELLIPSES = (Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4), Fraction(6), Fraction(9), Fraction(14))
_PANELS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, MOST_PANELS)


def series(tree: Tree, cell: Expansion) -> Series:
    """Return the Taylor polynomial on `cell` of a quadrature sum for the probability of `tree`.

    The sum is within 2^-accuracy of the probability for each eps > 0 of `cell`, by lemma N6. Raises NotDerived if an
    integral is cut into too many intervals, and NotShown if the precision of `cell` does not suffice.
    """
    total = Series([0] * cell.terms, 0)
    pieces = _pieces(tree)
    for piece in pieces:
        accuracy = cell.accuracy + 2 + len(pieces).bit_length()
        for alpha, beta, weight in piece.nodes(cell.middle + cell.radius, accuracy):
            factors = [cell.power(_leaf_probability(leaf, alpha, beta, cell), count) for leaf, count in piece.leaves]
            factors += [_density(tree.root.spread, alpha, beta, cell), *[cell.eps] * piece.is_finite]
            total = cell.plus(total, cell.scaled(cell.product(factors), weight))
    return total


def _density(spread: Spread, alpha: Fraction, beta: Fraction, cell: Expansion) -> Series:
    """Return the density of the law `spread` at `alpha` + `beta`·eps, as a Taylor polynomial on `cell`."""
    if spread.laplace:
        sign = -1 if min(alpha, beta) < 0 else 1
        return cell.scaled(cell.falling(spread.size, sign * alpha, sign * beta), spread.size / 2)
    low, high = root_ends(1 / spread.size, cell.bits + 8)
    width = cell.constant((low >> 8, -(-high >> 8)))
    return cell.times(_normal(spread, alpha, beta, cell, density=True), width)


def _normal(spread: Spread, alpha: Fraction, beta: Fraction, cell: Expansion, *, density: bool) -> Series:
    return cell.normal(alpha + beta * cell.middle, beta * cell.radius, spread.size, _ZERO, density=density)


def _leaf_probability(leaf: Leaf, alpha: Fraction, beta: Fraction, cell: Expansion) -> Series:
    """Return the probability that all bounds of `leaf` hold if its center has the value `alpha` + `beta`·eps.

    The result is a Taylor polynomial on `cell`.
    """
    sides = []
    for a, _, d in leaf.forms:
        start, slope = a * alpha, a * beta + d
        if not leaf.spread.laplace:
            sides.append(_normal(leaf.spread, start, slope, cell, density=False))
            continue
        # On a piece the bound has one sign, so neither number is positive while the other is negative.
        sign = -1 if min(start, slope) < 0 else 1
        tail = cell.scaled(cell.falling(leaf.spread.size, sign * start, sign * slope), Fraction(-sign, 2))
        sides.append(cell.plus(tail, cell.constant(((sign > 0) << cell.bits,) * 2)))
    return cell.all(sides)


def bits_on_disk(tree: Tree, middle: Fraction, disk: Fraction, accuracy: int) -> int | None:
    """Return an n such that the quadrature sum for `tree` is at most 2^n where |eps - `middle`| <= `disk`, by lemma N7.

    eps is complex. The sum is the one that `series` computes for `accuracy`. Return None if n is too large.
    """
    total = _ZERO
    for piece in _pieces(tree):
        ends = [piece.steepness(end) for end in (piece.low, piece.high) if end is not None]
        spread, falls = (max(each) for each in zip(*ends, strict=True))
        if spread * disk * disk / 2 + falls * disk > MOST_GROWTH:
            return None
        grown = growth_bits(spread * disk * disk / 2) + growth_bits(falls * disk) + piece.doublings
        total += piece.length(middle + disk, accuracy + 10) * piece.peak * 2 * (1 << grown)
    return int(total).bit_length() + 1


# === pieces ====================================================================================


def _pieces(tree: Tree) -> list[_Piece]:
    """Return the intervals, at least two, on which the integrand of `tree` is smooth in u; u·eps is the center's value.

    Between two intervals, a factor of the integrand has a kink. Raises NotDerived for too many intervals.
    """
    root = tree.root
    ends = {-d / a for a, _, d in root.edges if a}
    if len(ends) > MOST_PIECES:
        raise NotDerived(f"comparisons of Gaussian noise fall into more than {MOST_PIECES} pieces")
    pieces: list[_Piece] = []
    # The density or tail of Laplace noise has a kink where its argument is 0.
    kinks = {-d / a for leaf, _ in root.leaves if leaf.spread.laplace for a, _, d in leaf.forms if a}
    for low, high, leaves in root.stretches(ends, kinks | {_ZERO} if root.spread.laplace else kinks, _ZERO):
        halves = [(None, _ZERO), (_ZERO, None)] if low is None and high is None else [(low, high)]
        pieces += [_Piece(root.spread, start, end, leaves) for start, end in halves]
    return pieces


@dataclass(frozen=True, slots=True)
class _Piece:
    """An interval of u, from `low` to `high`, on which the integrand at the center t = u·eps is smooth.

    At most one end is infinite (None). `center` is the law of the center, and `leaves` are its leaves on the interval,
    each with its nearest bounds alone.
    """

    center: Spread
    low: Fraction | None
    high: Fraction | None
    leaves: Leaves

    @property
    def is_finite(self) -> bool:
        return self.low is not None and self.high is not None

    @property
    def doublings(self) -> int:
        """An n such that |integrand| is at most 2^n times a product of exponentials.

        The product has an exponential for each density and each probability of a tail in the integrand. The bound also
        holds at complex arguments.
        """
        return sum(count * (len(leaf.forms) - 1 + leaf.spread.laplace) for leaf, count in self.leaves)

    @property
    def peak(self) -> Fraction:
        """An upper bound of the density of the center's law, with 2/5 in place of 1/√(2π) for a normal law."""
        size = self.center.size
        return size / 2 if self.center.laplace else Fraction(2, 5) * root_around(1 / size, 10)[1]

    def steepness(self, u: Fraction | None) -> tuple[Fraction, Fraction]:
        """Return the pair (Σ s²/v over normal noises, Σ r·s over Laplace noises) of the center and its leaves.

        v is the variance of a normal noise, and r the rate of a Laplace noise. If the center is u·eps, the bounds of a
        leaf are (a·u + d)·eps with numbers a and d. The s of a leaf is the greatest |a·u + d| of its bounds, and the s
        of the center is |u|. If `u` is None, the s of a leaf is the greatest |a| instead, and that of the center is 1.
        """
        squares = rates = _ZERO
        factors = [(leaf.spread, leaf.forms, count) for leaf, count in self.leaves]
        for spread, forms, count in [(self.center, ((_ONE, _ZERO, _ZERO),), 1), *factors]:
            most = max(abs(a if u is None else a * u + d) for a, _, d in forms)
            if spread.laplace:
                rates += count * spread.size * most
            else:
                squares += count * most**2 / spread.size
        return squares, rates

    def length(self, most: Fraction, accuracy: int) -> Fraction:
        """Return the length of the piece at eps = `most`, as an interval of the center's value t = u·eps.

        For a half-line, return the length of the part near its end to which the sum is limited. The rest has an
        integral of at most 2^-(`accuracy` + 3) for each eps up to `most`.
        """
        if self.low is not None and self.high is not None:
            return (self.high - self.low) * most
        wanted, size = Fraction(7, 10) * (accuracy + 4), self.center.size
        far = wanted / size if self.center.laplace else root_around(2 * size * wanted, 10)[1]
        return far + max(_ZERO, -self.low if self.low is not None else self.high or _ZERO) * most

    def nodes(self, most: Fraction, accuracy: int) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
        """Yield nodes (α, β, w) whose sum of w·(integrand at t = α + β·eps) approximates the integral over this piece.

        On a finite piece, this sum has to be multiplied by eps. The error is at most 2^-`accuracy` for 0 < eps <=
        `most`, by lemma N6. Raises NotDerived if too many nodes are needed.
        """
        count = accuracy // 4 + 8
        length, start = self.length(most, accuracy), self.high if self.low is None else self.low
        assert start is not None, "the piece has a finite end"
        panels = self._panels(length, count, accuracy)
        half = length / (2 * panels) / (most if self.is_finite else 1)
        for panel in range(panels):
            for x, weight in _rule(count, accuracy + 64)[0]:
                s = half * (2 * panel + 1 + x)
                if self.is_finite:
                    yield _ZERO, start + s, half * weight
                else:
                    yield s if self.high is None else -s, start, half * weight

    def _panels(self, length: Fraction, count: int, accuracy: int) -> int:
        """Return a number of panels for which Gauss-Legendre quadrature is off by at most 2^-`accuracy`.

        The panels are equal parts of [0, `length`], with `count` nodes each. Raises NotDerived for too many panels.
        """
        curvature, rates = self.steepness(None)
        slip = _rule(count, accuracy + 64)[1]
        for panels in _PANELS:
            half = length / (2 * panels)
            for ellipse in _ELLIPSES:
                y, over = half * (ellipse - 1 / ellipse) / 2, half * ((ellipse + 1 / ellipse) / 2 - 1)
                grown = growth_bits(y * y * curvature / 2 + rates * over) + self.doublings
                if grown > 4 * accuracy:
                    continue
                error = (slip + 9 / ellipse ** (2 * count)) / (1 - 1 / ellipse)
                if length * self.peak * (1 << grown) * error * (1 << accuracy) <= 1:
                    return panels
        raise NotDerived(f"an integral over Gaussian noise takes more than {MOST_PANELS} panels")


@lru_cache(maxsize=64)
def _rule(count: int, bits: int) -> tuple[tuple[tuple[Fraction, Fraction], ...], Fraction]:
    """Return `count` nodes and weights on [-1, 1], close to those of Gauss-Legendre quadrature, and an error bound δ.

    The bound means that |Σ w·T_j(x) - ∫ T_j| <= δ/2 for the Chebyshev polynomials T_j with j < 2·`count`. The weights
    are positive, and their sum is less than 5/2. Numbers have a precision of `bits`. Raises NotDerived if no such nodes
    are found.
    """
    one = 1 << bits
    nodes: list[tuple[int, int]] = []
    for k in range(count):
        x = _root_of_legendre(count, k, bits)
        slope = one
        for _ in range(bits.bit_length()):
            before, now = _legendre(count, x, bits)[-2:]
            slope = count * ((x * now >> bits) - before << bits) // ((x * x >> bits) - one)
            x -= (now << bits) // slope
        nodes.append((x, (2 * one << 2 * bits) // ((one - (x * x >> bits)) * (slope * slope >> bits))))
    if not all(w > 0 and abs(x) < one for x, w in nodes) or sum(w for _, w in nodes) * 2 > 5 * one:
        raise NotDerived("the nodes of an integral could not be computed")
    # T_0, T_1 and so on at all nodes: each step adds an error of a unit at most, so that of T_j grows as (j + 1)².
    first, second = [one] * count, [x for x, _ in nodes]
    most = _ZERO
    for j in range(2 * count):
        value = sum(w * t for (_, w), t in zip(nodes, first, strict=True)) >> bits
        wanted = _ZERO if j % 2 else Fraction(2 * one, 1 - j * j)
        most = max(most, abs(value - wanted) + 2 * (j + 1) ** 2 + 2)
        first, second = second, [(2 * x * t >> bits) - b for (x, _), t, b in zip(nodes, second, first, strict=True)]
    return tuple((Fraction(x, one), Fraction(w, one)) for x, w in nodes), 2 * most / one


def _root_of_legendre(n: int, k: int, bits: int) -> int:
    """Return approximately the (`k` + 1)-th greatest root of the Legendre polynomial P_`n`, in units of 2^-`bits`.

    The number of sign changes in the list P_0(x), ..., P_n(x) is the number of roots of P_n above x.
    """
    low, high = -1 << bits, 1 << bits
    for _ in range(20):
        x = (low + high) // 2
        above = sum((a < 0) != (b < 0) for a, b in pairwise(_legendre(n, x, bits)))
        low, high = (x, high) if above > k else (low, x)
    return low


def _legendre(n: int, x: int, bits: int) -> list[int]:
    """Return approximately P_0(`x`), ..., P_`n`(`x`) for the Legendre polynomials P, in units of 2^-`bits`."""
    values = [1 << bits, x]
    for j in range(1, n):
        values.append(((2 * j + 1) * (x * values[-1] >> bits) - j * values[-2]) // (j + 1))
    return values

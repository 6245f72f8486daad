"""Sums of products of powers and exponentials in several variables, integrated or summed over one variable at a time.

A sum over integers of exponential polynomials is an exponential polynomial times factors 1/(1 - e^{-d·eps}) with d > 0,
which are positive for every eps > 0. A summand lists these factors as `poles`; `closed_form` brings them over one
denominator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import comb, factorial
from typing import ClassVar, NamedTuple, TypeVar

from dipc.algebra.exppoly import ExpPoly, Quotient
from dipc.algebra.limits import LimitReached, Limits
from dipc.linear.halfspace import Halfspace
from dipc.linear.program import Interiors
from dipc.measure.event import Noise
from dipc.noise.law import DensityPiece

_ZERO = Fraction(0)

#: The pairs (d, m) of a product Π (1 - e^{-d·eps})^{-m}.
Poles = tuple[tuple[Fraction, int], ...]

_T = TypeVar("_T")
_Number = Fraction | int


class Summand(NamedTuple):
    """A term that is integrated or summed over variables x_v: a product of powers and exponentials.

    It is eps^`power` · e^{`exponent`·eps} · Π (1 - e^{-d·eps})^{-m} over the pairs (d, m) of `poles`, times Π
    x_v^{`powers`[v]}·e^{`slopes`[v]·u·x_v} over all v. For integer variables u = eps. For real variables u = 1, and a
    variable is eps times a value in the program.
    """

    power: int
    exponent: Fraction
    poles: Poles
    powers: tuple[int, ...]
    slopes: tuple[Fraction, ...]


#: A linear combination of summands.
Summands = dict[Summand, Fraction]


def constant_one(width: int) -> Summands:
    """Return the constant function 1 of `width` variables as summands."""
    return {Summand(0, _ZERO, (), (0,) * width, (_ZERO,) * width): Fraction(1)}


def replaced(items: tuple[_T, ...], position: int, value: _T) -> tuple[_T, ...]:
    """Return `items` with `value` in place of the item at `position`."""
    return (*items[:position], value, *items[position + 1 :])


def _merged(left: Poles, right: Poles) -> Poles:
    if not right:
        return left
    powers = dict(left)
    for d, m in right:
        powers[d] = powers.get(d, 0) + m
    return tuple(sorted(powers.items()))


def add_to(total: Summands, more: Mapping[Summand, Fraction]) -> None:
    """Add `more` to `total` in place, and drop summands whose coefficients become 0."""
    if not total:
        total.update(more)  # without computing the hashes of summands again
        return
    for summand, c in more.items():
        value = total.get(summand, _ZERO) + c
        if value:
            total[summand] = value
        else:
            total.pop(summand, None)


def times_exponential(summands: Summands, v: int, factor: Fraction, slope: Fraction, exponent: Fraction) -> Summands:
    """Return `summands` times `factor`·e^{`slope`·u·x}·e^{`exponent`·eps}, where x is the variable with the index `v`.

    u is 1 for real variables and eps for integers, as in `Summand`.
    """
    return {
        s._replace(exponent=s.exponent + exponent, slopes=replaced(s.slopes, v, s.slopes[v] + slope)): c * factor
        for s, c in summands.items()
    }


def times_affine(summands: Summands, slopes: Mapping[int, _Number], constant: _Number, power: int) -> Summands:
    """Return `summands` times the form Σ `slopes`[w]·x_w + eps^`power`·`constant`.

    `power` is 1 for real variables, which are multiples of eps, and 0 for integers.
    """
    result: Summands = {}
    for s, c in summands.items():
        if constant:
            add_to(result, {s._replace(power=s.power + power): c * constant})
        for w, slope in slopes.items():
            add_to(result, {s._replace(powers=replaced(s.powers, w, s.powers[w] + 1)): c * slope})
    return result


def substituted(summands: Summands, v: int, slopes: Mapping[int, _Number], constant: _Number, power: int) -> Summands:
    """Return `summands` with the form Σ `slopes`[w]·x_w + eps^`power`·`constant` in place of the variable x_`v`.

    The form may contain x_v itself. `power` is 1 for real variables, which are multiples of eps, and 0 for integers.
    """
    result: Summands = {}
    for s, c in summands.items():
        n, slope = s.powers[v], s.slopes[v]
        moved = list(s.slopes)
        moved[v] = _ZERO
        for w, by in slopes.items():
            moved[w] += slope * by
        expanded: Summands = {
            Summand(s.power, s.exponent + slope * constant, s.poles, replaced(s.powers, v, 0), tuple(moved)): c
        }
        for _ in range(n):
            expanded = times_affine(expanded, slopes, constant, power)
        add_to(result, expanded)
    return result


def antiderivative(summands: Summands, v: int) -> Summands:
    """Return an antiderivative of `summands` in the real variable with the index `v`, without a constant.

    It vanishes at ∞, or at -∞, if the summands decay there.
    """
    grown: Summands = {}
    for s, c in summands.items():
        n, slope = s.powers[v], s.slopes[v]
        if not slope:
            add_to(grown, {s._replace(powers=replaced(s.powers, v, n + 1)): c / (n + 1)})
            continue
        for i in range(n + 1):
            factor = Fraction((-1) ** i * (factorial(n) // factorial(n - i))) / slope ** (i + 1)
            add_to(grown, {s._replace(powers=replaced(s.powers, v, n - i)): c * factor})
    return grown


def summed(summands: Summands, variable: int) -> Summands:
    """Return F with F(x) - F(x - 1) equal to `summands`, as functions of the variable x with the index `variable`.

    F vanishes at infinity, on each side where the summands decay.
    """
    result: Summands = {}
    for summand, c in summands.items():
        n, slope = summand.powers[variable], summand.slopes[variable]
        if not slope:
            for power, factor in power_sum(n):
                powers = replaced(summand.powers, variable, power)
                add_to(result, {summand._replace(powers=powers): c * factor})
            continue
        for (power, shift, poles), factor in geometric_sum(n, slope > 0):
            d = abs(slope)
            grown = summand._replace(
                exponent=summand.exponent - d * shift,
                poles=_merged(summand.poles, ((d, poles),)),
                powers=replaced(summand.powers, variable, power),
            )
            add_to(result, {grown: c * factor})
    return result


@cache
def power_sum(n: int) -> tuple[tuple[int, Fraction], ...]:
    """Return the polynomial S with S(x) - S(x - 1) = x^`n` and S(0) = 0, as pairs (power of x, coefficient)."""
    # x^{n+1} - (x-1)^{n+1} = Σ_{j<=n} C(n+1, j)·(-1)^{n-j}·x^j, so S_n follows from the S_j below it.
    total = {n + 1: Fraction(1)}
    for j in range(n):
        for power, c in power_sum(j):
            total[power] = total.get(power, Fraction(0)) - comb(n + 1, j) * (-1) ** (n - j) * c
    return tuple((power, c / (n + 1)) for power, c in sorted(total.items()) if c)


@cache
def geometric_sum(n: int, growing: bool) -> tuple[tuple[tuple[int, int, int], Fraction], ...]:
    """Return a polynomial p in x with p(x) - e^{-l}·p(x - 1) = x^`n`.

    Then S(x) = e^{lx}·p(x) has S(x) - S(x - 1) = x^n·e^{lx}. Here l > 0 if `growing`, else l < 0. A pair ((k, s, m), c)
    of the result means the term c·x^k·e^{-|l|·s}·(1 - e^{-|l|})^{-m}.
    """
    # With G = 1/(1 - e^{-l}) and T p = p(x) - e^{-l}·p(x-1): p_n = G·(x^n + e^{-l}·Σ_{j<n} C(n,j)(-1)^{n-j} p_j).
    # For l < 0, G = -e^{l}/(1 - e^{l}) and e^{-l}·G = -1/(1 - e^{l}).
    sign, first, second = (1, 0, 1) if growing else (-1, 1, 0)
    total = {(n, first, 1): Fraction(sign)}
    for j in range(n):
        for (power, shift, poles), c in geometric_sum(j, growing):
            key = (power, shift + second, poles + 1)
            total[key] = total.get(key, Fraction(0)) + sign * comb(n, j) * (-1) ** (n - j) * c
    return tuple(total.items())


def closed_form(summands: Summands) -> Quotient:
    """Return the sum of `summands`, which have no variables and no powers of eps left, as a quotient."""
    highest: dict[Fraction, int] = {}
    for summand in summands:
        for d, m in summand.poles:
            highest[d] = max(highest.get(d, 0), m)
    factors = {d: ExpPoly.ONE - ExpPoly.term(1, 0, -d) for d in highest}
    by_poles: dict[tuple[tuple[Fraction, int], ...], list[tuple[int, Fraction, Fraction]]] = {}
    for summand, c in summands.items():
        by_poles.setdefault(summand.poles, []).append((0, summand.exponent, c))
    numerator = ExpPoly.ZERO
    for poles, terms in by_poles.items():
        have = dict(poles)
        poly = ExpPoly.from_terms(terms)
        for d, m in highest.items():
            poly = poly * factors[d] ** (m - have.get(d, 0))
        numerator = numerator + poly
    denominator = ExpPoly.ONE
    for d, m in highest.items():
        denominator = denominator * factors[d] ** m
    return Quotient(numerator, denominator)


# --- Elimination: integrals or sums over polyhedra, one variable after the other --------------------------------------
#
# Let F be an antiderivative of the summands in x_v. The integral over x_v on a polyhedron is the sum, over the
# half-spaces that bound x_v, of ±F at the bound. Each term lives on the shadow of its half-space: the polyhedron with
# x_v replaced by the bound, where this bound is the nearest one on its side. The pieces of a density are separate
# polyhedra.


class Elimination(ABC):
    """The integral of products of powers and exponentials over a polyhedron of values of independent `noises`.

    A subclass says whether the noises are real, or integers whose values are summed. `limits` bound the work.
    """

    #: 1 for real variables, which are multiples of eps, and 0 for integers.
    power: ClassVar[int]
    #: The words for what is integrated or summed, in a message.
    what: ClassVar[str]

    def __init__(self, noises: Sequence[Noise], limits: Limits) -> None:
        self.noises = noises
        self.limits = limits
        self.interiors = Interiors(limits.cells)

    @abstractmethod
    def closed(self, half: Halfspace) -> Halfspace:
        """Return a half-space with >= that takes the place of `half` among the values of the variables."""

    @abstractmethod
    def relaxed(self, half: Halfspace) -> Halfspace:
        """Return a half-space that contains the same values of variables as `half`, and none on its boundary.

        For real variables, the boundary does not matter.
        """

    @abstractmethod
    def density(self, v: int) -> Sequence[DensityPiece]:
        """Return the density of noise `v` around its mean, up to a factor, in pieces [lower, upper)."""

    @abstractmethod
    def antiderivative(self, summands: Summands, v: int) -> Summands:
        """Return F whose difference at two bounds is the integral of `summands` over the variable `v` between them."""

    @abstractmethod
    def effort(self, v: int, system: Sequence[Halfspace]) -> tuple[int, ...]:
        """Return a key by which the next variable `v` of `system` is chosen, the least first."""

    def involved(self, v: int, system: Sequence[Halfspace]) -> frozenset[int]:
        """Return the variables whose densities must be factors before `v` is eliminated from `system`."""
        del system
        return frozenset((v,))

    def is_free(self, v: int) -> bool:
        """True if the density of noise `v` has the integral 1."""
        del v
        return False

    def cases(
        self, v: int, summands: Summands, system: Sequence[Halfspace]
    ) -> Iterator[tuple[Summands, list[Halfspace]]]:
        """Yield summands and half-spaces that take the place of `summands` and `system` when `v` is eliminated."""
        del v
        yield summands, list(system)

    def finished(self, summands: Summands, system: Sequence[Halfspace]) -> Summands:
        """Return the result for `summands` when no variable is left to integrate over, but `system` must hold."""
        del system
        return summands

    def integral(
        self, summands: Summands, system: Sequence[Halfspace], left: frozenset[int], whole: frozenset[int]
    ) -> Summands:
        """Return the integral of `summands` over the variables `left`, where all half-spaces of `system` hold.

        `whole` has the noises whose densities are not yet factors of `summands`. Each is multiplied in before the
        integral over the noise. Raises LimitReached.
        """
        if not summands:
            return {}
        if len(summands) > self.limits.integrand:
            raise LimitReached("integrand", f"{self.what} has more than {self.limits.integrand} terms")
        if any(not h.coefficients and self.relaxed(h).constant <= 0 for h in system):
            return {}
        system = [h for h in dict.fromkeys(system) if h.coefficients]
        if not self.interiors.has_interior([self.relaxed(h) for h in system]):
            return {}
        free = {v for v in left & whole - {v for h in system for v, _ in h.coefficients} if self.is_free(v)}
        left = left - {v for v in free if all(not s.powers[v] and not s.slopes[v] for s in summands)}
        if not left:
            return self.finished(summands, system)
        v = min(left, key=lambda v: self.effort(v, system))
        total: Summands = {}
        unsplit = self.involved(v, system) & whole
        if unsplit:
            w = min(unsplit)
            for product, ends in self._pieces(w, summands):
                add_to(total, self.integral(product, [*system, *ends], left, whole - {w}))
            return total
        for inside, cell in self.cases(v, summands, system):
            add_to(total, self._eliminated(v, inside, cell, left - {v}, whole))
        return total

    def _pieces(self, v: int, summands: Summands) -> Iterator[tuple[Summands, list[Halfspace]]]:
        """Yield (summands', half-spaces) for each piece of the density of noise `v`.

        summands' is `summands` times the density on this piece, and the half-spaces bound the noise to the piece.
        """
        mean = self.noises[v].mean
        for piece in self.density(v):
            ends = []
            if piece.lower is not None:
                ends.append(self.closed(Halfspace(((v, Fraction(1)),), -mean - piece.lower)))
            if piece.upper is not None:
                ends.append(self.closed(Halfspace(((v, Fraction(-1)),), mean + piece.upper, strict=True)))
            product: Summands = {}
            for c, power, slope in piece.terms:
                factor = times_exponential(summands, v, c, slope, -slope * mean)
                for _ in range(power):
                    factor = times_affine(factor, {v: Fraction(1)}, -mean, self.power)
                add_to(product, factor)
            yield product, ends

    def _eliminated(
        self, v: int, summands: Summands, system: Sequence[Halfspace], left: frozenset[int], whole: frozenset[int]
    ) -> Summands:
        grown = self.antiderivative(summands, v)
        total: Summands = {}
        for place, facet in enumerate(system):
            here = facet.coefficient(v)
            if not here:
                continue
            slopes, constant = facet.solved_for(v)
            # A sum over integers starts at its lower bound, so F is taken one step before.
            boundary = substituted(grown, v, slopes, constant - (not self.power and here > 0), self.power)
            if here > 0:
                boundary = {s: -c for s, c in boundary.items()}
            shadow = []
            for other_place, other in enumerate(system):
                there = other.coefficient(v)
                if other is not facet and there:
                    # Of equal bounds the first counts.
                    loses = other_place < place and there == here
                    other = other.substituted(v, slopes, constant)
                    other = self.closed(replace(other, strict=True) if loses else other)
                if other is not facet:
                    shadow.append(other)
            add_to(total, self.integral(boundary, shadow, left, whole))
        return total

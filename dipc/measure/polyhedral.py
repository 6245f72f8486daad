"""Any linear constraints over continuous noises: one noise integrated out at a time over polyhedral cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import factorial
from typing import TYPE_CHECKING, TypeVar

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment
from dipc.algebra.quotient import Closed
from dipc.linear.halfspace import Halfspace
from dipc.linear.program import Interiors
from dipc.measure.event import Event, Noise
from dipc.measure.lattice import lattice_measure
from dipc.measure.value_tree import lattice_tree_measure, value_tree_measure

if TYPE_CHECKING:
    import networkx as nx


# --- The measure of any set of linear constraints over independent continuous noises, one noise at a time -------------
#
# On the scale X = eps·x the constraints are homogeneous in eps, so their combinatorics is the same for every eps > 0.
# Let F be an antiderivative of the integrand in X_v. The integral over X_v of the integrand on a polyhedron is the
# sum over the facets that bound X_v of ±F at the facet, on the facet's shadow: the polyhedron with X_v replaced by
# the facet's bound. Implied inequalities are removed first, exactly, so every facet's shadow has interior and none is
# counted twice. The two halves of a Laplace density are separate polyhedra.
#
# On each such shadow the integrand is at most a product of the densities still to come, so every integral converges.
# The cost grows with the number of flags of faces: this is the engine for what the fast paths leave over, and their
# oracle.

_T = TypeVar("_T")

#: (k, q, powers n_v, slopes l_v): eps^k·e^{q·eps}·Π X_v^{n_v}·e^{l_v·X_v}
Monomial = tuple[int, Fraction, tuple[int, ...], tuple[Fraction, ...]]
Integrand = dict[Monomial, Fraction]


def polyhedral_measure(event: Event, limits: Limits | None = None) -> ExpPoly:
    """Pr[every constraint of the event holds] for every eps > 0, exactly.

    Raises LimitReached past a limit, OutsideFragment where a density is not in pieces.
    """
    elimination = _Elimination(event.noises, limits or Limits())
    used = sorted({i for c in event.constraints for i, _ in c.coefficients})
    system = [Halfspace(c.coefficients, c.constant) for c in event.constraints]
    if any(not h.coefficients and h.constant < 0 for h in system):
        return ExpPoly.zero()
    system = [h for h in system if h.coefficients]
    width = len(event.noises)
    one: Integrand = {(0, Fraction(0), (0,) * width, (Fraction(0),) * width): Fraction(1)}
    terms = elimination.integral(one, system, frozenset(used), frozenset(used))
    return ExpPoly.from_terms((k, q, c) for (k, q, _, _), c in terms.items())


class _Elimination:
    def __init__(self, noises: tuple[Noise, ...], limits: Limits) -> None:
        self._noises = noises
        self._limits = limits
        self._feasibility = Interiors(limits.cells)

    def integral(
        self, integrand: Integrand, system: Sequence[Halfspace], left: frozenset[int], whole: frozenset[int]
    ) -> Integrand:
        """The integral over the variables `left`; the densities of those in `whole` are still to be multiplied in."""
        if not integrand:
            return {}
        if len(integrand) > self._limits.integrand:
            raise LimitReached("integrand", f"an integrand has more than {self._limits.integrand} terms")
        system = [h for h in dict.fromkeys(system) if h.coefficients or h.constant <= 0]
        if not self._feasibility.has_interior(system):
            return {}
        free = left & whole - {v for h in system for v, _ in h.coefficients}
        left = left - {v for v in free if all(not m[2][v] and not m[3][v] for m in integrand)}
        if not left:
            return integrand
        v = min(left, key=lambda v: (sum(1 for h in system if h.coefficient(v)), v))
        if v not in whole:
            return self._eliminated(v, integrand, self._feasibility.facets(system, v), left - {v}, whole)
        total: Integrand = {}
        for part, ends in self._pieces(v, integrand):
            _add(total, self.integral(part, [*system, *ends], left, whole - {v}))
        return total

    def _pieces(self, v: int, integrand: Integrand) -> Iterator[tuple[Integrand, list[Halfspace]]]:
        """The integrand times each piece of the density of noise v, with the ends of the piece."""
        noise = self._noises[v]
        for piece in noise.law.pieces(noise.rate):
            ends = []
            if piece.lower is not None:
                ends.append(Halfspace(((v, Fraction(1)),), -noise.mean - piece.lower))
            if piece.upper is not None:
                ends.append(Halfspace(((v, Fraction(-1)),), noise.mean + piece.upper))
            product: Integrand = {}
            for c, power, slope in piece.terms:
                factor = _times(integrand, v, c, slope, -slope * noise.mean)
                for _ in range(power):
                    factor = _times_affine(factor, {v: Fraction(1)}, -noise.mean)
                _add(product, factor)
            yield product, ends

    def _eliminated(
        self, v: int, integrand: Integrand, facets: Sequence[Halfspace], left: frozenset[int], whole: frozenset[int]
    ) -> Integrand:
        grown = _antiderivative(integrand, v)
        total: Integrand = {}
        for facet in facets:
            here = facet.coefficient(v)
            if not here:
                continue
            slopes, constant = facet.solved_for(v)
            sign = 1 if here < 0 else -1
            boundary = _substituted(grown, v, slopes, constant, sign)
            shadow = [h.substituted(v, slopes, constant) for h in facets if h is not facet]
            _add(total, self.integral(boundary, shadow, left, whole))
        return total


def _add(total: Integrand, more: Integrand) -> None:
    for monomial, c in more.items():
        value = total.get(monomial, Fraction(0)) + c
        if value:
            total[monomial] = value
        else:
            total.pop(monomial, None)


def _replaced(items: tuple[_T, ...], at: int, value: _T) -> tuple[_T, ...]:
    return (*items[:at], value, *items[at + 1 :])


def _times(integrand: Integrand, v: int, factor: Fraction, slope: Fraction, exponent: Fraction) -> Integrand:
    """integrand · factor·e^{slope·X_v + exponent·eps}."""
    return {
        (k, q + exponent, powers, _replaced(slopes, v, slopes[v] + slope)): c * factor
        for (k, q, powers, slopes), c in integrand.items()
    }


def _antiderivative(integrand: Integrand, v: int) -> Integrand:
    """In X_v, without a constant: it vanishes at ±∞ where the integrand decays."""
    grown: Integrand = {}
    for (k, q, powers, slopes), c in integrand.items():
        n, l = powers[v], slopes[v]
        if not l:
            _add(grown, {(k, q, _replaced(powers, v, n + 1), slopes): c / (n + 1)})
            continue
        for i in range(n + 1):
            factor = Fraction((-1) ** i * (factorial(n) // factorial(n - i))) / l ** (i + 1)
            _add(grown, {(k, q, _replaced(powers, v, n - i), slopes): c * factor})
    return grown


def _substituted(
    integrand: Integrand, v: int, slopes_of: dict[int, Fraction], constant: Fraction, sign: int
) -> Integrand:
    """sign · integrand with X_v := Σ slopes·X_w + eps·constant."""
    result: Integrand = {}
    for (k, q, powers, slopes), c in integrand.items():
        n, l = powers[v], slopes[v]
        moved = list(slopes)
        moved[v] = Fraction(0)
        for w, slope in slopes_of.items():
            moved[w] += l * slope
        base: Integrand = {(k, q + l * constant, _replaced(powers, v, 0), tuple(moved)): c * sign}
        for _ in range(n):
            base = _times_affine(base, slopes_of, constant)
        _add(result, base)
    return result


def _times_affine(integrand: Integrand, slopes_of: dict[int, Fraction], constant: Fraction) -> Integrand:
    result: Integrand = {}
    for (k, q, powers, slopes), c in integrand.items():
        if constant:
            _add(result, {(k + 1, q, powers, slopes): c * constant})
        for w, slope in slopes_of.items():
            _add(result, {(k, q, _replaced(powers, w, powers[w] + 1), slopes): c * slope})
    return result


# --- The measure of any linear event: which engine for which part -----------------------------------------------------
#
# Parts that share no constraint are independent. Each is measured by messages where it reduces to a forest of values,
# by elimination otherwise: integrals over reals, sums over integers. The elimination engines are complete, up to their
# limits.


def independent_parts(event: Event) -> list[Event]:
    """The event as a conjunction of independent ones, each over the noises of one connected set of constraints.

    Constraints without noises must have been removed. Noises are renumbered in each part.
    """
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    for c in event.constraints:
        first = c.coefficients[0][0]
        graph.add_edges_from((first, i) for i, _ in c.coefficients)
    parts = []
    for members in nx.connected_components(graph):
        place = {i: at for at, i in enumerate(sorted(members))}
        constraints = tuple(
            Halfspace(tuple((place[i], x) for i, x in c.coefficients), c.constant, c.strict)
            for c in event.constraints
            if c.coefficients[0][0] in place
        )
        parts.append(Event(tuple(event.noises[i] for i in place), constraints))
    return parts


def general_measure(part: Event, limits: Limits) -> Closed:
    """The measure of one connected part, exactly; raises LimitReached past a limit.

    Raises ValueError where a constraint mixes integer and real noises: the language does not let them meet.
    """
    if any(noise.law.whole for noise in part.noises):
        if not all(noise.law.whole for noise in part.noises):
            raise ValueError("integer and real noises share a constraint")
        try:
            measure = lattice_tree_measure(part, limits)
        except OutsideFragment:
            measure = lattice_measure(part, limits)
        return measure if (ring := measure.in_ring()) is None else ring
    try:
        return value_tree_measure(part, limits)
    except OutsideFragment:
        return polyhedral_measure(part, limits)

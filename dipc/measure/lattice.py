"""The measure of any set of linear constraints over independent integer noises, one noise at a time.

The discrete counterpart of `polyhedral`: the sum over x_v of a summand between its greatest lower and its least upper
bound is F(least upper) - F(greatest lower - 1) for an indefinite sum F; which bound is the one is settled by cases,
ties going to the first. Where a coefficient of x_v is not ±1, the other variables are split by residue classes first,
so that every bound is an integer wherever it is used. Both halves of a discrete Laplace are separate cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import gcd, lcm

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment, Undecided
from dipc.algebra.quotient import Quotient
from dipc.linear.halfspace import Halfspace
from dipc.linear.program import Interiors
from dipc.measure.event import Event, Family
from dipc.measure.geometric import Summand, Summands, add_to, closed_form, summed

_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Inequality:
    """Σ coefficient · x_variable + constant >= 0 over integers; coefficients coprime, nonzero, variables increasing."""

    coefficients: tuple[tuple[int, int], ...]
    constant: int

    def coefficient(self, variable: int) -> int:
        return next((c for v, c in self.coefficients if v == variable), 0)

    def relaxed(self) -> Halfspace:
        """A half-space whose interior holds the same integer points."""
        return Halfspace(tuple((v, Fraction(c)) for v, c in self.coefficients), Fraction(2 * self.constant + 1, 2))


def inequality(coefficients: dict[int, int], constant: int) -> Inequality:
    """The inequality over integers in its strongest form with coprime coefficients."""
    kept = sorted((v, c) for v, c in coefficients.items() if c)
    common = gcd(*(c for _, c in kept)) or 1
    return Inequality(tuple((v, c // common) for v, c in kept), constant // common)


def lattice_measure(event: Event, limits: Limits | None = None) -> Quotient:
    """Pr[every constraint of the event holds] for every eps > 0, exactly. All noises are discrete Laplace.

    Raises LimitReached past a limit.
    """
    return _Summation(event, limits or Limits()).total()


@dataclass(frozen=True, slots=True)
class LatticeTrend:
    """The measure of an event whose constants grow with an integer k, for every k from some one on: the sum of
    `summands`, in which k is the variable `place`, times (1 - e^{-d·eps})/(1 + e^{-d·eps}) for each of the `rates`."""

    summands: Summands
    place: int
    rates: tuple[Fraction, ...]


class Unsettled(Undecided):
    """The measure is another function of k for some k from the given one on; `enough` is one from which on this case is
    the same for all."""

    def __init__(self, enough: int) -> None:
        super().__init__("the probability is another function of the distance for small distances")
        self.enough = enough


def lattice_trend(event: Event, slopes: Sequence[Fraction], start: int, limits: Limits | None = None) -> LatticeTrend:
    """The measure of the event with k·slope added to each of its constraints, for all integers k >= start >= 0.

    All noises are discrete Laplace. Raises Unsettled for a `start` that is too small, LimitReached past a limit,
    OutsideFragment where it depends on k by residue classes.
    """
    return _Summation(event, limits or Limits()).trend(slopes, start)


class _Summation:
    def __init__(self, event: Event, limits: Limits) -> None:
        assert all(n.family is Family.DISCRETE_LAPLACE and n.mean.denominator == 1 for n in event.noises)
        self._event = event
        self._limits = limits
        self._feasibility = Interiors(limits.cells)
        #: The variable that is not summed over, from `_start` on.
        self._parameter: int | None = None
        self._start = 0

    def total(self) -> Quotient:
        system = self._system([_ZERO] * len(self._event.constraints))
        used = frozenset(v for c in system for v, _ in c.coefficients)
        result = closed_form(self._sum(self._one(), system, used, used))
        for v in used:
            decay = ExpPoly.term(1, 0, -self._event.noises[v].rate)
            result = result * Quotient(1 - decay, 1 + decay)
        return result

    def trend(self, slopes: Sequence[Fraction], start: int) -> LatticeTrend:
        self._parameter = place = len(self._event.noises)
        self._start = start
        system = self._system(slopes)
        used = frozenset(v for c in system for v, _ in c.coefficients) - {place}
        summands = self._sum(self._one(), [*system, inequality({place: 1}, -start)], used, used)
        return LatticeTrend(summands, place, tuple([self._event.noises[v].rate for v in sorted(used)]))

    def _one(self) -> Summands:
        width = len(self._event.noises) + 1
        return {Summand(_ZERO, (), (0,) * width, (_ZERO,) * width): Fraction(1)}

    def _system(self, slopes: Sequence[Fraction]) -> list[Inequality]:
        """The constraints over integers, with a multiple of the variable after the noises."""
        system = []
        for c, slope in zip(self._event.constraints, slopes, strict=True):
            terms = [*c.coefficients, (len(self._event.noises), slope)]
            whole = lcm(c.constant.denominator, *(x.denominator for _, x in terms))
            # Over integers, f > 0 is f - 1 >= 0 once all coefficients and the constant are integers.
            system.append(inequality({v: int(x * whole) for v, x in terms}, int(c.constant * whole) - c.strict))
        return system

    def _sum(
        self, summands: Summands, system: Sequence[Inequality], left: frozenset[int], whole: frozenset[int]
    ) -> Summands:
        """The sum over the variables `left`; the masses of those in `whole` are still to be multiplied in."""
        if len(summands) > self._limits.integrand:
            raise LimitReached("integrand", f"a sum has more than {self._limits.integrand} terms")
        if any(not h.coefficients and h.constant < 0 for h in system):
            return {}
        system = [h for h in dict.fromkeys(system) if h.coefficients]
        if not summands or not self._feasibility.has_interior([h.relaxed() for h in system]):
            return {}
        if not left:
            if self._parameter is not None:
                self._require_settled(system)
            return summands
        v = min(left, key=lambda v: self._effort(v, system))
        mixed = [h for h in system if abs(h.coefficient(v)) > 1]
        partners = {w for h in mixed for w, c in h.coefficients if w != v and c % h.coefficient(v)}
        if self._parameter in partners:
            raise OutsideFragment("the probability depends on the distance by residue classes")
        unsplit = (partners | {v}) & whole
        if unsplit:
            w = min(unsplit)
            total: Summands = {}
            for part, half in self._halves(w, summands):
                add_to(total, self._sum(part, [*system, half], left, whole - {w}))
            return total
        if not mixed:
            return self._eliminated(v, summands, system, left - {v}, whole)
        total = {}
        modulus = lcm(*(abs(h.coefficient(v)) for h in mixed))
        for part, classes in self._residues(sorted(partners), modulus, summands, system):
            add_to(total, self._eliminated(v, part, classes, left - {v}, whole))
        return total

    def _require_settled(self, system: Sequence[Inequality]) -> None:
        """What is left is about the parameter alone, and should hold of all its values, or of none."""
        for h in system:
            ((_, sign),) = h.coefficients
            if sign < 0:
                raise Unsettled(h.constant + 1)
            if h.constant < -self._start:
                raise Unsettled(-h.constant)

    @staticmethod
    def _effort(v: int, system: Sequence[Inequality]) -> tuple[int, int, int]:
        coefficients = [h.coefficient(v) for h in system]
        return max((abs(c) for c in coefficients), default=0), sum(1 for c in coefficients if c), v

    def _halves(self, v: int, summands: Summands) -> Iterator[tuple[Summands, Inequality]]:
        """The summands times each half of the mass of noise v (but for its constant factor), and where it holds."""
        noise = self._event.noises[v]
        rate, mean = noise.rate, int(noise.mean)
        for sign, edge in ((-1, inequality({v: 1}, -mean)), (1, inequality({v: -1}, mean - 1))):
            part = {
                Summand(
                    s.exponent - sign * rate * mean,
                    s.poles,
                    s.powers,
                    (*s.slopes[:v], s.slopes[v] + sign * rate, *s.slopes[v + 1 :]),
                ): c
                for s, c in summands.items()
            }
            yield part, edge

    def _residues(
        self, partners: Sequence[int], modulus: int, summands: Summands, system: Sequence[Inequality]
    ) -> Iterator[tuple[Summands, list[Inequality]]]:
        """The cases x_w = modulus·x_w' + residue for all partners w."""
        if modulus ** len(partners) > self._limits.classes:
            raise LimitReached("classes", f"a constraint needs more than {self._limits.classes} residue classes")
        for residues in product(range(modulus), repeat=len(partners)):
            part, classes = summands, list(system)
            for w, residue in zip(partners, residues, strict=True):
                part = _affine(part, w, {w: modulus}, residue)
                classes = [_substituted(h, w, {w: modulus}, residue) for h in classes]
            yield part, classes

    def _eliminated(
        self, v: int, summands: Summands, system: Sequence[Inequality], left: frozenset[int], whole: frozenset[int]
    ) -> Summands:
        bounds = [h for h in system if h.coefficient(v)]
        assert all(abs(h.coefficient(v)) == 1 for h in bounds)
        rest = [h for h in system if not h.coefficient(v)]
        grown = summed(summands, v)
        total: Summands = {}
        for at, bound in enumerate(bounds):
            here = bound.coefficient(v)
            slopes = {w: -here * c for w, c in bound.coefficients if w != v}
            constant = -here * bound.constant
            cases = list(rest)
            for other_at, other in enumerate(bounds):
                if other is bound:
                    continue
                # Subtract before the inequality is brought to lowest terms: its constant is rounded there.
                ties_lose = other_at < at and other.coefficient(v) == here
                cases.append(_substituted(other, v, slopes, constant, int(ties_lose)))
            # here = 1: the bound is a lower one, x_v >= ..., and the sum starts there.
            boundary = _affine(grown, v, slopes, constant - (here > 0))
            if here > 0:
                boundary = {s: -c for s, c in boundary.items()}
            add_to(total, self._sum(boundary, cases, left, whole))
        return total


def _substituted(h: Inequality, v: int, slopes: dict[int, int], constant: int, less: int = 0) -> Inequality:
    """The inequality Σ.. + constant - less >= 0 with x_v := Σ slopes·x_w + constant."""
    here = h.coefficient(v)
    if not here:
        assert not less
        return h
    total = {w: c for w, c in h.coefficients if w != v}
    for w, slope in slopes.items():
        total[w] = total.get(w, 0) + here * slope
    return inequality(total, h.constant + here * constant - less)


def _affine(summands: Summands, v: int, slopes: dict[int, int], constant: int) -> Summands:
    """The summands with x_v := Σ slopes·x_w + constant; v itself may be among the w."""
    result: Summands = {}
    for s, c in summands.items():
        n, slope = s.powers[v], s.slopes[v]
        moved = list(s.slopes)
        moved[v] = Fraction(0)
        for w, by in slopes.items():
            moved[w] += slope * by
        powers = list(s.powers)
        powers[v] = 0
        part = {Summand(s.exponent + slope * constant, s.poles, tuple(powers), tuple(moved)): c}
        for _ in range(n):
            part = _times_affine(part, slopes, constant)
        add_to(result, part)
    return result


def _times_affine(summands: Summands, slopes: dict[int, int], constant: int) -> Summands:
    result: Summands = {}
    for s, c in summands.items():
        if constant:
            add_to(result, {s: c * constant})
        for w, by in slopes.items():
            powers = (*s.powers[:w], s.powers[w] + 1, *s.powers[w + 1 :])
            add_to(result, {Summand(s.exponent, s.poles, powers, s.slopes): c * by})
    return result

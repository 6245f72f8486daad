"""Functions of eps and of distances U that are left open: Σ c · eps^k · e^{q·eps} · Π U^j · e^{r·U·eps}."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.sign import Fails, Holds, Interval, decide_nonnegative

#: Unknowns with the power j and the rate r of U^j·e^{r·U·eps}, in the order of the names; (0, 0) is left out.
Factors = tuple[tuple[str, int, Fraction], ...]

#: (k, q, the unknowns' factors) of one summand.
Monomial = tuple[int, Fraction, Factors]

#: Past so many summands nothing is multiplied out.
TERM_LIMIT = 400

#: Values of the unknowns at which a growing function is looked for.
_SAMPLES = (Fraction(0), Fraction(1), Fraction(1, 2), Fraction(5))


@dataclass(frozen=True, slots=True)
class Surface:
    """A function of eps > 0 and of the unknowns, numbers >= 0; no coefficient is 0."""

    terms: Mapping[Monomial, Fraction]

    @staticmethod
    def number(value: Fraction) -> Surface:
        return Surface({_UNIT: value} if value else {})

    @staticmethod
    def eps() -> Surface:
        return Surface({(1, Fraction(0), ()): Fraction(1)})

    @staticmethod
    def unknown(name: str) -> Surface:
        return Surface({(0, Fraction(0), ((name, 1, Fraction(0)),)): Fraction(1)})

    def unknowns(self) -> frozenset[str]:
        """The names of the unknowns that it depends on."""
        return frozenset(name for _, _, factors in self.terms for name, _, _ in factors)

    def __neg__(self) -> Surface:
        return Surface({key: -c for key, c in self.terms.items()})

    def __add__(self, other: Surface) -> Surface:
        total = dict(self.terms)
        for key, c in other.terms.items():
            total[key] = total.get(key, Fraction(0)) + c
        return Surface({key: c for key, c in total.items() if c})

    def __mul__(self, other: Surface) -> Surface | None:
        """The product; None if it is too long."""
        if len(self.terms) * len(other.terms) > TERM_LIMIT:
            return None
        total: dict[Monomial, Fraction] = {}
        for (left, a), (right, b) in product(self.terms.items(), other.terms.items()):
            key = (left[0] + right[0], left[1] + right[1], _merged(left[2], right[2]))
            total[key] = total.get(key, Fraction(0)) + a * b
        return Surface({key: c for key, c in total.items() if c})

    def inverse(self) -> Surface | None:
        """1/this where that is a surface: a number times exponentials; else None."""
        if len(self.terms) != 1:
            return None
        (((k, q, factors), c),) = self.terms.items()
        if k or any(j for _, j, _ in factors):
            return None
        return Surface({(0, -q, tuple((name, 0, -r) for name, _, r in factors)): 1 / c})

    def exponential(self) -> Surface | None:
        """exp of this where this is eps·(q + Σ r·U), else None."""
        rate = Fraction(0)
        rates: list[tuple[str, int, Fraction]] = []
        for (k, q, factors), c in self.terms.items():
            if k != 1 or q or len(factors) > 1 or any(r or j != 1 for _, j, r in factors):
                return None
            if factors:
                rates.append((factors[0][0], 0, c))
            else:
                rate = c
        return Surface({(0, rate, tuple(sorted(rates))): Fraction(1)})

    def only_eps(self) -> ExpPoly | None:
        """The function where it depends on no unknown."""
        if self.unknowns():
            return None
        return ExpPoly.from_terms((k, q, c) for (k, q, _), c in self.terms.items())

    # --- what is decided -----------------------------------------------------------------------------

    def nonnegative(self, intervals: Sequence[Interval]) -> bool:
        """True only if the function is >= 0 for all eps of the intervals and all unknowns >= 0."""
        if all(c > 0 for c in self.terms.values()):
            return True
        plain = self.only_eps()
        if plain is not None:
            return all(_holds(plain, interval) for interval in intervals)
        return any(
            all(_holds(part, Interval.positive()) for part in self._along(name).values()) for name in self.unknowns()
        )

    def falls(self, name: str) -> bool | Growth:
        """Whether the function never grows with the unknown `name`, whatever eps > 0 and the other unknowns are.

        True is proved. A Growth is a place where it does grow, proved as well. False says nothing.
        """
        parts = self._along(name)
        slopes = [part.derivative() for part in parts.values()]
        failed: list[Fraction] = []
        unknown = False
        for slope in slopes:
            try:
                decision = decide_nonnegative(-slope, Interval.positive())
            except Undecided:
                unknown = True
                continue
            if isinstance(decision, Fails):
                failed.append(decision.witness)
        if not failed and not unknown:
            return True
        if len(parts) == 1 and failed:
            return Growth(name, None, None, failed[0])
        return self._growth(name)

    def _along(self, name: str) -> dict[Monomial, ExpPoly]:
        """With t = U·eps, the function is Σ (a factor that is >= 0, free of t) · (its exponential polynomial in t)."""
        parts: dict[Monomial, list[tuple[int, Fraction, Fraction]]] = {}
        for (k, q, factors), c in self.terms.items():
            own = next(((j, r) for n, j, r in factors if n == name), (0, Fraction(0)))
            rest = (k - own[0], q, tuple(factor for factor in factors if factor[0] != name))
            parts.setdefault(rest, []).append((own[0], own[1], c))
        return {rest: ExpPoly.from_terms(terms) for rest, terms in parts.items()}

    def _growth(self, name: str) -> bool | Growth:
        """A Growth at one of a few values of the unknowns; False if there is none."""
        others = sorted(self.unknowns() - {name})
        for values in product(_SAMPLES, repeat=1 + min(len(others), 2)):
            at = dict(zip([name, *others], values, strict=False))
            at = {other: at.get(other, Fraction(1)) for other in (name, *others)}
            try:
                decision = decide_nonnegative(-self._slope(name, at), Interval.positive())
            except Undecided:
                continue
            if isinstance(decision, Fails):
                return Growth(name, at[name], decision.witness, None)
        return False

    def _slope(self, name: str, at: Mapping[str, Fraction]) -> ExpPoly:
        """The derivative by `name` at these values of all unknowns, as a function of eps."""
        terms: list[tuple[int, Fraction, Fraction]] = []
        for (k, q, factors), c in self.terms.items():
            scale, rate = c, q
            own = (0, Fraction(0))
            for other, j, r in factors:
                rate += r * at[other]
                if other == name:
                    own = (j, r)
                else:
                    scale *= at[other] ** j
            j, r = own
            if j:
                terms.append((k, rate, scale * j * at[name] ** (j - 1)))
            if r:
                terms.append((k + 1, rate, scale * r * at[name] ** j))
        return ExpPoly.from_terms(terms)


@dataclass(frozen=True, slots=True)
class Growth:
    """Where a function grows with the unknown `name`: at this value and eps or, if only that is known, where value·eps
    is `product`."""

    name: str
    value: Fraction | None
    eps: Fraction | None
    product: Fraction | None

    def __str__(self) -> str:
        if self.product is not None:
            return f"where {self.name}*eps = {self.product}"
        return f"at {self.name} = {self.value}, eps = {self.eps}"


_UNIT: Monomial = (0, Fraction(0), ())


def _merged(left: Factors, right: Factors) -> Factors:
    total = {name: (j, r) for name, j, r in left}
    for name, j, r in right:
        before = total.get(name, (0, Fraction(0)))
        total[name] = (before[0] + j, before[1] + r)
    return tuple(sorted((name, j, r) for name, (j, r) in total.items() if j or r))


def _holds(function: ExpPoly, interval: Interval) -> bool:
    try:
        return isinstance(decide_nonnegative(function, interval), Holds)
    except Undecided:
        return False

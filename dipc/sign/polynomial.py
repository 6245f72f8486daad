"""Integer polynomials F(t, z) read as functions t -> F(t, e^{-t}) of t > 0."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dipc.sign.exponential import EXP_ERROR, exp_minus


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Σ c·t^k·z^j as triples (j, k, c), sorted, with c a nonzero integer and no (j, k) twice; never zero.

    Neither t nor z nor an integer above 1 divides it: some j is 0 and some k is 0. As a function it is
    t -> Σ c·t^k·e^{-j·t}.
    """

    terms: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, terms: Iterable[tuple[int, int, int]]) -> Polynomial:
        """Of triples in any order, no (j, k) twice."""
        ordered = tuple(sorted(terms))
        assert ordered
        assert ordered[0][0] == 0
        assert min(k for _, k, _ in ordered) == 0
        return cls(ordered)

    @property
    def degree_t(self) -> int:
        """Degree in t."""
        return max(k for _, k, _ in self.terms)

    @property
    def degree_z(self) -> int:
        """Degree in z."""
        return self.terms[-1][0]

    def __str__(self) -> str:
        return " + ".join(f"{c}*t^{k}*exp(-{j}*t)" for j, k, c in self.terms)


#: Exponent gaps up to this are reached by multiplying; larger ones by an exponential of their own.
_SMALL_GAP = 16


class Layout:
    """A polynomial arranged for repeated evaluation.

    `exponents`: the distinct j, increasing from 0. `columns[k]`: for the terms with t^k, the positions of their
    exponents and their coefficients. `norms[k]`: the sum of the absolute values of the coefficients with t^k.
    """

    __slots__ = (
        "coefficient_bits",
        "columns",
        "count",
        "degree",
        "exponents",
        "gaps",
        "norms",
        "polynomial",
        "power_errors",
    )

    def __init__(self, polynomial: Polynomial) -> None:
        self.polynomial = polynomial
        self.exponents = sorted({j for j, _, _ in polynomial.terms})
        position = {j: i for i, j in enumerate(self.exponents)}
        self.degree = polynomial.degree_t
        self.columns: list[tuple[list[int], list[int]]] = [([], []) for _ in range(self.degree + 1)]
        for j, k, c in polynomial.terms:
            positions, coefficients = self.columns[k]
            positions.append(position[j])
            coefficients.append(c)
        self.norms = [sum(map(abs, coefficients)) for _, coefficients in self.columns]
        self.coefficient_bits = [
            max((abs(c).bit_length() for c in coefficients), default=0) for _, coefficients in self.columns
        ]
        self.count = len(polynomial.terms)
        self.gaps = [b - a for a, b in zip(self.exponents, self.exponents[1:], strict=False)]
        self.power_errors = self._bound_power_errors()

    def _bound_power_errors(self) -> list[int]:
        errors = [0]
        for gap in self.gaps:
            # A product of numbers in [0, 1] adds their errors, and two units for their product and the rounding.
            gap_error = gap * (EXP_ERROR + 2) if gap <= _SMALL_GAP else EXP_ERROR
            errors.append(errors[-1] + gap_error + 2)
        return errors

    def powers(self, numerator: int, denominator: int, bits: int, count: int) -> list[int]:
        """Integers Z_i, i < count, with |Z_i - 2^bits·e^{-exponents[i]·t}| <= power_errors[i] at t = the fraction.

        Needs bits >= 64 and power errors below 2^31, which holds below 10^7 terms.
        """
        steps: dict[int, int] = {}
        value = 1 << bits
        result = [value]
        for gap in self.gaps[: count - 1]:
            step = steps.get(gap)
            if step is None:
                step = _step(gap, numerator, denominator, bits, steps)
            value = value * step >> bits
            result.append(value)
        return result

    def size_bits(self, numerator: int, denominator: int) -> int:
        """Some n with Σ |c|·t^k <= 2^n at t = numerator/denominator > 0."""
        total = 0
        power = 1
        for norm in reversed(self.norms):
            total = total * numerator + norm * power
            power *= denominator
        # Now total / denominator^degree is the sum.
        return (total * denominator // power + 1).bit_length()


def _step(gap: int, numerator: int, denominator: int, bits: int, steps: dict[int, int]) -> int:
    known = steps.get(gap)
    if known is None:
        if gap == 1 or gap > _SMALL_GAP:
            known = exp_minus(gap * numerator, denominator, bits)
        else:
            half = gap // 2
            left = _step(half, numerator, denominator, bits, steps)
            right = _step(gap - half, numerator, denominator, bits, steps)
            known = left * right >> bits
        steps[gap] = known
    return known

"""How much work a sign decision may do before it gives up honestly."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dipc.algebra.limits import LimitReached


@dataclass(frozen=True, slots=True)
class SignLimits:
    """Bounds on one decision; past one of them `LimitReached` is raised, never an answer given."""

    max_intervals: int = 20_000
    """Taylor models, subdivisions of them and root refinements together."""
    max_precision_bits: int = 32_000
    """Bits of a fixed-point number, and twice the bits of an exact one."""
    max_degree: int = 20_000
    """Degree up to which a polynomial is tested for multiple roots and split into square-free parts."""
    max_power: int = 500
    """Power of eps up to which a function is looked at: every Taylor model has as many columns."""
    max_taylor_terms: int = 20_000
    """Taylor coefficients at 0 looked at to find the order of vanishing there."""


class Budget:
    """What is left of the limits during one decision."""

    __slots__ = ("intervals", "limits")

    def __init__(self, limits: SignLimits) -> None:
        self.limits = limits
        self.intervals = limits.max_intervals

    def with_bits(self, bits: int) -> Budget:
        """A budget of its own with what is left of this one, and no more than this many bits."""
        limits = self.limits
        return Budget(
            replace(
                limits,
                max_precision_bits=min(bits, limits.max_precision_bits),
                max_intervals=min(max(self.intervals, 0), limits.max_intervals),
            )
        )

    def spend_interval(self) -> None:
        """Count one interval looked at."""
        self.intervals -= 1
        if self.intervals < 0:
            raise LimitReached(
                "sign.max_intervals",
                f"the sign was not settled within {self.limits.max_intervals} subdivisions of the interval of eps",
            )

    def check_bits(self, bits: int) -> None:
        """Refuse to compute with more than the permitted number of bits."""
        if bits > self.limits.max_precision_bits:
            raise LimitReached(
                "sign.max_precision_bits",
                f"the sign was not settled with numbers of {self.limits.max_precision_bits} bits: "
                "there are roots very close to each other, or one of even multiplicity",
            )

    def check_degree(self, degree: int) -> None:
        """Refuse to factor a polynomial of too high degree."""
        if degree > self.limits.max_degree:
            raise LimitReached(
                "sign.max_degree",
                f"a polynomial to be split into square-free parts has degree {degree}, more than "
                f"{self.limits.max_degree}",
            )

    def check_power(self, power: int) -> None:
        """Refuse a function with too high a power of eps."""
        if power > self.limits.max_power:
            raise LimitReached(
                "sign.max_power",
                f"the sign of a function with eps^{power} was asked for, more than eps^{self.limits.max_power}",
            )

    def check_taylor_terms(self, terms: int) -> None:
        """Refuse to look at too many Taylor coefficients at 0."""
        if terms > self.limits.max_taylor_terms:
            raise LimitReached(
                "sign.max_taylor_terms",
                f"the first {self.limits.max_taylor_terms} Taylor coefficients at 0 vanish",
            )

"""How much work a sign decision may do before it gives up honestly."""

from __future__ import annotations

from dataclasses import replace

from dipc.algebra.limits import LimitReached, Limits

#: Powers of a Taylor model times their bits that go into one interval looked at. Most take far fewer.
_WORK_OF_ONE = 3_000


class Budget:
    """What is left of the limits during one decision."""

    __slots__ = ("intervals", "limits")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.intervals = limits.intervals

    def with_bits(self, bits: int) -> Budget:
        """A budget of its own with what is left of this one, and no more than this many bits."""
        limits = self.limits
        return Budget(
            replace(
                limits,
                bits=min(bits, limits.bits),
                intervals=min(max(self.intervals, 0), limits.intervals),
            )
        )

    def spend_interval(self, work: int = 0) -> None:
        """Count one interval looked at; as several, where that takes more than the `work` of one."""
        self.intervals -= 1 + work // _WORK_OF_ONE
        if self.intervals < 0:
            raise LimitReached(
                "intervals",
                f"the sign was not settled within {self.limits.intervals} subdivisions of the interval of eps",
            )

    def check_bits(self, bits: int) -> None:
        """Refuse to compute with more than the permitted number of bits."""
        if bits > self.limits.bits:
            raise LimitReached(
                "bits",
                f"the sign was not settled with numbers of {self.limits.bits} bits: "
                "there are roots very close to each other, or one of even multiplicity",
            )

    def check_degree(self, degree: int) -> None:
        """Refuse to factor a polynomial of too high degree."""
        if degree > self.limits.degree:
            raise LimitReached(
                "degree",
                f"a polynomial to be split into square-free parts has degree {degree}, more than {self.limits.degree}",
            )

    def check_power(self, power: int) -> None:
        """Refuse a function with too high a power of eps."""
        if power > self.limits.power:
            raise LimitReached(
                "power",
                f"the sign of a function with eps^{power} was asked for, more than eps^{self.limits.power}",
            )

    def check_taylor_terms(self, terms: int) -> None:
        """Refuse to look at too many Taylor coefficients at 0."""
        if terms > self.limits.order:
            raise LimitReached(
                "order",
                f"the first {self.limits.order} Taylor coefficients at 0 vanish",
            )

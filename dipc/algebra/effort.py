"""How much work one closed form may take: deterministic limits, so that a verdict does not depend on the machine."""

from __future__ import annotations

from dataclasses import dataclass

from dipc.algebra.limits import LimitReached, Limits

_WORD = 64
#: A term takes about as much room as so many bits of its coefficient.
_TERM_BITS = 256


def weight(bits: int) -> int:
    """For how many terms one with a coefficient of so many bits counts."""
    return 1 + bits // _TERM_BITS


@dataclass(slots=True)
class Meter:
    """Counts the work on one function, against the limits `terms` and `steps`.

    A term whose coefficient or exponents are long counts for several; a step is a multiplication of machine words, of
    which a second has a hundred million or so. Every method raises LimitReached past the limit, before the work if it
    can.
    """

    limits: Limits
    steps: int = 0

    def product(self, left: int, right: int, left_bits: int, right_bits: int) -> None:
        """Count a product of so many terms each, with coefficients of so many bits."""
        self.spend(4 * left * right * (1 + left_bits // _WORD) * (1 + right_bits // _WORD))

    def expansion(self, terms: int, bits: int, each: int = 1000) -> None:
        """Count the making of so many terms one by one, with coefficients of so many bits: `each` is for short ones."""
        self.spend(terms * (each + bits // 4))
        self.size(terms * weight(bits))

    def room(self, terms: int) -> None:
        """Look at a bound on the size of a function that is yet to be made and may turn out smaller."""
        self.size(terms // 4)

    def size(self, terms: int) -> None:
        """Look at the size of a function."""
        if terms > self.limits.terms:
            raise self._too_many_terms()

    def spend(self, steps: int) -> None:
        """Count so many steps."""
        self.steps += steps
        if self.steps > self.limits.steps:
            raise LimitReached(
                "steps",
                f"the closed form takes more than {self.limits.steps} elementary steps; its expansion was stopped",
            )

    def _too_many_terms(self) -> LimitReached:
        return LimitReached(
            "terms",
            f"the closed form has more than {self.limits.terms} terms; its expansion was stopped",
        )

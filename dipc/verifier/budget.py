"""How much work one certificate may cause before it is rejected: a hostile one must not stall its reader."""

from __future__ import annotations

from dipc.verifier.rejection import Rejected

#: Steps of about a microsecond each.
STEPS = 10_000_000

#: Bits of any number that is computed with.
BITS = 400_000


class Budget:
    """What is left of the permitted work."""

    __slots__ = ("left", "steps")

    def __init__(self, steps: int = STEPS) -> None:
        self.steps = steps
        self.left = steps

    def spend(self, operations: int, step: str, bits: int = 0) -> None:
        """Count so many operations on numbers of so many bits; raises Rejected, naming the step, past the budget."""
        if bits > BITS:
            raise Rejected(step, f"it takes numbers of {bits} bits, more than {BITS}")
        # Products of long numbers cost about in proportion to the square of their length, with a small constant.
        self.left -= operations * (1 + bits // 256 + (bits * bits >> 22))
        if self.left < 0:
            raise Rejected(step, f"checking takes more than the {self.steps} steps that are permitted")

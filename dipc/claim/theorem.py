"""Which theorem of section 6 of the paper makes single obligations say more than they do by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of a theorem: whether it was proved to hold, and the reason or what is known instead."""

    name: str
    holds: bool
    why: str

    def as_json(self) -> dict[str, Any]:
        """The JSON object."""
        return {"condition": self.name, "holds": self.holds, "why": self.why}


@dataclass(frozen=True, slots=True)
class Theorem:
    """What all obligations together decide, and by which theorem; `name` None where its conditions do not hold.

    `decides` completes the sentence "the verdict is for …".
    """

    name: str | None
    decides: str
    conditions: tuple[Condition, ...]

    @property
    def failed(self) -> Condition | None:
        """The first condition that was not proved."""
        return next((condition for condition in self.conditions if not condition.holds), None)

    def as_json(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "name": self.name,
            "decides": self.decides,
            "conditions": [condition.as_json() for condition in self.conditions],
        }

    def __str__(self) -> str:
        if self.name is not None:
            return f"{self.name}: for {self.decides}, as {self.conditions[0].why}"
        failed = self.failed
        assert failed is not None
        return f"only for {self.decides}: {failed.why}"

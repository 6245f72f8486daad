"""The target of a statement, resolved."""

from __future__ import annotations

from dataclasses import dataclass

from dipc.lang.core import Target, Type


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement writes; `type` None when the statement cannot write there, which has been reported."""

    target: Target
    type: Type | None

"""Measures as certificates write them, made from the engine's events."""

from __future__ import annotations

from typing import Any

from dipc.algebra.exppoly import Closed
from dipc.certificate.data import closed_data
from dipc.measure.event import Event
from dipc.verifier.measures import Allowance, NotReplayed, Replayed, replay_measure
from dipc.verifier.reading import Budget


def record(event: Event, value: Closed) -> dict[str, Any]:
    """The event as it is: not moved, not renumbered."""
    return {
        "noises": [[n.law.checker_name, str(n.rate), str(n.mean)] for n in event.noises],
        "constraints": [[[[i, str(x)] for i, x in c.coefficients], str(c.constant)] for c in event.constraints],
        "value": closed_data(value),
    }


def replayed(data: dict[str, Any], steps: int = 20_000_000) -> Replayed | NotReplayed:
    return replay_measure(data, Budget(steps), Allowance(), "measure 1")

"""Measures as certificates write them, made from the engine's events."""

from __future__ import annotations

from typing import Any

from dipc.algebra.exppoly import Closed
from dipc.certificate.data import closed_data
from dipc.measure.event import Event
from dipc.verifier.functions import equal_closed, read_closed
from dipc.verifier.measures import measure_anew
from dipc.verifier.noise import Event as Read
from dipc.verifier.noise import read_event
from dipc.verifier.reading import Budget


def record(event: Event, value: Closed) -> dict[str, Any]:
    """The event as it is: not moved, not renumbered."""
    return {
        "noises": [[n.law.checker_name, str(n.rate), str(n.mean)] for n in event.noises],
        "constraints": [[[[i, str(x)] for i, x in c.coefficients], str(c.constant)] for c in event.constraints],
        "value": closed_data(value),
    }


def read(data: dict[str, Any]) -> Read:
    return read_event({name: data[name] for name in ("noises", "constraints")})


def same(data: dict[str, Any], steps: int = 20_000_000) -> bool | str:
    """Whether the checker finds this value of the event; why it finds none. Raises Rejected, Exhausted."""
    budget = Budget(steps)
    value = read_closed(data["value"])
    found = measure_anew(read(data), budget)
    return found if isinstance(found, str) else equal_closed(found, value, budget)

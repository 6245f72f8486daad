"""The engine's events as the checker measures them."""

from __future__ import annotations

from typing import Any

from dipc.algebra.exppoly import Closed
from dipc.certificate.data import closed_data
from dipc.measure.event import Event
from dipc.verifier.functions import equal_closed, read_closed
from dipc.verifier.measures import Halfspace, measure_anew
from dipc.verifier.noise import Family, Law
from dipc.verifier.reading import Budget, rational


def record(event: Event, value: Closed) -> dict[str, Any]:
    """The event as data, neither moved nor renumbered, with `value` as its probability."""
    return {
        "noises": [[n.law.checker_name, str(n.rate), str(n.mean)] for n in event.noises],
        "constraints": [[[[i, str(x)] for i, x in c.coefficients], str(c.constant)] for c in event.constraints],
        "value": closed_data(value),
    }


def read(data: dict[str, Any]) -> tuple[list[Law], list[Halfspace]]:
    """The laws of the noises, and the half-spaces of the centered noises."""
    means = [rational(mean) for _, _, mean in data["noises"]]
    halfspaces: list[Halfspace] = []
    for coefficients, constant in data["constraints"]:
        form = [(i, rational(c)) for i, c in coefficients if c != "0"]
        halfspaces.append((form, sum((c * means[i] for i, c in form), rational(constant))))
    return [(Family(family), rational(rate)) for family, rate, _ in data["noises"]], halfspaces


def same(data: dict[str, Any], steps: int = 20_000_000) -> bool | str:
    """Whether the checker finds this probability for the event. Raises Rejected, Exhausted."""
    budget = Budget(steps)
    value = read_closed(data["value"])
    found = measure_anew(*read(data), budget)
    return found if isinstance(found, str) else equal_closed(found, value, budget)

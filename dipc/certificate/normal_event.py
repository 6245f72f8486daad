"""Events in a form that many rows share: translated, stretched and renumbered, without a change of their measure.

Every noise is moved to the mean 0, every constraint is divided by the size of its first coefficient, and noises are
numbered by what is said of them. Noises that look alike even so keep their order: then equal measures may be written
twice, which costs room but is not wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dipc.exact.event import Constraint, Event, Family, Noise
from dipc.verifier import events

#: The names of the families in a certificate.
NAMES = {Family.LAPLACE: "laplace", Family.ONE_SIDED: "one-sided", Family.DISCRETE_LAPLACE: "discrete-laplace"}

#: How often the numbering is refined by what neighbors are like.
_ROUNDS = 3

#: ((noise, coefficient), ...) and the constant.
_Row = tuple[tuple[tuple[int, Fraction], ...], Fraction]

#: Families and rates of the noises, which have the mean 0, and the constraints.
NormalEvent = tuple[tuple[tuple[str, Fraction], ...], tuple[_Row, ...]]


class EventShape:
    """All of an event but its means and constants, worked out once."""

    def __init__(self, event: Event) -> None:
        assert not any(c.strict for c in event.constraints), (
            "integers are compared by >= and continuous noise either way"
        )
        self._laws = [(NAMES[noise.family], noise.rate) for noise in event.noises]
        self._rows = [c.coefficients for c in event.constraints]

    def constants(self, event: Event) -> tuple[Fraction, ...]:
        """The constants of the constraints on noises that are moved to the mean 0, for an event of this shape."""
        noises = event.noises
        found = []
        for constraint in event.constraints:
            total = constraint.constant
            for i, c in constraint.coefficients:
                mean = noises[i].mean
                if mean:
                    total = total + mean if c == 1 else total - mean if c == -1 else total + c * mean
            found.append(total)
        return tuple(found)

    def normal(self, constants: tuple[Fraction, ...]) -> NormalEvent:
        """The event of this shape with these `constants`; equal ones are written once."""
        rows = list(zip(self._rows, constants, strict=True))
        place = _numbering(self._laws, rows)
        found: dict[tuple[tuple[int, Fraction], ...], Fraction] = {}
        for coefficients, constant in rows:
            moved = sorted((place[i], c) for i, c in coefficients)
            size = abs(moved[0][1]) if moved else Fraction(1)
            if size != 1:
                moved, constant = [(i, c / size) for i, c in moved], constant / size
            key = tuple(moved)
            # Of two constraints that differ in the constant only, the stronger one says it all.
            found[key] = min(found.get(key, constant), constant)
        noises = sorted((place[i], law) for i, law in enumerate(self._laws))
        return tuple(law for _, law in noises), tuple(sorted(found.items()))


def event_data(event: NormalEvent) -> dict[str, Any]:
    """The event as `dipc.verifier.events` reads it."""
    noises, constraints = event
    return {
        "noises": [[family, str(rate), "0"] for family, rate in noises],
        "constraints": [
            [[[i, str(c)] for i, c in coefficients], str(constant)] for coefficients, constant in constraints
        ],
    }


def exact_event(event: NormalEvent) -> Event:
    """The event itself."""
    families = {name: family for family, name in NAMES.items()}
    noises, constraints = event
    return Event(
        tuple(Noise(families[family], rate, Fraction(0)) for family, rate in noises),
        tuple(Constraint(coefficients, constant) for coefficients, constant in constraints),
    )


def read_back(event: NormalEvent) -> events.Event:
    """What `dipc.verifier.events` reads where `event_data` was written."""
    noises, constraints = event
    return events.Event(
        tuple(events.Noise(events.Family(family), rate, Fraction(0)) for family, rate in noises),
        tuple(events.Constraint(dict(coefficients), constant) for coefficients, constant in constraints),
    )


def _numbering(laws: Sequence[tuple[str, Fraction]], rows: Sequence[_Row]) -> list[int]:
    """New numbers 0, 1, ... of the noises: by law, then by the constraints they are in."""
    colors = _ranks(laws)
    lines: list[list[tuple[tuple[Fraction, Fraction], list[tuple[int, Fraction]]]]] = [[] for _ in laws]
    for coefficients, constant in rows:
        for i, c in coefficients:
            lines[i].append(((c, constant), [(j, d) for j, d in coefficients if j != i]))
    for _ in range(_ROUNDS):
        if len(set(colors)) == len(colors):
            break
        refined = _ranks(
            [
                (color, sorted((own, sorted((colors[j], d) for j, d in others)) for own, others in said))
                for color, said in zip(colors, lines, strict=True)
            ]
        )
        if refined == colors:
            break
        colors = refined
    order = sorted(range(len(laws)), key=lambda i: (colors[i], i))
    place = [0] * len(laws)
    for at, i in enumerate(order):
        place[i] = at
    return place


def _ranks(keys: Sequence[Any]) -> list[int]:
    """The place of each key among all different ones."""
    result = [0] * len(keys)
    order = sorted(range(len(keys)), key=lambda i: keys[i])
    rank = -1
    for at, i in enumerate(order):
        if not at or keys[i] != keys[order[at - 1]]:
            rank += 1
        result[i] = rank
    return result

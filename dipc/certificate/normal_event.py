"""Events in a form that many rows share: translated, stretched and renumbered, without a change of their measure.

Every noise is moved to the mean 0, every constraint is divided by the size of its first coefficient, and noises are
numbered by what is said of them. Noises that look alike even so keep their order: then equal measures may be written
twice, which costs space but is not wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Family, Noise
from dipc.verifier import events

#: The names of the families in a certificate.
NAMES = {Family.LAPLACE: "laplace", Family.ONE_SIDED: "one-sided", Family.DISCRETE_LAPLACE: "discrete-laplace"}

#: How often the numbering is refined by the numbers of neighbors.
_ROUNDS = 3

#: A rational as numerator and denominator: it costs little to compare.
_Ratio = tuple[int, int]

#: Families and rates of the noises, which have the mean 0, and the constraints: ((noise, coefficient), ...), constant.
NormalEvent = tuple[tuple[tuple[str, _Ratio], ...], tuple[tuple[tuple[tuple[int, _Ratio], ...], _Ratio], ...]]


class EventShape:
    """All of an event but its means and constants, worked out once."""

    def __init__(self, event: Event) -> None:
        assert not any(c.strict for c in event.constraints), (
            "integers are compared by >= and continuous noise either way"
        )
        self._laws = [(NAMES[noise.family], noise.rate.as_integer_ratio()) for noise in event.noises]
        self._colors = _ranks(self._laws)
        self._values = sorted({c for constraint in event.constraints for _, c in constraint.coefficients})
        rank = {c: at for at, c in enumerate(self._values)}
        #: Coefficients by rank; and for each noise the constraints it is in, its coefficient there, and the others.
        self._rows = [[(i, rank[c]) for i, c in constraint.coefficients] for constraint in event.constraints]
        self._lines: list[list[tuple[int, int, list[tuple[int, int]]]]] = [[] for _ in self._laws]
        for row, coefficients in enumerate(self._rows):
            for i, c in coefficients:
                self._lines[i].append((row, c, [(j, d) for j, d in coefficients if j != i]))

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
        whole = lcm(*[constant.denominator for constant in constants])
        place = self._numbering([constant.numerator * (whole // constant.denominator) for constant in constants])
        found: dict[tuple[tuple[int, _Ratio], ...], Fraction] = {}
        for coefficients, constant in zip(self._rows, constants, strict=True):
            moved = [(i, self._values[c]) for i, c in sorted((place[i], c) for i, c in coefficients)]
            size = abs(moved[0][1]) if moved else Fraction(1)
            if size != 1:
                moved, constant = [(i, c / size) for i, c in moved], constant / size
            key = tuple((i, c.as_integer_ratio()) for i, c in moved)
            # Of two constraints that differ in the constant only, the stronger one says it all.
            known = found.get(key)
            if known is None or constant < known:
                found[key] = constant
        noises = sorted((place[i], law) for i, law in enumerate(self._laws))
        rows = tuple((key, constant.as_integer_ratio()) for key, constant in sorted(found.items()))
        return tuple(law for _, law in noises), rows

    def _numbering(self, constants: Sequence[int]) -> list[int]:
        """New numbers 0, 1, ... of the noises: by law, then by the constraints they are in, with these constants."""
        colors = self._colors
        for _ in range(_ROUNDS):
            if len(set(colors)) == len(colors):
                break
            refined = _ranks(
                [
                    (
                        color,
                        sorted(
                            (c, constants[row], sorted((colors[j], d) for j, d in others)) for row, c, others in said
                        ),
                    )
                    for color, said in zip(colors, self._lines, strict=True)
                ]
            )
            if refined == colors:
                break
            colors = refined
        place = [0] * len(colors)
        for at, i in enumerate(sorted(range(len(colors)), key=lambda i: (colors[i], i))):
            place[i] = at
        return place


def event_data(event: NormalEvent) -> dict[str, Any]:
    """The event as `dipc.verifier.events` reads it."""
    noises, constraints = event
    return {
        "noises": [[family, _text(rate), "0"] for family, rate in noises],
        "constraints": [
            [[[i, _text(c)] for i, c in coefficients], _text(constant)] for coefficients, constant in constraints
        ],
    }


def exact_event(event: NormalEvent) -> Event:
    """The event itself."""
    families = {name: family for family, name in NAMES.items()}
    noises, constraints = event
    return Event(
        tuple(Noise(families[family], Fraction(*rate), Fraction(0)) for family, rate in noises),
        tuple(
            Halfspace(tuple((i, Fraction(*c)) for i, c in coefficients), Fraction(*constant))
            for coefficients, constant in constraints
        ),
    )


def read_back(event: NormalEvent) -> events.Event:
    """What `dipc.verifier.events` reads where `event_data` was written."""
    noises, constraints = event
    return events.Event(
        tuple(events.Noise(events.Family(family), Fraction(*rate), Fraction(0)) for family, rate in noises),
        tuple(
            events.Constraint({i: Fraction(*c) for i, c in coefficients}, Fraction(*constant))
            for coefficients, constant in constraints
        ),
    )


def _text(ratio: _Ratio) -> str:
    above, below = ratio
    return str(above) if below == 1 else f"{above}/{below}"


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

"""The probability of an answer, derived from the text of a program and nothing else.

    derived = Probabilities(machine)
    derived.of(inputs, outputs, gamma, budget) -> Closed      raises NotDerived

It is the sum over the exits of the total weight of the ways there, times the probability of their half-spaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod

from dipc.verifier.budget import Budget
from dipc.verifier.constraints import Constraints, NoiseHalfspace
from dipc.verifier.events import Constraint, Event, Family, Noise
from dipc.verifier.execution import Execution, Wanted
from dipc.verifier.measure import measure_anew
from dipc.verifier.program import Machine, Value
from dipc.verifier.rejection import NotDerived
from dipc.verifier.ring import ONE, Closed, add_closed, multiply_closed
from dipc.verifier.visits import visits

#: The most answers whose distances are looked up.
MOST_ANSWERS = 2_000

#: Laws and half-spaces of noises that hang together, the noises numbered anew.
_Key = tuple[tuple[tuple[Family, Fraction], ...], tuple[tuple[tuple[tuple[int, int], ...], Fraction], ...]]


@dataclass
class Probabilities:
    """Probabilities of one program; equal integrals are computed once."""

    machine: Machine
    _measures: dict[_Key, Closed | str] = field(default_factory=dict)

    def of(self, inputs: Mapping[int, Value], outputs: Mapping[int, Value], gamma: Fraction, budget: Budget) -> Closed:
        """The probability that all these outputs, by slot, are as given, up to gamma. Raises NotDerived."""
        total: Closed = {}, ONE
        for answer in self._near(inputs, outputs, gamma, budget):
            total = add_closed(total, self._of(inputs, answer, gamma, budget), budget, "answers")
        return total

    def _near(
        self, inputs: Mapping[int, Value], outputs: Mapping[int, Value], gamma: Fraction, budget: Budget
    ) -> Iterator[Mapping[int, Value]]:
        """The answers whose probabilities add up: by the product distance, where numbers may be off by gamma, the one
        given; else all that are within gamma of it."""
        if self.is_plain():
            yield outputs
            return
        for answer, found in self._answers(inputs, outputs, budget):
            if found is not None and found <= gamma:
                yield answer

    def is_steady(
        self,
        inputs: Mapping[int, Value],
        outputs: Mapping[int, Value],
        low: Fraction,
        high: Fraction | None,
        budget: Budget,
    ) -> bool:
        """Whether the answers within gamma of the given one are the same for all low <= gamma < high (None: infinity).
        Raises NotDerived."""
        slots = self.machine.slots
        if self.is_plain():
            return all(slots[slot].type not in ("real", "int") for slot in outputs)
        distances = [found for _, found in self._answers(inputs, outputs, budget)]
        return not any(found is not None and found > low and (high is None or found < high) for found in distances)

    def is_plain(self) -> bool:
        """Whether the distance is the product distance, by which numbers alone may be off."""
        distance = self.machine.distance
        types = [self.machine.slots[slot].type for slot in self.machine.numbered("output")]
        numbers = all(type_ in ("real", "int") for type_ in types)
        return distance.same is None and (distance.kind == "product" or (distance.kind == "linf" and numbers))

    def _answers(
        self, inputs: Mapping[int, Value], outputs: Mapping[int, Value], budget: Budget
    ) -> Iterator[tuple[Mapping[int, Value], Fraction | None]]:
        """All answers, with their distances from the given one; None for infinity."""
        slots = self.machine.numbered("output")
        types = [self.machine.slots[slot].type for slot in slots]
        choices = [sorted(type_, key=str) if isinstance(type_, frozenset) else (False, True) for type_ in types]
        if any(type_ in ("real", "int") for type_ in types) or prod(map(len, choices)) > MOST_ANSWERS:
            raise NotDerived("its `metric` block is about answers that are not finite, or too many")
        if set(outputs) != set(slots):
            raise NotDerived("its `metric` block is about whole answers, and part of one is left open")
        exact = {at: outputs[slot] for at, slot in zip(self.machine.distance.exact, slots, strict=True)}
        for chosen in product(*choices):
            answer = dict(zip(slots, chosen, strict=True))
            yield answer, self._distance({**inputs, **answer, **exact}, answer, outputs, budget)

    def _distance(
        self,
        values: Mapping[int, Value],
        answer: Mapping[int, Value],
        exact: Mapping[int, Value],
        budget: Budget,
    ) -> Fraction | None:
        """The distance of an answer from the exact one; None for infinity."""
        run = Execution(self.machine, Wanted({}, Fraction(0)), budget)
        distance = self.machine.distance
        if distance.same is not None and all(run.plain(code, values) is True for code in distance.same):
            return Fraction(0)
        if not isinstance(distance.kind, str):
            gap = run.plain(distance.kind, values)
            if not isinstance(gap, Fraction) or gap < 0:
                raise NotDerived("the distance of answers of its `metric` block is no distance")
            return gap
        different = [(answer[slot], exact[slot]) for slot in answer if answer[slot] != exact[slot]]
        if not different or distance.kind == "discrete":
            return Fraction(bool(different))
        gaps = [abs(a - b) for a, b in different if isinstance(a, Fraction) and isinstance(b, Fraction)]
        return max(gaps) if distance.kind == "linf" and len(gaps) == len(different) else None

    def _of(self, inputs: Mapping[int, Value], outputs: Mapping[int, Value], gamma: Fraction, budget: Budget) -> Closed:
        run = Execution(self.machine, Wanted(outputs, gamma), budget)
        run.run(inputs)
        weights = visits(run.steps, (end.state for end in run.ends), budget)
        by_noises: dict[Constraints, Closed] = {}
        for end in run.ends:
            before = by_noises.get(end.known)
            weight = weights[end.state]
            by_noises[end.known] = weight if before is None else add_closed(before, weight, budget, "exits")
        total: Closed = {}, ONE
        for known, weight in by_noises.items():
            total = add_closed(total, self.weighted(weight, known, run.laws, budget), budget, "exits")
        return total

    def weighted(
        self, weight: Closed, known: Constraints, laws: Mapping[int, tuple[Family, Fraction]], budget: Budget
    ) -> Closed:
        """weight·Pr[known]. Raises NotDerived."""
        for key in _parts(known, laws):
            weight = multiply_closed(weight, self._measure(key, budget), budget, "exits")
        return weight

    def _measure(self, key: _Key, budget: Budget) -> Closed:
        found = self._measures.get(key)
        if found is None:
            laws, rows = key
            noises = tuple(Noise(family, rate, Fraction(0)) for family, rate in laws)
            limits = tuple(Constraint({i: Fraction(a) for i, a in form}, constant) for form, constant in rows)
            found = self._measures[key] = measure_anew(Event(noises, limits), budget)
        if isinstance(found, str):
            raise NotDerived(found)
        return found


def _parts(known: Constraints, laws: Mapping[int, tuple[Family, Fraction]]) -> list[_Key]:
    """The half-spaces by the noises that hang together."""
    groups: dict[int, tuple[set[int], list[NoiseHalfspace]]] = {}
    for row in known.rows.values():
        noises = {i for i, _ in row.form}
        rows = [row]
        for group in {id(groups[i]): groups[i] for i in noises if i in groups}.values():
            noises |= group[0]
            rows += group[1]
        whole = noises, rows
        groups |= dict.fromkeys(noises, whole)
    found: list[_Key] = []
    for noises, rows in {id(group): group for group in groups.values()}.values():
        place = {i: at for at, i in enumerate(sorted(noises))}
        found.append(
            (
                tuple(laws[i] for i in place),
                tuple(sorted((tuple((place[i], a) for i, a in row.form), Fraction(row.constant)) for row in rows)),
            )
        )
    return found

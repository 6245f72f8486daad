"""Privacy for every number of queries: shifts of the noises, chosen iteration by iteration.

A program that does the same for each query (`iteration.py`) runs through finitely many heads of its loop. A way
through an iteration is a set of noises, half-spaces with the inputs as unknowns. If a constant shift of the noises
makes up for a move of the inputs in each of them, and changes no real output, it maps the noises that go this way at
one input into those that do at the other, and the density falls by a factor of at most e^(eps·Σ rate·|shift|)
(`alignment.py`). Ways of whole runs are disjoint, so the budget suffices if for each of them some shifts cost no more.

An adversary chooses way after way, and extreme moves of the inputs of each index; shifts are multiples of the radius.
For each head and each choice of shifts of the noises carried there the least cost so far is kept, if it is within the
budget. If none of the tables that can be reached is empty, every run for every number of queries has shifts within the
budget at the extreme moves, and, as the conditions are linear and costs convex, at every move. What is known of the
noises at a head is forgotten, which only adds ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from dipc.verifier.budget import Budget
from dipc.verifier.execution import Affine
from dipc.verifier.iteration import alone
from dipc.verifier.linear import Guard
from dipc.verifier.loop_runs import MOST_HEADS, LoopRuns, State
from dipc.verifier.program import Halt
from dipc.verifier.rejection import NotDerived
from dipc.verifier.syntax import Program

SCHEMA = "dipc.certificate.privacy.numbers/1"

_ZERO = Fraction(0)

_STEP = "shifts"

#: Shifts that are tried, in multiples of the radius, and tables of costs.
SHIFTS = tuple(map(Fraction, range(-2, 3)))
MOST_TABLES = 20_000

#: Domains that end at the number are as for one greater than any that a run comes to in so many heads.
_MANY = 1_000


@dataclass(frozen=True, slots=True)
class _Change:
    """What shifts and moves change of a form: over noises by their places, those carried first, and over inputs."""

    noises: tuple[tuple[int, Fraction], ...]
    inputs: tuple[tuple[int, Fraction], ...]

    def by(self, moves: Mapping[int, Fraction]) -> Fraction:
        """The part of the moves."""
        return sum((c * moves.get(slot, _ZERO) for slot, c in self.inputs), _ZERO)


@dataclass(frozen=True, slots=True)
class _Way:
    """Changes that may not be negative, and those that are 0; the rates of the noises drawn; the head that it leads to,
    None at the end, and of all its noises those that this carries."""

    slacks: tuple[_Change, ...]
    outputs: tuple[_Change, ...]
    drawn: tuple[Fraction, ...]
    goal: int | None
    carried: tuple[int, ...]


#: The least cost so far, by the shifts of the noises that are carried.
_Costs = Mapping[tuple[Fraction, ...], Fraction]


def require_private(
    tree: Program,
    numbers: tuple[str, int],
    constants: Mapping[str, Fraction],
    adjacent: tuple[str, Fraction],
    most: Fraction,
    budget: Budget,
) -> int:
    """That the program is most·eps-private for all real inputs adjacent by this distance and radius, for every number
    from the least on; how many ways through iterations there are. Raises NotDerived where that is not shown."""
    parameter, least = numbers
    given = {**constants, parameter: Fraction(least + _MANY)}
    side, low, elements = alone(tree, parameter, given, budget)
    if least < low:
        raise NotDerived("there are numbers without an iteration")
    if adjacent[0] == "hamming":
        raise NotDerived("inputs that move by anything are not covered")
    slots = side.machine.slots
    inputs = {slots[slot].name: Affine(_ZERO, ((slot, Fraction(1)),)) for slot in side.machine.numbered("input")}
    runs = LoopRuns(side, elements, inputs, len(slots), budget)
    return _Exploration(runs, *adjacent, most, budget).check()


@dataclass
class _Exploration:
    runs: LoopRuns
    distance: str
    radius: Fraction
    most: Fraction
    budget: Budget
    _numbers: dict[object, int] = field(default_factory=dict)
    _heads: list[State] = field(default_factory=list)
    _ways: dict[int | None, tuple[_Way, ...]] = field(default_factory=dict)

    def check(self) -> int:
        """How many ways there are. Raises NotDerived where one has no shifts within the budget."""
        elements = self.runs.elements
        slots = self.runs.side.machine.slots
        shared = [slot for slot in self.runs.side.machine.numbered("input") if slots[slot].name not in elements]
        for fixed, spent in self._moves(shared, spent=False):
            seen: set[object] = set()
            waiting: list[tuple[int | None, bool, _Costs]] = [(None, spent, {(): _ZERO})]
            while waiting:
                head, moved, costs = waiting.pop()
                for way in self._from(head):
                    names = {slot for change in (*way.slacks, *way.outputs) for slot, _ in change.inputs}
                    for own, after in self._moves(sorted(names.difference(shared)), spent=moved):
                        found = self._followed(costs, way, {**fixed, **own})
                        if not found:
                            raise NotDerived("some run has no shifts of so little cost")
                        key = way.goal, after, frozenset(found.items())
                        if way.goal is None or key in seen:
                            continue
                        seen.add(key)
                        if len(seen) > MOST_TABLES:
                            raise NotDerived(f"shifts lead to more than {MOST_TABLES} tables of costs")
                        waiting.append((way.goal, after, found))
        return sum(map(len, self._ways.values()))

    def _moves(self, slots: Sequence[int], *, spent: bool) -> Iterator[tuple[dict[int, Fraction], bool]]:
        """Extreme moves of these inputs, and whether nothing is left for others."""
        ends = (self.radius, -self.radius)
        if self.distance == "linf":
            for values in product(ends, repeat=len(slots)):
                yield dict(zip(slots, values, strict=True)), spent
            return
        yield {}, spent
        for slot in slots if not spent else ():
            for end in ends:
                yield {slot: end}, True

    def _followed(
        self, costs: _Costs, way: _Way, moves: Mapping[int, Fraction]
    ) -> dict[tuple[Fraction, ...], Fraction]:
        """The costs after a way, by the shifts of what is carried then."""
        changes = (*way.slacks, *way.outputs)
        self.budget.spend(20 + 4 * len(moves) + sum(4 + 3 * len(change.inputs) for change in changes), _STEP)
        slacks = [(change.noises, change.by(moves)) for change in way.slacks]
        outputs = [(change.noises, change.by(moves)) for change in way.outputs]
        found: dict[tuple[Fraction, ...], Fraction] = {}
        for fresh in product([shift * self.radius for shift in SHIFTS], repeat=len(way.drawn)):
            more = sum((rate * abs(shift) for rate, shift in zip(way.drawn, fresh, strict=True)), _ZERO)
            self.budget.spend(5 + 3 * len(costs) * (1 + len(changes)), _STEP)
            for before, cost in costs.items():
                shifts = (*before, *fresh)
                if (
                    cost + more <= self.most
                    and all(_at(noises, shifts) + moved >= 0 for noises, moved in slacks)
                    and all(_at(noises, shifts) + moved == 0 for noises, moved in outputs)
                ):
                    key = tuple(shifts[at] for at in way.carried)
                    found[key] = min(found.get(key, cost + more), cost + more)
        return found

    # --- ways -----------------------------------------------------------------------------------------

    def _from(self, head: int | None) -> tuple[_Way, ...]:
        """The ways from a head, through an iteration or behind the loop; None: those up to the loop."""
        if head not in self._ways:
            if head is None:
                found = [self._way(0, end, elements=False) for end in self._ends(self.runs.start())]
            else:
                state = self._heads[head]
                carried = len(state.laws)
                found = [self._way(carried, end, elements=True) for end in self._ends(self.runs.entered(state))]
                found += [self._way(carried, end, elements=False) for end in self._ends(self.runs.left(state))]
            self._ways[head] = tuple(found)
        return self._ways[head]

    def _ends(self, state: State) -> Iterator[State]:
        return self.runs.ends(state, (), self._outcomes)

    def _outcomes(self, state: State, guard: Guard) -> list[State]:
        """Both outcomes of a comparison of noise."""
        if not any(i >= self.runs.first_noise for i, _ in guard.form):
            raise NotDerived("inputs are compared without noise")
        return [
            State(
                state.at, state.values, state.laws, state.inputs, (*state.outcomes, Guard(one.form, one.constant, True))
            )
            for one in (guard, guard.opposite())
        ]

    def _way(self, carried: int, end: State, *, elements: bool) -> _Way:
        side = self.runs.side
        slots = side.machine.slots
        ended = isinstance(side.machine.code[end.at], Halt)
        outputs = [
            end.values[slot]
            for slot in side.machine.numbered("output")
            if (elements if slots[slot].name in self.runs.elements else ended)
        ]
        goal = None if ended else self._number(end)
        return _Way(
            tuple(self._change(guard.form) for guard in end.outcomes),
            tuple(self._change(value.terms) for value in outputs if isinstance(value, Affine)),
            tuple(rate for _, rate in end.laws[carried:]),
            goal,
            () if ended else tuple(i - self.runs.first_noise for i in self.runs.carried(end)),
        )

    def _change(self, form: Iterable[tuple[int, Fraction]]) -> _Change:
        first = self.runs.first_noise
        terms = tuple(form)
        return _Change(
            tuple((i - first, c) for i, c in terms if i >= first), tuple((i, c) for i, c in terms if i < first)
        )

    def _number(self, state: State) -> int:
        head = self.runs.stripped(state)
        if head.key not in self._numbers:
            if len(self._heads) >= MOST_HEADS:
                raise NotDerived(f"the head of the loop is reached in more than {MOST_HEADS} states")
            self._numbers[head.key] = len(self._heads)
            self._heads.append(head)
        return self._numbers[head.key]


def _at(noises: Iterable[tuple[int, Fraction]], shifts: Sequence[Fraction]) -> Fraction:
    return sum((c * shifts[at] for at, c in noises), _ZERO)

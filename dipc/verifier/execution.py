"""Constraints on noises, and the runs of a program on given inputs, all at once.

A state is a place in the program, the values of its variables, and half-spaces Σ a_i·N_i + c >= 0 of centered
independent noises, numbered by the instruction that draws them. A comparison that the half-spaces leave open splits a
state in two. A finite choice leads to several states, with weights. For noises held fixed the states are a Markov chain
(FORMAT.md, lemmas 1 and 2).

A half-space has coprime integer coefficients a_i. Two half-spaces with the same a_i differ in the constant alone, and
the one with the smaller constant implies the other. Over integers the constant is rounded down. Events of probability 0
are ignored.

Differences and bounds are also edges of a graph, whose shortest paths show what the edges imply together. For other
half-spaces an implication is only recognized if one of them implies it alone. This loses time, but no soundness: an
impossible state that is not recognized has an event of probability 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from itertools import groupby
from math import floor, gcd, lcm
from typing import Any

from dipc.verifier.functions import ONE, ZERO, Closed, Ring, add_closed, equal_closed, positive_everywhere
from dipc.verifier.noise import Family, Law, is_whole
from dipc.verifier.program import (
    COUNTING,
    Branch,
    Choice,
    Code,
    Fault,
    Halt,
    Instruction,
    Jump,
    Machine,
    Operation,
    Place,
    Sample,
    Scored,
    Store,
    Value,
    calculated,
    holds,
)
from dipc.verifier.reading import Budget, NotDerived
from dipc.verifier.signs import sign_of_ring
from dipc.verifier.syntax import Literal

# === constraints ===============================================================================

#: The pairs (noise, a) of a sum Σ a·N, sorted, with coprime integers a.
Form = tuple[tuple[int, int], ...]

#: A number; integers stay plain, which is faster.
Number = Fraction | int

#: The node of the constant 0 in the graph of differences.
_ORIGIN = -1


@dataclass(frozen=True, slots=True)
class NoiseHalfspace:
    """The half-space Σ c·N_i + `constant` >= 0 of noises N_i, where `form` has the pairs (i, c).

    If `whole` is true, all of these noises are integers.
    """

    form: Form
    #: A number, or another type with sums and comparisons.
    constant: Any
    whole: bool

    @staticmethod
    def from_terms(terms: Mapping[int, Fraction], constant: Fraction, whole: bool) -> NoiseHalfspace:
        """Return the half-space Σ c·N_i + `constant` >= 0 with coprime integer coefficients, where `terms` maps i to c.

        At least one c must not be 0. With `whole` all noises are integers, and the constant is rounded down.
        """
        unit = lcm(*[c.denominator for c in terms.values()])
        whole_terms = [(i, c.numerator * (unit // c.denominator)) for i, c in terms.items() if c]
        common = gcd(*[c for _, c in whole_terms])
        if common != 1:
            whole_terms = [(i, c // common) for i, c in whole_terms]
        if unit != common:
            constant *= Fraction(unit, common)
        return NoiseHalfspace(tuple(sorted(whole_terms)), plain(floor(constant) if whole else constant), whole)

    def opposite(self) -> NoiseHalfspace:
        """Return the half-space that holds where this one fails, except for an event of probability 0."""
        constant = -self.constant - 1 if self.whole else -self.constant
        return NoiseHalfspace(tuple((i, -a) for i, a in self.form), constant, self.whole)

    def edge(self) -> tuple[int, int] | None:
        """Return (i, j) if the half-space is N_j <= N_i + constant, where N_-1 is 0; None for other half-spaces."""
        match self.form:
            case ((i, 1),):
                return i, _ORIGIN
            case ((i, -1),):
                return _ORIGIN, i
            case ((i, 1), (j, -1)):
                return i, j
            case ((i, -1), (j, 1)):
                return j, i
            case _:
                return None


def plain(value: Number) -> Number:
    """Return `value` as an int if it is an integer, and unchanged otherwise: ints are faster."""
    return value.numerator if value.denominator == 1 else value


class Constraints:
    """An immutable conjunction of half-spaces over noises: `rows` maps the form of each half-space to the half-space.

    In addition, each noise in `_positive` is at least 0. A method with a parameter `budget` charges its work to it.
    """

    __slots__ = ("_distances", "_edges", "_hash", "_positive", "rows")

    def __init__(self, rows: Mapping[Form, NoiseHalfspace], positive: frozenset[int] = frozenset()) -> None:
        self.rows = rows
        self._positive = positive
        self._hash: int | None = None
        self._edges: dict[int, list[tuple[int, Number]]] | None = None
        self._distances: dict[int, dict[int, Number]] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constraints) and self.rows == other.rows

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset((form, row.constant) for form, row in self.rows.items()))
        return self._hash

    def _graph(self) -> dict[int, list[tuple[int, Number]]]:
        if self._edges is None:
            edges: dict[int, list[tuple[int, Number]]] = {}
            for row in self.rows.values():
                edge = row.edge()
                if edge is not None:
                    edges.setdefault(edge[0], []).append((edge[1], row.constant))
            for i in self._positive:
                edges.setdefault(i, []).append((_ORIGIN, 0))
            self._edges = edges
        return self._edges

    def _upper_bounds(self, start: int, budget: Budget) -> dict[int, Number]:
        """Return upper bounds of N_j - N_i, by j, where i is the noise `start`.

        They follow from the half-spaces of the form N_k <= N_l + c alone, and are the least such bounds. Noises without
        a bound are left out. Charges its work to `budget`.
        """
        known = self._distances.get(start)
        if known is None:
            edges = self._graph()
            known = {start: 0}
            waiting = [start]
            steps = 0
            for here in waiting:
                base = known[here]
                for there, width in edges.get(here, ()):
                    steps += 1
                    total = base + width
                    if there not in known or total < known[there]:
                        known[there] = total
                        waiting.append(there)
            budget.spend(1 + steps)
            self._distances[start] = known
        return known

    def implies(self, row: NoiseHalfspace, budget: Budget) -> bool:
        """True only if these constraints imply `row`. False proves nothing. Charges its work to `budget`."""
        same = self.rows.get(row.form)
        if same is not None and same.constant <= row.constant:
            return True
        edge = row.edge()
        if edge is None:
            return False
        least = self._upper_bounds(edge[0], budget).get(edge[1])
        return least is not None and least <= row.constant

    def excludes(self, row: NoiseHalfspace, budget: Budget) -> bool:
        """True only if `row` and these constraints hold together with probability 0. False proves nothing.

        Charges its work to `budget`.
        """
        return self.implies(row.opposite(), budget)

    def __and__(self, row: NoiseHalfspace) -> Constraints:
        """Return these constraints with `row`, which they must neither imply nor exclude."""
        known = self.rows.get(row.form)
        if known is not None and known.constant <= row.constant:
            return self
        return Constraints({**self.rows, row.form: row}, self._positive)

    def with_positive(self, noise: int) -> Constraints:
        """Return these constraints together with `noise` >= 0."""
        if noise in self._positive:
            return self
        return Constraints(self.rows, self._positive | {noise})

    def contradicts(self, other: Constraints, budget: Budget) -> bool:
        """True only if these constraints and `other` hold together with probability 0. False proves nothing.

        Charges its work to `budget`.
        """
        budget.spend(len(self.rows) + len(other.rows))
        for mine, theirs in ((self, other), (other, self)):
            for row in theirs.rows.values():
                if mine.excludes(row, budget):
                    return True
        both = self
        for row in other.rows.values():
            if both.implies(row, budget):
                continue
            if both.excludes(row, budget):
                return True
            both = both & row
        return False

    def reduced(self, budget: Budget) -> Constraints:
        """Return equivalent constraints, without half-spaces that the others are shown to imply.

        Charges its work to `budget`.
        """
        rows = dict(self.rows)
        for form, row in self.rows.items():
            budget.spend(2 * len(rows))
            rest = Constraints({other: rows[other] for other in rows if other != form}, self._positive)
            if rest.implies(row, budget):
                del rows[form]
        return Constraints(rows, self._positive)


def united(members: Iterable[Constraints], budget: Budget) -> Constraints:
    """Return the conjunction of all half-spaces of `members` that each of `members` is shown to imply.

    Charges its work to `budget`.
    """
    members = list(members)
    first = members[0]
    rows: dict[Form, NoiseHalfspace] = {}
    for member in members:
        for form, row in member.rows.items():
            known = rows.get(form)
            if known is not None and known.constant <= row.constant:
                continue
            budget.spend(2)
            if not first.implies(row, budget):
                continue
            budget.spend(len(members))
            if all(other.implies(row, budget) for other in members):
                rows[form] = row
    positive = frozenset[int]().union(*(member._positive for member in members))  # noqa: SLF001 - of its own kind
    return Constraints(rows, positive).reduced(budget)


# === execution =================================================================================

MOST_STATES = 100_000

#: The weight of a step to which there is no other one.
_CERTAIN: Closed = (ONE, ONE)


@dataclass(frozen=True)
class Affine:
    """The value constant + Σ coefficient·N over sorted pairs (noise, coefficient).

    There is at least one pair, and no coefficient is 0. States share their values, so the hash is computed once.
    """

    constant: Fraction
    terms: tuple[tuple[int, Fraction], ...]

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.constant, self.terms))


#: The value of a variable; None before it is assigned.
Held = Value | Affine | None


class Split(Exception):
    """Raised if the constraints show neither that the half-space `row` holds nor that it fails."""

    def __init__(self, row: Any) -> None:
        super().__init__()
        self.row = row


#: A choice that was made: the instruction, the arm, and the scores on which the weights depend.
Step = tuple[int, int, tuple[Held, ...]]


@dataclass(slots=True)
class State:
    """A state of a run: the next instruction `at`, the `values` of all slots, and the constraints on the noises.

    `history` lists the random choices on the path to the state; it is None if several paths lead to the state.
    """

    at: int
    values: tuple[Held, ...]
    known: Constraints
    history: tuple[Step, ...] | None


@dataclass
class Execution:
    """An exploration of all states of a program.

    The answers of interest are those in which each slot of `wanted` has its value, or differs from it by at most
    `gamma`, if both are numbers. If `keeps_outputs` is true, the final states keep the values of all outputs.

    `steps` lists for each state the states that follow, with weights. `laws` has the law of each noise, and `ends` the
    constraints on the noises at each exit with the wanted outputs, by its state. The invariant: for noises held fixed
    the states are a Markov chain, since the weights of the steps that the noises permit sum to 1 at each state that has
    steps.
    """

    machine: Machine
    budget: Budget
    wanted: Mapping[int, Value] = field(default_factory=dict)
    gamma: Fraction = ZERO
    keeps_outputs: bool = False
    steps: list[list[tuple[int, Closed]]] = field(default_factory=list)
    ends: dict[int, Constraints] = field(default_factory=dict)
    laws: dict[int, Law] = field(default_factory=dict)
    _states: list[State] = field(default_factory=list)
    _numbers: dict[tuple[int, tuple[Held, ...], Constraints], int] = field(default_factory=dict)
    _waiting: dict[int, list[int]] = field(default_factory=dict)
    _queue: list[int] = field(default_factory=list)
    _over: list[int] = field(default_factory=list)
    _checked: set[int] = field(default_factory=set)
    _shape: Shape = field(init=False)
    #: The inputs of `run`, by slot. States do not hold them, as no instruction assigns them.
    _given: Mapping[int, Value] = field(default_factory=dict)
    _goes_ahead: bool = False

    def __post_init__(self) -> None:
        outputs = self.machine.numbered("output") if self.keeps_outputs else self.wanted
        self._shape = Shape.from_machine(self.machine, outputs, self.budget)

    def run(self, inputs: Mapping[int, Value]) -> None:
        """Explore all states from the start with these `inputs`, by slot.

        Raises NotDerived if an input is outside its domain, or if the program cannot be explored.
        """
        slots = self.machine.slots
        for k, slot in enumerate(slots):
            if (slot.role == "input") != (k in inputs) or (k in inputs and not holds(slot.type, inputs[k])):
                raise NotDerived(f"the value of the input `{slot.name}` is outside its domain")
        self._given = inputs
        self._goes_ahead = not self.machine.loops
        self.explore({})

    def explore(self, inputs: Mapping[int, Held]) -> None:
        """Explore all states from the start with these `inputs`, by slot. Their domains are not checked."""
        values = tuple(inputs.get(number, slot.initial) for number, slot in enumerate(self.machine.slots))
        self._arrive(State(0, values, Constraints({}), ()))
        while self._queue:
            label = heappop(self._queue)
            numbers = self._waiting.pop(label, [])
            if label in self._shape.joins and len(numbers) > 1:
                numbers = self._united(numbers)
            for number in numbers:
                self._advance(number)

    # --- states -----------------------------------------------------------------------------------

    def _arrive(self, state: State) -> int:
        self.budget.spend(20 + len(state.values))
        state.values = self._shape.read_later(state.at, state.values)
        if self._shape.loops[state.at]:
            state.history = None
        key = (state.at, state.values, state.known)
        number = self._numbers.setdefault(key, len(self._states))
        if number < len(self._states):
            self.reached_again(number)
            return number
        self._added(state)
        if self._misses(state):
            self._over.append(number)
            return number
        if state.at not in self._waiting:
            self._waiting[state.at] = []
            heappush(self._queue, state.at)
        self._waiting[state.at].append(number)
        return number

    def reached_again(self, number: int) -> None:
        """Set the history of the state with index `number` to None, as a second path has led to this state."""
        self._states[number].history = None

    def sides(self, known: Constraints, row: NoiseHalfspace) -> list[Constraints]:
        """Return two conjunctions: `known` with the half-space `row`, and `known` with its opposite.

        The constraints `known` must neither imply nor exclude `row`.
        """
        return [known & row, known & row.opposite()]

    def by_place(self, states: Iterable[int]) -> Iterator[list[int]]:
        """Yield the indices `states` in groups, in the order of the program text.

        All states inside an outermost `while` are one group. Each other state is a group of its own.
        """
        start: dict[int, int] = {}
        for first, end in sorted(self.machine.loops, key=lambda loop: (loop[0], -loop[1])):
            if first not in start:
                start |= dict.fromkeys(range(first, end), first)

        def place(state: int) -> tuple[int, int]:
            label = self._states[state].at
            return (start[label], -1) if label in start and self.steps[state] else (label, state)

        return (list(together) for _, together in groupby(sorted(states, key=place), key=place))

    def outputs(self, state: int) -> list[Held]:
        """Return the values of the outputs in the state with index `state`, in the order of declaration."""
        return [self._states[state].values[slot] for slot in self.machine.numbered("output")]

    def _added(self, state: State) -> int:
        if len(self._states) >= MOST_STATES:
            raise NotDerived(f"the program has more than {MOST_STATES} states")
        self._states.append(state)
        self.steps.append([])
        return len(self._states) - 1

    def _misses(self, state: State) -> bool:
        """True if some output in `state` is not the wanted one, and no later instruction can assign it.

        A real or int output is wanted if it is within gamma of the wanted value. Outputs that contain noise are not
        examined.
        """
        later = self._shape.later[state.at]
        for slot, value in self.wanted.items():
            held = state.values[slot]
            if later >> slot & 1 or isinstance(held, Affine) or held is None or held == value:
                continue
            if self.machine.slots[slot].type not in ("real", "int"):
                return True
            assert isinstance(held, Fraction)
            assert isinstance(value, Fraction)
            if any(side * (held - value) < -self.gamma for side in self.machine.distance.sides):
                return True
        return False

    def _advance(self, number: int) -> None:
        state = self._states[number]
        instruction = self.machine.code[state.at]
        if isinstance(instruction, Halt):
            self._over.append(number)
            known = self._reached(state)
            if known is not None:
                self.ends[number] = known
            return
        for weight, step, follow in self.followers(state, 20):
            if step is not None and state.history is not None:
                self.budget.spend(len(state.history))
                follow.history = (*state.history, step)
            self.steps[number].append((self._arrive(self._ahead(follow)), _CERTAIN if weight is None else weight))

    def _ahead(self, state: State) -> State:
        """Return the last state that the run from `state` reaches before it branches, draws or ends.

        For speed, the states before it are skipped. In a program with `while`, and once noises are constrained, no
        state is skipped: states with the same next instruction may have to be united.
        """
        while self._goes_ahead and not state.known.rows:
            instruction = self.machine.code[state.at]
            if not isinstance(instruction, Store | Jump | Branch) or self._misses(state):
                break
            self.budget.spend(20 + len(state.values) // 4)
            try:
                ((_, _, state),) = self._after(state, state.known, instruction)
            except Split:
                break
        return state

    def followers(self, state: State, cost: int) -> Iterator[tuple[Closed | None, Step | None, State]]:
        """Yield (weight, choice, next state) for each state that follows `state` by one instruction.

        If the constraints do not decide a comparison, `state` is first cut into parts in which the comparison is
        decided. Each part takes `cost` steps of the budget. The weight is None in place of 1, and the choice is None if
        nothing was chosen at random.
        """
        instruction = self.machine.code[state.at]
        open_ = [state.known]
        while open_:
            known = open_.pop()
            self.budget.spend(cost)
            try:
                after = list(self._after(state, known, instruction))
            except Split as split:
                self.budget.spend(10 * len(known.rows))
                open_ += self.sides(known, split.row)
                continue
            yield from after

    def _after(
        self, state: State, known: Constraints, instruction: Instruction
    ) -> Iterator[tuple[Closed | None, Step | None, State]]:
        """Yield (weight, choice, next state) for each state that follows `state` by the `instruction`.

        The constraints `known` hold. The weight is None in place of 1, and the choice is None if nothing was chosen at
        random. Raises Split if `known` does not decide a comparison.
        """

        def follow(label: int, slot: int | None = None, value: Held = None) -> State:
            values = state.values
            if slot is not None:
                values = (*values[:slot], value, *values[slot + 1 :])
            return State(label, values, known, state.history)

        match instruction:
            case Jump(goal):
                yield None, None, follow(goal)
            case Branch(condition, otherwise):
                truth = self.value(condition, state.values, known)
                if not isinstance(truth, bool):
                    raise NotDerived("a condition is not a truth value")
                yield None, None, follow(state.at + 1 if truth else otherwise)
            case Store(target, code):
                value = self._stored(self.value(code, state.values, known), target, state.values, known)
                yield None, None, follow(state.at + 1, self._slot(target, value, state.at, state.values, known), value)
            case Sample(target, family, rate, mean):
                center = self.value(mean, state.values, known)
                if self._shape.loops[state.at]:
                    raise NotDerived("noise is drawn inside `while`")
                self.laws[state.at] = family, rate
                if isinstance(center, str):
                    raise NotDerived("a mean is not a number")
                center = Fraction(center) if isinstance(center, bool) else center
                value, drawn = self._drawn(state.at, (family, rate), center, known)
                drawn_state = follow(state.at + 1, self._slot(target, value, state.at, state.values, known), value)
                drawn_state.known = drawn
                yield None, None, drawn_state
            case Choice(target, arms):
                weights = self.distribution(instruction)
                values = [self.value(code, state.values, known) for code, _ in arms]
                for arm, (value, weight) in enumerate(zip(values, weights, strict=True)):
                    if weight[0]:
                        slot = self._slot(target, value, state.at, state.values, known)
                        yield weight, (state.at, arm, ()), follow(state.at + 1, slot, value)
            case Scored(target, rate, scored):
                scores = [self.value(code, state.values, known) for _, code in scored]
                for arm, ((literal, _), weight) in enumerate(zip(scored, self._softmax(rate, scores), strict=True)):
                    slot = self._slot(target, literal.value, state.at, state.values, known)
                    yield weight, (state.at, arm, tuple(scores)), follow(state.at + 1, slot, literal.value)

    def _reached(self, state: State) -> Constraints | None:
        """Return the constraints under which the exit `state` has the wanted outputs.

        The result is None if the outputs are the wanted ones with probability 0.
        """
        known = state.known
        for slot, value in self.wanted.items():
            held = state.values[slot]
            if held is None:
                raise NotDerived(f"the output `{self.machine.slots[slot].name}` may have no value at the end")
            if not isinstance(held, Affine):
                continue  # It is the wanted one, or the state would have been given up.
            assert isinstance(value, Fraction)
            whole = self._is_integral(held)
            sides = self.machine.distance.sides
            if not whole and not self.gamma and len(sides) > 1:
                return None
            for side in sides:
                terms = {i: side * c for i, c in held.terms}
                row = NoiseHalfspace.from_terms(terms, side * (held.constant - value) + self.gamma, whole)
                if known.excludes(row, self.budget):
                    return None
                if not known.implies(row, self.budget):
                    known = known & row
        return known

    # --- uniting ----------------------------------------------------------------------------------

    def _united(self, numbers: list[int]) -> list[int]:
        """Return the list `numbers` of indices of states, with one new state in place of states that can be united.

        All of the states have the same next instruction. States can be united if they have equal values and equal
        random choices. Every run with these choices that satisfies the constraints of the new state must reach one of
        them.
        """
        groups: dict[object, list[int]] = {}
        for number in numbers:
            state = self._states[number]
            if state.history is not None:
                groups.setdefault((state.values, state.history), []).append(number)
        result = list(numbers)
        for group in groups.values():
            if len(group) < 2:
                continue
            whole = united([self._states[number].known for number in group], self.budget)
            first = self._states[group[0]]
            members = set(group)
            self.budget.spend(len(result) + len(self._states))
            others = [
                number
                for number in (*result, *self._over, *(n for waiting in self._waiting.values() for n in waiting))
                if number not in members
            ]
            if all(self._is_disjoint(first, whole, self._states[number]) for number in others):
                united_ = State(first.at, first.values, whole, first.history)
                number = self._added(united_)
                self._numbers[united_.at, united_.values, whole] = number
                # The members have one weight, that of their history, and are disjoint in the noises.
                self.steps[group[0]].append((number, (ONE, ONE)))
                result = [*(n for n in result if n not in members), number]
        return result

    def _is_disjoint(self, member: State, whole: Constraints, other: State) -> bool:
        """True only if no run can reach both `other` and one of the states that are to be united.

        `member` is one of the states to be united; all of them have made the same random choices. `whole` has the
        constraints of the state that would replace them.
        """
        if member.history and other.history:
            self.budget.spend(min(len(member.history), len(other.history)))
            for mine, theirs in zip(member.history, other.history, strict=False):
                if mine != theirs:
                    if mine[0] == theirs[0] and mine[1] != theirs[1]:
                        return True
                    break
        return whole.contradicts(other.known, self.budget)

    # --- values -----------------------------------------------------------------------------------

    def _drawn(
        self, label: int, law: Law, center: Fraction | Affine, known: Constraints
    ) -> tuple[Fraction | Affine, Constraints]:
        value = plus(center, Affine(ZERO, ((label, Fraction(1)),)))
        return value, known.with_positive(label) if law[0] is Family.ONE_SIDED else known

    def noiseless_value(self, code: Code, values: Mapping[int, Value]) -> Value:
        """Return the value of the expression `code`, which contains no noise; `values` has the values of slots.

        Raises NotDerived if the expression has no value.
        """
        value = self.value(code, [values.get(slot) for slot in range(max(values, default=0) + 1)], Constraints({}))
        assert not isinstance(value, Affine)
        return value

    def _stored(self, value: Held, target: Place, values: Sequence[Held], known: Constraints) -> Held:
        """Return `value` in the form in which the variable `target` keeps it.

        In a variable for numbers, a truth value becomes 1 or 0. In a variable of a finite domain, an integer sum of
        noises with only one possible value becomes this value. `known` are the constraints on the noises, and `values`
        has the values of the slots, from which the index of an array element is computed.
        """
        type_ = self.machine.slots[self._place(target, values, known)].type
        if isinstance(value, bool) and type_ != "bool":
            return Fraction(value)
        if isinstance(value, Affine) and isinstance(type_, frozenset) and self._is_integral(value):
            for each in sorted(one for one in type_ if isinstance(one, Fraction)):
                difference = plus(value, -each)
                if self.compared("<=", difference, known):
                    return each if self.compared(">=", difference, known) else value
        return value

    def gap(self, values: Sequence[Held], outputs: Sequence[int]) -> Fraction | Affine | None:
        """Return the distance between an answer and the right answer, or None if it is infinite.

        `values` has the values of both answers by slot. The answer is in the slots `outputs`, the right answer in the
        slots that the program's metric names for it.
        """
        distance = self.machine.distance
        if not isinstance(distance.kind, str):
            distance_value = self.value(distance.kind, values, Constraints({}))
            if isinstance(distance_value, bool | str) or not self.compared(">=", distance_value, Constraints({})):
                raise NotDerived(
                    "the distance between answers in the `metric` block may be negative, or is not a number"
                )
            return distance_value
        pairs = [(values[slot], values[exact]) for slot, exact in zip(outputs, distance.exact, strict=True)]
        different = [(a, b) for a, b in pairs if a != b or type(a) is not type(b)]
        if not different or distance.kind == "discrete":
            return Fraction(bool(different))
        gaps = [abs(a - b) for a, b in different if isinstance(a, Fraction) and isinstance(b, Fraction)]
        return max(gaps) if distance.kind == "linf" and len(gaps) == len(different) else None

    def _slot(self, target: Place, value: Held, label: int, values: Sequence[Held], known: Constraints) -> int:
        slot = self._place(target, values, known)
        declared = self.machine.slots[slot]
        if self._shape.loops[label] and declared.type in ("int", "real"):
            raise NotDerived(f"`{declared.name}` is assigned inside `while`")
        if not isinstance(value, Affine):
            fits = holds(declared.type, value)
        elif self._is_integral(value):
            numbers = (value.constant, *(c for _, c in value.terms))
            fits = declared.type == "int" and all(number.denominator == 1 for number in numbers)
        else:
            fits = declared.type == "real"
        if not fits:
            raise NotDerived(f"`{declared.name}` may get a value outside its domain")
        return slot

    def _place(self, place: Place, values: Sequence[Held], known: Constraints) -> int:
        if place.index is None:
            return place.slots[0]
        index = self.value(place.index, values, known)
        if isinstance(index, bool) or not isinstance(index, Fraction) or index.denominator != 1:
            raise NotDerived("an index is not an integer")
        offset = int(index) - place.low
        if not 0 <= offset < len(place.slots):
            raise NotDerived("an array may be read or written outside its bounds")
        return place.slots[offset]

    def value(self, code: Code, values: Sequence[Held], known: Constraints) -> Value | Affine:
        match code:
            case Literal(value):
                return value
            case Place(slots, _, index):
                slot = slots[0] if index is None else self._place(code, values, known)
                held = values[slot]
                if held is None:
                    held = self._given.get(slot)
                if held is None:
                    raise NotDerived("a variable may be read before it is assigned")
                return held
            case Fault(why):
                raise NotDerived(why)
            case Operation(op, arguments):
                operands: list[Value | Affine] = []
                for argument in arguments:
                    operands.append(self.value(argument, values, known))
                    # `and` and `or` evaluate their right side only if the left side does not decide.
                    if op in ("and", "or") and operands[0] is (op == "or"):
                        return operands[0]
                if op in COUNTING:
                    operands = [Fraction(value) if isinstance(value, bool) else value for value in operands]
                plain = [value for value in operands if not isinstance(value, Affine)]
                if len(plain) == len(operands):
                    return calculated(op, plain)
                if any(isinstance(value, bool | str) for value in plain):
                    raise NotDerived(f"`{op}` compares values of different kinds")
                return self._noisy(op, operands, known)  # type: ignore[arg-type]

    def _noisy(self, op: str, values: list[Fraction | Affine], known: Constraints) -> Value | Affine:
        match op, values:
            case "+", [left, right]:
                return plus(left, right)
            case "-", [left, right]:
                return plus(left, scaled(right, Fraction(-1)))
            case "neg", [value]:
                return scaled(value, Fraction(-1))
            case "*", [Affine() as value, Fraction() as factor] | [Fraction() as factor, Affine() as value]:
                return scaled(value, factor)
            case "/", [Affine() as value, Fraction() as divisor] if divisor:
                return scaled(value, 1 / divisor)
            case (("<" | "<=" | "=" | "!=" | ">=" | ">"), [left, right]):
                return self.compared(op, plus(left, scaled(right, Fraction(-1))), known)
            case (("min" | "max"), [best, *rest]):
                for value in rest:
                    if self.compared(">=", plus(best, scaled(value, Fraction(-1))), known) is (op == "min"):
                        best = value
                return best
            case "abs", [value]:
                return value if self.compared(">=", value, known) else scaled(value, Fraction(-1))
            case _:
                raise NotDerived(f"`{op}` cannot be applied to noise")

    def compared(self, op: str, difference: Fraction | Affine, known: Constraints) -> bool:
        """True if `difference` `op` 0 holds wherever the constraints `known` do, False if it fails there.

        Raises Split if neither is implied.
        """
        if not isinstance(difference, Affine):
            holds_ = calculated(op, (difference, ZERO))
            assert isinstance(holds_, bool)
            return holds_
        opposite = Affine(-difference.constant, tuple((i, -c) for i, c in difference.terms))
        if op in ("=", "!="):
            forms = (difference, opposite) if self.has_ties(difference) else ()
            return (bool(forms) and all(self.is_nonnegative(form, known) for form in forms)) is (op == "=")
        form = difference if op in (">=", "<") else opposite
        return self.is_nonnegative(form, known) is (op in (">=", "<="))

    def has_ties(self, form: Affine) -> bool:
        """True if the value of `form` may be 0 with positive probability, as only integer noise may."""
        return self._is_integral(form)

    def is_nonnegative(self, form: Affine, known: Constraints) -> bool:
        """True if `form` >= 0 wherever the constraints `known` hold, False if `form` < 0 there.

        Raises Split if neither is implied.
        """
        return self._holds(NoiseHalfspace.from_terms(dict(form.terms), form.constant, self._is_integral(form)), known)

    def _holds(self, row: NoiseHalfspace, known: Constraints) -> bool:
        if known.implies(row, self.budget):
            return True
        if known.excludes(row, self.budget):
            return False
        raise Split(row)

    def _is_integral(self, value: Affine) -> bool:
        """True if all noises of `value` are integers. Raises NotDerived if only some of them are."""
        kinds = {self.is_integer(i) for i, _ in value.terms}
        if len(kinds) > 1:
            raise NotDerived("int and real numbers are mixed in one expression")
        return kinds == {True}

    def is_integer(self, number: int) -> bool:
        """True if the noise with the index `number` takes integer values."""
        return is_whole(self.laws[number][0])

    # --- choices ----------------------------------------------------------------------------------

    def distribution(self, choice: Choice) -> list[Closed]:
        """Return the weights of `choice`. Raises NotDerived unless they are proved to be probabilities that sum to 1.

        Each weight is positive for every eps > 0, or 0 for every eps; in a program read at one eps, it is at least 0
        there.
        """
        weights = [weight for _, weight in choice.arms]
        if id(choice) not in self._checked:
            total: Closed = {}, ONE
            for above, below in weights:
                if not self._is_positive(below, strictly=True) or not self._is_positive(above, strictly=False):
                    raise NotDerived("a weight is not shown to be positive")
                total = add_closed(total, (above, below), self.budget)
            if not equal_closed(total, (ONE, ONE), self.budget):
                raise NotDerived("the weights of a choice do not sum to 1")
            self._checked.add(id(choice))
        return weights

    def _is_positive(self, function: Ring, *, strictly: bool) -> bool:
        """True only if `function` >= 0 is proved at every eps, or `function` > 0 if `strictly`. False proves nothing.

        For a program read at one eps, a proof for this eps is enough.
        """
        if (not strictly and not function) or positive_everywhere(function, self.budget):
            return True
        at = self.machine.at
        return at is not None and sign_of_ring(function, at, self.budget) >= int(strictly)

    def _softmax(self, rate: Fraction, scores: Iterable[Value | Affine]) -> list[Closed]:
        numbers = [score for score in scores if isinstance(score, Fraction)]
        if len(numbers) < len(list(scores)):
            raise NotDerived("a score is not a number")
        most = max(numbers)
        tops: list[tuple[int, Fraction]] = [(0, rate * (score - most)) for score in numbers]
        below: Ring = {}
        for key in tops:
            below[key] = below.get(key, ZERO) + 1
        self.budget.spend(5 * len(tops))
        if len(below) == 1:
            return [({(0, ZERO): Fraction(1, len(tops))}, ONE)] * len(tops)
        return [({key: Fraction(1)}, below) for key in tops]


def plus(left: Fraction | Affine, right: Fraction | Affine) -> Fraction | Affine:
    """Return `left` + `right`, a number if their noises cancel."""
    one, other = (value if isinstance(value, Affine) else Affine(value, ()) for value in (left, right))
    terms = dict(one.terms)
    for i, c in other.terms:
        terms[i] = terms.get(i, ZERO) + c
    return _affine(one.constant + other.constant, terms)


def scaled(value: Fraction | Affine, factor: Fraction) -> Fraction | Affine:
    """Return `value` · `factor`, a number if `factor` is 0."""
    if not isinstance(value, Affine):
        return value * factor
    return _affine(value.constant * factor, {i: c * factor for i, c in value.terms})


def _affine(constant: Fraction, terms: Mapping[int, Fraction]) -> Fraction | Affine:
    left = tuple(sorted((i, c) for i, c in terms.items() if c))
    return Affine(constant, left) if left else constant


# --- what the text alone says ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shape:
    """The facts about each instruction of a program that follow from its text alone, listed by instruction.

    `live` has the slots that may still be read and `later` those that may still be assigned, as integers with a bit for
    each slot. `loops` says whether the instruction is inside a `while`. `joins` are the instructions outside of loops
    to which several instructions lead.
    """

    live: tuple[int, ...]
    later: tuple[int, ...]
    loops: tuple[bool, ...]
    joins: frozenset[int]
    #: The bits of `live`, the lowest first, by instruction.
    _digits: dict[int, str] = field(default_factory=dict)

    def read_later(self, label: int, values: tuple[Held, ...]) -> tuple[Held, ...]:
        """Return `values` of the slots, with None for each slot that no instruction at `label` or later reads."""
        digits = self._digits.get(label)
        if digits is None:
            digits = self._digits[label] = f"{self.live[label]:0{len(values)}b}"[::-1]
        return tuple([value if digit == "1" else None for value, digit in zip(values, digits, strict=True)])

    @staticmethod
    def from_machine(machine: Machine, outputs: Iterable[int], budget: Budget) -> Shape:
        code = machine.code
        count = len(code)
        # Sets of slots are kept for each instruction, as bits.
        budget.spend(4 * count, len(machine.slots))
        loops = [False] * count
        for first, end in machine.loops:
            loops[first:end] = [True] * (end - first)
        wanted = sum(1 << slot for slot in outputs)
        reads, kills, writes, following = [], [], [], []
        for label, instruction in enumerate(code):
            read, target = accesses(instruction)
            written = 0 if target is None else bits(target.slots)
            reads.append(wanted if isinstance(instruction, Halt) else read)
            writes.append(written)
            kills.append(written if target is not None and target.index is None else 0)
            following.append(goals(label, instruction))
        live, later = [0] * count, [0] * count
        changed = True
        while changed:
            changed = False
            budget.spend(4 * count, len(machine.slots))
            for label in range(count - 1, -1, -1):
                after = assigned = 0
                for goal in following[label]:
                    after |= live[goal]
                    assigned |= later[goal]
                new = reads[label] | after & ~kills[label], writes[label] | assigned
                if new != (live[label], later[label]):
                    live[label], later[label] = new
                    changed = True
            changed = changed and any(loops)
        arrivals = [0] * count
        for label in range(count):
            for goal in following[label]:
                arrivals[goal] += 1
        joins = frozenset(label for label in range(count) if arrivals[label] > 1 and not loops[label])
        return Shape(tuple(live), tuple(later), tuple(loops), joins)


def bits(slots: tuple[int, ...]) -> int:
    """Return the set of consecutive `slots`, such as those of an array, as bits."""
    return ((1 << len(slots)) - 1) << slots[0]


def goals(label: int, instruction: Instruction) -> tuple[int, ...]:
    """Return the numbers of the instructions that may follow `instruction`, which has the number `label`."""
    match instruction:
        case Halt():
            return ()
        case Jump(goal):
            return (goal,)
        case Branch(_, otherwise):
            return (label + 1, otherwise)
        case _:
            return (label + 1,)


def accesses(instruction: Instruction) -> tuple[int, Place | None]:
    """Return the slots that `instruction` may read, as bits, and the place that it writes, or None."""
    codes, target = _expressions(instruction)
    reads = 0
    for place in places_in(codes):
        reads |= bits(place.slots)
    return reads, target


def places(instruction: Instruction) -> Iterator[Place]:
    """Yield the places that `instruction` may read or write."""
    codes, target = _expressions(instruction)
    if target is not None:
        yield target
    yield from places_in(codes)


def _expressions(instruction: Instruction) -> tuple[list[Code], Place | None]:
    """Return the expressions that `instruction` evaluates, and the place that it writes, or None."""
    codes: list[Code] = []
    match instruction:
        case Store(_, code) | Sample(_, _, _, code) | Branch(code, _):
            codes = [code]
        case Choice(_, arms):
            codes = [code for code, _ in arms]
        case Scored(_, _, scored):
            codes = [code for _, code in scored]
        case _:
            pass
    target = None if isinstance(instruction, Branch | Jump | Halt) else instruction.target
    if target is not None and target.index is not None:
        codes.append(target.index)
    return codes, target


def places_in(codes: Iterable[Code]) -> Iterator[Place]:
    """Yield the places that the expressions `codes` read."""
    waiting = list(codes)
    for code in waiting:
        match code:
            case Place(_, _, index):
                yield code
                if index is not None:
                    waiting.append(index)
            case Operation(_, arguments):
                waiting += arguments
            case _:
                pass

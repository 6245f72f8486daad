"""Privacy for all real inputs by shifts of the noises, for one program and for every number of queries.

The program is executed with its inputs left open. By the lemma in FORMAT.md, the program is private if shifts map each
exit at one input into the same exit at another, at a cost within the budget.

For one program the certificate states the shifts. For every number of queries, all paths through the heads of the loop
(`loops.py`) are followed, with all extreme moves of the inputs of each index. Each head has a table of costs: for each
choice of shifts of the noises carried there, the least cost of these shifts, if it is within the budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any

from dipc.verifier import reading as read
from dipc.verifier.bounds import OpenRun, open_input
from dipc.verifier.clipped import Box, boxed
from dipc.verifier.clipped import moves as moves_in_box
from dipc.verifier.execution import Affine
from dipc.verifier.ideal import open_inputs
from dipc.verifier.linear import Guard, answers_count, key_of
from dipc.verifier.loops import MOST_HEADS, LoopRuns, State, endless_program
from dipc.verifier.noise import Bounded, Family, Normal, is_whole
from dipc.verifier.probability import visits
from dipc.verifier.program import Halt, Machine
from dipc.verifier.reading import Budget, NotDerived, Rejected, in_step
from dipc.verifier.signs import exp_minus
from dipc.verifier.syntax import Program

_ZERO, _ONE = Fraction(0), Fraction(1)


# === alignment =================================================================================

#: The bits of the power of e with which delta is compared.
_BITS = 256


@dataclass(frozen=True, slots=True)
class Change:
    """The change Σ noises·t + Σ inputs·d of a linear form, for a shift t of the noises and a move d of the inputs."""

    noises: Mapping[int, Fraction]
    inputs: Mapping[int, Fraction]

    def value(self, shift: Mapping[int, Fraction], move: Mapping[int, Fraction]) -> Fraction:
        """Return the value of the change for the shift `shift` of the noises and the move `move` of the inputs."""
        moved = sum((c * move[slot] for slot, c in self.inputs.items() if slot in move), _ZERO)
        return sum((c * shift[i] for i, c in self.noises.items() if i in shift), moved)


@dataclass(frozen=True)
class ShiftConditions:
    """The conditions on shifts of the noises along one path: `slacks` must not fall, and `outputs` must not change.

    `rates` has the noises that may be shifted, in the order in which they are drawn, with their rates in multiples of
    eps. If such a noise is one-sided, its shift is one of the slacks.
    """

    slacks: tuple[Change, ...]
    outputs: tuple[Change, ...]
    rates: Mapping[int, Fraction]

    def cost(self, shift: Mapping[int, Fraction]) -> Fraction:
        """Return the cost of `shift`, in multiples of eps."""
        return sum((rate * abs(shift.get(i, _ZERO)) for i, rate in self.rates.items()), _ZERO)

    def holds(self, shift: Mapping[int, Fraction], move: Mapping[int, Fraction]) -> bool:
        """True if every run along the path still takes it after a change: noises by `shift`, and inputs by `move`.

        The real outputs must also be the same before and after the change.
        """
        return all(change.value(shift, move) >= 0 for change in self.slacks) and all(
            change.value(shift, move) == 0 for change in self.outputs
        )


@dataclass(frozen=True)
class Alignment:
    """The `exits` of a program with unknown real inputs, and which inputs are adjacent.

    Inputs are adjacent if they are within `radius` of each other by `distance`. `slots` are the slots of the inputs. If
    the program clips inputs, `widths` has the widths of their ranges by slot, None for an input that is not clipped.
    `growing` are the one-sided noises.
    """

    exits: Sequence[ShiftConditions]
    growing: frozenset[int]
    slots: Sequence[int]
    distance: str
    radius: Fraction
    widths: Mapping[int, Fraction | None] | None

    @staticmethod
    def from_program(
        tree: Program,
        machine: Machine,
        constants: Mapping[str, Fraction],
        adjacent: tuple[str, Fraction],
        budget: Budget,
    ) -> Alignment:
        """Return the exits of the program `tree`, as conditions on shifts, for unknown inputs.

        `machine` is the program compiled with `constants`, and `adjacent` a distance and a radius. Charges its work to
        `budget`. Raises NotDerived for inputs that are not real, for Gaussian noise, and for a distance other than
        "linf" and "l1"; it may be "hamming" if the program clips inputs.
        """
        box = boxed(tree, constants)
        widths = None
        if box is not None:
            machine = Machine.compile(box.tree, constants, budget)
            widths = {slot: box.width(machine.slots[slot].name) for slot in machine.numbered("input")}
        distance, slots = adjacent[0], machine.numbered("input")
        if distance not in ("linf", "l1") and (distance != "hamming" or box is None):
            raise NotDerived(f"with the adjacency {distance[:20]}, inputs may move by any amount")
        if any(machine.slots[slot].type != "real" for slot in slots):
            raise NotDerived("an input is not real")
        run = OpenRun(machine, budget, keeps_outputs=True, decide=_left_open, unites=True)
        run.explore(open_inputs(machine, (), open_input))
        visits(run, budget)  # the weights of all ways are those of a program
        growing = frozenset(i for i, (family, _) in run.laws.items() if family is Family.ONE_SIDED)
        exits = []
        for state, known in run.ends.items():
            slacks = [Change(*run.centered(row.form)) for row in known.rows.values()]
            outputs = [Change(*run.centered(held.terms)) for held in run.outputs(state) if isinstance(held, Affine)]
            laws = {i: run.laws[i] for i in sorted({i for change in (*slacks, *outputs) for i in change.noises})}
            if any(isinstance(family, Normal) for family, _ in laws.values()):
                raise NotDerived("shifts of Gaussian noise have no finite cost")
            # Integer noises and noises between two ends are not shifted: no shift keeps their support.
            rates = {i: law[1] for i, law in laws.items() if not (is_whole(law[0]) or isinstance(law[0], Bounded))}
            slacks += [Change({i: _ONE}, {}) for i in rates if i in growing]
            exits.append(ShiftConditions(tuple(slacks), tuple(outputs), rates))
        return Alignment(exits, growing, slots, distance, adjacent[1], widths)

    def moves(self, aligned: ShiftConditions) -> Iterator[dict[int, Fraction]]:
        """Yield extreme moves of the inputs: if each has a shift for the exit `aligned`, every move has one.

        A move is to an adjacent input. An input that no real output depends on, and that all half-spaces depend on with
        one sign, moves only in the direction that makes half-spaces fail.
        """
        if self.widths is not None:
            forms = [change.inputs for change in (*aligned.slacks, *aligned.outputs)]
            yield from moves_in_box(forms, len(aligned.slacks), self.widths, self.distance, self.radius)
            return
        if self.distance == "l1":
            yield from ({slot: end} for slot in self.slots for end in (self.radius, -self.radius))
            return
        ends: list[tuple[Fraction, ...]] = []
        for slot in self.slots:
            signs = {change.inputs[slot] > 0 for change in aligned.slacks if change.inputs.get(slot)}
            if len(signs) > 1 or any(change.inputs.get(slot) for change in aligned.outputs):
                ends.append((self.radius, -self.radius))
            else:
                ends.append((-self.radius if True in signs else self.radius,))
        yield from (dict(zip(self.slots, values, strict=True)) for values in product(*ends))

    def cost(self, stated: object, budget: Budget) -> Fraction:
        """Return a K for which the program is K·eps-private: the greatest cost of the shifts in `stated`.

        There is one shift for each exit and each of its moves. Charges its work to `budget`. Raises Rejected if a shift
        is wrong.
        """
        with in_step("alignment"):
            vectors, numbers = read.fields(
                stated, {"vectors": read.listed(read.coefficients), "exits": read.listed(read.listed(read.natural))}
            )
        if len(numbers) != len(self.exits):
            raise Rejected(f"there are shifts for {len(numbers)} of {len(self.exits)} exits")
        bound = _ZERO
        for number, (aligned, chosen) in enumerate(zip(self.exits, numbers, strict=True)):
            with in_step(f"exit {number}"):
                places = tuple(aligned.rates)
                left = iter(chosen)
                for move in self.moves(aligned):
                    budget.spend(10 + 4 * sum(len(change.noises) + len(change.inputs) for change in aligned.slacks))
                    vector = vectors[read.index(next(left, None), vectors)]
                    if any(place >= len(places) for place in vector):
                        raise Rejected("it shifts a noise that does not exist")
                    shift = {places[place]: t for place, t in vector.items()}
                    if not aligned.holds(shift, move):
                        raise Rejected("a shift does not map the exit into itself")
                    bound = max(bound, aligned.cost(shift))
                if next(left, None) is not None:
                    raise Rejected("it has more shifts than there are moves of the inputs")
        return bound

    def shifts_one_noise(self, stated: Mapping[str, Any]) -> bool:
        """True if there is one exit, and all shifts in `stated` move one Laplace noise."""
        places = {place for vector in stated["vectors"] for place, _ in vector}
        if len(self.exits) != 1 or len(places) > 1:
            return False
        return self.growing.isdisjoint(tuple(self.exits[0].rates)[place] for place in places)


def delta_suffices(
    delta: Mapping[tuple[int, Fraction], Fraction], short: Fraction, uppers: Sequence[Fraction | None]
) -> bool:
    """True only if `delta` is at least 1 - e^(-short·eps/2) for every eps up to the greatest of `uppers`.

    If the shifts move one Laplace noise at a cost of K + `short`, in multiples of eps, such a delta makes the program
    private with the budget K. `short` must be positive. `delta` has the coefficients c of terms c·eps^k·e^(q·eps) by
    (k, q). None among `uppers` is infinity. False proves nothing.
    """
    rest = {(0, _ZERO): Fraction(-1), (0, -short / 2): _ONE}
    for key, c in delta.items():
        rest[key] = rest.get(key, _ZERO) + c
    if all(c >= 0 for c in rest.values()):
        return True
    number = delta.get((0, _ZERO), _ZERO)
    if number >= 1 or None in uppers or set(delta) - {(0, _ZERO)}:
        return number >= 1 and not set(delta) - {(0, _ZERO)}
    least, _ = exp_minus(short * max(upper for upper in uppers if upper is not None) / 2, _BITS)
    return 1 - number <= Fraction(least, 1 << _BITS)


def _left_open(guard: Guard) -> bool:
    raise NotDerived(f"an exit compares {len(guard.form)} inputs without noise")


# === loop shifts ===============================================================================


#: The most tables of costs.
MOST_TABLES = 20_000

#: The number of queries is replaced by the least plus this, more than a run through MOST_HEADS heads reaches.
_MANY = 1_000


@dataclass(frozen=True)
class HeadPath(ShiftConditions):
    """A path through one iteration, from a head to the next, with the conditions on shifts of its noises.

    Noises carried from earlier iterations have the first numbers, and noises drawn on the path, which may be shifted,
    the next ones. `goal` is the head that follows, None at the end of the program. `carried` are the noises that later
    iterations read.
    """

    goal: int | None
    carried: tuple[int, ...]


#: The least cost so far, by the shifts of the noises that are carried.
Costs = Mapping[tuple[Fraction, ...], Fraction]


@dataclass(frozen=True, slots=True)
class Followed:
    """The question of how to shift the noises of `path` after the `move` of the inputs.

    `costs` maps shifts of the carried noises to the least cost of reaching them. For each of these shifts, the answer
    has shifts of the noises drawn on the path. Inputs move by at most `radius`, and no cost may exceed `most`.
    """

    costs: Costs
    path: HeadPath
    move: Mapping[int, Fraction]
    radius: Fraction
    most: Fraction

    @property
    def key(self) -> str:
        """The key of the answer in the certificate."""
        path = self.path
        sums = [(sorted(each.noises.items()), each.value({}, self.move)) for each in (*path.slacks, *path.outputs)]
        rates = tuple(path.rates.values())
        words = sorted(self.costs.items()), path.carried, rates, *sums, len(path.outputs), self.most
        return key_of(map(str, words))

    def carried_shifts(self, before: Sequence[Fraction], fresh: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Return the shifts of those noises that later iterations read.

        `before` has the shifts of the noises carried to the path, `fresh` those of the noises that it draws.
        """
        shifts = (*before, *fresh)
        return tuple(shifts[noise] for noise in self.path.carried)

    def cost(self, before: Sequence[Fraction], fresh: Sequence[Fraction]) -> Fraction | None:
        """Return the total cost of shifting the noises of earlier iterations and of this path.

        `before` has the shift of each noise that was drawn earlier and is still read, and `fresh` that of each noise
        drawn on the path. The result is None if the cost exceeds `most`, or if the shifts do not satisfy the conditions
        of the path.
        """
        shifts = dict(enumerate((*before, *fresh)))
        cost = self.costs[tuple(before)] + self.path.cost(shifts)
        return cost if cost <= self.most and self.path.holds(shifts, self.move) else None


def require_private(
    tree: Program,
    numbers: tuple[str, int],
    constants: Mapping[str, Fraction],
    adjacent: tuple[str, Fraction],
    most: Fraction,
    budget: Budget,
) -> int:
    """Check that the program `tree` is most·eps-private for all real adjacent inputs and every m.

    `numbers` is the parameter and its least value, `adjacent` a distance and a radius, and `most` a number. `constants`
    has the values of the program's constants. Returns the number of paths through iterations. Charges its work to
    `budget`. Raises NotDerived if privacy is not proved.
    """
    parameter, least = numbers
    given = {**constants, parameter: Fraction(least + _MANY)}
    box = boxed(tree, {name: value for name, value in constants.items() if name != parameter})
    tree = tree if box is None else box.tree
    side = endless_program(tree, parameter, given, budget)
    if least < side.low:
        raise NotDerived(f"the loop has no iteration at {parameter} = {least}")
    slots = side.machine.slots
    inputs = {slots[slot].name: value for slot, value in open_inputs(side.machine, ()).items()}
    reason: NotDerived | None = None
    for distance, radius in _moves_of_each(tree, box, *adjacent):
        runs = LoopRuns(side, inputs, len(slots), budget)
        try:
            return _Exploration(runs, distance, radius, most, budget).check()
        except NotDerived as other:
            reason = reason or other
    raise reason or NotDerived("inputs that move by an unbounded amount are not covered")


def _moves_of_each(tree: Program, box: Box | None, distance: str, radius: Fraction) -> Iterator[tuple[str, Fraction]]:
    """Yield adjacencies (distance, radius), each of which includes the adjacency by `distance` and `radius`.

    A proof of privacy for one of the results is thus enough. `tree` is the program. If `box` is not None, it has the
    ranges of inputs, and no input moves farther than its range is wide.
    """
    widths = [None if box is None else box.width(each.name) for each in tree.variables if each.role == "input"]
    finite = [width for width in widths if width is not None]
    most = max(finite) if finite and len(finite) == len(widths) else None
    if distance == "linf":
        yield distance, radius if most is None else min(radius, most)
    elif distance == "l1" or most is not None:
        total = radius if distance == "l1" or most is None else radius * most
        every = [("l1", total)]
        if most is not None:
            # The second distance serves inputs that move in turn, each as far as it can.
            every.insert(int(total <= most), ("linf", min(total, most)))
        yield from every


#: Shifts of the noises carried so far, and of those that are drawn.
_SHIFTS = read.listed(read.tuple_of(read.listed(read.rational), read.listed(read.rational)))


@dataclass
class _Exploration:
    runs: LoopRuns
    distance: str
    radius: Fraction
    most: Fraction
    budget: Budget
    _numbers: dict[object, int] = field(default_factory=dict)
    _heads: list[State] = field(default_factory=list)
    _ways: dict[int | None, tuple[HeadPath, ...]] = field(default_factory=dict)

    def check(self) -> int:
        """Check every path, and return the number of paths.

        Raises NotDerived if a path has no shifts within the budget.
        """
        side = self.runs.side
        slots = side.machine.slots
        shared = [slot for slot in side.machine.numbered("input") if slots[slot].name not in side.elements]
        for fixed, spent in self._moves(shared, spent=False):
            seen: set[object] = set()
            waiting: list[tuple[int | None, bool, Costs]] = [(None, spent, {(): _ZERO})]
            while waiting:
                head, moved, costs = waiting.pop()
                for way in self._ways_from(head):
                    names = {slot for change in (*way.slacks, *way.outputs) for slot in change.inputs}
                    for own, after in self._moves(sorted(names.difference(shared)), spent=moved):
                        costs_after = self._followed(costs, way, {**fixed, **own})
                        if not costs_after:
                            raise NotDerived("some run has no shifts within the budget")
                        key = way.goal, after, frozenset(costs_after.items())
                        if way.goal is None or key in seen:
                            continue
                        seen.add(key)
                        if len(seen) > MOST_TABLES:
                            raise NotDerived(f"shifts lead to more than {MOST_TABLES} tables of costs")
                        waiting.append((way.goal, after, costs_after))
        return sum(map(len, self._ways.values()))

    def _moves(self, slots: Sequence[int], *, spent: bool) -> Iterator[tuple[dict[int, Fraction], bool]]:
        """Yield (moves, is spent) for the extreme ways to change the inputs in `slots` in one iteration.

        The moves are the changes of inputs, by slot; an input that is left out does not move. Under linf each input
        moves by the radius, up or down. Under l1 at most one input of the whole run moves, and `spent` is True if one
        has moved before. The second result is `spent` after these moves.
        """
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
        self, costs: Costs, way: HeadPath, moves: Mapping[int, Fraction]
    ) -> dict[tuple[Fraction, ...], Fraction]:
        """Return the least costs after the path `way`, by the shifts of the noises that later iterations read.

        `costs` has the least costs before the path, by the shifts of the noises that the path itself reads. `moves` has
        the change of each input. The certificate states the shifts. Raises WrongAnswer if they are wrong.
        """
        changes = (*way.slacks, *way.outputs)
        self.budget.spend(
            100 + 10 * len(costs) + 4 * len(moves) + sum(4 + 3 * len(change.inputs) for change in changes)
        )
        question = Followed(costs, way, moves, self.radius, self.most)
        with answers_count():
            answer = self.budget.answers.find(question.key, question)
            costs_after: dict[tuple[Fraction, ...], Fraction] = {}
            (stated,) = read.fields({"shifts": []} if answer is None else answer, {"shifts": _SHIFTS})
            for before, fresh in stated:
                self.budget.spend(5 + 3 * (1 + len(changes)))
                if tuple(before) not in costs or len(fresh) != len(way.rates):
                    raise Rejected("it shifts noises that do not exist")
                cost = question.cost(before, fresh)
                if cost is None:
                    raise Rejected("a shift does not keep the output the same, or costs more than the budget")
                key = question.carried_shifts(before, fresh)
                costs_after[key] = min(costs_after.get(key, cost), cost)
        return costs_after

    # --- ways -----------------------------------------------------------------------------------------

    def _ways_from(self, head: int | None) -> tuple[HeadPath, ...]:
        """Return the paths from head number `head` through one iteration, and those from that head past the loop.

        If `head` is None, return the paths from the start to the loop.
        """
        if head not in self._ways:
            if head is None:
                ways = [self._way(0, end, elements=False) for end in self._ends(self.runs.start())]
            else:
                state = self._heads[head]
                carried = len(state.laws)
                ways = [self._way(carried, end, elements=True) for end in self._ends(self.runs.entered(state))]
                ways += [self._way(carried, end, elements=False) for end in self._ends(self.runs.after_loop(state))]
            self._ways[head] = tuple(ways)
        return self._ways[head]

    def _ends(self, state: State) -> Iterator[State]:
        return self.runs.ways(state, (), self._outcomes)

    def _outcomes(self, state: State, guard: Guard) -> list[State]:
        """Return the states for both outcomes of the comparison `guard` in `state`.

        Raises NotDerived if the comparison contains no noise.
        """
        if not any(i >= self.runs.first_noise for i, _ in guard.form):
            raise NotDerived("inputs are compared without noise")
        return [
            replace(state, outcomes=(*state.outcomes, Guard(one.form, one.constant, strict=True)))
            for one in (guard, guard.opposite())
        ]

    def _way(self, carried: int, end: State, *, elements: bool) -> HeadPath:
        side = self.runs.side
        slots = side.machine.slots
        ended = isinstance(side.machine.code[end.at], Halt)
        outputs = [
            end.values[slot]
            for slot in side.machine.numbered("output")
            if (elements if slots[slot].name in side.elements else ended)
        ]
        goal, kept = (None, ()) if ended else self._head(end)
        return HeadPath(
            tuple(self._change(guard.form) for guard in end.outcomes),
            tuple(self._change(value.terms) for value in outputs if isinstance(value, Affine)),
            {i: rate for i, (_, rate) in enumerate(end.laws) if i >= carried},
            goal,
            tuple(i - self.runs.first_noise for i in kept),
        )

    def _change(self, form: Iterable[tuple[int, Fraction]]) -> Change:
        first = self.runs.first_noise
        terms = dict(form)
        return Change(
            {i - first: c for i, c in terms.items() if i >= first}, {i: c for i, c in terms.items() if i < first}
        )

    def _head(self, state: State) -> tuple[int, tuple[int, ...]]:
        head, kept = self.runs.stripped(state)
        if head.key not in self._numbers:
            if len(self._heads) >= MOST_HEADS:
                raise NotDerived(f"the head of the loop is reached in more than {MOST_HEADS} states")
            self._numbers[head.key] = len(self._heads)
            self._heads.append(head)
        return self._numbers[head.key], kept

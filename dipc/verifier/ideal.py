"""The `ideal` block: the right answer det(u) and the distance to disagreement dd(u) (FORMAT.md, lemma 4).

`Ideal.compile` reads the block; `Ideal.answer` and `Ideal.distance` compute det and dd. Each may raise NotDerived.

The block is executed with real and int inputs left open. Its half-spaces of inputs may or may not contain their
boundaries: the guard f > 0 is written f >= δ for a δ less than every positive number. Sums of guards show whether they
are strict, and `Constraints` treats inputs as it treats noises.

A form of ints with coprime coefficients is an integer: f + c > 0 is f + ceil(c) - 1 >= 0. No guard mixes reals and
ints. A path that no integers take may remain. Only a search for integers may rely on such a path being empty.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import total_ordering
from itertools import combinations_with_replacement, product
from math import ceil, comb, floor, prod
from typing import TypeVar

from dipc.verifier.execution import (
    Affine,
    Constraints,
    Execution,
    Held,
    NoiseHalfspace,
    Split,
    State,
    Step,
    plus,
    scaled,
)
from dipc.verifier.functions import Closed
from dipc.verifier.linear import Guard, grouped, is_empty, least
from dipc.verifier.multisets import nearest_orders, with_single_places
from dipc.verifier.program import Instruction, Machine, Scored, Store, Value, typed, values_of
from dipc.verifier.reading import Budget, NotDerived
from dipc.verifier.syntax import Name, Program

_ZERO, _ONE = Fraction(0), Fraction(1)

_Told = TypeVar("_Told")


# === sides =====================================================================================


@total_ordering
@dataclass(frozen=True, slots=True)
class EdgeNumber:
    """The number value + small·δ, for a δ > 0 that is less than every positive number."""

    value: Fraction
    small: int

    def __add__(self, other: object) -> EdgeNumber:
        if isinstance(other, EdgeNumber):
            return EdgeNumber(self.value + other.value, self.small + other.small)
        if isinstance(other, int | Fraction):
            return EdgeNumber(self.value + other, self.small)
        return NotImplemented

    __radd__ = __add__

    def __neg__(self) -> EdgeNumber:
        """Return the constant of the opposite half-space, where this number is the constant of the given half-space.

        The opposite half-space has exactly the points that the given one does not have. So a point on the boundary
        belongs to one of the two.
        """
        return EdgeNumber(-self.value, -1 - self.small)

    def __lt__(self, other: object) -> bool:
        if isinstance(other, EdgeNumber):
            return (self.value, self.small) < (other.value, other.small)
        if isinstance(other, int | Fraction):
            return (self.value, self.small) < (other, 0)
        return NotImplemented


def side_of(guard: Guard, *, whole: bool = False) -> NoiseHalfspace:
    """Return the half-space of `guard`, with a constant that says whether the boundary belongs to it.

    If `whole` is true, all inputs in the guard are integers. The constant is rounded to an integer, and the boundary
    always belongs to the half-space. Otherwise the constant is an EdgeNumber.
    """
    side = NoiseHalfspace.from_terms(dict(guard.form), guard.constant, whole=False)
    if whole:
        return replace(side, constant=ceil(side.constant) - 1 if guard.strict else floor(side.constant), whole=True)
    return replace(side, constant=EdgeNumber(Fraction(side.constant), -1 if guard.strict else 0))


def guard_of(side: NoiseHalfspace) -> Guard:
    """Return the guard of the half-space `side`; the inverse of `side_of`."""
    form, constant = tuple((i, Fraction(c)) for i, c in side.form), side.constant
    if isinstance(constant, EdgeNumber):
        return Guard(form, constant.value, strict=constant.small < 0)
    return Guard(form, Fraction(constant), strict=False)


def region(guards: Iterable[Guard], whole: Set[int]) -> Constraints:
    """Return the conjunction of those `guards` that contain inputs; the inputs in `whole` are integers."""
    constraints = Constraints({})
    for guard in guards:
        if guard.form:
            constraints &= side_of(guard, whole=all(i in whole for i, _ in guard.form))
    return constraints


def tightened(guard: Guard, whole: Set[int]) -> Guard:
    """Return a guard that holds at the same inputs as `guard`, where the inputs in `whole` are integers.

    A guard about integers alone gets an integer constant and is not strict; others are unchanged.
    """
    if not guard.form or not all(i in whole for i, _ in guard.form):
        return guard
    return guard_of(side_of(guard, whole=True))


# === ideal =====================================================================================

#: The most paths of an ideal, and the most combinations of its finite inputs.
MOST_PATHS = 2_000

#: The most multisets of finite inputs that may be exchanged.
MOST_MULTISETS = 20_000


NORMS = ("linf", "l1", "discrete")

#: Types of inputs that are left open.
OPEN = ("real", "int")


@dataclass(frozen=True, slots=True)
class Path:
    """A path of the `ideal`: det is `answer`, with a value for each output, at inputs where all `guards` hold."""

    guards: tuple[Guard, ...]
    answer: tuple[Value | Affine, ...]


class _Symbolic(Execution):
    """A run of a deterministic program whose real and int inputs are unknowns, numbered by their slots.

    The constraints of its states are about inputs, not about noises.
    """

    def has_ties(self, form: Affine) -> bool:
        """True if `form` can be 0 at some inputs: every `form` that contains an input can."""
        return bool(form.terms)

    def is_nonnegative(self, form: Affine, known: Constraints) -> bool:
        return self._holds(
            side_of(Guard(form.terms, form.constant, strict=False), whole=self._is_integral(form)), known
        )

    def is_integer(self, number: int) -> bool:
        return 0 <= number < len(self.machine.slots) and self.machine.slots[number].type == "int"

    def reached_again(self, number: int) -> None:  # noqa: ARG002
        raise NotDerived("the `ideal` may run forever")

    def sides(self, known: Constraints, row: NoiseHalfspace) -> list[Constraints]:
        """Return two constraints: `known` with the half-space `row`, and `known` with its opposite.

        A result that no input satisfies is left out. Raises NotDerived for too many paths.
        """
        if sum(map(len, self._waiting.values())) + len(self.ends) > MOST_PATHS:
            raise NotDerived(f"the `ideal` has more than {MOST_PATHS} paths")
        return [known & side for side in (row, row.opposite()) if not self.is_contradicted(known, side)]

    def is_contradicted(self, known: Constraints, side: NoiseHalfspace) -> bool:
        """True if no input satisfies both the constraints `known` and the half-space `side`.

        The caller has already looked for contradictions that are visible without a linear program.
        """
        together = [*known.rows.values(), side]
        if all(one.edge() is not None for one in together):
            return False  # Differences are contradictory only where they are seen to be.
        guards = list(map(guard_of, together))
        return is_empty(next(group for group in grouped(guards) if guards[-1] in group), self.budget)

    def _after(
        self, state: State, known: Constraints, instruction: Instruction
    ) -> Iterator[tuple[Closed | None, Step | None, State]]:
        if not isinstance(instruction, Scored):
            return super()._after(state, known, instruction)
        # An ideal exponential mechanism picks the first of the best candidates.
        best, most = instruction.arms[0][0], None
        for candidate, code in instruction.arms:
            score = self.value(code, state.values, known)
            if isinstance(score, bool | str):
                raise NotDerived("a score is not a number")
            if most is None or self.compared(">", plus(score, scaled(most, -_ONE)), known):
                best, most = candidate, score
        return super()._after(state, known, Store(instruction.target, best))


@dataclass
class Ideal:
    """The deterministic program of an `ideal` block, whose paths are found once for each value of the finite inputs.

    The guards of the paths of one combination of finite inputs are disjoint, and cover all real and int inputs that
    satisfy the program's `requires`. No path is about other inputs. `alike` lists groups of inputs, by index, whose
    values may be exchanged without changing answers and distances.
    """

    machine: Machine
    norm: str
    budget: Budget
    #: Groups of finite inputs, by place, whose exchange is known to change no answer.
    alike: tuple[tuple[int, ...], ...] = ()
    _paths: dict[tuple[object, ...], tuple[Path, ...]] = field(default_factory=dict)
    #: The decisive answers by the sum of the numbers of the inputs, one entry for each multiset of exchangeable inputs.
    _multisets: list[tuple[Fraction, tuple[Value, ...], tuple[object, ...]]] | None = None

    @staticmethod
    def compile(tree: Program, constants: Mapping[str, Fraction], budget: Budget) -> Ideal:
        """Return the ideal of the program `tree`, compiled with these values of its `constants`.

        The program must have an ideal. Later work of the returned object is charged to `budget`, too. Raises NotDerived
        if the checker cannot use the ideal.
        """
        assert tree.ideal is not None
        norm = input_norm(tree)
        if norm not in NORMS:
            raise NotDerived("the `metric` block uses a distance between inputs that this checker does not know")
        own = replace(tree, variables=(*tree.visible, *tree.ideal.variables), body=tree.ideal.body)
        machine = Machine.compile(own, constants, budget)
        if machine.distance.apart and whole_inputs(machine):
            raise NotDerived("the `metric` block has a distance between inputs, which is not covered for int inputs")
        return Ideal(machine, norm, budget)

    @property
    def integer_inputs(self) -> frozenset[int]:
        """The slots of the inputs that are integers."""
        return whole_inputs(self.machine)

    def answer(self, inputs: Sequence[Value]) -> tuple[Value, ...]:
        """Return the right answer det at `inputs`: a value for every output, in order."""
        _, path = self.path_at(inputs)
        _, point = self._parted(inputs)
        return tuple(
            sum((c * point[i] for i, c in value.terms), value.constant) if isinstance(value, Affine) else value
            for value in path.answer
        )

    def path_at(self, inputs: Sequence[Value]) -> tuple[tuple[Value, ...], Path]:
        """Return the values of the finite inputs in `inputs`, and the path of the ideal at these inputs."""
        finite, point = self._parted(inputs)
        for path in self.paths(finite):
            self.budget.spend(2)
            if all(guard.holds(point) for guard in path.guards):
                return finite, path
        raise NotDerived("the `ideal` may end without an answer")

    def decisive_outputs(self, answer: Sequence[_Told]) -> tuple[_Told, ...]:
        """Return the outputs of `answer` that matter for dd.

        For dd, answers that differ in other outputs alone count as equal.
        """
        return tuple(answer[place] for place in self.machine.distance.decisive)

    def distance(self, inputs: Sequence[Value]) -> Fraction | None:
        """Return the distance to disagreement dd at `inputs`; None is infinity."""
        if self.alike and len(inputs) == len(self._finite_inputs):
            return self._distance_of_multisets(inputs)
        own, point = self._parted(inputs)
        answer = self.answer(inputs)
        best: Fraction | None = None
        for finite in self.combinations():
            gaps = [gap(one, other) for one, other in zip(own, finite, strict=True)]
            away = self._combined(gaps)
            paths: list[tuple[Fraction, list[Guard]]] = []
            for path in self.paths(finite):
                self.budget.spend(10 + 4 * len(path.guards))
                paths += [
                    (max((self._distance_bound(guard, point) for guard in guards), default=_ZERO), guards)
                    for guards in self._not_apart(self._other_answers(path, inputs, answer), inputs, finite)
                ]
            for bound, guards in sorted(paths, key=lambda pair: pair[0]):
                if best is not None and max(bound, away) >= best:
                    break
                distances = [self._distance_to(group, point) for group in grouped(guards)]
                known = [number for number in distances if number is not None]
                if len(known) < len(distances):
                    continue  # There are no such integers.
                total = self._combined([away, *known])
                if self.norm == "discrete" and not total:
                    total = _ONE  # another answer is not at the same place
                best = total if best is None or total < best else best
        return best

    # --- multisets --------------------------------------------------------------------------------

    @property
    def _finite_inputs(self) -> list[int]:
        return [slot for slot in self.machine.numbered("input") if self.machine.slots[slot].type not in OPEN]

    def _distance_of_multisets(self, inputs: Sequence[Value]) -> Fraction | None:
        """Return dd at the finite `inputs`, some of which may be exchanged (FORMAT.md, lemma 4e).

        The result is None if no inputs have another answer.
        """
        if self._multisets is None:
            self._multisets = sorted(self._answers_of_multisets(), key=lambda each: each[0])
        own = self._answer_key(self.answer(inputs))
        height = _height(inputs)
        # The sum of all numbers changes at most by this over the distance 1.
        steepness = {"l1": 1, "linf": len(inputs)}.get(self.norm)
        best: Fraction | None = None
        start = bisect_left(self._multisets, height, key=lambda each: each[0])
        for step in (range(start, len(self._multisets)), range(start - 1, -1, -1)):
            for position in step:
                there, other, told = self._multisets[position]
                if best is not None and steepness is not None and abs(there - height) >= best * steepness:
                    break
                self.budget.spend(2)
                if told != own:
                    self.budget.spend(10 * len(inputs))
                    pairs = zip(*nearest_orders(inputs, other, self.alike), strict=True)
                    away = self._combined([gap(a, b) for a, b in pairs])
                    best = away if best is None or away < best else best
        return best

    def _answers_of_multisets(self) -> Iterator[tuple[Fraction, tuple[Value, ...], tuple[object, ...]]]:
        slots = self._finite_inputs
        groups = with_single_places(self.alike, len(slots))
        values = [values_of(self.machine.slots[slots[group[0]]].type) for group in groups]
        count = prod(comb(len(group) + len(own) - 1, len(group)) for group, own in zip(groups, values, strict=True))
        if count > MOST_MULTISETS:
            raise NotDerived(f"the finite inputs have more than {MOST_MULTISETS} multisets")
        chosen = (combinations_with_replacement(own, len(group)) for group, own in zip(groups, values, strict=True))
        for bags in product(*chosen):
            self.budget.spend(20 + 2 * len(slots))
            held: dict[int, Value] = {}
            for group, bag in zip(groups, bags, strict=True):
                held |= zip(group, bag, strict=True)
            inputs = tuple(held[place] for place in range(len(slots)))
            if self.paths(inputs):  # the others do not satisfy `requires`
                yield _height(inputs), inputs, self._answer_key(self.answer(inputs))

    def _answer_key(self, answer: Sequence[Value]) -> tuple[object, ...]:
        return typed(self.decisive_outputs(answer))

    @property
    def has_apart(self) -> bool:
        """True if some inputs may be infinitely far apart."""
        return bool(self.machine.distance.apart)

    def cases(
        self, one: Mapping[int, Held], other: Mapping[int, Held], known: Sequence[Guard]
    ) -> Iterator[tuple[list[Guard], bool]]:
        """Cut the set on which all guards of `known` hold into parts on which two inputs are apart or are not.

        Yields, for each nonempty part, (its guards, True if the inputs `one` and `other` are infinitely far apart
        there). The values of both inputs, by slot, may be affine forms of the variables in the guards.
        """
        distance = self.machine.distance
        values: list[Held] = [None] * (1 + max(distance.other, default=len(self.machine.slots)))
        for slot, there in zip(self.machine.numbered("input"), distance.other, strict=True):
            values[slot], values[there] = one[slot], other[slot]

        def are_apart(run: _Symbolic, there: Constraints) -> bool:
            return any(run.value(code, values, there) is True for code in distance.apart)

        def is_left(_run: _Symbolic, _there: Constraints, guards: Sequence[Guard], side: NoiseHalfspace) -> bool:
            guard = guard_of(side)
            return not is_empty(next(each for each in grouped((*guards, guard)) if guard in each), self.budget)

        if not is_empty(known, self.budget):
            yield from self._divided(known, are_apart, is_left, "metric")

    def allowed(self, inputs: Mapping[int, Held], known: Sequence[Guard]) -> Iterator[tuple[list[Guard], bool]]:
        """Cut the set on which all guards of `known` hold into parts on which an input is allowed or is not.

        Yields, for each nonempty part, (its guards, True if the input `inputs` satisfies `requires` there). The values
        of the input, by slot, may be affine forms of the variables in the guards.
        """
        values: list[Held] = [inputs.get(slot) for slot in range(len(self.machine.slots))]

        def holds(run: _Symbolic, there: Constraints) -> bool:
            return all(run.value(code, values, there) is True for code in self.machine.requires)

        def is_left(run: _Symbolic, there: Constraints, _guards: Sequence[Guard], side: NoiseHalfspace) -> bool:
            return not run.is_contradicted(there, side)

        return self._divided(known, holds, is_left, "requires")

    def _divided(
        self,
        known: Sequence[Guard],
        holds: Callable[[_Symbolic, Constraints], bool],
        is_left: Callable[[_Symbolic, Constraints, Sequence[Guard], NoiseHalfspace], bool],
        block: str,
    ) -> Iterator[tuple[list[Guard], bool]]:
        """Cut the set of inputs where all guards of `known` hold, and yield (guards of a part, value of `holds` there).

        A part on which `holds` raises Split is cut in two by a half-space. A half is dropped if `is_left` is false for
        it. `holds` is called with a run and the constraints of the part; `is_left` also gets the guards of the part and
        the half-space of the half. `block` names the evaluated part of the program in the error message. Raises
        NotDerived if there are too many parts.
        """
        run = _Symbolic(self.machine, self.budget, keeps_outputs=True)
        waiting = [list(known)]
        count = 0
        while waiting:
            guards = waiting.pop()
            count += 1
            if count > MOST_PATHS:
                raise NotDerived(f"the `{block}` of the program has too many conditions on inputs")
            there = region(guards, self.integer_inputs)
            try:
                result = holds(run, there)
            except Split as split:
                sides = split.row, split.row.opposite()
                waiting += [[*guards, guard_of(side)] for side in sides if is_left(run, there, guards, side)]
                continue
            yield guards, result

    # --- paths ------------------------------------------------------------------------------------

    def paths(self, finite: tuple[Value, ...]) -> tuple[Path, ...]:
        """Return all paths of the ideal for the values `finite` of the finite inputs, always in the same order."""
        key = typed(finite)
        if key not in self._paths:
            self._paths[key] = tuple(self._followed(finite))
        return self._paths[key]

    def _followed(self, finite: tuple[Value, ...]) -> Iterator[Path]:
        run = _Symbolic(self.machine, self.budget, keeps_outputs=True)
        run.explore(open_inputs(self.machine, finite))
        for state, known in run.ends.items():
            answer = run.outputs(state)
            guards = tuple(map(guard_of, known.rows.values()))
            parts = [guards]
            if self.machine.requires:
                every = self.allowed(open_inputs(self.machine, finite), guards)
                parts = [tuple(part) for part, holds in every if holds]
            if parts and any(value is None for value in answer):
                raise NotDerived("an output of the `ideal` may have no value at the end")
            for part in parts:
                yield Path(part, tuple(value for value in answer if value is not None))

    # --- distances --------------------------------------------------------------------------------

    def _parted(self, inputs: Sequence[Value]) -> tuple[tuple[Value, ...], dict[int, Fraction]]:
        finite: list[Value] = []
        point: dict[int, Fraction] = {}
        for slot, value in zip(self.machine.numbered("input"), inputs, strict=True):
            if self.machine.slots[slot].type in OPEN:
                assert isinstance(value, Fraction)
                point[slot] = value
            else:
                finite.append(value)
        return tuple(finite), point

    def combinations(self) -> Iterator[tuple[Value, ...]]:
        """Return an iterator over all combinations of values of the finite inputs.

        Raises NotDerived if there are too many combinations.
        """
        choices = [values_of(slot.type) for slot in self.machine.declared("input") if slot.type not in OPEN]
        if prod(map(len, choices)) > MOST_PATHS:
            raise NotDerived(f"the finite inputs have more than {MOST_PATHS} combinations")
        return product(*choices)

    def _other_answers(self, path: Path, inputs: Sequence[Value], answer: tuple[Value, ...]) -> Iterator[list[Guard]]:
        """Yield sets of guards that select the inputs of `path` with an answer other than `answer`.

        An input of `path` has another answer if and only if it satisfies all guards of one of the sets. `answer` is the
        ideal's answer at `inputs`.
        """
        same = self.machine.distance.same
        if same is not None:
            if any(isinstance(value, Affine) for value in path.answer):
                raise NotDerived("the `metric` block compares answers that are functions of the inputs")
            values = dict(zip(self.machine.numbered("input"), inputs, strict=True))
            # The path's answer takes the place of the program's answer.
            values |= zip(self.machine.numbered("output"), path.answer, strict=True)  # type: ignore[arg-type]
            values |= zip(self.machine.distance.exact, answer, strict=True)
            run = Execution(self.machine, self.budget)
            if not all(run.noiseless_value(code, values) is True for code in same):
                yield list(path.guards)
            return
        open_: list[Guard] = []
        for here, there in zip(self.decisive_outputs(path.answer), self.decisive_outputs(answer), strict=True):
            if isinstance(here, Affine):
                assert isinstance(there, Fraction)
                open_.append(Guard(here.terms, here.constant - there, strict=True))
            elif here != there or isinstance(here, bool) is not isinstance(there, bool):
                yield list(path.guards)
                return
        for guard in open_:
            for strict in (guard, replace(guard.opposite(), strict=True)):
                side = tightened(strict, self.integer_inputs)
                guards = [*path.guards, side]
                if not is_empty(next(group for group in grouped(guards) if side in group), self.budget):
                    yield guards

    def _not_apart(
        self, sets: Iterable[list[Guard]], inputs: Sequence[Value], finite: tuple[Value, ...]
    ) -> Iterator[list[Guard]]:
        if not self.has_apart:
            yield from sets
            return
        other = open_inputs(self.machine, finite)
        one: dict[int, Held] = dict(zip(other, inputs, strict=True))
        for guards in sets:
            for subset, apart in self.cases(one, other, guards):
                if not apart:
                    yield subset

    def _distance_bound(self, guard: Guard, point: Mapping[int, Fraction]) -> Fraction:
        """Return a lower bound of the distance from `point` to the nearest input that satisfies `guard`."""
        missing = -guard.value_at(point)
        if missing <= 0 or self.norm == "discrete":
            return _ZERO
        sizes = [abs(c) for _, c in guard.form]
        return missing / (max(sizes) if self.norm == "l1" else sum(sizes))

    def _combined(self, distances: Sequence[Fraction]) -> Fraction:
        if self.norm == "l1":
            return sum(distances, _ZERO)
        greatest = max(distances, default=_ZERO)
        return greatest if self.norm == "linf" else min(greatest, _ONE) and _ONE

    def _distance_to(self, guards: Sequence[Guard], point: Mapping[int, Fraction]) -> Fraction | None:
        whole = any(slot in self.integer_inputs for guard in guards for slot, _ in guard.form)
        if all(guard.value_at(point) >= 0 for guard in guards):
            return _ZERO
        if self.norm == "discrete":
            return None if whole and least({}, list(guards), self.integer_inputs, self.budget) is None else _ONE
        if len(guards) == 1:
            # A step of 1 towards the half-space changes a form with coprime coefficients by its dual norm.
            below = self._distance_bound(guards[0], point)
            return Fraction(ceil(below)) if whole else below
        return self._nearest(guards, point, whole=whole)

    def _nearest(self, guards: Sequence[Guard], point: Mapping[int, Fraction], *, whole: bool) -> Fraction | None:
        """Return the least distance from `point` to a point that satisfies `guards` or lies on their boundaries.

        If `whole` is true, only points with integer coordinates are considered, and the result is None if none of them
        satisfies the guards. Points have the values of inputs by slot.
        """
        # The variables are steps from the point, so that they are integers if the point has integers.
        away = [Guard(guard.form, guard.value_at(point), strict=False) for guard in guards]
        lengths: dict[int, Fraction] = {}
        for slot in sorted({i for guard in guards for i, _ in guard.form}):
            length = -1 if self.norm == "linf" else -1 - slot
            lengths[length] = _ONE
            away += [Guard(((length, _ONE), (slot, sign)), _ZERO, strict=False) for sign in (_ONE, -_ONE)]
        return least(lengths, away, self.integer_inputs if whole else frozenset(), self.budget)


def input_norm(tree: Program) -> str:
    """Return the name of the norm of inputs that the `metric` block of `tree` states, "linf" if it states none.

    If the block has an expression in place of a name, return "".
    """
    given = next((field.value for field in tree.metric if field.name == "input"), Name("linf"))
    return given.name if isinstance(given, Name) else ""


def open_inputs(
    machine: Machine, finite: Iterable[Value], number: Callable[[int], int] = lambda slot: slot
) -> dict[int, Affine | Value]:
    """Return all inputs of `machine` by slot: the finite ones with the values `finite`, the others as unknowns.

    `number` maps the slot of an input to the number of its unknown.
    """
    left = iter(finite)
    return {
        slot: Affine(_ZERO, ((number(slot), _ONE),)) if machine.slots[slot].type in OPEN else next(left)
        for slot in machine.numbered("input")
    }


def whole_inputs(machine: Machine) -> frozenset[int]:
    """Return the slots of the inputs of `machine` that are integers."""
    return frozenset(slot for slot in machine.numbered("input") if machine.slots[slot].type == "int")


def is_integral(machine: Machine) -> bool:
    """True if all distances of inputs of `machine` are integers, in each of the norms."""
    types = [slot.type for slot in machine.declared("input")]
    numbers = [
        value for type_ in types if isinstance(type_, frozenset) for value in type_ if isinstance(value, Fraction)
    ]
    return "real" not in types and all(value.denominator == 1 for value in numbers)


def _height(inputs: Sequence[Value]) -> Fraction:
    return sum((value for value in inputs if isinstance(value, Fraction)), _ZERO)


def gap(one: Value, other: Value) -> Fraction:
    """Return the distance of the values `one` and `other` of a finite input."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return abs(one - other)
    return Fraction(one != other)

"""What slacks leave of probabilities: the program of a certificate executed with its real and int inputs left open.

    found = Bounds(machine, ideal, budget).values(shown, wanted, finite, path, decide, …)

What a certificate says about slacks, added up before, is used for the program's own exits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

from dipc.verifier.budget import Budget
from dipc.verifier.classes import Kind, Required, Shown
from dipc.verifier.constraints import Constraints, NoiseHalfspace
from dipc.verifier.events import Family
from dipc.verifier.execution import Affine, Execution, Held, Shape, Wanted, plus, scaled
from dipc.verifier.ideal import OPEN, Ideal, Path
from dipc.verifier.jointly import tails_value, vertex_values
from dipc.verifier.linear import Guard
from dipc.verifier.probability import Probabilities
from dipc.verifier.program import Machine, Value
from dipc.verifier.rejection import NotDerived
from dipc.verifier.ring import ONE, Closed, add_closed, subtract
from dipc.verifier.visits import visits
from dipc.verifier.ways import Comparison, Law, Way, merged

_ZERO, _ONE = Fraction(0), Fraction(1)

_STEP = "classes"

#: Whether a comparison of inputs holds for all that are looked at.
Decide = Callable[[Guard], bool]


# --- the program with inputs left open ----------------------------------------------------------------


def open_input(slot: int) -> int:
    """The number under which an input stands among noises, which have theirs from 0 on; -1 is taken."""
    return -2 - slot


class OpenRun(Execution):
    """Real and int inputs are unknown numbers. Noise that is not one-sided stands for itself and the inputs in the mean
    around which it is drawn first, `shifts`: differences of what is drawn are then differences of two.

    What is implied or excluded is so for each input, since every half-space has a noise in it. A comparison of inputs
    alone is decided by `decide`, and kept in `asked`: the run is that of all inputs for which it comes out so.
    """

    decide: Callable[[Guard], bool]
    asked: dict[Guard, bool]
    #: Whether states are united: the sum over united ways is greater than that over their parts, one by one.
    unites: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        self.shifts: dict[int, Affine | None] = {}
        self.asked = {}
        self._shape = Shape.of(self.machine, self.machine.numbered("output"), self.budget)

    def _drawn(self, at: int, family: Family, center: Fraction | Affine) -> Fraction | Affine:
        if family is not Family.ONE_SIDED:
            terms = center.terms if isinstance(center, Affine) else ()
            moving = tuple((i, c) for i, c in terms if i < 0)
            discrete = family is Family.DISCRETE_LAPLACE
            if any(self._is_int(i) is not discrete or (discrete and c.denominator != 1) for i, c in moving):
                raise NotDerived("int and real meet")
            shift = self.shifts.setdefault(at, Affine(_ZERO, moving) if moving else None)
            if shift is not None:
                center = plus(center, scaled(shift, -_ONE))
        return super()._drawn(at, family, center)

    def _compared(self, op: str, difference: Fraction | Affine, known: Constraints) -> bool:
        if not isinstance(difference, Affine) or any(i >= 0 for i, _ in difference.terms):
            return super()._compared(op, difference, known)
        above, below = _guard(difference), _guard(scaled(difference, -_ONE))
        match op:
            case ">=":
                return self._asked(above)
            case "<=":
                return self._asked(below)
            case ">":
                return not self._asked(below)
            case "<":
                return not self._asked(above)
            case _:
                return (self._asked(above) and self._asked(below)) is (op == "=")

    def _united(self, numbers: list[int]) -> list[int]:
        return super()._united(numbers) if self.unites else numbers

    def _asked(self, guard: Guard) -> bool:
        if guard not in self.asked:
            self.asked[guard] = self.decide(guard)
        return self.asked[guard]

    def _whole(self, value: Affine) -> bool:
        """Whether it is made of integer noise and int inputs."""
        kinds = {self._is_int(i) if i < 0 else self.laws[i][0] is Family.DISCRETE_LAPLACE for i, _ in value.terms}
        if len(kinds) > 1:
            raise NotDerived("int and real meet")
        return kinds == {True}

    def _is_int(self, number: int) -> bool:
        """Whether the input that stands under this number is an int."""
        return self.machine.slots[open_input(number)].type == "int"

    def outputs(self, state: int) -> list[Held]:
        """What the outputs hold in a state, in their order."""
        return [self._states[state].values[slot] for slot in self.machine.numbered("output")]

    def centered(self, form: Iterable[tuple[int, Fraction | int]]) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
        """The coefficients of centered noises, and those of inputs by slot."""
        noises: dict[int, Fraction] = {}
        inputs: dict[int, Fraction] = {}
        for i, c in form:
            shift = self.shifts.get(i)
            if i >= 0:
                noises[i] = Fraction(c)
            for j, b in ((i, _ONE),) if i < 0 else () if shift is None else shift.terms:
                inputs[open_input(j)] = inputs.get(open_input(j), _ZERO) + b * c
        return noises, {slot: c for slot, c in inputs.items() if c}


def _guard(form: Fraction | Affine) -> Guard:
    """form >= 0, by the slots of the inputs."""
    assert isinstance(form, Affine)
    return Guard(tuple(sorted((open_input(i), c) for i, c in form.terms)), form.constant, strict=False)


# --- bounds -------------------------------------------------------------------------------------------


@dataclass
class Bounds:
    """Bounds of one program. Its exits are found once for inputs whose comparisons come out alike."""

    machine: Machine
    ideal: Ideal
    budget: Budget
    _probabilities: Probabilities = field(init=False)
    _runs: dict[object, list[tuple[OpenRun, Mapping[int, Closed]]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._probabilities = Probabilities(self.machine)

    def require_plain(self) -> None:
        """Raises NotDerived where distances of outputs are others than the product distance."""
        if not self._probabilities.is_plain():
            raise NotDerived("its `metric` block has another distance of outputs")

    def values(
        self,
        shown: Shown,
        wanted: Required,
        finite: tuple[Value, ...],
        path: Path,
        decide: Decide,
        *,
        unites: bool,
        merges: bool,
    ) -> Iterator[Closed]:
        """For each input of which `decide` says how comparisons come out, some of these is at most the probability of
        the path's answer: as the class's bounds of slacks are used. Raises NotDerived, and what `decide` raises."""
        run, weights = self._run(finite, path, decide, others=shown.kind.of_others, unites=unites)
        ways = list(self._ways(run, weights, path, others=shown.kind.of_others))
        if merges:
            ways = merged(ways, self.budget)
        match shown.kind:
            case Kind.WAYS | Kind.OTHERS:
                yield self._at_bounds(ways, shown, wanted)
            case Kind.VERTICES:
                yield from vertex_values(ways, shown, wanted, self._probabilities, self.budget)
            case Kind.TAILS:
                yield tails_value(ways, shown, wanted, self._probabilities, self.budget)
            case _:
                assert_never(shown.kind)

    def _at_bounds(self, ways: Sequence[Way], shown: Shown, wanted: Required) -> Closed:
        """What is left where each slack is at its bound."""
        total: Closed = {}, ONE
        for way in ways:
            found = _constraints(way, shown, wanted, self.budget)
            if found is None:
                continue
            if wanted.is_open:
                way.require_steady()
            part = self._probabilities.weighted(way.weight, *found, self.budget)
            total = add_closed(total, part, self.budget, _STEP)
        return (subtract(total[1], total[0]), total[1]) if shown.kind.of_others else total

    def _run(
        self, finite: tuple[Value, ...], path: Path, decide: Decide, *, others: bool, unites: bool
    ) -> tuple[OpenRun, Mapping[int, Closed]]:
        """All exits with the answer's finite outputs, or all exits at all, and the weights of their states."""
        slots = self.machine.slots
        answer = {
            slot: value
            for slot, value in zip(self.machine.numbered("output"), path.answer, strict=True)
            if slots[slot].type not in OPEN and not isinstance(value, Affine)
        }
        key = (tuple((type(value), value) for value in finite), () if others else tuple(answer.items()), unites)
        known = self._runs.setdefault(key, [])
        for run, weights in known:
            if all(decide(guard) is truth for guard, truth in run.asked.items()):
                return run, weights
        left = iter(finite)
        inputs: dict[int, Held] = {
            slot: Affine(_ZERO, ((open_input(slot), _ONE),)) if slots[slot].type in OPEN else next(left)
            for slot in self.machine.numbered("input")
        }
        run = OpenRun(self.machine, Wanted({} if others else answer, _ZERO), self.budget)
        run.decide, run.unites = decide, unites
        run.explore(inputs)
        known.append((run, visits(run.steps, (end.state for end in run.ends), self.budget)))
        return known[-1]

    def _ways(self, run: OpenRun, weights: Mapping[int, Closed], path: Path, *, others: bool) -> Iterator[Way]:
        """The exits with the answer of the path, numbers near to it, or those with `others`."""
        places = dict(zip(self.ideal.machine.numbered("input"), self.machine.numbered("input"), strict=True))
        for end in run.ends:
            compared: list[Comparison] = []
            same = True
            for held, exact in zip(run.outputs(end.state), path.answer, strict=True):
                if held is None:
                    raise NotDerived("an output may end without a value")
                if isinstance(held, bool | str) or isinstance(exact, bool | str):
                    same = same and held == exact and type(held) is type(exact)
                    continue
                center = exact
                if isinstance(exact, Affine):
                    center = Affine(exact.constant, tuple((open_input(places[i]), c) for i, c in exact.terms))
                gap = plus(held, scaled(center, -_ONE))
                numbers = not isinstance(gap, Affine)
                if others:
                    if not numbers:
                        raise NotDerived("other answers are told apart by outputs that are no numbers")
                    same = same and not gap
                elif gap:
                    compared += self._ball(run, gap)
            if same is others:
                continue
            for row in end.known.rows.values():
                compared.append(Comparison.of(*run.centered(row.form), Fraction(row.constant), 0, row.whole))
            yield Way.of(weights[end.state], compared, run.laws)

    def _ball(self, run: OpenRun, gap: Fraction | Affine) -> Iterator[Comparison]:
        """That an output is off by at most gamma."""
        for side in (_ONE, -_ONE):
            found = scaled(gap, side)
            terms, constant = (found.terms, found.constant) if isinstance(found, Affine) else ((), found)
            noises, inputs = run.centered(terms)
            whole = any(run.laws[i][0] is Family.DISCRETE_LAPLACE for i in noises)
            yield Comparison.of(noises, inputs, constant, 1, whole)


def _constraints(way: Way, shown: Shown, wanted: Required, budget: Budget) -> tuple[Constraints, dict[int, Law]] | None:
    """What has to hold of the noises of a way at the bounds of its slacks, and their laws. Lower ones: None where one
    is not known, or not great enough. Upper ones, for other answers: what has none is left out."""
    others = shown.kind.of_others
    side = -1 if others else 1
    for number in way.numbers:
        if others:
            raise NotDerived("other answers are told apart by outputs that are no numbers")
        found = number.bound(side, shown, wanted)
        if found is None or found.base < 0 or found.slope < 0:
            return None
    known = Constraints({})
    laws: dict[int, Law] = {}
    for part in way.parts:
        first = len(laws)
        laws |= enumerate(part.laws, first)
        for comparison in part.comparisons:
            found = comparison.bound(side, shown, wanted)
            if found is None or (wanted.is_open and found.base < 0):
                if others:
                    continue
                return None
            if wanted.is_open and comparison.whole:
                raise NotDerived("a noise does not scale with the distance")
            constant = side * (found.slope if wanted.is_open else found.base)
            noises = {first + place: c for place, c in comparison.noises}
            row = NoiseHalfspace.of(noises, constant, comparison.whole)
            if known.excludes(row, budget):
                return None
            if not known.implies(row, budget):
                known = known & row
    return known, laws

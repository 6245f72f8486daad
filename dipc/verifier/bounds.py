"""What slacks leave of probabilities: the program of a certificate executed with its real inputs left open.

    found = Bounds(machine, ideal, budget).least(shown, wanted, finite, path, decide)

What a certificate says about slacks, added up before, is used for the program's own exits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dipc.verifier.budget import Budget
from dipc.verifier.classes import Halfspace, Required, Slack, SlackBound, slack_key
from dipc.verifier.constraints import Constraints, NoiseHalfspace
from dipc.verifier.events import Family
from dipc.verifier.execution import Affine, Execution, Held, Shape, Wanted, plus, scaled
from dipc.verifier.ideal import Ideal, Path
from dipc.verifier.linear import Guard
from dipc.verifier.probability import Probabilities
from dipc.verifier.program import Machine, Value
from dipc.verifier.rejection import NotDerived
from dipc.verifier.ring import ONE, Closed, add_closed, subtract
from dipc.verifier.visits import visits

_ZERO, _ONE = Fraction(0), Fraction(1)

_STEP = "classes"

#: Whether a comparison of inputs holds for all that are looked at.
Decide = Callable[[Guard], bool]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a certificate has shown of one class, whichever inputs it is about. `answer` are its outputs as text.

    `value` is the bound: a sum over ways to the answer, or where `subtracted` 1 less one over the ways to all others;
    None where the class is empty. `slacks` are bounds of forms of inputs (of their negatives where `subtracted`).
    """

    number: int
    answer: Mapping[str, str]
    halfspaces: Sequence[Halfspace]
    wanted: Required | None = None
    dd: str | None = None
    value: Closed | None = None
    subtracted: bool = False
    slacks: Mapping[Slack, SlackBound] = field(default_factory=dict)


# --- the program with real inputs left open -----------------------------------------------------------


def open_input(slot: int) -> int:
    """The number under which an input stands among noises, which have theirs from 0 on; -1 is taken."""
    return -2 - slot


class OpenRun(Execution):
    """Real inputs are unknown numbers. A Laplace noise stands for itself and the inputs in the mean around which it is
    drawn first, `shifts`: differences of what is drawn are then differences of two.

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
        if family is Family.LAPLACE:
            terms = center.terms if isinstance(center, Affine) else ()
            moving = tuple((i, c) for i, c in terms if i < 0)
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
        noises = tuple((i, c) for i, c in value.terms if i >= 0)
        whole = bool(noises) and super()._whole(Affine(value.constant, noises))
        if whole and len(noises) < len(value.terms):
            raise NotDerived("int and real meet")
        return whole

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


@dataclass(frozen=True, slots=True)
class _Bound:
    """Σ noises + inputs + constant + radius·gamma >= 0."""

    noises: Mapping[int, Fraction]
    inputs: Mapping[int, Fraction]
    constant: Fraction
    radius: int
    whole: bool


@dataclass(frozen=True, slots=True)
class _Way:
    """An exit: its weight, and what has to hold for it to be taken with an answer near enough."""

    weight: Closed
    bounds: tuple[_Bound, ...]


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
        """Raises NotDerived where distances of outputs are others than the product distance, or inputs are whole."""
        if not self._probabilities.is_plain():
            raise NotDerived("its `metric` block has another distance of outputs")
        for slot in (*self.machine.numbered("input"), *self.machine.numbered("output")):
            if self.machine.slots[slot].type == "int":
                raise NotDerived("it has whole inputs or outputs")

    def least(
        self,
        shown: Shown,
        wanted: Required,
        finite: tuple[Value, ...],
        path: Path,
        decide: Decide,
        *,
        unites: bool,
    ) -> Closed:
        """The least that the slacks' bounds leave of the probability of the path's answer, for all inputs of which
        `decide` says how comparisons come out. Raises NotDerived, and what `decide` raises."""
        run, weights = self._run(finite, path, decide, others=shown.subtracted, unites=unites)
        total: Closed = {}, ONE
        for way in self._ways(run, weights, path, others=shown.subtracted):
            known = _at_bounds(way, shown, wanted, self.budget)
            if known is None:
                continue
            if wanted.is_open and not all(part.keys() <= {(0, _ZERO)} for part in way.weight):
                raise NotDerived("the weight of a choice depends on eps alone")
            part = self._probabilities.weighted(way.weight, known, run.laws, self.budget)
            total = add_closed(total, part, self.budget, _STEP)
        return (subtract(total[1], total[0]), total[1]) if shown.subtracted else total

    def _run(
        self, finite: tuple[Value, ...], path: Path, decide: Decide, *, others: bool, unites: bool
    ) -> tuple[OpenRun, Mapping[int, Closed]]:
        """All exits with the answer's finite outputs, or all exits at all, and the weights of their states."""
        slots = self.machine.slots
        answer = {
            slot: value
            for slot, value in zip(self.machine.numbered("output"), path.answer, strict=True)
            if slots[slot].type != "real" and not isinstance(value, Affine)
        }
        key = (tuple((type(value), value) for value in finite), () if others else tuple(answer.items()), unites)
        known = self._runs.setdefault(key, [])
        for run, weights in known:
            if all(decide(guard) is truth for guard, truth in run.asked.items()):
                return run, weights
        left = iter(finite)
        inputs: dict[int, Held] = {
            slot: Affine(_ZERO, ((open_input(slot), _ONE),)) if slots[slot].type == "real" else next(left)
            for slot in self.machine.numbered("input")
        }
        run = OpenRun(self.machine, Wanted({} if others else answer, _ZERO), self.budget)
        run.decide, run.unites = decide, unites
        run.explore(inputs)
        known.append((run, visits(run.steps, (end.state for end in run.ends), self.budget)))
        return known[-1]

    def _ways(self, run: OpenRun, weights: Mapping[int, Closed], path: Path, *, others: bool) -> Iterator[_Way]:
        """The exits with the answer of the path, numbers near to it, or those with `others`."""
        places = dict(zip(self.ideal.machine.numbered("input"), self.machine.numbered("input"), strict=True))
        for end in run.ends:
            bounds: list[_Bound] = []
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
                    bounds += self._ball(run, gap)
            if same is others:
                continue
            for row in end.known.rows.values():
                noises, inputs = run.centered(row.form)
                bounds.append(_Bound(noises, inputs, Fraction(row.constant), 0, row.whole))
            yield _Way(weights[end.state], tuple(bounds))

    def _ball(self, run: OpenRun, gap: Fraction | Affine) -> Iterator[_Bound]:
        """That an output is off by at most gamma."""
        for side in (_ONE, -_ONE):
            found = scaled(gap, side)
            terms, constant = (found.terms, found.constant) if isinstance(found, Affine) else ((), found)
            noises, inputs = run.centered(terms)
            yield _Bound(noises, inputs, constant, 1, whole=False)


def _at_bounds(way: _Way, shown: Shown, wanted: Required, budget: Budget) -> Constraints | None:
    """What has to hold of the noises of a way at the bounds of its slacks. Lower ones: None where one is not known, or
    not great enough. Upper ones, for other answers: what has none is left out."""
    side = -1 if shown.subtracted else 1
    known = Constraints({})
    for bound in way.bounds:
        found = _slack_bound(bound, side, shown, wanted)
        if found is None or (wanted.is_open and found.base < 0):
            if shown.subtracted:
                continue
            return None
        if wanted.is_open and bound.whole:
            raise NotDerived("a noise does not scale with the distance")
        constant = side * (found.slope if wanted.is_open else found.base)
        if not bound.noises:
            if found.base < 0 or found.slope < 0:
                return None
            continue
        row = NoiseHalfspace.of(bound.noises, constant, bound.whole)
        if known.excludes(row, budget):
            return None
        if not known.implies(row, budget):
            known = known & row
    return known


def _slack_bound(bound: _Bound, side: int, shown: Shown, wanted: Required) -> SlackBound | None:
    """A lower bound of side·slack; None where none is known."""
    if not bound.inputs:
        base = side * bound.constant + bound.radius * wanted.gamma[0]
        return SlackBound(base, bound.radius * wanted.gamma[1])
    form = {slot: side * c for slot, c in bound.inputs.items()}
    keyed = slack_key(form, side * bound.constant, bound.radius)
    assert keyed is not None, "an input is in it"
    found = shown.slacks.get(keyed[0])
    return None if found is None else SlackBound(found.base * keyed[1], found.slope * keyed[1])

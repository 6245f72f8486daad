"""Runs in which every noisy comparison turns out as it would without noise, for every number of queries at once.

    found = Agreement(iterations, distances, terms, budget).walks()           raises NotDerived

**Agreement.** The program runs beside its ideal at the same input. Of a comparison of noisy values the outcome is
chosen that the input implies: it is A·N + s >= 0, with a slack s of at least some number for all inputs that take the
ideal this way. While all outcomes are the chosen ones, the program writes what the ideal writes, and how it goes on
depends on the input alone. So an error has at most the probability of the sum, over the comparisons and real outputs on
this one way, of Pr[A·N + s < 0], each about noises that are independent and may be anything besides.

**Heads.** What is still to come depends on what is carried over the head of the loop: finite values, and forms over
noises and over inputs that belong to no iteration. The noises are renumbered by their first occurrence, for it is their
laws that count. Where finitely many heads are found, these are all heads for any number of iterations.

**Distances.** Of two inputs that take different ways through an iteration from the same head the answers at its index
differ, which is required of all ways, and no later iteration changes them. So an input that crosses a side of its way
through some iteration goes another way there, if not before: it has another answer. A side form(u) >= 0 is therefore
at least as far away as the distance to disagreement, form(u) >= dd(u)·(dual norm of the form), unless what is behind
it may be infinitely far apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations

from dipc.verifier.budget import Budget
from dipc.verifier.classes import Required
from dipc.verifier.constraints import Constraints
from dipc.verifier.events import Family
from dipc.verifier.execution import Affine, Execution, Held, Shape, Wanted, plus, scaled
from dipc.verifier.ideal import Path
from dipc.verifier.iteration import Iterations, Side
from dipc.verifier.linear import Guard, implied, is_empty
from dipc.verifier.program import Branch, Code, Halt, Jump, Sample, Slot, Store, Value, calculated
from dipc.verifier.rejection import NotDerived
from dipc.verifier.surroundings import ALPHA, Surroundings, outwards
from dipc.verifier.terms import Law, Term, Terms

_ZERO, _ONE = Fraction(0), Fraction(1)

_STEP = "numbers"

#: Heads of one loop, and ways from one head.
MOST_HEADS = 500
MOST_WAYS = 500


@dataclass(frozen=True, slots=True)
class Leg:
    """One iteration in agreement, or what follows the loop: its terms, and the head that it leads to; None: the end."""

    goal: int | None
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Walks:
    """All runs in agreement: they begin at head 0 after `before`; by head the iterations from there, and what happens
    if the loop ends there."""

    before: tuple[Term, ...]
    iterations: Sequence[Sequence[Leg]]
    endings: Sequence[Sequence[Leg]]


class _Split(Exception):
    """A comparison that what is known leaves open."""

    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self.guard = guard


@dataclass(frozen=True, slots=True)
class _State:
    """`inputs` are known of the inputs, and `outcomes` of the noises, which have these `laws`."""

    at: int
    values: tuple[Held, ...]
    laws: tuple[tuple[Family, Fraction], ...] = ()
    inputs: tuple[Guard, ...] = ()
    outcomes: tuple[Guard, ...] = ()
    terms: tuple[Term, ...] = ()


class _Run(Execution):
    """Values of expressions over inputs and noises that are left open: numbers from `noises` on are those of noises."""

    noises: int
    #: What is known where an expression is looked at.
    known: tuple[Guard, ...] = ()

    def __post_init__(self) -> None:
        # Noises and numbers are assigned in the loop: that it is one is known to whoever follows it.
        self._shape = Shape((), (), (False,) * len(self.machine.code), frozenset())

    def _compared(self, op: str, difference: Fraction | Affine, known: Constraints) -> bool:  # noqa: ARG002
        if not isinstance(difference, Affine):
            found = calculated(op, (difference, _ZERO))
            assert isinstance(found, bool)
            return found
        opposite = scaled(difference, -_ONE)
        assert isinstance(opposite, Affine)
        noisy = any(i >= self.noises for i, _ in difference.terms)
        match op:
            case ">=" | ">":
                return self._true(difference, strict=op == ">" and not noisy)
            case "<=" | "<":
                return self._true(opposite, strict=op == "<" and not noisy)
            case _ if noisy:
                return op == "!="  # Continuous noise equals nothing, but with probability 0.
            case _:
                equal = self._true(difference, strict=False) and self._true(opposite, strict=False)
                return equal is (op == "=")

    def _true(self, form: Affine, *, strict: bool) -> bool:
        guard = Guard(form.terms, form.constant, strict)
        if is_empty((*self.known, guard.opposite()), self.budget, _STEP):
            return True
        if is_empty((*self.known, guard), self.budget, _STEP):
            return False
        raise _Split(guard)

    def _whole(self, value: Affine) -> bool:  # noqa: ARG002 - there is nothing whole
        return False

    def value(self, code: Code, values: Sequence[Held], known: tuple[Guard, ...]) -> Value | Affine:
        """The value of an expression; raises _Split."""
        self.known = known
        return self._value(code, values, Constraints({}))

    def target(self, instruction: Store | Sample, value: Value | Affine, state: _State) -> int:
        """The slot that is written to."""
        return self._slot(instruction.target, value, state.at, state.values, Constraints({}))


@dataclass
class Agreement:
    """Explores all runs in agreement. Terms are looked for among those stated; a slack may grow with the distance that
    is left open, as `wanted` says."""

    shape: Iterations
    wanted: Required
    terms: Terms
    budget: Budget
    _numbers: dict[object, int] = field(default_factory=dict)
    _heads: list[tuple[_State, _State]] = field(default_factory=list)

    def __post_init__(self) -> None:
        own, ideal = self.shape.own.machine, self.shape.ideal.machine
        self._distances = self.shape.distances(self.budget)
        self._first_noise = len(ideal.slots)
        #: Inputs have the numbers of their slots in the ideal.
        self._inputs = {ideal.slots[slot].name: slot for slot in ideal.numbered("input")}
        self._runs: dict[int, _Run] = {}
        for side in (self.shape.own, self.shape.ideal):
            run = _Run(side.machine, Wanted({}, _ZERO), self.budget)
            run.noises = self._first_noise
            self._runs[id(side)] = run
        self._outputs = [
            (slot, next(at for at in ideal.numbered("output") if ideal.slots[at].name == own.slots[slot].name))
            for slot in own.numbered("output")
        ]

    def walks(self) -> Walks:
        """All runs in agreement. Raises NotDerived where they are not finitely many kinds of iterations, where a
        comparison has none of the stated terms, or where the program does not do as its ideal does."""
        own, ideal = self.shape.own, self.shape.ideal
        starts = list(self._ways(ideal, self._started(ideal)))
        begun = list(self._agreeing(self._started(own), ()))
        if len(starts) != 1 or len(begun) != 1 or starts[0].at != ideal.head or begun[0].at != own.head:
            raise NotDerived("there is more than one way to the loop")
        self._head(begun[0], starts[0])
        iterations, endings = [], []
        for number, (program, exact) in enumerate(self._heads):
            if number >= MOST_HEADS:
                raise NotDerived(f"the head of the loop is reached in more than {MOST_HEADS} states")
            iterations.append(tuple(self._iteration(program, exact)))
            endings.append(tuple(self._ending(program, exact)))
        return Walks(begun[0].terms, iterations, endings)

    # --- parts of a run -------------------------------------------------------------------------------

    def _iteration(self, program: _State, exact: _State) -> Iterator[Leg]:
        own, ideal = self.shape.own, self.shape.ideal
        ways = list(self._ways(ideal, self._entered(ideal, exact)))
        for one, other in combinations(ways, 2):
            if not self._differ(one, other):
                raise NotDerived("two ways through an iteration of the `ideal` leave the same answer there")
        here = [pair for pair in self._outputs if self._is_element(*pair)]
        for way in ways:
            known = self._moved(way)
            if is_empty(known, self.budget, _STEP):
                continue  # No input that something is claimed of goes this way.
            for end in self._agreeing(self._entered(own, program), known):
                terms = (*end.terms, *self._compared(end, way, known, here))
                if (end.at == own.head) is not (way.at == ideal.head):
                    raise NotDerived("the program and its `ideal` do not end in the same iteration")
                if end.at == own.head:
                    yield Leg(self._head(end, way), terms)
                    continue
                if any(own.machine.slots[slot].initial is None for slot, _ in here):
                    raise NotDerived("an output may end without a value")
                yield Leg(None, (*terms, *self._final(end, way, known)))

    def _ending(self, program: _State, exact: _State) -> Iterator[Leg]:
        own, ideal = self.shape.own, self.shape.ideal
        ways = list(self._ways(ideal, replace(exact, at=ideal.end)))
        if len(ways) != 1:
            raise NotDerived("the `ideal` compares inputs after its loop")
        for end in self._agreeing(replace(program, at=own.end), ()):
            yield Leg(None, (*end.terms, *self._final(end, ways[0], self._moved(ways[0]))))

    def _started(self, side: Side) -> _State:
        slots = enumerate(side.machine.slots)
        return _State(0, tuple(self._open(slot) if slot.role == "input" else slot.initial for _, slot in slots))

    def _open(self, slot: Slot) -> Affine:
        return Affine(_ZERO, ((self._inputs[slot.name], _ONE),))

    def _entered(self, side: Side, head: _State) -> _State:
        """The beginning of an iteration, with elements of its own."""
        values = tuple(
            (self._open(slot) if slot.role == "input" else slot.initial) if slot.name in self.shape.elements else value
            for slot, value in zip(side.machine.slots, head.values, strict=True)
        )
        return replace(head, at=side.head + 1, values=values)

    def _head(self, program: _State, exact: _State) -> int:
        """The number of a head."""
        found = self._stripped(self.shape.own, program), self._stripped(self.shape.ideal, exact)
        key = tuple((tuple((type(value), value) for value in state.values), state.laws) for state in found)
        if key not in self._numbers:
            self._numbers[key] = len(self._heads)
            self._heads.append(found)
        return self._numbers[key]

    def _stripped(self, side: Side, state: _State) -> _State:
        """What is carried, with noises numbered by their first occurrence, and nothing known of them."""
        places: dict[int, int] = {}
        values: list[Held] = [None] * len(side.machine.slots)
        for slot in side.machine.numbered("input"):
            values[slot] = self._open(side.machine.slots[slot])
        for slot in side.carried:
            value = state.values[slot]
            if isinstance(value, Affine):
                terms = []
                for i, c in value.terms:
                    if i >= self._first_noise:
                        terms.append((places.setdefault(i, self._first_noise + len(places)), c))
                    elif self._distances.machine.slots[i].name in self.shape.elements:
                        raise NotDerived("an iteration uses an input of another")
                    else:
                        terms.append((i, c))
                value = Affine(value.constant, tuple(sorted(terms)))
            values[slot] = value
        return _State(side.head, tuple(values), tuple(state.laws[i - self._first_noise] for i in places))

    # --- one side -------------------------------------------------------------------------------------

    def _ways(self, side: Side, state: _State) -> Iterator[_State]:
        """All ways of the ideal to the head of its loop or to its end."""
        for end in self._ends(side, state, ()):
            if end.laws or end.outcomes:
                raise NotDerived("its `ideal` draws something at random")
            yield end

    def _agreeing(self, state: _State, known: tuple[Guard, ...]) -> Iterator[_State]:
        """All ways of the program in agreement, for inputs of which this is known."""
        return self._ends(self.shape.own, state, known)

    def _ends(self, side: Side, state: _State, known: tuple[Guard, ...]) -> Iterator[_State]:
        waiting = [state]
        count = 0
        while waiting:
            state = waiting.pop()
            self.budget.spend(20 + len(state.values), _STEP)
            instruction = side.machine.code[state.at]
            if isinstance(instruction, Halt) or state.at == side.head:
                count += 1
                if count > MOST_WAYS:
                    raise NotDerived(f"there are more than {MOST_WAYS} ways through an iteration")
                yield state
                continue
            try:
                waiting.append(self._after(side, state, known))
            except _Split as split:
                waiting += self._outcomes(state, split.guard, known)

    def _after(self, side: Side, state: _State, known: tuple[Guard, ...]) -> _State:
        """The state that follows. Raises _Split."""
        run = self._runs[id(side)]
        known = (*known, *state.inputs, *state.outcomes)
        match side.machine.code[state.at]:
            case Jump(goal):
                return replace(state, at=goal)
            case Branch(condition, otherwise):
                truth = run.value(condition, state.values, known)
                if not isinstance(truth, bool):
                    raise NotDerived("a condition is no truth value")
                return replace(state, at=state.at + 1 if truth else otherwise)
            case Store(_, code) as store:
                return self._written(run, store, state, run.value(code, state.values, known))
            case Sample(_, family, rate, mean) as sample if family is not Family.DISCRETE_LAPLACE:
                center = run.value(mean, state.values, known)
                if isinstance(center, bool | str):
                    raise NotDerived("a mean is no number")
                noise = self._first_noise + len(state.laws)
                drawn = Affine(_ZERO, ((noise, _ONE),))
                state = replace(state, laws=(*state.laws, (family, rate)))
                if family is Family.ONE_SIDED:
                    state = replace(state, outcomes=(*state.outcomes, Guard(drawn.terms, _ZERO, strict=False)))
                return self._written(run, sample, state, plus(center, drawn))
            case _:
                raise NotDerived("there is a random choice other than Laplace or one-sided noise")

    def _written(self, run: _Run, instruction: Store | Sample, state: _State, value: Value | Affine) -> _State:
        slot = run.target(instruction, value, state)
        return replace(state, at=state.at + 1, values=(*state.values[:slot], value, *state.values[slot + 1 :]))

    def _outcomes(self, state: _State, guard: Guard, known: tuple[Guard, ...]) -> list[_State]:
        """The states in which an open comparison is decided: both for one of inputs, that in agreement for noise."""
        if not any(i >= self._first_noise for i, _ in guard.form):
            found = [replace(state, inputs=(*state.inputs, side)) for side in (guard, guard.opposite())]
            return [one for one in found if not is_empty((*known, *one.inputs), self.budget, _STEP)]
        best: tuple[Term, Guard] | None = None
        for side in (guard, guard.opposite()):
            noises, rest = self._parted(side.form)

            def implies(least: Fraction, rest: Mapping[int, Fraction] = rest, side: Guard = side) -> bool:
                return self._is_least((*known, *state.inputs), rest, side.constant, 0, least)

            term = self.terms.halfspace(self._laws(noises, state), implies)
            if term is not None and (best is None or term.least > best[0].least):
                best = term, replace(side, strict=True)
        if best is None:
            raise NotDerived("a noisy comparison has none of the stated terms")
        return [replace(state, outcomes=(*state.outcomes, best[1]), terms=(*state.terms, best[0]))]

    def _parted(self, form: Iterable[tuple[int, Fraction]]) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
        """The coefficients of noises, and those of inputs."""
        found: tuple[dict[int, Fraction], dict[int, Fraction]] = {}, {}
        for i, c in form:
            found[i < self._first_noise][i] = c
        return found

    def _laws(self, noises: Mapping[int, Fraction], state: _State) -> list[Law]:
        return [Law(*state.laws[i - self._first_noise], c) for i, c in noises.items()]

    # --- distances and slacks -------------------------------------------------------------------------

    def _moved(self, way: _State) -> tuple[Guard, ...]:
        """What inputs of this way satisfy at which something is claimed, with the distance that is left open."""
        path = Path(way.inputs, ())
        around = Surroundings(self._distances, (), path, self.budget)
        base, rate = self.wanted.alpha
        found = [*way.inputs, Guard(((ALPHA, _ONE),), _ZERO, strict=False)]
        for guard in way.inputs:
            width, direction = outwards(self.shape.norm, guard)
            if not self._distances.has_apart or self._stays_near(around, guard, width, direction):
                moving = ((ALPHA, -width * rate),) if rate else ()
                found.append(Guard((*guard.form, *moving), guard.constant - width * base, strict=False))
        return tuple(found)

    def _stays_near(
        self, around: Surroundings, guard: Guard, width: Fraction, direction: Mapping[int, Fraction]
    ) -> bool:
        """Whether the straight way out behind this side leads to inputs that are at a finite distance. The other
        elements of the inputs stay as they are, and so do the inputs that are of no iteration."""
        slots = self._distances.machine.slots
        if any(slots[i].name not in self.shape.elements for i, _ in guard.form):
            return False
        here: dict[int, Held] = {slot: Affine(_ZERO, ((slot, _ONE),)) for slot in self._inputs.values()}
        if any(apart for _, apart in self._distances.cases(here, here, ())):
            return False
        return not around.may_be_apart(guard, width, direction)

    def _is_least(
        self, known: Sequence[Guard], form: Mapping[int, Fraction], constant: Fraction, radius: int, least: Fraction
    ) -> bool:
        """Whether form + constant + radius·gamma is at least that, times the distance where one is left open."""
        base, rate = (radius * part for part in self.wanted.gamma)
        slope = rate
        if self.wanted.is_open:
            slope -= least
        else:
            base -= least
        moving = {ALPHA: slope} if slope else {}
        return implied(known, {**form, **moving}, constant + base, self.budget, _STEP)

    # --- outputs --------------------------------------------------------------------------------------

    def _is_element(self, own: int, _: int) -> bool:
        return self.shape.own.machine.slots[own].name in self.shape.elements

    def _differ(self, one: _State, other: _State) -> bool:
        """Whether two ways of the ideal leave other finite answers at their index."""
        slots = self.shape.ideal.machine.slots
        return any(
            slots[at].type != "real" and not _same(one.values[at], other.values[at])
            for own, at in self._outputs
            if self._is_element(own, at)
        )

    def _final(self, program: _State, exact: _State, known: Sequence[Guard]) -> list[Term]:
        """The terms for the outputs that belong to no index."""
        return self._compared(program, exact, known, [pair for pair in self._outputs if not self._is_element(*pair)])

    def _compared(
        self, program: _State, exact: _State, known: Sequence[Guard], pairs: Iterable[tuple[int, int]]
    ) -> list[Term]:
        """The terms for these outputs. Raises NotDerived where they differ in agreement."""
        found: list[Term] = []
        for own, other in pairs:
            mine, theirs = program.values[own], exact.values[other]
            slot = self.shape.own.machine.slots[own]
            if mine is None or theirs is None:
                raise NotDerived("an output may end without a value")
            if slot.type != "real":
                if not _same(mine, theirs):
                    raise NotDerived(f"in agreement `{slot.name}` is not that of the `ideal`")
                continue
            assert not isinstance(mine, bool | str), "it is a number"
            assert not isinstance(theirs, bool | str), "it is a number"
            found += self._ball(program, plus(mine, scaled(theirs, -_ONE)), (*known, *program.inputs))
        return found

    def _ball(self, program: _State, gap: Fraction | Affine, known: Sequence[Guard]) -> Iterator[Term]:
        """The term for |gap| <= gamma; none without noise."""
        terms, constant = (gap.terms, gap.constant) if isinstance(gap, Affine) else ((), gap)
        noises, rest = self._parted(terms)
        opposite = {i: -c for i, c in rest.items()}

        def implies(above: Fraction, below: Fraction) -> bool:
            return self._is_least(known, rest, constant, 1, above) and self._is_least(
                known, opposite, -constant, 1, below
            )

        if not noises:
            if not implies(_ZERO, _ZERO):
                raise NotDerived("without noise an output is not within gamma of the answer")
            return
        term = self.terms.ball(self._laws(noises, program), implies)
        if term is None:
            raise NotDerived("an output has none of the stated terms")
        yield term


def _same(one: Held, other: Held) -> bool:
    return type(one) is type(other) and one == other

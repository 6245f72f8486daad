"""One iteration of a loop after the other, with inputs and noises left open: the ways through each, and its heads.

What is still to come depends on what is carried over the head of the loop: finite values, and forms over noises and
over inputs that belong to no iteration. The noises are renumbered by their first occurrence, for it is their laws that
count. Where finitely many heads are found, these are all heads for any number of iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dipc.verifier.budget import Budget
from dipc.verifier.constraints import Constraints
from dipc.verifier.events import Family
from dipc.verifier.execution import Affine, Execution, Held, Shape, Wanted, plus, scaled
from dipc.verifier.iteration import Side
from dipc.verifier.linear import Guard, is_empty
from dipc.verifier.program import Branch, Code, Halt, Jump, Sample, Slot, Store, Value, calculated
from dipc.verifier.rejection import NotDerived
from dipc.verifier.terms import Term

_ZERO, _ONE = Fraction(0), Fraction(1)

_STEP = "numbers"

#: Heads of one loop, and ways from one head.
MOST_HEADS = 500
MOST_WAYS = 500


@dataclass(frozen=True, slots=True)
class State:
    """A place and the values there. `inputs` are known of the inputs, and `outcomes` of the noises, which have these
    `laws`; `terms` are those met on the way."""

    at: int
    values: tuple[Held, ...]
    laws: tuple[tuple[Family, Fraction], ...] = ()
    inputs: tuple[Guard, ...] = ()
    outcomes: tuple[Guard, ...] = ()
    terms: tuple[Term, ...] = ()

    @property
    def key(self) -> object:
        """What is the same for equal heads only."""
        return tuple((type(value), value) for value in self.values), self.laws


#: The states that follow where a comparison is open.
Outcomes = Callable[[State, Guard], Sequence[State]]


class _Split(Exception):
    """A comparison that what is known leaves open."""

    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self.guard = guard


class _Values(Execution):
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

    def target(self, instruction: Store | Sample, value: Value | Affine, state: State) -> int:
        """The slot that is written to."""
        return self._slot(instruction.target, value, state.at, state.values, Constraints({}))


@dataclass
class LoopRuns:
    """One side of a program, of which `elements` stand for those of the iteration. Inputs are these, by name, left open
    or not, and noises have the numbers from `first_noise` on, as they are drawn."""

    side: Side
    elements: frozenset[str]
    inputs: Mapping[str, Affine | Value]
    first_noise: int
    budget: Budget
    _values: _Values = field(init=False)

    def __post_init__(self) -> None:
        self._values = _Values(self.side.machine, Wanted({}, _ZERO), self.budget)
        self._values.noises = self.first_noise
        self._of_elements = {
            number
            for name, value in self.inputs.items()
            if name in self.elements and isinstance(value, Affine)
            for number, _ in value.terms
        }

    def start(self) -> State:
        """The beginning of a run."""
        return State(0, tuple(self._fresh(slot) for slot in self.side.machine.slots))

    def entered(self, head: State) -> State:
        """The beginning of an iteration, with elements of its own."""
        slots = self.side.machine.slots
        values = tuple(
            self._fresh(slot) if slot.name in self.elements else value
            for slot, value in zip(slots, head.values, strict=True)
        )
        return replace(head, at=self.side.head + 1, values=values)

    def _fresh(self, slot: Slot) -> Held:
        return self.inputs[slot.name] if slot.role == "input" else slot.initial

    def left(self, head: State) -> State:
        """What follows the loop, if it ends at a head."""
        return replace(head, at=self.side.end)

    def stripped(self, state: State) -> State:
        """The head that a state is: what is carried, with noises numbered by their first occurrence, and nothing known
        of them. Raises NotDerived where an input of one iteration is carried to others."""
        places: dict[int, int] = {}
        slots = self.side.machine.slots
        values: list[Held] = [self._fresh(slot) if slot.role == "input" else None for slot in slots]
        for slot in self.side.carried:
            value = state.values[slot]
            if isinstance(value, Affine):
                terms = []
                for i, c in value.terms:
                    if i in self._of_elements:
                        raise NotDerived("an iteration uses an input of another")
                    place = places.setdefault(i, self.first_noise + len(places)) if i >= self.first_noise else i
                    terms.append((place, c))
                value = Affine(value.constant, tuple(sorted(terms)))
            values[slot] = value
        return State(self.side.head, tuple(values), tuple(state.laws[i - self.first_noise] for i in places))

    def carried(self, state: State) -> tuple[int, ...]:
        """The noises that a head carries, in the order in which it has them."""
        found: dict[int, None] = {}
        for slot in self.side.carried:
            value = state.values[slot]
            if isinstance(value, Affine):
                found.update(dict.fromkeys(i for i, _ in value.terms if i >= self.first_noise))
        return tuple(found)

    def ends(self, state: State, known: tuple[Guard, ...], outcomes: Outcomes) -> Iterator[State]:
        """All ways to the head of the loop or to the end, for inputs of which this is known. Raises NotDerived."""
        waiting = [state]
        count = 0
        while waiting:
            state = waiting.pop()
            self.budget.spend(20 + len(state.values), _STEP)
            instruction = self.side.machine.code[state.at]
            if isinstance(instruction, Halt) or state.at == self.side.head:
                count += 1
                if count > MOST_WAYS:
                    raise NotDerived(f"there are more than {MOST_WAYS} ways through an iteration")
                yield state
                continue
            try:
                waiting.append(self._after(state, known))
            except _Split as split:
                waiting += outcomes(state, split.guard)

    def _after(self, state: State, known: tuple[Guard, ...]) -> State:
        """The state that follows. Raises _Split."""
        run = self._values
        known = (*known, *state.inputs, *state.outcomes)
        match self.side.machine.code[state.at]:
            case Jump(goal):
                return replace(state, at=goal)
            case Branch(condition, otherwise):
                truth = run.value(condition, state.values, known)
                if not isinstance(truth, bool):
                    raise NotDerived("a condition is no truth value")
                return replace(state, at=state.at + 1 if truth else otherwise)
            case Store(_, code) as store:
                return self._written(store, state, run.value(code, state.values, known))
            case Sample(_, family, rate, mean) as sample if family is not Family.DISCRETE_LAPLACE:
                center = run.value(mean, state.values, known)
                if isinstance(center, bool | str):
                    raise NotDerived("a mean is no number")
                noise = self.first_noise + len(state.laws)
                drawn = Affine(_ZERO, ((noise, _ONE),))
                state = replace(state, laws=(*state.laws, (family, rate)))
                if family is Family.ONE_SIDED:
                    state = replace(state, outcomes=(*state.outcomes, Guard(drawn.terms, _ZERO, strict=False)))
                return self._written(sample, state, plus(center, drawn))
            case _:
                raise NotDerived("there is a random choice other than Laplace or one-sided noise")

    def _written(self, instruction: Store | Sample, state: State, value: Value | Affine) -> State:
        slot = self._values.target(instruction, value, state)
        return replace(state, at=state.at + 1, values=(*state.values[:slot], value, *state.values[slot + 1 :]))

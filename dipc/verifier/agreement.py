"""Runs in which every noisy comparison turns out as it would without noise, for every number of queries at once.

    found = Agreement(iterations, distances, terms, budget).walks()           raises NotDerived

**Agreement.** The program runs beside its ideal at the same input. Of a comparison of noisy values the outcome is
chosen that the input implies: it is A·N + s >= 0, with a slack s of at least some number for all inputs that take the
ideal this way. While all outcomes are the chosen ones, the program writes what the ideal writes, and how it goes on
depends on the input alone. So an error has at most the probability of the sum, over the comparisons and real outputs on
this one way, of Pr[A·N + s < 0], each about noises that are independent and may be anything besides.

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
from dipc.verifier.execution import Affine, Held, plus, scaled
from dipc.verifier.ideal import Path
from dipc.verifier.iteration import Iterations
from dipc.verifier.linear import Guard, implied, is_empty
from dipc.verifier.loop_runs import MOST_HEADS, LoopRuns, State
from dipc.verifier.program import Value
from dipc.verifier.rejection import NotDerived
from dipc.verifier.surroundings import ALPHA, Surroundings, outwards
from dipc.verifier.terms import Law, Term, Terms

_ZERO, _ONE = Fraction(0), Fraction(1)

_STEP = "numbers"


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


@dataclass(frozen=True)
class _Entry:
    """What an iteration may begin with: values of the finite inputs, all inputs by slot, and both sides with them."""

    finite: tuple[Value, ...]
    inputs: Mapping[int, Affine | Value]
    own: LoopRuns
    ideal: LoopRuns


@dataclass
class Agreement:
    """Explores all runs in agreement, for these values of the finite inputs: `entries` are alike but for those of an
    iteration, which each iteration may have anew. Terms are looked for among those stated; a slack may grow with the
    distance that is left open, as `wanted` says."""

    shape: Iterations
    entries: Sequence[tuple[Value, ...]]
    wanted: Required
    terms: Terms
    budget: Budget
    _numbers: dict[object, int] = field(default_factory=dict)
    _heads: list[tuple[State, State]] = field(default_factory=list)

    def __post_init__(self) -> None:
        own, ideal = self.shape.own.machine, self.shape.ideal.machine
        self._distances = self.shape.distances(self.budget)
        self._first_noise = len(ideal.slots)
        self._entries = [self._entry(finite) for finite in self.entries]
        #: Outside of iterations nothing depends on which of them it is.
        self._own, self._ideal = self._entries[0].own, self._entries[0].ideal
        self._outputs = [
            (slot, next(at for at in ideal.numbered("output") if ideal.slots[at].name == own.slots[slot].name))
            for slot in own.numbered("output")
        ]

    def _entry(self, finite: tuple[Value, ...]) -> _Entry:
        ideal = self.shape.ideal.machine
        left = iter(finite)
        # Inputs have the numbers of their slots in the ideal.
        inputs: dict[int, Affine | Value] = {
            slot: Affine(_ZERO, ((slot, _ONE),)) if ideal.slots[slot].type == "real" else next(left)
            for slot in ideal.numbered("input")
        }
        named = {ideal.slots[slot].name: value for slot, value in inputs.items()}
        own, exact = (
            LoopRuns(side, self.shape.elements, named, self._first_noise, self.budget)
            for side in (self.shape.own, self.shape.ideal)
        )
        return _Entry(finite, inputs, own, exact)

    def walks(self) -> Walks:
        """All runs in agreement. Raises NotDerived where they are not finitely many kinds of iterations, where a
        comparison has none of the stated terms, or where the program does not do as its ideal does."""
        own, ideal = self.shape.own, self.shape.ideal
        starts = list(self._ways(self._ideal, self._ideal.start()))
        begun = list(self._agreeing(self._own, self._own.start(), ()))
        if len(starts) != 1 or len(begun) != 1 or starts[0].at != ideal.head or begun[0].at != own.head:
            raise NotDerived("there is more than one way to the loop")
        self._head(begun[0], starts[0])
        iterations, endings = [], []
        for number, (program, exact) in enumerate(self._heads):
            if number >= MOST_HEADS:
                raise NotDerived(f"the head of the loop is reached in more than {MOST_HEADS} states")
            # Equal ones are one: paths are counted by their terms.
            legs = (leg for entry in self._entries for leg in self._iteration(entry, program, exact))
            iterations.append(tuple(dict.fromkeys(legs)))
            endings.append(tuple(dict.fromkeys(self._ending(program, exact))))
        return Walks(begun[0].terms, iterations, endings)

    # --- parts of a run -------------------------------------------------------------------------------

    def _iteration(self, entry: _Entry, program: State, exact: State) -> Iterator[Leg]:
        own, ideal = self.shape.own, self.shape.ideal
        ways = list(self._ways(entry.ideal, entry.ideal.entered(exact)))
        for one, other in combinations(ways, 2):
            if not self._differ(one, other):
                raise NotDerived("two ways through an iteration of the `ideal` leave the same answer there")
        here = [pair for pair in self._outputs if self._is_element(*pair)]
        for way in ways:
            known = self._moved(entry, way)
            if is_empty(known, self.budget, _STEP):
                continue  # No input that something is claimed of goes this way.
            for end in self._agreeing(entry.own, entry.own.entered(program), known):
                terms = (*end.terms, *self._compared(end, way, known, here))
                if (end.at == own.head) is not (way.at == ideal.head):
                    raise NotDerived("the program and its `ideal` do not end in the same iteration")
                if end.at == own.head:
                    yield Leg(self._head(end, way), terms)
                    continue
                if any(own.machine.slots[slot].initial is None for slot, _ in here):
                    raise NotDerived("an output may end without a value")
                yield Leg(None, (*terms, *self._final(end, way, known)))

    def _ending(self, program: State, exact: State) -> Iterator[Leg]:
        ways = list(self._ways(self._ideal, self._ideal.left(exact)))
        if len(ways) != 1:
            raise NotDerived("the `ideal` compares inputs after its loop")
        for end in self._agreeing(self._own, self._own.left(program), ()):
            yield Leg(None, (*end.terms, *self._final(end, ways[0], self._moved(self._entries[0], ways[0]))))

    def _head(self, program: State, exact: State) -> int:
        """The number of a head."""
        found = self._own.stripped(program), self._ideal.stripped(exact)
        key = tuple(state.key for state in found)
        if key not in self._numbers:
            self._numbers[key] = len(self._heads)
            self._heads.append(found)
        return self._numbers[key]

    # --- one side -------------------------------------------------------------------------------------

    def _ways(self, runs: LoopRuns, state: State) -> Iterator[State]:
        """All ways of the ideal to the head of its loop or to its end."""
        for end in runs.ends(state, (), lambda state, guard: self._outcomes(state, guard, ())):
            if end.laws or end.outcomes:
                raise NotDerived("its `ideal` draws something at random")
            yield end

    def _agreeing(self, runs: LoopRuns, state: State, known: tuple[Guard, ...]) -> Iterator[State]:
        """All ways of the program in agreement, for inputs of which this is known."""
        return runs.ends(state, known, lambda state, guard: self._outcomes(state, guard, known))

    def _outcomes(self, state: State, guard: Guard, known: tuple[Guard, ...]) -> list[State]:
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

    def _laws(self, noises: Mapping[int, Fraction], state: State) -> list[Law]:
        return [Law(*state.laws[i - self._first_noise], c) for i, c in noises.items()]

    # --- distances and slacks -------------------------------------------------------------------------

    def _moved(self, entry: _Entry, way: State) -> tuple[Guard, ...]:
        """What inputs of this way satisfy at which something is claimed, with the distance that is left open."""
        path = Path(way.inputs, ())
        around = Surroundings(self._distances, entry.finite, path, self.budget)
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
        # The other elements are those of any entry.
        for found in self._entries:
            if any(apart for _, apart in self._distances.cases(found.inputs, found.inputs, ())):
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

    def _differ(self, one: State, other: State) -> bool:
        """Whether two ways of the ideal leave other finite answers at their index."""
        slots = self.shape.ideal.machine.slots
        return any(
            slots[at].type != "real" and not _same(one.values[at], other.values[at])
            for own, at in self._outputs
            if self._is_element(own, at)
        )

    def _final(self, program: State, exact: State, known: Sequence[Guard]) -> list[Term]:
        """The terms for the outputs that belong to no index."""
        return self._compared(program, exact, known, [pair for pair in self._outputs if not self._is_element(*pair)])

    def _compared(
        self, program: State, exact: State, known: Sequence[Guard], pairs: Iterable[tuple[int, int]]
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

    def _ball(self, program: State, gap: Fraction | Affine, known: Sequence[Guard]) -> Iterator[Term]:
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

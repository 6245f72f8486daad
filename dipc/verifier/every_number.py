"""Claims for every number of queries: small numbers by classes, others by a union bound (FORMAT.md, lemmas 7 to 10).

*Agreement*: the program runs beside its ideal, and each noisy comparison has the result that the input implies. The
comparison is A·N + s >= 0, with a slack s that is at least some number; its failure is a term of the bound.

*Walks*: a run is a walk through the heads of the loop. Its error is at most the sum of the terms of a path and, for
each of the other iterations, of the terms of the most probable iteration on a cycle.

*Selection*: the loop that keeps the largest of m noisy values is examined as a whole.

*Numbers*: each bound found by these methods is one of the stated sums, and the sums are at most beta.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations

from dipc.verifier import reading as read
from dipc.verifier.claims import (
    Claim,
    Form,
    Growth,
    Interval,
    NotOneForm,
    evaluate,
    mentions,
    parsed,
    without_ones,
)
from dipc.verifier.classes import VARIABLES, DistanceLine, Required, intervals_of, meaning
from dipc.verifier.execution import Affine, Held, plus, scaled
from dipc.verifier.functions import (
    ONE,
    Closed,
    Ring,
    add_closed,
    constant,
    equal_closed,
    positive_everywhere,
    subtract,
    times,
)
from dipc.verifier.ideal import Ideal, input_norm, open_inputs
from dipc.verifier.linear import ALPHA, Guard, contradictory, implied
from dipc.verifier.loops import (
    MOST_HEADS,
    Iterations,
    LoopRuns,
    State,
    Term,
    first_index,
    parameter_arrays,
)
from dipc.verifier.measures import measure_anew
from dipc.verifier.noise import Family, NoiseFamily
from dipc.verifier.normal import Enclosed, Probability
from dipc.verifier.obligations import VERDICTS, Decided
from dipc.verifier.probability import Theorem
from dipc.verifier.program import Machine, Sample, Value
from dipc.verifier.reading import DERIVATION_ENDS, Budget, NotDerived, Rejected, in_step, why_it_ends
from dipc.verifier.syntax import (
    Apply,
    Assign,
    Block,
    Element,
    Expr,
    For,
    If,
    Literal,
    Name,
    Noise,
    Program,
    Range,
    Variable,
    names,
    nodes,
)

_ZERO, _ONE = Fraction(0), Fraction(1)


# === agreement =================================================================================


@dataclass(frozen=True, slots=True)
class Leg:
    """One iteration of the loop in runs that agree with the ideal, or the part of such runs after the loop.

    `terms` are the events in which the run stops agreeing, so that the error is at most their total probability. `goal`
    is the index of the head, a state at the beginning of an iteration, to which the iteration leads; None for the end.
    """

    goal: int | None
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Walks:
    """All runs of a program whose noisy comparisons have the results that the ideal implies.

    A head is a state at the beginning of an iteration, given by its index. Runs begin at head 0, with the terms
    `before` of the part before the loop. For each head, `iterations` has the iterations that begin at this head.
    `endings` has, for each head, the parts after the loop of runs whose last iteration led to this head.
    """

    before: tuple[Term, ...]
    iterations: Sequence[Sequence[Leg]]
    endings: Sequence[Sequence[Leg]]


@dataclass(frozen=True)
class _Entry:
    """The values of the finite inputs in one iteration, with runs of the program and of its ideal at these values.

    `inputs` has all inputs by slot, with unknown numbers for real ones. `own` are the runs of the program, `ideal`
    those of its ideal.
    """

    inputs: Mapping[int, Affine | Value]
    own: LoopRuns
    ideal: LoopRuns


@dataclass
class Agreement:
    """An exploration of all runs of a program that agree with its ideal.

    - `shape` has the program and its ideal, each with one loop. Each of `entries` has one combination of values of all
      finite inputs in an iteration. Only elements of arrays may differ between two entries.
    - A run agrees with the ideal if each noisy comparison has the result that the input implies. One of the stated
      `terms` must be the event that the comparison has the opposite result.
    - `wanted` has alpha and gamma. A slack, which is a comparison without its noises, may grow with the distance that
      the claim leaves open.
    """

    shape: Iterations
    entries: Sequence[tuple[Value, ...]]
    wanted: Required
    terms: Sequence[Term]
    budget: Budget
    _numbers: dict[object, int] = field(default_factory=dict)
    _heads: list[tuple[State, State]] = field(default_factory=list)

    def __post_init__(self) -> None:
        own, ideal = self.shape.own.machine, self.shape.ideal.machine
        self._distances = self.shape.distances(self.budget)
        self._first_noise = len(ideal.slots)
        self._entries = [self._entry(finite) for finite in self.entries]
        #: Outside of iterations nothing depends on the entry.
        self._own, self._ideal = self._entries[0].own, self._entries[0].ideal
        outputs = [
            (slot, next(k for k in ideal.numbered("output") if ideal.slots[k].name == own.slots[slot].name))
            for slot in own.numbered("output")
        ]
        #: The slots of the outputs in program and ideal: array elements, and the others.
        self._indexed = [pair for pair in outputs if own.slots[pair[0]].name in self.shape.own.elements]
        self._final = [pair for pair in outputs if pair not in self._indexed]

    def _entry(self, finite: tuple[Value, ...]) -> _Entry:
        ideal = self.shape.ideal.machine
        # Inputs have the numbers of their slots in the ideal.
        inputs = open_inputs(ideal, finite)
        named = {ideal.slots[slot].name: value for slot, value in inputs.items()}
        own, exact = (
            LoopRuns(side, named, self._first_noise, self.budget) for side in (self.shape.own, self.shape.ideal)
        )
        return _Entry(inputs, own, exact)

    def walks(self) -> Walks:
        """Return all runs that agree with the ideal.

        Raises NotDerived if the iterations are not of finitely many kinds, if no stated term fits a comparison, or if
        the program does not do what its ideal does.
        """
        begun, start = self._before_loop()
        self._head(begun, start)
        iterations, endings = [], []
        for number, (program, exact) in enumerate(self._heads):
            if number >= MOST_HEADS:
                raise NotDerived(f"the head of the loop is reached in more than {MOST_HEADS} states")
            # Equal legs are merged: paths differ only in their terms.
            legs = (leg for entry in self._entries for leg in self._iteration(entry, program, exact))
            iterations.append(tuple(dict.fromkeys(legs)))
            endings.append(tuple(dict.fromkeys(self._ending(program, exact))))
        return Walks(begun.terms, iterations, endings)

    # --- parts of a run -------------------------------------------------------------------------------

    def _before_loop(self) -> tuple[State, State]:
        """Return the states of the program and of its ideal when they first reach the loop.

        Raises NotDerived unless every run of both reaches the loop, in one way.
        """
        starts, begun = (list(self._ways(runs, runs.start())) for runs in (self._ideal, self._own))
        if [way.at for way in starts] != [self.shape.ideal.head] or [way.at for way in begun] != [self.shape.own.head]:
            raise NotDerived("more than one path leads to the loop")
        return begun[0], starts[0]

    def _iteration(self, entry: _Entry, program: State, exact: State) -> Iterator[Leg]:
        own, ideal = self.shape.own, self.shape.ideal
        ways = list(self._ways(entry.ideal, entry.ideal.entered(exact)))
        for one, other in combinations(ways, 2):
            if not self._differ(one, other, self._indexed):
                raise NotDerived("two different paths through the same iteration of the `ideal` give the same answer")
        for way in ways:
            known = self._claimed_guards(entry, way)
            if contradictory(known, self.budget):
                continue  # No input that something is claimed of goes this way.
            for end in self._ways(entry.own, entry.own.entered(program), known):
                terms = (*end.terms, *self._compared(end, way, known, self._indexed))
                if (end.at == own.head) is not (way.at == ideal.head):
                    raise NotDerived("the program and its `ideal` do not end in the same iteration")
                if end.at == own.head:
                    yield Leg(self._head(end, way), terms)
                    continue
                if any(own.machine.slots[slot].initial is None for slot, _ in self._indexed):
                    raise NotDerived("an output may have no value at the end")
                yield Leg(None, (*terms, *self._compared(end, way, known, self._final)))

    def _ending(self, program: State, exact: State) -> Iterator[Leg]:
        ways = list(self._ways(self._ideal, self._ideal.after_loop(exact)))
        if len(ways) != 1:
            raise NotDerived("the `ideal` compares inputs after the loop")
        for end in self._ways(self._own, self._own.after_loop(program)):
            known = self._claimed_guards(self._entries[0], ways[0])
            yield Leg(None, (*end.terms, *self._compared(end, ways[0], known, self._final)))

    def flag_totals(self) -> Iterator[Total]:
        """Yield bounds of the error of a program that answers yes if one iteration leaves the loop, and no otherwise.

        At each input, the error is no greater than one of the bounds (lemma 10b of FORMAT.md). Raises NotDerived if the
        program is not of this form.
        """
        own, ideal = self.shape.own, self.shape.ideal
        if self.shape.norm != "linf" or self._distances.has_apart or len(self._entries) != 1 or self._indexed:
            raise NotDerived("a yes-or-no answer is covered only under the maximum norm")
        (entry,) = self._entries
        begun, start = self._before_loop()
        if begun.terms:
            raise NotDerived("more than one path leads to the loop")
        program, exact = self._own.stripped(begun)[0], self._ideal.stripped(start)[0]
        ways = list(self._ways(entry.ideal, entry.ideal.entered(exact)))
        found = [way for way in ways if way.at != ideal.head]
        passed = [way for way in ways if way.at == ideal.head]
        if len(found) != 1 or len(passed) != 1 or len(found[0].inputs) != 1:
            raise NotDerived("in the `ideal`, the exit of an iteration is not decided by exactly one comparison")
        every = list(entry.own.ways(entry.own.entered(program), (), self._both))
        stays = [state for state in every if state.at == own.head]
        if [self._own.stripped(state)[0].key for state in stays] != [program.key] or (
            self._ideal.stripped(passed[0])[0].key != exact.key
        ):
            raise NotDerived("an iteration that does not exit changes what later iterations do")
        behind = list(self._ways(self._ideal, self._ideal.after_loop(exact)))
        if len(behind) != 1 or not self._differ(behind[0], found[0], self._final):
            raise NotDerived("the `ideal` gives the same answer whether an iteration exits or not")
        for state in every:
            if state.at != own.head and self._compared(state, found[0], (), self._final):
                raise NotDerived("an output is not finite")
        low = self.shape.own.low
        for end in self._ways(entry.own, entry.own.entered(program), self._claimed_guards(entry, passed[0])):
            if end.at != own.head:
                raise NotDerived("the program and its `ideal` do not end in the same iteration")
            for ending in self._ending(program, exact):
                yield Total(ending.terms, end.terms, low - 1)
        for end in self._ways(entry.own, entry.own.entered(program), self._claimed_guards(entry, found[0])):
            if end.at == own.head:
                raise NotDerived("the program and its `ideal` do not end in the same iteration")
            yield Total(end.terms, (), low)

    def _both(self, state: State, guard: Guard) -> list[State]:
        if not any(i >= self._first_noise for i, _ in guard.form):
            return self._outcomes(state, guard, ())
        return [replace(state, outcomes=(*state.outcomes, side)) for side in (guard, guard.opposite())]

    def _head(self, program: State, exact: State) -> int:
        pair = self._own.stripped(program)[0], self._ideal.stripped(exact)[0]
        key = tuple(state.key for state in pair)
        if key not in self._numbers:
            self._numbers[key] = len(self._heads)
            self._heads.append(pair)
        return self._numbers[key]

    # --- one side -------------------------------------------------------------------------------------

    def _ways(self, runs: LoopRuns, state: State, known: tuple[Guard, ...] = ()) -> Iterator[State]:
        """Return the ends of the paths from `state` on which noisy comparisons have the results that inputs imply.

        `runs` is about the program or its ideal, and the inputs satisfy the guards `known`.
        """
        return runs.ways(state, known, lambda state, guard: self._outcomes(state, guard, known))

    def _outcomes(self, state: State, guard: Guard, known: tuple[Guard, ...]) -> list[State]:
        """Return the states after the comparison `guard` in `state`: one for each result that runs may have.

        `state` does not decide the comparison. A comparison of inputs may have both results, and a comparison of noises
        only the result that the inputs imply. `known` are guards that the inputs satisfy.
        """
        if not any(i >= self._first_noise for i, _ in guard.form):
            states = [replace(state, inputs=(*state.inputs, side)) for side in (guard, guard.opposite())]
            return [one for one in states if not contradictory((*known, *one.inputs), self.budget)]
        best: tuple[Term, Guard] | None = None
        for side in (guard, guard.opposite()):
            noises, rest = self._parted(side.form)

            def implies(least: Fraction, rest: Mapping[int, Fraction] = rest, side: Guard = side) -> bool:
                return self._is_least((*known, *state.inputs), rest, side.constant, 0, least)

            term = self._known_term(noises, state, implies)
            if term is not None and (best is None or term.constant > best[0].constant):
                best = term, replace(side, strict=True)
        if best is None:
            raise NotDerived("the certificate states no term for a noisy comparison")
        return [replace(state, outcomes=(*state.outcomes, best[1]), terms=(*state.terms, best[0]))]

    def _parted(self, form: Iterable[tuple[int, Fraction]]) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
        halves: tuple[dict[int, Fraction], dict[int, Fraction]] = {}, {}
        for i, c in form:
            halves[i < self._first_noise][i] = c
        return halves

    def _known_term(
        self, noises: Mapping[int, Fraction], state: State, implied: Callable[[Fraction], bool]
    ) -> Term | None:
        return stated_term([(*state.laws[i - self._first_noise], c) for i, c in noises.items()], self.terms, implied)

    # --- distances and slacks -------------------------------------------------------------------------

    def _claimed_guards(self, entry: _Entry, way: State) -> tuple[Guard, ...]:
        """Return guards over inputs and alpha that hold at all claimed inputs on the path `way` of the ideal.

        An input is claimed if the claim is about it, so that its distance from other answers is at least alpha. `entry`
        has the finite inputs of the iteration.
        """
        alpha = self.wanted.alpha
        guards = [*way.inputs, Guard(((ALPHA, _ONE),), _ZERO, strict=False)]
        for guard in way.inputs:
            width, direction = outwards(self.shape.norm, guard)
            if not self._distances.has_apart or self._stays_near(entry, way, guard, width, direction):
                moving = ((ALPHA, -width * alpha.slope),) if alpha.slope else ()
                guards.append(Guard((*guard.form, *moving), guard.constant - width * alpha.base, strict=False))
        return tuple(guards)

    def _stays_near(
        self, entry: _Entry, way: State, guard: Guard, width: Fraction, direction: Mapping[int, Fraction]
    ) -> bool:
        """True only if inputs just across `guard` are at a finite distance from the inputs that take the path `way`.

        The `metric` block of the ideal may say that some inputs are infinitely far apart. An input that takes `way`, a
        path of the ideal, is moved on a straight line in the direction -`direction`, until `guard` no longer holds. The
        linear form of `guard` falls by `width` for each unit of length on this line. `entry` has the finite inputs of
        the iteration. The result is False if `guard` contains an input that is not an element of an array.
        """
        slots = self._distances.machine.slots
        if any(slots[i].name not in self.shape.own.elements for i, _ in guard.form):
            return False
        # The other elements may have the values of any entry.
        for each in self._entries:
            if any(apart for _, apart in self._distances.cases(each.inputs, each.inputs, ())):
                return False
        length = ALPHA - 1  # of the way: a variable that is not an input
        beyond = {
            slot: plus(here, Affine(_ZERO, ((length, -direction.get(slot, _ZERO)),)))
            if isinstance(here, Affine)
            else here
            for slot, here in entry.inputs.items()
        }
        further = Guard(((length, width), *((slot, -c) for slot, c in guard.form)), -guard.constant, strict=True)
        known = [*way.inputs, further, Guard(((length, _ONE),), _ZERO, strict=False)]
        return not any(apart for _, apart in self._distances.cases(entry.inputs, beyond, known))

    def _is_least(
        self, known: Sequence[Guard], form: Mapping[int, Fraction], constant: Fraction, radius: int, least: Fraction
    ) -> bool:
        """True if `form` + `constant` + `radius`·gamma >= bound is proved wherever the guards `known` hold.

        `form` has the coefficients of inputs by slot. The bound is `least`; if the claim leaves a distance open, it is
        `least` times this distance.
        """
        bound = DistanceLine(_ZERO, least) if self.wanted.is_open else DistanceLine(least)
        left = self.wanted.gamma.scaled(radius) + bound.scaled(-1)
        moving = {ALPHA: left.slope} if left.slope else {}
        return implied(known, {**form, **moving}, constant + left.base, self.budget)

    # --- outputs --------------------------------------------------------------------------------------

    def _differ(self, one: State, other: State, outputs: Iterable[tuple[int, int]]) -> bool:
        """True if the runs `one` and `other` of the ideal end with different values of some finite output.

        `outputs` has a pair of slots for each output: the slot in the program, and the slot in the ideal.
        """
        slots = self.shape.ideal.machine.slots
        return any(
            slots[slot].type != "real" and not _same(one.values[slot], other.values[slot]) for _, slot in outputs
        )

    def _compared(
        self, program: State, exact: State, known: Sequence[Guard], pairs: Iterable[tuple[int, int]]
    ) -> list[Term]:
        """Return the events in which outputs of the program are not within gamma of those of its ideal.

        `pairs` has the slots of each output, in the program and in its ideal. `program` and `exact` are the states of
        both at the end, and `known` are guards that the inputs satisfy. Raises NotDerived if outputs differ without
        noise.
        """
        terms: list[Term] = []
        for own, other in pairs:
            mine, theirs = program.values[own], exact.values[other]
            slot = self.shape.own.machine.slots[own]
            if mine is None or theirs is None:
                raise NotDerived("an output may have no value at the end")
            if slot.type != "real":
                if not _same(mine, theirs):
                    raise NotDerived(
                        f"where all comparisons agree with the `ideal`, `{slot.name}` still differs from its answer"
                    )
                continue
            assert not isinstance(mine, bool | str), "the output is a number"
            assert not isinstance(theirs, bool | str), "the output is a number"
            terms += self._ball(program, plus(mine, scaled(theirs, -_ONE)), (*known, *program.inputs))
        return terms

    def _ball(self, program: State, gap: Fraction | Affine, known: Sequence[Guard]) -> Iterator[Term]:
        """Yield the events in which `gap` is greater than gamma, or less than -gamma; none if `gap` contains no noise.

        `known` are guards that the inputs satisfy, and `program` is the state with the noises. Raises NotDerived if a
        noise has no stated term, or if |gap| <= gamma is not proved for a `gap` without noise.
        """
        for sign in (_ONE, -_ONE):
            side = scaled(gap, sign)
            terms, constant = (side.terms, side.constant) if isinstance(side, Affine) else ((), side)
            noises, rest = self._parted(terms)

            def implies(least: Fraction, rest: Mapping[int, Fraction] = rest, constant: Fraction = constant) -> bool:
                return self._is_least(known, rest, constant, 1, least)

            if noises:
                term = self._known_term(noises, program, implies)
                if term is None:
                    raise NotDerived("the certificate states no term for an output")
                yield term
            elif not implies(_ZERO):
                raise NotDerived("without noise, an output is not within gamma of the answer")


def outwards(norm: str, guard: Guard) -> tuple[Fraction, dict[int, Fraction]]:
    """Return the dual norm of the form of `guard`, and a direction of length 1 in which the form grows by that norm.

    `norm` is the name of the norm of inputs.
    """
    form = dict(guard.form)
    sizes = [abs(c) for c in form.values()]
    width = sum(sizes, _ZERO) if norm == "linf" else max(sizes)
    steepest = sorted(form) if norm == "linf" else [max(sorted(form), key=lambda slot: abs(form[slot]))]
    return width, {slot: Fraction(1 if form[slot] > 0 else -1) for slot in steepest}


def stated_term(
    noises: Sequence[tuple[NoiseFamily, Fraction, Fraction]], terms: Iterable[Term], implied: Callable[[Fraction], bool]
) -> Term | None:
    """Return the term in `terms` that bounds the failure of a comparison of the noises `noises`, or None.

    The comparison is Σ c·N + s >= 0, where (family, rate, coefficient c) is an item of `noises` for each noise N, and s
    depends on inputs. `implied` returns True for a constant if s is proved to be at least the constant at the inputs in
    question. Then the comparison fails only in the event Σ c·N + constant < 0 of a term. Of such terms, the result is
    the one with the greatest constant, which is the least probable one.
    """
    unit = Term.normalized(noises, _ONE)
    alike = sorted((term for term in terms if term.noises == unit.noises), key=lambda term: -term.constant)
    return next((term for term in alike if implied(term.constant / unit.constant)), None)


def _same(one: Held, other: Held) -> bool:
    return type(one) is type(other) and one == other


# === walks =====================================================================================

#: The most paths through the heads of one loop.
MOST_PATHS = 20_000


@dataclass(frozen=True, slots=True)
class Total:
    """A bound of the error of a run of m iterations: `fixed` + (m - `once`)·`repeated`, for every m >= `once`.

    In the formula, `fixed` and `repeated` are the total probabilities of the events that they list.
    """

    fixed: tuple[Term, ...]
    repeated: tuple[Term, ...]
    once: int

    def bounds(self, other: Total) -> bool:
        """True if this bound holds for every m >= `other.once`, and has each term of `other` at least as often."""
        return (
            self.once <= other.once
            and not Counter(other.fixed) - Counter(self.fixed)
            and not Counter(other.repeated) - Counter(self.repeated)
        )


def require_bounded(totals: Iterable[Total], stated: Iterable[Total], budget: Budget) -> None:
    """Raise NotDerived unless each of `totals` is bounded by a total of `stated`. Charges its work to `budget`."""
    known = tuple(dict.fromkeys(stated))
    some = False
    for total in totals:
        some = True
        for one in known:
            budget.spend(20 + 2 * (len(one.fixed) + len(total.fixed) + len(one.repeated)))
            if one.bounds(total):
                break
        else:
            raise NotDerived("some runs have terms that the certificate does not state")
    if not some:
        raise NotDerived("no run gives the answer of the `ideal`")


def totals(walks: Walks, low: int, budget: Budget) -> Iterator[Total]:
    """Yield bounds of the error of the runs in `walks` through the loop from `low` to m.

    Each result holds for every m at or above its field `once`. At each input and eps, one of the results bounds the
    error from above.

    There is a result for each pair of a path that visits no head twice, and an iteration on a cycle through heads of
    the path. The result has the terms of the path, and repeats those of the iteration. Of the results for the path of a
    run, the one that repeats the most probable iteration bounds the error. Charges its work to `budget`. Raises
    NotDerived if there are too many paths.
    """
    reached = _reached(walks, budget)
    # `first` has the first head of each head's component, `cycles` the terms of the component's iterations.
    first = [min(there for there in goals if head in reached[there]) for head, goals in enumerate(reached)]
    cycles: dict[int, dict[tuple[Term, ...], None]] = {head: {} for head in first}
    for head, legs in enumerate(walks.iterations):
        inside = (leg.terms for leg in legs if leg.goal is not None and first[leg.goal] == first[head])
        cycles[first[head]].update(dict.fromkeys(inside))
    for fixed, once, visited in _paths(walks, budget):
        known = dict.fromkeys(first[head] for head in visited)
        for repeated in dict.fromkeys(terms for component in known for terms in cycles[component]) or [()]:
            budget.spend(50)
            yield Total(fixed, repeated, once + low - 1)


def _reached(walks: Walks, budget: Budget) -> list[set[int]]:
    """Return for each head of `walks` the set of heads that iterations reach from it, including the head itself.

    Charges its work to `budget`.
    """
    reached = []
    for head in range(len(walks.iterations)):
        waiting = [head]
        for here in waiting:
            legs = walks.iterations[here]
            budget.spend(3 + len(legs))
            waiting += {leg.goal for leg in legs if leg.goal is not None}.difference(waiting)
        reached.append(set(waiting))
    return reached


def _paths(walks: Walks, budget: Budget) -> Iterator[tuple[tuple[Term, ...], int, tuple[int, ...]]]:
    """Yield (terms, number of iterations, heads) of each path of `walks` that visits no head twice.

    Charges its work to `budget`.
    """
    waiting: list[tuple[tuple[Term, ...], int, tuple[int, ...]]] = [(walks.before, 0, (0,))]
    count = 0
    while waiting:
        terms, once, visited = waiting.pop()
        count += 1
        budget.spend(20 + 2 * (len(terms) + len(visited)) * (1 + len(walks.iterations[visited[-1]])))
        if count > MOST_PATHS:
            raise NotDerived(f"the heads of the loop are connected by more than {MOST_PATHS} paths")
        here = visited[-1]
        for ending in walks.endings[here]:
            yield (*terms, *ending.terms), once, visited
        for leg in walks.iterations[here]:
            if leg.goal is None:
                yield (*terms, *leg.terms), once + 1, visited
            elif leg.goal not in visited:
                waiting.append(((*terms, *leg.terms), once + 1, (*visited, leg.goal)))


# === selection =================================================================================


@dataclass(frozen=True, slots=True)
class Selection:
    """A loop that selects one value of an array, such as the largest, and answers with its index.

    `first` is the first index. `noisy` is true if noise is added to the values; `numbers` are the variables that hold
    the values.
    """

    array: str
    answer: str
    first: int
    noisy: bool
    numbers: frozenset[str]


def selection_totals(
    tree: Program, parameter: str, machine: Machine, wanted: Required, terms: Sequence[Term]
) -> Iterator[Total]:
    """Yield bounds of the error of a program that selects the largest of m noisy values, for all large enough m.

    m is the constant `parameter` of the program `tree`, and must be greater than the first index of the array of
    values. `machine` is the program for some m with at least two iterations. `wanted` is the claim, of which only alpha
    matters here. `terms` are the terms that the certificate states. Raises NotDerived if the program is not such a
    loop, or if a term that a bound needs is not stated.
    """
    if tree.ideal is None:
        raise NotDerived("the program has no `ideal`")
    parameter_arrays(tree, parameter)
    own, exact = selection(tree.body, parameter), selection(tree.ideal.body, parameter)
    if not own.noisy or exact.noisy or (own.array, own.answer, own.first) != (exact.array, exact.answer, exact.first):
        raise NotDerived("the program and its `ideal` do not select by the same rule")
    _require_declared(tree, own, parameter)
    for each, variables in ((own, tree.variables), (exact, tree.ideal.variables)):
        if not each.numbers <= {
            one.name for one in variables if (one.role, one.type, one.ends) == ("var", "real", None)
        }:
            raise NotDerived("the values to select from are not real variables")
    # A rate that depends on the index so far may differ for a greater m.
    declared = {each.name for each in tree.variables}
    if any(not declared.isdisjoint(names(drawn.rate)) for drawn in nodes(tree.body) if isinstance(drawn, Noise)):
        raise NotDerived("a rate depends on a variable")
    norm = input_norm(tree)
    if norm not in ("linf", "l1") or any(each.name != "input" for each in tree.metric):
        raise NotDerived("the `metric` block defines its own distance")
    width = 1 if norm == "l1" else 2
    rates = [each.rate for each in machine.code if isinstance(each, Sample) and each.family is Family.LAPLACE]
    if len(rates) < 2 or len(set(rates[1:])) > 1 or len(rates) < sum(isinstance(one, Sample) for one in machine.code):
        raise NotDerived("the values to select from are not all drawn from the same distribution")
    first, later = rates[0], rates[1]
    most = width * (wanted.alpha.slope if wanted.is_open else wanted.alpha.base)

    def loses(challenger: Fraction, selected: Fraction) -> Term:
        noises = [(Family.LAPLACE, selected, _ONE), (Family.LAPLACE, challenger, -_ONE)]
        term = stated_term(noises, terms, lambda least: least <= most)
        if term is None:
            raise NotDerived("the certificate states no term for a selected value")
        return term

    yield Total((), (loses(later, first),), own.first)
    yield Total((loses(first, later),), (loses(later, later),), own.first + 1)


def selection(body: Block, parameter: str) -> Selection:
    """Return the names in the statements `body`, which must be a loop that selects a value of an array.

    The loop ends at m, the constant `parameter`. Raises NotDerived if the statements are not such a loop.
    """
    match body:
        case (start, For(variable=variable, high=Name(high), body=inner) as loop) if high == parameter:
            pass
        case _:
            raise NotDerived("the loop does not have the form of a selection")
    best, value, noisy = _drawn(start, variable, parameter)
    low = first_index(loop)
    match value:
        case Element(array, Literal(Fraction() as first)) if first + 1 == low and variable not in (best, array):
            pass
        case _:
            raise NotDerived(
                "the selection does not begin with the value at the index just before the loop's first index"
            )
    current = Element(array, Name(variable))
    match inner:
        case (If() as decision,) if not noisy:
            challenger: Expr = current
        case (drawing, If() as decision):
            name, value, again = _drawn(drawing, variable, parameter)
            if value != current or again is not noisy or name in (best, array, variable):
                raise NotDerived("the values to select from are not all drawn from the same distribution")
            challenger = Name(name)
        case _:
            raise NotDerived("the loop does not have the form of a selection")
    if decision.otherwise or decision.condition not in (
        *(Apply(op, (challenger, Name(best))) for op in (">", ">=")),
        *(Apply(op, (Name(best), challenger)) for op in ("<", "<=")),
    ):
        raise NotDerived("the condition in the loop does not compare with the best value so far")
    kept = Assign(Name(best), challenger)
    match [statement for statement in decision.then if statement != kept]:
        case [Assign(Name(answer), Name(index))] if index == variable and answer not in (best, array, variable):
            held = {best, challenger.name} if isinstance(challenger, Name) else {best}
            if len(decision.then) == 2:
                return Selection(array, answer, low - 1, noisy, frozenset(held))
    raise NotDerived("the loop does more than keep the best value and its index")


def _drawn(statement: object, variable: str, parameter: str) -> tuple[str, Expr, bool]:
    """Return the variable that `statement` writes, an expression, and whether the statement draws Laplace noise.

    The expression is the mean of the noise, or the value that is assigned. Raises NotDerived for other statements, and
    if the rate of the noise contains the loop's `variable` or `parameter`.
    """
    match statement:
        case Noise(Name(name), "Lap", rate, mean) if not {*names(rate)} & {variable, parameter}:
            return name, mean, True
        case Assign(Name(name), value):
            return name, value, False
        case _:
            raise NotDerived("a value is not drawn as Laplace noise around an input")


def _require_declared(tree: Program, loop: Selection, parameter: str) -> None:
    """Raise NotDerived unless the program `tree` declares what the search `loop` for a greatest value needs.

    The only input must be an array of reals, with indices from the loop's first one to the constant `parameter`. The
    only output must be the answer of the search, with the first index as its initial value and a domain that ends at
    `parameter`.
    """
    inputs, outputs = ([each for each in tree.variables if each.role == role] for role in ("input", "output"))
    match inputs:
        case [Variable(name=loop.array, ends=(low, Name(high)), type="real")] if high == parameter:
            if first_index(For("", low, Name(high), ())) != loop.first:
                raise NotDerived("the loop and its array do not begin at the same index")
        case _:
            raise NotDerived("the array is not the only input")
    match outputs:
        case [Variable(name=loop.answer, ends=None, type=type_, initial=Literal(loop.first))]:
            domain = tree.domain(type_)
            if not isinstance(domain, Range) or domain.high != Name(parameter):
                raise NotDerived("the domain of the index does not end at the loop's last index")
        case _:
            raise NotDerived("the index is not the only output")


# === numbers ===================================================================================

#: The part on trust of a union bound.
UNION = "that for every greater {parameter} the error of each run is bounded by one of the stated sums of terms"

MOST_DEGREE = 20
MOST_NUMBERS = 1_000

_ALWAYS = (Interval(_ZERO, None, False, False),)


_NUMBERS: read.Table = {
    "parameter": read.text,
    "least": read.integer,
    "start": read.integer,
    "verdict": read.one_of(*VERDICTS),
}


def check_numbers(
    value: object,
    claim: Claim,
    obligations: Sequence[Decided],
    tree: Program,
    singly: Mapping[int, str],
    budget: Budget,
    deriving: Budget,
) -> tuple[str, str | None, list[str]]:
    """Check the field `value` of a document: the claim `claim` for all m except for those in `singly`.

    Return the verdict, the reason why it is not certified (None if it is), and the parts taken on trust. `tree` is the
    program, and `obligations` are the checked ones of the document. `singly` has the verdict for each m that the
    document decides as a case of its own. The work is charged to `budget`, and that of finding the runs of the program
    to `deriving`. Raises Rejected if the field is wrong, or if a small m is missing from `singly`.
    """
    with in_step("numbers"):
        parameter, least, start, verdict, union, reason, without = read.fields(
            value, _NUMBERS, {"union": read.anything, "reason": read.text, "open": read.text}
        )
        if parameter not in claim.constants:
            raise Rejected(f"the program has no constant `{parameter[:40]}` for the number of queries")
        if not 0 <= start - least <= MOST_NUMBERS or not set(singly) >= set(range(least, start)):
            raise Rejected("the cases do not cover exactly the numbers before `start`")
        kinds = [one is not None for one in (union, reason, without)]
        if sum(kinds) != 1 or (reason is not None) is not (verdict == "undecided"):
            raise Rejected("its evidence does not fit its verdict")
        if union is None:
            return verdict, without, []
        if verdict != "accurate":
            raise Rejected("a union bound refutes nothing")
        assert claim.beta is not None, "a claim without beta was refused"
        # No probability is greater than 1.
        claim = replace(claim, beta=without_ones(parsed(claim.beta, budget)))
        variable, terms, *rest = read.fields(union, _UNION)
        bound = _UnionBound(claim, variable, parameter, start, terms, obligations, budget)
        missing, totals = bound.check(*rest)
        first, *others = bound.coefficients
        if all(not b or positive_everywhere(b, budget) for b in (subtract(first, ONE), *others)):
            return verdict, None, []  # beta is at least 1 for every m, so that the claim says nothing
        why = _not_derived(tree, bound, totals, deriving)
        return verdict, missing, [] if why is None else [f"{UNION.format(parameter=parameter)}: {why}"]


def _not_derived(tree: Program, bound: _UnionBound, stated: Sequence[Total], budget: Budget) -> str | None:
    """Return None if the error of the program `tree` is proved to be bounded by one of the sums `stated` for each m.

    Otherwise return the reason why the proof fails. Each of `stated` is a sum of probabilities that depends on m, for
    all m >= `bound.start`. Charges its work to `budget`.
    """
    parameter, wanted, terms = bound.parameter, bound.wanted, bound.normal
    constants = {**bound.claim.constants, parameter: Fraction(bound.start)}
    try:
        theorem = Theorem.from_tree(tree, constants, budget, budget)
        if not isinstance(theorem.ideal, Ideal):
            return theorem.ideal or "the program has no `ideal`"
        if theorem.ideal.integer_inputs:
            return "the program has inputs of type int"
        try:
            bounds: Iterable[Total] = list(selection_totals(tree, parameter, theorem.machine, wanted, terms))
        except NotDerived:
            shape = Iterations.from_program(tree, parameter, constants, budget)
            if bound.start < shape.own.low:
                return "for some numbers the loop has no iteration"
            bounds = (
                total
                for entries in shape.combinations(budget)
                for total in _totals_of(Agreement(shape, entries, wanted, terms, budget), budget)
            )
        require_bounded(bounds, stated, budget)
    except DERIVATION_ENDS as error:
        return why_it_ends(error)
    return None


def _totals_of(agreement: Agreement, budget: Budget) -> Iterable[Total]:
    """Return bounds of the errors of the runs that `agreement` explores; each error is bounded by one of them.

    Charges its work to `budget`. Raises NotDerived if the bounds are proved neither by the method for all programs nor
    by that for a yes-or-no answer (lemma 10b of FORMAT.md).
    """
    try:
        return list(totals(agreement.walks(), agreement.shape.own.low, budget))
    except NotDerived as other:
        try:
            return list(agreement.flag_totals())
        except NotDerived:
            raise other from None


#: Families, rates and coefficients of noises, and a constant.
_Event = tuple[list[tuple[NoiseFamily, Fraction, Fraction]], Fraction]

#: The most noises of one term.
MOST_NOISES = 1_000


def _event(value: object) -> _Event:
    noise = read.tuple_of(read.one_of(*Family), read.rational, read.rational)
    noises, constant = read.fields(value, {"noises": read.listed(noise, MOST_NOISES), "constant": read.rational})
    if not noises or not all(rate > 0 and c for _, rate, c in noises):
        raise Rejected("a term must have noises, with positive rates and with coefficients that are not 0")
    return [(Family(family), rate, c) for family, rate, c in noises], constant


_UNION: read.Table = {
    "variable": read.one_of(*VARIABLES),
    "terms": read.listed(_event, step="term"),
    "sums": read.items,
    "trivial": read.nullable(read.rational),
    "above_one": read.listed(read.natural),
}

_SUM: read.Table = {
    "fixed": read.listed(read.natural),
    "repeated": read.listed(read.natural),
    "once": read.integer,
    "inequalities": read.listed(read.tuple_of(read.natural, read.natural)),
}


@dataclass
class _UnionBound:
    """A bound of the error by a sum of probabilities, for every m >= `start`.

    The number m is the value of the constant `parameter`. The beta of `claim` is a polynomial in m - start, whose
    coefficients are functions of `variable`. The summands are the probabilities of the `terms`, and the `obligations`
    of the document compare sums of them with the coefficients of beta.
    """

    claim: Claim
    variable: str
    parameter: str
    start: int
    terms: Sequence[_Event]
    obligations: Sequence[Decided]
    budget: Budget

    def __post_init__(self) -> None:
        for expression, name in ((self.claim.alpha, "alpha"), (self.claim.gamma, "gamma")):
            if expression is not None and mentions(expression, self.parameter):
                raise Rejected(f"{name} depends on `{self.parameter}`")
        alpha, gamma, (names, finished) = meaning(self.claim, self.variable, None, self.budget)
        self.wanted = Required(alpha, gamma, None)
        self.coefficients = self._coefficients(names, finished)
        self.normal = [Term.normalized(*event) for event in self.terms]
        self.chances = [
            measure_anew(
                [(family, rate) for family, rate, _ in noises],
                [([(i, c) for i, (_, _, c) in enumerate(noises)], constant)],
                self.budget,
            )
            for noises, constant in self.terms
        ]

    def _coefficients(self, names: Mapping[str, Form], finished: Callable[[Form], Closed | None]) -> list[Ring]:
        """Return the coefficients of beta, a polynomial in m - start, by increasing power.

        Each coefficient is a function of the variable that replaces eps. `names` has the values of the names in beta,
        and `finished` returns a form as a function of this variable alone, or None if the form is no such function.
        Raises Rejected if beta is not a polynomial in m - start.
        """
        assert self.claim.beta is not None, "a claim without beta was refused"
        later = Form.unknown(self.parameter, Fraction(self.start))
        try:
            form = evaluate(self.claim.beta, {**names, self.parameter: later}, self.budget)
        except NotOneForm:
            raise Rejected(f"beta is not a polynomial in `{self.parameter}`") from None
        by_power: dict[int, dict[Growth, Ring]] = {}
        for growth, f in form.numerator.items():
            own = [(j, r) for name, j, r in growth if name == self.parameter]
            ((power, rate),) = own or [(0, _ZERO)]
            if rate or power > MOST_DEGREE:
                raise Rejected(f"beta is not a polynomial in `{self.parameter}` of degree at most {MOST_DEGREE}")
            by_power.setdefault(power, {})[tuple(factor for factor in growth if factor[0] != self.parameter)] = f
        result = []
        for power in range(1 + max(by_power, default=0)):
            function = finished(Form(by_power.get(power, {}), form.denominator))
            if function is None or function[1] != ONE:
                raise Rejected("beta is not an exponential polynomial for every number of queries")
            result.append(function[0])
        return result

    def check(
        self, sums: Sequence[object], trivial: Fraction | None, above_one: Sequence[int]
    ) -> tuple[str | None, list[Total]]:
        intervals = intervals_of(self.claim, self.wanted, None)
        missing = next(
            (
                f"the probability of a term is not derived: {chance}"
                for chance in self.chances
                if isinstance(chance, str)
            ),
            None,
        )
        if trivial is not None:
            if trivial <= 0 or intervals != _ALWAYS:
                raise Rejected("a proof that beta is above 1 near 0 is allowed only if the obligations begin at 0")
            missing = self._above_one(above_one, (Interval(_ZERO, trivial, False, True),)) or missing
            intervals = (Interval(trivial, None, True, False),)
        elif above_one:
            raise Rejected("it has `above_one`, but no `trivial`")
        if not sums:
            raise Rejected("a union bound must have a sum")
        totals: list[Total] = []
        for number, item in enumerate(sums):
            with in_step(f"sum {number}"):
                fixed, repeated, once, inequalities = read.fields(item, _SUM)
                self.budget.spend(100 + 20 * (len(fixed) + len(repeated)))
                own = [tuple(self.normal[read.index(term, self.normal)] for term in row) for row in (fixed, repeated)]
                if once > self.start:
                    raise Rejected("a path must not take more iterations than there are")
                if [power for power, _ in inequalities] != list(range(max(len(self.coefficients), 2))):
                    raise Rejected("it does not have one inequality for each power")
                needed = Counter(fixed)
                for term in repeated:
                    needed[term] += self.start - once
                for power, place in inequalities:
                    goes_wrong = [needed, Counter(repeated)][power] if power < 2 else Counter()
                    missing = self._inequality(place, power, goes_wrong, intervals) or missing
                totals.append(Total(own[0], own[1], once))
        return missing, totals

    def _inequality(
        self, place: int, power: int, needed: Mapping[int, int], intervals: tuple[Interval, ...]
    ) -> str | None:
        """Return None if one coefficient of beta is proved to be at least a sum of probabilities, else the reason.

        Beta is a polynomial in m - start, and the coefficient is that of (m - start)^`power`. `needed` has the index of
        each term with the number of times that the sum contains its probability. `place` is the index of the obligation
        with the proof, which must be about `intervals`. Raises Rejected for a wrong obligation.
        """
        value, missing = self._shown(place, power, intervals)
        if isinstance(value, Enclosed):
            raise Rejected("an inequality is about Gaussian noise")
        total: Closed = ONE, ONE
        for term, weight in needed.items():
            chance = self.chances[term]
            if isinstance(chance, str):
                return missing  # What is said of it has no proof.
            above, below = chance
            total = add_closed(total, (times(subtract(above, below), weight), below), self.budget)
        if not equal_closed(value, total, self.budget):
            raise Rejected("an inequality is about terms other than those of the bound")
        return missing

    def _above_one(self, places: Sequence[int], near: tuple[Interval, ...]) -> str | None:
        """Return None if beta is proved to be >= 1 at `start` and nondecreasing in m for m >= `start`, else the reason.

        Beta is a polynomial in m - start. `places` has the index of an obligation for each of its coefficients, by
        increasing power. Each of these obligations must be about the intervals `near`. Raises Rejected for wrong
        obligations.
        """
        if len(places) != len(self.coefficients):
            raise Rejected("not every coefficient shows that beta is above 1")
        missing: str | None = None
        for power, place in enumerate(places):
            value, why = self._shown(place, power, near)
            if value != (constant(min(power, 1)), ONE):
                raise Rejected("an obligation of `above_one` does not show that beta is above 1")
            missing = why or missing
        return missing

    def _shown(self, place: int, power: int, intervals: tuple[Interval, ...]) -> tuple[Probability, str | None]:
        """Return (f, None) if the obligation with index `place` proves that a coefficient of beta is at least 1 - f.

        Beta is a polynomial in m - start, and the coefficient is that of (m - start)^`power`. The probability f is the
        one that the obligation states. Without a proof, return (f, the reason). Raises Rejected if the obligation is
        not about `intervals`.
        """
        decided = self.obligations[read.index(place, self.obligations)]
        if decided.intervals != intervals:
            raise Rejected("an inequality covers the wrong values of the variable")
        coefficient = self.coefficients[power] if power < len(self.coefficients) else {}
        return decided.value, decided.require("accurate", (((coefficient, ONE),),), self.budget)


def constants_of(value: Mapping[str, Fraction], parameter: str | None) -> tuple[int | None, Mapping[str, Fraction]]:
    """Return (m, the other constants) of a case whose constants are `value`; m is the value of `parameter`.

    m is None if the document has only one case, and `parameter` is None. Raises Rejected if a case with a `parameter`
    has no integer m, or if a case without one has constants.
    """
    if parameter is None:
        if value:
            raise Rejected("the only case of a document must not have constants of its own")
        return None, {}
    number = value.get(parameter)
    if number is None or number.denominator != 1:
        raise Rejected(f"each case must be about one integer value of `{parameter}`")
    return int(number), {name: c for name, c in value.items() if name != parameter}

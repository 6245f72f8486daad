"""Lower bounds of a constant for all large numbers of queries.

**Words.** An output of n iterations is a word with one letter for each iteration. Let a block of p letters, at given
inputs, be repeated k times. Let G be lim log(Pr)/eps of the word as eps tends to infinity, and G' the same at an
adjacent input.

The parts of a run are bounded separately. For each head h from which the word can be ended, let H(h) be half-spaces of
the noises alive there with two properties:

1. Every run that ends the word from h is in H(h).
2. Every run that makes a block from h to a head h', and is in H(h') at h', is in H(h).

Then each run of the word is in H at each of its heads. Consider the least Σ rate·|N| between points of H, found by
linear programs: let it be b before the blocks, c in a block, and e after them. G' is at most -(b + k·c + e).

Suppose that every block leads from one head back to this head, with the same noises t alive. Then the word has the
probability M(k) = ∫ P(t)^k·g(t) dμ(t), where P(t) is the probability of the block. Neither P, nor g, nor μ depends on
k, as later iterations depend on the head alone. So M(k + i) <= M(k)·(sup P)^i, and P(t) is at most a polynomial in eps
times e^(-c·eps). The known value of G' for one k then takes the place of b + k·c + e.

A run of a block that leads back to its head, with the same values of the noises alive there, may be repeated. Let its
parts cost b', c' and e', and let the weights of its choices not tend to 0. Then G is at least -(b' + k·c' + e'). So the
loss of the word grows by at least (c - c')·eps with each block. This is a lower bound of the constant for n + p·i
queries.

If all rates are multiples of one function r(m), a program for m queries at eps is one with constant rates at r(m)·eps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.exppoly import fraction_of
from dipc.algebra.limits import OutsideFragment, Undecided
from dipc.chain.state import Affine, Choice, Edge, Mark, State, value_text
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace, absolute_value_bounds, sorted_terms
from dipc.linear.program import Infeasible, Least, implies, minimum, solution
from dipc.noise.law import SideRates
from dipc.program.program import Program
from dipc.questions.every_number.in_number import ONE, RationalFunction, common_unit
from dipc.questions.every_number.loop_runs import Key, stripped
from dipc.questions.every_number.normal_form import rate_of_mark
from dipc.questions.every_number.uniform import NotUniform
from dipc.questions.privacy.alignment import AlignedExit, aligned_exits
from dipc.questions.privacy.constant import Candidate, exponent_of
from dipc.questions.privacy.loops import OneLoop, PathRuns, alive_noises
from dipc.questions.privacy.outcome import Texts
from dipc.text.ast import BaseType
from dipc.text.core import SampleNoise, show_value

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The greatest number of letters of a block.
BLOCK = 2

#: A value as text, None for a missing one, or the ends of its interval.
_Letter = str | tuple[Fraction, Fraction] | None


def lower_bound(single: OneLoop, candidate: Candidate, number: int, period: int) -> RationalFunction | None:
    """Return a lower bound of the constant for m = `number`, and for every m greater by a multiple of `period`.

    `single` is the program as one loop. The bound comes from the output of `candidate` by repeating the outputs of a
    block of `period` consecutive iterations. Of all blocks, the one whose bound grows fastest with m is chosen. The
    result is None if no bound is known.
    """
    unit = _unit(single)
    if unit is None or fraction_of(candidate.second)[0].is_zero():
        return None
    bounds, total = [], -exponent_of(candidate.second) / unit.value_at(number)
    try:
        here = _OutputWord(single, number, candidate, candidate.input, likely=True)
        there = _OutputWord(single, number, candidate, candidate.adjacent)
        for block in range(here.count - period, -1, -1):
            least = there.cost_apart(block, period, unit, total)
            most = None if least is None else here.cost_repeated(block, period, unit)
            if least is not None and most is not None:
                bounds.append((least[0] - most[0], least[1] - most[1]))
    except (NotUniform, Undecided):
        return None
    if not bounds:
        return None
    slope, rest = map(RationalFunction.constant, max(bounds))
    blocks = (RationalFunction.number() - RationalFunction.constant(number)) * RationalFunction.constant(
        Fraction(1, period)
    ) + ONE
    return unit * (rest + blocks * slope)


def _unit(single: OneLoop) -> RationalFunction | None:
    """Return a function of m of which all rates of `single` are multiples; None if there is none.

    The function is 1 if no rate depends on m.
    """
    rates = single.text.rates
    if rates is None:
        return ONE
    program = single.text.instance(single.low + 1)
    marks = {each.rate for each in program.core.instructions if isinstance(each, SampleNoise)}
    return common_unit([rate_of_mark(rates, mark) for mark in sorted(marks)])


def _sum(keys: Iterable[int]) -> Halfspace:
    return Halfspace(sorted_terms(dict.fromkeys(keys, _ONE)), _ZERO)


def _renamed(form: Affine, names: Mapping[int, int]) -> Affine:
    return replace(form, noises=tuple(sorted((names[noise], c) for noise, c in form.noises)))


class _OutputWord(PathRuns):
    """One output of a program with m queries, read iteration by iteration, at one of two adjacent inputs.

    The output of an iteration is a letter, and the letters form a word. Iterations are numbered from 0; the
    instructions before the loop are iteration -1. The cost of noises N is the sum of rate·|N|, in multiples of a
    `unit`: a function of m of which all rates are multiples.
    """

    def __init__(
        self,
        single: OneLoop,
        number: int,
        candidate: Candidate,
        point: Mapping[str, str | None],
        *,
        likely: bool = False,
    ) -> None:
        """Read the output of `candidate`, iteration by iteration, and one of its inputs, `point`, for m = `number`.

        `single` is the program as one loop. With `likely`, a run is left out if it makes a choice whose probability
        tends to 0 as eps grows. Raises NotUniform if the loop or the candidate has a form that is not supported.
        """
        # One more iteration gives a head after the last letter.
        program = single.text.instance(number + 1)
        super().__init__(program, single.shape)
        self._likely, self._choices = likely, program.choices
        self.count = number - single.low + 1
        self._rates = single.text.rates
        self._texts, self._candidate = point, candidate
        inputs, outputs = (self._by_slot(names) for names in (point, {**candidate.output, **candidate.balls}))
        self._names = {name: slot for slot, name in (inputs | outputs).items()}
        self._point = {slot: Fraction(str(point[name])) for slot, name in inputs.items()}
        self._letters: dict[int, _Letter] = {
            slot: candidate.balls[name] if name in candidate.balls else candidate.output[name]
            for slot, name in outputs.items()
        }
        self._heads = list(self._reached())

    def _takes(self, edge: Edge) -> bool:
        if not self._likely or not isinstance(edge, Choice):
            return True
        weights = self._choices.require_weights()
        return weights.possible(edge.weight) and exponent_of(weights.closed(edge.weight)) == 0

    def _by_slot(self, names: Iterable[str]) -> dict[int, str]:
        """Return {slot: name} for the `names` of a candidate's inputs or outputs.

        The i-th of the names of an array's elements is assigned to the slot of the i-th element of this array in the
        loop.
        """
        slots: dict[str, list[int]] = {}
        for slot in self._core.slots:
            slots.setdefault(slot.name.partition("[")[0], []).append(slot.index)
        mine: dict[str, list[str]] = {}
        for name in names:
            mine.setdefault(name.partition("[")[0], []).append(name)
        return {slot: name for array, own in mine.items() for slot, name in zip(slots[array], own, strict=False)}

    def _reached(self) -> Iterator[dict[Key, State]]:
        """Yield, for each iteration, the states at its start after runs with the word's outputs until then.

        The states are given by keys, which are equal for states that continue alike. The last iteration that is yielded
        is the first one in which some run may end.
        """
        begun = self._ends(self._own.flow.first_state({}), -1, -1)
        heads = {self._key(state): state for state in begun}
        for position in range(self.count):
            yield heads
            ends = [end for state in heads.values() for end in self._ends(state, position, position)]
            if any(end.label == self._own.flow.exit_label for end in ends):
                return
            heads = {self._key(end): end for end in ends}

    def _ends(self, start: State, first: int, last: int) -> list[State]:
        """Return the final states of runs from `start` that give the outputs of iterations `first` to `last`.

        The state `start` is the head of iteration `first`.
        """
        result = []
        for state in self._runs(self._own.flow, stripped(start), self._own.head(last + 1)):
            ended = state.label == self._own.flow.exit_label
            if all(item.holds_at(self._point) for item in state.guards.items) and all(
                self._fits(state, slot)
                for slot in self._letters
                if (self._array_of(slot) is None and ended)
                or any(self._is_at(slot, each) for each in range(first, self.count if ended else last + 1))
            ):
                result.append(state)
        return result

    def _fits(self, state: State, slot: int) -> bool:
        value, letter = state.values[slot], self._letters[slot]
        if isinstance(letter, tuple):
            if not isinstance(value, Affine):
                return False
            center = value.substituted(self._point)
            return bool(center.noises) or letter[0] <= center.constant <= letter[1]
        if isinstance(value, Affine):
            raise NotUniform("a real output is no interval")
        return letter is None if isinstance(value, Mark) else value_text(value) == letter

    def _forms(self, end: State, letters: range, *, ended: bool = False) -> list[Affine]:
        """Return the forms of noises and inputs that are not negative on a run to `end` with the word's outputs.

        Only the outputs of the iterations `letters` are required, and also those at the exit if the run has `ended`.
        """
        forms = [item.form for item in end.constraints.items]
        for slot, letter in self._letters.items():
            value = end.values[slot]
            here = any(self._is_at(slot, each) for each in letters) or (ended and self._array_of(slot) is None)
            if here and isinstance(letter, tuple) and isinstance(value, Affine):
                forms += [value - Affine.number(letter[0]), Affine.number(letter[1]) - value]
        return forms

    def _costly(
        self, end: State, known: Collection[int], forms: Sequence[Affine], unit: RationalFunction
    ) -> tuple[list[Halfspace], dict[int, int]]:
        """Return (half-spaces of noises and of their costs, the key of the cost of each noise not in `known`).

        The noises in `known` were drawn earlier, and their costs are not counted. Each of `forms`, which are not
        negative on a run to `end`, gives a half-space of centered noises. For each noise N that is not in `known`,
        further half-spaces state that its cost is at least rate·|N|. Costs are in multiples of `unit`.
        """
        drawn = {noise.id: noise for noise in end.noises if noise.id not in known}
        last = max([noise.id for noise in end.noises], default=0)
        sizes = {noise: last + 1 + place for place, noise in enumerate(drawn)}
        system = [self._centered(form, {noise: drawn[noise].mean for noise in drawn}) for form in forms]
        for noise, size in sizes.items():
            rate = (rate_of_mark(self._rates, drawn[noise].rate) / unit).constant_value()
            assert rate is not None, "all rates are multiples of the unit"
            sides = drawn[noise].law.sides(rate)
            for sign, side in ((_ONE, sides.right), (-_ONE, sides.left)):
                terms = {noise: -sign} if side is None else {size: _ONE, noise: -sign * side}
                system.append(Halfspace(sorted_terms(terms), _ZERO))
            system.append(Halfspace(((size, _ONE),), _ZERO))
        return system, sizes

    # --- the parts of a run ---------------------------------------------------------------------------

    def cost_apart(
        self, block: int, period: int, unit: RationalFunction, total: Fraction
    ) -> tuple[Fraction, Fraction] | None:
        """Return lower bounds (cost of the noises in one repetition of a block, cost of all other noises).

        The block has `period` iterations and begins at index `block`. The bounds are valid for all runs with the word's
        outputs, however often they repeat the block. The cost of noises N is the sum of rate·|N|, in multiples of
        `unit`, a function of m. `total` is the cost of all noises when the block occurs once. The result is None if no
        bounds are known.
        """
        inside, after = range(block, block + period), range(block + period, self.count)
        heads = self._heads_of(block, period)
        begun = self._ends(self._own.flow.first_state({}), -1, block - 1)
        if heads is None or any(end.label == self._own.flow.exit_label for end in begun):
            return None
        begun = [end for end in begun if self._key(end) in heads]
        needed = self._needed(heads, block, period)
        costs: dict[str, list[Fraction]] = {"before": [], "block": [], "after": []}
        keeps_noises = len(heads) == 1

        def add(side: str, end: State, known: Collection[int], forms: Sequence[Affine]) -> None:
            system, sizes = self._costly(end, known, forms, unit)
            least = minimum(_sum(sizes.values()), system)
            if isinstance(least, Least):
                costs[side].append(least.value)

        for end in begun:
            add("before", end, (), [*self._forms(end, range(-1, block)), *self._conditions_at(needed, end)])
        for start in heads.values():
            known, here = {noise.id for noise in start.noises}, self._conditions_at(needed, start)
            for end in self._ends(start, block, inside[-1]):
                if self._key(end) not in heads:
                    continue
                keeps_noises &= alive_noises(self._own, end) == alive_noises(self._own, start)
                add("block", end, known, [*self._forms(end, inside), *here, *self._conditions_at(needed, end)])
            for end in self._endings(start, after):
                add("after", end, known, [*self._forms(end, after, ended=True), *here])
        if not all(costs.values()):
            return None
        each = min(costs["block"])
        return each, total - each if keeps_noises else min(costs["before"]) + min(costs["after"])

    def cost_repeated(self, block: int, period: int, unit: RationalFunction) -> tuple[Fraction, Fraction] | None:
        """Return (cost of the noises in a block of iterations that a run can repeat, cost of the run's other noises).

        The block has `period` iterations and begins at index `block`. The cost is Σ rate·|N| over the noises N, in
        multiples of `unit`. The result is for a run with the cheapest block; None if no run can repeat the block.
        """
        inside, after = range(block, block + period), range(block + period, self.count)
        costs = []
        for begun in self._ends(self._own.flow.first_state({}), -1, block - 1):
            if begun.label == self._own.flow.exit_label:
                continue
            known = {noise.id for noise in begun.noises}
            for end in self._ends(begun.with_label(self._own.head(block)), block, inside[-1]):
                if end.label == self._own.flow.exit_label or self._key(end) != self._key(begun):
                    continue
                for ended in self._endings(end, after):
                    forms = [*self._forms(begun, range(-1, block)), *self._forms(end, inside)]
                    forms += self._forms(ended, after, ended=True)
                    pairs = zip(alive_noises(self._own, begun), alive_noises(self._own, end), strict=True)
                    moved = [Affine.noise(one) - Affine.noise(two) for one, two in pairs if one != two]
                    same = [*moved, *(-form for form in moved)]
                    system, sizes = self._costly(ended, (), [*same, *forms], unit)
                    inner = [replace(item, strict=bool(item.coefficients)) for item in system[len(same) :]]
                    if isinstance(solution([*system[: len(same)], *inner]), Infeasible):
                        continue
                    own = {noise.id for noise in end.noises} - known
                    of_block = _sum(sizes[noise] for noise in own)
                    rest = _sum(size for noise, size in sizes.items() if noise not in own)
                    best = minimum(of_block, system, then=[rest])
                    if isinstance(best, Least):
                        costs.append((best.value, rest.value(best.point)))
        return min(costs, default=None)

    def _heads_of(self, block: int, period: int) -> dict[Key, State] | None:
        """Return the states, by key, at the start of a repeated block of iterations.

        Only states from which runs can end with the word are returned. The block has `period` iterations and begins at
        index `block`. Of states with equal keys, the first one reached is kept. The result is None if a run may end in
        the block. It is also None if a state is reached only through the block and has noises that the block draws.
        """
        if block >= len(self._heads):
            return None
        heads = dict(self._heads[block])
        leads: dict[Key, set[Key]] = {}
        pending = list(heads.values())
        while pending:
            start = pending.pop()
            for end in self._ends(start, block, block + period - 1):
                if end.label == self._own.flow.exit_label:
                    return None
                key = self._key(end)
                leads.setdefault(self._key(start), set()).add(key)
                if key not in heads:
                    alive = alive_noises(self._own, end)
                    if any(noise >= self._own.head(block) for noise in alive):
                        return None
                    kept = tuple([noise for noise in end.noises if noise.id in alive])
                    heads[key] = replace(end, noises=kept).with_label(self._own.head(block))
                    pending.append(heads[key])
        after = range(block + period, self.count)
        live = {key for key, start in heads.items() if self._endings(start, after)}
        while more := {key for key in leads.keys() - live if leads[key] & live}:
            live |= more
        return {key: start for key, start in heads.items() if key in live}

    def _endings(self, start: State, letters: range) -> list[State]:
        """Return the final states of runs from `start` with the word's outputs in `letters` and at the exit.

        `letters` are the indices of the last iterations.
        """
        flow, begun = self._own.flow, stripped(start).with_label(self._own.head(letters.start))
        through = [begun] if not letters else list(self._runs(flow, begun, self._own.head(letters.stop)))
        left = [end for end in through if end.label != flow.exit_label]
        ends = [end for end in through if end.label == flow.exit_label]
        for state in left:
            ends += self._runs(flow, state.with_label(self._own.head(self._own.count)), None)
        return [
            end
            for end in ends
            if all(item.holds_at(self._point) for item in end.guards.items)
            and all(
                self._fits(end, slot)
                for slot in self._letters
                if self._array_of(slot) is None or any(self._is_at(slot, each) for each in letters)
            )
        ]

    def _needed(self, heads: Mapping[Key, State], block: int, period: int) -> Mapping[Key, list[Affine]]:
        """Return, for each of the states `heads`, forms that are not negative there on any run with the word's outputs.

        The states are those at the start of a repeated block of `period` iterations that begins at index `block`. In
        the forms, the key of a noise is its position among those of the state's noises that later iterations read.
        """
        needed: dict[Key, list[Affine]] = {}
        inside, after = range(block, block + period), range(block + period, self.count)
        endings = {key: self._endings(start, after) for key, start in heads.items()}
        for key, start in heads.items():
            place = {noise: position for position, noise in enumerate(alive_noises(self._own, start))}
            forms = self._forms(endings[key][0], after, ended=True) if endings[key] else []
            known = [form.substituted(self._point) for form in forms if all(noise in place for noise, _ in form.noises)]
            needed[key] = [_renamed(form, place) for form in known if form.noises]
        while True:
            kept = dict(needed)
            for key, start in heads.items():
                alive = dict(enumerate(alive_noises(self._own, start)))
                # The conditions of each run from this head to the exit, or through a block to a head.
                ways = [self._forms(end, after, ended=True) for end in endings[key]]
                ways += [
                    [*self._forms(end, inside), *self._conditions_at(needed, end)]
                    for end in self._ends(start, block, inside[-1])
                    if self._key(end) in heads
                ]
                for forms in ways:
                    system = [self._centered(form, {}) for form in forms]
                    kept[key] = [f for f in kept[key] if implies(system, self._centered(_renamed(f, alive), {}))]
            if kept == needed:
                return needed
            needed = kept

    def _conditions_at(self, needed: Mapping[Key, list[Affine]], state: State) -> list[Affine]:
        alive = dict(enumerate(alive_noises(self._own, state)))
        return [_renamed(form, alive) for form in needed.get(self._key(state), ())]

    def _centered(self, form: Affine, means: Mapping[int, Affine]) -> Halfspace:
        """Return `form` with the word's input substituted, and some noises replaced by means plus centered noises.

        `means` maps the indices of these noises to their means; the other noises stay as they are.
        """
        here = form.substituted(self._point)
        moved = sum(
            (c * means[noise].evaluate(self._point) for noise, c in here.noises if noise in means), here.constant
        )
        return Halfspace(tuple(sorted(here.noises)), moved)


# --- The cost of an output --------------------------------------------------------------------------------------------
#
# Lower bounds of the constant of privacy for all rates of the noises at once, from one pair of inputs and one output.
#
# **Lemma (least costs).** *Let an output S be reached at u by the polyhedra A of values of independent Laplace and
# one-sided noises, with the rates a_i, and E(u, a) be the least Σ a_i·|x_i| of their points. Then log Pr[S]/eps tends
# to -E(u, a) as eps grows, so that a program that is K·eps-private has K >= E(u', a) - E(u, a) for adjacent u, u'.*
# The density is Π c_i·eps·e^{-a_i·eps·|x_i|} on convex sets that have inner points, and the exponential is what counts
# (Laplace's method). ∎
#
# E is a minimum of linear functions of the rates. So it is concave in them, and at most the cost of any one point of A.
# At a convex combination of several rates, K is at least the same combination of E(u', a), less the cost of one point
# that reaches S at u.

#: The rate that replaces each rate of the program.
OwnRates = Mapping[Fraction, Fraction]


@frozen
class Reached:
    """The least `cost` of noises that reach an output.

    `distances` has, for each rate of the program, the total distance of these noises from their means.
    """

    cost: Fraction
    distances: Mapping[Fraction, Fraction]

    def cost_at(self, rates: OwnRates) -> Fraction:
        """Return the cost of the same noises if each rate of the program is replaced by its value in `rates`."""
        return sum((rates[rate] * distance for rate, distance in self.distances.items()), _ZERO)


class LeastCosts:
    """The least costs Σ rate·|N| of noises that reach an output, for a program over real inputs."""

    def __init__(self, program: Program) -> None:
        """Compute the exits of `program`.

        Raises Undecided for choices, and for noise other than Laplace and one-sided noise.
        """
        self._program = program
        self._exits = aligned_exits(program)
        for each in self._exits:
            if each.likeness[-1] is not None:  # type: ignore[index]
                raise OutsideFragment("the program makes choices whose weights may depend on eps")
            for noise in each.state.noises:
                sides = noise.law.sides(noise.rate)
                one_sided = sides.left is None and noise.law.least == 0
                if noise.law.whole or not (sides == SideRates(noise.rate, noise.rate) or one_sided):
                    raise OutsideFragment("costs of outputs are known only for Laplace and one-sided noise")

    def reaching(self, output: Candidate, inputs: Texts, rates: OwnRates, *, likely: bool) -> Reached | None:
        """Return the least cost of noises that give `output` at `inputs`; None if none do.

        `rates` has the rate that replaces each rate of the program. With `likely`, an exit counts only if it gives the
        output with a positive probability.
        """
        values = [Fraction(inputs[name] or 0) for name in self._program.inputs]
        every: list[Reached] = []
        for each in self._exits:
            balls = self._balls(each, output)
            if balls is None:
                continue
            point = {each.first_input + position: value for position, value in enumerate(values)}
            system = [item.with_values(point).closure() for item in (*each.slacks, *balls)]
            inner = [replace(item, strict=bool(item.coefficients)) for item in system]
            if likely and isinstance(solution(inner), Infeasible):
                continue
            reached = _least_reached(each, system, rates)
            if reached is not None:
                every.append(reached)
        return min(every, key=lambda one: one.cost, default=None)

    def _balls(self, each: AlignedExit, output: Candidate) -> list[Halfspace] | None:
        """Return half-spaces of noises and inputs on which the exit `each` has the outputs of `output`.

        Real outputs have to be in the intervals of `output`. None if a finite output, or one without noise, is not that
        of `output`.
        """
        slots = self._program.core.slots
        forms = dict(each.reals)
        needed: list[Halfspace] = []
        for slot, value in each.state.outputs.items():
            name = slots[slot].name
            ends = output.balls.get(name)
            if isinstance(value, Affine):
                if ends is not None:
                    form = forms[slot]
                    negative = tuple([(key, -c) for key, c in form.coefficients])
                    needed.append(Halfspace(form.coefficients, form.constant - ends[0]))
                    needed.append(Halfspace(negative, ends[1] - form.constant))
            elif slots[slot].type is BaseType.REAL:
                if ends is not None and value is not None and not ends[0] <= Fraction(show_value(value)) <= ends[1]:
                    return None
            elif (None if value is None else show_value(value)) != output.output.get(name):
                return None
        return needed


def _least_reached(each: AlignedExit, system: Sequence[Halfspace], rates: OwnRates) -> Reached | None:
    owns = [noise.rate for noise in each.state.noises]
    count = len(owns)
    goal = Halfspace(sorted_terms({count + key: rates[own] for key, own in enumerate(owns)}), _ZERO)
    least = minimum(goal, [*system, *absolute_value_bounds({key: count + key for key in range(count)})])
    if not isinstance(least, Least):
        return None
    distances: dict[Fraction, Fraction] = {}
    for key, own in enumerate(owns):
        distances[own] = distances.get(own, _ZERO) + abs(least.point.get(key, _ZERO))
    return Reached(least.value, distances)

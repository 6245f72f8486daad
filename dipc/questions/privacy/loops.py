"""The cost of shifting the noises in runs of a loop, for every number of queries.

A uniform program runs through finitely many heads of its loop, up to the names of noises (`loop_runs`). A noise is
*alive* at a head if it was drawn before and is compared later. A path is a sequence of steps from head to head. Each
step has inequalities between forms of the noises alive at the head, the noises drawn in the step, and the inputs of its
index.

A shift adds a constant to each noise of a path. Suppose that it satisfies the conditions that a move of the inputs
imposes. Then it maps the noises on this path into those on the path at the other input. Its cost is Σ c·|shift| (see
`alignment`), with c = rate for Laplace noise (`Law.shift_cost`). A noise X includes its mean: if the mean moves by d, a
shift of X by t shifts the centered noise by t - d, and its cost is c·|t - d|. So a value that is carried on may have
been drawn around an input of its iteration.

**Guards.** Comparisons of the inputs of an iteration without noise cut these inputs into finitely many cells. For every
two cells γ and γ' with adjacent inputs, each path through γ is matched with its own path through γ'. Matched paths have
the same answers, noises and heads. The second has only inequalities of the first, up to terms in the inputs. A shift
leads from one path into the other. The pairs of inputs in two such cells form a polyhedron. The conditions that the
inputs impose are affine on it, and costs are convex, so corners suffice if the polyhedron is bounded. For L1, the
inputs move one after another, on a straight line from cell to cell. If the conditions of two cells agree on their
common boundary, each part of the way stays in a cell.

**Choices** `choose` have weights that depend on no input: a path is matched with itself, with the same choices.

**Plans.** An adversary chooses a path and extreme moves of the inputs. A plan fixes for each head the shifts of the
noises alive there; the other noises of a step are shifted in the cheapest way. Let P be potentials of the heads such
that a step from g to h costs at most P(h) - P(g) + slope. Then a run of n iterations costs at most its potential at the
end, which is at most base, plus n·slope. Shifts, potentials, base and slope are unknowns of one linear program. Its
solution is the proof, and is checked. At other moves of the ball the shifts of a path are the averages of those at the
extreme moves, with the same weights as the moves: conditions are linear, and costs convex.

**Outlines.** A plan may depend on the outline of the path. This is the sequence of steps that lead from one strongly
connected component of heads to another, and to the exit, with the moves there. There are finitely many outlines, each
with its own plan, and the cost is at most that of the costliest.

**An extremum and one more noise.** The conditions:

1. The loop keeps only the greatest, or the least, B of values X_i = N_i + mean that it draws.
2. All later comparisons and outputs depend on B and on one other noise T, drawn before or after the loop.
3. The comparisons and outputs depend on B and T only through multiples of one form a·B + b·T.

With all N_i given, B moves by at most as much as some X_i does when inputs move. So T, moved by -a/b times as much, is
a pivot (see `alignment`): a·B + b·T keeps its value, and with it the way through the exit. The shift of T depends on
the N_i, and not on T. The map is injective, keeps volumes, and costs what the farthest shift of T costs, for every m.

**Rates that depend on m.** Rates that are multiples of one function r(m) share potentials, a base and a slope. Shifts
of their noises cost at most r(m)·(base + n·slope), for every m.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice, product
from math import gcd, lcm

from dipc.algebra.graph import strongly_connected
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment
from dipc.chain.state import Affine, State
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace, Terms, sorted_terms
from dipc.linear.program import Infeasible, Least, cells, corners, is_bounded_on, minimum, solution
from dipc.noise.law import Law
from dipc.program.program import Program
from dipc.questions.every_number.in_number import ONE, RationalFunction
from dipc.questions.every_number.loop_runs import Automaton, LoopRuns, LoopSide, plain_value, stripped
from dipc.questions.every_number.normal_form import LoopText, Rates, rate_of_mark, with_enough_iterations
from dipc.questions.every_number.uniform import NotUniform, UniformLoop, uniform_loop
from dipc.questions.privacy.adjacency import Distance, Neighborhood
from dipc.text import ast
from dipc.text.core import SampleChoice, SampleExponential

_ZERO, _ONE = Fraction(0), Fraction(1)

#: Inputs of an iteration, by slot; missing ones are 0. An array has the slot of its first element in every iteration.
Point = Mapping[int, Fraction]


@frozen
class InputMove:
    """A move of the inputs of one iteration, from the values `here` to adjacent values `there`."""

    here: Point
    there: Point


@frozen
class Change:
    """The change of a form of noises and inputs when noises are shifted and inputs move.

    The form is `here` at an input, and `there` at the input to which it moves; both have the same terms in the noises.
    Noises are numbered: first those carried over from earlier iterations, then those drawn since.
    """

    here: Affine
    there: Affine

    @property
    def noises(self) -> Terms:
        """The terms in the noises, as (index, factor)."""
        return self.here.noises

    def contribution(self, move: InputMove) -> Fraction:
        """Return the part of the change that comes from the inputs' `move`."""
        return self.there.substituted(move.there).constant - self.here.substituted(move.here).constant

    @property
    def inputs(self) -> tuple[int, ...]:
        """The inputs on which the change depends."""
        return tuple(dict.fromkeys(slot for form in (self.here, self.there) for slot, _ in form.inputs))


#: The conditions on the inputs of an iteration in a cell.
Cell = tuple[Halfspace, ...]

#: The finite outputs of an iteration, or of the exit, which a shift does not change.
_Answers = tuple[tuple[int, object], ...]


@frozen
class LoopPath:
    """A path through one iteration to the head with index `goal`, or from the loop to the exit (`goal` None).

    `slacks` are the changes that may not be negative, `outputs` those that must be 0, and `answers` the outputs that
    the path sets. `alive` is the number of noises drawn before the path and compared later. `drawn` has the laws and
    rates of the noises drawn on the path, and `means` the changes of their means. `carried` has the indices of the
    noises that are compared after the goal, drawn before the path or on it. `is_iteration` is True if the path belongs
    to an iteration, and False before and after the loop.

    `own` are the slots of the iteration's inputs on which the path depends. If inputs are compared without noise,
    `cells` are two sets of these inputs. The path is then taken at inputs in the first set, and the matching path, into
    which its noises are shifted, at inputs in the second. Otherwise `cells` is None.
    """

    slacks: tuple[Change, ...]
    outputs: tuple[Change, ...]
    answers: _Answers
    alive: int
    drawn: tuple[tuple[Law, Fraction], ...]
    means: tuple[Change, ...]
    goal: int | None
    carried: tuple[int, ...]
    is_iteration: bool
    own: tuple[int, ...]
    cells: tuple[Cell, Cell] | None = None

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes of slacks, outputs and means."""
        return (*self.slacks, *self.outputs, *self.means)


#: Inputs of an iteration, and two cells of them: the first before a move of the inputs, the second after it.
CellPair = tuple[tuple[int, ...], tuple[Cell, Cell]]


@frozen
class LoopPaths:
    """All paths of a uniform program, which has one query if m is `low`.

    `steps` are the paths between heads. Each entry of `unmatched` has two cells of inputs such that some path through
    the first has no matching path through the second; if they contain adjacent inputs, there is no bound. `inputs` are
    the slots of inputs that all iterations share. With `gives_answers_at_the_exit`, no output belongs to an iteration.
    """

    steps: Automaton[LoopPath]
    unmatched: tuple[CellPair, ...]
    inputs: tuple[int, ...]
    low: int
    gives_answers_at_the_exit: bool

    def from_head(self, head: int | None) -> tuple[LoopPath, ...]:
        """Return the paths from the head with index `head`, or from the beginning of the program (None)."""
        return self.steps.before if head is None else (*self.steps.iterations[head], *self.steps.endings[head])

    @property
    def all(self) -> Iterator[LoopPath]:
        """Yield the paths from the beginning and from all heads."""
        yield from self.steps.before
        for head in range(len(self.steps.iterations)):
            yield from self.from_head(head)

    @property
    def are_independent(self) -> bool:
        """True if iterations share nothing, each is executed, and only iterations contribute to the outputs."""
        ends = (*self.steps.before, *(path for paths in self.steps.endings for path in paths))
        return (
            len(self.steps.iterations) == 1
            and not self.inputs
            and all(not (path.slacks or path.outputs) for path in ends)
            and all(
                path.goal is not None and not path.carried for path in (*self.steps.before, *self.steps.iterations[0])
            )
        )


@frozen
class OneLoop:
    """A uniform program as the one loop `shape` of `text`; several loops of the program have been united."""

    text: LoopText
    shape: UniformLoop

    @staticmethod
    def read(text: LoopText) -> OneLoop:
        """Return the program `text` as one loop. Raises NotUniform with the condition that fails."""
        single = text.with_one_loop()
        return OneLoop(single, uniform_loop(single.tree, single.number))

    @property
    def repeats_outputs(self) -> bool:
        """True if each output belongs to one query."""
        declared = [each for each in self.text.tree.declarations if isinstance(each, ast.VariableDecl)]
        outputs = {own.name for each in declared if each.role is ast.Role.OUTPUT for own in each.declarators}
        return outputs <= self.shape.arrays

    @property
    def low(self) -> int:
        """The m for one query."""
        return self.shape.low

    def paths(self) -> LoopPaths:
        """Return all paths of the loop.

        Raises NotUniform for a loop that is not covered, with the reason, and LimitReached past a limit.
        """

        def explored(count: int) -> LoopPaths:
            return PathRuns(self.text.instance(self.low - 1 + count), self.shape).paths()

        return with_enough_iterations(explored, self.text.program.limits.iterations)[0]


class PathRuns(LoopRuns[State, LoopPath]):
    """The paths of a program with one loop, for one number m of iterations.

    m must be greater than the number of iterations after which every head of the loop has been reached.
    """

    _keeps_means = False

    def __init__(self, program: Program, shape: UniformLoop) -> None:
        core = program.core
        if not core.has_real_inputs:
            raise NotUniform("an input has values that are not numbers")
        super().__init__(program, shape, {})
        self._unmatched: dict[CellPair, None] = {}
        #: The slot of the first element of each array.
        self._firsts = {self._array_of(slot.index): slot.index for slot in reversed(core.slots)}
        self._has_choices = any(isinstance(each, SampleChoice | SampleExponential) for each in core.instructions)

    def paths(self) -> LoopPaths:
        """Return all paths of the program.

        Raises NotUniform for a program that is not covered, with the reason, TooFew if the program has too few
        iterations, and LimitReached past a limit.
        """
        shared = tuple(slot for slot in self._core.inputs if self._array_of(slot) is None)
        at_the_exit = all(self._array_of(slot) is None for slot in self._core.outputs)
        return LoopPaths(self.automaton(), tuple(self._unmatched), shared, self._shape.low, at_the_exit)

    def _before(self) -> Iterator[LoopPath]:
        return self._paths(self._own.flow.first_state({}), self._own.head(0), 0, -1)

    def _iteration(self, node: State, iteration: int) -> Iterator[LoopPath]:
        return self._paths(node, self._own.head(iteration + 1), iteration + 1, iteration)

    def _ending(self, node: State) -> Iterator[LoopPath]:
        return self._paths(node.with_label(self._own.head(self._own.count)), None, 0, None)

    def _paths(self, start: State, goal: int | None, following: int, iteration: int | None) -> Iterator[LoopPath]:
        """Yield the paths from `start` to the instruction `goal`, or to the exit (None).

        The paths begin in `iteration`, None before the loop, and the goal is the head of iteration `following`.
        """
        ends = list(self._runs(self._own.flow, stripped(start), goal))
        paths = [self._path(start, end, following, iteration) for end in ends]
        guards = tuple(dict.fromkeys(item for end in ends for item in end.guards.items))
        if not guards:
            yield from paths
            return
        slots = {slot for item in guards for slot, _ in item.form.inputs}
        if any(self._array_of(slot) is None for slot in slots):
            raise NotUniform("inputs that all iterations share are compared without noise")
        if self._has_choices:
            raise NotUniform("inputs are compared without noise in a program with choices")
        own = tuple(sorted({slot for path in paths for slot in path.own} | {self._coordinate(slot) for slot in slots}))
        halves = [replace(item.guard, coefficients=self._of_inputs(item.form.inputs, iteration)) for item in guards]
        place = {item: position for position, item in enumerate(guards)}
        needed = [{place[item] for item in end.guards.items} for end in ends]
        for (one, ours), (two, theirs) in product(cells(halves, self._limits.cells), repeat=2):
            matched = _matches(
                *([path for path, own in zip(paths, needed, strict=True) if own <= held] for held in (ours, theirs))
            )
            if matched is None:
                self._unmatched[own, (one, two)] = None
            else:
                yield from (replace(path, own=own, cells=(one, two)) for path in matched)

    def _path(self, start: State, state: State, following: int, iteration: int | None) -> LoopPath:
        alive = alive_noises(self._own, start)
        known = {noise.id for noise in start.noises}
        drawn = [noise for noise in state.noises if noise.id not in known]
        numbers = {noise: position for position, noise in enumerate([*alive, *(noise.id for noise in drawn)])}

        def change(form: Affine) -> Change:
            noises = sorted_terms({numbers[noise]: c for noise, c in form.noises})
            moved = Affine(noises, self._of_inputs(form.inputs, iteration), form.constant)
            return Change(moved, moved)

        ended = state.label == self._own.flow.exit_label
        outputs = []
        answers: list[tuple[int, object]] = []
        for slot in self._core.outputs:
            value, array = state.values[slot], self._array_of(slot)
            here = self._is_at(slot, iteration) if array is not None else ended
            if here and isinstance(value, Affine) and (value.noises or value.inputs):
                outputs.append(change(value))
            if here:
                answers.append((slot, None if isinstance(value, Affine) and value.noises else plain_value(value)))
        path = LoopPath(
            tuple(change(item.form) for item in state.constraints.items),
            tuple(outputs),
            tuple(answers),
            len(alive),
            tuple((noise.law, noise.rate) for noise in drawn),
            tuple(change(noise.mean) for noise in drawn),
            None if ended else self._number(self._key(state), state, following),
            () if ended else tuple([numbers[noise] for noise in alive_noises(self._own, state)]),
            iteration is not None and iteration >= 0,
            (),
        )
        own = {slot for each in path.changes for slot in each.inputs if self._array_of(slot) is not None}
        return replace(path, own=tuple(sorted(own)))

    def _of_inputs(self, terms: Terms, iteration: int | None) -> Terms:
        if any(self._array_of(slot) is not None and not self._is_at(slot, iteration) for slot, _ in terms):
            raise NotUniform("a value that depends on the input of one iteration is used in another")
        return sorted_terms({self._coordinate(slot): c for slot, c in terms})

    def _coordinate(self, slot: int) -> int:
        array = self._array_of(slot)
        return slot if array is None else self._firsts[array]


def _matches(ours: Sequence[LoopPath], theirs: Sequence[LoopPath]) -> list[LoopPath] | None:
    left = list(theirs)
    result = []
    for one in ours:
        partner = next(((other, path) for other in left if (path := _match(one, other)) is not None), None)
        if partner is None:
            return None
        left.remove(partner[0])
        result.append(partner[1])
    return result


def _match(here: LoopPath, there: LoopPath) -> LoopPath | None:
    alike = [
        (each.answers, each.alive, each.drawn, each.goal, each.carried, [change.noises for change in each.outputs])
        for each in (here, there)
    ]
    if alike[0] != alike[1]:
        return None
    slacks = []
    for wanted in there.slacks:
        own = next((change for change in here.slacks if change.noises == wanted.noises), None)
        if own is None:
            return None
        slacks.append(Change(own.here, wanted.there))
    outputs = [Change(own.here, other.there) for own, other in zip(here.outputs, there.outputs, strict=True)]
    means = [Change(own.here, other.there) for own, other in zip(here.means, there.means, strict=True)]
    joined = replace(here, slacks=tuple(slacks), outputs=tuple(outputs), means=tuple(means))
    of_iteration = {*here.own, *there.own}

    def shared(form: Affine) -> list[tuple[int, Fraction]]:
        return [term for term in form.inputs if term[0] not in of_iteration]

    return joined if all(shared(each.here) == shared(each.there) for each in joined.changes) else None


def alive_noises(side: LoopSide, state: State) -> tuple[int, ...]:
    """Return the noises in the values that iterations after `state` may read, in the order of these values.

    `side` is the program that is run; `LoopSide.live` has the slots of the values.
    """
    result: dict[int, None] = {}
    for slot in side.live:
        value = state.values[slot]
        if isinstance(value, Affine):
            result.update(dict.fromkeys(noise for noise, _ in value.noises))
    return tuple(result)


#: The number of queries for which plans are optimized, and how many of the first numbers have plans of their own.
_MANY, _FIRST = 1_000, 20


#: The proof of most bounds, as reports name it.
OF_SHIFTS = "shifts of the noise, iteration by iteration, for every path and every extreme move of the inputs"


OF_EXTREMUM = "the noise of the selected value is shifted by as much as the extremum that it is compared with can move"


@frozen
class LoopBound:
    """A bound of the loss, in multiples of eps: the function `ratio` of m.

    The bound applies to each m with remainder `rest` modulo `modulus`.
    """

    ratio: RationalFunction
    modulus: int = 1
    rest: int = 0

    def is_about(self, number: int) -> bool:
        """Return True if the bound is for m = `number`."""
        return number % self.modulus == self.rest


#: The greatest modulus whose remainders have functions of their own.
_MODULUS = 12


def bounds_text(bounds: Sequence[LoopBound], parameter: str, least: int) -> str:
    """Return the greatest of the `bounds` for each m >= `least` as text, with `parameter` as the name of m."""
    texts = []
    for rest in range(lcm(*(each.modulus for each in bounds))):
        ratios = [each.ratio for each in bounds if each.is_about(rest)]
        every = [ratio.text(parameter, "") for ratio in _greatest(ratios, least)]
        texts.append(every[0] if len(every) == 1 else f"max({', '.join(every)})")
    if len(set(texts)) == 1:
        return texts[0]
    if len(texts) == 2:
        return f"{texts[0]} for even {parameter}, {texts[1]} for odd {parameter}"
    rests = [f"{text} for {parameter} with remainder {rest}" for rest, text in enumerate(texts)]
    return f"{', '.join(rests)} modulo {len(texts)}"


def _greatest(ratios: Sequence[RationalFunction], least: int) -> list[RationalFunction]:
    """Return some of the `ratios`, functions of m, whose maximum is that of all `ratios` for every m >= `least`."""
    kept: list[RationalFunction] = []
    for place, ratio in enumerate(ratios):
        others = (*kept, *ratios[place + 1 :])
        if not any((other - ratio).is_nonnegative_from(least) for other in others):
            kept.append(ratio)
    return kept


@frozen
class LoopCost:
    """A bound of the loss for every m >= `least`.

    The loss is at most eps times the greatest of the `bounds` for m. Some m may have better plans of shifts: `alone`
    gives the bound of the best plan for one m; None if none exists. `proof` names the proof in reports.
    """

    bounds: tuple[LoopBound, ...]
    least: int
    alone: Callable[[int], Fraction | None] = field(default=lambda _: None, repr=False)
    proof: str = OF_SHIFTS

    @staticmethod
    def greatest(ratios: Iterable[RationalFunction], least: int, proof: str = OF_SHIFTS) -> LoopCost:
        """Build the cost whose bound is the greatest of the functions `ratios` of m, for m >= `least`.

        `proof` names the proof of the bound in reports.
        """
        kept = _greatest(list(dict.fromkeys(ratios)), least)
        return LoopCost(tuple([LoopBound(ratio) for ratio in kept]), least, proof=proof)

    def value_at(self, number: int) -> Fraction:
        """Return the greatest of the bounds for m = `number`."""
        return max((bound.ratio.value_at(number) for bound in self.bounds if bound.is_about(number)), default=_ZERO)

    @property
    def supremum(self) -> Fraction | None:
        """A bound of the loss for all m together, in multiples of eps; None if none exists, or none is known.

        The first few m have the bounds of their own plans, the others the functions of `bounds`.
        """
        most = end = _ZERO
        for number in range(self.least, self.least + _FIRST):
            ends = [bound.ratio.supremum_from(number) for bound in self.bounds]
            known = [end for end in ends if end is not None]
            if len(known) < len(ends):
                return None
            end = max(known, default=_ZERO)
            if end <= most or self.is_constant:
                break
            alone = self.alone(number)
            most = max(most, self.value_at(number) if alone is None else min(alone, self.value_at(number)))
        return max(most, end)

    def is_less_than(self, other: LoopCost) -> bool:
        """Return True if this bound for all m together is less than the bound `other`."""
        own, given = self.supremum, other.supremum
        return own is not None and (given is None or own < given)

    @property
    def is_constant(self) -> bool:
        """True if the bound is the same for every m."""
        return len({bound.ratio for bound in self.bounds}) == 1 and self.bounds[0].ratio.constant_value() is not None

    def text(self, parameter: str) -> str:
        """Return the bound as text, with `parameter` as the name of m."""
        return bounds_text(self.bounds, parameter, self.least)


@frozen
class _Place:
    """A point of a run at which an iteration starts.

    `head` is the index of the head there, None before the loop. `spent` is True if an input has moved in an earlier
    iteration by the whole distance that adjacency allows, so that no further input may move.
    """

    head: int | None
    spent: bool


@frozen
class _Step:
    """A path through an iteration from `start` to `goal`, None for the exit, with a `move` of its inputs."""

    start: _Place
    path: LoopPath
    move: InputMove
    goal: _Place | None


def loop_cost(
    paths: LoopPaths, rates: Rates | None, within: Neighborhood, least: int, limits: Limits
) -> LoopCost | None:
    """Return the cost of the cheapest plan of shifts found, for all real inputs adjacent by `within`.

    `paths` are the paths of the loop. If `rates` is given, rates of noises in the paths are marks, and it maps each
    mark to its function of m. None if no plan gives a bound. `within` is not HAMMING, and all rates are positive for m
    >= `least`. Raises NotUniform for adjacent inputs whose paths do not match, and LimitReached for more paths than
    `limits` allows. Raises NotConfirmed if a linear program is not confirmed.
    """
    if not all(isinstance(solution(_pairs(own, cells, within)), Infeasible) for own, cells in paths.unmatched):
        raise NotUniform("inputs are compared without noise, and no shift leads from one outcome to the other")
    units = _units(paths, rates)
    outlines = [
        outline
        for shared, spent in _shared_moves(paths.inputs, within)
        for outline in _outlines(list(_steps(paths, within, shared, _Place(None, spent))), paths.low, limits.paths)
    ]

    def cost(number: int) -> LoopCost | None:
        known: dict[tuple[int, int], list[RationalFunction]] = {}
        for steps, numbers in outlines:
            ratio = _ShiftProgram(units, paths.low).bound(steps, number)
            if ratio is None:
                return None
            known.setdefault(numbers, []).append(ratio)
        if lcm(*(modulus for modulus, _ in known)) > _MODULUS:
            known = {(1, 0): [ratio for ratios in known.values() for ratio in ratios]}
        always = known.get((1, 0), [])
        bounds = []
        for (modulus, rest), ratios in known.items():
            others = always if (modulus, rest) != (1, 0) else []
            kept = _greatest(list(dict.fromkeys([*ratios, *others])), least)
            bounds += [LoopBound(ratio, modulus, rest) for ratio in kept if ratio not in others]
        return LoopCost(tuple(bounds), least)

    def alone(number: int) -> Fraction | None:
        bound = cost(number)
        return None if bound is None else bound.value_at(number)

    bound = cost(_MANY)
    return None if bound is None else replace(bound, alone=alone)


# --- an extremum and one more noise ---------------------------------------------------------------------------


def extremum_cost(paths: LoopPaths, rates: Rates | None, within: Neighborhood, least: int) -> LoopCost | None:
    """Return the cost of shifting the one noise that is compared with an extremum of others; None for other loops.

    The extremum is the greatest, or least, of the noisy values in all iterations. `paths` are the paths of the loop. If
    `rates` is given, rates of noises in the paths are marks, and it maps each mark to its function of m. `within` is
    not HAMMING, and all rates are positive for m >= `least`.
    """
    if len(paths.steps.before) != 1 or len(paths.steps.iterations) != 1 or paths.unmatched:
        return None
    (before,), (iterations,), (endings,) = paths.steps.before, paths.steps.iterations, paths.steps.endings
    if not paths.gives_answers_at_the_exit or before.slacks or before.outputs or before.goal is None or not endings:
        return None
    alike = {(path.drawn, path.means) for path in iterations}, {(path.drawn, path.means) for path in endings}
    if any(path.cells for path in paths.all) or any(len(each) != 1 for each in alike):
        return None
    drawn = [*[before.drawn[noise] for noise in before.carried], *endings[0].drawn]
    means = [*[before.means[noise] for noise in before.carried], *endings[0].means]
    ends = [change for path in endings for change in (*path.slacks, *path.outputs)]
    for kept in range(len(before.carried)):
        compared = _candidate(iterations, kept)
        if compared is None:
            continue
        for moved, (law, rate) in enumerate(drawn):
            ratio = None if moved == kept or law.least is not None else _ratio(ends, kept, moved)
            if ratio is None:
                continue
            far = _distance(abs(ratio), [means[kept], iterations[0].means[compared]], means[moved], within)
            return LoopCost.greatest(
                [shift_cost(law, rates, rate) * RationalFunction.constant(far)], least, OF_EXTREMUM
            )
    return None


def _candidate(iterations: Sequence[LoopPath], kept: int) -> int | None:
    """Return which noise drawn in an iteration is compared with the noise `kept`, as an index among those drawn.

    The noise with the index `kept` is carried over from earlier iterations. In all `iterations` the greater of the two
    noises is carried on, or in all of them the lesser one. The result is None if some path makes another comparison,
    sets an output, or carries on other noises that it draws.
    """
    directions: set[tuple[int, bool]] = set()
    for path in iterations:
        others = [noise for place, noise in enumerate(path.carried) if place != kept]
        if path.goal is None or path.outputs or others != [place for place in range(path.alive) if place != kept]:
            return None
        if len(path.slacks) != 1 or path.slacks[0].inputs or path.slacks[0].here.constant:
            return None
        terms = dict(path.slacks[0].noises)
        (drawn,) = terms.keys() - {kept} if len(terms) == 2 and kept in terms else (-1,)
        if drawn < path.alive or terms[drawn] != -terms[kept] or path.carried[kept] not in terms:
            return None
        directions.add((drawn - path.alive, terms[path.carried[kept]] > 0))
    return directions.pop()[0] if len(directions) == 1 else None


def _ratio(ends: Sequence[Change], kept: int, moved: int) -> Fraction | None:
    """Return -a/b if each of `ends` is a constant or a multiple of one form a·B + b·T in two noises, else None.

    `ends` are the slacks and outputs after the loop. B and T are the noises with the indices `kept` and `moved`. The
    result is also None if all of `ends` are constants.
    """
    ratios: set[Fraction] = set()
    for change in ends:
        terms = dict(change.noises)
        if change.inputs or not terms.keys() <= {kept, moved}:
            return None
        if terms:
            if kept not in terms or moved not in terms:
                return None
            ratios.add(-terms[kept] / terms[moved])
    return ratios.pop() if len(ratios) == 1 else None


def _distance(ratio: Fraction, candidates: Sequence[Change], moved: Change, within: Neighborhood) -> Fraction:
    """Return an upper bound of |a| + `ratio`·|b| over all moves to inputs adjacent by `within`.

    Here a is the change of `moved`, the mean of a noise, and b is the change of any of the means `candidates`.
    """
    own = dict(moved.here.inputs)
    each = [dict(change.here.inputs) for change in candidates]
    if within.distance is Distance.LINF:
        most = max(sum(map(abs, terms.values()), _ZERO) for terms in each)
        return within.radius * (ratio * most + sum(map(abs, own.values()), _ZERO))
    return within.radius * max(
        (
            ratio * max(abs(terms.get(key, _ZERO)) for terms in each) + abs(own.get(key, _ZERO))
            for key in {key for terms in (own, *each) for key in terms}
        ),
        default=_ZERO,
    )


# --- the steps of the adversary --------------------------------------------------------------------------------


def _steps(paths: LoopPaths, within: Neighborhood, shared: Point, start: _Place) -> Iterator[_Step]:
    """Yield all steps that runs of the loop `paths` can take after `start`, with extreme moves of the inputs.

    Moves lead to inputs adjacent by `within`. `shared` is the move of the inputs that all iterations share; it is the
    same in all steps.
    """
    pending, seen = [start], {start}
    while pending:
        place = pending.pop()
        for path in paths.from_head(place.head):
            for move, spent in _moves(path, within, place.spent):
                goal = None if path.goal is None else _Place(path.goal, spent)
                yield _Step(place, path, InputMove(move.here, {**shared, **move.there}), goal)
                if goal is not None and goal not in seen:
                    seen.add(goal)
                    pending.append(goal)


def _shared_moves(inputs: Sequence[int], within: Neighborhood) -> Iterator[tuple[Point, bool]]:
    """Yield (move, spent) for extreme moves of the `inputs` that all iterations share, adjacent by `within`.

    `spent` is True if the move uses up the whole distance that adjacency allows, so that no other input moves.
    """
    if within.distance is Distance.LINF:
        yield from ((move, False) for move in within.vertices(inputs))
        return
    yield {}, False
    if inputs:
        yield from ((move, True) for move in within.vertices(inputs))


def _moves(path: LoopPath, within: Neighborhood, spent: bool) -> Iterator[tuple[InputMove, bool]]:
    """Yield (move, whether an input has moved by then) for extreme moves of the inputs of one iteration on `path`.

    Moves lead to inputs adjacent by `within`. If its distance is not LINF, an extreme move changes only one input of
    the whole run. `spent` says that an input has moved in an earlier iteration; with LINF it is yielded unchanged.
    Raises NotConfirmed. Raises NotUniform if moves can change a value without limit, or if a change is not continuous
    where a comparison of inputs changes its result.
    """
    if within.distance is Distance.LINF:
        inputs = _corners(path, within) if path.cells is not None else None
        if inputs is not None:
            for move in inputs:
                yield move, spent
            return
        yield from ((InputMove({}, move), spent) for move in within.vertices(path.own))
        return
    if path.cells is not None and path.cells[0] != path.cells[1]:
        _require_continuous(path, path.cells)
        return
    yield InputMove({}, {}), spent
    if path.own and not spent:
        yield from ((InputMove({}, move), True) for move in within.vertices(path.own))


def _pairs(own: Sequence[int], cells: tuple[Cell, Cell], within: Neighborhood | None) -> list[Halfspace]:
    """Return half-spaces for two adjacent inputs, the first in the first of the two `cells`, the second in the second.

    A cell is a set of half-spaces of inputs; `own` has the slots of the inputs. The value of slot s has the key 2·s in
    the first input, and 2·s + 1 in the second. Each value moves by at most the radius of `within`; with None for
    `within` both inputs are equal.
    """
    system = []
    for side, cell in enumerate(cells):
        for half in cell:
            terms = tuple([(2 * slot + side, c) for slot, c in half.coefficients])
            system.append(Halfspace(terms, half.constant, half.strict))
    far = _ZERO if within is None else within.radius
    moves = product([2 * slot for slot in own], (_ONE, -_ONE))
    return [*system, *(Halfspace(((key, sign), (key + 1, -sign)), far) for key, sign in moves)]


def _of_move(change: Change, own: Sequence[int]) -> Halfspace:
    """Return the part of `change` that comes from the move of the inputs, as a form.

    The value of the input with slot s has the key 2·s before the move, and 2·s + 1 after it. Only the slots in `own`
    are included, not the inputs that all iterations share.
    """
    terms: dict[int, Fraction] = {}
    for side, (form, sign) in enumerate(((change.here, -_ONE), (change.there, _ONE))):
        terms |= {2 * slot + side: sign * c for slot, c in form.inputs if slot in own}
    return Halfspace(sorted_terms(terms), change.there.constant - change.here.constant)


def _corners(path: LoopPath, within: Neighborhood) -> list[InputMove] | None:
    """Return the extreme pairs of adjacent inputs of an iteration, as moves.

    The inputs are adjacent by `within`, and before and after the move they satisfy the first and second of the path's
    `cells`. None if there are no extreme pairs, and the changes on `path` depend only on how far inputs move. Raises
    NotUniform if changes are unbounded.
    """
    own = path.own
    assert path.cells is not None, "inputs are compared"
    system = _pairs(own, path.cells, within)
    if isinstance(solution(system), Infeasible):
        return []
    closed = [half.closure() for half in system]
    points = dict.fromkeys(
        (
            tuple([point[2 * slot] for slot in own]),
            tuple([point[2 * slot + 1] for slot in own]),
        )
        for point in corners(closed, [2 * slot + side for slot in own for side in (0, 1)])
    )
    if all(change.here == change.there for change in path.changes) and not points:
        return None
    if not points or not all(is_bounded_on(_of_move(change, own), closed) for change in path.changes):
        raise NotUniform("a move of the inputs can change a value by an unbounded amount")
    return [InputMove(dict(zip(own, here, strict=True)), dict(zip(own, there, strict=True))) for here, there in points]


def _require_continuous(path: LoopPath, cells: tuple[Cell, Cell]) -> None:
    """Raise NotUniform if a change of `path` has two values at inputs on the common boundary of both `cells`."""
    closed = [half.closure() for half in _pairs(path.own, cells, None)]
    if isinstance(solution(closed), Infeasible):
        return
    for change in path.changes:
        form = _of_move(change, path.own)
        opposite = Halfspace(tuple([(key, -c) for key, c in form.coefficients]), -form.constant)
        for each in (form, opposite):
            least = minimum(each, closed)
            if not isinstance(least, Least) or least.value < 0:
                raise NotUniform("inputs are compared without noise, and the output jumps where they are equal")


#: The steps of all paths with one outline, and the (modulus, remainder) of the m for which there is a path.
_Outline = tuple[tuple[_Step, ...], tuple[int, int]]


def _outlines(steps: Sequence[_Step], low: int, most: int) -> Iterator[_Outline]:
    """Yield the outlines of the runs made of `steps`, each as (the steps of its runs, (modulus, remainder)).

    Places that can be reached from each other are one component. Runs through the same components, in the same order
    and by the same steps between them, have the same outline. They exist only for an m with this remainder modulo this
    modulus. There is one iteration for m = `low`. Raises LimitReached for more than `most` outlines.
    """
    graph: dict[_Place, list[_Place]] = {step.start: [] for step in steps}
    for step in steps:
        if step.goal is not None:
            graph[step.start].append(step.goal)
    component = {place: position for position, places in enumerate(strongly_connected(graph)) for place in places}
    inside: dict[int, list[_Step]] = {}
    leaving: dict[int, list[_Step]] = {}
    for step in steps:
        here = component[step.start]
        stays = step.goal is not None and component[step.goal] == here
        (inside if stays else leaving).setdefault(here, []).append(step)

    def onwards(place: _Place, taken: tuple[_Step, ...], count: int, period: int) -> Iterator[_Outline]:
        within = inside.get(component[place], [])
        known = (*taken, *within)
        after, own = _iterations(place, within)
        for step in leaving.get(component[place], ()):
            total, common = count + after[step.start] + step.path.is_iteration, gcd(period, own)
            if step.goal is not None:
                yield from onwards(step.goal, (*known, step), total, common)
            else:  # a path that ends within an iteration exists for every number
                modulus = 1 if step.path.is_iteration else common or 1
                yield (*known, step), (modulus, (total + low - 1) % modulus)

    outlines = list(islice(onwards(steps[0].start, (), 0, 0), most + 1)) if steps else []
    if len(outlines) > most:
        raise LimitReached("paths", f"more than {most} paths lead from one state at the loop's head to another")
    yield from outlines


def _iterations(start: _Place, inside: Sequence[_Step]) -> tuple[dict[_Place, int], int]:
    """Return ({place: number of iterations from `start` to it}, period).

    The steps `inside` lead between places that can be reached from each other. The number is that of one path to the
    place; the numbers of two paths differ by a multiple of the period. The period is 0 if they never differ.
    """
    after, pending = {start: 0}, [start]
    while pending:
        place = pending.pop()
        for step in inside:
            if step.start == place and step.goal is not None and step.goal not in after:
                after[step.goal] = after[place] + step.path.is_iteration
                pending.append(step.goal)
    differences = [after[step.start] + step.path.is_iteration - after[step.goal] for step in inside if step.goal]
    return after, gcd(*differences)


# --- the cost of the steps ------------------------------------------------------------------------------------


def shift_cost(law: Law, rates: Rates | None, rate: Fraction) -> RationalFunction:
    """Return the function c(m) such that a shift by t of noise of this `law` and `rate` costs at most c(m)·eps·|t|.

    With `rates`, `rate` is a mark for the noise's rate, which is a function of m. Raises Missing if the law has no
    shift cost, and OutsideFragment for noise with a greatest value, which a shift would exceed.
    """
    if law.greatest is not None:
        raise OutsideFragment(f"shifts of {law.name} noise in a loop are not covered")
    if rates is None:
        return RationalFunction.constant(law.shift_cost(rate))
    assert law.scales, "only a law that scales has a mark for its rate"
    # The law of rate·eps·N does not depend on the rate.
    return rate_of_mark(rates, rate) * RationalFunction.constant(law.shift_cost(_ONE))


#: For the law and the rate of a noise: a function of m, and the multiple of it that a shift of the noise by 1 costs.
_Units = Mapping[tuple[Law, Fraction], tuple[RationalFunction, Fraction]]


def _units(paths: LoopPaths, rates: Rates | None) -> _Units:
    """Return units of the costs of all noises of `paths`; of two different units, none is a multiple of the other.

    `rates` has the rates of the noises by mark, or is None if rates are not marked.
    """
    units: dict[tuple[Law, Fraction], tuple[RationalFunction, Fraction]] = {}
    drawn = {each for path in paths.all for each in path.drawn}
    for law, mark in sorted(drawn, key=lambda each: (each[1], each[0].keyword)):
        ratio = shift_cost(law, rates, mark)
        new = ONE if ratio.constant_value() is not None else ratio
        for unit in (*dict.fromkeys(unit for unit, _ in units.values()), new):
            multiple = (ratio / unit).constant_value()
            if multiple is not None:
                units[law, mark] = unit, multiple
                break
    return units


@dataclass(slots=True)
class _ShiftProgram:
    """A linear program whose solutions are shifts of noises that bound the loss.

    `units` has the functions of m in which costs are measured, and `low` is the m for one iteration. `system` has the
    inequalities between unknowns. `unknowns` maps a description of each unknown, such as a word with indices, to its
    number.
    """

    units: _Units
    low: int
    unknowns: dict[Hashable, int] = field(default_factory=dict)
    system: list[Halfspace] = field(default_factory=list)

    def bound(self, steps: Sequence[_Step], number: int) -> RationalFunction | None:
        """Return an upper bound of the cost of all runs made of `steps`, as a function of m; None if unknown.

        The shifts are those whose bound is least at m = `number`. Raises NotConfirmed.
        """
        for unit in self._functions:
            self._require({self._unknown("slope", unit): _ONE})
        for position, step in enumerate(steps):
            self._add(position, step)
        count = Fraction(number - self.low + 1)
        most = {
            self._unknown(name, unit): factor * unit.value_at(number)
            for unit in self._functions
            for name, factor in (("base", _ONE), ("slope", count))
        }
        least = minimum(Halfspace(sorted_terms(most), _ZERO), self.system, self.unknowns.values())
        if not isinstance(least, Least):
            return None
        iterations = RationalFunction.number() + RationalFunction.constant(1 - self.low)
        total = RationalFunction.constant(0)
        for unit in self._functions:
            base, slope = (
                RationalFunction.constant(least.point[self._unknown(name, unit)]) for name in ("base", "slope")
            )
            total = total + unit * (base + iterations * slope)
        return total

    @property
    def _functions(self) -> dict[RationalFunction, None]:
        return dict.fromkeys(unit for unit, _ in self.units.values())

    def _add(self, position: int, step: _Step) -> None:
        alive = [self._unknown("alive", step.start, place) for place in range(step.path.alive)]
        drawn = [self._unknown("drawn", position, place) for place in range(len(step.path.drawn))]
        shifts = (*alive, *drawn)
        for change in step.path.slacks:
            self._require(_shifted(change, shifts), change.contribution(step.move))
        for change in step.path.outputs:
            self._require_zero(_shifted(change, shifts), change.contribution(step.move))
        costs: dict[RationalFunction, dict[int, Fraction]] = {unit: {} for unit in self._functions}
        for shift, (law, rate), mean in zip(drawn, step.path.drawn, step.path.means, strict=True):
            unit, multiple = self.units[law, rate]
            size, moved = self._unknown("size", shift), mean.contribution(step.move)
            self._require({size: _ONE, shift: -_ONE}, moved)
            self._require({shift: _ONE} if law.least is not None else {size: _ONE, shift: _ONE}, -moved)
            costs[unit][size] = costs[unit].get(size, _ZERO) - multiple
        for unit, cost in costs.items():
            if step.start.head is not None:
                cost[self._unknown("potential", unit, step.start)] = -_ONE
            if step.path.is_iteration:
                cost[self._unknown("slope", unit)] = _ONE
            end = self._unknown("base", unit) if step.goal is None else self._unknown("potential", unit, step.goal)
            cost[end] = cost.get(end, _ZERO) + _ONE
            self._require(cost)
        if step.goal is not None:
            for place, noise in enumerate(step.path.carried):
                kept = {self._unknown("alive", step.goal, place): _ONE}
                kept[shifts[noise]] = kept.get(shifts[noise], _ZERO) - _ONE
                self._require_zero(kept)

    def _unknown(self, *what: Hashable) -> int:
        return self.unknowns.setdefault(what, len(self.unknowns))

    def _require(self, terms: Mapping[int, Fraction], constant: Fraction = _ZERO) -> None:
        self.system.append(Halfspace(sorted_terms({key: c for key, c in terms.items() if c}), constant))

    def _require_zero(self, terms: Mapping[int, Fraction], constant: Fraction = _ZERO) -> None:
        self._require(terms, constant)
        self._require({key: -c for key, c in terms.items()}, -constant)


def _shifted(change: Change, shifts: Sequence[int]) -> dict[int, Fraction]:
    result: dict[int, Fraction] = {}
    for place, c in change.noises:
        result[shifts[place]] = result.get(shifts[place], _ZERO) + c
    return result

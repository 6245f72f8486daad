"""The exits of a program as conjunctions over centered noises, with slacks that depend on the inputs.

A constraint A·X + D·u + b >= 0 over noises X with means mu(u) is A·N + s(u) >= 0 over the centered noises N = X -
mu(u), which have mean 0. The slack s(u) = b + D·u + A·mu(u) is the only part that depends on u.

**Monotonicity.** Pr[A_1·N + s_1 >= 0, …, A_n·N + s_n >= 0] never decreases when a slack grows: the event, a set of
values of N, only grows. Exits exclude each other and their weights are not negative. A sum of weight·Pr over exits is
therefore bounded below by the same sum at lower bounds of all slacks.

**Uniting exits that differ in one comparison.** Let two exits have the weights w >= v, and the events "E and C" and "E
and not C", in either order. A bound exit by exit takes the worst case of C and of not C, which cannot both occur. But
w·Pr[E, C] + v·Pr[E, not C] = v·Pr[E] + (w - v)·Pr[E, C] is a sum of the same kind with one constraint less. Only the
laws of the noises matter: noises of equal laws can replace each other. For integer noises the opposite of f >= 0 is
-f - 1 >= 0, so that N <= -1, N = 0 and N >= 1 are united in two steps. The two exits may state E differently: a
constraint that only one exit states must then be implied by a constraint of the other exit, or by the sum of two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations

from dipc.algebra.exppoly import Closed, ExpPoly
from dipc.algebra.limits import LimitReached, Limits, Undecided
from dipc.chain.chain import ExitState
from dipc.chain.event import ComponentTemplate, sides_of_outputs, template
from dipc.chain.flow import without_finite_noise
from dipc.chain.series import RunSet, Series, runs
from dipc.chain.state import Affine, Constraint, centered, combination, constraint_set, contradict, entails
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.linear.program import Unbounded, minimum
from dipc.measure import event as exact
from dipc.program.exits import Exit, Exits, ManyRuns, exits, many_runs, values_key
from dipc.program.ideal import Region
from dipc.program.program import Program
from dipc.rules.halfspaces import has_gamma
from dipc.rules.input_classes import NearAnswers
from dipc.sign.chart import is_nowhere_negative
from dipc.sign.interval import Interval
from dipc.text.core import Value
from dipc.text.program import CoreProgram

_ZERO, _ONE = Fraction(0), Fraction(1)


#: A slack as base + slope·distance, where the distance is any large enough integer; else the slope is 0.
Level = tuple[Fraction, Fraction]

#: The key of this distance beside the places of noises.
DISTANCE = -1

#: States of a chain towards all answers at once; with more, each answer is explored by itself.
MOST_SHARED = 200_000

#: The most states, by label and values, of a graph of the program's runs.
_MOST_RUNS = 60_000

#: The most exits to other answers that are used to bound one answer from below.
MOST_OTHERS = 400

#: The most exits that are products of paths.
_MOST_PRODUCTS = 64


@frozen
class NoiseComponent:
    """A group of noises that constraints relate to each other; `halfspaces` are these constraints.

    All `noises` have mean 0, except for integer noises whose mean does not depend on the inputs. Each half-space is a
    form that is nonnegative; in it, a noise is numbered by its place in `noises`. The rest of the form is its slack: a
    function of the input and, if an output has to be within gamma of the right answer, of gamma.
    """

    noises: tuple[exact.Noise, ...]
    halfspaces: tuple[Affine, ...]

    def event(self, slacks: Sequence[Level]) -> exact.Event:
        """Return the event in which the half-spaces of the component have the given `slacks`, one for each, in order.

        Each element of `slacks` is a pair (base, slope). If the slope is not 0, the
        slack is base + slope·d. Here d is an unknown distance, which the event's constraints mention under the index
        DISTANCE.
        """
        constraints = [
            Halfspace(((DISTANCE, slope), *half.noises) if slope else half.noises, base)
            for half, (base, slope) in zip(self.halfspaces, slacks, strict=True)
        ]
        return exact.Event(self.noises, tuple(constraints))

    @property
    def continuous(self) -> bool:
        return not any(noise.law.whole for noise in self.noises)

    @property
    def scales(self) -> bool:
        """Whether the probability of the component is a function of the products slack·eps alone."""
        return all(noise.law.scales for noise in self.noises)


@frozen
class CenteredExit:
    """An exit to the right answer, over noises with mean 0, so that only its slacks and guards depend on the input.

    At inputs that satisfy `guards`, its probability is `weight` times the probabilities of the independent `parts`. A
    `weight` of None is 1.

    `points` are forms of the inputs and gamma. An output without noise is near if its points are nonnegative: output -
    answer + gamma, answer - output + gamma, or both, where answer is the right one. `in_balls` says that some output
    with continuous noise has to be within gamma of the right answer from both sides, which has probability 0 if gamma
    is 0.
    """

    guards: tuple[Constraint, ...]
    weight: Closed | None
    points: tuple[Affine, ...]
    in_balls: bool
    parts: tuple[NoiseComponent, ...]


class ExitFinder:
    """The exits of one program to any answer, for any values of its finite inputs.

    The runs to all answers are explored together if possible, because they share most of the chain. If the chain has
    too many states, the runs to each answer are explored separately.
    """

    def __init__(self, program: Program, near: NearAnswers | None = None) -> None:
        self._program = program
        self._near = near
        self._whole: tuple[Mapping[int, Value], Exits | None] | None = None

    @cached_property
    def series(self) -> tuple[Series, ...] | None:
        """The runs of the program as sequences of segments: one series for each answer, or None.

        None means that the runs cannot be written in this way, or that the `metric` block defines which answers are
        near or the same.
        """
        return None if self._runs is None else self._runs.series()

    @cached_property
    def _runs(self) -> RunSet | None:
        flow = without_finite_noise(self._program.flow)
        return None if self._near is not None else runs(flow, min(_MOST_RUNS, self._program.limits.states))

    @cached_property
    def _many(self) -> ManyRuns | None:
        return many_runs(self._program.flow, self._program.limits)

    def exits(self, finite: Mapping[int, Value], region: Region) -> tuple[CenteredExit, ...]:
        """Return all exits to the answer of `region`.

        `finite` has the values of the finite inputs, by slot. At an input u of the region, Pr[output within gamma of
        det(u)] is the sum over the exits whose guards u satisfies. If the `metric` block counts other outputs as near,
        the exits to these outputs are included, once for each of the disjoint conditions on inputs under which they are
        near. Raises Undecided past a limit, and DiagnosticError for programs that fail at run time.
        """
        core = self._program.core
        if self._near is not None:
            explored = self._everything(finite) or self._explore(finite, None, self._program.limits)
            return tuple(self._by_distance(explored, self._near, finite, region, near=True))
        wanted: dict[int, Value] = {}
        centers: dict[int, Affine] = {}
        for slot, value in zip(core.outputs, region.answer, strict=True):
            if isinstance(value, Affine):
                centers[slot] = value
            elif core.slots[slot].is_symbolic:
                assert isinstance(value, Fraction)
                centers[slot] = Affine.number(value)
            else:
                wanted[slot] = value
        explored = self._everything(finite) or self._explore(finite, wanted, self._program.limits)
        return tuple(_centered(exit_, centers) for exit_ in explored.towards(wanted, centers, region.guards))

    def bounded(self, region: Region) -> tuple[CenteredExit, ...] | None:
        """Return the exits to the answer of `region` that a lower bound can use, or None.

        A lower bound can use an exit if all of its slacks are bounded below on the region. The result has all such
        exits, and may contain others. It is None if the program has no graph of runs to the answer, or too many of
        these exits. Raises Undecided.
        """
        if self._by_answer is None:
            return None
        known = self._by_answer.get(values_key(region.answer))
        return None if known is None else known.exits(region)

    def stays_apart(self, finite: Mapping[int, Value], region: Region) -> bool:
        """Return True if the answer of `region` has too many exits for `united` to be worth trying.

        `finite` has the values of the finite inputs, by slot.
        """
        if self._near is not None or self._many is None:
            return False
        wanted = dict(zip(self._program.core.outputs, region.answer, strict=True))
        return self._many.are_many(wanted) and self._everything(finite) is None

    def other_exits(self, finite: Mapping[int, Value], region: Region) -> tuple[CenteredExit, ...] | None:
        """Return all exits to answers other than that of `region`.

        `finite` has the values of the finite inputs, by slot. The result is None if some output is not of finite type,
        or if there are too many exits.
        """
        core = self._program.core
        explored = self._everything(finite)
        if explored is None or len(explored.states) > MOST_OTHERS:
            return None
        if self._near is not None:
            return tuple(self._by_distance(explored, self._near, finite, region, near=False))
        wanted: dict[int, Value] = {}
        for slot, value in zip(core.outputs, region.answer, strict=True):
            if isinstance(value, Affine) or core.slots[slot].is_symbolic:
                return None
            wanted[slot] = value
        return tuple(_centered(exit_, {}) for exit_ in explored.to_other_answers(wanted))

    def ends(
        self, finite: Mapping[int, Value], region: Region
    ) -> tuple[Sequence[ExitState], Mapping[int, Value | Affine | None], Sequence[int]]:
        """Return (the final states of all runs, the right answer, the sides on which near outputs are bounded).

        - The states are those for the `finite` inputs, given by slot. The first element is empty if there are too many
          states, or if the `metric` block defines which answers are near or the same.
        - The answer is that of `region`: a mapping from output slots to values.
        - A side is 1 if an output near the answer is at least answer - gamma, and -1 if it is at most answer + gamma.
        """
        answer = dict(zip(self._program.core.outputs, region.answer, strict=True))
        explored = None if self._near is not None else self._everything(finite)
        return () if explored is None else tuple(explored.states), answer, sides_of_outputs(self._program.core)

    def states(self, finite: Mapping[int, Value], region: Region) -> Sequence[ExitState] | None:
        """Return the final states of all runs to the answer of `region`, for a program without random choices.

        `finite` has the values of the finite inputs, by slot. The result is None if the program makes choices, or if
        some output is not of finite type. It is also None if the `metric` block defines which answers are near or the
        same, or if there are too many exits to all answers.
        """
        core = self._program.core
        if self._near is not None or self._program.flow.chooses:
            return None
        if any(core.slots[slot].is_symbolic for slot in core.outputs):
            return None
        explored = self._everything(finite)
        if explored is None:
            return None
        wanted: dict[int, Value] = {}
        for slot, value in zip(core.outputs, region.answer, strict=True):
            assert not isinstance(value, Affine), "the output is finite"
            wanted[slot] = value
        return explored.states_towards(wanted, region.guards)

    def _by_distance(
        self, explored: Exits, answers: NearAnswers, finite: Mapping[int, Value], region: Region, *, near: bool
    ) -> Iterator[CenteredExit]:
        """Yield the exits in `explored`, each with guards under which its output is within gamma of det's answer.

        If `near` is False, the output is not within gamma under these guards. An exit is yielded once for each disjoint
        case of this condition, as `answers` finds them. `explored` has all exits for the `finite` inputs, and `region`
        gives det's answer.
        """
        known: dict[tuple[object, ...], tuple[tuple[Constraint, ...], ...]] = {}
        for exit_ in explored.all():
            output = tuple([exit_.state.outputs[slot] for slot in self._program.core.outputs])
            if output not in known:
                known[output] = answers.cases(finite, region, output, near=near)
            centered = _centered(exit_, {})
            for case in known[output]:
                yield replace(centered, guards=(*centered.guards, *case))

    @cached_property
    def _by_answer(self) -> Mapping[object, _RunExits] | None:
        known = self._runs
        if known is None:
            return None
        return {
            values_key(known.outputs(end).values()): _RunExits(self._program.core, known, end) for end in known.ends
        }

    def _everything(self, finite: Mapping[int, Value]) -> Exits | None:
        if self._whole is None or self._whole[0] != finite:
            limits = self._program.limits if self._many is None else self._many.shared(self._program.limits)
            limits = replace(limits, states=min(MOST_SHARED, limits.states))
            try:
                self._whole = finite, self._explore(finite, None, limits)
            except LimitReached:
                self._whole = finite, None
        return self._whole[1]

    def _explore(self, finite: Mapping[int, Value], wanted: Mapping[int, Value] | None, limits: Limits) -> Exits:
        program = self._program
        return exits(program.flow, program.choices, limits, finite, wanted, program.core.outputs)


class _RunExits:
    def __init__(self, core: CoreProgram, known: RunSet, end: int) -> None:
        self._core = core
        self._runs = known
        self._end = end
        self._means = {noise.id: noise.mean for noise in known.noises.values()}
        #: For a constraint and guards: whether its slack is bounded below, or, without noises, whether it can hold.
        self._known: dict[tuple[Constraint, tuple[Constraint, ...]], bool] = {}

    def exits(self, region: Region) -> tuple[CenteredExit, ...] | None:
        """Return the exits whose slacks are all bounded below on `region`, or None if there are too many."""
        guards: dict[int, list[Constraint]] = {}
        for guard in region.guards:
            for slot, _ in guard.form.inputs:
                guards.setdefault(slot, []).append(guard)
        every = self._runs.among(
            self._end, lambda path: all(self._is_bounded(item, guards) for item in path), _MOST_PRODUCTS
        )
        if every is None:
            return None
        ends = map(self._exit, every)
        return tuple([_centered(each, {}) for each in ends])

    def _is_bounded(self, item: Constraint, guards: Mapping[int, list[Constraint]]) -> bool:
        slack = centered(item.form, self._means)
        reached = {slot for slot, _ in slack.inputs}
        pending, near = list(reached), dict[Constraint, None]()
        while pending:
            for guard in guards.get(pending.pop(), ()):
                near[guard] = None
                new = {slot for slot, _ in guard.form.inputs} - reached
                reached |= new
                pending += new
        key = item, tuple(near)
        if key not in self._known:
            if item.form.noises:
                least = minimum(Halfspace(slack.inputs, slack.constant), [guard.guard.closure() for guard in near])
                self._known[key] = not isinstance(least, Unbounded)
            else:
                self._known[key] = not contradict([item, *near])
        return self._known[key]

    def _exit(self, known: Sequence[Constraint]) -> Exit:
        items = dict.fromkeys(known)
        constraints = constraint_set(item for item in items if item.form.noises)
        guards = constraint_set(item for item in items if not item.form.noises)
        mentioned = {noise for item in constraints.items for noise, _ in item.form.noises}
        noises = tuple([self._runs.noises[noise] for noise in sorted(mentioned)])
        state = ExitState(0, dict(self._runs.outputs(self._end)), noises, constraints, guards)
        return Exit(state, template(self._core, state), None)


def _centered(exit_: Exit, centers: Mapping[int, Affine]) -> CenteredExit:
    event = exit_.event
    return CenteredExit(
        event.guards,
        exit_.weight,
        tuple([with_answers(point, centers) for point in event.points]),
        event.in_balls,
        tuple([centered_component(component, centers) for component in event.components]),
    )


def with_answers(form: Affine, centers: Mapping[int, Affine]) -> Affine:
    """Return `form` with the forms `centers` of the inputs, by slot, in place of the right values of outputs."""
    answers = [(c, centers[key]) for key, c in form.inputs if key in centers]
    if not answers:
        return form
    rest = tuple([term for term in form.inputs if term[0] not in centers])
    return combination([(_ONE, Affine(form.noises, rest, form.constant)), *answers], _ZERO)


def centered_component(component: ComponentTemplate, centers: Mapping[int, Affine]) -> NoiseComponent:
    """Return `component` over noises with mean 0, as half-spaces of noises, inputs and gamma.

    `centers` has the right answer of each output that has to be near it, a form of the inputs, by slot.
    """
    noises: list[exact.Noise] = []
    means: list[Affine] = []
    moved = False
    for noise in component.noises:
        own = noise.law.whole and noise.mean.is_number
        moved = moved or own
        noises.append(exact.Noise(noise.law, noise.rate, noise.mean.constant if own else _ZERO))
        means.append(Affine.number(_ZERO) if own else noise.mean)
    halfspaces: list[Affine] = []
    for form, slack in zip(component.bounds, component.slacks, strict=True):
        half = Affine(form.noises, slack.inputs, slack.constant)
        if moved:
            half = centered(form, dict(enumerate(means)))
        halfspaces.append(with_answers(half, centers))
    return NoiseComponent(tuple(noises), tuple(dict.fromkeys(halfspaces)))


def with_weights(exits: Sequence[CenteredExit], values: Mapping[Closed, Fraction]) -> tuple[CenteredExit, ...]:
    """Return the `exits` with weights replaced by the numbers in `values`, without the exits whose weight is 0."""
    centered_exits = []
    for each in exits:
        number = None if each.weight is None else values.get(each.weight)
        if number != 0:
            centered_exits.append(each if number is None else replace(each, weight=ExpPoly.constant(number)))
    return tuple(centered_exits)


# --- convex pieces --------------------------------------------------------------------------------
#
# Convex pieces of a class of inputs, on each of which it is fixed which exits of the program can be taken.


#: The guards that a piece adds to those of its region, and the exits that its inputs can take.
Piece = tuple[tuple[Constraint, ...], tuple[CenteredExit, ...]]


def pieces(region: Sequence[Constraint], exits: Sequence[CenteredExit], most: int) -> tuple[Piece, ...]:
    """Return convex pieces that together cover `region`, each with those of `exits` that its inputs can take.

    The region is cut along guards of exits until each exit can be taken either by all inputs of a piece or by none of
    them. On each piece, the probability of the answer is the sum over its exits. Raises LimitReached for more than
    `most` pieces.
    """
    pieces: list[Piece] = []
    pending: list[tuple[Constraint, ...]] = [()]
    while pending:
        extra = pending.pop()
        known = [*region, *extra]
        if contradict(known):
            continue
        open_guard: Constraint | None = None
        taken: list[CenteredExit] = []
        for candidate in exits:
            status = _status(known, candidate.guards)
            if status is True:
                taken.append(candidate)
            elif isinstance(status, Constraint):
                open_guard = status
                break
        if open_guard is None:
            pieces.append((extra, tuple(taken)))
        else:
            pending += [(*extra, open_guard.negation), (*extra, open_guard)]
        if len(pieces) + len(pending) > most:
            raise LimitReached(
                "pieces", f"the program's comparisons of inputs cut a region into more than {most} pieces"
            )
    return tuple(pieces)


def _status(known: Sequence[Constraint], guards: Sequence[Constraint]) -> bool | Constraint:
    if contradict([*known, *guards]):
        return False
    for guard in guards:
        if not entails(known, guard):
            return guard
    return True


_CERTAIN = ExpPoly.ONE


#: The most exits that are united; more are left as they are.
_MOST_EXITS = 60


def united(exits: Sequence[CenteredExit], intervals: tuple[Interval, ...], limits: Limits) -> tuple[CenteredExit, ...]:
    """Return fewer or simpler exits with the same sum of weight·probability as `exits`, for all slacks.

    Two exits are rewritten if they differ only in a constraint C, which holds in one and fails in the other. Let E be
    their common constraints, and w and v their weights: w·Pr[E, C] + v·Pr[E, not C] = v·Pr[E] + (w - v)·Pr[E, C]. The
    sum stays the same for all eps in `intervals`. Two exits are left as they are if it is not proved, within `limits`,
    that the new weight is nowhere negative. All exits are left as they are if there are very many.
    """
    centered_exits = list(exits)
    if len(centered_exits) > _MOST_EXITS:
        return tuple(centered_exits)
    while (step := _step(centered_exits, intervals, limits)) is not None:
        # There are fewer exits, or fewer constraints, after each step.
        centered_exits = step
    return tuple(centered_exits)


def _step(
    centered_exits: list[CenteredExit], intervals: tuple[Interval, ...], limits: Limits
) -> list[CenteredExit] | None:
    for i, one in enumerate(centered_exits):
        for j in range(i):
            other = centered_exits[j]
            if (one.points, one.in_balls) != (other.points, other.in_balls):
                continue
            common = _without_opposite(one.parts, other.parts)
            if common is None:
                continue
            rest = [each for k, each in enumerate(centered_exits) if k not in (i, j)]
            for more, less in ((one, other), (other, one)):
                excess = _weight(more) - _weight(less)
                if excess == 0:
                    return [*rest, replace(less, parts=common)]
                if _count(common) < _count(less.parts) and is_proved_nonnegative(excess, intervals, limits):
                    return [*rest, replace(less, parts=common), replace(more, weight=excess)]
    return None


def _count(parts: Sequence[NoiseComponent]) -> int:
    return sum(len(component.halfspaces) for component in parts)


def _weight(centered: CenteredExit) -> Closed:
    return _CERTAIN if centered.weight is None else centered.weight


def is_proved_nonnegative(value: Closed, intervals: tuple[Interval, ...], limits: Limits) -> bool:
    """Return True if `value` is proved, within `limits`, to be at least 0 for all eps in `intervals`."""
    try:
        return is_nowhere_negative(value, intervals, limits)
    except Undecided:
        return False


def _without_opposite(
    left: Sequence[NoiseComponent], right: Sequence[NoiseComponent]
) -> tuple[NoiseComponent, ...] | None:
    """Return the components of two exits without a constraint C that holds in one exit and fails in the other.

    `left` and `right` are the components of the two exits. The result keeps all other constraints. Each of these must
    be stated by both exits, or stated by one exit and implied by the other; if not, the result is None.
    """
    mine, theirs = list(left), list(right)
    for component in left:
        if component in theirs:
            mine.remove(component)
            theirs.remove(component)
    if len(mine) != 1 or len(theirs) != 1 or mine[0].noises != theirs[0].noises:
        return None
    kept = [component for component in left if component is not mine[0]]
    first, second = mine[0].halfspaces, theirs[0].halfspaces
    for half in first:
        turned = opposite(half, whole=is_whole(mine[0]))
        if turned is None or turned not in second:
            continue
        common = dict.fromkeys(
            [*(each for each in first if each != half), *(each for each in second if each != turned)]
        )
        if all(_is_implied(each, first) and _is_implied(each, second) for each in common):
            return (*kept, *connected(mine[0], tuple(common)))
    return None


def is_whole(component: NoiseComponent) -> bool:
    """Return True if all noises of `component` are integers."""
    return all(noise.law.whole for noise in component.noises)


def opposite(half: Affine, *, whole: bool) -> Affine | None:
    """Return the half-space where `half` fails, or None if there is none.

    The two may share a boundary of probability 0. `whole` states that all noises of `half` are integers. The result is
    None if `half` depends on gamma, or if `whole` is True and some coefficient or the constant is not an integer.
    """
    numbers = [half.constant, *[c for _, c in (*half.noises, *half.inputs)]]
    if has_gamma(half) or (whole and any(c.denominator != 1 for c in numbers)):
        return None
    return (-half).shifted(-_ONE) if whole else -half


def _is_implied(half: Affine, known: Sequence[Affine]) -> bool:
    """Return True only if the half-spaces in `known` are proved to imply `half`, for all inputs.

    It is enough that one of them implies `half`, or that the sum of two does; nothing else is tried.
    """
    sums = (one + other for one, other in combinations(known, 2))
    return half in known or any((more := half - each).is_number and more.constant >= 0 for each in chain(known, sums))


def connected(component: NoiseComponent, halfspaces: Sequence[Affine]) -> list[NoiseComponent]:
    """Return `component` with only the constraints `halfspaces`, as a list of components that share no noise.

    Noises that no constraint mentions are dropped.
    """
    groups: list[tuple[set[int], list[Affine]]] = []
    for half in halfspaces:
        places, members = {noise for noise, _ in half.noises}, [half]
        apart = []
        for group in groups:
            if group[0] & places:
                places |= group[0]
                members = [*group[1], *members]
            else:
                apart.append(group)
        groups = [*apart, (places, members)]
    components = []
    for places, members in groups:
        order = {noise: number for number, noise in enumerate(sorted(places))}
        moved = tuple([half.renamed({}, order) for half in members])
        components.append(NoiseComponent(tuple([component.noises[noise] for noise in order]), moved))
    return components

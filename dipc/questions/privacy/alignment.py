"""Alignment: bounds of the privacy loss for every pair of adjacent real inputs at once, by shifts of the noises.

**Exits** over centered noises and inputs are united where possible. They exclude each other. So if exits draw noises of
the same laws, after choices with the same probabilities, the probability of an output in their union is the sum of its
probabilities in the exits. The fewer inequalities bound an exit, the less has to be shifted.

**One exit.** With X = N - mean the noises are centered. An exit is reached if its slacks a·X + s(u) are not negative;
the noises of one-sided laws are among the slacks. Moving from u to u + d changes the slacks by L·d, for a matrix L.

1. Let t be a constant shift with a·t + L·d >= 0 for each slack, and with equal real outputs.
2. The shift maps the exit at u into the same exit at u + d, injectively.
3. The density falls at most by the factor e^(Σ rate·|t|·eps). The sum Σ rate·|t| is the *cost* of the shift.

Exits exclude each other, each gives one value of the finite outputs, and its weight does not depend on u. So the
greatest of the costs of all exits, times eps, bounds the loss of the program.

**A pivot** is a noise whose shift depends on the other noises; it serves all exits with one output at once. It is
needed if an output is split over exits that cannot be united. An example is the gap of one value to the largest of the
others, which may be any of them: no constant shift is cheap. Let x be one noise and y all others. Let E be exits that
give the same finite outputs, after choices with the same probabilities, and E_y the conditions of such an exit on y and
the inputs alone. Let t(y, u, d) be affine for each pair of exits. Suppose that for each u and each move d of the ball,
except for noises of probability 0,

- no y is in E_y of two exits at u;
- each point of E at u has its y in F_y at u + d for some exit F;
- each point of E at u with its y in F_y at u + d is in F at u + d with x + t for x, and has the same real outputs.

Then (x, y) -> (x + t, y) maps the points that give an output at u into those that give it at u + d. It is injective and
keeps volumes, because t does not depend on x and y alone determines t. So the loss is at most rate·eps times the
largest |t|. This is a linear program for each pair of exits, with the move among its unknowns.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from dipc.algebra.exppoly import Closed, ClosedForm
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment
from dipc.chain.chain import ExitState
from dipc.chain.state import Affine, centered, irredundant, nonnegative
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace, absolute_value_bounds, convex_union, equation, is_covered, sorted_terms
from dipc.linear.program import Least, Point, integer_minimum, integer_solution, minimum
from dipc.linear.shifts import Shift, least_shift
from dipc.program.clipped import Clipped
from dipc.program.program import Program
from dipc.questions.privacy.adjacency import Move, Neighborhood
from dipc.questions.privacy.boxes import Form, extreme_moves
from dipc.questions.privacy.moves import convex_moves
from dipc.text.ast import BaseType
from dipc.text.core import Value

#: The reason why there are no bounds.
COMPARED_WITHOUT_NOISE = "the program compares inputs without noise"

_ZERO, _ONE = Fraction(0), Fraction(1)


@frozen
class AlignedExit:
    """One exit of a program, in terms of noises with mean 0 and of real and int inputs.

    Noises have the keys 0, 1, …, and the keys of inputs begin at `first_input`. The exit is reached if no form of
    `slacks` is negative. `reals` are its real and int outputs, as (slot, form), and `state` has the finite outputs.
    `rates` are the rates of the noises by key, and `whole` the keys of integer noises. Exits with the same `likeness`
    give the same finite outputs, and draw noises of the same laws after choices with the same probabilities.
    """

    state: ExitState
    rates: Mapping[int, Fraction]
    whole: frozenset[int]
    slacks: tuple[Halfspace, ...]
    reals: tuple[tuple[int, Halfspace], ...]
    first_input: int
    likeness: Hashable

    def changes(self, onto: AlignedExit | None = None) -> tuple[list[Halfspace], list[Halfspace]]:
        """Return the conditions under which a shift of the noises makes up for a move of the inputs.

        The shift leads from this exit into the exit `onto`, by default into this exit itself. Another exit has to
        correspond to this one (see `corresponds`). The conditions are two lists of forms over the shifts of the noises
        and the moves of the inputs: forms of the first list may not be negative, forms of the second must be 0.
        """
        other = self if onto is None else onto
        slacks = [
            Halfspace(one.coefficients, two.constant - one.constant)
            for one, two in zip(self.slacks, other.slacks, strict=True)
        ]
        reals = [
            Halfspace(one.coefficients, two.constant - one.constant)
            for (_, one), (_, two) in zip(self.reals, other.reals, strict=True)
        ]
        return slacks, reals

    @property
    def is_guarded(self) -> bool:
        """True if reaching the exit depends on comparisons of inputs without noise."""
        return any(item.coefficients[0][0] >= self.first_input for item in self.slacks)

    def at_point(self, point: Mapping[int, Fraction]) -> AlignedExit | None:
        """Return the exit with its inputs fixed at `point`, which has their values by key.

        None if `point` violates a comparison without noise.
        """
        slacks = []
        for item in self.slacks:
            value = item.with_values(point)
            if value.coefficients:
                slacks.append(value)
            elif value.constant < 0 or (item.strict and not value.constant):
                return None
        return replace(
            self, slacks=tuple(slacks), reals=tuple([(slot, form.with_values(point)) for slot, form in self.reals])
        )

    def corresponds(self, other: AlignedExit) -> bool:
        """Return True if a shift of the noises may lead from this exit into the exit `other`.

        Both must have the same likeness, and the same inequalities and real outputs except for their constants.
        """
        return self.likeness == other.likeness and _shape(self) == _shape(other)


def _shape(aligned: AlignedExit) -> Hashable:
    slacks = tuple([(item.coefficients, item.strict) for item in aligned.slacks])
    return slacks, tuple([(slot, form.coefficients) for slot, form in aligned.reals]), aligned.first_input


def onto_others(
    ones: Sequence[AlignedExit], others: Sequence[AlignedExit]
) -> Iterator[tuple[AlignedExit, AlignedExit]]:
    """Yield each exit of `ones` with a corresponding exit of `others`, a different one for each.

    An exit that is in both sequences is paired with itself. Raises OutsideFragment if an exit has no corresponding
    exit.
    """
    left = list(others)
    for one in ones:
        fitting = [other for other in left if one.corresponds(other)]
        if not fitting:
            raise OutsideFragment(
                "no shift of the noise turns an answer at one input into the same answer at the adjacent input"
            )
        aligned = next((other for other in fitting if other.state is one.state), fitting[0])
        left.remove(aligned)
        yield one, aligned


def aligned_exits(
    program: Program, finite: Mapping[int, Value] | None = None, *, guarded: bool = False
) -> tuple[AlignedExit, ...]:
    """Return the exits of `program` for the values `finite` of its finite inputs, by slot, united where possible.

    Real and int inputs stay open. Raises Undecided if the exits do not describe the program completely. Unless
    `guarded`, raises OutsideFragment if an exit depends on comparisons of the inputs without noise.
    """
    core = program.core
    given = {} if finite is None else finite
    if not all(core.slots[slot].is_symbolic or slot in given for slot in core.inputs):
        raise OutsideFragment(
            "proofs for all inputs are about real and int inputs, but some inputs are finite: leave out `--inputs all`"
        )
    explored = program.exits(given)
    by_likeness: dict[Hashable, list[AlignedExit]] = {}
    for state in explored.states:
        each = _aligned(program, state, explored.weights.get(state.node))
        by_likeness.setdefault((each.likeness, each.reals), []).append(each)
    few = [each for alike in by_likeness.values() for each in _as_few(alike, program)]
    if not guarded and any(each.is_guarded for each in few):
        raise OutsideFragment(COMPARED_WITHOUT_NOISE)
    return tuple(few)


class Emptiness:
    """A test of whether inequalities of noises and inputs hold with probability 0 at every input.

    Inequalities with a continuous noise are made strict first: given the other noises and the inputs, equality needs a
    single value of this noise. `asked` counts the tests.
    """

    def __init__(self, program: Program, like: AlignedExit) -> None:
        """Read from `like`, an exit of `program`, which keys belong to integers and which to reals.

        The keys are those of noises and inputs. Other exits must have the same keys for the same noises and inputs.
        Unknowns with other keys are real numbers.
        """
        slots = program.core.input_slots
        integers = {like.first_input + position for position, slot in enumerate(slots) if slot.type is BaseType.INT}
        self.asked = 0
        self._limits = program.limits
        self._continuous = like.rates.keys() - like.whole
        self._whole = like.whole | integers

    def __call__(self, system: Sequence[Halfspace]) -> bool:
        """Return True if the inequalities `system`, made strict where a noise is continuous, have no solution.

        Raises LimitReached after too many tests, and NotConfirmed if a linear program is not confirmed.
        """
        self.asked += 1
        if self.asked > self._limits.cells:
            raise LimitReached("cells", f"uniting the paths to an answer takes more than {self._limits.cells} tests")
        opened = [
            Halfspace(
                item.coefficients,
                item.constant,
                item.strict or any(k in self._continuous for k, _ in item.coefficients),
            )
            for item in system
        ]
        return integer_solution(opened, self._whole, self._limits.branches) is None


def _as_few(alike: Sequence[AlignedExit], program: Program) -> Sequence[AlignedExit]:
    """Return the exits `alike` of `program` after uniting two of them as often as possible.

    The exits have the same outputs, and draw the same noises in the same order. Two exits are united only if no values
    of the noises satisfy the conditions of both, and if the union is convex. If this work exceeds a limit, all exits
    are returned unchanged.
    """
    if len(alike) < 2:
        return alike
    is_empty = Emptiness(program, alike[0])
    apart: list[AlignedExit] = []
    waiting = list(alike)
    try:
        while waiting:
            one = waiting.pop(0)
            for place, other in enumerate(apart):
                slacks = (
                    convex_union([other.slacks, one.slacks], is_empty)
                    if is_empty([*other.slacks, *one.slacks])
                    else None
                )
                if slacks is not None:
                    waiting.insert(0, replace(other, slacks=slacks))
                    del apart[place]
                    break
            else:
                apart.append(one)
    except LimitReached:
        return alike
    return apart


def _aligned(program: Program, state: ExitState, weight: Closed | None) -> AlignedExit:
    core = program.core
    place = {noise.id: position for position, noise in enumerate(state.noises)}
    first = len(place)
    at_input = {slot: first + position for position, slot in enumerate(core.inputs)}
    means = {noise.id: noise.mean for noise in state.noises}

    def halfspace(form: Affine) -> Halfspace:
        over = centered(form, means)
        terms = [*[(place[noise], c) for noise, c in over.noises], *[(at_input[slot], c) for slot, c in over.inputs]]
        return Halfspace(tuple(sorted(terms)), over.constant)

    supports = nonnegative(state.noises)
    items = irredundant(state.constraints.items, supports.items)
    slacks = [halfspace(item.form) for item in (*items, *supports.items)]
    slacks += [replace(halfspace(item.form), strict=item.strict) for item in state.guards.items]
    reals: list[tuple[int, Halfspace]] = []
    for slot in core.outputs:
        value: Value | Affine | None = state.outputs[slot]
        if isinstance(value, Affine):
            reals.append((slot, halfspace(value)))
    return AlignedExit(
        state,
        {place[noise.id]: noise.law.shift_cost(noise.rate) for noise in state.noises},
        frozenset(place[noise.id] for noise in state.noises if noise.law.whole),
        tuple(slacks),
        tuple(reals),
        first,
        (
            tuple([slot for slot, _ in reals]),
            tuple([None if isinstance(value, Affine) else value for value in state.outputs.values()]),
            tuple([(noise.law, noise.rate) for noise in state.noises]),
            None if weight is None else ClosedForm(weight),
        ),
    )


@frozen
class Costly:
    """An exit, and the move of the inputs for which the cheapest shift of its noises costs the most.

    `move` has the steps of the inputs by their keys in `exit`. `cost` is a multiple of eps; None if no shift makes up
    for the move, so that shifts give no bound of the loss. `shift` is the cheapest shift, or None if only its cost was
    computed. Its Farkas multipliers belong to the conditions that `AlignedExit.changes` returns, in the same order,
    with the move substituted.
    """

    exit: AlignedExit
    move: Point
    cost: Fraction | None
    shift: Shift | None


def costliest(aligned: AlignedExit, box: Clipped, within: Neighborhood, onto: AlignedExit | None = None) -> Costly:
    """Return the move between two inputs of `box` whose cheapest shift costs the most.

    The shift leads from the exit `aligned` into the exit `onto`, as for `costliest_among`. The two inputs are adjacent
    by `within`, or equal if `onto` is given. Raises Undecided.
    """

    def of_inputs(form: Halfspace) -> Form:
        return {key - aligned.first_input: c for key, c in form.coefficients if key >= aligned.first_input}

    slacks, equations = (list(map(of_inputs, forms)) for forms in aligned.changes(onto))
    moves = extreme_moves(slacks, equations, box, within)
    return costliest_among(aligned, moves if onto is None else [{}, *moves], box.program, onto)


def costliest_among(
    aligned: AlignedExit, moves: Iterable[Move], program: Program, onto: AlignedExit | None = None
) -> Costly:
    """Return the move among `moves` whose cheapest shift from the exit `aligned` into the exit `onto` costs the most.

    `onto` is `aligned` itself by default, or the corresponding exit at other values of the finite inputs of `program`.
    Each move has the steps of the inputs by their indices. Shifts of integer noises are integers. Raises Undecided.
    """
    first = aligned.first_input
    still = dict.fromkeys(range(first, first + len(program.core.inputs)), _ZERO)
    slacks, equations = aligned.changes(onto)
    integral = aligned.whole
    if not any(slot.type is BaseType.INT for slot in program.core.input_slots):
        # Integer noises are never added to real inputs, so their shift is 0.
        unmoved, integral = dict.fromkeys(aligned.whole, _ZERO), frozenset()
        slacks, equations = ([item.with_values(unmoved) for item in halves] for halves in (slacks, equations))
    rates = {key: rate for key, rate in aligned.rates.items() if integral or key not in aligned.whole}
    worst = Costly(aligned, still, _ZERO, None)
    for each in moves:
        move = still | {first + place: step for place, step in each.items()}
        if integral:
            cost, shift = integer_cost(aligned, move, program.limits, onto), None
        else:
            here, equal = ([item.with_values(move) for item in halves] for halves in (slacks, equations))
            shift = least_shift(rates, here, equal)
            cost = None if shift is None else shift.cost
        if cost is None:
            return Costly(aligned, move, None, None)
        assert worst.cost is not None
        if cost > worst.cost or not (worst.cost or any(worst.move.values())):
            worst = Costly(aligned, move, cost, shift)
    return worst


def integer_cost(aligned: AlignedExit, move: Point, limits: Limits, onto: AlignedExit | None = None) -> Fraction | None:
    """Return the least cost of a shift for `move`, in multiples of eps; None if there is no shift.

    The shift leads from the exit `aligned` into the exit `onto`, by default into `aligned` itself. Integer noises shift
    by integers. `move` has the steps of the inputs by key. Raises Undecided if no least cost is found, for example with
    more branches than `limits` allows.
    """
    slacks, equations = ([item.with_values(move) for item in halves] for halves in aligned.changes(onto))
    if not aligned.whole:
        shift = least_shift(aligned.rates, slacks, equations)
        return None if shift is None else shift.cost
    system = [*slacks, *[half for item in equations for half in equation(item.coefficients, item.constant)]]
    size = {key: 1 + max(aligned.rates) + position for position, key in enumerate(sorted(aligned.rates))}
    system += absolute_value_bounds(size)
    if integer_solution(system, aligned.whole, limits.branches) is None:
        return None
    cost = Halfspace(sorted_terms({size[key]: rate for key, rate in aligned.rates.items()}), _ZERO)
    least = integer_minimum(cost, system, aligned.whole, limits.branches)
    assert least is not None
    return least[0]


def pivot_cost(
    exits: Sequence[AlignedExit],
    count: int,
    within: Neighborhood,
    is_empty: Emptiness,
    joined: Sequence[Sequence[Halfspace]] = ((),),
) -> Fraction | None:
    """Return the least bound of the loss, in multiples of eps, with a continuous noise as pivot; None without a pivot.

    A pivot is a noise whose shift depends on the other noises. The `exits` have equal likeness and `count` real inputs,
    which move to inputs adjacent by `within`. `joined` has systems of half-spaces over the keys of the inputs and of
    their moves; only pairs of inputs that satisfy one of the systems are covered. `is_empty` decides whether
    inequalities have probability 0. Raises LimitReached past a limit, and NotConfirmed if a linear program is not
    confirmed.
    """
    first = exits[0].first_input + count
    moves = convex_moves(within, range(first, first + count))
    balls = [[*ball, *both] for ball in moves for both in joined]
    balls = [ball for ball in balls if not is_empty(ball)]
    costs = []
    for key, rate in exits[0].rates.items():
        if key not in exits[0].whole:
            pivot = _Pivot(key, exits[0].first_input, count)
            farthest = [pivot.farthest(exits, ball, is_empty) for ball in balls]
            known = [far for far in farthest if far is not None]
            if len(known) == len(balls):
                costs.append(rate * max(known, default=_ZERO))
    return min(costs, default=None)


@frozen
class _Pivot:
    """A pivot: a noise whose shift may depend on the other noises, while these are not shifted.

    Forms name each unknown by an integer key. The pivot has the key `key`. The `count` inputs have keys that begin at
    `first_input`, and the moves of the inputs have the next `count` keys.
    """

    key: int
    first_input: int
    count: int

    def farthest(
        self, exits: Sequence[AlignedExit], within: Sequence[Halfspace], is_empty: Emptiness
    ) -> Fraction | None:
        """Return the largest |t| of the pivot's shift t between any two of `exits`, over all allowed moves.

        `within` has the half-spaces of the allowed moves of the inputs, and `is_empty` decides whether half-spaces have
        probability 0. The result is None if shifting this noise alone does not lead from every exit into exits with the
        same outputs.
        """
        others = [[item for item in each.slacks if not item.coefficient(self.key)] for each in exits]
        if not all(is_empty([*one, *two]) for one, two in combinations(others, 2)):
            return None
        moved = [[self._after_move(item) for item in system] for system in others]
        largest = _ZERO
        for one in exits:
            here = [*one.slacks, *within]
            if not is_covered(here, moved, is_empty):
                return None
            for two, there in zip(exits, moved, strict=True):
                if is_empty([*here, *there]):
                    continue
                far = self._farthest(one, two, [*here, *there])
                if far is None:
                    return None
                largest = max(largest, far)
        return largest

    def _farthest(self, one: AlignedExit, two: AlignedExit, system: Sequence[Halfspace]) -> Fraction | None:
        """Return the largest |t| of the pivot's shift t that leads from the exit `one` to the exit `two`.

        The largest value is over all noises, inputs and moves in the half-spaces `system`. None if no shift leads from
        `one` into `two` with the same real outputs.
        """
        t = self._shift(one, two)
        if t is None:
            return None
        for (_, here), (_, there) in zip(one.reals, two.reals, strict=True):
            change = _plus(self._shifted(there, t), here, -_ONE)
            if change.coefficients or change.constant:
                return None
        closed = [item.closure() for item in system]
        for item in two.slacks:
            if item.coefficient(self.key):
                room = minimum(self._shifted(item, t), closed)
                if not isinstance(room, Least) or room.value < 0:
                    return None
        ends = [minimum(form, closed) for form in (t, _plus(t, t, Fraction(-2)))]
        values = [-end.value for end in ends if isinstance(end, Least)]
        return max(values) if len(values) == len(ends) else None

    def _shift(self, one: AlignedExit, two: AlignedExit) -> Halfspace | None:
        """Return the pivot's shift from exit `one` to exit `two`, or None if none is known.

        The shift is a form of the other noises, the inputs and the inputs' moves. The shift keeps the value of a real
        output that contains the pivot. If no real output contains the pivot, the shift keeps the value of the only
        slack that does, if each exit has one such slack.
        """
        outputs = [[form for _, form in each.reals if form.coefficient(self.key)] for each in (one, two)]
        compared = [[item for item in each.slacks if item.coefficient(self.key)] for each in (one, two)]
        if all(outputs):
            here, there = outputs[0][0], outputs[1][0]
        elif all(len(items) == 1 for items in compared):
            here, there = compared[0][0], compared[1][0]
        else:
            return None
        c = there.coefficient(self.key)
        if not c or here.coefficient(self.key) != c:
            return None
        difference = _plus(here, self._after_move(there), -_ONE)
        return Halfspace(tuple([(key, slope / c) for key, slope in difference.coefficients]), difference.constant / c)

    def _after_move(self, item: Halfspace) -> Halfspace:
        inputs = range(self.first_input, self.first_input + self.count)
        moves = {key + self.count: c for key, c in item.coefficients if key in inputs}
        return Halfspace(sorted_terms({**dict(item.coefficients), **moves}), item.constant, item.strict)

    def _shifted(self, item: Halfspace, t: Halfspace) -> Halfspace:
        return _plus(self._after_move(item), t, item.coefficient(self.key))


def _plus(one: Halfspace, two: Halfspace, factor: Fraction) -> Halfspace:
    terms = dict(one.coefficients)
    for key, c in two.coefficients:
        terms[key] = terms.get(key, _ZERO) + factor * c
    return Halfspace(sorted_terms(terms), one.constant + factor * two.constant)

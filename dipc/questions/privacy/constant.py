"""The least K such that a program is K·eps-private: the supremum of loss/eps over pairs and eps.

The limits of log(p/p')/eps as eps tends to 0 and to infinity are rational. If the greatest limit bounds all pairs, it
is the constant. If the supremum is attained at some other eps, it is enclosed.

At pairs whose outputs cannot be listed, shifts of the noises give an upper bound. Candidates, which are single outputs
at pairs, may refute a smaller bound.

**Finite inputs** whose values are numbers are treated as real inputs. A bound for all adjacent real inputs holds for
the values of the domains. Counterexamples are searched for among these values.

**Lower bounds.** For large eps the probability of an exit at an input u is of the order of e^(-E·eps), where E is the
least cost of noises that reach the exit. The dual solution of the worst shift bounds E at u + d from below, where d is
the move to the adjacent input. A linear program finds a u at which the upper bound of E is tight. The probabilities
found in this way are then measured, so no step is trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from math import floor, prod

from dipc.algebra.exppoly import Closed, ExpPoly, fraction_of
from dipc.algebra.exppoly import product as product_of
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment, Undecided
from dipc.algebra.numbers import log_enclosure, round_down
from dipc.chain.state import Affine, finite_values
from dipc.decide.engine import Engine
from dipc.decide.obligation import Verdict
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace, absolute_value_bounds, equation, sorted_terms
from dipc.linear.program import Infeasible, Least, minimum, solution
from dipc.linear.shifts import least_shift
from dipc.program.clipped import EVERYTHING, Clipped, clipped
from dipc.program.metric import inner_point
from dipc.program.program import Program
from dipc.questions.privacy.adjacency import Distance, Input, Neighborhood, Pairs, is_input, texts
from dipc.questions.privacy.alignment import (
    COMPARED_WITHOUT_NOISE,
    AlignedExit,
    Costly,
    Emptiness,
    aligned_exits,
    costliest,
    costliest_among,
    integer_cost,
    onto_others,
    pivot_cost,
)
from dipc.questions.privacy.boxes import pairs_in, placed
from dipc.questions.privacy.loss import LawTable, at_most, couples, law_table, loss_enclosure
from dipc.questions.privacy.moves import AllowedMoves
from dipc.questions.privacy.outcome import Ends, Numbers, PrivacyAnswer, Texts, power
from dipc.sign.chart import isolate_roots
from dipc.sign.interval import Interval
from dipc.sign.optimum import ReducedQuotient, leading_at_infinity, limit_at_zero
from dipc.text import ast
from dipc.text.ast import BaseType
from dipc.text.core import DomType, Slot, Value, show_value
from dipc.text.diagnostic import DiagnosticError, SourceText
from dipc.text.parser import parse
from dipc.text.printer import print_program

#: The greatest numbers of exits tried for lower bounds, of pairs for each exit, and of inputs in a grid.
_EXITS, _PAIRS, _GRID = 12, 8, 81


@frozen
class LossBounds:
    """Bounds of the privacy loss, in multiples of eps: an upper bound, and candidates that give lower bounds.

    The loss is at most `proved`·eps for every eps > 0; if `proved` is None, nothing is proved, and `reason` says why.
    If there is an `unbounded` candidate, no K·eps bounds the loss: the candidate's second probability tends to 0 as the
    move of its pair grows.
    """

    proved: Fraction | None
    reason: str | None
    candidates: tuple[Candidate, ...]
    unbounded: Candidate | None = None


def bounds_of_runs(parts: Sequence[tuple[LossBounds, int]]) -> LossBounds:
    """Return bounds of the loss of several runs of several programs; `parts` has (bounds for one run, number of runs).

    Upper bounds of the runs add up. For a single program, the lower bound is the loss of a candidate that occurs in
    every run. For several programs there is no lower bound.
    """
    proved = [None if bounds.proved is None else bounds.proved * runs for bounds, runs in parts]
    known = [bound for bound in proved if bound is not None]
    least = sum(known, _ZERO) if len(known) == len(parts) else None
    reason = next((bounds.reason for bounds, _ in parts if bounds.reason is not None), None)
    (bounds, runs), *others = parts
    if others:
        return LossBounds(least, reason, ())
    candidates = tuple(
        replace(each, first=product_of([each.first] * runs), second=product_of([each.second] * runs))
        for each in bounds.candidates
    )
    unbounded = None if bounds.unbounded is None else candidates[bounds.candidates.index(bounds.unbounded)]
    return LossBounds(least, reason, candidates, unbounded)


_NO_SHIFT = "on some path no shift of the noise makes up for every move of the inputs"
GROWS = "the cost of a shift grows with the move of an input, and that move is unbounded"


def bounds_by_shifts(
    program: Program, within: Neighborhood, engine: Engine, among: Pairs | None = None, box: Clipped | None = None
) -> LossBounds:
    """Return bounds of the loss of `program` at all pairs adjacent by `within`, from shifts of the noises.

    Finite inputs are treated as real or int ones. Candidates are taken from the pairs of `among`, if given. If the
    program clips its inputs to a `box`, bounds and candidates are those of the program without clamps in this box,
    which has the same laws there. `engine` measures the probabilities of candidates. Raises Undecided.
    """
    measured = program if box is None else box.program
    opened = with_open_inputs(measured)
    choices: _Choices = [_numbers(measured, slot) for slot in measured.core.inputs]
    if among is not None:
        columns = zip(*among.inputs, strict=True)
        choices = [[value for value in dict.fromkeys(each) if isinstance(value, Fraction)] for each in columns]
    moves = allowed_moves(opened, within)
    ball, is_bounded = within, True
    if within.distance is Distance.HAMMING and box is None:
        # If the moves of inputs are unbounded, the cost of a shift grows with the move.
        widths = sorted([max(values) - min(values) for values in choices if values is not None], reverse=True)
        is_bounded = len(widths) == len(choices)
        ball = Neighborhood(Distance.L1, sum(widths[: int(within.radius)], _ZERO) if is_bounded else within.radius)
    space = Clipped(opened, (EVERYTHING,) * len(choices) if box is None else box.ranges)
    every = aligned_exits(opened, guarded=True)
    first, last = every[0].first_input, every[0].first_input + len(choices)
    joined = [pairs_in(space.ranges, first, last)] if moves is None else moves.both_inside(first, last)
    if any(each.is_guarded for each in every):
        unshifted = [(each, None) for each in every]
        cost = None if opened is not measured else _least_bound(unshifted, within, opened, joined)
        if cost is None:
            raise OutsideFragment(COMPARED_WITHOUT_NOISE)
        pairs = None if box is None or not measured.core.has_finite_outputs else _at_corners(box, within)
        at_corners = () if pairs is None else _candidates_at(measured, pairs, engine)
        return LossBounds(cost, None, () if among is not None else (*at_corners, *_nearby(program, within, engine)))
    extreme = None if moves is None else moves.extreme
    if extreme is None:
        costly = [costliest(aligned, space, ball) for aligned in every]
    else:
        is_bounded = True
        costly = [costliest_among(aligned, extreme, opened) for aligned in every]
    costly.sort(key=_order, reverse=True)
    costs = [(each.exit, each.cost) for each in costly]
    proved, reason = _least_bound(costs, within if moves is not None else ball, opened, joined), None
    if proved is None:
        reason = _NO_SHIFT
    elif proved and not is_bounded:
        proved, reason = None, GROWS
    near: list[Candidate] = []
    unbounded: Candidate | None = None
    if within.distance is Distance.HAMMING and proved is None and not is_bounded and opened is program:
        near = list(_far_moves([each.exit for each in costly], program, engine))
        unbounded = near[0] if near else None
    listed = frozenset(() if among is None else among.inputs)

    def starts(worst: Costly) -> Iterator[_Start]:
        found = _starts_in(space, worst, choices) if moves is None else _allowed_starts(opened, worst, choices, moves)
        for start, *pair in islice(found, _PAIRS):
            # The ball of moves may contain moves between inputs that are not adjacent.
            own = fitted(choices, *pair)
            if own is None or not within.relates(*own) or (listed and not listed.issuperset(own)):
                continue
            if all(is_input(measured, point) for point in own):
                yield start, *own

    near = _candidates_from(measured, costly, starts, near, engine, one_by_one=proved is None)
    return LossBounds(proved, reason, tuple(near), unbounded)


#: Noises and inputs by key, and the two inputs of a pair.
_Start = tuple[Mapping[int, Fraction], Input, Input]


def _candidates_from(
    program: Program,
    costly: Sequence[Costly],
    starts: Callable[[Costly], Iterable[_Start]],
    known: Iterable[Candidate],
    engine: Engine,
    *,
    one_by_one: bool,
) -> list[Candidate]:
    """Return the candidates `known` of `program`, and new ones at pairs for the first few of the exits `costly`.

    A candidate is an output at a pair of inputs, with its probabilities, that may violate privacy. `starts` is called
    with an exit and yields pairs that differ by its worst move. If outputs are finite, `engine` measures every output
    at the pairs. With `one_by_one`, the pairs are measured one after another, until some output is impossible at the
    second input of its pair: the loss is then infinite.
    """
    found = list(known)
    ordered: dict[tuple[Input, Input], None] = {}
    finite = program.core.has_finite_outputs
    for each in costly[:_EXITS]:
        for start, one, two in starts(each):
            ordered[one, two] = None
            found += () if finite else near_outputs(program, each.exit, one, two, start)
    for pairs in [[pair] for pair in ordered] if one_by_one else [list(ordered)]:
        if finite and pairs and not any(fraction_of(candidate.second)[0].is_zero() for candidate in found):
            found += _candidates_at(program, Pairs.from_inputs(pairs), engine)
    return found


def _starts_in(box: Clipped, costly: Costly, choices: _Choices) -> Iterator[_Start]:
    """Yield (noises and inputs by key, u, u') for inputs u and u' of `box` that differ by the worst move of an exit.

    `costly` has the exit and its move, and `choices` the allowed values of each finite input. Each pair is yielded in
    both directions.
    """
    first, last = costly.exit.first_input, costly.exit.first_input + len(box.ranges)
    move = [costly.move[key] for key in range(first, last)]
    if not any(move):
        return
    steps = {last + place: step for place, step in enumerate(move)}
    inside = [item.with_values(steps).closure() for item in pairs_in(box.ranges, first, last)]
    for start in _starts(costly, choices, [item for item in inside if item.coefficients]):
        begun = [start.get(key, _ZERO) for key in range(first, last)]
        begun = [Fraction(floor(value)) if place in box.integers else value for place, value in enumerate(begun)]
        one, two = placed(box.ranges, begun, move)
        own = {**start, **dict(zip(range(first, last), one, strict=True))}
        yield own, one, two
        yield own, two, one


def _at_corners(box: Clipped, within: Neighborhood) -> Pairs | None:
    """Return pairs of inputs adjacent by `within`, each a corner of `box` or one move away from a corner.

    None if there are no such pairs, or too many inputs.
    """
    values: list[Sequence[Fraction]] = []
    for slot, side in zip(box.program.core.input_slots, box.ranges, strict=True):
        ends = [end for end in (side.low, side.high) if end is not None]
        size = _step_of(slot, within)
        ends += [side.nearest(end + step) for end in ends or [_ZERO] for step in (size, -size)]
        values.append(list(dict.fromkeys(ends)))
    return None if prod(map(len, values)) > _GRID else _adjacent_in(box.program, within, values)


def bounds_for_every_pair(program: Program, within: Neighborhood, engine: Engine) -> LossBounds:
    """Return bounds of the loss of `program` at all pairs adjacent by `within`, by the first method that gives any.

    `engine` measures the probabilities of candidates.
    """
    box = clipped(program)
    if box is not None:
        with suppress(Undecided):
            return bounds_by_shifts(program, within, engine, box=box)
    try:
        return bounds_by_shifts(program, within, engine)
    except Undecided as undecided:
        why = undecided.reason
    try:
        return _beside_finite(program, within, engine)
    except Undecided as other:
        why = other.reason if not program.core.has_open_inputs else why
    return LossBounds(None, why, _nearby(program, within, engine))


def _nearby(program: Program, within: Neighborhood, engine: Engine) -> tuple[Candidate, ...]:
    """Return candidates at pairs around comparisons of inputs without noise, and at pairs of a small grid of inputs.

    A candidate is an output at a pair of inputs, with its probabilities, that may violate privacy. The inputs are those
    of `program`, adjacent by `within`, and `engine` measures the probabilities. If outputs are not finite, the
    candidates are intervals of outputs far from all inputs of the grid.
    """
    if not program.core.has_finite_outputs:
        return tuple(_far_intervals(program, within))
    tried = (_at_guards(program, within), _grid_pairs(program, within))
    return tuple(each for pairs in tried if pairs is not None for each in _candidates_at(program, pairs, engine))


def _far_intervals(program: Program, within: Neighborhood) -> Iterator[Candidate]:
    """Yield candidates at pairs of a small grid of inputs of `program`, with intervals of real outputs beyond the grid.

    A candidate has the probabilities of these intervals at both inputs of a pair. The pairs are adjacent by `within`.
    Nothing is yielded unless all outputs are real.
    """
    slots = program.core.output_slots
    pairs = _grid_pairs(program, within)
    if pairs is None or not all(slot.type is BaseType.REAL for slot in slots):
        return
    far = 2 * _STEP + WIDTH_OF_OUTPUTS

    def move(pair: tuple[int, int]) -> Fraction:
        one, two = (pairs.inputs[position] for position in pair)
        return sum((abs(b - a) for a, b in zip(one, two, strict=True)), _ZERO)  # type: ignore[operator]

    farthest = sorted(pairs.ordered, key=move, reverse=True)
    for (i, j), middle in islice(product(farthest, (far, -far)), _GRID):
        middles = {slot.name: middle for slot in slots}
        yield from _within_intervals(program, pairs.inputs[i], pairs.inputs[j], {}, middles)


#: The moves of one input that are tried if moves are unbounded.
_MOVES = tuple([Fraction(4**k) for k in range(7)])


def _far_moves(exits: Sequence[AlignedExit], program: Program, engine: Engine) -> Iterator[Candidate]:
    """Yield candidates that show an unbounded loss: outputs whose probability tends to 0 as one input moves away.

    `exits` are all exits of `program`, and `engine` measures probabilities. A candidate has the probabilities of such
    an output at an input, and at the same input after a large move; the moves grow from candidate to candidate. An
    output is of this kind if, in each of its exits, a condition fails when the input moves far enough, or a real output
    moves with the input. Nothing is yielded if no output of this kind is found.
    """
    groups: dict[Hashable, list[AlignedExit]] = {}
    for each in exits:
        finite = [slot for slot in program.core.outputs if not program.core.slots[slot].is_symbolic]
        groups.setdefault(tuple([each.state.outputs[slot] for slot in finite]), []).append(each)
    for group, position, sign in product(groups.values(), range(len(program.inputs)), (_ONE, -_ONE)):
        if not all(_falls(each, each.first_input + position, sign) for each in group):
            continue
        origin = _start_of_ray(program, position, sign)
        if origin is None:
            continue
        moved: list[Candidate] = []
        for move in _MOVES:
            other = tuple([value + (sign * move if place == position else 0) for place, value in enumerate(origin)])
            if group[0].reals:
                moved += islice(near_outputs(program, group[0], origin, other, {}), 1)
            else:
                wanted = {
                    program.core.slots[slot].name: None if value is None else show_value(value)
                    for slot, value in group[0].state.outputs.items()
                    if not isinstance(value, Affine)
                }
                pairs = Pairs.from_inputs([(origin, other)])
                moved += [each for each in _candidates_at(program, pairs, engine) if dict(each.output) == wanted]
        if len(moved) == len(_MOVES) and not fraction_of(moved[0].first)[0].is_zero():
            yield from moved
            return


def _start_of_ray(program: Program, position: int, sign: Fraction) -> tuple[Fraction, ...] | None:
    """Return an input whose value with the index `position` can grow without end, or fall for `sign` -1.

    The result is None if the `requires` of `program` excludes this for every input.
    """
    core = program.core
    if program.allowed is None:
        return (_ZERO,) * len(core.inputs)
    integers = frozenset(slot.index for slot in core.input_slots if slot.type is BaseType.INT)
    for guards in program.allowed.sets({}):
        if all(dict(guard.form.inputs).get(core.inputs[position], _ZERO) * sign >= 0 for guard in guards):
            start = inner_point(guards, integers, program.limits.branches)
            if start is not None:
                return tuple([start.get(slot, _ZERO) for slot in core.inputs])
    return None


def allowed_moves(program: Program, within: Neighborhood) -> AllowedMoves | None:
    """Return the moves between two inputs of `program` that satisfy `requires` and are adjacent by `within`.

    None for a program without `requires`, and for one with finite inputs alone, whose moves are enumerated.
    """
    if program.allowed is None or not program.core.has_open_inputs:
        return None
    return AllowedMoves(program, within)


def _falls(each: AlignedExit, key: int, sign: Fraction) -> bool:
    """Return True only if the probability of the exit `each` tends to 0 as one input moves without end.

    The input with this `key` grows for `sign` 1, and falls for `sign` -1.
    """
    moved = any(form.coefficient(key) for _, form in each.reals)
    return moved or any(item.coefficient(key) * sign < 0 for item in each.slacks)


def _beside_finite(program: Program, within: Neighborhood, engine: Engine) -> LossBounds:
    """Return bounds of the loss for a `program` with finite inputs together with real or int ones.

    The bounds hold for all values of the finite inputs, and all inputs adjacent by `within`. A move of finite inputs
    spends a part of the radius. `engine` measures the candidates. Raises Undecided.
    """
    core = program.core
    slots = core.input_slots
    fixed = [position for position, slot in enumerate(slots) if not slot.is_symbolic]
    if not fixed:
        raise OutsideFragment("no input is finite")
    places = [position for position in range(len(slots)) if position not in fixed]
    domains = [finite_values(slots[position]) for position in fixed]
    if prod(map(len, domains)) > program.limits.cases:
        raise LimitReached("cases", f"the finite inputs have more than {program.limits.cases} combinations")
    combinations = list(product(*domains))
    if program.allowed is not None:
        slots_of = [core.inputs[position] for position in fixed]
        combinations = [each for each in combinations if program.allowed.sets(dict(zip(slots_of, each, strict=True)))]
    known = [
        aligned_exits(program, dict(zip([core.inputs[position] for position in fixed], each, strict=True)))
        for each in combinations
    ]
    space = Clipped(program, (EVERYTHING,) * len(slots))
    costly: list[tuple[Costly, tuple[Value, ...], tuple[Value, ...]]] = []
    mismatch: str | None = None
    for (one, ours), (two, theirs) in product(zip(combinations, known, strict=True), repeat=2):
        left = within.left_by(one, two)
        if left is None:
            continue
        ball = Neighborhood(Distance.L1, _ONE) if within.distance is Distance.HAMMING else replace(within, radius=left)
        try:
            onto = list(zip(ours, ours, strict=True) if one == two else onto_others(ours, theirs))
            worst = [
                costliest(here, space, ball, there) if left else costliest_among(here, [{}], program, there)
                for here, there in onto
            ]
            costly += [(each, one, two) for each in worst]
        except OutsideFragment as outside:
            mismatch = outside.reason
            for own in ours:
                still = dict.fromkeys([own.first_input + position for position in places], _ZERO)
                costly.append((Costly(own, still, None, None), one, two))
    costly.sort(key=lambda each: _order(each[0]), reverse=True)
    proved = costly[0][0].cost
    reason = None if proved is not None else mismatch or _NO_SHIFT
    if within.distance is Distance.HAMMING and any(each.cost and any(each.move.values()) for each, _, _ in costly):
        proved, reason = None, GROWS
    ordered: dict[tuple[Input, Input], AlignedExit] = {}
    for each, one, two in costly[:_EXITS]:
        for base in (_ZERO, -_ONE):
            pair: list[Input] = []
            for values, side in ((one, base), (two, base + 1)):
                point = dict(zip(fixed, values, strict=True))
                point |= {position: side * each.move[each.exit.first_input + position] for position in places}
                pair.append(tuple([point[position] for position in range(len(slots))]))
            if pair[0] != pair[1] and all(is_input(program, point) for point in pair):
                ordered.setdefault((pair[0], pair[1]), each.exit)
    near: list[Candidate] = []
    if program.core.has_finite_outputs:
        near += _candidates_at(program, Pairs.from_inputs(ordered), engine) if ordered else ()
    else:
        for (first, second), aligned in ordered.items():
            near += near_outputs(program, aligned, first, second, {})
    return LossBounds(proved, reason, tuple(near))


def _least_bound(
    costs: Sequence[tuple[AlignedExit, Fraction | None]],
    within: Neighborhood,
    program: Program,
    joined: Sequence[Sequence[Halfspace]],
) -> Fraction | None:
    """Return an upper bound of the loss, in multiples of eps, from the exits of `program`; None is infinity.

    `costs` has the exits with the costs of constant shifts, the greatest first. A cost is None if there is no shift, or
    none is known. Exits that give the same finite outputs and draw noises of the same laws form a group. A group has
    one cost: the greatest cost of its exits, or the cost of one pivot for all of them if that is less. A pivot is a
    noise whose shift depends on the other noises. The bound is the greatest cost of a group.

    Inputs are adjacent by `within`. `joined` has systems of half-spaces, one of which each pair of inputs satisfies.
    Raises NotConfirmed.
    """
    alike: dict[Hashable, list[tuple[AlignedExit, Fraction | None]]] = {}
    for each in costs:
        alike.setdefault(each[0].likeness, []).append(each)
    bound = Fraction(0)
    for group in alike.values():
        _, worst = group[0]
        if worst is not None and worst <= bound:
            break  # the following exits cost no more than this
        pivot: Fraction | None = None
        if program.core.has_real_inputs and (len(group) > 1 or group[0][0].is_guarded):
            exits = [exit_ for exit_, _ in group]
            with suppress(LimitReached):
                pivot = pivot_cost(exits, len(program.core.inputs), within, Emptiness(program, exits[0]), joined)
        known = [cost for cost in (worst, pivot) if cost is not None]
        if not known:
            return None
        bound = max(bound, min(known))
    return bound


def _order(each: Costly) -> tuple[bool, Fraction]:
    return each.cost is None, each.cost or Fraction(0)


def bounds_at_pairs(program: Program, pairs: Pairs) -> LossBounds:
    """Return bounds of the loss at `pairs` of inputs of `program`, which has real or int outputs."""
    proved: Fraction | None = Fraction(0)
    reason = None
    near: list[Candidate] = []
    core = program.core
    places = [(position, slot) for position, slot in enumerate(core.inputs) if not core.slots[slot].is_symbolic]
    numbers = [position for position, slot in enumerate(core.inputs) if core.slots[slot].is_symbolic]
    known: dict[Hashable, tuple[AlignedExit, ...]] = {}

    def exits_at(point: Input) -> tuple[AlignedExit, ...]:
        finite = {slot: point[position] for position, slot in places}
        key = tuple([(isinstance(value, bool), value) for value in finite.values()])
        if key not in known:
            known[key] = aligned_exits(program, finite, guarded=True)
        return known[key]

    def values(each: AlignedExit, point: Input) -> dict[int, Fraction]:
        return {each.first_input + position: Fraction(point[position]) for position in numbers}

    for i, j in pairs.ordered:
        one, two = pairs.inputs[i], pairs.inputs[j]
        try:
            every, others = exits_at(one), exits_at(two)
        except Undecided as undecided:
            return LossBounds(None, undecided.reason, tuple(near))
        here = [(each, valued) for each in every if (valued := each.at_point(values(each, one))) is not None]
        there = [valued for each in others if (valued := each.at_point(values(each, two))) is not None]
        assert here, "every input leads to an exit"
        onto: Sequence[tuple[AlignedExit, AlignedExit]]
        try:
            onto = list(onto_others([valued for _, valued in here], there))
        except Undecided as undecided:
            proved, reason, onto = None, undecided.reason, []
        for opened, _ in here:
            near += near_outputs(program, opened, one, two, values(opened, one))
        for aligned, other in onto:
            try:
                cost = integer_cost(aligned, {}, program.limits, other)
            except Undecided as undecided:
                proved, reason = None, undecided.reason
                continue
            if cost is None:
                proved, reason = None, _NO_SHIFT
            elif proved is not None:
                proved = max(proved, cost)
    return LossBounds(proved, reason, tuple(near))


def _candidates_at(program: Program, pairs: Pairs, engine: Engine) -> Iterator[Candidate]:
    try:
        table = law_table(program, pairs.inputs, engine)
    except Undecided:
        return
    yield from of_table(program, table, pairs)


def _grid_pairs(program: Program, within: Neighborhood) -> Pairs | None:
    """Return the pairs adjacent by `within` of a small grid of inputs of `program`.

    None for a program without real or int inputs, with too many inputs, or without such pairs.
    """
    steps = [_step_of(slot, within) for slot in program.core.input_slots]
    for sides in ((-1, 0, 1), (0, 1)) if program.core.has_open_inputs else ():
        if len(sides) ** len(steps) <= _GRID:
            return _adjacent_in(program, within, [[side * step for side in sides] for step in steps])
    return None


def few_pairs(program: Program, within: Neighborhood) -> Pairs | None:
    """Return pairs of inputs of `program` adjacent by `within`; None if there are none, or too many inputs.

    A finite input takes all its values. A real or int input takes two values: 0, and a value to which it can move from
    0.
    """
    slots = program.core.input_slots
    values = [(_ZERO, _step_of(slot, within)) if slot.is_symbolic else finite_values(slot) for slot in slots]
    complete = {position for position, slot in enumerate(slots) if not slot.is_symbolic}
    return None if prod(map(len, values)) > _GRID else _adjacent_in(program, within, values, complete)


def _adjacent_in(
    program: Program, within: Neighborhood, values: Sequence[Sequence[Value]], complete: Collection[int] = ()
) -> Pairs | None:
    """Return the pairs adjacent by `within` on a grid of inputs of `program`; None if there are none.

    The grid has the `values` given for each input. If the program has a `requires`, a copy of the grid is added,
    shifted by an input that satisfies the condition. In this copy, finite inputs and inputs with an index in `complete`
    are not shifted.
    """
    points: list[Input] = list(product(*values))
    if program.allowed is not None:
        start = [program.allowed.point[slot] for slot in program.core.inputs]

        def shifted(position: int, value: Value) -> Value:
            origin = start[position]
            if position in complete or not isinstance(value, Fraction) or not isinstance(origin, Fraction):
                return value
            return value + origin

        points += [tuple([shifted(position, value) for position, value in enumerate(point)]) for point in points]
    points = [point for point in dict.fromkeys(points) if is_input(program, point)]
    ordered = [(one, two) for one in points for two in points if within.relates(one, two)]
    return Pairs.from_inputs(ordered) if ordered else None


def _step_of(slot: Slot, within: Neighborhood) -> Fraction:
    """Return how far the real or int input `slot` moves to an input adjacent by `within`; 0 if an int cannot move."""
    step = _STEP if within.distance is Distance.HAMMING else within.radius
    return Fraction(floor(step)) if slot.type is BaseType.INT else step


def _at_guards(program: Program, within: Neighborhood) -> Pairs | None:
    """Return pairs of inputs around each comparison without noise in `program`, adjacent by `within`.

    The two inputs of a pair are on opposite sides of the boundary, or one of them is on it. None if there are no pairs,
    as for a program without real inputs.
    """
    core = program.core
    if not core.has_real_inputs:
        return None
    try:
        states = program.exits({}).states
    except Undecided:
        return None
    ordered: dict[tuple[Input, Input], None] = {}
    for state in islice(states, _EXITS):
        guards = [Halfspace(item.form.inputs, item.form.constant) for item in state.guards.items]
        for position, guard in enumerate(guards[:_PAIRS]):
            others = [replace(each, strict=True) for each in (*guards[:position], *guards[position + 1 :])]
            start = solution([*others, *equation(guard.coefficients, guard.constant)], core.inputs)
            if isinstance(start, Infeasible):
                continue
            slot, _ = max(guard.coefficients, key=lambda term: abs(term[1]))
            step = within.radius if within.distance is not Distance.HAMMING else _STEP
            places = [
                tuple([start[each] + (side * step / 2 if each == slot else _ZERO) for each in core.inputs])
                for side in (-2, -1, 0, 1, 2)
            ]
            for one, two in ((1, 3), (0, 2), (2, 4)):
                ordered |= dict.fromkeys([(places[one], places[two]), (places[two], places[one])])
    kept = [pair for pair in ordered if all(is_input(program, point) for point in pair)]
    return Pairs.from_inputs(kept) if kept else None


_STEP = Fraction(1)


def of_open_inputs(tree: ast.ProgramTree, program: Program, base: ast.BaseType = ast.BaseType.REAL) -> ast.ProgramTree:
    """Return `tree` with inputs of the type `base` in place of the finite inputs whose values are numbers.

    `tree` is the syntax tree of `program`.
    """
    slots = program.core.input_slots
    numeric = {slot.name.partition("[")[0] for slot in slots if _numbers(program, slot.index) is not None}

    def opened(declaration: ast.Declaration) -> ast.Declaration:
        match declaration:
            case ast.VariableDecl(role=ast.Role.INPUT, declarators=declarators):
                if any(declarator.name in numeric for declarator in declarators):
                    return replace(declaration, type=ast.BaseTypeExpr(base))
        return declaration

    return replace(tree, declarations=tuple(opened(each) for each in tree.declarations)) if numeric else tree


def with_open_inputs(program: Program) -> Program:
    """Return `program` with its finite inputs declared as real, or as int if only integer noise can be added to them.

    A program without finite inputs is returned unchanged. Raises OutsideFragment if a finite input is used in a way
    that a number cannot be.
    """
    tree = parse(program.core.source)
    if of_open_inputs(tree, program) == tree:
        return program
    values = [value for slot in program.core.inputs for value in _numbers(program, slot) or ()]
    whole = all(value.denominator == 1 for value in values)
    for base in (ast.BaseType.REAL, *([ast.BaseType.INT] if whole else [])):
        text = print_program(of_open_inputs(tree, program, base))
        with suppress(DiagnosticError):
            opened = program.with_constants(program.core.constants, SourceText(f"<{base.value} inputs>", text))
            opened.exits({})  # Raises if a number outside of its domain is assigned to a variable of finite type.
            return opened
    raise OutsideFragment("a finite input is used other than as a number to which noise is added")


#: The allowed values of each input; None for every number.
_Choices = Sequence[Sequence[Fraction] | None]


def fitted(choices: _Choices, one: Input, two: Input) -> tuple[Input, Input] | None:
    """Return two inputs with the same difference as `one` and `two`, in which finite inputs have allowed values.

    `choices` has the allowed values of each finite input, None for other inputs. Each finite input of the first is as
    near as possible to that of `one`. The result is None if there are no such inputs.
    """
    first, second = list(one), list(two)
    for position, values in enumerate(choices):
        if values is None:
            continue
        here, there = one[position], two[position]
        assert isinstance(here, Fraction), "the value is a number"
        assert isinstance(there, Fraction), "the value is a number"
        starts = [value for value in values if value + there - here in values]
        if not starts:
            return None
        first[position] = min(starts, key=lambda value: abs(value - here))
        second[position] = first[position] + there - here  # type: ignore[operator]
    return tuple(first), tuple(second)


def _numbers(program: Program, slot: int) -> tuple[Fraction, ...] | None:
    type_ = program.core.slots[slot].type
    values = type_.values if isinstance(type_, DomType) else ()
    numbers = tuple([value for value in values if isinstance(value, Fraction)])
    return numbers if numbers and len(numbers) == len(values) else None


#: The widths of the intervals of real outputs.
WIDTH_OF_OUTPUTS = Fraction(1)

_ZERO, _ONE = Fraction(0), Fraction(1)


@frozen
class Candidate:
    """An output that may violate privacy: its probabilities at an input (`first`) and at an adjacent input (`second`).

    It refutes K·eps-privacy where first > e^{K·eps}·second. `input` and `adjacent` are the two inputs. `output` has the
    finite parts of the output, and `balls` the interval (lower end, upper end) of each real or int part, by name.
    """

    input: Texts
    adjacent: Texts
    output: Texts
    balls: Mapping[str, Ends]
    first: Closed
    second: Closed


#: The part of the greatest refuted constant that an example shows to be refuted.
_SOMEWHAT_LESS = Fraction(99, 100)

#: The powers of 2 among which an example of eps is looked for.
_MOST_DOUBLINGS = 12


def _allowed_starts(program: Program, costly: Costly, choices: _Choices, moves: AllowedMoves) -> Iterator[_Start]:
    """Yield (noises and inputs by key, u, u') for inputs u and u' of `program` that differ by the move of an exit.

    `costly` has the exit and its move, and each pair is yielded in both orders. Both inputs satisfy `requires`, a union
    of convex sets that `moves` describes. For every two of the sets, the pair with the least cost of noises comes
    first. `choices` has the allowed values of each finite input.
    """
    keys = [costly.exit.first_input + position for position in range(len(program.inputs))]
    move = {place: costly.move.get(key, _ZERO) for place, key in enumerate(keys)}
    if not any(move.values()):
        return
    made: list[tuple[Mapping[int, Fraction], Input, Input]] = []
    for one, two in moves.making(move):
        own = {key: value for key, value in zip(keys, one, strict=True) if isinstance(value, Fraction)}
        made.append((own, one, two))
    step = {keys[-1] + 1 + place: move[place] for place in move}
    for system in moves.both_inside(costly.exit.first_input, keys[-1] + 1):
        closed = [item.with_values(step).closure() for item in system]
        for start in islice(_starts(costly, choices, closed), 2, None):
            # The best start may lie on an edge that does not belong to the set.
            tried = [dict(start)]
            for inner, _, _ in made:
                tried.append({key: end + (inner.get(key, end) - end) / 1024 for key, end in start.items()})
            for near in tried:
                point: Input = tuple([near.get(key, _ZERO) for key in keys])
                other: Input = tuple([near.get(key, _ZERO) + move[place] for place, key in enumerate(keys)])
                if is_input(program, point) and is_input(program, other):
                    yield near, point, other
                    yield near, other, point
                    break
    for start, one, two in made:
        yield start, one, two
        yield start, two, one


def of_table(program: Program, table: LawTable, pairs: Pairs) -> Iterator[Candidate]:
    """Yield candidates for the outputs of `program` at `pairs`: the first output with each pair of probabilities.

    The probabilities are those of `table`. An output is left out if its probabilities at both inputs are equal, or if
    one of them has no closed form.
    """
    for pair, answer in couples(table, pairs):
        try:
            first, second = map(table.closed, table.couple(pair, answer))
        except Undecided:
            continue
        yield Candidate(*pairs.texts(program, pair), table.texts(answer), {}, first, second)


def _starts(costly: Costly, choices: _Choices, inside: Sequence[Halfspace] = ()) -> Iterator[Mapping[int, Fraction]]:
    """Yield up to three inputs, with noises, from which the worst move of an exit may lead to the greatest loss.

    `costly` has the exit and its move. A result maps keys of inputs and noises to values; missing values are 0. The
    first result is the input 0, and the second one the input from which the move leads to 0. The third satisfies the
    half-spaces `inside`, and the noises with which it reaches the exit are the most probable. Finite inputs stay
    between the least and the greatest of their values in `choices`, before and after the move.
    """
    yield {}
    yield {key: -value for key, value in costly.move.items()}
    here = costly.exit
    if costly.cost is None:
        return
    try:
        # Integer noises are treated as continuous here.
        slacks, equations = ([item.with_values(costly.move) for item in halves] for halves in here.changes())
        shift = costly.shift or least_shift(here.rates, slacks, equations)
    except Undecided:
        return
    if shift is None:
        return
    rates = here.rates
    last = here.first_input + len(costly.move)
    sizes = {key: last + position for position, key in enumerate([*rates, *costly.move])}
    system = [Halfspace(item.coefficients, item.constant) for item in (*here.slacks, *inside)]
    system += absolute_value_bounds(sizes)
    for (key, moved), values in zip(costly.move.items(), choices, strict=True):
        if values is not None:
            ends = min(values) - min(moved, _ZERO), max(values) - max(moved, _ZERO)
            system += [Halfspace(((key, _ONE),), -ends[0]), Halfspace(((key, -_ONE),), ends[1])]
    cost: dict[int, Fraction] = {sizes[key]: rate for key, rate in rates.items()}
    constant = _ZERO
    for weight, item in zip(shift.inequality_multipliers, here.slacks, strict=True):
        constant += weight * item.constant
        for key, c in item.coefficients:
            if key >= here.first_input:
                cost[key] = cost.get(key, _ZERO) + weight * c
    for weight, (_, form) in zip(shift.equation_multipliers, here.reals, strict=True):
        for key, c in form.coefficients:
            if key < here.first_input:
                cost[key] = cost.get(key, _ZERO) - weight * c
    small = Halfspace(sorted_terms({sizes[key]: _ONE for key in costly.move}), _ZERO)
    try:
        best = minimum(Halfspace(sorted_terms(cost), constant), system, then=[small])
    except Undecided:
        return
    if isinstance(best, Least):
        yield best.point


def near_outputs(
    program: Program, here: AlignedExit, one: Input, two: Input, noises: Mapping[int, Fraction]
) -> Iterator[Candidate]:
    """Yield candidates of `program` at the inputs `one` and `two`, for intervals of real and int outputs.

    The intervals are around the outputs of the exit `here` for these `noises`, which have values by key.
    """
    slots = program.core.slots
    finite: dict[str, str | None] = {
        slots[slot].name: show_value(value)
        for slot, value in here.state.outputs.items()
        if value is not None and not isinstance(value, Affine)
    }
    centers: dict[str, Fraction] = {}
    for slot, form in here.reals:
        center = form.value({key: noises.get(key, _ZERO) for key, _ in form.coefficients})
        centers[slots[slot].name] = Fraction(floor(center)) if slots[slot].type is BaseType.INT else center
    signs = dict(zip(centers, _signs(here, one, two), strict=True))
    for side in (-WIDTH_OF_OUTPUTS, _ZERO, WIDTH_OF_OUTPUTS):
        middles = {name: center + signs[name] * side for name, center in centers.items()}
        yield from _within_intervals(program, one, two, finite, middles)


def _within_intervals(
    program: Program, one: Input, two: Input, finite: Texts, middles: Mapping[str, Fraction]
) -> Iterator[Candidate]:
    """Yield one candidate: the `finite` outputs of `program`, and short intervals of real and int outputs.

    A candidate has the probabilities of an output at two inputs, here `one` and `two`. `middles` has the middle of each
    interval, by the output's name. Nothing is yielded if the probability at `one` is 0 or equal to that at `two`, or if
    a limit is reached.
    """
    points = texts(program, one), texts(program, two)
    output = {**finite, **{name: str(middle) for name, middle in middles.items()}}
    with suppress(Undecided):
        first, second = (program.closed_probability(u, output, WIDTH_OF_OUTPUTS).value for u in points)
        if first != second and not fraction_of(first)[0].is_zero():
            balls = {name: (middle - WIDTH_OF_OUTPUTS, middle + WIDTH_OF_OUTPUTS) for name, middle in middles.items()}
            yield Candidate(*points, finite, balls, first, second)


def _signs(here: AlignedExit, one: Input, two: Input) -> list[int]:
    """Return a sign for each real output of the exit `here`, when the inputs move from `one` to `two`.

    The sign is -1 if the output moves in the opposite direction to the first output that moves, else 1.
    """
    moved: list[Fraction] = []
    for _, form in here.reals:
        change = _ZERO
        for key, c in form.coefficients:
            if key >= here.first_input:
                first, second = one[key - here.first_input], two[key - here.first_input]
                assert isinstance(first, Fraction)
                assert isinstance(second, Fraction)
                change += c * (second - first)
        moved.append(change)
    first_moved = next((change for change in moved if change), _ONE)
    return [-1 if change * first_moved < 0 else 1 for change in moved]


#: The width of the enclosure of a supremum that is not a limit at 0 or at infinity.
WIDTH = Fraction(1, 64)

#: From this lower bound on, the code checks whether the constant is infinite.
_MANY = 1024

#: The digits of a lower bound at one eps, and the values of eps that are tried.
_DIGITS = 12
_SAMPLES = tuple(map(Fraction, ("1/100", "1/10", "1", "2", "5", "10", "30")))


@frozen
class Constant(PrivacyAnswer):
    """The least constant K of K·eps-privacy, or a lower and an upper bound of it.

    The program is K·eps-private for every K >= `proved`, and for no K < `refuted_below`. `intervals` are those of eps,
    and `eps` is their text. `proved` is None if no K is known, and `refuted_below` is None if every K is refuted. `at`
    is the counterexample, a pair with an output; None if no K is refuted. `reason` is why the bounds differ or are
    infinite. `numbers` are the values of a program's constant that the answer covers.
    """

    FIELDS = (
        f"{PrivacyAnswer.HEAD} eps pairs constant(proved:limit refuted_below:limit input=at.input adjacent=at.adjacent "
        "output=at.output exact balls=at.balls:text+) reason for_all=numbers?"
    )

    eps: str
    proved: Fraction | None
    refuted_below: Fraction | None
    at: Candidate | None
    reason: str | None = None
    numbers: Numbers | None = None
    #: The intervals of eps; empty if no example is to be looked for.
    intervals: tuple[Interval, ...] = ()

    @property
    def example(self) -> tuple[Fraction, Fraction] | None:
        """(A constant a little below `refuted_below`, an eps at which `at` refutes it); None if no eps is found.

        The eps is a power of 2 between 2^-12 and 2^12, as near to 1 as possible.
        """
        if self.at is None or not self.refuted_below:
            return None
        less = self.refuted_below * _SOMEWHAT_LESS
        for exponent in sorted(range(-_MOST_DOUBLINGS, _MOST_DOUBLINGS + 1), key=abs):
            eps = Fraction(2) ** exponent
            if any(eps in interval for interval in self.intervals):
                (low, _), (_, high) = self.at.first.enclosure(eps), self.at.second.enclosure(eps)
                if low > 0 and (high <= 0 or log_enclosure(low / high, low / high, 30)[0] > less * eps):
                    return less, eps
        return None

    @property
    def exact(self) -> bool:
        """True if both bounds are equal."""
        return self.proved == self.refuted_below


@frozen
class ConstantEnds:
    """The bounds of the least K of K·eps-privacy: it is at most `proved`, and at least `refuted_below`.

    `proved` is None if no upper bound is known, and `refuted_below` is None if every K is refuted. The candidate `at`
    refutes smaller constants. `reason` says why the bounds differ or are infinite.
    """

    proved: Fraction | None
    refuted_below: Fraction | None
    at: Candidate | None
    reason: str | None = None

    @property
    def exact(self) -> bool:
        """True if both bounds are equal."""
        return self.proved == self.refuted_below


#: A function from two probabilities to lower bounds of the supremum of log(first/second)/eps; None is infinity.
Values = Callable[[Closed, Closed, Sequence[Interval], Limits], Iterator[Fraction | None]]


def refuted_up_to(
    proved: Fraction | None, candidates: Sequence[Candidate], intervals: Sequence[Interval], limits: Limits
) -> ConstantEnds:
    """Return bounds of the least K of K·eps-privacy, whose lower bound is the greatest that `candidates` prove.

    `proved` is an upper bound of K on `intervals`, or None if none is known. Limits at eps = 0 and infinity are tried
    first; other eps are tried only if these limits prove less than `proved`. `limits` bound the work.
    """
    if proved is not None:
        ends = refuted_ends(candidates, intervals, limits, _limits, proved)
        if ends.refuted_below is None or ends.refuted_below >= proved:
            return ends
    return refuted_ends(candidates, intervals, limits)


def refuted_ends(
    candidates: Iterable[Candidate],
    intervals: Sequence[Interval],
    limits: Limits,
    values: Values | None = None,
    enough: Fraction | None = None,
) -> ConstantEnds:
    """Return a lower bound of the least K of K·eps-privacy on `intervals`, the greatest that `candidates` prove.

    The result has no upper bound, and names the candidate that proves the lower one. `values` is called with both
    probabilities of a candidate. It yields numbers such that the candidate refutes every constant below them; None is
    infinity. By default, it compares the probabilities at a few eps of each interval, and in the limit at 0 and
    infinity. The search ends as soon as a number is at least `enough`. `limits` bound the work.
    """
    best, refuting = Fraction(0), None
    for candidate in candidates:
        if enough is not None and best >= enough:
            break
        for value in (values or _below)(candidate.first, candidate.second, intervals, limits):
            if value is None:
                return ConstantEnds(None, None, candidate)
            if value > best:
                best, refuting = value, candidate
    return ConstantEnds(None, best, refuting)


def constant_of_candidates(
    candidates: Sequence[Candidate], intervals: tuple[Interval, ...], engine: Engine, digits: int | None = None
) -> ConstantEnds:
    """Return the bounds of the least constant on `intervals` if `candidates` are all outputs at all pairs.

    If the constant is not a limit at eps = 0 or infinity, it is enclosed to `digits` significant digits. If `digits` is
    None, the enclosure has at most the width WIDTH instead. `engine` decides inequalities. Raises Undecided if no such
    bounds are found.
    """
    limits = engine.limits
    at_limits = refuted_ends(candidates, intervals, limits, _limits)
    best = at_limits.refuted_below
    if best is None:
        return at_limits
    failing = _failing(candidates, best, intervals, engine)
    if not failing:
        return replace(at_limits, proved=best)
    # Only candidates that refute `best` matter from here on: the others refute no greater constant.
    low, high, is_finite = best, max(best, WIDTH) * 2, False
    while still := _failing(failing, high, intervals, engine):
        failing, low, high = still, high, high * 2
        if low >= _MANY and not is_finite:
            poles = (each for each in failing if _has_a_pole(each.first, each.second, intervals, limits))
            if (infinite := next(poles, None)) is not None:
                return ConstantEnds(None, None, infinite)
            is_finite = True
    witness = failing[0]
    while high - low > (WIDTH if digits is None else high / 10**digits):
        middle = (low + high) / 2
        if high - low > 2 * WIDTH:
            middle = round(middle / WIDTH) * WIDTH
        elif digits is not None:
            middle = _short(low, high)
        try:
            still = _failing(failing, middle, intervals, engine)
        except Undecided:
            break  # A limit of work allows no narrower enclosure.
        if still:
            failing, low, witness = still, middle, still[0]
        else:
            high = middle
    closer = refuted_ends(failing, intervals, limits)
    if closer.refuted_below is None or closer.refuted_below > low:
        return ConstantEnds(high, closer.refuted_below, closer.at)
    return ConstantEnds(high, low, witness)


def _has_a_pole(first: Closed, second: Closed, intervals: Sequence[Interval], limits: Limits) -> bool:
    """Return True if `first`/`second` is unbounded near some eps > 0 in, or at an end of, the `intervals`.

    The poles are the roots of the denominator in lowest terms. `limits` are the limits of the work. Raises Undecided.
    """
    (above, below), (over, under) = fraction_of(first), fraction_of(second)
    divisor = ReducedQuotient.from_fraction(above * under, below * over).denominator
    for interval in intervals:
        closed = replace(interval, lower_closed=interval.lower > 0, upper_closed=interval.upper is not None)
        if isolate_roots(divisor, closed, limits):
            return True
    return False


def _short(low: Fraction, high: Fraction) -> Fraction:
    unit = Fraction(1)
    while 4 * unit > high - low:
        unit /= 10
    return round((low + high) / 2 / unit) * unit


def _failing(
    candidates: Sequence[Candidate], factor: Fraction, intervals: tuple[Interval, ...], engine: Engine
) -> list[Candidate]:
    refuting = []
    for candidate in candidates:
        decision = engine.decide(at_most(candidate.first, candidate.second * power(factor), intervals))
        if decision.verdict is Verdict.UNDECIDED:
            raise Undecided(decision.reason or "")
        if decision.verdict is Verdict.INACCURATE:
            refuting.append(candidate)
    return refuting


def _below(first: Closed, second: Closed, intervals: Sequence[Interval], limits: Limits) -> Iterator[Fraction | None]:
    """Yield lower bounds of the supremum of log(`first`/`second`)/eps over the `intervals`; None is infinity.

    `limits` are the limits of the work.
    """
    yield from _limits(first, second, intervals, limits)
    for interval in intervals:
        ends = [end for end in (interval.lower, interval.upper) if end is not None and end in interval]
        for eps in {*ends, interval.inner_point, *[sample for sample in _SAMPLES if sample in interval]}:
            if fraction_of(first)[0].value_is_zero(eps):
                continue
            if fraction_of(second)[0].value_is_zero(eps):
                yield None
                continue
            low = loss_enclosure(first, second, eps, _DIGITS)[0] / eps
            if low > 0:
                yield round_down(low, _DIGITS)


def _limits(first: Closed, second: Closed, intervals: Sequence[Interval], limits: Limits) -> Iterator[Fraction | None]:
    """Yield each positive limit of log(`first`/`second`)/eps, at 0 and at infinity, if the `intervals` reach there.

    None is infinity. `first` is not zero. `limits` bound the work.
    """
    if fraction_of(second)[0].is_zero():
        yield None
        return
    if any(interval.upper is None for interval in intervals):
        growth = exponent_of(first) - exponent_of(second)
        if growth > 0:
            yield growth
    if any(not interval.lower for interval in intervals):
        (above, below), (over, under) = fraction_of(first), fraction_of(second)
        ratio = limit_at_zero(above * under, below * over, limits)
        if not isinstance(ratio, Fraction) or ratio > 1:
            yield None
        elif ratio == 1:
            # log(1 + x) = x to first order.
            slope = limit_at_zero(above * under - below * over, below * over * ExpPoly.term(1, 1), limits)
            assert isinstance(slope, Fraction), "both sides have the same value at 0"
            if slope > 0:
                yield slope


def exponent_of(value: Closed) -> Fraction:
    """Return the rate q at which `value` grows like e^(q·eps), up to a power of eps, as eps tends to infinity."""
    numerator, denominator = fraction_of(value)
    return leading_at_infinity(numerator)[0][0] - leading_at_infinity(denominator)[0][0]

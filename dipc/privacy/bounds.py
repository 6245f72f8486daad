"""What is known of the loss at pairs whose outputs cannot be listed: a bound from above by alignment, and candidates
that may refute a smaller one."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product

from dipc.algebra.limits import LimitReached, Undecided
from dipc.chain.symbolic import is_symbolic
from dipc.exits.program import Program
from dipc.lang.core import RealType
from dipc.obligations.engine import Engine
from dipc.privacy.adjacency import Distance, Within
from dipc.privacy.aligned_exits import AlignedExit, Emptiness, aligned_exits, onto_others
from dipc.privacy.alignment import Costly, ball_of, costliest, integer_cost
from dipc.privacy.from_below import Candidate, near_outputs, of_table, starting_pairs
from dipc.privacy.laws import law_table
from dipc.privacy.pairs import Input, Pairs
from dipc.privacy.pivot import pivot_cost

#: Exits, and pairs for each of them, that are looked at from below; inputs of a grid that is looked at where nothing
#: better is known.
_EXITS, _PAIRS, _GRID = 12, 8, 81


@dataclass(frozen=True, slots=True)
class LossBounds:
    """The loss is at most proved·eps for every eps > 0 (None: nothing is proved, and `reason` says why); the candidates
    are probabilities at some of the pairs."""

    proved: Fraction | None
    reason: str | None
    candidates: tuple[Candidate, ...]

    @property
    def proof(self) -> str:
        """How the bound is proved, in words."""
        return "shifts of the noises, for each exit and each extreme move of the inputs"


_NO_SHIFT = "no shift of the noises maps an exit into itself for every move of the inputs"


def bounds_for_every_pair(program: Program, within: Within, engine: Engine) -> LossBounds:
    """The bounds for all adjacent real inputs."""
    finite = _finite_outputs(program)
    try:
        every = aligned_exits(program)
        ball = Within(Distance.L1, within.radius) if within.distance is Distance.HAMMING else within
        costly = [costliest(found, ball, program) for found in every]
    except Undecided as undecided:
        pairs = _grid_pairs(program, within) if finite else None
        found = () if pairs is None else tuple(_at(program, pairs, engine))
        return LossBounds(None, undecided.reason, found)
    costly.sort(key=_order, reverse=True)
    proved, reason = _least_bound(costly, ball, program), None
    if proved is None:
        reason = _NO_SHIFT
    elif within.distance is Distance.HAMMING and proved:
        # One input may differ by anything, and the cost grows with it.
        proved, reason = None, "the cost of a shift grows with the move of an input, and no move is the greatest"
    if finite:
        chosen = [pair for each in costly[:_EXITS] for _, *pair in islice(starting_pairs(program, each), _PAIRS)]
        ordered = list(dict.fromkeys((one, two) for one, two in chosen))
        return LossBounds(proved, reason, tuple(_at(program, _pairs_of(ordered), engine)))
    near: list[Candidate] = []
    for each in costly[:_EXITS]:
        for at, one, two in islice(starting_pairs(program, each), _PAIRS):
            near += near_outputs(program, each.exit, one, two, at)
    return LossBounds(proved, reason, tuple(near))


def _least_bound(costly: Sequence[Costly], within: Within, program: Program) -> Fraction | None:
    """The largest cost, None for infinity: that of each exit, or where it is less of all with one likeness by a pivot.
    The costliest exits come first. Raises NotConfirmed."""
    alike: dict[Hashable, list[Costly]] = {}
    for each in costly:
        alike.setdefault(each.exit.likeness, []).append(each)
    bound = Fraction(0)
    for group in alike.values():
        worst = group[0].cost
        if worst is not None and worst <= bound:
            break  # nor do the others cost more
        costs = (worst, _pivoted([each.exit for each in group], within, program))
        known = [cost for cost in costs if cost is not None]
        if not known:
            return None
        bound = max(bound, min(known))
    return bound


def _order(each: Costly) -> tuple[bool, Fraction]:
    return each.cost is None, each.cost or Fraction(0)


def _pivoted(exits: Sequence[AlignedExit], within: Within, program: Program) -> Fraction | None:
    """A bound by a pivot for all exits of one likeness; None where there is none."""
    core = program.core
    if len(exits) == 1 or not all(isinstance(core.slots[slot].type, RealType) for slot in core.inputs):
        return None
    try:
        return pivot_cost(exits, len(core.inputs), ball_of(within), within.radius, Emptiness(program, exits[0]))
    except LimitReached:
        return None


def bounds_at_pairs(program: Program, pairs: Pairs) -> LossBounds:
    """The bounds for these pairs of a program with real or int outputs."""
    proved: Fraction | None = Fraction(0)
    reason = None
    near: list[Candidate] = []
    core = program.core
    places = [(at, slot) for at, slot in enumerate(core.inputs) if not is_symbolic(core.slots[slot].type)]
    numbers = [at for at, slot in enumerate(core.inputs) if is_symbolic(core.slots[slot].type)]
    known: dict[Hashable, tuple[AlignedExit, ...]] = {}

    def exits_at(point: Input) -> tuple[AlignedExit, ...]:
        """Those for the finite inputs of a point."""
        finite = {slot: point[at] for at, slot in places}
        key = tuple([(isinstance(value, bool), value) for value in finite.values()])
        if key not in known:
            known[key] = aligned_exits(program, finite)
        return known[key]

    for i, j in pairs.ordered:
        one, two = pairs.inputs[i], pairs.inputs[j]
        try:
            every, others = exits_at(one), exits_at(two)
        except Undecided as undecided:
            return LossBounds(None, undecided.reason, tuple(near))
        onto: Sequence[tuple[AlignedExit, AlignedExit | None]]
        try:
            onto = [(found, found) for found in every] if every is others else list(onto_others(every, others))
        except Undecided as undecided:
            proved, reason, onto = None, undecided.reason, [(found, None) for found in every]
        for found, other in onto:
            start = {found.first_input + at: one[at] for at in numbers}
            near += near_outputs(program, found, one, two, start)  # type: ignore[arg-type]
            if other is None:
                continue
            move: dict[int, Fraction] = {found.first_input + at: two[at] - one[at] for at in numbers}  # type: ignore[operator, misc]
            try:
                cost = integer_cost(found, move, program.limits, other)
            except Undecided as undecided:
                proved, reason = None, undecided.reason
                continue
            if cost is None:
                proved, reason = None, _NO_SHIFT
            elif proved is not None:
                proved = max(proved, cost)
    return LossBounds(proved, reason, tuple(near))


def _finite_outputs(program: Program) -> bool:
    slots = program.core.slots
    return not any(is_symbolic(slots[slot].type) for slot in program.core.outputs)


def _at(program: Program, pairs: Pairs, engine: Engine) -> Iterator[Candidate]:
    try:
        table = law_table(program, pairs.inputs, engine)
    except Undecided:
        return
    yield from of_table(program, table, pairs)


def _pairs_of(ordered: list[tuple[Input, Input]]) -> Pairs:
    points = tuple(dict.fromkeys(point for pair in ordered for point in pair))
    place = {point: at for at, point in enumerate(points)}
    return Pairs(points, tuple((place[one], place[two]) for one, two in ordered), "all real inputs")


def _grid_pairs(program: Program, within: Within) -> Pairs | None:
    """Adjacent inputs of a small grid; None where there is none."""
    core = program.core
    if not all(is_symbolic(core.slots[slot].type) for slot in core.inputs):
        return None
    for values in ((-_STEP, Fraction(0), _STEP), (Fraction(0), _STEP)):
        if len(values) ** len(core.inputs) <= _GRID:
            points = list(product(values, repeat=len(core.inputs)))
            return _pairs_of([(one, two) for one in points for two in points if within.relates(one, two)])
    return None


_STEP = Fraction(1)

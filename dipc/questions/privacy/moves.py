"""Moves between adjacent inputs as convex sets, and those between two inputs that both satisfy `requires`.

The condition `requires` is a union of convex sets. For two of these sets, A and B, and a convex set P of moves to
adjacent inputs, the moves are D = { d in P : u in A and u + d in B for some u }, which is convex. The cost of a shift
is convex in the move and continuous where it is finite, so that its supremum on D is attained at a corner of the
closure of D. If D is unbounded, or has too many corners to list, its extreme moves are not known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import ceil, comb, floor

from dipc.algebra.limits import LimitReached, Undecided
from dipc.linear.halfspace import Halfspace, absolute_value_bounds, weighted_sum
from dipc.linear.program import Infeasible, Least, corners, integer_solution, is_bounded_on, minimum, solution
from dipc.program.program import Program
from dipc.questions.privacy.adjacency import Distance, Input, Move, Neighborhood
from dipc.text.ast import BaseType

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The greatest numbers of half-spaces in a projection, and of systems of equations solved for its corners.
_MOST_SIDES, _MOST_SYSTEMS = 300, 5_000

#: The part of the way towards an inner point by which a corner is moved if no pair attains it.
_INWARDS = Fraction(1, 1024)


def convex_moves(within: Neighborhood, moves: range) -> Iterator[list[Halfspace]]:
    """Yield convex sets whose union is the set of moves to inputs adjacent by `within`.

    In the half-spaces, `moves` are the keys of the inputs' moves. For L1 there are further unknowns, with the next
    keys, that bound the moves' absolute values. For HAMMING there is one set for each choice of the inputs that move.
    """
    signs, radius = (_ONE, -_ONE), within.radius
    match within.distance:
        case Distance.LINF:
            yield [Halfspace(((key, sign),), radius) for key in moves for sign in signs]
        case Distance.L1:
            sizes = {key: key + len(moves) for key in moves}
            total = Halfspace(tuple([(size, -_ONE) for size in sizes.values()]), radius)
            yield [*absolute_value_bounds(sizes), total]
        case Distance.HAMMING:
            for chosen in combinations(moves, min(int(radius), len(moves))):
                still = [key for key in moves if key not in chosen]
                yield [Halfspace(((key, sign),), _ZERO) for key in still for sign in signs]


@dataclass(frozen=True)
class _PairSet:
    """A set of pairs (u, u + d) of inputs: u is in a set A, u + d in a set B, and the move d in a set P.

    `system` has the half-spaces over u and d that describe these sets. The values of u have the first `count` keys, and
    those of d the next `count` keys. Further unknowns have the keys after these.
    """

    system: tuple[Halfspace, ...]
    count: int

    @property
    def moves(self) -> range:
        return range(self.count, 2 * self.count)

    @cached_property
    def inside(self) -> Mapping[int, Fraction] | None:
        """The values, by key, of a pair that satisfies all half-spaces; None if there is none."""
        found = solution(self.system, range(3 * self.count))
        return None if isinstance(found, Infeasible) else found

    def projection(self) -> list[Halfspace] | None:
        """Return half-spaces of the closure of the set of all moves d, by Fourier-Motzkin elimination.

        The result is None if there are too many half-spaces.
        """
        system = [item.closure() for item in self.system]
        further = {key for item in system for key, _ in item.coefficients if key >= 2 * self.count}
        for key in (*sorted(further), *range(self.count)):
            system = _eliminated(key, system)
            if len(system) > _MOST_SIDES:
                return None
        needed: list[Halfspace] = []
        for index, item in enumerate(system):
            least = minimum(item, [*needed, *system[index + 1 :]])
            if not isinstance(least, Least) or least.value < 0:
                needed.append(item)
        return needed


def _eliminated(key: int, system: Sequence[Halfspace]) -> list[Halfspace]:
    """Return closed half-spaces of the points for which some value of the unknown `key` satisfies `system`.

    The half-spaces of `system` are closed first.
    """
    lower = [item for item in system if item.coefficient(key) > 0]
    upper = [item for item in system if item.coefficient(key) < 0]
    result: dict[tuple[tuple[int, Fraction], ...], Halfspace] = {}
    combined = [
        weighted_sum((one, other), {0: -other.coefficient(key), 1: one.coefficient(key)})
        for one, other in product(lower, upper)
    ]
    for item in [*(item for item in system if not item.coefficient(key)), *combined]:
        size = sum((abs(c) for _, c in item.coefficients), _ZERO)
        if not size:
            continue  # The system has a solution.
        scaled = Halfspace(tuple([(k, c / size) for k, c in item.coefficients]), item.constant / size)
        known = result.get(scaled.coefficients)
        if known is None or scaled.constant < known.constant:
            result[scaled.coefficients] = scaled
    return list(result.values())


class AllowedMoves:
    """The moves between adjacent inputs that satisfy `requires`, for a program without finite inputs."""

    def __init__(self, program: Program, within: Neighborhood) -> None:
        core, allowed = program.core, program.allowed
        assert allowed is not None, "moves are restricted by `requires`"
        assert core.has_open_inputs, "moves are computed for real and int inputs only"
        self._program = program
        self._within = within
        self._count = len(core.inputs)
        place = {slot: position for position, slot in enumerate(core.inputs)}
        self._sets = [
            [
                replace(guard.guard, coefficients=tuple(sorted((place[slot], c) for slot, c in guard.form.inputs)))
                for guard in guards
            ]
            for guards in allowed.sets({})
        ]
        self._integers = frozenset(
            position for position, slot in enumerate(core.input_slots) if slot.type is BaseType.INT
        )

    # --- sets of pairs ------------------------------------------------------------------------------------

    def both_inside(self, first: int, moved: int) -> list[list[Halfspace]]:
        """Return systems of half-spaces whose union is the set of pairs (u, u + d) of inputs that satisfy `requires`.

        The keys of u begin at `first`, those of d at `moved`.
        """

        def keyed(items: Sequence[Halfspace], *starts: int) -> list[Halfspace]:
            every = [[(start + place, c) for start in starts for place, c in item.coefficients] for item in items]
            return [replace(item, coefficients=tuple(terms)) for item, terms in zip(items, every, strict=True)]

        pairs = product(self._sets, repeat=2)
        return [[*keyed(here, first), *keyed(there, first, moved)] for here, there in pairs]

    @cached_property
    def _pairs(self) -> list[_PairSet]:
        count = self._count
        balls = list(convex_moves(self._within, range(count, 2 * count)))
        every = [_PairSet((*both, *ball), count) for both in self.both_inside(0, count) for ball in balls]
        return [pairs for pairs in every if pairs.inside is not None]

    @property
    def is_empty(self) -> bool:
        """True if no two different allowed inputs are adjacent; False if some are, or if this is not known."""
        if len(self._integers) == self._count:
            with suppress(Undecided):
                return not any(any(move.values()) for move in self._whole_moves())
        return all(self._is_still(pairs) for pairs in self._pairs)

    def _is_still(self, pairs: _PairSet) -> bool:
        for key in pairs.moves:
            for sign in (_ONE, -_ONE):
                least = minimum(Halfspace(((key, sign),), _ZERO), pairs.system)
                if not isinstance(least, Least) or least.value < 0:
                    return False
        return True

    # --- extreme moves ------------------------------------------------------------------------------------

    @cached_property
    def extreme(self) -> tuple[Move, ...] | None:
        """Moves among which each convex cost has its supremum over all allowed moves; for int inputs, all moves.

        A move of real inputs may be a limit of allowed moves. The result is None if the moves are unbounded, have too
        many corners, or are those of real and int inputs together. Raises LimitReached for too many moves of int
        inputs.
        """
        if self._integers:
            return tuple(self._whole_moves()) if len(self._integers) == self._count else None
        found: dict[tuple[Fraction, ...], Move] = {}
        for pairs in self._pairs:
            corners_of = self._corners(pairs)
            if corners_of is None:
                return None
            for move in corners_of:
                found.setdefault(tuple(move[place] for place in range(self._count)), move)
        return tuple(found.values())

    def _corners(self, pairs: _PairSet) -> list[Move] | None:
        if not all(is_bounded_on(Halfspace(((key, _ONE),), _ZERO), pairs.system) for key in pairs.moves):
            return None
        sides = pairs.projection()
        if sides is None or comb(len(sides), self._count) > _MOST_SYSTEMS:
            return None
        ends = corners(sides, list(pairs.moves))
        return [{place: point[self._count + place] for place in range(self._count)} for point in ends]

    def _whole_moves(self) -> Iterator[Move]:
        """Yield all moves of int inputs between two allowed inputs. Raises LimitReached, and Undecided."""
        limits, most = self._program.limits, self._program.limits.moves
        whole = frozenset(range(2 * self._count))
        tried = 0
        seen: set[tuple[int, ...]] = set()
        for pairs in self._pairs:
            ranges: list[range] = []
            for key in pairs.moves:
                ends = [minimum(Halfspace(((key, sign),), _ZERO), pairs.system) for sign in (_ONE, -_ONE)]
                low, high = ends
                if not isinstance(low, Least) or not isinstance(high, Least):
                    raise LimitReached("moves", "the moves of the int inputs are unbounded")
                ranges.append(range(ceil(low.value), floor(-high.value) + 1))
            for values in product(*ranges):
                tried += 1
                if tried > most:
                    raise LimitReached("moves", f"there are more than {most} moves of the inputs to look at")
                move = dict(zip(pairs.moves, map(Fraction, values), strict=True))
                system = [item.with_values(move) for item in pairs.system]
                if values not in seen and integer_solution(system, whole, limits.branches) is not None:
                    seen.add(values)
                    yield dict(enumerate(map(Fraction, values)))

    # --- pairs that make a move -----------------------------------------------------------------------------

    def making(self, move: Move) -> Iterator[tuple[Input, Input]]:
        """Yield pairs of allowed inputs that differ by `move`, or approximately so if no pair differs by it exactly."""
        count = self._count
        shift = {count + place: step for place, step in move.items()}
        found = False
        for pairs in self._pairs:
            here = self._point([item.with_values(shift) for item in pairs.system])
            if here is not None:
                found = True
                yield here, tuple([value + move[place] for place, value in enumerate(here)])
        for pairs in self._pairs if not found and not self._integers else ():
            inner = pairs.inside
            assert inner is not None, "no set of pairs is empty"
            near = {key: shift[key] + _INWARDS * (inner[key] - shift[key]) for key in pairs.moves}
            here = self._point([item.with_values(near) for item in pairs.system])
            if here is not None:
                yield here, tuple([value + near[count + place] for place, value in enumerate(here)])

    def exactly_making(self, move: Move) -> tuple[Input, Input] | None:
        """Return a pair of allowed inputs that differ by `move`; None if there is none."""
        for one, two in self.making(move):
            if all(b - a == move[place] for place, (a, b) in enumerate(zip(one, two, strict=True))):  # type: ignore[operator]
                return one, two
        return None

    def _point(self, system: Sequence[Halfspace]) -> tuple[Fraction, ...] | None:
        keys = range(self._count)
        if self._integers:
            point = integer_solution(list(system), self._integers, self._program.limits.branches)
            return None if point is None else tuple([point.get(key, _ZERO) for key in keys])
        found = solution(list(system), keys)
        return None if isinstance(found, Infeasible) else tuple([found[key] for key in keys])

"""The extreme moves between two adjacent inputs of a box, and the sensitivity of sums of inputs.

A program that reads inputs only through clamps has the loss of a program with inputs in a box (`program.clipped`). A
box may be unbounded, such as the box of all inputs.

For one exit the least cost of a shift is a convex function of the move d.
It depends on d through the exit's forms, which are inequalities and equations in noises and d. Inputs whose columns of
coefficients in all forms are multiples of one column are a *group*: only the sum s = Σ w_i·d_i of the group counts.

**Moves.** The convex hull of the moves is { d : Σ |d_i|/u_i <= r, |d_i| <= c_i }:

- linf:r has c_i = min(r, width of i), and no bound on the sum;
- l1:r has c_i the width, and u_i = 1;
- hamming:k has c_i = u_i the width and r = k: its extreme points have k coordinates at ±c_i.

**Lemma.** A convex cost has its maximum over the moves where each group g has the sum ±f(b_g) of its best move with a
budget b_g.

1. With a budget b the sum of a group is at most f(b), the greatest Σ |w_i|·|d_i|. This is a knapsack whose parts may be
   divided, so that the best inputs are filled first.
2. f is concave, and linear between the budgets at which an input is full.
3. So at an extreme point all budgets b_g but one are budgets at which an input is full. The whole budget is spent, or
   all inputs are full.

Each of these moves is the difference of two inputs of the box, as |d_i| is at most the width of i. So a measured pair
can show that the bound is attained.

**Int inputs** move by integers. Each group has either int or real inputs. For the int groups, moves are listed for each
way in which their sums can change. With each of these moves, the moves of the real groups are those of the lemma, for
the part of the radius that is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import floor

from dipc.algebra.limits import LimitReached, Limits, OutsideFragment
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.program.clipped import EVERYTHING, Clipped, Extent
from dipc.questions.privacy.adjacency import Distance, Move, Neighborhood

_ZERO, _ONE = Fraction(0), Fraction(1)


@frozen
class _Group:
    """Inputs that affect an exit only through one weighted sum of them.

    The inputs have the indices `places` and, in the sum, the factors `weights`. An adjacency has a radius, of which the
    moves of the inputs use up parts. The i-th input moves by steps[i] per unit of the radius that it uses up. It uses
    up budgets[i] when it moves as far as it can alone; None if that is without limit. Inputs with the greatest
    |weight|·step come first.

    `one_sign` is 1 if all inequalities of the exit grow with the sum, -1 if all fall; then one direction of the sum is
    the worst. Otherwise it is 0.
    """

    places: tuple[int, ...]
    weights: tuple[Fraction, ...]
    steps: tuple[Fraction, ...]
    budgets: tuple[Fraction | None, ...]
    one_sign: int

    def filled(self, budget: Fraction | None) -> dict[int, Fraction]:
        """Return the move with the greatest weighted sum among the moves that spend at most `budget` of the radius.

        The move maps the index of each input that moves to its change. None for `budget` lets each input move as far as
        it can alone.
        """
        move: dict[int, Fraction] = {}
        for place, weight, step, whole in zip(self.places, self.weights, self.steps, self.budgets, strict=True):
            part = whole if budget is None or (whole is not None and whole <= budget) else budget
            assert part is not None, "every input has a range, or the moves are bounded"
            if part:
                move[place] = part * step * (1 if weight > 0 else -1)
            budget = None if budget is None else budget - part
        return move

    def farthest(self, radius: Fraction) -> list[int]:
        """Return the greatest integer by which each input can move alone, if the adjacency has this `radius`."""
        return [
            floor(step * (radius if whole is None else min(whole, radius)))
            for step, whole in zip(self.steps, self.budgets, strict=True)
        ]

    @property
    def ends(self) -> list[Fraction]:
        """The parts of the radius used up when the first 0, 1, 2, … inputs of this group move over their whole ranges.

        The first part is 0. The list stops before the first input with an unbounded range.
        """
        result = [_ZERO]
        for whole in self.budgets:
            if whole is None:
                break
            result.append(result[-1] + whole)
        return result


#: The coefficients of a form, by the positions of the inputs.
Form = Mapping[int, Fraction]


def extreme_moves(
    inequalities: Sequence[Form], equations: Sequence[Form], box: Clipped, within: Neighborhood
) -> list[Move]:
    """Return moves between two inputs of `box`, among them one with the greatest cost.

    The cost is any function of the values of the forms `inequalities` and `equations` that is convex in the moves of
    real inputs and does not fall when a form of `inequalities` falls. The two inputs are adjacent by `within`. Raises
    OutsideFragment if moves are unbounded under HAMMING, LimitReached past one of the program's limits.
    """
    integers, limits = box.integers, box.program.limits
    groups = _groups(inequalities, equations, box, within)
    real = [group for group in groups if not integers.intersection(group.places)]
    whole = [group for group in groups if group not in real]
    still = dict.fromkeys(range(len(box.ranges)), _ZERO)
    moves: list[Move] = []
    for begun in _whole_moves(whole, within, limits):
        spent = _spent(begun, within)
        assert spent is not None, "a move leads to an adjacent input"
        ends = [{**begun, **move} for move in _real_moves(real, within, within.radius - spent, limits)]
        moves += [still | move for move in ends if not whole or any(move.values())]
        if whole and len(moves) > limits.moves:
            raise LimitReached("moves", f"there are more than {limits.moves} moves of the inputs to look at")
    if all(side == EVERYTHING for side in box.ranges):
        # Of equally bad moves the first is measured: int inputs move down first, then the first real input up.
        reals = [place for place in range(len(box.ranges)) if place not in integers]
        moves.sort(key=lambda move: ([move[i] for i in sorted(integers)], [(not move[i], move[i] < 0) for i in reals]))
    return moves


def _real_moves(groups: Sequence[_Group], within: Neighborhood, radius: Fraction, limits: Limits) -> list[Move]:
    """Return the extreme moves of the real inputs of `groups`, which may use up `radius` as the radius of `within`.

    Raises LimitReached for more moves than `limits` allows.
    """
    moves: list[Move] = []
    for budgets in _budgets(groups, within, radius, limits):
        # Each group moves up or down; one whose worst direction is known moves in this direction alone.
        directions: list[list[Move]] = []
        for group, budget in zip(groups, budgets, strict=True):
            part = group.filled(budget)
            signs = (-group.one_sign,) if group.one_sign else (1, -1)
            directions.append([{place: sign * step for place, step in part.items()} for sign in signs if part] or [{}])
        moves += [{place: step for part in chosen for place, step in part.items()} for chosen in product(*directions)]
        if len(moves) > limits.vertices:
            raise _too_many(limits)
    return moves


def _too_many(limits: Limits) -> LimitReached:
    return LimitReached("vertices", f"the adjacent inputs have more than {limits.vertices} extreme moves")


def _budgets(
    groups: Sequence[_Group], within: Neighborhood, radius: Fraction, limits: Limits
) -> list[tuple[Fraction | None, ...]]:
    """Return, for each extreme move, the parts of `radius` that each of the `groups` of inputs uses up.

    None in place of a part means that each input of the group moves as far as it can alone. The moves lead to inputs
    adjacent by `within`. Raises LimitReached for more moves than `limits` allows.
    """
    if within.distance is Distance.LINF:
        return [(None,) * len(groups)]
    ends = [group.ends for group in groups]
    full = [None if None in group.budgets else own[-1] for group, own in zip(groups, ends, strict=True)]
    known = [end for end in full if end is not None]
    if len(known) == len(full) and sum(known, _ZERO) <= radius:
        return [tuple(full)]
    # In each group the first few inputs move over their whole ranges, and the others do not move.
    every: list[tuple[tuple[Fraction, ...], Fraction]] = [((), radius)]
    for own in ends:
        every = [((*spent, end), left - end) for spent, left in every for end in own if end <= left]
        if len(every) > limits.vertices:
            raise _too_many(limits)
    # One group uses up what is left of the radius.
    found: list[tuple[list[tuple[bool, Fraction]], tuple[Fraction | None, ...]]] = []
    for spent, left in every:
        for place in range(len(groups)) if left else [None]:
            budgets = list(spent)
            if place is not None:
                budgets[place] += left
                later = next((end for end in ends[place] if end > spent[place]), full[place])
                if spent[place] == full[place] or (later is not None and budgets[place] > later):
                    continue
            found.append(([(place == other, end) for other, end in enumerate(spent)], tuple(budgets)))
    return list(dict.fromkeys(budgets for _, budgets in sorted(found, key=lambda each: each[0])))


def _groups(
    inequalities: Sequence[Form], equations: Sequence[Form], box: Clipped, within: Neighborhood
) -> list[_Group]:
    """Return groups of inputs such that each form depends on the inputs of a group only through one weighted sum.

    The forms are `inequalities` and `equations`; inputs that no form depends on are left out. The inputs of a group are
    all int or all real. `box` has the range of each input, and `within` is the adjacency. Raises OutsideFragment for an
    unbounded range under HAMMING.
    """
    columns: dict[tuple[bool, tuple[Fraction, ...]], list[tuple[int, Fraction]]] = {}
    for place in range(len(box.ranges)):
        column = [form.get(place, _ZERO) for form in (*inequalities, *equations)]
        scale = next((c for c in column if c), None)
        if scale is not None:
            shape = tuple([c / scale for c in column])
            columns.setdefault((place in box.integers, shape), []).append((place, scale))
    groups = []
    for (_, shape), members in columns.items():
        known = [(place, weight, *_side(box.ranges[place], within)) for place, weight in members]
        known.sort(key=lambda each: (-abs(each[1]) * each[2], each[0]))
        places, weights, steps, budgets = zip(*known, strict=True)
        signs = {c > 0 for c in shape if c}
        one_sign = 0 if any(shape[len(inequalities) :]) or len(signs) > 1 else 1 if True in signs else -1
        groups.append(_Group(places, weights, steps, budgets, one_sign))
    return groups


def _side(side: Extent, within: Neighborhood) -> tuple[Fraction, Fraction | None]:
    """Return (step, budget) for an input with the range `side`; `within` is the adjacency, which has a radius.

    The input moves by the step per unit of the radius that it uses up; under HAMMING any move uses up 1. It uses up the
    budget when it moves as far as it can alone. Under L1 this is over its whole range; the budget is None if the range
    is unbounded. Under LINF the budget is at most the radius.
    """
    width = side.width
    match within.distance:
        case Distance.LINF:
            return _ONE, within.radius if width is None else min(within.radius, width)
        case Distance.L1:
            return _ONE, width
        case Distance.HAMMING:
            if width is None:
                raise OutsideFragment("the cost of a shift grows with the move of an input, and that move is unbounded")
            return width, _ONE


def _whole_moves(groups: Sequence[_Group], within: Neighborhood, limits: Limits) -> list[Move]:
    """Return moves of int inputs to adjacent inputs: at least one for each way in which the sums can change together.

    The sums are the weighted sums of inputs, one for each of `groups`. Inputs are adjacent by `within`. The move that
    changes no input is among the result. Raises LimitReached for more moves than `limits` allows.
    """
    every: list[Move] = [{}]
    for group in groups:
        one_size = within.distance is not Distance.HAMMING and len({abs(weight) for weight in group.weights}) == 1
        parts = [_sums(group, within)] if one_size else list(_of_each(group, within))
        for options in parts:
            every = [
                move for one, other in product(every, options) if _spent(move := {**one, **other}, within) is not None
            ]
            if len(every) > limits.moves:
                raise LimitReached("moves", f"there are more than {limits.moves} moves of the inputs to look at")
    return every


def _spent(move: Move, within: Neighborhood) -> Fraction | None:
    """Return the part of the radius of `within` that `move` uses up; None if the radius is too small."""
    if within.distance is Distance.LINF:
        return _ZERO
    hamming = within.distance is Distance.HAMMING
    part = sum((Fraction(bool(step)) if hamming else abs(step) for step in move.values()), _ZERO)
    return part if part <= within.radius else None


def _sums(group: _Group, within: Neighborhood) -> list[Move]:
    """Return one move of the int inputs of `group` for each change of their weighted sum that adjacency allows.

    The weights of the group are equal up to signs, and `within` is the adjacency.
    """
    result: list[Move] = [{}]
    move: Move = {}
    for place, weight, most in zip(group.places, group.weights, group.farthest(within.radius), strict=True):
        for size in range(1, most + 1):
            move = {**move, place: Fraction(size if weight > 0 else -size)}
            if _spent(move, within) is None:
                return result
            result += [move, {key: -step for key, step in move.items()}]
    return result


def _of_each(group: _Group, within: Neighborhood) -> Iterator[list[Move]]:
    for place, most in zip(group.places, group.farthest(within.radius), strict=True):
        yield [{place: Fraction(size)} for size in range(-most, most + 1)]


# --- pairs in the box -------------------------------------------------------------------------------------------------


def pairs_in(ranges: Sequence[Extent], first: int, moved: int) -> list[Halfspace]:
    """Return half-spaces that hold exactly if the inputs u and u + d are both in the box with the `ranges`.

    Keys of u begin at `first`, those of d at `moved`.
    """
    system = []
    for place, side in enumerate(ranges):
        for end, sign in ((side.low, _ONE), (side.high, -_ONE)):
            if end is not None:
                system.append(Halfspace(((first + place, sign),), -sign * end))
                system.append(Halfspace(((first + place, sign), (moved + place, sign)), -sign * end))
    return system


def placed(
    ranges: Sequence[Extent], start: Sequence[Fraction], move: Sequence[Fraction]
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return two inputs of the box with the `ranges` that differ by `move`: (the first, the first plus `move`).

    Of all these pairs, the result is the one whose first input is nearest to `start`.
    """
    one = []
    for side, value, step in zip(ranges, start, move, strict=True):
        low = None if side.low is None else side.low - min(step, _ZERO)
        high = None if side.high is None else side.high - max(step, _ZERO)
        one.append(Extent(low, high).nearest(value))
    return tuple(one), tuple([value + step for value, step in zip(one, move, strict=True)])

"""The privacy loss of clipped inputs: moves between two inputs of a box, and the sensitivity of sums of inputs.

A program that reads inputs only through clamps has the loss of a program with inputs in a box (`program.clipped`). For
one exit the least cost of a shift is a convex function of the move d. It depends on d through the exit's forms, which
are inequalities and equations in noises and d. Inputs whose columns of coefficients in all forms are multiples of one
column are a *group*: only the sum s = Σ w_i·d_i of the group counts.

**Moves.** The convex hull of the moves is { d : Σ |d_i|/u_i <= r, |d_i| <= c_i }:

- linf:r has c_i = min(r, width of i), and no sum;
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
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import floor

from dipc.algebra.limits import LimitReached, Limits, OutsideFragment
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.program.clipped import Clipped, Extent
from dipc.questions.privacy.adjacency import Distance, Input, Move, Neighborhood
from dipc.questions.privacy.alignment import AlignedExit

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


def moves_of_exit(aligned: AlignedExit, box: Clipped, within: Neighborhood) -> list[Move]:
    """Return moves between two inputs of `box`, among them one whose shift costs the most for the exit `aligned`.

    The two inputs are adjacent by `within`. Raises OutsideFragment if moves are unbounded or mix int and real inputs,
    LimitReached past one of the program's limits.
    """

    def of_inputs(form: Halfspace) -> Form:
        return {key - aligned.first_input: c for key, c in form.coefficients if key >= aligned.first_input}

    slacks, equations = (list(map(of_inputs, forms)) for forms in aligned.changes())
    return extreme_moves(slacks, equations, box, within)


def extreme_moves(
    inequalities: Sequence[Form], equations: Sequence[Form], box: Clipped, within: Neighborhood
) -> list[Move]:
    """Return moves between two inputs of `box`, among them one with the greatest cost.

    The cost is any convex function of the values of the forms `inequalities` and `equations` that does not fall when a
    form of `inequalities` falls. The two inputs are adjacent by `within`. Raises OutsideFragment if moves are unbounded
    under HAMMING, or if int and real inputs affect the forms together; LimitReached past one of the program's limits.
    """
    integers, limits = box.integers, box.program.limits
    groups = _groups(inequalities, equations, box.ranges, within)
    still = dict.fromkeys(range(len(box.ranges)), _ZERO)
    counting = {place for group in groups for place in group.places}
    if counting & integers:
        if not counting <= integers:
            raise OutsideFragment("the outputs depend on clipped int inputs together with real ones")
        return [still | move for move in _whole_moves(groups, within, limits)]
    moves: list[Move] = []
    for budgets in _budgets(groups, within, limits):
        # Each group moves up or down; one whose worst direction is known moves in this direction alone.
        directions: list[list[Move]] = []
        for group, budget in zip(groups, budgets, strict=True):
            part = group.filled(budget)
            signs = (-group.one_sign,) if group.one_sign else (1, -1)
            directions.append([{place: sign * step for place, step in part.items()} for sign in signs if part] or [{}])
        moves += [
            still | {place: step for part in chosen for place, step in part.items()} for chosen in product(*directions)
        ]
        if len(moves) > limits.vertices:
            raise LimitReached("vertices", f"the adjacent inputs have more than {limits.vertices} extreme moves")
    return moves


def _budgets(groups: Sequence[_Group], within: Neighborhood, limits: Limits) -> Iterator[tuple[Fraction | None, ...]]:
    """Yield, for each extreme move, the part of the adjacency's radius that each of the `groups` of inputs uses up.

    None in place of a part means that each input of the group moves as far as it can alone. The moves lead to inputs
    adjacent by `within`. Raises LimitReached for more moves than `limits` allows.
    """
    if within.distance is Distance.LINF:
        yield (None,) * len(groups)
        return
    ends = [group.ends for group in groups]
    full = [None if None in group.budgets else own[-1] for group, own in zip(groups, ends, strict=True)]
    known = [end for end in full if end is not None]
    if len(known) == len(full) and sum(known, _ZERO) <= within.radius:
        yield tuple(full)
        return
    count = 0

    def onwards(place: int, left: Fraction, open_: int | None) -> Iterator[tuple[Fraction | None, ...]]:
        """Yield tuples of the parts of the radius that the groups from index `place` on use up.

        The groups before `place` leave the part `left` of the radius. In each group but one, the first few inputs move
        over their whole ranges, and the others do not move. The other group uses up what is left of the radius. `open_`
        is the index of this group, or None if it is not before `place`.
        """
        nonlocal count
        count += 1
        if count > limits.vertices:
            raise LimitReached("vertices", f"the adjacent inputs have more than {limits.vertices} extreme moves")
        if place == len(groups):
            if not left or open_ is not None:
                yield ()
            return
        for end in ends[place]:
            if end <= left:
                for rest in onwards(place + 1, left - end, open_):
                    yield (end, *rest)
        if open_ is None:
            for base in ends[place]:
                # The group has this end and, beyond it, the part of the radius that the others leave.
                whole = full[place]
                if base <= left and (whole is None or base < whole):
                    for rest in onwards(place + 1, left - base, place):
                        spent = sum((each for each in rest if each is not None), _ZERO)
                        most = left - spent
                        later = next((end for end in ends[place] if end > base), None)
                        if most > base and (later is None or most <= later):
                            yield (most, *rest)

    yield from dict.fromkeys(onwards(0, within.radius, None))


def _groups(
    inequalities: Sequence[Form], equations: Sequence[Form], ranges: Sequence[Extent], within: Neighborhood
) -> list[_Group]:
    """Return groups of inputs such that each form depends on the inputs of a group only through one weighted sum.

    The forms are `inequalities` and `equations`; inputs that no form depends on are left out. `ranges` has the range of
    each input, and `within` is the adjacency. Raises OutsideFragment for an unbounded range under HAMMING.
    """
    columns: dict[tuple[Fraction, ...], list[tuple[int, Fraction]]] = {}
    for place in range(len(ranges)):
        column = [form.get(place, _ZERO) for form in (*inequalities, *equations)]
        scale = next((c for c in column if c), None)
        if scale is not None:
            columns.setdefault(tuple([c / scale for c in column]), []).append((place, scale))
    groups = []
    for shape, members in columns.items():
        known = []
        for place, weight in members:
            step, budget = _side(ranges[place], within)
            known.append((abs(weight) * step, place, weight, step, budget))
        known.sort(key=lambda each: (-each[0], each[1]))
        in_equations = any(shape[len(inequalities) :])
        signs = {c > 0 for c in shape if c}
        one_sign = 0 if in_equations or len(signs) > 1 else 1 if True in signs else -1
        groups.append(
            _Group(
                tuple([place for _, place, *_ in known]),
                tuple([weight for _, _, weight, _, _ in known]),
                tuple([step for *_, step, _ in known]),
                tuple([budget for *_, budget in known]),
                one_sign,
            )
        )
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


def _whole_moves(groups: Sequence[_Group], within: Neighborhood, limits: Limits) -> list[dict[int, Fraction]]:
    """Return moves of int inputs to adjacent inputs: at least one for each way in which the sums can change together.

    The sums are the weighted sums of inputs, one for each of `groups`. Inputs are adjacent by `within`. Only moves that
    change an input are returned. Raises LimitReached for more moves than `limits` allows.
    """
    every: list[dict[int, Fraction]] = [{}]
    spent: list[Fraction] = [_ZERO]
    radius = within.radius
    for group in groups:
        alike = len({abs(weight) for weight in group.weights}) == 1
        if alike and within.distance is not Distance.HAMMING:
            options = _sums(group, within)
        else:
            options = _each(group, within, limits)
        pairs = [
            ({**move, **option}, used + cost)
            for (move, used), (option, cost) in product(zip(every, spent, strict=True), options)
            if within.distance is Distance.LINF or used + cost <= radius
        ]
        if len(pairs) > limits.moves:
            raise LimitReached("moves", f"there are more than {limits.moves} moves of the inputs to look at")
        every, spent = [move for move, _ in pairs], [used for _, used in pairs]
    return [move for move in every if any(move.values())]


def _sums(group: _Group, within: Neighborhood) -> list[tuple[dict[int, Fraction], Fraction]]:
    """Return one move of the int inputs of `group` for each change of their weighted sum that adjacency allows.

    The weights of the group are equal up to signs, and `within` is the adjacency. Each move comes with the part of the
    radius that it uses up.
    """
    result: list[tuple[dict[int, Fraction], Fraction]] = [({}, _ZERO)]
    move: dict[int, Fraction] = {}
    for place, weight, whole in zip(group.places, group.weights, group.budgets, strict=True):
        most = within.radius if whole is None else min(whole, within.radius)
        for size in range(1, floor(most) + 1):
            move = {**move, place: Fraction(size if weight > 0 else -size)}
            total = sum(map(abs, move.values()), _ZERO)
            if within.distance is Distance.L1 and total > within.radius:
                return result
            result += [(dict(move), total), ({key: -step for key, step in move.items()}, total)]
    return result


def _each(group: _Group, within: Neighborhood, limits: Limits) -> list[tuple[dict[int, Fraction], Fraction]]:
    """Return all moves of the int inputs of `group` to inputs adjacent by `within`.

    Each move comes with the part of the adjacency's radius that it uses up. Raises LimitReached for more moves than
    `limits` allows.
    """
    result: list[tuple[dict[int, Fraction], Fraction]] = [({}, _ZERO)]
    for place, step, whole in zip(group.places, group.steps, group.budgets, strict=True):
        farthest = (
            floor(step)
            if within.distance is Distance.HAMMING
            else floor(within.radius if whole is None else min(whole, within.radius))
        )
        sizes = [Fraction(size) for size in range(-farthest, farthest + 1)]
        result = [
            ({**move, place: size} if size else move, used + cost)
            for (move, used), size in product(result, sizes)
            for cost in [Fraction(bool(size)) if within.distance is Distance.HAMMING else abs(size)]
            if within.distance is Distance.LINF or used + cost <= within.radius
        ]
        if len(result) > limits.moves:
            raise LimitReached("moves", f"there are more than {limits.moves} moves of the inputs to look at")
    return result


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


def placed(ranges: Sequence[Extent], start: Sequence[Fraction], move: Sequence[Fraction]) -> tuple[Input, Input]:
    """Return two inputs of the box with the `ranges` that differ by `move`: (the first, the first plus `move`).

    Of all these pairs, the result is the one whose first input is nearest to `start`.
    """
    one = []
    for side, value, step in zip(ranges, start, move, strict=True):
        low = None if side.low is None else side.low - min(step, _ZERO)
        high = None if side.high is None else side.high - max(step, _ZERO)
        one.append(Extent(low, high).nearest(value))
    return tuple(one), tuple([value + step for value, step in zip(one, move, strict=True)])

"""Half-spaces of inputs that move with a distance, and the bounds of linear forms that they imply.

A `Moving` half-space is { u : form(u) >= alpha·step }: a facet of a class of inputs that retreats as alpha, the
distance to disagreement, grows. It is a half-space over the inputs and alpha. An input that is in such a half-space is
*behind* the facet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from dipc.chain.state import Affine
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace, equation, sorted_terms, weighted_sum
from dipc.linear.program import Infeasible, Least, Unbounded, minimum, solution

_ZERO, _ONE = Fraction(0), Fraction(1)


#: The key of alpha beside input slots.
ALPHA = -1


@frozen
class Moving:
    """The half-space form(u) >= alpha·step, where `form` depends on inputs u alone and `step` >= 0.

    It moves inwards as alpha grows, unless step is 0.
    """

    form: Affine
    step: Fraction

    def at_alpha(self, alpha: Fraction) -> Halfspace:
        """Return the half-space of inputs at the given `alpha`."""
        moved = alpha * self.step if alpha and self.step else _ZERO
        return Halfspace(self.form.inputs, self.form.constant - moved if moved else self.form.constant)

    @property
    def halfspace(self) -> Halfspace:
        """The half-space over the inputs and alpha together; its keys are the inputs' slots and ALPHA."""
        moving = ((ALPHA, -self.step),) if self.step else ()
        return Halfspace((*moving, *self.form.inputs), self.form.constant)


@frozen
class SlackBound:
    """A lower bound that facets imply: form(u) + radius·gamma >= base + distance·slope for every u behind all of them.

    Functions of this file give bounds of a form alone: the distance is alpha and the radius is 0. For a claim, alpha
    and gamma are functions of the open distance (see `ClaimedDistances`), and the bound of a form of int inputs is
    rounded up to a value that the form takes at integers.

    `weights` is the proof, as pairs (k, weight) with weights > 0. Let facet k be form_k(u) >= alpha·step_k. Then form =
    constant + Σ weight·form_k. The bound is attained at inputs where each of these facets is an equality.
    """

    form: Affine
    weights: tuple[tuple[int, Fraction], ...]
    base: Fraction
    slope: Fraction
    radius: int = 0

    def at_alpha(self, alpha: Fraction) -> Fraction:
        return self.base + alpha * self.slope if alpha and self.slope else self.base

    @property
    def tight(self) -> tuple[int, ...]:
        """The indices of the facets that have a positive weight."""
        return tuple([k for k, _ in self.weights])


def bound_of(form: Affine, facets: Sequence[Moving], weights: Sequence[tuple[int, Fraction]]) -> SlackBound | None:
    """Return the bound of `form` that `weights` on the `facets` prove (Farkas), or None if they prove no bound.

    `weights` has pairs (k, weight) for facets k. They prove a bound if no weight is negative and `form` is the sum Σ
    weight·facets[k].form plus a constant. Behind the facets, the sum is at least alpha · Σ weight·facets[k].step,
    because facets[k].form is at least alpha · facets[k].step.
    """
    used = [(k, weight) for k, weight in weights if weight]
    if any(weight < 0 for _, weight in used):
        return None
    total = weighted_sum([facets[k].halfspace for k, _ in used], dict(enumerate(weight for _, weight in used)))
    if tuple([term for term in total.coefficients if term[0] != ALPHA]) != form.inputs:
        return None
    return SlackBound(form, tuple(used), form.constant - total.constant, -total.coefficient(ALPHA))


class SingleBounds:
    """A finder of lower bounds of forms, each proved by a single one of given facets.

    A facet proves a lower bound of its own form times any positive number, plus any constant.
    """

    def __init__(self, facets: Sequence[Moving]) -> None:
        self._facets = facets
        self._about: dict[tuple[int, ...], list[int]] = {}
        for k, facet in enumerate(facets):
            self._about.setdefault(_inputs_of(facet.form), []).append(k)

    def bound(self, form: Affine, alpha: Fraction | None) -> SlackBound | None:
        """Return the best lower bound of `form` that a single facet proves, or None.

        The best one is the greatest at the number `alpha`; for an `alpha` of None, see `best_bound`.
        """
        if not form.inputs:
            return SlackBound(form, (), form.constant, _ZERO)
        c = form.inputs[0][1]
        best: SlackBound | None = None
        for k in self._about.get(_inputs_of(form), ()):
            facet, theirs = self._facets[k], self._facets[k].form.inputs
            weight = _ONE if c == theirs[0][1] else c / theirs[0][1]
            pairs = zip(form.inputs[1:], theirs[1:], strict=True)
            if weight < 0 or any(own != weight * d for (_, own), (_, d) in pairs):
                continue
            base = form.constant - weight * facet.form.constant
            bound = SlackBound(form, ((k, weight),), base, weight * facet.step)
            if best is None or _rank(bound, alpha) > _rank(best, alpha):
                best = bound
        return best


def _inputs_of(form: Affine) -> tuple[int, ...]:
    return tuple([slot for slot, _ in form.inputs])


def single_bound(form: Affine, facets: Sequence[Moving], alpha: Fraction | None) -> SlackBound | None:
    """Return the best lower bound of `form` that one of `facets` proves alone, or None.

    The best one is the greatest at the number `alpha`; for an `alpha` of None, see `best_bound`.
    """
    return SingleBounds(facets).bound(form, alpha)


def best_bound(form: Affine, facets: Sequence[Moving], alpha: Fraction | None) -> SlackBound | None:
    """Return the best lower bound of `form` that `facets` prove, or None if `form` is not bounded below behind them.

    - For a number `alpha`, it is the bound that is greatest at this alpha: the least value of the form, if some input
      lies behind the facets.
    - For None, it is the steepest bound base + alpha·slope with base >= 0. If no bound has base >= 0, it is the bound
      with the greatest base.

    The linear program only proposes weights, from which the bound is computed exactly. A wrong proposal can make the
    bound less sharp, but never false.
    """
    if not form.inputs:
        return SlackBound(form, (), form.constant, _ZERO)
    kept = _summands_of(form.inputs, tuple(facets))
    signs = {(slot, c > 0) for k in kept for slot, c in facets[k].form.inputs}
    if any((slot, c > 0) not in signs for slot, c in form.inputs):
        return None  # no facet has a coefficient of this sign at this input
    bound = _solved(form, [facets[k] for k in kept], alpha)
    return None if bound is None else replace(bound, weights=tuple([(kept[k], w) for k, w in bound.weights]))


def _summands_of(terms: Sequence[tuple[int, Fraction]], facets: tuple[Moving, ...]) -> list[int]:
    """Return the indices of those `facets` that can have a positive weight in a proof of a bound, in increasing order.

    `terms` has the coefficients of the form to be bounded, as pairs (input, c). The part of the result about facets
    that share no input with the form, directly or through other facets, is computed once for all forms.
    """
    always, by_slot = _always_summands(facets)
    slots = [slot for slot, _ in terms]
    near: set[int] = set()
    reached = set(slots)
    while slots:
        for k in by_slot.get(slots.pop(), ()):
            if k not in near:
                near.add(k)
                more = [slot for slot, _ in facets[k].form.inputs if slot not in reached]
                reached.update(more)
                slots += more
    tied = sorted(near)
    kept = _summands(terms, [facets[k] for k in tied])
    return sorted([*(k for k in always if k not in near), *(tied[k] for k in kept)])


@lru_cache(maxsize=64)
def _always_summands(facets: tuple[Moving, ...]) -> tuple[Sequence[int], Mapping[int, Sequence[int]]]:
    by_slot: dict[int, list[int]] = {}
    for k, facet in enumerate(facets):
        for slot, _ in facet.form.inputs:
            by_slot.setdefault(slot, []).append(k)
    return _summands((), facets), by_slot


def _summands(terms: Sequence[tuple[int, Fraction]], facets: Sequence[Moving]) -> list[int]:
    """Return the indices of those `facets` that can have a positive weight in a sum with the coefficients `terms`.

    Suppose that an input has positive coefficients only, in all facets that mention it. They cannot cancel, so if
    `terms` has no positive coefficient of this input, these facets are left out. The same is done for negative
    coefficients, and repeated with the remaining facets.
    """
    wanted = {(slot, c > 0) for slot, c in terms}
    pulling: dict[tuple[int, bool], set[int]] = {}
    for k, facet in enumerate(facets):
        for slot, c in facet.form.inputs:
            pulling.setdefault((slot, c > 0), set()).add(k)
    kept = dict.fromkeys(range(len(facets)))
    pending = list(pulling)
    while pending:
        slot, sign = pending.pop()
        if pulling.get((slot, not sign)) or (slot, sign) in wanted:
            continue
        for k in list(pulling.get((slot, sign), ())):
            del kept[k]
            for other, c in facets[k].form.inputs:
                pulling[other, c > 0].remove(k)
                pending.append((other, c <= 0))
    return list(kept)


def _rank(bound: SlackBound, alpha: Fraction | None) -> tuple[bool, Fraction, Fraction]:
    if alpha is not None:
        return True, bound.at_alpha(alpha), _ZERO
    return bound.base >= 0, bound.slope if bound.base >= 0 else bound.base, bound.base


def _solved(form: Affine, facets: Sequence[Moving], alpha: Fraction | None) -> SlackBound | None:
    by_slot: dict[int, list[tuple[int, Fraction]]] = {slot: [] for slot, _ in form.inputs}
    for k, facet in enumerate(facets):
        for slot, c in facet.form.inputs:
            by_slot.setdefault(slot, []).append((k, c))
    wanted = dict(form.inputs)
    rows = tuple([(tuple(terms), wanted.get(slot, _ZERO)) for slot, terms in by_slot.items()])
    constants = tuple([facet.form.constant for facet in facets])
    weights = _best_weights(rows, constants, tuple([facet.step for facet in facets]), form.constant, alpha)
    return None if weights is None else bound_of(form, facets, list(enumerate(weights)))


@lru_cache(maxsize=4096)
def _best_weights(
    rows: Sequence[tuple[Sequence[tuple[int, Fraction]], Fraction]],
    constants: Sequence[Fraction],
    steps: Sequence[Fraction],
    constant: Fraction,
    alpha: Fraction | None,
) -> Sequence[Fraction] | None:
    """Return one weight for each facet, which together prove the best lower bound of a form; None if it has no bound.

    - `rows` has one element for each input: its coefficients in the facets, as pairs (facet, c), and its coefficient in
      the form.
    - `constants` and `steps` have the constants and steps of the facets, and `constant` is that of the form.
    - The bound is best at `alpha`, or in the sense of `best_bound` if `alpha` is None.

    No argument names an input, so that forms that differ only in the names of inputs share one cached result.
    """
    system = [Halfspace(((k, _ONE),), _ZERO) for k in range(len(constants))]
    for terms, wanted in rows:
        system += equation(terms, -wanted)
    base = Halfspace(sorted_terms({k: -c for k, c in enumerate(constants)}), constant)
    slope = Halfspace(sorted_terms(dict(enumerate(steps))), _ZERO)
    if alpha is not None:
        at_alpha = {k: alpha * step - c for k, (step, c) in enumerate(zip(steps, constants, strict=True))}
        return _greatest(len(constants), system, [Halfspace(sorted_terms(at_alpha), constant)])
    steepest = _greatest(len(constants), [*system, base], [slope, base])
    return steepest if steepest is not None else _greatest(len(constants), system, [base, slope])


def _greatest(count: int, system: Sequence[Halfspace], goals: Sequence[Halfspace]) -> Sequence[Fraction] | None:
    first, *then = [Halfspace(tuple([(k, -c) for k, c in goal.coefficients]), -goal.constant) for goal in goals]
    match minimum(first, system, range(count), then):
        case Infeasible():
            return None
        case Least(_, point, _) | Unbounded(point, _):
            return tuple([point.get(k, _ZERO) for k in range(count)])


# --- corner ---------------------------------------------------------------------------------------
#
# Corners: inputs at which several facets are equalities at once, as a function of the distance alpha.


@frozen
class Corner:
    """An input that moves with alpha: u(alpha) = base + alpha·slope.

    `base` and `slope` have a value for every real and int input, by slot.
    """

    base: Mapping[int, Fraction]
    slope: Mapping[int, Fraction]

    def at_alpha(self, alpha: Fraction) -> dict[int, Fraction]:
        if not alpha:
            return dict(self.base)
        once = alpha == 1
        moved = {slot: rise if once else alpha * rise for slot, rise in self.slope.items() if rise}
        if not moved:
            return dict(self.base)
        return {
            slot: (value + moved[slot] if value else moved[slot]) if slot in moved else value
            for slot, value in self.base.items()
        }


def corner(
    facets: Sequence[Moving], tight: Iterable[int], slots: Sequence[int], alpha: Fraction | None
) -> Corner | None:
    """Return an input behind all `facets` at which the facets with indices in `tight` are equalities.

    `slots` are the inputs. For a number `alpha`, the input is for this alpha and has slope 0; the result is None if no
    input exists. If `alpha` is None, the input moves with alpha, and is such an input at every alpha >= 0. The result
    is None if no input that is linear in alpha is found.
    """
    met = sorted(set(tight))
    for solve in (_corner_eliminated, _corner_solved):
        corner = solve(facets, met, slots, alpha)
        if corner is not None and _behind(facets, met, corner, alpha):
            return corner
    return None


def _behind(facets: Sequence[Moving], met: Sequence[int], corner: Corner, alpha: Fraction | None) -> bool:
    """Return True if `corner` is behind all `facets`, and on the boundary of those with the indices `met`.

    A corner is a point that is linear in alpha, and each facet moves with alpha. The result is about every alpha >= 0,
    or only about the number `alpha` if one is given.
    """
    tight = set(met)
    for k, facet in enumerate(facets):
        start = facet.form.evaluate(corner.base)
        rise = sum((c * corner.slope[slot] for slot, c in facet.form.inputs), _ZERO) - facet.step
        if alpha is not None:
            start, rise = start + alpha * rise, _ZERO
        if start < 0 or rise < 0 or (k in tight and (start or rise)):
            return False
    return True


def _corner_eliminated(
    facets: Sequence[Moving], met: Sequence[int], slots: Sequence[int], alpha: Fraction | None
) -> Corner | None:
    """Return a solution of the equations of the facets with the indices `met`, or None if there is none.

    A solution is linear in alpha; for a number `alpha` it is for this alpha, with the slope 0. Inputs in `slots` that
    the equations leave undetermined are 0. The solution need not be behind the other `facets`.
    """
    if all(len(facets[k].form.inputs) == 1 for k in met):
        return _corner_of_box([facets[k] for k in met], slots, alpha)
    rows = [facets[k].halfspace if alpha is None else facets[k].at_alpha(alpha) for k in met]
    users = Counter(key for row in rows for key, _ in row.coefficients)
    # Each solved input as an affine form of inputs solved later, of free inputs, and of alpha.
    solved: dict[int, tuple[dict[int, Fraction], Fraction]] = {}
    for row in rows:
        while (key := next((k for k, _ in row.coefficients if k in solved), None)) is not None:
            row = row.substituted(key, *solved[key])
        own = [k for k, _ in row.coefficients if k != ALPHA]
        if own:
            key = min(own, key=users.__getitem__)
            solved[key] = row.solved_for(key)
        elif row.coefficients or row.constant:
            return None
    base, slope = dict.fromkeys(slots, _ZERO), dict.fromkeys(slots, _ZERO)
    for key, (slopes, constant) in reversed(solved.items()):
        rise = slopes.pop(ALPHA, _ZERO)
        base[key] = sum((c * base[k] for k, c in slopes.items()), constant)
        slope[key] = sum((c * slope[k] for k, c in slopes.items()), rise)
    return Corner(base, slope)


def _corner_of_box(met: Sequence[Moving], slots: Sequence[int], alpha: Fraction | None) -> Corner | None:
    base, slope = dict.fromkeys(slots, _ZERO), dict.fromkeys(slots, _ZERO)
    seen: set[int] = set()
    for facet in met:
        ((slot, c),) = facet.form.inputs
        rise = facet.step / c
        start = -facet.form.constant / c
        if alpha is not None:
            start, rise = start + alpha * rise, _ZERO
        if slot in seen and (base[slot], slope[slot]) != (start, rise):
            return None
        seen.add(slot)
        base[slot], slope[slot] = start, rise
    return Corner(base, slope)


def _corner_solved(
    facets: Sequence[Moving], met: Sequence[int], slots: Sequence[int], alpha: Fraction | None
) -> Corner | None:
    """Return an input behind all `facets`, and on the boundary of those with the indices `met`, or None.

    It is found by linear programs: one for the input at alpha = 0, another for its slope in alpha. For a number
    `alpha`, only the input at this alpha is found, and the slope is 0. `slots` are the inputs.
    """
    tight = set(met)
    starts: list[Halfspace] = []
    rises: list[Halfspace] = []
    for k, facet in enumerate(facets):
        start = facet.form.constant - (_ZERO if alpha is None else alpha * facet.step)
        for system, constant in ((starts, start), (rises, -facet.step)):
            half = Halfspace(facet.form.inputs, constant)
            system += equation(half.coefficients, constant) if k in tight else [half]
    base = solution(starts, slots)
    slope = dict.fromkeys(slots, _ZERO) if alpha is not None else solution(rises, slots)
    if isinstance(base, Infeasible) or isinstance(slope, Infeasible):
        return None
    return Corner(base, slope)


def least(facets: Sequence[Moving], form: Moving, slots: Sequence[int], alpha: Fraction) -> dict[int, Fraction] | None:
    """Return an input behind all `facets` at `alpha` at which the form of the half-space `form` is least.

    `slots` are the inputs. The result is None if no input is behind the facets. If the form is not bounded below behind
    them, the result is any input behind them.
    """
    match minimum(form.at_alpha(_ZERO), [facet.at_alpha(alpha) for facet in facets], slots):
        case Infeasible():
            return None
        case Least(_, point, _) | Unbounded(point, _):
            return dict(point)


@frozen
class Ceiling:
    """A proof that no input is behind certain facets for any alpha greater than `alpha`.

    `weights` has pairs (k, weight) for facets k. The sum of weight·form over these facets is a constant, which bounds
    alpha times the sum of weight·step (Farkas).
    """

    alpha: Fraction
    weights: tuple[tuple[int, Fraction], ...]


def greatest_alpha(facets: Sequence[Moving]) -> Ceiling | None:
    """Return the greatest alpha for which some input is behind all `facets`, with its proof by weights on the facets.

    The result is None if alpha is not bounded, or if no input is behind the facets at any alpha. A negative alpha
    proves that no input is behind the facets at any alpha >= 0.
    """
    kept, _ = _always_summands(tuple(facets))
    result = minimum(Halfspace(((ALPHA, -_ONE),), _ZERO), [facets[k].halfspace for k in kept])
    if not isinstance(result, Least):
        return None
    return Ceiling(-result.value, tuple(sorted((kept[k], weight) for k, weight in result.weights.items() if weight)))

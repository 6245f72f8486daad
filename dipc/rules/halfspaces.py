"""Half-spaces of inputs that move with a distance, and the bounds of linear forms that they imply.

A *facet* of a class of inputs is a form of the inputs and alpha, the distance to disagreement, that is nonnegative on
the class: form(u) - step·alpha >= 0 with step >= 0. It moves inwards as alpha grows, unless its step is 0. An input
where the facet is nonnegative is *behind* it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from dipc.chain.event import ALPHA, GAMMA
from dipc.chain.state import Affine, combination
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace, equation, sorted_terms
from dipc.linear.program import Infeasible, Least, Unbounded, minimum, solution

_ZERO, _ONE = Fraction(0), Fraction(1)


def has_gamma(form: Affine) -> bool:
    """Return True if `form` depends on gamma."""
    return bool(form.inputs) and form.inputs[0][0] == GAMMA


def slack(half: Affine) -> Affine:
    """Return `half` with 0 in place of its noises and gamma: a form of the inputs."""
    return Affine((), half.inputs[1:] if has_gamma(half) else half.inputs, half.constant)


def inwards(form: Affine, step: Fraction) -> Affine:
    """Return the facet `form` - `step`·alpha >= 0."""
    return Affine((), ((ALPHA, -step), *form.inputs), form.constant) if step else form


def step_of(facet: Affine) -> Fraction:
    """Return the speed at which `facet` moves inwards as alpha grows."""
    return -facet.inputs[0][1] if facet.inputs and facet.inputs[0][0] == ALPHA else _ZERO


def still(facet: Affine) -> Affine:
    """Return `facet` at alpha = 0: a form of the inputs."""
    return Affine((), facet.inputs[1:], facet.constant) if step_of(facet) else facet


def at_alpha(facet: Affine, alpha: Fraction) -> Halfspace:
    """Return the half-space of the inputs behind `facet` at the given `alpha`."""
    there = facet.substituted({ALPHA: alpha})
    return Halfspace(there.inputs, there.constant)


@frozen
class SlackBound:
    """A lower bound that facets imply: form(u) + radius·gamma >= base + distance·slope for every u behind all of them.

    Functions of this file give bounds of a form alone: the distance is alpha and the radius is 0. For a claim, alpha
    and gamma are functions of the open distance (see `Requirement`), and the bound of a form of int inputs is
    rounded up to a value that the form takes at integers.

    `weights` is the proof, as pairs (k, weight) with weights > 0: form = constant + Σ weight·facet_k at alpha = 0. The
    bound is attained at inputs where each of these facets is an equality.
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


def bound_of(form: Affine, facets: Sequence[Affine], weights: Sequence[tuple[int, Fraction]]) -> SlackBound | None:
    """Return the bound of `form` that `weights` on the `facets` prove (Farkas), or None if they prove no bound.

    `weights` has pairs (k, weight) for facets k. They prove a bound if no weight is negative, and if `form` - Σ
    weight·facets[k] depends on alpha alone. Behind the facets, this rest is the bound, because
    each summand is at least 0.
    """
    used = [(k, weight) for k, weight in weights if weight]
    if any(weight < 0 for _, weight in used):
        return None
    rest = form - combination([(weight, facets[k]) for k, weight in used], _ZERO)
    if any(slot != ALPHA for slot, _ in rest.inputs):
        return None
    return SlackBound(form, tuple(used), rest.constant, -step_of(rest))


def single_bounds(facets: Sequence[Affine]) -> Callable[[Affine, Fraction | None], SlackBound | None]:
    """Return a function with the results of `single_bound` for these `facets`, but faster.

    A facet proves a lower bound of its own form times any positive number, plus any constant. The function looks facets
    up by the inputs that they mention.
    """
    about: dict[tuple[int, ...], list[int]] = {}
    for k, facet in enumerate(facets):
        about.setdefault(_inputs_of(still(facet)), []).append(k)

    def bound(form: Affine, alpha: Fraction | None) -> SlackBound | None:
        if not form.inputs:
            return SlackBound(form, (), form.constant, _ZERO)
        c = form.inputs[0][1]
        best: SlackBound | None = None
        for k in about.get(_inputs_of(form), ()):
            facet, theirs = facets[k], still(facets[k]).inputs
            weight = _ONE if c == theirs[0][1] else c / theirs[0][1]
            pairs = zip(form.inputs[1:], theirs[1:], strict=True)
            if weight < 0 or any(own != weight * d for (_, own), (_, d) in pairs):
                continue
            base = form.constant - weight * facet.constant
            found = SlackBound(form, ((k, weight),), base, weight * step_of(facet))
            if best is None or _rank(found, alpha) > _rank(best, alpha):
                best = found
        return best

    return bound


def _inputs_of(form: Affine) -> tuple[int, ...]:
    return tuple([slot for slot, _ in form.inputs])


def single_bound(form: Affine, facets: Sequence[Affine], alpha: Fraction | None) -> SlackBound | None:
    """Return the best lower bound of `form` that one of `facets` proves alone, or None.

    The best one is the greatest at the number `alpha`; for an `alpha` of None, see `best_bound`.
    """
    return single_bounds(facets)(form, alpha)


def best_bound(form: Affine, facets: Sequence[Affine], alpha: Fraction | None) -> SlackBound | None:
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
    signs = {(slot, c > 0) for k in kept for slot, c in still(facets[k]).inputs}
    if any((slot, c > 0) not in signs for slot, c in form.inputs):
        return None  # no facet has a coefficient of this sign at this input
    bound = _solved(form, [facets[k] for k in kept], alpha)
    return None if bound is None else replace(bound, weights=tuple([(kept[k], w) for k, w in bound.weights]))


def _summands_of(terms: Sequence[tuple[int, Fraction]], facets: tuple[Affine, ...]) -> list[int]:
    """Return the indices of those `facets` that can have a positive weight in a proof of a bound, in increasing order.

    `terms` has the coefficients of the form to be bounded, as pairs (input, c). Facets that share no input with the
    form, directly or through other facets, are selected once for all forms.
    """
    always, by_slot = _always_summands(facets)
    slots = [slot for slot, _ in terms]
    near: set[int] = set()
    reached = set(slots)
    while slots:
        for k in by_slot.get(slots.pop(), ()):
            if k not in near:
                near.add(k)
                more = [slot for slot, _ in still(facets[k]).inputs if slot not in reached]
                reached.update(more)
                slots += more
    tied = sorted(near)
    kept = _summands(terms, [facets[k] for k in tied])
    return sorted([*(k for k in always if k not in near), *(tied[k] for k in kept)])


@lru_cache(maxsize=64)
def _always_summands(facets: tuple[Affine, ...]) -> tuple[Sequence[int], Mapping[int, Sequence[int]]]:
    by_slot: dict[int, list[int]] = {}
    for k, facet in enumerate(facets):
        for slot, _ in still(facet).inputs:
            by_slot.setdefault(slot, []).append(k)
    return _summands((), facets), by_slot


def _summands(terms: Sequence[tuple[int, Fraction]], facets: Sequence[Affine]) -> list[int]:
    """Return the indices of those `facets` that can have a positive weight in a sum with the coefficients `terms`.

    Suppose that an input has positive coefficients only, in all facets that mention it. They cannot cancel, so if
    `terms` has no positive coefficient of this input, these facets are left out. The same is done for negative
    coefficients, and repeated with the remaining facets.
    """
    wanted = {(slot, c > 0) for slot, c in terms}
    pulling: dict[tuple[int, bool], set[int]] = {}
    for k, facet in enumerate(facets):
        for slot, c in still(facet).inputs:
            pulling.setdefault((slot, c > 0), set()).add(k)
    kept = dict.fromkeys(range(len(facets)))
    pending = list(pulling)
    while pending:
        slot, sign = pending.pop()
        if pulling.get((slot, not sign)) or (slot, sign) in wanted:
            continue
        for k in list(pulling.get((slot, sign), ())):
            del kept[k]
            for other, c in still(facets[k]).inputs:
                pulling[other, c > 0].remove(k)
                pending.append((other, c <= 0))
    return list(kept)


def _rank(bound: SlackBound, alpha: Fraction | None) -> tuple[bool, Fraction, Fraction]:
    if alpha is not None:
        return True, bound.at_alpha(alpha), _ZERO
    return bound.base >= 0, bound.slope if bound.base >= 0 else bound.base, bound.base


def _solved(form: Affine, facets: Sequence[Affine], alpha: Fraction | None) -> SlackBound | None:
    by_slot: dict[int, list[tuple[int, Fraction]]] = {slot: [] for slot, _ in form.inputs}
    for k, facet in enumerate(facets):
        for slot, c in still(facet).inputs:
            by_slot.setdefault(slot, []).append((k, c))
    wanted = dict(form.inputs)
    rows = tuple([(tuple(terms), wanted.get(slot, _ZERO)) for slot, terms in by_slot.items()])
    constants = tuple([facet.constant for facet in facets])
    weights = _best_weights(rows, constants, tuple([step_of(facet) for facet in facets]), form.constant, alpha)
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
    - `constants` has the constant of each facet, and `steps` says how much each falls as alpha grows by 1. `constant`
      is that of the form.
    - The bound is best at `alpha`. If `alpha` is None, it is the one that `best_bound` describes for this case.

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

#: An input that moves with alpha: a form of alpha alone for every real and int input, by slot.
Corner = Mapping[int, Affine]


def point_at(corner: Corner, alpha: Fraction) -> dict[int, Fraction]:
    """Return the input that `corner` is at the given `alpha`."""
    return {slot: form.evaluate({ALPHA: alpha}) for slot, form in corner.items()}


def corner(
    facets: Sequence[Affine], tight: Iterable[int], slots: Sequence[int], alpha: Fraction | None
) -> Corner | None:
    """Return an input behind all `facets` at which the facets with indices in `tight` are equalities.

    `slots` are the inputs. For a number `alpha`, the input is for this alpha; the result is None if no input exists. If
    `alpha` is None, the input moves with alpha, and is such an input at every alpha >= 0. The result is None if no
    input that is linear in alpha is found.
    """
    met = sorted(set(tight))
    if alpha is not None:
        facets = [facet.substituted({ALPHA: alpha}) for facet in facets]
    for solve in (_corner_eliminated, _corner_solved):
        found = solve(facets, met, slots)
        if found is not None and _is_behind(facets, met, found):
            return found
    return None


def _is_behind(facets: Sequence[Affine], met: Sequence[int], corner: Corner) -> bool:
    """Return True if `corner` is behind all `facets` at every alpha >= 0, and on the boundary of those in `met`."""
    tight, point = set(met), {**corner, ALPHA: Affine.input(ALPHA)}
    for k, facet in enumerate(facets):
        here = combination([(c, point[slot]) for slot, c in facet.inputs], facet.constant)
        if here.constant < 0 or step_of(here) > 0 or (k in tight and (here.constant or here.inputs)):
            return False
    return True


def _corner_eliminated(facets: Sequence[Affine], met: Sequence[int], slots: Sequence[int]) -> Corner | None:
    """Return a solution of the equations of the facets with the indices `met`, or None if there is none.

    A solution is linear in alpha. Inputs in `slots` that the equations leave undetermined are 0. The solution need not
    be behind the other `facets`.
    """
    rows = [Halfspace(facets[k].inputs, facets[k].constant) for k in met]
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
    point = dict.fromkeys(slots, Affine.number(_ZERO)) | {ALPHA: Affine.input(ALPHA)}
    for key, (slopes, constant) in reversed(solved.items()):
        point[key] = combination([(c, point[k]) for k, c in slopes.items()], constant)
    return {slot: point[slot] for slot in slots}


def _corner_solved(facets: Sequence[Affine], met: Sequence[int], slots: Sequence[int]) -> Corner | None:
    """Return an input behind all `facets`, and on the boundary of those with the indices `met`, or None.

    It is found by linear programs: one for the input at alpha = 0, another for its slope in alpha, which is 0 if no
    facet moves. `slots` are the inputs.
    """
    tight = set(met)
    starts: list[Halfspace] = []
    rises: list[Halfspace] = []
    for k, facet in enumerate(facets):
        for system, constant in ((starts, facet.constant), (rises, -step_of(facet))):
            half = Halfspace(still(facet).inputs, constant)
            system += equation(half.coefficients, constant) if k in tight else [half]
    base = solution(starts, slots)
    slope = solution(rises, slots) if any(map(step_of, facets)) else dict.fromkeys(slots, _ZERO)
    if isinstance(base, Infeasible) or isinstance(slope, Infeasible):
        return None
    return {slot: inwards(Affine.number(base[slot]), -slope[slot]) for slot in slots}


def least(facets: Sequence[Affine], form: Affine, slots: Sequence[int], alpha: Fraction) -> dict[int, Fraction] | None:
    """Return an input behind all `facets` at `alpha` at which `form` is least.

    `slots` are the inputs. The result is None if no input is behind the facets. If the form is not bounded below behind
    them, the result is any input behind them.
    """
    match minimum(at_alpha(form, _ZERO), [at_alpha(facet, alpha) for facet in facets], slots):
        case Infeasible():
            return None
        case Least(_, point, _) | Unbounded(point, _):
            return dict(point)


def greatest_alpha(facets: Sequence[Affine]) -> SlackBound | None:
    """Return -alpha >= -c with its proof, where c is the greatest alpha at which an input is behind all `facets`.

    The result is None if alpha is not bounded, or if no input is behind the facets at any alpha. A negative c proves
    that no input is behind the facets at any alpha >= 0.
    """
    kept, _ = _always_summands(tuple(facets))
    form = Affine((), ((ALPHA, -_ONE),), _ZERO)
    system = [Halfspace(facets[k].inputs, facets[k].constant) for k in kept]
    result = minimum(Halfspace(form.inputs, form.constant), system)
    if not isinstance(result, Least):
        return None
    weights = sorted((kept[k], weight) for k, weight in result.weights.items() if weight)
    return SlackBound(form, tuple(weights), result.value, _ZERO)

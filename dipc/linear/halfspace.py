"""Half-spaces of rational space, the arithmetic of Farkas' lemma on them, and unions of polyhedra.

**Difference constraints** x - y >= w are edges of a weighted graph. Feasibility and entailment are then searches for
longest paths, without a linear program. A bound x >= w is a difference with the variable ORIGIN, which is 0. Weights
are pairs (w, s), where s counts strict steps: x - y >= w with s > 0 means x - y > w.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor, gcd, lcm

from dipc.frozen import frozen

# --- Half-spaces of rational space, and the arithmetic of Farkas' lemma on them ---------------------------------------

#: Σ coefficient · x[key], keys increasing, coefficients nonzero.
Terms = tuple[tuple[int, Fraction], ...]

#: Positive weights by the index of an inequality in a system.
Weights = Mapping[int, Fraction]

_ZERO = Fraction(0)


@frozen
class Halfspace:
    """The half-space Σ c·x[key] + `constant` >= 0, or > 0 if `strict`, over the pairs (key, c) of `coefficients`.

    A key is the number of an unknown; the caller decides what it means: a noise, an input, a distance, a multiplier.
    The pairs are sorted by key, and no c is 0. A half-space without coefficients is the whole space or empty.
    """

    coefficients: Terms
    constant: Fraction
    strict: bool = False

    def coefficient(self, key: int) -> Fraction:
        return next((c for k, c in self.coefficients if k == key), _ZERO)

    def value(self, point: Mapping[int, Fraction]) -> Fraction:
        """The value of Σ c·x[key] + constant at `point`, which maps every key to a number."""
        total = self.constant
        for key, c in self.coefficients:
            total += c * point[key]
        return total

    def contains(self, point: Mapping[int, Fraction]) -> bool:
        value = self.value(point)
        return value > 0 or (not value and not self.strict)

    def complement(self) -> Halfspace:
        """The set of all points outside of this half-space. It contains the boundary if this half-space does not."""
        return Halfspace(tuple([(k, -c) for k, c in self.coefficients]), -self.constant, not self.strict)

    def closure(self) -> Halfspace:
        """The half-space with its boundary: the inequality with >=."""
        return Halfspace(self.coefficients, self.constant) if self.strict else self

    def with_values(self, point: Mapping[int, Fraction]) -> Halfspace:
        """The half-space of the other unknowns that results if each unknown in `point` has its value from `point`."""
        constant = sum((c * point[key] for key, c in self.coefficients if key in point), self.constant)
        return Halfspace(tuple([(key, c) for key, c in self.coefficients if key not in point]), constant, self.strict)

    def solved_for(self, key: int) -> tuple[dict[int, Fraction], Fraction]:
        """Solve Σ c·x + constant = 0 for x[`key`], and return (slopes, b) with x[key] = Σ slopes[k]·x[k] + b."""
        here = self.coefficient(key)
        return {k: -c / here for k, c in self.coefficients if k != key}, -self.constant / here

    def substituted(self, key: int, slopes: Mapping[int, Fraction], constant: Fraction) -> Halfspace:
        """The half-space after the unknown x[`key`] is replaced by Σ `slopes`[k]·x[k] + `constant`."""
        here = self.coefficient(key)
        if not here:
            return self
        total = {k: c for k, c in self.coefficients if k != key}
        for k, slope in slopes.items():
            total[k] = total.get(k, _ZERO) + here * slope
        return Halfspace(sorted_terms(total), self.constant + here * constant, self.strict)


def tightened(item: Halfspace) -> Halfspace:
    """Return the strongest half-space with >= that has the same integer points as `item`.

    It has coprime integer coefficients, and its constant is rounded down: 2·x - 1 >= 0 becomes x - 1 >= 0.
    """
    below = lcm(*[c.denominator for _, c in item.coefficients])
    above = gcd(*[c.numerator * (below // c.denominator) for _, c in item.coefficients]) or 1
    terms, constant = item.coefficients, item.constant
    if above != below:
        factor = Fraction(below, above)
        terms, constant = tuple([(key, c * factor) for key, c in terms]), constant * factor
    elif constant.denominator == 1 and not item.strict:
        return item
    return Halfspace(terms, Fraction(ceil(constant) - 1 if item.strict else floor(constant)))


def sorted_terms(coefficients: Mapping[int, Fraction]) -> Terms:
    """The pairs (key, coefficient) of `coefficients`, sorted by key, without those whose coefficient is 0."""
    return tuple(sorted([(key, c) for key, c in coefficients.items() if c]))


def proportional_columns(
    rows: Iterable[Iterable[tuple[int, Fraction]]], is_alone: Callable[[int], bool]
) -> list[tuple[Terms, list[tuple[int, Fraction]]]]:
    """Group the keys whose coefficients in `rows` are proportional; return (direction, members) for each group.

    A row has pairs (key, coefficient). direction has a pair (index, c) for each row with keys of the group, and its
    first c is 1. members has the pairs (key, factor), by increasing key. In a row of direction, the coefficient of the
    key is factor·c. A key for which `is_alone` is true is a group of its own.
    """
    columns: dict[int, list[tuple[int, Fraction]]] = {}
    for index, row in enumerate(rows):
        for key, c in row:
            columns.setdefault(key, []).append((index, c))
    groups: dict[tuple[int | None, Terms], list[tuple[int, Fraction]]] = {}
    for key, column in sorted(columns.items()):
        first = column[0][1]
        direction = tuple([(index, c / first) for index, c in column])
        groups.setdefault((key if is_alone(key) else None, direction), []).append((key, first))
    return [(direction, members) for (_, direction), members in groups.items()]


def weighted_sum(system: Sequence[Halfspace], weights: Weights) -> Halfspace:
    """The inequality that is the sum of inequalities of `system`, each times its weight.

    `weights` maps indices in `system` to weights. The sum holds wherever these inequalities hold. It is strict if one
    of them is strict and has a positive weight. Raises ValueError for a negative weight.
    """
    total: dict[int, Fraction] = {}
    constant, strict = _ZERO, False
    for index, weight in weights.items():
        if weight < 0:
            raise ValueError("the weights of inequalities must not be negative")
        if not weight:
            continue
        item = system[index]
        strict = strict or item.strict
        if item.constant:
            constant += weight * item.constant
        for key, c in item.coefficients:
            term = c if weight == 1 else weight * c
            total[key] = total[key] + term if key in total else term
    return Halfspace(sorted_terms(total), constant, strict)


def refutes(system: Sequence[Halfspace], weights: Weights) -> bool:
    """True if `weights` prove that no point satisfies `system`: the weighted sum is a false inequality (Farkas).

    `weights` maps indices in `system` to weights. The result is False if one of them is negative.
    """
    if any(weight < 0 for weight in weights.values()):
        return False
    total = weighted_sum(system, weights)
    return not total.coefficients and not total.contains({})


def proved_bound(form: Halfspace, system: Sequence[Halfspace], weights: Weights) -> Fraction | None:
    """The number b such that `weights` prove that `form` is at least b wherever `system` holds, or None.

    `form` is the linear form Σ c·x + constant of a half-space, and `weights` maps indices in `system` to weights. The
    result is None if the coefficients of the weighted sum of the inequalities are not those of `form`, or if a weight
    is negative.
    """
    if any(weight < 0 for weight in weights.values()):
        return None
    total = weighted_sum(system, weights)
    return form.constant - total.constant if total.coefficients == form.coefficients else None


def equation(coefficients: Iterable[tuple[int, Fraction]], constant: Fraction) -> tuple[Halfspace, Halfspace]:
    """The equation Σ c·x[key] + `constant` = 0 over the pairs (key, c) of `coefficients`, as two half-spaces.

    A key may occur several times.
    """
    total: dict[int, Fraction] = {}
    for key, c in coefficients:
        total[key] = total.get(key, _ZERO) + c
    terms = sorted_terms(total)
    return Halfspace(terms, constant), Halfspace(tuple([(k, -c) for k, c in terms]), -constant)


# --- Unions of polyhedra: covering another one, and being convex ------------------------------------------------------

#: Whether a system has no relevant point. The caller decides which points are relevant, and limits the number of calls.
IsEmpty = Callable[[Sequence[Halfspace]], bool]


def is_covered(system: Sequence[Halfspace], covers: Sequence[Sequence[Halfspace]], is_empty: IsEmpty) -> bool:
    """True if every point of `system` satisfies one of the systems in `covers`.

    `is_empty` tells whether a system is taken as empty. `system` is covered if each part of it outside of `covers` is
    taken as empty.
    """
    if is_empty(system):
        return True
    if not covers:
        return False
    first, *others = covers
    inside = list(system)
    for item in first:
        if not is_covered([*inside, item.complement()], others, is_empty):
            return False
        inside.append(item)
    return True


def convex_union(systems: Sequence[Sequence[Halfspace]], is_empty: IsEmpty) -> tuple[Halfspace, ...] | None:
    """The union of the sets of points that `systems` describe, as one system; None if the union is not convex.

    `is_empty` tells whether a system is taken as empty. The result has those inequalities of `systems` that hold on
    each of the sets. They describe the union if it is convex, because every inequality that bounds a convex union is in
    one of `systems`.
    """
    common = tuple(
        [
            item
            for item in dict.fromkeys(item for halves in systems for item in halves)
            if all(item in halves or is_empty([*halves, item.complement()]) for halves in systems)
        ]
    )
    return common if is_covered(common, systems, is_empty) else None


ORIGIN = -1

#: Integers are ints: most weights are 0, and sums and comparisons of fractions take many times as long.
Weight = tuple[int | Fraction, int]
#: (x, y, w): x - y >= w.
Difference = tuple[int, int, Weight]
#: By y, the pairs (x, w) with x - y >= w.
Graph = dict[int, list[tuple[int, Weight]]]

_NOWHERE: Weight = (0, 0)


def difference_ends(terms: Terms | list[tuple[int, Fraction]]) -> tuple[int | None, int | None]:
    """Return the unknowns (x, y) if the sum of `terms` is x - y.

    If the sum is x alone, or -y alone, the missing unknown is returned as ORIGIN. For other sums return (None, None).
    """
    upper: int | None = None
    lower: int | None = None
    for variable, coefficient in terms:
        if coefficient == 1 and upper is None:
            upper = variable
        elif coefficient == -1 and lower is None:
            lower = variable
        else:
            return None, None
    if upper is None and lower is None:
        return None, None
    return (ORIGIN if upper is None else upper), (ORIGIN if lower is None else lower)


def difference_graph(differences: Iterable[Difference]) -> Graph:
    """The graph with an edge from y to x for each item (x, y, weight) of `differences`.

    A weight is a pair (w, s): x - y >= w, and x - y > w if s > 0. The graph maps y to the list of its pairs (x,
    weight), if it has any.
    """
    graph: Graph = defaultdict(list)
    for upper, lower, weight in differences:
        graph[lower].append((upper, weight))
    return graph


def greatest_bounds(
    graph: Graph, start: int, goal: int | None = None, enough: Weight | None = None
) -> dict[int, Weight] | None:
    """Return, for each variable x, the greatest weight that `graph` implies as a lower bound of x - `start`.

    A weight is a pair (w, s): x - start >= w, and x - start > w if s > 0. A variable without a bound is left out.
    Return None if the inequalities contradict each other; a contradiction that cannot be reached from `start` is not
    noticed. If `goal` and `enough` are given, the search ends once the bound for the variable `goal` is at least
    `enough`; other bounds may then be too small.
    """
    best: dict[int, Weight] = {start: _NOWHERE}
    pending: Iterable[int] = (start,)
    # After k rounds all paths of k steps are known. A path with more steps than keys contains a loop; unless the loop
    # is a contradiction, the path without it is at least as good.
    for _ in range(len(graph) + 1):
        further: dict[int, None] = {}
        for lower in pending:
            base, base_strict = best[lower]
            for upper, (weight, strict) in graph.get(lower, ()):
                bound = (base + weight, base_strict + strict)
                known = best.get(upper)
                if known is not None and bound <= known:
                    continue
                if upper == start:
                    return None
                best[upper] = bound
                if upper == goal and enough is not None and bound >= enough:
                    return best
                if upper in graph:
                    further[upper] = None
        if not further:
            return best
        pending = further
    return None


def number_between(low: Fraction | None, high: Fraction | None) -> Fraction:
    """Return a number between `low` and `high`, where None is infinite."""
    if low is None:
        return _ZERO if high is None else high - 1
    return low + 1 if high is None else (low + high) / 2


def is_contradictory(graph: Graph) -> bool:
    """True if no point satisfies all inequalities x - y >= w, or > w, of `graph`.

    `graph` is one that `difference_graph` returns.
    """
    # The source reaches every variable with weight 0, so a positive cycle is noticed wherever it is.
    source = ORIGIN - 1
    widened = dict(graph)
    widened[source] = [(variable, _NOWHERE) for variable in graph]
    return greatest_bounds(widened, source) is None


def absolute_value_bounds(sizes: Mapping[int, int]) -> list[Halfspace]:
    """The half-spaces that say |x[k]| <= x[s], two for each item k: s of `sizes`; k and s are keys of unknowns."""
    return [
        Halfspace(sorted_terms({key: Fraction(sign), size: Fraction(1)}), _ZERO)
        for key, size in sizes.items()
        for sign in (1, -1)
    ]

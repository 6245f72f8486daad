"""Half-spaces of rational space, the arithmetic of Farkas' lemma on them, and unions of polyhedra.

**Difference constraints** x - y >= w are a weighted graph; what they entail is found by longest paths: the half-spaces
for which feasibility and entailment are a search in a graph, without a linear program. A bound x >= w is a difference
with the variable ORIGIN, which is 0. Weights are pairs (w, s): s counts strict steps, so that x - y >= w with s > 0
means x - y > w. What closed differences with integer bounds entail of integers is found as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from dipc.frozen import frozen

# --- Half-spaces of rational space, and the arithmetic of Farkas' lemma on them ---------------------------------------

#: Σ coefficient · x[key], keys increasing, coefficients nonzero.
Terms = tuple[tuple[int, Fraction], ...]

#: By the place of an inequality in a system, its weight: positive.
Weights = Mapping[int, Fraction]

_ZERO = Fraction(0)


@frozen
class Halfspace:
    """Σ coefficient · x[key] + constant >= 0, or > 0 if `strict`; keys increasing, coefficients nonzero.

    What a key stands for (a noise, an input, a distance, a multiplier) is up to whoever made the half-space. One
    without coefficients is everything or nothing.
    """

    coefficients: Terms
    constant: Fraction
    strict: bool = False

    def coefficient(self, key: int) -> Fraction:
        return next((c for k, c in self.coefficients if k == key), _ZERO)

    def value(self, point: Mapping[int, Fraction]) -> Fraction:
        """Σ coefficient · x[key] + constant at a point that has all the keys."""
        total = self.constant
        for key, c in self.coefficients:
            total += c * point[key]
        return total

    def contains(self, point: Mapping[int, Fraction]) -> bool:
        value = self.value(point)
        return value > 0 or (not value and not self.strict)

    def complement(self) -> Halfspace:
        """The points that are not in this half-space: exactly, boundary included."""
        return Halfspace(tuple([(k, -c) for k, c in self.coefficients]), -self.constant, not self.strict)

    def closure(self) -> Halfspace:
        """With the boundary (for a half-space without coefficients: read with >=)."""
        return Halfspace(self.coefficients, self.constant) if self.strict else self

    def at(self, point: Mapping[int, Fraction]) -> Halfspace:
        """The half-space of the others, with numbers for some of its unknowns."""
        moved = sum((c * point[key] for key, c in self.coefficients if key in point), self.constant)
        return Halfspace(tuple([(key, c) for key, c in self.coefficients if key not in point]), moved, self.strict)

    def solved_for(self, key: int) -> tuple[dict[int, Fraction], Fraction]:
        """The bound for x[key] where the inequality is tight: slopes of the others, and a constant."""
        here = self.coefficient(key)
        return {k: -c / here for k, c in self.coefficients if k != key}, -self.constant / here

    def substituted(self, key: int, slopes: Mapping[int, Fraction], constant: Fraction) -> Halfspace:
        """The inequality with x[key] := Σ slopes·x + constant."""
        here = self.coefficient(key)
        if not here:
            return self
        total = {k: c for k, c in self.coefficients if k != key}
        for k, slope in slopes.items():
            total[k] = total.get(k, _ZERO) + here * slope
        return Halfspace(sorted_terms(total), self.constant + here * constant, self.strict)


def sorted_terms(coefficients: Mapping[int, Fraction]) -> Terms:
    """The terms of a half-space from its coefficients by key, zeros left out."""
    return tuple(sorted([(key, c) for key, c in coefficients.items() if c]))


def weighted_sum(system: Sequence[Halfspace], weights: Weights) -> Halfspace:
    """Σ weight · inequality: it holds wherever the weighted inequalities hold, because no weight is negative.

    It is strict if one of these is. Raises ValueError for a negative weight.
    """
    total: dict[int, Fraction] = {}
    constant, strict = _ZERO, False
    for index, weight in weights.items():
        if weight < 0:
            raise ValueError("inequalities are added up with weights that are not negative")
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
    """Whether these weights prove that no point satisfies the system (Farkas): their sum is 0 >= c with c > 0, or
    0 > c with c >= 0. False for weights of which one is negative.
    """
    if any(weight < 0 for weight in weights.values()):
        return False
    total = weighted_sum(system, weights)
    return not total.coefficients and not total.contains({})


def proved_bound(form: Halfspace, system: Sequence[Halfspace], weights: Weights) -> Fraction | None:
    """The b for which the weights prove Σ coefficient·x + constant of `form` to be >= b wherever the system holds.

    None where they prove none: the sum has other coefficients than the form, or a weight is negative.
    """
    if any(weight < 0 for weight in weights.values()):
        return None
    total = weighted_sum(system, weights)
    return form.constant - total.constant if total.coefficients == form.coefficients else None


def equation(coefficients: Iterable[tuple[int, Fraction]], constant: Fraction) -> tuple[Halfspace, Halfspace]:
    """Σ coefficient · x[key] + constant = 0, as two half-spaces; a key may occur several times."""
    total: dict[int, Fraction] = {}
    for key, c in coefficients:
        total[key] = total.get(key, _ZERO) + c
    terms = sorted_terms(total)
    return Halfspace(terms, constant), Halfspace(tuple([(k, -c) for k, c in terms]), -constant)


# --- Unions of polyhedra: whether some of them cover another one, and whether together they are one -------------------

#: Whether a system has no point that matters; what that is, and how many questions may be asked, is the caller's.
IsEmpty = Callable[[Sequence[Halfspace]], bool]


def is_covered(system: Sequence[Halfspace], covers: Sequence[Sequence[Halfspace]], is_empty: IsEmpty) -> bool:
    """Whether every point of the system that matters is in one of `covers`.

    What is left of the system beside the first cover falls into a piece for each of its inequalities: there it is the
    first one that does not hold.
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


def united(systems: Sequence[Sequence[Halfspace]], is_empty: IsEmpty) -> tuple[Halfspace, ...] | None:
    """The union of the systems as one, except for points that do not matter; None if it is not convex.

    A convex union satisfies every inequality that bounds it, and those are among the given ones: so it is what
    satisfies all inequalities that hold on every system.
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

#: Whole numbers are ints: most are 0, and adding up and comparing fractions takes many times as long.
Weight = tuple[int | Fraction, int]
#: (x, y, w): x - y >= w.
Difference = tuple[int, int, Weight]
#: by y, the (x, w) with x - y >= w.
Graph = dict[int, list[tuple[int, Weight]]]

_NOWHERE: Weight = (0, 0)


def difference_ends(terms: Terms | list[tuple[int, Fraction]]) -> tuple[int | None, int | None]:
    """(x, y) when the sum of the terms is x - y, with ORIGIN for one that is missing; else (None, None)."""
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


def graph_of(differences: Iterable[Difference]) -> Graph:
    """The differences by their lower end: a variable that nothing is above is no key."""
    graph: Graph = defaultdict(list)
    for upper, lower, weight in differences:
        graph[lower].append((upper, weight))
    return graph


def greatest_bounds(
    graph: Graph, start: int, goal: int | None = None, enough: Weight | None = None
) -> dict[int, Weight] | None:
    """By x, the greatest w that the graph entails in x - start >= w; None when the graph is contradictory.

    With `goal` and `enough` the search may stop early: the bound given for `goal` is then at least `enough`, others
    may be smaller than entailed. A contradiction that `start` does not reach is not noticed.
    """
    best: dict[int, Weight] = {start: _NOWHERE}
    pending: Iterable[int] = (start,)
    # After k rounds all paths of k steps are known; a path with more steps than there are keys visits one of them
    # twice, and is no better without the loop between, except for a contradiction.
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


def is_contradictory(graph: Graph) -> bool:
    """Whether no point satisfies all the differences."""
    # A source that reaches every variable with weight 0: a positive cycle is then noticed wherever it is.
    source = ORIGIN - 1
    widened = dict(graph)
    widened[source] = [(variable, _NOWHERE) for variable in graph]
    return greatest_bounds(widened, source) is None


def lengths(sizes: Mapping[int, int]) -> list[Halfspace]:
    """That each of these unknowns is at most another one, whose key it stands for, and at least the opposite of it."""
    return [
        Halfspace(sorted_terms({key: Fraction(sign), size: Fraction(1)}), _ZERO)
        for key, size in sizes.items()
        for sign in (1, -1)
    ]

"""Events over normal noises, perhaps with Laplace noises, that form a tree: built from half-spaces, and read from JSON.

The centers of a tree are values, or linear combinations of values. Given its parent x, a center t is normal around
slope·x. All half-spaces, and all bounds of leaves, are linear in one center and its parent. With X = eps·N, or X = N if
the deviation does not depend on eps, each noise has a fixed variance, and eps occurs in the half-spaces alone.
`messages.py` and `kinked.py` compute the probabilities.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb

from dipc.verifier import reading as read
from dipc.verifier.reading import NotDerived, Rejected
from dipc.verifier.reals import UNIT, Number, read_number

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The most centers, leaves, and bounds on one side of a leaf that are searched for implied ones.
MOST_CENTERS, MOST_LEAVES, MOST_LINES = 60, 500, 12

#: The coefficients (a, b, d) of a·t + b·x + d·eps, for a center t and its parent x.
Form = tuple[Fraction, Fraction, Fraction]


@dataclass(frozen=True, slots=True, order=True)
class Spread:
    """The law of a value: Laplace with the rate `size`, or normal with the variance `size`."""

    laplace: bool
    size: Fraction

    def times(self, factor: Fraction) -> Spread:
        """Return the law of `factor` times the value."""
        return Spread(self.laplace, self.size / abs(factor) if self.laplace else self.size * factor**2)


@dataclass(frozen=True, slots=True, order=True)
class Leaf:
    """A leaf: a value L of the law `spread`, with bounds that are forms of the center and its parent.

    The event requires L + form >= 0 for each `lower` form, and L <= form for each `upper` form.
    """

    spread: Spread
    lower: tuple[Form, ...]
    upper: tuple[Form, ...]

    @property
    def forms(self) -> tuple[Form, ...]:
        return self.lower + self.upper


@dataclass(frozen=True, slots=True, order=True)
class Center:
    """A value of the law `spread` around slope·x, where x is the value of its parent, or around 0 at the root.

    The event requires that the forms of `own` are not negative. `leaves` has pairs (leaf, number of such leaves), and
    `below` the centers whose parent is this one.
    """

    slope: Fraction
    spread: Spread
    own: tuple[Form, ...]
    leaves: Leaves
    below: tuple[Center, ...]

    @property
    def edges(self) -> Iterator[Form]:
        """The linear forms whose zeros are the points where the integrand is not smooth."""
        yield from self.own
        if self.spread.laplace:
            yield _ONE, _ZERO, _ZERO
        for leaf, _ in self.leaves:
            level = [*leaf.lower, *((-a, -b, -d) for a, b, d in leaf.upper)]
            level += [(_ZERO, _ZERO, _ZERO)] if leaf.spread.laplace else []
            yield from ((a - e, b - f, d - g) for (a, b, d), (e, f, g) in combinations(level, 2))

    @property
    def everything(self) -> Iterator[Spread]:
        """The laws of the values of this center and of all values below it."""
        yield self.spread
        yield from (leaf.spread for leaf, _ in self.leaves)
        for each in self.below:
            yield from each.everything

    @property
    def forms(self) -> Iterator[Form]:
        """The forms of this center and of all centers and leaves below it."""
        yield from self.own
        for leaf, _ in self.leaves:
            yield from leaf.forms
        for each in self.below:
            yield from each.forms

    def nearest_leaves(self, t: Fraction, x: Fraction) -> Leaves | None:
        """Return the leaves with their nearest bounds if the center is `t` and its parent `x`, in multiples of eps.

        The nearest of a leaf's lower bounds there implies its other lower bounds, and so does that of its upper ones.
        Return None if the event is impossible at these values.
        """

        def nearest(side: Sequence[Form]) -> tuple[Form, ...]:
            return (min(side, key=lambda form: (value(form), form)),) if side else ()

        def value(form: Form) -> Fraction:
            return form[0] * t + form[1] * x + form[2]

        if any(value(form) < 0 for form in self.own):
            return None
        near = [(Leaf(leaf.spread, nearest(leaf.lower), nearest(leaf.upper)), count) for leaf, count in self.leaves]
        # Between two bounds, a leaf has the sum of their values as its room.
        return None if any(leaf.upper and sum(map(value, leaf.forms)) <= 0 for leaf, _ in near) else tuple(near)

    def stretches(self, ends: Iterable[Fraction], kept: Collection[Fraction], x: Fraction) -> list[Stretch]:
        """Return the parts of the center's line, cut at `ends`, on which the event is possible.

        Each part is (lower end, upper end, leaves with their nearest bounds), with None for infinity. `x` is the value
        of the parent. Two neighboring parts with equal leaves are joined, unless the end between them is in `kept`.
        """
        result: list[Stretch] = []
        for low, high in pairwise([None, *sorted(ends), None]):
            near = self.nearest_leaves(number_between(low, high), x)
            if near is None:
                continue
            if result and low not in kept and result[-1][1:] == (low, near):
                low = result.pop()[0]
            result.append((low, high, near))
        return result


#: Different leaves, each with its number of occurrences.
Leaves = tuple[tuple[Leaf, int], ...]

#: An interval of the line of a center (None: infinity), with the leaves and their nearest bounds on it.
Stretch = tuple[Fraction | None, Fraction | None, Leaves]


@dataclass(frozen=True, slots=True, order=True)
class Tree:
    """The event that all bounds of a tree of values hold, as a function of eps/√square.

    Variances are multiples of `square`. If the tree is `fixed`, the deviations do not depend on eps, and 1 replaces
    eps.
    """

    root: Center
    fixed: bool
    square: Number = UNIT

    @property
    def is_kinked(self) -> bool:
        """True if a value of the tree has Laplace noise."""
        return any(spread.laplace for spread in self.root.everything)

    @property
    def bounds(self) -> dict[bool, Fraction] | None:
        """The bounds of an event over one normal value t, or None if the event is over several values or Laplace noise.

        The event is t + d·eps >= 0 for the d with the key True, and -t + d·eps >= 0 for the d with the key False. Each
        d is the least of its side; a key is missing if t is not bounded on this side.
        """
        root = self.root
        if root.leaves or root.below or root.spread.laplace or not all(a for a, _, _ in root.own):
            return None
        return {a > 0: d / abs(a) for a, _, d in sorted(root.own, key=lambda form: -form[2] / abs(form[0]))}

    @property
    def at_zero(self) -> Fraction | None:
        """The limit at eps = 0 if it is known by symmetry as a rational, otherwise None."""
        root, bounds = self.root, self.bounds
        if bounds is not None and not self.fixed:
            return Fraction(2 - len(bounds), 2)
        if self.fixed or self.is_kinked or root.own or root.below:
            return None
        if any(
            leaf.upper or [leaf.spread] != [root.spread.times(a) for a, _, _ in leaf.lower] for leaf, _ in root.leaves
        ):
            return None
        signs = [leaf.lower[0][0] > 0 for leaf, count in root.leaves for _ in range(count)]
        # All orders of equally distributed values are equally probable; only the rank of the center is fixed.
        return Fraction(1, (len(signs) + 1) * comb(len(signs), sum(signs)))

    @property
    def tails(self) -> list[Number | Fraction] | None:
        """The rates of bounds whose sum is at least the probability that a half-space of the event fails, or None.

        A bound is e^{-r·eps²}/2 if the rate r is a Number, and e^{-q·eps}/2 if the rate q is a Fraction. The result is
        None if a half-space has no positive slack, or if the tree is `fixed`. If the tree has one value, the bounds are
        about one half-space each, which fails with the probability erfc(√r·eps)/2; half-spaces that others imply are
        left out.
        """
        if self.fixed:
            return None
        bounds = self.bounds
        nearest = None if bounds is None else [(_ONE if up else -_ONE, _ZERO, d) for up, d in bounds.items()]
        result: list[Number | Fraction] = []
        stack = [(self.root, _ZERO)]
        for center, above in stack:
            plain = _ZERO if center.spread.laplace else center.slope**2 * above + center.spread.size
            stack += [(each, plain) for each in center.below]
            rows: list[tuple[Form, list[Spread], int]] = [
                (form, [], 1) for form in (center.own if nearest is None else nearest)
            ]
            rows += [(form, [leaf.spread], count) for leaf, count in center.leaves for form in leaf.forms]
            for (a, b, d), spreads, count in rows:
                if d <= 0:
                    return None
                if center.spread.laplace and a:
                    spreads = [*spreads, center.spread.times(a)]
                normal = a * a * plain + 2 * a * b * center.slope * above + b * b * above
                normal += sum((each.size for each in spreads if not each.laplace), _ZERO)
                variances = {self.square: normal} if normal else {}
                result += tail_rates(d, variances, [each.size for each in spreads if each.laplace]) * count
        return result


def tail_rates(d: Fraction, variances: Mapping[Number, Fraction], rates: Sequence[Fraction]) -> list[Number | Fraction]:
    """Return the rates of bounds whose sum is at least the probability that a half-space fails (lemma N4).

    Let all noises be multiplied by eps. The half-space fails only if the sum of its n values exceeds `d`·eps, and so
    only if one of them exceeds `d`·eps/n. `variances` has one item v for each normal value, and the variance of this
    value is v times the item's key. `rates` are those of the Laplace values.

    The result has one rate for each value. A Number r stands for the bound e^{-r·eps²}/2, and a Fraction q for
    e^{-q·eps}/2.
    """
    reach = d / max(1, len(variances) + len(rates))
    numbers = [Number(reach**2 / (2 * variance)) * square.inverse for square, variance in variances.items()]
    return [*numbers, *(rate * reach for rate in rates)]


def number_between(start: Fraction | None, end: Fraction | None) -> Fraction:
    """Return a number between `start` and `end`, where None is infinity."""
    if start is None:
        return _ZERO if end is None else end - 1
    return start + 1 if end is None else (start + end) / 2


# === from half-spaces ==========================================================================

#: The coefficients of a linear form by position, and half-spaces Σ c·value + d·eps >= 0.
_Row = Mapping[int, Fraction]
_Rows = Sequence[tuple[_Row, Fraction]]


def needed(rows: _Rows) -> list[int]:
    """Return the indices of the half-spaces in `rows` that the others do not imply, increasing (lemma N0b).

    All indices are returned in three cases:

    1. There is no value t such that each half-space contains at most one value besides t.
    2. No point is in the interior of all half-spaces.
    3. A value has more than MOST_LINES bounds on one side.
    """
    everything = list(range(len(rows)))
    values = sorted({value for row, _ in rows for value in row})
    center = next((t for t in values if all(len(row.keys() - {t}) <= 1 for row, _ in rows)), None)
    if center is None:
        return everything
    limits: list[tuple[Fraction, Fraction, int]] = []
    sides: dict[tuple[int, bool], list[tuple[Fraction, Fraction, int]]] = {}
    for place, (row, d) in enumerate(rows):
        a = row.get(center, _ZERO)
        for leaf in row.keys() - {center}:
            c = abs(row[leaf])
            sides.setdefault((leaf, row[leaf] > 0), []).append((a / c, d / c, place))
        if len(row) == 1 and a:
            limits.append((a, d, place))
    if any(len(lines) > MOST_LINES for lines in sides.values()):
        return everything
    lower = ((lines, sides.get((leaf, False), ())) for (leaf, is_lower), lines in sides.items() if is_lower)
    rooms = [(a + b, d + e, -1) for pair in lower for (a, d, _), (b, e, _) in product(*pair)]
    if any(not a and d <= 0 for a, d, _ in rooms):
        return everything
    # Of limits that cut t off at one point, the rooms come first, which have no position.
    low, first = max(((-d / a, -place) for a, d, place in limits + rooms if a > 0), default=(None, 1))
    high, last = min(((-d / a, place) for a, d, place in limits + rooms if a < 0), default=(None, -1))
    if low is not None and high is not None and low >= high:
        return everything
    kept = {place for place in (-first, last) if place >= 0}
    for lines in sides.values():
        meetings = {(e - d) / (a - b) for (a, d, _), (b, e, _) in combinations(lines, 2) if a != b}
        inside = sorted(u for u in meetings if (low is None or low < u) and (high is None or u < high))
        for start, end in pairwise([low, *inside, high]):
            u = number_between(start, end)
            kept.add(min(lines, key=lambda line: (line[0] * u + line[1], line))[2])
    return sorted(kept)


def tree_of(spreads: Sequence[Spread], rows: _Rows, *, fixed: bool, square: Number = UNIT) -> Tree:
    """Return the event of the half-spaces `rows` over independent values with the laws `spreads`.

    If `fixed`, variances do not depend on eps; they are multiples of `square`. Raises NotDerived if the half-spaces do
    not form a tree.
    """
    reason, results = "", []
    for leaves in _independent(rows, len(spreads)):
        _require_apart(rows, leaves)
        centers = [place for place in range(len(spreads)) if place not in leaves]
        for basis in _bases(centers, rows):
            try:
                results.append(_least_tree(basis, centers, rows, leaves, spreads))
            except NotDerived as refused:
                reason = reason or str(refused)
            else:
                break
    if not results:
        raise NotDerived(reason)
    return Tree(min(results), fixed, square if any(d for _, d in rows) else UNIT)


def _require_apart(rows: _Rows, leaves: frozenset[int]) -> None:
    """Raise NotDerived if two of the `leaves` are in one half-space of `rows`, which lemma N0 excludes."""
    if any(len(leaves & row.keys()) > 1 for row, _ in rows):
        raise NotDerived("two leaves are compared with each other")


def _independent(rows: _Rows, count: int) -> Iterator[frozenset[int]]:
    """Yield sets of values that may be the leaves of a tree of `count` values. Lemma N0 holds for any of them.

    A value can be a leaf in three cases: it is in one half-space; it is compared with one other value; or it lies
    between two values that are connected without it. Such values may exclude each other, so several sets are yielded,
    each with a different value chosen first. `rows` are the half-spaces.
    """
    inside = [[n for n, (row, _) in enumerate(rows) if place in row] for place in range(count)]
    near = [{other for n in numbers for other in rows[n][0]} - {place} for place, numbers in enumerate(inside)]
    single = {place for place, numbers in enumerate(inside) if len(numbers) == 1}
    seen = set()
    for first in [place for place in range(count) if place not in single or near[place] & single] or range(1):
        leaves, taken = set[int](), set[int]()
        for number in (None, 1, 2):
            for place in [first, *range(count)]:
                others = near[place] - leaves
                if place in leaves or taken.intersection(inside[place]) or not others:
                    continue
                if place not in single if number is None else len(others) != number:
                    continue
                if number == 2:
                    reached, groups = {min(others)}, [{*row} - leaves for row, _ in rows]
                    groups += [near[leaf] - leaves for leaf in leaves]
                    for _ in groups:
                        for group in groups:
                            reached |= group - {place} if reached & (group - {place}) else set()
                    if not others <= reached:
                        continue
                leaves.add(place)
                taken.update(inside[place])
        if leaves not in seen:
            seen.add(frozenset(leaves))
            yield frozenset(leaves)


def _bases(centers: Sequence[int], rows: _Rows) -> Iterator[list[list[Fraction]]]:
    """Yield two lists of linear forms, from which coordinates of the values `centers` may be taken.

    The coordinates are the first forms of a list that are linearly independent. The first list has the values
    themselves. The second has the forms of the half-spaces `rows`, without other values, and then the values
    themselves.
    """
    units = [[_ONE if place == other else _ZERO for other in centers] for place in centers]
    yield units
    forms = ([row.get(place, _ZERO) for place in centers] for row, _ in rows)
    yield [*sorted(forms, key=lambda form: (sum(map(bool, form)), form)), *units]


def _least_tree(
    basis: Sequence[Sequence[Fraction]],
    places: Sequence[int],
    rows: _Rows,
    leaves: frozenset[int],
    spreads: Sequence[Spread],
) -> Center:
    """Return the least, in the order of `Center`, of the trees that have one of the centers as their root.

    A center is a value that is integrated over. The trees are written in coordinates: the first independent forms of
    the centers in `basis`. `places` has the indices of the centers among all values, whose laws are `spreads`. `rows`
    are the half-spaces, and `leaves` the values that are not centers. Raises NotDerived if the coordinates do not form
    a tree, or if there are several centers and a Laplace noise.
    """
    if len(places) > 1 and any(spread.laplace for spread in spreads):
        raise NotDerived("comparisons of Gaussian and Laplace noises do not all share one noise")
    every = range(len(places))
    # The rows of independent forms, each solved for its first coordinate, by that coordinate.
    solved: dict[int, list[Fraction]] = {}
    for given in basis:
        line = [*given, *(_ONE if len(solved) == j else _ZERO for j in every)]
        for lead, each in solved.items():
            line = [c - line[lead] * e for c, e in zip(line, each, strict=True)]
        first = next((n for n in every if line[n]), None)
        if first is not None:
            line = [c / line[first] for c in line]
            for lead, each in solved.items():
                solved[lead] = [c - each[first] * e for c, e in zip(each, line, strict=True)]
            solved[first] = line
    # For each center, its coefficients in the coordinates; and the inverse of the covariance matrix of these.
    inverse = [solved[n][len(places) :] for n in every]
    precision = [
        [
            sum((each[i] * each[j] / spreads[k].size for k, each in zip(places, inverse, strict=True)), _ZERO)
            for j in every
        ]
        for i in every
    ]
    groups: list[_Group] = []
    sides: dict[int, tuple[list[_Side], list[_Side]]] = {}
    for row, d in rows:
        scaled_rows = ([row.get(k, _ZERO) * c for c in each] for k, each in zip(places, inverse, strict=True))
        columns = zip(*scaled_rows, strict=True)
        form = {i: total for i, column in enumerate(columns) if (total := sum(column, _ZERO))}
        mine = [place for place in row if place in leaves]
        if not mine:
            groups.append((frozenset(form), None, [(form, d)], []))
        for place in mine:
            size = abs(row[place])
            scaled = {i: c / size for i, c in form.items()}, d / size
            sides.setdefault(place, ([], []))[row[place] < 0].append(scaled)
    for place, (lower, upper) in sides.items():
        support = frozenset(i for form, _ in lower + upper for i in form)
        groups.append((support, spreads[place], lower, upper))
    laws = [spreads[k].times(1 / inverse[0][0]) for k in places if spreads[k].laplace]
    near = _neighbors(precision, {support for support, *_ in groups})
    rooted = _Rooted(precision, next(iter(laws), None), groups, near)
    return min(rooted.scaled(root) for root in every)


def _neighbors(precision: Sequence[Sequence[Fraction]], supports: Collection[frozenset[int]]) -> list[set[int]]:
    """Return the coordinates that are connected with each coordinate, by a number of `precision` or by a support.

    Each of `supports` has the coordinates of a half-space or leaf. Raises NotDerived unless each has at most two of
    them, and the connections form a tree.
    """
    if any(len(support) > 2 for support in supports):
        raise NotDerived("a comparison relates three sums of Gaussian noises")
    if not all(supports):
        raise NotDerived("a Gaussian noise is not compared with any other")
    size = len(precision)
    if size > MOST_CENTERS:
        raise NotDerived(f"more than {MOST_CENTERS} Gaussian noises are compared with each other")
    near = [{j for j in range(size) if j != i and (row[j] or {i, j} in supports)} for i, row in enumerate(precision)]
    reached = [0]
    for i in reached:
        reached += near[i].difference(reached)
    if sum(map(len, near)) != 2 * (size - 1) or len(reached) < size:
        raise NotDerived("the comparisons of Gaussian noises form a cycle")
    return near


#: A form in coordinates, and its number.
_Side = tuple[Mapping[int, Fraction], Fraction]

#: The coordinates in a leaf or half-space, the law of the leaf (None: a half-space), and the bounds on both sides.
_Group = tuple[frozenset[int], Spread | None, list[_Side], list[_Side]]


@dataclass(frozen=True, slots=True)
class _Rooted:
    """The parts of a tree of values, any center of which may become its root.

    The centers, which are integrated over, are coordinates with an index. `precision` is the inverse of their
    covariance matrix; a single center may have a `laplace` law instead. Each of `groups` is a half-space over centers
    alone, or a leaf (a value below one center) with the half-spaces that bound it. `near` has the coordinates with
    which each one is connected.
    """

    precision: Sequence[Sequence[Fraction]]
    laplace: Spread | None
    groups: Sequence[_Group]
    near: Sequence[set[int]]

    def _inverse(self, i: int, parent: int | None) -> Fraction:
        row = self.precision[i]
        return row[i] - sum((row[j] ** 2 / self._inverse(j, i) for j in self.near[i] if j != parent and row[j]), _ZERO)

    def scaled(self, root: int) -> Center:
        """Return the tree from center number `root`, scaled so that the greatest rate of its Laplace noises is 1.

        In a tree without Laplace noise, the greatest absolute value of a constant in the half-spaces becomes 1 instead.
        If all of these are 0, the tree is not scaled.
        """
        center = self._center(root, None, _ONE)
        rates = [spread.size for spread in center.everything if spread.laplace]
        return _divided(center, 1 / max(rates) if rates else max(abs(d) for _, _, d in center.forms) or _ONE)

    def _center(self, i: int, parent: int | None, above: Fraction) -> Center:
        """Return the subtree whose center is coordinate `i`, below the coordinate `parent` (None: it is the root).

        `above` is the scale of the parent. The result is the first in sorted order of the trees that differ from each
        other only in the signs of values. As a function of the values of center and parent, the integrand is not smooth
        on some lines. Raises NotDerived if those that depend on both values have several directions.
        """
        wanted = {frozenset({i}), frozenset({i} if parent is None else {i, parent})}
        mine = [group for group in self.groups if group[0] in wanted]
        inverse = self._inverse(i, parent)
        slope = _ZERO if parent is None else -self.precision[i][parent] / inverse
        law = self.laplace or Spread(False, 1 / inverse)
        plain = Center(slope, law, *self._forms(mine, (i, parent), (_ONE, above)), ())
        meeting = {a / b for a, b, _ in plain.edges if a and b}
        if len(meeting) > 1:
            raise NotDerived(
                "two Gaussian noises are compared, directly or through others, with different ratios of coefficients"
            )
        scales = [-meeting.pop()] if meeting else []
        if not scales:
            ratios = [abs(b / a) for leaf, _ in plain.leaves for a, b, _ in leaf.forms if a and b]
            size = above / abs(slope) if slope else 1 / max(ratios, default=_ONE)
            scales = [size, -size]
        return min(
            Center(
                slope * scale / above,
                law.times(scale),
                *self._forms(mine, (i, parent), (scale, above)),
                tuple(sorted(self._center(j, i, scale) for j in self.near[i] if j != parent)),
            )
            for scale in scales
        )

    def _forms(
        self, groups: Sequence[_Group], pair: tuple[int, int | None], scales: tuple[Fraction, Fraction]
    ) -> tuple[tuple[Form, ...], Leaves]:
        """Return two tuples for a center: its half-spaces, and its different leaves with their counts.

        `pair` has the indices of the center and of its parent (None at the root), and `scales` the numbers by which
        they are multiplied. `groups` are the half-spaces and leaves that belong to this center.
        """

        def forms(side: Sequence[_Side]) -> list[Form]:
            i, j = pair
            return [
                (form.get(i, _ZERO) / scales[0], _ZERO if j is None else form.get(j, _ZERO) / scales[1], d)
                for form, d in side
            ]

        own: set[Form] = set()
        leaves: dict[Leaf, int] = {}
        for _, spread, lower, upper in groups:
            low, high = forms(lower), forms(upper)
            if spread is None:
                own |= {_divided_form(form, next(abs(c) for c in form if c)) for form in low}
                continue
            # The leaf is scaled so that its greatest coefficient is 1; -L has the law of L.
            size = next(filter(None, (max(abs(form[place]) for form in low + high) for place in range(3))), _ONE)
            first, second = sorted(tuple(sorted({_divided_form(f, size) for f in side})) for side in (low, high))
            leaf = Leaf(spread.times(1 / size), *((first, second) if first else (second, first)))
            leaves[leaf] = leaves.get(leaf, 0) + 1
        return tuple(sorted(own)), tuple(sorted(leaves.items()))


def _divided_form(form: Form, size: Fraction) -> Form:
    a, b, d = form
    return a / size, b / size, d / size


def _divided(center: Center, size: Fraction) -> Center:
    def divided(forms: Sequence[Form]) -> tuple[Form, ...]:
        return tuple(sorted((a, b, d / size) for a, b, d in forms))

    leaves = (
        (Leaf(leaf.spread.times(1 / size), divided(leaf.lower), divided(leaf.upper)), count)
        for leaf, count in center.leaves
    )
    return Center(
        center.slope,
        center.spread.times(1 / size),
        divided(center.own),
        tuple(sorted(leaves)),
        tuple(sorted(_divided(each, size) for each in center.below)),
    )


# === as they are written =======================================================================


def _spread(value: object) -> Spread:
    kind, size = read.tuple_of(read.one_of("laplace", "normal"), read.rational)(value)
    if size <= 0:
        raise Rejected("a value must have a positive variance or rate")
    return Spread(kind == "laplace", size)


_FORMS = read.listed(read.tuple_of(read.rational, read.rational, read.rational), MOST_LEAVES)
_LEAF = read.tuple_of(read.up_to(MOST_LEAVES), _spread, _FORMS, _FORMS)


def read_tree(value: object) -> Tree:
    """Read a tree from its JSON `value`. Raises Rejected if it is malformed."""
    root, fixed, square = read.fields(value, {"root": read.anything, "fixed": read.boolean}, {"square": read_number})
    tree = Tree(_read_center(root, 0), fixed, square or UNIT)
    alone = replace(tree.root, below=())
    if alone.slope or any(b for _, b, _ in alone.forms):
        raise Rejected("the first center must not have a parent")
    if tree.is_kinked and (tree.root.below or square):
        raise Rejected("a tree with Laplace noise must have one center, and no field `square`")
    return tree


def _read_center(value: object, depth: int) -> Center:
    if depth > MOST_CENTERS:
        raise Rejected(f"a tree must not be deeper than {MOST_CENTERS}")
    below = read.listed(lambda each: _read_center(each, depth + 1), MOST_CENTERS)
    slope, spread, own, stated, children = read.tuple_of(
        read.rational, _spread, _FORMS, read.listed(_LEAF, MOST_LEAVES), below
    )(value)
    leaves = tuple((Leaf(law, tuple(lower), tuple(upper)), count) for count, law, lower, upper in stated)
    if any(not count or not leaf.lower for leaf, count in leaves):
        raise Rejected("a leaf must occur at least once, and must have a bound")
    return Center(slope, spread, tuple(own), leaves, tuple(children))

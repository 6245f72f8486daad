"""From where a path is at a distance of at most alpha, for every alpha: the sides, and a point of it that is so near.

The points are eliminated by Fourier and Motzkin, coordinate after coordinate; what is left are sides of inputs and
alpha. Put in again in the opposite order, each coordinate is the greatest of its lower bounds, or the least of its
upper ones. Where several may be that, the inputs are cut into cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from dipc.algebra.limits import Undecided
from dipc.certificate.data import rational
from dipc.linear.halfspace import Halfspace, sorted_terms
from dipc.linear.program import contradiction, implies
from dipc.verifier.linear import ALPHA
from dipc.verifier.surroundings import MOST_CELLS, MOST_SIGNED, Neighbourhood

_ZERO, _ONE = Fraction(0), Fraction(1)

#: Half-spaces while coordinates are eliminated.
_MOST_SIDES = 200

#: The numbers of coordinates of the point are below all others.
_FIRST = ALPHA - 1

#: Σ coefficient·variable + constant, which stands under None.
_Line = Mapping[int | None, Fraction]


@dataclass(slots=True)
class _Nearby:
    """The bounds of each coordinate when its turn came, in this order: the point is as near to the input."""

    guards: Sequence[Halfspace]
    norm: str
    slots: Sequence[int]
    bounds: list[tuple[int, list[_Line], list[_Line]]] = field(default_factory=list)
    cells: int = 0

    def sides(self) -> list[Halfspace]:
        """What is left of inputs and alpha. Raises Undecided."""
        own = {slot: _FIRST - at for at, slot in enumerate(self.slots)}
        rows = [_halfspace({own[i]: c for i, c in guard.coefficients}, guard.constant) for guard in self.guards]
        rows += self._distances(own)
        for v in own.values():
            above = [row for row in rows if dict(row.coefficients).get(v, _ZERO) > 0]
            below = [row for row in rows if dict(row.coefficients).get(v, _ZERO) < 0]
            rows = [row for row in rows if v not in dict(row.coefficients)]
            if len(rows) + len(above) * len(below) > _MOST_SIDES:
                raise Undecided("a neighbourhood has too many sides")
            self.bounds.append((v, [_bound(row, v) for row in above], [_bound(row, v) for row in below]))
            rows = _needed([*rows, *(_without(v, one, two) for one in above for two in below)])
        return [row for row in rows if any(i >= 0 for i, _ in row.coefficients)]

    def _distances(self, own: Mapping[int, int]) -> Iterator[Halfspace]:
        if self.norm == "linf":
            for slot, v in own.items():
                for sign in (_ONE, -_ONE):
                    yield _halfspace({ALPHA: _ONE, slot: sign, v: -sign}, _ZERO)
            return
        if len(own) > MOST_SIGNED:
            raise Undecided("a neighbourhood has too many sides")
        for signs in product((_ONE, -_ONE), repeat=len(own)):
            terms = {ALPHA: _ONE}
            for (slot, v), sign in zip(own.items(), signs, strict=True):
                terms |= {slot: sign, v: -sign}
            yield _halfspace(terms, _ZERO)

    def near(self, cell: Sequence[Halfspace], chosen: Mapping[int, _Line]) -> dict[str, Any]:
        """A point for all of a cell, of which these coordinates are known, or how it is cut. Raises Undecided."""
        if len(chosen) == len(self.slots):
            self.cells += 1
            if self.cells > MOST_CELLS // 2:
                raise Undecided("a neighbourhood is cut into too many cells")
            lines = [(slot, chosen[_FIRST - at]) for at, slot in enumerate(self.slots)]
            return {"point": [[slot, *_line_data(line)] for slot, line in lines if line != {slot: _ONE}]}
        v, lows, highs = self.bounds[-1 - len(chosen)]
        sides = [_different(_put(line, chosen) for line in bounds) for bounds in (lows, highs)]
        side, candidates = min(enumerate(sides), key=lambda pair: len(pair[1]))
        best, *others = candidates
        for other in others:
            # The greatest of the lower bounds, or the least of the upper ones.
            gap = _difference(best, other) if side == 0 else _difference(other, best)
            if implies(cell, gap):
                continue
            opposite = _halfspace({i: -c for i, c in gap.coefficients}, -gap.constant)
            if not implies(cell, opposite):
                here, there = ([*cell, half] for half in (gap, opposite))
                return {
                    "cut": {**_form_data(gap), "strict": False},
                    "holds": self.near(here, chosen),
                    "fails": self.near(there, chosen),
                }
            best = other
        return self.near(cell, {**chosen, v: best})


def neighbourhood(question: Neighbourhood) -> dict[str, Any]:
    """The sides, and a point for each cell of what is within them. Raises Undecided."""
    guards = [_halfspace(dict(guard.form), guard.constant) for guard in question.guards]
    nearby = _Nearby(guards, question.norm, sorted({i for guard in guards for i, _ in guard.coefficients}))
    sides = nearby.sides()
    if any(dict(side.coefficients).get(ALPHA, _ZERO) <= 0 for side in sides):
        raise Undecided("not all inputs are near for some distance")
    turned = []
    for side in sides:
        terms = dict(side.coefficients)
        form = {i: -c for i, c in terms.items() if i != ALPHA}
        turned.append({**_form_data(_halfspace(form, -side.constant)), "step": rational(terms[ALPHA])})
    return {"sides": turned, "near": nearby.near([_halfspace({ALPHA: _ONE}, _ZERO), *sides], {})}


def _needed(rows: Sequence[Halfspace]) -> list[Halfspace]:
    """The rows without those that others imply; all of them hold together somewhere."""
    kept = list(dict.fromkeys(rows))
    for row in tuple(kept):
        rest = [other for other in kept if other is not row]
        negative = Halfspace(tuple((i, -c) for i, c in row.coefficients), -row.constant, strict=True)
        if contradiction([*rest, negative]) is not None:
            kept = rest
    return kept


def _halfspace(terms: Mapping[int, Fraction], constant: Fraction) -> Halfspace:
    return Halfspace(sorted_terms({i: c for i, c in terms.items() if c}), constant)


def _without(v: int, one: Halfspace, two: Halfspace) -> Halfspace:
    """The sum of multiples of two half-spaces in which the variable is no more."""
    left, right = dict(one.coefficients), dict(two.coefficients)
    first, second = -right[v], left[v]
    terms = {i: first * left.get(i, _ZERO) + second * right.get(i, _ZERO) for i in {**left, **right}}
    return _halfspace(terms, first * one.constant + second * two.constant)


def _bound(row: Halfspace, v: int) -> _Line:
    """The line at which the half-space has its edge in the direction of the variable."""
    size = -dict(row.coefficients)[v]
    return {**{i: c / size for i, c in row.coefficients if i != v}, None: row.constant / size}


def _put(line: _Line, chosen: Mapping[int, _Line]) -> _Line:
    """The line with those of other coordinates in their place."""
    found: dict[int | None, Fraction] = {}
    for i, c in line.items():
        for j, d in (chosen[i] if i is not None and i in chosen else {i: _ONE}).items():
            found[j] = found.get(j, _ZERO) + c * d
    return {i: c for i, c in found.items() if c}


def _different(lines: Iterator[_Line]) -> list[_Line]:
    return list({frozenset(line.items()): line for line in lines}.values())


def _difference(one: _Line, other: _Line) -> Halfspace:
    """one >= other."""
    terms = {i: one.get(i, _ZERO) - other.get(i, _ZERO) for i in {**one, **other} if i is not None}
    return _halfspace(terms, one.get(None, _ZERO) - other.get(None, _ZERO))


def _line_data(line: _Line) -> tuple[list[list[Any]], str]:
    terms = sorted((i, c) for i, c in line.items() if i is not None)
    return [[i, rational(c)] for i, c in terms], rational(line.get(None, _ZERO))


def _form_data(half: Halfspace) -> dict[str, Any]:
    return {"form": [[i, rational(c)] for i, c in half.coefficients], "constant": rational(half.constant)}

"""Proofs that nothing is claimed about the inputs of a cell, a part of a path of the `ideal` (FORMAT.md, lemma 5).

A proof states, for the whole cell, an input with another answer that is nearer than alpha. Otherwise it cuts the cell
in two, with a proof for each half.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import ceil
from typing import Any

from dipc.algebra.limits import Undecided
from dipc.certificate.data import coefficients_data, rational
from dipc.linear.halfspace import Halfspace, sorted_terms
from dipc.linear.program import Infeasible, Least, Point, contradiction, implies, integer_solution, minimum, solution
from dipc.verifier.every_number import outwards
from dipc.verifier.execution import Affine, plus, scaled
from dipc.verifier.ideal import Path
from dipc.verifier.inputs import Divided
from dipc.verifier.linear import ALPHA, Guard
from dipc.verifier.reading import DERIVATION_ENDS
from dipc.verifier.surroundings import MOST_SIGNED, Surroundings

_ZERO, _ONE, _HALF = Fraction(0), Fraction(1), Fraction(1, 2)

#: A form of inputs, alpha and rounded numbers.
Line = Affine | Fraction

_FURTHEST: Line = Affine(_ZERO, ((ALPHA, _ONE),))

#: The most half-spaces while coordinates are eliminated, and the most cells of one neighborhood.
_MOST_SIDES = 200
_MOST_CELLS = 200

#: The most cases of one question about integers.
MOST_CASES = 400


@dataclass(frozen=True, slots=True)
class NearInput:
    """An input nearer to u than alpha that has another answer, stated by one formula for every u of a cell.

    `finite` is the index of the combination of its finite inputs. `moved` has the real and int inputs that differ from
    those of u, as affine forms in u, alpha and integers. Each of these integers is a form in `rounded`, rounded up.
    """

    finite: int
    rounded: tuple[Line, ...]
    moved: Mapping[int, Line]

    def as_json(self) -> dict[str, Any]:
        return {
            "finite": self.finite,
            "rounded": [line_data(line) for line in self.rounded],
            "moved": [[slot, *line_data(line)] for slot, line in sorted(self.moved.items())],
        }

    def is_near(self, norm: str, point: Mapping[int, Fraction]) -> bool:
        """True if this input is nearer than alpha to u in the norm `norm`. `point` has the values of u and alpha."""
        values = dict(point)
        for place, line in enumerate(self.rounded, start=1):
            values[ALPHA - place] = Fraction(ceil(_value_at(line, values)))
        moves = [abs(_value_at(line, values) - values.get(slot, _ZERO)) for slot, line in self.moved.items()]
        length = sum(moves) if norm == "l1" else max(moves, default=_ZERO)
        return (_ONE if norm == "discrete" else length) < values[ALPHA]


@dataclass(frozen=True, slots=True)
class Cut:
    """A half-space that cuts a cell of inputs in two, with evidence that nothing is claimed on either side.

    `holds` is the evidence where the guard holds, `fails` where it does not.
    """

    guard: Guard
    holds: NearEvidence
    fails: NearEvidence


NearEvidence = NearInput | Cut


def find_near(question: Divided, inside: Point | Infeasible | None = None) -> NearEvidence | None:
    """Return evidence that nothing is claimed on the whole cell of `question`, or None if none is found.

    `inside` is a point of the cell, if one is known. Raises Undecided.
    """
    known, guards = question.known, question.coverage.part(question.cell)
    if inside is None:
        inside = solution(list(map(halfspace, question.cell)))
    if isinstance(inside, Infeasible) or inside.get(ALPHA, _ZERO) <= 0:
        return None
    point = {slot: inside.get(own, _ZERO) for slot, own in question.coverage.places.items()} | {ALPHA: inside[ALPHA]}
    for stated in _tried(known, guards, point):
        if (isinstance(stated, Cut) or stated.is_near(known.ideal.norm, point)) and _is_shown(question, stated):
            return stated
    return None


def _is_shown(question: Divided, stated: NearEvidence) -> bool:
    if isinstance(stated, Cut):
        return all(
            _is_shown(half, one)
            for half, one in halves(question, stated)
            if contradiction(list(map(halfspace, half.cell))) is None
        )
    try:
        question.known.require_near(stated.as_json(), question.coverage.part(question.cell))
    except DERIVATION_ENDS:
        return False
    return True


def halves(question: Divided, cut: Cut) -> Iterator[tuple[Divided, NearEvidence]]:
    """Yield the two sides of `cut`, a half-space that divides the cell of `question`, each with its evidence."""
    cells = question.coverage.halves(question.cell, cut.guard.renamed(question.coverage.places))
    for cell, stated in zip(cells, (cut.holds, cut.fails), strict=True):
        yield replace(question, cell=cell), stated


# --- What is tried ----------------------------------------------------------------------------------------------------


def _tried(known: Surroundings, guards: Sequence[Guard], point: Mapping[int, Fraction]) -> Iterator[NearEvidence]:
    ideal = known.ideal
    if ideal.norm == "discrete":
        yield from _anywhere(known)
        return
    here = list(ideal.combinations()).index(known.finite)
    # The cell is behind its last guard, so that a near input is most often across that guard.
    last = guards[-1].inputs
    for guard in sorted(known.path.guards, key=lambda guard: guard.inputs.keys() != last.keys()):
        yield from _across(known, here, guard)
    yield from _changing(known, here)
    if ideal.has_apart:
        return
    system = list(map(halfspace, guards))
    for other in ideal.paths(known.finite):
        if known.equal_numbers(other) is None:
            yield from _stepping(known, here, other)
            for inner in (False, True):
                nearest = _nearest(ideal.norm, other.guards, ideal.integer_inputs, inner)
                if nearest is not None and nearest.is_around(system, point):
                    with suppress(Undecided):
                        yield nearest.evidence(system, here, {}, frozenset())


def _anywhere(known: Surroundings) -> Iterator[NearEvidence]:
    """Yield, for the discrete norm, inputs with another answer than an input u, at most one of each path.

    The paths are those of the ideal. A path is left out if its inputs may have the answer of u. In this norm, any two
    different inputs have the distance 1, so all yielded inputs are equally near to u. `known` has the path of u.
    """
    for number, finite in enumerate(known.ideal.combinations()):
        for other in known.ideal.paths(finite):
            if known.equal_numbers(other) is None:
                system = list(map(halfspace, other.guards))
                inside = (
                    integer_solution(system, known.ideal.integer_inputs, MOST_CASES)
                    if known.ideal.integer_inputs
                    else solution(system)
                )
                if inside is not None and not isinstance(inside, Infeasible):
                    yield NearInput(number, (), dict(inside))


def _own(slot: int) -> Affine:
    return Affine(_ZERO, ((slot, _ONE),))


def _steps(here: int, direction: Mapping[int, Fraction], length: Line, rounded: tuple[Line, ...] = ()) -> NearInput:
    return NearInput(here, rounded, {slot: plus(_own(slot), scaled(length, d)) for slot, d in direction.items()})


def _across(known: Surroundings, here: int, guard: Guard) -> Iterator[NearEvidence]:
    """Yield inputs just across the boundary of `guard` from an input u, in the direction of the least distance to it.

    `guard` is a guard of the path of u, `here` is the index of the finite inputs of u, and `known` has the other paths.
    A yielded input is halfway between the boundary and the distance alpha from u. It is nearer to the boundary if a
    path beyond may have the answer of u. If `guard` is about ints alone, the input is the first one beyond the
    boundary.
    """
    width, direction = outwards(known.ideal.norm, guard)
    form = Affine(guard.constant, guard.form)
    back = {slot: -d for slot, d in direction.items()}
    if all(slot in known.ideal.integer_inputs for slot, _ in guard.form):
        yield _steps(here, back, _own(ALPHA - 1), (scaled(plus(form, _ONE), 1 / width),))
        return
    depth = scaled(form, 1 / width)
    middle = _steps(here, back, scaled(plus(depth, _FURTHEST), _HALF))
    yield middle
    room = _room(known, guard, width, direction)
    if room is not None:
        further = plus(plus(_FURTHEST, scaled(depth, -_ONE)), -room)
        assert isinstance(further, Affine), "a form with alpha stays a form"
        yield Cut(Guard(further.terms, further.constant, strict=True), _steps(here, back, plus(depth, room)), middle)


def _room(known: Surroundings, guard: Guard, width: Fraction, direction: Mapping[int, Fraction]) -> Fraction | None:
    """Return how far inputs may pass the boundary of `guard` before they can have the answer of an input u again.

    `guard` is a guard of the ideal's path at u, and `known` has this path and all others. An input leaves the path by
    steps of `direction`, each of which changes the form of `guard` by `width`. The result is a number of such steps:
    half of those that lead from the boundary to the next path that may have the answer of u. It is None if that number
    is 0, or if there is no such path.
    """
    beyond = 1 + len(known.ideal.machine.slots)
    depth = plus(scaled(Affine(guard.constant, guard.form), 1 / width), _own(beyond))
    least = None
    for other in known.ideal.paths(known.finite):
        if other is known.path or known.equal_numbers(other) is None:
            continue
        system = [Halfspace(((beyond, _ONE),), _ZERO), *(halfspace(each).closure() for each in known.path.guards)]
        for each in other.guards:
            rise = sum((c * direction.get(slot, _ZERO) for slot, c in each.form), _ZERO)
            after = plus(Affine(each.constant, each.form), scaled(depth, -rise))
            system.append(_side(dict(after.terms) if isinstance(after, Affine) else {}, _constant(after)))
        optimum = minimum(Halfspace(((beyond, _ONE),), _ZERO), system)
        if isinstance(optimum, Least):
            least = optimum.value if least is None else min(least, optimum.value)
    return least / 2 if least else None


def _changing(known: Surroundings, here: int) -> Iterator[NearEvidence]:
    """Yield evidence for a path on which the answer is a function of the inputs, so that moving an input changes it.

    There are three candidates for each input on which the answer depends. The first is u with this input increased, the
    second u with this input decreased. An int changes by 1, a real input by alpha/2. The third cuts the path's inputs
    at a value of this input that occurs in the path: the input is decreased at or above this value, and increased below
    it. `known` has the path of u, and `here` is the index of its finite inputs.
    """
    forms = (value for value in known.ideal.decisive_outputs(known.path.answer) if isinstance(value, Affine))
    for slot in sorted({slot for value in forms for slot, _ in value.terms}):
        length = _ONE if slot in known.ideal.integer_inputs else scaled(_FURTHEST, _HALF)
        up, down = (_steps(here, {slot: sign}, length) for sign in (_ONE, -_ONE))
        yield from (up, down)
        inside = solution([replace(halfspace(guard), strict=True) for guard in known.path.guards], [slot])
        if not isinstance(inside, Infeasible):
            yield Cut(Guard(((slot, _ONE),), -inside[slot], strict=False), down, up)


def _stepping(known: Surroundings, here: int, other: Path) -> Iterator[NearEvidence]:
    """Yield inputs of the path `other`, if its guards bound one form of ints from one side or from both.

    Each yielded input is reached from an input u by steps that change ints of the form by 1, with as few steps as
    possible. If the form is bounded from both sides and the norm is linf, the last step changes fewer ints. `known` has
    the path of u, and `here` is the index of its finite inputs.
    """
    whole, norm = known.ideal.integer_inputs, known.ideal.norm
    forms = {guard.form for guard in other.guards}
    strip = len(forms) == 2 and len({tuple((i, -c) for i, c in form) for form in forms} & forms) == 2
    if not all(slot in whole for form in forms for slot, _ in form) or not (
        len(forms) == 1 or (strip and norm == "linf")
    ):
        return
    for guard in other.guards:
        width, direction = outwards(norm, guard)
        value = Affine(guard.constant, guard.form)
        rounded: list[Line] = [scaled(value, -1 / width)]
        steps = _own(ALPHA - 1)
        yield _steps(here, direction, steps, tuple(rounded))
        if not strip:
            continue
        moved: dict[int, Line] = {}
        left = plus(value, scaled(steps, width))
        for slot, size in sorted(((slot, abs(c)) for slot, c in guard.form), key=lambda pair: -pair[1]):
            less: Line = left
            if size > 1:
                rounded.append(scaled(left, -1 / size))
                less = scaled(_own(ALPHA - len(rounded)), -_ONE)
            left = plus(left, scaled(less, -size))
            moved[slot] = plus(_own(slot), scaled(plus(steps, scaled(less, -_ONE)), direction[slot]))
        yield NearInput(here, tuple(rounded), moved)


# --- The inputs of a path that are near -------------------------------------------------------------------------------

#: The number of the variable for the part of alpha that is left, which also bounds every strict guard from below. The
#: coordinates that are eliminated have the numbers below this one.
_LEFT = -1_000


@dataclass(slots=True)
class _Nearest:
    """A search for the input nearest to u that satisfies the guards of a path, by elimination of coordinates.

    - `slots` are the inputs, and those in `whole` are ints. If `inner` is true, ints are rounded to the nearest
      integer, otherwise away from u.
    - `bounds` has (coordinate, lower bounds, upper bounds) in the order of elimination; a bound is an affine form.
    - `sides` are half-spaces: a nearest input exists for every u inside all of them.
    - `cells` counts the sets of inputs u for which the search found a near input.
    """

    slots: Sequence[int]
    whole: frozenset[int]
    inner: bool
    sides: list[Halfspace] = field(default_factory=list)
    bounds: list[tuple[int, list[Line], list[Line]]] = field(default_factory=list)
    cells: int = 0

    def eliminate(self, rows: list[Halfspace], own: Iterable[int]) -> None:
        for v in own:
            above = [row for row in rows if row.coefficient(v) > 0]
            below = [row for row in rows if row.coefficient(v) < 0]
            rows = [row for row in rows if not row.coefficient(v)]
            if len(rows) + len(above) * len(below) > _MOST_SIDES:
                raise Undecided("the search for the nearest input takes too many half-spaces")
            self.bounds.append((v, [_bound(row, v) for row in above], [_bound(row, v) for row in below]))
            rows = _needed([*rows, *(_canceled(v, one, two) for one in above for two in below)])
        highs = [row for row in rows if row.coefficient(_LEFT)]
        self.bounds.append((_LEFT, [], [_bound(row, _LEFT) for row in highs]))
        sides = [_side({i: c for i, c in row.coefficients if i != _LEFT}, row.constant) for row in highs]
        self.sides = [replace(side, strict=True) for side in sides if side.coefficients]

    def is_around(self, system: Sequence[Halfspace], point: Mapping[int, Fraction]) -> bool:
        """Return True if an intersection of half-spaces, `system`, is proved to lie in each half-space of `sides`.

        `point` maps slots to the coordinates of any point of the intersection. If this point is outside one of `sides`,
        the result is False without further work.
        """
        coordinates = {**dict.fromkeys(self.slots, _ZERO), **point}
        return all(side.value(coordinates) > 0 for side in self.sides) and all(
            implies(system, side) for side in self.sides
        )

    def evidence(
        self, cell: Sequence[Halfspace], here: int, chosen: Mapping[int, Line], upper: frozenset[int]
    ) -> NearEvidence:
        """Return a near input for every u in the set `cell`, or a cut of this set with evidence for both sides.

        `chosen` maps coordinates of the near input to the values already found, affine forms of u. The value of a
        coordinate in `upper` is one of its upper bounds, the value of any other coordinate one of its lower bounds.
        `here` is the index of the finite inputs of the near input. Raises Undecided.
        """
        if not chosen:
            self.cells = 0
        if len(chosen) == len(self.bounds):
            self.cells += 1
            if self.cells > _MOST_CELLS:
                raise Undecided("the search for the nearest input takes too many cells")
            return self._near_input(here, chosen, upper)
        v, *bounds = self.bounds[-1 - len(chosen)]
        distinct = [
            (list(dict.fromkeys(_put(line, chosen) for line in lines)), high) for high, lines in enumerate(bounds)
        ]
        (best, *others), high = min((each for each in distinct if each[0]), key=lambda each: len(each[0]))
        for other in others:
            # `best` becomes the greatest of the lower bounds, or the least of the upper ones.
            gap = plus(other, scaled(best, -_ONE)) if high else plus(best, scaled(other, -_ONE))
            side = _side(dict(gap.terms) if isinstance(gap, Affine) else {}, _constant(gap))
            if implies(cell, side):
                continue
            if not implies(cell, side.complement().closure()):
                here_and_there = [
                    self.evidence([*cell, half], here, chosen, upper) for half in (side, side.complement())
                ]
                return Cut(Guard(side.coefficients, side.constant, strict=False), *here_and_there)
            best = other
        return self.evidence(cell, here, {**chosen, v: best}, upper | {v} if high else upper)

    def _near_input(self, here: int, chosen: Mapping[int, Line], upper: frozenset[int]) -> NearInput:
        rounded: list[Line] = []
        moved: dict[int, Line] = {}
        for index, slot in enumerate(self.slots, start=1):
            line = chosen[_LEFT - index]
            if slot in self.whole and line != _own(slot):
                sign = -_ONE if _LEFT - index in upper and not self.inner else _ONE
                rounded.append(plus(line, -_HALF) if self.inner else scaled(line, sign))
                line = Affine(_ZERO, ((ALPHA - len(rounded), sign),))
            if line != _own(slot):
                moved[slot] = line
        return NearInput(here, tuple(rounded), moved)


@lru_cache(maxsize=256)
def _nearest(norm: str, guards: tuple[Guard, ...], whole: frozenset[int], inner: bool) -> _Nearest | None:
    """Return a search for the input nearest to an input u, in `norm`, that satisfies `guards`.

    The inputs in `whole` are ints. With `inner`, they are rounded to the nearest integer, so that the distance may be
    1/2 greater than without rounding. Otherwise they are rounded away from u. Return None if this rounding does not fit
    the norm and the guards, if no input satisfies them, or if the search takes too much work.
    """
    slots = sorted({slot for guard in guards for slot, _ in guard.form})
    of_ints = [guard for guard in guards if any(slot in whole for slot, _ in guard.form)]
    if inner != any(len(guard.form) > 1 for guard in of_ints) or (inner and norm != "linf"):
        return None
    own = {slot: _LEFT - index for index, slot in enumerate(slots, start=1)}
    rows = []
    for guard in guards:
        terms = {own[slot]: c for slot, c in guard.form} | ({_LEFT: -_ONE} if guard.strict else {})
        retreat = outwards(norm, guard)[0] / 2 if inner and guard in of_ints else _ZERO
        rows.append(_side(terms, guard.constant - retreat))
    if contradiction([*rows, Halfspace(((_LEFT, _ONE),), _ZERO, strict=True)]) is not None:
        return None
    nearest = _Nearest(slots, whole, inner)
    try:
        nearest.eliminate([*rows, *_distances(norm, own, _HALF if inner else _ZERO)], own.values())
    except Undecided:
        return None
    return nearest


def _distances(norm: str, own: Mapping[int, int], rounding: Fraction) -> Iterator[Halfspace]:
    """Yield half-spaces of an input u and another input, with distance at most alpha - slack - `rounding` in `norm`.

    The distance has this bound if and only if all of the half-spaces hold. The slack is a variable. `own` maps the slot
    of each input to its variable in the other input.
    """
    if norm == "linf":
        for slot, v in own.items():
            for sign in (_ONE, -_ONE):
                yield _side({ALPHA: _ONE, _LEFT: -_ONE, slot: sign, v: -sign}, -rounding)
        return
    if len(own) > MOST_SIGNED:
        raise Undecided("the search for the nearest input takes too many half-spaces")
    for signs in product((_ONE, -_ONE), repeat=len(own)):
        terms = {ALPHA: _ONE, _LEFT: -_ONE}
        for (slot, v), sign in zip(own.items(), signs, strict=True):
            terms |= {slot: sign, v: -sign}
        yield _side(terms, -rounding)


def _needed(rows: Sequence[Halfspace]) -> list[Halfspace]:
    kept = list(dict.fromkeys(rows))
    for row in tuple(kept):
        rest = [other for other in kept if other is not row]
        if contradiction([*rest, row.complement()]) is not None:
            kept = rest
    return kept


def _side(terms: Mapping[int, Fraction], constant: Fraction) -> Halfspace:
    return Halfspace(sorted_terms({i: c for i, c in terms.items() if c}), constant)


def _canceled(v: int, one: Halfspace, two: Halfspace) -> Halfspace:
    """Return the sum of `one` and `two`, each times a positive number, in which the variable `v` cancels."""
    left, right = dict(one.coefficients), dict(two.coefficients)
    first, second = -right[v], left[v]
    terms = {i: first * left.get(i, _ZERO) + second * right.get(i, _ZERO) for i in {**left, **right}}
    return _side(terms, first * one.constant + second * two.constant)


def _bound(row: Halfspace, v: int) -> Line:
    size = -row.coefficient(v)
    return plus(Affine(row.constant / size, tuple((i, c / size) for i, c in row.coefficients if i != v)), _ZERO)


def _put(line: Line, chosen: Mapping[int, Line]) -> Line:
    total: Line = _constant(line)
    for i, c in line.terms if isinstance(line, Affine) else ():
        total = plus(total, scaled(chosen.get(i, _own(i)), c))
    return total


# --- Lines ------------------------------------------------------------------------------------------------------------


def halfspace(guard: Guard) -> Halfspace:
    """Return `guard` as a half-space for linear programs."""
    return Halfspace(sorted_terms(dict(guard.form)), guard.constant, guard.strict)


def line_data(line: Line) -> list[Any]:
    """Return the affine form `line` as JSON data: its terms and its constant."""
    terms = line.terms if isinstance(line, Affine) else ()
    return [coefficients_data(terms), rational(_constant(line))]


def _constant(line: Line) -> Fraction:
    return line.constant if isinstance(line, Affine) else line


def _value_at(line: Line, values: Mapping[int, Fraction]) -> Fraction:
    terms = line.terms if isinstance(line, Affine) else ()
    return sum((c * values.get(i, _ZERO) for i, c in terms), _constant(line))

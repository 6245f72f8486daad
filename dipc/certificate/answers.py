"""What a certificate answers about half-spaces: the checker's steps are taken, and each question that they ask is
solved and written down, with the multipliers or the point that it takes to see that the answer is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any, assert_never

from dipc.algebra.limits import Undecided
from dipc.certificate.data import rational
from dipc.linear.halfspace import Halfspace, sorted_terms
from dipc.linear.program import (
    Infeasible,
    Least,
    contradiction,
    implies,
    integer_minimum,
    integer_solution,
    minimum,
    solution,
)
from dipc.verifier.bounds import Way, merged, put_together
from dipc.verifier.document import ask, document_of
from dipc.verifier.ideal import OPEN, Ideal
from dipc.verifier.inputs import Divided, Open
from dipc.verifier.linear import ALPHA, Guard, Question, contradictory
from dipc.verifier.program import (
    Branch,
    Choice,
    Code,
    Fault,
    Halt,
    Instruction,
    Jump,
    Operation,
    Place,
    Sample,
    Scored,
    Store,
)
from dipc.verifier.reading import DERIVATION_ENDS, Answers, Budget, NotDerived, WrongAnswer
from dipc.verifier.shifts import Followed
from dipc.verifier.surroundings import MOST_CELLS, MOST_SIGNED, Neighbourhood
from dipc.verifier.syntax import Literal

#: Cases of one question about integers, as many as branch and bound may look at.
_MOST_CASES = 400

#: More ways than this are left as they are.
_MOST_MERGED = 60

#: Shifts of noises in a loop that are tried, in multiples of the radius.
_GRID = range(-4, 5)


class Solved(Answers):
    """Answers that are computed on demand, and kept in `stated`."""

    def __init__(self) -> None:
        super().__init__({})
        self.stated: dict[str, Any] = {}
        self._unanswered: set[tuple[str, bool]] = set()

    def to(self, key: str, question: object) -> object:
        assert isinstance(question, Question | Divided | Neighbourhood | Followed), "nothing else is asked"
        asked = key, not isinstance(question, Question) or question.exact
        if key not in self.stated and asked not in self._unanswered:
            try:
                answer = _answer(question)
            except Undecided:
                answer = None
            if answer is None:
                self._unanswered.add(asked)
            else:
                self.stated[key] = answer
        return self.stated.get(key)


def with_answers(data: dict[str, Any]) -> dict[str, Any]:
    """A document with the answers to all that its steps ask, as far as these are taken."""
    solved = Solved()
    # What is wrong or takes too much is said when it is checked.
    with suppress(WrongAnswer, *DERIVATION_ENDS):
        ask(document_of(data), Budget(answers=solved), asks_nothing)
    return {**data, "answers": solved.stated}


def _answer(question: Question | Divided | Neighbourhood | Followed) -> dict[str, Any] | None:
    """Raises Undecided."""
    if isinstance(question, Followed):
        return {"shifts": _shifts(question)}
    if isinstance(question, Divided):
        return division(question)
    if isinstance(question, Neighbourhood):
        return neighbourhood(question)
    return _about_points(question) if question.wanted is None else _least(question, question.wanted)


def _shifts(question: Followed) -> list[Any]:
    """For all shifts of the noises that are carried on those on a grid that cost least."""
    grid = [shift * question.radius for shift in _GRID]
    best: dict[tuple[Fraction, ...], tuple[Fraction, Any]] = {}
    for before, fresh in product(question.costs, product(grid, repeat=len(question.drawn))):
        cost, left = question.cost(before, fresh), question.left(before, fresh)
        if cost is not None and (left not in best or cost < best[left][0]):
            best[left] = cost, [list(map(rational, before)), list(map(rational, fresh))]
    return [shifts for _, shifts in best.values()]


def _about_points(question: Question) -> dict[str, Any] | None:
    """A point of the half-spaces, where it is asked for, or multipliers that show that there is none."""
    point = solution(list(map(_halfspace, question.guards)))
    if isinstance(point, Infeasible):
        return {"none": _numbers(point.weights)}
    return {"point": _numbers(point)} if question.exact else None


def _least(question: Question, wanted: Guard) -> dict[str, Any] | None:
    """A point at which the form is least, and why it is nowhere less. None where that is not found."""
    system, form = list(map(_halfspace, question.guards)), _halfspace(wanted)
    if question.whole:
        nearest = None
        if integer_solution(system, question.whole, _MOST_CASES) is not None:
            nearest = integer_minimum(form, system, question.whole, _MOST_CASES)
        point = None if nearest is None else nearest[1]
    else:
        least = minimum(form, system)
        point = least.point if isinstance(least, Least) else None
    if point is not None:
        smaller = tuple([(i, -c) for i, c in form.coefficients])
        system.append(Halfspace(smaller, form.value({**dict.fromkeys(dict(smaller), Fraction(0)), **point}), True))
    return {"point": None if point is None else _numbers(point), "cases": _cases(form, system, question.whole)}


def _cases(form: Halfspace, system: Sequence[Halfspace], whole: frozenset[int]) -> Any:
    """The multipliers that show that no integers satisfy the system, case by case. Raises Undecided."""
    left = _MOST_CASES

    def shown(bounds: tuple[Halfspace, ...]) -> Any:
        nonlocal left
        left -= 1
        if not left:
            raise Undecided("the search for integer points takes too many cases")
        here = [*system, *bounds]
        weights = contradiction(here)
        if weights is not None:
            return _numbers(weights)
        least = minimum(form, here)
        assert isinstance(least, Least), "the form is bounded"
        broken = next((i for i in sorted(whole) if least.point.get(i, Fraction(0)).denominator != 1), None)
        if broken is None:
            raise Undecided("a case of integers has its nearest point on its boundary")
        most = Fraction(least.point[broken].numerator // least.point[broken].denominator)
        below, above = Halfspace(((broken, Fraction(-1)),), most), Halfspace(((broken, Fraction(1)),), -most - 1)
        return {
            "variable": broken,
            "most": rational(most),
            "below": shown((*bounds, below)),
            "above": shown((*bounds, above)),
        }

    return shown(())


def _halfspace(guard: Guard) -> Halfspace:
    return Halfspace(sorted_terms(dict(guard.form)), guard.constant, guard.strict)


def _numbers(numbers: Mapping[int, Fraction]) -> list[list[Any]]:
    return [[variable, rational(number)] for variable, number in sorted(numbers.items()) if number]


# --- Which tables ask nothing -----------------------------------------------------------------------------------------


def asks_nothing(ideal: Ideal) -> bool:
    """True only if det and dd take no answers of the certificate at any input, as the text shows: it compares each
    real or int input at most once, with a number, so that no two guards of a path are about one input."""
    machine = ideal.machine
    if ideal.norm == "discrete" or machine.distance.apart or machine.distance.same is not None:
        return False
    slots = machine.slots
    read = [(slot, alone) for item in machine.code for slot, alone in _read_by(item) if slots[slot].type in OPEN]
    return all(alone for _, alone in read) and len({slot for slot, _ in read}) == len(read)


def _read_by(item: Instruction | Code, *, compared: bool = False) -> Iterator[tuple[int, bool]]:
    """The slots that are read, each as often as it is, and whether that is to compare its value with a number."""
    match item:
        case Place(slots, _, index):
            yield from ((slot, compared and index is None) for slot in slots)
        case Operation(op, arguments):
            alone = op in ("<", "<=", ">", ">=") and any(isinstance(argument, Literal) for argument in arguments)
            for argument in arguments:
                yield from _read_by(argument, compared=alone)
        case Branch(condition):
            yield from _read_by(condition)
        case Store(Place(index=index), value):
            yield from _read_by(value)
            if index is not None:
                yield from _read_by(index)
        case Scored(arms=arms):
            for _, score in arms:
                yield from _read_by(score)
        case Literal() | Jump() | Halt() | Fault() | Sample() | Choice():
            pass  # An ideal has no noise.
        case _:
            assert_never(item)


# --- How all inputs are covered by classes ----------------------------------------------------------------------------


def division(question: Divided) -> dict[str, Any] | None:
    """A class that is right about all of the cell, and with which merges; else the comparison along which the cell is
    cut, or the path with another answer along whose sides it is. None where nothing helps."""
    coverage, cell = question.coverage, question.cell
    # Of many classes most are not about a point of the cell.
    point = solution(list(map(_halfspace, cell.guards)))
    for shown in question.classes:
        if isinstance(point, Infeasible) or not all(half.holds(point) for half in shown.halfspaces):
            continue
        for unites, most in product((True, False), (0, _MOST_MERGED)):
            merges = _Merges(most)
            try:
                if coverage.is_right(shown, question.known, cell, unites=unites, merges=merges):
                    return {"class": shown.number, "unites": unites, "merges": merges.pairs}
            except NotDerived:
                continue
            except Open as split:
                return _cut(split.guard)
    cut = _along_a_class(question)
    return _beside_a_rival(question) if cut is None else _cut(cut)


@dataclass(slots=True)
class _Merges:
    """Which ways are put together: the first pair that can be, until none can; if there are not more than this many."""

    most: int
    pairs: list[list[int]] = field(default_factory=list)

    def __call__(self, ways: Sequence[Way]) -> list[list[int]]:
        left = list(ways)
        while len(left) <= self.most:
            places = ((i, j) for i in range(len(left)) for j in range(i))
            pair = next(([i, j] for i, j in places if put_together(left[i], left[j], Budget())), None)
            if pair is None:
                break
            self.pairs.append(pair)
            left = merged(left, [pair], Budget())
        return self.pairs


def _along_a_class(question: Divided) -> Guard | None:
    """A half-space that does not move, of a class that is about a part of the cell."""
    coverage, cell = question.coverage, question.cell
    for shown in question.classes:
        open_ = [half for half in shown.halfspaces if not half.step and not coverage.implies(cell, half)]
        if open_ and not contradictory((*cell.guards, *open_), coverage.budget):
            return open_[0]
    return None


def _beside_a_rival(question: Divided) -> dict[str, Any] | None:
    """The path with another answer with the fewest sides, some of which is a half-space of a class."""
    coverage, cell = question.coverage, question.cell
    wanted = {
        _direction(half)
        for shown in question.classes
        for half in shown.halfspaces
        if half.step and not coverage.implies(cell, half)
    }
    useful = [
        (len(sides), number)
        for number, sides in enumerate(coverage.rivals(question.known) if wanted else ())
        if number not in cell.without and any(_direction(side) in wanted for side in sides)
    ]
    return {"rival": min(useful)[1]} if useful else None


def _direction(guard: Guard) -> tuple[tuple[int, Fraction], ...]:
    """The inputs' part of a form up to a positive factor."""
    form = sorted(guard.inputs.items())
    size = abs(form[0][1]) if form else Fraction(1)
    return tuple((i, c / size) for i, c in form)


def _cut(guard: Guard) -> dict[str, Any]:
    form = [[i, rational(c)] for i, c in guard.form]
    return {"cut": {"form": form, "constant": rational(guard.constant), "strict": guard.strict}}


# --- From where a path is at a distance of at most alpha --------------------------------------------------------------


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
        own = {slot: _FIRST - index for index, slot in enumerate(self.slots)}
        rows = [_side({own[i]: c for i, c in guard.coefficients}, guard.constant) for guard in self.guards]
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
                    yield _side({ALPHA: _ONE, slot: sign, v: -sign}, _ZERO)
            return
        if len(own) > MOST_SIGNED:
            raise Undecided("a neighbourhood has too many sides")
        for signs in product((_ONE, -_ONE), repeat=len(own)):
            terms = {ALPHA: _ONE}
            for (slot, v), sign in zip(own.items(), signs, strict=True):
                terms |= {slot: sign, v: -sign}
            yield _side(terms, _ZERO)

    def near(self, cell: Sequence[Halfspace], chosen: Mapping[int, _Line]) -> dict[str, Any]:
        """A point for all of a cell, of which these coordinates are known, or how it is cut. Raises Undecided."""
        if len(chosen) == len(self.slots):
            self.cells += 1
            if self.cells > MOST_CELLS // 2:
                raise Undecided("a neighbourhood is cut into too many cells")
            lines = [(slot, chosen[_FIRST - index]) for index, slot in enumerate(self.slots)]
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
            opposite = _side({i: -c for i, c in gap.coefficients}, -gap.constant)
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
    guards = [_side(dict(guard.form), guard.constant) for guard in question.guards]
    nearby = _Nearby(guards, question.norm, sorted({i for guard in guards for i, _ in guard.coefficients}))
    sides = nearby.sides()
    if any(dict(side.coefficients).get(ALPHA, _ZERO) <= 0 for side in sides):
        raise Undecided("some inputs stay outside of the neighbourhood at every distance")
    turned = []
    for side in sides:
        terms = dict(side.coefficients)
        form = {i: -c for i, c in terms.items() if i != ALPHA}
        turned.append({**_form_data(_side(form, -side.constant)), "step": rational(terms[ALPHA])})
    return {"sides": turned, "near": nearby.near([_side({ALPHA: _ONE}, _ZERO), *sides], {})}


def _needed(rows: Sequence[Halfspace]) -> list[Halfspace]:
    """The rows without those that others imply; all of them hold together somewhere."""
    kept = list(dict.fromkeys(rows))
    for row in tuple(kept):
        rest = [other for other in kept if other is not row]
        negative = Halfspace(tuple((i, -c) for i, c in row.coefficients), -row.constant, strict=True)
        if contradiction([*rest, negative]) is not None:
            kept = rest
    return kept


def _side(terms: Mapping[int, Fraction], constant: Fraction) -> Halfspace:
    return Halfspace(sorted_terms({i: c for i, c in terms.items() if c}), constant)


def _without(v: int, one: Halfspace, two: Halfspace) -> Halfspace:
    """The sum of multiples of two half-spaces in which the variable cancels."""
    left, right = dict(one.coefficients), dict(two.coefficients)
    first, second = -right[v], left[v]
    terms = {i: first * left.get(i, _ZERO) + second * right.get(i, _ZERO) for i in {**left, **right}}
    return _side(terms, first * one.constant + second * two.constant)


def _bound(row: Halfspace, v: int) -> _Line:
    """The line at which the half-space has its edge in the direction of the variable."""
    size = -dict(row.coefficients)[v]
    return {**{i: c / size for i, c in row.coefficients if i != v}, None: row.constant / size}


def _put(line: _Line, chosen: Mapping[int, _Line]) -> _Line:
    """The line with those of other coordinates in their place."""
    coefficients: dict[int | None, Fraction] = {}
    for i, c in line.items():
        for j, d in (chosen[i] if i is not None and i in chosen else {i: _ONE}).items():
            coefficients[j] = coefficients.get(j, _ZERO) + c * d
    return {i: c for i, c in coefficients.items() if c}


def _different(lines: Iterator[_Line]) -> list[_Line]:
    return list({frozenset(line.items()): line for line in lines}.values())


def _difference(one: _Line, other: _Line) -> Halfspace:
    """one >= other."""
    terms = {i: one.get(i, _ZERO) - other.get(i, _ZERO) for i in {**one, **other} if i is not None}
    return _side(terms, one.get(None, _ZERO) - other.get(None, _ZERO))


def _line_data(line: _Line) -> tuple[list[list[Any]], str]:
    terms = sorted((i, c) for i, c in line.items() if i is not None)
    return [[i, rational(c)] for i, c in terms], rational(line.get(None, _ZERO))


def _form_data(half: Halfspace) -> dict[str, Any]:
    return {"form": [[i, rational(c)] for i, c in half.coefficients], "constant": rational(half.constant)}

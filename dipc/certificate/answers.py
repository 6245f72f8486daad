"""The answers of a certificate to the checker's questions about half-spaces.

The writer runs the steps of the checker. It solves each question that they ask, and writes down the multipliers or the
point that prove the answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product, takewhile
from operator import is_
from typing import Any, assert_never

from dipc.algebra.limits import Undecided
from dipc.certificate.data import coefficients_data, rational
from dipc.certificate.near import MOST_CASES, Cut, NearEvidence, NearInput, find_near, halfspace, halves
from dipc.linear.halfspace import Halfspace
from dipc.linear.program import (
    Infeasible,
    Least,
    Point,
    contradiction,
    integer_minimum,
    integer_solution,
    minimum,
    solution,
)
from dipc.verifier.bounds import Way, merged, put_together
from dipc.verifier.document import checked, document_of, program_in, theorem_of
from dipc.verifier.ideal import OPEN, Ideal
from dipc.verifier.inputs import Divided, Open
from dipc.verifier.linear import ALPHA, Guard, Question
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
from dipc.verifier.surroundings import Surroundings
from dipc.verifier.syntax import Literal

#: The most ways among which pairs to merge are sought.
_MOST_MERGED = 60

#: The points that are kept of systems of half-spaces.
_MOST_POINTS = 8

#: The distances of a point far inside of a class.
_FAR_INSIDE = Guard(((ALPHA, Fraction(1)),), Fraction(-1_000_000), strict=False)

#: The shifts of noises in a loop that are tried, as multiples of the radius.
_GRID = range(-4, 5)


@dataclass(frozen=True, slots=True, eq=False)
class _KnownPoint:
    """A point that satisfies all guards of `cell`, a set of inputs.

    The next cell that the checker asks about often begins with the guards of `cell`. The point need not be tested
    against these guards again.
    """

    point: Point
    cell: tuple[Guard, ...]

    def is_just_in(self, guards: tuple[Guard, ...]) -> bool:
        """Return True if `guards` are the guards of `cell` followed by one more guard, which the point satisfies."""
        return len(self.cell) == len(guards) - 1 and all(map(is_, self.cell, guards)) and guards[-1].holds(self.point)

    def changed(self, change: Point, guards: tuple[Guard, ...]) -> _KnownPoint | None:
        """Return the point with the coordinates in `change` replaced, if it satisfies all `guards`, otherwise None."""
        point = {**self.point, **change}
        shared = sum(takewhile(bool, map(is_, self.cell, guards)))
        for place in reversed(range(len(guards))):
            guard = guards[place]
            if (place >= shared or not guard.variables.isdisjoint(change)) and not guard.holds(point):
                return None
        return _KnownPoint(point, guards)


class Solved(Answers):
    """A solver of the questions that the checker asks while it runs, which collects the answers for the certificate.

    `stated` maps the key of each question to its answer. `beside` has pairs (number of a class, index of one of its
    half-spaces). Each of these half-spaces moves with alpha, and inputs just beyond it have another right answer.
    """

    def __init__(self) -> None:
        super().__init__({})
        self.stated: dict[str, Any] = {}
        self.beside: set[tuple[int, int]] = set()
        #: The evidence for cells that the checker has not asked about yet.
        self._near: dict[str, NearEvidence] = {}
        self._unanswered: set[tuple[str, bool]] = set()
        #: The points found last. A cell is asked about before it is divided, and many parts of it have a known point.
        self._points: deque[_KnownPoint] = deque(maxlen=_MOST_POINTS)
        #: The inputs of the half-space that the last near input is behind.
        self._moved: Set[int] = frozenset()
        #: The surroundings and the length of the next cell, and the half-spaces of a class that are left to cut along.
        self._left: tuple[Surroundings, int, list[Guard]] | None = None

    def find(self, key: str, question: object) -> object:
        """Return the answer to `question` as JSON data, or None if no answer is found.

        Questions with the same `key` have the same answer, which is computed once.
        """
        assert isinstance(question, Question | Divided | Followed), (
            "a question is about a linear program, a cut or a shift"
        )
        asked = key, not isinstance(question, Question) or question.exact
        if key not in self.stated and asked not in self._unanswered:
            try:
                answer = self._divided(key, question) if isinstance(question, Divided) else self._answer(question)
            except Undecided:
                answer = None
            if answer is None:
                self._unanswered.add(asked)
            else:
                self.stated[key] = answer
        return self.stated.get(key)

    def _divided(self, key: str, question: Divided) -> dict[str, Any] | None:
        """Return evidence that the claim holds on the cell of `question`, a set of inputs; None if none is found.

        The evidence is a class of inputs whose proof is valid on the whole cell, or an input with another answer that
        is nearer than alpha. If there is neither, it is a half-space that cuts the cell in two. `key` names the
        question. Raises Undecided.
        """
        stated = self._near.pop(key, None)
        if stated is None:
            along = self._next_of_a_class(question)
            if along is None:
                point = self._point(question.cell)
                if isinstance(point, Infeasible):
                    return None
                answer = _of_a_class(question, point)
                if answer is not None:
                    return answer
                along = self._along_a_class(question, point)
                stated = self._near_input(question, point) if along is None else None
                along = self._along_a_class(question, point, empty=True) if along is None and stated is None else along
            if along is not None:
                _, behind = question.coverage.halves(question.cell, along)
                stated = self._near_input(replace(question, cell=behind), self._point(behind))
                return _cut(along) | ({"near": stated.as_json()} if isinstance(stated, NearInput) else {})
        match stated:
            case NearInput():
                return {"near": stated.as_json()}
            case Cut(guard):
                self._near |= {half.key: one for half, one in halves(question, stated)}
                return _cut(guard.renamed(question.coverage.places))
        if question.only is not None:
            cell = list(map(halfspace, question.cell))
            (candidate,) = question.classes
            outside = (
                (candidate.number, place)
                for place, half in enumerate(candidate.halfspaces)
                if half.step and contradiction([*cell, halfspace(half)]) is not None
            )
            self.beside |= {one for one in [next(outside, None)] if one is not None}
        return None

    def _near_input(self, question: Divided, point: Point | Infeasible) -> NearEvidence | None:
        (last,) = question.coverage.part(question.cell[-1:])
        self._moved = {*last.inputs, ALPHA}
        return find_near(question, point)

    def _point(self, guards: tuple[Guard, ...]) -> Point | Infeasible:
        """Return a point that satisfies `guards`, or the proof that there is none. Raises Undecided."""
        known = self._known_point(guards, {})
        if known is not None:
            return known
        few = self._of_few(guards)
        if isinstance(few, Infeasible):
            return few
        if few is not None:
            known = self._known_point(guards, few)
            if known is not None:
                return known
            refuted = self._across(guards)
            if refuted is not None:
                return refuted
        found = solution(list(map(halfspace, guards)))
        if not isinstance(found, Infeasible):
            self._points.appendleft(_KnownPoint(found, guards))
        return found

    def _refutation(self, guards: tuple[Guard, ...]) -> Infeasible | None:
        """Return the proof that no point satisfies `guards`, or None if some point does. Raises Undecided.

        For speed, a contradiction among a few of the guards is sought first.
        """
        if not any(known.is_just_in(guards) for known in self._points):
            few = self._of_few(guards)
            if isinstance(few, Infeasible):
                return few
            refuted = None if few is None else self._across(guards)
            if refuted is not None:
                return refuted
        point = self._point(guards)
        return point if isinstance(point, Infeasible) else None

    def _of_few(self, guards: tuple[Guard, ...]) -> Point | Infeasible | None:
        """Return a point that satisfies some of `guards`, or the proof that no point does. Raises Undecided.

        These are the guards without variables other than alpha and the variables of the last guard. Return None if all
        of `guards` are such guards.
        """
        few = _guard_places({*guards[-1].variables, ALPHA} if guards else set(), guards)
        return None if len(few) == len(guards) else _of_part(guards, few)

    def _across(self, guards: tuple[Guard, ...]) -> Infeasible | None:
        """Return the proof that some of `guards` contradict each other, or None if there is none. Raises Undecided.

        Only guards are used that have no variables except alpha and the variables of one half-space h. A near input was
        last sought for some cell, and h is the last guard of this cell. The result is None if a point satisfies all
        guards that are used.
        """
        found = _of_part(guards, _guard_places(self._moved, guards))
        return found if isinstance(found, Infeasible) else None

    def _known_point(self, guards: tuple[Guard, ...], change: Point) -> Point | None:
        """Return a point that satisfies `guards`, made from a known point by setting the coordinates in `change`.

        Return None if no known point becomes such a point.
        """
        for number, known in enumerate(self._points):
            point = known.changed(change, guards)
            if point is not None:
                if not change:
                    del self._points[number]
                self._points.appendleft(point)
                return point.point
        return None

    def _has_point(self, *guards: Guard) -> bool:
        return not isinstance(self._point(guards), Infeasible)

    def _along_a_class(self, question: Divided, point: Point, *, empty: bool = False) -> Guard | None:
        cell = question.cell
        for candidate in question.classes:
            halves = sorted(candidate.halfspaces, key=lambda half: half.step > 0)
            if candidate.dd in ("0", "1"):
                halves.append(Guard(((ALPHA, Fraction(-1)),), Fraction(candidate.dd), strict=False))
            outside = [half for half in halves if not half.holds(point)]
            if empty:
                is_looked_at = candidate.values is None
            else:
                is_looked_at = not outside or self._has_point(*cell, *halves)
            for number, half in enumerate(halves if is_looked_at else (), start=1):
                if half in cell or (half not in outside and not self._has_point(*cell, half.opposite())):
                    continue
                # A half-space without points of the cell would cut off nothing, again and again.
                if not empty or half not in outside or self._has_point(*cell, half):
                    if not empty:
                        self._left = question.known, len(cell) + 1, halves[number:]
                        # A point far inside of the class: points of the other cells differ from it in few inputs.
                        with suppress(Undecided):
                            self._has_point(*cell, *halves, _FAR_INSIDE)
                    return half
        return None

    def _next_of_a_class(self, question: Divided) -> Guard | None:
        left, self._left = self._left, None
        if left is None or left[0] is not question.known or left[1] != len(question.cell):
            return None
        for number, half in enumerate(left[2], start=1):
            if half not in question.cell and self._has_point(*question.cell, half.opposite()):
                self._left = question.known, len(question.cell) + 1, left[2][number:]
                return half
        return None

    def _answer(self, question: Question | Followed) -> dict[str, Any] | None:
        if isinstance(question, Followed):
            return {"shifts": _shifts(question)}
        if question.wanted is not None:
            return _least(question, question.wanted)
        if not question.exact:
            refuted = self._refutation(question.guards)
            return None if refuted is None else {"none": _numbers(refuted.weights)}
        few = self._of_few(question.guards)
        point = few if isinstance(few, Infeasible) else solution(list(map(halfspace, question.guards)))
        return {"none": _numbers(point.weights)} if isinstance(point, Infeasible) else {"point": _numbers(point)}


def _guard_places(inputs: Set[int], guards: Sequence[Guard]) -> list[int]:
    return [place for place, guard in enumerate(guards) if guard.variables <= inputs]


def _of_part(guards: Sequence[Guard], places: Sequence[int]) -> Point | Infeasible:
    """Return a point that satisfies the guards with the indices `places` in `guards`, or the proof that there is none.

    The proof numbers the guards as in `guards`. Raises Undecided.
    """
    found = _solution(tuple([guards[place] for place in places]))
    if isinstance(found, Infeasible):
        return Infeasible({places[place]: weight for place, weight in found.weights.items()})
    return found


@lru_cache(maxsize=4096)
def _solution(guards: tuple[Guard, ...]) -> Point | Infeasible:
    """Return a point that satisfies `guards`, or the proof that there is none. Raises Undecided.

    Answers are cached, since many cells have the same few guards.
    """
    return solution(list(map(halfspace, guards)))


def with_answers(data: dict[str, Any]) -> dict[str, Any]:
    """Return the certificate `data` with `answers` to the questions that the checker asks about it.

    If a step of the checker fails, only the questions before this step are answered.
    """
    return {**data, "answers": _solved(data).stated}


def with_classes_named(data: dict[str, Any]) -> dict[str, Any]:
    """Return the certificate `data` with answers to the checker's questions, and some half-spaces named in each class.

    The named half-spaces of a class are those just beyond which inputs have another right answer.
    """
    while True:
        solved = _solved(data)
        if not solved.beside:
            return {**data, "answers": solved.stated}
        entries = [entry for case in data["cases"] for entry in case["classes"]]
        for number, place in sorted(solved.beside):
            entries[number - 1]["beside"].append(place)


def _solved(data: dict[str, Any]) -> Solved:
    solved = Solved()
    # The check of the certificate reports errors, and steps that take too much.
    with suppress(WrongAnswer, *DERIVATION_ENDS):
        _ask(data, Budget(answers=solved))
    return solved


def _ask(data: dict[str, Any], budget: Budget) -> None:
    document = document_of(data)
    if document.table is None:
        checked(document, budget, {})
        return
    tree, machine, _ = program_in(document, budget)
    theorem = theorem_of(document, tree, machine, budget)
    if theorem.ideal is not None and not (isinstance(theorem.ideal, Ideal) and asks_nothing(theorem.ideal)):
        for row in data["rows"]:
            if row.get("dd") is not None:
                theorem.check_distance(row["input"], row["output"], row["dd"], computed=False)


def _shifts(question: Followed) -> list[Any]:
    grid = [shift * question.radius for shift in _GRID]
    best: dict[tuple[Fraction, ...], tuple[Fraction, Any]] = {}
    for before, fresh in product(question.costs, product(grid, repeat=len(question.path.rates))):
        cost, left = question.cost(before, fresh), question.carried_shifts(before, fresh)
        if cost is not None and (left not in best or cost < best[left][0]):
            best[left] = cost, [list(map(rational, before)), list(map(rational, fresh))]
    return [shifts for _, shifts in best.values()]


def _least(question: Question, wanted: Guard) -> dict[str, Any] | None:
    """Return, as JSON, the point at which the linear form of `wanted` is least among points that satisfy all guards.

    The guards are those of `question`. The result also has the proof that the form has no lower value at such a point.
    The point is null if none is found.
    """
    system, form = list(map(halfspace, question.guards)), halfspace(wanted)
    if question.whole:
        nearest = None
        if integer_solution(system, question.whole, MOST_CASES) is not None:
            nearest = integer_minimum(form, system, question.whole, MOST_CASES)
        point = None if nearest is None else nearest[1]
    else:
        least = minimum(form, system)
        point = least.point if isinstance(least, Least) else None
    if point is not None:
        smaller = tuple([(i, -c) for i, c in form.coefficients])
        system.append(Halfspace(smaller, form.value({**dict.fromkeys(dict(smaller), Fraction(0)), **point}), True))
    return {"point": None if point is None else _numbers(point), "cases": _cases(form, system, question.whole)}


def _cases(form: Halfspace, system: Sequence[Halfspace], whole: frozenset[int]) -> Any:
    left = MOST_CASES

    def multipliers(bounds: tuple[Halfspace, ...]) -> Any:
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
            raise Undecided(
                "in one case of the int inputs, the nearest point lies on a boundary that does not belong to the case"
            )
        most = Fraction(least.point[broken].numerator // least.point[broken].denominator)
        below, above = Halfspace(((broken, Fraction(-1)),), most), Halfspace(((broken, Fraction(1)),), -most - 1)
        return {
            "variable": broken,
            "most": rational(most),
            "below": multipliers((*bounds, below)),
            "above": multipliers((*bounds, above)),
        }

    return multipliers(())


def _numbers(numbers: Mapping[int, Fraction]) -> list[list[Any]]:
    return coefficients_data((variable, number) for variable, number in sorted(numbers.items()) if number)


# --- Which tables ask nothing -----------------------------------------------------------------------------------------


def asks_nothing(ideal: Ideal) -> bool:
    """True only if the checker computes det and dd of `ideal` at every input without an answer from the certificate.

    This is the case if the ideal compares each real or int input at most once, with a number, so that no two guards of
    a path are about one input. A precondition may compare inputs in other ways.
    """
    machine = ideal.machine
    if machine.requires:
        return False
    if ideal.norm == "discrete" or machine.distance.apart or machine.distance.same is not None:
        return False
    slots = machine.slots
    read = [(slot, alone) for item in machine.code for slot, alone in _read_by(item) if slots[slot].type in OPEN]
    return all(alone for _, alone in read) and len({slot for slot, _ in read}) == len(read)


def _read_by(item: Instruction | Code, *, compared: bool = False) -> Iterator[tuple[int, bool]]:
    """Yield (slot, flag) for each variable that `item`, an instruction or an expression, reads.

    The flag is True if the variable is one side of a comparison whose other side is a number. `compared` says that
    `item` itself is a side of such a comparison.
    """
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


def _of_a_class(question: Divided, point: Point) -> dict[str, Any] | None:
    coverage, cell, known = question.coverage, question.cell, {*question.cell}
    for candidate in question.classes:
        # Most of many classes do not contain this point of the cell.
        halves = [half for half in candidate.halfspaces if half not in known]
        if not all(half.holds(point) for half in halves) or not all(coverage.implies(cell, half) for half in halves):
            continue
        for unites, most in product((True, False), (0, _MOST_MERGED)):
            merges = _Merges(most)
            try:
                if coverage.is_right(candidate, question.known, cell, unites=unites, merges=merges):
                    return {"class": candidate.number, "unites": unites, "merges": merges.pairs}
            except NotDerived:
                continue
            except Open as split:
                return _cut(split.guard)
    return None


@dataclass(slots=True)
class _Merges:
    """A function that merges the first two exits of a list that can be merged, until no two can.

    It merges nothing in lists of more than `most` exits. It returns `pairs`, all pairs that it has merged so far. A
    pair has the indices of two exits in the list as it was just before they were merged.
    """

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


def _cut(guard: Guard) -> dict[str, Any]:
    form = coefficients_data(guard.form)
    return {"cut": {"form": form, "constant": rational(guard.constant), "strict": guard.strict}}

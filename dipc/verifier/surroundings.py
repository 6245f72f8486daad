"""What the distance of inputs from other answers implies, as half-spaces of inputs and that distance.

    found = Surroundings(ideal, finite, path, budget)
    found.behind()          what every input u of the path satisfies with every alpha <= dd(u)
    found.rivals()          alternatives: of each list it satisfies one

A half-space here is a guard over inputs and `ALPHA`, a distance that is left open. Statements about reals are argued
along straight lines and with closures, statements about ints with steps of 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any

from dipc.verifier import reading as read
from dipc.verifier.classes import read_halfspaces
from dipc.verifier.execution import Affine, plus, scaled
from dipc.verifier.ideal import Ideal, Path, open_inputs
from dipc.verifier.linear import (
    ALPHA,
    Guard,
    a_point,
    answers_count,
    contradictory,
    implied,
    is_empty,
    key_of,
    read_guard,
)
from dipc.verifier.program import Value
from dipc.verifier.reading import Budget, Rejected

_ZERO, _ONE = Fraction(0), Fraction(1)


#: Cells of one neighbourhood, and inputs whose l1 norm is written out.
MOST_CELLS = 400
MOST_SIGNED = 6


#: How a cell of a neighbourhood is cut, or the point that is near to all of its inputs: where it differs from them, by
#: input with a form of inputs and alpha.
_NODE: read.Table = {
    "cut": read_guard,
    "holds": read.anything,
    "fails": read.anything,
    "point": read.listed(read.tuple_of(read.natural, a_point, read.rational)),
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The other paths of the ideal for the same finite inputs, as one path meets them."""

    ideal: Ideal
    finite: tuple[Value, ...]
    path: Path
    budget: Budget
    #: Whether the path may have the same answer as others, by their identity: they are kept by the ideal.
    agreeing: dict[int, bool] = field(default_factory=dict, compare=False, repr=False)

    # --- one's own sides ------------------------------------------------------------------------------

    def behind(self) -> list[Guard]:
        """The guards of the path, each moved inwards by as much of the distance as is shown.

        Let form(u) >= 0 on the path, and form(u) < alpha·width for some u of it. On the straight way out one gets
        across after less than alpha, and a little further; there the answer is another, unless one is in another path
        that may have the same answer: such a one is either on this side altogether, or begins only some way behind, or
        its answer changes on the way, so that it is the same at one point at most.
        """
        guards = [*self.path.guards, *filter(None, map(self._moved, self.path.guards))]
        greatest = self._greatest_of_ints() if self.ideal.whole else self._greatest()
        if greatest is not None:
            guards.append(Guard(((ALPHA, -_ONE),), greatest, strict=False))
        return guards

    def _greatest(self) -> Fraction | None:
        """What the distance is at most, because other answers are as near as anything is; None where that is not known.

        From each point of a convex set that has inner ones an answer that is a form changes on the way to most of them.
        """
        if self.ideal.has_apart:
            return None
        if self.ideal.norm == "discrete":
            others = (other for finite in self.ideal.combinations() for other in self.ideal.paths(finite))
            return None if all(map(self._may_agree, others)) else _ONE
        moves = any(isinstance(value, Affine) for value in self._told(self.path))
        inner = [Guard(guard.form, guard.constant, strict=True) for guard in self.path.guards]
        return _ZERO if moves and not is_empty(inner, self.budget) else None

    def _greatest_of_ints(self) -> Fraction | None:
        """1 where one step of an int leads to another answer; None where that is not known.

        An output that is a form of an int is another after a step, unless that leads to another path: then it must not
        be one that may have the same answer. In the discrete norm every input is one step away.
        """
        same = any(self._may_agree(other) for other in self._others())
        if not same and any(
            isinstance(value, Affine) and any(slot in self.ideal.whole for slot, _ in value.terms)
            for value in self._told(self.path)
        ):
            return _ONE
        if self.ideal.norm != "discrete":
            return None
        others = (other for finite in self.ideal.combinations() for other in self.ideal.paths(finite))
        return _ONE if any(not self._may_agree(other) and self.ideal.is_taken(other) for other in others) else None

    def _told(self, path: Path) -> tuple[Value | Affine, ...]:
        return self.ideal.told(path.answer)

    def _may_agree(self, other: Path) -> bool:
        """Whether the answers at some input of the path and some of the other may be the same."""
        key = id(other)
        if key not in self.agreeing:
            self.agreeing[key] = self._agrees_somewhere(other)
        return self.agreeing[key]

    def _agrees_somewhere(self, other: Path) -> bool:
        """False only if no input u of the path and v of the other satisfy det(u) = det(v), with slots of their own for
        v."""
        beyond = len(self.ideal.machine.slots)
        guards = [*self.path.guards]
        guards += [replace(g, form=tuple((slot + beyond, c) for slot, c in g.form)) for g in other.guards]
        forms = False
        for one, two in zip(self._told(self.path), self._told(other), strict=True):
            if not isinstance(one, Affine) and not isinstance(two, Affine):
                if type(one) is not type(two) or one != two:
                    return False
                continue
            if isinstance(one, bool | str) or isinstance(two, bool | str):
                continue
            forms = True
            here = one if isinstance(one, Affine) else Affine(one, ())
            there = two if isinstance(two, Affine) else Affine(two, ())
            form = (*here.terms, *((slot + beyond, -c) for slot, c in there.terms))
            equal = Guard(form, here.constant - there.constant, strict=False)
            guards += [equal, replace(equal.opposite(), strict=False)]
        return not forms or not contradictory(guards, self.budget)

    def _others(self) -> Iterator[Path]:
        """The other paths for the same finite inputs."""
        return (other for other in self.ideal.paths(self.finite) if other is not self.path)

    def _moved(self, guard: Guard) -> Guard | None:
        """The guard moved inwards by the distance, one of ints by the distance less a step; None where that is not
        shown.

        A step changes a form of ints, with coprime coefficients, by its width, which is an integer as all numbers in it
        are: the first input outside is k <= form(u)/width + 1 steps away, where the form is between -width and -1. If
        the answer is another there, dd(u) <= k, so that form(u) >= (dd(u) - 1)·width.
        """
        if not guard.form or self.ideal.norm == "discrete":
            return None
        form = dict(guard.form)
        width, direction = outwards(self.ideal.norm, guard)
        stepped = all(slot in self.ideal.whole for slot in form)
        for other in self._others():
            if not stepped and self._changes(other, direction):
                continue
            if self._may_agree(other) and not implied(other.guards, form, guard.constant, self.budget):
                closed = [replace(each, strict=False) for each in other.guards]
                ends = (1 / width, _ONE) if stepped else (_ZERO, _ZERO)
                if self._is_met(guard, width, direction, other.guards if stepped else closed, ends):
                    return None
        if self.ideal.has_apart and self.may_be_apart(guard, width, direction):
            return None
        return Guard((*guard.form, (ALPHA, -width)), guard.constant + stepped * width, strict=False)

    def _changes(self, path: Path, direction: Mapping[int, Fraction]) -> bool:
        """Whether the answer of a path is another at each point of a straight way in this direction."""
        forms = (value.terms for value in self._told(path) if isinstance(value, Affine))
        return any(sum((c * direction.get(slot, _ZERO) for slot, c in form), _ZERO) for form in forms)

    def _is_met(
        self,
        facet: Guard,
        width: Fraction,
        direction: Mapping[int, Fraction],
        others: Sequence[Guard],
        ends: tuple[Fraction, Fraction],
    ) -> bool:
        """Whether these guards of another path may hold at u - (form(u)/width + further)·direction for some input u of
        this one, and some `further` between the ends: how far it is behind the facet."""
        further = -1  # a variable that is no input
        guards = [
            *self.path.guards,
            Guard(((further, _ONE),), -ends[0], strict=False),
            Guard(((further, -_ONE),), ends[1], strict=False),
        ]
        for guard in others:
            rise = sum((c * direction.get(slot, _ZERO) for slot, c in guard.form), _ZERO)
            row = dict(guard.form)
            for slot, c in facet.form:
                row[slot] = row.get(slot, _ZERO) - c * rise / width
            form = tuple((i, c) for i, c in {**row, further: -rise}.items() if c)
            guards.append(Guard(form, guard.constant - facet.constant * rise / width, guard.strict))
        return not contradictory(guards, self.budget)

    def may_be_apart(self, facet: Guard, width: Fraction, direction: Mapping[int, Fraction]) -> bool:
        """Whether an input of the path may be infinitely far from one on the straight way out, beyond the facet."""
        length = ALPHA - 1  # of the way: a variable that is no input
        one = open_inputs(self.ideal.machine, self.finite)
        other = {
            slot: plus(here, Affine(_ZERO, ((length, -direction.get(slot, _ZERO)),)))
            if isinstance(here, Affine)
            else here
            for slot, here in one.items()
        }
        beyond = Guard(((length, width), *((slot, -c) for slot, c in facet.form)), -facet.constant, strict=True)
        outwards = Guard(((length, _ONE),), _ZERO, strict=False)
        return any(apart for _, apart in self.ideal.cases(one, other, [*self.path.guards, beyond, outwards]))

    # --- those of others ------------------------------------------------------------------------------

    def rivals(self) -> Iterator[list[Guard]]:
        """For each path with another answer the sides of its neighbourhoods, turned round.

        The inputs at a distance of at most alpha from a path are { u : g(u) <= alpha·w for all sides (g, w) }, and each
        w > 0. Were g(u) < alpha·w for all of them, u would be nearer to the path than alpha.
        """
        if self.ideal.norm == "discrete" or self.ideal.has_apart:
            return
        for other in self.ideal.paths(self.finite):
            if other is not self.path and not self._may_agree(other):
                is_whole = any(slot in self.ideal.whole for guard in other.guards for slot, _ in guard.form)
                sides = self._around_integers(other) if is_whole else self._neighbourhood(other)
                if sides is not None:
                    yield sides

    def _around_integers(self, other: Path) -> list[Guard] | None:
        """What an input satisfies one of, where a path of ints, perhaps with reals, is at least alpha away; None where
        that is not known.

        From u the least number of steps to g >= 0, of ints, is the first integer k >= -g(u)/w, w being the width:
        alpha <= k, so that alpha·w <= -g(u) + w - 1. So it is with a strip, if k steps change its form by each integer
        up to k·w. From a box in the norm linf the distance is the greatest of those from its sides: w = 1 for those of
        ints, which have integer ends, and so an integer between them.
        """
        is_box = self.ideal.norm == "linf" and all(len(guard.form) == 1 for guard in other.guards)
        is_strip = self.ideal.norm == "linf" and _is_strip(other.guards)
        if not is_box and not is_strip and len(other.guards) != 1:
            return self._around_inner(other) if self.ideal.norm == "linf" else None
        guards = []
        for guard in other.guards:
            width, _ = outwards(self.ideal.norm, guard)
            step = width - 1 if guard.form[0][0] in self.ideal.whole else _ZERO
            guards.append(
                Guard((*((slot, -c) for slot, c in guard.form), (ALPHA, -width)), step - guard.constant, False)
            )
        return guards

    def _around_inner(self, other: Path) -> list[Guard] | None:
        """The same from what is left of the path if its sides g >= 0 of ints are g >= w/2, unless that is nothing.

        Each point of it has integers of the path within 1/2. So it is no nearer to u than alpha - 1/2.
        """
        guards = []
        for guard in other.guards:
            width, _ = outwards("linf", guard)
            inner = guard.form[0][0] in self.ideal.whole
            guards.append(replace(guard, constant=guard.constant - width / 2) if inner else guard)
        if is_empty(guards, self.budget):
            return None
        sides = self._neighbourhood(Path(tuple(guards), other.answer))
        if sides is None:
            return None
        return [replace(side, constant=side.constant - dict(side.form)[ALPHA] / 2) for side in sides]

    def _neighbourhood(self, other: Path) -> list[Guard] | None:
        """Sides of the inputs that are near another path, turned round, as the certificate says them; None where it
        does not. Where alpha >= 0 and no side is passed, a point of the path's closure is at a distance of at most
        alpha: one for each cell that this part is cut into, a form of the inputs and alpha."""
        question = Neighbourhood(self.ideal.norm, other.guards)
        answer = self.budget.answers.to(question.key, question)
        if answer is None:
            return None
        with answers_count():
            sides: list[Guard]
            sides, near = read.fields(answer, {"sides": read_halfspaces, "near": read.anything})
            if not all(side.step > 0 for side in sides):
                raise Rejected("a side of a neighbourhood must depend on the distance")
            within = [replace(side.opposite(), strict=False) for side in sides]
            waiting = [(near, [Guard(((ALPHA, _ONE),), _ZERO, strict=False), *within])]
            for _ in range(MOST_CELLS):
                if not waiting:
                    return sides
                node, cell = waiting.pop()
                cut, holds, fails, point = read.fields(node, {}, _NODE)
                if cut is not None:
                    waiting += [(holds, [*cell, cut]), (fails, [*cell, cut.opposite()])]
                elif not contradictory(cell, self.budget):
                    self._require_near(other, point or [], cell)
            raise Rejected(f"a neighbourhood is cut into more than {MOST_CELLS} cells")

    def _require_near(self, other: Path, stated: Sequence[Any], cell: Sequence[Guard]) -> None:
        """Raises Rejected unless a point is, for all inputs and alpha of the cell, in the closure of the path and at a
        distance of at most alpha: its coordinates that are not stated are those of the input."""
        point: dict[int, Fraction | Affine] = {}
        for slot, line, constant in stated:
            if not any(slot == i for guard in other.guards for i, _ in guard.form):
                raise Rejected("a point near another path differs in an input for which nothing is stated")
            point[slot] = plus(Affine(constant, tuple(line.items())), _ZERO)
        moves = [plus(line, Affine(_ZERO, ((slot, -_ONE),))) for slot, line in point.items()]
        needed = [
            _sum([guard.constant, *(scaled(point.get(i, Affine(_ZERO, ((i, _ONE),))), c) for i, c in guard.form)])
            for guard in other.guards
        ]
        distance = Affine(_ZERO, ((ALPHA, _ONE),))
        if self.ideal.norm == "linf":
            needed += [plus(distance, scaled(move, sign)) for move in moves for sign in (_ONE, -_ONE)]
        elif len(moves) <= MOST_SIGNED:
            for signs in product((_ONE, -_ONE), repeat=len(moves)):
                needed.append(_sum([distance, *map(scaled, moves, signs)]))
        else:
            raise Rejected("a point near another path differs in too many inputs")
        for value in needed:
            shown = (
                value >= 0
                if isinstance(value, Fraction)
                else implied(cell, dict(value.terms), value.constant, self.budget)
            )
            if not shown:
                raise Rejected("a point is not shown to be near another path")


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """From where a path with these guards is at a distance of at most alpha, for every alpha."""

    norm: str
    guards: tuple[Guard, ...]

    @property
    def key(self) -> str:
        """Under which its answer is kept."""
        return key_of([self.norm, *map(str, self.guards)])


def _sum(values: Iterable[Fraction | Affine]) -> Fraction | Affine:
    total: Fraction | Affine = _ZERO
    for value in values:
        total = plus(total, value)
    return total


def outwards(norm: str, guard: Guard) -> tuple[Fraction, dict[int, Fraction]]:
    """The dual norm of the guard's form, and a direction of length 1 in which the form grows as much."""
    form = dict(guard.form)
    sizes = [abs(c) for c in form.values()]
    width = sum(sizes, _ZERO) if norm == "linf" else max(sizes)
    steepest = sorted(form) if norm == "linf" else [max(sorted(form), key=lambda slot: abs(form[slot]))]
    return width, {slot: Fraction(1 if form[slot] > 0 else -1) for slot in steepest}


def _is_strip(guards: Sequence[Guard]) -> bool:
    """Whether the guards say between which values one form of ints is, with coprime coefficients, and steps of -1, 0
    and 1 of all inputs change it by every integer up to its width: then k such steps do up to k times that."""
    forms = {guard.form for guard in guards}
    first = guards[0].form
    if not forms <= {first, tuple((slot, -c) for slot, c in first)}:
        return False
    reached = Fraction(0)
    for size in sorted(abs(c) for _, c in first):
        if size > 2 * reached + 1:
            return False
        reached += size
    return True


def has_one_answer(ideal: Ideal) -> bool:
    """Whether det has the same answer everywhere, a number and no function of the inputs."""
    answers = {
        tuple((type(value), value) for value in ideal.told(path.answer))
        for finite in ideal.combinations()
        for path in ideal.paths(finite)
    }
    return len(answers) == 1 and not any(isinstance(value, Affine) for answer in answers for _, value in answer)

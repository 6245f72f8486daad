"""What the distance of inputs from other answers implies, as half-spaces of inputs and that distance.

    found = Surroundings(ideal, finite, path, budget)
    found.behind()          what every input u of the path satisfies with every alpha <= dd(u)
    found.rivals()          alternatives: of each list it satisfies one

A half-space here is a guard over inputs and `ALPHA`, a distance that is left open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from dipc.verifier.budget import Budget
from dipc.verifier.execution import Affine, Held, plus
from dipc.verifier.ideal import Ideal, Path
from dipc.verifier.linear import Guard, Row, implied, is_empty, least
from dipc.verifier.program import Value

_ZERO, _ONE = Fraction(0), Fraction(1)

_STEP = "classes"

#: The distance among inputs, which have the numbers of their slots from 0 on; -1 is taken in linear programs.
ALPHA = -2

#: Sides of a neighbourhood while variables are eliminated, and inputs of a region whose l1 norm is written out.
MOST_SIDES = 200
MOST_SIGNED = 6


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The other paths of the ideal for the same finite inputs, as one path meets them."""

    ideal: Ideal
    finite: tuple[Value, ...]
    path: Path
    budget: Budget

    # --- one's own sides ------------------------------------------------------------------------------

    def behind(self) -> list[Guard]:
        """The guards of the path, each moved inwards by as much of the distance as is shown.

        Let form(u) >= 0 on the path, and form(u) < alpha·width for some u of it. On the straight way out one gets
        across after less than alpha, and a little further; there the answer is another, unless one is in another path
        that may have the same answer: such a one is either on this side altogether or begins only some way behind.
        """
        found = [*self.path.guards, *filter(None, map(self._moved, self.path.guards))]
        greatest = self._greatest()
        if greatest is not None:
            found.append(Guard(((ALPHA, -_ONE),), greatest, strict=False))
        return found

    def _greatest(self) -> Fraction | None:
        """What the distance is at most, because other answers are as near as anything is; None where that is not known.

        From each point of a convex set that has inner ones an answer that is a form changes on the way to most of them.
        """
        if self.ideal.has_apart:
            return None
        if self.ideal.norm == "discrete":
            others = (other for finite in self.ideal.combinations() for other in self.ideal.paths(finite))
            return None if all(may_agree(self.path, other) for other in others) else _ONE
        moves = any(isinstance(value, Affine) for value in self.path.answer)
        inner = [Guard(guard.form, guard.constant, strict=True) for guard in self.path.guards]
        return _ZERO if moves and not is_empty(inner, self.budget, _STEP) else None

    def _moved(self, guard: Guard) -> Guard | None:
        if not guard.form or self.ideal.norm == "discrete":
            return None
        form = dict(guard.form)
        width, direction = outwards(self.ideal.norm, guard)
        for other in self.ideal.paths(self.finite):
            if other is self.path or not may_agree(self.path, other):
                continue
            inside = implied(other.guards, form, guard.constant, self.budget, _STEP)
            if not inside and not self._is_beyond(guard, width, direction, other.guards):
                return None
        if self.ideal.has_apart and self.may_be_apart(guard, width, direction):
            return None
        return Guard((*guard.form, (ALPHA, -width)), guard.constant, strict=False)

    def may_be_apart(self, facet: Guard, width: Fraction, direction: Mapping[int, Fraction]) -> bool:
        """Whether an input of the path may be infinitely far from one on the straight way out, beyond the facet."""
        length = ALPHA - 1  # of the way: a variable that is no input
        one: dict[int, Held] = {}
        other: dict[int, Held] = {}
        left = iter(self.finite)
        for slot in self.ideal.machine.numbered("input"):
            if self.ideal.machine.slots[slot].type == "real":
                one[slot] = here = Affine(_ZERO, ((slot, _ONE),))
                other[slot] = plus(here, Affine(_ZERO, ((length, -direction[slot]),)) if slot in direction else _ZERO)
            else:
                one[slot] = other[slot] = next(left)
        beyond = Guard(((length, width), *((slot, -c) for slot, c in facet.form)), -facet.constant, strict=True)
        way = Guard(((length, _ONE),), _ZERO, strict=False)
        return any(apart for _, apart in self.ideal.cases(one, other, [*self.path.guards, beyond, way]))

    def _is_beyond(
        self, facet: Guard, width: Fraction, direction: Mapping[int, Fraction], others: Sequence[Guard]
    ) -> bool:
        """Whether the other path is met only at some distance behind the facet, from whichever input of the path."""
        further = -1  # how far behind it: a variable that is no input
        rows: list[Row] = [({further: _ONE}, _ZERO)]
        rows += [(dict(guard.form), guard.constant) for guard in self.path.guards]
        for guard in others:
            # At u - (form(u)/width + further)·direction.
            rise = sum((c * direction.get(slot, _ZERO) for slot, c in guard.form), _ZERO)
            row = dict(guard.form)
            for slot, c in facet.form:
                row[slot] = row.get(slot, _ZERO) - c * rise / width
            rows.append(({**row, further: -rise}, guard.constant - facet.constant * rise / width))
        # Bounded by 0, so None says that they do not hold together.
        found = least({further: _ONE}, rows, self.budget, _STEP)
        return found is None or found > 0

    # --- those of others ------------------------------------------------------------------------------

    def rivals(self) -> Iterator[list[Guard]]:
        """For each path with another answer the sides of its neighbourhoods, turned round.

        The inputs at a distance of at most alpha from a path are { u : g(u) <= alpha·w for all sides (g, w) }, and each
        w > 0. Were g(u) < alpha·w for all of them, u would be nearer to the path than alpha.
        """
        if self.ideal.norm == "discrete" or self.ideal.has_apart:
            return
        for other in self.ideal.paths(self.finite):
            if other is not self.path and not may_agree(self.path, other):
                sides = self._neighbourhood(other)
                if sides is not None:
                    yield sides

    def _neighbourhood(self, other: Path) -> list[Guard] | None:
        """None where that takes too much."""
        slots = sorted({slot for guard in other.guards for slot, _ in guard.form})
        # There are moves d with u - d in the path; the number of d_i is that of the input i, below all others.
        moves = {slot: ALPHA - 1 - at for at, slot in enumerate(slots)}
        rows: list[dict[int | None, Fraction]] = []
        for guard in other.guards:
            row: dict[int | None, Fraction] = {None: guard.constant}
            for slot, c in guard.form:
                row |= {slot: c, moves[slot]: -c}
            rows.append(row)
        if self.ideal.norm == "linf":
            rows += [{ALPHA: _ONE, move: sign} for move in moves.values() for sign in (_ONE, -_ONE)]
        elif len(slots) <= MOST_SIGNED:
            rows += [
                {ALPHA: _ONE, **dict(zip(moves.values(), signs, strict=True))}
                for signs in product((_ONE, -_ONE), repeat=len(slots))
            ]
        else:
            return None
        for move in moves.values():
            above = [row for row in rows if row.get(move, _ZERO) > 0]
            below = [row for row in rows if row.get(move, _ZERO) < 0]
            rows = [row for row in rows if not row.get(move)]
            if len(rows) + len(above) * len(below) > MOST_SIDES:
                return None
            rows += [_without(move, one, two) for one in above for two in below]
            self.budget.spend(4 * len(rows) * (2 + 2 * len(slots)), _STEP)
            rows = self._needed(rows)
        sides = []
        for row in rows:
            form = tuple((slot, -c) for slot, c in sorted(row.items(), key=str) if slot in slots and c)
            if form and row.get(ALPHA, _ZERO) > 0:
                sides.append(Guard((*form, (ALPHA, -row[ALPHA])), -row.get(None, _ZERO), strict=False))
            elif form:
                return None  # Not so: the neighbourhoods together are everything.
        return sides

    def _needed(self, rows: Sequence[dict[int | None, Fraction]]) -> list[dict[int | None, Fraction]]:
        """The rows without those that others imply; all of them hold together somewhere."""
        guards = [
            Guard(tuple((slot, c) for slot, c in row.items() if slot is not None and c), row.get(None, _ZERO), False)
            for row in rows
        ]
        kept = list(range(len(rows)))
        for at, guard in enumerate(guards):
            rest = [guards[other] for other in kept if other != at]
            if implied(rest, dict(guard.form), guard.constant, self.budget, _STEP):
                kept.remove(at)
        return [rows[at] for at in kept]


def _without(
    move: int, one: Mapping[int | None, Fraction], two: Mapping[int | None, Fraction]
) -> dict[int | None, Fraction]:
    """The sum of multiples of two half-spaces in which the variable is no more."""
    first, second = -two[move], one[move]
    found = {slot: first * one.get(slot, _ZERO) + second * two.get(slot, _ZERO) for slot in {**one, **two}}
    return {slot: c for slot, c in found.items() if c and slot != move}


def outwards(norm: str, guard: Guard) -> tuple[Fraction, dict[int, Fraction]]:
    """The dual norm of the guard's form, and a direction of length 1 in which the form grows as much."""
    form = dict(guard.form)
    sizes = [abs(c) for c in form.values()]
    width = sum(sizes, _ZERO) if norm == "linf" else max(sizes)
    steepest = sorted(form) if norm == "linf" else [max(sorted(form), key=lambda slot: abs(form[slot]))]
    return width, {slot: Fraction(1 if form[slot] > 0 else -1) for slot in steepest}


def may_agree(path: Path, other: Path) -> bool:
    """Whether two paths may give the same answer: what depends on inputs may be anything."""
    return all(
        isinstance(one, Affine) or isinstance(two, Affine) or (type(one) is type(two) and one == two)
        for one, two in zip(path.answer, other.answer, strict=True)
    )


def has_one_answer(ideal: Ideal) -> bool:
    """Whether det has the same answer everywhere, a number and no function of the inputs."""
    answers = {
        tuple((type(value), value) for value in path.answer)
        for finite in ideal.combinations()
        for path in ideal.paths(finite)
    }
    return len(answers) == 1 and not any(isinstance(value, Affine) for answer in answers for _, value in answer)

"""That classes of a certificate about every real and int input are all inputs, and that their bounds are the program's.

    found = Coverage(machine, ideal, budget).check(classes)      what is left on trust, in words

The paths of the ideal block are all inputs. Each path is divided into cells, half-spaces of inputs and of alpha, until
a cell is empty or some class is right about it: the class's half-spaces are implied there, and its bound is that of the
program, which is executed with these inputs left open (`bounds.py`). A half-space of ints and its opposite are closed,
with whole constants: what is empty or implied for reals is so for integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

from dipc.verifier.bounds import Bounds
from dipc.verifier.budget import Budget
from dipc.verifier.classes import Halfspace, Kind, Shown
from dipc.verifier.decay import positive_everywhere
from dipc.verifier.execution import Affine
from dipc.verifier.ideal import OPEN, Ideal, Path, is_integral, whole_inputs
from dipc.verifier.linear import Guard, implied, is_empty
from dipc.verifier.program import Machine, Value
from dipc.verifier.rejection import NotDerived, Rejected
from dipc.verifier.ring import Closed, equal_closed, multiply, subtract
from dipc.verifier.sides import tightened
from dipc.verifier.surroundings import ALPHA, Surroundings, has_one_answer

_ZERO, _ONE = Fraction(0), Fraction(1)

_STEP = "classes"

#: The most cells that one path is divided into.
MOST_CELLS = 2_000


class _Open(Exception):
    """A comparison of inputs that a cell leaves open."""

    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self.guard = guard


@dataclass(frozen=True, slots=True)
class _Cell:
    """Inputs u of a path and distances alpha <= dd(u). Of each of the alternatives `left` such a pair satisfies one;
    None: they were not looked for."""

    guards: tuple[Guard, ...]
    left: tuple[tuple[Guard, ...], ...] | None

    def within(self, guard: Guard, whole: Set[int]) -> _Cell:
        """The part where the guard holds; inputs of `whole` are integers."""
        return _Cell((*self.guards, tightened(guard, whole)), self.left)

    def halves(self, guard: Guard, whole: Set[int]) -> list[_Cell]:
        """The part where the guard holds, and the rest."""
        return [self.within(guard, whole), self.within(guard.opposite(), whole)]


@dataclass
class Coverage:
    """Compares classes with one program, for the distance `alpha` that the claim is about, None for that of each
    input."""

    machine: Machine
    ideal: Ideal
    alpha: Fraction | None
    budget: Budget
    _bounds: Bounds = field(init=False)
    _whole: frozenset[int] = field(init=False)
    _why: str = ""

    def __post_init__(self) -> None:
        self._bounds = Bounds(self.machine, self.ideal, self.budget)
        self._whole = whole_inputs(self.machine)

    def check(self, classes: Sequence[Shown], *, everything: bool) -> tuple[str, ...]:
        """What is left on trust: each class must be right about some cell, and where `everything` is claimed, each cell
        must have a class."""
        try:
            self._bounds.require_plain()
            missing = self._missing(classes) if everything else 0
            if everything and not missing:
                return ()  # Whatever else a class says is so, then.
            # Each is about its own inputs at least.
            unused = sum(not self._is_about_its_own(shown) for shown in classes)
        except (NotDerived, Rejected) as error:
            # It is the derivation that took too much, not the certificate.
            return (f"that the classes are all inputs, with the program's bounds: {error.why}",)
        except RecursionError:
            return ("that the classes are all inputs, with the program's bounds: it is nested too deeply",)
        because = f": {self._why}" if self._why else ""
        trusted: list[str] = []
        if everything:
            trusted.append(f"that each input is in a class with the program's bound, of {missing} cells{because}")
        if unused:
            trusted.append(f"that {unused} of {len(classes)} classes have the program's bounds{because}")
        return tuple(trusted)

    def _answers(self, shown: Shown, path: Path) -> bool:
        """Whether a class has the finite outputs of a path."""
        outputs = [self.machine.slots[slot] for slot in self.machine.numbered("output")]
        if set(shown.answer) != {slot.name for slot in outputs}:
            return False
        return all(
            slot.type in OPEN or shown.answer[slot.name] == _text(value)
            for slot, value in zip(outputs, path.answer, strict=True)
        )

    def _missing(self, classes: Sequence[Shown]) -> int:
        """How many cells of all inputs have no class that is right about them."""
        missing = 0
        for finite in self.ideal.combinations():
            for path in self.ideal.paths(finite):
                here = [shown for shown in classes if self._answers(shown, path)]
                missing += sum(shown is None for shown in self._divided(finite, path, here, ()))
        return missing

    def _is_about_its_own(self, shown: Shown) -> bool:
        """Whether the class is right about all inputs that it names: those with its answer in its half-spaces that do
        not move, edges excluded, and of a path with another answer on the sides that it says. They are in its other
        half-spaces because of their distance."""
        still = [
            replace(_halfspace(half), strict=not self._is_whole(half)) for half in shown.halfspaces if not half.step
        ]
        moving = [_halfspace(half) for half in shown.halfspaces if half.step]
        found = [
            one
            for finite in self.ideal.combinations()
            for path in self.ideal.paths(finite)
            if self._answers(shown, path)
            for one in self._divided(finite, path, [shown], [*still, *self._sides(finite, path, moving)])
        ]
        return None not in found

    def _is_whole(self, half: Halfspace) -> bool:
        """Whether it is about ints alone."""
        return all(slot in self._whole for slot, c in half.form.items() if c)

    def _sides(self, finite: tuple[Value, ...], path: Path, among: Sequence[Guard]) -> list[Guard]:
        """Those half-spaces that are sides of paths with other answers: of each such path every input has one."""
        if not among:
            return []
        sides = {_scaled(self._moved(side)) for rival in self._around(finite, path).rivals() for side in rival}
        return [guard for guard in among if _scaled(guard) in sides]

    def _around(self, finite: tuple[Value, ...], path: Path) -> Surroundings:
        return Surroundings(self.ideal, finite, path, self.budget)

    # --- cells ----------------------------------------------------------------------------------------

    def _divided(
        self, finite: tuple[Value, ...], path: Path, classes: Sequence[Shown], within: Iterable[Guard]
    ) -> Iterator[Shown | None]:
        """The cells of the part of a path that is `within`: for each a class that is right about it, None where there
        is none."""
        known = self._around(finite, path)
        if self.alpha is None:
            # No distance is between 0 and 1 where all are integers.
            distance = [Guard(((ALPHA, _ONE),), -_ONE if is_integral(self.machine) else _ZERO, strict=False)]
        else:
            distance = [Guard(((ALPHA, side),), -side * self.alpha, strict=False) for side in (_ONE, -_ONE)]
        waiting = [_Cell((*distance, *map(self._moved, known.behind()), *within), None)]
        alternatives: tuple[tuple[Guard, ...], ...] | None = None
        count = 0
        while waiting:
            cell = waiting.pop()
            count += 1
            if count > MOST_CELLS:
                raise NotDerived(f"a path of the `ideal` is divided into more than {MOST_CELLS} cells")
            if is_empty(cell.guards, self.budget, _STEP):
                continue
            try:
                found = self._known(cell, finite, path, classes)
            except _Open as split:
                waiting += cell.halves(split.guard, self._whole)
                continue
            if found is not None:
                yield found
                continue
            cut = self._cut(cell, classes)
            if cut is not None:
                waiting += cell.halves(cut, self._whole)
                continue
            if cell.left is None:
                if alternatives is None:
                    alternatives = tuple(tuple(map(self._moved, sides)) for sides in known.rivals())
                cell = _Cell(cell.guards, alternatives)
            parts = self._branches(cell, classes)
            if parts is None:
                yield None
            else:
                waiting += parts

    def _branches(self, cell: _Cell, classes: Sequence[Shown]) -> list[_Cell] | None:
        """The parts that the sides of some path with another answer leave, if classes are about them."""
        assert cell.left is not None
        wanted = {
            _direction(guard)
            for shown in classes
            for half in shown.halfspaces
            if half.step and not self._implies(cell, guard := _halfspace(half))
        }
        useful = [sides for sides in cell.left if any(_direction(side) in wanted for side in sides)]
        if not useful:
            return None
        first = min(useful, key=len)
        left = tuple(sides for sides in cell.left if sides is not first)
        return [_Cell((*cell.guards, side), left) for side in first]

    def _cut(self, cell: _Cell, classes: Sequence[Shown]) -> Guard | None:
        """A half-space that does not move, of a class that is about a part of the cell."""
        for shown in classes:
            guards = [_halfspace(half) for half in shown.halfspaces]
            open_ = [guard for guard in guards if not self._implies(cell, guard)]
            still = [guard for guard, half in zip(guards, shown.halfspaces, strict=True) if not half.step]
            cuts = [guard for guard in open_ if guard in still]
            if cuts and not is_empty((*cell.guards, *cuts), self.budget, _STEP):
                return cuts[0]
        return None

    def _implies(self, cell: _Cell, guard: Guard) -> bool:
        return implied(cell.guards, dict(guard.form), guard.constant, self.budget, _STEP)

    def _known(self, cell: _Cell, finite: tuple[Value, ...], path: Path, classes: Sequence[Shown]) -> Shown | None:
        """A class that is right about the cell. Raises _Open."""

        def decide(guard: Guard) -> bool:
            holds, fails = cell.halves(guard, self._whole)
            if is_empty(fails.guards, self.budget, _STEP):
                return True
            if is_empty(holds.guards, self.budget, _STEP):
                return False
            raise _Open(guard)

        for shown in classes:
            if not all(self._implies(cell, _halfspace(half)) for half in shown.halfspaces):
                continue
            try:
                right = self._is_right(shown, cell, finite, path, decide)
            except NotDerived as error:
                self._why, right = error.why, False
            if right:
                return shown
        return None

    def _is_right(
        self, shown: Shown, cell: _Cell, finite: tuple[Value, ...], path: Path, decide: Callable[[Guard], bool]
    ) -> bool:
        """Whether the bound of the class is that of the program. Raises NotDerived and _Open."""
        if shown.values is None:
            return True
        assert shown.wanted is not None, "it comes with the bound"
        if shown.dd is not None and not self._has_distance(shown.dd, cell):
            raise NotDerived("a dd that all inputs of a class have")
        if shown.kind is Kind.WAYS and not any(above for above, _ in shown.values):
            return True  # no probability is less than 0
        for unites, merges in product((True, False), (False, True)):
            try:
                for value in self._bounds.values(
                    shown, shown.wanted, finite, path, decide, unites=unites, merges=merges
                ):
                    if not any(self._is_at_least(value, stated) for stated in shown.values):
                        break
                else:
                    return True
            except NotDerived as error:
                self._why = error.why
        return False

    def _is_at_least(self, bound: Closed, stated: Closed) -> bool:
        """Whether that is seen for every value of the variable, which is positive."""
        if equal_closed(bound, stated, self.budget, _STEP):
            return True
        more = multiply(bound[0], stated[1], self.budget, _STEP)
        less = multiply(stated[0], bound[1], self.budget, _STEP)
        return all(positive_everywhere(found, self.budget) for found in (subtract(more, less), bound[1], stated[1]))

    def _has_distance(self, dd: str, cell: _Cell) -> bool:
        """Whether dd is this at all inputs of the cell."""
        if dd == "inf":
            return has_one_answer(self.ideal)
        if dd == "1" and not self._is_discrete():
            return False
        return dd in ("0", "1") and self._implies(cell, Guard(((ALPHA, -_ONE),), Fraction(dd), strict=False))

    def _is_discrete(self) -> bool:
        """Whether inputs that differ are at a distance of at least 1."""
        return is_integral(self.machine) or self.ideal.norm == "discrete"

    def _moved(self, guard: Guard) -> Guard:
        """A guard of the ideal over the inputs' slots in the program."""
        places = dict(zip(self.ideal.machine.numbered("input"), self.machine.numbered("input"), strict=True))
        return Guard(tuple((places.get(i, i), c) for i, c in guard.form), guard.constant, guard.strict)


def _halfspace(half: Halfspace) -> Guard:
    """form - alpha·step >= 0."""
    form = {slot: c for slot, c in half.form.items() if c}
    moving = {ALPHA: -half.step} if half.step else {}
    return Guard(tuple(sorted({**form, **moving}.items())), half.constant, strict=False)


def _direction(guard: Guard) -> tuple[tuple[int, Fraction], ...]:
    """The inputs' part of a form up to a positive factor."""
    form = sorted((i, c) for i, c in guard.form if i != ALPHA)
    size = abs(form[0][1]) if form else _ONE
    return tuple((i, c / size) for i, c in form)


def _scaled(guard: Guard) -> tuple[tuple[tuple[int, Fraction], ...], Fraction]:
    """The half-space up to a positive factor."""
    size = sum((abs(c) for _, c in guard.form), _ZERO)
    return tuple(sorted((i, c / size) for i, c in guard.form)), guard.constant / size


def _text(value: Value | Affine) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

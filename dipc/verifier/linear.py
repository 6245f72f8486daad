"""Linear programs over the rationals, solved exactly: what half-spaces imply, and how far away they are; and, by branch
and bound, over integers."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

from dipc.verifier.budget import Budget
from dipc.verifier.rejection import NotDerived

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The most linear programs that one over integers may take.
MOST_BRANCHES = 400

Form = Mapping[int, Fraction]


@dataclass(frozen=True, slots=True)
class Guard:
    """Σ form + constant >= 0, or > 0 where it is `strict`."""

    form: tuple[tuple[int, Fraction], ...]
    constant: Fraction
    strict: bool

    def opposite(self) -> Guard:
        """What holds exactly where this does not."""
        return Guard(tuple((i, -c) for i, c in self.form), -self.constant, not self.strict)

    def at(self, point: Mapping[int, Fraction]) -> Fraction:
        """The value of the form with its constant."""
        return sum((c * point[i] for i, c in self.form), self.constant)

    def holds(self, point: Mapping[int, Fraction]) -> bool:
        """Whether it holds at the point."""
        value = self.at(point)
        return value > 0 or (not value and not self.strict)


#: A row (form, constant) of a program says Σ form + constant >= 0.
Row = tuple[Form, Fraction]

_Table = list[list[Fraction]]


def least(objective: Form, rows: Sequence[Row], budget: Budget, step: str) -> Fraction | None:
    """The least value of the objective where all rows hold, for rows that bound it from below; None where they do not
    hold together, or do not bound it.

    By the simplex method with Bland's rule on the dual program, max -Σ y·constant with Σ y·form = objective, y >= 0.
    """
    found = _optimum(objective, rows, budget, step)
    return None if found is None else found[0]


def _optimum(
    objective: Form, rows: Sequence[Row], budget: Budget, step: str
) -> tuple[Fraction, list[int], list[int]] | None:
    """The least value; the rows of an optimal basis; and variables that are 0 at its point, where these rows are 0."""
    names = sorted({i for form, _ in rows for i in form} | objective.keys())
    count = len(rows)
    table: _Table = []
    for name in names:
        line = [form.get(name, _ZERO) for form, _ in rows]
        wanted = objective.get(name, _ZERO)
        if wanted < 0:
            line, wanted = [-c for c in line], -wanted
        table.append([*line, wanted])
    # Artificial variables, numbered from `count` on, start in the basis; they have no columns, for none comes back.
    basis = list(range(count, count + len(names)))
    first = [-sum((line[at] for line in table), _ZERO) for at in range(count + 1)]
    if not _solved(table, basis, first, budget, step) or first[-1]:
        return None
    free: list[int] = []
    for at in range(len(table) - 1, -1, -1):
        if basis[at] >= count:
            place = next((column for column in range(count) if table[at][column]), None)
            if place is None:
                # This equation follows from others: its multiplier, the value of the variable, may be 0.
                free.append(names[basis[at] - count])
                del table[at], basis[at]
            else:
                _pivot(table, basis, first, at, place, budget, step)
    second = [*(constant for _, constant in rows), _ZERO]
    for line, column in zip(table, basis, strict=True):
        factor = second[column]
        if factor:
            second = [c - factor * x for c, x in zip(second, line, strict=True)]
    return (second[-1], basis, free) if _solved(table, basis, second, budget, step) else None


def least_whole(
    objective: Form, rows: Sequence[Row], whole: Container[int], budget: Budget, step: str
) -> Fraction | None:
    """The least value of the objective where all rows hold and the variables of `whole` are integers; None where they
    do not hold together. The rows bound the objective from below. Raises NotDerived where that takes too much.

    By branch and bound: a point with x = v, no integer, has those with x <= floor(v) on one side and those with
    x >= floor(v) + 1 on the other.
    """
    best: Fraction | None = None
    #: Bounds of variables: (x, 1) for x >= v, (x, -1) for x <= v.
    waiting: list[dict[tuple[int, int], Fraction]] = [{}]
    for _ in range(MOST_BRANCHES):
        if not waiting:
            return best
        bounds = waiting.pop()
        system = [*rows, *(({i: Fraction(side)}, -side * value) for (i, side), value in bounds.items())]
        found = _optimum(objective, system, budget, step)
        if found is None or (best is not None and found[0] >= best):
            continue
        point = _point(found[1], found[2], system, budget, step)
        broken = next((i for i, value in sorted(point.items()) if i in whole and value.denominator != 1), None)
        if broken is None:
            best = found[0]
            continue
        below = Fraction(floor(point[broken]))
        waiting += [{**bounds, (broken, -1): below}, {**bounds, (broken, 1): below + 1}]
    raise NotDerived("integers are looked for in too many places")


def _point(
    basis: Sequence[int], free: Sequence[int], rows: Sequence[Row], budget: Budget, step: str
) -> dict[int, Fraction]:
    """The point at which the rows of an optimal basis are 0, and the variables that are `free`."""
    solved: dict[int, tuple[dict[int, Fraction], Fraction]] = {}
    equations = [rows[at] for at in basis] + [({name: _ONE}, _ZERO) for name in free]
    for form, constant in equations:
        left = {i: c for i, c in form.items() if c}
        for name, (own, value) in solved.items():
            factor = left.pop(name, _ZERO)
            if factor:
                constant += factor * value
                for i, c in own.items():
                    left[i] = left.get(i, _ZERO) + factor * c
        left = {i: c for i, c in left.items() if c}
        budget.spend(2 + len(left) * (1 + len(solved)), step)
        name, pivot = next(iter(left.items()))
        # name = Σ own + value, of which the others make use.
        own, value = {i: -c / pivot for i, c in left.items() if i != name}, -constant / pivot
        for other, (theirs, their_value) in list(solved.items()):
            factor = theirs.pop(name, _ZERO)
            if factor:
                for i, c in own.items():
                    theirs[i] = theirs.get(i, _ZERO) + factor * c
                solved[other] = theirs, their_value + factor * value
        solved[name] = own, value
    return {name: value for name, (_, value) in solved.items()}


def _solved(table: _Table, basis: list[int], costs: list[Fraction], budget: Budget, step: str) -> bool:
    """Pivot until no cost is negative; False where the costs have no least value."""
    while True:
        column = next((at for at, cost in enumerate(costs[:-1]) if cost < 0), None)
        if column is None:
            return True
        ratios = [(line[-1] / line[column], basis[at], at) for at, line in enumerate(table) if line[column] > 0]
        if not ratios:
            return False
        _pivot(table, basis, costs, min(ratios)[2], column, budget, step)


def _pivot(
    table: _Table,
    basis: list[int],
    costs: list[Fraction],
    at: int,
    column: int,
    budget: Budget,
    step: str,
) -> None:
    pivot = table[at][column]
    chosen = table[at] = [c / pivot for c in table[at]]
    bits = max(c.numerator.bit_length() + c.denominator.bit_length() for c in chosen)
    budget.spend(2 * len(chosen) * (1 + len(table)), step, bits)
    for line in (*table, costs):
        factor = line[column]
        if factor and line is not chosen:
            line[:] = [c - factor * x for c, x in zip(line, chosen, strict=True)]
    basis[at] = column


def is_empty(guards: Iterable[Guard], budget: Budget, step: str) -> bool:
    """Whether no point of rationals satisfies all guards, strict ones strictly."""
    beyond = -1  # a variable that is in no form: how far all strict guards are from 0, at most 1
    rows: list[Row] = [({beyond: Fraction(-1)}, Fraction(1))]
    rows += [
        ({**dict(guard.form), **({beyond: Fraction(-1)} if guard.strict else {})}, guard.constant) for guard in guards
    ]
    found = least({beyond: Fraction(-1)}, rows, budget, step)
    return found is None or found >= 0


def implied(guards: Iterable[Guard], form: Form, constant: Fraction, budget: Budget, step: str) -> bool:
    """Whether Σ form + constant >= 0 wherever all guards hold, for guards that hold together somewhere."""
    if not form:
        return constant >= 0
    found = least(form, [(dict(guard.form), guard.constant) for guard in guards], budget, step)
    return found is not None and found + constant >= 0


def connected(guards: Iterable[Guard]) -> list[list[Guard]]:
    """The guards by the variables that hang together."""
    groups: list[tuple[set[int], list[Guard]]] = []
    for guard in guards:
        names, together = {i for i, _ in guard.form}, [guard]
        for group in [group for group in groups if group[0] & names]:
            groups.remove(group)
            names |= group[0]
            together += group[1]
        groups.append((names, together))
    return [together for _, together in groups]

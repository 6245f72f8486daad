"""Linear programs over the rationals, solved exactly: what half-spaces imply, and how far away they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.verifier.budget import Budget

_ZERO = Fraction(0)

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
    for at in range(len(table) - 1, -1, -1):
        if basis[at] >= count:
            place = next((column for column in range(count) if table[at][column]), None)
            if place is None:
                del table[at], basis[at]
            else:
                _pivot(table, basis, first, at, place, budget, step)
    second = [*(constant for _, constant in rows), _ZERO]
    for line, column in zip(table, basis, strict=True):
        factor = second[column]
        if factor:
            second = [c - factor * x for c, x in zip(second, line, strict=True)]
    return second[-1] if _solved(table, basis, second, budget, step) else None


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

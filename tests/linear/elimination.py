"""Exact feasibility of linear inequalities by Fourier-Motzkin elimination, for the few that are no differences."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from dipc.chain.state import Constraint, terms_of

#: Σ coefficient · variable: sorted, first coefficient 1 or -1.
Row = tuple[tuple[int, Fraction], ...]
#: By row, the least (constant, closed): row + constant >= 0, or > 0 when not closed.
System = dict[Row, tuple[Fraction, bool]]


def is_feasible(constraints: Iterable[Constraint], at_most: int = 400) -> bool | None:
    """Whether some rational point satisfies all constraints, those on continuous noises strictly.

    None past `at_most` rows. Where it is True, integers may still satisfy them nowhere.
    """
    system: System = {}
    for known in constraints:
        if not _put(system, dict(terms_of(known.form)), known.form.constant, not known.is_open):
            return False
    while system:
        if len(system) > at_most:
            return None
        variable = _cheapest(system)
        rest: System = {}
        above: list[tuple[dict[int, Fraction], Fraction, bool]] = []
        below: list[tuple[dict[int, Fraction], Fraction, bool]] = []
        for row, (constant, closed) in system.items():
            terms = dict(row)
            coefficient = terms.pop(variable, None)
            if coefficient is None:
                rest[row] = (constant, closed)
                continue
            size = abs(coefficient)
            scaled = {key: value / size for key, value in terms.items()}
            (above if coefficient > 0 else below).append((scaled, constant / size, closed))
        if len(above) * len(below) > 4 * at_most:
            return None
        for terms_above, constant_above, closed_above in above:
            for terms_below, constant_below, closed_below in below:
                terms = dict(terms_above)
                for key, value in terms_below.items():
                    terms[key] = terms.get(key, Fraction(0)) + value
                closed = closed_above and closed_below
                if not _put(rest, terms, constant_above + constant_below, closed):
                    return False
        system = rest
    return True


def _put(system: System, terms: dict[int, Fraction], constant: Fraction, closed: bool) -> bool:
    """Add an inequality; False when it has no variables and does not hold."""
    items = sorted((key, value) for key, value in terms.items() if value)
    if not items:
        return constant >= 0 if closed else constant > 0
    size = abs(items[0][1])
    row = tuple((key, value / size) for key, value in items)
    bound = (constant / size, closed)
    system[row] = min(system.get(row, bound), bound)
    return True


def _cheapest(system: System) -> int:
    above: dict[int, int] = {}
    below: dict[int, int] = {}
    for row in system:
        for variable, coefficient in row:
            side = above if coefficient > 0 else below
            side[variable] = side.get(variable, 0) + 1
    return min({*above, *below}, key=lambda variable: (above.get(variable, 0) * below.get(variable, 0), variable))

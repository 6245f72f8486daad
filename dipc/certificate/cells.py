"""How all inputs are covered by classes: each cell of them that the checker asks about has a class that is right about
it, or is divided further."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

from dipc.certificate.data import rational
from dipc.verifier.inputs import Divided, Open
from dipc.verifier.linear import Guard, contradictory
from dipc.verifier.reading import NotDerived


def division(question: Divided) -> dict[str, Any] | None:
    """A class that is right about all of the cell, and in which way; else along which comparison it is cut, or on the
    sides of which path with another answer. None where nothing helps."""
    coverage, cell = question.coverage, question.cell
    for shown in question.classes:
        for unites, merges in product((True, False), (False, True)):
            try:
                if coverage.is_right(shown, question.known, cell, unites=unites, merges=merges):
                    return {"class": shown.number, "unites": unites, "merges": merges}
            except NotDerived:
                continue
            except Open as split:
                return _cut(split.guard)
    cut = _along_a_class(question)
    return _beside_a_rival(question) if cut is None else _cut(cut)


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

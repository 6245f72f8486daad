"""Exact results as text: what processes send each other and what a cache keeps.

FLINT's numbers cannot be pickled, so closed forms go as their terms. Rationals are written in hexadecimal: Python reads
and writes decimal integers of at most 4300 digits.
"""

from __future__ import annotations

import json
from fractions import Fraction
from math import gcd
from operator import itemgetter

import flint

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.quotient import Closed, Quotient
from dipc.obligations.decide import ACCURATE, Settled
from dipc.obligations.verdict import Counterexample, EndPoint, FailureInterval, Verdict, Worst
from dipc.tables.cells import Cell, CellPool

#: What JSON gives back.
Json = None | bool | int | str | list["Json"]


class Unreadable(ValueError):
    """A text that these functions did not write."""


# --- numbers and closed forms ----------------------------------------------------------------------


def rational_text(value: Fraction) -> str:
    """`-1f/3` for -31/3."""
    return f"{value.numerator:x}" if value.denominator == 1 else f"{value.numerator:x}/{value.denominator:x}"


def read_rational(text: str) -> Fraction:
    """The rational that `rational_text` wrote; raises Unreadable."""
    numerator, _, denominator = text.partition("/")
    try:
        return Fraction(int(numerator, 16), int(denominator, 16) if denominator else 1)
    except (ValueError, ZeroDivisionError):
        raise Unreadable(text) from None


def closed_text(value: Closed) -> str:
    """The one text of this function: equal functions have equal texts."""
    if isinstance(value, Quotient):
        return f"{_terms_text(value.numerator)}|{_terms_text(value.denominator)}"
    return _terms_text(value)


def read_closed(text: str) -> Closed:
    """The function that `closed_text` wrote, with a denominator taken for positive as it was; raises Unreadable."""
    numerator, bar, denominator = text.partition("|")
    if not bar:
        return read_terms(numerator)
    below = read_terms(denominator)
    if below.is_zero():
        raise Unreadable(text)
    return Quotient(read_terms(numerator), below)


def _terms_text(value: ExpPoly) -> str:
    """The least unit n, and the terms k, j, c of Σ c·eps^k·e^{(j/n)·eps} by k and j."""
    unit, terms = value.integer_terms()
    common = gcd(unit, *(j for _, j, _ in terms))
    parts = [f"{unit // common:x}"]
    parts += [
        f"{k:x},{j // common:x},{int(c.p):x}" + (f"/{int(c.q):x}" if c.q != 1 else "")
        for k, j, c in sorted(terms, key=itemgetter(0, 1))
    ]
    return " ".join(parts)


def read_terms(text: str) -> ExpPoly:
    """The exponential polynomial that `closed_text` wrote; raises Unreadable."""
    first, *parts = text.split() or [""]
    collected: dict[tuple[int, int], flint.fmpq] = {}
    try:
        unit = int(first, 16)
        for part in parts:
            k, j, c = part.split(",")
            above, _, below = c.partition("/")
            collected[int(k, 16), int(j, 16)] = flint.fmpq(int(above, 16), int(below, 16) if below else 1)
    except (ValueError, ZeroDivisionError):
        raise Unreadable(text) from None
    if unit < 1 or any(k < 0 for k, _ in collected):
        raise Unreadable(text)
    return ExpPoly.from_integer_exponents(collected, unit)


# --- cells -----------------------------------------------------------------------------------------


def cell_text(cell: Cell | None) -> str | None:
    """The cell's value with its type; None for a cell that is left open."""
    if cell is None:
        return None
    match cell.value:
        case bool() as truth:
            return "!1" if truth else "!0"
        case str() as name:
            return f"'{name}"
        case Fraction() as number:
            return f"={rational_text(number)}"
    raise AssertionError("an infinite cell is no input, output or gamma")


def read_cell(text: str, pool: CellPool) -> Cell:
    """The cell of `pool` with the value that `cell_text` wrote."""
    match text[:1]:
        case "!":
            return pool.cell(text == "!1")
        case "'":
            return pool.cell(text[1:])
        case "=":
            return pool.cell(read_rational(text[1:]))
    raise Unreadable(text)


# --- verdicts --------------------------------------------------------------------------------------


def settled_text(settled: Settled) -> str:
    """The verdict with its counterexample, failing intervals and reason."""
    found = settled.counterexample
    return json.dumps(
        [
            str(settled.verdict),
            None if found is None else [rational_text(found.eps), *_pair(found.probability), *_pair(found.required)],
            [[_end(part.start), _end(part.end), _worst(part.worst)] for part in settled.failing],
            settled.reason,
        ],
        separators=(",", ":"),
    )


def read_settled(text: str) -> Settled:
    """What `settled_text` wrote; raises Unreadable."""
    try:
        verdict, found, failing, reason = json.loads(text)
        settled = Settled(
            Verdict(verdict),
            None if found is None else _read_counterexample(*found),
            tuple(
                FailureInterval(_read_end(*start), _read_end(*end), _read_worst(worst)) for start, end, worst in failing
            ),
            reason,
        )
    except (ValueError, TypeError) as error:
        raise Unreadable(text) from error
    return ACCURATE if settled == ACCURATE else settled


def _pair(ends: tuple[Fraction, Fraction]) -> list[str]:
    return [rational_text(end) for end in ends]


def _end(point: EndPoint) -> Json:
    return [rational_text(point.low), None if point.high is None else rational_text(point.high), point.included]


def _worst(worst: Worst | None) -> Json:
    if worst is None:
        return None
    pairs: list[Json] = [None if ends is None else [*_pair(ends)] for ends in (worst.eps, worst.shortfall)]
    return [*pairs, worst.attained]


def _read_counterexample(eps: str, low: str, high: str, least: str, most: str) -> Counterexample:
    found = Counterexample(
        read_rational(eps), (read_rational(low), read_rational(high)), (read_rational(least), read_rational(most))
    )
    if found.probability[1] >= found.required[0]:
        raise Unreadable("a counterexample that shows nothing")
    return found


def _read_end(low: str, high: str | None, included: bool) -> EndPoint:
    return EndPoint(read_rational(low), None if high is None else read_rational(high), included)


def _read_worst(worst: list[list[str] | None] | None) -> Worst | None:
    if worst is None:
        return None
    eps, shortfall, attained = worst
    return Worst(_read_pair(eps), _read_pair(shortfall), bool(attained))


def _read_pair(ends: list[str] | None) -> tuple[Fraction, Fraction] | None:
    if ends is None:
        return None
    low, high = ends
    return read_rational(low), read_rational(high)

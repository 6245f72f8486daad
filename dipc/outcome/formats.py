"""Outcomes for machines and typesetters: JSON, CSV and LaTeX (amsmath)."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TextIO

from dipc.algebra.exppoly import ClosedForm, ordered_terms, terms_at
from dipc.outcome.outcome import Outcome
from dipc.outcome.words import groups


def write_json(outcome: Outcome, stream: TextIO) -> None:
    """Write the record of `outcome` to `stream` as ASCII JSON.

    Many rows are written one per line, without holding all text in memory.
    """
    assert outcome.record is not None
    if outcome.rows is None:
        stream.write(json.dumps(outcome.record(), indent=1) + "\n")
    else:
        write_rows(outcome.record(), outcome.rows(), stream)


def write_rows(head: Mapping[str, Any], rows: Iterable[Mapping[str, Any]], stream: TextIO) -> None:
    """Write to `stream` a JSON object: the items of `head`, followed by the key `rows` with one of `rows` per line."""
    encoder = json.JSONEncoder()
    stream.write(f"{encoder.encode(head)[:-1]}{', ' if head else ''}" + '"rows": [')
    separator = "\n"
    for row in rows:
        stream.write(separator + encoder.encode(row))
        separator = ",\n"
    stream.write("\n]}\n")


# --- CSV -------------------------------------------------------------------------------------------


def write_csv(outcome: Outcome, stream: TextIO) -> None:
    """Write the table of `outcome` to `stream`: its columns, followed by its rows one by one."""
    assert outcome.table is not None
    table = outcome.table()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table.columns)
    for _, cells in table.rows:
        writer.writerow(cells)


# --- LaTeX ---------------------------------------------------------------------------------------------------


#: The most terms on one line of an aligned equation.
_TERMS_PER_LINE = 4

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    **{character: "\\" + character for character in "_#$%&{}"},
}

_Term = tuple[int, Fraction, Fraction]


def latex(form: ClosedForm) -> str:
    r"""Return the function `form` in LaTeX mathematics, with eps as `\varepsilon`."""
    numerator, denominator = form.numerator_and_denominator()
    above = _join_terms(_signed(numerator.terms(), form.only_at))
    if denominator is None:
        return above
    return rf"\frac{{{above}}}{{{_join_terms(_signed(denominator.terms(), form.only_at))}}}"


def render(outcome: Outcome) -> str:
    """Return the equations of `outcome` in LaTeX, below a comment with their title."""
    assert outcome.equations is not None
    about, equations = outcome.equations()
    return f"% {about}; needs the package amsmath\n{aligned(equations)}"


def aligned(equations: Iterable[tuple[str, ClosedForm]]) -> str:
    """Return an `align*` environment with a line for each pair in `equations`; long sums are broken before a sign."""
    lines: list[str] = []
    for left, form in equations:
        numerator, denominator = form.numerator_and_denominator()
        terms = _signed(numerator.terms(), form.only_at) if denominator is None else [latex(form)]
        chunks = [terms[position : position + _TERMS_PER_LINE] for position in range(0, len(terms), _TERMS_PER_LINE)]
        lines.append(f"  {left} &= {_join_terms(chunks[0])}")
        lines.extend(rf"    &\quad {_join_terms(chunk)}" for chunk in chunks[1:])
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}\n"


def latex_assignment(values: Mapping[str, str | None]) -> str:
    """Return the assignment `values` as a formula, such as `out = (bot, top), val_2 = 3`."""
    formulas = []
    for name, index, elements in groups(values):
        subscript = "" if index is None else f"_{{{index}}}"
        numbers = (element.lstrip("-").replace("/", "").isdigit() for element in elements)
        texts = (
            text if number else rf"\mathrm{{{escape(text)}}}" for text, number in zip(elements, numbers, strict=True)
        )
        text = ", ".join(texts)
        text = text if len(elements) == 1 else f"({text})"
        formulas.append(rf"\mathit{{{escape(name)}}}{subscript} = {text}")
    return r",\; ".join(formulas)


def escape(text: str) -> str:
    """Return `text` with LaTeX's special characters escaped."""
    return "".join(_SPECIAL.get(character, character) for character in text)


def _signed(terms: Iterable[_Term], point: Fraction | None) -> list[str]:
    """Return the texts of `terms`, summands of a function of eps, with their signs; `["0"]` if there are none.

    If `point` is given, each text has the value of the summand at eps = `point`.
    """
    signed: list[str] = []
    for k, q, c in ordered_terms(terms if point is None else terms_at(terms, point)):
        sign = "-" if c < 0 else "+" if signed else ""
        signed.append(sign + _monomial(k, q, abs(c), point))
    return signed or ["0"]


def _join_terms(terms: Sequence[str]) -> str:
    return " ".join(term if term[0] not in "+-" else f"{term[0]} {term[1:]}" for term in terms)


def _monomial(k: int, q: Fraction, c: Fraction, point: Fraction | None) -> str:
    factors = []
    if c != 1 or (k == 0 and q == 0):
        factors.append(str(c) if c.denominator == 1 else rf"\frac{{{c.numerator}}}{{{c.denominator}}}")
    if k:
        factors.append(r"\varepsilon" if k == 1 else rf"\varepsilon^{{{k}}}")
    if q:
        factors.append(f"e^{{{_exponent(q) if point is None else q * point}}}")
    return r"\,".join(factors)


def _exponent(q: Fraction) -> str:
    sign = "-" if q < 0 else ""
    times = "" if abs(q.numerator) == 1 else f"{abs(q.numerator)}"
    over = "" if q.denominator == 1 else f"/{q.denominator}"
    return rf"{sign}{times}\varepsilon{over}"

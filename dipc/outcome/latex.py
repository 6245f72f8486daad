"""Closed forms and outcomes in LaTeX (amsmath)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm, ordered_terms, terms_at
from dipc.outcome.outcome import Outcome
from dipc.outcome.words import groups

#: Terms on one line of an aligned equation.
_TERMS_PER_LINE = 4

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    **{character: "\\" + character for character in "_#$%&{}"},
}

_Term = tuple[int, Fraction, Fraction]


def latex(form: ClosedForm) -> str:
    r"""The function in LaTeX mathematics, in `\varepsilon`."""
    numerator, denominator = form.parts()
    above = _joined(_signed(numerator.terms(), form.only_at))
    if denominator is None:
        return above
    return rf"\frac{{{above}}}{{{_joined(_signed(denominator.terms(), form.only_at))}}}"


def render(outcome: Outcome) -> str:
    """The equations of an outcome, below a comment that says what they are about."""
    assert outcome.equations is not None
    about, equations = outcome.equations()
    return f"% {about}; needs the package amsmath\n{aligned(equations)}"


def aligned(equations: Iterable[tuple[str, ClosedForm]]) -> str:
    """An `align*` environment with one equation for each pair; long sums are broken before a sign."""
    lines: list[str] = []
    for left, form in equations:
        numerator, denominator = form.parts()
        terms = _signed(numerator.terms(), form.only_at) if denominator is None else [latex(form)]
        chunks = [terms[at : at + _TERMS_PER_LINE] for at in range(0, len(terms), _TERMS_PER_LINE)]
        lines.append(f"  {left} &= {_joined(chunks[0])}")
        lines.extend(rf"    &\quad {_joined(chunk)}" for chunk in chunks[1:])
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}\n"


def latex_assignment(values: Mapping[str, str | None]) -> str:
    """`out = (bot, top), val_2 = 3` as a formula."""
    parts = []
    for name, index, elements in groups(values):
        subscript = "" if index is None else f"_{{{index}}}"
        shown = ", ".join(_value(element) for element in elements)
        shown = shown if len(elements) == 1 else f"({shown})"
        parts.append(rf"\mathit{{{escape(name)}}}{subscript} = {shown}")
    return r",\; ".join(parts)


def _value(text: str) -> str:
    return text if text.lstrip("-").replace("/", "").isdigit() else rf"\mathrm{{{escape(text)}}}"


def escape(text: str) -> str:
    """`text` with LaTeX's special characters made harmless."""
    return "".join(_SPECIAL.get(character, character) for character in text)


def _signed(terms: Iterable[_Term], at: Fraction | None) -> list[str]:
    """The terms with their signs, in the order of the plain text; `["0"]` for zero. With `at` their values there."""
    signed: list[str] = []
    for k, q, c in ordered_terms(terms if at is None else terms_at(terms, at)):
        sign = "-" if c < 0 else "+" if signed else ""
        signed.append(sign + _monomial(k, q, abs(c), at))
    return signed or ["0"]


def _joined(terms: Sequence[str]) -> str:
    return " ".join(term if term[0] not in "+-" else f"{term[0]} {term[1:]}" for term in terms)


def _monomial(k: int, q: Fraction, c: Fraction, at: Fraction | None) -> str:
    factors = []
    if c != 1 or (k == 0 and q == 0):
        factors.append(str(c) if c.denominator == 1 else rf"\frac{{{c.numerator}}}{{{c.denominator}}}")
    if k:
        factors.append(r"\varepsilon" if k == 1 else rf"\varepsilon^{{{k}}}")
    if q:
        factors.append(f"e^{{{_exponent(q) if at is None else q * at}}}")
    return r"\,".join(factors)


def _exponent(q: Fraction) -> str:
    sign = "-" if q < 0 else ""
    times = "" if abs(q.numerator) == 1 else f"{abs(q.numerator)}"
    over = "" if q.denominator == 1 else f"/{q.denominator}"
    return rf"{sign}{times}\varepsilon{over}"

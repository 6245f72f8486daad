from __future__ import annotations

from fractions import Fraction

import pytest

from dipc.algebra.exppoly import ClosedForm, ExpPoly, Quotient
from dipc.outcome.formats import aligned, escape, latex, latex_assignment


def form(*terms: tuple[int, str, str]) -> ClosedForm:
    return ClosedForm(ExpPoly.from_terms((k, Fraction(q), Fraction(c)) for k, q, c in terms))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (form(), "0"),
        (form((0, "0", "1")), "1"),
        (form((0, "0", "-1/2")), r"- \frac{1}{2}"),
        (form((0, "0", "1"), (0, "-1", "-1")), r"1 - e^{-\varepsilon}"),
        (
            form((0, "-1/4", "-2/3"), (1, "-3/4", "1")),
            r"- \frac{2}{3}\,e^{-\varepsilon/4} + \varepsilon\,e^{-3\varepsilon/4}",
        ),
        (form((2, "1", "5")), r"5\,\varepsilon^{2}\,e^{\varepsilon}"),
    ],
)
def test_closed_forms(value: ClosedForm, text: str) -> None:
    assert latex(value) == text


def test_quotients_are_fractions() -> None:
    one_plus = ExpPoly.ONE + ExpPoly.term(1, 0, 1)
    assert latex(ClosedForm(Quotient(ExpPoly.ONE, one_plus))) == r"\frac{e^{-\varepsilon}}{1 + e^{-\varepsilon}}"


def test_names_are_escaped() -> None:
    assert escape(r"a_b#$%&{}^~\c") == (r"a\_b\#\$\%\&\{\}\textasciicircum{}\textasciitilde{}\textbackslash{}c")
    assert latex_assignment({"my_out[2]": "is_top", "x": "-1/2", "o[1]": "a", "o[2]": "7"}) == (
        r"\mathit{my\_out}_{2} = \mathrm{is\_top},\; \mathit{x} = -1/2,\; \mathit{o} = (\mathrm{a}, 7)"
    )


def test_long_sums_break_into_lines_before_a_sign() -> None:
    value = form(*((k, "-1", "1") for k in range(1, 8)))
    powers = [rf"\varepsilon^{{{k}}}\,e^{{-\varepsilon}}" for k in range(7, 1, -1)]
    assert aligned([("p", value)]).splitlines() == [
        r"\begin{align*}",
        rf"  p &= {' + '.join(powers[:4])} \\",
        rf"    &\quad + {' + '.join(powers[4:])} + \varepsilon\,e^{{-\varepsilon}}",
        r"\end{align*}",
    ]

"""What `dipc tighten` says of each kind of result."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TextIO

import pytest

import dipc
from dipc.options import Options
from dipc.outcome.formats import write_csv, write_json
from dipc.outcome.outcome import Look, Outcome, render
from dipc.outcome.tighten import Member, headline, outcome
from dipc.outcome.words import UserQuestion, cell_text

LAPLACE = "program l; input q : real; output o : real; o <- Lap(eps, q);"
CERTAIN = "program p; input q : {0..1}; output o : {0..1}; o <- q;"
ASKED = UserQuestion(Path("l.dip"), Options(beta="b", gamma=1))


def written(found: Outcome, writer: Callable[[Outcome, TextIO], None]) -> str:
    stream = io.StringIO()
    writer(found, stream)
    return stream.getvalue()


def member(beta: str, eps: str = "(0, inf)", digits: int = 10) -> Member:
    rows = [{"q": 0, "o": 0}]
    return Member({}, dipc.tighten(dipc.load(LAPLACE), rows, gamma=1, beta=beta, eps=eps, digits=digits))


@pytest.mark.parametrize(
    ("beta", "eps", "line", "where"),
    [
        ("2*exp(-eps)", "(0, inf)", "least factor 1/2 = 0.5; beta/2 holds, beta/3 does not", "every eps"),
        (
            "1",
            "(0, inf)",
            "least factor 1; beta holds, beta/2 does not; beta ≥ 1 everywhere, a vacuous claim",
            "in the limit eps → 0: each single eps needs less",
        ),
        ("1/3", "(1, 2]", "least factor 1.103638323…; beta itself fails", "approached as eps → 1"),
        ("1/3", "[1, 2]", "least factor 1.103638323…; beta itself fails", "eps     1"),
        ("eps", "(0, inf)", "no factor suffices: however large f is, f*beta is too small", "bound as eps → 0"),
        ("0", "(0, inf)", "no factor suffices: however large f is, f*beta is too small", "every eps, as beta is 0"),
        (
            "2 - eps",
            "[1, 2]",
            "no factor suffices: however large f is, f*beta is too small",
            "2, where Pr < 1 - f*beta for every f > 0",
        ),
        ("2 - eps", "[1, 2)", "no factor suffices: however large f is, f*beta is too small", "bound as eps → 2"),
        (
            "exp(-eps)*(1 + exp(-eps))",
            "(0, inf)",
            "least factor 1; beta holds, beta/2 does not",
            "in the limit eps → ∞",
        ),
    ],
)
def test_text(beta: str, eps: str, line: str, where: str) -> None:
    found = member(beta, eps).tightest
    assert headline(found) == line
    text = render(outcome(Member({}, found), ASKED), Look(width=100))
    assert text.startswith(line + "\n")
    assert where in text


def test_the_answer_is_always_right() -> None:
    found = dipc.tighten(dipc.load(CERTAIN), [{"q": 1, "o": 1}], beta="1/2")
    assert headline(found) == "every factor suffices, even 0: the answer is always right"
    assert "factor" not in render(outcome(Member({}, found), ASKED)).split("\n", 1)[1]
    words = Member({}, found).as_json()
    assert (words["factor"], words["kappa"], words["places"], words["complete"]) == (["0", "0"], "inf", [], True)


def test_json_and_csv_say_the_same() -> None:
    one = Member({"k": Fraction(1, 2)}, member("1/(1 - exp(-eps))", digits=12).tightest)
    data = json.loads(written(outcome(one, ASKED), write_json))
    assert data["schema"] == "dipc.tighten/1"
    (words,) = data["members"]
    assert words["constants"] == {"k": "1/2"}
    assert (words["factor"], words["kappa"], words["attained"]) == (["1/4", "1/4"], "4", True)
    assert words["places"][0]["eps"] == ["0.693147180559", "0.69314718056"]
    header, line = written(outcome(one, ASKED), write_csv).splitlines()
    assert header == "k,factor_low,factor_high,kappa,complete,row,eps_low,eps_high,attained"
    assert line == "1/2,1/4,1/4,4,true,1,0.693147180559,0.69314718056,true"
    infinite = written(outcome(member("eps"), ASKED), write_csv).splitlines()[1]
    assert infinite == "inf,inf,0,true,1,0,0,false"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        ("0.125", "0.126", "0.125…"),
        ("0.12", "0.121", "0.120…"),
        ("3", "4", "3…"),
        ("3", "3.01", "3.00…"),
        ("1/3", "1/3", "1/3 = 0.3333333333…"),
        ("7", "7", "7"),
        ("0.1249999", "0.1250001", "0.125 ± 0.0000001"),
        ("0.4999998", "0.4999999", "0.4999998…"),
        ("0.4999999", "0.5", "0.4999999…"),
    ],
)
def test_cells(low: str, high: str, text: str) -> None:
    assert cell_text(Fraction(low), Fraction(high)) == text

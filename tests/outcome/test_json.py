"""The JSON contract, field by field."""

from __future__ import annotations

import io
import json
from fractions import Fraction

import pytest
import sympy

import dipc
from dipc.algebra.limits import Limits
from dipc.outcome.formats import write_rows
from dipc.questions.report import Report

PROGRAM = """
program noisy;
domain answer = {no, yes};
input q : real;
output out : answer = no;
output val : real = 0;
var r : real;
r <- Lap(eps, q);
if r > 0 then out <- yes; val <- Lap(eps, q) end
"""


def written(report: Report) -> dict[str, object]:
    stream = io.StringIO()
    write_rows(report.head(), (row.as_json() for row in report.rows), stream)
    text = stream.getvalue()
    assert text.isascii()
    assert text.endswith("]}\n")
    assert text.count("\n") == len(report.rows) + 2, "one row on each line"
    result = json.loads(text)
    assert isinstance(result, dict)
    assert result == report.as_json()
    return result


@pytest.fixture
def report() -> Report:
    rows = [
        {"q": "0.50", "out": "yes", "val": "1/2", "gamma": "1", "dd": "1/2"},
        {"q": -1, "out": "no", "val": None, "gamma": "", "dd": "1"},
        {"q": -1, "out": "no", "val": None, "gamma": "", "dd": "0"},
    ]
    return dipc.check(dipc.load(PROGRAM), rows, alpha="1/2", beta="exp(-alpha*eps)/2")


def test_the_whole_object(report: Report) -> None:
    assert written(report) == {
        "schema": "dipc.check/1",
        "program": "noisy",
        "verdict": "inaccurate",
        "constants": {},
        "claim": {"alpha": "1/2", "beta": "exp(-alpha*eps)/2", "gamma": None, "eps": "(0, inf)"},
        "versions": {"dipc": dipc.__version__},
        "vacuous_rows": 1,
        "says_something": {
            "eps": [
                {"start": {"eps": ["0", "0"], "included": False}, "end": {"eps": ["inf", "inf"], "included": False}}
            ]
        },
        "rows": [
            {
                "row": 1,
                "input": {"q": "1/2"},
                "output": {"out": "yes", "val": "1/2"},
                "alpha": "1/2",
                "beta": "exp(-eps/2)/2",
                "gamma": "1",
                "verdict": "inaccurate",
                "probability": "1 - exp(-eps/2)/2 - exp(-eps) + exp(-3*eps/2)/2",
                "counterexample": {
                    "eps": "1",
                    "probability": ["0.44042030904645588106", "0.44042030904645588107"],
                    "required": ["0.69673467014368328819", "0.6967346701436832882"],
                },
                "reason": None,
                "failing": [
                    {
                        "start": {"eps": ["0", "0"], "included": False},
                        "end": {"eps": ["inf", "inf"], "included": False},
                    }
                ],
            },
            {
                "row": 2,
                "input": {"q": "-1"},
                "output": {"out": "no"},
                "alpha": "1/2",
                "beta": "exp(-eps/2)/2",
                "gamma": "0",
                "verdict": "accurate",
                "probability": "1 - exp(-eps)/2",
                "counterexample": None,
                "reason": None,
            },
            {
                "row": 3,
                "input": {"q": "-1"},
                "output": {"out": "no"},
                "alpha": "1/2",
                "beta": "exp(-eps/2)/2",
                "gamma": "0",
                "verdict": "accurate",
                "probability": "1 - exp(-eps)/2",
                "counterexample": None,
                "reason": None,
                "vacuous": True,
            },
        ],
    }


def test_numbers_are_texts_that_are_proved_bounds(report: Report) -> None:
    row = written(report)["rows"][0]  # type: ignore[index]
    at = sympy.Rational(row["counterexample"]["eps"])
    eps = sympy.Symbol("eps")
    for key, function in (("probability", row["probability"]), ("required", f"1 - ({row['beta']})")):
        low, high = (sympy.Rational(text) for text in row["counterexample"][key])
        assert low <= sympy.sympify(function).subs(eps, at) <= high
        assert high - low <= Fraction(1, 10**18)
    low, high = row["counterexample"]["probability"][1], row["counterexample"]["required"][0]
    assert Fraction(low) < Fraction(high)


def test_undecided_rows_have_a_reason() -> None:
    limits = Limits(states=1)
    report = dipc.check(dipc.load(PROGRAM), [{"q": 0, "out": "no"}], beta=0, limits=limits)
    result = written(report)
    assert result["verdict"] == "undecided"
    (row,) = result["rows"]  # type: ignore[misc]
    assert row["verdict"] == "undecided"
    assert row["reason"] == "the chain has more than 1 states (limit `states`)"
    assert row["probability"] is None
    assert row["counterexample"] is None


def test_an_infinite_alpha() -> None:
    report = dipc.check(dipc.load(PROGRAM), [{"q": 0, "dd": "inf"}], beta="exp(-alpha*eps)")
    (row,) = written(report)["rows"]  # type: ignore[misc]
    assert (row["alpha"], row["beta"], row["output"]) == ("inf", "0", {})

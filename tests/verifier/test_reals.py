"""Irrational constants of the checker, compared with mpmath, and their reader."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from dipc.algebra.reals import _perfect_power as engine_power
from dipc.certificate.events import number_data
from dipc.verifier.claims import evaluate
from dipc.verifier.reading import Budget, NotDerived, Rejected
from dipc.verifier.reals import Number, monomial, read_number
from dipc.verifier.syntax import Expr, read_expression

F = Fraction


def number(text: str) -> Number:
    def plain(tree: Expr) -> tuple[Fraction, tuple[int, ...]]:
        value = evaluate(tree, {}, Budget()).constant()
        assert value is not None
        return value, ()

    return monomial(read_expression(text, Budget()), plain)[0]


def written(chance: random.Random, depth: int) -> str:
    """A random positive constant."""
    rational = f"{chance.randint(1, 60)}/{chance.randint(1, 9)}"
    if not depth:
        return rational
    inner = written(chance, depth - 1)
    match chance.randrange(6):
        case 0:
            return f"sqrt({inner})"
        case 1:
            return f"log(2*exp({inner}))" if chance.random() < 0.3 else f"log({chance.randint(2, 400)})"
        case 2:
            return f"exp({chance.choice(('', '-'))}{chance.randint(1, 9)}/4)"
        case 3:
            return f"({inner})*({written(chance, depth - 1)})"
        case 4:
            return f"({inner})/({written(chance, depth - 1)})"
    return rational


@pytest.mark.parametrize("seed", range(60))
def test_enclosures_hold_the_number(seed: int) -> None:
    chance = random.Random(seed)
    text = written(chance, 3)
    found = number(text)
    for bits in (40, 200):
        low, high = found.ends(bits)
        with mpmath.workdps(100):
            wanted = eval(text, {"sqrt": mpmath.sqrt, "log": mpmath.log, "exp": mpmath.exp, "__builtins__": {}})
            at = [mpmath.mpf(end.numerator) / end.denominator for end in (low, high)]
            slack = mpmath.mpf(10) ** -13  # quotients of integers in Python have as many digits
            assert at[0] <= wanted * (1 + slack)
            assert wanted * (1 - slack) <= at[1]
        assert high - low <= low / 2**bits * 8
    assert found.factor > 0
    if len(found.powers) <= 4:
        assert read_number(number_data(found)) == found


@pytest.mark.parametrize("x", ["2", "10/9", "1000001/1000000", "125000", "3/2", "12345678901234567890"])
def test_logarithms_to_many_digits(x: str) -> None:
    low, high = number(f"log({x})").ends(300)
    with mpmath.workdps(120):
        wanted = mpmath.log(mpmath.mpf(F(x).numerator) / F(x).denominator)
        ends = [mpmath.mpf(end.numerator) / end.denominator for end in (low, high)]
        assert ends[0] <= wanted <= ends[1]
        assert ends[1] - ends[0] < wanted * mpmath.mpf(2) ** -298


def test_equal_numbers_that_are_written_otherwise() -> None:
    assert number("sqrt(2)*sqrt(2)") == number("2")
    assert number("log(1/3)") == number("-log(3)")
    assert number("exp(1/2)*exp(1/3)") == number("exp(5/6)")
    assert number("sqrt(2*log(3))^2/2") == number("log(3)")
    assert number("log(3)/log(3)") == number("1")
    assert number("log(125000)") == number("3*log(50)")
    assert number("log(4/9)") == number("-2*log(3/2)")
    assert number("sqrt(2*log(125000))") == number("sqrt(6*log(50))")
    assert number("log(2^200)") == number("200*log(2)")


@pytest.mark.parametrize("exponent", [1, 2, 3, 4, 6, 12, 30, 100, 997, 1000, 1024])
@pytest.mark.parametrize("base", ["2", "3/2", "25/9", "50"])
def test_logarithms_of_powers_have_the_form_of_the_engine(base: str, exponent: int) -> None:
    value = F(base) ** exponent
    times, root = engine_power(value)
    found = Number(value).logarithm
    assert found.factor == times
    assert [power.argument for power in found.powers] == [Number(root)]


@pytest.mark.parametrize("text", ["sqrt(-2)", "log(0)", "log(-3)", "1 + sqrt(2)", "exp(3000)*log(2)", "1/log(1)"])
def test_what_is_no_such_number(text: str) -> None:
    with pytest.raises(NotDerived):
        number(text).ends(40)


@pytest.mark.parametrize(
    "value",
    [
        ["0", []],
        ["-1", []],
        ["1", [["sin", ["2", []], "1"]]],
        ["1", [["log", ["1", []], "1"]]],
        ["1", [["log", ["2", []], "0"]]],
        ["1", [["log", ["2", []], "1/3"]]],
        ["1", [["log", ["2", []], "1000"]]],
        ["1", [["root", ["2", []], "1"]]],
        ["1", [["root", ["2", [["log", ["2", []], "1"]]], "1/2"]]],
        ["1", [["exp", ["1", []], "5000"]]],
        ["1", [["log", ["3", []], "1"], ["log", ["2", []], "1"]]],
        ["1", [["log", ["2", []], "1"], ["log", ["2", []], "1"]]],
        ["1", [["log", ["2", [["exp", ["1", [["exp", ["1", [["exp", ["1", []], "1"]]], "1"]]], "1"]]], "1"]]],
        [str(2**5000), []],
    ],
)
def test_what_is_read_is_a_number_in_its_form(value: Any) -> None:
    with pytest.raises(Rejected):
        read_number(value)

"""Powers of eps in denominators, as uniform noise beside exponential noise brings them: (1 - e^{-w·eps})/(w·eps)."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.exppoly import ClosedForm, ExpPoly, Quotient
from dipc.cli.main import main
from dipc.decide.obligation import Verdict

ONE = ExpPoly.ONE
widths = st.fractions(Fraction(1, 3), 4, max_denominator=3)


def mean_of_exponential(width: Fraction) -> Quotient:
    """The mean of e^{-eps·x} for x uniform on [0, width]."""
    return Quotient(ONE - ExpPoly.term(1, 0, -width), ExpPoly.term(width, 1))


@given(widths, widths, st.integers(0, 3), st.sampled_from([Fraction(1, 50), Fraction(1), Fraction(9)]))
def test_values_are_those_of_numbers(one: Fraction, other: Fraction, power: int, eps: Fraction) -> None:
    form = mean_of_exponential(one) * mean_of_exponential(other) - Quotient(ONE, ExpPoly.term(3, power))

    def number(width: Fraction) -> mpmath.mpf:
        return mpmath.quad(
            lambda x: mpmath.exp(-mpmath.mpf(eps.numerator) / eps.denominator * x), [0, float(width)]
        ) / float(width)

    expected = number(one) * number(other) - 1 / (3 * float(eps) ** power)
    low, high = form.enclosure(eps, 20)
    assert abs(float(low) - expected) < 1e-9 * max(1, abs(expected))
    assert low <= high


@given(widths)
def test_powers_of_eps_are_reduced(width: Fraction) -> None:
    """A factor eps above takes one away below, and what is left over is in the ring."""
    form = mean_of_exponential(width)
    assert (form * ExpPoly.term(width, 1)).in_ring() == ONE - ExpPoly.term(1, 0, -width)
    assert (form * ExpPoly.term(1, 2)) == Quotient((ONE - ExpPoly.term(1, 0, -width)) * ExpPoly.term(1 / width, 1), ONE)


@given(widths, widths)
def test_signs_multiply_by_the_power(one: Fraction, other: Fraction) -> None:
    """The wider interval has the smaller mean, for every eps; at eps = 0 both means are 1."""
    narrow, wide = sorted((one, other))
    smaller, greater = ClosedForm(mean_of_exponential(wide)), ClosedForm(mean_of_exponential(narrow))
    assert greater.at_least(smaller).verdict is Verdict.ACCURATE
    assert (smaller.at_least(greater).verdict is Verdict.ACCURATE) is (one == other)
    assert [piece.sign for piece in (greater - smaller).sign()] == ([0] if one == other else [1])


@given(widths)
def test_limits_where_numerator_and_denominator_vanish(width: Fraction) -> None:
    supremum = ClosedForm(mean_of_exponential(width)).sup()
    assert (supremum.low, supremum.high, supremum.eps, supremum.attained) == (1, 1, (0, 0), False)
    assert ClosedForm(Quotient(ONE, ExpPoly.term(width, 1))).sup().high is None


@given(widths, st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=10))
def test_the_failing_set_ends_at_the_root(width: Fraction, level: Fraction) -> None:
    decision = ClosedForm(mean_of_exponential(width)).at_least(level)
    assert decision.verdict is Verdict.INACCURATE
    (failing,) = decision.failing
    root = mpmath.findroot(
        lambda x: (1 - mpmath.exp(-x * float(width))) / (x * float(width)) - float(level), (0.01, 50), solver="anderson"
    )
    assert abs(float(failing.start.low) - root) < 1e-8
    assert failing.end.high is None


PROGRAM = """program halves;
input q : {0, 1};
output out : {0, 1};
out <- choose { 0 : (1 - exp(-2*eps))/(2*eps), 1 : 1 - (1 - exp(-2*eps))/(2*eps) };
"""


@pytest.mark.parametrize(
    ("beta", "code"), [("1 - (1 - exp(-2*eps))/(4*eps)", 0), ("1/2", 1), ("1 - (1 - exp(-3*eps))/(3*eps)", 0)]
)
def test_the_checker_follows(
    beta: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("halves.dip").write_text(PROGRAM, encoding="utf-8")
    Path("halves.csv").write_text("q,out\n0,0\n", encoding="utf-8")

    def dipc(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as stop:
            main(list(words))
        return int(stop.value.code or 0), capsys.readouterr().out

    assert dipc("check", "halves.dip", "halves.csv", "--beta", beta, "--certificate", "proof.json")[0] == code
    accepted, text = dipc("verify", "proof.json", "--program", "halves.dip", "--table", "halves.csv")
    assert accepted == 0, text
    assert "derivation   1 of 1" in text


# --- sparse quotients -------------------------------------------------------------------------------------------------


def falling(length: Fraction) -> ExpPoly:
    return ExpPoly.ONE - ExpPoly.term(1, 0, -length)


#: Numbers with large denominators: quotients of exponential polynomials in small units are reduced to lowest terms.
sharp = st.integers(1, 10**9).map(lambda n: Fraction(n, 10**9) + 1).filter(lambda number: number.denominator > 10**5)


@given(sharp, sharp, widths)
def test_sparse_quotients_stay_short(one: Fraction, other: Fraction, width: Fraction) -> None:
    """(1 - e^{-c·eps})/(1 - e^{-w·eps}) in lowest terms may have 10^9 terms."""
    quotient = Quotient(falling(one), falling(width))
    assert len(quotient.numerator) + len(quotient.denominator) <= 4
    more = quotient + Quotient(falling(other), falling(width))
    assert len(more.numerator) <= 4
    assert more - quotient == Quotient(falling(other), falling(width))
    assert (quotient * falling(width)).in_ring() == falling(one)
    assert Quotient(falling(one) * falling(width), falling(width)).in_ring() == falling(one)


@given(sharp, widths, st.integers(2, 5))
def test_equal_functions_are_equal_and_hash_alike(length: Fraction, width: Fraction, factor: int) -> None:
    """Both sides are one function, with a common divisor on one of them: 1 - y^n is a multiple of 1 - y."""
    short = Quotient(falling(length), falling(width))
    long = Quotient.coprime(falling(length) * falling(width / 10**7), falling(width) * falling(width / 10**7))
    assert short == long
    assert hash(short) == hash(long) or len(short.numerator) > 2
    assert short != Quotient(falling(length * factor), falling(width))
    assert long != Quotient(falling(length), falling(width * factor))


@given(st.integers(3, 9), widths)
def test_coarse_divisors_divide(count: int, width: Fraction) -> None:
    fine = falling(width / 10**6) * falling(width * count)
    coarse = falling(width) * falling(width * count)
    divisor = fine.coarse_divisor(coarse)
    assert divisor is not None
    assert fine.exact_quotient(divisor) * divisor == fine
    assert coarse.exact_quotient(divisor) * divisor == coarse
    assert len(divisor) > 1

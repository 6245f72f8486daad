from fractions import Fraction

import mpmath
from hypothesis import given
from hypothesis import strategies as st

from dipc.sign.polynomial import EXP_ERROR, decay_bits, exp_minus, growth_bits

arguments = st.one_of(
    st.builds(Fraction, st.integers(0, 400), st.integers(1, 200)),
    st.builds(Fraction, st.integers(0, 10**40), st.integers(1, 10**40)),
    st.builds(Fraction, st.just(1), st.integers(1, 10**60)),
    st.builds(Fraction, st.integers(0, 2000)),
)


@given(arguments, st.one_of(st.integers(0, 200), st.sampled_from([500, 1000, 3000])))
def test_exp_minus_is_within_its_error(x: Fraction, bits: int) -> None:
    with mpmath.workprec(2 * bits + 4000):
        exact = mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) * mpmath.power(2, bits)
        assert abs(exp_minus(x.numerator, x.denominator, bits) - exact) < EXP_ERROR


def test_exp_minus_of_enormous_arguments_is_immediate() -> None:
    assert exp_minus(10**100, 1, 100) == 0
    assert exp_minus(1, 10**100, 100) in (2**100 - 1, 2**100, 2**100 - 2)


@given(arguments)
def test_powers_of_two_around_the_exponential(x: Fraction) -> None:
    down, up = decay_bits(x.numerator, x.denominator), growth_bits(x.numerator, x.denominator)
    with mpmath.workprec(300):
        log = (mpmath.mpf(x.numerator) / x.denominator) / mpmath.log(2)
        assert 0 <= down <= log < up
        assert up <= log * (1 + mpmath.mpf("1e-4")) + 1 + mpmath.mpf("1e-50")
        assert down >= log * (1 - mpmath.mpf("1e-4")) - 1 - mpmath.mpf("1e-50")

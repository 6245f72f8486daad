from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

import dipc
from dipc.simulation.compare import Agreement
from dipc.simulation.draws import shares
from dipc.simulation.runs import compiled
from dipc.verifier.program import Choice
from tests.simulation.running import typed

EPS = Fraction(1, 2)


def weights(*texts):
    """The values of these weights at eps = 1/2, or None if they are no distribution."""
    arms = ", ".join(f"{number} : {text}" for number, text in enumerate(texts))
    machine, _ = compiled(typed(f"program p; output o : {{0..9}}; o <- choose {{ {arms} }}"), EPS)
    (choice,) = [each for each in machine.code if isinstance(each, Choice)]
    return shares([weight for _, weight in choice.arms], EPS)


def test_values_of_weights():
    assert weights("eps/(1 + eps)", "1/(1 + eps)") == [1 / 3, 2 / 3]
    assert weights("exp(0*eps)/3", "2/3") == [1 / 3, 2 / 3]
    assert weights("exp(eps)/(1 + exp(eps))", "1/(1 + exp(eps))")[0] == pytest.approx(0.6224593312018546, rel=1e-15)
    assert weights("exp(eps)*exp(-eps)/2", "(1 + exp(eps))^2/(1 + exp(eps))^2/2") == [0.5, 0.5]


def test_weights_that_cancel_keep_their_digits():
    found = weights("(exp(eps/10^12) - 1)/2", "1 - (exp(eps/10^12) - 1)/2")
    expected = (Decimal("5e-13") + Decimal("1.25e-25")) / 2
    assert found[0] == pytest.approx(float(expected), rel=1e-14)


def test_extreme_exponents_neither_overflow_nor_trouble():
    assert weights("exp(10000000*eps)/(1 + exp(10000000*eps))", "1/(1 + exp(10000000*eps))") == [1.0, 0.0]
    with pytest.raises(ArithmeticError):
        weights("exp(" + "9" * 40 + "*eps)", "1")


def test_distributions():
    assert weights("1/4", "3/4") == [0.25, 0.75]
    assert weights("1/4", "3/4 + 1/10^9") is None
    assert weights("5/4", "-1/4") is None
    assert weights("exp(-eps)", "1 - exp(-eps)") is not None
    assert weights("exp(-eps)", "1 - exp(-eps) + 1/1000000") is None
    assert weights("exp(eps)", "1 - exp(eps)") is None


@pytest.mark.parametrize(
    "arms", ["0 : (1 + (x = 2))/(2 + (x = 2)), 1 : 1/(2 + (x = 2))", "0 : (x = 2)/2, 1 : 1 - (x = 2)/2"]
)
@pytest.mark.parametrize("x", [0, 2])
def test_a_comparison_is_a_number_in_a_weight(arms: str, x: int) -> None:
    program = dipc.load(f"program p; input x : {{0..2}}; output o : {{0..1}}; o <- choose {{ {arms} }}")
    assert dipc.simulate(program, {"x": x}, 1, runs=2000).agreement is Agreement.MATCH

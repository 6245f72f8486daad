"""The loss of one or several outputs, each a sum of inputs and its own discrete Gaussian noise, at a single eps.

Let output i have noise of deviation σ_i and move by an integer t_i, with the budget b. The loss of outputs k is Σ (t_i²
- 2·k_i·t_i)/(2σ_i²), a sum of independent losses, and falls with S = Σ k_i·t_i/σ_i². In a common unit S takes integer
values, so the losses are on a grid (`many_runs.py`). If the sums leave out outputs of total mass τ, the delta is at
most τ greater.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

import flint

from dipc.algebra.limits import LimitReached
from dipc.algebra.numbers import to_fmpq
from dipc.measure.power_series import coefficients, precision
from dipc.measure.summed import Theta
from dipc.questions.privacy.many_runs import LossSum

_ONE = Fraction(1)

#: The precision of balls in bits, and the exponent of the mass left out of sums, about e^-exponent.
_BITS, _LEFT_OUT = 400, 280.0

#: The greatest value of S, in its unit.
_MOST_VALUES = 400_000

#: Outputs with discrete noise: the integer by which each moves, and the law of its noise.
MovedNoises = Sequence[tuple[int, Theta]]


def common_unit(noises: MovedNoises) -> Fraction:
    """Return the greatest number of which Σ k·t·rate² is a multiple for all integers k; t are the moves of `noises`."""
    weights = [t * noise.rate**2 for t, noise in noises]
    scale = lcm(*[weight.denominator for weight in weights])
    return Fraction(gcd(*[int(weight * scale) for weight in weights]), scale)


def loss_sum(noises: MovedNoises, eps: Fraction) -> LossSum:
    """Return the distribution, at `eps`, of the loss of outputs with these `noises`.

    Raises LimitReached for too many values.
    """
    unit = common_unit(noises)
    with precision(_BITS, 1):
        masses, left, reached = flint.arb_poly([1]), flint.arb(0), 0
        for t, noise in noises:
            center, size = _ONE if noise.fixed else eps, int(abs(t) * noise.rate**2 / unit)
            reach = noise.reach(center, _LEFT_OUT, wide=False)
            reached += reach * size
            if reached > _MOST_VALUES:
                raise LimitReached(None, "the outputs with discrete Gaussian noise have too many likely values")
            series = flint.arb_series([flint.arb(to_fmpq(center))])
            own = [flint.arb(0)] * (2 * reach * size + 1)
            for k, each in enumerate(noise.masses(series, center, reach)):
                own[(reach - k) * size] = own[(reach + k) * size] = coefficients(each, 1)[0]
            masses *= flint.arb_poly(own)
            left += noise.tail_variation(center, reach, wide=False)
        # The law of S is symmetric, so that the loss is a multiple of half of Σ t²·rate², plus S.
        _, noise = noises[0]
        scale = (flint.arb(to_fmpq(_ONE if noise.fixed else eps)) / noise.unit.ball()) ** 2
        least = sum((t**2 * each.rate**2 for t, each in noises), Fraction(0)) / 2 - reached * unit
        step = scale * flint.arb(to_fmpq(unit))
        return LossSum.from_masses(scale * flint.arb(to_fmpq(least)), step, masses.coeffs(), flint.arb(0), left)

"""The loss of one or several outputs, each a sum of inputs and its own discrete Gaussian noise, at a single eps.

Let output i have noise of deviation σ_i and move by an integer t_i, with the budget b. The loss of outputs k is Σ (t_i²
- 2·k_i·t_i)/(2σ_i²), a function of S = Σ k_i·t_i/σ_i² alone, and falls with S. So the delta is the sum of max(0, Pr[S =
s] - e^b·Pr[S + c = s]) with c = Σ t_i²/σ_i². In a common unit S takes integer values, so that its law is a convolution.
If the sums leave out outputs of total mass τ, their error is at most (1 + e^b)·τ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm

import flint

from dipc.algebra.limits import LimitReached
from dipc.algebra.numbers import dyadic, to_fmpq
from dipc.frozen import frozen
from dipc.measure.power_series import coefficients, precision
from dipc.measure.summed import Theta
from dipc.questions.privacy.outcome import Ends

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The precision of balls in bits, and the exponent of the mass left out of sums, about e^-exponent.
_BITS, _LEFT_OUT = 400, 280.0

#: The most products of two probabilities that are added up.
_MOST_PRODUCTS = 2_000_000


@frozen
class SumLaw:
    """The law of S = Σ k_i·t_i/σ_i², with the noises k_i, the moves t_i of the outputs, and the deviations σ_i.

    Values of S are integers in units of `unit`. `masses` encloses the probability of each value at the first input
    of the pair, and `left` the total probability of the values left out. At the second input S is greater by `shift`.
    """

    unit: Fraction
    masses: Mapping[int, flint.arb]
    shift: int
    left: flint.arb

    def delta(self, factor: flint.arb) -> Ends:
        """Enclose the least delta for a budget b with e^b = `factor`."""
        with precision(_BITS, 1):
            none = flint.arb(0)
            excesses = [
                mass - factor * self.masses.get(value - self.shift, none) for value, mass in self.masses.items()
            ]
            low = sum((ball for ball in excesses if ball > 0), none)
            high = sum((ball for ball in excesses if not ball < 0), none)
            error = (1 + factor) * self.left
            return max(_ZERO, dyadic((low - error).lower())), dyadic((high + error).upper())

    def edge(self, factor: flint.arb) -> tuple[Fraction, flint.arb, flint.arb]:
        """Return (the greatest value v with Pr[S = v] > `factor`·Pr'[S = v], Pr[S <= v], Pr'[S <= v]).

        Pr is the law at the first input, and Pr' at the second. The probabilities are enclosed.
        """
        with precision(_BITS, 1):
            none = flint.arb(0)
            likely = [v for v, mass in self.masses.items() if mass > factor * self.masses.get(v - self.shift, none)]
            edge = max(likely, default=min(self.masses))
            ours, theirs = (
                sum((mass for value, mass in self.masses.items() if value <= end), none)
                for end in (edge, edge - self.shift)
            )
            return edge * self.unit, ours.union(ours + self.left), theirs.union(theirs + self.left)


def sum_law(noises: Sequence[tuple[int, Theta]], eps: Fraction) -> SumLaw:
    """Return the law, at `eps`, of a weighted sum of noises on which the privacy loss depends.

    The sum is Σ k·t/σ² over the `noises`, each given as (t, law): t is the move of its output, k the integer noise, and
    σ the deviation of its law. Raises LimitReached for too many values.
    """
    weights = [t * noise.rate**2 for t, noise in noises]
    scale = lcm(*[weight.denominator for weight in weights])
    unit = Fraction(gcd(*[int(weight * scale) for weight in weights]), scale)
    steps = [int(weight / unit) for weight in weights]
    with precision(_BITS, 1):
        laws: dict[int, flint.arb] = {0: flint.arb(1)}
        left = flint.arb(0)
        for step, (_, noise) in zip(steps, noises, strict=True):
            center = _ONE if noise.fixed else eps
            reach = noise.reach(center, _LEFT_OUT, wide=False)
            if len(laws) * (2 * reach + 1) > _MOST_PRODUCTS:
                raise LimitReached(None, "the outputs with discrete Gaussian noise have too many likely values")
            series = flint.arb_series([flint.arb(to_fmpq(center))])
            masses = [coefficients(each, 1)[0] for each in noise.masses(series, center, reach)]
            left += noise.tail_variation(center, reach, wide=False)
            laws = _convolution(laws, {k * step: masses[abs(k)] for k in range(-reach, reach + 1)})
    shift = sum((t * step for step, (t, _) in zip(steps, noises, strict=True)), 0)
    return SumLaw(unit, laws, shift, left)


def _convolution(one: Mapping[int, flint.arb], two: Mapping[int, flint.arb]) -> dict[int, flint.arb]:
    result: dict[int, flint.arb] = {}
    for first, p in one.items():
        for second, q in two.items():
            value = first + second
            result[value] = result[value] + p * q if value in result else p * q
    return result

"""Several outputs, each a sum of inputs and its own discrete Gaussian noise, at a single eps.

Let output i have noise of deviation σ_i and move by an integer t_i, with the budget b.

**The loss of outputs k** is Σ (t_i² - 2·k_i·t_i)/(2σ_i²), a function of S = Σ k_i·t_i/σ_i² alone, and falls with S. So
the delta is the sum of max(0, Pr[S = s] - e^b·Pr[S + c = s]) with c = Σ t_i²/σ_i². In a common unit S takes integer
values, so that its law is a convolution. If the sums leave out outputs of total mass τ, their error is at most (1 +
e^b)·τ.

**The worst move.** The delta of one output grows with |t_i| at every budget (see `gaussian.py`). Greater deltas at
every budget are kept by products with independent outputs (Zhu, Dong and Wang 2022, Theorem 10). So of two moves of the
inputs, the one that moves every output at least as far is the worse, and only the greatest moves count.

**The divergences** of the outputs add up: that of an integer order a is a·Σ t_i²/(2σ_i²), as for one output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import floor, lcm, prod

import flint

from dipc.algebra.limits import LimitReached, OutsideFragment
from dipc.algebra.numbers import dyadic, outward, to_fmpq
from dipc.frozen import frozen
from dipc.measure.power_series import coefficients, precision
from dipc.measure.summed import Theta
from dipc.program.clipped import Clipped
from dipc.program.program import Program
from dipc.questions.privacy.adjacency import Distance, EveryPair, Neighborhood, Pairs, texts
from dipc.questions.privacy.gaussian import GaussianLaws, GaussianMechanism
from dipc.questions.privacy.laws import Subject
from dipc.questions.privacy.loss import DIGITS
from dipc.questions.privacy.outcome import (
    Answer,
    Ends,
    OutputsAtPair,
    PrivacyClaim,
    PrivacyCounterexample,
    Proved,
)
from dipc.sign.interval import Interval
from dipc.text.core import IntType

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The precision of balls in bits, and the exponent of the mass left out of sums, about e^-exponent.
_BITS, _LEFT_OUT = 400, 160.0

#: The most moves of the inputs that are compared, and values of S that are added up.
_MOST_MOVES, _MOST_VALUES = 20_000, 60_000

#: The proof of a claim, as reports name it.
OF_SUMS = "the loss depends on one integer sum of the outputs, whose law is enclosed at each greatest move"

#: A move of the outputs, with the inputs of a pair that makes it.
_Move = tuple[tuple[int, ...], tuple[Fraction, ...], tuple[Fraction, ...]]


@frozen
class SumLaw:
    """The law of S = Σ k_i·t_i/σ_i², with the noises k_i, the moves t_i of the outputs, and the deviations σ_i.

    Values of S are integers in units of 1/`scale`. `masses` has the probability of each value at the first input of
    the pair, and `left` the total probability of the values left out. At the second input S is greater by `shift`.
    The masses are not normalized beyond their enclosures.
    """

    scale: int
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

    def edge(self, factor: flint.arb) -> tuple[int, flint.arb, flint.arb]:
        """Return (the greatest value v with Pr[S = v] > `factor`·Pr'[S = v], Pr[S <= v], Pr'[S <= v]).

        Pr is the law at the first input, and Pr' at the second.
        """
        with precision(_BITS, 1):
            none = flint.arb(0)
            likely = [v for v, mass in self.masses.items() if mass > factor * self.masses.get(v - self.shift, none)]
            edge = max(likely, default=min(self.masses))
            sides = [
                sum((mass for value, mass in self.masses.items() if value <= end), none)
                for end in (edge, edge - self.shift)
            ]
            return edge, sides[0], sides[1] + self.left


class SeveralDiscreteLaws(GaussianLaws):
    """The laws of independent outputs with discrete Gaussian noise, at the pairs that move the outputs most.

    Deltas are known at single values of eps.
    """

    def __init__(self, subject: Subject, mechanism: GaussianMechanism, moves: Sequence[_Move]) -> None:
        self.moves = tuple(moves)
        slots = subject.program.core.inputs
        longest = max(self.moves, key=lambda move: self._square(mechanism, move[0]))
        move = {slot: there - here for slot, here, there in zip(slots, longest[1], longest[2], strict=True)}
        super().__init__(subject, mechanism, move, _inputs_text(subject.program, longest))
        self._laws: dict[tuple[tuple[int, ...], Fraction], SumLaw] = {}

    @staticmethod
    def _square(mechanism: GaussianMechanism, shifts: Sequence[int]) -> Fraction:
        return sum((t**2 / each.variance for t, each in zip(shifts, mechanism.outputs, strict=True)), _ZERO)

    @staticmethod
    def at_greatest_moves(subject: Subject, pairs: Pairs | EveryPair) -> SeveralDiscreteLaws | None:
        """Return the laws at `pairs` of several outputs with discrete Gaussian noise.

        None if the program of `subject` has other outputs. Raises Undecided.
        """
        mechanism = GaussianMechanism.from_program(subject.program, several=True)
        if mechanism is None or not mechanism.whole or len(mechanism.outputs) < 2:
            return None
        return SeveralDiscreteLaws.of_mechanism(subject, mechanism, pairs)

    @staticmethod
    def of_mechanism(
        subject: Subject, mechanism: GaussianMechanism, pairs: Pairs | EveryPair, box: Clipped | None = None
    ) -> SeveralDiscreteLaws:
        assert box is None, "several discrete outputs of clipped inputs have no laws here"
        found: dict[tuple[int, ...], _Move] = {}
        for one, two in _input_pairs(subject.program, pairs):
            move = dict(zip(subject.program.core.inputs, (b - a for a, b in zip(one, two, strict=True)), strict=True))
            shifts = [each.shift(move) for each in mechanism.outputs]
            if any(t.denominator != 1 for t in shifts):
                raise OutsideFragment(
                    "an output with discrete Gaussian noise moves by an amount that is not an integer"
                )
            sizes = tuple([abs(int(t)) for t in shifts])
            found.setdefault(sizes, (tuple(map(int, shifts)), one, two))
        greatest = [
            move
            for sizes, move in found.items()
            if not any(_is_beyond(other, sizes) for other in found if other != sizes)
        ]
        return SeveralDiscreteLaws(subject, mechanism, greatest)

    def delta_at(self, budget: Fraction, eps: Fraction, digits: int) -> Ends:  # noqa: ARG002
        ends = [self._law(shifts, eps).delta(_factor(budget, eps)) for shifts, _, _ in self.moves]
        return max(low for low, _ in ends), max(high for _, high in ends)

    def _needed(self, budget: Fraction, interval: Interval) -> tuple[Ends, Fraction | None]:
        if not self.mechanism.fixed and not interval.is_point:
            raise OutsideFragment(
                "the delta of several discrete Gaussian noises is decided at one eps only: give --eps"
            )
        # With fixed deviations only the budget depends on eps, and the delta falls as it grows.
        return self.delta_at(budget, interval.lower, DIGITS), interval.lower

    def decide(self, claim: PrivacyClaim) -> Answer:
        answer = super().decide(claim)
        return Proved(OF_SUMS) if isinstance(answer, Proved) else answer

    def _counterexample(self, claim: PrivacyClaim, eps: Fraction) -> PrivacyCounterexample | None:
        factor = _factor(claim.budget, eps)
        with precision(_BITS, 1):
            worst = max(self.moves, key=lambda move: self._law(move[0], eps).delta(factor)[0])
            law = self._law(worst[0], eps)
            edge, ours, likely = law.edge(factor)
            low, high = claim.delta.enclosure(eps, 60)
            theirs = factor * likely
            most = dyadic(theirs.lower()) + low, dyadic(theirs.upper()) + high
            probability = dyadic(ours.lower()), dyadic((ours + law.left).upper())
        ends, allowed = outward(*probability, DIGITS), outward(*most, DIGITS)
        if ends[0] <= allowed[1]:
            return None
        where = _inputs_text(self.subject.program, worst)
        sides = replace(where, outputs=(self._half_space_of(worst, Fraction(edge, law.scale)),))
        return PrivacyCounterexample(sides, eps, ends, allowed, claim.is_pure)

    def _half_space_of(self, move: _Move, edge: Fraction) -> dict[str, str]:
        """Return, as text, the set of outputs with Σ k_i·t_i/v_i <= `edge`.

        The k_i are noises, the t_i the moves of the outputs in `move`, and the v_i variances.
        """
        center = dict(zip(self.subject.program.core.inputs, move[1], strict=True))
        weights = [(each, t / each.variance) for t, each in zip(move[0], self.mechanism.outputs, strict=True) if t]
        bound = edge + sum((weight * each.center(center) for each, weight in weights), _ZERO)
        text = " + ".join(f"{weight}*{each.name}" for each, weight in weights).replace("+ -", "- ")
        return {text: f"(-inf, {bound}]"}

    def _law(self, shifts: tuple[int, ...], eps: Fraction) -> SumLaw:
        key = shifts, eps
        if key not in self._laws:
            self._laws[key] = self._convolved(shifts, eps)
        return self._laws[key]

    def _convolved(self, shifts: Sequence[int], eps: Fraction) -> SumLaw:
        """Return the law of the sum S of `SumLaw` at `eps` when the outputs move by `shifts`.

        Raises LimitReached for too many values.
        """
        mechanism = self.mechanism
        moving = [(t, each) for t, each in zip(shifts, mechanism.outputs, strict=True) if t]
        weights = [t / each.variance for t, each in moving]
        scale = lcm(1, *[weight.denominator for weight in weights])
        steps = [int(weight * scale) for weight in weights]
        center = _ONE if mechanism.fixed else eps
        with precision(_BITS, 1):
            laws: dict[int, flint.arb] = {0: flint.arb(1)}
            left = flint.arb(0)
            for step, (_, each) in zip(steps, moving, strict=True):
                theta = Theta(each.noise_rate, mechanism.unit, mechanism.fixed)
                reach = theta.reach(center, _LEFT_OUT, wide=False)
                if len(laws) * (2 * reach + 1) > _MOST_VALUES * 20 or reach * abs(step) > _MOST_VALUES:
                    raise LimitReached(None, "the outputs with discrete Gaussian noise have too many likely values")
                series = flint.arb_series([flint.arb(to_fmpq(center))])
                masses = [coefficients(each, 1)[0] for each in theta.masses(series, center, reach)]
                left += theta.tail_variation(center, reach, wide=False)
                laws = _sum_law(laws, {k * step: masses[abs(k)] for k in range(-reach, reach + 1)})
        shift = sum((t * step for step, (t, _) in zip(steps, moving, strict=True)), 0)
        return SumLaw(scale, laws, shift, left)


def _factor(budget: Fraction, eps: Fraction) -> flint.arb:
    with flint.ctx.workprec(_BITS):
        return flint.arb(to_fmpq(budget * eps)).exp()


def _sum_law(one: Mapping[int, flint.arb], two: Mapping[int, flint.arb]) -> dict[int, flint.arb]:
    result: dict[int, flint.arb] = {}
    for first, p in one.items():
        for second, q in two.items():
            value = first + second
            result[value] = result[value] + p * q if value in result else p * q
    return result


def _is_beyond(one: Sequence[int], other: Sequence[int]) -> bool:
    return all(a >= b for a, b in zip(one, other, strict=True))


def _inputs_text(program: Program, move: _Move) -> OutputsAtPair:
    return OutputsAtPair(texts(program, move[1]), texts(program, move[2]), ())


def _input_pairs(
    program: Program, pairs: Pairs | EveryPair
) -> Iterator[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]:
    """Yield the listed `pairs` of inputs of `program`, or else a pair for every move between adjacent int inputs.

    Raises Undecided if there are too many moves.
    """
    match pairs:
        case Pairs():
            for i, j in pairs.ordered:
                one, two = pairs.inputs[i], pairs.inputs[j]
                yield tuple(map(_number, one)), tuple(map(_number, two))
        case EveryPair(adjacency):
            if program.allowed is not None:
                raise OutsideFragment("for several outputs with discrete Gaussian noise, `requires` is not supported")
            origin = (_ZERO,) * len(program.core.inputs)
            for move in _moves_of_ints(program, adjacency):
                yield origin, tuple(map(Fraction, move))


def _moves_of_ints(program: Program, adjacency: Neighborhood) -> Iterator[tuple[int, ...]]:
    if not all(isinstance(slot.type, IntType) for slot in program.core.input_slots):
        raise OutsideFragment("outputs with discrete Gaussian noise are decided for int inputs only")
    if adjacency.distance is Distance.HAMMING:
        raise OutsideFragment(
            "hamming moves an input by an unbounded amount, but Gaussian noise only hides bounded moves"
        )
    radius, count = floor(adjacency.radius), len(program.core.inputs)
    if prod([2 * radius + 1] * count) > _MOST_MOVES:
        raise OutsideFragment("there are too many moves of the inputs to compare them")
    for move in product(range(-radius, radius + 1), repeat=count):
        if any(move) and (adjacency.distance is Distance.LINF or sum(map(abs, move)) <= radius):
            yield move


def _number(value: object) -> Fraction:
    assert isinstance(value, Fraction)
    return value

"""The Gaussian mechanism: exact privacy of outputs that are sums of inputs and independent normal noise.

Moving from u to u + d moves output k, whose noise has the variance v_k, by s_k. Only μ = √(Σ s_k²/v_k) matters: the
likelihood ratio is a function of Σ s_k·o_k/v_k alone. So the outputs are as hard to tell apart as two normal numbers of
variance 1 whose means are μ apart. With the budget b (Balle and Wang 2018),

    δ = Φ(μ/2 - b/μ) - e^b·Φ(-μ/2 - b/μ),

the Rényi divergence of order a is a·μ²/2, and the least ρ of zCDP is μ²/2. The loss is unbounded.

**Lemma.** With b = K·eps, μ = D·eps, D > 0, δ grows with eps.

1. Its derivative is D·φ(x) - K·e^b·Φ(y), with x = D·eps/2 - K/D and y = -D·eps/2 - K/D.
2. As x² - y² = -2b, e^b·φ(y) = φ(x).
3. As Φ(y) <= φ(y)/|y| and |y| > K/D, K·e^b·Φ(y) <= φ(x)·K/|y| < D·φ(x). ∎

If μ is the same for all eps, δ falls with eps, as its derivative with respect to b is -e^b·Φ(y); it is constant if K =
0. As a function of μ, δ grows: its derivative is φ(μ/2 - b/μ). So the worst move is the one with the greatest μ. As μ
is convex in d, this is a vertex of the adjacent moves.

**Integers.** Let one output have discrete Gaussian noise N and move by an integer t > 0. The ratio of the masses at k,
e^{(t² - 2·k·t)/(2σ²)}, falls with k. So the worst set is all integers up to some k, and with F(k) = Pr[N <= k]

    δ = max over k of F(k) - e^b·F(k - t)

(Canonne, Kamath and Steinke 2020, Theorem 7). It grows with t, as F(k - t) falls. The Rényi divergences of integer
orders a are a·t²/(2σ²), as Σ e^{-(k - x)²/(2σ²)} is the same for all integers x. Those of other orders are not greater
(Poisson summation), so that ρ is t²/(2σ²). If σ is the same for all eps, δ falls with eps, as F(k) - e^b·F(k - t) does
for each k. Otherwise the code decides at single values of eps only.

**Several integers.** One or several outputs with discrete Gaussian noise of their own have the delta of one integer sum
(`discrete_normal.py`). Greater deltas at every budget are kept by products with independent outputs (Zhu, Dong and Wang
2022, Theorem 10). So of two moves of the inputs, the one that moves every output at least as far is the worse, and only
the greatest moves count. The Rényi divergences of the outputs add up: that of an integer order a is a·Σ t_i²/(2σ_i²).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import floor, prod
from operator import le

import flint

from dipc.algebra.exppoly import fraction_of
from dipc.algebra.limits import LimitReached, OutsideFragment, Undecided
from dipc.algebra.numbers import dyadic, outward, to_fmpq
from dipc.algebra.reals import Real
from dipc.chain.state import Affine, NoiseVar
from dipc.frozen import frozen
from dipc.measure.summed import Theta
from dipc.noise.law import Measure
from dipc.program.clipped import Clipped
from dipc.program.program import Program
from dipc.questions.privacy.adjacency import Distance, EveryPair, Input, Neighborhood, Pairs, texts
from dipc.questions.privacy.boxes import extreme_moves, placed
from dipc.questions.privacy.discrete_normal import MovedNoises, common_unit, loss_sum
from dipc.questions.privacy.laws import Laws, LeastDelta, Subject
from dipc.questions.privacy.loss import DIGITS, Loss, Renyi, Rho
from dipc.questions.privacy.many_runs import LossSum
from dipc.questions.privacy.moves import AllowedMoves
from dipc.questions.privacy.outcome import (
    Answer,
    Ends,
    OutputsAtPair,
    PrivacyClaim,
    PrivacyCounterexample,
    Proved,
    Texts,
)
from dipc.sign.interval import Interval
from dipc.text.ast import BaseType
from dipc.text.diagnostic import DiagnosticError

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The precision of balls in bits, and the number of eps tried near an end that the interval does not include.
_BITS, _MOST_STEPS = 400, 80

#: The most moves of the inputs that are compared.
_MOST_MOVES = 20_000

#: Denominators of the edge of a counterexample's half-space, simple ones first.
_DENOMINATORS = (2, 10, 1000, 10**6, 10**12, 10**24)


@frozen
class NormalOutput:
    """The output `name`: a sum of inputs, the number `constant` and normal noise.

    `weights` are the factors of the inputs, by slot. `variance` is that of the noise, in multiples of the square of
    `GaussianMechanism.unit`. If the noise is discrete Gaussian, `noise_rate` is its rate; otherwise `noise_rate` is not
    used.
    """

    name: str
    weights: tuple[tuple[int, Fraction], ...]
    constant: Fraction
    variance: Fraction
    noise_rate: Fraction = _ONE

    def center(self, inputs: Mapping[int, Fraction]) -> Fraction:
        """Return the mean of the output at these `inputs`."""
        return self.constant + self.shift(inputs)

    def shift(self, move: Mapping[int, Fraction]) -> Fraction:
        """Return how far the output moves under a `move` of the inputs."""
        return sum((c * move.get(slot, _ZERO) for slot, c in self.weights), _ZERO)


def variance_of(noise: NoiseVar) -> Fraction:
    """Return the variance of Gaussian `noise`, in multiples of the square of its law's unit."""
    return 1 / noise.rate**2 if noise.law.whole else noise.law.normal_variance(noise.rate)


@frozen
class OutputsMove:
    """The move of the outputs of a mechanism between two adjacent inputs; `where` has the two inputs.

    `shifts` are the moves of the outputs, and `centers` their means at the first input. Telling the two inputs apart by
    the outputs is like telling apart two normal laws of variance 1 with means 0 and μ. `square` is (μ·unit/eps)², or
    (μ·unit)² if the deviations are fixed, with the unit of `GaussianMechanism`.
    """

    shifts: tuple[Fraction, ...]
    centers: tuple[Fraction, ...]
    square: Fraction
    where: OutputsAtPair


#: A half-space of outputs: its edge, as a multiple of the outputs' move from the first input towards the second, and
#: enclosures of its probabilities at both inputs.
WorstSet = tuple[Fraction, flint.arb, flint.arb]


@frozen
class GaussianMechanism:
    """A program with normal `outputs`, whose deviations are multiples of unit/eps, or of `unit` if they are `fixed`.

    With `whole` the noise is discrete Gaussian, and each output has a noise of its own.
    """

    outputs: tuple[NormalOutput, ...]
    unit: Real
    fixed: bool
    whole: bool = False

    @staticmethod
    def from_program(program: Program, *, several: bool = False) -> GaussianMechanism | None:
        """Return `program` as a Gaussian mechanism; None if it is not one. Raises Undecided past a limit.

        With `several`, discrete Gaussian noise may be in several outputs, a different noise in each.
        """
        core = program.core
        if not core.has_open_inputs:
            return None
        states = program.exits({}).states
        if len(states) != 1 or states[0].constraints.items or states[0].guards.items:
            return None
        (state,) = states
        drawn = {noise.id: noise for noise in state.noises}
        used: list[int] = []
        outputs: list[NormalOutput] = []
        for slot in core.outputs:
            form = state.outputs[slot]
            if not isinstance(form, Affine) or not form.noises:
                if isinstance(form, Affine) and form.inputs:
                    return None
                continue
            weights, constant, variance, rate = dict(form.inputs), form.constant, _ZERO, _ONE
            for noise, c in form.noises:
                law = drawn[noise].law
                if law.has_form or (law.measure is Measure.SUMS and abs(c) != 1):
                    return None
                variance += c**2 * variance_of(drawn[noise])
                used.append(noise)
                rate = drawn[noise].rate
                constant += c * drawn[noise].mean.constant
                for source, factor in drawn[noise].mean.inputs:
                    weights[source] = weights.get(source, _ZERO) + c * factor
            outputs.append(
                NormalOutput(core.slots[slot].name, tuple(sorted(weights.items())), constant, variance, rate)
            )
        mechanism = GaussianMechanism.from_outputs(outputs, [drawn[noise] for noise in used])
        if mechanism is None or len(set(used)) < len(used):
            return None
        if mechanism.whole and (len(used) > 1 and (not several or len(used) != len(outputs))):
            return None
        return mechanism

    @staticmethod
    def from_outputs(outputs: Iterable[NormalOutput], noises: Iterable[NoiseVar]) -> GaussianMechanism | None:
        """Return the mechanism with these `outputs`; None unless their `noises` have laws of one kind and unit."""
        kinds = {(noise.law.normal_unit, noise.law.fixed, noise.law.whole) for noise in noises}
        if len(kinds) != 1:
            return None
        ((unit, fixed, whole),) = kinds
        return GaussianMechanism(tuple(outputs), unit, fixed, whole)

    @property
    def several(self) -> bool:
        """True if several outputs have discrete Gaussian noise."""
        return self.whole and len(self.outputs) > 1

    def move_between(self, program: Program, one: Input, two: Input) -> OutputsMove:
        """Return the move of the outputs between the inputs `one` and `two` of `program`.

        Raises OutsideFragment if an output with discrete noise moves by an amount that is not an integer.
        """
        here, there = (dict(zip(program.core.inputs, _numbers(point), strict=True)) for point in (one, two))
        centers = tuple([each.center(here) for each in self.outputs])
        shifts = tuple([each.center(there) - center for each, center in zip(self.outputs, centers, strict=True)])
        if self.whole and any(shift.denominator != 1 for shift in shifts):
            raise OutsideFragment("an output with discrete Gaussian noise moves by an amount that is not an integer")
        square = sum((t**2 / each.variance for t, each in zip(shifts, self.outputs, strict=True)), _ZERO)
        return OutputsMove(shifts, centers, square, OutputsAtPair(texts(program, one), texts(program, two), ()))

    def mean(self, square: Fraction, eps: Fraction) -> flint.arb:
        """Return the distance μ of the laws at both inputs of a pair, as a ball with FLINT's current precision.

        `square` is (μ·unit/`eps`)², or (μ·unit)² if the deviations are fixed.
        """
        ball = flint.arb(to_fmpq(square)).sqrt() / self.unit.ball()
        return ball if self.fixed else ball * flint.arb(to_fmpq(eps))

    def rho(self, square: Fraction, eps: Fraction) -> Ends:
        """Return an enclosure of μ²/2 at `eps`, the least ρ of zCDP for one move of the inputs.

        As in `mean`, μ is the distance of the laws of the outputs before and after the move. `square` is
        (μ·unit/`eps`)², or (μ·unit)² if the deviations are fixed. Both ends are equal if μ²/2 is known exactly.
        """
        unit = (self.unit * self.unit).rational
        size = square / 2 if self.fixed else square * eps**2 / 2
        if unit is not None:
            return size / unit, size / unit
        low, high = self.unit.enclosure(_BITS)
        return size / high**2, size / low**2


#: The proof of a claim about a Gaussian mechanism, as reports name it.
OF_NORMAL_OUTPUTS = (
    "the outputs are normal, so delta depends only on how far they move, and is largest at one end "
    "of the intervals of eps"
)

#: The proof for several outputs with discrete noise.
OF_SUMS = "the loss depends on one integer sum of the outputs, whose law is enclosed at each greatest move"


def _phi(x: flint.arb) -> flint.arb:
    result: flint.arb = (-x / flint.arb(2).sqrt()).erfc() / 2
    return result


class GaussianLaws(Laws):
    """The laws of a Gaussian mechanism at adjacent pairs, one of which is the worst of all pairs.

    `moves` are the moves of the outputs at these pairs. There is one move, the longest of all pairs, unless several
    outputs have discrete noise. `longest` is the move with the greatest distance between the laws at both inputs.
    """

    def __init__(self, subject: Subject, mechanism: GaussianMechanism, moves: Sequence[OutputsMove]) -> None:
        super().__init__(subject)
        self.mechanism, self.moves = mechanism, moves
        self.longest = max(moves, key=lambda move: move.square)
        self._sums: dict[tuple[tuple[Fraction, ...], Fraction], LossSum] = {}

    @staticmethod
    def at_pairs(subject: Subject, pairs: Pairs | EveryPair, box: Clipped | None = None) -> GaussianLaws | None:
        """Return the laws at `pairs` if the program of `subject` is a Gaussian mechanism, else None.

        The inputs of a program that clips them are in a `box`. Raises Undecided for unbounded moves.
        """
        program = subject.program if box is None else box.program
        mechanism = GaussianMechanism.from_program(program, several=box is None)
        return None if mechanism is None else GaussianLaws.of_mechanism(subject, mechanism, pairs, box)

    @staticmethod
    def of_mechanism(
        subject: Subject, mechanism: GaussianMechanism, pairs: Pairs | EveryPair, box: Clipped | None = None
    ) -> GaussianLaws:
        """Return the laws of `mechanism` at those of `pairs` that move the outputs most.

        The inputs are those of the program of `subject`; if it clips them, they are in a `box`. Raises Undecided for
        unbounded moves.
        """
        program = subject.program if box is None else box.program
        every = _adjacent(program, mechanism, pairs, box)
        moves = (mechanism.move_between(program, one, two) for one, two in every)
        if not mechanism.several:
            return GaussianLaws(subject, mechanism, [max(moves, key=lambda move: move.square)])
        different: dict[tuple[Fraction, ...], OutputsMove] = {}
        for move in moves:
            different.setdefault(tuple(map(abs, move.shifts)), move)
        greatest = [
            move
            for far, move in different.items()
            if not any(all(map(le, far, other)) for other in different if other != far)
        ]
        return GaussianLaws(subject, mechanism, greatest)

    def loss(self, eps: Fraction, digits: int) -> Loss:  # noqa: ARG002
        """Return the loss at `eps`: infinite if an output moves, else 0.

        The loss is exact, whatever the number of `digits`.
        """
        value, text, place = (None, "inf", "far out") if self.longest.square else ((_ZERO, _ZERO), "0", "any")
        output = dict.fromkeys(self.subject.program.outputs, place)
        return Loss(
            *self.subject.asked, eps, value, self.longest.where.input, self.longest.where.adjacent, output, text
        )

    def divergence(self, order: int, eps: Fraction, digits: int) -> Renyi:  # noqa: ARG002
        low, high = self.mechanism.rho(self.longest.square, eps)
        value = order * low, order * high
        return Renyi(
            *self.subject.asked, order, eps, value, None, self.longest.where.input, self.longest.where.adjacent
        )

    def supremum(self, claim: PrivacyClaim, digits: int) -> LeastDelta:
        ends: list[tuple[Ends, Fraction | None, bool]] = []
        for interval in claim.intervals:
            value, end = self._needed(claim.budget, interval)
            ends.append((value, end, not self.longest.square or (end is not None and end in interval)))
        value, end, attained = max(ends, key=lambda each: (each[1] is None, each[0][0]))
        place = "inf" if end is None else (end, end)
        return self._enclosed_delta(claim, outward(*value, digits), attained, place, self.longest.where)

    def delta_at(self, budget: Fraction, eps: Fraction, digits: int) -> Ends:  # noqa: ARG002
        ends = [self._delta(move, budget, eps) for move in self.moves]
        return max(low for low, _ in ends), max(high for _, high in ends)

    def _delta(self, move: OutputsMove, budget: Fraction, eps: Fraction) -> Ends:
        if not move.square:
            return _ZERO, _ZERO
        if self.mechanism.whole:
            return self._sum(move, eps).delta(budget * eps)
        with flint.ctx.workprec(_BITS):
            b, mean = flint.arb(to_fmpq(budget * eps)), self.mechanism.mean(move.square, eps)
            excess = _phi(mean / 2 - b / mean) - b.exp() * _phi(-mean / 2 - b / mean)
            return max(_ZERO, dyadic(excess.lower())), dyadic(excess.upper())

    def _noises(self, move: OutputsMove) -> MovedNoises:
        unit, fixed = self.mechanism.unit, self.mechanism.fixed
        every = zip(self.mechanism.outputs, move.shifts, strict=True)
        return [(int(t), Theta(each.noise_rate, unit, fixed)) for each, t in every if t]

    def _sum(self, move: OutputsMove, eps: Fraction) -> LossSum:
        key = move.shifts, eps
        if key not in self._sums:
            self._sums[key] = loss_sum(self._noises(move), eps)
        return self._sums[key]

    def rho(self, claim: PrivacyClaim) -> Rho:
        """Return the least ρ such that the program is ρ-zCDP on the intervals of `claim`."""
        ends = [self.worst(interval) for interval in claim.intervals]
        known = [self.mechanism.rho(self.longest.square, end) for end in ends if end is not None]
        value = None if len(known) < len(ends) and self.longest.square else max(known, default=(_ZERO, _ZERO))
        at_one = None if self.mechanism.fixed else self.mechanism.rho(self.longest.square, Fraction(1))
        return Rho(
            *self.subject.asked, claim.eps_text, value, self.longest.where.input, self.longest.where.adjacent, at_one
        )

    def refusal(self, option: str) -> DiagnosticError | Undecided:
        if self.mechanism.whole:
            return OutsideFragment(
                "discrete Gaussian noise has infinitely many losses, which cannot be listed one by one"
            )
        return super().refusal(option)

    def worst(self, interval: Interval) -> Fraction | None:
        """Return the end of `interval` where the least delta has its supremum; None is infinity."""
        return interval.lower if self.mechanism.fixed else interval.upper

    def _needed(self, budget: Fraction, interval: Interval) -> tuple[Ends, Fraction | None]:
        """Return (bounds of the greatest delta needed for the budget `budget`·eps on `interval`, its eps).

        The eps is an end of the interval; None if the delta is 0 or 1, whatever eps is. Raises OutsideFragment if it is
        not known which end needs the greatest delta.
        """
        if self.mechanism.whole and not self.mechanism.fixed and self.longest.square and not interval.is_point:
            raise OutsideFragment(
                "the delta of discrete Gaussian noise with standard deviation s/eps is decided at one eps only: "
                "give --eps"
            )
        end = self.worst(interval)
        if end is None:
            return (_ONE, _ONE) if self.longest.square else (_ZERO, _ZERO), None
        return self.delta_at(budget, end, DIGITS), end

    def decide(self, claim: PrivacyClaim) -> Answer:
        delta = claim.delta
        depends = any(k or q for part in fraction_of(delta.value) for k, q, _ in part.terms())
        number = None if depends else delta.enclosure(_ONE, 60)
        for interval in claim.intervals:
            needed, end = self._needed(claim.budget, interval)
            if interval.is_point:
                allowed = delta.enclosure(interval.lower, 60)
            elif number is not None:
                allowed = number
            else:
                reason = (
                    "a delta that depends on eps is compared with the delta of Gaussian noise at one eps only: give "
                    "--eps"
                )
                return Undecided(reason)
            if needed[1] <= allowed[0]:
                continue
            counterexample = next(
                filter(None, (self._counterexample(claim, eps) for eps in _towards(interval, end))), None
            )
            if counterexample is None:
                return Undecided(f"the least delta could not be told apart from {claim.delta_text}")
            return counterexample
        return Proved(OF_SUMS if self.mechanism.several else OF_NORMAL_OUTPUTS)

    def _counterexample(self, claim: PrivacyClaim, eps: Fraction) -> PrivacyCounterexample | None:
        """Return a half-space of outputs that violates `claim` at `eps`; None if none exists."""
        move = max(self.moves, key=lambda move: self._delta(move, claim.budget, eps)[0])
        if self._delta(move, claim.budget, eps)[0] <= claim.delta.enclosure(eps)[1]:
            return None
        for edge, ours, likely in self._worst_sets(move, claim.budget, eps):
            with flint.ctx.workprec(_BITS):
                theirs = flint.arb(to_fmpq(claim.budget * eps)).exp() * likely
                low, high = claim.delta.enclosure(eps, 60)
                most = dyadic(theirs.lower()) + low, dyadic(theirs.upper()) + high
                probability = dyadic(ours.lower()), dyadic(ours.upper())
            for digits in (DIGITS, 3 * DIGITS):
                ends, allowed = outward(*probability, digits), outward(*most, digits)
                if ends[0] > allowed[1]:
                    sides = replace(move.where, outputs=(self._half_space(move, edge),))
                    return PrivacyCounterexample(sides, eps, ends, allowed, claim.is_pure)
        return None

    def _worst_sets(self, move: OutputsMove, budget: Fraction, eps: Fraction) -> Iterator[WorstSet]:
        """Yield half-spaces of outputs, among them the one that violates a claim most at one pair of inputs.

        `move` says how the pair moves the outputs, and the budget of the claim is `budget`·`eps`.
        """
        if self.mechanism.whole:
            law, unit = self._sum(move, eps), common_unit(self._noises(move))
            loss, ours, theirs = law.edge(budget * eps)
            with flint.ctx.workprec(_BITS):
                value = (flint.arb(to_fmpq(move.square / (2 * unit))) - loss / law.step).unique_fmpz()
            assert value is not None, "losses are on a grid"
            yield int(value) * unit / move.square, ours, theirs
            return
        for denominator in _DENOMINATORS:
            with flint.ctx.workprec(_BITS):
                b, mean = flint.arb(to_fmpq(budget * eps)), self.mechanism.mean(move.square, eps)
                edge = dyadic((flint.arb(1) / 2 - b / mean**2).mid()).limit_denominator(denominator)
                place = flint.arb(to_fmpq(edge)) * mean
                probabilities = _phi(place), _phi(place - mean)
            yield edge, *probabilities

    def _half_space(self, move: OutputsMove, edge: Fraction) -> Texts:
        """Return a half-space of outputs as text, such as {"x": "[3, inf)"}.

        Its edge goes through the point at which the outputs are their means at the first input, plus `edge` times their
        shift by `move`.
        """
        every = zip(self.mechanism.outputs, move.shifts, move.centers, strict=True)
        moving = [(each.name, t / each.variance, t, center) for each, t, center in every if t]
        if len(moving) == 1:
            ((name, weight, t, center),) = moving
            end = center + edge * t
            return {name: f"(-inf, {end}]" if weight > 0 else f"[{end}, inf)"}
        bound = edge * move.square + sum((weight * center for _, weight, _, center in moving), _ZERO)
        text = " + ".join(f"{weight}*{name}" for name, weight, *_ in moving).replace("+ -", "- ")
        return {text: f"(-inf, {bound}]"}


def _towards(interval: Interval, end: Fraction | None) -> Iterator[Fraction]:
    if end is not None and end in interval:
        yield end
        return
    if end is None:
        start = interval.lower + 1
        yield from (start * 2**k for k in range(_MOST_STEPS))
        return
    far = interval.upper if end == interval.lower else interval.lower
    far = end + 1 if far is None else far
    yield from (end + (far - end) / 2**k for k in range(1, _MOST_STEPS))


def _adjacent(
    program: Program, mechanism: GaussianMechanism, pairs: Pairs | EveryPair, box: Clipped | None
) -> Iterator[tuple[Input, Input]]:
    """Yield pairs of adjacent inputs of `program`, among them the pair of `pairs` whose move shifts the outputs most.

    The outputs are those of `mechanism`. With `box`, the pairs are in this box. Raises Undecided.
    """
    core = program.core
    origin = (_ZERO,) * len(core.inputs)
    if box is not None:
        assert isinstance(pairs, EveryPair), "listed pairs are not clipped"
        place = {slot: position for position, slot in enumerate(core.inputs)}
        forms = [{place[slot]: c for slot, c in output.weights} for output in mechanism.outputs]
        for step in extreme_moves([], forms, box, pairs.adjacency):
            yield placed(box.ranges, origin, [step[position] for position in range(len(origin))])
    elif isinstance(pairs, Pairs):
        yield from ((pairs.inputs[i], pairs.inputs[j]) for i, j in pairs.ordered)
    elif program.allowed is not None:
        if mechanism.several:
            raise OutsideFragment("for several outputs with discrete Gaussian noise, `requires` is not supported")
        yield from _allowed_pairs(AllowedMoves(program, pairs.adjacency))
    else:
        slots = {slot for output in mechanism.outputs for slot, _ in output.weights}
        used = [position for position, slot in enumerate(core.inputs) if slot in slots]
        moves = _moves_of_ints(program, pairs.adjacency) if mechanism.several else None
        for move in _vertices(program, pairs.adjacency, len(core.inputs), used) if moves is None else moves:
            yield origin, move


def _allowed_pairs(moves: AllowedMoves) -> Iterator[tuple[Input, Input]]:
    """Yield pairs of inputs with one of the allowed `moves`, among them one whose move shifts the outputs most.

    Raises OutsideFragment if the greatest move is not known, or if moves only come arbitrarily close to the greatest.
    """
    extreme = moves.extreme
    if extreme is None:
        raise OutsideFragment(
            "the moves between inputs that satisfy `requires` are unbounded, or have too many corners"
        )
    for move in extreme:
        pair = moves.exactly_making(move)
        if pair is None:
            raise OutsideFragment(
                "a strict inequality in `requires` excludes the greatest move: write <= for <, or >= for >"
            )
        yield pair


def _moves_of_ints(program: Program, adjacency: Neighborhood) -> Iterator[Input]:
    if not all(slot.type is BaseType.INT for slot in program.core.input_slots):
        raise OutsideFragment("outputs with discrete Gaussian noise are decided for int inputs only")
    if adjacency.distance is Distance.HAMMING:
        raise OutsideFragment(
            "under hamming adjacency, an input may move by any amount, but Gaussian noise only hides bounded moves"
        )
    radius, count = floor(adjacency.radius), len(program.core.inputs)
    if prod([2 * radius + 1] * count) > _MOST_MOVES:
        raise OutsideFragment("there are too many moves of the inputs to compare")
    for move in product(range(-radius, radius + 1), repeat=count):
        if adjacency.distance is Distance.LINF or sum(map(abs, move)) <= radius:
            yield tuple(map(Fraction, move))


def _numbers(point: Sequence[object]) -> tuple[Fraction, ...]:
    assert all(isinstance(value, Fraction) for value in point)
    return tuple([value for value in point if isinstance(value, Fraction)])


def _vertices(
    program: Program, adjacency: Neighborhood, count: int, used: Sequence[int]
) -> Iterator[tuple[Fraction, ...]]:
    whole = [slot.type is BaseType.INT for slot in program.core.input_slots]
    radii = [Fraction(floor(adjacency.radius)) if each else adjacency.radius for each in whole]
    match adjacency.distance:
        case Distance.HAMMING if used:
            raise OutsideFragment(
                "under hamming adjacency, a real input may move by any amount, but Gaussian noise only hides bounded "
                "moves"
            )
        case Distance.LINF:
            if 2 ** (len(used) - 1) > program.limits.vertices:
                raise LimitReached(
                    "vertices",
                    f"{len(used)} inputs may each move up or down, in more than {program.limits.vertices} combinations",
                )
            for signs in product((1, -1), repeat=max(0, len(used) - 1)):
                moved = dict(zip(used, (1, *signs), strict=False))
                yield tuple([radii[index] * moved.get(index, 1) for index in range(count)])
        case _:
            for position in used or [0]:
                yield tuple([radii[place] if position == place else _ZERO for place in range(count)])

"""The least delta of runs with too many answers to list, at one eps, by the distribution of their privacy loss.

The loss of an answer of all runs is the sum of the losses log(p/p') of its runs, which are independent. With loss L
under the law at the first input, delta(b) = E[max(0, 1 - e^(b - L))], where e^-L is 0 for an output that is impossible
at the second input. The distribution of the sum on a grid of step h is a power of a polynomial. Its coefficients are
balls. Small coefficients at both ends are cut off, and add at most their own sum to delta.

**Losses on a grid.** If all differences of losses of one run are multiples of one h, exactly, the sum is on a grid that
begins at the sum of the least losses. So delta can be enclosed as closely as needed.

**Losses between grid points.** An output with probabilities p and p', whose loss is between two points s < t of the
grid, is divided into two: with p = a + c and p' = a·e^-s + c·e^-t. Since a and c are not negative, the given program is
the divided one with both outputs renamed into one. So delta of the divided one is an upper bound.

Lemma. Let D be the sum, over K runs, of the losses of the divided outputs minus those of the given ones. Let m be the
greatest mean of one summand for a given output, and w the greatest t - s. For every x > 0, D > K·m + x with probability
at most exp(-2x²/(K·w²)).

Proof. Given the outputs, the summands are independent, and each is one of two numbers that are at most w apart. This is
Hoeffding's inequality (1963, Theorem 2).

Consequence: as 1 - e^(b - L) is at most 1 and grows with L, delta(b) of the given program is at least that of the
divided one at b + K·m + x, minus exp(-2x²/(K·w²)).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import floor, gcd, lcm, log, log2, prod, sqrt

import flint

from dipc.algebra.exppoly import Closed
from dipc.algebra.limits import LimitReached, Limits, Undecided
from dipc.algebra.numbers import dyadic, outward, to_fmpq
from dipc.claims.claim import the_one_eps
from dipc.frozen import frozen
from dipc.questions.privacy.adjacency import Pairs
from dipc.questions.privacy.laws import Laws, LeastDelta, Subject
from dipc.questions.privacy.loss import IMPOSSIBLE, LawTable, vanishes
from dipc.questions.privacy.outcome import Answer, Ends, PrivacyClaim, Proved
from dipc.questions.privacy.runs import FactorBase, Factored
from dipc.text.diagnostic import DiagnosticError

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The most points of a grid, and the approximate number of points if losses are between points.
_MOST_POINTS, _POINTS = 1 << 19, 1 << 15

#: A logarithm that is a multiple of another one is recognized if the multiple's denominator is at most this.
_MOST_RATIO = 64

#: A program's number of runs, with (p, p') for each two probabilities that some outputs have at the first and at the
#: second input of a pair, each multiplied by the number of these outputs.
_Part = tuple[int, Sequence[tuple[Closed, Closed]]]


@frozen
class _Atom:
    """The outputs of one run of a program that have the same privacy loss.

    `p` and `q` enclose the probability of these outputs at the first and at the second input of a pair, and `loss`
    encloses the loss log(p/q). `ratio` is p/q as a function of eps.
    """

    p: flint.arb
    q: flint.arb
    loss: flint.arb
    ratio: Factored


@frozen
class _Run:
    """A program that is run `runs` times, at one pair of inputs and one eps.

    `atoms` has the outputs of a single run that have finite losses, and `finite` their total probability at the first
    input.
    """

    runs: int
    atoms: list[_Atom]
    finite: flint.arb

    @property
    def spread(self) -> float:
        """The approximate difference between the greatest and the least finite loss of a single run."""
        losses = [float(atom.loss.mid()) for atom in self.atoms]
        return max(losses, default=0.0) - min(losses, default=0.0)


#: The distribution of the loss of one run on a grid: the least loss, and the mass at each point from there on.
_Gridded = tuple[flint.arb, list[flint.arb]]


@frozen
class _Grid:
    """The distributions of the losses of several programs on a grid of numbers with distance `step`.

    `laws` has the distribution for one run of each program. An output whose loss is between two grid points may be
    divided between two points. Then `width` is the greatest distance of these points, and `mean` is an upper bound of
    the mean change of one output's loss. Both are 0 if no output was divided.
    """

    step: flint.arb
    laws: list[_Gridded]
    width: Fraction = _ZERO
    mean: Fraction = _ZERO


def _sum(parts: Sequence[_Part], eps: Fraction, digits: int, limits: Limits) -> LossSum:
    count = sum(number for number, _ in parts)
    with flint.ctx.workprec(128 + 8 * digits + 4 * count.bit_length()):
        runs = _runs(parts, eps, limits)
        finite = prod([run.finite**run.runs for run in runs], start=flint.arb(1))
        grid = _on_lattice(runs, digits) or _between_points(runs, digits)
        least = 1 / (count * 10.0 ** (digits + 6))
        start, offset, masses = flint.arb(0), 0, flint.arb_poly([flint.arb(1)])
        for run, (first_loss, own) in zip(runs, grid.laws, strict=True):
            more, power = _power(flint.arb_poly(own), run.runs, least)
            less, masses = _cut(masses * power, least)
            offset += more + less
            start += run.runs * first_loss
        kept = masses.coeffs()
        rest = finite - sum(kept, flint.arb(0))
        start += offset * grid.step
        return LossSum.from_masses(start, grid.step, kept, 1 - finite, rest, count, grid.width, grid.mean)


def _runs(parts: Sequence[_Part], eps: Fraction, limits: Limits) -> list[_Run]:
    digits = int(flint.ctx.prec) // 3
    possible = [[(p, q) for p, q in couples if not vanishes(p, eps)] for _, couples in parts]
    finite = [[(p, q) for p, q in couples if not vanishes(q, eps)] for couples in possible]
    base = FactorBase((value for couples in finite for couple in couples for value in couple), limits)
    result = []
    for (number, _), every, couples in zip(parts, possible, finite, strict=True):
        atoms = []
        for p, q in couples:
            ours, theirs = (_ball(value, eps, digits) for value in (p, q))
            ratio = _quotient(base.factored(p), base.factored(q))
            atoms.append(_Atom(ours, theirs, (ours / theirs).log(), ratio))
        infinite = [_ball(p, eps, digits) for p, q in every if vanishes(q, eps)]
        result.append(_Run(number, atoms, 1 - sum(infinite, flint.arb(0))))
    return result


def _ball(value: Closed, eps: Fraction, digits: int) -> flint.arb:
    low, high = value.enclosure(eps, digits)
    ball: flint.arb = flint.arb(to_fmpq(low)).union(flint.arb(to_fmpq(high)))
    return ball


def _quotient(one: Factored, two: Factored) -> Factored:
    exponents = tuple([e - f for e, f in zip(one.exponents, two.exponents, strict=True)])
    return Factored(one.coefficient / two.coefficient, one.rate - two.rate, exponents)


def _multiple(one: Factored, two: Factored) -> Fraction | None:
    """Return the r with log(`one`) = r·log(`two`) as functions of eps, or None if none is found.

    `two` is not the function 1. Both are products of powers of independent factors, so each exponent of `one` has to be
    r times that of `two`. Signs of coefficients are ignored, since both functions are positive at the eps of the
    question.
    """
    rates: list[tuple[Fraction | int, Fraction | int]] = [(one.rate, two.rate)]
    places = [*rates, *zip(one.exponents, two.exponents, strict=True)]
    ratio = next((Fraction(e) / f for e, f in places if f != 0), None)
    if ratio is None:
        logarithms = [log(abs(c.numerator)) - log(c.denominator) for c in (one.coefficient, two.coefficient)]
        ratio = Fraction(logarithms[0] / logarithms[1]).limit_denominator(_MOST_RATIO)
    if max(abs(ratio.numerator), ratio.denominator) > _MOST_RATIO or any(e != ratio * f for e, f in places):
        return None
    powers = abs(one.coefficient) ** ratio.denominator, abs(two.coefficient) ** ratio.numerator
    return ratio if powers[0] == powers[1] else None


def _on_lattice(runs: Sequence[_Run], digits: int) -> _Grid | None:
    """Return a grid that contains the losses of all outputs of `runs`, or None if none is found.

    A grid is found if all differences between two losses of one program are multiples of one number. The result is also
    None if the grid needs too many points for results with `digits` digits.
    """
    rows = [[_quotient(atom.ratio, run.atoms[0].ratio) for atom in run.atoms] for run in runs]
    unlike = ((i, j) for i, row in enumerate(rows) for j, each in enumerate(row) if each != row[0])
    first = next(unlike, None)
    if first is None:
        return _Grid(flint.arb(1), [_on_points(run, [0] * len(run.atoms)) for run in runs])
    i, j = first
    found = [[_multiple(each, rows[i][j]) for each in row] for row in rows]
    multiples = [[each for each in row if each is not None] for row in found]
    step = runs[i].atoms[j].loss - runs[i].atoms[0].loss
    if multiples != found or not (step > 0 or step < 0):
        return None
    below = lcm(*[each.denominator for row in multiples for each in row])
    above = gcd(*[int(each * below) for row in multiples for each in row])
    share = Fraction(above if step > 0 else -above, below)
    step *= flint.arb(to_fmpq(share))
    if _reach(runs, digits) > _MOST_POINTS * float(step.mid()):
        return None
    points = [[int(each / share) for each in row] for row in multiples]
    return _Grid(step, [_on_points(run, row) for run, row in zip(runs, points, strict=True)])


def _on_points(run: _Run, points: Sequence[int]) -> _Gridded:
    """Return the distribution of the loss for one run of `run` on a grid: (loss at the first point, masses).

    `points` has, for each of the run's `atoms`, the index of the grid point that is its loss.
    """
    least = min(points, default=0)
    masses = [flint.arb(0)] * (max(points, default=0) - least + 1)
    for atom, point in zip(run.atoms, points, strict=True):
        masses[point - least] += atom.p
    start = next((atom.loss for atom, point in zip(run.atoms, points, strict=True) if point == least), flint.arb(0))
    return start, masses


def _between_points(runs: Sequence[_Run], digits: int) -> _Grid:
    """Return a grid for `runs` on which the probability of each output is divided between points around its loss.

    The grid is fine enough for an interval that contains the loss of all runs with a probability of about 1 -
    10^-`digits`.
    """
    step = Fraction(2) ** floor(log2(_reach(runs, digits) / _POINTS or 1.0))
    width = mean = _ZERO
    laws: list[_Gridded] = []
    for run in runs:
        masses: dict[int, flint.arb] = {}
        for atom in run.atoms:
            place = atom.loss / flint.arb(to_fmpq(step))
            low, high = floor(dyadic(place.lower())), floor(dyadic(place.upper())) + 1
            ends = [flint.arb(to_fmpq(each * step)) for each in (low, high)]
            at_low, at_high = ((-end).exp() for end in ends)
            first = (atom.q - atom.p * at_high) / (at_low - at_high)
            second = atom.p - first
            masses[low] = masses.get(low, flint.arb(0)) + first
            masses[high] = masses.get(high, flint.arb(0)) + second
            more = (first * ends[0] + second * ends[1]) / atom.p - atom.loss
            width, mean = max(width, (high - low) * step), max(mean, dyadic(more.upper()))
        least = min(masses, default=0)
        every = [masses.get(place, flint.arb(0)) for place in range(least, max(masses, default=0) + 1)]
        laws.append((flint.arb(to_fmpq(least * step)), every))
    return _Grid(flint.arb(to_fmpq(step)), laws, width, mean)


def _reach(runs: Sequence[_Run], digits: int) -> float:
    """Return the approximate length of an interval that contains the loss of all `runs`.

    The loss is outside with a probability of about 10^-`digits`, by Hoeffding's inequality. The length is used only to
    choose a grid.
    """
    whole = sum(run.runs * run.spread for run in runs)
    return min(whole, sqrt(sum(run.runs * run.spread**2 for run in runs) * 2 * (digits + 1) * log(10)))


def _power(masses: flint.arb_poly, exponent: int, least: float) -> tuple[int, flint.arb_poly]:
    """Return (n, polynomial) such that x^n times the polynomial is approximately `masses`^`exponent`.

    Here x is the variable of the polynomials. After each multiplication, small coefficients are cut off at both ends.
    Their sum at one end is at most about `least`. Raises LimitReached if too many coefficients are left.
    """
    offset, result = 0, flint.arb_poly([flint.arb(1)])
    for bit in f"{exponent:b}":
        less, result = _cut(result * result, least)
        offset = 2 * offset + less
        if bit == "1":
            less, result = _cut(result * masses, least)
            offset += less
    return offset, result


def _cut(masses: flint.arb_poly, least: float) -> tuple[int, flint.arb_poly]:
    """Return (the number of coefficients cut at the lower end, `masses` without small coefficients at both ends).

    The coefficients cut at an end add up to about `least` at most. Raises LimitReached if too many are left.
    """
    every = masses.coeffs()
    sizes = [float(each.mid()) for each in every]
    first, last = (bisect_right(list(accumulate(row)), least) for row in (sizes, reversed(sizes)))
    first = min(first, len(every) - 1)
    kept = every[first : max(first + 1, len(every) - last)]
    if len(kept) > _MOST_POINTS:
        raise LimitReached(None, f"the loss of all runs has more than {_MOST_POINTS} values")
    return first, flint.arb_poly(kept)


@frozen
class LossSum:
    """The distribution of a sum of independent losses at a pair of inputs: masses on the points `start` + j·`step`.

    The losses are those of all `runs`, or of all outputs of one run. A mass a is the probability of a loss at the first
    input. `zeroth[j]` is the sum of all a at the point j and beyond, and `first[j]` that of all a·e^-loss. `infinite`
    is the probability of an infinite loss, and `rest` that of the losses that were cut off. Numbers are balls of
    `precision` bits. `width` and `mean` say how far one run's losses were changed to put them on the grid: at most, and
    on average.
    """

    start: flint.arb
    step: flint.arb
    zeroth: list[flint.arb]
    first: list[flint.arb]
    infinite: flint.arb
    rest: flint.arb
    precision: int
    runs: int
    width: Fraction
    mean: Fraction

    @staticmethod
    def from_masses(
        start: flint.arb,
        step: flint.arb,
        masses: Sequence[flint.arb],
        infinite: flint.arb,
        rest: flint.arb,
        runs: int = 1,
        width: Fraction = _ZERO,
        mean: Fraction = _ZERO,
    ) -> LossSum:
        """Return the distribution with these `masses` at the points `start`, `start` + `step`, … of a grid.

        `infinite`, `rest`, `runs`, `width` and `mean` are fields of the result. Its numbers have FLINT's current
        precision. Budgets are not negative, so points with a loss below 0 may be left out.
        """
        kept = masses or [flint.arb(0)]  # empty if no output is possible at both inputs
        skipped = max(0, min(len(kept), floor(dyadic((-start / step).lower()))) - 1)
        start += skipped * step
        weight, factor = (-start).exp(), (-step).exp()
        weighted = []
        for mass in kept[skipped:]:
            weighted.append(mass * weight)
            weight *= factor
        zeroth, first = (list(accumulate(reversed(each)))[::-1] for each in (kept[skipped:], weighted))
        return LossSum(start, step, zeroth, first, infinite, rest, int(flint.ctx.prec), runs, width, mean)

    def points(self, budget: Fraction) -> range:
        """Return the few indices among which is that of the first point with a loss of at least `budget`.

        The last one is the index of the first point with a greater loss.
        """
        place = (flint.arb(to_fmpq(budget)) - self.start) / self.step
        first, beyond = floor(dyadic(place.lower())), floor(dyadic(place.upper())) + 1
        last = len(self.zeroth) - 1
        return range(min(max(first, 0), last), min(max(beyond, 0), last) + 1)

    def edge(self, budget: Fraction) -> tuple[flint.arb, flint.arb, flint.arb]:
        """Return (the least loss greater than `budget`, Pr and Pr' of all losses from there on), as balls.

        Pr is the law at the first input, and Pr' at the second.
        """
        with flint.ctx.workprec(self.precision):
            j = self.points(budget)[-1]
            ours, theirs = self.zeroth[j] + self.infinite, self.first[j]
            return self.start + j * self.step, ours.union(ours + self.rest), theirs.union(theirs + self.rest)

    def excess(self, budget: Fraction) -> Ends:
        """Return an enclosure of E[max(0, 1 - e^(`budget` - loss))] over the finite losses that were not cut off."""
        with flint.ctx.workprec(self.precision):
            factor = flint.arb(to_fmpq(budget)).exp()
            # The sum of a - e^b·a·e^-loss from a point on is greatest at the first point with a loss of at least b.
            found = [self.zeroth[j] - factor * self.first[j] for j in self.points(budget)]
            low, high = (
                max([dyadic(end) for end in ends]) for ends in ([f.lower() for f in found], [f.upper() for f in found])
            )
        return max(_ZERO, low), max(_ZERO, high)

    def delta(self, budget: Fraction) -> Ends:
        """Return an enclosure of the least delta at this pair of inputs, for the number `budget` in place of K·eps."""
        low, high = self.excess(budget)
        high = min(_ONE, high + dyadic((self.infinite + self.rest).upper()))
        if self.width and low:
            # A thousandth of delta may be missed; the float only proposes x.
            x = Fraction(sqrt(self.runs * log(1000 / max(float(low), 1e-300)) / 2)) * self.width
            missed = (-2 * flint.arb(to_fmpq(x / self.width)) ** 2 / self.runs).exp()
            low = self.excess(budget + self.runs * self.mean + x)[0] - dyadic(missed.upper())
        return max(_ZERO, low) + max(_ZERO, dyadic(self.infinite.lower())), high


class UnlistedRuns(Laws):
    """The laws of all outputs of many runs; questions at one eps are answered by enclosures, others are refused."""

    def __init__(
        self, subject: Subject, parts: Sequence[tuple[LawTable, int]], pairs: Pairs, refusal: LimitReached
    ) -> None:
        """Keep the laws of single runs, from which questions about all runs are answered.

        `parts` has, for each program, the laws of one run at the inputs of `pairs` and the number of runs. `subject` is
        the program with its engine. `refusal` says why there is no table.
        """
        super().__init__(subject)
        self._parts, self._pairs, self._refused = parts, pairs, refusal
        self._sums: dict[tuple[Fraction, int], list[LossSum]] = {}

    def refusal(self, option: str) -> DiagnosticError | Undecided:  # noqa: ARG002
        return self._refused

    def decide(self, claim: PrivacyClaim) -> Answer:
        """Prove `claim` about one eps by an upper bound of delta; other claims are refused."""
        eps = the_one_eps(claim.intervals)
        if eps is None or claim.is_pure:
            raise self._refused
        least, most = self.delta_at(claim.budget, eps, 20)
        allowed = claim.delta.enclosure(eps, 60)
        if most <= allowed[0]:
            return Proved(None)
        if least > allowed[1]:
            ends = outward(least, most, 10)
            return Undecided(
                f"{self._refused.reason}: delta is at least {float(ends[0])}, but no counterexample is named"
            )
        raise self._refused

    def supremum(self, claim: PrivacyClaim, digits: int) -> LeastDelta:
        eps = the_one_eps(claim.intervals)
        if eps is None:
            raise self._refused
        value = outward(*self.delta_at(claim.budget, eps, digits), digits)
        return self._enclosed_delta(claim, value, True, (eps, eps), None)

    def delta_at(self, budget: Fraction, eps: Fraction, digits: int) -> Ends:
        found = [each.delta(budget * eps) for each in self._distributions(eps, digits)]
        return max(low for low, _ in found), max(high for _, high in found)

    def limit_of_delta(self, eps: Fraction, digits: int) -> Ends:
        sums = self._distributions(eps, digits)
        return max(dyadic(each.infinite.lower()) for each in sums), max(dyadic(each.infinite.upper()) for each in sums)

    def _distributions(self, eps: Fraction, digits: int) -> list[LossSum]:
        key = eps, digits
        if key not in self._sums:
            limits = self.subject.engine.limits
            self._sums[key] = [_sum(parts, eps, digits, limits) for parts in self._parts_of_pairs]
        return self._sums[key]

    @cached_property
    def _parts_of_pairs(self) -> list[list[_Part]]:
        """For each pair of inputs, a list with one entry for each program.

        The entry has the program's number of runs and its probabilities at both inputs. Of several pairs with equal
        probabilities, only the first is included.
        """
        known: dict[object, list[_Part]] = {}
        for i, j in self._pairs.ordered:
            key = tuple([tuple(sorted(zip(table.rows[i], table.rows[j], strict=True))) for table, _ in self._parts])
            if key in known:
                continue
            known[key] = []
            for table, runs in self._parts:
                counts = Counter(couple for couple in table.at_pair((i, j)) if couple[0] != IMPOSSIBLE)
                couples = [(table.closed(p) * count, table.closed(q) * count) for (p, q), count in counts.items()]
                known[key].append((runs, couples))
        return list(known.values())

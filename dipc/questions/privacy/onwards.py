"""What refutes a constant for one number of queries refutes others for every greater one.

**Words.** An output of n iterations is a word, one letter for each. Let a block of p letters, at given inputs, lead
from one head of the loop back to this head, with the same noises alive and whatever the other noises are; let it do so
from all heads that the letters before it lead to, and let the letters after it be impossible from all others. With t
for the noises alive there, the word with k >= 1 such blocks has the probability

    M(k) = ∫ P(t)^k·g(t) dμ(t):

P is the probability of the block, and neither it, nor g, nor μ depends on k, as iterations to come depend on the head
alone; with k = 0 it may be more. Then

  * M is log-convex (Hölder), so that M(k + i) >= M(k)·(M(k)/M(k-1))^i;
  * M(k + i) <= M(k)·(sup P)^i. Where the noises N that are drawn in the block must have Σ rate·|N| >= c whatever t is
    (a linear program for each way through it), P(t) is at most the probability of that, a polynomial in eps times
    e^(-c·eps).

So with G for lim log(Pr)/eps towards infinity, G the one at an input and G' that at an adjacent one, the loss of the
word with i blocks more is at least (G(k) - G'(k) + i·(G(k) - G(k-1) + c) + o(1))·eps for large eps: a lower bound of
the constant for n + p·i queries.

Rates that are multiples of one function r(m) are those of a program for all m at another eps, r(m)·eps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TypeVar

from dipc.algebra.exppoly import Closed, fraction_of
from dipc.algebra.limits import Undecided
from dipc.chain.constraints import Affine
from dipc.chain.state import Mark, State
from dipc.decide.engine import Engine
from dipc.linear.halfspace import Halfspace, sorted_terms
from dipc.linear.program import Least, minimum
from dipc.program.program import Program
from dipc.questions.every_number.in_number import ONE, Ratio
from dipc.questions.every_number.loop_runs import Key, initial, stripped
from dipc.questions.every_number.normal_form import rate_of_mark
from dipc.questions.every_number.uniform import NotUniform
from dipc.questions.privacy.constant import WIDTH_OF_OUTPUTS, Candidate, exponent_of
from dipc.questions.privacy.loops import OneLoop, PathRuns, alive_noises
from dipc.questions.privacy.loss import law_table
from dipc.text.core import SampleNoise, show_value

_ZERO, _ONE = Fraction(0), Fraction(1)

#: Letters of a block, at most.
BLOCK = 2

V = TypeVar("V")

#: A value as text, None for none, or the ends of the interval that it is in.
_Letter = str | tuple[Fraction, Fraction] | None


def lower_bound(
    single: OneLoop, programs: Mapping[int, Program], candidate: Candidate, number: int, period: int, engine: Engine
) -> Ratio | None:
    """A function of the number that the constant is at least for this number and every one that is i·period more: the
    greatest that a word of the candidate, with one block more again and again, has. The candidate's functions are the
    probabilities of its word for the number; `programs` has the program for `period` less. None where none is known.
    """
    smaller, unit = programs.get(number - period), _unit(single)
    if smaller is None or unit is None or fraction_of(candidate.second)[0].is_zero():
        return None
    exponents = exponent_of(candidate.first), exponent_of(candidate.second)
    base = (exponents[0] - exponents[1]) / unit.at(number)
    slopes = []
    try:
        here, there = (_Word(single, number, candidate, point) for point in (candidate.input, candidate.adjacent))
        for block in range(here.count - period + 1):
            head = there.around(block, period)
            if head is None or here.around(block, period) is None:
                continue
            cost = there.least_cost(head, block, period, unit)
            less = here.shortened(block, period, smaller, engine)
            if cost is not None and less is not None:
                gained = exponents[0] / unit.at(number) - exponent_of(less) / unit.at(number - period)
                slopes.append((gained + cost) / period)
    except (NotUniform, Undecided):
        return None
    if not slopes:
        return None
    return unit * (Ratio.constant(base) + (Ratio.number() - Ratio.constant(number)) * Ratio.constant(max(slopes)))


def _unit(single: OneLoop) -> Ratio | None:
    """A function of which all rates are multiples, None where there is none: 1 where they are numbers."""
    rates = single.text.rates
    if rates is None:
        return ONE
    program, *_ = single.instance(single.low + 1)
    marks = {each.rate for each in program.core.instructions if isinstance(each, SampleNoise)}
    ratios = [rate_of_mark(rates, mark) for mark in sorted(marks)]
    return ratios[0] if ratios and all((r / ratios[0]).constant_value() is not None for r in ratios) else None


class _Word(PathRuns):
    """An output of a program for one number, at one of the inputs of a candidate."""

    def __init__(self, single: OneLoop, number: int, candidate: Candidate, point: Mapping[str, str | None]) -> None:
        """Raises NotUniform where the loop, or the candidate, is of another kind."""
        # One iteration more, so that there is a head after the last letter.
        super().__init__(*single.instance(number + 1))
        self.count = number - single.low + 1
        self._rates = single.text.rates
        self._texts, self._candidate = point, candidate
        inputs, outputs = (self._by_slot(names) for names in (point, {**candidate.output, **candidate.balls}))
        self._names = {name: slot for slot, name in (inputs | outputs).items()}
        self._point = {slot: Fraction(str(point[name])) for slot, name in inputs.items()}
        self._letters: dict[int, _Letter] = {
            slot: candidate.balls[name] if name in candidate.balls else candidate.output[name]
            for slot, name in outputs.items()
        }
        self._heads = list(self._reached())

    def _by_slot(self, names: Iterable[str]) -> dict[int, str]:
        """The names that the candidate has for slots: elements of an array are those of the loop's, in this order."""
        slots: dict[str, list[int]] = {}
        for slot in self._core.slots:
            slots.setdefault(slot.name.partition("[")[0], []).append(slot.index)
        mine: dict[str, list[str]] = {}
        for name in names:
            mine.setdefault(name.partition("[")[0], []).append(name)
        return {slot: name for array, own in mine.items() for slot, name in zip(slots[array], own, strict=False)}

    def _reached(self) -> Iterator[dict[Key, State]]:
        """By position the heads that the letters before it lead to, by their keys, up to where some run may end."""
        begun = self._ends(initial(self._own.flow, {}), -1, -1)
        heads = {self._key(state): state for state in begun}
        for position in range(self.count):
            yield heads
            ends = [end for state in heads.values() for end in self._ends(state, position, position)]
            if any(end.label == self._own.flow.exit_label for end in ends):
                return
            heads = {self._key(end): end for end in ends}

    def _ends(self, start: State, first: int, last: int) -> list[State]:
        """The ends of runs with the letters of iterations from the head of one to that after another."""
        result = []
        for state in self._runs(self._own.flow, stripped(start), self._own.head(last + 1)):
            ended = state.label == self._own.flow.exit_label
            if all(item.holds_at(self._point) for item in state.guards.items) and all(
                self._fits(state, slot)
                for slot in self._letters
                if (self._array_of(slot) is None and ended)
                or any(self._is_at(slot, each) for each in range(first, self.count if ended else last + 1))
            ):
                result.append(state)
        return result

    def _fits(self, state: State, slot: int) -> bool:
        """Whether the output may have its letter."""
        value, letter = state.values[slot], self._letters[slot]
        if isinstance(letter, tuple):
            if not isinstance(value, Affine):
                return False
            center = value.substituted(self._point)
            return bool(center.noises) or letter[0] <= center.constant <= letter[1]
        if isinstance(value, Affine):
            raise NotUniform("a real output is no interval")
        return letter is None if isinstance(value, Mark) else show_value(value) == letter

    def around(self, block: int, period: int) -> State | None:
        """The only head that the word passes before so many letters from a position on, where these lead back to it,
        with the same noises, and from any other head, if they do not end the word, back to that; None where there is
        none."""
        found = []
        exit_label = self._own.flow.exit_label
        for key, start in self._heads[block].items() if block < len(self._heads) else ():
            alive = alive_noises(self._own, start)
            ends = self._ends(start, block, block + period - 1)
            for end in ends:
                if end.label == exit_label or self._key(end) != key or alive_noises(self._own, end) != alive:
                    return None
            if ends and self._ends_well(ends[0], block + period):
                found.append(start)
        return found[0] if len(found) == 1 else None

    def _ends_well(self, start: State, position: int) -> bool:
        """Whether the letters from a position on are possible from a head there."""
        heads = [start]
        for place in range(position, self.count):
            ends = [end for state in heads for end in self._ends(state, place, place)]
            if any(end.label == self._own.flow.exit_label for end in ends):
                return True
            heads = list({self._key(end): end for end in ends}.values())
        return bool(heads)

    def least_cost(self, start: State, block: int, period: int, unit: Ratio) -> Fraction | None:
        """The least Σ rate·|N| over noises that are drawn in a block after this head, in multiples of the unit, that
        give its letters; those that are alive before may be anything. None where there are none."""
        known = {noise.id for noise in start.noises}
        costs = []
        for end in self._ends(start, block, block + period - 1):
            drawn = {noise.id: noise for noise in end.noises if noise.id not in known}
            last = max([noise.id for noise in end.noises], default=0)
            sizes = {noise: last + 1 + place for place, noise in enumerate(drawn)}
            forms = [item.form for item in end.constraints.items]
            for slot, letter in self._letters.items():
                value = end.values[slot]
                here = any(self._is_at(slot, each) for each in range(block, block + period))
                if here and isinstance(letter, tuple) and isinstance(value, Affine):
                    forms += [value - Affine.number(letter[0]), Affine.number(letter[1]) - value]
            system = [self._centered(form, {noise: drawn[noise].mean for noise in drawn}) for form in forms]
            for noise, size in sizes.items():
                sides = drawn[noise].law.sides(self._multiple(drawn[noise].rate, unit))
                for sign, side in ((_ONE, sides.right), (-_ONE, sides.left)):
                    terms = {noise: -sign} if side is None else {size: _ONE, noise: -sign * side}
                    system.append(Halfspace(sorted_terms(terms), _ZERO))
                system.append(Halfspace(((size, _ONE),), _ZERO))
            least = minimum(Halfspace(sorted_terms(dict.fromkeys(sizes.values(), _ONE)), _ZERO), system)
            if isinstance(least, Least):
                costs.append(least.value)
        return min(costs, default=None)

    def _multiple(self, rate: Fraction, unit: Ratio) -> Fraction:
        multiple = (rate_of_mark(self._rates, rate) / unit).constant_value()
        assert multiple is not None, "all rates are multiples of the unit"
        return multiple

    def _centered(self, form: Affine, means: Mapping[int, Affine]) -> Halfspace:
        """The form at the inputs, with the noises that have these means without them."""
        here = form.substituted(self._point)
        moved = sum((c * means[noise].at(self._point) for noise, c in here.noises if noise in means), here.constant)
        return Halfspace(tuple(sorted(here.noises)), moved)

    def shortened(self, block: int, period: int, smaller: Program, engine: Engine) -> Closed | None:
        """The probability of the word without a block, of the program for as many queries less; None where it is not
        possible. Raises Undecided."""
        point = self._without(self._texts, block, period)
        output = self._without(self._candidate.output, block, period)
        balls = self._without(self._candidate.balls, block, period)
        if balls:
            middles = {name: str((low + high) / 2) for name, (low, high) in balls.items()}
            found = smaller.closed_probability(point, {**output, **middles}, WIDTH_OF_OUTPUTS).value
            return None if fraction_of(found)[0].is_zero() else found
        values = tuple([Fraction(str(text)) for text in point.values()])
        table = law_table(smaller, [values], engine)
        places = [place for place in range(len(table.answers)) if dict(table.texts(place)) == output]
        return table.closed(table.rows[0][places[0]]) if places else None

    def _without(self, values: Mapping[str, V], block: int, period: int) -> dict[str, V]:
        """Values by name without those of the elements of a block; later ones have smaller indices."""
        left = dict(values)
        for array in self._arrays:
            names = [name for name in values if name.partition("[")[0] == array and "[" in name]
            places = [self._place(name, block) for name in names]
            kept = [values[name] for name, place in zip(names, places, strict=True) if not 0 <= place < period]
            for name in names:
                del left[name]
            left |= dict(zip(names, kept, strict=False))
        return {name: left[name] for name in values if name in left}

    def _place(self, name: str, block: int) -> int:
        """How many iterations after the block's first one an element is; negative for one before the loop."""
        slot = self._names[name]
        return next((each for each in range(self.count) if self._is_at(slot, each)), -1) - block

"""The privacy loss log(p/p') of outputs at pairs: the largest loss at an eps, and Rényi divergences.

A single output attains the greatest ratio, so sets of outputs need no consideration. Many pairs and outputs have the
same two functions p and p', which give one obligation. The Rényi divergence D_a of an integer order a is given by
e^((a-1)·D_a) = Σ p^a / p'^(a-1).

The output laws of each input are measured once, in closed form. Equal functions have one number.

**Int outputs.** The values of an int output far from its center are one answer. The conditions:

1. Wherever the program ends, the int output is ±N + c for a DLap noise N of one rate r.
2. N is compared with no other noise.
3. B is greater than all centers of these noises and all numbers that they are compared with.

Then for o >= B the probability of o, together with the values of the other outputs, is a function of eps times
e^(-r·eps·(o - B)), at every input. So the ratio p/p' at two inputs is the same for all o >= B. The worst set has all of
these values or none of them. They are one answer, whose probability is that of B over 1 - e^(-r·eps). The same holds
for o <= -B.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from math import ceil

from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, Quotient, fraction_of, product, total
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment, Undecided
from dipc.algebra.numbers import log_enclosure, outward
from dipc.chain.chain import ExitState
from dipc.chain.state import Affine
from dipc.decide.engine import Engine, Underway, results_in_order
from dipc.decide.obligation import Decision, Obligation
from dipc.frozen import frozen
from dipc.measure.measure import Bound, EnclosedForm, Share
from dipc.program.exits import Answer
from dipc.program.program import Program, Progress
from dipc.questions.privacy.adjacency import Input, Pairs, texts
from dipc.questions.privacy.outcome import Ends, PrivacyAnswer, Texts
from dipc.sign.chart import sign_at
from dipc.sign.interval import Interval
from dipc.sign.optimum import ReducedQuotient
from dipc.sign.piecewise import PiecewiseForm, proved_quotient
from dipc.text.ast import BaseType
from dipc.text.core import Slot, Value, show_value

#: The reason why a probability is only enclosed.
WITHOUT_FORM = "probabilities of Gaussian noise have no closed form"

#: The number of the zero function in every table.
IMPOSSIBLE = 0


@frozen
class LawTable:
    """The output laws of a program at several inputs: one row for each input, one column for each answer.

    An entry of `rows` is the index of a probability in `forms`: a function of eps, or a text that says why the function
    is not known. Equal functions have one index. Each text has its own index, as one reason may belong to different
    functions. The `answers` are all that occur at some input, with a value for each output of `names`. `bounds`
    encloses the probabilities without a closed form, by index.
    """

    names: tuple[str, ...]
    answers: tuple[Answer, ...]
    forms: tuple[ClosedForm | EnclosedForm | str, ...]
    rows: tuple[tuple[int, ...], ...]
    bounds: Mapping[int, Bound] = field(default_factory=dict)

    @property
    def is_enclosed(self) -> bool:
        """True if some probability has enclosures only, and no closed form."""
        return bool(self.bounds)

    def closed(self, number: int) -> Closed:
        """Return the probability with the index `number`. Raises Undecided if it is not known."""
        form = self.forms[number]
        if not isinstance(form, ClosedForm):
            raise Undecided(str(form))
        return form.value

    def at_pair(self, pair: tuple[int, int]) -> Iterator[tuple[int, int]]:
        """Return, for each answer, the indices of its probabilities at both inputs of `pair`."""
        return zip(self.rows[pair[0]], self.rows[pair[1]], strict=True)

    def couple(self, pair: tuple[int, int], answer: int) -> tuple[int, int]:
        """Return the indices of the probabilities of `answer` at both inputs of `pair`."""
        return self.rows[pair[0]][answer], self.rows[pair[1]][answer]

    def texts(self, answer: int) -> dict[str, str | None]:
        """Return the output values of `answer` by name; None for an output that was never assigned."""
        values = zip(self.names, self.answers[answer], strict=True)
        return {name: None if value is None else show_value(value) for name, value in values}


class Numbering:
    """Indices of functions, given in the order in which functions are added.

    Equal functions have one index, and the zero function has 0.
    """

    def __init__(self) -> None:
        self._numbers: dict[ClosedForm | EnclosedForm, int] = {ClosedForm(ExpPoly.ZERO): IMPOSSIBLE}
        self.forms: list[ClosedForm | EnclosedForm | str] = [*self._numbers]

    def number(self, form: ClosedForm | EnclosedForm | str) -> int:
        """Return the index of `form`; a text, which says why a function is not known, gets a new index."""
        known = None if isinstance(form, str) else self._numbers.get(form)
        if known is not None:
            return known
        self.forms.append(form)
        if not isinstance(form, str):
            self._numbers[form] = len(self.forms) - 1
        return len(self.forms) - 1

    def closed_number(self, value: Closed) -> int:
        return self.number(ClosedForm(value))


def law_table(program: Program, inputs: Sequence[Input], engine: Engine, progress: Progress | None = None) -> LawTable:
    """Return the laws of `program` at `inputs`, measured by `engine`.

    `progress` is called with the number of inputs that are done, and the number of all. Raises Undecided if the program
    is too large to be executed, DiagnosticError if a run fails.
    """
    laws = program.laws()
    at_inputs = []
    for done, point in enumerate(inputs):
        if progress is not None:
            progress(done, len(inputs))
        at_inputs.append(laws.probabilities(dict(zip(program.core.inputs, point, strict=True))))
    answers = sorted({answer for law in at_inputs for answer in law}, key=laws.rank)
    numbering = Numbering()
    enclosed: dict[int, Bound] = {}

    def number(form: ClosedForm | EnclosedForm | str, bound: Bound) -> int:
        result = numbering.number(form)
        if isinstance(form, EnclosedForm):
            enclosed.setdefault(result, bound)
        return result

    measured = results_in_order(
        (Underway(_measured(bound, engine)) for law in at_inputs for bound in law.values()), engine
    )
    numbered = []
    for done, law in enumerate(at_inputs):
        if progress is not None:
            progress(done, len(at_inputs))
        numbered.append({answer: number(next(measured), bound) for answer, bound in law.items()})
    rows = tuple(tuple(row.get(answer, IMPOSSIBLE) for answer in answers) for row in numbered)
    names = tuple(slot.name for slot in laws.observed)
    return LawTable(names, tuple(answers), tuple(numbering.forms), rows, enclosed)


def _measured(bound: Bound, engine: Engine) -> Generator[Obligation | Bound, Decision, ClosedForm | EnclosedForm | str]:
    if any(noise.law.by_deviation for share in bound.shares for event in share.events for noise in event.noises):
        try:
            return EnclosedForm.from_bound(bound, engine.bounds.measurer, engine.limits, WITHOUT_FORM)
        except Undecided as undecided:
            return undecided.reason
    decision = yield bound
    if decision.bound is not None:
        return decision.bound
    assert decision.reason is not None
    return decision.reason


#: A value of the int output, the value or words by which an answer names it, and the factor of its probability.
_Answered = tuple[Value, Value, Closed]


def integer_table(program: Program, inputs: Sequence[Input]) -> LawTable:
    """Return the laws of `program`, which has int outputs, at `inputs`.

    Raises Undecided for real outputs, and for int outputs whose tails are not geometric.
    """
    slots = program.core.output_slots
    if any(slot.is_symbolic and slot.type is not BaseType.INT for slot in slots):
        raise OutsideFragment("a delta is decided for finite and int outputs only, but some are real")
    reached = [each for point in inputs for each in reached_exits(program, point)]
    taken: set[tuple[int, int]] = set()
    integers = {slot.index: _int_answers(slot, reached, taken) for slot in slots if slot.type is BaseType.INT}
    finite = [slot for slot in slots if slot.index not in integers]
    seen = dict.fromkeys(tuple([_value(state, slot) for slot in finite]) for state, *_ in reached)
    answers: list[tuple[_Answered, ...]] = []
    for values in seen:
        known = dict(zip(finite, values, strict=True))
        each: list[list[_Answered]] = [
            [(known[slot], known[slot], ExpPoly.ONE)] if slot in known else integers[slot.index] for slot in slots
        ]
        answers += itertools.product(*each)
    if len(answers) > program.limits.answers:
        raise LimitReached("answers", f"there are {len(answers)} answers, too many to examine one by one")
    numbering = Numbering()
    rows = []
    for point in inputs:
        row = []
        for answer in answers:
            asked = {slot.name: show_value(value) for slot, (value, _, _) in zip(slots, answer, strict=True)}
            function = program.closed_probability(texts(program, point), asked).value
            row.append(numbering.closed_number(product([function, *[share for _, _, share in answer]])))
        rows.append(tuple(row))
    said = tuple([tuple([value for _, value, _ in answer]) for answer in answers])
    return LawTable(tuple([slot.name for slot in slots]), said, tuple(numbering.forms), tuple(rows))


#: An exit that is reached at an input, the weight of its choices (None for 1), and the real and int inputs, by slot.
_Reached = tuple[ExitState, Closed | None, Mapping[int, Fraction]]


def reached_exits(program: Program, point: Input) -> Iterator[_Reached]:
    """Yield the exits of `program` whose comparisons of inputs without noise hold at the input `point`."""
    core = program.core
    values = dict(zip(core.inputs, point, strict=True))
    finite = {slot: value for slot, value in values.items() if not core.slots[slot].is_symbolic}
    given = {slot: value for slot, value in values.items() if slot not in finite and isinstance(value, Fraction)}
    explored = program.exits(finite)
    for state in explored.states:
        if all(item.holds_at(given) for item in state.guards.items):
            yield state, explored.weights.get(state.node), given


def _value(state: ExitState, slot: Slot) -> Value:
    value = state.outputs[slot.index]
    if value is None:
        raise OutsideFragment(f"`{slot.name}` is not assigned on every path")
    assert not isinstance(value, Affine)
    return value


def _int_answers(slot: Slot, reached: Iterable[_Reached], taken: set[tuple[int, int]]) -> list[_Answered]:
    """Return the answers for the int output `slot`: one for each value near its centers, and one for each tail.

    The centers are the values of the output without noise. `reached` are the exits at all inputs. `taken` has (index of
    an exit, index of a noise) for each noise that an earlier output consists of. The noises of this output are added to
    `taken`. Raises Undecided if the tails are not geometric, and if a noise is already in `taken`.
    """
    rates: set[Fraction] = set()
    far = Fraction(0)
    for position, (state, _, values) in enumerate(reached):
        form = state.outputs[slot.index]
        if not isinstance(form, Affine):
            raise OutsideFragment(f"`{slot.name}` is not assigned on every path")
        constant = form.substituted(values).constant
        far = max(far, abs(constant))
        if not form.noises:
            continue
        (noise, factor), *others = form.noises
        drawn = next(each for each in state.noises if each.id == noise)
        if (
            others
            or abs(factor) != 1
            or not drawn.law.whole
            or not drawn.law.exponential_tails
            or (position, noise) in taken
        ):
            raise OutsideFragment(f"`{slot.name}` is not a single noise plus a number, so its tails are not geometric")
        taken.add((position, noise))
        rates.add(drawn.rate)
        far = max(far, abs(constant + factor * drawn.mean.evaluate(values)))
        for item in state.constraints.items:
            compared = item.form.substituted(values)
            if all(key != noise for key, _ in compared.noises):
                continue
            if len(compared.noises) > 1:
                raise OutsideFragment(
                    f"the noise of `{slot.name}` is compared with other noise, so its tails are not geometric"
                )
            far = max(far, abs(constant - factor * compared.constant / compared.noises[0][1]))
    if len(rates) > 1:
        raise OutsideFragment(f"`{slot.name}` has noises of several rates, so its tails are not geometric")
    # One more value, so that the single values on each side include one with the ratio of that tail.
    bound = ceil(far) + 1
    every: list[_Answered] = [(Fraction(o), Fraction(o), ExpPoly.ONE) for o in range(-bound, bound + 1)]
    for rate in rates:
        share = Quotient(ExpPoly.ONE, 1 - ExpPoly.term(1, 0, -rate))
        first = bound + 1
        every += [(Fraction(-first), f"{-first} or less", share), (Fraction(first), f"{first} or more", share)]
    return every


#: Significant digits of a loss by default.
DIGITS = 20


@frozen
class Loss(PrivacyAnswer):
    """The largest privacy loss log(p/p') at `eps` over all pairs and outputs, and the pair and output that have it.

    `value` encloses the loss; None is infinity. `text` is the loss as the logarithm of a closed form in eps.
    """

    FIELDS = f"{PrivacyAnswer.HEAD} pairs eps loss(value:ends input adjacent output text)"

    eps: Fraction
    value: Ends | None
    input: Texts
    adjacent: Texts
    output: Texts
    text: str


def loss_text(first: Closed, second: Closed) -> str:
    """Return log(`first`/`second`) as text, for example `log(exp(eps))`."""
    above, below = fraction_of(first)
    over, under = fraction_of(second)
    quotient = proved_quotient(above * under, below * over)
    ratio = f"({ClosedForm(first)})/({ClosedForm(second)})" if quotient is None else str(ClosedForm(quotient))
    return f"log({ratio})"


def loss_enclosure(first: Closed, second: Closed, eps: Fraction, digits: int) -> Ends:
    """Return an enclosure of log(`first`/`second`) at `eps` to `digits` significant digits; both are positive there.

    The ends are equal if the logarithm is a multiple of eps.
    """
    multiple = log_multiple(first, second)
    if multiple is not None:
        return multiple * eps, multiple * eps
    if vanishes(first - second, eps):
        return Fraction(0), Fraction(0)
    more = digits
    while True:
        ratio = ratio_enclosure(first, second, eps, more)
        low, high = log_enclosure(*ratio, more)
        if low * high > 0 and (high - low) * 10 ** (digits - 1) <= max(abs(low), abs(high)):
            return log_enclosure(*ratio, digits)
        more *= 2


def log_multiple(first: Closed, second: Closed) -> Fraction | None:
    """Return the q with `first` = `second`·e^(q·eps); None if none exists."""
    (above, below), (over, under) = fraction_of(first), fraction_of(second)
    ratio = ReducedQuotient.from_fraction(above * under, below * over)
    if not (ratio.numerator.is_unit() and ratio.denominator.is_unit()):
        return None
    (_, q, c), (_, r, k) = ratio.numerator.terms()[0], ratio.denominator.terms()[0]
    return q - r if c == k else None


def vanishes(value: Closed, eps: Fraction) -> bool:
    """Return True if `value` is exactly 0 at `eps`."""
    return fraction_of(value)[0].value_is_zero(eps)


def ratio_enclosure(first: Closed, second: Closed, eps: Fraction, digits: int) -> Ends:
    """Return an enclosure of `first`/`second` at `eps` to more than `digits` digits; both are positive there."""
    low, high = first.enclosure(eps, digits + 10)
    under, over = second.enclosure(eps, digits + 10)
    return low / over, high / under


def sign_of(value: Closed, eps: Fraction, limits: Limits) -> int:
    """Return the exact sign of `value` at `eps`. Raises LimitReached past one of the `limits`."""
    return sign_at(fraction_of(value)[0], eps, limits)


def couples(table: LawTable, pairs: Pairs) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield (pair, answer) for each two different probabilities that an answer of `table` has at a pair.

    Equal couples of probabilities are yielded once, with the first of `pairs` and the first answer that has them.
    Couples whose first probability is 0 are left out, since an answer that is impossible at the first input cannot
    violate a claim.
    """
    known: set[tuple[int, int]] = set()
    for pair in pairs.ordered:
        new = set(table.at_pair(pair)) - known
        known |= new
        for answer, couple in enumerate(table.at_pair(pair) if new else ()):
            if couple in new:
                new.discard(couple)
                if couple[0] not in (couple[1], IMPOSSIBLE):
                    yield pair, answer


def at_most(probability: Closed, allowed: Closed, intervals: tuple[Interval, ...]) -> Obligation:
    """Return the obligation that `probability` is at most `allowed` for all eps of `intervals`."""
    return Obligation(Bound((Share(allowed, ()),)), PiecewiseForm(1 - probability), intervals)


@frozen
class Renyi(PrivacyAnswer):
    """The largest Rényi divergence of an `order` at `eps` over all pairs, and the pair that has it.

    `value` encloses the divergence D; None is infinity. `moment` is the closed form of e^((order-1)·D) at the pair,
    None if it is not known. The closed form may be valid for `eps` alone.
    """

    DIVERGENCE = "order value:ends moment input adjacent"
    FIELDS = f"{PrivacyAnswer.HEAD} pairs eps renyi({DIVERGENCE})"

    order: int
    eps: Fraction
    value: Ends | None
    moment: ClosedForm | None
    input: Texts
    adjacent: Texts


@frozen
class Divergences(PrivacyAnswer):
    """The largest Rényi divergences of several orders at one eps, the least order first."""

    FIELDS = f"{PrivacyAnswer.HEAD} pairs eps renyi_orders=orders({Renyi.DIVERGENCE})"

    orders: tuple[Renyi, ...]

    @property
    def eps(self) -> Fraction:
        """The eps of all divergences."""
        return self.orders[0].eps


@frozen
class Rho(PrivacyAnswer):
    """The least ρ such that the program is ρ-zCDP for every eps of the intervals.

    A program is ρ-zCDP if its Rényi divergences satisfy D_a <= ρ·a for all orders a > 1. `value` encloses ρ, exactly if
    both ends are equal; None is infinity. `at_one`·eps² encloses the least ρ at each single eps; it is None if the
    least ρ does not depend on eps.
    """

    FIELDS = f"{PrivacyAnswer.HEAD} eps pairs rho(proved:ends exact input adjacent)"

    eps: str
    value: Ends | None
    input: Texts
    adjacent: Texts
    at_one: Ends | None = None

    @property
    def proved(self) -> Ends | None:
        """Decimals of at most 30 digits below and above ρ; None if ρ is infinite.

        If ρ is known exactly, both numbers are ρ itself.
        """
        return self.value if self.value is None or self.exact else outward(*self.value, 30)

    @property
    def exact(self) -> bool:
        """True if ρ is known exactly."""
        return self.value is None or self.value[0] == self.value[1]


def ratio_power(first: Closed, second: Closed, order: int, eps: Fraction) -> ClosedForm | None:
    """Return the function `first`^`order` / `second`^(`order`-1) of eps for nonnegative functions.

    The result is None if it is infinite at `eps`. The function is valid for `eps` alone if `second` is not known to be
    positive for every eps. Raises OutsideFragment.
    """
    above, below = fraction_of(second)
    inverse, only_at = proved_quotient(below, above), None
    if inverse is None:
        if above.value_is_zero(eps):
            return ClosedForm(ExpPoly.ZERO, eps) if vanishes(first, eps) else None
        inverse, only_at = proved_quotient(below, above, (Interval.closed(eps, eps),)), eps
    if inverse is None:
        raise OutsideFragment("a probability is too close to 0")
    return ClosedForm(product([*[first] * order, *[inverse] * (order - 1)]), only_at)


#: The sum Σ p^order·p'^(1-order) at a pair: its closed form, if it has one, and an enclosure at an eps.
Moment = tuple[ClosedForm | None, Ends]


def moment_of(summands: Iterable[ClosedForm | None], eps: Fraction, digits: int) -> Moment | None:
    """Return (the sum of `summands` as a closed form, its enclosure at `eps` to more than `digits` digits).

    None if a summand is infinite. If a summand is valid for one eps alone, so is the sum.
    """
    known: list[ClosedForm] = []
    for summand in summands:
        if summand is None:
            return None
        known.append(summand)
    only_at = next((each.only_at for each in known if each.only_at is not None), None)
    form = ClosedForm(total([each.value for each in known]), only_at)
    return form, form.value.enclosure(eps, 2 * digits + 10)

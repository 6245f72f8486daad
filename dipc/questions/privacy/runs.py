"""Independent runs of one program, or of several, on the same pair of inputs: the law of all their outputs together.

The order of the outputs carries no information about the input, so an answer is the number of times that each output
occurred. For k runs and outputs with probabilities p_1, …, p_n at an input, the counts k_1 + … + k_n = k have the
multinomial probability k!/(k_1!·…·k_n!)·Π p_i^{k_i}. The privacy loss of an answer is the sum of the losses of its
runs: the k-fold convolution of the privacy loss distribution, atom by atom. Outputs that have equal probabilities at
every input count as one.

Runs whose questions depend on earlier outputs are one program that contains them.

**Products that are not multiplied out.** All p_i at all inputs are products c·e^(q·eps)·Π b_j^(e_j) over one base of
pairwise coprime functions b_j, with integers e_j. So the probability of an answer is such a product, too. Its exponents
are sums, and two probabilities are equal functions exactly if their c, q and e_j are equal. An enclosure at one eps
needs the values of the b_j alone. A `RunsForm` is multiplied out when its `value` is first read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import comb, prod

import flint

from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, Quotient, fraction_of
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment
from dipc.algebra.numbers import dyadic, exact_eps, to_fmpq
from dipc.frozen import frozen
from dipc.questions.privacy.loss import IMPOSSIBLE, LawTable, Numbering
from dipc.questions.privacy.outcome import Ends
from dipc.sign.chart import coprime_base

_ONE = Fraction(1)


@frozen
class Factored:
    """The function `coefficient`·e^(`rate`·eps)·Π b_j^(e_j), where b is the base and e are the `exponents`."""

    coefficient: Fraction
    rate: Fraction
    exponents: tuple[int, ...]


class FactorBase:
    """Pairwise coprime functions b_j such that given functions are products of powers of the b_j.

    A b_j that divides the denominator of a given function is positive for every eps > 0.
    """

    def __init__(self, values: Iterable[Closed], limits: Limits) -> None:
        """Compute the base of `values`, none of which is zero. Raises LimitReached past one of the `limits`."""
        fractions = [fraction_of(value) for value in values]
        parts = list(dict.fromkeys(part for both in fractions for part in both))
        self.elements = tuple([_normalized(element) for element in coprime_base(parts, limits)[0]])
        self._limits = limits
        self._powers: dict[tuple[int, ...], ExpPoly] = {}
        self._balls: dict[tuple[int, int, Fraction, int], flint.arb] = {}
        self._ends: dict[tuple[int, Fraction, int], Ends] = {}

    def factored(self, value: Closed) -> Factored:
        """Return `value`, one of the given functions, as a product of powers."""
        above, below = fraction_of(value)
        over, exponents = self._divided(above)
        under, others = self._divided(below)
        (_, q, c), (_, r, k) = over.terms()[0], under.terms()[0]
        return Factored(c / k, q - r, tuple([e - f for e, f in zip(exponents, others, strict=True)]))

    def _divided(self, value: ExpPoly) -> tuple[ExpPoly, list[int]]:
        exponents = []
        for element in self.elements:
            times = 0
            while True:
                try:
                    value = value.exact_quotient(element)
                except ArithmeticError:
                    break
                times += 1
            exponents.append(times)
        assert value.is_unit(), "the function is a product over the base"
        return value, exponents

    def value(self, form: Factored) -> Closed:
        """Return the function `form`, multiplied out, in lowest terms. Raises LimitReached if it is too long."""
        above = self._product(tuple([max(e, 0) for e in form.exponents]))
        below = self._product(tuple([max(-e, 0) for e in form.exponents]))
        above = above * ExpPoly.term(form.coefficient, 0, form.rate)
        return above if below == 1 else Quotient.coprime(above, below)

    def _product(self, exponents: tuple[int, ...]) -> ExpPoly:
        if exponents not in self._powers:
            used = [(b, e) for b, e in zip(self.elements, exponents, strict=True) if e]
            # A power has at most as many terms as there are products of e factors, and no more than its degrees allow.
            most = prod(comb(len(b) - 1 + e, e) for b, e in used)
            box = sum(e * b.degree() for b, e in used) * (1 + sum(e * max(k for k, _, _ in b.terms()) for b, e in used))
            if min(most, 1 + box) > self._limits.monomials:
                raise LimitReached("monomials", "the closed form of an answer of all runs is too long")
            self._powers[exponents] = prod((b**e for b, e in used), start=ExpPoly.ONE)
        return self._powers[exponents]

    def enclosure(self, form: Factored, eps: Fraction, digits: int) -> Ends:
        """Return an enclosure of `form` at `eps` to `digits` digits, exact where the value is a known rational."""
        used = [(place, e) for place, e in enumerate(form.exponents) if e]
        ends = [self._value(place, eps, digits) for place, _ in used]
        if any(low == high == 0 for low, high in ends):
            return Fraction(0), Fraction(0)
        if not form.rate and all(low == high for low, high in ends):
            exact = form.coefficient * prod((low**e for (low, _), (_, e) in zip(ends, used, strict=True)), start=_ONE)
            return exact, exact
        precision = 64 + 4 * digits + sum(abs(e).bit_length() for _, e in used)
        while True:
            with flint.ctx.workprec(precision):
                ball = flint.arb(to_fmpq(form.coefficient)) * flint.arb(to_fmpq(form.rate * eps)).exp()
                for place, e in used:
                    ball *= self._ball(place, e, eps, precision)
                if 3 * ball.rel_accuracy_bits() > 10 * digits + 6:
                    return dyadic(ball.lower()), dyadic(ball.upper())
            precision *= 2

    def _value(self, place: int, eps: Fraction, digits: int) -> Ends:
        key = place, eps, digits
        if key not in self._ends:
            self._ends[key] = self.elements[place].enclosure(eps, digits)
        return self._ends[key]

    def _ball(self, place: int, exponent: int, eps: Fraction, precision: int) -> flint.arb:
        """Return a ball that contains the power b^`exponent` at `eps`, for the factor b with index `place`.

        b is one of the independent functions of eps in this base. It is enclosed to about `precision` bits.
        """
        key = place, exponent, eps, precision
        if key not in self._balls:
            low, high = self._value(place, eps, precision // 3)
            self._balls[key] = flint.arb(to_fmpq(low)).union(flint.arb(to_fmpq(high))) ** exponent
        return self._balls[key]


def _normalized(element: ExpPoly) -> ExpPoly:
    """Return `element`·c·e^{q·eps} for c and q such that the term with the least exponent is ±1·eps^k.

    The sign of c is the one for which the value at eps = 1 is positive, if it is not 0. An element without roots eps >
    0 becomes positive.
    """
    exponent, coefficient = element.lowest()
    result = element * ExpPoly.term(1 / abs(coefficient), 0, -exponent)
    return result if result.value_is_zero(_ONE) or result.sign_at_one() > 0 else -result


class RunsForm(ClosedForm):
    """The probability of an answer of several runs: a product of powers, multiplied out when it is first used."""

    __slots__ = ("_base", "_form")

    def __init__(self, base: FactorBase, form: Factored) -> None:
        self._base, self._form = base, form
        self._text = self.only_at = None

    def __getattr__(self, name: str) -> Closed:
        if name != "value":
            raise AttributeError(name)
        self.value = self._base.value(self._form)
        return self.value

    def enclosure(self, eps: Fraction | int | str, digits: int = 30) -> Ends:
        return self._base.enclosure(self._form, exact_eps(eps), digits)


def composed(table: LawTable, runs: int, limits: Limits) -> LawTable:
    """Return the laws of all outputs of `runs` independent runs of the program of `table`.

    Raises Undecided if a probability has no closed form, and for more answers than `limits` allows.
    """
    if runs == 1:
        return table
    if table.is_enclosed:
        raise OutsideFragment("the probabilities of these runs have no closed form and cannot be multiplied")
    kinds = _kinds(table)
    count = comb(runs + len(kinds) - 1, runs)
    if count > limits.answers:
        raise LimitReached("answers", f"{runs} runs have {count} different answers, more than {limits.answers}")
    singles = [
        [table.closed(numbered[place]) * len(answers) for numbered, answers in kinds]
        for place in range(len(table.rows))
    ]
    base = FactorBase((value for row in singles for value in row if not value.is_zero()), limits)
    every = list(_counts(runs, len(kinds)))
    numbers: dict[Factored, int] = {}
    forms: list[ClosedForm] = [ClosedForm(ExpPoly.ZERO)]
    rows = []
    for single in singles:
        known = [None if p.is_zero() else base.factored(p) for p in single]
        powers = [None if form is None else (form, [form.coefficient**k for k in range(runs + 1)]) for form in known]
        row = []
        for counts, orders in every:
            form = _joint(powers, counts, orders)
            if form is None:
                row.append(IMPOSSIBLE)
                continue
            number = numbers.setdefault(form, len(forms))
            if number == len(forms):
                forms.append(RunsForm(base, form))
            row.append(number)
        rows.append(tuple(row))
    names = [_names(table, answers) for _, answers in kinds]
    said = [", ".join(f"{k} of ({name})" for name, k in zip(names, counts, strict=True) if k) for counts, _ in every]
    return LawTable(("runs",), tuple([(each,) for each in said]), tuple(forms), tuple(rows))


def _joint(
    powers: Sequence[tuple[Factored, list[Fraction]] | None], counts: Sequence[int], orders: int
) -> Factored | None:
    """Return `orders`·Π p_i^(k_i), the probability that the i-th output occurs k_i times; None if it is zero.

    `counts` has the k_i, and `orders` is the number of orders in which the outputs can occur. `powers` has, for each
    p_i, its factored form with the powers of its coefficient; None for a p_i that is zero.
    """
    coefficient, rate, exponents = Fraction(orders), Fraction(0), None
    for power, k in zip(powers, counts, strict=True):
        if not k:
            continue
        if power is None:
            return None
        form, coefficients = power
        coefficient *= coefficients[k]
        rate += k * form.rate
        own = [k * e for e in form.exponents]
        exponents = own if exponents is None else [e + f for e, f in zip(exponents, own, strict=True)]
    assert exponents is not None, "there is at least one run"
    return Factored(coefficient, rate, tuple(exponents))


def together(tables: Sequence[LawTable], limits: Limits) -> LawTable:
    """Return the laws of all outputs of one run of each of several programs at the same inputs.

    `tables` has the laws of each program. Raises Undecided if a probability has no closed form, and for more answers
    than `limits` allows.
    """
    result, *others = tables
    for other in others:
        if result.is_enclosed or other.is_enclosed:
            raise OutsideFragment("the probabilities of these runs have no closed form and cannot be multiplied")
        left, right = _kinds(result), _kinds(other)
        if len(left) * len(right) > limits.answers:
            message = f"the runs have {len(left) * len(right)} different answers, more than {limits.answers}"
            raise LimitReached("answers", message)
        pairs = [(one, two) for one in left for two in right]
        rows = [
            [
                result.closed(one[0][place]) * len(one[1]) * other.closed(two[0][place]) * len(two[1])
                for one, two in pairs
            ]
            for place in range(len(result.rows))
        ]
        said = tuple((f"({_names(result, one[1])}), ({_names(other, two[1])})",) for one, two in pairs)
        numbering = Numbering()
        numbered = tuple(tuple([numbering.closed_number(value) for value in row]) for row in rows)
        result = LawTable(("runs",), said, tuple(numbering.forms), numbered)
    return result


#: The numbers of probabilities at all inputs, with the answers that have these probabilities.
_Kind = tuple[tuple[int, ...], list[int]]


def _kinds(table: LawTable) -> list[_Kind]:
    alike: dict[tuple[int, ...], list[int]] = {}
    for answer in range(len(table.answers)):
        alike.setdefault(tuple([row[answer] for row in table.rows]), []).append(answer)
    return list(alike.items())


def _counts(runs: int, kinds: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield (counts, n) for each tuple of `kinds` counts >= 0 that add up to `runs`.

    The number n says how many sequences of outputs have the i-th output counts[i] times: a multinomial coefficient.
    """
    if kinds == 1:
        yield (runs,), 1
        return
    chosen = 1
    for first in range(runs, -1, -1):
        for rest, orders in _counts(runs - first, kinds - 1):
            yield (first, *rest), chosen * orders
        chosen = chosen * first // (runs - first + 1)


def _names(table: LawTable, answers: Sequence[int]) -> str:
    if table.names == ("runs",):
        return " or ".join(str(table.answers[answer][0]) for answer in answers)
    values = [table.texts(answer).items() for answer in answers]
    return " or ".join(", ".join(f"{name} = {value}" for name, value in each) for each in values)

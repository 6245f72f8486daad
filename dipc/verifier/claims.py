"""What is claimed: the expressions of alpha, beta and gamma, what their texts show, and their values at a row.

The expressions of a claim, read and evaluated anew: + - * / ^, exp, min, max, abs, numbers, eps and names.

A value is the least of the greatest of some forms, [[a, b], [c]] for min(max(a, b), c). A form is a quotient of
exponential polynomials, whose numerator may also depend on a distance A that grows without bound:
Σ f_jr(eps)·A^j·e^{r·A·eps}.

Sums, exp and products with what is not negative are monotone, so they are taken form by form; max is distributed over
min, and the negative of a least is a greatest. What has no such value is no claim that is certified (NotOneForm).

What the texts of claim expressions show: the degree in one of their names, and arguments that do not matter.

Whether a claim expression never grows with its distances, whatever eps > 0 and the other names are.

What does not depend on the distances has a sign; sums, products, quotients, powers, exponentials, least and greatest
of what falls and rises are followed by the obvious rules. All of these are continuous in the distances.

What is claimed at a row: alpha, beta and gamma from the claim's expressions, the row's own cells and dd.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise, product
from math import prod

from dipc.verifier.functions import (
    ONE,
    Closed,
    Ring,
    add,
    constant,
    equal_closed,
    height,
    multiply,
    positive_everywhere,
    times,
)
from dipc.verifier.normal import Enclosed, Sum, complementary
from dipc.verifier.reading import Budget, NotDerived, Rejected, items, optional_text, rational, record, text
from dipc.verifier.syntax import Apply, Element, Epsilon, Expr, Literal, Name, nodes, read_expression

# === expression ================================================================================

#: A^j·e^{r·A·eps} as (j, r).
Growth = tuple[int, Fraction]

FLAT: Growth = (0, Fraction(0))

MOST_POWER = 1_000

#: Forms of one value.
MOST_FORMS = 200

#: Greek letters of claims, and what they stand for.
GREEK = {"α": "alpha", "β": "beta", "γ": "gamma"}


class NotOneForm(Exception):
    """The expression is not one quotient of exponential polynomials for every eps, such as min(1, eps) or 1/(1 + A)."""


@dataclass(frozen=True)
class Form:
    """numerator/denominator; the denominator is not 0."""

    numerator: Mapping[Growth, Ring]
    denominator: Ring

    @staticmethod
    def of(value: Ring) -> Form:
        """A function that does not depend on A."""
        return Form({FLAT: value} if value else {}, ONE)

    @staticmethod
    def number(value: Fraction | int) -> Form:
        """A constant."""
        return Form.of(constant(value))

    @staticmethod
    def infinite() -> Form:
        """The distance A itself."""
        return Form({(1, Fraction(0)): ONE}, ONE)

    def constant(self) -> Fraction | None:
        """The value where it is a rational number."""
        if self.denominator != ONE or self.numerator.keys() - {FLAT}:
            return None
        terms = self.numerator.get(FLAT, {})
        if terms.keys() - {(0, Fraction(0))}:
            return None
        return sum(terms.values(), Fraction(0))

    def limit(self) -> Closed | None:
        """The limit for A growing without bound, for every eps > 0; None where there is none."""
        if any(r > 0 or (r == 0 and j > 0) for j, r in self.numerator):
            return None
        return dict(self.numerator.get(FLAT, {})), self.denominator


#: The least of the greatest of some forms.
Value = tuple[tuple[Form, ...], ...]


def parsed(expression: str | Expr, budget: Budget) -> Expr:
    """The tree of an expression; raises Rejected where it is none."""
    if not isinstance(expression, str):
        return expression
    try:
        return read_expression(expression, budget)
    except NotDerived as error:
        raise Rejected(error.why) from None


def evaluate(expression: str | Expr, names: Mapping[str, Form], budget: Budget) -> Form:
    """The value of an expression; raises Rejected where it has none, NotOneForm where it is not one form."""
    return _single(evaluate_least(expression, names, budget))


def evaluate_least(expression: str | Expr, names: Mapping[str, Form], budget: Budget) -> Value:
    """The value as the least of the greatest of some forms. NotOneForm for expressions that are none."""
    return _Evaluation(names, budget, step).value(parsed(expression, budget))


def _of(form: Form) -> Value:
    return ((form,),)


def _single(value: Value) -> Form:
    if len(value) > 1 or len(value[0]) > 1:
        raise NotOneForm
    return value[0][0]


def _lattice(parts: Iterable[Iterable[Form]]) -> Value:
    """The least of the greatest, without what is there twice, numbers compared with each other. Raises NotOneForm where
    there are too many."""
    found: list[tuple[Form, ...]] = []
    size = 0
    for part in parts:
        forms = _without_numbers(part, max)
        size += len(forms)
        if size > MOST_FORMS:
            raise NotOneForm
        if forms not in found:
            found.append(forms)
    alone = [part for part in found if len(part) == 1]
    least = _without_numbers((part[0] for part in alone), min)
    return tuple(part for part in found if len(part) > 1 or part[0] in least)


def _without_numbers(forms: Iterable[Form], choose: Callable[[list[Fraction]], Fraction]) -> tuple[Form, ...]:
    """The forms, each once, with one of those that are numbers."""
    found: list[Form] = []
    given = list(forms)
    numbers = [number for form in given if (number := form.constant()) is not None]
    best = Form.number(choose(numbers)) if numbers else None
    for form in given:
        if form.constant() is not None:
            assert best is not None, "it is a number"
            form = best
        if form not in found:
            found.append(form)
    return tuple(found)


def _opposite(value: Value) -> Iterator[tuple[Form, ...]]:
    """max(min(a, b), c) as the least of the greatest of some, given by its parts (a, b), (c)."""
    if prod(map(len, value)) * len(value) > MOST_FORMS:
        raise NotOneForm
    return product(*value)


def mentions(expression: str | Expr | None, name: str) -> bool:
    """Whether an expression has this name in it, or applies this function."""
    if not expression:
        return False
    return any(
        GREEK.get(found.name, found.name) == name if isinstance(found, Name) else found.op == name
        for found in nodes(parsed(expression, Budget()))
        if isinstance(found, Name | Apply)
    )


def without_ones(tree: Expr) -> Expr:
    """An expression without numbers that are at least 1 where it is the least of some, if one other is left; else
    itself."""
    match tree:
        case Apply("min", arguments):
            left = [each for each in arguments if not (isinstance(each, Literal) and _is_one(each.value))]
            return left[0] if len(left) == 1 else tree
    return tree


def _is_one(value: object) -> bool:
    return isinstance(value, Fraction) and value >= 1


def spine(tree: Expr) -> tuple[Expr, list[tuple[str, Expr]]]:
    """The first operand of sums and products that are written one after the other, and the operators with the others:
    long ones are not nested deeply."""
    found: list[tuple[str, Expr]] = []
    while isinstance(tree, Apply) and tree.op in ("+", "-", "*", "/"):
        op, (tree, other) = tree.op, tree.arguments
        found.append((op, other))
    return tree, found[::-1]


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """Values of expressions, where names have these."""

    _names: Mapping[str, Form]
    _budget: Budget
    _step: str

    def _wrong(self, why: str) -> Rejected:
        return Rejected(why)

    def value(self, tree: Expr) -> Value:
        """The value of a tree. Raises Rejected and NotOneForm."""
        first, others = spine(tree)
        found = self._operand(first)
        for op, other in others:
            self._budget.spend(10)
            right = self.value(other)
            match op:
                case "+":
                    found = self._added(found, right)
                case "-":
                    found = self._added(found, self._turned(right))
                case "*":
                    found = self._multiplied(found, right)
                case _:
                    found = self._divided(found, right)
        return found

    def _operand(self, tree: Expr) -> Value:
        match tree:
            case Literal(Fraction() as number):
                return _of(Form.number(number))
            case Epsilon():
                return _of(self._names.get("eps", Form.of({(1, Fraction(0)): Fraction(1)})))
            case Name(name) if (known := name if name in self._names else GREEK.get(name, name)) in self._names:
                return _of(self._names[known])
            case Apply("neg", (argument,)):
                return self._turned(self.value(argument))
            case Apply("^", (argument, Literal(Fraction() as power))) if power <= MOST_POWER:
                base, result = self.value(argument), _of(Form.number(1))
                for _ in range(int(power)):
                    self._budget.spend(5)
                    result = self._multiplied(result, base)
                return result
            case Apply("exp", (argument,)):
                return _lattice([self._exponential(form) for form in part] for part in self.value(argument))
            case Apply("abs", (argument,)):
                value = self.value(argument)
                return self._greatest([value, self._turned(value)])
            case Apply("max", arguments):
                return self._greatest(list(map(self.value, arguments)))
            case Apply("min", arguments):
                return _lattice(part for argument in arguments for part in self.value(argument))
            case Name(name) | Element(name):
                raise self._wrong(f"`{name[:40]}` is not known in an expression")
            case Apply("^"):
                raise self._wrong(f"the exponent of `^` is not one of 0, 1, ..., {MOST_POWER}")
            case _:
                raise self._wrong("an expression has what is no number in it")

    # --- values -----------------------------------------------------------------------------------

    def _greatest(self, values: Sequence[Value]) -> Value:
        if prod(map(len, values)) > MOST_FORMS:
            raise NotOneForm
        return _lattice([form for part in chosen for form in part] for chosen in product(*values))

    def _turned(self, value: Value) -> Value:
        """The negative."""
        return _lattice([self._negated(form) for form in part] for part in _opposite(value))

    def _added(self, left: Value, right: Value) -> Value:
        return self._each(self._add, left, right)

    def _each(self, operation: Callable[[Form, Form], Form], left: Value, right: Value) -> Value:
        """An operation that never falls as an operand grows."""
        if sum(map(len, left)) * sum(map(len, right)) > MOST_FORMS:
            raise NotOneForm
        return _lattice(
            [operation(one, other) for one in mine for other in theirs] for mine in left for theirs in right
        )

    def _multiplied(self, left: Value, right: Value) -> Value:
        if len(left) == len(left[0]) == len(right) == len(right[0]) == 1:
            return _of(self._times(left[0][0], right[0][0]))
        signs = self._sign(left), self._sign(right)
        if not signs[0] and signs[1]:
            return self._in_parts(left, right)
        if not signs[1] and signs[0]:
            return self._in_parts(right, left)
        if 0 in signs:
            raise NotOneForm
        left, right = (
            self._turned(side) if sign < 0 else side for side, sign in zip((left, right), signs, strict=True)
        )
        found = self._each(self._times, left, right)
        return found if signs[0] == signs[1] else self._turned(found)

    def _in_parts(self, value: Value, known: Value) -> Value:
        """value·known, where the second has forms of one sign: max(value, 0)·known - max(-value, 0)·known.

        Of max(value, 0)·f, f = min max f_kl >= 0, the products with the forms of value that are below 0 are at most 0,
        whichever f_kl they are with; they do not matter, for 0 is there, too.
        """
        size = known if self._sign(known) > 0 else self._turned(known)
        zero = _of(Form.number(0))
        above, below = (
            self._each(self._times, self._greatest([part, zero]), size) for part in (value, self._turned(value))
        )
        found = self._added(above, self._turned(below))
        return found if size is known else self._turned(found)

    def _inverse(self, value: Value) -> Value:
        """1/value, where all forms are above 0, or all below: it falls as the value grows."""
        sign = self._sign(value)
        if not sign or not all(form.numerator for part in value for form in part):
            raise NotOneForm
        one = Form.number(1)
        size = value if sign > 0 else self._turned(value)
        found = self._greatest([_lattice([self._over(one, form)] for form in part) for part in size])
        return found if sign > 0 else self._turned(found)

    def _divided(self, left: Value, right: Value) -> Value:
        if len(right) > 1 or len(right[0]) > 1:
            return self._multiplied(left, self._inverse(right))
        ((divisor,),) = right
        if len(left) == len(left[0]) == 1:
            return _of(self._over(left[0][0], divisor))
        # Multiplied with 1/divisor, the sign of which has to be known, while that of the value is not needed.
        inverse = self._over(Form.number(1), divisor)
        sign = self._sign(_of(inverse))
        if not sign:
            raise NotOneForm
        value = left if sign > 0 else self._turned(left)
        factor = inverse if sign > 0 else self._negated(inverse)
        return _lattice([self._times(form, factor) for form in part] for part in value)

    def _sign(self, value: Value) -> int:
        """1 where no form is ever negative, -1 where none is ever positive, for every eps > 0 and A > 0; else 0."""
        forms = [form for part in value for form in part]
        if all(self._is_nonnegative(form) for form in forms):
            return 1
        return -1 if all(self._is_nonnegative(self._negated(form)) for form in forms) else 0

    def _is_nonnegative(self, form: Form) -> bool:
        """Whether it is seen."""
        below = form.denominator
        positive = all(
            all(c > 0 for c in f.values()) or positive_everywhere(f, self._budget) for f in form.numerator.values()
        )
        return positive and positive_everywhere(below, self._budget)

    # --- arithmetic -------------------------------------------------------------------------------

    def _multiply(self, left: Ring, right: Ring) -> Ring:
        return multiply(left, right, self._budget)

    def _products(self, left: Mapping[Growth, Ring], right: Mapping[Growth, Ring]) -> dict[Growth, Ring]:
        result: dict[Growth, Ring] = {}
        for (j, r), f in left.items():
            for (k, s), g in right.items():
                growth = (j + k, r + s)
                result[growth] = add(result.get(growth, {}), self._multiply(f, g))
        return {growth: f for growth, f in result.items() if f}

    def _add(self, left: Form, right: Form) -> Form:
        above, more, below = left.numerator, right.numerator, left.denominator
        if left.denominator != right.denominator:
            above = self._products(above, {FLAT: right.denominator})
            more = self._products(more, {FLAT: left.denominator})
            below = self._multiply(left.denominator, right.denominator)
        total = dict(above)
        for growth, f in more.items():
            other = total.get(growth, {})
            self._budget.spend(1 + len(other) + len(f), height(other) + height(f))
            total[growth] = add(total.get(growth, {}), f)
        return Form({growth: f for growth, f in total.items() if f}, below)

    def _negated(self, value: Form) -> Form:
        return Form({growth: times(f, -1) for growth, f in value.numerator.items()}, value.denominator)

    def _times(self, left: Form, right: Form) -> Form:
        above = self._products(left.numerator, right.numerator)
        return Form(above, self._multiply(left.denominator, right.denominator))

    def _over(self, left: Form, right: Form) -> Form:
        if not right.numerator:
            raise self._wrong("an expression divides by 0")
        if right.numerator.keys() != {FLAT}:
            raise NotOneForm  # it divides by something that depends on the distance A
        divisor = right.numerator[FLAT]
        above = self._products(left.numerator, {FLAT: right.denominator})
        if len(divisor) == 1:
            (((k, q), c),) = divisor.items()
            if not k:
                return Form(self._products(above, {FLAT: {(0, -q): 1 / c}}), left.denominator)
        return Form(above, self._multiply(left.denominator, divisor))

    def _exponential(self, value: Form) -> Form:
        """exp(eps·(q + r·A))."""
        rates = {FLAT: Fraction(0), (1, Fraction(0)): Fraction(0)}
        for growth, f in value.numerator.items():
            if value.denominator != ONE or growth not in rates or f.keys() != {(1, Fraction(0))}:
                raise self._wrong("an exponent of an expression is not a rational multiple of eps")
            rates[growth] = f[1, Fraction(0)]
        return Form({(0, rates[1, Fraction(0)]): {(0, rates[FLAT]): Fraction(1)}}, ONE)


# === degree ====================================================================================


def degree_in(tree: Expr, name: str) -> int:
    """A bound on the degree of an expression in a name, whatever all other names and eps are.

    The expression is a polynomial in the name, with coefficients in which it does not occur: it is found in sums,
    products, powers and dividends only. NotOneForm for others.
    """
    first, others = spine(tree)
    match first:
        case Apply("neg", (argument,)):
            found = degree_in(argument, name)
        case Apply("^", (argument, Literal(Fraction() as power))):
            found = degree_in(argument, name) * int(power)
        case Apply(_, arguments):
            if any(degree_in(argument, name) for argument in arguments):
                raise NotOneForm
            found = 0
        case _:
            found = int(first == Name(name))
    for op, other in others:
        degree = degree_in(other, name)
        if op == "/" and degree:
            raise NotOneForm
        found = found + degree if op == "*" else found if op == "/" else max(found, degree)
    return found


# === trend =====================================================================================

#: Names of numbers that are not negative.
_DISTANCES = ("alpha", "gamma", "dd", "eps")


def never_grows(
    expression: str | Expr, distances: frozenset[str], constants: Mapping[str, Fraction], budget: Budget
) -> bool:
    """True only if the well-formed expression is continuous in the `distances`, all of them at least 0, and does not
    grow with any of them, for every eps > 0. False says nothing."""
    return _Trends(distances, constants, budget, step).of(parsed(expression, budget)).falls


@dataclass(frozen=True, slots=True)
class _Trend:
    """`sign` is 1 for what is never negative, -1 for what is never positive, 0 for what is not known."""

    falls: bool
    rises: bool
    sign: int

    @property
    def fixed(self) -> bool:
        return self.falls and self.rises

    def negated(self) -> _Trend:
        return _Trend(self.rises, self.falls, -self.sign)

    def plus(self, other: _Trend) -> _Trend:
        sign = self.sign if self.sign == other.sign else 0
        return _Trend(self.falls and other.falls, self.rises and other.rises, sign)

    def times(self, other: _Trend) -> _Trend:
        sign = self.sign * other.sign
        if not sign:
            both = self.fixed and other.fixed
            return _Trend(both, both, 0)
        # As the product of what is not negative, negated once for each factor that is.
        one, two = (each if each.sign > 0 else each.negated() for each in (self, other))
        found = _Trend(one.falls and two.falls, one.rises and two.rises, 1)
        return found if sign > 0 else found.negated()


@dataclass(frozen=True, slots=True)
class _Trends:
    _distances: frozenset[str]
    _constants: Mapping[str, Fraction]
    _budget: Budget
    _step: str

    def of(self, tree: Expr) -> _Trend:
        """The trend of an expression."""
        so_far, others = spine(tree)
        found = self._operand(so_far)
        for op, other in others:
            found, right = self._signed_by_value(found, so_far), self.of(other)
            so_far = Apply(op, (so_far, other))
            if op in ("+", "-"):
                found = found.plus(right if op == "+" else right.negated())
            elif op == "*" or (right.fixed and right.sign):
                found = found.times(right)
            else:
                both = right.fixed and found.fixed
                found = _Trend(both, both, 0)
        return self._signed_by_value(found, tree)

    def _operand(self, tree: Expr) -> _Trend:
        match tree:
            case Apply("neg", (argument,)):
                return self.of(argument).negated()
            case Apply("^", (argument, Literal(Fraction() as power))):
                return self._power(self.of(argument), int(power))
            case Apply("exp" | "abs" | "min" | "max" as op, arguments):
                return self._called(op, list(map(self.of, arguments)))
            case Apply():
                return _Trend(falls=False, rises=False, sign=0)
            case Name(name):
                known = name if name in self._constants else GREEK.get(name, name)
                if known in self._constants:
                    value = self._constants[known]
                    return _Trend(falls=True, rises=True, sign=1 if value >= 0 else -1)
                return _Trend(falls=known not in self._distances, rises=True, sign=int(known in _DISTANCES))
            case _:
                return _Trend(falls=True, rises=True, sign=1)  # a number, or eps

    def _power(self, base: _Trend, exponent: int) -> _Trend:
        if not base.sign:
            return _Trend(base.fixed, base.fixed, 0 if exponent % 2 else 1)
        # A product of n factors has the trend of one of them, or with an even n that of its absolute value.
        if not exponent:
            return _Trend(falls=True, rises=True, sign=1)
        return base if exponent % 2 or base.sign > 0 else base.negated()

    def _called(self, name: str, inner: list[_Trend]) -> _Trend:
        (first, *others) = inner
        if name == "exp":
            return replace(first, sign=1)
        if name == "abs":
            if first.sign:
                return first if first.sign > 0 else first.negated()
            return _Trend(first.fixed, first.fixed, 1)
        sign = first.sign if all(each.sign == first.sign for each in others) else 0
        return _Trend(all(each.falls for each in inner), all(each.rises for each in inner), sign)

    def _signed_by_value(self, found: _Trend, tree: Expr) -> _Trend:
        """What does not depend on a distance at all has the sign of its value."""
        if found.sign or not found.fixed:
            return found
        names = {name: Form.number(value) for name, value in self._constants.items()}
        try:
            form = evaluate(tree, names, self._budget)
        except (Rejected, NotOneForm):
            return found
        value = form.limit()
        if value is None:
            return found
        above, below = self._sign(value[0]), self._sign(value[1])
        return replace(found, sign=above * below)

    def _sign(self, function: Ring) -> int:
        if positive_everywhere(function, self._budget):
            return 1
        return -1 if positive_everywhere(times(function, -1), self._budget) else 0


# === claims ====================================================================================

_INTERVAL = re.compile(r"([\[(])([0-9/]+), (inf|[0-9/]+)([\])])", re.ASCII)

MOST_INTERVALS = 10_000


@dataclass(frozen=True)
class Interval:
    """An interval of eps within (0, inf); `upper` None is infinity."""

    lower: Fraction
    upper: Fraction | None
    lower_closed: bool
    upper_closed: bool

    @staticmethod
    def read(value: object) -> Interval:
        """Of a text such as `(0, 1/2]`."""
        match = _INTERVAL.fullmatch(text(value))
        if match is None:
            raise Rejected("an interval is written like (0, inf) or [1/2, 3)")
        lower = rational(match[2])
        upper = None if match[3] == "inf" else rational(match[3])
        result = Interval(lower, upper, match[1] == "[", match[4] == "]")
        if upper is None:
            wrong = result.upper_closed
        else:
            wrong = upper < lower or (upper == lower and not (result.lower_closed and result.upper_closed))
        if wrong or (not lower and result.lower_closed):
            raise Rejected("the interval is empty or not within (0, inf)")
        return result

    @property
    def is_point(self) -> bool:
        """Whether it is a single eps."""
        return self.lower == self.upper

    def __contains__(self, eps: Fraction) -> bool:
        above = eps > self.lower or (eps == self.lower and self.lower_closed)
        return above and (self.upper is None or eps < self.upper or (eps == self.upper and self.upper_closed))


def read_intervals(value: object, most: int = MOST_INTERVALS) -> tuple[Interval, ...]:
    """Intervals of eps, at least one and at most so many, each above all before it. Raises Rejected for others."""
    found = tuple(Interval.read(item) for item in items(value, most))
    if not found:
        raise Rejected("it is about no eps")
    for one, other in pairwise(found):
        apart = one.upper is not None and (
            one.upper < other.lower or (one.upper == other.lower and not (one.upper_closed and other.lower_closed))
        )
        if not apart:
            raise Rejected("its intervals of eps are not one above the other")
    return found


#: The least of the greatest of some closed forms: ((a, b), (c,)) for min(max(a, b), c).
Least = tuple[tuple[Closed, ...], ...]


#: One that has erfc in it is a sum over stars (`normal.py`).
Beta = Least | Enclosed


def same_beta(left: Beta, right: Beta, budget: Budget) -> bool:
    """Whether two betas are the same, argument by argument."""
    if isinstance(left, Enclosed) or isinstance(right, Enclosed):
        return isinstance(left, Enclosed) and isinstance(right, Enclosed) and left.equals(right, budget)
    return list(map(len, left)) == list(map(len, right)) and all(
        equal_closed(one, other, budget)
        for ours, theirs in zip(left, right, strict=True)
        for one, other in zip(ours, theirs, strict=True)
    )


#: alpha (None: infinite), gamma, and beta, None where it is not of this kind.
Terms = tuple[Fraction | None, Fraction, Beta | None]


@dataclass
class Claim:
    """The claim of a certificate; what is claimed at rows is computed once for equal cells."""

    alpha: str | None
    beta: str | Expr | None
    gamma: str | None
    intervals: tuple[Interval, ...]
    constants: Mapping[str, Fraction]
    known: dict[tuple[str | None, ...], Terms] = field(default_factory=dict)

    @staticmethod
    def read(value: object, constants: Mapping[str, Fraction]) -> Claim:
        """Of the document's `claim`."""
        with in_step("claim"):
            stated = record(value, ("alpha", "beta", "gamma", "eps"))
            intervals = read_intervals(stated["eps"])
            alpha, beta, gamma = (optional_text(stated[name]) for name in ("alpha", "beta", "gamma"))
            return Claim(alpha, beta, gamma, intervals, constants)

    @property
    def one_eps(self) -> Fraction | None:
        """The eps that is claimed about, None where others are, too."""
        return the_one_eps(self.intervals)

    def terms(self, own: Mapping[str, str], dd: str | None, budget: Budget) -> Terms:
        """alpha, gamma and beta at a row with these cells of its own and this dd."""
        key = (own.get("alpha"), own.get("beta"), own.get("gamma"), dd)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self._terms(own, dd, budget)
        return found

    def range(
        self, own: Mapping[str, str], dd: str | None, ends: Sequence[str], budget: Budget
    ) -> tuple[Fraction | None, Beta | None, bool]:
        """What is claimed for every gamma from the first of the ends up to the second, `inf` or not included: the
        greatest alpha that goes with one (None: infinity), the limit of beta as both grow, and whether nothing is."""
        low, high = _distance(ends[0]), None if ends[1] == "inf" else _distance(ends[1])
        names = {name: Form.number(value) for name, value in self.constants.items()}
        limit: Fraction | None = None
        if dd is not None:
            names["dd"] = Form.infinite() if dd == "inf" else Form.number(_distance(dd))
            limit = None if dd == "inf" else _distance(dd)
        if "alpha" not in own and self.alpha is not None and mentions(self.alpha, "gamma"):
            base, rate = linear(self.alpha, {**names, "gamma": Form.infinite()}, self.one_eps, budget)
            if rate < 0:
                raise Rejected("alpha falls as gamma grows")
            least = max(Fraction(0), base + rate * low)
            alpha: Fraction | None
            if rate:
                top = high
                if limit is not None:
                    top = (limit - base) / rate if high is None else min(high, (limit - base) / rate)
                alpha, vacuous = None, False
                if top is not None:
                    alpha, first = base + rate * top, max(low, -base / rate)
                    alone = top == first and top != high and limit is not None
                    vacuous = top <= first and not (alone and not self.is_near(own, limit or alpha, alpha))
            else:
                top, alpha, vacuous = high, base, limit is not None and self.is_near(own, limit, base)
        else:
            alpha, top, least = self._alpha(own.get("alpha"), dd, names, budget), high, Fraction(0)
            vacuous = limit is not None and alpha is not None and self.is_near(own, limit, alpha)
        if vacuous:
            alpha, top = least, low
        names["alpha"] = Form.infinite() if alpha is None else Form.number(alpha)
        names["gamma"] = Form.infinite() if top is None else Form.number(top)
        return alpha, self._beta(own, names, budget), vacuous

    def _terms(self, own: Mapping[str, str], dd: str | None, budget: Budget) -> Terms:
        names = {name: Form.number(value) for name, value in self.constants.items()}
        if dd is not None:
            names["dd"] = Form.infinite() if dd == "inf" else Form.number(_distance(dd))
        if self.alpha is not None and mentions(self.alpha, "gamma"):
            names["gamma"] = Form.number(self._gamma(own.get("gamma"), names, budget))
        alpha = self._alpha(own.get("alpha"), dd, names, budget)
        names["alpha"] = Form.infinite() if alpha is None else Form.number(alpha)
        gamma = self._gamma(own.get("gamma"), names, budget)
        names["gamma"] = Form.number(gamma)
        return alpha, gamma, self._beta(own, names, budget)

    def _beta(self, own: Mapping[str, str], names: Mapping[str, Form], budget: Budget) -> Beta | None:
        beta = own.get("beta", self.beta)
        if beta is None:
            raise Rejected("there is no beta")
        if mentions(beta, "erfc"):
            return normal_beta(parsed(beta, budget), names, _limit, budget)
        try:
            parts = evaluate_least(beta, names, budget)
        except NotOneForm:
            return None
        limits = tuple(tuple(limit for arm in part if (limit := arm.limit()) is not None) for part in parts)
        whole = all(len(known) == len(part) for known, part in zip(limits, parts, strict=True))
        return limits if whole else None

    def _gamma(self, own: str | None, names: Mapping[str, Form], budget: Budget) -> Fraction:
        if own is not None:
            return _distance(own)
        return Fraction(0) if self.gamma is None else _number(self.gamma, names, self.one_eps, budget)

    def is_near(self, own: Mapping[str, str], dd: Fraction, alpha: Fraction) -> bool:
        """Whether the claim is not about inputs with this dd: numbers are about dd > alpha, 0 about all. They may be
        equal where alpha is computed from dd, or beta from alpha: then every lesser alpha is meant, too."""
        stated, beta = own.get("alpha", self.alpha), own.get("beta", self.beta) or "0"
        if dd != alpha:
            return dd < alpha
        if stated is None or mentions(stated, "dd") or mentions(beta, "alpha"):
            return False
        return not mentions(beta, "gamma") if mentions(stated, "gamma") else alpha > 0

    def _alpha(self, own: str | None, dd: str | None, names: Mapping[str, Form], budget: Budget) -> Fraction | None:
        stated = self.alpha if own is None else own
        if stated == "dd" or (stated is None and dd is not None):
            if dd is None:
                raise Rejected("alpha is dd, but the row has none")
            return None if dd == "inf" else _distance(dd)
        if own is not None:
            return _distance(own)
        return Fraction(0) if stated is None else _number(stated, names, self.one_eps, budget)


def _limit(form: Form) -> Ring | None:
    """The limit as a function of the ring, None for others."""
    found = form.limit()
    return found[0] if found is not None and found[1] == ONE else None


def normal_beta(
    tree: Expr,
    names: Mapping[str, Form],
    finished: Callable[[Form], Ring | None],
    budget: Budget,
    *,
    distances: int = 0,
) -> Enclosed | None:
    """A sum of products that have erfc(√r·t) or erfc(√r) in them once at most, with t = eps·A^distances, A being the
    distance left open; `finished` is what a form comes to. None for others."""
    total = Sum()
    summands: list[tuple[str, Expr]] = []
    while isinstance(tree, Apply) and tree.op in ("+", "-"):
        summands.append((tree.op, tree.arguments[1]))
        tree = tree.arguments[0]
    try:
        for sign, summand in [*summands, ("+", tree)]:
            plain, arguments = _without_erfc(summand)
            weight = finished(evaluate(plain, names, budget))
            square = _square(arguments[0], names, distances, budget) if arguments else None
            if weight is None or len(arguments) > 1 or (arguments and square is None):
                return None
            factor = constant(-1 if sign == "-" else 1)
            value = Enclosed({(): (ONE, ONE)}) if square is None else complementary(square[0], fixed=not square[1])
            for stars, (part, below) in value.terms.items():
                scaled = multiply(multiply(weight, factor, budget), part, budget)
                if scaled:
                    total.add(stars, (scaled, below), budget)
    except NotOneForm:
        return None
    found = total.value
    return found if isinstance(found, Enclosed) else None


def _without_erfc(tree: Expr) -> tuple[Expr, list[Expr]]:
    """A product with 1 in the place of erfc, and what that is taken of."""
    match tree:
        case Apply("erfc", (argument,)):
            return Literal(Fraction(1)), [argument]
        case Apply("*" | "/" | "neg" as op, operands):
            parts = [_without_erfc(operand) for operand in operands]
            if op == "/" and parts[1][1]:
                raise NotOneForm
            return Apply(op, tuple(plain for plain, _ in parts)), [each for _, found in parts for each in found]
        case _:
            if mentions(tree, "erfc"):
                raise NotOneForm
            return tree, []


def _square(tree: Expr, names: Mapping[str, Form], distances: int, budget: Budget) -> tuple[Fraction, bool] | None:
    """The r of √r·t, or of √r, and whether it is the first; None for others, and for what is negative."""
    found = _monomial(tree, names, budget)
    if found is None or found[0] < 0:
        return None
    c, eps, distance = found
    if (eps, distance) not in ((0, 0), (2, 2 * distances)):
        return None
    return c, bool(eps)


def _monomial(tree: Expr, names: Mapping[str, Form], budget: Budget) -> tuple[Fraction, int, int] | None:
    """The c, k and j of its square c·eps^k·A^j; c is -1 where it is negative. None for others."""
    match tree:
        case Apply("*" | "/" as op, (left, right)) if mentions(tree, "sqrt"):
            one, other = (_monomial(each, names, budget) for each in (left, right))
            if one is None or other is None or min(one[0], other[0]) < 0 or (op == "/" and not other[0]):
                return None
            if op == "*":
                return one[0] * other[0], one[1] + other[1], one[2] + other[2]
            return one[0] / other[0], one[1] - other[1], one[2] - other[2]
        case Apply("sqrt", (inner,)):
            tree, square = inner, False
        case _ if mentions(tree, "sqrt"):
            return None
        case _:
            square = True
    form = evaluate(tree, names, budget)
    if not form.numerator:
        return Fraction(0), 0, 0
    if len(form.numerator) > 1 or form.denominator != ONE:
        return None
    (((j, r), coefficient),) = form.numerator.items()
    if r or len(coefficient) > 1:
        return None
    (((k, q), c),) = coefficient.items()
    if q or c < 0:
        return None if q else (Fraction(-1), 0, 0)
    return (c * c, 2 * k, 2 * j) if square else (c, k, j)


def the_one_eps(intervals: Sequence[Interval]) -> Fraction | None:
    """The eps that the intervals are about, None where they are about several."""
    return intervals[0].lower if len(intervals) == 1 and intervals[0].is_point else None


#: The powers of a distance in base + rate·distance.
_LINEAR = ((0, Fraction(0)), (1, Fraction(0)))


def linear(
    expression: str, names: Mapping[str, Form], eps: Fraction | None, budget: Budget
) -> tuple[Fraction, Fraction]:
    """base and rate of an expression that is base + rate·distance, for the distance in the names that is infinite: for
    every eps, or at the one that is given."""
    for known in _readings(names, eps):
        with suppress(NotOneForm):
            form = evaluate(expression, known, budget)
            parts = [form.numerator.get(key, {}) for key in _LINEAR]
            plain = form.denominator == ONE and not form.numerator.keys() - set(_LINEAR)
            if plain and not any(part.keys() - {(0, Fraction(0))} for part in parts):
                base, rate = (part.get((0, Fraction(0)), Fraction(0)) for part in parts)
                return base, rate
    raise Rejected("it is no multiple of the distance left open and a number")


def _readings(names: Mapping[str, Form], eps: Fraction | None) -> list[Mapping[str, Form]]:
    """What names stand for: with every eps, and then at the one that is given."""
    return [names] if eps is None else [names, {**names, "eps": Form.number(eps)}]


def _distance(value: str) -> Fraction:
    found = rational(value)
    if found < 0:
        raise Rejected("a distance is negative")
    return found


def _number(expression: str, names: Mapping[str, Form], eps: Fraction | None, budget: Budget) -> Fraction:
    value = None
    for known in _readings(names, eps):
        with suppress(NotOneForm):
            value = evaluate(expression, known, budget).constant() if value is None else value
    if value is None:
        raise Rejected("it is not a number")
    if value < 0:
        raise Rejected("it is negative")
    return value

"""Claims: the expressions of alpha, beta and gamma, and their values at a row of a table.

A value is a minimum of maxima of forms: [[a, b], [c]] is min(max(a, b), c). A form is a quotient of exponential
polynomials in eps. Its numerator may also depend on unknown numbers X >= 0, such as an unbounded distance or a number
of queries: Σ f(eps)·Π X^j·e^{r·X·eps}.

Sums, exp and products with nonnegative factors are monotone, so they apply to each form. max is distributed over min,
and the negative of a minimum is a maximum. A claim whose value has no such form is not certified (NotOneForm).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product
from math import prod

from dipc.verifier import reading as read
from dipc.verifier.functions import (
    ONE,
    Closed,
    Ring,
    add,
    constant,
    height,
    multiply,
    positive_everywhere,
    times,
)
from dipc.verifier.normal import Enclosed, Probability, Stars, complementary, same, sum_of
from dipc.verifier.reading import EXPRESSION, Budget, NotDerived, Rejected, in_step, must_be_derived
from dipc.verifier.reals import Number, monomial
from dipc.verifier.syntax import Apply, Element, Epsilon, Expr, Literal, Name, Ranged, nodes, read_expression

# === expression ================================================================================

#: The factors X^j·e^{r·X·eps} of a product as (X, j, r), sorted, without factors that are 1.
Growth = tuple[tuple[str, int, Fraction], ...]

FLAT: Growth = ()

#: The name of the distance that grows without bound.
DISTANCE = "the distance"

MOST_POWER = 1_000

#: The most forms of one value.
MOST_FORMS = 200

#: The names that Greek letters in claims stand for.
GREEK = {"α": "alpha", "β": "beta", "γ": "gamma"}

_ZERO = Fraction(0)


class NotOneForm(Exception):
    """Raised if an expression is not one quotient of exponential polynomials for every eps, such as min(1, eps)."""


@dataclass(frozen=True)
class Form:
    """A quotient `numerator`/`denominator`, a function of eps and of unknown numbers X.

    The value of a key of `numerator` is an exponential polynomial in eps. The key itself is a product of powers X^j and
    exponentials e^{r·X·eps}, and the numerator is the sum of all key·value. The denominator is a function of eps alone.
    """

    numerator: Mapping[Growth, Ring]
    denominator: Ring

    @staticmethod
    def from_ring(value: Ring) -> Form:
        """Return the form of `value`, a function of eps alone."""
        return Form({FLAT: value} if value else {}, ONE)

    @staticmethod
    def number(value: Fraction | int) -> Form:
        """Return the form of the constant `value`."""
        return Form.from_ring(constant(value))

    @staticmethod
    def unknown(name: str, base: Fraction = _ZERO, rate: Fraction | int = 1) -> Form:
        """Return the form `base` + `rate`·X, where X is the unknown number called `name`."""
        numerator = {FLAT: constant(base), ((name, 1, _ZERO),): constant(rate)}
        return Form({growth: f for growth, f in numerator.items() if f}, ONE)

    def constant(self) -> Fraction | None:
        """Return the value if it is a rational number, otherwise None."""
        if self.denominator != ONE or self.numerator.keys() - {FLAT}:
            return None
        terms = self.numerator.get(FLAT, {})
        if terms.keys() - {(0, _ZERO)}:
            return None
        return sum(terms.values(), _ZERO)

    def limit(self) -> Closed | None:
        """Return the limit as each unknown number X grows without bound, a function of eps.

        Return None if there is no limit.
        """
        if any(r > 0 or (r == 0 and j > 0) for growth in self.numerator for _, j, r in growth):
            return None
        return dict(self.numerator.get(FLAT, {})), self.denominator

    def falls(self, names: Iterable[str], budget: Budget) -> bool:
        """True only if the form never grows with the unknown numbers called `names`.

        This holds for every eps > 0 and all values of the other unknown numbers. False proves nothing. Charges its work
        to `budget`.
        """
        below = self.denominator
        side = 1 if positive_everywhere(below, budget) else -1
        if not positive_everywhere(times(below, side), budget):
            return False
        for growth, f in self.numerator.items():
            own = [(j, r) for name, j, r in growth if name in names]
            if all(not j and r <= 0 for j, r in own):
                sign = side
            elif all(r >= 0 for _, r in own):
                sign = -side
            else:
                return False
            if own and not is_nonnegative(times(f, sign), budget):
                return False
        return True


def is_nonnegative(function: Ring, budget: Budget) -> bool:
    """True only if `function` is proved to be nonnegative for every eps > 0. False proves nothing.

    Charges its work to `budget`.
    """
    return all(c > 0 for c in function.values()) or positive_everywhere(function, budget)


#: A minimum of maxima of forms: ((a, b), (c,)) is min(max(a, b), c).
Value = tuple[tuple[Form, ...], ...]


def parsed(expression: str | Expr, budget: Budget) -> Expr:
    """Return the syntax tree of `expression`, with the work charged to `budget`.

    Raises Rejected if its text is not an expression.
    """
    if not isinstance(expression, str):
        return expression
    with must_be_derived():
        return read_expression(expression, budget)


def evaluate(expression: str | Expr, names: Mapping[str, Form], budget: Budget) -> Form:
    """Return the value of `expression` as a quotient, where `names` has the value of each name in the expression.

    Charges its work to `budget`. Raises Rejected if there is no value, NotOneForm if the value is not one quotient for
    every eps.
    """
    return _single(evaluate_least(expression, names, budget))


def evaluate_least(expression: str | Expr, names: Mapping[str, Form], budget: Budget) -> Value:
    """Return `expression` as a minimum of maxima of forms, where `names` has the value of each name in the expression.

    The outer items of the result are the arguments of the minimum, and the items of each are the arguments of a
    maximum. Charges its work to `budget`. Raises Rejected if there is no value, NotOneForm if the value has another
    form.
    """
    return _Evaluation(names, budget.part(EXPRESSION)).value(parsed(expression, budget))


def _as_value(form: Form) -> Value:
    return ((form,),)


def _single(value: Value) -> Form:
    if len(value) > 1 or len(value[0]) > 1:
        raise NotOneForm
    return value[0][0]


def _lattice(groups: Iterable[Iterable[Form]]) -> Value:
    """Return the minimum over `groups` of the maximum of each group of forms.

    A form or group that occurs twice is kept once. A constant form is left out if it changes neither a maximum nor the
    minimum. Raises NotOneForm if more than MOST_FORMS forms remain.
    """
    arms: list[tuple[Form, ...]] = []
    size = 0
    for forms_in in groups:
        forms = _without_numbers(forms_in, max)
        size += len(forms)
        if size > MOST_FORMS:
            raise NotOneForm
        if forms not in arms:
            arms.append(forms)
    alone = [forms_in for forms_in in arms if len(forms_in) == 1]
    least = _without_numbers((forms_in[0] for forms_in in alone), min)
    return tuple(forms_in for forms_in in arms if len(forms_in) > 1 or forms_in[0] in least)


def _without_numbers(forms: Iterable[Form], choose: Callable[[list[Fraction]], Fraction]) -> tuple[Form, ...]:
    distinct: list[Form] = []
    given = list(forms)
    numbers = [number for form in given if (number := form.constant()) is not None]
    best = Form.number(choose(numbers)) if numbers else None
    for form in given:
        if form.constant() is not None:
            assert best is not None, "the function is constant"
            form = best
        if form not in distinct:
            distinct.append(form)
    return tuple(distinct)


def mentions(expression: str | Expr | None, name: str) -> bool:
    """True if `expression` contains the name, or applies the function, called `name`."""
    if not expression:
        return False
    return any(
        GREEK.get(node.name, node.name) == name if isinstance(node, Name) else node.op == name
        for node in nodes(parsed(expression, Budget()))
        if isinstance(node, Name | Apply)
    )


def without_ones(tree: Expr) -> Expr:
    """Return `tree`, or x if `tree` is the `min` of an expression x and numbers >= 1."""
    match tree:
        case Apply("min", arguments):
            left = [
                each
                for each in arguments
                if not (isinstance(each, Literal) and isinstance(each.value, Fraction) and each.value >= 1)
            ]
            return left[0] if len(left) == 1 else tree
    return tree


def spine(tree: Expr) -> tuple[Expr, list[tuple[str, Expr]]]:
    """Return (first operand, [(operator, operand), …]) if `tree` is a chain of sums and products, else (`tree`, []).

    The caller can evaluate a long chain in a loop, without deep recursion.
    """
    operands: list[tuple[str, Expr]] = []
    while isinstance(tree, Apply) and tree.op in ("+", "-", "*", "/"):
        op, (tree, other) = tree.op, tree.arguments
        operands.append((op, other))
    return tree, operands[::-1]


@dataclass(frozen=True, slots=True)
class _Evaluation:
    _names: Mapping[str, Form]
    _budget: Budget

    def value(self, tree: Expr) -> Value:
        first, others = spine(tree)
        total = self._operand(first)
        for op, other in others:
            self._budget.spend(10)
            right = self.value(other)
            match op:
                case "+":
                    total = self._added(total, right)
                case "-":
                    total = self._added(total, self._turned(right))
                case "*":
                    total = self._multiplied(total, right)
                case _:
                    total = self._divided(total, right)
        return total

    def _operand(self, tree: Expr) -> Value:
        match tree:
            case Literal(Fraction() as number):
                return _as_value(Form.number(number))
            case Epsilon():
                return _as_value(self._names.get("eps", Form.from_ring({(1, Fraction(0)): Fraction(1)})))
            case Name(name) if (known := name if name in self._names else GREEK.get(name, name)) in self._names:
                return _as_value(self._names[known])
            case Apply("neg", (argument,)):
                return self._turned(self.value(argument))
            case Apply("^", (argument, exponent)):
                power = self._integer(exponent)
                base, result = self.value(argument), _as_value(Form.number(1))
                for _ in range(abs(power)):
                    self._budget.spend(5)
                    result = self._multiplied(result, base)
                return result if power >= 0 else self._divided(_as_value(Form.number(1)), result)
            case Apply("exp", (argument,)):
                return _lattice([self._exponential(form) for form in forms] for forms in self.value(argument))
            case Apply("abs", (argument,)):
                value = self.value(argument)
                sign = self._sign(value)
                if sign:
                    return value if sign > 0 else self._turned(value)
                return self._greatest([value, self._turned(value)])
            case Apply("max", arguments):
                return self._greatest(list(map(self.value, arguments)))
            case Ranged(low=low, high=high):
                ends = self._integer(low), self._integer(high)
                self._budget.spend(50 * max(1, ends[1] - ends[0] + 1))
                with must_be_derived():
                    return self.value(tree.written_out(*ends))
            case Apply("min", arguments):
                return _lattice(forms for argument in arguments for forms in self.value(argument))
            case Name(name) | Element(name):
                raise Rejected(f"an expression contains the unknown name `{name[:40]}`")
            case _:
                raise Rejected("an expression contains something that is not a number")

    def _integer(self, tree: Expr) -> int:
        try:
            value = _single(self.value(tree)).constant()
        except NotOneForm:
            value = None
        if value is None or value.denominator != 1 or abs(value) > MOST_POWER:
            raise Rejected(f"the exponent of `^` is not an integer up to {MOST_POWER}")
        return int(value)

    # --- values -----------------------------------------------------------------------------------

    def _greatest(self, values: Sequence[Value]) -> Value:
        if prod(map(len, values)) > MOST_FORMS:
            raise NotOneForm
        return _lattice([form for forms in chosen for form in forms] for chosen in product(*values))

    def _turned(self, value: Value) -> Value:
        """Return -`value`: for min(max(a, b), c) it is min(max(-a, -c), max(-b, -c)).

        Raises NotOneForm if it has too many forms.
        """
        if prod(map(len, value)) * len(value) > MOST_FORMS:
            raise NotOneForm
        return _lattice([self._negated(form) for form in forms] for forms in product(*value))

    def _added(self, left: Value, right: Value) -> Value:
        return self._each(self._add, left, right)

    def _each(self, operation: Callable[[Form, Form], Form], left: Value, right: Value) -> Value:
        if sum(map(len, left)) * sum(map(len, right)) > MOST_FORMS:
            raise NotOneForm
        return _lattice(
            [operation(one, other) for one in mine for other in theirs] for mine in left for theirs in right
        )

    def _multiplied(self, left: Value, right: Value) -> Value:
        if len(left) == len(left[0]) == len(right) == len(right[0]) == 1:
            return _as_value(self._times(left[0][0], right[0][0]))
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
        product_of_sizes = self._each(self._times, left, right)
        return product_of_sizes if signs[0] == signs[1] else self._turned(product_of_sizes)

    def _in_parts(self, value: Value, known: Value) -> Value:
        """Return the product of `value` and `known`, where all forms of `known` are >= 0, or all are <= 0.

        If `known` >= 0, the product is max(value, 0)·known - max(-value, 0)·known, since both factors of each product
        are >= 0. If `known` <= 0, the result is -(value·(-known)).
        """
        size = known if self._sign(known) > 0 else self._turned(known)
        zero = _as_value(Form.number(0))
        above, below = (
            self._each(self._times, self._greatest([half, zero]), size) for half in (value, self._turned(value))
        )
        result = self._added(above, self._turned(below))
        return result if size is known else self._turned(result)

    def _inverse(self, value: Value) -> Value:
        """Return 1/`value` if all its forms are positive, or all are negative. Raises NotOneForm otherwise."""
        sign = self._sign(value)
        if not sign or not all(form.numerator for forms in value for form in forms):
            raise NotOneForm
        one = Form.number(1)
        size = value if sign > 0 else self._turned(value)
        inverse = self._greatest([_lattice([self._quotient(one, form)] for form in forms) for forms in size])
        return inverse if sign > 0 else self._turned(inverse)

    def _divided(self, left: Value, right: Value) -> Value:
        if len(right) > 1 or len(right[0]) > 1:
            return self._multiplied(left, self._inverse(right))
        ((divisor,),) = right
        if len(left) == len(left[0]) == 1:
            return _as_value(self._quotient(left[0][0], divisor))
        # Only the sign of 1/divisor must be known, not that of the value.
        inverse = self._quotient(Form.number(1), divisor)
        sign = self._sign(_as_value(inverse))
        if not sign:
            raise NotOneForm
        value = left if sign > 0 else self._turned(left)
        factor = inverse if sign > 0 else self._negated(inverse)
        return _lattice([self._times(form, factor) for form in forms] for forms in value)

    def _sign(self, value: Value) -> int:
        """Return 1 if no form of `value` is ever negative, -1 if none is ever positive; otherwise 0.

        The forms are functions of eps and of unknown numbers, such as a number of queries. They are compared with 0
        where eps and the unknown numbers are positive.
        """
        forms = [form for group in value for form in group]
        if all(self._is_nonnegative(form) for form in forms):
            return 1
        return -1 if all(self._is_nonnegative(self._negated(form)) for form in forms) else 0

    def _is_nonnegative(self, form: Form) -> bool:
        every = all(is_nonnegative(f, self._budget) for f in form.numerator.values())
        return every and positive_everywhere(form.denominator, self._budget)

    # --- arithmetic -------------------------------------------------------------------------------

    def _multiply(self, left: Ring, right: Ring) -> Ring:
        return multiply(left, right, self._budget)

    def _products(self, left: Mapping[Growth, Ring], right: Mapping[Growth, Ring]) -> dict[Growth, Ring]:
        result: dict[Growth, Ring] = {}
        for one, f in left.items():
            for other, g in right.items():
                growth = _growth_product(one, other)
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

    def _quotient(self, left: Form, right: Form) -> Form:
        if not right.numerator:
            raise Rejected("an expression divides by 0")
        if right.numerator.keys() != {FLAT}:
            raise NotOneForm  # it divides by what depends on an unknown number
        divisor = right.numerator[FLAT]
        above = self._products(left.numerator, {FLAT: right.denominator})
        if len(divisor) == 1:
            (((k, q), c),) = divisor.items()
            if not k:
                return Form(self._products(above, {FLAT: {(0, -q): 1 / c}}), left.denominator)
        return Form(above, self._multiply(left.denominator, divisor))

    def _exponential(self, value: Form) -> Form:
        """Return exp(`value`), where `value` must be eps·(q + r_1·X_1 + r_2·X_2 + ...) with rational q and r_i.

        Each X_i is an unknown number, such as a number of queries. Raises NotOneForm for every other `value`.
        """
        rates: dict[str, Fraction] = {}
        flat = _ZERO
        for growth, f in value.numerator.items():
            is_linear = len(growth) <= 1 and all((j, r) == (1, _ZERO) for _, j, r in growth)
            if value.denominator != ONE or f.keys() != {(1, _ZERO)} or not is_linear:
                raise NotOneForm  # as exp(-eps^2) is none
            for name, _, _ in growth:
                rates[name] = f[1, _ZERO]
            flat += _ZERO if growth else f[1, _ZERO]
        growth = tuple((name, 0, rate) for name, rate in sorted(rates.items()))
        return Form({growth: {(0, flat): Fraction(1)}}, ONE)


def _growth_product(one: Growth, other: Growth) -> Growth:
    if not one or not other:
        return one or other
    exponents = {name: (j, r) for name, j, r in one}
    for name, j, r in other:
        k, s = exponents.get(name, (0, _ZERO))
        exponents[name] = (j + k, r + s)
    return tuple((name, j, r) for name, (j, r) in sorted(exponents.items()) if j or r)


#: The names of numbers >= 0 in claims.
_DISTANCES = ("alpha", "gamma", "dd")


def never_grows(
    expression: str | Expr, distances: Iterable[str], constants: Mapping[str, Fraction], budget: Budget
) -> bool:
    """True only if `expression` is continuous and nonincreasing in each of the `distances`, for every eps > 0.

    The `distances` are names of numbers >= 0, `constants` has the values of other names, and the expression must be
    well-formed. Charges its work to `budget`.
    """
    names = {name: Form.number(value) for name, value in constants.items()}
    names |= {name: Form.unknown(name) for name in _DISTANCES if name not in names}
    try:
        value = evaluate_least(expression, names, budget)
    except (Rejected, NotOneForm):
        return False
    return all(form.falls(distances, budget) for forms in value for form in forms)


# === claims ====================================================================================

_INTERVAL = re.compile(r"([\[(])([0-9/]+), (inf|[0-9/]+)([\])])", re.ASCII)

MOST_INTERVALS = 10_000


@dataclass(frozen=True)
class Interval:
    """An interval of eps within (0, inf), whose `upper` is None for infinity."""

    lower: Fraction
    upper: Fraction | None
    lower_closed: bool
    upper_closed: bool

    @staticmethod
    def read(value: object) -> Interval:
        """Read the interval `value`, such as `(0, 1/2]`.

        Raises Rejected for other text, for an empty interval, and for an interval that is not within (0, inf).
        """
        match = _INTERVAL.fullmatch(read.text(value))
        if match is None:
            raise Rejected(f"`{read.text(value)[:40]}` is not an interval such as (0, inf) or [1/2, 3)")
        lower = read.rational(match[2])
        upper = None if match[3] == "inf" else read.rational(match[3])
        result = Interval(lower, upper, match[1] == "[", match[4] == "]")
        if upper is None:
            wrong = result.upper_closed
        else:
            wrong = upper < lower or (upper == lower and not (result.lower_closed and result.upper_closed))
        if wrong or (not lower and result.lower_closed):
            raise Rejected("the interval is empty or not within (0, inf)")
        return result

    def __str__(self) -> str:
        upper = "inf" if self.upper is None else self.upper
        return f"{'[' if self.lower_closed else '('}{self.lower}, {upper}{']' if self.upper_closed else ')'}"

    @property
    def is_point(self) -> bool:
        """True if the interval is a single eps."""
        return self.lower == self.upper

    def __contains__(self, eps: Fraction) -> bool:
        above = eps > self.lower or (eps == self.lower and self.lower_closed)
        return above and (self.upper is None or eps < self.upper or (eps == self.upper and self.upper_closed))


def read_intervals(value: object, most: int = MOST_INTERVALS) -> tuple[Interval, ...]:
    """Read the list `value` of 1 to `most` disjoint intervals of eps in increasing order.

    Raises Rejected for other values.
    """
    intervals = tuple(Interval.read(item) for item in read.items(value, most))
    if not intervals:
        raise Rejected("no interval of eps is given")
    for one, other in pairwise(intervals):
        apart = one.upper is not None and (
            one.upper < other.lower or (one.upper == other.lower and not (one.upper_closed and other.lower_closed))
        )
        if not apart:
            raise Rejected("the intervals of eps are not in increasing order")
    return intervals


#: A minimum of maxima of closed forms: ((a, b), (c,)) is min(max(a, b), c).
Least = tuple[tuple[Closed, ...], ...]


#: A beta that contains erfc is a sum over stars (`normal.py`).
Beta = Least | Enclosed


def same_beta(left: Beta, right: Beta, budget: Budget) -> bool:
    """True only if the betas `left` and `right` are equal, argument by argument of `min` and `max`.

    False does not prove that they differ: equal betas may list their arguments in different orders. Charges its work to
    `budget`.
    """
    ours, theirs = arguments_of(left), arguments_of(right)
    return list(map(len, ours)) == list(map(len, theirs)) and all(
        same(one, other, budget)
        for mine, its in zip(ours, theirs, strict=True)
        for one, other in zip(mine, its, strict=True)
    )


def arguments_of(beta: Beta) -> Sequence[Sequence[Probability]]:
    """Return the arguments of the `min` in `beta`, each as the arguments of its `max`."""
    return ((beta,),) if isinstance(beta, Enclosed) else beta


#: alpha (None: infinite), gamma, and beta (None: not of a kind that can be certified).
Terms = tuple[Fraction | None, Fraction, Beta | None]


@dataclass
class Claim:
    """The claim of a certificate.

    `alpha`, `beta` and `gamma` are the texts of expressions, None if the claim does not state them. An `alpha` that is
    "dd" is left open, and so is a `gamma` that is "free". `intervals` are those of eps, and `constants` has the values
    of the program's constants. `_known` and `_falling` are caches of results for rows with equal cells.
    """

    alpha: str | None
    beta: str | Expr | None
    gamma: str | None
    intervals: tuple[Interval, ...]
    constants: Mapping[str, Fraction]
    _known: dict[tuple[str | None, ...], Terms] = field(default_factory=dict, init=False)
    _falling: dict[tuple[str | Expr, bool], bool] = field(default_factory=dict, init=False)

    @staticmethod
    def read(value: object, constants: Mapping[str, Fraction]) -> Claim:
        """Read `value`, the `claim` of a document; `constants` are the constants of its program.

        Raises Rejected for other values.
        """
        with in_step("claim"):
            expression = read.nullable(read.text)
            table: read.Table = {"alpha": expression, "beta": expression, "gamma": expression, "eps": read_intervals}
            alpha, beta, gamma, intervals = read.fields(value, table)
            return Claim(alpha, beta, gamma, intervals, constants)

    @property
    def one_eps(self) -> Fraction | None:
        """The only eps of the claim, or None if the claim covers several."""
        return the_one_eps(self.intervals)

    def terms(self, own: Mapping[str, str], dd: str | None, budget: Budget) -> Terms:
        """Return (alpha, gamma, beta) at a row.

        `own` has the row's cells that replace the claim's alpha, beta or gamma, by column. `dd` is the row's distance,
        None if the row gives none. An infinite alpha is None. Beta is None if it is not of a kind that can be
        certified. Charges its work to `budget`. Raises Rejected if one of the three has no value at the row.
        """
        key = (own.get("alpha"), own.get("beta"), own.get("gamma"), dd)
        if key not in self._known:
            alpha, gamma, names = self.distances(own, dd, budget)
            self._known[key] = alpha, gamma, self.beta_at(own, names, budget)
        return self._known[key]

    def distances(
        self, own: Mapping[str, str], dd: str | None, budget: Budget
    ) -> tuple[Fraction | None, Fraction, Mapping[str, Form]]:
        """Return alpha and gamma at a row, and the values of all names that beta may use there.

        `own` has the row's cells that replace the claim's alpha, beta or gamma, by column. `dd` is the row's distance,
        None if the row gives none. An infinite alpha is None. Charges its work to `budget`. Raises Rejected if alpha or
        gamma has no value at the row, for example if alpha is dd and the row gives no dd.
        """
        names = self._names(dd)
        if self.alpha is not None and mentions(self.alpha, "gamma"):
            names["gamma"] = Form.number(self._gamma(own.get("gamma"), names, budget))
        alpha = self._alpha(own.get("alpha"), dd, names, budget)
        names["alpha"] = _number_or_infinity(alpha)
        gamma = self._gamma(own.get("gamma"), names, budget)
        return alpha, gamma, {**names, "gamma": Form.number(gamma)}

    def range(
        self, own: Mapping[str, str], dd: str | None, ends: Sequence[Fraction | None], budget: Budget
    ) -> tuple[Fraction | None, Beta | None, bool]:
        """Return the claim about a row for every gamma from `ends[0]` up to, but not including, `ends[1]`.

        The result is (greatest alpha, beta, whether nothing is claimed). The alpha is the greatest that is claimed for
        these values of gamma, None for infinity. Beta is taken at this alpha and at its gamma, as a limit if one of
        them is infinite. If nothing is claimed, beta is taken at the least gamma and the least alpha instead, which is
        0 unless alpha is computed from gamma.

        The first end is 0 if it is None, and the second end is infinity if it is None. `own` has the row's cells that
        replace the claim's alpha, beta or gamma, by column. `dd` is the row's distance, None if the row gives none.
        Charges its work to `budget`. Raises Rejected if alpha or beta has no value at the row, or if alpha falls as
        gamma grows.
        """
        low, high = ends[0] or _ZERO, ends[1]
        names = self._names(dd)
        limit = None if dd is None or dd == "inf" else _distance(dd)
        least = _ZERO
        top = high
        if "alpha" not in own and self.alpha is not None and mentions(self.alpha, "gamma"):
            with in_step("alpha"):
                base, rate = linear(self.alpha, {**names, "gamma": Form.unknown(DISTANCE)}, self.one_eps, budget)
            if rate < 0:
                raise Rejected("alpha must not decrease as gamma grows")
            least = max(_ZERO, base + rate * low)
            alpha: Fraction | None = base
            vacuous = not rate and limit is not None and self.is_near(own, limit, base)
            if rate:
                if limit is not None:
                    top = (limit - base) / rate if high is None else min(high, (limit - base) / rate)
                alpha = None
                if top is not None:
                    alpha, first = base + rate * top, max(low, -base / rate)
                    alone = top == first and top != high and limit is not None
                    vacuous = top <= first and not (alone and not self.is_near(own, limit or alpha, alpha))
        else:
            alpha = self._alpha(own.get("alpha"), dd, names, budget)
            vacuous = limit is not None and alpha is not None and self.is_near(own, limit, alpha)
        if vacuous:
            alpha, top = least, low
        names |= {"alpha": _number_or_infinity(alpha), "gamma": _number_or_infinity(top)}
        return alpha, self.beta_at(own, names, budget), vacuous

    def never_grows(self, own: Mapping[str, str], budget: Budget) -> bool:
        """True only if beta is nonincreasing in gamma, and in alpha unless alpha is a number. False proves nothing.

        `own` has the cells of a row that replace the claim's alpha, beta or gamma, by column. Charges its work to
        `budget`.
        """
        alpha = own.get("alpha", self.alpha)
        fixed = alpha is not None and alpha != "dd" and not mentions(alpha, "gamma")
        beta = own.get("beta", self.beta)
        assert beta is not None, "beta was compared"
        if (beta, fixed) not in self._falling:
            distances = ["gamma"] if fixed else ["alpha", "gamma"]
            self._falling[beta, fixed] = never_grows(beta, distances, self.constants, budget)
        return self._falling[beta, fixed]

    def _names(self, dd: str | None) -> dict[str, Form]:
        names = {name: Form.number(value) for name, value in self.constants.items()}
        if dd is not None:
            names["dd"] = _number_or_infinity(None if dd == "inf" else _distance(dd))
        return names

    def beta_at(self, own: Mapping[str, str], names: Mapping[str, Form], budget: Budget) -> Beta | None:
        """Return beta for the values of names in `names`, or None if beta is not of a kind that can be certified.

        `own` has the cells of a row that replace the claim's alpha, beta or gamma, by column. Charges its work to
        `budget`. Raises Rejected if no beta is stated, or if it has no value.
        """
        beta = own.get("beta", self.beta)
        if beta is None:
            raise Rejected("there is no beta")
        return beta_of(beta, names, Form.limit, budget)

    def _gamma(self, own: str | None, names: Mapping[str, Form], budget: Budget) -> Fraction:
        with in_step("gamma"):
            if own is not None:
                return _distance(own)
            return _ZERO if self.gamma is None else _number(self.gamma, names, self.one_eps, budget)

    def is_near(self, own: Mapping[str, str], dd: Fraction, alpha: Fraction) -> bool:
        """True if the claim excludes inputs with the distance `dd` from other answers, for the value `alpha`.

        Inputs with dd < alpha are excluded, and inputs with dd > alpha are not. For dd = alpha there are three cases:

        1. They are included if alpha is dd, is computed from dd or is not stated, or if beta is computed from alpha.
        2. If alpha is computed from gamma, they are excluded unless beta is computed from gamma, too.
        3. If alpha is any other expression, they are excluded if it is positive.

        `own` has the cells of a row that replace the claim's alpha, beta or gamma, by column.
        """
        stated, beta = own.get("alpha", self.alpha), own.get("beta", self.beta) or "0"
        if dd != alpha:
            return dd < alpha
        if stated is None or mentions(stated, "dd") or mentions(beta, "alpha"):
            return False
        return not mentions(beta, "gamma") if mentions(stated, "gamma") else alpha > 0

    def _alpha(self, own: str | None, dd: str | None, names: Mapping[str, Form], budget: Budget) -> Fraction | None:
        stated = self.alpha if own is None else own
        with in_step("alpha"):
            if stated == "dd" or (stated is None and dd is not None):
                if dd is None:
                    raise Rejected("alpha is dd, but the row gives no dd")
                return None if dd == "inf" else _distance(dd)
            if own is not None:
                return _distance(own)
            return _ZERO if stated is None else _number(stated, names, self.one_eps, budget)


def _number_or_infinity(value: Fraction | None) -> Form:
    return Form.unknown(DISTANCE) if value is None else Form.number(value)


def beta_of(
    beta: str | Expr,
    names: Mapping[str, Form],
    finished: Callable[[Form], Closed | None],
    budget: Budget,
    *,
    powers: int = 0,
) -> Beta | None:
    """Return `beta` for the values of names in `names`, or None if beta is not of a kind that can be certified.

    The result is a function of t, where t is eps if `powers` is 0. If `powers` is 1, t is eps·A, where A is the
    distance that the claim leaves open. `finished` turns a form into a function of t; if it returns None for one of the
    forms in beta, the result is None. Charges its work to `budget`. Raises Rejected if beta has no value.
    """
    with in_step("beta"):
        if mentions(beta, "erfc"):
            return _normal_beta(parsed(beta, budget), names, finished, powers, budget)
        try:
            value = evaluate_least(beta, names, budget)
        except NotOneForm:
            return None
        return finished_value(value, finished)


def finished_value(value: Value, finished: Callable[[Form], Closed | None]) -> Least | None:
    """Return `value` with each form replaced by what `finished` returns for it.

    The result is None if `finished` returns None for any form.
    """
    arms = tuple(tuple(finished(form) for form in forms) for forms in value)
    known = tuple(tuple(arm for arm in forms if arm is not None) for forms in arms)
    return known if list(map(len, known)) == list(map(len, arms)) else None


def _normal_beta(
    tree: Expr, names: Mapping[str, Form], finished: Callable[[Form], Closed | None], powers: int, budget: Budget
) -> Enclosed | None:
    """Return the beta `tree`, a sum of products in which erfc may occur, or None if it has another form.

    Each product may have one factor erfc(√r·t) or erfc(√r), where r is a number. t is eps if `powers` is 0, and eps·A
    if it is 1, where A is the distance that the claim leaves open. `names` has the values of names. `finished` turns
    the other factors into a function of t; if it returns None for a product, the result is None. Charges its work to
    `budget`.
    """
    terms: list[tuple[Stars, Closed]] = []
    summands: list[tuple[str, Expr]] = []
    while isinstance(tree, Apply) and tree.op in ("+", "-"):
        summands.append((tree.op, tree.arguments[1]))
        tree = tree.arguments[0]
    try:
        for sign, summand in [*summands, ("+", tree)]:
            plain, arguments = _without_erfc(summand)
            weight = finished(evaluate(plain, names, budget))
            square = _square(arguments[0], names, powers, budget) if arguments else None
            if weight is None or weight[1] != ONE or len(arguments) > 1 or (arguments and square is None):
                return None
            value = Enclosed({(): (ONE, ONE)}) if square is None else complementary(square[0], fixed=not square[1])
            for stars, (numerator, below) in value.terms.items():
                scaled = multiply(times(weight[0], -1 if sign == "-" else 1), numerator, budget)
                if scaled:
                    terms.append((stars, (scaled, below)))
    except NotOneForm:
        return None
    result = sum_of(terms, budget)
    return result if isinstance(result, Enclosed) else None


def _without_erfc(tree: Expr) -> tuple[Expr, list[Expr]]:
    """Return the product `tree` with each erfc(x) replaced by 1, and the list of the arguments x."""
    match tree:
        case Apply("erfc", (argument,)):
            return Literal(Fraction(1)), [argument]
        case Apply("*" | "/" | "neg" as op, operands):
            factors = [_without_erfc(operand) for operand in operands]
            if op == "/" and factors[1][1]:
                raise NotOneForm
            return Apply(op, tuple(plain for plain, _ in factors)), [each for _, inner in factors for each in inner]
        case _:
            if mentions(tree, "erfc"):
                raise NotOneForm
            return tree, []


def _square(tree: Expr, names: Mapping[str, Form], distances: int, budget: Budget) -> tuple[Number, bool] | None:
    """Return (r, True) for √r·t and (r, False) for √r, where r >= 0; None for another expression `tree`.

    t is eps·A^`distances`, where A is the distance left open. `names` has the values of names. Charges its work to
    `budget`.
    """

    def plain(inner: Expr) -> tuple[Fraction, tuple[int, int]]:
        form = evaluate(inner, names, budget)
        if not form.numerator:
            return Fraction(0), (0, 0)
        if len(form.numerator) > 1 or form.denominator != ONE:
            raise NotOneForm
        ((growth, coefficient),) = form.numerator.items()
        if len(growth) > 1 or any(r for _, _, r in growth) or len(coefficient) > 1:
            raise NotOneForm
        (((k, q), c),) = coefficient.items()
        if q:
            raise NotOneForm
        return c, (k, growth[0][1] if growth else 0)

    try:
        number, (eps, distance) = monomial(tree, plain)
        if number.factor < 0 or [eps, distance] not in ([0, 0], [1, distances]):
            return None
        return number * number, bool(eps)
    except NotDerived:
        return None


def the_one_eps(intervals: Sequence[Interval]) -> Fraction | None:
    """Return the only eps in `intervals`, or None if there are several."""
    return intervals[0].lower if len(intervals) == 1 and intervals[0].is_point else None


#: The powers of a distance in base + rate·distance.
_LINEAR: tuple[Growth, Growth] = (FLAT, ((DISTANCE, 1, _ZERO),))


def linear(
    expression: str, names: Mapping[str, Form], eps: Fraction | None, budget: Budget
) -> tuple[Fraction, Fraction]:
    """Return (base, rate) for an `expression` whose value is base + rate·distance.

    The equation must hold for every eps, or at the given `eps`. The distance is the unknown among the values of
    `names`. Charges its work to `budget`. Raises Rejected for other expressions.
    """
    for known in _readings(names, eps):
        with suppress(NotOneForm):
            form = evaluate(expression, known, budget)
            rings = [form.numerator.get(key, {}) for key in _LINEAR]
            plain = form.denominator == ONE and not form.numerator.keys() - set(_LINEAR)
            if plain and not any(ring.keys() - {(0, Fraction(0))} for ring in rings):
                base, rate = (ring.get((0, Fraction(0)), Fraction(0)) for ring in rings)
                return base, rate
    raise Rejected(f"`{expression[:60]}` is not a number plus a multiple of the distance that is left open")


def _readings(names: Mapping[str, Form], eps: Fraction | None) -> list[Mapping[str, Form]]:
    return [names] if eps is None else [names, {**names, "eps": Form.number(eps)}]


def _distance(value: str) -> Fraction:
    distance = read.rational(value)
    if distance < 0:
        raise Rejected("a distance is negative")
    return distance


def _number(expression: str, names: Mapping[str, Form], eps: Fraction | None, budget: Budget) -> Fraction:
    value = None
    for known in _readings(names, eps):
        with suppress(NotOneForm):
            value = evaluate(expression, known, budget).constant() if value is None else value
    if value is None:
        raise Rejected(f"`{expression[:60]}` is not a number")
    if value < 0:
        raise Rejected(f"`{expression[:60]}` is negative")
    return value

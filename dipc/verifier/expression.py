"""The expressions of a claim, read and evaluated anew: + - * / ^, exp, min, max, abs, numbers, eps and names.

A value is the least of the greatest of some forms, [[a, b], [c]] for min(max(a, b), c). A form is a quotient of
exponential polynomials, whose numerator may also depend on a distance A that grows without bound:
Σ f_jr(eps)·A^j·e^{r·A·eps}.

Sums, exp and products with what is not negative are monotone, so they are taken form by form; max is distributed over
min, and the negative of a least is a greatest. What has no such value is no claim that is certified (NotOneForm).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from dipc.verifier.budget import Budget
from dipc.verifier.decay import positive_everywhere
from dipc.verifier.rejection import Rejected
from dipc.verifier.ring import ONE, Closed, Ring, add, constant, height, multiply, times

#: A^j·e^{r·A·eps} as (j, r).
Growth = tuple[int, Fraction]

FLAT: Growth = (0, Fraction(0))

MOST_CHARACTERS = 20_000
MOST_NESTING = 100
MOST_POWER = 1_000
MOST_DIGITS = 1_000

#: Forms of one value.
MOST_FORMS = 200

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_NAME = re.compile(r"[^\W\d]\w*")
_DIGITS = "0123456789"
#: Greek letters of claims, and what they stand for.
GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "ε": "eps"}


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


def evaluate(text: str, names: Mapping[str, Form], budget: Budget, step: str) -> Form:
    """The value of an expression; raises Rejected where it has none, NotOneForm where it is not one form."""
    return _single(_Parser(text, names, budget, step).whole())


def evaluate_least(text: str, names: Mapping[str, Form], budget: Budget, step: str) -> Value:
    """The value as the least of the greatest of some forms. NotOneForm for expressions that are none."""
    return _Parser(text, names, budget, step).whole()


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


def mentions(text: str, name: str) -> bool:
    """Whether an expression has this name in it."""
    return any(token == name or GREEK.get(token) == name for token in tokens(text[: MOST_CHARACTERS + 1]))


class _Parser:
    """Recursive descent that computes as it reads."""

    def __init__(self, text: str, names: Mapping[str, Form], budget: Budget, step: str) -> None:
        self._tokens = tokens(text)
        budget.spend(10 * len(self._tokens), step)
        self._at = 0
        self._depth = 0
        self._names = names
        self._budget = budget
        self._step = step

    def whole(self) -> Value:
        value = self._sum()
        if self._next():
            raise self._wrong(f"`{self._next()}` is not expected in an expression")
        return value

    def _wrong(self, why: str) -> Rejected:
        return Rejected(self._step, why)

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, *wanted: str) -> str:
        token = self._next()
        if token in wanted:
            self._at += 1
            return token
        return ""

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise self._wrong(f"`{token}` is expected in an expression, not `{self._next()[:40]}`")

    def _sum(self) -> Value:
        self._depth += 1
        if self._depth > MOST_NESTING:
            raise self._wrong("an expression is nested too deeply")
        value = self._product()
        while token := self._take("+", "-"):
            other = self._product()
            value = self._added(value, other if token == "+" else self._turned(other))  # noqa: S105 - no password
        self._depth -= 1
        return value

    def _product(self) -> Value:
        value = self._signed()
        while token := self._take("*", "/"):
            other = self._signed()
            value = self._multiplied(value, other) if token == "*" else self._divided(value, other)  # noqa: S105
        return value

    def _signed(self) -> Value:
        negative = False
        while self._take("-"):
            negative = not negative
        value = self._power()
        return self._turned(value) if negative else value

    def _power(self) -> Value:
        base = self._atom()
        if not self._take("^"):
            return base
        token = self._next()
        if not token.isascii() or not token.isdecimal() or len(token) > 4 or int(token) > MOST_POWER:
            raise self._wrong(f"the exponent of `^` is not one of 0, 1, ..., {MOST_POWER}")
        self._at += 1
        result = _of(Form.number(1))
        for _ in range(int(token)):
            self._budget.spend(5, self._step)
            result = self._multiplied(result, base)
        return result

    def _atom(self) -> Value:
        token = self._next()
        self._at += 1
        if token == "(":  # noqa: S105 - no password
            value = self._sum()
            self._expect(")")
            return value
        if token and token[0] in _DIGITS:
            return _of(Form.number(self._number(token)))
        name = GREEK.get(token, token) if token not in self._names else token
        if name == "eps" and name not in self._names:
            return _of(Form.of({(1, Fraction(0)): Fraction(1)}))
        if self._next() == "(" and name in ("exp", "min", "max", "abs"):
            return self._call(name)
        if name in self._names:
            return _of(self._names[name])
        raise self._wrong(f"`{token[:40]}` is not known in an expression" if token else "an expression ends too early")

    def _number(self, token: str) -> Fraction:
        mantissa, _, exponent = token.lower().partition("e")
        if len(mantissa) > MOST_DIGITS or len(exponent) > 6 or abs(int(exponent or 0)) > MOST_DIGITS:
            raise self._wrong("a number of an expression is too long")
        return Fraction(mantissa) * Fraction(10) ** int(exponent or 0)

    def _call(self, name: str) -> Value:
        self._expect("(")
        arguments = [self._sum()]
        while self._take(","):
            arguments.append(self._sum())
        self._expect(")")
        if name in ("exp", "abs") and len(arguments) != 1:
            raise self._wrong(f"{name} takes one argument")
        match name:
            case "exp":
                return _lattice([self._exponential(form) for form in part] for part in arguments[0])
            case "abs":
                return self._greatest([arguments[0], self._turned(arguments[0])])
            case "max":
                return self._greatest(arguments)
            case _:
                return _lattice(part for value in arguments for part in value)

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
        return multiply(left, right, self._budget, self._step)

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
            self._budget.spend(1 + len(other) + len(f), self._step, height(other) + height(f))
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


def tokens(text: str) -> list[str]:
    """The numbers, names and signs of an expression, one after the other."""
    found: list[str] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        match = _NUMBER.match(text, at) or _NAME.match(text, at)
        end = at + 1 if match is None else match.end()
        found.append(text[at:end])
        at = end
    return found

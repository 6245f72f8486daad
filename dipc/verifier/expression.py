"""The expressions of a claim, read and evaluated anew: + - * / ^, exp, min, max, abs, numbers, eps and names.

A value is a quotient of exponential polynomials, whose numerator may also depend on a distance A that grows without
bound: Σ f_jr(eps)·A^j·e^{r·A·eps}.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dipc.verifier.budget import Budget
from dipc.verifier.rejection import Rejected
from dipc.verifier.ring import ONE, Closed, Ring, add, constant, height, multiply, times

#: A^j·e^{r·A·eps} as (j, r).
Growth = tuple[int, Fraction]

FLAT: Growth = (0, Fraction(0))

MOST_CHARACTERS = 20_000
MOST_NESTING = 100
MOST_POWER = 1_000
MOST_DIGITS = 1_000

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


def evaluate(text: str, names: Mapping[str, Form], budget: Budget, step: str) -> Form:
    """The value of an expression; raises Rejected where it has none, NotOneForm where it is not of this kind."""
    if len(text) > MOST_CHARACTERS:
        raise Rejected(step, f"an expression of {len(text)} characters, more than {MOST_CHARACTERS}")
    return _Parser(text, names, budget, step).whole()


def evaluate_least(text: str, names: Mapping[str, Form], budget: Budget, step: str) -> list[list[Form]]:
    """The value as the least of the greatest of some: [[a, b], [c]] for `min(max(a, b), c)`; `abs(a)` is the greater of
    a and -a. NotOneForm for other expressions that are not one form."""
    try:
        return [[evaluate(text, names, budget, step)]]
    except NotOneForm:
        parts = [text] if tokens(text)[:1] != ["min"] else _arguments_of("min", text)
        return [_greatest(part, names, budget, step) for part in parts]


def _greatest(text: str, names: Mapping[str, Form], budget: Budget, step: str) -> list[Form]:
    """The values of the arguments of a `max`, the two of an `abs`, or the one value."""
    try:
        return [evaluate(text, names, budget, step)]
    except NotOneForm:
        if tokens(text)[0] == "max":
            return [evaluate(part, names, budget, step) for part in _arguments_of("max", text)]
        inner = _arguments_of("abs", text)
        if len(inner) != 1:
            raise
        value = evaluate(inner[0], names, budget, step)
        opposite = {growth: times(f, -1) for growth, f in value.numerator.items()}
        return [value, Form(opposite, value.denominator)]


def _arguments_of(function: str, text: str) -> list[str]:
    """The arguments of a well-formed expression that is a call of this function as a whole; NotOneForm for others."""
    listed = tokens(text)
    if listed[:2] != [function, "("]:
        raise NotOneForm
    depth, start, parts = 0, 2, []
    for at, token in enumerate(listed):
        depth += (token == "(") - (token == ")")  # noqa: S105 - no password
        if (token == "," and depth == 1) or (token == ")" and not depth):  # noqa: S105 - as above
            parts.append(" ".join(listed[start:at]))
            start = at + 1
        if not depth and 0 < at < len(listed) - 1:
            raise NotOneForm
    if depth:
        raise NotOneForm
    return parts


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

    def whole(self) -> Form:
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

    def _sum(self) -> Form:
        self._depth += 1
        if self._depth > MOST_NESTING:
            raise self._wrong("an expression is nested too deeply")
        value = self._product()
        while token := self._take("+", "-"):
            other = self._product()
            value = self._add(value, other if token == "+" else self._negated(other))  # noqa: S105 - no password
        self._depth -= 1
        return value

    def _product(self) -> Form:
        value = self._signed()
        while token := self._take("*", "/"):
            other = self._signed()
            value = self._times(value, other) if token == "*" else self._over(value, other)  # noqa: S105 - as above
        return value

    def _signed(self) -> Form:
        negative = False
        while self._take("-"):
            negative = not negative
        value = self._power()
        return self._negated(value) if negative else value

    def _power(self) -> Form:
        base = self._atom()
        if not self._take("^"):
            return base
        token = self._next()
        if not token.isascii() or not token.isdecimal() or len(token) > 4 or int(token) > MOST_POWER:
            raise self._wrong(f"the exponent of `^` is not one of 0, 1, ..., {MOST_POWER}")
        self._at += 1
        result = Form.number(1)
        for _ in range(int(token)):
            self._budget.spend(5, self._step)
            result = self._times(result, base)
        return result

    def _atom(self) -> Form:
        token = self._next()
        self._at += 1
        if token == "(":  # noqa: S105 - no password
            value = self._sum()
            self._expect(")")
            return value
        if token and token[0] in _DIGITS:
            return Form.number(self._number(token))
        name = GREEK.get(token, token) if token not in self._names else token
        if name == "eps" and name not in self._names:
            return Form.of({(1, Fraction(0)): Fraction(1)})
        if self._next() == "(" and name in ("exp", "min", "max", "abs"):
            return self._call(name)
        if name in self._names:
            return self._names[name]
        raise self._wrong(f"`{token[:40]}` is not known in an expression" if token else "an expression ends too early")

    def _number(self, token: str) -> Fraction:
        mantissa, _, exponent = token.lower().partition("e")
        if len(mantissa) > MOST_DIGITS or len(exponent) > 6 or abs(int(exponent or 0)) > MOST_DIGITS:
            raise self._wrong("a number of an expression is too long")
        return Fraction(mantissa) * Fraction(10) ** int(exponent or 0)

    def _call(self, name: str) -> Form:
        self._expect("(")
        arguments = [self._sum()]
        while self._take(","):
            arguments.append(self._sum())
        self._expect(")")
        if name == "exp":
            if len(arguments) != 1:
                raise self._wrong("exp takes one argument")
            return self._exponential(arguments[0])
        values = [argument.constant() for argument in arguments]
        numbers = [value for value in values if value is not None]
        if len(numbers) < len(values):
            raise NotOneForm
        if name == "abs" and len(numbers) != 1:
            raise self._wrong("abs takes one argument")
        choose: dict[str, Callable[[list[Fraction]], Fraction]] = {"min": min, "max": max}
        return Form.number(abs(numbers[0]) if name == "abs" else choose[name](numbers))

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

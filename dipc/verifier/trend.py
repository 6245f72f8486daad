"""Whether a claim expression never grows with its distances, whatever eps > 0 and the other names are.

What does not depend on the distances has a sign; sums, products, quotients, powers, exponentials, least and greatest
of what falls and rises are followed by the obvious rules. All of these are continuous in the distances.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from dipc.verifier.budget import Budget
from dipc.verifier.decay import positive_everywhere
from dipc.verifier.expression import GREEK, Form, NotOneForm, evaluate, tokens
from dipc.verifier.rejection import Rejected
from dipc.verifier.ring import Ring, times

#: Names of numbers that are not negative.
_DISTANCES = ("alpha", "gamma", "dd", "eps")


def never_grows(
    text: str, distances: frozenset[str], constants: Mapping[str, Fraction], budget: Budget, step: str
) -> bool:
    """True only if the well-formed expression is continuous in the `distances`, all of them at least 0, and does not
    grow with any of them, for every eps > 0. False says nothing."""
    reader = _Reader(tokens(text), distances, constants, budget, step)
    found = reader.sum()
    return reader.at == len(reader.tokens) and found.falls


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


class _Reader:
    def __init__(
        self,
        found: list[str],
        distances: frozenset[str],
        constants: Mapping[str, Fraction],
        budget: Budget,
        step: str,
    ) -> None:
        self.tokens = found
        self.at = 0
        self._distances = distances
        self._constants = constants
        self._budget = budget
        self._step = step

    def _next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self, *wanted: str) -> str:
        token = self._next()
        if token and token in wanted:
            self.at += 1
            return token
        return ""

    def sum(self) -> _Trend:
        start = self.at
        found = self._product()
        while token := self._take("+", "-"):
            other = self._product()
            found = found.plus(other if token == "+" else other.negated())  # noqa: S105 - no password
        return self._signed_by_value(found, start)

    def _product(self) -> _Trend:
        found = self._signed()
        while token := self._take("*", "/"):
            other = self._signed()
            if token == "/" and not (other.fixed and other.sign):  # noqa: S105 - as above
                other = _Trend(falls=other.fixed and found.fixed, rises=other.fixed and found.fixed, sign=0)
            found = found.times(other)
        return found

    def _signed(self) -> _Trend:
        negative = False
        while self._take("-"):
            negative = not negative
        found = self._power()
        return found.negated() if negative else found

    def _power(self) -> _Trend:
        base = self._atom()
        if not self._take("^"):
            return base
        exponent = int(self._next())
        self.at += 1
        found = _Trend(falls=True, rises=True, sign=1)
        if base.sign:
            # A product of n factors has the trend of one of them, or with an even n that of its absolute value.
            if exponent:
                found = base if exponent % 2 or base.sign > 0 else base.negated()
            return found
        return _Trend(base.fixed, base.fixed, 0 if exponent % 2 else 1)

    def _atom(self) -> _Trend:
        if self._take("("):
            found = self.sum()
            self._take(")")
            return found
        token = self._next()
        self.at += 1
        if self._take("("):
            inner = [self.sum()]
            while self._take(","):
                inner.append(self.sum())
            self._take(")")
            return self._called(token, inner)
        name = token if token in self._constants else GREEK.get(token, token)
        if name in self._constants:
            value = self._constants[name]
            return _Trend(falls=True, rises=True, sign=1 if value >= 0 else -1)
        known = name in _DISTANCES or token[:1].isdecimal()
        return _Trend(falls=name not in self._distances, rises=True, sign=int(known))

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

    def _signed_by_value(self, found: _Trend, start: int) -> _Trend:
        """What does not depend on a distance at all has the sign of its value."""
        if found.sign or not found.fixed:
            return found
        names = {name: Form.number(value) for name, value in self._constants.items()}
        text = " ".join(self.tokens[start : self.at])
        try:
            form = evaluate(text, names, self._budget, self._step)
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

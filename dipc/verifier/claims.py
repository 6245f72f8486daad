"""What is claimed at a row: alpha, beta and gamma from the claim's expressions, the row's own cells and dd."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

from dipc.verifier.budget import Budget
from dipc.verifier.expression import Form, NotOneForm, evaluate, evaluate_least, mentions
from dipc.verifier.reading import items, optional_text, rational, record, text
from dipc.verifier.rejection import Rejected
from dipc.verifier.ring import ONE, Closed

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
    def read(value: object, step: str) -> Interval:
        """Of a text such as `(0, 1/2]`."""
        match = _INTERVAL.fullmatch(text(value, step))
        if match is None:
            raise Rejected(step, "an interval is written like (0, inf) or [1/2, 3)")
        lower = rational(match[2], step)
        upper = None if match[3] == "inf" else rational(match[3], step)
        result = Interval(lower, upper, match[1] == "[", match[4] == "]")
        if upper is None:
            wrong = result.upper_closed
        else:
            wrong = upper < lower or (upper == lower and not (result.lower_closed and result.upper_closed))
        if wrong or (not lower and result.lower_closed):
            raise Rejected(step, "the interval is empty or not within (0, inf)")
        return result

    @property
    def is_point(self) -> bool:
        """Whether it is a single eps."""
        return self.lower == self.upper

    def __contains__(self, eps: Fraction) -> bool:
        above = eps > self.lower or (eps == self.lower and self.lower_closed)
        return above and (self.upper is None or eps < self.upper or (eps == self.upper and self.upper_closed))


#: The least of the greatest of some closed forms: ((a, b), (c,)) for min(max(a, b), c).
Least = tuple[tuple[Closed, ...], ...]

#: alpha (None: infinite), gamma, and beta, None where it is not of this kind.
Terms = tuple[Fraction | None, Fraction, Least | None]


@dataclass
class Claim:
    """The claim of a certificate; what is claimed at rows is computed once for equal cells."""

    alpha: str | None
    beta: str | None
    gamma: str | None
    intervals: tuple[Interval, ...]
    constants: Mapping[str, Fraction]
    known: dict[tuple[str | None, ...], Terms] = field(default_factory=dict)

    @staticmethod
    def read(value: object, constants: Mapping[str, Fraction]) -> Claim:
        """Of the document's `claim`."""
        step = "claim"
        stated = record(value, step, ("alpha", "beta", "gamma", "eps"))
        intervals = tuple(Interval.read(item, step) for item in items(stated["eps"], step, MOST_INTERVALS))
        if not intervals:
            raise Rejected(step, "it is about no eps")
        alpha, beta, gamma = (optional_text(stated[name], step) for name in ("alpha", "beta", "gamma"))
        return Claim(alpha, beta, gamma, intervals, constants)

    @property
    def one_eps(self) -> Fraction | None:
        """The eps that is claimed about, None where others are, too."""
        return the_one_eps(self.intervals)

    def terms(self, own: Mapping[str, str], dd: str | None, budget: Budget, step: str) -> Terms:
        """alpha, gamma and beta at a row with these cells of its own and this dd."""
        key = (own.get("alpha"), own.get("beta"), own.get("gamma"), dd)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self._terms(own, dd, budget, step)
        return found

    def range(
        self, own: Mapping[str, str], dd: str | None, ends: Sequence[str], budget: Budget, step: str
    ) -> tuple[Fraction | None, Least | None, bool]:
        """What is claimed for every gamma from the first of the ends up to the second, `inf` or not included: the
        greatest alpha that goes with one (None: infinity), the limit of beta as both grow, and whether nothing is."""
        low, high = _distance(ends[0], step), None if ends[1] == "inf" else _distance(ends[1], step)
        names = {name: Form.number(value) for name, value in self.constants.items()}
        limit: Fraction | None = None
        if dd is not None:
            names["dd"] = Form.infinite() if dd == "inf" else Form.number(_distance(dd, step))
            limit = None if dd == "inf" else _distance(dd, step)
        if "alpha" not in own and self.alpha is not None and mentions(self.alpha, "gamma"):
            base, rate = linear(self.alpha, {**names, "gamma": Form.infinite()}, self.one_eps, budget, f"{step}, alpha")
            if rate < 0:
                raise Rejected(step, "alpha falls as gamma grows")
            least = max(Fraction(0), base + rate * low)
            alpha: Fraction | None
            if rate:
                top = high
                if limit is not None:
                    top = (limit - base) / rate if high is None else min(high, (limit - base) / rate)
                vacuous = top is not None and top <= max(low, -base / rate)
                alpha = None if top is None else base + rate * top
            else:
                top, alpha, vacuous = high, base, limit is not None and limit < base
        else:
            alpha, top, least = self._alpha(own.get("alpha"), dd, names, budget, step), high, Fraction(0)
            vacuous = limit is not None and alpha is not None and limit < alpha
        if vacuous:
            alpha, top = least, low
        names["alpha"] = Form.infinite() if alpha is None else Form.number(alpha)
        names["gamma"] = Form.infinite() if top is None else Form.number(top)
        return alpha, self._beta(own, names, budget, step), vacuous

    def _terms(self, own: Mapping[str, str], dd: str | None, budget: Budget, step: str) -> Terms:
        names = {name: Form.number(value) for name, value in self.constants.items()}
        if dd is not None:
            names["dd"] = Form.infinite() if dd == "inf" else Form.number(_distance(dd, step))
        if self.alpha is not None and mentions(self.alpha, "gamma"):
            names["gamma"] = Form.number(self._gamma(own.get("gamma"), names, budget, step))
        alpha = self._alpha(own.get("alpha"), dd, names, budget, step)
        names["alpha"] = Form.infinite() if alpha is None else Form.number(alpha)
        gamma = self._gamma(own.get("gamma"), names, budget, step)
        names["gamma"] = Form.number(gamma)
        return alpha, gamma, self._beta(own, names, budget, step)

    def _beta(self, own: Mapping[str, str], names: Mapping[str, Form], budget: Budget, step: str) -> Least | None:
        beta = own.get("beta", self.beta)
        if beta is None:
            raise Rejected(step, "there is no beta")
        try:
            parts = evaluate_least(beta, names, budget, f"{step}, beta")
        except NotOneForm:
            return None
        limits = tuple(tuple(limit for arm in part if (limit := arm.limit()) is not None) for part in parts)
        whole = all(len(known) == len(part) for known, part in zip(limits, parts, strict=True))
        return limits if whole else None

    def _gamma(self, own: str | None, names: Mapping[str, Form], budget: Budget, step: str) -> Fraction:
        if own is not None:
            return _distance(own, step)
        return Fraction(0) if self.gamma is None else _number(self.gamma, names, self.one_eps, budget, f"{step}, gamma")

    def _alpha(
        self, own: str | None, dd: str | None, names: Mapping[str, Form], budget: Budget, step: str
    ) -> Fraction | None:
        stated = self.alpha if own is None else own
        if stated == "dd" or (stated is None and dd is not None):
            if dd is None:
                raise Rejected(step, "alpha is dd, but the row has none")
            return None if dd == "inf" else _distance(dd, step)
        if own is not None:
            return _distance(own, step)
        return Fraction(0) if stated is None else _number(stated, names, self.one_eps, budget, f"{step}, alpha")


def the_one_eps(intervals: Sequence[Interval]) -> Fraction | None:
    """The eps that the intervals are about, None where they are about several."""
    return intervals[0].lower if len(intervals) == 1 and intervals[0].is_point else None


#: The powers of a distance in base + rate·distance.
_LINEAR = ((0, Fraction(0)), (1, Fraction(0)))


def linear(
    expression: str, names: Mapping[str, Form], eps: Fraction | None, budget: Budget, step: str
) -> tuple[Fraction, Fraction]:
    """base and rate of an expression that is base + rate·distance, for the distance in the names that is infinite: for
    every eps, or at the one that is given."""
    for known in _readings(names, eps):
        with suppress(NotOneForm):
            form = evaluate(expression, known, budget, step)
            parts = [form.numerator.get(key, {}) for key in _LINEAR]
            plain = form.denominator == ONE and not form.numerator.keys() - set(_LINEAR)
            if plain and not any(part.keys() - {(0, Fraction(0))} for part in parts):
                base, rate = (part.get((0, Fraction(0)), Fraction(0)) for part in parts)
                return base, rate
    raise Rejected(step, "it is no multiple of the distance left open and a number")


def _readings(names: Mapping[str, Form], eps: Fraction | None) -> list[Mapping[str, Form]]:
    """What names stand for: with every eps, and then at the one that is given."""
    return [names] if eps is None else [names, {**names, "eps": Form.number(eps)}]


def _distance(value: str, step: str) -> Fraction:
    found = rational(value, step)
    if found < 0:
        raise Rejected(step, "a distance is negative")
    return found


def _number(expression: str, names: Mapping[str, Form], eps: Fraction | None, budget: Budget, step: str) -> Fraction:
    value = None
    for known in _readings(names, eps):
        with suppress(NotOneForm):
            value = evaluate(expression, known, budget, step).constant() if value is None else value
    if value is None:
        raise Rejected(step, "it is not a number")
    if value < 0:
        raise Rejected(step, "it is negative")
    return value

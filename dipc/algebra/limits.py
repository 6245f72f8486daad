"""Limits of exact work, the exceptions raised when one is reached, the meters that count work, and its cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, field, fields, replace
from operator import add, sub
from typing import TYPE_CHECKING, Any, TypeVar

from dipc.above import above
from dipc.frozen import frozen

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Numbers = TypeVar("_Numbers", bound="DataclassInstance")

# --- Limits, and the exceptions for work given up; these are never caught to be replaced by an approximation ----------


def _limit(most: int, bounds: str) -> int:
    """Declare a field of `Limits` with the default `most`.

    Messages describe the limited quantity with the words `bounds`, such as "states of the Markov chain".
    """
    value: int = field(default=most, metadata={"bounds": bounds})
    return value


@frozen
class Limits:
    """Bounds of the work for an answer, counted so that a verdict does not depend on the machine's speed.

    `LIMIT_NAMES` says what each field bounds: `states`, for example, bounds the "states of the Markov chain". If a
    limit is exceeded, the work ends with LimitReached, and the question is undecided. `--limit NAME=N` sets a limit.
    """

    states: int = _limit(100_000, "states of the Markov chain")
    values: int = _limit(60_000_000, "values that the states of the Markov chain hold together")
    terms: int = _limit(1_500_000, "terms of one closed form")
    integrand: int = _limit(100_000, "terms of one integrand or summand on the way to a closed form")
    steps: int = _limit(1_500_000_000, "elementary steps that the expansion of a closed form takes")
    trees: int = _limit(5_000, "orderings into which one event is split")
    cells: int = _limit(60_000, "cells into which the constraints of one event are split")
    classes: int = _limit(1_000, "residue classes into which one event over integers is split")
    intervals: int = _limit(20_000, "subdivisions of the interval of eps")
    bits: int = _limit(32_000, "bits of the numbers that decide a sign")
    degree: int = _limit(20_000, "degree of a polynomial that is split into square-free parts")
    power: int = _limit(500, "power of eps in a function whose sign is decided")
    order: int = _limit(20_000, "Taylor coefficients that may vanish at 0")
    monomials: int = _limit(2_000_000, "products of terms compared to put functions in order")
    rows: int = _limit(1_000_000, "inputs that are enumerated for one table")
    orbits: int = _limit(20_000, "classes into which inputs that can be exchanged for each other are sorted")
    combinations: int = _limit(1_000_000, "combinations of finite inputs that one input is compared with")
    parts: int = _limit(20_000, "convex sets of inputs that are searched for the nearest other answer")
    answers: int = _limit(20_000, "answers whose distances are looked up one by one")
    cases: int = _limit(10_000, "combinations of finite inputs in a question about every real input")
    branches: int = _limit(500, "cases into which inequalities over integers are split")
    iterations: int = _limit(40, "iterations of a loop about which a claim is proved for every number of iterations")
    heads: int = _limit(200, "states at the head of such a loop")
    paths: int = _limit(5_000, "paths between two states at the head of such a loop")
    moves: int = _limit(2_000, "integer moves of the inputs, for each of which an alignment is searched")
    vertices: int = _limit(4_096, "extreme moves of real inputs for which an alignment is searched")
    pieces: int = _limit(500, "pieces into which comparisons of inputs cut one class of inputs")

    def __post_init__(self) -> None:
        for name in LIMIT_NAMES:
            value = getattr(self, name)
            if not (isinstance(value, int) and value >= 0):
                message = f"the limit `{name}` is a natural number, and not {value!r:.40}"
                raise above("mistake").bad_input("E0809", message, f"write for example {name}=100000")


#: By the name of each limit, the quantity that it bounds.
LIMIT_NAMES: dict[str, str] = {each.name: each.metadata["bounds"] for each in fields(Limits)}


class Undecided(Exception):
    """Raised if the exact answer was not reached; `reason` is one sentence fit for a report."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NotApplicable(Exception):
    """Raised by a method of computing an answer if the method does not apply; the caller then tries another method."""


class LimitReached(Undecided):
    """Raised if the work exceeded a limit; `limit` names the field of `Limits`, and the reason ends with that name.

    `limit` is None for a bound that is not a field of `Limits`, such as the size of numbers that can be written out.
    `what` is the reason without the name.
    """

    def __init__(self, limit: str | None, what: str) -> None:
        assert limit is None or limit in LIMIT_NAMES, limit
        super().__init__(what if limit is None else f"{what} (limit `{limit}`)")
        self.limit = limit
        self.what = what

    def __reduce__(self) -> tuple[type[LimitReached], tuple[str | None, str]]:
        return type(self), (self.limit, self.what)


class OutsideFragment(Undecided):
    """Raised if the event or expression is of a kind that dipc does not measure exactly."""


class NoClosedForm(OutsideFragment):
    """Raised if a function of eps is not an exponential polynomial, but can be enclosed."""


# --- How much work one closed form may take: deterministic limits, so that a verdict does not depend on the machine ---

_WORD = 64
#: A term takes approximately as much memory as this many bits of its coefficient.
_TERM_BITS = 256
#: Steps to create one short term.
_ONE_BY_ONE = 200


def weight(bits: int) -> int:
    """The number of short terms that cost as much work as one term with a coefficient of `bits` bits."""
    return 1 + bits // _TERM_BITS


@dataclass(slots=True)
class Meter:
    """A counter of the work spent on one function, which raises LimitReached past the limits `terms` and `steps`.

    `steps` is the work so far. A step is a multiplication of machine words; approximately a hundred million take a
    second. A term with a long coefficient or long exponents is counted as several terms. Every method raises
    LimitReached, before the work if possible.
    """

    limits: Limits
    steps: int = 0

    def product(self, left: int, right: int, left_bits: int, right_bits: int) -> None:
        """Count the product of two functions with `left` and `right` terms.

        `left_bits` and `right_bits` are the bits of their coefficients.
        """
        self.spend(4 * left * right * (1 + left_bits // _WORD) * (1 + right_bits // _WORD))

    def expansion(self, terms: int, bits: int) -> None:
        """Count the work of creating `terms` terms one by one, with coefficients of `bits` bits."""
        self.spend(terms * (_ONE_BY_ONE + bits // 4))
        self.size(terms * weight(bits))

    def has_room(self, terms: int) -> bool:
        """True unless a function to be computed is likely to have more terms than the limit.

        `terms` is an upper bound of their number. Most functions have far fewer terms than their bound, so a quarter of
        the bound is compared with the limit.
        """
        return terms // 4 <= self.limits.terms

    def room(self, terms: int) -> None:
        """Raise LimitReached if a function to be computed is likely to have more terms than the limit.

        `terms` is an upper bound of their number; see `has_room`.
        """
        self.size(terms // 4)

    def size(self, terms: int) -> None:
        """Raise LimitReached if a computed function with `terms` terms is too long."""
        if terms > self.limits.terms:
            raise LimitReached(
                "terms",
                f"the closed form has more than {self.limits.terms} terms, where a term with long numbers counts as "
                "several; its expansion was stopped",
            )

    def spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > self.limits.steps:
            raise LimitReached(
                "steps",
                f"the closed form takes more than {self.limits.steps} elementary steps; its expansion was stopped",
            )


#: The work, in powers of a Taylor model times their bits, that counts as one interval. Most intervals take far less.
_WORK_OF_ONE = 3_000


class DecisionBudget:
    """A counter of the intervals into which one decision about a sign may cut eps, and the `limits` of that decision.

    `intervals` is the number of intervals left. Each method that counts or checks work raises LimitReached when a limit
    is exceeded.
    """

    __slots__ = ("intervals", "limits")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.intervals = limits.intervals

    def with_bits(self, bits: int) -> DecisionBudget:
        """A new budget with as many intervals as this one has left, and with numbers of at most `bits` bits."""
        limits = self.limits
        return DecisionBudget(
            replace(
                limits,
                bits=min(bits, limits.bits),
                intervals=min(max(self.intervals, 0), limits.intervals),
            )
        )

    def spend_interval(self, work: int = 0) -> None:
        """Subtract an interval from those left, and one more for each 3000 units of `work` spent on its sign.

        `work` is the size of the power series computed on the interval: the number of powers, times the bits of each.
        """
        self.intervals -= 1 + work // _WORK_OF_ONE
        if self.intervals < 0:
            raise LimitReached(
                "intervals",
                f"the sign could not be decided within {self.limits.intervals} subdivisions of the interval of eps",
            )

    def check_bits(self, bits: int) -> None:
        if bits > self.limits.bits:
            raise LimitReached(
                "bits",
                f"the sign could not be decided with numbers of {self.limits.bits} bits: "
                "two roots are very close to each other, or one has even multiplicity",
            )

    def check_degree(self, degree: int) -> None:
        if degree > self.limits.degree:
            raise LimitReached(
                "degree",
                f"a polynomial has degree {degree}, but only polynomials of degree at most {self.limits.degree} "
                "are split into square-free parts",
            )

    def check_power(self, power: int) -> None:
        if power > self.limits.power:
            raise LimitReached(
                "power",
                f"the function has a term with eps^{power}; signs are decided only up to eps^{self.limits.power}",
            )

    def check_taylor_terms(self, terms: int) -> None:
        if terms > self.limits.order:
            raise LimitReached(
                "order",
                f"the sign near eps = 0 was not found: the first {self.limits.order} Taylor coefficients "
                "of the function vanish there",
            )


# --- The cost of work -------------------------------------------------------------------------------------------------


@frozen
class Effort:
    """The cost of an answer: `seconds` in all, and the seconds of four stages; the numbers of three kinds of steps.

    The stages are reading the table (`table_seconds`), exploring chains (`chain_seconds`), measuring events
    (`measure_seconds`) and deciding signs (`sign_seconds`). The numbers are those of explorations of a chain
    (`explorations`), of measured events (`measures`) and of decided `obligations`.
    """

    seconds: float = 0.0
    table_seconds: float = 0.0
    chain_seconds: float = 0.0
    measure_seconds: float = 0.0
    sign_seconds: float = 0.0
    explorations: int = 0
    measures: int = 0
    obligations: int = 0

    def __add__(self, other: Effort) -> Effort:
        return field_by_field(add, self, other)

    def __sub__(self, other: Effort) -> Effort:
        return field_by_field(sub, self, other)


def field_by_field(operation: Callable[[Any, Any], Any], one: _Numbers, other: _Numbers) -> _Numbers:
    """Return the record of numbers whose fields are `operation` applied to those of `one` and `other`."""
    return type(one)(*map(operation, astuple(one), astuple(other)))

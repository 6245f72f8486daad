"""Half-spaces of inputs, and the consequences of several of them, as the certificate's answers prove them.

The checker solves no linear program. Each question about half-spaces has an answer in the certificate's `answers`,
under a key computed from the question. An answer is checked by adding up and by substituting:

- *no point satisfies all of them* is proved by multipliers >= 0 (Farkas): the weighted half-spaces add up to 0 >= c for
  a c > 0, or to 0 > 0;
- *some point satisfies all of them* is proved by such a point;
- *this point minimizes a form* is proved by multipliers that show that no point has a lower value. For integer
  variables there is a tree of cases x <= k and x >= k + 1, each with multipliers of its own.

The key only finds the answer: a wrong answer is rejected, and a missing one leaves the question open.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dipc.verifier import reading as read
from dipc.verifier.functions import connected
from dipc.verifier.reading import Budget, NotDerived, Rejected, WrongAnswer

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The coefficients of a sum by variable.
Linear = Mapping[int, Fraction]

#: The number of the open distance among inputs, which have the numbers of their slots, from 0 on.
ALPHA = -2

#: The most cases of one question about integers.
MOST_CASES = 10_000


@dataclass(frozen=True)
class Guard:
    """The half-space Σ form + constant >= 0, or > 0 if it is `strict`, of points (a number for each variable).

    `form` has pairs (variable, coefficient), sorted. A variable is the slot of an input, or ALPHA for the distance.
    Cells share their guards, so the hash and the text of a guard are computed once.
    """

    form: tuple[tuple[int, Fraction], ...]
    constant: Fraction
    strict: bool

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.form, self.constant, self.strict))

    @cached_property
    def text(self) -> str:
        """The text of the guard in the description of a question, from which the key of the answer is computed."""
        return f"{' '.join([f'{i}:{c}' for i, c in self.form])} {self.constant}{'>' if self.strict else ''}"

    @cached_property
    def variables(self) -> frozenset[int]:
        """The variables of the form, including ALPHA."""
        return frozenset([i for i, _ in self.form])

    def opposite(self) -> Guard:
        """Return the opposite guard, which holds exactly where this one fails."""
        return Guard(tuple((i, -c) for i, c in self.form), -self.constant, not self.strict)

    def value_at(self, point: Mapping[int, Fraction]) -> Fraction:
        """Return the value of Σ form + constant at `point`, with 0 for variables that `point` does not name."""
        total = self.constant
        for i, c in self.form:
            value = point.get(i, _ZERO)
            if value:
                total += value if c == 1 else c * value
        return total

    def renamed(self, numbers: Mapping[int, int]) -> Guard:
        """Return the guard with new indices of variables, given by `numbers`.

        Variables that are not listed keep their indices.
        """
        return Guard(tuple(sorted((numbers.get(i, i), c) for i, c in self.form)), self.constant, self.strict)

    @property
    def inputs(self) -> dict[int, Fraction]:
        """The coefficients of the form by variable, without that of ALPHA."""
        return {i: c for i, c in self.form if i != ALPHA}

    @property
    def step(self) -> Fraction:
        """The distance by which the half-space moves inwards as alpha grows by 1: minus the coefficient of ALPHA."""
        return -next((c for i, c in self.form if i == ALPHA), _ZERO)

    def holds(self, point: Mapping[int, Fraction]) -> bool:
        """True if the guard holds at `point`."""
        value = self.value_at(point)
        return value > 0 or (not value and not self.strict)


def contradictory(guards: Sequence[Guard], budget: Budget) -> bool:
    """True only if no rational point satisfies all `guards`. False proves nothing.

    A strict guard does not hold on its boundary. Charges its work to `budget`.
    """
    return _shown_empty(Question(tuple(guards), exact=False), budget) is True


def is_empty(guards: Sequence[Guard], budget: Budget) -> bool:
    """True if no rational point satisfies all `guards`; False if some point does.

    A strict guard does not hold on its boundary. Charges its work to `budget`. Raises NotDerived if the certificate
    does not answer the question.
    """
    empty = _shown_empty(Question(tuple(guards)), budget)
    if empty is None:
        raise NotDerived("the certificate does not say whether some half-spaces meet")
    return empty


def implied(guards: Sequence[Guard], form: Linear, constant: Fraction, budget: Budget) -> bool:
    """True only if Σ `form` + `constant` >= 0 wherever all `guards` hold. False proves nothing.

    Charges its work to `budget`.
    """
    positive = Guard(tuple(sorted((i, c) for i, c in form.items() if c)), constant, strict=False)
    return positive in guards or contradictory((*guards, positive.opposite()), budget)


def least(objective: Linear, guards: Sequence[Guard], whole: frozenset[int], budget: Budget) -> Fraction | None:
    """Return the least value of `objective` where all `guards` hold and the variables in `whole` are integers.

    Return None if no point satisfies the guards. No guard may be strict. The proof of the value is the answer that the
    certificate has for this linear program. Charges its work to `budget`. Raises NotDerived if there is no answer.
    """
    wanted = Guard(tuple(sorted(objective.items())), _ZERO, strict=False)
    data = _stated_answer(Question(tuple(guards), wanted, whole), budget)
    if data is None:
        raise NotDerived("the certificate does not say how near some half-spaces are")
    with answers_count():
        point, cases = read.fields(data, {"point": read.nullable(a_point), "cases": read.anything})
        if point is None:
            _require_none(cases, guards, whole, budget)
            return None
        if any(i in whole and x.denominator != 1 for i, x in point.items()):
            raise Rejected("the nearest point does not have integer coordinates")
        if not all(guard.holds(point) for guard in guards):
            raise Rejected("the nearest point does not satisfy the half-spaces")
        value = wanted.value_at(point)
        less = Guard(tuple((i, -c) for i, c in wanted.form), value, strict=True)
        _require_none(cases, (*guards, less), whole, budget)
        return value


def _require_none(data: object, guards: Sequence[Guard], whole: frozenset[int], budget: Budget) -> None:
    """Raise Rejected unless the tree of cases `data` proves that no point satisfies all `guards`.

    Variables in `whole` are integers. Charges its work to `budget`.
    """
    waiting: list[tuple[object, tuple[Guard, ...]]] = [(data, ())]
    for _ in range(MOST_CASES):
        if not waiting:
            return
        case, bounds = waiting.pop()
        if isinstance(case, list):
            if not _refuted((*guards, *bounds), case, budget):
                raise Rejected("the multipliers do not prove that no point is nearer")
            continue
        variable, most, below, above = read.fields(
            case, {"variable": read.natural, "most": read.rational, "below": read.anything, "above": read.anything}
        )
        if variable not in whole or most.denominator != 1:
            raise Rejected("the cases do not split the values of an integer")
        waiting += [
            (below, (*bounds, Guard(((variable, -_ONE),), most, strict=False))),
            (above, (*bounds, Guard(((variable, _ONE),), -most - 1, strict=False))),
        ]
    raise Rejected("the search for integers takes too many cases")


def read_guard(value: object) -> Guard:
    """Read a half-space of inputs and alpha from its JSON `value`. Raises Rejected if it is malformed."""
    form, constant, strict = read.fields(value, {"form": a_point, "constant": read.rational, "strict": read.boolean})
    return Guard(tuple(sorted((i, c) for i, c in form.items() if c)), constant, strict)


def a_point(value: object) -> dict[int, Fraction]:
    """Read a point from its JSON `value`: a rational for each listed variable. Raises Rejected if it is malformed.

    Inputs have natural indices, alpha and other unknowns negative ones.
    """
    return read.coefficients(value, any_number=True)


def grouped(guards: Iterable[Guard]) -> list[list[Guard]]:
    """Group `guards` so that two guards are in one group if they share variables, directly or through other guards."""
    return [members for _, members in connected(guards, lambda guard: (i for i, _ in guard.form))]


# --- answers ------------------------------------------------------------------------------------------


def key_of(words: Iterable[str]) -> str:
    """Return a hash of `words`, the description of a question, as its key."""
    return hashlib.sha256("\n".join(words).encode("utf-8")).hexdigest()[:20]


@dataclass(frozen=True, slots=True)
class Question:
    """A question about points that satisfy all `guards`: whether they exist, or how small a form can be at such points.

    If `wanted` is not None, the question is about the least value of its form, with integers for the variables in
    `whole`. If `exact` is false, an answer is needed only if no point satisfies the guards.
    """

    guards: tuple[Guard, ...]
    wanted: Guard | None = None
    whole: frozenset[int] = frozenset()
    exact: bool = True

    @property
    def key(self) -> str:
        """The key of the answer in the certificate."""
        wanted = "None" if self.wanted is None else self.wanted.text
        return key_of([*[guard.text for guard in self.guards], wanted, " ".join(map(str, sorted(self.whole)))])


@contextmanager
def answers_count() -> Iterator[None]:
    """A context manager that turns Rejected into WrongAnswer, because a wrong answer rejects the whole certificate."""
    try:
        yield
    except Rejected as error:
        raise WrongAnswer(error.why, *error.steps) from None


def _stated_answer(question: Question, budget: Budget) -> object:
    budget.spend(20 + 10 * sum(1 + len(guard.form) for guard in question.guards))
    return budget.answers.find(question.key, question)


def _shown_empty(question: Question, budget: Budget) -> bool | None:
    """Return whether no point satisfies the guards of `question`; None if the certificate has no answer.

    Charges its work to `budget`. Raises WrongAnswer if the answer shows neither.
    """
    guards, data = question.guards, _stated_answer(question, budget)
    if data is None:
        return None
    with answers_count():
        match data:
            case {"none": weights, **rest} if not rest:
                if not _refuted(guards, weights, budget):
                    raise Rejected("the multipliers do not show that the half-spaces do not meet")
                return True
            case {"point": given, **rest} if not rest:
                point = a_point(given)
                if not all(guard.holds(point) for guard in guards):
                    raise Rejected("a point is outside the half-spaces that it is said to lie in")
                return False
            case _:
                raise Rejected("an answer about half-spaces must be a point or multipliers")


def _refuted(guards: Sequence[Guard], value: object, budget: Budget) -> bool:
    total = weighted(guards, value, budget)
    return not total.form and (total.constant < 0 or (not total.constant and total.strict))


def weighted(guards: Sequence[Guard], value: object, budget: Budget) -> Guard:
    """Return Σ weight·guard for the weights that `value` states by index in `guards`.

    The sum holds wherever all `guards` hold. Raises Rejected if a weight is negative, or refers to no guard. Charges
    its work to `budget`.
    """
    total: dict[int, Fraction] = {}
    constant, strict = _ZERO, False
    for place, weight in read.coefficients(value).items():
        if place >= len(guards):
            raise Rejected("a multiplier refers to a half-space that does not exist")
        if weight < 0:
            raise Rejected("a multiplier is negative")
        guard = guards[place]
        budget.spend(2 + 2 * len(guard.form))
        for i, c in guard.form:
            total[i] = total.get(i, _ZERO) + weight * c
        constant += weight * guard.constant
        strict = strict or (guard.strict and weight > 0)
    return Guard(tuple(sorted((i, c) for i, c in total.items() if c)), constant, strict)

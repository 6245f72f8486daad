"""What a certificate answers about half-spaces: the checker's steps are taken, and each question that they ask is
solved and written down, with the multipliers or the point that it takes to see that the answer is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

from dipc.algebra.limits import Undecided
from dipc.certificate.cells import division
from dipc.certificate.data import rational
from dipc.certificate.neighbourhoods import neighbourhood
from dipc.linear.halfspace import Halfspace, sorted_terms
from dipc.linear.program import (
    Infeasible,
    Least,
    contradiction,
    integer_minimum,
    integer_solution,
    minimum,
    solution,
)
from dipc.verifier.document import ask, document_of
from dipc.verifier.inputs import Divided
from dipc.verifier.linear import Guard, Question
from dipc.verifier.reading import DERIVATION_ENDS, Answers, Budget, WrongAnswer
from dipc.verifier.surroundings import Neighbourhood

#: Cases of one question about integers, as many as branch and bound may look at.
_MOST_CASES = 400


class Solved(Answers):
    """Answers that are found when they are asked for, and kept in `stated`."""

    def __init__(self) -> None:
        super().__init__({})
        self.stated: dict[str, Any] = {}
        self._unanswered: set[tuple[str, bool]] = set()

    def to(self, key: str, question: object) -> object:
        assert isinstance(question, Question | Divided | Neighbourhood), "nothing else is asked"
        asked = key, not isinstance(question, Question) or question.exact
        if key not in self.stated and asked not in self._unanswered:
            try:
                answer = _answer(question)
            except Undecided:
                answer = None
            if answer is None:
                self._unanswered.add(asked)
            else:
                self.stated[key] = answer
        return self.stated.get(key)


def with_answers(data: dict[str, Any]) -> dict[str, Any]:
    """A document with the answers to all that its steps ask, as far as these are taken."""
    solved = Solved()
    # What is wrong or takes too much is said when it is checked.
    with suppress(WrongAnswer, *DERIVATION_ENDS):
        ask(document_of(data), Budget(answers=solved))
    return {**data, "answers": solved.stated}


def _answer(question: Question | Divided | Neighbourhood) -> dict[str, Any] | None:
    """Raises Undecided."""
    if isinstance(question, Divided):
        return division(question)
    if isinstance(question, Neighbourhood):
        return neighbourhood(question)
    return _about_points(question) if question.wanted is None else _least(question, question.wanted)


def _about_points(question: Question) -> dict[str, Any] | None:
    """A point of the half-spaces, where it is asked for, or multipliers that show that there is none."""
    point = solution(list(map(_halfspace, question.guards)))
    if isinstance(point, Infeasible):
        return {"none": _numbers(point.weights)}
    return {"point": _numbers(point)} if question.exact else None


def _least(question: Question, wanted: Guard) -> dict[str, Any] | None:
    """A point at which the form is least, and why it is nowhere less. None where that is not found."""
    system, form = list(map(_halfspace, question.guards)), _halfspace(wanted)
    if question.whole:
        nearest = None
        if integer_solution(system, question.whole, _MOST_CASES) is not None:
            nearest = integer_minimum(form, system, question.whole, _MOST_CASES)
        point = None if nearest is None else nearest[1]
    else:
        least = minimum(form, system)
        point = least.point if isinstance(least, Least) else None
    if point is not None:
        smaller = tuple([(i, -c) for i, c in form.coefficients])
        system.append(Halfspace(smaller, form.value({**dict.fromkeys(dict(smaller), Fraction(0)), **point}), True))
    return {"point": None if point is None else _numbers(point), "cases": _cases(form, system, question.whole)}


def _cases(form: Halfspace, system: Sequence[Halfspace], whole: frozenset[int]) -> Any:
    """The multipliers that show that no integers satisfy the system, case by case. Raises Undecided."""
    left = _MOST_CASES

    def shown(bounds: tuple[Halfspace, ...]) -> Any:
        nonlocal left
        left -= 1
        if not left:
            raise Undecided("integers are looked for in too many places")
        here = [*system, *bounds]
        weights = contradiction(here)
        if weights is not None:
            return _numbers(weights)
        least = minimum(form, here)
        assert isinstance(least, Least), "the form is bounded"
        broken = next((i for i in sorted(whole) if least.point.get(i, Fraction(0)).denominator != 1), None)
        if broken is None:
            raise Undecided("a case of integers has a point on its edge")
        most = Fraction(least.point[broken].numerator // least.point[broken].denominator)
        below, above = Halfspace(((broken, Fraction(-1)),), most), Halfspace(((broken, Fraction(1)),), -most - 1)
        return {
            "variable": broken,
            "most": rational(most),
            "below": shown((*bounds, below)),
            "above": shown((*bounds, above)),
        }

    return shown(())


def _halfspace(guard: Guard) -> Halfspace:
    return Halfspace(sorted_terms(dict(guard.form)), guard.constant, guard.strict)


def _numbers(numbers: Mapping[int, Fraction]) -> list[list[Any]]:
    return [[place, rational(number)] for place, number in sorted(numbers.items()) if number]

"""Independent runs of one program, or of several, on the same pair of inputs: the law of all their outputs together.

What comes out in which order says nothing about the input, so that an answer is how often each output occurred: for k
runs and outputs with probabilities p_1, …, p_n at an input the counts k_1 + … + k_n = k have the multinomial
probability k!/(k_1!·…·k_n!)·Π p_i^{k_i}. The privacy loss of an answer is the sum of those of its runs: the k-fold
convolution of the privacy loss distribution, atom by atom. Outputs that are as likely as each other at every input
are one.

Runs that choose what to ask by what came out before are the program that contains both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import comb, factorial, prod

from dipc.algebra.exppoly import Closed, ExpPoly, product
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment
from dipc.questions.privacy.constant import LossBounds
from dipc.questions.privacy.loss import LawTable, Numbering


def composed(table: LawTable, runs: int, limits: Limits) -> LawTable:
    """The laws of so many runs. Raises Undecided where a probability has no closed form, and past the limit of
    answers."""
    if table.is_enclosed:
        raise OutsideFragment("probabilities of these runs have no closed form to be multiplied")
    kinds = _kinds(table)
    count = comb(runs + len(kinds) - 1, runs)
    if count > limits.answers:
        raise LimitReached("answers", f"{runs} runs have {count} different answers")
    every = list(_counts(runs, len(kinds)))
    rows = []
    for place in range(len(table.rows)):
        single = [table.closed(numbered[place]) * len(answers) for numbered, answers in kinds]
        powers = [[ExpPoly.one(), *[product([p] * k) for k in range(1, runs + 1)]] for p in single]
        row = []
        for counts in every:
            ways = factorial(runs) // prod(map(factorial, counts))
            row.append(product([powers[at][k] for at, k in enumerate(counts) if k]) * ways)
        rows.append(row)
    names = [_names(table, answers) for _, answers in kinds]
    said = [", ".join(f"{k} of ({name})" for name, k in zip(names, counts, strict=True) if k) for counts in every]
    return _table("runs", said, rows)


def together(tables: Sequence[LawTable], limits: Limits) -> LawTable:
    """The laws of independent runs of several programs, one after the other, at the same inputs. Raises as `composed`
    does."""
    result, *others = tables
    for other in others:
        if result.is_enclosed or other.is_enclosed:
            raise OutsideFragment("probabilities of these runs have no closed form to be multiplied")
        left, right = _kinds(result), _kinds(other)
        if len(left) * len(right) > limits.answers:
            raise LimitReached("answers", f"the runs have {len(left) * len(right)} different answers")
        pairs = [(one, two) for one in left for two in right]
        rows = [
            [
                result.closed(one[0][place]) * len(one[1]) * other.closed(two[0][place]) * len(two[1])
                for one, two in pairs
            ]
            for place in range(len(result.rows))
        ]
        said = [f"({_names(result, one[1])}), ({_names(other, two[1])})" for one, two in pairs]
        result = _table("runs", said, rows)
    return result


#: The numbers of an answer's probabilities at the inputs, with all answers that have these.
_Kind = tuple[tuple[int, ...], list[int]]


def _kinds(table: LawTable) -> list[_Kind]:
    alike: dict[tuple[int, ...], list[int]] = {}
    for answer in range(len(table.answers)):
        alike.setdefault(tuple([row[answer] for row in table.rows]), []).append(answer)
    return list(alike.items())


def _table(name: str, said: Sequence[str], rows: Sequence[Sequence[Closed]]) -> LawTable:
    """The table of these probabilities, equal ones under one number."""
    numbering = Numbering()
    numbered = [tuple([numbering.of(value) for value in row]) for row in rows]
    return LawTable((name,), tuple([(each,) for each in said]), tuple(numbering.forms), tuple(numbered))


def _counts(runs: int, kinds: int) -> Iterator[tuple[int, ...]]:
    """All numbers of occurrences of so many kinds that add up to the runs."""
    if kinds == 1:
        yield (runs,)
        return
    for first in range(runs, -1, -1):
        for rest in _counts(runs - first, kinds - 1):
            yield (first, *rest)


def _names(table: LawTable, answers: Sequence[int]) -> str:
    return " or ".join(_said(table, answer) for answer in answers)


def _said(table: LawTable, answer: int) -> str:
    if table.names == ("runs",):
        return str(table.answers[answer][0])
    return ", ".join(f"{name} = {value}" for name, value in table.texts(answer).items())


def bounds_of_runs(bounds: LossBounds, runs: int) -> LossBounds:
    """What is known of so many runs from what is of one: losses add up, and at one output of all runs they do."""
    candidates = tuple(
        replace(each, first=product([each.first] * runs), second=product([each.second] * runs))
        for each in bounds.candidates
    )
    unbounded = None if bounds.unbounded is None else candidates[bounds.candidates.index(bounds.unbounded)]
    return LossBounds(None if bounds.proved is None else bounds.proved * runs, bounds.reason, candidates, unbounded)

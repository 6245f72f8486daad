"""Finite inputs of programs that make one random choice: one row for all inputs with one probability and one dd(u).

The probability of the right answer is the sum of the probabilities of the options that lead to it. For an exponential
mechanism, the probability of an option is e^(rate·eps·score), divided by the sum of these powers over all options.
Neither another order of the options nor a number added to all scores changes the probability of the right answer. So
inputs have equal probabilities if the scores of the right and of the wrong options are equal as multisets, after the
greatest score is subtracted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm

from dipc.algebra.limits import NotApplicable
from dipc.chain.flow import analyze
from dipc.program.grid import law_of_choice, members
from dipc.program.ideal import Ideal
from dipc.program.inputs import FiniteInputs
from dipc.program.program import Program
from dipc.questions.symmetry import AlikeInputs

#: Classes are formed from this many inputs on, and if there are so many times as many inputs as classes.
LEAST_INPUTS, LEAST_SAVED = 5_000, 4


def choice_classes(program: Program, inputs: FiniteInputs) -> tuple[AlikeInputs, ...] | None:
    """Return classes of `inputs` with equal answers, equal dd(u) and equal probabilities, for one random choice.

    Each class is given by one of its inputs. The result is None if `program` does not make exactly one random choice,
    if det is undefined at some input, or if there are too few inputs or too many classes to save time.
    """
    core = program.core
    if inputs.count < LEAST_INPUTS or any(slot.is_symbolic for slot in (*core.input_slots, *core.output_slots)):
        return None
    if core.ideal is None or not core.has_product_distance or program.expected_quantity is not None:
        return None
    ideal = Ideal(program)
    if not ideal.metric.is_plain or ideal.everywhere is None:
        return None
    try:
        law = law_of_choice(analyze(core), ideal.grid, ideal.everywhere)
    except NotApplicable:
        return None
    distances = ideal.distances(ideal.metric.norm)
    if law is None or distances is None:
        return None
    size = ideal.grid.size
    answers = list(ideal.everywhere)
    columns: list[Sequence[int]] = [_column(size, enumerate(ideal.everywhere.values())), distances.level_of]
    whole = 1
    if law.scores is not None:
        scores = {value for each in law.scores for value in each if isinstance(value, Fraction)}
        whole = lcm(*[score.denominator for score in scores])
    for place, right in enumerate(law.accepted):
        own = {Fraction(0): ideal.grid.everything} if law.scores is None else law.scores[place]
        ranks = ((2 * int(value * whole), there) for value, there in own.items() if isinstance(value, Fraction))
        column = _column(size, ranks)
        for number in members(right):
            column[number] += 1
        columns.append(column)
    known: dict[tuple[int, ...], tuple[int, ...]] = {}
    counts: dict[tuple[int, ...], list[int]] = {}
    grid = ideal.grid
    every = list(zip(*columns, strict=True))
    for number in range(size) if inputs.count == size else map(grid.number, inputs):
        row = every[number]
        key = known.get(row)
        if key is None:
            key = known[row] = _key(row, is_exponential=law.scores is not None)
        counted = counts.get(key)
        if counted is None:
            counts[key] = [number, 1]
        else:
            counted[1] += 1
    if len(counts) * LEAST_SAVED > inputs.count:
        return None
    classes = []
    for number, count in counts.values():
        member = grid.member(number)
        classes.append(AlikeInputs(member, answers[columns[0][number]], distances.dd(member), count))
    return tuple(classes)


def _column(size: int, sets: Iterable[tuple[int, int]]) -> list[int]:
    """Return, for each of `size` inputs, the number whose set of inputs contains this input.

    `sets` are the pairs (number, set of inputs). A set is an integer whose bits are the inputs.
    """
    column = [0] * size
    for value, there in sets:
        for number in members(there):
            column[number] = value
    return column


def _key(row: tuple[int, ...], *, is_exponential: bool) -> tuple[int, ...]:
    """Return a key that is equal for two inputs only if their answers, dd(u) and probabilities are equal.

    `row` starts with (number of the answer, rank of dd(u)). Then it has one number for each option of the choice: twice
    the option's score, plus 1 if the option leads to the right answer. `is_exponential` says that an option's
    probability is proportional to an exponential of its score. The key then ignores the order of the options, and a
    number that is added to all scores.
    """
    answer, level, *options = row
    if not is_exponential:
        return row
    greatest = max(options) // 2
    return (answer, level, *sorted([rank - 2 * greatest for rank in options]))

"""The distance d of inputs, and which answers of det count as another one: what dd(u) is made of."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from dipc.chain.affine import Affine
from dipc.chain.answers import Answer, same_value
from dipc.ideal.norm import Norm
from dipc.lang.ast import CompareOp
from dipc.lang.core import IntType
from dipc.lang.core_program import CoreProgram
from dipc.lang.metric import CoreMetric
from dipc.metric.formula import Formula, Whole, compared, every, opposite, some
from dipc.metric.nearness import joined, output_positions


class Metric:
    """d of one program (section 2 of the paper): that of its `metric` block, by default the largest coordinate.

    Inputs are given by slot, as values or, where they are real or int, as forms; answers in the order of the outputs.
    `whole` says which forms are about ints; by default those over int inputs of the program.
    """

    def __init__(self, program: CoreProgram) -> None:
        self.core = program.metric or CoreMetric()
        self.norm = Norm(self.core.input)
        self._program = program
        self._outputs = output_positions(program)

    @property
    def is_plain(self) -> bool:
        """Whether no formula affects dd(u): no inputs are apart, and only equal answers are the same."""
        return self.core.apart is None and self.core.same is None

    def apart(
        self,
        inputs: Mapping[int, Answer],
        others: Mapping[int, Answer],
        whole: Whole | None = None,
        among: Collection[int] | None = None,
    ) -> Formula:
        """Where the two inputs are infinitely far apart, by some of the conditions `among` those of the block (by
        default all). Raises DiagnosticError for an index out of range."""
        formula = self.core.apart
        if formula is None:
            return False
        if among is not None:
            formula = replace(formula, conditions=tuple(formula.conditions[at] for at in sorted(among)))
        values = [(others if place.primed else inputs)[place.slot] for place in formula.places]
        return some(joined(self._program, formula, values, inputs, whole or self.is_whole))

    def differ(
        self,
        inputs: Mapping[int, Answer],
        answer: Sequence[Answer],
        other: Sequence[Answer],
        whole: Whole | None = None,
    ) -> Formula:
        """Where `other`, which det gives elsewhere, is another answer than `answer`, which it gives at `inputs`."""
        formula = self.core.same
        if formula is None:
            return some(self._unequal(one, two, whole or self.is_whole) for one, two in zip(answer, other, strict=True))
        values: list[Answer] = []
        for place in formula.places:
            at = self._outputs.get(place.slot)
            # In the formula, what det gives elsewhere takes the place of the program's answer.
            values.append(inputs[place.slot] if at is None else (answer if place.primed else other)[at])
        return opposite(every(joined(self._program, formula, values, inputs, whole or self.is_whole)))

    def is_whole(self, form: Affine) -> bool:
        """Whether a form is about ints."""
        return isinstance(self._program.slots[form.inputs[0][0]].type, IntType)

    def _unequal(self, one: Answer, two: Answer, whole: Whole) -> Formula:
        if isinstance(one, Affine) or isinstance(two, Affine):
            return compared(_form(one) - _form(two), CompareOp.NE, whole)
        return not same_value(one, two)


def _form(value: Answer) -> Affine:
    if isinstance(value, Affine):
        return value
    assert not isinstance(value, str | bool)
    return Affine.number(value)

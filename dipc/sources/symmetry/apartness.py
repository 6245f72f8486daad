"""Which exchanges of inputs leave the condition `apart` of a metric as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from dipc.chain.affine import Affine
from dipc.chain.answers import Answer
from dipc.chain.constraints import Constraint
from dipc.ideal.ideal import Ideal
from dipc.lang.core import IntType
from dipc.linear.halfspace import Halfspace
from dipc.metric.formula import Every, Formula, Some
from dipc.sources.symmetry.structure import Renaming, guard_of, renamed_guard

#: A formula whose parts have no order.
_Key = Halfspace | bool | tuple[str, frozenset["_Key"]]


@dataclass(frozen=True, slots=True)
class Apartness:
    """Where two inputs u and u' are infinitely far apart; input slot s of u' has the number s + shift."""

    formula: Formula
    shift: int

    def mentions(self) -> set[int]:
        """The input slots that it depends on, in u or in u'."""
        return {slot % self.shift for item in _constraints(self.formula) for slot, _ in item.form.inputs}

    def allows(self, names: Renaming) -> bool:
        """True only if the formula stays the same when the inputs are renamed in u and in u' alike."""
        both = {**names, **{slot + self.shift: other + self.shift for slot, other in names.items()}}
        return _key(self.formula, both) == _key(self.formula, {})


def apartness(ideal: Ideal) -> Apartness | None:
    """The condition of a program whose inputs are all real or int; None where its metric has none.

    Raises DiagnosticError where it has no value, such as for an index out of range.
    """
    metric = ideal.metric
    if metric.core.apart is None:
        return None
    slots = ideal.program.core.slots
    shift = len(slots)
    here: Mapping[int, Answer] = {slot: Affine.input(slot) for slot in ideal.symbolic_inputs}
    there: Mapping[int, Answer] = {slot: Affine.input(slot + shift) for slot in ideal.symbolic_inputs}

    def whole(form: Affine) -> bool:
        return isinstance(slots[form.inputs[0][0] % shift].type, IntType)

    return Apartness(metric.apart(here, there, whole), shift)


def _key(formula: Formula, names: Renaming) -> _Key:
    match formula:
        case bool():
            return formula
        case Constraint():
            return renamed_guard(guard_of(formula), names)
        case Every(parts):
            return "every", frozenset(_key(part, names) for part in parts)
        case Some(parts):
            return "some", frozenset(_key(part, names) for part in parts)
        case _:
            assert_never(formula)


def _constraints(formula: Formula) -> Iterator[Constraint]:
    match formula:
        case Constraint():
            yield formula
        case Every(parts) | Some(parts):
            for part in parts:
                yield from _constraints(part)

"""Values and forms that det gives."""

from __future__ import annotations

from dipc.chain.affine import Affine
from dipc.lang.core import BoolType, DomType, Slot, Value

#: One output of det: a value, or a form over the real (or int) inputs.
Answer = Value | Affine


def finite_values(slot: Slot) -> tuple[Value, ...]:
    """All values of a DOM or bool slot, in the order of its domain."""
    match slot.type:
        case DomType(values=values):
            return values
        case BoolType():
            return (False, True)
    raise AssertionError(f"{slot.name} has no finite type")


def same_value(one: object, other: object) -> bool:
    """Whether two values are the same: true is not the number 1."""
    return isinstance(one, bool) is isinstance(other, bool) and one == other

"""Values and forms that det gives."""

from __future__ import annotations

from dipc.chain.affine import Affine
from dipc.syntax.core import Value

#: One output of det: a value, or a form over the real (or int) inputs.
Answer = Value | Affine


def same_value(one: Value, other: Value) -> bool:
    """Whether two values are the same: true is not the number 1."""
    return isinstance(one, bool) is isinstance(other, bool) and one == other

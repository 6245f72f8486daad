"""Which variables hold affine forms rather than values."""

from __future__ import annotations

from dipc.lang.core import IntType, RealType, Type


def is_symbolic(kind: Type) -> bool:
    """Whether variables of the type hold forms over noises and inputs: real and int ones do, bool and DOM ones not."""
    return isinstance(kind, RealType | IntType)

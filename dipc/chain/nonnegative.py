"""What is known of noises before anything is compared: one-sided noise is never negative."""

from __future__ import annotations

from collections.abc import Iterable

from dipc.chain.affine import Affine
from dipc.chain.constraints import NOTHING_KNOWN, ConstraintSet, constraint, constraint_set
from dipc.chain.state import NoiseVar
from dipc.lang.ast import CompareOp
from dipc.lang.core import NoiseFamily


def nonnegative(noises: Iterable[NoiseVar]) -> ConstraintSet:
    """X >= 0 for each one-sided noise: with the mean 0, which it has on every path, that is its support."""
    known = [
        constraint(Affine.noise(noise.id), CompareOp.GE) for noise in noises if noise.family is NoiseFamily.ONE_SIDED
    ]
    return constraint_set(known) if known else NOTHING_KNOWN

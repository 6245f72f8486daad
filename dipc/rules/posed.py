"""Obligations with where they come from: what a proof rule gives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from dipc.decide.obligation import Obligation


class Variable(StrEnum):
    """What the functions of an obligation are functions of."""

    EPS = "eps"
    ALPHA_EPS = "alpha*eps"
    GAMMA_EPS = "gamma*eps"


class Why(Protocol):
    """Why a bound is one. `exact`: it is the probability itself, at an input that the claim is about, so that what
    refutes the obligation refutes the claim; otherwise it is a lower bound only, with evidence (Farkas weights, the
    complement, a union) from which a certificate is written."""

    @property
    def exact(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Posed:
    """An obligation with where it comes from."""

    obligation: Obligation
    variable: Variable
    why: Why


@dataclass(frozen=True, slots=True)
class TheProbability:
    """The bound of an obligation is the probability itself, at an input that the claim is about."""

    exact: bool = True

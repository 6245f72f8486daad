"""What a question is to everything behind it: a source of obligations.

A source has cases (rows, classes of inputs, ranges of m). Each case says which obligations it comes to, and folds their
decisions into its result. Services are written against this alone: `check` runs `Case.settle`, `tighten` and `solve`
look at `Case.posed`, a certificate is written from what both gave.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from dipc.obligations.decision import Decision
from dipc.obligations.obligation import Obligation
from dipc.sources.outcome import RowResult


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


#: Asks for decisions one after the other, and gives the result in the end.
Settling = Generator[Obligation, Decision, RowResult]


class Case(Protocol):
    """One part of a question."""

    @property
    def number(self) -> int:
        """Its number in the report, from 1."""

    def posed(self) -> Sequence[Posed]:
        """The obligations that it comes to: if all hold, so does the claim for the case; none where it claims nothing.

        Raises Undecided where they are not known.
        """

    def settle(self) -> Settling:
        """Decides the case: yields obligations, is sent their decisions, and returns the result. Where a mere bound
        fails it may pose another bound, or inputs that may refute the claim."""


class Source(Protocol):
    """A question about one program."""

    def cases(self) -> Iterable[Case]:
        """All parts of the question, in the order of the report; at least one. Made as they are asked for."""

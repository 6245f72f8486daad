"""A claim as it is asked about: what options say of it."""

from __future__ import annotations

from dataclasses import dataclass

from dipc.claim.claim import Given, GivenEps


@dataclass(frozen=True, slots=True)
class ClaimOptions:
    """The parts of a claim that options give; None leaves one to the columns of a table and the program's claim block.

    Sources keep theirs: the same question with another part is asked with `dataclasses.replace`.
    """

    beta: Given = None
    alpha: Given = None
    gamma: Given = None
    eps: GivenEps = None

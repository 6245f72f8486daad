"""Whether gamma does anything in a claim, and whether it was meant to."""

from __future__ import annotations

from collections.abc import Sequence

from dipc.claim.claim import Claim
from dipc.diagnostics.diagnostic import Diagnostic
from dipc.lang.core import BoolType, DomType
from dipc.lang.core_program import CoreProgram
from dipc.lang.tree import mentions


def gamma_warnings(claim: Claim, plain: bool) -> tuple[Diagnostic, ...]:
    """A gamma that no output can use, and one that is 0 by default though beta depends on it. `plain`: answers have no
    distance of their own, so that finite outputs must be equal whatever gamma is."""
    found: list[Diagnostic] = []
    gammas = [terms.gamma.value for _, terms in claim.compiled()]
    given = claim.gamma is not None or "gamma" in claim.table.columns
    if any(gammas):
        found += unused_gamma(claim.program, plain)
    if not given and claim.beta is not None and mentions(claim.beta.tree, "gamma"):
        found.append(forgotten(claim))
    return tuple(found)


def unused_gamma(program: CoreProgram, plain: bool) -> tuple[Diagnostic, ...]:
    """A warning where no output can use gamma."""
    return (_unused(program),) if plain and _finite_outputs(program) else ()


def _finite_outputs(program: CoreProgram) -> bool:
    """Whether all outputs are bool or DOM."""
    return all(isinstance(program.slots[slot].type, BoolType | DomType) for slot in program.outputs)


def forgotten(claim: Claim) -> Diagnostic:
    """beta depends on gamma, which is 0 as nobody said what it is."""
    assert claim.beta is not None
    place = claim.beta.source.excerpt(claim.beta.tree.span)
    notes = ("give `--gamma VALUE`, or `gamma:` in the claim block; `--gamma free` asks about every gamma",)
    return Diagnostic("W0601", "beta mentions gamma, which is 0 as it is not given", place, notes=notes)


def _unused(program: CoreProgram) -> Diagnostic:
    names: Sequence[str] = [program.slots[slot].name for slot in program.outputs]
    numeric = [
        program.slots[slot].name
        for slot in program.outputs
        if isinstance(found := program.slots[slot].type, DomType) and not any(isinstance(v, str) for v in found.values)
    ]
    name = (numeric or names or ["out"])[0]
    notes = [
        "finite outputs count as near only where they are equal, whatever gamma is",
        f"`metric {{ output: abs({name} - {name}'); }}` would use it" if numeric else "",
        "or let a bool output say whether the answer is good enough",
    ]
    return Diagnostic("W0602", "gamma is given, but no output can use it", notes=tuple(filter(None, notes)))

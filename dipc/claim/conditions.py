"""The conditions of the theorems of section 6, checked exactly for one claim.

The claim of a program is a region: the distances (alpha, gamma) that it is about, and beta as a function of them, of
eps and of the input. It is

- *simple* (Definition 5) if alpha and gamma do not depend on eps (no claim lets them) and beta never grows when alpha
  or gamma does: decided by the sign of the derivatives, for all eps > 0 and all alpha, gamma >= 0 at once;
- *limit-definable* (Definition 8) if linear inequalities describe the set of (alpha, gamma) (alpha is dd, a number or a
  linear function of gamma) and beta has no jumps, and limits where a distance is infinite: beta is put together from
  exponential polynomials in alpha·eps and gamma·eps by + - * / min max abs, so it jumps only where a divisor is 0;
- *(alpha, gamma)-monotonic* (Definition 11) if the greatest alpha < a that goes with gamma never falls as gamma grows:
  true where alpha does not depend on gamma, and of alpha = k·gamma + b exactly if k >= 0.

Theorem 10: with gamma fixed and a limit-definable region, the obligation at alpha = dd(u) is necessary and sufficient
for all alpha < dd(u). The paper's beta is in [0, 1]; a greater beta claims nothing, and min(beta, 1) keeps all
conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from dipc.algebra.parametric import Parametric
from dipc.claim.claim import Claim, Key
from dipc.claim.expression import ClaimExpression
from dipc.claim.theorem import Condition, Theorem
from dipc.claim.trend import Trend, trend
from dipc.lang.ast import Name
from dipc.lang.tree import mentions

#: The conditions of a table with more different betas are not looked into.
MOST_BETAS = 300


def theorem_of(claim: Claim) -> Theorem | None:
    """What the rows of the claim's table decide beyond their own alpha; None where no row has alpha = dd.

    The verdict on a row is that of its own obligation in any case.
    """
    found = [(key, terms) for key, terms in claim.compiled() if at_dd(claim, key)]
    if not found:
        return None
    tied = claim.gamma is not None and any(key[2] is None for key, _ in found) and mentions(claim.gamma.tree, "alpha")
    fixed = Condition(
        "gamma is fixed", not tied, "gamma depends on alpha" if tied else "gamma does not depend on alpha"
    )
    gammas = {terms.gamma.value for _, terms in found}
    gamma = gammas.pop() if len(gammas) == 1 else None
    values = {"gamma": Parametric.number(gamma)} if isinstance(gamma, Fraction) else {}
    conditions = (fixed, *region_conditions(claim, betas_of(claim, [key for key, _ in found]), values, ("alpha",)))
    if all(condition.holds for condition in conditions):
        return Theorem("Theorem 10", "every alpha < dd(u)", conditions[1:])
    return Theorem(None, "alpha = dd(u)", conditions)


def region_conditions(
    claim: Claim, betas: Iterable[ClaimExpression], values: Mapping[str, Parametric], growing: tuple[str, ...]
) -> tuple[Condition, ...]:
    """Whether the region is simple and limit-definable, where the unknowns `growing` range over all numbers >= 0.

    `values` says what alpha and gamma stand for where they are not left open.
    """
    left_open = {name: Parametric.unknown(name) for name in ("alpha", "gamma", "dd")}
    names = claim.constants | left_open | dict(values)
    betas = list(betas)
    if len(betas) > MOST_BETAS:
        why = f"{len(betas)} different betas are too many to look into"
        return Condition("simple", False, why), Condition("limit-definable", False, why)
    falls: list[str] = []
    jumps = False
    for beta in betas:
        for unknown in growing:
            found = trend(beta, unknown, names, claim.intervals)
            if not found.falls:
                falls.append(_objection(unknown, found))
            jumps = jumps or not found.continuous
    both = " or ".join(growing)
    simple = Condition("simple", not falls, falls[0] if falls else f"beta never grows with {both}")
    why = "a divisor in beta may be 0 for some alpha" if jumps else f"beta has no jumps in {both}"
    return simple, Condition("limit-definable", not jumps, why)


def at_dd(claim: Claim, key: Key) -> bool:
    """Whether alpha is dd(u) for rows with these cells."""
    alpha, _, _, dd = key
    if alpha is not None:
        return alpha.value == "dd"
    if claim.alpha is None:
        return dd is not None
    return isinstance(claim.alpha.tree, Name) and claim.alpha.tree.name == "dd"


def _objection(unknown: str, found: Trend) -> str:
    if found.growth is not None:
        return f"beta grows with {unknown} {found.growth}"
    return f"that beta never grows with {unknown} could not be shown"


def betas_of(claim: Claim, keys: Iterable[Key]) -> list[ClaimExpression]:
    """The different betas of rows with these cells."""
    texts = {beta.text if beta is not None else None for _, beta, _, _ in keys}
    columns = [claim.column_beta(text) for text in sorted(text for text in texts if text is not None)]
    return [claim.beta, *columns] if claim.beta is not None and None in texts else columns

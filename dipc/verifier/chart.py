"""Exactly where an exponential polynomial is negative: its roots in intervals of their own, the signs between them."""

from __future__ import annotations

from fractions import Fraction

from dipc.verifier.budget import Budget
from dipc.verifier.factors import Range
from dipc.verifier.obligation import Factored, all_signs
from dipc.verifier.reading import items, natural, rational, triple
from dipc.verifier.reading import sign as sign_of
from dipc.verifier.rejection import Rejected


def prove_chart(
    factored: Factored, evidence: object, roots: object, signs: object, within: Range, budget: Budget, step: str
) -> None:
    """Raises Rejected unless `roots` are all roots inside `within`, increasing, and `signs` those on the gaps.

    A root is [factor, "lower", "upper"]: the one root of that factor between these eps, or the rational that both are.
    """
    found = all_signs(factored, evidence, within, budget, step)
    sign = factored.sign
    left: list[list[tuple[Fraction, Fraction]]] = []
    for number, ((_, multiplicity), shown) in enumerate(zip(factored.factors, found, strict=True), start=1):
        if shown is None:
            raise Rejected(f"{step}, factor {number}", "nothing is shown of its roots")
        sign *= shown.left if multiplicity % 2 else 1
        left.append(list(shown.roots))
    expected = [sign]
    position = within.lower
    for number, item in enumerate(items(roots, f"{step}, roots"), start=1):
        here = f"{step}, root {number}"
        at, low, high = triple(item, here)
        factor, lower, upper = natural(at, here), rational(low, here), rational(high, here)
        if factor >= len(left) or not left[factor]:
            raise Rejected(here, "there is no such factor, or it has no more roots")
        if lower < position or lower == upper == position:
            raise Rejected(here, "it is not above the one before")
        _check_root(factored, factor, left[factor].pop(0), (lower, upper), budget, here)
        expected.append(expected[-1] * (-1) ** factored.factors[factor][1])
        position = upper
    if any(left):
        raise Rejected(step, "a root is left out")
    if [sign_of(item, f"{step}, signs") for item in items(signs, f"{step}, signs")] != expected:
        raise Rejected(step, "the signs between the roots are others")


def _check_root(
    factored: Factored,
    factor: int,
    crossing: tuple[Fraction, Fraction],
    stated: tuple[Fraction, Fraction],
    budget: Budget,
    step: str,
) -> None:
    """That the root in the crossing, the only one there, is between the stated eps."""
    curve = factored.factors[factor][0]
    lower, upper = (eps * factored.scale for eps in stated)
    if crossing[0] == crossing[1]:
        inside = lower == upper == crossing[0]
    else:
        inside = crossing[0] <= lower < upper <= crossing[1] and (
            curve.sign_at(lower, budget, step) * curve.sign_at(upper, budget, step) < 0
        )
    if not inside:
        raise Rejected(step, "the factor has no root between these eps that was shown before")

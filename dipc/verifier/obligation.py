"""An exponential polynomial on an interval of eps: its normal form, its factors, its sign."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dipc.verifier.budget import Budget
from dipc.verifier.curve import Curve, product
from dipc.verifier.factors import Range, Signs, factor_signs
from dipc.verifier.reading import items, natural, rational, record, sign
from dipc.verifier.rejection import Rejected
from dipc.verifier.ring import Ring

MOST_MULTIPLICITY = 10_000


@dataclass(frozen=True)
class Factored:
    """f(eps) = factor·eps^power·e^{exponent·eps}·sign·Π G^multiplicity at t = scale·eps, factor > 0 and scale > 0."""

    scale: Fraction
    sign: int
    factors: tuple[tuple[Curve, int], ...]


def read_factored(value: object, function: Ring, budget: Budget, step: str) -> Factored:
    """The stated normal form and factors of `function`, shown to be equal to it by multiplying out."""
    stated = record(value, step, ("scale", "factor", "power", "exponent", "sign", "factors"))
    scale, factor = rational(stated["scale"], f"{step}, scale"), rational(stated["factor"], f"{step}, factor")
    if scale <= 0 or factor <= 0:
        raise Rejected(step, "the scale and the factor of the normal form must be positive")
    power, exponent = natural(stated["power"], f"{step}, power"), rational(stated["exponent"], f"{step}, exponent")
    unit = sign(stated["sign"], f"{step}, sign")
    factors: list[tuple[Curve, int]] = []
    for number, item in enumerate(items(stated["factors"], step, 10_000), start=1):
        here = f"{step}, factor {number}"
        entry = record(item, here, ("polynomial", "multiplicity"))
        multiplicity = natural(entry["multiplicity"], here, MOST_MULTIPLICITY)
        if not multiplicity:
            raise Rejected(here, "the multiplicity is 0")
        factors.append((Curve.read(entry["polynomial"], here), multiplicity))
    whole = product(factors, budget, step)
    numbers = sum(x.numerator.bit_length() + x.denominator.bit_length() for x in (factor, exponent, scale))
    bits = whole.bits + whole.degree * (scale.numerator.bit_length() + scale.denominator.bit_length())
    budget.spend(8 * len(whole.terms), step, bits + numbers)
    # A function has as many terms: nothing else is worth multiplying out.
    if len(whole.terms) != len(function):
        raise Rejected(step, "the factors multiplied out in normal form are not the function")
    for j, k, c in whole.terms:
        # t^k·e^{-j·t} at t = scale·eps; different (j, k) are different terms.
        if function.get((k + power, exponent - j * scale)) != unit * factor * c * scale**k:
            raise Rejected(step, "the factors multiplied out in normal form are not the function")
    return Factored(scale, unit, tuple(factors))


def all_signs(factored: Factored, value: object, within: Range, budget: Budget, step: str) -> list[Signs | None]:
    """The signs of each factor inside `within`, an interval of eps; None for one of even multiplicity without
    evidence, which changes no sign."""
    scaled = Range(within.lower * factored.scale, None if within.upper is None else within.upper * factored.scale)
    evidence = items(value, step)
    if len(evidence) != len(factored.factors):
        raise Rejected(step, f"there is evidence for {len(evidence)} factors of {len(factored.factors)}")
    result: list[Signs | None] = []
    for number, ((curve, multiplicity), item) in enumerate(zip(factored.factors, evidence, strict=True), start=1):
        if item == "even":
            if multiplicity % 2:
                raise Rejected(f"{step}, factor {number}", "its multiplicity is odd, so its sign matters")
            result.append(None)
        else:
            result.append(factor_signs(curve, item, scaled, budget, f"{step}, factor {number}"))
    return result


def prove_nonnegative(factored: Factored, value: object, within: Range, budget: Budget, step: str) -> None:
    """Raises Rejected unless f >= 0 on the whole interval, by continuity its ends included."""
    total = factored.sign
    signs = all_signs(factored, value, within, budget, step)
    for number, ((_, multiplicity), found) in enumerate(zip(factored.factors, signs, strict=True), start=1):
        if multiplicity % 2:
            assert found is not None
            if found.roots:
                raise Rejected(f"{step}, factor {number}", "it changes its sign and has odd multiplicity")
            total *= found.left
    if total < 0:
        raise Rejected(step, "the product of the signs is negative")


def prove_positive(factored: Factored, value: object, within: Range, budget: Budget, step: str) -> None:
    """Raises Rejected unless f > 0 between the ends of the interval."""
    total = factored.sign
    signs = all_signs(factored, value, within, budget, step)
    for number, ((_, multiplicity), found) in enumerate(zip(factored.factors, signs, strict=True), start=1):
        if found is None or found.roots:
            raise Rejected(f"{step}, factor {number}", "it is not shown to be different from 0")
        total *= found.left if multiplicity % 2 else 1
    if total < 0:
        raise Rejected(step, "the product of the signs is negative")

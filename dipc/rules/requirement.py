"""What has to be shown of one class: at which distance, against which beta, and for which eps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from dipc.program.metric import Norm
from dipc.rules.class_claim import ClassClaim, Fixed, Scale
from dipc.rules.evidence import ClaimedDistances
from dipc.rules.facets import Metric
from dipc.rules.input_classes import InputClass
from dipc.rules.posed import Variable
from dipc.sign.piecewise import BetaForm

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Requirement:
    """The least probability of the class, with `distances`, is to be at least 1 - beta.

    Both are functions of `variable`. `beta` is None where it is no such function, with the `reason`. `dd` is that of
    all inputs of the class, a rational or `inf`, where alpha = dd is a number for them.
    """

    distances: ClaimedDistances
    variable: Variable
    beta: BetaForm | None
    reason: str | None = None
    dd: str | None = None


def requirement(claim: ClassClaim, found: InputClass, metric: Metric) -> Requirement:
    """The claim for all inputs of a class at once.

    With alpha = dd(u), dd is a number on the whole class where det has one answer only (infinity), where the answer
    itself moves with the input (0, or 1 where all distances are integers), and for the discrete distance (1), unless
    some inputs are infinitely far apart; else it is left open.
    Raises DiagnosticError where beta has no exact meaning.
    """
    if not claim.at_distance:
        wanted = open_requirement(claim) if claim.free_gamma else fixed_requirement(claim.without_distance())
        if not found.integral:
            return wanted
        # What is at least alpha is at least the next integer.
        return replace(wanted, distances=replace(wanted.distances, alpha_base=Fraction(ceil(claim.alpha_number()))))
    if found.alone:
        # With a gamma that grows with alpha the claim is about every alpha, and no limit says the same.
        return open_requirement(claim) if claim.gamma_moves else fixed_requirement(claim.at_number(None), "inf")
    if metric.norm is Norm.DISCRETE and metric.apart is None:
        return fixed_requirement(claim.at_number(_ONE), "1")
    if found.restless and metric.apart is None:
        return fixed_requirement(claim.at_number(_ZERO), "0")
    if found.stepping and found.integral and metric.apart is None:
        return fixed_requirement(claim.at_number(_ONE), "1")
    return open_requirement(claim)


def at_zero(claim: ClassClaim) -> Requirement:
    """The claim for inputs with dd(u) = 0."""
    return fixed_requirement(claim.at_number(_ZERO), "0")


def without_distance(claim: ClassClaim) -> Requirement | None:
    """The claim for all inputs with the distance that is left open at 0, where that is what is claimed of all of them:
    where beta does not depend on it (the probability never falls as gamma grows). None where it does."""
    fixed = claim.whatever_distance()
    return None if fixed is None else fixed_requirement(fixed)


def open_requirement(claim: ClassClaim) -> Requirement:
    """The claim with a distance left open; raises DiagnosticError for a gamma that is no multiple of it."""
    opened = claim.open()
    variable = Variable.GAMMA_EPS if opened.scale is Scale.GAMMA else Variable.ALPHA_EPS
    if opened.scale is Scale.GAMMA:
        assert opened.alpha is not None
        distances = ClaimedDistances(opened.alpha, _ZERO, opened.gamma_base, opened.gamma_rate)
    else:
        distances = ClaimedDistances(_ZERO, _ONE, opened.gamma_base, opened.gamma_rate)
    return Requirement(distances, variable, opened.beta, opened.reason)


def fixed_requirement(fixed: Fixed, dd: str | None = None) -> Requirement:
    """The claim at given distances."""
    # Where dd is infinite there is no other answer, and no facet moves.
    alpha = _ZERO if fixed.alpha is None else fixed.alpha
    return Requirement(ClaimedDistances(alpha, _ZERO, fixed.gamma, _ZERO), Variable.EPS, fixed.beta, dd=dd)


def restatements(claim: ClassClaim, found: InputClass, metric: Metric, required: Requirement) -> Iterator[Requirement]:
    """The requirement, and others that imply it: for dd = 0 where the answer moves with the inputs, and without the
    distance that is left open where beta does not depend on it."""
    yield required
    # In the discrete distance another answer is at 1 even where the answer moves.
    touching = found.moving and metric.apart is None and metric.norm is not Norm.DISCRETE
    if claim.at_distance and touching:
        yield at_zero(claim)
    without = without_distance(claim)
    if without is not None:
        yield without


def is_certified(claim: ClassClaim, required: Requirement, restated: Requirement) -> bool:
    """Whether a certificate can say that a restated requirement implies the one: what is said of all distances at once
    is, where gamma does not depend on them."""
    return (
        restated == required or restated.dd is not None or (claim.at_distance and not claim.gamma_depends_on_distance)
    )

"""What has to be shown of one class: at which distance, against which beta, and for which eps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dipc.ideal.norm import Norm
from dipc.sign.piecewise import BetaForm
from dipc.sources.every_input.classes import InputClass
from dipc.sources.every_input.lower import Distances
from dipc.sources.every_input.scaling import ClassClaim, Fixed, Scale
from dipc.sources.every_input.walls import Metric

_ZERO = Fraction(0)
_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Obligation:
    """The least probability of the class, with `distances`, is to be at least 1 - beta.

    Both are functions of `variable`: `alpha*eps`, `gamma*eps` or `eps`. `beta` is None where it is no such function,
    with the `reason`.
    """

    distances: Distances
    variable: str
    beta: BetaForm | None
    reason: str | None = None


def obligation(claim: ClassClaim, found: InputClass, metric: Metric) -> Obligation:
    """The claim for all inputs of a class at once.

    With alpha = dd(u), dd is a number on the whole class where det has one answer only (infinity), where the answer
    itself moves with the input (0), and for the discrete distance (1), unless some inputs are
    infinitely far apart; else it is left open.
    Raises DiagnosticError where beta has no exact meaning.
    """
    if not claim.at_distance:
        return open_obligation(claim) if claim.free_gamma else fixed_obligation(claim.without_distance())
    if found.alone:
        # With a gamma that grows with alpha the claim is about every alpha, and no limit says the same.
        return open_obligation(claim) if claim.gamma_moves else fixed_obligation(claim.at_number(None))
    if metric.norm is Norm.DISCRETE and metric.apart is None:
        return fixed_obligation(claim.at_number(_ONE))
    if found.restless and metric.apart is None:
        return fixed_obligation(claim.at_number(_ZERO))
    return open_obligation(claim)


def at_zero(claim: ClassClaim) -> Obligation:
    """The claim for inputs with dd(u) = 0."""
    return fixed_obligation(claim.at_number(_ZERO))


def open_obligation(claim: ClassClaim) -> Obligation:
    """The claim with a distance left open; raises DiagnosticError for a gamma that is no multiple of it."""
    opened = claim.open()
    variable = f"{opened.scale.value}*eps"
    if opened.scale is Scale.GAMMA:
        assert opened.alpha is not None
        distances = Distances(opened.alpha, _ZERO, opened.gamma_base, opened.gamma_rate)
    else:
        distances = Distances(_ZERO, _ONE, opened.gamma_base, opened.gamma_rate)
    return Obligation(distances, variable, opened.beta, opened.reason)


def fixed_obligation(fixed: Fixed) -> Obligation:
    """The claim at given distances."""
    # Where dd is infinite there is no other answer, and no wall moves.
    alpha = _ZERO if fixed.alpha is None else fixed.alpha
    return Obligation(Distances(alpha, _ZERO, fixed.gamma, _ZERO), "eps", fixed.beta)

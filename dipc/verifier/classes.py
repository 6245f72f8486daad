"""Classes of real and int inputs: the claim about a class, and proofs of lower bounds of slacks.

Every input u of a class about which something is claimed lies in the half-spaces of the class, form(u) >= alpha·step. A
slack of the program is constant + Σ weight·(form of a half-space), and so at least base + distance·slope.

If a distance is left open, an event of centered noises whose slacks are all multiples of the distance depends on
distance·eps alone, and so does beta. One obligation about t = distance·eps then covers all distances and all eps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from math import ceil, gcd, lcm

from dipc.verifier import reading as read
from dipc.verifier.claims import (
    DISTANCE,
    Beta,
    Claim,
    Form,
    Interval,
    NotOneForm,
    beta_of,
    evaluate_least,
    linear,
    mentions,
)
from dipc.verifier.functions import ONE, Closed, Ring, positive_everywhere
from dipc.verifier.linear import ALPHA, Guard, weighted
from dipc.verifier.normal import Probability
from dipc.verifier.reading import Budget, Rejected

ZERO = Fraction(0)

#: The variables of obligations: eps, or the product of an open distance and eps.
VARIABLES = ("eps", "alpha*eps", "gamma*eps")

#: The most half-spaces of one class.
MOST_HALFSPACES = 10_000


@dataclass(frozen=True, slots=True)
class DistanceLine:
    """The number base + slope·distance, for a distance that the claim leaves open."""

    base: Fraction
    slope: Fraction = ZERO

    def __add__(self, other: DistanceLine) -> DistanceLine:
        return DistanceLine(self.base + other.base, self.slope + other.slope)

    def scaled(self, factor: Fraction | int) -> DistanceLine:
        """Return `factor` times this number."""
        return DistanceLine(self.base * factor, self.slope * factor)

    @property
    def is_nonnegative(self) -> bool:
        """True if the number is at least 0 at all distances."""
        return self.base >= 0 and self.slope >= 0


@dataclass(frozen=True, slots=True)
class Required:
    """The claim about a class of inputs, in terms of a distance if the claim leaves one open.

    `alpha` and `gamma` are numbers, or lines in this distance. `beta` is a function of the obligation's variable, or
    None if it is not of a kind that can be certified.
    """

    alpha: DistanceLine
    gamma: DistanceLine
    beta: Beta | None

    @property
    def is_open(self) -> bool:
        return bool(self.alpha.slope or self.gamma.slope)


#: The values of names, and the conversion of a form into a function of eps or of distance·eps.
Meaning = tuple[Mapping[str, Form], Callable[[Form], Closed | None]]


def required(claim: Claim, variable: str, dd: str | None, budget: Budget) -> Required:
    """Return the claim `claim` about all inputs of a class, in terms of the variable of an obligation.

    `variable` is "eps", "alpha*eps" or "gamma*eps". `dd` is the distance of the inputs, None if the certificate states
    none. Charges its work to `budget`. Raises Rejected unless the distance in `variable` is the one that the claim
    leaves open; for "eps", alpha may be "dd" only if `dd` is stated or beta and gamma do not depend on the distance.
    """
    alpha, gamma, (names, finished) = meaning(claim, variable, dd, budget)
    if claim.beta is None:
        raise Rejected("there is no beta")
    return Required(alpha, gamma, beta_of(claim.beta, names, finished, budget, powers=int(variable != "eps")))


def meaning(claim: Claim, variable: str, dd: str | None, budget: Budget) -> tuple[DistanceLine, DistanceLine, Meaning]:
    """Return alpha and gamma of `claim` in terms of an obligation's variable, and what is needed to evaluate its beta.

    The last item is a pair: the values of the names in beta, and the function that turns a form into a function of
    `variable`. The variable is "eps", "alpha*eps" or "gamma*eps". `dd` is the distance of the inputs, None if the
    certificate states none. Charges its work to `budget`. Raises Rejected unless the distance in `variable` is the one
    that the claim leaves open; for "eps", alpha may be "dd" only if `dd` is stated or beta and gamma do not depend on
    the distance.
    """
    if variable == "eps":
        # A statement at the distance 0 holds at all distances, if nothing depends on the distance: half-spaces only
        # move inwards.
        texts = (claim.beta or "", claim.gamma or "")
        steady = claim.alpha == "dd" and not any(mentions(text, name) for text in texts for name in ("alpha", "dd"))
        if claim.gamma == "free" or (claim.alpha != "dd" if dd is not None else claim.alpha == "dd" and not steady):
            raise Rejected("an obligation in the variable eps needs a number for alpha and for gamma")
        alpha, gamma, names = claim.distances({}, "0" if steady and dd is None else dd, budget)
        return DistanceLine(alpha or ZERO), DistanceLine(gamma), (names, Form.limit)
    if dd is not None:
        raise Rejected("dd is both stated and left open")
    names = {name: Form.number(value) for name, value in claim.constants.items()}
    far = Form.unknown(DISTANCE)
    if variable == "gamma*eps":
        if claim.gamma != "free" or claim.alpha in (None, "dd") or mentions(claim.alpha or "", "gamma"):
            raise Rejected("its obligation leaves gamma open, but the claim does not")
        least = least_alpha(claim, budget)
        names = {**names, "alpha": Form.number(least), "gamma": far}
        return DistanceLine(least), DistanceLine(ZERO, Fraction(1)), (names, in_product)
    if claim.alpha != "dd" or claim.gamma == "free":
        raise Rejected("its obligation leaves alpha open, but the claim does not")
    names = {**names, "alpha": far, "dd": far}
    base, rate = (ZERO, ZERO) if claim.gamma is None else linear(claim.gamma, names, claim.one_eps, budget)
    if base < 0 or rate < 0:
        raise Rejected("gamma is negative")
    return (
        DistanceLine(ZERO, Fraction(1)),
        DistanceLine(base, rate),
        ({**names, "gamma": Form.unknown(DISTANCE, base, rate)}, in_product),
    )


def least_alpha(claim: Claim, budget: Budget) -> Fraction:
    """Return the alpha of `claim`, which must be a number. Charges its work to `budget`.

    The gamma of the claim is ignored, and may be left open. Raises Rejected if alpha is not a number.
    """
    # gamma is replaced, since the alpha here does not depend on gamma or beta.
    alpha, _, _ = replace(claim, gamma="0").distances({}, None, budget)
    if alpha is None:
        raise Rejected("alpha is not a number")
    return alpha


def least_decay(claim: Claim, budget: Budget) -> Fraction | None:
    """Return the least r for which e^(r·A·eps)·beta is proved to be nondecreasing in the distance A, for each eps.

    Here beta is the one of `claim`. Return None if alpha is not dd, if gamma is left open or depends on the distance,
    or if the form of beta permits no proof. Charges its work to `budget`.
    """
    if claim.alpha != "dd" or claim.gamma == "free" or claim.beta is None:
        return None
    if any(mentions(claim.gamma or "", name) for name in ("alpha", "dd")):
        return None
    _, _, names = claim.distances({}, "1", budget)
    far = Form.unknown(DISTANCE)
    try:
        value = evaluate_least(claim.beta, {**names, "alpha": far, "dd": far}, budget)
    except NotOneForm:
        return None
    forms = [form for forms_in in value for form in forms_in]
    functions = (function for form in forms for function in (form.denominator, *form.numerator.values()))
    if not all(positive_everywhere(function, budget) for function in functions):
        return None
    # The minimum, and the maximum, of functions that never fall never falls.
    rates = (sum((rate for _, _, rate in growth), ZERO) for form in forms for growth in form.numerator)
    return max((-rate for rate in rates), default=ZERO)


def in_product(form: Form) -> Closed | None:
    """Return the function g with `form` = g(A·eps), where A is the only unknown number in the form.

    For a form Σ c·(A·eps)^j·e^{r·A·eps} the function is g(t) = Σ c·t^j·e^{r·t}. For other forms, return None.
    """
    if form.denominator != ONE or len({name for growth in form.numerator for name, _, _ in growth}) > 1:
        return None
    total: Ring = {}
    for growth, coefficient in form.numerator.items():
        _, j, r = growth[0] if growth else (DISTANCE, 0, ZERO)
        if len(growth) > 1 or coefficient.keys() != {(j, ZERO)}:
            return None
        total[j, r] = coefficient[j, ZERO]
    return total, ONE


def intervals_of(claim: Claim, wanted: Required, greatest: Fraction | None) -> tuple[Interval, ...]:
    """Return the values of an obligation's variable for which the claim `claim` about a class has to be proved.

    `wanted` is this claim in terms of the variable. If it leaves no distance open, the values are the eps of the claim.
    Otherwise they include all products of such an eps and a distance, where distances are those in (0, `greatest`], or
    all positive ones if `greatest` is None.
    """
    if not wanted.is_open:
        return claim.intervals
    # This does not depend on the order of the intervals.
    uppers = [interval.upper for interval in claim.intervals if interval.upper is not None]
    all_bounded = len(uppers) == len(claim.intervals)
    # `greatest` bounds alpha: if gamma alone is left open, the variable is gamma*eps, which is not bounded.
    only_gamma_is_open = wanted.gamma.slope > 0 and wanted.alpha.slope == 0
    if greatest is None or greatest <= 0 or only_gamma_is_open or not all_bounded:
        return (Interval(ZERO, None, False, False),)
    upper = max(uppers)
    closed = any(interval.upper == upper and interval.upper_closed for interval in claim.intervals)
    return (Interval(ZERO, upper * greatest, False, closed),)


# --- half-spaces and what they imply ----------------------------------------------------------------


def _halfspace(value: object) -> Guard:
    form, constant, moving = read.fields(
        value, {"form": read.coefficients, "constant": read.rational, "step": read.rational}
    )
    if moving < 0:
        raise Rejected("the step of a half-space is negative")
    terms = {ALPHA: -moving, **form}
    return Guard(tuple(sorted((i, c) for i, c in terms.items() if c)), constant, strict=False)


#: The half-spaces form(u) - alpha·step >= 0 of a class.
read_halfspaces: read.Reader[list[Guard]] = read.listed(_halfspace, MOST_HALFSPACES, "half-space")


def greatest_alpha(value: object, halfspaces: Sequence[Guard], budget: Budget) -> Fraction | None:
    """Return the upper bound of alpha that the weights `value` of `halfspaces` prove; None if `value` is None.

    Charges its work to `budget`. Raises Rejected if the weighted sum of half-spaces does not bound alpha.
    """
    if value is None:
        return None
    total = weighted(halfspaces, value, budget)
    if total.inputs or total.step <= 0:
        raise Rejected("the weights do not bound alpha")
    return total.constant / total.step


#: The proved lower bounds of slacks, each for a normal form of which the slack is a positive multiple.
Slacks = dict["Slack", DistanceLine]


#: An affine function of inputs and the radius of a ball, up to a positive factor: their coefficients and a constant.
Slack = tuple[tuple[tuple[int, Fraction], ...], Fraction, Fraction]


def slack_key(form: Mapping[int, Fraction], constant: Fraction, radius: int) -> tuple[Slack, Fraction] | None:
    """Return (a normal form, a factor), whose product is the slack `form` + `constant` + `radius`·gamma.

    The factor is positive. In the normal form, the absolute values of the coefficients of inputs and gamma add up to 1,
    so that slacks that are positive multiples of each other have the same one. Return None if the slack is a constant.
    """
    size = sum((abs(c) for c in form.values()), Fraction(radius))
    if not size:
        return None
    return (tuple(sorted((i, c / size) for i, c in form.items() if c)), constant / size, radius / size), size


def raised(form: Mapping[int, Fraction], constant: Fraction, bound: Fraction) -> Fraction:
    """Return the least value >= `bound` that `form` + `constant` takes at integer inputs; `form` is not 0."""
    unit = lcm(*(c.denominator for c in form.values()))
    spacing = Fraction(gcd(*(c.numerator * (unit // c.denominator) for c in form.values())), unit)
    return constant + spacing * ceil((bound - constant) / spacing)


_SLACK: read.Table = {"constant": read.rational, "radius": read.up_to(1), "weights": read.anything}


def add_slack(
    value: object, halfspaces: Sequence[Guard], whole: Set[int], wanted: Required, known: Slacks, budget: Budget
) -> None:
    """Add to `known` the lower bound of a slack, form + constant + radius·gamma, that the weights in `value` prove.

    `value` is the JSON object with the constant, the radius and the weights. The form is the weighted sum of
    `halfspaces`, in which all inputs of a class lie; the inputs in `whole` are integers. `known` maps normal forms of
    slacks (see `slack_key`) to their bounds, and a constant slack is not added. `wanted` has alpha and gamma. Charges
    its work to `budget`. Raises Rejected for malformed weights.
    """
    own, radius, weights = read.fields(value, _SLACK)
    total = weighted(halfspaces, weights, budget)
    form = total.inputs
    least = own - total.constant + total.step * wanted.alpha.base
    if form and not wanted.alpha.slope and form.keys() <= whole:
        budget.spend(1 + len(form))
        least = raised(form, own, least)
    bound = DistanceLine(least, total.step * wanted.alpha.slope) + wanted.gamma.scaled(radius)
    keyed = slack_key(form, own, radius)
    if keyed is not None:
        known[keyed[0]] = bound.scaled(1 / keyed[1])


# --- bounds -----------------------------------------------------------------------------------------


class Kind(StrEnum):
    """The kinds of bounds of the probability of an answer on a class; FORMAT.md, lemmas 6 to 6e.

    - `WAYS` is a sum over the exits with the answer, with every slack at its least value.
    - `VERTICES` is such a sum where the slacks cannot all be least at once: several combinations of their bounds are
      tried.
    - `OTHERS` is 1 minus a sum over the exits with other answers, with every slack at its greatest value.
    - `TAILS` is like `OTHERS`, but bounds the joint probability of several comparisons of one Laplace noise each.
    - `DISTANCES` is like `OTHERS`, at the distance 1 of integer inputs, with a proof that the sum falls at least as
      fast as beta as the distance grows.
    """

    WAYS = "ways"
    OTHERS = "others"
    VERTICES = "vertices"
    TAILS = "tails"
    DISTANCES = "distances"

    @property
    def of_others(self) -> bool:
        """True if a bound of this kind is computed from the exits with other answers."""
        return self in (Kind.OTHERS, Kind.TAILS, Kind.DISTANCES)


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """The facts that a certificate has proved about class `number` of inputs, whose right answer is `answer`.

    - The class lies in all `halfspaces` that do not depend on alpha, and in the half-spaces with an index in `beside`,
      which separate the class from other answers.
    - `wanted` is the claim about the class. `dd` is the distance of the inputs, None if the certificate states none.
    - `values` are bounds of the answer's probability that are compared with beta, None if nothing is claimed. `kind` is
      the kind of these bounds.
    - `slacks` has lower bounds of affine functions of the inputs.
    - `decay` is a number r such that e^(r·distance·eps)·beta never falls as an integer distance grows.
    """

    number: int
    answer: Mapping[str, str]
    halfspaces: Sequence[Guard]
    beside: Sequence[int]
    kind: Kind = Kind.WAYS
    wanted: Required | None = None
    dd: str | None = None
    values: tuple[Probability, ...] | None = None
    slacks: Mapping[Slack, DistanceLine] = field(default_factory=dict)
    decay: Fraction = ZERO

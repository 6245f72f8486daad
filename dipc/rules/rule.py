"""The words of a proof: the claim for a class (`Requirement`), what a rule returns (`Bounds`), and its evidence.

To add a rule, write a file here with the rule, its lemma and the proof of the lemma in the docstring, and add a line to
the list of `dipc.rules.every_rule`. `check`, `tighten`, `solve`, certificates and plots all try that list. A rule whose
bounds the checker can follow returns evidence: plain data that the checker adds up again without linear programming.
Other rules return no evidence.
"""

from __future__ import annotations

from enum import Enum, StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from dipc.decide.obligation import Obligation
from dipc.frozen import frozen
from dipc.measure.measure import Bound
from dipc.sign.piecewise import BetaForm

if TYPE_CHECKING:
    from dipc.rules.centered_exits import Level
    from dipc.rules.halfspaces import SlackBound


class Variable(StrEnum):
    """The variable of an obligation: eps, or an open distance times eps."""

    EPS = "eps"
    ALPHA_EPS = "alpha*eps"
    GAMMA_EPS = "gamma*eps"

    @property
    def product(self) -> Variable | None:
        """The variable itself if it is a distance times eps, None if it is eps."""
        return None if self is Variable.EPS else self


class Sharpness(Enum):
    """The relation of a bound to the probabilities that the claim is about.

    - `BOUND`: it is at most each of these probabilities; nothing else is known.
    - `PROBABILITY`: it is one of them, or inputs of the class come arbitrarily close to it.
    - `FAR_LIMIT`: it is their limit at inputs with growing distances and falling eps (see `far_away.py`).

    If an obligation about a `PROBABILITY` or a `FAR_LIMIT` fails, the claim fails. A `FAR_LIMIT` is attained at no
    input.
    """

    BOUND = "bound"
    PROBABILITY = "probability"
    FAR_LIMIT = "far limit"


class BoundEvidence:
    """The evidence for a bound, from which a certificate is written."""


@frozen
class ProofStep:
    """A step of a proof: an `obligation` with its `variable`, and the `evidence` for its bound.

    `sharpness` says how close the bound is to the probabilities. `evidence` is None if the bound is the measured
    probability itself or a limit of it. It is also None if the obligation belongs to a claim that is stronger than the
    one in question.
    """

    obligation: Obligation
    variable: Variable
    evidence: BoundEvidence | None
    sharpness: Sharpness = Sharpness.BOUND

    @property
    def exact(self) -> bool:
        """Whether the claim fails if the obligation fails."""
        return self.sharpness is not Sharpness.BOUND


@frozen
class Requirement:
    """The claim for a class of inputs: the probability of the right answer is at least 1 - `beta`.

    - Alpha and gamma are functions of a distance d that is left open: base + rate·d. If both rates are 0, no distance
      is open, and they are numbers.
    - If `start` is given, d is any integer >= `start`. The bounds of slacks are then chosen to be greatest at d =
      `start` + `further`.
    - `beta` is None if it is not a function of the `variable`; `reason` then says why.
    - `dd` is the text of dd(u), a rational or `inf`, if alpha = dd(u) has one value for all inputs of the class. If it
      is `inf`, det has no other answer, no facet moves, and alpha counts as 0.
    """

    alpha_base: Fraction
    alpha_rate: Fraction
    gamma_base: Fraction
    gamma_rate: Fraction
    start: int | None = None
    further: int = 0
    beta: BetaForm | None = None
    reason: str | None = None
    dd: str | None = None

    @staticmethod
    def fixed(alpha: Fraction, gamma: Fraction, beta: BetaForm | None) -> Requirement:
        """Return the claim with the numbers `alpha` and `gamma`, and with `beta` as a function of eps."""
        return Requirement(alpha, Fraction(0), gamma, Fraction(0), beta=beta)

    @property
    def variable(self) -> Variable:
        """The variable of both sides: eps, or the open distance times eps."""
        if self.alpha_rate:
            return Variable.ALPHA_EPS
        return Variable.GAMMA_EPS if self.gamma_rate else Variable.EPS

    @property
    def is_open(self) -> bool:
        """True if the claim is about every real distance >= 0, so that bounds have to be functions of distance·eps."""
        return self.start is None and bool(self.alpha_rate or self.gamma_rate)

    @property
    def alpha(self) -> Fraction | None:
        """The value of alpha if it does not depend on the open distance, else None."""
        return None if self.alpha_rate else self.alpha_base

    @property
    def sharpest(self) -> Fraction | None:
        """The alpha at which bounds of slacks are chosen to be greatest; None if they have to hold at every alpha."""
        if self.start is None:
            return self.alpha
        return self.alpha_base + self.alpha_rate * (self.start + self.further)

    def is_nonnegative(self, slack: SlackBound) -> bool:
        """Return True if the lower bound `slack` of a slack is at least 0 at each of the claimed distances."""
        return slack.slope >= 0 and slack.base + (self.start or 0) * slack.slope >= 0

    def level(self, slack: SlackBound) -> Level:
        """Return the pair (base, slope) with which an event represents a slack that has the lower bound `slack`.

        - Without an open distance, it is (the bound as a number, 0).
        - For an open distance d, it is (the factor of d in the bound, 0): the event is measured at d = 1.
        - For integer distances >= `start`, it is the base and the slope of the bound.
        """
        if self.start is not None:
            return slack.base, slack.slope
        return (slack.slope if self.is_open else slack.base), Fraction(0)


class Derivation(StrEnum):
    """The way in which a bound of the probability follows from bounds of slacks, by its name in certificates.

    - `WAYS`: Σ weight·Π Pr[event] over the exits to the answer, with each slack at its lower bound. An event only grows
      with its slacks.
    - `OTHERS`: 1 - Σ weight·Π Pr[event] over the exits to other answers, with each slack at its upper bound. A
      constraint whose slack has no upper bound is left out of its event, which makes the event only more probable.
    - `VERTICES`: several bounds, at the vertices of a box of probabilities of single comparisons. At each input, one of
      them is at most the probability (`dipc/rules/vertices.py`).
    - `TAILS`: tails of exits to other answers, bounded together (`dipc/rules/joint_tails.py`).
    """

    WAYS = "ways"
    OTHERS = "others"
    VERTICES = "vertices"
    TAILS = "tails"


@frozen
class Farkas(BoundEvidence):
    """The evidence for a bound that follows from bounds of slacks, which Farkas weights on half-spaces prove.

    The half-spaces are the facets of the class. `slacks` are the bounds: of slacks for `WAYS`, of negated slacks for
    `OTHERS`, and of slacks, negated slacks and sums for `VERTICES` and `TAILS`. `derivation` says how the bound follows
    from them.
    """

    derivation: Derivation
    slacks: tuple[SlackBound, ...]


@frozen
class BetaSummand(BoundEvidence):
    """The evidence for an obligation whose beta is not the claim's, but smaller: the claim follows from it.

    The smaller beta can be any function. If the answer is right whenever several events happen, it can also be the
    summand of beta for one of these events. `least` is a function of eps that is at most the claim's beta, or None if
    none is known.
    """

    least: BetaForm | None


@frozen
class Bounds:
    """The result of a rule: at every input of the goal's class, the probability is at least one of the `functions`.

    Which one may depend on the input, and on the value of the variable. The variable is distance·eps if a distance is
    open, and eps otherwise. For integer distances beyond a start, the functions depend on eps and on the integer
    DISTANCE that their events mention. `evidence` is the proof, or None if the checker does not follow it.
    """

    functions: tuple[Bound, ...]
    evidence: BoundEvidence | None

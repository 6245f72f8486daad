"""The words of a proof rule: what it is given (`Instance`), what it returns (`Bounds`), and the evidence for that.

To add a rule, write a file here with the rule, its lemma and the proof of the lemma in the docstring, and add a line to
the list of `dipc.rules.every_rule`. `check`, `tighten`, `solve`, certificates and plots all try that list. A rule whose
bounds the checker can follow returns evidence: plain data that the checker adds up again without linear programming.
Other rules return no evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from dipc.algebra.exppoly import Closed
from dipc.algebra.limits import Limits
from dipc.chain.state import Affine, Constraint, contradict
from dipc.decide.obligation import Obligation
from dipc.frozen import LazyModule, frozen
from dipc.measure.measure import Bound
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm

if TYPE_CHECKING:
    from dipc.rules import centered_exits
    from dipc.rules.halfspaces import Ceiling, Moving, SlackBound
else:
    centered_exits = LazyModule("dipc.rules.centered_exits")


class Variable(StrEnum):
    """The variable of an obligation: eps, or an open distance times eps."""

    EPS = "eps"
    ALPHA_EPS = "alpha*eps"
    GAMMA_EPS = "gamma*eps"

    @property
    def product(self) -> Variable | None:
        """The variable itself if it is a product with eps, None if it is eps."""
        return None if self is Variable.EPS else self


class Sharpness(Enum):
    """The relation of a bound to the probabilities that the claim is about.

    A `BOUND` is only known to be at most each of these probabilities. A `PROBABILITY` is one of them, or inputs of the
    class come arbitrarily close to it. A `FAR_LIMIT` is their limit at inputs with growing distances and falling eps
    (see `far_away.py`). Whatever refutes an obligation about one of the last two refutes the claim; but no single input
    needs a beta as large as a far limit does.
    """

    BOUND = "bound"
    PROBABILITY = "probability"
    FAR_LIMIT = "far limit"


class BoundEvidence:
    """The evidence for a bound, from which a certificate is written."""


@frozen
class ProofStep:
    """A step of a proof: an obligation with its variable, the evidence for its bound, and how sharp the bound is.

    `evidence` is None if the probability was measured as it is, or if the obligation states a stronger claim.
    """

    obligation: Obligation
    variable: Variable
    evidence: BoundEvidence | None
    sharpness: Sharpness = Sharpness.BOUND

    @property
    def exact(self) -> bool:
        """Whether the refutation of the obligation refutes the claim."""
        return self.sharpness is not Sharpness.BOUND


@frozen
class ClaimedDistances:
    """The alpha and gamma of a claim as functions of an open distance: base + rate·distance.

    If both rates are 0, no distance is open and both are numbers. If `start` is given, the distance is any integer >=
    `start`, and the bounds of slacks are the best ones at the distance `start` + `further`.
    """

    alpha_base: Fraction
    alpha_rate: Fraction
    gamma_base: Fraction
    gamma_rate: Fraction
    start: int | None = None
    further: int = 0

    @staticmethod
    def fixed(alpha: Fraction, gamma: Fraction) -> ClaimedDistances:
        """Return the numbers `alpha` and `gamma`, without an open distance."""
        return ClaimedDistances(alpha, Fraction(0), gamma, Fraction(0))

    @property
    def is_open(self) -> bool:
        """True if the claim is about every distance >= 0, so that bounds have to be functions of distance·eps."""
        return self.start is None and bool(self.alpha_rate or self.gamma_rate)

    @property
    def alpha(self) -> Fraction | None:
        """The value of alpha if it does not depend on the open distance, else None."""
        return None if self.alpha_rate else self.alpha_base

    @property
    def sharpest(self) -> Fraction | None:
        """The alpha at which the bounds of slacks should be greatest; None if they are for every alpha."""
        if self.start is None:
            return self.alpha
        return self.alpha_base + self.alpha_rate * (self.start + self.further)

    def is_nonnegative(self, slack: SlackBound) -> bool:
        """Return True if the bound `slack` is at least 0 at each of the claimed distances."""
        return slack.slope >= 0 and slack.base + (self.start or 0) * slack.slope >= 0

    def level(self, slack: SlackBound) -> centered_exits.Level:
        """Return the level (base, slope) to which the bound `slack` sets a slack in an event.

        - Without an open distance, the level is (the bound as a number, 0).
        - For an open distance, it is (the bound's multiple of the distance, 0).
        - For integer distances from `start` on, it is the bound's own base and slope.
        """
        if self.start is not None:
            return slack.base, slack.slope
        return (slack.slope if self.is_open else slack.base), Fraction(0)


class Derivation(StrEnum):
    """The derivation of a bound from bounds of slacks, by its name in a certificate.

    - `WAYS`: Σ weight·Π Pr[event] over the exits to the answer, with each slack at its lower bound. An event only grows
      with its slacks.
    - `OTHERS`: 1 - Σ weight·Π Pr[event] over the exits to other answers, with each slack at its upper bound. A
      constraint whose slack has no upper bound is left out of its event, which makes the event only more probable.
    - `VERTICES`: several bounds, one of which is at most the probability at each input, at the vertices of a box of
      probabilities of single comparisons (`dipc/rules/vertices.py`).
    - `TAILS`: joint tails of exits to other answers (`dipc/rules/joint_tails.py`).
    """

    WAYS = "ways"
    OTHERS = "others"
    VERTICES = "vertices"
    TAILS = "tails"


@frozen
class Farkas(BoundEvidence):
    """The evidence for a bound that follows, by its `derivation`, from bounds of slacks proved by Farkas weights.

    All inputs that the claim is about satisfy the `halfspaces`, by which the `slacks` are bounded at the `distances`.
    For `OTHERS` these are bounds of negated slacks, for `VERTICES` and `TAILS` of each slack, its negative, and sums.
    """

    derivation: Derivation
    halfspaces: tuple[Moving, ...]
    distances: ClaimedDistances
    slacks: tuple[SlackBound, ...]


@frozen
class BetaSummand(BoundEvidence):
    """The evidence for a bound that is compared with another beta, whose claim implies the given claim.

    The other beta is a smaller function, or a summand of beta for one part of what the answer needs. `least` is a
    function of eps that is at most beta, or None if none is known.
    """

    least: BetaForm | None


# --- why a class is proved --------------------------------------------------------------------------


@frozen
class ProvedClass:
    """A proved class: obligations that hold for all of its inputs.

    `dd` is the distance of all inputs of the class, a rational or `inf`, if it is known. `ceiling` proves that the
    obligation covers all values of alpha·eps. `other_obligations` also hold, if several bounds are needed. `unverified`
    names the part of the proof that the checker cannot verify. If the class was proved for each integer distance,
    `step` is about the distance 1, and `counted` has the bounds of slacks at greater ones.
    """

    step: ProofStep
    dd: str | None
    ceiling: Ceiling | None
    other_obligations: tuple[Obligation, ...] = ()
    unverified: str | None = None
    counted: tuple[SlackBound, ...] = ()


@frozen
class Unverified:
    """The evidence for a class that was proved in a way that the checker does not follow; `reason` says in which."""

    reason: str


def _no_exits() -> None:
    return None


@dataclass(frozen=True)
class Instance:
    """The input of a rule: all inputs that satisfy the `guards` and lie behind the `facets`, at the `distances`.

    `exits` are all exits with the answer of the class; `find_others()` computes the exits to other answers, when a
    rule first reads them. `slots` are the inputs that are not finite, of which `whole` are ints. `slack_forms()`
    gives the slacks of the instance that this one was made from, and is None for an original one. `find_near(gamma)`
    returns an event of noises in which the output is near det at every exit, for every gamma from the given one on,
    or None if none is known.

    Invariant: for each input u of the instance, the probability of the answer is the sum of weight·Pr[event] over the
    exits whose guards hold at u.
    """

    exits: Sequence[centered_exits.CenteredExit]
    facets: Sequence[Moving]
    distances: ClaimedDistances
    slots: Sequence[int] = ()
    whole: frozenset[int] = frozenset()
    guards: Sequence[Constraint] = ()
    find_others: Callable[[], Sequence[centered_exits.CenteredExit] | None] = _no_exits
    slack_forms: Callable[[], Sequence[Affine]] | None = None
    find_near: Callable[[Fraction], centered_exits.CenteredExit | None] = lambda _: None

    @cached_property
    def other_exits(self) -> Sequence[centered_exits.CenteredExit] | None:
        """All exits to other answers than that of the class.

        None if not all outputs are finite or there are too many exits.

        Raises Undecided.
        """
        return self.find_others()

    @cached_property
    def possible_other_exits(self) -> Sequence[centered_exits.CenteredExit]:
        """The exits to other answers that inputs of the instance can take; none if `other_exits` is None."""
        return [each for each in self.other_exits or () if not contradict([*self.guards, *each.guards])]

    @cached_property
    def forms(self) -> Sequence[Affine]:
        """The slacks of all events, of this answer and of others, as they were before any exits were united."""
        return list(dict.fromkeys(self._slacks())) if self.slack_forms is None else self.slack_forms()

    def _slacks(self) -> Iterator[Affine]:
        for centered in (*self.exits, *(self.other_exits or ())):
            for component in centered.parts:
                for half in component.halfspaces:
                    if half.slack.inputs and not half.radius:
                        yield half.slack

    def united(self, intervals: tuple[Interval, ...], limits: Limits) -> Instance:
        """Return the instance after uniting all exits that differ in a single comparison.

        The probabilities are the same for all eps in `intervals`; signs of weights are decided within `limits`.
        """

        def other_instance_exits() -> Sequence[centered_exits.CenteredExit] | None:
            return (
                None
                if self.other_exits is None
                else centered_exits.united(self.possible_other_exits, intervals, limits)
            )

        exits = centered_exits.united(self.exits, intervals, limits)
        return replace(self, exits=exits, find_others=other_instance_exits, slack_forms=lambda: self.forms)

    def weighted(self, values: Mapping[Closed, Fraction]) -> Instance:
        """Return the instance with the weights of choices replaced by the numbers in `values`."""

        def other_instance_exits() -> Sequence[centered_exits.CenteredExit] | None:
            return None if self.other_exits is None else centered_exits.with_weights(self.other_exits, values)

        exits = centered_exits.with_weights(self.exits, values)
        return replace(self, exits=exits, find_others=other_instance_exits, slack_forms=lambda: self.forms)

    def at_distances(self, distances: ClaimedDistances) -> Instance:
        """Return the instance with `distances` in place of its own."""
        return replace(self, distances=distances, find_others=lambda: self.other_exits, slack_forms=lambda: self.forms)


@frozen
class Bounds:
    """The result of a rule: at every input of the instance the probability is at least one of the `functions`.

    At another value of the variable, it may be another one of them. The functions depend on distance·eps if a
    distance is open, and on eps otherwise. For integer distances from a start on, they depend on eps and on the
    integer DISTANCE that their events mention. `evidence` is the proof, or None if the checker does not follow it.
    """

    functions: tuple[Bound, ...]
    evidence: BoundEvidence | None


@frozen
class Rule:
    """A proof rule: its name, and its function `bounds` from an instance to bounds.

    `bounds` returns None if the rule does not apply, and raises Undecided past a limit. `of_others` says that the rule
    reads the exits to other answers.
    """

    name: str
    bounds: Callable[[Instance], Bounds | None]
    of_others: bool = False

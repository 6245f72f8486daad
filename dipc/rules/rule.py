"""What a proof rule is: from inputs behind facets, at claimed distances, to functions that bound their probabilities.

A rule is a function of an `Instance`. To add one: a file here with the rule, its lemma and the proof of that in the
docstring, and a line in the list of `dipc.rules.every_rule`; `check`, `tighten`, `solve`, certificates and plots all
try that list. What the checker is to follow brings its evidence: why a bound of a class
of inputs is one, as plain data that can be added up again without linear programming. Other rules bring none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from dipc.algebra.exppoly import Closed
from dipc.algebra.limits import Limits
from dipc.chain.state import Affine, Constraint, contradict
from dipc.decide.obligation import Obligation
from dipc.frozen import Later, frozen
from dipc.measure.measure import Bound
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm

if TYPE_CHECKING:
    from dipc.rules import centered_exits
    from dipc.rules.halfspaces import Ceiling, Corner, Moving
else:
    centered_exits = Later("dipc.rules.centered_exits")


class Variable(StrEnum):
    """What the functions of an obligation are functions of."""

    EPS = "eps"
    ALPHA_EPS = "alpha*eps"
    GAMMA_EPS = "gamma*eps"


class Why:
    """Why a bound is one. `exact`: it is the probability itself, at an input that the claim is about, so that what
    refutes the obligation refutes the claim; otherwise it is a lower bound only, with evidence (Farkas weights, the
    complement, a union) from which a certificate is written."""

    exact: ClassVar[bool] = False


@frozen
class OnlyEnclosed(Why):
    """The obligation is that of the stronger claim: what refutes it does not refute the claim."""


@frozen
class Posed:
    """An obligation with where it comes from."""

    obligation: Obligation
    variable: Variable
    why: Why


@frozen
class TheProbability(Why):
    """The bound of an obligation is the probability itself, at an input that the claim is about."""

    exact: ClassVar[bool] = True


@frozen
class ClaimedDistances:
    """What alpha and gamma are, as base + rate·distance of the distance that is left open; with both rates 0 none is,
    and all numbers are what they are. With a `start` the distance is any integer from there on, and bounds of slacks
    are the best where it is `further` than the start."""

    alpha_base: Fraction
    alpha_rate: Fraction
    gamma_base: Fraction
    gamma_rate: Fraction
    start: int | None = None
    further: int = 0

    @property
    def is_open(self) -> bool:
        """Whether any distance >= 0 is meant, so that bounds have to be functions of distance·eps."""
        return self.start is None and bool(self.alpha_rate or self.gamma_rate)

    @property
    def alpha(self) -> Fraction | None:
        """alpha where it is a number, else None."""
        return None if self.alpha_rate else self.alpha_base

    @property
    def sharpest(self) -> Fraction | None:
        """The alpha at which bounds of slacks are to be the best; None for all of them (see `best_bound`)."""
        if self.start is None:
            return self.alpha
        return self.alpha_base + self.alpha_rate * (self.start + self.further)

    def is_nonnegative(self, slack: SlackBound) -> bool:
        """Whether the bound is at least 0 at each of these distances."""
        return slack.slope >= 0 and slack.base + (self.start or 0) * slack.slope >= 0

    def level(self, slack: SlackBound) -> centered_exits.Level:
        """What events are taken at for a slack with this bound: at a number, or at this multiple of an open distance;
        at integer distances both count."""
        if self.start is not None:
            return slack.base, slack.slope
        return (slack.slope if self.is_open else slack.base), Fraction(0)


@frozen
class SlackBound:
    """form(u) + radius·gamma >= base + distance·slope for every input u of a class, with the claim's alpha and gamma.

    The proof: form = constant + Σ weight · (form of that half-space) with weights > 0, and each half-space has
    form(u) >= alpha·step. The bound is attained where all of these half-spaces are met. Of a form of int inputs the
    bound at a number alpha is rounded up to a value that it has at integers.
    """

    form: Affine
    radius: int
    weights: tuple[tuple[int, Fraction], ...]
    base: Fraction
    slope: Fraction

    @property
    def tight(self) -> tuple[int, ...]:
        return tuple([k for k, _ in self.weights])


@frozen
class ShareEvidence:
    """One share of a bound: `outputs` are bounds of what must not be negative for outputs without noise to be within
    gamma; `events` has one bound for each constraint of each event of the share, in their order."""

    outputs: tuple[SlackBound, ...]
    events: tuple[tuple[SlackBound, ...], ...]


@frozen
class Farkas(Why):
    """The bound is Σ weight·Π Pr[event] over ways to the answer, each event at lower bounds of its slacks; events only
    grow with their slacks. `halfspaces` hold all inputs that the claim is about."""

    halfspaces: tuple[Moving, ...]
    distances: ClaimedDistances
    shares: tuple[ShareEvidence, ...]


@frozen
class Exact(Why):
    """The bound is the probability at the inputs `corner`, too, which are in the class, at exactly the distance that
    the claim is about: nothing is lost."""

    bound: Farkas
    corner: Corner

    exact: ClassVar[bool] = True


@frozen
class Approached(Why):
    """The bound is what the probabilities at inputs of the class come as near to as one likes: where it fails, the
    claim does at one of them."""

    bound: Farkas

    exact: ClassVar[bool] = True


@frozen
class Complement(Why):
    """The bound is 1 - Σ weight·Π Pr[event] over ways to other answers, each event at upper bounds of its slacks.

    `shares` has their negatives: -form(u) >= base + distance·slope. Constraints whose slack has no upper bound are left
    out of the events, which only grow by that.
    """

    halfspaces: tuple[Moving, ...]
    distances: ClaimedDistances
    shares: tuple[ShareEvidence, ...]


@frozen
class Jointly(Why):
    """Bounds of which at each input of the class one is at most the probability, where slacks cannot all be worst at
    once: at the vertices of a box of probabilities of single comparisons (see `vertices`), or of joint `tails` of exits
    with other answers (see `joint_tails`). `slacks` are bounds of the slacks, and of sums of them, from both sides."""

    halfspaces: tuple[Moving, ...]
    distances: ClaimedDistances
    slacks: tuple[SlackBound, ...]
    tails: bool


@frozen
class Summand(Why):
    """The bound is one of the claim with another beta, which implies the claim, by itself or with others: with a
    summand of beta for one thing that the answer needs, or with less than beta. `least` is what beta is at least, as a
    function of eps, None where that is not known."""

    least: BetaForm | None


# --- what the verdict on a class rests on -----------------------------------------------------------


@frozen
class Proved:
    """The obligation holds, and it is about all inputs of the class: those at a distance of `dd` where that is given,
    a rational or `inf`. `ceiling` is why its values of alpha·eps are all that there are. `besides` are other
    obligations that hold, where several bounds are needed. `beyond` says what of the proof cannot be added up again
    from them; with `counted` it is about integer distances, `posed` about the least, 1, and these are bounds of slacks
    at greater ones."""

    posed: Posed
    dd: str | None
    ceiling: Ceiling | None
    besides: tuple[Obligation, ...] = ()
    beyond: str | None = None
    counted: tuple[SlackBound, ...] = ()


@frozen
class Empty:
    """No input of the class is so far from other answers that something is claimed."""

    ceiling: Ceiling


def _no_exits() -> None:
    return None


@dataclass(frozen=True)
class Instance:
    """What a rule is applied to: all inputs that satisfy the `guards` and are behind the `facets`, at the claimed
    `distances`, with all `exits` with their answer; those with other answers are looked for when a rule asks for them.
    `slots` are the inputs that are not finite, of which `whole` are ints. `find_near` gives, for every gamma from some
    number on, an event of noises in which the output is near det at every exit; None where none is known."""

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
    def others(self) -> Sequence[centered_exits.CenteredExit] | None:
        """All ways to other answers; None where outputs are not all finite, or there are too many. Raises Undecided."""
        return self.find_others()

    @cached_property
    def possible_others(self) -> Sequence[centered_exits.CenteredExit]:
        """The exits to other answers that inputs of the instance may take; none where they are not known."""
        return [each for each in self.others or () if not contradict([*self.guards, *each.guards])]

    @cached_property
    def forms(self) -> Sequence[Affine]:
        """The slacks of all events, to the answer and to others, before any were put together."""
        return list(dict.fromkeys(self._slacks())) if self.slack_forms is None else self.slack_forms()

    def _slacks(self) -> Iterator[Affine]:
        for centered in (*self.exits, *(self.others or ())):
            for component in centered.parts:
                for half in component.halfspaces:
                    if half.slack.inputs and not half.radius:
                        yield half.slack

    def united(self, intervals: tuple[Interval, ...], limits: Limits) -> Instance:
        """The instance with exits united that differ in a single comparison."""

        def others() -> Sequence[centered_exits.CenteredExit] | None:
            return None if self.others is None else centered_exits.united(self.possible_others, intervals, limits)

        exits = centered_exits.united(self.exits, intervals, limits)
        return replace(self, exits=exits, find_others=others, slack_forms=lambda: self.forms)

    def weighted(self, values: Mapping[Closed, Fraction]) -> Instance:
        """The instance with numbers for the weights of choices."""

        def others() -> Sequence[centered_exits.CenteredExit] | None:
            return None if self.others is None else centered_exits.with_weights(self.others, values)

        exits = centered_exits.with_weights(self.exits, values)
        return replace(self, exits=exits, find_others=others, slack_forms=lambda: self.forms)

    def at(self, distances: ClaimedDistances) -> Instance:
        """The instance at other distances."""
        return replace(self, distances=distances, find_others=lambda: self.others, slack_forms=lambda: self.forms)


@frozen
class Bounds:
    """At every value of the variable, and every input of the instance, the probability of the answer is at least one of
    the `functions`, which are functions of distance·eps where a distance is open, of eps otherwise; from a start on, of
    eps and the integer DISTANCE that their events mention. `why` is the proof, None for one that the checker does not
    follow."""

    functions: tuple[Bound, ...]
    why: Why | None


@frozen
class Rule:
    """A proof rule, with its name; `of_others`: it is about the ways to other answers. `bounds` gives None where the
    rule does not apply, and raises Undecided past a limit."""

    name: str
    bounds: Callable[[Instance], Bounds | None]
    of_others: bool = False

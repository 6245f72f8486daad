"""What a proof rule is: from inputs behind facets, at claimed distances, to functions that bound their probabilities.

A rule is a function of an `Instance`. To add one: a file here with the rule, its lemma and the proof of that in the
docstring, and a line in the list of `dipc.rules.every_rule`; `check`, `tighten`, `solve`, certificates and plots all
try that list. What the checker is to follow brings its evidence (`dipc.rules.evidence`), other rules bring none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from dipc.algebra.exppoly import Closed
from dipc.algebra.limits import Limits
from dipc.chain.constraints import Affine, Constraint, contradict
from dipc.frozen import frozen
from dipc.measure.measure import Bound
from dipc.rules.centered_exits import CenteredExit, united, with_weights
from dipc.rules.evidence import ClaimedDistances, Why
from dipc.rules.halfspaces import Moving
from dipc.sign.interval import Interval


def _not_known() -> None:
    return None


@dataclass(frozen=True)
class Instance:
    """What a rule is applied to: all inputs that satisfy the `guards` and are behind the `facets`, at the claimed
    `distances`, with all `ways` to their answer; those to other answers are found when a rule asks for them. `slots`
    are the inputs that are not finite, of which `whole` are ints."""

    ways: Sequence[CenteredExit]
    facets: Sequence[Moving]
    distances: ClaimedDistances
    slots: Sequence[int] = ()
    whole: frozenset[int] = frozenset()
    guards: Sequence[Constraint] = ()
    find_others: Callable[[], Sequence[CenteredExit] | None] = _not_known
    of_ways: Callable[[], Sequence[Affine]] | None = None

    @cached_property
    def others(self) -> Sequence[CenteredExit] | None:
        """All ways to other answers; None where outputs are not all finite, or there are too many. Raises Undecided."""
        return self.find_others()

    @cached_property
    def forms(self) -> Sequence[Affine]:
        """The slacks of all events, to the answer and to others, before any were put together."""
        return list(dict.fromkeys(self._slacks())) if self.of_ways is None else self.of_ways()

    def _slacks(self) -> Iterator[Affine]:
        for centered in (*self.ways, *(self.others or ())):
            for component in centered.parts:
                for half in component.halfspaces:
                    if half.slack.inputs and not half.radius:
                        yield half.slack

    def united(self, intervals: tuple[Interval, ...], limits: Limits) -> Instance:
        """The same where ways that differ in one comparison alone are put together."""

        def others() -> Sequence[CenteredExit] | None:
            if self.others is None:
                return None
            possible = [centered for centered in self.others if not contradict([*self.guards, *centered.guards])]
            return united(possible, intervals, limits)

        ways = united(self.ways, intervals, limits)
        return replace(self, ways=ways, find_others=others, of_ways=lambda: self.forms)

    def weighted(self, values: Mapping[Closed, Fraction]) -> Instance:
        """The same with numbers for weights of choices."""

        def others() -> Sequence[CenteredExit] | None:
            return None if self.others is None else with_weights(self.others, values)

        ways = with_weights(self.ways, values)
        return replace(self, ways=ways, find_others=others, of_ways=lambda: self.forms)

    def at(self, distances: ClaimedDistances) -> Instance:
        """The same at other distances."""
        return replace(self, distances=distances, find_others=lambda: self.others, of_ways=lambda: self.forms)


@frozen
class Bounds:
    """At every value of the variable, and every input of the instance, the probability of the answer is at least one of
    the `functions`, which are functions of distance·eps where a distance is open, of eps otherwise. `why` is the proof,
    None for one that the checker does not follow."""

    functions: tuple[Bound, ...]
    why: Why | None


@frozen
class Rule:
    """A proof rule, with its name; `of_others`: it is about the ways to other answers. `bounds` gives None where the
    rule does not apply, and raises Undecided past a limit."""

    name: str
    bounds: Callable[[Instance], Bounds | None]
    of_others: bool = False

"""Probabilities where the `metric` block says which answers are near enough, instead of the product distance."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dipc.algebra.limits import Limits, OutsideFragment
from dipc.algebra.quotient import Closed
from dipc.chain.event import EventTemplate
from dipc.chain.flow import Flow
from dipc.exits.choices import Choices
from dipc.exits.probability import Cells, ExitShare, Needs, Probabilities
from dipc.measure.bound import Bound
from dipc.measure.measure import Measurer
from dipc.metric.nearness import Nearness
from dipc.tables.cells import Cell


class NearProbabilities(Probabilities):
    """Pr[d'_u(P(u), v) <= gamma] for the exact answers v of one program with finite outputs, as closed forms in eps.

    It is the sum of the probabilities of all answers that are near enough: they exclude each other.
    """

    def __init__(
        self, flow: Flow, limits: Limits, choices: Choices, measurer: Measurer | None, nearness: Nearness
    ) -> None:
        """Raises DiagnosticError for a program with real or int outputs."""
        super().__init__(flow, limits, choices, measurer)
        nearness.require_finite()
        self._nearness = nearness
        self._accepted: dict[tuple[Cell | None, ...], tuple[tuple[Cell, ...], ...]] = {}

    def bound(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> Bound:
        accepted = self._near(inputs, outputs, gamma)
        one_by_one = [super(NearProbabilities, self).bound(inputs, answer, gamma) for answer in accepted]
        found = Bound(tuple([share for bound in one_by_one for share in bound.shares]))
        return self._interned.setdefault(found, found)

    def shares(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> tuple[ExitShare, ...]:
        found: list[ExitShare] = []
        for answer in self._near(inputs, outputs, gamma):
            found += self._shares(inputs, answer, gamma)
        return tuple(found)

    def exits(self, inputs: Sequence[Cell], outputs: Cells) -> tuple[tuple[EventTemplate, Closed | None], ...]:
        """Never: which answers are near enough depends on the input, and is not the same for a class of them."""
        del inputs, outputs
        raise OutsideFragment("which answers are near enough depends on the input: they are not the same for a class")

    def needs(self, inputs: Sequence[Cell], outputs: Cells) -> Needs:
        del inputs, outputs  # the distance may depend on everything
        return Needs(tuple(self._real_inputs), ())

    def _near(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> tuple[tuple[Cell, ...], ...]:
        key = (*inputs, *outputs, gamma)
        known = self._accepted.get(key)
        if known is None:
            assert isinstance(gamma.value, Fraction)
            self._accepted.clear()  # each row is asked about a few times in a row
            known = self._accepted[key] = self._nearness.accepted(inputs, outputs, gamma.value)
        return known

"""Programs as objects: their output probabilities in closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.combine import total
from dipc.algebra.limits import Limits
from dipc.algebra.rationals import exact_rational
from dipc.chain.flow import Flow, analyze
from dipc.exits.choices import Choices, check_choices
from dipc.exits.laws import Laws
from dipc.exits.near_answers import NearProbabilities
from dipc.exits.probability import Probabilities
from dipc.lang.core import Value
from dipc.lang.core_program import CoreProgram
from dipc.measure.bound import BoundMeasurer
from dipc.measure.measure import Measurer
from dipc.metric.nearness import Nearness
from dipc.tables.assignment import input_cells, output_cells
from dipc.tables.cells import CellPool, show_value


@dataclass(frozen=True, slots=True)
class Outcome:
    """One combination of values of the finite outputs, as texts by name (None: never assigned), with its probability.
    Real and int outputs are left open: the probability is that of all their values together."""

    output: Mapping[str, str | None]
    probability: ClosedForm


#: Called with the number of exits measured and of all.
Progress = Callable[[int, int | None], None]


class Program:
    """A typed program that the engine can execute; made by `dipc.load`."""

    def __init__(self, core: CoreProgram, limits: Limits | None = None) -> None:
        self.core = core
        self.limits = limits or Limits()
        self._pool = CellPool()

    def __repr__(self) -> str:
        constants = ", ".join(f"{name} = {value}" for name, value in self.core.constants.items())
        at = "" if self.core.only_at is None else f" at eps = {self.core.only_at}"
        return f"<dipc program {self.name}{' with ' + constants if constants else ''}{at}>"

    @property
    def name(self) -> str:
        """The name after `program`."""
        return self.core.name

    @property
    def constants(self) -> dict[str, Fraction]:
        """The constants with the values they have here."""
        return dict(self.core.constants)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs, in order; arrays element by element."""
        return tuple(self.core.slots[slot].name for slot in self.core.inputs)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs, in order; arrays element by element."""
        return tuple(self.core.slots[slot].name for slot in self.core.outputs)

    def with_limits(self, limits: Limits) -> Program:
        """The same program, worked on within other limits."""
        return Program(self.core, limits)

    @cached_property
    def flow(self) -> Flow:
        """Control and data flow, analyzed once."""
        return analyze(self.core)

    @cached_property
    def choices(self) -> Choices:
        """The weights of all choices, proved to be distributions; raises DiagnosticError for those that are none."""
        return check_choices(self.core, self.limits)

    @cached_property
    def measurer(self) -> Measurer:
        """Measures events, and remembers the integrals it has done for this program."""
        return Measurer(self.limits)

    def probabilities(self) -> Probabilities:
        """A fresh engine for the rows of one table: Pr[d'_u <= gamma] by the distance of the `metric` block, if any."""
        nearness = Nearness(self.core, self.limits)
        if nearness.plain:
            return Probabilities(self.flow, self.limits, self.choices, self.measurer)
        return NearProbabilities(self.flow, self.limits, self.choices, self.measurer, nearness)

    @cached_property
    def _engine(self) -> Probabilities:
        return Probabilities(self.flow, self.limits, self.choices, self.measurer)

    def probability(
        self,
        input: Mapping[str, object],  # noqa: A002 - the contract's name
        output: Mapping[str, object],
        gamma: Fraction | int | str = 0,
    ) -> ClosedForm:
        """Pr[output] for every eps > 0, exactly: finite outputs equal, real and int ones within `gamma` of those given.

        Values are texts as in a table, ints, Fractions or bools; an array may be given as a sequence under its name.
        Outputs that are left out are unconstrained.

        Raises DiagnosticError for values that do not fit the program, Undecided past a limit, TypeError for floats.
        """
        radius = exact_rational(gamma, "gamma")
        if radius < 0:
            raise ValueError(f"gamma is at least 0, not {radius}")
        inputs = input_cells(self.core, input, self._pool)
        outputs = output_cells(self.core, output, self._pool)
        return self._engine.probability(inputs, outputs, self._pool.cell(radius)).standing_for(self.core.only_at)

    def chain(self, input: Mapping[str, object], output: Mapping[str, object] | None = None) -> Any:  # noqa: A002
        """The Markov chain at an input: what each state knows of the noises drawn so far, and the exact probability of
        each step; cut where it cannot come to `output`. A notebook shows it as a table.
        The result is a `dipc.report.dtmc.Dtmc`.

        Raises as `probability` does; a step whose probability is past a limit has the reason in its place.
        """
        from dipc.library.chains import chain_of

        return chain_of(self, input, output or {})

    def outcomes(
        self,
        input: Mapping[str, object],  # noqa: A002 - the contract's name
        progress: Progress | None = None,
    ) -> tuple[Outcome, ...]:
        """All values of the finite outputs that can occur, with their probabilities, which sum to exactly 1.

        In the order of the outputs' domains. Raises as `probability` does.
        """
        core = self.core
        values: dict[int, Value] = {}
        for slot, cell in zip(core.inputs, input_cells(core, input, self._pool), strict=True):
            assert cell.value is not None
            values[slot] = cell.value
        laws = self.laws()
        bounds = BoundMeasurer(self.measurer)
        found: dict[tuple[Value | None, ...], ClosedForm] = {}
        asked = laws.at(values)
        for answer, bound in asked.items():
            if progress is not None:
                progress(len(found), len(asked))
            found[answer] = bounds.measure(bound)
        whole = total([form.value for form in found.values()])
        assert whole == 1, f"the probabilities of all outcomes sum to {whole}"
        return tuple(
            Outcome(
                {
                    slot.name: None if v is None else show_value(v)
                    for slot, v in zip(laws.observed, answer, strict=True)
                },
                form.standing_for(core.only_at),
            )
            for answer, form in found.items()
            if not form.value.is_zero()
        )

    def laws(self) -> Laws:
        """The laws of its finite outputs, inputs after inputs."""
        return Laws(self.flow, self.choices, self.limits)


def within(program: object, limits: object) -> Program:
    """The program, worked on within these limits where some are given; TypeError for what is neither."""
    if not isinstance(program, Program):
        raise TypeError(f"the program is what dipc.load gives, not {type(program).__name__}")
    if limits is not None and not isinstance(limits, Limits):
        raise TypeError(f"limits are given as dipc.Limits(terms=…), not {type(limits).__name__}")
    return program if limits is None else program.with_limits(limits)

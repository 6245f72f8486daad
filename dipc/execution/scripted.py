"""Run a program on a script: the chain's instructions, with every draw chosen beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Protocol

from dipc.chain.flow import Flow
from dipc.chain.step import as_number, is_never
from dipc.program import deterministic
from dipc.program.deterministic import DeterministicRun
from dipc.text.core import (
    Instruction,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Value,
)

#: Values by slot; None is not assigned.
Values = list[Value | None]


class ProgramFault(Exception):
    """Raised if a scripted run of the program fails, for example at a value outside a domain."""


class ScriptedDraws(Protocol):
    """The script of a run: the source of all its draws, in order."""

    def noise(self, draw: SampleNoise) -> Fraction:
        """Return the next draw of the script, the noise of the instruction `draw` before its mean is added."""

    def choice(self, draw: SampleChoice) -> int:
        """Return the next draw of the script: the index of the option that the instruction `draw` chooses.

        The index does not count options whose weight is the constant 0.
        """

    def exponential(self, draw: SampleExponential, scores: Sequence[Fraction]) -> int:
        """Return the next draw of the script: the index of the candidate that the instruction `draw` chooses.

        `scores` has the score of each candidate.
        """


class ScriptedRun(DeterministicRun):
    """A program prepared for runs in which all noises and choices come from a script."""

    def __init__(self, flow: Flow) -> None:
        self._draws: ScriptedDraws | None = None
        super().__init__(flow)

    def __reduce__(self) -> tuple[type[ScriptedRun], tuple[Flow]]:
        return ScriptedRun, (self._flow,)

    def run(self, inputs: Sequence[Value], draws: ScriptedDraws) -> Mapping[str, Value | None]:
        """Run the program at the values `inputs` with the script `draws`, and return its outputs by name.

        An output that was never assigned is None. Raises ProgramFault if the run fails.
        """
        flow = self._flow
        self._draws = draws
        values = self.finished(inputs)
        if values is None:
            raise ProgramFault
        return {flow.program.slots[slot].name: values[slot] for slot in flow.program.outputs}

    def _step(self, label: int, instruction: Instruction) -> Callable[[Values], int]:
        follow = self._flow.landing[label + 1]
        match instruction:
            case SampleNoise(target=target, mean=mean):
                center = deterministic.summed_form(mean)
                return self._assignment(target, lambda values: center(values) + self._chosen.noise(instruction), follow)
            case SampleChoice(target=target, arms=arms):
                kept = [value for value, weight in arms if not is_never(weight)]
                options = [deterministic.evaluated(value) for value in kept]

                def choose(values: Values) -> Value:
                    return options[self._chosen.choice(instruction)](values)

                return self._assignment(target, choose, follow)
            case SampleExponential(target=target, values=candidates, scores=scores):
                scored = [deterministic.evaluated(score) for score in scores]

                def select(values: Values) -> Value:
                    numbers = [as_number(score(values)) for score in scored]
                    return candidates[self._chosen.exponential(instruction, numbers)]

                return self._assignment(target, select, follow)
        return super()._step(label, instruction)

    @property
    def _chosen(self) -> ScriptedDraws:
        assert self._draws is not None, "draws are read during a run"
        return self._draws

"""Runs of a program by sampling, in batches, and counts of their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import TypedDict, Unpack

import numpy as np

from dipc.frozen import frozen
from dipc.simulation.batch import Batch, GivenUp
from dipc.text.diagnostic import SourceText, bad_input
from dipc.text.program import CoreProgram
from dipc.verifier.program import Machine, Sample, Value
from dipc.verifier.reading import DERIVATION_ENDS, Budget, why_it_ends
from dipc.verifier.syntax import read_program

#: The most rounds of one execution of a `while` in a run.
LOOP_LIMIT = 100_000

#: The number of runs that are executed together, and the memory that they may use; with less memory there are fewer.
_BATCH = 1 << 16
_BATCH_BYTES = 1 << 27

#: A callback that receives the number of finished runs and of all runs.
Progress = Callable[[int, int], None]

#: Values of some outputs: finite ones equal, reals and ints within gamma.
Event = Mapping[str, Value]


@frozen
class Tally:
    """The results of `runs` independent runs of the program at one input and one eps.

    `outputs` are the names of the finite outputs, in order. `counts` has the count of each combination of their values
    (None: never assigned), and `hits` the count of each of `events`, in which real outputs must be within `gamma` of
    the stated values. Equal arguments of `run`, including the seed, give equal tallies.
    """

    program: CoreProgram
    input: Mapping[str, Value]
    eps: Fraction
    seed: int
    outputs: tuple[str, ...]
    events: tuple[Event, ...]
    gamma: Fraction
    runs: int = 0
    counts: Counter[tuple[Value | None, ...]] = field(default_factory=Counter)
    hits: tuple[int, ...] = ()


class SimulationInterrupted(Exception):
    """Raised if Ctrl-C stopped a simulation; `tally` has the finished runs, of `total`."""

    def __init__(self, tally: Tally, total: int) -> None:
        super().__init__(f"interrupted after {tally.runs} of {total} runs")
        self.tally = tally
        self.total = total


class GivenRuns(TypedDict, total=False):
    """The options of runs, as keyword arguments.

    - `seed`: the seed of the random generator, by default 0.
    - `events`: the events to count, by default none. Real and int outputs may differ by at most `gamma`.
    - `gamma`: this distance, by default 0.
    - `loop_limit`: the greatest number of rounds of a `while` in one run.
    - `progress`: a function that is called with the number of finished runs and of all runs, or None.
    """

    seed: int
    events: Sequence[Event]
    gamma: Fraction
    loop_limit: int
    progress: Progress | None


def run(
    program: CoreProgram,
    input: Mapping[str, Value],  # noqa: A002 - the word of the language
    eps: Fraction,
    runs: int,
    **given: Unpack[GivenRuns],
) -> Tally:
    """Run `program`, which has passed all checks, `runs` times at `input` and `eps`, and count its results.

    The checker reads the text of the program again, with its constants. `input` has a value of the right type for every
    input. `given` has the seed, the events to count and the limits. Raises DiagnosticError if a run fails, and
    SimulationInterrupted on Ctrl-C. Raises GivenUp if a loop does not end, or if the checker cannot read the program.
    """
    machine, source = compiled(program, eps)
    seed, events, gamma = given.get("seed", 0), tuple(given.get("events", ())), given.get("gamma", Fraction(0))
    finite = [slot for slot in machine.numbered("output") if machine.slots[slot].type not in ("int", "real")]
    outputs = tuple([machine.slots[slot].name for slot in finite])
    tally = Tally(program, dict(input), eps, seed, outputs, events, gamma, hits=(0,) * len(events))
    generator, progress = np.random.Generator(np.random.PCG64(seed)), given.get("progress")
    metric = program.metric
    sides = {"above": (-1,), "below": (1,)}.get(str(metric.output) if metric is not None else "", _BOTH)
    try:
        while tally.runs < runs:
            if progress is not None:
                progress(tally.runs, runs)
            batch = Batch(machine, source, eps, input, generator, min(_batch_size(machine), runs - tally.runs))
            batch.run(given.get("loop_limit", LOOP_LIMIT))
            counts = Counter(tally.counts)
            counts.update(batch.counted(finite))
            hits = [np.count_nonzero(batch.happened(event, gamma, sides)) for event in events]
            tally = replace(
                tally,
                runs=tally.runs + batch.size,
                counts=counts,
                hits=tuple([before + int(now) for before, now in zip(tally.hits, hits, strict=True)]),
            )
    except KeyboardInterrupt:
        raise SimulationInterrupted(tally, runs) from None
    return tally


#: Both sides of a number, on each of which another one counts as near.
_BOTH = (1, -1)


def compiled(program: CoreProgram, eps: Fraction) -> tuple[Machine, SourceText]:
    """Return (machine, text): the text of `program` in the language, and the machine that the checker compiles from it.

    The constants in the machine are those of `program`. Raises DiagnosticError if the program is not for `eps`, and
    GivenUp if the checker does not read it.
    """
    program.require_meaning(eps)
    source, budget = program.source.in_language, Budget(2**62)
    try:
        # The metric and `requires` do not change what a run does.
        tree = replace(read_program(source.text, budget), at=program.only_at, metric=(), requires=())
        return Machine.compile(tree, program.constants, budget, normal_at_one_eps=True), source
    except DERIVATION_ENDS as error:
        message = f"`{program.name}` cannot be simulated: {why_it_ends(error)}"
        note = "runs follow the checker of certificates, which does not read this; `dipc prob` asks the engine alone"
        raise GivenUp(*bad_input("E0723", message, note).diagnostics) from None


@frozen
class JointHits:
    """The counts of an event in `runs` independent pairs of runs, one at each of two inputs, with the same noises.

    The event happened at the first input in `first` pairs, at the second input in `second` pairs, and at both inputs in
    `both` pairs.
    """

    runs: int
    first: int
    second: int
    both: int


def joint_hits(
    program: CoreProgram,
    inputs: tuple[Mapping[str, Value], Mapping[str, Value]],
    eps: Fraction,
    runs: int,
    event: Event,
    *,
    gamma: Fraction = Fraction(0),
    seed: int = 0,
) -> JointHits:
    """Run `program` at both `inputs` with equal noises and count `event`, in `runs` independent pairs of runs.

    The runs are at `eps`. A real output of `event` must be within `gamma` of the stated value. Equal values of `seed`
    give equal counts. Raises what `run` raises.
    """
    machine, source = compiled(program, eps)
    hits = JointHits(0, 0, 0, 0)
    while hits.runs < runs:
        size, masks = min(_batch_size(machine), runs - hits.runs), []
        for values in inputs:
            generator = np.random.Generator(np.random.PCG64([seed, hits.runs]))
            batch = Batch(machine, source, eps, values, generator, size, shared=True)
            batch.run(LOOP_LIMIT)
            masks.append(batch.happened(event, gamma, _BOTH))
        first, second, both = (int(np.count_nonzero(mask)) for mask in (*masks, masks[0] & masks[1]))
        hits = JointHits(hits.runs + size, hits.first + first, hits.second + second, hits.both + both)
    return hits


def _batch_size(machine: Machine) -> int:
    """Return the number of runs of `machine` that fit in memory.

    Each run keeps its variables, and at worst all its draws.
    """
    draws = sum(isinstance(instruction, Sample) for instruction in machine.code)
    return max(1, min(_BATCH, _BATCH_BYTES // (8 * (len(machine.slots) + draws + 1))))

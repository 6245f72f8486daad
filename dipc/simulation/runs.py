"""Running a program many times, and counting what comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from dipc.lang import ast
from dipc.lang.ast import CompareOp
from dipc.lang.core import SampleNoise, Value
from dipc.lang.core_program import CoreProgram
from dipc.lang.parser import parse
from dipc.simulation.batch import Batch
from dipc.simulation.columns import Mask, Positions, apply, constant, joined, truth_mask
from dipc.simulation.declarations import declared
from dipc.simulation.expressions import Expressions
from dipc.simulation.forms import compared, minus, plus
from dipc.simulation.noise import Noise, SharedNoise
from dipc.simulation.scope import Scope
from dipc.simulation.statements import Statements

#: The most often that a run goes through one execution of a `while`.
LOOP_LIMIT = 100_000

#: Runs that are executed together, fewer where each of them needs much memory, and the memory they may use.
_BATCH = 1 << 16
_BATCH_BYTES = 1 << 27

#: Called with the runs done and all runs.
Progress = Callable[[int, int], None]

#: Values of some outputs: finite ones equal, reals and ints within gamma.
Event = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Tally:
    """What came out of `runs` independent runs of the program at one input and one eps.

    `outputs` are the names of the finite outputs, in order, and `counts` says how often each combination of their
    values came out (None: never assigned). `hits` says how often each of `events` happened. Equal arguments of `run`,
    the seed among them, give equal tallies.
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
    """Ctrl-C. `tally` is about the runs that were finished, of `total`."""

    def __init__(self, tally: Tally, total: int) -> None:
        super().__init__(f"interrupted after {tally.runs} of {total} runs")
        self.tally = tally
        self.total = total


def run(
    program: CoreProgram,
    input: Mapping[str, Value],  # noqa: A002 - the word of the language
    eps: Fraction,
    runs: int,
    *,
    seed: int = 0,
    events: Sequence[Event] = (),
    gamma: Fraction = Fraction(0),
    loop_limit: int = LOOP_LIMIT,
    progress: Progress | None = None,
    noise: Noise | None = None,
) -> Tally:
    """Run a program that has passed all checks, from its text: of `program` only that, its constants and its size are
    used, not its instructions. `input` has a value of the right type for every input.

    Raises DiagnosticError for what goes wrong in some run, LoopLimitReached (one of them) for loops that do not end,
    SimulationInterrupted on Ctrl-C.
    """
    program.require_meaning(eps)
    tree = parse(program.source)
    scope = declared(tree, program.source, program.constants)
    outputs = tuple(name for name, variable, _ in scope.of_role(ast.Role.OUTPUT) if variable.finite)
    tally = Tally(program, dict(input), eps, seed, outputs, tuple(events), gamma, hits=(0,) * len(events))
    source = Noise(seed) if noise is None else noise
    most = _batch_size(program)
    try:
        while tally.runs < runs:
            if progress is not None:
                progress(tally.runs, runs)
            size = min(most, runs - tally.runs)
            batch = _executed(tree, scope, input, eps, size, source, loop_limit)
            tally = _counted(tally, batch, scope)
    except KeyboardInterrupt:
        raise SimulationInterrupted(tally, runs) from None
    return tally


@dataclass(frozen=True, slots=True)
class JointHits:
    """How often an event happened in `runs` independent pairs of runs with the same noises, at one input, at another,
    and at both."""

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
    """Run a program at two inputs with the same noises. The pairs of runs are independent of each other. Raises as
    `run` does."""
    program.require_meaning(eps)
    tree = parse(program.source)
    scope = declared(tree, program.source, program.constants)
    most = _batch_size(program)
    found = JointHits(0, 0, 0, 0)
    while found.runs < runs:
        size = min(most, runs - found.runs)
        masks = [
            _happened(
                event,
                gamma,
                _executed(tree, scope, values, eps, size, SharedNoise(seed, found.runs, size), LOOP_LIMIT),
                scope,
            )
            for values in inputs
        ]
        first, second, both = (int(np.count_nonzero(mask)) for mask in (*masks, masks[0] & masks[1]))
        found = JointHits(found.runs + size, found.first + first, found.second + second, found.both + both)
    return found


def _executed(
    tree: ast.Program,
    scope: Scope,
    input: Mapping[str, Value],  # noqa: A002 - as above
    eps: Fraction,
    size: int,
    noise: Noise,
    loop_limit: int,
) -> Batch:
    """The memory of so many runs after the last statement."""
    batch = Batch(scope, size, input)
    Statements(Expressions(scope, eps, batch), noise, loop_limit).block(tree.body, np.arange(size))
    return batch


def _batch_size(program: CoreProgram) -> int:
    """How many runs fit in the memory: each keeps its variables, and at worst all that it draws."""
    draws = sum(isinstance(instruction, SampleNoise) for instruction in program.instructions)
    return max(1, min(_BATCH, _BATCH_BYTES // (8 * (len(program.slots) + draws + 1))))


def _counted(tally: Tally, batch: Batch, scope: Scope) -> Tally:
    """The tally with the runs of one more batch."""
    outputs = scope.of_role(ast.Role.OUTPUT)
    finite = [batch.cell(variable, offset).peek() for _, variable, offset in outputs if variable.finite]
    counts = Counter(tally.counts)
    if finite:
        values = joined(finite)
        numbers = np.bincount(values.codes, minlength=len(values.values)).tolist()
        counts.update(dict(zip(values.values, numbers, strict=True)))
    else:
        counts[()] += batch.size
    hits = [int(np.count_nonzero(_happened(event, tally.gamma, batch, scope))) for event in tally.events]
    return replace(
        tally,
        runs=tally.runs + batch.size,
        counts=counts,
        hits=tuple(before + now for before, now in zip(tally.hits, hits, strict=True)),
    )


def _happened(event: Event, gamma: Fraction, batch: Batch, scope: Scope) -> Mask:
    """The runs in which every output that the event names has its value; one without a value has none."""
    happened = np.ones(batch.size, dtype=np.bool_)
    for name, variable, offset in scope.of_role(ast.Role.OUTPUT):
        if name not in event:
            continue
        cell, wanted = batch.cell(variable, offset), event[name]
        happened &= cell.codes >= 0
        at: Positions = np.flatnonzero(happened)
        if not len(at):
            break
        column = cell.read(at)
        if variable.finite:
            happened[at] = np.array([value == wanted for value in column.values], dtype=np.bool_)[column.codes]
        else:
            assert isinstance(wanted, Fraction)
            center, radius = constant(wanted, len(at)), constant(gamma, len(at))
            off = apply(minus, column, center)
            high = compared(CompareOp.LE, apply(minus, off, radius), at)
            low = compared(CompareOp.GE, apply(plus, off, radius), at)
            happened[at] = truth_mask(high) & truth_mask(low)
    return happened

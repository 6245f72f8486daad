"""Running a program many times, and counting what comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypedDict, Unpack

import numpy as np

from dipc.simulation.columns import (
    Batch,
    Mask,
    Positions,
    Scope,
    apply,
    compared,
    constant,
    joined,
    minus,
    plus,
    truth_mask,
)
from dipc.simulation.expressions import Expressions, declared
from dipc.simulation.statements import Noise, SharedNoise, Statements
from dipc.text import ast
from dipc.text.ast import CompareOp
from dipc.text.core import SampleNoise, Value
from dipc.text.parser import parse
from dipc.text.program import CoreProgram

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


class GivenRuns(TypedDict, total=False):
    """How runs are made and what is counted, as keyword arguments: how often each of `events` happens, the real outputs
    within `gamma`."""

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
    """Run a program that has passed all checks, from its text: of `program` only that, its constants and its size are
    used, not its instructions. `input` has a value of the right type for every input.

    Raises DiagnosticError for what goes wrong in some run, LoopLimitReached (one of them) for loops that do not end,
    SimulationInterrupted on Ctrl-C.
    """
    program.require_meaning(eps)
    tree = parse(program.source)
    scope = declared(tree, program.source, program.constants)
    outputs = tuple(name for name, variable, _ in scope.of_role(ast.Role.OUTPUT) if variable.finite)
    seed, events, gamma = given.get("seed", 0), tuple(given.get("events", ())), given.get("gamma", Fraction(0))
    tally = Tally(program, dict(input), eps, seed, outputs, events, gamma, hits=(0,) * len(events))
    noise, loop_limit, progress = Noise(seed), given.get("loop_limit", LOOP_LIMIT), given.get("progress")
    most = _batch_size(program)
    try:
        while tally.runs < runs:
            if progress is not None:
                progress(tally.runs, runs)
            size = min(most, runs - tally.runs)
            batch = _executed(tree, scope, input, eps, size, noise, loop_limit)
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

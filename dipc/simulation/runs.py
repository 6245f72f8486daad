"""Runs of a program, each statement for many runs at once, and counts of their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from fractions import Fraction
from math import exp, fsum
from typing import Any, TypedDict, Unpack, assert_never

import numpy as np
from numpy.typing import NDArray

from dipc.frozen import frozen
from dipc.simulation.expressions import (
    Batch,
    BatchExpressions,
    LoopLimitReached,
    Mask,
    OutsideDomain,
    Positions,
    RunColumn,
    SimulatedForm,
    SimulatedScope,
    apply,
    compared,
    constant,
    counted,
    declared,
    minus,
    plus,
    resolve_forms,
    split,
    text,
    truth_mask,
    zip_columns,
)
from dipc.text import ast
from dipc.text.ast import ARITHMETIC, BinaryOp, CompareOp, UnaryOp, weighing
from dipc.text.core import SampleNoise, Value
from dipc.text.diagnostic import Span
from dipc.text.parser import parse
from dipc.text.program import CoreProgram

_CONTEXT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[DivisionByZero, InvalidOperation, Overflow])

#: The rounding error allowed in a weight or a sum of weights; no simulation can notice a smaller error.
_SLACK = Decimal("1e-12")

Weight = Fraction | Decimal


def weight(expr: ast.Expr, exact: Callable[[ast.Expr], Fraction]) -> Weight:
    """Return the weight of `expr`, where `exact` evaluates expressions without `exp`.

    Raises ArithmeticError if the weight has no value, or is too large.
    """
    match expr:
        case ast.Call("exp", (argument,)):
            power = exact(argument)
            return _CONTEXT.exp(_decimal(power)) if power else Fraction(1)
        case ast.Unary(UnaryOp.NEGATE, operand):
            inner = weight(operand, exact)
            return -inner if isinstance(inner, Fraction) else _CONTEXT.minus(inner)
        case ast.Binary(BinaryOp.POWER, base, exponent):
            below, times = weight(base, exact), exact(exponent)
            return below ** int(times) if isinstance(below, Fraction) else _CONTEXT.power(below, int(times))
        case ast.Binary(op, first, second):
            return _combined(op, weight(first, exact), weight(second, exact))
        case _:
            return exact(expr)


def _combined(op: BinaryOp, left: Weight, right: Weight) -> Weight:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return Fraction(ARITHMETIC[op](left, right))
    with localcontext(_CONTEXT):
        return Decimal(ARITHMETIC[op](_decimal(left), _decimal(right)))


def _decimal(value: Weight) -> Decimal:
    if isinstance(value, Decimal):
        return value
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def shares(weights: Sequence[Weight]) -> list[float] | None:
    """Return `weights` as floats, or None if one is negative, or they do not sum to 1."""
    total: Weight = Fraction(0)
    for item in weights:
        total = _combined(BinaryOp.ADD, total, item)
    if isinstance(total, Fraction):
        fits = total == 1
    else:
        fits = _CONTEXT.abs(_CONTEXT.subtract(total, Decimal(1))) <= _SLACK
    if not fits or any(item < (0 if isinstance(item, Fraction) else -_SLACK) for item in weights):
        return None
    return [max(0.0, float(item)) for item in weights]


# --- random numbers: their only source -------------------------------------------------------------


#: The deviation above which a discrete normal is drawn by rounding.
_WIDE = 100_000


class NoiseSource:
    """Independent draws of standard distributions from one stream, NumPy's PCG64. Equal seeds give equal draws."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def attend(self, runs: Positions) -> None:
        """Set `runs` as the runs of the batch to which the next draws belong."""

    def laplace(self, size: int) -> NDArray[np.float64]:
        """Return `size` reals with density e^{-|x|}/2."""
        return self._generator.laplace(size=size)

    def truncated_laplace(self, low: float, high: float, size: int) -> NDArray[np.float64]:
        """Return `size` reals with density proportional to e^{-|x|} on [`low`, `high`], drawn by inversion."""
        # On each side, |x| is `near` plus a truncated exponential number; where there are two sides, `near` is 0.
        parts = ((1, max(0.0, low), high), (-1, max(0.0, -high), -low))
        sides = [(sign, near, np.expm1(near - far)) for sign, near, far in parts if near < far]
        is_first = self.uniform(size) * sum(fall for *_, fall in sides) >= sides[0][2]
        shares = self.uniform(size)
        drawn = [sign * (near - np.log1p(shares * fall)) for sign, near, fall in sides]
        chosen: NDArray[np.float64] = np.where(is_first, drawn[0], drawn[-1])
        return chosen

    def normal(self, size: int) -> NDArray[np.float64]:
        """Return `size` reals with density e^{-x²/2}/√(2π)."""
        return self._generator.standard_normal(size)

    def discrete_normal(self, deviation: float, size: int) -> NDArray[np.int64]:
        """Return `size` integers i with mass proportional to e^{-i²/(2·`deviation`²)}.

        They are drawn from masses cut off where less than 10^-20 is beyond. With a large deviation they are rounded
        normal draws, whose law differs by less than 10^-10.
        """
        if deviation > _WIDE:
            return np.rint(self.normal(size) * deviation).astype(np.int64)
        reach = int(10 * deviation) + 2
        values = np.arange(-reach, reach + 1)
        sums = np.cumsum(np.exp(-((values / deviation) ** 2) / 2))
        drawn: NDArray[np.int64] = values[np.searchsorted(sums, self.uniform(size) * sums[-1], side="right")]
        return drawn

    def exponential(self, size: int) -> NDArray[np.float64]:
        """Return `size` reals with density e^{-x} on [0, inf)."""
        return self._generator.standard_exponential(size)

    def exponential_pairs(self, size: int) -> NDArray[np.float64]:
        """Return two rows of `size` exponential draws."""
        return self._generator.standard_exponential((2, size))

    def uniform(self, size: int) -> NDArray[np.float64]:
        """Return `size` reals uniform on [0, 1)."""
        return self._generator.random(size)


class SharedNoise(NoiseSource):
    """A source that gives each run of a batch equal draws for two inputs, whichever other runs take part.

    The noises are equal as long as the same statements are executed in some run.
    """

    def __init__(self, seed: int, batch: int, size: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64([seed, batch]))
        self._size = size
        self._runs: Positions = np.arange(size)

    def attend(self, runs: Positions) -> None:
        self._runs = runs

    def laplace(self, size: int) -> NDArray[np.float64]:
        assert size == len(self._runs)
        return super().laplace(self._size)[self._runs]

    def exponential(self, size: int) -> NDArray[np.float64]:
        assert size == len(self._runs)
        return super().exponential(self._size)[self._runs]

    def exponential_pairs(self, size: int) -> NDArray[np.float64]:
        assert size == len(self._runs)
        return super().exponential_pairs(self._size)[:, self._runs]

    def normal(self, size: int) -> NDArray[np.float64]:
        assert size == len(self._runs)
        return super().normal(self._size)[self._runs]

    def uniform(self, size: int) -> NDArray[np.float64]:
        assert size == len(self._runs)
        return super().uniform(self._size)[self._runs]


# --- statements ------------------------------------------------------------------------------------


#: The bounds of rates: beyond these, sums of draws would overflow, or integers would not be exact.
_LEAST_RATE, _LEAST_WHOLE_RATE, _GREATEST_RATE = Fraction(1, 10**150), Fraction(1, 10**13), Fraction(10**150)


class BatchStatements:
    """An executor of the statements of a type-checked program in the runs of one batch."""

    def __init__(self, expressions: BatchExpressions, noise: NoiseSource, loop_limit: int) -> None:
        """Prepare to execute statements in the batch of `expressions`, with draws from `noise`.

        A run may take `loop_limit` rounds of one execution of a `while` at most.
        """
        self._expressions = expressions
        self._batch = expressions.batch
        self._noise = noise
        self._loop_limit = loop_limit

    def block(self, body: Sequence[ast.Statement], runs: Positions) -> Positions:
        """Execute `body` in `runs`, which increase, and return the runs that have not exited.

        Raises DiagnosticError for a failure in some run.
        """
        for statement in body:
            if not len(runs):
                break
            match statement:
                case ast.Assign(target, value):
                    self._store(target, self._expressions.column(value, runs), runs, statement.span)
                case ast.Sample(target, written):
                    distribution = self._expressions.without_ranges(written)
                    for alike in self._expressions.alike(weighing(distribution), runs):
                        self._sample(target, distribution, alike)
                case ast.If(condition, then, otherwise):
                    truth = self._expressions.holds(condition, runs)
                    self.block(then, runs[truth])
                    self.block(otherwise, runs[~truth])
                case ast.For():
                    self._for(statement, runs)
                case ast.While():
                    self._while(statement, runs)
                case ast.ExitStatement():
                    self._batch.alive[runs] = False
                case _:
                    assert_never(statement)
            if not isinstance(statement, ast.Assign | ast.Sample):
                runs = self._living(runs)
        return runs

    def _living(self, runs: Positions) -> Positions:
        alive = self._batch.alive[runs]
        return runs if alive.all() else runs[alive]

    def _for(self, loop: ast.For, runs: Positions) -> None:
        low, high = self._expressions.integer(loop.low), self._expressions.integer(loop.high)
        with self._expressions.local(loop.variable):
            for value in range(low, high + 1) if loop.body else ():
                if not len(runs):
                    break
                self._expressions.locals[loop.variable] = Fraction(value)
                runs = self.block(loop.body, runs)

    def _while(self, loop: ast.While, runs: Positions) -> None:
        rounds = 0
        while len(runs):
            runs = runs[self._expressions.holds(loop.condition, runs)]
            if rounds >= self._loop_limit and len(runs):
                raise self._endless(loop, runs)
            runs = self.block(loop.body, runs)
            rounds += 1

    def _endless(self, loop: ast.While, runs: Positions) -> LoopLimitReached:
        count, size = len(runs), self._batch.size
        message = f"after {self._loop_limit} rounds of this `while`, {count} of {size} runs are still in it"
        notes = ("if it ends with probability 1, but later, allow more rounds",)
        fault = self._expressions.fault("E0720", message, loop.span, int(runs[0]), *notes)
        return LoopLimitReached(*fault.diagnostics)

    # --- assignment ---

    def _store(self, target: ast.Name | ast.Element, column: RunColumn[Any], runs: Positions, span: Span) -> None:
        variable = self._expressions.scope.variables[target.name]
        if isinstance(target, ast.Name):
            offsets = constant(0, len(runs))
        else:
            offsets = self._expressions.offsets(variable, target.index, runs)
        if variable.base is not ast.BaseType.BOOL:
            column = apply(counted, column)
        if variable.finite and any(isinstance(value, SimulatedForm) for value in column.values):
            column = resolve_forms(column, runs)
        for offset, positions in split(offsets):
            cell = self._batch.cell(variable, offset)
            try:
                cell.write(runs[positions], column.select(positions))
            except OutsideDomain as outside:
                message = f"`{cell.name}` would become {text(outside.value)}, which is outside its domain"
                run, note = int(runs[positions[outside.position]]), "widen the domain, or guard the assignment"
                raise self._expressions.fault("E0704", message, span, run, note) from None

    # --- random assignment ---

    def _sample(self, target: ast.Name | ast.Element, distribution: ast.Distribution, runs: Positions) -> None:
        size, drawn = len(runs), None
        self._noise.attend(runs)
        match distribution:
            case ast.NoiseExpr(law, rate, mean, ends=ends):
                least = _LEAST_WHOLE_RATE if law.whole else _LEAST_RATE
                if ends is not None:
                    law = law.with_ends(*[self._expressions.number(end, runs) for end in ends])
                size_of = 1.0 if rate is None else self._rate(rate, least, runs, deviation=law.by_deviation)
                values = law.draw_floats(self._noise, size_of, size)
                drawn = self._around(mean, values, runs)
            case ast.ExponentialMechanism():
                drawn = self._exponential(distribution, runs)
            case ast.Choose(arms):
                self._choose(target, arms, runs, distribution.span)
                return
            case _:
                assert_never(distribution)
        self._store(target, drawn, runs, distribution.span)

    def _rate(self, expr: ast.Expr, least: Fraction, runs: Positions, *, deviation: bool) -> float:
        """Return the rate that `expr` states in `runs` at this eps, or 1 over it if it is a `deviation`.

        Raises DiagnosticError for a rate below `least`, or too great to simulate.
        """
        rate = 1 / self._expressions.deviation(expr, runs) if deviation else self._expressions.number(expr, runs)
        if not least <= rate <= _GREATEST_RATE:
            message = f"at this eps the rate is {float(min(rate, _GREATEST_RATE)):.3g}, too extreme to simulate"
            notes = (f"a simulation needs rates between {float(least):.0e} and {float(_GREATEST_RATE):.0e}",)
            raise self._expressions.fault("E0722", message, expr.span, None, *notes)
        return float(rate)

    def _around(self, mean: ast.Expr | None, values: NDArray[Any], runs: Positions) -> RunColumn[Any]:
        drawn = self._batch.draw(runs, values)
        if mean is None:
            return constant(drawn, len(runs))
        center = self._expressions.column(mean, runs)
        return apply(lambda number: plus(number, drawn), center)

    def _exponential(self, mechanism: ast.ExponentialMechanism, runs: Positions) -> RunColumn[Any]:
        expressions = self._expressions
        rate, domain = expressions.number(mechanism.rate, runs), expressions.domain(mechanism.domain)
        scores = []
        with expressions.local(mechanism.variable):
            for value in domain.values:
                expressions.locals[mechanism.variable] = value
                scores.append(expressions.column(mechanism.score, runs))
        uniform = self._noise.uniform(len(runs))
        codes = np.empty(len(runs), dtype=np.intp)
        for vector, positions in split(zip_columns(scores)):
            best = max(vector)
            codes[positions] = _places([exp(_power(rate * (score - best))) for score in vector], uniform[positions])
        return RunColumn(domain.values, codes)

    def _choose(
        self,
        target: ast.Name | ast.Element,
        arms: Sequence[tuple[ast.Expr, ast.Expr]],
        runs: Positions,
        span: Span,
    ) -> None:
        expressions = self._expressions
        try:
            probabilities = shares([weight(expr, lambda node: expressions.number(node, runs)) for _, expr in arms])
        except ArithmeticError:
            message, note = "at this eps a weight of `choose` has no value", "weights must be finite for every eps > 0"
            raise expressions.fault("E0722", message, span, None, note) from None
        if probabilities is None:
            message = f"at eps = {expressions.eps} these weights do not add up to a distribution"
            note = "weights must be at least 0 and sum to 1 for every eps > 0"
            raise expressions.fault("E0721", message, span, None, note)
        chosen = RunColumn(range(len(arms)), _places(probabilities, self._noise.uniform(len(runs))))
        for arm, positions in split(chosen):
            chosen_runs = runs[positions]
            self._store(target, expressions.column(arms[arm][0], chosen_runs), chosen_runs, arms[arm][0].span)


def _places(weights: list[float], uniform: NDArray[np.float64]) -> Positions:
    """Return, for each number in `uniform`, the index of the one of `weights` whose interval contains it.

    The weight at the index is never 0.
    """
    heavy = [index for index, share in enumerate(weights) if share > 0]
    ends = np.cumsum([weights[index] for index in heavy]) / fsum(weights)
    if len(heavy) == 2:
        interval_of: Positions = (uniform >= ends[0]).astype(np.intp)
    else:
        interval_of = np.searchsorted(ends[:-1], uniform, side="right")
    places: Positions = np.array(heavy, dtype=np.intp)[interval_of]
    return places


def _power(exponent: Fraction) -> float:
    """Return `exponent` <= 0 as a float, but at least -10^6."""
    return float(max(exponent, Fraction(-(10**6))))


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

    `outputs` are the names of the finite outputs, in order. `counts` has the count of each combination of their
    values (None: never assigned), and `hits` the count of each of `events`. Equal arguments of `run`, including the
    seed, give equal tallies.
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
    """The options of runs, as keyword arguments: the `events` to count, with real outputs within `gamma`."""

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

    Only the text of `program`, its constants and its size are used, not its instructions. `input` has a value of the
    right type for every input. `given` has the seed, the events to count and the limits. Raises DiagnosticError for a
    failure in some run, also LoopLimitReached for loops that do not end, and SimulationInterrupted on Ctrl-C.
    """
    program.require_meaning(eps)
    tree = parse(program.source)
    scope = declared(tree, program.source, program.constants)
    outputs = tuple(name for name, variable, _ in scope.of_role(ast.Role.OUTPUT) if variable.finite)
    seed, events, gamma = given.get("seed", 0), tuple(given.get("events", ())), given.get("gamma", Fraction(0))
    tally = Tally(program, dict(input), eps, seed, outputs, events, gamma, hits=(0,) * len(events))
    noise, loop_limit, progress = NoiseSource(seed), given.get("loop_limit", LOOP_LIMIT), given.get("progress")
    most = _batch_size(program)
    try:
        while tally.runs < runs:
            if progress is not None:
                progress(tally.runs, runs)
            size = min(most, runs - tally.runs)
            batch = _executed(tree, scope, input, eps, size, noise, loop_limit)
            tally = _with_batch_counted(tally, batch, scope)
    except KeyboardInterrupt:
        raise SimulationInterrupted(tally, runs) from None
    return tally


@frozen
class JointHits:
    """The counts of an event in `runs` independent pairs of runs with the same noises: at each input, and at both."""

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

    The runs are at `eps`. The real outputs of `event` count within `gamma`. Equal `seed` give equal counts. Raises
    what `run` raises.
    """
    program.require_meaning(eps)
    tree = parse(program.source)
    scope = declared(tree, program.source, program.constants)
    most = _batch_size(program)
    hits = JointHits(0, 0, 0, 0)
    while hits.runs < runs:
        size = min(most, runs - hits.runs)
        masks = [
            _happened(
                event,
                gamma,
                _executed(tree, scope, values, eps, size, SharedNoise(seed, hits.runs, size), LOOP_LIMIT),
                scope,
                None,
            )
            for values in inputs
        ]
        first, second, both = (int(np.count_nonzero(mask)) for mask in (*masks, masks[0] & masks[1]))
        hits = JointHits(hits.runs + size, hits.first + first, hits.second + second, hits.both + both)
    return hits


def _executed(
    tree: ast.ProgramTree,
    scope: SimulatedScope,
    input: Mapping[str, Value],  # noqa: A002 - as above
    eps: Fraction,
    size: int,
    noise: NoiseSource,
    loop_limit: int,
) -> Batch:
    batch = Batch(scope, size, input)
    BatchStatements(BatchExpressions(scope, eps, batch), noise, loop_limit).block(tree.body, np.arange(size))
    return batch


def _batch_size(program: CoreProgram) -> int:
    """Return the number of runs of `program` that fit in memory.

    Each run keeps its variables, and at worst all its draws.
    """
    draws = sum(isinstance(instruction, SampleNoise) for instruction in program.instructions)
    return max(1, min(_BATCH, _BATCH_BYTES // (8 * (len(program.slots) + draws + 1))))


def _with_batch_counted(tally: Tally, batch: Batch, scope: SimulatedScope) -> Tally:
    outputs = scope.of_role(ast.Role.OUTPUT)
    finite = [batch.cell(variable, offset).peek() for _, variable, offset in outputs if variable.finite]
    counts = Counter(tally.counts)
    if finite:
        values = zip_columns(finite)
        numbers = np.bincount(values.codes, minlength=len(values.values)).tolist()
        counts.update(dict(zip(values.values, numbers, strict=True)))
    else:
        counts[()] += batch.size
    sides = _sides(tally)
    hits = [int(np.count_nonzero(_happened(event, tally.gamma, batch, scope, sides))) for event in tally.events]
    return replace(
        tally,
        runs=tally.runs + batch.size,
        counts=counts,
        hits=tuple(before + now for before, now in zip(tally.hits, hits, strict=True)),
    )


def _sides(tally: Tally) -> object:
    metric = tally.program.metric
    return None if metric is None else metric.output


def _happened(event: Event, gamma: Fraction, batch: Batch, scope: SimulatedScope, sides: object) -> Mask:
    """Return the mask of the runs of `batch` in which every output of `event` has its value.

    `scope` has the outputs. A number counts if it is within `gamma` of its value. If `sides` is "above" or "below",
    only the distance above or below the value counts. An output without a value matches nothing.
    """
    happened = np.ones(batch.size, dtype=np.bool_)
    for name, variable, offset in scope.of_role(ast.Role.OUTPUT):
        if name not in event:
            continue
        cell, wanted = batch.cell(variable, offset), event[name]
        happened &= cell.codes >= 0
        remaining: Positions = np.flatnonzero(happened)
        if not len(remaining):
            break
        column = cell.read(remaining)
        if variable.finite:
            happened[remaining] = np.array([value == wanted for value in column.values], dtype=np.bool_)[column.codes]
        else:
            assert isinstance(wanted, Fraction)
            center, radius = constant(wanted, len(remaining)), constant(gamma, len(remaining))
            off = apply(minus, column, center)
            high = truth_mask(compared(CompareOp.LE, apply(minus, off, radius), remaining))
            low = truth_mask(compared(CompareOp.GE, apply(plus, off, radius), remaining))
            happened[remaining] = high if sides == "above" else low if sides == "below" else high & low
    return happened

"""Statements, executed for many runs at once by walking the syntax tree."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, fsum
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from dipc.diagnostics.source import Span
from dipc.lang import ast
from dipc.lang.tree import weighing
from dipc.simulation.batch import OutsideDomain
from dipc.simulation.columns import Column, Positions, apply, constant, joined, split
from dipc.simulation.expressions import Expressions, text
from dipc.simulation.fault import Code, LoopLimitReached
from dipc.simulation.forms import plus
from dipc.simulation.noise import Noise
from dipc.simulation.weights import shares, weight

#: Where rates must lie: beyond, sums of draws would overflow, or integers would not be exact.
_LEAST_RATE, _LEAST_WHOLE_RATE, _GREATEST_RATE = Fraction(1, 10**150), Fraction(1, 10**13), Fraction(10**150)


class Statements:
    """Executes the statements of a type-checked program in the runs of one batch."""

    def __init__(self, expressions: Expressions, noise: Noise, loop_limit: int) -> None:
        """No run goes through one execution of a `while` more than `loop_limit` times."""
        self._expressions = expressions
        self._batch = expressions.batch
        self._noise = noise
        self._loop_limit = loop_limit

    def block(self, body: Sequence[ast.Statement], runs: Positions) -> Positions:
        """Execute `body` in `runs`, which increase; the runs that have not exited.

        Raises DiagnosticError for what goes wrong in some run.
        """
        for statement in body:
            if not len(runs):
                break
            match statement:
                case ast.Assign(target, value):
                    self._store(target, self._expressions.column(value, runs), runs, statement.span)
                case ast.Sample(target, distribution):
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
                case ast.Exit():
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
        notes = ("if it ends with probability 1, only later, allow more rounds",)
        fault = self._expressions.fault(Code.LOOP_LIMIT, message, loop.span, int(runs[0]), *notes)
        return LoopLimitReached(*fault.diagnostics)

    # --- assignment ---

    def _store(self, target: ast.Name | ast.Element, column: Column[Any], runs: Positions, span: Span) -> None:
        variable = self._expressions.scope.variables[target.name]
        if isinstance(target, ast.Name):
            offsets = constant(0, len(runs))
        else:
            offsets = self._expressions.offsets(variable, target.index, runs)
        for offset, positions in split(offsets):
            cell = self._batch.cell(variable, offset)
            try:
                cell.write(runs[positions], column.at(positions))
            except OutsideDomain as outside:
                message = f"`{cell.name}` would become {text(outside.value)}, which is outside its domain"
                run, note = int(runs[positions[outside.position]]), "widen the domain, or guard the assignment"
                raise self._expressions.fault(Code.OUTSIDE_DOMAIN, message, span, run, note) from None

    # --- random assignment ---

    def _sample(self, target: ast.Name | ast.Element, distribution: ast.Distribution, runs: Positions) -> None:
        size, drawn = len(runs), None
        self._noise.attend(runs)
        match distribution:
            case ast.Laplace(rate, mean):
                values = self._noise.laplace(size) / self._rate(rate, _LEAST_RATE, runs)
                drawn = self._around(mean, values, runs)
            case ast.DiscreteLaplace(rate, mean):
                whole = self._noise.discrete_laplace(self._rate(rate, _LEAST_WHOLE_RATE, runs), size)
                drawn = self._around(mean, whole, runs)
            case ast.OneSided(rate):
                values = self._noise.exponential(size) / self._rate(rate, _LEAST_RATE, runs)
                drawn = constant(self._batch.draw(runs, values), size)
            case ast.ExponentialMechanism():
                drawn = self._exponential(distribution, runs)
            case ast.Choose(arms):
                self._choose(target, arms, runs, distribution.span)
                return
            case _:
                assert_never(distribution)
        self._store(target, drawn, runs, distribution.span)

    def _rate(self, expr: ast.Expr, least: Fraction, runs: Positions) -> float:
        """The rate of these runs at this eps; it is positive whatever eps is."""
        rate = self._expressions.number(expr, runs)
        if not least <= rate <= _GREATEST_RATE:
            message = f"at this eps the rate is {float(min(rate, _GREATEST_RATE)):.3g}, too extreme to simulate"
            notes = (f"a simulation needs rates between {float(least):.0e} and {float(_GREATEST_RATE):.0e}",)
            raise self._expressions.fault(Code.BEYOND_FLOATS, message, expr.span, None, *notes)
        return float(rate)

    def _around(self, mean: ast.Expr, values: NDArray[Any], runs: Positions) -> Column[Any]:
        center = self._expressions.column(mean, runs)
        drawn = self._batch.draw(runs, values)
        return apply(lambda number: plus(number, drawn), center)

    def _exponential(self, mechanism: ast.ExponentialMechanism, runs: Positions) -> Column[Any]:
        """Values of the domain, in each run with the weights that its scores there give."""
        expressions = self._expressions
        rate, domain = expressions.number(mechanism.rate, runs), expressions.domain(mechanism.domain)
        scores = []
        with expressions.local(mechanism.variable):
            for value in domain.values:
                expressions.locals[mechanism.variable] = value
                scores.append(expressions.column(mechanism.score, runs))
        uniform = self._noise.uniform(len(runs))
        codes = np.empty(len(runs), dtype=np.intp)
        for vector, positions in split(joined(scores)):
            best = max(vector)
            codes[positions] = _places([exp(_power(rate * (score - best))) for score in vector], uniform[positions])
        return Column(domain.values, codes)

    def _choose(
        self,
        target: ast.Name | ast.Element,
        arms: Sequence[tuple[ast.Expr, ast.Expr]],
        runs: Positions,
        span: Span,
    ) -> None:
        expressions = self._expressions
        try:
            parts = shares([weight(expr, lambda part: expressions.number(part, runs)) for _, expr in arms])
        except ArithmeticError:
            message, note = "at this eps a weight of `choose` has no value", "weights must be finite for every eps > 0"
            raise expressions.fault(Code.BEYOND_FLOATS, message, span, None, note) from None
        if parts is None:
            message = f"at eps = {expressions.eps} these weights are no distribution"
            note = "weights must be at least 0 and sum to 1 for every eps > 0"
            raise expressions.fault(Code.NO_DISTRIBUTION, message, span, None, note)
        chosen = Column(range(len(arms)), _places(parts, self._noise.uniform(len(runs))))
        for arm, positions in split(chosen):
            at = runs[positions]
            self._store(target, expressions.column(arms[arm][0], at), at, arms[arm][0].span)


def _places(weights: list[float], uniform: NDArray[np.float64]) -> Positions:
    """For each uniform number the place of the weight it falls on; never one of weight 0."""
    heavy = [place for place, share in enumerate(weights) if share > 0]
    ends = np.cumsum([weights[place] for place in heavy]) / fsum(weights)
    if len(heavy) == 2:
        found: Positions = (uniform >= ends[0]).astype(np.intp)
    else:
        found = np.searchsorted(ends[:-1], uniform, side="right")
    places: Positions = np.array(heavy, dtype=np.intp)[found]
    return places


def _power(exponent: Fraction) -> float:
    """An exponent <= 0 as a float; far below 0 only its being far below matters."""
    return float(max(exponent, Fraction(-(10**6))))

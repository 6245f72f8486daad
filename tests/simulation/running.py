"""Running texts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dipc.simulation.expressions import Batch, BatchExpressions, SimulatedForm, declared
from dipc.simulation.runs import BatchStatements, NoiseSource, run
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse
from dipc.text.statements import lower


def typed(text, **constants):
    source = SourceText("p.dip", text)
    return lower(parse(source), source, {name: Fraction(value) for name, value in constants.items()})


def exact(inputs):
    return {
        name: Fraction(value) if not isinstance(value, bool) and str(value)[0] in "-0123456789" else value
        for name, value in inputs.items()
    }


def tally(text, inputs=None, *, eps="1", runs=20_000, constants=None, **options):
    return run(typed(text, **(constants or {})), exact(inputs or {}), Fraction(eps), runs, **options)


def shares(text, inputs=None, **options):
    """The share of the runs of every output, by the tuple of texts of its values."""
    found = tally(text, inputs, **options)
    return {tuple(map(shown, key)): count / found.runs for key, count in found.counts.items()}


def shown(value):
    return str(value).lower() if isinstance(value, bool) else None if value is None else str(value)


def finals(text, name, inputs=None, *, eps="1", runs=1000, seed=0):
    """The final values of one scalar or element, as an array of floats, or of ints where they are."""
    program = typed(text)
    tree = parse(program.source)
    scope = declared(tree, program.source, program.constants)
    batch = Batch(scope, runs, exact(inputs or {}))
    BatchStatements(BatchExpressions(scope, Fraction(eps), batch), NoiseSource(seed), 1000).block(
        tree.body, np.arange(runs)
    )
    ((variable, offset),) = [
        (variable, offset)
        for variable in scope.variables.values()
        for offset in range(variable.size)
        if variable.element_name(offset) == name
    ]
    column = batch.cell(variable, offset).peek()
    values = [column.values[code] for code in column.codes]
    return np.array([at_run(value, at) for at, value in enumerate(values)])


def at_run(value, at):
    if not isinstance(value, SimulatedForm):
        return float(value) if isinstance(value, Fraction) else value
    return float(value.constant) + sum(float(c) * draw.values[at] for draw, c in value.terms)

"""Running texts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dipc.simulation.batch import Batch
from dipc.simulation.runs import compiled, run
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse
from dipc.text.statements import lower
from dipc.verifier.execution import Affine


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
    machine, source = compiled(typed(text), Fraction(eps))
    batch = Batch(machine, source, Fraction(eps), exact(inputs or {}), np.random.default_rng(seed), runs)
    batch.run(1000)
    (slot,) = [number for number, slot in enumerate(machine.slots) if slot.name == name]
    values = [at_run(batch, slot, at) for at in range(runs)]
    return np.array([float(value) if isinstance(value, Fraction) else value for value in values])


def at_run(batch, slot, at):
    """The value of a slot in run `at`; a number with noise is computed from the draws."""
    codes = batch.slots[slot]
    value = batch.table[codes if isinstance(codes, int) else int(codes[at])]
    if not isinstance(value, Affine):
        return value
    return value.constant + sum(c * Fraction(batch.draws[number][at].item()) for number, c in value.terms)

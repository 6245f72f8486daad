"""Random changes of derivations: what is still accepted is still true, by the engine."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import dipc
from benchmarks.literature.entries import ENTRIES
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.quotient import Quotient
from dipc.certificate.derivation import Derivations
from dipc.certificate.normal_event import NAMES
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Family, Noise
from dipc.measure.measure import measure
from dipc.tables.table import read_table
from dipc.verifier.budget import Budget
from dipc.verifier.derivation import Derivation, check_derivation
from dipc.verifier.events import read_event
from dipc.verifier.rejection import Rejected
from dipc.verifier.ring import Closed, read_closed
from tests.verifier.mutations import mutated, places

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "benchmarks"
FAMILIES: dict[str, Family] = {name: family for family, name in NAMES.items()}


@cache
def valid(name: str) -> dict[str, Any]:
    """The derivation of some rows of a mechanism."""
    if name in ("sparse", "noisy_max"):
        program = dipc.load(BENCHMARKS / f"{name}.dip", m=2)
        header = {"sparse": ("bot", "top"), "noisy_max": (2,)}[name]
        table: Any = [
            {"q[1]": a, "q[2]": b, **dict(zip(program.outputs, header, strict=True))}
            for a, b in [(0, 1), (-1, 1), (-1, 0)]
        ]
    else:
        entry = next(entry for entry in ENTRIES if entry.name == name)
        program, table = dipc.load(entry.path), entry.table(entry.claims[0])[:4]
    rows = read_table(table, program.core)
    derivations = Derivations(program.probabilities())
    gamma = program._pool.cell(Fraction(1))
    for row in rows.rows:
        derivations.add(row.inputs, row.outputs, gamma)
    return derivations.data()


def engines(closed: Closed) -> Quotient:
    above, below = (ExpPoly.from_terms((k, q, c) for (k, q), c in part.items()) for part in closed)
    assert not below.is_zero()
    return Quotient(above, below if below.sign_at_one() > 0 else -below) * (1 if below.sign_at_one() > 0 else -1)


def true(data: dict[str, Any], found: Derivation) -> bool:
    """Whether all that was accepted is so."""
    values = []
    for item in data["measures"]:
        read = read_event(item["noises"], item["constraints"], "")
        event = Event(
            tuple(Noise(FAMILIES[n.family], n.rate, n.mean) for n in read.noises),
            tuple(Halfspace(tuple(sorted(c.coefficients.items())), c.constant) for c in read.constraints),
        )
        values.append(engines(read_closed(item["value"], "")))
        if measure(event) != values[-1]:
            return False
    for item, accepted in zip(data["probabilities"], found.probabilities, strict=True):
        total = Quotient.of(0)
        for end, numbers in item["shares"]:
            part = Quotient.of(1)
            if end is not None:
                chain = data["choices"][end[0]]
                part = engines(read_closed(chain["weights"][end[1] - len(chain["steps"])], ""))
            for number in numbers:
                part = part * values[number]
            total = total + part
        if total != engines(accepted):
            return False
    return True


def tampered(name: str, count: int, seed: int) -> tuple[int, int]:
    """How many changes were accepted and rejected."""
    data = valid(name)
    check_derivation(data, Budget())
    chance, paths = random.Random(seed), list(places(data))
    accepted = 0
    for _ in range(count):
        changed, path = mutated(data, paths, chance)
        try:
            found = check_derivation(changed, Budget(2_000_000))
        except Rejected:
            continue
        accepted += 1
        assert true(changed, found), path
    return accepted, count - accepted


NAMED = ["sparse", "noisy_max", "noisy_max_discrete", "noisy_max_exponential", "rejection_sampling"]


@pytest.mark.parametrize("name", NAMED)
def test_what_is_accepted_is_true(name: str) -> None:
    _, rejected = tampered(name, 40, seed=4)
    assert rejected > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
def test_ten_thousand_changes(name: str) -> None:
    accepted, rejected = tampered(name, 2_000, seed=5)
    assert rejected > 1_000
    assert accepted < 600

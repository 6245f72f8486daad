"""What the comparison with real libraries concludes, without the libraries: those are `make oracles`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import benchmarks.libraries
import dipc
from benchmarks.libraries.mechanisms import MECHANISMS, Mechanism
from benchmarks.libraries.run import compare_all, compared

COIN = next(one for one in MECHANISMS if one.program == "kept_three_quarters")


def draws(kept: float) -> list[dict[str, object]]:
    source = random.Random(11)
    return [{"y": source.random() < kept} for _ in range(2000)]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: f"{one.library}, {one.name}")
def test_each_mechanism_has_a_program_with_its_outputs_that_takes_its_input(mechanism: Mechanism) -> None:
    program = dipc.load(mechanism.path)
    assert list(mechanism.outputs) == list(program.outputs)
    dipc.simulate(program, mechanism.input, mechanism.eps, runs=1)


def test_each_program_is_of_some_mechanism() -> None:
    directory = Path(benchmarks.libraries.__file__).parent
    assert {path.stem for path in directory.glob("*.dip")} == {one.program for one in MECHANISMS}


@pytest.mark.parametrize(
    ("drawn", "verdict", "as_expected"),
    [
        (draws(0.75), "conforms", True),
        (draws(0.5), "deviates", False),
        ("raises ValueError: no", "raises ValueError: no", False),
        ("ended by SIGSEGV", "ended by SIGSEGV", False),
    ],
)
def test_verdicts(drawn: Sequence[dict[str, object]] | str, verdict: str, as_expected: bool) -> None:
    found = compared(COIN, drawn)
    assert (found.verdict, found.as_expected) == (verdict, as_expected)
    assert compared(replace(COIN, conforms=False), drawn).as_expected is (verdict == "deviates")
    assert compared(replace(COIN, conforms=None), drawn).as_expected is (verdict == "ended by SIGSEGV")


def test_a_library_that_ends_its_process_ends_no_other() -> None:
    [found] = compare_all(one for one in MECHANISMS if one.conforms is None)
    assert found.verdict in ("ended by SIGSEGV", "not installed: opendp")

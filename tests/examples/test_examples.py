"""The mechanisms that come with dipc: in a checkout, and by `dipc examples`."""

from __future__ import annotations

from pathlib import Path

import pytest

import dipc
from dipc import examples

ROOT = Path(__file__).resolve().parent.parent.parent


def test_every_mechanism_of_the_benchmarks_is_an_example() -> None:
    libraries = ROOT / "benchmarks" / "libraries"
    files = [path for path in (ROOT / "benchmarks").rglob("*.dip") if path.parent != libraries]
    assert {"sparse", "noisy_max", "small_db"} <= set(examples.names())
    assert len(files) == len(examples.names())
    assert all(examples.text(path.stem) == path.read_text(encoding="utf-8") for path in files)


@pytest.mark.parametrize("name", ["sparse", "randomized_response"])
def test_an_example_is_a_program(name: str) -> None:
    assert dipc.load(examples.text(name)).name == name


def test_an_unknown_name_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        examples.text("dense")

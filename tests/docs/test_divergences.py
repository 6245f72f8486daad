"""docs/divergences.md lists every reason for which the checker does not derive something, as the checker says it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

_SPEC = importlib.util.spec_from_file_location("divergences", ROOT / "docs" / "divergences.py")
assert _SPEC is not None
assert _SPEC.loader is not None
divergences = importlib.util.module_from_spec(_SPEC)
sys.modules["divergences"] = divergences
_SPEC.loader.exec_module(divergences)


def test_the_page_is_that_of_the_checker() -> None:
    """`python docs/divergences.py` writes it anew."""
    assert divergences.PAGE.read_text(encoding="utf-8") == divergences.page()


def test_each_file_of_the_checker_is_in_one_part_or_derives_nothing() -> None:
    listed = [file for files in divergences.PARTS.values() for file in files]
    assert len(listed) == len({*listed})
    assert {*listed} | divergences.ELSEWHERE == {file.stem for file in divergences.VERIFIER.glob("*.py")}
    assert not {*listed} & divergences.ELSEWHERE


@pytest.mark.parametrize(
    "reason", ["the comparisons of Gaussian noises form a cycle", "one event compares integer and continuous noise"]
)
def test_reasons_stand_on_the_page(reason: str) -> None:
    assert f"- {reason}\n" in divergences.PAGE.read_text(encoding="utf-8")

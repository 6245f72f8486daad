"""Mechanisms of the literature as they were first typed by a reader of the README and the tutorial: nine of ten run."""

from __future__ import annotations

from pathlib import Path

import pytest

from dipc.cli.main import run

PLACE = Path(__file__).parent / "first_typed"

#: By number: the inputs asked about, the exit code, and how the first line begins.
FIRST = {
    1: ("all", 0, "accurate: every real input (4 classes)"),
    2: ("all", 0, "accurate: every real input (3 classes)"),
    3: ("c = 0..5", 0, "accurate: all 6 rows"),
    4: ("secret in {true, false}", 0, "accurate: all 2 rows"),
    5: ("x = 0..4", 1, "INACCURATE: 36 of 125 rows fail"),
    6: ("all", 0, "accurate: every real input (1 class)"),
    7: ("all", 2, "error[E0204]: `log` may stand only in the claim"),
    8: ("all", 0, "accurate: every real input (3 classes"),
    9: ("all", 0, "accurate: every real input (3 classes)"),
    10: ("x in {0, 1}", 1, "INACCURATE: 6 of 8 rows fail"),
}


@pytest.mark.parametrize("number", FIRST)
def test_as_first_typed(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = PLACE.glob(f"{number}_*.dip")
    inputs, code, first = FIRST[number]
    assert run(["check", str(path), "--inputs", inputs, "-q"]) == code
    said = capsys.readouterr()
    assert (said.out + said.err).startswith(first)
    if code == 2:
        assert "lies between 6.907755 and 6.907756, write the one that is safe" in said.err


def test_nine_of_ten_run() -> None:
    assert sum(code != 2 for _, code, _ in FIRST.values()) == 9
    assert len(FIRST) == len(list(PLACE.glob("*.dip"))) == 10

"""The programs that the tutorial shows are those that its commands are about."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def test_each_program_shown_is_its_file() -> None:
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```text\n(program (\w+);\n.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert [name for _, name in shown] == ["busy", "first_above", "noisy_max", "response", "vote", "clamped", "hall"]
    for program, name in shown:
        comment, _, kept = (DOCS / "programs" / f"{name}.dip").read_text(encoding="utf-8").partition("\n")
        assert comment.startswith("# ")
        assert kept == program
        assert f"dipc check docs/programs/{name}.dip --inputs" in text

"""The page about limits lists every limit with its default and the quantity that it bounds."""

from __future__ import annotations

import re
from pathlib import Path

from dipc.algebra.limits import LIMIT_NAMES, Limits

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")


def test_the_page_lists_every_limit() -> None:
    listed = re.findall(r"^\| `(\w+)` \| ([\d ]+) \| (.*) \|$", PAGE, re.MULTILINE)
    limits = Limits()
    assert [(name, int(default.replace(" ", "")), bounds) for name, default, bounds in listed] == [
        (name, getattr(limits, name), bounds) for name, bounds in LIMIT_NAMES.items()
    ]

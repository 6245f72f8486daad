from __future__ import annotations

import pytest

from dipc.outcome.words import assignment_text


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({}, "nothing"),
        ({"x": "1/2"}, "x = 1/2"),
        ({"q[1]": "-1", "q[2]": "1"}, "q = (-1, 1)"),
        ({"q[1]": "-1"}, "q[1] = -1"),
        ({"q[2]": "-1", "q[3]": "1"}, "q[2] = -1, q[3] = 1"),
        ({"q[0]": "-1", "q[1]": "1"}, "q[0] = -1, q[1] = 1"),
        ({"q[1]": "a", "q[3]": "b"}, "q[1] = a, q[3] = b"),
        ({"out[1]": "bot", "out[2]": "top", "val[2]": "3", "x": "true"}, "out = (bot, top), val[2] = 3, x = true"),
        ({"q[1]": "0", "q[2]": "0", "r[1]": "0", "r[2]": "0"}, "q = (0, 0), r = (0, 0)"),
        ({"out": None}, "out = unassigned"),
    ],
)
def test_assignments(values: dict[str, str | None], text: str) -> None:
    assert assignment_text(values) == text

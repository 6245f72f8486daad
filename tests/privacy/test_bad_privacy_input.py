"""Questions about privacy that make no sense are refused, each with its place and a way to mend it."""

from __future__ import annotations

from pathlib import Path

import pytest

import dipc
from tests.privacy import mechanisms

ABOVE = dipc.load(mechanisms.ABOVE % {"threshold": "eps/2", "query": "eps/4"})
BOOL = dipc.load(mechanisms.RESPONSE % "x : 3/4, not x : 1/4")


@pytest.mark.parametrize(
    ("program", "adjacent", "options", "code", "message"),
    [
        (ABOVE, "l2:1", {"inputs": "q = 0..1"}, "E1405", "this adjacency is not known"),
        (ABOVE, "linf:x", {"inputs": "q = 0..1"}, "E1405", "`x` is not a rational number"),
        (ABOVE, "linf:0", {"inputs": "q = 0..1"}, "E1405", "the distance 0 is not positive"),
        (ABOVE, "linf:-1", {"inputs": "q = 0..1"}, "E1405", "the distance -1 is not positive"),
        (ABOVE, "hamming:1/2", {"inputs": "q = 0..1"}, "E1405", "hamming needs a whole number of inputs"),
        (BOOL, "linf:1", {}, "E1406", "`x` has no numbers as values, so there is no distance"),
        (ABOVE, "linf:1", {}, "E1111", "have infinitely many values"),
        (ABOVE, "linf:1", {"inputs": "q = 0"}, "E1408", "no two of the inputs are adjacent by linf:1"),
        (ABOVE, "linf:1", {"inputs": "q = 0..1", "budget": "2"}, "E1401", "the budget is not a multiple of eps"),
        (ABOVE, "linf:1", {"inputs": "q = 0..1", "budget": "eps^2"}, "E1401", "the budget is not a multiple of eps"),
        (ABOVE, "linf:1", {"inputs": "q = 0..1", "budget": "-eps"}, "E1402", "a budget must be at least 0"),
        (ABOVE, "linf:1", {"inputs": "q = 0..1", "budget": "exp(eps)"}, "E1401", "the budget is not a multiple of eps"),
        (ABOVE, "linf:1", {"inputs": "q = 0..1", "delta": "-1/9"}, "E1403", "delta is negative at eps = 1"),
        (ABOVE, "linf:1", {"inputs": "q = 0..1", "delta": "delta"}, "E0602", "`delta` is not known in delta"),
        (ABOVE, "pairs.csv", {"inputs": "q = 0..1"}, "E1407", "a file of pairs and --inputs are both given"),
        (ABOVE, "nowhere.csv", {}, "E0501", "nowhere.csv"),
    ],
)
def test_refused(program: dipc.Program, adjacent: str, options: dict[str, str], code: str, message: str) -> None:
    with pytest.raises(dipc.DiagnosticError) as caught:
        dipc.check_privacy(program, adjacent, **options)  # type: ignore[arg-type]
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert message in found.message
    assert found.notes


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("q[1],q[2],q[1]',q[2]'\n0,0,0,1\n1,1,1,1\n", "E1409", 3),
        ("q[1],q[2],q[1]'\n0,0,0\n", "E0507", 1),
        ("q[1],q[2],q[1]',q[2]'\n0,0,x,1\n", "E0510", 2),
        ("q[1],q[2],q[1]',q[2]'\n0,0,1\n", "E0509", 2),
        ("q[1],q[2],q[1]',q[3]'\n0,0,1,1\n", "E0506", 1),
        ("q[1],q[2],q[1]',q[2]',beta\n0,0,1,1,0\n", "E0506", 1),  # of the rows of a table alone
        ("q[1],q[2],q[1]',q[2]',dd\n0,0,1,1,0\n", "E0506", 1),
    ],
)
def test_files_of_pairs(text: str, code: str, line: int, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(dipc.DiagnosticError) as caught:
        dipc.check_privacy(ABOVE, str(path))
    found = caught.value.diagnostics[0]
    assert found.code == code
    assert found.excerpt is not None
    assert found.excerpt.line == line

"""Every public function takes a program as `dipc.load` gives it, as its path, as its text, and as a mechanism."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dipc


@dipc.mechanism(claim={"alpha": "dd", "beta": "exp(-alpha*eps)/2"})
def busy(count: dipc.Real, eps: dipc.Eps) -> bool:
    """Whether at least 100 visitors came."""
    return dipc.laplace(count, scale=1 / eps) >= 100


COIN = """
program coin;
const s = 1/3;
input x : {0, 1};
output y : {0, 1};
var lie : {0, 1};
ideal { y <- x; }
claim { alpha: 0; gamma: 0; beta: 1/2; }
lie <- choose {0: 1 - s, 1: s};
if lie = 1 then y <- 1 - x else y <- x end
"""

FUNCTIONS: dict[str, Callable[[Any], object]] = {
    "check": lambda p: dipc.check(p).as_json(),
    "iter_rows": lambda p: [row.verdict for row in dipc.iter_rows(p, inputs="x in {0, 1}")],
    "table": lambda p: [repr(row) for row in dipc.table(p, "x in {0, 1}").rows],
    "check_privacy": lambda p: dipc.check_privacy(p, "linf:1").as_json(),
    "expected_error": lambda p: str(dipc.expected_error(p, inputs="x = 1")),
    "run": lambda p: dipc.run(p, {"x": 1}, 1, 20, seed=1).answers,
    "simulate": lambda p: dipc.simulate(p, {"x": 1}, 1, runs=50, seed=1).tally.counts,
    "conform": lambda p: dipc.conform(p, {"x": 1}, 1, {(1,): 66, (0,): 34}).agreement,
    "audit": lambda p: dipc.audit(p, [({"x": 0}, [(0,)] * 9), ({"x": 1}, [(1,)] * 9)], 1).lower,
    "solve": lambda p: str(dipc.solve(p, wanted="beta")),
    "tighten": lambda p: str(dipc.tighten(p)),
    "tune": lambda p: str(dipc.tune(p, vary="s in [1/4, 1/2]", wanted="eps", alpha=0)),
    "compose": lambda p: dipc.compose(p, adjacent="linf:1", runs=2).loss(1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_path_and_a_text_do_as_well(name: str, tmp_path: Path) -> None:
    path = tmp_path / "coin.dip"
    path.write_text(COIN)
    answers = []
    for given in (dipc.load(COIN), COIN, path, str(path)):
        try:
            answers.append(FUNCTIONS[name](given))
        except dipc.DiagnosticError as refused:
            answers.append([each.code for each in refused.diagnostics])
    assert all(answer == answers[0] for answer in answers), answers


def test_a_mechanism_does_as_well() -> None:
    assert dipc.check(busy, inputs="all").verdict is dipc.Verdict.ACCURATE
    assert dipc.run(busy, {"count": 10**6}, 1).answers == dipc.run(busy.program, {"count": 10**6}, 1).answers


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_no_program_is_refused_with_what_it_has_to_be(name: str) -> None:
    with pytest.raises(
        TypeError, match=r"the program must come from dipc\.load, be a mechanism, or be a path, not int"
    ):
        FUNCTIONS[name](3)

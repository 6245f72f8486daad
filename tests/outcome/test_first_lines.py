"""First lines and reasons that readers had to read twice, in their plain words."""

from __future__ import annotations

from pathlib import Path

import pytest

import dipc
from dipc.cli.main import run

PROGRAMS = {
    "normal.dip": "program normal; input x : real; output out : real; ideal { out <- x } out <- Gauss(1/(2*eps), x)",
    "sum.dip": (
        "program sum; input x : real; output out : real; var y : real; ideal { out <- x }"
        "claim { alpha: 0; gamma: free; beta: (1 + gamma*eps/2)*exp(-gamma*eps); }"
        "y <- Lap(eps, x); out <- Lap(eps, y)"
    ),
    "cell.dip": (
        "program cell; input x : real; output out : real; output given : bool = false; ideal { noiseless }"
        "out <- Lap(eps, x); if out > 0 then given <- true end"
    ),
    "above.dip": (
        "program above; input x : real; output out : bool; var y : real; ideal { out <- x > 0 }"
        "y <- Gauss(1/eps, x); out <- y > 0"
    ),
    "bit.dip": (
        "program bit; input x : {0..2}; output out : {0..2}; ideal { out <- x } metric { output: linf; }"
        "out <- choose { x : 1/2, 2 : 1/2 }"
    ),
}

#: (arguments of the command, words of its answer on one line, words that it no longer has)
ANSWERS = [
    (
        "privacy normal.dip --adjacent linf:1 --inputs all --rho -q",
        "least rho 2*eps^2 at each eps: no rho suffices",
        "",
    ),
    (
        "privacy above.dip --adjacent linf:1 --max-loss --at 1 --inputs",
        "loss without closed form, as",
        "probabilities of",
    ),
    ("solve sum.dip --inputs all --for gamma --beta 1/20 --eps 1 -q", "at eps = 1: k/eps with k = ", "at most"),
    ("interval normal.dip --inputs all --eps 1 --alpha 0 -q", "around the release r = out: [r - ", ""),
    ("error cell.dip --inputs x=1", "choose one with `--output NAME`: `out` is a number", "are numbers"),
    ("error bit.dip --inputs all -q", "in the 3 rows: row 1 has the greatest error", "of 3 rows"),
]


@pytest.mark.parametrize(("arguments", "words", "gone"), ANSWERS, ids=[each for each, _, _ in ANSWERS])
def test_an_answer_reads_once(
    arguments: str,
    words: str,
    gone: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in PROGRAMS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    asked = arguments.split()
    run([*asked, "x=0..1"] if asked[-1] == "--inputs" else asked)
    answer = " ".join("".join(capsys.readouterr()).split())
    assert words in answer
    assert not gone or gone not in answer


def test_a_clamped_int_output_has_the_error_of_its_finite_domain() -> None:
    head = "program f; input x : {0..3}; "
    body = " ideal { y <- x } var z : int; z <- DLap(eps, x); y <- min(max(z, 0), 3)"
    whole = dipc.expected_error(dipc.load(f"{head}output y : int;\n{body}"), inputs="all", at=1)
    finite = dipc.load(f"{head}output y : {{0..3}}; metric {{ output: linf; }}\n{body}")
    for one, other in zip(whole.rows, dipc.expected_error(finite, inputs="all", at=1).rows, strict=True):
        assert one.value is not None
        assert other.value is not None
        assert one.value[0] <= other.value[1]
        assert other.value[0] <= one.value[1]


def test_a_clamped_int_output_with_another_noise_is_told_to_declare_its_domain() -> None:
    text = (
        "program f; input x : {0..3}; output y : int; ideal { y <- x } var z : int; z <- DGauss(1/eps, x); "
        "y <- min(max(z, 0), 3)"
    )
    reason = str(dipc.expected_error(dipc.load(text), inputs="all").rows[0].reason)
    assert reason.endswith("for others, declare the output with a finite domain, and write `metric { output: linf; }`")

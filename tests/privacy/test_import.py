"""Programs of DiPC's input format: read as what they mean, every mistake with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

import dipc
from dipc.cli.main import run
from dipc.diagnostics.source import Source
from dipc.privacy.dipc_input import imported

ABOVE = """-1 1
input int q1 -1 1 ;
input int q2 -1 1 ;
real t ; real r ;
bool b ;
int out ;
out = 0 ;
t = Lap "eps/2" 0 ;
r = Lap "eps/4" q1 ;
b = r >= t ;
if b then out = 1 ; else
  r = Lap "eps/4" q2 ; b = r >= t ;
  if b then out = -1 ; fi
fi
return out ;
"""

SAME = """
program same;
input q1, q2 : {-1..1};
output out : {-1..1};
var t, r : real;
out <- 0;
t <- Lap(eps/2, 0);
r <- Lap(eps/4, q1);
if r >= t then out <- 1 else
  r <- Lap(eps/4, q2);
  if r >= t then out <- -1 end
end
"""


def test_a_program_means_what_it_says() -> None:
    program, same = dipc.load(imported(Source("svt", ABOVE), "svt").text), dipc.load(SAME)
    for point in ({"q1": 0, "q2": 0}, {"q1": -1, "q2": 1}):
        ours = {o.output["out"]: o.probability for o in program.outcomes(point)}
        assert ours == {o.output["out"]: o.probability for o in same.outcomes(point)}


@pytest.mark.parametrize(("center", "low", "high"), [(0, 0, 2), (1, 0, 2), (2, 0, 2), (2, 0, 1), (0, 1, 2)])
def test_clamped_noise(center: int, low: int, high: int) -> None:
    """Against the sums of the law of the noise that is not clamped."""
    text = f'0 2\ninput int x 0 2 ;\nint y ;\ny = TDLap "eps/3" x {low} {high} ;\nreturn y ;\n'
    program = dipc.load(imported(Source("t", text), "t").text)
    free = dipc.load("program f; input x : int; output y : int; y <- DLap(eps/3, x);")
    found = {o.output["y"]: o.probability.at(6, 30)[0] for o in program.outcomes({"x": center})}
    for value in range(low, high + 1):
        inside = (
            [value]
            if low < value < high
            else range(value - 40, value + 1)
            if value == low
            else range(value, value + 40)
        )
        whole = sum(free.probability({"x": center}, {"y": at}).at(6, 30)[0] for at in inside)
        assert abs(whole - found[str(value)]) < 10**-20


def test_a_statement_with_a_probability() -> None:
    text = "0 1\ninput bool x ;\nbool y ;\ny = x ;\nProb{1/(1+exp(eps))} y = ! x ;\nreturn y ;\n"
    for shown in (text, text.replace("Prob{1/(1+exp(eps))}", "[1/(1+exp(eps))]")):
        program = dipc.load(imported(Source("r", shown), "r").text)
        exact = dipc.check_privacy(program, "hamming:1")
        assert exact["verdict"] == "private"
        assert dipc.check_privacy(program, "hamming:1", budget="99/100*eps")["verdict"] == "not private"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "the first line is the range"),
        ("1 -1\nreturn x ;", 1, "the range is empty"),
        ("0 1\nint x\nx = 1 ;\nreturn x ;", 3, "`;` is expected here, not `x`"),
        ("0 1\nint x ;\ny = 1 ;\nreturn x ;", 3, "`y` is not declared"),
        ("0 1\nint x ;\nint x ;\nreturn x ;", 3, "`x` is declared twice"),
        ("0 1\nint x ;\nx = x ? 1 ;\nreturn x ;", 3, "`?` is no operator that is read"),
        ("0 1\nbool b ;\nif b then b = b ;\nreturn b ;", 3, "this `if` is not closed"),
        ("0 1\nint x ;\nx = 1 ;\n", 3, "nothing is returned"),
        ("0 1\nint x ;\nx =", 3, "the file ends where a value is expected"),
        ("0 1\ninput real x ;\nreturn x ;", 2, "`real` is no type of an input"),
        ("0 1\ninput int x 1 0 ;\nreturn x ;", 2, "the range is empty"),
        ("0 1\nint x ;\nelse\nreturn x ;", 3, "`else` closes nothing"),
    ],
)
def test_mistakes_have_their_places(text: str, line: int, message: str) -> None:
    with pytest.raises(dipc.DiagnosticError) as caught:
        imported(Source("bad", text), "bad")
    (found,) = caught.value.diagnostics
    assert message in found.message
    assert found.excerpt is not None
    assert found.excerpt.line == line
    assert found.notes


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, program, pairs = tmp_path / "svt.txt", tmp_path / "svt.dip", tmp_path / "pairs.csv"
    path.write_text(ABOVE.replace("fi\nreturn", "fi fi\nreturn"), encoding="utf-8")
    assert run(["import", str(path), "-o", str(program), "--pairs", str(pairs)]) == 0
    assert "this `fi` closes no `if`" in capsys.readouterr().err
    assert run(["privacy", str(program), "--adjacent", str(pairs), "-q"]) == 0
    assert capsys.readouterr().out == "private: eps for all 40 pairs, for every eps in (0, ∞)\n"
    assert run(["import", str(tmp_path / "nowhere.txt")]) == 2

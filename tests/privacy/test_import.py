"""Programs of DiPC's input format: read as what they mean, every mistake with its place."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import pytest

import dipc
from dipc.cli.main import run
from dipc.mechanisms.dipc_input import imported
from dipc.text.diagnostic import SourceText

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
    program, same = dipc.load(imported(SourceText("svt", ABOVE), "svt").text), dipc.load(SAME)
    for point in ({"q1": 0, "q2": 0}, {"q1": -1, "q2": 1}):
        ours = {o.output["out"]: o.probability for o in program.outcomes(point)}
        assert ours == {o.output["out"]: o.probability for o in same.outcomes(point)}


@pytest.mark.parametrize(("center", "low", "high"), [(0, 0, 2), (1, 0, 2), (2, 0, 2), (2, 0, 1), (0, 1, 2)])
def test_clamped_noise(center: int, low: int, high: int) -> None:
    """Clamped noise has the sums of the law of the noise that is not clamped."""
    text = f'0 2\ninput int x 0 2 ;\nint y ;\ny = TDLap "eps/3" x {low} {high} ;\nreturn y ;\n'
    program = dipc.load(imported(SourceText("t", text), "t").text)
    free = dipc.load("program f; input x : int; output y : int; y <- DLap(eps/3, x);")
    found = {o.output["y"]: o.probability.enclosure(6, 30)[0] for o in program.outcomes({"x": center})}
    for value in range(low, high + 1):
        inside = (
            [value]
            if low < value < high
            else range(value - 40, value + 1)
            if value == low
            else range(value, value + 40)
        )
        whole = sum(free.probability({"x": center}, {"y": at}).enclosure(6, 30)[0] for at in inside)
        assert abs(whole - found[str(value)]) < 10**-20


def test_a_statement_with_a_probability() -> None:
    text = "0 1\ninput bool x ;\nbool y ;\ny = x ;\nProb{1/(1+exp(eps))} y = ! x ;\nreturn y ;\n"
    for shown in (text, text.replace("Prob{1/(1+exp(eps))}", "[1/(1+exp(eps))]")):
        program = dipc.load(imported(SourceText("r", shown), "r").text)
        exact = dipc.check_privacy(program, "hamming:1")
        assert exact["verdict"] == "private"
        assert dipc.check_privacy(program, "hamming:1", budget="99/100*eps")["verdict"] == "not private"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "the first line must be the range"),
        ("1 -1\nreturn x ;", 1, "the range is empty"),
        ("0 1\nint x\nx = 1 ;\nreturn x ;", 3, "`;` is expected here, not `x`"),
        ("0 1\nint x ;\ny = 1 ;\nreturn x ;", 3, "`y` is not declared"),
        ("0 1\nint x ;\nint x ;\nreturn x ;", 3, "`x` is declared twice"),
        ("0 1\nint x ;\nx = x ? 1 ;\nreturn x ;", 3, "the operator `?` cannot be imported"),
        ("0 1\nbool b ;\nif b then b = b ;\nreturn b ;", 3, "this `if` is not closed"),
        ("0 1\nint x ;\nx = 1 ;\n", 3, "nothing is returned"),
        ("0 1\nint x ;\nx =", 3, "the file ends where a value is expected"),
        ("0 1\ninput real x ;\nreturn x ;", 2, "`real` is not a type of inputs"),
        ("0 1\ninput int x 1 0 ;\nreturn x ;", 2, "the range is empty"),
        ("0 1\nint x ;\nelse\nreturn x ;", 3, "`else` closes no open statement"),
        ('0 1\nreal r ;\nr = Lap "1/eps" 0 ;\nreturn r ;', 3, "the rate 1/eps is not a multiple of eps"),
        ('0 1\nreal r ;\nr = Lap "eps/k" 0 ;\nreturn r ;', 3, "eps/k cannot be read: `k` is not known in rate"),
        ("0 1\nint x ;\nx = 1 % 0 ;\nreturn x ;", 3, "other than 0, not `0`"),
        ("0 1\nint x ;\nint y ;\nx = 1 ;\nreturn x ;\nreturn y ;", 6, "this returns other variables"),
        ("0 1\nint x ;\nx = DLap eps 0 ;\nx = x % 2 ;\nreturn x ;", 4, "`x` is not an integer of a range"),
        ("0 1\nint x ;\nint y ;\nx = DLap eps 0 ;\ny = TDLap eps x 0 1 ;\nreturn y ;", 5, "`x` is not an integer of a"),
        ("0 1\nint x ;\nreal r ;\nbool b ;\nb = x = 1 ;\nr = Lap eps/x 0 ;\nreturn b ;", 6, "`x` is not known in rate"),
        ('0 1\nint x ;\nx = "1 ;\nreturn x ;', 3, '`"` is not a name'),
        ("0 1\nint x ;\nreturn ;", 3, "nothing is returned"),
        ("0 1\nbool b ;\nb = true ;\nif b then int b ; fi\nreturn b ;", 4, "`b` is declared twice"),
    ],
)
def test_mistakes_have_their_places(text: str, line: int, message: str) -> None:
    with pytest.raises(dipc.DiagnosticError) as caught:
        imported(SourceText("bad", text), "bad")
    (found,) = caught.value.diagnostics
    assert message in found.message
    assert found.excerpt is not None
    assert found.excerpt.line == line
    assert found.notes


@pytest.mark.parametrize("name", ["end", "alpha", "dd", "inf", "log", "Gauss", "metric", "x"])
def test_names_that_are_words_of_this_language(name: str) -> None:
    text = f"0 1\ninput int q 0 1 ;\nint {name} ;\n{name} = q ;\nreturn {name} ;\n"
    program = dipc.load(imported(SourceText("t", text), "t").text)
    (found,) = program.outcomes({"q": 1})
    assert found.output == {name if name == "x" else f"{name}_": "1"}


#: As DiPC has them: inputs that are assigned, variables of two blocks, returns in between, rates with constants.
EARLY = """-5 5
input int q0 0 1;
input int q1 0 1;
int c;
c = 2;
int t;
t = 1;
q0 = q0 - t;
bool b;
b = false;
bool o0;
o0 = false;
bool o1;
o1 = false;
real rhs;
rhs = Lap "eps / ( 2 * c )" t;
real lhs;
lhs = Lap "eps / ( 4 )" q0;
o0 = lhs >= rhs;
if o0 then
real next;
next = Lap "eps / 4" q1;
o1 = next >= rhs;
return o0 o1;
else
real next;
next = Lap "eps / 2" q1;
o1 = next >= rhs;
fi;
return o0 o1; fi;
"""

EARLY_SAME = """
program early;
input q0, q1 : {0..1};
output o0, o1 : bool;
var rhs, lhs : real;
rhs <- Lap(eps/4, 1);
lhs <- Lap(eps/4, q0 - 1);
o0 <- lhs >= rhs;
if o0 then lhs <- Lap(eps/4, q1) else lhs <- Lap(eps/2, q1) end;
o1 <- lhs >= rhs
"""


def test_programs_as_dipc_has_them() -> None:
    found = imported(SourceText("early", EARLY), "early")
    program, same = dipc.load(found.text), dipc.load(EARLY_SAME)
    for point in ({"q0": 0, "q1": 0}, {"q0": 1, "q1": 0}, {"q0": 1, "q1": 1}):
        ours, theirs = (
            {tuple(o.output.values()): o.probability for o in each.outcomes(point)} for each in (program, same)
        )
        assert ours == theirs
    assert [warning.code for warning in found.warnings] == ["W1420"]


@pytest.mark.parametrize("divisor", [2, 3, -2])
def test_remainders(divisor: int) -> None:
    text = f"-3 3\ninput int x -3 3 ;\nint d ;\nd = {divisor} ;\nint y ;\ny = x % d ;\nreturn y ;\n"
    program = dipc.load(imported(SourceText("t", text), "t").text)
    for value in range(-3, 4):
        (found,) = program.outcomes({"x": value})
        assert found.output == {"y": str(int(math.fmod(value, divisor)))}


@pytest.mark.parametrize(
    ("rate", "eps", "same"), [("1 / eps", "1/2", 2), ("2", "3", 2), ("3*eps + 1", "1/3", 2), ("eps", "5", 5)]
)
def test_rates_at_a_fixed_eps(rate: str, eps: str, same: int) -> None:
    """The program has the rate at this eps, and says that it is about this eps."""
    text = f'0 1\ninput int x 0 1 ;\nreal r ;\nbool b ;\nr = Lap "{rate}" x ;\nb = r >= 1 ;\nreturn b ;\n'
    found = imported(SourceText("t", text), "t", Fraction(eps)).text
    program, plain = (
        dipc.load(each)
        for each in (
            found,
            "program p; input x : {0..1}; output b : bool; var r : real; r <- Lap(eps, x); b <- r >= 1;",
        )
    )
    one, two = (each.probability({"x": 0}, {"b": True}) for each in (program, plain))
    assert one.enclosure(Fraction(eps), 30) == two.enclosure(same, 30)
    assert dipc.check_privacy(program, "linf:1")["eps"] == f"[{eps}, {eps}]"
    assert f"# It is that program at eps = {eps} only." in found


def test_weights_that_are_probabilities_for_some_eps() -> None:
    text = "0 1\ninput bool x ;\nbool y ;\ny = x ;\nProb[(1-eps)/2] y = ! x ;\nreturn y ;\n"
    (warning,) = imported(SourceText("r", text), "r").warnings
    assert (warning.code, warning.message) == ("W1421", "this is not a probability at eps = 2")
    found = imported(SourceText("r", text), "r", Fraction(1, 2))
    assert not found.warnings
    assert str(dipc.load(found.text).probability({"x": True}, {"y": False})) == "1/4"


def test_a_directory_is_tested(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("svt", ABOVE), ("early", EARLY)):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    assert run(["import", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "passed: 2 claims, all as expected" in said
    assert "\nDIR/" in said
    assert said.endswith("DIR is where `-o DIR` keeps the programs\n")
    kept = tmp_path / "kept"
    assert run(["import", str(tmp_path), "--budget", "eps/100", "-o", str(kept)]) == 1
    assert "FAILED: 2 claims" in capsys.readouterr().out
    assert run(["test", str(kept)]) == 1
    (tmp_path / "bad.txt").write_text("nothing", encoding="utf-8")
    assert run(["import", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert "the first line must be the range" in captured.err
    assert "svt.txt: private" in captured.out
    assert run(["import", str(kept)]) == 2
    assert run(["import", str(tmp_path / "svt.txt"), "--budget", "eps"]) == 2


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, program, pairs = tmp_path / "svt.txt", tmp_path / "svt.dip", tmp_path / "pairs.csv"
    path.write_text(ABOVE.replace("fi\nreturn", "fi fi\nreturn"), encoding="utf-8")
    assert run(["import", str(path), "-o", str(program), "--pairs", str(pairs)]) == 0
    assert "this `fi` closes no `if`" in capsys.readouterr().err
    assert run(["privacy", str(program), "--adjacent", str(pairs), "-q"]) == 0
    assert capsys.readouterr().out == "private: budget eps suffices for all 40 pairs, for every eps in (0, ∞)\n"
    assert run(["import", str(tmp_path / "nowhere.txt")]) == 2

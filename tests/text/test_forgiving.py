"""Expressions where people write them mean what the longer program means: to chain, checker and simulator."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
import sympy

import dipc
from dipc.cli.main import run as command_line
from dipc.simulation.runs import run
from dipc.text.diagnostic import DiagnosticError, SourceText, render
from dipc.text.parser import parse
from dipc.text.printer import formatted, print_program

HEAD = "program p; input q[1..2] : real; input x[1..2] : {0..2}; output y : {0..3} = 0;"
REALS, NUMBERS = {"q[1]": "0", "q[2]": "1/2"}, {"x[1]": "0", "x[2]": "2"}
INPUT = {**REALS, **NUMBERS}

#: Variables that the short program has as well.
SHARED = {
    "a draw of one variable or a name": "domain d = {bot, top}; var t : d;",
    "weights with truth values": "var b : bool;",
}

CLAMPED = """z <- DLap(eps, x[2]);
if z <= 0 then y <- 0 else if z = 1 then y <- 1 else if z = 2 then y <- 2 else y <- 3 end end end"""

#: What is written, what it stands for, and variables that the latter needs.
PAIRS = {
    "clamp": (
        "var z : int; z <- DLap(eps, x[2]); y <- min(max(z, 0), 3)",
        CLAMPED,
        "var z : int;",
    ),
    "clamp without a variable": (
        "y <- max(0, min(DLap(eps, x[2]), 3))",
        CLAMPED,
        "var z : int;",
    ),
    "clamp to a domain value": (
        "var z : int; z <- DLap(eps, 1); y <- min(max(z, x[1]), x[2])",
        "z <- DLap(eps, 1); if z <= x[1] then y <- x[1] else if z >= x[2] then y <- x[2] else y <- 1 end end",
        "var z : int;",
    ),
    "noisy counts": (
        "y <- (Lap(eps, q[1]) >= 0) + (Lap(eps/2, q[2]) >= 0)",
        "r <- Lap(eps, q[1]); s <- Lap(eps/2, q[2]); if r >= 0 then y <- y + 1 end; if s >= 0 then y <- y + 1 end",
        "var r, s : real;",
    ),
    "one count": (
        "y <- Lap(eps, q[1]) >= q[2]",
        "r <- Lap(eps, q[1]); if r >= q[2] then y <- 1 end",
        "var r : real;",
    ),
    "scores that count": (
        "y <- Exp(eps/2, v in {0..3} : -abs((x[1] < v) + (x[2] < v) - 1))",
        """y <- choose { 0 : exp(-eps/2)/(2+2*exp(-eps/2)), 1 : 1/(2+2*exp(-eps/2)),
                      2 : 1/(2+2*exp(-eps/2)), 3 : exp(-eps/2)/(2+2*exp(-eps/2)) }""",
        "",
    ),
    "a score that is a condition": (
        "y <- Exp(eps/2, v in {0..3} : v = x[1] or v = x[2])",
        """y <- choose { 0 : exp(eps/2)/(2+2*exp(eps/2)), 1 : 1/(2+2*exp(eps/2)),
                      2 : exp(eps/2)/(2+2*exp(eps/2)), 3 : 1/(2+2*exp(eps/2)) }""",
        "",
    ),
    "weights with conditions": (
        "y <- choose { 0 : exp(eps*(x[1] = 0))/(1+exp(eps)), 1 : exp(eps*(x[1] > 0))/(1+exp(eps)) }",
        "y <- choose { 0 : exp(eps)/(1+exp(eps)), 1 : 1/(1+exp(eps)) }",
        "",
    ),
    "noise around 0": (
        "if Lap(eps/2) > q[2] - 0 then y <- 1 end; y <- y + (DLap(eps) > x[2])",
        "r <- Lap(eps/2, 0); z <- DLap(eps, 0); if r > q[2] then y <- 1 end; if z > x[2] then y <- y + 1 end",
        "var r : real; var z : int;",
    ),
    "a condition that draws": (
        "if Lap(eps, q[1]) + Lap(eps/2, 0) > Lap(eps, q[2]) then y <- 1 else y <- 2 end",
        "r <- Lap(eps, q[1]); s <- Lap(eps/2, 0); t <- Lap(eps, q[2]); if r + s > t then y <- 1 else y <- 2 end",
        "var r, s, t : real;",
    ),
    "drawn in a loop": (
        "for i in 1..2 do if Lap(eps, q[i]) > 0 then y <- i; exit end end y <- 3",
        "for i in 1..2 do r <- Lap(eps, q[i]); if r > 0 then y <- i; exit end end; y <- 3",
        "var r : real;",
    ),
    "an until loop": (
        "while choose { true : 1/2, false : 1/2 } do y <- 3 - y end",
        "b <- choose { true : 1/2, false : 1/2 }; while b do y <- 3 - y; b <- choose { true : 1/2, false : 1/2 } end",
        "var b : bool;",
    ),
    "choices in a sum": (
        "y <- choose { 0 : 1/3, 2 : 2/3 } + choose { 0 : 1/2, 1 : 1/2 }",
        "m <- choose { 0 : 1/3, 2 : 2/3 }; n <- choose { 0 : 1/2, 1 : 1/2 }; y <- m + n",
        "var m, n : {0..2};",
    ),
    "a mean that is drawn": (
        "if Lap(eps, Lap(eps/2, q[1])) > 0 then y <- 1 end",
        "r <- Lap(eps/2, q[1]); s <- Lap(eps, r); if s > 0 then y <- 1 end",
        "var r, s : real;",
    ),
    "a draw of the loop's variable": (
        "for i in 1..2 do y <- min(y + choose { i : 1/4, 0 : 3/4 }, 3) end",
        "for i in 1..2 do n <- choose { i : 1/4, 0 : 3/4 }; y <- y + n end",
        "var n : {0..2};",
    ),
    "a draw of variables and indices": (
        "for i in 1..2 do if choose { max(x[i], i) : 1/4, 2*i : 3/4 } > x[1] + i then y <- i end end",
        "for i in 1..2 do n <- choose { max(x[i], i) : 1/4, 2*i : 3/4 }; if n > x[1] + i then y <- i end end",
        "var n : {1..4};",
    ),
    "a draw of conditions": (
        "for i in 1..2 do if choose { x[i] > 0 : 1/4, true : 3/4 } then y <- y + i end end",
        "for i in 1..2 do b <- choose { x[i] > 0 : 1/4, true : 3/4 }; if b then y <- y + i end end",
        "var b : bool;",
    ),
    "a draw of reals": (
        "if choose { q[2] : 1/4, -q[2] : 3/4 } > q[1] then y <- 1 end",
        "b <- choose { true : 1/4, false : 3/4 }; if (b and q[2] > 0) or (not b and -q[2] > 0) then y <- 1 end",
        "var b : bool;",
    ),
    "a draw of one variable or a name": (
        "t <- top; if choose { t : 1/4, bot : 3/4 } = top then y <- 1 end",
        "t <- top; s <- choose { t : 1/4, bot : 3/4 }; if s = top then y <- 1 end",
        "domain d = {bot, top}; var s, t : d;",
    ),
    "scores of the loop's variable": (
        "for i in 1..2 do y <- min(y + Exp(eps, v in {i, 0} : v), 3) end",
        "for i in 1..2 do n <- Exp(eps, v in {i, 0} : v); y <- y + n end",
        "var n : {0..2};",
    ),
    "candidates up to the loop's variable": (
        "for i in 1..2 do y <- min(y + Exp(eps, v in {0..i} : v), 3) end",
        "n <- Exp(eps, v in {0..1} : v); y <- n; n <- Exp(eps, v in {0..2} : v); y <- min(y + n, 3)",
        "var n : {0..2};",
    ),
    "sums, counts, least and greatest": (
        """y <- min(sum(i in 1..2 : x[i]*i) - max(i in 1..2 : x[i]), count(i in 1..2 : x[i] > 0) + min(i in 1..2 : x[i])
             )
             + sum(i in 2..1 : i) + choose { 0 : 1/3, 1 : 2/3 }""",
        """n <- choose { 0 : 1/3, 1 : 2/3 };
           y <- min(x[1] + 2*x[2] - max(x[1], x[2]), (x[1] > 0) + (x[2] > 0) + min(x[1], x[2])) + n""",
        "var n : {0..1};",
    ),
    "sums of reals and nested sums": (
        "if Lap(eps, sum(i in 1..2 : q[i]/i)) > sum(i in 1..2 : sum(j in i..2 : x[j])) - 3 then y <- 1 end",
        "if Lap(eps, q[1] + q[2]/2) > x[1] + 2*x[2] - 3 then y <- 1 end",
        "",
    ),
    "the least and the greatest in a guard": (
        """if min(i in 1..2 : q[i]) >= 0 and max(i in 1..2 : q[i]) < 1 and 0 < max(i in 1..2 : q[i]) then
             y <- choose { 1 : 1/3, 2 : 2/3 } end""",
        """if q[1] >= 0 and q[2] >= 0 and q[1] < 1 and q[2] < 1 and (0 < q[1] or 0 < q[2]) then
             y <- choose { 1 : 1/3, 2 : 2/3 } end""",
        "",
    ),
    "a sum of scores": (
        "y <- Exp(eps/2, v in {0..3} : -abs(sum(i in 1..2 : x[i] < v) - sum(i in 1..2 : x[i] > v)))",
        "y <- Exp(eps/2, v in {0..3} : -abs((x[1] < v) + (x[2] < v) - (x[1] > v) - (x[2] > v)))",
        "",
    ),
    "sums in weights": (
        """y <- choose { 0 : 1 - sum(i in 1..2 : exp(-i*eps)*(x[i] > 0))/4,
                      1 : sum(i in 1..2 : exp(-i*eps)*(x[i] > 0))/4 }""",
        "y <- choose { 0 : 1 - exp(-2*eps)/4, 1 : exp(-2*eps)/4 }",
        "",
    ),
    "weights with truth values": (
        "b <- x[2] = 2; y <- choose { 0 : (not b)*exp(-eps)/2, 1 : 1 - (not b)*exp(-eps)/2 - b/4, 2 : b/4 }",
        "y <- choose { 1 : 3/4, 2 : 1/4 }",
        "var b : bool;",
    ),
    "both sides of an or": (
        "if q[1] > 1 or Lap(eps, q[2]) > 0 then y <- 1 end",
        "r <- Lap(eps, q[2]); if q[1] > 1 then y <- 1 else if r > 0 then y <- 1 end end",
        "var r : real;",
    ),
}


def written(name: str) -> tuple[str, str]:
    short, long, variables = PAIRS[name]
    return HEAD + SHARED.get(name, "") + short, HEAD + variables + long


@pytest.mark.parametrize("name", PAIRS)
def test_the_chain_has_the_probabilities_of_the_longer_program(name: str) -> None:
    short, long = (dipc.load(text) for text in written(name))
    total: sympy.Expr = sympy.Integer(0)
    for value in range(4):
        one, other = (program.probability(INPUT, {"y": str(value)}).expr for program in (short, long))
        assert sympy.simplify(one - other) == 0
        total += one
    assert sympy.simplify(total) == 1


@pytest.mark.parametrize("name", PAIRS)
def test_the_checker_accepts_what_the_engine_proves(name: str, tmp_path: Path, capsys) -> None:
    """The checker has a reader and an execution of its own."""
    path, table, proof = tmp_path / "p.dip", tmp_path / "t.csv", tmp_path / "proof.json"
    path.write_text(written(name)[0], encoding="utf-8")
    table.write_text(",".join([*INPUT, "y"]) + "\n" + ",".join([*INPUT.values(), "1"]) + "\n", encoding="utf-8")
    decided = set()
    for beta in ("1 - exp(-30*eps)/1000", "exp(-3*eps)/100"):
        command = ["check", str(path), str(table), "--beta", beta, "--certificate", str(proof), "-q"]
        decided.add(command_line(command))
        assert command_line(["verify", str(proof), "--program", str(path), "--table", str(table), "-q"]) == 0
    assert decided <= {0, 1}
    assert 1 in decided
    assert "refuted: " in capsys.readouterr().out


@pytest.mark.parametrize("name", PAIRS)
def test_the_simulator_agrees(name: str) -> None:
    program = dipc.load(written(name)[0])
    values = {slot: Fraction(text) for slot, text in INPUT.items()}
    tally = run(program.core, values, Fraction(1), 4000, seed=3)
    for value in range(4):
        low, high = program.probability(INPUT, {"y": str(value)}).enclosure(1)
        seen = tally.counts[(Fraction(value),)] / 4000
        assert low - Fraction(1, 25) <= seen <= high + Fraction(1, 25)


@pytest.mark.parametrize("name", PAIRS)
def test_the_canonical_form_keeps_what_is_written(name: str) -> None:
    source = SourceText("p.dip", written(name)[0])
    once = formatted(source)
    assert ("draw1" in once) is False
    assert formatted(SourceText("p.dip", once)) == once
    assert print_program(parse(SourceText("p.dip", once))) == print_program(parse(source))


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("y <- min(i in 2..1 : x[i])", "`min` needs at least one value"),
        ("y <- max(i in 2..1 : x[i])", "`max` needs at least one value"),
        ("y <- count(i in 1..2 : x[i])", "a condition is needed here"),
        ("for i in 1..2 do y <- sum(i in 1..2 : i) end", "`i` is already the variable of an enclosing loop"),
        ("y <- sum(i in 1..3 : x[i])", "the index 3 of `x` is out of bounds"),
        ("if sum(i in 1..2 : Lap(eps)) > 0 then y <- 1 end", "draws a random value, which is not possible here"),
        ("y <- sum(x)", "there is no function `sum`"),
        ("y <- mean(i in 1..2 : x[i])", "`mean` takes no range"),
        ("y <- sum(i in 1..y : 1)", "an end of a range must be a constant number"),
        ("y <- sum(i in 1..20000 : 0)", "this range has 20000 values"),
        ("y <- sum(i in 2..1 : z)", "`z` is not declared"),
    ],
)
def test_mistakes_in_sums(statement: str, message: str) -> None:
    assert message in refusal(HEAD + statement)


def test_sums_in_claims() -> None:
    text = "program c; const n = 2; output y : {0, 1}; ideal { y <- 1 } y <- choose { 1 : 1/4, 0 : 3/4 }"
    program = dipc.load(text)
    for beta, verdict in (
        ("sum(i in 1..n : 1/2^i)", "accurate"),
        ("sum(i in 1..n : sum(j in i..n : 1/4))", "accurate"),
        ("max(i in 1..n : 1/2^i)", "inaccurate"),
        ("sum(i in 1..n : log(2)*exp(-eps)/10^i) + 3/4", "accurate"),
        ("3/4 - min(i in 1..n : exp(-i*eps)) - sum(i in 1..0 : i)", "inaccurate"),
    ):
        assert str(dipc.check(program, alpha=0, beta=beta).verdict) == verdict
    for beta, message in (
        ("max(i in 1..0 : i)", "`max` needs at least one value"),
        ("sum(i in 1..eps : i)", "the ends of a range must be constant integers"),
        ("count(i in 1..n : i > 1)", "must be a number, not a truth value"),
    ):
        with pytest.raises(DiagnosticError) as caught:
            dipc.check(program, alpha=0, beta=beta)
        assert message in str(caught.value)


def test_a_variable_of_the_program_is_not_taken_for_a_drawn_one() -> None:
    text = HEAD + "var draw1 : {0..3} = 2; if choose { true : 1, false : 0 } then y <- draw1 end"
    assert dipc.load(text).probability(INPUT, {"y": "2"}).expr == 1


def test_an_ideal_may_name_its_loop_variable_like_a_variable_of_the_program() -> None:
    body = "ideal { for i in 1..2 do y <- i end } for j in 1..2 do i <- j end y <- i"
    assert dipc.load(HEAD + "var i : {0..3};" + body).core.ideal is not None
    assert "the loop variable `i` is already a variable" in refusal(
        HEAD + "var i : {0..3}; for i in 1..2 do y <- i end"
    )


def test_semicolons_behind_end_may_be_left_out() -> None:
    text = HEAD + "if q[1] > 0 then if q[2] > 0 then y <- 1 end y <- 2 end for i in 1..2 do y <- i end y <- 3"
    assert parse(SourceText("p", text)) == parse(SourceText("p", text)), "reading has no memory"
    assert print_program(parse(SourceText("p", text))) == print_program(
        parse(SourceText("p", text.replace(" end ", " end; ").replace("; ;", ";")))
    )


def refusal(text: str) -> str:
    with pytest.raises(DiagnosticError) as caught:
        dipc.load(text)
    return render(caught.value.diagnostics)


def test_a_missing_semicolon_is_at_the_end_of_the_statement_that_lacks_it() -> None:
    assert "y <- 1\n  |       ^ `;` is missing here" in refusal("program p;\noutput y : {0..3};\ny <- 1\ny <- 2")
    assert ": real\n  |               ^ `;` is missing here" in refusal(
        "program p;\ninput q : real\noutput y : real;\ny <- q"
    )
    assert refusal("program p;\noutput y : {0..3};\ny <- 1\nif y = 1 then y <- 2 end\ny <- 0").count("error[") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "program p; const c = Lap(eps, 0); output y : real; y <- c",
            "draws a random value, which is not possible here",
        ),
        ("program p; output y : real; y <- Lap(eps/choose { 1 : 1/2, 2 : 1/2 }, 0)", "draws a random value, which is"),
        (
            HEAD + "y <- Exp(eps, v in {0..3} : choose { 0 : 1/2, 1 : 1/2 })",
            "draws a random value, which is not possible here",
        ),
        (
            HEAD + "for i in 1..choose { 1 : 1/2, 2 : 1/2 } do y <- i end",
            "draws a random value, which is not possible here",
        ),
        (HEAD + "claim { beta: Lap(eps, 0); } y <- 1", "draws a random value, which is not possible here"),
        (HEAD + "ideal { if Lap(eps, q[1]) > 0 then y <- 1 end } y <- 1", "the ideal draws a random value"),
        (HEAD + "while Lap(eps, q[1]) > 0 do y <- 1 end", "is assigned inside `while`"),
        (HEAD + "y <- Lap(eps, q[1])", "Lap draws reals"),
        ("program p; domain d = {a, b}; output y : d; y <- DLap(eps, 0) + 1", "is an int"),
    ],
)
def test_what_draws_where_nothing_can_be_drawn(text: str, message: str) -> None:
    assert message in refusal(text)


def test_an_int_that_may_leave_the_domain_is_found_on_its_path() -> None:
    program = dipc.load("program p; output y : {0..3}; y <- max(DLap(eps, 0), 0)")
    with pytest.raises(DiagnosticError, match="`y` would become 4, which is outside its domain"):
        program.probability({}, {"y": "0"})


def test_a_logarithm_in_a_threshold_is_answered_with_what_to_write() -> None:
    text = "program p; const D = 100; input n : real; output out : bool; out <- Lap(eps, n) > 1 + log(D)/eps"
    told = refusal(text)
    assert "log(D) lies between 4.605170 and 4.605171; write the safe one" in told
    assert "can be written for one eps" in told
    for bound in ("4.605170", "4.605171"):
        program = dipc.load(text.replace("log(D)", bound), eps=1)
        low, high = program.probability({"n": 1}, {"out": "true"}).enclosure(1)
        assert (low > Fraction(1, 200)) if bound == "4.605170" else (high < Fraction(1, 200))

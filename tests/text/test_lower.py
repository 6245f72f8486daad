"""What accepted programs become: instructions, slots, normal forms."""

from __future__ import annotations

from fractions import Fraction
from textwrap import dedent

import pytest

from dipc.text.ast import BaseType, ClaimDecl, CompareOp, IdealDecl, Role
from dipc.text.core import (
    Branch,
    Const,
    DomType,
    ExitInstruction,
    Jump,
    LinearComparison,
    Reference,
    SampleChoice,
    SampleNoise,
    Store,
    written,
)
from dipc.text.diagnostic import DiagnosticError, SourceText
from dipc.text.parser import parse
from dipc.text.printer import print_expression
from dipc.text.program import CoreProgram
from dipc.text.statements import lower, lower_ideal
from tests.patience import at_most
from tests.text.instructions import listing

# Word for word the example that the language is specified by.
SPARSE = """\
# Sparse vector technique (Dwork and Roth 2014), Figure 2(a) of the paper
program sparse;
const m = 3, c = 1, T = 0;                 # rationals; the command line overrides them: -D m=4
domain answer = {none, bot, top};          # an enumerated DOM; {-5..5} is an integer DOM
input  q[1..m] : real;                     # or a DOM: input x : {0..4}
output out[1..m] : answer = none;          # outputs: DOM or real; may carry an initial value
var rT, r : real;                          # one keyword per declaration group
var b : bool;
var count : {0..m} = 0;
rT <- Lap(eps/(2*c), T);
for i in 1..m do
  r <- Lap(eps/(4*c), q[i]);
  b <- r >= rT;
  if b then
    out[i] <- top;
    count <- count + 1;
    if count >= c then exit end;
    rT <- Lap(eps/(2*c), T)
  else
    out[i] <- bot
  end
end
"""

HEADER = """\
program p;
const m = 3, half = 1/2;
domain answer = {none, bot, top};
domain d = {0..3};
input q[1..m] : real;
input x : d;
input u : int;
output out[1..m] : answer = none;
output y : real = 0;
var r, s : real = 0;
var z, w : int = 0;
var b, c : bool = false;
var n : d = 0;
var a[0..2] : d = 1;
"""


def lowered(text: str, **overrides: Fraction | int) -> CoreProgram:
    source = SourceText("p.dip", text)
    return lower(parse(source), source, {name: Fraction(value) for name, value in overrides.items()})


def listed(text: str, **overrides: Fraction | int) -> str:
    """The listing without its labels' indentation."""
    return "".join(f"{line.lstrip()}\n" for line in listing(lowered(text, **overrides)).splitlines())


def body(statements: str) -> list[str]:
    """The instructions of `statements` behind HEADER, without labels and the last exit."""
    return [line.split("  ", 1)[1] for line in listed(HEADER + statements).splitlines()][:-1]


# --- whole mechanisms ------------------------------------------------------------------------------


def test_sparse() -> None:
    program = lowered(SPARSE, m=2)
    assert (
        listing(program)
        == """\
 0  rT <- Lap(eps/2, 0)
 1  r <- Lap(eps/4, q[1])
 2  b <- r >= rT
 3  if b then 4 else 10
 4  out[1] <- top
 5  count <- count + 1
 6  if count >= 1 then 7 else 8
 7  exit
 8  rT <- Lap(eps/2, 0)
 9  go to 11
10  out[1] <- bot
11  r <- Lap(eps/4, q[2])
12  b <- r >= rT
13  if b then 14 else 20
14  out[2] <- top
15  count <- count + 1
16  if count >= 1 then 17 else 18
17  exit
18  rT <- Lap(eps/2, 0)
19  go to 21
20  out[2] <- bot
21  exit
"""
    )
    assert program.name == "sparse"
    assert program.constants == {"m": 2, "c": 1, "T": 0}
    assert [slot.name for slot in program.slots] == ["q[1]", "q[2]", "out[1]", "out[2]", "rT", "r", "b", "count"]
    assert [slot.index for slot in program.slots] == list(range(8))
    assert (program.inputs, program.outputs) == ((0, 1), (2, 3))
    answer = DomType(("none", "bot", "top"), "answer")
    assert [slot.type for slot in program.slots[1:]] == [
        BaseType.REAL,
        answer,
        answer,
        BaseType.REAL,
        BaseType.REAL,
        BaseType.BOOL,
        DomType((Fraction(0), Fraction(1), Fraction(2))),
    ]
    assert [slot.initial for slot in program.slots] == [None, None, "none", "none", None, None, None, 0]
    assert (program.loops, program.claim, program.ideal) == ({}, None, None)


def test_sparse_with_other_constants() -> None:
    program = lowered(SPARSE, m=4, c=2, T=Fraction(-1, 2))
    noises = [instruction for instruction in program.instructions if isinstance(instruction, SampleNoise)]
    assert [noise.rate for noise in noises[:3]] == [Fraction(1, 4), Fraction(1, 8), Fraction(1, 4)]
    assert noises[0].mean.constant == Const(Fraction(-1, 2))
    assert [program.slots[noise.target.slots[0]].name for noise in noises[1::2]] == ["r"] * 4
    assert [program.slots[noise.mean.terms[0][1].slot].name for noise in noises[1::2]] == [
        f"q[{i}]" for i in (1, 2, 3, 4)
    ]


def test_numeric_sparse() -> None:
    """Algorithm 1 of the paper, its labels shifted by 4."""
    text = """
        program numeric_sparse;
        const m = 2, T = 0;
        input q[1..m] : real;
        output found[1..m] : {0, 1} = 0;
        output value[1..m] : real = 0;
        var rT, r : real;
        rT <- Lap(4*eps/9, T);
        for i in 1..m do
          r <- Lap(2*eps/9, q[i]);
          if r >= rT then found[i] <- 1; value[i] <- Lap(eps/9, q[i]); exit end
        end
    """
    assert listed(text) == dedent(
        """\
        0  rT <- Lap(4*eps/9, 0)
        1  r <- Lap(2*eps/9, q[1])
        2  if r >= rT then 3 else 6
        3  found[1] <- 1
        4  value[1] <- Lap(eps/9, q[1])
        5  exit
        6  r <- Lap(2*eps/9, q[2])
        7  if r >= rT then 8 else 11
        8  found[2] <- 1
        9  value[2] <- Lap(eps/9, q[2])
        10  exit
        11  exit
        """
    )


def test_noisy_max_as_a_running_maximum() -> None:
    text = """
        program noisy_max;
        const m = 3;
        input q[1..m] : real;
        output best : {1..m};
        var r, largest : real;
        for i in 1..m do
          r <- Lap(eps/2, q[i]);
          if i = 1 then
            best <- i; largest <- r
          else
            if r > largest then best <- i; largest <- r end
          end
        end
    """
    assert listed(text) == dedent(
        """\
        0  r <- Lap(eps/2, q[1])
        1  best <- 1
        2  largest <- r
        3  r <- Lap(eps/2, q[2])
        4  if r > largest then 5 else 7
        5  best <- 2
        6  largest <- r
        7  r <- Lap(eps/2, q[3])
        8  if r > largest then 9 else 11
        9  best <- 3
        10  largest <- r
        11  exit
        """
    )


def test_laplace_on_coordinates() -> None:
    text = "program laplace; const k = 2; input q[1..k] : real; output out[1..k] : real;"
    assert listed(text + "for i in 1..k do out[i] <- Lap(eps/k, q[i]) end", k=3) == dedent(
        """\
        0  out[1] <- Lap(eps/3, q[1])
        1  out[2] <- Lap(eps/3, q[2])
        2  out[3] <- Lap(eps/3, q[3])
        3  exit
        """
    )


def test_randomized_response_and_the_exponential_mechanism() -> None:
    text = """
        program choices;
        const t = 1/2;
        domain coin = {heads, tails};
        input x : {0..2};
        output y : coin; output e : {0..2};
        y <- choose { heads : exp(t*eps)/(1 + exp(t*eps)), tails : 1/(1 + exp(eps/2)) };
        e <- Exp(eps/(2*t + 1), v in {0, 1, 2} : -abs(v - x));
    """
    program = lowered(text)
    choice = program.instructions[0]
    assert isinstance(choice, SampleChoice)
    assert [value for value, _ in choice.arms] == [Const("heads"), Const("tails")]
    assert [print_expression(weight) for _, weight in choice.arms] == [
        "exp(1/2*eps)/(1 + exp(1/2*eps))",
        "1/(1 + exp(1/2*eps))",
    ]
    assert listed(text).splitlines()[1] == "1  e <- Exp(eps/2, {0 : -abs(0 - x), 1 : -abs(1 - x), 2 : -abs(2 - x)})"


def test_while() -> None:
    program = lowered(HEADER + "while n < 3 and not b do n <- n + 1; while b do b <- c end end; y <- n")
    assert body("while n < 3 and not b do n <- n + 1; while b do b <- c end end; y <- n") == [
        "if n < 3 and not b then 1 else 6",
        "n <- n + 1",
        "if b then 3 else 0",
        "b <- c",
        "go to 2",
        "go to 0",
        "y <- n",
    ]
    assert sorted(program.loops) == [0, 2]
    assert program.source.text[program.loops[2].start : program.loops[2].end] == "while b do b <- c end"


def test_loops_without_end_and_without_body() -> None:
    ends = ["if true then 1 else 4", "if b then 2 else 0", "exit", "go to 0"]
    assert body("while true do if b then exit end end") == ends
    assert body("while true do end") == ["if true then 0 else 2", "go to 0"]
    assert body("while false do n <- 1 end; n <- 2") == ["n <- 2"]


# --- expressions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "instruction"),
    [
        ("y <- 2*r - s/3 + x", "y <- 2*r - s/3 + x"),
        ("y <- -(r - s)", "y <- s - r"),
        ("y <- 2*(r + x)", "y <- 2*r + 2*x"),
        ("y <- r + 2*r - s", "y <- 3*r - s"),
        ("y <- r - r", "y <- 0*r"),
        ("y <- (r + s - r)/2 + 1/3", "y <- 0*r + s/2 + 1/3"),
        ("y <- q[1] + q[2] - q[m]", "y <- q[1] + q[2] - q[3]"),
        ("y <- x*r", "y <- x*r"),
        ("y <- (x + 1)*(r - 2)", "y <- (x + 1)*r - 2*(x + 1)"),
        ("y <- r/(x + 1)", "y <- 1/(x + 1)*r"),
        ("y <- r*x*2 - x", "y <- 2*x*r - x"),
        ("y <- q[x]", "y <- q[x]"),
        ("y <- q[x + 1] - q[x + 1]", "y <- q[x + 1] - q[x + 1]"),
        ("y <- x", "y <- x"),
        ("y <- 1/3", "y <- 1/3"),
        ("y <- 0.25 - 1e-2", "y <- 6/25"),
        ("y <- half^3*m", "y <- 3/8"),
        ("y <- max(1, half, m) + min(m, 1/2) - abs(-2)", "y <- 3/2"),
        ("y <- 3 - r", "y <- 3 - r"),
        ("y <- r/half", "y <- 2*r"),
        ("z <- 2*z - w + x", "z <- 2*z - w + x"),
        ("z <- z + min(x, n) - abs(x - 2)*w", "z <- z - abs(x - 2)*w + min(x, n)"),
        ("z <- 2*(z/2)", "z <- z"),
        ("n <- m - x", "n <- 3 - x"),
        ("n <- min(n + 1, 3)", "n <- min(n + 1, 3)"),
        ("n <- x/2*2 - (x - 1)", "n <- 2*(x/2) - (x - 1)"),
        ("n <- a[x]", "n <- a[x]"),
        ("n <- a[a[1]]", "n <- a[a[1]]"),
        ("a[x - 1] <- n", "a[x - 1] <- n"),
        ("out[x] <- out[1]", "out[x] <- out[1]"),
        ("b <- x < 3", "b <- x < 3"),
        ("b <- not (x = 1 or b) and c", "b <- not (x = 1 or b) and c"),
        ("b <- out[1] = none", "b <- out[1] = none"),
        ("b <- (x = 1) = c", "b <- (x = 1) = c"),
        ("b <- m > 2", "b <- true"),
        ("b <- m > 2 and b", "b <- b"),
        ("b <- m < 2 and b", "b <- false"),
        ("b <- half = 0.5 or r > s", "b <- true"),
        ("b <- r >= s", "b <- r >= s"),
        ("b <- 2*r - 1 < s + x", "b <- 2*r < s + 1 + x"),
        ("b <- r != half", "b <- r != 1/2"),
        ("b <- not r >= s", "b <- r < s"),
        ("b <- not not r = s", "b <- r = s"),
        ("b <- r > s and m = 3", "b <- r > s"),
        ("b <- z >= half*x", "b <- z >= 1/2*x"),
        ("b <- z/2 > w", "b <- z/2 > w"),
        ("b <- q[x] <= r", "b <- q[x] <= r"),
        ("r <- Lap(eps, s)", "r <- Lap(eps, s)"),
        ("r <- Lap(0.5*eps, 2*s - x)", "r <- Lap(eps/2, 2*s - x)"),
        ("r <- Lap(4*eps/9, q[2])", "r <- Lap(4*eps/9, q[2])"),
        ("r <- Lap(-eps*(1 - 3)/m, n)", "r <- Lap(2*eps/3, n)"),
        ("r <- Lap((eps + eps)/2 + 0, 0)", "r <- Lap(eps, 0)"),
        ("r <- Expo(eps/m)", "r <- Expo(eps/3)"),
        ("z <- DLap(eps, x)", "z <- DLap(eps, x)"),
        ("z <- DLap(2*eps, z + u)", "z <- DLap(2*eps, z + u)"),
        ("b <- choose {b : 1/2, not b : half}", "b <- choose {b : 1/2, not b : 1/2}"),
        ("n <- choose {n : 1 - exp(-eps)^2, 0 : exp(-2*eps)}", "n <- choose {n : 1 - exp(-1*eps)^2, 0 : exp(-2*eps)}"),
        ("out[x] <- Exp(eps, v in {bot, top} : x)", "out[x] <- Exp(eps, {bot : x, top : x})"),
        ("n <- Exp(eps, n in d : n)", "n <- Exp(eps, {0 : 0, 1 : 1, 2 : 2, 3 : 3})"),
    ],
)
def test_one_statement(statement: str, instruction: str) -> None:
    assert body(statement) == [instruction]


def test_the_difference_of_a_comparison() -> None:
    program = lowered(HEADER + "b <- 2*r - 1 < s + r + x")
    comparison = program.instructions[0]
    assert isinstance(comparison, Store)
    test = comparison.value
    assert isinstance(test, LinearComparison)
    assert test.op is CompareOp.LT
    terms = [(coefficient, program.slots[read.slot].name) for coefficient, read in test.difference.terms]
    assert terms == [(Const(Fraction(1)), "r"), (Const(Fraction(-1)), "s")]
    assert written(test.difference.constant).text == "-1 - x"


def test_an_element_with_an_index_known_only_in_a_state() -> None:
    program = lowered(HEADER + "n <- a[x]; a[x] <- 1")
    first, second = program.instructions[:2]
    assert isinstance(first, Store)
    assert isinstance(first.value, Reference)
    assert isinstance(second, Store)
    slots = tuple(slot.index for slot in program.slots if slot.name.startswith("a["))
    assert (first.value.slots, first.value.low, first.value.name) == (slots, 0, "a")
    assert (second.target.slots, second.target.low, second.target.name) == (slots, 0, "a")
    assert second.target.index is not None
    assert first.target.index is None


# --- conditions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "instructions"),
    [
        ("b or x = 2", ["if b or x = 2 then 1 else 2"]),
        ("r > s", ["if r > s then 1 else 2"]),
        ("not r > s", ["if r <= s then 1 else 2"]),
        ("b and r > s", ["if b then 1 else 3", "if r > s then 2 else 3"]),
        ("r > s and b", ["if r > s then 1 else 3", "if b then 2 else 3"]),
        ("b or r > s", ["if b then 2 else 1", "if r > s then 2 else 3"]),
        ("not (b or r > s)", ["if not b then 1 else 3", "if r <= s then 2 else 3"]),
        ("not (b and r > s)", ["if not b then 2 else 1", "if r <= s then 2 else 3"]),
        ("r > s and z = w", ["if r > s then 1 else 3", "if z = w then 2 else 3"]),
        ("(b or r > s) and (r < 3 or c)",
         ["if b then 2 else 1", "if r > s then 2 else 5", "if r < 3 then 4 else 3", "if c then 4 else 5"]),
        ("m = 3 and r > s", ["if r > s then 1 else 2"]),
        ("m = 2 or r > s", ["if r > s then 1 else 2"]),
        ("r > s or m = 2", ["if r > s then 1 else 2"]),
    ],
)  # fmt: skip
def test_conditions_become_jumps(condition: str, instructions: list[str]) -> None:
    assert body(f"if {condition} then y <- 1 end") == [*instructions, "y <- 1"]


def test_a_mixed_condition_is_assigned_by_jumps() -> None:
    assert body("a[x] <- 1; b <- b and r > s; y <- 1") == [
        "a[x] <- 1",
        "if b then 2 else 5",
        "if r > s then 3 else 5",
        "b <- true",
        "go to 6",
        "b <- false",
        "y <- 1",
    ]


def test_a_settled_condition_leaves_one_branch() -> None:
    assert body("if m = 3 then y <- 1 else y <- 2 end") == ["y <- 1"]
    assert body("if m = 2 then y <- 1 else y <- 2 end") == ["y <- 2"]
    assert body("if m = 2 then y <- 1 end") == []


def test_code_that_cannot_run_may_have_impossible_values() -> None:
    assert body("if m = 2 then y <- q[9]; n <- 9; y <- 1/0; for i in 1..0/0 do n <- i end end") == []
    assert body("for i in 1..m do if i > 1 and q[i - 1] > r then y <- i end end") == [
        "if q[1] > r then 1 else 2",
        "y <- 2",
        "if q[2] > r then 3 else 4",
        "y <- 3",
    ]


# --- loops -----------------------------------------------------------------------------------------


def test_loop_bounds() -> None:
    assert body("for i in 0..0 do y <- i end") == ["y <- 0"]
    assert body("for i in 1..0 do y <- i end; y <- 7") == ["y <- 7"]
    assert body("for i in -1..1 do y <- i end") == ["y <- -1", "y <- 0", "y <- 1"]
    assert body("for i in 1..2 do for j in i..m - 1 do y <- 10*i + j end end") == ["y <- 11", "y <- 12", "y <- 22"]
    assert body("for i in 1..2 do y <- i end; for i in 4..4 do y <- i end") == ["y <- 1", "y <- 2", "y <- 4"]


@pytest.mark.slow
def test_long_loops_are_refused_at_once() -> None:
    for loops in ("for i in 1..1000000000", "for i in 1..40000 do for j in 1..40000", "for i in -10^9..10^40"):
        with pytest.raises(DiagnosticError) as caught, at_most(4_000_000):
            body(f"{loops} do y <- y + 1 end" + " end" * (loops.count("for") - 1))
        assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["E0306"]


def test_long_loops_without_statements_are_nothing() -> None:
    assert body("for i in 1..10^40 do end; y <- 1") == ["y <- 1"]


@pytest.mark.slow
def test_the_limit_on_statements_is_exact() -> None:
    def size(count: int) -> int:
        return len(lowered(f"program p; output y : real = 0; for i in 1..{count} do y <- 1 end").instructions)

    assert size(49_999) == 50_000
    with pytest.raises(DiagnosticError):
        size(50_000)


def test_scores_count_as_statements() -> None:
    text = "program p; output y : {0..9999}; for i in 1..9 do y <- Exp(eps, v in {0..9999} : v) end"
    with pytest.raises(DiagnosticError) as caught:
        lowered(text)
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["E0306"]


def test_the_work_of_lowering_grows_with_the_program() -> None:
    """Lowering takes some hundred calls for each of the 2002 instructions."""
    with at_most(2_000_000):
        program = lowered(SPARSE, m=200, c=200)
    assert len(program.instructions) == 2002


def test_deep_expressions_are_lowered_and_shown() -> None:
    for text in (
        "-" * 190 + "x",
        "(" * 190 + "x" + " + 1)" * 190,
        "max(1, " * 190 + "x" + ")" * 190,
        "r" + " - r" * 190,
    ):
        assert len(body(f"y <- {text}")) == 1
    nested = "b <- " + "not (b and " * 60 + "r > s" + ")" * 60
    assert len(body("if b then " * 70 + nested + " end" * 70)) > 130


# --- assignment before use -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statements",
    [
        "if b then v <- 1 end; y <- v",  # left to the chain: some path assigns it
        "while b do y0 <- 1; b <- c end; n <- y0",
        "while c do if b then n <- y0 end; y0 <- 1; b <- true end",
        "exit; y <- v",
        "while true do exit end; y <- v",
        "e[x] <- 1; n <- e[1]",
        "for i in 1..2 do if i > 1 then y <- v end; v <- i end",
        "if m = 2 then y <- v end",
        "if b then exit else v <- 1 end; y <- v",
    ],
)
def test_what_may_have_a_value_is_not_refused(statements: str) -> None:
    lowered(HEADER + "var v : real; var y0 : d; var e[1..3] : d;" + statements)


# --- names -----------------------------------------------------------------------------------------


def test_one_name_in_two_domains() -> None:
    text = "program p; domain a = {u, v}; domain e = {v, w}; output o : a; var k : e = v; o <- k; o <- v; k <- v;"
    assert listed(text).splitlines() == ["0  o <- k", "1  o <- v", "2  k <- v", "3  exit"]


def test_domains_use_constants_and_one_another() -> None:
    text = "program p; domain a = {lo, hi - 1, 7/2}; domain e = a; const lo = 0, hi = 3; output o : e;"
    program = lowered(text + " output k : {lo..hi};")
    assert program.slots[0].type == DomType((Fraction(0), Fraction(2), Fraction(7, 2)), "e")
    assert program.slots[1].type == DomType(tuple(map(Fraction, range(4))))


def test_a_domain_may_have_the_name_of_a_variable() -> None:
    assert listed("program p; domain o = {u, v}; output o : o; o <- u") == "0  o <- u\n1  exit\n"


def test_constants_are_overridden_before_others_use_them() -> None:
    text = "program p; const a = 1, e = a/2, f = 1/0; output o : real; o <- e + f"
    assert listed(text, a=3, f=Fraction(1, 4)).startswith("0  o <- 7/4\n")


def test_int_and_real_side_by_side() -> None:
    program = lowered(
        HEADER + "r <- Lap(eps, 0); z <- DLap(eps, 0); b <- r > 1; c <- z > 1; if r > s and z > w then exit end"
    )
    assert BaseType.INT in [slot.type for slot in program.slots]


# --- claims and ideals -----------------------------------------------------------------------------


def test_a_claim_is_kept() -> None:
    text = "program p; const m = 3; output o : bool; claim { alpha: dd; beta: m*exp(-alpha*eps/8) + min(gamma, 1);"
    program = lowered(text + " gamma: alpha/2; eps: (0, m], [2*m, inf); } o <- true")
    assert isinstance(program.claim, ClaimDecl)
    assert [field.name for field in program.claim.fields] == ["alpha", "beta", "gamma", "eps"]


IDEAL = """
    program p;
    const m = 2, T = 0;
    domain answer = {none, bot, top};
    var r : real;
    input q[1..m] : real;
    var n : {0..3} = 0;
    output out[1..m] : answer = none;
    ideal {
      var n : {0..m} = 0;
      for i in 1..m do
        if q[i] >= T then out[i] <- top; n <- n + 1; if n >= 1 then exit end else out[i] <- bot end
      end
    }
    r <- Lap(eps, T);
"""


def test_an_ideal_is_a_program_of_its_own() -> None:
    source = SourceText("p.dip", IDEAL)
    tree = parse(source)
    assert isinstance(lower(tree, source).ideal, IdealDecl)
    ideal = lower_ideal(tree, source, {"m": Fraction(1)})
    assert ideal is not None
    assert [slot.name for slot in ideal.slots] == ["q[1]", "out[1]", "n"]
    assert (ideal.inputs, ideal.outputs) == ((0,), (1,))
    assert [slot.role for slot in ideal.slots] == [Role.INPUT, Role.OUTPUT, Role.VAR]
    assert ideal.slots[1].initial == "none"
    assert listing(ideal) == dedent(
        """\
        0  if q[1] >= 0 then 1 else 6
        1  out[1] <- top
        2  n <- n + 1
        3  if n >= 1 then 4 else 7
        4  exit
        5  go to 7
        6  out[1] <- bot
        7  exit
        """
    )


def test_a_program_without_ideal() -> None:
    source = SourceText("p.dip", SPARSE)
    assert lower_ideal(parse(source), source) is None


# --- what every consumer relies on -----------------------------------------------------------------


@pytest.mark.parametrize("text", [SPARSE, IDEAL, HEADER + "while b or r > s do n <- 1; if z = w then exit end end"])
def test_jumps_stay_inside_and_the_last_instruction_is_exit(text: str) -> None:
    program = lowered(text)
    labels = range(len(program.instructions))
    assert isinstance(program.instructions[-1], ExitInstruction)
    for instruction in program.instructions:
        match instruction:
            case Branch(then=then, otherwise=otherwise):
                assert then in labels
                assert otherwise in labels
                assert not isinstance(program.instructions[then], Jump)
            case Jump(target):
                assert target in labels
            case Store() | SampleNoise():
                assert all(slot < len(program.slots) for slot in instruction.target.slots)


def test_weights_count_among_the_statements() -> None:
    arms = ", ".join(f"{value} : 1/20000" for value in range(20_000))
    source = SourceText("p", f"program p; output o : {{0..19999}}; o <- choose {{ {arms} }}")
    tree = parse(source)
    with pytest.raises(DiagnosticError) as caught:
        lower(tree, source, {})
    assert [(found.code, found.label) for found in caught.value.diagnostics] == [("E0306", "20000 weights")]

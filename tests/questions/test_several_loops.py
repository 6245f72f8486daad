"""`--for-all m` of programs with several loops: as one loop, and as parts that do not meet."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

import dipc
from dipc.decide.obligation import Verdict
from dipc.measure.event import Event
from dipc.program.program import Program
from dipc.questions.every_number.normal_form import separate_parts, with_one_loop
from dipc.questions.every_number.uniform import NotUniform, QueryNumber, parameter_arrays
from dipc.questions.every_number.union_bound import Sum, plus
from dipc.questions.question import check_for_all
from dipc.text import ast
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse
from dipc.text.printer import print_program
from tests.questions.test_for_all import changed, exact_verdict

#: Noise first, comparisons afterwards.
NOISE_FIRST = """
program noise_first;
const m = 3;
input q[1..m] : real;
output out[1..m] : {0, 1} = 0;
var v[1..m] : real;
claim { alpha: dd; beta: m*exp(-alpha*eps/2); }
ideal { for i in 1..m do if q[i] >= 0 then out[i] <- 1 end end }
for i in 1..m do v[i] <- Lap(eps/2, q[i]) end;
for j in 1..m do if v[j] >= 0 then out[j] <- 1 end end
"""

#: The noisy maximum, and which queries are above a threshold.
MAXIMUM_FIRST = """
program maximum_first;
const m = 3;
input q[1..m] : real;
output win : {1..m} = 1;
output out[1..m] : {0, 1} = 0;
var v, best : real;
claim { alpha: dd; beta: 2*m*exp(-alpha*eps/4); }
ideal {
  var high : real;
  high <- q[1];
  for i in 2..m do if q[i] > high then high <- q[i]; win <- i end end;
  for i in 1..m do if q[i] >= 0 then out[i] <- 1 end end
}
best <- Lap(eps/4, q[1]);
for i in 2..m do v <- Lap(eps/4, q[i]); if v > best then best <- v; win <- i end end;
for i in 1..m do v <- Lap(eps/4, q[i]); if v >= 0 then out[i] <- 1 end end
"""

#: AboveThreshold twice, with the same variables; the first one idles after its answer, the second one exits.
TWICE = """
program twice;
const m = 3;
input q[1..m], p[1..m] : real;
output out[1..m] : {0..2} = 0;
output too[1..m] : {0..2} = 0;
var v, t : real;
var done : bool = false;
claim { alpha: dd; beta: 4*m*exp(-alpha*eps/16); }
ideal {
  var done : bool = false;
  for i in 1..m do if not done then if q[i] >= 0 then out[i] <- 2; done <- true else out[i] <- 1 end end end;
  for i in 1..m do if p[i] >= 0 then too[i] <- 2; exit else too[i] <- 1 end end
}
t <- Lap(eps/4, 0);
for i in 1..m do
  if not done then v <- Lap(eps/8, q[i]); if v >= t then out[i] <- 2; done <- true else out[i] <- 1 end end
end;
t <- Lap(eps/4, 0);
for i in 1..m do v <- Lap(eps/8, p[i]); if v >= t then too[i] <- 2; exit else too[i] <- 1 end end
"""

SPLIT_NOISE = changed(NOISE_FIRST, ("Lap(eps/2,", "Lap(eps/(2*m),"), ("alpha*eps/2)", "alpha*eps/(2*m))"))

CLAIMS = [
    (NOISE_FIRST, "m*exp(-alpha*eps/2)/2", Verdict.ACCURATE),
    (NOISE_FIRST, "m*exp(-alpha*eps/2)/4", Verdict.INACCURATE),
    (SPLIT_NOISE, "m*exp(-alpha*eps/(2*m))/2", Verdict.ACCURATE),
    (SPLIT_NOISE, "m*exp(-alpha*eps/(2*m))/4", Verdict.INACCURATE),
    (MAXIMUM_FIRST, "2*m*exp(-alpha*eps/4)", Verdict.ACCURATE),
    (MAXIMUM_FIRST, "m*exp(-alpha*eps/4)/4", Verdict.INACCURATE),
    (TWICE, "4*m*exp(-alpha*eps/16)", Verdict.ACCURATE),
    (TWICE, "m*exp(-alpha*eps/16)/4", Verdict.INACCURATE),
]


@pytest.mark.parametrize(("source", "beta", "verdict"), CLAIMS)
def test_several_loops(source: str, beta: str, verdict: Verdict) -> None:
    found = check_for_all(dipc.load(source), "m", beta=beta)
    assert found.report.verdict is verdict
    exactly = {m: exact_verdict(source, m, {"beta": beta}) for m in range(1, 3 if source is TWICE else 5)}
    assert (Verdict.INACCURATE in exactly.values()) is (verdict is Verdict.INACCURATE)


REFUSED = {
    "a count of the first loop": (
        changed(NOISE_FIRST, ("var v", "var n : bool = false; var v"), ("q[i]) end;", "q[i]); n <- true end;"),
                ("if v[j] >= 0", "if v[j] >= 0 and n")),
        "share `n`",
    ),
    "a value of the first loop": (
        changed(NOISE_FIRST, ("var v", "var w : real = 0; var v"), ("q[i]) end;", "q[i]); w <- v[i] end;"),
                ("if v[j] >= 0", "if v[j] >= w")),
        "share `w`",
    ),
    "an exit before the second loop": (
        changed(TWICE, ("v >= t then out[i] <- 2; done <- true", "v >= t then out[i] <- 2; exit")),
        "`exit` leaves a loop",
    ),
    "another range": (changed(NOISE_FIRST, ("for j in 1..m", "for j in 2..m")), "same indices"),
    "an element in between": (
        changed(NOISE_FIRST, ("q[i]) end;", "q[i]) end; v[1] <- 0;")),
        "`v` is used outside of the loop",
    ),
    "a maximum that is used again": (
        changed(MAXIMUM_FIRST, ("if v >= 0", "if v >= best")),
        "",
    ),
    "a maximum that is an output": (
        changed(MAXIMUM_FIRST, ("var v, best : real;", "var v : real; output best : real;"), ("var high : real;", ""),
                ("high <- q[1]", "best <- q[1]"), ("q[i] > high then high <-", "q[i] > best then best <-")),
        "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_loops_that_depend_on_each_other_are_refused(name: str) -> None:
    source, expected = REFUSED[name]
    last = check_for_all(dipc.load(source.replace("var ;", "")), "m").report.rows[-1]
    assert last.verdict is Verdict.UNDECIDED
    assert last.reason is not None
    assert expected in last.reason


# --- the laws of the outputs ---------------------------------------------------------------------------------

HEAD = (
    "program p; const m = 2; input q[1..m] : real; output out[1..m] : {0..2} = 0; output o : {0..2} = 0; "
    "var v[1..m], x, y : real = 0; var b, c : bool = false; "
)

BODIES = [
    """x <- Lap(eps, 0);
    for i in 1..m do v[i] <- Lap(eps, q[i]); out[i] <- 1 end;
    for j in 1..m do if v[j] >= x then out[j] <- 2 end end;
    o <- 1""",
    """for i in 1..m do x <- Lap(eps, q[i]); b <- x >= 1; if b then out[i] <- 1 end end;
    x <- Lap(eps/2, 0);
    for i in 1..m do y <- Lap(eps, q[i]); if y >= x then if c then exit end; c <- true; out[i] <- 2 end end;
    o <- 2""",
    """for i in 1..m do if b then out[i] <- 1 end; b <- q[i] >= 0 end;
    for i in 1..m do v[i] <- Lap(eps, 0) end;
    b <- true;
    for i in 1..m do if v[i] >= 0 and b then out[i] <- 2; b <- false else exit end end;
    if b then o <- 1 end""",
    """for i in 1..m do x <- Lap(eps/2, x) end;
    for i in 1..m do x <- 1; c <- true; x <- 1 end;
    x <- 2; b <- false;
    for i in 1..m do if x >= 0 then out[i] <- 2; x <- Lap(eps/3, x) end; if b then x <- 0 end end""",
    """for i in 1..m do x <- Lap(eps, q[i]); if x >= 0 then out[i] <- 1 end end;
    for i in 1..m do if q[i] >= 1 then x <- Lap(eps, 0) else x <- 1 end; if x >= 0 then o <- 1 end end""",
]


def laws(program: Program, kept: Sequence[str]) -> dict[object, float]:
    """The probabilities of the values of these outputs at one eps, where q = 0, 1."""
    found: dict[object, float] = {}
    for outcome in program.outcomes({"q": [0, 1, 2][: len(program.inputs)]}):
        key = tuple(outcome.output[name] for name in kept)
        found[key] = found.get(key, 0.0) + float(outcome.probability.enclosure(Fraction(2, 3), 30)[0])
    return found


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_one_loop_has_the_same_law(body: str, m: int) -> None:
    tree = parse(SourceText("p", HEAD + body))
    single = with_one_loop(tree, QueryNumber("m"), parameter_arrays(tree, QueryNumber("m")))
    assert sum(isinstance(statement, ast.For) for statement in single.body) == 1
    program, other = dipc.load(HEAD + body, m=m), dipc.load(print_program(single), m=m)
    assert laws(program, program.outputs) == pytest.approx(laws(other, program.outputs), abs=1e-20)


def random_body(rng: random.Random) -> str:
    """Two or three loops, with statements between them, that may or may not share variables."""

    def condition(i: str) -> str:
        return rng.choice(["b", "not b", "c", f"q[{i}] >= 1", "x >= 0", "y >= x", f"v[{i}] >= y"])

    def statement(i: str, depth: int) -> str:
        simple = [
            f"x <- Lap(eps, q[{i}])", "y <- Lap(eps/2, x)", "x <- Lap(eps, 0)", "y <- 1", "b <- true", "b <- not c",
            f"c <- {condition(i)}", f"v[{i}] <- Lap(eps, {rng.choice(['0', 'x', f'q[{i}]'])})", "o <- 1", "exit",
            f"out[{i}] <- {rng.randint(0, 2)}", f"out[{i}] <- {rng.randint(0, 2)}",
        ]  # fmt: skip
        if depth and rng.random() < 0.5:
            otherwise = f" else {statement(i, depth - 1)}" if rng.random() < 0.5 else ""
            return f"if {condition(i)} then {statement(i, depth - 1)}{otherwise} end"
        return rng.choice(simple)

    parts_of_it: list[str] = []
    for _ in range(rng.choice([2, 2, 3])):
        if rng.random() < 0.6:
            parts_of_it.append(rng.choice(["x <- Lap(eps/2, 0)", "y <- 0", "b <- true", "x <- 1; c <- false"]))
        i = rng.choice("ij")
        parts_of_it.append(f"for {i} in 1..m do {'; '.join(statement(i, 2) for _ in range(rng.randint(1, 3)))} end")
    return "; ".join(parts_of_it)


@pytest.mark.parametrize("seed", range(12))
def test_one_loop_of_random_programs_has_the_same_law(seed: int) -> None:
    rng = random.Random(seed)
    compared = 0
    for _ in range(20):
        text = HEAD + random_body(rng)
        tree = parse(SourceText("p", text))
        try:
            single = with_one_loop(tree, QueryNumber("m"), parameter_arrays(tree, QueryNumber("m")))
        except NotUniform:
            continue
        program, other = dipc.load(text), dipc.load(print_program(single))
        assert laws(program, program.outputs) == pytest.approx(laws(other, program.outputs), abs=1e-20), text
        compared += 1
    assert compared > 2


def test_parts_have_the_law_of_their_outputs() -> None:
    tree = parse(SourceText("p", MAXIMUM_FIRST))
    found = separate_parts(tree, QueryNumber("m"))
    assert found is not None
    program = dipc.load(MAXIMUM_FIRST)
    for part in found:
        alone = dipc.load(print_program(part))
        assert laws(program, alone.outputs) == pytest.approx(laws(alone, alone.outputs), abs=1e-20)


SHARING = [
    "for i in 1..m do x <- Lap(eps, q[i]) end; for i in 1..m do if b then x <- 0 end; b <- x >= 0 end",
    # The second and the third loop share the variable, which is none of the first.
    "for i in 1..m do x <- 0 end; for i in 1..m do x <- 1 end; for i in 1..m do if x >= 0 then exit end; x <- 0 end",
]


@pytest.mark.parametrize("body", SHARING)
def test_a_variable_that_may_be_read_first_is_no_other_one(body: str) -> None:
    tree = parse(SourceText("p", HEAD + body))
    with pytest.raises(NotUniform, match="share `"):
        with_one_loop(tree, QueryNumber("m"), parameter_arrays(tree, QueryNumber("m")))


def test_sums_of_two_parts() -> None:
    """fixed + (m - once)·repeated, for both together."""
    term = Event((), ())
    left, right = Sum((term,), (term,), 1), Sum((), (term, term), 3)
    assert plus(left, right) == plus(right, left) == Sum((term,) * 3, (term,) * 3, 3)

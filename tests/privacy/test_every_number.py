"""Privacy for every number of queries: against the constants of small numbers, and against random programs."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest

import dipc
from dipc.cli.main import run
from dipc.decide.engine import Engine
from dipc.outcome.privacy import privacy_line
from dipc.program.program import as_program
from dipc.questions.every_number.normal_form import LoopText
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.constant import Candidate, exponent_of
from dipc.questions.privacy.every_number import EveryNumber, check_privacy_for_all
from dipc.questions.privacy.loops import OF_EXTREMUM, OF_SHIFTS, OneLoop
from dipc.questions.privacy.onwards import lower_bound
from dipc.questions.privacy.outcome import PrivacyVerdict
from tests.privacy.loops_for_every_number import LOOPS

ROOT = Path(__file__).resolve().parent.parent.parent


#: Exits of programs that compare inputs are united, and pivots looked for, by so many questions: what refutes them does
#: not depend on that, and takes a twentieth of the time.
FEW = dipc.Limits(cells=300)


def question(
    text: str, adjacent: str = "linf:1", least: int | None = None, limits: dipc.Limits | None = None, **constants: int
) -> EveryNumber:
    program = as_program(dipc.load(text, **constants), limits)
    return EveryNumber(program, "m", least, adjacent, Engine(program.measurer, program.limits), None)


def benchmark(name: str) -> str:
    return (ROOT / "benchmarks" / f"{name}.dip").read_text(encoding="utf-8")


def from_zero(source: str) -> str:
    """The same program with queries from 0 to m - 1."""
    changes = (("1..m]", "0..m - 1]"), ("1..m do", "0..m - 1 do"), ("2..m do", "1..m - 1 do"), ("q[1]", "q[0]"))
    for old, new in (*changes, ("{1..m} = 1", "{0..m - 1} = 0")):
        source = source.replace(old, new)
    assert "0..m - 1" in source
    return source


NOISY_MAX = benchmark("noisy_max")
SPARSE = benchmark("sparse")
LAPLACE = """
program laplace; const m = 2;
input q[1..m] : real;
output out[1..m] : real;
for i in 1..m do out[i] <- Lap(eps/2, q[i]) end
"""
TWO_LOOPS = """
program loops; const m = 2;
input q[1..m] : real;
output a[1..m], b[1..m] : {0, 1} = 0;
var r, s : real;
for i in 1..m do r <- Lap(eps, q[i]); if r >= 0 then a[i] <- 1 end end;
for j in 1..m do s <- Lap(eps/2, q[j]); if s >= 1 then b[j] <- 1 end end
"""


#: One query above a threshold, over numbers of finite domains.
FINITE = """
program finite; const m = 2;
input q[1..m] : {0..2};
input s : {0..1};
output out[1..m] : {0, 1} = 0;
var t, r : real;
t <- Lap(eps/2, s);
for i in 1..m do r <- Lap(eps/4, q[i]); if r >= t then out[i] <- 1; exit end end
"""


@pytest.mark.parametrize(
    ("source", "adjacent", "constant", "start"),
    [
        (SPARSE, "linf:1", "1", 4),
        (SPARSE, "linf:2", "2", 4),
        (from_zero(SPARSE), "linf:1", "1", 4),
        (SPARSE.replace("Lap(eps/(4*c), q[i])", "Lap(3*eps/(8*c), q[i])"), "linf:1", "5/4", 4),
        (benchmark("above_threshold"), "linf:1", "1", 4),
        (benchmark("numeric_sparse"), "linf:1", "1", 4),
        (benchmark("privacy/svt4"), "linf:1", "7/4", 3),
        (benchmark("privacy/gap_svt"), "linf:1", "1", 4),
        (benchmark("laplace"), "l1:1", "1", 1),
        (TWO_LOOPS, "l1:1", "3/2", 1),
        (FINITE, "l1:1", "1/2", 2),
        (FINITE.replace("s : {0..1}", "s : real"), "l1:1", "1/2", 2),
        (NOISY_MAX, "linf:1", "1", 2),
        (NOISY_MAX, "l1:1", "1/2", 2),
        (from_zero(NOISY_MAX), "linf:1", "1", 2),
        (NOISY_MAX.replace("Lap(eps/2, q[", "Lap(eps/2, 2*q["), "linf:1", "2", 2),
        (NOISY_MAX.replace("best <- Lap(eps/2", "best <- Lap(5*eps/2"), "linf:1", "5", 6),
    ],
)
def test_constants(source: str, adjacent: str, constant: str, start: int) -> None:
    found = question(source, adjacent).constant(None)
    assert (found.proved, found.refuted_below) == (Fraction(constant), Fraction(constant))
    assert found.numbers is not None
    assert (found.numbers.at, found.numbers.onwards) == (start, True)


PRIVATE = "eps-private for every m >= 1, and no smaller constant suffices"
EACH = f"{PRIVATE} for"


@pytest.mark.parametrize(
    ("source", "adjacent", "line"),
    [
        (LAPLACE, "linf:1", f"constant m/2: m/2*{EACH} any m"),
        (LAPLACE.replace("eps/2", "eps/m"), "linf:1", f"constant 1: {PRIVATE}, as m = 1 shows"),
        (LAPLACE.replace("eps/2", "eps/m"), "l1:1", f"constant 1/m: 1/m*{EACH} any m"),
        (from_zero(TWO_LOOPS), "linf:1", f"constant 3*m/2: 3*m/2*{EACH} any m"),
        (benchmark("privacy/svt6"), "linf:1", f"constant m/2: m/2*{EACH} any m"),
        (SPARSE.replace("Lap(eps/(4*c)", "Lap(eps/(4*m)"), "linf:1", f"constant 1/4: 1/4*{PRIVATE}, as m = 1 shows"),
        (SPARSE.replace("Lap(eps/(2*c), T)", "Lap(eps/m, T)"), "linf:1", f"constant 3/4: 3/4*{EACH} m = 3"),
        (benchmark("privacy/svt5"), "linf:1", "constant ∞: not K*eps-private for any K and any m >= 2"),
    ],
)
def test_constants_as_functions_of_the_number(source: str, adjacent: str, line: str) -> None:
    assert privacy_line(question(source, adjacent).constant(None)) == line


@pytest.mark.parametrize(
    ("source", "adjacent", "reason"),
    [
        (SPARSE, "hamming:1", "the cost of a shift grows with the move of an input"),
        (SPARSE.replace("r >= rT", "r >= rT or q[i] >= 9"), "linf:1", "inputs are compared without noise"),
        (SPARSE.replace("r >= rT", "r >= rT or q[i] >= q[1]"), "linf:1", "an array is not indexed by `i` alone"),
        (SPARSE.replace("eps/(4*c)", "eps/(4*i)"), "linf:1", "`i` is used other than as an index"),
        (
            SPARSE.replace("Lap(eps/(4*c), q[i])", "Lap(eps*(9 - m), q[i])"),
            "linf:1",
            "could not be shown to be positive",
        ),
    ],
)
def test_what_is_not_covered(source: str, adjacent: str, reason: str) -> None:
    asked = question(source, adjacent)
    assert isinstance(asked.cost, str)
    assert reason in asked.cost


def test_a_selection_of_finite_inputs_need_not_go_on_alike() -> None:
    """Others are as small as one likes only where inputs are real."""
    for text, onwards in ((NOISY_MAX, True), (NOISY_MAX.replace("q[1..m] : real", "q[1..m] : {0..1}"), False)):
        found = question(text).constant(None)
        assert found.proved == 1
        assert found.numbers is not None
        assert found.numbers.onwards is onwards


def test_finite_inputs_are_numbers_that_noise_is_added_to() -> None:
    assert isinstance(question(FINITE.replace("exit end", "if s = 1 then exit end end")).cost, str)
    mixed = question(FINITE.replace("q[1..m] : {0..2}", "q[1..m] : real"), "l1:1").constant(None)
    assert mixed.proved == Fraction(1, 2)
    assert mixed.refuted_below is not None
    assert mixed.refuted_below > Fraction(49, 100)


def test_verdicts() -> None:
    program = dipc.load(benchmark("sparse"))
    assert check_privacy_for_all(program, "m", "linf:1").verdict is PrivacyVerdict.PRIVATE
    refuted = check_privacy_for_all(program, "m", "linf:1", budget="3/4*eps")
    assert refuted.verdict is PrivacyVerdict.NOT_PRIVATE
    assert refuted.numbers is not None
    assert refuted.numbers.at == 4
    # Up to m = 3 that budget does: refuted are greater ones only.
    assert question(benchmark("sparse"), least=4).constant(None).proved == 1


def loop(choose: random.Random) -> str:
    """Return a random sparse vector technique, with queries from 1 or 0.

    It has random rates that may depend on m, noise drawn anew or not, random answers, and a second loop or not.
    """
    rates = [choose.choice(("eps/4", "eps/2", "eps", "eps/m", "eps/(m + 1)")) for _ in range(3)]
    mean = choose.choice(("q[i]", "q[i]", "2*q[i]", "0", "q[i] + s"))
    test = choose.choice(("r >= t", "r > t + 1", "r + t >= 0", "2*r >= t", "r >= q[i] + t"))
    above = choose.choice(("out[i] <- 1", "out[i] <- 2; exit", "out[i] <- 1; count <- 1", "t <- Lap(eps/2, s)"))
    below = choose.choice(("out[i] <- 0", "out[i] <- 0; exit", "if count = 1 then out[i] <- 3 end"))
    first = f"Lap({rates[0]}, s)" if choose.random() < 0.7 else f"Expo({rates[0]})"
    more = choose.random()
    again = "for j in 1..m do u <- Lap(eps/2, q[j]); if u >= 0 then more[j] <- 1 end end" if more < 0.2 else ""
    again = "for j in 1..m do more[j] <- Lap(eps/m, q[j]) end" if more > 0.8 else again
    text = f"""
program loops;
const m = 2;
input q[1..m], s : real;
output out[1..m] : {{0..3}} = 0;
{f"output more[1..m] : {'real' if more > 0.8 else '{0, 1}'} = 0;" if again else ""}
var t, r, u : real;
var count : {{0, 1}} = 0;
t <- {first};
for i in 1..m do
  r <- Lap({rates[1]}, {mean});
  if {test} then {above} else {below} end
end{";" if again else ""}
{again}
"""
    return from_zero(text) if choose.random() < 0.3 else text


def selecting(choose: random.Random) -> str:
    """A noisy maximum with random rates and multiples."""
    first, other = (choose.choice(("eps/2", "eps", "eps/4", "3*eps", "eps/m", "eps*m/4")) for _ in range(2))
    scales = [choose.choice(("", "2*", "1/2*")) for _ in range(2)]
    text = f"""
program selecting; const m = 2;
input q[1..m] : real;
output out : {{1..m}} = 1;
var best, r : real;
best <- Lap({first}, {scales[0]}q[1]);
for i in 2..m do r <- Lap({other}, {scales[1]}q[i]); if r > best then best <- r; out <- i end end
"""
    return from_zero(text) if choose.random() < 0.5 else text


def guarded(choose: random.Random) -> str:
    """Return a random loop of inputs that are clamped, or compared without noise or through their distance.

    It may have choices, and a threshold that is drawn before the loop, around the first query or anew in the loop.
    """
    mean = choose.choice(
        ("min(max(q[i], 0), 1)", "min(q[i], 2)", "abs(q[i])", "max(q[i], -1)", "min(max(q[i], 0), 1/2)", "q[i]")
    )
    guard = choose.choice(("", "", "if q[i] >= 1 then r <- r + 1/2 end;", "if q[i] >= 0 then b <- 1 else b <- 0 end;"))
    coin = choose.choice(("", "b <- choose { 0 : 1/4, 1 : 3/4 };")) if not guard and mean == "q[i]" else ""
    test = choose.choice(("r >= t", "r >= 1", "r >= t and r <= t + 2", "r + t >= 0"))
    then = choose.choice(("out[i] <- 1", "out[i] <- 1; exit", "out[i] <- 1 + b", "t <- Lap(eps/2, 0)"))
    first = choose.choice(("t <- Lap(eps/2, 0)", "t <- 0", "t <- Expo(eps)", "t <- Lap(eps/2, q[1])"))
    low = 2 if "q[1]" in first else 1
    rate = choose.choice(("eps/4", "eps/2", "eps", "eps/m"))
    return f"""
program guarded; const m = 2;
input q[1..m] : real;
output out[1..m] : {{0..2}} = 0;
var t, r : real;
var b : {{0, 1}} = 0;
{first};
for i in {low}..m do
  {coin}
  r <- Lap({rate}, {mean});
  {guard}
  if {test} then {then} end
end
"""


def alternating(choose: random.Random) -> str:
    """Iterations that take turns, or are told apart by a comparison of their input, with rates that may depend on m."""
    turns = choose.random() < 0.5
    rates = [choose.choice(("eps/4", "eps/2", "eps", "eps/m")[: 4 if turns else 3]) for _ in range(2)]
    mean = choose.choice(("0", "0", "0", "q[i]"))
    if turns:
        one, two = (
            f"r <- Lap({rate}, q[i]); b <- {choose.choice((1 - now, 1 - now, now))}" for now, rate in enumerate(rates)
        )
    else:
        one, two = (f"r <- Lap({rate}, {mean})" for rate in rates)
    guard = "b = 0" if turns else choose.choice(("q[i] >= 0", "q[i] > 1", "q[i] >= 0 and q[i] <= 1"))
    then = choose.choice(("out[i] <- 1", "out[i] <- 1; exit", "out[i] <- 2"))
    return f"""
program alternating; const m = 2;
input q[1..m] : real;
output out[1..m] : {{0..2}} = 0;
var r : real;
var b : {{0, 1}} = 0;
for i in 1..m do
  if {guard} then {one} else {two} end;
  if r >= {choose.choice((0, 1))} then {then} end
end
"""


def sampled_constant(text: str, number: int, adjacent: str, choose: random.Random, path: Path) -> Fraction | None:
    """The constant for some pairs of adjacent inputs by their exact laws; None for infinity."""
    program = dipc.load(text, m=number)
    names = list(program.inputs)
    rows = [[*names, *(f"{name}'" for name in names)]]
    for _ in range(2):
        one = [Fraction(choose.randint(-4, 4), 2) for _ in names]
        if adjacent == "linf:1":
            moves = [choose.choice((-1, 1, 1)) for _ in names]
        else:
            place = choose.randrange(len(names))
            moves = [choose.choice((-1, 1)) if at == place else 0 for at in range(len(names))]
        rows.append([*map(str, one), *(str(value + move) for value, move in zip(one, moves, strict=True))])
    path.write_text("\n".join(",".join(row) for row in rows) + "\n", encoding="utf-8")
    found = PrivacyQuestion(program, str(path), None, Engine(program.measurer, program.limits)).constant(None)
    return found.refuted_below


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 160))])
def test_no_law_exceeds_what_is_proved(seed: int, tmp_path: Path) -> None:
    """Neither the pairs that look the worst, nor others, refute the bound for any of the first numbers."""
    choose = random.Random(f"every number {seed}")
    text = selecting(choose) if seed % 5 == 4 else guarded(choose) if seed % 5 in (1, 3) else loop(choose)
    adjacent = choose.choice(("linf:1", "linf:1", "l1:1"))
    asked = question(text, adjacent)
    cost = asked.cost
    if isinstance(cost, str):
        assert cost
        return
    refuting = question(text, adjacent, limits=FEW)
    for number in range(asked.least, 4 if seed < 4 or "more" in text else 7):
        alone = cost.alone(number)
        bound = cost.value_at(number) if alone is None else min(alone, cost.value_at(number))
        constants = [sampled_constant(text, number, adjacent, choose, tmp_path / "pairs.csv")]
        if number < 4:
            constants.append(refuting.question_for(number).constant(None).refuted_below)
        for constant in constants:
            assert constant is not None
            assert constant <= bound, number


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 60))])
def test_turns_and_comparisons(seed: int, tmp_path: Path) -> None:
    """Proved and exact constants for the first numbers agree with the pairs that look the worst, and with others."""
    choose = random.Random(f"turns {seed}")
    text = alternating(choose)
    adjacent = choose.choice(("linf:1", "linf:1", "l1:1", "hamming:1"))
    asked = question(text, adjacent)
    cost = asked.cost
    if isinstance(cost, str):
        assert cost
        return
    # Three cells for each of several inputs take long one by one.
    for number in (1, 2) if " and " in text else (1, 2, 3):
        own = asked.question_for(number).constant(None)
        known = [sampled_constant(text, number, adjacent, choose, tmp_path / "pairs.csv"), own.refuted_below]
        assert all(one is not None and one <= cost.value_at(number) for one in known), text
        if cost.proof != OF_SHIFTS:
            assert own.proved == own.refuted_below == cost.value_at(number), text


@pytest.mark.parametrize("name", LOOPS)
def test_forty_five_loops(name: str) -> None:
    loop = LOOPS[name]
    line = privacy_line(question(loop.text, loop.adjacent).constant(None))
    assert line == loop.line


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 60))])
def test_no_law_is_below_what_is_refuted_onwards(seed: int) -> None:
    """A function that refutes all greater numbers is at most what is proved, and at most the constants of these."""
    choose = random.Random(f"onwards {seed}")
    # Inputs that are clamped on both sides have so many cells that more than two queries take minutes.
    first, later = (2, 0) if seed % 2 else (4, 3)
    text = (guarded if seed % 2 else loop)(choose).replace("eps/(m + 1)", "eps/m")
    asked = question(text)
    cost = asked.cost
    constants = {
        number: asked.question_for(number).constant(None) for number in range(asked.least, asked.least + first)
    }
    if any(each.refuted_below is None for each in constants.values()):
        return
    last = max(constants)
    below, refuting = asked.refuted_from(constants), question(text, limits=FEW)
    for number in range(last, last + later) if below else ():
        found = refuting.question_for(number).constant(None)
        least = max((each.ratio.value_at(number) for each in below if each.is_about(number)), default=Fraction(0))
        assert found.refuted_below is None or found.refuted_below >= least
    if not isinstance(cost, str):
        for number in range(last, last + 40):
            assert all(each.ratio.value_at(number) <= cost.value_at(number) for each in below if each.is_about(number))


def test_a_choice_that_becomes_unlikely_is_no_cheap_way() -> None:
    """The lower bound of the constant, from an output that an unlikely choice makes without noise, fits the laws."""
    text = """
    program unlikely; const m = 2; input q[1..m] : real; output out[1..m] : {0, 1} = 0; var r, u : real;
    var b : {0, 1} = 0;
    for i in 1..m do
      b <- choose { 0 : 1/(1 + exp(-3*eps)), 1 : exp(-3*eps)/(1 + exp(-3*eps)) };
      r <- Lap(eps/2, q[i]); u <- Lap(eps/2, 0);
      if b = 1 then if r >= 0 then out[i] <- 1 end else if u >= 2 then out[i] <- 1 end end
    end
    """
    for number in (2, 3):
        program = dipc.load(text, m=number)
        inputs = [{f"q[{at}]": str(q) for at in range(1, number + 1)} for q in (0, -1)]
        output = {f"out[{at}]": "1" for at in range(1, number + 1)}
        first, second = (program.closed_probability(point, output).value for point in inputs)
        candidate = Candidate(*inputs, output, {}, first, second)
        bound = lower_bound(OneLoop.read(LoopText.from_program(dipc.load(text), "m")), candidate, number, 1)
        assert exponent_of(first) == exponent_of(second) == -number
        assert bound is None or all(bound.value_at(later) <= 0 for later in range(number, number + 5))


#: A maximum, or a minimum, that is compared at the end.
COMPARED = """
program largest; const m = 2; input q[1..m] : real; output out : {0, 1} = 0; var r, best : real;
best <- Lap(eps/2, q[1]);
for i in 2..m do r <- Lap(eps, q[i]); if r > best then best <- r end end;
if best >= 1 then out <- 1 end
"""


@pytest.mark.parametrize(
    ("old", "new", "out", "ends"),
    [("", "", 0, (1, 2)), ("best >= 1", "best <= 2", 1, (2, 3)), ("r > best", "r < best", 1, (1, 0))],
)
def test_what_is_kept_of_all_queries(old: str, new: str, out: int, ends: tuple[int, int]) -> None:
    """The noises alive change, and parts of a run are bounded apart: against the exponents for the first numbers."""
    text = COMPARED.replace(old, new) if old else COMPARED
    each = "(2*m - 1)/2"
    line = f"constant {each}: {each}*eps-private for every m >= 2, and no smaller constant suffices for any m"
    assert privacy_line(question(text).constant(None)) == line
    for number in (2, 3, 5):
        program = dipc.load(text, m=number)
        first, second = (
            program.closed_probability(
                {f"q[{at}]": str(end) for at in range(1, number + 1)}, {"out": str(out)}, Fraction(0)
            ).value
            for end in ends
        )
        assert exponent_of(first) - exponent_of(second) == Fraction(2 * number - 1, 2)


def test_rates_without_a_common_multiple_are_attained() -> None:
    """One after the other, as eps grows: intervals that other exits do not reach."""
    loop = LOOPS["divided and more"]
    for number in (1, 2, 3):
        program = dipc.load(loop.text, m=number)
        output = {f"out[{at}]": "-3/2" for at in range(1, number + 1)}
        first, second = (
            program.closed_probability({f"q[{at}]": str(q) for at in range(1, number + 1)}, output, Fraction(1)).value
            for q in (0, 1)
        )
        assert exponent_of(first) - exponent_of(second) == number + 1


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["privacy", str(ROOT / "benchmarks" / "sparse.dip"), "--adjacent", "linf:1", "--inputs", "all"]
    assert run([*words, "--for-all", "m", "--constant", "-q"]) == 0
    assert (
        capsys.readouterr().out
        == "constant 1: eps-private for every m >= 1, and no smaller constant suffices for m >= 4\n"
    )
    assert run([*words, "-D", "m=all", "--budget", "3/4*eps"]) == 1
    shown = capsys.readouterr().out
    assert "NOT PRIVATE: budget 3*eps/4 is too small, at m = 4, for" in " ".join(shown.split())
    assert "-D m=4 --input" in shown
    assert run([*words, "--for-all", "m", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["for_all"] == {"parameter": "m", "least": 1}
    for more in (
        ["--for-all", "k"],
        ["--for-all", "m", "--renyi", "2", "--at", "1"],
        ["--for-all", "m", "--delta", "1"],
    ):
        assert run([*words, *more]) == 2
    assert run([*words[:4], "--inputs", "q = 0..1", "--for-all", "m"]) == 2
    assert run(["privacy", words[1], "--adjacent", "hamming:1", "--inputs", "all", "--for-all", "m"]) == 1


def extremum(choose: random.Random) -> str:
    """Return a random loop that keeps the greatest or least noisy value, and compares it with another noise.

    The comparison is before or after the loop. Some variants depend on more than that value.
    """
    least = choose.random() < 0.3
    better = "<" if least else ">"
    scale = choose.choice(("q[i]", "q[i]", "2*q[i]", "-q[i]", "q[i]/2", "q[i] + s"))
    first = scale.replace("i", "1")
    laws = [f"Lap({choose.choice(('eps/2', 'eps', 'eps/4', 'eps/m'))}, {{}})" for _ in range(3)]
    laws[0] = laws[1] if choose.random() < 0.9 else laws[0]
    t_mean = choose.choice(("0", "0", "1", "s", "q[1]"))
    shared = ", s" if "s" in (t_mean, scale[-1]) else ""
    draw = f"t <- {('Expo(eps)' if t_mean == '0' and choose.random() < 0.2 else laws[2]).format(t_mean)};"
    early = choose.random() < 0.5 or t_mean == "q[1]"
    tests = ["best >= t", "best <= t", "best >= t and best <= t + 2", "2*best >= t", "best >= 2*t + 1", "best + t >= 0"]
    tests += ["best >= 1", "best >= t and best >= 0", "best >= t + s" if shared else "best - t >= 3"]
    test = choose.choice(tests if choose.random() < 0.3 else tests[:5])
    inside = choose.choice(("if r >= t then out <- 2 end;", "r <- r + 1;", "t <- Lap(eps, 0);"))
    inside = inside if early and choose.random() < 0.2 else ""
    output, then = choose.choice(
        (("out : {0..2} = 0", "out <- 1"), ("out : {0..2} = 0; output gap : real = 0", "gap <- best - t"))
    )
    return f"""
program extremum; const m = 2;
input q[1..m]{shared} : real;
output {output};
var r, best, t : real;
{draw if early else ""}
best <- {laws[0].format(first)};
for i in 2..m do r <- {laws[1].format(scale)}; {inside} if r {better} best then best <- r end end;
{"" if early else draw}
if {test} then {then} end
"""


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 200))])
def test_extrema_and_one_noise_more(seed: int, tmp_path: Path) -> None:
    """No pair refutes what one noise that is shifted alone proves, for the first numbers."""
    choose = random.Random(f"extremum {seed}")
    text = extremum(choose)
    adjacent = choose.choice(("linf:1", "linf:1", "l1:1"))
    asked = question(text, adjacent)
    cost = asked.cost
    if isinstance(cost, str) or cost.proof != OF_EXTREMUM:
        return
    for number in (2, 3):
        bound = cost.value_at(number)
        found = asked.question_for(number).constant(None)
        assert found.refuted_below is not None
        assert found.refuted_below <= bound
        if " gap " not in text:
            for _ in range(3):
                other = sampled_constant(text, number, adjacent, choose, tmp_path / "pairs.csv")
                assert other is not None
                assert other <= bound


WITH_THRESHOLD = """
program largest; const m = 2; input q[1..m] : real; output out : {0, 1} = 0; var r, best, t : real;
t <- Lap(eps/4, 0);
best <- Lap(eps/2, q[1]);
for i in 2..m do r <- Lap(eps/2, q[i]); if r > best then best <- r end end;
if best >= t then out <- 1 end
"""


@pytest.mark.parametrize(
    ("changes", "constant"),
    [
        ({}, "1/4"),
        ({"r > best": "r < best"}, "1/4"),
        ({"best >= t then": "best >= t and best <= t + 2 then"}, "1/4"),
        ({"best >= t then": "2*best >= t then"}, "1/2"),
        ({"q[i])": "3*q[i])"}, "3/4"),
        ({"Lap(eps/4, 0)": "Lap(eps/4, q[1])"}, "1/2"),
        ({"t <- Lap(eps/4, 0);": "", "if best": "t <- Lap(eps/4, 0); if best"}, "1/4"),
        ({"{0, 1} = 0": "real", "if best >= t then out <- 1 end": "out <- best - t"}, "1/4"),
    ],
)
def test_a_maximum_against_a_noisy_threshold(changes: Mapping[str, str], constant: str) -> None:
    text = WITH_THRESHOLD
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    asked = question(text)
    cost = asked.cost
    assert not isinstance(cost, str)
    assert (cost.proof, asked.constant(None).proved) == (OF_EXTREMUM, Fraction(constant))


@pytest.mark.parametrize(
    "changes",
    [
        {"best >= t then": "best >= t and best >= 0 then"},  # the maximum is compared with a number, too
        {"best >= t then": "best >= t and best + t >= 0 then"},
        {"if r > best": "if r >= t then out <- 1 end; if r > best"},  # the threshold has been compared before
        {"r <- Lap(eps/2, q[i]);": "r <- Lap(eps/2, q[i]); t <- Lap(eps, q[i]);"},
        {"Lap(eps/4, 0)": "Expo(eps/4)"},  # it cannot be shifted below 0
        {"best <- r end": "best <- r else best <- r end"},  # the last one
        {"if r > best": "if r > best + 1"},
        {
            "output out : {0, 1} = 0;": "output out : {0, 1} = 0; output more[2..m] : {0, 1} = 0;",
            "best <- r": "best <- r; more[i] <- 1",
        },
    ],
)
def test_what_depends_on_more_than_an_extremum_and_one_noise(changes: Mapping[str, str]) -> None:
    text = WITH_THRESHOLD
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    cost = question(text).cost
    assert isinstance(cost, str) or cost.proof != OF_EXTREMUM


GROWING = """
program growing; const m = 3; input q[1..m] : {0..m}; output out[1..m] : bool = false; var r : real;
for i in 1..m do r <- Lap(eps/2, q[i]); if r >= 3/2 then out[i] <- true end end
"""


def test_inputs_whose_domain_grows_with_the_number_lose_more() -> None:
    """One input may move by m, which costs m/2: the constant of one query, 1/2, is not that of others."""
    program = dipc.load(GROWING)
    found = check_privacy_for_all(program, "m", "hamming:1", budget="eps")
    assert found.verdict is PrivacyVerdict.NOT_PRIVATE
    assert dipc.check_privacy(dipc.load(GROWING, m=3), "hamming:1", budget="eps").verdict is PrivacyVerdict.NOT_PRIVATE
    named = GROWING.replace("const m = 3;", "const m = 3; domain size = {0..m};").replace(": {0..m}", ": size")
    assert check_privacy_for_all(dipc.load(named), "m", "hamming:1").verdict is not PrivacyVerdict.PRIVATE


def test_ints_are_refused_in_words() -> None:
    source = GROWING.replace("{0..m}", "int").replace("Lap", "DLap").replace("r : real", "r : int").replace("3/2", "2")
    found = check_privacy_for_all(dipc.load(source), "m", "linf:1", budget="9*eps")
    assert found.verdict is PrivacyVerdict.UNDECIDED
    assert "`q[1]` is an int" in (found.reason or "")
    assert found.about == "all int inputs"

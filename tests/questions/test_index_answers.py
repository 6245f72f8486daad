"""Answers that are an index, and yes-or-no answers, for every number of queries."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest

import dipc
from dipc.cli.main import run
from dipc.decide.obligation import Verdict
from dipc.questions.every_number.index_answers import with_index_answers
from dipc.questions.every_number.normal_form import LoopText
from dipc.questions.every_number.uniform import NotUniform
from dipc.questions.every_number.union_bound import union_of
from dipc.questions.privacy.every_number import check_privacy_for_all
from dipc.questions.question import check_for_all
from dipc.questions.report import ClassResult
from dipc.rules.rule import Requirement
from dipc.text.core import DomType
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse
from dipc.text.printer import print_program
from dipc.verifier.document import check_text
from dipc.verifier.index_answers import with_arrays
from dipc.verifier.reading import Budget
from dipc.verifier.syntax import Program, read_program
from tests.questions.real_programs import check_all

FIRST = (Path(__file__).parents[2] / "docs" / "programs" / "first_above.dip").read_text(encoding="utf-8")

FLAG = """
program flag;
const m = 3, T = 0;
input q[1..m] : real;
output found : bool = false;
ideal { for i in 1..m do if q[i] >= T then found <- true; exit end end }
claim { alpha: dd; beta: 2*m*exp(-alpha*eps/8); }
var t, v : real;
t <- Lap(eps/2, T);
for i in 1..m do
  v <- Lap(eps/4, q[i]);
  if v >= t then found <- true; exit end
end
"""


def changed(source: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new)
    return source


def reason_of(source: str) -> str:
    last = check_for_all(dipc.load(source), "m").report.rows[-1]
    assert last.verdict is Verdict.UNDECIDED
    assert last.reason is not None
    return last.reason


# --- the law of the answers is that of the array --------------------------------------------------------------------


def index_program(chance: random.Random) -> str:
    """A program that gives the first index past a noisy bar, in one of the ways in which people write it."""
    low = chance.choice([1, 0, 2])
    shift = chance.choice([0, 0, 1, -1])
    number, initial = low - 1 + shift, chance.random() < 1 / 2
    last = {0: "m", 1: "m + 1", -1: "m - 1"}[shift]
    index = {0: "i", 1: "i + 1", -1: "i - 1"}[shift]
    number_text = str(number)
    bar = chance.choice(["Lap(eps/2, T)", "Lap(eps, T)", "T + Expo(eps/2)"])
    noise = chance.choice(["Lap(eps/4, q[i])", "Lap(eps/3, 2*q[i])", "q[i] + Expo(eps/4)"])
    test = chance.choice(["v >= t", "t < v", "v <= t", "v - t > 1"])
    named = chance.random() < 1 / 3
    beside = chance.random() < 1 / 3
    again = "t <- Lap(eps/2, T);" if chance.random() < 1 / 4 else ""
    give = f"o <- {index};" + (" seen <- true;" if beside else "") + " exit"
    branch = (
        f"if {test} then {give} end; {again}"
        if chance.random() < 1 / 2
        else f"if {test} then {give} else {again or 'n <- 1'} end"
    )
    return f"""
    program first; const m = 3, T = {chance.randint(-2, 2)};
    {f"domain place = {{{number}..{last}}};" if named else ""}
    input q[{low}..m] : real;
    output o : {"place" if named else f"{{{number}..{last}}}"}{f" = {number_text}" if initial else ""};
    {"output seen : bool = false;" if beside else ""}
    var t, v : real; var n : {{0..1}} = 0;
    t <- {bar};
    for i in {low}..m do v <- {noise}; {branch} end;
    {"" if initial else f"o <- {number_text}"}
    """


def require_same_law(source: str, most: int, chance: random.Random) -> None:
    """Check that the array version has the probabilities of the index version at random inputs."""
    text = LoopText.from_program(dipc.load(source), "m").read()
    (declared,) = [slot for slot in dipc.load(source, m=3).core.output_slots if slot.name == "o"]
    assert isinstance(declared.type, DomType)
    low = 5 - len(declared.type.values)  # the values are one number, and the indices from low to 3
    for m in range(low, low + most):
        own, array = dipc.load(source, m=m), text.instance(m)
        names = [name for name in array.outputs if name.startswith("o[")]
        (held,) = [slot.type for slot in own.core.output_slots if slot.name == "o"]
        assert isinstance(held, DomType)
        values = held.values
        assert len(values) == len(names) + 1
        point = {name: Fraction(chance.randint(-6, 6), 2) for name in own.inputs}
        others = [{"seen": True}, {"seen": False}] if "seen" in own.outputs else [{}]
        for index in values:
            for beside in others:
                elements = {name: index == value for name, value in zip(names, values[1:], strict=True)}
                expected = own.closed_probability(point, {"o": index, **beside})
                assert array.closed_probability(point, {**elements, **beside}).value == expected.value


@pytest.mark.parametrize("seed", range(12))
def test_the_array_has_the_law_of_the_index(seed: int) -> None:
    chance = random.Random(seed)
    require_same_law(index_program(chance), 3, chance)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 400))
def test_many_arrays_have_the_law_of_the_index(seed: int) -> None:
    chance = random.Random(seed)
    require_same_law(index_program(chance), 4, chance)


@pytest.mark.parametrize("seed", range(40))
def test_the_checker_rewrites_the_same_programs(seed: int) -> None:
    source = index_program(random.Random(seed))
    own, _ = with_index_answers(parse(SourceText("p", source)), "m")
    other = with_arrays(read_program(source, Budget(10**6)), "m")
    ours = read_program(print_program(own), Budget(10**6))
    assert other.body == ours.body
    assert declared_outputs(other) == declared_outputs(ours)


def declared_outputs(tree: Program) -> dict[str, object]:
    return {each.name: (each.ends, each.type, each.initial) for each in tree.variables if each.role == "output"}


# --- what the answer is worth ---------------------------------------------------------------------------------------


def test_the_first_query_above_is_accurate_and_private_for_every_number() -> None:
    program = dipc.load(FIRST)
    assert check_for_all(program, "m").report.verdict is Verdict.ACCURATE
    report = check_privacy_for_all(program, "m", "linf:1")
    assert report.verdict.value == "private"
    assert check_privacy_for_all(program, "m", "linf:1", budget="99/100*eps").verdict.value == "not private"


@pytest.mark.parametrize(("m", "factor"), [(1, "0.25"), (2, "0.198970"), (3, "0.156842"), (4, "0.131274")])
def test_its_least_factors(m: int, factor: str) -> None:
    found = dipc.tighten(dipc.load(FIRST, m=m), inputs="all", digits=6)
    assert found.factor is not None
    low, high = found.factor
    assert low <= Fraction(factor) + Fraction(1, 10**6)
    assert high >= Fraction(factor)


def test_counterexamples_are_told_as_an_index() -> None:
    found = check_for_all(dipc.load(FIRST), "m", beta="2*m*exp(-alpha*eps/8)/5").report
    assert found.verdict is Verdict.INACCURATE
    refuted = next(found.select(Verdict.INACCURATE))
    assert isinstance(refuted, ClassResult)
    assert set(refuted.output) == {"place"}
    private = check_privacy_for_all(dipc.load(FIRST), "m", "linf:1", budget="eps/2")
    assert private.counterexample is not None
    assert [set(each) for each in private.counterexample.outputs] == [{"place"}]


def test_other_outputs_may_be_set_beside_the_index() -> None:
    source = changed(
        FIRST,
        ("output place : {0..m} = 0;", "output place : {0..m} = 0; output found : bool = false;"),
        ("place <- i; exit", "place <- i; found <- true; exit"),
    )
    assert check_for_all(dipc.load(source), "m").report.verdict is Verdict.ACCURATE


def test_two_answers_of_one_declaration() -> None:
    source = changed(
        FIRST,
        ("output place : {0..m} = 0;", "output place, again : {0..m} = 0;"),
        ("place <- i; exit", "place <- i; again <- i; exit"),
    )
    assert check_for_all(dipc.load(source), "m").report.verdict is Verdict.ACCURATE


# --- outputs that look like an index answer but are not -------------------------------------------------------------

HOSTILE = {
    "the last index": (("place <- i; exit", "place <- i"),),
    "the last index in the ideal": (("then place <- i; exit end end }", "then place <- i end end }"),),
    "an exit in one branch": (
        (
            "if noisy >= bar then place <- i; exit end",
            "if noisy >= bar then place <- i; if noisy >= bar + 1 then exit end end",
        ),
    ),
    "an index as the first value": (("{0..m} = 0", "{0..m} = 1"),),
    "a first value among the indices": (("{0..m} = 0", "{1..m} = 1"),),
    "set back": (
        ("if noisy >= bar then place <- i; exit end", "if noisy >= bar then place <- i; place <- 0; exit end"),
    ),
    "read": (("if noisy >= bar then", "if noisy >= bar and place = 0 then"),),
    "another number in the ideal": (
        ("{0..m} = 0", "{-1..m} = 0"),
        ("ideal { for", "ideal { place <- -1; for"),
    ),
    "twice the index": (("{0..m}", "{0..2*m}"), ("place <- i; exit", "place <- i + i; exit")),
    "a successor in the ideal alone": (
        ("{0..m}", "{0..m + 1}"),
        ("place <- i; exit end end }", "place <- i + 1; exit end end }"),
    ),
    "a metric of answers": (("claim {", "metric { output: l1; } claim {"),),
    "a later start": (("for i in 1..m do\n  noisy", "for i in 2..m do\n  noisy"),),
    "a smaller domain": (("{0..m}", "{0..3}"),),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_others_are_left_alone(name: str) -> None:
    source = changed(FIRST, *HOSTILE[name])
    own = parse(SourceText("p", source))
    assert with_index_answers(own, "m")[0] == own
    tree = read_program(source, Budget(10**6))
    assert with_arrays(tree, "m") == tree


@pytest.mark.parametrize("name", sorted({*HOSTILE} - {"a metric of answers"}))
def test_claims_about_others_are_refuted_or_undecided_in_words(name: str) -> None:
    """None of them is proved for every number; where small numbers refute the claim, the exact engine says so."""
    found = check_for_all(dipc.load(changed(FIRST, *HOSTILE[name])), "m").report
    assert found.verdict is not Verdict.ACCURATE
    undecided = [row.reason for row in found.rows if row.verdict is Verdict.UNDECIDED]
    assert all(undecided)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (HOSTILE["the last index"], "write `place <- i; exit`"),
        (HOSTILE["an index as the first value"], "the domain of `place`"),
        (HOSTILE["set back"], "`place` is assigned again"),
        (HOSTILE["read"], "`place` is read"),
        ((("q[i]);", "q[i] + i);"),), "write elements of arrays such as `q[i]`"),
    ],
)
def test_a_form_that_is_not_covered_is_told_the_form_that_is(changes: tuple[tuple[str, str], ...], words: str) -> None:
    assert words in reason_of(changed(FIRST, *changes))


# --- yes or no ------------------------------------------------------------------------------------------------------


def test_a_flag_is_accurate_for_every_number() -> None:
    assert check_for_all(dipc.load(FLAG), "m").report.verdict is Verdict.ACCURATE


@pytest.mark.parametrize(
    "changes",
    [
        (("v >= t", "v < t"), ("q[i] >= T", "q[i] < T")),
        (("q[1..m]", "q[5..m]"), ("1..m do", "5..m do"), ("m = 3", "m = 7")),
        (("found : bool = false", "found : {no, yes} = no"), ("found <- true", "found <- yes")),
        (("q[1..m] : real;", "q[1..m], s : real;"), ("q[i] >= T", "q[i] >= s"), ("Lap(eps/2, T)", "Lap(eps/2, s)")),
        (("var t, v", "metric { input: linf; } var t, v"),),
    ],
)
def test_flags_in_other_words(changes: tuple[tuple[str, str], ...]) -> None:
    source = changed(FLAG, *changes)
    wide = "s : real" in source  # then the bar and the queries move towards each other: twice the margin
    assert check_for_all(dipc.load(source), "m").report.verdict is Verdict.ACCURATE
    low = 5 if "5..m" in source else 1
    for m in (low, low + 1):
        assert check_all(dipc.load(source, m=m)).verdict is not Verdict.INACCURATE, wide


@pytest.mark.parametrize("factor", ["1/4", "1/5", "3/16"])
def test_flags_agree_with_the_exact_verdicts(factor: str) -> None:
    beta = f"2*m*exp(-alpha*eps/8)*{factor}"
    found = check_for_all(dipc.load(FLAG), "m", beta=beta)
    exact = [check_all(dipc.load(FLAG, m=m), beta=beta).verdict for m in (1, 2, 3)]
    if found.report.verdict is Verdict.ACCURATE:
        assert Verdict.INACCURATE not in exact
    if found.report.verdict is Verdict.INACCURATE:
        assert Verdict.INACCURATE in exact


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ((("var t, v", "metric { input: l1; } var t, v"),), "greatest of their moves"),
        ((("found <- true; exit", "found <- true"),), "found <- true; exit"),
        ((("if q[i] >= T then", "if q[i] >= T and q[i] <= 5 then"),), "found <- true; exit"),
        ((("if v >= t then found <- true; exit end", "if v >= t then exit end"),), "another answer"),
        ((("if v >= t", "if v < t - 1 then t <- Lap(eps/2, T) end; if v >= t"),), "found <- true; exit"),
    ],
)
def test_other_flags_are_refused_in_words(changes: tuple[tuple[str, str], ...], words: str) -> None:
    found = check_for_all(dipc.load(changed(FLAG, *changes)), "m").report
    assert found.verdict is not Verdict.ACCURATE
    assert words in (found.rows[-1].reason or "")


PEOPLE = """
program people;
const m = 2;
input q[1..m], s : real;
input x[1..m] : {-1, 1};
output found : {0..2} = 0;
ideal { for i in 1..m do if TEST >= 0 then IDEAL; exit end end }
claim { alpha: dd; beta: m/2*exp(-2*alpha*eps); }
var t : real;
t <- Lap(eps, 0);
for i in 1..m do if TEST >= t then GIVE; exit end end
"""


def people(test: str, give: str = "found <- 1") -> str:
    return PEOPLE.replace("TEST", test).replace("IDEAL", give).replace("GIVE", give)


OPEN = Requirement(Fraction(0), Fraction(1), Fraction(0), Fraction(0))


@pytest.mark.parametrize("test", ["q[i] + s", "x[i]*q[i] + s", "x[i]*q[i] - s"])
def test_a_shared_input_that_moves_all_tests_one_way(test: str) -> None:
    assert union_of(dipc.load(people(test)), "m", OPEN).least == 1


def test_a_shared_input_that_moves_two_tests_in_two_directions() -> None:
    """Both tests are passed by 9/10, which is dd, and not half of that."""
    program = dipc.load(people("q[i] + x[i]*s"))
    rows = [{"q[1]": "9/10", "q[2]": "9/10", "s": "0", "x[1]": "1", "x[2]": "-1"}]
    assert dipc.check(program, inputs=rows).verdict is Verdict.INACCURATE
    with pytest.raises(NotUniform, match="in two directions"):
        union_of(program, "m", OPEN)


def test_answers_that_depend_on_the_query_are_not_one_flag() -> None:
    source = people("q[i] + s", "if x[i] = 1 then found <- 1 else found <- 2 end")
    with pytest.raises(NotUniform, match="which answer an iteration exits with"):
        union_of(dipc.load(source), "m", OPEN)


# --- certificates and Python ----------------------------------------------------------------------------------------

PYTHON = """
import dipc

@dipc.mechanism(m=3, T=10, claim=dict(alpha="dd", beta="2*m*exp(-alpha*eps/8)"))
def first(q: dipc.Reals["m"], T: dipc.Const, eps):
    bar = dipc.laplace(T, scale=2/eps)
    for i in range(len(q)):
        if dipc.laplace(q[i], scale=4/eps) >= bar:
            return i
    return None
"""


@pytest.mark.parametrize("kind", ["first", "flag", "python"])
@pytest.mark.parametrize("question", [["check"], ["privacy", "--adjacent", "linf:1"]])
def test_certificates_are_accepted(kind: str, question: list[str], tmp_path: Path) -> None:
    path = tmp_path / ("p.py" if kind == "python" else "p.dip")
    path.write_text({"first": FIRST, "flag": FLAG, "python": PYTHON}[kind], encoding="utf-8")
    given, certificate = f"{path}::first" if kind == "python" else str(path), tmp_path / "c.json"
    command, *options = question
    written = run([command, given, *options, "--inputs", "all", "--for-all", "m", "--certificate", str(certificate)])
    assert written == 0
    accepted = check_text(certificate.read_text(encoding="utf-8"))
    assert accepted.complete
    assert accepted.verdict == ("accurate" if command == "check" else "private")


@pytest.mark.parametrize(
    ("returned", "otherwise"),
    [("i + 1", "0"), ("i", "len(q)"), ("i", "-1"), ("i - 1", "len(q) + 3"), ("True", "False")],
)
def test_python_functions_that_return_in_the_loop(returned: str, otherwise: str, tmp_path: Path) -> None:
    path = tmp_path / "p.py"
    source = PYTHON.replace("return i\n", f"return {returned}\n").replace("return None", f"return {otherwise}")
    path.write_text(source, encoding="utf-8")
    program = dipc.load(f"{path}::first")
    assert check_for_all(program, "m").report.verdict is Verdict.ACCURATE
    assert check_privacy_for_all(program, "m", "linf:1").verdict.value == "private"

"""Whatever is asked, on the command line or in Python: an answer or a diagnostic, never a defect, never silence."""

from __future__ import annotations

import io
import json
import linecache
import os
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from benchmarks.undecided import random_claim
from benchmarks.undecided_ints import random_int_claim
from dipc.cli.main import run
from dipc.cli.terminal import ProgressBar
from tests.fuzz.attacks import forest_program, random_forest
from tests.fuzz.command_lines import FILES, PROGRAMS, command_lines, expressions, programs, questions
from tests.patience import examples, reporting

#: Calls of functions between two reports of progress: on an ordinary machine a few seconds.
MOST_CALLS = 30_000_000

#: By command, how the first line of a negative answer begins.
NEGATIVE = {
    "check": ("INACCURATE", "{"),
    "privacy": ("NOT PRIVATE", "{"),
    "solve": ("NO SOLUTION", "{"),
    "verify": ("rejected",),
    "simulate": ("MISMATCH", "mismatch", "{"),
    "conform": ("DEVIATES", "deviates", "does not conform", "{"),
    "test": ("", "{"),
    "fmt": ("",),
}


@contextmanager
def directory(files: Mapping[str, str]) -> Iterator[Path]:
    """A new directory with these files, as the current one."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as made:
        for name, text in files.items():
            (Path(made) / name).write_text(text, encoding="utf-8")
        os.chdir(made)
        try:
            yield Path(made)
        finally:
            os.chdir(before)


def answer(words: list[str], files: Mapping[str, str] = FILES) -> tuple[int, str, str]:
    """The exit code, and what is written; a command that is silent for too many calls fails."""
    told, said = io.StringIO(), io.StringIO()
    with (
        directory(files),
        redirect_stdout(told),
        redirect_stderr(said),
        reporting(MOST_CALLS, ProgressBar.__call__, ProgressBar.stage),
    ):
        code = run(words)
    return code, told.getvalue(), said.getvalue()


def refuted(words: list[str], told: str) -> None:
    """A negative answer is one: it has its counterexample."""
    assert told.startswith(NEGATIVE[words[0]]) or "-o" in words or words[0] == "fmt"
    if words[0] not in ("check", "privacy") or not told.startswith("{"):
        return
    document = json.loads(told)
    found = [row["counterexample"] for row in document.get("rows", [document]) if row["verdict"] != "accurate"]
    assert any(found)
    for one in filter(None, found):
        bound = one["required"] if "required" in one else one["allowed"]
        probability = [Fraction(end) for end in one["probability"]]
        if "required" in one:
            assert probability[1] < Fraction(bound[0])
        else:
            assert probability[0] > Fraction(bound[1])


def check_command_line(words: list[str]) -> None:
    code, told, said = answer(words)
    assert code in (0, 1, 2, 3), said
    assert "Traceback" not in told + said
    assert "internal error" not in said
    if code == 1:
        refuted(words, told)
    if code == 2 and not (words[0] == "test" and "-o" in words):
        # The claims that could not be asked are explained where their results are: of `test`, and of a directory.
        assert "error" in said + (told if words[0] in ("test", "check") else ""), "bad input is explained"
    if code == 0:
        assert told or said or "-o" in words or words[0] == "fmt"


@settings(max_examples=examples(8))
@given(command_lines())
def test_a_command_line_has_an_answer(words: list[str]) -> None:
    check_command_line(words)


@pytest.mark.slow
@settings(max_examples=5_000, derandomize=False)
@given(command_lines())
def test_thousands_of_command_lines_have_an_answer(words: list[str]) -> None:
    check_command_line(words)


@settings(max_examples=examples(8))
@given(questions())
def test_a_question_has_an_answer(words: list[str]) -> None:
    check_command_line(words)


@pytest.mark.slow
@settings(max_examples=5_000, derandomize=False)
@given(questions())
def test_thousands_of_questions_have_an_answer(words: list[str]) -> None:
    check_command_line(words)


# --- programs ----------------------------------------------------------------------------------------


def check_program(text: str) -> None:
    for command in (["check", "p.dip", "--limit", "states=200"], ["fmt", "p.dip"], ["dtmc", "p.dip"]):
        code, told, said = answer(command, {"p.dip": text})
        assert code in (0, 1, 2, 3), said
        assert "Traceback" not in told + said
        if code == 1:
            refuted(command, told)


@settings(max_examples=examples(4))
@given(programs())
def test_a_program_with_a_slip_has_an_answer(text: str) -> None:
    check_program(text)


@pytest.mark.slow
@settings(max_examples=2_000, derandomize=False)
@given(programs())
def test_thousands_of_programs_with_slips_have_an_answer(text: str) -> None:
    check_program(text)


# --- the library -------------------------------------------------------------------------------------

_NUMBERS = st.sampled_from([0, 1, -1, Fraction(1, 3), "1/2", "inf", 0.5, None, True, [0, 1], (0, 1), "x", {}, 10**40])

_TABLES = st.one_of(
    st.sampled_from(["laplace.csv", "coins.csv", "empty.csv", "nosuch.csv", Path("pick.csv"), None, 7, [], [{}], ()]),
    st.lists(st.dictionaries(st.sampled_from(["q", "x", "y", "z", "out", "dd", "beta"]), _NUMBERS), max_size=2),
    st.tuples(st.just(["x", "y"]), st.lists(st.lists(_NUMBERS, max_size=3), max_size=2)),
)

_INPUTS = st.one_of(
    st.sampled_from(["q = 0", "x in {0, 1}", "all", "q = 0..1", "inputs.csv", "", None, 3, []]),
    st.lists(st.dictionaries(st.sampled_from(["q", "x"]), _NUMBERS), max_size=2),
    st.dictionaries(st.sampled_from(["q", "x"]), _NUMBERS),
)

_CLAIMS = st.fixed_dictionaries(
    {},
    optional={
        "beta": st.one_of(expressions(), _NUMBERS),
        "alpha": st.one_of(st.sampled_from(["dd", "1", "inf", "2/eps"]), _NUMBERS),
        "gamma": st.one_of(st.sampled_from(["free", "1", "alpha", "3/eps"]), _NUMBERS),
        "eps": st.one_of(st.sampled_from(["(0, inf)", "[1, 2]", "1", "1/2"]), _NUMBERS),
        "limits": st.sampled_from([dipc.Limits(states=1), dipc.Limits(steps=1000), dipc.Limits(rows=1), None]),
    },
)

_VALUES = st.dictionaries(st.sampled_from(["q", "x", "y", "z", "out", "nosuch"]), _NUMBERS, max_size=3)

_CALLS: dict[str, st.SearchStrategy[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "check": st.tuples(st.tuples(_TABLES), _CLAIMS),
    "tighten": st.tuples(st.tuples(_TABLES), _CLAIMS),
    "solve": st.tuples(
        st.tuples(_TABLES),
        st.tuples(_CLAIMS, st.sampled_from(["eps", "alpha", "beta", "gamma", "x"])).map(
            lambda drawn: {**drawn[0], "wanted": drawn[1]}
        ),
    ),
    "table": st.tuples(st.tuples(_INPUTS), st.just({})),
    "check_privacy": st.tuples(
        st.tuples(st.sampled_from(["linf:1", "hamming:1", "pairs.csv", "x"])),
        st.fixed_dictionaries({}, optional={"budget": expressions(), "delta": _NUMBERS, "eps": _NUMBERS}),
    ),
    "simulate": st.tuples(st.tuples(_VALUES, _NUMBERS), st.just({"runs": 20})),
    "conform": st.tuples(
        st.tuples(_VALUES, _NUMBERS, st.sampled_from([None, "counts.csv", {0: 3}, {(0, 1): 2}, 7])),
        st.just({}),
    ),
}


@st.composite
def library_calls(draw: st.DrawFn) -> tuple[str, str, tuple[Any, ...], dict[str, Any]]:
    """A function, a program, and the arguments after it."""
    name = draw(st.sampled_from([*_CALLS]))
    arguments, options = draw(_CALLS[name])
    if name in ("check", "tighten", "solve") and draw(st.booleans()):
        arguments, options = (), {**options, "inputs": draw(_INPUTS)}
    return name, draw(st.sampled_from(PROGRAMS)), arguments, options


def check_library_call(call: tuple[str, str, tuple[Any, ...], dict[str, Any]]) -> None:
    name, program, arguments, options = call
    function: Callable[..., Any] = getattr(dipc, name)
    found: object
    with directory(FILES), reporting(MOST_CALLS):
        try:
            found = function(dipc.load(program), *arguments, **options)
        except (dipc.DiagnosticError, dipc.Undecided):
            return
        except (TypeError, ValueError) as error:
            found = error
    if isinstance(found, Exception):
        assert _said_on_purpose(found), repr(found)
    if isinstance(found, dipc.Report):
        assert all(row.counterexample is not None for row in found.failures)
        assert found.verdict is not dipc.Verdict.INACCURATE or found.failures
        json.dumps(found.as_json())


def _said_on_purpose(error: Exception) -> bool:
    """Whether a line of dipc raises the error, rather than one that stumbled."""
    trace = error.__traceback__
    assert trace is not None
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    return (
        "raise" in linecache.getline(code.co_filename, trace.tb_lineno) and f"{os.sep}dipc{os.sep}" in code.co_filename
    )


@settings(max_examples=examples(8))
@given(library_calls())
def test_a_call_of_the_library_has_an_answer(call: tuple[str, str, tuple[Any, ...], dict[str, Any]]) -> None:
    check_library_call(call)


@pytest.mark.slow
@settings(max_examples=5_000, derandomize=False)
@given(library_calls())
def test_thousands_of_calls_of_the_library_have_an_answer(
    call: tuple[str, str, tuple[Any, ...], dict[str, Any]],
) -> None:
    check_library_call(call)


# --- random claims -------------------------------------------------------------------------------------

_ASKED = st.sampled_from(
    [
        *(["check", "p.dip", "--inputs", "all", option] for option in ("--strict", "--strict=rows", "-q")),
        *(["check", "p.dip", "--inputs", "all", "--gamma", gamma] for gamma in ("free", "1/2")),
        *(["check", "p.dip", "--inputs", "all", "--eps", eps] for eps in ("1/3", "[1/2, 2]", "(5, inf)")),
        ["tighten", "p.dip", "--inputs", "all", "--digits", "5"],
        *(
            ["solve", "p.dip", "--inputs", "all", "--for", wanted, "--digits", "5"]
            for wanted in ("eps", "alpha", "beta")
        ),
    ]
)

_FOREST_ASKED = st.sampled_from(
    [
        ["prob", "p.dip"],
        ["tighten", "p.dip", "t.csv", "--beta", "exp(-eps)", "--alpha", "0"],
        *(["check", "p.dip", "t.csv", "--beta", "1/2", "--alpha", "0", "--eps", eps] for eps in ("1", "(0, inf)")),
        *(["solve", "p.dip", "t.csv", "--for", wanted, "--alpha", "0"] for wanted in ("beta", "alpha")),
    ]
)


@st.composite
def random_claims(draw: st.DrawFn) -> tuple[list[str], str]:
    """A command line about a random program of those that are attacked, and the program."""
    chance = random.Random(draw(st.integers(0, 10**6)))
    kind = draw(st.sampled_from(["reals", "ints", "forest"]))
    if kind == "forest":
        return draw(_FOREST_ASKED), forest_program(random_forest(chance))
    claim = random_claim if kind == "reals" else random_int_claim
    return draw(_ASKED), claim(chance.randrange(10**6)).text


def check_random_claim(asked: tuple[list[str], str]) -> None:
    words, text = asked
    files = {"p.dip": text, "t.csv": "o\ntrue\nfalse\n"}
    code, told, said = answer(words, files)
    assert code in (0, 1, 2, 3), said
    assert "Traceback" not in told + said
    if code == 1:
        refuted(words, told)
    if words[0] == "check" and code in (0, 1):
        # What is decided has a certificate, of which some may be taken on trust, or none; it is never rejected.
        heard = io.StringIO()
        with directory(files), redirect_stdout(heard), redirect_stderr(heard):
            if run([*words, "--certificate", "c.json"]) == code:
                assert run(["verify", "c.json"]) in (0, 3), heard.getvalue()


@settings(max_examples=examples(4))
@given(random_claims())
def test_a_random_claim_has_an_answer(asked: tuple[list[str], str]) -> None:
    check_random_claim(asked)


@pytest.mark.slow
@settings(max_examples=1_000, derandomize=False)
@given(random_claims())
def test_a_thousand_random_claims_have_an_answer(asked: tuple[list[str], str]) -> None:
    check_random_claim(asked)

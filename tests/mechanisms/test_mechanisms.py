"""Mechanisms in Python say what the programs beside them say: probabilities, verdicts, certificates, runs."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import itertools
import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import dipc
from dipc.cli.main import run
from dipc.simulation.compare import Agreement

ROOT = Path(__file__).resolve().parent.parent.parent
CATALOGUE = Path(__file__).with_name("catalogue.py")
BENCHMARKS = ROOT / "benchmarks"


@dataclass(frozen=True)
class Pair:
    """A mechanism and the equivalent program, at an input.

    `expressed` maps values of the mechanism to those of the program. `output` is a real answer to ask about, with gamma
    1.
    """

    path: str
    input: tuple[object, ...]
    expressed: Mapping[str, str] = field(default_factory=dict)
    output: tuple[object, ...] | None = None
    constants: Mapping[str, int] = field(default_factory=dict)


TOPS = {"no": "bot", "yes": "top"}
FROM_ZERO = {"0": "1", "1": "2", "2": "3"}
PAIRS = {
    "above_threshold": Pair("above_threshold", (-1, 0, 1), TOPS),
    "sparse": Pair("sparse", (-1, 0, 1), TOPS),
    "noisy_max": Pair("noisy_max", (0, 1, "1/2"), FROM_ZERO),
    "noisy_max_by_hand": Pair("noisy_max", (0, 1, "1/2"), FROM_ZERO),
    "laplace": Pair("laplace", (0, 1), output=(0, 1)),
    "randomized_response": Pair("libraries/randomized_response", (True,)),
    "k_ary_randomized_response": Pair("literature/k_ary_randomized_response", (2,)),
    "noisy_max_exponential": Pair("literature/noisy_max_exponential", (0, 1, "1/2"), FROM_ZERO),
    "truncated_geometric": Pair("libraries/truncated_geometric", (1,)),
    "released_above": Pair("libraries/released_above", ()),
    "svt1": Pair("privacy/svt1", (0, 1), {"nothing": "none"}),
    "svt3_binned": Pair("privacy/svt3_binned", (0, 1)),
    "svt5": Pair("privacy/svt5", (0, 1)),
    "svt6": Pair("privacy/svt6", (0, 1)),
    "svt7": Pair("privacy/svt7", (0, 1, -1), TOPS),
    "partial_sum": Pair("privacy/partial_sum", (1, 2, 3), output=(6,)),
    "histogram": Pair("privacy/histogram", (1, 2, 3), output=(1, 2, 2)),
    "one_time_rappor": Pair("privacy/one_time_rappor", (True,), constants={"n": 3}),
    "binned_max": Pair("privacy/binned_max", (0, 1, -1)),
    "max_value": Pair("privacy/max_value", (0, 1), output=(1,)),
    "numeric_sparse": Pair("numeric_sparse", (1, 0, -1), TOPS),
}


@functools.cache
def catalogue() -> ModuleType:
    """The module, imported: only to call its mechanisms."""
    spec = importlib.util.spec_from_file_location("catalogue_of_mechanisms", CATALOGUE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["catalogue_of_mechanisms"] = module
    spec.loader.exec_module(module)
    return module


def pair(name: str) -> tuple[dipc.Program, dipc.Program]:
    """The mechanism's program, and the other."""
    about = PAIRS[name]
    return (
        dipc.load(f"{CATALOGUE}::{name}", **about.constants),
        dipc.load(BENCHMARKS / f"{about.path}.dip", **about.constants),
    )


def law(program: dipc.Program, values: tuple[object, ...], expressed: Mapping[str, str]) -> dict[tuple[Any, ...], str]:
    """The closed forms of all answers, in the words of the other program."""
    input_ = dict(zip(program.inputs, values, strict=True))
    return {
        tuple(expressed.get(value or "", value) for value in outcome.output.values()): str(outcome.probability)
        for outcome in program.outcomes(input_)
    }


@pytest.mark.parametrize("name", PAIRS)
def test_closed_forms_are_those_of_the_program(name: str) -> None:
    about = PAIRS[name]
    ours, theirs = pair(name)
    assert law(ours, about.input, about.expressed) == law(theirs, about.input, {})
    if about.output is not None:
        forms = [
            program.probability(
                dict(zip(program.inputs, about.input, strict=True)),
                dict(zip(program.outputs, about.output, strict=True)),
                gamma=1,
            )
            for program in (ours, theirs)
        ]
        assert str(forms[0]) == str(forms[1])


SCORED = """
program scored;
input s[0..2] : {0..4};
output out : {0..2};
out <- Exp(eps/2, k in {0..2} : s[k]);
"""


def test_lists_of_finite_inputs(tmp_path: Path) -> None:
    """`dipc.Finite[0:5]["m"]` is an array of a finite domain: the same laws as the program, at all inputs."""
    file = tmp_path / "scored.py"
    file.write_text(
        "import dipc\n\n\n@dipc.mechanism(m=3)\n"
        'def scored(s: dipc.Finite[0:5]["m"], eps):\n'
        "    return dipc.exponential_mechanism(range(3), lambda k: s[k], rate=eps / 2)\n",
        encoding="utf-8",
    )
    ours, theirs = dipc.load(f"{file}::scored"), dipc.load(SCORED)
    for values in itertools.product((0, 1, 4), repeat=3):
        assert law(ours, values, {}) == law(theirs, values, {})
    assert len(dipc.check(ours, inputs="all", beta="1", alpha="0").rows) == 5**3


CLAIMED = ["above_threshold", "sparse", "noisy_max", "noisy_max_by_hand", "laplace"]


@pytest.mark.parametrize("name", CLAIMED)
@pytest.mark.parametrize("factor", ["1", "1/1000"])
def test_verdicts_are_those_of_the_program(name: str, factor: str) -> None:
    ours, theirs = pair(name)
    text = (BENCHMARKS / f"{PAIRS[name].path}.dip").read_text(encoding="utf-8")
    beta = text.partition("beta:")[2].partition(";")[0].strip()
    given = {"beta": f"{factor}*{beta}", "alpha": "0" if name == "laplace" else "dd", "inputs": "all"}
    if name == "laplace":
        given["gamma"] = "1"
    reports = [dipc.check(program, **given) for program in (ours, theirs)]  # type: ignore[arg-type]
    assert [row.verdict for row in reports[0].rows] == [row.verdict for row in reports[1].rows]
    assert str(reports[0].verdict) == ("accurate" if factor == "1" else "inaccurate")


@pytest.mark.parametrize("name", ["above_threshold", "noisy_max", "laplace", "exponential"])
def test_certificates_are_those_of_the_text(name: str, tmp_path: Path) -> None:
    """The certificates of the mechanism in its file and of its program are equal, and accepted."""
    where = f"{CATALOGUE}::{name}"
    text = tmp_path / "text.dip"
    assert run(["fmt", where, "-o", str(text)]) == 0
    about = ["--beta", "3*exp(-eps/3)"] if name == "exponential" else ["--inputs", "all"]
    proofs = [tmp_path / "ours.json", tmp_path / "theirs.json"]
    for program, proof in zip((where, str(text)), proofs, strict=True):
        assert run(["check", program, *about, "--certificate", str(proof), "-q"]) == 0
        assert run(["verify", str(proof), "-q"]) == 0
    assert run(["verify", str(proofs[0]), "--program", where, "-q"]) == 0
    assert run(["verify", str(proofs[0]), "--program", f"{CATALOGUE}::svt5", "-q"]) == 1
    assert json.loads(proofs[0].read_bytes()) == json.loads(proofs[1].read_bytes())


@pytest.mark.parametrize("name", [name for name, about in PAIRS.items() if about.output is None])
def test_calls_conform_to_the_exact_law(name: str) -> None:
    """The frequency of each answer of calls is what the closed forms of the other program say."""
    about = PAIRS[name]
    _, theirs = pair(name)
    if about.constants or name == "numeric_sparse":
        return
    mechanism = getattr(catalogue(), name)
    arguments = about.input if len(theirs.inputs) <= 1 else (list(about.input),)
    eps = "3/2"
    calls = 1500
    found: Counter[tuple[Any, ...]] = Counter()
    for _ in range(calls):
        found[flat(mechanism(*arguments, eps=eps), len(theirs.outputs))] += 1
    expected = {
        key: float(outcome.probability.enclosure(dipc_fraction(eps))[0])
        for outcome in theirs.outcomes(dict(zip(theirs.inputs, about.input, strict=True)))
        for key in [tuple(outcome.output.values())]
    }
    assert {tuple(python_words(value, about.expressed) for value in key) for key in expected} >= set(found)
    for key, share in expected.items():
        count = found[tuple(python_words(value, about.expressed) for value in key)]
        assert abs(count - calls * share) < 6 * (calls * share * (1 - share)) ** 0.5 + 6, key


def dipc_fraction(text: str) -> Any:
    from fractions import Fraction

    return Fraction(text)


def flat(answer: object, outputs: int) -> tuple[Any, ...]:
    """The parts of an answer; what a list never got is None."""
    parts = list(answer) if isinstance(answer, list | tuple) else [answer]
    return (*parts, *[None] * (outputs - len(parts)))


def python_words(value: str | None, expressed: Mapping[str, str]) -> object:
    """A value of a program as Python has it."""
    back = {there: here for here, there in expressed.items()}
    text = back.get(value or "", value)
    words: dict[str | None, object] = {"yes": True, "no": False, "true": True, "false": False, "none": None}
    if text in words:
        return words[text]
    return int(text) if text is not None and text.lstrip("-").isdigit() else text


NATIVE = [
    "above_threshold",
    "svt1",
    "svt7",
    "noisy_max",
    "noisy_max_by_hand",
    "binned_max",
    "rejection",
    "numeric_sparse",
]


@pytest.mark.parametrize("name", NATIVE)
def test_python_itself_gives_the_same_law(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The body of the function, executed by Python on floats, conforms to the law of the program read from it."""
    import random

    source = random.Random(len(name))
    program = dipc.load(f"{CATALOGUE}::{name}")
    function = getattr(catalogue(), name)._function
    names = function.__globals__
    for constant, value in program.constants.items():
        monkeypatch.setitem(names, constant, int(value) if value.denominator == 1 else float(value))
    eps = 1.5

    def laplace(mean: float = 0, *, scale: float | None = None, rate: float | None = None) -> float:
        width = scale if scale is not None else 1 / (rate or 1)
        return mean + width * (source.expovariate(1) - source.expovariate(1))

    def choice(weights: Mapping[object, float]) -> object:
        return source.choices(list(weights), list(weights.values()))[0]

    def exponential_mechanism(candidates: object, score: Callable[[object], float], *, rate: float) -> object:
        values = list(candidates)  # type: ignore[call-overload]
        import math

        return source.choices(values, [math.exp(rate * score(value)) for value in values])[0]

    for word, fake in (("laplace", laplace), ("choice", choice), ("exponential_mechanism", exponential_mechanism)):
        monkeypatch.setitem(dipc.__dict__, word, fake)
    values: tuple[object, ...] = (2,) if name == "rejection" else (0.5, 0, -1)[: len(program.inputs)]
    arguments = values if name == "rejection" else (list(values),)
    parts = inspect.signature(function).parameters
    runs = [function(*arguments, **({"eps": eps} if "eps" in parts else {})) for _ in range(3000)]
    exact = dict(zip(program.inputs, (str(value) for value in values), strict=True))
    samples = [list(encoded(answer, program, name)) for answer in runs]
    found = dipc.conform(program, exact, "3/2", samples=samples)
    assert found.agreement in (Agreement.MATCH, Agreement.UNDECIDED)
    assert not any(cell.agreement is Agreement.MISMATCH for cell in found.cells)


def encoded(answer: Any, program: dipc.Program, name: str) -> list[object]:
    """The answer as the outputs of the program have it."""
    if name == "numeric_sparse":
        found, values = answer
        return [*[{None: "none", True: "yes", False: "no"}[each] for each in found], *values]
    parts = answer if isinstance(answer, list) else [answer]
    words = {None: "none", True: "yes", False: "no"}
    texts = [each if isinstance(each, int | str) and not isinstance(each, bool) else words[each] for each in parts]
    return [*texts, *["none"] * (len(program.outputs) - len(texts))]


BETA = "m*exp(-alpha*eps/2)"
RIGHT_ANSWERS = """
import dipc

def largest(q):
    best = 0
    for i in range(len(q)):
        if q[i] > q[best]:
            best = i
    return best

def last_of_all(q):
    return len(q) - 1

@dipc.mechanism(m=3, ideal=largest, claim=dict(alpha="dd", beta="m*exp(-alpha*eps/2)"))
def right(q: dipc.Reals["m"], eps):
    noisy = [dipc.laplace(x, scale=2 / eps) for x in q]
    return noisy.index(max(noisy))

@dipc.mechanism(m=3, ideal=last_of_all, claim=dict(alpha="dd", beta="m*exp(-alpha*eps/2)"))
def wrong(q: dipc.Reals["m"], eps):
    noisy = [dipc.laplace(x, scale=2 / eps) for x in q]
    return noisy.index(max(noisy))

def itself(x):
    return x

@dipc.mechanism(ideal=itself)
def response(x: bool, eps):
    return dipc.choice({x: dipc.exp(eps) / (1 + dipc.exp(eps)), not x: 1 / (1 + dipc.exp(eps))})
"""


def test_a_right_answer_that_is_given(tmp_path: Path) -> None:
    """The right answer may be that without noise or another, also where a noiseless program has no meaning."""
    file = tmp_path / "given.py"
    file.write_text(RIGHT_ANSWERS, encoding="utf-8")
    right, wrong, response = (dipc.load(f"{file}::{name}") for name in ("right", "wrong", "response"))
    noiseless = dipc.load(BENCHMARKS / "noisy_max.dip")
    least, of_noiseless = (dipc.tighten(each, inputs="q = 0..1", beta=BETA) for each in (right, noiseless))
    assert least.factor == of_noiseless.factor
    assert least.kappa == of_noiseless.kappa
    assert str(dipc.check(right, inputs="all").verdict) == "accurate"
    assert str(dipc.check(wrong, inputs="q = 0..1").verdict) == "inaccurate"
    for beta, verdict in (("1/(1 + exp(eps))", "accurate"), ("exp(-eps)/2", "inaccurate")):
        assert str(dipc.check(response, inputs="x in {true, false}", beta=beta).verdict) == verdict


def test_a_cell_of_a_notebook() -> None:
    """The text that a notebook gives `linecache` for its cells is enough."""
    import linecache

    text = "@dipc.mechanism()\ndef cell(q: dipc.Real, eps):\n    return dipc.laplace(q, scale=1 / eps) >= 0\n"
    linecache.cache["<cell 7>"] = len(text), None, text.splitlines(keepends=True), "<cell 7>"
    space: dict[str, Any] = {"dipc": dipc}
    exec(compile(text, "<cell 7>", "exec"), space)
    assert str(space["cell"].check(inputs="all", beta="exp(-alpha*eps)/2").verdict) == "accurate"
    assert space["cell"](q=1000, eps=1) is True

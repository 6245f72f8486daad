"""Python functions are run beside the programs that were read from them: a wrong reading ends with exit code 70."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.cli.main import run
from dipc.execution import validation
from dipc.execution.scripted import ProgramFault, ScriptedRun
from dipc.execution.validation import Validation, validate
from dipc.mechanisms.alone import AloneFunction
from dipc.mechanisms.reading import read_mechanism
from dipc.program.program import Program, load_source
from dipc.text import ast
from dipc.text.diagnostic import DefectError, DiagnosticError, SourceText
from tests.mechanisms.mutations import mutants

HEAD = "import math\nfrom fractions import Fraction\n\nimport dipc\n\nK = 7\n\n\n"

THRESHOLD = """
@dipc.mechanism(m=3)
def f(q: dipc.Reals["m"], eps, T: dipc.Const = 0):
    out = []
    threshold = dipc.laplace(T, scale=2 / eps)
    for x in q:
        if dipc.laplace(x, scale=4 / eps) >= threshold:
            out.append(True)
            break
        out.append(False)
    return out
"""

SPLIT = """
@dipc.mechanism
def f(x: dipc.Finite[0:3], eps):
    first = [x, x + 1]
    honest = dipc.choice({True: math.exp(eps) / (1 + math.exp(eps)), False: 1 / (1 + math.exp(eps))})
    place = dipc.exponential_mechanism(range(3), lambda v: -abs(v - x), rate=eps)
    best = None
    for i in range(3):
        if i > x and honest:
            best = i
            break
    if place == 2:
        return 0, first[0], None
    return place, first[1], best
"""

MAXIMUM = """
@dipc.mechanism(m=3)
def f(q: dipc.Reals["m"], eps):
    noisy = [dipc.laplace(x, scale=2 / eps) for x in q]
    place = 0
    for i in range(1, 3):
        if noisy[i] > noisy[place]:
            place = i
    return place, noisy[place]
"""


RELEASE = """
@dipc.mechanism(m=2)
def f(q: dipc.Reals["m"], eps):
    best = None
    for x in q:
        noisy = dipc.laplace(x, scale=1 / eps)
        if noisy > 0 and (best is None or noisy > best):
            best = noisy
    if best is None:
        return None
    return best, q[0]
"""


@pytest.fixture(autouse=True)
def _nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "_AGREED", set())


def mechanism(text: str, tmp_path: Path) -> Path:
    file = tmp_path / "f.py"
    file.write_text(HEAD + text, encoding="utf-8")
    return file


def source_of(text: str) -> SourceText:
    return read_mechanism(SourceText("f.py", HEAD + text), "f")


def mutated(source: SourceText, change: Callable[[object], Any]) -> SourceText:
    """The reading with another program in its place, as a wrong translator would give it."""
    tree = source.tree
    body = ast.rewritten(tree.body, change)
    assert body != tree.body, "something is changed"
    return replace(source, tree=replace(tree, body=body), program_text=f"{source.program_text}# changed")


# --- every kind of mistake in a translator -----------------------------------------------------------------


def _comparison(node: object) -> Any:
    if isinstance(node, ast.Compare) and node.op is ast.CompareOp.GE:
        return replace(node, op=ast.CompareOp.GT)
    return None


def _greater(node: object) -> Any:
    if isinstance(node, ast.Compare) and node.op is ast.CompareOp.GT:
        return replace(node, op=ast.CompareOp.LT)
    return None


def _no_branch(node: object) -> Any:
    if isinstance(node, ast.If) and node.otherwise:
        return replace(node, otherwise=())
    return None


def _index(node: object) -> Any:
    if isinstance(node, ast.Element) and node.name == "noisy" and isinstance(node.index, ast.Name):
        return replace(node, index=ast.number(Fraction(0), node.span))
    return None


def _outputs(node: object) -> Any:
    swapped = {"out_0": "out_1", "out_1": "out_0"}
    if isinstance(node, ast.Name) and node.name in swapped:
        return replace(node, name=swapped[node.name])
    return None


def _rate(node: object) -> Any:
    if isinstance(node, ast.NoiseExpr):
        return replace(
            node, rate=ast.Binary(ast.BinaryOp.MULTIPLY, node.rate, ast.number(Fraction(2), node.span), node.span)
        )
    return None


def _exponent(node: object) -> Any:
    if isinstance(node, ast.ExponentialMechanism):
        doubled = ast.Binary(ast.BinaryOp.MULTIPLY, node.rate, ast.number(Fraction(2), node.span), node.span)
        return replace(node, rate=doubled)
    return None


def _weight(node: object) -> Any:
    if isinstance(node, ast.Choose):
        (one, first), (two, second) = node.arms
        return replace(node, arms=((one, second), (two, first)))
    return None


def _arms(node: object) -> Any:
    if isinstance(node, ast.Choose):
        (one, first), (two, second) = node.arms
        return replace(node, arms=((two, first), (one, second)))
    return None


def _loop(node: object) -> Any:
    if isinstance(node, ast.For):
        return replace(node, low=ast.Binary(ast.BinaryOp.ADD, node.low, ast.number(Fraction(1), node.span), node.span))
    return None


def _shorter(node: object) -> Any:
    if isinstance(node, ast.For):
        last = ast.Binary(ast.BinaryOp.SUBTRACT, node.high, ast.number(Fraction(1), node.span), node.span)
        return replace(node, high=last)
    return None


def _mean(node: object) -> Any:
    if isinstance(node, ast.NoiseExpr) and node.mean is not None:
        return replace(node, mean=ast.Unary(ast.UnaryOp.NEGATE, node.mean, node.span))
    return None


def _always_answered(node: object) -> Any:
    if isinstance(node, ast.Assign) and node.target.name == "answered" and node.value == ast.Truth(False, node.span):
        return replace(node, value=ast.Truth(True, node.span))
    return None


def _not_answered(node: object) -> Any:
    """The tag of an answer is written into another output."""
    if isinstance(node, ast.Assign) and node.target.name == "answered" and node.value == ast.Truth(False, node.span):
        return replace(node, target=replace(node.target, name="out_0_given"))
    return None


def _none_is_zero(node: object) -> Any:
    """The test `best is None` as one of the number that a variable without a number has."""
    if isinstance(node, ast.Unary) and node.op is ast.UnaryOp.NOT and ast.mentions(node, "best_given"):
        zero = ast.number(Fraction(0), node.span)
        return ast.Compare(ast.CompareOp.GE, ast.Name("best", node.span), zero, node.span)
    return None


MISTAKES = {
    "dropped None": (RELEASE, _always_answered),
    "output without a value": (RELEASE, _not_answered),
    "None as a number": (RELEASE, _none_is_zero),
    "wrong comparison at equality": (THRESHOLD, _comparison),
    "wrong comparison": (MAXIMUM, _greater),
    "dropped branch": (THRESHOLD, _no_branch),
    "wrong index": (MAXIMUM, _index),
    "swapped outputs": (SPLIT, _outputs),
    "wrong rate": (THRESHOLD, _rate),
    "wrong exponent": (SPLIT, _exponent),
    "wrong weight": (SPLIT, _weight),
    "swapped arms": (SPLIT, _arms),
    "loop begins late": (THRESHOLD, _loop),
    "loop ends early": (MAXIMUM, _shorter),
    "wrong mean": (THRESHOLD, _mean),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_each_kind_of_mistake_in_a_translator_is_caught(kind: str) -> None:
    text, change = MISTAKES[kind]
    source = source_of(text)
    load_source(source, {})
    with pytest.raises(DefectError) as caught:
        load_source(mutated(source, change), {})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E1907"
    assert "dipc reads this function wrongly" in diagnostic.message


def test_none_that_is_given_as_a_number_is_caught() -> None:
    source = source_of(SPLIT)
    parts = tuple(replace(part, none=None) for part in source.accepted.parts)
    wrong = replace(source, accepted=replace(source.accepted, parts=parts))
    with pytest.raises(DefectError, match=r"Python gives \(.*, None\), the program gives \(.*, -1\)"):
        load_source(wrong, {})


def test_the_right_answer_is_validated_as_the_mechanism_is() -> None:
    source = source_of(
        "def exact(x):\n    return 1 if x >= 2 else 0\n\n\n"
        "@dipc.mechanism(ideal=exact)\ndef f(x: dipc.Int, eps):\n"
        "    return 1 if dipc.discrete_laplace(x, scale=1 / eps) >= 2 else 0\n"
    )
    load_source(source, {})
    tree = source.tree
    declarations = ast.rewritten(tree.declarations, _comparison)
    assert declarations != tree.declarations
    wrong = replace(source, tree=replace(tree, declarations=declarations), program_text="changed")
    with pytest.raises(DefectError, match=r"Python gives 1, the program gives 0, at x = 2"):
        load_source(wrong, {})


def test_constants_asked_about_are_those_of_the_run() -> None:
    """A translator that forgets a constant is right for the value in the file alone."""
    source = source_of("@dipc.mechanism\ndef f(x: dipc.Int, eps, T: dipc.Const = 3):\n    return x > T\n")

    def forget(node: object) -> Any:
        return ast.number(Fraction(3), node.span) if isinstance(node, ast.Name) and node.name == "T" else None

    wrong = mutated(source, forget)
    load_source(wrong, {})
    load_source(source, {"T": Fraction(5)})
    with pytest.raises(DefectError, match="at x = "):
        load_source(wrong, {"T": Fraction(5)})


def test_a_number_left_open_is_validated_for_several(tmp_path: Path) -> None:
    """A translator that counts to the m of the file is right there, and wrong for other m."""

    def fixed(node: object) -> Any:
        return replace(node, high=ast.number(Fraction(2), node.span)) if isinstance(node, ast.For) else None

    source = source_of(
        "@dipc.mechanism(m=3)\ndef f(q: dipc.Reals['m'], eps):\n"
        "    noisy = [dipc.laplace(x, scale=2 / eps) for x in q]\n    return sum(noisy) > 0\n"
    )
    load_source(source, {}).validate_numbers("m")
    wrong = load_source(mutated(source, fixed), {})
    with pytest.raises(DefectError, match="q\\[4\\]"):
        wrong.validate_numbers("m")


# --- mutations of instructions at random -----------------------------------------------------------------------


FILES = [Path(__file__).with_name(name) for name in ("catalogue.py", "deterministic.py")]


def readable() -> Iterator[Program]:
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        for name in sorted(set(_names(text))):
            try:
                yield dipc.load(f"{file}::{name}")
            except DiagnosticError:
                continue


def _names(text: str) -> Iterator[str]:
    lines = text.splitlines()
    for line, following in pairwise(lines):
        if line.startswith("@dipc.mechanism") and following.startswith("def "):
            yield following.removeprefix("def ").partition("(")[0]


@pytest.mark.slow
def test_most_single_mutations_of_instructions_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts catch 1 175 of 1 687 mutants, and 220 go wrong by themselves.

    The others that were inspected are equivalent: they change statements that no run reaches, values that are not read,
    or comparisons of finite values that never occur.
    """
    faults = 0

    def counted(self: ScriptedRun, *given: Any) -> Any:
        nonlocal faults
        try:
            return plain(self, *given)
        except ProgramFault:
            faults += 1
            raise

    plain = ScriptedRun.run
    monkeypatch.setattr(ScriptedRun, "run", counted)
    numbers = random.Random(1)
    counts: Counter[str] = Counter()
    for program in readable():
        accepted = program.core.source.accepted
        function = AloneFunction(accepted, accepted.node, program.core.constants)
        several = list(mutants(program.core))
        numbers.shuffle(several)
        for _, core in several[:40]:
            faults = 0
            mutant = Program(core)
            try:
                Validation(mutant, accepted, accepted.node, function, mutant.flow).compare()
                counts["refused" if faults else "survived"] += 1
            except DefectError:
                counts["caught"] += 1
            except DiagnosticError:
                counts["refused"] += 1
    assert counts["caught"] >= 4 * counts["survived"]


# --- what is run, and what is not ------------------------------------------------------------------------------


def test_nothing_but_the_function_its_helpers_and_constants_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Statements of the file, decorators, defaults and annotations of other functions would write a file each."""
    note = f'open(r"{tmp_path}/" + "{{}}", "w").close()'
    text = f"""
{note.format("statement")}
OTHER = {note.format("constant")}


def noted(name):
    {note.format("decorator")}
    return lambda function: function


@noted("a")
def other(x=noted("default")) -> noted("annotation"):
    return OTHER


def helper(x, y={note.format("argument")}, log=print, z=().__class__.__base__):
    return x + K


class Noted:
    {note.format("class")}


@dipc.mechanism(ideal=lambda x: x + 7, claim=dict(alpha=0, gamma=3, beta="exp(-3*eps)"))
def f(x: dipc.Real, eps):
    return dipc.laplace(helper(x, 0, 0, 0), scale=1 / eps)
"""
    file = mechanism(text, tmp_path)
    assert run(["check", f"{file}::f", "--inputs", "x in {0, 1}"]) == 0
    assert "accurate" in capsys.readouterr().out
    assert [each.name for each in tmp_path.iterdir()] == ["f.py"]


def test_a_wrong_reading_ends_with_exit_70_and_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = read_mechanism

    def read_wrongly(*given: Any) -> Any:
        return mutated(read(*given), _comparison)

    monkeypatch.setattr("dipc.mechanisms.reading.read_mechanism", read_wrongly)
    file = mechanism(THRESHOLD, tmp_path)
    with pytest.raises(DefectError):
        dipc.load(f"{file}::f")
    values = [f"--input=q[{place}]=0" for place in range(3)]
    claims = tmp_path / "claims.toml"
    claims.write_text(f'[[claim]]\nprogram = "{file}::f"\ninputs = "all"\nalpha = "dd"\nbeta = "1"\n', encoding="utf-8")
    one = f"{file}::f"
    commands = (
        ["prob", one, *values],
        ["check", one, "--inputs", "all"],
        ["check", one, "--for-all", "m", "--inputs", "all"],
        ["privacy", one, "--adjacent", "linf:1", "--inputs", "all"],
        ["solve", one, "--for", "T", "--inputs", "all"],
        ["run", one, "--eps", "1", *values],
        ["fmt", one],
        ["test", str(claims)],
    )
    for command in commands:
        assert run(command) == 70
        shown = capsys.readouterr()
        assert shown.out == ""
        assert "error[E1907]: Python gives [" in shown.err
        assert "please report it" in shown.err


def test_runs_are_bounded(tmp_path: Path) -> None:
    """A run that passes its bounds says nothing; the other runs are compared."""
    file = mechanism(
        """
@dipc.mechanism
def f(x: dipc.Finite[0:3], eps):
    while dipc.choice({True: Fraction(1, 2), False: Fraction(1, 2)}):
        pass
    return x
""",
        tmp_path,
    )
    assert dipc.load(f"{file}::f").outputs == ("out",)


def test_what_agreed_is_not_run_again_and_what_changed_is(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []
    plain = Validation.compare

    def counted(self: Validation, *given: Any) -> None:
        runs.append(self.program.name)
        plain(self, *given)

    monkeypatch.setattr(Validation, "compare", counted)
    text = "def helper(x):\n    return x + K\n\n\n"
    text += "@dipc.mechanism\ndef f(x: dipc.Finite[0:3], eps):\n    return helper(x) > 8\n"
    source = source_of(text)
    for count, other in ((1, source), (1, source), (2, source_of(text.replace("x + K", "x - K")))):
        load_source(other, {})
        assert len(runs) == count
    other = read_mechanism(SourceText("f.py", HEAD.replace("K = 7", "K = 8") + text), "f")
    load_source(other, {})
    assert len(runs) == 3
    load_source(source, {"K": Fraction(1)})
    assert len(runs) == 4


def test_draws_that_python_does_not_come_to_are_no_difference(tmp_path: Path) -> None:
    """The program draws before a condition: `x > 0 and laplace() > 1` draws in Python only where x > 0."""
    file = mechanism(
        """
@dipc.mechanism(m=3)
def f(q: dipc.Reals["m"], eps):
    count = 0
    for x in q:
        if x > 0 and dipc.laplace(x, scale=1 / eps) > 1:
            count += 1
    return count
""",
        tmp_path,
    )
    validate(dipc.load(f"{file}::f"))

"""Functions mean what Python says: their laws are those of CPython at every input, or they are refused."""

from __future__ import annotations

import ast
import importlib.util
import math
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import dipc
from dipc.mechanisms.decorator import Mechanism
from tests.mechanisms.laws import inputs, program_law, python_law

FILE = Path(__file__).with_name("meaning.py")

REFUSED = {
    "before_def": "the function `helper` is not known here",
    "flag_and": "`flag` may be None here, and `and` or `or` would give None",
    "none_str": 'the string "none" and None',
    "yes_or_truth": 'the string "no" and a truth value',
    "none_order": "`a` may be None here but is used as a number",
    "max_none": "may be None here but is used as a number",
    "index_float": "an index must be an int",
    "index_div": "an index must be an int",
    "max_nothing": "`max` of nothing has no value",
    "unbound": "`y` may have no value here",
    "fraction_float": "is the fraction of a float",
    "equal_keys": "the keys `x` and `1` may be equal",
    "equal_keys2": "the keys `x` and `y` may be equal",
    "equal_remainders": "may be equal",
    "key_changed_before": "the keys `x` and `y` may be equal",
    "decimals": "`0.1` is rounded by Python",
    "thirds": "`x / 3` is rounded by Python",
    "float_answer": "`x / 2` is a float in Python",
    "float_int": "`2.0` is a float in Python",
    "int_or_bool": "the values that `out` may have are not known",
    "list_in_branch": "`ys` is not a list of this function",
    "zip_strict": "these have different lengths",
    "after_loop": "`k` is used after its loop",
}


@cache
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("functions_with_a_meaning", FILE)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


NAMES = [name for name, value in vars(module()).items() if isinstance(value, Mechanism)]


@pytest.mark.parametrize("name", NAMES)
def test_laws_are_those_of_python(name: str) -> None:
    mechanism = getattr(module(), name)
    if name in REFUSED:
        with pytest.raises(dipc.DiagnosticError, match=REFUSED[name]):
            mechanism.dip()
        return
    for given in inputs(mechanism):
        assert program_law(mechanism, given) == python_law(mechanism._function, given), given


@pytest.mark.parametrize(
    ("ideal", "said"),
    [("-1", "may be a number that the mechanism never gives"), ("None if x > 1 else x", "is None sometimes")],
)
def test_a_right_answer_is_none_only_where_the_mechanism_may_be(ideal: str, said: str, tmp_path: Path) -> None:
    """A right answer of -1 was read as None, which -1 stands for in the program."""
    file = tmp_path / "f.py"
    body = "    return x\n" if "None" in ideal else "    if x >= 1:\n        return None\n    return x\n"
    head = f"import dipc\n\n\ndef exact(x):\n    return {ideal}\n\n\n@dipc.mechanism(ideal=exact)\n"
    file.write_text(head + "def f(x: dipc.Finite[0:4], eps):\n" + body, encoding="utf-8")
    with pytest.raises(dipc.DiagnosticError, match=said):
        dipc.load(f"{file}::f")


def test_a_right_answer_may_be_none_of_the_answers(tmp_path: Path) -> None:
    file = tmp_path / "elsewhere.py"
    file.write_text(
        "import dipc\n\n\n"
        "@dipc.mechanism(ideal=lambda x: 10 if x == 0 else x // 2, claim=dict(alpha=0, beta='1/2'))\n"
        "def elsewhere(x: dipc.Finite[0:6], eps):\n"
        "    return dipc.choice({0: 1 / 2, 1: 1 / 2})\n\n\n"
        "@dipc.mechanism(ideal=lambda x: 'c' if x else 'a', claim=dict(alpha=0, beta='1/2'))\n"
        "def words(x: bool, eps):\n"
        "    return 'a' if dipc.choice({True: 1 / 2, False: 1 / 2}) else 'b'\n"
    )
    for name, verdicts in (
        ("elsewhere", "inaccurate accurate accurate accurate inaccurate inaccurate"),
        ("words", "accurate inaccurate"),
    ):
        report = dipc.check(f"{file}::{name}", inputs="all")
        assert [str(row.verdict) for row in report.rows] == verdicts.split()


def test_a_word_that_names_an_input_is_refused_at_its_place(tmp_path: Path) -> None:
    file = tmp_path / "clash.py"
    file.write_text(
        "import dipc\n\n\n"
        "@dipc.mechanism(claim=dict(beta='1/2'))\n"
        "def better(a: dipc.Real, b: dipc.Real, eps):\n"
        "    return 'a' if a + dipc.laplace(0, scale=1 / eps) > b else 'b'\n"
    )
    with pytest.raises(dipc.DiagnosticError, match="`a` is the name of an input, and cannot be a word, too"):
        dipc.load(f"{file}::better")


@pytest.mark.parametrize(
    ("body", "listed"),
    [
        ("['red', 'green', 'blue'], lambda c: 0 if c == x else -1", "['red', 'green', 'blue'], [0, -1, -1]"),
        ("('red', 'blue'), lambda c: 2 if c == 'blue' else 1 if c == x else 0", "('red', 'blue'), [1, 2]"),
    ],
)
def test_a_score_of_values_may_have_conditions(tmp_path: Path, body: str, listed: str) -> None:
    """Compare with the weights e^score at x = red and eps = 1."""
    file = tmp_path / "scores.py"
    header = "import dipc\n\n\n@dipc.mechanism\ndef f(x: dipc.Finite['red', 'green', 'blue'], eps):\n"
    file.write_text(f"{header}    return dipc.exponential_mechanism({body}, rate=eps)\n")
    words, scores = ast.literal_eval(f"({listed})")
    weights = [math.exp(score) for score in scores]
    program = dipc.load(f"{file}::f")
    for word, weight in zip(words, weights, strict=True):
        low, high = program.probability({"x": "red"}, {"out": word}).enclosure(Fraction(1))
        assert float(low + high) / 2 == pytest.approx(weight / sum(weights))

"""Functions mean what Python says: their laws are those of CPython at every input, or they are refused."""

from __future__ import annotations

import importlib.util
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

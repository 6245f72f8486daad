"""Without noise a mechanism gives the answers of Python.

The functions are those that a translator could read wrongly. Each is run for every input, or refused.
"""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType

import pytest

import dipc
from dipc.text.core import DomType

FILE = Path(__file__).with_name("deterministic.py")


@cache
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("deterministic_functions", FILE)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


NAMES = [
    "shadowed_default",
    "element_kept",
    "swapped",
    "nested_break",
    "continue_deep",
    "growing",
    "three_values",
    "none_or_number",
    "strings",
    "loop_with_flag",
    "reductions",
    "first_best",
    "helpers",
    "chained",
    "backwards",
    "zipped",
    "functions_inside",
    "index_of_a_name",
    "none_appended",
    "set_in_branches",
    "arguments_changed",
    "loop_names_changed",
    "assigned_further_down",
    "names_of_the_text_around",
]


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_of_python(name: str) -> None:
    mechanism = getattr(module(), name)
    core = mechanism.program.core
    domains = [core.slots[slot].type for slot in core.inputs]
    for values in product(*(domain.values for domain in domains if isinstance(domain, DomType))):
        given = [value if isinstance(value, str) else int(value) for value in values]
        assert mechanism(*given, eps=1) == mechanism._function(*given, eps=1), given


REFUSED = {
    "another list in each branch": """
    if x > 0:
        xs = [0] * 2
    else:
        xs = [1] * 2
    return xs
""",
    "is replaced by another one in a loop or a branch": """
    xs = [x, x]
    for i in range(2):
        xs = [y + 1 for y in xs]
    return xs
""",
    "cannot change a list of its caller": """
    xs = [0, 0]
    return xs[0] + change(xs)
""",
    "is not known before the mechanism runs": """
    xs = [0] * (m * n)
    return xs
""",
    "is used after its loop": """
    for i in range(3):
        pass
    return i
""",
    "`i` is a variable already": """
    total = 0
    for i in range(3):
        if x > 1:
            for i in range(2):
                pass
        total += i
    return total
""",
    "`T` is an argument of the mechanism, which `with_t` does not have": """
    return with_t(x) + T
""",
    "`k` is a constant of the mechanism, and another number in this file": """
    return x + k
""",
    "`twice` means more than one thing in this file": """
    return twice(x)
""",
    "`min` means something else in this file": """
    return min(x, 1)
""",
    "a condition is needed here, but `x` is a number": """
    y = bool(x)
    return 1 if y else 0
""",
    "which number could stand for None in `out` depends on the constants": """
    if x == 0:
        return None
    return T if x == 1 else 5
""",
    "which number could stand for None in `best` depends on the constants": """
    best = None
    if x > 0:
        best = T if x > 1 else 5
    return best is None
""",
    "which of these is the shortest depends on a constant": """
    total = 0
    for i, j in zip(range(m), range(T)):
        total += i * j
    return total
""",
    "a list that grows has one name": """
    xs = []
    ys = xs
    for i in range(2):
        xs.append(1)
        ys.append(x)
    return xs
""",
    "`index` can only look for a greatest or least element": """
    xs = [x, 3]
    ys = xs
    best = max(xs)
    ys[0] = 100
    return xs.index(best)
""",
    "`g` may be another function, or none, on other paths": """
    if x > 2:
        def g():
            return 1
    else:
        def g():
            return 2
    return g()
""",
    "`T` has the value that it had where `g` was defined": """
    def g(a=T):
        return a
    return g()
""",
}


#: The file around a mechanism that is refused.
AROUND = """import dipc
from somewhere import clamp as min

T = 7
k = 7


def change(xs):
    xs[0] = 1
    return 1


def with_t(x):
    return x + T


def twice(x):
    return x


def twice(x):
    return 2 * x
"""


@pytest.mark.parametrize("said", REFUSED)
def test_what_would_be_read_wrongly_is_refused(said: str, tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    header = "@dipc.mechanism(m=2, n=2, k=3)\ndef f(x: dipc.Finite[0:4], eps, T: dipc.Const = 3):"
    file.write_text(f"{AROUND}\n\n{header}{REFUSED[said]}", encoding="utf-8")
    with pytest.raises(dipc.DiagnosticError, match=said):
        dipc.load(f"{file}::f")


def law_of(body: str, tmp_path: Path) -> dict[str, Fraction]:
    """The law of a mechanism with this body at x = 0, where it has no eps in it."""
    file = tmp_path / "f.py"
    head = "import dipc\nfrom fractions import Fraction\n\n\n@dipc.mechanism\ndef f(x: dipc.Finite[0:2], eps):\n"
    file.write_text(f"{head}    half = Fraction(1, 2)\n{body}", encoding="utf-8")
    outcomes = dipc.load(f"{file}::f").outcomes({"x": 0})
    return {each.output["out"]: Fraction(str(each.probability)) for each in outcomes if str(each.probability) != "0"}


def test_an_index_that_is_drawn_is_drawn_once(tmp_path: Path) -> None:
    """The index was drawn for the element that is read, and again for the element that is written."""
    body = "    xs = [0, 5]\n    xs[dipc.choice({0: half, 1: half})] += 1\n    return xs[0] + 10 * xs[1]\n"
    assert law_of(body, tmp_path) == {"51": Fraction(1, 2), "60": Fraction(1, 2)}


def test_a_list_of_one_draw_many_times_has_one_draw(tmp_path: Path) -> None:
    """Each element was drawn anew."""
    body = "    xs = [dipc.choice({0: half, 1: half})] * 2\n    return xs[0] + xs[1]\n"
    assert law_of(body, tmp_path) == {"0": Fraction(1, 2), "2": Fraction(1, 2)}


def test_constants_that_are_given_change_lengths_and_none(tmp_path: Path) -> None:
    """Constants determine lengths and the value that stands for None."""
    file = tmp_path / "f.py"
    file.write_text(
        "import dipc\n\n\n@dipc.mechanism(m=2)\ndef f(x: dipc.Finite[0:9], eps, T: dipc.Const = 3):\n"
        "    for i in range(m):\n        if i == x:\n            return i + T\n    return None\n",
        encoding="utf-8",
    )
    for m, x, out in ((2, 1, "4"), (2, 2, "2"), (5, 4, "7"), (5, 5, "2")):
        (outcome,) = dipc.load(f"{file}::f", m=m).outcomes({"x": x})
        assert outcome.output == {"out": out}


def test_numbers_with_noise_or_none_are_those_of_python() -> None:
    """The answers at a huge eps are those of Python without noise."""
    for q in product((-3, 2, 5), (-3, 3, 7), (-3, 4)):
        above = [x if x > 0 else None for x in q]
        largest = sorted((x for x in q if x > 0), reverse=True)
        for mechanism, expected in (
            (module().best_two, (*largest, None, None)[:2]),
            (module().positive, above),
            (module().appended, above),
            (module().kept, [x for x in q if x > 0]),
        ):
            given = mechanism(list(q), eps=10**6, grid="1/4")
            assert len(given) == len(expected)
            for one, two in zip(given, expected, strict=True):
                assert (one is None) is (two is None)
                assert one is None or abs(one - two) <= Fraction(1, 2)


def test_none_is_an_answer_of_its_own() -> None:
    """The probability of None is exact, and a number in place of None is wrong for every gamma."""
    program = module().positive.program
    probability = program.probability({"q": (1, -1, 0)}, {"out_given": (False, False, True)})
    assert str(probability) == "exp(-eps)/4 - exp(-2*eps)/8"
    report = dipc.check(program, inputs="q = 0", alpha=0, gamma=10**6, beta="1/2")
    assert str(report.verdict) == "inaccurate"
    report = dipc.check(program, inputs="all", alpha="dd", gamma="alpha", beta="2*m*exp(-alpha*eps)")
    assert str(report.verdict) == "accurate"

"""Random functions are read as CPython runs them, or refused.

Each file is executed as it stands, with a module `dipc` whose draws a script chooses. A function with choices alone has
the exact law that the program has; one with noise gives the program's answers for random inputs and draws.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from dipc.algebra.limits import Undecided
from dipc.execution.scripted import ProgramFault, ScriptedRun
from dipc.mechanisms.decorator import python_answer
from dipc.mechanisms.reading import read_mechanism
from dipc.program.program import Program, load_source
from dipc.text.ast import BaseType
from dipc.text.core import DomType, SampleChoice, SampleExponential, SampleNoise, Value
from dipc.text.diagnostic import DefectError, DiagnosticError, SourceText
from tests.mechanisms.random_functions import function_text


class Draws:
    """The draws of one run: the places of choices, and noises around 0."""

    def __init__(self, places: Sequence[int], noises: Iterator[Fraction]) -> None:
        self.places = places
        self.noises = noises
        self.arms: list[int] = []
        self.weight = Fraction(1)
        self.drawn: list[Fraction] = []

    def choice(self, weights: Mapping[Any, Fraction]) -> Any:
        place = self.places[len(self.arms)] if len(self.arms) < len(self.places) else 0
        self.arms.append(len(weights))
        value = list(weights)[place]
        self.weight *= weights[value]
        return value

    def noise(self, mean: Any = 0, **_: Any) -> Any:
        value = next(self.noises)
        self.drawn.append(value)
        return mean + value

    def one_sided(self, **_: Any) -> Any:
        value = abs(next(self.noises))
        self.drawn.append(value)
        return value


class _Type:
    def __getitem__(self, inside: object) -> _Type:
        return self


def executed(text: str) -> tuple[Any, SimpleNamespace]:
    """The function, as the whole file makes it under CPython, and the holder of its draws."""
    module: Any = ModuleType("dipc")
    holder = SimpleNamespace(draws=None)
    module.mechanism = lambda function: function
    for name in ("Real", "Reals", "Int", "Ints", "Finite", "Const", "Eps"):
        setattr(module, name, _Type())

    def of_this_run(name: str) -> Callable[..., Any]:
        def draw(*given: Any, **named: Any) -> Any:
            return getattr(holder.draws, name)(*given, **named)

        return draw

    module.choice = of_this_run("choice")
    module.laplace = module.gaussian = of_this_run("noise")
    module.exponential_noise = of_this_run("one_sided")
    names: dict[str, Any] = {"__name__": "random_function"}
    kept = sys.modules["dipc"]
    sys.modules["dipc"] = module
    try:
        exec(compile(text, "f.py", "exec"), names)
    finally:
        sys.modules["dipc"] = kept
    return names["f"], holder


def _nothing() -> Iterator[Fraction]:
    raise AssertionError("there is no noise")
    yield Fraction(0)


def answers(function: Any, holder: SimpleNamespace, given: Sequence[Any]) -> dict[str, Fraction]:
    """The exact law of the answers of a function with choices alone, by all of their arms."""
    law: dict[str, Fraction] = {}
    todo: list[tuple[int, ...]] = [()]
    while todo:
        places = todo.pop()
        holder.draws = Draws(places, _nothing())
        try:
            answer = repr(plain(function(*given, eps=Fraction(1))))
        except Exception as error:
            answer = f"raises {type(error).__name__}"
        arms = holder.draws.arms
        for depth in range(len(places), len(arms)):
            done = (*places, *[0] * (depth - len(places)))
            todo += [(*done, place) for place in range(1, arms[depth])]
        law[answer] = law.get(answer, Fraction(0)) + holder.draws.weight
    return law


def plain(answer: Any) -> Any:
    """The answer with numbers as Fractions, truth values as they are."""
    if isinstance(answer, list | tuple):
        return type(answer)(map(plain, answer))
    if isinstance(answer, bool | str) or answer is None:
        return answer
    return Fraction(answer)


class Replayed:
    """The draws of a run of the program: those of Python, in their order."""

    def __init__(self, draws: Draws) -> None:
        self._noises = iter([*draws.drawn, *[Fraction(0)] * 99])
        self._places = iter([*draws.places, *[0] * 99])

    def noise(self, draw: SampleNoise) -> Fraction:
        return next(self._noises)

    def choice(self, draw: SampleChoice) -> int:
        return next(self._places)

    def exponential(self, draw: SampleExponential, scores: Sequence[Fraction]) -> int:
        raise AssertionError("there is none")


def outcome(text: str, seed: int = 0) -> tuple[str, str | None]:
    """Return `read`, `refused`, `wrong`, or `caught` for the function `f` of a file, with the reason.

    `caught` means that dipc itself finds its reading wrong.
    """
    try:
        source = read_mechanism(SourceText("f.py", text), "f")
        program = load_source(source, {})
    except DefectError as defect:
        return "caught", defect.diagnostics[0].message
    except DiagnosticError as refused:
        return "refused", refused.diagnostics[0].message
    function, holder = executed(text)
    has_noise = any(isinstance(each, SampleNoise) for each in program.core.instructions)
    domains = [slot.type for slot in program.core.input_slots]
    if has_noise or any(domain is BaseType.REAL for domain in domains):
        return _by_draws(program, function, holder, random.Random(seed))
    for values in product(*(domain.values for domain in domains if isinstance(domain, DomType))):
        given = [int(value) for value in values if isinstance(value, Fraction)]
        expected = answers(function, holder, given)
        try:
            found = _law(program, dict(zip(program.inputs, values, strict=True)))
        except (DiagnosticError, Undecided) as refused:
            return "refused", str(refused).splitlines()[0]
        if found != expected:
            return "wrong", f"at {given}: Python {expected}, the program {found}"
    return "read", None


def _law(program: Program, given: Mapping[str, Value]) -> dict[str, Fraction]:
    law: dict[str, Fraction] = {}
    for each in program.outcomes(given):
        outputs = {name: _value(program, name, value) for name, value in each.output.items()}
        answer = repr(plain(python_answer(program.core.source.accepted, outputs, program.core.constants)))
        law[answer] = law.get(answer, Fraction(0)) + Fraction(str(each.probability))
    return {answer: weight for answer, weight in law.items() if weight}


def _value(program: Program, name: str, shown: str | None) -> Value | None:
    if shown is None or shown in ("true", "false"):
        return None if shown is None else shown == "true"
    try:
        return Fraction(shown)
    except ValueError:
        return shown


def _by_draws(
    program: Program, function: Any, holder: SimpleNamespace, numbers: random.Random
) -> tuple[str, str | None]:
    run = ScriptedRun(program.flow)
    for _ in range(40):
        values = [_random_value(slot.type, numbers) for slot in program.core.input_slots]
        given: Any = [int(v) if isinstance(v, Fraction) and v.denominator == 1 else v for v in values]
        arguments = [given] if "q" in program.core.source.accepted.arguments else given
        places = [numbers.randrange(2) for _ in range(20)]
        holder.draws = Draws(places, iter([Fraction(numbers.randint(-16, 16), 4) for _ in range(60)]))
        try:
            expected = repr(plain(function(*arguments, eps=Fraction(1))))
        except Exception as error:
            expected = f"raises {type(error).__name__}"
        try:
            outputs = run.run(values, Replayed(holder.draws))
        except ProgramFault:
            return "refused", "a run goes wrong"
        found = repr(plain(python_answer(program.core.source.accepted, outputs, program.core.constants)))
        if found != expected:
            return "wrong", f"at {given}, draws {holder.draws.drawn}: Python {expected}, the program {found}"
    return "read", None


def _random_value(type_: Any, numbers: random.Random) -> Value:
    match type_:
        case DomType(values=values):
            return numbers.choice(values)
        case BaseType.REAL:
            return Fraction(numbers.randint(-12, 12), 4)
    return numbers.random() < 0.5


def family(seeds: Iterable[int]) -> tuple[Counter[str], list[str]]:
    """Return how many functions were read, refused and read wrongly, and descriptions of the wrong readings."""
    counts: Counter[str] = Counter()
    wrong = []
    for seed in seeds:
        result, why = outcome(function_text(seed), seed)
        counts[result] += 1
        if result in ("wrong", "caught"):
            wrong.append(f"seed {seed}: {why}\n{function_text(seed)}")
    return counts, wrong


@pytest.mark.every_case
@pytest.mark.parametrize("part", range(4))
def test_random_functions_are_read_as_python_runs_them(part: int) -> None:
    counts, wrong = family(range(50 * part, 50 * part + 50))
    assert not wrong, wrong[0]
    assert counts["read"] >= 10, counts


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_thousands_of_random_functions_are_read_as_python_runs_them(part: int) -> None:
    counts, wrong = family(range(1000 + 500 * part, 1500 + 500 * part))
    assert not wrong, wrong[0]
    assert counts["read"] >= 100, counts


#: Ordinary functions that were read as other programs than Python's.
MISREAD = {
    "none instead of a list": """
def f(x: dipc.Finite[0:4], eps):
    xs = [x, 1]
    if dipc.choice({True: Fraction(1, 2), False: Fraction(1, 2)}):
        return None
    return xs
""",
    "none instead of noisy numbers": """
def f(x: dipc.Real, eps):
    noisy = [dipc.laplace(x, scale=1 / eps), dipc.laplace(x, scale=1 / eps)]
    if dipc.laplace(0, scale=1 / eps) < 0:
        return None
    return noisy
""",
    "none and a tuple": """
def f(x: dipc.Finite[0:4], eps):
    if x > 2:
        return None
    return x, x + 1
""",
    "two lists in either order": """
def f(x: dipc.Finite[0:4], eps):
    xs = [x, 1]
    ys = [7, 8]
    if x > 2:
        return ys, xs
    return xs, ys
""",
    "one list twice": """
def f(x: dipc.Finite[0:4], eps):
    xs = [x, 1]
    return xs, xs
""",
    "a list and an element of another": """
def f(x: dipc.Finite[0:4], eps):
    a = [x, 1]
    b = [2, x]
    if x > 1:
        return a, b[0]
    return b, a[0]
""",
    "none is not minus one": """
def f(x: dipc.Finite[0:4], eps):
    best = None
    if dipc.choice({True: Fraction(1, 2), False: Fraction(1, 2)}):
        best = x
    return best == -1
""",
    "none among numbers": """
def f(x: dipc.Finite[0:4], eps):
    best = None
    if x > 1:
        best = x
    return best in (-1, 1)
""",
    "none equals none": """
def f(x: dipc.Finite[0:4], eps):
    a = None
    b = None
    if x > 7:
        a = x
        b = x - 5
    return a == b
""",
    "none has no order": """
def f(x: dipc.Finite[0:4], eps):
    best = None
    if x > 1:
        best = x
    return best < 1
""",
    "no maximum of none": """
def f(x: dipc.Finite[0:4], eps):
    best = None
    if x > 1:
        best = x
    return max([x, best])
""",
    "a name that the loop around assigns": """
def f(x: dipc.Finite[0:4], eps):
    def g():
        return k
    for k in range(3):
        y = k
    return g()
""",
    "a name that is assigned later": """
def f(x: dipc.Finite[0:4], eps):
    def g():
        return k
    y = 0
    for i in range(2):
        if i > 0:
            y = g()
        k = i + x
    return y
""",
    "the name of a comprehension": """
def f(x: dipc.Finite[0:4], eps):
    def g():
        return i
    i = 5
    ys = [g() for i in range(2)]
    return ys[0] + x
""",
    "a list that grows in a branch": """
def f(x: dipc.Finite[0:4], eps):
    xs = []
    if x > 1:
        for i in range(3):
            xs.append(i)
    return xs
""",
    "an index that is no int": """
def f(x: dipc.Finite[0:4], eps):
    xs = [x, 1, 2]
    return xs[4 / 2]
""",
    "a decimal index": """
def f(x: dipc.Finite[0:4], eps):
    xs = [x, 1, 2]
    return xs[1.0]
""",
    "a binary number": """
def f(x: dipc.Finite[0:4], eps):
    return Fraction(0.1) == Fraction(1, 10)
""",
    "equal keys": """
def f(x: dipc.Finite[0:4], eps):
    return dipc.choice({x: Fraction(1, 2), 1: Fraction(1, 2)})
""",
    "a function before its definition": """
def f(x: dipc.Finite[0:4], eps):
    y = g(x)
    def g(a):
        return a
    return y
""",
    "a local without a value": """
def f(x: dipc.Finite[0:4], eps):
    if x > 1:
        y = 2
    return y
""",
    "None beside None": """
def f(x: dipc.Finite[0:4], eps):
    return None is None, None != None, None in (None, x)
""",
    "an index in a condition without consequence": """
def f(x: dipc.Finite[0:4], eps):
    a = [x, 1]
    if a[x] > 1:
        pass
    return 0
""",
    "an index in a condition that decides nothing": """
def f(x: dipc.Finite[0:4], eps):
    a = [x, 1]
    if a[x] > 1:
        return None
    return None
""",
    "an index in a statement without consequence": """
def f(x: dipc.Finite[0:4], eps):
    a = [x, 1]
    max(a[x], 1)
    return 0
""",
    "an index behind an equal element": """
def f(x: dipc.Finite[0:4], eps):
    a = [x, 1]
    return 5 in (5, a[x])
""",
    "an index in a key that is not chosen": """
def f(x: dipc.Finite[0:4], eps):
    a = [x, 1]
    return dipc.choice({7: Fraction(1, 2), a[x] - 9: Fraction(1, 2)})
""",
    "an index of what is never None": """
def f(x: dipc.Finite[0:4], eps):
    a = [x, 1]
    return a[x] is None
""",
    "an index of an answer that is never None": """
def f(x: dipc.Finite[0:4], eps):
    a = [x, 1]
    return None in (a[x], 1)
""",
    "a word that nothing holds": """
def f(x: dipc.Finite[0:4], eps):
    s = None
    if x > 1:
        s = "low"
    return s == "high", s in ("top", None), x != "high", "top" == "top"
""",
}


@pytest.mark.every_case
@pytest.mark.parametrize("kind", MISREAD)
def test_what_was_misread_is_refused_or_right(kind: str) -> None:
    text = "from fractions import Fraction\n\nimport dipc\n\nk = 7\n\n\n@dipc.mechanism" + MISREAD[kind]
    result, why = outcome(text)
    assert result in ("read", "refused"), why
    assert result == "read" or kind not in ("None beside None", "a word that nothing holds"), why


def _loaded(text: str, constants: Mapping[str, Fraction] | None = None) -> Program:
    source = read_mechanism(SourceText("f.py", f"from fractions import Fraction\nimport dipc\n\n{text}"), "f")
    return load_source(source, constants or {})


@pytest.mark.parametrize(
    ("one", "two", "differ"),
    [
        ("x * -1", "x * -1 + 1", True),
        ("2 * x", "x + x + 1", True),
        ("2 * x", "1 + x * 2", True),
        ("x * y", "x * y", False),
        ("2 * x", "x + 1", False),
        ("T", "Fraction(3, 2)", False),
        ("x + T", "x", False),
    ],
)
def test_keys_of_a_choice_that_never_are_equal_are_read(one: str, two: str, differ: bool) -> None:
    """A constant may be asked about with another value: T = 3/2 made two keys equal."""
    text = (
        "@dipc.mechanism\ndef f(x: dipc.Finite[0:4], y: dipc.Finite[0:3], eps, T: dipc.Const = Fraction(1, 2)):\n"
        f"    return dipc.choice({{{one}: Fraction(1, 2), {two}: Fraction(1, 2)}})\n"
    )
    if differ:
        _loaded(text)
        return
    with pytest.raises(DiagnosticError, match="may be equal"):
        _loaded(text)


def test_a_default_is_that_of_the_constant_asked_about() -> None:
    """Validation ran the helper with the default of the file, and found a difference that is none."""
    text = (
        "K = 2\n\n\ndef helper(v, w=K):\n    return v + w\n\n\n"
        "@dipc.mechanism\ndef f(x: dipc.Finite[0:4], eps):\n    return helper(x) + K\n"
    )
    (outcome_of_five,) = _loaded(text, {"K": Fraction(5)}).outcomes({"x": Fraction(1)})
    assert outcome_of_five.output == {"out": "11"}


def test_constants_of_the_file_are_known_in_the_right_answer() -> None:
    """The mechanism itself may have a variable of this name."""
    for body in ("return x if COIN else K", "return x if COIN else 2", "K = 1\n    return x if COIN else K"):
        choice = "dipc.choice({True: Fraction(3, 4), False: Fraction(1, 4)})"
        text = (
            "K = 2\n\n\ndef exact(x):\n    return K\n\n\n"
            f"@dipc.mechanism(ideal=exact)\ndef f(x: dipc.Finite[0:4], eps):\n    {body.replace('COIN', choice)}\n"
        )
        _loaded(text)  # the right answer is validated against CPython


@pytest.mark.parametrize(
    ("test", "said"), [("best is None or v > q[best]", None), ("v > 1", "`best` may be None here")]
)
def test_the_first_greatest_may_be_a_right_answer(test: str, said: str | None) -> None:
    text = (
        "def exact(q):\n    best = None\n    for i, v in enumerate(q):\n"
        f"        if {test}:\n            best = i\n    return best\n\n\n"
        '@dipc.mechanism(m=3, ideal=exact)\ndef f(q: dipc.Finite[0:3]["m"], eps):\n'
        "    return dipc.choice({0: Fraction(1, 2), 1: Fraction(1, 4), 2: Fraction(1, 4)})\n"
    )
    if said is None:
        _loaded(text)  # the right answer is validated against CPython
        return
    with pytest.raises(DiagnosticError, match=said):
        _loaded(text)


@pytest.mark.parametrize("used", ["helper(x)", "x"])
def test_functions_of_the_file_do_not_know_constants_of_the_decorator(used: str) -> None:
    """Python raises a NameError in the called function; it may take the constant as an argument."""
    text = (
        "def helper(x):\n    return x + k\n\n\ndef exact(x):\n    return EXACT\n\n\n"
        f"@dipc.mechanism(k=2, ideal=exact)\ndef f(x: dipc.Finite[0:4], eps):\n    return {used}\n"
    )
    text = text.replace("EXACT", "x" if used != "x" else "x + k")
    with pytest.raises(DiagnosticError, match=r"`k` is a constant of the mechanism, which `(helper|exact)` does not"):
        _loaded(text)
    given = text.replace("helper(x)", "helper(x, k)", 1).replace("exact(x)", "exact(x, k)", 1)
    _loaded(given.replace("return helper(x)", "return helper(x, k)"))

"""Random programs: whatever is read is either refused by a diagnostic or means the same as its tree."""

from __future__ import annotations

from fractions import Fraction
from itertools import cycle
from random import Random

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from dipc.text import ast
from dipc.text.diagnostic import DiagnosticError, SourceText
from dipc.text.parser import parse
from dipc.text.printer import print_program
from dipc.text.statements import lower
from tests.patience import examples
from tests.strategies.programs import programs
from tests.strategies.tall import tall_programs
from tests.text.instructions import listing
from tests.text.interpreters import CoreRun, Fault, TreeRun

HEADER = """\
program p;
const m = 3, half = 1/2;
domain color = {red, green};
domain d = {0..3};
input q[1..m] : real;
input x : d;
input flag : bool;
output out[1..m] : color = red;
output y : real = 0;
var r, s : real = 1;
var r0 : real;
var z, w : int = 0;
var b : bool = false;
var b0 : bool;
var n : d = 0;
var n0 : d;
var a[0..2] : d = 1;
"""
DOMAIN = tuple(map(Fraction, range(4)))
COLORS = ("red", "green")
REALS = ["y", "r", "s", "r0"]
DOMAINS = {
    **dict.fromkeys(["q", *REALS, "z", "w"]),
    **dict.fromkeys(["b", "b0", "flag"], (False, True)),
    **dict.fromkeys(["x", "n", "n0", "a", "d"], DOMAIN),
    **dict.fromkeys(["out", "color"], COLORS),
}
ELEMENTS = {f"{name}[{i}]" for name, low in (("q", 1), ("out", 1), ("a", 0)) for i in range(low, low + 3)}
START = {
    **{f"out[{i}]": "red" for i in (1, 2, 3)},
    **{f"a[{i}]": Fraction(1) for i in (0, 1, 2)},
    "y": Fraction(0),
    "r": Fraction(1),
    "s": Fraction(1),
    "z": Fraction(0),
    "w": Fraction(0),
    "b": False,
    "n": Fraction(0),
}


class Writer:
    """A writer of random statements: mostly well typed and in range, now and then not."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.choose = random.choice
        self.loops = ["i"]

    def rarely(self) -> bool:
        return self.random.random() < 0.02

    def number(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.4:
            return self.choose(["0", "1", "2", "half", "m", "x", "n", self.choose(self.loops), "n0", "a[1]"])
        left, right = self.number(depth - 1), self.number(depth - 1)
        forms = [f"({left} + {right})", f"({left} - {right})", f"({left})*({right})", f"-({left})", f"abs({left})"]
        forms += [f"max({left}, {right})", f"min({left})", f"({left})/2", f"a[{self.index(0, 2)}]"]
        return f"({left})/({right})" if self.rarely() else self.choose(forms)

    def index(self, low: int, high: int) -> str:
        if self.rarely():
            return self.number()
        return self.choose([f"{low}", f"{high}", f"max({low}, min({high}, {self.choose(['x', 'n', 'i', 'x - n'])}))"])

    def linear(self, variables: list[str], depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.4:
            return self.choose([*variables, self.number(1)])
        left, right = self.linear(variables, depth - 1), self.linear(variables, depth - 1)
        number = self.number(1)
        forms = [
            f"({left} + {right})",
            f"({left} - {right})",
            f"-({left})",
            f"({number})*({left})",
            f"({left})*({number})",
        ]
        return f"({left})/({number})" if self.random.random() < 0.1 else self.choose(forms)

    def real(self) -> str:
        variables = ["y", "r", "s", f"q[{self.index(1, 3)}]"]
        return self.linear([*variables, "r0"] if self.rarely() else variables)

    def integer(self) -> str:
        return self.linear(["z", "w"])

    def color(self) -> str:
        return self.choose([*COLORS, f"out[{self.index(1, 3)}]"])

    def condition(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.3:
            compare, equal = self.choose(["<", "<=", "=", "!=", ">=", ">"]), self.choose(["=", "!="])
            numbers, reals = (self.number(), self.number()), (self.real(), self.real())
            forms = ["b", "flag", "true", "m = 2", "i = 1", f" {compare} ".join(numbers), f" {compare} ".join(reals)]
            forms += [
                f" {compare} ".join((self.integer(), self.integer())),
                f" {equal} ".join((self.color(), self.color())),
            ]
            return "b0" if self.rarely() else self.choose(forms)
        left, right = self.condition(depth - 1), self.condition(depth - 1)
        return self.choose([f"({left} and {right})", f"({left} or {right})", f"not ({left})"])

    def inside(self, low: int, high: int) -> str:
        """A number, in the range unless rarely."""
        return self.number() if self.rarely() else f"max({low}, min({high}, {self.choose(['x', 'n', '2', '1', 'i'])}))"

    def simple(self) -> str:
        real, boolean = self.choose(["y", "r", "s", "r0"]), self.choose(["b", "b0"])
        forms = [
            f"{self.choose(['n', 'n0'])} <- {self.inside(0, 3)}",
            f"a[{self.index(0, 2)}] <- {self.inside(0, 3)}",
            f"out[{self.index(1, 3)}] <- {self.color()}",
            f"{real} <- {self.real()}",
            f"{boolean} <- {self.condition()}",
            f"{boolean} <- {self.condition()}",
            f"{real} <- Lap(eps/m, {self.real()})",
            f"z <- DLap(i*eps, {self.choose(['z', 'w - x', '2*n', '1'])})",
            f"{self.choose(['z', 'w'])} <- {self.choose(['z', 'w - x*z', '2*n', '-(z - 3)'])}",
            f"n <- choose {{0 : half, {self.inside(0, 3)} : 1/2}}",
            f"n <- Exp(eps, v in d : v*({self.number()}) - {self.number()})",
        ]
        return "exit" if self.rarely() else self.choose(forms)

    def statement(self, depth: int = 3, *, looping: bool = False) -> str:
        if depth == 0 or self.random.random() < 0.5:
            return (
                self.choose(["n <- 2", "b <- not b", "out[n] <- green", "n <- max(n - 1, 0)"])
                if looping
                else self.simple()
            )
        block = self.block(depth - 1, looping=looping)
        kind = self.choose(["if", "if", "else", "for", "while"])
        if kind == "if":
            return f"if {self.condition()} then {block} end"
        if kind == "else":
            return f"if {self.condition()} then {block} else {self.block(depth - 1, looping=looping)} end"
        if kind == "while":
            condition = f"{self.condition(1)} and n < {self.choose('23')}"
            return f"while {condition} do {self.block(depth - 1, looping=True)}; n <- n + 1 end"
        name = f"j{len(self.loops)}"
        low, high = self.choose("01"), self.choose(["2", "m - 1", self.loops[-1], "0"])
        self.loops.append(name)
        block = self.block(depth - 1, looping=looping)
        self.loops.pop()
        return f"for {name} in {low}..{high} do {block} end"

    def block(self, depth: int, *, looping: bool = False) -> str:
        return "; ".join(self.statement(depth, looping=looping) for _ in range(self.random.randint(1, 3)))


def written(seed: int) -> str:
    return f"for i in 1..2 do {Writer(Random(seed)).block(3)} end"


BODIES = st.integers(0, 2**32).map(written)
RATIONALS = st.fractions(-3, 3, max_denominator=3)
INPUTS = st.fixed_dictionaries(
    {
        **{f"q[{i}]": RATIONALS for i in (1, 2, 3)},
        "x": st.sampled_from(DOMAIN),
        "flag": st.booleans(),
    }
)
DRAWS = st.lists(st.integers(-3, 3).map(Fraction), min_size=1, max_size=8)


@given(BODIES, INPUTS, DRAWS)
def test_instructions_mean_what_the_tree_means(body: str, inputs: dict[str, object], draws: list[Fraction]) -> None:
    source = SourceText("p.dip", HEADER + body)
    tree = parse(source)
    try:
        program = lower(tree, source)
    except DiagnosticError as error:
        event(f"refused: {error.diagnostics[0].code}")
        assume(False)
        return
    tree_run = TreeRun(DOMAINS, {**START, **inputs}, ELEMENTS)
    tree_run.constants.update({"m": Fraction(3), "half": Fraction(1, 2)})
    expected = outcome(lambda: tree_run.run(tree.body, cycle(draws)))
    found = outcome(lambda: CoreRun(program, inputs).run(cycle(draws)))
    event(expected if isinstance(expected, str) else "runs")
    assert found == expected, listing(program)


def outcome(run: object) -> object:
    try:
        return run()  # type: ignore[operator]
    except Fault as fault:
        return str(fault)


@given(BODIES)
def test_random_statements_are_accepted_or_refused_by_a_diagnostic(body: str) -> None:
    check(SourceText("p.dip", HEADER + body))


@settings(max_examples=examples(4))
@given(programs())
def test_random_trees_are_accepted_or_refused_by_a_diagnostic(program: ast.ProgramTree) -> None:
    check(SourceText("p.dip", print_program(program)))


def check(source: SourceText) -> None:
    try:
        program = lower(parse(source), source)
    except DiagnosticError as error:
        for diagnostic in error.diagnostics:
            assert diagnostic.code[:3] in ("E02", "E03")
            assert diagnostic.notes
    else:
        listing(program)


@pytest.mark.parametrize("name", tall_programs(200))
def test_tall_programs(name: str) -> None:
    source = SourceText("p.dip", tall_programs(200)[name])
    with pytest.raises(DiagnosticError):
        lower(parse(source), source)

"""A small interpreter of DiPC's input format, and random programs in it. It shares nothing with what imports them.

A program is the range of its integers and statements, which end with `;`. Runs take their draws from a script.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

_WORD = re.compile(r'"[^"]*"|(?:Prob)?\[[^\]]*\]|-?\d+|[A-Za-z_]\w*|==|!=|<=|>=|&&|\|\||[-+*<>=%!;]')


class OutOfRange(Exception):
    """An integer leaves its range: the program means nothing there."""


class Unassigned(Exception):
    """A variable is read before it has a value."""


class Returned(Exception):
    """The program ends; the values of the variables returned."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        super().__init__(values)
        self.values = values


class Script(Protocol):
    """Chooses what a run draws."""

    def coin(self, weight: Fraction) -> bool:
        """Whether a weighted statement is executed."""

    def noise(self, law: str, rate: str) -> Fraction:
        """A draw around 0."""

    def clamped(self, rate: str, center: int, low: int, high: int) -> int:
        """Discrete noise around a center, with what is beyond the range put at its ends."""


@dataclass
class DipcProgram:
    """A program of the format: its words, run from the first to the last."""

    words: list[str]
    low: int
    high: int
    inputs: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    @staticmethod
    def parse(text: str) -> DipcProgram:
        """The program in a text, with the values of its inputs."""
        first, _, rest = text.partition("\n")
        low, high = map(int, first.split())
        program = DipcProgram(_WORD.findall(rest), low, high)
        for place, word in enumerate(program.words):
            if word == "input":
                kind, name, *ends = program.words[place + 1 : place + 5]
                values = (False, True) if kind == "bool" else tuple(range(int(ends[0]), int(ends[1]) + 1))
                program.inputs[name] = values
        return program

    def run(self, given: Sequence[Any], script: Script) -> tuple[Any, ...]:
        """The values returned. Raises OutOfRange and Unassigned."""
        run = _Run(self, dict(zip(self.inputs, given, strict=True)), script)
        try:
            run.block(0, executed=True)
        except Returned as end:
            return end.values
        raise AssertionError("every program returns")


class _Run:
    def __init__(self, program: DipcProgram, values: dict[str, Any], script: Script) -> None:
        self.words = program.words
        self.values = values
        self.script = script
        self.ranges: dict[str, tuple[int, int]] = {}
        self.kinds = {name: "bool" if isinstance(value, bool) else "int" for name, value in values.items()}
        for name, inside in program.inputs.items():
            if not isinstance(inside[0], bool):
                self.ranges[name] = min(program.low, inside[0]), max(program.high, inside[-1])
        self.low, self.high = program.low, program.high

    def block(self, place: int, *, executed: bool) -> int:
        """Run statements up to `else`, `fi` or the end; the place there."""
        while place < len(self.words) and self.words[place] not in ("else", "fi"):
            place = self.statement(place, executed=executed)
        return place

    def statement(self, place: int, *, executed: bool) -> int:
        words = self.words
        word = words[place]
        if word == "if":
            truth = executed and self.value(words[place + 1]) is True
            after = self.block(place + 3, executed=executed and truth)
            if words[after] == "else":
                after = self.block(after + 1, executed=executed and not truth)
            return after + 1
        if "[" in word:
            weight = Fraction(word.removeprefix("Prob")[1:-1])
            return self.statement(place + 1, executed=executed and self.script.coin(weight))
        end = words.index(";", place)
        body = words[place:end]
        if executed or body[0] in ("int", "bool", "real"):
            self.simple(body)
        return end + 1

    def simple(self, body: Sequence[str]) -> None:
        match body:
            case ["input", *_]:
                pass
            case ["int", name]:
                self.kinds[name], self.ranges[name] = "int", (self.low, self.high)
            case ["bool" | "real" as kind, name]:
                self.kinds[name] = kind
            case ["return", *names]:
                raise Returned(tuple(map(self.value, names)))
            case [name, "=", "Lap" | "DLap" | "Exp" as law, rate, mean]:
                self.store(name, self.value(mean) + self.script.noise(law, rate.strip('"')))
            case [name, "=", "TDLap", rate, center, low, high]:
                value = self.script.clamped(rate.strip('"'), self.value(center), int(low), int(high))
                self.store(name, value)
            case [name, "=", "!", value]:
                self.store(name, not self.value(value))
            case [name, "=", left, operator, right]:
                self.store(name, _OPERATORS[operator](self.value(left), self.value(right)))
            case [name, "=", value]:
                self.store(name, self.value(value))
            case _:
                raise AssertionError(body)

    def value(self, word: str) -> Any:
        if re.fullmatch(r"-?\d+", word):
            return int(word)
        if word in ("true", "false"):
            return word == "true"
        if word not in self.values:
            raise Unassigned
        return self.values[word]

    def store(self, name: str, value: Any) -> None:
        if self.kinds[name] == "int" and name in self.ranges:
            low, high = self.ranges[name]
            if not low <= value <= high:
                raise OutOfRange
        self.values[name] = value


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "%": lambda a, b: int(math.fmod(a, b)),
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "&&": lambda a, b: a and b,
    "||": lambda a, b: a or b,
}


def clamped_weights(rate: float, center: int, low: int, high: int) -> dict[int, float]:
    """The law of clamped discrete Laplace noise, added up from its masses."""
    z = math.exp(-rate)
    weights = dict.fromkeys(range(low, high + 1), 0.0)
    for far in range(-200, 201):
        weights[min(max(center + far, low), high)] += (1 - z) / (1 + z) * z ** abs(far)
    return weights


def random_program(seed: int) -> str:
    """A program with finite variables alone, or with real ones and noise."""
    numbers = random.Random(seed)
    noisy = numbers.random() < 0.5
    ints, bools, reals = ["a", "b", "x"], ["p", "t", "y"], ["r", "s", "w"] if noisy else []
    lines = ["-2 3", "input int x 0 1 ;", "input bool y ;"]
    lines += [f"int {name} ;" for name in ("a", "b")] + [f"bool {name} ;" for name in ("p", "t")]
    lines += [f"real {name} ;" for name in reals]
    lines += [f"a = {numbers.randint(-1, 2)} ;", "b = x ;", "p = false ;", "t = y ;"]
    for name in reals:
        lines.append(f'{name} = {numbers.choice(["Lap", "Exp"])} "{numbers.choice(["eps", "eps/2", "2*eps"])}" 0 ;')

    def value() -> str:
        return numbers.choice([*ints, str(numbers.randint(-1, 2))])

    def compared() -> str:
        return numbers.choice(["<", "<=", ">", ">=", "==", "!="])

    def simple() -> str:
        kinds = ["copy", "sum", "not", "compare", "logic", "remainder", "clamped"]
        kinds += ["noise", "real", "order"] * 2 * noisy
        name, truth = numbers.choice(ints), numbers.choice(bools)
        match numbers.choice(kinds):
            case "copy":
                return f"{name} = {value()} ;"
            case "sum":
                return f"{name} = {value()} {numbers.choice('+-*')} {value()} ;"
            case "not":
                return f"{truth} = ! {numbers.choice(bools)} ;"
            case "compare":
                return f"{truth} = {value()} {compared()} {value()} ;"
            case "logic":
                return f"{truth} = {numbers.choice(bools)} {numbers.choice(['&&', '||'])} {numbers.choice(bools)} ;"
            case "remainder":
                return f"{name} = {numbers.choice(ints)} % {numbers.choice([2, 3])} ;"
            case "clamped":
                return f'{name} = TDLap "eps" {numbers.choice([*ints, "1"])} -1 2 ;'
            case "noise":
                law, rate = numbers.choice(["Lap", "Exp"]), numbers.choice(["eps", "eps/3"])
                return f'{numbers.choice(reals)} = {law} "{rate}" {numbers.choice([*reals, "1"])} ;'
            case "real":
                one, two, three = (numbers.choice(reals) for _ in range(3))
                return f"{one} = {two} {numbers.choice('+-')} {three} ;"
        return f"{truth} = {numbers.choice(reals)} {numbers.choice(['<', '<=', '>', '>='])} {numbers.choice(reals)} ;"

    def statements(count: int, deep: int) -> Iterator[str]:
        for _ in range(count):
            chosen = numbers.random()
            if chosen < 0.25 and deep < 2:
                yield f"if {numbers.choice(bools)} then"
                yield from statements(numbers.randint(1, 2), deep + 1)
                if numbers.random() < 0.5:
                    yield "else"
                    yield from statements(numbers.randint(1, 2), deep + 1)
                yield "fi"
            elif chosen < 0.4:
                yield f"Prob[{numbers.choice(['1/2', '1/3', '3/4'])}] {simple()}"
            else:
                yield simple()

    lines += statements(numbers.randint(2, 6), 0)
    returned = numbers.sample(["a", "b", "p", "t", "x", "y"], numbers.randint(1, 3))
    if noisy and numbers.random() < 0.6:
        returned.append(numbers.choice(reals))
    lines.append(f"return {' '.join(returned)} ;")
    return "\n".join(lines) + "\n"

"""Random mechanisms in Python, made of what ordinary code is made of, as texts of files.

A function has finite inputs and choices, or real and int inputs and noise. All of its numbers are small, all of its
loops end, and some of its statements are odd on purpose: names of the file are assigned inside, None meets numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

HEAD = """from fractions import Fraction

import dipc

K = 2
T = Fraction(1, 2)
BIG = 5


def clamp(x, low=0, high=3):
    if x < low:
        return low
    if x > high:
        return high
    return x


def first_above(xs, bound):
    for i, x in enumerate(xs):
        if x > bound:
            return i
    return None


def twice(x):
    return x + x


def total_of(xs):
    total = 0
    for x in xs:
        total += x
    return total


def shifted(x):
    return x + K


"""

HALF = "Fraction(1, 2)"


@dataclass
class Scope:
    """The variables that every path has assigned, by kind; lists with their length, None where that is not known."""

    ints: list[str] = field(default_factory=list)
    maybe: list[str] = field(default_factory=list)
    bools: list[str] = field(default_factory=list)
    reals: list[str] = field(default_factory=list)
    lists: dict[str, int | None] = field(default_factory=dict)
    functions: list[str] = field(default_factory=list)

    def copy(self) -> Scope:
        return Scope([*self.ints], [*self.maybe], [*self.bools], [*self.reals], {**self.lists}, [*self.functions])


class Writer:
    """Writes one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.depth = 1
        self.scope = Scope()
        self.fresh = 0
        self.draws = 0
        self.loops = 0
        self.noisy = self.random.random() < 0.3
        self.shape: Callable[[], str] = self.int

    # --- parts --------------------------------------------------------------------------------------

    def pick(self, *options: Callable[[], str] | str) -> str:
        chosen = self.random.choice(options)
        return chosen if isinstance(chosen, str) else chosen()

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def name(self, stem: str = "v") -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    @contextmanager
    def block(self, line: str) -> Iterator[None]:
        self.write(line)
        self.depth += 1
        kept = self.scope
        self.scope = kept.copy()
        before = len(self.lines)
        try:
            yield
        finally:
            if len(self.lines) == before:
                self.write("pass")
            self.depth -= 1
            self.scope = kept

    # --- expressions --------------------------------------------------------------------------------

    def small(self) -> str:
        return str(self.random.randint(-1, 4))

    def int(self, depth: int = 0) -> str:
        options: list[Callable[[], str] | str] = [self.small, self.small]
        options += self.scope.ints * 3
        if depth < 2:
            options += [
                lambda: f"{self.int(depth + 1)} {self.pick('+', '-', '+')} {self.int(depth + 1)}",
                lambda: f"({self.int(depth + 1)} if {self.bool(depth + 1)} else {self.int(depth + 1)})",
                lambda: f"{self.pick('min', 'max')}({self.int(depth + 1)}, {self.int(depth + 1)})",
                lambda: f"abs({self.int(depth + 1)})",
                lambda: f"clamp({self.int(depth + 1)})",
                lambda: f"clamp({self.int(depth + 1)}, high={self.small()})",
                lambda: f"twice({self.int(depth + 1)})",
                lambda: f"shifted({self.int(depth + 1)})",
                lambda: f"{self.int(depth + 1)} * {self.pick('2', 'K', '-1')}",
                lambda: f"{self.int(depth + 1)} {self.pick('*', '+')} T" if self.chance(0.1) else self.int(depth + 1),
                "K",
                "BIG",
            ]
            options += [lambda: f"{self.random.choice(self.scope.functions)}({self.int(depth + 1)})"] * min(
                3, 3 * len(self.scope.functions)
            )
            if self.scope.lists:
                options += [self.of_list, self.of_list, self.of_list]
        return self.pick(*options)

    def of_list(self) -> str:
        name, length = self.random.choice(list(self.scope.lists.items()))
        options: list[Callable[[], str] | str] = [f"len({name})", f"sum({name})", f"total_of({name})"]
        if length:
            place = self.random.randrange(length)
            options += [f"{name}[{place}]", f"{name}[-1]", f"{name}[{place}]", f"max({name})", f"min({name})"]
            options += [f"{name}.index(max({name}))", f"max(range({length}), key=lambda i: {name}[i])"]
            options += [f"sorted({name})[{place}]", f"sum({name}[{place}:])", f"sum({name}[:{place}])"]
            options += [f"sum(y for y in {name} if y > {self.small()})", f"{name}[::-1][0]"]
            if self.scope.ints:
                index = self.random.choice(self.scope.ints)
                options.append(f"{name}[clamp({index}, 0, {length - 1})]")
        return self.pick(*options)

    def bool(self, depth: int = 0) -> str:
        compared = self.pick("<", "<=", ">", ">=", "==", "!=")
        options: list[Callable[[], str] | str] = [
            lambda: f"{self.int(depth + 1)} {compared} {self.int(depth + 1)}",
            lambda: f"{self.int(depth + 1)} {compared} {self.small()}",
            *self.scope.bools,
            *self.scope.bools,
        ]
        if self.scope.reals:
            options += [self.real_comparison] * 4
        if self.scope.maybe:
            options += [
                lambda: f"{self.random.choice(self.scope.maybe)} is {self.pick('', 'not ')}None",
                lambda: f"{self.random.choice(self.scope.maybe)} {self.pick('==', '!=')} {self.small()}",
                lambda: f"{self.random.choice(self.scope.maybe)} == {self.random.choice(self.scope.maybe)}",
                self.guarded,
            ]
        if depth < 2:
            options += [
                lambda: f"({self.bool(depth + 1)} {self.pick('and', 'or')} {self.bool(depth + 1)})",
                lambda: f"not {self.bool(depth + 2)}",
                lambda: f"{self.int(depth + 1)} in ({self.small()}, {self.small()})",
                lambda: (
                    f"{self.small()} {self.pick('<', '<=')} {self.int(depth + 1)} {self.pick('<', '!=')} {self.small()}"
                ),
            ]
            if self.scope.lists:
                options += [
                    lambda: (
                        f"{self.pick('any', 'all')}(y {self.pick('>', '==')} {self.small()} "
                        f"for y in {self.random.choice(list(self.scope.lists))})"
                    ),
                    lambda: (
                        f"{self.int(depth + 1)} in {self.random.choice(list(self.scope.lists))}"
                        if self.chance(0.1)
                        else self.bool(depth + 1)
                    ),
                ]
        return self.pick(*options)

    def guarded(self) -> str:
        name = self.random.choice(self.scope.maybe)
        if self.chance(0.5):
            return f"({name} is not None and {name} {self.pick('>', '<=')} {self.small()})"
        return f"({name} is None or {name} {self.pick('>', '<')} {self.small()})"

    def real_comparison(self) -> str:
        compared = self.pick("<", "<=", ">", ">=")
        other = self.pick(self.small, "T", "BIG", lambda: self.random.choice(self.scope.reals))
        return f"{self.random.choice(self.scope.reals)} {compared} {other}"

    def real(self) -> str:
        names = self.scope.reals
        return self.pick(
            lambda: self.random.choice(names),
            lambda: f"{self.random.choice(names)} {self.pick('+', '-')} {self.random.choice(names)}",
            lambda: f"{self.random.choice(names)} + {self.pick('T', self.small)}",
            lambda: f"2 * {self.random.choice(names)}",
            lambda: f"{self.random.choice(names)} / 2",
        )

    def choice(self, keys: Sequence[str]) -> str:
        self.draws += 1
        weights = [HALF, HALF] if len(keys) == 2 else ["Fraction(1, 4)", HALF, "Fraction(1, 4)"]
        return f"dipc.choice({{{', '.join(f'{key}: {weight}' for key, weight in zip(keys, weights, strict=True))}}})"

    def noise(self) -> str:
        self.draws += 1
        mean = self.random.choice([*self.scope.reals, "0"]) if self.chance(0.8) else self.small()
        return self.pick(
            f"dipc.laplace({mean}, scale={self.pick('1', '2', 'K')} / eps)",
            f"dipc.laplace({mean}, rate=eps)",
            f"dipc.gaussian({mean}, sigma=1 / eps)",
            f"{mean} + dipc.exponential_noise(scale=2 / eps)",
        )

    def list_value(self) -> tuple[str, int | None]:
        """A list with its length."""
        length = self.random.randint(1, 3)
        elements = ", ".join(self.int(1) for _ in range(length))
        options: list[tuple[str, int | None]] = [
            (f"[{elements}]", length),
            (f"[{elements}]", length),
            (f"[{self.int(1)}] * {length}", length),
            (f"[{self.small()} + i for i in range({length})]", length),
            (f"[{self.int(1)} for _ in range({length})]", length),
        ]
        if self.scope.lists:
            name, known = self.random.choice(list(self.scope.lists.items()))
            if known:
                options += [
                    (f"[y + {self.small()} for y in {name}]", known),
                    (f"[clamp(y) for y in {name}]", known),
                    (f"sorted({name})", known),
                    (f"{name}[1:]", known - 1),
                    (f"{name} + [{self.int(1)}]", known + 1),
                    (f"[y if y > {self.small()} else {self.int(2)} for y in {name}]", known),
                    (f"[a + b for a, b in zip({name}, {name})]", known),
                    (f"list({name})", known),
                    (f"[y for y in {name} if y > {self.small()}]", None),
                ]
        return self.random.choice(options)

    # --- statements ---------------------------------------------------------------------------------

    def statements(self, count: int, deep: int) -> bool:
        """Write so many statements; whether the last one leaves the function or the loop."""
        return any(self.statement(deep) for _ in range(count))

    def statement(self, deep: int) -> bool:
        options: list[Callable[[int], bool]] = [
            self.assign_int,
            self.assign_int,
            self.assign_bool,
            self.assign_list,
            self.assign_list,
            self.assign_maybe,
            self.change,
            self.change,
            self.draw,
            self.draw,
            self.swap,
            self.closure,
        ]
        if deep < 3:
            options += [self.branch, self.branch, self.branch, self.loop, self.loop, self.early]
            options += [self.grow] if not self.loops or self.chance(0.1) else []
            options += [self.matching, self.waiting]
        if self.noisy:
            options += [self.draw] * 3
        return bool(self.random.choice(options)(deep))

    def assign_int(self, deep: int) -> bool:
        value = self.int()
        name = self.random.choice(self.scope.ints) if self.scope.ints and self.chance(0.3) else self.name()
        if name in ("x", "y"):
            name = self.name()
        self.write(f"{name} = {value}")
        self.scope.ints.append(name) if name not in self.scope.ints else None
        return False

    def assign_bool(self, deep: int) -> bool:
        name = self.name("b")
        self.write(f"{name} = {self.bool()}")
        self.scope.bools.append(name)
        return False

    def assign_list(self, deep: int) -> bool:
        value, length = self.list_value()
        name = self.name("xs")
        self.write(f"{name} = {value}")
        self.scope.lists[name] = length
        return False

    def assign_maybe(self, deep: int) -> bool:
        name = self.name("o")
        if self.scope.lists and self.chance(0.2):
            self.write(f"{name} = first_above({self.random.choice(list(self.scope.lists))}, {self.small()})")
        else:
            self.write(f"{name} = None")
            if self.chance(0.7):
                with self.block(f"if {self.bool()}:"):
                    self.write(f"{name} = {self.int(1)}")
        self.scope.maybe.append(name)
        return False

    def change(self, deep: int) -> bool:
        own = [name for name in self.scope.ints if name not in ("x", "y") and not name.startswith("i")]
        lists = [(name, length) for name, length in self.scope.lists.items() if length]
        if lists and self.chance(0.6):
            name, length = self.random.choice(lists)
            assert length
            self.write(f"{name}[{self.random.randrange(length)}] {self.pick('=', '+=', '=')} {self.int(1)}")
        elif own:
            self.write(f"{self.random.choice(own)} {self.pick('+=', '-=')} {self.int(1)}")
        return False

    def draw(self, deep: int) -> bool:
        if self.draws >= (5 if self.noisy else 3) or self.loops > 1:
            return False
        if self.noisy and self.scope.reals and self.chance(0.8):
            name = self.name("r")
            self.write(f"{name} = {self.noise() if self.chance(0.8) else self.real()}")
            self.scope.reals.append(name)
            return False
        if self.chance(0.5):
            name = self.name("b")
            self.write(f"{name} = {self.choice(['True', 'False'])}")
            self.scope.bools.append(name)
        else:
            name = self.name()
            one = self.int(1)
            keys = [one, self.int(1) if self.chance(0.05) else f"{one} + {self.random.randint(1, 2)}"]
            keys = keys if self.chance(0.6) else ["0", "1", "2"]
            self.write(f"{name} = {self.choice(keys)}")
            self.scope.ints.append(name)
        return False

    def swap(self, deep: int) -> bool:
        own = [name for name in self.scope.ints if name not in ("x", "y") and not name.startswith("i")]
        if len(own) > 1:
            one, two = self.random.sample(own, 2)
            self.write(f"{one}, {two} = {two}, {one}")
        return False

    def closure(self, deep: int) -> bool:
        if deep > 0 and self.chance(0.95):
            return False
        name, argument = self.name("g"), self.name("a")
        outer = self.scope
        with self.block(f"def {name}({argument}):"):
            self.scope.ints.append(argument)
            self.scope.maybe, self.scope.reals = [], []
            if self.chance(0.3):
                with self.block(f"if {argument} > {self.small()}:"):
                    self.write(f"return {self.int(1)}")
            self.write(f"return {self.int(1)}")
        outer.functions.append(name)
        if self.chance(0.3) and outer.ints:
            own = [each for each in outer.ints if each.startswith("v")]
            if own:
                self.write(f"{self.random.choice(own)} = {self.int(1)}")
        return False

    def branch(self, deep: int) -> bool:
        with self.block(f"if {self.bool()}:"):
            ends = self.statements(self.random.randint(1, 2), deep + 1)
        if self.chance(0.3):
            with self.block(f"elif {self.bool()}:"):
                self.statements(1, deep + 1)
                ends = False
        if self.chance(0.5):
            with self.block("else:"):
                return self.statements(self.random.randint(1, 2), deep + 1) and ends
        return False

    def loop(self, deep: int) -> bool:
        if self.loops > 1:
            return False
        index = self.name("i")
        lists = list(self.scope.lists)
        over, names = f"range({self.random.randint(1, 3)})", [index]
        line = f"for {index} in {over}:"
        if lists and self.chance(0.6):
            element = self.name("i")
            name = self.random.choice(lists)
            line, names = self.random.choice(
                [
                    (f"for {element} in {name}:", [element]),
                    (f"for {index}, {element} in enumerate({name}):", [index, element]),
                    (f"for {index}, {element} in zip({name}, {self.random.choice(lists)}):", [index, element]),
                    (f"for {index} in range(len({name})):", [index]),
                    (f"for {index} in reversed(range({self.random.randint(1, 3)})):", [index]),
                ]
            )
        self.loops += 1
        with self.block(line):
            self.scope.ints += names
            self.statements(self.random.randint(1, 2), deep + 1)
            if self.chance(0.3):
                with self.block(f"if {self.bool(1)}:"):
                    self.write(self.pick("break", "continue", "break"))
                self.statements(1, deep + 2)
        self.loops -= 1
        if self.chance(0.1):
            self.scope.ints.append(names[0])
        return False

    def early(self, deep: int) -> bool:
        with self.block(f"if {self.bool()}:"):
            self.give(deep)
        return False

    def grow(self, deep: int) -> bool:
        name = self.name("xs")
        self.write(f"{name} = []")
        if self.chance(0.6) and self.loops < 2:
            index = self.name("i")
            self.loops += 1
            with self.block(f"for {index} in range({self.random.randint(1, 3)}):"):
                self.scope.ints.append(index)
                if self.chance(0.6):
                    with self.block(f"if {self.bool(1)}:"):
                        self.write(f"{name}.append({self.int(1)})")
                        if self.chance(0.2):
                            self.write("break")
                else:
                    self.write(f"{name}.append({self.int(1)})")
            self.loops -= 1
        else:
            for _ in range(self.random.randint(1, 2)):
                if self.chance(0.5):
                    with self.block(f"if {self.bool(1)}:"):
                        self.write(f"{name}.append({self.int(1)})")
                else:
                    self.write(f"{name}.append({self.int(1)})")
        self.scope.lists[name] = None
        return False

    def matching(self, deep: int) -> bool:
        if not self.chance(0.05):
            return False
        with self.block(f"match {self.int(1)}:"):
            for value in self.random.sample(range(4), 2):
                with self.block(f"case {value}:"):
                    self.statements(1, deep + 1)
            if self.chance(0.5):
                with self.block("case _:"):
                    self.statements(1, deep + 1)
        return False

    def waiting(self, deep: int) -> bool:
        if self.draws >= 2 or self.loops or not self.chance(0.3):
            return False
        name = self.name("v")
        self.write(f"{name} = 0")
        with self.block(f"while {name} < 2:"):
            with self.block(f"if {self.choice(['True', 'False'])}:"):
                self.write("break")
            self.write(f"{name} += 1")
        self.draws += 1
        self.scope.ints.append(name)
        return False

    # --- answers ------------------------------------------------------------------------------------

    def give(self, deep: int) -> bool:
        self.write(f"return {'None' if self.chance(self.none) else self.shape()}")
        return True

    def shapes(self) -> Sequence[Callable[[], str]]:
        def maybe() -> str:
            return self.random.choice(self.scope.maybe) if self.scope.maybe else self.int()

        def some_list() -> str:
            wanted = list(self.scope.lists)
            return self.random.choice(wanted) if wanted and self.chance(0.8) else self.list_value()[0]

        shapes: list[Callable[[], str]] = [
            self.int,
            self.bool,
            maybe,
            some_list,
            some_list,
            lambda: f"{self.int()}, {self.bool()}",
            lambda: f"{maybe()}, {self.int()}",
            lambda: f"{some_list()}, {some_list()}",
            lambda: f"{some_list()}, {self.int()}",
            lambda: f"[{self.int()}, {self.int()}]",
            lambda: f"[{maybe()}, {maybe()}]",
        ]
        if self.noisy:
            shapes += [self.real_answer] * 3
        return shapes

    def real_answer(self) -> str:
        return self.real() if self.scope.reals else "T"

    def text(self) -> str:
        """The function, as a file with the helpers above it."""
        self.none = self.random.choice([0.0, 0.0, 0.3])
        if self.noisy:
            header = self.pick("x: dipc.Real, y: dipc.Finite[0:3]", "x: dipc.Real, y: bool", 'q: dipc.Reals["2"]')
            header = header.replace('dipc.Reals["2"]', "dipc.Reals[2]")
            self.scope.reals += ["q[0]", "q[1]"] if header.startswith("q") else ["x"]
            if "Finite" in header:
                self.scope.ints.append("y")
            elif "bool" in header:
                self.scope.bools.append("y")
        else:
            header = "x: dipc.Finite[0:4], y: dipc.Finite[0:3]"
            self.scope.ints += ["x", "y"]
        self.shape = self.random.choice(self.shapes())
        self.statements(self.random.randint(2, 6), 0)
        if not self.chance(0.03):
            self.give(0)
        return HEAD + f"@dipc.mechanism\ndef f({header}, eps):\n" + "\n".join(self.lines) + "\n"


def function_text(seed: int) -> str:
    """The file of one random function; equal seeds give equal files."""
    return Writer(seed).text()

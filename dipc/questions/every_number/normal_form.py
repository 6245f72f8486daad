"""Programs with loops up to m as texts that all arguments for every m are about: indices from low to m, one loop, marks
in the place of rates.

    q[0..m-1], for i in 0..m-1      is   q[1..m], for i in 1..m:

an index is nothing but a name of the element. Where all arrays and loops that depend on m end at m + c for one number
c, indices are counted from another number, so that they end at m; an output whose values are indices is renamed with
them. Several loops become one (`one_loop`). What a program with rates such as eps/(2*m) does is found with marks in the
place of its rates, the same mark for equal ones: the runs are those for every number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

from dipc.algebra.limits import LimitReached
from dipc.program.program import Program, load_source
from dipc.questions.every_number.in_number import ONE, InNumber, Ratio, Summands, constant, rate_of, sign_from
from dipc.questions.every_number.loop_heads import TooFew
from dipc.questions.every_number.one_loop import changed, with_one_loop
from dipc.questions.every_number.uniform import NotUniform, Number, parameter_arrays
from dipc.text import ast
from dipc.text.ast import mentions, walk
from dipc.text.declarations import computed_from
from dipc.text.diagnostic import DiagnosticError, Source
from dipc.text.parser import parse
from dipc.text.printer import print_program
from dipc.text.program import CoreProgram

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LoopText:
    """A program whose indices end at the parameter, with marks for its rates where these depend on it. `source` is what
    the tree was read from, None where it was made."""

    program: Program
    number: Number
    tree: ast.Program
    rates: Rates | None
    source: Source | None

    @staticmethod
    def of(program: Program, parameter: str) -> LoopText:
        """Raises NotUniform for rates that cannot be followed."""
        core = program.core
        own = parse(core.source)
        number = Number(parameter, computed_from(own.declarations, core.given, parameter))
        tree = indices_to_the_end(own, number)
        found = marked(tree, number, Constants.of(own, core, number))
        if found is None:
            return LoopText(program, number, tree, None, core.source if tree == own else None)
        if core.only_at is not None:
            raise NotUniform(f"a rate depends on `{parameter}`, and the program is read at one eps alone")
        return LoopText(program, number, found[0], found[1], None)

    def with_tree(self, tree: ast.Program) -> LoopText:
        """The same with another program in its place."""
        return self if tree == self.tree else replace(self, tree=tree, source=None)

    def with_one_loop(self) -> LoopText:
        """The same with one loop up to the parameter, read. Raises NotUniform where there is none."""
        return self.with_tree(with_one_loop(self.tree, self.number, parameter_arrays(self.tree, self.number))).read()

    def read(self) -> LoopText:
        """The same, printed and read anew unless it was read."""
        if self.source is not None:
            return self
        source = Source("<one loop>", print_program(self.tree))
        return replace(self, tree=parse(source), source=source)

    def instance(self, number: int) -> Program:
        """The program for one number; the tree was read. Raises NotUniform where it is refused."""
        assert self.source is not None, "places in the tree are places in a text"
        core = self.program.core
        # The others are computed from it, where the text says so.
        constants = {**core.given, self.number.parameter: Fraction(number)}
        try:
            return load_source(self.source, constants, core.only_at).with_limits(self.program.limits)
        except DiagnosticError:
            raise NotUniform(f"the program is refused for {self.number.parameter} = {number}") from None


def with_enough_iterations(explored: Callable[[int], T], most: int) -> tuple[T, int]:
    """What is explored with a number of iterations, at most `most`, that is not too few, and this number. Raises
    LimitReached."""
    count = 2
    while count <= most:
        try:
            return explored(count), count
        except TooFew:
            count *= 2
    raise LimitReached("iterations", f"the loop still reaches new states after {most} iterations")


def indices_to_the_end(tree: ast.Program, number: Number) -> ast.Program:
    """The same program with indices that end at the parameter, where they all end at one number more or less; itself
    where they do not, or where an index is more than a name of an element."""
    parameter = number.parameter
    ranges = [node for node in walk(tree) if isinstance(node, ast.For | ast.Declarator | ast.Each)]
    ends = {_beyond(node.high, parameter) for node in ranges if mentions(node.high, parameter)}
    if len(ends) != 1 or not (beyond := ends.pop()):
        return tree
    arrays = {node.name for node in ranges if isinstance(node, ast.Declarator) and mentions(node.high, parameter)}
    loops = {
        node.variable for node in ranges if isinstance(node, ast.For | ast.Each) and mentions(node.high, parameter)
    }
    moved = _Moved(
        parameter, -beyond, frozenset(arrays), frozenset(loops), _holding_indices(tree, loops, parameter, beyond)
    )
    return changed(tree, moved.node) if moved.is_sound(tree) else tree


def _beyond(high: ast.Expr | None, parameter: str) -> int | None:
    """The c where the end is the parameter + c."""
    match high:
        case ast.Name(name=name) if name == parameter:
            return 0
        case ast.Binary(op=op, left=ast.Name(name=name), right=ast.Number(value=value)) if name == parameter:
            sign = {ast.BinaryOp.ADD: 1, ast.BinaryOp.SUBTRACT: -1}.get(op, 0)
            return sign * int(value) if sign and value.denominator == 1 else None
    return None


def _holding_indices(tree: ast.Program, loops: set[str], parameter: str, beyond: int) -> frozenset[str]:
    """The outputs that are given loop variables and numbers only, and are not read: their domain goes up to the end."""
    found: set[str] = set()
    for declaration in tree.declarations:
        match declaration:
            case ast.VariableDecl(
                role=ast.Role.OUTPUT,
                declarators=(ast.Declarator(name=name, high=None),),
                type=ast.RangeDomain(low=ast.Number(), high=high),
                initial=ast.Number(),
            ) if _beyond(high, parameter) == beyond:
                given = [node.value for node in walk(tree) if isinstance(node, ast.Assign) and _is(node.target, name)]
                uses = [node for node in walk(tree) if _is(node, name)]
                indices = [value for value in given if isinstance(value, ast.Name) and value.name in loops]
                if len(uses) == len(given) and all(isinstance(v, ast.Number) or v in indices for v in given):
                    found.add(name)
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class _Moved:
    """Indices of the `arrays`, values of the `loops`' variables and of what is `holding` them, `by` a number more."""

    parameter: str
    by: int
    arrays: frozenset[str]
    loops: frozenset[str]
    holding: frozenset[str]

    def is_sound(self, tree: ast.Program) -> bool:
        """Whether loop variables are whole indices of the arrays, and values of what holds indices, alone."""
        variables = [node for node in walk(tree) if isinstance(node, ast.Name) and node.name in self.loops]
        elements = [node for node in walk(tree) if isinstance(node, ast.Element)]
        own = [node for node in elements if node.name.rstrip("'") in self.arrays]
        if any(not isinstance(node.index, ast.Number | ast.Name) for node in own):
            return False
        if any(isinstance(node.index, ast.Name) and node.index.name not in self.loops for node in own):
            return False
        held = [
            node
            for node in walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.target, ast.Name) and node.target.name in self.holding
        ]
        as_index = sum(isinstance(node.index, ast.Name) for node in own)
        as_value = sum(isinstance(node.value, ast.Name) for node in held)
        return len(variables) == as_index + as_value

    def node(self, node: Any) -> Any:
        match node:
            case ast.For() | ast.Each() | ast.Declarator() | ast.RangeDomain() if mentions(node.high, self.parameter):
                if isinstance(node, ast.RangeDomain):
                    return node
                low = self._more(node.low)
                return replace(node, low=low, high=ast.Name(self.parameter))
            case ast.For(low=low, high=high) if node.variable in self.loops:
                return replace(node, low=self._more(low), high=self._more(high))
            case ast.Element(name=name, index=ast.Number() as index) if name.rstrip("'") in self.arrays:
                return replace(node, index=self._more(index))
            case ast.VariableDecl(declarators=(ast.Declarator(name=name),), type=ast.RangeDomain(low=low)) if (
                name in self.holding
            ):
                type_ = ast.RangeDomain(self._more(low), ast.Name(self.parameter))
                return replace(node, type=type_, initial=self._more(node.initial))
            case ast.Assign(target=ast.Name(name=name), value=ast.Number() as value) if name in self.holding:
                return replace(node, value=self._more(value))
        return node

    def _more(self, index: Any) -> ast.Expr:
        """The index that is counted anew."""
        if isinstance(index, ast.Number):
            value = index.value + self.by
            return ast.Number(value, str(value))
        raise NotUniform("a loop, or an array, does not begin at a given index")


def _is(node: object, name: str) -> bool:
    return isinstance(node, ast.Name) and node.name == name


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of a program by their marks, 1, 2, … in this order, as multiples of eps; what was divided by in them is
    among the `divisors`."""

    of_marks: tuple[Ratio, ...]
    divisors: tuple[Ratio, ...]

    def require_positive(self, start: int, parameter: str) -> None:
        """Raises NotUniform where a rate is not seen to be positive for every number from `start` on."""
        for rate in self.of_marks:
            if not rate.is_positive_from(start):
                raise NotUniform(f"the rate {rate.text(parameter)} is not seen to be positive for every `{parameter}`")
        if not all(sign_from(part, start) for ratio in self.divisors for part in (ratio.numerator, ratio.denominator)):
            raise NotUniform(f"a rate divides by something that may be 0 for some `{parameter}`")


@dataclass(frozen=True, slots=True)
class Constants:
    """The constants of a program as functions of the parameter, but for those that are no quotients of polynomials in
    it; and what was divided by in them."""

    values: Mapping[str, Summands]
    divisors: tuple[Ratio, ...]

    @staticmethod
    def of(tree: ast.Program, core: CoreProgram, number: Number) -> Constants:
        varying = (number.parameter, *number.others)
        values = {name: constant(value) for name, value in core.constants.items() if name not in varying}
        divisors: list[Ratio] = []
        for declaration in tree.declarations:
            for name, value in declaration.bindings if isinstance(declaration, ast.ConstDecl) else ():
                if name in number.others:
                    evaluation = InNumber(f"the constant `{name}`", number.parameter, dict(values), ONE)
                    with suppress(NotUniform):
                        values[name] = evaluation.value(value)
                        divisors += evaluation.divisors
        return Constants(values, tuple(divisors))


def marked(tree: ast.Program, number: Number, constants: Constants) -> tuple[ast.Program, Rates] | None:
    """The program with marks for its rates, and what they stand for; None where none of them depends on the number.
    Raises NotUniform for a rate that is no multiple of eps by a quotient of polynomials in the number."""
    noises = [found for found in walk(tree.body) if isinstance(found, ast.Noise) and found.law.scales]
    varying = (number.parameter, *number.others)
    if not any(mentions(noise.rate, name) for noise in noises for name in varying):
        return None
    loops = [found.variable for found in walk(tree.body) if isinstance(found, ast.For)]
    evaluation = InNumber("a rate", number.parameter, constants.values, ONE, list(constants.divisors))
    found: list[Ratio] = []

    def mark(node: Any) -> Any:
        if not isinstance(node, ast.Noise) or not node.law.scales:
            return node
        if any(mentions(node.rate, variable) for variable in loops):
            raise NotUniform("a rate depends on the index", node.rate.span)
        rate = rate_of(evaluation, node.rate)
        if rate not in found:
            found.append(rate)
        known = found.index(rate) + 1
        factor = ast.Number(Fraction(known), str(known))
        return replace(node, rate=ast.Binary(ast.BinaryOp.MULTIPLY, factor, ast.Eps()))

    body = changed(tree.body, mark)
    return replace(tree, body=body), Rates(tuple(found), tuple(evaluation.divisors))


def rate_of_mark(rates: Rates | None, rate: Fraction) -> Ratio:
    """What stands for eps times the `rate` in a program: that of the mark where there are `rates`, else this number."""
    return Ratio.constant(rate) if rates is None else rates.of_marks[int(rate) - 1]

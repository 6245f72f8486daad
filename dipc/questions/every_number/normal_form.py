"""Programs with loops up to m in normal form, for all arguments about every m: one loop, and rates without m.

Several loops, and parts that do not share variables, become one loop. Rates such as eps/(2*m) are replaced by marks,
the same mark for equal rates: the program with marks has the same runs for every m, except for the rates.

**Several loops** over the same queries, one after the other, are a single loop:

    S0; for i in low..m do A end; S1; for j in low..m do B end; S2

is S0; S1; for i in low..m do A; B[i for j] end; S2, where B(i) commutes with A(k) for every k > i, and S1 with A:

- Arrays up to m are used in the loops alone, with the loop's variable as the index (which `uniform` requires of the
  single loop). A(k) and B(i) have no element in common, and each element is read and written in the same order.
- No scalar is written by one of A and B (or S1) and read or written by the other. A scalar of the second part that is
  written there before it is read is another variable, and is renamed.
- A and S1 do not exit. If B does, the rest of the program is not executed afterwards, except for the A's: a flag
  replaces the exit.

Draws are independent of each other, so that their order does not matter, and the outputs have the same law.

**Separate parts** are a selection loop, and the rest of the program:

    S;  best <- Lap(a*eps, q[1]); for i in 2..m do ... end;  T

The loop reads only inputs and its own variables. Neither S nor T reads a variable that the loop writes (unless T writes
to it first), no other statement assigns the loop's answer, and S does not exit. The answer therefore has the law that
it has in the loop alone, and the other outputs have the law that they have without the loop. The ideal has to satisfy
the same conditions.

**Lemma.** The answers of such a program are pairs of answers of its parts. If two inputs have different answers of one
part, their answers of the program differ, too. So dd(u) of the program is at most dd(u) of each part. The error
probability of the program is at most the sum of those of the two parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import Any, TypeGuard, TypeVar, assert_never

from dipc.algebra.limits import LimitReached
from dipc.frozen import frozen
from dipc.program.clipped import without_accuracy
from dipc.program.program import Program
from dipc.questions.every_number.in_number import ONE, InNumber, RationalFunction, constant, rate_of
from dipc.questions.every_number.index_answers import with_index_answers
from dipc.questions.every_number.loop_runs import TooFew
from dipc.questions.every_number.selections import with_plain_selection
from dipc.questions.every_number.uniform import (
    IndexIsAValue,
    NotUniform,
    QueryNumber,
    SelectionLoop,
    last_offset,
    parameter_arrays,
    selection_of,
    used_names,
)
from dipc.text import ast
from dipc.text.ast import is_name, mentions, rewritten, walk
from dipc.text.declarations import computed_from
from dipc.text.diagnostic import DiagnosticError, SourceText
from dipc.text.parser import parse
from dipc.text.printer import print_program
from dipc.text.program import CoreProgram

Block = tuple[ast.Statement, ...]


def with_one_loop(program: ast.ProgramTree, number: QueryNumber, arrays: frozenset[str]) -> ast.ProgramTree:
    """Return `program` with its loops up to m joined into one loop; the loops of its ideal are joined, too.

    `number` is m, and `arrays` are the names of the arrays whose last index is m. The program is unchanged if it has at
    most one loop up to m, and its ideal has at most one, too. Raises NotUniform if the loops depend on each other.
    """
    used = used_names(program)
    names = (name for position in count(1) if (name := f"other_{position}") not in used)
    own = tuple(declaration for declaration in program.declarations if isinstance(declaration, ast.VariableDecl))
    body, added = _Fusion(number, arrays, own, names).fused(program.body)
    declarations: list[ast.Declaration] = []
    for declaration in program.declarations:
        if isinstance(declaration, ast.IdealDecl):
            outputs = tuple(decl for decl in own if decl.role is not ast.Role.VAR)
            fusion = _Fusion(number, arrays, (*outputs, *declaration.declarations), names)
            inner, more = fusion.fused(declaration.body)
            variables = (*declaration.declarations, *more)
            declarations.append(replace(declaration, declarations=variables, body=inner))
        else:
            declarations.append(declaration)
    return replace(program, declarations=(*declarations, *added), body=body)


@dataclass(slots=True)
class _Fusion:
    number: QueryNumber
    arrays: frozenset[str]
    variables: tuple[ast.VariableDecl, ...]
    names: Iterator[str]

    def fused(self, body: Block) -> tuple[Block, tuple[ast.VariableDecl, ...]]:
        """Return (the statements `body` with all their loops joined into one loop, the variables added for this).

        Raises NotUniform if the loops cannot be joined.
        """
        places = [position for position, statement in enumerate(body) if self._is_loop(statement)]
        if len(places) < 2:
            return body, ()
        first, *others = places
        before, loop, after = list(body[:first]), body[first], body[first + 1 :]
        assert isinstance(loop, ast.For)
        given = len(self.variables)
        for _ in others:
            after = self._with_own_variables((*before, loop), after)
            place = next(position for position, statement in enumerate(after) if self._is_loop(statement))
            between, other, after = after[:place], after[place], after[place + 1 :]
            assert isinstance(other, ast.For)
            if exits((*before, loop, *between)):
                raise NotUniform("`exit` leaves a loop that another loop follows")
            if exits((other,)):
                flag = ast.VariableDecl(
                    ast.Role.VAR,
                    (ast.Declarator(next(self.names), None, None),),
                    ast.BaseTypeExpr(ast.BaseType.BOOL),
                    ast.Truth(value=False),
                )
                self.variables += (flag,)
                going_on = ast.Unary(ast.UnaryOp.NOT, ast.Name(flag.declarators[0].name))
                own_body = _without_exits(other.body, flag.declarators[0].name)
                other = replace(other, body=(ast.If(going_on, own_body, ()),))
                after = (ast.If(going_on, after, ()),) if after else ()
                if any(self._is_loop(statement) for statements in after for statement in walk(statements)):
                    raise NotUniform("`exit` leaves a loop that another loop follows")
            loop = self._merge(loop, between, other)
            before += between
        return (*before, loop, *after), self.variables[given:]

    def _is_loop(self, statement: object) -> bool:
        return isinstance(statement, ast.For) and mentions(statement.high, self.number.parameter)

    def _with_own_variables(self, left: Block, right: Block) -> Block:
        """Return the statements `right`, with new variables where they would overwrite variables of `left`.

        A variable gets a new name in `right` if `left` uses it and `right` always writes it before reading it. The new
        variables are added to `variables`.
        """
        for declaration in self.variables:
            for declarator in declaration.declarators if declaration.role is ast.Role.VAR else ():
                name = declarator.name
                if declarator.high is None and mentions(left, name) and mentions(right, name):
                    if may_read(right, name):
                        continue
                    own = next(self.names)
                    self.variables += (replace(declaration, declarators=(replace(declarator, name=own),)),)
                    right = _renamed(right, name, own)
        return right

    def _merge(self, loop: ast.For, between: Block, other: ast.For) -> ast.For:
        """Return one loop in place of `loop` and `other`, where the statements `between` them move before both.

        Raises NotUniform unless the result is proved to be equivalent.
        """
        if (loop.low, loop.high) != (other.low, other.high):
            raise NotUniform("two loops do not run over the same indices", other.span)
        for node in walk(between):
            if isinstance(node, ast.Name | ast.Element) and node.name in self.arrays:
                raise NotUniform(f"`{node.name}` is used outside of the loop", node.span)
        if other.variable != loop.variable and mentions(other.body, loop.variable):
            raise NotUniform(f"`{loop.variable}` is the index of one loop but something else in another", other.span)
        names = [
            declarator.name
            for declaration in self.variables
            if declaration.role is not ast.Role.INPUT
            for declarator in declaration.declarators
            if declarator.name not in self.arrays
        ]
        for later in (between, other.body):
            for name in names:
                used, reused = mentions(loop.body, name), mentions(later, name)
                if used and reused and (writes(loop.body, name) or writes(later, name)):
                    raise NotUniform(f"two loops in a row share `{name}`", other.span)
        body = _renamed(other.body, other.variable, loop.variable)
        return replace(loop, body=(*loop.body, *body))


# --- what statements do -----------------------------------------------------------------------------------


def writes(tree: object, name: str) -> bool:
    """Return True if `tree` writes the variable `name`, or an element of it."""
    return any(isinstance(node, ast.Assign | ast.Sample) and node.target.name == name for node in walk(tree))


def may_read(block: Sequence[ast.Statement], name: str) -> bool:
    """Return True if `block` can read the scalar `name` before it writes `name`.

    Each loop in `block` is assumed to run at least once.
    """
    return _first(block, name)[0]


def _first(block: Sequence[ast.Statement], name: str) -> tuple[bool, bool]:
    """Return (True if `block` may read the scalar `name` before writing it, True if `block` always writes it).

    A block that always ends in an `exit` counts as one that always writes.
    """
    for statement in block:
        match statement:
            case ast.Assign(target=target, value=value):
                read, written = mentions(value, name), isinstance(target, ast.Name) and target.name == name
            case ast.Sample(target=target, distribution=distribution):
                read, written = mentions(distribution, name), isinstance(target, ast.Name) and target.name == name
            case ast.If(condition=condition, then=then, otherwise=otherwise):
                branches = _first(then, name), _first(otherwise, name)
                read = mentions(condition, name) or any(branch[0] for branch in branches)
                written = all(branch[1] for branch in branches)
            case ast.For(body=body):
                read, written = _first(body, name)
            case ast.While(condition=condition, body=body):
                read, written = mentions(condition, name) or _first(body, name)[0], False
            case ast.ExitStatement():
                return False, True
            case _:
                assert_never(statement)
        if read or written:
            return read, written
        if isinstance(statement, ast.Assign | ast.Sample) and mentions(statement.target, name):
            return True, False
    return False, False


def exits(tree: object) -> bool:
    """Return True if `tree`, a part of a program, contains an `exit`."""
    return any(isinstance(node, ast.ExitStatement) for node in walk(tree))


def _without_exits(block: Block, flag: str) -> Block:
    """Return `block` with `flag` <- true in place of each `exit`, and `if not flag` around all later statements.

    Raises NotUniform if a loop contains an `exit`.
    """
    for position, statement in enumerate(block):
        if not exits(statement):
            continue
        head, rest = block[:position], block[position + 1 :]
        match statement:
            case ast.ExitStatement():
                return (*head, ast.Assign(ast.Name(flag), ast.Truth(value=True)))
            case ast.If(then=then, otherwise=otherwise):
                branches = replace(
                    statement, then=_without_exits(then, flag), otherwise=_without_exits(otherwise, flag)
                )
                going_on = ast.Unary(ast.UnaryOp.NOT, ast.Name(flag))
                later = (ast.If(going_on, _without_exits(rest, flag), ()),) if rest else ()
                return (*head, branches, *later)
        raise NotUniform("there is more than one loop", statement.span)
    return block


def _renamed(block: Block, name: str, other: str) -> Block:
    return rewritten(block, lambda node: replace(node, name=other) if is_name(node, name) else None)


def separate_parts(program: ast.ProgramTree, number: QueryNumber) -> tuple[ast.ProgramTree, ast.ProgramTree] | None:
    """Split `program` into two programs: one selects the query with the greatest or least value, one does all the rest.

    The ideal is split in the same way. The selection is a loop over the `number` of queries. The result is None if
    there is no such loop, or if it shares variables with other statements.
    """
    ideal = program.ideal
    if ideal is None:
        return None
    outputs = {
        declarator.name
        for declaration in program.declarations
        if isinstance(declaration, ast.VariableDecl) and declaration.role is ast.Role.OUTPUT
        for declarator in declaration.declarators
    }
    for answer, alone, rest in _selections(program.body, number, outputs):
        for other, ideal_alone, ideal_rest in _selections(ideal.body, number, outputs):
            if answer == other:
                return (
                    _with_outputs(program, alone, ideal_alone, answer.__eq__),
                    _with_outputs(program, rest, ideal_rest, answer.__ne__),
                )
    return None


def _selections(body: Block, number: QueryNumber, outputs: set[str]) -> Iterator[tuple[str, Block, Block]]:
    """Yield (answer, its loop with the draw before it, all other statements) for each selection in `body`.

    A selection is a loop that finds the greatest or least query; the answer is the output that it sets to the query's
    index. `number` is the number of queries. Selections that compare multiples of queries, that an `exit` may
    skip, or that keep a noisy value in one of `outputs` are left out. No other statement may mention the answer or,
    after the selection, read a noisy value.
    """
    for position in range(len(body) - 1):
        before, alone, after = body[:position], body[position : position + 2], body[position + 2 :]
        try:
            selection: SelectionLoop = selection_of(alone, number)
        except NotUniform:
            continue
        if (
            not selection.is_plain
            or not (before or after)
            or exits(before)
            or mentions((before, after), selection.answer)
        ):
            continue
        if selection.held.isdisjoint(outputs) and not any(may_read(after, name) for name in selection.held):
            yield selection.answer, alone, (*before, *after)


def _with_outputs(
    program: ast.ProgramTree, body: Block, ideal: Block, wanted: Callable[[str], bool]
) -> ast.ProgramTree:
    declarations: list[ast.Declaration] = []
    for declaration in program.declarations:
        match declaration:
            case ast.ClaimDecl():
                continue
            case ast.VariableDecl(role=ast.Role.OUTPUT, declarators=declarators):
                left = tuple(declarator for declarator in declarators if wanted(declarator.name))
                if left:
                    declarations.append(replace(declaration, declarators=left))
            case ast.IdealDecl():
                declarations.append(replace(declaration, body=ideal))
            case _:
                declarations.append(declaration)
    return replace(program, declarations=tuple(declarations), body=body)


T = TypeVar("T")


@frozen
class LoopText:
    """A program in normal form, in which no rate contains m.

    `program` is the given program, `number` its constant m, and `tree` its normal form. A rate that depends on m is
    replaced by a number, its mark; `rates` lists the rates by mark, and is None if no rate depends on m. `source` is
    the text that `tree` was parsed from, or None if there is no such text. An output whose value is an index is
    replaced by an array, if possible; if not, `refused` maps the name of the output to the reason.
    """

    program: Program
    number: QueryNumber
    tree: ast.ProgramTree
    rates: Rates | None
    source: SourceText | None
    refused: Mapping[str, str]

    @staticmethod
    def from_program(program: Program, parameter: str, *, privacy: bool = False) -> LoopText:
        """Return the normal form of `program`, where the constant `parameter` is m.

        For `privacy` the ideal, the metric and the claim of the program are left out. Raises NotUniform for a rate that
        is not eps times a quotient of polynomials in m.
        """
        core = program.core
        own = parse(core.source)
        others = computed_from(own.declarations, core.overrides, parameter)
        tree = with_plain_selection(without_accuracy(own) if privacy else own, parameter)
        tree, refused = with_index_answers(tree, parameter)
        number = QueryNumber(parameter, others, _common_end(tree, parameter))
        result = marked(tree, number, constants_of(own, core, number))
        if result is None:
            # A loop of a Python function has the place of its first line alone, where no instruction of its body is.
            kept = tree == own and not (privacy and core.source.accepted is not None)
            return LoopText(program, number, tree, None, core.source if kept else None, refused)
        if core.only_at is not None:
            raise NotUniform(f"a rate depends on `{parameter}`, but the program is read at one eps only")
        return LoopText(program, number, result[0], result[1], None, refused)

    def with_tree(self, tree: ast.ProgramTree) -> LoopText:
        """Return this normal form with `tree` as its program."""
        return self if tree == self.tree else replace(self, tree=tree, source=None)

    def with_one_loop(self) -> LoopText:
        """Return this normal form with its loops up to m joined into one, printed and parsed again.

        Raises NotUniform if the loops cannot be joined.
        """
        return self.with_tree(with_one_loop(self.tree, self.number, parameter_arrays(self.tree, self.number))).read()

    def read(self) -> LoopText:
        """Return this normal form with a tree whose nodes point to lines of a text.

        A tree without `source` is printed, and the printed text is parsed.
        """
        if self.source is not None:
            return self
        source = SourceText("<one loop>", print_program(self.tree))
        return replace(self, tree=parse(source), source=source)

    def explained(self, refused: NotUniform) -> NotUniform:
        """Return `refused`, or a new error in its place that tells the reader what to write instead.

        The new error is about an index that is used as a value, or about loops that do not end at the last index.
        """
        loops = [node for node in walk(self.tree.body) if self._is_over_queries(node)]
        if isinstance(refused, IndexIsAValue) or not all(self.number.is_last(loop.high) for loop in loops):
            misused = self._misused()
            if misused is not None:
                return misused
        if not isinstance(refused, IndexIsAValue):
            return refused
        if self.program.core.source.accepted is not None:
            return NotUniform(
                "the index of the loop is used other than to name an element: return it at once, or the index of the "
                "greatest or least noisy value",
                refused.span,
            )
        for name, reason in self.refused.items():
            return NotUniform(f"{refused.reason}: `{name}` holds an index, but {reason}", refused.span)
        variable = refused.variable
        return NotUniform(
            f"{refused.reason}: write elements of arrays such as `q[{variable}]`, and for an answer that is an index "
            f"`o <- {variable}; exit`, with `output o : {{0..{self.number.parameter}}} = 0`",
            refused.span,
        )

    def _is_over_queries(self, node: object) -> TypeGuard[ast.For]:
        return isinstance(node, ast.For) and mentions(node.high, self.number.parameter)

    def _misused(self) -> NotUniform | None:
        """Return an error that says how a loop with another end than m uses its index; None if no loop is known to."""
        parameter, tree = self.number.parameter, self.tree
        arrays = {
            node.name for node in walk(tree) if isinstance(node, ast.Declarator) and mentions(node.high, parameter)
        }
        loops = [node for node in walk(tree.body) if self._is_over_queries(node)]
        for loop in loops if not all(is_name(loop.high, parameter) for loop in loops) else ():
            nodes = list(walk(loop.body))
            elements = [node for node in nodes if isinstance(node, ast.Element)]
            for node in elements:
                if node.name in arrays and not is_name(node.index, loop.variable):
                    return NotUniform("the loop uses elements at other indices than its own", node.span)
            if any(is_name(node.value, loop.variable) for node in nodes if isinstance(node, ast.Assign)):
                reason = "the loop keeps its index, and goes on: only the index of the greatest or least noisy value"
                return NotUniform(f"{reason} may be kept", loop.span)
            for node in nodes:
                if is_name(node, loop.variable) and all(node is not element.index for element in elements):
                    return NotUniform("the loop uses its index other than to name an element", node.span)
        return None

    def instance(self, number: int) -> Program:
        """Return the program with m set to `number`.

        Raises NotUniform if the program is invalid for this m. The normal form must have a `source`.
        """
        assert self.source is not None, "places in the tree are places in a text"
        try:
            return self.program.with_constants({self.number.parameter: Fraction(number)}, self.source)
        except DiagnosticError:
            raise NotUniform(f"the program is not valid for {self.number.parameter} = {number}") from None


def with_enough_iterations(explored: Callable[[int], T], most: int) -> tuple[T, int]:
    """Call `explored` with 2, 4, 8, … iterations until it does not raise TooFew; return (result, iterations).

    Raises LimitReached if more than `most` iterations would be needed.
    """
    count = 2
    while count <= most:
        try:
            return explored(count), count
        except TooFew:
            count *= 2
    raise LimitReached("iterations", f"the loop still reaches new states after {most} iterations")


def _common_end(tree: ast.ProgramTree, parameter: str) -> int:
    """Return c if all loops and arrays of `tree` that depend on m, the constant `parameter`, end at m + c; else 0."""
    highs = [node.high for node in walk(tree) if isinstance(node, ast.For | ast.Declarator | ast.Each)]
    ends = {last_offset(high, parameter) for high in highs if mentions(high, parameter)}
    return (ends.pop() if len(ends) == 1 else None) or 0


@frozen
class Rates:
    """The rates of a program as functions of m, in multiples of eps.

    `of_marks` has at index n - 1 the rate that the mark n replaces. `divisors` has every expression that a rate is
    divided by.
    """

    of_marks: tuple[RationalFunction, ...]
    divisors: tuple[RationalFunction, ...]

    def require_positive(self, start: int, parameter: str) -> None:
        """Raise NotUniform unless each rate is proved to be positive for every m >= `start`.

        `parameter` is the name of m in the message.
        """
        for rate in self.of_marks:
            if not rate.is_positive_from(start):
                raise NotUniform(
                    f"the rate {rate.text(parameter)} could not be shown to be positive for every `{parameter}`"
                )
        if not all(divisor.has_sign_from(start) for divisor in self.divisors):
            raise NotUniform(f"a rate divides by something that may be 0 for some `{parameter}`")


def constants_of(tree: ast.ProgramTree, core: CoreProgram, number: QueryNumber) -> InNumber:
    """Return an evaluator of expressions that contain m and the constants of the program `tree`.

    `number` is m. `core` has the values of the constants that do not depend on m. A constant that depends on m is known
    to the evaluator only if it is a quotient of polynomials in m; the divisors of these quotients are in `divisors` of
    the evaluator.
    """
    varying = (number.parameter, *number.others)
    names = {name: constant(value) for name, value in core.constants.items() if name not in varying}
    evaluation = InNumber("a constant", number.parameter, names, ONE)
    for declaration in tree.declarations:
        for name, value in declaration.bindings if isinstance(declaration, ast.ConstDecl) else ():
            if name in number.others:
                own = replace(evaluation, divisors=[])
                with suppress(NotUniform):
                    names[name] = own.value(value)
                    evaluation.divisors.extend(own.divisors)
    return evaluation


def marked(tree: ast.ProgramTree, number: QueryNumber, constants: InNumber) -> tuple[ast.ProgramTree, Rates] | None:
    """Return (`tree` with a number, its mark, in place of each rate; the rates by mark); None if no rate depends on m.

    `number` is m, and `constants` evaluates expressions in the program's constants. Raises NotUniform for a rate that
    is not the product of eps and a quotient of polynomials in m.
    """
    noises = [node for node in walk(tree.body) if isinstance(node, ast.NoiseExpr) and node.law.scales]
    varying = (number.parameter, *number.others)
    if not any(mentions(noise.rate, name) for noise in noises for name in varying):
        return None
    loops = [node.variable for node in walk(tree.body) if isinstance(node, ast.For)]
    evaluation = replace(constants, what="a rate", divisors=list(constants.divisors))
    ratios: list[RationalFunction] = []

    def mark(node: Any) -> Any:
        if not isinstance(node, ast.NoiseExpr) or not node.law.scales or node.rate is None:
            return None
        if any(mentions(node.rate, variable) for variable in loops):
            raise NotUniform("a rate depends on the index", node.rate.span)
        rate = rate_of(evaluation, node.rate)
        if rate not in ratios:
            ratios.append(rate)
        known = ratios.index(rate) + 1
        factor = ast.Number(Fraction(known), str(known))
        return replace(node, rate=ast.Binary(ast.BinaryOp.MULTIPLY, factor, ast.Eps()))

    body = rewritten(tree.body, mark)
    return replace(tree, body=body), Rates(tuple(ratios), tuple(evaluation.divisors))


def rate_of_mark(rates: Rates | None, rate: Fraction) -> RationalFunction:
    """Return the rate whose mark is `rate`; if `rates` is None, return `rate` itself."""
    return RationalFunction.constant(rate) if rates is None else rates.of_marks[int(rate) - 1]

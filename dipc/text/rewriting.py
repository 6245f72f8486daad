"""Rewritings of programs: values drawn inside expressions, many clamps in one expression, and `ideal { noiseless }`.

A value drawn inside an expression or condition is drawn before the statement instead. Clamps are assigned to variables
before the statement, where one expression has too many of them. `ideal { noiseless }` is replaced by the program
without its noise.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count
from typing import assert_never

from dipc.text import ast
from dipc.text.ast import Drawn, rewritten, walk
from dipc.text.diagnostic import Diagnostic, DiagnosticError, SourceText, Span


def hoisted(program: ast.ProgramTree) -> ast.ProgramTree:
    """Return `program` with statements that draw nothing inside expressions.

    `if Lap(eps, q) > 0 then` becomes `draw1 <- Lap(eps, q); if draw1 > 0 then`. A `while` draws again before each
    evaluation of its condition. The result is equivalent to `program`: each run of a statement draws each of its values
    once. Values that a condition does not need are now drawn, too, but nothing depends on them. Values drawn where no
    statement of the program can draw them (in constants, claims, rates, weights and scores) stay where they are.
    """
    if not any(isinstance(node, Drawn) for node in walk(program)):
        return program
    names = _fresh_names(program, "draw")
    constants = frozenset(
        name for each in program.declarations if isinstance(each, ast.ConstDecl) for name, _ in each.bindings
    )
    return _with_bodies(program, lambda types: _Hoisting(names, types, constants=constants))


def _with_bodies(program: ast.ProgramTree, rewriting: Callable[[dict[str, ast.TypeExpr]], _Lifting]) -> ast.ProgramTree:
    """Return `program` with its body and that of its `ideal` rewritten, and with the new variables declared.

    `rewriting` receives the types of the variables of a body, and returns an object that rewrites its statements.
    """
    declarations: list[ast.Declaration] = []
    for declaration in program.declarations:
        if isinstance(declaration, ast.IdealDecl):
            inner = rewriting(_types((*program.declarations, *declaration.declarations)))
            body = tuple(inner.block(declaration.body))
            declaration = replace(declaration, declarations=(*declaration.declarations, *inner.variables), body=body)
        declarations.append(declaration)
    main = rewriting(_types(program.declarations))
    body = tuple(main.block(program.body))
    return replace(program, declarations=(*declarations, *main.variables), body=body)


def _fresh_names(program: ast.ProgramTree, stem: str) -> Iterator[str]:
    used: set[str] = set()
    for node in walk(program):
        match node:
            case ast.ConstDecl(bindings):
                used.update(name for name, _ in bindings)
            case (
                ast.For(variable=name)
                | ast.ExponentialMechanism(variable=name)
                | ast.Each(variable=name)
                | ast.Ranged(variable=name)
            ):
                used.add(name)
            case ast.Name(name) | ast.Element(name) | ast.Declarator(name) | ast.DomainDecl(name):
                used.add(name)
    return (name for number in count(1) if (name := f"{stem}{number}") not in used)


def _types(declarations: Sequence[ast.Declaration]) -> dict[str, ast.TypeExpr]:
    return {
        declarator.name: each.type
        for each in declarations
        if isinstance(each, ast.VariableDecl)
        for declarator in each.declarators
    }


@dataclass
class _Lifting:
    """A rewriting of one body of statements that moves parts of expressions into statements before them.

    `names` yields new names, one for each of the added `variables`. `types` has the declared type of each variable.
    `loops` has the `for` statements around the current statement, by the variables of these loops.
    """

    names: Iterator[str]
    types: dict[str, ast.TypeExpr]
    variables: list[ast.VariableDecl] = field(default_factory=list)
    loops: dict[str, ast.For] = field(default_factory=dict)

    def block(self, body: Sequence[ast.Statement]) -> Iterator[ast.Statement]:
        for statement in body:
            before: list[ast.Statement] = []
            match statement:
                case ast.If(condition, then, otherwise):
                    condition = self.free(condition, before)
                    then, otherwise = tuple(self.block(then)), tuple(self.block(otherwise))
                    changed: ast.Statement = replace(statement, condition=condition, then=then, otherwise=otherwise)
                case ast.While(condition, inside):
                    condition = self.free(condition, before)
                    changed = replace(statement, condition=condition, body=(*self.block(inside), *before))
                case ast.For(variable, body=inside):
                    around = self.loops
                    self.loops = {**around, variable: statement}
                    changed = replace(statement, body=tuple(self.block(inside)))
                    self.loops = around
                case ast.Assign() | ast.Sample():
                    changed = self.changed(statement, before)
                case ast.ExitStatement():
                    changed = statement
                case _:
                    assert_never(statement)
            yield from before
            yield changed

    @abstractmethod
    def free(self, expr: ast.Expr, before: list[ast.Statement]) -> ast.Expr:
        """Return `expr` with new variables in place of the parts that move.

        Statements that give these variables their values are appended to `before`, inner parts first.
        """

    @abstractmethod
    def changed(self, statement: ast.Assign | ast.Sample, before: list[ast.Statement]) -> ast.Statement:
        """Return `statement` with new variables in place of the parts that move.

        Statements that give these variables their values are appended to `before`, as by `free`.
        """

    def new_variable(self, type_: ast.TypeExpr, span: Span) -> ast.Name:
        name = next(self.names)
        self.types[name] = type_
        declared = (ast.Declarator(name, None, None, span),)
        self.variables.append(ast.VariableDecl(ast.Role.VAR, declared, type_, None, span))
        return ast.Name(name, span)


@dataclass
class _Hoisting(_Lifting):
    """A rewriting that moves each draw out of an expression, into a statement of its own.

    `constants` are the names of the constants.
    """

    constants: frozenset[str] = frozenset()

    def changed(self, statement: ast.Assign | ast.Sample, before: list[ast.Statement]) -> ast.Statement:
        place = self._place(statement.target, before)
        if isinstance(statement, ast.Assign):
            return replace(statement, target=place, value=self.free(statement.value, before))
        return replace(statement, target=place, distribution=self._around(statement.distribution, before))

    def _place(self, target: ast.Name | ast.Element, before: list[ast.Statement]) -> ast.Name | ast.Element:
        return replace(target, index=self.free(target.index, before)) if isinstance(target, ast.Element) else target

    def _around(self, distribution: ast.Distribution, before: list[ast.Statement]) -> ast.Distribution:
        match distribution:
            case ast.NoiseExpr(mean=mean) if mean is not None:
                return replace(distribution, mean=self.free(mean, before))
            case ast.Choose(arms):
                return replace(distribution, arms=tuple((self.free(value, before), weight) for value, weight in arms))
            case _:
                return distribution

    def free(self, expr: ast.Expr, before: list[ast.Statement]) -> ast.Expr:
        def variable(node: ast.Expr) -> ast.Expr | None:
            if isinstance(node, ast.Ranged) and any(isinstance(each, Drawn) for each in walk(node)):
                return node  # each of its values would be drawn, and is refused where it is typed
            if not isinstance(node, Drawn):
                return None
            return self._drawn(self._around(node.distribution, before), node.span, before)

        return rewritten(expr, variable)

    def _drawn(self, distribution: ast.Distribution, span: Span, before: list[ast.Statement]) -> ast.Expr:
        """Append a statement to `before` that draws from `distribution` into a new variable.

        Returns the new variable as an expression at `span`.
        """
        values = _listed(distribution)
        if not any(map(self._varies, values)):
            return self._sampled(distribution, self._widened(_type(distribution)), span, before)
        type_ = self._common_type(values)
        if type_ is not None:
            return self._sampled(distribution, type_, span, before)
        numbers = tuple(ast.number(index, span) for index in range(len(values)))
        place = self._sampled(_renumbered(distribution, numbers), ast.ListedDomain(numbers, span), span, before)
        return _selected(values, place, span)

    def _widened(self, type_: ast.TypeExpr) -> ast.TypeExpr:
        """Return `type_`; a range is widened to contain its values in all iterations of the enclosing loops.

        For example, `0..i` in a loop over i from 1 to 3 becomes a range from 0 to 3.
        """
        if not isinstance(type_, ast.Range):
            return type_
        low, high = type_.low, type_.high
        for variable, loop in reversed(self.loops.items()):
            last = ast.Call("max", (loop.low, loop.high), type_.span)  # a loop without a value draws nothing
            if ast.occurrences((low, high), variable):
                low = ast.Ranged("min", variable, loop.low, last, low, type_.span)
                high = ast.Ranged("max", variable, loop.low, last, high, type_.span)
        return replace(type_, low=low, high=high)

    def _sampled(
        self, distribution: ast.Distribution, type_: ast.TypeExpr, span: Span, before: list[ast.Statement]
    ) -> ast.Name:
        place = self.new_variable(type_, span)
        before.append(ast.Sample(place, distribution, span))
        return place

    def _varies(self, value: ast.Expr) -> bool:
        return any(
            isinstance(node, ast.Name | ast.Element) and (node.name in self.loops or node.name in self.types)
            for node in walk(value)
        )

    def _common_type(self, values: Sequence[ast.Expr]) -> ast.TypeExpr | None:
        """Return a finite type for a variable that may have each of `values`.

        The type is bool if all values are conditions. Otherwise it is the declared type of a variable among them, or a
        type that all of them have. The result is None if no such type is found, as for numbers alone.
        """
        if all(map(self._is_condition, values)):
            return ast.BaseTypeExpr(ast.BaseType.BOOL)
        declared = [self._declared(value) for value in values]
        finite = [each for each in declared if each is not None and not isinstance(each, ast.BaseTypeExpr)]
        named = any(
            isinstance(value, ast.Name) and not self._varies(value) and value.name not in self.constants
            for value in values
        )
        same = len(finite) == len(values) and all(each == finite[0] for each in finite)
        return finite[0] if finite and (named or same) else None

    def _declared(self, value: ast.Expr) -> ast.TypeExpr | None:
        if not isinstance(value, ast.Name | ast.Element) or value.name in self.loops:
            return None
        return self.types.get(value.name)

    def _is_condition(self, value: ast.Expr) -> bool:
        type_ = self._declared(value)
        return ast.is_condition(value) or (isinstance(type_, ast.BaseTypeExpr) and type_.base is ast.BaseType.BOOL)


#: The functions of numbers that have a case for each argument.
_BY_CASES = ("min", "max", "abs")


def with_clamps_assigned(program: ast.ProgramTree) -> ast.ProgramTree:
    """Return a program equivalent to `program` that computes `min`, `max` and `abs` of numbers before each statement.

    `y <- q + max(r, 0)` becomes `clamp1 <- max(r, 0); y <- q + clamp1`, and a sum over a range that contains such calls
    becomes a loop. The numbers are reals and ints. Calls in weights, scores, rates and claims, and in the ranges of
    `min`, `max` and `count`, stay in place.
    """
    names = _fresh_names(program, "clamp")
    return _with_bodies(program, lambda types: _Clamps(names, types))


class _Clamps(_Lifting):
    """A rewriting that moves each `min`, `max` and `abs` of reals and ints out of an expression, into an assignment."""

    def changed(self, statement: ast.Assign | ast.Sample, before: list[ast.Statement]) -> ast.Statement:
        match statement:
            case ast.Assign(value=ast.Call(arguments=arguments) as call):
                free = tuple(self.free(each, before) if self._has_range(each) else each for each in arguments)
                return replace(statement, value=replace(call, arguments=free))
            case ast.Assign(value=value):
                return replace(statement, value=self.free(value, before))
            case ast.Sample(distribution=ast.NoiseExpr(mean=mean) as noise) if mean is not None:
                return replace(statement, distribution=replace(noise, mean=self.free(mean, before)))
        return statement

    def free(self, expr: ast.Expr, before: list[ast.Statement]) -> ast.Expr:
        def variable(node: ast.Expr) -> ast.Expr | None:
            base = self._base(node)
            match node:
                case ast.Ranged():
                    inner = [each for each in walk(node.body) if isinstance(each, ast.Ranged)]
                    clear = all(each.variable != node.variable for each in inner)
                    if (
                        node.function != "sum"
                        or base is None
                        or not clear
                        or not any(
                            isinstance(each, ast.Call) and each.function in _BY_CASES and self._base(each) is not None
                            for each in walk(node.body)
                        )
                    ):
                        return node
                    return self._total(node, base, before)
                case ast.Call(function, arguments) if function in _BY_CASES and base is not None:
                    if self._has_range(node):
                        node = replace(node, arguments=tuple(self.free(each, before) for each in arguments))
                    place = self.new_variable(ast.BaseTypeExpr(base, node.span), node.span)
                    before.append(ast.Assign(place, node, node.span))
                    return place
            return None

        return rewritten(expr, variable)

    def _total(self, node: ast.Ranged, base: ast.BaseType, before: list[ast.Statement]) -> ast.Expr:
        span = node.span
        total, index = self.new_variable(ast.BaseTypeExpr(base, span), span), ast.Name(next(self.names), span)
        body = rewritten(node.body, lambda each: index if ast.is_name(each, node.variable) else None)
        inside: list[ast.Statement] = []
        summand = self.free(body, inside)
        inside.append(ast.Assign(total, ast.Binary(ast.BinaryOp.ADD, total, summand, span), span))
        before.append(ast.Assign(total, ast.number(0, span), span))
        before.append(ast.For(index.name, node.low, node.high, tuple(inside), span))
        return total

    def _base(self, expr: ast.Expr) -> ast.BaseType | None:
        types = [self.types.get(each.name) for each in walk(expr) if isinstance(each, ast.Name | ast.Element)]
        bases = {each.base for each in types if isinstance(each, ast.BaseTypeExpr)}
        return next((base for base in (ast.BaseType.REAL, ast.BaseType.INT) if base in bases), None)

    @staticmethod
    def _has_range(expr: ast.Expr) -> bool:
        return any(isinstance(each, ast.Ranged) for each in walk(expr))


def _listed(distribution: ast.Distribution) -> tuple[ast.Expr, ...]:
    match distribution:
        case ast.Choose(arms):
            return tuple(dict.fromkeys(value for value, _ in arms))
        case ast.ExponentialMechanism(domain=ast.ListedDomain(values)):
            return values
        case _:
            return ()


def _renumbered(distribution: ast.Distribution, numbers: tuple[ast.Expr, ...]) -> ast.Distribution:
    """Return `distribution` with each value that it lists replaced by a number.

    `numbers` has the new values, in the order in which the old ones are listed.
    """
    values = _listed(distribution)
    match distribution:
        case ast.Choose(arms):
            numbered = dict(zip(values, numbers, strict=True))
            return replace(distribution, arms=tuple((numbered[value], weight) for value, weight in arms))
        case ast.ExponentialMechanism(variable=variable, score=score, span=span):
            value = _selected(values, ast.Name(variable, span), span)
            score = rewritten(score, lambda node: value if ast.is_name(node, variable) else None)
            return replace(distribution, domain=ast.ListedDomain(numbers, span), score=score)
        case _:
            return distribution


def _selected(values: Sequence[ast.Expr], place: ast.Expr, span: Span) -> ast.Expr:
    total: ast.Expr | None = None
    for index, value in enumerate(values):
        if isinstance(value, ast.Number) and not value.value:
            continue
        chosen = ast.Compare(ast.CompareOp.EQ, place, ast.number(index, span), span)
        product = ast.Binary(ast.BinaryOp.MULTIPLY, chosen, value, span)
        total = product if total is None else ast.Binary(ast.BinaryOp.ADD, total, product, span)
    return ast.number(0, span) if total is None else total


def _type(distribution: ast.Distribution) -> ast.TypeExpr:
    match distribution:
        case ast.NoiseExpr(law, span=span):
            return ast.BaseTypeExpr(ast.BaseType.INT if law.whole else ast.BaseType.REAL, span)
        case ast.ExponentialMechanism(domain=domain):
            return domain
        case ast.Choose(arms, span):
            values = tuple(dict.fromkeys(value for value, _ in arms))
            if all(isinstance(value, ast.Truth) for value in values):
                return ast.BaseTypeExpr(ast.BaseType.BOOL, span)
            return ast.ListedDomain(values, span)
        case _:
            assert_never(distribution)


def with_noiseless_ideal(program: ast.ProgramTree, source: SourceText) -> ast.ProgramTree:
    """Return `program` with the statements of its `ideal { noiseless }`.

    They are the program's own statements, with each noise replaced by its mean (one-sided noise by 0, its least value),
    and each exponential mechanism by the first of its best candidates. `source` is the text of the program. Raises
    DiagnosticError for a program with a `choose`, which has no meaning without noise, or with noise whose mean depends
    on eps.
    """
    if not any(isinstance(each, ast.IdealDecl) and each.noiseless for each in program.declarations):
        return program
    mistakes = []
    note = "write the exact answer as a program of its own, `ideal { out <- x }`, in place of `ideal { noiseless }`"
    for node in ast.walk(program.body):
        if not has_no_mean(node):
            continue
        if isinstance(node, ast.NoiseExpr):
            message = f"the mean of `{node.law.keyword}` is known only if the ends of its support are -b and b"
            label = "a random value whose mean depends on eps"
            notes: tuple[str, ...] = ("write the ends as `-b` and `b`", note)
        else:
            message, label, notes = "`choose` has no meaning without noise", "a random value that has no mean", (note,)
        mistakes.append(Diagnostic("E0309", message, source.excerpt(node.span), label, notes))
    if mistakes:
        raise DiagnosticError(*mistakes)
    removal = _Removal(program)
    body = removal.block(program.body)
    own = tuple(
        each for each in program.declarations if isinstance(each, ast.VariableDecl) and each.role is ast.Role.VAR
    )
    declarations = tuple(
        replace(each, declarations=(*own, *removal.declared), body=body)
        if isinstance(each, ast.IdealDecl) and each.noiseless
        else each
        for each in program.declarations
    )
    return replace(program, declarations=declarations)


def has_no_mean(node: object) -> bool:
    """Whether `node` is a distribution without a known expected value: a `choose`, or some noise on an interval.

    Laws without a rate, such as uniform noise, have the middle of the interval as expected value. For laws with a rate
    the expected value is known, and is 0, only if the interval is symmetric: if its ends are a number and its negative.
    """
    if not isinstance(node, ast.NoiseExpr) or node.ends is None or not node.law.takes_rate:
        return isinstance(node, ast.Choose)
    low, high = (_number(end) for end in node.ends)
    if low is not None and high is not None:
        return low != -high
    one, other = node.ends
    return one != ast.Unary(ast.UnaryOp.NEGATE, other) and other != ast.Unary(ast.UnaryOp.NEGATE, one)


def _number(expr: ast.Expr) -> Fraction | None:
    match expr:
        case ast.Number(value):
            return value
        case ast.Unary(ast.UnaryOp.NEGATE, operand):
            inner = _number(operand)
            return None if inner is None else -inner
        case ast.Binary(ast.BinaryOp.DIVIDE, left, right):
            above, below = _number(left), _number(right)
            return above / below if above is not None and below else None
        case _:
            return None


def _expected(noise: ast.NoiseExpr) -> ast.Expr:
    """Return the expression that replaces `noise` when noise is removed from a program: its expected value.

    One-sided noise is replaced by its least value instead.
    """
    span = noise.span
    mean = ast.number(0, span) if noise.mean is None else noise.mean
    if noise.ends is None or noise.law.takes_rate or any(isinstance(node, ast.Eps) for node in ast.walk(noise.ends)):
        return mean
    both = ast.Binary(ast.BinaryOp.ADD, *noise.ends, span)
    middle = ast.Binary(ast.BinaryOp.DIVIDE, both, ast.number(2, span), span)
    return ast.Binary(ast.BinaryOp.ADD, mean, middle, span)


class _Removal:
    """The removal of noise from the statements of one program.

    `declared` collects the declarations of variables that the rewritten statements need.
    """

    def __init__(self, program: ast.ProgramTree) -> None:
        self._domains = {each.name: each.domain for each in program.declarations if isinstance(each, ast.DomainDecl)}
        self._names = {stem: _fresh_names(program, f"{stem}_") for stem in ("best", "candidate")}
        self.declared: list[ast.VariableDecl] = []

    def block(self, body: Sequence[ast.Statement]) -> tuple[ast.Statement, ...]:
        return tuple(each for statement in body for each in self._statement(statement))

    def _statement(self, statement: ast.Statement) -> Iterator[ast.Statement]:
        match statement:
            case ast.Sample(target, ast.NoiseExpr() as noise, span):
                yield ast.Assign(target, _expected(noise), span)
            case ast.Sample(target, ast.ExponentialMechanism() as mechanism, span):
                yield from self._best(target, mechanism, span)
            case ast.If():
                yield replace(statement, then=self.block(statement.then), otherwise=self.block(statement.otherwise))
            case ast.For() | ast.While():
                yield replace(statement, body=self.block(statement.body))
            case ast.Assign() | ast.ExitStatement() | ast.Sample():
                yield statement
            case _:
                assert_never(statement)

    def _best(
        self, target: ast.Name | ast.Element, mechanism: ast.ExponentialMechanism, span: Span
    ) -> Iterator[ast.Statement]:
        """Yield statements at `span` that assign the first best candidate of `mechanism` to `target`.

        A new variable has the best candidate found so far, because the scores may read `target`.
        """
        best, candidate = (ast.Name(next(self._names[stem]), span) for stem in ("best", "candidate"))
        declarator = ast.Declarator(best.name, None, None, span)
        self.declared.append(ast.VariableDecl(ast.Role.VAR, (declarator,), mechanism.domain, None, span))

        def better(value: ast.Expr) -> ast.If:
            condition = ast.Compare(ast.CompareOp.GT, _score(mechanism, value), _score(mechanism, best), span)
            return ast.If(condition, (ast.Assign(best, value, span),), (), span)

        domain = mechanism.domain
        while isinstance(domain, ast.NamedDomain) and domain.name in self._domains:
            domain = self._domains[domain.name]
        match domain:
            case ast.Range(low, high):
                yield ast.Assign(best, low, span)
                yield ast.For(candidate.name, low, high, (better(candidate),), span)
            case ast.ListedDomain(values):
                yield ast.Assign(best, values[0], span)
                yield from map(better, values[1:])
            case ast.NamedDomain():
                pass  # not the name of a domain, which the type check reports
            case _:
                assert_never(domain)
        yield ast.Assign(target, best, span)


def _score(mechanism: ast.ExponentialMechanism, value: ast.Expr) -> ast.Expr:
    score = rewritten(mechanism.score, lambda node: value if ast.is_name(node, mechanism.variable) else None)
    return ast.Binary(ast.BinaryOp.ADD, score, ast.number(0, score.span), score.span)

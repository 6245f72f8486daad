"""Programs that read their queries through totals alone, such as `sum(i in 1..m : q[i])`, for every m at once.

A *total* is a sum, minimum, maximum or count over the queries, whose summand reads the queries of one index. Let a
program and its `ideal` read the queries through totals alone, and let the *reduced* program have an input of its own
for each total. At queries u with the totals s(u), the program has the law and the right answer that the reduced program
has at s(u).

**Every input.** If the reduced program is right at every s, the program is right at every u, for every m.

**Distances.** With `alpha: dd` the distances of u and s(u) from other answers must agree. They do if there is one
total, of the queries themselves: the sum in the norm l1, and the minimum and the maximum in linf. The reason: to change
the total by d, it suffices to move all queries by d (in linf) or one query by d (in l1), and no shorter move changes it
by d.

**Privacy.** If u and u' are adjacent, each total differs by at most its *unit*. The unit is the radius times the slope
of the summand, which is how much it changes with its query. For `hamming`, let the width be the greatest value of the
summand less the least: the unit of a sum or count is the radius times the width, and that of an extremum is the width.
If the reduced program keeps a budget at all inputs that differ by at most the units, the program keeps it for every m.

The input of a total has every value that the total may have. It may have more values, which only makes the claim harder
to prove. So the input is an int only if the total is an integer at all queries. Only a real input is measured in units
of its total, because an integer total need not be a multiple of its unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise, product
from math import floor

from dipc.frozen import frozen
from dipc.program.clipped import EVERYTHING, Extent, without_accuracy
from dipc.program.metric import Norm
from dipc.program.program import Program
from dipc.questions.every_number.bounded_queries import without_requires
from dipc.questions.every_number.uniform import NotUniform, used_names
from dipc.questions.privacy.adjacency import Distance, Neighborhood
from dipc.text import ast
from dipc.text.ast import BaseType, BinaryOp, UnaryOp
from dipc.text.core import DomType, Type
from dipc.text.declarations import computed_from
from dipc.text.diagnostic import DiagnosticError, SourceText
from dipc.text.parser import parse
from dipc.text.printer import print_program

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The distances of inputs in which one total of the queries is as far from other answers as the queries are.
_ALIKE = {("sum", Norm.L1), ("min", Norm.LINF), ("max", Norm.LINF)}


@frozen
class Total:
    """A sum, minimum, maximum or count over queries, and the name of the input that replaces it.

    `written` is its text, such as sum(i in 1..m : q[i]), and `name` is the name of the input.
    """

    name: str
    written: ast.Ranged

    @property
    def arrays(self) -> frozenset[str]:
        """The names of the arrays whose elements are added, compared or counted."""
        return frozenset(node.name for node in ast.walk(self.written.body) if isinstance(node, ast.Element))


def for_every_input(program: Program, parameter: str) -> Program | None:
    """Return `program` with one input in place of each sum, minimum, maximum or count of queries.

    If the claim holds for the new program, it holds for `program` at every number of queries. This is for claims with
    `alpha: 0` that do not depend on dd or on the constant `parameter`, the number of queries. The result is None if
    `program` reads a query in another way.
    """
    try:
        reduction = _Reduction.from_program(without_requires(program, parameter), parameter)
    except NotUniform:
        return None
    return None if reduction is None else reduction.program({})[0]


def at_distances(program: Program, parameter: str) -> Program | None:
    """Return `program` with one input in place of all queries: their sum, minimum or maximum.

    If the claim holds for the new program, it holds for `program` at every number of queries. This is for claims with
    `alpha: dd` that do not depend on the constant `parameter`, the number of queries. The result is None if `program`
    reads a query in another way, or if dd may differ between the two programs.
    """
    reduction = _Reduction.from_program(program, parameter)
    metric = program.core.metric
    if reduction is None or len(reduction.totals) != 1 or (metric is not None and metric.apart is not None):
        return None
    (total,) = reduction.totals
    norm = Norm.LINF if metric is None else Norm(metric.input)
    if (total.written.function, norm) not in _ALIKE or not reduction.is_of_all_queries(total):
        return None
    return reduction.program({})[0]


def for_privacy(program: Program, parameter: str, within: Neighborhood) -> tuple[Program, Fraction] | None:
    """Return (`program` with one input in place of each sum, minimum, maximum or count of queries, a distance).

    The distance is for the norm linf. Suppose that the new program keeps a privacy budget at all pairs of inputs up to
    this distance. Then `program` keeps the budget at all neighbors of the adjacency `within`, for every number of
    queries, the constant `parameter`. None if `program` reads a query in another way, has other inputs, or if the
    change of some sum has no bound.
    """
    reduction = _Reduction.from_program(program, parameter, privacy=True)
    if reduction is None or reduction.has_other_inputs:
        return None
    units = {total.name: reduction.unit(total, within) for total in reduction.totals}
    known = {name: unit for name, unit in units.items() if unit is not None}
    made, radius = reduction.program(known) if len(known) == len(units) else (None, _ONE)
    return None if made is None else (made, radius)


@frozen
class _Reduction:
    """A program in which each sum, minimum, maximum or count over queries is replaced by an input.

    `original` is the given program and `tree` the new one. `totals` lists what was replaced, with the new inputs.
    `bounds` has the first and last index of each array of queries, and `types` the type of its elements. `numbers` are
    the constants that depend on m. `has_other_inputs` is true if the program has inputs besides queries.
    """

    original: Program
    tree: ast.ProgramTree
    totals: tuple[Total, ...]
    bounds: Mapping[str, tuple[ast.Expr, ast.Expr]]
    types: Mapping[str, Type]
    numbers: frozenset[str]
    has_other_inputs: bool

    @staticmethod
    def from_program(program: Program, parameter: str, *, privacy: bool = False) -> _Reduction | None:
        """Return `program` with an input in place of each total, or None if it reads a query outside of a total.

        A total is a sum, minimum, maximum or count over queries. `parameter` is the number of queries. For `privacy`
        the ideal, the metric and the claim are left out.
        """
        core = program.core
        if type(program) is not Program or core.requires is not None or core.selection is not None:
            return None
        tree = parse(core.source)
        numbers = frozenset((parameter, *computed_from(tree.declarations, core.overrides, parameter)))
        tree = without_accuracy(tree) if privacy else tree
        bounds: dict[str, tuple[ast.Expr, ast.Expr]] = {}
        kept: list[ast.Declaration] = []
        others = False
        for each in tree.declarations:
            if isinstance(each, ast.VariableDecl) and each.role is ast.Role.INPUT:
                left: list[ast.Declarator] = []
                for own in each.declarators:
                    if own.low is not None and own.high is not None and _mentions((own.low, own.high), numbers):
                        if _mentions(each.type, numbers):
                            return None  # the values of a query differ from m to m
                        bounds[own.name] = own.low, own.high
                    else:
                        left.append(own)
                others = others or bool(left)
                if left:
                    kept.append(replace(each, declarators=tuple(left)))
            else:
                kept.append(each)
        types = {slot.name.partition("[")[0]: slot.type for slot in core.input_slots}
        if not bounds or not bounds.keys() <= types.keys():
            return None
        domains = [kind.values for name in bounds if isinstance(kind := types[name], DomType)]
        words = {value for values in domains for value in values if isinstance(value, str)}
        outputs = frozenset(slot.name.partition("[")[0] for slot in core.output_slots)
        constants = frozenset((core.constants.keys() | numbers) - _bound_names(tree))
        fixed_names = frozenset((core.constants.keys() | words) - numbers - _bound_names(tree))
        search = _TotalSearch(numbers, frozenset(bounds), constants, fixed_names, outputs, used_names(tree))
        body = search.without_queries(search.folded(tree.body))
        declarations: list[ast.Declaration] = []
        for each in kept:
            if isinstance(each, ast.IdealDecl):
                inner = search.without_queries(search.folded(each.body))
                declarations.append(replace(each, body=inner))
            elif isinstance(each, ast.MetricDecl):
                declarations.append(search.without_queries(each))
            else:
                declarations.append(each)
        asked = [each for each in declarations if not isinstance(each, ast.ConstDecl | ast.ClaimDecl)]
        own_types = [each for each in asked if isinstance(each, ast.VariableDecl) and _is_variable(each)]
        fixed = [each for each in asked if each not in own_types]
        every = (
            body,
            tuple([each.body if isinstance(each, ast.IdealDecl) else each for each in fixed]),
            tuple(each.initial for each in own_types),
        )
        if not search.totals or _mentions(every, numbers | bounds.keys()):
            return None
        found = replace(tree, declarations=tuple(declarations), body=body)
        totals = tuple(search.totals.values())
        return _Reduction(program, found, totals, bounds, types, numbers, others)

    @property
    def constants(self) -> dict[str, Fraction]:
        """The values of the constants that do not depend on m."""
        return {name: value for name, value in self.original.core.constants.items() if name not in self.numbers}

    def program(self, units: Mapping[str, Fraction]) -> tuple[Program | None, Fraction]:
        """Return (the new program, a distance): the linf distance of its inputs when each total changes by its unit.

        `units` maps the name of each total to its unit, the most by which it can change. If all totals are integers,
        the inputs are ints, and the distance is the greatest unit. Otherwise each input is a real that is multiplied by
        the unit of its total, and the distance is 1. The program is None if it is invalid.
        """
        written = [total.written for total in self.totals]
        if all(each.function == "count" or self._is_integral(each.body) for each in written):
            made = self._read(ast.BaseType.INT, {})
            if made is not None:
                return made, max((Fraction(floor(unit)) for unit in units.values()), default=_ONE)
        return self._read(ast.BaseType.REAL, units), _ONE

    def _is_integral(self, tree: ast.Expr) -> bool:
        match tree:
            case ast.Number(value=value):
                return value.denominator == 1
            case ast.Name(name=name):
                constant = self.original.core.constants.get(name)
                return constant is not None and constant.denominator == 1
            case ast.Element(name=name):
                values = self._values(name)
                whole = values is not None and all(value.denominator == 1 for value in values)
                return whole or self.types[name] is BaseType.INT
            case ast.Compare():
                return True
            case ast.Unary(op=UnaryOp.NEGATE, operand=operand):
                return self._is_integral(operand)
            case ast.Binary(op=BinaryOp.ADD | BinaryOp.SUBTRACT | BinaryOp.MULTIPLY, left=left, right=right):
                return self._is_integral(left) and self._is_integral(right)
            case ast.Call(function="min" | "max" | "abs", arguments=arguments):
                return all(map(self._is_integral, arguments))
        return False

    def _read(self, base: ast.BaseType, units: Mapping[str, Fraction]) -> Program | None:
        declared = ast.BaseTypeExpr(base)

        def widened(each: ast.VariableDecl) -> ast.VariableDecl:
            return replace(each, type=declared) if _is_variable(each) and _mentions(each.type, self.numbers) else each

        declarations: list[ast.Declaration] = []
        for each in self.tree.declarations:
            if isinstance(each, ast.IdealDecl):
                declarations.append(replace(each, declarations=tuple(map(widened, each.declarations))))
            else:
                declarations.append(widened(each) if isinstance(each, ast.VariableDecl) else each)
        names = tuple([ast.Declarator(total.name, None, None) for total in self.totals])
        declarations.append(ast.VariableDecl(ast.Role.INPUT, names, declared, None))

        def scaled(node: object) -> ast.Expr | None:
            if not isinstance(node, ast.Name) or (unit := units.get(node.name, _ONE)) == 1:
                return None
            return ast.Binary(BinaryOp.MULTIPLY, ast.number(unit, node.span), node, node.span)

        tree = replace(self.tree, declarations=tuple(declarations), body=ast.rewritten(self.tree.body, scaled))
        try:
            return self.original.with_constants({}, SourceText("<totals>", print_program(tree)))
        except DiagnosticError:
            return None

    def is_of_all_queries(self, total: Total) -> bool:
        """Whether `total` is a sum, minimum or maximum of q[i] itself over one whole array of reals or ints."""
        written = total.written
        if not isinstance(written.body, ast.Element):
            return False
        name = written.body.name
        return (written.low, written.high) == self.bounds[name] and self.types[name] in (BaseType.REAL, BaseType.INT)

    def unit(self, total: Total, within: Neighborhood) -> Fraction | None:
        """Return an upper bound of the change of `total` when queries change to adjacent ones; None if unknown.

        `within` says which queries are adjacent.
        """
        function, body = total.written.function, total.written.body
        counts = function == "count"
        width, slope = (_ONE, None) if counts else (self._extent(body).width, self._slope(body))
        adds = function in ("sum", "count")
        limits: list[Fraction] = []
        match within.distance:
            case Distance.HAMMING:
                if width is not None:
                    limits.append(width * (within.radius if adds else 1))
            case Distance.L1:
                gap = self._least_move(total)
                if slope is not None:
                    limits.append(slope * within.radius)
                if width is not None and gap is not None:
                    limits.append(width * (within.radius // gap if adds else 1))
            case Distance.LINF:
                if slope is not None and not adds:
                    limits.append(slope * within.radius)
        return min(limits, default=_ZERO) or None

    def _values(self, name: str) -> list[Fraction] | None:
        """Return the values of an element of the array `name`, the least first; None unless they are listed numbers.

        Truth values count as 0 and 1.
        """
        type_ = self.types[name]
        if type_ is BaseType.BOOL:
            return [_ZERO, _ONE]
        values = type_.values if isinstance(type_, DomType) else ()
        numbers = sorted(value for value in values if isinstance(value, Fraction))
        return numbers if numbers and len(numbers) == len(values) else None

    def _least_move(self, total: Total) -> Fraction | None:
        moves: list[Fraction] = []
        for name in total.arrays:
            values = [_ZERO, _ONE] if self.types[name] is BaseType.INT else self._values(name)
            if values is None:
                return None
            moves += [high - low for low, high in pairwise(values)]
        return min(moves, default=None)

    def _extent(self, tree: ast.Expr) -> Extent:
        """Return an interval that contains all values of `tree`, an expression in queries."""
        match tree:
            case ast.Number(value=value):
                return Extent(value, value)
            case ast.Name(name=name) if name in self.constants:
                return Extent(self.constants[name], self.constants[name])
            case ast.Element(name=name) if (values := self._values(name)) is not None:
                return Extent(values[0], values[-1])
            case ast.Compare():
                return Extent(_ZERO, _ONE)
            case ast.Unary(op=UnaryOp.NEGATE, operand=operand):
                inner = self._extent(operand)
                return Extent(*(None if end is None else -end for end in (inner.high, inner.low)))
            case ast.Binary(op=op, left=left, right=right) if op in ast.ARITHMETIC:
                one, two = self._extent(left), self._extent(right)
                if op is BinaryOp.DIVIDE and (two.width != 0 or not two.low):
                    return EVERYTHING
                pairs = product((one.low, one.high), (two.low, two.high))
                ends = [Fraction(ast.ARITHMETIC[op](a, b)) for a, b in pairs if a is not None and b is not None]
                return Extent(min(ends), max(ends)) if len(ends) == 4 else EVERYTHING
            case ast.Call(function="min" | "max" as function, arguments=arguments):
                extents = [self._extent(each) for each in arguments]
                lows, highs = [each.low for each in extents], [each.high for each in extents]
                return Extent(_least_end(function, lows, low=True), _least_end(function, highs, low=False))
        return EVERYTHING

    def _slope(self, tree: ast.Expr) -> Fraction | None:
        """Return a number c such that `tree` changes by at most c·d if each query changes by at most d, or None.

        All queries in `tree` have the same index. None means that no such number is known.
        """
        match tree:
            case ast.Number():
                return _ZERO
            case ast.Name(name=name) if name in self.constants:
                return _ZERO
            case ast.Element(name=name):
                type_ = self.types[name]
                # A step of a truth value has the length 1, like its step as a number.
                return _ONE if type_ in (BaseType.REAL, BaseType.INT) or self._values(name) is not None else None
            case ast.Unary(op=UnaryOp.NEGATE, operand=operand):
                return self._slope(operand)
            case ast.Binary(op=BinaryOp.ADD | BinaryOp.SUBTRACT, left=left, right=right):
                one, two = self._slope(left), self._slope(right)
                return None if one is None or two is None else one + two
            case ast.Binary(op=BinaryOp.MULTIPLY, left=left, right=right):
                for factor, other in ((left, right), (right, left)):
                    number, inner = self._number(factor), self._slope(other)
                    if number is not None and inner is not None:
                        return abs(number) * inner
            case ast.Binary(op=BinaryOp.DIVIDE, left=left, right=right):
                number, inner = self._number(right), self._slope(left)
                if number and inner is not None:
                    return inner / abs(number)
            case ast.Call(function="min" | "max" | "abs", arguments=arguments):
                # A step of several queries of one index changes the arguments by at most the greatest of their slopes.
                slopes = [self._slope(each) for each in arguments]
                known = [each for each in slopes if each is not None]
                return max(known, default=_ZERO) if len(known) == len(slopes) else None
        return None

    def _number(self, tree: ast.Expr) -> Fraction | None:
        extent = self._extent(tree)
        return extent.low if extent.low == extent.high else None


def _mentions(tree: object, names: frozenset[str]) -> bool:
    return any(isinstance(node, ast.Name | ast.Element) and node.name.rstrip("'") in names for node in ast.walk(tree))


def _is_variable(declared: ast.VariableDecl) -> bool:
    return declared.role is ast.Role.VAR and all(own.low is None for own in declared.declarators)


def _bound_names(tree: ast.ProgramTree) -> set[str]:
    inner = () if tree.ideal is None else tree.ideal.declarations
    names = {own.name for each in inner for own in each.declarators}
    return names | {name for node in ast.walk(tree) if isinstance(name := getattr(node, "variable", None), str)}


@dataclass
class _TotalSearch:
    """A search for totals: sums, minima, maxima and counts over the arrays `queries`. It collects them in `totals`.

    The last index of a total mentions one of `numbers`, the constants that depend on m. Both its indices mention only
    names in `constants`: all constants, including `numbers`. The summand may mention the names in `fixed`: constants
    that do not depend on m, and words of domains. `outputs` are the outputs of the program, and `taken` are names that
    must not be given to new inputs.
    """

    numbers: frozenset[str]
    queries: frozenset[str]
    constants: frozenset[str]
    fixed: frozenset[str]
    outputs: frozenset[str]
    taken: frozenset[str]
    totals: dict[ast.Ranged, Total] = field(default_factory=dict)

    def without_queries(self, tree: ast._Tree) -> ast._Tree:
        def change(node: object) -> ast.Expr | None:
            if not isinstance(node, ast.Ranged) or not self._is_total(node):
                return None
            index = ast.Name("i", node.span)
            body = ast.rewritten(node.body, lambda each: index if ast.is_name(each, node.variable) else None)
            key = replace(node, variable="i", body=body)
            if key not in self.totals:
                name = next(name for n in range(1, 10**6) if (name := f"total{n}") not in self.taken)
                self.taken |= {name}
                self.totals[key] = Total(name, key)
            return ast.Name(self.totals[key].name, node.span)

        return ast.rewritten(tree, change)

    def _is_total(self, node: ast.Ranged) -> bool:
        """Whether `node` is a sum, minimum, maximum or count that reads q[i] only at its own variable i.

        Its first and last index must be constant: if they changed during a run, one total would have several values.
        """
        index = ast.Name(node.variable)
        inside = list(ast.walk(node.body))
        read = [each for each in inside if isinstance(each, ast.Element)]
        if any(each.name not in self.queries or each.index != index for each in read):
            return False
        if any(isinstance(each, ast.Ranged | ast.Drawn | ast.Eps) for each in inside):
            return False
        names = [each.name for each in inside if isinstance(each, ast.Name)]
        ends = [each.name for each in ast.walk((node.low, node.high)) if isinstance(each, ast.Name | ast.Element)]
        return (
            bool(read)
            and _mentions((node.low, node.high), self.numbers)
            and {*ends} <= self.constants
            and names.count(node.variable) == len(read)
            and {*names} <= self.fixed | {node.variable}
        )

    def folded(self, body: Sequence[ast.Statement]) -> tuple[ast.Statement, ...]:
        """Return `body` with an assignment in place of each loop that only adds queries or keeps an extremum.

        For example, `for i in 1..m do s <- s + q[i] end` becomes s <- s + sum(i in 1..m : q[i]).
        """
        result: list[ast.Statement] = []
        for statement in body:
            made = self._folded_loop(statement, body) if isinstance(statement, ast.For) else None
            if made is not None and result and (joined := _with_first(result[-1], made[0])) is not None:
                result[-1:], made = [], [joined, *made[1:]]
            result += [statement] if made is None else made
        return tuple(result)

    def _folded_loop(self, loop: ast.For, body: Sequence[ast.Statement]) -> list[ast.Statement] | None:
        known: dict[str, ast.Expr] = {}
        made: dict[str, ast.Statement] = {}
        for statement in loop.body:
            match statement:
                case ast.Assign(ast.Name(name=name) as target, value, span):
                    value = _inserted(value, known)
                    folded = _accumulated(name, value, loop)
                    if folded is not None and name not in made:
                        made[name] = ast.Assign(target, folded, span)
                    elif not ast.mentions(value, name) and name not in made:
                        known[name] = value
                    else:
                        return None
                case ast.If(condition, (ast.Assign(ast.Name(name=name) as target, value, span),), ()):
                    extreme = _kept(condition, name, value)
                    if extreme is not None and name not in made:
                        whole_loop = ast.Call(extreme, (target, _inserted(value, known)), span)
                        folded = _accumulated(name, whole_loop, loop)
                        assert folded is not None, "the value does not read the variable"
                        made[name] = ast.Assign(target, folded, span)
                        continue
                    step = _step(name, value)
                    if step is None or not isinstance(step, ast.Number) or name in made:
                        return None
                    counted = ast.Ranged("count", loop.variable, loop.low, loop.high, _inserted(condition, known), span)
                    times = ast.Binary(BinaryOp.MULTIPLY, step, counted, span)
                    made[name] = ast.Assign(target, ast.Binary(BinaryOp.ADD, target, times, span), span)
                case _:
                    return None
        inner = sum(ast.occurrences(loop.body, name) for name in known)
        whole = sum(ast.occurrences(tuple(body), name) for name in known)
        own = all(
            ast.occurrences(loop.body, name) == ast.occurrences(tuple(_assignments(loop, name)), name) for name in made
        )
        if not made or inner != whole or not own or known.keys() & self.outputs:
            return None
        # A summand that reads a variable would have its value before the loop in each round.
        ranges = [node for node in ast.walk(tuple(made.values())) if isinstance(node, ast.Ranged)]
        return list(made.values()) if all(map(self._is_total, ranges)) else None


def _with_first(first: ast.Statement, after: ast.Statement) -> ast.Statement | None:
    """Return one assignment in place of s <- q[1] and s <- max(s, max(i in 2..m : q[i])).

    The result is s <- max(i in 1..m : q[i]). `first` and `after` are the two assignments; a minimum is treated in the
    same way. The result is None for other pairs.
    """
    match first, after:
        case (
            ast.Assign(ast.Name(name=name), value),
            ast.Assign(_, ast.Call(function, (ast.Name(name=own), ast.Ranged(low=ast.Number(value=low)) as rest))),
        ) if own == name and function == rest.function:
            before = ast.number(low - 1, rest.span)
            if ast.rewritten(rest.body, lambda node: before if ast.is_name(node, rest.variable) else None) == value:
                return replace(after, value=replace(rest, low=before))
    return None


def _assignments(loop: ast.For, name: str) -> Iterator[ast.Statement]:
    for statement in loop.body:
        match statement:
            case ast.Assign(ast.Name(name=own)) | ast.If(then=(ast.Assign(ast.Name(name=own)),)):
                if own == name:
                    yield statement


def _step(name: str, value: ast.Expr) -> ast.Expr | None:
    """Return the other summand if `value` is a sum with the variable `name`, else None."""
    match value:
        case ast.Binary(op=BinaryOp.ADD, left=ast.Name(name=own), right=step) if own == name:
            return None if ast.mentions(step, name) else step
        case ast.Binary(op=BinaryOp.ADD, left=step, right=ast.Name(name=own)) if own == name:
            return None if ast.mentions(step, name) else step
        case ast.Binary(op=BinaryOp.SUBTRACT, left=ast.Name(name=own), right=step) if own == name:
            return None if ast.mentions(step, name) else ast.Unary(UnaryOp.NEGATE, step, step.span)
    return None


def _kept(condition: ast.Expr, name: str, value: ast.Expr) -> str | None:
    """Return "max" or "min" if this extreme is kept by the statement `if condition then name <- value end`, else None.

    For example, `if q[i] > s then s <- q[i] end` keeps the maximum in s, which is `name`; `value` is q[i], and
    `condition` compares both.
    """
    if not isinstance(condition, ast.Compare) or ast.mentions(value, name):
        return None
    above = condition.op in (ast.CompareOp.GT, ast.CompareOp.GE)
    below = condition.op in (ast.CompareOp.LT, ast.CompareOp.LE)
    own = ast.is_name(condition.left, name), ast.is_name(condition.right, name)
    compared = (condition.left, own[1]) == (value, True) or (condition.right, own[0]) == (value, True)
    if not compared or not (above or below):
        return None
    return "max" if above == own[1] else "min"


def _accumulated(name: str, value: ast.Expr, loop: ast.For) -> ast.Expr | None:
    """Return the value of the variable `name` after `loop`, which assigns `value` to it in each iteration.

    The result contains a sum, minimum or maximum over the loop's range. `value` must be `name` plus another expression,
    or the minimum or maximum of `name` and another expression; else the result is None.
    """
    own = ast.Name(name, value.span)
    step = _step(name, value)
    if step is not None:
        total = ast.Ranged("sum", loop.variable, loop.low, loop.high, step, value.span)
        return ast.Binary(BinaryOp.ADD, own, total, value.span)
    match value:
        case ast.Call(function="min" | "max" as function, arguments=(one, two)):
            for mine, other in ((one, two), (two, one)):
                if ast.is_name(mine, name) and not ast.mentions(other, name):
                    total = ast.Ranged(function, loop.variable, loop.low, loop.high, other, value.span)
                    return ast.Call(function, (own, total), value.span)
    return None


def _inserted(tree: ast.Expr, known: Mapping[str, ast.Expr]) -> ast.Expr:
    return ast.rewritten(tree, lambda node: known.get(node.name) if isinstance(node, ast.Name) else None)


def _least_end(function: str, ends: Sequence[Fraction | None], *, low: bool) -> Fraction | None:
    """Return a bound of the minimum or maximum of several numbers: a lower bound if `low`, else an upper bound.

    `function` is "min" or "max". `ends` has a bound of each number, lower or upper like the result. None means that
    there is no bound, both in `ends` and as the result.
    """
    known = [end for end in ends if end is not None]
    if (function == "max") == low:
        # An infinite end of one number does not matter beside a finite end of another.
        return (max if low else min)(known, default=None)
    return (min if low else max)(known) if len(known) == len(ends) else None

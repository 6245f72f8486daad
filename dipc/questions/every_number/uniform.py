"""Programs that do the same for each of m queries: a criterion on the text that holds for every value of m.

A program is *uniform* in its constant m if its text has one loop `for i in low..m`, or up to m + c, outside of all
others, where

- all arrays and loops that depend on m end at m + c for one integer c, which is 0 for q[1..m] and -1 for q[0..m-1];
- m, and constants computed from it, otherwise occur only in the upper end m + c of integer domains, in the claim, and
  in rates (which `normal_form` replaces);
- the loop's variable occurs only as the index of arrays that go up to m, and these occur nowhere else with any index;
- inputs have the same values for every m;
- no name is that of such an array in the program and of something else in its ideal, or the other way round;
- the metric's condition, if there is one, is the same for each index of the loop and mentions no other index;
- noise is Laplace or one-sided exponential, and nothing else is random; there is no other loop.

Unrolled for a given m, the program is the statements before the loop, its body once for each i, and the statements
after it. The bodies are the same except for the elements q[i], out[i] of their own index. No value is computed from the
number m itself.

**Selection.** One kind of loop that is not uniform keeps the largest, or the least, of m noisy values:

    best <- Lap(a*eps, q[1]);                 # out is 1
    for i in 2..m do
      r <- Lap(b*eps, q[i]);
      if r > best then best <- r; out <- i end
    end

**Lemma.** If X_v > X_j for every j other than v, where X_i is the noisy value of q[i], then out = v in the end. Before
iteration v, best is one of the X_j with j < v, which X_v exceeds; with iteration v (or from the start) best = X_v and
out = v, and no later X_j exceeds it. Ties have probability 0, so that `>=` does as well.

The error probability is therefore at most Σ_j Pr[X_j >= X_v]; each term of this sum depends on q[v] - q[j] alone. The
ideal is the same loop without noise: its answer v has q[v] >= q[j] for every j. The inputs with the answer v are one
convex region. There dd(u) >= alpha implies q[v] - q[j] >= alpha·w, where w is the dual norm of (1, -1) (see `facets`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dipc.frozen import frozen
from dipc.noise.law import Law
from dipc.text import ast
from dipc.text.ast import is_name, mentions, walk
from dipc.text.core import SampleNoise
from dipc.text.diagnostic import SourceText, Span
from dipc.text.parser import parse
from dipc.text.program import CoreProgram


class NotUniform(Exception):
    """Raised if a program cannot be shown to do the same for each query, or to select one query.

    `reason` is one sentence; `span` is the place in the text, or None.
    """

    def __init__(self, reason: str, span: Span | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span


class IndexIsAValue(NotUniform):
    """Raised if the variable of the loop up to m is used other than as an index."""

    def __init__(self, variable: str, span: Span) -> None:
        super().__init__(f"`{variable}` is used other than as an index", span)
        self.variable = variable


@frozen
class UniformLoop:
    """The `loop` of a uniform program over its queries, of which there is one if the constant `parameter` is `low`.

    `arrays` are the names of the arrays with an element for each query.
    """

    parameter: str
    loop: ast.For
    low: int
    arrays: frozenset[str]

    @property
    def first(self) -> int:
        """The first index of the loop."""
        assert isinstance(self.loop.low, ast.Number), "a uniform loop begins at a given index"
        return int(self.loop.low.value)


@frozen
class UniformLoops(UniformLoop):
    """The loop of a uniform program, and the loop of its ideal over the same queries, `ideal_loop`."""

    ideal_loop: ast.For


@frozen
class QueryNumber:
    """The number m of queries: the constant `parameter`, and the constants `others` that are computed from it.

    The last query has the index m + `beyond`.
    """

    parameter: str
    others: tuple[str, ...] = ()
    beyond: int = 0

    def is_last(self, node: object) -> bool:
        """Return True if the expression `node` is the index of the last query."""
        return last_offset(node, self.parameter) == self.beyond

    def require_free(self, node: object, reason: str) -> None:
        """Raise NotUniform with `reason` if `node`, a part of a program, depends on m."""
        if any(mentions(node, name) for name in (self.parameter, *self.others)):
            raise NotUniform(reason, getattr(node, "span", None))


def last_offset(last: object, parameter: str) -> int | None:
    """Return the integer c if the expression `last` is `parameter` + c, else None."""
    match last:
        case ast.Name(name=name) if name == parameter:
            return 0
        case ast.Binary(op=op, left=ast.Name(name=name), right=ast.Number(value=value)) if name == parameter:
            sign = {ast.BinaryOp.ADD: 1, ast.BinaryOp.SUBTRACT: -1}.get(op, 0)
            return sign * int(value) if sign and value.denominator == 1 else None
    return None


def used_names(tree: ast.ProgramTree) -> frozenset[str]:
    """Return all names that occur in the program `tree`: declared names, variables of loops, and constants."""
    names: set[str] = set()
    for node in walk(tree):
        named = (getattr(node, attribute, None) for attribute in ("name", "variable"))
        names.update(name for name in named if isinstance(name, str))
        if isinstance(node, ast.ConstDecl):
            names.update(name for name, _ in node.bindings)
    return frozenset(names)


def declared_domain(declared: Sequence[ast.Declaration], type_: ast.TypeExpr) -> ast.TypeExpr | None:
    """Return the domain that `type_` names among the declarations `declared`; None if it is not declared there.

    A type that is not a name is returned unchanged.
    """
    if not isinstance(type_, ast.NamedDomain):
        return type_
    domains = (each for each in declared if isinstance(each, ast.DomainDecl))
    return next((each.domain for each in domains if each.name == type_.name), None)


def grows_with(source: SourceText, number: QueryNumber) -> bool:
    """Return True if some input of the program `source` has a domain that depends on m, the `number` of queries."""
    declared = parse(source).declarations
    for each in declared:
        if isinstance(each, ast.VariableDecl) and each.role is ast.Role.INPUT:
            known = declared_domain(declared, each.type)
            if isinstance(known, ast.NamedDomain | None):
                return True
            if any(mentions(known, name) for name in (number.parameter, *number.others)):
                return True
    return False


def parameter_arrays(program: ast.ProgramTree, number: QueryNumber) -> frozenset[str]:
    """Return the arrays that `program` or its ideal declares with m, the `number` of queries, as last index.

    Raises NotUniform if declarations depend on m in another way, and for a name that is such an array in only one of
    program and ideal.
    """
    parameter = number.parameter
    arrays: set[str] = set()
    others: set[str] = set()
    for declaration in program.declarations:
        match declaration:
            case ast.DomainDecl(domain=domain):
                _require_bound(domain, number)
            case ast.VariableDecl(role=role, type=type_):
                _declare(declaration, number, arrays, others)
                known = declared_domain(program.declarations, type_)
                if role is ast.Role.INPUT and (isinstance(known, ast.NamedDomain) or mentions(known, parameter)):
                    raise NotUniform(f"the number of values of an input grows with `{parameter}`", declaration.span)
            case ast.IdealDecl(declarations=own):
                for inner in own:
                    _declare(inner, number, arrays, others)
            case _:
                pass
    for name in sorted(arrays & others):
        raise NotUniform(f"`{name}` is declared both as an array up to `{parameter}` and as something else")
    return frozenset(arrays)


def uniform_loop(program: ast.ProgramTree, number: QueryNumber) -> UniformLoop:
    """Return the loop of the uniform `program`, for questions about privacy: its ideal does not count.

    m is the `number` of queries. There may be finite choices, and statements before the loop may use array elements at
    the index before the first one. Raises NotUniform, with the reason, for a program that is not uniform.
    """
    arrays = parameter_arrays(program, number)
    loop = _loop(program.body, number, arrays, privacy=True)
    if not isinstance(loop.low, ast.Number):
        raise NotUniform("the loop does not begin at a fixed index", loop.low.span)
    return UniformLoop(number.parameter, loop, int(loop.low.value) - number.beyond, arrays)


def uniform(program: ast.ProgramTree, number: QueryNumber) -> UniformLoops:
    """Return the loops of `program` and of its ideal, which are both uniform in m, the `number` of queries.

    Raises NotUniform with the reason if one of them is not.
    """
    arrays = parameter_arrays(program, number)
    ideal = program.ideal
    if ideal is None:
        raise NotUniform("the program has no `ideal` block")
    loop = _loop(program.body, number, arrays)
    other = _loop(ideal.body, number, arrays)
    if loop.low != other.low or not isinstance(loop.low, ast.Number):
        raise NotUniform("the loops of the program and of its ideal do not begin at the same fixed index", other.span)
    require_uniform_metric(program, number, arrays, loop.low)
    return UniformLoops(number.parameter, loop, int(loop.low.value) - number.beyond, arrays, other)


def require_uniform_metric(
    program: ast.ProgramTree, number: QueryNumber, arrays: frozenset[str], low: ast.Expr
) -> None:
    """Raise NotUniform unless the metric of `program` treats every index of `arrays` in the same way.

    The indices begin at `low`. m is the `number` of queries.
    """
    for declaration in program.declarations:
        if not isinstance(declaration, ast.MetricDecl):
            continue
        for field in declaration.fields:
            value = field.value
            if isinstance(value, ast.Each):
                if value.low != low or not number.is_last(value.high):
                    raise NotUniform("a condition of the metric is not about every index of the loop", value.span)
                if isinstance(value.body, ast.Each) or not _is_only_an_index(value.body, value.variable):
                    raise NotUniform("a condition of the metric is not about one index alone", value.span)
                _require_index(value.body, arrays, value.variable, "a condition of the metric is not about its index")
                number.require_free(value.body, "the metric depends on the number of queries")
            else:
                number.require_free(value, "the metric depends on the number of queries")
                if field.name == "apart":
                    _require_index(value, arrays, None, "a condition of the `metric` block covers only some indices")


def _declare(declaration: ast.VariableDecl, number: QueryNumber, arrays: set[str], others: set[str]) -> None:
    parameter = number.parameter
    _require_bound(declaration.type, number)
    number.require_free(declaration.initial, f"an initial value depends on `{parameter}`")
    for declarator in declaration.declarators:
        number.require_free(declarator.low, f"the first index of an array depends on `{parameter}`")
        if number.is_last(declarator.high):
            arrays.add(declarator.name)
        else:
            number.require_free(declarator.high, f"an array goes up to something other than `{parameter}` itself")
            others.add(declarator.name)


def _require_bound(type_: ast.TypeExpr, number: QueryNumber) -> None:
    parameter = number.parameter
    if isinstance(type_, ast.Range) and last_offset(type_.high, parameter) in (0, number.beyond):
        number.require_free(type_.low, f"a domain begins at something that depends on `{parameter}`")
    else:
        number.require_free(type_, f"a domain depends on `{parameter}` other than by ending there")


def _require_index(node: object, arrays: frozenset[str], variable: str | None, reason: str) -> None:
    """Raise NotUniform with `reason` if `node` has an element of one of `arrays` at an index other than `variable`.

    Primed arrays such as q' count as well. With `variable` None every element is refused.
    """
    for element in walk(node):
        if not isinstance(element, ast.Element) or element.name.rstrip("'") not in arrays:
            continue
        if variable is None or not is_name(element.index, variable):
            raise NotUniform(reason, element.span)


def _loop(
    body: tuple[ast.Statement, ...], number: QueryNumber, arrays: frozenset[str], *, privacy: bool = False
) -> ast.For:
    parameter = number.parameter
    loops = [statement for statement in body if isinstance(statement, ast.For) and mentions(statement.high, parameter)]
    if len(loops) != 1:
        raise NotUniform(f"there is not exactly one loop up to `{parameter}`")
    (loop,) = loops
    if not number.is_last(loop.high):
        raise NotUniform(f"the loop goes up to something other than `{parameter}` itself", loop.high.span)
    number.require_free(loop.low, f"the loop begins at something that depends on `{parameter}`")
    number.require_free(loop.body, f"the loop computes with `{parameter}`")
    if not _is_only_an_index(loop.body, loop.variable):
        raise IndexIsAValue(loop.variable, loop.span)
    for element in walk(loop.body):
        if isinstance(element, ast.Element) and (element.name in arrays) is not is_name(element.index, loop.variable):
            raise NotUniform(f"an array is not indexed by `{loop.variable}` alone", element.span)
    for position, statement in enumerate(body):
        if statement is not loop:
            number.require_free(statement, f"`{parameter}` is computed with outside of the loop")
            is_first = privacy and position < body.index(loop)
            for node in walk(statement):
                if is_first and isinstance(node, ast.Element) and _follows(node.index, loop.low):
                    continue
                if isinstance(node, ast.Element | ast.Name) and node.name in arrays:
                    raise NotUniform(f"`{node.name}` is used outside of the loop", node.span)
    for node in walk(body):
        if isinstance(node, ast.While | ast.For) and node is not loop:
            raise NotUniform("there is more than one loop", node.span)
        if (isinstance(node, ast.ExponentialMechanism | ast.Choose) and not privacy) or (
            isinstance(node, ast.NoiseExpr) and not node.law.scales
        ):
            raise NotUniform("the program draws something other than real noise that scales with its rate", node.span)
    return loop


def _is_only_an_index(node: object, variable: str) -> bool:
    free = sum(is_name(each, variable) for each in walk(node))
    indices = sum(isinstance(each, ast.Element) and is_name(each.index, variable) for each in walk(node))
    return free == indices


@frozen
class SelectionLoop:
    """A loop that assigns to `answer` the index of the query of `array` with the greatest (or least) noisy value.

    The first value is drawn before the loop, for the index `first`; the loop draws one value for each later index.
    `rates` and `scales` are pairs: an entry for the first value, and one for all later values. `rates` are the rates of
    noise, or None without noise. `scales` are the factors that multiply the queries, with a minus sign if the least
    value is selected. `held` has the variables that hold noisy values.
    """

    array: str
    answer: str
    first: ast.Expr
    rates: tuple[ast.Expr, ast.Expr] | None
    scales: tuple[Fraction, Fraction]
    held: frozenset[str]

    @property
    def is_plain(self) -> bool:
        """True if queries are compared without a factor, apart from a minus sign for the least value."""
        return set(self.scales) in ({Fraction(1)}, {Fraction(-1)})

    def drawn(self, core: CoreProgram) -> tuple[tuple[Law, Fraction], tuple[Law, Fraction]]:
        """Return two pairs (law, rate): for the noise of the first value, and for the noise of each later value.

        `core` has the loop unrolled for at least three values. Raises NotUniform if later values have different noises.
        """
        draws = [(each.law, each.rate) for each in core.instructions if isinstance(each, SampleNoise)]
        if len(draws) < 3 or len(set(draws[1:])) > 1:
            raise NotUniform("the values to select from are not all drawn from the same distribution")
        return draws[0], draws[1]


def selection(body: Sequence[ast.Statement], declared: Sequence[ast.Declaration], number: QueryNumber) -> SelectionLoop:
    """Return the loop that selects one of `number` queries, read from `body` with the declarations `declared`.

    Raises NotUniform for other statements.
    """
    selection = selection_of(body, number)
    _require_initial(declared, selection.answer, selection.first, number)
    return selection


def selected_from_inputs(tree: ast.ProgramTree, number: QueryNumber, *, privacy: bool = False) -> SelectionLoop:
    """Return the selection loop of the program `tree` that selects from noisy values of an input array up to m.

    m is the `number` of queries. No other input is used. For `privacy`, statements may follow that read the index but
    no input or noisy value. Raises NotUniform if the program does anything else.
    """
    arrays = parameter_arrays(tree, number)
    body = _around_means(tree.body)
    if privacy:
        own = selection_of(body[:2], number)
        _require_apart(replace(tree, body=body), own, number)
    else:
        own = selection(body, tree.declarations, number)
    inputs = [each for each in tree.declarations if isinstance(each, ast.VariableDecl) and each.role is ast.Role.INPUT]
    declared = [(declarator.name, declarator.low) for each in inputs for declarator in each.declarators]
    if own.rates is None or own.array not in arrays or (own.array, own.first) not in declared:
        raise NotUniform("it does not select from noisy values of all inputs")
    return own


def _around_means(body: Sequence[ast.Statement]) -> tuple[ast.Statement, ...]:
    """Return `body` with one draw around a mean in place of a draw around 0 that is then added to the mean.

    Programs write one-sided noise as such a draw and an addition.
    """
    result: list[ast.Statement] = []
    for statement in body:
        match (result[-1] if result else None), statement:
            case (
                ast.Sample(target=ast.Name(name=drawn), distribution=ast.NoiseExpr(mean=None) as noise) as sample,
                ast.Assign(target=ast.Name(name=name), value=ast.Binary(op=ast.BinaryOp.ADD, left=left, right=right)),
            ) if name == drawn and is_name(left, name) is not is_name(right, name):
                mean = right if is_name(left, name) else left
                result[-1] = replace(sample, distribution=replace(noise, mean=mean))
            case _, ast.For(body=inner):
                result.append(replace(statement, body=_around_means(inner)))
            case _:
                result.append(statement)
    return tuple(result)


def _require_apart(tree: ast.ProgramTree, own: SelectionLoop, number: QueryNumber) -> None:
    """Raise NotUniform if statements of `tree` after the selection `own` use inputs, values of the selection, or m.

    The selection is a loop that finds the greatest or least query, and m is the constant `number`. Also raises
    NotUniform unless the initial value of the answer is the first index.
    """
    inputs = [each for each in tree.declarations if isinstance(each, ast.VariableDecl) and each.role is ast.Role.INPUT]
    apart = {declarator.name for each in inputs for declarator in each.declarators} | own.held
    for node in walk(tree.body[2:]):
        if isinstance(node, ast.Name | ast.Element) and node.name in apart:
            raise NotUniform(f"`{node.name}` is used after the selection", node.span)
    number.require_free(tree.body[2:], f"`{number.parameter}` is computed with outside of the loop")
    for each in tree.declarations:
        names = [declarator.name for declarator in each.declarators] if isinstance(each, ast.VariableDecl) else []
        if own.answer in names and getattr(each, "initial", None) != own.first:
            raise NotUniform("the index does not begin with the first one", each.span)


def selection_of(body: Sequence[ast.Statement], number: QueryNumber) -> SelectionLoop:
    """Return the loop that selects one of `number` queries, read from `body`; its answer's initial value is ignored.

    Raises NotUniform for other statements.
    """
    match list(body):
        case [first, ast.For(variable=variable, low=low, high=high, body=inner)] if number.is_last(high):
            pass
        case _:
            raise NotUniform(
                "its loop does not have the form of a selection: a first value, then one loop over the others"
            )
    best, start_value, first_rate = _drawn(first)
    start, first_scale = _query(start_value)
    if not isinstance(start, ast.Element) or not _follows(start.index, low):
        raise NotUniform("the first value does not belong to the index before the loop's first", low.span)
    drawn: dict[str, tuple[ast.Expr, ast.Expr | None]] = {}
    *draws, decision = inner
    for statement in draws:
        name, value, rate = _drawn(statement)
        drawn[name] = value, rate
    if not isinstance(decision, ast.If) or decision.otherwise:
        raise NotUniform("the loop does not end with a single `if` without `else`", decision.span)
    challenger, sign = _challenger(decision.condition, best)
    if best in drawn:
        raise NotUniform("the loop draws the best value again", decision.span)
    value, rate = (
        drawn.get(challenger.name, (challenger, None)) if isinstance(challenger, ast.Name) else (challenger, None)
    )
    query, scale = _query(value)
    if not (isinstance(query, ast.Element) and query.name == start.name and is_name(query.index, variable)):
        raise NotUniform("the loop compares the best value with something other than its own query", decision.span)
    answer = _answer_name(decision.then, best, challenger, variable)
    if len(drawn) != (1 if isinstance(challenger, ast.Name) else 0) or (rate is None) is not (first_rate is None):
        raise NotUniform("the values are not all drawn in the same way", decision.span)
    rates = None if rate is None or first_rate is None else (first_rate, rate)
    for each in rates or ():
        if mentions(each, variable) or mentions(each, number.parameter):
            raise NotUniform("a rate depends on the index, or on the number of queries", each.span)
    return SelectionLoop(
        start.name, answer, start.index, rates, (sign * first_scale, sign * scale), frozenset({best, *drawn})
    )


def _drawn(statement: ast.Statement) -> tuple[str, ast.Expr, ast.Expr | None]:
    """Return (the assigned variable, the mean of its noise, the rate of its noise) for the given `statement`.

    If the statement assigns a value without noise, the last two are this value and None. Raises NotUniform for other
    statements.
    """
    match statement:
        case ast.Sample(target=ast.Name(name=name), distribution=ast.NoiseExpr(law, rate, mean)) if (
            mean is not None and law.scales
        ):
            return name, mean, rate
        case ast.Assign(target=ast.Name(name=name), value=value):
            return name, value, None
    raise NotUniform("a value is not drawn as real noise around a query", statement.span)


def _query(value: ast.Expr) -> tuple[ast.Expr, Fraction]:
    match value:
        case ast.Binary(op=ast.BinaryOp.MULTIPLY, left=ast.Number(value=factor), right=ast.Element() as query):
            return query, factor
        case ast.Binary(op=ast.BinaryOp.MULTIPLY, left=ast.Element() as query, right=ast.Number(value=factor)):
            return query, factor
    return value, Fraction(1)


def _challenger(condition: ast.Expr, best: str) -> tuple[ast.Name | ast.Element, int]:
    """Return (the value that `condition` compares with `best`, 1 if it wins by being greater or -1 by being less)."""
    greater, less = (ast.CompareOp.GT, ast.CompareOp.GE), (ast.CompareOp.LT, ast.CompareOp.LE)
    match condition:
        case ast.Compare(op=op, left=ast.Name() | ast.Element() as new, right=old) if is_name(old, best):
            sides = greater, less
        case ast.Compare(op=op, left=old, right=ast.Name() | ast.Element() as new) if is_name(old, best):
            sides = less, greater
        case _:
            raise NotUniform("the condition in the loop does not compare with the best so far", condition.span)
    if op not in (*sides[0], *sides[1]):
        raise NotUniform("the condition in the loop does not compare with the best so far", condition.span)
    return new, 1 if op in sides[0] else -1


def _answer_name(then: Sequence[ast.Statement], best: str, challenger: ast.Expr, variable: str) -> str:
    """Return the output that `then` sets to the index `variable` when the `challenger` becomes the `best`.

    Raises NotUniform if `then` does anything else.
    """
    answer: str | None = None
    replaced = False
    for statement in then:
        match statement:
            case ast.Assign(target=ast.Name(name=name), value=value) if name == best and value == challenger:
                replaced = True
            case ast.Assign(target=ast.Name(name=name), value=value) if name != best and is_name(value, variable):
                answer = name if answer in (None, name) else None
            case _:
                raise NotUniform("the loop does more than keep the best value and its index", statement.span)
    if answer is None or not replaced:
        raise NotUniform("the loop does not keep both the best and its index")
    return answer


def _require_initial(declared: Sequence[ast.Declaration], answer: str, first: ast.Expr, number: QueryNumber) -> None:
    """Raise NotUniform unless `answer` is the only output, starts at `first`, and has a domain up to the last index.

    `declared` has the declarations of the program, and `number` is the number of queries.
    """
    for declaration in declared:
        if isinstance(declaration, ast.VariableDecl) and declaration.role is ast.Role.OUTPUT:
            names = [declarator.name for declarator in declaration.declarators]
            if names != [answer] or declaration.initial != first:
                raise NotUniform("the only output must be the index, starting with the first one", declaration.span)
            domain = declared_domain(declared, declaration.type)
            if not isinstance(domain, ast.Range) or not number.is_last(domain.high):
                raise NotUniform(f"the domain of the index does not end at `{number.parameter}`", declaration.span)


def _follows(index: ast.Expr, low: ast.Expr) -> bool:
    return isinstance(index, ast.Number) and isinstance(low, ast.Number) and index.value + 1 == low.value

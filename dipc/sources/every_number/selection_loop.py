"""The loop that keeps the largest of m noisy values, for every m.

    best <- Lap(a*eps, q[1]);                 # out is 1
    for i in 2..m do
      r <- Lap(b*eps, q[i]);
      if r > best then best <- r; out <- i end
    end

**Lemma.** If X_v > X_j for every j other than v, where X_i is the noisy value of q[i], then out = v in the end. Before
iteration v, best is one of the X_j with j < v, which X_v exceeds; with iteration v (or from the start) best = X_v and
out = v, and no later X_j exceeds it. Ties have probability 0, so `>=` does as well.

So the error has at most the probability Σ_j Pr[X_j >= X_v], each term of which depends on q[v] - q[j] alone. The ideal
is the same loop without noise: its answer v has q[v] >= q[j] for every j. That is a convex region, its answer is given
nowhere else, and dd(u) >= alpha implies q[v] - q[j] >= alpha·w for w the dual norm of (1, -1) (see `facets`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dipc.lang import ast
from dipc.lang.tree import mentions
from dipc.sources.every_number.uniform import NotUniform


@dataclass(frozen=True, slots=True)
class Selection:
    """The loop as found: `array` is selected from, `answer` the output; `rates` those of the first value and of the
    others, None without noise; `first` is the least index, and `held` are the variables with values."""

    array: str
    answer: str
    first: ast.Expr
    rates: tuple[ast.Expr, ast.Expr] | None
    held: frozenset[str]


def selection(body: Sequence[ast.Statement], declared: Sequence[ast.Declaration], parameter: str) -> Selection:
    """The loop that `body` is, with the declarations that it sees. Raises NotUniform where it is none."""
    found = selection_of(body, parameter)
    _require_initial(declared, found.answer, found.first, parameter)
    return found


def selection_of(body: Sequence[ast.Statement], parameter: str) -> Selection:
    """The loop that `body` is, whatever its answer was before. Raises NotUniform where it is none."""
    match list(body):
        case [first, ast.For(variable=variable, low=low, high=ast.Name(name=high), body=inner)] if high == parameter:
            pass
        case _:
            raise NotUniform("it is no selection loop: a first value, then one loop over the others")
    best, start, first_rate = _drawn(first)
    if not isinstance(start, ast.Element) or not _follows(start.index, low):
        raise NotUniform("the first value is not that of the index before the loop's first", low.span)
    drawn: dict[str, tuple[ast.Expr, ast.Expr | None]] = {}
    *draws, decision = inner
    for statement in draws:
        name, value, rate = _drawn(statement)
        drawn[name] = value, rate
    if not isinstance(decision, ast.If) or decision.otherwise:
        raise NotUniform("the loop does not end with a single `if` without `else`", decision.span)
    challenger = _challenger(decision.condition, best)
    if best in drawn:
        raise NotUniform("the best so far is drawn anew in the loop", decision.span)
    value, rate = (
        drawn.get(challenger.name, (challenger, None)) if isinstance(challenger, ast.Name) else (challenger, None)
    )
    if not (isinstance(value, ast.Element) and value.name == start.name and _is(value.index, variable)):
        raise NotUniform("what is compared with the best so far is not the value of the loop's index", decision.span)
    answer = _taken(decision.then, best, challenger, variable)
    if len(drawn) != (1 if isinstance(challenger, ast.Name) else 0) or (rate is None) is not (first_rate is None):
        raise NotUniform("the values are not all drawn in the same way", decision.span)
    rates = None if rate is None or first_rate is None else (first_rate, rate)
    for part in rates or ():
        if mentions(part, variable) or mentions(part, parameter):
            raise NotUniform("a rate depends on the index, or on the number of queries", part.span)
    return Selection(start.name, answer, start.index, rates, frozenset({best, *drawn}))


def _drawn(statement: ast.Statement) -> tuple[str, ast.Expr, ast.Expr | None]:
    """The variable that is given a value, the value (or mean), and the rate of the noise."""
    match statement:
        case ast.Sample(target=ast.Name(name=name), distribution=ast.Laplace(rate=rate, mean=mean)):
            return name, mean, rate
        case ast.Assign(target=ast.Name(name=name), value=value):
            return name, value, None
    raise NotUniform("a value is not drawn as Laplace noise around a query", statement.span)


def _challenger(condition: ast.Expr, best: str) -> ast.Name | ast.Element:
    match condition:
        case ast.Compare(op=ast.CompareOp.GT | ast.CompareOp.GE, left=ast.Name() | ast.Element() as new, right=old):
            pass
        case ast.Compare(op=ast.CompareOp.LT | ast.CompareOp.LE, left=old, right=ast.Name() | ast.Element() as new):
            pass
        case _:
            raise NotUniform("the loop's condition is no comparison with the best so far", condition.span)
    if not _is(old, best):
        raise NotUniform("the loop's condition is no comparison with the best so far", condition.span)
    return new


def _taken(then: Sequence[ast.Statement], best: str, challenger: ast.Expr, variable: str) -> str:
    """The output that becomes the index where the challenger becomes the best."""
    answer: str | None = None
    replaced = False
    for statement in then:
        match statement:
            case ast.Assign(target=ast.Name(name=name), value=value) if name == best and value == challenger:
                replaced = True
            case ast.Assign(target=ast.Name(name=name), value=value) if name != best and _is(value, variable):
                answer = name if answer in (None, name) else None
            case _:
                raise NotUniform("the loop does more than to keep the best and its index", statement.span)
    if answer is None or not replaced:
        raise NotUniform("the loop does not keep both the best and its index")
    return answer


def _require_initial(declared: Sequence[ast.Declaration], answer: str, first: ast.Expr, parameter: str) -> None:
    """The answer is the only output, the first index to begin with, and has room for every later one."""
    domains = {found.name: found.domain for found in declared if isinstance(found, ast.DomainDecl)}
    for declaration in declared:
        if isinstance(declaration, ast.VariableDecl) and declaration.role is ast.Role.OUTPUT:
            names = [declarator.name for declarator in declaration.declarators]
            if names != [answer] or declaration.initial != first:
                raise NotUniform("the only output is not the index, with the first one to begin with", declaration.span)
            type_ = declaration.type
            domain = domains.get(type_.name) if isinstance(type_, ast.NamedDomain) else type_
            if not isinstance(domain, ast.RangeDomain) or not _is(domain.high, parameter):
                raise NotUniform(f"the domain of the index does not end at `{parameter}`", declaration.span)


def _follows(index: ast.Expr, low: ast.Expr) -> bool:
    return isinstance(index, ast.Number) and isinstance(low, ast.Number) and index.value + 1 == low.value


def _is(node: object, name: str) -> bool:
    return isinstance(node, ast.Name) and node.name == name

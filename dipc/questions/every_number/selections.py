"""Selections in one form: loops that find the greatest of m noisy values, rewritten so that proofs recognize them.

The form is that of `uniform`: a first value, then one loop over all others. Below, D is a law of noise, drawn around
its argument.

    best <- D(q[c]);                          # out is c
    for k in c+1..m do
      z <- D(q[k]);
      if z > best then best <- z; out <- k end
    end

A program can say the same in other ways, as the translation of a Python function does:

1. **Listed values.** A first loop draws every noisy[k] <- D(q[k]), a second one compares them. Each element is read at
   its own index alone, and draws are independent, so that each can be drawn where it is compared.
2. **The first value in the loop.** A loop that begins at c replaces the best value if there is none yet (the condition
   is `not given or z > best`), or at its first index (`k = c or z > best`).
3. **Comparisons with the listed best.** `noisy[k] > noisy[who]` compares with the value at the answer so far.
4. **Draws around 0** with the query added afterwards, and an answer that is copied to the output in the end.

**Lemma.** Each rewriting keeps the law of the output at every input and every m >= 1.

1. Elements that are read at their own index alone are independent of all else. One that is drawn where it is compared
   has the law that it had. An iteration that compares the listed value at c with itself changes nothing.
2. The first iteration replaces the best value and the answer, whatever they were before. Later iterations find a best
   value, and compare with it.
3. The value at the answer so far is the best value.
4. A variable that occurs in the draw and in the sum alone is the noise of the sum.

The program is rewritten only if the result has exactly this form, down to the last statement.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import count

from dipc.algebra.limits import NotApplicable
from dipc.questions.every_number.uniform import NotUniform, QueryNumber, last_offset, selection_of, used_names
from dipc.text import ast
from dipc.text.ast import is_name, mentions, rewritten, walk

Block = tuple[ast.Statement, ...]


def with_plain_selection(tree: ast.ProgramTree, parameter: str) -> ast.ProgramTree:
    """Return `tree` with the selections of the program and its ideal rewritten, each as a first value and one loop.

    A selection finds the greatest of several values. The new loop compares each later value with the best so far, up to
    the constant `parameter`. The output has the same law, and the ideal the same answers, for every value >= 1 of
    `parameter`. If the program or its ideal is not a selection, the result is `tree` unchanged.
    """
    try:
        output = _output(tree, parameter)
        used = used_names(tree)
        best = next(name for number in count(1) if (name := f"best_{number}") not in used)
        name = output.declarators[0].name
        forms = [_selection(body, name, output.initial, best, parameter) for body in _bodies(tree)]
    except (NotApplicable, NotUniform):
        return tree
    own, ideal = forms[0], forms[-1]
    if tuple(forms) == _bodies(tree):
        return tree
    (loop,) = (each for each in own if isinstance(each, ast.For))
    first = ast.number(_literal(loop.low) - 1, loop.span)
    declarations: list[ast.Declaration] = []
    for each in tree.declarations:
        match each:
            case ast.VariableDecl() if each is output:
                assert isinstance(each.type, ast.Range)
                declarations.append(replace(each, type=replace(each.type, low=first), initial=first))
            case ast.VariableDecl(role=ast.Role.VAR):
                declarations += _declared(each, own)
            case ast.IdealDecl(declarations=inner):
                kept = tuple(new for old in (*inner, _real(best)) for new in _declared(old, ideal))
                declarations.append(replace(each, declarations=kept, body=ideal, noiseless=False))
            case _:
                declarations.append(each)
    return replace(tree, declarations=(*declarations, *_declared(_real(best), own)), body=own)


def _bodies(tree: ast.ProgramTree) -> tuple[Block, ...]:
    return (tree.body,) if tree.ideal is None else (tree.body, tree.ideal.body)


def _real(name: str) -> ast.VariableDecl:
    declarator = ast.Declarator(name, None, None)
    return ast.VariableDecl(ast.Role.VAR, (declarator,), ast.BaseTypeExpr(ast.BaseType.REAL), None)


def _output(tree: ast.ProgramTree, parameter: str) -> ast.VariableDecl:
    outputs = [
        each for each in tree.declarations if isinstance(each, ast.VariableDecl) and each.role is ast.Role.OUTPUT
    ]
    match outputs:
        case [ast.VariableDecl(declarators=(ast.Declarator(high=None),), type=ast.Range(high=high)) as output]:
            if last_offset(high, parameter) is not None:
                return output
    raise NotApplicable


def _declared(declaration: ast.VariableDecl, used: Block) -> list[ast.VariableDecl]:
    """Return `declaration` with only the variables that `used` mentions, as scalars without initial values.

    The result is empty if `used` mentions none of them.
    """
    kept = tuple(
        ast.Declarator(each.name, None, None, each.span)
        for each in declaration.declarators
        if mentions(used, each.name)
    )
    return [replace(declaration, declarators=kept, initial=None)] if kept else []


def _selection(body: Block, output: str, initial: ast.Expr | None, best: str, parameter: str) -> Block:
    """Return the selection `body` as a first draw, followed by one loop that compares each later value with the best.

    The loop keeps the index of the best value in `output`, whose initial value is `initial`. `best` is a new variable
    for the best value, in case the program keeps only its index. The loop ends at the constant `parameter`, or at
    `parameter` plus or minus a fixed integer. Raises NotApplicable or NotUniform if `body` is not a selection.
    """
    *before, loop = _with_answer(_around_queries(body), output)
    if not isinstance(loop, ast.For) or last_offset(loop.high, parameter) is None:
        raise NotApplicable
    before, loop = _unlisted(before, loop, output, best)
    before, loop = _from_second(before, loop, output)
    first = _literal(loop.low) - 1
    own = [each for each in before if isinstance(each, ast.Assign) and is_name(each.target, output)]
    starts: list[ast.Expr | None] = [each.value for each in own]
    if not starts and isinstance(body[-1], ast.For):
        starts = [initial]
    if len(starts) != 1 or starts[0] is None or _literal(starts[0]) != first:
        raise NotApplicable
    before = [each for each in before if each not in own]
    # The form is the same wherever the loop ends.
    found = selection_of((*before, replace(loop, high=ast.Name(parameter))), QueryNumber(parameter))
    if found.answer != output:
        raise NotApplicable
    return (*_printable(before), replace(loop, body=_printable(loop.body)))


def _literal(value: ast.Expr) -> int:
    if isinstance(value, ast.Number) and value.value.denominator == 1:
        return int(value.value)
    raise NotApplicable


def _with_answer(body: Block, output: str) -> Block:
    """Return `body` with `output` in place of the variable that its last statement copies to `output`.

    A body that does not end with such a copy is returned unchanged. Raises NotApplicable if `output` is used before the
    copy, or if `body` is empty.
    """
    match body:
        case (*rest, ast.Assign(target=target, value=ast.Name(name=name))) if is_name(target, output) and rest:
            if mentions(tuple(rest), output):
                raise NotApplicable
            return rewritten(tuple(rest), lambda node: replace(node, name=output) if is_name(node, name) else None)
        case (_, *_):
            return body
    raise NotApplicable


# --- noise around a query -------------------------------------------------------------------------------------


def _around_queries(body: Block) -> Block:
    """Return `body` with one draw around a query, z <- D(q[i]), in place of a draw x <- D(0) and the sum z <- x + q[i].

    Raises NotApplicable if x is used elsewhere.
    """
    drawn: set[str] = set()
    result = _merged(body, drawn)
    if any(mentions(result, name) for name in drawn):
        raise NotApplicable
    return result


def _merged(body: Block, drawn: set[str]) -> Block:
    result: list[ast.Statement] = []
    for statement in body:
        match (result[-1] if result else None), statement:
            case (
                ast.Sample(target=ast.Name(name=name), distribution=ast.NoiseExpr(mean=None) as noise),
                ast.Assign(target=target, value=value),
            ) if (query := _other_summand(value, name)) is not None:
                result[-1] = ast.Sample(target, replace(noise, mean=query), statement.span)
            case ast.Assign(target=ast.Name(name=name), value=ast.Number(value=Fraction(numerator=0))), ast.Assign(
                target=target, value=value
            ) if (query := _other_summand(value, name)) is not None:
                result[-1] = ast.Assign(target, query, statement.span)
            case _, ast.For(body=inner):
                result.append(replace(statement, body=_merged(inner, drawn)))
                continue
            case _:
                result.append(statement)
                continue
        if not is_name(target, name):
            drawn.add(name)
    return tuple(result)


def _other_summand(value: ast.Expr, name: str) -> ast.Element | None:
    """Return the other summand if `value` is the sum of the variable `name` and an array element, else None."""
    match value:
        case ast.Binary(op=ast.BinaryOp.ADD, left=left, right=ast.Element() as query) if is_name(left, name):
            return query
        case ast.Binary(op=ast.BinaryOp.ADD, left=ast.Element() as query, right=right) if is_name(right, name):
            return query
    return None


def _printable(body: Block | list[ast.Statement]) -> Block:
    """Return `body` with draws around 0 of all noises for which the language has no mean.

    For these noises z <- D(q[i]) becomes two statements, a draw around 0 and z <- z + q[i].
    """
    result: list[ast.Statement] = []
    for each in body:
        match each:
            case ast.Sample(
                target=ast.Name() as name, distribution=ast.NoiseExpr(law=law, mean=ast.Element() as query)
            ):
                if law.takes_mean:
                    result.append(each)
                else:
                    total = ast.Binary(ast.BinaryOp.ADD, name, query, each.span)
                    assert isinstance(each.distribution, ast.NoiseExpr)
                    result.append(replace(each, distribution=replace(each.distribution, mean=None)))
                    result.append(ast.Assign(name, total, each.span))
            case _:
                result.append(each)
    return tuple(result)


# --- values in a list -----------------------------------------------------------------------------------------


def _unlisted(
    before: list[ast.Statement], loop: ast.For, output: str, best: str
) -> tuple[list[ast.Statement], ast.For]:
    """Return `before` and `loop` with each noisy value drawn where it is compared, instead of in a loop of its own.

    `before` has the statements before `loop`. If they contain no loop, nothing changes. `loop` selects the index
    `output`; the variable `best` keeps the best value. Raises NotApplicable for statements of another form.
    """
    fills = [each for each in before if isinstance(each, ast.For)]
    if not fills:
        return before, loop
    match fills:
        case [ast.For(variable=index, low=low, high=high, body=(ast.Assign() | ast.Sample() as value,)) as fill] if (
            before[0] is fill and high == loop.high
        ):
            pass
        case _:
            raise NotApplicable
    if not isinstance(value.target, ast.Element) or not is_name(value.target.index, index):
        raise NotApplicable
    name, first = value.target.name, _literal(low)

    def drawn(target: str, at: ast.Expr) -> ast.Statement:
        return rewritten(
            replace(value, target=ast.Name(target, value.target.span)),
            lambda node: at if is_name(node, index) else None,
        )

    heads, is_drawn = list[ast.Statement](), False
    for each in before[1:]:
        match each:
            case ast.Assign(target=ast.Name(name=own), value=ast.Element(name=array, index=place)) if array == name:
                if is_drawn or _literal(place) != first:
                    raise NotApplicable
                is_drawn = True
                heads.append(drawn(own, place))
            case _:
                heads.append(each)
    here = ast.Name(loop.variable, loop.span)
    inner = loop.body
    match inner:
        case (
            ast.If(
                condition=ast.Compare(left=ast.Element() as left, right=ast.Element() as right) as condition,
                then=(ast.Assign(target=target),) as then,
            ) as decision,
        ) if is_name(target, output) and not is_drawn:
            # The best value is the listed one at the answer so far.
            sides = [_value_at(each, name, loop.variable, output, best) for each in (left, right)]
            kept = ast.Assign(ast.Name(best, decision.span), ast.Name(name, decision.span), decision.span)
            condition = replace(condition, left=sides[0], right=sides[1])
            inner = (replace(decision, condition=condition, then=(kept, *then)),)
            heads.insert(0, drawn(best, ast.Number(Fraction(first), str(first), loop.span)))
            is_drawn = True
        case _:
            inner = rewritten(
                inner,
                lambda node: (
                    ast.Name(name, node.span)
                    if isinstance(node, ast.Element) and node.name == name and is_name(node.index, loop.variable)
                    else None
                ),
            )
    body = (drawn(name, here), *inner)
    start = _literal(loop.low)
    if start == first and is_drawn:
        # The first value is not compared with itself.
        loop = replace(loop, low=ast.Number(Fraction(first + 1), str(first + 1), loop.span))
    elif start != first + is_drawn:
        raise NotApplicable
    if any(isinstance(node, ast.Element) and node.name == name for node in walk((tuple(heads), body))):
        raise NotApplicable
    return heads, replace(loop, body=body)


def _value_at(element: ast.Element, name: str, variable: str, answer: str, best: str) -> ast.Name:
    if element.name == name and is_name(element.index, variable):
        return ast.Name(name, element.span)
    if element.name == name and is_name(element.index, answer):
        return ast.Name(best, element.span)
    raise NotApplicable


# --- the first value in the loop ------------------------------------------------------------------------------


def _from_second(before: list[ast.Statement], loop: ast.For, output: str) -> tuple[list[ast.Statement], ast.For]:
    """Return `before` and `loop` with the first iteration moved before the loop, if it chooses the first value.

    The loop selects the index `output`, and `before` has the statements before the loop. If the first iteration
    compares its value like all others, both are returned unchanged.
    """
    *draws, decision = loop.body
    match decision:
        case ast.If(
            condition=ast.Binary(op=ast.BinaryOp.OR, left=start, right=ast.Compare() as condition), otherwise=()
        ):
            pass
        case _:
            return before, loop
    first = _literal(loop.low)
    given: str | None = None
    match start:
        case ast.Unary(op=ast.UnaryOp.NOT, operand=ast.Name(name=given)):
            pass
        case ast.Compare(op=ast.CompareOp.EQ, left=left, right=right) if is_name(left, loop.variable):
            if _literal(right) != first:
                raise NotApplicable
        case _:
            raise NotApplicable
    then = [each for each in decision.then if given is None or not _sets(each, given, value=True)]
    if len(then) + (given is not None) != len(decision.then):
        raise NotApplicable
    chosen = {each.target.name: each for each in then if isinstance(each, ast.Assign)}
    for each in before:
        if not isinstance(each, ast.Assign) or not isinstance(each.target, ast.Name):
            raise NotApplicable
        if each.target.name not in chosen and (given is None or not _sets(each, given, value=False)):
            raise NotApplicable
    if given is not None and (
        not any(_sets(each, given, value=False) for each in before) or mentions(condition, given)
    ):
        raise NotApplicable
    bests = [each for name, each in chosen.items() if name != output]
    if len(bests) != 1 or len(chosen) != len(then) or len(draws) > 1:
        raise NotApplicable
    (best,) = bests
    index = ast.Number(Fraction(first), str(first), loop.span)
    value: ast.Statement = best
    if draws:
        (draw,) = draws
        if not isinstance(draw, ast.Assign | ast.Sample) or not isinstance(draw.target, ast.Name):
            raise NotApplicable
        if not isinstance(best.value, ast.Name) or best.value.name != draw.target.name:
            raise NotApplicable
        value = replace(draw, target=best.target)
    value = rewritten(value, lambda node: index if is_name(node, loop.variable) else None)
    low = ast.Number(Fraction(first + 1), str(first + 1), loop.span)
    body = (*draws, replace(decision, condition=condition, then=tuple(then)))
    return [value, ast.Assign(ast.Name(output, loop.span), index, loop.span)], replace(loop, low=low, body=body)


def _sets(statement: ast.Statement, name: str, *, value: bool) -> bool:
    match statement:
        case ast.Assign(target=target, value=ast.Truth(value=found)):
            return is_name(target, name) and found is value
    return False

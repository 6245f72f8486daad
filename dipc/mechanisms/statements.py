"""Translate statements of Python into statements of the language.

This covers loops, early returns, `break` and `continue`, and lists that grow.
"""

from __future__ import annotations

import ast as python
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

from dipc.mechanisms.expressions import (
    Alias,
    Array,
    Binding,
    Expressions,
    Frame,
    Item,
    Many,
    Scalar,
    _plain,
    makes_list,
    may_fail,
)
from dipc.mechanisms.module import BAD_HEADER, BUILTINS, names_in, names_stored, own_nodes, rational
from dipc.mechanisms.types import BLANK, NONE, ConstantSum, Kind, bound_of
from dipc.text import ast
from dipc.text.ast import BinaryOp, UnaryOp, number
from dipc.text.diagnostic import Span

#: A name for the index of an element that is changed; no name in Python is spelled so.
_INDEX = "index of an element"

#: The mark of a `return`, which `outputs_written` replaces. No name in Python is spelled so.
_RETURNED = "answer returned"

#: Functions inside of functions, and statements that are written more than once because of early exits.
_MOST_DEEP, _MOST_STATEMENTS = 20, 20_000


#: A function without names: what stands in it means what it means in the file.
_OF_THE_FILE = python.FunctionDef(
    "defaults", python.arguments([], [], None, [], [], None, []), [], [], lineno=1, col_offset=0
)


@dataclass(frozen=True)
class Answer:
    """One part of what a function returns: a value, or a list.

    `name` is the output for this part. `array` is the list, or None if the part is a value.
    """

    name: str
    array: Array | None


@dataclass
class _Loop:
    """A loop that encloses the statements being translated, and what `break` does in it.

    If `then` is not None, `break` is replaced by these statements, which follow the loop in the function. Otherwise
    `break` sets the variable `flag`, which is None until the first such `break` is translated.
    """

    flag: str | None = None
    then: Sequence[python.stmt] | None = None


class Statements(Expressions):
    """A translator for the statements of one mechanism.

    After the translation, `answers` are the parts of its answer, and `is_tuple` is true if the answer is a tuple of
    them. `returns_none` is the statement that first returns None. `returns` has an entry for each `return`: the lists
    that it gives, one for each part of the answer (None for a part that is not a list), or None for a `return` of None.
    """

    answers: tuple[Answer, ...] | None = None
    is_tuple = False
    returns_none: python.stmt | None = None
    returns: list[tuple[Array | None, ...] | None]

    def body(self, node: python.FunctionDef) -> tuple[ast.Statement, ...]:
        """Return the statements of the function `node`; raise DiagnosticError if one of them cannot be translated."""
        self.frames = [Frame(node)]
        self.env_of_inputs = dict(self.env)
        self.ordinals: dict[int, ast.Expr] = {}
        self.arrays: list[Array] = []
        self.around: list[_Loop] = []
        self.stores = _stores(node)
        self._require_known_meaning(node)
        self.taken |= {
            constant.value
            for constant in python.walk(node)
            if isinstance(constant, python.Constant) and isinstance(constant.value, str)
        }
        self.returned: python.Return | None = None
        self.returns = []
        with self.collecting() as written:
            for name, bound in list(self.env.items()):
                if name in self.stores and isinstance(bound, Scalar):
                    # An input that the function assigns, too, is copied first.
                    copied = self.frames[0].scalars[name] = self.env[name] = Scalar(self.fresh(name))
                    place = self.module.head(node)
                    self.emit(ast.Assign(ast.Name(copied.name, place), ast.Name(bound.name, place), place))
            self.block(node.body, tail=True)
        if self.answers is None or not any(isinstance(each, python.Return) for each in own_nodes(node.body)):
            raise self.module.wrong(
                node, f"`{node.name}` returns nothing", "return the answer: `return i`", code=BAD_HEADER
            )
        return tuple(written)

    @property
    def may_be_none_as_a_whole(self) -> bool:
        """Whether the function returns None in place of a list or a tuple."""
        whole = self.is_tuple or any(answer.array is not None for answer in self.answers or ())
        return self.returns_none is not None and whole

    def outputs_written(self, body: tuple[ast.Statement, ...], answered: str | None) -> tuple[ast.Statement, ...]:
        """Return `body` with the placeholder of each `return` replaced by statements that assign the outputs.

        A list that the function returns becomes an output itself if every `return` has it as the same part of the
        answer, and none as another part. Any other list is copied into an output. `answered`, if given, is the output
        that is false where the answer is None; all other outputs have one fixed value (BLANK) there.
        """
        assert self.answers is not None
        given = [lists for lists in self.returns if lists is not None]
        final: list[Answer] = []
        for place, answer in enumerate(self.answers):
            first = answer.array
            if first is None:
                final.append(answer)
                continue
            here = {id(lists[place]) for lists in given}
            elsewhere = {id(array) for lists in given for other, array in enumerate(lists) if other != place}
            if len(here) == 1 and not first.is_input and id(first) not in elsewhere:
                final.append(answer)
                continue
            for lists in given:
                array = lists[place]
                assert array is not None
                if array.length != first.length or (array.grows and array is not first):
                    raise self.module.wrong(
                        self.returned or self.frames[0].node,
                        "lists of different lengths are returned",
                        "return lists of one length",
                    )
                if array.grows:
                    raise self.module.wrong(
                        self.returned or self.frames[0].node,
                        "a list that grows is returned beside itself or another list",
                        f"copy it into a list of full length: `ys = [0] * {first.length.value}`",
                    )
            output = Array(answer.name, first.length)
            self.arrays.append(output)
            final.append(Answer(answer.name, output))
        self.answers = tuple(final)
        return self._replaced(body, answered)

    def _replaced(self, body: Sequence[ast.Statement], answered: str | None) -> tuple[ast.Statement, ...]:
        result: list[ast.Statement] = []
        for statement in body:
            match statement:
                case ast.Assign(ast.Name(name=name), ast.Number(value=number_of), span) if name == _RETURNED:
                    result += self._output_statements(self.returns[int(number_of)], answered, span)
                case ast.If(condition, then, otherwise, span):
                    first, second = self._replaced(then, answered), self._replaced(otherwise, answered)
                    if not first and second:
                        condition, first, second = _negated(condition), second, first
                    if first or second or may_fail(condition):
                        result.append(ast.If(condition, first, second, span))
                case ast.For() | ast.While():
                    result.append(replace(statement, body=self._replaced(statement.body, answered)))
                case _:
                    result.append(statement)
        return tuple(result)

    def _output_statements(
        self, lists: tuple[Array | None, ...] | None, answered: str | None, span: Span
    ) -> Iterator[ast.Statement]:
        assert self.answers is not None
        if lists is None and answered is None:
            return
        if answered is not None:
            yield ast.Assign(ast.Name(answered, span), ast.Truth(lists is not None, span), span)
        blank = ast.Name(BLANK, span)
        for place, answer in enumerate(self.answers):
            source = None if lists is None else lists[place]
            if answer.array is None:
                if lists is None:
                    yield ast.Assign(ast.Name(answer.name, span), blank, span)
            elif source is not answer.array:
                variable = self.fresh("k")
                index = ast.Name(variable, span)
                value = blank if source is None else ast.Element(source.name, index, span)
                high = answer.array.length.plus(-1).expression(span)
                copied = ast.Assign(ast.Element(answer.array.name, index, span), value, span)
                yield ast.For(variable, number(0, span), high, (copied,), span)

    def _mark(self, lists: tuple[Array | None, ...] | None, span: Span) -> None:
        """Write a mark at `span` in place of a `return`, which is replaced once the whole function has been translated.

        `lists` has an entry for each part of the returned answer: the list that it is, or None if it is not a list.
        Which lists are outputs is known only at the end of the function.
        """
        mark = number(len(self.returns), span)
        self.returns.append(lists)
        self.emit(ast.Assign(ast.Name(_RETURNED, span), mark, span))

    def _return_none(self, statement: python.stmt, span: Span) -> None:
        self.returns_none = self.returns_none or statement
        if self.answers is None and not any(
            isinstance(node, python.Return)
            and not (node.value is None or (isinstance(node.value, python.Constant) and node.value.value is None))
            for node in own_nodes(self.frames[0].node.body)
        ):
            self.answers = (Answer("out", None),)
        self._mark(None, span)

    def _require_known_meaning(self, function: python.FunctionDef) -> None:
        """Raise DiagnosticError if a part of `function`, even one that never runs, gives other parts another meaning.

        Such parts are `yield`, which makes the function a generator, and definitions that replace a Python function or
        a module that it uses.
        """
        module = self.module
        for node in own_nodes(function.body):
            if isinstance(node, python.Yield | python.YieldFrom):
                raise module.wrong(node, f"`{module.text(node)}` is not part of a mechanism")
        own = {name for node in python.walk(function) for name in _bound_by(node)} - {function.name}
        called = {id(node.func) for node in python.walk(function) if isinstance(node, python.Call)}
        called |= {id(node.value) for node in python.walk(function) if isinstance(node, python.Attribute)}
        for node in python.walk(function):
            if isinstance(node, python.Name) and isinstance(node.ctx, python.Load):
                name = node.id
                changed = name in BUILTINS and (name in module.names or name in module.changing)
                inside = name in own and (name in BUILTINS or name in module.aliases) and id(node) in called
                if changed or inside:
                    where = [(module.changing[name], "here")] if name in module.changing else []
                    raise module.wrong(
                        node, f"`{name}` means something else in this file", "rename that", related=where
                    )

    def register(self, array: Array) -> None:
        self.arrays.append(array)

    # --- blocks -----------------------------------------------------------------------------------

    def block(self, body: Sequence[python.stmt], *, tail: bool) -> None:
        """Translate the statements `body`; `tail` is true if no statement follows them in the function."""
        for index, statement in enumerate(body):
            rest = body[index + 1 :]
            if len(self.out) > _MOST_STATEMENTS:
                raise self.module.wrong(statement, "this has too many early exits to write out")
            match statement:
                case python.If():
                    if rest and _jumps(statement):
                        # What follows is written into the branches that come to it.
                        self._if(statement, [*statement.body, *rest], [*statement.orelse, *rest], tail=tail)
                        return
                    self._if(statement, statement.body, statement.orelse, tail=tail and not rest)
                case python.Return():
                    self._return(statement, tail=tail)
                    return
                case python.Break() | python.Continue():
                    self._jump(statement)
                    return
                case python.For() | python.While():
                    if statement.orelse:
                        raise self.module.wrong(
                            statement.orelse[0], "`else` of a loop is not part of a mechanism", "use a variable"
                        )
                    silent = tail and len(rest) <= 1 and all(isinstance(each, python.Return) for each in rest)
                    in_function = len(self.frames) == 1 and not self.around
                    loop = _Loop(then=rest if silent and in_function else None)
                    if isinstance(statement, python.For):
                        self._for(statement, loop)
                    else:
                        self._while(statement, loop)
                case _:
                    self._simple(statement)
        if tail and len(self.frames) == 1 and not (body and (isinstance(body[-1], python.If) or _ends(body[-1:]))):
            last = body[-1] if body else self.frames[0].node
            self._return_none(last, self.module.head(last))

    def _simple(self, statement: python.stmt) -> None:
        span = self.module.span(statement)
        match statement:
            case python.Assign(targets=[target], value=value):
                self._assign(target, value, statement)
            case python.Assign():
                raise self.module.wrong(statement, "assign one variable at a time", "write two assignments")
            case python.AnnAssign(target=python.Name(id=name), annotation=annotation, value=value):
                kind = self.kind(annotation)
                own = self.scalar(name)
                self.annotated[own.name] = kind
                if value is not None:
                    self.assign(ast.Name(own.name, span), value, span)
            case python.AugAssign(target=target, op=op, value=value):
                if isinstance(target, python.Subscript):
                    target = self._with_index_once(target)
                read = python.copy_location(_reading(target), target)
                combined = python.copy_location(python.BinOp(read, op, value), statement)
                self._assign(target, combined, statement)
            case python.Expr(value=python.Constant(value=str())) | python.Pass():
                pass
            case python.Expr(value=python.Call(func=python.Attribute(value=python.Name(), attr="append")) as call):
                self._append(call, span)
            case python.Expr(value=python.Call() as call):
                self.computed(call)
            case python.Assert():
                raise self.module.wrong(
                    statement, "`assert` is not part of a mechanism", "leave it out, or put it into a test"
                )
            case python.Raise() | python.Try():
                raise self.module.wrong(
                    statement, "a mechanism cannot raise an exception", "return an answer in every case"
                )
            case python.Import() | python.ImportFrom():
                raise self.module.wrong(statement, "put imports at the top of the file")
            case python.FunctionDef(name=name):
                if self.loops or self.branches or self.stores.get(name, 0) > 1:
                    raise self.module.wrong(
                        statement,
                        f"`{name}` may be another function, or none, on other paths",
                        "define it once, outside of loops and branches",
                    )
                self.frames[-1].functions[name] = statement
            case python.AsyncFunctionDef() | python.ClassDef():
                raise self.module.wrong(statement, f"`{statement.name}` is not part of a mechanism", "write a function")
            case python.Global() | python.Nonlocal():
                raise self.module.wrong(
                    statement,
                    "a mechanism cannot change anything outside of itself",
                    "keep its state in its own variables",
                )
            case python.With() | python.AsyncWith() | python.AsyncFor() | python.Match() | python.Delete():
                word = self.module.source.text[span.start :].split()[0]
                raise self.module.wrong(statement, f"`{word}` is not part of a mechanism")
            case _:
                raise self.module.wrong(statement, f"`{self.module.text(statement)}` is not part of a mechanism")

    # --- assignments ------------------------------------------------------------------------------

    def _with_index_once(self, target: python.Subscript) -> python.Subscript:
        """Return the list element `target` with its index stored in a variable.

        Python evaluates the index of `xs[i] += 1` only once.
        """
        array = self.array(target.value)
        if array is None or isinstance(target.slice, python.Slice):
            return target
        self.env[_INDEX] = Alias(self.index(array, target.slice))
        name = python.copy_location(python.Name(_INDEX, python.Load()), target.slice)
        return python.copy_location(python.Subscript(target.value, name, target.ctx), target)

    def _assign(self, target: python.expr, value: python.expr, statement: python.stmt) -> None:
        span = self.module.span(statement)
        match target:
            case python.Name(id=name):
                if self._is_extreme(name, value):
                    self.extremes[name] = value
                if not self._special(name, value, span):
                    bound = self.env.get(name)
                    if isinstance(bound, Array):
                        raise self.module.wrong(
                            statement, f"`{name}` was a list and becomes something else", "give it another name"
                        )
                    arguments = self.frames[0].node.args
                    if (
                        isinstance(bound, Alias)
                        and len(self.frames) == 1
                        and any(each.arg == name for each in (*arguments.args, *arguments.kwonlyargs))
                    ):
                        raise self.module.wrong(
                            statement, f"the argument `{name}` is assigned", "copy it to a variable first"
                        )
                    with self.collecting() as written:
                        unnamed = ast.Name("", span)
                        self.assign(unnamed, value, span)
                    made = ast.Name(self.scalar(name).name, self.module.span(target))
                    self.out.extend(ast.rewritten(tuple(written), lambda node: made if node is unnamed else None))
            case python.Subscript(value=inner):
                array = self.array(inner)
                if array is None:
                    raise self.module.wrong(target, f"`{self.module.text(inner)}` is not a list of this function")
                self.assign(self._changed_element(target, array), value, span)
            case python.Tuple(elts=targets) if isinstance(value, python.Tuple) and len(value.elts) == len(targets):
                names = {own.id for own in targets if isinstance(own, python.Name)}
                calls = any(frame.functions.keys() & set(names_in(value)) for frame in self.frames[-1].lexical)
                if names.isdisjoint(names_in(value)) and len(names) == len(targets) and not calls:
                    for own, each in zip(targets, value.elts, strict=True):
                        self._assign(own, each, statement)
                    return
                held = []
                for each in value.elts:
                    held.append(ast.Name(self.fresh("held", self.module.text(each)), span))
                    self.assign(held[-1], each, span)
                for own, kept in zip(targets, held, strict=True):
                    self._assign_held(own, kept, span)
            case python.Tuple(elts=targets) if (
                many := self.many(value) if isinstance(value, python.Name | python.Subscript) else None
            ) is not None:
                if many.counter is not None or many.length.terms or many.length.value != len(targets):
                    raise self.module.wrong(
                        statement,
                        f"`{self.module.text(value)}` may not have {len(targets)} elements",
                        "assign its elements one by one",
                    )
                held = []
                for place in range(len(targets)):
                    held.append(ast.Name(self.fresh("held"), span))
                    self.emit(ast.Assign(held[-1], _plain(many.item(number(place, span))), span))
                for own, kept in zip(targets, held, strict=True):
                    self._assign_held(own, kept, span)
            case _:
                raise self.module.wrong(statement, f"`{self.module.text(target)}` cannot be assigned here")

    def _assign_held(self, target: python.expr, held: ast.Name, span: Span) -> None:
        match target:
            case python.Name(id=name) if not isinstance(self.env.get(name), Array):
                self.emit(ast.Assign(ast.Name(self.scalar(name).name, span), held, span))
            case python.Subscript(value=inner) if (array := self.array(inner)) is not None:
                self.emit(ast.Assign(self._changed_element(target, array), held, span))
            case _:
                raise self.module.wrong(
                    target, "only names and elements of lists can be assigned together", "write two assignments"
                )

    def _changed_element(self, target: python.Subscript, array: Array) -> ast.Element:
        self._require_own(array, target)
        if array.is_input:
            raise self.module.wrong(
                target,
                f"the input `{self.module.text(target.value)}` is changed",
                "copy it first: `r = [x for x in q]`",
            )
        return ast.Element(array.name, self.index(array, target.slice), self.module.span(target))

    def _is_extreme(self, name: str, value: python.expr) -> bool:
        """Return True if `value` is `max(xs)` or `min(xs)`, and the variable `name` keeps it until the function ends.

        The result is False if the list xs or the variable changes after the assignment.
        """
        match value:
            case python.Call(func=python.Name(id="max" | "min"), args=[python.Name(id=many)], keywords=[]):
                nodes = list(python.walk(self.frames[0].node))
                changed = (
                    tree
                    for tree in nodes
                    if (isinstance(tree, python.Subscript) and isinstance(tree.ctx, python.Store))
                    or (isinstance(tree, python.Attribute) and tree.attr != "index")
                    if isinstance(tree.value, python.Name) and tree.value.id == many
                )
                renamed = any(
                    isinstance(tree, python.Assign) and many in _names_given(tree.value, tree.targets[0])
                    for tree in nodes
                )
                once = all(self.stores.get(each, 0) <= 1 for each in (name, many))
                outside = len(self.frames) == 1 and not self.loops and not self.branches
                return once and outside and not renamed and all(each.lineno < value.lineno for each in changed)
        return False

    def _special(self, name: str, value: python.expr, span: Span) -> bool:
        """Return True if `value`, at `span`, is a list or a constant, after binding `name` to it.

        Otherwise `name` is an ordinary variable, and nothing is bound.
        """
        before = self.env.get(name)
        array = self._list(name, value, span)
        if array is not None:
            if isinstance(before, Array) and before is not array and (self.loops or self.branches):
                raise self.module.wrong(
                    value,
                    f"the list `{name}` is replaced by another one in a loop or a branch",
                    "change its elements, `for i in range(m): xs[i] = …`, or give the other list another name",
                )
            array.depth = array.depth if array is self.array(value) else len(self.frames)
            if self.loops and not array.is_input and array.grows:
                raise self.module.wrong(
                    value, "a list that grows must be created before all loops", f"write `{name} = []` further up"
                )
            self.env[name] = array
            return True
        once = self.stores.get(name, 0) == 1 and name not in self.env and name not in self.frames[-1].scalars
        if once and len(self.frames) == 1 and not self.branches:
            with self.collecting() as written:
                value_of = self._constant_of(value)
            if value_of is not None and not written:
                self.env[name] = Alias(value_of)
                return True
        return False

    def _constant_of(self, value: python.expr) -> ast.Expr | None:
        """Return `value` as an expression if it consists of constants and eps; otherwise None."""
        allowed = {*self.constants, *self.module.constants, "eps"} - self.stores.keys()
        for node in python.walk(value):
            match node:
                case python.Name(id=each) if each in self.module.aliases:
                    pass
                case python.Name(id=each):
                    bound = self.env.get(each)
                    if not (each in allowed and bound is None) and not (
                        isinstance(bound, Alias) and not _mentions_variables(bound.value, self.constants)
                    ):
                        return None
                case python.Call(func=function) if self.called(function) not in (
                    "math.exp",
                    "dipc.exp",
                    "fractions.Fraction",
                ):
                    return None
                case python.Constant(value=str() | None | bool()) | python.Compare() | python.IfExp() | python.List():
                    return None
        return self.expr(value)

    def _list(self, name: str, value: python.expr, span: Span) -> Array | None:
        other = self.array(value)
        if other is not None:
            if other.grows:
                raise self.module.wrong(
                    value, "a list that grows has one name", f"use `{self.module.text(value)}` itself"
                )
            return other
        match value:
            case python.List(elts=[]) | python.Call(func=python.Name(id="list"), args=[], keywords=[]):
                array = Array(self.fresh(name), ConstantSum.from_number(0), grows=True)
                self._prepare(array, name, value)
            case python.List(elts=elements):
                array = Array(self.fresh(name), ConstantSum.from_number(len(elements)))
                for index, each in enumerate(elements):
                    self.assign(ast.Element(array.name, number(index, span), span), each, span)
            case (
                python.BinOp(left=python.List(elts=[each]), op=python.Mult(), right=times)
                | python.BinOp(left=times, op=python.Mult(), right=python.List(elts=[each]))
            ):
                array = Array(self.fresh(name), self.length(times))
                with self.collecting() as written:
                    initial = self.expr(each)
                self.out.extend(written)
                plain = (
                    isinstance(initial, ast.Truth)
                    or bound_of(initial, self.constants) is not None
                    or (isinstance(initial, ast.Name) and (initial.name == NONE or initial.name in self.strings))
                )
                if plain and not written and not self.loops:
                    array.initial = initial
                else:
                    places = Many(array.length, lambda k: k)
                    self.write_loop(
                        places,
                        span,
                        lambda k, _: self.emit(ast.Assign(ast.Element(array.name, k, span), initial, span)),
                    )
            case python.ListComp(elt=element, generators=[generator]) if not generator.ifs:
                many = self.many(generator.iter)
                if many is not None and many.counter is not None:
                    return self._filtered(name, element, generator, span)
                if many is not None and many.length.value <= 0:
                    raise self.module.wrong(
                        value, "this list has no elements", "leave it out, or give it at least one element"
                    )
                if many is None:
                    raise self.module.wrong(
                        generator.iter, "this cannot be looped over", "write `for x in q` or `range(m)`"
                    )
                array = Array(self.fresh(name), many.length)

                def fill(k: ast.Expr, item: Item) -> None:
                    self.bind(generator.target, item)
                    self.assign(ast.Element(array.name, k, span), element, span)

                with self.scope():
                    self.write_loop(many, span, fill)
            case python.ListComp(elt=element, generators=[generator]):
                return self._filtered(name, element, generator, span)
            case python.ListComp():
                raise self.module.wrong(
                    value, "a comprehension has one `for` here", "write the loops as statements, and use `append`"
                )
            case python.Subscript(slice=python.Slice()):
                many = self.many(value)
                if many is None:
                    raise self.module.wrong(value, "a slice needs a list of a known length", "write a loop")
                array = Array(self.fresh(name), many.length)
                self.write_loop(
                    many,
                    span,
                    lambda k, item: self.emit(ast.Assign(ast.Element(array.name, k, span), _plain(item), span)),
                )
            case python.Call(func=python.Name(id="sorted"), args=[inner], keywords=keywords):
                array = self._sorted(name, value, inner, keywords, span)
            case python.Call(func=python.Name(id="list"), args=[inner]):
                return self._list(name, python.copy_location(_copying(inner), value), span)
            case _:
                return None
        self.register(array)
        return array

    def _filtered(self, name: str, element: python.expr, generator: python.comprehension, span: Span) -> Array:
        """Return the list `[element for x in q if …]` as an array for the variable `name`; it grows with each element.

        `generator` is the part that begins with `for`. The statements are placed at `span`.
        """
        many = self.many(generator.iter)
        if many is None:
            raise self.module.wrong(generator.iter, "this cannot be looped over", "write `for x in q` or `range(m)`")
        array = Array(self.fresh(name), many.length, grows=True, partial=True)
        array.counter = self.fresh(f"{array.name}_length")
        self.spellings[array.counter] = f"len({name})"
        counter = ast.Name(array.counter, span)
        self.emit(ast.Assign(counter, number(0, span), span))

        def append(_: ast.Expr, item: Item) -> None:
            self.bind(generator.target, item)
            self._append_if(generator.ifs, element, array, counter, span)

        with self.scope():
            self.write_loop(many, span, append)
        self.register(array)
        return array

    def _append_if(
        self, tests: Sequence[python.expr], element: python.expr, array: Array, counter: ast.Name, span: Span
    ) -> None:
        if tests:
            condition = self.expr(tests[0])
            with self.collecting() as inner:
                self._append_if(tests[1:], element, array, counter, span)
            self.emit(ast.If(condition, tuple(inner), (), span))
            return
        self.assign(ast.Element(array.name, counter, span), element, span)
        more = ast.Binary(BinaryOp.ADD, counter, number(1, span), span)
        self.emit(ast.Assign(counter, more, span))

    def _sorted(
        self, name: str, node: python.expr, inner: python.expr, keywords: Sequence[python.keyword], span: Span
    ) -> Array:
        """Return the list `node`, a call `sorted(inner)` or `sorted(inner, reverse=True)`, as an array for `name`.

        `keywords` are those of the call. The statements at `span` sort by exchanging neighbors.
        """
        match keywords:
            case []:
                after = ast.CompareOp.GT
            case [python.keyword(arg="reverse", value=python.Constant(value=bool() as backwards))]:
                after = ast.CompareOp.LT if backwards else ast.CompareOp.GT
            case _:
                raise self.module.wrong(node, "`sorted` takes a list, and `reverse=True`", "write `sorted(q)`")
        array = self._list(name, python.copy_location(_copying(inner), inner), span)
        if array is None or array.grows:
            raise self.module.wrong(node, "`sorted` needs a list of a known length", "write `sorted(q)`")
        held = ast.Name(self.fresh("held"), span)
        rounds = Many(array.length.plus(-1), lambda k: k)

        def exchange(k: ast.Expr, _: Item) -> None:
            one = ast.Element(array.name, k, span)
            two = ast.Element(array.name, ast.Binary(BinaryOp.ADD, k, number(1, span), span), span)
            swap = (ast.Assign(held, one, span), ast.Assign(one, two, span), ast.Assign(two, held, span))
            self.emit(ast.If(ast.Compare(after, one, two, span), swap, (), span))

        self.write_loop(rounds, span, lambda _, __: self.write_loop(rounds, span, exchange))
        return array

    def listed(self, name: str, value: python.expr, span: Span) -> Array:
        array = self._list(name, value, span)
        assert array is not None
        return array

    # --- lists that grow --------------------------------------------------------------------------

    def _prepare(self, array: Array, name: str, created: python.expr) -> None:
        """Record how the list `array` grows.

        If one `for` loop appends an element in each round, the field `loop` of the array is set. Otherwise a new
        variable counts the elements. A list to which nothing is appended is left unchanged. `name` is the list's name
        in the function, and `created` the expression that creates it.
        """
        body = self.frames[-1].node.body
        sites = list(_appends(body, name, ()))
        if not sites:
            return
        loops = sites[0][1]
        loop = loops[0] if len(loops) == 1 and all(each == loops for _, each in sites) else None
        if isinstance(loop, python.For) and _appends_once(loop.body, name):
            array.loop = loop
            array.partial = any(
                isinstance(node, python.Break | python.Return) for each in loop.body for node in python.walk(each)
            ) or not _always_follows(body, created, loop)
            return
        array.partial = True
        array.counter = self.fresh(f"{array.name}_length")
        self.spellings[array.counter] = f"len({name})"
        zero = number(0, self.module.span(sites[0][0]))
        self.emit(ast.Assign(ast.Name(array.counter, zero.span), zero, zero.span))

    def _append(self, call: python.Call, span: Span) -> None:
        assert isinstance(call.func, python.Attribute)
        array = self.array(call.func.value)
        if array is None or not array.grows:
            raise self.module.wrong(
                call, f"`{self.module.text(call.func.value)}` is not a list that was created as `[]` here"
            )
        if len(call.args) != 1:
            raise self.module.wrong(call, "`append` takes one value")
        self._require_own(array, call)
        offset: ast.Expr
        if array.loop is not None:
            offset = self.ordinals[id(array.loop)]
        else:
            assert array.counter is not None
            times = ConstantSum.from_number(1)
            for each in self.loops:
                times = times.times(each)
            array.length = array.length.plus(times)
            offset = ast.Name(array.counter, span)
        self.assign(ast.Element(array.name, offset, span), call.args[0], span)
        if array.counter is not None:
            more = ast.Binary(BinaryOp.ADD, offset, number(1, span), span)
            self.emit(ast.Assign(ast.Name(array.counter, span), more, span))

    def _require_own(self, array: Array, node: python.expr) -> None:
        if array.depth != len(self.frames):
            raise self.module.wrong(
                node,
                "a function that is called cannot change a list of its caller",
                "change it where the list was made",
            )

    # --- control ----------------------------------------------------------------------------------

    def _if(
        self, statement: python.If, then: Sequence[python.stmt], otherwise: Sequence[python.stmt], *, tail: bool
    ) -> None:
        span = self.module.head(statement)
        condition = self.expr(statement.test)
        kept = dict(self.env)
        self.branches += 1
        with self.collecting() as first:
            self.block(then, tail=tail)
        after = self.env
        self.env = dict(kept)
        with self.collecting() as second:
            self.block(otherwise, tail=tail)
        self.branches -= 1
        for name, bound in after.items():
            other = self.env.get(name, bound)
            if other is not bound and not _ends(then) and not _ends(otherwise):
                raise self.module.wrong(
                    statement, f"`{name}` is another list in each branch", "make the list once, and change its elements"
                )
        open_ways = [env for env, way in ((after, then), (self.env, otherwise)) if not _ends(way)]
        self.env = {**after, **self.env} if not _ends(otherwise) else {**self.env, **after}
        for name, bound in list(self.env.items()):
            if isinstance(bound, Array) and name not in kept and not all(name in env for env in open_ways):
                # Where the other way was taken, there is no list.
                del self.env[name]
        if first or second or may_fail(condition):
            if not first and second:
                condition, first, second = _negated(condition), second, first
            self.emit(ast.If(condition, tuple(first), tuple(second), span))

    def _return(self, statement: python.Return, *, tail: bool) -> None:
        span = self.module.span(statement)
        frame = self.frames[-1]
        if frame.result is not None:
            if statement.value is None:
                raise self.module.wrong(statement, f"`{frame.node.name}` returns no value here")
            if self.around:
                raise self.module.wrong(
                    statement,
                    "a function that is called must return at its end, not inside a loop",
                    "keep the value in a variable, and return that",
                )
            self.assign(frame.result, statement.value, span)
            return
        value = statement.value
        if value is None or (isinstance(value, python.Constant) and value.value is None):
            self._return_none(statement, span)
        else:
            self._answer(statement, value, span)
        if not tail:
            self.emit(ast.ExitStatement(span))

    def _answer(self, statement: python.Return, value: python.expr, span: Span) -> None:
        items = list(value.elts) if isinstance(value, python.Tuple) else [value]
        together = isinstance(value, python.Tuple)
        arrays = [self._returned_list(item, span) for item in items]
        if self.answers is None:
            self.is_tuple, self.returned = together, statement
            names = [f"out_{place}" for place in range(len(items))] if together else ["out"]
            self.answers = tuple(Answer(name, array) for name, array in zip(names, arrays, strict=True))
        shapes = [answer.array is not None for answer in self.answers]
        if together != self.is_tuple or shapes != [array is not None for array in arrays]:
            related = [(self.returned, "elsewhere this")] if self.returned is not None else []
            raise self.module.wrong(
                statement,
                "every `return` must give as many values, with lists in the same places",
                "return None, or values of one shape",
                related=related,
            )
        for answer, item, array in zip(self.answers, items, arrays, strict=True):
            if array is None:
                self.assign(ast.Name(answer.name, span), item, span)
        self._mark(tuple(arrays), span)

    def _returned_list(self, item: python.expr, span: Span) -> Array | None:
        array = self.array(item)
        if array is None and makes_list(item):
            array = self._list("list", item, span)
        return array

    def _jump(self, statement: python.Break | python.Continue) -> None:
        assert self.around, "Python refuses jumps outside of a loop"
        loop = self.around[-1]
        if isinstance(statement, python.Continue):
            return
        if loop.then is not None:
            if loop.then:
                self.block(loop.then, tail=False)
            else:
                self._return_none(statement, self.module.span(statement))
                self.emit(ast.ExitStatement(self.module.span(statement)))
            return
        if loop.flag is None:
            loop.flag = self.fresh("stopped")
        span = self.module.span(statement)
        self.emit(ast.Assign(ast.Name(loop.flag, span), ast.Truth(True, span), span))

    def _for(self, statement: python.For, loop: _Loop) -> None:
        span = self.module.head(statement)
        many = self.many(statement.iter)
        if many is None:
            raise self.module.wrong(
                statement.iter,
                f"`{self.module.text(statement.iter)}` cannot be looped over",
                "write `range(m)`, a list of this function, `enumerate(q)` or `zip(p, q)`",
            )
        direct = _plain_range(statement)
        wanted = statement.target.id if direct and isinstance(statement.target, python.Name) else "k"
        variable = self.fresh(wanted)
        offset = ast.Name(variable, span)
        low = ConstantSum.from_number(0)
        names = {child.id for child in python.walk(statement.target) if isinstance(child, python.Name)}
        read = {
            node.id
            for node in python.walk(self.frames[-1].node)
            if isinstance(node, python.Name) and isinstance(node.ctx, python.Load)
        }
        for name in names:
            bound = self.env.get(name)
            if isinstance(bound, Scalar | Array) or (bound is not None and name in read):
                raise self.module.wrong(
                    statement.target, f"`{name}` is a variable already", "give the loop a name of its own"
                )
        if direct:
            first = bound_of(_plain(many.item(number(0, span))), self.constants)
            assert first is not None, "the ends of the loop are sums of constants"
            low = first
            from_zero = not low.terms and not low.constant
            ordinal = offset if from_zero else ast.Binary(BinaryOp.SUBTRACT, offset, low.expression(span), span)
            self.ordinals[id(statement)] = ordinal
        else:
            self.ordinals[id(statement)] = offset
        appended = [array for array in self.arrays if array.loop is statement and array.loop_variable is None]
        for array in appended:
            array.length, array.loop_variable = many.length, variable
        growing = [self.env.get(name) for name in _appended(statement.body)]
        outside = self.appending
        self.appending = outside | {each.name for each in growing if isinstance(each, Array)}
        with self._round(statement, many.length, loop) as inner:
            self.bind(statement.target, offset if direct else self._held(many.item(offset)))
            for name in sorted(names & _reassigned(self.frames[-1].node)):
                self._copied(name, self.env[name], span)
            self.block(statement.body, tail=False)
        self.appending = outside
        exists = many.exists(offset, span)
        if exists is not None:
            inner = [ast.If(exists, tuple(inner), (), span)]
        for name in names:
            self.env.pop(name, None)
            self.gone.add(name)
        for array in appended:
            array.complete = not array.partial
        high = low.plus(many.length).plus(-1)
        body = self._stopping(tuple(inner), loop, span)
        self.emit(ast.For(variable, low.expression(span), high.expression(span), body, span))

    @contextmanager
    def _round(
        self, statement: python.For | python.While, times: ConstantSum, loop: _Loop
    ) -> Iterator[list[ast.Statement]]:
        """Yield a list that collects the statements written for the body of the loop `statement`.

        The loop has at most `times` rounds. `loop` records what `break` does in it. Raises DiagnosticError if a name
        means something else after the body than before it, because every round has the same statements.
        """
        before = dict(self.env)
        self.loops.append(times)
        self.around.append(loop)
        with self.collecting() as inner:
            yield inner
        self.around.pop()
        self.loops.pop()
        leaves = any(
            isinstance(node, python.Break | python.Continue | python.Return) for node in python.walk(statement)
        )
        if leaves or isinstance(statement, python.While) or times.value < 1 or times.terms:
            for name, bound in list(self.env.items()):
                if isinstance(bound, Array) and name not in before:
                    # There may have been no round that makes the list.
                    del self.env[name]
        for name in self.stores:
            if name in before and self.env.get(name) is not before[name]:
                raise self.module.wrong(
                    statement, f"`{name}` means something else in the next round", "give one of them another name"
                )

    def _copied(self, name: str, bound: Binding, span: Span) -> None:
        """Copy the loop variable `name` into a new variable at `span`, because the function also assigns to it.

        `bound` is the current meaning of the name. If it is not an alias of an expression, nothing is done.
        """
        if isinstance(bound, Alias):
            self.env.pop(name, None)
            self.emit(ast.Assign(ast.Name(self.scalar(name).name, span), bound.value, span))

    def _held(self, item: Item) -> Item:
        """Return `item` with elements of lists that may change replaced by copies of their current values."""
        if isinstance(item, tuple):
            return tuple(self._held(each) for each in item)
        changes = {array.name for array in self.arrays}
        if isinstance(item, ast.Element) and item.name in changes:
            held = ast.Name(self.fresh("element"), item.span)
            self.emit(ast.Assign(held, item, item.span))
            return held
        return item

    def _stopping(self, body: tuple[ast.Statement, ...], loop: _Loop, span: Span) -> tuple[ast.Statement, ...]:
        """Return `body` inside an `if` that skips it in all rounds of `loop` after a `break`.

        The `if` tests a flag that `break` sets. An assignment before the loop, at `span`, sets the flag to False. If
        the loop has no flag, `body` is returned unchanged.
        """
        if loop.flag is None:
            return body
        flag = ast.Name(loop.flag, span)
        self.emit(ast.Assign(flag, ast.Truth(False, span), span))
        return (ast.If(ast.Unary(UnaryOp.NOT, flag, span), body, (), span),)

    def _while(self, statement: python.While, loop: _Loop) -> None:
        span = self.module.head(statement)
        with self.collecting() as drawn:
            condition = self.expr(statement.test)
        with self._round(statement, ConstantSum.from_number(1_000_000), loop) as inner:
            self.block(statement.body, tail=False)
        if loop.flag is not None:
            self._stopping((), loop, span)
            running = ast.Unary(UnaryOp.NOT, ast.Name(loop.flag, span), span)
            truth = isinstance(condition, ast.Truth) and condition.value
            condition = running if truth else ast.Binary(BinaryOp.AND, running, condition, span)
        self.out.extend(drawn)
        self.emit(ast.While(condition, (*inner, *drawn), span))

    # --- functions that are called ----------------------------------------------------------------

    def inline(self, node: python.Call, function: python.FunctionDef) -> ast.Expr:
        span = self.module.span(node)
        if len(self.frames) > _MOST_DEEP or any(frame.node is function for frame in self.frames):
            raise self.module.wrong(node, f"`{function.name}` calls itself", "write it as a loop")
        if function.decorator_list:
            raise self.module.wrong(
                node,
                f"`{function.name}` is decorated, so what it does is not known here",
                "call an undecorated function",
                related=[(function.decorator_list[0], "the decorator")],
            )
        if self.module.functions.get(function.name) is function and function.name in self.module.changing:
            raise self.module.wrong(
                node,
                f"`{function.name}` means more than one thing in this file",
                "give one of them another name",
                related=[(self.module.changing[function.name], "here")],
            )
        self._require_known_meaning(function)
        caller = self.frames[-1]
        frame = Frame(
            function,
            ast.Name(self.fresh(function.name, function.name), span),
            next((each for each in caller.lexical if each.functions.get(function.name) is function), None),
        )
        env = self._arguments(node, frame)
        caller.env, caller.gone = self.env_of_function(), self.gone
        kept, stores, gone, scopes = self.env, self.stores, self.gone, self.scopes
        self.env, self.stores, self.gone, self.scopes = {}, _stores(function), set(), []
        if frame.around is not None:
            # What it does not assign itself is that of the function around it.
            self.env = {name: bound for name, bound in frame.around.env.items() if name not in frame.names}
        around, self.around = self.around, []
        self.frames.append(frame)
        try:
            for name, bound in env.items():
                self.env[name] = bound
                if name in self.stores:
                    self._copied(name, bound, span)
            body = [
                each
                for each in function.body
                if not (isinstance(each, python.Expr) and isinstance(each.value, python.Constant))
            ]
            if len(body) == 1 and isinstance(body[0], python.Return) and body[0].value is not None:
                return self.expr(body[0].value)
            if not _ends(body):
                raise self.module.wrong(
                    function,
                    f"`{function.name}` may end without a value",
                    "let every path `return` something",
                    related=[(node, "called here")],
                )
            self.block(body, tail=True)
            assert frame.result is not None, "a function that is called has a result"
            return frame.result
        finally:
            self.frames.pop()
            self.env, self.stores, self.gone, self.around, self.scopes = kept, stores, gone, around, scopes

    def _arguments(self, node: python.Call, frame: Frame) -> dict[str, Binding]:
        function = frame.node
        arguments = function.args
        if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
            raise self.module.wrong(node, f"`{function.name}` takes arguments in a way that is not part of a mechanism")
        names = [each.arg for each in (*arguments.args, *arguments.kwonlyargs)]
        given: dict[str, python.expr] = {}
        defaults = dict(
            zip(reversed([each.arg for each in arguments.args]), reversed(arguments.defaults), strict=False)
        )
        defaults |= {
            each.arg: value
            for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if value is not None
        }
        given |= dict(zip([each.arg for each in arguments.args], node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg not in names or keyword.arg in given:
                raise self.module.wrong(
                    node, f"`{function.name}` cannot be called like this", related=[(function, "its arguments")]
                )
            given[keyword.arg] = keyword.value
        missing = [name for name in names if name not in given and name not in defaults]
        if len(node.args) > len(arguments.args) or missing:
            what = f"no value for `{missing[0]}`" if missing else "too many arguments"
            raise self.module.wrong(
                node,
                f"`{function.name}`: {what}",
                f"its arguments are {', '.join(names)}",
                related=[(function, "here")],
            )
        bound: dict[str, Binding] = {}
        for name in names:
            value = given.get(name)
            if value is None:
                bound[name] = Alias(self._default(defaults[name], frame))
                continue
            array = self.array(value)
            if array is not None:
                bound[name] = array
                continue
            before = len(self.out)
            argument = self.expr(value)
            if len(self.out) > before or not isinstance(argument, ast.Name | ast.Number | ast.Eps | ast.Truth):
                constant = not _mentions_variables(argument, self.constants)
                if not constant:
                    held = ast.Name(self.fresh(name), argument.span)
                    self.emit(ast.Assign(held, argument, argument.span))
                    argument = held
            bound[name] = Alias(argument)
        return bound

    def _default(self, default: python.expr, frame: Frame) -> ast.Expr:
        """Return the value of `default`, the default value of a parameter of the function of `frame`.

        Names in `default` have their meanings in the file. Raises DiagnosticError if the function is defined inside
        another function and the default is not a literal.
        """
        if frame.around is not None and not isinstance(default, python.Constant):
            raise self.module.wrong(
                default,
                f"`{self.module.text(default)}` has the value that it had where `{frame.node.name}` was defined",
                "give it as an argument",
            )
        kept, self.env = (self.env, self.stores, self.scopes), {}
        self.stores, self.scopes = {}, []
        self.frames.append(Frame(_OF_THE_FILE))
        value = self.expr(default)
        self.frames.pop()
        self.env, self.stores, self.scopes = kept
        return value

    def kind(self, annotation: python.expr) -> Kind:
        """Return the kind that `annotation` names. Raises DiagnosticError if it is not a type of dipc."""
        module = self.module
        match annotation:
            case python.Name(id="bool"):
                return Kind("bool")
            case python.Subscript(value=value, slice=inside) if module.called(value) in (
                "dipc.Finite",
                "typing.Literal",
            ):
                return self._finite(annotation, inside)
        match module.called(annotation):
            case "dipc.Real":
                return Kind("real")
            case "dipc.Int":
                return Kind("int")
        raise module.wrong(
            annotation,
            f"`{module.text(annotation)}` is not a type of dipc",
            'write dipc.Real, dipc.Reals["m"], dipc.Int, dipc.Ints["m"], dipc.Finite[0:5] or bool',
            'a list of m values of a finite type is `dipc.Finite[0:5]["m"]`, and of truth values '
            '`dipc.Finite[False, True]["m"]`',
            code=BAD_HEADER,
        )

    def _finite(self, annotation: python.expr, inside: python.expr) -> Kind:
        module = self.module
        match inside:
            case python.Slice(lower=lower, upper=upper, step=None) if upper is not None:
                low = ConstantSum.from_number(0) if lower is None else self.length(lower)
                return Kind("range", low, self.length(upper).plus(-1))
            case python.Tuple(elts=[_, *_] as elements):
                pass
            case _:
                elements = [inside]
        written = [each.value if isinstance(each, python.Constant) else None for each in elements]
        if written in ([False, True], [True, False]) and all(isinstance(each, bool) for each in written):
            return Kind("bool")
        if all(isinstance(each, python.Constant) and isinstance(each.value, str) for each in elements):
            names = tuple(self.expr(each).name for each in elements)  # type: ignore[union-attr]
            return Kind("names", values=names)
        values = [rational(module, each) for each in elements]
        if any(value is None for value in values) or isinstance(inside, python.Slice):
            raise module.wrong(
                annotation,
                "a finite type must be a range or values that are written out",
                'write `dipc.Finite[0:5]`, `dipc.Finite[0, 1, 2]` or `dipc.Finite["a", "b"]`',
                code=BAD_HEADER,
            )
        return Kind("listed", values=tuple(value for value in values if value is not None))


def _mentions_variables(tree: ast.Expr, constants: Mapping[str, Fraction]) -> bool:
    return any(isinstance(node, ast.Name | ast.Element) and node.name not in constants for node in ast.walk(tree))


def _plain_range(statement: python.For) -> bool:
    match statement.iter:
        case python.Call(func=python.Name(id="range"), args=arguments):
            return isinstance(statement.target, python.Name) and len(arguments) < 3
    return False


def _negated(condition: ast.Expr) -> ast.Expr:
    match condition:
        case ast.Unary(op=UnaryOp.NOT, operand=operand):
            return operand
    return ast.Unary(UnaryOp.NOT, condition, condition.span)


def _reading(target: python.expr) -> python.expr:
    match target:
        case python.Name(id=name):
            return python.Name(name, python.Load())
        case python.Subscript(value=value, slice=index):
            return python.Subscript(value, index, python.Load())
    return target


def _copying(inner: python.expr) -> python.ListComp:
    name = python.copy_location(python.Name("_element_", python.Load()), inner)
    store = python.copy_location(python.Name("_element_", python.Store()), inner)
    return python.ListComp(name, [python.comprehension(store, inner, [], 0)])


def _stores(function: python.FunctionDef) -> dict[str, int]:
    stores: dict[str, int] = {}
    for name, _ in names_stored(function.body):
        stores[name] = stores.get(name, 0) + 1
    for node in own_nodes(function.body):
        if isinstance(node, python.AugAssign) and isinstance(node.target, python.Name):
            stores[node.target.id] += 1
    return stores


def _reassigned(function: python.FunctionDef) -> set[str]:
    """Return the names that statements of `function` assign, except by loops."""
    targets: list[python.expr] = []
    for node in own_nodes(function.body):
        match node:
            case python.Assign(targets=several):
                targets += several
            case python.AnnAssign(target=target) | python.AugAssign(target=target):
                targets.append(target)
    inside = (node for target in targets for node in python.walk(target))
    return {node.id for node in inside if isinstance(node, python.Name) and isinstance(node.ctx, python.Store)}


def _names_given(value: python.expr, target: python.expr) -> set[str]:
    pairs = [(value, target)]
    if isinstance(value, python.Tuple) and isinstance(target, python.Tuple):
        pairs = list(zip(value.elts, target.elts, strict=False))
    return {
        side.id for pair in pairs if isinstance(pair[0], python.Name) for side in pair if isinstance(side, python.Name)
    }


def _bound_by(node: python.AST) -> Iterator[str]:
    match node:
        case python.Name(id=name, ctx=python.Store()) | python.FunctionDef(name=name) | python.arg(arg=name):
            yield name


def _appended(body: Sequence[python.stmt]) -> Iterator[str]:
    for statement in body:
        for node in python.walk(statement):
            match node:
                case python.Attribute(value=python.Name(id=name), attr="append"):
                    yield name


def _jumps(statement: python.stmt) -> bool:
    match statement:
        case python.Break() | python.Continue() | python.Return():
            return True
        case python.If(body=body, orelse=orelse):
            return any(map(_jumps, (*body, *orelse)))
    return False


def _ends(body: Sequence[python.stmt]) -> bool:
    for statement in body:
        match statement:
            case python.Return() | python.Break() | python.Continue():
                return True
            case python.If(body=then, orelse=otherwise) if _ends(then) and _ends(otherwise):
                return True
            case python.While(test=python.Constant(value=True), body=inner) if not any(
                isinstance(node, python.Break) for each in inner for node in python.walk(each)
            ):
                return True
    return False


def _always_follows(body: Sequence[python.stmt], created: python.expr, loop: python.For) -> bool:
    for statements in _blocks(body):
        places = [
            place for place, each in enumerate(statements) if isinstance(each, python.Assign) and each.value is created
        ]
        if places and loop in statements[places[0] :]:
            between = statements[places[0] : statements.index(loop)]
            jumps = (python.Return, python.Break, python.Continue)
            return not any(isinstance(node, jumps) for each in between for node in python.walk(each))
    return False


def _blocks(body: Sequence[python.stmt]) -> Iterator[Sequence[python.stmt]]:
    yield body
    for statement in body:
        if not isinstance(statement, python.FunctionDef | python.AsyncFunctionDef | python.ClassDef):
            for name in ("body", "orelse"):
                yield from _blocks(getattr(statement, name, []))


def _appends(
    body: Sequence[python.stmt], name: str, loops: tuple[python.stmt, ...]
) -> list[tuple[python.stmt, tuple[python.stmt, ...]]]:
    appends: list[tuple[python.stmt, tuple[python.stmt, ...]]] = []
    for statement in body:
        match statement:
            case python.Expr(value=python.Call(func=python.Attribute(value=python.Name(id=own), attr="append"))):
                if own == name:
                    appends.append((statement, loops))
            case python.If(body=then, orelse=otherwise):
                appends += _appends((*then, *otherwise), name, loops)
            case python.For(body=inner) | python.While(body=inner):
                appends += _appends(inner, name, (*loops, statement))
    return appends


def _appends_once(body: Sequence[python.stmt], name: str) -> bool:
    """Whether each iteration of a loop with the statements `body` appends one element to the list `name`.

    An iteration that ends with `break` or `return` may append one element or none.
    """
    totals: set[int] = set()

    def follow(statements: Sequence[python.stmt], count: int) -> set[int] | None:
        """Return the possible numbers of appended elements after `statements`, if `count` were appended before them.

        The set is empty if every path leaves the round before the end of `statements`. None is returned if a path
        leaves the loop after more than one element, or if an inner loop appends.
        """
        here = {count}
        for statement in statements:
            match statement:
                case python.Expr(
                    value=python.Call(func=python.Attribute(value=python.Name(id=own), attr="append"))
                ) if own == name:
                    here = {each + 1 for each in here}
                case python.If(body=then, orelse=otherwise):
                    after: set[int] = set()
                    for each in here:
                        for branch in (then, otherwise):
                            ends = follow(branch, each)
                            if ends is None:
                                return None
                            after |= ends
                    here = after
                case python.Continue():
                    totals.update(here)
                    return set()
                case python.Break() | python.Return():
                    return set() if max(here, default=0) <= 1 else None
                case python.For() | python.While():
                    if _appends([statement], name, ()):
                        return None
        return here

    ends = follow(body, 0)
    return ends is not None and ends | totals == {1}

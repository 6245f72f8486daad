"""Clipped inputs: real and int inputs that a program reads through clamps alone, so that they may be limited to a box.

A *clamp* of an input x is `min(max(c*x + b, low), high)`, in either order, or only one of `min` and `max`. The box of x
is the hull of the preimages [low, high] of all its clamps, rounded outwards to integers for an int input.

**Lemma.** Let C be the map of inputs that takes each clipped coordinate to the nearest point of its box, and leaves the
other coordinates as they are.

1. Each clamp has one value at x and at C(x): outside of the box it is constant on either side. So the program has the
   same law at u and at C(u), as nothing else reads x.
2. C does not increase the distance of two inputs in any coordinate, and C(u) = u in the box. Let an adjacency depend on
   the distances of coordinates, and let all pairs with smaller distances be adjacent, too, as for linf, l1 and hamming.
   If u and u' are adjacent, so are C(u) and C(u'), or they are equal.
3. So the laws at two adjacent inputs are those at two adjacent inputs in the box, or are equal. The suprema of the
   loss, of delta and of divergences over all pairs are those over the pairs in the box.

**Accuracy at every input**, with `alpha: 0`: let the ideal, the metric and the claim, too, read x through its clamps
alone. Then det, the distance of answers and the probability are those at C(u), and the claim holds at all inputs if it
holds in the box. With `alpha: dd` this would be false: outside of the box dd grows, and the law stays.

If an input has only one clamp, the clamp equals c*x + b in the box, and is replaced by it. If it has several, they
stay.

**Preconditions.** Let `requires` restrict the inputs to a box R that has a point in the box B of the clamps. Then C
maps R into R and B: if u_i > high for u in R, then high is between u_i and a number in the range of R, and so in this
range. The lemma holds for the pairs in R, with the box of R and B in place of B. It does not apply to other
preconditions, which are not about single inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

from dipc.frozen import frozen
from dipc.program.program import Program
from dipc.text import ast
from dipc.text.ast import BaseType
from dipc.text.diagnostic import DiagnosticError, SourceText, Span
from dipc.text.parser import parse
from dipc.text.precondition import ClippedText
from dipc.text.printer import print_program


@frozen
class Extent:
    """The interval of the numbers from `low` to `high`; an end that is None is infinite."""

    low: Fraction | None
    high: Fraction | None

    @property
    def width(self) -> Fraction | None:
        """`high - low`; None if an end is infinite."""
        return None if self.low is None or self.high is None else self.high - self.low

    def nearest(self, value: Fraction) -> Fraction:
        """Return the number between `low` and `high` that is nearest to `value`."""
        if self.low is not None:
            value = max(value, self.low)
        return value if self.high is None else min(value, self.high)


#: The range of an input that is not clipped.
EVERYTHING = Extent(None, None)


@frozen
class Clipped:
    """A program whose clipped inputs are limited to a box, for questions about privacy.

    An input is clipped if the program reads it only through clamps, such as `min(max(x, 0), 1)`. The box is the product
    of intervals: `ranges` has one interval for each input of `program`, in order. At an input in the box the outputs
    have the same law as in the original program. Every law of the original occurs at some input in the box.
    """

    program: Program
    ranges: tuple[Extent, ...]

    def contains(self, point: Sequence[object]) -> bool:
        """Return True if the box contains `point`, which has a value for each input of the program, in order."""
        return all(
            side == EVERYTHING or (isinstance(value, Fraction) and side.nearest(value) == value)
            for side, value in zip(self.ranges, point, strict=True)
        )

    @property
    def integers(self) -> frozenset[int]:
        """The indices of the int inputs among the inputs."""
        slots = self.program.core.input_slots
        return frozenset(place for place, slot in enumerate(slots) if slot.type is BaseType.INT)


def clipped(program: Program) -> Clipped | None:
    """Return `program` with its clipped inputs limited to a box, for questions about privacy.

    An input is clipped if the program reads it only through clamps, such as `min(max(x, 0), 1)`, which are constant
    outside of the box. The result has no ideal, metric, claim or `requires`; its box lies within the inputs that
    `requires` allows. The result is None if no input is clipped, or if the allowed inputs are not a closed box.
    """
    core = program.core
    if not any(slot.is_symbolic for slot in core.input_slots):
        return None
    required = _required_box(program)
    if required is None:
        return None
    tree = without_accuracy(parse(core.source))
    kept = tuple([each for each in tree.declarations if not isinstance(each, ast.RequiresDecl)])
    rewriting = clip(replace(tree, declarations=kept), core.constants, _ints(program))
    if rewriting is None:
        return None
    ranges = [
        _common_part(rewriting.range_of(slot.name), own) for slot, own in zip(core.input_slots, required, strict=True)
    ]
    known = [each for each in ranges if each is not None]
    if len(known) < len(ranges):
        return None
    try:
        opened = program.with_constants(core.constants, SourceText("<clipped>", print_program(rewriting.tree)))
    except DiagnosticError:
        return None
    return Clipped(opened, tuple(known))


def _required_box(program: Program) -> list[Extent] | None:
    """Return the range of each input that the `requires` of `program` allows, in the order of the inputs.

    The result is None if the allowed inputs are not a closed box, or if `requires` is given and some input is finite.
    """
    slots = program.core.input_slots
    if program.allowed is None:
        return [EVERYTHING] * len(slots)
    if not all(slot.is_symbolic for slot in slots):
        return None
    sets = program.allowed.sets({})
    if len(sets) != 1:
        return None
    box = dict.fromkeys(program.core.inputs, EVERYTHING)
    for guard in sets[0]:
        if guard.strict or len(guard.form.inputs) != 1:
            return None
        ((slot, c),) = guard.form.inputs
        end = -guard.form.constant / c
        if program.core.slots[slot].type is BaseType.INT:
            end = Fraction(ceil(end) if c > 0 else floor(end))
        part = _common_part(box[slot], Extent(end, None) if c > 0 else Extent(None, end))
        if part is None:
            return None
        box[slot] = part
    return [box[slot] for slot in program.core.inputs]


def _common_part(one: Extent, other: Extent) -> Extent | None:
    low = max((end for end in (one.low, other.low) if end is not None), default=None)
    high = min((end for end in (one.high, other.high) if end is not None), default=None)
    return None if low is not None and high is not None and low > high else Extent(low, high)


def for_every_input(program: Program) -> Program | None:
    """Return `program` with a `requires` that limits its clipped inputs to a box, for claims about every input.

    An input is clipped if the program, its ideal, its metric and its claim read it only through clamps, such as
    `min(max(x, 0), 1)`. A claim that does not depend on distances of inputs holds at every input exactly if it holds at
    every input that the result allows. The result is None if no input is clipped, or if `program` has a `requires`
    already. It is also None if the question selects inputs, as a selected input may be outside of the box.
    """
    core = program.core
    if type(program) is not Program or core.requires is not None or core.selection is not None:
        return None
    clipping = clip(parse(core.source), core.constants, _ints(program))
    if clipping is None:
        return None
    required: list[ast.Declaration] = []
    for slot in core.input_slots:
        name, bracket, index = slot.name.partition("[")
        read = ast.Element(name, _literal(Fraction(index.rstrip("]")))) if bracket else ast.Name(name)
        side = clipping.range_of(slot.name)
        for end, op in ((side.low, ast.CompareOp.GE), (side.high, ast.CompareOp.LE)):
            if end is not None:
                required.append(ast.RequiresDecl(ast.Compare(op, read, _literal(end))))
    tree = replace(clipping.tree, declarations=(*clipping.tree.declarations, *required))
    try:
        inner = program.with_constants(core.constants, SourceText("<clipped>", print_program(tree)))
    except DiagnosticError:
        return None
    requires = inner.core.requires
    assert requires is not None, "an input has a range"
    ranges = [
        (name if index is None else f"{name}[{index}]", side.low, side.high)
        for (name, index), side in clipping.ranges.items()
    ]
    original = ClippedText(core.source, tuple(sorted(ranges, key=lambda each: each[0])))
    return Program(replace(inner.core, requires=replace(requires, clipped=original)), program.limits)


def _literal(value: Fraction) -> ast.Expr:
    return ast.number(value, Span(0, 0))


def without_accuracy(tree: ast.ProgramTree) -> ast.ProgramTree:
    """Return `tree` without its ideal, its metric and its claim."""
    about = ast.IdealDecl | ast.MetricDecl | ast.ClaimDecl
    return replace(tree, declarations=tuple(each for each in tree.declarations if not isinstance(each, about)))


def _ints(program: Program) -> frozenset[str]:
    return frozenset(slot.name.partition("[")[0] for slot in program.core.input_slots if slot.type is BaseType.INT)


#: An input as the text names it: a variable or an array, or one element of an array.
Key = tuple[str, Fraction | None]


@frozen
class Clipping:
    """A program tree whose clipped inputs are limited to a box.

    The box is a product of intervals, one for each clipped input, and `ranges` has them by the keys of the inputs. A
    key is a pair (name, index); the index is None unless the input is an array element. In `tree`, a clamp that changes
    nothing inside the box is replaced by the expression that it clamps.
    """

    tree: ast.ProgramTree
    ranges: Mapping[Key, Extent]

    def range_of(self, name: str) -> Extent:
        """Return the interval of the input `name`, such as `q[1]`, in the box; all numbers if it is not clipped."""
        array, bracket, index = name.partition("[")
        own = (array, Fraction(index.rstrip("]"))) if bracket else (array, None)
        return self.ranges.get(own) or self.ranges.get((array, None)) or EVERYTHING


@frozen
class _Clamp:
    """An expression that clamps `scale`·x + `offset` to the interval `range`, where x is one input.

    `key` names the input x: a pair (name, index of the element), with None for an input that is not an array element.
    `inner` is the expression of `scale`·x + `offset` in the program's text.
    """

    key: Key
    scale: Fraction
    offset: Fraction
    range: Extent
    inner: ast.Expr

    @property
    def preimage(self) -> Extent:
        """The values of the input for which `scale`·x + `offset` is in `range`, so that the clamp changes nothing."""
        ends = [None if end is None else (end - self.offset) / self.scale for end in (self.range.low, self.range.high)]
        return Extent(*(ends if self.scale > 0 else ends[::-1]))


def _with_joined_assignments(tree: ast.ProgramTree) -> ast.ProgramTree:
    """Return `tree` with `v <- E; v <- F(v)` replaced by `v <- F(E)`, for a numeric variable v that F reads once.

    So `v <- max(x, 0); v <- min(v, 1);` becomes one clamp. E is a variable, an element of an array, or a call such as
    max(x, 0). F contains no sum or other range over an index, because the index could have the name v or occur in E.
    """
    inner = () if tree.ideal is None else tree.ideal.declarations
    numbers = frozenset(
        own.name
        for each in (*tree.declarations, *inner)
        if isinstance(each, ast.VariableDecl)
        and isinstance(each.type, ast.BaseTypeExpr)
        and each.type.base is not ast.BaseType.BOOL
        for own in each.declarators
    )
    declarations = tuple(
        replace(each, body=_join(each.body, numbers)) if isinstance(each, ast.IdealDecl) else each
        for each in tree.declarations
    )
    return replace(tree, declarations=declarations, body=_join(tree.body, numbers))


def _join(block: tuple[ast.Statement, ...], numbers: frozenset[str]) -> tuple[ast.Statement, ...]:
    result: list[ast.Statement] = []
    for statement in block:
        match (result[-1] if result else None), statement:
            case (
                ast.Assign(target=ast.Name(name=name), value=ast.Name() | ast.Element() | ast.Call() as first),
                ast.Assign(target=ast.Name(name=other), value=second),
            ) if (
                name == other in numbers
                and ast.occurrences(second, name) == 1
                and not ast.mentions(first, name)
                and not any(isinstance(node, ast.Ranged) for node in ast.walk(second))
            ):

                def put(node: Any, name: str = name, first: ast.Expr = first) -> Any:
                    return first if ast.is_name(node, name) else None

                result[-1] = replace(statement, value=ast.rewritten(second, put))
            case _, ast.If(then=then, otherwise=otherwise):
                result.append(replace(statement, then=_join(then, numbers), otherwise=_join(otherwise, numbers)))
            case _, ast.For(body=body) | ast.While(body=body):
                result.append(replace(statement, body=_join(body, numbers)))
            case _:
                result.append(statement)
    return tuple(result)


def clip(tree: ast.ProgramTree, constants: Mapping[str, Fraction], ints: frozenset[str]) -> Clipping | None:
    """Return the program `tree` with its clipped inputs limited to a box, or None if no input is clipped.

    An input is clipped if it is read only through clamps, such as `min(max(x, 0), 1)`. `constants` are the values of
    the program's constants by name. `ints` are the names of its int inputs, whose intervals in the box end at integers.
    """
    tree = _with_joined_assignments(tree)
    finder = _Finder.of_tree(tree, constants)
    if finder is None:
        return None
    for each in (tree.body, *tree.declarations):
        finder.find(each)
    ranges: dict[Key, Extent] = {}
    for key in finder.clamps:
        hull = finder.hull(key, whole=key[0] in ints)
        if hull is not None:
            ranges[key] = hull
    if not ranges:
        return None

    def replaced(node: Any) -> Any:
        found = finder.clamp(node)
        if found is None or found.key not in ranges:
            return None
        own, hull = found.preimage, ranges[found.key]
        below = own.low is None or (hull.low is not None and own.low <= hull.low)
        above = own.high is None or (hull.high is not None and own.high >= hull.high)
        return found.inner if below and above else node

    return Clipping(ast.rewritten(tree, replaced), ranges)


@dataclass(slots=True)
class _Finder:
    """A finder of the clamps of each real or int input, and of the inputs that are read outside of clamps.

    `inputs` are the names of the real and int inputs, and `constants` the values of the constants by name. A key names
    an input: a pair (name, index), where the index is None except for elements of the arrays `by_element`. These are
    the arrays whose every index in the program is written as a number. `clamps` maps the key of an input to those of
    its clamps that have been found so far. `bare` has the keys of the inputs that have been found outside of clamps.
    """

    inputs: frozenset[str]
    constants: Mapping[str, Fraction]
    by_element: frozenset[str]
    clamps: dict[Key, list[_Clamp]] = field(default_factory=dict)
    bare: set[Key] = field(default_factory=set)

    @staticmethod
    def of_tree(tree: ast.ProgramTree, constants: Mapping[str, Fraction]) -> _Finder | None:
        """Return the finder for the program `tree`, whose constants have the values `constants` by name.

        None if an input has the name of a loop's variable or of a variable of the ideal.
        """
        declared = [
            each for each in tree.declarations if isinstance(each, ast.VariableDecl) and each.role is ast.Role.INPUT
        ]
        open_inputs = [
            each
            for each in declared
            if isinstance(each.type, ast.BaseTypeExpr) and each.type.base is not ast.BaseType.BOOL
        ]
        names = frozenset(own.name for each in open_inputs for own in each.declarators)
        local = {getattr(node, "variable", None) for node in ast.walk(tree)}
        inner = () if tree.ideal is None else tree.ideal.declarations
        local |= {own.name for each in inner for own in each.declarators}
        if names & local:
            return None
        known = {name: value for name, value in constants.items() if name not in local}
        indexed: dict[str, bool] = {}
        for node in ast.walk((tree.body, tree.declarations)):
            if isinstance(node, ast.Element) and node.name.rstrip("'") in names:
                name = node.name.rstrip("'")
                indexed[name] = indexed.get(name, True) and isinstance(node.index, ast.Number)
        return _Finder(names, known, frozenset(name for name, alone in indexed.items() if alone))

    def find(self, node: object) -> None:
        found = self.clamp(node)
        if found is not None:
            self.clamps.setdefault(found.key, []).append(found)
            return
        key = self._key(node)
        if key is not None:
            self.bare.add(key)
        for child in _children(node):
            self.find(child)

    def hull(self, key: Key, *, whole: bool) -> Extent | None:
        """Return the smallest interval that contains the preimages of all clamps of the input `key`.

        The preimage of a clamp is the set of values of the input that it does not change. With `whole`, the ends are
        rounded outwards to integers. The result is None if the input is also read outside of clamps, or if every number
        is in the interval.
        """
        if key in self.bare or (key[0], None) in self.bare:
            return None
        own = [each.preimage for each in self.clamps[key]]
        lows, highs = [each.low for each in own], [each.high for each in own]
        low = None if None in lows else min(end for end in lows if end is not None)
        high = None if None in highs else max(end for end in highs if end is not None)
        if whole:
            low, high = None if low is None else Fraction(floor(low)), None if high is None else Fraction(ceil(high))
        return None if low is None and high is None else Extent(low, high)

    def clamp(self, node: object) -> _Clamp | None:
        match node:
            case ast.Call(function="min" | "max" as function, arguments=(one, other)):
                for bound, inner in ((self._number(one), other), (self._number(other), one)):
                    known = None if bound is None else self.clamp(inner) or self._form(inner)
                    if known is not None and bound is not None:
                        return _bounded(known, function, bound)
        return None

    def _form(self, node: object) -> _Clamp | None:
        """Return the expression `node`, c*x + b for one input x, as a `_Clamp` with an unbounded range.

        None if the expression is not of this kind.
        """
        key = self._key(node)
        if key is not None:
            assert isinstance(node, ast.Name | ast.Element)
            return _Clamp(key, Fraction(1), Fraction(0), EVERYTHING, node)
        result: tuple[_Clamp, Fraction, Fraction] | None = None
        match node:
            case ast.Unary(op=ast.UnaryOp.NEGATE, operand=operand) if (form := self._form(operand)) is not None:
                result = form, Fraction(-1), Fraction(0)
            case ast.Binary(op=op, left=left, right=right):
                left_form, right_form = self._form(left), self._form(right)
                first, second = self._number(left), self._number(right)
                match op:
                    case ast.BinaryOp.ADD if left_form and second is not None:
                        result = left_form, Fraction(1), second
                    case ast.BinaryOp.ADD if right_form and first is not None:
                        result = right_form, Fraction(1), first
                    case ast.BinaryOp.SUBTRACT if left_form and second is not None:
                        result = left_form, Fraction(1), -second
                    case ast.BinaryOp.SUBTRACT if right_form and first is not None:
                        result = right_form, Fraction(-1), first
                    case ast.BinaryOp.MULTIPLY if left_form and second:
                        result = left_form, second, Fraction(0)
                    case ast.BinaryOp.MULTIPLY if right_form and first:
                        result = right_form, first, Fraction(0)
                    case ast.BinaryOp.DIVIDE if left_form and second:
                        result = left_form, 1 / second, Fraction(0)
        if result is None:
            return None
        assert isinstance(node, ast.Unary | ast.Binary)
        form, factor, added = result
        return _Clamp(form.key, form.scale * factor, form.offset * factor + added, EVERYTHING, node)

    def _key(self, node: object) -> Key | None:
        match node:
            case ast.Name(name=name) if name.rstrip("'") in self.inputs:
                return name.rstrip("'"), None
            case ast.Element(name=name, index=index) if name.rstrip("'") in self.inputs:
                bare = name.rstrip("'")
                return bare, index.value if bare in self.by_element and isinstance(index, ast.Number) else None
        return None

    def _number(self, node: object) -> Fraction | None:
        match node:
            case ast.Number(value=value):
                return value
            case ast.Name(name=name):
                return self.constants.get(name)
            case ast.Unary(op=ast.UnaryOp.NEGATE, operand=operand):
                negated = self._number(operand)
                return None if negated is None else -negated
            case ast.Binary(op=op, left=left, right=right) if op in ast.ARITHMETIC:
                first, second = self._number(left), self._number(right)
                if first is None or second is None or (op is ast.BinaryOp.DIVIDE and not second):
                    return None
                quotient: Fraction = ast.ARITHMETIC[op](first, second)
                return quotient
        return None


def _bounded(clamp: _Clamp, function: str, bound: Fraction) -> _Clamp | None:
    """Return the clamp `function(clamp, bound)`, where `function` is min or max; None if its value is constant."""
    low, high = clamp.range.low, clamp.range.high
    if function == "max":
        low = bound if low is None else max(low, bound)
    else:
        high = bound if high is None else min(high, bound)
    if low is not None and high is not None and low >= high:
        return None
    return replace(clamp, range=Extent(low, high))


def _children(node: object) -> Iterator[object]:
    if isinstance(node, tuple):
        yield from node
    elif isinstance(node, ast.VariableDecl | ast.ConstDecl | ast.DomainDecl):
        return
    else:
        yield from children(node)


def children(node: object) -> Sequence[object]:
    """Return the values of the fields of `node`, a node of the syntax tree, without its span."""
    known: Mapping[str, object] = getattr(node, "__dataclass_fields__", {})
    return [getattr(node, name) for name in known if name != "span"]

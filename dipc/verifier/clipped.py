"""Inputs that a program reads through clamps alone, in a box (FORMAT.md, lemma clipped), and moves within the box.

A clamp is `min` and `max` of c*x + b and numbers, where x is an input. If nothing else reads x, the loss is that of
inputs in the hull of the preimages of all clamps of x. A clamp equal to c*x + b on the whole hull is replaced by c*x +
b.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from math import ceil, floor
from typing import Any

from dipc.verifier.program import calculated
from dipc.verifier.reading import NotDerived
from dipc.verifier.syntax import (
    Apply,
    Assign,
    Block,
    Element,
    Expr,
    For,
    Literal,
    Mechanism,
    Name,
    Program,
    Ranged,
    names,
    nodes,
    rebuilt,
    substituted,
)

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The ends of a range of numbers; None means no end.
Ends = tuple[Fraction | None, Fraction | None]

#: The name of an input, and its index if the text gives a number.
Key = tuple[str, Fraction | None]

MOST_MOVES = 5_000


@dataclass(frozen=True)
class Box:
    """A program that reads some inputs without their clamps, because these inputs are limited to `ranges`.

    `tree` is the program without the clamps. A clamp changes nothing while its input is in its range. The keys of
    `ranges` are names of inputs, or of elements such as `q[1]`. Inputs that are not among the keys are not limited.
    """

    tree: Program
    ranges: Mapping[str, Ends]

    def width(self, name: str) -> Fraction | None:
        """Return the width of the range of the input `name`, such as `q[1]`; None if the range is not bounded."""
        array, bracket, _ = name.partition("[")
        ends = self.ranges.get(name) or (self.ranges.get(array) if bracket else None)
        if ends is None or ends[0] is None or ends[1] is None:
            return None
        return ends[1] - ends[0]


@dataclass(frozen=True)
class _Clamp:
    """An affine expression of one input x, factor·x + offset, clamped to `ends`: (low, high), None for no bound.

    `form` is the expression as it stands in the program, and `key` names the input x.
    """

    key: Key
    factor: Fraction
    offset: Fraction
    ends: Ends
    form: Expr

    @property
    def preimage(self) -> Ends:
        low, high = (None if end is None else (end - self.offset) / self.factor for end in self.ends)
        return (low, high) if self.factor > 0 else (high, low)


def boxed(tree: Program, constants: Mapping[str, Fraction]) -> Box | None:
    """Return the program `tree` with ranges of real inputs in place of clamps; None if no real input is clipped.

    If its inputs are limited to the ranges, the result has the privacy loss of `tree`. It has no `ideal`. None is also
    returned for a program with `requires`, and for one with a local name that hides an input. `constants` are the
    values of the program's constants.
    """
    bare = replace(tree, ideal=None, metric=(), claim=())
    reals = {each.name for each in tree.variables if each.type == "real"}
    with suppress(NotDerived):
        changed, _, ranges = _without_clamps(bare, constants, reals, ("real",))
        return Box(changed, _named(ranges))
    return None


def limited(tree: Program, constants: Mapping[str, Fraction]) -> Box:
    """Return the program `tree` without clamps of inputs, changed to require these inputs to be in their ranges.

    Each input of the given program corresponds to an input of the result. At both, the law of the outputs, the right
    answer and the distances of answers from it are the same. `constants` are the values of the program's constants.
    Raises NotDerived if every input is read somewhere without a clamp, or if the program has `requires`.
    """
    joined: set[str] = set()
    if not any(each.type == "int" for each in tree.every_variable):
        # A real number in a variable for integers is an error that no joining may hide.
        own = () if tree.ideal is None else tree.ideal.variables
        joined = {each.name for each in own if each.type == "real"} - {each.name for each in own if each.type != "real"}
        joined |= {each.name for each in tree.variables if each.type == "real"}
    changed, reader, ranges = _without_clamps(tree, constants, joined, ("real", "int"))
    required: list[Expr] = []
    for name, ends in [(each.name, each.ends) for each in tree.variables if each.role == "input"]:
        places: list[Fraction | None] = [None]
        if ends is not None:
            low, high = reader.number(ends[0]), reader.number(ends[1])
            if low is None or high is None:
                raise NotDerived("the ends of an array are not known")
            places = [*map(Fraction, range(int(low), int(high) + 1))]
        for place in places:
            key = (name, place) if (name, place) in ranges else (name, None)
            read: Expr = Name(name) if place is None else Element(name, Literal(place))
            for op, end in zip((">=", "<="), ranges.get(key, (None, None)), strict=True):
                if end is not None:
                    required.append(Apply(op, (read, Literal(end))))
    return Box(replace(changed, requires=tuple(required)), _named(ranges))


def _without_clamps(
    tree: Program, constants: Mapping[str, Fraction], joined: set[str], types: Collection[str]
) -> tuple[Program, _Reader, Mapping[Key, Ends]]:
    """Return (the program `tree` without clamps of inputs, a reader of its clamps, the ranges of the inputs).

    Inputs of other types than `types` keep their clamps. The names of variables whose assignments are joined are
    `joined`, and `constants` are the values of the program's constants. Raises NotDerived if no input is clipped.
    """
    if tree.requires:
        # What it requires is about inputs, not about their clamps.
        raise NotDerived("clipped inputs are not covered in a program with `requires`")
    ideal = None if tree.ideal is None else replace(tree.ideal, body=_join(tree.ideal.body, joined))
    tree = replace(tree, body=_join(tree.body, joined), ideal=ideal)
    reader = _Reader(tree, constants, types)
    if reader.is_ambiguous:
        raise NotDerived("an input has the name of another variable")
    reader.collect((tree.body, ideal))
    for name in names(tree.metric):
        # A metric compares two inputs, so its clamps are not collected.
        if name.rstrip("'") in reader.inputs:
            reader.bare.add((name.rstrip("'"), None))
    ranges = reader.ranges()
    if not ranges:
        raise NotDerived("no input is clipped")
    if ideal is not None:
        ideal = replace(ideal, body=reader.replaced(ideal.body, ranges))
    return replace(tree, body=reader.replaced(tree.body, ranges), ideal=ideal), reader, ranges


def _named(ranges: Mapping[Key, Ends]) -> dict[str, Ends]:
    return {name if index is None else f"{name}[{index}]": ends for (name, index), ends in ranges.items()}


def _join(block: Block, numbers: set[str]) -> Block:
    """Return `block` with each pair of assignments `v <- E; v <- F(v)` replaced by `v <- F(E)`.

    This is done for variables v whose names are in `numbers`. F must read v once, E must not read v, and E must be a
    variable, an element of an array, or a clamp. F must not contain an expression over a range, such as `sum(i in 1..m
    : v)`, since its index could be v or occur in E.
    """

    def compose_assignments(part: object) -> Block | None:
        if not isinstance(part, tuple):
            return None
        result: list[Any] = []
        for each in part:
            last = result[-1] if result else None
            match last, each:
                case Assign(Name(name), (Name() | Element() | Apply("min" | "max")) as first), Assign(
                    Name(other), second
                ) if (
                    name == other
                    and name in numbers
                    and [*names(second)].count(name) == 1
                    and name not in names(first)
                    and not any(isinstance(node, Ranged) for node in nodes(second))
                ):
                    result[-1] = Assign(Name(name), substituted(second, name, first))
                case _:
                    result.append(rebuilt(each, compose_assignments))
        return tuple(result)

    return rebuilt(block, compose_assignments)  # type: ignore[no-any-return]


class _Reader:
    """A collector of the clamps of inputs in a program.

    `clamps` has the clamps of each input, and `bare` the inputs that are also read without a clamp. `inputs` are the
    names of the inputs whose clamps are collected, those of the given types.
    """

    def __init__(self, tree: Program, constants: Mapping[str, Fraction], types: Collection[str]) -> None:
        self.inputs = {each.name for each in tree.variables if each.role == "input" and each.type in types}
        self.whole = {each.name for each in tree.variables if each.type == "int"}
        part = (tree.body, tree.ideal)
        local = {node.variable for node in nodes(part) if isinstance(node, For | Mechanism | Ranged)}
        if tree.ideal is not None:
            local |= {each.name for each in tree.ideal.variables}
        declared = {each.name for each in tree.variables}
        self.constants = {name: value for name, value in constants.items() if name not in local | declared}
        self.is_ambiguous = not self.inputs.isdisjoint(local)
        elements = [node for node in nodes(part) if isinstance(node, Element) and node.name in self.inputs]
        self.numbered = {node.name for node in elements} - {
            node.name for node in elements if not isinstance(node.index, Literal)
        }
        self.clamps: dict[Key, list[_Clamp]] = {}
        self.bare: set[Key] = set()

    def ranges(self) -> dict[Key, Ends]:
        """Return a range (low, high) for each input that is read through clamps alone.

        Outside of its range, an input may change without changing any clamp of this input. The range is the least such
        interval; for an int input, its ends are integers. An end is None if the range is not bounded on that side; an
        input without any end is left out.
        """
        result: dict[Key, Ends] = {}
        for key, clamps in self.clamps.items():
            if key in self.bare or (key[0], None) in self.bare:
                continue
            lows, highs = [each.preimage[0] for each in clamps], [each.preimage[1] for each in clamps]
            low = None if None in lows else min(end for end in lows if end is not None)
            high = None if None in highs else max(end for end in highs if end is not None)
            if key[0] in self.whole:
                low = None if low is None else Fraction(floor(low))
                high = None if high is None else Fraction(ceil(high))
            if low is not None or high is not None:
                result[key] = low, high
        return result

    def collect(self, node: Any) -> None:
        clamp = self.clamp(node)
        if clamp is not None:
            self.clamps.setdefault(clamp.key, []).append(clamp)
            return
        key = self.key(node)
        if key is not None:
            self.bare.add(key)
        if isinstance(node, tuple):
            for each in node:
                self.collect(each)
        elif is_dataclass(node) and not isinstance(node, type):
            for each in fields(node):
                self.collect(getattr(node, each.name))

    def replaced(self, node: Any, ranges: Mapping[Key, Ends]) -> Any:
        """Return `node` without the clamps that change nothing while the inputs are in `ranges`."""

        def unclamped(part: Any) -> Any:
            clamp = self.clamp(part)
            if clamp is None or clamp.key not in ranges:
                return None
            (low, high), (least, most) = clamp.preimage, ranges[clamp.key]
            below = low is None or (least is not None and low <= least)
            above = high is None or (most is not None and high >= most)
            return clamp.form if below and above else part

        return rebuilt(node, unclamped)

    def clamp(self, node: object) -> _Clamp | None:
        match node:
            case Apply("min" | "max" as side, (one, other)):
                for number, inner in ((self.number(one), other), (self.number(other), one)):
                    if number is None:
                        continue
                    clamp = self.clamp(inner) or self.form(inner)
                    if clamp is None:
                        continue
                    low, high = clamp.ends
                    if side == "max":
                        low = number if low is None or number > low else low
                    else:
                        high = number if high is None or number < high else high
                    if low is None or high is None or low < high:
                        return replace(clamp, ends=(low, high))
        return None

    def form(self, node: Any) -> _Clamp | None:
        """Return the expression `node` as factor·x + offset for one input x, a clamp without bounds.

        Return None if `node` is not affine in one input.
        """
        key = self.key(node)
        if key is not None:
            return _Clamp(key, _ONE, _ZERO, (None, None), node)
        if not isinstance(node, Apply) or node.op not in ("neg", "+", "-", "*", "/"):
            return None
        if node.op == "neg":
            inner = self.form(node.arguments[0])
            return None if inner is None else replace(inner, factor=-inner.factor, offset=-inner.offset, form=node)
        left, right = node.arguments
        one, two = self.number(left), self.number(right)
        inner = self.form(left) if two is not None else self.form(right) if one is not None else None
        number = two if two is not None else one
        if inner is None or number is None:
            return None
        factor, offset = inner.factor, inner.offset
        first = two is not None
        match node.op:
            case "+":
                offset += number
            case "-" if first:
                offset -= number
            case "-":
                factor, offset = -factor, number - offset
            case "*" if number:
                factor, offset = factor * number, offset * number
            case "/" if first and number:
                factor, offset = factor / number, offset / number
            case _:
                return None
        return replace(inner, factor=factor, offset=offset, form=node)

    def key(self, node: object) -> Key | None:
        match node:
            case Name(name) if name in self.inputs:
                return name, None
            case Element(name, Literal(Fraction() as index)) if name in self.numbered:
                return name, index
            case Element(name) if name in self.inputs:
                return name, None
        return None

    def number(self, node: object) -> Fraction | None:
        match node:
            case Literal(Fraction() as value):
                return value
            case Name(name):
                return self.constants.get(name)
            case Apply("neg" | "+" | "-" | "*" | "/" as op, arguments):
                values = [value for value in map(self.number, arguments) if value is not None]
                if len(values) == len(arguments) and not (op == "/" and not values[1]):
                    result = calculated(op, values)
                    return result if isinstance(result, Fraction) else None
        return None


# --- moves in the box -------------------------------------------------------------------------------------------------


def moves(
    forms: Sequence[Mapping[int, Fraction]],
    one_sided: int,
    widths: Mapping[int, Fraction | None],
    distance: str,
    radius: Fraction,
) -> Iterator[dict[int, Fraction]]:
    """Yield moves of inputs that include a worst case for the linear `forms`.

    A case is worse if its first `one_sided` forms are smaller, at equal values of the other forms. Precisely: for each
    move v within the ranges of inputs, some convex combination w of the results has f(w) <= f(v) for the first
    `one_sided` forms f, and f(w) = f(v) for all others.

    A move is the difference of two adjacent inputs, by slot, and a form has its coefficients by slot. Two inputs are
    adjacent if they are at most `radius` apart by `distance`, which is "linf", "l1" or "hamming". `widths` has the
    width of each input's range, None if the input has no range. Raises NotDerived if there are too many moves to list,
    or if no finite list is known to suffice.
    """
    groups: dict[tuple[Fraction, ...], list[tuple[int, Fraction]]] = {}
    for slot in sorted(widths):
        column = [form.get(slot, _ZERO) for form in forms]
        scale = next((c for c in column if c), None)
        if scale is not None:
            groups.setdefault(tuple(c / scale for c in column), []).append((slot, scale))
    if distance == "hamming" and any(widths[slot] is None for members in groups.values() for slot, _ in members):
        raise NotDerived("under hamming adjacency, an input that is not clipped may move by any amount")
    sums = [_Sum(column, members, widths, distance, radius) for column, members in groups.items()]
    signs = [each.signs(one_sided) for each in sums]
    if distance == "linf" or len(sums) == 1:
        parts: list[tuple[Mapping[int, Fraction], ...]] = [tuple(each.farthest(radius) for each in sums)]
    elif distance == "l1" and all(
        (width := widths[slot]) is None or width >= radius for each in sums for slot, _ in each.members
    ):
        parts = [tuple(each.farthest(radius) if each is own else {} for each in sums) for own in sums]
    elif distance == "hamming":
        every = [(slot, scale) for each in sums for slot, scale in each.members]
        count = min(int(radius), len(every))
        parts = []
        for chosen in combinations(every, count):
            some = {slot: (widths[slot] or _ZERO) * (1 if scale > 0 else -1) for slot, scale in chosen}
            parts.append(tuple({slot: some[slot] for slot, _ in each.members if slot in some} for each in sums))
            if len(parts) > MOST_MOVES:
                raise NotDerived("there are too many moves of the inputs")
    else:
        raise NotDerived(
            "under l1 adjacency, inputs that are clipped to ranges narrower than the radius are not covered"
        )
    found = 0
    for part in parts:
        for choice in product(*(own if moved else (_ONE,) for own, moved in zip(signs, part, strict=True))):
            found += 1
            if found > MOST_MOVES:
                raise NotDerived("there are too many moves of the inputs")
            yield {slot: sign * step for sign, moved in zip(choice, part, strict=True) for slot, step in moved.items()}


@dataclass(frozen=True)
class _Sum:
    """A group of inputs that occur in all linear forms only through one weighted sum, Σ scale·move.

    The move of an input is its change between two adjacent inputs, and the forms are linear functions of such moves.
    `column[i]` is the coefficient of the sum in form number i. `members` has the (slot, scale) of each input of the
    group, and `widths` the width of each input's range by slot (None: unbounded). Adjacent inputs differ by at most
    `radius` in the `distance`.
    """

    column: tuple[Fraction, ...]
    members: Sequence[tuple[int, Fraction]]
    widths: Mapping[int, Fraction | None]
    distance: str
    radius: Fraction

    def signs(self, one_sided: int) -> tuple[Fraction, ...]:
        """Return the signs of this sum that have to be tried to find a worst case of the forms: 1, -1 or both.

        Each of the first `one_sided` forms is worst where it is least. Each other form may be worst where it is least
        or where it is greatest. One sign suffices if no other form contains the sum, and if the nonzero coefficients in
        `column` have the same sign.
        """
        if any(self.column[one_sided:]):
            return _ONE, -_ONE
        falling = {c > 0 for c in self.column if c}
        return (-_ONE if True in falling else _ONE,) if len(falling) == 1 else (_ONE, -_ONE)

    def farthest(self, radius: Fraction) -> dict[int, Fraction]:
        """Return the moves of inputs, by slot, that make this sum Σ scale·move greatest within `radius`.

        Under linf each input moves as far as `radius` and its range allow. Under l1 the inputs share `radius`, and
        under hamming at most `radius` inputs move; in both cases the inputs that add most to the sum move first.
        """
        if self.distance == "linf":
            steps = {
                slot: min(radius, width) if (width := self.widths[slot]) is not None else radius
                for slot, _ in self.members
            }
            return {slot: steps[slot] * (1 if scale > 0 else -1) for slot, scale in self.members}
        result: dict[int, Fraction] = {}
        if self.distance == "hamming":
            by_gain = sorted(self.members, key=lambda each: -abs(each[1]) * (self.widths[each[0]] or _ZERO))
            for slot, scale in by_gain[: int(radius)]:
                result[slot] = (self.widths[slot] or _ZERO) * (1 if scale > 0 else -1)
            return result
        for slot, scale in sorted(self.members, key=lambda each: -abs(each[1])):
            width = self.widths[slot]
            step = radius if width is None else min(width, radius)
            if step:
                result[slot] = step * (1 if scale > 0 else -1)
            radius -= step
        return result

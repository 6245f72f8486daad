"""The outputs of a program as expressions over its inputs and draws, equal up to the order of sums and the like.

An `ExpressionTable` interns expressions as numbers. Two expressions with one number have the same value for all inputs
and draws. Sums, products, `min`, `max`, `and`, `or` and `=` have their operands in one order, and sums are flat, so
that `x[1] + x[2]` and `x[2] + x[1]` have one number. The converse does not hold: different numbers prove nothing.

`SymbolicRun` executes a program once, on expressions. A branch whose condition is an expression is executed on both
sides, and a variable that differs afterwards becomes `if condition then one else other`.

Lemma. Let a renaming exchange some inputs of one type, and some draws of one law. If it maps every output to itself,
and the parameters of each draw to those of the draw's image, then the law of the outputs is unchanged when the inputs
are exchanged.

- Conditions: no input makes the program fail. `SymbolicRun` proves that every value that is assigned is in its domain,
  from the least and the greatest value of each expression, and gives up otherwise.
- Proof: draws are independent of each other, given their parameters. A draw that a run does not reach may be made all
  the same, because nothing depends on it. By induction over the draws in the order of the text, the images of the draws
  at the exchanged inputs have the joint law of the draws at the given ones. The outputs are one function of both.
- Consequence: exchanges of neighbors suffice, because they generate every order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import assert_never

from dipc.algebra.graph import Dominators
from dipc.algebra.limits import NotApplicable
from dipc.chain.flow import Flow
from dipc.chain.step import is_never
from dipc.frozen import frozen
from dipc.text import core as operations
from dipc.text.ast import BaseType, CompareOp, Role
from dipc.text.core import (
    AffineExpr,
    AnyExpr,
    Apply,
    Branch,
    Const,
    DomExpr,
    DomOp,
    DomType,
    ExitInstruction,
    Jump,
    LinearComparison,
    Reference,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Slot,
    Store,
    Term,
    Value,
)

#: The most expressions of one run, and the most values of an expression that are listed one by one.
_MOST_NODES, _MOST_VALUES = 200_000, 64

_ZERO, _ONE = Fraction(0), Fraction(1)

_JUNCTIONS = (DomOp.AND, DomOp.OR)


@frozen
class ValueRange:
    """The values that an expression may have: those `listed`, or numbers from `low` to `high`, integers if `whole`.

    The values are numbers from `low` to `high` only if `listed` is None; a `low` or `high` of None is infinite. Each
    listed value is paired with whether it is a truth value, because Python's True equals 1.
    """

    listed: frozenset[tuple[bool, Value]] | None
    low: Fraction | None = None
    high: Fraction | None = None
    whole: bool = False

    def is_within(self, domain: Iterable[Value]) -> bool:
        """Return True only if every value of the range is in `domain`."""
        known = {(isinstance(value, bool), value) for value in domain}
        if self.listed is not None:
            return self.listed <= known
        if not self.whole or self.low is None or self.high is None or self.high - self.low >= len(known):
            return False
        start = -(-self.low // 1)
        return all((False, Fraction(number)) in known for number in range(int(start), int(self.high // 1) + 1))


_ANY = ValueRange(None)
_TRUTH = ValueRange(frozenset({(True, True), (True, False)}))


def _listed(values: Iterable[Value]) -> ValueRange:
    return ValueRange(frozenset([(isinstance(value, bool), value) for value in values]))


#: An expression by its number in a table.
Node = int

#: The summands of a flat sum: a constant, and coefficients by node, sorted.
Sum = tuple[Fraction, tuple[tuple[Node, Fraction], ...]]


class ExpressionTable:
    """A table of expressions, each represented by its index in the table; equal forms have one index.

    A form is a tuple: ("constant", value), ("input", slot), ("draw", label), ("sum", constant, terms), ("if",
    condition, then, otherwise), or an operation's name with the indices of its operands. `leaves` has, for each index,
    the inputs and draws that the expression depends on, as bits.
    """

    def __init__(self) -> None:
        self.forms: list[tuple[object, ...]] = []
        self.ranges: list[ValueRange] = []
        self.leaves: list[int] = []
        self._numbers: dict[tuple[object, ...], Node] = {}
        self._bits: dict[tuple[str, int], int] = {}

    def _node(self, form: tuple[object, ...], range_: ValueRange, children: Iterable[Node] = (), own: int = 0) -> Node:
        key = form if form[0] != "constant" else (*form, type(form[1]))
        number = self._numbers.get(key)
        if number is None:
            if len(self.forms) >= _MOST_NODES:
                raise NotApplicable("its expressions are too long")
            number = self._numbers[key] = len(self.forms)
            for child in children:
                own |= self.leaves[child]
            self.forms.append(form)
            self.ranges.append(range_)
            self.leaves.append(own)
        return number

    # --- leaves -------------------------------------------------------------------------------------------

    def constant(self, value: Value) -> Node:
        """Return the expression with the value `value`."""
        return self._node(("constant", value), _listed([value]))

    def leaf(self, kind: str, number: int, range_: ValueRange) -> Node:
        """Return the expression of an input or of a draw, with the values in `range_`.

        `kind` is "input", with `number` its slot, or "draw", with `number` its label.
        """
        return self._node((kind, number), range_, own=self.bit(kind, number))

    def drawn(self, label: int) -> Node:
        """Return the expression of the draw at `label`, which the table must already have."""
        return self._numbers["draw", label]

    def bit(self, kind: str, number: int) -> int:
        """Return the bit that represents an input or a draw in `leaves`.

        `kind` is "input", with `number` its slot, or "draw", with `number` its label.
        """
        return 1 << self._bits.setdefault((kind, number), len(self._bits))

    def value(self, node: Node) -> Value | None:
        """Return the value of `node` if it is a constant, None for other expressions."""
        form = self.forms[node]
        if form[0] != "constant":
            return None
        value = form[1]
        assert isinstance(value, Fraction | str | bool)
        return value

    # --- sums ---------------------------------------------------------------------------------------------

    def sum_of(self, node: Node) -> Sum:
        """Return the expression `node` as a constant and terms, pairs (expression that is not a sum, coefficient)."""
        match self.forms[node]:
            case ("constant", Fraction() as value):
                return value, ()
            case ("sum", Fraction() as constant, tuple() as terms):
                return constant, terms
            case _:
                return _ZERO, ((node, _ONE),)

    def from_sum(self, constant: Fraction, terms: Mapping[Node, Fraction]) -> Node:
        """Return `constant` + Σ coefficient · expression, where `terms` has the coefficients by expression."""
        kept = tuple(sorted([(node, coefficient) for node, coefficient in terms.items() if coefficient]))
        if not kept:
            return self.constant(constant)
        if not constant and len(kept) == 1 and kept[0][1] == 1:
            return kept[0][0]
        return self._node(("sum", constant, kept), self._sum_range(constant, kept), [node for node, _ in kept])

    def combined(self, summands: Iterable[tuple[Fraction, Node]]) -> Node:
        """Return the expression Σ factor · node over the `summands`, as one sum whose terms are not sums."""
        constant, terms = _ZERO, dict[Node, Fraction]()
        for factor, node in summands:
            own, parts = self.sum_of(node)
            constant += factor * own
            for part, coefficient in parts:
                terms[part] = terms.get(part, _ZERO) + factor * coefficient
        return self.from_sum(constant, terms)

    def _sum_range(self, constant: Fraction, terms: Sequence[tuple[Node, Fraction]]) -> ValueRange:
        low: Fraction | None = constant
        high: Fraction | None = constant
        whole = constant.denominator == 1
        for node, coefficient in terms:
            least, most, integral = self._bounds(node)
            whole = whole and integral and coefficient.denominator == 1
            if coefficient < 0:
                least, most = most, least
            low = None if low is None or least is None else low + coefficient * least
            high = None if high is None or most is None else high + coefficient * most
        return ValueRange(None, low, high, whole)

    def _bounds(self, node: Node) -> tuple[Fraction | None, Fraction | None, bool]:
        range_ = self.ranges[node]
        if range_.listed is None:
            return range_.low, range_.high, range_.whole
        numbers = [value for _, value in range_.listed if isinstance(value, Fraction)]
        return min(numbers), max(numbers), all(value.denominator == 1 for value in numbers)

    # --- operations ---------------------------------------------------------------------------------------

    def apply(self, op: DomOp, arguments: Sequence[Node]) -> Node:
        """Return the operation `op` on the expressions `arguments`; raise NotApplicable if it may fail."""
        values = [self.value(node) for node in arguments]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            try:
                return self.constant(operations.evaluate(op, known))
            except ArithmeticError:
                raise NotApplicable("a division by zero, or a long number") from None
        match op:
            case DomOp.ADD:
                return self.combined([(_ONE, node) for node in arguments])
            case DomOp.SUBTRACT:
                return self.combined([(_ONE, arguments[0]), (-_ONE, arguments[1])])
            case DomOp.NEGATE:
                return self.combined([(-_ONE, arguments[0])])
            case DomOp.MULTIPLY if any(isinstance(value, Fraction) for value in values):
                place = next(place for place, value in enumerate(values) if value is not None)
                factor = values[place]
                assert isinstance(factor, Fraction)
                return self.combined([(factor, arguments[1 - place])])
            case DomOp.DIVIDE:
                divisor = values[1]
                if not isinstance(divisor, Fraction) or not divisor:
                    raise NotApplicable("a division by something that is not a constant")
                return self.combined([(1 / divisor, arguments[0])])
            case DomOp.COUNT:
                return self.choice(arguments[0], self.constant(_ONE), self.constant(_ZERO))
            case DomOp.NOT:
                return self.opposite(arguments[0])
            case DomOp.EQ:
                return self.equal(*arguments)
            case DomOp.NE:
                return self.opposite(self.equal(*arguments))
            case DomOp.LT | DomOp.LE | DomOp.GT | DomOp.GE:
                difference = self.combined([(_ONE, arguments[0]), (-_ONE, arguments[1])])
                return self.compared(CompareOp(op.value), difference)
            case DomOp.ABS:
                return self._absolute(arguments[0])
            case DomOp.MULTIPLY | DomOp.MIN | DomOp.MAX | DomOp.AND | DomOp.OR:
                return self._flat(op, arguments)
            case _:
                assert_never(op)

    def _flat(self, op: DomOp, arguments: Sequence[Node]) -> Node:
        """Return `op`, a product, `min`, `max`, `and` or `or`, of `arguments` as one node without nested ones."""
        operands: list[Node] = []
        for node in arguments:
            form = self.forms[node]
            for part in form[1:] if form[0] == op.value else (node,):
                assert isinstance(part, int)
                truth = self.value(part) if op in _JUNCTIONS else None
                if truth is not None and truth is (op is DomOp.OR):
                    return self.constant(truth)
                if truth is None:
                    operands.append(part)
        ordered = tuple(sorted(operands if op is DomOp.MULTIPLY else set(operands)))
        if not ordered:
            return self.constant(op is DomOp.AND)
        if len(ordered) == 1:
            return ordered[0]
        range_ = _TRUTH if op in _JUNCTIONS else self._operation_range(op, ordered)
        return self._node((op.value, *ordered), range_, ordered)

    def _operation_range(self, op: DomOp, operands: Sequence[Node]) -> ValueRange:
        bounds = [self._bounds(node) for node in operands]
        lows = [low for low, _, _ in bounds if low is not None]
        highs = [high for _, high, _ in bounds if high is not None]
        if len(lows) < len(bounds) or len(highs) < len(bounds):
            return _ANY
        whole = all(integral for _, _, integral in bounds)
        if op is DomOp.MULTIPLY:
            low = high = _ONE
            for least, most in zip(lows, highs, strict=True):
                ends = [low * least, low * most, high * least, high * most]
                low, high = min(ends), max(ends)
            return ValueRange(None, low, high, whole)
        best = min if op is DomOp.MIN else max
        listed = [self.ranges[node].listed for node in operands]
        if all(values is not None for values in listed):
            every = frozenset[tuple[bool, Value]]().union(*[values for values in listed if values is not None])
            low, high = best(lows), best(highs)
            kept = [pair for pair in every if isinstance(pair[1], Fraction) and low <= pair[1] <= high]
            return ValueRange(frozenset(kept))
        return ValueRange(None, best(lows), best(highs), whole)

    def _absolute(self, node: Node) -> Node:
        opposite = self.combined([(-_ONE, node)])
        low, high, whole = self._bounds(node)
        if low is None or high is None:
            return self._node(("abs", min(node, opposite)), _ANY, (node,))
        most = max(-low, high)
        least = max(low, -high, _ZERO)
        return self._node(("abs", min(node, opposite)), ValueRange(None, least, most, whole), (node,))

    # --- conditions ---------------------------------------------------------------------------------------

    def opposite(self, node: Node) -> Node:
        """Return the negation of the condition `node`."""
        match self.forms[node]:
            case ("constant", bool() as truth):
                return self.constant(not truth)
            case ("not", int() as inner):
                return inner
            case ("positive", int() as number):  # not e > 0 is -e >= 0
                return self._sign("nonnegative", self.combined([(-_ONE, number)]))
            case ("nonnegative", int() as number):
                return self._sign("positive", self.combined([(-_ONE, number)]))
            case _:
                return self._node(("not", node), _TRUTH, (node,))

    def compared(self, op: CompareOp, difference: Node) -> Node:
        """Return the condition `difference` `op` 0."""
        if op in (CompareOp.EQ, CompareOp.NE):
            equal = self._zero(difference)
            return equal if op is CompareOp.EQ else self.opposite(equal)
        if op in (CompareOp.LT, CompareOp.LE):
            difference = self.combined([(-_ONE, difference)])
        return self._sign("positive" if op in (CompareOp.GT, CompareOp.LT) else "nonnegative", difference)

    def _sign(self, sign: str, node: Node) -> Node:
        value = self.value(node)
        if isinstance(value, Fraction):
            return self.constant(value > 0 if sign == "positive" else value >= 0)
        return self._node((sign, node), _TRUTH, (node,))

    def _zero(self, node: Node) -> Node:
        value = self.value(node)
        if isinstance(value, Fraction):
            return self.constant(not value)
        opposite = self.combined([(-_ONE, node)])
        return self._node(("zero", min(node, opposite)), _TRUTH, (node,))

    def equal(self, one: Node, other: Node) -> Node:
        """Return the condition that `one` and `other`, two values of one type, are equal."""
        if one == other:
            return self.constant(True)
        if self._is_number(one) and self._is_number(other):
            return self._zero(self.combined([(_ONE, one), (-_ONE, other)]))
        for here, there in ((one, other), (other, one)):
            truth = self.value(here)
            if isinstance(truth, bool):
                return there if truth else self.opposite(there)
        return self._node(("=", *sorted((one, other))), _TRUTH, (one, other))

    def _is_number(self, node: Node) -> bool:
        listed = self.ranges[node].listed
        return listed is None or all(isinstance(value, Fraction) for _, value in listed)

    def choice(self, condition: Node, then: Node, otherwise: Node) -> Node:
        """Return the expression `then` if `condition` holds, else `otherwise`.

        Summands that `then` and `otherwise` share are taken out of the `if`.
        """
        if then == otherwise:
            return then
        truth = self.value(condition)
        if truth is not None:
            return then if truth else otherwise
        opposite = self.opposite(condition)
        if opposite < condition:  # one of the two, so that a choice has one form
            condition, then, otherwise = opposite, otherwise, then
        form = self.forms[condition]
        one, other = self.value(then), self.value(otherwise)
        if isinstance(one, bool) or isinstance(other, bool):
            if one is True:
                return self._flat(DomOp.OR, (condition, otherwise))
            if one is False:
                return self._flat(DomOp.AND, (self.opposite(condition), otherwise))
            if other is True:
                return self._flat(DomOp.OR, (self.opposite(condition), then))
            return self._flat(DomOp.AND, (condition, then))
        if not (self._is_number(then) and self._is_number(otherwise)):
            return self._choice(condition, then, otherwise)
        if form[0] in ("positive", "nonnegative"):  # `if a > b then a else b` is the maximum
            difference = self.combined([(_ONE, then), (-_ONE, otherwise)])
            if difference == form[1]:
                return self._flat(DomOp.MAX, (then, otherwise))
            if self.combined([(-_ONE, difference)]) == form[1]:
                return self._flat(DomOp.MIN, (then, otherwise))
        (constant, terms), (base, others) = self.sum_of(then), self.sum_of(otherwise)
        mine, theirs = dict(terms), dict(others)
        shared = {node: factor for node, factor in mine.items() if theirs.get(node) == factor}
        if not shared and not base:
            return self._choice(condition, then, otherwise)
        rest = self.from_sum(constant - base, {node: c for node, c in mine.items() if node not in shared})
        left = self.from_sum(_ZERO, {node: c for node, c in theirs.items() if node not in shared})
        return self.combined([(_ONE, self._choice(condition, rest, left)), (_ONE, self.from_sum(base, shared))])

    def _choice(self, condition: Node, then: Node, otherwise: Node) -> Node:
        form = ("if", condition, then, otherwise)
        return self._node(form, self.either([then, otherwise]), (condition, then, otherwise))

    def either(self, nodes: Sequence[Node]) -> ValueRange:
        """Return a range that contains all values of the expressions `nodes`."""
        listed = [values for node in nodes if (values := self.ranges[node].listed) is not None]
        if len(listed) == len(nodes):
            every = frozenset[tuple[bool, Value]]().union(*listed)
            if len(every) <= _MOST_VALUES:
                return ValueRange(every)
        if not all(map(self._is_number, nodes)):
            return _ANY
        bounds = [self._bounds(node) for node in nodes]
        lows = [low for low, _, _ in bounds if low is not None]
        highs = [high for _, high, _ in bounds if high is not None]
        return ValueRange(
            None,
            min(lows) if len(lows) == len(bounds) else None,
            max(highs) if len(highs) == len(bounds) else None,
            all(integral for _, _, integral in bounds),
        )

    # --- renaming -----------------------------------------------------------------------------------------

    def renamed(self, node: Node, names: Mapping[Node, Node], touched: int, known: dict[Node, Node]) -> Node:
        """Return the expression `node` with its inputs and draws renamed by `names`.

        `touched` are the bits of the renamed inputs and draws. `known` caches results by expression, and is extended.
        """
        if not self.leaves[node] & touched:
            return node
        result = known.get(node)
        if result is None:
            result = known[node] = self._renamed(node, names, touched, known)
        return result

    def _renamed(self, node: Node, names: Mapping[Node, Node], touched: int, known: dict[Node, Node]) -> Node:
        def renamed_operand(inner: object) -> Node:
            assert isinstance(inner, int)
            return self.renamed(inner, names, touched, known)

        match self.forms[node]:
            case ("input" | "draw", _):
                return names[node]
            case ("sum", Fraction() as constant, tuple() as terms):
                return self.combined(
                    [(_ONE, self.constant(constant)), *[(c, renamed_operand(part)) for part, c in terms]]
                )
            case ("if", condition, then, otherwise):
                return self.choice(renamed_operand(condition), renamed_operand(then), renamed_operand(otherwise))
            case ("not", inner):
                return self.opposite(renamed_operand(inner))
            case (("positive" | "nonnegative") as sign, inner):
                return self._sign(str(sign), renamed_operand(inner))
            case ("zero", inner):
                return self._zero(renamed_operand(inner))
            case ("abs", inner):
                return self._absolute(renamed_operand(inner))
            case ("=", one, other):
                return self.equal(renamed_operand(one), renamed_operand(other))
            case (str() as name, *operands):
                return self._flat(DomOp(name), [renamed_operand(each) for each in operands])
            case form:
                raise AssertionError(form)


# --- One run on expressions -------------------------------------------------------------------------------------------


@frozen
class SymbolicDraw:
    """A draw of the program at `label`, with its `parameters`, such as the scores of an exponential mechanism.

    `law` has what else determines its distribution. `place` is its statement in the text, shared by all draws of this
    statement in an unrolled loop.
    """

    label: int
    place: object
    law: object
    parameters: tuple[Node, ...]


#: The expression that each variable holds, by slot; _UNSET for one that may be unassigned.
_Values = dict[int, Node]

_UNSET = -1

#: The most instructions that one run executes, and the most branches inside each other.
_MOST_STEPS, _MOST_DEPTH = 100_000, 300


class SymbolicRun:
    """A run of a program on expressions in place of values.

    `inputs` and `outputs` map slots to expressions of `table`, an `ExpressionTable`; an output that is never assigned
    is mapped to None. `draws` maps the expression of each draw to the draw, in the order of the text. A program with
    such a run never fails, whatever its inputs are.
    """

    def __init__(self, flow: Flow) -> None:
        """Execute the program of `flow` on expressions; raise NotApplicable if that is not possible."""
        if not flow.forward:
            raise NotApplicable("it has a `while`")
        self.table = table = ExpressionTable()
        self.draws: dict[Node, SymbolicDraw] = {}
        self._flow = flow
        self._slots = flow.program.slots
        self._meets = _meeting_places(flow)
        self._steps = 0
        values: _Values = {}
        for slot in self._slots:
            if slot.role is Role.INPUT:
                values[slot.index] = table.leaf("input", slot.index, domain_range(slot))
            elif slot.initial is not None:
                values[slot.index] = table.constant(slot.initial)
        self.inputs = {slot: values[slot] for slot in flow.program.inputs}
        end = self._executed(flow.entry, flow.exit_label, values, 0)
        self.outputs = {slot: end.get(slot) for slot in flow.program.outputs}
        if _UNSET in self.outputs.values():
            raise NotApplicable("an output is not always assigned")

    def _executed(self, label: int, stop: int, values: _Values, depth: int) -> _Values:
        """Return the expressions of the variables at the label `stop`, after running from `label`.

        Every path from `label` leads through `stop`. `values` are the expressions at `label`; this mapping is changed.
        `depth` is the number of branches around `label` that are being run. Raises NotApplicable if branches are nested
        too deeply, or if the run may fail or is too long.
        """
        flow, table = self._flow, self.table
        if depth > _MOST_DEPTH:
            raise NotApplicable("its branches are too deep")
        while label != stop:
            self._steps += 1
            if self._steps > _MOST_STEPS:
                raise NotApplicable("it is too long")
            instruction = flow.program.instructions[label]
            match instruction:
                case Branch(condition=test, then=then, otherwise=otherwise):
                    condition = self._expression(test, values)
                    truth = table.value(condition)
                    if truth is not None:
                        label = flow.landing[then if truth else otherwise]
                        continue
                    meet = self._meets.above(label)
                    one = self._executed(flow.landing[then], meet, dict(values), depth + 1)
                    other = self._executed(flow.landing[otherwise], meet, values, depth + 1)
                    values, label = self._merge(condition, one, other), meet
                    continue
                case Store(target=target, value=expr):
                    slot = self._target(target, values)
                    values[slot] = self._checked(slot, self._expression(expr, values))
                case SampleNoise(target=target, law=law, rate=rate, mean=mean, span=span):
                    slot = self._target(target, values)
                    noise = self._drawn(label, span, (law, rate), (), ValueRange(None, whole=law.whole))
                    center = self._checked(slot, self._expression(mean, values))
                    values[slot] = table.combined([(_ONE, center), (_ONE, noise)])
                case SampleChoice(target=target, arms=arms, span=span):
                    slot = self._target(target, values)
                    options = [
                        (self._expression(value, values), weight) for value, weight in arms if not is_never(weight)
                    ]
                    parameters = tuple([self._checked(slot, value) for value, _ in options])
                    law_ = tuple([weight for _, weight in options])
                    values[slot] = self._drawn(label, span, law_, parameters, table.either(parameters))
                case SampleExponential(target=target, rate=rate, values=chosen, scores=scores, span=span):
                    slot = self._target(target, values)
                    for value in chosen:
                        self._checked(slot, table.constant(value))
                    parameters = tuple([self._expression(score, values) for score in scores])
                    values[slot] = self._drawn(label, span, (rate, chosen), parameters, _listed(chosen))
                case Jump() | ExitInstruction():
                    raise AssertionError("control never stays there")
                case _:
                    assert_never(instruction)
            label = flow.landing[label + 1]
        return values

    def _merge(self, condition: Node, one: _Values, other: _Values) -> _Values:
        result: _Values = {}
        for slot in {**one, **other}:
            then, otherwise = one.get(slot, _UNSET), other.get(slot, _UNSET)
            if then == otherwise:
                result[slot] = then
            elif _UNSET in (then, otherwise):
                result[slot] = _UNSET
            else:
                result[slot] = self.table.choice(condition, then, otherwise)
        return result

    def _drawn(self, label: int, place: object, law: object, parameters: tuple[Node, ...], range_: ValueRange) -> Node:
        node = self.table.leaf("draw", label, range_)
        draw = SymbolicDraw(label, place, law, parameters)
        if self.draws.setdefault(node, draw) != draw:
            raise NotApplicable("a draw is reached in several ways")
        return node

    def _target(self, target: Reference, values: _Values) -> int:
        return (
            target.slots[0] if target.index is None else self._element(target, self._expression(target.index, values))
        )

    def _element(self, array: Reference, index: Node) -> int:
        point = self.table.value(index)
        slot = None if point is None else array.element(point)
        if slot is None:
            raise NotApplicable("an index depends on inputs or draws")
        return slot

    def _checked(self, slot: int, node: Node) -> Node:
        """Return `node`; raise NotApplicable unless its values at every input are of the type of `slot`."""
        declared = self._slots[slot].type
        range_ = self.table.ranges[node]
        if isinstance(declared, DomType) and not range_.is_within(declared.values):
            raise NotApplicable(f"`{self._slots[slot].name}` may leave its domain")
        if declared is BaseType.INT and not (
            range_.whole
            or range_.is_within([v for _, v in range_.listed or () if isinstance(v, Fraction) and v.denominator == 1])
        ):
            raise NotApplicable(f"`{self._slots[slot].name}` may not be an integer")
        return node

    def _expression(self, expr: AnyExpr, values: _Values) -> Node:
        match expr:
            case AffineExpr(terms, constant):
                return linear(self.table, terms, constant, lambda each: self._read(each, values))
            case LinearComparison(difference, op):
                return self.table.compared(op, self._expression(difference, values))
            case _:
                return expression(self.table, expr, lambda each: self._read(each, values))

    def _read(self, variable: Reference, values: _Values) -> Node:
        if variable.index is None:
            return self._held(variable.slots[0], values)
        index = self._expression(variable.index, values)
        listed = self.table.ranges[index].listed
        if listed is None:
            raise NotApplicable("an index depends on inputs or draws")
        points = [self.table.constant(value) for _, value in sorted(listed, key=str)]
        result: Node | None = None
        for point in points:
            held = self._held(self._element(variable, point), values)
            result = held if result is None else self.table.choice(self.table.equal(index, point), held, result)
        assert result is not None
        return result

    def _held(self, slot: int, values: _Values) -> Node:
        node = values.get(slot, _UNSET)
        if node == _UNSET:
            raise NotApplicable(f"`{self._slots[slot].name}` may be read before it is assigned")
        return node


#: The expression that a variable holds.
Reader = Callable[[Reference], Node]


def expression(table: ExpressionTable, expr: DomExpr, read: Reader) -> Node:
    """Return the DOM or bool expression `expr` as an expression of `table`; raise NotApplicable if it may fail.

    `read` gives the expression that a variable holds.
    """
    match expr:
        case Const(value=value):
            return table.constant(value)
        case Reference():
            return read(expr)
        case Apply(op=op, arguments=arguments):
            return table.apply(op, [expression(table, argument, read) for argument in arguments])
        case _:
            assert_never(expr)


def linear(table: ExpressionTable, terms: Iterable[Term], constant: DomExpr, read: Reader) -> Node:
    """Return Σ coefficient · variable over `terms`, plus `constant`, as an expression of `table`.

    `read` gives the expression that a variable holds. Raises NotApplicable unless the coefficients are constants.
    """
    summands: list[tuple[Fraction, Node]] = [(_ONE, expression(table, constant, read))]
    for coefficient, variable in terms:
        factor = table.value(expression(table, coefficient, read))
        if not isinstance(factor, Fraction):
            raise NotApplicable("the coefficient of a variable in a sum depends on inputs or draws")
        summands.append((factor, read(variable)))
    return table.combined(summands)


def domain_range(slot: Slot) -> ValueRange:
    """Return the values of the type of `slot`."""
    match slot.type:
        case BaseType.BOOL:
            return _TRUTH
        case DomType(values=values) if len(values) <= _MOST_VALUES or isinstance(values[0], str):
            return _listed(values)
        case DomType(values=values):
            numbers = [value for value in values if isinstance(value, Fraction)]
            return ValueRange(None, min(numbers), max(numbers), all(value.denominator == 1 for value in numbers))
        case BaseType.INT:
            return ValueRange(None, whole=True)
    return _ANY


def _meeting_places(flow: Flow) -> Dominators:
    """Return the post-dominators of the labels of `flow`.

    In the result, `above` of a label is the first later label through which every path from the label to the exit
    leads.
    """
    result = Dominators(flow.exit_label)
    for label in range(flow.exit_label - 1, -1, -1):
        for goal in flow.successors[label] or (flow.exit_label,):
            result.connect(goal, label)
    return result

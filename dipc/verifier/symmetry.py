"""Finite inputs that may exchange their values (FORMAT.md, lemmas 4d and 4f).

A program without `while` is run once with its inputs and draws left open. Every expression has a number in a table, and
sums, products, `min`, `max`, `and`, `or` and `=` have their operands in one order, so that equal numbers are equal
functions. An exchange of two inputs is found to make no difference if it turns outputs and draws into themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product

from dipc.verifier.execution import Execution
from dipc.verifier.late import drawing_late
from dipc.verifier.noise import is_whole
from dipc.verifier.program import (
    COUNTING,
    Branch,
    Choice,
    Code,
    Fault,
    Halt,
    Instruction,
    Jump,
    Machine,
    Operation,
    Place,
    Sample,
    Scored,
    Store,
    Type,
    Value,
    calculated,
    holds,
    values_of,
)
from dipc.verifier.reading import Budget, Exhausted, NotDerived, why_it_ends
from dipc.verifier.syntax import Literal
from dipc.verifier.transitions import Transitions, require_deterministic

#: The number of an expression in a table.
Node = int

#: Numbers of inputs and draws, by the numbers that take their places.
Names = Mapping[Node, Node]

#: The most values of an expression that are listed, and the most combinations of operands that are computed.
MOST_VALUES, MOST_COMBINATIONS = 600, 20_000

#: The most branches inside each other.
MOST_DEPTH = 150

_ZERO, _ONE = Fraction(0), Fraction(1)

_TRUTH = frozenset((False, True))

#: Comparisons of a difference with 0: whether its sign changes, whether 0 belongs to it, whether it is denied.
_SIGNS = {">": (1, "positive"), "<": (-1, "positive"), ">=": (1, "nonnegative"), "<=": (-1, "nonnegative")}

_SHARED = frozenset(("*", "min", "max", "and", "or"))


@dataclass(frozen=True, slots=True)
class _Kind:
    """The possible `values` of an expression, None for any number; `whole` is true if all of them are integers."""

    values: frozenset[Value] | None
    whole: bool = False

    @property
    def is_truth(self) -> bool:
        return self.values is not None and all(isinstance(value, bool) for value in self.values)

    @property
    def is_number(self) -> bool:
        return self.values is None or all(isinstance(value, Fraction) for value in self.values)


def _kind(values: Iterable[Value]) -> _Kind:
    known = frozenset(values)
    if len(known) > MOST_VALUES:
        raise NotDerived("an expression has too many values")
    if len({type(value) for value in known}) > 1:
        raise NotDerived("an expression has values of different types")
    return _Kind(known, all(isinstance(value, Fraction) and value.denominator == 1 for value in known))


def _narrower(one: _Kind, other: _Kind) -> _Kind:
    if one.values is None or other.values is None:
        return _Kind(one.values if other.values is None else other.values, one.whole or other.whole)
    return one if one.values == other.values else _kind(one.values & other.values)


def _either_kind(one: _Kind, other: _Kind) -> _Kind:
    if one.is_truth is not other.is_truth or one.is_number is not other.is_number:
        raise NotDerived("a variable has values of different types")
    if one.values is None or other.values is None:
        return _Kind(None, one.whole and other.whole)
    return _kind(one.values | other.values)


@dataclass
class _Table:
    """Expressions over inputs and draws, by index: if two have one index, they are equal at all inputs and draws.

    `leaves` has, for each expression, the inputs and draws on which it depends. An expression has a value wherever its
    leaves have one: no expression divides by 0 or compares values of different types.
    """

    budget: Budget
    forms: list[tuple[object, ...]] = field(default_factory=list)
    kinds: list[_Kind] = field(default_factory=list)
    #: The inputs and draws of each expression, and those of the parameters of these draws.
    leaves: list[frozenset[Node]] = field(default_factory=list)
    _numbers: dict[tuple[object, ...], Node] = field(default_factory=dict)

    def node(self, form: tuple[object, ...], kind: _Kind, leaves: Iterable[Node]) -> Node:
        """Return the index of the expression `form`; a new expression is stored with its `kind` and `leaves`."""
        self.budget.spend(20 + 4 * len(form))
        number = self._numbers.get(form)
        if number is None:
            number = self._numbers[form] = len(self.forms)
            self.forms.append(form)
            self.kinds.append(kind)
            own = frozenset[Node]().union(*[self.leaves[each] for each in leaves])
            self.budget.spend(len(own))
            self.leaves.append(own)
        else:
            self.kinds[number] = _narrower(self.kinds[number], kind)
        return number

    def leaf(self, name: tuple[object, ...], kind: _Kind, parameters: Sequence[Node] = ()) -> Node:
        if name in self._numbers:
            raise NotDerived("a draw is reached in several ways")
        number = self.node(name, kind, parameters)
        self.leaves[number] |= {number}
        return number

    def constant(self, value: Value) -> Node:
        return self.node(("constant", type(value), value), _kind((value,)), ())

    def value(self, node: Node) -> Value | None:
        form = self.forms[node]
        return form[2] if form[0] == "constant" else None  # type: ignore[return-value]

    # --- operations -------------------------------------------------------------------------------

    def apply(self, op: str, operands: Sequence[Node]) -> Node:
        if op in COUNTING:
            operands = [
                self.choice(node, self.constant(_ONE), self.constant(_ZERO)) if self.kinds[node].is_truth else node
                for node in operands
            ]
        values = [self.value(operand) for operand in operands]
        if all(value is not None for value in values):
            return self.constant(calculated(op, values))  # type: ignore[arg-type]
        match op, operands:
            case "+", [one, other]:
                return self.total([(one, _ONE), (other, _ONE)])
            case "-", [one, other]:
                return self.total([(one, _ONE), (other, -_ONE)])
            case "neg", [one]:
                return self.total([(one, -_ONE)])
            case "/", [one, _] if isinstance(values[1], Fraction) and values[1]:
                return self.total([(one, 1 / values[1])])
            case "*", [one, other]:
                factors = [(a, b) for a, b in ((one, other), (other, one)) if self.value(b) is not None]
                if factors:
                    return self.total([(factors[0][0], Fraction(self.value(factors[0][1]) or 0))])
                return self._shared(op, operands)
            case "^", [_, _]:
                return self._image("^", tuple(operands))
            case "abs", [one]:
                opposite = self.total([(one, -_ONE)])
                return self._image("abs", (min(one, opposite),))
            case "not", [one]:
                return self.opposite(one)
            case (("min" | "max"), [_, *_]):
                return self._shared(op, operands)
            case (("and" | "or"), [one, other]):
                return self._shared(op, operands)
            case (("=" | "!="), [one, other]):
                equal = self._equal(one, other)
                return equal if op == "=" else self.opposite(equal)
            case (("<" | "<=" | ">" | ">="), [one, other]):
                sign, name = _SIGNS[op]
                return self._sign(name, self.total([(one, Fraction(sign)), (other, Fraction(-sign))]))
        raise NotDerived(f"`{op}` is applied to inputs or draws")

    def _image(self, op: str, operands: tuple[Node, ...]) -> Node:
        """Return the node of `op` applied to `operands` in their order, stored with its possible values.

        Raises NotDerived if there are too many of them, or if they are not known.
        """
        sets = [self.kinds[operand].values for operand in operands]
        known = [each for each in sets if each is not None]
        if len(known) == len(sets):
            count = 1
            for each in known:
                count *= len(each)
            if count > MOST_COMBINATIONS:
                raise NotDerived("an expression has too many values")
            self.budget.spend(5 * count)
            kind = _kind(calculated(op, chosen) for chosen in product(*known))
        elif op in ("min", "max", "abs") and all(self.kinds[operand].is_number for operand in operands):
            kind = _Kind(None, all(self.kinds[operand].whole for operand in operands))
        else:
            raise NotDerived(f"`{op}` is applied to noise")
        return self.node((op, *operands), kind, operands)

    def _shared(self, op: str, operands: Iterable[Node]) -> Node:
        """Return the node of the associative and commutative `op` applied to `operands`, without idle operands.

        An operand is idle if the value does not depend on it, such as `true` in an `and`.
        """
        parts: list[Node] = []
        for operand in operands:
            form = self.forms[operand]
            parts += form[1:] if form[0] == op else [operand]  # type: ignore[arg-type]
        if op in ("and", "or"):
            if not all(self.kinds[part].is_truth for part in parts):
                raise NotDerived(f"`{op}` needs truth values")
            if any(self.value(part) is (op == "or") for part in parts):
                return self.constant(op == "or")
            parts = [part for part in parts if self.value(part) is None]
        if op != "*":
            parts = [*set(parts)]
        if not parts:
            return self.constant(op == "and")
        parts.sort()
        if len(parts) == 1:
            return parts[0]
        if op in ("and", "or"):
            return self.node((op, *parts), _Kind(_TRUTH), parts)
        result = parts[0]
        for count in range(2, len(parts) + 1):
            # Values are computed operand by operand.
            before = self.kinds[result].values
            last = self.kinds[parts[count - 1]].values
            if before is None or last is None:
                return self._image(op, tuple(parts))
            self.budget.spend(5 * len(before) * len(last))
            kind = _kind(calculated(op, (a, b)) for a in before for b in last)
            result = self.node((op, *parts[:count]), kind, (result, parts[count - 1]))
        return result

    def total(self, summands: Sequence[tuple[Node, Fraction]], known: _Kind | None = None) -> Node:
        """Return the sum of coefficient·expression over the pairs in `summands`.

        If `known` is not None, it is the kind of the sum.
        """
        constant = _ZERO
        terms: dict[Node, Fraction] = {}
        for node, factor in summands:
            if not self.kinds[node].is_number:
                raise NotDerived("a sum needs numbers")
            own, parts = self._linear(node)
            self.budget.spend(1 + len(parts))
            constant += factor * own
            for part, c in parts:
                terms[part] = terms.get(part, _ZERO) + factor * c
        left = tuple(sorted((part, c) for part, c in terms.items() if c))
        if not left:
            return self.constant(constant)
        if not constant and len(left) == 1 and left[0][1] == 1:
            return left[0][0]
        if known is None:
            # The values of a sum of operands, and those of the sum of the terms that are left of them.
            written = self._sum_kind(summands)
            known = written if len(summands) <= 2 and written is not None and len(left) > 2 else None
            rest = self._sum_kind([(self.constant(constant), _ONE), *left]) if known is None else None
            kinds = [kind for kind in (written, rest) if kind is not None]
            if not kinds:
                raise NotDerived("an expression has too many values")
            known = _narrower(kinds[0], kinds[-1])
        return self.node(("sum", constant, left), known, [part for part, _ in left])

    def _sum_kind(self, summands: Iterable[tuple[Node, Fraction]]) -> _Kind | None:
        kind = _kind((_ZERO,))
        try:
            for node, factor in summands:
                kind = self._plus_kind(kind, self.kinds[node], factor)
        except NotDerived:
            return None
        return kind

    def _plus_kind(self, one: _Kind, other: _Kind, factor: Fraction) -> _Kind:
        if one.values is None or other.values is None:
            return _Kind(None, one.whole and other.whole and factor.denominator == 1)
        if not factor:
            return one
        self.budget.spend(4 * len(one.values) * len(other.values))
        return _kind(a + factor * b for a in one.values for b in other.values)  # type: ignore[operator]

    def _linear(self, node: Node) -> tuple[Fraction, tuple[tuple[Node, Fraction], ...]]:
        match self.forms[node]:
            case ("constant", _, Fraction() as value):
                return value, ()
            case ("sum", Fraction() as constant, tuple() as terms):
                return constant, terms
            case _:
                return _ZERO, ((node, _ONE),)

    def opposite(self, node: Node) -> Node:
        if not self.kinds[node].is_truth:
            raise NotDerived("`not` needs a truth value")
        known = self.value(node)
        if known is not None:
            return self.constant(not known)
        form = self.forms[node]
        if form[0] == "not":
            assert isinstance(form[1], int)
            return form[1]
        return self.node(("not", node), _Kind(_TRUTH), (node,))

    def _sign(self, name: str, difference: Node) -> Node:
        known = self.value(difference)
        if isinstance(known, Fraction):
            return self.constant(known > 0 if name == "positive" else known >= 0)
        if name == "nonnegative":
            return self.opposite(self._sign("positive", self.total([(difference, -_ONE)])))
        return self.node(("positive", difference), _Kind(_TRUTH), (difference,))

    def _equal(self, one: Node, other: Node) -> Node:
        kinds = self.kinds[one], self.kinds[other]
        if one == other:
            return self.constant(value=True)
        if all(kind.is_number for kind in kinds):
            difference = self.total([(one, _ONE), (other, -_ONE)])
            known = self.value(difference)
            if known is not None:
                return self.constant(known == 0)
            least = min(difference, self.total([(difference, -_ONE)]))
            return self.node(("zero", least), _Kind(_TRUTH), (least,))
        if (
            kinds[0].values is None
            or kinds[1].values is None
            or len({*map(type, kinds[0].values | kinds[1].values)}) > 1
        ):
            raise NotDerived("`=` compares values of different kinds")
        for condition, truth in ((one, other), (other, one)):
            known = self.value(truth)
            if isinstance(known, bool):
                return condition if known else self.opposite(condition)
        return self.node(("=", *sorted((one, other))), _Kind(_TRUTH), (one, other))

    def choice(self, condition: Node, then: Node, otherwise: Node) -> Node:
        if not self.kinds[condition].is_truth:
            raise NotDerived("a condition is not a truth value")
        known = self.value(condition)
        if known is not None:
            return then if known else otherwise
        if then == otherwise:
            return then
        form = self.forms[condition]
        if form[0] == "not":
            assert isinstance(form[1], int)
            return self.choice(form[1], otherwise, then)
        kinds = self.kinds[then], self.kinds[otherwise]
        if all(kind.is_truth for kind in kinds):
            for own, other, holds_ in ((then, otherwise, True), (otherwise, then, False)):
                truth = self.value(own)
                if isinstance(truth, bool):
                    side = condition if truth is holds_ else self.opposite(condition)
                    return self._shared("or" if truth else "and", [side, other])
            return self._shared(
                "or",
                [self._shared("and", [condition, then]), self._shared("and", [self.opposite(condition), otherwise])],
            )
        match self.forms[otherwise]:
            case ("if", int() as second, int() as other, int() as last) if other == then:
                return self.choice(self._shared("or", [condition, second]), then, last)
        if not all(kind.is_number for kind in kinds):
            return self._either(condition, then, otherwise)
        if form[0] == "positive":
            # The greater, or the less, of two numbers.
            assert isinstance(form[1], int)
            for op, one, other in (("max", then, otherwise), ("min", otherwise, then)):
                if form[1] == self.total([(one, _ONE), (other, -_ONE)]):
                    return self._shared(op, [then, otherwise])
        base, parts = self._linear(otherwise)
        mine, theirs = dict(self._linear(then)[1]), dict(parts)
        common = [(part, c) for part, c in theirs.items() if mine.get(part) == c]
        rest = [(self.constant(base), -_ONE), *[(part, -c) for part, c in common]]
        first, second = (self.total([(each, _ONE), *rest]) for each in (then, otherwise))
        parts_of_all = [(self.constant(base), _ONE), *common, (self._either(condition, first, second), _ONE)]
        return self.total(parts_of_all, self._union(then, otherwise))

    def _either(self, condition: Node, then: Node, otherwise: Node) -> Node:
        kind = self._union(then, otherwise)
        return self.node(("if", condition, then, otherwise), kind, (condition, then, otherwise))

    def _union(self, one: Node, other: Node) -> _Kind:
        return _either_kind(self.kinds[one], self.kinds[other])

    def equation(self, condition: Node) -> tuple[Node, Value] | None:
        match self.forms[condition]:
            case ("zero", int() as inner):
                constant, terms = self._linear(inner)
                if len(terms) == 1:
                    node, c = terms[0]
                    return node, -constant / c
            case ("=", int() as one, int() as other):
                for node, value in ((one, self.value(other)), (other, self.value(one))):
                    if value is not None:
                        return node, value
        return None

    # --- other names ------------------------------------------------------------------------------

    def renamed(self, node: Node, names: Names, known: dict[Node, Node]) -> Node:
        """Return the expression `node` with its inputs and draws renamed by `names`; `known` has the results so far."""
        if self.leaves[node].isdisjoint(names):
            return node
        result = known.get(node)
        if result is None:
            result = known[node] = self._renamed(self.forms[node], node, names, known)
        return result

    def _renamed(self, form: tuple[object, ...], node: Node, names: Names, known: dict[Node, Node]) -> Node:
        def there(part: object) -> Node:
            assert isinstance(part, int)
            return self.renamed(part, names, known)

        match form:
            case (("input" | "draw"), *_):
                return names.get(node, node)
            case ("sum", Fraction() as constant, tuple() as terms):
                return self.total([(self.constant(constant), _ONE), *[(there(part), c) for part, c in terms]])
            case ("if", condition, then, otherwise):
                return self.choice(there(condition), there(then), there(otherwise))
            case ("positive", inner):
                return self._sign("positive", there(inner))
            case ("zero", inner):
                return self._equal(there(inner), self.constant(_ZERO))
            case (str() as op, *operands):
                changed = [there(operand) for operand in operands]
                return self._shared(op, changed) if op in _SHARED else self.apply(op, changed)
        raise AssertionError(form)


# === one run ===================================================================================


@dataclass(frozen=True, slots=True)
class _Draw:
    law: tuple[object, ...]
    parameters: tuple[Node, ...]


#: The expressions of variables, by slot; None for one that may have no value.
_Held = dict[int, Node | None]

#: Values that expressions do not have at a place.
_Excluded = Mapping[Node, frozenset[Value]]


@dataclass
class _Run:
    """A run of a program without `while` in which inputs and draws are unknowns.

    The run never fails, whatever the values of the inputs and draws are.
    """

    machine: Machine
    budget: Budget
    table: _Table = field(init=False)
    draws: dict[Node, _Draw] = field(default_factory=dict)
    inputs: dict[int, Node] = field(default_factory=dict)
    _meets: list[int] = field(init=False)
    _weights: Execution = field(init=False)

    def __post_init__(self) -> None:
        if self.machine.loops:
            raise NotDerived("the program has a `while`")
        self.table = _Table(self.budget)
        self._meets = _meeting_places(self.machine.code)
        self._weights = Execution(self.machine, self.budget)

    def start(self) -> _Held:
        held: _Held = {}
        for number, slot in enumerate(self.machine.slots):
            if slot.role == "input":
                if slot.type in ("real", "int"):
                    raise NotDerived("an input has infinitely many values")
                self.inputs[number] = self.table.leaf(("input", number), _kind(values_of(slot.type)))
                held[number] = self.inputs[number]
            else:
                held[number] = None if slot.initial is None else self.table.constant(slot.initial)
        return held

    def outputs(self) -> tuple[Node, ...]:
        end = self._executed(0, len(self.machine.code), self.start(), {})
        found = [end[slot] for slot in self.machine.numbered("output")]
        if None in found:
            raise NotDerived("an output may have no value at the end")
        return tuple(node for node in found if node is not None)

    def required(self) -> Node:
        """Return the conjunction of the conditions in `requires`, over unknown inputs.

        Raises NotDerived if a condition is not shown to have a value for all inputs.
        """
        result = self.table.constant(value=True)
        for code in self.machine.requires:
            result = self.table.apply("and", [result, self.expression(code, self.inputs)])
        return result

    def _executed(self, label: int, stop: int, held: _Held, excluded: _Excluded, depth: int = 0) -> _Held:
        """Execute from `label` to `stop`, where all paths meet again, and return the variables there.

        `held` are the variables at `label`. `excluded` maps expressions to the values that they are known not to have.
        `depth` is the number of branches that enclose `label`.
        """
        if depth > MOST_DEPTH:
            raise NotDerived("branches are too deep")
        while label != stop:
            self.budget.spend(10)
            instruction = self.machine.code[label]
            match instruction:
                case Halt():
                    label = len(self.machine.code)
                case Jump(goal):
                    label = goal
                case Branch(condition, otherwise):
                    truth = self.expression(condition, held)
                    asked = self.table.equation(truth)
                    known = self.table.value(truth)
                    if asked is not None:
                        known = self._truth(*asked, excluded)
                    if known is not None:
                        label = label + 1 if known is True else otherwise
                        if not isinstance(known, bool):
                            raise NotDerived("a condition is not a truth value")
                        continue
                    meet = self._meets[label]
                    self.budget.spend(4 * len(held))
                    less = excluded
                    if asked is not None:
                        less = {**excluded, asked[0]: excluded.get(asked[0], frozenset()) | {asked[1]}}
                    one = self._executed(label + 1, meet, dict(held), excluded, depth + 1)
                    other = self._executed(otherwise, meet, held, less, depth + 1)
                    held, label = self._merged(truth, one, other), meet
                case Store() | Sample() | Choice() | Scored():
                    self._drawn_or_stored(label, instruction, held)
                    label += 1
        return held

    def _truth(self, node: Node, value: Value, excluded: _Excluded) -> bool | None:
        values = self.table.kinds[node].values
        if values is None:
            return None
        left = values - excluded.get(node, frozenset())
        return False if value not in left else True if len(left) == 1 else None

    def _merged(self, condition: Node, one: _Held, other: _Held) -> _Held:
        result: _Held = {}
        for slot, then in one.items():
            otherwise = other[slot]
            result[slot] = then if then == otherwise else None
            if then is not None and otherwise is not None and then != otherwise:
                with suppress(NotDerived):  # It matters only where the variable is read.
                    result[slot] = self.table.choice(condition, then, otherwise)
        return result

    def _drawn_or_stored(self, label: int, instruction: Instruction, held: _Held) -> None:
        match instruction:
            case Store(target, code):
                self._store(target, self.expression(code, held), held)
            case Sample(target, family, rate, mean):
                center = self.table.apply("+", [self.expression(mean, held), self.table.constant(_ZERO)])
                noise = self._leaf(label, ("noise", family, rate), (), _Kind(None, is_whole(family)))
                value = self.table.total([(center, _ONE), (noise, _ONE)])
                self._store(target, value, held)
            case Choice(target, arms):
                weights = self._weights.distribution(instruction)
                options = [
                    (self.expression(code, held), tuple(tuple(sorted(ring.items())) for ring in weight))
                    for (code, _), weight in zip(arms, weights, strict=True)
                    if weight[0]
                ]
                parameters = tuple(node for node, _ in options)
                kind = self.table.kinds[parameters[0]]
                for node in parameters[1:]:
                    kind = _either_kind(kind, self.table.kinds[node])
                law = ("choice", *(weight for _, weight in options))
                self._store(target, self._leaf(label, law, parameters, kind), held)
            case Scored(target, rate, arms):
                scores = tuple(
                    self.table.apply("+", [self.expression(score, held), self.table.constant(_ZERO)])
                    for _, score in arms
                )
                if any(self.table.kinds[score].values is None for score in scores):
                    raise NotDerived("a score is not a number")
                candidates = tuple((type(literal.value), literal.value) for literal, _ in arms)
                kind = _kind(literal.value for literal, _ in arms)
                self._store(target, self._leaf(label, ("scored", rate, candidates), scores, kind), held)

    def _leaf(self, label: int, law: tuple[object, ...], parameters: tuple[Node, ...], kind: _Kind) -> Node:
        node = self.table.leaf(("draw", label), kind, parameters)
        self.draws[node] = _Draw(law, parameters)
        return node

    def _store(self, target: Place, node: Node, held: _Held) -> None:
        slot = target.slots[0]
        if target.index is not None:
            slot = self._element(target, self.expression(target.index, held))
        if not _always_holds(self.machine.slots[slot].type, self.table.kinds[node]):
            raise NotDerived(f"`{self.machine.slots[slot].name}` may get a value outside its domain")
        held[slot] = node

    def _element(self, place: Place, index: Node) -> int:
        value = self.table.value(index)
        if not isinstance(value, Fraction) or value.denominator != 1 or not 0 <= value - place.low < len(place.slots):
            raise NotDerived("an index depends on inputs or draws")
        return place.slots[int(value) - place.low]

    def expression(self, code: Code, held: Mapping[int, Node | None]) -> Node:
        match code:
            case Literal(value):
                return self.table.constant(value)
            case Fault(why):
                raise NotDerived(why)
            case Operation(op, arguments):
                return self.table.apply(op, [self.expression(argument, held) for argument in arguments])
            case Place(slots, low, index):
                if index is None:
                    return self._read(held[slots[0]])
                place = self.expression(index, held)
                values = self.table.kinds[place].values
                if values is None or not all(isinstance(value, Fraction) for value in values):
                    raise NotDerived("an index is not an integer")
                result: Node | None = None
                for value in sorted(values):
                    point = self.table.constant(value)
                    own = self._read(held[self._element(Place(slots, low, code), point)])
                    equal = self.table.apply("=", [place, point])
                    result = own if result is None else self.table.choice(equal, own, result)
                assert result is not None
                return result

    def _read(self, node: Node | None) -> Node:
        if node is None:
            raise NotDerived("a variable may be read before it is assigned")
        return node


def _always_holds(type_: Type, kind: _Kind) -> bool:
    if kind.values is not None:
        return all(holds(type_, value) for value in kind.values)
    return type_ == ("int" if kind.whole else "real")


def _meeting_places(code: Sequence[Instruction]) -> list[int]:
    """Return for each instruction of `code` the next one through which every path to the end leads.

    The end of the program has the index `len(code)`.
    """
    end = len(code)
    after = [end] * (end + 1)
    for label in range(end - 1, -1, -1):
        match code[label]:
            case Halt():
                meet = end
            case Jump(goal):
                meet = goal
            case Branch(_, otherwise):
                meet, other = label + 1, otherwise
                while meet != other:
                    if meet < other:
                        meet = after[meet]
                    else:
                        other = after[other]
            case _:
                meet = label + 1
        after[label] = meet
    return after


# === exchanges =================================================================================


@dataclass
class Exchanges:
    """The exchanges of two inputs of the program of `run` that change none of the expressions `what`.

    If the outputs are among the expressions, the exchanges leave the law of the outputs unchanged.
    """

    run: _Run
    what: tuple[Node, ...]
    _reached: tuple[Node, ...] = field(init=False)

    def __post_init__(self) -> None:
        parameters = [node for draw in self.run.draws.values() for node in draw.parameters]
        self._reached = tuple(self._subexpressions(list(dict.fromkeys([*self.what, *self.run.draws, *parameters]))))

    def require(self, one: int, other: int) -> None:
        """Raise NotDerived unless the inputs in the slots `one` and `other` are shown to be exchangeable."""
        run, table = self.run, self.run.table
        mine, theirs = run.inputs[one], run.inputs[other]
        slots = run.machine.slots
        if slots[one].type != slots[other].type:
            raise NotDerived(f"`{slots[one].name}` and `{slots[other].name}` have different types")
        draws = self._lone(mine, theirs), self._lone(theirs, mine)
        names = {mine: theirs, theirs: mine}
        if len(draws[0]) == len(draws[1]):
            names |= {**dict(zip(*draws, strict=True)), **dict(zip(draws[1], draws[0], strict=True))}
        known: dict[Node, Node] = {}
        same = all(table.renamed(node, names, known) == node for node in self.what) and all(
            draw.law == (image := run.draws[names.get(node, node)]).law
            and tuple(table.renamed(each, names, known) for each in draw.parameters) == image.parameters
            for node, draw in run.draws.items()
        )
        if not same:
            slots = run.machine.slots
            raise NotDerived(f"`{slots[one].name}` and `{slots[other].name}` are not shown to be exchangeable")

    def _lone(self, one: Node, other: Node) -> list[Node]:
        """Return the draws that occur together with the input `one` in some expression without `other`.

        `other` is also an input.
        """
        leaves = self.run.table.leaves
        self.run.budget.spend(2 * len(self._reached))
        found: set[Node] = set()
        for node in self._reached:
            if one in leaves[node] and other not in leaves[node]:
                found |= leaves[node]
        return sorted(node for node in found if node in self.run.draws)

    def _subexpressions(self, nodes: Sequence[Node]) -> Iterable[Node]:
        waiting, seen = list(nodes), set(nodes)
        while waiting:
            node = waiting.pop()
            yield node
            form = self.run.table.forms[node]
            parts: list[object] = [part for part, _ in form[2]] if form[0] == "sum" else [*form[1:]]  # type: ignore[attr-defined]
            if form[0] in ("constant", "input", "draw"):
                parts = []
            for part in parts:
                assert isinstance(part, int)
                if part not in seen:
                    seen.add(part)
                    waiting.append(part)


#: The share of a budget for expressions; transitions have the rest.
_SHARE_OF_EXPRESSIONS = Fraction(1, 2)


def require_exchangeable(
    program: Machine, ideal: Machine | None, groups: Sequence[Sequence[int]], budget: Budget
) -> None:
    """Raise NotDerived unless exchanges of inputs within each of `groups`, by index, leave `program` unchanged.

    The law of its outputs, its `requires`, and the answers and distances of the `ideal`, if any, are unchanged. Each
    exchange is shown by expressions (lemma 4d) or by transitions (`transitions.py`, lemma 4f). Charges its work to
    `budget`.
    """
    distance = program.distance
    if not isinstance(distance.kind, str) or distance.same is not None or distance.apart:
        raise NotDerived("the `metric` block defines its own distances")
    for machine in (program, ideal):
        if machine is None:
            continue
        inputs = machine.numbered("input")
        pairs = [(inputs[one], inputs[other]) for group in groups for one, other in pairwise(group)]
        left = _left_by_expressions(machine, pairs, budget.part(_SHARE_OF_EXPRESSIONS), is_ideal=machine is ideal)
        if not left:
            continue
        if machine is ideal:
            require_deterministic(machine)
        if machine.requires:
            conditions_run = _Run(machine, budget)
            conditions_run.start()
            conditions = Exchanges(conditions_run, (conditions_run.required(),))
            for one, other in left:
                conditions.require(one, other)
        try:
            _require_transitions(machine, list(left), budget)
        except NotDerived:
            raise NotDerived(next(iter(left.values()))) from None


def _left_by_expressions(
    machine: Machine, pairs: Sequence[tuple[int, int]], budget: Budget, *, is_ideal: bool
) -> dict[tuple[int, int], str]:
    """Return those of `pairs` that are not shown to be exchangeable by expressions (lemma 4d), each with the reason.

    A pair has the slots of two inputs of `machine`, which is the program, or its ideal if `is_ideal`. Charges its work
    to `budget`.
    """
    try:
        run = _Run(machine, budget)
        found = Exchanges(run, (*run.outputs(), run.required()))
    except (NotDerived, Exhausted, RecursionError) as error:
        return dict.fromkeys(pairs, why_it_ends(error))
    if is_ideal and any(draw.law[0] != "scored" for draw in run.draws.values()):
        return dict.fromkeys(pairs, "the `ideal` draws at random")
    left: dict[tuple[int, int], str] = {}
    for one, other in pairs:
        try:
            found.require(one, other)
        except (NotDerived, Exhausted, RecursionError) as error:
            left[one, other] = why_it_ends(error)
    return left


def _require_transitions(machine: Machine, pairs: Sequence[tuple[int, int]], budget: Budget) -> None:
    """Raise NotDerived unless transitions of `machine` show that the inputs in each of `pairs` are exchangeable.

    First, the draws of the program are made as late as possible (lemma 2b), so that it has fewer states while it reads
    the inputs. If the proof fails, the program is tried as it is. Charges its work to `budget`.
    """
    late = drawing_late(machine, budget)
    for tried in [machine] if late is None else [late, machine]:
        try:
            transitions = Transitions(tried, budget)
            for one, other in pairs:
                transitions.require(one, other)
            return
        except NotDerived:
            if tried is machine:
                raise

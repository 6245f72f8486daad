"""Values that may be missing: None used as a number, variables without a value, elements that were never appended.

Python raises an error in each of these cases, so a mechanism in which one of them is possible is refused. The analysis
follows the statements of a program. It reads the first round of a loop by itself and joins all later rounds, so a
result holds for every number of rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from dipc.mechanisms.module import UNKNOWN_TYPE, Module
from dipc.mechanisms.types import BLANK, NONE, bound_of
from dipc.text import ast
from dipc.text.ast import BinaryOp, CompareOp, UnaryOp
from dipc.text.diagnostic import DiagnosticError

Leaf = ast.Name | ast.Element


@dataclass(frozen=True)
class Facts:
    """The facts that hold at a place of the program, on every path to this place.

    `assigned` has the variables that have a value, and the lists whose elements all have one. The list elements in
    `present` were appended, `numbers` are variables and elements that are not None, and `truths` are conditions with
    their known values. `reached` is false after `exit`.
    """

    assigned: frozenset[str] = frozenset()
    present: frozenset[ast.Expr] = frozenset()
    numbers: frozenset[ast.Expr] = frozenset()
    truths: frozenset[tuple[ast.Expr, bool]] = frozenset()
    reached: bool = True

    def common(self, other: Facts) -> Facts:
        """Return the facts that hold both here and in `other`, at the end of another path."""
        if not self.reached:
            return other
        if not other.reached:
            return self
        return Facts(
            self.assigned & other.assigned,
            self.present & other.present,
            self.numbers & other.numbers,
            self.truths & other.truths,
        )

    def added(self, other: Facts) -> Facts:
        """Return the union of these facts and `other`."""
        return Facts(
            self.assigned | other.assigned,
            self.present | other.present,
            self.numbers | other.numbers,
            self.truths | other.truths,
            self.reached,
        )

    def forget(self, name: str) -> Facts:
        """Return the facts that remain after an assignment to the variable or list `name`.

        They are the facts in `present`, `numbers` and `truths` that do not mention `name`, and all of `assigned`.
        """

        def kept(facts: frozenset[ast.Expr]) -> frozenset[ast.Expr]:
            return frozenset(fact for fact in facts if not ast.mentions(fact, name))

        truths = frozenset((fact, value) for fact, value in self.truths if not ast.mentions(fact, name))
        return replace(self, present=kept(self.present), numbers=kept(self.numbers), truths=truths)

    def next_round(self, variable: str) -> Facts:
        """Return the facts at the start of a loop's next round, where `variable` has grown by 1.

        Facts about the element at index `variable` are now about the element at `variable - 1`; other facts that
        mention the variable are dropped.
        """
        here = ast.Name(variable)
        before = ast.Binary(BinaryOp.SUBTRACT, here, ast.Number(Fraction(1), "1"))

        def shifted(facts: frozenset[ast.Expr]) -> frozenset[ast.Expr]:
            moved = {
                ast.Element(fact.name, before) for fact in facts if _is_at(fact, here) and isinstance(fact, ast.Element)
            }
            return frozenset(fact for fact in facts if not ast.mentions(fact, variable)) | moved

        truths = frozenset((fact, value) for fact, value in self.truths if not ast.mentions(fact, variable))
        return replace(self, present=shifted(self.present), numbers=shifted(self.numbers), truths=truths)


def _is_at(fact: ast.Expr, index: ast.Expr) -> bool:
    return isinstance(fact, ast.Element) and fact.index == index


def _is_plain(fact: ast.Expr, name: str) -> bool:
    return isinstance(fact, ast.Element) and fact.name == name and not ast.mentions(fact.index, name)


def _expressions(distribution: ast.Distribution) -> Iterator[ast.Expr]:
    match distribution:
        case ast.NoiseExpr(rate=rate, mean=mean, ends=ends):
            yield from () if rate is None else (rate,)
            yield from ends or ()
            if mean is not None:
                yield mean
        case ast.Choose(arms=arms):
            for arm in arms:
                yield from arm
        case ast.ExponentialMechanism(rate=rate, domain=domain, score=score):
            yield rate
            yield score
            if isinstance(domain, ast.ListedDomain):
                yield from domain.values


@dataclass(frozen=True)
class MissingValues:
    """An analysis that finds uses of values that may be missing.

    - `optional` are the variables and lists that may hold None in place of a number, `truths` those that may hold None
      in place of a truth value.
    - `variables` are the scalars without a value before their first assignment.
    - `growing` maps each list that grows to a variable: its length, or the variable of a loop that appends once in each
      round. `complete` are the lists with an element for each round of such a loop.
    - `nonempty(low, high)` is true only if a loop from `low` to `high` runs at least once, whatever values the
      constants have.
    - `spelling_of` gives the name of a variable in the Python function, and `constants` has the values of the constants
      by name.
    """

    module: Module
    spelling_of: Callable[[str], str]
    optional: Set[str]
    truths: Set[str]
    variables: Set[str]
    growing: Mapping[str, str]
    complete: Set[str]
    nonempty: Callable[[ast.Expr, ast.Expr], bool]
    constants: Mapping[str, Fraction]

    def check(self, body: Sequence[ast.Statement]) -> None:
        """Raise DiagnosticError where the program with the statements `body` may use a missing value."""
        self._block(body, Facts(), {})

    # --- statements -------------------------------------------------------------------------------

    def _block(self, body: Sequence[ast.Statement], facts: Facts, rounds: Mapping[str, _Round]) -> Facts:
        for statement in body:
            if not facts.reached:
                return facts
            facts = self._after(statement, facts, rounds)
        return facts

    def _after(self, statement: ast.Statement, facts: Facts, rounds: Mapping[str, _Round]) -> Facts:
        match statement:
            case ast.Assign(target, value):
                return self._assigned(target, value, facts)
            case ast.Sample(target, distribution):
                for node in _expressions(distribution):
                    self._value_used(node, facts, distribution)
                self._index_used(target, facts)
                none = isinstance(distribution, ast.Choose) and any(is_none(value) for value, _ in distribution.arms)
                return self._stored(target, facts, number=not none)
            case ast.If(condition, then, otherwise):
                self._used(condition, facts)
                truth = _truth(condition, facts, rounds)
                ways = []
                for branch, holds in ((then, True), (otherwise, False)):
                    if truth is not (not holds):
                        ways.append(self._block(branch, facts.added(self._facts_of(condition, holds=holds)), rounds))
                return ways[0] if len(ways) == 1 else ways[0].common(ways[1])
            case ast.For():
                return self._after_for(statement, facts, rounds)
            case ast.While(condition, body):
                self._used(condition, facts)
                certain = _truth(condition, facts, rounds) is True
                before = facts
                inside = self._block(body, facts.added(self._facts_of(condition, holds=True)), rounds)
                head = inside if certain else facts.common(inside)
                while True:
                    if head.reached:
                        self._used(condition, head)
                    inside = self._block(body, head.added(self._facts_of(condition, holds=True)), rounds)
                    following = head.common(inside)
                    if following == head:
                        break
                    head = following
                after = head if certain else head.common(before)
                if isinstance(condition, ast.Truth) and condition.value:
                    return replace(after, reached=False)
                return after.added(self._facts_of(condition, holds=False))
            case ast.ExitStatement():
                return replace(facts, reached=False)
            case _:
                assert_never(statement)

    def _after_for(self, statement: ast.For, facts: Facts, rounds: Mapping[str, _Round]) -> Facts:
        variable = statement.variable
        low = bound_of(statement.low, self.constants)
        first = None if low is None or low.terms else low.value
        certain = self.nonempty(statement.low, statement.high)
        before = facts.forget(variable)
        ended = self._block(statement.body, before, {**rounds, variable: (first, True)})
        if ended.reached and first is not None:
            here, number = ast.Name(variable), ast.number(first, statement.span)
            at_first = [
                frozenset(
                    ast.Element(fact.name, number)
                    for fact in known
                    if _is_at(fact, here) and isinstance(fact, ast.Element)
                )
                for known in (ended.present, ended.numbers)
            ]
            ended = ended.added(Facts(present=at_first[0], numbers=at_first[1]))
        head = ended.next_round(variable) if ended.reached else ended
        while head.reached:
            following = self._block(statement.body, head, {**rounds, variable: (first, False)})
            joined = head.common(following.next_round(variable) if following.reached else following)
            if joined == head:
                break
            head = joined
        after = head if certain else head.common(before)
        if after.reached:
            after = after.forget(variable)
            done = [name for name, loop in self.growing.items() if loop == variable and name in self.complete]
            after = after.added(Facts(assigned=frozenset(done)))
        return after

    def _assigned(self, target: Leaf, value: ast.Expr, facts: Facts) -> Facts:
        self._index_used(target, facts)
        either = self.optional | self.truths
        copied = isinstance(value, ast.Name | ast.Element) and value.name in either
        if copied and target.name in either:
            assert isinstance(value, ast.Name | ast.Element)
            self._index_used(value, facts)
            self._present(value, facts)
            number = value in facts.numbers
        else:
            self._used(value, facts)
            number = not is_none(value) and not ast.is_name(value, BLANK)
        facts = self._stored(target, facts, number=number)
        if isinstance(value, ast.Truth) and isinstance(target, ast.Name):
            facts = facts.added(Facts(truths=frozenset([(target, value.value)])))
        return facts

    def _stored(self, target: Leaf, facts: Facts, *, number: bool) -> Facts:
        if isinstance(target, ast.Element):
            # Elements that were appended stay, and a number in one place leaves the numbers in others.
            kept = facts.forget(target.name)
            own = frozenset(fact for fact in facts.present if _is_plain(fact, target.name))
            numbers = frozenset(fact for fact in facts.numbers if number and _is_plain(fact, target.name))
            kept = kept.added(Facts(present=own, numbers=numbers))
        else:
            kept = facts.forget(target.name)
        here: frozenset[ast.Expr] = frozenset([target])
        plain = isinstance(target, ast.Name) or _is_plain(target, target.name)
        return kept.added(
            Facts(
                assigned=frozenset([target.name]) if isinstance(target, ast.Name) else frozenset(),
                present=here if isinstance(target, ast.Element) and plain else frozenset(),
                numbers=here if number and plain else frozenset(),
            )
        )

    # --- expressions ------------------------------------------------------------------------------

    def _value_used(self, node: ast.Expr, facts: Facts, distribution: ast.Distribution) -> None:
        if isinstance(distribution, ast.ExponentialMechanism):
            facts = facts.added(Facts(assigned=frozenset([distribution.variable])))
        if not is_none(node):
            self._used(node, facts)

    def _index_used(self, place: Leaf, facts: Facts) -> None:
        if isinstance(place, ast.Element):
            self._used(place.index, facts)

    def _present(self, leaf: Leaf, facts: Facts) -> None:
        """Raise DiagnosticError if the variable `leaf` may have no value, or the list element `leaf` may not exist.

        `facts` says which variables and list elements certainly have values where `leaf` is read.
        """
        if isinstance(leaf, ast.Element):
            if leaf.name in self.growing and leaf.name not in facts.assigned and leaf not in facts.present:
                name = self.spelling_of(leaf.name)
                raise self.module.wrong(
                    leaf.span,
                    f"`{self._written(leaf)}` may not exist here: `{name}` may be shorter",
                    f"create the list with its full length, `{name} = [0] * m`, and assign its elements",
                    code=UNKNOWN_TYPE,
                )
        elif leaf.name in self.variables and leaf.name not in facts.assigned:
            name = self.spelling_of(leaf.name)
            raise self.module.wrong(
                leaf.span,
                f"`{name}` may have no value here",
                f"give it a value on every path that leads here, for example `{name} = 0` at the start",
                code=UNKNOWN_TYPE,
            )

    def _written(self, leaf: Leaf) -> str:
        written = self.module.source.text[leaf.span.start : leaf.span.end]
        spelling = self.spelling_of(leaf.name)
        return written if written.startswith(spelling) and "\n" not in written else spelling

    def _used(self, tree: ast.Expr, facts: Facts) -> None:
        match tree:
            case ast.Compare(op=CompareOp.EQ | CompareOp.NE, left=left, right=right):
                for side in (left, right):
                    if isinstance(side, ast.Name | ast.Element):
                        if not is_none(side):
                            self._index_used(side, facts)
                            self._present(side, facts)
                    else:
                        self._used(side, facts)
            case ast.Binary(op=BinaryOp.AND | BinaryOp.OR as op, left=left, right=right):
                self._used(left, facts)
                self._used(right, facts.added(self._facts_of(left, holds=op is BinaryOp.AND)))
            case ast.Name() | ast.Element():
                self._index_used(tree, facts)
                self._present(tree, facts)
                if tree.name in self.optional and tree not in facts.numbers:
                    raise self._may_be_none(tree)
            case ast.Binary(left=left, right=right) | ast.Compare(left=left, right=right):
                self._counted(left, facts)
                self._counted(right, facts)
            case ast.Unary(op=op, operand=inner):
                if op is UnaryOp.NEGATE:
                    self._counted(inner, facts)
                else:
                    self._used(inner, facts)
            case ast.Call(arguments=arguments):
                for each in arguments:
                    self._counted(each, facts)

    def _counted(self, tree: ast.Expr, facts: Facts) -> None:
        self._used(tree, facts)
        if isinstance(tree, ast.Name | ast.Element) and tree.name in self.truths and tree not in facts.numbers:
            raise self._may_be_none(tree)

    def _may_be_none(self, leaf: Leaf) -> DiagnosticError:
        spelling = self._written(leaf)
        return self.module.wrong(
            leaf.span,
            f"`{spelling}` may be None here but is used as a number",
            f"test it first: `if {spelling} is not None and …`, or `if {spelling} is None or …`",
            code=UNKNOWN_TYPE,
        )

    def _facts_of(self, condition: ast.Expr, *, holds: bool) -> Facts:
        match condition:
            case ast.Compare(op=op, left=left, right=right) if is_none(right):
                return Facts(numbers=frozenset([left])) if (op is CompareOp.NE) is holds else Facts()
            case ast.Compare(op=CompareOp.EQ, left=left, right=right) if holds:
                # A number equals only a number.
                sides = (left, right)
                return Facts(
                    numbers=frozenset(
                        one for one, two in (sides, sides[::-1]) if bound_of(two, self.constants) is not None
                    )
                )
            case ast.Compare(op=CompareOp.LT, left=index, right=ast.Name(name=counter)) if holds:
                lists = [name for name, length in self.growing.items() if length == counter]
                return Facts(present=frozenset(ast.Element(name, index) for name in lists))
            case ast.Unary(op=UnaryOp.NOT, operand=operand):
                return self._facts_of(operand, holds=not holds)
            case ast.Binary(op=BinaryOp.AND | BinaryOp.OR as op, left=left, right=right):
                one, two = self._facts_of(left, holds=holds), self._facts_of(right, holds=holds)
                return one.added(two) if (op is BinaryOp.AND) is holds else one.common(two)
        return Facts()


#: The first value of a loop variable, if it is known, and whether this is the first round.
_Round = tuple[Fraction | None, bool]


def _truth(condition: ast.Expr, facts: Facts, rounds: Mapping[str, _Round]) -> bool | None:
    """Return the value of `condition` if it is known, and otherwise None.

    `facts` are the facts known where the condition is tested. `rounds` describes the enclosing loops, each by the name
    of its variable.
    """
    for fact, value in facts.truths:
        if fact == condition:
            return value
    match condition:
        case ast.Truth(value=value):
            return value
        case ast.Unary(op=UnaryOp.NOT, operand=operand):
            inner = _truth(operand, facts, rounds)
            return None if inner is None else not inner
        case ast.Binary(op=BinaryOp.AND | BinaryOp.OR as op, left=left, right=right):
            one, two = _truth(left, facts, rounds), _truth(right, facts, rounds)
            decided = op is BinaryOp.OR
            if decided in (one, two):
                return decided
            return None if None in (one, two) else not decided
        case ast.Compare(op=relation, left=ast.Name(name=name), right=ast.Number(value=number)) if name in rounds:
            first, is_first = rounds[name]
            if first is None:
                return None
            if is_first:
                return bool(ast.COMPARED[relation](first, number))
            # Every later value is at least first + 1.
            if first + 1 > number:
                return relation in (CompareOp.GT, CompareOp.GE, CompareOp.NE)
            if first + 1 == number:
                return {CompareOp.GE: True, CompareOp.LT: False}.get(relation)
    return None


def is_none(tree: ast.Expr) -> bool:
    """Whether the expression `tree` is Python's None."""
    return ast.is_name(tree, NONE)


def variables_assigned(body: Sequence[ast.Statement]) -> Iterator[str]:
    """Yield the names of the scalars that the statements `body` assign."""
    for node in ast.walk(tuple(body)):
        if isinstance(node, ast.Assign | ast.Sample) and isinstance(node.target, ast.Name):
            yield node.target.name

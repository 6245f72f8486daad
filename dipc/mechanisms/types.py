"""Find the types of a function's variables from the values assigned to them.

A wrong type never leads to a wrong program, because the type check reports assignments outside of the type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import assert_never

from dipc.mechanisms.module import UNKNOWN_TYPE, Module
from dipc.text import ast
from dipc.text.ast import BinaryOp, UnaryOp, number
from dipc.text.diagnostic import Span

#: Python's None where the language has a value of a domain: put in when the type is known. No name is spelled so.
NONE = "None"

#: The value of outputs where the whole answer is None: put in when the type is known. No name is spelled so.
BLANK = "no answer"

#: Quotients and remainders of finite values, as calls: written out when the values are known. No function is called so.
FLOOR, REMAINDER = "//", "%"

#: The names that stand for None, False and True where an answer is one of these three.
NONE_NAME, FALSE_NAME, TRUE_NAME = "none", "no", "yes"


# --- sums of constants, as ends of ranges -----------------------------------------------------------------------------


@dataclass(frozen=True)
class ConstantSum:
    """A sum `constant` + Σ coefficient·name over names of a program's constants.

    `terms` has the pairs (name, coefficient), and `value` is the sum for the current values of the constants.
    """

    constant: Fraction
    terms: tuple[tuple[str, Fraction], ...]
    value: Fraction

    @staticmethod
    def from_number(value: Fraction | int) -> ConstantSum:
        return ConstantSum(Fraction(value), (), Fraction(value))

    def plus(self, other: ConstantSum | int) -> ConstantSum:
        if isinstance(other, int):
            other = ConstantSum.from_number(other)
        terms = dict(self.terms)
        for name, coefficient in other.terms:
            terms[name] = terms.get(name, Fraction(0)) + coefficient
        kept = tuple((name, c) for name, c in terms.items() if c)
        return ConstantSum(self.constant + other.constant, kept, self.value + other.value)

    def negated(self) -> ConstantSum:
        return self.times(ConstantSum.from_number(-1))

    def minus(self, other: ConstantSum) -> ConstantSum:
        return self.plus(other.negated())

    def times(self, factor: ConstantSum) -> ConstantSum:
        """Return the product of this sum and `factor`.

        If both have names, the product is not such a sum, and the result is its number for the current constants.
        """
        if factor.terms and self.terms:
            return ConstantSum.from_number(self.value * factor.value)
        left, right = (self, factor) if self.terms else (factor, self)
        scale = right.constant
        terms = tuple((name, c * scale) for name, c in left.terms if scale)
        return ConstantSum(left.constant * scale, terms, left.value * scale)

    def value_at(self, constants: Mapping[str, Fraction]) -> Fraction:
        """Return the value of the sum for the values `constants` of its names."""
        return self.constant + sum((c * constants[name] for name, c in self.terms), Fraction(0))

    def expression(self, span: Span) -> ast.Expr:
        """Return the sum as an expression of the program at `span`, such as `m - 1`."""
        total: ast.Expr | None = None
        for name, coefficient in self.terms:
            size = abs(coefficient)
            term: ast.Expr = ast.Name(name, span)
            if size != 1:
                term = ast.Binary(BinaryOp.MULTIPLY, number(size, span), term, span)
            if total is not None:
                total = ast.Binary(BinaryOp.ADD if coefficient > 0 else BinaryOp.SUBTRACT, total, term, span)
            else:
                total = term if coefficient > 0 else ast.Unary(UnaryOp.NEGATE, term, span)
        if total is None:
            return number(self.constant, span)
        if not self.constant:
            return total
        op = BinaryOp.ADD if self.constant > 0 else BinaryOp.SUBTRACT
        return ast.Binary(op, total, number(abs(self.constant), span), span)


def bound_of(tree: ast.Expr, constants: Mapping[str, Fraction]) -> ConstantSum | None:
    """Return the expression `tree` as a ConstantSum over `constants`, which have their values by name.

    None if it has names of variables, or if it is not affine in the constants.
    """
    if any(isinstance(each, ast.Element) or each.name not in constants for each in _variables(tree)):
        return None
    total = _affine(tree)
    if total is None:
        return None
    terms = tuple([(each.name, c) for each, c in total.items() if each is not None])
    constant = total.get(None, Fraction(0))
    return ConstantSum(constant, terms, constant + sum([c * constants[name] for name, c in terms]))


def _affine(tree: ast.Expr) -> _Coefficients | None:
    """Return the coefficients of the sum `tree` by variable or list element, with its constant part under the key None.

    For example, `2*x - y + 3` gives {x: 2, y: -1, None: 3}. Coefficients that are 0 are left out. The result is None if
    `tree` is not affine.
    """
    match tree:
        case ast.Number(value=value):
            return {None: value} if value else {}
        case ast.Name() | ast.Element():
            return {tree: Fraction(1)}
        case ast.Unary(op=UnaryOp.NEGATE, operand=operand):
            inner = _affine(operand)
            return None if inner is None else _multiple(inner, Fraction(-1))
        case ast.Binary(op=op, left=left, right=right):
            one, two = _affine(left), _affine(right)
            if one is None or two is None:
                return None
            match op:
                case BinaryOp.ADD | BinaryOp.SUBTRACT:
                    sign = 1 if op is BinaryOp.ADD else -1
                    total = {key: one.get(key, Fraction(0)) + sign * two.get(key, Fraction(0)) for key in one | two}
                    return {key: value for key, value in total.items() if value}
                case BinaryOp.MULTIPLY if not two.keys() - {None}:
                    return _multiple(one, two.get(None, Fraction(0)))
                case BinaryOp.MULTIPLY if not one.keys() - {None}:
                    return _multiple(two, one.get(None, Fraction(0)))
                case BinaryOp.DIVIDE if two.keys() == {None}:
                    return _multiple(one, 1 / two[None])
    return None


#: The coefficients of a sum by name or element; its constant part has the key None.
_Coefficients = dict[ast.Name | ast.Element | None, Fraction]


def _multiple(total: _Coefficients, factor: Fraction) -> _Coefficients:
    return {key: factor * value for key, value in total.items() if factor}


#: The most combinations of values of variables for which expressions are compared.
_MOST_COMBINATIONS = 4096


def _is_never_zero(total: _Coefficients, kinds: Mapping[str, Kind]) -> bool:
    """Return True if the sum with the coefficients `total` differs from 0 for all values of its variables.

    `kinds` are the kinds of the variables. The result is False if the values of a variable are not finitely many
    numbers, or if there are too many sums to compute.
    """
    variables = [each for each in total if each is not None]
    choices: list[Sequence[Fraction]] = []
    for each in variables:
        kind = kinds.get(each.name)
        numbers = None if kind is None else kind.numbers
        if numbers is None or prod(map(len, choices)) * len(numbers) > _MOST_COMBINATIONS:
            return False
        choices.append([total[each] * number for number in numbers])
    return all(total.get(None, Fraction(0)) + sum(terms) for terms in product(*choices))


def _are_never_equal(one: ast.Expr, two: ast.Expr, kinds: Mapping[str, Kind]) -> bool:
    """Return True if `one` and `two` differ for all values of their variables.

    `kinds` are the kinds of the variables. The result is False if the values of a variable are not finitely many
    numbers, or if there are too many combinations to compute.
    """
    variables = list(dict.fromkeys((*_variables(one), *_variables(two))))
    choices: list[Sequence[Fraction]] = []
    for each in variables:
        kind = kinds.get(each.name)
        numbers = None if kind is None else kind.numbers
        if numbers is None or prod(map(len, choices)) * len(numbers) > _MOST_COMBINATIONS:
            return False
        choices.append(numbers)
    for values in product(*choices):
        named = dict(zip(variables, values, strict=True))
        pair = _computed(one, named), _computed(two, named)
        if None in pair or pair[0] == pair[1]:
            return False
    return True


def _variables(tree: ast.Expr) -> Iterator[ast.Name | ast.Element]:
    match tree:
        case ast.Name() | ast.Element():
            yield tree
        case ast.Unary(operand=operand):
            yield from _variables(operand)
        case ast.Binary(left=left, right=right):
            yield from _variables(left)
            yield from _variables(right)
        case ast.Call(arguments=arguments):
            for each in arguments:
                yield from _variables(each)


def _computed(tree: ast.Expr, values: Mapping[ast.Name | ast.Element, Fraction]) -> Fraction | None:
    match tree:
        case ast.Number(value=value):
            return value
        case ast.Name() | ast.Element():
            return values.get(tree)
        case ast.Unary(op=UnaryOp.NEGATE, operand=operand):
            inner = _computed(operand, values)
            return None if inner is None else -inner
        case ast.Binary(op=op, left=left, right=right) if op in ast.ARITHMETIC:
            one, two = _computed(left, values), _computed(right, values)
            if one is None or two is None or (op is BinaryOp.DIVIDE and not two):
                return None
            return Fraction(ast.ARITHMETIC[op](one, two))
        case ast.Call(function=function, arguments=(value, divisor)) if function in (FLOOR, REMAINDER):
            one, two = _computed(value, values), _computed(divisor, values)
            return floored(function, one, two) if one is not None and two else None
        case ast.Call(function="min" | "max" | "abs" as function, arguments=arguments):
            known = [value for value in (_computed(each, values) for each in arguments) if value is not None]
            if len(known) < len(arguments):
                return None
            return abs(known[0]) if function == "abs" else min(known) if function == "min" else max(known)
    return None


# --- types --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """The values that a variable may hold.

    `base` is "bool", "names", "range", "listed", "int" or "real". A range has ends; names and listed numbers have
    `values`. With `none` the variable may also be None, which the program represents by a number below all values.
    `unordered` means that the least value depends on the constants: for other constants, the number that represents
    None could be one of the values.
    """

    base: str
    low: ConstantSum | None = None
    high: ConstantSum | None = None
    values: tuple[str | Fraction, ...] = ()
    none: bool = False
    unordered: bool = False

    @property
    def ends(self) -> tuple[ConstantSum, ConstantSum]:
        """The least and the greatest value of this kind, whose `base` must be "range"."""
        assert self.low is not None
        assert self.high is not None
        return self.low, self.high

    @property
    def numbers(self) -> Sequence[Fraction] | None:
        """The numbers of this kind, if they do not depend on constants and there are few; otherwise None.

        The result is also None if the variable may be None.
        """
        if self.none or self.unordered:
            return None
        if self.base == "listed":
            return [value for value in self.values if isinstance(value, Fraction)]
        if self.base != "range" or any(end.terms for end in self.ends):
            return None
        low, high = (end.value for end in self.ends)
        return [low + step for step in range(int(high - low) + 1)] if high - low < _MOST_VALUES else None

    def type(self, span: Span) -> ast.TypeExpr:
        """Return the type, placed at `span`, that a program declares, with the value that represents None included."""
        match self.base:
            case "bool" if not self.none:
                return ast.BaseTypeExpr(ast.BaseType.BOOL, span)
            case "int":
                return ast.BaseTypeExpr(ast.BaseType.INT, span)
            case "real":
                return ast.BaseTypeExpr(ast.BaseType.REAL, span)
            case "range":
                low, high = self.ends
                return ast.Range((low.plus(-1) if self.none else low).expression(span), high.expression(span), span)
        return ast.ListedDomain(tuple(_value(each, span) for each in self.all_values), span)

    @property
    def all_values(self) -> tuple[str | Fraction, ...]:
        """All values of a finite kind: names or numbers, with the value that represents None first."""
        if not self.none:
            return self.values
        if self.base == "listed":
            return (min(value for value in self.values if isinstance(value, Fraction)) - 1, *self.values)
        return (NONE_NAME, *((FALSE_NAME, TRUE_NAME) if self.base == "bool" else self.values))

    def none_value(self, span: Span) -> ast.Expr:
        """Return the value that represents None in the program, as an expression at `span`."""
        if self.base == "range":
            return self.ends[0].plus(-1).expression(span)
        return _value(self.all_values[0], span)

    def blank(self, span: Span) -> ast.Expr:
        """Return a fixed value, as an expression at `span`, for a variable of this kind whose value has no meaning."""
        if self.none:
            return self.none_value(span)
        match self.base:
            case "bool":
                return ast.Truth(False, span)
            case "range":
                return self.ends[0].expression(span)
            case "names" | "listed":
                return _value(self.values[0], span)
        return number(0, span)

    @property
    def is_number(self) -> bool:
        """Whether all values are numbers, apart from None."""
        return self.base in ("range", "listed", "int", "real")

    @property
    def is_three_valued(self) -> bool:
        """Whether the values are False, True and None, which are three names in a program."""
        return self.base == "bool" and self.none


def _value(value: str | Fraction, span: Span) -> ast.Expr:
    return ast.Name(value, span) if isinstance(value, str) else number(value, span)


BOOL, INT, REAL = Kind("bool"), Kind("int"), Kind("real")
ONLY_NONE = Kind("names", none=True)


def single(bound: ConstantSum) -> Kind:
    """Return the kind of a variable that can only have the value `bound`."""
    whole = bound.value.denominator == 1
    return Kind("range", bound, bound) if whole else Kind("listed", values=(bound.value,), unordered=bool(bound.terms))


class Mixed(Exception):
    """Raised if the values of two kinds cannot be values of one variable."""


def common_kind(one: Kind, two: Kind) -> Kind:
    """Return the kind that holds the values of both `one` and `two`. Raises Mixed if no kind holds both."""
    none = one.none or two.none
    if one.base == "names" and not one.values:
        return replace(two, none=none)
    if two.base == "names" and not two.values:
        return replace(one, none=none)
    bases = {one.base, two.base}
    if bases <= {"range", "listed", "int", "real"}:
        if "real" in bases or "int" in bases:
            if {"int", "real"} <= bases:
                raise Mixed
            return Kind("real" if "real" in bases else "int", none=none)
        if bases == {"range"}:
            (low, high), (other_low, other_high) = one.ends, two.ends
            low = min((low, other_low), key=lambda bound: (bound.value, len(bound.terms)))
            high = max((high, other_high), key=lambda bound: (bound.value, len(bound.terms)))
            return Kind("range", low, high, none=none, unordered=_is_unordered((one, two), one.ends[0], two.ends[0]))
        values = tuple(sorted({*_listed(one), *_listed(two)}))
        ends = [end for kind in (one, two) if kind.base == "range" for end in kind.ends]
        return Kind(
            "listed", values=values, none=none, unordered=_is_unordered((one, two), *ends, ConstantSum.from_number(0))
        )
    if bases == {"names"}:
        return Kind("names", values=tuple(dict.fromkeys((*one.values, *two.values))), none=none)
    if bases == {"bool"}:
        return Kind("bool", none=none)
    raise Mixed


def _of_integers(kind: Kind | None) -> Kind | None:
    """Return the range from the least to the greatest value of `kind`, if it is a list of integers without None.

    Any other kind is returned unchanged, and so is None in place of a kind.
    """
    if kind is None or kind.base != "listed" or kind.none:
        return kind
    numbers = [value for value in kind.values if isinstance(value, Fraction) and value.denominator == 1]
    if len(numbers) < len(kind.values):
        return kind
    low, high = (ConstantSum.from_number(end) for end in (min(numbers), max(numbers)))
    return Kind("range", low, high, unordered=kind.unordered)


def _is_unordered(kinds: Sequence[Kind], *ends: ConstantSum) -> bool:
    """Return True if the least number of a computed type may be another one for other values of the constants.

    `kinds` are the types from which the type is computed. `ends` are the numbers among which its least and greatest
    number are chosen. The result is True if a type in `kinds` is marked as unordered, or if a difference of two `ends`
    depends on constants.
    """
    return any(kind.unordered for kind in kinds) or any(end.minus(ends[0]).terms for end in ends)


def _listed(kind: Kind) -> tuple[Fraction, ...]:
    if kind.base == "listed":
        return tuple(value for value in kind.values if isinstance(value, Fraction))
    low, high = kind.ends
    if high.value - low.value > 1000:
        raise Mixed
    return tuple(low.value + step for step in range(int(high.value - low.value) + 1))


# --- inference ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Assigned:
    """An assignment to the variable `name`, placed at `span`.

    `value` is the expression that is assigned, or the kind of a random value. `loops` are the enclosing loops, each as
    (variable, first value, last value).
    """

    name: str
    value: ast.Expr | Kind
    loops: tuple[tuple[str, ConstantSum, ConstantSum], ...]
    span: Span


#: Rounds after which ranges that still grow are given up.
_ROUNDS = 12


@dataclass
class Inference:
    """An analysis that finds the kinds of the variables that some statements assign.

    `known` are the kinds of inputs and annotated variables, and `constants` the values of the constants by name.
    `names` are the strings that the function uses as values. `unwritten` are the outputs for answers that have no name
    in the function, such as that of `return i + 1`.
    """

    module: Module
    constants: Mapping[str, Fraction]
    known: dict[str, Kind]
    names: set[str]
    unwritten: Set[str] = frozenset()
    _assigned: list[_Assigned] = field(default_factory=list)

    def kinds(self, body: Sequence[ast.Statement], spelling: Callable[[str], str]) -> dict[str, Kind]:
        """Return the kind of each variable that `body` assigns. Raises DiagnosticError (E1903) for one without a kind.

        `spelling` gives the name of a variable in the function, for messages.
        """
        self._assigned = list(self._collected(body, ()))
        kinds = dict(self.known)
        before: dict[str, Kind] = {}
        for _ in range(_ROUNDS):
            before = dict(kinds)
            for name in dict.fromkeys(each.name for each in self._assigned):
                if name in self.known:
                    continue
                kind = self._kind_of(name, kinds, spelling)
                if kind is not None:
                    kinds[name] = kind
            if kinds == before:
                break
        else:
            for each in self._assigned:
                if before.get(each.name) != kinds.get(each.name):
                    self._ask(each.span, spelling(each.name))
        for each in self._assigned:
            if each.name not in kinds or not self._is_found(each, kinds):
                if any(isinstance(node, ast.Eps) for node in ast.walk(each.value)):
                    raise self.module.wrong(
                        each.span,
                        f"`{spelling(each.name)}` is computed from eps, which only noise and weights may contain",
                        "return the value without eps, such as a count, and compute with eps what is released "
                        "afterwards: privacy stays the same, and gamma is scaled in the same way",
                        "for one eps, write numbers in place of eps, such as `Fraction(3, 2)`",
                        code=UNKNOWN_TYPE,
                    )
                self._ask(each.span, spelling(each.name))
        return kinds

    def _is_found(self, assigned: _Assigned, kinds: Mapping[str, Kind]) -> bool:
        """Return True if the type of the variable in `assigned` is declared, or can be computed from this assignment.

        `kinds` has the types found so far by variable.
        """
        if assigned.name in self.known or isinstance(assigned.value, Kind) or ast.is_name(assigned.value, BLANK):
            return True
        step = _step(assigned.name, assigned.value)
        ranges = {variable: Kind("range", low, high) for variable, low, high in assigned.loops if variable}
        return any(
            self._kind_of_tree(tree, kinds, ranges) is not None
            for tree in (assigned.value, *((step[0],) if step is not None else ()))
        )

    def _ask(self, span: Span, name: str) -> None:
        raise self.module.wrong(
            span,
            f"the values that `{name}` may have are not known",
            self.way_out(name),
            code=UNKNOWN_TYPE,
        )

    def way_out(self, name: str) -> str:
        """Return the help that says how to declare the variable `name`."""
        where = (
            "declare a variable, and return it" if name in self.unwritten else "declare it where it is first assigned"
        )
        return (
            f"{where}: `{name}: dipc.Finite[0:5] = 0` holds 0 to 4, and `{name}: dipc.Finite[0, 1/2, 1] = 0` "
            "these three numbers"
        )

    def _collected(
        self, body: Sequence[ast.Statement], loops: tuple[tuple[str, ConstantSum, ConstantSum], ...]
    ) -> Iterator[_Assigned]:
        for statement in body:
            match statement:
                case ast.Assign(target, value, span):
                    yield _Assigned(target.name, value, loops, span)
                case ast.Sample(target, ast.NoiseExpr(law=law), span):
                    yield _Assigned(target.name, INT if law.whole else REAL, loops, span)
                case ast.Sample(target, ast.ExponentialMechanism(domain=domain), span):
                    yield _Assigned(target.name, self._of_domain(domain), loops, span)
                case ast.Sample(target, ast.Choose(arms=arms), span):
                    yield from (_Assigned(target.name, value, loops, span) for value, _ in arms)
                case ast.If(_, then, otherwise):
                    yield from self._collected(then, loops)
                    yield from self._collected(otherwise, loops)
                case ast.For(variable, low, high, inner):
                    ends = (bound_of(low, self.constants), bound_of(high, self.constants))
                    first, last = (ConstantSum.from_number(0) if end is None else end for end in ends)
                    yield from self._collected(inner, (*loops, (variable, first, last)))
                case ast.While(_, inner):
                    yield from self._collected(
                        inner, (*loops, ("", ConstantSum.from_number(0), ConstantSum.from_number(0)))
                    )
                case ast.ExitStatement() | ast.Sample():
                    pass
                case _:
                    assert_never(statement)

    def kind_of(self, tree: ast.Expr, kinds: Mapping[str, Kind]) -> Kind | None:
        """Return the kind of `tree`, an expression outside of loops, or None if it cannot be found.

        `kinds` has the kinds of the variables.
        """
        return self._kind_of_tree(tree, kinds, {})

    def differ(self, one: ast.Expr, two: ast.Expr, kinds: Mapping[str, Kind]) -> bool:
        """Return True only if the values of `one` and `two` are never equal.

        `kinds` has the kinds of their variables.
        """
        if isinstance(one, ast.Truth) and isinstance(two, ast.Truth):
            return one.value is not two.value
        for each, other in ((one, two), (two, one)):
            if isinstance(each, ast.Unary) and each.op is UnaryOp.NOT and each.operand == other:
                return True
        difference = _affine(ast.Binary(BinaryOp.SUBTRACT, one, two))
        if (difference is not None and _is_never_zero(difference, kinds)) or _are_never_equal(one, two, kinds):
            return True
        kind_one, kind_two = self._kind_of_tree(one, kinds, {}), self._kind_of_tree(two, kinds, {})
        if kind_one is None or kind_two is None or (kind_one.none and kind_two.none):
            return False
        if ONLY_NONE in (kind_one, kind_two):
            return True
        bases = {kind_one.base, kind_two.base}
        if bases == {"range"}:
            (low, high), (other_low, other_high) = kind_one.ends, kind_two.ends
            fixed = not any(end.terms for end in (low, high, other_low, other_high))
            return fixed and (high.value < other_low.value or other_high.value < low.value)
        if bases == {"names"} or (bases == {"listed"} and not (kind_one.unordered or kind_two.unordered)):
            return not {*kind_one.values} & {*kind_two.values}
        return False

    def _of_domain(self, domain: ast.DomainExpr) -> Kind:
        match domain:
            case ast.Range(low, high):
                first, last = bound_of(low, self.constants), bound_of(high, self.constants)
                return Kind("range", first or ConstantSum.from_number(0), last or ConstantSum.from_number(0))
            case ast.ListedDomain(values):
                kind_of_all: Kind | None = None
                for value in values:
                    kind = self._kind_of_tree(value, {}, {})
                    kind_of_all = kind if kind_of_all is None or kind is None else common_kind(kind_of_all, kind)
                return kind_of_all or BOOL
        raise AssertionError("domains of functions have no names")

    def _kind_of(self, name: str, kinds: Mapping[str, Kind], spelling: Callable[[str], str]) -> Kind | None:
        result: Kind | None = None
        steps: list[tuple[Kind, bool, ConstantSum]] = []
        for each in self._assigned:
            if each.name != name:
                continue
            if isinstance(each.value, Kind):
                kind: Kind | None = each.value
            else:
                ranges = {variable: Kind("range", low, high) for variable, low, high in each.loops if variable}
                step = _step(name, each.value)
                if step is not None:
                    kind = _of_integers(self._kind_of_tree(step[0], kinds, ranges))
                    if kind is not None and kind.base == "range":
                        times = ConstantSum.from_number(1)
                        for variable, low, high in each.loops:
                            if not variable:
                                self._ask(each.span, spelling(name))
                            times = times.times(high.minus(low).plus(1))
                        steps.append((kind, step[1], times))
                        continue
                else:
                    kind = self._kind_of_tree(each.value, kinds, ranges)
            if kind is None:
                continue
            try:
                result = kind if result is None else common_kind(result, kind)
            except Mixed:
                raise self.module.wrong(
                    each.span,
                    f"`{spelling(name)}` holds values of different kinds",
                    (
                        "a variable holds either numbers, strings or truth values, and never both reals and ints with "
                        "noise"
                    ),
                    code=UNKNOWN_TYPE,
                    label=f"here {_kind_text(kind)}, elsewhere {_kind_text(result)}" if result is not None else "",
                ) from None
        return self._stepped(result, steps)

    def _stepped(self, kind: Kind | None, steps: Sequence[tuple[Kind, bool, ConstantSum]]) -> Kind | None:
        """Return the range of a variable that has the type `kind` before some loops and is changed by `steps` in them.

        A step is (the type of the number added in an iteration, whether the number is subtracted instead, the number of
        iterations). If `kind` is not a range, it is returned unchanged.
        """
        if kind is None or kind.base != "range":
            return kind
        for step, downward, times in steps:
            least, most = (end.times(times) for end in step.ends)
            if downward:
                most, least = least.negated(), most.negated()
            low, high = kind.ends
            high = high.plus(most) if most.value > 0 else high
            low = low.plus(least) if least.value < 0 else low
            unordered = _is_unordered((kind, step), least, ConstantSum.from_number(0))
            kind = replace(kind, low=low, high=high, unordered=unordered)
        return kind

    def _kind_of_tree(self, tree: ast.Expr, kinds: Mapping[str, Kind], loops: Mapping[str, Kind]) -> Kind | None:
        bound = bound_of(tree, self.constants)
        if bound is not None:
            return single(bound)
        match tree:
            case ast.Name(name=name) | ast.Element(name=name):
                if name == NONE:
                    return ONLY_NONE
                if name in self.names:
                    return Kind("names", values=(name,))
                return loops.get(name) or kinds.get(name)
            case _ if ast.is_condition(tree):
                return BOOL
            case ast.Unary(operand=operand):
                kind = _mapped([self._kind_of_tree(operand, kinds, loops)], lambda low, high: (-high[0], -low[0]))
            case ast.Call(function=function, arguments=arguments):
                kind = _called(function, [self._kind_of_tree(each, kinds, loops) for each in arguments])
            case ast.Binary(op=op, left=left, right=right):
                kind = _combined(op, self._kind_of_tree(left, kinds, loops), self._kind_of_tree(right, kinds, loops))
            case _:
                return None
        if kind is None or kind.base == "listed":
            return self._kind_of_values(tree, kinds, loops) or kind
        return kind

    def _kind_of_values(self, tree: ast.Expr, kinds: Mapping[str, Kind], loops: Mapping[str, Kind]) -> Kind | None:
        """Return the kind with exactly the values of `tree` for all values of its finite variables.

        `kinds` has the kinds of variables, and `loops` the kinds of the variables of loops. The result is None if a
        variable is not finite, or if there are too many combinations to compute.
        """
        choices: dict[ast.Name | ast.Element, Sequence[Fraction]] = {}
        unordered = False
        for each in _variables(tree):
            bound = bound_of(each, self.constants)
            kind = single(bound) if bound is not None else loops.get(each.name) or kinds.get(each.name)
            if kind is None or kind.none or kind.base not in ("range", "listed"):
                return None
            ends = kind.ends if kind.base == "range" else ()
            unordered |= kind.unordered or any(end.terms for end in ends)
            try:
                choices[each] = _listed(kind)
            except Mixed:
                return None
            if prod(map(len, choices.values())) > _MOST_COMBINATIONS:
                return None
        results = [_computed(tree, dict(zip(choices, values, strict=True))) for values in product(*choices.values())]
        known = [value for value in results if value is not None]
        if len(known) < len(results):
            return None
        return replace(_of_values(known), unordered=unordered)


def _kind_text(kind: Kind) -> str:
    return {"bool": "a truth value", "names": "a string", "int": "an int with noise", "real": "a real number"}.get(
        kind.base, "a number"
    )


def _step(name: str, tree: ast.Expr) -> tuple[ast.Expr, bool] | None:
    """Return (E, False) if `tree` is `v + E` or `E + v`, and (E, True) if it is `v - E`; v is the variable `name`.

    The variable may also be an element of the list `name`. The result is None for any other `tree`, and if E mentions
    `name`.
    """
    match tree:
        case ast.Binary(op=BinaryOp.ADD | BinaryOp.SUBTRACT as op, left=left, right=right):
            own = isinstance(left, ast.Name | ast.Element) and left.name == name
            if own and not ast.mentions(right, name):
                return right, op is BinaryOp.SUBTRACT
            other = isinstance(right, ast.Name | ast.Element) and right.name == name
            if other and op is BinaryOp.ADD and not ast.mentions(left, name):
                return left, False
    return None


def _mapped(
    kinds: Sequence[Kind | None], ends: Callable[[list[Fraction], list[Fraction]], tuple[Fraction, Fraction]]
) -> Kind | None:
    """Return the kind of a number that is computed from one number of each of `kinds`; None if this kind is not found.

    If all kinds are ranges, `ends` computes the least and the greatest result from two lists: the lower ends of the
    ranges, and their upper ends.
    """
    known = [kind for kind in map(_of_integers, kinds) if kind is not None]
    if len(known) < len(kinds) or any(kind.base in ("bool", "names") for kind in known):
        return None
    for base in ("real", "int"):
        if any(kind.base == base for kind in known):
            return Kind(base)
    if any(kind.base == "listed" for kind in known):
        return None
    low = [kind.low.value for kind in known if kind.low is not None]
    high = [kind.high.value for kind in known if kind.high is not None]
    least, greatest = ends(low, high)
    ends_of = [end for kind in known for end in kind.ends]
    return Kind(
        "range",
        ConstantSum.from_number(least),
        ConstantSum.from_number(greatest),
        unordered=_is_unordered(known, ConstantSum.from_number(0), *ends_of),
    )


def floored(function: str, value: Fraction, divisor: Fraction) -> Fraction:
    """Return Python's `value // divisor` or `value % divisor`, as `function` says."""
    return Fraction(value // divisor) if function == FLOOR else value % divisor


def values_of(kind: Kind | None) -> list[Fraction] | None:
    """Return the numbers of the finite kind `kind` if they are few and do not depend on constants; otherwise None."""
    if kind is None or kind.base not in ("range", "listed") or kind.unordered:
        return None
    if kind.base == "range" and any(end.terms for end in kind.ends):
        return None
    try:
        values = list(_listed(kind))
    except Mixed:
        return None
    return values if len(values) <= _MOST_VALUES else None


#: Values of a variable that are computed one by one.
_MOST_VALUES = 100


def _of_values(values: Iterable[Fraction]) -> Kind:
    ordered = sorted(set(values))
    if all(value.denominator == 1 for value in ordered):
        return Kind("range", ConstantSum.from_number(ordered[0]), ConstantSum.from_number(ordered[-1]))
    return Kind("listed", values=tuple(ordered))


def _called(function: str, kinds: Sequence[Kind | None]) -> Kind | None:
    if function in (FLOOR, REMAINDER):
        values, divisors = values_of(kinds[0]), values_of(kinds[1])
        if values is None or divisors is None:
            return None
        return _of_values(floored(function, value, divisors[0]) for value in values)
    ends: dict[str, Callable[[list[Fraction], list[Fraction]], tuple[Fraction, Fraction]]] = {
        "min": lambda low, high: (min(low), min(high)),
        "max": lambda low, high: (max(low), max(high)),
        "abs": lambda low, high: (max(Fraction(0), low[0], -high[0]), max(abs(low[0]), abs(high[0]))),
    }
    return _mapped(kinds, ends[function]) if function in ends else None


def _combined(op: BinaryOp, one: Kind | None, two: Kind | None) -> Kind | None:
    first, second = values_of(one), values_of(two)
    listed = op is BinaryOp.DIVIDE or "listed" in {kind.base for kind in (one, two) if kind is not None}
    if listed and first is not None and second is not None and len(first) * len(second) <= _MOST_VALUES:
        if op is BinaryOp.DIVIDE and 0 in second:
            return None
        return _of_values(ast.ARITHMETIC[op](x, y) for x in first for y in second)
    if one is not None and two is not None and one.base == two.base == "range":
        (low, high), (other_low, other_high) = one.ends, two.ends
        if op is BinaryOp.ADD:
            return Kind("range", low.plus(other_low), high.plus(other_high), unordered=_is_unordered((one, two)))
        if op is BinaryOp.SUBTRACT:
            return Kind("range", low.minus(other_high), high.minus(other_low), unordered=_is_unordered((one, two)))
        if op is BinaryOp.MULTIPLY:
            corners = [a.times(b) for a in one.ends for b in two.ends]
            least, most = (choose(corners, key=lambda each: each.value) for choose in (min, max))
            return Kind("range", least, most, unordered=_is_unordered((one, two), *corners))
        return None
    if op is BinaryOp.DIVIDE and (one is None or one.base != "real"):
        return None
    return _mapped([one, two], lambda low, high: (low[0], high[0]))

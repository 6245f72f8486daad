"""Exponential polynomials with unknowns left open, and claim expressions with min, max and abs of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import assert_never

from dipc.algebra.exppoly import ExpPoly
from dipc.frozen import frozen

# --- Exponential polynomials with unknowns that are left open: alpha, gamma, dd, the number of queries ----------------
#
# Claim expressions are evaluated to them. A number in place of an unknown, an unknown that grows without bound, a
# function of the product unknown·eps alone, a polynomial in an unknown: all are views of the one value.

#: Terms of one claim expression after multiplying out, bits of its numbers on the way, and bits of the numbers in its
#: result: these are printed, and Python prints no integer of more than 4300 digits.
TERM_LIMIT = 100_000
BIT_LIMIT = 100_000
RESULT_BIT_LIMIT = 13_000

#: Unknowns U, each with the power j and the rate r of U^j·e^{r·U·eps}, by name; none has j = r = 0.
Factors = tuple[tuple[str, int, Fraction], ...]

#: Where there is no unknown.
FLAT: Factors = ()


class TooLarge(Exception):
    """A product or power beyond the limits."""


@frozen
class Parametric:
    """numerator / denominator as functions of eps > 0 and of unknowns, numbers >= 0.

    The numerator is Σ coefficient(eps)·Π U^j·e^{r·U·eps}; no coefficient is zero. The denominator depends on no unknown
    and is not the zero function. Two with the same denominator are the same function exactly if they are equal.
    """

    numerator: dict[Factors, ExpPoly]
    denominator: ExpPoly

    @staticmethod
    def of(value: ExpPoly) -> Parametric:
        return Parametric({} if value.is_zero() else {FLAT: value}, _ONE)

    @staticmethod
    def number(value: Fraction | int) -> Parametric:
        return Parametric({FLAT: ExpPoly.constant(value)} if value else {}, _ONE)

    @staticmethod
    def unknown(name: str) -> Parametric:
        """The unknown itself."""
        return Parametric({((name, 1, _NONE),): _ONE}, _ONE)

    # --- looking ----------------------------------------------------------------------------------

    def unknowns(self) -> frozenset[str]:
        """The names of the unknowns that it depends on."""
        return frozenset(name for factors in self.numerator for name, _, _ in factors)

    def is_flat(self) -> bool:
        """Whether it depends on no unknown."""
        return self.numerator.keys() <= {FLAT}

    def flat(self) -> ExpPoly | None:
        """The value where it is an exponential polynomial that depends on no unknown, else None."""
        return self.numerator_flat() if self.denominator == _ONE and self.is_flat() else None

    def numerator_flat(self) -> ExpPoly:
        """The numerator of a value that depends on no unknown."""
        assert self.is_flat()
        return self.numerator.get(FLAT, _ZERO)

    def constant(self) -> Fraction | None:
        """The value where it is a rational number, else None."""
        flat = self.flat()
        if flat is None:
            return None
        terms = flat.terms()
        if not terms:
            return Fraction(0)
        (k, q, c), *more = terms
        return None if more or k or q else c

    def terms(self) -> Iterator[tuple[int, Fraction, Factors, Fraction]]:
        """(k, q, factors, c) for the summands c·eps^k·e^{q·eps}·Π U^j·e^{r·U·eps} of the numerator."""
        return ((k, q, factors, c) for factors, value in self.numerator.items() for k, q, c in value.terms())

    def bits(self) -> int:
        """Of the longest integer in a coefficient or an exponent."""
        terms = [*self.terms(), *((k, q, FLAT, c) for k, q, c in self.denominator.terms())]
        numbers = [number for _, q, factors, c in terms for number in (q, c, *(r for _, _, r in factors))]
        return max((max(abs(n.numerator), n.denominator).bit_length() for n in numbers), default=0)

    # --- arithmetic -------------------------------------------------------------------------------

    def __neg__(self) -> Parametric:
        return Parametric({factors: -value for factors, value in self.numerator.items()}, self.denominator)

    def __add__(self, other: Parametric) -> Parametric:
        if self.denominator == other.denominator:
            left, right, denominator = self.numerator, other.numerator, self.denominator
        else:
            left = _times(self.numerator, {FLAT: other.denominator})
            right = _times(other.numerator, {FLAT: self.denominator})
            denominator = _product(self.denominator, other.denominator)
        total = dict(left)
        for factors, value in right.items():
            total[factors] = total[factors] + value if factors in total else value
        return Parametric(_pruned(total), denominator)

    def __mul__(self, other: Parametric) -> Parametric:
        return Parametric(_times(self.numerator, other.numerator), _product(self.denominator, other.denominator))

    def __truediv__(self, other: Parametric) -> Parametric | None:
        """The quotient, None where the divisor depends on an unknown in another way than as c·e^{(q + r·U)·eps}.
        ZeroDivisionError for zero.
        """
        if not other.numerator:
            raise ZeroDivisionError
        (factors, divisor), *more = other.numerator.items()
        if more or any(j for _, j, _ in factors):
            return None
        numerator = _times(self.numerator, {tuple((name, 0, -r) for name, _, r in factors): other.denominator})
        if divisor.is_unit():
            ((_, q, c),) = divisor.terms()
            return Parametric(_times(numerator, {FLAT: ExpPoly.term(1 / c, 0, -q)}), self.denominator)
        return Parametric(numerator, _product(self.denominator, divisor))

    def power(self, exponent: int) -> Parametric:
        """The power, for exponent >= 0."""
        if exponent == 0:
            return Parametric.number(1)
        if len(self.numerator) > 1:
            result = self
            for _ in range(exponent - 1):
                result = result * self
            return result
        return Parametric(
            {
                tuple((name, j * exponent, r * exponent) for name, j, r in factors): _power(value, exponent)
                for factors, value in self.numerator.items()
            },
            _power(self.denominator, exponent),
        )

    def exponential(self) -> Parametric | None:
        """exp of this, where this is eps·(q + Σ r·U) with rational q and r, else None."""
        rate = Fraction(0)
        rates: list[tuple[str, int, Fraction]] = []
        if self.denominator != _ONE:
            return None
        for k, q, factors, c in self.terms():
            if k != 1 or q or len(factors) > 1 or any(j != 1 or r for _, j, r in factors):
                return None
            if factors:
                rates.append((factors[0][0], 0, c))
            else:
                rate = c
        return Parametric({tuple(sorted(rates)): ExpPoly.term(1, 0, rate)}, _ONE)

    # --- unknowns ---------------------------------------------------------------------------------

    def substituted(self, values: Mapping[str, Parametric]) -> Parametric | None:
        """The same function with values in place of some unknowns; None where that is not a function of this kind.

        The values are numbers >= 0, or take such values wherever they are asked about.
        """
        numbers = {name: number for name, value in values.items() if (number := value.constant()) is not None}
        collected: dict[Factors, list[tuple[int, Fraction, Fraction]]] = {}
        for k, q, factors, c in self.terms():
            for name, j, r in factors:
                if name in numbers:
                    q, c = q + r * numbers[name], c * numbers[name] ** j
            left = tuple(factor for factor in factors if factor[0] not in numbers)
            collected.setdefault(left, []).append((k, q, c))
        numerator = _pruned({factors: ExpPoly.from_terms(terms) for factors, terms in collected.items()})
        result = Parametric(numerator, self.denominator)
        return result if values.keys() == numbers.keys() else result._with_functions(values)

    def _with_functions(self, values: Mapping[str, Parametric]) -> Parametric | None:
        total = Parametric({}, self.denominator)
        for factors, coefficient in self.numerator.items():
            left = tuple(factor for factor in factors if factor[0] not in values)
            summand = Parametric({left: coefficient}, self.denominator)
            for name, j, r in factors:
                if name in values:
                    exponent = values[name] * Parametric.of(ExpPoly.term(r, 1))
                    exponential = exponent.exponential()
                    if exponential is None:
                        return None
                    summand = summand * values[name].power(j) * exponential
            total = total + summand
        return total

    def derivative(self, name: str) -> Parametric:
        """The derivative by an unknown."""
        collected: dict[Factors, list[tuple[int, Fraction, Fraction]]] = {}
        for k, q, factors, c in self.terms():
            j, r = next(((j, r) for other, j, r in factors if other == name), (0, _NONE))
            lower = ((name, j - 1, r),) if j > 1 or (j and r) else ()
            less = tuple(sorted((*(factor for factor in factors if factor[0] != name), *lower)))
            collected.setdefault(less, []).append((k, q, c * j))
            collected.setdefault(factors, []).append((k + 1, q, c * r))
        numerator = {factors: ExpPoly.from_terms(terms) for factors, terms in collected.items()}
        return Parametric(_pruned(numerator), self.denominator)

    def limit(self) -> Parametric | None:
        """The limit for unknowns that all grow without bound, in any way, for every eps > 0; None if there is none."""
        if any(r >= 0 for factors in self.numerator for _, _, r in factors):
            return None
        return Parametric({FLAT: self.numerator[FLAT]} if FLAT in self.numerator else {}, self.denominator)

    def in_product(self) -> ExpPoly | None:
        """The function g with this = g(U·eps) for the only unknown U; None where this is not of this kind.

        Such a function is Σ c·(U·eps)^j·e^{r·U·eps} with rational c; g is Σ c·t^j·e^{r·t}.
        """
        if self.denominator != _ONE or len(self.unknowns()) > 1:
            return None
        terms: list[tuple[int, Fraction, Fraction]] = []
        for k, q, factors, c in self.terms():
            j, r = factors[0][1:] if factors else (0, _NONE)
            if k != j or q:
                return None
            terms.append((j, r, c))
        return ExpPoly.from_terms(terms)

    def powers(self, name: str) -> dict[int, Parametric] | None:
        """By power, the nonzero coefficients as a polynomial in the unknown; None where it is not one."""
        result: dict[int, dict[Factors, ExpPoly]] = {}
        for factors, value in self.numerator.items():
            power = 0
            for other, j, r in factors:
                if other == name:
                    if r:
                        return None
                    power = j
            result.setdefault(power, {})[tuple(factor for factor in factors if factor[0] != name)] = value
        return {power: Parametric(numerator, self.denominator) for power, numerator in result.items()}


_NONE = Fraction(0)
_ZERO = ExpPoly.ZERO
_ONE = ExpPoly.ONE


def _pruned(values: dict[Factors, ExpPoly]) -> dict[Factors, ExpPoly]:
    return {factors: value for factors, value in values.items() if not value.is_zero()}


def _times(left: dict[Factors, ExpPoly], right: dict[Factors, ExpPoly]) -> dict[Factors, ExpPoly]:
    total: dict[Factors, ExpPoly] = {}
    for one, a in left.items():
        for other, b in right.items():
            factors = _merged(one, other)
            product = _product(a, b)
            total[factors] = total[factors] + product if factors in total else product
    return _pruned(total)


def _merged(left: Factors, right: Factors) -> Factors:
    if not left or not right:
        return left or right
    total = {name: (j, r) for name, j, r in left}
    for name, j, r in right:
        before = total.get(name, (0, _NONE))
        total[name] = (before[0] + j, before[1] + r)
    return tuple(sorted((name, j, r) for name, (j, r) in total.items() if j or r))


def _product(left: ExpPoly, right: ExpPoly) -> ExpPoly:
    if len(left) * len(right) > TERM_LIMIT:
        raise TooLarge
    return left * right


def _power(value: ExpPoly, exponent: int) -> ExpPoly:
    count = len(value)
    if count and comb(exponent + count - 1, count - 1) > TERM_LIMIT:
        raise TooLarge
    bits = max((max(abs(c.numerator), c.denominator).bit_length() for _, _, c in value.terms()), default=0)
    if bits * exponent > BIT_LIMIT and bits > 1:
        raise TooLarge
    return value**exponent


# --- Values of claim expressions with min, max and abs: trees of selections and arithmetic ----------------------------
#
# A value is a Parametric where it can be one. Constant factors and summands are moved into min and max, and arguments
# that are never selected are dropped, so that most betas come to one selection of closed forms.

#: Closed forms that one value may come to.
MOST_CANDIDATES = 64


class Kind(StrEnum):
    """What is selected from the arguments; the name is SymPy's."""

    MIN = "Min"
    MAX = "Max"
    ABS = "Abs"


class Operation(StrEnum):
    """Arithmetic that could not be moved into a selection."""

    SUM = "+"
    PRODUCT = "*"
    QUOTIENT = "/"


@frozen
class Selection:
    """The least or the greatest argument at each eps, or the absolute value of the only one."""

    kind: Kind
    arguments: tuple[Selected, ...]


@frozen
class Combination:
    """left operation right. The divisor of a quotient is 0 nowhere on the intervals that are asked about."""

    operation: Operation
    left: Selected
    right: Selected


Selected = Parametric | Selection | Combination


def constant_of(value: Selected) -> Fraction | None:
    """The value where it is a rational number, else None."""
    return value.constant() if isinstance(value, Parametric) else None


# --- arithmetic ------------------------------------------------------------------------------------


def plus(left: Selected, right: Selected) -> Selected:
    """left + right."""
    if isinstance(left, Parametric) and isinstance(right, Parametric):
        return left + right
    if isinstance(right, Parametric):
        return plus(right, left)
    if isinstance(left, Parametric) and not left.numerator:
        return right
    if isinstance(left, Parametric) and isinstance(right, Selection) and right.kind is not Kind.ABS:
        return select(right.kind, [plus(left, argument) for argument in right.arguments])
    return Combination(Operation.SUM, left, right)


def negated(value: Selected) -> Selected:
    """-value."""
    return times(Parametric.number(-1), value)


def times(left: Selected, right: Selected) -> Selected:
    """left · right."""
    if isinstance(left, Parametric) and isinstance(right, Parametric):
        return left * right
    if isinstance(right, Parametric):
        return times(right, left)
    if not isinstance(left, Parametric):
        return Combination(Operation.PRODUCT, left, right)
    if not left.numerator:
        return left
    if left.constant() == 1:
        return right
    sign = sure_sign(left)
    match right:
        case Selection(kind=Kind.ABS) if sign > 0:
            return select(Kind.ABS, [times(left, right.arguments[0])])
        case Selection(kind=Kind.MIN | Kind.MAX) if sign:
            kind = right.kind if sign > 0 else Kind.MAX if right.kind is Kind.MIN else Kind.MIN
            return select(kind, [times(left, argument) for argument in right.arguments])
        case Combination(operation=Operation.SUM) if sign:
            return plus(times(left, right.left), times(left, right.right))
    return Combination(Operation.PRODUCT, left, right)


def over(left: Selected, right: Selected) -> Selected:
    """left / right. ZeroDivisionError for the zero function.

    The caller has the divisor proved to be 0 nowhere on the intervals, or leaves that open with the unknowns.
    """
    if isinstance(right, Parametric):
        inverse = Parametric.number(1) / right
        if inverse is not None:
            quotient = left / right if isinstance(left, Parametric) else times(inverse, left)
            assert quotient is not None
            return quotient
    return Combination(Operation.QUOTIENT, left, right)


def power(value: Selected, exponent: int) -> Selected:
    """value^exponent, for exponent >= 0."""
    if isinstance(value, Parametric):
        return value.power(exponent)
    if exponent == 0:
        return Parametric.number(1)
    if exponent > MOST_CANDIDATES:
        raise TooLarge
    result: Selected = value
    for _ in range(exponent - 1):
        result = times(result, value)
    return result


def exponential(value: Selected) -> Selected | None:
    """exp of a value that is, or selects from, rational multiples of eps; else None."""
    match value:
        case Parametric():
            return value.exponential()
        case Selection(kind=Kind.MIN | Kind.MAX):
            # exp is increasing, so it changes places with min and max.
            inner = [exponential(argument) for argument in value.arguments]
            known = [argument for argument in inner if argument is not None]
            return select(value.kind, known) if len(known) == len(inner) else None
    return None


Signs = Callable[[ExpPoly], int]
"""The sign that a function is known to have wherever it is asked about; 0 where that is not known."""


def select(kind: Kind, arguments: list[Selected], far: Signs | None = None) -> Selected:
    """The selection from at least one argument, with those left out that are never needed.

    With `far` only for a large enough unknown: where arguments differ by a growing amount, the signs of functions of
    eps decide which one wins. Without, it is for all values of the unknowns.
    """
    if kind is Kind.ABS:
        (value,) = arguments
        sign = _sign(value, far) if isinstance(value, Parametric) else None
        if sign is None:
            return Selection(Kind.ABS, (value,))
        return value if sign >= 0 else negated(value)
    flat: list[Selected] = []
    for value in arguments:
        inside = value.arguments if isinstance(value, Selection) and value.kind is kind else (value,)
        flat += [argument for argument in inside if argument not in flat]
    kept: list[Selected] = []
    for value in flat:
        if any(_wins(kind, other, value, far) for other in kept):
            continue
        kept = [other for other in kept if not _wins(kind, value, other, far)]
        kept.append(value)
        if len(kept) > MOST_CANDIDATES:
            raise TooLarge
    return kept[0] if len(kept) == 1 else Selection(kind, tuple(kept))


def _wins(kind: Kind, left: Selected, right: Selected, far: Signs | None) -> bool:
    """Whether `left` may be taken for `right` everywhere."""
    if not isinstance(left, Parametric) or not isinstance(right, Parametric):
        return False
    sign = _sign(left + -right, far)
    return sign is not None and (sign <= 0 if kind is Kind.MIN else sign >= 0)


def _sign(value: Parametric, far: Signs | None) -> int | None:
    """The sign of the value wherever it is asked about, with `far` for a large enough unknown; None if not known."""
    if not value.numerator:
        return 0
    plain = sure_sign(value)
    if plain or far is None or len(value.unknowns()) != 1:
        return plain or None
    leading = max(value.numerator, key=lambda factors: (factors[0][2], factors[0][1]) if factors else (Fraction(0), 0))
    # What does not grow is compared where it is needed, cell by cell; here only what is plain to see.
    judge = far if leading else coefficient_sign
    return (judge(value.numerator[leading]) * judge(value.denominator)) or None


def sure_sign(value: Parametric) -> int:
    """1 or -1 where the value has that sign for every eps > 0 and all values > 0 of the unknowns, and that or none
    where some are 0, by the signs of its coefficients; 0 where these differ.
    """
    signs = {coefficient_sign(poly) for poly in value.numerator.values()}
    sign = signs.pop() if len(signs) == 1 else 0
    return sign * coefficient_sign(value.denominator)


def coefficient_sign(value: ExpPoly) -> int:
    """1 or -1 where all coefficients have that sign, and so the function for every eps > 0; 0 where they differ."""
    signs = {1 if c > 0 else -1 for _, _, c in value.terms()}
    return signs.pop() if len(signs) == 1 else 0


# --- unknowns, sizes -------------------------------------------------------------------------------


def unknowns(value: Selected) -> frozenset[str]:
    """The names of the unknowns that the value depends on."""
    match value:
        case Parametric():
            return value.unknowns()
        case Selection():
            return frozenset[str]().union(*map(unknowns, value.arguments))
        case Combination():
            return unknowns(value.left) | unknowns(value.right)
    assert_never(value)


def rebuilt(
    value: Selected, change: Callable[[Parametric], Parametric | None], far: Signs | None = None
) -> Selected | None:
    """The value rebuilt from changed parts; None where one of them became None.

    `change` keeps sums, products and quotients, and the order of values. ZeroDivisionError for a divisor that becomes
    the zero function.
    """
    match value:
        case Parametric():
            return change(value)
        case Selection():
            inner = [rebuilt(argument, change, far) for argument in value.arguments]
            known = [argument for argument in inner if argument is not None]
            return select(value.kind, known, far) if len(known) == len(inner) else None
        case Combination():
            left, right = rebuilt(value.left, change, far), rebuilt(value.right, change, far)
            return None if left is None or right is None else combined(value.operation, left, right)
    assert_never(value)


def combined(operation: Operation, left: Selected, right: Selected) -> Selected:
    """left operation right; ZeroDivisionError as for `over`."""
    match operation:
        case Operation.SUM:
            return plus(left, right)
        case Operation.PRODUCT:
            return times(left, right)
        case Operation.QUOTIENT:
            return over(left, right)
    assert_never(operation)


def limit(value: Selected, far: Signs) -> Selected | None:
    """The limit for the unknown growing without bound, for every eps of the intervals that `far` tells signs on; None
    where none was found.

    Far out it is known which arguments win. Min, max and abs are continuous, so they change places with limits.
    """
    settled = rebuilt(value, lambda leaf: leaf, far)
    return None if settled is None else rebuilt(settled, Parametric.limit)


def bits(value: Selected) -> int:
    """Of the longest integer in a coefficient or an exponent."""
    match value:
        case Parametric():
            return value.bits()
        case Selection():
            return max(map(bits, value.arguments))
        case Combination():
            return max(bits(value.left), bits(value.right))
    assert_never(value)


# --- Which form a value of selections is, and where: the functions whose signs tell, and the form at one eps ----------

#: Functions whose signs tell which form a value is.
MOST_CONDITIONS = 256


def candidates(value: Selected) -> list[Parametric]:
    """Forms one of which is the value at each eps. Raises TooLarge for too many."""
    forms: list[Parametric] = []
    for form in _all_candidates(value):
        if form not in forms:
            forms.append(form)
        if len(forms) > MOST_CANDIDATES:
            raise TooLarge
    return forms


def _all_candidates(value: Selected) -> list[Parametric]:
    match value:
        case Parametric():
            return [value]
        case Selection(kind=Kind.ABS):
            inner = candidates(value.arguments[0])
            return [*inner, *(-form for form in inner)]
        case Selection():
            return [form for argument in value.arguments for form in candidates(argument)]
        case Combination():
            left, right = candidates(value.left), candidates(value.right)
            if len(left) * len(right) > MOST_CANDIDATES:
                raise TooLarge
            return [_combined(value.operation, a, b) for a, b in product(left, right) if not _is_zero_divisor(value, b)]
    assert_never(value)


def _is_zero_divisor(value: Combination, divisor: Parametric) -> bool:
    """A candidate that is the zero function is never the value of a divisor."""
    return value.operation is Operation.QUOTIENT and not divisor.numerator


def _combined(operation: Operation, left: Parametric, right: Parametric) -> Parametric:
    result = combined(operation, left, right)
    assert isinstance(result, Parametric)
    return result


def conditions(value: Selected) -> list[ExpPoly]:
    """Functions, none of them zero, whose signs decide which candidate the value is. The value does not depend on an
    unknown.

    Between two neighboring roots of all of them the value is one form, and no denominator met on the way is 0.
    Raises TooLarge for too many.
    """
    polys: list[ExpPoly] = []
    for function in _all_conditions(value):
        if not coefficient_sign(function) and function not in polys:
            polys.append(function)
        if len(polys) > MOST_CONDITIONS:
            raise TooLarge
    return polys


def _all_conditions(value: Selected) -> list[ExpPoly]:
    match value:
        case Parametric():
            return [value.denominator]
        case Selection():
            polys = [function for argument in value.arguments for function in conditions(argument)]
            if value.kind is Kind.ABS:
                forms = candidates(value.arguments[0])
            else:
                several = [candidates(argument) for argument in value.arguments]
                forms = [a + -b for first, second in combinations(several, 2) for a, b in product(first, second)]
            for form in forms:
                polys += [poly for poly in (form.numerator_flat(), form.denominator) if not poly.is_zero()]
            return polys
        case Combination():
            # A quotient's divisor becomes a denominator.
            below = candidates(value.right) if value.operation is Operation.QUOTIENT else []
            divisors = [form.numerator_flat() for form in below if form.numerator]
            return [*conditions(value.left), *conditions(value.right), *divisors]
    assert_never(value)


def resolve(value: Selected, sign: Signs) -> Parametric:
    """The form that the value is where `sign` tells the signs of functions: at one eps, or all along a gap between
    the roots of its `conditions`. Raises ZeroDivisionError where a divisor is 0.
    """
    match value:
        case Parametric():
            return value
        case Selection(kind=Kind.ABS):
            inner = resolve(value.arguments[0], sign)
            return -inner if _sign_of(inner, sign) < 0 else inner
        case Selection():
            best, *rest = (resolve(argument, sign) for argument in value.arguments)
            for form in rest:
                difference = _sign_of(form + -best, sign)
                if difference < 0 if value.kind is Kind.MIN else difference > 0:
                    best = form
            return best
        case Combination():
            return _combined(value.operation, resolve(value.left, sign), resolve(value.right, sign))
    assert_never(value)


def _sign_of(form: Parametric, sign: Signs) -> int:
    numerator, below = form.numerator_flat(), sign(form.denominator)
    if not below:
        raise ZeroDivisionError
    return 0 if numerator.is_zero() else sign(numerator) * below

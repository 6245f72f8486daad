"""Exponential polynomials with unknowns, and expressions of claims that take min, max and abs of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import assert_never

from dipc.algebra.exppoly import ExpPoly
from dipc.frozen import frozen

# --- Exponential polynomials with unknowns: alpha, gamma, dd, the number of queries -----------------------------------
#
# Claim expressions are evaluated to them. Methods substitute numbers for unknowns, take the limit of growing unknowns,
# and give a value as a function of unknown·eps or as a polynomial in an unknown.

#: Limits of one claim expression: its terms after multiplying out, the bits of intermediate numbers, and the bits of
#: the numbers in its result, which are printed (Python prints integers of at most 4300 digits).
TERM_LIMIT = 100_000
BIT_LIMIT = 100_000
RESULT_BIT_LIMIT = 13_000

#: The product Π U^j·e^{r·U·eps} over unknowns as triples (U, j, r), ordered by name; no triple has j = r = 0.
Factors = tuple[tuple[str, int, Fraction], ...]

#: The factors without an unknown.
FLAT: Factors = ()


class TooLarge(Exception):
    """Raised if a product, a power or a list of candidates is too long."""


@frozen
class Parametric:
    """A function of eps > 0 and of unknowns U >= 0: a quotient whose denominator depends on eps alone.

    The numerator is Σ coefficient(eps)·Π U^j·e^{r·U·eps}; no coefficient is zero. The denominator is not the zero
    function. Two values with the same denominator are the same function exactly if they are equal.
    """

    numerator: dict[Factors, ExpPoly]
    denominator: ExpPoly

    @staticmethod
    def from_exppoly(value: ExpPoly) -> Parametric:
        return Parametric({} if value.is_zero() else {FLAT: value}, _ONE)

    @staticmethod
    def number(value: Fraction | int) -> Parametric:
        return Parametric({FLAT: ExpPoly.constant(value)} if value else {}, _ONE)

    @staticmethod
    def unknown(name: str) -> Parametric:
        """The function whose value is the unknown `name`."""
        return Parametric({((name, 1, _NONE),): _ONE}, _ONE)

    # --- looking ----------------------------------------------------------------------------------

    def unknowns(self) -> frozenset[str]:
        """The names of the unknowns that the function depends on."""
        return frozenset(name for factors in self.numerator for name, _, _ in factors)

    def is_flat(self) -> bool:
        """Whether the function depends on no unknown, but at most on eps."""
        return self.numerator.keys() <= {FLAT}

    def flat(self) -> ExpPoly | None:
        """The function if it is an exponential polynomial that depends on no unknown, else None."""
        return self.numerator_flat() if self.denominator == _ONE and self.is_flat() else None

    def numerator_flat(self) -> ExpPoly:
        """The numerator as an exponential polynomial; the function must not depend on an unknown."""
        assert self.is_flat()
        return self.numerator.get(FLAT, _ZERO)

    def constant(self) -> Fraction | None:
        """The value if the function is a constant rational number, else None."""
        flat = self.flat()
        if flat is None:
            return None
        terms = flat.terms()
        if not terms:
            return Fraction(0)
        (k, q, c), *more = terms
        return None if more or k or q else c

    def terms(self) -> Iterator[tuple[int, Fraction, Factors, Fraction]]:
        """Yield (k, q, factors, c) for the terms c·eps^k·e^{q·eps}·Π U^j·e^{r·U·eps} of the numerator."""
        return ((k, q, factors, c) for factors, value in self.numerator.items() for k, q, c in value.terms())

    def bits(self) -> int:
        """The number of bits of the longest integer in a coefficient or an exponent."""
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
        """Divide by `other`; None if `other` depends on an unknown U and is not of the form f(eps)·e^{r·U·eps}.

        Raises ZeroDivisionError for a zero divisor.
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
        """The function to the power `exponent` >= 0."""
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
        """The exponential of the function if it is eps·(q + Σ r·U) with rational q and r, else None."""
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
        """The function with `values` in place of the unknowns they name; None if the result is not a `Parametric`.

        The values are numbers >= 0, or functions that are >= 0 wherever the result is used.
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
                    exponent = values[name] * Parametric.from_exppoly(ExpPoly.term(r, 1))
                    exponential = exponent.exponential()
                    if exponential is None:
                        return None
                    summand = summand * values[name].power(j) * exponential
            total = total + summand
        return total

    def derivative(self, name: str) -> Parametric:
        """The derivative by the unknown `name`."""
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
        """The limit for every eps > 0 as all unknowns grow without bound, in any way; None if it was not found."""
        if any(r >= 0 for factors in self.numerator for _, _, r in factors):
            return None
        return Parametric({FLAT: self.numerator[FLAT]} if FLAT in self.numerator else {}, self.denominator)

    def in_product(self) -> ExpPoly | None:
        """The function g with f = g(U·eps) for this function f and its only unknown U; None if f has no such form.

        Such an f is Σ c·(U·eps)^j·e^{r·U·eps} with rational c; g is Σ c·t^j·e^{r·t}.
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
        """The nonzero coefficients, by power, if the function is a polynomial in the unknown `name`, else None."""
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
# A value is a Parametric where possible. Constant factors and summands are moved into min and max, and arguments that
# are never selected are dropped, so most betas become one selection of closed forms.

#: The most closed forms that one value may select from.
MOST_CANDIDATES = 64


class SelectionKind(StrEnum):
    """The function min, max or abs that selects from arguments; the values are SymPy's names."""

    MIN = "Min"
    MAX = "Max"
    ABS = "Abs"


class Operation(StrEnum):
    """The arithmetic operation of a `Combination`."""

    SUM = "+"
    PRODUCT = "*"
    QUOTIENT = "/"


@frozen
class Selection:
    """The minimum or maximum of the arguments, or the absolute value of a single argument, as a function of eps."""

    kind: SelectionKind
    arguments: tuple[Selected, ...]


@frozen
class Combination:
    """A sum, product or quotient of two functions of which one is a selection, kept unevaluated.

    The divisor of a quotient is nonzero on the intervals of the question.
    """

    operation: Operation
    left: Selected
    right: Selected


Selected = Parametric | Selection | Combination


def constant_of(value: Selected) -> Fraction | None:
    """The value if it is a constant rational number, else None."""
    return value.constant() if isinstance(value, Parametric) else None


# --- arithmetic ------------------------------------------------------------------------------------


def plus(left: Selected, right: Selected) -> Selected:
    """The sum left + right."""
    if isinstance(left, Parametric) and isinstance(right, Parametric):
        return left + right
    if isinstance(right, Parametric):
        return plus(right, left)
    if isinstance(left, Parametric) and not left.numerator:
        return right
    if isinstance(left, Parametric) and isinstance(right, Selection) and right.kind is not SelectionKind.ABS:
        return select(right.kind, [plus(left, argument) for argument in right.arguments])
    return Combination(Operation.SUM, left, right)


def negated(value: Selected) -> Selected:
    """The value 0 - `value`."""
    return times(Parametric.number(-1), value)


def times(left: Selected, right: Selected) -> Selected:
    """The product left · right."""
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
        case Selection(kind=SelectionKind.ABS) if sign > 0:
            return select(SelectionKind.ABS, [times(left, right.arguments[0])])
        case Selection(kind=SelectionKind.MIN | SelectionKind.MAX) if sign:
            kind = (
                right.kind if sign > 0 else SelectionKind.MAX if right.kind is SelectionKind.MIN else SelectionKind.MIN
            )
            return select(kind, [times(left, argument) for argument in right.arguments])
        case Combination(operation=Operation.SUM) if sign:
            return plus(times(left, right.left), times(left, right.right))
    return Combination(Operation.PRODUCT, left, right)


def divide(left: Selected, right: Selected) -> Selected:
    """The quotient left / right of two functions that may contain unknowns.

    Raises ZeroDivisionError for the zero function. The caller guarantees that the divisor is nonzero on the intervals.
    """
    if isinstance(right, Parametric):
        inverse = Parametric.number(1) / right
        if inverse is not None:
            quotient = left / right if isinstance(left, Parametric) else times(inverse, left)
            assert quotient is not None
            return quotient
    return Combination(Operation.QUOTIENT, left, right)


def power(value: Selected, exponent: int) -> Selected:
    """The power of `value`, for `exponent` >= 0."""
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
    """The exponential of `value`, a rational multiple of eps or a selection from such multiples.

    None for other values.
    """
    match value:
        case Parametric():
            return value.exponential()
        case Selection(kind=SelectionKind.MIN | SelectionKind.MAX):
            # exp is increasing, so it changes places with min and max.
            inner = [exponential(argument) for argument in value.arguments]
            known = [argument for argument in inner if argument is not None]
            return select(value.kind, known) if len(known) == len(inner) else None
    return None


Signs = Callable[[ExpPoly], int]
"""The sign of a function on the whole set that the caller considers; 0 where it is not known or not constant."""


def select(kind: SelectionKind, arguments: list[Selected], far: Signs | None = None) -> Selected:
    """The minimum, maximum or absolute value of `arguments`, without arguments that are never selected.

    Without `far` this holds for all values of the unknowns. With `far`, the signs of functions of eps, it holds for a
    large enough unknown.
    """
    if kind is SelectionKind.ABS:
        (value,) = arguments
        sign = _sign(value, far) if isinstance(value, Parametric) else None
        if sign is None:
            return Selection(SelectionKind.ABS, (value,))
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


def _wins(kind: SelectionKind, left: Selected, right: Selected, far: Signs | None) -> bool:
    """Whether `right` may be dropped from a selection because `left` is always at least as small, or as large."""
    if not isinstance(left, Parametric) or not isinstance(right, Parametric):
        return False
    sign = _sign(left + -right, far)
    return sign is not None and (sign <= 0 if kind is SelectionKind.MIN else sign >= 0)


def _sign(value: Parametric, far: Signs | None) -> int | None:
    """The sign of `value`, or, if `far` gives signs of functions of eps, its sign for a large unknown.

    None if not known.
    """
    if not value.numerator:
        return 0
    plain = sure_sign(value)
    if plain or far is None or len(value.unknowns()) != 1:
        return plain or None
    leading = max(value.numerator, key=lambda factors: (factors[0][2], factors[0][1]) if factors else (Fraction(0), 0))
    # A leading term that does not grow is compared cell by cell later; here only its coefficients are looked at.
    judge = far if leading else coefficient_sign
    return (judge(value.numerator[leading]) * judge(value.denominator)) or None


def sure_sign(value: Parametric) -> int:
    """The sign of `value` for every eps > 0 and all unknowns > 0 if all its coefficients have this sign, else 0.

    If some unknowns are 0 the value has this sign or is 0.
    """
    signs = {coefficient_sign(poly) for poly in value.numerator.values()}
    sign = signs.pop() if len(signs) == 1 else 0
    return sign * coefficient_sign(value.denominator)


def coefficient_sign(value: ExpPoly) -> int:
    """The common sign of all coefficients, 1 or -1, which `value` has for every eps > 0; 0 if they differ."""
    signs = {1 if c > 0 else -1 for _, _, c in value.terms()}
    return signs.pop() if len(signs) == 1 else 0


# --- unknowns, sizes -------------------------------------------------------------------------------


def unknowns(value: Selected) -> frozenset[str]:
    """The names of the unknowns that `value` depends on."""
    match value:
        case Parametric():
            return value.unknowns()
        case Selection():
            return frozenset[str]().union(*map(unknowns, value.arguments))
        case Combination():
            return unknowns(value.left) | unknowns(value.right)
    assert_never(value)


def rebuild(
    value: Selected, change: Callable[[Parametric], Parametric | None], far: Signs | None = None
) -> Selected | None:
    """`value` with `change` applied to each `Parametric` in it; None if `change` returns None for one.

    `change` must preserve sums, products, quotients and the order of values; `far` is as in `select`. Raises
    ZeroDivisionError for a divisor that becomes the zero function.
    """
    match value:
        case Parametric():
            return change(value)
        case Selection():
            inner = [rebuild(argument, change, far) for argument in value.arguments]
            known = [argument for argument in inner if argument is not None]
            return select(value.kind, known, far) if len(known) == len(inner) else None
        case Combination():
            left, right = rebuild(value.left, change, far), rebuild(value.right, change, far)
            return None if left is None or right is None else combine(value.operation, left, right)
    assert_never(value)


def combine(operation: Operation, left: Selected, right: Selected) -> Selected:
    """The result of `operation` on `left` and `right`.

    Raises ZeroDivisionError for a divisor that is the zero function.
    """
    match operation:
        case Operation.SUM:
            return plus(left, right)
        case Operation.PRODUCT:
            return times(left, right)
        case Operation.QUOTIENT:
            return divide(left, right)
    assert_never(operation)


def limit(value: Selected, far: Signs) -> Selected | None:
    """The limit of `value` as the unknown grows without bound, for every eps at which `far` gives signs.

    None if not found. For a large enough unknown it is known which arguments are selected. Since min, max and abs are
    continuous, they commute with limits.
    """
    settled = rebuild(value, lambda leaf: leaf, far)
    return None if settled is None else rebuild(settled, Parametric.limit)


def bits(value: Selected) -> int:
    """The number of bits of the longest integer in a coefficient or an exponent of `value`."""
    match value:
        case Parametric():
            return value.bits()
        case Selection():
            return max(map(bits, value.arguments))
        case Combination():
            return max(bits(value.left), bits(value.right))
    assert_never(value)


# --- The form that a value of selections has at an eps, and the functions whose signs determine it --------------------

#: The most functions whose signs determine the form of one value.
MOST_CONDITIONS = 256


def candidates(value: Selected) -> list[Parametric]:
    """Functions without min, max and abs, one of which is equal to `value` at each eps.

    Raises TooLarge for too many.
    """
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
        case Selection(kind=SelectionKind.ABS):
            inner = candidates(value.arguments[0])
            return [*inner, *(-form for form in inner)]
        case Selection():
            return [form for argument in value.arguments for form in candidates(argument)]
        case Combination():
            left, right = candidates(value.left), candidates(value.right)
            if len(left) * len(right) > MOST_CANDIDATES:
                raise TooLarge
            return [
                _combine_candidates(value.operation, a, b)
                for a, b in product(left, right)
                if not _is_zero_divisor(value, b)
            ]
    assert_never(value)


def _is_zero_divisor(value: Combination, divisor: Parametric) -> bool:
    """Whether `value` is a quotient and its candidate `divisor` is the zero function, which is never selected."""
    return value.operation is Operation.QUOTIENT and not divisor.numerator


def _combine_candidates(operation: Operation, left: Parametric, right: Parametric) -> Parametric:
    result = combine(operation, left, right)
    assert isinstance(result, Parametric)
    return result


def conditions(value: Selected) -> list[ExpPoly]:
    """Functions of eps between whose roots `value` is a single one of its `candidates`, and no denominator is 0.

    `value` must not depend on an unknown. Raises TooLarge for too many.
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
            if value.kind is SelectionKind.ABS:
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
    """The one of the candidates of `value` that is selected where functions of eps have the signs that `sign` gives.

    `sign` applies to one eps, or to a gap between neighboring roots of `conditions(value)`. Raises ZeroDivisionError if
    a divisor is 0.
    """
    match value:
        case Parametric():
            return value
        case Selection(kind=SelectionKind.ABS):
            inner = resolve(value.arguments[0], sign)
            return -inner if _sign_of(inner, sign) < 0 else inner
        case Selection():
            best, *rest = (resolve(argument, sign) for argument in value.arguments)
            for form in rest:
                difference = _sign_of(form + -best, sign)
                if difference < 0 if value.kind is SelectionKind.MIN else difference > 0:
                    best = form
            return best
        case Combination():
            return _combine_candidates(value.operation, resolve(value.left, sign), resolve(value.right, sign))
    assert_never(value)


def _sign_of(form: Parametric, sign: Signs) -> int:
    numerator, below = form.numerator_flat(), sign(form.denominator)
    if not below:
        raise ZeroDivisionError
    return 0 if numerator.is_zero() else sign(numerator) * below

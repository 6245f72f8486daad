"""Exponential polynomials with unknowns, and expressions of claims that take min, max and abs of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import combinations, product
from math import comb

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
    """Raised if a product, a power or a list of candidates would exceed a fixed bound."""


@frozen
class Parametric:
    """A function of eps > 0 and of unknowns U >= 0: a quotient whose denominator depends on eps alone.

    An unknown is a number that the question leaves open, such as alpha or the number of queries. The numerator is Σ
    coefficient(eps)·Π U^j·e^{r·U·eps}. `numerator` maps the factors of each product, as triples (U, j, r), to its
    coefficient; no coefficient is zero. `denominator` is not the zero function. Two objects with the same denominator
    are the same function exactly if they are equal.
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
        """True if the function depends on eps alone."""
        return self.numerator.keys() <= {FLAT}

    def flat(self) -> ExpPoly | None:
        """The function as an exponential polynomial; None if it depends on an unknown or has a denominator."""
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
        """The number of bits of the longest integer in a coefficient or an exponent of the function."""
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

        Each value is a number >= 0, or a function that is >= 0 wherever the result is used.
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
        """The derivative with respect to the unknown `name`."""
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
        """The limit for every eps > 0 as all unknowns grow without bound, at any relative speed; None if not found."""
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

    def linear(self, name: str) -> tuple[Fraction, Fraction] | None:
        """Return (base, rate) if the function is base + rate·U, where U is the unknown `name`, else None."""
        keys: tuple[Factors, Factors] = FLAT, ((name, 1, _NONE),)
        if self.denominator != _ONE or self.numerator.keys() - {*keys}:
            return None
        base, rate = (Parametric.from_exppoly(self.numerator.get(key, _ZERO)).constant() for key in keys)
        return None if base is None or rate is None else (base, rate)


_NONE = Fraction(0)
_ZERO = ExpPoly.ZERO
_ONE = ExpPoly.ONE


def _pruned(values: dict[Factors, ExpPoly]) -> dict[Factors, ExpPoly]:
    return {factors: value for factors, value in values.items() if not value.is_zero()}


def _times(left: dict[Factors, ExpPoly], right: dict[Factors, ExpPoly]) -> dict[Factors, ExpPoly]:
    total: dict[Factors, ExpPoly] = {}
    for one, a in left.items():
        for other, b in right.items():
            factors = merged_factors(one, other)
            product = _product(a, b)
            total[factors] = total[factors] + product if factors in total else product
    return _pruned(total)


def merged_factors(left: Factors, right: Factors) -> Factors:
    """The factors of the product of `left` and `right`: for each unknown, exponents are added, and so are rates."""
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


class Operator(StrEnum):
    """An operation on functions of eps; the values of MIN, MAX and ABS are the names of SymPy's operations."""

    MIN = "Min"
    MAX = "Max"
    ABS = "Abs"
    SUM = "+"
    PRODUCT = "*"
    QUOTIENT = "/"


#: The operators whose value is that of an argument, or of its negative.
SELECTING = (Operator.MIN, Operator.MAX, Operator.ABS)


@frozen
class Compound:
    """The `operator` applied to `arguments`, where the result is not one quotient of exponential polynomials.

    MIN and MAX have several arguments, and ABS has one. A sum, product or quotient has two. At least one of the two is
    a Compound, or the second is a divisor that depends on an unknown. The caller guarantees that a divisor is nonzero
    on the intervals of the question.
    """

    operator: Operator
    arguments: tuple[Selected, ...]


Selected = Parametric | Compound


def constant_of(value: Selected) -> Fraction | None:
    """The rational number that `value` is equal to, or None if `value` is not shown to be constant."""
    return value.constant() if isinstance(value, Parametric) else None


# --- arithmetic ------------------------------------------------------------------------------------


def plus(left: Selected, right: Selected) -> Selected:
    """The sum of `left` and `right`.

    A summand that is a `Parametric` is added to the arguments of a minimum or maximum.
    """
    if isinstance(left, Parametric) and isinstance(right, Parametric):
        return left + right
    if isinstance(right, Parametric):
        return plus(right, left)
    if isinstance(left, Parametric) and not left.numerator:
        return right
    if isinstance(left, Parametric) and right.operator in (Operator.MIN, Operator.MAX):
        return select(right.operator, [plus(left, argument) for argument in right.arguments])
    return Compound(Operator.SUM, (left, right))


def negated(value: Selected) -> Selected:
    """The value 0 - `value`."""
    return times(Parametric.number(-1), value)


def times(left: Selected, right: Selected) -> Selected:
    """The product of `left` and `right`.

    A factor c, a `Parametric` of known sign, is multiplied into the arguments of a minimum, maximum or sum: for
    positive c, c·min(x, y) is min(c·x, c·y), and for negative c it is max(c·x, c·y).
    """
    if isinstance(left, Parametric) and isinstance(right, Parametric):
        return left * right
    if isinstance(right, Parametric):
        return times(right, left)
    if not isinstance(left, Parametric):
        return Compound(Operator.PRODUCT, (left, right))
    if not left.numerator:
        return left
    if left.constant() == 1:
        return right
    operator = (_NEGATED if sure_sign(left) < 0 else _SCALED).get(right.operator)
    if operator is not None and sure_sign(left):
        return combine(operator, [times(left, argument) for argument in right.arguments])
    return Compound(Operator.PRODUCT, (left, right))


#: The operator that gives c·f(x, y) from c·x and c·y, by the operator f: for a positive c, and for a negative one.
_SCALED = {each: each for each in (Operator.SUM, *SELECTING)}
_NEGATED = {Operator.SUM: Operator.SUM, Operator.MIN: Operator.MAX, Operator.MAX: Operator.MIN}


def divide(left: Selected, right: Selected) -> Selected:
    """The quotient `left` / `right` of two functions that may contain unknowns.

    Raises ZeroDivisionError if `right` is the zero function. The caller guarantees that `right` is nonzero on the
    intervals of the question.
    """
    if isinstance(right, Parametric):
        inverse = Parametric.number(1) / right
        if inverse is not None:
            quotient = left / right if isinstance(left, Parametric) else times(inverse, left)
            assert quotient is not None
            return quotient
    return Compound(Operator.QUOTIENT, (left, right))


def power(value: Selected, exponent: int) -> Selected:
    """The power of `value` with the exponent `exponent` >= 0. Raises TooLarge if the result would be too large."""
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
    """The exponential of `value`, or None if it cannot be expressed.

    `value` must be linear, eps·(q + Σ r·U) with rational q and r over unknowns U, or a minimum or maximum of such
    functions.
    """
    match value:
        case Parametric():
            return value.exponential()
        case Compound(Operator.MIN | Operator.MAX as operator, arguments):
            # exp is increasing, so it changes places with min and max.
            inner = [power for argument in arguments if (power := exponential(argument)) is not None]
            return select(operator, inner) if len(inner) == len(arguments) else None
    return None


Signs = Callable[[ExpPoly], int]
"""The sign of a function on the whole set that the caller considers; 0 where it is not known or not constant."""


def select(operator: Operator, arguments: Sequence[Selected], far: Signs | None = None) -> Selected:
    """The minimum, maximum or absolute value of `arguments`, as `operator` says, without needless arguments.

    An argument is needless if another one is selected in its place. Without `far`, an argument is dropped only if it is
    needless for all values of the unknowns. `far`, if given, returns the sign of a function of eps; an argument is then
    dropped if it is needless for all large values of the only unknown. Raises TooLarge if too many arguments are left.
    """
    if operator is Operator.ABS:
        (value,) = arguments
        sign = _sign(value, far) if isinstance(value, Parametric) else None
        if sign is None:
            return Compound(operator, (value,))
        return value if sign >= 0 else negated(value)
    flat: list[Selected] = []
    for value in arguments:
        inside = value.arguments if isinstance(value, Compound) and value.operator is operator else (value,)
        flat += [argument for argument in inside if argument not in flat]
    kept: list[Selected] = []
    for value in flat:
        if any(_wins(operator, other, value, far) for other in kept):
            continue
        kept = [other for other in kept if not _wins(operator, value, other, far)]
        kept.append(value)
        if len(kept) > MOST_CANDIDATES:
            raise TooLarge
    return kept[0] if len(kept) == 1 else Compound(operator, tuple(kept))


def _wins(operator: Operator, left: Selected, right: Selected, far: Signs | None) -> bool:
    """Whether `operator`, which is MIN or MAX, may leave out `right` because `left` is at least as good.

    Without `far`, `left` must be at most (MIN) or at least (MAX) `right` for all eps > 0 and all values of the
    unknowns. With `far`, which returns the sign of a function of eps, it is enough that this holds for all large values
    of the only unknown.
    """
    if not isinstance(left, Parametric) or not isinstance(right, Parametric):
        return False
    sign = _sign(left + -right, far)
    return sign is not None and (sign <= 0 if operator is Operator.MIN else sign >= 0)


def _sign(value: Parametric, far: Signs | None) -> int | None:
    """The sign of `value`, or None if it is not found.

    Without `far`, it is the sign at all eps > 0 and all values of the unknowns. `far`, if given, returns the sign of a
    function of eps. The result is then the sign of `value` for all large values of its one unknown: the sign of the
    coefficient of the part that grows most.
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
    """The sign of `value` for every eps > 0 and all unknowns > 0 if all its coefficients have the same sign, else 0.

    If some unknowns are 0, `value` has the returned sign or is 0.
    """
    signs = {coefficient_sign(poly) for poly in value.numerator.values()}
    sign = signs.pop() if len(signs) == 1 else 0
    return sign * coefficient_sign(value.denominator)


def coefficient_sign(value: ExpPoly) -> int:
    """The sign, 1 or -1, of `value` for every eps > 0 if all its coefficients have the same sign; 0 otherwise."""
    signs = {1 if c > 0 else -1 for _, _, c in value.terms()}
    return signs.pop() if len(signs) == 1 else 0


# --- unknowns, sizes -------------------------------------------------------------------------------


def unknowns(value: Selected) -> frozenset[str]:
    """The names of the unknowns that `value` depends on."""
    if isinstance(value, Parametric):
        return value.unknowns()
    return frozenset[str]().union(*map(unknowns, value.arguments))


def bits(value: Selected) -> int:
    """The number of bits of the longest integer in a coefficient or an exponent of `value`."""
    return value.bits() if isinstance(value, Parametric) else max(map(bits, value.arguments))


def rebuild(
    value: Selected, change: Callable[[Parametric], Parametric | None], far: Signs | None = None
) -> Selected | None:
    """Return `value` with `change` applied to each `Parametric` in it; None if `change` returns None for any of them.

    `change` must preserve sums, products, quotients and the order of values. Without `far`, the result is valid for all
    values of the unknowns. `far` maps a function of eps to its sign. With it, there must be one unknown, and the result
    is only valid for large values of this unknown: arguments of minima and maxima that matter only elsewhere are
    dropped. Raises ZeroDivisionError for a divisor that becomes the zero function.
    """
    if isinstance(value, Parametric):
        return change(value)
    inner = [rebuild(argument, change, far) for argument in value.arguments]
    known = [argument for argument in inner if argument is not None]
    return combine(value.operator, known, far) if len(known) == len(inner) else None


def combine(operator: Operator, arguments: Sequence[Selected], far: Signs | None = None) -> Selected:
    """The result of `operator` on `arguments`.

    `far` returns the sign of a function of eps, and is passed to `select` to drop arguments of minima and maxima.
    Raises ZeroDivisionError for a divisor that is the zero function.
    """
    match operator:
        case Operator.SUM:
            return plus(*arguments)
        case Operator.PRODUCT:
            return times(*arguments)
        case Operator.QUOTIENT:
            return divide(*arguments)
    return select(operator, arguments, far)


def limit(value: Selected, far: Signs) -> Selected | None:
    """The limit of `value` as its unknown grows without bound, or None if it is not found.

    `far` returns the sign of a function of eps, and the limit holds at every eps with these signs. For large enough
    unknowns the signs determine which arguments min, max and abs select. Since min, max and abs are continuous, they
    commute with limits.
    """
    settled = rebuild(value, lambda leaf: leaf, far)
    return None if settled is None else rebuild(settled, Parametric.limit)


# --- The form that a value of selections has at an eps, and the functions whose signs determine it --------------------

#: The most functions whose signs determine the form of one value.
MOST_CONDITIONS = 256


def candidates(value: Selected) -> list[Parametric]:
    """Functions without min, max and abs; at each eps, one of them is equal to `value`.

    Raises TooLarge for more than `MOST_CANDIDATES`.
    """
    if isinstance(value, Parametric):
        return [value]
    several = [candidates(argument) for argument in value.arguments]
    if value.operator in SELECTING:
        found = [form for forms in several for form in forms]
        found += [-form for form in found] if value.operator is Operator.ABS else []
    else:
        left, right = several
        if len(left) * len(right) > MOST_CANDIDATES:
            raise TooLarge
        # A divisor that is the zero function is never selected.
        divisible = [form for form in right if value.operator is not Operator.QUOTIENT or form.numerator]
        found = [_applied(value.operator, pair) for pair in product(left, divisible)]
    forms: list[Parametric] = []
    for form in found:
        if form not in forms:
            forms.append(form)
        if len(forms) > MOST_CANDIDATES:
            raise TooLarge
    return forms


def _applied(operator: Operator, forms: Sequence[Parametric]) -> Parametric:
    result = combine(operator, forms)
    assert isinstance(result, Parametric)
    return result


def conditions(value: Selected) -> list[ExpPoly]:
    """Return functions whose roots cut the half-line eps > 0 so that `value` is one of its `candidates` on each part.

    No denominator of `value` has a root inside a part. `value` must not depend on an unknown. Raises TooLarge for more
    than `MOST_CONDITIONS` functions.
    """
    polys: list[ExpPoly] = []
    for function in _all_conditions(value):
        if not coefficient_sign(function) and function not in polys:
            polys.append(function)
        if len(polys) > MOST_CONDITIONS:
            raise TooLarge
    return polys


def _all_conditions(value: Selected) -> list[ExpPoly]:
    if isinstance(value, Parametric):
        return [value.denominator]
    polys = [function for argument in value.arguments for function in conditions(argument)]
    forms: list[Parametric] = []
    match value.operator:
        case Operator.QUOTIENT:  # A divisor becomes a denominator.
            return [*polys, *(form.numerator_flat() for form in candidates(value.arguments[1]) if form.numerator)]
        case Operator.ABS:
            forms = candidates(value.arguments[0])
        case Operator.MIN | Operator.MAX:
            pairs = combinations(map(candidates, value.arguments), 2)
            forms = [a + -b for first, second in pairs for a, b in product(first, second)]
    return polys + [poly for form in forms for poly in (form.numerator_flat(), form.denominator) if not poly.is_zero()]


def resolve(value: Selected, sign: Signs) -> Parametric:
    """Return the closed form without min, max and abs that equals `value` wherever functions of eps have given signs.

    `sign` returns the sign of a function of eps. It is the sign at one eps, or on an interval between neighboring roots
    of the functions in `conditions(value)`, on which one closed form is valid. Raises ZeroDivisionError if a divisor is
    0.
    """
    if isinstance(value, Parametric):
        return value
    best, *rest = forms = [resolve(argument, sign) for argument in value.arguments]
    match value.operator:
        case Operator.ABS:
            return -best if _sign_of(best, sign) < 0 else best
        case Operator.MIN | Operator.MAX as operator:
            for form in rest:
                difference = _sign_of(form + -best, sign)
                if difference < 0 if operator is Operator.MIN else difference > 0:
                    best = form
            return best
    return _applied(value.operator, forms)


def _sign_of(form: Parametric, sign: Signs) -> int:
    numerator, below = form.numerator_flat(), sign(form.denominator)
    if not below:
        raise ZeroDivisionError
    return 0 if numerator.is_zero() else sign(numerator) * below

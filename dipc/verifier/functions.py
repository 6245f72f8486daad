"""Closed forms: exponential polynomials in eps and their quotients.

An exponential polynomial Σ c·eps^k·e^{q·eps} over the rationals is a dictionary (k, q) -> c without zeros. Since its
monomials are linearly independent, `==` decides whether two are equal. No function here changes its arguments.

In a certificate a function is the list of its terms [k, "q", "c"], with all numbers in lowest terms. A quotient is
{"numerator": terms, "denominator": terms}, with a positive denominator. Readers raise Rejected for malformed or too
long data; products of long functions are charged to a `Budget`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import gcd, lcm
from typing import TypeVar

from dipc.verifier import reading as read
from dipc.verifier.reading import Budget, Exhausted, Rejected

T = TypeVar("T")

#: The numbers of the forms that contain a variable, with its coefficients as multiples of the first one.
Direction = tuple[tuple[int, Fraction], ...]


def connected(items: Iterable[T], names: Callable[[T], Iterable[int]]) -> list[tuple[set[int], list[T]]]:
    """Group `items` that share names, directly or through other items; `names` returns the names of an item.

    Each group is (the set of all its names, its items in their original order).
    """
    groups: list[tuple[set[int], list[T]]] = []
    for one in items:
        own, members = set(names(one)), [one]
        for group in [group for group in groups if group[0] & own]:
            groups.remove(group)
            own |= group[0]
            members = [*group[1], *members]
        groups.append((own, members))
    return groups


def by_direction(forms: Iterable[Iterable[tuple[int, int]]]) -> dict[Direction, list[tuple[int, int]]]:
    """Group the variables of `forms`, lists of (variable, coefficient), whose coefficients are proportional.

    Two variables are in one group if their coefficients have the same ratio in every form, such as x and y in x + 2·y
    and 3·x + 6·y. A group lists pairs of a variable and its coefficient in the first form that contains it. The key of
    the group has the coefficients of one of its variables in all forms, divided by the coefficient in the pair.
    """
    columns: dict[int, list[tuple[int, int]]] = {}
    for number, form in enumerate(forms):
        for i, c in form:
            columns.setdefault(i, []).append((number, c))
    alike: dict[Direction, list[tuple[int, int]]] = {}
    for i, column in sorted(columns.items()):
        first = column[0][1]
        alike.setdefault(tuple((number, Fraction(c, first)) for number, c in column), []).append((i, first))
    return alike


# === ring ======================================================================================

#: The terms c·eps^k·e^{q·eps} of a sum as (k, q) -> c; every c is nonzero.
Ring = dict[tuple[int, Fraction], Fraction]

#: The terms c·eps^k·e^{q·eps/scale} of a sum, for one integer `scale`, as (q, k) -> c, with integers q and c.
Integral = dict[tuple[int, int], int]

#: A quotient (numerator, denominator); the denominator of an exponential polynomial is {(0, 0): 1}.
Closed = tuple[Ring, Ring]

#: The highest power of eps that is read, and the most terms of a function that is read or computed.
MOST_POWER = 10_000
MOST_TERMS = 200_000

#: The longest quotient that a division finds, and the most bits of its numbers.
MOST_QUOTIENT = 200
MOST_QUOTIENT_BITS = 8_192

#: The most keys with one hash, and the bits up to which exponents have different hashes.
MOST_ALIKE = 20
SHORT_BITS = 20

#: The bits up to which integers are their own hashes.
SHORT_INTEGER_BITS = 60

#: The steps for one term of a product, besides its pairs: two rational numbers, and their memory.
_STEPS_OF_A_TERM = 8

ZERO = Fraction(0)
ONE: Ring = {(0, ZERO): Fraction(1)}


# --- arithmetic ------------------------------------------------------------------------------------


def hash_guard() -> Callable[[tuple[int, Fraction | int]], None]:
    """Return a function to be called with each key before a dictionary looks it up.

    The function raises Rejected if too many keys have one hash, which would make every look-up slow. Python's hash of a
    rational is its residue modulo a prime, so two short rationals never share a hash.
    """
    alike: dict[int, list[tuple[int, Fraction | int]]] = {}

    def check(key: tuple[int, Fraction | int]) -> None:
        if is_long(key[1]):
            known = alike.setdefault(hash(key), [])
            if key not in known:
                known.append(key)
            if len(known) > MOST_ALIKE:
                raise Rejected("the exponents of a function take too long to compare")

    return check


def is_long(q: Fraction | int) -> bool:
    """True if the exponent `q` is so long that another exponent may have the same hash."""
    return max(q.numerator.bit_length(), q.denominator.bit_length()) > SHORT_BITS


def constant(value: Fraction | int) -> Ring:
    """Return the constant function `value`."""
    return {(0, ZERO): Fraction(value)} if value else {}


def collected(terms: Iterable[tuple[int, Fraction, Fraction]]) -> Ring:
    """Return the sum of c·eps^k·e^{q·eps} over the triples (k, q, c) of `terms`; equal (k, q) are added up."""
    result: Ring = {}
    for k, q, c in terms:
        result[k, q] = result.get((k, q), ZERO) + c
    return {key: c for key, c in result.items() if c}


def common_multiple(numbers: Iterable[int], budget: Budget) -> int:
    """Return the least common multiple of the positive `numbers`. Charges the cost of its growth to `budget`."""
    result = 1
    for number in numbers:
        if result % number:
            budget.spend(2, result.bit_length() + number.bit_length())
            result = lcm(result, number)
    return result


def height(f: Ring) -> int:
    """Return the bits of the longest coefficient of `f`, with numerator and denominator counted together."""
    return max((c.numerator.bit_length() + c.denominator.bit_length() for c in f.values()), default=0)


def add(f: Ring, g: Ring) -> Ring:
    """Return `f` + `g`."""
    result = dict(f)
    for key, c in g.items():
        total = result.get(key, ZERO) + c
        if total:
            result[key] = total
        else:
            del result[key]
    return result


def times(f: Ring, factor: Fraction | int) -> Ring:
    """Return `factor`·`f`."""
    return {key: c * factor for key, c in f.items()} if factor else {}


def subtract(f: Ring, g: Ring) -> Ring:
    """Return `f` - `g`."""
    return add(f, times(g, -1))


def multiply(f: Ring, g: Ring, budget: Budget) -> Ring:
    """Return `f`·`g`. Charges its work to `budget`."""
    if f == ONE or g == ONE:
        return g if f == ONE else f
    unit, other = _common_denominator(f, budget), _common_denominator(g, budget)
    scale = common_multiple((q.denominator for h in (f, g) for _, q in h), budget)
    budget.spend(len(f) + len(g), scale.bit_length())
    first, second = _integer_terms(f, scale, unit), _integer_terms(g, scale, other)
    bits = sum(max((c.bit_length() for _, _, c in terms), default=0) for terms in (first, second))
    budget.spend(2 * len(f) * len(g) + 4 * (len(f) + len(g)), bits + unit.bit_length() + other.bit_length())
    # Integers are much faster than fractions, both in sums and as keys.
    sums: dict[tuple[int, int], int] = {}
    check_hash = (
        hash_guard() if any(q.bit_length() >= SHORT_INTEGER_BITS for h in (first, second) for _, q, _ in h) else None
    )
    for k, q, c in first:
        for j, p, d in second:
            key = (k + j, q + p)
            if check_hash is not None:
                check_hash(key)
            sums[key] = sums.get(key, 0) + c * d
        if len(sums) > MOST_TERMS:
            raise Exhausted(f"checking takes functions of more than {MOST_TERMS} terms")
    unit *= other
    budget.spend(_STEPS_OF_A_TERM * len(sums), unit.bit_length())
    return {(k, Fraction(q, scale)): Fraction(c, unit) for (k, q), c in sums.items() if c}


def _common_denominator(f: Ring, budget: Budget) -> int:
    unit = common_multiple((c.denominator for c in f.values()), budget)
    budget.spend(len(f), unit.bit_length() + height(f))
    return unit


def _integer_terms(f: Ring, scale: int, unit: int) -> list[tuple[int, int, int]]:
    """Return (k, q·`scale`, c·`unit`) for each term c·eps^k·e^{q·eps} of `f`; all of these must be integers."""
    return [
        (k, q.numerator * (scale // q.denominator), c.numerator * (unit // c.denominator)) for (k, q), c in f.items()
    ]


def derivative(f: Ring) -> Ring:
    """Return the derivative of `f` with respect to eps."""
    falling = ((k - 1, q, c * k) for (k, q), c in f.items() if k)
    growing = ((k, q, c * q) for (k, q), c in f.items() if q)
    return collected([*falling, *growing])


# --- quotients -------------------------------------------------------------------------------------


def divided(f: Ring, g: Ring, budget: Budget) -> Ring | None:
    """Return the quotient h with `f` = `g`·h, where `g` is not 0; None if there is no such function.

    None is also returned if h has too many terms, or if a coefficient of `f`, `g` or h is too long. Charges its work to
    `budget`.
    """
    if not f:
        return {}
    if max(height(f), height(g)) > MOST_QUOTIENT_BITS:
        return None
    scale = common_multiple((q.denominator for h in (f, g) for _, q in h), budget)
    budget.spend(len(f) + len(g), scale.bit_length())
    (unit, numerator), (other, divisor) = integral(f, scale, budget), integral(g, scale, budget)
    common = gcd(*divisor.values())
    factor = Fraction(other, unit * common)
    most = MOST_QUOTIENT_BITS + factor.numerator.bit_length() + factor.denominator.bit_length()
    primitive = {key: d // common for key, d in divisor.items()}
    quotient = integer_quotient(numerator, primitive, budget, most_terms=MOST_QUOTIENT, most_bits=most)
    if quotient is None:
        return None
    result = {(k, Fraction(q, scale)): c * factor for (q, k), c in quotient.items()}
    bits = (max(c.numerator.bit_length(), c.denominator.bit_length()) for c in result.values())
    return None if any(each > MOST_QUOTIENT_BITS for each in bits) else result


def integer_quotient(
    numerator: Integral, divisor: Integral, budget: Budget, most_terms: int | None = None, most_bits: int | None = None
) -> Integral | None:
    """Return `numerator`/`divisor`, or None if the quotient is not a function with integer coefficients.

    The coefficients of `divisor` are coprime. By Gauss's lemma, which holds for any powers of eps and of one e^{q·eps},
    a quotient that exists has integer coefficients. If the division leaves a remainder, there is no quotient. None is
    also returned for a quotient with more than `most_terms` terms, or with a coefficient of more than `most_bits` bits.
    Charges its work to `budget`.
    """
    if not numerator:
        return {}
    # Both where eps and e^{eps} are 1, as powers alone count.
    value = sum(divisor.values())
    budget.spend(len(numerator) + len(divisor))
    if value and sum(numerator.values()) % value:
        return None
    rest = dict(numerator)
    lead, last, lowest = max(divisor), min(divisor), min(rest)
    end = lowest[0] - last[0], lowest[1] - last[1]
    check_hash = hash_guard() if any(q.bit_length() >= SHORT_INTEGER_BITS for q, _ in (*rest, *divisor)) else None
    waiting = [(-q, -k) for q, k in rest]
    heapify(waiting)
    quotient: Integral = {}
    while rest and (most_terms is None or len(quotient) < most_terms):
        least = heappop(waiting)
        top = -least[0], -least[1]
        if top not in rest:
            continue
        q, k = top[0] - lead[0], top[1] - lead[1]
        if k < 0 or (q, k) < end:
            return None
        budget.spend(8 * len(divisor) + 2 * len(rest))
        c, left = divmod(rest[top], divisor[lead])
        if left or (most_bits is not None and c.bit_length() > most_bits):
            return None
        quotient[q, k] = c
        for (p, j), d in divisor.items():
            key = q + p, k + j
            if check_hash is not None:
                check_hash((key[1], key[0]))
            before = rest.get(key)
            total = (before or 0) - c * d
            if total:
                rest[key] = total
                if before is None:
                    heappush(waiting, (-key[0], -key[1]))
            elif before is not None:
                del rest[key]
    return None if rest else quotient


def integral(f: Ring, scale: int, budget: Budget) -> tuple[int, Integral]:
    """Return (n, coefficients): the function `f` times n, which has integer coefficients.

    The coefficient of eps^k·e^{q·eps} has the key (q·`scale`, k). Charges its work to `budget`.
    """
    unit = _common_denominator(f, budget)
    return unit, {(q, k): c for k, q, c in _integer_terms(f, scale, unit)}


def add_closed(f: Closed, g: Closed, budget: Budget) -> Closed:
    """Return `f` + `g`, over the denominator of one of them if the denominator of the other divides it.

    Charges its work to `budget`.
    """
    if f[1] == g[1]:
        return _added(f[0], g[0], budget), f[1]
    for one, other in ((f, g), (g, f)):
        factor = divided(one[1], other[1], budget)
        if factor is not None:
            return _added(one[0], multiply(other[0], factor, budget), budget), one[1]
    left, right = multiply(f[0], g[1], budget), multiply(g[0], f[1], budget)
    return _added(left, right, budget), multiply(f[1], g[1], budget)


def _added(f: Ring, g: Ring, budget: Budget) -> Ring:
    budget.spend(1 + len(f) // 16 + len(g), height({key: f[key] for key in g.keys() & f.keys()}) + height(g))
    return add(f, g)


def multiply_closed(f: Closed, g: Closed, budget: Budget) -> Closed:
    """Return `f`·`g`. Charges its work to `budget`."""
    return multiply(f[0], g[0], budget), multiply(f[1], g[1], budget)


def equal_closed(f: Closed, g: Closed, budget: Budget) -> bool:
    """True if `f` and `g` are the same function; neither denominator may be the zero function.

    Charges its work to `budget`.
    """
    if f[1] == g[1]:
        return f[0] == g[0]
    return multiply(f[0], g[1], budget) == multiply(g[0], f[1], budget)


# --- data ------------------------------------------------------------------------------------------


def read_ring(data: object) -> Ring:
    """Read an exponential polynomial from `data`, the list of its terms [k, "q", "c"].

    Raises Rejected for other data.
    """
    result: Ring = {}
    check_hash = hash_guard()
    read_term = read.tuple_of(read.up_to(MOST_POWER), read.rational, read.rational)
    for number, term in enumerate(read.items(data, MOST_TERMS), start=1):
        if type(term) is list and len(term) == 3 and type(term[0]) is int and not term[0]:
            # Most terms have no power of eps, and a document has many terms.
            k, q, c = 0, read.rational(term[1]), read.rational(term[2])
        else:
            k, q, c = read_term(term)
        if is_long(q):
            check_hash((k, q))
        if not c:
            raise Rejected("a term has the coefficient 0")
        result[k, q] = c
        if len(result) < number:
            raise Rejected(f"a term with eps^{k} occurs twice")
    return result


def read_closed(data: object) -> Closed:
    """Read the numerator and the denominator of a function from its JSON `data`.

    Raises Rejected if `data` is not such a function, or if its denominator is the zero function. A caller that needs a
    positive denominator must prove that it is positive.
    """
    if not isinstance(data, dict):
        return read_ring(data), ONE
    above, below = read.fields(data, {"numerator": read_ring, "denominator": read_ring})
    if not below:
        raise Rejected("a denominator is 0")
    return above, below


def closed_text(value: Closed) -> str:
    """Return `value` as an expression in eps: `1/9*exp(-eps)` or `(1 + 2*eps^2)/(1 + exp(-1/2*eps))`."""
    above, below = (_ring_text(ring) for ring in value)
    if value[1] == ONE:
        return above
    return f"({above})/({below})"


def _ring_text(terms: Ring) -> str:
    if not terms:
        return "0"
    texts: list[str] = []
    for (k, q), c in sorted(terms.items(), key=lambda item: (-item[0][1], item[0][0])):
        powers = [] if not k else ["eps"] if k == 1 else [f"eps^{k}"]
        if q:
            rate = "eps" if q == 1 else "-eps" if q == -1 else f"{q}*eps"
            powers.append(f"exp({rate})")
        size = abs(c)
        factors = powers if size == 1 and powers else [str(size), *powers]
        sign = ("-" if c < 0 else "") if not texts else (" - " if c < 0 else " + ")
        texts.append(sign + "*".join(factors))
    return "".join(texts)


# === decay =====================================================================================

_MOST_DERIVATIVES = 50


def positive_everywhere(function: Ring, budget: Budget) -> bool:
    """True only if `function` is > 0 for every eps > 0. False proves nothing.

    A function is positive if all its coefficients are. It is also positive if its value at 0 is not negative and its
    derivative is positive. Before each derivative, the function is multiplied by e^{-q·eps} for the exponent q of a
    negative term, so that the negative terms vanish one after the other. Charges its work to `budget`.
    """
    for _ in range(_MOST_DERIVATIVES):
        budget.spend(4 * len(function) + 4)
        negative = [key for key, c in function.items() if c < 0]
        if not negative:
            return bool(function)
        _, q = min(negative, key=lambda key: (key[0], -key[1]))
        function = {(k, p - q): c for (k, p), c in function.items()}
        if sum(c for (k, _), c in function.items() if not k) < 0:
            return False
        function = derivative(function)
    return False

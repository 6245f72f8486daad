"""Random proofs of signs: what `signs.py` accepts is true, by values with many digits, which share no code with it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from dipc.verifier.functions import Ring, add, constant, derivative, multiply, times
from dipc.verifier.reading import Budget, Exhausted, Rejected
from dipc.verifier.signs import factor_signs, prove_chart, prove_nonnegative

Range = tuple[Fraction, Fraction | None]

_ONE = Fraction(1)
_TINY = tuple(Fraction(1, 10**n) for n in (2, 6, 9, 12, 24))
_METHODS = ("zero", "value", "value", "slope", "crossing", "infinity")


def value(function: Ring, eps: Fraction) -> Any:
    """The value of a function at eps, with the digits of mpmath's context."""
    return mpmath.fsum(
        mpmath.mpf(c.numerator) / c.denominator * x**k * mpmath.exp(x * q.numerator / q.denominator)
        for x in [mpmath.mpf(eps.numerator) / eps.denominator]
        for (k, q), c in function.items()
    )


def rational(chance: random.Random, high: int = 4) -> Fraction:
    return Fraction(chance.randint(1, high * 6), chance.randint(1, 6))


def terms(chance: random.Random, size: int) -> Ring:
    """A random function with small coefficients, some of whose exponents or powers occur again."""
    result: Ring = {}
    for _ in range(size):
        key = chance.randint(0, 3), Fraction(chance.randint(-6, 2), chance.choice((1, 1, 2, 3)))
        result = add(result, {key: Fraction(chance.choice((-3, -2, -1, 1, 2, 3)), chance.choice((1, 1, 2, 7)))})
    return result


def function(chance: random.Random, root: Fraction) -> Ring:
    """A random function: at random, nearly with a double root, or nearly 0 of some order at 0 or infinity."""
    kind = chance.randrange(5)
    if kind == 0:
        return terms(chance, chance.randint(1, 6))
    budget = Budget()
    if kind == 1:  # (eps - root)^2 is raised or lowered a little, times a positive function.
        base: Ring = {(1, Fraction(0)): _ONE, (0, Fraction(0)): -root}
        base = add(multiply(base, base, budget), constant(chance.choice((-1, 1)) * chance.choice(_TINY)))
        return multiply(base, {(chance.randint(0, 2), Fraction(chance.randint(-3, 1))): _ONE}, budget)
    if kind == 2:  # The same of e^{-eps} - c, where c is nearly e^{-root}.
        with mpmath.workdps(60):
            near = Fraction(int(mpmath.exp(-mpmath.mpf(root.numerator) / root.denominator) * 10**40), 10**40)
        base = {(0, Fraction(-1)): _ONE, (0, Fraction(0)): -near}
        return add(multiply(base, base, budget), constant(chance.choice((-1, 1)) * chance.choice(_TINY) ** 2))
    if kind == 3:  # 1 - eps + ... - e^{-eps}, and a little of another power.
        order = chance.randint(1, 4)
        total: Ring = {(0, Fraction(-1)): -_ONE}
        factorial = 1
        for k in range(order + 1):
            factorial *= max(k, 1)
            total = add(total, {(k, Fraction(0)): Fraction((-1) ** k, factorial)})
        little = {(chance.randint(0, order + 1), Fraction(chance.randint(-2, 0))): chance.choice(_TINY)}
        return add(times(total, chance.choice((-1, 1))), times(little, chance.choice((-1, 1))))
    # A leading term that others exceed for long.
    leading: Ring = {(chance.randint(0, 2), Fraction(0)): chance.choice(_TINY)}
    return add(times(leading, chance.choice((-1, 1))), times(terms(chance, 3), chance.choice((-1, 1))))


def ends(chance: random.Random, within: Range, root: Fraction) -> Iterator[Fraction | None]:
    """The upper ends of some pieces: at random, and near the root."""
    high = within[0] + 8 if within[1] is None else within[1]
    points = {within[0] + (high - within[0]) * Fraction(chance.randint(1, 63), 64) for _ in range(chance.randint(0, 5))}
    if chance.random() < 0.7:
        points |= {root + side * chance.choice(_TINY) for side in (-1, 1)}
    yield from sorted(point for point in points if within[0] < point < high)
    if within[1] is None:
        yield high
    yield within[1]


def evidence(chance: random.Random, f: Ring, within: Range, root: Fraction) -> list[dict[str, Any]]:
    """Pieces with mostly plausible methods and signs."""
    pieces: list[dict[str, Any]] = []
    position = within[0]
    slope = derivative(f)
    for end in ends(chance, within, root):
        here = position or Fraction(1, 10**6)
        middle = here + 1 if end is None else (position + end) / 2
        sign = 1 if value(f, here) > 0 else -1
        if chance.random() < 0.03:
            sign = -sign
        method = chance.choice(_METHODS)
        if chance.random() < 0.9:
            options = ["zero"] if not position else ["infinity"] if end is None else ["value", "slope", "value"]
            if position and end is not None and (value(f, end) > 0) is (sign < 0):
                options = ["crossing"]
            method = chance.choice(options)
        piece: dict[str, Any] = {"method": method, "sign": sign, "to": str(end), "bits": chance.choice((0, 20, 100))}
        if method == "zero":
            orders = [n for n in range(6) if abs(value(_nth(f, n), Fraction(0))) > mpmath.mpf(10) ** -50]
            piece["order"] = orders[0] if orders and chance.random() < 0.95 else chance.randint(0, 5)
            del piece["bits"]
        if method == "infinity":
            del piece["bits"], piece["to"]
        if method == "slope":
            # The exponential with the greatest exponent is taken out first.
            top = max(q for _, q in f)
            own = derivative({(k, q - top): c for (k, q), c in f.items()})
            piece["slope"] = 1 if value(own or slope, middle) > 0 else -1
        pieces.append(piece)
        position = end if end is not None else position
    return pieces


def _nth(f: Ring, n: int) -> Ring:
    for _ in range(n):
        f = derivative(f)
    return f


def samples(chance: random.Random, within: Range, root: Fraction) -> list[Fraction]:
    """Points inside of the interval: spread evenly and geometrically, and near the root, 0 and both ends."""
    low, high = within[0], within[0] + 200 if within[1] is None else within[1]
    points = [low + (high - low) * Fraction(n, 40) for n in range(1, 40)]
    points += [low + Fraction(n, 10**k) for k in (1, 2, 4, 8, 16) for n in (1, 3)]
    points += [high - Fraction(1, 10**k) for k in (1, 4, 8)]
    points += [root, *(root + side * size / 3 for size in _TINY for side in (-1, 1))]
    points += [low + (high - low) * Fraction(chance.randint(1, 999), 1000) for _ in range(10)]
    return [point for point in points if low < point < high]


def attempts(seed: int, count: int) -> Counter[str]:
    """Submit `count` random proofs, and compare each that is accepted with values; return how many were accepted."""
    chance = random.Random(seed)
    found: Counter[str] = Counter()
    for _ in range(count):
        root = rational(chance)
        f = function(chance, root)
        if not f:
            continue
        low = chance.choice((Fraction(0), Fraction(0), rational(chance, 1), max(root - 1, Fraction(0))))
        within: Range = (low, chance.choice((None, low + rational(chance), root if root > low else None)))
        pieces = evidence(chance, f, within, root)
        what = seed, f, within, pieces
        try:
            signs = factor_signs(f, pieces, within, Budget(3_000_000))
        except (Rejected, Exhausted):
            found["rejected"] += 1
            continue
        changes = [piece["method"] for piece in pieces].count("crossing")
        assert len(signs.roots) == changes
        for eps in samples(chance, within, root):
            if any(one[0] <= eps <= one[1] for one in signs.roots):
                continue
            wanted = signs.left * (-1) ** sum(one[1] < eps for one in signs.roots)
            assert value(f, eps) * wanted > 0, (what, eps)
        found["with roots" if changes else "without roots"] += 1
        found.update({piece["method"] for piece in pieces})
        _compare_products(chance, f, pieces, within, root, what)
    return found


def _compare_products(
    chance: random.Random, f: Ring, pieces: list[dict[str, Any]], within: Range, root: Fraction, what: object
) -> None:
    """Submit products with a power of `f`, for all checks of products."""
    multiplicity = chance.choice((1, 1, 2, 3))
    stated = [{"function": data(f), "multiplicity": multiplicity, "evidence": pieces}]
    whole: Ring = constant(1)
    for _ in range(multiplicity):
        whole = multiply(whole, f, Budget())
    if chance.random() < 0.5:
        line = {(1, Fraction(0)): chance.choice((-_ONE, _ONE)), (0, Fraction(0)): root * chance.choice((-1, 1))}
        power = chance.choice((1, 2))
        stated.append({"function": data(line), "multiplicity": power, "evidence": None})
        for _ in range(power):
            whole = multiply(whole, line, Budget())
    for check in (prove_nonnegative, prove_chart):
        try:
            check(stated, whole, within, Budget(3_000_000))
        except (Rejected, Exhausted):
            continue
        if check is prove_nonnegative:
            assert all(not _is_negative(whole, eps) for eps in samples(chance, within, root)), what


def _is_negative(f: Ring, eps: Fraction) -> bool:
    """Whether f(eps) < 0 by more than what is rounded."""
    size = value({key: abs(c) for key, c in f.items()}, eps)
    return bool(value(f, eps) < -size * mpmath.mpf(10) ** -90)


def data(f: Ring) -> list[list[Any]]:
    return [[k, str(q), str(c)] for (k, q), c in f.items()]


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 12))])
def test_what_random_proofs_show_is_true(seed: int) -> None:
    with mpmath.workdps(100):
        found = attempts(seed, 60)
    assert all(found[kind] >= least for kind, least in (("rejected", 5), ("without roots", 5))), found

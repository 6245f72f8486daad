"""The roots and signs of one factor for t > 0: near 0, on a compact interval, near infinity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, count, islice
from math import factorial

from dipc.algebra.limits import DecisionBudget, Limits
from dipc.frozen import frozen
from dipc.sign.polynomial import (
    LOG2E_LOW,
    LOG2E_SCALE,
    Layout,
    Polynomial,
    magnitude_at,
    point_value,
    rational_root,
    sign_at_point,
)
from dipc.sign.taylor import (
    Subinterval,
    TaylorModel,
    least_order,
    needed_bits,
    sign_by_partial_sums,
    subintervals,
    taylor_model,
)

# --- The sign near 0: the order of vanishing from exact Taylor coefficients, and a radius on which the sign holds -----

#: Taylor coefficients used after the first nonzero one.
_EXTRA_TERMS = 20
_GUARD_BITS = 40
#: The n of the largest radius 2^-n that is tried.
_LEAST_SHIFT = -8


@frozen
class EndSign:
    """The proved sign of a function F of t near an end of t > 0: F has the sign `sign`, and no root, up to `bound`.

    The interval is (0, `bound`] near 0, and [`bound`, inf) near infinity. F grows there like t^`power`.
    """

    power: int
    bound: Fraction
    sign: int


def near_zero(layout: Layout, budget: DecisionBudget) -> EndSign:
    """The sign of the function F of `layout` on some interval (0, r].

    F is not zero, so its first Taylor coefficients are not all 0. Raises LimitReached if the work exceeds `budget`.

    Proof. Let a_n be the Taylor coefficients of F at 0, and a_m the first that is not 0.

    1. Let S_k be the sum of a_n·r^(n - m) over n <= k. From k = m to some K, all S_k have one sign.
    2. Each of these |S_k| is larger than an upper bound B of the sum of |a_n|·r^(n - m) over n > K.
    3. On (0, r], F(t)/t^m is a weighted mean of these S_k plus a number between -B and B, so it has this sign. ∎
    """
    coefficients = taylor_coefficients(layout)
    order, first = first_nonzero(coefficients, budget)
    top = layout.exponents[-1]
    last = max(order + _EXTRA_TERMS, layout.degree)
    numbers = [first, *islice(coefficients, last - order)]
    # radius = 2^-shift: approximately 2/top first, then smaller until the sign is proved, or larger while it is.
    shift = top.bit_length() - 2 if top else 0
    best = _prove(layout, numbers, order, last, shift)
    step = 1 if best is None else -1
    while True:
        shift += step
        proved = _prove(layout, numbers, order, last, shift)
        if step > 0 and proved is not None:
            return proved
        if step < 0 and (proved is None or shift < _LEAST_SHIFT):
            assert best is not None
            return proved or best
        best = proved
        budget.spend_interval()


def taylor_coefficients(layout: Layout) -> Iterator[int]:
    """Yield the integers n!·a_n for n = 0, 1, 2, …, where a_n is the n-th Taylor coefficient at 0 of a function.

    The function is that of `layout`.
    """
    rows = [
        (k, [-layout.exponents[i] for i in positions], list(coefficients))
        for k, (positions, coefficients) in enumerate(layout.columns)
        if coefficients
    ]
    for n in count():
        total = 0
        for k, exponents, values in rows:
            if n < k:
                continue
            if n > k:
                values[:] = map(int.__mul__, values, exponents)
            # t^k·Σ c·e^{-jt} has the n-th derivative n!/(n-k)!·Σ c·(-j)^{n-k} at 0.
            total += sum(values) * (factorial(n) // factorial(n - k))
        yield total


def first_nonzero(coefficients: Iterator[int], budget: DecisionBudget) -> tuple[int, int]:
    """Return the first of the Taylor `coefficients` that is not 0, as a pair (its index, its value).

    Raises LimitReached if more of them are 0 before it than `budget` allows.
    """
    order = 0
    while not (value := next(coefficients)):
        order += 1
        budget.check_taylor_terms(order)
    return order, value


def _prove(layout: Layout, numbers: list[int], order: int, last: int, shift: int) -> EndSign | None:
    """The proof of the sign of a function F on (0, 2^-`shift`], or None if this radius is too large for the proof.

    F is the function of `layout`. `numbers` are the integers n!·a_n for n = `order` to `last`, where a_n is the n-th
    Taylor coefficient of F at 0.
    """
    bits = max(0, _GUARD_BITS + factorial(order).bit_length() - abs(numbers[0]).bit_length())
    tail = _tail(layout, order, last, shift, bits)
    if tail is None:
        return None
    fact = factorial(order)
    terms: list[int] = []
    for i, number in enumerate(numbers):
        if i:
            fact *= order + i
        # a_n·radius^{n - order}, rounded down to a multiple of 2^-bits.
        move = bits - shift * i
        terms.append((number << move) // fact if move >= 0 else number // (fact << -move))
    sums = list(accumulate(terms))
    # Rounding makes every partial sum too small by less than one unit for each of its terms.
    slack = len(terms) + tail
    sign = (min(sums) > slack) - (max(sums) < -slack)
    if not sign:
        return None
    radius = Fraction(1, 1 << shift) if shift >= 0 else Fraction(1 << -shift)
    return EndSign(order, radius, sign)


def _tail(layout: Layout, order: int, last: int, shift: int, bits: int) -> int | None:
    """An upper bound of 2^`bits`·Σ_{n > `last`} |a_n|·r^{n - `order`} with r = 2^-`shift`, or None if r is too large.

    a_n are the Taylor coefficients at 0 of the function of `layout`. A term c·t^k·e^{-jt} contributes at most
    |c|·r^k·Σ_{i >= m} (j·r)^i/i! with m = last + 1 - k. This sum is at most twice its first term if j·r is at most (m +
    1)/2. If j·r may be larger for some term, r is too large.
    """
    top = layout.exponents[-1]
    if not top:
        return 0
    total = 1
    for k, norm in enumerate(layout.norms):
        if not norm:
            continue
        first = last + 1 - k
        reach = top << 1 if shift <= 0 else top << 1 >> shift
        if (reach << -shift if shift < 0 else reach + 1) > first + 1:
            return None
        # norm·r^k·2·(top·r)^first/first! / r^order
        move = bits - shift * (first + k - order)
        numerator = 2 * norm * top**first
        total += (numerator << move if move >= 0 else numerator >> -move) // factorial(first) + 2
    return total


# --- The sign near infinity: a bound past which the leading term dominates --------------------------------------------

_GUARD_BITS_AT_INFINITY = 16
#: The n of the least bound 2^n that is tried.
_LEAST_EXPONENT = -40


def at_infinity(layout: Layout, budget: DecisionBudget) -> EndSign:
    """The sign of the function of `layout` on some interval [B, inf), where B is a power of 2.

    Raises LimitReached if the work exceeds `budget`.

    Proof. The leading term is c·t^d: the one without a factor e^{-j·t} and with the highest power. On [B, inf) each
    other term divided by t^d decreases in absolute value, and at t = B these quotients add up to less than |c|. ∎
    """
    degree = max(k for j, k, _ in layout.polynomial.terms if j == 0)
    leading = next(c for j, k, c in layout.polynomial.terms if j == 0 and k == degree)
    others = [(j, k - degree, abs(c)) for j, k, c in layout.polynomial.terms if j or k != degree]
    sign = 1 if leading > 0 else -1
    exponent = 2
    down = _dominates(abs(leading), others, exponent)
    while True:
        budget.spend_interval()
        exponent += -1 if down else 1
        proved = _dominates(abs(leading), others, exponent)
        if proved and (not down or exponent <= _LEAST_EXPONENT):
            break
        if down and not proved:
            exponent += 1
            break
    bound = Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)
    return EndSign(degree, bound, sign)


def _dominates(leading: int, others: list[tuple[int, int, int]], exponent: int) -> bool:
    """True only if |`leading`| > Σ size·B^power·e^{-j·B} for B = 2^`exponent`, and each summand decreases beyond B.

    The summands are given by the triples (j, power, size) in `others`.
    """
    limit = leading << _GUARD_BITS_AT_INFINITY
    total = 0
    for j, power, size in others:
        # t^power·e^{-jt} decreases from power/j on.
        if power > 0 and (power << -exponent if exponent < 0 else power) > (j << exponent if exponent > 0 else j):
            return False
        decay = LOG2E_LOW * j
        decay = (decay << exponent if exponent >= 0 else decay >> -exponent) // LOG2E_SCALE
        move = _GUARD_BITS_AT_INFINITY + power * exponent - decay
        # Rounded up to a multiple of 2^-_GUARD_BITS.
        total += (size << move) if move >= 0 else (size >> min(-move, size.bit_length())) + 1
        if total >= limit:
            return False
    return True


# --- Cover an interval by pieces on which the sign of F, or of its derivative, is proved ------------------------------

#: Bits by which |F| at the left end of the first model exceeds the model's unit; doubled where necessary.
_FIRST_BITS = 20
#: A wider model is not tried where it takes more powers than this, and more than this part of the needed bits.
_MOST_TERMS = 64
_TERMS_PER_BIT = Fraction(2, 5)
#: The bits from which a multiple root is suspected.
_SUSPICIOUS_BITS = 80


@frozen
class CoverPiece:
    """An interval [`lower`, `upper`] of t on which a function F has no root, or exactly one.

    `sign` is the sign of F at the lower end. If `crosses`, F has one root, simple and inside, and the opposite sign at
    the upper end; otherwise F has the sign `sign` on the whole interval. If `slope` is 1 or -1, the derivative F' has
    this sign on the whole interval. A Taylor polynomial with errors near 2^-`bits` proves the sign of F' if `slope` is
    not 0, and otherwise that of F.
    """

    lower: Fraction
    upper: Fraction
    sign: int
    slope: int
    bits: int
    crosses: bool = False

    @property
    def end_signs(self) -> tuple[int, int]:
        """The signs of F at the lower and the upper end."""
        return self.sign, -self.sign if self.crosses else self.sign


def cover(
    layout: Layout, lower: Fraction, upper: Fraction, budget: DecisionBudget, on_suspicion: Callable[[], None]
) -> list[CoverPiece]:
    """Cut the interval from `lower` to `upper` into pieces, on each of which a function F has no root or exactly one.

    F is the function of `layout`. Each piece begins where the one before ends. Needs 0 < lower < upper and an F that is
    0 at no rational point. The search ends if F has simple roots only. When a multiple root is suspected,
    `on_suspicion` is called once; an exception that it raises ends the search. Raises LimitReached if the work exceeds
    `budget`.
    """
    worker = _CoverSearch(layout, budget, on_suspicion)
    worker.solve(lower, upper, _FIRST_BITS)
    _check_joined(worker.result, lower, upper)
    return worker.result


def _check_joined(pieces: list[CoverPiece], lower: Fraction, upper: Fraction) -> None:
    """Assert that `pieces` follow each other from `lower` to `upper`, with the same sign where two of them meet."""
    position, sign = lower, 0
    for piece in pieces:
        left, right = piece.end_signs
        assert piece.lower == position
        assert left == sign or not sign
        position, sign = piece.upper, right
    assert position == upper


class _CoverSearch:
    def __init__(self, layout: Layout, budget: DecisionBudget, on_suspicion: Callable[[], None]) -> None:
        self.layout = layout
        self.budget = budget
        self.on_suspicion: Callable[[], None] | None = on_suspicion
        self.result: list[CoverPiece] = []

    def solve(self, lower: Fraction, upper: Fraction, precision: int) -> None:
        magnitude = magnitude_at(self.layout, lower, self.budget)
        while lower < upper:
            bits = precision - magnitude
            end, need, order = self._reach(lower, upper, bits)
            self.budget.check_bits(need)
            self.budget.spend_interval(order * (need + self.layout.exponents[-1].bit_length()))
            model = taylor_model(self.layout, lower, end, bits, need, order)
            sign = sign_by_partial_sums(model)
            if sign:
                self.result.append(CoverPiece(lower, end, sign, 0, model.bits))
                magnitude = abs(sum(model.coefficients)).bit_length() - model.bits
            else:
                self._subdivide(model, precision)
                if end < upper:
                    magnitude = magnitude_at(self.layout, end, self.budget)
            lower = end

    def _reach(self, lower: Fraction, upper: Fraction, bits: int) -> tuple[Fraction, int, int]:
        """Return (end, need, order) for a Taylor polynomial of the function on the interval from `lower` to end.

        With order terms, the remainder of the series is below 2^-`bits`. need is the precision for which `least_order`
        found this order. end is at most `upper`, and less if a polynomial up to `upper` would have too many terms.
        """
        exponent = lower.numerator.bit_length() - lower.denominator.bit_length() + 3
        while True:
            step = Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)
            end = min(upper, (lower // step + 1) * step)
            need = needed_bits(self.layout, end, bits)
            most = max(_MOST_TERMS, need * _TERMS_PER_BIT.numerator // _TERMS_PER_BIT.denominator)
            order = least_order(self.layout, lower, end, need, most)
            if order is not None:
                return end, need, order
            exponent -= 1

    def _subdivide(self, model: TaylorModel, precision: int) -> None:
        unknown: tuple[Fraction, Fraction] | None = None
        width = model.upper - model.lower
        for cell in subintervals(model, self.budget):
            size = width / (1 << cell.depth)
            lower = model.lower + cell.index * size
            upper = lower + size
            if not cell.sign and not cell.slope:
                unknown = (unknown[0] if unknown else lower, upper)
                continue
            if unknown:
                self._sharpen(*unknown, precision)
                unknown = None
            self.result.append(self._piece(model, cell, lower, upper))
        if unknown:
            self._sharpen(*unknown, precision)

    def _piece(self, model: TaylorModel, cell: Subinterval, lower: Fraction, upper: Fraction) -> CoverPiece:
        if cell.sign:
            return CoverPiece(lower, upper, cell.sign, 0, model.bits)
        left = cell.left or sign_at_point(self.layout, lower, self.budget)
        right = cell.right or sign_at_point(self.layout, upper, self.budget)
        if left != right:
            assert left == -cell.slope
            assert right == cell.slope
        return CoverPiece(lower, upper, left, cell.slope, model.bits, crosses=left != right)

    def _sharpen(self, lower: Fraction, upper: Fraction, precision: int) -> None:
        """Find the signs again from `lower` to `upper` with twice `precision` bits; append the pieces to the result.

        It is called where a Taylor polynomial computed with `precision` bits does not show the sign of the function.
        """
        if precision >= _SUSPICIOUS_BITS and self.on_suspicion is not None:
            self.on_suspicion()
            self.on_suspicion = None
        self.solve(lower, upper, 2 * precision)


# --- Roots of F on t > 0: isolated, refined to any width, and sorted --------------------------------------------------


@frozen
class Root:
    """A root of a function f of eps, isolated: the only root of one of f's factors in [`lower`, `upper`].

    If both ends are equal, the root is this rational. `multiplicity` is the exact multiplicity of the root in f. The
    factor is `polynomial`(t, e^{-t}) at t = `scale`·eps. The root is a simple root of the factor, which is not 0 at the
    ends unless the root is rational.
    """

    lower: Fraction
    upper: Fraction
    multiplicity: int
    polynomial: Polynomial
    scale: Fraction

    @property
    def is_exact(self) -> bool:
        """True if the root is rational, so that `lower` and `upper` are both the root."""
        return self.lower == self.upper

    @property
    def width(self) -> Fraction:
        """The difference upper - lower."""
        return self.upper - self.lower


def refine(root: Root, width: Fraction, limits: Limits | None = None) -> Root:
    """The `root` in an isolating interval with upper - lower <= `width`. Raises LimitReached beyond `limits`."""
    return refine_within(root, width, DecisionBudget(limits or Limits()))


def refine_within(root: Root, width: Fraction, budget: DecisionBudget) -> Root:
    """The `root` in an isolating interval with upper - lower <= `width`. Raises LimitReached beyond `budget`."""
    if root.width <= width or root.is_exact:
        return root
    layout = Layout(root.polynomial)
    lower, upper = _narrow(layout, root.lower * root.scale, root.upper * root.scale, width * root.scale, budget)
    return replace(root, lower=lower / root.scale, upper=upper / root.scale)


def _narrow(
    layout: Layout, lower: Fraction, upper: Fraction, width: Fraction, budget: DecisionBudget
) -> tuple[Fraction, Fraction]:
    """Narrow the isolating interval (`lower`, `upper`) of a root to at most `width`, quadratically (Abbott 2014).

    The root is one of the function of `layout`. The interval is divided into 2^k parts, and the part that contains the
    zero of the secant is tested. If the root is in this part, k doubles, else k is halved. Invariant: the signs at the
    interval's ends differ. Raises LimitReached if the work exceeds `budget`.
    """
    left, right = point_value(layout, lower, budget), point_value(layout, upper, budget)
    assert left.sign == -right.sign != 0
    k = 2
    while upper - lower > width:
        budget.spend_interval()
        steps = 1 << k
        step = (upper - lower) / steps
        precision = 2 * k + 8
        at_left, at_right = abs(left.value) / left.scale, abs(right.value) / right.scale
        guess = min(steps - 1, max(1, round(at_left / (at_left + at_right) * steps)))
        middle = lower + guess * step
        at_middle = point_value(layout, middle, budget, precision)
        is_left = at_middle.sign == left.sign
        if is_left:
            lower, left = middle, at_middle
        else:
            upper, right = middle, at_middle
        if guess == (steps - 1 if is_left else 1):
            hit = True
        else:
            next_point = middle + step if is_left else middle - step
            at_next = point_value(layout, next_point, budget, precision)
            hit = at_next.sign == (right if is_left else left).sign
            if hit == is_left:
                upper, right = next_point, at_next
            else:
                lower, left = next_point, at_next
        k = 2 * k if hit else max(1, k // 2)
        if upper - lower > width:
            ratio = (upper - lower) / width
            k = min(k, ratio.numerator.bit_length() - ratio.denominator.bit_length() + 2)
    return lower, upper


def separate(roots: list[Root], budget: DecisionBudget) -> list[Root]:
    """Return `roots`, sorted and refined until their isolating intervals have at most end points in common.

    The roots must be different numbers. Raises LimitReached if the work exceeds `budget`.
    """
    roots = sorted(roots, key=_isolating_ends)
    position = 0
    halvings = 2
    while position + 1 < len(roots):
        first, second = roots[position], roots[position + 1]
        if first.upper <= second.lower:
            position += 1
            halvings = 2
            continue
        budget.check_bits(halvings)
        pair = [refine_within(r, r.width / (1 << halvings), budget) for r in (first, second)]
        # Roots that are extremely close to each other are separated, or given up, in few steps.
        halvings *= 2
        roots[position : position + 2] = pair
        roots.sort(key=_isolating_ends)
        position = max(0, position - 1)
    return roots


def _isolating_ends(root: Root) -> tuple[Fraction, Fraction]:
    return root.lower, root.upper


# --- The sign of one factor on an interval of t, from near 0 through the middle to infinity ---------------------------

#: For intervals that begin above this point the sign near 0 is not computed, since it saves no time.
_NEAR = Fraction(1, 64)


@frozen
class FactorSign:
    """The sign of a factor F(t) = G(t, e^{-t}) on an interval of t > 0, with its proof.

    G is `polynomial`. The factor occurs `multiplicity` times in a larger product. `pieces` cover the interval one after
    the other. If the interval begins at 0, `zero` proves the sign up to the first piece; if it ends at infinity,
    `infinity` proves the sign after the last. If G is a·t + b, `rational_root` is its root and the only proof. For any
    other G it is None. `first_sign` is the sign right after the lower end of the interval.
    """

    polynomial: Polynomial
    multiplicity: int
    zero: EndSign | None
    infinity: EndSign | None
    pieces: tuple[CoverPiece, ...]
    rational_root: Fraction | None
    first_sign: int

    @property
    def crossings(self) -> tuple[CoverPiece, ...]:
        """The pieces that contain a root."""
        return tuple(piece for piece in self.pieces if piece.crosses)


def factor_sign(
    polynomial: Polynomial,
    multiplicity: int,
    lower: Fraction,
    upper: Fraction | None,
    budget: DecisionBudget,
    on_suspicion: Callable[[], None],
) -> FactorSign:
    """Return the sign of the factor F(t) = G(t, e^{-t}), where G is `polynomial`, from `lower` to `upper`.

    An `upper` of None is infinity. G must be a·t + b, or F must be 0 at no rational t. `multiplicity` is copied to the
    result. When a multiple root is suspected, `on_suspicion` is called once. Raises LimitReached if the work exceeds
    `budget`.
    """
    root = rational_root(polynomial)
    if root is not None:
        rises = polynomial.terms[-1][2] > 0
        return FactorSign(polynomial, multiplicity, None, None, (), root, 1 if (lower >= root) == rises else -1)
    layout = Layout(polynomial)
    low, high = lower, upper
    zero = infinity = None
    if lower < _NEAR:
        zero = near_zero(layout, budget)
        if zero.bound > lower:
            low = zero.bound
        else:
            zero = None
    if high is None or low < high:
        infinity = at_infinity(layout, budget)
        if high is None or infinity.bound < high:
            high = infinity.bound
        else:
            infinity = None
    pieces: list[CoverPiece] = []
    assert high is not None
    if low < high:
        pieces = cover(layout, low, high, budget, on_suspicion)
    signs = _signs_at_joints(zero, pieces, infinity)
    return FactorSign(polynomial, multiplicity, zero, infinity, tuple(pieces), None, signs[0])


def _signs_at_joints(zero: EndSign | None, pieces: list[CoverPiece], infinity: EndSign | None) -> list[int]:
    ends = [sign for piece in pieces[:1] + pieces[-1:] for sign in piece.end_signs]
    if zero and infinity and not ends:
        assert zero.sign == infinity.sign
    if zero and ends:
        assert zero.sign == ends[0]
    if infinity and ends:
        assert infinity.sign == ends[-1]
    return [*([zero.sign] if zero else []), *ends, *([infinity.sign] if infinity else [])]

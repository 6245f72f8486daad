"""Sums of exponential polynomials times functions of the normal distribution: `erfc(c*eps)` and `exp(-c*eps^2)`.

The slack of a claim about a single normal noise is such a sum. It is 0 for every eps where all summands cancel. The
sign near 0 is that of the constant Taylor coefficient, a rational number that is computed exactly, or that of the next
coefficient if the constant one is 0. For large eps the factor e^{-r·eps²} with the least r is divided out, and the rest
is bounded by

    2/√π / (x + √(x² + 2)) <= e^{x²}·erfc(x) <= 1/(x·√π)    for x > 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import flint

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits, NoClosedForm
from dipc.algebra.numbers import dyadic, exact_rational, to_fmpq
from dipc.algebra.reals import ONE, ZERO, NotReal, Real
from dipc.frozen import frozen
from dipc.sign.interval import Interval
from dipc.sign.piecewise import FormCell, PiecewiseForm

_ZERO, _ONE = Fraction(0), Fraction(1)

#: Bits of balls, the number of Taylor coefficients at 0, and the n of the least radius 2^-n that is tried.
_BITS, _LENGTH, _NEAREST = 256, 24, 40


@frozen
class NormalFunction:
    """The function erfc(`scale`·eps) of eps, or e^{-`scale`·eps²} if it is `exponential`; `scale` is positive.

    If `fixed`, the function is the constant erfc(`scale`), and `exponential` must be False.
    """

    scale: Real
    exponential: bool = False
    fixed: bool = False

    def __str__(self) -> str:
        if self.exponential:
            return f"exp(-{_times(self.scale, 'eps^2')})"
        return f"erfc({self.scale if self.fixed else _times(self.scale, 'eps')})"

    def value(self, eps: Real) -> Real:
        """The exact value of the function at `eps`."""
        if self.fixed:
            return self.scale.erfc()
        return (-(self.scale * eps * eps)).exp() if self.exponential else (self.scale * eps).erfc()

    def taylor_series(self, eps: flint.arb_series) -> flint.arb_series:
        """The Taylor series of the function composed with the series `eps`."""
        scale = self.scale.ball()
        if self.fixed:
            return flint.arb_series([scale.erfc()])
        if self.exponential:
            return (eps * eps * -scale).exp()
        return (eps * scale).erfc()

    def majorant(self, center: Fraction, radius: Fraction) -> flint.arb:
        """An upper bound of the absolute value at all complex eps with |eps - `center`| <= `radius`.

        It follows from |erfc(z)| <= 2 + |e^{-z²}| and -Re z² <= (Im z)² - (Re z)².
        """
        if self.fixed:
            return flint.arb(1)
        square = self.scale.ball() if self.exponential else self.scale.ball() ** 2
        nearest = max(_ZERO, center - radius)
        grown: flint.arb = (square * flint.arb(to_fmpq(radius**2 - nearest**2))).exp().upper()
        # On the disk |Im| <= radius, and Re >= center - radius.
        return grown if self.exponential else 2 + grown

    @property
    def rate(self) -> Real:
        """The number r such that the function is e^{-r·eps²}, or decays like it as eps grows."""
        return ZERO if self.fixed else self.scale if self.exponential else self.scale * self.scale


def _times(scale: Real, what: str) -> str:
    text = str(scale)
    if text == "1":
        return what
    above, slash, below = text.partition("/")
    return f"{what}/{below}" if slash and above == "1" else f"{text}*{what}"


Terms = Mapping[NormalFunction, ExpPoly]


@frozen
class NormalSum:
    """The sum `plain` + Σ weight·function, where `terms` maps distinct normal functions to their weights.

    No weight is zero; `plain` and the weights are exponential polynomials in eps.
    """

    plain: ExpPoly
    terms: Terms

    @staticmethod
    def collect(plain: ExpPoly, terms: Iterable[tuple[NormalFunction, ExpPoly]]) -> NormalSum:
        """The sum of `plain` and of weight·function over the pairs (function, weight) of `terms`.

        The weights of equal functions are added up, and functions with the weight 0 are left out.
        """
        total: dict[NormalFunction, ExpPoly] = {}
        for function, weight in terms:
            total[function] = total[function] + weight if function in total else weight
        return NormalSum(plain, {function: weight for function, weight in total.items() if not weight.is_zero()})

    @staticmethod
    def single(weight: ExpPoly, function: NormalFunction | None) -> NormalSum:
        """The sum with one summand, `weight`·`function`, or `weight` if `function` is None."""
        return (
            NormalSum.collect(weight, ()) if function is None else NormalSum.collect(ExpPoly.ZERO, [(function, weight)])
        )

    def __add__(self, other: NormalSum) -> NormalSum:
        return NormalSum.collect(self.plain + other.plain, [*self.terms.items(), *other.terms.items()])

    def times(self, factor: ExpPoly) -> NormalSum:
        """The product of this sum and `factor`."""
        return NormalSum.collect(self.plain * factor, [(f, weight * factor) for f, weight in self.terms.items()])

    @property
    def is_number(self) -> bool:
        """True if the form of the summands shows that the sum is the same for every eps. False proves nothing."""
        return all(f.fixed for f in self.terms) and all(
            not k and not q for f in (self.plain, *self.terms.values()) for k, q, _ in f.terms()
        )

    @property
    def is_zero(self) -> bool:
        """True if all summands cancel, so that the sum is 0 for every eps."""
        return self.plain.is_zero() and not self.terms

    def is_zero_at(self, eps: Fraction) -> bool:
        """True if exact arithmetic shows that the sum is 0 at `eps`. False proves nothing."""
        total = ZERO
        try:
            for function, weight in [(None, self.plain), *self.terms.items()]:
                value = ONE if function is None else function.value(Real.from_rational(eps))
                for k, q, c in weight.terms():
                    total = total + Real.from_rational(c * eps**k) * Real.from_rational(q * eps).exp() * value
        except NotReal:
            return False
        return not total.sign

    def series(self, center: Fraction) -> flint.arb_series:
        """The Taylor series of the sum in eps at `center` >= 0; each coefficient is an enclosure.

        The number of coefficients and their precision are those that FLINT is set to.
        """
        eps = flint.arb_series([flint.arb(to_fmpq(center)), flint.arb(1)])
        total = series_at(self.plain, eps)
        for function, weight in self.terms.items():
            total = total + series_at(weight, eps) * function.taylor_series(eps)
        return total

    def majorant(self, center: Fraction, radius: Fraction) -> flint.arb:
        """An upper bound of |sum| at all complex eps with |eps - `center`| <= `radius`."""
        total = majorant_around(self.plain, center, radius)
        for function, weight in self.terms.items():
            total += majorant_around(weight, center, radius) * function.majorant(center, radius)
        return total.upper()

    def enclosure(self, eps: Fraction, bits: int) -> tuple[Fraction, Fraction]:
        """Rationals (low, high) around the value at `eps`, approximately 2^-`bits` apart."""
        with flint.ctx.workprec(2 * bits + 64):
            cap, flint.ctx.cap = flint.ctx.cap, 1
            try:
                (ball,) = self.series(eps).coeffs() or [flint.arb(0)]
            finally:
                flint.ctx.cap = cap
            return dyadic(ball.lower()), dyadic(ball.upper())

    def lower_bound(self, *, near_zero: bool = False) -> ExpPoly | None:
        """A lower bound of the sum for every eps > 0, as an exponential polynomial, or None.

        The bound uses that every function is between 0 and 1, so each weight needs coefficients of one sign; otherwise
        the result is None. With `near_zero`, the bound also uses erfc(x) >= 1 - 8/7·x, which holds since 2/√π < 8/7,
        and e^{-x} >= 1 - x: it is then better for small eps.
        """
        total = self.plain
        for function, weight in self.terms.items():
            signs = {c > 0 for _, _, c in weight.terms()}
            if len(signs) > 1:
                return None
            if signs == {False}:
                total = total + weight
            elif near_zero:
                most = function.scale.enclosure()[1] * (1 if function.exponential else Fraction(8, 7))
                power = 2 if function.exponential else 0 if function.fixed else 1
                total = total + weight * (1 - ExpPoly.term(most, power))
        return total

    def positive_from_zero(self) -> Fraction | None:
        """An r > 0 such that the sum is proved to be positive on (0, r]; None if none is found."""
        with flint.ctx.workprec(_BITS):
            cap, flint.ctx.cap = flint.ctx.cap, _LENGTH
            try:
                balls = list(self.series(_ZERO).coeffs())
            finally:
                flint.ctx.cap = cap
            coefficients = balls + [flint.arb(0)] * (_LENGTH - len(balls))
            # The limit for eps -> 0 is rational unless a function is fixed.
            at_zero = None
            if not any(function.fixed for function in self.terms):
                weights = (self.plain, *self.terms.values())
                at_zero = sum((c for weight in weights for k, _, c in weight.terms() if not k), _ZERO)
            if at_zero is not None:
                coefficients[0] = flint.arb(to_fmpq(at_zero))
            first = 1 if at_zero == 0 else 0
            if not coefficients[first] > 0:
                return None
            for k in range(-6, _NEAREST):
                r = _ONE / 2**k if k >= 0 else Fraction(2**-k)
                x = flint.arb(to_fmpq(r))
                # Cauchy's estimate on the disk of radius 2·r.
                rest = self.majorant(_ZERO, 2 * r) * flint.arb(2) ** (1 - _LENGTH)
                for n in range(first + 1, _LENGTH):
                    rest += abs(coefficients[n]) * x**n
                if coefficients[first] * x**first > rest:
                    return r
        return None

    def positive_to_infinity(self, start: Fraction) -> bool:
        """True if the sum is proved positive for every eps >= `start`."""
        if not self.plain.is_zero():
            return self._is_positive_from(start)
        weights: list[tuple[NormalFunction, Fraction]] = []
        for function, weight in self.terms.items():
            ((k, q, c), *more) = weight.terms()
            if more or k or q:
                return False
            weights.append((function, c))
        if not weights:
            return False
        least = weights[0][0].rate
        for function, _ in weights[1:]:
            if (function.rate - least).sign < 0:
                least = function.rate
        with flint.ctx.workprec(_BITS):
            b = flint.arb(to_fmpq(start))
            root_of_pi = flint.arb.pi().sqrt()
            total = flint.arb(0)
            for function, c in weights:
                # A lower bound of eps·e^{least·eps²} times the summand on [start, inf).
                more_rate = function.rate - least
                weight_ball, scale = flint.arb(to_fmpq(c)), function.scale.ball()
                if c > 0:
                    if more_rate.sign:
                        continue
                    if function.fixed:
                        total += weight_ball * scale.erfc() * b
                    elif function.exponential:
                        total += weight_ball * b
                    else:
                        x = scale * b
                        total += weight_ball * b * 2 / root_of_pi / (x + (x * x + 2).sqrt())
                    continue
                falling = (-more_rate.ball() * b * b).exp()
                if function.exponential or function.fixed:
                    if not more_rate.sign or not 2 * more_rate.ball() * b * b > 1:
                        return False
                    total += weight_ball * b * falling * (scale.erfc() if function.fixed else 1)
                else:
                    total += weight_ball / (scale * root_of_pi) * falling
            return bool(total > 0)

    def _is_positive_from(self, start: Fraction) -> bool:
        """True if the sum is proved to be positive for all eps >= `start`.

        Positive summands are left out, except constants in `plain`. Each of the others must be a constant, or a
        negative multiple of e^{-q·eps} with q >= 0, alone or times one of the sum's normal functions. None of these
        falls as eps grows, so it is enough that their total is positive at `start`. With any other summand the result
        is False.
        """
        with flint.ctx.workprec(_BITS):
            total, eps = flint.arb(0), flint.arb(to_fmpq(start))
            for function, weight in [(None, self.plain), *self.terms.items()]:
                for k, q, c in weight.terms():
                    if c > 0 and (function is not None or k or q):
                        continue
                    if k or q > 0:
                        return False
                    summand = flint.arb(to_fmpq(c)) * (eps * flint.arb(to_fmpq(q))).exp()
                    if function is not None:
                        summand *= function.taylor_series(flint.arb_series([eps]))[0]
                    total += summand
            return bool(total > 0)


def series_at(function: ExpPoly, eps: flint.arb_series) -> flint.arb_series:
    """Substitute the power series `eps` for eps in the exponential polynomial `function`; return a power series."""
    total = flint.arb_series([0])
    for k, q, c in function.terms():
        term = (eps * flint.arb(to_fmpq(q))).exp() * flint.arb(to_fmpq(c))
        total = total + (term * eps**k if k else term)
    return total


def majorant_around(function: ExpPoly, center: Fraction, radius: Fraction) -> flint.arb:
    """An upper bound of |`function`| at all complex eps with |eps - `center`| <= `radius`."""
    total, far = flint.arb(0), flint.arb(to_fmpq(center + radius))
    for k, q, c in function.terms():
        most = max(q * (center - radius), q * (center + radius))
        total += abs(flint.arb(to_fmpq(c))) * far**k * flint.arb(to_fmpq(most)).exp()
    return total


class NormalBeta(PiecewiseForm):
    """A beta that contains functions of the normal distribution, and so has no closed form on any interval.

    Methods that need closed forms raise NoClosedForm.
    """

    __slots__ = ("sum",)

    has_cells = False

    def __init__(self, whole: NormalSum) -> None:
        self.sum = whole
        self.closed = None
        self._cells = {}
        self._text: str | None = None

    @property
    def value(self) -> Any:  # type: ignore[override]
        raise NoClosedForm(f"{self} has no closed form of powers and exponentials of eps")

    def __str__(self) -> str:
        if self._text is None:
            texts = [] if self.sum.plain.is_zero() else [str(PiecewiseForm(self.sum.plain))]
            for function, weight in self.sum.terms.items():
                texts.append(_product(str(PiecewiseForm(weight)), str(function)))
            self._text = " + ".join(texts).replace("+ -", "- ") or "0"
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NormalBeta) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return NormalBeta, (self.sum,)

    @property
    def expr(self) -> Any:
        import sympy

        return sympy.sympify(str(self).replace("^", "**"), locals={"eps": sympy.Symbol("eps", positive=True)})

    def enclosure(self, eps: Fraction | int | str, digits: int = 30) -> tuple[Fraction, Fraction]:
        return self.sum.enclosure(exact_rational(eps, "eps"), 4 * digits)

    def fraction_at(self, eps: Fraction) -> tuple[ExpPoly, ExpPoly]:  # noqa: ARG002
        return self.value  # type: ignore[no-any-return]

    def conditions(self) -> list[ExpPoly]:
        return []

    def cells(self, interval: Interval, limits: Limits | None = None) -> tuple[FormCell, ...]:  # noqa: ARG002
        return self.value  # type: ignore[no-any-return]


def _product(weight: str, function: str) -> str:
    if weight in ("1", "-1"):
        return function if weight == "1" else f"-{function}"
    return f"{weight}*{function}" if not any(sign in weight[1:] for sign in "+-") else f"({weight})*{function}"


def normal_function(function: str, scale: Real, power: Fraction) -> Sequence[tuple[Fraction, NormalFunction | None]]:
    """The named `function` of the argument `scale`·eps^`power`, as a sum Σ c·f given as pairs (c, f).

    An f of None is the number 1. Raises NoClosedForm unless the function is erfc and `power` is 0 or 1, or the function
    is exp, `power` is 2 and `scale` is at most 0.
    """
    if function == "erfc" and power in (0, 1):
        if not scale.sign:
            return ((_ONE, None),)
        plain = NormalFunction(abs(scale), fixed=not power)
        return ((_ONE, plain),) if scale.sign > 0 else ((Fraction(2), None), (-_ONE, plain))
    if function == "exp" and power == 2 and scale.sign <= 0:
        return ((_ONE, NormalFunction(-scale, exponential=True) if scale.sign else None),)
    raise NoClosedForm(
        "the argument of erfc must be c or c*eps, and the argument of exp must be -c*eps^2, with a number c"
    )

"""Enclose probabilities of events that compare several normal noises with each other, by message passing.

As in `dipc.measure.normal`, let X = eps·N. Some values, or linear combinations of values, are the centers t_1, ..., t_k
of a tree. Given its parent p, a center c is normal with mean β·t_p and variance v_c. The other values, the leaves, are
independent given the centers. Each half-space, and each bound of a leaf, is linear in one center and its parent. From
the bottom of the tree to its root each center passes the message

    m_c(x) = ∫ g_c(t, x) dt,    g_c = φ(t - β·x)·Π_i p_i·Π_d m_d(t),    p_i = Φ(z) or Φ(z) + Φ(z') - 1,
    z = (a·t + b·x + d·eps)/√v_i,

to its parent, for all x at which the parent is evaluated. The product over d runs over the children of c. The message
of the root is the probability.

The line of t is cut at finitely many ends, where a half-space without a leaf ends, or where two bounds of a leaf are
equal or stop leaving room. An end is u·eps or x - u·eps with a rational u; a center is scaled so that the second form
is always possible. Between two ends, and for x/eps between two of finitely many numbers, g_c is one function that is
entire in t, x and eps. So m_c is a sum of integrals ±∫ g_c from -∞ to an end or from an end to ∞, or the integral over
the whole line.

**Lemma (half a line).** Let g be entire, let ∫ |g(t ± iy')| dt <= M for 0 <= y' <= y, and let g(t + iy') tend to 0 as
|t| grows. With σ(z) = 1/2 + Si(πz)/π

    |∫_{-∞}^0 g dt - h·Σ_k σ(-k)·g(k·h)| <= M·e^{-πy/h}·(13/5/(1 - e^{-2πy/h}) + h/(π²·y)).

*Proof.*

1. sin(πz)/(πz) is the mean of e^{iωz} over |ω| <= π, so it is at most sinh(πb)/(πb) for z = a + ib. Also sinh(x)/x <=
   cosh(x). On the real line -1/10 < σ < 11/10. So |σ(a + ib)| <= 11/10 + sinh(πb)/π <= 13/10·e^{πb}.
2. Hence the trapezoid rule for σ(-t/h)·g has an error of at most 2·M·13/10·e^{πy/h}/(e^{2πy/h} - 1) (Trefethen and
   Weideman 2014, Theorem 5.1).
3. Let s(t) be 1 below 0 and 0 above. For t other than 0, s(t) - σ(-t/h) is -1/π·∫_{π/h}^∞ sin(ωt)/ω dω, and the
   integral up to any finite end is bounded for all t. So |∫ (s - σ(-t/h))·g| is at most 1/π·∫_{π/h}^∞ |ĝ(ω)|/ω dω, with
   the greater of |ĝ(ω)| and |ĝ(-ω)| for the Fourier transform ĝ. That is at most M·e^{-ωy}, because the path of
   integration may be moved by ±iy.

Over the whole line the trapezoid rule itself has an error of at most 2·M/(e^{2πy/h} - 1). The other half of the line is
the mirror image.

**Lemma (messages).** Let |eps - e| <= ν, where ν is e/2, or 0 for eps = e alone. Let the nodes of each center be t =
k·h + w·eps for integers k, where w is u or w_p - u for an end of the center: the end is at k = 0, or at multiples of h
that depend on the node of the parent. Then the errors of the rule at a center c, for every real node of its parent, are
those above with

    M = C·exp(y²·V/2 + ν·y·D1 + ν²·D2/2).

The sums V = Σ α²/v, D1 = Σ α·δ/v and D2 = Σ δ²/v run over c and everything below it, with the greatest of the bounds
for a leaf. Here δ = |d + a·w + b·w_p|, and α is |a|, |b| or |a + b| as the value, its parent or both leave the real
line; for a center, a = 1 and b = -β. C has a factor 2 for each leaf with two bounds, and for each message that is a sum
the number of its integrals.

*Proof.*

1. Let t leave the real line by y, and with it those children, and their children, whose end moves with it. Then the
   imaginary part of the argument of φ or Φ, of a center or a leaf, is at most α·y + δ·ν over its deviation √v.
2. |φ(s + iz)| = e^{z²/2}·φ(s), and so |Φ(s + iz)| <= e^{z²/2}·Φ(s) under the integral. The densities at real arguments
   that remain integrate to 1. A message, too, is at most C·exp(…) where x is y off the line: the path of its integral
   may be moved along with its end.
3. By induction this bounds the true messages, and the rule is applied to these. So an enclosure of a message at the
   nodes of its parent is the rule's value for enclosures of the messages below, plus the rule's error. The terms beyond
   t = β·x ± r add up to at most 11/10·C·exp(ν²·D2/2)·erfc(r/√(2·v_c)).
4. All errors are analytic in eps on the disk and bounded as stated there, so Cauchy's estimate bounds their
   coefficients.

*On the disk* |P| is at most 2^{n/2} for n values. With X = eps·u the half-spaces do not depend on eps, and the integral
of |eps·φ(eps·u)| over u is |eps|/√(Re eps²) <= √2, as |arg eps| <= 30°.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from math import ceil, floor, gcd, lcm, log, log2, pi, prod, sqrt
from typing import Any, TypeAlias

import flint

from dipc.algebra.limits import LimitReached, OutsideFragment
from dipc.algebra.numbers import to_fmpq, to_fraction
from dipc.algebra.reals import Real
from dipc.frozen import frozen
from dipc.linear.halfspace import number_between
from dipc.measure import normal
from dipc.measure.power_series import DISK, coefficients

#: The most products of numbers in all rules together, each counted once for every coefficient of a series.
MOST_PRODUCTS = 4_000_000

#: The most nodes, also called places, of one center on each side.
MOST_PLACES = 40_000

#: The most ends of a center, and the most w that its places k·h + w·eps have.
MOST_PIECES = 60

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The triple (a, b, d) of a·t + b·x + d·eps, for a center t and its parent x.
Form = tuple[Fraction, Fraction, Fraction]

#: A number, or a Taylor series in eps where more than a value is wanted.
Value: TypeAlias = "flint.arb | flint.arb_series"


@frozen
class TreeLeaf:
    """A normal value L with mean 0 and this `variance`, and its bounds, which depend on a center t and t's parent x.

    The bounds are L + a·t + b·x + d·eps >= 0 for each (a, b, d) of `lower`, and L <= a·t + b·x + d·eps for each of
    `upper`.
    """

    variance: Fraction
    lower: tuple[Form, ...]
    upper: tuple[Form, ...]

    @property
    def forms(self) -> tuple[Form, ...]:
        """The triples (a, b, d) of all bounds, the lower before the upper."""
        return self.lower + self.upper


@frozen
class Center:
    """A node of a tree: a normal value t with this `variance` and the mean `slope`·x, where x is its parent's value.

    `parent` is the parent's index; None marks the root, whose mean is 0. An item (a, b, d) of `own` means a·t + b·x +
    d·eps >= 0. `leaves` has pairs (leaf, number of equal leaves); their bounds depend on t and x.
    """

    parent: int | None
    slope: Fraction
    variance: Fraction
    own: tuple[Form, ...]
    leaves: tuple[tuple[TreeLeaf, int], ...]

    @property
    def edges(self) -> Iterator[Form]:
        """Yield triples (a, b, d) such that the integrand is smooth in t and x where no a·t + b·x + d·eps is 0."""
        yield from self.own
        for leaf, _ in self.leaves:
            level = [*leaf.lower, *((-a, -b, -d) for a, b, d in leaf.upper)]
            for (a, b, d), (e, f, g) in combinations(level, 2):
                yield a - e, b - f, d - g

    def leaves_around(self, t: Fraction, x: Fraction) -> Near | None:
        """Return the leaves with their tightest bounds if the center is `t`·eps and its parent is `x`·eps.

        A leaf is given as (variance, bounds, number of equal leaves). The bounds are the tightest lower and the
        tightest upper one, or one of them if the leaf has no bound on the other side. Return None if some bounds
        contradict each other there, so that the integrand is 0.
        """

        def value(form: Form) -> Fraction:
            return form[0] * t + form[1] * x + form[2]

        if any(value(form) < 0 for form in self.own):
            return None
        leaves = []
        for leaf, count in self.leaves:
            sides = [min(side, key=lambda form: (value(form), form)) for side in (leaf.lower, leaf.upper) if side]
            if len(sides) > 1 and value(sides[0]) + value(sides[1]) <= 0:
                return None
            leaves.append((leaf.variance, tuple(sides), count))
        return tuple(leaves)


#: The bounds of a leaf, one or two.
Forms = tuple[Form, ...]

#: The leaves between two ends: the variance of each, its nearest bounds, and its multiplicity.
Near = tuple[tuple[Fraction, Forms, int], ...]


@frozen
class TreeMeasure:
    """The probability that all bounds of a tree of `centers` hold; children come before their parents.

    The centers and leaves are made from `values` independent normal values. All standard deviations are given as
    multiples of `unit`/eps, or as multiples of `unit` if `fixed`.
    """

    centers: tuple[Center, ...]
    values: int
    unit: Real
    fixed: bool

    def series(self, center: Fraction) -> flint.arb_series:
        """Return the Taylor series of the probability in eps at `center` > 0; each coefficient is an enclosure.

        The number of coefficients and their precision are those that FLINT is set to. Raises LimitReached.
        """
        return _integrated(self, center, flint.ctx.prec, flint.ctx.cap)

    def integrated(self, eps: flint.arb_series, near: normal.Ends, center: Fraction) -> flint.arb_series:
        """Return the Taylor series of the probability in eps at `center`; each coefficient is an enclosure.

        `eps` is the Taylor series of e = eps/`unit`. `near` is a pair of rationals, one below and one above the value
        of e at `center`. Raises LimitReached.
        """
        try:
            rules = _Rules.choose(self, near, wide=flint.ctx.cap > 1)
        except (OverflowError, ZeroDivisionError):
            raise LimitReached(None, "an integral over Gaussian noise needs numbers that are too large") from None
        return _Messages(self, rules, eps, center).probability()

    def majorant(self, center: Fraction) -> flint.arb:
        """Return an upper bound of |probability| for all complex eps with |eps - `center`| <= DISK·`center`."""
        del center
        return (flint.arb(2) ** flint.arb(to_fmpq(Fraction(self.values, 2)))).upper()


@lru_cache(maxsize=512)
def _integrated(measure: TreeMeasure, center: Fraction, bits: int, length: int) -> flint.arb_series:
    """Return the Taylor series of the probability `measure` in eps at `center`, computed once for equal arguments.

    `bits` and `length` must be FLINT's current precision and number of coefficients. They are parameters so that the
    cache distinguishes them.
    """
    assert (bits, length) == (flint.ctx.prec, flint.ctx.cap)
    return normal.series_in_unit(measure.integrated, center, measure.unit, fixed=measure.fixed)


# --- The numbers at which messages are not smooth ---------------------------------------------------------------------


@frozen
class _Ends:
    """The numbers at which the integral over one noise, a center t, is cut because the integrand is not smooth there.

    x is the parent of t in the tree of noises. The cuts are t = u·eps for each u of `still`, and t = x - u·eps for each
    u of `moving`. The integral, as a function of x, is not smooth at x = u·eps for each u of `handed`.
    """

    still: tuple[Fraction, ...]
    moving: tuple[Fraction, ...]
    handed: tuple[Fraction, ...]

    def piece(self, u: Fraction) -> int:
        return bisect_left(self.still, u)


def _ends(centers: Sequence[Center]) -> list[_Ends]:
    handed: list[set[Fraction]] = [set() for _ in centers]
    ends = []
    for place, center in enumerate(centers):
        still, moving, above = set(handed[place]), set[Fraction](), set[Fraction]()
        for a, b, d in center.edges:
            if a and b:
                assert a == -b, "the center is not scaled"
                moving.add(d / a)
            elif a:
                still.add(-d / a)
            elif b:
                above.add(-d / b)
        above |= {u + v for u in still for v in moving}
        if len(still) + len(moving) >= MOST_PIECES:
            raise LimitReached(None, f"comparisons of Gaussian noise fall into more than {MOST_PIECES} pieces")
        if center.parent is not None:
            handed[center.parent] |= above
        ends.append(_Ends(tuple(sorted(still)), tuple(sorted(moving)), tuple(sorted(above))))
    return ends


# --- Rules ------------------------------------------------------------------------------------------------------------


@frozen
class _Growth:
    """The constants of the bound `count`·exp(`curvature`·y²/2 + `drift`·ν·y + `spread`·ν²/2) of an integral.

    The integral is over one noise, a center, in a tree of noises. Its integrand is the absolute value of the center's
    integrand, where the center, its parent or both have the imaginary part y. The number eps is in a disk with the
    radius ν, or real if ν = 0.
    """

    curvature: Fraction
    drift: Fraction
    spread: Fraction
    count: int

    def most(self, other: _Growth) -> _Growth:
        return _Growth(
            max(self.curvature, other.curvature),
            max(self.drift, other.drift),
            max(self.spread, other.spread),
            max(self.count, other.count),
        )


@frozen
class _CenterRule:
    """The quadrature rule of one center: the distance `step` between its nodes, and the greatest |node|, `reach`.

    `half` is an upper bound of the error of an integral over a half-line, and `whole` of one over the whole line.
    """

    step: Fraction
    reach: Fraction
    half: flint.arb
    whole: flint.arb


@frozen
class _Rules:
    """The quadrature `rules` of all centers, and for each center the `ends` at which its integral is cut.

    `eps` is a rational approximation of eps/unit, for which the rules are made.
    """

    ends: Sequence[_Ends]
    rules: Sequence[_CenterRule]
    eps: Fraction

    @staticmethod
    def choose(measure: TreeMeasure, near: normal.Ends, *, wide: bool) -> _Rules:
        """Return quadrature rules for the probability `measure`, with errors close to FLINT's precision.

        `near` is a pair of rationals, one below and one above e = eps/unit. If `wide`, the bounds of the errors hold
        also on the disk of complex numbers around e. Raises LimitReached.
        """
        centers = measure.centers
        away = DISK * near[1] if wide else _ZERO
        ends, bits = _ends(centers), normal.wanted_bits(flint.ctx.cap)
        moves = _moves(centers, ends)
        growths = _growths(centers, ends, moves)
        wanted = [0.7 * (bits + 6) + log(len(centers) * g.count) + float(away**2 * g.spread / 2) for g in growths]
        steps: list[float] = []
        for growth, each, much in zip(growths, ends, wanted, strict=True):
            turn = float(away * growth.drift) + sqrt(2 * float(growth.curvature) * much)
            steps.append((pi if each.still or each.moving else 2 * pi) / turn)
        # A center with an end that moves with its parent has the same step as the parent.
        for order in (range(len(centers)), reversed(range(len(centers)))):
            for place in order:
                parent = centers[place].parent
                if parent is not None and ends[place].moving:
                    steps[parent] = steps[place] = min(steps[parent], steps[place])
        reaches: dict[int, Fraction] = {}
        rules: list[_CenterRule] = []
        for place in reversed(range(len(centers))):
            center, growth = centers[place], growths[place]
            farther = _ZERO if center.parent is None else abs(center.slope) * reaches[center.parent]
            farther += away * max(abs(w - center.slope * x) for w, x in moves[place])
            farther += (near[1] - near[0]) * max(abs(w) + abs(center.slope * x) for w, x in moves[place])
            far = Fraction(normal.Normal(center.variance).far(wanted[place]))
            step = _short(steps[place])
            # The outermost nodes may be one step farther.
            reaches[place] = farther + far + step
            if reaches[place] > step * MOST_PLACES:
                raise LimitReached(
                    None,
                    "an integral over Gaussian noises that are compared with each other takes more than "
                    f"{2 * MOST_PLACES} nodes for one of them",
                )
            rules.append(_rule(center, growth, away, step, far, farther))
        return _Rules(ends, rules[::-1], near[1])

    def places(self, center: int, move: Fraction) -> range:
        """Return the integers k for which k·h + `move`·eps is a node of the center with the index `center`.

        h is the step of the center's rule.
        """
        rule = self.rules[center]
        middle = -move * self.eps
        return range(floor((middle - rule.reach) / rule.step), ceil((middle + rule.reach) / rule.step) + 1)


def _short(x: float) -> Fraction:
    """Return a number of four significant binary digits that is at most `x` and at least 7/8 of `x`, for `x` > 0.

    Steps of quadrature rules are rounded to such numbers: multiples of different steps are then often equal, and the
    values at them are computed once.
    """
    unit = Fraction(2) ** (floor(log2(x)) - 3)
    return floor(Fraction(x) / unit) * unit


def _rule(
    center: Center, growth: _Growth, away: Fraction, step: Fraction, far: Fraction, farther: Fraction
) -> _CenterRule:
    h, v, moved = (flint.arb(to_fmpq(each)) for each in (step, growth.curvature, away * growth.drift))
    larger = flint.arb(to_fmpq(away**2 * growth.spread / 2)).exp() * growth.count
    left = larger * normal.Normal(center.variance).two_sided_tail(flint.arb(to_fmpq(far))) * 11 / 10
    errors = []
    for turn in (flint.arb.pi() / h, 2 * flint.arb.pi() / h):
        y = ((turn - moved) / v).mid()
        if not y > 0:
            raise LimitReached(None, "the step of an integral over Gaussian noise is too wide")
        errors.append((larger * (moved * y + y * y * v / 2 - turn * y).exp(), y, (-2 * flint.arb.pi() * y / h).exp()))
    (half, y, folded), (whole, _, once) = errors
    half = half * (flint.arb(13) / 5 / (1 - folded) + h / (flint.arb.pi() ** 2 * y))
    return _CenterRule(step, far + farther, (half + left).upper(), (2 * whole / (1 - once) + left).upper())


def _moves(centers: Sequence[Center], ends: Sequence[_Ends]) -> list[set[tuple[Fraction, Fraction]]]:
    """Return, for each of `centers`, the pairs (w, w') of offsets of nodes that are used together.

    The numbers k·h + w·eps, for integers k, are nodes of the center. They are used together with the nodes k'·h' +
    w'·eps of its parent. h and h' are the steps of their quadrature rules. `ends` has the numbers where the integral
    over each center is cut. Raises LimitReached if there are too many pairs.
    """
    moves: list[set[tuple[Fraction, Fraction]]] = [set() for _ in centers]
    for place in reversed(range(len(centers))):
        center, each = centers[place], ends[place]
        for w in {_ZERO} if center.parent is None else {w for w, _ in moves[center.parent]}:
            moves[place] |= {(move, w) for move in _all_moves(center, each, w)}
        if len(moves[place]) > MOST_PIECES:
            raise LimitReached(None, f"comparisons of Gaussian noise fall into more than {MOST_PIECES} pieces")
    return moves


def _all_moves(center: Center, ends: _Ends, above: Fraction) -> list[Fraction]:
    """Return all offsets w of nodes k·h + w·eps of `center` that are used with parent nodes k'·h' + `above`·eps.

    h and h' are the steps of the quadrature rules of the center and its parent. There is one offset for each number of
    `ends`, where the integral over the center is cut. Without such numbers, the only offset is that of the center's
    mean.
    """
    return [*ends.still, *(above - u for u in ends.moving)] or [center.slope * above]


def _growths(
    centers: Sequence[Center], ends: Sequence[_Ends], moves: Sequence[set[tuple[Fraction, Fraction]]]
) -> list[_Growth]:
    handed: list[list[_Growth]] = [[] for _ in centers]
    growths = []
    for place, (center, each) in enumerate(zip(centers, ends, strict=True)):
        growths.append(_growth(center, moves[place], handed[place], 1, 0))
        if center.parent is not None:
            message = _growth(center, moves[place], handed[place], 0, 1)
            if each.moving:
                message = message.most(_growth(center, moves[place], handed[place], 1, 1))
            integrals = max(1, 2 * (len(each.still) + len(each.moving)))
            handed[center.parent].append(replace(message, count=message.count * integrals))
    return growths


def _growth(
    center: Center, moves: set[tuple[Fraction, Fraction]], handed: Sequence[_Growth], mine: int, parents: int
) -> _Growth:
    """Return the constants of the bound for the integral over `center`, where the center or its parent may be complex.

    The center has the imaginary part `mine`·y and its parent `parents`·y, where `mine` and `parents` are 0 or 1. Nodes
    of the two are k·h + w·eps and k'·h' + w'·eps, for the steps h and h' of their quadrature rules. `moves` has the
    pairs (w, w') that occur together. `handed` has the constants of the integrals over the children of the center.
    """
    handed = handed if mine else [replace(each, curvature=_ZERO, drift=_ZERO) for each in handed]
    curvature = sum((each.curvature for each in handed), _ZERO)
    drift = sum((each.drift for each in handed), _ZERO)
    spread = sum((each.spread for each in handed), _ZERO)
    count = prod(each.count for each in handed)
    own: list[tuple[Sequence[Form], Fraction]] = [(((_ONE, -center.slope, _ZERO),), 1 / center.variance)]
    for leaf, times in center.leaves:
        own.append((leaf.forms, times / leaf.variance))
        count *= 2**times if leaf.upper else 1
    for forms, weight in own:
        turn = max(abs(mine * a + parents * b) for a, b, _ in forms)
        off = max(abs(d + a * w + b * x) for a, b, d in forms for w, x in moves)
        curvature += weight * turn**2
        drift += weight * turn * off
        spread += weight * off**2
    return _Growth(curvature, drift, spread, count)


# --- Messages ---------------------------------------------------------------------------------------------------------


@frozen
class _End:
    """An end of an interval of a center t with the parent x: t = x - `u`·eps if `moving`, else t = `u`·eps."""

    u: Fraction
    moving: bool


@frozen
class _Stretch:
    """An interval of a center from `low` to `high`, on which the integrand is one smooth function.

    A `low` or `high` of None is infinite. `near` has the leaves with the bounds that are decisive on the interval. The
    center's `_Ends.still` cut the line into parts, counted from 0. `piece` is the number of the part that contains this
    interval: the messages of the center's children are different functions on each part.
    """

    low: _End | None
    high: _End | None
    near: Near
    piece: int

    @property
    def integrals(self) -> Sequence[tuple[int, _End | None, bool]]:
        """The integrals over half-lines, or over the whole line, that add up to the integral over this interval.

        Each is (sign, end, below): the integral is multiplied by sign, 1 or -1. The half-line is below the end if below
        is True, otherwise above; an end of None means the whole line.
        """
        if self.high is None:
            return [(1, self.low, False)]
        return [(1, self.high, True)] if self.low is None else [(1, self.high, True), (-1, self.low, True)]


class _Messages:
    """Computes the messages of all centers to their parents at the quadrature nodes of the parents, each once.

    The message of a center is a function of its parent's value. It is an integral over the center, within the center's
    own bounds. The integrand is the density of the center, times the probabilities of its leaves, times the messages of
    its children.
    """

    def __init__(self, measure: TreeMeasure, rules: _Rules, eps: flint.arb_series, around: Fraction) -> None:
        self._centers, self._rules, self._around = measure.centers, rules, around
        self._children: dict[int, list[int]] = {}
        for place, center in enumerate(measure.centers):
            if center.parent is not None:
                self._children.setdefault(center.parent, []).append(place)
        self._length = flint.ctx.cap
        #: A number where one coefficient is wanted: numbers are faster than series.
        self._eps: Value = coefficients(eps, 1)[0] if self._length == 1 else eps
        self._known: dict[tuple[int, Fraction, Fraction], list[Value]] = {}
        #: The number of products that may still be computed.
        self.left = MOST_PRODUCTS

    def probability(self) -> flint.arb_series:
        (value,) = self._message(len(self._centers) - 1, _ZERO, _ZERO)
        return value if isinstance(value, flint.arb_series) else flint.arb_series([value])

    def _message(self, place: int, above: Fraction, u: Fraction) -> list[Value]:
        """Return the message of the center with the index `place`, at all nodes k·h + `above`·eps of its parent.

        h is the step of the parent's quadrature rule. The message is the integral over the center as a function of the
        parent's value x. It has different formulas on different intervals of x. The formula that holds at x = `u`·eps
        is evaluated at all nodes.
        """
        key = place, above, u
        if key not in self._known:
            center, rule = self._centers[place], self._rules.rules[place]
            total: list[Value] = [flint.arb(0)] * len(self._places(center.parent, above))
            error = flint.arb(0)
            for stretch in self._stretches(place, u):
                for sign, end, below in stretch.integrals:
                    error += rule.whole if end is None else rule.half
                    part = self._integral(place, above, stretch, end, below=below)
                    total = [mine + sign * other for mine, other in zip(total, part, strict=True)]
            blur = normal.blurred(flint.arb_series([0]), error, self._around)
            by: Value = coefficients(blur, 1)[0] if self._length == 1 else blur
            self._known[key] = [value + by for value in total]
        return self._known[key]

    def _stretches(self, place: int, u: Fraction) -> Iterator[_Stretch]:
        """Yield the intervals of a center on each of which the integrand is one smooth function, other than 0.

        `place` is the index of the center. Its parent is at `u`·eps.
        """
        center, ends = self._centers[place], self._rules.ends[place]
        cuts = {v: _End(v, moving=False) for v in ends.still} | {u - v: _End(v, moving=True) for v in ends.moving}
        last: _Stretch | None = None
        for low, high in pairwise([None, *sorted(cuts), None]):
            t = number_between(low, high)
            near, piece = center.leaves_around(t, u), ends.piece(t)
            if near is not None:
                start, end = (None if cut is None else cuts[cut] for cut in (low, high))
                if last is not None and (last.high, last.near, last.piece) == (start, near, piece):
                    start, last = last.low, None
                if last is not None:
                    yield last
                last = _Stretch(start, end, near, piece)
        if last is not None:
            yield last

    def _integral(self, place: int, above: Fraction, stretch: _Stretch, end: _End | None, below: bool) -> list[Value]:
        """Return an integral over a half-line of the center with the index `place`, for each node of its parent.

        The half-line is below `end` if `below`, else above; for an `end` of None it is the whole line. The integrand is
        the function that holds on `stretch`. The parent's nodes are k·h + `above`·eps, where h is the step of its
        quadrature rule.
        """
        center = self._centers[place]
        move = _all_moves(center, self._rules.ends[place], above)[0]
        if end is not None:
            move = above - end.u if end.moving else end.u
        mine, theirs = self._places(place, move), self._places(center.parent, above)
        step = flint.arb(to_fmpq(self._rules.rules[place].step))
        values = [value * step for value in self._values(place, move, stretch)]
        paired = [self._factor(place, (move, above), *each) for each in self._factors(center, stretch, paired=True)]
        self._spend(len(mine) * (len(theirs) * len(paired) or 1))
        side, moving = -1 if below else 1, end is not None and end.moving
        if end is not None and not moving:
            values = [_weight(side * k) * value for k, value in zip(mine, values, strict=True)]
        if not paired:
            return self._convolved(values, mine, theirs, side) if moving else [sum(values, flint.arb(0))] * len(theirs)
        rows: list[list[Any]] = []
        for j in theirs:
            row: list[Value] = [_weight(side * (k - j)) if moving else flint.arb(1) for k in mine]
            for factor in paired:
                if factor.is_number:
                    row = factor.times(row, mine, j)
            rows.append(row)
        varying = [factor for factor in paired if not factor.is_number]
        if not varying:
            columns = flint.arb_mat(rows) * flint.arb_mat([list(self._coefficients(value)) for value in values])
            return list(map(self._value, columns.table()))
        result: list[Value] = []
        for j, row in zip(theirs, rows, strict=True):
            products = [mine * other for mine, other in zip(row, values, strict=True)]
            for factor in varying:
                products = factor.times(products, mine, j)
            result.append(sum(products, flint.arb(0)))
        return result

    def _convolved(self, values: Sequence[Value], mine: range, theirs: range, side: int) -> list[Value]:
        """Return the sum over k of σ(`side`·(k - j))·v_k for each node j of `theirs`.

        The v_k are the `values` at the nodes k of `mine`. σ(n) is `_weight(n)`, the weight of a node that is n steps
        from the end of a half-line. `side` is -1 for an integral over a half-line below its end, 1 for one above.
        """
        differences = range(mine[0] - theirs[-1], mine[-1] - theirs[0] + 1)
        weights = flint.arb_poly([_weight(side * n) for n in reversed(differences)])
        columns = []
        for column in zip(*map(self._coefficients, values), strict=True):
            product = (flint.arb_poly(list(column)) * weights).coeffs()
            product += [flint.arb(0)] * (len(mine) + len(differences) - 1 - len(product))
            columns.append(product[len(mine) - 1 : len(differences)])
        return [self._value(each) for each in zip(*columns, strict=True)]

    def _value(self, balls: Sequence[flint.arb]) -> Value:
        return balls[0] if self._length == 1 else flint.arb_series(list(balls))

    def _coefficients(self, value: Value) -> Sequence[flint.arb]:
        if isinstance(value, flint.arb_series):
            return coefficients(value, self._length)
        return [value] + [flint.arb(0)] * (self._length - 1)

    def _values(self, place: int, move: Fraction, stretch: _Stretch) -> list[Value]:
        """Return the product of the integrand's factors on `stretch` that do not depend on the parent, at each node.

        `place` is the index of the center. Its nodes are k·h + `move`·eps, where h is the step of its quadrature rule.
        """
        center, places = self._centers[place], self._places(place, move)
        result: list[Value] = [flint.arb(1)] * len(places)
        for each in self._factors(center, stretch, paired=False):
            result = self._factor(place, (move, _ZERO), *each).times(result, places, 0)
        self._spend(len(places) * (len(center.leaves) + 1))
        ends = [None, *self._rules.ends[place].still, None]
        u = number_between(ends[stretch.piece], ends[stretch.piece + 1])
        for child in self._children.get(place, ()):
            result = [mine * other for mine, other in zip(result, self._message(child, move, u), strict=True)]
        return result

    def _factors(self, center: Center, stretch: _Stretch, *, paired: bool) -> Iterator[tuple[Fraction, Forms, int]]:
        """Yield factors of the integrand on the interval `stretch`, either dependent on the parent or not.

        If `paired`, the factors that depend on the parent of `center` are yielded, and otherwise those that do not. A
        factor is (variance, bounds, count). The density of the center is a factor with count 0. Each other factor is a
        leaf, and count is the number of equal leaves that it stands for.
        """
        for variance, forms, count in [(center.variance, ((_ONE, -center.slope, _ZERO),), 0), *stretch.near]:
            if any(b for _, b, _ in forms) == paired:
                yield variance, forms, count

    def _factor(
        self, place: int, moves: tuple[Fraction, Fraction], variance: Fraction, forms: Forms, count: int
    ) -> _IntegrandFactor:
        parent = self._centers[place].parent
        steps = self._rules.rules[place].step, _ONE if parent is None else self._rules.rules[parent].step
        return _IntegrandFactor(
            normal.Normal(variance), count, [_Argument(form, steps, moves, self._eps) for form in forms]
        )

    def _places(self, center: int | None, move: Fraction) -> range:
        """Return the integers k for which k·h + `move`·eps is a node of `center`.

        h is the step of the center's quadrature rule. A `center` of None is the parent of the root, which has the
        single node 0.
        """
        return range(1) if center is None else self._rules.places(center, move)

    def _spend(self, products: int) -> None:
        self.left -= products * self._length
        if self.left < 0:
            raise LimitReached(
                None,
                f"an integral over Gaussian noises that are compared with each other takes more than {MOST_PRODUCTS} "
                "products",
            )


class _Argument:
    """The number a·t + b·x + d·eps at the nodes of a center t and its parent x, as the argument of one function.

    Nodes are t = k·h + w·eps and x = j·h' + w'·eps for integers k and j, where h and h' are the steps of the quadrature
    rules. So the number is an integer multiple of one constant, plus a multiple of eps. Many pairs of nodes give the
    same number, for which the function is evaluated once.
    """

    def __init__(
        self, form: Form, steps: tuple[Fraction, Fraction], moves: tuple[Fraction, Fraction], eps: Value
    ) -> None:
        a, b, d = form[0] * steps[0], form[1] * steps[1], form[2] + form[0] * moves[0] + form[1] * moves[1]
        below = lcm(a.denominator, b.denominator)
        unit = Fraction(gcd(int(a * below), int(b * below)), below) or _ONE
        self._first, self._second = int(a / unit), int(b / unit)
        self._unit = flint.arb(to_fmpq(unit))
        self._off: Value = eps * flint.arb(to_fmpq(d)) if d else flint.arb(0)
        self.is_number = not d
        self._known: dict[int, Value] = {}

    def values(self, function: Callable[[Value], Value], mine: range, j: int) -> Sequence[Value]:
        """Return the results of `function` at the nodes k in `mine` of the center and node `j` of its parent.

        The argument of `function` is a·t + b·x + d·eps. All calls must pass the same function, because its results are
        remembered.
        """
        start, step, known = self._second * j, self._first, self._known
        numbers = range(start + step * mine[0], start + step * mine[-1] + step, step) if step else [start]
        for number in numbers:
            if number not in known:
                known[number] = function(self._off + self._unit * number)
        return [known[number] for number in numbers] * (1 if step else len(mine))


class _IntegrandFactor:
    """A factor of an integrand: a density if `count` is 0, else the probability of a leaf to the power `count`.

    A leaf is a noise whose bounds contain only the center, which is the variable of integration, and the center's
    parent. `is_number` says whether the values of the factor at the nodes of a quadrature rule are the same for every
    eps.
    """

    def __init__(self, law: normal.Normal, count: int, arguments: Sequence[_Argument]) -> None:
        self._count, self._arguments = count, arguments
        self._halved = flint.arb(to_fmpq(-1 / (2 * law.variance)))
        self._scale, self._peak = -(-self._halved).sqrt(), law.peak()
        #: Whether the factor has the same values for every eps, at the nodes k and j.
        self.is_number = all(argument.is_number for argument in arguments)

    def times(self, values: Sequence[Value], mine: range, j: int) -> list[Value]:
        """Return `values` times this factor, at nodes of quadrature rules.

        There is one value for each node k in `mine`, a node of the center. The center's parent is at its node `j`.
        """
        rows = [argument.values(self._value, mine, j) for argument in self._arguments]
        if len(rows) == 1:
            return [value * mine for value, mine in zip(values, rows[0], strict=True)]
        both = [first + second - 1 for first, second in zip(*rows, strict=True)]
        if self._count > 1:
            both = [normal.power(value, self._count) for value in both]
        return [value * mine for value, mine in zip(values, both, strict=True)]

    def _value(self, x: Value) -> Value:
        if not self._count:
            return (x * x * self._halved).exp() * self._peak
        value = (x * self._scale).erfc() / 2
        return value if len(self._arguments) > 1 else normal.power(value, self._count)


@lru_cache(maxsize=20_000)
def _sine_integral(n: int, bits: int) -> flint.arb:
    """Return the sine integral Si(π·`n`)/π to `bits` bits, which must be FLINT's current precision.

    `bits` is a parameter so that the cache distinguishes precisions.
    """
    assert bits == flint.ctx.prec
    return (flint.arb.pi() * n).si() / flint.arb.pi()


def _weight(n: int) -> flint.arb:
    """Return σ(`n`) = 1/2 + Si(π·`n`)/π, the weight of a node in the module's rule for integrals over half a line."""
    return flint.arb(1) / 2 + _sine_integral(n, flint.ctx.prec)


# --- From events ------------------------------------------------------------------------------------------------------

#: A linear form: coefficients by the positions of values. A half-space Σ c·X + eps·d >= 0 is such a form, and d.
_Row = Mapping[int, Fraction]
_Rows = Sequence[tuple[_Row, Fraction]]


def tree_measure(values: Sequence[normal.Spread], rows: _Rows, unit: Real, *, fixed: bool) -> TreeMeasure:
    """Return the probability of the half-spaces `rows` over independent random `values`, as a tree of centers.

    `values` has their laws. The standard deviations are given as multiples of `unit`/eps, or as multiples of `unit` if
    `fixed`. Raises OutsideFragment in three cases:

    * some value is not normal;
    * the comparisons do not form a tree;
    * in the plane of a center and its parent, the lines on which bounds are equal are not all parallel.
    """
    variances = [value.variance for value in values if isinstance(value, normal.Normal)]
    if len(variances) < len(values):
        raise OutsideFragment("Laplace noise is compared with Gaussian noises that are compared with others")
    reason = ""
    # In a cycle of four values either pair of opposite values can be the leaves: the first value tried decides.
    tried: set[frozenset[int]] = set()
    for first in range(len(values)):
        leaves = _leaves(rows, len(values), first)
        if leaves in tried:
            continue
        tried.add(leaves)
        centers = [place for place in range(len(values)) if place not in leaves]
        inner = [{place: c for place, c in row.items() if place not in leaves} for row, _ in rows]
        for basis in _bases(centers, inner):
            try:
                coordinates = _Coordinates.create(basis, centers, variances)
                rooted = _rooted(coordinates, list(_bounded(coordinates, rows, leaves, variances)))
            except OutsideFragment as outside:
                reason = reason or outside.reason
            else:
                return TreeMeasure(rooted, len(values), unit, fixed)
    raise OutsideFragment(reason)


def _leaves(rows: _Rows, count: int, first: int) -> frozenset[int]:
    """Return the indices of values, called leaves, that are independent of each other given all other values.

    Each of `rows` is a half-space over values, and no two leaves occur in the same half-space. `count` is the number of
    values. A value is a leaf in three cases:

    1. It occurs in exactly one half-space.
    2. Its half-spaces contain exactly one other value that is not a leaf.
    3. Its half-spaces contain exactly two such values, and these are also connected by half-spaces without the leaf.

    In cases 2 and 3, the value with the index `first` is tried before the others.
    """
    inside = [[n for n, (row, _) in enumerate(rows) if place in row] for place in range(count)]
    leaves = {place for place in range(count) if len(inside[place]) == 1}
    taken = {n for place in leaves for n in inside[place]}

    def other_values(place: int) -> set[int]:
        return {other for n in inside[place] for other in rows[n][0]} - leaves - {place}

    for number in (1, 2):
        for place in (first, *range(count)):
            if place in leaves or taken.intersection(inside[place]) or len(other_values(place)) != number:
                continue
            if number == 2:
                groups = [{*row} - leaves for row, _ in rows] + [other_values(leaf) for leaf in leaves]
                if len(_components(other_values(place), (group - {place} for group in groups))) > 1:
                    continue
            leaves.add(place)
            taken.update(inside[place])
    return frozenset(leaves)


def _components(members: Iterable[int], groups: Iterable[set[int]]) -> list[set[int]]:
    components = [{member} for member in members]
    for group in groups:
        if group:
            joined = [each for each in components if each & group]
            components = [each for each in components if not each & group] + [group.union(*joined)]
    wanted = {*members}
    return [each for each in components if each & wanted]


def _bases(centers: Sequence[int], forms: Sequence[_Row]) -> Iterator[Sequence[_Row]]:
    """Yield two bases of the space of linear forms in the values with the indices `centers`.

    The first basis has the values themselves. The second is chosen from `forms`, those with few values first; if they
    do not span the space, values complete it.
    """
    units: list[_Row] = [{place: _ONE} for place in centers]
    yield units
    basis: list[_Row] = []
    for form in [*sorted(forms, key=len), *units]:
        rows = [[to_fmpq(each.get(place, _ZERO)) for place in centers] for each in [*basis, form]]
        if len(basis) < len(centers) and flint.fmpq_mat(rows).rank() == len(rows):
            basis.append(form)
    yield basis


@frozen
class _Coordinates:
    """Coordinates of values: linearly independent linear forms in the values, as many as there are values.

    `places` has the indices of the values. The matrix `inverse` turns the coefficients of a form in the values into
    coefficients in the coordinates. `precision` is the inverse of the covariance matrix of the coordinates.
    """

    places: Sequence[int]
    inverse: flint.fmpq_mat
    precision: Sequence[Sequence[Fraction]]

    @staticmethod
    def create(basis: Sequence[_Row], centers: Sequence[int], variances: Sequence[Fraction]) -> _Coordinates:
        size = len(centers)
        turned = flint.fmpq_mat([[to_fmpq(form.get(place, _ZERO)) for place in centers] for form in basis])
        inverse = turned.inv()
        weights = flint.fmpq_mat(
            size, size, [to_fmpq(1 / variances[i] if i == j else _ZERO) for i in centers for j in centers]
        )
        precision = (inverse.transpose() * weights * inverse).table()
        return _Coordinates(centers, inverse, [[to_fraction(each) for each in row] for row in precision])

    def of_form(self, row: _Row) -> dict[int, Fraction]:
        coordinates = flint.fmpq_mat([[to_fmpq(row.get(place, _ZERO)) for place in self.places]]) * self.inverse
        return {number: to_fraction(c) for number, c in enumerate(coordinates.entries()) if c != 0}


@frozen
class _BoundedValue:
    """A normal value L with mean 0 and this `variance`, and the linear forms by which it is bounded.

    The bounds are L + f >= 0 for each form f of `lower`, and L <= f for each of `upper`. If `variance` is None, there
    is no L, and f >= 0 holds for each f of `lower`. A form is a pair (coefficients, d): the sum of coefficient times
    coordinate, plus d·eps. Coordinates are linear forms in noises.
    """

    variance: Fraction | None
    lower: tuple[tuple[_Row, Fraction], ...]
    upper: tuple[tuple[_Row, Fraction], ...]

    @property
    def support(self) -> frozenset[int]:
        return frozenset(place for row, _ in self.lower + self.upper for place in row)


def _bounded(
    coordinates: _Coordinates, rows: _Rows, leaves: frozenset[int], variances: Sequence[Fraction]
) -> Iterator[_BoundedValue]:
    sides: dict[int, tuple[list[tuple[_Row, Fraction]], ...]] = {}
    for row, d in rows:
        form, mine = coordinates.of_form(row), leaves.intersection(row)
        if not mine:
            yield _BoundedValue(None, ((form, d),), ())
        for place in mine:
            # The half-space is row[place]·L + form + d·eps >= 0.
            size = abs(row[place])
            scaled = {i: c / size for i, c in form.items()}, d / size
            sides.setdefault(place, ([], []))[row[place] < 0].append(scaled)
    for place, (lower, upper) in sorted(sides.items()):
        # The law of L is symmetric, so that -L may replace L.
        lower, upper = (lower, upper) if lower else (upper, lower)
        yield _BoundedValue(variances[place], tuple(lower), tuple(upper))


def _rooted(coordinates: _Coordinates, bounded: Sequence[_BoundedValue]) -> tuple[Center, ...]:
    """Return the coordinates of `coordinates` as the centers of a tree, each child before its parent.

    Each item of `bounded` is stored with the lowest center that its bounds contain. Raises OutsideFragment in three
    cases:

    - Bounds or dependences connect the coordinates in a cycle.
    - One item contains more than two coordinates.
    - Two bounds of a center are equal on a line in the plane of the center and its parent, and not all of these lines
      are parallel.
    """
    supports = [each.support for each in bounded]
    if any(len(support) > 2 for support in supports):
        raise OutsideFragment("a comparison relates three sums of Gaussian noises, which is not covered yet")
    precision = coordinates.precision
    size = len(precision)
    pairs = {support for support in supports if len(support) == 2}
    pairs |= {frozenset((i, j)) for i, j in combinations(range(size), 2) if precision[i][j]}
    order, parents = _from_root(size, pairs)
    # The inverse variance of each coordinate, given its parent.
    inverses = [row[i] for i, row in enumerate(precision)]
    for i in reversed(order[1:]):
        inverses[parents[i]] -= precision[i][parents[i]] ** 2 / inverses[i]
    by_center: dict[int, list[_BoundedValue]] = {i: [] for i in order}
    for support, each in zip(supports, bounded, strict=True):
        by_center[max(support, key=order.index, default=order[0])].append(each)
    scales: dict[int, Fraction] = {}
    ordered: list[Center] = []
    for i in order:
        parent, mine = parents.get(i), by_center[i]
        above = _ONE if parent is None else scales[parent]
        plain = _center(mine, (i, parent), (_ONE, above))
        meeting = {a / b for a, b, _ in plain.edges if a and b}
        if len(meeting) > 1:
            raise OutsideFragment(
                "two Gaussian noises are compared, directly or through others, with different ratios of coefficients"
            )
        # Scale the center so that its bounds are equal on lines t = x - u·eps.
        scale = scales[i] = -meeting.pop() if meeting else _ONE
        slope = _ZERO if parent is None else -precision[i][parent] / inverses[i] * scale / above
        bare = _center(mine, (i, parent), (scale, above))
        number = None if parent is None else len(order) - 1 - order.index(parent)
        ordered.append(Center(number, slope, scale**2 / inverses[i], bare.own, bare.leaves))
    return tuple(reversed(ordered))


def _center(
    bounded: Sequence[_BoundedValue], pair: tuple[int, int | None], scales: tuple[Fraction, Fraction]
) -> Center:
    """Return a center with the bounds of `bounded`, and with placeholders for its parent, slope and variance.

    `pair` has the index of the coordinate that becomes the center, and that of its parent, or None for the root. The
    numbers `scales` are the factors by which these two coordinates are multiplied.
    """

    def forms(side: Sequence[tuple[_Row, Fraction]]) -> tuple[Form, ...]:
        a, b = (
            [_ZERO if i is None else row.get(i, _ZERO) / scale for row, _ in side]
            for i, scale in zip(pair, scales, strict=True)
        )
        return tuple(sorted({*zip(a, b, (d for _, d in side), strict=True)}))

    own = [form for each in bounded if each.variance is None for form in forms(each.lower)]
    leaves = Counter(
        TreeLeaf(each.variance, forms(each.lower), forms(each.upper)) for each in bounded if each.variance is not None
    )
    return Center(None, _ZERO, _ONE, tuple(sorted(own)), tuple(leaves.items()))


def _from_root(size: int, pairs: set[frozenset[int]]) -> tuple[list[int], dict[int, int]]:
    """Return (order, parents): the coordinates by distance from a root, and the parents of all except the root.

    There are `size` coordinates, and `pairs` are the edges between them. Raises OutsideFragment if the edges contain a
    cycle.
    """
    neighbors: dict[int, list[int]] = {i: [] for i in range(size)}
    for i, j in sorted(map(sorted, pairs)):
        neighbors[i].append(j)
        neighbors[j].append(i)

    def reached(root: int) -> tuple[list[int], dict[int, int], int]:
        """Return (order, parents, distance) for the coordinates that are connected with `root`.

        order has the coordinates, nearest first; parents maps each but the root to its parent; distance is the greatest
        distance from the root.
        """
        order, parents, far = [root], dict[int, int](), {root: 0}
        for i in order:
            for j in neighbors[i]:
                if j not in far:
                    order.append(j)
                    parents[j], far[j] = i, far[i] + 1
        return order, parents, far[order[-1]]

    order: list[int] = []
    parents: dict[int, int] = {}
    components = _components(range(size), map(set, pairs))
    if len(pairs) > size - len(components):
        raise OutsideFragment("the comparisons of Gaussian noises form a cycle, which is not covered yet")
    for component in components:
        linked, above, _ = min(map(reached, sorted(component)), key=lambda each: (each[2], each[0]))
        if order:
            above[linked[0]] = order[0]
        order, parents = order + linked, parents | above
    return order, parents

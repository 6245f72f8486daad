"""Sums c * t^k * exp (-(j * t)) with whole c and j, and scripts that prove their signs on ranges of t.

Floating-point numbers choose where a range is cut. A bad choice makes Coq refuse the script; it cannot prove anything
wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import exp, gcd, lcm

from dipc.coq.expressions import number
from dipc.verifier.claims import Interval
from dipc.verifier.functions import Ring

#: The most steps of each search for a cut, and the most pieces of one range.
MOST_STEPS = 200

#: The most terms of a sum for which a script is written.
MOST_TERMS = 400

_SAMPLES = 64


class NotStatedError(Exception):
    """Raised with a reason if an obligation is not stated as a theorem."""


def unit_of(exponents: Iterable[Fraction]) -> Fraction:
    """Return the greatest positive rational of which each of `exponents` is an integer multiple; 1 if all are 0."""
    known = [q for q in exponents if q]
    whole = lcm(*(q.denominator for q in known))
    common = gcd(*(int(q * whole) for q in known))
    return Fraction(common, whole) if common else Fraction(1)


def range_text(where: Interval, variable: str) -> str:
    """Return the interval `where` as a Coq proposition about `variable`."""
    if where.is_point:
        return f"{variable} = {number(where.lower)}"
    below = f"{number(where.lower)} {'<=' if where.lower_closed else '<'} {variable}"
    if where.upper is None:
        return below
    return f"{below} {'<=' if where.upper_closed else '<'} {number(where.upper)}"


@dataclass(frozen=True)
class CoqSum:
    """The function Σ c * t^k * exp (-(j * t)) of t, where `items` lists the pairs ((k, j), c).

    The least j is 0, and all c are integers without a common divisor. The variable t is a positive multiple of eps.
    """

    items: tuple[tuple[tuple[int, int], int], ...]

    @staticmethod
    def from_ring(ring: Ring, unit: Fraction) -> CoqSum:
        """Return a sum in t that has the sign of the function `ring` at eps = t/`unit`, for every t > 0.

        The sum is the function times a positive number and an exponential, so that its coefficients are coprime
        integers. Raises NotStatedError for a function of too many terms.
        """
        if len(ring) > MOST_TERMS:
            raise NotStatedError(f"a function has {len(ring)} terms, and at most {MOST_TERMS} are written")
        top = max(q for _, q in ring)
        values = {(k, int((top - q) / unit)): c / unit**k for (k, q), c in ring.items()}
        whole = lcm(*(c.denominator for c in values.values()))
        common = gcd(*(int(c * whole) for c in values.values()))
        items = {key: int(c * whole) // common for key, c in values.items()}
        return CoqSum(tuple(sorted(items.items(), key=lambda item: (item[0][1], -item[0][0]))))

    @property
    def negated(self) -> CoqSum:
        """The negative of the sum."""
        return CoqSum(tuple((key, -c) for key, c in self.items))

    @property
    def is_positive(self) -> bool:
        """True if every coefficient is positive, so that the sum is positive for t > 0."""
        return all(c > 0 for _, c in self.items)

    @property
    def is_line(self) -> bool:
        """True if the sum is a linear function of t."""
        return all(not j and k <= 1 for (k, j), _ in self.items)

    @property
    def at_zero(self) -> int:
        """The value of the sum at t = 0."""
        return sum(c for (k, _), c in self.items if not k)

    @property
    def derivative(self) -> CoqSum:
        """The derivative of the sum with respect to t, without terms that vanish."""
        result: dict[tuple[int, int], int] = {}
        for (k, j), c in self.items:
            if j:
                result[k, j] = result.get((k, j), 0) - c * j
            if k:
                result[k - 1, j] = result.get((k - 1, j), 0) + c * k
        return CoqSum(tuple((key, c) for key, c in result.items() if c))

    def line_at(self, t: Fraction) -> Fraction:
        """Return the exact value at `t` of the sum, which must be linear."""
        return sum((c * t**k for (k, _), c in self.items), Fraction(0))

    def clear_at(self, t: float, least: float) -> bool:
        """Return True if the floating-point value at `t` exceeds `least` by more than the rounding error."""
        try:
            terms = [c * t**k * exp(-j * t) for (k, j), c in self.items]
        except OverflowError:
            return False
        value = sum(terms)
        return value > least and value > 1e-9 * sum(map(abs, terms))

    def __str__(self) -> str:
        return "[" + "; ".join(f"(({c}), {k}%nat, {j})" for (k, j), c in self.items) + "]%Z"


# === scripts ===================================================================================


def prove_positive(name: str, value: CoqSum, where: Interval, hints: Sequence[Fraction]) -> list[str]:
    """Return Coq lines that define the sum `value` as NAME_l, and prove that it is positive for all t in `where`.

    NAME is the argument `name`, which is also the name of the lemma: forall t in the range, 0 < ev NAME_l t, where ev
    evaluates a sum. `hints` are values of t at which the certificate cuts the range. Raises NotStatedError if no way to
    cut the range into provable parts is found.
    """
    lines = [f"Definition {name}_l : list term := {value}."]
    goal = f"Lemma {name} : forall t, {range_text(where, 't')} -> 0 < ev {name}_l t."
    if value.is_line:
        return [*lines, goal, f"Proof. intros t T. unfold {name}_l. line. Qed."]
    # For (0, upper) the pieces cover (0, upper]; if the sign differs at the end, Coq refuses them.
    pieces: list[tuple[str, Fraction]] = []
    start, end = where.lower, where.upper
    if not start:
        order, start = _near_zero(value, hints, end)
        lines += [
            f"Lemma {name}_zero : forall t, 0 < t <= {number(start)} -> 0 < ev {name}_l t.",
            f"Proof. apply (ladder {order}); [vm_compute; reflexivity|]. intros t T. bound t. Qed.",
        ]
        pieces.append((f"{name}_zero", start))
    far, last = (None, end) if end is not None else _far(value, start)
    assert last is not None, "the range of eps or the search for a bound gives an end"
    if start < last:
        for place, (low, high) in enumerate(pairwise(_cuts(start, last))):
            lines += [
                f"Lemma {name}_at{place} : forall t, {number(low)} <= t <= {number(high)} -> 0 < ev {name}_l t.",
                "Proof. intros t T. bound t. Qed.",
            ]
            pieces.append((f"{name}_at{place}", high))
    if far is not None:
        lines += [f"Lemma {name}_far : forall t, {number(last)} <= t -> 0 < ev {name}_l t.", *far]
        pieces.append((f"{name}_far", last))
    lines += [goal, "Proof.", "  intros t T."]
    for piece, high in pieces[:-1]:
        lines.append(f"  destruct (Rle_lt_dec t {number(high)}); [apply {piece}; lra|].")
    return [*lines, f"  apply {pieces[-1][0]}; lra.", "Qed."]


def _near_zero(value: CoqSum, hints: Sequence[Fraction], end: Fraction | None) -> tuple[int, Fraction]:
    """Return (n, r) with r > 0: the n-th derivative of `value` is the first that is not 0 at t = 0.

    According to floating-point numbers, this derivative is positive on [0, r]; Coq proves this later. `hints` are
    numbers to try for r, which is at most `end`. Raises NotStatedError if there is no such derivative, or if no r is
    found.
    """
    order, derivative = 0, value
    while derivative.items and not derivative.at_zero and order < MOST_STEPS:
        order, derivative = order + 1, derivative.derivative
    first = derivative.at_zero
    if first <= 0:
        raise NotStatedError("no proof was found next to 0")
    try:
        least = first / 64
    except OverflowError:
        raise NotStatedError("its numbers are too long for the search for a proof") from None
    radius = min([Fraction(64), *hints[:1], *([] if end is None else [end])])
    for _ in range(MOST_STEPS):
        step = float(radius) / _SAMPLES
        if all(derivative.clear_at(step * i, least) for i in range(_SAMPLES + 1)):
            return order, radius
        radius /= 2
    raise NotStatedError("no proof was found next to 0")


def _far(value: CoqSum, start: Fraction) -> tuple[list[str], Fraction]:
    """Return (Coq lines that prove `value` positive for t >= B, the number B), where B >= `start`.

    The highest power of t without an exponential outweighs all other terms. Raises NotStatedError if no B is found.
    """
    powers = [k for (k, j), _ in value.items if not j]
    lead = max(powers)
    (c,) = (c for key, c in value.items if key == (lead, 0))
    rest = CoqSum(tuple(item for item in value.items if item[0] != (lead, 0)))
    negative = [(k, j, c) for (k, j), c in rest.items if c < 0]
    bound = max(start, Fraction(1, 64))
    for _ in range(MOST_STEPS):
        if c > 0 and all(k - lead <= j * bound for k, j, _ in negative) and _is_small(negative, lead, c, float(bound)):
            numbers = f"{lead} {bound.numerator} {bound.denominator} ({c})%Z {rest}"
            script = (
                f"Proof. apply (infinity {numbers}); [lia|lra|lra|vm_compute; reflexivity|]. "
                "cbv [tail Z.leb Z.compare Pos.compare Pos.compare_cont]. number. Qed."
            )
            return [script], bound
        bound = 2 * bound if bound < 1 else Fraction(int(bound + max(1, bound // 4)))
    raise NotStatedError("no proof was found towards infinity")


def _is_small(negative: Sequence[tuple[int, int, int]], lead: int, c: int, bound: float) -> bool:
    try:
        return sum(-d * bound ** (k - lead) * exp(-j * bound) for k, j, d in negative) < 0.98 * c
    except OverflowError:
        return False


def _cuts(start: Fraction, end: Fraction) -> list[Fraction]:
    cuts = [start]
    while cuts[-1] < end and len(cuts) < MOST_STEPS:
        cuts.append(min(end, 2 * cuts[-1]))
    if cuts[-1] != end:
        raise NotStatedError(f"its range reaches from {start} to {end}, which takes too many pieces")
    return cuts

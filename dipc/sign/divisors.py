"""Divisors of beta: admitted where they are proved to be 0 nowhere on the intervals of eps that are asked about."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.algebra.selection import Selected, Signs, coefficient_sign
from dipc.algebra.splitting import candidates, conditions, resolve
from dipc.sign import Interval, Root, arrange, isolate_roots, sign_at


def zero_of(value: Selected, intervals: Sequence[Interval]) -> Fraction | Root | None:
    """An eps of the intervals at which the value is 0; None where it is proved to be 0 at none of them.

    The value must be continuous on each interval and not depend on an unknown. Raises Undecided past a
    limit, and TooLarge for a value that may be too many forms.
    """
    for interval in intervals:
        found = _zero_on(value, interval)
        if found is not None:
            return found
    return None


def _zero_on(value: Selected, interval: Interval) -> Fraction | Root | None:
    above = [form.numerator_flat() for form in candidates(value) if form.numerator]
    functions = [f for f in (*conditions(value), *above) if not coefficient_sign(f)]
    arrangement = arrange(functions, interval)
    active: list[ExpPoly] = []
    for sample in arrangement.samples:
        numerator = resolve(value, lambda f, at=sample: sign_at(f, at)).numerator_flat()  # type: ignore[misc]
        if numerator.is_zero() or numerator.value_is_zero(sample):
            return sample
        active.append(numerator)
    for end, numerator in ((interval.lower, active[0]), (interval.upper, active[-1])):
        if end is not None and end in interval and numerator.value_is_zero(end):
            return end
    for at, root in enumerate(arrangement.roots):
        # The value is continuous, so at the root it is what it is on either side.
        if active[at] in functions and arrangement.vanishes(functions.index(active[at]), at):
            return root
    return None


def sign_throughout(intervals: Sequence[Interval]) -> Signs:
    """The sign that a function is proved to have on all the intervals; 0 where it is not proved, or not one sign."""

    def sign(function: ExpPoly) -> int:
        if plain := coefficient_sign(function):
            return plain
        try:
            if any(isolate_roots(function, interval) for interval in intervals):
                return 0
            found = {sign_at(function, interval.inner_point) for interval in intervals}
        except Undecided:
            return 0
        return found.pop() if len(found) == 1 else 0

    return sign

"""Other coordinates for noises, in which more constraints are differences of two variables.

Y[i] = X[i] + o[i], where o[i] depends on inputs alone: for every value of the inputs the two tell the same. With
r1 = X[1] + q[1] and r2 = X[2] + q[2], say, r1 >= r2 has four variables, but Y[1] >= Y[2] has two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from dipc.chain.affine import Affine, combination
from dipc.chain.constraints import Constraint

#: By noise, its o: a form without noises.
Offsets = Mapping[int, Affine]

_NOTHING = Affine.number(Fraction(0))


def offsets(items: Iterable[Constraint]) -> Offsets:
    """Coordinates in which many of `items` are differences; none where the noises as they are do no worse."""
    # By noise, those that it is compared with, and in which form and with which sign: most are never needed.
    steps: dict[int, list[tuple[int, Affine, Fraction]]] = {}
    lost = False
    for item in items:
        form = item.form
        if len(form.noises) == 2 and form.noises[0][1] == -form.noises[1][1] and abs(form.noises[0][1]) == 1:
            (first, sign), (second, opposite) = form.noises
            steps.setdefault(first, []).append((second, form, sign))
            steps.setdefault(second, []).append((first, form, opposite))
            lost = lost or bool(form.inputs)
    if not lost:
        return {}
    found: dict[int, Affine] = {}
    for root in steps:
        if root in found:
            continue
        found[root] = _NOTHING
        pending = [root]
        while pending:
            noise = pending.pop()
            for other, form, sign in steps[noise]:
                if other not in found:
                    found[other] = found[noise] - Affine((), form.inputs, Fraction(0)).scaled(sign)
                    pending.append(other)
    return {noise: offset for noise, offset in found.items() if offset != _NOTHING}


def moved(items: Sequence[Constraint], by: Offsets, sign: int = 1) -> list[Constraint]:
    """The constraints in the new coordinates; with the sign -1 from there back again."""
    if not by:
        return list(items)
    return [_moved(item, by, sign) for item in items]


def _moved(item: Constraint, by: Offsets, sign: int) -> Constraint:
    parts = [(-sign * coefficient, by[noise]) for noise, coefficient in item.form.noises if noise in by]
    if not parts:
        return item
    form = combination([(Fraction(1), item.form), *parts], Fraction(0))
    return replace(item, form=form, difference=form if item.difference == item.form else item.difference)

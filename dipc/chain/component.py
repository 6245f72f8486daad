"""Connected components of noises, with the real inputs left open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from dipc.chain.affine import Affine, Terms
from dipc.chain.state import NoiseVar
from dipc.lang import core
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Family, Noise


class Ball(NamedTuple):
    """The closed interval of all values within `radius` of `center`."""

    center: Fraction
    radius: Fraction


#: By real output slot, where its value must lie.
Balls = Mapping[int, Ball]


class AffineBound(NamedTuple):
    """`form` >= 0 or, with a slot, |form - center| <= radius for the ball of that real output."""

    form: Affine
    ball: int | None


@dataclass(frozen=True, slots=True)
class ComponentTemplate:
    """Noises that depend on each other, with what is known of them.

    `event` depends on `inputs` (real input slots) and on the balls of `balls` (real output slots) only; its noises are
    the ones with the ids `members`, in this order.
    """

    members: tuple[int, ...]
    inputs: tuple[int, ...]
    balls: tuple[int, ...]
    noises: tuple[_NoiseTemplate, ...]
    bounds: tuple[_BoundTemplate, ...]

    def event(self, inputs: Mapping[int, Fraction], balls: Balls) -> Event:
        """The event at these inputs and balls; its noises and constraints are normalized as `Event` asks.

        No constraint is strict: those on integers are closed already, and to continuous noises it makes no difference.
        """
        constraints: list[Halfspace] = []
        for bound in self.bounds:
            fixed = bound.fixed
            if fixed is not None:
                constraints.append(fixed)
                continue
            shift = _shift(bound.inputs, bound.constant, inputs)
            if bound.ball is None:
                constraints.append(Halfspace(bound.coefficients, shift))
            else:
                center, radius = balls[bound.ball]
                offset = shift - center
                constraints.append(Halfspace(bound.coefficients, radius + offset))
                constraints.append(Halfspace(bound.negated, radius - offset))
        noises = [
            noise.fixed
            if noise.fixed is not None
            else Noise(noise.family, noise.rate, _shift(noise.inputs, noise.constant, inputs))
            for noise in self.noises
        ]
        return Event(tuple(noises), tuple(constraints))


@dataclass(frozen=True, slots=True)
class _NoiseTemplate:
    family: Family
    rate: Fraction
    inputs: Terms
    constant: Fraction
    fixed: Noise | None


@dataclass(frozen=True, slots=True)
class _BoundTemplate:
    coefficients: Terms
    negated: Terms
    inputs: Terms
    constant: Fraction
    ball: int | None
    fixed: Halfspace | None


def components(noises: Sequence[NoiseVar], bounds: Iterable[AffineBound]) -> tuple[ComponentTemplate, ...]:
    """The connected components of the noises that the bounds mention; every bound must mention one.

    The measure of all bounds together is the product of the components' measures.
    """
    by_id = {noise.id: noise for noise in noises}
    root = {noise.id: noise.id for noise in noises}

    def find(noise: int) -> int:
        while root[noise] != noise:
            root[noise] = root[root[noise]]
            noise = root[noise]
        return noise

    listed = list(bounds)
    for bound in listed:
        first = find(bound.form.noises[0][0])
        for noise, _ in bound.form.noises[1:]:
            root[find(noise)] = first
    groups: dict[int, list[AffineBound]] = {}
    for bound in listed:
        groups.setdefault(find(bound.form.noises[0][0]), []).append(bound)
    return tuple(_component(by_id, group) for group in groups.values())


def _component(by_id: Mapping[int, NoiseVar], bounds: Sequence[AffineBound]) -> ComponentTemplate:
    members = sorted({noise for bound in bounds for noise, _ in bound.form.noises})
    position = {noise: index for index, noise in enumerate(members)}
    noises = tuple(_noise(by_id[noise]) for noise in members)
    templates = tuple(_bound(bound, position) for bound in bounds)
    inputs = {slot for noise in noises for slot, _ in noise.inputs}
    inputs.update(slot for template in templates for slot, _ in template.inputs)
    balls = {template.ball for template in templates if template.ball is not None}
    return ComponentTemplate(tuple(members), tuple(sorted(inputs)), tuple(sorted(balls)), noises, templates)


def _noise(noise: NoiseVar) -> _NoiseTemplate:
    family = FAMILIES[noise.family]
    mean = noise.mean
    assert not mean.noises
    fixed = None if mean.inputs else Noise(family, noise.rate, mean.constant)
    return _NoiseTemplate(family, noise.rate, mean.inputs, mean.constant, fixed)


FAMILIES = {
    core.NoiseFamily.LAPLACE: Family.LAPLACE,
    core.NoiseFamily.ONE_SIDED: Family.ONE_SIDED,
    core.NoiseFamily.DISCRETE_LAPLACE: Family.DISCRETE_LAPLACE,
}


def _bound(bound: AffineBound, position: Mapping[int, int]) -> _BoundTemplate:
    form = bound.form
    coefficients = tuple((position[noise], coefficient) for noise, coefficient in form.noises)
    negated = tuple((index, -coefficient) for index, coefficient in coefficients)
    fixed = None if form.inputs or bound.ball is not None else Halfspace(coefficients, form.constant)
    return _BoundTemplate(coefficients, negated, form.inputs, form.constant, bound.ball, fixed)


def _shift(terms: Terms, constant: Fraction, inputs: Mapping[int, Fraction]) -> Fraction:
    total = constant
    for slot, coefficient in terms:
        value = inputs[slot] if coefficient == 1 else coefficient * inputs[slot]
        total = total + value if total else value
    return total

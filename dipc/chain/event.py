"""Exits as events over independent groups of noises, with everything precomputed that does not depend on the row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from dipc.chain.chain import ExitState
from dipc.chain.state import (
    Affine,
    Constraint,
    NoiseVar,
    NoiseWeight,
    centered,
    combination,
    irredundant,
    nonnegative,
)
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.text.ast import BaseType
from dipc.text.program import CoreProgram

# --- Connected components of noises, with the real inputs left open ---------------------------------------------------


#: The keys of alpha and gamma among the inputs of a form, beside slots.
ALPHA, GAMMA = -1, -2


@frozen
class ComponentTemplate:
    """A group of dependent noises with the constraints on them, as a function of the values of some keys.

    - `members` are the ids of the noises, increasing; `noises` are the noises in this order, and `around_zero` the same
      noises with mean 0.
    - `keys` are those on which the constraints depend, increasing: slots of real and int inputs, slots of outputs that
      have to be within gamma of their right value, and GAMMA. The value of an output is the right one.
    - `bounds` are forms that have to be at least 0; they refer to a noise by its index in `members`.
    - `slacks` has, for each of `bounds`, its value when every noise is equal to its mean: a function of the keys.
    """

    members: tuple[int, ...]
    keys: tuple[int, ...]
    noises: tuple[NoiseVar, ...]
    around_zero: tuple[Noise, ...]
    bounds: tuple[Affine, ...]
    slacks: tuple[Affine, ...]

    def event(self, values: Mapping[int, Fraction]) -> Event:
        """Return the event for the `values` of the keys.

        The noises of the event have mean 0, and its constraints are normalized. So two inputs give equal events if no
        comparison depends on their difference, such as a shift of all queries. No constraint is strict: constraints on
        integers are closed, and for continuous noises the boundary has measure zero.
        """
        pairs = zip(self.bounds, self.slacks, strict=True)
        return Event(self.around_zero, tuple([Halfspace(form.noises, slack.evaluate(values)) for form, slack in pairs]))


def components(noises: Sequence[NoiseVar], bounds: Iterable[Affine]) -> tuple[ComponentTemplate, ...]:
    """Return the connected components of `noises`, where each of `bounds` connects the noises that it mentions.

    The bounds are forms that have to be at least 0, and each must mention a noise. The measure of all bounds together
    is the product of the components' measures.
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
        first = find(bound.noises[0][0])
        for noise, _ in bound.noises[1:]:
            root[find(noise)] = first
    groups: dict[int, list[Affine]] = {}
    for bound in listed:
        groups.setdefault(find(bound.noises[0][0]), []).append(bound)
    return tuple(_component(by_id, group) for group in groups.values())


def _component(by_id: Mapping[int, NoiseVar], bounds: Sequence[Affine]) -> ComponentTemplate:
    members = sorted({noise for bound in bounds for noise, _ in bound.noises})
    position = {noise: index for index, noise in enumerate(members)}
    means = {noise: by_id[noise].mean for noise in members}
    assert not any(mean.noises for mean in means.values())
    renumbered: list[Affine] = []
    slacks: list[Affine] = []
    for form in bounds:
        terms = tuple([(position[noise], coefficient) for noise, coefficient in form.noises])
        renumbered.append(Affine(terms, form.inputs, form.constant))
        slacks.append(centered(form, means).noiseless)
    noises = tuple([by_id[noise] for noise in members])
    around_zero = tuple([Noise(noise.law, noise.rate, Fraction(0)) for noise in noises])
    keys = tuple(sorted({key for slack in slacks for key, _ in slack.inputs}))
    return ComponentTemplate(tuple(members), keys, noises, around_zero, tuple(renumbered), tuple(slacks))


def _interval(member: int, weight: NoiseWeight) -> ComponentTemplate:
    noise = NoiseVar(member, -1, "", None, weight.law, weight.rate, Affine.number(weight.mean))
    form = Affine.noise(member)
    sides = [] if weight.low is None else [form - Affine.number(weight.low)]
    sides += [] if weight.high is None else [Affine.number(weight.high) - form]
    return _component({member: noise}, sides)


# --- Exit states as events: everything that does not depend on the row is done once -----------------------------------
#
# A table substitutes tens of thousands of rows into the same few exit states, so a template holds the connected
# components of the noises and leaves only the numbers to be filled in.


@frozen
class EventTemplate:
    """The event that a run ends in an exit with some outputs near their right values, as a function of some keys.

    The keys are those of `ComponentTemplate`. If `guards_hold`, the probability of the event is the product of the
    measures of the events of `components`, times the weight of the choices that lead to the exit; otherwise it is 0.

    - `keys` are all keys on which the event depends, increasing.
    - `guards` are the conditions on the inputs under which runs reach the exit.
    - `points` are forms of the keys that have to be at least 0: outputs without noise are within gamma.
    - `in_balls` says that an output with continuous noise has to be within gamma on both sides, which has probability 0
      if gamma is 0.
    """

    keys: tuple[int, ...]
    guards: tuple[Constraint, ...]
    points: tuple[Affine, ...]
    in_balls: bool
    components: tuple[ComponentTemplate, ...]

    def guards_hold(self, values: Mapping[int, Fraction]) -> bool:
        """Return whether the conditions that involve no noise are satisfied, at the `values` of the keys.

        If not, the event has probability 0. The conditions are: every guard holds, every output without noise is within
        gamma, and gamma is not 0 if the event is `in_balls`.
        """
        if self.in_balls and values[GAMMA] <= 0:
            return False
        for guard in self.guards:
            if not guard.holds_at(values):
                return False
        return all(point.evaluate(values) >= 0 for point in self.points)


def sides_of_outputs(program: CoreProgram) -> tuple[int, ...]:
    """The sides on which real and int outputs of `program` may be too far off: 1 for below, -1 for above.

    The metric of a program can count only errors above the right value, or only errors below.
    """
    match None if program.metric is None else program.metric.output:
        case "above":
            return (-1,)
        case "below":
            return (1,)
        case _:
            return 1, -1


def template(
    program: CoreProgram, exit_state: ExitState, near: Iterable[int] = (), intervals: Iterable[NoiseWeight] = ()
) -> EventTemplate:
    """Return the event that a run of `program` ends in `exit_state` with the outputs `near` within gamma.

    `near` are slots of real and int outputs, which must have values in `exit_state`. Each of `intervals` is one more
    independent noise, with the interval in which it must lie.
    """
    in_balls = False
    points: list[Affine] = []
    signs = sides_of_outputs(program)
    guards = irredundant(exit_state.guards.items)
    given = (*exit_state.guards.items, *nonnegative(exit_state.noises).items)
    constraints = irredundant(exit_state.constraints.items, given)
    bounds = [item.form for item in constraints]
    for slot in sorted(near):
        value = exit_state.outputs[slot]
        assert isinstance(value, Affine), "only assigned real and int outputs are compared with gamma"
        off = value - Affine.input(slot)
        sides = [
            combination(((Fraction(sign), off), (Fraction(1), Affine.input(GAMMA))), Fraction(0)) for sign in signs
        ]
        if not value.noises:
            points += sides
            continue
        if program.slots[slot].type is BaseType.REAL and len(sides) > 1:
            in_balls = True
        bounds += sides
    independent = components(exit_state.noises, bounds)
    independent += tuple([_interval(-1 - number, each) for number, each in enumerate(intervals) if each.is_bounded])
    keys = {key for component in independent for key in component.keys}
    keys.update(key for form in (*[guard.form for guard in guards], *points) for key, _ in form.inputs)
    return EventTemplate(tuple(sorted(keys)), guards, tuple(points), in_balls, independent)

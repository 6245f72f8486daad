"""A lower bound of the probability that clamped outputs are near: one event of the noises, whichever exit is taken.

If `max(0, r)` is released, r below 0 and r above 0 are two exits, and each of them alone may be unlikely.

**Lemma.** *Let w be an affine form of noises and inputs, and a(u) the exact answer. Let S be one of four events: w <= a
+ gamma, w >= a - gamma, the intersection of the two, or the certain event. Suppose that for each exit of the program,
at inputs of the class, all noises of S that lead to the exit give an output within gamma of a. Then Pr[output within
gamma of a] >= Pr[S] at these inputs.* Exits cover all values of the noises. A noise that is not drawn on the way to an
exit can be drawn before it and left unused. ∎

The condition for one exit is that two systems of linear inequalities over noises, inputs and gamma have no solution. If
a program has several outputs, their events are intersected.

**Noises in a box.** *Let F be the event that the finite outputs are right, and N that the other outputs are near. Let
the box B be the event that each noise of the outputs is within share·gamma of its mean, for a number share > 0. If, at
each exit of F, B implies N, then Pr[F and N] >= Pr[F] - Pr[not B].* Indeed F and B imply N. ∎ This applies to a program
that releases the index of the greatest noisy value and its gap to the second, although each exit alone compares noises
that it releases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from dipc.chain.chain import ExitState
from dipc.chain.event import GAMMA
from dipc.chain.state import Affine, Constraint, as_form, centered, terms_of
from dipc.linear.halfspace import Halfspace
from dipc.linear.program import Infeasible, solution
from dipc.measure.event import Noise
from dipc.rules.centered_exits import CenteredExit, NoiseComponent, is_whole
from dipc.rules.goal import Goal, Rule, least_slacks
from dipc.rules.rule import Bounds
from dipc.text.core import Value

_ZERO, _ONE = Fraction(0), Fraction(1)

#: Gamma as a form.
_GAMMA = Affine.input(GAMMA)

#: The most exits, and the most forms of one output, that are tried.
_MOST_EXITS, _MOST_FORMS = 40, 4

#: The sides on which S bounds w, the weakest events first. On a side without a bound the output is near anyway.
_SIDES = ((), (_ONE,), (-_ONE,), (_ONE, -_ONE))

#: An event as forms of noises, inputs and gamma that are nonnegative in it.
_Event = tuple[Affine, ...]


def near_whatever(
    states: Sequence[ExitState],
    answer: Mapping[int, Value | Affine | None],
    sides: Sequence[int],
    guards: Sequence[Constraint],
    gamma: Fraction,
) -> CenteredExit | None:
    """Return an event of noises in which all real outputs are near the `answer`, whichever exit the run takes.

    The event is written as an exit without guards. `states` are the final states of all runs, and `answer` maps output
    slots to the right values. In the event, side·(answer - output) is at most the claim's gamma for each of `sides`,
    which are 1 or -1, at all inputs that satisfy `guards`. This is true for every claim whose gamma is at least
    `gamma`.

    The result is None if no event is found. It is also None if each output is one form in all states: the exits then
    give a bound that is as good. Raises NotConfirmed.
    """
    forms = {
        slot: as_form(value)
        for slot, value in answer.items()
        if any(isinstance(state.outputs[slot], Affine) for state in states)
    }
    noises = {noise.id: noise for state in states for noise in state.noises}
    if (
        not 1 < len(states) <= _MOST_EXITS
        or any(noises[noise.id] != noise for state in states for noise in state.noises)
        or all(len({state.outputs[slot] for state in states}) == 1 for slot in forms)
    ):
        return None
    others = {slot: value for slot, value in answer.items() if slot not in forms}
    nearby: list[_Event] = []
    for slot, form in forms.items():
        if form is None:
            return None
        known = [(state.outputs[slot], [*_premises(state, guards, gamma)]) for state in states]
        for event in _proposed(states, slot, form):
            if all(_is_near([*reached, *map(halfspace, event)], form, value, sides) for value, reached in known):
                nearby.append(event)
                break
        else:
            return None
    every = [side for event in nearby for side in event]
    for state in states:
        wrong = any(state.outputs[slot] != value for slot, value in others.items())
        if wrong and not is_empty([*_premises(state, guards, gamma), *map(halfspace, every)]):
            return None
    used = dict.fromkeys(noise for side in every for noise, _ in side.noises)
    places = {noise: index for index, noise in enumerate(used)}
    # Integer noise whose mean does not depend on the inputs keeps its mean.
    kept = {noise for noise in used if noises[noise].law.whole and noises[noise].mean.is_number}
    means = {noise: Affine.number(_ZERO) if noise in kept else noises[noise].mean for noise in used}
    drawn = tuple(
        [
            Noise(noises[noise].law, noises[noise].rate, noises[noise].mean.constant if noise in kept else _ZERO)
            for noise in used
        ]
    )
    component = NoiseComponent(drawn, tuple([centered(side, means).renamed({}, places) for side in every]))
    in_ball = any(len(event) > 1 for event in nearby) and not is_whole(component)
    return CenteredExit((), None, (), in_ball, (component,) if every else ())


def _proposed(states: Sequence[ExitState], slot: int, answer: Affine) -> Iterator[_Event]:
    every = dict.fromkeys(state.outputs[slot] for state in states)
    forms = [value for value in every if isinstance(value, Affine) and value.noises]
    for signs in _SIDES:
        for form in forms[:_MOST_FORMS]:
            yield tuple([_GAMMA - (form - answer).scaled(sign) for sign in signs])


def _is_near(
    system: Sequence[Halfspace], answer: Affine | None, output: Value | Affine | None, sides: Sequence[int]
) -> bool:
    """Return True only if side·(`answer` - `output`) <= gamma is proved in `system` for each of `sides`, 1 or -1.

    `system` has half-spaces of noises, inputs and gamma.
    """
    given = as_form(output)
    if given is None or answer is None:
        return False
    beyond = [(answer - given).scaled(Fraction(side)) - _GAMMA for side in sides]
    return all(is_empty([*system, halfspace(form, strict=True)]) for form in beyond)


def _premises(state: ExitState, guards: Sequence[Constraint], gamma: Fraction) -> Iterator[Halfspace]:
    """Yield half-spaces that hold in each run to the final state `state`, at inputs that satisfy `guards`.

    Their variables are the noises, the inputs, and one for the tolerance of the claim. The first half-space says that
    the tolerance is at least `gamma`.
    """
    yield halfspace(_GAMMA.shifted(-gamma))
    for item in (*state.constraints.items, *state.guards.items, *guards):
        yield halfspace(item.form, strict=item.strict)


def is_empty(system: Sequence[Halfspace]) -> bool:
    """Return True if it is proved that `system` has no solution. Raises NotConfirmed."""
    return isinstance(solution(system), Infeasible)


def halfspace(form: Affine, *, strict: bool = False) -> Halfspace:
    """Return the half-space `form` >= 0, or > 0 if `strict`, over noises, inputs and gamma."""
    return Halfspace(tuple(sorted(terms_of(form))), form.constant, strict)


def near_in_a_box(
    states: Sequence[ExitState],
    answer: Mapping[int, Value | Affine | None],
    sides: Sequence[int],
    guards: Sequence[Constraint],
) -> CenteredExit | None:
    """Return the event that each noise of the real outputs is at most share·gamma from its mean, or None.

    The share is the first of a few fractions for which the event makes the outputs near. At each final state of
    `states` that has the finite outputs of `answer`, side·(answer - output) <= gamma then holds for each real output
    and each of `sides`, 1 or -1. This holds for every gamma >= 0 and all inputs that satisfy `guards`. The result is
    None if no share is found. Raises NotConfirmed.
    """
    right = [
        state
        for state in states
        if all(
            value == answer[slot]
            for slot, value in state.outputs.items()
            if as_form(value) is None or as_form(answer[slot]) is None
        )
    ]
    noisy = [(slot, value) for state in right for slot, value in state.outputs.items() if isinstance(value, Affine)]
    forms = {slot: as_form(answer[slot]) for slot, _ in noisy}
    noises = {noise.id: noise for state in right for noise in state.noises}
    used = sorted({noise for _, value in noisy for noise, _ in value.noises})
    fixed = all(noises[noise.id] == noise and not noise.mean.noises for state in right for noise in state.noises)
    if not 1 < len(right) <= _MOST_EXITS or not forms or None in forms.values() or not fixed:
        return None
    for share in (_ONE, Fraction(1, 2), Fraction(1, 3), Fraction(1, max(len(used), 1))):
        off = [Affine.noise(noise) - noises[noise].mean for noise in used]
        box = [halfspace(each.scaled(sign) + _GAMMA.scaled(share)) for each in off for sign in (_ONE, -_ONE)]
        systems = [(state, [*_premises(state, guards, _ZERO), *box]) for state in right]
        if all(
            _is_near(system, form, state.outputs[slot], sides)
            for state, system in systems
            for slot, form in forms.items()
        ):
            parts = []
            for n in used:
                halves = [Affine(((0, sign / share),), _GAMMA.inputs, _ZERO) for sign in (_ONE, -_ONE)]
                parts.append(NoiseComponent((Noise(noises[n].law, noises[n].rate, _ZERO),), tuple(halves)))
            return CenteredExit((), None, (), not all(map(is_whole, parts)), tuple(parts))
    return None


def _bounds(goal: Goal) -> Bounds | None:
    required, inputs = goal.required, goal.convex.inputs
    if required.gamma_rate < 0:
        return None
    least = required.gamma_base + (required.start or 0) * required.gamma_rate
    near = near_whatever(*goal.setting.exits.ends(inputs.finite, inputs.region), goal.convex.guards, least)
    return None if near is None else Bounds(least_slacks(goal, [near]).functions, None)


CLAMPS = Rule("one event of the noises, whatever exit is taken", _bounds)

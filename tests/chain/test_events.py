"""Templates of exits: guards, components, balls, and the events they give."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dipc.chain.event import GAMMA, template
from dipc.chain.explore import explore
from dipc.chain.state import Affine
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.noise.discrete_laplace import DISCRETE_LAPLACE
from dipc.noise.laplace import LAPLACE
from dipc.program.exits import Exits
from dipc.text.ast import Role
from tests.chain.programs import BOOL, INT, REAL, Writer, running_maximum, sparse
from tests.chain.samples import all_hold, dom_input, located, samples, value_at
from tests.chain.strategies import programs

F = Fraction


def event_holds(event, members, noises):
    return all(
        sum(factor * noises[members[index]] for index, factor in item.coefficients) + item.constant >= 0
        for item in event.constraints
    )


@given(programs(), st.integers(0, 2), st.integers())
def test_events_hold_where_the_exit_is_reached_within_its_balls(program, d, seed):
    dom_inputs = {dom_input(program): F(d)}
    chain = explore(program, dom_inputs)
    slots = [slot for slot in program.outputs if program.slots[slot].is_symbolic]
    for exit_state in chain.exits:
        for centers, gamma in (({}, F(0)), (dict(zip(slots, [F(1, 3), F(1)], strict=True)), F(3, 2))):
            if any(exit_state.outputs[slot] is None for slot in centers):
                assert not [*Exits(program, (exit_state,), {}).towards({}, centers)]
                continue
            event_template = template(program, exit_state, centers)
            for noises, inputs in samples(program, seed, dom_inputs, 4):
                there = located(exit_state, noises, inputs)
                reached = all_hold(exit_state, noises, inputs)
                for slot, center in centers.items():
                    reached = reached and abs(value_at(exit_state.outputs[slot], there, inputs) - center) <= gamma
                values = {**inputs, **centers, GAMMA: gamma}
                told = event_template.guards_hold(values) and all(
                    event_holds(part.event(values), part.members, noises) for part in event_template.components
                )
                assert told is reached


@given(programs(), st.integers(0, 2), st.integers())
def test_components_are_independent_normalized_and_name_what_they_depend_on(program, d, seed):
    dom_inputs = {dom_input(program): F(d)}
    slots = [slot for slot in program.outputs if program.slots[slot].is_symbolic]
    for exit_state in explore(program, dom_inputs).exits:
        event_template = template(program, exit_state, [slot for slot in slots if exit_state.outputs[slot] is not None])
        members = [noise for part in event_template.components for noise in part.members]
        assert len(members) == len(set(members))
        for _, inputs in samples(program, seed, dom_inputs, 1):
            for part in event_template.components:
                values = {**inputs, **dict.fromkeys(slots, F(0)), GAMMA: F(1)}
                event = part.event({key: values[key] for key in part.keys})
                assert len(event.noises) == len(part.members)
                by_id = {noise.id: noise for noise in exit_state.noises}
                families = set()
                for noise, member in zip(event.noises, part.members, strict=True):
                    var = by_id[member]
                    assert noise == Noise(var.law, var.rate, F(0))
                    families.add(noise.law)
                assert families == {DISCRETE_LAPLACE} or DISCRETE_LAPLACE not in families
                mentioned = set()
                for item in event.constraints:
                    assert not item.strict
                    keys = [index for index, _ in item.coefficients]
                    assert keys
                    assert keys == sorted(set(keys))
                    assert all(factor for _, factor in item.coefficients)
                    mentioned.update(keys)
                assert mentioned == set(range(len(event.noises)))


def test_sparse_gives_stars_with_the_inputs_as_constants():
    program = sparse(3, 1)
    wanted = dict(zip(program.outputs, ["bot", "bot", "top"], strict=True))
    (exit_state,) = explore(program, {}, wanted).exits
    (part,) = template(program, exit_state).components
    assert part.keys == program.inputs
    event = part.event(dict(zip(program.inputs, [F(-1), F(-2), F(3)], strict=True)))
    assert event == Event(
        (
            Noise(LAPLACE, F(1, 2), F(0)),
            *[Noise(LAPLACE, F(1, 4), F(0))] * 3,
        ),
        (
            Halfspace(((0, F(1)), (1, F(-1))), F(1)),
            Halfspace(((0, F(1)), (2, F(-1))), F(2)),
            Halfspace(((0, F(-1)), (3, F(1))), F(3)),
        ),
    )


def test_sparse_with_resampled_thresholds_splits_into_pairs():
    program = sparse(4, 4)
    (exit_state,) = explore(program, {}, dict.fromkeys(program.outputs, "top")).exits
    assert [len(part.members) for part in template(program, exit_state).components] == [2, 2, 2, 2]


def laplace_and_sum():
    """x <- Lap(eps, q); y <- Lap(2*eps, 0); outputs x, x + y, q + 1, and one that is never assigned."""
    writer = Writer(
        ("q", REAL, Role.INPUT, None),
        ("x", REAL, Role.OUTPUT, None),
        ("sum", REAL, Role.OUTPUT, None),
        ("plain", REAL, Role.OUTPUT, None),
        ("never", REAL, Role.OUTPUT, None),
        ("many", REAL, Role.OUTPUT, None),
        ("y", REAL, Role.VAR, None),
    )
    q, x, total, plain, _, many, y = range(7)
    program = writer.program(
        [
            ("lap", x, 1, ({q: 1}, 0)),
            ("lap", y, 2, ({}, 0)),
            ("let", total, ({x: 1, y: 1}, F(1, 2))),
            ("let", plain, ({q: 1}, 1)),
            ("lap", many, 1, ({}, 0)),
            ("let", many, ({many: 1, x: 1, y: 1}, 0)),
        ]
    )
    (exit_state,) = explore(program, {}).exits
    return program, exit_state


def test_balls_on_one_and_two_noises():
    program, exit_state = laplace_and_sum()
    event_template = template(program, exit_state, [1, 2])
    values = {0: F(4), 1: F(5), 2: F(6), GAMMA: F(2)}
    assert event_template.guards_hold(values)
    (part,) = event_template.components
    assert part.keys == (GAMMA, 0, 1, 2)
    assert part.event(values) == Event(
        (Noise(LAPLACE, F(1), F(0)), Noise(LAPLACE, F(2), F(0))),
        (
            Halfspace(((0, F(1)),), F(1)),
            Halfspace(((0, F(-1)),), F(3)),
            Halfspace(((0, F(1)), (1, F(1))), F(1, 2)),
            Halfspace(((0, F(-1)), (1, F(-1))), F(7, 2)),
        ),
    )


def test_noises_without_constraints_are_dropped():
    program, exit_state = laplace_and_sum()
    assert template(program, exit_state).components == ()
    (part,) = template(program, exit_state, [1]).components
    assert part.members == (0,)


def test_a_ball_on_a_deterministic_output_is_a_guard_with_closed_ends():
    program, exit_state = laplace_and_sum()
    event_template = template(program, exit_state, [3])
    assert event_template.components == ()
    for value, radius, holds in [(3, 0, True), (3, 1, True), (4, 1, True), (4, F(99, 100), False), (2, 1, True)]:
        assert event_template.guards_hold({0: F(2), 3: F(value), GAMMA: F(radius)}) is holds


def test_a_single_value_of_a_continuous_output_is_impossible():
    program, exit_state = laplace_and_sum()
    assert not template(program, exit_state, [1]).guards_hold({0: F(0), 1: F(0), GAMMA: F(0)})


def test_an_output_that_was_never_assigned_lies_in_no_ball():
    program, exit_state = laplace_and_sum()
    assert exit_state.outputs[4] is None
    exits = Exits(program, (exit_state,), {})
    assert len([*exits.towards({}, [1])]) == 1
    assert not [*exits.towards({}, [4])]


def test_an_output_may_combine_any_number_of_noises():
    program, exit_state = laplace_and_sum()
    (part,) = template(program, exit_state, [5]).components
    event = part.event({0: F(4), 5: F(1), GAMMA: F(2)})
    assert [noise.mean for noise in event.noises] == [F(0), F(0), F(0)]
    ones = ((0, F(1)), (1, F(1)), (2, F(1)))
    assert event.constraints == (Halfspace(ones, F(5)), Halfspace(tuple((at, -c) for at, c in ones), F(-1)))


def test_a_single_value_of_an_int_output_is_possible():
    writer = Writer(("n", INT, Role.INPUT, None), ("z", INT, Role.OUTPUT, None), ("w", INT, Role.VAR, None))
    program = writer.program([("dlap", 2, 1, ({0: 1}, 0)), ("dlap", 1, 2, ({2: 2, 0: 1}, -1))])
    (exit_state,) = explore(program, {}).exits
    event_template = template(program, exit_state, [1])
    values = {0: F(3), 1: F(7), GAMMA: F(0)}
    assert event_template.guards_hold(values)
    (part,) = event_template.components
    assert part.event(values) == Event(
        (Noise(DISCRETE_LAPLACE, F(1), F(0)), Noise(DISCRETE_LAPLACE, F(2), F(0))),
        (Halfspace(((0, F(2)), (1, F(1))), F(1)), Halfspace(((0, F(-2)), (1, F(-1))), F(-1))),
    )


def test_what_one_sided_noise_satisfies_anyhow_is_no_constraint():
    writer = Writer(("r", REAL, Role.VAR, None), ("s", REAL, Role.VAR, None), ("b", BOOL, Role.OUTPUT, None))
    draws = [("expo", 0, 1), ("lap", 1, 1, ({}, 0))]
    program = writer.program([*draws, ("ifcompare", ({1: 1}, 1), "<", [], []), ("compare", 2, ({0: 1, 1: -1}, 0), ">")])
    sizes = sorted(
        [
            len(item.coefficients)
            for part in template(program, exit_state).components
            for item in part.event({}).constraints
        ]
        for exit_state in explore(program, {}).exits
    )
    # Where s < -1, r > s is known. Where r <= s, s is not negative either, let alone less than -1.
    assert sizes == [[1], [1, 2], [2]]


def test_constraints_that_follow_from_others_are_dropped():
    """r1 > r3, then r1 > r2 and r2 > r3: the first one follows, and the rest is a forest."""
    writer = Writer(
        *[(name, REAL, Role.VAR, None) for name in ("r1", "r2", "r3")],
        *[(name, BOOL, Role.OUTPUT, None) for name in ("b13", "b12", "b23")],
    )
    program = writer.program(
        [("lap", i, 1, ({}, 0)) for i in range(3)]
        + [("compare", 3, ({0: 1, 2: -1}, 0), ">"), ("compare", 4, ({0: 1, 1: -1}, 0), ">")]
        + [("compare", 5, ({1: 1, 2: -1}, 0), ">")]
    )
    (exit_state,) = explore(program, {}, {3: True, 4: True, 5: True}).exits
    assert len(exit_state.constraints.items) == 3
    (part,) = template(program, exit_state).components
    assert [item.coefficients for item in part.event({}).constraints] == [
        ((0, F(1)), (1, F(-1))),
        ((1, F(1)), (2, F(-1))),
    ]


def test_united_exits_of_a_running_maximum_are_one_star_each():
    program = running_maximum(4)
    exits = explore(program, {}).exits
    assert len(exits) == 4
    for exit_state in exits:
        winner = exit_state.outputs[program.outputs[0]]
        noise = exit_state.noises[int(winner) - 1].id
        forms = {item.form.noises for item in exit_state.constraints.items}
        others = [other.id for other in exit_state.noises if other.id != noise]
        assert forms == {(Affine.noise(noise) - Affine.noise(other)).noises for other in others}

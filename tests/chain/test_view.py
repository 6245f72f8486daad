"""What people see of choices, loops, and noises other than Laplace."""

from __future__ import annotations

from fractions import Fraction

import dipc
from dipc.chain.explore import explore
from dipc.outcome.program import build
from dipc.text.printer import language_text

F = Fraction


TEXT = """program p; output x : {0..2}; output b : bool;
x <- Exp(eps/2, v in {0..2} : min(v, 1));
b <- choose { true : 1 - exp(-eps), false : exp( -eps ) }"""


def seen(text):
    program = dipc.load(text)
    return build(explore(program.core, {}, display=True), None, program.choices.weights)


def steps_of(shown):
    return [step for steps in shown.steps for step in steps]


def test_choices_are_shown_with_their_probabilities():
    steps = steps_of(seen(TEXT))
    assert [step.outcome for step in steps][:5] == ["x = 0", "x = 1", "x = 2", "b = true", "b = false"]
    texts = [language_text(step.probability) for step in steps[:5]]
    best = "1/(2 + exp(-eps/2))"
    assert texts == ["exp(-eps/2)/(2 + exp(-eps/2))", best, best, "1 - exp(-eps)", "exp(-eps)"]
    assert not any(step.certain for step in steps)


def test_a_loop_is_shown_once():
    shown = seen("program p; output b : bool = true; while b do b <- choose { true : 1/2, false : 1/2 } end")
    statements = ["while b", "while b", "b <- choose { true : 1/2, false : 1/2 }", "exit"]
    assert [state.statement for state in shown.states] == statements
    assert [step.outcome for step in steps_of(shown) if step.goal == 0] == ["b = true"]


def test_noises_are_shown_with_their_parameters():
    shown = seen(
        "program p; input x : real; input n : int; output y : real; var r, t : real; var z : int;\n"
        "r <- Expo(2*eps); t <- Lap(eps/2, r/2 + x + 1); z <- DLap(eps, n - 1); y <- 2*t - r"
    )
    last = shown.states[-1]
    assert last.noises == ("r ~ Expo(2*eps)", "noise(t) ~ Lap(eps/2, x + 1)", "z ~ DLap(eps, n - 1)")
    assert dict(last.values) == {"x": "x", "n": "n", "y": "2*noise(t)", "t": "1/2*r + noise(t)"}

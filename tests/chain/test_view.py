"""What people see of choices, loops, and noises other than Laplace."""

from __future__ import annotations

from fractions import Fraction

from dipc.chain.event import view
from dipc.chain.explore import explore
from dipc.chain.state import ExponentialWeight
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse
from dipc.text.statements import lower

F = Fraction


TEXT = """program p; output x : {0..2}; output b : bool;
x <- Exp(eps/2, v in {0..2} : min(v, 1));
b <- choose { true : 1 - exp(-eps), false : exp( -eps ) }"""


def seen(text, inputs=None):
    source = SourceText("view.dip", text)
    return view(explore(lower(parse(source), source, {}), {}, display=True), inputs)


def test_choices_are_shown_with_their_weights():
    shown = seen(TEXT)
    assert [edge.outcome for edge in shown.edges][:5] == ["x = 0", "x = 1", "x = 2", "b = true", "b = false"]
    assert [edge.weight for edge in shown.edges][:3] == [ExponentialWeight(F(1, 2), (0, 1, 1), at) for at in range(3)]
    written = [TEXT[edge.weight.span.start : edge.weight.span.end] for edge in shown.edges[3:5]]
    assert written == ["1 - exp(-eps)", "exp( -eps )"]
    assert not any(edge.certain for edge in shown.edges)


def test_a_loop_is_shown_once():
    shown = seen("program p; output b : bool = true; while b do b <- choose { true : 1/2, false : 1/2 } end")
    statements = ["while b", "while b", "b <- choose { true : 1/2, false : 1/2 }", "exit"]
    assert [state.statement for state in shown.states] == statements
    back = [edge for edge in shown.edges if edge.goal == shown.initial]
    assert [edge.outcome for edge in back] == ["b = true"]


def test_noises_are_shown_with_their_parameters():
    shown = seen(
        "program p; input x : real; input n : int; output y : real; var r, t : real; var z : int;\n"
        "r <- Expo(2*eps); t <- Lap(eps/2, r/2 + x + 1); z <- DLap(eps, n - 1); y <- 2*t - r"
    )
    last = shown.states[-1]
    assert [(noise.name, noise.law.keyword, noise.rate, noise.mean) for noise in last.noises] == [
        ("r", "Expo", F(2), "0"),
        ("noise(t)", "Lap", F(1, 2), "x + 1"),
        ("z", "DLap", F(1), "n - 1"),
    ]
    assert dict(last.values) == {"x": "x", "n": "n", "y": "2*noise(t)", "t": "1/2*r + noise(t)"}

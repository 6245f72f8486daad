"""What people see of choices, loops, and noises other than Laplace."""

from __future__ import annotations

from fractions import Fraction

from dipc.chain.explore import explore
from dipc.chain.text import weight_text
from dipc.chain.view import view
from dipc.diagnostics.source import Source
from dipc.syntax.lower import lower
from dipc.syntax.parser import parse

F = Fraction


def seen(text, inputs=None):
    source = Source("view.dip", text)
    return view(explore(lower(parse(source), source, {}), {}, display=True), inputs)


def test_choices_are_shown_with_their_weights():
    shown = seen(
        "program p; output x : {0..2}; output b : bool;\n"
        "x <- Exp(eps/2, v in {0..2} : min(v, 1));\n"
        "b <- choose { true : 1 - exp(-eps), false : exp( -eps ) }"
    )
    assert [edge.outcome for edge in shown.edges][:5] == [
        "x = 0 (weight 1/(1 + 2*exp(eps/2)))",
        "x = 1 (weight exp(eps/2)/(1 + 2*exp(eps/2)))",
        "x = 2 (weight exp(eps/2)/(1 + 2*exp(eps/2)))",
        "b = true (weight 1 - exp(-eps))",
        "b = false (weight exp( -eps ))",
    ]
    assert all(edge.weight is not None and not edge.certain for edge in shown.edges)
    assert weight_text(shown.edges[0].weight, Source("", "")) == "1/(1 + 2*exp(eps/2))"


def test_a_loop_is_shown_once():
    shown = seen("program p; output b : bool = true; while b do b <- choose { true : 1/2, false : 1/2 } end")
    statements = ["while b", "while b", "b <- choose { true : 1/2, false : 1/2 }", "exit"]
    assert [state.statement for state in shown.states] == statements
    back = [edge for edge in shown.edges if edge.goal == shown.initial]
    assert [edge.outcome for edge in back] == ["b = true (weight 1/2)"]


def test_noises_are_shown_with_their_parameters():
    shown = seen(
        "program p; input x : real; input n : int; output y : real; var r, t : real; var z : int;\n"
        "r <- Expo(2*eps); t <- Lap(eps/2, r/2 + x + 1); z <- DLap(eps, n - 1); y <- 2*t - r"
    )
    last = shown.states[-1]
    assert [(noise.name, noise.family, noise.rate, noise.mean) for noise in last.noises] == [
        ("r", "Expo", F(2), "0"),
        ("noise(t)", "Lap", F(1, 2), "x + 1"),
        ("z", "DLap", F(1), "n - 1"),
    ]
    assert dict(last.values) == {"x": "x", "n": "n", "y": "2*noise(t)", "t": "1/2*r + noise(t)"}

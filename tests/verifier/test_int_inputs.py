"""Certificates about every int input.

They are followed to the end if the claim's distances are numbers. They are never accepted if an input refutes them,
whatever mathematical mistake they were written with.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from math import ceil
from typing import Any

import pytest

import dipc
from dipc import Verdict
from dipc.certificate.answers import Solved
from dipc.chain.state import Affine
from dipc.rules import class_claim, facets, goal
from dipc.rules.halfspaces import inwards
from dipc.verifier.document import check_text
from dipc.verifier.linear import Guard, least
from dipc.verifier.reading import Budget, NotDerived, Rejected
from tests.verifier import samples

GRID = "n in {-9, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 11}, m in {-5, -2, -1, 0, 1, 2, 3}"


SLANTED = "x <- DLap(eps, 2*n - m)"


def program(ideal: str, body: str, claim: str, metric: str = "", outputs: str = "o : bool") -> str:
    return (
        f"program p; input n, m : int; output {outputs}; var x, y : int = 0; {metric}\n"
        f"ideal {{ {ideal} }} claim {{ {claim} }}\n{body}\n"
    )


def deciding(compared: str, drawn: str = SLANTED) -> str:
    return f"{drawn}; if {compared} then o <- true else o <- false end"


L1, DISCRETE = "metric { input: l1; }", "metric { input: discrete; }"

#: Claims that hold with nothing to spare, or nearly so.
TIGHT = {
    "a step": program("o <- 2*n - m >= 3", deciding("x >= 3"), "alpha: 1/2; beta: exp(-eps)/(1 + exp(-eps));"),
    "two steps": program("o <- 2*n - m >= 3", deciding("x >= 3"), "alpha: 1; beta: exp(-4*eps)/(1 + exp(-eps));"),
    "between steps": program("o <- 2*n - m > 2", deciding("x > 5/2"), "alpha: 3/2; beta: exp(-4*eps)/(1 + exp(-eps));"),
    "less than a step": program("o <- 2*n >= m + 3", deciding("x >= 3"), "alpha: 1/2; beta: 1/(1 + exp(eps));"),
    "at least nothing": program("o <- 2*n >= m + 3", deciding("x >= 3"), "alpha: 0; beta: 1/(1 + exp(eps));"),
    "moves of one input": program(
        "o <- 2*n - m >= 3", deciding("x >= 3"), "alpha: 1; beta: exp(-3*eps)/(1 + exp(-eps));", L1
    ),
    "the discrete metric": program(
        "o <- 2*n - m >= 3", deciding("x >= 3"), "alpha: 1; beta: exp(-eps)/(1 + exp(-eps));", DISCRETE
    ),
    "further than any input": program("o <- 2*n - m >= 3", "o <- false", "alpha: 2; beta: 0;", DISCRETE),
    "an even form": program(
        "o <- 2*n >= 1", deciding("x >= 1", "x <- DLap(eps, 2*n)"), "alpha: 1; beta: exp(-eps)/(1 + exp(-eps));"
    ),
    "twice the noise": program(
        "o <- m - 2*n >= 1",
        deciding("m - 2*x >= 1", "x <- DLap(eps, n)"),
        "alpha: 1; beta: exp(-eps)/(1 + exp(-eps));",
    ),
    "a tie": program("o <- n = m", deciding("x = 0", "x <- DLap(eps, n - m)"), "alpha: 1; beta: 2/(1 + exp(eps));"),
    "two noises": program(
        "o <- n >= 0", deciding("x + y >= 0", "x <- DLap(eps, n); y <- DLap(eps, 0)"), "alpha: 3; beta: 2*exp(-2*eps);"
    ),
    "an int output": program(
        "o <- 3*n", "o <- DLap(eps, 3*n)", "alpha: 0; gamma: 5/2; beta: 2*exp(-3*eps)/(1 + exp(-eps));", "", "o : int"
    ),
    "an answer that is steady": program("o <- 3*n", "o <- 3*n + 1", "alpha: 2; gamma: 0; beta: 0;", "", "o : int"),
    "a box": program(
        "o <- n >= 0 and m >= 0",
        "x <- DLap(eps, n); y <- DLap(eps, m); if x >= 0 and y >= 0 then o <- true else o <- false end",
        "alpha: 2; beta: 2*exp(-2*eps)/(1 + exp(-eps));",
    ),
    "a strip": program(
        "if n - m = 1 then o <- true else o <- false end",
        deciding("x = 1", "x <- DLap(eps, n - m)"),
        "alpha: 3/2; beta: exp(-3*eps);",
    ),
    "a slanted corner": program(
        "if 2*n - m >= 1 and n + m >= 2 then o <- true else o <- false end",
        "x <- DLap(eps, 2*n - m); y <- DLap(eps, n + m); if x >= 1 and y >= 2 then o <- true else o <- false end",
        "alpha: 2; beta: 2*exp(-2*eps);",
    ),
    "ints beside reals": program(
        "o <- n >= 0 and q > 0",
        "x <- DLap(eps, n); r <- Lap(eps, q); if x >= 0 and r > 0 then o <- true else o <- false end",
        "alpha: 3/2; beta: 3/2*exp(-3*eps/2);",
    ).replace("var x", "input q : real; var r : real; var x"),
    "every distance without noise": program("o <- 2*n >= 1", "o <- n >= 1", "alpha: dd; beta: 0;"),
    "the answer is another after a step": program(
        "o <- n", "o <- DLap(eps, n)", "alpha: dd; gamma: 0; beta: 2/(1 + exp(alpha*eps));", "", "o : int"
    ),
}


@cache
def certificate(source: str) -> str:
    return dipc.certify(dipc.check(dipc.load(source), inputs="all", keep_proofs=True))


def document(source: str) -> dict[str, Any]:
    return samples.document(certificate(source))


def complete(text: str) -> bool:
    """Whether a certificate is accepted, and in full."""
    try:
        return check_text(text).complete
    except Rejected:
        return False


@pytest.mark.parametrize("name", TIGHT)
def test_nothing_is_taken_on_trust(name: str) -> None:
    accepted = check_text(certificate(TIGHT[name]))
    assert (accepted.verdict, accepted.complete) == ("accurate", True), accepted.trusted


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("a step", "alpha: 1/2", "alpha: 1"),
        ("two steps", "exp(-4*eps)", "exp(-5*eps)"),
        ("between steps", "exp(-4*eps)", "exp(-5*eps)"),
        ("moves of one input", "exp(-3*eps)", "exp(-4*eps)"),
        ("an int output", "5/2", "3/2"),
        ("a box", "2*exp(-2*eps)", "exp(-2*eps)"),
    ],
)
def test_inputs_that_refute_are_derived(name: str, old: str, new: str) -> None:
    source = TIGHT[name].replace(old, new)
    if name == "a step":
        source = source.replace("exp(-eps)/(", "exp(-5*eps)/(")
    accepted = check_text(certificate(source))
    assert (accepted.verdict, accepted.complete) == ("inaccurate", True), accepted.trusted


def test_bounds_may_be_above_one_at_vertices() -> None:
    """The ways past z = -1 are certain on both sides of it."""
    source = """
    program p; input m : int; input q : real; output o : bool; var y, z : real; var x : int;
    ideal { if q > -1 then o <- m = -1 else o <- false end } claim { alpha: 1; beta: 1/2; gamma: 0; }
    y <- Lap(eps, q); x <- DLap(2*eps, m); z <- Lap(2*eps, q);
    if y > -1 then if x = -1 then o <- true else o <- false end else if z > -1 then o <- true else o <- false end end
    """
    data = document(source)
    assert any(one.get("required", {}).get("kind") == "vertices" for one in data["cases"][0]["classes"])
    assert complete(certificate(source))


# --- other programs under the same proof ------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("a step", "x >= 3 then", "x >= 4 then"),
        ("a step", "x >= 3 then", "x >= 2 then"),
        ("a step", "o <- 2*n - m >= 3", "o <- 2*n - m > 3"),
        ("a step", "DLap(eps,", "DLap(eps/2,"),
        ("a step", "DLap(eps, 2*n - m)", "DLap(eps, 3*n - m)"),
        ("two steps", "\nideal", "metric { input: l1; }\nideal"),
        ("two steps", "\nideal", "metric { input: discrete; }\nideal"),
        ("two steps", "input n, m : int", "input n, m : {0..4}"),
        ("two steps", "input n, m : int", "input n : int; input m : {0, 1}"),
        ("between steps", "x > 5/2", "x > 3"),
        ("less than a step", "x >= 3 then", "2*x >= 7 then"),
        ("an even form", "o <- 2*n >= 1", "o <- 3*n >= 1"),
        ("an even form", "DLap(eps, 2*n)", "DLap(eps, n)"),
        ("an even form", "DLap(eps, 2*n)", "DLap(eps, 2*n - 1)"),
        ("twice the noise", "m - 2*x >= 1", "m - 2*x >= 0"),
        ("twice the noise", "m - 2*x >= 1", "m - 3*x >= 1"),
        ("a tie", "x = 0", "x >= 0"),
        ("a tie", "o <- n = m", "o <- n = m + 1"),
        ("an int output", "o <- DLap(eps, 3*n)", "o <- DLap(eps, 3*n + 1)"),
        ("an int output", "o <- DLap(eps, 3*n)", "x <- DLap(eps, n); o <- 3*x"),
        ("an answer that is steady", "o <- 3*n + 1", "o <- 0"),
        ("an answer that is steady", "ideal { o <- 3*n }", "ideal { if n >= 0 then o <- 3*n else o <- 0 end }"),
        ("further than any input", "o <- 2*n - m >= 3", "o <- 2*n - 2*m = 1 "),
        ("further than any input", "o <- 2*n - m >= 3", "if 2*n + 3*m >= 1 then o <- true else o <- true end"),
        ("a box", "n >= 0 and m >= 0 }", "n >= 0 and m >= 1 }"),
        ("a box", "n >= 0 and m >= 0 }", "n + m >= 0 and m >= 0 }"),
        ("ints beside reals", "q > 0 }", "q > 1/2 }"),
        ("ints beside reals", "DLap(eps, n)", "DLap(eps/2, n)"),
        ("the answer is another after a step", "ideal { o <- n }", "ideal { o <- n + m - m + 1 }"),
    ],
)
def test_a_program_that_the_proof_is_not_about(name: str, old: str, new: str) -> None:
    source = TIGHT[name]
    text = source.replace(old, new, 1)
    assert text != source
    data = document(source)
    data["program"] |= {"text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    if complete(samples.resealed(data)):
        assert dipc.check(dipc.load(text), inputs="all").verdict is Verdict.ACCURATE


def bumped(old: str) -> list[str]:
    value = Fraction(old)
    return [str(value + 1), str(value - 1), str(value + Fraction(1, 2)), str(2 * value), str(-value)]


@pytest.mark.parametrize("name", ["two steps", "between steps", "twice the noise", "an int output", "a box"])
def test_numbers_of_bounds_are_derived_again(name: str) -> None:
    chance = random.Random(name)
    changed = 0
    for _ in range(40):
        data = document(TIGHT[name])
        found = [
            (entry, key)
            for one in data["cases"][0]["classes"]
            if "required" in one
            for entry in [
                *one["halfspaces"],
                *one["required"]["slacks"],
            ]
            for key in ("constant", "step")
            if key in entry
        ]
        entry, key = chance.choice(found)
        old = entry[key]
        entry[key] = chance.choice([value for value in bumped(old) if value != old])
        # A half-space that no bound needs may be weaker than it is, and another slack is bounded as truly as this one.
        if complete(samples.resealed(data)):
            assert "step" in entry or key == "constant"
        changed += 1
    assert changed == 40


# --- proofs by wrong mathematics --------------------------------------------------------------------


def _one_more(form: Affine, bound: Fraction, slope: Fraction) -> Fraction:
    return TRUE_RAISED(form, bound, slope) + 1


def _without_the_constant(form: Affine, bound: Fraction, slope: Fraction) -> Fraction:
    return TRUE_RAISED(form.shifted(-form.constant), bound, slope)


TRUE_RAISED = goal._raised

#: What a writer may get wrong, as functions of its own in place of its own.
MISTAKES: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "an edge as far as for reals": (facets, "_retreating", lambda guard, width: inwards(guard.form, width)),
    "an edge two steps away": (
        facets,
        "_retreating",
        lambda guard, width: inwards(guard.form.shifted(width), 2 * width),
    ),
    "no way with the same answer": (facets, "_may_reach", lambda *_, **__: False),
    "raised by one": (goal, "_raised", _one_more),
    "raised to multiples alone": (goal, "_raised", _without_the_constant),
    "alpha and one": (class_claim, "ceil", lambda alpha: ceil(alpha) + 1),
    "rivals further away": (facets, "_side", lambda form, width, *, whole: inwards((-form).shifted(-1), width)),
}

#: Those that make no claim of these programs wrong.
HARMLESS = {"no way with the same answer", "raised to multiples alone", "rivals further away"}

#: Claims from which such a writer takes what does not hold.
TEMPTING = [
    program(ideal, body, f"alpha: {alpha}; beta: {beta};", metric)
    for ideal, body in (
        ("o <- 2*n - m >= 3", deciding("x >= 3")),
        ("o <- 2*n >= 1", deciding("x >= 1", "x <- DLap(eps, 2*n)")),
        ("if n >= 2 then o <- true else o <- n >= 0 end", deciding("x >= 2", "x <- DLap(eps, n)")),
        ("o <- n >= 0 and m >= 1", deciding("x >= 0 and y >= 1", "x <- DLap(eps, n); y <- DLap(eps, m)")),
    )
    for alpha, metric in (("1", ""), ("3/2", ""), ("2", L1))
    for beta in ("exp(-2*eps)/(1 + exp(-eps))", "exp(-5*eps)/(1 + exp(-eps))", "2*exp(-4*eps)/(1 + exp(-eps))")
]


@pytest.mark.parametrize("name", MISTAKES)
def test_no_mistake_of_the_writer_is_accepted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    forged = 0
    for source in TEMPTING:
        with monkeypatch.context() as patched:
            patched.setattr(*MISTAKES[name])
            report = dipc.check(dipc.load(source), inputs="all", keep_proofs=True)
            text = dipc.certify(report)
        if report.verdict is not Verdict.ACCURATE:
            continue
        if dipc.check(dipc.load(source), inputs=GRID).verdict is Verdict.INACCURATE:
            forged += 1
            assert not complete(text), source
    assert forged or name in HARMLESS


# --- integer programs -------------------------------------------------------------------------------


def test_least_values_at_integers() -> None:
    chance = random.Random(3)
    found = 0
    for _ in range(120):
        rows = [({at: Fraction(side)}, Fraction(5)) for at in (0, 1) for side in (1, -1)]
        rows += [
            ({0: Fraction(chance.randint(-7, 7)), 1: Fraction(chance.randint(-7, 7))}, Fraction(chance.randint(-9, 3)))
            for _ in range(chance.randint(1, 3))
        ]
        objective = {0: Fraction(chance.randint(-2, 2)), 1: Fraction(chance.randint(-2, 2), 3)}
        values = [
            sum(c * point[at] for at, c in objective.items())
            for point in product(range(-5, 6), repeat=2)
            if all(sum(c * point[at] for at, c in form.items()) + rest >= 0 for form, rest in rows)
        ]
        guards = [Guard(tuple((i, c) for i, c in form.items() if c), rest, strict=False) for form, rest in rows]
        asking = Budget(answers=Solved())
        assert least(objective, guards, frozenset({0, 1}), asking) == min(values, default=None)
        found += bool(values)
    assert 20 < found < 110


def test_integers_that_are_nowhere_are_not_looked_for_forever() -> None:
    """The form 2x + 4y + 6z lies between 1 and 5/3 at infinitely many real points, and at no integers."""
    form = {0: Fraction(2), 1: Fraction(4), 2: Fraction(6)}
    guards = [
        Guard(tuple((at, side * c) for at, c in form.items()), rest, False)
        for side, rest in ((1, Fraction(-1)), (-1, Fraction(5, 3)))
    ]
    with pytest.raises(NotDerived, match="does not say how near"):
        least({}, guards, frozenset({0, 1, 2}), Budget(answers=Solved()))


# --- a distance that is left open ------------------------------------------------------------------

THRESHOLD = "x <- DLap(eps, n); if x >= 0 then o <- true else o <- false end"

#: Claims whose error falls at least as fast as beta from one integer distance to the next.
FALLING = {
    "a threshold": program("o <- n >= 0", THRESHOLD, "alpha: dd; beta: exp(-(alpha - 1)*eps);"),
    "nothing to spare": program("o <- n >= 0", THRESHOLD, "alpha: dd; beta: exp(-alpha*eps)/(1 + exp(-eps));"),
    "the least of two": program("o <- n >= 0", THRESHOLD, "alpha: dd; beta: min(1, exp(-alpha*eps)*alpha);"),
    "steps of three": program(
        "o <- 2*n - m >= 3", deciding("x >= 3"), "alpha: dd; beta: exp(-(3*alpha - 2)*eps)/(1 + exp(-eps));"
    ),
}


@pytest.mark.parametrize("name", FALLING)
def test_a_claim_at_the_distance_1_is_one_at_each(name: str) -> None:
    report = dipc.check(dipc.load(FALLING[name]), inputs="all", keep_proofs=True)
    assert report.verdict is Verdict.ACCURATE
    assert check_text(dipc.certify(report)).complete


@pytest.mark.parametrize("name", FALLING)
def test_a_claim_beside_an_unused_real_input_is_on_trust(name: str) -> None:
    source = FALLING[name].replace("input n, m : int;", "input n, m : int; input q : real;")
    report = dipc.check(dipc.load(source), inputs="all", keep_proofs=True)
    assert report.verdict is Verdict.ACCURATE
    accepted = check_text(dipc.certify(report))
    assert accepted.verdict == "accurate"
    assert not accepted.complete


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("DLap(eps, n)", "DLap(eps/2, n)"),
        ("DLap(eps, n)", "DLap(eps, n - 1)"),
        ("x >= 0", "x >= 1"),
        ("x >= 0", "x >= -1"),
        ("n >= 0", "n >= 1"),
        ("o <- n >= 0", "o <- n >= 0 or n <= -9"),
        ("x >= 0 then", "x >= 0 and n < 100 then"),
        ("x >= 0 then", "x >= 0 or n = -100 then"),
        ("input n, m : int", "input n : int; input m : real"),
    ],
)
def test_an_error_that_falls_slower_is_not_accepted(old: str, new: str) -> None:
    """Each claim is false at some distance, or at all, or inputs have distances between integers."""
    source = FALLING["nothing to spare"]
    data = samples.document(dipc.certify(dipc.check(dipc.load(source), inputs="all", keep_proofs=True)))
    text = source.replace(old, new, 1) if old != "n >= 0" else source.replace("o <- n >= 0", "o <- n >= 1")
    assert text != source
    data["program"] |= {"text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    try:
        accepted = check_text(samples.resealed(data))
    except Rejected:
        return
    assert not accepted.complete


def test_beta_that_falls_faster_is_rejected() -> None:
    """The claim is right at the distance 1, and wrong at 2."""
    data = samples.document(dipc.certify(dipc.check(dipc.load(FALLING["a threshold"]), inputs="all", keep_proofs=True)))
    for beta in ("exp(-2*(alpha - 1)*eps)", "2 - alpha", "exp(-(alpha - 1)*eps) - (alpha - 1)"):
        data["claim"]["beta"] = beta
        try:
            accepted = check_text(samples.resealed(data))
        except Rejected:
            continue
        assert not accepted.complete

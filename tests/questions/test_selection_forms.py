"""Selections in other forms than that of the proofs: the same law, or left as they are."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import dipc
from dipc import DiagnosticError
from dipc.decide.obligation import Verdict
from dipc.questions.every_number.normal_form import LoopText
from dipc.questions.every_number.selections import with_plain_selection
from dipc.questions.every_number.uniform import selected_from_inputs
from dipc.questions.privacy.every_number import check_privacy_for_all
from dipc.questions.privacy.outcome import PrivacyVerdict
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse
from dipc.text.printer import print_program

#: Bodies of Python functions that select one of m noisy values.
FORMS = {
    "index of the greatest": """
    noisy = [dipc.laplace(x, scale=2 / eps) for x in q]
    return noisy.index(max(noisy))
""",
    "noise on one side": """
    noisy = [x + dipc.exponential_noise(scale=2 / eps) for x in q]
    return noisy.index(max(noisy))
""",
    "index of the least": """
    noisy = [dipc.laplace(x, scale=2 / eps) for x in q]
    return noisy.index(min(noisy))
""",
    "index of the least with noise on one side": """
    noisy = [x + dipc.exponential_noise(scale=2 / eps) for x in q]
    return noisy.index(min(noisy))
""",
    "none at first": """
    best = None
    who = 0
    for i, x in enumerate(q):
        z = dipc.laplace(x, scale=2 / eps)
        if best is None or z > best:
            best = z
            who = i
    return who
""",
    "none at first, and no answer": """
    best = None
    who = None
    for i, x in enumerate(q):
        z = x + dipc.exponential_noise(scale=2 / eps)
        if best is None or z > best:
            best, who = z, i
    return who
""",
    "the first in the loop": """
    best = 0
    who = 0
    for i, x in enumerate(q):
        z = dipc.laplace(x, scale=2 / eps)
        if i == 0 or z >= best:
            best = z
            who = i
    return who
""",
    "the first before the loop": """
    best = dipc.laplace(q[0], scale=2 / eps)
    who = 0
    for i in range(1, m):
        z = dipc.laplace(q[i], scale=2 / eps)
        if z > best:
            best = z
            who = i
    return who
""",
    "greatest by a key": """
    noisy = [dipc.laplace(x, scale=2 / eps) for x in q]
    return max(range(m), key=lambda i: noisy[i])
""",
    "compared with the listed best": """
    noisy = []
    for x in q:
        noisy.append(dipc.laplace(x, scale=2 / eps))
    best = 0
    for i in range(m):
        if noisy[i] > noisy[best]:
            best = i
    return best
""",
}

HEAD = """
import dipc

@dipc.mechanism(m=3, claim=dict(alpha="dd", beta="(m-1)*(1 + alpha*eps)*exp(-alpha*eps)/2"))
def select(q: dipc.Reals["m"], eps):
"""

INPUTS = [[0, 0, 0], [1, 0, 2], [2, 3, 1], [Fraction(-1, 2), -1, 0]]


@pytest.fixture(params=FORMS.values(), ids=FORMS)
def program(request: pytest.FixtureRequest, tmp_path: Path) -> dipc.Program:
    path = tmp_path / "select.py"
    path.write_text(f"{HEAD}{request.param}", encoding="utf-8")
    return dipc.load(f"{path}::select")


def law(program: dipc.Program, first: int, q: list[Fraction | int]) -> list[str]:
    (slot,) = program.core.output_slots
    return [str(program.probability({"q": q}, {slot.name: first + place})) for place in range(len(q))]


def test_a_function_is_proved_for_every_m(program: dipc.Program) -> None:
    text = LoopText.from_program(program, "m")
    assert selected_from_inputs(text.tree, text.number).is_plain
    normal = text.with_tree(text.tree).read().instance(3)
    for q in INPUTS:
        assert law(program, 0, list(q)) == law(normal, 0, list(q))
    assert dipc.check(program, inputs="all", for_all="m").verdict is Verdict.ACCURATE
    assert dipc.check(program, inputs="all", for_all="m", beta="(m-1)*exp(-alpha*eps)/3").verdict is Verdict.INACCURATE


def test_a_function_is_private_for_every_m(program: dipc.Program) -> None:
    verdict = check_privacy_for_all(program, "m", "linf:1").verdict
    body = program.core.source.program_text or ""
    if "Expo" in body and "< best" in body:
        # Noise that only adds may keep a value from being the least.
        assert verdict is not PrivacyVerdict.PRIVATE
    else:
        assert verdict is PrivacyVerdict.PRIVATE
    assert check_privacy_for_all(program, "m", "linf:1", budget="9/10*eps").verdict is not PrivacyVerdict.PRIVATE


#: Texts that are replaced in a program, one at a time: the result is another program, or one with the same law.
EDITS = [
    ("> best", "< best"),
    ("> best", ">= best"),
    ("best <- z", "best <- z + 1"),
    ("who <- 0;\nfor", "who <- 1;\nfor"),
    ("who <- 0;\nfor", "best <- 1;\nwho <- 0;\nfor"),
    ("who <- k", "who <- 1"),
    ("best <- 0", "best <- 5"),
    ("given <- true", "given <- false"),
    ("given <- false", "given <- true"),
    ("not given or", "given or"),
    ("not given or", "not given and"),
    ("for k in 0", "for k in 1"),
    ("for j in 1", "for j in 0"),
    ("for j in 1", "for j in 2"),
    ("noisy[0]", "noisy[1]"),
    ("noisy[j] > best", "best > noisy[j]"),
    ("noisy[j] > best", "noisy[j] >= best"),
    ("best <- noisy[j]", "best <- noisy[0]"),
    ("out <- who", "out <- 2"),
    ("draw;", "draw + draw;"),
    ("q[k] + draw", "q[0] + draw"),
    ("q[k])", "q[0])"),
    ("q[k])", "2*q[k])"),
    ("noisy[best]", "noisy[0]"),
    ("best <- 0", "best <- 1"),
    ("best <- j", "best <- 0"),
    ("noisy[i] > noisy[best]", "noisy[best] > noisy[i]"),
    ("noisy[i] > noisy[best]", "noisy[i] > noisy[i]"),
]


def edited(text: str) -> list[str]:
    head, body = text.split("ideal { noiseless }\n")
    return [f"{head}ideal {{ noiseless }}\n{new}" for old, to in EDITS if (new := body.replace(old, to)) != body]


def test_an_edited_program_has_the_same_law_in_the_one_form(program: dipc.Program) -> None:
    text = program.core.source.program_text
    assert text is not None
    changed = 0
    for each in [text, *edited(text)]:
        try:
            given = dipc.load(each)
            tree = parse(SourceText("<text>", each))
            one = with_plain_selection(tree, "m")
            if one == tree:
                continue
            changed += 1
            other = dipc.load(print_program(one))
            for q in INPUTS:
                assert law(given, 0, list(q)) == law(other, 0, list(q)), each
        except DiagnosticError:
            continue
    assert changed


#: Bodies that are not covered for every m, and the ends of the reasons.
OTHERS = {
    "only the index of the greatest or least noisy value may be kept (line 8)": """
    who = None
    for i, x in enumerate(q):
        if dipc.laplace(x, scale=2 / eps) > 0:
            who = i
    return who
""",
    "the loop uses elements at other indices than its own (line 8)": """
    for i in range(m - 1):
        if dipc.laplace(q[i + 1] - q[i], scale=2 / eps) > 0:
            return True
    return False
""",
}


@pytest.mark.parametrize("reason", OTHERS)
def test_the_reason_speaks_of_the_function(reason: str, tmp_path: Path) -> None:
    path = tmp_path / "select.py"
    path.write_text(f"{HEAD}{OTHERS[reason]}", encoding="utf-8")
    report = dipc.check(f"{path}::select", inputs="all", for_all="m", beta="m*exp(-alpha*eps/8)")
    assert str(report.rows[-1].reason).endswith(reason)

"""Domains of outputs that are computed from finite variables: all values, at every value of the constants."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import dipc
from dipc import DiagnosticError
from dipc.mechanisms.types import ConstantSum, Inference, single

TEXT = """
from fractions import Fraction
import dipc

@dipc.mechanism(ideal=lambda bits: sum(bits), m=3)
def debiased(bits: dipc.Finite[0, 1]["m"], eps):
    yes = 0
    left = m
    for b in bits:
        r = dipc.choice({1: Fraction(3, 4), 0: Fraction(1, 4)})
        yes = yes + r
        left = left - r
    return ANSWER
"""

HALF = Fraction(1, 2)

#: (the answer in Python, its value for m and the final `yes` and `left`, whose inferred domains are 0..m)
ANSWERS: list[tuple[str, Callable[[int, int, int], Fraction]]] = [
    ("(4 * yes - 5) * Fraction(1, 2)", lambda m, yes, left: (4 * yes - 5) * HALF),
    ("yes * Fraction(3, 2) - Fraction(1, 4) * m", lambda m, yes, left: yes * 3 * HALF - Fraction(m, 4)),
    ("-(yes * Fraction(1, 2))", lambda m, yes, left: -yes * HALF),
    ("max(yes, 2) * Fraction(1, 4)", lambda m, yes, left: Fraction(max(yes, 2), 4)),
    ("abs(2 * yes - m) * Fraction(1, 3)", lambda m, yes, left: Fraction(abs(2 * yes - m), 3)),
    ("max(yes, 2)", lambda m, yes, left: Fraction(max(yes, 2))),
    ("(left - m) * Fraction(1, 2)", lambda m, yes, left: (left - m) * HALF),
    ("(yes - 2 * left) * Fraction(1, 3)", lambda m, yes, left: Fraction(yes - 2 * left, 3)),
    ("min(yes * Fraction(1, 2), 1)", lambda m, yes, left: min(yes * HALF, Fraction(1))),
]


def domain(program: dipc.Program) -> set[Fraction]:
    (slot,) = program.core.output_slots
    return {Fraction(value) for value in slot.type.values}  # type: ignore[union-attr]


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize(("answer", "value"), ANSWERS, ids=[answer for answer, _ in ANSWERS])
def test_the_domain_has_all_values(
    answer: str, value: Callable[[int, int, int], Fraction], m: int, tmp_path: Path
) -> None:
    path = tmp_path / "debiased.py"
    path.write_text(TEXT.replace("ANSWER", answer), encoding="utf-8")
    program = dipc.load(f"{path}::debiased", m=m)
    counts = range(m + 1)
    used = {"yes": "yes" in answer, "left": "left" in answer}
    possible = {
        value(m, yes, left) for yes in (counts if used["yes"] else [0]) for left in (counts if used["left"] else [0])
    }
    assert possible <= domain(program)
    if any(each.denominator > 1 for each in possible):
        assert domain(program) == possible | set(map(Fraction, counts))
    reached = {value(m, yes, m - yes) for yes in counts}
    law = [program.probability({"bits": [0] * m}, {"out": out}).enclosure(Fraction(1)) for out in reached]
    assert sum(low for low, _ in law) == 1


def test_a_domain_that_is_not_found_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "debiased.py"
    path.write_text(TEXT.replace("ANSWER", "yes * left * Fraction(1, 2)").replace("m=3", "m=200"), encoding="utf-8")
    with pytest.raises(DiagnosticError, match="the values that `out` may have are not known") as found:
        dipc.load(f"{path}::debiased")
    assert "declare a variable, and return it: `out: dipc.Finite" in str(found.value)


def test_a_value_outside_of_a_domain_that_dipc_found_says_how_to_declare_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Inference, "_kind_of_values", lambda *_: single(ConstantSum.from_number(HALF)))
    path = tmp_path / "debiased.py"
    path.write_text(TEXT.replace("ANSWER", "yes * Fraction(1, 2)"), encoding="utf-8")
    with pytest.raises(DiagnosticError, match="`out` would become 3/2, which is outside its domain") as found:
        dipc.load(f"{path}::debiased").probability({"bits": [0] * 3}, {"out": HALF})
    assert "which dipc found from the values assigned to it; declare a variable, and return it: `out: " in str(
        found.value
    )


def test_an_answer_that_is_computed_from_eps_is_told_what_to_return(tmp_path: Path) -> None:
    path = tmp_path / "debiased.py"
    path.write_text(TEXT.replace("ANSWER", "(yes * (dipc.exp(eps) + 1) - m) / (dipc.exp(eps) - 1)"), encoding="utf-8")
    with pytest.raises(DiagnosticError, match="`out` is computed from eps") as found:
        dipc.load(f"{path}::debiased")
    assert "Finite" not in str(found.value)

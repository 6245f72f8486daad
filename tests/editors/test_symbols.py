"""What the names of a program mean, at exact places."""

from __future__ import annotations

from pathlib import Path

import pytest

from dipc.editors.symbols import Symbol, completions, mistakes, probabilities, symbol_at

ROOT = Path(__file__).resolve().parents[2]
SPARSE = (ROOT / "benchmarks/sparse.dip").read_text(encoding="utf-8")
COIN = """program coin;
domain side = {head, tail};
input bias : bool;
output shown : side = tail;
claim { inputs: bias = true; alpha: 0; beta: 1/2 }
shown <- choose { head : 1/(1 + exp(-eps)), tail : exp(-eps)/(1 + exp(-eps)) }
"""


def meaning(text: str, before: str, name: str) -> Symbol:
    """The symbol of `name`, where it next occurs behind `before` in the text."""
    at = text.index(name, text.index(before) + len(before))
    symbol = symbol_at(text, at)
    assert symbol is not None
    assert symbol_at(text, at + len(name)) == symbol
    return symbol


def test_a_variable_has_its_declaration_and_its_laws() -> None:
    found = meaning(SPARSE, "b <- ", "rT")
    assert found.declaration == "var rT : real"
    assert found.laws == ("rT <- Lap(eps/(2*c), T)",)
    assert SPARSE[: found.place.start].endswith("\nvar ")


@pytest.mark.parametrize(("before", "scoped"), [("ideal {", True), ("T);\nfor", False)])
def test_the_innermost_declaration_counts(before: str, scoped: bool) -> None:
    found = meaning(SPARSE, before, "count")
    assert (found.scope is not None) is scoped
    assert found.declaration == "var count : {0..m}"


def test_constants_domains_values_and_loop_variables() -> None:
    assert meaning(SPARSE, "output out[1..m] : ", "answer").declaration == "domain answer = {none, bot, top}"
    assert meaning(SPARSE, "out[i] <- ", "top").declaration == "top, a value of domain answer"
    assert meaning(SPARSE, "Lap(eps/(2*c), ", "T").declaration == "const T = 0"
    assert meaning(SPARSE, "if q[", "i").declaration == "for i in 1..m"


def test_what_is_no_name_means_nothing() -> None:
    assert symbol_at(SPARSE, SPARSE.index("# Sparse") + 3) is None
    assert symbol_at(SPARSE, SPARSE.index("<- Lap") + 1) is None
    assert symbol_at("program p; output", 12) is None


def test_completion_knows_the_names_and_the_words() -> None:
    text = "program p; # remarkable\noutput answer : bool;\nans"
    found = completions(text, len(text))
    assert {"answer", "Lap", "while", "bool", "eps"} <= set(found)
    assert "ans" not in found
    assert "remarkable" not in found
    assert completions(text, text.index("able")) == ()


def test_mistakes_have_exact_places() -> None:
    assert mistakes(SPARSE) == []
    (found,) = mistakes("program p;\noutput o : bool;\no <- x or true;\n")
    assert found.excerpt is not None
    assert (found.excerpt.line, found.excerpt.column, found.excerpt.length) == (3, 6, 1)
    assert "x" in found.message
    assert not found.is_warning


def test_probabilities_at_the_input_of_the_claim() -> None:
    assert probabilities(COIN) == "shown = head: 1/(1 + exp(-eps))\nshown = tail: exp(-eps)/(1 + exp(-eps))"
    assert probabilities(COIN.replace("inputs: bias = true;", "")) is None
    assert probabilities("program") is None

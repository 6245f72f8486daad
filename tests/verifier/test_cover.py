"""Betas that are a max: cells that do not cover the interval, or whose argument is not enough."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.verifier.claims import Form, NotOneForm, evaluate_least
from dipc.verifier.document import check_text as verify
from dipc.verifier.reading import Budget, Rejected
from tests.patience import examples
from tests.verifier import samples

Cells = list[dict[str, Any]]

BETA = "max(1 - eps, eps - 1/2)"


def changed(change: Callable[[Cells], object], beta: str = BETA, eps: str = "(0, inf)") -> str:
    """The reason why the certificate is rejected after its one obligation's cells are changed."""
    document = samples.document(samples.certain((beta,), eps))
    change(document["obligations"][0]["parts"][0]["cells"][0])
    with pytest.raises(Rejected) as caught:
        verify(samples.resealed(document))
    return str(caught.value)


def test_the_cells_of_the_certificate() -> None:
    document = samples.document(samples.certain((BETA,)))
    (part,) = document["obligations"][0]["parts"]
    (cells,) = part["cells"]
    assert [(cell["argument"], cell["to"]) for cell in cells] == [(0, "1"), (1, "inf")]
    (beta,) = document["betas"]
    assert [len(part["max"]) for part in beta["min"]] == [2]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda cells: cells.clear(), "the cells must end where the interval ends"),
        (lambda cells: cells.pop(), "the cells must end where the interval ends"),
        (lambda cells: cells.pop(0), "cell 1"),
        (lambda cells: cells.reverse(), "cell 1"),
        (lambda cells: cells.append(cells[-1]), "cell 3: the end of the cell must be after its beginning"),
        (lambda cells: cells.append(cells[0]), "cell 3: the end of the cell must be after its beginning"),
        (lambda cells: cells[0].update(to="2"), "cell 1"),
        (lambda cells: cells[0].update(to="1/4"), "cell 2"),
        (lambda cells: cells[0].update(to="0"), "cell 1: the end of the cell must be after its beginning"),
        (lambda cells: cells[1].update(to="9"), "the cells must end where the interval ends"),
        (lambda cells: cells[1].update(to="1"), "cell 2: the end of the cell must be after its beginning"),
        (lambda cells: cells[0].update(argument=1), "the product of the factors is not the function"),
        (lambda cells: cells[0].update(argument=2), "it refers to an entry that does not exist"),
        (lambda cells: cells[0].update(argument=-1), "it refers to an entry that does not exist"),
        (lambda cells: cells[0].update(cells[1]), "cell 1"),
        (lambda cells: cells[0].update(factors=None), "cell 1"),
        (lambda cells: cells[0]["factors"][0].pop("evidence"), "cell 1"),
        (lambda cells: cells[0].update(roots=[]), "cell 1"),
    ],
)
def test_cells_that_show_nothing(change: Callable[[Cells], object], why: str) -> None:
    assert why in changed(change)


def test_a_point_needs_a_cell() -> None:
    assert "the cells must end where the interval ends" in changed(lambda cells: cells.clear(), eps="[1, 1]")


def test_the_zero_function_needs_no_proof_but_others_do() -> None:
    document = samples.document(samples.certain(("max(eps - 1, 0)",)))
    (part,) = document["obligations"][0]["parts"]
    assert part == {"functions": [None, []], "cells": [[{"argument": 1, "to": "inf", "factors": None}]]}
    part["cells"][0][0]["argument"] = 0
    with pytest.raises(Rejected, match="its function is not stated"):
        verify(samples.resealed(document))
    part["functions"][0] = [[0, "0", "-1"], [1, "0", "1"]]
    with pytest.raises(Rejected):
        verify(samples.resealed(document))


def test_a_refuted_greatest_is_below_at_every_argument() -> None:
    document = samples.document(samples.certain(("max(eps - 2, -1)",)))
    example = document["obligations"][0]["counterexample"]
    # At eps = 4 only the second argument is negative, though 1 - it is 2.
    example["eps"] = "4"
    with pytest.raises(Rejected, match="not shown to be less than 1 - beta"):
        verify(samples.resealed(document))


@pytest.mark.parametrize(
    ("text", "at_2"),
    [
        ("3", [[3]]),
        ("min(max(eps, 1), abs(eps - 3), 7)", [[2, 1], [-1, 1], [7]]),
        ("max(eps, 1, 0)", [[2, 1]]),
        ("abs(-eps)", [[2]]),
        ("abs(eps - 1)", [[1, -1]]),
    ],
)
def test_expressions_in_parts(text: str, at_2: list[list[int]]) -> None:
    found = evaluate_least(text, {}, Budget())
    assert [[value(arm) for arm in part] for part in found] == at_2


@pytest.mark.parametrize("text", ["(eps - 1)*max(eps, 2 - eps)", "1/max(eps, -1)", "max(eps, 1", "1/max(eps, 0)"])
def test_other_expressions_have_no_parts(text: str) -> None:
    with pytest.raises((NotOneForm, Rejected)):
        evaluate_least(text, {}, Budget())


def random_expression(chance: random.Random, depth: int) -> str:
    if not depth or chance.random() < 0.2:
        return chance.choice(["eps", "1", "3", "1/2", "(eps - 2)", "(eps + 1)"])
    parts = [random_expression(chance, depth - 1) for _ in range(2)]
    return chance.choice(
        [
            f"({parts[0]} + {parts[1]})",
            f"({parts[0]} - {parts[1]})",
            f"({parts[0]})*({parts[1]})",
            f"(-{parts[0]})",
            f"{parts[0]}/4",
            f"{parts[0]}/(-2)",
            f"max({parts[0]}, {parts[1]})",
            f"min({parts[0]}, {parts[1]})",
            f"abs({parts[0]})",
            f"({parts[0]})/({parts[1]})",
        ]
    )


def test_random_expressions_have_the_values_that_they_should() -> None:
    """The least of the greatest, form by form, equals the value of the expression itself."""
    chance = random.Random(5)
    found = 0
    for _ in range(300):
        text = random_expression(chance, 4)
        try:
            parts = evaluate_least(text, {}, Budget())
        except (NotOneForm, Rejected):  # it divides by 0
            continue
        found += len(parts) > 1 or len(parts[0]) > 1
        for eps in (Fraction(1, 3), Fraction(5, 2), Fraction(7, 2)):
            exact = eval(re.sub(r"(\d+)", r"Fraction(\1)", text), {"Fraction": Fraction, "eps": eps})
            assert min(max(value(form, eps) for form in part) for part in parts) == exact, text
    assert found > 50


@pytest.mark.parametrize(
    ("stated", "claimed"),
    [
        ("2*max(exp(-eps), 1/2)", "2*min(exp(-eps), 1/2)"),
        ("max(exp(-eps), 1/2) + 1/2", "max(exp(-eps), 1/2) + 1/3"),
        ("1 + max(eps, 1)*exp(-eps)", "1 - max(eps, 1)*exp(-eps)"),
        ("1 - min(-eps, 1/2)", "1 + min(-eps, 1/2)"),
    ],
)
def test_another_beta_is_rejected(stated: str, claimed: str) -> None:
    """The proofs are about one beta, the claim is about another."""
    document = samples.document(samples.certain((stated,)))
    assert verify(samples.resealed(document)).complete
    document["rows"][0]["own"]["beta"] = claimed
    with pytest.raises(Rejected, match="beta"):
        verify(samples.resealed(document))


# --- divisors that have one sign on the intervals asked about ----------------------------------------


def divided(eps: str = "(1, inf)", beta: str = "1/(eps - 1)") -> dict[str, Any]:
    return samples.document(samples.certain((beta,), eps))


@pytest.mark.parametrize(
    ("beta", "eps"),
    [
        ("1/(eps - 1)", "(1, inf)"),
        ("1/(exp(-eps) - 1/2)", "(0, 1/2], [3/5, 16/25]"),
        ("1/(3 - eps)^2", "(0, 1], [5, 5]"),
        ("1/(eps - 1)", "[2, 2]"),
    ],
)
def test_divisors_that_are_positive_where_it_is_asked(beta: str, eps: str) -> None:
    assert verify(samples.resealed(divided(eps, beta))).complete


@pytest.mark.parametrize("eps", ["(0, inf)", "[1, inf)", "(1/2, inf)", "[1, 1]"])
def test_divisors_elsewhere(eps: str) -> None:
    """The proofs fail for other intervals, where the divisor has a root or is negative."""
    document = divided()
    document["claim"]["eps"] = [eps]
    for obligation in document["obligations"]:
        obligation["parts"][0]["cells"][0][-1]["to"] = eps[1:-1].split(", ")[1]
    with pytest.raises(Rejected):
        verify(samples.resealed(document))


def value(form: Form, eps: Fraction = Fraction(2)) -> Fraction:
    """The value at this eps of a quotient of polynomials."""
    (terms,) = form.numerator.values() or ({},)
    above, below = (sum((c * eps**k for (k, _), c in part.items()), Fraction(0)) for part in (terms, form.denominator))
    return above / below


lines = st.builds("{}*eps + {}".format, st.integers(-2, 2), st.integers(-2, 2)).map(
    lambda text: text.replace("+ -", "- ")
)
curves = st.builds("{}*exp(-eps) - {}/8".format, st.integers(1, 3), st.integers(1, 12))


@settings(max_examples=examples(8), deadline=None)
@given(st.lists(st.one_of(lines, curves), min_size=1, max_size=3), st.sampled_from(["(0, inf)", "(0, 1]", "[2, 5)"]))
def test_what_is_certified_is_true(arms: list[str], eps: str) -> None:
    text = samples.certain.__wrapped__((f"max({', '.join(arms)})",), eps)
    verify(text)
    assert samples.untrue(text) == []

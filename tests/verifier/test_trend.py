"""Claims for every gamma: betas that never grow with gamma, and answers that stay the same on a range."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import dipc
from dipc.verifier.claims import never_grows
from dipc.verifier.document import check_text
from dipc.verifier.reading import Budget, Rejected
from dipc.verifier.rows import GROWTH
from tests.verifier import samples

BOTH = frozenset({"alpha", "gamma"})


@pytest.mark.parametrize(
    ("beta", "falls"),
    [
        ("exp(-gamma*eps/2)", True),
        ("2*k*exp(-alpha*eps/8)*exp(-γ*eps)", True),
        ("(1 - exp(-eps))*exp(-gamma*eps)/(1 + exp(-eps))", True),
        ("(exp(-eps) - 1)*exp(-gamma*eps)", False),
        ("(exp(-eps) - 1)*gamma", True),
        ("-gamma^2 - alpha", True),
        ("-(-gamma)^2", True),
        ("(-gamma)^3", True),
        ("min(1, max(exp(-gamma*eps), eps))", True),
        ("abs(-exp(-gamma*eps))", True),
        ("1/2", True),
        ("abs(gamma)", False),
        ("abs(1 - gamma)", False),
        ("gamma*exp(-gamma*eps)", False),
        ("gamma - gamma", True),
        ("-(gamma - 1)^2", False),
        ("exp(-gamma*eps)*(eps - 1)", False),
        ("exp(-gamma*eps)/(eps - 1)", False),
        ("exp(-gamma*eps)*n", False),
        ("exp(gamma*eps*n)", True),
        ("exp(-eps)*gamma", False),
        ("min(1, gamma)", False),
        ("max(-gamma, alpha)", False),
    ],
)
def test_what_never_grows(beta: str, falls: bool) -> None:
    constants = {"k": Fraction(2), "n": Fraction(-1)}
    assert never_grows(beta, BOTH, constants, Budget()) is falls


def test_only_distances_that_are_left_open_count() -> None:
    assert never_grows("alpha*exp(-gamma*eps)", frozenset({"gamma"}), {}, Budget())
    assert not never_grows("alpha*exp(-gamma*eps)", BOTH, {}, Budget())


#: Finite outputs that are numbers, at a distance from each other.
EXPONENTIAL = """
program p;
input x : {0..2}; output y : {0..2};
metric { output: abs(y - y'); }
ideal { y <- x }
claim { alpha: 0; gamma: free; beta: %s; }
y <- Exp(eps, v in {0..2} : -abs(v - x));
"""


def ranges(beta: str) -> dict[str, Any]:
    return samples.document(dipc.certify(dipc.check(dipc.load(EXPONENTIAL % beta), keep_proofs=True)))


def test_a_beta_that_is_as_stated_at_the_ends_of_the_ranges_alone() -> None:
    """The factor leaves beta the same where a range ends, and makes it far below 0 in between."""
    document = ranges("exp(-gamma*eps/2)")
    assert check_text(samples.resealed(document)).complete
    document["claim"]["beta"] = "exp(-gamma*eps/2)*(1 + 100*(gamma - 1)*(gamma - 2))"
    accepted = check_text(samples.resealed(document))
    assert not accepted.complete
    assert accepted.trusted == (f"{GROWTH} (rows: 3)",)


def test_a_refutation_on_a_range_on_which_more_answers_become_near() -> None:
    """The answers at gamma = 0 have less than the probability claimed for the answers within a great gamma."""
    report = dipc.check(dipc.load(EXPONENTIAL % "0"), alpha=0, gamma=0, keep_proofs=True)
    document = samples.document(dipc.certify(report))
    assert document["verdict"] == "inaccurate"
    document["claim"] |= {"gamma": "free", "beta": "exp(-gamma*eps)"}
    kept = ("alpha", "probability", "beta", "obligation", "verdict")
    for row in document["rows"]:
        row["ranges"] = [{"to": "inf", **{name: row[name] for name in kept}}]
        for name in (*kept[:-1], "gamma", "reason", "own"):
            row.pop(name, None)
    with pytest.raises(Rejected, match="the answers within gamma change inside this range"):
        check_text(samples.resealed(document))

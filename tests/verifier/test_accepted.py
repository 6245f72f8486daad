"""Certificates of many kinds are accepted, and state the verdict that was found."""

from __future__ import annotations

import pytest

from dipc.verifier.document import check_text as verify
from tests.verifier import samples


@pytest.mark.parametrize("beta", samples.NONNEGATIVE)
def test_nonnegative_functions_are_certified(beta: str) -> None:
    accepted = verify(samples.certain((beta,)))
    assert (accepted.verdict, accepted.complete) == ("accurate", True)


@pytest.mark.parametrize("beta", samples.NEGATIVE)
def test_refutations_are_certified(beta: str) -> None:
    accepted = verify(samples.certain((beta,)))
    assert (accepted.verdict, accepted.complete) == ("inaccurate", True)
    assert accepted.charted == (not beta.startswith(("min", "max", "abs")))


@pytest.mark.parametrize("eps", ["(0, 1/2]", "[1, 1]", "[1/3, 7)", "(0, 1/7], [2, 3], (9, inf)"])
def test_intervals(eps: str) -> None:
    accepted = verify(samples.certain(samples.NONNEGATIVE, eps))
    assert (accepted.verdict, accepted.complete) == ("accurate", True)
    assert accepted.counts["rows"] == len(samples.NONNEGATIVE)


def test_quotients() -> None:
    accepted = verify(samples.geometric())
    assert (accepted.verdict, accepted.complete) == ("accurate", True)


@pytest.mark.parametrize(("factor", "verdict"), [(6, "accurate"), (7, "inaccurate")])
def test_sparse(factor: int, verdict: str) -> None:
    accepted = verify(samples.sparse(factor))
    assert (accepted.verdict, accepted.complete) == (verdict, True)
    assert accepted.counts["rows"] == 27


@pytest.mark.parametrize("beta", [*samples.LEAST, "2*min(eps, 1)", "max(min(eps, 1), 1/2)", "abs(eps - 1) + eps"])
def test_the_least_of_some_is_certified_one_by_one(beta: str) -> None:
    accepted = verify(samples.certain((beta,)))
    assert (accepted.verdict, accepted.complete) == ("accurate", True)


@pytest.mark.parametrize("eps", ["(0, inf)", "[1, 1]", "[1/3, 7)", "(0, 1/7], [2, 3], (9, inf)"])
@pytest.mark.parametrize("beta", samples.GREATEST)
def test_the_greatest_of_some_is_certified_cell_by_cell(beta: str, eps: str) -> None:
    accepted = verify(samples.certain((beta,), eps))
    assert (accepted.verdict, accepted.complete) == ("accurate", True)
    assert not samples.untrue(samples.certain((beta,), eps))


def test_where_two_meet_at_0_no_cells_with_rational_ends_are_enough() -> None:
    # Both exp(-eps) - 1/2 and its opposite are negative on one side of log 2, which is irrational.
    ((_, reason),) = verify(samples.certain(("abs(exp(-eps) - 1/2)",))).open_rows
    assert (
        reason
        == "the intervals of eps could not be cut into cells on each of which one argument of a `max` in beta is enough"
    )
    assert verify(samples.certain(("abs(exp(-eps) - 1/2)",), "(0, 1/2], [3/4, inf)")).complete


@pytest.mark.parametrize("beta", samples.IN_PIECES)
def test_other_pieces_are_said_not_to_be_certified(beta: str) -> None:
    accepted = verify(samples.certain(("1", beta)))
    assert accepted.verdict == "accurate"
    assert not accepted.complete
    ((row, reason),) = accepted.open_rows
    assert row == 2
    assert reason == "this beta is neither one closed form for every eps nor the min or max of several"
    first = next(iter(accepted.lines()))
    assert first.startswith("accepted in part: 1 of 2 rows without a proof; but for that, proved: certain (m = 3; ")


def test_alpha_may_depend_on_gamma() -> None:
    text = samples.checked(samples.CERTAIN, [{"q": 0, "a": 0}], alpha="2*gamma", gamma="1/3", beta="exp(-alpha*eps)")
    assert verify(text).complete


def test_an_infinite_distance() -> None:
    rows = [{"q": 0, "a": 0, "dd": "inf"}, {"q": 1, "a": 0, "dd": "1/4"}, {"q": 2, "a": 0, "dd": "1/2"}]
    beta = "exp(-alpha*eps) + eps/(1 + eps)"
    accepted = verify(samples.checked(samples.CERTAIN, rows, beta=beta))
    assert (accepted.verdict, accepted.complete, accepted.counts["vacuous"]) == ("accurate", True, 0)
    accepted = verify(samples.checked(samples.CERTAIN, rows, beta=beta, alpha="1/2"))
    assert (accepted.verdict, accepted.complete, accepted.counts["vacuous"]) == ("accurate", True, 1)

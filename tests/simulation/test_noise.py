"""Every distribution of the language against its definition.

Seeds are fixed; with others a test of a fair sample would fail once in 10^9 times.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dipc.simulation.draws import discrete_laplace
from tests.simulation.running import finals, shares, tally

RARE = 1e-9
MANY = 100_000


def fits(observed, expected_shares):
    """Chi-square: counts of cells against the probabilities of all cells."""
    observed = np.asarray(observed, dtype=float)
    expected = np.asarray(expected_shares, dtype=float)
    assert expected.sum() == pytest.approx(1)
    assert not observed[expected == 0].any()
    kept = expected > 0
    return stats.chisquare(observed[kept], expected[kept] * observed.sum()).pvalue > RARE


def test_laplace():
    values = finals(
        "program p; input q : real; output o : real; o <- Lap(eps/3, q)", "o", {"q": 5}, eps="1/2", runs=MANY
    )
    assert stats.kstest(values, stats.laplace(loc=5, scale=6).cdf).pvalue > RARE
    assert stats.kstest(values, stats.laplace(loc=5, scale=5.5).cdf).pvalue < RARE


def test_one_sided():
    values = finals("program p; output o : real; o <- Expo(2*eps)", "o", eps="3/2", runs=MANY)
    assert values.min() >= 0
    assert stats.kstest(values, stats.expon(scale=1 / 3).cdf).pvalue > RARE
    assert stats.kstest(values, stats.expon(scale=1 / 2.9).cdf).pvalue < RARE


@pytest.mark.parametrize("rate", [0.01, 0.7, 3.0])
def test_discrete_laplace(rate):
    values = discrete_laplace(np.random.default_rng(2), rate, MANY)
    assert values.dtype == np.int64
    assert fits_discrete(values, rate)
    assert not fits_discrete(values, rate * 1.05)


def fits_discrete(values, rate, mean=0):
    distribution = stats.dlaplace(rate, loc=mean)
    low, high = int(distribution.ppf(1e-3)), int(distribution.ppf(1 - 1e-3))
    edges = np.unique(np.linspace(low, high, 40).astype(int))
    cumulated = np.concatenate([[0.0], distribution.cdf(edges), [1.0]])
    counts = np.bincount(np.searchsorted(edges, values, side="left"), minlength=len(edges) + 1)
    return fits(counts, np.diff(cumulated))


def test_discrete_laplace_of_a_program():
    text = "program p; input x : {0..9}; output o : int; o <- DLap(eps/2, 2*x - 1)"
    values = finals(text, "o", {"x": 4}, eps="1/3", runs=MANY)
    assert fits_discrete(values.astype(int), 1 / 6, mean=7)
    assert not fits_discrete(values.astype(int), 1 / 6, mean=8)


def test_random_mean():
    text = "program p; var r : real; output o : real; r <- Lap(eps, 1); o <- Lap(eps, r + 1)"
    values = finals(text, "o", eps="2", runs=MANY)

    def cdf(x):
        # The sum of two independent Laplace variables of scale 1/2 has the tail (2 + y)·e^{-y}/4 at y = 2|x - 2|.
        y = 2 * np.abs(np.asarray(x) - 2)
        tail = (2 + y) * np.exp(-y) / 4
        return np.where(np.asarray(x) >= 2, 1 - tail, tail)

    assert stats.kstest(values, cdf).pvalue > RARE


def test_exponential_mechanism():
    text = """program p; input d : {0..4}; output o : {0..4};
        o <- Exp(eps/2, v in {0..4} : -abs(v - d) + min(v, 1))"""
    weights = np.exp([0.75 * (-abs(v - 3) + min(v, 1)) for v in range(5)])
    counts = [0] * 5
    for (value,), count in tally(text, {"d": 3}, eps="3/2", runs=MANY).counts.items():
        counts[int(value)] = count
    assert fits(counts, weights / weights.sum())
    assert not fits(counts, np.roll(weights, 1) / weights.sum())


def test_exponential_mechanism_with_scores_that_differ_from_run_to_run():
    text = """program p; domain letter = {a, b}; var y : {0..1}; output x : {0..1}; output o : letter;
        x <- choose {0 : 1/4, 1 : 3/4}; y <- x;
        o <- Exp(eps, v in letter : y*x - 1)"""
    found = shares(text, runs=MANY)
    assert found[("0", "a")] == pytest.approx(1 / 8, abs=0.01)
    text = "program p; output x, o : {0..1}; x <- choose {0 : 1/4, 1 : 3/4}; o <- Exp(2*eps, x in {0..1} : x)"
    found = tally(text, runs=MANY).counts
    share = 1 / (1 + np.exp(2))
    expected = [share / 4, (1 - share) / 4, 3 * share / 4, 3 * (1 - share) / 4]
    assert fits([found[(x, o)] for x in (0, 1) for o in (0, 1)], expected)


def test_exponential_mechanism_with_extreme_scores():
    text = "program p; domain d = {0, 999999, 1000000}; output o : d; o <- Exp(eps, v in d : v*1000000)"
    assert shares(text, runs=1000) == {("1000000",): 1}


def test_choose():
    text = """program p; domain w = {yes, no, maybe, never}; output o : w;
        o <- choose { yes : exp(eps)/(2 + exp(eps)), no : 1/(2 + exp(eps)), maybe : (2 + exp(eps))^0/(exp(eps) + 2),
                      never : 0 }"""
    found = tally(text, eps="1/2", runs=MANY).counts
    share = np.exp(0.5) / (2 + np.exp(0.5))
    expected = [share, (1 - share) / 2, (1 - share) / 2, 0]
    assert fits([found[(name,)] for name in ("yes", "no", "maybe", "never")], expected)
    assert not fits([found[(name,)] for name in ("no", "yes", "maybe", "never")], expected)


def test_draws_are_independent_of_one_another():
    text = "program p; output o : bool; var r, s : real; r <- Lap(eps, 0); s <- Lap(eps, 0); o <- r > 0 and s > 0"
    assert shares(text, runs=MANY)[("true",)] == pytest.approx(1 / 4, abs=0.01)


def test_equal_seeds_give_equal_counts_and_others_do_not():
    text = "program p; output o : bool; var r : real; r <- Lap(eps, 0); o <- r > 1"
    first, again, other = (tally(text, runs=100_000, seed=seed) for seed in (5, 5, 6))
    assert first == again
    assert first.counts != other.counts
    assert tally(text, runs=100, seed=2**200).runs == 100

"""The mechanisms, their claims, and how the expected outcome of each claim was found without dipc.

What is said to be checked by a formula is checked in tests/benchmarks/test_literature.py, with formulas of its own.
"""

from __future__ import annotations

from benchmarks.literature import ideals
from benchmarks.literature.entry import Claim, Entry, Row

_COROLLARY = "Dwork and Roth 2014, Corollary 3.12"
_TIGHTENED = "tightened"
_FORMULA = "formula by hand, at every row on a grid of eps"


def _small_db_beta(row: Row) -> Row:
    least = min(ideals.worst_errors([int(row[f"x[{i}]"]) for i in (1, 2, 3)]))
    return {**row, "beta": f"9*exp(-n*eps*(gamma + {least} - 3/4)/2)"}


def _last_sum(row: Row) -> Row:
    return {**row, "out[1]": "", "out[2]": ""}


def _private_cover_beta(row: Row) -> Row:
    return {**row, "beta": f"(2 + 16/eps)*{ideals.least_cover(ideals.edges_of(row))}/n"}


def _plain_cover_beta(row: Row) -> Row:
    return {**row, "beta": f"2*{ideals.least_cover(ideals.edges_of(row))}/n"}


_VOTES = (
    Claim("|V| outcomes", _COROLLARY, "theorem"),
    Claim("without the factor |V|", _TIGHTENED, _FORMULA, beta="exp(-gamma*eps/2)"),
    Claim(
        "twice the exponent",
        "Corollary 3.12 with the weight e^(eps·F), not e^(eps·F/2)",
        "fails for large eps where a loss of 2 is possible; " + _FORMULA,
        beta="m*exp(-gamma*eps)",
        failing=30,
    ),
)

_MAXIMUM = (
    Claim("as good as the exponential mechanism", "McKenna and Sheldon 2020, with " + _COROLLARY, "theorem"),
    Claim(
        "union bound over the others",
        "by hand: Pr[E1 - E2 > t] = e^(-t·eps/2)/2",
        "proof by hand",
        beta="(m - 1)/2*exp(-alpha*eps)",
    ),
    Claim(
        "9/10 of that",
        _TIGHTENED,
        "the union bound is the leading term for large eps when the others tie; " + _FORMULA,
        beta="9/10*(m - 1)/2*exp(-alpha*eps)",
        failing=9,
    ),
)

ENTRIES: tuple[Entry, ...] = (
    Entry("exponential_mechanism", "Exponential mechanism", tuple(ideals.votes()), _VOTES),
    Entry("rejection_sampling", "Exponential mechanism, by rejection", tuple(ideals.votes()), _VOTES),
    Entry(
        "small_db",
        "SmallDB",
        tuple(ideals.histograms()),
        (
            Claim("|R| small databases", _COROLLARY, "theorem"),
            Claim(
                "SmallDB's own bound",
                "Dwork and Roth 2014, Proposition 4.4, with a = 3/4; the paper, section 3.7",
                "theorem",
                gamma="7/8",
                row=_small_db_beta,
            ),
            Claim("without the factor |R|", _TIGHTENED, _FORMULA, beta="exp(-n*gamma*eps/2)", failing=6),
        ),
    ),
    Entry(
        "randomized_response",
        "Randomized response",
        tuple(ideals.honest_answers()),
        (
            Claim("union bound", "Warner 1965, by definition", "theorem"),
            Claim(
                "exact",
                "by definition",
                "equality for every eps",
                beta="1 - (exp(eps)/(1 + exp(eps)))^3",
            ),
            Claim(
                "half of the leading term",
                _TIGHTENED,
                "the failure is about m·e^(-eps) for large eps",
                beta="m*exp(-eps)/2",
                failing=8,
            ),
        ),
    ),
    Entry(
        "k_ary_randomized_response",
        "k-ary randomized response",
        tuple(ideals.honest_values()),
        (
            Claim("exact", "Kairouz, Oh and Viswanath 2014, by definition", "equality for every eps"),
            Claim("leading term", "by definition", "1/(e^eps + k - 1) < e^(-eps)", beta="(k - 1)*exp(-eps)"),
            Claim(
                "as if k = 2",
                "the claim of binary randomized response",
                "the failure is 3/(e^eps + 3) > 1/(e^eps + 1)",
                beta="1/(1 + exp(eps))",
                failing=4,
            ),
        ),
    ),
    Entry(
        "vertex_cover",
        "Private vertex cover",
        tuple(map(ideals.graph_cells, ideals.graphs())),
        (
            Claim(
                "E[size] ≤ (2 + 16/eps)·opt",
                "Gupta, Ligett, McSherry, Roth and Talwar 2010",
                "theorem, and all weighted orders by hand",
                row=_private_cover_beta,
            ),
            Claim(
                "E[size] ≤ 2·opt",
                "the same without privacy (Pitt 1985)",
                "fails at the star with three rays: E[size] tends to 9/4 as eps tends to 0",
                row=_plain_cover_beta,
                failing=1,
            ),
        ),
    ),
    Entry(
        "smart_sum",
        "Private smart sum",
        tuple(ideals.running_sums("a", 4)),
        (
            Claim("union bound", "Chan, Shi and Song 2011, with constants for T = 4, M = 2", "proof by hand"),
            Claim(
                "leading term",
                "by hand",
                "the failure is (9/4 + z)e^(-z) - (19/12 + z)e^(-2z) + e^(-3z)/3 + …, z = γ·eps",
                beta="(9/4 + gamma*eps)*exp(-gamma*eps)",
            ),
            Claim(
                "one noise for each output",
                "the claim of the Laplace mechanism (Dwork and Roth 2014, Theorem 3.8)",
                "9/4 + z is more than 4 for large z",
                beta="T*exp(-gamma*eps)",
                failing=16,
            ),
        ),
    ),
    Entry(
        "partial_sums",
        "Partial sums",
        tuple(ideals.running_sums("x", 3)),
        (
            Claim("union bound", "Chan, Shi and Song 2011, simple counting mechanism II", "proof by hand"),
            Claim(
                "the last sum, by concentration",
                "Chan, Shi and Song 2011, Lemma 2.8, Pr[|Y| > γ] ≤ 2e^(-γ²/(8ν²)), at ν² = 5γ/(14·eps)",
                "theorem; exactly (1 + 5z/8 + z²/8)e^(-z), z = γ·eps",
                beta="2*exp(-7*gamma*eps/20)",
                eps="[14/5, inf)",
                row=_last_sum,
            ),
            Claim(
                "one noise for each output",
                "the claim of the Laplace mechanism (Dwork and Roth 2014, Theorem 3.8)",
                "the last sum alone fails with (1 + 5z/8 + z²/8)e^(-z) > 3e^(-z) for z = γ·eps ≥ 3",
                beta="m*exp(-gamma*eps)",
                failing=8,
            ),
        ),
    ),
    Entry("noisy_max_exponential", "NoisyMax, exponential noise", tuple(ideals.continuous_maximum()), _MAXIMUM),
    Entry("permute_and_flip", "Permute and flip", tuple(ideals.continuous_maximum()), _MAXIMUM),
    Entry(
        "noisy_max_discrete",
        "NoisyMax, discrete Laplace",
        tuple(ideals.whole_maximum()),
        (
            Claim("as with continuous noise", "the paper, Lemma 5", _FORMULA),
            Claim(
                "99/100 of that",
                _TIGHTENED,
                "three tied values fail with 3r - 8r² + …, r = e^(-eps/2); " + _FORMULA,
                beta="99/100*m*exp(-alpha*eps/2)",
                failing=7,
            ),
        ),
    ),
    Entry(
        "above_threshold_discrete",
        "AboveThreshold, discrete Laplace",
        tuple(ideals.whole_threshold()),
        (
            Claim("as with continuous noise", "Dwork and Roth 2014, Theorem 3.24", "proof by hand, for m ≥ 2"),
            Claim("a quarter of that", _TIGHTENED, _FORMULA, beta="2*m*exp(-alpha*eps/8)/4"),
            Claim("a fifth of that", _TIGHTENED, _FORMULA, beta="2*m*exp(-alpha*eps/8)/5", failing=4),
            Claim(
                "twice the exponent, half the factor",
                _TIGHTENED,
                "the leading term of q = (-1, 0) for large eps; " + _FORMULA,
                beta="m*exp(-alpha*eps/4)",
            ),
        ),
    ),
)

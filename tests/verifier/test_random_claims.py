"""Random claims about every input: one is said to follow from another only if it does at sampled distances and eps."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction

import pytest

from dipc.verifier.claims import Claim, read_intervals
from dipc.verifier.functions import Closed
from dipc.verifier.implication import Follows, claim_follows
from dipc.verifier.reading import Budget, Rejected

_ALPHAS = ("dd", "dd", "0", "1/2", "1", "2")
_GAMMAS = ("0", "1/2", "1", "dd", "alpha", "alpha/2", "1 + dd/2", "2 - 1", "free")
_BETAS = (
    "1/2",
    "exp(-eps)",
    "exp(-alpha*eps)",
    "exp(-alpha*eps/2)",
    "2*exp(-alpha*eps)",
    "min(1, 2*exp(-alpha*eps))",
    "min(1/2, exp(-gamma*eps))",
    "exp(-gamma*eps)",
    "exp(-(alpha + gamma)*eps)",
    "exp(-eps)/(1 + exp(-eps))",
    "alpha*exp(-alpha*eps)",
    "max(exp(-alpha*eps), 1/4)",
    "1/(1 + alpha)",
    "eps*exp(-eps)",
)
_EPS = ("(0, inf)", "(0, 1]", "[1, 2)", "(2, inf)", "[1, 1]")

_DISTANCES = tuple(Fraction(n, 4) for n in (0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 40))
_POINTS = tuple(Fraction(n, 8) for n in (1, 4, 7, 8, 9, 15, 16, 17, 40, 80))


def claim(chance: random.Random) -> Claim:
    intervals = read_intervals([chance.choice(_EPS)])
    return Claim(chance.choice(_ALPHAS), chance.choice(_BETAS), chance.choice(_GAMMAS), intervals, {})


def number(f: Closed, eps: Fraction) -> float:
    above, below = (sum(float(c) * float(eps) ** k * math.exp(q * eps) for (k, q), c in part.items()) for part in f)
    return above / below


def terms(one: Claim, distance: Fraction, gamma: Fraction) -> tuple[Fraction, list[list[Closed]]] | None:
    """The radius and the beta of a claim at a distance, None if it claims nothing there. A free gamma is `gamma`."""
    own = {"gamma": str(gamma)} if one.gamma == "free" else {}
    # Only a claim with alpha = dd knows the distance.
    alpha, radius, beta = one.terms(own, str(distance) if one.alpha == "dd" else None, Budget())
    assert alpha is not None
    assert isinstance(beta, tuple)
    if one.is_near(own, distance, alpha):
        return None
    return radius, [list(arms) for arms in beta]


def failure(asked: Claim, proved: Claim) -> str | None:
    """A distance and an eps at which the claim asked does not follow, None if it does at all that are sampled."""
    for distance in _DISTANCES:
        for gamma in (Fraction(0), Fraction(1, 2), Fraction(3)):
            wanted = terms(asked, distance, gamma)
            if wanted is None:
                continue
            known = terms(proved, distance, gamma if asked.gamma == "free" else wanted[0])
            if known is None or known[0] > wanted[0]:
                return f"dd = {distance}"
            for eps in _POINTS:
                if not any(eps in interval for interval in asked.intervals):
                    continue
                if not any(eps in interval for interval in proved.intervals):
                    return f"eps = {eps}"
                values = [min(max(number(arm, eps) for arm in arms) for arms in beta) for _, beta in (wanted, known)]
                if values[0] < min(1.0, values[1]) * (1 - 1e-9) - 1e-12:
                    return f"dd = {distance}, eps = {eps}"
    return None


def compare(seed: int, count: int) -> Counter[Follows]:
    chance = random.Random(seed)
    found: Counter[Follows] = Counter()
    for _ in range(count):
        asked, proved = claim(chance), claim(chance)
        if chance.random() < 0.5:
            proved = Claim(proved.alpha, asked.beta, chance.choice((asked.gamma, proved.gamma)), asked.intervals, {})
        answer = claim_follows(asked, proved, {}, Budget(3_000_000))
        found[answer] += 1
        if answer is Follows.YES:
            try:
                why = failure(asked, proved)
            except Rejected:
                continue  # One of them is a claim about nothing, such as gamma = dd with a number for alpha.
            assert why is None, (asked, proved, why)
    return found


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 12))])
def test_a_claim_that_follows_does_at_every_distance(seed: int) -> None:
    assert compare(seed, 200)[Follows.YES] > 10

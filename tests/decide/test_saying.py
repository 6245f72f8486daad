"""Where a claim says anything: once for all claims that are one function of a distance times eps."""

from __future__ import annotations

import random
from fractions import Fraction
from math import log

import pytest

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.decide import scope
from dipc.decide.scope import claim_scope
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm

LIMITS, POSITIVE = Limits(), (Interval.POSITIVE,)


def random_beta(chance: random.Random) -> ExpPoly:
    """A sum of exponentials times powers of eps; some rise and fall below 1 several times."""
    return ExpPoly.from_terms(
        (
            chance.randint(0, 2),
            -Fraction(chance.randint(0, 6), chance.randint(1, 5)),
            Fraction(chance.randint(-9, 9), 4),
        )
        for _ in range(chance.randint(1, 4))
    )


@pytest.mark.parametrize("seed", range(60))
def test_where_is_the_same_as_decided_directly(seed: int) -> None:
    chance = random.Random(f"saying {seed}")
    beta = BetaForm(random_beta(chance))
    found, directly = claim_scope(beta, POSITIVE, LIMITS), scope._claim_scope(beta, POSITIVE, LIMITS)
    assert (found.reason, len(found.where)) == (directly.reason, len(directly.where))
    for part, other in zip(found.where, directly.where, strict=True):
        for end, there in ((part.start, other.start), (part.end, other.end)):
            assert (end.included, end.infinite) == (there.included, there.infinite)
            # Two enclosures of one number meet.
            assert end.infinite or (end.low <= there.high and there.low <= end.high)
            assert end.infinite or not end.high or end.high - end.low <= end.high / 10**9


def test_it_is_decided_once_for_all_distances() -> None:
    scope._claim_scope.cache_clear()
    for alpha in range(1, 200):
        beta = ExpPoly.term(6, 0, -Fraction(alpha, 16))
        (part,) = claim_scope(BetaForm(beta), POSITIVE, LIMITS).where
        # 6*exp(-alpha*eps/16) < 1 from 16*log(6)/alpha on.
        assert part.start.high is not None
        assert float(part.start.low) == pytest.approx(16 * log(6) / alpha)
    assert scope._claim_scope.cache_info().misses == 1

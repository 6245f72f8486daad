"""Claims about every real input, and about every number of queries: what is measured, and what must come out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import dipc
from benchmarks.mechanisms import MECHANISMS

#: The claims of the literature, for every alpha (or gamma) and every eps.
CLAIMS: dict[str, dict[str, Any]] = {
    "sparse": {},
    "above_threshold": {},
    "noisy_max": {},
    "numeric_sparse": {"alpha": "dd", "gamma": "alpha"},
    "laplace": {"alpha": "0", "gamma": "free"},
}

#: Queries, and the seconds that one claim may take.
SIZES = {3: 2.0, 50: 20.0, 100: 5.0}

#: Instead of a number of queries: all of them.
EVERY = "every"


def prove(name: str, queries: str) -> None:
    """Prove the claim of the mechanism `name` for so many `queries`; raise RuntimeError if it is not proved."""
    options = CLAIMS[name]
    if queries == EVERY:
        report = dipc.check_for_all(dipc.load(MECHANISMS[name].path), "m", **options).report
    else:
        report = dipc.check(dipc.load(MECHANISMS[name].path, m=Fraction(queries)), inputs="all", **options)
    if report.verdict is not dipc.Verdict.ACCURATE:
        raise RuntimeError(f"{name} with {queries} queries: {report.verdict}")

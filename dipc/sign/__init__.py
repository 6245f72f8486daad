"""The sign of an exponential polynomial on an interval of eps: proved, or refuted by a rational eps.

The one thing this package must never do is to say f >= 0 where it is not so.
"""

from dipc.sign.arrangement import Arrangement, arrange
from dipc.sign.chart import Analysis, SignChart, isolate_roots, sign_at, sign_chart
from dipc.sign.decide import (
    Decision,
    Fails,
    FailureRegion,
    Holds,
    PointProof,
    RegionEnd,
    decide_nonnegative,
)
from dipc.sign.interval import Interval
from dipc.sign.root import Root, refine
from dipc.sign.simplest import simplest_between

__all__ = [
    "Analysis",
    "Arrangement",
    "Decision",
    "Fails",
    "FailureRegion",
    "Holds",
    "Interval",
    "PointProof",
    "RegionEnd",
    "Root",
    "SignChart",
    "arrange",
    "decide_nonnegative",
    "isolate_roots",
    "refine",
    "sign_at",
    "sign_chart",
    "simplest_between",
]

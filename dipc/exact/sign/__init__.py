"""The sign of an exponential polynomial on an interval of eps: proved, or refuted by a rational eps.

The one thing this package must never do is to say f >= 0 where it is not so.
"""

from dipc.exact.sign.arrangement import Arrangement, arrange
from dipc.exact.sign.chart import Analysis, SignChart, isolate_roots, sign_at, sign_chart
from dipc.exact.sign.decide import (
    Decision,
    Fails,
    FailureRegion,
    Holds,
    PointProof,
    RegionEnd,
    decide_nonnegative,
)
from dipc.exact.sign.interval import Interval
from dipc.exact.sign.limits import SignLimits
from dipc.exact.sign.root import Root, refine
from dipc.exact.sign.simplest import simplest_between

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
    "SignLimits",
    "arrange",
    "decide_nonnegative",
    "isolate_roots",
    "refine",
    "sign_at",
    "sign_chart",
    "simplest_between",
]

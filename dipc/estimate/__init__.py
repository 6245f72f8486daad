"""Estimates of the privacy loss from samples, as others have them: they prove nothing, and stand beside the exact loss.

>>> from dipc.estimate import hist_plan
>>> hist_plan(1.582, 1, 0.5, 0.8).bins
91
"""

from __future__ import annotations

from dipc.estimate.histogram import (
    HistogramPlan,
    hist_estimate,
    hist_plan,
    input_buckets,
    is_plausibly_lipschitz,
)
from dipc.estimate.loss import LossEstimate, clt, estimate_loss, hoeffding, multidimensional_clt
from dipc.estimate.tolerance import integer_tolerance, mean_tolerance, partition_level

__all__ = [
    "HistogramPlan",
    "LossEstimate",
    "clt",
    "estimate_loss",
    "hist_estimate",
    "hist_plan",
    "hoeffding",
    "input_buckets",
    "integer_tolerance",
    "is_plausibly_lipschitz",
    "mean_tolerance",
    "multidimensional_clt",
    "partition_level",
]

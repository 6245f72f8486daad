"""The supremum of a quotient of exponential polynomials on an interval of eps: exact, with the place where it is.

A number found here is a rational, or known by enclosures as narrow as one likes; where it is compared with a rational
the answer is exact.
"""

from dipc.sign.optimum.highest import Highest, QuotientSupremum, highest, supremum
from dipc.sign.optimum.number import Number
from dipc.sign.optimum.peaks import Far, Peak, Where, ends_of, peaks
from dipc.sign.optimum.ratio import Ratio
from dipc.sign.optimum.shared_root import order, vanishes_at

__all__ = [
    "Far",
    "Highest",
    "Number",
    "Peak",
    "QuotientSupremum",
    "Ratio",
    "Where",
    "ends_of",
    "highest",
    "order",
    "peaks",
    "supremum",
    "vanishes_at",
]

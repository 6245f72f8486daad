"""The sign of an exponential polynomial on an interval of eps: proved, or refuted by a rational eps.

The one thing this package must never do is to say f >= 0 where it is not so.
"""

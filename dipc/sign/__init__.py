"""The sign of an exponential polynomial on an interval of eps: proved, or refuted by a rational eps.

The one thing that this room must never do is to claim f >= 0 where f is negative somewhere.
"""

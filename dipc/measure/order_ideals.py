"""Partial orders of noises with one law: linear extensions, counted by order ideals.

The n! orders of independent, identically distributed continuous noises are equally likely and ties have measure 0. So
the probability that comparisons Z_i >= Z_j hold is the share of orders that extend them. An extension places the noises
from the least upwards; what is placed at any time is an order ideal (with a noise, it holds all below), so the number
of extensions is that of paths from the empty ideal to the full one. A grid of 4 by 4 has 70 ideals and 24 024
extensions; 6 by 6 has 924 ideals.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial

from dipc.measure.difference import ORIGIN, DifferenceSystem


def order_measure(system: DifferenceSystem, most: int) -> Fraction | None:
    """The measure of a system that only compares real noises of one law, which all occur in it, exactly.

    None for other systems, and where more than `most` order ideals would be looked at.
    """
    if system.whole or len(set(system.rates)) > 1 or len(set(system.means)) > 1:
        return None
    if any(ORIGIN in pair or w for pair, w in system.lower.items()):
        return None
    size = len(system.rates)
    below = [0] * size
    for i, j in system.lower:
        below[i] |= 1 << j
    # Ideals of so many noises, as bit sets, and the orders in which each can be filled.
    ideals, seen = {0: 1}, 1
    for _ in range(size):
        larger: dict[int, int] = {}
        for ideal, orders in ideals.items():
            for i, needed in enumerate(below):
                if not ideal >> i & 1 and needed & ideal == needed:
                    larger[ideal | 1 << i] = larger.get(ideal | 1 << i, 0) + orders
        ideals = larger
        seen += len(ideals)
        if seen > most:
            return None
    # Noises that are each above the other cannot all be placed: then there is no order.
    return Fraction(ideals.get((1 << size) - 1, 0), factorial(size))

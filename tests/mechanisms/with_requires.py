"""Mechanisms with a precondition, each beside a Python function of the same condition."""

from __future__ import annotations

from fractions import Fraction

import dipc


def between(q, m):
    """The condition in a function of its own."""
    return all(0 <= x <= 10 for x in q) and m >= 1


@dipc.mechanism(
    m=3, requires=lambda q: min(q) >= 0 and max(q) <= 10, claim=dict(alpha="dd", beta="m*exp(-alpha*eps/4)")
)
def above(q: dipc.Reals["m"], m: dipc.Const, eps):
    s = dipc.laplace(3, rate=eps / 2)
    return [dipc.laplace(x, rate=eps / 2) >= s for x in q]


@dipc.mechanism(m=3, requires=between)
def named(q: dipc.Reals["m"], m: dipc.Const, eps):
    s = dipc.laplace(3, rate=eps / 2)
    return [dipc.laplace(x, rate=eps / 2) >= s for x in q]


@dipc.mechanism(
    requires=lambda n, x, q: (
        not (n == 0 or x < -Fraction(1, 2))
        and abs(x) <= 3
        and any(y > x for y in q)
        and all(q[i] <= n + 1 for i in range(2))
        and sum(q) >= 0
        and 2 * q[0] - q[1] != 1
        and not any(y == 2 or y != y for y in q)
        if False
        else n >= 0
    )
)
def refused(n: dipc.Finite[0:3], x: dipc.Real, q: dipc.Reals[2], eps):
    return dipc.laplace(x, rate=eps)


@dipc.mechanism(
    requires=lambda n, x, q: (
        not (n == 0 or x < -Fraction(1, 2))
        and abs(x) <= 3
        and any(y > x for y in q)
        and all(q[i] <= n + 1 for i in range(2))
        and sum(q) >= 0
        and 2 * q[0] - q[1] != 1
        and not any(y < -1 or y > 2 for y in q)
    )
)
def odd(n: dipc.Finite[0:3], x: dipc.Real, q: dipc.Reals[2], eps):
    return dipc.laplace(x, rate=eps)


@dipc.mechanism(requires=lambda count: count >= 0)
def counted(count: dipc.Int, eps):
    return dipc.discrete_laplace(count, rate=eps)

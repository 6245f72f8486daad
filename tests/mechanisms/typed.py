"""Mechanisms as a project with strict type checks writes them."""

from typing import Annotated, Literal

import dipc


@dipc.mechanism(m=3, claim=dict(alpha="dd", beta="2*m*exp(-alpha*eps/8)"))
def above_threshold(q: dipc.Reals["m"], eps: dipc.Eps, T: dipc.Const = 0) -> int | None:
    threshold = dipc.laplace(T, scale=2 / eps)
    for i in range(len(q)):
        if dipc.laplace(q[i], scale=4 / eps) >= threshold:
            return i
    return None


@dipc.mechanism(m=3)
def noisy_max(q: Annotated[list[float], "m"], eps: dipc.Eps) -> int:
    noisy = [dipc.laplace(x, scale=2 / eps) for x in q]
    return noisy.index(max(noisy))


@dipc.mechanism
def answered(x: dipc.Finite[0:5], word: Literal["low", "high"], z: dipc.Real, eps: dipc.Eps) -> bool:
    honest = dipc.choice({True: 1 / 2, False: 1 / 2})
    return honest and (dipc.laplace(z, scale=1 / eps) > x or word == "high")


above_threshold.check(inputs="all").require()
print(above_threshold(q=[-1, 0, 1], eps="1/2"), above_threshold.dip())

"""Mechanisms with a mistake each."""

import dipc


@dipc.mechanism(m=3, claim=dict(alpha="dd", beta="2*m*exp(-alpha*eps/8)"))
def above_threshold(q: dipc.Reals["m"], eps, T: dipc.Const = 0):
    threshold = dipc.laplace(T, scale=2 / eps)
    for i in range(len(q)):
        if dipc.laplace(q[i], scale=4 / eps) >= threshold:
            return i
    return None


@dipc.mechanism()
def prints(q: dipc.Real, eps):
    print(q)
    return dipc.laplace(q, scale=1 / eps) > 0


@dipc.mechanism()
def positional(q: dipc.Real, eps):
    return dipc.laplace(q, 1 / eps) > 0


@dipc.mechanism()
def counts(x: bool, eps):
    count = 0
    while not dipc.choice({True: 1 / 2, False: 1 / 2}):
        count += 1
    return count


@dipc.mechanism()
def untyped(q, eps):
    return dipc.laplace(q, scale=1 / eps) > 0


@dipc.mechanism()
def response(x: bool, eps):
    return dipc.choice({x: 3 / 4, not x: 1 / 4})

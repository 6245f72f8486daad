"""The mechanisms of the tutorial and of the page about production."""

import dipc


@dipc.mechanism(claim=dict(alpha="dd", beta="exp(-alpha*eps)/2"))
def busy(count: dipc.Real, eps, T: dipc.Const = 100):
    """Whether at least T visitors came."""
    return dipc.laplace(count, scale=1 / eps) >= T


@dipc.mechanism(m=3, claim=dict(alpha="dd", beta="2*m*exp(-alpha*eps/8)"))
def above_threshold(q: dipc.Reals["m"], eps, T: dipc.Const = 0):
    """The first of m queries that reaches the threshold, or None."""
    threshold = dipc.laplace(T, scale=2 / eps)
    for i in range(len(q)):
        if dipc.laplace(q[i], scale=4 / eps) >= threshold:
            return i
    return None


@dipc.mechanism
def released(q: dipc.Real, eps):
    """A noisy copy of a number."""
    return dipc.laplace(q, scale=1 / eps)


@dipc.mechanism(m=3, claim=dict(alpha="dd", beta="m*exp(-alpha*eps)"))
def report_noisy_max(q: dipc.Reals["m"], eps):
    """OpenDP's report noisy max with exponential noise, its scale 2/eps."""
    noisy = [x + dipc.exponential_noise(scale=2 / eps) for x in q]
    return noisy.index(max(noisy))


@dipc.mechanism
def geometric(x: dipc.Int, eps):
    """The geometric mechanism of diffprivlib, OpenDP and Tumult, at sensitivity 1."""
    return dipc.discrete_laplace(x, scale=1 / eps)

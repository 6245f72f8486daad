"""Mechanisms of the literature in Python, as they were first typed."""

import dipc


@dipc.mechanism(m=3, claim=dict(alpha="dd", beta="m*exp(-alpha*eps/2)"))
def noisy_max(q: dipc.Reals["m"], eps):
    best, at = None, 0
    for i, x in enumerate(q):
        noisy = dipc.laplace(x, scale=2 / eps)
        if best is None or noisy > best:
            best, at = noisy, i
    return at


@dipc.mechanism(m=3, claim=dict(alpha="dd", beta="2*m*exp(-alpha*eps/8)"))
def between(q: dipc.Reals["m"], eps, low: dipc.Const = 0, high: dipc.Const = 5):
    """Above threshold with two thresholds: the first query between them."""
    lower = dipc.laplace(low, scale=4 / eps)
    upper = dipc.laplace(high, scale=4 / eps)
    for i in range(len(q)):
        noisy = dipc.laplace(q[i], scale=4 / eps)
        if lower <= noisy <= upper:
            return i
    return None


@dipc.mechanism(m=3, claim=dict(alpha="dd", beta="m*exp(-alpha*eps/8)"))
def svt(q: dipc.Reals["m"], eps, T: dipc.Const = 0):
    """Sparse vector, at most one positive answer."""
    t = dipc.laplace(T, scale=2 / eps)
    answers = []
    for x in q:
        if dipc.laplace(x, scale=4 / eps) >= t:
            answers.append(True)
            break
        answers.append(False)
    return answers


@dipc.mechanism(k=3, claim=dict(alpha=0, gamma=5, beta="k*exp(-gamma*eps/2)"))
def histogram(counts: dipc.Reals["k"], eps):
    return [dipc.laplace(c, scale=2 / eps) for c in counts]


@dipc.mechanism(claim=dict(alpha=0, beta="1/(1+exp(eps))"))
def response(truth: bool, eps):
    return dipc.choice({truth: "exp(eps)/(1+exp(eps))", not truth: "1/(1+exp(eps))"})


@dipc.mechanism(claim=dict(alpha=0, gamma=1, beta="4*exp(-eps/2)"))
def median(x: dipc.Finite[0:5], y: dipc.Finite[0:5], z: dipc.Finite[0:5], eps):
    return dipc.exponential_mechanism(
        range(5), lambda c: -abs((x < c) + (y < c) + (z < c) - (x > c) - (y > c) - (z > c)), rate=eps / 2
    )


@dipc.mechanism(n=10, claim=dict(alpha=0, gamma=2, beta="exp(-3*eps)"))
def clamped(count: dipc.Finite[0:11], eps):
    return min(max(dipc.discrete_laplace(count, scale=1 / eps), 0), n)


@dipc.mechanism(claim=dict(alpha=0, gamma=10, beta="2*exp(-5*eps/2)"))
def sum_and_count(total: dipc.Real, count: dipc.Real, eps):
    return dipc.laplace(total, scale=2 / eps), dipc.laplace(count, scale=2 / eps)


@dipc.mechanism(k=3, claim=dict(alpha=0, beta="k/(1+exp(eps/2))"))
def unary(value: dipc.Finite[0:3], eps):
    bits = []
    for v in range(3):
        keep = dipc.choice({True: "exp(eps/2)/(1+exp(eps/2))", False: "1/(1+exp(eps/2))"})
        bits.append((v == value) == keep)
    return bits


@dipc.mechanism(m=3, claim=dict(alpha=0, gamma=3, beta="1"))
def subsampled(x: dipc.Ints["m"], eps):
    total = 0
    for each in x:
        if dipc.choice({True: 1 / 2, False: 1 / 2}):
            total += each
    return dipc.discrete_laplace(total, scale=1 / eps)


@dipc.mechanism(m=3, c=1, claim=dict(alpha="dd", gamma=10, beta="m*exp(-gamma*eps/9) + 2*m*exp(-alpha*eps/18)"))
def numeric_sparse(q: dipc.Reals["m"], eps, T: dipc.Const = 0):
    t = dipc.laplace(T, scale=3 / eps)
    out = []
    count = 0
    for x in q:
        if count < c and dipc.laplace(x, scale=6 / eps) >= t:
            out.append(dipc.laplace(x, scale=3 / eps))
            count += 1
        else:
            out.append(None)
    return out


@dipc.mechanism(claim=dict(alpha=0, beta="5*exp(-eps/2)", eps="[1/2, 3]"))
def median_by_function(x: dipc.Finite[0:5], y: dipc.Finite[0:5], z: dipc.Finite[0:5], eps):
    data = [x, y, z]

    def score(v):
        below = sum(1 for d in data if d < v)
        above = sum(1 for d in data if d > v)
        return -abs(below - above)

    return dipc.exponential_mechanism(range(5), score, rate=eps / 2)


@dipc.mechanism(claim=dict(alpha="dd", gamma="alpha", beta="2*exp(-alpha*eps)", eps=1))
def stable_count(count: dipc.Real, eps):
    """Korolova et al.: released only above a threshold."""
    noisy = dipc.laplace(count, scale=1 / eps)
    if noisy > 8:
        return noisy
    return None


@dipc.mechanism(k=3, ideal=lambda x: x, claim=dict(alpha=0, beta="(k - 1)/(k - 1 + exp(eps))"))
def k_ary(x: dipc.Finite[0:3], eps):
    return dipc.exponential_mechanism(range(3), lambda v: v == x, rate=eps)


@dipc.mechanism(m=3, claim=dict(alpha="dd", beta="m*exp(-alpha*eps/2)"))
def winner(q: dipc.Reals["m"], eps):
    noisy = [dipc.laplace(x, scale=2 / eps) for x in q]
    best = max(noisy)
    return noisy.index(best)

"""Mechanisms in Python, each beside the program of benchmarks/ that says the same."""

import math
from fractions import Fraction

import dipc

TOP = 4
TWO = Fraction(2)


def argmax_of(values, count):  # type: ignore[no-untyped-def]
    best = values[0]
    place = 0
    for i in range(1, count):
        if values[i] > best:
            best = values[i]
            place = i
    return place


@dipc.mechanism(m=3, claim=dict(alpha="dd", gamma=0, beta="2*m*exp(-alpha*eps/8)"))
def above_threshold(q: dipc.Reals["m"], eps, T: dipc.Const = 0):
    answers = []
    threshold = dipc.laplace(T, scale=2 / eps)
    for x in q:
        if dipc.laplace(x, scale=4 / eps) >= threshold:
            answers.append(True)
            break
        answers.append(False)
    return answers


@dipc.mechanism(m=3, c=1, claim=dict(alpha="dd", gamma=0, beta="2*m*c*exp(-alpha*eps/(8*c))"))
def sparse(q: dipc.Reals["m"], eps, T: dipc.Const = 0):
    out = []
    count = 0
    threshold = dipc.laplace(T, scale=2 * c / eps)
    for x in q:
        if dipc.laplace(x, scale=4 * c / eps) >= threshold:
            out.append(True)
            count += 1
            if count >= c:
                return out
            threshold = dipc.laplace(T, scale=2 * c / eps)
        else:
            out.append(False)
    return out


@dipc.mechanism(m=3, claim=dict(alpha="dd", gamma=0, beta="m*exp(-alpha*eps/2)"))
def noisy_max(q: dipc.Reals["m"], eps):
    noisy = [dipc.laplace(x, scale=2 / eps) for x in q]
    return noisy.index(max(noisy))


@dipc.mechanism(m=3, claim=dict(alpha="dd", gamma=0, beta="m*exp(-alpha*eps/2)"))
def noisy_max_by_hand(q: dipc.Reals["m"], eps):
    noisy = [dipc.laplace(x, rate=eps / 2) for x in q]
    return argmax_of(noisy, len(q))


@dipc.mechanism(m=2, delta=1, claim=dict(alpha=0, gamma=1, beta="m*exp(-gamma*eps/delta)"))
def laplace(q: dipc.Reals["m"], eps):
    return [dipc.laplace(x, scale=delta / eps) for x in q]


@dipc.mechanism()
def randomized_response(x: bool, eps):
    p = math.exp(eps) / (1 + math.exp(eps))
    return dipc.choice({x: p, not x: 1 / (1 + math.exp(eps))})


@dipc.mechanism(k=4)
def k_ary_randomized_response(x: dipc.Finite[0:"k"], eps):
    honest = dipc.choice({True: dipc.exp(eps) / (dipc.exp(eps) + k - 1), False: (k - 1) / (dipc.exp(eps) + k - 1)})
    shift: dipc.Finite[0:4] = 0
    if not honest:
        shift = dipc.exponential_mechanism(range(1, k), lambda v: 0, rate=eps)
    if x + shift < k:
        return x + shift
    return x + shift - k


@dipc.mechanism(m=3, claim=dict(alpha="dd", gamma=0, beta="m*exp(-alpha*eps)"))
def noisy_max_exponential(q: dipc.Reals["m"], eps):
    noisy = [x + dipc.exponential_noise(scale=2 / eps) for x in q]
    return max(range(len(q)), key=lambda i: noisy[i])


@dipc.mechanism()
def truncated_geometric(x: dipc.Int, eps):
    noisy = dipc.discrete_laplace(x, scale=1 / eps)
    clamped = 0
    for i in range(1, TOP + 1):
        if noisy >= i:
            clamped = i
    return clamped


@dipc.mechanism()
def released_above(eps):
    return dipc.discrete_laplace(1, scale=1 / eps) > 5


@dipc.mechanism(m=2)
def svt5(q: dipc.Reals["m"], eps, T: dipc.Const = 0):
    threshold = dipc.laplace(T, scale=2 / eps)
    out = ["bot"] * m
    for i, x in enumerate(q):
        if x >= threshold:
            out[i] = "top"
    return out


@dipc.mechanism(m=2)
def svt6(q: dipc.Reals["m"], eps, T: dipc.Const = 0):
    threshold = dipc.laplace(T, scale=2 / eps)
    return ["top" if dipc.laplace(x, scale=2 / eps) >= threshold else "bot" for x in q]


@dipc.mechanism(m=2, c=1)
def svt1(q: dipc.Reals["m"], eps, T: dipc.Const = 0):
    out = ["nothing"] * len(q)
    count = 0
    threshold = dipc.laplace(T, scale=2 / eps)
    for i in range(len(q)):
        noisy = dipc.laplace(q[i], scale=4 * c / eps)
        if noisy < threshold:
            out[i] = "bot"
            continue
        out[i] = "top"
        count = count + 1
        if count >= c:
            break
    return out


@dipc.mechanism(m=2, c=1)
def svt3_binned(q: dipc.Reals["m"], eps, T: dipc.Const = 0):
    out = [None] * len(q)
    count = 0
    threshold = dipc.laplace(T, scale=2 / eps)
    for i, x in enumerate(q):
        noisy = dipc.laplace(x, scale=4 * c / eps)
        if noisy >= threshold:
            out[i] = "low" if noisy <= 0 else "high"
            count += 1
            if count >= c:
                break
        else:
            out[i] = "bot"
    return out


@dipc.mechanism(m=3, c=2)
def svt7(q: dipc.Reals["m"], eps, T: dipc.Const = 0):
    out = []
    count = 0
    threshold = dipc.laplace(T, scale=2 * c / eps)
    for x in q:
        above = dipc.laplace(x, scale=4 / eps) >= threshold
        out.append(above)
        if above:
            count += 1
            if count >= c:
                break
            threshold = dipc.laplace(T, scale=2 / eps)
    return out


@dipc.mechanism(m=3)
def partial_sum(x: dipc.Reals["m"], eps):
    return dipc.laplace(sum(x), scale=TWO / (2 * eps))


@dipc.mechanism(m=3)
def histogram(x: dipc.Reals["m"], eps):
    bins = list(x)
    for i in range(m):
        bins[i] = dipc.laplace(bins[i], scale=1 / eps)
    return bins


@dipc.mechanism(n=6, f="19/20")
def one_time_rappor(x: bool, eps):
    return [dipc.choice({x: 1 - f / 2, not x: f / 2}) for _ in range(n)]


@dipc.mechanism(m=3)
def binned_max(q: dipc.Reals["m"], eps):
    best = max(dipc.laplace(x, scale=2 / eps) for x in q)
    return -1 if best <= -1 else 0 if best <= 0 else 1


@dipc.mechanism(m=2)
def max_value(q: dipc.Reals["m"], eps):
    return max([dipc.laplace(x, scale=2 / eps) for x in q])


@dipc.mechanism(m=3, c=1, claim=dict(alpha=1, gamma=1, beta="(2*m + 1)*c*exp(-alpha*eps/(9*c))"))
def numeric_sparse(q: dipc.Reals["m"], eps, T: dipc.Const = 0):
    found = [None] * m
    values = [0] * m
    count = 0
    threshold = dipc.laplace(T, scale=9 * c / (4 * eps))
    for i, x in enumerate(q):
        if dipc.laplace(x, scale=9 * c / (2 * eps)) >= threshold:
            found[i] = True
            values[i] = dipc.laplace(x, scale=9 * c / eps)
            count += 1
            if count >= c:
                break
            threshold = dipc.laplace(T, scale=9 * c / (4 * eps))
        else:
            found[i] = False
    return found, values


@dipc.mechanism()
def exponential(x: dipc.Finite[0:3], eps):
    return dipc.exponential_mechanism([0, 1, 2], lambda v: -abs(v - x), rate=eps)


@dipc.mechanism()
def rejection(x: dipc.Finite[0:4], eps):
    accepted = False
    candidate: dipc.Finite[0:4] = 0
    while not accepted:
        candidate = dipc.exponential_mechanism(range(4), lambda w: 0, rate=eps)
        if candidate == x:
            accepted = True
        elif abs(candidate - x) == 1:
            accepted = dipc.choice({True: math.exp(-eps / 2), False: 1 - math.exp(-eps / 2)})
    return candidate

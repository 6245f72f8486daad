# Functions that are no mechanisms, each for a reason of its own; bad.txt says what is said of them.
import functools
import math
import random
import numpy as np
from fractions import Fraction
from statistics import median

import dipc
from dipc import laplace

K = 3
K = 4
WEIGHTS = [1, 2, 3]
CALLS = 0
PRICE = 0.1


def helper(x):
    if x > 0:
        return x


def loops(x):
    return loops(x - 1)


@functools.cache
def cached(x):
    return x


@dipc.mechanism()
def positional_scale(q: dipc.Real, eps):
    return dipc.laplace(q, 2 / eps)


@dipc.mechanism()
def no_scale(q: dipc.Real, eps):
    return dipc.laplace(q)


@dipc.mechanism()
def both_widths(q: dipc.Real, eps):
    return dipc.laplace(q, scale=2 / eps, rate=eps / 2)


@dipc.mechanism()
def wrong_keyword(q: dipc.Real, eps):
    return dipc.laplace(q, scal=2 / eps)


@dipc.mechanism()
def wrong_noise(q: dipc.Real, eps):
    return dipc.lapace(q, scale=2 / eps)


@dipc.mechanism()
def numpy_noise(q: dipc.Real, eps):
    return q + np.random.laplace(0, 1 / eps)


@dipc.mechanism()
def random_noise(q: dipc.Real, eps):
    return q + random.expovariate(eps)


@dipc.mechanism()
def scale_without_eps(q: dipc.Real, eps):
    return laplace(q, scale=2)


@dipc.mechanism()
def nothing_returned(q: dipc.Real, eps):
    noisy = dipc.laplace(q, scale=1 / eps)


@dipc.mechanism()
def no_eps(q: dipc.Real):
    return q


@dipc.mechanism()
def no_type(q, eps):
    return dipc.laplace(q, scale=1 / eps)


@dipc.mechanism()
def odd_type(q: float, eps):
    return dipc.laplace(q, scale=1 / eps)


@dipc.mechanism(n=3)
def odd_length(q: dipc.Reals["m"], eps):
    return sum(q)


@dipc.mechanism()
def no_length(q: dipc.Reals, eps):
    return sum(q)


@dipc.mechanism()
def no_constant(q: dipc.Real, eps, T: dipc.Const):
    return dipc.laplace(q, scale=1 / eps) > T


@dipc.mechanism(m=WEIGHTS)
def constant_list(q: dipc.Reals["m"], eps):
    return sum(q)


@dipc.mechanism(claim=dict(betta="exp(-eps)"))
def claim_field(q: dipc.Real, eps):
    return dipc.laplace(q, scale=1 / eps) > 0


@dipc.mechanism(claim=dict(beta="2*exp(-eps*alpa)"))
def claim_name(q: dipc.Real, eps):
    return dipc.laplace(q, scale=1 / eps) > 0


@dipc.mechanism(claim=dict(beta="exp(-eps"))
def claim_syntax(q: dipc.Real, eps):
    return dipc.laplace(q, scale=1 / eps) > 0


@functools.cache
@dipc.mechanism()
def stacked(q: dipc.Real, eps):
    return dipc.laplace(q, scale=1 / eps) > 0


@dipc.mechanism()
def assigned_twice(q: dipc.Real, eps):
    return dipc.laplace(q, scale=K / eps) > 0


@dipc.mechanism()
def outer_list(q: dipc.Real, eps):
    return dipc.laplace(q, scale=1 / eps) > WEIGHTS[0]


@dipc.mechanism()
def global_state(q: dipc.Real, eps):
    global CALLS
    CALLS += 1
    return dipc.laplace(q, scale=1 / eps) > 0


@dipc.mechanism()
def imported_function(q: dipc.Real, eps):
    return median([q, 0, 1])


@dipc.mechanism()
def unknown_name(q: dipc.Real, eps):
    noisy = dipc.laplace(q, scale=1 / eps)
    return nosy > 0


@dipc.mechanism(m=3)
def list_as_number(q: dipc.Reals["m"], eps):
    return dipc.laplace(q, scale=1 / eps) > 0


@dipc.mechanism(m=3)
def changed_input(q: dipc.Reals["m"], eps):
    q[0] = 0
    return sum(q)


@dipc.mechanism(m=3)
def sliced(q: dipc.Reals["m"], eps):
    return sum(q[::2])


@dipc.mechanism(m=3)
def after_the_loop(q: dipc.Reals["m"], eps):
    for i in range(len(q)):
        if dipc.laplace(q[i], scale=1 / eps) > 0:
            break
    return i


@dipc.mechanism()
def random_length(q: dipc.Int, eps):
    n = dipc.discrete_laplace(q, scale=1 / eps)
    for i in range(n):
        pass
    return True


@dipc.mechanism()
def real_in_while(q: dipc.Real, eps):
    noisy = q
    while noisy > 0:
        noisy = dipc.laplace(q, scale=1 / eps)
    return True


@dipc.mechanism()
def product_of_noises(q: dipc.Real, eps):
    return dipc.laplace(q, scale=1 / eps) * dipc.laplace(q, scale=1 / eps) > 0


@dipc.mechanism()
def int_meets_real(q: dipc.Real, x: dipc.Int, eps):
    return dipc.laplace(q, scale=1 / eps) > dipc.discrete_laplace(x, scale=1 / eps)


@dipc.mechanism(m=3)
def none_is_used(q: dipc.Reals["m"], eps):
    best = None
    for x in q:
        noisy = dipc.laplace(x, scale=1 / eps)
        if noisy > 0 and (best is None or noisy > best):
            best = noisy
    return best > 1


@dipc.mechanism(m=3)
def none_is_compared(q: dipc.Reals["m"], eps):
    out = [None] * m
    for i, x in enumerate(q):
        noisy = dipc.laplace(x, scale=1 / eps)
        if noisy > 0 and out[0] is not None and noisy > out[i]:
            out[i] = noisy
    return out


@dipc.mechanism(m=3)
def none_and_an_end(q: dipc.Reals["m"], eps):
    found = []
    for x in q:
        if dipc.laplace(x, scale=1 / eps) > 0:
            found.append(1)
            break
        found.append(None)
    return found


def sometimes(q):
    if q > 0:
        return q
    return None


@dipc.mechanism(ideal=sometimes)
def never_none(q: dipc.Real, eps):
    return dipc.laplace(q, scale=1 / eps)


@dipc.mechanism
def score_with_noise(q: dipc.Real, eps):
    return dipc.exponential_mechanism(range(3), lambda v: v * (dipc.laplace(q, scale=1 / eps) > 0), rate=eps)


@dipc.mechanism
def score_of_written_candidates(x: dipc.Finite[0:5], eps):
    return dipc.exponential_mechanism([0, 2], lambda v: sum(1 for y in [x, 2] if y == v), rate=eps)


@dipc.mechanism()
def two_shapes(q: dipc.Real, eps):
    if dipc.laplace(q, scale=1 / eps) > 0:
        return 1, 2
    return 3


@dipc.mechanism()
def mixed_kinds(q: dipc.Real, eps):
    if dipc.laplace(q, scale=1 / eps) > 0:
        return 1
    return "none of them".upper()


@dipc.mechanism()
def number_or_name(q: dipc.Real, eps):
    if dipc.laplace(q, scale=1 / eps) > 0:
        return 1
    return "low"


@dipc.mechanism()
def not_always_a_value(q: dipc.Real, eps):
    return helper(dipc.laplace(q, scale=1 / eps)) > 0


@dipc.mechanism()
def recursive(q: dipc.Real, eps):
    return loops(q)


@dipc.mechanism()
def decorated_helper(q: dipc.Real, eps):
    return cached(dipc.laplace(q, scale=1 / eps)) > 0


@dipc.mechanism()
def float_called(q: dipc.Real, eps):
    return dipc.laplace(float(q), scale=1 / eps) > 0


@dipc.mechanism()
def integer_division(x: dipc.Finite[0:9], eps):
    return dipc.choice({9 // x: 1})


@dipc.mechanism()
def prints(q: dipc.Real, eps):
    noisy = dipc.laplace(q, scale=1 / eps)
    print(noisy)
    return noisy > 0


@dipc.mechanism()
def raises(q: dipc.Real, eps):
    if q < 0:
        raise ValueError("negative")
    return dipc.laplace(q, scale=1 / eps) > 0


@dipc.mechanism()
def weights_that_are_none(x: bool, eps):
    return dipc.choice({x: 1 / 2, not x: 1 / 3})


@dipc.mechanism()
def out_of_the_list(q: dipc.Real, eps):
    out = [0] * 2
    out[2] = 1
    return out


@dipc.mechanism()
def range_unknown(q: dipc.Real, eps):
    count = 0
    running = True
    while running:
        count += 1
        running = dipc.choice({True: 1 / 2, False: 1 / 2})
    return count


@dipc.mechanism()
def ideal_of_another(q: dipc.Real, eps):
    return dipc.laplace(q, scale=1 / eps) > 0


def exact(p):
    return p > 0


@dipc.mechanism(ideal=exact)
def ideal_with_other_input(q: dipc.Real, eps):
    return dipc.laplace(q, scale=1 / eps) > 0


@dipc.mechanism()
def ümlaut(größe: dipc.Real, eps):
    return "ß" if dipc.laplace(größe, scale=1 / eps) > 0 else "ss"


@dipc.mechanism()
def weights_as_strings(x: bool, eps):
    return dipc.choice({x: "exp(eps)/(1 + exp(eps))", not x: "1/(1 + exp(eps))"})


@dipc.mechanism(ideal=lambda x: x)
def weights_not_divided(x: bool, eps):
    return dipc.choice({x: dipc.exp(eps), not x: 1})


@dipc.mechanism()
def list_of_finite(s: list[dipc.Finite[0:5]], eps):
    return dipc.exponential_mechanism(range(4), lambda k: s[k], rate=eps / 2)


@dipc.mechanism(m=3)
def scores_that_are_real(s: dipc.Reals["m"], eps):
    return dipc.exponential_mechanism(range(3), lambda k: s[k], rate=eps / 2)


@dipc.mechanism()
def called_epsilon(q, epsilon):
    return dipc.laplace(q, scale=1 / epsilon) >= 1


@dipc.mechanism()
def value_of_no_constant(q: dipc.Real, eps, T=100):
    return dipc.laplace(q, scale=1 / eps) >= T


@dipc.mechanism()
def scale_upside_down(q: dipc.Real, eps):
    return dipc.laplace(q, scale=eps) >= 1


@dipc.mechanism()
def rate_upside_down(x: dipc.Finite[0:3], eps):
    return dipc.exponential_mechanism(range(3), lambda k: -abs(k - x), rate=2 / eps)


@dipc.mechanism()
def generator_by_a_line_that_never_runs(q: dipc.Real, eps):
    return dipc.laplace(q, scale=1 / eps)
    yield q


def helper_with_yield(x):
    return x
    yield x


@dipc.mechanism()
def calls_a_generator(q: dipc.Real, eps):
    return dipc.laplace(helper_with_yield(q), scale=1 / eps)

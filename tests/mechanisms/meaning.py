"""Functions in which a name, None, a list or a number could be read otherwise than Python reads it."""

from fractions import Fraction

import dipc

k = 7
m = 2


@dipc.mechanism
def named_later(x: dipc.Finite[0:4], eps):
    def g():
        return k

    y = 1
    k = 5
    return g() + y


@dipc.mechanism
def nested_comp(x: dipc.Finite[0:4], eps):
    i = 3

    def g():
        return i

    xs = [g() + i for i in range(2)]
    return xs


@dipc.mechanism
def nested_key(x: dipc.Finite[0:4], eps):
    i = 1
    xs = [x, 2, 3]

    def g():
        return xs[i]

    return max(range(3), key=lambda i: g() - i)


@dipc.mechanism
def nested_sum(x: dipc.Finite[0:4], eps):
    i = x

    def g(a):
        return i + a

    return sum(g(i) for i in range(3)), i


@dipc.mechanism
def before_def(x: dipc.Finite[0:4], eps):
    y = helper(x)

    def helper(z):
        return z + 1

    return y


def helper(z):
    return z + 100


@dipc.mechanism
def grows_in_branch(x: dipc.Finite[0:4], eps):
    xs = []
    if x > 1:
        for i in range(3):
            xs.append(i)
    return xs


@dipc.mechanism
def grows_after_return(x: dipc.Finite[0:4], eps):
    xs = []
    if x > 2:
        return xs
    for i in range(3):
        xs.append(i + x)
    return xs


@dipc.mechanism
def none_then_list(x: dipc.Finite[0:4], eps):
    if x == 0:
        return None
    return [x, 1]


@dipc.mechanism
def none_tuple(x: dipc.Finite[0:4], eps):
    if x == 0:
        return None
    if x == 1:
        return x, None
    return x, 2


@dipc.mechanism
def fall_off(x: dipc.Finite[0:4], eps):
    xs = [0] * 2
    for i in range(2):
        xs[i] = x
        if x > 2:
            return xs


@dipc.mechanism
def list_part(x: dipc.Finite[0:4], eps):
    a = [x, 1]
    b = [2, x]
    if x > 1:
        return a, x
    return b, a[0]


@dipc.mechanism
def none_copy(x: dipc.Finite[0:4], eps):
    a = None
    b = None
    if x > 0:
        b = 0
    if x > 1:
        a = -3
    elif x > 0:
        a = b
    if a is None:
        return 99
    return a


@dipc.mechanism
def flag_and(x: dipc.Finite[0:4], eps):
    flag = None
    if x > 1:
        flag = x > 2
    return flag and True


@dipc.mechanism
def none_str(x: dipc.Finite[0:4], eps):
    a = "none"
    if x > 1:
        a = None
    return a == "none"


@dipc.mechanism
def none_order(x: dipc.Finite[0:4], eps):
    a = None
    if x > 1:
        a = x
    return a < 1


@dipc.mechanism
def max_none(x: dipc.Finite[0:4], eps):
    a = None
    if x > 1:
        a = x
    return max([x, a])


@dipc.mechanism
def in_none(x: dipc.Finite[0:4], eps):
    a = None
    if x > 1:
        a = x
    return a in (-1, 0, 1), a in (None, 2)


@dipc.mechanism
def argmax_none(x: dipc.Finite[0:4], y: dipc.Finite[0:4], eps):
    best = None
    place = None
    for i, v in enumerate([x, y, 2]):
        if v > 1 and (best is None or v > best):
            best = v
            place = i
    return best, place


@dipc.mechanism
def index_float(x: dipc.Finite[0:4], eps):
    q = [x, 1, 2]
    return q[1.0]


@dipc.mechanism
def index_div(x: dipc.Finite[0:4], eps):
    q = [x, 1, 2]
    return q[4 / 2]


@dipc.mechanism
def max_nothing(x: dipc.Finite[0:4], eps):
    return max([k for k in range(0)])


@dipc.mechanism
def unbound(x: dipc.Finite[0:4], eps):
    if x > 1:
        y = 2
    return y


@dipc.mechanism
def fraction_float(x: dipc.Finite[0:4], eps):
    return Fraction(0.1) == Fraction(1, 10)


@dipc.mechanism
def equal_keys(x: dipc.Finite[0:4], eps):
    return dipc.choice({x: 1 / 2, 1: 1 / 2})


@dipc.mechanism
def equal_keys2(x: dipc.Finite[0:4], y: dipc.Finite[0:4], eps):
    return dipc.choice({x: 1 / 4, y: 3 / 4})


@dipc.mechanism
def keys_apart(x: dipc.Finite[0:4], eps):
    return dipc.choice({x: 1 / 4, x + 1: 1 / 4, 9: 1 / 2})


@dipc.mechanism
def decimals(x: dipc.Finite[0:4], eps):
    return 0.1 * x + 0.2 * x <= 0.3 * x


@dipc.mechanism
def thirds(x: dipc.Finite[0:4], eps):
    return x / 3 + x / 3 + x / 3 == x


@dipc.mechanism
def float_answer(x: dipc.Finite[0:4], eps):
    return x / 2


@dipc.mechanism
def float_int(x: dipc.Finite[0:4], eps):
    if x > 2:
        return 2.0
    return 1


@dipc.mechanism
def int_or_bool(x: dipc.Finite[0:4], eps):
    return max(x > 1, x > 2)


@dipc.mechanism
def appended_last(x: dipc.Finite[0:4], eps):
    xs = []
    for i in range(3):
        if i > 0:
            xs.append(xs[i - 1] + x)
        else:
            xs.append(1)
    return xs


@dipc.mechanism
def list_in_branch(x: dipc.Finite[0:4], eps):
    if x > 1:
        ys = [1, 2]
    return ys[0]


@dipc.mechanism
def xs_alias(x: dipc.Finite[0:4], eps):
    xs = [x, 1]
    ys = xs
    ys[0] = 9
    return xs, ys


@dipc.mechanism
def rounds(x: dipc.Finite[0:4], eps):
    total = 0
    for i in range(3):
        if i > 0:
            total = total + last
        last = i + x
    return total


@dipc.mechanism
def zip_strict(x: dipc.Finite[0:4], eps):
    total = 0
    for a, b in zip([1, 2], [x, 1, 2], strict=True):
        total += a * b
    return total


@dipc.mechanism
def none_choice(x: dipc.Finite[0:4], eps):
    y = dipc.choice({None: 1 / 2, x: 1 / 2})
    return y == -1, y is None


@dipc.mechanism
def while_none(x: dipc.Finite[0:4], eps):
    best = None
    i = 0
    while best is None:
        if i >= x:
            best = i
        i = min(i + 1, 5)
    return best + 1


@dipc.mechanism
def after_loop(x: dipc.Finite[0:4], eps):
    def g():
        return k

    for k in range(3):
        y = k
    return g()


@dipc.mechanism
def later_in_loop(x: dipc.Finite[0:4], eps):
    def g():
        return k

    y = 0
    for i in range(2):
        if i > 0:
            y = g()
        k = i + x
    return y


def right(x):
    return [x, 1]


@dipc.mechanism(ideal=right, claim=dict(alpha=0, beta="0"))
def list_or_none(x: dipc.Finite[0:4], eps):
    xs = [x, 1]
    if dipc.choice({True: 1 / 2, False: 1 / 2}):
        return None
    return xs


@dipc.mechanism
def minus_one(x: dipc.Finite[0:4], eps):
    best = None
    if dipc.choice({True: 1 / 2, False: 1 / 2}):
        best = x
    if best == -1:
        return 1
    return 0


@dipc.mechanism
def none_or_earlier(x: dipc.Finite[0:4], eps):
    best = None
    for i in range(2):
        if dipc.choice({True: 1 / 2, False: 1 / 2}):
            best = i
    for j in range(2):
        if best == j - 1 and j == 0:
            return 1
    return 0


@dipc.mechanism
def two_nones(x: dipc.Finite[0:4], eps):
    a = None
    b = None
    if x > 7:
        a = x
        b = x - 5
    return a == b


@dipc.mechanism
def lists_exchanged(x: dipc.Finite[0:10], eps):
    xs = [x, 1]
    ys = [7, 8]
    if x > 7:
        return ys, xs
    return xs, ys


@dipc.mechanism
def list_twice(x: dipc.Finite[0:4], eps):
    xs = [x, 1]
    return xs, xs

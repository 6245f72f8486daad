"""Functions without noise, in which Python and its translation could differ: Python itself says what is right."""

import dipc

LIMIT = 2


def default_from_file(x, k=LIMIT):
    return x + k


def clamp(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


@dipc.mechanism()
def shadowed_default(x: dipc.Finite[0:4], eps, T: dipc.Const = 0):
    LIMIT = x + 10 + T
    return default_from_file(x) + LIMIT


@dipc.mechanism
def element_kept(x: dipc.Finite[0:4], eps):
    xs = [0] * 3
    for i in range(3):
        xs[i] = i + x
    last = 0
    for i, y in enumerate(xs):
        xs[i] = 0
        last = y
    return last


@dipc.mechanism
def swapped(x: dipc.Finite[0:4], y: dipc.Finite[0:4], eps):
    a, b = x, y
    a, b = b, a
    return a, b


@dipc.mechanism
def nested_break(x: dipc.Finite[0:4], eps):
    total = 0
    for i in range(3):
        for j in range(3):
            if j == x:
                break
            if i == j:
                continue
            total += 1
        if total >= 4:
            break
    return total


@dipc.mechanism
def continue_deep(x: dipc.Finite[0:5], eps):
    total = 0
    for i in range(5):
        if i > 0:
            if i == x:
                continue
            total += 1
        total += 1
        if total > 6:
            return total
    return total


@dipc.mechanism
def growing(x: dipc.Finite[0:5], eps):
    out = []
    for i in range(4):
        if i == x:
            continue
        if i > x + 1:
            break
        out.append(i)
    return out


@dipc.mechanism
def three_values(x: dipc.Finite[0:3], eps):
    flag = None
    if x == 1:
        flag = True
    elif x == 2:
        flag = False
    a = flag is None
    b = flag == False  # noqa: E712
    c = not flag
    d = flag == True  # noqa: E712
    return a, b, c, d


@dipc.mechanism
def none_or_number(x: dipc.Finite[0:4], eps):
    found = None
    for i in range(3):
        if i == x:
            found = i
    if found is None:
        return None
    return found + 1


@dipc.mechanism
def strings(x: dipc.Finite["draw", "low"], eps):
    draw = "draw"
    low = "low" if x == draw else draw
    return low


@dipc.mechanism
def loop_with_flag(x: dipc.Finite[0:4], eps):
    i = 0
    steps = 0
    stop: dipc.Finite[0:9] = 0
    while True:
        if stop >= x + 2:
            break
        stop = stop + 1
    for i_ in range(4):
        steps = i_
        if i_ == x:
            break
    return stop, steps


@dipc.mechanism
def reductions(x: dipc.Finite[0:4], eps):
    xs = [x, 2, 1]
    return sum(xs), max(xs), min(xs), any(y > 2 for y in xs), all(y > 0 for y in xs), sum(y > 1 for y in xs)


@dipc.mechanism
def first_best(x: dipc.Finite[0:4], eps):
    xs = [2, x, 2]
    return xs.index(max(xs)), max(range(3), key=lambda i: -abs(xs[i] - 1))


@dipc.mechanism
def helpers(x: dipc.Finite[0:9], eps):
    y = clamp(x, 2, 5)
    x2 = clamp(y - 1, 0, y)
    return y, x2


@dipc.mechanism
def chained(x: dipc.Finite[0:6], eps):
    return 1 <= x < 4 != x, x in (1, 5), x not in (2, 3)


@dipc.mechanism
def backwards(x: dipc.Finite[0:4], eps):
    xs = [0] * 4
    place = 0
    for i in range(3, -1, -1):
        xs[i] = place
        place += 1
        if place > x:
            break
    return xs, xs[-1]


@dipc.mechanism
def zipped(x: dipc.Finite[0:3], eps):
    total = 0
    for i, (a, b) in enumerate(zip([1, 2, 3], [x, x + 1]), 1):
        total += i * (a + b)
    return total


@dipc.mechanism
def functions_inside(x: dipc.Finite[0:4], y: dipc.Finite[0:4], eps):
    total = x

    def added(z):
        total = z + y
        for i in range(2):
            total += i
        return total

    return total + added(3)


@dipc.mechanism
def index_of_a_name(x: dipc.Finite[0:4], y: dipc.Finite[0:4], eps):
    xs = [x, y, 2]
    best = max(xs)
    return xs.index(best)


@dipc.mechanism
def none_appended(x: dipc.Finite[0:4], eps):
    found = []
    for i in range(3):
        if i == x:
            found.append(i)
        else:
            found.append(None)
    return found


# With noise, and None where there is no number.


@dipc.mechanism(m=3)
def best_two(q: dipc.Reals["m"], eps):
    best, other = None, None
    for x in q:
        noisy = dipc.laplace(x, scale=1 / eps)
        if noisy > 0:
            if best is None or noisy > best:
                other = best
                best = noisy
            elif other is None or noisy > other:
                other = noisy
    return best, other


@dipc.mechanism
def set_in_branches(x: dipc.Finite[0:4], eps):
    if x > 2:
        y = 1
    else:
        y = 2
    return y


def at_most_two(a):
    if a > 2:
        a = 2
    return a


def three_more(a):
    for _ in range(3):
        a = a + 1
    return a


@dipc.mechanism
def arguments_changed(x: dipc.Finite[0:4], eps):
    return at_most_two(x) + 10 * three_more(x)


@dipc.mechanism
def loop_names_changed(x: dipc.Finite[0:4], y: dipc.Finite[0:4], eps):
    total = 0
    for z in (x, y):
        if z > 1:
            z = 1
        total += z
    for i in range(3):
        for _ in range(2):
            i = min(i + 1, 3)
        total += i
    return total


@dipc.mechanism
def assigned_further_down(x: dipc.Finite[0:4], eps):
    total = 0
    for i in range(3):
        if i > 0:
            total += LIMIT  # noqa: F821 - that of the round before
        LIMIT = x  # noqa: F841
    return total


@dipc.mechanism
def names_of_the_text_around(x: dipc.Finite[0:4], eps):
    y = x

    def outer():
        return y

    def inner(y):
        return outer() + y

    y, z = 5, outer()
    return inner(1) + z


@dipc.mechanism(m=3)
def positive(q: dipc.Reals["m"], eps):
    found = [None] * m
    for i, x in enumerate(q):
        noisy = dipc.laplace(x, scale=1 / eps)
        if noisy > 0:
            found[i] = noisy
    return found


@dipc.mechanism(m=3)
def kept(q: dipc.Reals["m"], eps):
    found = []
    for x in q:
        noisy = dipc.laplace(x, scale=1 / eps)
        if noisy > 0:
            found.append(noisy)
    return found


@dipc.mechanism(m=3)
def appended(q: dipc.Reals["m"], eps):
    found = []
    for x in q:
        noisy = dipc.laplace(x, scale=1 / eps)
        if noisy > 0:
            found.append(noisy)
        else:
            found.append(None)
    return found

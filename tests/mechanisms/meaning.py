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


TOP = 4


def pick(x):
    if x > 2:
        return None
    return x - 1


def two(a, b=TOP):
    return a * b


def uses_k(a):
    TOP = a + 1
    return two(a) + TOP


@dipc.mechanism
def comprehension_in_comprehension(x: dipc.Finite[0:4], eps):
    return [sum(i for i in range(3)) + i for i in range(2)]


@dipc.mechanism
def comprehension_hides_input(x: dipc.Finite[0:4], eps):
    xs = [1, 2, x]
    ys = [x + 1 for x in xs]
    return ys, x


@dipc.mechanism
def list_and_none(x: dipc.Finite[0:4], eps):
    xs = [x, 2]
    if x > 2:
        return xs, None
    return xs, x


@dipc.mechanism
def none_in_lists(x: dipc.Finite[0:4], eps):
    if x > 2:
        return [None, x]
    return [x, None]


@dipc.mechanism
def helper_none_or_number(x: dipc.Finite[0:4], eps):
    y = pick(x)
    if y is None:
        return "gone"
    return "low" if y == -1 else "high"


@dipc.mechanism
def helpers_none_compared(x: dipc.Finite[0:4], eps):
    y = pick(x)
    z = pick(x - 1)
    return y == z, y != z, y in (None, z), z is None


@dipc.mechanism
def helper_with_name_of_file(x: dipc.Finite[0:4], eps):
    return uses_k(x) + TOP


@dipc.mechanism
def elements_exchanged(x: dipc.Finite[0:4], eps):
    xs = [x, 1, 2]
    xs[0], xs[2] = xs[2], xs[0]
    return xs


@dipc.mechanism
def none_then_counted(x: dipc.Finite[0:4], eps):
    a = None
    for i in range(3):
        if a is None:
            if i == x:
                a = i
        else:
            a = a + 1
    return a


@dipc.mechanism
def none_in_list_skipped(x: dipc.Finite[0:4], eps):
    found = [None] * 3
    for i in range(3):
        if i != x:
            found[i] = i
    total = 0
    for v in found:
        if v is not None:
            total += v
    return total, found


@dipc.mechanism
def choice_of_none(x: dipc.Finite[0:4], eps):
    a = dipc.choice({None: 1 / 4, 0: 1 / 4, x + 1: 1 / 2})
    b = dipc.choice({None: 1 / 2, -1: 1 / 2})
    return a == b


@dipc.mechanism
def three_values_copied(x: dipc.Finite[0:4], eps):
    a = None
    if x > 1:
        a = dipc.choice({True: 1 / 2, False: 1 / 2})
    b = a
    if b:
        return 1
    return 0 if b is None else 2


@dipc.mechanism
def returned_while_growing(x: dipc.Finite[0:4], eps):
    xs = []
    for i in range(3):
        if i == x:
            return xs
        xs.append(i)
    return xs


@dipc.mechanism
def appended_in_two_loops(x: dipc.Finite[0:4], eps):
    xs = []
    for i in range(3):
        for j in range(2):
            if i + j == x:
                xs.append(i - j)
    return xs, len(xs)


@dipc.mechanism
def nested_twice(x: dipc.Finite[0:4], eps):
    def g(a, b):
        def h(c):
            return a + c

        return h(b) + x

    a = 5
    return g(1, 2) + a


@dipc.mechanism
def closure_in_loop(x: dipc.Finite[0:4], eps):
    t = 0

    def g():
        return t

    ys = [0] * 3
    for i in range(3):
        t = t + i
        ys[i] = g()
    return ys


@dipc.mechanism
def key_calls_nested(x: dipc.Finite[0:4], eps):
    xs = [x, 1, 2]
    i = 2

    def key(j):
        return xs[j] + i

    return max(range(3), key=lambda i: key(i)), min(range(3), key=lambda k: -xs[k])


@dipc.mechanism
def last_of_draws(x: dipc.Finite[0:4], eps):
    last = None
    count = 0
    for i in range(4):
        v = dipc.choice({0: 1 / 2, 1: 1 / 2})
        if last is not None and v == last:
            count += 1
        last = v
    return count


@dipc.mechanism
def none_is_no_index(x: dipc.Finite[0:4], eps):
    prev = None
    for i in range(3):
        if prev != i - 1:
            prev = i - 1
    return prev


@dipc.mechanism
def lists_by_case(x: dipc.Finite[0:4], eps):
    xs = [x, 1]
    ys = [xs[0], xs[1]]
    if x == 2:
        return xs
    if x == 3:
        return ys
    return [5, 6]


@dipc.mechanism
def list_changed_and_returned(x: dipc.Finite[0:4], eps):
    xs = [x, 1]
    for i in range(2):
        if xs[i] == 1:
            return xs, i
        xs[i] = 7
    return xs, None


@dipc.mechanism
def comprehension_hides_local(x: dipc.Finite[0:4], eps):
    i = 10
    ys = [i for i in range(3)]
    return i, ys


@dipc.mechanism
def input_becomes_none(x: dipc.Finite[0:4], eps):
    x = None if x > 1 else x
    return x == 0, x is None


@dipc.mechanism
def exact_floats(x: dipc.Finite[0:4], eps):
    v = 1.5
    return x > v, x >= 2.0


@dipc.mechanism
def exact_quotient(x: dipc.Finite[0:4], eps):
    return 1 if x / 2 == 1 else 0


@dipc.mechanism
def decimal_weight(x: dipc.Finite[0:4], eps):
    p = 0.1
    if dipc.choice({True: p, False: 1 - p}):
        return x
    return 9


@dipc.mechanism
def list_taken_apart(x: dipc.Finite[0:4], eps):
    xs = [x, 1]
    a, b = xs
    return a


@dipc.mechanism
def filtered_of_none(x: dipc.Finite[0:4], eps):
    y = [x, None, 2]
    return [v for v in y if v is not None]


@dipc.mechanism
def three_values_equal(x: dipc.Finite[0:4], eps):
    flags = [None] * 2
    flags[0] = x > 1
    return flags, flags[0] == flags[1]


@dipc.mechanism
def conditional_terms(x: dipc.Finite[0:4], eps):
    n = 0
    for i in range(2):
        n = n + (1 if x > i else 0)
    m = min(n, 1)
    return abs(m - x), max(n, m, 1)


@dipc.mechanism
def three_values_and_conditions(x: dipc.Finite[0:4], eps):
    a = None
    if x > 1:
        a = x > 2
    b = a
    c = b == (x == 3)
    d = a != b
    return c, d, a == b


@dipc.mechanism
def three_values_as_condition(x: dipc.Finite[0:4], eps):
    a = None
    if x > 1:
        a = x > 2
    b = a
    if b:
        return 1
    return 0 if b is None else 2


@dipc.mechanism
def index_assigned_first(x: dipc.Finite[0:4], eps):
    xs = [x, 1, 2]
    xs[0], xs[2] = xs[2], xs[0]
    a, b, c = xs
    i = 0
    i, xs[i] = 1, 8
    return xs, a, b, c


@dipc.mechanism
def keys_that_differ(x: dipc.Finite[0, 1], y: dipc.Finite[0:3], eps):
    return dipc.choice({x: 1 / 2, 1 - x: 1 / 4, 2 * y + 2: 1 / 4})


@dipc.mechanism
def yes_or_no(x: dipc.Finite[0:3], eps):
    return "yes" if dipc.choice({0: 1 / 2, x + 1: 1 / 2}) >= 1 else "no"


@dipc.mechanism
def yes_or_none(x: dipc.Finite[0:3], eps):
    yes = x >= 2
    if yes:
        return "yes"
    return None


@dipc.mechanism
def yes_or_truth(x: dipc.Finite[0:3], eps):
    found = None
    if x >= 1:
        found = x >= 2
    if found is None:
        return "yes"
    return "no"


@dipc.mechanism
def keys_of_elements(x: dipc.Finite[0:2], y: dipc.Finite[0:2], eps):
    xs = [x, y]
    return [dipc.choice({x: 3 / 4, 1 - x: 1 / 4}) for x in xs]


@dipc.mechanism
def keys_added_up(x: dipc.Finite[0, 1], y: dipc.Finite[0, 1], eps):
    xs = [x, y]
    return sum(dipc.choice({x: 3 / 4, 1 - x: 1 / 4}) for x in xs)


@dipc.mechanism
def keys_of_remainders(x: dipc.Finite[0:5], eps):
    return dipc.choice({x % 2: 1 / 2, (x + 1) % 2: 1 / 4, 2 + x // 2: 1 / 4})


@dipc.mechanism
def equal_remainders(x: dipc.Finite[0:5], eps):
    return dipc.choice({x % 2: 1 / 2, (x + 1) % 3: 1 / 2})


@dipc.mechanism
def key_changed_before(x: dipc.Finite[0:2], eps):
    y = 1 - x
    x = y
    return dipc.choice({x: 1 / 2, y: 1 / 2})


@dipc.mechanism
def place_in_sorted(x: dipc.Finite[0:3], y: dipc.Finite[0:3], z: dipc.Finite[0:2], eps):
    xs = [x, y, z]
    middle = sorted(xs)[1]
    return middle + dipc.choice({0: 1 / 2, 1: 1 / 2}), sorted(xs, reverse=True)[0], [x + 1 for x in xs][-1]


@dipc.mechanism
def counted(x: dipc.Finite[0:3], y: dipc.Finite[0:3], z: dipc.Finite[0:2], eps):
    xs = [x, y, z]
    v = dipc.choice({0: 1 / 2, 2: 1 / 2})
    return xs.count(v), xs.count(xs[0])


@dipc.mechanism
def truths(x: dipc.Finite[False, True], y: dipc.Finite[False, True], eps):
    xs = [x, y]
    return [dipc.choice({x: 3 / 4, not x: 1 / 4}) for x in xs]

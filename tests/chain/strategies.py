"""Random programs that use every kind of instruction, never fault, and end with probability 1."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from dipc.text.ast import Role
from dipc.text.core import Reference
from tests.chain.programs import BOOL, HERE, INT, REAL, Writer, const, integers, op, read

HALVES = st.sampled_from([Fraction(n, 2) for n in range(-4, 5)])
WHOLE = st.integers(-2, 2).map(Fraction)
COMPARISONS = st.sampled_from(["<", "<=", "=", "!=", ">=", ">"])

Q, D, R, B, X, OUT, REAL_OUT, A = (
    ["q[1]", "q[2]"],
    ["d"],
    ["r[1]", "r[2]", "r[3]"],
    ["b[1]", "b[2]"],
    ["x"],
    ["out[1]", "out[2]"],
    ["value"],
    ["a[0]", "a[1]", "a[2]"],
)
Z, N, INT_OUT, COUNTERS, COIN = ["z[1]", "z[2]"], ["n"], ["count"], ["i[0]", "i[1]"], ["coin"]


def writer():
    return Writer(
        *[(name, REAL, Role.INPUT, None) for name in Q],
        *[(name, integers(0, 2), Role.INPUT, None) for name in D],
        *[(name, INT, Role.INPUT, None) for name in N],
        *[(name, REAL, Role.VAR, Fraction(0)) for name in R],
        *[(name, BOOL, Role.VAR, False) for name in B],
        *[(name, integers(0, 2), Role.VAR, Fraction(1)) for name in X],
        *[(name, integers(0, 2), Role.OUTPUT, Fraction(0)) for name in OUT],
        *[(name, REAL, Role.OUTPUT, None) for name in REAL_OUT],
        *[(name, integers(0, 2), Role.VAR, Fraction(2)) for name in A],
        *[(name, INT, Role.VAR, Fraction(0)) for name in Z],
        *[(name, INT, Role.OUTPUT, None) for name in INT_OUT],
        *[(name, integers(0, 2), Role.VAR, Fraction(0)) for name in COUNTERS],
        *[(name, BOOL, Role.VAR, False) for name in COIN],
    )


@st.composite
def programs(draw, size=6, choices=True, simple=False):
    """A program; if `simple`, with Laplace noise only, comparisons of at most two noises, and means without noise.

    A `while` ends because it counts, or because its body may exit by a coin; without `choices` it counts.
    """
    out = writer()
    slot = out.slot
    choices = choices and not simple
    dom_slots = [slot(name) for name in D + X + OUT + A]
    numbers = st.one_of(
        st.integers(0, 2).map(const),
        st.sampled_from(dom_slots).map(read),
        st.sampled_from(dom_slots).map(
            lambda index: Reference("a", tuple(slot(name) for name in A), HERE, read(index))
        ),
    )
    domain_values = st.one_of(
        numbers,
        st.builds(lambda left, right: op("min", const(2), op("+", left, right)), numbers, numbers),
        st.builds(lambda left, right: op("abs", op("-", left, right)), numbers, numbers),
        st.builds(lambda left, right: op("max", left, op("/", right, const(1))), numbers, numbers),
        st.builds(lambda left, right: op("min", const(2), op("*", left, right)), numbers, numbers),
    )
    truths = st.one_of(
        st.sampled_from([slot(name) for name in B]).map(read),
        st.builds(op, COMPARISONS, numbers, numbers),
    )
    conditions = st.one_of(
        truths,
        truths.map(lambda truth: op("not", truth)),
        st.builds(op, st.sampled_from(["and", "or"]), truths, truths),
    )
    targets = st.one_of(
        st.sampled_from([slot(name) for name in X + OUT]),
        st.sampled_from(dom_slots).map(
            lambda index: Reference("a", tuple(slot(name) for name in A), HERE, read(index))
        ),
    )
    kinds_of_numbers = {
        "real": ([slot(name) for name in R], [slot(name) for name in Q], HALVES, [1, 1, -1, 2, Fraction(1, 3)]),
        "int": ([slot(name) for name in Z], [slot(name) for name in N], WHOLE, [1, 1, -1, 2, -3]),
    }

    @st.composite
    def forms(draw, kind="real", random=True):
        """Σ coefficient · variable + constant; if simple, of one variable: that is one noise at most."""
        variables, inputs, constants, factors = kinds_of_numbers[kind]
        terms = {}
        if random:
            chosen = draw(st.lists(st.sampled_from(variables), min_size=1, max_size=1 if simple else 3, unique=True))
            terms = {at: draw(st.sampled_from(factors)) for at in chosen}
        if (not simple or not random) and draw(st.integers(0, 2)) == 0:
            terms[draw(st.sampled_from(inputs))] = draw(st.sampled_from([1, 1, -1, 2]))
        return terms, draw(st.one_of(st.just(Fraction(0)), constants, numbers))

    @st.composite
    def differences(draw):
        kind = "real" if simple else draw(st.sampled_from(["real", "int"]))
        variables, inputs, constants, factors = kinds_of_numbers[kind]
        terms = {draw(st.sampled_from(variables)): draw(st.sampled_from([1, 1, 1, 1, 2]))}
        for other in draw(st.lists(st.sampled_from(variables), max_size=1 if simple else 2)):
            terms.setdefault(other, draw(st.sampled_from([-1, -1, -1, 1, *factors])))
        if draw(st.integers(0, 3)) == 0:
            terms[draw(st.sampled_from(inputs))] = -1
        constants = st.one_of(constants, HALVES)
        return terms, draw(st.one_of(st.just(Fraction(0)), constants))

    @st.composite
    def choosing(draw, target):
        if draw(st.booleans()):
            return (
                "exp",
                target,
                draw(st.sampled_from([1, 2])),
                {v: draw(numbers) for v in range(draw(st.integers(1, 3)))},
            )
        arms = draw(st.lists(st.tuples(domain_values, st.integers(0, 2)), max_size=2))
        return ("choose", target, [*arms, (draw(domain_values), 1)])

    @st.composite
    def statements(draw, depth, loops):
        kinds = ["compare", "compare", "set"]
        if not loops:
            kinds += ["lap", "lap", "let", "output"]
            if not simple:
                kinds += ["expo", "around", "dlap", "letint", "intoutput"]
        if choices:
            kinds += ["choice", "flip"]
        if depth:
            kinds += ["if", "ifcompare", "ifcompare", "exit"]
            if loops < len(COUNTERS) and not simple:
                kinds += ["count"] + (["while", "whilecompare"] if choices else [])
        reals, ints = st.sampled_from([slot(name) for name in R]), st.sampled_from([slot(name) for name in Z])
        rates = st.sampled_from([1, 2])
        match draw(st.sampled_from(kinds)):
            case "lap":
                return ("lap", draw(reals), draw(rates), draw(forms(random=False)))
            case "around":
                return ("lap", draw(reals), draw(rates), draw(forms()))
            case "expo":
                return ("expo", draw(reals), draw(rates))
            case "dlap":
                return ("dlap", draw(ints), draw(rates), draw(forms("int", random=draw(st.booleans()))))
            case "let":
                return ("let", draw(reals), draw(forms(random=draw(st.booleans()))))
            case "letint":
                return ("let", draw(ints), draw(forms("int", random=draw(st.booleans()))))
            case "output":
                return ("let", slot("value"), draw(forms(random=draw(st.booleans()))))
            case "intoutput":
                return ("let", slot("count"), draw(forms("int", random=draw(st.booleans()))))
            case "compare":
                return ("compare", slot(draw(st.sampled_from(B))), draw(differences()), draw(COMPARISONS))
            case "set":
                return ("set", draw(targets), draw(domain_values))
            case "choice":
                return draw(choosing(draw(targets)))
            case "flip":
                return ("choose", slot(draw(st.sampled_from(B))), [(const(True), 1), (const(False), 2)])
            case "exit":
                return ("if", draw(conditions), [("exit",)], [])
            case "if":
                return ("if", draw(conditions), draw(blocks(depth - 1, loops)), draw(blocks(depth - 1, loops)))
            case "ifcompare":
                branches = draw(blocks(depth - 1, loops)), draw(blocks(depth - 1, loops))
                return ("ifcompare", draw(differences()), draw(COMPARISONS), *branches)
            case "count":
                at = slot(COUNTERS[loops])
                body = [*draw(blocks(depth - 1, loops + 1)), ("set", at, op("+", read(at), const(1)))]
                return ("if", const(True), [("set", at, 0), ("while", op("<", read(at), const(2)), body)], [])
            case "while":
                return ("while", draw(conditions), draw(leaving(depth - 1, loops + 1)))
            case "whilecompare":
                return ("whilecompare", draw(differences()), draw(COMPARISONS), draw(leaving(depth - 1, loops + 1)))

    @st.composite
    def leaving(draw, depth, loops):
        """A body that may exit by a coin."""
        coin = slot("coin")
        flip = [("choose", coin, [(const(True), 1), (const(False), 1)]), ("if", read(coin), [("exit",)], [])]
        return [*flip, *draw(blocks(depth, loops))]

    def blocks(depth, loops):
        return st.lists(statements(depth, loops), max_size=3)

    return out.program(
        [
            ("lap", slot("r[1]"), 1, ({slot("q[1]"): 1}, 0)),
            ("lap", slot("r[2]"), 2, ({slot("q[2]"): 1}, 0)),
            *([] if simple else [("dlap", slot("z[1]"), 1, ({slot("n"): 1}, 0)), ("expo", slot("r[3]"), 1)]),
            *draw(st.lists(statements(2, 0), min_size=1, max_size=size)),
        ]
    )

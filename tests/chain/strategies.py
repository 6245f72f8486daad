"""Random loop-free programs that use every kind of instruction the chain executes and never fault."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from dipc.syntax.ast import Role
from dipc.syntax.core import ReadElement, Target
from tests.chain.programs import BOOL, HERE, REAL, Writer, const, integers, op, read

HALVES = st.sampled_from([Fraction(n, 2) for n in range(-4, 5)])
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


def writer():
    return Writer(
        *[(name, REAL, Role.INPUT, None) for name in Q],
        *[(name, integers(0, 2), Role.INPUT, None) for name in D],
        *[(name, REAL, Role.VAR, Fraction(0)) for name in R],
        *[(name, BOOL, Role.VAR, False) for name in B],
        *[(name, integers(0, 2), Role.VAR, Fraction(1)) for name in X],
        *[(name, integers(0, 2), Role.OUTPUT, Fraction(0)) for name in OUT],
        *[(name, REAL, Role.OUTPUT, None) for name in REAL_OUT],
        *[(name, integers(0, 2), Role.VAR, Fraction(2)) for name in A],
    )


@st.composite
def programs(draw, size=6, inputs_in_comparisons=True):
    """A program; comparisons and means depend on at most two noises, means on none, on every path."""
    out = writer()
    slot = out.slot
    dom_slots = [slot(name) for name in D + X + OUT + A]
    numbers = st.one_of(
        st.integers(0, 2).map(const),
        st.sampled_from(dom_slots).map(read),
        st.sampled_from(dom_slots).map(
            lambda index: ReadElement("a", tuple(slot(name) for name in A), 0, read(index), HERE)
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
    inputs = st.sampled_from([slot(name) for name in Q])
    reals = [slot(name) for name in R]
    targets = st.one_of(
        st.sampled_from([slot(name) for name in X + OUT]),
        st.sampled_from(dom_slots).map(
            lambda index: Target(tuple(slot(name) for name in A), 0, read(index), "a", HERE)
        ),
    )

    # A real variable is one noise at most (or inputs), so that two of them have two noises at most.
    @st.composite
    def single(draw):
        terms = {draw(st.sampled_from(reals)): draw(st.sampled_from([1, 1, 1, -1, 2]))}
        return terms, draw(st.one_of(st.just(Fraction(0)), HALVES))

    @st.composite
    def deterministic(draw):
        terms = draw(st.one_of(st.just({}), inputs.map(lambda at: {at: draw(st.sampled_from([1, 1, -1, 2]))})))
        return terms, draw(st.one_of(HALVES, numbers))

    @st.composite
    def differences(draw):
        left, right = draw(st.sampled_from(reals)), draw(st.sampled_from(reals))
        terms = {left: draw(st.sampled_from([1, 1, 1, 1, 2]))}
        if left != right:
            terms[right] = draw(st.sampled_from([-1, -1, -1, 1]))
        if inputs_in_comparisons and draw(st.integers(0, 3)) == 0:
            terms[draw(inputs)] = -1
        return terms, draw(st.one_of(st.just(Fraction(0)), HALVES))

    @st.composite
    def statements(draw, depth):
        kinds = ["lap", "lap", "let", "compare", "compare", "set", "output"]
        if depth:
            kinds += ["if", "ifcompare", "ifcompare", "exit"]
        match draw(st.sampled_from(kinds)):
            case "lap":
                return ("lap", draw(st.sampled_from(reals)), draw(st.sampled_from([1, 2])), draw(deterministic()))
            case "let":
                return ("let", draw(st.sampled_from(reals)), draw(st.one_of(single(), deterministic())))
            case "output":
                return ("let", slot("value"), draw(st.one_of(single(), deterministic())))
            case "compare":
                return ("compare", slot(draw(st.sampled_from(B))), draw(differences()), draw(COMPARISONS))
            case "set":
                return ("set", draw(targets), draw(domain_values))
            case "exit":
                return ("if", draw(conditions), [("exit",)], [])
            case "if":
                return ("if", draw(conditions), draw(blocks(depth - 1)), draw(blocks(depth - 1)))
            case "ifcompare":
                return (
                    "ifcompare",
                    draw(differences()),
                    draw(COMPARISONS),
                    draw(blocks(depth - 1)),
                    draw(blocks(depth - 1)),
                )

    def blocks(depth):
        return st.lists(statements(depth), max_size=3)

    return out.program(
        [
            ("lap", slot("r[1]"), 1, ({slot("q[1]"): 1}, 0)),
            ("lap", slot("r[2]"), 2, ({slot("q[2]"): 1}, 0)),
            *draw(st.lists(statements(2), min_size=1, max_size=size)),
        ]
    )

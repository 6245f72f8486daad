"""Random programs that read totals of their queries, beside the reduced programs, which have an input for each total.

The programs draw no noise, so their runs are Python functions of the queries, and each run must be one of the reduced
program. Totals of adjacent queries differ by no more than their units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from random import Random

import pytest

import dipc
from dipc.questions.every_number import totals
from dipc.questions.privacy.adjacency import Distance, Neighborhood
from dipc.text import ast
from dipc.text.ast import BaseType
from dipc.text.printer import print_expression

State = dict[str, Fraction]
Run = Callable[[State, tuple[Fraction, ...]], None]

TYPES: dict[str, Callable[[int], list[Fraction]]] = {
    "{0, 1}": lambda _: [Fraction(0), Fraction(1)],
    "{-1, 0, 2}": lambda _: [Fraction(-1), Fraction(0), Fraction(2)],
    "{0, 1/2}": lambda _: [Fraction(0), Fraction(1, 2)],
    "{0..m}": lambda m: [Fraction(value) for value in range(m + 1)],
    "{0, 1/m}": lambda m: [Fraction(0), Fraction(1, m)],
    "real": lambda _: [Fraction(value, 2) for value in (-2, 0, 1, 2, 6)],
}

SUMMANDS: dict[str, Callable[[Fraction], Fraction]] = {
    "q[i]": lambda x: x,
    "K*q[i]": lambda x: 2 * x,
    "q[i]/2": lambda x: x / 2,
    "q[i] - 1": lambda x: x - 1,
    "min(q[i], 1)": lambda x: min(x, Fraction(1)),
    "max(q[i], 1 - q[i])": lambda x: max(x, 1 - x),
    "abs(q[i] - 1)": lambda x: abs(x - 1),
    "-q[i]": lambda x: -x,
}

RANGES: dict[str, Callable[[int], range]] = {
    "1..m": range,
    "2..m": lambda m: range(1, m),
    "1..m - 1": lambda m: range(m - 1),
    "1..min(m, 2)": lambda m: range(min(m, 2)),
}


def total(random: Random) -> tuple[str, Callable[[tuple[Fraction, ...]], Fraction]]:
    """A random total, as text and as a function of the queries."""
    function, (text, summand) = random.choice(["sum", "sum", "min", "max", "count"]), random.choice([*SUMMANDS.items()])
    over, places = random.choice([*RANGES.items()][: 1 if function in ("min", "max") else 4])

    def value(queries: tuple[Fraction, ...]) -> Fraction:
        terms = [summand(queries[place]) for place in places(len(queries))]
        match function:
            case "count":
                return Fraction(sum(term >= 1 for term in terms))
            case "sum":
                return sum(terms, Fraction(0))
        return min(terms) if function == "min" else max(terms)

    return f"{function}(i in {over} : {text}{' >= 1' if function == 'count' else ''})", value


def assigned(random: Random) -> tuple[str, Run]:
    """An assignment of a total, or of one added to what was there."""
    (text, value), name = total(random), random.choice("sst")
    adds = random.random() < 0.5

    def run(state: State, queries: tuple[Fraction, ...]) -> None:
        state[name] = value(queries) + (state[name] if adds else 0)

    return f"{name} <- {f'{name} + ' if adds else ''}{text}", run


def looped(random: Random) -> tuple[str, Run]:
    """A loop over the queries: most of these loops keep a total, and the others read what a round before assigned."""
    (text, summand), (over, places) = random.choice([*SUMMANDS.items()]), random.choice([*RANGES.items()])
    bodies: dict[str, Callable[[State, Fraction], Mapping[str, Fraction]]] = {
        f"s <- s + {text}": lambda state, x: {"s": state["s"] + x},
        f"s <- s - {text}; t <- t + 1": lambda state, x: {"s": state["s"] - x, "t": state["t"] + 1},
        f"if {text} >= 1 then s <- s + 1 end": lambda state, x: {"s": state["s"] + (x >= 1)},
        f"if {text} = s then s <- s + 1 end": lambda state, x: {"s": state["s"] + (x == state["s"])},
        f"s <- max(s, {text})": lambda state, x: {"s": max(state["s"], x)},
        f"if {text} < s then s <- {text} end": lambda state, x: {"s": min(state["s"], x)},
        f"c <- {text}; s <- s + c": lambda state, x: {"c": x, "s": state["s"] + x},
        f"s <- s + c; c <- {text}": lambda state, x: {"s": state["s"] + state["c"], "c": x},
        f"t <- {text}; s <- s + t": lambda state, x: {"t": x, "s": state["s"] + x},
    }
    body, step = random.choice([*bodies.items()])

    def run(state: State, queries: tuple[Fraction, ...]) -> None:
        for place in places(len(queries)):
            state.update(step(state, summand(queries[place])))

    return f"for i in {over} do {body} end", run


def combined(random: Random) -> tuple[str, Run]:
    every: dict[str, Callable[[State], Mapping[str, Fraction]]] = {
        "s <- s + t": lambda state: {"s": state["s"] + state["t"]},
        "t <- s": lambda state: {"t": state["s"]},
        "s <- 2*s": lambda state: {"s": 2 * state["s"]},
        "if s > t then s <- t end": lambda state: {"s": min(state["s"], state["t"])},
        "s <- s + c": lambda state: {"s": state["s"] + state["c"]},
    }
    text, step = random.choice([*every.items()])
    return text, lambda state, _: state.update(step(state))


def value_of(written: ast.Ranged, point: tuple[Fraction, ...]) -> Fraction:
    """The value of a total at the queries `point`, by Python."""
    names: dict[str, object] = {"m": len(point), "K": 2, "min": min, "max": max, "abs": abs}
    text = print_expression(written.body).replace(" = ", " == ")
    low, high = (eval(print_expression(end), names) for end in (written.low, written.high))
    queries = dict(enumerate(point, 1))
    terms = [Fraction(eval(text, {**names, "q": queries, written.variable: place})) for place in range(low, high + 1)]
    match written.function:
        case "sum" | "count":
            return sum(terms, Fraction(0))
    # An extremum of no queries may have any value that is no greater, or no less, than the others.
    return (min(terms, default=Fraction(1000))) if written.function == "min" else max(terms, default=Fraction(-1000))


def compared(seed: int) -> int:
    """Compare a random program with its reduced program at random queries; return 0 if it has none, else 1."""
    random = Random(f"totals {seed}")
    queries, values = random.choice([*TYPES.items()])
    makers = [assigned, assigned, looped, looped, combined]
    statements = [random.choice(makers)(random) for _ in range(random.randint(1, 4))]
    source = (
        f"program p; const m = 1, K = 2; input q[1..m] : {queries}; output y : real; var s, t, c : real = 0;\n"
        f"claim {{ alpha: 0; beta: exp(-eps)/1000; }} ideal {{ noiseless }}\n"
        f"{'; '.join(text for text, _ in statements)}; y <- s"
    )
    reduction = totals._Reduction.from_program(dipc.load(source), "m")
    if reduction is None:
        return 0
    within = Neighborhood(random.choice([*Distance]), Fraction(random.choice([1, 2])))
    units = {each.name: reduction.unit(each, within) for each in reduction.totals}
    program, _ = reduction.program({})
    if program is None:
        return 0
    whole = any(slot.type is BaseType.INT for slot in program.core.input_slots)
    for number in (1, 2, 2, 3, 3, 3, 4, 4):
        point, more = (tuple(random.choices(values(number), k=number)) for _ in (0, 1))
        other = (*more[:2], *point[2:])
        found, others = ({each.name: value_of(each.written, at) for each in reduction.totals} for at in (point, other))
        assert not whole or all(value.denominator == 1 for value in found.values()), source
        state = dict.fromkeys("stc", Fraction(0))
        for _, run in statements:
            run(state, point)
        given = {name: str(value) for name, value in found.items()}
        assert program.probability(given, {"y": str(state["s"])}).enclosure(1) == (1, 1), (source, point)
        for name, unit in units.items() if within.relates(point, other) else ():
            assert unit is None or abs(found[name] - others[name]) <= unit, (source, point, other)
    return 1


@pytest.mark.parametrize(
    "seeds", [range(40), *(pytest.param(range(n, n + 200), marks=pytest.mark.slow) for n in (40, 240))]
)
def test_a_reduced_program_runs_like_the_one_with_queries(seeds: range) -> None:
    assert 4 * sum(map(compared, seeds)) > len(seeds)

"""Choices that wait until they are read: the same exits with the same weights, in fewer states."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import pytest

import dipc
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.chain.explore import explore
from dipc.chain.state import Choice, slots_in
from dipc.program.exit_weights import counted_exits, exit_weights
from dipc.program.exits import values_key
from dipc.text.diagnostic import DiagnosticError

BIT = "choose { 1 : exp(eps)/(1 + exp(eps)), 0 : 1/(1 + exp(eps)) }"

LISTED = """
program listed;
const n = 9;
input x[1..n] : {0..1};
output most : bool;
var y[1..n] : {0..1};
var s : {0..n} = 0;
for i in 1..n do
  if x[i] = 1 then y[i] <- choose { 1 : 3/4, 0 : 1/4 } else y[i] <- choose { 0 : 3/4, 1 : 1/4 } end
end;
for i in 1..n do s <- s + y[i] end;
most <- 2*s > n
"""

WARNER = """
program warner;
const n = 9;
input x[1..n] : {0..1};
output most : bool;
var y[1..n] : {0..1};
var honest : bool;
for i in 1..n do
  honest <- choose { true : 1/2, false : 1/2 };
  if honest then y[i] <- x[i] else y[i] <- choose { 0 : 1/2, 1 : 1/2 } end
end;
most <- 2*(SUM) > n
"""

#: Bits that a helper computes in variables of its own, as the list comprehension [answer(v) for v in x] of Python does.
HELPED = """
program helped;
const n = 9;
input x[1..n] : {0..1};
output most : bool;
var y[1..n] : {0..1};
var v, k, answer, s : {0..n} = 0;
for i in 1..n do
  v <- x[i];
  DRAW;
  y[i] <- answer
end;
for i in 1..n do s <- s + y[i] end;
most <- 2*s > n
"""

HELPERS = (
    "k <- choose { 0 : 3/4, 1 : 1/4 }; if k = 0 then answer <- v else answer <- 1 - v end",
    "k <- choose { 0 : 3/4, 1 : 1/4 }; answer <- 1 - v; if k = 0 then answer <- v end",
    "if v = 0 then k <- 1 else k <- 0 end; answer <- choose { k : 1/4, 1 - k : 3/4 }",
    "answer <- choose { v : 3/4, 1 - v : 1/4 }",
    "answer <- Exp(eps, a in {0..1} : -abs(a - v))",
)


def added(n):
    return " + ".join(f"y[{i}]" for i in range(1, n + 1))


def chain(program, inputs=None, **options):
    inputs = inputs or {slot: Fraction(0) for slot in program.core.inputs}
    return explore(program.flow, inputs, possible=program.choices.weights.possible, **options)


def law(program, inputs, **options):
    """Probability by the values of the outputs."""
    explored = chain(program, inputs, **options)
    weights, _ = exit_weights(explored, program.choices.weights, Limits())
    result = {}
    for each in explored.exits:
        key = values_key(each.outputs.values())
        result[key] = result.get(key, ExpPoly.ZERO) + weights[each.node]
    return {key: value for key, value in result.items() if not value.is_zero()}


@pytest.mark.parametrize("text", [LISTED, WARNER, *(HELPED.replace("DRAW", each) for each in HELPERS)])
def test_states_grow_with_the_sums_and_not_with_the_combinations(text):
    sizes = [len(chain(dipc.load(text.replace("SUM", added(n)), n=n)).states) for n in (10, 20, 40)]
    assert sizes[0] <= 200
    for small, large in pairwise(sizes):
        assert large <= 4.5 * small


def test_fifteen_listed_bits_have_a_state_for_each_sum_of_the_first_ones():
    assert len(chain(dipc.load(LISTED, n=15)).states) == 138  # 1 + 2 + ... + 16 sums, and the two answers


def test_the_weights_of_listed_bits_are_binomial():
    program = dipc.load(LISTED, n=5)
    values = [1, 1, 0, 0, 0]
    found = law(program, dict(zip(program.core.inputs, map(Fraction, values), strict=True)))
    expected = Fraction(0)
    for bits in range(32):
        ones = [bits >> i & 1 for i in range(5)]
        weight = Fraction(1)
        for bit, value in zip(ones, values, strict=True):
            weight *= Fraction(3, 4) if bit == value else Fraction(1, 4)
        expected += weight * (sum(ones) >= 3)
    assert found[values_key([True])] == expected


def test_a_choice_that_is_never_read_is_dropped_and_one_that_is_overwritten():
    program = dipc.load(
        f"program p; output o : bool; var y, z : {{0..1}}; var k : {{0..3}} = 0;"
        f"y <- {BIT}; z <- {BIT}; k <- k + 1; y <- {BIT}; k <- k + 1; o <- y = 1"
    )
    explored = chain(program, {0: True})
    edges = [
        edge
        for source in explored.states
        for goal in explored.transitions.successors(source)
        for edge in explored.transitions.edges(source, goal)
    ]
    assert sum(isinstance(edge, Choice) for edge in edges) == 2
    assert len(law(program, {})) == 2


def test_copying_is_a_read():
    start = "program p; output o : bool; var y, z : {0..1}; var k : {0..3} = 0;"
    program = dipc.load(f"{start} y <- {BIT}; k <- k + 1; z <- y; o <- y = z")
    assert law(program, {}) == {values_key([True]): ExpPoly.ONE}


def test_a_dropped_choice_is_still_checked():
    start = "program p; output o : bool; var y : {0..1}; var k : {0..1} = 0;"
    with pytest.raises(DiagnosticError, match="sum to"):
        dipc.load(start + "y <- choose { 0 : 1/2, 1 : 1/3 }; k <- 1; o <- true").choices.require_weights()
    program = dipc.load(
        "input x : {0..5};".join(["program p;", start[11:] + "y <- choose { x : 1/2, 0 : 1/2 }; k <- 1; o <- true"])
    )
    with pytest.raises(DiagnosticError, match="outside its domain"):
        chain(program, {program.core.inputs[0]: Fraction(2)})
    assert chain(program, {program.core.inputs[0]: Fraction(1)}).exits


def test_the_mean_of_a_noise_is_a_read():
    noise = "r <- Lap(eps, k); o <- r >= 1/2"
    waiting = dipc.load(f"program p; output o : bool; var k : {{0..1}}; var r : real; k <- {BIT}; {noise}")
    high, low = (dipc.load(f"program p; output o : bool; const k = {k}; var r : real; {noise}") for k in (1, 0))
    first = (
        dipc.load(f"program p; output o : bool; var k : {{0..1}}; k <- {BIT}; o <- k = 1")
        .probability({}, {"o": True})
        .value
    )
    share = [each.probability({}, {"o": True}).value for each in (high, low)]
    assert waiting.probability({}, {"o": True}).value == first * share[0] + (1 - first) * share[1]


def test_options_that_depend_on_variables_do_not_wait():
    program = dipc.load(
        "program p; output o : bool; var y, s : {0..3} = 0;"
        f"s <- {BIT}; s <- s + 1; y <- choose {{ s : 1/2, 0 : 1/2 }}; s <- 0; o <- y = 0"
    )
    assert {program.core.instructions[label].span.start for label in program.flow.waits} == {
        program.core.instructions[0].span.start
    }


def test_slots_that_inputs_decide_have_one_value_at_each_label():
    known = 0
    for seed in range(60):
        program = dipc.load(Sample(seed).text)
        inputs = dict(zip(program.core.inputs, map(Fraction, (2, 1)), strict=True))
        values = {}
        for state in chain(program, inputs, display=True).states.values():
            for slot in slots_in(program.flow.decided[state.label]):
                values.setdefault((state.label, slot), set()).add(repr(state.values[slot]))
        assert all(len(each) == 1 for each in values.values()), Sample(seed).text
        known += sum(slot not in program.core.inputs for _, slot in values)
    assert known > 1000


def test_the_chain_that_is_shown_makes_choices_at_once():
    program = dipc.load(LISTED, n=3)
    assert len(chain(program, display=True).states) > len(chain(program).states)


def test_counting_reads_waiting_choices_too():
    program = dipc.load(LISTED, n=60)
    inputs = {slot: Fraction(0) for slot in program.core.inputs}
    counted = counted_exits(
        program.flow, program.choices.weights, Limits(), inputs, {}, frozenset(program.core.outputs)
    )
    assert counted is not None
    assert sum(counted[1].values(), start=ExpPoly.ZERO) == ExpPoly.ONE


class Sample:
    """A random program over four finite variables, an array, and choices with several kinds of options."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        noisy = self.random.random() < 0.3
        body = ";\n".join(self.statement(2) for _ in range(self.random.randint(4, 9)))
        if noisy:
            body += f";\nr <- Lap(eps, {self.number()});\n"
            body += f"if r > {self.number()} then p <- true else p <- {self.condition()} end"
        self.text = (
            "program sample; input x, w : {0..2}; output o : {0..2} = 0; output p : bool = false;\n"
            "var a, b, c, d : {0..2} = 0; var y[0..2] : {0..2} = 0; var t : bool = false; var r : real;\n"
            + body
            + f";\no <- min(2, {self.number()}); t <- {self.condition()}"
            + ("" if noisy else f";\np <- {self.condition()}")
        )

    def variable(self):
        return self.random.choice(["a", "b", "c", "d", "y[0]", "y[1]", "y[2]", "y[a]", "y[min(2, b)]"])

    def number(self):
        kind = self.random.randrange(6)
        if kind == 0:
            return self.random.choice(["x", "w", "0", "1", "2"])
        if kind == 1:
            return f"min({self.variable()}, {self.variable()}, {self.variable()})"
        if kind == 2:
            return f"max({self.variable()}, x)"
        if kind == 3:
            return f"abs({self.variable()} - {self.variable()})"
        return self.variable()

    def condition(self):
        kind = self.random.randrange(4)
        if kind == 0:
            return f"({self.number()} = 1 and {self.number()} < {self.number()})"
        if kind == 1:
            return f"({self.number()} > 0 or {self.number()} = {self.number()} or t)"
        if kind == 2:
            return "t"
        return f"{self.variable()} + {self.variable()} + {self.variable()} >= {self.number()}"

    def draw(self):
        target = self.random.choice(["a", "b", "c", "d", "y[0]", "y[1]", "y[2]"])
        kind = self.random.randrange(4)
        if kind == 0:
            return f"{target} <- choose {{ x : 1/2, 2 - w : 1/3, 1 : 1/6 }}"
        if kind == 1:
            return f"{target} <- Exp(eps/2, v in {{0..2}} : -abs(v - x))"
        if kind == 2:
            return f"{target} <- choose {{ {self.number()} : 1/4, 0 : 3/4 }}"
        return f"{target} <- choose {{ 0 : exp(eps)/(1 + exp(eps)), 2 : 1/(1 + exp(eps)) }}"

    def statement(self, depth):
        kind = self.random.randrange(10)
        if kind < 5:
            return self.draw()
        if kind == 5:
            return f"t <- {self.condition()}"
        if kind == 6 and depth:
            return f"if {self.condition()} then {self.statement(depth - 1)} else {self.statement(depth - 1)} end"
        if kind == 7 and depth:
            coin = "t <- choose { true : 1/2, false : 1/2 }"
            return f"{coin}; if t then {self.statement(depth - 1)} else {self.statement(depth - 1)} end"
        target = self.random.choice(["a", "b", "c", "d", "y[0]", "y[1]"])
        return f"{target} <- {self.number()}"


def test_random_programs_have_the_same_laws_as_with_choices_made_at_once():
    waited = 0
    for seed in range(60):
        program = dipc.load(Sample(seed).text)
        if program.flow.draws:
            continue
        for values in ((0, 0), (2, 1)):
            inputs = dict(zip(program.core.inputs, map(Fraction, values), strict=True))
            assert law(program, inputs) == law(program, inputs, display=True), Sample(seed).text
            for answer, weight in law(program, inputs).items():
                output = dict(zip(("o", "p"), (value for _, value in answer), strict=True))
                assert program.probability({"x": values[0], "w": values[1]}, output).value == weight
            waited += len(chain(program, inputs).states) < len(chain(program, inputs, display=True).states)
    assert waited > 50


def test_random_programs_with_noise_have_the_same_probabilities():
    pool_texts = [Sample(seed).text for seed in range(70)]
    for text in pool_texts:
        program = dipc.load(text)
        if not program.flow.draws:
            continue
        at_once = dipc.load(text)
        object.__setattr__(at_once.flow, "waits", frozenset())
        inputs = {"x": 1, "w": 2}
        for output in ({"o": 0, "p": True}, {"o": 1, "p": False}):
            assert program.probability(inputs, output).value == at_once.probability(inputs, output).value, text


#: A flag that is drawn, and then computed from a number that is drawn.
FLAGS = [
    "s <- choose { 0 : 1/3, 1 : 2/3 }; b <- choose { true : 1/2, false : 1/2 }; b <- s >= 1; r <- Lap(eps, x); o <- b",
    "s <- choose { 0 : 1/3, 1 : 2/3 }; b <- choose { true : 1/2, false : 1/2 }; b <- s = 1; r <- Lap(eps, x); o <- b",
    "b <- choose { false : 1/3, true : 2/3 }; t <- choose { 1 : 1/2, 0 : 1/2 }; if b then t <- 1 end; o <- t >= s",
]


class Flags:
    """A random program over truth values and the numbers 0 and 1, which are equal in Python."""

    def __init__(self, seed):
        self.random = random.Random(f"flags {seed}")
        last = ["o <- b", "o <- b or c", "o <- t = s", "if t >= 1 then o <- b end", "if r >= 0 then o <- c end"]
        body = [self.statement() for _ in range(self.random.randint(2, 7))]
        self.body = "; ".join(["r <- Lap(eps, x)", *body, "r <- Lap(eps, x)", self.random.choice(last)])

    def statement(self):
        weight = self.random.choice(["1/2", "exp(eps)/(1 + exp(eps))"])
        (t, s), (b, c) = self.random.sample(["t", "s"], 2), self.random.sample(["b", "c"], 2)
        return self.random.choice(
            [
                f"{t} <- choose {{ 0 : {weight}, 1 : 1 - {weight} }}",
                f"{b} <- choose {{ false : {weight}, true : 1 - {weight} }}",
                f"{b} <- choose {{ true : {weight}, false : 1 - {weight} }}",
                f"{b} <- {t} = 1",
                f"{b} <- {t} >= 1",
                f"{b} <- {t} = 0",
                f"if {b} then {t} <- 1 else {t} <- 0 end",
                f"if {t} = 1 then {b} <- true else {b} <- false end",
                f"if {b} then {t} <- x else {t} <- 1 - {s} end",
                f"{b} <- not {c}",
            ]
        )


@pytest.mark.parametrize("bodies", [FLAGS, [Flags(seed).body for seed in range(60)]], ids=["flags", "random"])
def test_truth_values_are_not_taken_for_numbers(bodies):
    for body in bodies:
        text = (
            "program flags; input x : {0..1}; output o : bool = false; var t, s : {0..1} = 0;"
            f" var b, c : bool = false; var r : real = 0; {body}"
        )
        program, at_once = dipc.load(text), dipc.load(text)
        object.__setattr__(at_once.flow, "waits", frozenset())
        both = [each.probability({"x": 1}, {"o": True}).value for each in (program, at_once)]
        assert both[0] == both[1], text

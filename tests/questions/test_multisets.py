"""Inputs that may change places: against brute force over all inputs, and in numbers of operations."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

import dipc
from dipc.algebra.exppoly import total
from dipc.program.ideal import Distances, Ideal
from dipc.program.inputs import FiniteInputs
from dipc.program.interchange import interchangeable
from dipc.questions import multisets
from dipc.questions.privacy.adjacency import MultisetPairs, parse_adjacency, read_pairs
from dipc.chain.state import finite_values

TRUTH = "exp(eps)/(1 + exp(eps))"
LIE = "1/(1 + exp(eps))"

RESPONSES = f"""
program responses;
const n = 9;
input x[1..n] : {{0..1}};
output most : bool;
var y[1..n] : {{0..1}};
var s : {{0..n}} = 0;
ideal {{ var k : {{0..n}} = 0; for i in 1..n do k <- k + x[i] end; most <- 2*k > n }}
claim {{ alpha: 0; beta: 1/2; }}
for i in 1..n do
  if x[i] = 1 then y[i] <- choose {{ 1 : {TRUTH}, 0 : {LIE} }} else y[i] <- choose {{ 0 : {TRUTH}, 1 : {LIE} }} end
end;
for i in 1..n do s <- s + y[i] end;
most <- 2*s > n
"""


def law(program, laws, inputs):
    """The probability of each answer, at values of the inputs in order."""
    values = dict(zip(program.core.inputs, inputs, strict=True))
    found = {}
    for answer, bound in laws.probabilities(values).items():
        parts = []
        for share in bound.shares:
            value = share.weight if share.weight is not None else Fraction(1)
            for event in share.events:
                value = value * program.measurer.measure(event)
            parts.append(value)
        found[answer] = total(parts)
    return {answer: value for answer, value in found.items() if value != 0}


def all_inputs(program):
    return list(product(*[finite_values(slot) for slot in program.core.input_slots]))


def sorted_in_blocks(program, blocks, inputs):
    place = {slot: number for number, slot in enumerate(program.core.inputs)}
    result = list(inputs)
    for block in blocks:
        places = [place[slot] for slot in block]
        for where, value in zip(places, sorted(inputs[p] for p in places), strict=True):
            result[where] = value
    return tuple(result)


class Sample:
    """A random program about a few people, with `symmetric` True, or None where that is not known."""

    def __init__(self, seed):
        self.random = chance = random.Random(f"multisets {seed}")
        self.n = chance.randint(2, 3)
        self.top = chance.randint(1, 2)
        self.symmetric = True
        body = chance.choice(
            [self.counted, self.listed, self.scored, self.noisy, self.folded, self.early, self.local]
        )()
        if chance.random() < 0.4:
            self.symmetric = None
            body = self.broken(body)
        ideal = chance.choice(
            [
                "for i in 1..n do k <- k + x[i] end; o <- min(k, 2)",
                "for i in 1..n do if x[i] >= 1 then k <- k + 1 end end; o <- min(k, 2)",
                "for i in 1..n do k <- max(k, x[i]) end; o <- k",
            ]
        )
        if chance.random() < 0.2:
            self.symmetric = None
            ideal = "k <- x[1]; o <- min(k, 2)"
        self.text = (
            f"program sample; const n = {self.n}; input x[1..n] : {{0..{self.top}}}; output o : {{0..2}} = 0;\n"
            "var y[1..n] : {0..3} = 0; var s, t : {0..12} = 0; var b : bool = false; var r : real;\n"
            f"ideal {{ var k : {{0..12}} = 0; {ideal} }}\n{body}"
        )

    def response(self, target):
        """A choice that depends on one input."""
        return self.random.choice(
            [
                f"if x[i] = 1 then {target} <- choose {{ 1 : {TRUTH}, 0 : {LIE} }} "
                f"else {target} <- choose {{ 0 : {TRUTH}, 1 : {LIE} }} end",
                f"{target} <- choose {{ x[i] : 3/4, 0 : 1/4 }}",
                f"{target} <- Exp(eps, v in {{0..{self.top}}} : -abs(v - x[i]))",
                f"b <- choose {{ true : 1/2, false : 1/2 }}; "
                f"if b then {target} <- x[i] else {target} <- choose {{ 0 : 1/2, 1 : 1/2 }} end",
            ]
        )

    def counted(self):
        return f"for i in 1..n do {self.response('t')}; s <- s + t end; o <- min(s, 2)"

    def listed(self):
        return f"for i in 1..n do {self.response('y[i]')} end; for i in 1..n do s <- s + y[i] end; o <- min(s, 2)"

    def scored(self):
        terms = " + ".join(f"max(x[{i}] - v, 0)" for i in range(1, self.n + 1))
        other = "*".join(f"(1 + x[{i}])" for i in range(1, self.n + 1))
        return f"o <- Exp(eps/2, v in {{0..2}} : -abs(v - ({terms})) - {other})"

    def noisy(self):
        return "for i in 1..n do s <- s + x[i] end; r <- Lap(eps, s); if r >= 1 then o <- 1 end"

    def folded(self):
        step = self.random.choice(
            ["if t = 1 then s <- min(s + 1, 2) end", "s <- max(s, t)", "if s < 2 then s <- s + t end"]
        )
        return f"for i in 1..n do {self.response('t')}; {step} end; o <- min(s, 2)"

    def early(self):
        response = (
            "if x[i] = 1 then b <- choose { true : 1/3, false : 2/3 } else b <- choose { true : 1/5, false : 4/5 } end"
        )
        return f"for i in 1..n do {response}; if b then o <- 1; exit end end"

    def local(self):
        return "for i in 1..n do r <- Lap(eps, x[i]); if r >= 1 then s <- s + 1 end end; o <- min(s, 2)"

    def broken(self, body):
        """The program with one thing changed, most likely to one that tells people apart."""
        change = self.random.choice(
            [
                lambda: body.replace("s <- s + t", "s <- s + t; if x[i] > s then s <- s + 1 end"),
                lambda: body.replace("s <- s + y[i]", "s <- min(12, s + i*y[i])"),
                lambda: body + "; if x[1] = 0 then o <- 0 end",
                lambda: "s <- x[n]; " + body,
                lambda: body.replace("x[i]", "x[max(1, i - 1)]", 1),
                lambda: body.replace("min(s, 2)", "min(max(s - x[1], 0), 2)"),
                lambda: body.replace("1/3", "i/3 - i/4").replace("2/3", "1 - i/3 + i/4"),
            ]
        )
        return change()


def check(seed):
    """Compare what is found about one program with all inputs; return whether it is symmetric, and was found so."""
    sample = Sample(seed)
    program = dipc.load(sample.text)
    ideal = Ideal(program)
    laws = program.laws()
    blocks = interchangeable(program, ideal)
    alone = interchangeable(program)
    known = {inputs: law(program, laws, inputs) for inputs in all_inputs(program)}
    for inputs, own in known.items():
        for each in (blocks, alone):
            assert own == known[sorted_in_blocks(program, each, inputs)], sample.text
        assert ideal.values(inputs) == ideal.values(sorted_in_blocks(program, blocks, inputs)), sample.text
    whole = (program.core.inputs,)
    symmetric = all(
        own == known[sorted_in_blocks(program, whole, inputs)]
        and ideal.values(inputs) == ideal.values(sorted_in_blocks(program, whole, inputs))
        for inputs, own in known.items()
    )
    assert symmetric or blocks != whole
    if sample.symmetric:
        assert symmetric, sample.text
        assert blocks == whole, f"missed: {sample.text}"
    return symmetric, blocks == whole


@pytest.mark.parametrize("seed", [*range(40), *(pytest.param(n, marks=pytest.mark.slow) for n in range(40, 500))])
def test_random_programs_against_all_inputs(seed):
    check(seed)


def test_the_random_programs_are_of_both_kinds():
    found = Counter(check(seed) for seed in range(40))
    assert found[True, True] > 10
    assert found[False, False] > 5

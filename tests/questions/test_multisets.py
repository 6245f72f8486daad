"""Inputs that may change places: against brute force over all inputs, and in numbers of operations."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product

import pytest

import dipc
from dipc.algebra.exppoly import total
from dipc.chain.state import finite_values
from dipc.program.ideal import Distances, Ideal
from dipc.program.inputs import FiniteInputs
from dipc.program.interchange import interchangeable
from dipc.program.symbolic import SymbolicRun
from dipc.program.transitions import _CommutingSearch
from dipc.questions import multisets
from dipc.questions.privacy.adjacency import MultisetPairs, parse_adjacency, read_pairs

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
                (
                    f"if x[i] = 1 then {target} <- choose {{ 1 : {TRUTH}, 0 : {LIE} }} "
                    f"else {target} <- choose {{ 0 : {TRUTH}, 1 : {LIE} }} end"
                ),
                f"{target} <- choose {{ x[i] : 3/4, 0 : 1/4 }}",
                f"{target} <- Exp(eps, v in {{0..{self.top}}} : -abs(v - x[i]))",
                (
                    f"b <- choose {{ true : 1/2, false : 1/2 }}; "
                    f"if b then {target} <- x[i] else {target} <- choose {{ 0 : 1/2, 1 : 1/2 }} end"
                ),
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
            ["if t = 1 then s <- min(s + 1, 2) end", "s <- max(s, t)", "if s < 2 then s <- min(s + t, 2) end"]
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


# --- distances, counts and pairs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["linf", "l1", "discrete"])
@pytest.mark.parametrize("domain", ["{0..2}", "{0, 1/2, 3}", "{no, maybe, yes}", "bool"])
def test_dd_of_multisets_is_dd_of_their_members(norm, domain):
    middle = {"{no, maybe, yes}": "maybe", "bool": "true"}.get(domain, "1/2" if "/" in domain else "1")
    program = dipc.load(
        f"program p; input x[1..3] : {domain}; input w : {{0..1}}; output o : {{0..3}} = 0;"
        f"metric {{ input: {norm}; }}"
        "ideal { var k : {0..3} = 0; for i in 1..3 do if x[i] = MID then k <- k + 1 end end;"
        " if w = 1 and k = 3 then k <- 1 end; o <- k }".replace("MID", middle)
        + "o <- 0"
    )
    ideal = Ideal(program)
    choices = [finite_values(slot) for slot in program.core.input_slots]
    groups = multisets.groups_of(program, ideal, choices)
    assert [group.places for group in groups.groups] == [(0, 1, 2), (3,)]
    distances, plain = multisets.MultisetDistances(ideal, groups), Distances(ideal)
    assert groups.inputs == len(all_inputs(program))
    assert sum(map(groups.count, groups)) == groups.inputs
    for inputs in all_inputs(program):
        assert distances.dd(groups.multiset(inputs)) == plain.dd(inputs), inputs


def test_classes_represent_every_input_once():
    program = dipc.load(RESPONSES, n=9)
    report = dipc.check(program, inputs=[])
    plain = dipc.check(program, inputs=[], classes=False)
    assert len(report.rows) == 10
    assert report.inputs == len(plain.rows) == 512
    by_input = {tuple(sorted(row.input.values())): row for row in report.rows}
    assert Counter(tuple(sorted(row.input.values())) for row in plain.rows) == {k: r.count for k, r in by_input.items()}
    for row in plain.rows[::7]:
        alike = by_input[tuple(sorted(row.input.values()))]
        assert (row.verdict, row.probability, row.alpha) == (alike.verdict, alike.probability, alike.alpha)


def test_flags_that_inputs_turn_are_not_taken_for_their_inputs():
    """The values 0 and 1 of an input are equal to the truth values computed from it, in Python."""
    body = "for i in 1..n do t <- choose { x[i] : 3/4, 0 : 1/4 }; if c then c <- b else c <- x[i] = 1 end end; o <- c"
    text = "program p; const n = 3; input x[1..n] : {0..1}; output o : bool; var t : {0..1}; var b, c : bool = false;"
    assert interchangeable(dipc.load(text + body)) == ()


def test_two_groups_of_people_are_two_blocks():
    program = dipc.load(
        "program p; input a[1..4], b[1..3] : {0..1}; output o : bool; var s : {0..7} = 0; var y : {0..1};"
        "ideal { o <- a[1] + a[2] + a[3] + a[4] > b[1] + b[2] + b[3] }"
        "for i in 1..4 do y <- choose { a[i] : 3/4, 1 - a[i] : 1/4 }; s <- s + y end;"
        "for i in 1..3 do y <- choose { 1 - b[i] : 2/3, b[i] : 1/3 }; s <- s + y end; o <- s > 3"
    )
    blocks = interchangeable(program, Ideal(program))
    assert [len(block) for block in blocks] == [4, 3]


PRIVATE = """
program p; input x[1..4] : DOMAIN; output o : {0..4}; var y : {0..1}; var s : {0..4} = 0;
for i in 1..4 do
  if x[i] = MID then y <- choose { 1 : exp(eps)/(1 + exp(eps)), 0 : 1/(1 + exp(eps)) }
  else y <- choose { 0 : exp(eps)/(1 + exp(eps)), 1 : 1/(1 + exp(eps)) } end;
  s <- s + y
end;
o <- s
"""


@pytest.mark.parametrize(
    ("domain", "middle", "adjacent"),
    [
        *[("{0..2}", "1", adjacent) for adjacent in ("linf:1", "l1:1", "l1:2", "hamming:1", "hamming:2")],
        *[("{0, 1/2, 3}", "3", adjacent) for adjacent in ("linf:1", "l1:5/2", "hamming:1")],
        ("{no, maybe, yes}", "maybe", "hamming:2"),
    ],
)
def test_pairs_of_multisets_are_those_with_adjacent_arrangements(domain, middle, adjacent):
    program = dipc.load(PRIVATE.replace("DOMAIN", domain).replace("MID", middle))
    adjacency = parse_adjacency(adjacent, program.core)
    plain = read_pairs(program, adjacency, None, program.limits)
    alike = read_pairs(program, adjacency, None, program.limits, alike=True)
    assert isinstance(alike, MultisetPairs)
    assert len(alike) == len(plain)
    multiset = alike.groups.multiset
    expected = {(multiset(plain.inputs[i]), multiset(plain.inputs[j])) for i, j in plain.ordered}
    found = {(multiset(alike.inputs[i]), multiset(alike.inputs[j])) for i, j in alike.ordered}
    # Two orders of one multiset have one law, and say nothing.
    assert {(one, two) for one, two in expected if one != two} == found
    texts = {tuple(one.items()) + tuple(two.items()) for one, two in (plain.texts(program, p) for p in plain.ordered)}
    for pair in alike.ordered:
        one, two = alike.texts(program, pair)
        assert tuple(one.items()) + tuple(two.items()) in texts


@pytest.mark.parametrize("adjacent", ["hamming:1", "linf:1", "l1:2"])
@pytest.mark.parametrize("budget", ["eps", "eps/2", "2*eps"])
def test_privacy_of_multisets_is_privacy_of_all_pairs(adjacent, budget, monkeypatch):
    program = dipc.load(PRIVATE.replace("DOMAIN", "{0..2}").replace("MID", "1"))
    report = dipc.check_privacy(program, adjacent, budget=budget)
    monkeypatch.setattr(multisets, "LEAST_INPUTS", 10_000)
    plain = dipc.check_privacy(program, adjacent, budget=budget)
    assert (report.verdict, report.pairs) == (plain.verdict, plain.pairs)
    assert (report.counterexample is None) == (plain.counterexample is None)


def test_nothing_is_said_of_inputs_in_a_file_of_pairs(tmp_path):
    program = dipc.load(PRIVATE.replace("DOMAIN", "{0..2}").replace("MID", "1"))
    names = [f"x[{i}]" for i in range(1, 5)]
    file = tmp_path / "pairs.csv"
    file.write_text(",".join(names + [f"{name}'" for name in names]) + "\n0,0,0,0,1,0,0,0\n0,0,0,0,0,0,0,1\n")
    pairs = read_pairs(program, parse_adjacency(str(file), program.core), None, program.limits, alike=True)
    assert not isinstance(pairs, MultisetPairs)
    assert len(pairs) == 4


@pytest.mark.parametrize("condition", ["x[1] <= x[2]", "x[1] + x[2] >= 1"])
def test_inputs_of_a_program_with_a_precondition_are_decided_one_by_one(condition):
    program = dipc.load(RESPONSES.replace("output most", f"requires {condition};\noutput most"), n=7)
    assert interchangeable(program, Ideal(program)) == ()
    assert interchangeable(program) == ()
    assert len(dipc.check(program, inputs=[]).rows) == 96  # three quarters of all inputs


# --- growth -----------------------------------------------------------------------------------------------------------


def test_classes_grow_with_the_number_of_people():
    for n in (10, 20, 40):
        program = dipc.load(RESPONSES, n=n)
        inputs = FiniteInputs("all", tuple(finite_values(slot) for slot in program.core.input_slots))
        found = multisets.multiset_classes(program, inputs)
        assert found is not None
        assert len(found[0]) == n + 1
        assert sum(each.count for each in found[0]) == 2**n


def test_expressions_and_transitions_grow_with_the_number_of_people():
    expressions, transitions = [], []
    for n in (10, 20, 40):
        program = dipc.load(RESPONSES, n=n)
        expressions.append(len(SymbolicRun(program.flow).table.forms))
        search = _CommutingSearch(program.flow, program.choices.weights)
        assert len(search.exchangeable_pairs([*pairwise(program.core.inputs)])) == n - 1
        transitions.append(len(search._known))
    for small, large in pairwise(expressions):
        assert large <= 2.5 * small
    for small, large in pairwise(transitions):
        assert large <= 4.5 * small

"""Finite inputs that may be exchanged, and draws that come late: what the checker accepts holds for all inputs."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from typing import Any

import pytest

import dipc
from dipc.certificate.answers import Solved
from dipc.certificate.privacy import certify_privacy
from dipc.certificate.write import certify_constant
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import read_claim
from dipc.verifier.document import check_text
from dipc.verifier.functions import ONE, add_closed, equal_closed
from dipc.verifier.ideal import Ideal
from dipc.verifier.late import drawing_late
from dipc.verifier.privacy import are_adjacent
from dipc.verifier.probability import Probabilities, Theorem
from dipc.verifier.program import Machine, values_of
from dipc.verifier.reading import Budget, NotDerived, Rejected, Unreadable
from dipc.verifier.symmetry import require_exchangeable
from dipc.verifier.syntax import read_program
from tests.questions.test_multisets import RESPONSES, Sample
from tests.verifier import samples
from tests.verifier.test_theorem import theorem

Document = dict[str, Any]

ZERO = Fraction(0)


def inputs_of(machine: Machine) -> list[tuple[Any, ...]]:
    return [*product(*(values_of(machine.slots[slot].type) for slot in machine.numbered("input")))]


def law(derived: Theorem, inputs: tuple[Any, ...], *, late: bool = True) -> list[Any]:
    """The probability of each answer, of the machine as it is or with late draws."""
    machine = derived.machine
    probabilities = Probabilities(machine, Budget())
    if not late:
        probabilities._late = None
    given = dict(zip(machine.numbered("input"), inputs, strict=True))
    outputs = machine.numbered("output")
    answers = product(*(values_of(machine.slots[slot].type) for slot in outputs))
    return [probabilities.probability(given, dict(zip(outputs, each, strict=True)), ZERO) for each in answers]


def same(one: list[Any], other: list[Any]) -> bool:
    return all(equal_closed(a, b, Budget()) for a, b in zip(one, other, strict=True))


def exchangeable(machine: Machine, ideal: Machine | None, places: tuple[int, int]) -> bool:
    try:
        require_exchangeable(machine, ideal, [places], Budget())
    except NotDerived:
        return False
    return True


def compare(seed: int) -> Counter[str]:
    """Compare the exchanges that are accepted in one program with all inputs."""
    sample = Sample(seed)
    derived = theorem(dipc.load(sample.text))
    assert isinstance(derived.ideal, Ideal)
    derived.ideal.budget.answers = Solved()
    machine, ideal = derived.machine, derived.ideal
    laws = {inputs: law(derived, inputs) for inputs in inputs_of(machine)}
    counts: Counter[str] = Counter()
    for one, other in combinations(range(sample.n), 2):
        accepted = exchangeable(machine, ideal.machine, (one, other))
        counts["accepted" if accepted else "refused"] += 1
        counts["missed"] += not accepted and sample.symmetric is True
        for inputs in laws if accepted else ():
            there = list(inputs)
            there[one], there[other] = there[other], there[one]
            assert same(laws[inputs], laws[tuple(there)]), (one, other, inputs, sample.text)
            assert ideal.answer(inputs) == ideal.answer(there), (one, other, inputs, sample.text)
    for inputs, own in [*laws.items()][:: max(1, len(laws) // 4)]:
        assert same(own, law(derived, inputs, late=False)), (inputs, sample.text)
    return counts


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(n, marks=pytest.mark.slow) for n in range(6, 300))])
def test_exchanges_that_are_accepted_change_nothing(seed: int) -> None:
    compare(seed)


def test_exchanges_are_accepted_and_refused() -> None:
    counts = sum((compare(seed) for seed in range(10, 20)), Counter[str]())
    assert counts["accepted"] > 5, counts
    assert counts["refused"] > 2, counts


# --- programs -----------------------------------------------------------------------------------------

BODIES = {
    "a list": (
        True,
        (
            "for i in 1..n do if x[i] = 1 then y[i] <- choose { 1 : 3/4, 0 : 1/4 }"
            " else y[i] <- choose { 0 : 3/4, 1 : 1/4 } end end; for i in 1..n do s <- s + y[i] end; o <- s > 1"
        ),
    ),
    "a sum of one line": (
        True,
        ("for i in 1..n do y[i] <- choose { x[i] : 3/4, 0 : 1/4 } end; o <- 2*(y[1] + y[2] + y[3]) > 2"),
    ),
    "a lie": (
        True,
        (
            "for i in 1..n do t <- choose { 0 : 3/4, 1 : 1/4 };"
            " if t = 0 then y[i] <- x[i] else y[i] <- 1 - x[i] end end; for i in 1..n do s <- s + y[i] end; o <- s > 1"
        ),
    ),
    "the greatest": (
        True,
        ("for i in 1..n do if x[i] > t then t <- x[i] end end; o <- choose { t = 1 : 2/3, t = 0 : 1/3 }"),
    ),
    "an exponential mechanism": (True, "t <- Exp(eps, v in {0..1} : -abs(x[1] + x[2] + x[3] - v)); o <- t = 1"),
    "noise around a sum": (True, "r <- Lap(eps, x[1] + x[2] + x[3]); o <- r > 1"),
    "all or none": (True, "o <- (x[1] = 1 and x[2] = 1 and x[3] = 1) or (x[1] = 0 and x[2] = 0 and x[3] = 0)"),
    "an early exit": (
        True,
        (
            "for i in 1..n do b <- choose { true : x[i]/2 + 1/4, false : 3/4 - x[i]/2 };"
            " if b then o <- true; exit end end"
        ),
    ),
    "one counts twice": (False, "for i in 1..n do s <- s + x[i] end; s <- s + x[1]; o <- s > 1"),
    "other weights": (False, "for i in 1..n do t <- choose { x[i] : 1 - i/8, 0 : i/8 }; s <- s + t end; o <- s > 1"),
    "one draw for two": (
        False,
        (
            "t <- choose { 0 : 3/4, 1 : 1/4 }; b <- choose { true : 3/4, false : 1/4 };"
            " if t = 0 then s <- s + x[1] end; if t = 0 then s <- s + x[2] end; if b then s <- s + x[3] end; o <- s > 1"
        ),
    ),
    "the first of them": (False, "for i in 1..n do if x[i] = 1 and t = 0 then t <- 1; s <- i end end; o <- s > 1"),
    "a domain that ends early": (False, "u <- x[1]; u <- u - x[2] + 1; u <- u + x[3]; o <- u > 1"),
    "a noise each": (False, "r <- Lap(eps, x[1] + x[2]); z <- Lap(2*eps, x[3]); o <- r > 1 and z > 1"),
    "a weight that is negative for one": (
        False,
        ("if x[1] = 1 and x[2] = 0 then b <- choose { true : 2, false : -1 } end; o <- x[1] + x[2] + x[3] > 1"),
    ),
}


def machine_of(body: str, more: str = "") -> tuple[Machine, Machine | None]:
    text = (
        f"program p; const n = 3; input x[1..n] : {{0..1}}; {more} output o : bool = false; var y[1..n] : {{0..1}};"
        " var s : {0..9} = 0; var t : {0..1} = 0; var u : {0..1}; var b : bool; var r, z : real;"
        f" ideal {{ o <- x[1] + x[2] + x[3] > 1 }} {body}"
    )
    tree = read_program(text, Budget())
    constants = {"n": Fraction(3)}
    ideal = Ideal.compile(tree, constants, Budget())
    return Machine.compile(tree, constants, Budget()), ideal.machine


@pytest.mark.parametrize("name", BODIES)
def test_which_programs_are_symmetric(name: str) -> None:
    symmetric, body = BODIES[name]
    machine, ideal = machine_of(body)
    found = [exchangeable(machine, ideal, places) for places in combinations(range(3), 2)]
    assert all(found) is symmetric, found


@pytest.mark.parametrize(
    ("more", "symmetric"),
    [
        ("requires x[1] + x[2] + x[3] >= 1;", True),
        ("requires x[1] <= x[2];", False),
        ("metric { apart: x[1] = x'[2]; }", False),
        ("metric { output: abs(x[1]); }", False),
    ],
)
def test_what_is_said_of_inputs_counts(more: str, symmetric: bool) -> None:
    machine, ideal = machine_of(BODIES["a list"][1], more)
    assert exchangeable(machine, ideal, (0, 1)) is symmetric


@pytest.mark.parametrize("name", [name for name in BODIES if "negative" not in name and "domain" not in name])
def test_late_draws_give_the_same_law(name: str) -> None:
    machine, _ = machine_of(BODIES[name][1])
    derived = Theorem(machine, None, Budget(), Budget())
    for inputs in inputs_of(machine):
        assert same(law(derived, inputs), law(derived, inputs, late=False)), inputs


def test_a_list_of_people_has_as_many_states_as_their_sum() -> None:
    machine, _ = machine_of(BODIES["a list"][1])
    late = drawing_late(machine, Budget())
    assert late is not None
    assert len(late.slots) < len(machine.slots) + 3
    certificate = check_text(people(12))
    assert certificate.complete


# --- distances ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["linf", "l1", "discrete"])
@pytest.mark.parametrize("domain", ["{0..2}", "{0, 1/2, 3}", "{no, maybe, yes}", "bool"])
def test_dd_of_multisets_is_dd_of_all_inputs(norm: str, domain: str) -> None:
    middle = {"{no, maybe, yes}": "maybe", "bool": "true"}.get(domain, "1/2" if "/" in domain else "1")
    derived = theorem(
        dipc.load(
            f"program p; input x[1..3] : {domain}; input w : {{0..1}}; output o : {{0..3}} = 0;"
            f"metric {{ input: {norm}; }}"
            "ideal { var k : {0..3} = 0; for i in 1..3 do if x[i] = MID then k <- k + 1 end end;"
            " if w = 1 and k = 3 then k <- 1 end; o <- k }".replace("MID", middle)
            + "o <- 0"
        )
    )
    assert isinstance(derived.ideal, Ideal)
    plain = {inputs: derived.ideal.distance(inputs) for inputs in inputs_of(derived.machine)}
    assert derived.exchangeable([[0, 1, 2]]) is None
    for inputs, dd in plain.items():
        assert derived.ideal.distance(inputs) == dd, inputs


# --- certificates -------------------------------------------------------------------------------------


@cache
def people(n: int) -> str:
    program = dipc.load(RESPONSES.replace("beta: 1/2", "beta: 9/10"), n=n)
    return dipc.certify(dipc.check(program, inputs=[], keep_proofs=True))


def test_the_certificate_of_many_people_is_whole() -> None:
    accepted = check_text(people(9))
    assert accepted.complete
    assert "at all 512 inputs of the domain, by 10 rows" in next(accepted.lines())
    assert accepted.derived == "10 of 10 probabilities, from the text of the program"


def without_row(data: Document, number: int) -> None:
    del data["rows"][number]
    for place, row in enumerate(data["rows"], start=1):
        row["row"] = place
    data["table"]["rows"] = len(data["rows"])


def with_text(data: Document, old: str, new: str) -> None:
    text = data["program"]["text"]
    assert old in text
    data["program"]["text"] = text.replace(old, new)
    data["program"]["sha256"] = hashlib.sha256(data["program"]["text"].encode()).hexdigest()


def swapped(data: Document) -> None:
    data["rows"][3]["input"].reverse()


def doubled(data: Document) -> None:
    data["rows"][4] = {**data["rows"][3], "row": 5}


def unsorted_twin(data: Document) -> None:
    """A second row of one class in place of another class."""
    twin = {**data["rows"][3], "row": 5, "input": data["rows"][3]["input"][::-1]}
    data["rows"][4] = twin


FORGERIES: dict[str, Callable[[Document], object]] = {
    "a class is missing": lambda data: without_row(data, 4),
    "the last class is missing": lambda data: without_row(data, 9),
    "a class twice": doubled,
    "a class twice, in another order": unsorted_twin,
    "a class that is not in order": swapped,
    "an input less in the group": lambda data: data["product"].update(alike=[[*range(8)]]),
    "two groups": lambda data: data["product"].update(alike=[[0, 1, 2, 3], [4, 5, 6, 7, 8]]),
    "an input twice": lambda data: data["product"].update(alike=[[*range(9), 8]]),
    "an input that is none": lambda data: data["product"].update(alike=[[*range(10)]]),
    "two groups with one input": lambda data: data["product"].update(alike=[[*range(9)], [0, 1]]),
    "no group": lambda data: data["product"].update(alike=[]),
    "a value less": lambda data: data["product"]["values"][0].pop(),
    "a value twice": lambda data: data["product"].update(values=[["0", "1", "1"]] * 9),
    "other values of one": lambda data: data["product"]["values"][0].reverse(),
    "an exchange on top": lambda data: data["product"].update(exchanges=[{"row": 1, "blocks": [[0, 1]], "free": []}]),
    "a free input on top": lambda data: data["product"].update(exchanges=[{"row": 1, "blocks": [], "free": [0]}]),
    "another dd": lambda data: data["rows"][0].update(dd="2"),
    "another answer": lambda data: data["rows"][0].update(output=["true"]),
    "another probability": lambda data: data["rows"][0].update(probability=1),
}

#: Changes of the program after which the rows are those of a program whose people are told apart.
TOLD_APART = {
    "one counts twice": ("most <- 2*s > n", "most <- 2*s + 2*x[9] > n"),
    "the answer is that of the first": ("most <- 2*k > n }", "most <- 2*k - x[1] > n }"),
    "another coin": ("end\nend;", "end; if i = 9 then y[i] <- choose { 1 : 1/2, 0 : 1/2 } end\nend;"),
    "the order counts": ("s <- s + y[i]", "if y[i] >= s or s < 9 then s <- min(n, s + y[i] + min(i, 0)*x[1]) end"),
    "the last one lies": ("end;\nmost", "end; if x[9] = 1 and x[8] = 0 then s <- 0 end;\nmost"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_multisets_are_rejected(name: str) -> None:
    data = samples.document(people(9))
    FORGERIES[name](data)
    assert not samples.is_accepted_whole(data), name


@pytest.mark.parametrize("name", TOLD_APART)
def test_rows_of_a_program_that_tells_people_apart_are_not_accepted(name: str) -> None:
    data = samples.document(people(9))
    with_text(data, *TOLD_APART[name])
    assert not samples.is_accepted_whole(data), name


def test_what_is_forged_is_accepted_as_it_is() -> None:
    assert check_text(samples.resealed(samples.document(people(9)))).complete


def test_weights_add_up_to_one() -> None:
    """The forward sums over integer numerators, at a denominator for each draw."""
    derived = theorem(dipc.load(RESPONSES, n=5))
    (_, own), (_, other) = ((each, law(derived, each)) for each in (inputs_of(derived.machine)[3:5]))
    for one, two in (own, other):
        total = add_closed(one, two, Budget())
        assert equal_closed(total, (ONE, ONE), Budget())


# --- privacy ------------------------------------------------------------------------------------------

PRIVATE = """
program p; input x[1..7] : {0..1}; output o : {0..7}; var y : {0..1}; var s : {0..7} = 0;
for i in 1..7 do
  if x[i] = 1 then y <- choose { 1 : exp(eps)/(1 + exp(eps)), 0 : 1/(1 + exp(eps)) }
  else y <- choose { 0 : exp(eps)/(1 + exp(eps)), 1 : 1/(1 + exp(eps)) } end;
  s <- s + y
end;
o <- s
"""


def privacy_question() -> PrivacyQuestion:
    program = dipc.load(PRIVATE)
    return PrivacyQuestion(program, "hamming:1", None, Engine(program.measurer, program.limits, keep_proofs=True))


@cache
def private(budget: str = "eps") -> str:
    question = privacy_question()
    return certify_privacy(question, question.decide(read_claim(question.program, budget, None, None)))


@pytest.mark.parametrize("distance", ["linf", "l1", "hamming"])
@pytest.mark.parametrize("values", [(0, 1, 2), (0, Fraction(1, 2), 3)])
@pytest.mark.parametrize("reach", [1, 2, Fraction(5, 2)])
def test_multisets_are_adjacent_where_some_orders_are(distance: str, values: tuple[Any, ...], reach: Any) -> None:
    points = [tuple(map(Fraction, point)) for point in product(values, repeat=4)]
    groups = [[0, 1, 2]]

    def arranged(point: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return [(*order, point[3]) for order in permutations(point[:3])]

    for one in points[::7]:
        for two in points[::5]:
            every = any(are_adjacent(distance, Fraction(reach), one, each) for each in arranged(two))
            assert are_adjacent(distance, Fraction(reach), one, two, groups) is every, (one, two)


def test_the_certificate_of_private_multisets_is_whole() -> None:
    accepted = check_text(private())
    assert accepted.complete
    assert "of all 128 inputs of the domain, by 14 ordered pairs of 8 multisets" in next(accepted.lines())


def test_multisets_that_refute_are_listed() -> None:
    data = samples.document(private("eps/2"))
    assert "alike" not in data
    assert check_text(samples.resealed(data)).verdict == "not private"
    with pytest.raises(Rejected, match="only be stated in a proof"):
        check_text(samples.resealed({**data, "alike": [[*range(7)]]}))


def _without_pair(data: Document) -> None:
    data["pairs"].pop()


def _another_order(data: Document) -> None:
    data["inputs"][3].reverse()
    data["inputs"][4] = data["inputs"][3][::-1]


PRIVATE_FORGERIES: dict[str, Callable[[Document], object]] = {
    "a pair is missing": _without_pair,
    "no groups": lambda data: data.pop("alike"),
    "a smaller group": lambda data: data.update(alike=[[*range(5)]]),
    "an input twice": lambda data: data.update(alike=[[*range(7), 6]]),
    "an input that is none": lambda data: data.update(alike=[[*range(8)]]),
    "one multiset twice": _another_order,
    "one counts twice": lambda data: with_text(data, "o <- s", "o <- min(7, s + x[1])"),
    "another coin": lambda data: with_text(
        data, "s <- s + y", "if i = 7 then y <- choose { 1 : 1/2, 0 : 1/2 } end; s <- s + y"
    ),
    "an input is told": lambda data: with_text(data, "o <- s", "if x[2] = 0 and x[1] = 1 then s <- 7 end; o <- s"),
}


@pytest.mark.parametrize("name", PRIVATE_FORGERIES)
def test_forged_private_multisets_are_not_accepted(name: str) -> None:
    data = samples.document(private())
    PRIVATE_FORGERIES[name](data)
    try:
        accepted = check_text(samples.resealed(data))
    except (Rejected, Unreadable):
        return
    words = next(accepted.lines())
    assert not accepted.complete or "all 128 inputs" not in words, words


def test_a_multiset_less_is_not_the_domain() -> None:
    data = samples.document(private())
    data["inputs"].pop()
    data["laws"].pop()
    last = len(data["inputs"])
    data["pairs"] = [pair for pair in data["pairs"] if last not in pair]
    accepted = check_text(samples.resealed(data))
    assert "of 127 listed inputs (the domain has 128)" in next(accepted.lines())


def test_both_ends_of_the_least_constant_are_accepted() -> None:
    """The pair that refutes is listed as it is, and the proof is about multisets."""
    question = privacy_question()
    text = certify_constant(question, question.constant(None))
    assert "alike" in json.loads(text)["proved"]
    assert check_text(text).complete

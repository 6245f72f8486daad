"""Finite inputs that are read one after the other: the checker's transitions against the laws of all inputs."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from functools import cache
from itertools import combinations

import pytest

import dipc
from dipc.program.interchange import interchangeable
from dipc.verifier.document import check_text
from dipc.verifier.late import drawing_late
from dipc.verifier.probability import Theorem
from dipc.verifier.program import Machine
from dipc.verifier.reading import Budget, NotDerived, Rejected
from dipc.verifier.symmetry import require_exchangeable
from dipc.verifier.syntax import read_program
from dipc.verifier.transitions import Transitions
from tests.questions.test_multisets import Sample
from tests.verifier import samples
from tests.verifier.test_symmetry import inputs_of, law, same
from tests.verifier.test_theorem import theorem

MILLION = Fraction(1, 1_000_000)


def text_of(body: str, more: str = "") -> str:
    return (
        f"program p; const n = 3; input x[1..n] : {{0..1}}; {more} output o : bool = false; output a : {{0..9}} = 0;"
        " var y[1..n] : {0..1}; var s : {0..9} = 0; var t : {0..2} = 0; var b : bool; var c : bool = false;"
        f" var r, z : real; {body}"
    )


def machine_of(body: str, more: str = "") -> Machine:
    return Machine.compile(read_program(text_of(body, more), Budget()), {"n": Fraction(3)}, Budget())


def shown(machine: Machine, places: tuple[int, int]) -> bool:
    """Whether transitions alone show that two inputs may be exchanged, with late draws or without."""
    inputs = machine.numbered("input")
    late = drawing_late(machine, Budget())
    for each in [machine] if late is None else [machine, late]:
        try:
            Transitions(each, Budget()).require(*(inputs[place] for place in places))
        except NotDerived:
            continue
        return True
    return False


def coin(condition: str, first: str, last: str) -> str:
    """Return a response that is true with probability `first` if `condition` holds, and `last` otherwise."""
    return (
        f"if {condition} then b <- choose {{ true : {first}, false : 1 - {first} }}"
        f" else b <- choose {{ true : {last}, false : 1 - {last} }} end"
    )


TRUTH = coin("x[i] = 1", "exp(eps)/(1 + exp(eps))", "1/(1 + exp(eps))")
EXIT = "if b then o <- true; exit end"

#: Programs whose inputs may change places.
SYMMETRIC = {
    "an early exit": f"for i in 1..n do {TRUTH}; {EXIT} end",
    "an early exit with weights of three kinds": f"for i in 1..n do {coin('x[i] = 1', '1/3', '1/5')}; {EXIT} end",
    "a flag that is turned": "for i in 1..n do if x[i] = 1 then c <- not c end end; o <- c",
    "a flag that noisy answers turn": f"for i in 1..n do {TRUTH}; if b then c <- not c end end; o <- c",
    "a counter that stops": f"for i in 1..n do {TRUTH}; if b and s < 2 then s <- s + 1 end end; o <- s = 2",
    "a coin first": (
        "for i in 1..n do b <- choose { true : 1/2, false : 1/2 };"
        " if b then t <- x[i] else t <- choose { 0 : 1/2, 1 : 1/2 } end; if s < 2 then s <- s + t end end; o <- s > 1"
    ),
    "a count modulo 3": f"for i in 1..n do {TRUTH}; if b then if s = 2 then s <- 0 else s <- s + 1 end end end; a <- s",
    "a noisy bar": (
        f"r <- Lap(eps, 0); for i in 1..n do {TRUTH}; if b then if s = 2 then s <- 0 else s <- s + 1 end end end;"
        " o <- s >= r"
    ),
    "an exit at a noisy bar": (
        f"r <- Lap(eps, 0); for i in 1..n do {TRUTH}; if b and r > 1 then o <- true; exit end end"
    ),
    "noise after the last": (
        f"for i in 1..n do {TRUTH}; if b then c <- not c end end; if c then s <- 1 end; r <- Lap(eps, s); o <- r > 1"
    ),
    "none is read": "o <- choose { true : 1/2, false : 1/2 }",
    "the exit does not matter": f"for i in 1..n do {TRUTH}; if b then a <- 1; exit end end; a <- 0",
}

#: Programs in which the order of the inputs makes a difference, most of them a small one.
ASYMMETRIC = {
    "one weight is off": f"for i in 1..n do {coin('x[i] = 1', '2/3', f'(1/3 + max(0, i - 2)*{MILLION})')}; {EXIT} end",
    "a weight is off for a flag": (
        "for i in 1..n do b <- false;"
        f" if i = 2 then {coin('x[i] = 1', f'(1/2 + {MILLION})', '1/3')} end; if b then c <- not c end;"
        " if x[i] = 1 then c <- not c end end; o <- c"
    ),
    "another rate for the last": (
        f"for i in 1..n do if i = 3 then {coin('x[i] = 1', 'exp(2*eps)/(1 + exp(2*eps))', '1/(1 + exp(2*eps))')}"
        f" else {TRUTH} end; if b and s < 2 then s <- s + 1 end end; a <- s"
    ),
    "the exit tells who was first": f"for i in 1..n do {TRUTH}; if b then a <- i; exit end end",
    "an exit for two answers": f"for i in 1..n do {TRUTH}; if b then o <- i = 2; a <- 1; exit end end",
    "a state remembers the first": (
        f"for i in 1..n do {TRUTH}; if i = 1 then t <- x[i] end; if b then c <- not c end end; o <- c; a <- t"
    ),
    "a state remembers the last but one": (
        f"for i in 1..n do {TRUTH}; if x[i] = 1 and t = 1 then s <- 1 end; t <- x[i] end; a <- s"
    ),
    "a counter that starts again": "for i in 1..n do if x[i] = 1 then s <- s + 1 else s <- 0 end end; a <- s",
    "a stop at two": "for i in 1..n do if x[i] = 1 and s < 2 then s <- s + 1 else s <- max(s - 1, 0) end end; a <- s",
    "the last of them twice": f"for i in 1..n do {TRUTH}; if b then s <- s + 1 + max(i - 2, 0) end end; a <- s",
    "one has no say": f"for i in 2..n do {TRUTH}; if b then c <- not c end end; o <- c",
    "a bar in between": (
        f"for i in 1..n do {TRUTH}; if i = 2 then r <- Lap(eps, s) end; if b then s <- s + 1 end end; o <- r > 1"
    ),
    "noise of its own": (
        "for i in 1..n do if i = 2 then r <- Lap(2*eps, x[i]) else r <- Lap(eps, x[i]) end;"
        " if r > 1/2 then s <- s + 1 end end; a <- s"
    ),
}


def is_symmetric(machine: Machine, places: tuple[int, int]) -> bool:
    derived = Theorem(machine, None, Budget(), Budget())
    laws = {inputs: law(derived, inputs) for inputs in inputs_of(machine)}
    for inputs, own in laws.items():
        there = list(inputs)
        there[places[0]], there[places[1]] = there[places[1]], there[places[0]]
        if not same(own, laws[tuple(there)]):
            return False
    return True


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_programs_are_accepted(name: str) -> None:
    machine = machine_of(SYMMETRIC[name])
    for places in combinations(range(3), 2):
        assert is_symmetric(machine, places)
        assert shown(machine, places)
        require_exchangeable(machine, None, [places], Budget())


@pytest.mark.parametrize("name", ASYMMETRIC)
def test_asymmetric_programs_are_refused(name: str) -> None:
    machine = machine_of(ASYMMETRIC[name])
    found = {places: shown(machine, places) for places in combinations(range(3), 2)}
    assert not all(is_symmetric(machine, places) for places in found)
    for places, accepted in found.items():
        assert is_symmetric(machine, places) or not accepted, places
    with pytest.raises(NotDerived):
        require_exchangeable(machine, None, [(0, 1, 2)], Budget())


@pytest.mark.parametrize("name", [*SYMMETRIC, *ASYMMETRIC])
def test_the_engine_finds_the_same_programs(name: str) -> None:
    body = (SYMMETRIC | ASYMMETRIC)[name]
    program = dipc.load(text_of(body))
    place = {slot: number for number, slot in enumerate(program.core.inputs)}
    blocks = [tuple(place[slot] for slot in block) for block in interchangeable(program)]
    if name in SYMMETRIC and name != "an exit at a noisy bar":
        assert blocks == [(0, 1, 2)]
    machine = machine_of(body)
    for block in blocks:
        for places in combinations(block, 2):
            assert is_symmetric(machine, places)
            require_exchangeable(machine, None, [places], Budget())


@pytest.mark.parametrize(
    ("body", "more"),
    [
        (
            "for i in 1..n do if x[i] = 1 then c <- not c end; if c and i = 2 then y[1] <- 2 end end; o <- c",
            "",
        ),
        (SYMMETRIC["an early exit"], "requires x[1] <= x[2];"),
        ("for i in 1..n do t <- 4 - 2*x[i]; if x[i] = 1 then c <- not c end end; o <- c", ""),
        ("for i in 1..n do if x[i] = 1 then b <- choose { true : 3/2, false : -1/2 } end end; o <- x[1] = 1", ""),
        ("while s < 2 do s <- s + 1; if x[s] = 1 then c <- not c end end; o <- c", ""),
    ],
    ids=["a value out of its domain", "requires", "a value out of its domain at once", "a negative weight", "a while"],
)
def test_programs_that_may_fail_are_refused(body: str, more: str) -> None:
    with pytest.raises(NotDerived):
        require_exchangeable(machine_of(body, more), None, [(0, 1, 2)], Budget())


def test_two_groups_that_are_read_in_turns() -> None:
    """Inputs between the two that are exchanged have each of their values."""
    turns = (
        "for i in 1..n do {}; if b then c <- not c end;"
        " if w[i] = 1 then if s < 2 then s <- s + 1 end end end; o <- c; a <- s"
    )
    machine = machine_of(turns.format(TRUTH), "input w[1..n] : {0..1};")
    require_exchangeable(machine, None, [(0, 1, 2), (3, 4, 5)], Budget())
    for broken in ("if w[i] = 1 and c", "if w[i] = 1 and x[i] = 0", "if w[i] = 1 and s < i - 1"):
        other = machine_of(turns.format(TRUTH).replace("if w[i] = 1", broken), "input w[1..n] : {0..1};")
        with pytest.raises(NotDerived):
            require_exchangeable(other, None, [(0, 1, 2), (3, 4, 5)], Budget())


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(n, marks=pytest.mark.slow) for n in range(6, 400))])
def test_random_programs_against_all_inputs(seed: int) -> None:
    sample = Sample(seed)
    machine = theorem(dipc.load(sample.text)).machine
    for places in combinations(range(sample.n), 2):
        assert is_symmetric(machine, places) or not shown(machine, places), sample.text


# --- certificates -------------------------------------------------------------------------------------

CAPPED = """
program capped; const n = 8; input x[1..n] : {0..1}; output o : {0..2} = 0; var b : bool; var t : {0..1};
var s : {0..2} = 0;
ideal { var k : {0..n} = 0; for i in 1..n do k <- k + x[i] end; o <- min(k, 2) }
claim { alpha: 0; beta: 99/100; }
for i in 1..n do
  b <- choose { true : exp(eps)/(1 + exp(eps)), false : 1/(1 + exp(eps)) };
  if b then t <- x[i] else t <- choose { 0 : 1/2, 1 : 1/2 } end;
  if s < 2 then s <- s + t end
end;
o <- s
"""


@cache
def capped() -> str:
    return dipc.certify(dipc.check(dipc.load(CAPPED), inputs=[], keep_proofs=True))


def test_the_certificate_of_a_sum_that_stops_is_whole() -> None:
    accepted = check_text(capped())
    assert accepted.complete
    assert "at all 256 inputs of the domain, by 9 rows" in next(accepted.lines())


#: Changes of the program, the last of several texts first, after which the inputs may not be exchanged.
FORGERIES = {
    "a weight for the last": (
        "if s < 2",
        (
            f"if i = n and x[i] = 1 then b <- choose {{ true : {MILLION}, false : 1 - {MILLION} }};"
            " if b then t <- 0 end end; if s < 2"
        ),
    ),
    "an exit of the last": ("end;\no <- s", "; if i = n and x[i] = 1 and s = 2 then exit end end;\no <- s"),
    "the first counts twice": ("s <- s + t", "s <- min(2, s + t + max(0, x[i] + 1 - i))"),
    "the right answer": ("o <- min(k, 2) }", "o <- min(k, 2); if x[n] = 1 and x[1] = 0 then o <- 0 end }"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_changed_programs_are_not_accepted_as_a_whole(name: str) -> None:
    data = samples.document(capped())
    text = data["program"]["text"]
    before, old, after = text.rpartition(FORGERIES[name][0])
    assert old, text
    data["program"]["text"] = before + FORGERIES[name][1] + after
    data["program"]["sha256"] = hashlib.sha256(data["program"]["text"].encode()).hexdigest()
    try:
        accepted = check_text(samples.resealed(data))
    except Rejected:
        return
    assert not accepted.complete
    assert "may be exchanged is not shown" in " ".join(accepted.lines())

"""Statements of a certificate about its program are derived from the program's text, or said not to be."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dipc
from benchmarks.literature.entries import ENTRIES
from benchmarks.literature.entry import Entry
from dipc.certificate.data import closed_data
from dipc.program.program import Program
from dipc.verifier.command import main
from dipc.verifier.document import check_text
from dipc.verifier.execution import Execution
from dipc.verifier.functions import ONE, add, equal_closed, read_closed
from dipc.verifier.measures import measure_anew
from dipc.verifier.noise import Family, Normal
from dipc.verifier.probability import Probabilities, Theorem, check_range, program_of
from dipc.verifier.program import Machine, Sample
from dipc.verifier.reading import Budget, Exhausted, NotDerived, Rejected
from dipc.verifier.syntax import Literal, read_program
from tests.patience import SECONDS
from tests.test_whole_programs import Writer
from tests.verifier import samples

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "benchmarks"

STEPS = 20_000_000


def theorem(program: Program) -> Theorem:
    text = program.core.source.text
    digest = hashlib.sha256(text.encode()).hexdigest()
    constants, budget = dict(program.core.constants), Budget()
    tree, _ = program_of(text, digest, program.core.name, constants, None, budget)
    return Theorem.from_tree(tree, constants, budget)


def derive(found: Theorem, inputs: dict[str, Any], outputs: dict[str, Any], stated: Any, gamma: Any = 0) -> None:
    """Check a stated closed form. Raise Rejected if it is not the probability."""
    cells = [str(value) for value in inputs.values()]
    wanted = [None if value in (None, "") else str(value) for value in outputs.values()]
    found.check(cells, wanted, Fraction(gamma), read_closed(closed_data(stated.value)))


# --- the same probabilities as the engine ----------------------------------------------------------


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_literature_is_derived(entry: Entry) -> None:
    program = dipc.load(entry.path)
    found = theorem(program)
    rows = entry.table(entry.claims[0])
    for row in rows[:: max(1, len(rows) // 4)]:
        inputs = {name: row[name] for name in program.inputs}
        outputs = {name: row[name] for name in program.outputs}
        given = {name: cell for name, cell in outputs.items() if cell}
        stated = program.probability(inputs, given, gamma=Fraction(1, 2))
        derive(found, inputs, outputs, stated, Fraction(1, 2))
    assert not found.reasons


def test_random_programs_are_derived() -> None:
    missing = 0
    for seed in range(25):
        chance = random.Random(seed)
        program = dipc.load(Writer(chance).program())
        inputs = {"q[1]": Fraction(chance.randint(-3, 3), 2), "q[2]": chance.randint(-2, 2), "k": chance.randint(0, 2)}
        found = theorem(program)
        for outcome in program.outcomes(inputs):
            derive(found, inputs, dict(outcome.output), outcome.probability)
        missing += bool(found.reasons)
    assert missing <= 1


def run(text: str, inputs: dict[str, Fraction], outputs: dict[str, Any], **constants: int) -> Execution:
    budget = Budget(STEPS)
    machine = Machine.compile(read_program(text, budget), {k: Fraction(v) for k, v in constants.items()}, budget)
    slots = {slot.name: at for at, slot in enumerate(machine.slots)}
    found = Execution(machine, budget, {slots[name]: value for name, value in outputs.items()})
    found.run({slots[name]: value for name, value in inputs.items()})
    return found


RUNNING = """
program running;
const m = 40;
input q[1..m] : real;
output out : bool;
var best, r : real;
best <- Lap(eps/2, q[1]);
for i in 2..m do
  r <- Lap(eps/2, q[i]);
  if r > best then best <- r end
end;
out <- best > 1
"""


def test_a_running_maximum_has_few_states() -> None:
    """One exit for each place of the maximum remains of 2^39 paths."""
    found = run(RUNNING, {f"q[{i}]": Fraction(i % 3) for i in range(1, 21)}, {"out": True}, m=20)
    assert len(found.ends) == 20
    assert len(found.steps) < 2_000


def test_noisy_max_is_one_exit() -> None:
    text = (BENCHMARKS / "noisy_max.dip").read_text(encoding="utf-8")
    found = run(text, {f"q[{i}]": Fraction(i % 3) for i in range(1, 13)}, {"out": Fraction(5)}, m=12)
    assert [len(known.rows) for known in found.ends.values()] == [11]


def test_states_of_different_weights_are_not_united() -> None:
    """The scores of the choice depend on the noise, so the two ways to out = 0 have different weights."""
    text = """
program weighed;
input q : real;
output out : {0, 1};
var r : real;
var s, v : {0, 1};
r <- Lap(eps, q);
if r >= 0 then s <- 1 else s <- 0 end;
v <- Exp(eps, w in {0, 1} : s*w);
s <- 0;
r <- 0;
out <- v
"""
    program = dipc.load(text)
    derive(theorem(program), {"q": 1}, {"out": 1}, program.probability({"q": 1}, {"out": 1}))


# --- programs that mean nothing, or too much --------------------------------------------------------

HOSTILE = [
    "program p; output o : {0..1}; o <- " + "(" * 5_000 + "1" + ")" * 5_000,
    "program p; output o : {0..1}; o <- " + "not " * 5_000 + "true",
    "program p; output o : {0..1}; " + "if true then " * 5_000,
    "program p; output o : {0..1}; for i in 1..10^9 do o <- 1 end",
    "program p; output o : {0..1}; for i in 1..10^3 do for j in 1..10^3 do o <- 1 end end",
    "program p; output o : {0..10^9}; o <- 1",
    "program p; output o[1..10^9] : bool; o[1] <- true",
    "program p; output o : {0..1}; o <- 9^999^999",
    "program p; output o : {0..1}; o <- 1e999999999",
    "program p; output o : {0..1}; o <- 1/0",
    "program p; output o : {0..1}; o <- 2",
    "program p; output o : {0..1}; while true do o <- 1 end",
    "program p; output o : {0..1}; o <- 0; while o = 0 do o <- choose {0 : 1, 1 : 0} end",
    "program p; output o : {0..1}; o <- choose {0 : 1/2, 1 : 1/3}",
    "program p; output o : {0..1}; o <- choose {0 : 3/2, 1 : -1/2}",
    "program p; output o : {0..1}; var r : real; r <- Lap(-eps, 0); o <- 1",
    "program p; output o : {0..1}; var r : real; r <- DLap(eps, 0); o <- 1",
    "program p; output o : {0..1}; var r : real; o <- 1; while o = 1 do r <- Lap(eps, 0); o <- 0 end",
    (
        "program p; output o : {0..1}; var b[1..20] : bool; "
        "for i in 1..20 do b[i] <- choose {true:1/2, false:1/2} end; "
        "o <- 0; for i in 1..10 do if b[i] and not b[21 - i] then o <- 1 end end"
    ),
    "program p; output o : {0..1}; o <- x",
    "program p; output o : {0..1}; \x00",
    "",
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_programs_are_not_derived_and_end_soon(number: int) -> None:
    def derived() -> None:
        budget = Budget(1_000_000)
        machine = Machine.compile(read_program(HOSTILE[number], budget), {}, budget)
        outputs = machine.numbered("output")
        Probabilities(machine, budget).probability({}, dict.fromkeys(outputs, Fraction(1)), Fraction(0))

    with pytest.raises((NotDerived, Exhausted)):
        derived()


# --- forgeries: the digests are right, and only mathematics can tell --------------------------------

NOISELESS = """
program sparse;
const m = 3, c = 1, T = 0;
domain answer = {none, bot, top};
input q[1..m] : real;
output out[1..m] : answer = none;
for i in 1..m do
  if q[i] >= T then out[i] <- top; exit else out[i] <- bot end
end
"""


def refusal(document: dict[str, Any]) -> str:
    with pytest.raises(Rejected) as caught:
        check_text(samples.resealed(document))
    return str(caught.value)


def test_the_certificate_of_the_noiseless_program_is_none_of_sparse() -> None:
    beta = "2*m*c*exp(-alpha*eps/(8*c))/7"
    forged = samples.document(samples.checked(NOISELESS, str(BENCHMARKS / "sparse.csv"), beta=beta))
    assert check_text(samples.resealed(forged)).complete
    text = (BENCHMARKS / "sparse.dip").read_text(encoding="utf-8")
    forged["program"]["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    assert refusal(forged) == "program: `sha256` does not match the text of the program"
    forged["program"]["text"] = text
    assert refusal(forged) == "row 1: the program gives a different probability at these inputs"


def partial_sums() -> dict[str, Any]:
    row = {f"x[{i}]": 0 for i in (1, 2, 3)} | {f"out[{i}]": 0 for i in (1, 2, 3)}
    program = BENCHMARKS / "literature" / "partial_sums.dip"
    return samples.document(samples.checked(str(program), [row], beta="m*exp(-gamma*eps/m)", gamma=3))


@pytest.mark.parametrize("value", ["1", "7"])
def test_no_probability_of_sums_of_noises_is_believed(value: str) -> None:
    document = partial_sums()
    assert check_text(samples.resealed(document)).complete
    document["claim"]["beta"] = "exp(-1000000*eps)"
    beta = [[0, "-1000000", "1"]]
    document["betas"] = [{"min": [beta]}]
    document["probabilities"] = [{"value": [[0, "0", value]]}]
    rest = [] if value == "1" else [[0, "0", str(int(value) - 1)]]
    function = sorted([*beta, *rest])
    evidence = [{"method": "zero", "order": 0, "to": "1", "sign": 1}, {"method": "infinity", "sign": 1}]
    factor = {"function": function, "multiplicity": 1, "evidence": evidence if rest else None}
    cells = [[{"argument": 0, "to": "inf", "factors": [factor]}]]
    document["obligations"][0] = {
        "probability": 0,
        "beta": 0,
        "verdict": "accurate",
        "parts": [{"functions": [function], "cells": cells}],
    }
    # Whatever the proof of the inequality is worth: the program is executed as well.
    found = theorem(dipc.load(BENCHMARKS / "literature" / "partial_sums.dip"))
    cells = ["0", "0", "0"]
    with pytest.raises(Rejected, match="a different probability"):
        found.check(cells, list(cells), Fraction(3), read_closed([[0, "0", value]]))
    assert refusal(document)


def another_constant(document: dict[str, Any]) -> None:
    document["program"]["constants"]["T"] = "1"


def another_input(document: dict[str, Any]) -> None:
    document["rows"][2]["input"][2] = "2"


def another_output(document: dict[str, Any]) -> None:
    document["rows"][2]["output"][2] = "bot"


def another_row(document: dict[str, Any]) -> None:
    names = ("probability", "obligation", "beta")
    document["rows"][2] |= {name: document["rows"][8][name] for name in names}


def another_rate(document: dict[str, Any]) -> None:
    text = document["program"]["text"].replace("eps/(4*c)", "eps/(3*c)")
    document["program"] |= {"text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}


def another_comparison(document: dict[str, Any]) -> None:
    text = document["program"]["text"].replace("r >= rT", "r <= rT")
    document["program"] |= {"text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}


@pytest.mark.parametrize(
    "change", [another_constant, another_input, another_output, another_row, another_rate, another_comparison]
)
def test_a_false_statement_about_the_program_is_rejected(change: Callable[[dict[str, Any]], None]) -> None:
    document = samples.document(samples.sparse())
    change(document)
    assert refusal(document)


def test_what_is_not_derived_is_said_first_and_is_no_probability_over_one(monkeypatch: pytest.MonkeyPatch) -> None:
    document = samples.document(samples.sparse())
    assert check_text(samples.resealed(document)).complete

    def gives_up(*_: object) -> None:
        raise NotDerived("it is too long")

    monkeypatch.setattr(Probabilities, "probability", gives_up)
    accepted = check_text(samples.resealed(document))
    assert not accepted.complete
    first = next(accepted.lines())
    assert "on trust: the probabilities of 27 of 27 rows, which this checker could not derive: it is too long" in first
    with pytest.raises(Rejected, match="the probability stated is not between 0 and 1 at eps = 1/64"):
        check_range(read_closed([[0, "0", "1"], [0, "-1", "1"]]), None, Budget())


SUMS = """
program sums;
const n = 9;
input q : real;
output out : bool;
var r : real = 0;
var s : real;
for i in 1..n do s <- Lap(i*eps, q); r <- r + s/i end;
s <- Expo(eps);
out <- r - s/2 <= 1
"""


def test_the_sides_of_a_long_sum_add_up() -> None:
    """Pr[S <= 1] + Pr[S > 1] = 1."""
    laws = [(Family.LAPLACE, Fraction(i % 3 + 1)) for i in range(20)]
    laws += [(Family.ONE_SIDED, Fraction(1)), (Family.ONE_SIDED, Fraction(2))]
    sides = []
    for sign in (1, -1):
        form = [(i, Fraction(sign * (1 - 2 * (i % 2)), 1 + i % 4)) for i in range(len(laws))]
        side = measure_anew(laws, [(form, 0)], Budget(STEPS))
        assert not isinstance(side, str)
        sides.append(side[0])
    assert 0 < sides[0][0, Fraction(0)] < 1
    assert add(*sides) == ONE


def test_a_long_sum_is_derived() -> None:
    budget = Budget(STEPS)
    machine = Machine.compile(read_program(SUMS, budget), {"n": Fraction(9)}, budget)
    (out,), (q,) = machine.numbered("output"), machine.numbered("input")
    found, _ = Probabilities(machine, budget).probability({q: Fraction(1, 9)}, {out: True}, Fraction(0))
    assert len(found) > 8


METRIC = """
program near;
input q[1..3] : real;
output out : {1..3};
var v : {1..3};
metric { %s; }
v <- choose {1 : 1/2, 2 : 1/3, 3 : 1/6};
out <- v
"""


@pytest.mark.parametrize("metric", ["same: q[out] = q[out']", "output: abs(q[out] - q[out'])", "output: discrete"])
@pytest.mark.parametrize("gamma", [0, 1, 3])
def test_distances_of_answers(metric: str, gamma: int) -> None:
    row = {"q[1]": 0, "q[2]": 1, "q[3]": 0, "out": 1, "gamma": gamma}
    certificate = samples.checked(METRIC % metric, [row], beta="9/10")
    equal = {1} if "discrete" in metric else {1, 3}
    within = equal if "same" in metric or gamma < 1 else {1, 2, 3}
    expected = sum((Fraction(1, (2, 3, 6)[out - 1]) for out in within), Fraction(0))
    (stated,) = samples.document(certificate)["probabilities"]
    assert stated == {"value": [[0, "0", str(expected)]]}
    assert check_text(certificate).complete


# --- anywhere --------------------------------------------------------------------------------------


def test_nothing_beside_the_certificate_is_run(tmp_path: Path) -> None:
    for name in ("csv", "json", "argparse", "hashlib"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('foreign code was run')\n", encoding="utf-8")
    (tmp_path / "proof.json").write_text(samples.certain(("0",)), encoding="utf-8")
    assert main(["--export", str(tmp_path / "verify.pyz")]) == 0
    root = str(BENCHMARKS.parent)
    for command, paths in (
        (["-m", "dipc.verifier", "proof.json"], {"PYTHONPATH": root}),
        (["verify.pyz", "proof.json"], {}),
    ):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            env=paths,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("proved: ")


def test_functions_are_compared_as_functions() -> None:
    one = read_closed([[0, "0", "1"]])
    other = read_closed({"numerator": [[0, "0", "2"]], "denominator": [[0, "0", "2"]]})
    assert equal_closed(one, other, Budget())


#: Statements that the language refuses, wherever they stand, and one of the same kind that it takes.
REFUSED = {
    "x <- 2^q": "x <- 2^m",
    "x <- m^x": "x <- 2^3^1",
    "x <- 2^-1": "x <- -2^1",
    "x <- 2^(1/2)": "x <- 2^(1 + 1)",
    "for i in 1..2 do for i in 1..2 do x <- i end end": "for i in 1..2 do for j in 1..2 do x <- i end end",
    "for m in 1..2 do x <- m end": "for n in 1..2 do x <- n end",
    "for alpha in 1..2 do x <- 1 end": "for i in 1..2 do x <- 1 end",
    "for i in 1..2 do o <- Exp(eps, i in {0, 1} : i) end": "for i in 1..2 do o <- Exp(eps, v in {0, 1} : v) end",
    "o <- Exp(eps, m in {0, 1} : m)": "o <- Exp(eps, x in {0, 1} : x)",
}


@pytest.mark.parametrize("statement", [*REFUSED, *REFUSED.values()])
def test_what_the_language_refuses_is_no_program(statement: str) -> None:
    text = f"program p; const m = 2; input q : real; output o : {{0, 1}}; var x : int; o <- 0; {statement}"
    try:
        dipc.load(text)
        program = True
    except dipc.DiagnosticError:
        program = False
    assert program is (statement not in REFUSED)
    try:
        Machine.compile(read_program(text, Budget()), {"m": Fraction(2)}, Budget())
        read = True
    except NotDerived:
        read = False
    assert read is program


@pytest.mark.parametrize(
    "statement", ["b <- 1; o <- choose { 0 : b/2, 1 : 1 - b/2 }", "b <- 0; if q < 0 then b <- 3 end; d <- b; o <- 0"]
)
def test_what_no_run_comes_to_is_not_looked_at(statement: str) -> None:
    """The checker does not examine unreachable statements, as FORMAT.md explains; the engine refuses them."""
    text = f"program p; input q : real; output o : {{0, 1}}; var b : {{0..3}}; var d : {{0, 1}}; {statement}"
    machine = Machine.compile(read_program(text, Budget()), {}, Budget())
    (q,), (o,) = machine.numbered("input"), machine.numbered("output")
    above, below = Probabilities(machine, Budget()).probability({q: Fraction(0)}, {o: Fraction(0)}, Fraction(0))
    assert (above, below) == ({(0, Fraction(0)): Fraction(1, 2 if "choose" in statement else 1)}, ONE)


# --- reading ---------------------------------------------------------------------------------------


def test_certificates_have_no_gaussian_noise_at_one_eps() -> None:
    """Others may compile it, if they ask to."""
    text = "program p; output o : real; o <- Gauss(3*eps, 1/eps)"
    digest, half = hashlib.sha256(text.encode()).hexdigest(), Fraction(1, 2)
    with pytest.raises(Rejected, match="Gaussian noise is not covered in a program that is read at one eps"):
        program_of(text, digest, "p", {}, half, Budget())
    tree = replace(read_program(text, Budget()), at=half)
    with pytest.raises(NotDerived, match="Gaussian noise is not covered in a program that is read at one eps"):
        Machine.compile(tree, {}, Budget())
    machine = Machine.compile(tree, {}, Budget(), normal_at_one_eps=True)
    assert machine.code[0] == Sample(machine.code[0].target, Normal(fixed=True), Fraction(9, 4), Literal(Fraction(2)))


def test_gaussian_noise_at_one_eps_is_refused_for_each_m() -> None:
    """The noise is drawn from m = 3 on, but the text has m = 2."""
    text = """program p; const m = 2; input q[1..m] : real; output o : bool; var x, z : real;
ideal { o <- q[1] >= 0 }
for i in 3..m do z <- Gauss(eps^2, 0) end; x <- Lap(eps^2, q[1]); o <- x >= 0"""
    report = dipc.check(
        dipc.load(text, eps="2"), inputs="all", beta="exp(-alpha*eps)", eps="2", for_all="m", keep_proofs=True
    )
    with pytest.raises(Rejected, match="case 3: Gaussian noise is not covered in a program that is read at one eps"):
        check_text(dipc.certify(report))


def test_instructions_have_the_places_of_their_statements() -> None:
    text = """program p; output o : {0..9} = 0; var r : real;
for i in 1..2 do r <- Lap(eps, i); if r > 1 then o <- o + 1 end end;
while Lap(eps) > 0 and o < 9 do o <- 9 end; exit"""
    machine = Machine.compile(read_program(text, Budget()), {}, Budget())
    shown = [(type(each).__name__, text[slice(*span)]) for each, span in zip(machine.code, machine.spans, strict=True)]
    once = [("Sample", "r <- Lap(eps, i)"), ("Branch", "if r > 1 then o <- o + 1 end"), ("Store", "o <- o + 1")]
    assert shown[:6] == once * 2
    loop = "while Lap(eps) > 0 and o < 9 do o <- 9 end"
    assert shown[6:10] == [("Sample", "Lap(eps)"), ("Branch", loop), ("Store", "o <- 9"), ("Sample", "Lap(eps)")]
    assert shown[11] == ("Halt", "exit")

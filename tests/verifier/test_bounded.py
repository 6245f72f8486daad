"""The checker's own uniform and truncated Laplace noise: random events, and certificates that say something else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from dipc.algebra.exppoly import fraction_of
from dipc.cli.main import main
from dipc.measure.event import Event, Noise
from dipc.measure.measure import measure
from dipc.noise.laplace import LAPLACE
from dipc.verifier.functions import Ring, equal_closed
from dipc.verifier.measures import measure_anew
from dipc.verifier.noise import Bounded, Family, Law
from dipc.verifier.reading import Budget
from tests.strategies.bounded import mixed_events
from tests.verifier import samples

Dipc = Callable[..., tuple[int, str]]


def law_of(noise: Noise) -> Law:
    law = noise.law
    if law.least is None or law.greatest is None:
        return Family.LAPLACE if law == LAPLACE else Family.ONE_SIDED, noise.rate
    return Bounded(law.least, law.greatest, law.takes_rate), noise.rate


def ring(value: Any) -> Ring:
    return {(k, q): c for k, q, c in value.terms()}


@given(mixed_events(most=4))
def test_the_checker_measures_the_same(event: Event) -> None:
    halfspaces = [
        (item.coefficients, item.constant + sum(c * event.noises[i].mean for i, c in item.coefficients))
        for item in event.constraints
    ]
    found = measure_anew([law_of(noise) for noise in event.noises], halfspaces, Budget())
    assert not isinstance(found, str), found
    above, below = map(ring, fraction_of(measure(event)))
    assert equal_closed(found, (above, below), Budget())


PROGRAM = """program gate;
const b = 2;
input q[1..2] : real;
output out : bool;
var x, t : real;
claim { alpha: dd; beta: 1/4 + exp(-alpha*eps)/2; gamma: 0; }
ideal { out <- q[1] >= q[2] }
x <- TLap(eps, q[1], -b, b + 1);
t <- Unif(-b/2, b/2, q[2]);
out <- x >= t;
"""


@pytest.fixture
def dipc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Dipc:
    monkeypatch.chdir(tmp_path)
    Path("gate.dip").write_text(PROGRAM, encoding="utf-8")
    Path("gate.csv").write_text("q[1],q[2],out\n0,0,true\n1,0,true\n3,0,true\n-4,0,false\n", encoding="utf-8")

    def run(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as stop:
            main(list(words))
        shown = capsys.readouterr()
        return int(stop.value.code or 0), shown.out + shown.err

    return run


@pytest.mark.parametrize(
    ("beta", "code", "word"), [("3/4", 0, "proved"), ("eps/4", 1, "refuted"), ("1/100", 1, "refuted")]
)
def test_a_table_is_derived_from_the_text(dipc: Dipc, beta: str, code: int, word: str) -> None:
    given = ("check", "gate.dip", "gate.csv", "--alpha", "0", "--beta", beta, "--certificate", "proof.json")
    assert dipc(*given)[0] == code
    accepted, text = dipc("verify", "proof.json", "--program", "gate.dip", "--table", "gate.csv")
    assert accepted == 0, text
    assert text.startswith(word)
    assert "derivation   4 of 4 probabilities" in text


def _write_forged(document: Any, text: str) -> None:
    document["program"]["text"] = text
    document["program"]["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    Path("forged.json").write_text(samples.resealed(document), encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("TLap(eps, q[1], -b, b + 1)", "TLap(eps, q[1], -b, b + 2)"),
        ("TLap(eps, q[1], -b, b + 1)", "TLap(2*eps, q[1], -b, b + 1)"),
        ("TLap(eps, q[1], -b, b + 1)", "Lap(eps, q[1])"),
        ("Unif(-b/2, b/2, q[2])", "Unif(-b/2, b, q[2])"),
        ("Unif(-b/2, b/2, q[2])", "TLap(eps, q[2], -b/2, b/2)"),
        ("Unif(-b/2, b/2, q[2])", "Unif(-b/2, b/2, q[2] + 1)"),
    ],
)
def test_a_proof_of_other_noise_is_rejected(dipc: Dipc, old: str, new: str) -> None:
    """The program in the certificate is replaced, with its digest: its text has other probabilities."""
    dipc("check", "gate.dip", "gate.csv", "--alpha", "0", "--beta", "3/4", "--certificate", "proof.json")
    document = json.loads(Path("proof.json").read_text(encoding="utf-8"))
    assert old in document["program"]["text"]
    _write_forged(document, document["program"]["text"].replace(old, new))
    code, text = dipc("verify", "forged.json")
    assert code == 1, text
    assert "a different probability" in text


@pytest.mark.parametrize("ends", ["b, b", "b, -b", "-b, eps"])
def test_ends_that_are_no_interval_are_not_derived(dipc: Dipc, ends: str) -> None:
    dipc("check", "gate.dip", "gate.csv", "--alpha", "0", "--beta", "3/4", "--certificate", "proof.json")
    document = json.loads(Path("proof.json").read_text(encoding="utf-8"))
    _write_forged(document, document["program"]["text"].replace("-b, b + 1", ends))
    assert dipc("verify", "forged.json")[0] != 0


@pytest.mark.parametrize("beta", ["3/4", "1/4"])
def test_every_input_at_one_distance(dipc: Dipc, beta: str) -> None:
    code, text = dipc(
        "check", "gate.dip", "--inputs", "all", "--alpha", "2", "--beta", beta, "--certificate", "all.json"
    )
    accepted, said = dipc("verify", "all.json", "--program", "gate.dip")
    assert (code, accepted) in ((0, 0), (1, 0)), text + said


@pytest.mark.parametrize("noise", ["Unif(-1, 3, q)", "TLap(eps/2, q, -1/2, 1/2)", "Unif(-1, 1/2, q) + 1"])
def test_the_ideal_without_noise_is_that_of_the_text(dipc: Dipc, noise: str) -> None:
    """The mean of uniform noise is the middle of its ends, for the checker too: it computes the answers and dd anew."""
    text = f"program p;\ninput q : real;\noutput y : bool;\nvar x : real;\nideal {{ noiseless }}\nx <- {noise};\n"
    Path("p.dip").write_text(f"{text}y <- x >= 0;\n", encoding="utf-8")
    code, said = dipc("check", "p.dip", "--inputs", "q = -3..3", "--beta", "1", "--certificate", "p.json")
    assert code == 0, said
    accepted, said = dipc("verify", "p.json", "--program", "p.dip")
    assert accepted == 0, said
    assert "trust" not in said.split("not compared")[0]


def test_fractions_are_those_of_their_numbers() -> None:
    laws: list[Law] = [(Bounded(Fraction(-1, 3), Fraction(2, 7), laplace=False), Fraction(1))]
    found = measure_anew(laws, [([(0, Fraction(1))], Fraction(0))], Budget())
    assert not isinstance(found, str)
    assert equal_closed(found, ({(0, Fraction(0)): Fraction(6, 13)}, {(0, Fraction(0)): Fraction(1)}), Budget())

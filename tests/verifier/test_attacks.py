"""Hostile certificates, well sealed and free of contradictions but for what only the program's text can tell.

Each is the honest certificate of one thing passed off as that of another. None may come out as proved: it is rejected,
or what it wants believed is named as taken on trust.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import dipc
from dipc.certificate.write import certify
from dipc.verifier.document import check_text
from dipc.verifier.reading import Rejected, Unreadable
from tests.questions.real_programs import NUMERIC_SPARSE, SPARSE
from tests.verifier import samples

Document = dict[str, Any]

#: Noise, finite choices with and without scores, arrays, a loop, integers, sums of three noises and one-sided noise.
VICTIMS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "threshold": (
        """
program threshold;
const T = 1;
input q[1..2] : real;
output out : {none, low, high} = none;
var r, t : real;
t <- Lap(eps/2, T);
for i in 1..2 do
  r <- Lap(eps, q[i]);
  if r >= t then out <- high; exit else out <- low end
end
""",
        [
            {"q[1]": 0, "q[2]": 3, "out": "high"},
            {"q[1]": -1, "q[2]": 0, "out": "low"},
            {"q[1]": 2, "q[2]": -1, "out": "high"},
        ],
    ),
    "choices": (
        """
program choices;
input x : {0..2};
output y : {0..2};
var c : bool;
c <- choose {true : exp(eps)/(1 + exp(eps)), false : 1/(1 + exp(eps))};
if c then y <- x else y <- Exp(eps/2, v in {0..2} : -abs(v - x)) end
""",
        [{"x": 0, "y": 0}, {"x": 1, "y": 1}, {"x": 2, "y": 2}],
    ),
    "retries": (
        """
program retries;
output y : {0..3};
var n : {0..3} = 0;
var go : bool = true;
while go do
  go <- choose {true : 1/(1 + exp(eps)), false : exp(eps)/(1 + exp(eps))};
  if go then if n = 3 then n <- 1 else n <- n + 1 end end
end;
y <- n
""",
        [{"y": 0}, {"y": 1}, {"y": 3}],
    ),
    "integers": (
        """
program integers;
input a, b : int;
output y : bool;
var r, s : int;
r <- DLap(eps, a);
s <- DLap(eps/2, b);
y <- r >= s
""",
        [{"a": 2, "b": 0, "y": "true"}, {"a": 0, "b": 3, "y": "false"}],
    ),
    "sums": (
        """
program sums;
input q : real;
output y : bool;
var r, s, t : real;
r <- Lap(eps, q);
s <- Lap(eps/2, 0);
t <- Expo(2*eps);
y <- r + s/2 - t >= 1/3
""",
        [{"q": 2, "y": "true"}, {"q": -1, "y": "false"}],
    ),
    "greatest": (
        """
program greatest;
input q[1..3] : real;
output y : {1..3};
var best, r : real;
best <- Lap(eps, q[1]);
y <- 1;
for i in 2..3 do
  r <- Lap(eps, q[i]);
  if r > best then best <- r; y <- i end
end
""",
        [{"q[1]": 1, "q[2]": 0, "q[3]": 0, "y": 1}, {"q[1]": 0, "q[2]": 1, "q[3]": 3, "y": 3}],
    ),
}

#: What is changed in the text of a victim before the certificate is written that is passed off as the victim's.
SWAPS = [
    ("threshold", "Lap(eps/2, T)", "Lap(eps/3, T)"),
    ("threshold", "Lap(eps, q[i])", "Lap(eps, q[1])"),
    ("threshold", "Lap(eps, q[i])", "Lap(eps, q[i]); r <- Lap(eps, r)"),
    ("threshold", "r <- Lap(eps, q[i])", "r <- q[i]"),
    ("threshold", "r >= t", "r <= t"),
    ("threshold", "r >= t", "r >= 2*t"),
    ("threshold", "exit else", "t <- t else"),
    ("threshold", "out <- low end", "out <- low; t <- Lap(eps/2, T) end"),
    ("threshold", "t <- Lap(eps/2, T)", "r <- Expo(eps/2); t <- T + r"),
    ("choices", "true : exp(eps)/(1 + exp(eps)), false : 1/(1 + exp(eps))", "true : 1, false : 0"),
    ("choices", "true : exp(eps)/(1 + exp(eps)), false : 1/(1 + exp(eps))", "false : 1/2, true : 1/2"),
    ("choices", "-abs(v - x)", "-2*abs(v - x)"),
    ("choices", "Exp(eps/2", "Exp(eps"),
    ("choices", "v in {0..2} : -abs(v - x)", "v in {0..1} : -abs(v - x)"),
    ("choices", "if c then", "if c or x = 1 then"),
    ("retries", "n = 3 then n <- 1", "n = 3 then n <- 0"),
    ("retries", "true : 1/(1 + exp(eps)), false : exp(eps)/(1 + exp(eps))", "true : 1/2, false : 1/2"),
    ("retries", "while go do", "for i in 1..3 do"),
    ("integers", "r >= s", "r > s"),
    ("integers", "DLap(eps/2, b)", "DLap(eps, b)"),
    ("sums", "s/2 -", "s/3 -"),
    ("sums", "- t >=", "+ t >="),
    ("sums", ">= 1/3", ">= 0"),
    ("greatest", "r > best then best <- r; y <- i", "r > best then y <- i"),
    ("greatest", "for i in 2..3", "for i in 2..2"),
]


@cache
def honest(source: str, name: str) -> str:
    rows = [row | {"beta": "9/10"} for row in VICTIMS[name][1]]
    return samples.checked(source, rows, eps="[1/2, 2]")


def document(name: str) -> Document:
    return samples.document(honest(VICTIMS[name][0], name))


def put(data: Document, text: str) -> None:
    data["program"] |= {"text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}


def is_not_proved(data: Document) -> bool:
    try:
        accepted = check_text(samples.resealed(data))
    except (Rejected, Unreadable):
        return True
    return not accepted.complete and bool(accepted.trusted) and accepted.trusted[0] in next(accepted.lines())


@pytest.mark.parametrize("name", VICTIMS)
def test_the_honest_ones_are_proved(name: str) -> None:
    assert check_text(samples.resealed(document(name))).complete


@pytest.mark.parametrize(("name", "old", "new"), SWAPS)
def test_the_certificate_of_another_program(name: str, old: str, new: str) -> None:
    text = VICTIMS[name][0]
    assert text.count(old) == 1
    forged = samples.document(honest(text.replace(old, new), name))
    assert check_text(samples.resealed(forged)).complete
    put(forged, text)
    assert is_not_proved(forged)


# --- one document against itself --------------------------------------------------------------------


def exchanged(*names: str) -> Callable[[Document], None]:
    """Exchange the values of rows 1 and 2 under these names."""

    def change(data: Document) -> None:
        first, second = data["rows"][:2]
        for name in names:
            first[name], second[name] = second[name], first[name]

    return change


def more_than_one(value: list[list[Any]]) -> Callable[[Document], None]:
    """Set the first probability to this value, for which its obligation plainly holds."""

    def change(data: Document) -> None:
        number, obligation = data["rows"][0]["probability"], data["rows"][0]["obligation"]
        data["probabilities"][number] = {"value": value}
        data["obligations"][obligation] = {
            "probability": number,
            "beta": data["rows"][0]["beta"],
            "verdict": "accurate",
            "reason": "it is plain",
        }

    return change


def without_text(data: Document) -> None:
    del data["program"]["text"]


def another_constant(data: Document) -> None:
    data["program"]["constants"]["T"] = "5"


def wider(data: Document) -> None:
    data["claim"]["eps"] = ["(0, inf)"]


CHANGES = {
    "inputs exchanged": exchanged("input"),
    "outputs exchanged": exchanged("output"),
    "probabilities exchanged": exchanged("probability", "obligation"),
    "Pr = 7": more_than_one([[0, "0", "7"]]),
    "Pr = 1": more_than_one([[0, "0", "1"]]),
    "Pr = 1 + e^-eps": more_than_one([[0, "0", "1"], [0, "-1", "1"]]),
    "Pr = -1": more_than_one([[0, "0", "-1"]]),
    "no text": without_text,
    "another constant": another_constant,
    "other eps": wider,
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_document_that_contradicts_its_program(name: str) -> None:
    data = document("threshold")
    CHANGES[name](data)
    assert is_not_proved(data)


# --- every real input --------------------------------------------------------------------------------


@cache
def of_every_input(source: str) -> str:
    return certify(dipc.check(dipc.load(source), inputs="all", keep_proofs=True), "test")


def _required(data: Document) -> Document:
    return next(entry["required"] for entry in data["cases"][0]["classes"] if "required" in entry)


def a_slack_dropped(data: Document) -> None:
    _required(data)["slacks"].pop()


def a_negative_weight(data: Document) -> None:
    weights = _required(data)["slacks"][0]["weights"]
    weights[0][1] = str(-Fraction(weights[0][1]))


def a_greater_constant(data: Document) -> None:
    slack = _required(data)["slacks"][0]
    slack["constant"] = str(Fraction(slack["constant"]) + 1)


def another_kind(data: Document) -> None:
    # To the first class there is one comparison: it is the other answers' as well.
    data["cases"][0]["classes"][-1]["required"]["kind"] = "others"


def a_greater_probability(data: Document) -> None:
    data["probabilities"][0]["value"] = [[0, "0", "1"]]


def a_half_space_further_away(data: Document) -> None:
    half = next(entry for entry in data["cases"][0]["classes"] if "required" in entry)["halfspaces"][0]
    half["step"] = str(Fraction(half["step"]) + 1)


def a_class_dropped(data: Document) -> None:
    data["cases"][0]["classes"].pop()


def another_text(data: Document) -> None:
    put(data, NUMERIC_SPARSE)


def another_hash(data: Document) -> None:
    data["program"]["text"] = NUMERIC_SPARSE


OF_EVERY_INPUT = [
    a_slack_dropped,
    a_negative_weight,
    a_greater_constant,
    another_kind,
    a_greater_probability,
    a_half_space_further_away,
    a_class_dropped,
    another_text,
    another_hash,
]


@pytest.mark.parametrize("change", OF_EVERY_INPUT, ids=lambda change: change.__name__)
def test_a_changed_certificate_of_every_input(change: Callable[[Document], None]) -> None:
    data = samples.document(of_every_input(SPARSE))
    change(data)
    assert is_not_proved(data)

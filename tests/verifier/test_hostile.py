"""Files that are not certificates, and certificates made to stall or crash their reader."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dipc.verifier import command
from dipc.verifier.command import read_certificate
from dipc.verifier.document import check_text as verify
from dipc.verifier.document import digest
from dipc.verifier.reading import Budget, Exhausted, Rejected, Unreadable, decimal_integer
from tests.patience import at_most
from tests.verifier import samples

Document = dict[str, Any]

#: What these tests permit: a small part of what is permitted by default, so that they are fast.
STEPS = 500_000

#: Calls of functions that no hostile certificate may take then.
PATIENCE = 10_000_000


def sample() -> Document:
    return samples.document(samples.certain(("(exp(-eps)*(1 + eps) - 1/2)^2*3 + 1/10^4",)))


def refused(text: str) -> str:
    """The reason why the text is not accepted, which must be found quickly."""
    with pytest.raises((Rejected, Unreadable, Exhausted)) as caught, at_most(PATIENCE):
        verify(text, Budget(STEPS))
    message = str(caught.value)
    assert len(message) < 500
    return message


def rejected(document: Document) -> str:
    return refused(samples.resealed(document, answers=False))


def part(document: Document) -> Document:
    (found,) = document["obligations"][0]["parts"]
    assert isinstance(found, dict)
    return found


def factor(document: Document) -> Document:
    """The last factor of the first cell."""
    found = part(document)["cells"][0][0]["factors"][-1]
    assert isinstance(found, dict)
    return found


def piece(document: Document, method: str) -> Document:
    return next(found for found in factor(document)["evidence"] if found["method"] == method)


# --- not a certificate -----------------------------------------------------------------------------

UNREADABLE = {
    "nothing": ("", "it is not JSON"),
    "no JSON": ("{schema: 1}", "it is not JSON: Expecting property name"),
    "a list": ("[]", "it has no `schema`"),
    "null": ("null", "it has no `schema`"),
    "a refutation is a document about one pair": ('{"schema": "dipc.check/1"}', "its schema is `dipc.check/1`"),
    "another version": ('{"schema": "dipc.certificate/9"}', "this checker reads `dipc.certificate/4`"),
    "a schema that is a number": ('{"schema": 1}', "it has no `schema`"),
    "a float": ('{"schema": "dipc.certificate/4", "verdict": 0.5}', "`0.5` is not exact"),
    "not a number": ('{"schema": "dipc.certificate/4", "verdict": NaN}', "`NaN` is not exact"),
    "infinite": ('{"schema": "dipc.certificate/4", "verdict": -Infinity}', "`-Infinity` is not exact"),
    "1e999999999": ('{"schema": "dipc.certificate/4", "verdict": 1e999999999}', "`1e999999999` is not exact"),
    "a long integer": ('{"schema": ' + "9" * 5000 + "}", "an integer has more than 15 digits"),
    "a name twice": ('{"schema": "x", "schema": "dipc.certificate/4"}', "the name `schema` is given twice"),
    "a deep list": ("[" * 200_000, "nested too deeply"),
    "deep objects": ('{"a":' * 200_000, "nested too deeply"),
    "deep and closed": ('{"schema":' + "[" * 50_000 + "]" * 50_000 + "}", "nested too deeply"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_certificate_is_said_to_be_none(name: str) -> None:
    text, why = UNREADABLE[name]
    with pytest.raises(Unreadable) as caught:
        verify(text)
    assert why in str(caught.value)


@pytest.mark.parametrize("share", [1, 10, 50, 90, 99])
def test_truncated(share: int) -> None:
    text = samples.sparse()
    with pytest.raises(Unreadable, match="it is not JSON"):
        verify(text[: len(text) * share // 100])


def test_not_utf8(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_bytes(b'{"schema": "\xff"}')
    with pytest.raises(Unreadable, match="it is not UTF-8, at byte 12"):
        read_certificate(file)


def test_the_module_refuses_with_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "certificate.json"
    file.write_text("[" * 200_000, encoding="utf-8")
    assert command.main([str(file)]) == command.UNREADABLE
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"{file} cannot be read: it is nested too deeply\n"


# --- well formed, but hostile ----------------------------------------------------------------------


def set_power(document: Document) -> None:
    factor(document)["function"][0][0] = 10**4


def long_coefficient(document: Document) -> None:
    factor(document)["function"][0][2] = "9" * 1_000_000


def long_rational(document: Document) -> None:
    factor(document)["function"][0][1] = "1/" + "7" * 50_000


def long_exponent(document: Document) -> None:
    part(document)["functions"][0][0][1] = "9" * 190_000


def huge_multiplicity(document: Document) -> None:
    factor(document)["multiplicity"] = 10**13


def large_multiplicity(document: Document) -> None:
    factor(document)["multiplicity"] = 9_999


def many_factors(document: Document) -> None:
    cell = part(document)["cells"][0][0]
    cell["factors"] = cell["factors"][-1:] * 5_000


def huge_degree(document: Document) -> None:
    factor(document)["function"].append([10_000, str(-(10**12)), "1"])


def huge_order(document: Document) -> None:
    piece(document, "zero")["order"] = 19_999


def huge_precision(document: Document) -> None:
    for found in factor(document)["evidence"]:
        if "bits" in found:
            found["bits"] = 100_000


def million_pieces(document: Document) -> None:
    piece(document, "zero")["to"] = "1"
    factor(document)["evidence"][1:] = [
        {"method": "value", "to": f"{n + 1}/1000000", "sign": 1, "bits": 20} for n in range(1_000_000, 1_010_000)
    ]


def wide_piece(document: Document) -> None:
    factor(document)["evidence"][1:] = [{"method": "value", "to": "1" + "0" * 50, "sign": 1, "bits": 0}]


def tiny_radius(document: Document) -> None:
    piece(document, "zero")["to"] = "1/" + "1" + "0" * 100_000


def tiny_bound(document: Document) -> None:
    tiny = {"method": "zero", "sign": 1, "to": "1/" + "1" + "0" * 50_000, "order": 0}
    factor(document)["evidence"] = [tiny, {"method": "infinity", "sign": 1}]


def many_terms(document: Document) -> None:
    document["probabilities"] = [{"value": [[k, "0", "1"] for k in range(1_000)]}] * 30
    document["betas"] = [{"min": [[[k, "1/3", "1"] for k in range(1_000)]]}] * 30
    parts = [{"functions": [[]], "cells": [[{"argument": 0, "to": "inf", "factors": None}]]}]
    document["obligations"] = [{"probability": n, "beta": n, "verdict": "accurate", "parts": parts} for n in range(30)]


def large_products(document: Document) -> None:
    below = [[k, "0", "1"] for k in range(10_000)]
    document["positive"] = [{"function": below, "proof": "coefficients"}]
    quotient = {"numerator": [[0, "1", "1"]], "denominator": below}
    document["probabilities"][0]["value"] = quotient
    part(document)["functions"] = [quotient]


def endless_beta(document: Document) -> None:
    document["rows"][0]["own"] = {"beta": "((((((1+eps)^1000)^1000)^1000)^1000)^1000)^1000"}


def deep_beta(document: Document) -> None:
    document["rows"][0]["own"] = {"beta": "(" * 9_000 + "1" + ")" * 9_000}


def minus_beta(document: Document) -> None:
    document["rows"][0]["own"] = {"beta": "-" * 19_000 + "1"}


def power_tower(document: Document) -> None:
    document["rows"][0]["own"] = {"beta": "1e999^1000"}


def division_by_zero(document: Document) -> None:
    document["rows"][0]["own"] = {"beta": "1/(eps-eps)"}


def far_counterexample(document: Document) -> None:
    entry = document["obligations"][0]
    entry["verdict"] = "inaccurate"
    del entry["parts"]
    entry["counterexample"] = {"argument": 0, "eps": "9" * 50_000}


def many_intervals(document: Document) -> None:
    document["claim"]["eps"] = ["(0, inf)"] * 10_001


HOSTILE: list[tuple[Callable[[Document], None], str]] = [
    (set_power, "obligation 0, argument 0, interval (0, inf), cell 1, factor"),
    (long_coefficient, "a number has 1000000 digits"),
    (long_rational, "obligation 0"),
    (long_exponent, "obligation 0"),
    (huge_multiplicity, "multiplicity: an integer from 0 to 10000 is expected"),
    (large_multiplicity, "steps that are permitted"),
    (many_factors, "obligation 0"),
    (huge_degree, "obligation 0"),
    (huge_order, "piece 1"),
    (million_pieces, "obligation 0, argument 0, interval (0, inf), cell 1, factor"),
    (wide_piece, "piece 2: "),
    (tiny_radius, "piece 1"),
    (tiny_bound, "obligation 0"),
    (many_terms, "is not Pr + beta - 1"),
    (large_products, "obligation 0"),
    (endless_beta, "row 1, beta: "),
    (deep_beta, "it is nested more than 60 levels deep"),
    (minus_beta, "row 1: its beta differs from the claim"),
    (power_tower, "row 1, beta: "),
    (division_by_zero, "row 1, beta: an expression divides by 0"),
    (far_counterexample, "obligation 0, counterexample"),
    (many_intervals, "claim: it has 10001 items, more than 10000"),
]


@pytest.mark.parametrize(("change", "why"), HOSTILE, ids=[change.__name__ for change, _ in HOSTILE])
def test_hostile_certificates_are_rejected_in_time(change: Callable[[Document], None], why: str) -> None:
    document = sample()
    change(document)
    assert why in rejected(document)


def test_a_high_precision_that_is_not_needed_ends() -> None:
    document = sample()
    huge_precision(document)
    assert "steps that are permitted" in rejected(document)


@pytest.mark.parametrize("name", sorted(set(samples.document(samples.certain(("0",)))) - {"schema"}))
@pytest.mark.parametrize("value", [None, True, 1, "x", [], {}, [[]], [{}], [None], {"x": 1}], ids=repr)
def test_every_part_of_another_type(name: str, value: object) -> None:
    document = sample()
    if name == "tool" and isinstance(value, str):
        return
    if name == "positive" and value == []:  # it has no denominators
        return
    if name == "answers" and isinstance(value, dict):  # nothing is asked
        return
    document[name] = value
    rejected(document)


@pytest.mark.parametrize("name", [*samples.document(samples.certain(("0",)))])
def test_every_part_left_out(name: str) -> None:
    document = sample()
    del document[name]
    refused(samples.resealed(document))


def test_names_that_are_not_known_are_refused() -> None:
    assert "`more` is not known here" in rejected(sample() | {"more": 1})


def test_long_numbers_whatever_the_interpreter_allows() -> None:
    digits = "123456789" * 2000
    before = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(640)
        found = decimal_integer(digits)
    finally:
        sys.set_int_max_str_digits(before)
    assert found == sum(123456789 * 10 ** (9 * n) for n in range(2000))


def test_the_budget_is_that_given() -> None:
    with pytest.raises(Exhausted, match="more than the 100 steps that are permitted"):
        verify(samples.sparse(), Budget(100))


def test_the_digest_does_not_depend_on_the_order_of_names() -> None:
    document = sample()
    backwards = dict(reversed(list(document.items())))
    assert digest(document) == digest(backwards)
    verify(json.dumps(backwards | {"digest": digest(document)}, indent=2))

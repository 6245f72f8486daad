"""Certificates that enclose a least number, `dipc.certificate.least/1`: two about the same question, one of which
proves the claim with a greater number, while the other refutes it with a smaller one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dipc.verifier.claims import Interval
from dipc.verifier.inputs import varying_constants
from dipc.verifier.reading import items, rational, record, text
from dipc.verifier.rejection import Rejected

SCHEMA = "dipc.certificate.least/1"

#: What is asked for: the factor of beta, a part of a claim about accuracy, or the budget of one about privacy.
_SOUGHT = ("factor", "gamma", "eps", "budget")

#: The parts of a row that say which it is; the others follow from the claim.
_OF_A_ROW = ("input", "output", "own", "dd")

_STEP = "the least number"


def check_bracket(data: Mapping[str, Any], proved: Mapping[str, Any] | None, refuted: Mapping[str, Any] | None) -> str:
    """What follows, in words, from documents that prove and refute: that they are about the same program, inputs and
    claim, but for the number sought, and that this is greater in the one that proves. Raises Rejected."""
    sought = text(data["sought"], _STEP)
    if sought not in _SOUGHT:
        raise Rejected(_STEP, f"`{sought[:40]}` is none that is sought")
    ends = items(data["enclosed"], _STEP, 2)
    if len(ends) != 2:
        raise Rejected(_STEP, "it is enclosed by two numbers")
    low, high = (None if end is None else rational(end, _STEP) for end in ends)
    if (low is None) != (refuted is None) or (high is None) != (proved is None):
        raise Rejected(_STEP, "a number has no document, or a document no number")
    if low is not None and high is not None and not low < high:
        raise Rejected(_STEP, "what is refuted is not less than what is proved")
    known = [(one, value) for one, value in ((proved, high), (refuted, low)) if one is not None and value is not None]
    if not known:
        raise Rejected(_STEP, "nothing is proved, and nothing refuted")
    left_open = _left_open(proved)
    about = [_about(one, "beta" if sought == "factor" else sought, left_open) for one, _ in known]
    if any(one != about[0] for one in about):
        raise Rejected(_STEP, "the two documents are about different programs or inputs")
    for one, value in known:
        is_proof = one is proved
        verdicts = ("accurate", "private") if is_proof else ("inaccurate", "not private")
        if one["verdict"] not in verdicts:
            raise Rejected(_STEP, f"a document is {str(one['verdict'])[:40]}")
        _check_claim(sought, record_of(data["claim"]), record_of(one["claim"]), value, is_proof=is_proof)
    if sought == "budget" and proved is not None and refuted is not None:
        _check_pair(proved, refuted)
    parts = ([f"{sought} {high} suffices"] if high is not None else []) + (
        [f"{sought} {low} does not"] if low is not None else []
    )
    return ", ".join(parts)


def _left_open(proved: Mapping[str, Any] | None) -> tuple[str, Fraction] | None:
    """Of a proof of privacy for every number the parameter, and the least number; what refutes is about one of them."""
    if proved is None or "adjacent" not in proved or "numbers" not in proved:
        return None
    numbers = record(proved["numbers"], _STEP, ("parameter", "least"))
    return text(numbers["parameter"], _STEP), rational(numbers["least"], _STEP)


def _check_pair(proved: Mapping[str, Any], refuted: Mapping[str, Any]) -> None:
    """That the pair of a refutation is one that the proof is about: all that are adjacent, or those it lists."""
    if "pairs" not in proved:
        return
    pairs = items(proved["pairs"], _STEP)
    listed = {tuple(map(_key, ([proved["inputs"][at] for at in pair]))) for pair in pairs}
    (pair,) = items(refuted["pairs"], _STEP, 1)
    if tuple(map(_key, ([refuted["inputs"][at] for at in pair]))) not in listed:
        raise Rejected(_STEP, "what is refuted is at a pair that the proof is not about")


def _key(point: object) -> tuple[str, ...]:
    return tuple(text(cell, _STEP) for cell in items(point, _STEP))


def record_of(value: object) -> Mapping[str, Any]:
    """An object. Raises Rejected."""
    if not isinstance(value, dict):
        raise Rejected(_STEP, "a claim is an object")
    return value


def _about(one: Mapping[str, Any], sought: str, left_open: tuple[str, Fraction] | None) -> tuple[object, ...]:
    """What a document is about, but for its claim, and for a constant that is left open; no row has an own value of the
    part of the claim that is sought."""
    if left_open is not None:
        constants = dict(record_of(record_of(one["program"])["constants"]))
        if left_open[0] not in constants:
            raise Rejected(_STEP, "the two documents are about different programs or inputs")
        number = rational(constants.pop(left_open[0]), _STEP)
        if "numbers" not in one and number < left_open[1]:
            raise Rejected(_STEP, "what is refuted is for a number that the proof is not about")
        return {**one["program"], "constants": constants}, one["adjacent"]
    if "rows" in one:
        if any(record_of(row.get("own") or {}).get(sought) is not None for row in map(record_of, one["rows"])):
            raise Rejected(_STEP, f"rows have a {sought} of their own")
        rows = [{name: row.get(name) for name in _OF_A_ROW} for row in map(record_of, items(one["rows"], _STEP))]
        return one["program"], one["table"], rows
    if "numbers" in one:
        numbers = one["numbers"]
        about = None if numbers is None else [record_of(numbers)[key] for key in ("parameter", "least")]
        return one["program"], about, [sorted(names) for _, names in varying_constants(one)]
    # A refutation of privacy needs one of the pairs only.
    return one["program"], one["adjacent"]


def _check_claim(
    sought: str, asked: Mapping[str, Any], claim: Mapping[str, Any], value: Fraction, *, is_proof: bool
) -> None:
    """That the claim of a document is the one asked about, with this number for what is sought."""
    names = ("budget", "delta", "eps") if sought == "budget" else ("alpha", "beta", "gamma", "eps")
    record(asked, _STEP, names)
    if set(claim) != set(names):
        raise Rejected(_STEP, "a document has another kind of claim")
    for name in names:
        if name == sought or (name == "beta" and sought == "factor"):
            continue
        if claim[name] != asked[name]:
            raise Rejected(_STEP, f"{name} is another in a document")
    match sought:
        case "factor":
            beta = text(asked["beta"], _STEP)
            one_term = _is_one_term(beta)
            if claim["beta"] != f"{value}*({beta})" and not (one_term and claim["beta"] == f"{value}*{beta}"):
                raise Rejected(_STEP, "beta of a document is not that of the claim times the factor")
        case "gamma" | "budget":
            if asked[sought] is not None or claim[sought] is None or rational(claim[sought], _STEP) != value:
                raise Rejected(_STEP, f"{sought} of a document is another number")
        case _:
            _check_eps(asked["eps"], claim["eps"], value, is_proof=is_proof)


def _is_one_term(beta: str) -> bool:
    """Whether it is a factor without parentheses around it, too: no sum, but for what is in some. Raises Rejected where
    parentheses around it would not be around all of it."""
    depth, one_term = 0, True
    leading = True
    for sign in beta:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            raise Rejected(_STEP, "beta is no expression")
        one_term &= bool(depth) or leading or sign not in "+-"
        leading &= sign in " -"
    if depth:
        raise Rejected(_STEP, "beta is no expression")
    return one_term


def _check_eps(asked: object, stated: object, value: Fraction, *, is_proof: bool) -> None:
    """A proof is about all eps asked about from the value on, a refutation about this eps alone."""
    whole, found = ([Interval.read(item, _STEP) for item in items(given, _STEP, 1_000)] for given in (asked, stated))
    wanted = from_there_on(whole, value) if is_proof else [Interval(value, value, lower_closed=True, upper_closed=True)]
    if found != wanted or not (is_proof or any(value in interval for interval in whole)):
        raise Rejected(_STEP, "a document is about other eps")


def from_there_on(intervals: Sequence[Interval], start: Fraction) -> list[Interval]:
    """The part of the intervals from the start on, which is included where it is in one of them."""
    found = []
    for interval in intervals:
        if interval.upper is not None and (
            interval.upper < start or (interval.upper == start and not interval.upper_closed)
        ):
            continue
        if interval.lower >= start:
            found.append(interval)
        else:
            found.append(Interval(start, interval.upper, lower_closed=True, upper_closed=interval.upper_closed))
    return found

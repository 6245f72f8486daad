"""The tightest constants of `dipc tighten` as JSON, schema `dipc.tighten/1`, and as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dipc.algebra.decimals import exact_text
from dipc.sources.every_input.class_result import ClassResult
from dipc.sources.outcome import RowResult
from dipc.sources.report import warnings_json
from dipc.sources.source import Variable

if TYPE_CHECKING:
    from dipc.inverse.tighten import Tightest, TightSpot

SCHEMA = "dipc.tighten/1"


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a family: the constants that were given for it, and what was found."""

    constants: Mapping[str, Fraction]
    found: Tightest


def render_json(members: Sequence[Member], program: str) -> str:
    """The JSON object, schema `dipc.tighten/1`, in ASCII."""
    result = {"schema": SCHEMA, "program": program, "members": [as_json(member) for member in members]}
    return json.dumps(result, indent=1) + "\n"


def as_json(member: Member) -> dict[str, Any]:
    """One member. Numbers are texts; a pair [low, high] encloses a number, which it is where both are the same."""
    found = member.found
    return {
        "constants": {name: str(value) for name, value in member.constants.items()},
        "eps": found.eps,
        "factor": ["inf", "inf"] if found.factor is None else _pair(found.factor),
        "kappa": _kappa_word(found),
        "attained": found.attained,
        "complete": found.complete,
        "places": [_place_json(found, place) for place in found.places],
        "equal": "proved" if found.proved else f"to {found.digits} digits",
        "rows": found.claims.cases,
        "vacuous": found.claims.vacuous,
        "says_something": {variable: says.as_json() for variable, says in found.sayings.items()},
        "undecided": [{"rows": list(unknown.rows), "reason": unknown.reason} for unknown in found.unknown],
        **_upper_json(found),
        **warnings_json(found.warnings),
    }


def _upper_json(found: Tightest) -> dict[str, Any]:
    """What is known of the factor from above, where that is more than from below."""
    if not found.upper_places:
        return {}
    at_most = None if found.unknown else ["inf", "inf"] if found.upper is None else _pair(found.upper)
    return {"at_most": at_most, "bounds": [_place_json(found, place) for place in found.upper_places]}


def _kappa_word(found: Tightest) -> str | None:
    """`6`, `0` where beta itself fails, `inf` where every κ holds, None where it is not known."""
    if not found.complete:
        return None
    return "inf" if found.kappa is None else str(found.kappa)


def _place_json(found: Tightest, place: TightSpot) -> dict[str, Any]:
    claimed = place.claimed
    return {
        "rows": list(claimed.rows),
        **case_json(found.claims.shown(claimed.rows[0])),
        "beta": str(claimed.beta),
        "probability": str(claimed.bound),
        "eps": _eps_words(place),
        "attained": place.attained,
        **({} if claimed.variable is Variable.EPS else {"variable": str(claimed.variable)}),
        **({} if claimed.exact else {"exact": False}),
    }


def case_json(row: RowResult) -> dict[str, Any]:
    """What a row or class is about, as in the JSON of `dipc check`."""
    found: dict[str, Any] = {
        "input": dict(row.input),
        "output": dict(row.output),
        "alpha": row.alpha,
        "gamma": row.gamma,
    }
    if isinstance(row, ClassResult) and row.note is not None:
        found["where"] = list(row.note.where)
    return found


def _eps_words(place: TightSpot) -> list[str] | str:
    if place.everywhere:
        return "all"
    return ["inf", "inf"] if place.eps is None else _pair(place.eps)


def _pair(cell: tuple[Fraction, Fraction]) -> list[str]:
    low, high = cell
    return [str(low), str(high)] if low == high else [exact_text(low), exact_text(high)]


def render_csv(members: Sequence[Member]) -> str:
    """One line for each member: its constants, the enclosure of the factor, κ, and the first place that needs it."""
    names = list(members[0].constants)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    bounded = any(member.found.upper_places for member in members)
    above = ["at_most"] if bounded else []
    writer.writerow(
        [*names, "factor_low", "factor_high", "kappa", "complete", "row", "eps_low", "eps_high", "attained", *above]
    )
    for member in members:
        found = member.found
        factor = ["inf", "inf"] if found.factor is None else _pair(found.factor)
        place = found.places[0] if found.places else None
        eps = ["", ""] if place is None else _eps_words(place)
        writer.writerow(
            [
                *(str(member.constants[name]) for name in names),
                *factor,
                _kappa_word(found) or "",
                _truth(found.complete),
                place.claimed.rows[0] if place else "",
                *(["all", "all"] if isinstance(eps, str) else eps),
                _truth(place.attained) if place else "",
                *([_at_most_word(found)] if bounded else []),
            ]
        )
    return stream.getvalue()


def _at_most_word(found: Tightest) -> str:
    """The upper end of the factor; empty where that is not known."""
    if not found.upper_places:
        return _pair(found.factor)[1] if found.complete and found.factor is not None else ""
    at_most = _upper_json(found)["at_most"]
    return "" if at_most is None else str(at_most[1])


def _truth(value: bool) -> str:
    return "true" if value else "false"

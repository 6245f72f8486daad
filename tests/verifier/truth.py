"""Whether the statements of a certificate are true, judged by the engine and ball arithmetic, not by the checker."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import dipc
from dipc.algebra.exppoly import Closed, ExpPoly, Quotient
from dipc.claims.claim import ClaimOptions, resolve_claim, resolve_intervals
from dipc.claims.table import read_table
from dipc.sign.chart import decide_nonnegative, isolate_roots, sign_at, sign_chart
from dipc.sign.interval import Interval
from dipc.sign.roots import refine
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse_interval
from tests.sign.oracle import terms_value

#: What a certificate says of the program, of the table and of itself, and what it is about: whether that is so is for
#: `tests/verifier/test_theorem.py`.
UNCHECKED = ("tool", "program", "table")
UNCHECKED_OF_ROWS = ("input", "output", "dd", "reason", "own")


def untruths(document: dict[str, Any]) -> Iterator[str]:
    """The faults of a well-formed certificate."""
    texts = [SourceText("", text) for text in document["claim"]["eps"]]
    intervals = [interval for text in texts for interval in resolve_intervals(text, parse_interval(text), {})]
    probabilities = [function(entry["value"]) for entry in document["probabilities"]]
    betas = [_arms(entry) for entry in document["betas"]]
    yield from _positive(document)
    yield from _obligations(document, probabilities, betas, intervals)
    yield from _rows(document, probabilities, betas)


def ring(terms: list[list[Any]]) -> ExpPoly:
    return ExpPoly.from_terms((k, Fraction(q), Fraction(c)) for k, q, c in terms)


def function(data: Any) -> Closed:
    """The function; if its denominator may be negative, both parts are multiplied by it."""
    if isinstance(data, dict):
        below = ring(data["denominator"])
        return Quotient(ring(data["numerator"]) * below, below * below)
    return ring(data)


def _positive(document: dict[str, Any]) -> Iterator[str]:
    for entry in document["positive"]:
        below = ring(entry["function"])
        if entry["proof"] is not None and (isolate_roots(below, Interval.POSITIVE) or sign_at(below, Fraction(1)) < 0):
            yield f"{below} is not positive"


def _arms(entry: dict[str, Any]) -> list[list[Closed]]:
    """The arguments of the `min` that beta is, each with its arguments of `max`."""
    parts = entry.get("min", [[]])
    return [[function(arm) for arm in (part["max"] if "max" in (part or ()) else [part])] for part in parts]


def _obligations(
    document: dict[str, Any], probabilities: list[Closed], betas: list[list[list[Closed]]], intervals: list[Interval]
) -> Iterator[str]:
    for number, entry in enumerate(document["obligations"]):
        if "reason" in entry:
            continue  # nothing is proved, and the checker says so
        probability, arms = probabilities[entry["probability"]], betas[entry["beta"]]
        found: list[Iterator[str]] = []
        if entry["verdict"] == "accurate":
            if len(entry["parts"]) != len(arms):
                yield f"obligation {number} has another number of parts"
            found = [_part(*part, probability, intervals) for part in zip(entry["parts"], arms, strict=False)]
        else:
            example = entry["counterexample"]
            found = [_refuted(example, probability, arms[example["argument"]], intervals)]
            if entry.get("chart") is not None:
                found.append(_charts(entry["chart"], probability, arms[0][0], intervals))
        for wrong in found:
            yield from (f"obligation {number}: {each}" for each in wrong)


def _part(part: dict[str, Any], arms: list[Closed], probability: Closed, intervals: list[Interval]) -> Iterator[str]:
    for stated, arm in zip(part["functions"], arms, strict=True):
        if stated is not None and Quotient.convert(function(stated)) - (probability + arm - 1) != 0:
            yield "another function"
    for interval, cells in zip(intervals, part["cells"], strict=True):
        position: Fraction | None = interval.lower
        for cell in cells:
            slack = Quotient.convert(probability + arms[cell["argument"]] - 1)
            to = None if cell["to"] == "inf" else Fraction(cell["to"])
            within = interval if interval.is_point else Interval(position, to, position != 0, to is not None)
            if decide_nonnegative(slack.numerator, within).witness is not None:
                yield "it is negative somewhere"
            if not slack.is_zero() and not interval.is_point:
                yield from _factors(cell["factors"], part["functions"][cell["argument"]], position)
            position = to
        if position != interval.upper:
            yield "the cells end elsewhere"


def _charts(chart: dict[str, Any], probability: Closed, beta: Closed, intervals: list[Interval]) -> Iterator[str]:
    slack = Quotient.convert(probability + beta - 1)
    if Quotient.convert(function(chart["function"])) - slack != 0:
        yield "another function"
    for interval, factors in zip(intervals, chart["intervals"], strict=True):
        if factors is None or interval.is_point:
            continue
        yield from _factors(factors, chart["function"], interval.lower)
        if any(factor["evidence"] == "even" for factor in factors):
            if decide_nonnegative(slack.numerator, interval).witness is not None:
                yield "another chart"
            continue
        stated = sorted(root for factor in factors for root in _roots(factor, interval))
        found = sign_chart(slack.numerator, interval).roots
        if len(stated) != len(found):
            yield "another chart"
        for (low, high), root in zip(stated, found, strict=False):
            narrow = refine(root, Fraction(1, 10**40))
            if not (low <= narrow.lower and narrow.upper <= high):
                yield "a root is elsewhere"


def _roots(factor: dict[str, Any], interval: Interval) -> Iterator[tuple[Fraction, Fraction]]:
    """The stated places of the roots of a factor."""
    if factor["evidence"] is None:
        numbers = {k: Fraction(c) for k, _, c in factor["function"]}
        root = -numbers.get(0, Fraction(0)) / numbers[1] if len(numbers) == 2 else Fraction(0)
        if interval.lower < root and (interval.upper is None or root < interval.upper):
            yield root, root
        return
    position = interval.lower
    for piece in factor["evidence"]:
        if piece["method"] == "crossing":
            yield position, Fraction(piece["to"])
        position = Fraction(piece.get("to", 0))


def _refuted(
    found: dict[str, Any], probability: Closed, arms: list[Closed], intervals: list[Interval]
) -> Iterator[str]:
    eps = Fraction(found["eps"])
    if not any(eps in interval for interval in intervals):
        yield "eps is outside"
    for arm in arms:
        if not Quotient.convert(probability + arm - 1).enclosure(eps, 200)[1] < 0:
            yield "it does not fail there"


def _factors(factors: list[dict[str, Any]], stated: Any, lower: Fraction) -> Iterator[str]:
    whole = ExpPoly.constant(1)
    for factor in factors:
        whole = whole * ring(factor["function"]) ** factor["multiplicity"]
        if not isinstance(factor["evidence"], list):
            continue
        terms = [(k, Fraction(q), Fraction(c)) for k, q, c in factor["function"]]
        for low, high, sign, on in _signed(factor["evidence"], terms, lower):
            for n in range(8):
                eps = low + (high - low) * n / 7
                if eps and terms_value(on, eps, 400) * sign <= 0:
                    yield f"at eps = {eps} the sign is not {sign}"
    shown = Quotient.convert(function(stated))
    if not ((shown.denominator == 1 and whole == shown.numerator) or _same_up_to_unit(whole, shown)):
        yield "the factors are those of another function"


def _same_up_to_unit(whole: ExpPoly, slack: Closed) -> bool:
    """Whether `whole` is the slack times a positive function."""
    below = Quotient.convert(slack)
    rest = Quotient.convert(Fraction(1)) if below.is_zero() else below
    return all(sign_at(whole, eps) == sign_at(rest.numerator, eps) for eps in (Fraction(n, 7) for n in range(1, 40)))


_Signed = tuple[Fraction, Fraction, int, list[tuple[int, Fraction, Fraction]]]


def _signed(
    pieces: list[dict[str, Any]], terms: list[tuple[int, Fraction, Fraction]], lower: Fraction
) -> Iterator[_Signed]:
    """Intervals with a stated sign of the function, or of its slope without its greatest exponential."""
    top = max(q for _, q, _ in terms)
    slope = [
        *((k - 1, q - top, c * k) for k, q, c in terms if k),
        *((k, q - top, c * (q - top)) for k, q, c in terms if q != top),
    ]
    for piece in pieces:
        method, sign = piece["method"], piece["sign"]
        high = lower + 50 if method == "infinity" else Fraction(piece["to"])
        if method == "crossing":
            yield lower, high, -sign, slope
        else:
            yield lower, high, sign, terms
        if method == "slope":
            yield lower, high, piece["slope"], slope
        lower = high


def _rows(document: dict[str, Any], probabilities: list[Closed], betas: list[list[list[Closed]]]) -> Iterator[str]:
    """The faults of rows, compared with the claim as the engine reads it."""
    stated = document["claim"]
    constants = document["program"]["constants"]
    declared = "".join(f"const {name} = {value};" for name, value in constants.items())
    program = dipc.load(f"program p; {declared} input q : real; output a : {{0, 1}}; a <- 0;")
    verdicts = []
    for row in document["rows"]:
        cells = {"q": 0, "a": 0, **row.get("own", {})}
        if "dd" in row:
            cells["dd"] = row["dd"]
        table = read_table([cells], program.core)
        # An expression that is no row's is not claimed, and the checker does not show it.
        used = {
            name for name in ("alpha", "beta", "gamma") if any(name not in r.get("own", {}) for r in document["rows"])
        }
        options = {name: stated[name] if name in used else None for name in ("alpha", "beta", "gamma")}
        terms = resolve_claim(program.core, table, ClaimOptions(**options, eps=stated["eps"][0])).terms(table.rows[0])
        if (terms.alpha_text, Fraction(terms.gamma.text)) != (row["alpha"], Fraction(row["gamma"])):
            yield f"row {row['row']} has another alpha or gamma"
        if terms.vacuous != row.get("vacuous", False):
            yield f"row {row['row']}: vacuous or not"
        for eps in (Fraction(1, 9), Fraction(3, 2), Fraction(11)):
            least = min(max(Quotient.convert(arm).enclosure(eps, 60) for arm in part) for part in betas[row["beta"]])
            claimed = terms.beta.enclosure(eps, 60)
            if not (least[0] <= claimed[1] and claimed[0] <= least[1]):
                yield f"row {row['row']} has another beta"
        verdicts.append(row["verdict"])
        if row["obligation"] is not None:
            entry = document["obligations"][row["obligation"]]
            own = row["probability"] is not None and entry["probability"] == row["probability"]
            # What holds of the probability 0 holds of every other.
            nothing = probabilities[entry["probability"]] == 0 and row["verdict"] == "accurate"
            if not own and not nothing:
                yield f"row {row['row']}: another probability"
            if (entry["beta"], entry["verdict"]) != (row["beta"], row["verdict"]):
                yield f"row {row['row']}: another obligation"
        elif not terms.vacuous and row["verdict"] != "undecided":
            yield f"row {row['row']} without an obligation"
    worst = next((verdict for verdict in ("inaccurate", "undecided") if verdict in verdicts), "accurate")
    if document["verdict"] != worst:
        yield "another verdict"

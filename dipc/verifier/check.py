"""The whole certificate: every step re-derived, or the first that is wrong named."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dipc.verifier.alignment import SCHEMA as ALIGNED
from dipc.verifier.alignment import STEPS as SHIFTS
from dipc.verifier.alignment import least_budget
from dipc.verifier.budget import Budget
from dipc.verifier.claims import MOST_INTERVALS, Claim, Interval, Least, the_one_eps
from dipc.verifier.decision import Context, Decided, Positive, check_obligation
from dipc.verifier.derivation import Derivation, check_derivation
from dipc.verifier.inputs import SCHEMA as INPUTS
from dipc.verifier.inputs import check_inputs
from dipc.verifier.least import SCHEMA as LEAST
from dipc.verifier.least import check_bracket
from dipc.verifier.loop_shifts import SCHEMA as EVERY_NUMBER
from dipc.verifier.loop_shifts import require_private
from dipc.verifier.outcome import Accepted
from dipc.verifier.privacy import SCHEMA as PRIVACY
from dipc.verifier.privacy import WITH_DELTA, PrivacyClaim, check_privacy, claim_text
from dipc.verifier.reading import items, natural, optional_text, parse, rational, record, text
from dipc.verifier.rejection import NotDerived, Rejected, Unreadable
from dipc.verifier.ring import ONE, Closed, read_closed
from dipc.verifier.rows import Rows
from dipc.verifier.syntax import Program, Variables
from dipc.verifier.theorem import STEPS, Theorem, check_range, program_of

SCHEMA = "dipc.certificate/2"

#: The schema before, in which the exits of the program were stated and not derived.
OLD = "dipc.certificate/1"

_SHARED = (
    "schema",
    "tool",
    "program",
    "claim",
    "verdict",
    "obligations",
    "betas",
    "probabilities",
    "positive",
    "digest",
)

_ENDS = ("proved", "refuted")

_OF_PAIRS = ("adjacent", "inputs", "outputs", "laws", "pairs", "couples", "refuted")

#: What documents of each schema are made of.
_PARTS = {
    SCHEMA: (*_SHARED, "table", "rows"),
    OLD: (*_SHARED, "table", "rows", "derivation"),
    INPUTS: (*_SHARED, "numbers", "cases", "measures"),
    PRIVACY: (*_SHARED, *_OF_PAIRS),
    WITH_DELTA: (*_SHARED, *_OF_PAIRS, "excess", "sets"),
    ALIGNED: ("schema", "tool", "program", "claim", "adjacent", "verdict", "digest"),
    EVERY_NUMBER: ("schema", "tool", "program", "claim", "adjacent", "numbers", "verdict", "digest"),
    LEAST: ("schema", "tool", "sought", "claim", "enclosed", "proved", "refuted", "digest"),
}

_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)

#: What constants of a program are called; the others have a meaning of their own in a claim or a table.
_NAME = re.compile(r"[A-Za-z_Α-ΡΣ-Ωα-δζ-ω][A-Za-z0-9_Α-ΡΣ-Ωα-δζ-ω]*")
_COLUMNS = ("alpha", "beta", "gamma", "dd")
_RESERVED = frozenset((*_COLUMNS, "α", "β", "γ", "eps", "exp", "min", "max", "abs", "inf"))

#: Only a document about the rows of a table has one.
_NO_TABLE: Mapping[str, Any] = {"name": "", "sha256": None, "rows": 0, "inputs": [], "outputs": []}

#: What a certificate of the old schema leaves open.
EXITS = "the exits of the program, which this old certificate states"

#: What a program with an `ideal` says itself, and was not derived.
DISTANCE = "the answers and dd of {count} of {rows} rows, which were not found to be those of the `ideal`: {reason}"

#: The theorem is about what stands in the certificate; that this is yours shows only when it is compared.
WORDS = {
    "program": "that its program is yours (`--program` does)",
    "rows": "that its rows are those of your table (`--table` does)",
}

#: What a certificate of privacy is about is in it, and nowhere else.
INPUTS_MEANT = "that its inputs are all those that you mean"


@dataclass(frozen=True)
class Document:
    """A certificate as it was read, its digest compared, nothing else believed. `proved` and `refuted` are the two that
    one about a least number is made of; it has the program and the table of these."""

    data: Mapping[str, Any]
    program: Mapping[str, Any]
    table: Mapping[str, Any]
    constants: dict[str, Fraction]
    size: int
    proved: Document | None = None
    refuted: Document | None = None

    @property
    def parts(self) -> tuple[Document, ...]:
        """The documents that it is made of, itself where it is one."""
        return tuple(part for part in (self.proved, self.refuted) if part is not None) or (self,)

    @property
    def old(self) -> bool:
        """Whether it is of the schema before."""
        return bool(self.data["schema"] == OLD)


def read_document(source: str) -> Document:
    """Raises Unreadable for what is no certificate of this version, Rejected for one that was corrupted."""
    return _document(parse(source), len(source))


def _document(data: object, size: int, *, whole: bool = True) -> Document:
    """One that is a `whole`, or a part of another."""
    if not isinstance(data, dict) or not isinstance(data.get("schema"), str):
        raise Unreadable("it is no certificate of dipc: there is no `schema`")
    if data["schema"] not in _PARTS or (data["schema"] == LEAST and not whole):
        known = " and ".join(f"`{schema}`" for schema in _PARTS)
        raise Unreadable(f"its schema is `{data['schema'][:60]}`, and this checker reads {known}")
    record(data, "certificate", _PARTS[data["schema"]])
    stated = data["digest"]
    rest = {name: value for name, value in data.items() if name != "digest"}
    try:
        found = digest(rest)
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    if stated != found:
        raise Rejected("digest", "the certificate was changed after it was written: its digest is another")
    text(data["tool"], "tool")
    if data["schema"] == LEAST:
        parts = [None if data[name] is None else _document(data[name], size, whole=False) for name in _ENDS]
        first = next((part for part in parts if part is not None), None)
        if first is None:
            raise Rejected("certificate", "nothing is proved, and nothing refuted")
        return Document(data, first.program, first.table, first.constants, size, *parts)
    dd = ("dd",) if data["schema"] == SCHEMA else ()
    source_text = () if data["schema"] == OLD else ("text",)
    program = record(data["program"], "program", ("name", "sha256", "constants", *source_text), ("only_at",))
    table = _NO_TABLE
    if "table" in _PARTS[data["schema"]]:
        table = record(data["table"], "table", ("name", "sha256", "rows", "inputs", "outputs", *dd))
        if dd and table["dd"] not in ("given", "ideal"):
            raise Rejected("table", "dd is either `given` or from the `ideal`")
    for entry, step in ((program, "program"), (table, "table")):
        text(entry["name"], step)
        if entry["sha256"] is not None and not _HASH.fullmatch(text(entry["sha256"], step)):
            raise Rejected(step, "`sha256` is not 64 hexadecimal digits")
    for side in ("inputs", "outputs"):
        for name in items(table[side], f"table, {side}"):
            text(name, f"table, {side}")
    raw = program["constants"]
    if not isinstance(raw, dict):
        raise Rejected("program", "`constants` is not an object")
    constants = {name: rational(value, f"program, constant {name[:40]}") for name, value in raw.items()}
    for name in constants:
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise Rejected("program", f"`{name[:40]}` is no name of a constant")
    columns = [*table["inputs"], *table["outputs"], *_COLUMNS]
    if len(set(columns)) < len(columns):
        raise Rejected("table", "two of its columns have one name")
    return Document(data, program, table, constants, size)


def digest(rest: Mapping[str, Any]) -> str:
    """SHA-256 of the JSON text without blanks, in ASCII, every object's names in order."""
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def check_document(document: Document, budget: Budget, facts: Mapping[str, str] | None = None) -> Accepted:
    """Every step derived again; raises Rejected naming the first that is wrong. `facts` says what was compared before:
    the `program`, its `constants`, the `rows`."""
    facts = facts or {}
    data = document.data
    if data["schema"] == LEAST:
        return _check_least(document, budget, facts)
    if data["schema"] in (ALIGNED, EVERY_NUMBER):
        return _check_aligned(document, budget, facts)
    if data["schema"] == INPUTS:
        return _check_inputs(document, budget, facts)
    if data["schema"] in (PRIVACY, WITH_DELTA):
        return _check_privacy(document, budget, facts)
    # Reading numbers takes about in proportion to the text.
    budget.spend(document.size // 8, "certificate")
    claim = Claim.read(data["claim"], document.constants)
    positive = Positive(data["positive"], budget, claim.intervals)
    probabilities = [
        _probability(item, f"probability {number}", positive)
        for number, item in enumerate(items(data["probabilities"], "probabilities"))
    ]
    derivation = check_derivation(data["derivation"], budget) if document.old else None
    for number, probability in enumerate(probabilities) if document.old else ():
        check_range(probability, budget, f"probability {number}")
    theorem = None if document.old else _theorem(document, _only_at(document, claim.intervals))
    betas = [_beta(item, f"beta {number}", positive) for number, item in enumerate(items(data["betas"], "betas"))]
    derived = () if derivation is None else derivation.probabilities
    context = Context(probabilities, betas, claim.intervals, positive, derived)
    decided: list[Decided] = [
        check_obligation(item, context, budget, f"obligation {number}")
        for number, item in enumerate(items(data["obligations"], "obligations"))
    ]
    columns = len(document.table["inputs"]), len(document.table["outputs"])
    rows = Rows(claim, context, decided, *columns, theorem, document.table.get("dd") == "ideal")
    found = rows.check(data["rows"], budget)
    if natural(document.table["rows"], "table, rows") != found.counts["rows"]:
        raise Rejected("rows", f"there are {found.counts['rows']} of them, not {document.table['rows']}")
    if data["verdict"] != found.verdict:
        raise Rejected("verdict", f"the rows give {found.verdict}")
    return Accepted(
        program=document.program["name"],
        constants=tuple((name, str(document.program["constants"][name])) for name in document.constants),
        verdict=found.verdict,
        counts=found.counts,
        obligations=len(decided),
        derived_obligations=sum(entry.open is None for entry in decided),
        charted=sum(entry.charted for entry in decided),
        claim=_claim_text(data["claim"], found.own, found.counts["rows"]),
        open_rows=found.open_rows,
        trusted=(
            *_trusted(derivation, theorem, compared="dd" in facts),
            *(f"{what} (rows: {count})" for what, count in sorted(rows.ranged.items())),
        ),
        compared=tuple(words for name, words in WORDS.items() if name not in facts),
        facts=tuple(dict.fromkeys(facts.values())),
        derived=_count_of(theorem) if theorem is not None else derivation.summary if derivation is not None else None,
    )


def _check_inputs(document: Document, budget: Budget, facts: Mapping[str, str]) -> Accepted:
    """The same for a document about every real input."""
    data = document.data
    budget.spend(document.size // 8, "certificate")
    program = document.program
    source = text(program["text"], "program")
    at = _only_at(document, Claim.read(data["claim"], document.constants).intervals)
    tree, _ = program_of(source, program["sha256"], program["name"], document.constants, at, Budget(STEPS))
    positive = Positive(data["positive"], budget)
    betas = [_beta(item, f"beta {number}", positive) for number, item in enumerate(items(data["betas"], "betas"))]
    found = check_inputs(data, tree, document.constants, betas, positive, budget)
    if data["verdict"] != found.verdict:
        raise Rejected("verdict", f"the classes give {found.verdict}")
    numbers = data["numbers"]
    every = "" if numbers is None else f", for every {numbers['parameter']} >= {numbers['least']}"
    return Accepted(
        program=document.program["name"],
        constants=tuple(
            (name, str(value)) for name, value in program["constants"].items() if name not in found.varying
        ),
        verdict=found.verdict,
        counts=found.counts,
        obligations=len(found.obligations),
        derived_obligations=sum(entry.open is None for entry in found.obligations),
        charted=sum(entry.charted for entry in found.obligations),
        claim=f"{_claim_text(data['claim'], {}, 1)}; every {_kinds(tree)} input{every}",
        open_rows=found.open_classes,
        trusted=found.trusted,
        compared=() if "program" in facts else (WORDS["program"],),
        facts=tuple(dict.fromkeys(facts.values())),
        derived=found.derived,
        what="class",
    )


def _check_privacy(document: Document, budget: Budget, facts: Mapping[str, str]) -> Accepted:
    """The same for a document about the privacy of pairs of inputs."""
    data, program = document.data, document.program
    budget.spend(document.size // 8, "certificate")
    stated = record(data["claim"], "claim", ("budget", "delta", "eps"))
    intervals = tuple(Interval.read(item, "claim") for item in items(stated["eps"], "claim", MOST_INTERVALS))
    if not intervals:
        raise Rejected("claim", "it is about no eps")
    source = text(program["text"], "program")
    at = _only_at(document, intervals)
    tree, _ = program_of(source, program["sha256"], program["name"], document.constants, at, Budget(STEPS))
    try:
        # Privacy knows no distances: outputs are what they are.
        theorem = Theorem.of_tree(replace(tree, metric=(), ideal=None), document.constants, Budget(STEPS))
    except NotDerived as error:
        raise Rejected("program", error.why) from None
    positive = Positive(data["positive"], budget)
    probabilities = [
        _probability(item, f"probability {number}", positive)
        for number, item in enumerate(items(data["probabilities"], "probabilities"))
    ]
    betas = [_beta(item, f"beta {number}", positive) for number, item in enumerate(items(data["betas"], "betas"))]
    context = Context(probabilities, betas, intervals, positive, ())
    decided = [
        check_obligation(item, context, budget, f"obligation {number}")
        for number, item in enumerate(items(data["obligations"], "obligations"))
    ]
    counts, missing = check_privacy(data, theorem, context, decided, budget)
    return Accepted(
        program=program["name"],
        constants=tuple((name, str(program["constants"][name])) for name in document.constants),
        verdict=data["verdict"],
        counts=counts,
        obligations=len(decided),
        derived_obligations=sum(entry.open is None for entry in decided),
        charted=sum(entry.charted for entry in decided),
        claim=claim_text(data),
        open_rows=missing,
        trusted=_trusted(None, theorem, compared=True, what="outputs at inputs"),
        compared=(
            *(() if "program" in facts else (WORDS["program"],)),
            *(() if data["verdict"] == "not private" else (INPUTS_MEANT,)),
        ),
        facts=tuple(dict.fromkeys(facts.values())),
        derived=_count_of(theorem),
        what="pair",
    )


def _check_aligned(document: Document, budget: Budget, facts: Mapping[str, str]) -> Accepted:
    """The same for a document about the privacy of every pair of adjacent real inputs, for every number of queries or
    for one."""
    data, program = document.data, document.program
    budget.spend(document.size // 8, "certificate")
    stated = record(data["claim"], "claim", ("budget", "delta", "eps"))
    intervals = [Interval.read(item, "claim") for item in items(stated["eps"], "claim", MOST_INTERVALS)]
    if not intervals:
        raise Rejected("claim", "it is about no eps")
    claim = PrivacyClaim.read(stated)
    above, below = claim.delta
    if below != ONE or above.keys() - ONE.keys() or any(c < 0 for c in above.values()):
        raise Rejected("claim", "its delta is no number that is at least 0")
    if data["verdict"] != "private":
        raise Rejected("verdict", "what is refuted is so at a pair, and by another document")
    distance, _, radius = text(data["adjacent"], "adjacent").partition(":")
    reach = rational(radius, "adjacent")
    if distance not in ("linf", "l1", "hamming") or reach <= 0:
        raise Rejected("adjacent", "it is no distance")
    source = text(program["text"], "program")
    at = _only_at(document, intervals)
    tree, machine = program_of(source, program["sha256"], program["name"], document.constants, at, Budget(STEPS))
    numbers = _numbers(data["numbers"], document.constants) if data["schema"] == EVERY_NUMBER else None
    trusted, exits = f"that {claim.budget}*eps bounds the loss: ", 0
    found: Fraction | None
    try:
        if numbers is None:
            found, exits = least_budget(machine, distance, reach, Budget(SHIFTS))
            trusted += f"the shifts that were found cost {found}*eps"
        else:
            found = claim.budget
            exits = require_private(tree, numbers, document.constants, (distance, reach), claim.budget, Budget(SHIFTS))
    except (NotDerived, Rejected) as error:
        # It is the derivation that took too much, not the certificate.
        found = None
        trusted += error.why
    except RecursionError:
        found = None
        trusted += "it is nested too deeply"
    proved = found is not None and found <= claim.budget
    every = "" if numbers is None else f", every {numbers[0]} >= {numbers[1]}"
    return Accepted(
        program=program["name"],
        constants=tuple(
            (name, str(program["constants"][name]))
            for name in document.constants
            if numbers is None or name != numbers[0]
        ),
        verdict="private",
        counts={"rows": exits, "private": exits if proved else 0, "undecided": 0, "vacuous": 0},
        obligations=exits,
        derived_obligations=exits if proved else 0,
        charted=0,
        claim=f"budget = {claim.budget}*eps, delta = {above.get((0, Fraction(0)), 0)}, eps in "
        f"{' or '.join(stated['eps'])}; every pair of real inputs adjacent by {distance}:{reach}{every}",
        open_rows=(),
        trusted=() if proved else (trusted,),
        facts=tuple(dict.fromkeys(facts.values())),
        compared=() if "program" in facts else (WORDS["program"],),
        what="exit" if numbers is None else "way",
    )


def _numbers(value: object, constants: Mapping[str, Fraction]) -> tuple[str, int]:
    """The constant that is left open, and its least value."""
    stated = record(value, "numbers", ("parameter", "least"))
    parameter, least = text(stated["parameter"], "numbers"), rational(stated["least"], "numbers")
    if parameter not in constants or least.denominator != 1:
        raise Rejected("numbers", "its parameter is no constant of the program, or its least number no integer")
    return parameter, int(least)


def _check_least(document: Document, budget: Budget, facts: Mapping[str, str]) -> Accepted:
    """Both documents, and what follows from them together."""
    found = [check_document(part, budget, facts) for part in document.parts]
    data = {
        name: None if part is None else part.data
        for name, part in zip(_ENDS, (document.proved, document.refuted), strict=True)
    }
    verdict = check_bracket(document.data, data["proved"], data["refuted"])
    shared = {name for name, _ in found[0].constants}
    return replace(
        found[0],
        verdict=verdict,
        obligations=sum(one.obligations for one in found),
        derived_obligations=sum(one.derived_obligations for one in found),
        charted=sum(one.charted for one in found),
        claim="; ".join(
            ", ".join([one.claim, *(f"{name} = {value}" for name, value in one.constants if name not in shared)])
            for one in found
        ),
        open_rows=tuple(row for one in found for row in one.open_rows),
        trusted=tuple(dict.fromkeys(words for one in found for words in one.trusted)),
        derived="; ".join(one.derived for one in found if one.derived is not None) or None,
    )


def check_text(source: str, budget: Budget | None = None) -> Accepted:
    """Check the text of a certificate. Raises Rejected, naming the step, or Unreadable."""
    try:
        return check_document(read_document(source), budget or Budget())
    except RecursionError:
        raise Rejected("certificate", "it is nested too deeply") from None


def _probability(item: object, step: str, positive: Positive) -> Closed:
    value = read_closed(record(item, step, ("value",))["value"], step)
    positive.open(value[1], step)
    return value


def _beta(item: object, step: str, positive: Positive) -> Least | None:
    entry = record(item, step, (), ("value", "min", "reason"))
    optional_text(entry.get("reason"), step)
    if ("value" in entry) == ("min" in entry):
        raise Rejected(step, "it has either a `value` or is the `min` of some")
    if "value" in entry and entry["value"] is None:
        return None
    parts = [entry["value"]] if "value" in entry else items(entry["min"], step, 1_000)
    values = tuple(tuple(read_closed(arm, step) for arm in _arms(part, step)) for part in parts)
    if not values or not all(values):
        raise Rejected(step, "it is the `min` or the `max` of nothing")
    for part in values:
        for value in part:
            positive.open(value[1], step)
    return values


def _arms(part: object, step: str) -> Sequence[object]:
    """Of what an argument of a `min` is the greatest."""
    if isinstance(part, dict) and "max" in part:
        return items(record(part, step, ("max",))["max"], step, 1_000)
    return [part]


def _only_at(document: Document, intervals: Sequence[Interval]) -> Fraction | None:
    """The eps that the program is read at, which must then be the one that is claimed about."""
    if "only_at" not in document.program:
        return None
    found = rational(document.program["only_at"], "program, only_at")
    if found != the_one_eps(intervals):
        raise Rejected("program", f"it is read at eps = {found}, and the claim is about others")
    return found


def _theorem(document: Document, at: Fraction | None) -> Theorem:
    program = document.program
    columns = document.table["inputs"], document.table["outputs"]
    return Theorem.of(
        text(program["text"], "program"), program["sha256"], program["name"], document.constants, columns, at
    )


def _count_of(theorem: Theorem) -> str:
    return (
        f"{theorem.derived} of {theorem.derived + theorem.reasons.total()} probabilities, from the text of the program"
    )


def _kinds(tree: Program) -> str:
    """The types of the inputs that are not finite."""
    found = [item.type for item in tree.declarations if isinstance(item, Variables) and item.role == "input"]
    return " and ".join(kind for kind in ("real", "int") if kind in found)


def _trusted(
    derivation: Derivation | None, theorem: Theorem | None, *, compared: bool, what: str = "rows"
) -> tuple[str, ...]:
    """What was taken on trust; dd is what it is where the table that it was `compared` with gives it. `what` has the
    probabilities."""
    found: list[str] = []
    if derivation is not None:
        found.append(EXITS)
        steps = derivation.measures + derivation.chains + len(derivation.probabilities)
        for reason, count in sorted(derivation.reasons.items()):
            found.append(f"{count} of the {steps} measures, chains of choices and sums of the derivation: {reason}")
    if theorem is not None:
        for reason, count in sorted(theorem.reasons.items()):
            rows = theorem.derived + theorem.reasons.total()
            found.append(f"the probabilities of {count} of {rows} {what}, which were not derived: {reason}")
        for reason, count in () if compared else sorted(theorem.distances.items()):
            rows = theorem.measured + theorem.distances.total()
            found.append(DISTANCE.format(count=count, rows=rows, reason=reason))
    return tuple(found)


def _claim_text(claim: Mapping[str, Any], own: Mapping[str, int], rows: int) -> str:
    """What is claimed of the rows: an expression that is none of theirs was not looked at."""
    used = [name for name in ("alpha", "beta", "gamma") if not rows or own.get(name) != rows]
    parts = [f"{name} = {claim[name]}" for name in used if claim[name] is not None]
    stated = ", ".join([*parts, f"eps in {' or '.join(claim['eps'])}"])
    others = [f"{count} with {name}" for name, count in own.items() if count]
    return f"{stated}; rows have their own: {', '.join(others)}" if others else stated

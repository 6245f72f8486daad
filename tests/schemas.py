"""The JSON Schemas of answers, generated from the fields of the records and the types of their attributes.

`python -m tests.schemas` compares the packaged schemas with the generated ones; with `--write` it writes them. The
schemas of certificates and benchmarks are written by hand.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from functools import cache
from importlib import import_module
from inspect import get_annotations
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from dipc.algebra.record import _WORD, Record
from dipc.auditing import Audit
from dipc.decide.obligation import EpsSpan, Verdict
from dipc.decide.scope import ClaimScope
from dipc.execution import Runs
from dipc.inverse.question import AlphaSolution, BetaSolution, EpsSolution, GammaSolution, Status
from dipc.inverse.solve import Intervals
from dipc.inverse.solve_constant import ConstantSolution
from dipc.inverse.tune import Tuned
from dipc.outcome.program import Outcomes
from dipc.outcome.tighten import Member
from dipc.questions.expected_error import ErrorReport, ErrorRow
from dipc.questions.privacy.constant import Constant
from dipc.questions.privacy.laws import LeastDelta
from dipc.questions.privacy.loss import Divergences, Loss, Renyi, Rho
from dipc.questions.privacy.outcome import PrivacyReport
from dipc.questions.privacy.profile import BudgetAt, LossDistribution, Profile
from dipc.questions.report import Report
from dipc.simulation.compare import ComparedTally
from dipc.simulation.conform import Conformance
from dipc.suite.claims import _CLAIM, ClaimResult, SuiteResult

SCHEMAS = Path(__file__).resolve().parents[1] / "dipc" / "schemas"

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
ENDS: Schema = {"type": "array", "items": TEXT, "minItems": 2, "maxItems": 2}
TEXTS: Schema = {"type": "object", "additionalProperties": {"type": ["null", "string"]}}

DESCRIPTION = (
    "Numbers that are exact are strings: rationals such as `1/3`, decimals that end in their last proved digit, closed "
    "forms that `sympy.sympify` reads. New keys may be added; those here keep their meaning."
)

SOLUTIONS = (EpsSolution, GammaSolution, AlphaSolution, BetaSolution, ConstantSolution)

#: For each schema the records that are such answers.
ANSWERS: dict[str, tuple[type, ...]] = {
    "audit": (Audit,),
    "check": (Report,),
    "conform": (Conformance,),
    "error": (ErrorReport,),
    "interval": (Intervals,),
    "privacy": (PrivacyReport, Constant, Loss, LeastDelta, Renyi, Divergences, Rho, BudgetAt, Profile),
    "prob": (Outcomes,),
    "simulate": (ComparedTally,),
    "solve": SOLUTIONS,
    "tune": (Tuned,),
}

TITLES = {
    "audit": "The answer of `dipc audit --format json`: a lower bound of the loss, from samples, against the claimed "
    "and the exact one",
    "check": "The answer of `dipc check --format json`: a claim about accuracy, decided row by row",
    "check-directory": "The answer of `dipc check DIRECTORY --format json`: each program of the directory with the "
    "claim that it makes",
    "conform": "The answer of `dipc conform --format json`: observed outputs against exact probabilities",
    "error": "The answer of `dipc error --format json`: expected errors",
    "interval": "The answer of `dipc interval --format json`: how far the exact answer may be from a release",
    "privacy": "The answer of `dipc privacy --format json`",
    "prob": "The answer of `dipc prob --format json`: exact probabilities of outputs",
    "run": "The answer of `dipc run --format json`: runs with exact noise",
    "simulate": "The answer of `dipc simulate --format json`: counts against exact probabilities",
    "solve": "The answer of `dipc solve --format json`: the least eps, alpha, beta, gamma or constant",
    "test": "The answer of `dipc test --format json`: claims with expected verdicts",
    "tighten": "The answer of `dipc tighten --format json`: the least factor of beta",
    "tune": "The answer of `dipc tune --format json`: the constants that make a program best",
}


def written(fields: Mapping[str, Schema], optional: str = "", *, null: bool = False) -> Schema:
    """The schema of an object with these keys, all of which but the `optional` ones are required."""
    required = [name for name in fields if name not in optional.split()]
    return {"type": ["null", "object"] if null else "object", "properties": dict(fields), "required": required}


def elements(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


#: What names of modules stand for if they are imported for the type checker alone.
_LITERAL = {"Literal": Literal, "Union": Union}


OPEN_TEXT, COUNT, TRUTH, NUMBER = ({"type": each} for each in (["null", "string"], "integer", "boolean", "number"))
OPEN_ENDS = {**ENDS, "type": ["array", "null"]}
OPEN_TRUTH = {"type": ["boolean", "null"]}

#: What attributes are whose types do not say it.
WRITTEN: dict[tuple[type, str], Schema] = {
    (Outcomes, "outputs"): elements(written({"output": TEXTS, "probability": TEXT, "at": OPEN_ENDS}, "at")),
    (ComparedTally, "outputs"): elements(
        written(
            {
                "output": TEXTS,
                "count": COUNT,
                "estimate": NUMBER,
                "interval": {**ENDS, "items": NUMBER},
                "probability": OPEN_TEXT,
                "at": OPEN_ENDS,
                "ok": OPEN_TRUTH,
            }
        )
    ),
    (Member, "places"): elements(
        written(
            {
                "rows": elements(COUNT),
                "input": TEXTS,
                "output": TEXTS,
                "alpha": TEXT,
                "gamma": TEXT,
                "where": elements(TEXT),
                "beta": TEXT,
                "probability": TEXT,
                "eps": {**ENDS, "type": ["array", "string"]},
                "attained": TRUTH,
                "variable": TEXT,
                "exact": TRUTH,
            },
            "where variable exact",
        )
    ),
    (Member, "upper"): written({"at_most": OPEN_ENDS, "bounds": {"type": "array"}}, "at_most bounds", null=True),
    (ErrorRow, "counterexample"): written({"eps": TEXT, "error": ENDS, "allowed": ENDS}, null=True),
    (Intervals, "intervals"): {
        "type": "object",
        "propertyNames": {"enum": ["both", "lower", "upper"]},
        "additionalProperties": written(
            {
                "status": {"enum": [str(each) for each in Status]},
                "least": OPEN_ENDS,
                "exact": TRUTH,
                "gamma*eps": ENDS,
                "remark": OPEN_TEXT,
            },
            "gamma*eps",
        ),
    },
    (LeastDelta, "value_at"): written({"eps": TEXT, "value": ENDS, "delta": OPEN_TEXT}, null=True),
    (BudgetAt, "theorem_budgets"): written(
        {"basic": NUMBER, "advanced": {"type": ["null", "number"]}}, "basic advanced", null=True
    ),
    (LossDistribution, "keywords"): {
        "type": "object",
        "required": ["loss_probs", "discretization", "infinity_mass", "pessimistic_estimate"],
    },
    (Audit, "verdict"): {"enum": ["exceeds", "within"]},
    (Conformance, "verdict"): {"enum": ["conforms", "deviates", "undecided"]},
}


@cache
def names_of(module: str) -> dict[str, Any]:
    """The names of a module, with those that it imports for the type checker alone."""
    names = {**_LITERAL, **vars(import_module(module))}
    for node in ast.walk(ast.parse(Path(sys.modules[module].__file__ or "").read_text(encoding="utf-8"))):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            for each in node.body:
                if isinstance(each, ast.ImportFrom) and each.module is not None:
                    for alias in each.names:
                        found = import_module(each.module)
                        value = getattr(found, alias.name, None)
                        value = import_module(f"{each.module}.{alias.name}") if value is None else value
                        names.setdefault(alias.asname or alias.name, value)
    return names


def type_of(record: type, name: str) -> Any:
    """The type of the attribute `name` of a record: that of a field, or the result of a property."""
    for owner in record.__mro__:
        names = names_of(owner.__module__)
        if name in (annotations := get_annotations(owner)):
            return evaluated(annotations[name], names)
        member = owner.__dict__.get(name)
        getter = getattr(member, "fget", None) or getattr(member, "func", None)
        if getter is not None and "return" in getter.__annotations__:
            return evaluated(getter.__annotations__["return"], names_of(getter.__module__))
        if isinstance(member, str):
            return str
    raise AttributeError(f"{record.__name__} has no type for `{name}`")


def evaluated(annotation: Any, names: dict[str, Any]) -> Any:
    while isinstance(annotation, str):
        annotation = eval(annotation, names)
    return annotation


def type_at(record: Any, path: str) -> Any:
    """The type of the attribute at a `path` such as "one.two"; it may be None if the first attribute may be None."""
    first, _, rest = path.partition(".")
    found = type_of(record, first)
    if not rest:
        return found
    kinds = [each for each in alternatives(found) if each is not NoneType]
    inner = [type_at(kind, rest) for kind in kinds]
    return Union[tuple(inner + [NoneType] * (len(kinds) < len(alternatives(found))))]  # noqa: UP007 - of a list


def alternatives(kind: Any) -> list[Any]:
    return list(get_args(kind)) if get_origin(kind) in (Union, UnionType) else [kind]


def merged(schemas: Iterable[Schema]) -> Schema:
    """The schema of a value that is of one of these."""
    found: list[Schema] = []
    for schema in schemas:
        for each in schema.get("anyOf", [schema]):
            if each not in found:
                found.append(each)
    if all(set(each) == {"enum"} or each == {"type": "null"} for each in found):
        return {"enum": list(dict.fromkeys(value for each in found for value in each.get("enum", [None])))}
    plain = [each for each in found if set(each) == {"type"}]
    if len(found) == 1 or not all(found):
        return found[0] if len(found) == 1 else {}
    if len(plain) == len(found):
        return {"type": sorted({name for each in found for name in listed(each["type"])})}
    nulls = [each for each in found if each == {"type": "null"}]
    others = [each for each in found if each != {"type": "null"}]
    if nulls and len(others) == 1 and "type" in others[0]:
        return {**others[0], "type": sorted({*listed(others[0]["type"]), "null"})}
    objects = [each for each in others if each.get("type") == "object" and "properties" in each]
    if len(objects) > 1:
        rest = [each for each in found if each not in objects]
        return merged([object_of_all(objects), *rest])
    return {"anyOf": found}


def listed(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names


def object_of_all(objects: Sequence[Schema]) -> Schema:
    """The schema of objects of several kinds: all of their properties, and the required ones that they share."""
    names = list(dict.fromkeys(name for each in objects for name in each["properties"]))
    properties = {
        name: merged(each["properties"][name] for each in objects if name in each["properties"]) for name in names
    }
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in names if all(name in each["required"] for each in objects)],
    }


def of_type(kind: Any) -> Schema:
    """The schema of the JSON values of a type, as records write them."""
    if len(kinds := alternatives(kind)) > 1:
        return merged(of_type(each) for each in kinds)
    origin, arguments = get_origin(kind), get_args(kind)
    plain = {NoneType: "null", bool: "boolean", int: "integer", float: "number", str: "string"}
    if kind in plain:
        return {"type": plain[kind]}
    if kind is ClaimScope:
        return {"type": ["array", "null"], "items": of_type(EpsSpan)}
    if kind is Any or kind is object:
        return {}
    if kind is Verdict or (isinstance(kind, type) and issubclass(kind, Enum)):
        return {"enum": [str(each) for each in kind]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": of_type(arguments[1])}
    if origin is tuple and len(arguments) == 2 and arguments[0] is Fraction:
        return ENDS
    if origin is tuple and arguments[-1] is not ...:
        return {"type": "array", "items": merged(map(of_type, arguments))}
    if isinstance(origin, type) and issubclass(origin, Sequence | frozenset | set):
        return {"type": "array", "items": of_type(arguments[0])}
    if isinstance(kind, type) and hasattr(kind, "FIELDS"):
        return of_record(kind)
    return TEXT


def as_text(known: Schema) -> Schema:
    """The schema of a value all of whose numbers are written as texts."""
    match known:
        case {"anyOf": several}:
            return merged(map(as_text, several))
        case {"additionalProperties": inner}:
            return {**known, "additionalProperties": as_text(inner)}
        case {"items": inner}:
            return {**known, "items": as_text(inner)}
        case {"type": names} if "null" in listed(names):
            return {"type": ["null", "string"]}
    return TEXT


#: The schemas of the conversions that change types.
CONVERTED: dict[str, Callable[[Schema], Schema]] = {
    "ends": lambda known: merged([ENDS, TEXT]) if known != ENDS and "string" in str(known.get("type")) else ENDS,
    "cell": lambda _: ENDS,
    "shortened": lambda _: ENDS,
    "digits": lambda _: {**ENDS, "type": ["array", "null"]},
    "text": as_text,
    "nonempty": lambda known: merged([as_text(known), {"type": "null"}]),
    "limit": lambda _: TEXT,
    "decimal": lambda _: {"type": ["null", "string"]},
}


@cache
def of_record(record: type) -> Schema:
    """The schema of the JSON object of a record, or of a kind of it."""
    fields = record.FIELDS.replace("*details", getattr(record, "DETAILS", ""))  # type: ignore[attr-defined]
    kinds = [each for each in record.__subclasses__() if vars(each).get("FIELDS") and issubclass(record, Record)]
    own = of_fields(record, fields)
    if not kinds:
        return own
    more = object_of_all([own, *map(of_record, kinds)])
    return {**more, "required": own["required"]}


def of_fields(record: Any, fields: str) -> Schema:
    """The schema of the JSON object of a record with these fields, as in `Record`."""
    stack: list[tuple[str, str | None, str, Schema, Any]] = []
    record_here, here = record, empty()
    for word in re.findall(r"[^\s()]*\(|[^\s()]+|\)", fields):
        if word == ")":
            key, path, absent, outer, record_outer = stack.pop()
            place(outer, record_outer, here, (key, path, absent))
            here, record_here = outer, record_outer
            continue
        match = _WORD.fullmatch(word)
        assert match is not None
        star, key, path, conversion, absent, group = match.groups()
        if group:
            stack.append((key, path, absent, here, record_here))
            here = empty()
            if path is not None:
                record_here = element(type_at(record_here, path))
        elif star:
            add(here, of_attribute(record_here, path or key))
        else:
            known = of_attribute(record_here, path or key)
            known = CONVERTED[conversion](known) if conversion else known
            here["properties"][key] = without_null(known) if absent == "?" else known
            here["required"] += [] if absent else [key]
    return here


def of_attribute(record: type, path: str) -> Schema:
    known = WRITTEN.get((record, path))
    return of_type(type_at(record, path)) if known is None else known


def empty() -> Schema:
    return {"type": "object", "properties": {}, "required": []}


def place(outer: Schema, record: Any, inner: Schema, named: tuple[str, str | None, str]) -> None:
    """Add the object `inner` to `outer`, or its properties if it has no name."""
    key, path, absent = named
    if not key:
        outer["properties"] |= inner["properties"]
        return
    known = inner
    if path is not None:
        shapes = []
        for kind in alternatives(type_at(record, path)):
            several = isinstance(get_origin(kind), type) and issubclass(get_origin(kind), Sequence)
            shapes.append(
                {"type": "null"} if kind is NoneType else {"type": "array", "items": inner} if several else inner
            )
        known = merged(shapes)
    outer["properties"][key] = without_null(known) if absent == "?" else known
    outer["required"] += [] if absent else [key]


def element(kind: Any) -> Any:
    """The record in a type: itself, or the elements of a sequence."""
    kind = next(each for each in alternatives(kind) if each is not NoneType)
    return get_args(kind)[0] if get_args(kind) else kind


def add(outer: Schema, inner: Schema) -> None:
    outer["properties"] |= inner.get("properties", {})
    outer["required"] += [] if "null" in listed(inner.get("type", "null")) else inner.get("required", [])


def without_null(known: Schema) -> Schema:
    match known:
        case {"type": [*names]}:
            rest = [name for name in names if name != "null"]
            return {**known, "type": rest[0] if len(rest) == 1 else rest}
        case {"enum": values}:
            return {"enum": [value for value in values if value is not None]}
        case {"anyOf": several}:
            return merged(each for each in several if each != {"type": "null"})
    return known


def document(name: str, title: str, body: Schema) -> Schema:
    """The schema of a whole answer of this name."""
    properties = {**body["properties"], "schema": {"const": f"dipc.{name}/1"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dipc.{name}:1",
        "title": title,
        "description": DESCRIPTION,
        "type": "object",
        "properties": {"schema": properties.pop("schema"), **properties},
        "required": list(dict.fromkeys(["schema", *body["required"]])),
    }


def generated() -> dict[str, Schema]:
    """The schemas of all answers, by name."""
    bodies = {name: object_of_all([of_record(record) for record in records]) for name, records in ANSWERS.items()}
    runs = of_fields(Runs, "program=program.name constants=program.constants input:text eps grid seed")
    runs["properties"] |= {"runs": elements(written({"output": TEXTS})), "random_bits": COUNT}
    bodies["run"] = {**runs, "required": [*runs["properties"]]}
    bodies["tighten"] = written({"program": TEXT, "members": elements(of_record(Member))})
    counts = {"type": "object", "additionalProperties": COUNT}
    claims = elements(of_fields(ClaimResult, _CLAIM))
    results = {"enum": [str(each) for each in SuiteResult]}
    bodies["test"] = written({"verdict": results, "counts": counts, "claims": claims})
    programs = elements(of_fields(ClaimResult, "program=claim.program verdict line"))
    verdicts = {"enum": ["accurate", "inaccurate", "undecided", "error"]}
    bodies["check-directory"] = written({"verdict": verdicts, "programs": programs})
    return {name: document(name, title, bodies[name]) for name, title in TITLES.items()}


def packaged(name: str) -> Path:
    return SCHEMAS / f"{name}-1.json"


def text_of(schema: Schema) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Compare, or write with `--write`; return the number of schemas that differ."""
    different = [name for name, each in generated().items() if packaged(name).read_text("utf-8") != text_of(each)]
    if "--write" in arguments:
        for name in different:
            packaged(name).write_text(text_of(generated()[name]), encoding="utf-8")
    print(f"{len(different)} of {len(generated())} schemas differ: {', '.join(different)}")
    return 0 if "--write" in arguments else len(different)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

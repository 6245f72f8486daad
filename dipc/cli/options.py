"""Options and arguments that several commands share: their definitions, and the objects that their values become."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, TypeVar, assert_never

import click

from dipc.algebra.limits import LIMIT_NAMES, Limits
from dipc.algebra.numbers import NotExact, parse_rational
from dipc.claims.claim import GivenEps
from dipc.claims.given import Specification
from dipc.cli.output import Output, check_table, later
from dipc.cli.terminal import ProgressBar
from dipc.decide.engine import Engine
from dipc.options import Options
from dipc.outcome.words import UserQuestion
from dipc.program.program import Program, as_program, load_source, source_at
from dipc.text.ast import BaseType, Element, Item, Name, Values
from dipc.text.core import DomType, Slot, Value, show_value
from dipc.text.declarations import BadValue, NumberReader
from dipc.text.diagnostic import Diagnostic, DiagnosticError, SourceText, Span, bad_input, did_you_mean, listing
from dipc.text.parser import parse_items, parse_lower_bound
from dipc.text.program import CoreProgram

_T = TypeVar("_T")


def parse_definitions(definitions: Iterable[str]) -> dict[str, Fraction]:
    """Parse the exact constants of `definitions`, each `name=value`. Raises DiagnosticError for other strings."""
    note = "write an exact number such as 4, -1, 1/3 or 0.25"
    return read_definitions(definitions, lambda given, tree: given.number(tree), note)


def read_definitions(
    definitions: Iterable[str], read: Callable[[NumberReader, Values], _T], note: str
) -> dict[str, _T]:
    """Parse each of `definitions`, `name=value`, and apply `read` to its value.

    `read` raises BadValue for a value that it does not accept; `note` then says what to write. Raises DiagnosticError
    with all mistakes.
    """
    result: dict[str, _T] = {}
    mistakes: list[Diagnostic] = []
    for text in definitions:
        source = SourceText("<-D>", text)
        try:
            items = parse_items(source)
        except DiagnosticError as error:
            mistakes += error.diagnostics
            continue
        if not items:
            form = "write a name and a number, such as -D m=4"
            place = source.excerpt(Span(0, len(text)))
            mistakes.append(Diagnostic("E0805", "no constant is defined here", place, notes=(form,)))
        reader = NumberReader(source, {}, example=note)
        for item in items:
            try:
                name = _new_name(item, result)
                result[name] = read(reader, item.values)
            except BadValue as bad:
                mistakes.append(bad.located("E0805", source))
    if mistakes:
        raise DiagnosticError(*mistakes)
    return result


def _new_name(item: Item, known: Container[str]) -> str:
    """Return the name of the constant that `item` defines; raise BadValue for an array element or a name in `known`."""
    target = item.target
    if isinstance(target, Element):
        raise BadValue(target.span, "a constant cannot have several elements", "write for example -D m=4")
    if target.name in known:
        raise BadValue(target.span, f"`{target.name}` is defined twice", "give each constant once")
    return target.name


def positive_option(option: str, text: str) -> Fraction:
    """Parse `text`, the exact value of `option`, which must be positive. Raises DiagnosticError for other strings."""
    return _exact_option(option, text, "is not positive", lambda value: value > 0)


def gamma_of_outputs(text: str | None, outputs: tuple[str, ...]) -> Fraction:
    """Return the value of the option `--gamma`, which belongs to `--output`, from its `text`; 0 if that is None.

    If `text` is given, raises DiagnosticError for a negative value, and for empty `outputs` (the values of `--output`).
    """
    if text is None:
        return Fraction(0)
    if not outputs:
        note = '`--output "out=0" --gamma 1` asks how often `out` is within 1 of 0'
        raise bad_input("E0801", "`--gamma` without `--output`", note)
    return _exact_option("--gamma", text, "is negative", lambda value: value >= 0)


def share_option(option: str, text: str) -> Fraction:
    """Parse `text`, the exact value of `option`, a number between 0 and 1 or a percentage.

    Raises DiagnosticError for other strings.
    """
    unit, whole = ("%", 100) if text.strip().endswith("%") else ("", 1)
    reason = "does not lie between 0 and 1"
    return _exact_option(option, text, reason, lambda value: 0 < value < whole, unit) / whole


def _exact_option(option: str, text: str, reason: str, allowed: Callable[[Fraction], bool], unit: str = "") -> Fraction:
    note = "write an exact number such as 2, 1/3 or 0.25"
    try:
        value = parse_rational(text.strip().removesuffix(unit))
        if allowed(value):
            return value
    except NotExact as error:
        reason = error.reason
    place, given = SourceText(f"<{option}>", text).excerpt(Span(0, len(text))), text.strip()
    shown = given if len(given) <= 40 else f"{given[:37]}..."
    raise bad_input("E0805", f"`{shown}` {reason}", note, place=place)


def parse_limits(texts: Iterable[str]) -> Limits:
    """Return the default limits with those of `texts` replaced; raise DiagnosticError for bad names and numbers."""
    limits = Limits()
    mistakes = []
    for text in texts:
        name, _, value = (side.strip() for side in text.partition("="))
        if name not in LIMIT_NAMES:
            notes = did_you_mean(name, LIMIT_NAMES)
            notes.append("; ".join(f"{known}: {meaning}" for known, meaning in LIMIT_NAMES.items()))
            mistakes.append(_mistake(text, f"there is no limit `{name}`", *notes))
        elif not (value.isascii() and value.isdigit() and len(value) <= 18 and int(value) > 0):
            mistakes.append(
                _mistake(text, f"the limit `{name}` is a natural number", f"write for example {name}=100000")
            )
        else:
            limits = replace(limits, **{name: int(value)})
    if mistakes:
        raise DiagnosticError(*mistakes)
    return limits


def _mistake(text: str, message: str, *notes: str) -> Diagnostic:
    return Diagnostic("E0809", message, SourceText("<--limit>", text).excerpt(Span(0, len(text))), notes=notes)


# --- families of one program -----------------------------------------------------------------------


Constants = Mapping[str, Fraction]

#: The greatest number of members of a family.
MOST_MEMBERS = 10_000

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z_0-9]*)\}")


def parse_family(definitions: Iterable[str]) -> dict[str, tuple[Fraction, ...]]:
    """Parse `definitions`, the values of constants such as `m=4`, `m=1..10` or `c={1, 2, 1/2}`, in the order given.

    Raises DiagnosticError for other strings, and for more than MOST_MEMBERS members.
    """
    note = "write a number, a range of integers or a list: -D m=4, -D m=1..10 or -D c={1,2}"
    family = read_definitions(definitions, _values, note)
    members = prod(len(values) for values in family.values())
    if members > MOST_MEMBERS:
        raise bad_input("E1001", f"the family has {members} members, more than {MOST_MEMBERS}", "give smaller ranges")
    return family


def _values(reader: NumberReader, tree: Values) -> tuple[Fraction, ...]:
    result: dict[Fraction, None] = {}
    for value in reader.numbers(tree):
        result[value] = None
        if len(result) > MOST_MEMBERS:
            raise BadValue(tree.span, f"these are more than {MOST_MEMBERS} values", "give smaller ranges")
    return tuple(result)


def members(family: Mapping[str, tuple[Fraction, ...]]) -> Iterator[dict[str, Fraction]]:
    """Yield the constants of each member of `family`; the last constant varies fastest."""
    for values in product(*family.values()):
        yield dict(zip(family, values, strict=True))


def table_path(pattern: Path, constants: Constants) -> Path:
    """Return the path `pattern` with the name of a constant in braces replaced by the constant's value.

    With `constants` m = 3, the pattern `t{m}.csv` becomes `t3.csv`. A fraction p/q is written p_q. Raises
    DiagnosticError for a name that is not a constant.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in constants:
            notes = did_you_mean(name, constants, "{{{}}}")
            notes.append(f"the constants are {listing(list(constants))}" if constants else "there are no constants")
            raise bad_input("E1002", f"`{{{name}}}` in `{pattern}` is not a constant of the program", *notes)
        return str(constants[name]).replace("/", "_")

    return Path(_PLACEHOLDER.sub(value, str(pattern)))


def member_text(constants: Constants) -> str:
    """Return `constants` as text, for example `m = 3, c = 1`."""
    return ", ".join(f"{name} = {value}" for name, value in constants.items())


# --- the open constant -----------------------------------------------------------------------------


def for_all_of(definitions: tuple[str, ...], option: str | None) -> tuple[tuple[str, ...], str | None]:
    """Return `definitions` without the constant that is left open, and the text that leaves it open, or None.

    The constant is given by `option`, such as "m" or "m >= 3", or by a definition `NAME=all`. Raises DiagnosticError if
    two constants are left open.
    """
    kept: list[str] = []
    result: dict[str, str] = {}
    if option is not None:
        name, _ = parse_lower_bound(SourceText("<--for-all>", option))
        result[name] = option
    for text in definitions:
        if "all" not in text:
            kept.append(text)
            continue
        source = SourceText("<-D>", text)
        for item in parse_items(source):
            name = item.target.name
            if not (isinstance(item.values, Name) and item.values.name == "all"):
                kept.append(text[item.span.start : item.span.end])
            elif not result or name in result:
                result.setdefault(name, name)
            else:
                notes = (f"`{next(iter(result))}` is already left open: give the other one a number",)
                message = "only one constant can be left open"
                raise bad_input("E1208", message, *notes, place=source.excerpt(item.target.span))
    return tuple(kept), next(iter(result.values()), None)


# --- values of inputs and outputs ------------------------------------------------------------------


_CODE = "E0806"


def parse_input(texts: Sequence[str], program: CoreProgram, *, reals: bool = True) -> dict[str, Value]:
    """Parse `texts`, the values of the inputs of `program`; return them by name, in declaration order.

    Without `reals`, the real and int inputs may be missing. Raises DiagnosticError with all mistakes: unknown, missing
    and repeated inputs, values outside their domain, and an input that violates `requires`.
    """
    slots = program.input_slots
    asked = [slot for slot in slots if reals or not slot.is_symbolic]
    values = _assignments("input", texts, program, slots, asked)
    if program.requires is not None and len(values) == len(slots):
        program.requires.require({slot.index: values[slot.name] for slot in slots}, program.source)
    return values


def parse_output(texts: Sequence[str], program: CoreProgram) -> dict[str, Value]:
    """Parse `texts`, the values of some outputs of `program`; return them by name.

    Raises DiagnosticError with all mistakes: unknown and repeated outputs, and values outside their domain.
    """
    return _assignments("output", texts, program, program.output_slots, [])


def _assignments(
    kind: str, texts: Sequence[str], program: CoreProgram, slots: Sequence[Slot], asked: Sequence[Slot]
) -> dict[str, Value]:
    specification = Specification(program, slots, option=f"--{kind}", kind=kind, code=_CODE, single=True)
    for text in texts:
        specification.take(text)
    mistakes = specification.mistakes or [
        *_missing(f"--{kind}", texts, [slot for slot in asked if slot.name not in specification.known])
    ]
    if mistakes:
        raise DiagnosticError(*mistakes)
    return {slot.name: specification.known[slot.name][0] for slot in slots if slot.name in specification.known}


def _missing(option: str, texts: Sequence[str], missing: Sequence[Slot]) -> Iterator[Diagnostic]:
    if not missing:
        return
    source = SourceText(f"<{option}>", texts[-1] if texts else "")
    end = len(source.text)
    example = ",".join(f"{slot.name}={example_value(slot)}" for slot in missing[:3]) + (
        ",…" if len(missing) > 3 else ""
    )
    noun = "input" if len(missing) == 1 else "inputs"
    message = f"no value for the {noun} {listing(slot.name for slot in missing)}"
    note = f"add `{example}`" if texts else f"give `{option} {example}`"
    yield Diagnostic(_CODE, message, source.excerpt(Span(max(0, end - 1), end)) if texts else None, notes=(note,))


def example_value(slot: Slot) -> str:
    """Return a value of the type of `slot`, as a user types it."""
    match slot.type:
        case BaseType.BOOL:
            return "false"
        case DomType(values=values):
            return show_value(values[0])
        case BaseType.INT | BaseType.REAL:
            return "0"
    assert_never(slot.type)


_TAKEN = {field.name for field in fields(Options)}


def asked_of(given: Mapping[str, Any]) -> UserQuestion:
    """Return the question that `given`, the options of a command, asks; raise DiagnosticError for invalid options."""
    definitions, for_all = for_all_of(given.get("definitions", ()), given.get("for_all"))
    limits = given.get("limits", ())
    taken = {name: value for name, value in given.items() if name in _TAKEN}
    taken |= {"inputs": given.get("inputs") or None, "for_all": for_all, "limits": parse_limits(limits)}
    taken["keep_proofs"] = any(given.get(name) is not None for name in ("proof", "html"))
    return UserQuestion(given["program_path"], Options(**taken), given.get("table_path"), definitions, limits)


class Work:
    """The work on a question: its progress line, and its open resources, which close when the command ends."""

    def __init__(self, asked: UserQuestion, *, quiet: bool = False) -> None:
        self._asked = asked
        self.progress = ProgressBar(f"reading {asked.program_path}", silent=quiet)
        self.stack = click.get_current_context().with_resource(ExitStack())

    def program(self, constants: Mapping[str, Fraction] | None = None, eps: GivenEps = None) -> Program:
        """Return the question's program with `constants`, by default those of -D, read for `eps`.

        Raises DiagnosticError if it cannot be read.
        """
        result = parse_definitions(self._asked.definitions) if constants is None else constants
        options = self._asked.options
        source = source_at(self._asked.program_path)
        return as_program(load_source(source, result, options.eps if eps is None else eps), options.limits)

    def engine(self, program: Program) -> Engine:
        """Return the engine that decides obligations about `program`.

        Raises DiagnosticError (E13xx) for a cache file or a cluster that cannot be used.
        """
        return self._asked.options.engine(self.stack, program)


def opened(given: Mapping[str, Any], *read: Path | None) -> tuple[Output, UserQuestion, Work]:
    """Return the destination of the answer, the question about a program and its table, and the work on it.

    `given` has the options of the command. Raises DiagnosticError for invalid options, for a program in place of the
    table, and if the answer would overwrite a file that the command reads; `read` has further files that it reads.
    """
    output, asked = Output.from_options(given), asked_of(given)
    check_table(asked.table)
    output.check(asked.program_path, asked.table, *read)
    return output, asked, Work(asked, quiet=output.quiet)


def claims_tested(what: str, claims: Sequence[Any], output: Output, jobs: int | str = 1) -> list[Any]:
    """Test the `claims` of a suite in at most `jobs` processes, and return their results in order.

    `what` names the work in the progress line, unless `output` is quiet; `output` also has the path of the cache.
    """
    result = []
    with ProgressBar(what, silent=output.quiet) as progress:
        for one in later.suite.run_claims(claims, jobs=jobs, cache=output.cache):
            result.append(one)
            progress(len(result), len(claims))
    return result

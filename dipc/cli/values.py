"""The values of options: limits, families of constants, inputs and outputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import TypeVar, assert_never

from dipc.algebra.limits import LIMIT_NAMES, Limits
from dipc.algebra.numbers import NotExact, parse_rational
from dipc.chain.state import is_symbolic
from dipc.claims.given import Specification, show_value
from dipc.text.ast import Element, Item, Name, Values
from dipc.text.claims import BadValue, NumberReader
from dipc.text.core import BoolType, DomType, IntType, RealType, Slot, Value
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Source, Span, listing, nearest
from dipc.text.parser import parse_items, parse_lower_bound
from dipc.text.program import CoreProgram

_T = TypeVar("_T")


def parse_definitions(definitions: Iterable[str]) -> dict[str, Fraction]:
    """The constants of `-D name=value`, exact. Raises DiagnosticError for anything that is not such a definition."""
    note = "write an exact number such as 4, -1, 1/3 or 0.25"
    return read_definitions(definitions, lambda given, tree: given.number(tree), note)


def read_definitions(
    definitions: Iterable[str], read: Callable[[NumberReader, Values], _T], note: str
) -> dict[str, _T]:
    """What `read` makes of each value of `-D name=value`; it raises BadValue, and `note` says what to write then.

    Raises DiagnosticError with all mistakes.
    """
    result: dict[str, _T] = {}
    mistakes: list[Diagnostic] = []
    for text in definitions:
        source = Source("<-D>", text)
        try:
            items = parse_items(source)
        except DiagnosticError as error:
            mistakes += error.diagnostics
            continue
        if not items:
            form = "a definition is a name and a number, such as -D m=4"
            place = source.excerpt(Span(0, len(text)))
            mistakes.append(Diagnostic("E0805", "this is no definition", place, notes=(form,)))
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
    """The constant that is defined. Raises BadValue for an element, and for one that is known."""
    target = item.target
    if isinstance(target, Element):
        raise BadValue(target.span, "a constant has no elements", "write for example -D m=4")
    if target.name in known:
        raise BadValue(target.span, f"`{target.name}` is defined twice", "give each constant once")
    return target.name


def positive_option(option: str, text: str) -> Fraction:
    """The exact value of an option that takes a rational > 0. Raises DiagnosticError for anything else."""
    reason = "is not positive"
    note = "write an exact number such as 2, 1/3 or 0.25"
    try:
        value = parse_rational(text.strip())
        if value > 0:
            return value
    except NotExact as error:
        reason = error.reason
    place = Source(f"<{option}>", text).excerpt(Span(0, len(text)))
    raise DiagnosticError(Diagnostic("E0805", f"{_quoted(text.strip())} {reason}", place, notes=(note,)))


def _quoted(text: str) -> str:
    return f"`{text}`" if len(text) <= 40 else f"`{text[:37]}...`"


def parse_limits(texts: Iterable[str]) -> Limits:
    """The default limits with those given in their place. Raises DiagnosticError for unknown names and bad numbers."""
    limits = Limits()
    mistakes = []
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        if name not in LIMIT_NAMES:
            close = nearest(name, LIMIT_NAMES)
            notes = [f"did you mean `{close}`?"] if close else []
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
    return Diagnostic("E0809", message, Source("<--limit>", text).excerpt(Span(0, len(text))), notes=notes)


# --- families of one program -----------------------------------------------------------------------


Constants = Mapping[str, Fraction]

#: More members than this are not looked at one by one.
MOST_MEMBERS = 10_000

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z_0-9]*)\}")


def parse_family(definitions: Iterable[str]) -> dict[str, tuple[Fraction, ...]]:
    """The values of each constant of `-D m=4`, `-D m=1..10` or `-D "c={1, 2, 1/2}"`, in the order given.

    Raises DiagnosticError for what is none of these, and for more than MOST_MEMBERS members.
    """
    note = "write a number, a range of integers or a list: -D m=4, -D m=1..10 or -D c={1,2}"
    family = read_definitions(definitions, _values, note)
    members = prod(len(values) for values in family.values())
    if members > MOST_MEMBERS:
        message = f"the family has {members} members, more than {MOST_MEMBERS}"
        raise DiagnosticError(Diagnostic("E1001", message, notes=("give smaller ranges",)))
    return family


def _values(reader: NumberReader, tree: Values) -> tuple[Fraction, ...]:
    found: dict[Fraction, None] = {}
    for value in reader.numbers(tree):
        found[value] = None
        if len(found) > MOST_MEMBERS:
            raise BadValue(tree.span, f"these are more than {MOST_MEMBERS} values", "give smaller ranges")
    return tuple(found)


def members(family: Mapping[str, tuple[Fraction, ...]]) -> Iterator[dict[str, Fraction]]:
    """The constants of each member; the last constant runs fastest."""
    for values in product(*family.values()):
        yield dict(zip(family, values, strict=True))


def table_path(pattern: Path, constants: Constants) -> Path:
    """The path with `{name}` replaced by the value of the constant; a fraction p/q is written p_q.

    Raises DiagnosticError for a name that is no constant.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in constants:
            close = nearest(name, constants)
            notes = [f"did you mean `{{{close}}}`?"] if close else []
            notes.append(f"the constants are {listing(list(constants))}" if constants else "there are no constants")
            raise DiagnosticError(
                Diagnostic("E1002", f"`{{{name}}}` in `{pattern}` is no constant of the program", notes=tuple(notes))
            )
        return str(constants[name]).replace("/", "_")

    return Path(_PLACEHOLDER.sub(value, str(pattern)))


def member_text(constants: Constants) -> str:
    """`m = 3, c = 1`."""
    return ", ".join(f"{name} = {value}" for name, value in constants.items())


# --- what is left open -----------------------------------------------------------------------------


def for_all_of(definitions: tuple[str, ...], option: str | None) -> tuple[tuple[str, ...], str | None]:
    """The definitions without `NAME=all`, and what is left open; DiagnosticError for more than one constant."""
    kept: list[str] = []
    found: dict[str, str] = {}
    if option is not None:
        found[parse_lower_bound(Source("<--for-all>", option)).name] = option
    for text in definitions:
        if "all" not in text:
            kept.append(text)
            continue
        source = Source("<-D>", text)
        for item in parse_items(source):
            name = item.target.name
            if not (isinstance(item.values, Name) and item.values.name == "all"):
                kept.append(text[item.span.start : item.span.end])
            elif not found or name in found:
                found.setdefault(name, name)
            else:
                notes = (f"`{next(iter(found))}` is left open already: give the other one a number",)
                message = "one constant can be left open, not two"
                raise DiagnosticError(Diagnostic("E1208", message, source.excerpt(item.target.span), notes=notes))
    return tuple(kept), next(iter(found.values()), None)


# --- values of inputs and outputs ------------------------------------------------------------------


_CODE = "E0806"


def parse_input(texts: Sequence[str], program: CoreProgram, *, reals: bool = True) -> dict[str, Value]:
    """The value of every input of `program`, by name, in declaration order; without `reals` the real and int ones are
    not asked for.

    Raises DiagnosticError with all mistakes: unknown, missing and repeated inputs, values outside their domain.
    """
    slots = [program.slots[index] for index in program.inputs]
    asked = [slot for slot in slots if reals or not is_symbolic(slot.type)]
    return _assignments("input", texts, program, slots, asked)


def parse_output(texts: Sequence[str], program: CoreProgram) -> dict[str, Value]:
    """The values of some outputs of `program`, as in `parse_input`."""
    return _assignments("output", texts, program, [program.slots[index] for index in program.outputs], [])


def _assignments(
    kind: str, texts: Sequence[str], program: CoreProgram, slots: Sequence[Slot], asked: Sequence[Slot]
) -> dict[str, Value]:
    found = Specification(program, slots, option=f"--{kind}", kind=kind, code=_CODE, single=True)
    for text in texts:
        found.take(text)
    mistakes = found.mistakes or [
        *_missing(f"--{kind}", texts, [slot for slot in asked if slot.name not in found.known])
    ]
    if mistakes:
        raise DiagnosticError(*mistakes)
    return {slot.name: found.known[slot.name][0] for slot in slots if slot.name in found.known}


def _missing(option: str, texts: Sequence[str], missing: Sequence[Slot]) -> Iterator[Diagnostic]:
    if not missing:
        return
    source = Source(f"<{option}>", texts[-1] if texts else "")
    end = len(source.text)
    example = ",".join(f"{slot.name}={_example(slot)}" for slot in missing[:3]) + (",…" if len(missing) > 3 else "")
    noun = "input" if len(missing) == 1 else "inputs"
    message = f"no value for the {noun} {listing(slot.name for slot in missing)}"
    note = f"add `{example}`" if texts else f"give `{option} {example}`"
    yield Diagnostic(_CODE, message, source.excerpt(Span(max(0, end - 1), end)) if texts else None, notes=(note,))


def _example(slot: Slot) -> str:
    """Some value of the slot's type."""
    match slot.type:
        case BoolType():
            return "false"
        case DomType(values=values):
            return show_value(values[0])
        case IntType() | RealType():
            return "0"
    assert_never(slot.type)

"""What is read from an untrusted file, how a check can end, and how much work it may take.

A hostile certificate must not stall its reader, nor fill the memory. There is one budget for all of a run. It is
charged before the work is done, and for whatever is kept: a step is about a microsecond, or a word of memory. What
derives something the certificate does not state, such as a probability, has a part of the budget, so that the rest of
the certificate is checked where that takes too much.

JSON is read by tables, which say for each name of an object how its value is read:

    lower, signs = fields(value, {"lower": rational, "signs": listed(sign)})

Whatever is wrong is Rejected. Where, is not said by whoever finds it, but by those on the way: `in_step("row 3")`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeVar

# === how a check ends ==========================================================================


def plain(text: str) -> str:
    """The text on one line that does to a terminal what it says: what cannot be printed is written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class Ended(Exception):
    """The end of a check, or of a part of it: `why`, in half a sentence, and the `steps` in it, outermost first."""

    def __init__(self, why: str, *steps: str) -> None:
        super().__init__(why, *steps)
        self.why = plain(why)
        self.steps = list(steps)

    def __str__(self) -> str:
        return plain(": ".join(filter(None, (", ".join(self.steps), self.why))))


class Rejected(Ended):
    """A step of the certificate is wrong: it does not prove what it says."""


class WrongAnswer(Ended):
    """An answer of the certificate does not show what it says. Unlike what only ends a derivation this rejects it."""


class Exhausted(Ended):
    """Checking takes more than is permitted, so that nothing is known of the certificate."""


class Unreadable(Ended):
    """The input is not a certificate of this version; `why` is one sentence."""


class NotDerived(Ended):
    """The checker could not derive a step, though it found no fault of the certificate."""


@dataclass(frozen=True, slots=True)
class in_step:  # noqa: N801 - it is used as a word: `with in_step("row 3")`
    """Name the step in which the block rejects, or takes too much."""

    name: str

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Rejected | WrongAnswer | Exhausted):
            error.steps.insert(0, self.name)


#: What ends a derivation: it finds nothing, or takes too much. That is no fault of the certificate.
DERIVATION_ENDS = (NotDerived, Rejected, Exhausted, RecursionError, MemoryError)


def why_it_ends(error: Exception) -> str:
    """The reason, in half a sentence, for which `error` ended a derivation or a whole run."""
    match error:
        case Ended(why=why):
            return why
        case RecursionError():
            return "it is nested too deeply"
        case _:
            return "there is not enough memory for it"


@contextmanager
def must_be_derived() -> Iterator[None]:
    """Raises Rejected where something is not derived without which there is no certificate."""
    try:
        yield
    except NotDerived as error:
        raise Rejected(error.why) from None


# === budget ====================================================================================

#: Steps of about a microsecond each, for everything.
STEPS = 120_000_000

#: Bits of any number that is computed with.
BITS = 400_000

#: The part that evaluating one expression of a claim may take.
EXPRESSION = Fraction(1, 6)

#: The parts that deriving may take: of probabilities, of what the `ideal` says, and of what is said of all inputs.
PROBABILITIES = Fraction(1, 6)
DISTANCES = Fraction(1, 6)
ALL_INPUTS = Fraction(3, 5)


class Answers:
    """The answers of a certificate to questions about half-spaces (`linear.py`), by the keys of the questions."""

    def __init__(self, stated: Mapping[str, Any]) -> None:
        self.stated = stated

    def to(self, key: str, question: object) -> object:  # noqa: ARG002 - who writes a certificate looks for the answer
        """The answer as it stands there, None where there is none."""
        return self.stated.get(key)


class Budget:
    """The work that is left to a check, in steps, and the `answers` of the certificate that it may use."""

    __slots__ = ("answers", "left", "steps", "whole")

    def __init__(self, steps: int = STEPS, whole: Budget | None = None, answers: Answers | None = None) -> None:
        self.steps = steps
        self.left = steps
        self.whole = whole
        self.answers = answers or Answers({})

    def part(self, share: Fraction) -> Budget:
        """A budget of this share of the whole one; its spending counts for the whole, too."""
        whole = self if self.whole is None else self.whole
        return Budget(int(whole.steps * share), whole, self.answers)

    def spend(self, operations: int, bits: int = 0) -> None:
        """Count this many operations on numbers of this many bits; raises Exhausted past the budget."""
        if bits > BITS:
            raise Exhausted(f"it takes numbers of {bits} bits, more than {BITS}")
        # Products of long numbers cost about in proportion to the square of their length, with a small constant.
        cost = operations * (1 + bits // 256 + (bits * bits >> 22))
        self.left -= cost
        if self.whole is not None:
            # A part that refuses the work before it is done takes no more from the whole than it has.
            self.whole.left -= min(cost, self.steps)
        for one in (self.whole, self):
            if one is not None and one.left < 0:
                raise Exhausted(f"checking takes more than the {one.steps} steps that are permitted")


# === JSON ======================================================================================

#: The version of the format.
SCHEMA = "dipc.certificate/4"


class Question(StrEnum):
    """The question that a certificate answers."""

    ROWS = "rows"
    ALL_INPUTS = "all inputs"
    PAIRS = "pairs"
    ALL_PAIRS = "all pairs"
    ALL_PAIRS_EVERY_NUMBER = "all pairs for every number"
    LEAST = "a least number"


#: Bytes of a certificate, its lists and objects, digits of a JSON integer and of a rational, characters of a text.
MOST_BYTES = 40_000_000
MOST_CONTAINERS = 3_000_000
MOST_INTEGER_DIGITS = 15
MOST_DIGITS = 60_000
MOST_CHARACTERS = 20_000

#: Characters of a number in a table or a program, and its exponent.
MOST_CELL = 4_000
MOST_EXPONENT = 1_000

#: Digits that Python converts whatever its limit is set to.
_SAFE_DIGITS = 600

#: Sign, digits before and behind the point, denominator, exponent.
_DECIMAL = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*)|/([0-9]+))?(?:[eE]([+-]?[0-9]{1,5}))?", re.ASCII)

_RATIONAL = re.compile(r"(-?)(0|[1-9][0-9]*)(?:/([1-9][0-9]*))?", re.ASCII)


def parse(text: str) -> object:
    """The JSON value; raises Unreadable for other texts, for floats, NaN, long integers and names given twice."""
    if len(text) > MOST_BYTES:
        raise Unreadable(f"it is longer than {MOST_BYTES // 1_000_000} MB")
    # Lists and objects take far more memory than their text.
    if text.count("[") + text.count("{") > MOST_CONTAINERS:
        raise Unreadable(f"it has more than {MOST_CONTAINERS} lists and objects")
    try:
        return json.loads(
            text, parse_int=_integer, parse_float=_no_float, parse_constant=_no_float, object_pairs_hook=_object
        )
    except json.JSONDecodeError as error:
        raise Unreadable(f"it is not JSON: {error.msg}, line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None


def _integer(text: str) -> int:
    if len(text) > MOST_INTEGER_DIGITS:
        raise Unreadable(f"an integer has more than {MOST_INTEGER_DIGITS} digits: write it as a text")
    return int(text)


def _no_float(text: str) -> object:
    raise Unreadable(f'`{_short(text)}` is not exact: numbers are integers or texts such as "1/3"')


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise Unreadable(f"the name `{_short(twice)}` is given twice in one object")
    return result


# --- readers of values: each raises Rejected for what is none of its kind ----------------------------

T = TypeVar("T")

Reader = Callable[[Any], T]

#: How the values of an object are read, by name.
Table = Mapping[str, Reader[Any]]


def anything(value: object) -> Any:
    """The value as it is: it is looked at later."""
    return value


def boolean(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Rejected(f"true or false is expected, not {_kind(value)}")
    return value


def natural(value: object, most: int = 10**MOST_INTEGER_DIGITS) -> int:
    """An integer from 0 to `most`."""
    if type(value) is not int or not 0 <= value <= most:
        raise Rejected(f"an integer from 0 to {most} is expected, not {_kind(value)}")
    return value


def up_to(most: int) -> Reader[int]:
    """An integer from 0 to `most`."""
    return lambda value: natural(value, most)


def sign(value: object) -> int:
    """1 or -1."""
    if type(value) is int and value in (1, -1):
        return value
    raise Rejected(f"a sign, 1 or -1, is expected, not {_kind(value)}")


def text(value: object) -> str:
    """A text that is not too long."""
    if not isinstance(value, str):
        raise Rejected(f"a text is expected, not {_kind(value)}")
    if len(value) > MOST_CHARACTERS:
        raise Rejected(f"a text has {len(value)} characters, more than {MOST_CHARACTERS}")
    return value


def rational(value: object) -> Fraction:
    """The rational number of a text such as `-1` or `1/3`, in lowest terms."""
    if not isinstance(value, str):
        raise Rejected(f"a rational number as text is expected, not {_kind(value)}")
    if len(value) > MOST_DIGITS:
        raise Rejected(f"a number has {len(value)} digits, more than {MOST_DIGITS}")
    match = _RATIONAL.fullmatch(value)
    if match is None:
        raise Rejected(f"`{_short(value)}` is not a rational number such as 2 or -1/3")
    minus, above, below = match.groups()
    numerator, denominator = decimal_integer(above), decimal_integer(below or "1")
    result = Fraction(-numerator if minus else numerator, denominator)
    if result.denominator != denominator or (minus and not numerator) or below == "1":
        raise Rejected(f"`{_short(value)}` is not in lowest terms")
    return result


def integer(value: object) -> int:
    """An integer given as text."""
    result = rational(value)
    if result.denominator != 1:
        raise Rejected(f"`{_short(str(value))}` is not an integer")
    return result.numerator


def decimal_integer(digits: str) -> int:
    """The natural number of ASCII digits of any length, whatever limit Python has for that."""
    if len(digits) <= _SAFE_DIGITS:
        return int(digits)
    half = len(digits) // 2
    unit: int = 10**half
    return decimal_integer(digits[:-half]) * unit + decimal_integer(digits[-half:])


def decimal(cell: str) -> Fraction:
    """The number that a person writes in a table, a program or an option: `1/3`, `0.25` or `1e-23`, in ASCII.

    Raises ValueError for any other text, and for one of more than MOST_CELL digits or with a larger exponent than
    MOST_EXPONENT. A certificate writes its own numbers in one way alone: `rational` reads these.
    """
    match = _DECIMAL.fullmatch(cell) if len(cell) <= MOST_CELL else None
    if match is None:
        raise ValueError(cell)
    minus, whole, part, below, exponent = match.groups(default="")
    shift = int(exponent or 0)
    if abs(shift) > MOST_EXPONENT or (not whole and not part):
        raise ValueError(cell)
    number = Fraction(decimal_integer((whole + part) or "0"), 10 ** len(part))
    if below:
        divisor = decimal_integer(below)
        if not divisor:
            raise ValueError(cell)
        number /= divisor
    return (-number if minus == "-" else number) * Fraction(10) ** shift


# --- readers made of readers -------------------------------------------------------------------------


def nullable(reader: Reader[T]) -> Reader[T | None]:
    """Null, or what this reads."""
    return lambda value: None if value is None else reader(value)


def one_of(*allowed: str) -> Reader[str]:
    """One of these texts."""

    def read(value: object) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise Rejected(f"one of {', '.join(allowed)} is expected, not {_kind(value)}")
        return value

    return read


def items(value: object, most: int = 10_000_000) -> list[Any]:
    """A list of at most this many items."""
    if not isinstance(value, list):
        raise Rejected(f"a list is expected, not {_kind(value)}")
    if len(value) > most:
        raise Rejected(f"it has {len(value)} items, more than {most}")
    return value


def listed(reader: Reader[T], most: int = 10_000_000, step: str | None = None) -> Reader[list[T]]:
    """A list of values for this reader, in steps of this name, if it has one, numbered from 0 on."""

    def read(value: object) -> list[T]:
        given = items(value, most)
        if step is None:
            return [reader(item) for item in given]
        values = []
        for number, item in enumerate(given):
            with in_step(f"{step} {number}"):
                values.append(reader(item))
        return values

    return read


def tuple_of(*readers: Reader[Any]) -> Reader[tuple[Any, ...]]:
    """A list of exactly what these read."""

    def read(value: object) -> tuple[Any, ...]:
        values = items(value)
        if len(values) != len(readers):
            raise Rejected(f"{len(readers)} items are expected, not {len(values)}")
        return tuple(reader(item) for reader, item in zip(readers, values, strict=True))

    return read


def by_name(reader: Reader[T]) -> Reader[dict[str, T]]:
    """An object with any names, and such values."""

    def read(value: object) -> dict[str, T]:
        if not isinstance(value, dict):
            raise Rejected(f"an object is expected, not {_kind(value)}")
        values = {}
        for name, one in value.items():
            with in_step(f"`{_short(name)}`"):
                values[name] = reader(one)
        return values

    return read


def fields(value: object, table: Table, optional: Table | None = None) -> list[Any]:
    """The values of an object with all the names of the table, in its order, and after them those of the optional ones,
    None where they are not there; it has no others."""
    given = by_name(anything)(value)
    for name in table:
        if name not in given:
            raise Rejected(f"`{name}` is missing")
    readers = {**table, **(optional or {})}
    for name in given:
        if name not in readers:
            raise Rejected(f"`{_short(name)}` is not known here")
    values = []
    for name, reader in readers.items():
        with in_step(name):
            values.append(reader(given[name]) if name in given else None)
    return values


def variant(value: object, name: str, tables: Mapping[str, Table]) -> tuple[str, list[Any]]:
    """Return the kind that an object states under `name`, and the values of the fields of this kind."""
    given = by_name(anything)(value)
    kind = one_of(*tables)(given.get(name))
    return kind, fields({key: one for key, one in given.items() if key != name}, tables[kind])


def coefficients(value: object, *, any_number: bool = False) -> dict[int, Fraction]:
    """Rational numbers by the number of their variable, each listed once: from 0 on, unless `any_number` is allowed."""
    numbers: dict[int, Fraction] = {}
    for item in items(value):
        place, number = tuple_of(anything, rational)(item)
        if type(place) is not int or place in numbers or (place < 0 and not any_number):
            raise Rejected("the numbers of its terms must be natural, and each must occur once")
        numbers[place] = number
    return numbers


def index(value: object, among: Sequence[object]) -> int:
    """A position in a list."""
    if type(value) is not int or not 0 <= value < len(among):
        raise Rejected("it refers to an entry that does not exist")
    return value


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return f"the text `{_short(value)}`"
        case list():
            return "a list"
        case _:
            return "an object"


def _short(value: str) -> str:
    shortened = value if len(value) <= 40 else value[:37] + "..."
    return shortened.encode("ascii", "backslashreplace").decode("ascii")

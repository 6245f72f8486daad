"""The reader of untrusted JSON, the ways in which a check can end, and the budget of work that a check may take.

A hostile certificate must neither stall its reader nor fill the memory. One budget covers a whole run. Work is charged
before it is done, and memory before it is kept; a step is approximately a microsecond, or a word of memory. A
derivation of something that the certificate does not state, such as a probability, has only a share of the budget. If
it takes too much, the rest of the certificate is checked nevertheless.

JSON objects are read with tables, which give for each name the reader of its value:

    lower, signs = fields(value, {"lower": rational, "signs": listed(sign)})

Readers raise Rejected for every malformed value. Their callers add the place with `in_step("row 3")`.
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
from functools import lru_cache
from typing import Any, TypeVar

# === how a check ends ==========================================================================


def plain(text: str) -> str:
    """Return `text` on one line, with an escape for each character that a terminal would not print as it is."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class Ended(Exception):
    """Raised to end a check, or a part of it, with the reason `why` in half a sentence.

    `steps` are the steps of the check at which it ended, outermost first.
    """

    def __init__(self, why: str, *steps: str) -> None:
        super().__init__(why, *steps)
        self.why = plain(why)
        self.steps = list(steps)

    def __str__(self) -> str:
        return plain(": ".join(filter(None, (", ".join(self.steps), self.why))))


class Rejected(Ended):
    """Raised if a step of the certificate is wrong: it does not prove what the certificate claims."""


class WrongAnswer(Ended):
    """Raised if an answer in the certificate does not prove what it claims.

    It rejects the whole certificate, even in a derivation where NotDerived would only leave a part unproved.
    """


class Exhausted(Ended):
    """Raised if checking takes more work than is permitted, so the certificate is neither accepted nor rejected."""


class Unreadable(Ended):
    """Raised if the input is not a certificate of this version; `why` is one sentence."""


class UnusableArgument(Unreadable):
    """Raised if a file or a part of a claim to compare with the certificate cannot be read.

    `note` says what to give.
    """

    def __init__(self, why: str, note: str) -> None:
        super().__init__(why)
        self.note = note


class NotDerived(Ended):
    """Raised if the checker could not derive something, although it found no fault in the certificate."""


@dataclass(frozen=True, slots=True)
class in_step:  # noqa: N801 - it is used as a word: `with in_step("row 3")`
    """A context manager that adds the step `name` to each error that ends the block."""

    name: str

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Rejected | WrongAnswer | Exhausted):
            error.steps.insert(0, self.name)


#: The errors that end a derivation, which finds nothing or takes too much; the certificate may be right.
DERIVATION_ENDS = (NotDerived, Rejected, Exhausted, RecursionError, MemoryError)


def why_it_ends(error: Exception) -> str:
    """Return the reason, in half a sentence, why `error` ended a derivation or a whole run."""
    match error:
        case Ended(why=why):
            return why
        case RecursionError():
            return "it is nested too deeply"
        case _:
            return "there is not enough memory for it"


@contextmanager
def must_be_derived() -> Iterator[None]:
    """Raise Rejected in place of NotDerived in the block, for parts that a certificate cannot do without."""
    try:
        yield
    except NotDerived as error:
        raise Rejected(error.why) from None


# === budget ====================================================================================

#: The default budget of a run in steps of approximately a microsecond.
STEPS = 120_000_000

#: The most bits of a number in a computation.
BITS = 400_000

#: The share of the budget for evaluating one expression of a claim.
EXPRESSION = Fraction(1, 6)

#: The shares of the budget for deriving probabilities, answers and dd of the `ideal`, and bounds for all inputs.
PROBABILITIES = Fraction(1, 6)
DISTANCES = Fraction(1, 6)
ALL_INPUTS = Fraction(3, 5)


class Answers:
    """The answers of a certificate to questions about half-spaces (`linear.py`).

    The mapping `stated` has each answer as JSON data, by the key of its question.
    """

    def __init__(self, stated: Mapping[str, Any]) -> None:
        self.stated = stated

    def find(self, key: str, question: object) -> object:  # noqa: ARG002 - who writes a certificate looks for the answer
        """Return, as JSON, the answer stated for the key `key` of `question`, or None if the certificate has none."""
        return self.stated.get(key)


class Budget:
    """The work, in steps, that a check may still do, and the `answers` of the certificate that it may use.

    A part of a budget has `whole`, the budget of the run: what the part spends is subtracted from both. `kept` has
    results that a later step of the run may need again.
    """

    __slots__ = ("answers", "kept", "left", "steps", "whole")

    def __init__(
        self,
        steps: int = STEPS,
        whole: Budget | None = None,
        answers: Answers | None = None,
        kept: dict[object, Any] | None = None,
    ) -> None:
        self.steps = steps
        self.left = steps
        self.whole = whole
        self.answers = answers or Answers({})
        self.kept = {} if kept is None else kept

    def part(self, share: Fraction) -> Budget:
        """Return a budget of the fraction `share` of the run's steps; its work is charged to the run's budget, too."""
        whole = self if self.whole is None else self.whole
        return Budget(int(whole.steps * share), whole, self.answers, self.kept)

    def spend(self, operations: int, bits: int = 0) -> None:
        """Subtract the cost of `operations` on numbers of `bits` bits. Raises Exhausted if too little is left."""
        if bits > BITS:
            raise Exhausted(f"checking takes numbers of {bits} bits, more than {BITS}")
        # Products of long numbers cost approximately the square of their length, times a small constant.
        cost = operations * (1 + bits // 256 + (bits * bits >> 22))
        self.left -= cost
        if self.whole is not None:
            # A part that refuses work takes no more from the whole budget than its own steps.
            self.whole.left -= min(cost, self.steps)
        for one in (self.whole, self):
            if one is not None and one.left < 0:
                raise Exhausted(f"checking takes more than the {one.steps} steps that are permitted")


# === JSON ======================================================================================

#: The version of the format.
SCHEMA = "dipc.certificate/4"


class Question(StrEnum):
    """The kind of question that a certificate answers, as the certificate states it."""

    ROWS = "rows"
    ALL_INPUTS = "all inputs"
    PAIRS = "pairs"
    ALL_PAIRS = "all pairs"
    ALL_PAIRS_EVERY_NUMBER = "all pairs for every number"
    LEAST = "a least number"


#: The most bytes, lists and objects of a certificate, digits of an integer and of a rational, characters of a text.
MOST_BYTES = 40_000_000
MOST_CONTAINERS = 3_000_000
MOST_INTEGER_DIGITS = 15
MOST_DIGITS = 60_000
MOST_CHARACTERS = 20_000

#: The most characters of a number in a table or a program, and its greatest exponent.
MOST_CELL = 4_000
MOST_EXPONENT = 1_000

#: The most digits that Python converts under any setting of its limit.
_SAFE_DIGITS = 600

#: A number: sign, digits before and after the point, denominator, exponent.
_DECIMAL = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*)|/([0-9]+))?(?:[eE]([+-]?[0-9]{1,5}))?", re.ASCII)

_RATIONAL = re.compile(r"(-?)(0|[1-9][0-9]*)(?:/([1-9][0-9]*))?", re.ASCII)


def parse(text: str) -> object:
    """Return the JSON value of `text`.

    Raises Unreadable for text that is not JSON, for floats, NaN and long integers, and for a name that occurs twice in
    one object.
    """
    if len(text) > MOST_BYTES:
        raise Unreadable(f"it is longer than {MOST_BYTES // 1_000_000} MB")
    # Lists and objects take much more memory than their text.
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

#: The readers of the values of an object, by name.
Table = Mapping[str, Reader[Any]]


def anything(value: object) -> Any:
    """Return `value` as it was parsed, for a caller that reads it later."""
    return value


def boolean(value: object) -> bool:
    """Return `value` if it is true or false. Raises Rejected otherwise."""
    if not isinstance(value, bool):
        raise Rejected(f"true or false is expected, not {_kind(value)}")
    return value


def natural(value: object, most: int = 10**MOST_INTEGER_DIGITS) -> int:
    """Return `value` if it is an integer from 0 to `most`. Raises Rejected otherwise."""
    if type(value) is not int or not 0 <= value <= most:
        raise Rejected(f"an integer from 0 to {most} is expected, not {_kind(value)}")
    return value


def up_to(most: int) -> Reader[int]:
    """Return a reader of integers from 0 to `most`."""
    return lambda value: natural(value, most)


def sign(value: object) -> int:
    """Return `value` if it is 1 or -1. Raises Rejected otherwise."""
    if type(value) is int and value in (1, -1):
        return value
    raise Rejected(f"a sign, 1 or -1, is expected, not {_kind(value)}")


def text(value: object) -> str:
    """Return `value` if it is a text of at most MOST_CHARACTERS characters. Raises Rejected otherwise."""
    if not isinstance(value, str):
        raise Rejected(f"a text is expected, not {_kind(value)}")
    if len(value) > MOST_CHARACTERS:
        raise Rejected(f"a text has {len(value)} characters, more than {MOST_CHARACTERS}")
    return value


def rational(value: object) -> Fraction:
    """Parse `value`, the text of a rational number in lowest terms such as `-1` or `1/3`.

    Raises Rejected for other values.
    """
    if not isinstance(value, str):
        raise Rejected(f"a rational number as text is expected, not {_kind(value)}")
    return _short_rational(value) if len(value) <= _SHORT else _rational(value)


def _rational(value: str) -> Fraction:
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


#: The numbers with at most `_SHORT` characters that were read last: many occur again and again.
_SHORT = 40
_short_rational = lru_cache(maxsize=1 << 14)(_rational)


def integer(value: object) -> int:
    """Return the integer of which `value` is the text. Raises Rejected for anything else."""
    result = rational(value)
    if result.denominator != 1:
        raise Rejected(f"`{_short(str(value))}` is not an integer")
    return result.numerator


def decimal_integer(digits: str) -> int:
    """Return the natural number with these ASCII `digits`, which may be more than Python's conversion permits."""
    if len(digits) <= _SAFE_DIGITS:
        return int(digits)
    half = len(digits) // 2
    unit: int = 10**half
    return decimal_integer(digits[:-half]) * unit + decimal_integer(digits[-half:])


def decimal(cell: str) -> Fraction:
    """Return the number in `cell`, as people write it in a table or a program: `1/3`, `0.25` or `1e-23`, in ASCII.

    Raises ValueError for any other text, for more than MOST_CELL characters, and for an exponent beyond MOST_EXPONENT.
    The numbers of a certificate itself have only one spelling, which `rational` reads.
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
    """Return a reader of null (as None) and of the values that `reader` reads."""
    return lambda value: None if value is None else reader(value)


def one_of(*allowed: str) -> Reader[str]:
    """Return a reader of strings that must be one of `allowed`."""

    def read(value: object) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise Rejected(f"one of {', '.join(allowed)} is expected, not {_kind(value)}")
        return value

    return read


def items(value: object, most: int = 10_000_000) -> list[Any]:
    """Return the list `value` of at most `most` items, without reading the items. Raises Rejected for anything else."""
    if not isinstance(value, list):
        raise Rejected(f"a list is expected, not {_kind(value)}")
    if len(value) > most:
        raise Rejected(f"it has {len(value)} items, more than {most}")
    return value


def listed(reader: Reader[T], most: int = 10_000_000, step: str | None = None) -> Reader[list[T]]:
    """Return a reader of lists of at most `most` items, each of which `reader` reads.

    With a `step`, errors name the item by that word and its number, counted from 0.
    """

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
    """Return the reader of a list with exactly one value for each of `readers`."""

    def read(value: object) -> tuple[Any, ...]:
        values = items(value)
        if len(values) != len(readers):
            raise Rejected(f"{len(readers)} items are expected, not {len(values)}")
        return tuple([reader(item) for reader, item in zip(readers, values, strict=True)])

    return read


def by_name(reader: Reader[T]) -> Reader[dict[str, T]]:
    """Return the reader of an object with arbitrary names, whose values `reader` reads."""

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
    """Return the values of the fields of the object `value` that `table` and `optional` name; it has no others.

    `table` and `optional` map names to readers of values. The values come in the order of `table`, then of `optional`,
    with None for an optional field that is absent. Raises Rejected if a field is missing, unknown or malformed.
    """
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
    """Return (kind, values of the other fields) of the object `value`, whose field `name` states its kind.

    `tables` has, by kind, the readers of the other fields. Raises Rejected for other values.
    """
    given = by_name(anything)(value)
    kind = one_of(*tables)(given.get(name))
    return kind, fields({key: one for key, one in given.items() if key != name}, tables[kind])


def coefficients(value: object, *, any_number: bool = False) -> dict[int, Fraction]:
    """Return coefficients by the index of their variable, from the list `value` of pairs [index, rational number].

    Each variable occurs at most once. The indices are natural numbers; with `any_number`, negative integers are
    allowed, too. Raises Rejected for other values.
    """
    numbers: dict[int, Fraction] = {}
    for item in items(value):
        place, number = tuple_of(anything, rational)(item)
        if type(place) is not int or place in numbers or (place < 0 and not any_number):
            raise Rejected("its terms must be numbered by natural numbers, and each must occur once")
        numbers[place] = number
    return numbers


def index(value: object, among: Sequence[object]) -> int:
    """Return `value` if it is an index of the list `among`. Raises Rejected otherwise."""
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

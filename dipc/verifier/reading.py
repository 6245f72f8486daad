"""What is read from an untrusted file, how a check can end, and how much work it may take.

How a certificate fails: rejected at a step, not readable as one at all, or not checked to the end.

How much work one certificate may cause: a hostile one must not stall its reader, nor fill the memory.

There is one budget for all of a run. It is charged before the work is done, and for whatever is kept: a step is about a
microsecond, or a word of memory. What derives something the certificate does not state, such as a probability, has a
part of the budget, so that the rest of the certificate is checked where that takes too much.

JSON from an untrusted source, value by value: the type, the size and the names of everything are checked.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import Any

# === rejection =================================================================================


def plain(text: str) -> str:
    """The text on one line that does to a terminal what it says: what cannot be printed is written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class Rejected(Exception):
    """The certificate does not prove what it says: `step` names the place, `why` what is wrong with it."""

    def __init__(self, step: str, why: str) -> None:
        super().__init__(plain(f"{step}: {why}" if step else why))
        self.step = step
        self.why = why


class WrongAnswer(Exception):
    """An answer of the certificate does not show what it says. Unlike what only ends a derivation this rejects it."""

    def __init__(self, rejected: Rejected) -> None:
        super().__init__(str(rejected))
        self.rejected = rejected


class Unreadable(Exception):
    """What was given is no certificate of this version; `why` is one sentence."""

    def __init__(self, why: str) -> None:
        self.why = plain(why)
        super().__init__(self.why)


class Exhausted(Exception):
    """Checking takes more than is permitted, so that nothing is known of the certificate; `step` names the place."""

    def __init__(self, step: str, why: str) -> None:
        super().__init__(plain(f"{step}: {why}" if step else why))
        self.step = step
        self.why = why


class NotDerived(Exception):
    """What is claimed was not derived, for no fault of the certificate that was found; `why` is half a sentence."""

    def __init__(self, why: str) -> None:
        self.why = plain(why)
        super().__init__(self.why)


#: What ends a derivation: it finds nothing, or takes too much. That is no fault of the certificate.
DERIVATION_ENDS = (NotDerived, Rejected, Exhausted, RecursionError, MemoryError)


def why_it_ends(error: Exception) -> str:
    """What an error that ends a derivation, or a whole run, says."""
    match error:
        case NotDerived(why=why) | Rejected(why=why) | Exhausted(why=why):
            return why
        case RecursionError():
            return "it is nested too deeply"
        case _:
            return "it takes more memory than there is"


# === budget ====================================================================================

#: Steps of about a microsecond each, for everything.
STEPS = 120_000_000

#: Bits of any number that is computed with.
BITS = 400_000

#: The parts that deriving may take: of probabilities, of what the `ideal` says, and of what is said of all inputs.
PROBABILITIES = Fraction(1, 6)
DISTANCES = Fraction(1, 6)
ALL_INPUTS = Fraction(3, 5)


class Answers:
    """What a certificate answers where a step asks about half-spaces (`linear.py`), by the keys of the questions."""

    def __init__(self, stated: Mapping[str, Any]) -> None:
        self.stated = stated

    def to(self, key: str, question: object) -> object:  # noqa: ARG002 - who writes a certificate looks for the answer
        """The answer as it stands there, None where there is none."""
        return self.stated.get(key)


class Budget:
    """What a check may use: the work that is left of that permitted, and the `answers` of the certificate."""

    __slots__ = ("answers", "left", "steps", "whole")

    def __init__(self, steps: int = STEPS, whole: Budget | None = None, answers: Answers | None = None) -> None:
        self.steps = steps
        self.left = steps
        self.whole = whole
        self.answers = answers or Answers({})

    def part(self, share: Fraction) -> Budget:
        """A budget of this share of the whole one; what is spent of it is spent of the whole, too."""
        whole = self if self.whole is None else self.whole
        return Budget(int(whole.steps * share), whole, self.answers)

    def spend(self, operations: int, step: str, bits: int = 0) -> None:
        """Count so many operations on numbers of so many bits; raises Exhausted, naming the step, past the budget."""
        if bits > BITS:
            raise Exhausted(step, f"it takes numbers of {bits} bits, more than {BITS}")
        # Products of long numbers cost about in proportion to the square of their length, with a small constant.
        cost = operations * (1 + bits // 256 + (bits * bits >> 22))
        self.left -= cost
        if self.whole is not None:
            self.whole.left -= cost
            if self.whole.left < 0:
                raise Exhausted(step, f"checking takes more than the {self.whole.steps} steps that are permitted")
        if self.left < 0:
            raise Exhausted(step, f"checking takes more than the {self.steps} steps that are permitted")


# === reading ===================================================================================

#: The version of the format.
SCHEMA = "dipc.certificate/3"


class Question(StrEnum):
    """What a certificate is about."""

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

#: Digits that Python converts whatever its limit is set to.
_SAFE_DIGITS = 600

_RATIONAL = re.compile(r"(-?)(0|[1-9][0-9]*)(?:/([1-9][0-9]*))?", re.ASCII)


def parse(text: str) -> object:
    """The JSON value; raises Unreadable for what is none, for floats, NaN, long integers and names given twice."""
    if len(text) > MOST_BYTES:
        raise Unreadable(f"it is longer than {MOST_BYTES // 1_000_000} MB")
    # Lists and objects take far more memory than their text.
    if text.count("[") + text.count("{") > MOST_CONTAINERS:
        raise Unreadable(f"it has more than {MOST_CONTAINERS} lists and objects")
    try:
        return json.loads(
            text,
            parse_int=_integer,
            parse_float=_no_float,
            parse_constant=_no_float,
            object_pairs_hook=_object,
        )
    except json.JSONDecodeError as error:
        raise Unreadable(f"it is not JSON: {error.msg}, line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None


def _integer(text: str) -> int:
    if len(text) > MOST_INTEGER_DIGITS:
        raise Unreadable(f"an integer has more than {MOST_INTEGER_DIGITS} digits: long numbers are texts")
    return int(text)


def _no_float(text: str) -> object:
    raise Unreadable(f'`{_short(text)}` is not exact: numbers are integers or texts such as "1/3"')


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise Unreadable(f"the name `{_short(twice)}` is given twice in one object")
    return result


# --- typed values ----------------------------------------------------------------------------------


def record(value: object, step: str, required: Sequence[str], optional: Sequence[str] = ()) -> Mapping[str, Any]:
    """An object with all the required names, and no others but the optional ones."""
    if not isinstance(value, dict):
        raise Rejected(step, f"an object is expected, not {_kind(value)}")
    for name in required:
        if name not in value:
            raise Rejected(step, f"`{name}` is missing")
    for name in value:
        if name not in required and name not in optional:
            raise Rejected(step, f"`{_short(name)}` is not known here")
    return value


def items(value: object, step: str, most: int = 10_000_000) -> list[Any]:
    """A list of at most so many items."""
    if not isinstance(value, list):
        raise Rejected(step, f"a list is expected, not {_kind(value)}")
    if len(value) > most:
        raise Rejected(step, f"{len(value)} items, more than {most}")
    return value


def triple(value: object, step: str) -> tuple[Any, Any, Any]:
    """The three items of a list."""
    found = items(value, step, 3)
    if len(found) != 3:
        raise Rejected(step, f"three items are expected, not {len(found)}")
    first, second, third = found
    return first, second, third


def pair(value: object, step: str) -> tuple[Any, Any]:
    """The two items of a list."""
    found = items(value, step, 2)
    if len(found) != 2:
        raise Rejected(step, f"two items are expected, not {len(found)}")
    return found[0], found[1]


def coefficients(value: object, step: str, *, any_number: bool = False) -> dict[int, Fraction]:
    """Rational numbers by what they are of, which is listed once, from 0 on unless `any_number` may stand for it."""
    found: dict[int, Fraction] = {}
    for item in items(value, step):
        place, number = pair(item, step)
        if type(place) is not int or place in found or (place < 0 and not any_number):
            raise Rejected(step, "what has a coefficient is numbered, each once")
        found[place] = rational(number, step)
    return found


def natural(value: object, step: str, most: int = 10**MOST_INTEGER_DIGITS) -> int:
    """An integer from 0 to `most`."""
    if type(value) is not int or not 0 <= value <= most:
        raise Rejected(step, f"an integer from 0 to {most} is expected, not {_kind(value)}")
    return value


def sign(value: object, step: str) -> int:
    """1 or -1."""
    if type(value) is int and value in (1, -1):
        return 1 if value == 1 else -1
    raise Rejected(step, f"a sign, 1 or -1, is expected, not {_kind(value)}")


def text(value: object, step: str) -> str:
    """A text that is not too long."""
    if not isinstance(value, str):
        raise Rejected(step, f"a text is expected, not {_kind(value)}")
    if len(value) > MOST_CHARACTERS:
        raise Rejected(step, f"a text of {len(value)} characters, more than {MOST_CHARACTERS}")
    return value


def optional_text(value: object, step: str) -> str | None:
    """A text or null."""
    return None if value is None else text(value, step)


def rational(value: object, step: str) -> Fraction:
    """The rational number of a text such as `-1` or `1/3`, in lowest terms."""
    if not isinstance(value, str):
        raise Rejected(step, f"a rational number as text is expected, not {_kind(value)}")
    if len(value) > MOST_DIGITS:
        raise Rejected(step, f"a number of {len(value)} digits, more than {MOST_DIGITS}")
    match = _RATIONAL.fullmatch(value)
    if match is None:
        raise Rejected(step, f"`{_short(value)}` is no rational number such as 2 or -1/3")
    minus, above, below = match.groups()
    numerator, denominator = decimal_integer(above), decimal_integer(below or "1")
    result = Fraction(-numerator if minus else numerator, denominator)
    if result.denominator != denominator or (minus and not numerator) or below == "1":
        raise Rejected(step, f"`{_short(value)}` is not in lowest terms")
    return result


def integer(value: object, step: str) -> int:
    """An integer given as text."""
    result = rational(value, step)
    if result.denominator != 1:
        raise Rejected(step, f"`{_short(str(value))}` is no integer")
    return result.numerator


def decimal_integer(digits: str) -> int:
    """The natural number of ASCII digits of any length, whatever limit Python has for that."""
    if len(digits) <= _SAFE_DIGITS:
        return int(digits)
    half = len(digits) // 2
    unit: int = 10**half
    return decimal_integer(digits[:-half]) * unit + decimal_integer(digits[-half:])


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
    shown = value if len(value) <= 40 else value[:37] + "..."
    return shown.encode("ascii", "backslashreplace").decode("ascii")

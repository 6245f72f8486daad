"""Records: answers that list the fields of their JSON objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from operator import attrgetter
from typing import Any, TypeAlias

from dipc.algebra.numbers import exact_text, magnitude, outward


class Record:
    """A base class whose objects are written as JSON objects, as the text `FIELDS` of the class describes.

    The text has the keys, separated by spaces:

    - `key` has the value of the attribute of this name. `key=one.two` has the value of the attribute "two" of the
      attribute "one", or null if "one" is None.
    - `key?` is left out if its value is None, `key+` if it is false or empty, and `key-` if it is true.
    - `key:ends`, and likewise each name in `CONVERSIONS`, writes the value by this conversion instead of `json_value`.
    - `key(…)` is an object with the keys in the parentheses. `key?(…)` is left out if the first of them is None.
    - `?(…)` adds the keys in the parentheses to the object itself, unless the first of them is None.
    - `key=one.two(…)` is an object with the keys in the parentheses, taken from the value of `one.two`. If this value
      is a list, `key` has a list of such objects.
    - `*name` adds the fields of a mapping or a record; None adds nothing.

    >>> class Loss(Record):
    ...     FIELDS = "eps loss(value=ends pairs) reason?"
    ...     eps, ends, pairs, reason = Fraction(1, 4), (Fraction(1, 4), Fraction(1, 3)), 2, None
    >>> Loss().as_json()
    {'eps': '1/4', 'loss': {'value': ['0.25', '1/3'], 'pairs': 2}}
    """

    __slots__ = ()
    FIELDS = ""

    def as_json(self) -> Any:
        """Return the JSON object: exact numbers are strings, counts are numbers, pairs of numbers are enclosures."""
        return json_object(self, self.FIELDS)

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]


def json_object(record: object, fields: str) -> dict[str, Any]:
    """Return the JSON object of `record` with the keys that `fields` describes, in the notation of `Record`."""
    return _object(_plan(fields), record)


def field_values(record: object, fields: str) -> list[tuple[str, Any]]:
    """Return the keys that `fields` describes, in the notation of `Record`, each with its value in `record`.

    The values are those of the attributes, before they are written as JSON.
    """
    return [(key, find(record)) for key, find, _, _ in _plan(fields)]


def json_value(value: object) -> Any:
    """Return `value` as JSON: exact numbers become strings, a tuple of two numbers an enclosure with decimal ends."""
    kind = type(value)
    return value if kind in _PLAIN else _WRITERS[kind](value)


_PLAIN = frozenset({str, int, bool, float, type(None)})


class _Writers(dict[type, Callable[[Any], Any]]):
    def __missing__(self, kind: type) -> Callable[[Any], Any]:
        write: Callable[[Any], Any] = str
        if issubclass(kind, Record):
            write = kind.as_json
        elif issubclass(kind, Mapping):
            write = _mapping
        elif issubclass(kind, Sequence) and not issubclass(kind, str):
            write = _sequence
        elif hasattr(kind, "FIELDS"):
            write = partial(_object, _plan(kind.FIELDS))
        self[kind] = write
        return write


_WRITERS = _Writers()


def _mapping(values: Mapping[Any, Any]) -> dict[Any, Any]:
    return {
        key if type(key) in _PLAIN else str(key): value if type(value) in _PLAIN else json_value(value)
        for key, value in values.items()
    }


def _sequence(values: Sequence[Any]) -> Any:
    if len(values) == 2 and isinstance(values[0], Fraction):
        return _ends(values)
    return [json_value(value) for value in values]


def _cell(ends: Any) -> Any:
    return [str(end) for end in ends] if isinstance(ends, tuple) and ends[0] == ends[1] else _ends(ends)


def _shortened(ends: tuple[Fraction, Fraction] | None) -> Any:
    """Return the enclosure `ends` as JSON, rounded outward.

    The ends keep two or three digits more than they have in common.
    """
    if ends is None or ends[0] == ends[1]:
        return _cell(ends)
    low, high = ends
    return _ends(outward(low, high, max(3, magnitude(high) - magnitude(high - low) + 3)))


def _ends(ends: Any) -> Any:
    return ends if isinstance(ends, str) else ["inf" if e is None else exact_text(e) for e in ends or (None, None)]


def _text(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return None if value is None else str(value).lower()
    if isinstance(value, Mapping):
        return {str(key): _text(each) for key, each in value.items()}
    return [_text(each) for each in value] if isinstance(value, tuple | list) else str(value)


#: The conversions that `FIELDS` may name. `ends` writes both ends of an enclosure, where None is infinity, or a word.
#: `cell` does the same, but writes equal ends as p/q; `shortened` drops digits of other ends, and `digits` leaves 20 of
#: them. `text` writes all numbers as p/q, and so does `nonempty`, but writes null for an empty value. `limit` and
#: `decimal` are for single numbers.
CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "ends": _ends,
    "cell": _cell,
    "shortened": _shortened,
    "digits": lambda ends: None if ends is None else _ends(outward(ends[0], ends[1], 20)),
    "text": _text,
    "nonempty": lambda value: _text(value) if value else None,
    "limit": lambda value: "inf" if value is None else str(value),
    "decimal": lambda value: None if value is None else exact_text(value),
}

#: For each field its key, how its value is found and written (None: as `json_value` does), and when it is left out.
_Plan: TypeAlias = list[tuple[str, Callable[[Any], Any], Callable[[Any], Any] | None, str]]

_WORD = re.compile(r"(\*?)([^=:?+(-]*)(?:=([\w.]+))?(?::(\w+))?([-?+]?)(\(?)")


@cache
def _plan(fields: str) -> _Plan:
    plans: list[_Plan] = [[]]
    groups: list[tuple[str, str | None, str]] = []
    for word in re.findall(r"[^\s()]*\(|[^\s()]+|\)", fields):
        if word == ")":
            inner, (key, path, absent) = plans.pop(), groups.pop()
            find = _getter(path) if path else partial(_record_unless, inner[0][1] if absent else None)
            plans[-1].append((key, find, partial(_objects, inner), absent))
            continue
        match = _WORD.fullmatch(word)
        assert match is not None, word
        star, key, path, conversion, absent, group = match.groups()
        if group:
            groups.append((key, path, absent))
            plans.append([])
        else:
            write = None if conversion is None else CONVERSIONS[conversion]
            plans[-1].append(("" if star else key, _getter(path or key), write, absent))
    return plans[0]


def _object(plan: _Plan, record: object) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, find, write, absent in plan:
        value: object = find(record)
        if absent and (value is None or (absent != "?" and bool(value) is (absent == "-"))):
            continue
        if key:
            kind = type(value)
            result[key] = write(value) if write else value if kind in _PLAIN else _WRITERS[kind](value)
        elif value is not None:
            result |= (write or json_value)(value)
    return result


def _objects(plan: _Plan, record: object) -> Any:
    if record is None or isinstance(record, tuple | list):
        return None if record is None else [_object(plan, each) for each in record]
    return _object(plan, record)


def _getter(path: str) -> Callable[[Any], Any]:
    first, _, rest = path.partition(".")
    return partial(_part, first, attrgetter(rest)) if rest else attrgetter(first)


def _part(name: str, part: Callable[[Any], Any], record: object) -> Any:
    value = getattr(record, name)
    return None if value is None else part(value)


def _record_unless(find: Callable[[Any], Any] | None, record: object) -> object | None:
    return None if find is not None and find(record) is None else record

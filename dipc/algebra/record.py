"""Answers as records of named fields, of which their JSON objects are made."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from operator import attrgetter
from typing import Any, TypeAlias

from dipc.algebra.numbers import exact_text, magnitude, outward


class Record:
    """A record that lists in `FIELDS` the keys of its JSON object, in order.

    - `key` is the attribute of that name, `key=one.two` the attribute `two` of the attribute `one`, or None without it.
    - `key?` is left out where it is None, `key+` where it is false or empty.
    - `key:ends` and other conversions of `CONVERSIONS` write a value in another way than `json_value`.
    - `key(…)` is an object with these fields. `key?(…)` is left out where the first of them is None, and `?(…)` adds
      them to the object itself unless the first is None.
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
        """Return the JSON object: numbers that are not counts are exact texts, and pairs of them enclosures."""
        return json_object(self, self.FIELDS)

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]


def json_object(record: object, fields: str) -> dict[str, Any]:
    """Return the JSON object of `record` with these `fields`, which are written as in `Record`."""
    return _object(_plan(fields), record)


def json_value(value: object) -> Any:
    """Return the JSON of a value: the text of a number, and for a tuple of two numbers their texts, decimals first."""
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


def _sequence(values: Sequence[Any]) -> list[Any]:
    if len(values) == 2 and isinstance(values[0], Fraction):
        return [exact_text(end) for end in values]
    return [json_value(value) for value in values]


def _cell(ends: tuple[Fraction, Fraction] | None) -> list[str]:
    if ends is None or ends[0] != ends[1]:
        return _ends(ends)
    return [str(end) for end in ends]


def _shortened(ends: tuple[Fraction, Fraction] | None) -> list[str]:
    """Return the ends rounded outward to few more digits than they have in common."""
    if ends is None or ends[0] == ends[1]:
        return _cell(ends)
    return _ends(outward(*ends, max(3, magnitude(ends[1]) - magnitude(ends[1] - ends[0]) + 3)))


def _ends(ends: tuple[Fraction, Fraction] | None) -> list[str]:
    return ["inf", "inf"] if ends is None else [exact_text(end) for end in ends]


#: Other ways to write a value. `ends` are those of an enclosure, None for infinity; `cell` writes p/q for an exact one,
#: and `shortened` drops digits of others. `limit` and `decimal` are for single numbers.
CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "ends": _ends,
    "cell": _cell,
    "shortened": _shortened,
    "limit": lambda value: "inf" if value is None else str(value),
    "decimal": lambda value: None if value is None else exact_text(value),
    "texts": lambda values: [str(value) for value in values],
}

#: For each field its key, how its value is found and written (None: as `json_value` does), and when it is left out.
_Plan: TypeAlias = list[tuple[str, Callable[[Any], Any], Callable[[Any], Any] | None, str]]

_WORD = re.compile(r"(\*?)([^=:?+(]*)(?:=([\w.]+))?(?::(\w+))?([?+]?)(\(?)")


@cache
def _plan(fields: str) -> _Plan:
    plans: list[_Plan] = [[]]
    groups: list[tuple[str, str]] = []
    for word in re.findall(r"[^\s()]*\(|[^\s()]+|\)", fields):
        if word == ")":
            inner, (key, absent) = plans.pop(), groups.pop()
            find = partial(_record_unless, inner[0][1] if absent else None)
            plans[-1].append((key, find, partial(_object, inner), absent))
            continue
        match = _WORD.fullmatch(word)
        assert match is not None, word
        star, key, path, conversion, absent, group = match.groups()
        if group:
            groups.append((key, absent))
            plans.append([])
        else:
            write = None if conversion is None else CONVERSIONS[conversion]
            plans[-1].append(("" if star else key, _getter(path or key), write, absent))
    return plans[0]


def _object(plan: _Plan, record: object) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, find, write, absent in plan:
        value: object = find(record)
        if absent and (value is None or (absent == "+" and not value)):
            continue
        if key:
            kind = type(value)
            result[key] = write(value) if write else value if kind in _PLAIN else _WRITERS[kind](value)
        elif value is not None:
            result |= (write or json_value)(value)
    return result


def _getter(path: str) -> Callable[[Any], Any]:
    first, _, rest = path.partition(".")
    return partial(_part, first, attrgetter(rest)) if rest else attrgetter(first)


def _part(name: str, part: Callable[[Any], Any], record: object) -> Any:
    value = getattr(record, name)
    return None if value is None else part(value)


def _record_unless(find: Callable[[Any], Any] | None, record: object) -> object | None:
    """Return the record, but None where its part that `find` returns is None."""
    return None if find is not None and find(record) is None else record

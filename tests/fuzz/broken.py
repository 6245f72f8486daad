"""Broken certificates: a byte, name, value or number of a good one is deleted, repeated, exchanged or made huge."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from dipc.verifier.document import digest

#: Values of every type, and numbers that a reader may take for others.
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 10**14, "", "x", "inf", "0", "-1", "1/3", [], {}, [[]], [None], [{}], {"x": 1}),
    *("\u0661", " 1", "1 ", "1_0", "2/4", "1e5", "+1", "-0", "01", "1/1", "1/0", "\uff11", "1.0", "--1", "0/5", "1/-2"),
    *("9" * 3_000, "1/" + "7" * 3_000, "-" + "9" * 50_000, 999_999_999_999_999),
)

#: The values of `VALUES` that are numbers in no certificate.
NO_NUMBERS = VALUES[VALUES.index("\u0661") : VALUES.index("1/-2") + 1]


def seal(data: Any) -> str:
    """The text of `data`, with a digest that fits wherever it has one: nothing else of it is mended."""
    if isinstance(data, dict):
        for part in ("proved", "refuted"):
            if isinstance(data.get(part), dict):
                seal(data[part])
        if "digest" in data:
            data["digest"] = digest({name: value for name, value in data.items() if name != "digest"})
    return json.dumps(data)


def places(data: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value of `data`, by names and positions."""
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for name, value in entries:
        yield (*way, name)
        yield from places(value, (*way, name))


def value_at(data: Any, way: tuple[Any, ...]) -> Any:
    """The value that `way` leads to."""
    for name in way:
        data = data[name]
    return data


def changes(text: str, way: tuple[Any, ...], chance: random.Random, number: int) -> Iterator[str]:
    """Yield texts in which the value at `way` is changed.

    In the first `number` texts the value is replaced at random. In three more it is deleted, exchanged with another
    value of the certificate, and repeated in its list or object.
    """
    everywhere = [other for other in places(json.loads(text)) if other[-1] != "digest"]
    for value in chance.sample(VALUES, number):
        data = json.loads(text)
        value_at(data, way[:-1])[way[-1]] = value
        yield seal(data)
    data = json.loads(text)
    del value_at(data, way[:-1])[way[-1]]
    yield seal(data)
    data = json.loads(text)
    value_at(data, way[:-1])[way[-1]] = value_at(data, chance.choice(everywhere))
    yield seal(json.loads(json.dumps(data, check_circular=False))) if not _is_circular(data, way) else text
    data = json.loads(text)
    around = value_at(data, way[:-1])
    if isinstance(around, list):
        around.insert(way[-1], around[way[-1]])
    else:
        around[f"{way[-1]} again"] = around[way[-1]]
    yield seal(json.loads(json.dumps(data)))


def _is_circular(data: Any, way: tuple[Any, ...]) -> bool:
    try:
        json.dumps(data)
    except (ValueError, RecursionError):
        return True
    return False


def bytes_changed(text: str, chance: random.Random, number: int) -> Iterator[str]:
    """`number` texts of which one character is deleted, doubled or another, or a part is nested deeply."""
    for _ in range(number):
        place = chance.randrange(len(text))
        kind = chance.randrange(5)
        middle = (
            "",
            text[place] * 2,
            chance.choice('0123456789"[]{},:-/\\ex\u0661\u0000'),
            "[" * 3_000,
            '{"a":' * 3_000,
        )
        yield text[:place] + middle[kind] + text[place + 1 :]


def with_a_name_twice(text: str, chance: random.Random) -> str:
    """The text, one object of which has one name twice, the second time with null."""
    name = chance.choice(["rows", "claim", "schema", "verdict", "program", "obligations", "eps", "budget", "question"])
    return text.replace(f'"{name}":', f'"{name}":null,"{name}":', 1)

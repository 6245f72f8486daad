"""Random changes of one value of a certificate."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

Path = tuple[str | int, ...]

#: Numbers and texts that a forger might try.
_TEXTS = (
    "0", "1", "-1", "2", "1/2", "-1/3", "inf", "(0, inf)", "[1, 2]", "NaN", "1/0", "", "accurate", "inaccurate",
    "undecided", "dd", "value", "slope", "crossing", "even", "coefficients", "eps", "1000000000", "1/1000000000",
)  # fmt: skip
_NUMBERS = (0, 1, 2, 3, -1, 7, 10**6, 10**14)
_OTHERS = (None, True, False, [], {}, "0", 1, ["0", "1"])


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of all values inside `value`."""
    children: Iterator[tuple[str | int, Any]] = iter(())
    if isinstance(value, dict):
        children = iter(value.items())
    elif isinstance(value, list):
        children = iter(enumerate(value))
    for name, child in children:
        yield (*path, name)
        yield from places(child, (*path, name))


def item_at(document: Any, path: Path) -> Any:
    """The value at this path."""
    for name in path:
        document = document[name]
    return document


def mutated(document: dict[str, Any], paths: list[Path], chance: random.Random) -> tuple[dict[str, Any], Path]:
    """Return a copy with one value changed, and the path of that value."""
    while True:
        path = chance.choice(paths)
        result = copy.deepcopy(document)
        parent = item_at(result, path[:-1])
        old = parent[path[-1]]
        kind = chance.random()
        if kind < 0.06:
            del parent[path[-1]]
        elif kind < 0.12 and isinstance(parent, list):
            parent.insert(path[-1], copy.deepcopy(chance.choice(parent)))
        elif kind < 0.18 and isinstance(parent, list):
            other = chance.randrange(len(parent))
            parent[path[-1]], parent[other] = parent[other], parent[path[-1]]
        elif kind < 0.24:
            parent[path[-1]] = copy.deepcopy(item_at(document, chance.choice(paths)))
        elif kind < 0.30:
            parent[path[-1]] = copy.deepcopy(chance.choice(_OTHERS))
        else:
            parent[path[-1]] = _changed(old, chance)
        if result != document or repr(result) != repr(document):
            return result, path


def _changed(old: Any, chance: random.Random) -> Any:
    match old:
        case bool() | None:
            return chance.choice([True, False, None, 0, 1])
        case int():
            return chance.choice([old + 1, old - 1, -old, 2 * old, chance.choice(_NUMBERS)])
        case str():
            return _text(old, chance)
        case list():
            return chance.choice([old[::-1], old[1:], old[:-1], old + old[-1:]])
        case dict():
            names = list(old)
            if not names:
                return {"x": 1}
            return {name: value for name, value in old.items() if name != chance.choice(names)} | (
                {"x": 1} if chance.random() < 0.3 else {}
            )
    raise AssertionError(type(old))


def _text(old: str, chance: random.Random) -> str:
    digits = [n for n, letter in enumerate(old) if letter.isdigit()]
    kind = chance.random()
    if digits and kind < 0.5:
        n = chance.choice(digits)
        return old[:n] + chance.choice("0123456789") + old[n + 1 :]
    if kind < 0.6:
        return old[1:] if old.startswith("-") else "-" + old
    if kind < 0.7:
        above, _, below = old.partition("/")
        return f"{below or 1}/{above}" if kind < 0.65 else above
    if kind < 0.8 and old:
        n = chance.randrange(len(old))
        return old[:n] + old[n + 1 :]
    return chance.choice(_TEXTS)


_GONE = object()


def changes(data: dict[str, Any], chance: random.Random | None = None, most: int = 15) -> Iterator[dict[str, Any]]:
    """Each field of the document deleted, and replaced by null, 0, an empty list and the value of the next one."""
    paths = [path for path in places(data) if path[0] not in ("schema", "digest", "answers", "positive", "tool")]
    paths = [path for path in paths if not {"factors", "slacks", "vectors"} & set(map(str, path))]
    if chance is not None:
        paths = chance.sample(paths, min(most, len(paths)))
    for path in paths:
        parent = item_at(data, path[:-1])
        keys = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
        following = parent[keys[(keys.index(path[-1]) + 1) % len(keys)]]
        for value in (_GONE, None, 0, [], following):
            forged = copy.deepcopy(data)
            holder = item_at(forged, path[:-1])
            if value is _GONE:
                del holder[path[-1]]
            else:
                holder[path[-1]] = copy.deepcopy(value)
            if forged != data:
                yield forged

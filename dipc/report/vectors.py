"""Inputs and outputs of one row as people write them: `q = (-1, -1, 1)` for an array."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

_ELEMENT = re.compile(r"(.+)\[(-?[0-9]+)\]")

#: What is shown for an output that was never assigned.
UNASSIGNED = "unassigned"

#: A name with its index (None: not an element of an array that is given whole) and the values: one, or the vector's.
Group = tuple[str, int | None, tuple[str, ...]]


def assignment_text(values: Mapping[str, str | None]) -> str:
    """All of `values` in order: `x = 3, q = (-1, 1)`; arrays given whole from index 1 are written as a vector, other
    elements by name; None is something never assigned. An empty mapping is `nothing`."""
    return ", ".join(_text(*group) for group in groups(values)) or "nothing"


def groups(values: Mapping[str, str | None]) -> Iterator[Group]:
    """The values in order, with every array that is given whole from index 1, with at least two elements, as one."""
    array: str | None = None
    elements: list[tuple[int, str]] = []
    for name, given in values.items():
        value = UNASSIGNED if given is None else given
        match = _ELEMENT.fullmatch(name)
        if match is None or match[1] != array:
            yield from _array(array, elements)
            array, elements = None, []
        if match is None:
            yield name, None, (value,)
        else:
            array = match[1]
            elements.append((int(match[2]), value))
    yield from _array(array, elements)


def _array(name: str | None, elements: list[tuple[int, str]]) -> Iterable[Group]:
    if name is None:
        return
    if len(elements) > 1 and [index for index, _ in elements] == list(range(1, len(elements) + 1)):
        yield name, None, tuple(value for _, value in elements)
    else:
        yield from ((name, index, (value,)) for index, value in elements)


def _text(name: str, index: int | None, values: tuple[str, ...]) -> str:
    shown = values[0] if len(values) == 1 else f"({', '.join(values)})"
    return f"{name} = {shown}" if index is None else f"{name}[{index}] = {shown}"

"""Whole arrays given at once from Python: `q = (-1, 0, 1)` for `q[1]`, `q[2]` and `q[3]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError

_ELEMENT = re.compile(r"(.+)\[-?[0-9]+\]")


def arrays_among(names: Iterable[str]) -> dict[str, list[str]]:
    """The names of arrays, each with those of its elements."""
    found: dict[str, list[str]] = {}
    for name in names:
        if element := _ELEMENT.fullmatch(name):
            found.setdefault(element[1], []).append(name)
    return found


def by_element(values: Mapping[str, object], arrays: Mapping[str, Sequence[str]], where: str) -> dict[str, object]:
    """The values with arrays spelled out element by element, and names without blanks. A sequence is whatever has a
    length and can be gone through, but for texts and dicts. Raises DiagnosticError, which begins with `where`, for one
    of another length."""
    result: dict[str, object] = {}
    for name, value in values.items():
        plain = "".join(name.split())
        elements = arrays.get(plain)
        if elements is None or not _is_sequence(value):
            result[plain] = value
            continue
        if len(value) != len(elements):
            counts = f"{len(value)} values for the {len(elements)} elements"
            raise DiagnosticError(Diagnostic("E0509", f"{where} `{plain}`: {counts} of the array"))
        result.update(zip(elements, value, strict=True))
    return result


def _is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    return hasattr(value, "__len__") and hasattr(value, "__iter__") and not isinstance(value, str | bytes | Mapping)

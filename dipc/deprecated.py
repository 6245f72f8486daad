"""Former names of public methods, kept for one release, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any


def former_method(old: str, new: str) -> Callable[..., Any]:
    """Return a method that calls the method `new` with a DeprecationWarning about its former name `old`."""

    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        _warn(old, new)
        return getattr(self, new)(*arguments, **options)

    return call


def former_property(old: str, new: str) -> Any:
    """Return a property that reads the property `new` with a DeprecationWarning about its former name `old`."""

    def value(self: Any) -> Any:
        _warn(old, new)
        return getattr(self, new)

    return property(value)


def former_part(old: str) -> Any:
    """Return a property that is the object itself, with a DeprecationWarning about its former part `old`."""

    def value(self: Any) -> Any:
        warnings.warn(
            f"the fields of `{old}` are fields of its owner now; the next release removes `{old}`",
            DeprecationWarning,
            2,
        )
        return self

    return property(value)


def _warn(old: str, new: str) -> None:
    warnings.warn(f"`{old}` is called `{new}` now; the next release removes the old name", DeprecationWarning, 3)

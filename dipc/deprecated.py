"""Keep former names of public methods for one release, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any


def former_method(old: str, new: str) -> Callable[..., Any]:
    """The method `new` under its former name `old`: each call gives a DeprecationWarning."""

    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        _warn(old, new)
        return getattr(self, new)(*arguments, **options)

    return call


def former_property(old: str, new: str) -> Any:
    """The property `new` under its former name `old`: each use gives a DeprecationWarning."""

    def value(self: Any) -> Any:
        _warn(old, new)
        return getattr(self, new)

    return property(value)


def _warn(old: str, new: str) -> None:
    warnings.warn(f"`{old}` is called `{new}` now; the old name ends with the next release", DeprecationWarning, 3)

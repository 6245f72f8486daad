"""What objects of the library are asked and only rooms above their own can answer: closed forms are compared and drawn,
reports shown in notebooks. The package itself says which module answers, and which version all of this is. And what
most runs do without is loaded when it is first used."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

_PACKAGE = sys.modules["dipc"]

VERSION: str = _PACKAGE.__version__


def service(name: str) -> Any:
    """What the package offers under this name, or the function that loads programs from sources."""
    return getattr(_PACKAGE, name, None) or getattr(above("program"), name)


def above(kind: str) -> Any:
    """The module that answers for objects of this kind, imported when it is first asked."""
    return import_module(_PACKAGE.ANSWERED_BY[kind])


class Later:
    """A module that is loaded when something of it is first used. Which one it is stands beside it as an import for the
    type checker, so that who imports whom is known."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.modules.get(self._name) or import_module(self._name), name)

"""What objects of the library are asked and only rooms above their own can answer: closed forms are compared and drawn,
reports shown in notebooks. The package itself says which module answers, and which version all of this is."""

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

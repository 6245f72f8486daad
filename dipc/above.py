"""Access to rooms above the caller's own, for methods that only those can carry out.

Closed forms are compared and drawn, and reports shown in notebooks, by modules that the package itself names.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

_PACKAGE = sys.modules["dipc"]

VERSION: str = _PACKAGE.__version__


def service(name: str) -> Any:
    """The object that the package offers under `name`, or the function that loads programs from sources."""
    return getattr(_PACKAGE, name, None) or getattr(above("program"), name)


def above(kind: str) -> Any:
    """Import and return the module that serves objects of this kind."""
    return import_module(_PACKAGE.ANSWERED_BY[kind])

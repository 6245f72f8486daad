"""Access to rooms above the caller's own, for methods that only those rooms can carry out.

Examples are comparing and drawing closed forms, and showing reports in notebooks. The package names the module for each
kind of object.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

_PACKAGE = sys.modules["dipc"]

VERSION: str = _PACKAGE.__version__


def service(name: str) -> Any:
    """Return the attribute `name` of the package `dipc` or, if it has none, of `dipc.program.program`."""
    return getattr(_PACKAGE, name, None) or getattr(above("program"), name)


def above(kind: str) -> Any:
    """Import and return the module that `dipc.ANSWERED_BY` lists for objects of this `kind`."""
    return import_module(_PACKAGE.ANSWERED_BY[kind])

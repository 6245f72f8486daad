"""Mechanisms from the literature, as programs: `dipc.load(dipc.examples.text("sparse"))`.

>>> from dipc import examples
>>> "noisy_max" in examples.names()
True
>>> "program laplace;" in examples.text("laplace")
True
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

__all__ = ["names", "text"]


def names() -> tuple[str, ...]:
    """The names of all mechanisms, in alphabetical order."""
    return tuple(_files())


def text(name: str) -> str:
    """Return the text of the program `name`, with its comments. Raises KeyError for an unknown name."""
    return _files()[name].read_text(encoding="utf-8")


@cache
def _files() -> Mapping[str, Path]:
    """The files of the mechanisms, by the name of the mechanism.

    A wheel contains them inside this package; a checkout has them in `benchmarks/`. The programs of its directory
    `libraries/` are left out: they state what a library promises of a function, and are not mechanisms of the
    literature.
    """
    inside = Path(__file__).resolve().parent
    checkout = inside.parents[1] / "benchmarks"
    paths = list(inside.rglob("*.dip"))
    paths = paths or [path for path in checkout.rglob("*.dip") if path.parent != checkout / "libraries"]
    return MappingProxyType({path.stem: path for path in sorted(paths, key=lambda path: path.stem)})

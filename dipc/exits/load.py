"""Programs from files and texts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from dipc.algebra.rationals import exact_rational
from dipc.claim.claim import GivenEps, given_text
from dipc.diagnostics.diagnostic import DiagnosticError
from dipc.diagnostics.files import read_source
from dipc.diagnostics.source import Source
from dipc.exits.program import Program
from dipc.lang.fixed_eps import fixed_eps
from dipc.lang.lower import lower
from dipc.lang.parser import parse


def load(
    path_or_text: str | os.PathLike[str], /, *, eps: GivenEps = None, **constants: int | Fraction | Decimal | str
) -> Program:
    """The program in a file or in a text, with `constants` in place of those of the same names.

    A str is a path if it ends with `.dip` or names an existing file, else it is the text itself. Constants are ints,
    Fractions, Decimals or texts such as "1/3": floats are not exact.

    A program with thresholds, means or constants such as 7/eps, or with rates such as 1/eps or 2*eps + 1, has an exact
    meaning at one eps: the number `eps`, or that of its claim block. It is then `only_at` it, and every question about
    another eps is refused. Of other programs `eps` changes nothing.

    Raises DiagnosticError with all that is wrong with the program, and TypeError for inexact
    constants.
    """
    values = {name: exact_rational(value, name) for name, value in constants.items()}
    return load_source(_source(path_or_text), values, eps)


def load_source(source: Source, constants: Mapping[str, Fraction], eps: GivenEps = None) -> Program:
    """The program that `source` holds, to be asked about `eps`; see `load`."""
    tree = parse(source)
    at = fixed_eps(tree, source, constants, None if eps is None else given_text(eps))
    core = lower(tree, source, constants, at)
    program = Program(core)
    # Weights that make no distribution are a mistake of the program, and are shown before anything else is done.
    try:
        _ = program.choices
    except DiagnosticError:
        if at is None or core.only_at is not None:
            raise
        program = Program(replace(core, only_at=at))
        _ = program.choices
    return program


def _source(path_or_text: str | os.PathLike[str]) -> Source:
    if not isinstance(path_or_text, str):
        return read_source(Path(path_or_text))
    if path_or_text and "\n" not in path_or_text and (path_or_text.strip().endswith(".dip") or _is_file(path_or_text)):
        return read_source(Path(path_or_text.strip()))
    return Source("<text>", path_or_text)


def _is_file(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a path, or with a NUL character
        return False

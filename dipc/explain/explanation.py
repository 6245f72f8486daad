"""The codes of diagnostics with an example of each: a command, the files that it reads, and what it says then.

The examples are those of the golden outputs in tests/golden; tests/explain keeps them the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.names import nearest


@dataclass(frozen=True, slots=True)
class Explanation:
    """A code, and what it is about. `command` is None where no example of it is known."""

    code: str
    about: str
    command: str | None = None
    files: tuple[tuple[str, str], ...] = ()
    text: str = ""


#: What the codes with these first three characters after the E are about.
_FAMILIES = {
    "01": "the syntax of programs",
    "02": "names and types",
    "03": "the rules that a program must keep",
    "04": "the weights of choices",
    "05": "tables and their cells",
    "06": "claims and their expressions",
    "07": "what goes wrong on some path of a program",
    "08": "commands, their options, and files",
    "09": "certificates",
    "10": "`dipc tighten` and `dipc solve`",
    "11": "inputs, `ideal` and `metric`",
    "12": "questions about every real input, and every number of queries",
    "13": "processes, clusters and caches",
    "14": "differential privacy",
    "15": "files of claims for `dipc test`",
    "16": "observed outputs for `dipc conform`",
}


def explanation(code: str) -> Explanation:
    """The explanation of a code such as E0602. Raises DiagnosticError for what is no code."""
    wanted = code.strip().upper()
    if wanted not in codes():
        close = nearest(wanted, codes())
        notes = [f"did you mean `{close}`?"] if close else []
        notes.append("a diagnostic begins with its code: error[E0602]; `dipc explain` lists all")
        raise DiagnosticError(Diagnostic("E0811", f"there is no diagnostic `{code.strip()}`", notes=tuple(notes)))
    about = _FAMILIES[wanted[1:3]]
    example = codes()[wanted]
    if example is None:
        return Explanation(wanted, about)
    return Explanation(wanted, about, example["command"], tuple(example["files"].items()), example["text"])


@cache
def codes() -> Mapping[str, Any]:
    """All codes in order, with their examples as they are kept, None for those without."""
    return json.loads((files("dipc.explain") / "examples.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]

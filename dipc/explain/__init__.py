"""The codes of diagnostics with an example of each: a command, the files that it reads, and its message.

The examples are those of the golden outputs in tests/golden; tests/explain compares them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from dipc.frozen import frozen
from dipc.text.diagnostic import bad_input, did_you_mean


@frozen
class Explanation:
    """The explanation of a diagnostic by an example.

    `code` is the code of the diagnostic, and `about` its subject. The example is a `command` that reads `files`, pairs
    of a file name and the contents of the file, and prints `text`. A code without an example has no command; `when`
    then says when the code occurs.
    """

    code: str
    about: str
    command: str | None = None
    files: tuple[tuple[str, str], ...] = ()
    text: str = ""
    when: str = ""

    @property
    def summary(self) -> str:
        """The message of the example; without one, the case in which the code occurs."""
        if self.command is None:
            return f"when {self.when}"
        match = re.search(rf"^(?:error|warning)\[{self.code}\]: (.*)", self.text, re.MULTILINE)
        return self.about if match is None else match[1]


#: The subjects of codes by the two digits after the letter, which is E for errors and W for warnings.
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
    "12": "questions about every real and int input, and every number of queries",
    "13": "processes, clusters and caches",
    "14": "differential privacy",
    "15": "files of claims for `dipc test`",
    "16": "observed outputs for `dipc conform`",
    "18": "expected errors",
    "17": "running a program with exact noise",
    "19": "mechanisms written in Python",
}


#: The cases in which codes occur that no short command provokes.
_WHEN = {
    "E0104": "a program has more names, statements or nested blocks than any sensible one",
    "E0107": "a text is too long to be read as a program or an expression",
    "E0219": "in Python a program that is read at one eps only is asked about another eps",
    "E0299": "a program has more mistakes than are shown: those above come first",
    "E0609": "beta divides by something that is 0 at an alpha or a gamma of the claim",
    "E0613": "min, max and abs in a claim have too many cases, or numbers that are too long to compare",
    "E0614": "gamma is free, and the question needs one gamma",
    "E0705": "on some path an int variable gets a value that is not an integer",
    "E0720": "a run of `dipc simulate` goes round a loop 100000 times",
    "E0721": "in a run of `dipc simulate` the weights of a choice do not add up to a distribution",
    "E0722": "a number of `dipc simulate` is beyond what floating point holds",
    "E0807": "`dipc bench` is run from an installed package: the benchmarks are in the checkout",
    "E0813": "`dipc lsp` is started with its standard input or output closed",
    "E0815": "`dipc simulate` or `dipc conform` is run where NumPy is not installed",
    "E0816": "`dipc schema` is asked for an answer that has none",
    "E0903": "`--certificate` is given with a question that has no certificate",
    "E0904": "`dipc verify --coq` is given a certificate about privacy, whose inequalities are not written for Coq",
    "E0905": "`dipc verify` is given a program, a table or a part of a claim that it cannot read",
    "E1005": "a plot is asked for where matplotlib is not installed",
    "E1702": "a run of `dipc run` has not ended after a million random events",
    "W1421": "a weight in a program of DiPC's format is not between 0 and 1 for every eps",
    "W1420": "a program of DiPC's format that is imported has an `fi` without an `if`",
    "E1906": "a mechanism is called in Python with a float, without eps, or with arguments that it does not take",
    "E1907": "dipc reads a Python function as another program than Python runs: a defect of dipc, with exit code 70",
    "E1301": "the processes of `-j` end as soon as they start, for example for lack of memory",
    "E1302": "the file of `--cache` was written by another version of dipc",
    "E1305": "another process holds the file of `--cache`",
    "E1306": "the disk with the file of `--cache` is full",
    "E1307": "`--dask` is given where Dask is not installed",
    "E1308": "no Dask scheduler answers at the address of `--dask`",
    "E1309": "a worker of the Dask cluster runs another version of dipc",
    "E1310": "the Dask scheduler has no worker for a while",
}


def explanation(code: str) -> Explanation:
    """Return the explanation of `code`, such as E0602. Raises DiagnosticError if it is not a code."""
    wanted = code.strip().upper()
    if wanted not in codes():
        notes = did_you_mean(wanted, codes())
        notes.append("a diagnostic begins with its code, error[E0602] or warning[W0602]; `dipc explain` lists all")
        raise bad_input("E0811", f"there is no diagnostic `{code.strip()}`", *notes)
    about = _FAMILIES[wanted[1:3]]
    example = codes()[wanted]
    if example is None:
        return Explanation(wanted, about, when=_WHEN.get(wanted, ""))
    return Explanation(wanted, about, example["command"], tuple(example["files"].items()), example["text"])


@cache
def codes() -> Mapping[str, Any]:
    """A mapping from each code, in order, to its stored example, or to None if it has no example."""
    return json.loads((files("dipc.explain") / "examples.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]

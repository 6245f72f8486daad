"""Claims as tests: pytest collects files of claims, and mechanisms with claims.

Files of claims are every `*.dipc.toml`, and any TOML file of claims given by name. Mechanisms are in every
`mechanisms.py` and `*_mechanisms.py`, and in any Python file given by name. The plugin does nothing else, and loads
nothing of dipc before it meets one of these files.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

#: The outcome of an unexpected undecided claim, in pytest's summary: it fails the run, under a name of its own.
_UNDECIDED = "undecided"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option --dipc-rows to `parser`."""
    text = "make each row of a table that should be accurate a test of its own"
    parser.getgroup("dipc").addoption("--dipc-rows", action="store_true", help=text)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return a collector of the claims in `file_path`, or None if the file has none; `parent` is its parent node.

    Claims are read from files that end with `.dipc.toml`, from mechanisms in `mechanisms.py` and `*_mechanisms.py`, and
    from other TOML and Python files that the command line names.
    """
    named = parent.session.isinitpath(file_path)
    if file_path.suffix == ".py":
        wanted = (named or file_path.stem == "mechanisms" or file_path.stem.endswith("_mechanisms")) and _claims(
            file_path
        )
    else:
        wanted = file_path.name.endswith(".dipc.toml") or (named and file_path.suffix == ".toml")
    if wanted:
        items = import_module("dipc.suite.pytest_items")
        result: pytest.Collector = items.ClaimsFile.from_parent(parent, path=file_path)
        return result
    return None


#: The beginning of a mechanism with a claim.
_CLAIMED = re.compile(rb"^@(dipc\.)?mechanism\([^@]*?\bclaim\s*=", re.MULTILINE)


def _claims(path: Path) -> bool:
    """Return True if the Python file `path` has mechanisms with claims, or has mistakes that prevent its parsing.

    Code inside a string does not count.
    """
    text = path.read_bytes()
    if _CLAIMED.search(text) is None:
        return False
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return True
    decorators = (each for node in body if isinstance(node, ast.FunctionDef) for each in node.decorator_list)
    return any(isinstance(each, ast.Call) and any(k.arg == "claim" for k in each.keywords) for each in decorators)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Iterator[None]:
    """Mark the report of the test `call` if its claim was not decided."""
    outcome: Any = yield
    if call.excinfo is not None and getattr(call.excinfo.value, "dipc_undecided", False):
        outcome.get_result().dipc_undecided = True


def pytest_report_teststatus(report: Any) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Return the status "undecided" if `report` is about a claim that was not decided; otherwise None.

    This status is neither passed nor failed.
    """
    if getattr(report, "dipc_undecided", False):
        return _UNDECIDED, "U", ("UNDECIDED", {"yellow": True})
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Write to `terminalreporter` why claims are undecided."""
    reports = terminalreporter.stats.get(_UNDECIDED, [])
    if reports:
        terminalreporter.write_sep("=", "UNDECIDED CLAIMS")
        for report in reports:
            terminalreporter.write_sep("_", report.head_line)
            terminalreporter.write_line(report.longreprtext)

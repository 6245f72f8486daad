"""The options of the page, of files of claims and of the library are those of the table of the command line."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import click
import pytest

from dipc import options
from dipc.cli.main import COMMANDS, cli
from dipc.cli.option_table import OPTIONS, parameter_of
from dipc.options import Options
from dipc.playground import FIELDS
from dipc.suite.claims import _CLAIM_PARTS, _PRIVACY_PARTS

ROOT = Path(__file__).resolve().parents[2]


def options_of(command: str) -> set[str]:
    """The spellings of the options of a command."""
    found = cli.get_command(click.Context(cli), command)
    assert found is not None
    return {spelling for option in found.params for spelling in option.opts}


PAGE = (ROOT / "docs" / "playground" / "src" / "claim.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", re.findall(r"^  (\w+): \{ fields:", PAGE, re.MULTILINE))
def test_the_page_asks_with_options_of_its_command(command: str) -> None:
    written = re.search(rf"^  {command}: \{{ fields: (.*?), table", PAGE, re.MULTILINE)
    accuracy = re.search(r"const ACCURACY = \[(.*)\]", PAGE)
    assert written is not None
    assert accuracy is not None
    asked = set(re.findall(r'"(-[\w-]+)"', written[1].replace("ACCURACY", accuracy[1])))
    assert asked
    assert asked <= options_of(command)


def test_the_help_lists_no_option_that_is_refused() -> None:
    found = cli.get_command(click.Context(cli), "tune")
    assert found is not None
    assert "--certificate" not in found.get_help(click.Context(found))
    assert "--certificate" in options_of("tune")


def test_every_option_of_the_table_is_used() -> None:
    known = {spelling for command in COMMANDS for spelling in options_of(command)}
    for name in OPTIONS:
        if name.startswith("-"):
            assert set(name.partition("~")[0].partition("/")[0].split(",")) <= known


def test_the_fields_of_the_page_are_those_of_its_messages() -> None:
    assert dict(re.findall(r'^  "(-[\w-]+)": \["(\w+)", ', PAGE, re.MULTILINE)) == FIELDS


#: The keyword arguments of Python alone.
IN_PYTHON = {"progress", "keep_proofs", "as_given"}

GIVEN = [each for each in vars(options).values() if getattr(each, "__total__", True) is False]


@pytest.mark.parametrize("given", GIVEN, ids=lambda each: each.__name__)
def test_keyword_arguments_are_options(given: type) -> None:
    """A keyword argument has its default in `Options`, and the name of an option unless it is one of Python alone."""
    flags = {flag for name in OPTIONS for flag in name.partition("~")[0].partition("/")[0].split(",")}
    names = {parameter_of(name) for name in OPTIONS} | {flag.lstrip("-") for flag in flags}
    assert given.__annotations__.keys() <= {field.name for field in fields(Options)}
    assert given.__annotations__.keys() <= {name.replace("-", "_") for name in names} | IN_PYTHON


@pytest.mark.parametrize("name", sorted({*_CLAIM_PARTS, *_PRIVACY_PARTS}))
def test_files_of_claims_have_the_names_of_options(name: str) -> None:
    assert parameter_of(f"--{name}") == name
    assert name in {field.name for field in fields(Options)}

"""Questions of the page, answered: the verdict with the text that the command prints, then the page of `--html`."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

import dipc
from dipc.cli.check import check
from dipc.cli.errors import guarded
from dipc.cli.exits import ExitCode, exit_code
from dipc.cli.main import cli, run
from dipc.cli.question import for_all_of
from dipc.cli.terminal import write_diagnostics
from dipc.playground.question import Question

CLAIM = ("beta", "alpha", "gamma", "eps")

#: Takes what the page is told, as JSON: {"kind": "progress", "done", "total"}; {"kind": "answer", "code", "text",
#: "errors"} once; {"kind": "page", "html"} after it, where there is one.
Tell = Callable[[str], object]

#: The parameters of `dipc check` that the quick way heeds.
_HEEDED = {"program_path", "table_path", "inputs", "limits", "definitions", "for_all", "digits", *CLAIM}
_DEFAULT = ParameterSource.DEFAULT


def answer(asked: str, tell: Tell) -> None:
    """Answer the question `asked`, JSON of a Question, in the directory at hand; raises nothing a user can cause."""
    question = Question.from_json(asked)
    question.write()
    if question.command == "check" and _is_plain(question):
        _check(question, tell)
    else:
        _command(question, tell)


def _is_plain(question: Question) -> bool:
    """Whether every option is among those that `_answered` heeds; what cannot be read is for `_check` to tell."""
    try:
        context = _context(question)
    except click.ClickException:
        return True
    return all(name in _HEEDED or context.get_parameter_source(name) is _DEFAULT for name in context.params)


def _context(question: Question) -> click.Context:
    """The options of `dipc check`, read as those of the command are. Raises ClickException."""
    parent = click.Context(cli, info_name="dipc", **cli.context_settings)
    return check.make_context("check", list(question.words), parent)


def _command(question: Question, tell: Tell) -> None:
    """Any command with `--html`: text and page come at once."""
    out, errors = StringIO(), StringIO()
    with tempfile.TemporaryDirectory() as place, redirect_stdout(out), redirect_stderr(errors):
        page = Path(place, "page.html")
        code = run([question.command, *question.words, "--html", str(page)])
        html = page.read_text(encoding="utf-8") if page.is_file() else None
    said = "".join(line for line in errors.getvalue().splitlines(keepends=True) if str(page) not in line)
    _tell(tell, kind="answer", code=int(code), text=out.getvalue(), errors=said)
    if html is not None:
        _tell(tell, kind="page", html=html)


def _check(question: Question, tell: Tell) -> None:
    """The verdict of `dipc check` before its page: curves take longer than what they show."""
    out, errors = StringIO(), StringIO()
    told = False

    def ask() -> int:
        nonlocal told
        with _context(question) as context:
            answered, command, code = _answered(context.params, tell)
            _tell(tell, kind="answer", code=int(code), text=answered.page(), errors=errors.getvalue())
            told = True
            from dipc.report.html.check_page import check_page

            _tell(tell, kind="page", html=check_page(answered, command, f"dipc {dipc.__version__}"))
        return code

    with redirect_stdout(out), redirect_stderr(errors):
        code = guarded(ask)
    if not told:
        _tell(tell, kind="answer", code=int(code), text=out.getvalue(), errors=errors.getvalue())


def _answered(given: dict[str, Any], tell: Tell) -> tuple[Any, tuple[str, ...], ExitCode]:
    """The answer of `dipc check` with these parameters, the command that asks it, and its exit code."""
    from dipc.cli.arguments import parse_definitions
    from dipc.cli.limits import parse_limits
    from dipc.diagnostics.files import read_source
    from dipc.exits.load import load_source
    from dipc.obligations.open_engine import open_engine
    from dipc.report.answered import Answered
    from dipc.report.asked import Asked
    from dipc.sources.check import answer as answer_source
    from dipc.sources.question import question as source_of

    path, table, inputs, limits = (given[name] for name in ("program_path", "table_path", "inputs", "limits"))
    claim = {name: given[name] for name in CLAIM}
    definitions, for_all = for_all_of(given["definitions"], given["for_all"])
    program = load_source(read_source(path), parse_definitions(definitions), claim["eps"])
    program = program.with_limits(parse_limits(limits))
    asked = Asked(path, inputs, for_all, claim)
    with ExitStack() as stack:
        engine = open_engine(stack, program.measurer, program.limits, digits=given["digits"])
        source = source_of(program, table, inputs=inputs or None, for_all=for_all, **claim)
        report = answer_source(source, engine, partial(_progress, tell))
        write_diagnostics(report.warnings)
        answered = Answered(source, engine, report, asked)
    return answered, asked.command(table, definitions, limits), exit_code(report.verdict)


def _progress(tell: Tell, done: int, total: int | None) -> None:
    _tell(tell, kind="progress", done=done, total=total)


def _tell(tell: Tell, **event: object) -> None:
    tell(json.dumps(event, ensure_ascii=False))

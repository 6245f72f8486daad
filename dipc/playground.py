"""What the page in the browser asks of dipc, as JSON: a question is answered by the verdict with the text that the
command prints, then the page of `--html`; what is wrong with a program is asked while it is typed.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from dipc.cli.check import accuracy_outcome, check
from dipc.cli.main import cli, run
from dipc.cli.options import Work, asked_of, parse_definitions
from dipc.cli.output import TOOL
from dipc.cli.terminal import guarded, write_diagnostics
from dipc.frozen import frozen
from dipc.outcome import html
from dipc.outcome.outcome import Outcome, render
from dipc.program.program import load_source
from dipc.questions.question import answer as answer_source
from dipc.questions.question import question_of
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Excerpt, Source


@frozen
class File:
    """A text under the name that reports show."""

    name: str
    text: str

    def write(self) -> None:
        """Put it there, below the directory at hand."""
        path = Path(self.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text, encoding="utf-8")


@frozen
class Question:
    """What is asked: `command` with the words of its options, about the program and, where there is one, the table."""

    command: str
    program: File
    table: File | None
    options: tuple[str, ...]

    @classmethod
    def from_json(cls, text: str) -> Question:
        """The question that the page wrote."""
        given = json.loads(text)
        table = given["table"]
        return cls(
            given["command"],
            File(**given["program"]),
            None if table is None else File(**table),
            tuple(given["options"]),
        )

    @property
    def words(self) -> tuple[str, ...]:
        """The arguments and options of the command."""
        tables = () if self.table is None else (self.table.name,)
        return (self.program.name, *tables, *self.options)

    def write(self) -> None:
        """Put the files where the words say."""
        self.program.write()
        if self.table is not None:
            self.table.write()


#: Takes what the page is told, as JSON: {"kind": "progress", "done", "total"}; {"kind": "answer", "code", "text",
#: "errors"} once; {"kind": "page", "html"} after it, where there is one.
Tell = Callable[[str], object]

#: The parameters of `dipc check` that the quick way heeds.
_HEEDED = {
    "program_path",
    "table_path",
    "inputs",
    "limits",
    "definitions",
    "for_all",
    "digits",
    "beta",
    "alpha",
    "gamma",
    "eps",
}
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
    """Any other command: text and page come at once."""
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
            outcome, command = _outcome(context.params, tell)
            write_diagnostics(outcome.warnings)
            code = outcome.standing.value
            _tell(tell, kind="answer", code=code, text=render(outcome), errors=errors.getvalue())
            told = True
            _tell(tell, kind="page", html=html.page(outcome, command, TOOL))
        return code

    with redirect_stdout(out), redirect_stderr(errors):
        code = guarded(ask)
    if not told:
        _tell(tell, kind="answer", code=int(code), text=out.getvalue(), errors=errors.getvalue())


def _outcome(given: dict[str, Any], tell: Tell) -> tuple[Outcome, tuple[str, ...]]:
    """The answer of `dipc check` with these parameters, and the command that asks it."""
    asked = asked_of(given)
    progress = partial(_progress, tell)
    program = Work(asked, quiet=True).program()
    with ExitStack() as stack:
        engine = asked.options.engine(stack, program)
        source = question_of(program, asked.table, asked.options)
        outcome = accuracy_outcome(source, engine, answer_source(source, engine, progress), asked)
    return outcome, asked.command()


def _progress(tell: Tell, done: int, total: int | None) -> None:
    _tell(tell, kind="progress", done=done, total=total)


def _tell(tell: Tell, **event: object) -> None:
    tell(json.dumps(event, ensure_ascii=False))


_NAME = "<program>"


def mistakes(text: str, definitions: Sequence[str] = (), eps: str | None = None) -> str:
    """JSON: a list of {"from", "to", "code", "message", "notes"}, offsets as JavaScript counts them. What is wrong with
    `definitions` or `eps` alone is no mistake of the program, and left out."""
    diagnostics: Sequence[Diagnostic] = ()
    try:
        load_source(Source(_NAME, text), parse_definitions(definitions), eps)
    except DiagnosticError as error:
        diagnostics = error.diagnostics
    lines = text.split("\n")
    return json.dumps([_placed(each, lines) for each in diagnostics if _is_here(each)], ensure_ascii=False)


def _is_here(diagnostic: Diagnostic) -> bool:
    return diagnostic.excerpt is not None and diagnostic.excerpt.file == _NAME


def _placed(diagnostic: Diagnostic, lines: Sequence[str]) -> dict[str, object]:
    assert diagnostic.excerpt is not None
    start, end = _offsets(diagnostic.excerpt, lines)
    # Beneath the caret often stands a part of the message.
    message = (
        diagnostic.message if diagnostic.label in diagnostic.message else f"{diagnostic.message}: {diagnostic.label}"
    )
    return {"from": start, "to": end, "code": diagnostic.code, "message": message, "notes": diagnostic.notes}


def _offsets(excerpt: Excerpt, lines: Sequence[str]) -> tuple[int, int]:
    """Where the excerpt begins and ends; never beyond the line."""
    line = lines[excerpt.line - 1]
    before = sum(_units(each) + 1 for each in lines[: excerpt.line - 1])
    column = min(excerpt.column - 1, len(line))
    return before + _units(line[:column]), before + _units(line[: column + excerpt.length])


def _units(text: str) -> int:
    """The length in UTF-16, which JavaScript counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2

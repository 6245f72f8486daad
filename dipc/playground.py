"""The interface of the web page, which sends questions and receives answers as JSON.

The answer to a question is the verdict with the text that the command prints, and then the page of `--html`. While the
user types a program, the page asks for its mistakes (`mistakes`). When the user chooses a question, the page asks for
values of its fields (`form`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from contextvars import copy_context
from io import StringIO
from pathlib import Path

from dipc.cli.main import run
from dipc.cli.options import example_value, parse_definitions
from dipc.cli.output import PAGE, TOOL
from dipc.cli.terminal import PROGRESS
from dipc.outcome import html
from dipc.outcome.outcome import Outcome
from dipc.program.program import load_source
from dipc.text.core import NUMERIC, kind_of
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Excerpt, SourceText

#: The receiver of messages to the page, as JSON: {"kind": "progress", "done", "total"}; {"kind": "answer", "code",
#: "text", "errors", "page"} once, where "page" says whether there is a report.
Tell = Callable[[str], object]


def answer(asked: str, tell: Tell) -> Callable[[], str] | None:
    """Answer the question `asked`, a JSON object, in the current directory.

    The keys of the object are a `command`, its `options`, a `program` and a `table`. The program and the table are null
    or an object with the `name` and the `text` of a file, which is written first. Mistakes of the user do not raise
    exceptions.

    `tell` receives progress and the answer. The result is a function that returns the answer as an HTML page; it is
    called later, as drawing curves takes longer than deciding. The result is None if there is no answer to show.
    """
    question = json.loads(asked)
    files = [file for file in (question["program"], question["table"]) if file is not None]
    for file in files:
        path = Path(file["name"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file["text"], encoding="utf-8")
    out, errors = StringIO(), StringIO()
    context = copy_context()
    report: Callable[[], str] | None = None

    def answered(outcome: Outcome, command: Sequence[str]) -> None:
        nonlocal report

        def draw() -> str:
            return context.run(html.page, outcome, command, TOOL)

        report = draw

    def run_command() -> int:
        PAGE.set(answered)
        PROGRESS.set(lambda done, total: _tell(tell, kind="progress", done=done, total=total))
        # Keeping the proofs, as `--html` does, takes longer than most checks.
        page = () if question["command"] == "check" else ("--html", "page.html")
        return run([question["command"], *(file["name"] for file in files), *question["options"], *page])

    with redirect_stdout(out), redirect_stderr(errors):
        code = context.run(run_command)
    text, messages = out.getvalue(), in_fields(errors.getvalue())
    _tell(tell, kind="answer", code=int(code), text=text, errors=messages, page=report is not None)
    return report


#: The options with a field of their own, which has the option's name or, for `-D`, another one. Others share one field.
_ALONE = "--beta --inputs -D --alpha --gamma --eps --adjacent --budget --delta --input --for"
FIELDS = {option: {"-D": "constants"}.get(option, option[2:]) for option in _ALONE.split()}
_OPTION = re.compile(r"(?:the option )?`(--?[A-Za-z][a-z-]*)(?:[ =]([^`]+))?`")
_USAGE = re.compile(r"^ *= help: `dipc[^`]* --help` .*\n?", re.MULTILINE)


def in_fields(messages: str) -> str:
    """Return `messages` of the command line in terms of the page: options become the names of its input fields."""

    def field(match: re.Match[str]) -> str:
        option, value = match.group(1), match.group(2)
        if option not in FIELDS:
            words = option if value is None else f"{option} {value}"
            return f"`{words}` in the field “more”"
        name = f"the field “{FIELDS[option]}”"
        if value is None:
            return name
        written = value.strip('"')
        return f"`{written}` in {name}"

    return _OPTION.sub(field, _USAGE.sub("", messages))


#: A beta, for programs that claim none.
_SOME_BETA = "1/20"


def form(command: str, text: str, definitions: Sequence[str] = (), eps: str | None = None) -> str:
    """Return a JSON object with a value for each option that `command` needs for the program `text`.

    The page fills its input fields with these values; an option that may be left out has none. `definitions` are the
    texts of constants, and `eps` is the text of the intervals. The object is empty if the program has a mistake.
    """
    try:
        program = load_source(SourceText(_NAME, text), parse_definitions(definitions), eps).core
    except DiagnosticError:
        return "{}"
    fields: dict[str, str] = {}
    listed = program.has_finite_inputs or program.claimed_inputs is not None
    if command == "prob":
        fields["--input"] = ", ".join(f"{slot.name} = {example_value(slot)}" for slot in program.input_slots)
        return json.dumps(fields)
    if not (program.has_finite_inputs if command == "privacy" else listed):
        fields["--inputs"] = "all"
    if command == "privacy":
        numbers = all(kind_of(slot.type) in NUMERIC for slot in program.input_slots)
        fields["--adjacent"] = "linf:1" if numbers else "hamming:1"
        return json.dumps(fields)
    claimed = {each.name for each in program.claim.fields} if program.claim is not None else set()
    if "beta" not in claimed:
        fields["--beta"] = _SOME_BETA
    if command == "solve":
        fields["--for"] = "eps" if listed else "alpha"
    return json.dumps(fields)


def _tell(tell: Tell, **event: object) -> None:
    tell(json.dumps(event, ensure_ascii=False))


_NAME = "<program>"


def mistakes(text: str, definitions: Sequence[str] = (), eps: str | None = None) -> str:
    """Return the mistakes of the program `text` as JSON: a list of {"from", "to", "code", "message", "notes"}.

    Offsets count as in JavaScript. Mistakes in `definitions` or `eps` alone are left out, as they are not mistakes of
    the program.
    """
    diagnostics: Sequence[Diagnostic] = ()
    try:
        load_source(SourceText(_NAME, text), parse_definitions(definitions), eps)
    except DiagnosticError as error:
        diagnostics = error.diagnostics
    lines = text.split("\n")
    here = ((each, each.excerpt) for each in diagnostics if each.excerpt is not None and each.excerpt.file == _NAME)
    return json.dumps([_placed(each, place, lines) for each, place in here], ensure_ascii=False)


def _placed(diagnostic: Diagnostic, excerpt: Excerpt, lines: Sequence[str]) -> dict[str, object]:
    line, label, message = lines[excerpt.line - 1], diagnostic.label, diagnostic.message
    before = sum(_units(each) + 1 for each in lines[: excerpt.line - 1])
    column = min(excerpt.column - 1, len(line))
    start, end = (before + _units(line[:to]) for to in (column, column + excerpt.length))
    # The text beneath the caret is often a part of the message.
    message = message if label in message else f"{message}: {label}"
    return {"from": start, "to": end, "code": diagnostic.code, "message": message, "notes": diagnostic.notes}


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2

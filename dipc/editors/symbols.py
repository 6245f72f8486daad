"""The names of a program for an editor: their declarations, their meanings, and the noises that they hold.

Questions about a whole program may take long, so a separate process answers them.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import TypeVar

from dipc.algebra.limits import Limits, Undecided
from dipc.frozen import frozen
from dipc.program.inputs import FiniteInputs, parse_inputs
from dipc.program.program import load_source
from dipc.text.ast import (
    ConstDecl,
    Declaration,
    DomainDecl,
    DomainExpr,
    For,
    IdealDecl,
    ListedDomain,
    Name,
    ProgramTree,
    Sample,
    Statement,
    TypeExpr,
    VariableDecl,
    walk,
)
from dipc.text.diagnostic import Diagnostic, DiagnosticError, SourceText, Span
from dipc.text.parser import parse
from dipc.text.words import words


@frozen
class Symbol:
    """A name that a program declares.

    `place` is the name in its declaration, `scope` the part of the text where the name is known (None: everywhere).
    `declaration` is the text that declares it, and `laws` are the statements that draw its values.
    """

    name: str
    place: Span
    scope: Span | None
    declaration: str
    laws: tuple[str, ...] = ()


def symbol_at(text: str, offset: int) -> Symbol | None:
    """Return the symbol of the name at `offset` in the program `text`.

    The symbol is that of the innermost declaration whose scope contains the name. The result is None if there is no
    such name, or if the text is not a program.
    """
    span = name_at(text, offset)
    if span is None:
        return None
    try:
        program = parse(SourceText("program", text))
    except DiagnosticError:
        return None
    name = text[span.start : span.end]
    known = [
        s
        for s in _declared(text, program)
        if s.name == name and (s.scope is None or (s.scope.start <= span.start and span.end <= s.scope.end))
    ]
    return min(known, key=lambda s: len(text) if s.scope is None else s.scope.end - s.scope.start, default=None)


def name_at(text: str, offset: int) -> Span | None:
    """Return the place of the name in `text` that contains `offset` or ends there.

    The result is None if there is no such name, or if it is in a comment.
    """
    line = text.rfind("\n", 0, offset) + 1
    if "#" in text[line:offset]:
        return None
    for matched in re.finditer(words().name, text[line : text.find("\n", offset) % (len(text) + 1)]):
        if matched.start() <= offset - line <= matched.end():
            return Span(line + matched.start(), line + matched.end())
    return None


def completions(text: str, offset: int) -> Sequence[str]:
    """Return the words that complete the beginning of a word in `text` before `offset`.

    They are the names in the text, and the words of the language.
    """
    line = text.rfind("\n", 0, offset) + 1
    if "#" in text[line:offset]:
        return ()
    own = name_at(text, offset)
    vocabulary = words()
    result: dict[str, None] = {}
    for match in re.finditer(rf"#[^\n]*|({vocabulary.name})", text):
        if match[1] and (own is None or match.start() != own.start):
            result[match[1]] = None
    groups = (vocabulary.keywords, vocabulary.types, vocabulary.distributions, vocabulary.constants)
    for group in (*groups, vocabulary.operators, vocabulary.functions):
        result.update(dict.fromkeys(word for word in group if word.isascii()))
    return tuple(result)


def _declared(text: str, program: ProgramTree) -> Iterator[Symbol]:
    yield from _of_declarations(text, program.declarations, program.body, None)
    yield from _of_loops(text, program.body)
    for declaration in program.declarations:
        if isinstance(declaration, IdealDecl):
            yield from _of_declarations(text, declaration.declarations, declaration.body, declaration.span)
            yield from _of_loops(text, declaration.body)


def _of_declarations(
    text: str, declarations: Sequence[Declaration], body: Sequence[Statement], scope: Span | None
) -> Iterator[Symbol]:
    for declaration in declarations:
        match declaration:
            case ConstDecl(bindings):
                start = declaration.span.start
                for name, value in bindings:
                    place = _last(text, name, start, value.span.start)
                    yield Symbol(name, place, scope, f"const {name} = {_slice(text, value.span)}")
                    start = value.span.end
            case DomainDecl(name, domain):
                place = _last(text, name, declaration.span.start, domain.span.start)
                yield Symbol(name, place, scope, f"domain {name} = {_slice(text, domain.span)}")
                yield from _values(domain, scope, f"of domain {name}")
            case VariableDecl(role, declarators, kind):
                written = _slice(text, kind.span)
                for declarator in declarators:
                    name = declarator.name
                    place = Span(declarator.span.start, declarator.span.start + len(name))
                    signature = f"{role.value} {_slice(text, declarator.span)} : {written}"
                    draws = [
                        each for each in walk(tuple(body)) if isinstance(each, Sample) and each.target.name == name
                    ]
                    laws = tuple(dict.fromkeys(_slice(text, each.span) for each in draws))
                    yield Symbol(name, place, scope, signature, laws)
                yield from _values(kind, scope, "of its type")
            case _:
                pass


def _values(domain: DomainExpr | TypeExpr, scope: Span | None, what: str) -> Iterator[Symbol]:
    if isinstance(domain, ListedDomain):
        for value in domain.values:
            if isinstance(value, Name):
                yield Symbol(value.name, value.span, scope, f"{value.name}, a value {what}")


def _of_loops(text: str, body: Sequence[Statement]) -> Iterator[Symbol]:
    for node in walk(tuple(body)):
        if isinstance(node, For):
            place = _last(text, node.variable, node.span.start, node.low.span.start)
            bounds = f"{_slice(text, node.low.span)}..{_slice(text, node.high.span)}"
            yield Symbol(node.variable, place, node.span, f"for {node.variable} in {bounds}")


def _last(text: str, name: str, start: int, end: int) -> Span:
    *_, matched = re.finditer(rf"\b{re.escape(name)}\b", text[start:end])
    return Span(start + matched.start(), start + matched.end())


def _slice(text: str, span: Span) -> str:
    return " ".join(text[span.start : span.end].split())


_R = TypeVar("_R")


class WorkStopped(Exception):
    """Raised if a question to a worker was stopped, or if the worker's process has ended."""


def serve(connection: Connection) -> None:
    """Answer the questions that `connection` brings, until it closes."""
    while True:
        try:
            function, text = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        connection.send(function(text))


class Worker:
    """A process that answers questions about texts.

    A question is a module-level function with one argument, the text.
    """

    def __init__(self) -> None:
        self._context = get_context("spawn")
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None
        self._turn = threading.Lock()
        self._ending = threading.Lock()

    def ask(self, function: Callable[[str], _R], text: str) -> _R:
        """Return the result of `function` for `text`; raise WorkStopped if `stop` is called before it is known."""
        with self._turn:
            with self._ending:
                connection = self._started()
            try:
                connection.send((function, text))
                answer: _R = connection.recv()
            except (EOFError, OSError) as gone:
                self.stop()
                raise WorkStopped from gone
            return answer

    def stop(self) -> None:
        """Stop the current question; the next one starts a new process."""
        with self._ending:
            if self._process is not None and self._connection is not None:
                self._process.kill()
                self._process.join()
                self._connection.close()
            self._process = self._connection = None

    @property
    def is_busy(self) -> bool:
        """True if a caller is waiting for the result of `ask`."""
        return self._turn.locked()

    def _started(self) -> Connection:
        if self._connection is None:
            here, there = self._context.Pipe()
            self._process = self._context.Process(target=serve, args=(there,), daemon=True, name="dipc-lsp-worker")
            self._process.start()
            there.close()
            self._connection = here
        return self._connection


# --- questions about a text ------------------------------------------------------------------------


_NAME = "program"

#: The greatest number of answers that are shown; the others are counted.
_MOST_ANSWERS = 8


def mistakes(text: str) -> Sequence[Diagnostic]:
    """Return the diagnostics of the program `text`, as `dipc check` reports them."""
    try:
        load_source(SourceText(_NAME, text), {}, None)
    except DiagnosticError as error:
        return error.diagnostics
    return []


def probabilities(text: str) -> str | None:
    """Return the probability of each answer of the program `text`, in closed form, at the one input of its claim.

    The result is None if the claim has several inputs or none, or if no output is finite.
    """
    try:
        program = load_source(SourceText(_NAME, text), {}, None).with_limits(Limits(steps=10**8, states=10_000))
        inputs = parse_inputs(program.core.claimed_inputs or "", program) if program.inputs else None
        if inputs is not None and not (isinstance(inputs, FiniteInputs) and inputs.count == 1):
            return None
        values = next(iter(inputs)) if inputs is not None else ()
        outcomes = program.outcomes(dict(zip(program.inputs, values, strict=True)))
    except (DiagnosticError, Undecided):
        return None
    if not any(value is not None for outcome in outcomes for value in outcome.output.values()):
        return None
    lines = []
    for outcome in outcomes:
        answer = ", ".join(f"{name} = {value}" for name, value in outcome.output.items() if value is not None)
        lines.append(f"{answer}: {outcome.probability}")
    more = len(lines) - _MOST_ANSWERS
    return "\n".join([*lines[:_MOST_ANSWERS], *([f"and {more} more"] if more > 0 else [])])

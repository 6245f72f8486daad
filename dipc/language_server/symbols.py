"""The names of a program: where each is declared, what it is, and what is drawn into it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dipc.editors.words import words
from dipc.text.ast import (
    ConstDecl,
    Declaration,
    DomainDecl,
    DomainExpr,
    For,
    IdealDecl,
    ListedDomain,
    Name,
    Program,
    Sample,
    Statement,
    TypeExpr,
    VariableDecl,
    walk,
)
from dipc.text.diagnostic import DiagnosticError, Source, Span
from dipc.text.parser import parse


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declared name. `place` is the name where it is declared, `scope` the part of the text that knows it (None: all
    of it), `declaration` how it is declared, and `laws` are the statements that draw its values."""

    name: str
    place: Span
    scope: Span | None
    declaration: str
    laws: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Symbols:
    """All of one text."""

    text: str
    declared: tuple[Symbol, ...]

    @staticmethod
    def of(text: str) -> Symbols | None:
        """None where the text is no program."""
        try:
            program = parse(Source("program", text))
        except DiagnosticError:
            return None
        return Symbols(text, tuple(_declared(text, program)))

    def at(self, offset: int) -> Symbol | None:
        """What the name at this place of the text means: the innermost declaration that is known there."""
        span = name_at(self.text, offset)
        if span is None:
            return None
        name = self.text[span.start : span.end]
        known = [s for s in self.declared if s.name == name and (s.scope is None or _inside(span, s.scope))]
        return min(
            known, key=lambda s: len(self.text) if s.scope is None else s.scope.end - s.scope.start, default=None
        )


def name_at(text: str, offset: int) -> Span | None:
    """The name that is at or ends at this place, outside comments."""
    line = text.rfind("\n", 0, offset) + 1
    if "#" in text[line:offset]:
        return None
    for found in re.finditer(words().name, text[line : text.find("\n", offset) % (len(text) + 1)]):
        if found.start() <= offset - line <= found.end():
            return Span(line + found.start(), line + found.end())
    return None


def completions(text: str, offset: int) -> Sequence[str]:
    """What may be meant where something is being typed: the names in the text, and the words of the language."""
    line = text.rfind("\n", 0, offset) + 1
    if "#" in text[line:offset]:
        return ()
    own = name_at(text, offset)
    vocabulary = words()
    found: dict[str, None] = {}
    for match in re.finditer(rf"#[^\n]*|({vocabulary.name})", text):
        if match[1] and (own is None or match.start() != own.start):
            found[match[1]] = None
    groups = (vocabulary.keywords, vocabulary.types, vocabulary.distributions, vocabulary.constants)
    for group in (*groups, vocabulary.operators, vocabulary.functions):
        found.update(dict.fromkeys(word for word in group if word.isascii()))
    return tuple(found)


def _declared(text: str, program: Program) -> Iterator[Symbol]:
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
                    shown = f"{role.value} {_slice(text, declarator.span)} : {written}"
                    yield Symbol(name, place, scope, shown, tuple(dict.fromkeys(_laws(text, name, body))))
                yield from _values(kind, scope, "of its type")
            case _:
                pass


def _values(domain: DomainExpr | TypeExpr, scope: Span | None, what: str) -> Iterator[Symbol]:
    """The names that a list of values declares."""
    if isinstance(domain, ListedDomain):
        for value in domain.values:
            if isinstance(value, Name):
                yield Symbol(value.name, value.span, scope, f"{value.name}, a value {what}")


def _of_loops(text: str, body: Sequence[Statement]) -> Iterator[Symbol]:
    for part in walk(tuple(body)):
        if isinstance(part, For):
            place = _last(text, part.variable, part.span.start, part.low.span.start)
            bounds = f"{_slice(text, part.low.span)}..{_slice(text, part.high.span)}"
            yield Symbol(part.variable, place, part.span, f"for {part.variable} in {bounds}")


def _laws(text: str, name: str, body: Sequence[Statement]) -> Iterator[str]:
    for part in walk(tuple(body)):
        if isinstance(part, Sample) and part.target.name == name:
            yield _slice(text, part.span)


def _last(text: str, name: str, start: int, end: int) -> Span:
    """The last place of a name in a part of the text where it is known to be."""
    *_, found = re.finditer(rf"\b{re.escape(name)}\b", text[start:end])
    return Span(start + found.start(), start + found.end())


def _inside(span: Span, scope: Span) -> bool:
    return scope.start <= span.start and span.end <= scope.end


def _slice(text: str, span: Span) -> str:
    """On one line."""
    return " ".join(text[span.start : span.end].split())

"""The language server: diagnostics, hover, definitions, formatting and completion over a stream."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

import dipc
from dipc.editors.symbols import Worker, WorkStopped, completions, mistakes, probabilities, symbol_at
from dipc.text.diagnostic import Diagnostic, DiagnosticError, SourceText, Span
from dipc.text.printer import formatted

#: The pause in typing, in seconds, after which the program is checked, and the time that a hover waits.
_PAUSE, _PATIENCE = 0.15, 2.0


class Server(LanguageServer):
    """The language server, with two worker processes.

    `checking` finds mistakes in a text, and is stopped when the text changes. `measuring` computes closed forms.
    """

    def __init__(self) -> None:
        super().__init__("dipc", dipc.__version__)
        self.checking = Worker()
        self.measuring = Worker()

    async def look_at(self, document: TextDocument) -> None:
        """Publish the mistakes in `document`, unless it changes before they are found."""
        version, text = document.version, document.source
        if self.checking.is_busy:
            self.checking.stop()
        await asyncio.sleep(_PAUSE)
        if document.version != version:
            return
        try:
            known = await asyncio.to_thread(partial(self.checking.ask, mistakes, text))
        except WorkStopped:
            return
        if document.version == version:
            diagnostics = [self._diagnostic(document, each) for each in known]
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, diagnostics, version))

    def _diagnostic(self, document: TextDocument, mistake: Diagnostic) -> types.Diagnostic:
        line = start = end = 0
        if (place := mistake.excerpt) is not None:
            line, start = place.line - 1, min(place.column - 1, len(place.text))
            end = min(start + place.length, len(place.text))
        marked = types.Range(types.Position(line, start), types.Position(line, end))
        # The text beneath the caret is often a part of the message.
        beneath = "" if mistake.label in mistake.message else f": {mistake.label}"
        severity = types.DiagnosticSeverity.Warning if mistake.is_warning else types.DiagnosticSeverity.Error
        return types.Diagnostic(
            range=document.position_codec.range_to_client_units(document.lines, marked),
            message="\n".join([mistake.message + beneath, *mistake.notes]),
            severity=severity,
            code=mistake.code,
            source="dipc",
        )

    async def closed_forms(self, text: str) -> str | None:
        """Return the probabilities of the outputs of the program `text` in closed form, as text.

        The function `probabilities` computes them in another process. The result is None if that takes too long.
        """
        asked = asyncio.to_thread(partial(self.measuring.ask, probabilities, text))
        try:
            return await asyncio.wait_for(asked, _PATIENCE)
        except (TimeoutError, WorkStopped):
            self.measuring.stop()
            return None

    def range_of(self, document: TextDocument, span: Span) -> types.Range:
        """Return `span`, a part of `document`, as a range in the client's coordinates."""
        ends = [_position(document.lines, position) for position in (span.start, span.end)]
        return document.position_codec.range_to_client_units(document.lines, types.Range(*ends))


def _readable(document: TextDocument) -> TextDocument:
    try:
        document.source  # noqa: B018 - reads the file of a closed document
    except (OSError, ValueError):
        return TextDocument(document.uri, "", position_codec=document.position_codec)
    return document


def _position(lines: Sequence[str], offset: int) -> types.Position:
    for number, line in enumerate(lines):
        if offset < len(line) or (offset == len(line) and not line.endswith("\n")):
            return types.Position(number, offset)
        offset -= len(line)
    return types.Position(len(lines), 0)


def made() -> Server:
    """Return a new language server with all its features; no client is connected yet."""
    server = Server()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        await ls.look_at(ls.workspace.get_text_document(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
        await ls.look_at(ls.workspace.get_text_document(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
        document = _readable(ls.workspace.get_text_document(params.text_document.uri))
        text = document.source
        symbol = symbol_at(text, document.offset_at_position(params.position))
        if not symbol:
            return None
        lines = ["```dipwhile", symbol.declaration, *symbol.laws, "```"]
        if symbol.declaration.startswith("output ") and (forms := await ls.closed_forms(text)) is not None:
            lines += ["Probabilities at the input of the claim:", "```", forms, "```"]
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n".join(lines)))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(ls: Server, params: types.DefinitionParams) -> types.Location | None:
        document = _readable(ls.workspace.get_text_document(params.text_document.uri))
        symbol = symbol_at(document.source, document.offset_at_position(params.position))
        return types.Location(document.uri, ls.range_of(document, symbol.place)) if symbol else None

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatting(ls: Server, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        document = _readable(ls.workspace.get_text_document(params.text_document.uri))
        text = document.source
        try:
            new = formatted(SourceText("program", text))
        except DiagnosticError:
            return None  # the mistakes are shown already
        return [] if new == text else [types.TextEdit(ls.range_of(document, Span(0, len(text))), new)]

    @server.feature(types.TEXT_DOCUMENT_COMPLETION)
    def completion(ls: Server, params: types.CompletionParams) -> list[types.CompletionItem]:
        document = _readable(ls.workspace.get_text_document(params.text_document.uri))
        offset = document.offset_at_position(params.position)
        return [types.CompletionItem(label) for label in completions(document.source, offset)]

    return server

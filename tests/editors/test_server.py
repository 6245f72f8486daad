"""An editor and the server, over pipes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from dipc.cli.main import main, run
from dipc.editors.symbols import Worker, WorkStopped, mistakes
from dipc.text.diagnostic import SourceText
from dipc.text.printer import formatted
from tests.patience import SECONDS, until

ROOT = Path(__file__).resolve().parents[2]
URI = "file:///program.dip"

#: The 𝛼 is two units of what editors count.
TEXT = "program p;  # 𝛼\noutput o : bool;\n\no <-   true or y;  # 𝛼 𝛼\n"


async def session(ask: Callable[[LanguageClient], Awaitable[None]]) -> None:
    client = LanguageClient("editor", "1")
    await client.start_io(sys.executable, "-m", "dipc", "lsp", cwd=ROOT)
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
    client.initialized(types.InitializedParams())
    try:
        await ask(client)
    finally:
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()


def test_the_end_of_a_session_is_quiet() -> None:
    """The server process, sent `shutdown` and `exit` as an editor does, ends without a word on stderr."""
    sent = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    texts = [json.dumps({"jsonrpc": "2.0", **message}) for message in sent]
    given = "".join(f"Content-Length: {len(text)}\r\n\r\n{text}" for text in texts)
    command = [sys.executable, "-m", "dipc", "lsp"]
    done = subprocess.run(command, input=given.encode(), capture_output=True, cwd=ROOT, timeout=SECONDS, check=False)
    assert done.returncode == 0
    assert done.stderr == b""
    assert b'"capabilities"' in done.stdout


def place(line: int, start: int, end: int) -> types.Range:
    return types.Range(types.Position(line, start), types.Position(line, end))


def test_a_session() -> None:
    asyncio.run(asyncio.wait_for(session(talk), SECONDS))


async def talk(client: LanguageClient) -> None:
    published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def publish(params: types.PublishDiagnosticsParams) -> None:
        published.put_nowait(params)

    document = types.TextDocumentIdentifier(URI)
    client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(URI, "dipwhile", 1, TEXT)))
    (found,) = (await published.get()).diagnostics
    assert found.range == place(3, 15, 16)
    assert found.source == "dipc"
    assert "`y`" in found.message

    mended = TEXT.replace(" or y", "")
    for version, text in ((2, TEXT + "x"), (3, mended)):
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, URI),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )
    while (last := await published.get()).version != 3:
        pass
    assert not last.diagnostics

    name = types.Position(3, 0)
    said = ""
    for _ in range(50):  # On a busy machine the first ones come before their closed forms are there.
        hover = await client.text_document_hover_async(types.HoverParams(document, name))
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        said = hover.contents.value
        if "Probabilities" in said:
            break
    assert said.startswith("```dipwhile\noutput o : bool\n```\n")
    assert "o = true: 1" in said
    where = await client.text_document_definition_async(types.DefinitionParams(document, name))
    assert where == types.Location(URI, place(1, 7, 8))
    edits = await client.text_document_formatting_async(
        types.DocumentFormattingParams(document, types.FormattingOptions(2, insert_spaces=True))
    )
    assert edits is not None
    (edit,) = edits
    assert edit.new_text == formatted(SourceText("program", mended))
    assert "o <- true" in edit.new_text
    assert edit.new_text.count("# 𝛼") == 2
    assert edit.range.end == types.Position(4, 0)
    items = await client.text_document_completion_async(types.CompletionParams(document, name))
    assert isinstance(items, list)
    assert {"o", "output", "DLap"} <= {item.label for item in items}


def endless(_: str) -> str:
    while True:
        pass


def test_what_nobody_waits_for_is_ended() -> None:
    from threading import Thread

    worker, seen = Worker(), list[str]()

    def ask() -> None:
        try:
            worker.ask(endless, "")
        except WorkStopped:
            seen.append("stopped")

    asking = Thread(target=ask)
    asking.start()
    until(lambda: worker._process is not None and worker.is_busy)
    worker.stop()
    asking.join(SECONDS)
    assert seen == ["stopped"]
    assert worker.ask(mistakes, "program p; output o : bool; o <- true") == []
    worker.stop()


def test_without_pygls_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "dipc.editors.server", raising=False)
    monkeypatch.setitem(sys.modules, "lsprotocol", None)
    with pytest.raises(SystemExit) as ended:
        main(["lsp"])
    assert ended.value.code == 2
    assert "in a checkout pip install '.[lsp]', elsewhere pip install pygls" in capsys.readouterr().err


def test_without_standard_input_there_is_nobody_to_talk_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert run(["lsp"]) == 2
    assert "E0813" in capsys.readouterr().err


def test_questions_about_a_closed_document_have_answers() -> None:
    """An editor may ask about a document that it has closed, or that was never a file, and far below its end."""
    asyncio.run(asyncio.wait_for(session(ask_about_closed_documents), SECONDS))


async def ask_about_closed_documents(client: LanguageClient) -> None:
    item = types.TextDocumentItem(URI, "dipwhile", 1, TEXT)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(URI)))
    for uri in (URI, "file:///nowhere/at/all.dip", "untitled:1", (ROOT / "dipc").as_uri()):
        document, position = types.TextDocumentIdentifier(uri), types.Position(3, 0)
        options = types.FormattingOptions(2, True)
        assert await client.text_document_hover_async(types.HoverParams(document, position)) is None
        assert await client.text_document_definition_async(types.DefinitionParams(document, position)) is None
        edits = types.DocumentFormattingParams(document, options)
        assert await client.text_document_formatting_async(edits) is None
        completed = await client.text_document_completion_async(types.CompletionParams(document, position))
        assert isinstance(completed, list)
        assert "program" in [each.label for each in completed]

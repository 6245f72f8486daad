from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from dipc.cli import tools
from dipc.cli.main import run


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed playground."""
    found = ModuleSpec("dipc_playground", None, is_package=True)
    found.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(tools, "find_spec", lambda _: found)
    place = tmp_path / "site"
    place.mkdir()
    (place / "index.html").write_text("<p>the page</p>")
    (place / "code.mjs").write_text("export {};")
    (place / "code.wasm").write_bytes(b"\0asm")
    return place


@pytest.fixture
def port(site: Path) -> Iterator[int]:
    with tools.server(site, 0) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def got(port: int, path: str, host: str | None = None, method: str = "GET") -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, headers={} if host is None else {"Host": host})
    return connection.getresponse()


def test_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(tools, "find_spec", lambda _: None)
    assert run(["serve"]) == 2
    assert capsys.readouterr().err == (
        "error[E0810]: the playground is a separate package, which is not installed\n"
        "  = help: in a checkout, `make playground` builds and installs it\n"
    )


def test_files_are_handed_out_with_a_policy(port: int) -> None:
    page = got(port, "/")
    assert page.status == 200
    assert page.read() == b"<p>the page</p>"
    assert "default-src 'none'" in (page.getheader("Content-Security-Policy") or "")
    assert got(port, "/code.mjs").getheader("Content-Type") == "text/javascript"
    assert got(port, "/code.wasm").getheader("Content-Type") == "application/wasm"


def test_nothing_else_is(port: int) -> None:
    assert got(port, "/../secret").status == 404
    assert got(port, "/", "somebody.example:80").status == 421
    assert got(port, "/", method="POST").status == 501


def test_a_port_that_is_taken(port: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "--no-open", "--port", str(port)]) == 2
    assert f"error[E0810]: port {port} is not available" in capsys.readouterr().err


def test_it_says_where_it_is_until_it_is_interrupted(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_server: object) -> None:
        raise KeyboardInterrupt

    opened: list[str] = []
    monkeypatch.setattr("http.server.ThreadingHTTPServer.serve_forever", interrupted)
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert run(["serve", "--port", "0"]) == 0
    (address,) = opened
    assert capsys.readouterr().out == f"{address} (Ctrl-C ends it)\n"

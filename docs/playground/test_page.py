"""The built page in Chromium: `make web`. Seconds are asked for nowhere; what took how long is printed."""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from dipc.cli import tools

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "playground" / "dipc_playground" / "site"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

#: Without these a browser asks its makers for news.
FLAGS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

#: Milliseconds after which the page is taken to hang.
PATIENCE = 120_000

#: Where screenshots go, if they are asked for.
PICTURES = os.environ.get("DIPC_PICTURES")

BETA = "2*m*c*exp(-alpha*eps/(8*c))"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with tools.server(SITE, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM is not None, "no Chromium: apt-get install chromium"
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def opened(browser: Browser, address: str) -> Iterator[tuple[Page, list[str]]]:
    """A page that is ready, with its complaints and its requests to others."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    context.on("request", lambda request: None if own(request.url, address) else wrong.append(request.url))
    page.goto(address)
    expect(page.locator("body")).to_have_attribute("data-ready", re.compile(r"\d"))
    yield page, wrong
    context.close()


@pytest.fixture
def page(opened: tuple[Page, list[str]]) -> Iterator[Page]:
    """The page with its first question; complaints and requests to others fail the test."""
    found, wrong = opened
    found.get_by_label("Gallery").select_option(label="Sparse vector technique: holds")
    found.locator("#live").check()
    yield found
    assert wrong == []


def own(url: str, address: str) -> bool:
    return url.startswith((address, "data:", f"blob:{address}"))


def ask(page: Page, beta: str) -> None:
    """Ask again, with this beta."""
    page.get_by_label("beta", exact=True).fill(beta)


def shown(page: Page, beta: str) -> None:
    """Return when the report about this beta is there."""
    expect(page.locator("#report:not(.old) dl").first).to_contain_text(beta)


def printed(name: str) -> list[str]:
    """The paragraphs that a golden file has of the standard output."""
    text = (ROOT / "tests" / "golden" / f"{name}.txt").read_text(encoding="utf-8")
    return [part.strip("\n") for part in text.split("--- stdout\n")[1].split("--- stderr")[0].split("\n\n")]


def test_the_verdicts_of_the_command(page: Page) -> None:
    said = {6: "accurate: all 27 rows, 13 of them vacuously", 7: "INACCURATE: 2 of 27 rows fail"}
    for factor, name in ((6, "accurate_sparse"), (7, "inaccurate_sparse")):
        ask(page, f"{BETA}/{factor}")
        expect(page.locator("#line")).to_contain_text(said[factor])
        text = page.locator("#text").text_content() or ""
        parts = printed(name)
        assert len(parts) > 1
        for part in parts:
            closed = part.startswith("--closed-form")  # without a terminal it stands there, too
            assert closed or part in text
        shown(page, f"{BETA}/{factor}")
        expect(page.locator("#report .wide tr")).to_have_count(28)
        expect(page.locator("#report .u-wrap canvas")).to_be_visible()
        page.locator("#report details summary").first.click()
        expect(page.locator("#report details math").first).to_be_visible()
    # The plot is there for the second claim as for the first, and what fails is shaded.
    expect(page.locator("#report .key .fail")).to_be_visible()


def test_the_second_check_is_quick(page: Page) -> None:
    ask(page, f"{BETA}/6")
    expect(page.locator("#line")).to_contain_text("accurate: all 27 rows")
    seconds = []
    for factor in (7, 8, 9):
        begun = time.perf_counter()
        ask(page, f"{BETA}/{factor}")
        expect(page.locator("#text")).to_contain_text(f"{BETA}/{factor}")
        verdict = time.perf_counter() - begun
        took = page.locator("#took").inner_text()
        shown(page, f"{BETA}/{factor}")
        seconds.append((took, f"{verdict:.2f} s", f"{time.perf_counter() - begun:.2f} s"))
    ready = page.locator("body").get_attribute("data-ready")
    print(f"ready after {ready} s; the check, from the key to the verdict, and to the plot: {seconds}")


def test_a_mistake_is_underlined(page: Page) -> None:
    expect(page.locator("#verdict.good")).to_be_visible()
    line = page.locator(".cm-line", has_text="rT <- Lap(eps/(2*c), T);").first
    line.click()
    page.keyboard.press("End")
    page.keyboard.type(" oops oops")
    expect(page.locator(".cm-lintRange-error").first).to_have_text("oops")
    expect(page.locator("#mistakes li")).to_contain_text("E0")
    expect(page.locator("#why")).to_contain_text("Not asked: line ")
    expect(page.locator("#before")).to_be_visible()  # the old answer is about another program
    for _ in " oops oops":
        page.keyboard.press("Backspace")
    expect(page.locator(".cm-lintRange-error")).to_have_count(0)
    expect(page.locator("#mistakes li")).to_have_count(0)


def test_the_first_clicks_are_answered(page: Page) -> None:
    """Whichever question is chosen, its fields hold what it needs, and no message speaks of options."""
    for title in ("Noisy threshold: holds", "Sparse vector technique: holds"):
        page.get_by_label("Gallery").select_option(label=title)
        expect(page.locator("#verdict.good")).to_be_visible()
        for command in ("privacy", "tighten", "solve", "prob", "check"):
            page.locator("#command").select_option(command)
            expect(page.locator("#asked")).to_contain_text(command)
            expect(page.locator("#text")).not_to_contain_text("error")
            expect(page.locator("#line")).not_to_contain_text("No answer")


def test_a_form_that_is_emptied_says_which_field_it_needs(page: Page) -> None:
    page.get_by_label("Gallery").select_option(label="Noisy threshold: holds")
    page.locator("#command").select_option("privacy")
    expect(page.get_by_label("adjacent")).to_have_value("linf:1")
    page.get_by_label("adjacent").fill("")
    expect(page.locator("#line")).to_have_text("No answer: the field “adjacent” is missing")


def test_what_a_program_is_stands_beside_it(page: Page) -> None:
    expect(page.locator("#about")).to_contain_text("the sparse vector technique")
    expect(page.locator(".cm-line").first).to_have_text("program sparse;")


def test_a_runaway_is_stopped(page: Page) -> None:
    page.locator("#table summary").click()
    page.locator("#rows").fill("")
    page.get_by_label("constants").fill("m = 5")
    page.get_by_label("inputs", exact=True).fill("q = -6..6")
    page.locator("#stop").click()
    expect(page.locator("#status")).to_have_text("Stopped; nothing was decided.")
    page.get_by_label("constants").fill("m = 2")
    page.get_by_label("inputs", exact=True).fill("q = -1..1")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#line")).to_contain_text("of 9 rows fail")


def test_a_link_holds_the_question(page: Page, browser: Browser) -> None:
    ask(page, f"{BETA}/7")
    shown(page, f"{BETA}/7")
    link = page.url
    assert "#1" in link
    other = browser.new_page()
    other.goto(link)
    expect(other.locator("#line")).to_contain_text("INACCURATE: 2 of 27 rows fail")
    assert (other.locator("#rows").input_value()).startswith("q[1],")
    other.close()


@pytest.mark.parametrize(
    ("title", "verdict"),
    [
        ("Sparse vector, privacy: fails", "NOT PRIVATE"),
        ("Three randomized responses: holds", "accurate"),
    ],
)
def test_the_gallery(page: Page, title: str, verdict: str) -> None:
    page.get_by_label("Gallery").select_option(label=title)
    expect(page.locator("#line")).to_contain_text(verdict)
    expect(page.locator("#report .u-wrap canvas")).to_be_visible()


@pytest.fixture
def visitor(browser: Browser) -> Iterator[BrowserContext]:
    """Somebody who has not been here before."""
    context = browser.new_context()
    yield context
    context.close()


def visit(context: BrowserContext, address: str, began: str) -> tuple[Page, list[str]]:
    """A page with its first answer, which Python gives that `began` with files or with memory; what was fetched."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    fetched: list[str] = []
    page.on("response", lambda response: fetched.append(response.url.removeprefix(address)))
    begun = time.perf_counter()
    page.goto(address)
    expect(page.locator("#line")).to_contain_text("accurate: both rows")
    print(f"first answer, from {began}: {time.perf_counter() - begun:.2f} s, load {os.getloadavg()[0]:.1f}")
    expect(page.locator("body")).to_have_attribute("data-from", began)
    return page, fetched


KEPT = """async () => {
  for (const name of await caches.keys()) { if (await (await caches.open(name)).match("memory")) { return true; } }
  return false;
}"""
SPOIL = """async () => {
  const bytes = new Uint8Array(100);
  for (const name of await caches.keys()) { await (await caches.open(name)).put("memory", new Response(bytes)); }
}"""


def test_the_second_visit_fetches_nothing_again(visitor: BrowserContext, address: str) -> None:
    """The browser keeps the files, and the memory of Python that has imported dipc. Answers are the same."""
    page, fetched = visit(visitor, address, "files")
    assert {"packages.gz", "pyodide/pyodide.asm.wasm", "pyodide/python_stdlib.zip"} <= {*fetched}
    texts = [page.locator("#text").text_content()]
    page.wait_for_function(KEPT)
    page.close()
    page, fetched = visit(visitor, address, "memory")
    assert not {each for each in fetched if each.endswith((".gz", ".wasm", ".zip"))}
    texts.append(page.locator("#text").text_content())
    assert texts[0] == texts[1]
    # Every command goes on from there, with modules that were not imported before.
    for title in ("Sparse vector technique: tighten", "Noisy threshold: solve", "Gaussian count: holds"):
        page.get_by_label("Gallery").select_option(label=title)
        expect(page.locator("#verdict.good, #verdict.bad")).to_be_visible()
        expect(page.locator("#text")).not_to_contain_text("internal error")
        expect(page.locator("#report .u-wrap canvas")).to_be_visible()
    page.get_by_label("Gallery").select_option(label="Majority of responses: prob")
    expect(page.locator("#line")).to_contain_text("majority: 2 outputs")
    expect(page.locator("#report:not(.old) .caption")).to_contain_text("the exact probability of one output")
    page.close()


def test_a_memory_that_is_spoilt_is_made_anew(visitor: BrowserContext, address: str) -> None:
    page, _ = visit(visitor, address, "files")
    page.wait_for_function(KEPT)
    page.evaluate(SPOIL)
    page.close()
    page, _ = visit(visitor, address, "files")
    page.close()


def test_any_web_server_will_do(visitor: BrowserContext) -> None:
    """The folder works below any address, from a server that knows nothing of it."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(SITE.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page, _ = visit(visitor, f"http://127.0.0.1:{server.server_address[1]}/{SITE.name}/", "files")
        page.close()
        server.shutdown()


def test_no_package_that_nobody_asked_for() -> None:
    names = {path.split("/")[2] for path, _ in json.loads((SITE / "start.json").read_text(encoding="utf-8"))["names"]}
    assert {"dipc", "flint", "click", "lark"} <= names
    assert not {"numpy", "scipy", "sympy", "matplotlib", "rich"} & names


def test_narrow_and_dark(page: Page) -> None:
    """Nothing is wider than the window."""
    expect(page.locator("#report .u-wrap canvas")).to_be_visible()
    for scheme in ("light", "dark"):
        for width in (400, 1400):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            # The plot is drawn anew when the page hears of its width, which takes a moment.
            for part in (
                "document.documentElement.scrollWidth",
                'document.querySelector("#report .u-wrap").clientWidth',
            ):
                page.wait_for_function(f"(width) => {part} <= width", arg=width)
            if width == 400:
                # Below the menu comes the verdict, and then the program.
                tops = [page.locator(part).bounding_box() for part in ("#verdict", "#editor")]
                assert tops[0] is not None
                assert tops[1] is not None
                assert tops[0]["y"] < tops[1]["y"]
            if PICTURES:
                page.screenshot(path=f"{PICTURES}/page-{scheme}-{width}.png", full_page=True)

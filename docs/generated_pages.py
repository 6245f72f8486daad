"""The pages that are made when the site is built: the gallery and the diagnostics.

The claims of the gallery are decided and drawn anew. A claim that comes out otherwise stops the build.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import re
import shlex
import shutil
import tempfile
import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import takewhile
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.literature.entries import ENTRIES
from dipc.cli.main import run
from dipc.editors.pygments_lexer import DipwhileLexer
from dipc.explain import Explanation, codes, explanation

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
MADE = DOCS / "generated"

#: What `make playground` builds.
PLAYGROUND = DOCS / "playground" / "dipc_playground" / "site"

#: Pages that stand elsewhere in the repository, and their copies in the site.
ELSEWHERE = {"dipc/certificate/FORMAT.md": "certificate_format.md", "benchmarks/README.md": "benchmarks.md"}

#: The exit codes of what holds and of what does not.
EXPECTED = {"holds": 0, "fails": 1}


class GalleryError(Exception):
    """A claim of the gallery came out otherwise."""


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("builder-inited", lambda _: write_all())
    app.connect("source-read", _to_copies)
    app.connect("include-read", lambda app, _path, page, text: _to_copies(app, page, text))
    app.connect("build-finished", lambda app, error: error or _copy_playground(Path(app.outdir)))
    app.add_lexer("dipwhile", DipwhileLexer)
    return {"parallel_read_safe": True}


def write_all() -> None:
    """Write every page anew."""
    shutil.rmtree(MADE, ignore_errors=True)
    MADE.mkdir()
    for page, copy in ELSEWHERE.items():
        shutil.copy(ROOT / page, MADE / copy)
    write_gallery()
    write_diagnostics()
    write_coq_file()


def _to_copies(app: Sphinx, docname: str, text: list[str]) -> None:  # noqa: ARG001 - the signature is Sphinx's
    """Lead links to the copies of `ELSEWHERE`, and color programs, in a page or a text that it includes."""
    for page, copy in ELSEWHERE.items():
        text[0] = text[0].replace(f"](../{page})", f"](generated/{copy})")
    text[0] = _PROGRAM.sub(r"```dipwhile\1", text[0])


#: A program on a page: it is shown in color.
_PROGRAM = re.compile(r"```text(\n(?:#[^\n]*\n)*program (?!=))")


# --- a file for Coq --------------------------------------------------------------------------------


def write_coq_file() -> None:
    """A page with all that `dipc verify --coq` writes for a table of AboveThreshold."""
    rows = "q[1],q[2],out[1],out[2],dd\n-2,2,bot,top,2\n3,0,top,none,3\n"
    with tempfile.TemporaryDirectory() as home:
        table, proof, out = (Path(home) / name for name in ("table.csv", "proof.json", "proof.v"))
        table.write_text(rows, encoding="utf-8")
        program = ROOT / "benchmarks" / "above_threshold.dip"
        with contextlib.redirect_stdout(io.StringIO()):
            run(["check", str(program), str(table), "-D", "m=2", "--certificate", str(proof), "--quiet"])
            run(["verify", str(proof), "--coq", str(out), "--quiet"])
        text = out.read_text(encoding="utf-8")
    (MADE / "coq_file.md").write_text(
        "# A whole file for Coq\n\nWhat [`dipc verify --coq`](../coq.md) writes for AboveThreshold with two queries "
        f"and this table:\n\n```text\n{rows}```\n\nThe theorems about obligations and rows are after the definitions "
        f"and lemmas, which are the same in each file.\n\n```coq\n{text}```\n",
        encoding="utf-8",
    )


# --- the gallery -----------------------------------------------------------------------------------


def write_gallery() -> None:
    """A page for each mechanism, and one that lists them."""
    mechanisms = tomllib.loads((DOCS / "gallery.toml").read_text(encoding="utf-8"))
    with _workplace():
        cards = []
        for name, mechanism in mechanisms.items():
            page, verdicts = _mechanism(name, mechanism)
            (MADE / f"{name}.md").write_text(page, encoding="utf-8")
            cards.append(_card(name, mechanism, verdicts))
    lines = [
        "# The gallery\n",
        f"{len(mechanisms)} mechanisms, each with a claim that holds and one that does not, decided for this page.",
        "Each drawing is of the claim that fails. The solid line is the probability, and the dashed line is what the",
        "claim requires, against eps. The eps where the claim fails are shaded.\n",
        f'```{{raw}} html\n<div class="gallery">\n{"".join(cards)}</div>\n```\n',
        "```{toctree}\n:maxdepth: 1\n:hidden:\n",
        *mechanisms,
        "```\n",
    ]
    (MADE / "gallery.md").write_text("\n".join(lines), encoding="utf-8")


@contextlib.contextmanager
def _workplace() -> Iterator[None]:
    """A directory with the mechanisms, and the tables of those that come without the right answer."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            for name in ("benchmarks", "docs"):
                Path(name).symlink_to(ROOT / name, target_is_directory=True)
            for entry in ENTRIES:
                Path(f"{entry.name}.csv").write_text(entry.csv(), encoding="utf-8")
                for number, claim in enumerate(entry.claims[1:], 2):
                    Path(f"{entry.name}_{number}.csv").write_text(entry.csv(claim), encoding="utf-8")
            yield
        finally:
            os.chdir(before)


def _card(name: str, mechanism: Mapping[str, Any], verdicts: Mapping[str, str]) -> str:
    """A link to a mechanism: a drawing, its name, what it does in a sentence, and both claims."""
    said = _plain_sentence((ROOT / mechanism["program"]).read_text(encoding="utf-8"))
    lines = "".join(f'<em class="{kind}">{kind}: {escape(claim)}</em>' for kind, claim in verdicts.items())
    return (
        f'<a href="{name}.html">{_drawing(name)}'
        f"<strong>{escape(mechanism['title'])}</strong><span>{escape(said)}</span>{lines}</a>\n"
    )


#: The width and the height of a drawing.
WIDTH, HEIGHT = 240, 84


def _drawing(name: str) -> str:
    """The two sides of the claim that fails, without letters: where it fails most, and shaded where it fails."""
    curves = json.loads((MADE / f"{name}_fails.json").read_text(encoding="utf-8"))
    curve = min(curves, key=lambda each: min(one - other for one, other in zip(each["pr"], each["req"], strict=True)))
    first, last = log(curve["x"][0]), log(curve["x"][-1])
    low, high = min(*curve["pr"], *curve["req"]), max(*curve["pr"], *curve["req"])

    def across(eps: float) -> float:
        return WIDTH * (log(min(max(eps, curve["x"][0]), curve["x"][-1])) - first) / ((last - first) or 1)

    def points(side: str) -> str:
        heights = (4 + (HEIGHT - 8) * (high - value) / ((high - low) or 1) for value in curve[side])
        return " ".join(f"{across(eps):.1f},{height:.1f}" for eps, height in zip(curve["x"], heights, strict=True))

    lines = "".join(f'<polyline class="{side}" points="{points(side)}"/>' for side in ("req", "pr"))
    ends = ((across(start), WIDTH if end is None else across(end)) for start, end in curve["shaded"])
    shades = "".join(
        f'<rect class="fail" x="{left:.1f}" y="0" width="{right - left:.1f}" height="{HEIGHT}"/>'
        for left, right in ends
    )
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{shades}{lines}</svg>'


def _claim(answer: Mapping[str, Any]) -> str:
    """The claim of an answer in a few signs: beta, or the budget with delta."""
    if "budget" in answer:
        delta = "" if answer["delta"] == "0" else f", δ = {_formula(answer['delta'])}"
        return f"budget {_formula(answer['budget'])}{delta}"
    beta = answer["claim"]["beta"]
    return "β of the table" if beta is None else f"β = {_formula(beta)}"


def _formula(text: str) -> str:
    for written, meant in (("exp(", "e^("), ("*", "·"), ("alpha", "α"), ("gamma", "γ")):
        text = text.replace(written, meant)
    return text


def _plain_sentence(program: str) -> str:
    """The first sentence of the comment at the beginning of a program."""
    comment = takewhile(lambda line: line.startswith("#"), program.splitlines())
    return " ".join(line.lstrip("# ") for line in comment).partition(". ")[0].removesuffix(".") + "."


def _mechanism(name: str, mechanism: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """The page of a mechanism, with the claim that holds and the one that does not."""
    program = (ROOT / mechanism["program"]).read_text(encoding="utf-8")
    comment = []
    for line in program.splitlines():
        if not line.startswith("#"):
            break
        comment.append(line.lstrip("# "))
    parts = [f"# {mechanism['title']}\n", _plain(" ".join(comment)) + "\n"]
    verdicts = {}
    for kind, code in EXPECTED.items():
        answer, verdicts[kind] = _answer(name, kind, mechanism, code)
        parts += [f"## What {'holds' if kind == 'holds' else 'does not'}\n", answer]
    rest = program.splitlines()[len(comment) :]
    parts.append("## The program\n\n```dipwhile\n" + "\n".join(rest).strip() + "\n```\n")
    return "\n".join(parts), verdicts


def _answer(name: str, kind: str, mechanism: Mapping[str, Any], code: int) -> tuple[str, str]:
    """The command with what it prints and draws, and its first line."""
    words = shlex.split(mechanism[kind])
    named = {"PROGRAM": mechanism["program"], "TABLE": f"{name}.csv", "TABLE_2": f"{name}_2.csv"}
    words = [named.get(word, word) for word in words]
    picture = f"{name}_{kind}.svg"
    printed = _run([*words, "--plot", str(MADE / picture), "--quiet"], code)
    answer = json.loads(_run([*words, "--format", "json", "--html", "page.html"], code))
    curves = _CURVES.search(Path("page.html").read_text(encoding="utf-8"))
    assert curves is not None
    (MADE / f"{name}_{kind}.json").write_text(curves[1], encoding="utf-8")
    command = "dipc " + " ".join(word if word.replace("*", "").isalnum() else shlex.quote(word) for word in words)
    shown = command.replace("'", '"')
    told = "Where the solid line is below the dashed one, the claim fails."
    if kind == "holds":
        told = "The claim holds: no solid line is below its dashed one."
    link = ""
    if PLAYGROUND.is_dir():
        link = f'```{{raw}} html\n<p><a href="{_playground_link(words)}">Open it in the playground</a></p>\n```\n'
    text = f"```console\n$ {shown} --quiet\n{printed}```\n\n![Both sides over eps]({picture})\n\n{told}\n\n{link}"
    return text, _claim(answer)


#: What a report draws, in its page.
_CURVES = re.compile(r'<script[^>]*id="curves"[^>]*>(.*?)</script>', re.DOTALL)


def _playground_link(words: Sequence[str]) -> str:
    """The address of a question in the playground: the page reads it from the fragment, as src/link.js writes it."""
    command, program, *options = words
    table = options.pop(0) if options and options[0].endswith(".csv") else None

    def file(path: str) -> dict[str, str]:
        return {"name": path, "text": Path(path).read_text(encoding="utf-8")}

    question = {
        "command": command,
        "program": file(program),
        "table": None if table is None else file(table),
        "options": options,
    }
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    data = deflate.compress(json.dumps(question).encode()) + deflate.flush()
    return f"../playground/index.html#1{base64.urlsafe_b64encode(data).decode().rstrip('=')}"


def _copy_playground(site: Path) -> None:
    """Put the playground beside the pages, where `make playground` has built it."""
    if PLAYGROUND.is_dir():
        shutil.copytree(PLAYGROUND, site / "playground", dirs_exist_ok=True)


def _run(words: Sequence[str], code: int) -> str:
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        found = run(words)
    if found != code:
        raise GalleryError(
            f"dipc {shlex.join(words)} exits with {found}, not {code}:\n{out.getvalue()}{errors.getvalue()}"
        )
    return out.getvalue()


def _plain(text: str) -> str:
    """The text with nothing in it that Markdown would read as its own."""
    return "".join(f"\\{letter}" if letter in "*_`<>[]#|$~" else letter for letter in text)


# --- the diagnostics -------------------------------------------------------------------------------


def write_diagnostics() -> None:
    """A page for each family of codes, with an example that provokes each, and a page that lists all."""
    families: dict[str, list[Explanation]] = {}
    for code in codes():
        found = explanation(code)
        families.setdefault(found.about, []).append(found)
    lines = [
        "# Diagnostics\n",
        "Every mistake gets a code, its place, and a way to mend it. In a terminal: `dipc explain E0602`.\n",
    ]
    pages = []
    for about, members in families.items():
        page = "diagnostics_" + re.sub(r"[^a-z]+", "_", about.lower()).strip("_")
        pages.append(page)
        (MADE / f"{page}.md").write_text(_family(about, members), encoding="utf-8")
        lines.append(f"## [About {about}]({page}.md)\n")
        lines += [f"- [{each.code}]({page}.md#{each.code.lower()}): {_plain(each.summary)}" for each in members]
        lines.append("")
    lines += ["```{toctree}\n:maxdepth: 1\n:hidden:\n", *pages, "```\n"]
    (MADE / "diagnostics.md").write_text("\n".join(lines), encoding="utf-8")


def _family(about: str, members: Sequence[Explanation]) -> str:
    parts = [f"# Diagnostics about {about}\n"]
    for found in members:
        parts.append(f"## {found.code}\n")
        if found.command is None:
            parts.append(f"It occurs when {found.when}.\n")
            continue
        for name, text in found.files:
            parts.append(f"With `{name}`:\n\n````text\n{text.rstrip()}\n````\n")
        parts.append(f"````console\n$ {found.command}\n{found.text.rstrip()}\n````\n")
    return "\n".join(parts)

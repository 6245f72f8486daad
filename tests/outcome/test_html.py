from __future__ import annotations

import base64
import hashlib
import json
import re
from fractions import Fraction
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from dipc.algebra.exppoly import ClosedForm
from dipc.cli.main import run
from dipc.outcome.html import mathml

ROOT = Path(__file__).resolve().parent.parent.parent
SPARSE = [str(ROOT / "benchmarks" / name) for name in ("sparse.dip", "sparse.csv")]
SEVENTH = ["--beta", "2*m*c*exp(-alpha*eps/(8*c))/7"]


class PageElements(HTMLParser):
    """The elements of a page with their attributes and their text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), []))

    def handle_data(self, data: str) -> None:
        if self.found:
            self.found[-1][2].append(data)

    def handle_endtag(self, tag: str) -> None:
        self.found.append((f"/{tag}", {}, []))

    def all(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attributes, "".join(text)) for name, attributes, text in self.found if name == tag]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """The page of a refuted claim, and the JSON of the same check."""
    directory = tmp_path_factory.mktemp("page")
    html, result = directory / "page.html", directory / "result.json"
    code = run(["check", *SPARSE, *SEVENTH, "--html", str(html), "--format", "json", "-o", str(result), "-q"])
    assert code == 1
    return html.read_text(encoding="utf-8"), json.loads(result.read_text(encoding="utf-8"))


def test_it_is_small_and_asks_nothing_of_anybody(page: tuple[str, dict[str, Any]]) -> None:
    text, _ = page
    assert len(text.encode()) <= 150_000
    parts = PageElements(text)
    (policy,) = [a["content"] for a, _ in parts.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    scripts = [body for attributes, body in parts.all("script") if attributes.get("type") != "application/json"]
    hashes = [base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() for body in scripts]
    assert re.findall(r"'sha256-([^']*)'", policy) == hashes
    assert len(hashes) == 2
    for name, attributes, _ in parts.found:
        assert name not in ("link", "img", "iframe", "object", "embed", "form")
        for attribute in ("src", "href", "action"):
            value = attributes.get(attribute)
            assert value is None or value.startswith("data:application/json;base64,"), (name, value)


def test_what_is_shaded_is_what_fails(page: tuple[str, dict[str, Any]]) -> None:
    text, result = page
    ((_, data),) = [part for part in PageElements(text).all("script") if part[0].get("id") == "curves"]
    curves = {curve["name"]: curve for curve in json.loads(data)}
    failing = {row["row"]: row["failing"] for row in result["rows"] if "failing" in row}
    assert sorted(failing) == [2, 3]
    for number, intervals in failing.items():
        curve = curves[f"row {number}"]
        for shade, interval in zip(curve["shaded"], intervals, strict=True):
            for drawn, end in zip(shade, (interval["start"], interval["end"]), strict=True):
                low, high = map(Fraction, end["eps"])
                assert abs(Fraction(drawn) - low) <= (high - low) + abs(low) / 10**8
        below = [x for x, p, r in zip(curve["x"], curve["pr"], curve["req"], strict=True) if p < r]
        assert below
        assert all(curve["shaded"][0][0] <= x <= curve["shaded"][0][1] * 1.001 for x in below)


def test_it_can_be_read_without_a_script(page: tuple[str, dict[str, Any]]) -> None:
    text, _ = page
    bare = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    for said in ("INACCURATE: 2 of 27 rows fail", "0.1238029181…", "eps in (0, 0.9537124", "<noscript><svg"):
        assert said in bare
    assert '<mark>rT &lt;- <span class="noise">Lap</span>(<span class="number">eps</span>/' in bare
    assert '\n  <span class="keyword">var</span> count : ' in bare, "the ideal is not on the way to an output"


def saved(text: str, directory: Path) -> Path:
    """The certificate that the page has, as the file that its link saves."""
    ((attributes, _),) = [part for part in PageElements(text).all("a") if "download" in part[0]]
    data = attributes["href"]
    assert data is not None
    proof = directory / "proof.json"
    proof.write_bytes(base64.b64decode(data.partition("base64,")[2]))
    return proof


def drawn(html: Path) -> list[dict[str, Any]]:
    """The curves that the page draws."""
    parts = PageElements(html.read_text(encoding="utf-8")).all("script")
    ((_, data),) = [part for part in parts if part[0].get("id") == "curves"]
    found: list[dict[str, Any]] = json.loads(data)
    return found


def test_the_certificate_in_it_is_accepted(page: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    assert run(["verify", str(saved(page[0], tmp_path)), "-q"]) == 0


def test_it_says_for_which_eps_the_claim_says_anything(page: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    html = tmp_path / "page.html"
    assert run(["check", *SPARSE, "--html", str(html), "-q"]) == 0
    assert "<dt>non-vacuous</dt><dd>for eps &gt; 14.33407575…, where beta &lt; 1</dd>" in html.read_text(
        encoding="utf-8"
    )
    assert "13 vacuously, as beta ≥ 1" in html.read_text(encoding="utf-8")


def test_the_worst_row_comes_first(page: tuple[str, dict[str, Any]]) -> None:
    shown = [int(number) for number in re.findall(r"<h3>row (\d+) fails</h3>", page[0])]
    short = {
        row["row"]: Fraction(row["counterexample"]["required"][0]) - Fraction(row["counterexample"]["probability"][1])
        for row in page[1]["rows"]
        if row["counterexample"]
    }
    assert shown == sorted(short, key=lambda number: -short[number])
    assert f"with the lines on the way to row {shown[0]}&#x27;s output" in page[0]


def test_the_page_of_a_tightened_claim_marks_where_it_is_tight(tmp_path: Path) -> None:
    html = tmp_path / "page.html"
    assert run(["tighten", *SPARSE, "--html", str(html), "-q"]) == 0
    first, *others = drawn(html)
    assert (first["name"], first["optima"]) == ("row 3", [pytest.approx(1.7557416057)])
    assert not any(curve["optima"] or curve["shaded"] for curve in others)
    gaps = [abs(p - r) for p, r in zip(first["pr"], first["req"], strict=True)]
    assert first["x"][gaps.index(min(gaps))] == pytest.approx(1.7557, rel=0.05)
    assert '<span class="keyword">program</span> sparse;' in html.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("asked", "optima", "shaded"),
    [
        (["--for", "eps", "--alpha", "1/2", "--beta", "1/10"], [11.7638757264], True),
        (["--for", "beta"], [], False),
    ],
)
def test_the_page_of_an_answer_draws_the_claim_with_the_answer(
    asked: list[str], optima: list[float], shaded: bool, tmp_path: Path
) -> None:
    html = tmp_path / "page.html"
    assert run(["solve", SPARSE[0], "--inputs", "q = -1..1", *asked, "--html", str(html), "-q"]) == 0
    curves = drawn(html)
    assert curves[0]["optima"] == [pytest.approx(at) for at in optima]
    assert [bool(curve["shaded"]) for curve in curves[:1]] == [shaded]
    if not shaded:  # the answer is one: nothing fails with it
        assert all(p >= r - 1e-4 for curve in curves for p, r in zip(curve["pr"], curve["req"], strict=True))


def test_texts_are_escaped(tmp_path: Path) -> None:
    program, table, html = tmp_path / "p.dip", tmp_path / "t.csv", tmp_path / "page.html"
    program.write_text(
        "program p; # </pre><script>alert(1)</script>\ninput x : real;\noutput y : real;\ny <- Lap(eps, x);\n",
        encoding="utf-8",
    )
    table.write_text("x,y\n0,0\n", encoding="utf-8")
    assert run(["check", str(program), str(table), "--beta", "0", "--html", str(html), "-q"]) == 1
    text = html.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_mathml() -> None:
    import dipc

    text = "program p; input x : int; output y : int; y <- DLap(eps, x);"
    for form in (
        dipc.load(text).probability({"x": 0}, {"y": 0}),
        dipc.load(text.replace("int", "real").replace("DLap", "Lap")).probability({"x": 0}, {"y": 0}, gamma="1/2"),
    ):
        assert isinstance(form, ClosedForm)
        root = ET.fromstring(mathml(form).replace("&#8290;", "*"))
        assert root.get("alttext") == str(form)
        assert [element.text for element in root.iter("mi") if element.text == "ε"]


def test_the_page_of_a_refuted_privacy_claim(tmp_path: Path) -> None:
    program = str(ROOT / "docs" / "programs" / "coin.dip")
    html, plot = tmp_path / "page.html", tmp_path / "plot.svg"
    asked = ["privacy", program, "--adjacent", "hamming:1", "--budget", "eps/2", "--delta", "1/10"]
    assert run([*asked, "--html", str(html), "--plot", str(plot), "-q"]) == 1
    text = html.read_text(encoding="utf-8")
    assert run(["verify", str(saved(text, tmp_path)), "-q"]) == 0
    assert len(text.encode()) <= 150_000
    assert text.count("<h1>NOT PRIVATE: budget eps/2 with delta 1/10 is too small for the inputs") == 1
    (curve,) = drawn(html)
    assert (curve["bound"], curve["required"]) == ("probability at u", "allowed")
    ((low, high),) = curve["shaded"]
    assert high is None
    inside = [low < x for x in curve["x"]]
    assert any(inside)
    assert not all(inside)
    corner = [abs(x / low - 1) < 1e-4 for x in curve["x"]]
    assert any(corner), "what is shaded ends at a point of the curve"
    exceeded = [allowed < likely for likely, allowed in zip(curve["pr"], curve["req"], strict=True)]
    assert all(found == more or at for found, more, at in zip(inside, exceeded, corner, strict=True))
    assert f"dipc privacy {program} --adjacent hamming:1 --budget eps/2 --delta 1/10" in text
    assert "</svg>" in plot.read_text(encoding="utf-8")


def test_the_page_of_a_private_program_draws_what_is_compared(tmp_path: Path) -> None:
    html = tmp_path / "page.html"
    assert (
        run(["privacy", str(ROOT / "docs/programs/coin.dip"), "--adjacent", "hamming:1", "--html", str(html), "-q"])
        == 0
    )
    curves = drawn(html)
    assert len(curves) == 2
    assert run(["verify", str(saved(html.read_text(encoding="utf-8"), tmp_path)), "-q"]) == 0
    for curve in curves:
        assert curve["shaded"] == []
        assert all(
            allowed >= likely - 1e-4 for likely, allowed in zip(curve["pr"], curve["req"], strict=True) if allowed
        )


@pytest.mark.parametrize("mode", [["--constant"], ["--max-loss", "--at", "1"]])
def test_a_number_has_a_page_and_no_plot(mode: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    html, program = tmp_path / "page.html", str(ROOT / "docs/programs/coin.dip")
    asked = ["privacy", program, "--adjacent", "hamming:1", *mode]
    assert run([*asked, "--html", str(html), "-q"]) == 0
    line = capsys.readouterr().out.strip()
    assert f"<h1>{line}</h1>" in html.read_text(encoding="utf-8")
    assert run([*asked, "--plot", str(tmp_path / "plot.svg")]) == 2
    assert "E1412" in capsys.readouterr().err


def test_a_page_about_classes_shows_their_conditions_and_one_letter(tmp_path: Path) -> None:
    """The classes have their conditions, the verdict stands near the edge, and alpha*eps is t everywhere."""
    html = tmp_path / "page.html"
    assert run(["check", "docs/programs/busy.dip", "--inputs", "all", "--html", str(html), "-q"]) == 0
    text = html.read_text(encoding="utf-8")
    for shown in (
        "<th>class</th><th>verdict</th><th>inputs</th><th>hardest input, for example</th>",
        "<td>count &gt;= 100</td>",
        "a function of t = alpha*eps",
        "<mi>t</mi>",
        '<code class="form">exp(-t)/2</code>',
        "by the answers of <code>ideal</code>",
        "<dd>1 - exp(-t)/2</dd>",
    ):
        assert shown in text
    assert "ε" not in text.partition("Closed forms")[2].partition("</section>")[0]


def test_the_letter_is_no_name_of_the_program(tmp_path: Path) -> None:
    program = Path("docs/programs/busy.dip").read_text(encoding="utf-8").replace("T", "t")
    path, html = tmp_path / "busy.dip", tmp_path / "page.html"
    path.write_text(program, encoding="utf-8")
    assert run(["check", str(path), "--inputs", "all", "--html", str(html), "-q"]) == 0
    assert "a function of s = alpha*eps" in html.read_text(encoding="utf-8")


def test_a_python_file_is_colored_as_python(tmp_path: Path) -> None:
    source = (
        'import dipc\n\n\n@dipc.mechanism(claim=dict(beta="exp(-alpha*eps)/2"))\ndef gate(count: dipc.Real, eps):\n'
        '    """Yes and\n    no."""  # for all\n    return dipc.laplace(count, scale=1 / eps) >= 100\n'
    )
    (tmp_path / "gate.py").write_text(source, encoding="utf-8")
    run(["check", f"{tmp_path / 'gate.py'}::gate", "--inputs", "all", "--html", str(tmp_path / "out.html"), "-q"])
    listing = (tmp_path / "out.html").read_text(encoding="utf-8").rpartition("<h2>Program")[2].partition("</pre>")[0]
    for colored in (
        '<span class="keyword">def</span> gate',
        '<span class="type">&quot;exp(-alpha*eps)/2&quot;</span>',
        '<span class="type">&quot;&quot;&quot;Yes and</span>\n<span class="type">    no.&quot;&quot;&quot;</span>',
        '<span class="comment"># for all</span>',
        '<span class="keyword">return</span>',
        '<span class="number">100</span>',
    ):
        assert colored in listing
    assert unescape(re.sub(r"<[^>]*>", "", listing.partition("<pre>")[2])) == source.rstrip()

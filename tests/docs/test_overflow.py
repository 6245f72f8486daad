"""Blocks of code, tables and pictures fit their columns, on a screen and on a telephone."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from docs.overflow import CHROMIUM, WIDTHS, overflows, pages_of

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.skipif(not any(Path(path).exists() for path in CHROMIUM), reason="no Chromium"),
    pytest.mark.skipif(find_spec("playwright") is None, reason="no playwright: pip install '.[web]'"),
]

STYLE = (ROOT / "docs" / "static" / "site.css").read_text(encoding="utf-8")
LONG = (
    "dipc check benchmarks/sparse.dip --inputs all --beta '2*m*c*exp(-alpha*eps/(8*c))/7' --certificate proof.json " * 2
)
WIDE = "<tr>" + "<td>unbreakable_word_of_a_table</td>" * 9 + "</tr>"


def overflowing(tmp_path: Path, body: str, style: str, width: int) -> list[str]:
    page = tmp_path / "page.html"
    text = f"<!doctype html><style>body {{ margin: 0 }} {style}</style><article>{body}</article>"
    page.write_text(text, encoding="utf-8")
    return list(overflows([page], width))


@pytest.mark.parametrize("width", WIDTHS)
def test_what_is_cut_off_is_found(tmp_path: Path, width: int) -> None:
    """A long line is cut off, and a table sticks out, if the style of the site is missing."""
    assert len(overflowing(tmp_path, f"<pre>{LONG}</pre>", "pre { overflow-x: auto }", width)) == 1
    assert overflowing(tmp_path, f"<table>{WIDE}</table>", "td { min-width: 20rem }", width)
    assert overflowing(tmp_path, "<pre>dipc check</pre>", "", width) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_style_of_the_site_lets_nothing_stick_out(tmp_path: Path, width: int) -> None:
    table = f"<table class='docutils'><tr>{'<td>a counterexample</td>' * 4}</tr></table>"
    assert overflowing(tmp_path, f"<pre>{LONG}</pre>{table}", STYLE, width) == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site, built anew."""
    pytest.importorskip("furo", reason="what builds the site is not installed: pip install '.[docs]'")
    from sphinx.cmd.build import build_main

    place = tmp_path_factory.mktemp("site")
    assert build_main(["-q", "-b", "html", str(ROOT / "docs"), str(place)]) == 0
    return place


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_fits(site: Path, width: int) -> None:
    pages = pages_of(site)
    assert len(pages) > 50
    assert list(overflows(pages, width)) == []

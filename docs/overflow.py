"""Blocks of code and tables of the site that are wider than their column, at the widths of a screen and of a telephone.

`python docs/overflow.py docs/_build/html` prints them, and exits with 1 where there are any; `make docs` runs it where
Chromium is installed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

WIDTHS = (1400, 400)
CHROMIUM = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")

#: What is cut off within itself, or sticks out of the page, and is not a table that scrolls in a wrapper of its own.
FIND = """() => {
  const found = [], width = document.documentElement.clientWidth;
  for (const part of document.querySelectorAll("article pre, article table, article img")) {
    const column = (part.closest(".table-wrapper, .output") || part.parentElement).clientWidth;
    const cut = part.scrollWidth > part.clientWidth + 1 || part.scrollWidth > column + 1;
    const out = part.getBoundingClientRect().right > width + 1;
    if (cut || out) found.push(`${part.tagName} ${part.textContent.trim().slice(0, 60)}`);
  }
  if (document.documentElement.scrollWidth > width + 1) found.push("the page itself");
  return found;
}"""


def pages_of(site: Path) -> list[Path]:
    """The pages that people read."""
    return [path for path in sorted(site.rglob("*.html")) if {"_static", "_modules"}.isdisjoint(path.parts)]


def overflows(pages: Iterable[Path], width: int) -> Iterator[str]:
    """The page and the beginning of what is too wide, for each of it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        executable = next(path for path in CHROMIUM if Path(path).exists())
        browser = playwright.chromium.launch(executable_path=executable)
        page = browser.new_page(viewport={"width": width, "height": 900})
        for path in pages:
            page.goto(path.resolve().as_uri())
            yield from (f"{path.name} at {width}: {part!r}" for part in page.evaluate(FIND))
        browser.close()


def main(site: Path) -> int:
    """The exit code."""
    if find_spec("playwright") is None or not any(Path(path).exists() for path in CHROMIUM):
        sys.stdout.write("no Chromium, or no playwright: whether the pages fit their columns was not looked at\n")
        return 0
    pages = pages_of(site)
    found = [each for width in WIDTHS for each in overflows(pages, width)]
    sys.stdout.write("".join(f"{each}\n" for each in found) + f"{len(pages)} pages, {len(found)} too wide\n")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

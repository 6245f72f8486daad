"""Photograph every page of the site, at the widths of a screen and of a telephone, light and dark.

`python -m docs.pictures docs/_build/html DIRECTORY` writes the pictures, and sheets of them to look at. It needs
Chromium, playwright and Pillow.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from docs.overflow import CHROMIUM, WIDTHS, pages_of

SCHEMES = ("light", "dark")

#: What is taken of a long page, and how many columns a sheet has.
TALLEST = 2600
COLUMNS = {1400: 2, 400: 5}
SHEET = 1560


def photographs(pages: Sequence[Path], place: Path, width: int, scheme: str) -> Iterator[Path]:
    """The pictures that were written into `place`, one a page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        executable = next(path for path in CHROMIUM if Path(path).exists())
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        for path in pages:
            page.goto(path.resolve().as_uri())
            height = min(TALLEST, page.evaluate("document.documentElement.scrollHeight"))
            page.set_viewport_size({"width": width, "height": height})
            picture = place / f"{path.parent.name}-{path.stem}-{width}-{scheme}.png"
            page.screenshot(path=picture)
            page.set_viewport_size({"width": width, "height": 900})
            yield picture
        browser.close()


def sheet(pictures: Sequence[Path], columns: int, path: Path) -> None:
    """The pictures side by side, each as wide as a column."""
    from PIL import Image

    wide = SHEET // columns
    opened = [Image.open(picture) for picture in pictures]
    small = [each.resize((wide, each.height * wide // each.width)) for each in opened]
    made = Image.new("RGB", (SHEET, max(each.height for each in small)), "gray")
    for column, each in enumerate(small):
        made.paste(each, (column * wide, 0))
    made.save(path)


def main(site: Path, place: Path) -> int:
    """The exit code."""
    place.mkdir(parents=True, exist_ok=True)
    pages = pages_of(site)
    for width, scheme in product(WIDTHS, SCHEMES):
        pictures = list(photographs(pages, place, width, scheme))
        for number, first in enumerate(range(0, len(pictures), COLUMNS[width]), 1):
            together = pictures[first : first + COLUMNS[width]]
            path = place / f"sheet-{width}-{scheme}-{number:02}.png"
            sheet(together, COLUMNS[width], path)
            sys.stdout.write(f"{path}: {', '.join(each.stem for each in together)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))

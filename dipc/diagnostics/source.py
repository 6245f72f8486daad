"""Source texts and spans in them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range [start, end) of character offsets into one source text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A place in a file, resolved for display: 1-based line and column, the line's text, the marked length."""

    file: str
    line: int
    column: int
    text: str
    length: int


@dataclass(frozen=True)
class Source:
    """A named text. Resolves spans to excerpts; line starts are found once."""

    name: str
    text: str
    _starts: list[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = [0]
        at = self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        object.__setattr__(self, "_starts", starts)

    def excerpt(self, span: Span) -> Excerpt:
        """The excerpt for `span`; a span over several lines is marked to the end of its first line."""
        line = bisect_right(self._starts, span.start)
        start = self._starts[line - 1]
        end = self.text.find("\n", start)
        text = self.text[start : end if end >= 0 else len(self.text)].rstrip("\r")
        column = span.start - start
        length = max(1, min(span.end - span.start, len(text) - column))
        return Excerpt(self.name, line, column + 1, text, length)

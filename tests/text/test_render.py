"""Diagnostics as people see them, word for word."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from dipc.text.diagnostic import Diagnostic, Label, SourceText, Span, render

TEXT = "program p;\nvar r, rT : real;\n\tb <- r >= rT;\nr <- Lap(eps, 0)"


def place(text: str, word: str, name: str = "sparse.dip") -> Diagnostic:
    start = text.index(word)
    return Diagnostic("E0999", "it is wrong", SourceText(name, text).excerpt(Span(start, start + len(word))), "here")


def shown_line(text: str, start: int, end: int) -> tuple[str, str]:
    """The source line and the marks beneath it."""
    diagnostic = Diagnostic("E0999", "wrong", SourceText("f", text).excerpt(Span(start, end)))
    _, _, _, line, marks = render([diagnostic]).splitlines()
    return re.sub(r"^ *\d+ \| ?", "", line), re.sub(r"^ *\| ?", "", marks)


def width(text: str) -> int:
    """The columns of printable text, by the rule that terminals follow."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def test_no_diagnostics_no_text() -> None:
    assert render([]) == ""


def test_one_diagnostic() -> None:
    source = SourceText("sparse.dip", TEXT)
    start = TEXT.index("r >=")
    diagnostic = Diagnostic(
        "E0303",
        "`r` is read before it is assigned",
        source.excerpt(Span(start, start + 1)),
        "no value yet on this path",
        ("assign it first, for example `r <- 0`", "or give it an initial value"),
    )
    assert (
        render([diagnostic])
        == """\
error[E0303]: `r` is read before it is assigned
 --> sparse.dip:3:7
  |
3 |     b <- r >= rT;
  |          ^ no value yet on this path
  = help: assign it first, for example `r <- 0`
  = help: or give it an initial value
"""
    )


def test_without_a_place() -> None:
    missing = Diagnostic("E0801", "there is no file `p.dip`", notes=("check the path",))
    assert render([missing]) == "error[E0801]: there is no file `p.dip`\n  = help: check the path\n"


def test_several_are_separated_and_counted() -> None:
    assert (
        render(iter([place(TEXT, "var"), Diagnostic("E0801", "no file")]))
        == """\
error[E0999]: it is wrong
 --> sparse.dip:2:1
  |
2 | var r, rT : real;
  | ^^^ here

error[E0801]: no file

2 errors
"""
    )


def test_secondary_places_in_the_order_of_the_text() -> None:
    text = "\n".join(f"line {number}" for number in range(1, 13))
    source = SourceText("a.dip", text)
    table = SourceText("table.csv", "q[1],q[1]")

    def label(source: SourceText, word: str, said: str) -> Label:
        start = source.text.rindex(word)
        return Label(source.excerpt(Span(start, start + len(word))), said)

    diagnostic = Diagnostic(
        "E0202",
        "declared twice",
        source.excerpt(Span(text.index("line 9"), text.index("line 9") + 4)),
        "again",
        ("rename one",),
        (
            label(source, "12", "later"),
            label(source, "8", "first"),
            label(table, "q[1]", "and here"),
            label(source, "9", "same line"),
        ),
    )
    assert (
        render([diagnostic])
        == """\
error[E0202]: declared twice
  --> a.dip:9:1
   |
 8 | line 8
   |      - first
 9 | line 9
   | ^^^^ again
   |      - same line
...
12 | line 12
   |      -- later
  ::: table.csv:1:6
   |
 1 | q[1],q[1]
   |      ---- and here
   = help: rename one
"""
    )


def test_a_place_behind_the_end() -> None:
    end = len(TEXT)
    excerpt = SourceText("p", TEXT).excerpt(Span(end, end))
    assert (
        render([Diagnostic("E0103", "unfinished", excerpt, "expected `;`")])
        == """\
error[E0103]: unfinished
 --> p:4:17
  |
4 | r <- Lap(eps, 0)
  |                 ^ expected `;`
"""
    )


def test_a_span_of_several_lines_is_marked_on_its_first() -> None:
    assert shown_line("one two\nthree", 4, 13) == ("one two", "    ^^^")


def test_windows_line_ends_are_not_shown() -> None:
    assert shown_line("one\r\ntwo\r\n", 5, 8) == ("two", "^^^")


def test_tabs_become_blanks_to_the_next_stop() -> None:
    assert shown_line("\ta\tb", 3, 4) == ("    a   b", "        ^")
    assert shown_line("\ta\tb", 2, 3) == ("    a   b", "     ^^^")


def test_wide_and_combining_characters_keep_the_mark_in_place() -> None:
    assert shown_line("漢字 x", 3, 4) == ("漢字 x", "     ^")
    assert shown_line("漢字 x", 0, 2) == ("漢字 x", "^^^^")
    assert shown_line("e\u0301 x", 3, 4) == ("e\u0301 x", "  ^")
    assert shown_line("e\u0301 x", 1, 2) == ("e\u0301 x", " ^")


def test_characters_that_would_disturb_are_pictured() -> None:
    assert shown_line("\x1b[31m\x00\u202e\ud800x", 8, 9) == ("␛[31m␀��x", "        ^")
    hostile = Diagnostic("E0502", "unknown column `a\nb\x1b`", notes=("line one\nline\ttwo",))
    assert (
        render([hostile])
        == """\
error[E0502]: unknown column `a␊b␛`
  = help: line one
          line␉two
"""
    )


def test_long_lines_are_cut_around_the_mark() -> None:
    line = "".join(f"{number:04}," for number in range(1000))
    start = line.index("0500")
    text, marks = shown_line(line, start, start + 4)
    assert text == "..." + line[start - 25 : start + 75] + "..."
    assert marks == " " * 28 + "^^^^"
    assert shown_line(line, 10, 14) == (line[:100] + "...", " " * 10 + "^^^^")
    assert shown_line(line, 4990, 5000) == ("..." + line[-100:], " " * 93 + "^" * 10)
    assert shown_line(line, 0, 5000) == (line[:100] + "...", "^" * 100)
    assert shown_line(line, 5000, 5000) == ("..." + line[-100:], " " * 103 + "^")


def test_trailing_blanks_do_not_make_a_line_long() -> None:
    assert shown_line("x" + " " * 5000, 0, 1) == ("x", "^")


def test_colors_are_all_that_color_adds() -> None:
    diagnostics = [place(TEXT, "rT"), place(TEXT, "Lap")]
    colored = render(diagnostics, color=True)
    assert "\x1b[1;31merror[E0999]\x1b[0m" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == render(diagnostics)


@given(st.text(st.characters() | st.sampled_from("\t 漢e\u0301\x00"), max_size=300), st.integers(0), st.integers(1, 40))
def test_the_mark_is_under_what_is_marked(text: str, start: int, length: int) -> None:
    start %= len(text) + 1
    excerpt = SourceText("f", text).excerpt(Span(start, min(start + length, len(text))))
    output = render([Diagnostic("E0999", "wrong", excerpt)])
    assert all(c.isprintable() or c == "\n" for c in output)
    line, marks = (row[row.index("|") + 2 :] for row in output.splitlines()[3:])
    assert width(line) <= 4 * 100 + 6
    marked = excerpt.text[excerpt.column - 1 : excerpt.column - 1 + excerpt.length]
    if marked.isprintable() and marked.strip() == marked != "" and not any(unicodedata.combining(c) for c in marked):
        before = len(marks) - len(marks.lstrip())
        prefixes = [
            line[:at] for at in range(len(line)) if width(line[:at]) == before and line.startswith(marked[:9], at)
        ]
        assert prefixes

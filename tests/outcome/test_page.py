from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.outcome.outcome import Look, Page, Tone, to_ascii, wrap

WORDS = st.lists(
    st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1, max_size=12), max_size=30
)


@given(WORDS, st.integers(20, 120), st.integers(0, 4))
def test_wrapping_loses_nothing_and_keeps_the_width(words: list[str], width: int, hanging: int) -> None:
    text = " ".join(words)
    lines = wrap(text, width, hanging)
    assert " ".join(line.strip() for line in lines) == text
    assert all(len(line) <= width for line in lines)
    assert all(line.startswith(" " * hanging) for line in lines[1:])


def test_a_word_longer_than_the_line_is_not_broken() -> None:
    number = "1" * 300
    assert wrap(f"beta {number} end", 40) == ["beta", number, "end"]


def test_sums_break_before_a_sign() -> None:
    lines = wrap("1 - 2*exp(-eps/4)/3 - eps*exp(-eps/2)/12 + 7*eps**2*exp(-3*eps/4)/96", 30, hanging=2)
    assert lines == ["1 - 2*exp(-eps/4)/3", "  - eps*exp(-eps/2)/12", "  + 7*eps**2*exp(-3*eps/4)/96"]


def test_fields_align_and_continue_under_their_text() -> None:
    page = Page(Look(width=40))
    page.fields([("eps", "17/10 = 1.7"), ("probability", "a " * 20)])
    assert page.text() == (
        "  eps          17/10 = 1.7\n  probability  a a a a a a a a a a a a a\n                 a a a a a a a\n"
    )


def test_color_only_where_it_is_asked_for() -> None:
    plain, colored = Page(Look()), Page(Look(color=True))
    for page in (plain, colored):
        page.line("INACCURATE", Tone.BAD)
        page.fields([("eps", "1")])
    assert "\x1b" not in plain.text()
    assert colored.text().startswith("\x1b[1;31mINACCURATE\x1b[0m\n")
    assert colored.text().replace("\x1b[1;31m", "").replace("\x1b[2m", "").replace("\x1b[0m", "") == plain.text()


def test_no_double_blank_lines_and_none_at_the_end() -> None:
    page = Page()
    page.blank()
    page.line("a")
    page.blank()
    page.blank()
    page.line("b")
    page.blank()
    assert page.text() == "a\n\nb\n"


@pytest.mark.parametrize("width", [0, 1, 39, 10_000])
def test_absurd_widths_are_brought_to_reason(width: int) -> None:
    page = Page(Look(width=width))
    page.line("word " * 100)
    assert all(30 <= len(line) <= 120 for line in page.text().splitlines()[:-1])


def test_ascii_spells_mathematics_out() -> None:
    assert to_ascii("eps in (0, 0.5…) ∪ [2, ∞), Pr ≥ 1 - β") == "eps in (0, 0.5...) u [2, inf), Pr >= 1 - beta"
    assert to_ascii("naïve 数") == "na?ve ?"
    to_ascii("\udcff").encode("ascii")

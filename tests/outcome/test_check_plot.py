from __future__ import annotations

from pathlib import Path

import pytest

from dipc.cli.main import run

ROOT = Path(__file__).resolve().parent.parent.parent
SIGN = [str(ROOT / "tests" / "golden" / "files" / name) for name in ("sign.dip", "sign.csv")]


@pytest.mark.slow
def test_equal_checks_are_equal_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pictures = [tmp_path / "first.svg", tmp_path / "second.svg"]
    for path in pictures:
        assert run(["check", *SIGN, "--beta", "exp(-alpha*eps)/4", "--plot", str(path), "-q"]) == 1
    first, second = (path.read_text(encoding="utf-8") for path in pictures)
    assert first == second
    assert first.startswith("<?xml")
    capsys.readouterr()


def test_what_cannot_be_drawn_is_refused_before_any_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "nothing.dip", "nothing.csv", "--plot", str(tmp_path / "a.txt")]) == 2
    assert "error[E1003]" in capsys.readouterr().err


def test_pages_of_the_inverse_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert run(["tighten", *SIGN, "--beta", "exp(-alpha*eps)", "--html", str(page), "-q"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "<h1>least factor 1/2 = 0.5; " in text
    assert "required: 1 − f·β" in text
    assert run(["solve", *SIGN, "--for", "beta", "--html", str(page), "-q"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "required: 1 − β" in text
    assert "<h1>least beta " in text
    capsys.readouterr()

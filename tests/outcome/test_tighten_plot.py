"""The pictures of `dipc tighten --plot`."""

from __future__ import annotations

import importlib.util
import re
from fractions import Fraction
from pathlib import Path

import pytest

import dipc
from dipc.cli.main import run
from dipc.options import Options
from dipc.outcome import curves as pictures
from dipc.outcome.curves import check_plot, draw
from dipc.outcome.tighten import Member, family, outcome
from dipc.outcome.words import UserQuestion
from dipc.text.diagnostic import DiagnosticError

ROOT = Path(__file__).resolve().parent.parent.parent

LAPLACE = "program l; const k = 1; input q : real; output o : real; o <- Lap(k*eps, q);"


def member(beta: str = "exp(-eps/2)/(1 - exp(-eps)/3)", **constants: int) -> Member:
    found = dipc.tighten(dipc.load(LAPLACE, **constants), [{"q": 0, "o": 0}], gamma=1, beta=beta)
    return Member({name: Fraction(value) for name, value in constants.items()}, found)


def question_about(beta: str) -> UserQuestion:
    return UserQuestion(Path("l.dip"), Options(beta=beta))


def texts(path: Path) -> str:
    """The SVG's source: matplotlib draws letters as paths, and keeps each text in a comment."""
    return "\n".join(re.findall(r"<!-- (.*?) -->", path.read_text(encoding="utf-8"), re.DOTALL))


def test_one_program(tmp_path: Path) -> None:
    path = tmp_path / "needs.svg"
    draw(path, outcome(member(), question_about("exp(-eps/2)/(1 - exp(-eps)/3)")))
    found = texts(path)
    assert "the factor of beta = exp(-eps/2)/(1 - exp(-eps)/3) that is needed" in found
    assert "row 1" in found
    assert "f = 0.66" in found


def test_a_family_by_two_constants(tmp_path: Path) -> None:
    path = tmp_path / "family.svg"
    draw(path, family([member(k=k) for k in (1, 2, 3)], question_about("b")))
    found = texts(path)
    assert "l: the least factor of beta = b" in found
    assert "best 1/κ" in found


def test_equal_results_are_equal_files(tmp_path: Path) -> None:
    one = member()
    for name in ("a.svg", "b.svg"):
        draw(tmp_path / name, outcome(one, question_about("b")))
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("beta", ["exp(-3*eps)", "0", "(eps - 2)^2", "max(1/10, exp(-2*eps))"])
def test_whatever_was_found_can_be_drawn(beta: str, tmp_path: Path) -> None:
    path = tmp_path / "any.png"
    draw(path, outcome(member(beta), question_about(beta)))
    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_curve_is_the_factor_needed() -> None:
    """e^-eps over e^(-eps/2): e^(-eps/2) at each eps of the grid."""
    found = member("exp(-eps/2)").tightest
    needed = [pictures._need(found.claims.distinct[0], eps) for eps in (Fraction(1, 2), Fraction(3))]
    assert needed == pytest.approx([0.7788007830714049, 0.22313016014842982], rel=1e-11)


def test_what_cannot_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DiagnosticError) as error:
        check_plot(Path("x.gif"), {})
    assert error.value.diagnostics[0].code == "E1003"
    many = tuple(Fraction(n) for n in (1, 2))
    with pytest.raises(DiagnosticError) as error:
        check_plot(Path("x.svg"), {"a": many, "b": many, "c": many})
    assert error.value.diagnostics[0].code == "E1004"
    monkeypatch.setattr(pictures, "find_spec", lambda name: None)
    with pytest.raises(DiagnosticError) as error:
        check_plot(Path("x.svg"), {})
    (found,) = error.value.diagnostics
    assert found.code == "E1005"
    assert found.message == "a plot needs matplotlib, which is not installed"
    assert found.notes == ("install it: in a checkout pip install '.[plot]', elsewhere pip install matplotlib",)
    assert importlib.util.find_spec("matplotlib") is not None


@pytest.mark.slow
def test_the_command_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    plot = tmp_path / "sparse.svg"
    assert run(["tighten", "benchmarks/sparse.dip", "benchmarks/sparse.csv", "--plot", str(plot)]) == 0
    assert "f = 0.1568420154" in texts(plot)
    captured = capsys.readouterr()
    assert captured.err == f"drawn to {plot}\n"
    assert captured.out.startswith("least factor 0.156842015488621728794066147363…")

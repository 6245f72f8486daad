"""Each mistake in a mechanism has a caret in the Python file and a help that says what to write."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import dipc
from dipc.cli.main import run

ROOT = Path(__file__).resolve().parent.parent.parent
BAD = Path(__file__).with_name("bad.py")
SAID = Path(__file__).with_name("bad.txt")

#: Those that are mechanisms after all.
GOOD = {"ideal_of_another"}


def names() -> list[str]:
    tree = ast.parse(BAD.read_text(encoding="utf-8"))
    return [
        each.name
        for each in tree.body
        if isinstance(each, ast.FunctionDef) and any("mechanism" in ast.unparse(d) for d in each.decorator_list)
    ]


def test_each_is_refused_with_its_place(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(ROOT)
    said = []
    for name in names():
        code = run(
            [
                "fmt" if name in GOOD else "check",
                f"tests/mechanisms/bad.py::{name}",
                *([] if name in GOOD else ["--inputs", "all"]),
            ]
        )
        captured = capsys.readouterr()
        if name in GOOD:
            assert code == 0
            continue
        assert code == 2, name
        assert captured.out == ""
        assert "--> tests/mechanisms/bad.py:" in captured.err, name
        assert "^" in captured.err
        said.append(f"=== {name}\n{captured.err}")
    assert len(said) >= 40
    text = "\n".join(said)
    if request.config.getoption("--update-golden"):
        SAID.write_text(text, encoding="utf-8")
    assert text == SAID.read_text(encoding="utf-8")


def test_files_and_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "broken.py"
    file.write_text("def f(:\n", encoding="utf-8")
    for where, said in (
        (f"{BAD}", "which can have several mechanisms"),
        (f"{BAD}::helper", "`helper` is not a mechanism"),
        (f"{BAD}::no_epsilon", "did you mean `no_eps`?"),
        (f"{tmp_path}/none.py::f", "there is no file"),
        (f"{file}::f", "is not Python"),
    ):
        assert run(["check", where]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    ["break", "continue", "global x", "nonlocal x", "await x", "g(x=1, x=2)", "*a, *b = x", "lambda a, a: a"],
)
@pytest.mark.parametrize("elsewhere", [False, True], ids=["in the mechanism", "in another function"])
def test_what_python_cannot_compile(
    line: str, elsewhere: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that Python parses and cannot load is refused, wherever the mistake is, and even if it is never run."""
    file, mistake = tmp_path / "file.py", f"\n    {line}\n"
    mechanism = "import dipc\n\n@dipc.mechanism\ndef f(x: dipc.Finite[0:2], eps):\n    return x"
    text = f"def other(x):\n    return x{mistake}{mechanism}\n" if elsewhere else mechanism + mistake
    with pytest.raises(SyntaxError):
        compile(text, "file.py", "exec")
    file.write_text(text, encoding="utf-8")
    assert run(["check", f"{file}::f", "--inputs", "all", "--beta", "0"]) == 2
    assert "is not Python" in capsys.readouterr().err


def test_what_is_called_wrongly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Floats, missing or wrong eps, and functions without a source or inside another are never run."""
    space: dict[str, object] = {"dipc": dipc}
    exec("@dipc.mechanism()\ndef typed(q: dipc.Real, eps):\n    return q > 0\n", space)
    with pytest.raises(dipc.DiagnosticError, match="the source of `typed` cannot be read"):
        space["typed"](q=0, eps=1)  # type: ignore[operator]

    @dipc.mechanism()
    def inside(q: dipc.Real, eps: dipc.Eps) -> bool:
        return dipc.laplace(q, scale=1 / eps) > 0

    with pytest.raises(dipc.DiagnosticError, match="is defined inside something else"):
        inside(q=0, eps=1)
    with pytest.raises(TypeError, match="decorates a function"):
        dipc.mechanism()(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="inside a mechanism"):
        dipc.laplace(0, scale=1)


SUMMED = """
import dipc

@dipc.mechanism(m=3)
def summed(q: dipc.Reals["m"], n: dipc.Ints["m"], eps: dipc.Eps) -> float:
    noisy = [x + dipc.exponential_noise(scale=2 / eps) for x in q]
    return max(noisy) if sum(n) > 0 else sum(q)

def of_lists(q: dipc.Reals["m"], n: dipc.Ints["m"]) -> str:
    return q
"""


@pytest.mark.slow
def test_type_checkers_pass_on_files_of_users(tmp_path: Path) -> None:
    """mypy --strict: without any configuration, and with the plugin, which knows the elements of lists."""
    from mypy import api

    plain, plugin, summed = tmp_path / "mypy.ini", tmp_path / "plugin.ini", tmp_path / "summed.py"
    plain.write_text("[mypy]\n", encoding="utf-8")
    plugin.write_text("[mypy]\nplugins = dipc.mypy\n", encoding="utf-8")
    summed.write_text(SUMMED, encoding="utf-8")
    typed = str(BAD.with_name("typed.py"))

    def messages(configuration: Path, file: str) -> str:
        cache = str(tmp_path / configuration.stem)
        text, failed, _ = api.run(["--strict", "--config-file", str(configuration), "--cache-dir", cache, file])
        assert failed == ""
        return text

    for configuration in (plain, plugin):
        assert messages(configuration, typed).startswith("Success")
    (mistake, _) = messages(plugin, str(summed)).splitlines()
    assert 'Incompatible return value type (got "list[float]", expected "str")' in mistake
    assert run(["check", f"{typed}::above_threshold", "--inputs", "all", "-q"]) == 0

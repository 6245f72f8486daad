"""The project is worded as CONTRIBUTING.md says, and the examples in its docstrings give what they show."""

from __future__ import annotations

import doctest
import importlib
from collections import defaultdict
from pathlib import Path

import pytest

from tests import wording

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "dipc").rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)

FILES = defaultdict(list)
for _file in (*wording.sources(), *wording.pages()):
    FILES[wording.room_of(_file)].append(_file)


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_run(module: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert tried > 0
    assert failed == 0


@pytest.mark.every_case
@pytest.mark.parametrize("room", FILES)
def test_the_wording_is_plain(room: str) -> None:
    complaints = [complaint for file in FILES[room] for complaint in wording.complaints(file)]
    assert not complaints, "\n".join(["see CONTRIBUTING.md, and `python -m tests.wording`:", *complaints])


def test_a_class_name_occurs_once_outside_the_checker() -> None:
    assert wording.repeated_classes() == {}


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ('def bound(x):\n    """What `x` is at most."""', "docstring starts with What"),
        ('def bound(x):\n    """Returns the least upper bound of `x`."""', "docstring starts with Returns"),
        ("class Posed:\n    pass", "`Posed` is no name"),
        ("class Bound:\n    def _of(self): ...", "`_of` is no name"),
        ('def bound():\n    """The least upper bound of `y`."""', "`y` is no parameter"),
        ('class Bound:\n    """A bound of `y`."""\n    x: int', "`y` is no parameter"),
        ('def bound(x, y):\n    """The least upper bound of `x`."""', "leaves out the parameters y"),
        (f'def bound():\n    """The bound{" of the bound" * 12}."""', "sentence of 38 words"),
        (f'def bound(x):\n    raise ValueError(f"the bound{" of the bound {x}" * 12}")', "sentence of 38 words"),
    ],
)
def test_a_fault_is_found(source: str, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "faulty.py"
    file.write_text(source, encoding="utf-8")
    assert len(found := wording.complaints(file)) == 1
    assert complaint in found[0]


def test_plain_wording_has_no_complaints(tmp_path: Path) -> None:
    file = tmp_path / "plain.py"
    file.write_text(
        'SCALE = 2\nclass Bound:\n    """A bound on `value`, times `SCALE`."""\n    value: int\n'
        '    def compare(self, other):\n        """True if `value` is less than `other`, `None` or `while`."""\n',
        encoding="utf-8",
    )
    assert wording.complaints(file) == []

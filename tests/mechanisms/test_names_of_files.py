"""Names of the file around a mechanism: a file that may change them is refused, and an imported one compared."""

from __future__ import annotations

from pathlib import Path

import pytest

import dipc
from tests.mechanisms.laws import module_of

#: Files in which the name K, a helper or a function of Python may come to mean something else.
CHANGED = {
    "match": "K = 1\nmatch 5:\n    case K:\n        pass\n",
    "match_star": "K = 1\nmatch [5]:\n    case [*K]:\n        pass\n",
    "match_rest": "K = 1\nmatch {1: 2}:\n    case {**K}:\n        pass\n",
    "match_as": "K = 1\nmatch 5:\n    case int() as K:\n        pass\n",
    "walrus": "K = 1\nif (K := 5):\n    pass\n",
    "walrus_comprehension": "K = 1\nlist_ = [(K := i) for i in range(3)]\n",
    "walrus_condition": "K = 1\nset_ = {i for i in range(3) if (K := i) > 0}\n",
    "walrus_default": "K = 1\ndef other(a=(K := 5)):\n    return a\n",
    "walrus_decorator": "K = 1\n@(K := (lambda f: f))\ndef other(a):\n    return a\n",
    "walrus_lambda": "K = 1\nother = lambda a=(K := 5): a\n",
    "walrus_base": "K = 1\nclass Other((K := object)):\n    pass\n",
    "star": "K = 1\nfrom somewhere import *\n",
    "star_before": "from somewhere import *\nK = 1\n",
    "globals": "K = 1\nglobals()['K'] = 5\n",
    "globals_update": "K = 1\nglobals().update(K=5)\n",
    "vars": "K = 1\nvars()['K'] = 5\n",
    "exec": "K = 1\nexec('K = 5')\n",
    "setattr": "import sys\nK = 1\nsetattr(sys.modules[__name__], 'K', 5)\n",
    "sys_modules": "import sys\nK = 1\nsys.modules[__name__].K = 5\n",
    "global": "K = 1\ndef change():\n    global K\n    K = 5\nchange()\n",
    "global_class": "K = 1\nclass Change:\n    global K\n    K = 5\n",
    "del": "K = 1\ndel K\n",
    "augmented": "K = 1\nK += 4\n",
    "try": "try:\n    K = 1\nexcept ValueError:\n    K = 5\nK = 5\n",
    "except": "K = 1\ntry:\n    1 / 0\nexcept ZeroDivisionError as K:\n    pass\n",
    "with": "import io\nK = 1\nwith io.StringIO() as K:\n    pass\n",
    "for": "K = 1\nfor K in (2, 3):\n    pass\n",
    "for_tuple": "K = 1\nfor _, (K, *_) in [(1, (5, 6))]:\n    pass\n",
    "import": "K = 1\nimport math as K\n",
    "import_from": "K = 1\nfrom math import e as K\n",
    "class": "K = 1\nclass K:\n    pass\n",
    "function": "K = 1\ndef K():\n    return 5\n",
    "swap": "K = 1\nK, J = 5, 6\n",
    "chain": "K = 1\nJ = K = 5\n",
    "annotated": "K = 1\nK: int = 5\n",
    "branch": "K = 1\nif K:\n    K = 5\n",
}

MECHANISM = "\n\n@dipc.mechanism\ndef f(x: dipc.Finite[0:4], eps):\n    return x + K\n"


@pytest.mark.parametrize("kind", CHANGED)
def test_a_constant_that_may_change_is_refused(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text("import dipc\n" + CHANGED[kind] + MECHANISM, encoding="utf-8")
    with pytest.raises(
        dipc.DiagnosticError,
        match=r"`K` may change in this file|`K` is assigned more than once|`K` has no value|another number|imported",
    ):
        dipc.load(f"{file}::f")


def test_a_constant_that_does_not_change_is_read(tmp_path: Path) -> None:
    """A class body, a comprehension and a function have names of their own."""
    file = tmp_path / "f.py"
    own = "K = 1\nclass Other:\n    K = 5\nlist_ = [K for K in range(3)]\ndef other():\n    K = 5\n    return K\n"
    file.write_text("import dipc\nfrom math import *\n" + own + MECHANISM, encoding="utf-8")
    (outcome,) = dipc.load(f"{file}::f").outcomes({"x": 2})
    assert outcome.output == {"out": "3"}


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("from somewhere import *", "any(y > 1 for y in [x, 1])"),
        ("from somewhere import *", "sum([x, 1])"),
        ("def sum(xs):\n    return 5", "sum([x, 1])"),
        ("import builtins\nbuiltins.sum = max", "sum([x, 1])"),
        ("globals()['max'] = min", "max(x, 1)"),
        ("for max in (1, 2):\n    pass", "max(x, 1)"),
        ("e = 1\nfrom math import *", "x + e"),
        ("def g(a):\n    return a\ng = abs", "g(x)"),
        ("def g(a):\n    return a\nfrom somewhere import *", "g(x)"),
        ("def g(a):\n    return a\nglobals()['g'] = abs", "g(x)"),
        ("def g(a, b=(m := 5)):\n    return a + m\nm = 1", "g(x)"),
        ("dipc.choice = max", "dipc.choice({x: 1})"),
        ("import math\nmath.exp = abs", "dipc.choice({x: math.exp(0)})"),
    ],
)
def test_functions_that_may_be_others_are_refused(before: str, body: str, tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text(
        f"import dipc\n{before}\n\n\n@dipc.mechanism\ndef f(x: dipc.Finite[0:4], eps):\n    return {body}\n",
        encoding="utf-8",
    )
    with pytest.raises(dipc.DiagnosticError):
        dipc.load(f"{file}::f")


USED = """
import math
import dipc

K = 1

def g(a):
    return a + K

def exact(x):
    return g(x)

@dipc.mechanism(ideal=exact)
def f(x: dipc.Finite[0:4], eps):
    return max(g(x), 0)
"""


@pytest.mark.parametrize("name", ["K", "g", "max", "exact"])
def test_names_are_compared_with_those_of_the_imported_module(name: str, tmp_path: Path) -> None:
    """The text of the file does not show a change from outside."""
    module = module_of(USED, tmp_path, "unchanged")
    assert module.f(2, eps=1) == 3
    module = module_of(USED, tmp_path, f"changed_{name}")
    setattr(module, name, {"K": 5, "g": abs, "max": min, "exact": abs}[name])
    with pytest.raises(dipc.DiagnosticError, match=f"`{name}` means something else now"):
        module.f.dip()

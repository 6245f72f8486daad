"""Each help can be followed: what it says to write is read, and means what Python says."""

from __future__ import annotations

from pathlib import Path

import pytest

import dipc
from dipc.decide.obligation import Verdict
from dipc.text.diagnostic import DiagnosticError
from tests.mechanisms.laws import inputs, module_of, program_law, python_law

HEAD = "import math\nfrom fractions import Fraction\n\nimport dipc\n\n\n"
FINITE = "@dipc.mechanism\ndef f(x: dipc.Finite[0:4], eps):\n"

#: What is refused, a part of what is said, and the function as the help has it.
HELPS = {
    "int and real": (
        "@dipc.mechanism\ndef f(x: dipc.Int, eps):\n    return dipc.laplace(x, scale=1 / eps) > 1\n",
        r"annotate the inputs `dipc.Real`, or draw the noise with `dipc.discrete_laplace`",
        "@dipc.mechanism\ndef f(x: dipc.Int, eps):\n    return dipc.discrete_laplace(x, scale=1 / eps) > 1\n",
    ),
    "coin": (
        FINITE + '    return x if dipc.bernoulli("3/4") else 0\n',
        r"a coin is `dipc.choice\(\{True: 3/4, False: 1/4\}\)`",
        FINITE + "    k = dipc.choice({True: 3 / 4, False: 1 / 4})\n    return x if k else 0\n",
    ),
    "geometric": (
        "@dipc.mechanism\ndef f(x: dipc.Int, eps):\n    return dipc.geometric(x, scale=1 / eps) > 1\n",
        r"`dipc.discrete_laplace\(mean, scale=…\)`",
        "@dipc.mechanism\ndef f(x: dipc.Int, eps):\n    return dipc.discrete_laplace(x, scale=1 / eps) > 1\n",
    ),
    "length": (
        '@dipc.mechanism\ndef f(q: dipc.Reals["8"], eps):\n    return dipc.laplace(sum(q), scale=1 / eps)\n',
        r"write the number itself, without quotes: `\[8\]`",
        "@dipc.mechanism\ndef f(q: dipc.Reals[8], eps):\n    return dipc.laplace(sum(q), scale=1 / eps)\n",
    ),
    "logarithm": (
        "@dipc.mechanism\ndef f(x: dipc.Real, eps):\n    return dipc.laplace(x, scale=1 / eps) > math.log(20)\n",
        r"`Fraction\(29957, 10000\)`",
        "@dipc.mechanism\ndef f(x: dipc.Real, eps):\n    return dipc.laplace(x, scale=1 / eps) > Fraction(29957, 10000)\n",
    ),
    "logarithm in a scale": (
        "@dipc.mechanism\ndef f(x: dipc.Real, eps):\n    return dipc.laplace(x, scale=math.log(20) / eps) > 1\n",
        r"just above it, which makes the noise a little wider: `Fraction\(14979, 5000\)`",
        (
            "@dipc.mechanism\ndef f(x: dipc.Real, eps):\n"
            "    return dipc.laplace(x, scale=Fraction(14979, 5000) / eps) > 1\n"
        ),
    ),
    "root in a rate": (
        "@dipc.mechanism\ndef f(x: dipc.Real, eps):\n    return dipc.laplace(x, rate=2 * math.sqrt(2) * eps) > 1\n",
        r"just below it, which makes the noise a little wider: `Fraction\(7071, 5000\)`",
        (
            "@dipc.mechanism\ndef f(x: dipc.Real, eps):\n"
            "    return dipc.laplace(x, rate=2 * Fraction(7071, 5000) * eps) > 1\n"
        ),
    ),
    "logarithm below a line": (
        "@dipc.mechanism\ndef f(x: dipc.Real, eps):\n    return dipc.laplace(x, scale=3 / math.log(20) / eps) > 1\n",
        r"safe side of it: `Fraction\(29957, 10000\)` is just below it, `Fraction\(14979, 5000\)` is just above",
        (
            "@dipc.mechanism\ndef f(x: dipc.Real, eps):\n"
            "    return dipc.laplace(x, scale=3 / Fraction(29957, 10000) / eps) > 1\n"
        ),
    ),
    "decimal": (
        FINITE + "    return 0.1 * x <= 0.3\n",
        r"write `Fraction\(1, 10\)`",
        FINITE + "    return Fraction(1, 10) * x <= Fraction(3, 10)\n",
    ),
    "third": (
        FINITE + "    return x / 3 < 1\n",
        r"write `\(x\) \* Fraction\(1, 3\)`",
        FINITE + "    return (x) * Fraction(1, 3) < 1\n",
    ),
    "whole": (FINITE + "    return 2.0\n", "write `2`", FINITE + "    return 2\n"),
    "keys": (
        FINITE + "    return dipc.choice({x: 1 / 2, 1: 1 / 2})\n",
        "`k = dipc.choice.* and use `x if k == 0 else 1`",
        FINITE + "    k = dipc.choice({0: 1 / 2, 1: 1 / 2})\n    return x if k == 0 else 1\n",
    ),
    "none": (
        FINITE + "    best = None\n    if x > 1:\n        best = x\n    return best > 2\n",
        "`if best is not None and …`",
        FINITE + "    best = None\n    if x > 1:\n        best = x\n    return best is not None and best > 2\n",
    ),
    "value": (
        FINITE + "    if x > 1:\n        y = 2\n    return y\n",
        "`y = 0` at the start",
        FINITE + "    y = 0\n    if x > 1:\n        y = 2\n    return y\n",
    ),
    "element": (
        FINITE + "    ys = []\n    for i in range(3):\n        if i < x:\n            ys.append(i)\n    return ys[0]\n",
        r"`ys = \[0\] \* m`",
        FINITE
        + "    ys = [0] * 3\n    for i in range(3):\n        if i < x:\n            ys[i] = i\n    return ys[0]\n",
    ),
    "three values": (
        FINITE + "    flag = None\n    if x > 1:\n        flag = x > 2\n    return flag and True\n",
        "`flag is True`",
        FINITE + "    flag = None\n    if x > 1:\n        flag = x > 2\n    return flag is True and True\n",
    ),
    "loop variable": (
        FINITE + "    for i in range(3):\n        pass\n    return i\n",
        "copy what you need into another variable inside the loop",
        FINITE + "    last = 0\n    for i in range(3):\n        last = i\n    return last\n",
    ),
    "constant": (
        "K = 1\nK = 2\n\n\n" + FINITE + "    return x + K\n",
        r"make it a constant, `@dipc.mechanism\(k=3\)`",
        "k = 3\n\n\n" + FINITE.replace("mechanism", "mechanism(k=3)") + "    return x + k\n",
    ),
    "no elements": (
        FINITE + "    ys = [k for k in range(0)]\n    return x\n",
        "leave it out",
        FINITE + "    return x\n",
    ),
    "steps": (
        '@dipc.mechanism(m=4)\ndef f(q: dipc.Finite[0:2]["m"], eps):\n    return sum(q[::2])\n',
        r"write `\[q\[2 \* k\] for k in range\(n\)\]`",
        '@dipc.mechanism(m=4)\ndef f(q: dipc.Finite[0:2]["m"], eps):\n    return sum([q[2 * k] for k in range(2)])\n',
    ),
}


@pytest.mark.parametrize("kind", HELPS)
def test_a_help_is_read_where_it_is_followed(kind: str, tmp_path: Path) -> None:
    refused, said, mended = HELPS[kind]
    with pytest.raises(dipc.DiagnosticError, match=said):
        module_of(HEAD + refused, tmp_path, "refused").f.dip()
    mechanism = module_of(HEAD + mended, tmp_path, "mended").f
    if "Finite" in mended and '"m"' not in mended:
        for given in inputs(mechanism):
            assert program_law(mechanism, given) == python_law(mechanism._function, given), given
    else:
        mechanism.dip()


#: What Python's meaning is plain of, and the language can say.
READ = {
    "filtered": "    ys = [k for k in range(4) if k != x]\n    return ys\n",
    "filtered and summed": "    ys = [k for k in range(4) if k != x]\n    return sum(k * k for k in ys), len(ys)\n",
    "filtered and looped over": (
        "    ys = [k for k in range(4) if k > x]\n    total = 0\n    for i, y in enumerate(ys):\n"
        "        total += i * y\n    return total\n"
    ),
    "filtered twice": "    ys = [k for k in range(4) if k > x]\n    zs = [y + 1 for y in ys if y > 2]\n    return zs\n",
    "appended and summed": (
        "    ys = []\n    for k in range(4):\n        if k != x:\n            ys.append(k)\n    return sum(ys)\n"
    ),
    "complete and looped over": (
        "    ys = []\n    for k in range(3):\n        ys.append(k + x)\n    total = 0\n    for y in ys:\n"
        "        total += y\n    return total, max(ys)\n"
    ),
    "slice": "    h = [x, 1, 2, 3]\n    return sum(h[:2]), max(h[1:]), sum(h[1:3]), sum(h[:-1]), sum(h[-2:])\n",
    "slice with a name": "    h = [x, 1, 2, 3]\n    part = h[1:3]\n    h[1] = 9\n    return part\n",
    "slice that is looped over": "    h = [x, 1, 2]\n    total = 0\n    for y in h[1:]:\n        total += x * y\n    return total\n",
    "quotient": "    return x // 2, x % 2, (x - 3) // 2, (x - 3) % 2, (x + 5) // -3, (x + 5) % -3\n",
    "middle": "    lo = 1\n    hi = x + 3\n    mid = (lo + hi) // 2\n    return mid\n",
    "fraction": "    y = Fraction(x, 4)\n    return y < Fraction(1, 2), y * 4 == x\n",
    "halves": "    y = x * Fraction(1, 2)\n    return y\n",
    "halves of a domain": "    y: dipc.Finite[0, 1/2, 1] = 0\n    if x > 1:\n        y = Fraction(1, 2)\n    return y\n",
    "sorted": "    ys = sorted([3, x, 1])\n    return ys\n",
    "sorted backwards": "    ys = sorted([3, x, 1], reverse=True)\n    return ys[0], ys[2]\n",
    "weights": "    return dipc.choice({0: 1 / 2 if x > 1 else 1 / 4, 1: 1 / 2 if x > 1 else 3 / 4})\n",
    "weights in an expression": "    return 1 + dipc.choice({0: 1 / 2 if x > 1 else 1 / 4, 1: 1 / 2 if x > 1 else 3 / 4})\n",
    "weights by two": (
        "    return dipc.choice({0: 1 / 2 if x > 1 else 1 / 4 if x > 0 else 1 / 8, "
        "1: 1 / 2 if x > 1 else 3 / 4 if x > 0 else 7 / 8})\n"
    ),
    "input assigned": "    x = x + 1\n    return x\n",
    "input clamped": "    if x > 2:\n        x = 2\n    return x\n",
    "input in a loop": "    for i in range(2):\n        x += i\n    return x\n",
}


@pytest.mark.parametrize("kind", READ)
def test_plain_python_is_read(kind: str, tmp_path: Path) -> None:
    mechanism = module_of(HEAD + FINITE + READ[kind], tmp_path, "plain").f
    for given in inputs(mechanism):
        assert program_law(mechanism, given) == python_law(mechanism._function, given), given


def test_inputs_are_exchanged(tmp_path: Path) -> None:
    text = "@dipc.mechanism\ndef f(x: dipc.Finite[0:3], y: dipc.Finite[1:5], eps):\n    x, y = y, x\n    return x, y\n"
    mechanism = module_of(HEAD + text, tmp_path, "exchanged").f
    for given in inputs(mechanism):
        assert program_law(mechanism, given) == python_law(mechanism._function, given), given


@pytest.mark.parametrize(("inputs", "column"), [("all", ""), ("x = 0..1", " a column `beta` in the table,")])
def test_a_mechanism_without_a_claim_is_told_where_it_goes(tmp_path: Path, inputs: str, column: str) -> None:
    body = "def f(x: dipc.Real, eps):\n    return dipc.laplace(x, scale=1 / eps) > 1\n"
    path = tmp_path / "claimless.py"
    path.write_text(HEAD + "@dipc.mechanism\n" + body, encoding="utf-8")
    wanted = '@dipc.mechanism(claim=dict(beta="exp(-eps)"))'
    with pytest.raises(DiagnosticError) as refused:
        dipc.check(f"{path}::f", inputs=inputs)
    (found,) = refused.value.diagnostics
    assert (found.code, found.notes) == ("E0601", (f"give `--beta EXPR`,{column} or a claim: `{wanted}`",))
    path.write_text(f"{HEAD}{wanted}\n{body}", encoding="utf-8")
    assert dipc.check(f"{path}::f", inputs=inputs).verdict in tuple(Verdict)

"""Random small programs with ideals, some of whose inputs may be exchanged for each other."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

_RATES = st.sampled_from(["eps", "eps", "eps/2"])
_NUMBERS = st.sampled_from(["0", "0", "0", "1/2", "-1"])
_WEIGHTS = st.sampled_from(["1", "1", "1", "2", "-1"])

GRIDS = st.sampled_from([(-1, 0), (-1, 0, 1), (0, Fraction(1, 2), 2)])


@st.composite
def programs(draw: st.DrawFn, most: int = 3) -> str:
    """Noisy values of all inputs, put together in one way by the mechanism and perhaps in another by the ideal."""
    m = draw(st.integers(2, most))
    kind = draw(st.sampled_from(["real", "real", "real", "{-1, 0, 1}"]))
    real = draw(st.booleans())
    lines = [f"program p; input q[1..{m}] : {kind};"]
    extra = draw(st.sampled_from(["", "", "bool", "{0..1}"]))
    if extra:
        lines.append(f"input x : {extra};")
    lines.append(f"output out : {{0..{m}}} = 0;")
    if real:
        lines.append(f"output val[1..{m}] : real = 0;")
    lines.append(f"var r[1..{m}], top : real; var n : {{0..{m}}} = 0;")
    lines.append("claim { alpha: dd; gamma: 1; beta: exp(-alpha*eps/2) - exp(-eps)/4; eps: [1, 1]; }")
    shape = draw(st.sampled_from(["first", "count", "largest", "sum"]))
    other = shape if draw(st.booleans()) else draw(st.sampled_from(["first", "count", "largest", "sum"]))
    released = draw(st.sampled_from([[], [1], list(range(1, m + 1))])) if real else []
    lines.append(f"ideal {{ var big : real; var n : {{0..{m}}} = 0;")
    lines += draw(_body(other, "q", "big", m, extra))
    lines += [f"val[{i}] <- q[{i}];" for i in released]
    lines.append("}")
    for i in range(1, m + 1):
        lines.append(f"r[{i}] <- Lap({draw(_RATES)}, q[{i}]);")
    lines += draw(_body(shape, "r", "top", m, extra))
    lines += [f"val[{i}] <- Lap(eps, q[{i}]);" for i in released]
    return "\n".join(lines)


@st.composite
def _body(draw: st.DrawFn, shape: str, name: str, best: str, m: int, extra: str) -> list[str]:
    if draw(st.booleans()):
        bound = draw(_NUMBERS)
        bounds = [bound] * m
    else:
        bounds = [draw(_NUMBERS) for _ in range(m)]
    lines: list[str] = []
    if shape == "count":
        lines = [f"if {name}[{i}] >= {bounds[i - 1]} then n <- n + 1 end;" for i in range(1, m + 1)]
        lines.append("out <- n;")
    elif shape == "first":
        lines = [f"if n = 0 then if {name}[{i}] > {bounds[i - 1]} then n <- {i} end end;" for i in range(1, m + 1)]
        lines.append("out <- n;")
    elif shape == "largest":
        lines.append(f"{best} <- {name}[1]; out <- 1;")
        lines += [f"if {name}[{i}] > {best} then {best} <- {name}[{i}]; out <- {i} end;" for i in range(2, m + 1)]
    else:
        weights = [draw(_WEIGHTS) for _ in range(m)]
        total = " + ".join(f"{w}*{name}[{i}]" for i, w in enumerate(weights, 1))
        lines = [f"if {total} >= {bounds[0]} then out <- 1 end;"]
    if extra:
        lines.append(f"if x = {'true' if extra == 'bool' else '1'} then out <- 0 end;".replace("x = true", "x"))
    return lines

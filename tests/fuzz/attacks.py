"""Random programs against oracles that share nothing with the engine: enumeration, quadrature, grids, fractions.

Each attack takes a seed, asks dipc about a random program, and asserts that nothing contradicts the answer. It returns
what dipc said, so that those who count can see how often it says nothing.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

import numpy as np

import dipc
from dipc.inverse.question import AlphaSolution, BetaSolution, EndPoint, EpsSolution, GammaSolution, Status

F = Fraction

#: Numbers of the oracles are right to so much.
_SLIP = 1e-9

#: Integer noise is looked at so far from its mean; at the rates and eps below nothing is left beyond.
_REACH = 400

_OPS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    ">=": np.greater_equal, ">": np.greater, "<=": np.less_equal, "<": np.less, "=": np.equal,
}  # fmt: skip


# --- integer noise: forests ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Forest:
    """Integer noises z[0], z[1], … and comparisons: of each with its parent or with a number, and of single ones."""

    rates: tuple[Fraction, ...]
    means: tuple[int, ...]
    #: By the noise: its parent, the comparison z[i] op z[parent] + offset.
    ties: tuple[tuple[int, str, int] | None, ...]
    bounds: tuple[tuple[int, str, int], ...]

    def conditions(self) -> list[str]:
        """The comparisons in the syntax of the language."""
        found = [
            f"z[{i + 1}] {tie[1]} z[{tie[0] + 1}] + {tie[2]}".replace("+ -", "- ")
            for i, tie in enumerate(self.ties)
            if tie is not None
        ]
        return [*found, *(f"z[{i + 1}] {op} {at}" for i, op, at in self.bounds)]

    def draws(self) -> str:
        """The statements that draw the noises."""
        return " ".join(
            f"z[{i + 1}] <- DLap({rate}*eps, {mean});"
            for i, (rate, mean) in enumerate(zip(self.rates, self.means, strict=True))
        )

    def probability(self, eps: float) -> float:
        """The probability that all comparisons hold, summed over all integers within reach."""
        values = np.arange(-_REACH, _REACH + 1)
        weights = []
        for i, (rate, mean) in enumerate(zip(self.rates, self.means, strict=True)):
            z = math.exp(-float(rate) * eps)
            weight = (1 - z) / (1 + z) * z ** np.abs(values - mean).astype(float)
            for at, op, bound in self.bounds:
                if at == i:
                    weight = weight * _OPS[op](values, np.asarray(bound))
            weights.append(weight)
        total = 1.0
        for i in range(len(self.rates) - 1, -1, -1):
            tie = self.ties[i]
            if tie is None:
                total *= float(weights[i].sum())
                continue
            parent, op, offset = tie
            weights[parent] = weights[parent] * _of_children(weights[i], op, offset)
        return total


def _of_children(weights: np.ndarray, op: str, offset: int) -> np.ndarray:
    """For each value of a parent the weight of the children on their side of it plus the offset."""
    count = len(weights)
    from_there = np.concatenate([np.cumsum(weights[::-1])[::-1], [0.0]])

    def mass_beyond(more: int) -> np.ndarray:
        return from_there[np.clip(np.arange(count) + more, 0, count)]

    match op:
        case ">=":
            return mass_beyond(offset)
        case ">":
            return mass_beyond(offset + 1)
        case "<":
            return from_there[0] - mass_beyond(offset)
        case "<=":
            return from_there[0] - mass_beyond(offset + 1)
    return mass_beyond(offset) - mass_beyond(offset + 1)


_WHOLE_RATES = ("1", "1/2", "2", "3/2", "2/3", "1/3", "3/4")


def random_forest(chance: random.Random, most: int = 5) -> Forest:
    """Parents come before their children."""
    count = chance.randint(1, most)
    ties: list[tuple[int, str, int] | None] = []
    bounds = []
    for i in range(count):
        tied = i > 0 and chance.random() < 0.85
        ties.append((chance.randrange(i), chance.choice([*_OPS, ">=", "<"]), chance.randint(-3, 3)) if tied else None)
        if not tied or chance.random() < 0.3:
            bounds.append((i, chance.choice([">=", ">", "<=", "<"]), chance.randint(-3, 3)))
    return Forest(
        tuple(F(chance.choice(_WHOLE_RATES)) for _ in range(count)),
        tuple(chance.randint(-2, 2) for _ in range(count)),
        tuple(ties),
        tuple(bounds),
    )


def forest_program(forest: Forest) -> str:
    """Whether all comparisons hold."""
    return (
        f"program forest; output o : bool; var z[1..{len(forest.rates)}] : int;\n{forest.draws()}\n"
        f"o <- {' and '.join(forest.conditions())}\n"
    )


def forests(seed: int) -> str:
    """Probabilities of forests of integer noises with different rates."""
    forest = random_forest(random.Random(f"forest {seed}"), 6)
    found = dipc.load(forest_program(forest)).probability({}, {"o": True})
    for eps in (F(1, 3), F(1), F(5, 2)):
        _same(found.enclosure(eps), forest.probability(float(eps)), forest)
    return "probability"


def _same(cell: tuple[Fraction, Fraction], wanted: float, about: object) -> None:
    low, high = cell
    assert float(low) - _SLIP <= wanted <= float(high) + _SLIP, (about, cell, wanted)


# --- integer noise: the least factor, and what is solved for ------------------------------------------------


_EPS = tuple(math.exp(math.log(1 / 3) + math.log(9) * i / 120) for i in range(121))  # 1/3 to 3
_INTERVAL = "[1/3, 3]"

_FACTORS = ("1", "1/2", "2", "1/5")
_FALLS = ("0", "1/2", "1", "2")


def tighten_ints(seed: int) -> str:
    """The least factor of a beta for a row or two of integer noise."""
    chance = random.Random(f"tighten {seed}")
    forest = random_forest(chance, 3)
    factor, fall = F(chance.choice(_FACTORS)), F(chance.choice(_FALLS))
    found = dipc.tighten(
        dipc.load(forest_program(forest)), [{"o": True}], beta=f"{factor}*exp(-{fall}*eps)", alpha=0, eps=_INTERVAL
    )
    needed = max((1 - forest.probability(eps)) / (float(factor) * math.exp(-float(fall) * eps)) for eps in _EPS)
    if found.unknown:
        return "undecided"
    low, high = (0.0, 0.0) if found.factor is None else map(float, found.factor)
    assert high >= needed - 1e-7 * (1 + needed), (forest, found.factor, needed)
    assert low <= needed * 1.01 + 1e-7, (forest, found.factor, needed)
    if found.kappa and low > 1e-6:
        assert found.kappa <= 1 / low + 1e-9 < found.kappa + 1 + 1e-6, (forest, found.kappa, low)
    return "factor"


def solve_ints_eps(seed: int) -> str:
    """For which eps of an interval a claim holds."""
    chance = random.Random(f"solve eps {seed}")
    forest = random_forest(chance, 3)
    factor, fall = float(F(chance.choice(_FACTORS))), float(F(chance.choice(_FALLS)))
    beta = f"{F(factor).limit_denominator(9)}*exp(-{F(fall)}*eps)"
    program = dipc.load(forest_program(forest))
    found = dipc.solve(program, [{"o": True}], wanted="eps", beta=beta, alpha=0, eps=_INTERVAL)
    assert isinstance(found, EpsSolution)
    if found.status is Status.UNDECIDED:
        return "undecided"
    for eps in _EPS:
        margin = forest.probability(eps) - 1 + factor * math.exp(-fall * eps)
        if abs(margin) > 1e-7:
            inside = any(_is_between(eps, span.start, span.end) for span in found.holds)
            assert inside == (margin > 0), (forest, beta, eps, margin, found.holds)
    return str(found.status)


def _is_between(eps: float, start: EndPoint, end: EndPoint) -> bool:
    return float(start.low) <= eps + 1e-12 and (end.high is None or eps <= float(end.high) + 1e-12)


def solve_ints_beta(seed: int) -> str:
    """The least beta over several rows, piece by piece."""
    chance = random.Random(f"solve beta {seed}")
    forest = random_forest(chance, 3)
    program = dipc.load(forest_program(forest))
    found = dipc.solve(program, [{"o": True}, {"o": False}], wanted="beta", alpha=0, eps=_INTERVAL)
    assert isinstance(found, BetaSolution)
    if found.status is Status.UNDECIDED:
        return "undecided"
    for eps in (0.4, 1.0, 2.5):
        p = forest.probability(eps)
        needed = max(p, 1 - p)
        pieces = [piece for piece in found.pieces if _is_between(eps, piece.span.start, piece.span.end)]
        assert pieces, (forest, eps)
        values = [eval(piece.beta.replace("^", "**"), {"exp": math.exp, "eps": eps}) for piece in pieces]
        assert any(abs(value - needed) < 1e-7 for value in values), (forest, eps, values, needed)
    return str(found.status)


def solve_ints_gamma(seed: int) -> str:
    """The least tolerance of an int output that is a sum of integer noises."""
    chance = random.Random(f"solve gamma {seed}")
    rates = [F(chance.choice(_WHOLE_RATES)) for _ in range(chance.randint(1, 3))]
    scales = [chance.choice((1, 1, -1, 2)) for _ in rates]
    shift = chance.choice((0, 0, 1, -2))
    draws = " ".join(f"z[{i}] <- DLap({rate}*eps, 0);" for i, rate in enumerate(rates, 1))
    total = " + ".join(f"{scale}*z[{i}]" for i, scale in enumerate(scales, 1)).replace("+ -", "- ")
    names = f"input q : int; output o : int; var z[1..{len(rates)}] : int;"
    program = dipc.load(f"program sums; {names}\n{draws} o <- q + {shift} + {total}\n")
    beta, eps = F(chance.choice(("1/10", "1/3", "1/50"))), F(chance.choice(("1", "1/2", "2")))
    found = dipc.solve(program, [{"q": 3, "o": 3}], wanted="gamma", beta=beta, alpha=0, eps=str(eps))
    assert isinstance(found, GammaSolution)
    if found.status is Status.UNDECIDED:
        return "undecided"
    law = {0: 1.0}
    for rate, scale in zip(rates, scales, strict=True):
        z = math.exp(-float(rate * eps))
        step = {scale * k: (1 - z) / (1 + z) * z ** abs(k) for k in range(-80, 81)}
        spread: dict[int, float] = {}
        for (a, p), (b, q) in product(law.items(), step.items()):
            spread[a + b] = spread.get(a + b, 0.0) + p * q
        law = spread
    within = [sum(p for k, p in law.items() if abs(k + shift) <= gamma) for gamma in range(200)]
    if any(abs(p - 1 + float(beta)) < 1e-8 for p in within):
        return "touching"
    least = next(gamma for gamma, p in enumerate(within) if p >= 1 - float(beta))
    assert found.value is not None
    assert found.value[0] <= least <= found.value[1], (rates, scales, shift, beta, eps, found.value, least)
    assert found.value[1] == least
    return str(found.status)


def solve_ints_alpha(seed: int) -> str:
    """The least alpha such that all rows beyond hold."""
    chance = random.Random(f"solve alpha {seed}")
    at, rate = chance.randint(-2, 2), F(chance.choice(_WHOLE_RATES))
    wrong = at + chance.choice((0, 0, 0, 1, 3))
    program = dipc.load(
        f"program t; input q : int; output o : bool; var z : int; ideal {{ o <- q >= {at} }}\n"
        f"z <- DLap({rate}*eps, q); o <- z >= {wrong}\n"
    )
    beta, eps = F(chance.choice(("1/10", "1/3", "1/100"))), F(chance.choice(("1", "1/2", "2")))
    inputs = range(-12, 13)
    found = dipc.solve(program, inputs=f"q = {inputs[0]}..{inputs[-1]}", wanted="alpha", beta=beta, eps=str(eps))
    assert isinstance(found, AlphaSolution)
    if found.status is Status.UNDECIDED:
        return "undecided"
    failing = [0]
    for q in inputs:
        z = math.exp(-float(rate * eps))
        above = _above(z, wrong - q)
        if (above if q >= at else 1 - above) < 1 - float(beta) - 1e-12:
            failing.append(abs(q - at) + (1 if q >= at else 0))
    if found.value is None:
        # The farthest rows fail, and beyond them nothing is claimed.
        assert max(failing) == max(abs(q - at) + (1 if q >= at else 0) for q in inputs), (at, rate, wrong, failing)
        return "none holds"
    assert found.value == max(failing), (program, beta, eps, found.value, failing)
    return str(found.status)


def _above(z: float, k: int) -> float:
    """The mass of a centered discrete Laplace noise from k on."""
    return z**k / (1 + z) if k >= 1 else 1 - z ** (1 - k) / (1 + z)


# --- constants in 1/eps ----------------------------------------------------------------------------------------


def constants_over_eps(seed: int) -> str:
    """Thresholds, means and rates that mean something at one eps alone, beside rational ones."""
    chance = random.Random(f"one eps {seed}")
    eps = F(chance.choice(("1/2", "1", "3", "7/5", "1/10")))
    number = _over_eps(chance)
    means = [_over_eps(chance) for _ in range(3)]
    rates = [chance.choice(("eps", "1/eps", "2*eps + 1", "eps/2", "1/2", "eps*eps")) for _ in range(3)]
    values = {"eps": eps}

    def value(text: str) -> Fraction:
        return _fraction(text, values)

    ops = [chance.choice((">=", "<")) for _ in range(3)]
    text = (
        "program p; input q : real; output o : bool; var r[1..3] : real;\n"
        + " ".join(
            f"r[{i}] <- Lap({rate}, {mean} + q);" for i, (rate, mean) in enumerate(zip(rates, means, strict=True), 1)
        )
        + f"\no <- r[1] {ops[0]} {number} and r[2] {ops[1]} r[1] + {means[0]} and r[3] {ops[2]} r[1]\n"
    )
    program = dipc.load(text, eps=str(eps))
    q = F(chance.randint(-4, 4), 2)
    found = program.probability({"q": q}, {"o": True})
    laws = [(float(value(rate)), float(value(mean) + q)) for rate, mean in zip(rates, means, strict=True)]
    wanted = _star(laws, [(0.0, ops[0])], float(value(number)), [(float(value(means[0])), ops[1]), (0.0, ops[2])])
    _same(found.enclosure(eps), wanted, text)
    beta = F(min(1.0, max(0.0, 1 - wanted + chance.choice((1e-4, -1e-4, 0.2, -0.2))))).limit_denominator(10**7)
    report = dipc.check(program, [{"q": q, "o": True}], beta=beta, alpha=0, eps=str(eps))
    if abs(wanted - 1 + float(beta)) > 1e-7:
        assert (report.verdict is dipc.Verdict.ACCURATE) == (wanted > 1 - float(beta)), (text, beta)
    return str(report.verdict)


def _over_eps(chance: random.Random) -> str:
    return chance.choice(("0", "1", "-1/2", "1/eps", "3 - 2/eps", "eps/2", "1 + 7/(4*eps)", "2*eps - 1"))


def _fraction(text: str, names: dict[str, Fraction]) -> Fraction:
    """The value of an expression of numbers and names, exactly."""
    wrapped = "".join(f"F({part})" if part.isdigit() else part for part in _tokens(text))
    return F(eval(wrapped, {"F": F, **names}))


def _tokens(text: str) -> Iterator[str]:
    word = ""
    for letter in text:
        if letter.isalnum():
            word += letter
        else:
            yield from filter(None, (word, letter.strip()))
            word = ""
    if word:
        yield word


def _star(
    laws: Sequence[tuple[float, float]],
    bounds: Sequence[tuple[float, str]],
    at: float,
    leaves: Sequence[tuple[float, str]],
) -> float:
    """The probability that the first noise and all others are on their sides.

    The side of the first noise is that of `at`, the side of each other one that of the first noise plus an offset.
    Computed by Gauss-Legendre quadrature between all kinks.
    """
    rate, mean = laws[0]
    ((_, side),) = bounds
    low, high = (at, max(at, mean) + 60 / rate) if side == ">=" else (min(at, mean) - 60 / rate, at)
    kinks = [mean, *(m - offset for (_, m), (offset, _) in zip(laws[1:], leaves, strict=True))]
    # Finer and finer around each kink.
    steps = [0.0, *(2**k / (8 * max(r for r, _ in laws)) for k in range(30))]
    points = {kink + sign * step for kink in (at, *kinks) for sign in (-1, 1) for step in steps}
    fine = sorted({low, high, *(point for point in points if low < point < high)})
    nodes, weights = np.polynomial.legendre.leggauss(24)
    total = 0.0
    for a, b in pairwise(fine):
        x = (a + b) / 2 + (b - a) / 2 * nodes
        value = rate / 2 * np.exp(-rate * np.abs(x - mean))
        for (r, m), (offset, op) in zip(laws[1:], leaves, strict=True):
            d = x + offset - m
            above = np.where(d >= 0, np.exp(-r * np.abs(d)) / 2, 1 - np.exp(-r * np.abs(d)) / 2)
            value = value * (above if op == ">=" else 1 - above)
        total += float((weights * value).sum() * (b - a) / 2)
    return total


# --- what a claim says, and --strict -----------------------------------------------------------------------


def strict(seed: int) -> str:
    """Compare which rows hold vacuously, and the exit codes of `--strict`."""
    chance = random.Random(f"strict {seed}")
    factor, fall = F(chance.choice(("1", "2", "1/2", "3"))), F(chance.choice(("0", "1/4", "1", "-1")))
    ends = chance.choice((("0", "inf"), ("0", "1/2"), ("1", "2"), ("2", "inf")))
    alpha = F(chance.choice(("0", "1", "2")))
    rows = [{"q": F(chance.randint(-4, 4)), "dd": F(chance.randint(0, 3))} for _ in range(chance.randint(1, 3))]
    text = "program s; input q : real; output o : bool; var r : real; r <- Lap(eps, q); o <- r >= 0"
    table = [{"q": row["q"], "o": row["q"] >= 0, "dd": row["dd"]} for row in rows]
    beta = f"{factor}*exp(-({fall})*eps)"
    report = dipc.check(dipc.load(text), table, beta=beta, alpha=alpha, eps=f"({ends[0]}, {ends[1]})")
    low, high = (math.inf if end == "inf" else float(F(end)) for end in ends)
    eps = [low + 1e-9 + (min(high, low + 80) - low - 2e-9) * (i / 4000) ** 3 for i in range(4001)]
    vacuous = []
    for row, found in zip(rows, report.rows, strict=True):
        betas = [float(factor) * math.exp(-float(fall) * e) for e in eps]
        # Alpha 0 is about every input.
        near = alpha > 0 and row["dd"] <= alpha
        vacuous.append(near or min(betas) >= 1 - 1e-9)
        # At the end of an open interval beta may be 1 in the limit.
        if near or not any(abs(b - 1) < 1e-6 for b in (betas[0], betas[-1])):
            assert found.vacuous == vacuous[-1], (beta, ends, row, found)
        if not found.vacuous:
            margins = [1 - math.exp(-abs(float(row["q"])) * e) / 2 - 1 + b for e, b in zip(eps, betas, strict=True)]
            if min(margins) < -1e-7:
                assert found.verdict is dipc.Verdict.INACCURATE, (beta, ends, row)
            elif min(margins) > 1e-7:
                assert found.verdict is dipc.Verdict.ACCURATE, (beta, ends, row)
    counted = sum(found.vacuous for found in report.rows)
    assert report.counts.vacuous == counted
    return str(report.verdict)


# --- every real input ------------------------------------------------------------------------------------------

_Q = tuple(float(F(n, 4)) for n in range(-40, 41) if n)
_GRID_EPS = (0.01, 0.1, 0.3, 0.7, 1.0, 2.0, 4.0, 9.0)
_GAMMAS = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0)


def _expression(text: str) -> Callable[[float, float, float], float]:
    """A beta of eps, alpha and gamma."""
    code = compile(text, "beta", "eval")
    return lambda eps, alpha, gamma: float(
        eval(code, {"exp": math.exp, "min": min, "max": max, "eps": eps, "alpha": alpha, "gamma": gamma})
    )


_BOTH = (
    *("exp(-alpha*eps/2) + exp(-gamma*eps)", "exp(-alpha*eps) + exp(-gamma*eps/2)", "2*exp(-min(alpha, gamma)*eps/8)"),
    *("exp(-alpha*eps/8) + exp(-gamma*eps/8)", "exp(-gamma*eps)", "exp(-alpha*eps)/2 + exp(-gamma*eps)/3", "1/2"),
    *("exp(-alpha*eps/4)/2 + exp(-gamma*eps/4)", "3/2*exp(-min(alpha, gamma)*eps/2)", "exp(-alpha*eps/2)/3"),
)


def both_open(seed: int) -> str:
    """Check claims whose alpha is the distance, for every gamma.

    A threshold releases each value above it, with a bit that tells whether it did or alone, so that an answer may be
    near either way.
    """
    chance = random.Random(f"both open {seed}")
    first, second = F(chance.choice(("1", "1/2", "2"))), F(chance.choice(("1", "1/2", "2")))
    shift = F(chance.choice(("0", "0", "0", "1", "-1/2")))
    released = chance.choice(("noise", "own", "own"))
    bit, at = chance.choice(((True, 0), (True, 1), (False, 1), (False, 2)))
    beta = chance.choice(_BOTH)
    value = "r" if released == "noise" else f"Lap({second}*eps, q + {shift})"
    said_so = "o <- 1; " if bit else ""
    text = (
        f"program p; input q : real; {'output o : {0, 1} = 0; ' if bit else ''}output val : real = 0; var r : real;\n"
        f"metric {{ apart: q >= {at} and q' >= {at} and q != q'; }}\n"
        f"ideal {{ if q >= {at} then {said_so}val <- q end }}\n"
        f"r <- Lap({first}*eps, q); if r >= {at} then {said_so}val <- {value} end\n"
    )
    report = dipc.check(dipc.load(text), inputs="all", alpha="dd", beta=beta, gamma="free")
    required = _expression(beta)

    def probability(q: float, gamma: float, eps: float) -> float:
        a, b = float(first) * eps, float(second) * eps
        above = _laplace_above(a, at - q)
        right = q if q >= at else 0.0
        low, high = right - gamma, right + gamma
        if released == "noise":
            near = max(0.0, _laplace_above(a, max(at, low) - q) - _laplace_above(a, max(at, high) - q))
        else:
            near = above * (_laplace_above(b, low - q - float(shift)) - _laplace_above(b, high - q - float(shift)))
        if bit:
            return near if q >= at else 1 - above
        return near + (1 - above if low <= 0 <= high else 0.0)

    # A gamma and a distance that differ by nothing are at the edge of both.
    points = [(q, gamma, eps) for q in (*_Q, 0.1) for gamma in _GAMMAS for eps in _GRID_EPS if q != at]

    def slack(factor: float, q: float, gamma: float, eps: float) -> float:
        return probability(q, gamma, eps) - 1 + factor * required(eps, abs(q - at), gamma)

    worst = min((slack(1, *point), *point) for point in points)
    tightest = dipc.tighten(dipc.load(text), inputs="all", alpha="dd", beta=beta, gamma="free", digits=6)
    proved = None if tightest.unknown else tightest.upper or tightest.factor
    if proved is not None:
        assert min(slack(float(proved[1]), *point) for point in points) > -1e-9, text + beta
    return _agrees(report, worst, text + beta)


def _laplace_above(rate: float, at: float) -> float:
    return math.exp(-rate * at) / 2 if at >= 0 else 1 - math.exp(rate * at) / 2


def _agrees(report: dipc.Report, worst: tuple[float, ...], about: object) -> str:
    """The verdict; where the grid refutes the claim it is not `accurate`."""
    if worst[0] < -1e-9:
        assert report.verdict is not dipc.Verdict.ACCURATE, (about, worst)
        if report.verdict is dipc.Verdict.UNDECIDED:
            return "undecided, but refuted on the grid"
    return str(report.verdict)


def bands(seed: int) -> str:
    """Check answers between two thresholds at one distance, with noise shared or not, and finite inputs beside them."""
    chance = random.Random(f"bands {seed}")
    width = F(chance.choice(("1", "2", "5", "1/2")))
    low, high = F(chance.choice(("1", "1", "1/2"))), F(chance.choice(("1", "1", "2")))
    shared = chance.random() < 0.5
    alpha = F(chance.choice(("0", "1/4", "1/2", "1")))
    beta = chance.choice(
        ("exp(-eps/2)", "3/4", "exp(-eps/4) + exp(-eps)/4", "(exp(-eps) + exp(-4*eps))/2", "exp(-eps)")
    )
    bend = chance.choice(("", "", "and t >= -3"))
    text = (
        "program band; input q : real; output o : {0, 1} = 0; var r, s, t : real;\n"
        f"ideal {{ if q >= 0 and q <= {width} then o <- 1 end }}\n"
        f"r <- Lap({low}*eps, q); s <- {'r' if shared else f'Lap({high}*eps, q)'}; t <- Lap(eps, q);\n"
        f"if r >= 0 and s <= {width} {bend} then o <- 1 end\n"
    )
    interval = chance.choice(("(0, inf)", "[1/2, 3]", "[1, 1]"))
    report = dipc.check(dipc.load(text), inputs="all", alpha=alpha, beta=beta, eps=interval)
    required = _expression(beta)
    w = float(width)

    def probability(q: float, eps: float) -> float:
        above = _laplace_above(float(low) * eps, -q)
        if shared:
            inside = above - _laplace_above(float(low) * eps, w - q)
        else:
            inside = above * (1 - _laplace_above(float(high) * eps, w - q))
        if bend:
            inside *= _laplace_above(eps, -3 - q)
        return inside if 0 <= q <= w else 1 - inside

    def dd(q: float) -> float:
        return min(q, w - q) if 0 <= q <= w else min(abs(q), abs(q - w))

    eps = [e for e in _GRID_EPS if interval == "(0, inf)" or (0.5 <= e <= 3 and (e == 1 or interval != "[1, 1]"))]
    inputs = [q for q in (*_Q, 0.0, w, w / 2, float(alpha), w - float(alpha)) if dd(q) > float(alpha)]
    worst = min(
        ((probability(q, e) - 1 + required(e, float(alpha), 0.0), q, e) for q in inputs for e in eps),
        default=(1.0,),
    )
    return _agrees(report, worst, text + beta)


def same_answers(seed: int) -> str:
    """A noisy maximum of two where answers whose inputs are near count as equal."""
    chance = random.Random(f"same {seed}")
    rates = [F(chance.choice(("1", "1/2", "2"))) for _ in range(2)]
    slack = F(chance.choice(("0", "1", "1/2", "2")))
    beta = chance.choice(
        ("exp(-alpha*eps)", "exp(-alpha*eps/2)", "exp(-2*alpha*eps)/2", "2*exp(-alpha*eps)/3", "exp(-eps)/2")
    )
    alpha = chance.choice(("dd", "dd", "0", "1"))
    text = (
        "program p; input q[1..2] : real; output out : {1..2} = 1; var r, s : real;\n"
        f"metric {{ same: q[out] >= q[out'] - {slack}; }}\n"
        "ideal { if q[2] > q[1] then out <- 2 end }\n"
        f"r <- Lap({rates[0]}*eps, q[1]); s <- Lap({rates[1]}*eps, q[2]); if s > r then out <- 2 end\n"
    )
    report = dipc.check(dipc.load(text), inputs="all", alpha=alpha, beta=beta)
    checked = []
    program = dipc.load(text)
    for gap in (F(-3), F(-1), F(-1, 2), F(0), F(1, 3), F(1), F(5, 2)):
        row = dipc.check(program, inputs=f"q[1] = 0, q[2] in {{{gap}}}", alpha=alpha, beta=beta)
        checked.append(row.verdict)
        # By hand: the other answer is as good where its input is not less by more than the slack.
        right = 2 if gap > 0 else 1
        if abs(gap) <= slack:
            assert row.verdict is dipc.Verdict.ACCURATE, (text, gap)
        else:
            eps = 1.0
            a, b, d = float(rates[0]), float(rates[1]), float(abs(gap))
            wrong = _difference_above(a, b, d)
            (closed,) = [each.closed_form for each in row.rows]
            assert closed is not None
            _same(closed.enclosure(F(1)), 1 - wrong, (text, gap, right, eps))
    if report.verdict is dipc.Verdict.ACCURATE:
        assert dipc.Verdict.INACCURATE not in checked, (text, beta)
    if report.verdict is dipc.Verdict.UNDECIDED and dipc.Verdict.INACCURATE in checked:
        return "undecided, but refuted on the grid"
    return str(report.verdict)


def _difference_above(a: float, b: float, d: float) -> float:
    """Pr[X - Y > d] for Laplace noises of these rates, d >= 0."""
    if a == b:
        return math.exp(-a * d) * (2 + a * d) / 4
    return (b * b * math.exp(-a * d) - a * a * math.exp(-b * d)) / (2 * (b * b - a * a))


# --- every number ------------------------------------------------------------------------------------------------

_MAXIMUM = """
program maximum; const m = 3; input q[1..m] : real; output out : {1..m} = 1; var r, best : real;
ideal { var top : real; top <- q[1]; for i in 2..m do if q[i] > top then top <- q[i]; out <- i end end }
best <- Lap(RATE, q[1]); for i in 2..m do r <- Lap(RATE, q[i]); if r > best then best <- r; out <- i end end
"""
_TESTS = """
program tests; const m = 3; input q[1..m] : real; output out[1..m] : bool; var r : real;
ideal { for i in 1..m do out[i] <- q[i] >= 0 end }
for i in 1..m do r <- Lap(RATE, q[i]); out[i] <- r >= 0 end
"""
_ABOVE = """
program above; const m = 3; input q[1..m] : real; output out[1..m] : {none, bot, top} = none; var r, t : real;
ideal { for i in 1..m do if q[i] >= 0 then out[i] <- top; exit else out[i] <- bot end end }
t <- Lap(RATE, 0); for i in 1..m do r <- Lap(OTHER, q[i]); if r >= t then out[i] <- top; exit else out[i] <- bot end end
"""
_NUMBER_BETAS = (
    *("m*exp(-alpha*eps/2)", "2*m*exp(-alpha*eps/8)", "16*m*exp(-alpha*eps/8)", "m*exp(-alpha*eps/(2*m))"),
    *(
        "2*m*exp(-alpha*eps/(4*m))",
        "exp(-alpha*eps)",
        "m*m*exp(-alpha*eps/4)",
        "m/2*exp(-alpha*eps/2)",
        "m*exp(-alpha*eps)",
    ),
)


def every_number(seed: int) -> str:
    """A claim for every m against every real input of m = 1 to 6, decided exactly."""
    chance = random.Random(f"every m {seed}")
    rate = chance.choice(("eps", "eps/2", "eps/m", "eps/(2*m)", "2*eps", "eps/(m + 1)"))
    text = chance.choice((_MAXIMUM, _TESTS, _ABOVE)).replace("RATE", rate)
    text = text.replace("OTHER", chance.choice((rate, "eps/4", "eps/2")))
    return _for_every_number(text, chance.choice(_NUMBER_BETAS))


def every_number_normal(seed: int) -> str:
    """The same with Gaussian noise, and with both kinds."""
    chance = random.Random(f"every m normal {seed}")
    text = chance.choice((_MAXIMUM, _TESTS, _ABOVE))
    size, other = (chance.choice(("1/eps", "2/eps", "sqrt(2)/eps", "1/(2*eps)", "4/eps")) for _ in range(2))
    mixed = chance.random() < 0.25
    text = text.replace("Lap(RATE", f"Gauss({size}").replace("Lap(OTHER", "Lap(eps/2" if mixed else f"Gauss({other}")
    return _for_every_number(text, chance.choice((*_NUMBER_BETAS, "2*m*exp(-alpha*eps/4)/3", "m*erfc(alpha*eps/4)")))


def _for_every_number(text: str, beta: str) -> str:
    program = dipc.load(text)
    found = dipc.check(program, inputs="all", for_all="m", alpha="dd", beta=beta)
    exact = {}
    for m in range(1, 7):
        try:
            exact[m] = dipc.check(dipc.load(text, m=m), inputs="all", alpha="dd", beta=beta).verdict
        except dipc.DiagnosticError:
            continue
    if found.verdict is dipc.Verdict.ACCURATE:
        assert dipc.Verdict.INACCURATE not in exact.values(), (text, beta, exact)
    if found.verdict is dipc.Verdict.INACCURATE:
        names = [row for row in found.rows if row.verdict is dipc.Verdict.INACCURATE]
        assert names
    if found.verdict is dipc.Verdict.UNDECIDED and dipc.Verdict.INACCURATE in exact.values():
        return "undecided, but refuted at a number"
    return str(found.verdict)


ATTACKS: dict[str, Callable[[int], str]] = {
    attack.__name__: attack
    for attack in (
        forests,
        tighten_ints,
        solve_ints_eps,
        solve_ints_beta,
        solve_ints_gamma,
        solve_ints_alpha,
        constants_over_eps,
        strict,
        both_open,
        bands,
        same_answers,
        every_number,
        every_number_normal,
    )
}


def replies(name: str, seeds: Iterable[int]) -> list[str]:
    """The answers of dipc to the attack `name`, seed by seed."""
    return [ATTACKS[name](seed) for seed in seeds]

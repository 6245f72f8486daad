"""Probabilities of comparisons of Gaussian, Laplace and discrete Gaussian noises, found without dipc.

They are computed by quadrature between all kinks, and by sums.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise, product

import mpmath
import numpy as np
from scipy.special import ndtr

F = Fraction

#: Nodes of one panel.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


@dataclass(frozen=True)
class Drawn:
    """A noise: `Gauss` and `DGauss` have their deviation, `Lap` and `DLap` their rate."""

    kind: str
    scale: Fraction
    mean: Fraction


@dataclass(frozen=True)
class Comparison:
    """Σ c·X + d >= 0, or > 0, over one or two noises."""

    terms: tuple[tuple[int, Fraction], ...]
    constant: Fraction
    strict: bool = False


def exact(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


# --- one center, to many digits ------------------------------------------------------------------------------


def _below(noise: Drawn, x: mpmath.mpf) -> mpmath.mpf:
    """Pr[N <= x]."""
    z = x - exact(noise.mean)
    if noise.kind == "Gauss":
        return mpmath.ncdf(z / exact(noise.scale))
    half = mpmath.exp(-exact(noise.scale) * abs(z)) / 2
    return half if z < 0 else 1 - half


def _density(noise: Drawn, x: mpmath.mpf) -> mpmath.mpf:
    z = x - exact(noise.mean)
    if noise.kind == "Gauss":
        return mpmath.npdf(z, 0, exact(noise.scale))
    return exact(noise.scale) / 2 * mpmath.exp(-exact(noise.scale) * abs(z))


def _width(noise: Drawn) -> Fraction:
    return noise.scale if noise.kind == "Gauss" else 1 / noise.scale


def around(noises: Sequence[Drawn], comparisons: Sequence[Comparison], center: int) -> mpmath.mpf:
    """The probability that all `comparisons` hold, each about one noise, or about one noise and `center`."""
    leaves: dict[int, list[tuple[Fraction, Fraction, Fraction]]] = {}
    low, high = -mpmath.inf, mpmath.inf
    for item in comparisons:
        terms = dict(item.terms)
        a = terms.pop(center, F(0))
        if not terms:
            end = exact(-item.constant / a)
            low, high = (max(low, end), high) if a > 0 else (low, min(high, end))
        for leaf, c in terms.items():
            leaves.setdefault(leaf, []).append((c, a, item.constant))

    def conditional(t: mpmath.mpf) -> mpmath.mpf:
        total = mpmath.mpf(1)
        for leaf, bounds in leaves.items():
            least, most = mpmath.mpf(0), mpmath.mpf(1)
            for c, a, d in bounds:
                value = _below(noises[leaf], (-exact(a) * t - exact(d)) / exact(c))
                least, most = (max(least, value), most) if c > 0 else (least, min(most, value))
            total *= max(mpmath.mpf(0), most - least)
        return total

    kinks: set[Fraction] = {noises[center].mean}
    for leaf, bounds in leaves.items():
        for (c, a, d), (b, e, f) in combinations([*bounds, (F(1), F(0), -noises[leaf].mean)], 2):
            slope = -a / c + e / b
            if slope:
                kinks.add((d / c - f / b) / slope)
    size = exact(_width(noises[center]))
    middle = exact(noises[center].mean)
    far = 16 * size if noises[center].kind == "Gauss" else 90 * size
    points = {middle + size * k for k in (-12, -8, -5, -3, -2, -1, 0, 1, 2, 3, 5, 8, 12)} | set(map(exact, kinks))
    low, high = max(low, middle - far), min(high, middle + far)
    if low >= high:
        return mpmath.mpf(0)
    inside = sorted({low, high, *(point for point in points if low < point < high)})
    return sum(
        (mpmath.quad(lambda t: _density(noises[center], t) * conditional(t), [a, b]) for a, b in pairwise(inside)),
        mpmath.mpf(0),
    )


# --- two centers, to the digits of floats --------------------------------------------------------------------


def _below_all(noise: Drawn, x: np.ndarray) -> np.ndarray:
    z = x - float(noise.mean)
    if noise.kind == "Gauss":
        return np.asarray(ndtr(z / float(noise.scale)))
    half = np.exp(-float(noise.scale) * np.abs(z)) / 2
    return np.where(z < 0, half, 1 - half)


def _densities(noise: Drawn, x: np.ndarray) -> np.ndarray:
    z = x - float(noise.mean)
    if noise.kind == "Gauss":
        return np.asarray(np.exp(-(z**2) / (2 * float(noise.scale) ** 2)) / (float(noise.scale) * np.sqrt(2 * np.pi)))
    return np.asarray(float(noise.scale) / 2 * np.exp(-float(noise.scale) * np.abs(z)))


def _panels(ends: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    nodes = [(a + b) / 2 + (b - a) / 2 * _NODES for a, b in pairwise(ends)]
    return np.concatenate(nodes), np.concatenate([(b - a) / 2 * _WEIGHTS for a, b in pairwise(ends)])


def _reach(noise: Drawn) -> list[float]:
    size, middle = float(_width(noise)), float(noise.mean)
    steps = (-8.5, -6, -4, -3, -2, -1, 0) if noise.kind == "Gauss" else (-36, -24, -14, -8, -5, -3, -2, -1, -0.5, 0)
    return [middle + sign * size * step for step in steps for sign in (1, -1)]


def over_plane(noises: Sequence[Drawn], comparisons: Sequence[Comparison], centers: tuple[int, int]) -> float:
    """The probability that all `comparisons` hold, each about `centers` and at most one more noise."""
    s, t = centers
    own: list[tuple[float, float, float]] = []
    leaves: dict[int, list[tuple[float, float, float, float]]] = {}
    for item in comparisons:
        terms = {i: float(c) for i, c in item.terms}
        a, b, d = terms.pop(s, 0.0), terms.pop(t, 0.0), float(item.constant)
        if not terms:
            own.append((a, b, d))
        for leaf, c in terms.items():
            leaves.setdefault(leaf, []).append((c, a, b, d))
    # Lines a·s + b·t + d = 0 on which something is not smooth.
    lines = list(own)
    for leaf, bounds in leaves.items():
        for (c, a, b, d), (k, e, f, g) in combinations([*bounds, (1.0, 0.0, 0.0, -float(noises[leaf].mean))], 2):
            lines.append((a / c - e / k, b / c - f / k, d / c - g / k))
    lines += [(1.0, 0.0, -float(noises[s].mean)), (0.0, 1.0, -float(noises[t].mean))]
    lines = [line for line in lines if line[0] or line[1]]
    outer = _reach(noises[s])
    for (a, b, d), (e, f, g) in combinations(lines, 2):
        if a * f != b * e:
            outer.append((b * g - d * f) / (a * f - b * e))
    outer += [-d / a for a, b, d in lines if not b]
    low, high = min(_reach(noises[s])), max(_reach(noises[s]))
    places, weights = _panels(sorted({x for x in outer if low <= x <= high}))
    total = 0.0
    least, most = min(_reach(noises[t])), max(_reach(noises[t]))
    for x, weight in zip(places, weights, strict=True):
        kinks = [(-a * x - d) / b for a, b, d in lines if b]
        nodes, inner = _panels(sorted({*_reach(noises[t]), *(y for y in kinks if least < y < most)}))
        value = inner * _densities(noises[t], nodes)
        for a, b, d in own:
            value = value * (a * x + b * nodes + d >= 0)
        for leaf, bounds in leaves.items():
            lower, upper = np.zeros_like(nodes), np.ones_like(nodes)
            for c, a, b, d in bounds:
                found = _below_all(noises[leaf], -(a * x + b * nodes + d) / c)
                lower, upper = (np.maximum(lower, found), upper) if c > 0 else (lower, np.minimum(upper, found))
            value = value * np.maximum(0.0, upper - lower)
        total += float(weight * _densities(noises[s], np.array([x]))[0] * value.sum())
    return total


# --- trees, to many digits -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Piecewise:
    """A function between two ends, with its integral up to each point.

    Both are given by coefficients of Chebyshev polynomials on each panel.
    """

    ends: list[mpmath.mpf]
    panels: list[list[mpmath.mpf]]
    sums: list[mpmath.mpf]

    def integral(self, x: mpmath.mpf) -> mpmath.mpf:
        """The integral up to `x`."""
        if x <= self.ends[0]:
            return mpmath.mpf(0)
        if x >= self.ends[-1]:
            return self.sums[-1]
        panel = bisect_right(self.ends, x) - 1
        low, high = self.ends[panel], self.ends[panel + 1]
        z = (2 * x - low - high) / (high - low)
        first = second = mpmath.mpf(0)
        for c in reversed(self.panels[panel]):
            first, second = c + 2 * z * first - second, first
        return self.sums[panel] + (first - z * second) * (high - low) / 2


#: The degree on a panel.
_DEGREE = 24


@lru_cache
def _cosines(digits: int) -> list[list[mpmath.mpf]]:
    """cos(πjk/n): places and, times weights, how to find coefficients from values at them."""
    with mpmath.workdps(digits):
        return [[mpmath.cospi(mpmath.mpf(j * k) / _DEGREE) for k in range(_DEGREE + 1)] for j in range(_DEGREE + 1)]


def _antiderivative(values: Sequence[mpmath.mpf], cosines: list[list[mpmath.mpf]]) -> list[mpmath.mpf]:
    """The antiderivative of the polynomial with `values` at the nodes of a panel, 0 at its lower end."""
    halved = [values[0] / 2, *values[1:-1], values[-1] / 2]
    found = [2 * mpmath.fdot(halved, row) / _DEGREE for row in cosines]
    found[0], found[-1] = found[0] / 2, found[-1] / 2
    found += [mpmath.mpf(0)] * 2
    result = [mpmath.mpf(0)] + [
        ((2 if k == 1 else 1) * found[k - 1] - found[k + 1]) / (2 * k) for k in range(1, _DEGREE + 2)
    ]
    result[0] = -sum(c * (-1) ** k for k, c in enumerate(result))
    return result


def over_tree(noises: Sequence[Drawn], comparisons: Sequence[Comparison], root: int) -> mpmath.mpf:
    """The probability that all `comparisons` hold, each about one Gaussian noise or two neighbors in a tree.

    Distributions are integrated from the leaves to `root`, panel by panel between all kinks.
    """
    own: dict[int, list[tuple[mpmath.mpf, mpmath.mpf]]] = {}
    pairs: dict[int, dict[int, list[tuple[mpmath.mpf, mpmath.mpf, mpmath.mpf]]]] = {}
    for item in comparisons:
        d = exact(item.constant)
        match item.terms:
            case ((i, a),):
                own.setdefault(i, []).append((exact(a), d))
            case ((i, a), (j, b)):
                pairs.setdefault(i, {}).setdefault(j, []).append((exact(a), exact(b), d))
                pairs.setdefault(j, {}).setdefault(i, []).append((exact(b), exact(a), d))
    cosines = _cosines(mpmath.mp.dps)

    def distribution(i: int, parent: int | None) -> _Piecewise:
        size, middle = exact(noises[i].scale), exact(noises[i].mean)
        low, high = middle - 13 * size, middle + 13 * size
        edges = {middle + size * k for k in range(-13, 14)}
        below = []
        for child, lines in pairs.get(i, {}).items():
            if child == parent:
                continue
            found = distribution(child, i)
            below.append((found, lines))
            # a·x + b·t + d at which the child t is at one of its ends, or two bounds of it meet.
            edges |= {-(b * end + d) / a for a, b, d in lines for end in found.ends}
            for (a, b, d), (e, f, g) in combinations(lines, 2):
                if a * f != e * b:
                    edges.add((g * b - d * f) / (a * f - e * b))
        edges |= {-d / a for a, d in own.get(i, ())}
        for a, d in own.get(i, ()):
            low, high = (max(low, -d / a), high) if a > 0 else (low, min(high, -d / a))
        ends = sorted({low, high, *(edge for edge in edges if low < edge < high)}) if low < high else [low, low + 1]

        def value(x: mpmath.mpf) -> mpmath.mpf:
            total = mpmath.npdf(x, middle, size) if low < high else mpmath.mpf(0)
            for found, lines in below:
                least, most = -mpmath.inf, mpmath.inf
                for a, b, d in lines:
                    end = -(a * x + d) / b
                    least, most = (max(least, end), most) if b > 0 else (least, min(most, end))
                total *= max(mpmath.mpf(0), found.integral(most) - found.integral(least)) if least < most else 0
            return total

        panels, sums = [], [mpmath.mpf(0)]
        for start, end in pairwise(ends):
            half = (end - start) / 2
            values = [value((start + end) / 2 + half * x) for x in cosines[1]]
            panels.append(_antiderivative(values, cosines))
            sums.append(sums[-1] + half * sum(panels[-1]))
        return _Piecewise(ends, panels, sums)

    return distribution(root, None).sums[-1]


# --- integers, to many digits --------------------------------------------------------------------------------


def over_integers(noises: Sequence[Drawn], comparisons: Sequence[Comparison]) -> mpmath.mpf:
    """All values that are not less probable than 10^-25, one after the other."""
    masses: list[dict[int, mpmath.mpf]] = []
    for noise in noises:
        if noise.kind == "DGauss":
            weights = {k: mpmath.exp(-(k * k) / (2 * exact(noise.scale) ** 2)) for k in _integers(noise)}
            whole = sum(weights.values())
            masses.append({k + int(noise.mean): weight / whole for k, weight in weights.items()})
        else:
            z = mpmath.exp(-exact(noise.scale))
            masses.append({k + int(noise.mean): (1 - z) / (1 + z) * z ** abs(k) for k in _integers(noise)})
    total = mpmath.mpf(0)
    for values in product(*masses):
        if all(_holds(item, values) for item in comparisons):
            chance = mpmath.mpf(1)
            for mass, value in zip(masses, values, strict=True):
                chance *= mass[value]
            total += chance
    return total


def _integers(noise: Drawn) -> Iterator[int]:
    size = 11 * float(noise.scale) + 1 if noise.kind == "DGauss" else 58 / float(noise.scale) + 1
    return iter(range(-int(size), int(size) + 1))


def _holds(item: Comparison, values: Sequence[int]) -> bool:
    value = item.constant + sum(c * values[i] for i, c in item.terms)
    return value > 0 if item.strict else value >= 0

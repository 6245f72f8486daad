"""The largest value of (1 - Pr)/beta by mpmath alone, in floating point with many digits; dipc only names the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import mpmath

Row = Mapping[str, str]
Function = Callable[[mpmath.mpf], mpmath.mpf]

#: Digits that mpmath works with.
DIGITS = 60


def maximum(f: Function) -> tuple[mpmath.mpf, mpmath.mpf]:
    """(place, value) of the largest value of f on a grid of eps, made exact by Newton's method on the derivative."""
    points = [mpmath.mpf(2) ** (mpmath.mpf(n) / 2) for n in range(-6, 14)]
    values = [f(x) for x in points]
    best = max(range(1, len(points) - 1), key=lambda n: values[n])
    low, high = points[best - 1], points[best + 1]
    with mpmath.workdps(20):  # a rough place first: golden section
        golden = (mpmath.sqrt(5) - 1) / 2
        for _ in range(40):
            a, b = high - golden * (high - low), low + golden * (high - low)
            low, high = (a, high) if f(a) < f(b) else (low, b)
    place = mpmath.findroot(lambda x: mpmath.diff(f, x), (low + high) / 2, tol=mpmath.mpf(10) ** -50, verify=False)
    if not points[best - 1] < place < points[best + 1]:
        place = points[best]  # the largest value is at the edge of the grid: an end, no maximum
    return place, f(place)


def below(rate: mpmath.mpf, gap: mpmath.mpf) -> mpmath.mpf:
    """Pr[Lap(rate) < gap]."""
    return mpmath.exp(rate * gap) / 2 if gap < 0 else 1 - mpmath.exp(-rate * gap) / 2


def expectation(rate: mpmath.mpf, g: Function, breaks: list[int]) -> mpmath.mpf:
    """E[g(X)] for X ~ Lap(rate) around 0, where g is smooth between the breaks."""
    ends = [-mpmath.inf, *sorted({*breaks, 0}), mpmath.inf]
    return mpmath.quad(lambda x: rate / 2 * mpmath.exp(-rate * abs(x)) * g(x), ends)


def sparse_round(answers: list[tuple[int, str]], threshold: mpmath.mpf, noise: mpmath.mpf) -> mpmath.mpf:
    """The chance of these answers to these queries around one noisy threshold."""

    def all_right(t: mpmath.mpf) -> mpmath.mpf:
        result = mpmath.mpf(1)
        for query, answer in answers:
            bot = below(noise, t - query)
            result *= bot if answer == "bot" else 1 - bot
        return result

    return expectation(threshold, all_right, [query for query, _ in answers])


def answers_of(row: Row) -> list[tuple[int, str]]:
    count = sum(1 for name in row if name.startswith("q["))
    pairs = [(int(row[f"q[{i}]"]), row[f"out[{i}]"]) for i in range(1, count + 1)]
    return [pair for pair in pairs if pair[1] != "none"]


def sparse(row: Row, eps: mpmath.mpf, c: int) -> mpmath.mpf:
    """A fresh threshold after every top."""
    return _rounds(row, eps / (2 * c), eps / (4 * c))


def numeric_sparse(row: Row, eps: mpmath.mpf, c: int) -> mpmath.mpf:
    """The probability for numeric sparse: other rates, and each top's value is within gamma = 1."""
    tops = sum(1 for _, answer in answers_of(row) if answer == "top")
    return _rounds(row, 4 * eps / (9 * c), 2 * eps / (9 * c)) * (1 - mpmath.exp(-eps / (9 * c))) ** tops


def _rounds(row: Row, threshold: mpmath.mpf, noise: mpmath.mpf) -> mpmath.mpf:
    result = mpmath.mpf(1)
    current: list[tuple[int, str]] = []
    for pair in answers_of(row):
        current.append(pair)
        if pair[1] == "top":
            result *= sparse_round(current, threshold, noise)
            current = []
    return result * (sparse_round(current, threshold, noise) if current else 1)


def sparse_variant(row: Row, eps: mpmath.mpf, c: int, threshold: mpmath.mpf) -> mpmath.mpf:
    """One threshold for all."""
    return sparse_round(answers_of(row), threshold, eps / (4 * c))


def noisy_max(row: Row, eps: mpmath.mpf, _c: int) -> mpmath.mpf:
    queries = [int(row[name]) for name in row if name.startswith("q[")]
    winner = queries.pop(int(row["out"]) - 1)

    def all_below(x: mpmath.mpf) -> mpmath.mpf:
        result = mpmath.mpf(1)
        for query in queries:
            result *= below(eps / 2, winner + x - query)
        return result

    return expectation(eps / 2, all_below, [query - winner for query in queries])

"""The tables: det and dd(u) of each mechanism, computed by hand from the definitions, without dipc."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from benchmarks.literature.entry import Row


def named(name: str, values: Iterable[object]) -> dict[str, str]:
    """Return the cells `name[1]`, `name[2]`, ... of the array `name` with these `values`."""
    return {f"{name}[{i}]": str(value) for i, value in enumerate(values, 1)}


# --- selection -------------------------------------------------------------------------------------


def votes() -> Iterator[Row]:
    """Zero to three votes for each of three candidates: the best winner has loss 0; the winner's cell stays empty."""
    for count in itertools.product(range(4), repeat=3):
        yield {**named("count", count), "winner": "", "loss": "0"}


def continuous_maximum() -> Iterator[Row]:
    """Three values; half of the gap to the second largest makes two of them tie."""
    for q in itertools.product((-1, 0, 1), repeat=3):
        second, largest = sorted(q)[-2:]
        yield {**named("q", q), "out": str(q.index(largest) + 1), "dd": str(Fraction(largest - second, 2))}


def whole_maximum() -> Iterator[Row]:
    """Three whole values; dd is the distance to the nearest whole input with another answer."""
    for q in itertools.product(range(3), repeat=3):
        best = q.index(max(q))
        # To win, an earlier value has to catch up and a later one to overtake; both move, by whole steps.
        gaps = [q[best] - value + (i > best) for i, value in enumerate(q) if i != best]
        yield {**named("q", q), "out": str(best + 1), "dd": str(min(-(-gap // 2) for gap in gaps))}


_ZERO, _ONE = Fraction(0), Fraction(1)

#: The records of the universe, as the values of three queries on them.
UNIVERSE = ((_ONE, _ONE, _ZERO), (_ZERO, _ONE, _ONE / 2), (_ZERO, _ZERO, _ONE))

SMALL_DATABASES = tuple(itertools.combinations_with_replacement(range(3), 2))


def worst_errors(histogram: Sequence[int]) -> list[Fraction]:
    """Return the worst error over the three queries on `histogram` that each small database of two records makes."""
    records = [record for record, times in zip(UNIVERSE, histogram, strict=True) for _ in range(times)]
    errors = []
    for small in SMALL_DATABASES:
        chosen = [UNIVERSE[i] for i in small]
        errors.append(max(abs(_mean(records, query) - _mean(chosen, query)) for query in range(3)))
    return errors


def _mean(records: Sequence[Sequence[Fraction]], query: int) -> Fraction:
    return sum((record[query] for record in records), _ZERO) / len(records)


def histograms() -> Iterator[Row]:
    """All databases of four records: a best small database loses nothing; which it is stays open."""
    for x in itertools.product(range(5), repeat=3):
        if sum(x) == 4:
            yield {**named("x", x), "small": "", "loss": "0"}


# --- local answers ---------------------------------------------------------------------------------


def honest_answers() -> Iterator[Row]:
    """Everyone tells the truth."""
    for answers in itertools.product(("false", "true"), repeat=3):
        yield {**named("x", answers), **named("out", answers)}


def honest_values() -> Iterator[Row]:
    """The value itself."""
    for value in range(4):
        yield {"x": str(value), "out": str(value)}


# --- sums ------------------------------------------------------------------------------------------


def running_sums(name: str, length: int) -> Iterator[Row]:
    """Yield all streams of `length` bits, the inputs called `name`, with their running sums."""
    for bits in itertools.product((0, 1), repeat=length):
        yield {**named(name, bits), **named("out", itertools.accumulate(bits))}


# --- thresholds ------------------------------------------------------------------------------------


def whole_threshold() -> Iterator[Row]:
    """Two whole values against the threshold 0; dd is the distance to the nearest whole input with another answer."""
    for q in itertools.product(range(-3, 4), repeat=2):
        first = next((i for i, value in enumerate(q) if value >= 0), None)
        processed = q if first is None else q[: first + 1]
        out = ["bot" if value < 0 else "top" for value in processed]
        dd = min(-value if value < 0 else value + 1 for value in processed)
        yield {**named("q", q), **named("out", [*out, *["none"] * (len(q) - len(out))]), "dd": str(dd)}


# --- graphs ----------------------------------------------------------------------------------------

#: The possible edges of a graph with four vertices, in the order of the program's input.
PAIRS = tuple(itertools.combinations(range(4), 2))


def graphs() -> Iterator[frozenset[tuple[int, int]]]:
    """The 11 graphs with four vertices, one of each shape."""
    seen = set()
    for size in range(len(PAIRS) + 1):
        for edges in itertools.combinations(PAIRS, size):
            shape = min(
                sorted(tuple(sorted((order[u], order[v]))) for u, v in edges)
                for order in itertools.permutations(range(4))
            )
            if tuple(shape) not in seen:
                seen.add(tuple(shape))
                yield frozenset(edges)


def least_cover(edges: Iterable[tuple[int, int]]) -> int:
    """Return the size of a least vertex cover of the graph with these `edges`."""
    edges = list(edges)
    return next(
        size
        for size in range(4)
        for cover in itertools.combinations(range(4), size)
        if all(u in cover or v in cover for u, v in edges)
    )


def graph_cells(edges: frozenset[tuple[int, int]]) -> Row:
    """Return the row of the graph with these `edges`."""
    return {**named("edge", (str(pair in edges).lower() for pair in PAIRS)), "covered": "false"}


def edges_of(row: Row) -> frozenset[tuple[int, int]]:
    """Return the edges of the graph that `row` stands for."""
    return frozenset(pair for i, pair in enumerate(PAIRS, 1) if row[f"edge[{i}]"] == "true")

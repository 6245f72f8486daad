"""Random events over Laplace noises, and ways of writing the same event differently.

Rates and lengths come from short lists, so that equal rates (resonance), coinciding breakpoints and isomorphic parts
are common.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.noise.laplace import LAPLACE

RATES = [Fraction(1), Fraction(1), Fraction(2), Fraction(1, 2), Fraction(2, 3)]
LENGTHS = [Fraction(0), Fraction(0), Fraction(1), Fraction(-1), Fraction(2), Fraction(1, 2), Fraction(-2, 3)]
SCALES = [Fraction(1), Fraction(1), Fraction(-1), Fraction(2), Fraction(-1, 3)]
FACTORS = [Fraction(1), Fraction(1), Fraction(3), Fraction(1, 2)]


def laplace(rate: Fraction | int = 1, mean: Fraction | int = 0) -> Noise:
    return Noise(LAPLACE, Fraction(rate), Fraction(mean))


def halfspace(coefficients: dict[int, Fraction | int], constant: Fraction | int = 0) -> Halfspace:
    """Σ coefficient·X + constant >= 0."""
    return Halfspace(tuple(sorted((i, Fraction(c)) for i, c in coefficients.items())), Fraction(constant))


def above(i: int, j: int, offset: Fraction | int = 0) -> Halfspace:
    """X_i >= X_j + offset."""
    return halfspace({i: 1, j: -1}, -Fraction(offset))


def negated(constraint: Halfspace) -> Halfspace:
    """The other half-space."""
    return Halfspace(tuple((i, -c) for i, c in constraint.coefficients), -constraint.constant)


def event(noises: Sequence[Noise], *constraints: Halfspace) -> Event:
    return Event(tuple(noises), constraints)


lengths = st.sampled_from(LENGTHS)
noises = st.builds(laplace, st.sampled_from(RATES), lengths)


@st.composite
def bounds(draw: st.DrawFn, size: int) -> list[Halfspace]:
    """Now and then a bound on a single noise."""
    chosen = draw(st.lists(st.integers(0, size - 1), max_size=2))
    signs = st.sampled_from([1, -1, Fraction(3, 2)])
    return [halfspace({i: draw(signs)}, draw(lengths)) for i in chosen]


@st.composite
def tree_events(draw: st.DrawFn, most: int = 4, *, scaled: bool = True, two_sided: bool = True) -> Event:
    """Constraints whose graph is a forest: ranges of s_i·X_i - s_j·X_j for fixed factors s, and bounds."""
    size = draw(st.integers(1, most))
    scales = [draw(st.sampled_from(SCALES)) if scaled else Fraction(1) for _ in range(size)]
    constraints = draw(bounds(size))
    for j in range(1, size):
        parent = draw(st.integers(-1, j - 1))
        if parent < 0:
            continue
        factor = draw(st.sampled_from(FACTORS)) * draw(st.sampled_from([1, -1]))
        low = halfspace({parent: factor * scales[parent], j: -factor * scales[j]}, draw(lengths))
        constraints.append(low)
        if two_sided and draw(st.integers(0, 3)) == 0:
            constraints.append(
                halfspace(
                    dict(negated(low).coefficients), -low.constant + draw(st.sampled_from([1, 2, Fraction(1, 2)]))
                )
            )
    return Event(tuple(draw(noises) for _ in range(size)), tuple(draw(st.permutations(constraints))))


@st.composite
def order_events(draw: st.DrawFn, most: int = 4) -> Event:
    """Any comparisons of the values s_i·X_i + t_i, cycles and contradictions included, and bounds."""
    size = draw(st.integers(2, most))
    scales = [draw(st.sampled_from(SCALES)) for _ in range(size)]
    zeros = [draw(lengths) for _ in range(size)]
    pairs = st.lists(st.integers(0, size - 1), min_size=2, max_size=2, unique=True)
    constraints = draw(bounds(size))
    for i, j in draw(st.lists(pairs, min_size=1, max_size=size + 2)):
        factor = draw(st.sampled_from(FACTORS))
        constraints.append(halfspace({i: factor * scales[i], j: -factor * scales[j]}, factor * (zeros[i] - zeros[j])))
    return Event(tuple(draw(noises) for _ in range(size)), tuple(constraints))


@st.composite
def difference_events(draw: st.DrawFn, most: int = 4) -> Event:
    """Any constraints X_i >= X_j + offset with unrelated offsets, and bounds."""
    size = draw(st.integers(2, most))
    pairs = st.lists(st.integers(0, size - 1), min_size=2, max_size=2, unique=True)
    offsets = st.sampled_from([Fraction(0), Fraction(-1), Fraction(-2), Fraction(-1, 2), Fraction(1)])
    chosen = draw(st.lists(st.tuples(pairs, offsets), min_size=size - 1, max_size=size + 2))
    constraints = [above(i, j, offset) for (i, j), offset in chosen]
    return Event(tuple(draw(noises) for _ in range(size)), (*constraints, *draw(bounds(size))))


# --- the same event, written differently ---------------------------------------------------------------


def changed(event: Event, scales: Sequence[Fraction], zeros: Sequence[Fraction]) -> Event:
    """The event over Y_i = scales[i]·X_i + zeros[i], which has the same measure."""
    moved = tuple(
        Noise(n.law, n.rate / abs(s), s * n.mean + z) for n, s, z in zip(event.noises, scales, zeros, strict=True)
    )
    constraints = tuple(
        Halfspace(
            tuple((i, c / scales[i]) for i, c in constraint.coefficients),
            constraint.constant - sum((c / scales[i] * zeros[i] for i, c in constraint.coefficients), Fraction(0)),
        )
        for constraint in event.constraints
    )
    return Event(moved, constraints)


def permuted(event: Event, order: Sequence[int]) -> Event:
    """The event with noise i put in place order[i]."""
    noises = [noise for _, noise in sorted(zip(order, event.noises, strict=True), key=lambda pair: pair[0])]
    constraints = tuple(
        Halfspace(tuple(sorted((order[i], c) for i, c in constraint.coefficients)), constraint.constant)
        for constraint in event.constraints
    )
    return Event(tuple(noises), constraints)


def stretched(event: Event, factor: Fraction) -> Event:
    """All lengths times `factor` and all rates as they are: the measure at factor·eps."""
    return Event(
        tuple(Noise(n.law, n.rate, n.mean * factor) for n in event.noises),
        tuple(Halfspace(c.coefficients, c.constant * factor) for c in event.constraints),
    )

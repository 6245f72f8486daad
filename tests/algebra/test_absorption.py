"""Reaching weights of cyclic chains against closed forms and against unrolling."""

from fractions import Fraction
from math import comb
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.algebra.absorption import Arithmetic, Trapped, absorption_weights
from dipc.algebra.exppoly import Closed, ExpPoly, Quotient
from dipc.algebra.limits import Limits, Meter
from tests.patience import examples

HALF = ExpPoly.constant(Fraction(1, 2))


def ruin(n: int, start: int, up: Closed, down: Closed) -> dict[int, Closed]:
    edges = {i: [(i - 1, down), (i + 1, up)] for i in range(1, n)}
    return absorption_weights(edges, start, frozenset([0, n]))


def test_gamblers_ruin_with_constant_odds() -> None:
    # The classical (1 - (q/p)^k)/(1 - (q/p)^n).
    weights = ruin(10, 4, ExpPoly.constant(Fraction(1, 3)), ExpPoly.constant(Fraction(2, 3)))
    assert weights[10] == Fraction(1 - 2**4, 1 - 2**10)
    assert weights[0] == 1 - Fraction(1 - 2**4, 1 - 2**10)


def test_gamblers_ruin_with_odds_in_eps() -> None:
    r = ExpPoly.term(1, 0, -1)
    up = Quotient(ExpPoly.ONE, 1 + r)
    weights = ruin(12, 5, up, 1 - up)
    assert weights[12] == Quotient(1 - r**5, 1 - r**12)
    assert weights[0] + weights[12] == 1


def test_several_entries_are_added_up() -> None:
    """Enter a walk at two places, from states whose weights have other denominators than those of the walk."""
    r = ExpPoly.term(1, 0, -1)
    up, first = Quotient(ExpPoly.ONE, 1 + r), Quotient(ExpPoly.ONE, 1 + r + r**2)
    inside: dict[int, list[tuple[int, Closed]]] = {i: [(i - 1, 1 - up), (i + 1, up)] for i in range(1, 7)}
    weights = absorption_weights({9: [(2, first), (5, 1 - first)], **inside}, 9, frozenset([0, 7]))
    low, high = ruin(7, 2, up, 1 - up), ruin(7, 5, up, 1 - up)
    assert weights[7] == first * low[7] + (1 - first) * high[7]
    assert weights[0] == first * low[0] + (1 - first) * high[0]


@pytest.mark.parametrize("odds", ["fair", "biased"])
def test_a_walk_is_swept_in_linearly_many_products(odds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elimination with reduced fractions took cubic time on a biased walk; its minors are shorter than its states."""
    up: Closed = HALF if odds == "fair" else Quotient(ExpPoly.ONE, 1 + ExpPoly.term(1, 0, -1))
    products: list[int] = []
    minor = Arithmetic.minor

    def counted(self: Arithmetic, *parts: Any) -> ExpPoly:
        products.append(max(len(part) for part in parts if part is not None))
        return minor(self, *parts)

    monkeypatch.setattr(Arithmetic, "minor", counted)
    ruin(200, 70, up, 1 - up)
    assert len(products) < 4 * 200
    assert max(products) <= 2 * 200


def test_a_walk_from_its_middle_has_two_ends_that_do_not_know_of_each_other() -> None:
    """The minors of one end were multiplied by those of the other, and what the start leads to changed with each."""
    up = Quotient(ExpPoly.ONE, 1 + ExpPoly.term(1, 0, -1))

    def steps(n: int) -> int:
        limit = Limits(steps=10**12)
        meter = Meter(limit)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("dipc.algebra.absorption.Meter", lambda _: meter)
            edges: dict[int, list[tuple[int, Closed]]] = {i: [(i - 1, 1 - up), (i + 1, up)] for i in range(1, n)}
            absorption_weights(edges, n // 3, frozenset([0, n]), ignored=frozenset([0]))
        return meter.steps

    assert steps(400) < 5 * steps(200)  # quadratic, as the polynomials grow; it was 8 and more


def test_factors_that_have_an_inverse_are_no_work() -> None:
    """A state that is stayed at for a while, again and again: each time a factor e^eps came to the other one's side."""
    stay = Quotient(ExpPoly.ONE, 1 + ExpPoly.term(1, 0, 1))
    edges: dict[int, list[tuple[int, Closed]]] = {i: [(i, stay), (i + 1, 1 - stay)] for i in range(300)}
    assert absorption_weights(edges, 0, frozenset([300]), Limits(steps=300 * 4000)) == {300: ExpPoly.ONE}


@st.composite
def chains_in_eps(draw: st.DrawFn) -> dict[int, list[tuple[int, Closed]]]:
    """Any successors, with weights e^{-k·eps} over their sum: the exits are 8 and 9."""
    size = draw(st.integers(1, 7))
    edges: dict[int, list[tuple[int, Closed]]] = {}
    for s in range(size):
        targets = draw(st.lists(st.sampled_from([*range(size), 8, 9]), min_size=1, max_size=4, unique=True))
        parts = [ExpPoly.term(draw(st.integers(1, 2)), 0, -draw(st.integers(0, 2))) for _ in targets]
        if s == 0 or not {8, 9} & set(targets):
            targets, parts = [*targets, 8 + s % 2], [*parts, ExpPoly.ONE]
        whole = sum(parts, ExpPoly.ZERO)
        edges[s] = [(t, Quotient(part, whole)) for t, part in zip(targets, parts, strict=True)]
    return edges


@settings(max_examples=examples(8), deadline=None)
@given(chains_in_eps())
def test_random_chains_in_eps_solve_their_equations(edges: dict[int, list[tuple[int, Closed]]]) -> None:
    """The weight from a state is the mean of the weights from its successors: one system with one solution."""
    exits = frozenset([8, 9])
    reached = {s: absorption_weights(edges, s, exits) for s in edges}
    reached |= {e: {e: ExpPoly.ONE} for e in exits}
    for s, leaving in edges.items():
        for e in exits:
            mean = sum((weight * reached[t].get(e, ExpPoly.ZERO) for t, weight in leaving), Quotient.convert(0))
            assert mean == Quotient.convert(reached[s].get(e, ExpPoly.ZERO))


def test_resampling_until_accepted_leaves_by_the_ratio() -> None:
    r = ExpPoly.term(Fraction(1, 2), 0, -1)
    edges: dict[str, list[tuple[str, Closed]]] = {"try": [("try", 1 - 3 * r), ("a", r), ("b", 2 * r)]}
    weights = absorption_weights(edges, "try", frozenset("ab"))
    assert (weights["a"], weights["b"]) == (Fraction(1, 3), Fraction(2, 3))


def test_parallel_edges_add_up() -> None:
    assert absorption_weights({0: [(1, HALF), (1, HALF)]}, 0, frozenset([1])) == {1: ExpPoly.ONE}


@pytest.mark.parametrize("cyclic", [False, True])
def test_paths_that_meet_again_are_counted_by_binomial_coefficients(cyclic: bool) -> None:
    """States without a cycle are ordered by their predecessors; a cycle anywhere needs the components."""
    n, up = 7, ExpPoly.term(1, 0, -1)
    state = [[100 * step + yes for yes in range(step + 1)] for step in range(n + 1)]
    edges: dict[int, list[tuple[int, Closed]]] = {
        state[step][yes]: [(state[step + 1][yes + 1], up), (state[step + 1][yes], 1 - up)]
        for step in range(n)
        for yes in range(step + 1)
    }
    if cyclic:
        edges[-1] = [(-1, HALF), (state[0][0], HALF)]
    found = absorption_weights(edges, -1 if cyclic else state[0][0], frozenset(state[n]))
    assert found == {state[n][yes]: comb(n, yes) * up**yes * (1 - up) ** (n - yes) for yes in range(n + 1)}


def test_a_component_without_exit_is_reported_whole() -> None:
    edges = {0: [(1, HALF), (3, HALF)], 1: [(2, ExpPoly.ONE)], 2: [(1, ExpPoly.ONE)]}
    with pytest.raises(Trapped) as caught:
        absorption_weights(edges, 0, frozenset([3]))
    assert caught.value.states == {1, 2}


def test_a_state_without_successors_that_is_no_exit_is_a_trap() -> None:
    with pytest.raises(Trapped):
        absorption_weights({0: [(1, HALF), (2, HALF)]}, 0, frozenset([2]))


def test_an_exit_may_be_ignored() -> None:
    """The others keep their weights, in loops and outside, and the ignored one has none; it is no trap either."""
    up, stop = Quotient(ExpPoly.ONE, 1 + ExpPoly.term(1, 0, -1)), Fraction(1, 3)
    edges: dict[int, list[tuple[int, Closed]]] = {
        0: [(1, up), (9, 1 - up)],
        1: [(0, HALF), (2, HALF)],
        2: [(2, HALF * Fraction(1, 3)), (9, HALF), (8, ExpPoly.constant(stop))],
        3: [(9, ExpPoly.ONE)],
    }
    everything = absorption_weights(edges, 0, frozenset([8, 9]))
    assert everything[8] + everything[9] == 1
    assert absorption_weights(edges, 0, frozenset([8, 9]), ignored=frozenset([9])) == {8: everything[8]}
    assert absorption_weights(edges, 3, frozenset([8, 9]), ignored=frozenset([9])) == {}


def test_the_start_may_be_an_exit() -> None:
    assert absorption_weights({}, 0, frozenset([0])) == {0: ExpPoly.ONE}


@st.composite
def chains(draw: st.DrawFn) -> dict[int, list[tuple[int, Fraction]]]:
    """Random chains over states 0..n-1 with exits n and n+1, every state with a way out of at least 1/10."""
    n = draw(st.integers(1, 6))
    edges = {}
    for s in range(n):
        shares = [draw(st.integers(0, 4)) for _ in range(n)] + [draw(st.integers(1, 3)), draw(st.integers(0, 3))]
        total = sum(shares)
        edges[s] = [(t, Fraction(share, total)) for t, share in enumerate(shares) if share]
    return edges


@settings(max_examples=examples(8), deadline=None)
@given(chains())
def test_random_chains_against_unrolling_to_a_bound(edges: dict[int, list[tuple[int, Fraction]]]) -> None:
    n = len(edges)
    exits = frozenset([n, n + 1])
    exact = absorption_weights({s: [(t, ExpPoly.constant(w)) for t, w in row] for s, row in edges.items()}, 0, exits)
    assert sum((Quotient.convert(w) for w in exact.values()), Quotient.convert(0)) == 1
    mass = {0: 1.0}
    ended = dict.fromkeys(exits, 0.0)
    for _ in range(400):
        following: dict[int, float] = {}
        for s, weight in mass.items():
            for t, w in edges[s]:
                if t in exits:
                    ended[t] += weight * float(w)
                else:
                    following[t] = following.get(t, 0.0) + weight * float(w)
        mass = following
    left = sum(mass.values())
    for t in exits:
        low, high = Quotient.convert(exact.get(t, ExpPoly.ZERO)).enclosure(Fraction(1), 15)
        assert ended[t] - 1e-9 <= float(high)
        assert float(low) <= ended[t] + left + 1e-9

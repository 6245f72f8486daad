"""Every pair of engines on the events that both can measure."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits, OutsideFragment
from dipc.measure.event import Event
from dipc.measure.measure import Measurer
from dipc.measure.polyhedral import polyhedral_measure, value_tree_measure
from dipc.measure.vertex_sum import vertex_measure
from tests.measure.linear_extensions import measure_by_linear_extensions
from tests.patience import examples
from tests.strategies.events import difference_events, order_events, tree_events


def differences(event: Event) -> ExpPoly:
    """Measure forests by message passing, and cycles by splitting."""
    return Measurer()._differences(event)


def values(event: Event) -> ExpPoly:
    return value_tree_measure(event, Limits())


ENGINES = {
    "differences": differences,
    "values": values,
    "polyhedra": polyhedral_measure,
    "corners": vertex_measure,
    "linear extensions": measure_by_linear_extensions,
}


@pytest.mark.parametrize("pair", list(combinations(ENGINES, 2)), ids=" and ".join)
@settings(max_examples=examples(8), deadline=None)
@given(st.one_of(tree_events(3), order_events(3), difference_events(3)))
def test_two_engines_agree(pair: tuple[str, str], event: Event) -> None:
    try:
        left, right = (ENGINES[name](event) for name in pair)
    except OutsideFragment:
        assume(False)
    else:
        assert left == right

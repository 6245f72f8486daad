"""Exact values pickle and deep-copy, though FLINT's numbers do not: processes send them to each other."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.exppoly import ClosedForm, ExpPoly, Quotient
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.measure import Bound, Share
from dipc.noise.laplace import LAPLACE
from dipc.noise.one_sided import ONE_SIDED

_TERMS = st.lists(
    st.tuples(st.integers(0, 3), st.fractions(-3, 3, max_denominator=6), st.fractions(max_denominator=10**6)),
    max_size=5,
)


def exppolys() -> st.SearchStrategy[ExpPoly]:
    return _TERMS.map(ExpPoly.from_terms)


@given(exppolys())
def test_exponential_polynomials_survive(value: ExpPoly) -> None:
    for copied in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
        assert copied == value
        assert copied.terms() == value.terms()


@given(exppolys())
def test_quotients_and_closed_forms_survive(value: ExpPoly) -> None:
    below = ExpPoly.from_terms([(0, Fraction(0), Fraction(1)), (0, Fraction(-1, 3), Fraction(2))])
    form = ClosedForm(Quotient(value, below))
    copied = pickle.loads(pickle.dumps(form))
    assert copied == form
    assert str(copied) == str(form)
    assert copy.deepcopy(form) == form


def test_bounds_survive_in_a_process_with_other_hashes() -> None:
    noises = (Noise(LAPLACE, Fraction(1, 2), Fraction(0)), Noise(ONE_SIDED, Fraction(1), Fraction(1, 3)))
    event = Event(noises, (Halfspace(((0, Fraction(1)), (1, Fraction(-1))), Fraction(2)),))
    bound = Bound((Share(ExpPoly.term(2, 1, -1), (event,)),), Fraction(1, 7))
    known = {bound: "found"}
    code = (
        "import pickle, sys; b = pickle.loads(sys.stdin.buffer.read());"
        "from dipc.measure.measure import Bound; c = Bound(b.shares, b.constant);"
        "assert {b: 1}[c] == 1; sys.stdout.buffer.write(pickle.dumps(b))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps(bound),
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    assert known[pickle.loads(done.stdout)] == "found"

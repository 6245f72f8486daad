"""How probabilities are made up: written by the engine, replayed by the checker, for every kind of program."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from benchmarks.literature.entries import ENTRIES
from benchmarks.literature.entry import Entry
from dipc.algebra.quotient import Quotient
from dipc.certificate.derivation import Derivations
from dipc.certificate.normal_event import EventShape, exact_event, read_back
from dipc.claim.claim import resolve_claim
from dipc.measure.event import Event, Family, Noise
from dipc.measure.measure import measure
from dipc.tables.table import read_table
from dipc.verifier.budget import Budget
from dipc.verifier.derivation import Derivation, check_derivation
from dipc.verifier.events import read_event
from dipc.verifier.rejection import Rejected
from tests.strategies.events import difference_events, event, permuted, tree_events

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "benchmarks"

LOOP = """
program loop;
input q : real;
output a : {0, 1, 2};
var go, b : bool;
var r : real;
a <- 0;
go <- true;
while go do
  go <- choose { true : exp(-eps)/2, false : 1 - exp(-eps)/2 };
  a <- choose { 1 : exp(eps)/(1 + exp(eps)), 2 : 1/(1 + exp(eps)) }
end;
r <- Lap(eps, q);
b <- r >= 1;
if b then a <- 0 end
"""


def derived(program: dipc.Program, table: Any, **claim: Any) -> tuple[Derivations, list[int]]:
    """The derivations of all rows of a table, with the number of each row."""
    rows = read_table(table, program.core)
    terms = resolve_claim(program.core, rows, beta="0", alpha=0, gamma=claim.get("gamma"))
    derivations = Derivations(program.probabilities())
    return derivations, [derivations.add(r.inputs, r.outputs, terms.terms(r).gamma) for r in rows.rows]


def checked(data: Any) -> Derivation:
    return check_derivation(json.loads(json.dumps(data)), Budget())


def same(value: dipc.ClosedForm, derivation: Derivation, number: int) -> bool:
    """Whether the checker's function is the engine's."""
    above, below = derivation.probabilities[number]
    engine = Quotient.of(value.value)
    left = {(k, q): c for k, q, c in engine.numerator.terms()}
    right = {(k, q): c for k, q, c in engine.denominator.terms()}
    from dipc.verifier.ring import equal_closed

    return equal_closed((above, below), (left, right), Budget(), "")


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.name != "vertex_cover"], ids=lambda entry: entry.name)
def test_the_literature_is_replayed(entry: Entry) -> None:
    program = dipc.load(entry.path)
    derivations, numbers = derived(program, entry.table(entry.claims[0])[:9], gamma=entry.claims[0].gamma)
    found = checked(derivations.data())
    assert all(same(derivations.value(number), found, number) for number in set(numbers))
    if entry.name == "partial_sums":
        assert found.reasons == {"a constraint relates 3 noises": 1}
        assert not found.complete
    else:
        assert (found.replayed, found.solved) == (found.measures, found.chains)
        assert found.complete == frozenset(numbers)


def test_sparse_is_short() -> None:
    program = dipc.load(BENCHMARKS / "sparse.dip")
    derivations, numbers = derived(program, str(BENCHMARKS / "sparse.csv"))
    assert len(numbers) == 27
    assert len(json.dumps(derivations.data())) < 4_000
    found = checked(derivations.data())
    assert (found.measures, found.replayed, len(found.complete)) == (7, 7, 7)


def test_rows_that_are_alike_share_everything() -> None:
    program = dipc.load(BENCHMARKS / "noisy_max.dip")
    rows = [{"q[1]": a, "q[2]": b, "q[3]": c, "out": 1} for a, b, c in [(1, 0, -1), (1, -1, 0), (4, 3, 2), (4, 2, 3)]]
    derivations, numbers = derived(program, rows)
    assert set(numbers) == {0}
    assert len(derivations.data()["measures"]) == 1


def test_loops_are_solved_and_weights_multiplied() -> None:
    program = dipc.load(LOOP)
    derivations, numbers = derived(program, [{"q": 0, "a": a} for a in (0, 1, 2)])
    found = checked(derivations.data())
    assert (found.chains, found.solved) == (3, 3)  # towards each output another part of the chain is cut off
    assert all(same(derivations.value(number), found, number) for number in numbers)
    with pytest.raises(Rejected, match=r"exit|state"):
        checked(off_by_a_little(derivations.data(), "weights"))
    with pytest.raises(Rejected, match="state"):
        checked(off_by_a_little(derivations.data(), "visits"))


def off_by_a_little(data: dict[str, Any], name: str) -> dict[str, Any]:
    """One coefficient of the first function of a chain, changed."""
    changed = copy.deepcopy(data)
    function = next(f for f in changed["choices"][0][name] if f is not None)
    term = function["numerator"][0] if isinstance(function, dict) else function[0]
    term[2] = str(Fraction(term[2]) * (1 + Fraction(1, 10**20)))
    return changed


def test_nothing_of_a_derivation_can_be_exchanged() -> None:
    program = dipc.load(BENCHMARKS / "sparse.dip", c=2)
    rows = [{"q[1]": q, "q[2]": 0, "q[3]": 1, "out[1]": "bot", "out[2]": "top", "out[3]": "top"} for q in (0, -1)]
    data = derived(program, rows)[0].data()
    checked(data)
    broken = []
    for number, probability in enumerate(data["probabilities"]):
        for path, value in (
            (("shares",), []),
            (("shares",), probability["shares"] * 2),
            (("shares", 0, 1), probability["shares"][0][1][1:]),
            (("shares", 0, 1, 0), 99),
            (("shares", 0, 1, 0), -1),
            (("shares", 0, 0), [0, 1]),
            (("value",), [[0, "0", "1/2"]]),
        ):
            changed = copy.deepcopy(data)
            parent: Any = changed["probabilities"][number]
            for name in path[:-1]:
                parent = parent[name]
            parent[path[-1]] = value
            broken.append(changed)
    for name in ("measures", "choices", "probabilities"):
        broken.append({key: value for key, value in data.items() if key != name})
        broken.append(data | {name: None})
    for changed in broken:
        with pytest.raises(Rejected):
            checked(changed)


def test_a_chain_that_is_too_large_says_so() -> None:
    entry = next(e for e in ENTRIES if e.name == "vertex_cover")
    derivations, _ = derived(dipc.load(entry.path), entry.table(entry.claims[0])[:1])
    found = checked(derivations.data())
    assert (found.solved, found.complete) == (0, frozenset())
    assert set(found.reasons) == {"of choices and loops, it has more than 64 states"}


def test_what_takes_too_long_to_check_is_left_on_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dipc.certificate.choices.MOST_STEPS", 20)
    monkeypatch.setattr("dipc.certificate.derivation.MOST_STEPS", 3)
    program = dipc.load(LOOP)
    derivations, numbers = derived(program, [{"q": 0, "a": a} for a in (0, 1, 2)])
    found = checked(derivations.data())
    assert (found.chains, found.solved, found.complete) == (3, 0, frozenset())
    assert set(found.reasons) == {
        "of choices and loops, putting the solution in takes too many steps",
        "the sum over the exits takes too many steps",
    }
    assert all(same(derivations.value(number), found, number) for number in numbers)
    data = derivations.data()
    del next(item for item in data["probabilities"] if "unreplayed" in item)["value"]
    with pytest.raises(Rejected, match="no value"):
        checked(data)


# --- events in a form that rows share ------------------------------------------------------------------


def normal(found: Event) -> Any:
    shape = EventShape(found)
    return shape.normal(shape.constants(found))


@settings(max_examples=25, deadline=None)
@given(st.one_of(tree_events(4), difference_events(3)), st.data())
def test_the_normal_event_has_the_same_measure(found: Event, data: st.DataObject) -> None:
    once = normal(found)
    assert measure(exact_event(once)) == measure(found)
    order: Sequence[int] = data.draw(st.permutations(range(len(found.noises))))
    assert measure(exact_event(normal(permuted(found, order)))) == measure(found)


@settings(max_examples=25, deadline=None)
@given(tree_events(4, two_sided=False), st.sampled_from([Fraction(1), Fraction(-3, 2)]), st.data())
def test_translation_and_numbering_do_not_show(found: Event, by: Fraction, data: st.DataObject) -> None:
    from tests.strategies.events import changed

    ones = [Fraction(1)] * len(found.noises)
    moved = changed(found, ones, [by] * len(found.noises))
    assert normal(moved) == normal(found)
    distinct = [Noise(n.family, n.rate + i, n.mean) for i, n in enumerate(found.noises)]
    named = event(distinct, *found.constraints)
    assert normal(permuted(named, data.draw(st.permutations(range(len(distinct)))))) == normal(named)


@settings(max_examples=30, deadline=None)
@given(tree_events(3))
def test_what_is_written_is_what_is_read(found: Event) -> None:
    from dipc.certificate.normal_event import event_data

    data = json.loads(json.dumps(event_data(normal(found))))
    assert read_event(data["noises"], data["constraints"], "") == read_back(normal(found))


def test_integer_noise_keeps_its_family() -> None:
    found = event([Noise(Family.DISCRETE_LAPLACE, Fraction(1), Fraction(3))])
    assert normal(found) == ((("discrete-laplace", (1, 1)),), ())

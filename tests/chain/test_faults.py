"""What goes wrong on a path is said with the path."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dipc import load
from dipc.chain.explore import explore
from dipc.text.ast import Role
from dipc.text.core import DomType, Reference
from dipc.text.diagnostic import DiagnosticError, Span
from tests.chain.programs import BOOL, HERE, INT, REAL, Writer, const, integers, op, read, sparse

F = Fraction


def fault(program, dom_inputs=None, wanted=None):
    with pytest.raises(DiagnosticError) as caught:
        explore(program, dom_inputs or {}, wanted)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def test_unassigned_read_names_the_path_and_the_place():
    writer = Writer(
        ("q", REAL, Role.INPUT, None),
        ("x", integers(0, 1), Role.VAR, None),
        ("out", integers(0, 1), Role.OUTPUT, None),
        ("r", REAL, Role.VAR, None),
        ("b", BOOL, Role.VAR, None),
    )
    use = Reference("x", (1,), Span(3, 4))
    program = writer.program(
        [
            ("lap", 3, 1, ({0: 1}, 0)),
            ("compare", 4, ({3: 1}, F(-1, 2)), ">="),
            ("if", read(4), [("set", 1, 1)], []),
            ("set", 2, use),
        ]
    )
    diagnostic = fault(program)
    assert diagnostic.code == "E0701"
    assert diagnostic.message == "`x` is read before it is assigned"
    assert diagnostic.label == "no value yet on this path"
    assert (diagnostic.excerpt.line, diagnostic.excerpt.column, diagnostic.excerpt.length) == (1, 4, 1)
    assert diagnostic.notes == (
        "assign it on every path that leads here, or declare it with an initial value",
        "on the path where `r >= 1/2` is false (line 2)",
    )


def test_unassigned_real_read():
    writer = Writer(("r", REAL, Role.VAR, None), ("b", BOOL, Role.OUTPUT, None))
    assert fault(writer.program([("compare", 1, ({0: 1}, 0), ">")])).message == "`r` is read before it is assigned"


def test_domain_overflow_names_the_value_the_domain_and_the_decisions():
    program = sparse(3, 3)
    slots = tuple(replace(slot, type=integers(0, 1)) if slot.name == "count" else slot for slot in program.slots)
    diagnostic = fault(replace(program, slots=slots))
    assert diagnostic.code == "E0704"
    assert diagnostic.message == "`count` would become 2, which is outside its domain"
    assert diagnostic.notes == (
        "the domain of `count` is {0..1}: widen it, or guard the assignment",
        "on the path where `r#1 >= rT#1` is true (line 3), then `r#2 >= rT#2` is true (line 13)",
    )


def test_division_by_zero_names_the_inputs():
    writer = Writer(("d", integers(0, 2), Role.INPUT, None), ("out", integers(0, 2), Role.OUTPUT, None))
    program = writer.program([("set", 1, op("/", const(2), read(0)))])
    assert explore(program, {0: F(2)}).exits[0].outputs == {1: F(1)}
    diagnostic = fault(program, {0: F(0)})
    assert (diagnostic.code, diagnostic.message) == ("E0702", "division by zero")
    assert diagnostic.notes == ("guard the division with `if`", "the inputs are d = 0")


@pytest.mark.parametrize("index", [F(0), F(4), F(3, 2), F(-1)])
def test_an_index_out_of_range_is_told_on_both_sides_of_an_assignment(index):
    writer = Writer(
        *[(f"a[{i}]", integers(0, 1), Role.VAR, F(0)) for i in (1, 2, 3)],
        ("out", integers(0, 1), Role.OUTPUT, F(0)),
    )
    element = Reference("a", (0, 1, 2), HERE, const(index), 1)
    for statement in (("set", 3, element), ("set", element, 1)):
        program = Writer.program(
            Writer(*[(slot.name, slot.type, slot.role, slot.initial) for slot in writer.slots]), [statement]
        )
        diagnostic = fault(program)
        assert diagnostic.code == "E0703"
        assert diagnostic.message == f"the index {index} is outside `a[1..3]`"


def test_indices_reach_both_ends():
    writer = Writer(
        *[(f"a[{i}]", integers(0, 9), Role.VAR, F(i)) for i in (1, 2, 3)],
        ("out", integers(0, 9), Role.OUTPUT, F(0)),
        ("at", integers(1, 3), Role.INPUT, None),
    )
    program = writer.program(
        [
            ("set", 3, Reference("a", (0, 1, 2), HERE, read(4), 1)),
            ("set", Reference("a", (0, 1, 2), HERE, read(4), 1), 7),
            ("set", 3, op("+", read(3), op("-", read(0), read(2)))),
        ]
    )
    assert explore(program, {4: F(1)}).exits[0].outputs == {3: F(1 + 7 - 3)}
    assert explore(program, {4: F(2)}, {3: F(0)}).exits[0].outputs == {3: F(0)}
    with pytest.raises(DiagnosticError):
        explore(program, {4: F(3)})


def test_a_long_path_is_cut_short():
    program = sparse(12, 12)
    slots = tuple(replace(slot, type=integers(0, 10)) if slot.name == "count" else slot for slot in program.slots)
    wanted = dict.fromkeys(program.outputs, "top")
    notes = fault(replace(program, slots=slots), wanted=wanted).notes
    assert notes[1].startswith("on the path (after 3 earlier decisions) where `r#4 >= rT#4` is true (line 33), then ")
    assert notes[1].count("then") == 7


def test_a_guarded_fault_does_not_happen():
    writer = Writer(("d", integers(0, 2), Role.INPUT, None), ("b", BOOL, Role.OUTPUT, None))
    safe = op("and", op("!=", read(0), const(0)), op(">", op("/", const(2), read(0)), const(1)))
    program = writer.program([("set", 1, safe)])
    assert explore(program, {0: F(0)}).exits[0].outputs == {1: False}
    assert explore(program, {0: F(1)}).exits[0].outputs == {1: True}


def test_an_int_that_would_be_no_integer():
    writer = Writer(("z", INT, Role.VAR, None), ("half", DomType((F(0), F(1, 2))), Role.INPUT, None))
    out = ("out", BOOL, Role.OUTPUT, False)
    for statement in (("let", 0, ({}, read(1))), ("dlap", 0, 1, ({}, read(1))), ("let", 0, ({0: read(1)}, 0))):
        writer = Writer(*[(slot.name, slot.type, slot.role, slot.initial) for slot in writer.slots[:2]], out)
        program = writer.program([("dlap", 0, 1, ({}, 0)), statement] if statement[0] == "let" else [statement])
        diagnostic = fault(program, {1: F(1, 2)})
        assert (diagnostic.code, diagnostic.message) == ("E0705", "the int `z` would not be an integer")
        assert diagnostic.label == "1/2 stands in this sum on this path"
        assert len(explore(program, {1: F(0)}).exits) == 1


def test_an_undefined_score_names_the_value():
    writer = Writer(("d", integers(0, 2), Role.INPUT, None), ("out", integers(0, 2), Role.OUTPUT, None))
    scores = {value: op("/", const(1), op("-", read(0), const(value))) for value in range(3)}
    diagnostic = fault(writer.program([("exp", 1, 1, scores)]), {0: F(1)})
    assert (diagnostic.code, diagnostic.message) == ("E0702", "division by zero")
    assert diagnostic.notes == (
        "guard the division with `if`",
        "this happens in the score of 1",
        "the inputs are d = 1",
    )


def test_a_chosen_value_outside_the_domain_names_the_path():
    writer = Writer(("b", BOOL, Role.VAR, None), ("x", integers(0, 2), Role.OUTPUT, F(2)))
    program = writer.program(
        [
            ("choose", 0, [(const(True), 1), (const(False), 1)]),
            ("if", read(0), [("set", 1, 1)], []),
            ("choose", 1, [(read(1), 1), (op("+", read(1), const(1)), 1)]),
        ]
    )
    diagnostic = fault(program)
    assert diagnostic.code == "E0704"
    assert diagnostic.message == "`x` would become 3, which is outside its domain"
    assert diagnostic.notes[-1] == "on the path where `b` becomes false (line 1)"
    assert diagnostic.excerpt.line == 4


def test_a_value_of_weight_zero_is_not_looked_at():
    writer = Writer(("x", integers(0, 2), Role.OUTPUT, F(2)))
    program = writer.program([("choose", 0, [(const(7), 0), (const(1), 1)])])
    assert [exit_state.outputs for exit_state in explore(program, {}).exits] == [{0: F(1)}]


def test_the_last_decision_before_a_fault_in_a_loop_is_told() -> None:
    text = """
    program f;
    output x : {0..3} = 0;
    var up : bool = true;
    while x < 3 do
      up <- choose { true : 1/2, false : 1/2 };
      if up then x <- x + 1; x <- x - 3 end
    end
    """
    diagnostic = fault(load(text).core)
    assert diagnostic.message == "`x` would become -2, which is outside its domain"
    assert diagnostic.notes[-1] == "on the path where `up` becomes true (line 6)"

"""What goes wrong on a path is said with the path."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dipc.chain.explore import explore
from dipc.chain.support import refuse_unsupported
from dipc.diagnostics.diagnostic import DiagnosticError
from dipc.diagnostics.source import Span
from dipc.syntax.ast import Role
from dipc.syntax.core import (
    Family,
    IntType,
    Read,
    ReadElement,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Target,
)
from tests.chain.programs import BOOL, HERE, REAL, Writer, const, integers, op, read, sparse

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
    use = Read(1, Span(3, 4))
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
    element = ReadElement("a", (0, 1, 2), 1, const(index), HERE)
    target = Target((0, 1, 2), 1, const(index), "a", HERE)
    for statement in (("set", 3, element), ("set", target, 1)):
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
            ("set", 3, ReadElement("a", (0, 1, 2), 1, read(4), HERE)),
            ("set", Target((0, 1, 2), 1, read(4), "a", HERE), 7),
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


def test_a_random_mean_is_refused():
    writer = Writer(("r", REAL, Role.VAR, None), ("s", REAL, Role.OUTPUT, None))
    program = writer.program([("lap", 0, 1, ({}, 0)), ("lap", 1, 1, ({0: 1}, 0))])
    refuse_unsupported(program)
    diagnostic = fault(program)
    assert diagnostic.code == "E0407"
    assert diagnostic.label == "the mean depends on noise"


def test_a_mean_that_lost_its_noise_is_not_random():
    writer = Writer(
        ("r", REAL, Role.VAR, None), ("s", REAL, Role.OUTPUT, None), ("d", integers(0, 1), Role.INPUT, None)
    )
    program = writer.program([("lap", 0, 1, ({}, 0)), ("lap", 1, 1, ({0: read(2)}, 0))])
    assert len(explore(program, {2: F(0)}).exits) == 1
    assert fault(program, {2: F(1)}).code == "E0407"


def test_a_comparison_of_three_noises_is_refused():
    writer = Writer(*[(f"r{i}", REAL, Role.VAR, None) for i in range(3)], ("b", BOOL, Role.OUTPUT, None))
    draws = [("lap", i, 1, ({}, 0)) for i in range(3)]
    diagnostic = fault(writer.program([*draws, ("compare", 3, ({0: 1, 1: 1, 2: -1}, 0), ">")]))
    assert diagnostic.code == "E0408"
    assert diagnostic.message == "a comparison of 3 noises is not executed yet"
    assert diagnostic.excerpt.line == 4


def placed(program, kind, at):
    """The program with its instruction at `at` made one of another kind."""
    code = list(program.instructions)
    code[at] = kind
    return replace(program, instructions=tuple(code))


@pytest.mark.parametrize(
    ("code", "make"),
    [
        ("E0402", lambda draw: replace(draw, family=Family.DISCRETE_LAPLACE)),
        ("E0403", lambda draw: replace(draw, family=Family.ONE_SIDED)),
        ("E0404", lambda draw: SampleExponential(draw.target, F(1), (F(0),), (const(0),), draw.span)),
        ("E0405", lambda draw: SampleChoice(draw.target, (), draw.span)),
    ],
)
def test_what_is_not_executed_yet_is_refused_at_its_place(code, make):
    program = sparse(3, 1)
    at = next(label for label, found in enumerate(program.instructions) if isinstance(found, SampleNoise) and label)
    changed = placed(program, make(program.instructions[at]), at)
    with pytest.raises(DiagnosticError) as caught:
        refuse_unsupported(changed)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    assert diagnostic.excerpt.line == at + 1
    assert any(note.startswith("executed today: ") for note in diagnostic.notes)
    assert fault(changed).code == code


def test_all_refusals_come_at_once_and_unrolled_copies_only_once():
    program = sparse(3, 1)
    draws = [label for label, found in enumerate(program.instructions) if isinstance(found, SampleNoise)]
    copies = program
    for label in draws:
        same_place = replace(
            program.instructions[label], family=Family.ONE_SIDED, span=program.instructions[draws[0]].span
        )
        copies = placed(copies, same_place, label)
    int_slot = replace(program.slots[0], type=IntType(), span=Span(5, 6))
    copies = replace(copies, slots=(int_slot, *program.slots[1:]), loops={0: Span(2, 4)})
    with pytest.raises(DiagnosticError) as caught:
        refuse_unsupported(copies)
    assert sorted(diagnostic.code for diagnostic in caught.value.diagnostics) == ["E0401", "E0403", "E0406"]


def test_supported_programs_pass():
    refuse_unsupported(sparse(3, 2))

"""The `metric` block: reading, printing, resolving, and that `metric` is a name everywhere else."""

from __future__ import annotations

import pytest

from dipc.text import ast
from dipc.text.diagnostic import DiagnosticError, SourceText, Span, render
from dipc.text.parser import parse
from dipc.text.printer import print_program
from dipc.text.program import CoreMetric, CoreProgram, FormulaSlot, Gap
from dipc.text.statements import lower

HEADER = "program p; const m = 2; domain d = {red, green}; input q[1..m] : real; input b : bool; input c : d;\n"
TAIL = "\noutput out : {1..m} = 1; output y : real = 0; var z : real; out <- 1"


def read(text: str) -> CoreProgram:
    source = SourceText("x", text)
    return lower(parse(source), source)


def metric(block: str) -> CoreMetric:
    found = read(f"{HEADER}metric {{ {block} }}{TAIL}").metric
    assert found is not None
    return found


def mistakes(block: str) -> list[tuple[str, str, str]]:
    """Code, message and the text that is marked."""
    with pytest.raises(DiagnosticError) as caught:
        metric(block)
    found = []
    for diagnostic in caught.value.diagnostics:
        place = diagnostic.excerpt
        assert place is not None
        marked = place.text[place.column - 1 : place.column - 1 + place.length]
        found.append((diagnostic.code, diagnostic.message, marked))
    return found


# --- reading and printing --------------------------------------------------------------------------


def test_the_tree_and_its_text() -> None:
    text = (
        "program p;\n"
        "metric {\n"
        "  input: l1;\n"
        "  apart: for i in 1..m: for j in 1..i: q[i] >= T and q'[j] != x';\n"
        "  output: abs(q[out] - q[out']);\n"
        "  same: q[out] = q[out'];\n"
        "}\n"
    )
    source = SourceText("x", text)
    tree = parse(source)
    assert print_program(tree) == text
    (declaration,) = tree.declarations
    assert isinstance(declaration, ast.MetricDecl)
    assert [field.name for field in declaration.fields] == ["input", "apart", "output", "same"]
    each = declaration.fields[1].value
    assert isinstance(each, ast.Each)
    assert isinstance(each.body, ast.Each)
    shown = text[each.body.span.start : each.body.span.end]
    assert shown == "for j in 1..i: q[i] >= T and q'[j] != x'"
    assert each.body.body == parse_condition("q[i] >= T and q'[j] != x'")


def parse_condition(text: str) -> object:
    (declaration,) = parse(SourceText("x", f"program p; metric {{ apart: {text} }};")).declarations
    assert isinstance(declaration, ast.MetricDecl)
    return declaration.fields[0].value


def test_an_empty_metric() -> None:
    assert parse(SourceText("x", "program p; metric {} exit")).declarations == (ast.MetricDecl(()),)


@pytest.mark.parametrize(
    "text",
    [
        "program metric; output metric : real; metric <- 1",
        "program p; const metric = 2; output out[1..metric] : bool = true; out[metric] <- false",
        "program p; domain metric = {same, apart}; output out : metric; out <- same",
        "program p; output same, apart, each, prime : real = 0; var metric[1..2] : real; metric[1] <- same",
        "program p; output x : {0..1}; domain metric = {0..1}; x <- Exp(eps, v in metric : v)",
        "program p; const metric = 1; output x : {0..1}; x <- choose { metric : 1 }",
    ],
)
def test_metric_and_its_words_stay_names(text: str) -> None:
    read(text)


@pytest.mark.parametrize(
    ("text", "at"), [("program p; output x : real; x' <- 1", 29), ("program p; output x : real; x <- 1 + x'", 38)]
)
def test_primes_are_for_metrics_only(text: str, at: int) -> None:
    with pytest.raises(DiagnosticError) as caught:
        read(text)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E0101", "`'` is not part of the language")
    assert found.excerpt is not None
    assert found.excerpt.column == at + 1


def test_primes_after_a_metric_are_refused_again() -> None:
    with pytest.raises(DiagnosticError):
        read("program p; metric { apart: true } output x : real; x' <- 1")


# --- resolving -------------------------------------------------------------------------------------


def test_defaults() -> None:
    assert read(HEADER + TAIL).metric is None
    found = metric("")
    assert (found.input, found.apart, found.output, found.same) == ("linf", None, "product", None)
    assert found.span == Span(len(HEADER), len(HEADER) + len("metric {  }"))


def test_named_distances() -> None:
    assert [metric(f"input: {name}").input for name in ("linf", "l1", "discrete")] == ["linf", "l1", "discrete"]
    assert [metric(f"output: {name}").output for name in ("product", "discrete", "linf")] == [
        *("product", "discrete", "linf")
    ]


def test_formulas_know_where_their_names_stand() -> None:
    found = metric("apart: for i in 1..m: q[i] != q'[i] or c = red and not b'")
    program = read(HEADER + TAIL)
    assert found.apart is not None
    assert len(found.apart.conditions) == 2
    slots = [program.slots[place.slot].name + "'" * place.primed for place in found.apart.places]
    assert slots == ["q[1]", "q[2]", "q[1]'", "q[2]'", "b", "b'", "c", "c'"]
    assert [slot.name for slot in found.apart.slots] == ["q[1]", "q[2]", "q'[1]", "q'[2]", "b", "b'", "c", "c'"]
    same = metric("same: q[out] = q[out'] and y - y' <= 1").same
    assert same is not None
    assert {place for place in same.places if place.primed} == {FormulaSlot(slot, True) for slot in program.outputs}
    gap = metric("output: max(abs(q[out] - q[out']), 2*min(out, 2))").output
    assert isinstance(gap, Gap)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("input: l2", [("E0311", "the distance between inputs must be linf, l1 or discrete", "l2")]),
        ("input: 1 + 1", [("E0311", "the distance between inputs must be linf, l1 or discrete", "1 + 1")]),
        ("apart: out = 1", [("E0311", "`out` is not allowed in `apart`", "out")]),
        ("apart: z = 1", [("E0311", "`z` is not allowed in `apart`", "z")]),
        ("same: q'[1] = 1", [("E0311", "`q'` is not allowed in `same`", "q'[1]")]),
        ("output: z'", [("E0311", "`z'` is not allowed in `output`", "z'")]),
        ("apart: q[1]", [("E0205", "a condition is needed here, but `q[1]` is a real", "q[1]")]),
        (
            "apart: q[1]*q'[1] > 0",
            [
                (
                    "E0207",
                    "the product of `q[1]` and `q'[1]` is not linear: products only with constants or DOM",
                    "q[1]*q'[1]",
                )
            ],
        ),
        (
            "same: c = out",
            [("E0205", "`c` is a domain name and `out` is a number: they cannot be compared", "c = out")],
        ),
        ("output: b", [("E0311", "the distance between answers must be a number, but `b` is not one", "b")]),
        ("output: q", [("E0204", "`q` is an array and needs an index here", "q")]),
        (
            "output: for i in 1..2: out",
            [("E0311", "`for` is not allowed in a distance between answers", "for i in 1..2: out")],
        ),
        ("apart: for i in 1..q[1]: true", [("E0208", "a bound of `for` must be a constant number", "q[1]")]),
        ("apart: for m in 1..2: true", [("E0202", "the variable `m` is already a constant", "m")]),
        (
            "apart: for i in 1..99999: true",
            [("E0311", "this `for` expands to too many conditions", "for i in 1..99999: true")],
        ),
        ("apart: for i in 1..3: q[i] = 0", [("E0305", "the index 3 of `q` is out of bounds", "i")]),
        ("inptu: linf", [("E0113", "a metric has no field `inptu`", "inptu")]),
        ("same: true; same: true", [("E0113", "`same` is given twice in one metric", "same: true")]),
        ("apart: eps > 1", [("E0212", "`eps` is not allowed in an expression of the program", "eps")]),
        ("apart: alpha > 1", [("E0311", "`alpha` is not allowed in `apart`", "alpha")]),
        ("apart", [("E0102", "expected `:`, found `}`", "}")]),
    ],
)
def test_mistakes(block: str, expected: list[tuple[str, str, str]]) -> None:
    assert mistakes(block) == expected


def test_one_metric_only() -> None:
    with pytest.raises(DiagnosticError) as caught:
        read(f"{HEADER}metric {{ }} metric {{ input: l1 }}{TAIL}")
    assert render(caught.value.diagnostics) == (
        "error[E0311]: a program has one metric\n"
        " --> x:2:12\n"
        "  |\n"
        "2 | metric { } metric { input: l1 }\n"
        "  |            ^^^^^^^^^^^^^^^^^^^^\n"
        "  | ---------- the first metric\n"
        "  = help: put all fields into one block\n"
    )


def test_notes_name_what_was_meant() -> None:
    with pytest.raises(DiagnosticError) as caught:
        metric("same: q[outt] = q[out']")
    assert caught.value.diagnostics[0].notes == (
        "did you mean `out`?",
        "`same` is about an input, the program's answer out and the exact answer out'",
    )
    with pytest.raises(DiagnosticError) as caught:
        metric("inpt: l1")
    assert caught.value.diagnostics[0].notes[0] == "did you mean `input`?"

"""Every rule about names, types and programs: what breaks it is refused at the right place, in the right words."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dipc.text.diagnostic import Diagnostic, DiagnosticError, SourceText, Span
from dipc.text.parser import parse
from dipc.text.scope import SHOWN
from dipc.text.statements import lower
from tests.text.rejections import DECLARATIONS, HEADER, STATEMENTS, Case

DECLARED = "program p; output o : bool = true;\n"


def refused(text: str, **overrides: Fraction) -> tuple[Diagnostic, ...]:
    source = SourceText("p.dip", text)
    with pytest.raises(DiagnosticError) as caught:
        lower(parse(source), source, overrides)
    return caught.value.diagnostics


def unmarked(text: str) -> tuple[str, list[Span]]:
    """The text without brackets, and what was between them."""
    plain, open_at, spans = "", [], []
    for character in text:
        if character == "⟦":
            open_at.append(len(plain))
        elif character == "⟧":
            spans.append(Span(open_at.pop(), len(plain)))
        else:
            plain += character
    return plain, sorted(spans, key=lambda span: span.start)


CASES = [
    pytest.param(prefix, case, id=case[0])
    for prefix, table in ((DECLARED, DECLARATIONS), (HEADER, STATEMENTS))
    for cases in table.values()
    for case in cases
]


@pytest.mark.every_case
@pytest.mark.parametrize(("prefix", "case"), CASES)
def test_refused(prefix: str, case: Case) -> None:
    marked, expected = case
    text, spans = unmarked(prefix + marked)
    found = refused(text)
    assert [(diagnostic.code, diagnostic.message) for diagnostic in found] == expected
    assert [diagnostic.excerpt for diagnostic in found] == [SourceText("p.dip", text).excerpt(span) for span in spans]
    assert all(diagnostic.notes for diagnostic in found)


def test_the_header_is_accepted() -> None:
    source = SourceText("p.dip", HEADER)
    lower(parse(source), source)


def test_the_whole_diagnostic() -> None:
    (found,) = refused("program p;\noutput y : real;\nvar b : bool = true;\nwhile b do\n  y <- 1;\n  b <- false\nend")
    assert (found.code, found.message) == ("E0302", "the real variable `y` is assigned inside `while`")
    assert found.notes == (
        (
            "assign it before the loop, or use a `for` loop with constant bounds: a `while` loop "
            "changes only bool and DOM variables"
        ),
    )
    assert [(label.excerpt.line, label.excerpt.column, label.text) for label in found.secondary] == [
        (4, 1, "in this loop")
    ]


def test_problems_come_in_the_order_of_the_text() -> None:
    text = "program p; output y : real; var r : real;\n"
    text += "y <- r; y <- foo; r <- Exp(eps, v in {1} : v); while y do y <- 1/0 end"
    places = [diagnostic.excerpt.column for diagnostic in refused(text) if diagnostic.excerpt]
    assert places == sorted(places)
    assert len(places) == 6


def test_an_undeclared_name_is_reported_once() -> None:
    found = refused("program p; output y : real; foo <- 1; y <- foo; for i in 1..9 do bar <- foo + i end")
    assert [diagnostic.message for diagnostic in found] == ["`foo` is not declared", "`bar` is not declared"]


@pytest.mark.parametrize(
    ("statement", "notes"),
    [
        ("a <- maybe", ["`a` is `no` or `yes`"]),
        ("a <- ye", ["did you mean `yes`?", "`a` is `no` or `yes`"]),
        ("b <- a = never", ["`a` is `no` or `yes`"]),
        ("if never = a then b <- true end", ["`a` is `no` or `yes`"]),
        ("n <- many", ["declare it before the first statement: `var many : real;` (or bool, int, a domain)"]),
    ],
)
def test_a_misspelt_answer_is_told_the_answers(statement: str, notes: list[str]) -> None:
    header = "program p; domain answer = {no, yes}; output a : answer = no; output b : bool = true; var n : {0..3}; "
    (found,) = refused(header + statement)
    assert (found.code, list(found.notes)) == ("E0201", notes)


@pytest.mark.parametrize(
    ("statements", "codes"),
    [
        ("y <- foo + r*s + max(foo, bot)", ["E0201", "E0207", "E0205"]),
        ("y <- foo*r; y <- foo + top0; b <- foo > r", ["E0201", "E0201"]),
        ("q0[foo] <- 3; y <- q0[1]", ["E0201", "E0201"]),
        ("for i in 1..foo do a0[i] <- 1 end; n <- a0[1]", ["E0201"]),
        ("a0[7] <- 1; n <- a0[1]", ["E0305"]),
        ("r0 <- r*s; y <- r0", ["E0207"]),
        ("r0 <- Lap(2, 0); y <- r0", ["E0213"]),
        ("if foo then r0 <- 1 end; y <- r0", ["E0201"]),
        ("if r0 > foo then y <- 1 end", ["E0201"]),
        ("n <- n0 + foo", ["E0201"]),
        ("z <- Lap(eps, r) ; y <- z0", ["E0218", "E0201"]),
    ],
)
def test_one_mistake_is_one_diagnostic(statements: str, codes: list[str]) -> None:
    assert [diagnostic.code for diagnostic in refused(HEADER + statements)] == codes


def test_a_wrong_declaration_silences_its_uses() -> None:
    text = "program p; output o : bool; var v : nope; var w[1..k] : real; v <- w[1] + 1; w[9] <- v; o <- v > 3"
    assert [diagnostic.code for diagnostic in refused(text)] == ["E0201", "E0201"]


def test_a_wrong_constant_silences_its_uses() -> None:
    text = "program p; const m = 1/0; output o[1..m] : {0..m}; for i in 1..m do o[i] <- m end; o[1] <- Lap(m*eps, m)"
    assert [diagnostic.code for diagnostic in refused(text)] == ["E0209"]


def test_many_problems_are_counted() -> None:
    found = refused("program p; output y : real; " + "; ".join(f"v{i} <- {i}" for i in range(SHOWN + 7)))
    assert len(found) == SHOWN + 1
    assert (found[-1].code, found[-1].message) == ("E0299", "7 more errors are not shown")


# --- overrides -------------------------------------------------------------------------------------


def test_an_unknown_constant_is_named_with_the_known_ones() -> None:
    (found,) = refused("program p; const total = 3, c = 1; output o : bool;", totl=Fraction(1))
    assert (found.code, found.message) == ("E0215", "the program has no constant `totl`")
    assert found.excerpt is None
    assert found.notes == ("did you mean `total`?", "the constants are `total`, `c`")


def test_a_variable_cannot_be_set_from_outside() -> None:
    (found,) = refused("program p; output o : bool;", o=Fraction(1))
    assert found.message == "`o` is a variable, and only constants can be set from outside"
    assert found.notes == ("the program declares no constants",)


def test_what_an_override_breaks_is_said_where_it_matters() -> None:
    text = "program p; const m = 3; output o[1..m] : bool;"
    (found,) = refused(text, m=Fraction(7, 2))
    assert found.excerpt is not None
    assert (found.code, found.excerpt.column, found.label) == ("E0210", text.index("m]") + 1, "this is 7/2")
    assert found.notes == ("the constant `m` is 7/2",)


def test_an_override_with_too_many_digits() -> None:
    (found,) = refused("program p; const m = 3; output o[1..m] : bool;", m=Fraction(10) ** 5000)
    assert (found.code, found.message) == ("E0216", "the value given for `m` has too many digits")


def test_a_loop_that_is_wrong_hides_nothing_elsewhere() -> None:
    found = refused(HEADER + "for i in 1..half do n <- i end; for i in 1..4 do n <- i end")
    assert [diagnostic.code for diagnostic in found] == ["E0210", "E0304"]


def test_no_output() -> None:
    (found,) = refused("program quiet; input x : real;")
    assert (found.code, found.message) == ("E0307", "the program `quiet` has no output")


@pytest.mark.parametrize(
    ("drawn", "note"),
    [
        ("Lap(1/eps, x)", "the first argument is the rate, 1/scale: write `Lap(eps, x)`"),
        ("Lap(2*m/eps, x - 1)", "the first argument is the rate, 1/scale: write `Lap(eps/(2*m), x - 1)`"),
        ("Lap(1/eps)", "the first argument is the rate, 1/scale: write `Lap(eps)`"),
        ("Expo(m/eps)", "the first argument is the rate, 1/scale: write `Expo(eps/m)`"),
    ],
)
def test_a_scale_in_the_place_of_a_rate(drawn: str, note: str) -> None:
    """The line that was meant is a program."""
    text = "program p; const m = 3; input x : real; output r : real; r <- {};"
    (found,) = refused(text.format(drawn))
    assert (found.code, found.notes[0]) == ("E0213", note)
    source = SourceText("p.dip", text.format(note.split("`")[1]))
    lower(parse(source), source)


@pytest.mark.parametrize("drawn", ["Lap(-1/eps, x)", "Lap(1/(1 - eps), x)", "Lap(eps + 1/eps, x)"])
def test_what_is_no_scale_is_not_turned_over(drawn: str) -> None:
    (found,) = refused(f"program p; input x : real; output r : real; r <- {drawn};")
    assert found.code == "E0213"
    assert not any("write `Lap" in note for note in found.notes)


def test_scores_of_exponential_mechanisms_turned_over() -> None:
    (found,) = refused("program p; input x : {0..2}; output k : {0..2}; k <- Exp(2/eps, v in {0..2} : -abs(v - x));")
    assert found.notes[0] == "the first argument is the rate, which grows with eps: write `eps/2`"


@pytest.mark.parametrize(
    ("drawn", "written"),
    [
        ("Lap(x, 1/eps)", "Lap(eps, x)"),
        ("Lap(x, eps)", "Lap(eps, x)"),
        ("Lap(0, 2*m/eps)", "Lap(eps/(2*m), 0)"),
        ("Lap(x - 1, eps/m)", "Lap(eps/m, x - 1)"),
        ("Gauss(x, m/eps)", "Gauss(m/eps, x)"),
    ],
)
def test_a_mean_in_the_place_of_the_rate(drawn: str, written: str) -> None:
    """Arguments in the order of numpy.random.laplace(loc, scale) are refused; the line suggested is a valid program."""
    text = "program p; const m = 3; input x : real; output r : real; r <- {};"
    (found,) = refused(text.format(drawn))
    assert (found.code, found.notes) == ("E0213", (f"write `{written}`",))
    source = SourceText("p.dip", text.format(written))
    lower(parse(source), source)

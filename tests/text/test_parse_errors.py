"""What is said about text that is not a program: where, what, and how to mend it; and that nothing else happens."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dipc.text import ast
from dipc.text.diagnostic import Diagnostic, DiagnosticError, SourceText, render
from dipc.text.parser import parse, parse_expression, parse_interval
from dipc.text.printer import print_program
from dipc.text.syntax_errors import ELSE_IF, KEYWORDS, SIGNATURES, spelling
from tests.strategies.programs import programs

HEAD = "program p;\ninput x : real;\noutput y : {0..3} = 0;\nvar b, r : real;\n"


def refusal(text: str) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        parse(SourceText("p.dip", text))
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def marked(diagnostic: Diagnostic) -> str:
    """The characters over the caret, and the column behind the line's end as nothing."""
    excerpt = diagnostic.excerpt
    assert excerpt is not None
    return excerpt.text[excerpt.column - 1 : excerpt.column - 1 + excerpt.length]


# --- whole messages --------------------------------------------------------------------------------


def test_a_missing_end() -> None:
    assert (
        render([refusal(HEAD + "if x > 0 then\n  y <- 1;\n  r <- x\n\n# the end\n")])
        == """\
error[E0103]: expected `else` or `end`, found the end of the program
 --> p.dip:7:9
  |
5 | if x > 0 then
  | -- this `if` has no `end`
...
7 |   r <- x
  |         ^ expected `else` or `end`
  = help: every `if`, `while` and `for` closes with `end`
"""
    )


def test_else_if_without_a_second_end() -> None:
    text = HEAD + "if x > 0 then\n  y <- 1\nelse if x > 1 then\n  y <- 2\nelse\n  y <- 3\nend"
    assert (
        render([refusal(text)])
        == """\
error[E0103]: expected `end`, found the end of the program
  --> p.dip:11:4
   |
 5 | if x > 0 then
   | -- this `if` has no `end`
...
11 | end
   |    ^ expected `end`
   = help: `else if` opens a second `if`, which needs an `end` of its own: write `else if ... end end`
"""
    )


def test_an_unclosed_parenthesis() -> None:
    assert (
        render([refusal(HEAD + "r <- Lap(eps/(2*3, 0);")])
        == """\
error[E0102]: expected `)`, found `,`
 --> p.dip:5:18
  |
5 | r <- Lap(eps/(2*3, 0);
  |                  ^ expected `)`
"""
    )
    assert (
        render([refusal(HEAD + "r <- Lap(eps/(2*3), 0;\ny <- 1")])
        == """\
error[E0102]: expected `)`, found `;`
 --> p.dip:5:22
  |
5 | r <- Lap(eps/(2*3), 0;
  |                      ^ expected `)`
  |         - opened here, not closed
"""
    )


def test_a_minus_from_a_paper() -> None:
    assert (
        render([refusal(HEAD + "y <- x − 1")])
        == """\
error[E0101]: U+2212 MINUS SIGN is not part of the language
 --> p.dip:5:8
  |
5 | y <- x − 1
  |        ^ cannot be read
  = help: this is U+2212 MINUS SIGN: write `-`
"""
    )


def test_a_claim_with_a_field_twice() -> None:
    assert (
        render([refusal("program p;\nclaim {\n  alpha: dd;\n  alpha: 1;\n}")])
        == """\
error[E0111]: `alpha` is given twice in one claim
 --> p.dip:4:3
  |
3 |   alpha: dd;
  |   --------- first given here
4 |   alpha: 1;
  |   ^^^^^^^^ given again
  = help: keep one of the two
"""
    )


def test_nothing_at_all() -> None:
    assert (
        render([refusal("")])
        == """\
error[E0103]: expected `program`, found the end of the program
 --> p.dip:1:1
  |
1 |
  | ^ expected `program`
  = help: a program begins with its name, `program sparse;`
"""
    )


# --- the caret -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "column", "what"),
    [
        ("program p; x <- 1 y <- 2", 1, 18, " "),
        ("program p;\n\n  x <- 1\n  yy <- 2", 3, 9, ""),
        ("program p; x <-", 1, 16, ""),
        ("program p; x <-   \n\n   # nothing more\n", 1, 16, " "),
        ("program p; var x : reel; x <- )", 1, 31, ")"),
        ("program p; if x while", 1, 17, "while"),
        ("program p", 1, 10, ""),
        ("program p;\tx <- $", 1, 17, "$"),
        ("program p; αβγ 1", 1, 16, "1"),
    ],
)
def test_the_caret_is_on_the_offending_token(text: str, line: int, column: int, what: str) -> None:
    diagnostic = refusal(text)
    assert diagnostic.excerpt is not None
    assert (diagnostic.excerpt.line, diagnostic.excerpt.column, marked(diagnostic)) == (line, column, what)


# --- common mistakes -------------------------------------------------------------------------------


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("body", "expected", "note"),
    [
        ("x = 1", "`<-`", "an assignment is written with `<-`; `=` compares"),
        ("q[1] == 1", "`<-`", "an assignment is written with `<-`; `=` compares"),
        ("y : = 1", "`<-`", "an assignment is written with `<-` or `:=`"),
        ("z : real;", "`<-`", "a variable is declared before the first statement, with `var z : ...;`"),
        ("y <- 1 r <- 2", "`;`", "statements are separated by `;`"),
        ("y <- 1;; r <- 2", "a statement or the end of the program", "one `;` is enough"),
        ("if x > 0 then y <- 1 else if x < 0 then y <- 2 end }", "`end`", ELSE_IF),
        ("if x > 0 then y <- 1 elif x", "`;`, `else` or `end`", "there is no `elif`: write `else if ... end end`"),
        ("y <- 1; elif x > 0 then", "`<-`", "there is no `elif`: write `else if ... end end`"),
        ("if x then y <- 1 endif", "`;`, `else` or `end`", "`if`, `while` and `for` close with `end`"),
        ("return 3", "`<-`", "`exit` ends the program with the outputs it has"),
        ("whlie x > 0 do", "`<-`", "`whlie` is read as a variable here; did you mean `while`?"),
        ("While x > 0 do", "`<-`", "`While` is read as a variable here; did you mean `while`?"),
        ("if x > 0 thne y <- 1 end", "`then`", "did you mean `then`?"),
        ("if x > 0 then y <- 1 edn", "`;`, `else` or `end`", "did you mean `end`?"),
        (
            "y <- 1; end",
            "a statement or the end of the program",
            "there is no open `if`, `while` or `for` for this `end` to close",
        ),
        (
            "y <- 1; else",
            "a statement or the end of the program",
            "there is no open `if` for this `else`; was it closed by an `end` too many?",
        ),
        (
            "if x then exit else exit else exit end",
            "`;` or `end`",
            "there is no open `if` for this `else`; each `if` has at most one",
        ),
        ("if x > 0 { y <- 1 }", "`then`", "blocks have no braces: `if ... then ... end`, `while ... do ... end`"),
        ("r <- Lap()", "an expression", "`Lap` takes a rate in eps and a mean, for example `Lap(eps/2, 0)`"),
        ("r <- DLap(eps, 1, 2)", "`)`", "`DLap` takes a rate in eps and a mean, for example `DLap(eps/2, 0)`"),
        ("r <- Lap", "`(`", "`Lap` takes a rate in eps and a mean, for example `Lap(eps/2, 0)`"),
        (
            "r <- Exp(eps)",
            "`,`",
            f"the exponential function is `exp`, in small letters; {SIGNATURES['EXP']}",
        ),
        ("r <- choose { }", "an expression", "a choice is written `choose { a : 1/3, b : 2/3 }`"),
        (
            "choose r { 1 : 1 }",
            "a declaration, a statement or the end of the program",
            "assign what is drawn to a variable, `x <- …`: a choice is written `choose { a : 1/3, b : 2/3 }`",
        ),
        ("y <- 2x", "`;`", "a product is written with `*`: `2*x`"),
        ("y <- 2(x)", "`;`", "a product is written with `*`: `2*(`"),
        ("y <- xε", "`;`", "`ε` alone is the privacy parameter; it cannot be part of a name"),
        ("if 0 < x < 1 then end", "`then`", "comparisons do not chain: write `a < b and b < c`"),
        ("if x <-1 then end", "`then`", "`<-` assigns; for less than a negative number leave a blank, `x < -1`"),
        ("for i = 1 to 3 do end", "`in`", "a loop is written `for i in 1..m do ... end`"),
        ("for i in 3 do end", "`..`", "a loop is written `for i in 1..m do ... end`"),
        ("y <- e^{2}", "an expression", "a power of e is written `exp(...)`, for example `exp(-eps/2)`"),
        ("// a comment", "a declaration, a statement or the end of the program", "a comment begins with `#`"),
        (
            "y <- 1; var w : real;",
            "a statement or the end of the program",
            "declarations come before the first statement",
        ),
        ("int z;", "a declaration, a statement or the end of the program", "a declaration is written `var z : int;`"),
        ("y <- if", "an expression or a distribution", None),
        ("domain a = {none bot};", "`}`, `,` or `..`", None),
        ("domain a = {};", "an expression", None),
        ("const m <- 3;", "`=`", "constants and initial values are given with `=`; `<-` assigns in a statement"),
        ("const m == 3;", "`=`", "constants and initial values are given with a single `=`"),
        (
            "var z : real <- 0;",
            "`;` or `=`",
            "constants and initial values are given with `=`; `<-` assigns in a statement",
        ),
        (
            "var z : real, w : bool;",
            "`;` or `=`",
            "each type has a declaration of its own: `var a : real; var b : bool;`",
        ),
        ("var z = 3;", "`,`, `:` or `[`", None),
        ("input q[3] : real;", "`..`", "an array is declared with both bounds, for example `q[1..m]`"),
        ("var z : real var w : real;", "`;` or `=`", "every declaration ends with `;`"),
        (
            "claim { eps: ; }",
            "an expression or `[`",
            "eps ranges over intervals, for example `(0, inf)` or `[1/2, 3)`",
        ),
        ("claim { eps: (0, 1) u (2, 3) }", "`;`, `}`, `,` or `∪`", "several intervals are separated by `,` or `∪`"),
        (
            "ideal { input z : real; }",
            "a statement, `}` or `var`",
            "an `ideal` block declares variables of its own with `var`, before its first statement",
        ),
        ("ideal { if x then y <- 1 }", "`else` or `end`", "`if`, `while` and `for` close with `end`"),
    ],
)
def test_common_mistakes(body: str, expected: str, note: str | None) -> None:
    diagnostic = refusal(HEAD + body)
    assert diagnostic.code in ("E0102", "E0103")
    assert diagnostic.message.startswith(f"expected {expected}, found ")
    # Where nothing but a `;` is missing, the place is where it belongs.
    assert diagnostic.label in (f"expected {expected}", "`;` is missing here")
    assert diagnostic.notes == (() if note is None else (note,))


@pytest.mark.parametrize(
    ("text", "expected", "note"),
    [
        ("x <- 1", "`program`", "a program begins with its name, `program sparse;`"),
        ("prgram p;", "`program`", "did you mean `program`?"),
        (
            "program sparse-vector;",
            "`;`",
            "the name is one word of letters, digits and `_`, and a `;` ends the line: `program sparse_vector;`",
        ),
        ("program p; inptu x : real;", "`<-`", "`inptu` is read as a variable here; did you mean `input`?"),
    ],
)
def test_mistakes_at_the_beginning(text: str, expected: str, note: str) -> None:
    diagnostic = refusal(text)
    assert diagnostic.label == f"expected {expected}"
    assert diagnostic.notes == (note,)


@pytest.mark.parametrize(
    ("text", "word", "note"),
    [
        ("program p; var end : real;", "end", "choose another name, for example `end_`"),
        ("program if;", "if", "choose another name, for example `if_`"),
        ("program p; for Lap in 1..2 do end", "Lap", "choose another name, for example `Lap_`"),
        ("program p; bool <- true", "bool", "choose another name, for example `bool_`"),
        ("program p; eps <- 1", "eps", "`eps` is the privacy parameter: it cannot be declared or assigned"),
        ("program p; var ε : real;", "ε", "`eps` is the privacy parameter: it cannot be declared or assigned"),
    ],
)
def test_keywords_are_no_names(text: str, word: str, note: str) -> None:
    diagnostic = refusal(text)
    assert diagnostic.code == "E0110"
    assert diagnostic.message == f"`{word}` is a keyword and cannot be a name"
    assert marked(diagnostic) == word
    assert diagnostic.notes == (note,)


@pytest.mark.parametrize(
    ("written", "mark", "message", "note"),
    [
        ("\0", "\0", "U+0000 CONTROL CHARACTER", "a program is plain text; this looks like a binary file"),
        ("“a”", "“", "U+201C LEFT DOUBLE QUOTATION MARK", "without quotes"),
        ("'a'", "'", "`'`", "without quotes"),
        ("x && y", "&&", "`&&`", "write `and`"),
        ("x || y", "||", "`||`", "write `or`"),
        ("!x", "!", "`!`", "write `not`"),
        ("x × y", "×", "U+00D7 MULTIPLICATION SIGN", "this is U+00D7 MULTIPLICATION SIGN: write `*`"),
        ("x\u00a0+ 1", "\u00a0", "U+00A0 NO-BREAK SPACE", "this is U+00A0 NO-BREAK SPACE: write an ordinary space"),
        ("ϵ", "ϵ", "U+03F5 GREEK LUNATE EPSILON SYMBOL", "write `eps`"),
        ("µ", "µ", "U+00B5 MICRO SIGN", "this is U+00B5 MICRO SIGN: write `μ`"),
        ("（x)", "（", "U+FF08 FULLWIDTH LEFT PARENTHESIS", "write `(`"),
        ("а", "а", "U+0430 CYRILLIC SMALL LETTER A", "names are written with letters `A`-`Z`"),
        (".5", ".", "`.`", "write a digit before the point, for example `0.5`"),
        ("1.", ".", "`.`", "write a digit behind the point, for example `1.0`"),
        ("x % 2", "%", "`%`", "comments begin with `#`; there is no remainder"),
        ("\ud800", "\ud800", "U+D800 UNASSIGNED CHARACTER", "names are written with letters"),
    ],
)
def test_stray_characters(written: str, mark: str, message: str, note: str) -> None:
    diagnostic = refusal(HEAD + "y <- " + written)
    assert diagnostic.code == "E0101"
    assert marked(diagnostic) == mark
    assert diagnostic.message == message + " is not part of the language"
    assert note in diagnostic.notes[0]


@pytest.mark.parametrize(
    ("body", "code", "mark", "message"),
    [
        ("y <- x^1001", "E0108", "1001", "the exponent of `^` must be a constant"),
        ("claim { beta: 2^(k-eps) }", "E0108", "(k-eps)", "the exponent of `^` must be a constant"),
        ("y <- 1e99999", "E0106", "1e99999", "this number is too large"),
        ("y <- q(1)", "E0109", "q", "there is no function `q`"),
        ("claim { beta: Phi(eps) }", "E0109", "Phi", "there is no function `Phi`"),
        ("claim { beta: erf(eps) }", "E0109", "erf", "there is no function `erf`"),
        ("y <- abs(1, 2)", "E0109", "abs(1, 2)", "`abs` takes one argument, not 2"),
        ("claim { bta: 1 }", "E0111", "bta", "a claim has no field `bta`"),
        ("claim { eps: (0, inf] }", "E0112", "]", "eps never reaches `inf`"),
        ("claim { eps: (inf, 3) }", "E0112", "inf", "an interval of eps cannot begin at `inf`"),
    ],
)
def test_well_shaped_nonsense(body: str, code: str, mark: str, message: str) -> None:
    diagnostic = refusal(HEAD + body)
    assert (diagnostic.code, marked(diagnostic), diagnostic.message) == (code, mark, message)
    assert diagnostic.notes


@pytest.mark.parametrize(("written", "meant"), [("lap", "Lap"), ("Laplace", "Lap"), ("laplace", "Lap"), ("mx", "max")])
def test_misspelled_functions(written: str, meant: str) -> None:
    assert refusal(HEAD + f"y <- {written}(eps, 0)").notes[0] == f"did you mean `{meant}`?"


def test_sums_of_arrays_are_over_ranges() -> None:
    note = refusal(HEAD + "y <- sum(x)").notes[0]
    assert note == "write it over a range: `sum(i in 1..n : x[i])`"


def test_options_are_named_as_the_source() -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse_expression(SourceText("--beta", "2*exp(-eps"))
    assert (
        render(caught.value.diagnostics)
        == """\
error[E0103]: expected `)` or `,`, found the end of the expression
 --> --beta:1:11
  |
1 | 2*exp(-eps
  |           ^ expected `)` or `,`
  |      - opened here, not closed
"""
    )
    with pytest.raises(DiagnosticError) as caught:
        parse_expression(SourceText("--beta", "1 2"))
    assert caught.value.diagnostics[0].message == "expected an operator or the end of the expression, found `2`"
    with pytest.raises(DiagnosticError) as caught:
        parse_interval(SourceText("--eps", "0, inf"))
    assert caught.value.diagnostics[0].message == "eps never reaches `inf`"


# --- hostile input ---------------------------------------------------------------------------------


def survives(text: str) -> None:
    """Parsing either works or gives diagnostics that can be shown on one screen."""
    for read in (parse, parse_expression, parse_interval):
        diagnostics: tuple[Diagnostic, ...] = ()
        try:
            read(SourceText("hostile.dip", text))
        except DiagnosticError as refused:
            diagnostics = refused.diagnostics
        shown = render(diagnostics)
        assert all(character.isprintable() or character == "\n" for character in shown)
        assert all(len(line) < 400 for line in shown.splitlines())
        assert all(diagnostic.message and diagnostic.excerpt for diagnostic in diagnostics)


@given(st.text())
@example("\0")
@example("\u2028\r\r\n\x1b[31m")
@example("program p; x <- 1.e5..")
def test_any_text_is_answered(text: str) -> None:
    survives(text)


WORDS = (
    *(spelling(keyword) for keyword in sorted(KEYWORDS)),
    *("x", "q", "inf", "u", "max", "exp", "1", "0.5", "1e9", "ε"),
    *("<-", "←", ":=", "<=", ">=", "!=", "<>", "==", "=", "<", ">", "+", "-", "*", "/", "^", "**", "∪"),
    *("..", ",", ":", ";", "(", ")", "[", "]", "{", "}", "#", "\n"),
)


@given(st.lists(st.sampled_from(WORDS), max_size=25), st.sampled_from([" ", ""]))
def test_any_words_are_answered(words: list[str], blank: str) -> None:
    survives(blank.join(words))
    survives("program p; " + blank.join(words))


@given(programs(), st.data())
def test_damaged_programs_are_answered(program: ast.ProgramTree, data: st.DataObject) -> None:
    text = print_program(program)
    pieces = re.findall(r"\w+|\s+|\S", text)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(pieces) - 1))
        match data.draw(st.sampled_from(["drop", "double", "swap", "insert", "cut"])):
            case "drop":
                del pieces[at]
            case "double":
                pieces.insert(at, pieces[at])
            case "swap":
                pieces[at], pieces[-1] = pieces[-1], pieces[at]
            case "insert":
                pieces.insert(at, data.draw(st.sampled_from(WORDS) | st.characters()))
            case _:
                del pieces[at:]
        if not pieces:
            break
    survives("".join(pieces))


# --- more than one ---------------------------------------------------------------------------------


def refusals(text: str) -> list[tuple[int, str]]:
    with pytest.raises(DiagnosticError) as caught:
        parse(SourceText("p.dip", text))
    places = [found.excerpt for found in caught.value.diagnostics]
    return [(place.line, marked(found)) for found, place in zip(caught.value.diagnostics, places, strict=True) if place]


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("b <- 1 2;\nr <- Cauchy(1);\ny <- choose y { 1 : 1 };\n", [(5, "2"), (6, "Cauchy"), (7, "y")]),
        ("if b > then\n  y <- = 3;\n  y <- 1\nend;\ny = 2", [(5, "then"), (6, "="), (9, "=")]),
        ("y <- 1\nb <- 2;\ny <- )", [(5, ""), (7, ")")]),
        ("for i in 1 do y <- ; end;\nwhile b y <- 1 end;\ny <- 2", [(5, "do"), (6, "y")]),
        ("y <- 1 $ 2;\nr <- Lap(eps, );\nr <- 1", [(5, "$"), (6, ")")]),
        ("y <- 1;\nend;\ny == 2", [(6, "end"), (7, "==")]),
        ("while b { y <- 1 };\ny = 2", [(5, "{")]),
        ("if b then y <- = 1", [(5, "=")]),
    ],
)
def test_reading_goes_on_after_an_error(text: str, places: list[tuple[int, str]]) -> None:
    assert refusals(HEAD + text) == places


def test_errors_in_declarations_and_claims() -> None:
    text = "program p;\ninput x real;\nvar y, : real;\nclaim {\n  beta: ;\n  gamma: 3 4\n}\nx <- 1"
    assert refusals(text) == [(2, "real"), (3, ":"), (5, ";"), (6, "4")]


@given(programs(), st.data())
def test_a_single_slip_is_a_single_error_on_its_line(program: ast.ProgramTree, data: st.DataObject) -> None:
    """A statement of nonsense between others is all that is reported."""
    lines = print_program(program).split("\n")
    body = [number for number, line in enumerate(lines) if re.fullmatch(r"\s*[a-z_0-9]+ <- [^:{]*;", line)]
    if body:
        at = data.draw(st.sampled_from(body))
        lines[at] = re.sub("<- ", "<- <- ", lines[at])
        assert [line for line, _ in refusals("\n".join(lines))] == [at + 1]


def test_the_inputs_of_a_claim_have_values() -> None:
    found = refusal("program p; input inputs : {0..2}; claim { beta: 1; inputs: inputs; } exit")
    assert (found.code, found.message) == ("E0111", "`inputs` has no value")
    assert "inputs: all" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "code", "note"),
    [
        ("y <- choice(p: exp(eps*x/2), q: 1)", "E0102", "write random choices as `choose {a: w1, b: w2}`"),
        ("y <- choice({p: 1/2, q: 1/2})", "E0102", "write random choices as `choose {a: w1, b: w2}`"),
        ("y <- choice(p, q)", "E0109", "or by scores as `Exp(eps/2, k in {1..4} : s[k])`"),
        (
            "y <- exp(eps/2, k in {1..3} : x)",
            "E0102",
            "`exp` is the exponential function; the exponential mechanism is",
        ),
        ("y <- Exp(eps/2, {1..3}, x)", "E0102", "the exponential mechanism is written `Exp(eps/2, v in D : score)`"),
        ("y <- Exp(eps/2, k in 1..3 : x)", "E0102", "in braces: `Exp(eps/2, k in {1..m} : score[k])`"),
        ("y <- Sample(p, q)", "E0109", "write random choices as `choose {a: w1, b: w2}`"),
    ],
)
def test_choices_of_other_languages(text: str, code: str, note: str) -> None:
    found = refusal(HEAD + text)
    assert found.code == code
    assert note in found.notes[0]


@pytest.mark.parametrize(("written", "meant"), [("exact", "ideal"), ("Det", "ideal"), ("accuracy", "claim")])
def test_blocks_that_are_called_otherwise(written: str, meant: str) -> None:
    found = refusal(f"program p; input x : real; output y : real; {written} {{ y <- x }} y <- x")
    assert (found.code, found.notes) == ("E0102", (f"did you mean `{meant} {{ … }}`?",))


@pytest.mark.parametrize(
    "declared", ["{no, yes} = no, b : bool", "real = 0, b : bool", "{0..2}, b : bool", "bool, b : real"]
)
def test_declarations_of_several_types(declared: str) -> None:
    found = refusal(f"program p; input x : real; output a : {declared}; b <- true")
    assert found.notes == ("each type has a declaration of its own: `var a : real; var b : bool;`",)

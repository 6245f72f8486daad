"""print∘parse is the identity on trees, and parse∘print on canonical text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.text import ast
from dipc.text.diagnostic import DiagnosticError, SourceText
from dipc.text.parser import parse, parse_expression, parse_interval
from dipc.text.printer import formatted, print_expression, print_interval, print_program
from tests.patience import examples
from tests.strategies.programs import expressions, intervals, programs, statements

TOKEN = re.compile(r"[^\W\d]\w*'?|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|<-|<=|>=|!=|\.\.|\S")


def read(text: str) -> ast.ProgramTree:
    return parse(SourceText("test.dip", text))


def expression(text: str) -> ast.Expr:
    return parse_expression(SourceText("test", text))


@given(programs())
def test_programs_come_back(program: ast.ProgramTree) -> None:
    text = print_program(program)
    again = read(text)
    assert again == program
    assert print_program(again) == text


@given(expressions(20))
def test_expressions_come_back(tree: ast.Expr) -> None:
    text = print_expression(tree)
    assert "\n" not in text
    assert expression(text) == tree


@given(st.lists(intervals(), min_size=1, max_size=3))
def test_intervals_come_back(several: list[ast.IntervalExpr]) -> None:
    assert parse_interval(SourceText("--eps", print_interval(several))) == tuple(several)


@given(statements())
def test_statements_come_back(statement: ast.Statement) -> None:
    assert read(print_program(ast.ProgramTree("p", (), (statement,)))).body == (statement,)


@given(expressions(12))
def test_no_parentheses_can_be_left_out(tree: ast.Expr) -> None:
    text = print_expression(tree)
    for start, end in groups(text):
        shorter = text[:start] + " " + text[start + 1 : end] + " " + text[end + 1 :]
        try:
            changed = expression(shorter)
        except DiagnosticError:
            continue
        assert changed != tree, f"{text} needs no parentheses at {start}"


def groups(text: str) -> Iterator[tuple[int, int]]:
    """The pairs of parentheses that group, those of calls left out."""
    stack: list[int] = []
    for at, character in enumerate(text):
        if character == "(":
            stack.append(at)
        elif character == ")":
            start = stack.pop()
            # `not (` groups, `max(` calls.
            if not re.search(r"[\w]$", text[:start]):
                yield start, at


LAYOUT = st.sampled_from([" ", "\n", "\t", "\r\n", "  # a comment; end (\n", " #\n"])
SPELLINGS = {
    "<-": ["<-", "←", ":="],
    "<=": ["<=", "≤"],
    ">=": [">=", "≥"],
    "!=": ["!=", "≠", "<>"],
    "^": ["^", "**"],
    "eps": ["eps", "ε"],
}


@settings(max_examples=examples(4))
@given(programs(), st.data())
def test_layout_comments_and_spellings_do_not_matter(program: ast.ProgramTree, data: st.DataObject) -> None:
    tokens = TOKEN.findall(print_program(program))
    written = "".join(data.draw(st.sampled_from(SPELLINGS.get(t, [t]))) + data.draw(LAYOUT) for t in tokens)
    assert read(written) == program
    once = formatted(SourceText("test.dip", written))
    assert read(once) == program
    assert [said.rstrip() for said in re.findall("#.*", once)] == [said.rstrip() for said in re.findall("#.*", written)]
    assert formatted(SourceText("test.dip", once)) == once


@given(st.lists(statements(), min_size=1, max_size=3))
def test_the_last_semicolon_of_a_block_is_optional(body: list[ast.Statement]) -> None:
    text = print_program(ast.ProgramTree("p", (), tuple(body))).rstrip()
    fewer = re.sub(r";(?=\s*(end|else)\b)", "", text).removesuffix(";")
    assert fewer.count(";") < text.count(";")
    assert read(fewer) == ast.ProgramTree("p", (), tuple(body))


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("((a))+((b))*(c)", "a + b*c"),
        ("a-(b-c)-d", "a - (b - c) - d"),
        ("(a-b)-c", "a - b - c"),
        ("a/(b*c)/d", "a/(b*c)/d"),
        ("(a/b)*c", "a/b*c"),
        ("-(a*b)", "-(a*b)"),
        ("(-a)*b", "-a*b"),
        ("-a^2", "-a^2"),
        ("(-a)**2", "(-a)^2"),
        ("a- -b", "a - -b"),
        ("a*-b", "a*-b"),
        ("- - 1", "--1"),
        ("not (a < b)", "not a < b"),
        ("(not a) and b", "not a and b"),
        ("not (a and b)", "not (a and b)"),
        ("a or (b and c)", "a or b and c"),
        ("(a or b) and c", "(a or b) and c"),
        ("(a == b) <> (c ≤ d)", "(a = b) != (c <= d)"),
        ("ε/( 4 * c )", "eps/(4*c)"),
        ("min( 1 , max(x,y) )", "min(1, max(x, y))"),
        ("q[ i+1 ]", "q[i + 1]"),
        ("1E-3+0.250", "1E-3 + 0.250"),
    ],
)
def test_canonical_expressions(written: str, canonical: str) -> None:
    assert print_expression(expression(written)) == canonical


def test_a_substituted_constant_prints_as_one_number() -> None:
    """Constants put into a tree later are no literals of the language; they keep their value all the same."""
    third = ast.Number(Fraction(-1, 3), "-1/3")
    tree = ast.Binary(ast.BinaryOp.MULTIPLY, ast.Name("a"), third)
    assert print_expression(tree) == "a*(-1/3)"


CANONICAL = """\
program everything;
const m = 3, half = 1/2;
domain answer = {none, bot, top};
input q[1..m] : real;
input x, y : {-5..5};
output out[1..m] : answer = none;
var b : bool = true;
var z : int;
claim {
  alpha: dd;
  beta: 2*m*exp(-alpha*eps/8);
  gamma: 0;
  eps: (0, 1], [2, inf);
}
ideal {
  var best : real;
  best <- q[1];
}
z <- DLap(eps/2, x);
for i in 1..m do
  if b and not q[i] > 0 then
    out[i] <- top;
  else
    exit;
  end;
end;
while x < y do
  x <- Exp(eps/4, v in {0..3} : -abs(v - y));
  b <- choose { true : 1/(1 + exp(eps)), false : exp(eps)/(1 + exp(eps)) };
end;
q[1] <- Expo(2*eps);
q[2] <- Lap(eps, 1e-3);
"""


def test_canonical_program() -> None:
    assert print_program(read(CANONICAL)) == CANONICAL


def test_comments_stay_with_their_lines() -> None:
    written = """\


# Above.
program commented ;   # the name


const m = 3,          # how many
  half = 1/2;         # and a part
  # of the inputs
input q[1..m] : real;
output out : {0..m} = 0;
if ((q[1]) >= half) then # at once
      # inside
      out <- 1
   # the rest
   else exit # leave
end

# below
"""
    assert (
        formatted(SourceText("test.dip", written))
        == """\
# Above.
program commented;    # the name

# how many
const m = 3, half = 1/2;  # and a part
# of the inputs
input q[1..m] : real;
output out : {0..m} = 0;
if q[1] >= half then     # at once
  # inside
  out <- 1;
# the rest
else
  exit;      # leave
end;

# below
"""
    )


def test_canonical_text_stays() -> None:
    assert formatted(SourceText("test.dip", CANONICAL)) == CANONICAL


def test_inputs_of_a_claim_are_formatted_however_they_are_written() -> None:
    written = "program p; input k : {1, 2}; claim { beta: 0; inputs: k in {1, 2} } # all\noutput y : bool; y <- true"
    text = formatted(SourceText("test.dip", written))
    assert "inputs: k = {1, 2};" in text
    assert formatted(SourceText("test.dip", text)) == text

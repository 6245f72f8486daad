"""What is read from well-formed text: the trees, their spans, and how large they may be."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given

from dipc.noise.discrete_laplace import DISCRETE_LAPLACE
from dipc.noise.laplace import LAPLACE
from dipc.noise.one_sided import ONE_SIDED
from dipc.text import ast
from dipc.text.diagnostic import DiagnosticError, SourceText, Span
from dipc.text.parser import GRAMMAR, Builder, load_parser, parse, parse_expression, parse_interval
from dipc.text.printer import print_program
from dipc.text.syntax_errors import KEYWORDS, MAX_NESTING, spelling
from tests.strategies.programs import programs
from tests.strategies.tall import tall_programs

ROOT = Path(__file__).resolve().parents[2]

# Word for word the example that the language is specified by.
SPARSE = """\
# Sparse vector technique (Dwork and Roth 2014), Figure 2(a) of the paper
program sparse;
const m = 3, c = 1, T = 0;                 # rationals; the command line overrides them: -D m=4
domain answer = {none, bot, top};          # an enumerated DOM; {-5..5} is an integer DOM
input  q[1..m] : real;                     # or a DOM: input x : {0..4}
output out[1..m] : answer = none;          # outputs: DOM or real; may carry an initial value
var rT, r : real;                          # one keyword per declaration group
var b : bool;
var count : {0..m} = 0;
rT <- Lap(eps/(2*c), T);
for i in 1..m do
  r <- Lap(eps/(4*c), q[i]);
  b <- r >= rT;
  if b then
    out[i] <- top;
    count <- count + 1;
    if count >= c then exit end;
    rT <- Lap(eps/(2*c), T)
  else
    out[i] <- bot
  end
end
"""


def read(text: str) -> ast.ProgramTree:
    return parse(SourceText("test.dip", text))


def body(text: str) -> tuple[ast.Statement, ...]:
    return read("program p; " + text).body


def declarations(text: str) -> tuple[ast.Declaration, ...]:
    return read("program p; " + text).declarations


def expression(text: str) -> ast.Expr:
    return parse_expression(SourceText("--beta", text))


def n(text: str) -> ast.Number:
    return ast.Number(Fraction(text), text)


x, y, m, c = (ast.Name(name) for name in "xymc")


# --- programs --------------------------------------------------------------------------------------


def test_the_example_of_the_specification() -> None:
    program = read(SPARSE)
    answer = ast.NamedDomain("answer")

    def lap(k: str, mean: ast.Expr) -> ast.NoiseExpr:
        rate = ast.Binary(ast.BinaryOp.DIVIDE, ast.Eps(), ast.Binary(ast.BinaryOp.MULTIPLY, n(k), c))
        return ast.NoiseExpr(LAPLACE, rate, mean)

    i = ast.Name("i")
    r, threshold = ast.Name("r"), ast.Name("rT")
    b, count, out = ast.Name("b"), ast.Name("count"), ast.Element("out", i)
    assert program == ast.ProgramTree(
        "sparse",
        (
            ast.ConstDecl((("m", n("3")), ("c", n("1")), ("T", n("0")))),
            ast.DomainDecl("answer", ast.ListedDomain((ast.Name("none"), ast.Name("bot"), ast.Name("top")))),
            ast.VariableDecl(
                ast.Role.INPUT, (ast.Declarator("q", n("1"), m),), ast.BaseTypeExpr(ast.BaseType.REAL), None
            ),
            ast.VariableDecl(ast.Role.OUTPUT, (ast.Declarator("out", n("1"), m),), answer, ast.Name("none")),
            ast.VariableDecl(
                ast.Role.VAR,
                (ast.Declarator("rT", None, None), ast.Declarator("r", None, None)),
                ast.BaseTypeExpr(ast.BaseType.REAL),
                None,
            ),
            ast.VariableDecl(
                ast.Role.VAR, (ast.Declarator("b", None, None),), ast.BaseTypeExpr(ast.BaseType.BOOL), None
            ),
            ast.VariableDecl(ast.Role.VAR, (ast.Declarator("count", None, None),), ast.Range(n("0"), m), n("0")),
        ),
        (
            ast.Sample(threshold, lap("2", ast.Name("T"))),
            ast.For(
                "i",
                n("1"),
                m,
                (
                    ast.Sample(r, lap("4", ast.Element("q", i))),
                    ast.Assign(b, ast.Compare(ast.CompareOp.GE, r, threshold)),
                    ast.If(
                        b,
                        (
                            ast.Assign(out, ast.Name("top")),
                            ast.Assign(count, ast.Binary(ast.BinaryOp.ADD, count, n("1"))),
                            ast.If(ast.Compare(ast.CompareOp.GE, count, c), (ast.ExitStatement(),), ()),
                            ast.Sample(threshold, lap("2", ast.Name("T"))),
                        ),
                        (ast.Assign(out, ast.Name("bot")),),
                    ),
                ),
            ),
        ),
    )


def test_blocks_stand_anywhere_among_the_declarations() -> None:
    text = """
    program p;
    claim { alpha: dd; beta: 2*m*c*exp(-alpha*eps/(8*c)); gamma: 0; eps: (0, inf); }
    const m = 2;
    ideal { var best : real = 0; if x > 0 then y <- 1 else y <- 0 end };
    input x : {0..4};
    """
    kinds = [type(declaration) for declaration in read(text).declarations]
    assert kinds == [ast.ClaimDecl, ast.ConstDecl, ast.IdealDecl, ast.VariableDecl]


@pytest.mark.parametrize("end", ["", ";"])
def test_claim(end: str) -> None:
    claim = ast.ClaimDecl(
        (
            ast.ClaimField("alpha", ast.Name("dd")),
            ast.ClaimField("eps", (ast.IntervalExpr(n("0"), None, False, False),)),
        )
    )
    assert declarations(f"claim {{ alpha: dd; eps: (0, inf){end} }}{end}") == (claim,)
    assert declarations(f"claim {{ alpha: dd; ε: (0, inf){end} }}{end}") == (claim,)


def test_one_domain_keyword_may_name_several() -> None:
    assert declarations("domain a = {p, q}, b = {0, 1/2};") == declarations("domain a = {p, q}; domain b = {0, 1/2};")


@pytest.mark.parametrize("arrow", ["<-", "←", ":="])
def test_arrows(arrow: str) -> None:
    assert body(f"x {arrow} 1") == body(f"x{arrow}1;") == (ast.Assign(x, n("1")),)


@pytest.mark.parametrize(
    ("written", "op"),
    [
        ("<", ast.CompareOp.LT),
        ("<=", ast.CompareOp.LE),
        ("≤", ast.CompareOp.LE),
        ("=", ast.CompareOp.EQ),
        ("==", ast.CompareOp.EQ),
        ("!=", ast.CompareOp.NE),
        ("<>", ast.CompareOp.NE),
        ("≠", ast.CompareOp.NE),
        (">=", ast.CompareOp.GE),
        ("≥", ast.CompareOp.GE),
        (">", ast.CompareOp.GT),
    ],
)
def test_comparisons(written: str, op: ast.CompareOp) -> None:
    assert expression(f"x{written}y") == expression(f"x {written} y") == ast.Compare(op, x, y)


@pytest.mark.parametrize(
    ("text", "distribution"),
    [
        ("Lap(eps, 1)", ast.NoiseExpr(LAPLACE, ast.Eps(), n("1"))),
        ("DLap(ε, x)", ast.NoiseExpr(DISCRETE_LAPLACE, ast.Eps(), x)),
        ("Expo(eps)", ast.NoiseExpr(ONE_SIDED, ast.Eps(), None)),
        ("Exp(eps, v in D : x)", ast.ExponentialMechanism(ast.Eps(), "v", ast.NamedDomain("D"), x)),
        (
            "Exp(eps, v in {0..2} : v)",
            ast.ExponentialMechanism(ast.Eps(), "v", ast.Range(n("0"), n("2")), ast.Name("v")),
        ),
        ("choose { x : 1, y : 0 }", ast.Choose(((x, n("1")), (y, n("0"))))),
    ],
)
def test_distributions(text: str, distribution: ast.Distribution) -> None:
    assert body(f"x <- {text}") == (ast.Sample(x, distribution),)


def test_else_if_is_a_nested_if() -> None:
    inner = ast.If(y, (ast.ExitStatement(),), ())
    assert body("if x then else if y then exit end end") == (ast.If(x, (), (inner,)),)


def test_empty_blocks() -> None:
    assert body("if x then end; while x do end; for i in 1..2 do end") == (
        ast.If(x, (), ()),
        ast.While(x, ()),
        ast.For("i", n("1"), n("2"), ()),
    )
    assert body("if x then else end") == (ast.If(x, (), ()),)
    assert read("program p;") == ast.ProgramTree("p", (), ())


# --- words and numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "word", ["iff", "ends", "End", "eps1", "epsilon", "Laplace", "for_", "_", "α", "σ_1", "μ", "max"]
)
def test_names_that_are_nearly_keywords(word: str) -> None:
    assert body(f"{word} <- {word}") == (ast.Assign(ast.Name(word), ast.Name(word)),)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", Fraction(0)),
        ("007", Fraction(7)),
        ("0.25", Fraction(1, 4)),
        ("1e-23", Fraction(1, 10**23)),
        ("2.50E+2", Fraction(250)),
        ("1e1000", Fraction(10**1000)),
        ("9" * 1000, Fraction(10**1000 - 1)),
    ],
)
def test_numbers_are_exact(text: str, value: Fraction) -> None:
    number = expression(text)
    assert number == ast.Number(value, text)


def test_a_range_is_not_a_decimal_point() -> None:
    assert declarations("input q[1..3] : {0.5..1e1};") == (
        ast.VariableDecl(
            ast.Role.INPUT,
            (ast.Declarator("q", n("1"), n("3")),),
            ast.Range(n("0.5"), n("1e1")),
            None,
        ),
    )


def test_a_byte_order_mark_is_blank_space() -> None:
    assert read("\ufeffprogram p;\r\n\tx <- 1\v\f") == read("program p; x <- 1")


# --- precedence ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("x or y and m", "x or (y and m)"),
        ("not x and y", "(not x) and y"),
        ("not x < y", "not (x < y)"),
        ("x + y < m * c", "(x + y) < (m * c)"),
        ("x - y - m", "(x - y) - m"),
        ("x / y * m / c", "((x / y) * m) / c"),
        ("x - y * m", "x - (y * m)"),
        ("-x * y", "(-x) * y"),
        ("x * -y - -m", "(x * (-y)) - (-m)"),
        ("-x ^ 2", "-(x ^ 2)"),
        ("x or y or m", "(x or y) or m"),
        ("not not x", "not (not x)"),
        ("x < y and y < m or c", "((x < y) and (y < m)) or c"),
    ],
)
def test_precedence(text: str, same: str) -> None:
    assert expression(text) == expression(same)


def test_parentheses_change_the_tree() -> None:
    assert expression("x - (y - m)") != expression("x - y - m")
    assert expression("(x < y) = (m < c)") == ast.Compare(
        ast.CompareOp.EQ, ast.Compare(ast.CompareOp.LT, x, y), ast.Compare(ast.CompareOp.LT, m, c)
    )


# --- intervals -------------------------------------------------------------------------------------


def test_a_point_is_an_interval_of_eps() -> None:
    assert parse_interval(SourceText("--eps", "1/2, (1 + 2)*3, (4, 5)")) == (
        *parse_interval(SourceText("--eps", "[1/2, 1/2]")),
        *parse_interval(SourceText("--eps", "[(1 + 2)*3, (1 + 2)*3]")),
        *parse_interval(SourceText("--eps", "(4, 5)")),
    )


def test_intervals() -> None:
    several = parse_interval(SourceText("--eps", "(0, 1/2], [2, 3) ∪ [4, inf)"))
    assert [(i.low_closed, i.high_closed) for i in several] == [(False, True), (True, False), (True, False)]
    assert several[0].high == ast.Binary(ast.BinaryOp.DIVIDE, n("1"), n("2"))
    assert several[2] == ast.IntervalExpr(n("4"), None, True, False)


# --- spans -----------------------------------------------------------------------------------------


def nodes(node: object) -> Iterator[object]:
    """Every node of the tree, with those inside tuples."""
    if isinstance(node, tuple):
        for item in node:
            yield from nodes(item)
    elif dataclasses.is_dataclass(node) and not isinstance(node, Span):
        yield node
        for field in dataclasses.fields(node):
            yield from nodes(getattr(node, field.name))


def test_every_kind_of_node_is_marked_exactly() -> None:
    text = (
        "program p ; const k = ( 1 ) ; domain d = { a , b } , e = {-1 .. 1} ; input q [1..2] , z : real ; "
        "claim { alpha : dd ; eps : (0, inf) , [1, 2] ; } ; ideal { y <- q[1] }  output y : d = a ; "
        "y <- ( q[1] + 2 ) * z ; if not ( y < 1 ) then exit ; else y <- Exp(ε, v in {0, 1} : -v) end ; "
        "for i in 1..2 do while true do y <- choose { a : 1 } end end ; "
    )
    spans: dict[str, list[str]] = {}
    for node in nodes(read(text)):
        span = node.span  # type: ignore[attr-defined]
        spans.setdefault(type(node).__name__, []).append(text[span.start : span.end])
    assert spans == {
        "ProgramTree": [text.rstrip()],
        "ConstDecl": ["const k = ( 1 )"],
        "DomainDecl": ["d = { a , b }", "e = {-1 .. 1}"],
        "ListedDomain": ["{ a , b }", "{0, 1}"],
        "Range": ["{-1 .. 1}"],
        "VariableDecl": ["input q [1..2] , z : real", "output y : d = a"],
        "Declarator": ["q [1..2]", "z", "y"],
        "BaseTypeExpr": ["real"],
        "NamedDomain": ["d"],
        "ClaimDecl": ["claim { alpha : dd ; eps : (0, inf) , [1, 2] ; }"],
        "ClaimField": ["alpha : dd", "eps : (0, inf) , [1, 2]"],
        "IntervalExpr": ["(0, inf)", "[1, 2]"],
        "IdealDecl": ["ideal { y <- q[1] }"],
        "Assign": ["y <- q[1]", "y <- ( q[1] + 2 ) * z"],
        "Sample": ["y <- Exp(ε, v in {0, 1} : -v)", "y <- choose { a : 1 }"],
        "If": ["if not ( y < 1 ) then exit ; else y <- Exp(ε, v in {0, 1} : -v) end"],
        "While": ["while true do y <- choose { a : 1 } end"],
        "For": ["for i in 1..2 do while true do y <- choose { a : 1 } end end"],
        "ExitStatement": ["exit"],
        "ExponentialMechanism": ["Exp(ε, v in {0, 1} : -v)"],
        "Choose": ["choose { a : 1 }"],
        "Binary": ["( q[1] + 2 ) * z", "q[1] + 2"],
        "Unary": ["-1", "not ( y < 1 )", "-v"],
        "Compare": ["y < 1"],
        "Element": ["q[1]", "q[1]"],
        "Name": ["a", "b", "dd", "y", "a", "y", "z", "y", "y", "v", "y", "a"],
        "Number": ["1", "1", "1", "1", "2", "0", "1", "2", "1", "1", "2", "1", "0", "1", "1", "2", "1"],
        "Eps": ["ε"],
        "Truth": ["true"],
    }


@given(programs())
def test_the_text_of_a_span_is_the_node(program: ast.ProgramTree) -> None:
    text = print_program(program)
    for node in nodes(read(text)):
        shown = text[node.span.start : node.span.end]  # type: ignore[attr-defined]
        if isinstance(node, ast.Expr) and "'" in shown:  # primes are read in a metric only
            (metric,) = read(f"program p; metric {{ apart: {shown} }}").declarations
            assert isinstance(metric, ast.MetricDecl)
            assert metric.fields[0].value == node
        elif isinstance(node, ast.Expr):
            assert expression(shown) == node
        elif isinstance(node, ast.Statement):
            assert body(text[node.span.start : node.span.end]) == (node,)
        elif isinstance(node, ast.IntervalExpr):
            assert parse_interval(SourceText("", text[node.span.start : node.span.end])) == (node,)


# --- limits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", tall_programs(1))
def test_the_tallest_tree_is_read_and_can_be_walked(way: str) -> None:
    program = read(tall_programs(MAX_NESTING)[way])
    assert read(print_program(program)) == program
    assert hash(program)
    assert repr(program)


@pytest.mark.parametrize("way", tall_programs(1))
@pytest.mark.parametrize("levels", [MAX_NESTING + 1, 10_000])
def test_a_taller_tree_is_refused(way: str, levels: int) -> None:
    with pytest.raises(DiagnosticError) as caught:
        read(tall_programs(levels)[way])
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E0105"
    assert diagnostic.message == f"this is nested more than {MAX_NESTING} levels deep"
    assert diagnostic.excerpt is not None


def test_parentheses_are_levels_too() -> None:
    def parentheses(k: int) -> str:
        return "(" * k + "1" + ")" * k

    assert expression(parentheses(MAX_NESTING)) == n("1")
    with pytest.raises(DiagnosticError) as caught:
        expression(parentheses(10_000))
    assert caught.value.diagnostics[0].code == "E0105"
    excerpt = caught.value.diagnostics[0].excerpt
    assert excerpt is not None
    assert excerpt.column == MAX_NESTING + 1


def test_wide_is_not_deep() -> None:
    wide = read("program p; x <- max(" + "1, " * 2000 + "1);" + "if x > 0 then exit end;" * 2000)
    assert len(wide.body) == 2001


@pytest.mark.slow
def test_a_hundred_thousand_statements_are_refused() -> None:
    with pytest.raises(DiagnosticError) as caught:
        read("program p;\n" + "x <- 1;\n" * 100_000)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.message) == ("E0104", "the program has more than 50000 statements")
    assert diagnostic.excerpt is not None
    assert diagnostic.excerpt.line == 50_002


@pytest.mark.parametrize(
    ("text", "code"),
    [("x" * 10_000_001, "E0107"), ("1+" * 100, "E0104"), ("1" * 1001, "E0106"), ("1e1001", "E0106")],
)
def test_other_limits(text: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dipc.text.parser.MAX_TOKENS", 100)
    with pytest.raises(DiagnosticError) as caught:
        expression(text)
    assert caught.value.diagnostics[0].code == code


# --- the grammar -----------------------------------------------------------------------------------


def test_every_rule_has_a_method_of_the_builder() -> None:
    for rule in load_parser().rules:
        name = rule.alias or rule.origin.name
        passes_through = rule.options.expand1 and len(rule.expansion) == 1 and not rule.alias
        if not name.startswith("_") and not passes_through:
            assert hasattr(Builder, name), rule


def test_the_keywords_are_the_words_of_the_grammar() -> None:
    words = {terminal.name: terminal.pattern.value for terminal in load_parser().terminals}
    assert {name: word for name, word in words.items() if word.isascii() and word.isalpha()} == {
        keyword: spelling(keyword) for keyword in KEYWORDS
    }


@pytest.mark.parametrize("place", ["grammars", "dipc/grammars"])
def test_the_grammar_is_found_in_a_checkout_and_in_a_package(tmp_path: Path, place: str) -> None:
    for room in ("text", "noise", "algebra"):
        shutil.copytree(ROOT / "dipc" / room, tmp_path / "dipc" / room)
    for file in ("above.py", "frozen.py", "deprecated.py"):
        shutil.copy(ROOT / "dipc" / file, tmp_path / "dipc")
    (tmp_path / "dipc" / "__init__.py").write_text('__version__ = "0"\n', encoding="utf-8")
    (tmp_path / place).mkdir()
    shutil.copy(ROOT / "grammars" / GRAMMAR, tmp_path / place)
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import dipc; from dipc.text.parser import parse; from dipc.text.diagnostic import SourceText\n"
        "print(dipc.__file__, parse(SourceText('x', 'program found;')).name)\n"
    )
    run = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True, cwd="/")
    assert run.stdout.split() == [str(tmp_path / "dipc" / "__init__.py"), "found"]


def test_infinity_may_be_written_as_reports_print_it() -> None:
    assert parse_interval(SourceText("<eps>", "(0, ∞)")) == parse_interval(SourceText("<eps>", "(0, inf)"))

"""The reader of source text: the grammar, the tree built by the parser's reductions, and the values of options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from pkgutil import get_data
from typing import TYPE_CHECKING, Any, cast

from dipc.noise.laws import LAWS, law_of
from dipc.text import ast
from dipc.text.diagnostic import (
    DiagnosticError,
    SourceText,
    Span,
    bad_input,
    did_you_mean,
    listing,
    nearest,
)
from dipc.text.rewriting import hoisted, with_noiseless_ideal
from dipc.text.syntax_errors import (
    BY_WEIGHT_OR_SCORE,
    CHOICES,
    MAX_CHARACTERS,
    MAX_DIGITS,
    MAX_NESTING,
    MAX_POWER,
    MAX_STATEMENTS,
    MAX_TOKENS,
    MOST_ERRORS,
    Problem,
    Situation,
    SyntaxCode,
    mended,
    stray_character,
    syntax_error,
    token_span,
    too_deep,
    without_stray_characters,
)

if TYPE_CHECKING:
    from lark import Lark, Token
    from lark.parsers.lalr_interactive_parser import InteractiveParser


# --- The grammar, and the parser made from it, once per process -------------------------------------------------------

GRAMMAR = "dipwhile.lark"

#: The start symbols: a whole program, one expression, intervals of eps, values of variables, an open constant,
#: a distance.
START_SYMBOLS = ("program", "expression", "intervals", "items", "lower_bound", "metric_value")


def grammar_text(name: str = GRAMMAR) -> str:
    """Return the text of the grammar `name`, from the installed package or else from the checkout around it.

    An installed wheel has the grammars inside the package. In a checkout the directory `grammars/` is next to `dipc/`.
    """
    try:
        packaged = get_data("dipc", f"grammars/{name}")
    except OSError:
        return Path(__file__).resolve().parents[2].joinpath("grammars", name).read_text(encoding="utf-8")
    return (packaged or b"").decode("utf-8")


@cache
def load_parser() -> Lark:
    """Return the LALR parser for every start symbol, which builds `dipc.text.ast` trees without recursion.

    Its table is cached beside the compiled modules, because computing it takes a third of the time that dipc needs to
    start. Lark computes it again if the grammar, its options or Lark's version changed, and works without a cache if
    nothing can be written there.
    """
    from lark import Lark

    return Lark(
        grammar_text(),
        parser="lalr",
        lexer="basic",
        start=list(START_SYMBOLS),
        keep_all_tokens=True,
        maybe_placeholders=False,
        transformer=Builder(),
        cache=str(Path(cache_from_source(__file__)).with_name(f"{GRAMMAR}.table")),
    )


# --- From the parser's reductions to the tree of `dipc.text.ast`: one method for each rule of the grammar -------------

COMPARISONS = {
    "LT": ast.CompareOp.LT,
    "LE": ast.CompareOp.LE,
    "EQUAL": ast.CompareOp.EQ,
    "EQUALS": ast.CompareOp.EQ,
    "NE": ast.CompareOp.NE,
    "GE": ast.CompareOp.GE,
    "GT": ast.CompareOp.GT,
}
OPERATORS = {
    "OR": ast.BinaryOp.OR,
    "AND": ast.BinaryOp.AND,
    "PLUS": ast.BinaryOp.ADD,
    "MINUS": ast.BinaryOp.SUBTRACT,
    "STAR": ast.BinaryOp.MULTIPLY,
    "SLASH": ast.BinaryOp.DIVIDE,
}
PREFIXES = {"NOT": ast.UnaryOp.NOT, "MINUS": ast.UnaryOp.NEGATE}
ROLES = {"INPUT": ast.Role.INPUT, "OUTPUT": ast.Role.OUTPUT, "VAR": ast.Role.VAR}
BASES = {"BOOL": ast.BaseType.BOOL, "INT": ast.BaseType.INT, "REAL": ast.BaseType.REAL}

#: The functions of expressions, with the number of arguments; None is one or more.
FUNCTIONS: dict[str, int | None] = {"min": None, "max": None, "abs": 1, "exp": 1, "log": 1, "sqrt": 1, "erfc": 1}
#: The functions over a range, `sum(i in 1..n : x[i])`.
RANGED = ("sum", "min", "max", "count")
DISTRIBUTIONS = (*(law.keyword for law in LAWS), "Exp")
_USES = ", ".join(f"`{law.draw_text(law.scale_word, 'mean')}`" for law in LAWS)
KNOWN_DISTRIBUTIONS = (
    f"the distributions are {_USES}, `Exp(rate, v in D : score)` and `choose {{ value : weight, ... }}`"
)
_NORMAL = "normal noise is `Gauss(2/eps, 0)`, with its standard deviation and its mean; `DGauss` draws integers"
_FINITE = "weights of finitely many values are given by `choose`, for example `choose { 0 : 1/4, 1 : 3/4 }`"
_UNIFORM = "uniform noise is `Unif(-1, 1, 0)`, with its ends and its mean"
#: Names of normal noise, finite choices and geometric noise in other languages, in small letters.
NORMAL_NAMES = ("gauss", "gaussian", "normal", "norm", "n")
FINITE_NAMES = ("bernoulli", "ber", "flip", "bern", "binomial", "bin", "categorical", "discrete")
GEOMETRIC_NAMES = ("geom", "geometric", "twosidedgeometric", "discretelaplace")
#: Names of distributions in other languages, in small letters, and the advice for each.
FOREIGN_DISTRIBUTIONS = {
    **dict.fromkeys(NORMAL_NAMES, _NORMAL),
    **dict.fromkeys(FINITE_NAMES, _FINITE),
    **dict.fromkeys(("uniform", "unif", "runif", "u"), f"{_UNIFORM}; {_FINITE}"),
    **dict.fromkeys(
        ("tlap", "trunclap", "truncatedlaplace", "boundedlaplace"),
        "Laplace noise between two ends is `TLap(eps/2, 0, -10, 10)`, with its rate, its mean and its ends",
    ),
    **dict.fromkeys(CHOICES, BY_WEIGHT_OR_SCORE),
    **dict.fromkeys(
        GEOMETRIC_NAMES,
        "two-sided geometric noise is `DLap(eps/2, 0)`",
    ),
    "exponential": "one-sided exponential noise is `Expo(eps/2)`; the exponential mechanism is `Exp`",
    "gumbel": "the largest of scores with Gumbel noise is drawn by `Exp(eps/2, v in D : score)`",
}
CLAIM_FIELDS = ("alpha", "beta", "gamma", "error", "eps", "inputs")
METRIC_FIELDS = ("input", "apart", "output", "same", "dd")


@dataclass(slots=True)
class Subtree:
    """A finished subtree on the parser's stack: the `node` and its place in the text.

    The place begins at `start_pos` and ends at `end_pos`; tokens have attributes with the same names. It includes
    parentheses that the span of the node leaves out. `depth` is the height of the tree.
    """

    node: Any
    start_pos: int
    end_pos: int
    depth: int


Children = list[Any]  # tokens and Subtrees, in the order of the grammar


def _span(children: Children) -> Span:
    return Span(children[0].start_pos, children[-1].end_pos)


def _parent(node: Any, children: Children) -> Subtree:
    depth = 0
    for child in children:
        if type(child) is Subtree and child.depth > depth:
            depth = child.depth
    if depth >= MAX_NESTING:
        token = next((child for child in children if type(child) is not Subtree), children[0])
        raise too_deep(Span(token.start_pos, token.end_pos))
    return Subtree(node, children[0].start_pos, children[-1].end_pos, depth + 1)


def _leaf(node: Any, token: Any) -> Subtree:
    return Subtree(node, token.start_pos, token.end_pos, 1)


def _group(node: Any, children: Children) -> Subtree:
    """Return a subtree with the syntax `node`; it is as deep as the deepest of its `children`.

    In the text it extends from the start of the first child to the end of the last one. Without children, it is empty
    and at the start of the text.
    """
    depth = 0
    for child in children:
        if type(child) is Subtree and child.depth > depth:
            depth = child.depth
    if not children:
        return Subtree(node, 0, 0, 0)
    return Subtree(node, children[0].start_pos, children[-1].end_pos, depth)


def _nodes(children: Children) -> tuple[Any, ...]:
    return tuple(child.node for child in children if type(child) is Subtree)


def _leaf_of(node: Any, children: Children) -> Subtree:
    return _leaf(node, children[0])


def _made_of(
    kind: type, *places: int, as_: Callable[[Any, Children], Subtree] = _parent
) -> Callable[[Builder, Children], Subtree]:
    """Return the callback of a grammar rule: a function that builds a node of class `kind` from the children.

    The arguments of the node are the children with the indices `places`, and the source span of all children. `as_`
    makes the subtree from the node and the children.
    """

    def build(_: Builder, children: Children) -> Subtree:
        taken = [child.node if type(child) is Subtree else str(child) for child in map(children.__getitem__, places)]
        return as_(kind(*taken, span=_span(children)), children)

    return build


def _distinct(children: Children, code: SyntaxCode, block: str) -> tuple[Any, ...]:
    fields: dict[str, Any] = {}
    for field in _nodes(children):
        if field.name in fields:
            message = f"`{field.name}` is given twice in one {block}"
            first = ((fields[field.name].span, "first given here"),)
            raise Problem(code, field.span, message, "given again", ("keep one of the two",), first)
        fields[field.name] = field
    return tuple(fields.values())


def _known_field(token: Token, name: str, known: tuple[str, ...], code: SyntaxCode, block: str) -> str:
    if name not in known:
        *most, last = (f"`{each}`" for each in known)
        notes = (*did_you_mean(name, known), f"a {block} has the fields {', '.join(most)} and {last}")
        raise Problem(code, _span([token]), f"a {block} has no field `{name}`", "unknown field", notes)
    return name


class Builder:
    """The callbacks of the grammar: each takes the children of one rule and returns their Subtree."""

    # --- programs and declarations ---

    def program(self, children: Children) -> Subtree:
        name, declared, body = children[1], children[3:-1], children[-1]
        end = (body if body.node else children[-2]).end_pos
        declarations = tuple(declaration for subtree in declared for declaration in subtree.node)
        node = ast.ProgramTree(str(name), declarations, body.node, Span(children[0].start_pos, end))
        return Subtree(node, children[0].start_pos, end, 0)

    def constants(self, children: Children) -> Subtree:
        return _parent((ast.ConstDecl(_nodes(children), _span(children[:-1])),), children)

    def binding(self, children: Children) -> Subtree:
        return _group((str(children[0]), children[2].node), children)

    def domains(self, children: Children) -> Subtree:
        return _parent(_nodes(children), children)

    domain_binding = _made_of(ast.DomainDecl, 0, 2, as_=_group)

    def variables(self, children: Children) -> Subtree:
        nodes = _nodes(children)
        declarators = tuple(each for each in nodes if isinstance(each, ast.Declarator))
        type_, *rest = nodes[len(declarators) :]
        initial = rest[0] if rest else None
        role = ROLES[children[0].type]
        return _parent((ast.VariableDecl(role, declarators, type_, initial, _span(children[:-1])),), children)

    initialized = variables

    def declarator(self, children: Children) -> Subtree:
        return _group(ast.Declarator(str(children[0]), None, None, _span(children)), children)

    array_declarator = _made_of(ast.Declarator, 0, 2, 4, as_=_group)

    def base_type(self, children: Children) -> Subtree:
        return _leaf(ast.BaseTypeExpr(BASES[children[0].type], _span(children)), children[0])

    range_domain = _made_of(ast.Range, 1, 3, as_=_group)

    def listed_domain(self, children: Children) -> Subtree:
        return _group(ast.ListedDomain(_nodes(children), _span(children)), children)

    named_domain = _made_of(ast.NamedDomain, 0, as_=_leaf_of)

    # --- preconditions, claims and ideals ---

    def requires(self, children: Children) -> Subtree:
        return _parent((ast.RequiresDecl(children[1].node, _span(children[:-1])),), children)

    def claim(self, children: Children) -> Subtree:
        fields = _distinct(children, SyntaxCode.BAD_CLAIM_FIELD, "claim")
        return _parent((ast.ClaimDecl(fields, _closed_span(children)),), children)

    def claim_field(self, children: Children) -> Subtree:
        token = children[0]
        written = "eps" if token.type in ("EPS", "EPSILON") else str(token)
        name = _known_field(token, written, CLAIM_FIELDS, SyntaxCode.BAD_CLAIM_FIELD, "claim")
        return _group(ast.ClaimField(name, children[2].node, _span(children)), children)

    def claimed_inputs(self, children: Children) -> Subtree:
        items = _nodes(children)
        if not items and str(children[0]) != "all":
            message = f"`{children[0]}` has no value"
            notes = ("write `inputs: all;`, or for example `inputs: q = -1..1, x in {0, 1};`",)
            raise Problem(SyntaxCode.BAD_CLAIM_FIELD, _span(children), message, "no inputs", notes)
        return _parent(ast.ClaimedInputs(items, _span(children)), children)

    def intervals(self, children: Children) -> Subtree:
        return _group(_nodes(children), children)

    items = block = arm = intervals

    def interval(self, children: Children) -> Subtree:
        left, low, _, high, right = children
        high_closed = right.type == "RSQUARE"
        if isinstance(low.node, ast.Name) and low.node.name == "inf":
            message = "an interval of eps cannot begin at `inf`"
            notes = ("write the smaller end first, for example `(0, inf)` or `[1/2, 3)`",)
            raise Problem(SyntaxCode.BAD_INTERVAL, low.node.span, message, "the left end", notes)
        unbounded = isinstance(high.node, ast.Name) and high.node.name == "inf"
        if unbounded and high_closed:
            message, notes = "eps never reaches `inf`", ("close the interval with `)`",)
            raise Problem(SyntaxCode.BAD_INTERVAL, _span(children[-1:]), message, "closed here", notes)
        bound = None if unbounded else high.node
        node = ast.IntervalExpr(low.node, bound, left.type == "LSQUARE", high_closed, _span(children))
        return _group(node, children)

    def point(self, children: Children) -> Subtree:
        (value,) = children
        if isinstance(value.node, ast.Name) and value.node.name == "inf":
            notes = ("an interval without an upper end is written `(0, inf)`",)
            raise Problem(SyntaxCode.BAD_INTERVAL, value.node.span, "eps never reaches `inf`", "no value of eps", notes)
        return _group(ast.IntervalExpr(value.node, value.node, True, True, _span(children)), children)

    def ideal(self, children: Children) -> Subtree:
        *declared, body = (child for child in children if type(child) is Subtree)
        declarations = tuple(declaration for subtree in declared for declaration in subtree.node)
        return _parent((ast.IdealDecl(declarations, body.node, _closed_span(children)),), children)

    def noiseless(self, children: Children) -> Subtree:
        name = children[2]
        if str(name) != "noiseless":
            notes = ("write statements, `ideal { out <- q }`, or `ideal { noiseless }`: the program without its noise",)
            span = _span([name])
            raise Problem(SyntaxCode.UNEXPECTED, span, f"an ideal is not `{name}`", "no statement", notes)
        return _parent((ast.IdealDecl((), (), _closed_span(children), noiseless=True),), children)

    # --- values in options ---

    item = _made_of(ast.Item, 0, 2, as_=_group)

    def vector(self, children: Children) -> Subtree:
        return _parent(ast.Vector(_nodes(children), _span(children)), children)

    def listed(self, children: Children) -> Subtree:
        return _group(ast.ListedValues(_nodes(children), _span(children)), children)

    span = _made_of(ast.Range, 0, 2, as_=_group)

    def stepped(self, children: Children) -> Subtree:
        low, _, high, word, step = children
        if str(word) != "by":
            notes = ("a range with a step is written `0..200 by 2`",)
            raise Problem(SyntaxCode.UNEXPECTED, _span([word]), f"unexpected `{word}`", "not `by`", notes)
        return _group(ast.Range(low.node, high.node, span=_span(children), step=step.node), children)

    def positive(self, children: Children) -> Subtree:
        return _group(children[1].node, children)

    parentheses = positive

    def lower_bound(self, children: Children) -> Subtree:
        least = children[2].node if len(children) > 1 else None
        return _group((str(children[0]), least), children)

    # --- metrics ---

    def metric(self, children: Children) -> Subtree:
        fields = _distinct(children, SyntaxCode.BAD_METRIC_FIELD, "metric")
        return _parent((ast.MetricDecl(fields, _closed_span(children)),), children)

    def metric_field(self, children: Children) -> Subtree:
        token = children[0]
        name = _known_field(token, str(token), METRIC_FIELDS, SyntaxCode.BAD_METRIC_FIELD, "metric")
        return _group(ast.MetricField(name, children[2].node, _span(children)), children)

    each = _made_of(ast.Each, 1, 3, 5, 7)

    # --- statements ---

    def assign(self, children: Children) -> Subtree:
        target, value = _nodes(children)
        if isinstance(value, ast.Drawn):
            return _parent(ast.Sample(target, value.distribution, _span(children)), children)
        return _parent(ast.Assign(target, value, _span(children)), children)

    def if_then(self, children: Children) -> Subtree:
        return _parent(ast.If(children[1].node, children[3].node, (), _span(children)), children)

    if_else = _made_of(ast.If, 1, 3, 5)

    while_loop = _made_of(ast.While, 1, 3)

    for_loop = _made_of(ast.For, 1, 3, 5, 7)

    exit = _made_of(ast.ExitStatement, as_=_leaf_of)

    # --- distributions ---

    def noise(self, children: Children) -> Subtree:
        law, arguments = law_of(str(children[0])), list(_nodes(children))
        close = _span(children[-1:])
        rate = arguments.pop(0) if law.takes_rate else None
        if law.takes_rate and law.takes_ends:
            mean, *ends = arguments
        else:
            ends = arguments[:2] if law.takes_ends else []
            zero = ast.number(0, close) if law.takes_mean else None
            mean = next(iter(arguments[len(ends) :]), zero)
        low, high = ends or (None, None)
        support = None if low is None or high is None else (low, high)
        return _parent(ast.NoiseExpr(law, rate, mean, _span(children), support), children)

    exponential_mechanism = _made_of(ast.ExponentialMechanism, 2, 4, 6, 8)

    def choose(self, children: Children) -> Subtree:
        return _parent(ast.Choose(_nodes(children), _span(children)), children)

    # --- expressions ---

    def binary(self, children: Children) -> Subtree:
        left, operator, right = children
        return _parent(ast.Binary(OPERATORS[operator.type], left.node, right.node, _span(children)), children)

    def compare(self, children: Children) -> Subtree:
        left, operator, right = children
        return _parent(ast.Compare(COMPARISONS[operator.type], left.node, right.node, _span(children)), children)

    def unary(self, children: Children) -> Subtree:
        operator, operand = children
        return _parent(ast.Unary(PREFIXES[operator.type], operand.node, _span(children)), children)

    def power(self, children: Children) -> Subtree:
        left, _, exponent = children
        node = exponent.node
        wrong = isinstance(node, ast.Number) and node.value > MAX_POWER
        if wrong or any(isinstance(each, ast.Eps) for each in ast.walk(node)):
            raise Problem(
                SyntaxCode.BAD_POWER,
                _span(children[2:]),
                "the exponent of `^` must be a constant",
                f"more than {MAX_POWER}" if wrong else "this depends on eps",
                ("a power of e is written with `exp`, for example `exp(-eps/2)`",),
            )
        return _parent(ast.Binary(ast.BinaryOp.POWER, left.node, node, _span(children)), children)

    def number(self, children: Children) -> Subtree:
        token = children[0]
        text = str(token)
        mantissa, _, exponent = text.lower().partition("e")
        if len(mantissa) > MAX_DIGITS or len(exponent) > 9 or abs(int(exponent or 0)) > MAX_DIGITS:
            raise Problem(
                SyntaxCode.NUMBER_TOO_LARGE,
                _span(children),
                "this number is too large",
                f"more than {MAX_DIGITS} digits, or an exponent beyond {MAX_DIGITS}",
                (f"numbers have at most {MAX_DIGITS} digits and an exponent between -{MAX_DIGITS} and {MAX_DIGITS}",),
            )
        value = Fraction(int(text)) if text.isdigit() else Fraction(text)
        return _leaf(ast.Number(value, text, _span(children)), token)

    def name(self, children: Children) -> Subtree:
        text = str(children[0])
        return _leaf(ast.Name("inf" if text == "∞" else text, _span(children)), children[0])

    element = _made_of(ast.Element, 0, 2)

    def call(self, children: Children) -> Subtree:
        function, arguments = str(children[0]), _nodes(children)
        if function not in FUNCTIONS:
            raise _unknown_function(function, _span(children[:1]))
        arity = FUNCTIONS[function]
        if arity is not None and len(arguments) != arity:
            raise Problem(
                SyntaxCode.BAD_CALL,
                _span(children),
                f"`{function}` takes one argument, not {len(arguments)}",
                f"{len(arguments)} arguments",
                ("only `min` and `max` take several",),
            )
        return _parent(ast.Call(function, arguments, _span(children)), children)

    def ranged(self, children: Children) -> Subtree:
        function = str(children[0])
        if function not in RANGED:
            notes = (f"the functions over a range are {listing(RANGED)}: `sum(i in 1..n : x[i])`",)
            span = _span(children[:1])
            raise Problem(SyntaxCode.BAD_CALL, span, f"`{function}` takes no range", "no function over a range", notes)
        low, high, body = (children[place].node for place in (4, 6, 8))
        return _parent(ast.Ranged(function, str(children[2]), low, high, body, _span(children)), children)

    eps = _made_of(ast.Eps, as_=_leaf_of)

    def truth(self, children: Children) -> Subtree:
        return _leaf(ast.Truth(children[0].type == "TRUE", _span(children)), children[0])

    def drawn(self, children: Children) -> Subtree:
        return _group(ast.Drawn(children[0].node, children[0].node.span), children)


def _closed_span(children: Children) -> Span:
    last = children[-2] if children[-1].type == "SEMICOLON" else children[-1]
    return Span(children[0].start_pos, last.end_pos)


#: Functions that `erfc` replaces, by their usual names in small letters, and how.
_NORMAL_FUNCTIONS = {"erf": "erf(x) is 1 - erfc(x)"} | dict.fromkeys(
    ("phi", "normcdf", "cdf", "pnorm", "ncdf"), "the normal distribution at x is erfc(-x/sqrt(2))/2"
)


def _unknown_function(name: str, span: Span) -> Problem:
    foreign = FOREIGN_DISTRIBUTIONS.get(name.lower())
    is_upper = name[0].isupper() and name.lower() not in _NORMAL_FUNCTIONS
    if foreign is not None or (is_upper and not get_close_matches(name, DISTRIBUTIONS, 1)):
        return Problem(
            SyntaxCode.BAD_CALL,
            span,
            f"there is no distribution `{name}`",
            "unknown distribution",
            (*([foreign] if foreign else []), KNOWN_DISTRIBUTIONS),
        )
    close = nearest(name, (*FUNCTIONS, *DISTRIBUTIONS))
    notes = [f"the functions are {listing(FUNCTIONS)}; an array element is written `q[i]`"]
    if name.lower() in _NORMAL_FUNCTIONS:
        close = None
        notes.insert(0, f"{_NORMAL_FUNCTIONS[name.lower()]}: claims are written with `erfc`")
    if name.lower().startswith("lap"):
        close = "Lap"
    if name == "ln":
        close = "log"
    if name in RANGED:
        close = None
        notes.insert(0, f"write it over a range: `{name}(i in 1..n : {'x[i] > 0' if name == 'count' else 'x[i]'})`")
    if close is not None:
        notes.insert(0, f"did you mean `{close}`?")
    return Problem(SyntaxCode.BAD_CALL, span, f"there is no function `{name}`", "unknown function", tuple(notes))


# --- Reading source text: `parse` for programs, the other functions for values of options -----------------------------
#
# The whole text is first cut into tokens, so that limits are checked, and mistakes are explained by the tokens around
# them. Then the tokens are fed to the LALR parser, which builds the tree without recursion.

#: Every statement has exactly one of these tokens.
STATEMENT_MARKS = frozenset({"ARROW", "IF", "WHILE", "FOR", "EXIT"})
OPENING = frozenset({"IF", "WHILE", "FOR", "LPAR", "LSQUARE", "LBRACE"})
CLOSING = frozenset({"END", "RPAR", "RSQUARE", "RBRACE"})


def parse(source: SourceText) -> ast.ProgramTree:
    """Return the program in `source`; its tree is at most MAX_NESTING levels high.

    Every value drawn inside an expression of a statement gets a variable (`hoisted`). Raises only DiagnosticError, for
    anything that is not a program.
    """
    if source.tree is not None:
        assert isinstance(source.tree, ast.ProgramTree)
        return source.tree
    return with_noiseless_ideal(hoisted(parse_as_written(source)), source)


def parse_as_written(source: SourceText) -> ast.ProgramTree:
    """Return the program `source` as written, with values drawn inside expressions. Raises only DiagnosticError."""
    program = _read(source, "program")
    assert isinstance(program, ast.ProgramTree)
    return program


def parse_at(source: SourceText, start: str, span: Span) -> Any:
    """Return the tree of `source` at `span`, of the kind `start`.

    The kinds are "expression", "intervals", "items" and "metric_value". Raises only DiagnosticError.
    """
    return _read(source, start, " " * span.start + source.text[span.start : span.end])


def parse_expression(source: SourceText) -> ast.Expr:
    """Return the expression that is the whole text of `source`. Raises only DiagnosticError."""
    expression = _read(source, "expression")
    assert isinstance(expression, ast.Expr)
    return expression


def parse_interval(source: SourceText) -> tuple[ast.IntervalExpr, ...]:
    """Return the intervals of eps in `source`, at least one: `(0, inf)`, or several separated by `,` or `∪`.

    The bounds are expressions, not yet checked to be constant or in order. Raises only DiagnosticError.
    """
    intervals = _read(source, "intervals")
    assert isinstance(intervals, tuple)
    return intervals


def parse_items(source: SourceText) -> tuple[ast.Item, ...]:
    """Return the items in `source`, `q = -1..1, x in {0, 1/2}`, separated by commas, semicolons or lines.

    Raises only DiagnosticError.
    """
    if "#" in source.text:
        raise stray_character(source.text, source.text.index("#")).located(source)
    items = _read(source, "items", source.text.translate({ord("\n"): ";", ord("∈"): "="}))
    assert isinstance(items, tuple)
    return items


def parse_lower_bound(source: SourceText) -> tuple[str, ast.Expr | None]:
    """Return (name, value) for the text of `source`, the name of a constant with its least value, as in `m >= 3`.

    The value is None if the text is the name alone. Raises only DiagnosticError.
    """
    name, least = _read(source, "lower_bound")
    return name, least


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of `text`, which is known to be a program."""
    return _tokens(text, "program")


def _read(source: SourceText, start: str, written: str | None = None) -> Any:
    """Return the syntax tree of the text of `source`, parsed by the grammar rule `start`.

    If `written` is given, it is parsed in place of the text. It must have the same length, because errors are reported
    at the same positions in `source`.
    """
    if len(source.text) > MAX_CHARACTERS:
        message = f"`{source.name}` has {len(source.text)} characters, more than {MAX_CHARACTERS}"
        raise bad_input(SyntaxCode.TEXT_TOO_LONG, message, "use arrays and `for` loops for repeated parts")
    text = source.text if written is None else written
    try:
        return _feed(_tokens(text, start), start)
    except Problem as problem:
        problems = _problems(text, problem) if start == "program" else [problem]
        located = [each for problem in problems for each in problem.located(source).diagnostics]
        raise DiagnosticError(*located) from None


def _problems(text: str, first: Problem) -> list[Problem]:
    """Return `first`, the first problem of the program `text`, and problems found after correcting it.

    There is at most one problem for each line.
    """
    problems: list[Problem] = []
    tokens: list[Token] | None = None
    start = 0
    problem: Problem | None = first
    while problem is not None and len(problems) < MOST_ERRORS:
        stray = problem.code is SyntaxCode.STRAY_CHARACTER
        if problems and (problem.span.start < start or (problem.code is SyntaxCode.UNEXPECTED_END)):
            break
        if not any(_same_line(text, problem, other) for other in problems):
            problems.append(problem)
        if problem.code in _FINAL:
            break
        if stray:
            text = without_stray_characters(text, problem.span)
            tokens = None
        try:
            if tokens is None:
                tokens = _tokens(text, "program")
            if not stray:
                rest = mended(tokens, problem)
                if rest is None:
                    break
                tokens, start = rest
            _feed(tokens, "program")
            break
        except Problem as further:
            if tokens is None and not stray:
                break  # a mistake in the tokens themselves would be found again and again
            problem = further
    return sorted(problems, key=lambda each: each.span.start)


#: The problems after which nothing more is read.
_FINAL = (SyntaxCode.TOO_MANY, SyntaxCode.TOO_DEEP, SyntaxCode.UNEXPECTED_END)


def _same_line(text: str, one: Problem, other: Problem) -> bool:
    first, last = sorted((one.span.start, other.span.start))
    return "\n" not in text[first:last]


def _tokens(text: str, start: str) -> list[Token]:
    session = load_parser().parse_interactive(text, start)
    tokens: list[Token] = []
    statements = depth = 0
    # The number of open braces since `metric {`.
    metric = int(start == "metric_value")
    claim = 0  # the number of open braces since `claim {`
    for token in _lex(session, text):
        kind = token.type
        # A word before a brace can begin nothing else, so `metric` is not reserved.
        begins_metric = bool(tokens) and tokens[-1].type == "NAME" and str(tokens[-1]) == "metric"
        if kind == "LBRACE" and tokens and (metric or begins_metric):
            if not metric:
                tokens[-1] = _keyword(tokens[-1])
            metric += 1
        elif kind == "RBRACE" and metric:
            metric -= 1
        elif kind == "PRIMED" and not metric:
            raise stray_character(text, token_span(token).end - 1)
        if kind == "LBRACE" and tokens and (claim or tokens[-1].type == "CLAIM"):
            claim += 1
        elif kind == "RBRACE" and claim:
            claim -= 1
        elif kind == "COLON" and claim and str(tokens[-1]) == "inputs":
            tokens[-1] = _keyword(tokens[-1])
        if start == "program" and _begins_requires(tokens, kind):
            tokens[-1] = _keyword(tokens[-1])
        if kind in STATEMENT_MARKS:
            statements += 1
            if statements > MAX_STATEMENTS:
                raise _too_many(token, "statements", MAX_STATEMENTS)
        if kind in OPENING:
            depth += 1
            if depth > MAX_NESTING:
                raise too_deep(token_span(token))
        elif kind in CLOSING:
            depth = max(depth - 1, 0)
        tokens.append(token)
        if len(tokens) > MAX_TOKENS:
            raise _too_many(token, "words and signs", MAX_TOKENS)
    return tokens


#: What comes before a declaration: the end of another one.
_BEFORE_DECLARATION = ("SEMICOLON", "RBRACE")

#: What follows a name where a statement assigns to it, or where it names a field of a block.
_AFTER_TARGET = ("ARROW", "LSQUARE", "COLON")


def _begins_requires(tokens: list[Token], following: str) -> bool:
    """Return True if the last of `tokens` is the word `requires` at the beginning of `requires COND;`.

    The word is not reserved, so that it may also name a variable. The tokens before it and `following`, the text after
    it, tell which it is.
    """
    if len(tokens) < 2 or tokens[-1].type != "NAME" or str(tokens[-1]) != "requires":
        return False
    return tokens[-2].type in _BEFORE_DECLARATION and following not in _AFTER_TARGET


def _keyword(token: Token) -> Token:
    from lark import Token

    return Token.new_borrow_pos(str(token).upper(), str(token), token)


def _lex(session: InteractiveParser, text: str) -> Iterator[Token]:
    from lark import UnexpectedCharacters

    try:
        yield from session.lexer_thread.lex(session.parser_state)  # type: ignore[no-untyped-call]
    except UnexpectedCharacters as unexpected:
        raise stray_character(text, cast(int, unexpected.pos_in_stream)) from None


def _feed(tokens: list[Token], start: str) -> Any:
    from lark import Token, UnexpectedToken

    session = load_parser().parse_interactive("", start)
    position = 0
    try:
        for token in tokens:
            session.feed_token(token)
            position += 1
        return session.feed_token(Token("$END", "")).node
    except UnexpectedToken:
        raise syntax_error(Situation(tokens, position, _accepted(tokens[:position], start), start)) from None


def _accepted(tokens: list[Token], start: str) -> frozenset[str]:
    """Return the types of all tokens that can follow `tokens` in a text of the kind `start`.

    The tokens are parsed again, because a parser that has read a wrong token has already completed rules that another
    token could have continued.
    """
    session = load_parser().parse_interactive("", start)
    for token in tokens:
        session.feed_token(token)
    return frozenset(session.accepts())  # type: ignore[no-untyped-call]


def _too_many(token: Token, what: str, limit: int) -> Problem:
    return Problem(
        SyntaxCode.TOO_MANY,
        token_span(token),
        f"the program has more than {limit} {what}",
        f"number {limit + 1}",
        ("use arrays and `for` loops for repeated parts",),
    )

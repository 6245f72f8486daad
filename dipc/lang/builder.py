"""From the parser's reductions to the tree of `dipc.lang.ast`: one method for each rule of the grammar."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from dipc.diagnostics.source import Span
from dipc.lang import ast
from dipc.lang.limits import MAX_DIGITS, MAX_NESTING, MAX_POWER
from dipc.lang.problem import Problem, SyntaxCode, too_deep

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
FUNCTIONS: dict[str, int | None] = {"min": None, "max": None, "abs": 1, "exp": 1, "log": 1}
DISTRIBUTIONS = ("Lap", "DLap", "Exp", "Expo")
KNOWN_DISTRIBUTIONS = (
    "the distributions are `Lap(rate, mean)`, `DLap(rate, mean)`, `Expo(rate)`, `Exp(rate, v in D : score)` "
    "and `choose { value : weight, ... }`"
)
_NO_NORMAL = "probabilities of normal noise have no closed form here; Laplace noise is `Lap(eps/2, 0)`"
_FINITE = "weights of finitely many values are given by `choose`, for example `choose { 0 : 1/4, 1 : 3/4 }`"
#: What others call distributions, in small letters, and how to get along without.
FOREIGN_DISTRIBUTIONS = {
    **dict.fromkeys(("gauss", "gaussian", "normal", "norm", "n"), _NO_NORMAL),
    **dict.fromkeys(("bernoulli", "ber", "flip", "bern", "binomial", "bin", "categorical", "discrete"), _FINITE),
    **dict.fromkeys(("uniform", "unif"), _FINITE),
    **dict.fromkeys(
        ("geom", "geometric", "twosidedgeometric", "discretelaplace"),
        "two-sided geometric noise is `DLap(eps/2, 0)`",
    ),
    "exponential": "one-sided exponential noise is `Expo(eps/2)`; the exponential mechanism is `Exp`",
    "gumbel": "the largest of scores with Gumbel noise is drawn by `Exp(eps/2, v in D : score)`",
}
CLAIM_FIELDS = ("alpha", "beta", "gamma", "eps", "inputs")
METRIC_FIELDS = ("input", "apart", "output", "same")


@dataclass(slots=True)
class Subtree:
    """A finished subtree on the parser's stack. The positions are named as a token's and include parentheses that
    the node's own span leaves out; `depth` is the height of the tree."""

    node: Any
    start_pos: int
    end_pos: int
    depth: int


Children = list[Any]  # of tokens and Parts, as the grammar orders them


def _span(children: Children) -> Span:
    return Span(children[0].start_pos, children[-1].end_pos)


def _part(node: Any, children: Children) -> Subtree:
    """`node` as one level above its children."""
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
    """`node` as a mere grouping of its children, at their level. Of no children: it has no place in the text."""
    depth = 0
    for child in children:
        if type(child) is Subtree and child.depth > depth:
            depth = child.depth
    if not children:
        return Subtree(node, 0, 0, 0)
    return Subtree(node, children[0].start_pos, children[-1].end_pos, depth)


def _nodes(children: Children) -> tuple[Any, ...]:
    return tuple(child.node for child in children if type(child) is Subtree)


class Builder:
    """The callbacks of the grammar. Each takes the children of one rule and returns the Subtree they make up."""

    # --- programs and declarations ---

    def program(self, children: Children) -> Subtree:
        name, declared, body = children[1], children[3:-1], children[-1]
        end = (body if body.node else children[-2]).end_pos
        declarations = tuple(declaration for part in declared for declaration in part.node)
        node = ast.Program(str(name), declarations, body.node, Span(children[0].start_pos, end))
        return Subtree(node, children[0].start_pos, end, 0)

    def constants(self, children: Children) -> Subtree:
        return _part((ast.ConstDecl(_nodes(children), _span(children[:-1])),), children)

    def binding(self, children: Children) -> Subtree:
        return _group((str(children[0]), children[2].node), children)

    def domains(self, children: Children) -> Subtree:
        return _part(_nodes(children), children)

    def domain_binding(self, children: Children) -> Subtree:
        return _group(ast.DomainDecl(str(children[0]), children[2].node, _span(children)), children)

    def variables(self, children: Children) -> Subtree:
        *declarators, type_ = _nodes(children)
        return self._variables(children, declarators, type_, None)

    def initialized(self, children: Children) -> Subtree:
        *declarators, type_, initial = _nodes(children)
        return self._variables(children, declarators, type_, initial)

    def _variables(
        self, children: Children, declarators: list[ast.Declarator], type_: ast.TypeExpr, initial: ast.Expr | None
    ) -> Subtree:
        role = ROLES[children[0].type]
        return _part((ast.VariableDecl(role, tuple(declarators), type_, initial, _span(children[:-1])),), children)

    def declarator(self, children: Children) -> Subtree:
        return _group(ast.Declarator(str(children[0]), None, None, _span(children)), children)

    def array_declarator(self, children: Children) -> Subtree:
        return _group(ast.Declarator(str(children[0]), children[2].node, children[4].node, _span(children)), children)

    def base_type(self, children: Children) -> Subtree:
        return _leaf(ast.BaseTypeExpr(BASES[children[0].type], _span(children)), children[0])

    def range_domain(self, children: Children) -> Subtree:
        return _group(ast.RangeDomain(children[1].node, children[3].node, _span(children)), children)

    def listed_domain(self, children: Children) -> Subtree:
        return _group(ast.ListedDomain(_nodes(children), _span(children)), children)

    def named_domain(self, children: Children) -> Subtree:
        return _leaf(ast.NamedDomain(str(children[0]), _span(children)), children[0])

    # --- claims and ideals ---

    def claim(self, children: Children) -> Subtree:
        fields: dict[str, ast.ClaimField] = {}
        for field in _nodes(children):
            if field.name in fields:
                raise Problem(
                    SyntaxCode.BAD_CLAIM_FIELD,
                    field.span,
                    f"`{field.name}` is given twice in one claim",
                    "given again",
                    ("keep one of the two",),
                    ((fields[field.name].span, "first given here"),),
                )
            fields[field.name] = field
        return _part((ast.ClaimDecl(tuple(fields.values()), _closed_span(children)),), children)

    def claim_field(self, children: Children) -> Subtree:
        token, value = children[0], children[2].node
        name = "eps" if token.type in ("EPS", "EPSILON") else str(token)
        if name not in CLAIM_FIELDS:
            nearest = get_close_matches(name, CLAIM_FIELDS, 1)
            known = "a claim has the fields `alpha`, `beta`, `gamma`, `eps` and `inputs`"
            notes = (f"did you mean `{nearest[0]}`?", known) if nearest else (known,)
            raise Problem(
                SyntaxCode.BAD_CLAIM_FIELD,
                _span(children[:1]),
                f"a claim has no field `{name}`",
                "unknown field",
                notes,
            )
        return _group(ast.ClaimField(name, value, _span(children)), children)

    def claimed_inputs(self, children: Children) -> Subtree:
        items = _nodes(children)
        if not items and str(children[0]) != "all":
            message = f"`{children[0]}` is given no value"
            notes = ("write `inputs: all;`, or for example `inputs: q = -1..1, x in {0, 1};`",)
            raise Problem(SyntaxCode.BAD_CLAIM_FIELD, _span(children), message, "no inputs", notes)
        return _part(ast.ClaimedInputs(items, _span(children)), children)

    def intervals(self, children: Children) -> Subtree:
        return _group(_nodes(children), children)

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
        (at,) = children
        if isinstance(at.node, ast.Name) and at.node.name == "inf":
            notes = ("an interval without an upper end is written `(0, inf)`",)
            raise Problem(SyntaxCode.BAD_INTERVAL, at.node.span, "eps never reaches `inf`", "no value of eps", notes)
        return _group(ast.IntervalExpr(at.node, at.node, True, True, _span(children)), children)

    def ideal(self, children: Children) -> Subtree:
        *declared, body = (child for child in children if type(child) is Subtree)
        declarations = tuple(declaration for part in declared for declaration in part.node)
        return _part((ast.IdealDecl(declarations, body.node, _closed_span(children)),), children)

    # --- what options hold ---

    def items(self, children: Children) -> Subtree:
        return _group(_nodes(children), children)

    def item(self, children: Children) -> Subtree:
        return _group(ast.Item(children[0].node, children[2].node, _span(children)), children)

    def vector(self, children: Children) -> Subtree:
        return _part(ast.Vector(_nodes(children), _span(children)), children)

    def listed(self, children: Children) -> Subtree:
        return _group(ast.Listed(_nodes(children), _span(children)), children)

    def span(self, children: Children) -> Subtree:
        return _group(ast.Range(children[0].node, children[2].node, _span(children)), children)

    def positive(self, children: Children) -> Subtree:
        return _group(children[1].node, children)

    def lower_bound(self, children: Children) -> Subtree:
        least = children[2].node if len(children) > 1 else None
        return _group(ast.LowerBound(str(children[0]), least, _span(children)), children)

    # --- metrics ---

    def metric(self, children: Children) -> Subtree:
        fields: dict[str, ast.MetricField] = {}
        for field in _nodes(children):
            if field.name in fields:
                raise Problem(
                    SyntaxCode.BAD_METRIC_FIELD,
                    field.span,
                    f"`{field.name}` is given twice in one metric",
                    "given again",
                    ("keep one of the two",),
                    ((fields[field.name].span, "first given here"),),
                )
            fields[field.name] = field
        return _part((ast.MetricDecl(tuple(fields.values()), _closed_span(children)),), children)

    def metric_field(self, children: Children) -> Subtree:
        name = str(children[0])
        if name not in METRIC_FIELDS:
            nearest = get_close_matches(name, METRIC_FIELDS, 1)
            known = "a metric has the fields `input`, `apart`, `output` and `same`"
            notes = (f"did you mean `{nearest[0]}`?", known) if nearest else (known,)
            message = f"a metric has no field `{name}`"
            raise Problem(SyntaxCode.BAD_METRIC_FIELD, _span(children[:1]), message, "unknown field", notes)
        return _group(ast.MetricField(name, children[2].node, _span(children)), children)

    def each(self, children: Children) -> Subtree:
        _, variable, _, low, _, high, _, body = children
        return _part(ast.Each(str(variable), low.node, high.node, body.node, _span(children)), children)

    # --- statements ---

    def block(self, children: Children) -> Subtree:
        return _group(_nodes(children), children)

    def assign(self, children: Children) -> Subtree:
        return _part(ast.Assign(children[0].node, children[2].node, _span(children)), children)

    def sample(self, children: Children) -> Subtree:
        return _part(ast.Sample(children[0].node, children[2].node, _span(children)), children)

    def if_then(self, children: Children) -> Subtree:
        return _part(ast.If(children[1].node, children[3].node, (), _span(children)), children)

    def if_else(self, children: Children) -> Subtree:
        return _part(ast.If(children[1].node, children[3].node, children[5].node, _span(children)), children)

    def while_loop(self, children: Children) -> Subtree:
        return _part(ast.While(children[1].node, children[3].node, _span(children)), children)

    def for_loop(self, children: Children) -> Subtree:
        _, variable, _, low, _, high, _, body, _ = children
        return _part(ast.For(str(variable), low.node, high.node, body.node, _span(children)), children)

    def exit(self, children: Children) -> Subtree:
        return _leaf(ast.Exit(_span(children)), children[0])

    # --- distributions ---

    def laplace(self, children: Children) -> Subtree:
        return _part(ast.Laplace(children[2].node, children[4].node, _span(children)), children)

    def discrete_laplace(self, children: Children) -> Subtree:
        return _part(ast.DiscreteLaplace(children[2].node, children[4].node, _span(children)), children)

    def one_sided(self, children: Children) -> Subtree:
        return _part(ast.OneSided(children[2].node, _span(children)), children)

    def exponential_mechanism(self, children: Children) -> Subtree:
        _, _, rate, _, variable, _, domain, _, score, _ = children
        node = ast.ExponentialMechanism(rate.node, str(variable), domain.node, score.node, _span(children))
        return _part(node, children)

    def choose(self, children: Children) -> Subtree:
        return _part(ast.Choose(_nodes(children), _span(children)), children)

    def arm(self, children: Children) -> Subtree:
        return _group(_nodes(children), children)

    # --- expressions ---

    def binary(self, children: Children) -> Subtree:
        left, operator, right = children
        return _part(ast.Binary(OPERATORS[operator.type], left.node, right.node, _span(children)), children)

    def compare(self, children: Children) -> Subtree:
        left, operator, right = children
        return _part(ast.Compare(COMPARISONS[operator.type], left.node, right.node, _span(children)), children)

    def unary(self, children: Children) -> Subtree:
        operator, operand = children
        return _part(ast.Unary(PREFIXES[operator.type], operand.node, _span(children)), children)

    def power(self, children: Children) -> Subtree:
        left, _, exponent = children
        node = exponent.node
        if not (isinstance(node, ast.Number) and node.value.denominator == 1 and node.value <= MAX_POWER):
            raise Problem(
                SyntaxCode.BAD_POWER,
                _span(children[2:]),
                "the exponent of `^` must be a natural number",
                f"not one of 0, 1, ..., {MAX_POWER}",
                ("a power of e is written with `exp`, for example `exp(-eps/2)`",),
            )
        return _part(ast.Binary(ast.BinaryOp.POWER, left.node, node, _span(children)), children)

    def number(self, children: Children) -> Subtree:
        token = children[0]
        text = str(token)
        mantissa, _, exponent = text.lower().partition("e")
        if len(mantissa) > MAX_DIGITS or len(exponent) > 9 or abs(int(exponent or 0)) > MAX_DIGITS:
            raise Problem(
                SyntaxCode.NUMBER_TOO_LARGE,
                _span(children),
                "this number is too large to be meant",
                f"more than {MAX_DIGITS} digits, or an exponent beyond {MAX_DIGITS}",
                (f"numbers have at most {MAX_DIGITS} digits and an exponent between -{MAX_DIGITS} and {MAX_DIGITS}",),
            )
        value = Fraction(int(text)) if text.isdigit() else Fraction(text)
        return _leaf(ast.Number(value, text, _span(children)), token)

    def name(self, children: Children) -> Subtree:
        text = str(children[0])
        return _leaf(ast.Name("inf" if text == "∞" else text, _span(children)), children[0])

    def element(self, children: Children) -> Subtree:
        return _part(ast.Element(str(children[0]), children[2].node, _span(children)), children)

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
        return _part(ast.Call(function, arguments, _span(children)), children)

    def eps(self, children: Children) -> Subtree:
        return _leaf(ast.Eps(_span(children)), children[0])

    def truth(self, children: Children) -> Subtree:
        return _leaf(ast.Truth(children[0].type == "TRUE", _span(children)), children[0])

    def parentheses(self, children: Children) -> Subtree:
        return _group(children[1].node, children)


def _closed_span(children: Children) -> Span:
    """From the first child to the closing brace, without the `;` that may follow it."""
    last = children[-2] if children[-1].type == "SEMICOLON" else children[-1]
    return Span(children[0].start_pos, last.end_pos)


def _unknown_function(name: str, span: Span) -> Problem:
    foreign = FOREIGN_DISTRIBUTIONS.get(name.lower())
    if foreign is not None or (name[0].isupper() and not get_close_matches(name, DISTRIBUTIONS, 1)):
        return Problem(
            SyntaxCode.BAD_CALL,
            span,
            f"there is no distribution `{name}`",
            "unknown distribution",
            (*([foreign] if foreign else []), KNOWN_DISTRIBUTIONS),
        )
    candidates = (*FUNCTIONS, *DISTRIBUTIONS)
    folded = {candidate.lower(): candidate for candidate in candidates}
    nearest = get_close_matches(name.lower(), folded, 1)
    notes = ["the functions are `min`, `max`, `abs` and `exp`; an array element is written `q[i]`"]
    if name.lower().startswith("lap"):
        nearest = ["lap"]
    if name == "ln":
        nearest = ["log"]
    if nearest:
        notes.insert(0, f"did you mean `{folded[nearest[0]]}`?")
    return Problem(SyntaxCode.BAD_CALL, span, f"there is no function `{name}`", "unknown function", tuple(notes))

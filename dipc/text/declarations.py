"""The declarations of a program: domains, constants, variables, and the size of the unrolled program.

Also the names, numbers and constant expressions in options and claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar, assert_never

from dipc.frozen import frozen
from dipc.text import ast
from dipc.text.ast import BaseType, mentions, walk
from dipc.text.core import (
    Const,
    DomType,
    ProgramCode,
    Slot,
    Type,
    Value,
    ValueTooLarge,
    bounded,
    show_value,
)
from dipc.text.diagnostic import Diagnostic, SourceText, Span, did_you_mean
from dipc.text.expressions import Elaborator, Fitting
from dipc.text.scope import (
    FUNCTIONS,
    DeclaredConstant,
    DeclaredDomain,
    DeclaredVariable,
    EnumeratedValue,
    Findings,
    Scope,
    locate,
    may_declare,
    word_for,
)

# --- The size of a program after its loops are unrolled ---------------------------------------------------------------

#: The most statements after every `for` is unrolled. Each score of an `Exp` counts as one, and each value of a `choose`
#: as STATEMENTS_A_WEIGHT, as its weight is a closed form.
MAX_UNROLLED = 50_000
STATEMENTS_A_WEIGHT = 3


class StatementBudget:
    """A counter of statements, from MAX_UNROLLED down."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._left = MAX_UNROLLED
        #: False after something did not fit: the lowered instructions are then not the whole program.
        self.complete = True

    def spend(self, count: int) -> None:
        """Subtract `count` statements, which have been translated."""
        self._left -= count

    def fits(self, count: int, span: Span, what: str) -> bool:
        """Return True if `count` more statements are allowed.

        The first call with too many statements reports the mistake at `span`, with `what` ("1000 iterations") next to
        the caret. That call and all later calls return False, even for a smaller `count`.
        """
        if self.complete and count > self._left:
            self.complete = False
            self._findings.report(
                ProgramCode.TOO_MANY_STATEMENTS,
                span,
                f"with its loops unrolled the program has more than {MAX_UNROLLED} statements",
                label=what,
                notes=("choose a smaller bound, or use a `while` over DOM variables",),
            )
        return self.complete


# --- Finite domains: their values, and the names that become values ---------------------------------------------------

#: The most values of one domain.
MAX_DOMAIN = 100_000


def declare_domains(declarations: Sequence[ast.Declaration], elaborator: Elaborator) -> None:
    """Declare every named domain of `declarations` to `elaborator`, in order.

    The declaration of a domain can use the names of domains before it.
    """
    scope, findings = elaborator.scope, elaborator.findings
    named = [declaration for declaration in declarations if isinstance(declaration, ast.DomainDecl)]
    spans = [locate(findings, declaration.name, declaration.span) for declaration in named]
    for declaration, span in zip(named, spans, strict=True):
        scope.domains.setdefault(declaration.name, DeclaredDomain(declaration.name, None, span, known=False))
    for declaration, span in zip(named, spans, strict=True):
        first = scope.domains[declaration.name]
        if first.known:
            findings.report(
                ProgramCode.DUPLICATE,
                span,
                f"the domain `{declaration.name}` is declared twice",
                notes=("rename one of the two",),
                secondary=((first.span, "first declared here"),),
            )
            continue
        type_ = resolve_domain(declaration.domain, elaborator)
        if type_ is not None:
            type_ = DomType(type_.values, declaration.name)
        scope.domains[declaration.name] = DeclaredDomain(declaration.name, type_, span)


def resolve_domain(expr: ast.DomainExpr, elaborator: Elaborator) -> DomType | None:
    """Return the domain that `expr` declares, never empty and without duplicates.

    The result is None after `elaborator` has reported an error.
    """
    match expr:
        case ast.Range():
            return _range(expr, elaborator)
        case ast.ListedDomain():
            return _listed(expr, elaborator)
        case ast.NamedDomain():
            return _named(expr, elaborator)
        case _:
            assert_never(expr)


def _range(expr: ast.Range, elaborator: Elaborator) -> DomType | None:
    low = elaborator.integer(expr.low, "the lower end of a domain")
    high = elaborator.integer(expr.high, "the upper end of a domain")
    if low is None or high is None:
        return None
    if high < low:
        elaborator.report_value(
            ProgramCode.BAD_DOMAIN,
            expr.span,
            f"the domain {{{low}..{high}}} is empty",
            notes=("the lower end comes first: `{0..m}`",),
        )
        return None
    if high - low >= MAX_DOMAIN:
        _too_large(expr.span, high - low + 1, elaborator)
        return None
    return DomType(tuple(Fraction(value) for value in range(low, high + 1)))


def _listed(expr: ast.ListedDomain, elaborator: Elaborator) -> DomType | None:
    if len(expr.values) > MAX_DOMAIN:
        _too_large(expr.span, len(expr.values), elaborator)
        return None
    truths = [written for written in expr.values if isinstance(written, ast.Truth)]
    if truths:
        notes = ("declare the variable as `bool`",)
        message = "a domain cannot hold truth values: their type is bool"
        elaborator.findings.report(ProgramCode.BAD_DOMAIN, truths[0].span, message, notes=notes)
        return None
    before = len(elaborator.findings)
    values: dict[Value, ast.Expr] = {}
    for written in expr.values:
        value = _listed_value(written, elaborator)
        if value is None:
            continue
        first = next(iter(values), value)
        if isinstance(first, str) != isinstance(value, str):
            elaborator.findings.report(
                ProgramCode.BAD_DOMAIN,
                written.span,
                f"a domain holds either names or numbers, but {_described(written, value, elaborator)}",
                notes=("declare two domains, or rename the value that has the name of a constant",),
                secondary=((values[first].span, _described(values[first], first, elaborator)),),
            )
            return None
        if value in values:
            elaborator.findings.report(
                ProgramCode.BAD_DOMAIN,
                written.span,
                f"the value {show_value(value)} is listed twice",
                notes=("leave one of the two out",),
                secondary=((values[value].span, "first listed here"),),
            )
        values.setdefault(value, written)
    return DomType(tuple(values)) if values and len(elaborator.findings) == before else None


def _listed_value(written: ast.Expr, elaborator: Elaborator) -> Value | None:
    scope = elaborator.scope
    if not isinstance(written, ast.Name) or written.name in elaborator.locals:
        return elaborator.constant(written, "a domain value")
    known = scope.symbols.get(written.name)
    if isinstance(known, DeclaredConstant):
        return elaborator.constant(written, "a domain value")
    if isinstance(known, EnumeratedValue):
        return written.name
    if not may_declare(scope, elaborator.findings, written.name, written.span, "a domain value"):
        return None
    scope.symbols[written.name] = EnumeratedValue(written.name, written.span)
    return written.name


def _described(written: ast.Expr, value: Value, elaborator: Elaborator) -> str:
    snippet = elaborator.findings.snippet(written.span)
    if isinstance(value, str):
        return f"`{snippet}` is a name"
    return f"`{snippet}` is " + ("a number" if snippet == show_value(value) else f"the number {show_value(value)}")


def _named(expr: ast.NamedDomain, elaborator: Elaborator) -> DomType | None:
    domain = elaborator.scope.domains.get(expr.name)
    if domain is None:
        names = [*elaborator.scope.domains, "real", "bool", "int"]
        notes = did_you_mean(expr.name, names) or [f"declare it: `domain {expr.name} = {{low, high}};`"]
        message = f"there is no domain `{expr.name}`"
        elaborator.findings.report(
            ProgramCode.UNKNOWN_NAME, expr.span, message, notes=notes, once=("domain", expr.name)
        )
        return None
    if not domain.known:
        elaborator.findings.report(
            ProgramCode.USED_TOO_EARLY,
            expr.span,
            f"the domain `{expr.name}` is used before it is declared",
            notes=("move its declaration up",),
            secondary=((domain.span, "declared here"),),
        )
    return domain.type


def _too_large(span: Span, size: int, elaborator: Elaborator) -> None:
    message = f"a domain has at most {MAX_DOMAIN} values, but this one has {size}"
    elaborator.findings.report(ProgramCode.TOO_LARGE, span, message, notes=("choose fewer: every value is visited",))


# --- The names that a program declares, and the values of its constants, some of them overridden ----------------------


def register(declarations: Sequence[ast.Declaration], scope: Scope, findings: Findings) -> None:
    """Add the name of every constant and variable of `declarations` to `scope`, in order, without its value or type.

    A name that cannot be declared is reported to `findings` and left out. If two declarations have the same name, the
    first is kept.
    """
    for declaration in declarations:
        match declaration:
            case ast.ConstDecl(bindings):
                for name, expr in bindings:
                    span = _binding_span(findings, declaration, name, expr)
                    if may_declare(scope, findings, name, span, "a constant"):
                        scope.symbols[name] = DeclaredConstant(name, None, span, known=False)
            case ast.VariableDecl(role, declarators):
                for declarator in declarators:
                    if may_declare(scope, findings, declarator.name, declarator.span, "a variable"):
                        variable = DeclaredVariable(declarator.name, role, None, (), None, declarator.span, known=False)
                        scope.symbols[declarator.name] = variable


def compute_constants(
    declarations: Sequence[ast.Declaration], overrides: Mapping[str, Fraction], elaborator: Elaborator
) -> None:
    """Give every registered constant of `declarations` its value, in the order of the text.

    `overrides` has values, by name, that replace those of the text. `elaborator` evaluates expressions and reports
    mistakes.
    """
    scope = elaborator.scope
    for declaration in declarations:
        if not isinstance(declaration, ast.ConstDecl):
            continue
        for name, expr in declaration.bindings:
            symbol = scope.symbols.get(name)
            span = _binding_span(elaborator.findings, declaration, name, expr)
            if not isinstance(symbol, DeclaredConstant) or symbol.span != span:
                continue
            value = overrides.get(name)
            if value is None:
                value = elaborator.constant(expr, f"the value of `{name}`")
            elif not _small(value):
                message = f"the value given for `{name}` has too many digits"
                notes = ("numbers of more than about 3000 digits are refused",)
                elaborator.findings.report(ProgramCode.TOO_LARGE, None, message, notes=notes)
                value = None
            scope.symbols[name] = DeclaredConstant(name, value, span)
    _refuse_unknown(overrides, scope, elaborator.findings)


def computed_from(declarations: Sequence[ast.Declaration], given: Mapping[str, Fraction], name: str) -> tuple[str, ...]:
    """Return the constants of `declarations`, except those `given`, whose values depend on the constant `name`."""
    result: list[str] = []
    for declaration in declarations:
        if isinstance(declaration, ast.ConstDecl):
            for other, value in declaration.bindings:
                if other != name and other not in given and any(mentions(value, known) for known in (name, *result)):
                    result.append(other)
    return tuple(result)


def _small(value: Fraction) -> bool:
    try:
        bounded(value)
    except ValueTooLarge:
        return False
    return True


def _refuse_unknown(overrides: Mapping[str, Fraction], scope: Scope, findings: Findings) -> None:
    constants = [symbol.name for symbol in scope.symbols.values() if isinstance(symbol, DeclaredConstant)]
    known = f"the constants are {', '.join(f'`{name}`' for name in constants)}"
    for name in overrides:
        if name in constants:
            continue
        if isinstance(scope.symbols.get(name), DeclaredVariable):
            message = f"`{name}` is a variable, and only constants can be set from outside"
        else:
            message = f"the program has no constant `{name}`"
        notes = (*did_you_mean(name, constants), known if constants else "the program declares no constants")
        findings.report(ProgramCode.UNKNOWN_CONSTANT, None, message, notes=notes)


def _binding_span(findings: Findings, declaration: ast.ConstDecl, name: str, expr: ast.Expr) -> Span:
    before = Span(declaration.span.start, max(declaration.span.start, expr.span.start))
    return locate(findings, name, before, last=True)


# --- Declared variables: their types, the slots of arrays, initial values ---------------------------------------------

#: The most scalars and array elements of one program, taken together.
MAX_SLOTS = 100_000


def declare_variables(declarations: Sequence[ast.Declaration], elaborator: Elaborator, fitting: Fitting) -> None:
    """Give every registered variable of `declarations` its type and its slots, arrays by increasing index.

    `elaborator` evaluates types and initial values, and `fitting` checks that the values suit the types.
    """
    for declaration in declarations:
        if isinstance(declaration, ast.VariableDecl):
            written = declaration.type
            type_ = written.base if isinstance(written, ast.BaseTypeExpr) else resolve_domain(written, elaborator)
            initial = _initial(declaration, type_, elaborator, fitting)
            for declarator in declaration.declarators:
                known = elaborator.scope.symbols.get(declarator.name)
                if isinstance(known, DeclaredVariable) and known.span == declarator.span:
                    _declare(declaration.role, declarator, type_, initial, elaborator)


def _declare(
    role: ast.Role, declarator: ast.Declarator, type_: Type | None, initial: Value | None, elaborator: Elaborator
) -> None:
    scope, name, span = elaborator.scope, declarator.name, declarator.span
    bounds = _bounds(declarator, elaborator)
    array = declarator.low is not None
    if type_ is None or bounds is None:
        scope.symbols[name] = DeclaredVariable(name, role, None, (), 0 if array else None, span)
        return
    low, high = bounds
    first = len(scope.slots)
    if first + high - low + 1 > MAX_SLOTS:
        message = f"a program has at most {MAX_SLOTS} scalars and array elements"
        elaborator.findings.report(ProgramCode.TOO_LARGE, span, message, notes=("declare shorter arrays",))
        scope.symbols[name] = DeclaredVariable(name, role, None, (), 0 if array else None, span)
        return
    for index in range(low, high + 1):
        text = f"{name}[{index}]" if array else name
        scope.slots.append(Slot(len(scope.slots), text, role, type_, initial, span))
    slots = tuple(range(first, len(scope.slots)))
    scope.symbols[name] = DeclaredVariable(name, role, type_, slots, low if array else None, span)


def _bounds(declarator: ast.Declarator, elaborator: Elaborator) -> tuple[int, int] | None:
    if declarator.low is None or declarator.high is None:
        return 0, 0
    low = elaborator.integer(declarator.low, "an array bound")
    high = elaborator.integer(declarator.high, "an array bound")
    if low is None or high is None:
        return None
    if high < low:
        elaborator.findings.report(
            ProgramCode.OUTSIDE_ARRAY,
            declarator.span,
            f"the array `{declarator.name}` has no element: its indices would go from {low} to {high}",
            notes=("an array has at least one element",),
        )
        return None
    return low, high


def _initial(
    declaration: ast.VariableDecl, type_: Type | None, elaborator: Elaborator, fitting: Fitting
) -> Value | None:
    expr = declaration.initial
    if expr is None:
        return None
    name = declaration.declarators[0].name
    if declaration.role is ast.Role.INPUT:
        elaborator.findings.report(
            ProgramCode.INPUT_INITIALIZED,
            expr.span,
            f"the input `{name}` cannot have an initial value",
            notes=("inputs get their values from the table or from --inputs",),
        )
        return None
    match type_:
        case None:
            return None
        case BaseType.BOOL | DomType():
            value = fitting.concrete(type_, elaborator.typed(expr), expr, name)
            if isinstance(value, Const):
                return value.value
            if value is not None:
                _not_constant(expr.span, elaborator)
            return None
        case BaseType.INT | BaseType.REAL:
            linear = fitting.affine(type_, elaborator.typed(expr), expr, name)
            if linear is not None and not linear.terms and isinstance(linear.constant, Const):
                return linear.constant.value
            if linear is not None:
                _not_constant(expr.span, elaborator)
            return None
        case _:
            assert_never(type_)


def _not_constant(span: Span, elaborator: Elaborator) -> None:
    notes = ("assign it in the first statement instead",)
    elaborator.findings.report(ProgramCode.NOT_CONSTANT, span, "an initial value must be a constant", notes=notes)


# --- The names in a claim: eps, alpha, gamma, dd, inf, the program's constants, and a few functions -------------------

#: The functions of a claim; a program can use the name `log` for a declaration of its own.
_FUNCTIONS = FUNCTIONS | {"log", "sqrt", "erfc"}

#: The names allowed in each field, besides eps and constants.
_FIELDS: dict[str, frozenset[str]] = {
    "alpha": frozenset({"dd", "inf", "gamma"}),
    "beta": frozenset({"dd", "alpha", "gamma"}),
    "gamma": frozenset({"dd", "inf", "alpha", "free"}),
    "error": frozenset({"dd", "alpha"}),
    "eps": frozenset(),
    "inputs": frozenset(),
}


_Block = TypeVar("_Block", ast.ClaimDecl, ast.IdealDecl, ast.MetricDecl)

#: For each kind of block: the code for a second one, the name of the block, and the advice.
_ONE_BLOCK: Mapping[type[Any], tuple[ProgramCode, str, str]] = {
    ast.ClaimDecl: (ProgramCode.BAD_CLAIM, "claim", "put all fields into one block"),
    ast.IdealDecl: (ProgramCode.BAD_IDEAL, "ideal", "leave all but one out"),
    ast.MetricDecl: (ProgramCode.BAD_METRIC, "metric", "put all fields into one block"),
}


def blocks(declarations: Sequence[ast.Declaration], kind: type[_Block], findings: Findings) -> Iterator[_Block]:
    """Yield the declarations of the class `kind` among `declarations`, a class such as `ClaimDecl`.

    A program has at most one declaration of this class, so each further one is reported to `findings`.
    """
    all_blocks = [declaration for declaration in declarations if isinstance(declaration, kind)]
    code, word, note = _ONE_BLOCK[kind]
    for again in all_blocks[1:]:
        secondary = ((all_blocks[0].span, f"the first {word}"),)
        findings.report(code, again.span, f"a program has one {word}", notes=(note,), secondary=secondary)
    return iter(all_blocks)


def check_claims(declarations: Sequence[ast.Declaration], elaborator: Elaborator) -> ast.ClaimDecl | None:
    """Return the claim block of the program in `declarations`, or None if there is none.

    The fields of the block, and the names in them, are checked first; `elaborator` reports mistakes. If there are
    several blocks, the first is returned, and the others are reported.
    """
    claims = list(blocks(declarations, ast.ClaimDecl, elaborator.findings))
    for claim in claims:
        _check(claim, elaborator)
    return claims[0] if claims else None


def _check(claim: ast.ClaimDecl, elaborator: Elaborator) -> None:
    seen: dict[str, ast.ClaimField] = {}
    for field in claim.fields:
        if field.name in seen:
            elaborator.findings.report(
                ProgramCode.BAD_CLAIM,
                field.span,
                f"the field `{field.name}` is given twice",
                notes=("leave one of the two out",),
                secondary=((seen[field.name].span, "first given here"),),
            )
        elif isinstance(field.value, ast.ClaimedInputs):
            pass  # these are read when they are used
        elif isinstance(field.value, tuple):
            for interval in field.value:
                for end in (interval.low, *(() if interval.high in (None, interval.low) else (interval.high,))):
                    if any(isinstance(node, ast.Call) and node.function in _IN_ENDS for node in walk(end)):
                        _check_names(end, "eps", elaborator)
                    else:
                        elaborator.constant(end, "the end of an interval of eps")
        else:
            _check_names(field.value, field.name, elaborator)
        seen.setdefault(field.name, field)
    if _uses(seen.get("alpha"), "gamma") and _uses(seen.get("gamma"), "alpha"):
        span = max(seen["alpha"].span, seen["gamma"].span, key=lambda span: span.start)
        notes = ("define one of the two without the other",)
        elaborator.findings.report(
            ProgramCode.BAD_CLAIM, span, "alpha and gamma are defined by each other", notes=notes
        )


#: The functions of constants that may stand in the ends of an interval of eps.
_IN_ENDS = ("log", "sqrt", "exp")


def _check_names(expr: ast.Expr, field: str, elaborator: Elaborator) -> None:
    allowed = _FIELDS[field]
    bound = {node.variable for node in walk(expr) if isinstance(node, ast.Ranged)}
    for node in walk(expr):
        match node:
            case ast.Name(name) if name in bound:
                pass
            case ast.Name(name, span):
                _check_name(name, node, allowed, field, elaborator)
            case ast.Element(name, _, span) | ast.Call(name, _, span) if name not in _FUNCTIONS:
                message = f"`{elaborator.findings.snippet(span)}` is not allowed in a claim"
                elaborator.findings.report(ProgramCode.BAD_CLAIM, span, message, notes=(_made_of(allowed),))
            case ast.Drawn():
                elaborator.typed(node)
            case ast.Compare(span=span) | ast.Truth(span=span):
                message = f"`{field}` is a number, and this is a condition"
                elaborator.findings.report(ProgramCode.BAD_CLAIM, span, message, notes=(_made_of(allowed),))


def _check_name(name: str, expr: ast.Name, allowed: frozenset[str], field: str, elaborator: Elaborator) -> None:
    if name in allowed:
        return
    symbol = elaborator.scope.symbols.get(name)
    if isinstance(symbol, DeclaredConstant):
        return
    if name == field:
        message = f"`{name}` is defined by itself"
        if "free" in allowed:
            note = f"write `{name}: free` for a claim about every {name}, or `{name}: alpha` for the distance alpha"
            if elaborator.findings.source.tree is not None:
                note = (
                    f'write `{name}="free"` for a claim about every {name}, or `{name}="alpha"` for the distance alpha'
                )
            elaborator.findings.report(ProgramCode.BAD_CLAIM, expr.span, message, notes=(note,))
            return
    elif symbol is not None:
        message = f"`{name}` is {word_for(symbol)} and is not allowed in a claim"
    elif name in _FIELDS or name in ("dd", "inf"):
        message = f"`{name}` is not allowed in `{field}`"
    else:
        notes = (*did_you_mean(name, [*elaborator.scope.constants(), *allowed]), _made_of(allowed))
        elaborator.findings.report(
            ProgramCode.UNKNOWN_NAME, expr.span, f"`{name}` is not declared", notes=notes, once=name
        )
        return
    elaborator.findings.report(ProgramCode.BAD_CLAIM, expr.span, message, notes=(_made_of(allowed),))


def _made_of(allowed: frozenset[str]) -> str:
    names = ", ".join(["eps", *sorted(allowed), "the program's constants", "exp, log, sqrt, erfc, min, max, abs"])
    return f"it may be made of {names}"


def _uses(field: ast.ClaimField | None, name: str) -> bool:
    if field is None or isinstance(field.value, tuple | ast.ClaimedInputs):
        return False
    return mentions(field.value, name)


# --- Numbers in options: expressions without names other than constants -----------------------------------------------

#: The most values of one range.
MOST_VALUES = 1_000_000

#: The most bits of a numerator or denominator, as many as a written number can have.
_MOST_BITS = 3400

_EXAMPLE = "write an exact number such as -1, 1/3 or 0.25"


class BadValue(Exception):
    """Raised if a value in an option is wrong.

    The message says what is wrong, and `span` where.
    """

    def __init__(self, span: Span, message: str, *notes: str) -> None:
        super().__init__(message)
        self.span = span
        self.message = message
        self.notes = notes

    def located(self, code: str, source: SourceText) -> Diagnostic:
        """Return the error as a diagnostic with this `code`, which points to its place in `source`."""
        return Diagnostic(code, self.message, source.excerpt(self.span), notes=self.notes)


@frozen
class NumberReader:
    """A reader of numbers in the text of `source`, such as the values in an option.

    The text can use `constants`, by name. `others` are further names that an error message may suggest in place of a
    mistyped name. `example` is the last note of each error: how to write such a value.
    """

    source: SourceText
    constants: Mapping[str, Fraction]
    others: Iterable[str] = ()
    example: str = _EXAMPLE

    def number(self, tree: ast.Values) -> Fraction:
        """Return the exact value of `tree`; raise BadValue if it has none."""
        value = self._value(tree)
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
            raise self._bad(tree, "has more than 1000 digits")
        return value

    def in_range(self, tree: ast.Range) -> Iterator[Fraction]:
        """Return the numbers of the range `tree`.

        Raises BadValue for a range without numbers or with too many, and for ends or a step that are not allowed.
        """
        low, high = self.number(tree.low), self.number(tree.high)
        if low > high:
            message = f"the range is empty: {low} is more than {high}"
            raise BadValue(tree.span, message, "write the smaller end first")
        step = Fraction(1) if tree.step is None else self.number(tree.step)
        if step <= 0:
            raise BadValue(
                tree.span, f"the step of a range must be positive, not {step}", "write for example `0..10 by 2`"
            )
        if tree.step is None and (low.denominator != 1 or high.denominator != 1):
            note = "a range holds integers; give a step, `0..2 by 1/4`, or list other numbers: `{0, 1/2, 1}`"
            raise BadValue(tree.span, "the ends of a range must be integers", note)
        count = int((high - low) / step) + 1
        if count > MOST_VALUES:
            raise BadValue(tree.span, f"the range has {count} values", f"at most {MOST_VALUES} can be enumerated")
        return (low + index * step for index in range(count))

    def numbers(self, tree: ast.Values) -> Iterator[Fraction]:
        """Yield the values of `tree`: one number, a range or a list, in the order of the text.

        Raises BadValue for a part that is not an exact number, or a range with too many numbers or with none.
        """
        match tree:
            case ast.ListedValues(values=values):
                for value in values:
                    yield from self.numbers(value)
            case ast.Range():
                yield from self.in_range(tree)
            case _:
                yield self.number(tree)

    def text(self, tree: ast.Values) -> str:
        return self.source.text[tree.span.start : tree.span.end]

    def _value(self, tree: ast.Values) -> Fraction:
        match tree:
            case ast.Number(value=value):
                return value
            case ast.Name(name=name) if name in self.constants:
                return self.constants[name]
            case ast.Unary(op=ast.UnaryOp.NEGATE, operand=operand):
                return -self.number(operand)
            case ast.Binary(op=op, left=left, right=right) if op in ast.ARITHMETIC:
                first, second = self.number(left), self.number(right)
                if op is ast.BinaryOp.DIVIDE and not second:
                    raise self._bad(tree, "divides by zero")
                return Fraction(ast.ARITHMETIC[op](first, second))
            case ast.Name(name=name):
                notes = did_you_mean(name, [*self.constants, *self.others])
                raise self._bad(tree, "is not a rational number", *notes)
            case ast.Binary(op=op, right=right, left=left) if op is ast.BinaryOp.POWER:
                base, exponent = self.number(left), self.number(right)
                if exponent.denominator != 1:
                    raise self._bad(right, "is not an integer")
                if exponent < 0:
                    if not base:
                        raise self._bad(tree, "divides by zero")
                    base, exponent = 1 / base, -exponent
                if max(base.numerator.bit_length(), base.denominator.bit_length()) * exponent > 2 * _MOST_BITS:
                    raise self._bad(tree, "has more than 1000 digits")
                return base ** int(exponent)
        raise self._bad(tree, "is not a rational number")

    def _bad(self, tree: ast.Values, reason: str, *notes: str) -> BadValue:
        text = self.text(tree)
        written = text if len(text) <= 40 else text[:37] + "..."
        return BadValue(tree.span, f"`{written}` {reason}", *notes, self.example)

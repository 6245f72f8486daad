"""The names in a claim: eps, alpha, gamma, dd, inf, the program's constants, and a few functions."""

from __future__ import annotations

from collections.abc import Sequence

from dipc.lang import ast
from dipc.lang.codes import Code
from dipc.lang.expressions import Elaborator
from dipc.lang.scope import FUNCTIONS, Constant, suggest, word_for
from dipc.lang.tree import mentions, walk

#: The functions of a claim; a program may give the name `log` to something of its own.
_FUNCTIONS = FUNCTIONS | {"log"}

#: What may stand in each field, besides eps and constants.
_FIELDS: dict[str, frozenset[str]] = {
    "alpha": frozenset({"dd", "inf", "gamma"}),
    "beta": frozenset({"dd", "alpha", "gamma"}),
    "gamma": frozenset({"dd", "inf", "alpha", "free"}),
    "eps": frozenset(),
    "inputs": frozenset(),
}


def check_claims(declarations: Sequence[ast.Declaration], elaborator: Elaborator) -> ast.ClaimDecl | None:
    """The claim of the program, its fields and the names in them checked."""
    claims = [declaration for declaration in declarations if isinstance(declaration, ast.ClaimDecl)]
    for again in claims[1:]:
        elaborator.findings.report(
            Code.BAD_CLAIM,
            again.span,
            "a program has one claim",
            notes=("put all fields into one block",),
            secondary=((claims[0].span, "the first claim"),),
        )
    for claim in claims:
        _check(claim, elaborator)
    return claims[0] if claims else None


def _check(claim: ast.ClaimDecl, elaborator: Elaborator) -> None:
    seen: dict[str, ast.ClaimField] = {}
    for field in claim.fields:
        known = "the fields are alpha, beta, gamma, eps and inputs"
        if field.name not in _FIELDS:
            message = f"a claim has no field `{field.name}`"
            notes = (*suggest(field.name, sorted(_FIELDS)), known)
            elaborator.findings.report(Code.BAD_CLAIM, field.span, message, notes=notes)
        elif field.name in seen:
            elaborator.findings.report(
                Code.BAD_CLAIM,
                field.span,
                f"the field `{field.name}` is given twice",
                notes=("leave one of the two out",),
                secondary=((seen[field.name].span, "first given here"),),
            )
        elif isinstance(field.value, ast.ClaimedInputs):
            pass  # they are read when they are asked about
        elif isinstance(field.value, tuple) != (field.name == "eps"):
            message = f"the field `{field.name}` takes {'intervals' if field.name == 'eps' else 'an expression'}"
            notes = ("write `eps: (0, inf);`" if field.name == "eps" else f"write `{field.name}: 0;`",)
            elaborator.findings.report(Code.BAD_CLAIM, field.span, message, notes=notes)
        elif isinstance(field.value, tuple):
            for interval in field.value:
                elaborator.constant(interval.low, "the end of an interval of eps")
                if interval.high is not None and interval.high is not interval.low:
                    elaborator.constant(interval.high, "the end of an interval of eps")
        else:
            _check_names(field.value, field.name, elaborator)
        seen.setdefault(field.name, field)
    _check_circle(seen, elaborator)


def _check_names(expr: ast.Expr, field: str, elaborator: Elaborator) -> None:
    allowed = _FIELDS[field]
    for part in walk(expr):
        match part:
            case ast.Name(name, span):
                _check_name(name, part, allowed, field, elaborator)
            case ast.Element(name, _, span) | ast.Call(name, _, span) if name not in _FUNCTIONS:
                message = f"`{elaborator.findings.snippet(span)}` cannot stand in a claim"
                elaborator.findings.report(Code.BAD_CLAIM, span, message, notes=(_made_of(allowed),))
            case ast.Compare(span=span) | ast.Truth(span=span):
                message = f"`{field}` is a number, and this is a condition"
                elaborator.findings.report(Code.BAD_CLAIM, span, message, notes=(_made_of(allowed),))


def _check_name(name: str, expr: ast.Name, allowed: frozenset[str], field: str, elaborator: Elaborator) -> None:
    if name in allowed:
        return
    symbol = elaborator.scope.symbols.get(name)
    if isinstance(symbol, Constant):
        return
    if name == field:
        message = f"`{name}` is defined by itself"
    elif symbol is not None:
        message = f"`{name}` is {word_for(symbol)} and cannot stand in a claim"
    elif name in _FIELDS or name in ("dd", "inf"):
        message = f"`{name}` cannot stand in `{field}`"
    else:
        notes = (*suggest(name, [*elaborator.scope.constants(), *allowed]), _made_of(allowed))
        elaborator.findings.report(Code.UNKNOWN_NAME, expr.span, f"`{name}` is not declared", notes=notes, once=name)
        return
    elaborator.findings.report(Code.BAD_CLAIM, expr.span, message, notes=(_made_of(allowed),))


def _made_of(allowed: frozenset[str]) -> str:
    names = ", ".join(["eps", *sorted(allowed), "the program's constants", "exp, log, min, max, abs"])
    return f"it may be made of {names}"


def _check_circle(fields: dict[str, ast.ClaimField], elaborator: Elaborator) -> None:
    """alpha may be given by gamma or gamma by alpha, not both."""
    if _uses(fields.get("alpha"), "gamma") and _uses(fields.get("gamma"), "alpha"):
        span = max(fields["alpha"].span, fields["gamma"].span, key=lambda span: span.start)
        notes = ("give one of the two without the other",)
        elaborator.findings.report(Code.BAD_CLAIM, span, "alpha and gamma are defined by each other", notes=notes)


def _uses(field: ast.ClaimField | None, name: str) -> bool:
    if field is None or isinstance(field.value, tuple | ast.ClaimedInputs):
        return False
    return mentions(field.value, name)

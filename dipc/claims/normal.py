"""`erfc(...)` and `exp(-c*eps^2)` in a beta: functions of the normal distribution, apart from the rest of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import NoClosedForm
from dipc.algebra.parametric import Parametric, constant_of
from dipc.claims.expression import ClaimExpression, is_normal
from dipc.frozen import frozen
from dipc.sign.normal import NormalBeta, NormalFunction, NormalSum, normal_function
from dipc.sign.piecewise import BetaForm
from dipc.text.ast import GREEK, Binary, BinaryOp, Call, Eps, Expr, Name, Number, Unary, UnaryOp, rewritten, walk
from dipc.text.numbers import NoMonomial, monomial


@frozen
class NormalTerm:
    """`coefficient` times a call of `erfc` or `exp`."""

    coefficient: ClaimExpression
    call: Call


@frozen
class NormalParts:
    """An expression as a sum: what is `plain`, and such terms."""

    expression: ClaimExpression
    plain: ClaimExpression
    terms: tuple[NormalTerm, ...]

    def beta(self, names: Mapping[str, Parametric], value: Callable[[ClaimExpression], BetaForm]) -> BetaForm:
        """The beta, where `value` gives that of a part. Raises DiagnosticError."""
        plain = self._closed(self.plain, value)
        terms: list[tuple[NormalFunction, ExpPoly]] = []
        for term in self.terms:
            weight = self._closed(term.coefficient, value)
            for c, function in self._functions(term.call, names):
                if function is None:
                    plain = plain + weight * c
                else:
                    terms.append((function, weight * c))
        return NormalBeta(NormalSum.of(plain, terms))

    def _closed(self, expression: ClaimExpression, value: Callable[[ClaimExpression], BetaForm]) -> ExpPoly:
        form = value(expression).closed
        if form is None or not isinstance(form.value, ExpPoly):
            raise self.expression.error(
                "E0616",
                "beside erfc and exp(-c*eps^2) beta is a sum of powers and exponentials of eps",
                expression.tree,
                "this has a denominator, min, max or abs",
            )
        return form.value

    def _functions(
        self, call: Call, names: Mapping[str, Parametric]
    ) -> Iterator[tuple[Fraction, NormalFunction | None]]:
        (argument,) = call.arguments

        def constant(part: Expr) -> Fraction:
            value = constant_of(replace(self.expression, tree=part).value(names))
            if value is None:
                raise self.expression.error(
                    "E0617",
                    f"the argument of `{call.function}` has no value here",
                    part,
                    "this is infinite, or no rational",
                    "where dd is infinite `erfc` of a multiple of alpha is 0: give such rows a beta of their own",
                )
            return value

        try:
            scale, power = monomial(argument, constant)
            yield from normal_function(call.function, scale, power)
        except NoMonomial as error:
            raise self.expression.error(
                "E0617", "erfc is taken of a number or of a number times eps", argument, error.reason or ""
            ) from None
        except NoClosedForm as error:
            raise self.expression.error("E0617", error.reason, argument) from None


def normal_parts(expression: ClaimExpression) -> NormalParts | None:
    """The parts of an expression with such calls; None for one without. Raises DiagnosticError where one stands where
    it cannot be taken out."""
    if not has_normal(expression.tree):
        return None
    plain: Expr | None = None
    terms: list[NormalTerm] = []
    for coefficient, call in _summands(expression, expression.tree):
        if call is None:
            plain = coefficient if plain is None else Binary(BinaryOp.ADD, plain, coefficient, expression.tree.span)
        else:
            terms.append(NormalTerm(replace(expression, tree=coefficient), call))
    nothing: Expr = Number(Fraction(0), "0", expression.tree.span)
    return NormalParts(expression, replace(expression, tree=nothing if plain is None else plain), tuple(terms))


def has_normal(tree: object) -> bool:
    """Whether such a call is in a tree of syntax."""
    return any(isinstance(part, Call) and is_normal(part) for part in walk(tree))


def _summands(expression: ClaimExpression, tree: Expr) -> Iterator[tuple[Expr, Call | None]]:
    """(coefficient, call) of the summands; None for what has no such call."""
    if not has_normal(tree):
        yield tree, None
        return
    match tree:
        case Call() if is_normal(tree):
            yield Number(Fraction(1), "1", tree.span), tree
            return
        case Unary(op=UnaryOp.NEGATE, operand=operand):
            for coefficient, call in _summands(expression, operand):
                yield Unary(UnaryOp.NEGATE, coefficient, tree.span), call
            return
        case Binary(op=BinaryOp.ADD | BinaryOp.SUBTRACT as op, left=left, right=right):
            yield from _summands(expression, left)
            for coefficient, call in _summands(expression, right):
                yield (coefficient if op is BinaryOp.ADD else Unary(UnaryOp.NEGATE, coefficient, tree.span)), call
            return
        case Binary(op=BinaryOp.MULTIPLY, left=left, right=right) if not (has_normal(left) and has_normal(right)):
            inner, factor = (left, right) if has_normal(left) else (right, left)
            for coefficient, call in _summands(expression, inner):
                yield Binary(BinaryOp.MULTIPLY, coefficient, factor, tree.span), call
            return
        case Binary(op=BinaryOp.DIVIDE, left=left, right=right) if not has_normal(right):
            for coefficient, call in _summands(expression, left):
                yield Binary(BinaryOp.DIVIDE, coefficient, right, tree.span), call
            return
    raise expression.error(
        "E0616",
        "erfc and exp(-c*eps^2) may stand in sums, with factors that have none of them",
        tree,
        "here they cannot be taken out",
    )


def scales(parts: NormalParts, names: Mapping[str, Parametric]) -> bool:
    """Whether each call is a function of distance·eps, where some `names` are multiples of the only unknown.

    A product c·distance^a·eps^b has the power b of eps where the distance is 1, and a + b where it is eps.
    """
    factors = {name: value for name, value in names.items() if constant_of(value) is None}
    rates: dict[str, Fraction] = {}
    for name, value in factors.items():
        powers = value.powers(*value.unknowns()) if len(value.unknowns()) == 1 else None
        rate = powers[1].constant() if powers is not None and powers.keys() == {1} else None
        if rate is None:
            return False
        rates[name] = rate
    at_one = {**names, **{name: Parametric.number(rate) for name, rate in rates.items()}}

    def constant(part: Expr) -> Fraction:
        value = constant_of(replace(parts.expression, tree=part).value(at_one))
        if value is None:
            raise NoMonomial(part.span, None)
        return value

    def as_eps(part: Expr) -> Expr | None:
        if not isinstance(part, Name) or GREEK.get(part.name, part.name) not in rates:
            return None
        rate = rates[GREEK.get(part.name, part.name)]
        above, below = (Number(Fraction(n), str(n), part.span) for n in rate.as_integer_ratio())
        scaled = Binary(BinaryOp.MULTIPLY, Eps(part.span), above, part.span)
        return Binary(BinaryOp.DIVIDE, scaled, below, part.span)

    for term in parts.terms:
        (argument,) = term.call.arguments
        try:
            factor, power = monomial(argument, constant)
            both = monomial(rewritten(argument, as_eps), constant)
        except NoMonomial:
            return False
        if factor.sign and both != (factor, 2 * power):
            return False
    return True

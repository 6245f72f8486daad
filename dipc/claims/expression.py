"""Evaluate the expressions of alpha, beta and gamma exactly, or raise a diagnostic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, assert_never

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits, NoClosedForm, Undecided
from dipc.algebra.numbers import exact_text, outward
from dipc.algebra.parametric import (
    RESULT_BIT_LIMIT,
    Compound,
    Operator,
    Parametric,
    Selected,
    TooLarge,
    bits,
    constant_of,
    divide,
    exponential,
    negated,
    plus,
    power,
    select,
    times,
    unknowns,
)
from dipc.algebra.reals import ZERO, NotReal, Real
from dipc.frozen import LazyModule, frozen
from dipc.sign.chart import place_text, refined
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm, sign_throughout, zero_of
from dipc.text.ast import (
    GREEK,
    Binary,
    BinaryOp,
    Call,
    Compare,
    Drawn,
    Element,
    Eps,
    Expr,
    Name,
    Number,
    Ranged,
    Truth,
    Unary,
    UnaryOp,
    rewritten,
    walk,
)
from dipc.text.diagnostic import Diagnostic, DiagnosticError, SourceText, did_you_mean, listing
from dipc.text.numbers import FormError, monomial, power_of
from dipc.text.parser import FUNCTIONS, parse_expression
from dipc.text.printer import print_expression
from dipc.text.syntax_errors import MAX_POWER

if TYPE_CHECKING:
    from dipc.sign import normal as normals
else:
    normals = LazyModule("dipc.sign.normal")

# --- Transcendental numbers in a tree, such as log(3) and exp(-2) -----------------------------------------------------

#: The names of numbers that are at least 0 and differ from row to row, unlike constants of a program.
DISTANCES = ("alpha", "gamma", "dd")


def is_transcendental(tree: object) -> bool:
    """Return True if `tree` contains `log`, `sqrt`, a root, or `exp` of a sum with a constant other than 0.

    Functions of the normal distribution do not count, nor does anything in their arguments.
    """
    nothing = Number(Fraction(0), "0")
    outside = rewritten(tree, lambda node: nothing if isinstance(node, Call) and is_normal(node) else None)
    return any(_is_transcendental_node(node) for node in walk(outside))


def is_normal(call: Call) -> bool:
    """Return True if `call` is a function of the normal distribution: `erfc`, or `exp` of an expression with eps^2."""
    return call.function == "erfc" or (call.function == "exp" and _degree(call.arguments[0]) > 1)


def _degree(tree: Expr) -> int:
    """Return the power of eps in the product `tree`; for a sum, the greatest power of a summand."""
    match tree:
        case Eps():
            return 1
        case Unary(operand=operand):
            return _degree(operand)
        case Binary(op=BinaryOp.MULTIPLY, left=left, right=right):
            return _degree(left) + _degree(right)
        case Binary(op=BinaryOp.DIVIDE, left=left, right=right):
            return _degree(left) - _degree(right)
        case Binary(op=BinaryOp.POWER, left=left, right=Number(value=value)):
            return int(_degree(left) * value)
        case Binary(left=left, right=right):
            return max(_degree(left), _degree(right))
    return 0


def _is_transcendental_node(node: object) -> bool:
    """Return True if `node` itself is a logarithm, a root, or `exp` of a sum with a constant other than 0."""
    match node:
        case Call(function="log" | "sqrt"):
            return True
        case Call(function="exp", arguments=(inner,)):
            return any(is_constant(term) and not _is_zero(term) for term in summands(inner))
        case Binary(op=BinaryOp.POWER, right=exponent):
            return any(isinstance(each, Binary) and each.op is BinaryOp.DIVIDE for each in walk(exponent)) or (
                isinstance(exponent, Number) and exponent.value.denominator > 1
            )
    return False


def _is_zero(tree: Expr) -> bool:
    match tree:
        case Number(value=value):
            return not value
        case Unary(op=UnaryOp.NEGATE, operand=operand):
            return _is_zero(operand)
        case Binary(op=BinaryOp.MULTIPLY | BinaryOp.DIVIDE as op, left=left, right=right):
            return _is_zero(left) or (op is BinaryOp.MULTIPLY and _is_zero(right))
    return False


#: The most summands of a product of sums that is multiplied out.
_MOST_SUMMANDS = 100


def summands(tree: Expr) -> Sequence[Expr]:
    """Return expressions whose sum is `tree`, for every value of its names.

    Products of sums are multiplied out into at most _MOST_SUMMANDS terms.
    """
    match tree:
        case Binary(BinaryOp.ADD, left, right):
            return [*summands(left), *summands(right)]
        case Binary(BinaryOp.SUBTRACT, left, right):
            return [*summands(left), *(Unary(UnaryOp.NEGATE, term, term.span) for term in summands(right))]
        case Unary(UnaryOp.NEGATE, operand):
            return [replace(tree, operand=term) for term in summands(operand)]
        case Binary(BinaryOp.MULTIPLY, left, right):
            pairs = list(product(summands(left), summands(right)))
            if 1 < len(pairs) <= _MOST_SUMMANDS:
                return [replace(tree, left=one, right=other) for one, other in pairs]
        case Binary(BinaryOp.DIVIDE, left, _) if len(terms := summands(left)) > 1:
            return [replace(tree, left=term) for term in terms]
        case _:
            pass
    return [tree]


def is_constant(tree: Expr) -> bool:
    """Return True if `tree` contains neither eps, nor alpha, gamma or dd, nor `inf`."""
    return not any(
        isinstance(node, Eps) or (isinstance(node, Name) and GREEK.get(node.name, node.name) in (*DISTANCES, "inf"))
        for node in walk(tree)
    )


def split_exponent(tree: Expr, constant: Callable[[Expr], Fraction]) -> tuple[Real, Expr | None]:
    """Return (c, rest) with `tree` = c + rest, where the real number c is the sum of the constant summands.

    The rest is None if it is 0. `constant` evaluates an expression in which no eps, distance or function occurs; a
    summand for which it raises FormError stays in the rest.
    """
    number, rest = ZERO, None
    for term in summands(tree):
        try:
            if is_constant(term):
                number = number + monomial(term, constant)[0]
                continue
        except FormError:
            pass
        except NotReal:
            return ZERO, tree
        match rest, term:
            case None, _:
                rest = term
            case _, Unary(op=UnaryOp.NEGATE, operand=operand):
                rest = Binary(BinaryOp.SUBTRACT, rest, operand, tree.span)
            case _:
                rest = Binary(BinaryOp.ADD, rest, term, tree.span)
    return number, rest


# --- Claim expressions (alpha, beta, gamma) evaluated exactly, with a diagnostic for all that cannot be ---------------
#
# Names are numbers, or are left open as unknowns. There is one evaluation; its value tells what the unknowns do.

#: The name of an interval of eps in messages; its ends cannot mention eps itself.
AN_INTERVAL = "an interval"


_EVERYWHERE = (Interval.POSITIVE,)

_EPS = Parametric.from_exppoly(ExpPoly.term(1, 1, 0))


@frozen
class ClaimExpression:
    """An expression of a claim, as `tree`, with the text it was read from.

    `what` is the name of the expression in messages, such as "beta". `written` is the tree shown to the user if `tree`
    has rationals in place of irrational numbers, else None.
    """

    what: str
    source: SourceText
    tree: Expr
    written: Expr | None = None

    @staticmethod
    def parse(what: str, text: str, origin: str) -> ClaimExpression:
        """Parse `text`, the expression of `what` (alpha, beta, ...); raise DiagnosticError if it is not an expression.

        Messages show `origin` as the file's name.
        """
        source = SourceText(origin, text)
        return ClaimExpression(what, source, parse_expression(source))

    def __str__(self) -> str:
        return print_expression(self.tree)

    def evaluate(self, names: Mapping[str, Parametric]) -> Parametric:
        """Return the value as one closed form for every eps > 0; raise DiagnosticError if there is none.

        `names` has the values of all names in the expression.
        """
        value = self.value(names)
        if isinstance(value, Parametric):
            return value
        note = "only beta and delta may contain min, max and abs"
        raise self.error("E0491", f"{self.what} is not one closed form for every eps", self.tree, "", note)

    def number(self, names: Mapping[str, Parametric], intervals: Sequence[Interval]) -> Fraction | None:
        """Return the value if it is the same rational for every eps of the `intervals`, else None.

        `names` has the values of all names in the expression. Raises DiagnosticError if the expression has no value.
        """
        match intervals:
            case [Interval(is_point=True, lower=eps)]:
                with suppress(DiagnosticError):
                    value = self.rational_at(eps, names)
                    if value is not None:
                        return value
        return constant_of(self.value(names, intervals))

    def rational_at(self, eps: Fraction, names: Mapping[str, Parametric]) -> Fraction | None:
        """Return the value at one `eps` if it is rational; None if the value is infinite or needs powers of e.

        `names` has the values of all names in the expression. Raises DiagnosticError if it has no value at this eps.
        """
        evaluation = _Evaluation(self, names, (), far=False, open_divisors=False, eps=Parametric.number(eps))
        return constant_of(self._resolved(evaluation))

    def value(
        self,
        names: Mapping[str, Parametric],
        intervals: Sequence[Interval] = _EVERYWHERE,
        *,
        far: bool = False,
        open_divisors: bool = False,
    ) -> Selected:
        """Return the value for all eps in the `intervals`, where `names` has the values of all names in the expression.

        Raises DiagnosticError if there is no value or a divisor can be 0. With `far`, a minimum or maximum is decided
        for large values of the unknown in it, and the result is valid only there. With `open_divisors` a divisor can
        depend on unknowns, and the caller has to check that it is not 0.
        """
        value = self._resolved(_Evaluation(self, names, intervals, far, open_divisors))
        if bits(value) > RESULT_BIT_LIMIT:
            raise self.error("E0613", f"{self.what} has a number of more than {RESULT_BIT_LIMIT} bits", self.tree)
        return value

    def _resolved(self, evaluation: _Evaluation) -> Selected:
        try:
            return evaluation.value(self.tree)
        except TooLarge:
            raise self.error(
                "E0613", f"{self.what} has too many cases when its min, max and abs are resolved", self.tree
            ) from None

    def rational(self, node: Expr, names: Mapping[str, Parametric]) -> Fraction:
        """Return the rational number `node`, a part of this expression; raise FormError if it is not one.

        `names` has the values of the names in it.
        """
        with suppress(DiagnosticError):
            value = constant_of(replace(self, tree=node).value(names))
            if value is not None:
                return value
        raise FormError(node.span, None)

    def error(self, code: str, message: str, node: Expr, label: str = "", *notes: str) -> DiagnosticError:
        """Return the DiagnosticError with this `code` and `message`, which points to `node`, a part of this expression.

        `label` is written below the place, and each of `notes` is a help below the label.
        """
        return DiagnosticError(Diagnostic(code, message, self.source.excerpt(node.span), label, notes))


@frozen
class _Evaluation:
    expression: ClaimExpression
    names: Mapping[str, Parametric]
    intervals: Sequence[Interval]
    far: bool
    open_divisors: bool
    eps: Parametric = _EPS

    def value(self, node: Expr) -> Selected:
        match node:
            case Number(value=value):
                return Parametric.number(value)
            case Eps():
                return self.eps
            case Name():
                return self._name(node)
            case Unary(op=UnaryOp.NEGATE, operand=operand):
                return negated(self.value(operand))
            case Binary():
                return self._binary(node)
            case Call():
                return self._call(node)
            case Ranged():
                return self._ranged(node)
            case Drawn():
                raise self._error(
                    "E0604", f"{self.expression.what} must be a number, but this draws a random value", node
                )
            case Truth() | Compare() | Unary():
                raise self._error("E0604", f"{self.expression.what} must be a number, not a truth value", node)
            case Element():
                raise self._error(
                    "E0604",
                    f"{self.expression.what} cannot depend on the program's variables",
                    node,
                    "",
                    "give values that differ from row to row in a column of the table",
                )
        assert_never(node)

    def _ranged(self, node: Ranged) -> Selected:
        ends = [constant_of(self.value(end)) for end in (node.low, node.high)]
        low, high = (int(end) if end is not None and end.denominator == 1 else None for end in ends)
        if low is None or high is None:
            raise self._error(
                "E0604",
                "the ends of a range must be constant integers",
                node,
                "",
                "write for example `sum(i in 1..m : …)`",
            )
        if high < low:
            if node.function in ("min", "max"):
                raise self._error("E0604", f"`{node.function}` needs at least one value", node, "this range is empty")
            return Parametric.number(0)
        if high - low >= MAX_POWER:
            raise self._error(
                "E0613", f"this range has {high - low + 1} values", node, "", f"a range has at most {MAX_POWER} values"
            )
        if node.function == "count":
            raise self._error("E0604", f"{self.expression.what} must be a number, not a truth value", node.body)
        return self.value(node.written_out(low, high))

    def _error(self, code: str, message: str, node: Expr, label: str = "", *notes: str) -> DiagnosticError:
        return self.expression.error(code, message, node, label, *notes)

    def _name(self, node: Name) -> Selected:
        name = node.name if node.name in self.names else GREEK.get(node.name, node.name)
        if name in self.names:
            return self.names[name]
        notes = did_you_mean(name, ["eps", *FUNCTIONS, *self.names])
        allowed = [*([] if self.expression.what == AN_INTERVAL else ["eps"]), *sorted(self.names)]
        if allowed:
            notes.append(f"{self.expression.what} may mention {listing(allowed, limit=20)}")
        else:
            notes.append("an end of an interval is a rational number, such as 1/2")
        raise self._error("E0602", f"`{node.name}` is not known in {self.expression.what}", node, "", *notes)

    def _binary(self, node: Binary) -> Selected:
        if node.op in {BinaryOp.AND, BinaryOp.OR}:
            raise self._error("E0604", f"{self.expression.what} must be a number, not a truth value", node)
        left = self.value(node.left)
        try:
            match node.op:
                case BinaryOp.ADD:
                    return plus(left, self.value(node.right))
                case BinaryOp.SUBTRACT:
                    return plus(left, negated(self.value(node.right)))
                case BinaryOp.MULTIPLY:
                    return times(left, self.value(node.right))
                case BinaryOp.DIVIDE:
                    return self._quotient(left, node)
                case BinaryOp.POWER:
                    return self._power(left, node)
        except TooLarge:
            raise self._error("E0613", f"{self.expression.what} has too many terms when multiplied out", node) from None
        raise AssertionError(node.op)

    def _quotient(self, left: Selected, node: Binary) -> Selected:
        divisor = self.value(node.right)
        try:
            if not unknowns(divisor):
                self._check_divisor(divisor, node.right)
            quotient = divide(left, divisor)
        except ZeroDivisionError:
            raise self._error("E0607", "division by zero", node.right, "this is 0") from None
        is_open = isinstance(quotient, Compound) and quotient.arguments[-1] is divisor and bool(unknowns(divisor))
        if is_open and not self.open_divisors:
            raise self._error(
                "E0609",
                "division by a distance that is infinite in a row of the table",
                node.right,
                "",
                "write the limit yourself, in a column beta",
            )
        return quotient

    def _check_divisor(self, divisor: Selected, node: Expr) -> None:
        if isinstance(divisor, Parametric) and not divisor.numerator:
            raise ZeroDivisionError
        if constant_of(divisor) is not None:
            return
        where = ", ".join(map(str, self.intervals))
        try:
            zero = zero_of(divisor, self.intervals)
        except Undecided as undecided:
            raise self._error(
                "E0608", f"{self.expression.what} divides by something that may be 0", node, "", undecided.reason
            ) from None
        if zero is None:
            return
        place = f"at eps = {zero}" if isinstance(zero, Fraction) else place_text(refined(zero, Limits()))
        raise self._error(
            "E0608",
            f"{self.expression.what} divides by something that is 0 {place}",
            node,
            "",
            f"the divisor must not be 0 for any eps in {where}",
        )

    def _power(self, base: Selected, node: Binary) -> Selected:
        exponent, number = constant_of(self.value(node.right)), constant_of(base)
        if exponent is not None and number is not None:
            with suppress(FormError, NotReal):
                root = power_of(Real.from_rational(number), exponent, node.span).rational
                if root is not None:
                    return Parametric.number(root)
        if exponent is None or exponent.denominator != 1 or abs(exponent) > MAX_POWER:
            raise self._error(
                "E0108",
                "the exponent of `^` must be a constant integer",
                node.right,
                "this is not constant" if exponent is None else f"this is {exponent}",
                f"exponents are integers up to {MAX_POWER}; a power of e is written with `exp`",
            )
        if exponent >= 0:
            return power(base, int(exponent))
        positive = replace(node, right=Number(-exponent, str(-exponent), node.right.span))
        return self._quotient(Parametric.number(1), replace(node, right=positive))

    def _rational(self, node: Expr) -> Fraction:
        value = constant_of(self.value(node)) if is_constant(node) else None
        if value is None:
            raise FormError(node.span, None)
        return value

    def _call(self, node: Call) -> Selected:
        match node.function:
            case "exp":
                return self._exp(node)
            case "min" | "max" | "abs" as function:
                values = [self.value(argument) for argument in node.arguments]
                return select(
                    Operator(function.capitalize()), values, sign_throughout(self.intervals) if self.far else None
                )
            case "log" if self._logarithm_argument(node.arguments[0]) == 1:
                return Parametric.number(Fraction(0))
            case "sqrt":
                return self._root(node)
            case "erfc":
                raise self._error(
                    "E0616",
                    (
                        f"`erfc` is allowed only in the beta of `dipc check`, and {self.expression.what} is computed "
                        "exactly here"
                    ),
                    node,
                    "",
                    "write a bound for it: erfc(x) is at most exp(-x^2), and at most 1",
                )
            case "log":
                number = self._logarithm_argument(node.arguments[0])
                low, high = map(exact_text, outward(*Real.from_rational(number).log().enclosure(), _ROUNDED_DIGITS))
                raise self._error(
                    "E0615",
                    f"{self.expression.what} is computed exactly here, and a logarithm can only be enclosed",
                    node,
                    "",
                    "exp(log(3) - eps) is exact, as it is 3*exp(-eps); other logarithms are allowed only in "
                    "claims of `dipc check`, `tighten` and `solve`, and as ends of eps there and in `dipc privacy`",
                    f"or round log({number}) to {low} or {high}: to prove the claim, write the number that makes it "
                    "stronger; to refute it, write the other one",
                )
        raise AssertionError(f"the parser knows no function {node.function}")

    def _root(self, node: Call) -> Selected:
        value = constant_of(self.value(node.arguments[0]))
        if value is None or value < 0:
            message = "a square root needs a rational number that is at least 0"
            raise self._error("E0615", message, node, "this is not one" if value is None else f"this is {value}")
        root = Real.from_rational(value).sqrt().rational
        if root is None:
            raise self._error(
                "E0615",
                f"{self.expression.what} is computed exactly here, and this root can only be enclosed",
                node,
                "",
                "round it to a rational in the direction that makes the claim stronger, such as 1.41421 for sqrt(2)",
            )
        return Parametric.number(root)

    def _exp(self, node: Call) -> Selected:
        (whole,) = node.arguments
        number, rest = split_exponent(whole, self._rational)
        factor = number.exp().rational
        inner = whole if factor is None else rest
        argument = Parametric.number(0) if inner is None else self.value(inner)
        result = exponential(argument)
        if result is None or factor is None:
            constant = constant_of(argument)
            raise self._error(
                "E0603",
                "the exponent is not a rational multiple of eps",
                whole if inner is None else inner,
                "" if constant is None else f"this is {constant}",
                "write exp(q*eps) with a rational q or, in beta, exp(-c*eps^2) with c > 0: exp(1) and exp(eps^2) "
                "cannot be decided exactly",
            )
        try:
            return times(Parametric.number(factor), result)
        except TooLarge:
            raise self._error("E0613", f"{self.expression.what} has too many terms when multiplied out", node) from None

    def _logarithm_argument(self, node: Expr) -> Fraction:
        value = constant_of(self.value(node))
        if value is None or value <= 0:
            message = "a logarithm needs a positive rational number"
            raise self._error("E0615", message, node, "this is not one" if value is None else f"this is {value}")
        return value


#: The significant digits of a rational number in place of a logarithm.
_ROUNDED_DIGITS = 20


# --- Functions of the normal distribution in a beta, separated from the rest of it ------------------------------------


@frozen
class NormalParts:
    """A beta (`expression`) as the sum of a `plain` part and of `terms` with functions of the normal distribution.

    A term (coefficient, call) is their product; the call is `erfc`, or `exp` with eps^2 in its argument.
    """

    expression: ClaimExpression
    plain: ClaimExpression
    terms: tuple[tuple[ClaimExpression, Call], ...]

    def beta(self, names: Mapping[str, Parametric], value: Callable[[ClaimExpression], BetaForm]) -> BetaForm:
        """Return beta as a function of eps, where `names` has the values of all names in it.

        `value` evaluates the plain part and the coefficients. Raises DiagnosticError if the result of `value` is not an
        exponential polynomial, or an argument of a normal function is not allowed.
        """
        plain = self._closed(self.plain, value)
        terms: list[tuple[normals.NormalFunction, ExpPoly]] = []
        for coefficient, call in self.terms:
            weight = self._closed(coefficient, value)
            for c, function in self._functions(call, names):
                if function is None:
                    plain = plain + weight * c
                else:
                    terms.append((function, weight * c))
        return normals.NormalBeta(normals.NormalSum.collect(plain, terms))

    def _closed(self, expression: ClaimExpression, value: Callable[[ClaimExpression], BetaForm]) -> ExpPoly:
        form = value(expression).closed
        if form is None or not isinstance(form.value, ExpPoly):
            raise self.expression.error(
                "E0616",
                "apart from erfc and exp(-c*eps^2), beta must be a sum of powers and exponentials of eps",
                expression.tree,
                "this has a denominator, min, max or abs",
            )
        return form.value

    def _functions(
        self, call: Call, names: Mapping[str, Parametric]
    ) -> Iterator[tuple[Fraction, normals.NormalFunction | None]]:
        (argument,) = call.arguments

        def constant(node: Expr) -> Fraction:
            value = constant_of(replace(self.expression, tree=node).value(names))
            if value is None:
                raise self.expression.error(
                    "E0617",
                    f"the argument of `{call.function}` is not a number here",
                    node,
                    "this is infinite or irrational",
                    "where dd is infinite, `erfc` of a multiple of alpha is 0: give these rows their own beta",
                )
            return value

        try:
            scale, power = monomial(argument, constant)
            yield from normals.normal_function(call.function, scale, power)
        except FormError as error:
            raise self.expression.error(
                "E0617", "the argument of erfc must be a number or a number times eps", argument, error.reason or ""
            ) from None
        except NoClosedForm as error:
            note = "write for example `erfc(gamma*eps/sqrt(2))` or `exp(-gamma^2*eps^2/2)`"
            raise self.expression.error("E0617", error.reason, argument, "", note) from None


def normal_parts(expression: ClaimExpression) -> NormalParts | None:
    """Return `expression` as a plain part and terms with functions of the normal distribution; None if it has no terms.

    Raises DiagnosticError unless `expression` is a sum of products, each with at most one such function as a factor.
    """
    if not has_normal(expression.tree):
        return None
    plain: Expr | None = None
    terms: list[tuple[ClaimExpression, Call]] = []
    for coefficient, call in _summands(expression, expression.tree):
        if call is None:
            plain = coefficient if plain is None else Binary(BinaryOp.ADD, plain, coefficient, expression.tree.span)
        else:
            terms.append((replace(expression, tree=coefficient), call))
    nothing: Expr = Number(Fraction(0), "0", expression.tree.span)
    return NormalParts(expression, replace(expression, tree=nothing if plain is None else plain), tuple(terms))


def has_normal(tree: object) -> bool:
    """Return True if `tree` contains a function of the normal distribution."""
    return any(isinstance(node, Call) and is_normal(node) for node in walk(tree))


def _summands(expression: ClaimExpression, tree: Expr) -> Iterator[tuple[Expr, Call | None]]:
    """Yield (coefficient, call) for each summand of `tree`, a part of `expression`; the call is of a normal function.

    Normal functions are erfc(…) and exp(-c*eps^2), which occur in the tails of normal noise. For a summand without one,
    the pair is (summand, None). Raises DiagnosticError if `tree` is not a sum of such summands.
    """
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
        "erfc and exp(-c*eps^2) may only be added up, each with a factor that contains neither",
        tree,
        "this is not a sum of such terms",
        "instead of a `min`, check the claim with each of its arguments; instead of a `max`, with one of them. Instead "
        "of a product, leave out a factor that is at most 1, which makes the claim weaker",
    )


def scales(parts: NormalParts, names: Mapping[str, Parametric]) -> bool:
    """Return True if the argument of each normal function in `parts` depends on distance·eps alone.

    A distance is a name whose value in `names` is a multiple of the only unknown. An argument is c·distance^a·eps^b,
    and depends on distance·eps alone if a = b. To test this, c·distance^a at the distance 4 is compared with 4^b times
    its value at the distance 1.
    """
    at_one, at_four = dict(names), dict(names)
    for name, value in names.items():
        if constant_of(value) is None:
            found = value.linear(min(value.unknowns(), default=""))
            if found is None or found[0]:
                return False
            at_one[name], at_four[name] = (Parametric.number(factor * found[1]) for factor in (1, 4))
    for _, call in parts.terms:
        (argument,) = call.arguments
        try:
            factor, power = monomial(argument, lambda node: parts.expression.rational(node, at_one))
            other, _ = monomial(argument, lambda node: parts.expression.rational(node, at_four))
            twice = 2 * power
            if factor.sign and (twice.denominator > 1 or other != factor * Real.from_rational(2).power(int(twice))):
                return False
        except (FormError, NotReal):
            return False
    return True

"""Sampling statements: rates, weights and means, and the check that a distribution suits its variable."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from typing import assert_never

from dipc.algebra.reals import NotReal, Real
from dipc.noise.law import Law
from dipc.noise.laws import LAWS
from dipc.sign.interval import Interval
from dipc.text import ast
from dipc.text.ast import BaseType, BinaryOp, UnaryOp, walk
from dipc.text.core import (
    UNKNOWN,
    AffineExpr,
    Concrete,
    Const,
    DomExpr,
    DomType,
    FiniteType,
    ProgramCode,
    Reference,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Switch,
    Typed,
    Unknown,
    ValueKind,
    ValueTooLarge,
    bounded,
    kind_of,
    show_multiple,
    show_type,
    show_values,
)
from dipc.text.declarations import STATEMENTS_A_WEIGHT, StatementBudget, compute_constants, register, resolve_domain
from dipc.text.diagnostic import SourceText, Span
from dipc.text.expressions import FIX_EPS, Elaborator, Fitting
from dipc.text.numbers import FormError, monomial
from dipc.text.parser import parse_interval
from dipc.text.scope import Findings, Scope
from dipc.text.syntax_errors import MAX_POWER

#: The bits of the rationals around irrational ends, fewer than those that a claim is decided with.
_BITS_OF_ENDS = 60

# --- The single eps at which a program is read, if the question is about one ------------------------------------------


def asked_ranges(
    program: ast.ProgramTree, source: SourceText, overrides: Mapping[str, Fraction], given: str | None
) -> tuple[Interval, ...]:
    """Return the intervals of eps in the text `given`; if it is None, those of the claim block of `program`.

    `source` is the text of the program, and `overrides` has values of its constants. The result is empty if no
    intervals are written, or if an interval has a mistake. Raises DiagnosticError for a text that is not an interval.
    """
    findings = Findings(source)
    scope = Scope()
    elaborator = Elaborator(scope, findings, declaring=True)
    claimed = (
        each for declared in program.declarations if isinstance(declared, ast.ClaimDecl) for each in declared.fields
    )
    written = next((each.value for each in claimed if each.name == "eps" and isinstance(each.value, tuple)), ())
    intervals = written if given is None else parse_interval(SourceText("<eps>", given))
    register(program.declarations, scope, findings)
    compute_constants(program.declarations, overrides, elaborator)

    def ends_around(expression: ast.Expr) -> tuple[Fraction, Fraction] | tuple[None, None]:
        if any(isinstance(node, ast.Call) and node.function in ("log", "sqrt", "exp") for node in walk(expression)):
            with suppress(FormError, NotReal):
                factor, power = monomial(expression, lambda part: _constant(part, elaborator, "the end of an interval"))
                if not power:
                    return factor.enclosure(_BITS_OF_ENDS)
        value = elaborator.constant(expression, "the end of an interval")
        return (None, None) if value is None else (value, value)

    result: list[Interval] = []
    for each in intervals:
        low, high = ends_around(each.low)[0], None if each.high is None else ends_around(each.high)[1]
        if low is None or low < 0 or (high is None) != (each.high is None) or (high is not None and high < low):
            return ()
        if high == low and not (low and each.low_closed and each.high_closed):
            return ()
        result.append(Interval(low, high, each.low_closed and low > 0, each.high_closed and high is not None))
    return tuple(result)


# --- The rates of distributions, a*eps with a > 0, and the weights of `choose`, expressions in eps --------------------

#: The pair (constant, slope) of constant + slope * eps.
_InEps = tuple[Fraction, Fraction]
_ZERO = Fraction(0)


def rate(expr: ast.Expr, elaborator: Elaborator, noise: ast.NoiseExpr | None = None) -> Fraction | None:
    """Return the number a > 0 if `expr` is the rate a*eps, or None after `elaborator` has reported that it is not.

    `noise` is the noise with this rate, or None for an exponential mechanism.
    """
    try:
        constant, slope = _linear(expr, elaborator)
    except FormError as error:
        if error.reason is None:
            return None
        if elaborator.scope.eps.value is not None:
            return _fixed_rate(expr, elaborator)
        notes = (*_inverted(expr, error.span, elaborator, noise), FIX_EPS)
        _bad_rate(error.span, f"a rate must be a positive multiple of eps, but {error.reason}", elaborator, *notes)
        return None
    if constant != 0 and elaborator.scope.eps.value is not None:
        return _fixed_rate(expr, elaborator)
    if slope == 0:
        note = "write `eps`, `eps/2`, `eps/(4*c)`, ..."
        _bad_rate(expr.span, "the rate does not contain eps", elaborator, note, FIX_EPS)
    elif constant != 0:
        message = f"a rate must be a positive multiple of eps, but this adds {constant}"
        _bad_rate(expr.span, message, elaborator, FIX_EPS)
    elif slope < 0:
        _bad_rate(expr.span, f"the rate {show_multiple(slope)} is negative", elaborator)
    else:
        return slope
    return None


def deviation(expr: ast.Expr, law: Law, elaborator: Elaborator) -> tuple[Law, Fraction] | None:
    """Return (law, rate) of a noise whose standard deviation is `expr`, which is s/eps or s with a constant s > 0.

    `law` is the law of the noise before its deviation is known. The result is None after `elaborator` has reported that
    `expr` is not such a deviation.
    """
    try:
        factor, power = monomial(expr, lambda part: _constant(part, elaborator, "a factor of a standard deviation"))
    except FormError as error:
        if error.reason is not None:
            _bad_deviation(error.span, error.reason, elaborator)
        return None
    point = elaborator.scope.eps.use() if power != -1 else None
    if point is not None and power.denominator == 1:
        try:
            factor, power = factor * Real.from_rational(point).power(int(power) + 1), Fraction(-1)
        except NotReal as reason:
            _bad_deviation(expr.span, str(reason), elaborator)
            return None
    if power not in (0, -1):
        _bad_deviation(
            expr.span, f"this is a multiple of eps^{power}" if power != 1 else "this grows with eps", elaborator
        )
        return None
    if factor.sign <= 0:
        _bad_deviation(
            expr.span, f"this is {factor}{'/eps' if power and factor.sign else ''}, which is not positive", elaborator
        )
        return None
    return law.with_deviation(factor, fixed=not power)


def _bad_deviation(span: Span, reason: str, elaborator: Elaborator) -> None:
    message = f"a standard deviation must be s/eps or s with a constant s > 0, but {reason}"
    notes = ("write `1/eps`, `2*c/eps`, `3`, `sqrt(2*log(5/(4*delta)))/eps`, ...",)
    elaborator.report_value(ProgramCode.BAD_RATE, span, message, notes=notes)


def ends(written: tuple[ast.Expr, ast.Expr], law: Law, elaborator: Elaborator) -> tuple[Fraction, Fraction] | None:
    """Return (low, high), the least and the greatest value of noise with `law`, from the constants `written`.

    The result is None after `elaborator` has reported that these are not two constants with low < high.
    """
    low, high = (_support_end(expr, law, elaborator) for expr in written)
    if low is None or high is None:
        return None
    if low >= high:
        elaborator.report_value(
            ProgramCode.BAD_RATE,
            Span(written[0].span.start, written[1].span.end),
            f"the support of {law.name} noise must be an interval, but it goes from {low} to {high}",
            notes=("the lower end must be less than the upper end", *_usage(law, elaborator)),
        )
        return None
    return low, high


def _support_end(expr: ast.Expr, law: Law, elaborator: Elaborator) -> Fraction | None:
    eps = next((node for node in walk(expr) if isinstance(node, ast.Eps)), None)
    if eps is None:
        what = f"an end of the support of {law.name} noise"
        return elaborator.constant(expr, what, notes=_usage(law, elaborator))
    elaborator.findings.report(
        ProgramCode.BAD_RATE,
        eps.span,
        f"an end of the support of {law.name} noise must be a constant number, and cannot depend on eps",
        notes=_usage(law, elaborator),
    )
    return None


def _usage(law: Law, elaborator: Elaborator) -> tuple[str, ...]:
    return (law.usage,) if elaborator.findings.source.tree is None else ()


def _fixed_rate(expr: ast.Expr, elaborator: Elaborator) -> Fraction | None:
    slope = _over_fixed(expr, elaborator)
    if slope is not None and slope <= 0:
        point = elaborator.scope.eps.value
        assert point is not None
        _bad_rate(expr.span, f"the rate is {slope * point} at eps = {point}, and not positive", elaborator)
        return None
    return slope


def _over_fixed(expr: ast.Expr, elaborator: Elaborator) -> Fraction | None:
    whole = ast.Binary(BinaryOp.DIVIDE, expr, ast.Eps(expr.span), expr.span)
    return elaborator.constant(whole, "a rate or an exponent")


def _bad_rate(span: Span, message: str, elaborator: Elaborator, *notes: str) -> None:
    elaborator.report_value(
        ProgramCode.BAD_RATE, span, message, notes=notes or ("write `a*eps` with a constant a > 0",)
    )


def _inverted(expr: ast.Expr, wrong: Span, elaborator: Elaborator, noise: ast.NoiseExpr | None) -> list[str]:
    if not (isinstance(expr, ast.Binary) and expr.op is BinaryOp.DIVIDE and expr.span == wrong):
        return []  # the mistake is in a part of the expression
    scale, under = _linear(expr.left, elaborator), _linear(expr.right, elaborator)
    if scale[1] or under[0] or scale[0] * under[1] <= 0:
        return []
    findings = elaborator.findings
    above, below = findings.snippet(expr.left.span), findings.snippet(expr.right.span)
    if expr.left.span == expr.right.span:  # of a mechanism in Python, where the scale is given
        return [f"the scale falls as eps grows: write `scale=1/{below}`"]
    if scale[0] != 1:
        below += f"/({above})" if isinstance(expr.left, ast.Binary) else f"/{above}"
    if findings.source.tree is not None:
        return [f"a rate grows with eps, as it is one over the scale: write `{below}`"]
    if noise is None:
        return [f"the first argument is the rate, which grows with eps: write `{below}`"]
    mean = "" if noise.mean is None else f", {findings.snippet(noise.mean.span)}"
    if isinstance(noise.mean, ast.Number) and mean == ", )":
        mean = ""  # a mean of 0 that is not written
    return [f"the first argument is the rate, 1/scale: write `{noise.law.keyword}({below}{mean})`"]


def _linear(expr: ast.Expr, elaborator: Elaborator) -> _InEps:
    """Return (constant, slope) if `expr` is constant + slope * eps; raise FormError otherwise.

    `elaborator` evaluates constants.
    """
    match expr:
        case ast.Eps():
            return _ZERO, Fraction(1)
        case ast.Unary(UnaryOp.NEGATE, operand):
            constant, slope = _linear(operand, elaborator)
            return -constant, -slope
        case ast.Binary(BinaryOp.ADD | BinaryOp.SUBTRACT | BinaryOp.MULTIPLY | BinaryOp.DIVIDE):
            left, right = _linear(expr.left, elaborator), _linear(expr.right, elaborator)
            try:
                return _combined(expr, left, right)
            except ZeroDivisionError:
                raise FormError(expr.right.span, "this divides by zero") from None
            except ValueTooLarge:
                raise FormError(expr.span, "this number has too many digits") from None
        case ast.Binary(BinaryOp.POWER, ast.Eps()):
            raise FormError(expr.span, f"`{elaborator.findings.snippet(expr.span)}` is not linear in eps")
        case _:
            return _constant(expr, elaborator), _ZERO


def _combined(expr: ast.Binary, left: _InEps, right: _InEps) -> _InEps:
    (a, b), (c, d) = left, right
    match expr.op:
        case BinaryOp.ADD:
            return bounded(a + c), bounded(b + d)
        case BinaryOp.SUBTRACT:
            return bounded(a - c), bounded(b - d)
        case BinaryOp.MULTIPLY:
            if b != 0 and d != 0:
                raise FormError(expr.span, "this multiplies eps by eps")
            return bounded(a * c), bounded(a * d + b * c)
        case _:
            if d != 0:
                raise FormError(expr.span, "this divides by eps")
            return bounded(a / c), bounded(b / c)


def _mentions_eps(expr: ast.Expr) -> bool:
    return any(isinstance(node, ast.Eps) for node in walk(expr))


def _constant(expr: ast.Expr, elaborator: Elaborator, what: str = "what multiplies eps") -> Fraction:
    if _mentions_eps(expr):
        raise FormError(expr.span, f"`{elaborator.findings.snippet(expr.span)}` is not linear in eps")
    value = elaborator.constant(expr, what, or_chosen=True)
    if value is None:
        raise FormError(expr.span, None)
    return value


def weight(expr: ast.Expr, elaborator: Elaborator) -> ast.Expr | None:
    """Return the weight `expr` with constants replaced by their numbers.

    A weight consists of numbers, eps, exp(q*eps), + - * / and ^. The result is None after `elaborator` has reported
    that `expr` contains anything else.
    """
    if not any(
        isinstance(node, ast.Eps) or (isinstance(node, ast.Call) and node.function == "exp") for node in walk(expr)
    ):
        value = elaborator.constant(expr, "this part of a weight", or_chosen=True)
        return None if value is None else ast.number(value, expr.span)
    match expr:
        case ast.Eps():
            return expr
        case ast.Unary(UnaryOp.NEGATE, operand):
            inner = weight(operand, elaborator)
            return None if inner is None else ast.Unary(UnaryOp.NEGATE, inner, expr.span)
        case ast.Binary(BinaryOp.POWER, base, exponent):
            inner, count = weight(base, elaborator), elaborator.integer(exponent, "an exponent")
            if inner is None or count is None:
                return None
            if abs(count) > MAX_POWER:
                note = f"exponents are integers up to {MAX_POWER}"
                message = "an exponent is too large"
                elaborator.report_value(ProgramCode.BAD_WEIGHT, exponent.span, message, notes=(note,))
                return None
            result = ast.Binary(BinaryOp.POWER, inner, ast.number(abs(count), exponent.span), expr.span)
            return result if count >= 0 else ast.Binary(BinaryOp.DIVIDE, ast.number(1, expr.span), result, expr.span)
        case ast.Binary(BinaryOp.ADD | BinaryOp.SUBTRACT | BinaryOp.MULTIPLY | BinaryOp.DIVIDE, left, right):
            first, second = weight(left, elaborator), weight(right, elaborator)
            return None if first is None or second is None else ast.Binary(expr.op, first, second, expr.span)
        case ast.Call("exp", (argument,)):
            return _exponential(expr, argument, elaborator)
        case _:
            message = f"`{elaborator.findings.snippet(expr.span)}` is not allowed in a weight"
            notes = ("weights are made of numbers, constants, eps, exp(q*eps), + - * / and ^",)
            elaborator.findings.report(ProgramCode.BAD_WEIGHT, expr.span, message, notes=notes)
            return None


def _exponential(expr: ast.Call, argument: ast.Expr, elaborator: Elaborator) -> ast.Expr | None:
    try:
        constant, slope = _linear(argument, elaborator)
        reason = f"this adds {constant}" if constant != 0 else None
        span = argument.span
    except FormError as error:
        if error.reason is None:
            return None
        slope, reason, span = _ZERO, error.reason, error.span
    if reason is not None and elaborator.scope.eps.value is not None:
        fixed = _over_fixed(argument, elaborator)
        if fixed is None:
            return None
        slope = fixed
    elif reason is not None:
        message = f"the argument of exp must be a rational multiple of eps, but {reason}"
        elaborator.report_value(
            ProgramCode.BAD_WEIGHT, span, message, notes=("write `exp(eps/2)`, `exp(-3*eps)`, ...", FIX_EPS)
        )
        return None
    scaled = ast.Binary(BinaryOp.MULTIPLY, ast.number(slope, argument.span), ast.Eps(argument.span), argument.span)
    return ast.Call("exp", (scaled,), expr.span)


# --- Sampling statements: checks of the distribution, its variable, rate, mean, scores and weights --------------------


def _drawing(*, whole: bool) -> str:
    *most, last = (law.keyword for law in LAWS if law.whole is whole)
    return f"{', '.join(most)} and {last} draw" if most else f"{last} draws"


_HELP = f"{_drawing(whole=False)} reals, {_drawing(whole=True)} ints, Exp and choose draw DOM values"


class Sampling:
    """The translation of sampling statements into instructions."""

    def __init__(self, elaborator: Elaborator, fitting: Fitting, budget: StatementBudget) -> None:
        self._elaborator = elaborator
        self._findings = elaborator.findings
        self._fitting = fitting
        self._budget = budget

    def instruction(
        self, place: Reference | None, statement: ast.Sample, mean: Typed
    ) -> SampleNoise | SampleExponential | SampleChoice | None:
        """Return the instruction of `statement`, which draws into `place`, or None after reporting an error.

        `mean` is the meaning of the mean of a noise; other distributions do not use it.
        """
        distribution = statement.distribution
        match distribution:
            case ast.NoiseExpr():
                return self._noise(place, statement, distribution, mean)
            case ast.ExponentialMechanism():
                return self._exponential(place, statement, distribution)
            case ast.Choose():
                return self._choice(place, statement, distribution)
            case _:
                assert_never(distribution)

    def mean_comes_first(self, noise: ast.NoiseExpr) -> bool:
        """Return True, after reporting it, if rate and mean of `noise` are swapped, as in other languages."""
        findings = self._findings
        if noise.mean is None or self._elaborator.scope.eps.value is not None or findings.source.tree is not None:
            return False
        if noise.rate is None:
            return False
        if _mentions_eps(noise.rate) or not _mentions_eps(noise.mean):
            return False
        written = findings.snippet(noise.mean.span)
        match noise.mean:
            case ast.Binary(BinaryOp.DIVIDE, left, ast.Eps()) if not noise.law.by_deviation:
                above = findings.snippet(left.span)
                written = (
                    "eps" if above == "1" else f"eps/({above})" if isinstance(left, ast.Binary) else f"eps/{above}"
                )
        first = "standard deviation" if noise.law.by_deviation else "rate, 1/scale,"
        findings.report(
            ProgramCode.BAD_RATE,
            noise.rate.span,
            f"the {first} comes first, and then the mean",
            notes=(f"write `{noise.law.keyword}({written}, {findings.snippet(noise.rate.span)})`",),
        )
        return True

    def _noise(
        self, place: Reference | None, statement: ast.Sample, noise: ast.NoiseExpr, mean: Typed
    ) -> SampleNoise | None:
        law: Law = noise.law
        slope: Fraction | None = None
        type_ = BaseType.INT if law.whole else BaseType.REAL
        suits = self._suits(place, type_, statement, law.keyword)
        if noise.rate is None:
            slope = Fraction(1)
        elif law.by_deviation:
            scaled = deviation(noise.rate, law, self._elaborator)
            law, slope = (law, None) if scaled is None else scaled
        else:
            slope = rate(noise.rate, self._elaborator, noise)
        if noise.ends is not None:
            support = ends(noise.ends, law, self._elaborator)
            law, slope = (law, None) if support is None else (law.with_ends(*support), slope)
        center: AffineExpr | None = AffineExpr((), Const(Fraction(0)), statement.span, ValueKind.NUMBER)
        if noise.mean is not None:
            name = place.name if place is not None else f"the mean of {law.keyword}"
            center = self._fitting.affine(type_, mean, noise.mean, name) if suits else None
        if place is None or not suits or slope is None or center is None:
            return None
        return SampleNoise(place, law, slope, center, statement.span)

    def _suits(self, place: Reference | None, wanted: BaseType | None, statement: ast.Sample, name: str) -> bool:
        """Return True if the variable `place` can hold the values that `statement` draws; otherwise report a mistake.

        `wanted` is the type of the drawn values, INT or REAL, or None for values of a finite type. `name` is the name
        of the distribution in the report.
        """
        if place is None:
            return False
        type_ = self._elaborator.scope.type_of(place)
        if type_ is wanted or (wanted is None and type_ not in (BaseType.INT, BaseType.REAL)):
            return True
        self._findings.report(
            ProgramCode.WRONG_DISTRIBUTION,
            statement.target.span,
            f"`{place.name}` is of type {show_type(type_)}, and {name} draws "
            + ("ints" if wanted is BaseType.INT else "reals" if wanted is BaseType.REAL else "DOM values"),
            notes=(_HELP,),
        )
        return False

    def _holder(self, place: Reference | None, statement: ast.Sample, name: str) -> FiniteType | None:
        if not self._suits(place, None, statement, name) or place is None:
            return None
        type_ = self._elaborator.scope.type_of(place)
        return type_ if type_ is BaseType.BOOL or isinstance(type_, DomType) else None

    def _exponential(
        self, place: Reference | None, statement: ast.Sample, distribution: ast.ExponentialMechanism
    ) -> SampleExponential | None:
        holder = self._holder(place, statement, "Exp")
        slope = rate(distribution.rate, self._elaborator)
        domain = resolve_domain(distribution.domain, self._elaborator)
        scores = self._scores(distribution, domain)
        if place is None or holder is None or domain is None or not self._all_fit(holder, domain, place, distribution):
            return None
        if slope is None or scores is None:
            return None
        return SampleExponential(place, slope, domain.values, scores, statement.span)

    def _scores(self, distribution: ast.ExponentialMechanism, domain: DomType | None) -> tuple[DomExpr, ...] | None:
        elaborator, name, score = self._elaborator, distribution.variable, distribution.score
        elaborator.check_local(name, distribution.span, "the variable of Exp", may_hide_variables=True)
        size = 0 if domain is None or elaborator.dead else len(domain.values)
        hidden = elaborator.locals.get(name)
        scores: list[DomExpr] = []
        if domain is None or not self._budget.fits(size, distribution.span, f"{size} scores"):
            elaborator.locals[name] = UNKNOWN
            self._score(score)
        else:
            self._budget.spend(size)
            kind = kind_of(domain)
            for value in domain.values[: max(1, size)]:
                elaborator.locals[name] = Concrete(kind, Const(value))
                fitted = self._score(score)
                if fitted is None:
                    break
                scores.append(fitted)
        del elaborator.locals[name]
        if hidden is not None:
            elaborator.locals[name] = hidden
        return tuple(scores) if domain is not None and len(scores) == size else None

    def _score(self, expr: ast.Expr) -> DomExpr | None:
        typed = self._elaborator.number(expr)
        if isinstance(typed, Unknown):
            return None
        if isinstance(typed, Concrete) and typed.kind is ValueKind.NUMBER:
            return typed.expr
        assert isinstance(typed, Concrete | AffineExpr | Switch)
        what = typed.kind.value if isinstance(typed, Concrete | AffineExpr) else "a comparison of reals or ints"
        written = self._findings.snippet(expr.span)
        if self._findings.source.tree is None:
            variables = "variables with a finite domain, such as `{0..5}`, and the variable of Exp"
            note = f"scores are made of constants, {variables}"
        else:
            note = "scores are made of constants, the candidate, and values of finite types, such as `dipc.Finite[0:5]`"
        self._findings.report(
            ProgramCode.MISMATCH,
            expr.span,
            f"a score must be a number of a finite domain, but `{written}` is {what}",
            notes=(note,),
        )
        return None

    def _all_fit(
        self, holder: FiniteType, domain: DomType, place: Reference, distribution: ast.ExponentialMechanism
    ) -> bool:
        name = place.name
        if holder is BaseType.BOOL or kind_of(holder) is not kind_of(domain):
            self._findings.report(
                ProgramCode.MISMATCH,
                distribution.domain.span,
                f"`{name}` is of type {show_type(holder)}, and Exp draws from {show_values(domain)}",
                notes=("draw from the domain of the variable",),
            )
            return False
        for value in domain.values:
            if not self._fitting.member(holder, value):
                self._fitting.outside(holder, value, distribution.domain.span, name)
                return False
        return True

    def _choice(self, place: Reference | None, statement: ast.Sample, distribution: ast.Choose) -> SampleChoice | None:
        holder = self._holder(place, statement, "choose")
        if not self._elaborator.dead:
            size = STATEMENTS_A_WEIGHT * len(distribution.arms)
            if not self._budget.fits(size, distribution.span, f"{len(distribution.arms)} weights"):
                return None
            self._budget.spend(size)
        arms: list[tuple[DomExpr, ast.Expr]] = []
        for written, share in distribution.arms:
            typed = self._elaborator.typed(written)
            weighed = weight(share, self._elaborator)
            if place is None or holder is None:
                continue
            value = self._fitting.concrete(holder, typed, written, place.name)
            if value is not None and weighed is not None:
                arms.append((value, weighed))
        if place is None or len(arms) < len(distribution.arms):
            return None
        return SampleChoice(place, tuple(arms), statement.span)

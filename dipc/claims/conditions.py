"""The conditions of the theorems of section 6 of the paper: how beta changes as alpha and gamma grow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.algebra.parametric import Operator, Parametric, Selected
from dipc.algebra.record import Record
from dipc.claims.claim import Claim, Key
from dipc.claims.expression import DISTANCES, ClaimExpression, summands
from dipc.frozen import frozen
from dipc.sign.chart import decide_nonnegative, is_nowhere_negative
from dipc.sign.interval import Interval
from dipc.sign.piecewise import sign_throughout
from dipc.text.ast import (
    GREEK,
    Binary,
    BinaryOp,
    Call,
    Eps,
    Expr,
    Name,
    Number,
    Unary,
    UnaryOp,
    mentions,
    rewritten,
    walk,
)
from dipc.text.diagnostic import Diagnostic, DiagnosticError
from dipc.text.numbers import FormError
from dipc.text.printer import print_expression

# --- Whether a claim expression falls as a distance grows: decided where it is one closed form, else put together -----

#: The greatest number of summands of a function analyzed as a whole; a longer one is analyzed part by part.
MOST_TERMS = 400

#: The values of the unknowns at which a growing function is searched for.
_SAMPLES = (Fraction(0), Fraction(1), Fraction(1, 2), Fraction(5))


@frozen
class GrowthWitness:
    """A proof that a function of eps and of the unknown `name` increases with this unknown at some point.

    The function increases where the unknown is `value` and eps is `eps`. If both are None, it increases where the
    unknown times eps is `product`.
    """

    name: str
    value: Fraction | None
    eps: Fraction | None
    product: Fraction | None

    def __str__(self) -> str:
        if self.product is not None:
            return f"where {self.name}*eps = {self.product}"
        return f"at {self.name} = {self.value}, eps = {self.eps}"


@frozen
class Trend:
    """The proved properties of an expression, for all eps of the claim and all values >= 0 of the unknowns.

    `falls` means that the expression is nonincreasing in one selected unknown, and `rises` that it is nondecreasing.
    Both are True if the expression does not depend on this unknown. `continuous` means that no divisor is ever 0. A
    property that is False is not proved. `growth` is a point where the expression is proved to increase, or None.
    """

    falls: bool = False
    rises: bool = False
    nonnegative: bool = False
    nonpositive: bool = False
    positive: bool = False
    continuous: bool = True
    growth: GrowthWitness | None = None

    @property
    def constant(self) -> bool:
        return self.falls and self.rises


def trend(of: ClaimExpression, unknown: str, names: Mapping[str, Parametric], intervals: Sequence[Interval]) -> Trend:
    """Return the proved properties of the expression `of`, such as whether it falls as `unknown` grows.

    `unknown` is the name of an unknown. `names` maps all names in the expression to numbers or unknowns. The properties
    hold for all eps of the `intervals`.
    """
    return _Analysis(of, unknown, names, intervals).trend(of.tree)


@frozen
class _Analysis:
    whole: ClaimExpression
    unknown: str
    names: Mapping[str, Parametric]
    intervals: Sequence[Interval]

    def trend(self, node: Expr) -> Trend:
        known: Trend | None = None
        with suppress(DiagnosticError):
            value = replace(self.whole, tree=node).value(self.names, self.intervals)
            known = self._of_value(value)
            if known is not None and isinstance(value, Parametric) and (known.falls or known.rises or known.growth):
                return known
        found = self._of_parts(node)
        return found if known is None else _either(known, found)

    def _of_value(self, value: Selected) -> Trend | None:
        """Return the properties that are proved of `value`, such as that it is nonnegative.

        The result is None if `value`, or an operand of a minimum or maximum in it, has too many summands to examine.
        """
        if isinstance(value, Parametric):
            return self._exact(value) if sum(map(len, value.numerator.values())) <= MOST_TERMS else None
        trends = [trend for argument in value.arguments if (trend := self._of_value(argument)) is not None]
        return _combined(value.operator, trends) if len(trends) == len(value.arguments) else None

    def _of_parts(self, node: Expr) -> Trend:
        match node:
            case Unary(op=UnaryOp.NEGATE, operand=operand):
                return _negated(self.trend(operand))
            case Binary(op=BinaryOp.SUBTRACT, left=left, right=right):
                return _sum(self.trend(left), _negated(self.trend(right)))
            case Binary(op=op, left=left, right=right) if op in _OPERATORS:
                return _combined(_OPERATORS[op], [self.trend(left), self.trend(right)])
            case Binary(op=BinaryOp.POWER, left=left, right=right):
                with suppress(FormError):
                    return _power(self.trend(left), self.whole.rational(right, self.names))
            case Call(function="exp" | "erfc" as function, arguments=(inner,)):
                trend = self.trend(inner) if function == "exp" else _negated(self.trend(inner))
                return Trend(trend.falls, trend.rises, True, False, True, trend.continuous)
            case Call(function="min" | "max" | "abs" as function, arguments=arguments):
                return _combined(Operator(function.capitalize()), [self.trend(argument) for argument in arguments])
        names = {GREEK.get(each.name, each.name) for each in walk(node) if isinstance(each, Name)}
        free = all(self.unknown not in self.names[name].unknowns() for name in names & self.names.keys())
        return Trend(free, free, continuous=False)

    def _exact(self, value: Parametric) -> Trend:
        below = sign_throughout(self.intervals)(value.denominator)
        if not below:
            # The divisor is never 0, but has both signs.
            free = self.unknown not in value.unknowns()
            return Trend(free, free)
        above = value if below > 0 else -value
        falls, rises = _falls(above, self.unknown), _falls(-above, self.unknown)
        summands = list(above.terms())
        positive = all(c > 0 for *_, c in summands) and any(
            all(j == 0 for _, j, _ in factors) for _, _, factors, _ in summands
        )
        return Trend(
            falls is True,
            rises is True,
            _nonnegative(above, self.intervals),
            _nonnegative(-above, self.intervals),
            positive,
            growth=falls if isinstance(falls, GrowthWitness) else None,
        )


# --- signs of one function -------------------------------------------------------------------------


def _nonnegative(value: Parametric, intervals: Sequence[Interval]) -> bool:
    """Return True only if the numerator of `value` is >= 0 for all eps of the `intervals` and all unknowns >= 0.

    The unknowns are the distances in `value`, such as alpha and gamma.
    """
    if all(c > 0 for *_, c in value.terms()):
        return True
    if value.is_flat():
        return all(_holds(value.numerator_flat(), interval) for interval in intervals)
    return any(
        all(_holds(poly, Interval.POSITIVE) for poly in _polynomials_by_factor(value, name).values())
        for name in value.unknowns()
    )


def _falls(value: Parametric, name: str) -> bool | GrowthWitness:
    """Return True only if the numerator of `value` does not increase with the unknown `name`, for every eps > 0.

    The unknowns are distances such as alpha, and the others may have any values >= 0. If the numerator is proved to
    increase somewhere, the result is a GrowthWitness of such a place. It is False if neither is proved.
    """
    if _nonnegative(-value.derivative(name), [Interval.POSITIVE]):
        return True
    coefficients = _polynomials_by_factor(value, name)
    failed: list[Fraction] = []
    unsettled = False
    for poly in coefficients.values():
        try:
            decision = decide_nonnegative(-poly.derivative(), Interval.POSITIVE)
        except Undecided:
            unsettled = True
            continue
        if decision.witness is not None:
            failed.append(decision.witness)
    if not failed and not unsettled:
        return True
    if len(coefficients) == 1 and failed:
        return GrowthWitness(name, None, None, failed[0])
    return _growth(value, name)


def _polynomials_by_factor(value: Parametric, name: str) -> dict[object, ExpPoly]:
    coefficients: dict[object, list[tuple[int, Fraction, Fraction]]] = {}
    for k, q, factors, c in value.terms():
        j, r = next(((j, r) for other, j, r in factors if other == name), (0, Fraction(0)))
        rest = (k - j, q, tuple(factor for factor in factors if factor[0] != name))
        coefficients.setdefault(rest, []).append((j, r, c))
    return {rest: ExpPoly.from_terms(terms) for rest, terms in coefficients.items()}


def _growth(value: Parametric, name: str) -> bool | GrowthWitness:
    """Return a place where the numerator of `value` is proved to increase with the unknown `name`, or False.

    Only a few values of the unknowns, which are distances such as alpha, are tried. True is never returned.
    """
    others = sorted(value.unknowns() - {name})
    for values in product(_SAMPLES, repeat=1 + min(len(others), 2)):
        point = {other: Fraction(1) for other in others} | dict(zip([name, *others], values, strict=False))
        numbers = {other: Parametric.number(number) for other, number in point.items()}
        slope = value.derivative(name).substituted(numbers)
        assert slope is not None, "an unknown can be replaced by a number"
        with suppress(Undecided):
            decision = decide_nonnegative(-slope.numerator_flat(), Interval.POSITIVE)
            if decision.witness is not None:
                return GrowthWitness(name, point[name], decision.witness, None)
    return False


def _holds(function: ExpPoly, interval: Interval) -> bool:
    try:
        return is_nowhere_negative(function, (interval,))
    except Undecided:
        return False


# --- rules -----------------------------------------------------------------------------------------

_OPERATORS = {BinaryOp.ADD: Operator.SUM, BinaryOp.MULTIPLY: Operator.PRODUCT, BinaryOp.DIVIDE: Operator.QUOTIENT}


def _combined(operator: Operator, trends: Sequence[Trend]) -> Trend:
    match operator:
        case Operator.SUM:
            return _sum(*trends)
        case Operator.PRODUCT:
            return _product(*trends)
        case Operator.QUOTIENT:
            left, right = trends
            return _product(left, _inverse(right))
        case Operator.ABS:
            return _absolute(*trends)
    some, every = (any, all) if operator is Operator.MAX else (all, any)
    return Trend(
        all(it.falls for it in trends),
        all(it.rises for it in trends),
        some(it.nonnegative for it in trends),
        every(it.nonpositive for it in trends),
        some(it.positive for it in trends),
        all(it.continuous for it in trends),
    )


def _either(one: Trend, other: Trend) -> Trend:
    """Return the properties proved by `one` or by `other`, which are about the same expression."""
    return Trend(
        one.falls or other.falls,
        one.rises or other.rises,
        one.nonnegative or other.nonnegative,
        one.nonpositive or other.nonpositive,
        one.positive or other.positive,
        one.continuous or other.continuous,
        one.growth or other.growth,
    )


def _negated(it: Trend) -> Trend:
    return Trend(it.rises, it.falls, it.nonpositive, it.nonnegative, False, it.continuous)


def _sum(left: Trend, right: Trend) -> Trend:
    return Trend(
        left.falls and right.falls,
        left.rises and right.rises,
        left.nonnegative and right.nonnegative,
        left.nonpositive and right.nonpositive,
        left.nonnegative and right.nonnegative and (left.positive or right.positive),
        left.continuous and right.continuous,
    )


def _product(left: Trend, right: Trend) -> Trend:
    if left.nonpositive and not left.nonnegative:
        return _negated(_product(_negated(left), right))
    if right.nonpositive and not right.nonnegative:
        return _negated(_product(left, _negated(right)))
    continuous = left.continuous and right.continuous
    if left.nonnegative and right.nonnegative:
        both = left.positive and right.positive
        return Trend(
            left.falls and right.falls,
            left.rises and right.rises,
            True,
            (left.nonpositive or right.nonpositive),
            both,
            continuous,
        )
    if right.nonnegative and right.constant:
        return Trend(left.falls, left.rises, continuous=continuous)
    if left.nonnegative and left.constant:
        return Trend(right.falls, right.rises, continuous=continuous)
    constant = left.constant and right.constant
    return Trend(constant, constant, continuous=continuous)


def _inverse(it: Trend) -> Trend:
    if not it.positive:
        # A divisor without the unknown is never 0, or the claim is refused.
        return Trend(it.constant, it.constant, it.nonnegative, it.nonpositive, it.nonnegative, it.constant)
    return Trend(it.rises, it.falls, True, False, True, it.continuous)


def _power(base: Trend, exponent: Fraction) -> Trend:
    if exponent.denominator != 1:
        return Trend(continuous=False)
    result = Trend(True, True, True, False, True, base.continuous)
    for _ in range(abs(int(exponent))):
        result = _product(result, base)
    return result if exponent >= 0 else _inverse(result)


def _absolute(it: Trend) -> Trend:
    if it.nonnegative:
        return it
    if it.nonpositive:
        return _negated(it)
    return Trend(it.constant, it.constant, True, False, False, it.continuous)


# --- The theorem of section 6 of the paper by which single obligations decide more than themselves --------------------


@frozen
class Condition(Record):
    """A condition of a theorem; `holds` is True only if it was proved, and `why` is the reason for either."""

    FIELDS = "condition=name holds why"

    name: str
    holds: bool
    why: str


#: The source of the theorems.
_PAPER = "Barthe et al., POPL 2021"


@frozen
class Theorem(Record):
    """A statement that all obligations of a claim together decide, and the theorem that this follows from.

    `decides` is the statement: it completes the sentence "the verdict is for …". `name` is the name of the theorem. It
    is None if one of the `conditions` was not proved: then the obligations decide only the claim with alpha = dd(u).
    """

    FIELDS = "name decides conditions"

    name: str | None
    decides: str
    conditions: tuple[Condition, ...]

    @property
    def failed(self) -> Condition | None:
        """The first condition that was not proved; None if all are proved."""
        return next((condition for condition in self.conditions if not condition.holds), None)

    def __str__(self) -> str:
        if self.name is not None:
            return f"for {self.decides}, as {self.conditions[0].why} ({self.name} of {_PAPER})"
        failed = self.failed
        assert failed is not None
        return f"only for {self.decides}: {failed.why}"


# --- The conditions of the theorems of section 6, checked exactly for one claim ---------------------------------------
#
# The claim of a program is a region: the distances (alpha, gamma) that it is about, and beta as a function of them, of
# eps and of the input. A region is
#
# - *simple* (Definition 5) if alpha and gamma do not depend on eps (they do in no claim) and beta never grows when
#   alpha or gamma does: decided by the sign of the derivatives, for all eps > 0 and all alpha, gamma >= 0 at once;
# - *limit-definable* (Definition 8) if linear inequalities describe the set of (alpha, gamma) (alpha is dd, a number or
#   a linear function of gamma), and beta has no jumps, and has limits where a distance is infinite. Beta is built from
#   exponential polynomials in alpha·eps and gamma·eps by + - * / min max abs, so it jumps only where a divisor is 0;
# - *(alpha, gamma)-monotonic* (Definition 11) if the greatest alpha < a that belongs to gamma never falls as gamma
#   grows. This is true if alpha does not depend on gamma, and for alpha = k·gamma + b exactly if k >= 0.
#
# Theorem 10: with gamma fixed and a limit-definable region, the obligation at alpha = dd(u) is necessary and sufficient
# for all alpha < dd(u). The paper's beta is in [0, 1]; a greater beta claims nothing, and min(beta, 1) keeps all
# conditions.

#: The most different betas of a table whose conditions are examined.
MOST_BETAS = 300


def theorem_of(claim: Claim) -> Theorem | None:
    """Return Theorem 10 with its conditions: whether rows with alpha = dd decide `claim` for every alpha < dd.

    The result is None if no row has alpha = dd. Whatever the result, each row's own obligation decides the verdict on
    the row.
    """
    rows = [(key, terms) for key, terms in claim.compiled() if at_dd(claim, key)]
    if not rows:
        return None
    tied = claim.gamma is not None and any(key[2] is None for key, _ in rows) and mentions(claim.gamma.tree, "alpha")
    fixed = Condition(
        "gamma is fixed", not tied, "gamma depends on alpha" if tied else "gamma does not depend on alpha"
    )
    gammas = {terms.gamma.value for _, terms in rows}
    gamma = gammas.pop() if len(gammas) == 1 else None
    values = {"gamma": Parametric.number(gamma)} if isinstance(gamma, Fraction) else {}
    conditions = (fixed, *region_conditions(claim, betas_of(claim, [key for key, _ in rows]), values, ("alpha",)))
    if all(condition.holds for condition in conditions):
        return Theorem("Theorem 10", "every alpha < dd(u)", conditions[1:])
    return Theorem(None, "alpha = dd(u)", conditions)


def theorem_of_every_gamma(claim: Claim, curve: tuple[Fraction, Fraction] | None) -> Theorem:
    """Return Theorem 12 of the paper, with its conditions, for a `claim` that leaves gamma open in some rows.

    The theorem says that deciding single values of gamma decides the claim for every gamma. `curve` is (k, b) if alpha
    is k·gamma + b, or None if alpha does not mention gamma. Raises DiagnosticError if a condition is not proved.
    """
    keys = [key for key, _ in claim.compiled() if key[2] is None]
    betas = betas_of(claim, keys)
    alphas = {terms.alpha for key, terms in claim.compiled() if key[2] is None}
    alpha = alphas.pop() if len(alphas) == 1 else None
    values = {} if alpha is None else {"alpha": Parametric.number(alpha)}
    growing: tuple[str, ...] = ("gamma",)
    if any(at_dd(claim, key) for key in keys):
        values = {}
        growing = ("alpha", "gamma")
    elif curve is not None:
        rate, base = map(Parametric.number, curve)
        values = {"alpha": rate * Parametric.unknown("gamma") + base}
    conditions = list(region_conditions(claim, betas, values, growing))
    slope = Fraction(0) if curve is None else curve[0]
    why = "alpha does not depend on gamma" if slope == 0 else "alpha never falls as gamma grows"
    monotonic = Condition("(alpha, gamma)-monotonic", slope >= 0, why if slope >= 0 else "alpha falls as gamma grows")
    decides = "every gamma and every alpha < dd(u)" if len(growing) > 1 or slope else "every gamma"
    theorem = Theorem("Theorem 12", decides, (*conditions, monotonic))
    failed = theorem.failed
    if failed is not None:
        raise DiagnosticError(_outside(claim, failed))
    return theorem


def gamma_curve(claim: Claim) -> tuple[Fraction, Fraction] | None:
    """Return (k, b) if the alpha of `claim` is k·gamma + b, or None if alpha does not mention gamma.

    Raises DiagnosticError if alpha depends on gamma in another way.
    """
    if claim.alpha is None or not mentions(claim.alpha.tree, "gamma"):
        return None
    value = claim.alpha.value({**claim.constants, "gamma": Parametric.unknown("gamma")})
    found = value.linear("gamma") if isinstance(value, Parametric) else None
    if found is not None:
        return found[1], found[0]
    raise claim.alpha.error(
        "E1253",
        "the claim is not limit-definable: alpha is not a linear function of gamma",
        claim.alpha.tree,
        "",
        "with gamma free, alpha must be dd, a number, or a number plus a multiple of gamma",
    )


def _outside(claim: Claim, failed: Condition) -> Diagnostic:
    beta = claim.beta
    excerpt = None if beta is None else beta.source.excerpt(beta.tree.span)
    notes = ("give gamma a number: only under this condition does one decision cover a range of gamma",)
    return Diagnostic("E1253", f"gamma is free, but the claim is not {failed.name}: {failed.why}", excerpt, notes=notes)


def region_conditions(
    claim: Claim, betas: Iterable[ClaimExpression], values: Mapping[str, Parametric], growing: tuple[str, ...]
) -> tuple[Condition, ...]:
    """Return the conditions "simple" and "limit-definable" of Theorem 10 or 12 for `claim`, checked for all `betas`.

    The condition "simple" is that no beta grows with a distance; "limit-definable" is that every beta is continuous.
    `growing` has the names of the distances that range over all numbers >= 0. `values` has the values of alpha and
    gamma, by name, for each of them that has one.
    """
    left_open = {name: Parametric.unknown(name) for name in DISTANCES}
    names = claim.constants | left_open | dict(values)
    betas = list(betas)
    if len(betas) > MOST_BETAS:
        why = f"the rows have {len(betas)} different betas, too many to examine"
        return Condition("simple", False, why), Condition("limit-definable", False, why)
    falls: list[str] = []
    jumps = False
    for beta in betas:
        for unknown in growing:
            behavior = trend(beta, unknown, names, claim.intervals)
            if behavior.growth is not None:
                falls.append(f"beta grows with {unknown} {behavior.growth}")
            elif not behavior.falls:
                falls.append(f"it could not be shown that beta never grows with {unknown}")
            jumps = jumps or not behavior.continuous
    both = " or ".join(growing)
    simple = Condition("simple", not falls, falls[0] if falls else f"beta never grows with {both}")
    why = "it could not be shown that no divisor in beta is 0" if jumps else f"beta is continuous in {both}"
    return simple, Condition("limit-definable", not jumps, why)


def at_dd(claim: Claim, key: Key) -> bool:
    """Return True if the alpha of `claim` is dd(u) in rows with the cells `key`, which are (alpha, beta, gamma, dd)."""
    alpha, _, _, dd = key
    if alpha is not None:
        return alpha.value == "dd"
    if claim.alpha is None:
        return dd is not None
    return isinstance(claim.alpha.tree, Name) and claim.alpha.tree.name == "dd"


def betas_of(claim: Claim, keys: Iterable[Key]) -> list[ClaimExpression]:
    """Return the distinct betas of `claim` in rows with `keys`, each a tuple of cells (alpha, beta, gamma, dd)."""
    texts = {beta.text if beta is not None else None for _, beta, _, _ in keys}
    columns = [claim.column_beta(text) for text in sorted(text for text in texts if text is not None)]
    return [claim.beta, *columns] if claim.beta is not None and None in texts else columns


# --- Lower bounds of a beta that are functions of distance·eps alone or of eps alone ----------------------------------
#
# beta = f(alpha·eps) + g(eps) with f, g >= 0 is at least f and at least g. A claim with f or g alone is stronger, and
# its classes have one obligation each. Little is lost, as f and g are limits of beta: g(eps) goes to 0 because alpha
# can be arbitrarily small for a given alpha·eps, and f goes to 0 far away from other answers.


def lesser(
    beta: ClaimExpression, names: Mapping[str, Parametric], distances: Collection[str], *, far: bool
) -> str | None:
    """Return the text of `beta` without some of its summands, a function that is at most `beta`.

    This holds for all eps > 0 and all distances > 0. The summands left out are those that are proved nonnegative and
    mention one of the `distances` or, if `far`, none of them. The result is None if no summand is left out. `names` has
    the values of all names in `beta`.
    """
    kept: list[Expr] = []
    for term in summands(beta.tree):
        near = any(mentions(term, name) for name in distances)
        if near is not far or not is_nonnegative(beta, term, names):
            kept.append(term)
    if len(kept) == len(summands(beta.tree)):
        return None
    total: Expr = kept[0] if kept else Number(Fraction(0), "0")
    for term in kept[1:]:
        total = Binary(BinaryOp.ADD, total, term)
    return print_expression(total)


def below_one(beta: ClaimExpression) -> ClaimExpression:
    """Return the argument e if `beta` is min(c, e) with a number c >= 1; return any other `beta` unchanged.

    For example, min(1, 2*exp(-eps)) becomes 2*exp(-eps). Since an error probability is at most 1, the claim stays the
    same.
    """
    match beta.tree:
        case Call("min", arguments):
            left = [argument for argument in arguments if not (isinstance(argument, Number) and argument.value >= 1)]
            return replace(beta, tree=left[0]) if len(left) == 1 else beta
    return beta


def is_nonnegative(beta: ClaimExpression, term: Expr, names: Mapping[str, Parametric]) -> bool:
    """Return True if `term`, a summand of `beta`, is an exponential polynomial with positive coefficients.

    False does not mean that the summand can be negative. `names` has the values of all names in `term`.
    """
    try:
        value = ClaimExpression(beta.what, beta.source, term).value(names)
    except DiagnosticError:
        return False
    if not isinstance(value, Parametric) or value.denominator != ExpPoly.ONE:
        return False
    return all(c > 0 for _, _, _, c in value.terms())


# --- Betas of two open distances: as sums of functions of one distance each, or as functions of the lesser ------------
#
# A claim with beta = f(alpha) + g(gamma) follows from two: that the finite outputs are right with f, and that the
# others are near with g.

_ALPHA = ("alpha", "dd")
_GAMMA = ("gamma",)


@frozen
class Halves:
    """A function of alpha and a function of gamma, as strings, whose sum is at most beta."""

    alpha: str
    gamma: str


def depends(beta: ClaimExpression, *, alpha: bool = False, gamma: bool = False) -> bool:
    """Return True if `beta` mentions a selected distance: alpha or dd if `alpha` is True, gamma if `gamma` is True."""
    names = (*(_ALPHA if alpha else ()), *(_GAMMA if gamma else ()))
    return any(mentions(beta.tree, name) for name in names)


def at_alpha(beta: ClaimExpression, value: Fraction) -> str:
    """Return the text of `beta` with the number `value` for alpha."""
    number = Number(value, str(value))

    def change(node: Expr) -> Expr | None:
        return number if isinstance(node, Name) and GREEK.get(node.name, node.name) in _ALPHA else None

    return print_expression(rewritten(beta.tree, change))


def of_lesser(beta: ClaimExpression, name: str) -> str | None:
    """Return the text of f(`name`) if `beta` is written as f(min(alpha, gamma)), else None.

    `name` is alpha or gamma.
    """
    replaced = 0

    def lesser(node: Expr) -> Expr | None:
        nonlocal replaced
        if not (isinstance(node, Call) and node.function == "min"):
            return None
        names = {GREEK.get(a.name, a.name) if isinstance(a, Name) else "" for a in node.arguments}
        if not names <= {*_ALPHA, *_GAMMA} or names.isdisjoint(_ALPHA) or names.isdisjoint(_GAMMA):
            return None
        replaced += 1
        return Number(Fraction(0), "0")

    rest = rewritten(beta.tree, lesser)
    if not replaced or any(mentions(rest, name) for name in (*_ALPHA, *_GAMMA)):
        return None
    return print_expression(rewritten(beta.tree, lambda node: None if lesser(node) is None else Name(name)))


def halves(beta: ClaimExpression, names: Mapping[str, Parametric], *, one_gamma: bool = False) -> tuple[Halves, ...]:
    """Return lower bounds of `beta`, each the sum of a function of alpha and a function of gamma.

    Each bound is valid for every eps > 0, alpha >= 0 and gamma >= 0. The result is empty if no bound is found. `names`
    has the values of the names in `beta`, with alpha, dd and gamma as unknowns; dd counts as alpha.

    1. A summand that depends on alpha alone, or on gamma alone, belongs to the function of this distance.
    2. A summand that depends on alpha and gamma is left out if it is proved nonnegative; otherwise there is no bound.
    3. A summand of eps alone is left out if it is proved nonnegative. Any other summand without alpha and gamma gives
       two bounds: one adds it to the function of alpha, the other to that of gamma.

    With `one_gamma`, gamma is a number, and every summand without alpha belongs to the function of gamma. Further
    bounds leave out each nonnegative summand that depends on alpha or gamma but is not a function of alpha·eps and
    gamma·eps.
    """
    result = (_split(beta, names, scaling, one_gamma) for scaling in (False, True))
    return tuple(dict.fromkeys(halves for splits in result for halves in splits))


def _split(
    beta: ClaimExpression, names: Mapping[str, Parametric], scaling: bool, one_gamma: bool
) -> tuple[Halves, ...]:
    """Return lower bounds of `beta`, each the sum of a function of alpha and a function of gamma.

    Summands are assigned to the two functions as `halves` says. The result is empty if a summand that depends on both
    distances is not proved nonnegative. `names` has the values of the names in `beta`. With `one_gamma`, gamma is a
    number, and a summand without alpha belongs to the function of gamma. With `scaling`, a nonnegative summand that
    depends on a distance is left out unless it is a function of alpha·eps and gamma·eps.
    """
    of_alpha: list[str] = []
    of_gamma: list[str] = []
    of_either: list[str] = []
    for text, distances, is_number, is_positive in _terms(beta, names, scaling):
        if one_gamma and distances.isdisjoint(_ALPHA):
            of_gamma.append(text)
        elif not distances:
            if is_number or not is_positive:
                of_either.append(text)
        elif distances <= {*_ALPHA} or distances <= {*_GAMMA}:
            (of_alpha if distances <= {*_ALPHA} else of_gamma).append(text)
        elif not is_positive:
            return ()
    near, far, either = (" + ".join(texts) or "0" for texts in (of_alpha, of_gamma, of_either))
    if not of_either:
        return (Halves(near, far),)
    return Halves(f"{near} + {either}", far), Halves(near, f"{far} + {either}")


def _terms(
    beta: ClaimExpression, names: Mapping[str, Parametric], scaling: bool
) -> Iterator[tuple[str, set[str], bool, bool]]:
    """Yield (text, names of its distances, is it free of eps, is it proved nonnegative) for each summand of `beta`.

    `names` has the values of the names in `beta`. With `scaling`, a nonnegative summand that depends on a distance is
    left out unless it is a function of alpha·eps and gamma·eps. If `beta` has no value, or only a quotient, the
    summands are those of its text, and `scaling` has no effect.
    """
    value = None
    # If a divisor contains a distance, there is no value, and the expression is split summand by summand.
    with suppress(DiagnosticError):
        value = beta.value(names)
    if not isinstance(value, Parametric) or value.denominator != ExpPoly.ONE:
        for tree in summands(beta.tree):
            distances = {name for name in (*_ALPHA, *_GAMMA) if mentions(tree, name)}
            is_number = not any(isinstance(node, Eps) for node in walk(tree))
            yield f"({print_expression(tree)})", distances, is_number, is_nonnegative(beta, tree, names)
        return
    for k, q, factors, c in value.terms():
        if not (scaling and c > 0 and factors and (q or k != sum(j for _, j, _ in factors))):
            written = [f"({c})", f"eps^{k}", f"exp(({q})*eps)"]
            for name, j, r in factors:
                written += [f"{name}^{j}", f"exp(({r})*{name}*eps)"]
            yield "*".join(written), {name for name, _, _ in factors}, not k and not q, c > 0

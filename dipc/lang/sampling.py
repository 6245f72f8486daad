"""Sampling statements: does the distribution suit the variable, are its rate, mean, scores and weights in order."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from dipc.lang import ast
from dipc.lang.budget import STATEMENTS_A_WEIGHT, Budget
from dipc.lang.codes import Code
from dipc.lang.core import (
    AffineExpr,
    BoolType,
    Const,
    DomExpr,
    DomType,
    IntType,
    NoiseFamily,
    RealType,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Type,
)
from dipc.lang.display import show_type, show_values
from dipc.lang.domains import resolve_domain
from dipc.lang.expressions import Elaborator
from dipc.lang.fitting import Fitting
from dipc.lang.place import Place
from dipc.lang.rates import rate, weight
from dipc.lang.typed import UNKNOWN, Concrete, Kind, Linear, Switch, Typed, Unknown, kind_of

_SUITS: dict[NoiseFamily, type[Type]] = {
    NoiseFamily.LAPLACE: RealType,
    NoiseFamily.ONE_SIDED: RealType,
    NoiseFamily.DISCRETE_LAPLACE: IntType,
}
_HELP = "Lap and Expo draw reals, DLap draws ints, Exp and choose draw DOM values"


class Sampling:
    """Turns sampling statements into instructions."""

    def __init__(self, elaborator: Elaborator, fitting: Fitting, budget: Budget) -> None:
        self._elaborator = elaborator
        self._findings = elaborator.findings
        self._fitting = fitting
        self._budget = budget

    def instruction(
        self, place: Place | None, statement: ast.Sample, mean: Typed
    ) -> SampleNoise | SampleExponential | SampleChoice | None:
        """The instruction; None when something is wrong with it, which has been reported. `mean` is what its mean comes
        to, where it has one."""
        distribution = statement.distribution
        match distribution:
            case ast.Laplace(scale, around):
                return self._noise(place, statement, NoiseFamily.LAPLACE, scale, around, mean)
            case ast.DiscreteLaplace(scale, around):
                return self._noise(place, statement, NoiseFamily.DISCRETE_LAPLACE, scale, around, mean)
            case ast.OneSided(scale):
                return self._noise(place, statement, NoiseFamily.ONE_SIDED, scale, None, mean)
            case ast.ExponentialMechanism():
                return self._exponential(place, statement, distribution)
            case ast.Choose():
                return self._choice(place, statement, distribution)
            case _:
                assert_never(distribution)

    def _noise(
        self,
        place: Place | None,
        statement: ast.Sample,
        family: NoiseFamily,
        scale: ast.Expr,
        around: ast.Expr | None,
        mean: Typed,
    ) -> SampleNoise | None:
        suits = self._suits(place, _SUITS[family], statement, family.value)
        slope = rate(scale, self._elaborator)
        center: AffineExpr | None = AffineExpr((), Const(Fraction(0)), statement.span)
        if around is not None:
            type_ = IntType() if family is NoiseFamily.DISCRETE_LAPLACE else RealType()
            name = place.target.name if place is not None else f"the mean of {family.value}"
            center = self._fitting.affine(type_, mean, around, name) if suits else None
        if place is None or not suits or slope is None or center is None:
            return None
        return SampleNoise(place.target, family, slope, center, statement.span)

    def _suits(self, place: Place | None, wanted: type[Type], statement: ast.Sample, name: str) -> bool:
        """Whether the variable can hold what is drawn; an unknown variable is no new reason to complain."""
        if place is None or place.type is None:
            return False
        if isinstance(place.type, wanted):
            return True
        self._findings.report(
            Code.WRONG_DISTRIBUTION,
            statement.target.span,
            f"`{place.target.name}` is of type {show_type(place.type)}, and {name} draws "
            f"{'ints' if wanted is IntType else 'reals'}",
            notes=(_HELP,),
        )
        return False

    def _holder(self, place: Place | None, statement: ast.Sample, name: str) -> BoolType | DomType | None:
        """The finite type of the variable; None when it has none."""
        if place is None or place.type is None or isinstance(place.type, BoolType | DomType):
            return None if place is None or not isinstance(place.type, BoolType | DomType) else place.type
        self._findings.report(
            Code.WRONG_DISTRIBUTION,
            statement.target.span,
            f"`{place.target.name}` is of type {show_type(place.type)}, and {name} draws DOM values",
            notes=(_HELP,),
        )
        return None

    def _exponential(
        self, place: Place | None, statement: ast.Sample, distribution: ast.ExponentialMechanism
    ) -> SampleExponential | None:
        holder = self._holder(place, statement, "Exp")
        slope = rate(distribution.rate, self._elaborator)
        domain = resolve_domain(distribution.domain, self._elaborator)
        scores = self._scores(distribution, domain)
        if place is None or holder is None or domain is None or not self._all_fit(holder, domain, place, distribution):
            return None
        if slope is None or scores is None:
            return None
        return SampleExponential(place.target, slope, domain.values, scores, statement.span)

    def _scores(self, distribution: ast.ExponentialMechanism, domain: DomType | None) -> tuple[DomExpr, ...] | None:
        """The score at every value of the domain; None when one is wrong."""
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
                found = self._score(score)
                if found is None:
                    break
                scores.append(found)
        del elaborator.locals[name]
        if hidden is not None:
            elaborator.locals[name] = hidden
        return tuple(scores) if domain is not None and len(scores) == size else None

    def _score(self, expr: ast.Expr) -> DomExpr | None:
        typed = self._elaborator.typed(expr)
        if isinstance(typed, Unknown):
            return None
        if isinstance(typed, Concrete) and typed.kind is Kind.NUMBER:
            return typed.expr
        what = typed.kind.value if isinstance(typed, Concrete | Linear | Switch) else Kind.BOOL.value
        self._findings.report(
            Code.MISMATCH,
            expr.span,
            f"a score must be a DOM number, and `{self._findings.snippet(expr.span)}` is {what}",
            notes=("scores are made of constants, DOM variables and the variable of Exp",),
        )
        return None

    def _all_fit(
        self, holder: BoolType | DomType, domain: DomType, place: Place, distribution: ast.ExponentialMechanism
    ) -> bool:
        """Whether the variable can hold every value that may be drawn."""
        name = place.target.name
        if isinstance(holder, BoolType) or kind_of(holder) is not kind_of(domain):
            self._findings.report(
                Code.MISMATCH,
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

    def _choice(self, place: Place | None, statement: ast.Sample, distribution: ast.Choose) -> SampleChoice | None:
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
            value = self._fitting.concrete(holder, typed, written, place.target.name)
            if value is not None and weighed is not None:
                arms.append((value, weighed))
        if place is None or len(arms) < len(distribution.arms):
            return None
        return SampleChoice(place.target, tuple(arms), statement.span)

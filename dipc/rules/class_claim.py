"""Claims about all distances at once: beta as a function of the single product t = distance·eps.

If every slack of an event is a multiple of the distance, the probability depends on distance·eps alone: Pr(distance,
eps) = p(distance·eps). The reason: a noise of rate a·eps, compared at the distance x, has the law of eps·N compared at
eps·x. If beta is a function of t = distance·eps too, one obligation in t decides all distances > 0 and all eps
together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from dipc.algebra.parametric import Parametric, rebuild
from dipc.claims.claim import (
    FREE,
    Claim,
    ClaimOptions,
    Terms,
    forgotten,
    is_free,
    missing_beta,
    resolve_claim,
    unused_gamma,
)
from dipc.claims.expression import ClaimExpression, normal_parts
from dipc.claims.expression import scales as normal_scales
from dipc.claims.given import INFINITY, Cell
from dipc.claims.table import Row, Table
from dipc.frozen import LazyModule
from dipc.program.program import Program
from dipc.rules.rule import Requirement
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm
from dipc.text.ast import Name, mentions
from dipc.text.core import show_value
from dipc.text.diagnostic import Diagnostic, DiagnosticError, bad_input
from dipc.text.program import CoreProgram

if TYPE_CHECKING:
    from dipc.claims import conditions
else:
    conditions = LazyModule("dipc.claims.conditions")

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The names of the distance to disagreement, where that is alpha.
_DISTANCES = ("alpha", "dd")

_NO_TABLE = Table("all inputs", (), frozenset(), {})
_ANY_ROW = Row(1, (), (), None, None, None, None)


class ClassClaim:
    """The claim about all inputs, as the options and the program's claim block state it; no table is used."""

    def __init__(self, program: Program, options: ClaimOptions, *, together: bool = False) -> None:
        """Read the claim from `options` and from the claim block of `program`.

        Only if `together` is True may the claim leave both alpha and gamma open. Raises DiagnosticError for a claim
        that cannot be read, or that cannot be made about all inputs.
        """
        self.options = options
        self.free_gamma = is_free(program.core, options.gamma)
        self._program: CoreProgram = program.core
        fixed = replace(options, gamma=0) if self.free_gamma else options
        self._claim: Claim = resolve_claim(self._program, _NO_TABLE, fixed)
        self.intervals: tuple[Interval, ...] = self._claim.intervals
        if self._claim.beta is None:
            raise DiagnosticError(missing_beta(self._program, table=False))
        self.beta: ClaimExpression = self._claim.beta
        self.gamma: ClaimExpression | None = None if self.free_gamma else self._claim.gamma
        self.alpha: ClaimExpression | None = self._claim.alpha
        expression = self.alpha
        if expression is not None and mentions(expression.tree, "gamma"):
            advised = "to let both grow together, let gamma depend on alpha: `--alpha dd --gamma alpha`"
            raise expression.error(
                "E1211", "in a claim about all inputs, alpha must be `dd` or a number", expression.tree, "", advised
            )
        self.at_distance = expression is None or (isinstance(expression.tree, Name) and expression.tree.name == "dd")
        #: Whether a distance is left open: dd(u), or gamma.
        self.is_open = self.at_distance or self.free_gamma
        #: Whether alpha is dd(u), and gamma left open as well: then no single distance is.
        self.both_open = self.free_gamma and self.at_distance
        if self.both_open and not together:
            advice = (
                "give alpha a number, such as --alpha 0",
                "or let gamma depend on it: --gamma alpha",
                "`dipc check --inputs all`, without --for-all, decides both together",
            )
            raise bad_input("E1201", "alpha and gamma cannot both be left open", *advice)
        self._open: Requirement | None = None
        self.alpha_text = "dd" if self.at_distance else str(self.alpha_number())

    @property
    def texts(self) -> dict[str, str | None]:
        """The texts of alpha, beta and gamma as the claim states them."""
        gamma = FREE if self.free_gamma else self._claim.text_of("gamma")
        return {"alpha": self.alpha_text, "beta": self._claim.text_of("beta"), "gamma": gamma}

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Warnings about gamma: it has no effect, or it is 0 although beta depends on it."""
        if self.free_gamma:
            return ()
        if self.gamma is None:
            return (forgotten(self._claim),) if mentions(self.beta.tree, "gamma") else ()
        return unused_gamma(self._program, self._program.has_product_distance) if self.texts["gamma"] != "0" else ()

    @property
    def gamma_moves(self) -> bool:
        """True if the claim leaves a distance open, and gamma grows with this distance."""
        return self.is_open and bool(self.open().gamma_rate)

    def requirement(self) -> Requirement:
        """Return the claim as a `Requirement`, for the number alpha or for every value of an open distance.

        Raises DiagnosticError as `open` and `without_distance` do.
        """
        return self.open() if self.is_open else self.without_distance()

    def without_distance(self) -> Requirement:
        """Return the requirement of a claim in which alpha is a number.

        Raises DiagnosticError if beta has no exact meaning.
        """
        return self._fixed(None)

    def at_number(self, distance: Fraction | None) -> Requirement:
        """Return the requirement for inputs with dd(u) = alpha = `distance`; a `distance` of None is infinity."""
        if distance is None:
            return replace(self._fixed(INFINITY), dd="inf")
        return replace(self._fixed(Cell(distance, show_value(distance))), dd=str(distance))

    def whatever_distance(self) -> Requirement | None:
        """Return the requirement at the distance 0 if it implies the claim at every distance, else None.

        The distance is the one that the claim leaves open, alpha or gamma. The implication holds if beta does not
        depend on the distance, since the probability never falls as gamma grows.
        """
        if self.free_gamma:
            names: tuple[str, ...] = ("gamma",)
        elif self.at_distance:
            names = (*_DISTANCES, "gamma") if self.gamma_depends_on_distance else _DISTANCES
        else:
            return None
        if any(mentions(self.beta.tree, name) for name in names):
            return None
        if self.free_gamma:
            return Requirement.fixed(self.alpha_number(), _ZERO, self.at_gamma(_ZERO))
        return replace(self.at_number(_ZERO), dd=None)

    @property
    def gamma_depends_on_distance(self) -> bool:
        """Whether gamma depends on the distance to disagreement."""
        return self.gamma is not None and any(mentions(self.gamma.tree, name) for name in _DISTANCES)

    def far(self) -> BetaForm:
        """Return the limit of beta as alpha and gamma, both open, grow without bound.

        Raises DiagnosticError if beta has no limit.
        """
        return self._claim.terms_towards(replace(_ANY_ROW, dd=INFINITY), None, None, Cell(Fraction(0), "0"), "inf").beta

    def at_gamma(self, gamma: Fraction) -> BetaForm:
        """Return beta as a function of eps for the value `gamma` of an open gamma."""
        one = resolve_claim(self._program, _NO_TABLE, replace(self.options, gamma=gamma, eps=None))
        return one.terms(_ANY_ROW).beta

    def _fixed(self, distance: Cell | None) -> Requirement:
        terms: Terms = self._claim.terms(replace(_ANY_ROW, dd=distance))
        assert isinstance(terms.gamma.value, Fraction)
        return Requirement.fixed(terms.alpha or _ZERO, terms.gamma.value, terms.beta)

    def open(self) -> Requirement:
        """Return the requirement with the distance of the claim (alpha = dd(u), or gamma) left open.

        Raises DiagnosticError for a gamma that is neither a number nor a multiple of the distance.
        """
        if self._open is None:
            names = self.names()
            if self.free_gamma:
                distances = self.alpha_number(), _ZERO, _ZERO, _ONE
            else:
                distances = _ZERO, _ONE, *self._gamma(names)
            beta, reason = self._beta(names)
            self._open = Requirement(*distances, beta=beta, reason=reason)
        return self._open

    def lesser(self) -> tuple[str, ...]:
        """Return functions that are at most beta, as strings, each a function of distance·eps alone or of eps alone.

        A claim with a smaller beta implies the given one. The result is empty if beta is itself a function of
        distance·eps, if beta depends on no distance, or if no smaller function is found. Raises DiagnosticError as
        `open` does.
        """
        if not self.is_open or self.both_open or self.open().beta is not None or self.whatever_distance() is not None:
            return ()
        moves = self.free_gamma or self.gamma_moves
        distances = ("gamma",) if self.free_gamma else (*_DISTANCES, "gamma") if moves else _DISTANCES
        names = self.names()
        scaling = conditions.lesser(self.beta, names, distances, far=False)
        if scaling is not None and not _scales(ClaimExpression.parse("beta", scaling, "<beta>"), names):
            scaling = None
        far = conditions.lesser(self.beta, names, distances, far=True)
        if far is not None and any(mentions(ClaimExpression.parse("beta", far, "<beta>").tree, d) for d in distances):
            far = None
        return tuple(text for text in (scaling, far) if text is not None)

    def names(self) -> dict[str, Parametric]:
        """Return the value of each name that beta may mention; an open distance is an unknown."""
        names = dict(self._claim.constants)
        if self.both_open:
            distance = Parametric.unknown("alpha")
            return names | {"alpha": distance, "dd": distance, "gamma": Parametric.unknown("gamma")}
        if self.free_gamma:
            alpha = Parametric.number(self.alpha_number())
            return names | {"alpha": alpha, "gamma": Parametric.unknown("gamma")}
        if not self.at_distance:
            fixed = self.without_distance()
            alpha = Parametric.number(fixed.alpha_base)
            return names | {"alpha": alpha, "gamma": Parametric.number(fixed.gamma_base)}
        distance = Parametric.unknown("alpha")
        names |= {"alpha": distance, "dd": distance}
        base, rate = self._gamma(names)
        return names | {"gamma": Parametric.number(base) + Parametric.number(rate) * distance}

    def alpha_number(self) -> Fraction:
        """Return the number alpha of a claim in which alpha is not dd(u).

        Raises DiagnosticError if alpha is negative.
        """
        assert self._claim.alpha is not None
        # A claim with gamma = 0 reads and checks alpha as for a row of a table.
        value = self._claim.alpha.number(self._claim.constants, self._claim.intervals)
        if value is None or value < 0:
            tree = self._claim.alpha.tree
            raise self._claim.alpha.error("E0610", "alpha must be `dd` or a number that is at least 0", tree)
        return value

    def is_near(self, dd: Fraction) -> bool:
        """Return True if inputs with dd(u) = `dd` are too near to other answers for the claim to be about them.

        The claim must have a number for alpha.
        """
        return self._claim.is_near(_ANY_ROW, dd, self.alpha_number())

    def least_integer(self) -> Fraction:
        """Return the least integer d such that the claim is about inputs with dd(u) = d; alpha must be a number."""
        least = Fraction(ceil(self.alpha_number()))
        return least + 1 if self.is_near(least) else least

    def _gamma(self, names: dict[str, Parametric]) -> tuple[Fraction, Fraction]:
        expression = self.gamma
        if expression is None:
            return Fraction(0), Fraction(0)
        number = expression.number(names, self._claim.intervals)
        value = expression.value(names) if number is None else Parametric.number(number)
        found = value.linear("alpha") if isinstance(value, Parametric) else None
        if found is not None and min(found) >= 0:
            return found
        raise expression.error(
            "E1202",
            "in a claim about all inputs, gamma must be a number or a multiple of alpha",
            expression.tree,
            "",
            "write for example `--gamma 0`, `--gamma alpha` or `--gamma free`",
        )

    def _beta(self, names: dict[str, Parametric]) -> tuple[BetaForm | None, str | None]:
        """Return (beta as a function of the open distance times eps, None), or (None, why it is not one).

        `names` has the value of each name in beta.
        """
        of_alpha = not self.free_gamma
        if not _scales(self.beta, names):
            advice = "give alpha a number, or let gamma grow with it" if of_alpha else "give gamma a number"
            name = "alpha" if of_alpha else "gamma"
            return None, f"beta is not a function of {name}*eps, so not every {name} can be decided at once: {advice}"
        # beta at every eps, also where the program is for one eps only.
        everywhere = replace(self.options, eps="(0, inf)", gamma=self.options.gamma if of_alpha else 1)
        claim = resolve_claim(replace(self._program, only_at=None), _NO_TABLE, everywhere)
        one = Cell(_ONE, "1") if of_alpha else None
        return claim.terms(replace(_ANY_ROW, dd=one)).beta, None


def _scales(beta: ClaimExpression, names: Mapping[str, Parametric]) -> bool:
    """Return True if `beta` is a function of distance·eps, where the distance is the only unknown in `names`.

    Sums, products, quotients, min, max and abs of functions of distance·eps are functions of distance·eps.
    """
    normal = normal_parts(beta)
    if normal is not None:
        rest = (normal.plain, *(coefficient for coefficient, _ in normal.terms))
        return normal_scales(normal, names) and all(_scales(expression, names) for expression in rest)

    def function(leaf: Parametric) -> Parametric | None:
        value = leaf.in_product()
        return None if value is None else Parametric.from_exppoly(value)

    # Evaluating beta at the distance 1 checks that no divisor is 0.
    return rebuild(beta.value(names, open_divisors=True), function) is not None


def products(intervals: tuple[Interval, ...], greatest: Fraction | None) -> Interval:
    """Return the interval of all t = distance·eps for distances in (0, `greatest`] and eps in `intervals`.

    If `greatest` is None, distances have no upper limit. The interval begins at 0, since distances may be arbitrarily
    small.
    """
    if greatest is None:
        return Interval.POSITIVE
    assert greatest > 0
    last = intervals[-1]
    if last.upper is None:
        return Interval.POSITIVE
    return Interval(Fraction(0), last.upper * greatest, False, last.upper_closed)

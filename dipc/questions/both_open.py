"""Claims about every real and int input with alpha = dd(u) and every gamma, both distances left open; and with one
gamma where beta has a summand of eps alone.

beta is then a function of two products, alpha·eps and gamma·eps, and each class of inputs is reduced to obligations
about one of them. With F for "the finite outputs are right" and N for "the others are within gamma" this proves
Pr[F and N] >= 1 - beta:

- beta = f(alpha) + g(gamma), if Pr[F] >= 1 - f, and, however the finite outputs come about, N fails with probability at
  most g: Pr[F and N] = Pr[F] - Pr[F and not N]. Where ways i to the answer, which exclude each other and have
  probability p_i, do not share noises with their outputs, the latter is Σ p_i·Pr[not N_i] <= max Pr[not N_i]; where
  there is only one way, it is at most Pr[not N]. Where f and g go to 0 nothing is lost if the noises are not shared and
  there is one way: the claim for gamma without bound is the one with f, that for alpha without bound the one with g.
  Some of the ways will do, one of them where noises are shared: leaving out others only lowers Pr[F and N].
- beta = f(min(alpha, gamma)), if the claim holds with gamma = alpha and f(alpha) for all inputs of the class with
  dd(u) >= alpha, for every alpha up to the greatest: Pr never falls as gamma grows, and an input with dd(u) >= gamma
  is among these for alpha = gamma.
  Or if it holds with f(gamma) for every gamma: at the lesser of the two, and so at gamma.
  Or, as the first of these, if it holds with f(alpha)/2 + f(gamma)/2, and f never grows: that is at most the greater.
- a number for alpha where dd(u) is one on the whole class, gamma = 0 where beta does not depend on gamma, and alpha = 0
  where it does not depend on alpha: nothing is lost.

What refutes is looked for at some values of gamma, each by itself.

With one gamma the first of these proves beta = f(alpha) + g, g a function of eps, as for every gamma: Pr[F] >= 1 - f,
and N fails with probability at most g.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.claims.claim import FREE, ClaimOptions
from dipc.claims.expression import ClaimExpression
from dipc.decide.obligation import Bound, Decision, Obligation, Saying, Verdict, saying
from dipc.frozen import Later
from dipc.program.metric import Norm
from dipc.program.program import Program
from dipc.questions.every_input import ClassCase, EveryInput
from dipc.questions.report import ClassEvidence, ClassResult, Method, Refuted, RowResult
from dipc.questions.source import Case, Settling
from dipc.rules.centered_exits import CenteredExit, ConvexPiece, NoiseComponent, connected
from dipc.rules.class_claim import ClassClaim
from dipc.rules.every_rule import Choice, Needed
from dipc.rules.goal import ConvexClass
from dipc.rules.rule import ClaimedDistances, Farkas, Posed, Proved, Variable
from dipc.sign.piecewise import BetaForm, PiecewiseForm
from dipc.text.diagnostic import DiagnosticError

if TYPE_CHECKING:
    from dipc.claims import conditions
    from dipc.rules.integer_distances import Asking
else:
    conditions = Later("dipc.claims.conditions")

_ZERO = Fraction(0)


#: Values of gamma at which refuting inputs are searched.
_GAMMAS = (*(Fraction(4) ** power for power in (0, -3, 3, 6, -12)), _ZERO)

#: Of ints those just before more outputs are near.
_BELOW_INTEGERS = tuple(number - Fraction(1, 4096) for number in (1, 2))

_BEYOND = "alpha and gamma are both left open, but the checker derives bounds for one distance at a time"
_NO_SUM = "beta is neither a function of alpha*eps plus one of gamma*eps nor a function of min(alpha, gamma)*eps"
_APART = "its finite outputs and its numbers are proved separately, but the checker derives one bound for all of them"


class EveryDistance(EveryInput):
    """The claim about every real and int input, alpha = dd(u), and every gamma."""

    def case(self, convex: ConvexClass) -> Case:
        return BothOpenCase(self, convex)


class BothOpenCase(ClassCase):
    """The claim about one convex class of inputs."""

    def posed(self) -> Sequence[Posed]:
        return self._posed_by_implying(self.convex.refused or _NO_SUM)

    def least_needing(self, needed: Needed, enough: Fraction) -> Choice:
        return self._least_of_implying(Choice(None, ()), needed, enough)

    def is_comparable(self, posed: Posed) -> bool:  # noqa: ARG002
        return True

    @property
    def has_integer_distances(self) -> bool:
        return False

    def posed_at_inputs(self, product: Fraction | None, most: int) -> Iterator[Posed]:
        """The claim at some inputs of the class and some values of gamma."""
        for gamma in self._gammas():
            yield from self._with_gamma(gamma).posed_at_inputs(product, most)

    def posed_at_one(self, most: int) -> Iterator[Posed]:  # noqa: ARG002
        """None: what an input needs is about both of its products with eps at once."""
        yield from ()

    def undecided_row(self) -> ClassResult:
        return self._row(Method.NONE, Verdict.UNDECIDED)

    def settle(self) -> Settling:
        """Raises DiagnosticError for a beta that has no exact meaning."""
        sums = list(self.implying())
        for cases in sums:
            rows = yield from _all_proved(cases)
            if rows is not None:
                return self._proved(rows)
        for gamma in self._gammas():
            with suppress(Undecided):
                refuted = yield from self._with_gamma(gamma).refuted()
                if refuted.verdict is Verdict.INACCURATE:
                    return _at_gamma(refuted, gamma)
        reason = self.convex.refused or (
            _NO_SUM if not sums else "beta could not be proved as a part for alpha plus a part for gamma"
        )
        return replace(
            self._row(Method.NONE, Verdict.UNDECIDED), reason=f"{reason}, and no input was found to refute it"
        )

    # --- proofs -----------------------------------------------------------------------------------------

    def implying(self) -> Iterator[Sequence[ClassCase]]:
        source, convex, beta = self.source, self.convex, conditions.below_one(self.claim.beta)
        if convex.refused is not None:
            return
        options = replace(source.options, alpha="dd", gamma=0)
        if not conditions.depends(beta, gamma=True):
            yield [self.claiming(options, convex)]
            return
        dd = self._dd()
        if dd is not None or not conditions.depends(beta, alpha=True):
            # For every alpha < dd(u): a claim with alpha = dd(u) is about no input.
            one = replace(options, alpha=0, gamma=FREE, beta=conditions.at_alpha(beta, dd or _ZERO))
            case = self.claiming(one, convex)
            yield [case]
            for stronger in case.claim.lesser():
                yield [self.claiming(replace(one, beta=stronger), convex)]
        of_alpha, of_gamma = (conditions.of_lesser(beta, name) for name in ("alpha", "gamma"))
        if of_alpha is not None and self._is_monotone():
            yield [self.claiming(replace(options, gamma="alpha", beta=of_alpha), convex)]
        elif of_gamma is not None:
            yield [self.claiming(replace(options, alpha=0, gamma=FREE, beta=of_gamma), convex)]
        halves = conditions.halves(beta, source.claim.names())
        for halves_of_beta in (*halves, *self._halves_of_lesser(of_alpha, of_gamma)):
            yield from _right_and_near(source, convex, halves_of_beta, FREE)

    def _halves_of_lesser(self, of_alpha: str | None, of_gamma: str | None) -> Iterator[conditions.Halves]:
        """beta = f(min(alpha, gamma)) is at least f(alpha)/2 + f(gamma)/2, if f never grows."""
        claim = self.source.claim
        if of_alpha is None or of_gamma is None:
            return
        f = ClaimExpression.parse("beta", of_alpha, "<beta>")
        if conditions.trend(f, "alpha", claim.names(), claim.intervals).falls:
            yield conditions.Halves(f"({of_alpha})/2", f"({of_gamma})/2")

    def _dd(self) -> Fraction | None:
        """dd(u), if it is the same number for all inputs of the class."""
        integral = self.source.metric.norm is Norm.DISCRETE or self.convex.inputs.integral
        greatest = self.greatest_anywhere()
        return greatest if greatest == 0 or integral else None

    def _is_monotone(self) -> bool:
        """Whether what is proved of gamma = alpha = dd(u) is proved for every gamma = alpha <= dd(u)."""
        inputs, metric = self.convex.inputs, self.source.metric
        # Integer distances are decided one by one, and numbers for dd(u) are put in its place.
        return not inputs.whole and (inputs.alone or metric.norm is not Norm.DISCRETE or metric.apart is not None)

    def _with_gamma(self, gamma: Fraction) -> ClassCase:
        return self.claiming(replace(self.source.options, gamma=gamma), self.convex)

    def _gammas(self) -> Sequence[Fraction]:
        if self.convex.inputs.whole and conditions.depends(self.source.claim.beta, gamma=True):
            return (*_BELOW_INTEGERS, *_GAMMAS)
        return _GAMMAS if conditions.depends(self.source.claim.beta, gamma=True) else (_ZERO, *_GAMMAS[:-1])

    # --- rows -------------------------------------------------------------------------------------------

    def _proved(self, rows: Sequence[ClassResult]) -> ClassResult:
        """The class with what proves it; where it says anything is known of one obligation alone, or far away."""
        evidence = _uncertified(self.source, self.convex, _BEYOND)
        result = replace(self._row(Method.BOUND, Verdict.ACCURATE), evidence=evidence)
        if len(rows) == 1:
            (row,) = rows
            assert row.note is not None
            assert result.note is not None
            note = replace(row.note, hardest=None)
            return replace(result, beta_form=row.beta_form, vacuous=row.vacuous, says=row.says, note=note)
        result = replace(result, obligations=_single(rows))
        says = _says(self)
        if says is None:
            return result
        if says.nothing:
            assert result.note is not None
            return replace(result, vacuous=True, says=says, note=replace(result.note, method=Method.NOTHING))
        return replace(result, says=says)

    def _least_beta(self) -> BetaForm | None:
        claim = self.claim
        trends = [conditions.trend(claim.beta, name, claim.names(), claim.intervals) for name in ("alpha", "gamma")]
        return claim.far() if all(trend.falls for trend in trends) else None


class OneGamma(EveryInput):
    """The claim about every real and int input, alpha = dd(u), and one gamma, of a beta that is no function of
    alpha·eps."""

    def case(self, convex: ConvexClass) -> Case:
        return OneGammaCase(self, convex)


class OneGammaCase(ClassCase):
    """The claim about one convex class of inputs: as for every such claim, and else in two parts."""

    def implying(self) -> Iterator[Sequence[ClassCase]]:
        yield from super().implying()
        yield from self._in_two()

    def _in_two(self) -> Iterator[Sequence[ClassCase]]:
        if self.convex.refused is None:
            beta = conditions.below_one(self.claim.beta)
            for halves_of_beta in conditions.halves(beta, self.claim.names(), one_gamma=True):
                yield from _right_and_near(self.source, self.convex, halves_of_beta, self.claim.stated["gamma"])

    def _settled(self) -> Asking[ClassResult]:
        result = yield from super()._settled()
        if result.verdict is not Verdict.UNDECIDED:
            return result
        for cases in self._in_two():
            rows = yield from _all_proved(cases)
            if rows is not None:
                evidence = _uncertified(self.source, self.convex, _APART)
                proved = replace(self._row(Method.BOUND, Verdict.ACCURATE), evidence=evidence)
                return replace(proved, obligations=_single(rows), says=_says(self))
        return result


def _says(case: ClassCase) -> Saying | None:
    """For which eps beta is less than 1 where it is the least; None where that is not known."""
    least = case.summand.least
    return None if least is None else saying(least, case.claim.intervals, case.source.program.limits)


def question_about_all(program: Program, options: ClaimOptions, *, scaled: bool = False) -> EveryInput:
    """The claim about every real and int input, or, `scaled`, about multiples of its beta. Raises DiagnosticError."""
    claim = ClassClaim(program, options, together=True)
    if claim.both_open:
        return EveryDistance(program, claim, scaled=scaled)
    is_one = claim.at_distance and claim.gamma is not None and not claim.gamma_moves and claim.open().gamma_base
    return (OneGamma if is_one and claim.open().beta is None else EveryInput)(program, claim, scaled=scaled)


def _right_and_near(
    source: EveryInput, convex: ConvexClass, halves_of_beta: conditions.Halves, gamma: str | None
) -> Iterator[list[ClassCase]]:
    """Cases that imply the claim if all of a list are proved: that the finite outputs are right, with the one part of
    beta, and that the others are within gamma, with the other."""

    def case(options: ClaimOptions, exits: Sequence[CenteredExit]) -> ClassCase:
        return ClassCase(source.asking(options), replace(convex, piece=ConvexPiece(convex.piece.guards, tuple(exits))))

    right = replace(source.options, alpha="dd", gamma=0, beta=halves_of_beta.alpha)
    near = replace(source.options, alpha=0, gamma=gamma, beta=halves_of_beta.gamma)
    for exits in _apart(convex.piece.exits):
        others = dict.fromkeys(map(_nearness_alone, exits))
        yield [case(right, [*map(_finite_alone, exits)]), *[case(near, [centered]) for centered in others]]


def _single(rows: Sequence[ClassResult]) -> tuple[ClassResult, ...]:
    """The rows, those in parts as their parts."""
    return tuple(single for row in rows for single in (row.rows or (row,)))


def _uncertified(source: EveryInput, convex: ConvexClass, beyond: str) -> ClassEvidence:
    """That a class is proved, and why the checker does not follow it."""
    nothing = Obligation(Bound(()), PiecewiseForm(ExpPoly.ONE), source.intervals)
    why = Farkas(convex.facets, ClaimedDistances(_ZERO, _ZERO, _ZERO, _ZERO), ())
    return ClassEvidence(convex.facets, Proved(Posed(nothing, Variable.EPS, why), None, None, beyond=beyond))


def _all_proved(cases: Sequence[ClassCase]) -> Generator[Obligation | Bound, Decision, list[ClassResult] | None]:
    """The cases, proved; None where one of them is not."""
    rows: list[ClassResult] = []
    for case in cases:
        row = None
        # A part of beta may have no limit by itself.
        with suppress(Undecided, DiagnosticError):
            row = yield from case.proved()
        if row is None:
            return None
        rows.append(row)
    return rows


def _at_gamma(refuted: RowResult, gamma: Fraction) -> RowResult:
    """The class refuted by an input, with the gamma that it is refuted for."""
    assert isinstance(refuted, ClassResult)
    assert refuted.evidence is not None
    assert isinstance(refuted.evidence.ground, Refuted)
    evidence = replace(refuted.evidence, ground=replace(refuted.evidence.ground, gamma=gamma))
    return replace(refuted, evidence=evidence)


# --- ways to the answer in two parts ----------------------------------------------------------------


def _apart(exits: Sequence[CenteredExit]) -> Iterator[Sequence[CenteredExit]]:
    """Ways to the answer, some of all: those that do not share noises with their outputs, and each alone."""
    alone = [centered_exit for centered_exit in exits if not _shares(centered_exit)]
    if len(alone) > 1:
        yield alone
    for centered in exits:
        yield [centered]


def _shares(centered: CenteredExit) -> bool:
    """Whether a noise both decides how the finite outputs come about and is compared with another output."""
    return any(len({bool(half.radius) for half in component.halfspaces}) > 1 for component in centered.parts)


def _finite_alone(centered: CenteredExit) -> CenteredExit:
    """The exit with the finite outputs, whatever the others are."""
    return replace(centered, points=(), in_balls=False, parts=_only(centered, near=False))


def _nearness_alone(centered: CenteredExit) -> CenteredExit:
    """That the other outputs are near det's, however the finite ones come about."""
    return replace(centered, guards=(), weight=None, parts=_only(centered, near=True))


def _only(centered: CenteredExit, *, near: bool) -> tuple[NoiseComponent, ...]:
    """The events that say that outputs are near, or all others."""
    return tuple(
        [
            part
            for component in centered.parts
            for part in connected(component, [half for half in component.halfspaces if bool(half.radius) is near])
        ]
    )

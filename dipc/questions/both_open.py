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

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.claims.claim import ClaimOptions
from dipc.claims.conditions import Halves, at_alpha, below_one, depends, halves, of_lesser, trend
from dipc.claims.expression import ClaimExpression
from dipc.decide.decide import Saying, saying
from dipc.decide.obligation import Bound, Decision, Obligation, Verdict
from dipc.frozen import frozen
from dipc.program.metric import Norm
from dipc.program.program import Program
from dipc.questions.every_input import ClassCase, EveryInput, described
from dipc.questions.report import ClassEvidence, ClassResult, Method, Refuted, RowResult, answer_texts
from dipc.questions.source import Case, Settling
from dipc.rules.centered_exits import CenteredExit, ConvexPiece, NoiseComponent, ShiftedHalfspace
from dipc.rules.class_claim import FREE, ClassClaim
from dipc.rules.goal import ConvexClass
from dipc.rules.integer_distances import Asking
from dipc.rules.rule import ClaimedDistances, Farkas, Posed, Proved, Variable
from dipc.sign.piecewise import PiecewiseForm
from dipc.text.diagnostic import DiagnosticError

_ZERO = Fraction(0)


#: Values of gamma at which inputs are looked for that refute a claim.
_GAMMAS = (*(Fraction(4) ** power for power in (0, -3, 3, 6, -12)), _ZERO)

#: Of ints those just before more outputs are near.
_BELOW_INTEGERS = tuple(number - Fraction(1, 4096) for number in (1, 2))

_BEYOND = "alpha and gamma are both left open, and the checker derives bounds for one distance at a time"
_APART = "its finite outputs and its numbers are proved one by one, and the checker derives bounds of all together"


class EveryDistance(EveryInput):
    """The claim about every real and int input, alpha = dd(u), and every gamma."""

    together = True

    def case(self, convex: ConvexClass) -> Case:
        return BothOpenCase(self, convex)


@frozen
class BothOpenCase:
    """The claim about one convex class of inputs."""

    source: EveryDistance
    convex: ConvexClass

    @property
    def number(self) -> int:
        return self.convex.number

    def posed(self) -> Sequence[Posed]:
        """Raises Undecided: no obligation about one variable says the same."""
        raise Undecided("alpha and gamma are both left open, which only `check` decides")

    def shown(self) -> ClassResult:
        """What the case is about, not decided."""
        return self._row(Method.NONE, Verdict.UNDECIDED)

    def settle(self) -> Settling:
        """Raises DiagnosticError for a beta that has no exact meaning."""
        ways = list(self._ways())
        for cases in ways:
            rows = yield from _all_proved(cases)
            if rows is not None:
                return self._proved(rows)
        for gamma in self._gammas():
            with suppress(Undecided):
                at_gamma = self._claiming(replace(self.source.options, gamma=gamma), self.convex)
                refuted = yield from at_gamma.refuted()
                if refuted.verdict is Verdict.INACCURATE:
                    return _at_gamma(refuted, gamma)
        reason = self.convex.refused or (
            "beta is no sum of functions of alpha*eps and of gamma*eps, and no function of min(alpha, gamma)*eps"
            if not ways
            else "beta is not proved in parts, one for alpha and one for gamma"
        )
        return replace(self._row(Method.NONE, Verdict.UNDECIDED), reason=f"{reason}, and no input refutes it")

    # --- proofs -----------------------------------------------------------------------------------------

    def _ways(self) -> Iterator[list[ClassCase]]:
        """Cases about one open distance at most, which imply the claim if all of a list are proved."""
        source, convex, beta = self.source, self.convex, below_one(self.source.claim.beta)
        if convex.refused is not None:
            return
        options = replace(source.options, alpha="dd", gamma=0)
        if not depends(beta, gamma=True):
            yield [self._claiming(options, convex)]
            return
        dd = self._dd()
        if dd is not None or not depends(beta, alpha=True):
            number = dd or _ZERO
            case = self._claiming(replace(options, alpha=number, gamma=FREE, beta=at_alpha(beta, number)), convex)
            yield [case]
            for stronger in case.claim.lesser():
                yield [self._claiming(replace(options, alpha=number, gamma=FREE, beta=stronger), convex)]
        of_alpha, of_gamma = (of_lesser(beta, name) for name in ("alpha", "gamma"))
        if of_alpha is not None and self._is_monotone():
            yield [self._claiming(replace(options, gamma="alpha", beta=of_alpha), convex)]
        elif of_gamma is not None:
            yield [self._claiming(replace(options, alpha=dd or _ZERO, gamma=FREE, beta=of_gamma), convex)]
        for parts in (*halves(beta, source.claim.names()), *self._halves_of_lesser(of_alpha, of_gamma)):
            yield from _right_and_near(source, convex, parts, FREE)

    def _halves_of_lesser(self, of_alpha: str | None, of_gamma: str | None) -> Iterator[Halves]:
        """beta = f(min(alpha, gamma)) is at least f(alpha)/2 + f(gamma)/2, if f never grows."""
        claim = self.source.claim
        if of_alpha is None or of_gamma is None:
            return
        f = ClaimExpression.parse("beta", of_alpha, "<beta>")
        if trend(f, "alpha", claim.names(), claim.intervals).falls:
            yield Halves(f"({of_alpha})/2", f"({of_gamma})/2")

    def _dd(self) -> Fraction | None:
        """dd(u), if it is the same number for all inputs of the class."""
        inputs, metric = self.convex.inputs, self.source.metric
        if inputs.alone or metric.apart is not None:
            return None
        if metric.norm is Norm.DISCRETE:
            return Fraction(1)
        if inputs.restless or inputs.moving:
            return _ZERO
        return Fraction(1) if inputs.stepping and inputs.integral else None

    def _is_monotone(self) -> bool:
        """Whether what is proved of gamma = alpha = dd(u) is proved for every gamma = alpha <= dd(u)."""
        inputs, metric = self.convex.inputs, self.source.metric
        # Integer distances are decided one by one, and numbers for dd(u) are put in its place.
        return not inputs.whole and (inputs.alone or metric.norm is not Norm.DISCRETE or metric.apart is not None)

    def _claiming(self, options: ClaimOptions, convex: ConvexClass) -> ClassCase:
        """Another claim about a class."""
        return ClassCase(self.source.asking(options), convex)

    def _gammas(self) -> Sequence[Fraction]:
        if self.convex.inputs.whole and depends(self.source.claim.beta, gamma=True):
            return (*_BELOW_INTEGERS, *_GAMMAS)
        return _GAMMAS if depends(self.source.claim.beta, gamma=True) else (_ZERO, *_GAMMAS[:-1])

    # --- rows -------------------------------------------------------------------------------------------

    def _row(self, method: Method, verdict: Verdict) -> ClassResult:
        core, convex = self.source.program.core, self.convex
        output, note = answer_texts(core, convex.inputs.region), described(core, convex, method)
        return ClassResult(convex.number, {}, output, "dd", PiecewiseForm(ExpPoly.zero()), FREE, verdict, note=note)

    def _proved(self, rows: Sequence[ClassResult]) -> ClassResult:
        """The class with what proves it; where it says anything is known of one obligation alone, or far away."""
        evidence = _uncertified(self.source, self.convex, _BEYOND)
        result = replace(self._row(Method.BOUND, Verdict.ACCURATE), evidence=evidence)
        if len(rows) == 1:
            (row,) = rows
            assert row.note is not None
            assert result.note is not None
            note = replace(row.note, corner={})
            return replace(result, beta_form=row.beta_form, vacuous=row.vacuous, says=row.says, note=note)
        result = replace(result, obligations=_single(rows))
        says = self._saying()
        if says is None:
            return result
        if says.nothing:
            assert result.note is not None
            return replace(result, vacuous=True, says=says, note=replace(result.note, method=Method.NOTHING))
        return replace(result, says=says)

    def _saying(self) -> Saying | None:
        """For which eps beta is less than 1 far from other answers, and for large gamma; None where it is not known
        that it is least there."""
        claim = self.source.claim
        if not all(trend(claim.beta, name, claim.names(), claim.intervals).falls for name in ("alpha", "gamma")):
            return None
        with suppress(DiagnosticError):
            return saying(claim.far(), claim.intervals, self.source.program.limits)
        return None


class OneGamma(EveryInput):
    """The claim about every real and int input, alpha = dd(u), and one gamma, of a beta that is no function of
    alpha·eps."""

    def case(self, convex: ConvexClass) -> Case:
        return OneGammaCase(self, convex)


class OneGammaCase(ClassCase):
    """The claim about one convex class of inputs: as for every such claim, and else in two parts."""

    def _settled(self) -> Asking[ClassResult]:
        result = yield from super()._settled()
        source, convex, claim = self._source, self.convex, self.claim
        if result.verdict is not Verdict.UNDECIDED or convex.refused is not None:
            return result
        for parts in halves(below_one(claim.beta), claim.names(), one_gamma=True):
            for cases in _right_and_near(source, convex, parts, claim.stated["gamma"]):
                rows = yield from _all_proved(cases)
                if rows is not None:
                    evidence = _uncertified(source, convex, _APART)
                    proved = replace(self._row(Method.BOUND, Verdict.ACCURATE), evidence=evidence)
                    return replace(proved, obligations=_single(rows), says=self._saying())
        return result

    def _saying(self) -> Saying | None:
        """For which eps beta is less than 1 far from other answers; None where it may be less elsewhere."""
        claim = self.claim
        if not trend(claim.beta, "alpha", claim.names(), claim.intervals).falls:
            return None
        with suppress(DiagnosticError):
            return saying(claim.at_number(None).beta, claim.intervals, self._source.program.limits)
        return None


def question_about_all(program: Program, options: ClaimOptions) -> EveryInput:
    """The claim about every real and int input. Raises DiagnosticError."""
    claim = ClassClaim(program, options.beta, options.alpha, options.gamma, options.eps, together=True)
    if claim.both_open:
        return EveryDistance(program, options)
    is_one = claim.at_distance and claim.gamma is not None and not claim.gamma_moves and claim.open().gamma_base
    return (OneGamma if is_one and claim.open().beta is None else EveryInput)(program, options)


def _right_and_near(
    source: EveryInput, convex: ConvexClass, parts: Halves, gamma: str | None
) -> Iterator[list[ClassCase]]:
    """Cases that imply the claim if all of a list are proved: that the finite outputs are right, with the one part of
    beta, and that the others are within gamma, with the other."""

    def case(options: ClaimOptions, exits: Sequence[CenteredExit]) -> ClassCase:
        return ClassCase(source.asking(options), replace(convex, piece=ConvexPiece(convex.piece.guards, tuple(exits))))

    right = replace(source.options, alpha="dd", gamma=0, beta=parts.alpha)
    near = replace(source.options, alpha=0, gamma=gamma, beta=parts.gamma)
    for exits in _apart(convex.piece.exits):
        others = dict.fromkeys(map(_others_alone, exits))
        yield [case(right, [*map(_finite_alone, exits)]), *[case(near, [centered]) for centered in others]]


def _single(rows: Sequence[ClassResult]) -> tuple[ClassResult, ...]:
    """The rows, those in parts as their parts."""
    return tuple(part for row in rows for part in (row.rows or (row,)))


def _uncertified(source: EveryInput, convex: ConvexClass, beyond: str) -> ClassEvidence:
    """That a class is proved, and why the checker does not follow it."""
    nothing = Obligation(Bound(()), PiecewiseForm(ExpPoly.one()), source.intervals)
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
    """The way to the finite outputs, whatever the others are."""
    return replace(centered, points=(), in_balls=False, parts=_only(centered, near=False))


def _others_alone(centered: CenteredExit) -> CenteredExit:
    """That the other outputs are near det's, however the finite ones come about."""
    return replace(centered, guards=(), weight=None, parts=_only(centered, near=True))


def _only(centered: CenteredExit, *, near: bool) -> tuple[NoiseComponent, ...]:
    """The events that say that outputs are near, or all others."""
    kept = []
    for component in centered.parts:
        halfspaces = [half for half in component.halfspaces if bool(half.radius) is near]
        used = sorted({place for half in halfspaces for place, _ in half.coefficients})
        places = {place: position for position, place in enumerate(used)}
        renamed = [
            ShiftedHalfspace(tuple([(places[place], c) for place, c in half.coefficients]), half.slack, half.radius)
            for half in halfspaces
        ]
        if renamed:
            kept.append(NoiseComponent(tuple([component.noises[place] for place in used]), tuple(renamed)))
    return tuple(kept)

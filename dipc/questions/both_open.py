"""Claims about every real and int input with alpha = dd(u) and every gamma, so that both distances are open.

Claims with one gamma whose beta has a summand of eps alone are decided here, too. Beta is a function of two products,
alpha·eps and gamma·eps. The claim about a class of inputs is reduced to obligations, each about one of the two
products. Let F be the event that the finite outputs are right, and N the event that the other outputs are within gamma.
The claim is Pr[F and N] >= 1 - beta.

1. Let beta = f(alpha) + g(gamma). It suffices that Pr[F] >= 1 - f, and that N fails with probability at most g however
   the finite outputs are determined, since Pr[F and N] = Pr[F] - Pr[F and not N]. Let the exits i to the answer have
   probability p_i and share no noises with their outputs. Then Pr[F and not N] = Σ p_i·Pr[not N_i] <= max Pr[not N_i].
   With a single exit, Pr[F and not N] is at most Pr[not N]. The two conditions are also necessary if f and g go to 0,
   the noises are not shared, and there is one exit. For large gamma the claim then tends to the condition with f, and
   for large alpha to the one with g. Some of the exits suffice (a single one if noises are shared): leaving out others
   only lowers Pr[F and N]. Instead of the condition on N, a box of values of the noises suffices: N holds at all exits
   if the noises are in the box, and they are outside of it with probability at most g.
2. Let beta = f(min(alpha, gamma)). It suffices that the claim holds with gamma = alpha and f(alpha) for all inputs of
   the class with dd(u) >= alpha, for every alpha up to the greatest. Indeed Pr never falls as gamma grows, and an input
   with dd(u) >= gamma is among these for alpha = gamma. It also suffices that the claim holds with f(gamma) for every
   gamma. If f never grows, it suffices, by step 1, that the claim holds with f(alpha)/2 + f(gamma)/2, which is at most
   the greater of f(alpha) and f(gamma).
3. Some distances need not be open. If dd(u) is one number on the whole class, alpha is this number. If beta does not
   depend on gamma, gamma is 0. If beta does not depend on alpha, alpha is 0. The claim is then equivalent to the
   original one.

Counterexamples are searched for at some values of gamma, each separately. With one gamma, step 1 proves beta = f(alpha)
+ g, where g is a function of eps: Pr[F] >= 1 - f, and N fails with probability at most g.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from dipc.algebra.limits import Undecided
from dipc.claims.claim import FREE, ClaimOptions
from dipc.claims.expression import ClaimExpression
from dipc.decide.obligation import Asking, Verdict
from dipc.frozen import LazyModule
from dipc.program.clipped import for_every_input
from dipc.program.metric import Norm
from dipc.program.program import Program
from dipc.questions.every_input import ClassCase, EveryInput
from dipc.questions.report import ClassResult, Method, Refuted, RowResult
from dipc.rules.centered_exits import CenteredExit, NoiseComponent, connected
from dipc.rules.clamps import near_in_a_box
from dipc.rules.class_claim import ClassClaim
from dipc.rules.every_rule import CoveringProofs, Needed
from dipc.rules.goal import ConvexClass
from dipc.rules.halfspaces import has_gamma
from dipc.rules.rule import ProofStep
from dipc.sign.piecewise import BetaForm
from dipc.text.ast import mentions

if TYPE_CHECKING:
    from dipc.claims import conditions
else:
    conditions = LazyModule("dipc.claims.conditions")

_ZERO = Fraction(0)


#: Values of gamma at which refuting inputs are searched for.
_GAMMAS = (*(Fraction(4) ** power for power in (0, -3, 3, 6, -12)), _ZERO)

#: Values of gamma for int inputs: just below integers, at which more outputs become near.
_BELOW_INTEGERS = tuple(number - Fraction(1, 4096) for number in (1, 2))

_BEYOND = "alpha and gamma are both left open, but the checker derives bounds for one distance at a time"
_NO_SUM = "beta is neither a function of alpha*eps plus one of gamma*eps nor a function of min(alpha, gamma)*eps"
_APART = "the finite outputs and the numbers are proved separately, but the checker derives one bound for all of them"


class BothOpenCase(ClassCase):
    """The claim about one convex class of inputs, with alpha and gamma open."""

    BEYOND_CHECKER: ClassVar[str] = _BEYOND

    def steps(self) -> Sequence[ProofStep]:
        return self._posed_by_implying(self.convex.refused or _NO_SUM)

    def least_needing(self, needed: Needed, enough: Fraction) -> CoveringProofs:
        return self._least_of_implying(CoveringProofs(None, ()), needed, enough)

    def is_comparable(self, posed: ProofStep) -> bool:  # noqa: ARG002
        return True

    @property
    def has_integer_distances(self) -> bool:
        return False

    def posed_at_inputs(
        self, product: Fraction | None, most: int, nearest: Fraction | None = None
    ) -> Iterator[ProofStep]:
        """Yield the obligations of the claim at some inputs of the class, with some values of gamma.

        `product` is a value of alpha·eps at which the claim may fail, or None. At most `most` inputs are used of the
        class and of each of its subclasses. `nearest` is as in `ClassCase.posed_at_inputs`.
        """
        for gamma in self._gammas():
            yield from self._with_gamma(gamma).posed_at_inputs(product, most, nearest)

    def posed_at_one(self, most: int) -> Iterator[ProofStep]:  # noqa: ARG002
        yield from ()

    def undecided_row(self) -> ClassResult:
        return self._row(Method.NONE, Verdict.UNDECIDED)

    def settle(self) -> Asking[RowResult]:
        """Decide the case; raise DiagnosticError for a beta without an exact value."""
        proved = yield from self._proved_by_parts_of_beta()
        if proved is not None:
            return proved
        for gamma in self._gammas() if self.source.searching else ():
            with suppress(Undecided):
                refuted = yield from self._with_gamma(gamma).refuted()
                if refuted.verdict is Verdict.INACCURATE:
                    assert isinstance(refuted.evidence, Refuted)
                    return replace(refuted, evidence=replace(refuted.evidence, gamma=gamma))
        reason = self.convex.refused or (
            _NO_SUM
            if next(self.divided(), None) is None
            else "the claim could not be proved by dividing beta into a part for alpha and a part for gamma"
        )
        return replace(
            self._row(Method.NONE, Verdict.UNDECIDED), reason=f"{reason}, and no input was found to refute it"
        )

    # --- proofs -----------------------------------------------------------------------------------------

    def divided(self) -> Iterator[Sequence[ClassCase]]:
        source, convex, beta = self.source, self.convex, conditions.below_one(self.claim.beta)
        if convex.refused is not None:
            return
        options = replace(source.options, alpha="dd", gamma=0)
        if not conditions.depends(beta, gamma=True):
            yield [self.claiming(options, convex)]
            return
        integral = source.metric.norm is Norm.DISCRETE or convex.inputs.integral
        greatest = self.greatest_anywhere()
        dd = greatest if greatest == 0 or integral else None
        if dd is not None or not conditions.depends(beta, alpha=True):
            # The claim is about every alpha < dd(u); with alpha = dd(u) it would be about no input.
            one = replace(options, alpha=0, gamma=FREE, beta=conditions.at_alpha(beta, dd or _ZERO))
            case = self.claiming(one, convex)
            yield [case]
            for stronger in case.claim.lesser():
                yield [self.claiming(replace(one, beta=stronger), convex)]
        of_alpha, of_gamma = (conditions.of_lesser(beta, name) for name in ("alpha", "gamma"))
        inputs, metric = convex.inputs, source.metric
        # If so, a proof for gamma = alpha = dd(u) proves the claim for every gamma = alpha <= dd(u). Integer distances
        # are decided one by one, with a number in place of dd(u).
        is_monotone = not inputs.whole and (
            inputs.alone or metric.norm is not Norm.DISCRETE or metric.apart is not None
        )
        if of_alpha is not None and is_monotone:
            yield [self.claiming(replace(options, gamma="alpha", beta=of_alpha), convex)]
        elif of_gamma is not None:
            yield [self.claiming(replace(options, alpha=0, gamma=FREE, beta=of_gamma), convex)]
        halves = conditions.halves(beta, source.claim.names())
        for halves_of_beta in (*halves, *self._halves_of_lesser(of_alpha, of_gamma)):
            yield from _right_and_near(source, convex, halves_of_beta, FREE)

    def _halves_of_lesser(self, of_alpha: str | None, of_gamma: str | None) -> Iterator[conditions.Halves]:
        """Yield the pair f(alpha)/2 and f(gamma)/2 if beta is f(min(alpha, gamma)) for a function f that never grows.

        The sum of the two is at most beta. `of_alpha` and `of_gamma` are the texts of f(alpha) and f(gamma), or None if
        beta is another function.
        """
        claim = self.source.claim
        if of_alpha is None or of_gamma is None:
            return
        f = ClaimExpression.parse("beta", of_alpha, "<beta>")
        if conditions.trend(f, "alpha", claim.names(), claim.intervals).falls:
            yield conditions.Halves(f"({of_alpha})/2", f"({of_gamma})/2")

    def _with_gamma(self, gamma: Fraction) -> ClassCase:
        return self.claiming(replace(self.source.options, gamma=gamma), self.convex)

    def _gammas(self) -> Sequence[Fraction]:
        if self.convex.inputs.whole and conditions.depends(self.source.claim.beta, gamma=True):
            return (*_BELOW_INTEGERS, *_GAMMAS)
        return _GAMMAS if conditions.depends(self.source.claim.beta, gamma=True) else (_ZERO, *_GAMMAS[:-1])

    def _least_beta(self) -> BetaForm | None:
        claim = self.claim
        trends = [conditions.trend(claim.beta, name, claim.names(), claim.intervals) for name in ("alpha", "gamma")]
        return claim.far() if all(trend.falls for trend in trends) else None


class OneGammaCase(ClassCase):
    """The claim about one convex class with `alpha: dd` and one gamma, where beta is not a function of alpha·eps alone.

    The claim is proved by the rules of `ClassCase`. If these fail, it is proved in two steps, each with one summand of
    beta: the finite outputs are right, and the other outputs are within gamma.
    """

    BEYOND_CHECKER: ClassVar[str] = _APART

    def divided(self) -> Iterator[Sequence[ClassCase]]:
        if self.convex.refused is None:
            beta = conditions.below_one(self.claim.beta)
            for halves_of_beta in conditions.halves(beta, self.claim.names(), one_gamma=True):
                yield from _right_and_near(self.source, self.convex, halves_of_beta, self.claim.texts["gamma"])


def with_clipped_inputs(program: Program, options: ClaimOptions) -> Program:
    """Return `program` with inputs limited to their clipping ranges, if the claim of `options` does not depend on dd.

    The result is `program` itself for other claims. Raises DiagnosticError for a claim that cannot be read.
    """
    claim = ClassClaim(program, options, together=True)
    at_every_input = not claim.at_distance and claim.alpha_text == "0"
    texts = [each.tree for each in (claim.beta, claim.gamma) if each is not None]
    if not at_every_input or any(mentions(tree, "dd") for tree in texts):
        return program
    return for_every_input(program) or program


def question_about_all(program: Program, options: ClaimOptions, *, scaled: bool = False) -> EveryInput:
    """Return the question of whether the claim of `options` holds at every real and int input of `program`.

    If `scaled` is true, the question is prepared for multiples of beta, too. Raises DiagnosticError for a claim that
    cannot be read.
    """
    claim = ClassClaim(program, options, together=True)
    decided_by: type[ClassCase] = ClassCase
    if claim.both_open:
        decided_by = BothOpenCase
    elif claim.at_distance and claim.gamma is not None and not claim.gamma_moves and claim.open().gamma_base:
        decided_by = OneGammaCase if claim.open().beta is None else ClassCase
    return EveryInput(program, claim, scaled=scaled, decided_by=decided_by)


def _right_and_near(
    source: EveryInput, convex: ConvexClass, halves_of_beta: conditions.Halves, gamma: str | None
) -> Iterator[list[ClassCase]]:
    """Yield lists of cases about the class `convex`; if all cases of one list are proved, the claim of `source` holds.

    The first case of a list states that the finite outputs are right, with the first summand of beta in
    `halves_of_beta`. Its other cases state that the other outputs are within `gamma`, with the second summand.
    """

    def case(options: ClaimOptions, exits: Sequence[CenteredExit]) -> ClassCase:
        return ClassCase(source.asking(options), replace(convex, exits=tuple(exits)))

    right = replace(source.options, alpha="dd", gamma=0, beta=halves_of_beta.alpha)
    near = replace(source.options, alpha=0, gamma=gamma, beta=halves_of_beta.gamma)
    for exits in _exit_sets(convex.exits):
        others = dict.fromkeys(
            replace(centered, guards=(), weight=None, parts=_only(centered, near=True)) for centered in exits
        )
        yield [case(right, [*map(_finite_alone, exits)]), *[case(near, [centered]) for centered in others]]
    if len(convex.exits) > 1 and not convex.inputs.incomplete:
        with suppress(Undecided):
            ends = source.exits.ends(convex.inputs.finite, convex.inputs.region)
            box = near_in_a_box(*ends, convex.guards)
            if box is not None:
                yield [case(right, [*map(_finite_alone, convex.exits)]), case(near, [box])]


# --- exits to the answer in two parts ---------------------------------------------------------------


def _exit_sets(exits: Sequence[CenteredExit]) -> Iterator[Sequence[CenteredExit]]:
    """Yield subsets of `exits`: first all exits with separate noises, if there are several; then each exit alone.

    An exit has separate noises if no noise both determines the finite outputs and decides whether another output is
    within gamma of the right answer.
    """
    separate = [
        centered
        for centered in exits
        if all(len({has_gamma(half) for half in component.halfspaces}) <= 1 for component in centered.parts)
    ]
    if len(separate) > 1:
        yield separate
    for centered in exits:
        yield [centered]


def _finite_alone(centered: CenteredExit) -> CenteredExit:
    return replace(centered, points=(), in_balls=False, parts=_only(centered, near=False))


def _only(centered: CenteredExit, *, near: bool) -> tuple[NoiseComponent, ...]:
    return tuple(
        [
            part
            for component in centered.parts
            for part in connected(component, [half for half in component.halfspaces if has_gamma(half) is near])
        ]
    )

"""`--inputs all`: a claim decided for every real input, class by class (Theorem 3 of the paper where it applies).

For a class C of inputs with one answer let C(alpha) be its inputs with dd(u) >= alpha. Every slack of the answer's
events is bounded below over (a superset of) C(alpha) by linear programming, and so is the probability, by monotonicity.
If the bound meets the claim, the claim holds at every input of the class: u is in C(dd(u)). If one input attains all
the bounds, it decides the class by itself. Whatever refutes is an input of its own, decided by the ordinary engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.algebra.quotient import Closed, Quotient
from dipc.ideal.ideal import Ideal
from dipc.obligations.decide import Decider, Settled
from dipc.obligations.verdict import Verdict
from dipc.sign import Interval
from dipc.sign.piecewise import BetaForm
from dipc.sources.every_input.class_obligation import Obligation, at_zero, obligation
from dipc.sources.every_input.class_result import ClassNote, ClassResult, Method
from dipc.sources.every_input.classes import InputClass, classes
from dipc.sources.every_input.convex_pieces import Piece, pieces
from dipc.sources.every_input.corner import greatest_alpha
from dipc.sources.every_input.describe import answer_texts, corner_texts, guard_texts, input_texts, wall_texts
from dipc.sources.every_input.exits import ExitFinder
from dipc.sources.every_input.halfspaces import Moving
from dipc.sources.every_input.lower import Lower, lower_bound
from dipc.sources.every_input.rivals import choices
from dipc.sources.every_input.scaling import ClassClaim, products
from dipc.sources.every_input.upper import complement_bound
from dipc.sources.every_input.walls import Metric, walls
from dipc.sources.every_input.witness import Witnesses, candidates
from dipc.sources.outcome import RowResult

_ZERO = Fraction(0)
_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class _Case:
    """A piece of a class, of it what is behind the walls of `side`, and all walls that its inputs at a distance are
    behind; `refused` says why it could not be made out."""

    number: int
    of: InputClass
    piece: Piece
    side: tuple[Moving, ...]
    walls: tuple[Moving, ...]
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class _Bounded:
    """A case with what is to be shown of it and what is known: `intervals` are the values of the variable, `greatest`
    the greatest alpha of the class (None: none, or not known)."""

    case: _Case
    obligation: Obligation
    lower: Lower
    intervals: tuple[Interval, ...]
    greatest: Fraction | None

    @property
    def sample(self) -> Fraction:
        """A value of the open distance at which the class is shown."""
        return _ONE if self.greatest is None or self.greatest >= 1 else self.greatest


class AllInputs:
    """The claim about one program, class by class."""

    def __init__(self, ideal: Ideal, claim: ClassClaim, metric: Metric, witnesses: Witnesses) -> None:
        self._ideal = ideal
        self._core = ideal.program.core
        self._claim = claim
        self._metric = metric
        self._witnesses = witnesses
        self._exits = ExitFinder(ideal.program)
        self._slots = ideal.symbolic_inputs
        self._deciders: dict[tuple[Interval, ...], Decider] = {}

    @property
    def obligations(self) -> int:
        """How many different obligations were decided."""
        return sum(decider.obligations for decider in self._deciders.values())

    def results(self) -> Iterator[ClassResult]:
        """The classes in order, each decided when it is asked for."""
        number = 0
        for found in classes(self._ideal):
            cases = list(self._cases(found))
            assert cases, "regions are not empty: a class without cases would hold of itself"
            for case in cases:
                number += 1
                case = replace(case, number=number)
                try:
                    yield self._result(case, obligation(self._claim, found, self._metric))
                except Undecided as undecided:
                    yield self._row(case, Method.NONE, Settled(Verdict.UNDECIDED, reason=undecided.reason))

    def _cases(self, found: InputClass) -> Iterator[_Case]:
        moving = walls(found.region, found.others, self._metric)
        try:
            parts = pieces(found.region.guards, self._exits.exits(found.finite, found.region))
        except Undecided as undecided:
            yield _Case(0, found, Piece((), ()), (), moving, undecided.reason)
            return
        sides: Sequence[tuple[Moving, ...]] = ((),)
        if any(guard.form.inputs and not wall.step for guard, wall in zip(found.region.guards, moving, strict=True)):
            sides = choices(found.region, found.rivals, self._metric)
        for piece in parts:
            static = [Moving(guard.form, _ZERO) for guard in piece.guards]
            for side in sides:
                yield _Case(0, found, piece, side, (*moving, *static, *side))

    def _result(self, case: _Case, wanted: Obligation) -> ClassResult:
        if case.refused is not None:
            return self._row(case, Method.NONE, Settled(Verdict.UNDECIDED, reason=case.refused))
        distances = wanted.distances
        lower = lower_bound(case.piece.exits, case.walls, self._slots, distances, self._ideal.program.measurer)
        greatest = None if lower.corner is not None else greatest_alpha(case.walls)
        if greatest is not None and (greatest < 0 or (distances.alpha is not None and greatest < distances.alpha)):
            return self._row(case, Method.EMPTY, Settled(Verdict.ACCURATE))
        if greatest == 0 and distances.alpha_rate:
            return self._result(case, at_zero(self._claim))
        intervals = self._claim.intervals
        if distances.is_open:
            intervals = (products(intervals, greatest if distances.alpha_rate else None),)
        bounded = _Bounded(case, wanted, lower, intervals, greatest)
        settled = Settled(Verdict.UNDECIDED, reason=wanted.reason)
        if wanted.beta is not None:
            settled = self._settle(intervals, ClosedForm(lower.value), wanted.beta)
        if settled.verdict is not Verdict.ACCURATE and wanted.beta is not None and not lower.exact:
            other = self._by_complement(bounded)
            if (
                other is not None
                and self._settle(intervals, ClosedForm(other), wanted.beta).verdict is Verdict.ACCURATE
            ):
                return self._proved(replace(bounded, lower=replace(lower, value=other)))
        if settled.verdict is Verdict.ACCURATE:
            return self._proved(bounded)
        return self._refuted(bounded, settled)

    def _by_complement(self, bounded: _Bounded) -> Closed | None:
        """Another lower bound of the same probabilities, from what other answers have at most."""
        case = bounded.case
        others = self._exits.others(case.of.finite, case.of.region)
        if others is None:
            return None
        guards = [*case.of.region.guards, *case.piece.guards]
        measurer = self._ideal.program.measurer
        return complement_bound(others, guards, case.walls, bounded.obligation.distances, measurer)

    def _settle(self, intervals: tuple[Interval, ...], probability: ClosedForm, beta: BetaForm) -> Settled:
        decider = self._deciders.get(intervals)
        if decider is None:
            decider = self._deciders[intervals] = Decider(intervals, self._ideal.program.limits.sign)
        return decider.settle(probability, beta)

    # --- rows -------------------------------------------------------------------------------------------

    def _proved(self, bounded: _Bounded) -> ClassResult:
        if bounded.lower.exact and not self._holds_corner(bounded):
            bounded = replace(bounded, lower=replace(bounded.lower, exact=False, corner=None))
        method = Method.CORNER if bounded.lower.exact else Method.BOUND
        return self._row(bounded.case, method, Settled(Verdict.ACCURATE), bounded)

    def _holds_corner(self, bounded: _Bounded) -> bool:
        """Whether the corner is in the class, and as far from other answers as alpha: it may be on an edge that belongs
        to another class, and nearer to one than a wall that was left where it is can tell."""
        case, distances, corner = bounded.case, bounded.obligation.distances, bounded.lower.corner
        assert corner is not None
        alpha = distances.alpha_base + bounded.sample * distances.alpha_rate
        point = corner.at(alpha)
        if not all(guard.holds_at(point) for guard in (*case.of.region.guards, *case.piece.guards)):
            return False
        left = any(wall.form.inputs and not wall.step for wall in case.walls[: len(case.of.region.guards)])
        distance = self._witnesses.distance({**case.of.finite, **point}) if alpha and left else None
        return distance is None or distance >= alpha

    def _refuted(self, bounded: _Bounded, settled: Settled) -> ClassResult:
        """The class with an input that refutes the claim, undecided where none is found."""
        case, lower = bounded.case, bounded.lower
        gamma = None
        alphas: Sequence[Fraction] = (bounded.obligation.distances.alpha or _ZERO,)
        if bounded.obligation.distances.is_open:
            scale = self._scale_of(bounded, settled)
            if bounded.obligation.distances.alpha_rate:
                alphas = tuple(dict.fromkeys([scale, bounded.sample]))
            else:
                gamma = scale
        proposed = candidates(
            case.of.region, case.walls, lower.slacks, self._slots, case.of.finite, lower.corner, alphas
        )
        moves = bool(bounded.obligation.distances.alpha_rate and bounded.obligation.distances.gamma_rate)
        row = self._witnesses.first_refuting(proposed, gamma, finite=moves)
        if row is not None:
            return self._row(case, Method.WITNESS, None, bounded, row)
        reason = settled.reason or _unproved(lower)
        return self._row(case, Method.NONE, Settled(Verdict.UNDECIDED, reason=reason), bounded)

    def _scale_of(self, bounded: _Bounded, settled: Settled) -> Fraction:
        """A value of the open distance for which the failing product t = distance·eps has an eps of the claim."""
        found = settled.counterexample
        if found is None:
            return bounded.sample
        for interval in self._claim.intervals:
            # eps = t/distance, with a distance of 1 where that is possible.
            for distance in (_ONE, bounded.sample, found.eps / _inside(interval)):
                fits = bounded.greatest is None or distance <= bounded.greatest
                if fits and found.eps / distance in interval:
                    return distance
        return bounded.sample

    def _row(
        self,
        case: _Case,
        method: Method,
        settled: Settled | None,
        bounded: _Bounded | None = None,
        witness: RowResult | None = None,
    ) -> ClassResult:
        note = self._note(case, method, bounded)
        if witness is not None:
            return ClassResult(
                case.number,
                witness.input,
                witness.output,
                witness.alpha,
                witness.beta_form,
                witness.gamma,
                witness.verdict,
                closed_form=witness.closed_form,
                counterexample=witness.counterexample,
                failing=witness.failing,
                note=note,
            )
        assert settled is not None
        return replace(self._shown(case, bounded), verdict=settled.verdict, reason=settled.reason, note=note)

    def _shown(self, case: _Case, bounded: _Bounded | None) -> ClassResult:
        """The class at its corner for one value of the open distance, where it has a corner."""
        output = answer_texts(self._core, case.of.region)
        if bounded is None or bounded.obligation.beta is None:
            zero = ClosedForm(ExpPoly.zero())
            return ClassResult(case.number, {}, output, self._claim.alpha_text, zero, "", Verdict.UNDECIDED)
        distances, sample = bounded.obligation.distances, bounded.sample
        alpha = distances.alpha_base + sample * distances.alpha_rate
        gamma = distances.gamma_base + sample * distances.gamma_rate
        return ClassResult(
            case.number,
            {} if bounded.lower.corner is None else self._input(case, bounded.lower.corner.at(alpha)),
            output,
            str(alpha),
            bounded.obligation.beta,
            str(gamma),
            Verdict.UNDECIDED,
            closed_form=_scaled(ClosedForm(bounded.lower.value), sample, distances.is_open)
            if bounded.lower.exact
            else None,
        )

    def _input(self, case: _Case, point: Mapping[int, Fraction]) -> dict[str, str]:
        return input_texts(self._core, {**case.of.finite, **point})

    def _note(self, case: _Case, method: Method, bounded: _Bounded | None) -> ClassNote:
        guards = (*case.of.region.guards, *case.piece.guards)
        answer = answer_texts(self._core, case.of.region)
        where = (*guard_texts(self._core, guards, case.of.finite), *wall_texts(self._core, case.side))
        if bounded is None:
            return ClassNote(answer, where, method)
        corner = bounded.lower.corner
        variable = bounded.obligation.variable
        return ClassNote(
            answer,
            where,
            method,
            variable,
            ", ".join(map(str, bounded.intervals)),
            {} if corner is None else corner_texts(self._core, corner, case.of.finite, "alpha"),
            str(ClosedForm(bounded.lower.value)),
            None if bounded.obligation.beta is None else str(bounded.obligation.beta),
            bounded.lower.exact,
        )


def _scaled(form: ClosedForm, factor: Fraction, is_open: bool) -> ClosedForm:
    if not is_open or factor == 1 or isinstance(form.value, Quotient):
        return form
    return ClosedForm(form.value.scaled(factor))


def _inside(interval: Interval) -> Fraction:
    """A point of the interval."""
    if interval.upper is None:
        return interval.lower + 1
    return (interval.lower + interval.upper) / 2


def _unproved(lower: Lower) -> str:
    why = f" ({lower.lost})" if lower.lost else ""
    return f"the lower bound of the class's probabilities does not prove the claim{why}, and no input refutes it"

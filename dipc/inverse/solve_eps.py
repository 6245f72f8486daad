"""Find the eps at which a program is accurate with a given beta: all of them, and the least one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, cmp_to_key

from dipc.algebra.limits import LimitReached, Limits, Undecided
from dipc.decide.crossings import PlaceCut, Stretch, compare_cuts, span_of
from dipc.decide.engine import Engine
from dipc.decide.obligation import EndPoint, EpsSpan, Verdict
from dipc.inverse.question import (
    FIRST_DISTANCES,
    INTERRUPTED,
    Claims,
    EpsSolution,
    Inequality,
    Status,
    UnknownCases,
    all_hold,
    has_integer_distances,
    interrupted_before,
    proved_by_check,
)
from dipc.questions.every_input import ClassCase
from dipc.rules.rule import Variable
from dipc.sign.chart import cuts
from dipc.sign.interval import Interval
from dipc.text.diagnostic import DiagnosticError, bad_input

# --- sets of eps ----------------------------------------------------------------------------------
#
# The exact set of eps at which several obligations hold together, from the sets where each of them fails.


def uncovered_parts(failing: Iterable[Stretch], intervals: Sequence[Interval], limits: Limits) -> list[Stretch]:
    """The maximal parts of each of `intervals` outside all stretches in `failing`, in the order of the intervals.

    A stretch is a pair of cuts, the places right before or right after one eps. The parts of one interval are in
    increasing order. Raises LimitReached if two ends cannot be compared within `limits`.
    """

    def by_start(one: Stretch, other: Stretch) -> int:
        return compare_cuts(one[0], other[0], limits)

    ordered = sorted(failing, key=cmp_to_key(by_start))
    result: list[Stretch] = []
    for interval in intervals:
        first: PlaceCut
        first, last = cuts(interval)
        for lower, upper in ordered:
            if compare_cuts(lower, last, limits) >= 0:
                break
            if compare_cuts(first, lower, limits) < 0:
                result.append((first, lower))
            if compare_cuts(first, upper, limits) < 0:
                first = upper
        if compare_cuts(first, last, limits) < 0:
            result.append((first, last))
    return result


#: The reason why a claim is undecided where a bound fails that is not exact.
BELOW = "for a class of inputs the lower bound of the probability is below 1 - beta"
# --- the claim itself ---

#: Stretches where the claim fails or is not proved, each with the inequality that fails there.
Failing = Sequence[tuple[Stretch, Inequality]]


@dataclass(frozen=True, eq=False)
class HoldingSet:
    """The values of a variable such as eps, in some `intervals`, at which a claim given by inequalities holds.

    `failing` and `unproved` have the stretches where an inequality fails, as pairs (stretch, inequality). In `failing`
    the inequality is exact, so the claim fails too; in `unproved` it is only a bound. Cases in `unknown` have no
    answer: they are past a limit, or Ctrl-C came first. `limits` bound the work of comparing the ends of stretches.

    The stretches `held` are the rest of `intervals` without `failing`. The stretches `proved` are the rest without
    `failing` and `unproved`; there are none if a case is unknown. Invariant: the claim holds at every value in
    `proved`, and at no value outside of `held`.
    """

    intervals: Sequence[Interval]
    failing: Failing
    unproved: Failing
    unknown: Sequence[UnknownCases]
    limits: Limits

    @staticmethod
    def from_inequalities(
        inequalities: Sequence[Inequality],
        intervals: Sequence[Interval],
        unknown: Sequence[UnknownCases],
        engine: Engine,
    ) -> HoldingSet:
        """Return the values in `intervals` at which all `inequalities` hold, as `engine` decides.

        Each interval of an inequality lies inside one of `intervals`. `unknown` are cases without an inequality. The
        result's unknown cases are these, and those that the engine does not decide.
        """
        failing: list[tuple[Stretch, Inequality]] = []
        unproved: list[tuple[Stretch, Inequality]] = []
        unknown = [*unknown]
        for position, claimed in enumerate(inequalities):
            try:
                stretches = engine.failing(claimed.obligation)
            except Undecided as undecided:
                unknown.append(UnknownCases(undecided.reason, claimed.rows))
            except KeyboardInterrupt:
                unknown.append(interrupted_before(inequalities[position:]))
                break
            else:
                (failing if claimed.exact else unproved).extend((stretch, claimed) for stretch in stretches)
        return HoldingSet(intervals, failing, unproved, unknown, engine.limits)

    @cached_property
    def held(self) -> list[Stretch]:
        """The maximal stretches where no exact inequality fails, in the order of the intervals."""
        return self._outside(self.failing)

    @cached_property
    def proved(self) -> list[Stretch]:
        """The maximal stretches where all inequalities hold; empty if any case is unknown."""
        return [] if self.unknown else self._outside([*self.failing, *self.unproved])

    def _outside(self, failing: Failing) -> list[Stretch]:
        return uncovered_parts([stretch for stretch, _ in failing], self.intervals, self.limits)

    @property
    def is_exact(self) -> bool:
        """Whether the claim is proved at every value in `held`, that is, wherever no exact inequality fails."""
        return len(self.held) == len(self.proved) and not any(
            compare_cuts(a, b, self.limits)
            for one, other in zip(self.held, self.proved, strict=True)
            for a, b in zip(one, other, strict=True)
        )

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""
        return any(cases.reason == INTERRUPTED for cases in self.unknown)

    @property
    def unproved_rows(self) -> tuple[int, ...]:
        """The numbers of the cases with an inequality that fails somewhere and is not exact."""
        return _rows(claimed for _, claimed in self.unproved)

    @property
    def preventing_rows(self) -> tuple[int, ...]:
        """The numbers of the cases that fail right before the least value in `held`.

        If `held` is empty, they are the cases of one inequality that fails at all values. Without such an inequality,
        they are all cases that fail somewhere.
        """
        if self.held:
            least = self.held[0][0]
            return _rows(claimed for (_, upper), claimed in self.failing if not compare_cuts(upper, least, self.limits))
        # One case that fails everywhere is the best explanation.
        alone = self.failing_alone
        return _rows([alone] if alone is not None else (claimed for _, claimed in self.failing))

    @cached_property
    def failing_alone(self) -> Inequality | None:
        """The first inequality that fails at all values, or None if each inequality holds at some value."""
        every = dict.fromkeys(claimed for _, claimed in self.failing)
        return next(
            (one for one in every if not self._outside([each for each in self.failing if each[1] is one])), None
        )


def solve_eps(claims: Claims, digits: int) -> EpsSolution:
    """The exact set of eps, among those of the question, at which all cases of `claims` hold, apart from vacuous ones.

    Ends of the set have `digits` digits. The answer is undecided if cases are past a limit, unless the other cases
    exclude every eps. The answer is also undecided if, at some eps, no exact probability is too small, but a lower
    bound of a probability is. The claim then holds at least on the solution's `proved` intervals. Raises
    DiagnosticError for a claim about every distance, unless a check proves it: then every eps is a solution.
    """
    limits = claims.question.program.limits
    intervals = claims.intervals
    about_products = any(claimed.variable is not Variable.EPS for claimed in claims.distinct)
    if about_products and proved_by_check(claims, range(1, len(claims.every) + 1), Fraction(1)):
        spans = [span_of(cuts(interval), digits, limits) for interval in intervals]
        return EpsSolution.from_claims(
            claims, digits, Status.SOLVED, (), "", holds=tuple(spans), everywhere=True, from_there_on=True
        )
    _require_single(claims)
    found = HoldingSet.from_inequalities(claims.distinct, intervals, claims.unknown, claims.question.engine)
    left = {number for cases in found.unknown for number in cases.rows} | {*found.unproved_rows}
    exactly = not found.failing and not found.is_interrupted
    if left and exactly and proved_by_check(claims, sorted(left), Fraction(1)):
        found = replace(found, unknown=(), unproved=())
    elif found.unknown and not found.is_interrupted:
        found = replace(found, unknown=_without_proved_far_away(claims, found.unknown, found.held, digits))
    rows = found.preventing_rows
    if found.held and not found.is_exact:
        status = Status.UNDECIDED
        remark, rows = BELOW, found.unproved_rows
        if found.unknown:
            remark, rows = found.unknown[0].reason, found.unknown[0].rows
    elif found.held:
        status, remark = Status.SOLVED, ""
    else:
        status = Status.NONE
        several = len(rows) > 1 and found.failing_alone is None
        remark = f"every {claims.question.word} holds at some eps, but at no eps do all of them hold" if several else ""
    try:
        spans, proved_spans = ([span_of(each, digits, limits) for each in some] for some in (found.held, found.proved))
    except LimitReached as stopped:
        status, remark, spans, proved_spans = Status.UNDECIDED, stopped.reason, [], []
    solved = status is Status.SOLVED
    return EpsSolution.from_claims(
        claims,
        digits,
        status,
        rows,
        remark,
        holds=tuple(spans),
        proved=tuple(proved_spans) if status is Status.UNDECIDED else (),
        everywhere=solved and not found.failing,
        from_there_on=solved and _holds_from_least_on(found.held, intervals),
        interrupted=status is Status.UNDECIDED and found.is_interrupted,
        scopes=claims.scopes(),
    )


def solve_at_its_eps(claims: Claims, digits: int) -> EpsSolution:
    """The solution of `claims` about one irrational eps: no eps if the claim is refuted there, else this eps.

    If the claim is neither proved nor refuted, the solution is undecided. `digits` becomes a field of the solution.
    """
    around = claims.question.around
    assert around is not None
    assert around.upper is not None
    verdict, rows, reason = all_hold(claims)
    end = EndPoint(around.lower, around.upper, included=True)
    spans = () if verdict is Verdict.INACCURATE else (EpsSpan(end, end),)
    status = {Verdict.ACCURATE: Status.SOLVED, Verdict.INACCURATE: Status.NONE, Verdict.UNDECIDED: Status.UNDECIDED}
    holds = verdict is Verdict.ACCURATE
    answer = EpsSolution.from_claims(
        claims,
        digits,
        status[verdict],
        rows,
        reason,
        holds=spans,
        everywhere=holds,
        from_there_on=holds,
        scopes=claims.scopes(),
    )
    return replace(answer, eps=claims.question.written_eps or answer.eps)


def _without_proved_far_away(
    claims: Claims, unknown: Sequence[UnknownCases], held: Sequence[Stretch], digits: int
) -> list[UnknownCases]:
    """Return `unknown` without the cases of `claims` that are proved at every eps in `held`.

    `held` has the stretches on which no exact inequality fails. A case whose distances are all integers is dropped if
    two things are true. The least probability is known exactly at each distance from 1 to 6, and one proof covers all
    distances >= 7. For this proof, each stretch is enlarged to decimal ends of `digits` digits.
    """
    limits, engine = claims.question.program.limits, claims.question.engine
    ranges = []
    for span in (span_of(stretch, digits, limits) for stretch in held):
        high = "inf)" if span.end.high is None else f"{span.end.high}]"
        ranges.append(f"({span.start.low}, {high}" if not span.start.low else f"[{span.start.low}, {high}")

    def is_known(number: int) -> bool:
        case = claims.every[number - 1]
        if not isinstance(case, ClassCase) or not has_integer_distances(case):
            return False
        try:
            return all(case.is_exact_at(distance) for distance in FIRST_DISTANCES) and all(
                engine.run(case.proved_from(FIRST_DISTANCES.stop, Fraction(1), eps)) for eps in ranges
            )
        except (Undecided, DiagnosticError):
            return False

    left = [UnknownCases(each.reason, tuple(n for n in each.rows if not is_known(n))) for each in unknown]
    return [each for each in left if each.rows]


def _require_single(claims: Claims) -> None:
    scale = next((claimed.variable for claimed in claims.distinct if claimed.variable is not Variable.EPS), None)
    if scale is None:
        return
    name = "alpha" if scale is Variable.ALPHA_EPS else "gamma"
    what = "is dd(u) for every input u" if name == "alpha" else "is free"
    notes = (
        f"give {name} a positive number: `--{name} 1`",
        f"`--for {name}` finds the least t = {scale}, with alpha = dd" if name == "alpha" else "",
    )
    message = f"no eps is enough if {name} {what}: at every eps, {scale} may be arbitrarily near to 0"
    raise bad_input("E1026", message, *filter(None, notes))


def _rows(of: Iterable[Inequality]) -> tuple[int, ...]:
    return tuple(sorted({number for claimed in of for number in claimed.rows}))


def _holds_from_least_on(held: Sequence[Stretch], intervals: Sequence[Interval]) -> bool:
    """True if the claim holds at every eps of the question above the least eps at which it holds.

    `held` has the stretches of `intervals`, the eps of the question, where the claim holds; some stretch exists.
    """
    wholes = list(map(cuts, intervals))[-len(held) :]
    return len(held) == len(wholes) and held[0][1] == wholes[0][1] and list(held[1:]) == wholes[1:]

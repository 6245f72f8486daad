"""Find the eps at which a program is accurate with a given beta: all of them, and the least one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cmp_to_key

from dipc.algebra.limits import DecisionBudget, LimitReached, Limits, Undecided
from dipc.claims.claim import intervals_text
from dipc.decide.crossings import EpsCut, Place, Stretch, cuts, end_of
from dipc.decide.engine import Engine
from dipc.inverse.question import (
    FIRST_DISTANCES,
    INTERRUPTED,
    Claims,
    EpsSolution,
    EpsSpan,
    Inequality,
    Status,
    UnknownCases,
    has_integer_distances,
    interrupted_before,
    proved_by_check,
)
from dipc.questions.every_input import ClassCase
from dipc.rules.rule import Variable
from dipc.sign.interval import Interval
from dipc.sign.optimum import order
from dipc.sign.roots import Root, refine_within
from dipc.text.diagnostic import DiagnosticError, bad_input

# --- sets of eps ----------------------------------------------------------------------------------
#
# The exact set of eps at which several obligations hold together, from the sets where each of them fails.


def uncovered_parts(failing: Iterable[Stretch], interval: Interval, limits: Limits) -> list[Stretch]:
    """The maximal parts of `interval` outside all stretches `failing`, in increasing order.

    Raises LimitReached if ends are not told apart within `limits`.
    """
    whole = cuts(interval)
    comparison = CutOrder(limits)
    first = whole[0]
    result: list[Stretch] = []

    def by_start(one: Stretch, other: Stretch) -> int:
        return comparison(one[0], other[0])

    for lower, upper in sorted(failing, key=cmp_to_key(by_start)):
        if comparison(first, lower) < 0:
            result.append((first, lower))
        if comparison(first, upper) < 0:
            first = upper
    if comparison(first, whole[1]) < 0:
        result.append((first, whole[1]))
    return result


class CutOrder:
    """The exact order of cuts of the line of eps, each right before or right after a number, as -1, 0 or 1."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def __call__(self, first: EpsCut, second: EpsCut) -> int:
        return self.places(first.place, second.place) or first.after - second.after

    def places(self, first: Place, second: Place) -> int:
        match first, second:
            case None, None:
                return 0
            case None, _:
                return 1
            case _, None:
                return -1
            case Fraction(), Fraction():
                return (first > second) - (first < second)
            case Root(), Fraction():
                return self._difference_sign(first, second)
            case Fraction(), Root():
                return -self._difference_sign(second, first)
            case Root(), Root():
                return order(first, second, DecisionBudget(self._limits))
        return 0 if first is second else self._compare_crossings(first, second)

    def _compare_crossings(self, first: Place, second: Place) -> int:
        """Compare `first` and `second`, at least one of which is an `EnclosedRoot`: return -1, 0 or 1.

        Raises LimitReached if they cannot be distinguished.
        """
        near = Fraction(0)
        for digits in _DIGITS:
            one, other = (end_of(EpsCut(end, after=False), digits, self._limits) for end in (first, second))
            assert one.high is not None
            assert other.high is not None
            if one.high <= other.low or other.high <= one.low:
                return -1 if one.high <= other.low else 1
            near = one.low
        raise LimitReached(None, f"it was not decided which of two ends near eps = {float(near):.12g} comes first")

    def _difference_sign(self, root: Root, value: Fraction) -> int:
        """The sign of `root` - `value`; a root that is not exact is irrational, so the difference is not 0."""
        budget = DecisionBudget(self._limits)
        while not root.is_exact and root.lower < value < root.upper:
            root = refine_within(root, root.width / 16, budget)
        if root.is_exact:
            return (root.lower > value) - (root.lower < value)
        return 1 if root.lower >= value else -1


def span_between(start: EpsCut, end: EpsCut, digits: int, limits: Limits) -> EpsSpan:
    """The interval between the cuts `start` and `end`, with ends to `digits` digits, enclosed within `limits`.

    Ends that differ but would look equal get more digits. Raises LimitReached.
    """
    first, last = end_of(start, digits, limits), end_of(end, digits, limits)
    span = EpsSpan(replace(first, included=not start.after), replace(last, included=end.after))
    if span.is_point and CutOrder(limits).places(start.place, end.place):
        return span_between(start, end, 2 * digits, limits)
    return span


#: The digits that are tried in turn to distinguish two ends.
_DIGITS = (20, 80, 320)

# --- the claim itself ---

#: For each interval, the stretches in it where the claim fails or is not proved, each with its inequality.
Failing = Sequence[list[tuple[Stretch, Inequality]]]


def solve_eps(claims: Claims, digits: int) -> EpsSolution:
    """The exact set of eps of the question at which every case of `claims` that claims something holds.

    Ends of the set have `digits` digits. The answer is undecided if cases are past a limit, unless the other cases
    exclude every eps. It is also undecided if at some eps only bounds that are not exact fail; then the claim holds
    at least on the proved part. Raises DiagnosticError for a claim about every value of a product with eps.
    """
    limits = claims.question.program.limits
    intervals = claims.intervals
    if _is_about_products(claims) and proved_by_check(claims, range(1, len(claims.every) + 1), Fraction(1)):
        return _everywhere(claims, digits)
    _require_single(claims)
    failing, unproved, unknown = failures_by_interval(claims.distinct, intervals, claims.question.engine)
    unknown = [*claims.unknown, *unknown]
    held = _holding_parts(failing, intervals, limits)
    left = [number for cases in unknown for number in cases.rows]
    left += [number for stretches in unproved for _, claimed in stretches for number in claimed.rows]
    interrupted = any(cases.reason == INTERRUPTED for cases in unknown)
    if left and not any(failing) and not interrupted and proved_by_check(claims, sorted(set(left)), Fraction(1)):
        unknown, unproved = [], [[] for _ in intervals]
    elif unknown and not interrupted:
        unknown = _without_proved_far_away(claims, unknown, held, digits)
    certain = _holding_parts([[*a, *b] for a, b in zip(failing, unproved, strict=True)], intervals, limits)
    holds = [stretch for stretches in held for stretch in stretches]
    proved = [] if unknown else [stretch for stretches in certain for stretch in stretches]
    rows = preventing(failing, intervals, holds, limits)
    if holds and (unknown or not _same(held, certain, limits)):
        status = Status.UNDECIDED
        remark = (
            unknown[0].reason
            if unknown
            else "for a class of inputs the lower bound of the probability is below 1 - beta"
        )
        rows = unknown[0].rows if unknown else _rows(claimed for stretches in unproved for _, claimed in stretches)
    elif holds:
        status, remark = Status.SOLVED, ""
    else:
        status = Status.NONE
        word = claims.question.word
        remark = f"every {word} holds at some eps, but at no eps do all of them hold" if len(rows) > 1 else ""
    try:
        spans, proved_spans = ([span_between(a, b, digits, limits) for a, b in each] for each in (holds, proved))
    except LimitReached as stopped:
        status, remark, spans, proved_spans = Status.UNDECIDED, stopped.reason, [], []
    return EpsSolution(
        question=claims.question,
        undecided_row=claims.undecided_row,
        eps=intervals_text(intervals),
        digits=digits,
        status=status,
        rows=rows,
        remark=remark,
        holds=tuple(spans),
        proved=tuple(proved_spans) if status is Status.UNDECIDED else (),
        everywhere=status is Status.SOLVED and not any(failing),
        from_there_on=status is Status.SOLVED and _holds_from_least_on(held, intervals),
        scopes=claims.scopes(),
        interrupted=status is Status.UNDECIDED and any(cases.reason == INTERRUPTED for cases in unknown),
    )


def _without_proved_far_away(
    claims: Claims, unknown: Sequence[UnknownCases], held: Sequence[Sequence[Stretch]], digits: int
) -> list[UnknownCases]:
    """Return the `unknown` cases of `claims` that are not proved on all stretches of eps in `held`.

    `held` has, for each interval of the claim, the stretches of eps where the claim holds at the first integer
    distances. A case is proved on a stretch if its claim holds at all greater integer distances, on an interval
    around it whose ends are decimals of `digits` digits.
    """
    limits, engine = claims.question.program.limits, claims.question.engine
    spans = [span_between(a, b, digits, limits) for stretches in held for a, b in stretches]
    ranges = []
    for span in spans:
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


def failures_by_interval(
    distinct: Sequence[Inequality], intervals: Sequence[Interval], engine: Engine
) -> tuple[Failing, Failing, list[UnknownCases]]:
    """Return (failures of exact inequalities among `distinct`, failures of other bounds, unknown cases).

    Failures are stretches, each with its inequality: a list for each of the `intervals`, as `engine` decides. A case
    is unknown past a limit, or if it was not examined before Ctrl-C.
    """
    failing: list[list[tuple[Stretch, Inequality]]] = [[] for _ in intervals]
    unproved: list[list[tuple[Stretch, Inequality]]] = [[] for _ in intervals]
    unknown = []
    for position, claimed in enumerate(distinct):
        try:
            by_interval = [claimed.failing(interval, engine) for interval in claimed.intervals]
        except Undecided as undecided:
            unknown.append(UnknownCases(undecided.reason, claimed.rows))
            continue
        except KeyboardInterrupt:
            unknown.append(interrupted_before(distinct[position:]))
            break
        for interval, stretches in zip(claimed.intervals, by_interval, strict=True):
            into = (failing if claimed.exact else unproved)[_place_of(interval, intervals)]
            into += [(stretch, claimed) for stretch in stretches]
    return failing, unproved, unknown


def _place_of(inner: Interval, intervals: Sequence[Interval]) -> int:
    return next(
        position
        for position, interval in enumerate(intervals)
        if inner == interval
        or (inner.lower >= interval.lower and (interval.upper is None or inner.lower < interval.upper))
    )


def _holding_parts(failing: Failing, intervals: Sequence[Interval], limits: Limits) -> list[list[Stretch]]:
    return [
        uncovered_parts([stretch for stretch, _ in failures], interval, limits)
        for failures, interval in zip(failing, intervals, strict=True)
    ]


def _same(first: Sequence[list[Stretch]], second: Sequence[list[Stretch]], limits: Limits) -> bool:
    order = CutOrder(limits)
    return all(
        len(one) == len(other)
        and all(not order(a, c) and not order(b, d) for (a, b), (c, d) in zip(one, other, strict=True))
        for one, other in zip(first, second, strict=True)
    )


def _is_about_products(claims: Claims) -> bool:
    return any(claimed.variable is not Variable.EPS for claimed in claims.distinct)


def _everywhere(claims: Claims, digits: int) -> EpsSolution:
    limits = claims.question.program.limits
    return EpsSolution(
        question=claims.question,
        undecided_row=claims.undecided_row,
        eps=intervals_text(claims.intervals),
        digits=digits,
        status=Status.SOLVED,
        rows=(),
        remark="",
        holds=tuple([span_between(*cuts(interval), digits, limits) for interval in claims.intervals]),
        proved=(),
        everywhere=True,
        from_there_on=True,
        scopes=claims.scopes(),
    )


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
    message = f"no eps is enough if {name} {what}: {scale} may be arbitrarily near to 0"
    raise bad_input("E1026", message, *filter(None, notes))


def _rows(of: Iterable[Inequality]) -> tuple[int, ...]:
    return tuple(sorted({number for claimed in of for number in claimed.rows}))


def _holds_from_least_on(held: Sequence[list[Stretch]], intervals: Sequence[Interval]) -> bool:
    """True if a claim that holds exactly on `held` holds at all eps of the question from some eps on.

    `held` has the stretches for each of the `intervals`.
    """
    remaining = [(stretches, cuts(interval)) for stretches, interval in zip(held, intervals, strict=True)]
    while remaining and not remaining[0][0]:
        del remaining[0]
    (first, whole), *later = remaining
    return len(first) == 1 and first[0][1] == whole[1] and all(held_on == [all_of_it] for held_on, all_of_it in later)


def preventing(
    failing: Failing,
    intervals: Sequence[Interval],
    holds: Sequence[Stretch],
    limits: Limits,
) -> tuple[int, ...]:
    """The rows that fail right before the least eps in `holds`; if there is no such eps, rows that exclude all eps.

    `failing` has the stretches where rows fail, for each of the `intervals`; ends are compared within `limits`.
    """
    every = [entry for failures in failing for entry in failures]
    result: Iterable[Inequality]
    if holds:
        comparison = CutOrder(limits)
        result = [claimed for (_, upper), claimed in every if comparison(upper, holds[0][0]) == 0]
    else:
        result = {claimed: None for _, claimed in every}
        for alone in result:
            own = [[stretch for stretch, owner in failures if owner is alone] for failures in failing]
            # One row that fails everywhere is the best explanation.
            if not any(
                uncovered_parts(failures, interval, limits) for failures, interval in zip(own, intervals, strict=True)
            ):
                result = [alone]
                break
    return _rows(result)

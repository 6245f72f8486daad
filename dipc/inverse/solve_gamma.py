"""Find the exact tolerance: the least gamma at which a program is accurate with a given beta."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from dipc.algebra.exppoly import Closed, ClosedForm, product
from dipc.algebra.limits import Limits, Undecided
from dipc.algebra.numbers import decimal
from dipc.chain.event import GAMMA, EventTemplate
from dipc.claims.claim import Claim, intervals_text
from dipc.claims.given import Cell, CellPool
from dipc.claims.table import Row, Table
from dipc.decide.crossings import fails_next_to_zero, span_of
from dipc.decide.obligation import Obligation, Verdict
from dipc.decide.obligation import slack as slack_of
from dipc.frozen import frozen
from dipc.inverse.question import (
    INTERRUPTED,
    NEAR_A_TIE,
    Claims,
    GammaSolution,
    Question,
    Status,
    all_hold,
    checked,
    claim_scopes,
    claims_of,
    holds_around,
)
from dipc.inverse.search import LeastNumber, bisect, narrow, narrow_to_integers, neighboring_powers
from dipc.inverse.solve_eps import HoldingSet
from dipc.measure.measure import Bound, Share
from dipc.program.inputs import parse_inputs, table_of
from dipc.program.nearness import Nearness
from dipc.program.program import Probabilities
from dipc.rules.rule import Variable
from dipc.sign.chart import isolate_roots
from dipc.sign.interval import Interval
from dipc.sign.optimum import Cell as Enclosure
from dipc.sign.optimum import decimal_hull, limit_at_zero
from dipc.sign.piecewise import BetaForm
from dipc.sign.roots import Root
from dipc.text.ast import BaseType, mentions
from dipc.text.diagnostic import DiagnosticError
from dipc.text.program import CoreProgram

#: No gamma above 10^n is tried, for this n.
GREATEST_POWER = 300

#: A gamma at which inputs are sought that fail with every gamma.
_LARGE = 1_000

_ZERO = Fraction(0)

#: The interval next to 0 in which a claim without closed form is tested ends here.
_TINY = Fraction(1, 2**20)


def solve_gamma(question: Question, claim: Claim, digits: int) -> GammaSolution:
    """The least gamma with which every case of `question` has Pr >= 1 - beta at all eps, enclosed to `digits` digits.

    `claim` is the claim with gamma = 0. The result is exact if it is proved to be the least gamma. Pr never decreases
    as gamma grows, and neither alpha nor beta may depend on gamma, so the inequality also holds for all greater gammas.
    Raises DiagnosticError for a claim that depends on gamma.
    """
    _refuse_dependence(question, claim)
    if question.table is None:
        return solve_gamma_everywhere(question, digits)
    search = _GammaSearch(question, question.table, claim, digits)
    try:
        return search.solve()
    except Undecided as undecided:
        return search.answer(Status.UNDECIDED, None, search.worst_rows(), undecided.reason)
    except KeyboardInterrupt:
        return search.answer(Status.UNDECIDED, None, search.worst_rows(), search.so_far(), interrupted=True)


def _refuse_dependence(question: Question, claim: Claim) -> None:
    """Raise DiagnosticError if alpha or beta of `claim`, or a bound of beta in the table of `question`, needs gamma."""
    rows = () if question.table is None else question.table.rows
    columns = [claim.column_beta(text) for text in sorted({row.beta.text for row in rows if row.beta})]
    for expression in (claim.alpha, claim.beta, *columns):
        if expression is not None and mentions(expression.tree, "gamma"):
            message = f"{expression.what} depends on gamma, which is the unknown"
            why = "as the bound depends on gamma, a larger gamma may fail where a smaller one holds"
            raise expression.error("E1022", message, expression.tree, "", why)


#: A row of a table, with the beta of its claim.
_Claimed = tuple[Row, BetaForm]


class _GammaSearch:
    """A search for the least gamma with which the claim holds at all rows of a table.

    A row is dropped once another row is known to need a larger gamma.
    """

    def __init__(self, question: Question, table: Table, claim: Claim, digits: int) -> None:
        self._question = question
        self._claim = claim
        self._digits = digits
        self._limits: Limits = question.program.limits
        self._probabilities: Probabilities = question.program.probabilities()
        self._pool = CellPool()
        self._open = [(row, t.beta) for row in table.rows if not (t := claim.terms(row)).vacuous]
        self._failing: _Claimed | None = None
        self._too_small: Fraction | None = None
        self._enough: Fraction | None = None

    # --- the search --------------------------------------------------------------------------------

    def solve(self) -> GammaSolution:
        if self._all_hold(Fraction(0)):
            remark = "" if self._open else "every row is vacuous"
            return self.answer(Status.SOLVED, (Fraction(0), Fraction(0)), (), remark)
        hopeless = self.hopeless()
        if hopeless is not None:
            return hopeless
        low, high = neighboring_powers(self._all_hold, GREATEST_POWER, "gamma")
        courses = [course_of(self._probabilities, row) for row, _ in self._open]
        known = [course for course in courses if course is not None]
        in_steps = len(known) == len(courses) and all(course.steps for course in known)
        exact = self._on_steps(known, low, high) if in_steps else self._at_jump(courses, low, high)
        if exact is None:
            low, high = narrow(self._all_hold, low, high, self._digits)
            exact = high if self._is_least(high) else None
        return self.answer(Status.SOLVED, (low, high) if exact is None else (exact, exact), self.worst_rows(), "")

    def _all_hold(self, gamma: Fraction) -> bool:
        """True if all rows that were not dropped hold with this `gamma`.

        If a row fails, the rows decided before it, which hold, are dropped: they need a smaller gamma than this row.
        """
        holding: list[_Claimed] = []
        for position, claimed in enumerate(self._open):
            if not self._holds(claimed, gamma):
                self._open = [claimed, *self._open[position + 1 :]]
                self._failing = claimed
                self._too_small = gamma
                return False
            holding.append(claimed)
        self._enough = gamma
        return True

    def _holds(self, claimed: _Claimed, gamma: Fraction | None) -> bool:
        """True if Pr[right answer] >= 1 - beta for the row `claimed`, with this `gamma`, at all eps of the claim.

        If `gamma` is None, every value of a real or int output counts as right.
        """
        return self._holds_with(claimed, self._bound(claimed, gamma))

    def _holds_with(self, claimed: _Claimed, bound: Bound) -> bool:
        if self._question.ends:
            return self._holds_up_to_irrational_ends(claimed, bound)
        return self._question.engine.holds(Obligation(bound, claimed[1], self._claim.intervals))

    def _holds_up_to_irrational_ends(self, claimed: _Claimed, bound: Bound) -> bool:
        engine, is_around = self._question.engine, self._question.around is not None
        row, own_beta = claimed

        def holds_with(beta: BetaForm) -> bool:
            obligation = Obligation(bound, beta, self._claim.intervals)
            return holds_around(obligation, engine) if is_around else engine.holds(obligation)

        known: bool | None = None
        with suppress(Undecided):
            known = holds_with(own_beta)
        if known or (known is False and is_around):
            return known
        with suppress(Undecided):
            if self._touching is not None and holds_with(self._touching.terms(row).beta):
                return True
        if known is None:
            raise Undecided(NEAR_A_TIE)
        return False

    @cached_property
    def _touching(self) -> Claim | None:
        touching = self._question.touching
        return None if touching is None else touching.with_claim(gamma=0).claim()

    def _bound(self, claimed: _Claimed, gamma: Fraction | None) -> Bound:
        row, _ = claimed
        outputs = row.outputs
        if gamma is None:
            core = self._question.program.core
            outputs = tuple(
                None if core.slots[slot].is_symbolic else cell for slot, cell in zip(core.outputs, outputs, strict=True)
            )
        return self._probabilities.bound(row.inputs, outputs, self._pool.cell(gamma or Fraction(0)))

    # --- where there is none ------------------------------------------------------------------------

    def hopeless(self) -> GammaSolution | None:
        """Return the answer that no gamma is enough, if some row is found to fail with every gamma; else None."""
        for claimed in self._open:
            row, _ = claimed
            largest = largest_distance(self._probabilities, row)
            if not self._holds(claimed, largest):
                remark = "it fails even where real and int outputs may be off by any amount"
                if largest is not None:
                    remark = f"it fails even with gamma = {largest}, and no answer is further off than that"
                return self.answer(Status.NONE, None, (row.number,), remark)
        if self._claim.intervals[0].lower > 0:
            return None
        for claimed in self._open:
            row, _ = claimed
            settled = gamma_settled_at_zero(self._probabilities, row)
            if settled is not None and self._fails_at_zero(claimed, settled):
                remark = "as eps tends to 0, the probability of a right answer falls below 1 - beta, whatever gamma is"
                return self.answer(Status.NONE, None, (row.number,), remark)
        return None

    def _fails_at_zero(self, claimed: _Claimed, gamma: Fraction) -> bool:
        """True if Pr - 1 + beta has a negative limit as eps tends to 0, so that the claim fails for small eps.

        Pr is the probability of the right answers of the row `claimed` with this `gamma`.
        """
        _, beta = claimed
        cell = beta.cells(self._claim.intervals[0], self._limits)[0]
        bound = self._bound(claimed, gamma)
        if bound.is_without_form:
            near = (Interval(Fraction(0), _TINY, False, False),)
            return fails_next_to_zero(Obligation(bound, beta, near), self._probabilities.measurer, self._limits)
        probability = self._probabilities.measurer.measure(bound).value
        return limit_at_zero(*slack_of(probability, beta, cell.sample), self._limits) < 0

    # --- numbers -----------------------------------------------------------------------------------

    def _on_steps(self, courses: Sequence[Course], low: Fraction, high: Fraction) -> Fraction:
        """Return the exact least gamma with which all rows hold, if each row's probability is a step function of gamma.

        A row's probability is that of an output within gamma of the right answer; `courses` say how it depends on
        gamma, for each open row. With the gamma `low` some row fails, and with `high` all rows hold.
        """
        if any(course.integers for course in courses):
            below, high = narrow_to_integers(self._all_hold, low, high)
            low = max(low, below)
        return self._least_among({jump for course in courses for jump in course.jumps if low < jump <= high}, high)

    def _at_jump(self, courses: Sequence[Course | None], low: Fraction, high: Fraction) -> Fraction | None:
        """Return a gamma if it is proved to be the least one, and some row's probability jumps there; else None.

        A row's probability is that of an output within gamma of the right answer; `courses` say how it depends on
        gamma, for each open row. With the gamma `low` some row fails, and with `high` all rows hold.
        """
        open_, worst = self._open, self._failing
        jumps = {jump for course in courses if course is not None for jump in course.jumps if low < jump <= high}
        if not jumps:
            return None
        gamma = self._least_among(jumps, high)
        for claimed, course in zip(open_, courses, strict=True):
            if course is None or course.steps:
                continue
            if gamma in course.jumps and not self._holds_before(claimed, gamma):
                self._failing = claimed
                return gamma
        self._open, self._failing = open_, worst
        return None

    def _least_among(self, gammas: set[Fraction], high: Fraction) -> Fraction:
        among = sorted(gammas | {high})
        return among[bisect(lambda position: self._all_hold(among[position]), -1, len(among) - 1)[1]]

    def _holds_before(self, claimed: _Claimed, gamma: Fraction) -> bool:
        """True if the limit of Pr from below at this `gamma` is at least 1 - beta at all eps for the row `claimed`.

        Pr must be continuous in gamma, except where an output without noise comes within gamma of its answer. The limit
        is then the probability of the exits whose outputs without noise are nearer than gamma. If the result is False,
        every smaller gamma fails, since Pr never decreases as gamma grows.
        """
        row, _ = claimed
        values = {**_numbers(self._probabilities.program, row), GAMMA: gamma}
        nearer = [
            Share(weight, tuple([component.event(values) for component in event.components]))
            for event, weight in self._probabilities.exits(row.inputs, row.outputs)
            if event.guards_hold(values) and gamma not in _gaps_without_noise(event, values)
        ]
        return self._holds_with(claimed, Bound(tuple(nearer)))

    def _is_least(self, gamma: Fraction) -> bool:
        """Return True if `gamma`, with which all rows hold, is proved to be the least such gamma.

        The proof: for some row, the probability of an output within gamma of the right answer is exactly 1 - beta at
        some eps, and is strictly smaller for each smaller gamma.
        """
        for row, beta in self._open:
            course = course_of(self._probabilities, row)
            bound = self._bound((row, beta), gamma)
            # An enclosure cannot show equality.
            if course is None or not course.grows or bound.is_without_form:
                continue
            now, then = self._pool.cell(gamma), self._pool.cell(gamma + 1)
            if not grows_up_to(self._probabilities, row, now, then):
                continue
            probability = self._probabilities.measurer.measure(bound)
            if any(self._touches(probability, beta, interval) for interval in self._claim.intervals):
                return True
        return False

    def _touches(self, probability: ClosedForm, beta: BetaForm, interval: Interval) -> bool:
        """True if `probability` = 1 - `beta` is proved at some eps of `interval`."""
        for cell in beta.cells(interval, self._limits):
            slack, _ = slack_of(probability.value, beta, cell.sample)
            # If an end is not rational, the hull is wider than the cell.
            exact = not isinstance(cell.lower.place, Root) and not isinstance(cell.upper.place, Root)
            exact = exact and not self._question.ends
            if slack.is_zero() or (exact and isolate_roots(slack, cell.hull(interval), self._limits)):
                return True
        return False

    # --- answers -----------------------------------------------------------------------------------

    def worst_rows(self) -> tuple[int, ...]:
        return () if self._failing is None else (self._failing[0].number,)

    def so_far(self) -> str:
        above = [] if self._too_small is None else [f"more than {decimal(self._too_small)}"]
        below = [] if self._enough is None else [f"at most {decimal(self._enough)}"]
        return f"{INTERRUPTED}: the least gamma is {' and '.join(above + below) or 'unknown'}"

    def answer(
        self, status: Status, value: Enclosure | None, rows: tuple[int, ...], remark: str, *, interrupted: bool = False
    ) -> GammaSolution:
        return GammaSolution(
            question=self._question,
            undecided_row=self._question.with_claim(gamma=0).undecided_row,
            eps=intervals_text(self._claim.intervals),
            digits=self._digits,
            status=status,
            rows=rows,
            remark=remark,
            value=value,
            scopes={} if status is Status.NONE else claim_scopes(self._claim, self._limits),
            interrupted=interrupted,
        )


# --- gamma everywhere -----------------------------------------------------------------------------
#
# The exact tolerance for every real input: the least gamma, or the least k with which gamma = k/eps suffices.


def solve_gamma_everywhere(question: Question, digits: int) -> GammaSolution:
    """The least gamma with which `question` holds at every real input and all eps, enclosed to `digits` digits.

    If there is none because eps may be arbitrarily small, the result is the least k such that the claim holds with
    gamma = k/eps, one k for every eps. Raises DiagnosticError if alpha, beta or eps of the claim is not valid.
    """
    at_zero = claims_of(question.with_claim(gamma=0))
    known, rows, reason = all_hold(at_zero)

    def answer(
        status: Status,
        rows: tuple[int, ...],
        remark: str,
        value: Enclosure | None = None,
        product: Enclosure | None = None,
    ) -> GammaSolution:
        about = at_zero, digits, status, rows, remark
        return GammaSolution.from_claims(*about, question=question, value=value, product=product)

    if known is Verdict.ACCURATE:
        nothing = "" if at_zero.cases > at_zero.vacuous else f"every {question.word} is vacuous"
        return answer(Status.SOLVED, (), nothing, (_ZERO, _ZERO))
    core = question.program.core
    if core.has_product_distance and core.has_finite_outputs:
        if known is Verdict.INACCURATE:
            remark = "the outputs are finite, so gamma makes no difference"
            return answer(Status.NONE, rows, remark)
        return answer(Status.UNDECIDED, rows, reason)
    in_products = None if at_zero.at_distance else _in_products(question, at_zero, digits)
    if in_products is not None:
        return answer(*in_products)
    failing = _failing_input(question, digits)
    if failing is not None:
        return answer(Status.NONE, *failing)
    if not at_zero.at_one_eps:
        wanted = "give one eps, such as --eps 1: the least gamma is then found as a number"
        remark = f"{reason or 'it fails with gamma = 0'}; {wanted}"
        return answer(Status.UNDECIDED, rows, remark)
    refuted = _ZERO if known is Verdict.INACCURATE else None
    ints = core.has_product_distance and not core.has_real_outputs
    search = LeastNumber("gamma", lambda gamma: claims_of(question.with_claim(gamma=gamma)), rows, refuted, ints)
    return answer(*search.enclose(digits))


def _in_products(
    question: Question, at_zero: Claims, digits: int
) -> tuple[Status, tuple[int, ...], str, Enclosure | None, Enclosure | None] | None:
    """Find the least k with which the claim holds for gamma = k/eps, from the claim about every gamma.

    Return (status, numbers of the cases that fail, remark, the least gamma if there is one for every eps, k); both
    numbers are enclosed to `digits` digits. If the claim fails for every k, the status is "none". The result is None if
    the least gamma is not of this form. `at_zero` are the claims of `question` with gamma = 0.
    """
    claims = claims_of(question.with_claim(gamma="free"))
    moving = [claimed for claimed in claims.distinct if claimed.variable is Variable.GAMMA_EPS]
    if claims.unknown or len(moving) < len(claims.distinct):
        return None
    found = HoldingSet.from_inequalities(moving, [Interval.POSITIVE], (), question.engine)
    held, proved = found.held, found.proved
    rows = tuple(sorted({n for _, claimed in found.failing for n in claimed.rows}))
    if not proved:
        if not held and not found.unknown:
            return Status.NONE, rows, "the claim fails for every k, with gamma = k/eps", None, None
        return None
    # Pr never decreases as gamma grows, so a claim that holds with some k holds with every larger one.
    starts = held[-1][0], proved[-1][0]
    lower, upper = (span_of((start, held[-1][1]), digits, found.limits).start for start in starts)
    assert upper.high is not None
    if (lower.low, lower.high) != (upper.low, upper.high):
        return None
    k = upper.low, upper.high
    first, around = at_zero.intervals[0], question.around
    value: Enclosure | None = None
    if around is not None:
        assert around.upper is not None
        value = decimal_hull((k[0] / around.upper, k[1] / around.lower), digits)
    elif first.lower and first.lower_closed:
        value = k[0] / first.lower, k[1] / first.lower
    return Status.SOLVED, rows, "", value, k


def _failing_input(question: Question, digits: int) -> tuple[tuple[int, ...], str] | None:
    """Return (number of a case, why no gamma is enough there) if every gamma is found to fail at some input; else None.

    The inputs tried are those at which a check refutes `question` with gamma = 1000. `digits` is the number of digits
    of the answer to the question.
    """
    program = question.program
    if question.parameter is not None:
        return None
    with suppress(Undecided, DiagnosticError):
        for row in checked(question.with_claim(gamma=_LARGE)).rows:
            if row.verdict is Verdict.INACCURATE and row.input:
                texts = [f"{name} = {value}" for name, value in row.input.items()]
                table = table_of(program, parse_inputs(texts, program), None)
                alone = replace(question, table=table)
                found = _GammaSearch(alone, table, alone.with_claim(gamma=0).claim(), digits).hopeless()
                if found is not None:
                    return (row.row,), f"{found.remark}, at {', '.join(texts)}"
    return None


# --- steps ----------------------------------------------------------------------------------------
#
# The probability of a row as a function of gamma: it changes in steps, is continuous, or is of no known kind.
#
# Pr never decreases as gamma grows. The events of the row's exits are known before gamma is: linear constraints on
# noises, and balls |value - answer| <= gamma.


@frozen
class Course:
    """The dependence of Pr on gamma: continuous from the right, and continuous except at `jumps`, in increasing order.

    A jump is the distance of an output without noise from its right answer.

    - `steps`: Pr is a step function, which changes only at its jumps. If `integers`, it may also change at natural
      numbers.
    - `grows`: Pr has no jumps, every output that must be near its answer has noise, and all densities are positive.
    """

    jumps: tuple[Fraction, ...]
    steps: bool = False
    integers: bool = False
    grows: bool = False


def course_of(probabilities: Probabilities, row: Row) -> Course | None:
    """The dependence on gamma of the probability that the outputs of `row` are right; None if its kind is not known.

    `probabilities` are those of the program. Raises Undecided.
    """
    program = probabilities.program
    if not program.has_product_distance:
        return Course(Nearness(program).distances(row.inputs, row.outputs), steps=True)
    exits = [event for event, _ in probabilities.exits(row.inputs, row.outputs)]
    keys = {key for event in exits for component in event.components for key in component.keys}
    slots = keys.intersection(program.outputs)
    if not slots:
        return Course(_jumps(probabilities, row, exits), steps=True)
    if all(program.slots[slot].type is BaseType.INT for slot in slots):
        return Course(_jumps(probabilities, row, exits), steps=True, integers=True)
    laws = [noise.law for event in exits for component in event.components for noise in component.noises]
    if any(law.whole for law in laws):
        return None
    # A right output without noise is in every ball.
    jumps = tuple(filter(None, _jumps(probabilities, row, exits)))
    return Course(jumps, grows=not jumps and all(law.is_positive for law in laws))


def largest_distance(probabilities: Probabilities, row: Row) -> Fraction | None:
    """The least gamma beyond which the probability of the right answers of `row` no longer changes.

    `probabilities` are those of the program. None unless a `metric` block of the program defines the distance of
    answers.
    """
    program = probabilities.program
    if program.has_product_distance:
        return None
    return max(Nearness(program).distances(row.inputs, row.outputs), default=Fraction(0))


def grows_up_to(probabilities: Probabilities, row: Row, gamma: Cell, larger: Cell) -> bool:
    """True if it is proved, for every eps, that Pr at every gamma below `gamma` is less than at `gamma`.

    Pr is the probability that the outputs of `row` are right. `probabilities` are those of the program, and Pr must be
    a `Course` that grows. `larger` is a gamma above `gamma`, used in the proof.

    Theorem. Let E(g) be the noises of one exit that satisfy all its constraints, with outputs within g of the right
    answers. If the measure of E(s) is not 0, and differs from the measure of E(t) for some t > s, then the measure of
    every E(g) with g < s is less than that of E(s).

    Proof.

    1. The constraints are linear in the noises and g together, so E(g) contains λE(a) + (1-λ)E(b) for g = λa + (1-λ)b.
       So for each direction the support function of E(g) is concave in g, and it never decreases.
    2. Suppose that E(g) has the measure of E(s), for some g < s. The sets are closed and convex, the densities are
       positive on the range of the noises, which is convex, and the measure is not 0. So E(g) = E(s).
    3. Then the support functions are constant from g to s and, being concave, after s: E(t) = E(s). ∎
    """
    pairs = zip(
        probabilities.shares(row.inputs, row.outputs, gamma),
        probabilities.shares(row.inputs, row.outputs, larger),
        strict=True,
    )
    for now, then in pairs:
        measure = _measure(probabilities, now)
        if not measure.is_zero() and measure != _measure(probabilities, then):
            return True
    return False


def _measure(probabilities: Probabilities, share: Share) -> Closed:
    return product(map(probabilities.measurer.event, share.events))


def _jumps(probabilities: Probabilities, row: Row, exits: Sequence[EventTemplate]) -> tuple[Fraction, ...]:
    """The distances of outputs without noise in `exits` from the right answers at `row`, increasing.

    `probabilities` are those of the program.
    """
    values = _numbers(probabilities.program, row)
    return tuple(sorted({off for event in exits for off in _gaps_without_noise(event, values)}))


def _numbers(program: CoreProgram, row: Row) -> dict[int, Fraction]:
    pairs = zip((*program.inputs, *program.outputs), (*row.inputs, *row.outputs), strict=True)
    return {slot: cell.value for slot, cell in pairs if cell is not None and isinstance(cell.value, Fraction)}


def _gaps_without_noise(event: EventTemplate, values: Mapping[int, Fraction]) -> Iterator[Fraction]:
    """Yield, for each constraint of `event` on an output without noise, the least gamma that satisfies it.

    A constraint keeps the output at most gamma above its right answer, or at most gamma below it. So this gamma is 0 if
    the output is on the other side of the answer. `values` are the numeric inputs and the right answers, by slot.
    """
    for point in event.points:
        yield max(_ZERO, -point.evaluate({**values, GAMMA: _ZERO}))


def gamma_settled_at_zero(probabilities: Probabilities, row: Row) -> Fraction | None:
    """Return a gamma above which the limit of Pr for `row`, as eps tends to 0, no longer depends on gamma.

    Pr is one of the `probabilities` of a program. The result is None if a `metric` block defines the distance of
    answers, or if some noise, multiplied by eps, has no limit law as eps tends to 0. Raises Undecided.

    Proof. With X = eps·x the noises have a joint limit in distribution, of independent noises with the limit laws. An
    exit's event is A·X <= eps·(b + gamma·g) with no row of A zero, so its probability tends to that of A·X <= 0, since
    the boundary of that set has measure 0. Only for outputs without noise does gamma alone decide, up to the largest of
    their distances from the answers. ∎
    """
    if not probabilities.program.has_product_distance:
        return None
    exits = [event for event, _ in probabilities.exits(row.inputs, row.outputs)]
    if not all(
        noise.law.continuous_neighbor()[0].scales
        for event in exits
        for component in event.components
        for noise in component.noises
    ):
        return None
    return max((Fraction(1), *_jumps(probabilities, row, exits)))

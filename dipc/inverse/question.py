"""Questions that can be asked again with another claim, and the inequalities that they consist of.

Each different inequality of a question is measured once, and lists the cases that have it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar, NoReturn, Self

from dipc.above import above
from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, Quotient, fraction_of
from dipc.algebra.limits import Limits, NoClosedForm, Undecided
from dipc.algebra.parametric import FLAT, Parametric, plus, times
from dipc.algebra.record import Record, json_object
from dipc.claims.claim import (
    Claim,
    ClaimOptions,
    GivenValue,
    claim_expression,
    claimed_intervals,
    intervals_text,
    is_free,
    resolve_claim,
)
from dipc.claims.expression import ClaimExpression
from dipc.claims.table import Table, TableGiven
from dipc.claims.transcendental import as_written, enclosed_claim, raised
from dipc.decide.engine import Engine
from dipc.decide.obligation import EndPoint, EpsSpan, Obligation, TypedEnds, Verdict, holds_in_cells, with_typed_ends
from dipc.decide.scope import ClaimScope, claim_scope, join_scopes
from dipc.deprecated import former_method, former_property
from dipc.frozen import frozen
from dipc.measure.measure import Bound, EnclosedForm, Probability
from dipc.options import GivenQuestion, Options, asks_for_all
from dipc.program.expected_error import Erring
from dipc.program.inputs import with_selection
from dipc.program.program import Program, ProgramGiven, Progress, as_program, without_claimed_gamma
from dipc.questions.both_open import question_about_all, with_clipped_inputs
from dipc.questions.every_input import ClassCase
from dipc.questions.every_number.all_numbers import MOST_TRIED, AllNumbers
from dipc.questions.every_number.union_bound import CoefficientInequality
from dipc.questions.question import about_errors, inputs_meant, left_open, prepared, question_of
from dipc.questions.report import Report, RowResult
from dipc.questions.source import Case, Source
from dipc.rules.goal import Proof
from dipc.rules.rule import BetaSummand, ProofStep, Sharpness, Variable
from dipc.sign.interval import Interval, simplest_between
from dipc.sign.optimum import Cell
from dipc.sign.piecewise import BetaForm, PiecewiseForm
from dipc.text.ast import Expr, Name
from dipc.text.diagnostic import Diagnostic, DiagnosticError, bad_input

_NO_TABLE = Table("all inputs", (), frozenset(), {})


class GivenInverse(GivenQuestion, total=False):
    """Keyword arguments of `dipc.tighten` and `dipc.solve`."""

    error: GivenValue
    moment: int
    output: str | None
    digits: int


@frozen
class Question:
    """A question whose claim can be changed: about the rows of `table`, or, without a table, about every real input.

    With a `parameter` the question is about every value of this constant that is at least `least`. `engine` measures
    bounds and decides. Each case of a question gives inequalities (`Inequality`), and all of them together are its
    `Claims`.

    - `options` has the claim. `scaled`: multiples of beta will be examined too.
    - If the claim had irrational ends of eps, rationals replace them in `options`. Then `written_eps` is the text of
      the intervals as the user typed them, and `ends` maps each of these rationals to the irrational end that it
      replaces. `around` is the interval around a single irrational eps. `outside` is a function of eps that is 0 on the
      typed intervals and positive beyond their ends, or None.
    """

    program: Program
    options: ClaimOptions
    engine: Engine
    table: Table | None = None
    parameter: str | None = None
    least: int | None = None
    #: Whether the question is about multiples of beta as well.
    scaled: bool = False
    #: The text of the intervals of eps, if rationals replace irrational ends in `options`.
    written_eps: str | None = None
    #: The interval of eps in `options`, if the claim is about a single irrational eps inside of it.
    around: Interval | None = None
    #: A function of eps that is 0 on the claim's own intervals and positive on the rest of those in `options`, if one
    #: is known.
    outside: Expr | None = None
    #: The irrational ends of the claim's intervals of eps, by the rationals that replace them in `options`.
    ends: TypedEnds = field(default_factory=dict)

    def enclosing(self, digits: int) -> tuple[Question, Question] | None:
        """Return (a question with a stronger claim, a question with a weaker claim), both without irrational numbers.

        Each logarithm and power of e is replaced by a rational of `digits` digits: one just below it or one just above
        it, whichever makes the claim stronger or weaker. If all of these numbers are rational, the two questions are
        equal. The result is None if the claim has no logarithm and no power of e.
        """
        columns = () if self.table is None else self.table.columns
        core = self.program.core
        enclosed = enclosed_claim(core, self.options, columns, left_open(core, self.parameter), digits)
        if enclosed is None:
            return None
        around = None
        ranges = enclosed.ranges
        if ranges is not None and ranges.is_point:
            (around,) = claimed_intervals(core, ranges.larger)
        stronger, weaker = (
            replace(
                self,
                options=as_written(core, claim, self.options),
                written_eps=None if ranges is None else ranges.written,
                around=around,
                outside=None if ranges is None else ranges.outside,
                ends={} if ranges is None else ranges.ends,
            )
            for claim in (enclosed.stronger, enclosed.weaker)
        )
        return stronger, weaker

    @property
    def touching(self) -> Question | None:
        """The question with a greater beta outside the intervals that the user typed; None if it is not known.

        An irrational end of an interval is replaced by a rational just beyond it. A claim that holds with equality at
        the irrational end may fail between the two. So `outside`, a function that is 0 on the typed intervals and
        positive beyond them, is added to beta. The result is None if `outside` is None, or if beta is a column of the
        table.
        """
        beta = claim_expression(self.program.core, "beta", self.options.beta)
        if beta is None or self.outside is None or (self.table is not None and "beta" in self.table.columns):
            return None
        return replace(self.with_claim(beta=raised(beta, self.outside)), outside=None)

    @property
    def exact(self) -> Question:
        """The question with rational numbers in place of logarithms and powers of e, if all of these are rational.

        An example is ln(1) = 0. Otherwise it is the question itself.
        """
        both = None if self.free else self.enclosing(_NUMBER_DIGITS)
        if both is None or both[0].around is not None or both[0].options != both[1].options:
            return self
        return both[0]

    @property
    def word(self) -> str:
        if self.table is not None:
            return "row"
        return "class" if self.parameter is None else "case"

    @property
    def claimed_name(self) -> str:
        """The name of the function of eps in the claim: "beta", or "error" for a claim about an expected error."""
        return "error" if isinstance(self.program, Erring) else "beta"

    @property
    def free(self) -> bool:
        """Whether the claim is about every gamma ("free")."""
        return is_free(self.program.core, self.options.gamma)

    def with_claim(self, **changes: Any) -> Question:
        """Return the question with another claim; `changes` are new values of alpha, beta, gamma or eps."""
        return replace(self, options=replace(self.options, **changes))

    def claim(self) -> Claim:
        """Return the claim of the question, for the rows of its table if it has one. Raises DiagnosticError."""
        table = _NO_TABLE if self.table is None else self.table
        return resolve_claim(self.program.core, table, replace(self.options, gamma="0") if self.free else self.options)

    def least_value(self) -> int:
        """Return the least value of the constant `parameter` that the question is about."""
        assert self.parameter is not None
        return AllNumbers(self.program, self.parameter, self.least, self.options).least

    def undecided_row(self, number: int) -> RowResult:
        """Return the undecided row that a report shows for the case with this `number` before the case is decided."""
        return next(case for case in self.source().cases() if case.number == number).undecided_row()

    def source(self) -> Source:
        """Return the cases of the question as a source; small values of the `parameter` are cases of their own.

        Raises DiagnosticError.
        """
        o = self.options
        if self.table is not None:
            asked = Options(beta=o.beta, alpha=o.alpha, gamma=o.gamma, eps=o.eps, classes=False)
            return question_of(self.program, self.table, asked)
        if self.parameter is None:
            return question_about_all(with_clipped_inputs(self.program, o), o, scaled=self.scaled)
        return AllNumbers(self.program, self.parameter, self.least, o, singly=MOST_TRIED)


def read_question(
    program: ProgramGiven, table: TableGiven | None, options: Options, engine: Engine | None = None
) -> Question:
    """Return the question about `table`, about finitely many inputs, or about every real input.

    `options` has the claim and the `inputs`: "all" is every real input. With `for_all` among the options, such as "m"
    or "m >= 3", the question is about every value of this constant of `program`. `engine` measures bounds; None makes a
    new engine. Raises DiagnosticError for a question that makes no sense.
    """
    program = as_program(program, options.limits, options.eps)
    if options.error is not None:
        if options.beta is not None:
            message = "a claim is either about a probability or about an expected error"
            raise bad_input("E1806", message, "give `--beta` or `--error`")
        program, options = about_errors(program, options)
    engine = engine or Engine(program.measurer, program.limits)
    if table is None:
        program, selected = with_selection(program, options.inputs)
        options = replace(options, inputs=selected)
    inputs = inputs_meant(program, table, options)
    opened = options.open_constant(None if table is not None else inputs)
    if table is None and asks_for_all(inputs):
        if isinstance(program, Erring):
            message = "`solve` and `tighten` handle expected errors at finitely many inputs only"
            notes = (
                'give a table, or inputs such as --inputs "q = -1..1"',
                "`dipc error PROG.dip --inputs all` shows the largest expected error at every input, where it is known",
            )
            raise bad_input("E1805", message, *notes)
        return Question(program, options.claim, engine, None, *(opened or (None, None))).exact
    return Question(program, options.claim, engine, prepared(program, table, inputs, options.progress)).exact


#: The reason of cases that were not examined before Ctrl-C was pressed.
INTERRUPTED = "interrupted"

#: Cases between two calls of a progress function.
_PROGRESS_CASES = 256

#: The digits to which an irrational number is enclosed to see whether it is rational.
_NUMBER_DIGITS = 40

#: The least amount by which a failing bound counts as too small.
_LEAST = Fraction(1, 10**9)
_DIGITS = 8


#: The reason why a claim about a single irrational eps is undecided though it fails at an eps near it.
NEAR_A_TIE = "the probability is too close to 1 - beta to tell which is greater at an irrational eps"


def holds_around(obligation: Obligation, engine: Engine) -> bool:
    """Return True if `engine` proves `obligation`, which is about one irrational eps inside its intervals.

    The result is False if the obligation fails at every point of its intervals. Raises Undecided if neither is known,
    for example because the obligation fails on a part of them only.
    """
    if engine.holds(obligation):
        return True
    if not engine.fails_throughout(obligation):
        raise Undecided(NEAR_A_TIE)
    return False


@frozen(eq=False)
class Inequality:
    """The inequality `bound` >= 1 - `beta`, for all values of `variable` in `intervals`.

    - `stated` is a sum of probabilities of events, and `bound` is its value as a function of the variable.
    - `rows` are the numbers of the cases whose proof needs the inequality.
    - `sharpness`: if it is `BOUND`, the claim may hold where the inequality fails. Otherwise the claim fails there too.
    - `power` and `start`: in a question about every m, a union bound is a polynomial in m - `start`. The inequality is
      then about the polynomial's coefficient of (m - start)^`power`.
    - `summand` is None if `beta` is the beta of the claim. Otherwise `beta` is another function, such that the claim
      follows from the inequality, and `summand` says how the two betas are related.
    - `is_around`: the claim is about a single irrational eps inside `intervals`.
    """

    bound: Probability
    stated: Bound
    beta: BetaForm
    intervals: tuple[Interval, ...]
    variable: Variable
    sharpness: Sharpness
    rows: tuple[int, ...]
    power: int = 0
    start: int = 0
    #: The summand of the claim's beta, where `beta` is another one.
    summand: BetaSummand | None = None
    #: Whether the claim is about a single irrational eps, and `intervals` are around it.
    is_around: bool = False

    @property
    def exact(self) -> bool:
        """Whether the claim fails wherever the inequality does."""
        return self.sharpness is not Sharpness.BOUND

    @property
    def obligation(self) -> Obligation:
        """The inequality as engines decide it."""
        return Obligation(self.stated, self.beta, self.intervals)

    def holds(self, engine: Engine) -> bool:
        """Return True if `engine` proves the inequality, and False if the inequality fails. Raises Undecided.

        If the claim is about a single irrational eps, False means that the inequality fails at every point of its
        intervals.
        """
        return holds_around(self.obligation, engine) if self.is_around else engine.holds(self.obligation)

    @property
    def closed(self) -> ClosedForm:
        """The bound in closed form. Raises Undecided if it has none."""
        if isinstance(self.bound, EnclosedForm):
            raise NoClosedForm(self.bound.reason)
        return self.bound

    @property
    def missing(self) -> Closed:
        """The function 1 - bound in closed form. Raises Undecided if it has none."""
        return 1 - self.closed.value


@frozen(eq=False)
class UnknownCases:
    """Cases for which no answer is known, all for one `reason`; `rows` has their numbers."""

    reason: str
    rows: tuple[int, ...]


class Stopped(KeyboardInterrupt):
    """Raised after Ctrl-C during a search for a `Tightest` or a `Solution`; `found` is the result so far."""

    def __init__(self, found: object) -> None:
        super().__init__("the search was stopped")
        self.found = found


@frozen(eq=False)
class Claims:
    """The inequalities of a question, measured: `distinct` has each different inequality once.

    - `every` has all cases of the `question`, and `intervals` has the eps of its claim.
    - `unknown` are the cases that could not be measured, with the reasons.
    - `vacuous` is the number of cases at which the claim is vacuous.
    - `warnings` point out where the claim may not mean what it seems to.
    """

    question: Question
    intervals: tuple[Interval, ...]
    distinct: tuple[Inequality, ...]
    unknown: tuple[UnknownCases, ...]
    vacuous: int
    every: Sequence[Case]
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def cases(self) -> int:
        """The number of cases."""
        return len(self.every)

    def undecided_row(self, number: int) -> RowResult:
        """Return the undecided row that a report shows for the case with this `number` before the case is decided."""
        return self.every[number - 1].undecided_row()

    @property
    def at_one_eps(self) -> bool:
        """Whether the claim is about a single eps."""
        return self.question.around is not None or (len(self.intervals) == 1 and self.intervals[0].is_point)

    @property
    def at_distance(self) -> bool:
        """Whether alpha in the claim is dd(u), the distance to disagreement of each input."""
        alpha = self.question.claim().alpha
        return alpha is None or (isinstance(alpha.tree, Name) and alpha.tree.name == "dd")

    def scopes(self, factor: Fraction = Fraction(1)) -> Mapping[str, ClaimScope]:
        """Return the values of each variable at which the claim is not vacuous, by the name of the variable.

        The variables are those of the claim's inequalities. The claim is the one with beta multiplied by `factor`. It
        is not vacuous at a value if this product is less than 1 there for some case.
        """
        by_variable: dict[str, list[ClaimScope]] = {}
        for claimed in self.distinct:
            if claimed.summand is not None:
                least, says = claimed.summand.least, ClaimScope((), "it is not known where beta is the least")
                if least is not None:
                    says = claim_scope(scaled(least, factor), self.intervals, self.question.program.limits)
                by_variable.setdefault(str(Variable.EPS), []).append(says)
            elif claimed.power == 0:
                # A claim about an error is never vacuous.
                beta = _NO_ERROR if isinstance(self.question.program, Erring) else scaled(claimed.beta, factor)
                says = claim_scope(beta, claimed.intervals, self.question.program.limits)
                by_variable.setdefault(str(claimed.variable), []).append(says)
        joined = {variable: join_scopes(all_of) for variable, all_of in by_variable.items()}
        if self.unknown and not joined:
            joined[str(Variable.EPS)] = ClaimScope((), self.unknown[0].reason)
        return with_typed_scopes(joined, self.question.ends)

    def by_variable(self) -> Mapping[tuple[Variable, tuple[Interval, ...]], Sequence[Inequality]]:
        """Return the inequalities, grouped by (variable, intervals)."""
        groups: dict[tuple[Variable, tuple[Interval, ...]], list[Inequality]] = {}
        for claimed in self.distinct:
            groups.setdefault((claimed.variable, claimed.intervals), []).append(claimed)
        return groups


_NO_ERROR = PiecewiseForm(ExpPoly.ZERO)


def with_typed_scopes(scopes: Mapping[str, ClaimScope], ends: TypedEnds) -> Mapping[str, ClaimScope]:
    """Return `scopes` with the irrational ends that the user typed in place of rationals close to them.

    `ends` maps each of these rationals to the irrational end that it replaces.
    """
    if not ends:
        return scopes
    return {name: replace(scope, where=with_typed_ends(scope.where, ends)) for name, scope in scopes.items()}


def claim_scopes(claim: Claim, limits: Limits) -> Mapping[str, ClaimScope]:
    """Return {"eps": the eps at which `claim` is not vacuous for some row of its table}.

    The result is empty if all rows are vacuous. `limits` bound the work of finding the eps.
    """
    scopes = [claim_scope(terms.beta, claim.intervals, limits) for _, terms in claim.compiled() if not terms.vacuous]
    return {str(Variable.EPS): join_scopes(scopes)} if scopes else {}


def interrupted_before(rest: Sequence[Inequality]) -> UnknownCases:
    """Return, as unknown cases, those that need an inequality of `rest`: Ctrl-C left these inequalities undecided."""
    return UnknownCases(INTERRUPTED, tuple(sorted({number for claimed in rest for number in claimed.rows})))


def scaled(beta: BetaForm, factor: Fraction) -> BetaForm:
    """Return `factor` times `beta`."""
    if factor == 1:
        return beta
    value = beta.value
    if isinstance(value, ExpPoly | Quotient):
        return PiecewiseForm(value * factor)
    return PiecewiseForm(times(Parametric.number(factor), value))


def claims_of(
    question: Question,
    progress: Progress | None = None,
    *,
    among: Container[int] | None = None,
    best: bool = True,
    first: bool = False,
) -> Claims:
    """Return the inequalities of the cases of `question`; if `among` is given, only of cases with these numbers.

    - `best`: if the first rule for a case gives a bound that is not exact, the case has other inequalities. They are
      those of the rules that come nearest to proving the case, and those of the claim at some of its inputs.
    - `first`: if a case about every integer distance cannot be decided for all of them, the case has the inequalities
      of the first distances.
    - `progress` is called with (cases done, cases in all).

    Raises DiagnosticError for a claim that makes no sense, before anything is measured.
    """
    source = question.source()
    engine = question.engine
    cases: list[Case] = []
    posed: list[tuple[int, ProofStep]] = []
    reasons: dict[str, list[int]] = {}
    vacuous = 0
    for case in source.cases():
        cases.append(case)
        if among is not None and case.number not in among:
            continue
        if progress is not None and case.number % _PROGRESS_CASES == 0:
            progress(case.number, source.total)
        try:
            inequalities = case.steps()
            if best and isinstance(case, ClassCase) and not all(one.exact for one in inequalities):
                inequalities = _best_steps(case, inequalities, engine)
        except Undecided as undecided:
            reasons.setdefault(undecided.reason, []).append(case.number)
            if first and isinstance(case, ClassCase) and has_integer_distances(case):
                for distance in FIRST_DISTANCES:
                    # The least probability at a distance may be unknown.
                    with suppress(Undecided):
                        posed += [(case.number, one) for one in case.least_at_distance(distance, lambda _: None)[0]]
            continue
        vacuous += not inequalities
        posed += [(case.number, one) for one in inequalities]
    distinct, unknown = measure_inequalities(posed, engine, progress)
    if question.around is not None:
        # An inequality about every product of a distance and eps is about no single eps.
        distinct = tuple(
            [
                one
                if one.variable is not Variable.EPS and one.intervals == (Interval.POSITIVE,)
                else replace(one, is_around=True)
                for one in distinct
            ]
        )
    for reason, numbers in unknown.items():
        reasons.setdefault(reason, []).extend(numbers)
    return Claims(
        question,
        source.intervals,
        distinct,
        tuple(UnknownCases(reason, tuple(numbers)) for reason, numbers in reasons.items()),
        vacuous,
        cases,
        source.warnings,
    )


def all_hold(claims: Claims) -> tuple[Verdict, tuple[int, ...], str]:
    """Decide whether all inequalities of `claims` hold.

    Return (the verdict, the numbers of cases that fail or are undecided, the reason why the verdict is undecided or
    "").
    """
    blamed: tuple[int, ...] = claims.unknown[0].rows if claims.unknown else ()
    reason = claims.unknown[0].reason if claims.unknown else ""
    for claimed in claims.distinct:
        try:
            holds = claimed.holds(claims.question.engine)
        except Undecided as undecided:
            blamed, reason = blamed or claimed.rows, reason or undecided.reason
            continue
        if not holds and claimed.exact:
            return Verdict.INACCURATE, claimed.rows, ""
        if not holds:
            blamed, reason = blamed or claimed.rows, reason or "the lower bound of the probability is below 1 - beta"
    touching = claims.question.touching if blamed else None
    if touching is not None and all_hold(claims_of(touching))[0] is Verdict.ACCURATE:
        return Verdict.ACCURATE, (), ""
    return (Verdict.UNDECIDED, blamed, reason) if blamed else (Verdict.ACCURATE, (), "")


#: The greatest denominator of a rational that is tried in place of its enclosure.
_MOST_DENOMINATOR = 10**9

#: The slope of a term that makes an inequality weaker next to an irrational eps.
_STEEP = 10**9


def rational_at_irrational_eps(question: Question, claimed: Inequality, ends: Cell, *, scale: bool) -> Fraction | None:
    """Return a rational between `ends` that is the least beta at the single irrational eps of `question`.

    If `scale` is True, the rational is instead the least number by which the question's beta may be multiplied. All
    cases of the question are proved with this rational, and the inequality `claimed` is proved to fail with every
    smaller number. The result is None if no such rational is found.
    """
    around, outside = question.around, question.outside
    candidate = simplest_between(*ends, lower_closed=True, upper_closed=True)
    beta = claimed.beta.closed if scale else ClosedForm(ExpPoly.ONE)
    if candidate.denominator > _MOST_DENOMINATOR or outside is None or around is None or not claimed.is_around:
        return None
    if isinstance(claimed.bound, EnclosedForm) or beta is None or not claimed.exact:
        return None
    core, limits = question.program.core, question.program.limits
    constants = {name: Parametric.number(value) for name, value in core.constants.items()}
    expression = ClaimExpression("beta", core.source, outside)
    above, below = fraction_of(1 - beta.value * candidate)
    weaker = times(Parametric.number(_STEEP), expression.value(constants, (around,)))
    required = PiecewiseForm(plus(Parametric({} if above.is_zero() else {FLAT: above}, below), weaker))
    with suppress(Undecided, DiagnosticError):
        if not holds_in_cells(1 - claimed.closed.value, required, around, limits):
            return None
        return candidate if suffices_at_ends(question, candidate, scale=scale) else None
    return None


def suffices_at_ends(question: Question, number: Fraction, *, scale: bool) -> bool:
    """Return True if `question` is proved with `number` as its beta, also at the irrational ends of its intervals.

    If `scale` is True, the beta is the question's own, multiplied by `number`. False says only that no proof was found.
    """
    if number.denominator > _MOST_DENOMINATOR or question.outside is None:
        return False
    with suppress(Undecided, DiagnosticError):
        text = f"({question.source().stated['beta']})*({number})" if scale else str(number)
        touching = question.with_claim(beta=text).touching
        return touching is not None and all_hold(claims_of(touching))[0] is Verdict.ACCURATE
    return False


# --- What `check` proves ----------------------------------------------------------------------------------------------

#: The first integer distances, at each of which a case with open integer distances is examined.
FIRST_DISTANCES = range(1, 7)


def has_integer_distances(case: Case) -> bool:
    """Return True if `case` is about every distance alpha = dd(u), and these distances are integers."""
    try:
        return isinstance(case, ClassCase) and case.has_integer_distances
    except Undecided:
        return False


def proved_by_check(claims: Claims, numbers: Sequence[int], factor: Fraction) -> bool:
    """Return True if `dipc check` proves the cases of `claims` with these `numbers`, with beta multiplied by `factor`.

    The result is False for a question that makes no sense with this factor. KeyboardInterrupt is not caught.
    """
    question = claims.question
    cases = [claims.every[number - 1] for number in numbers]
    with suppress(Undecided, DiagnosticError):
        if all(isinstance(case, ClassCase) for case in cases):
            return all(question.engine.run(case.is_proved(factor)) for case in cases if isinstance(case, ClassCase))
        if factor != 1 and question.table is not None and "beta" in question.table.columns:
            return False
        stated = question.source().stated["beta"]
        scaled = question if factor == 1 else question.with_claim(beta=f"({stated})*({factor})")
        return checked(scaled).verdict is Verdict.ACCURATE
    return False


def checked(question: Question) -> Report:
    """Return the report of `dipc check` about the claim of `question`. Raises Undecided and DiagnosticError."""
    source = question.source()
    rows, steps = source.begin(question.engine)
    for _ in steps:
        pass
    return source.report(rows, question.engine)


# --- the best of all rules ----------------------------------------------------------------------------

#: The most inputs of a class whose claims are added, and the values of a variable at which bounds are compared.
_MOST_INPUTS = 4
_SAMPLES = tuple(Fraction(4) ** power for power in range(-4, 5))


def _best_steps(case: ClassCase, first: Sequence[ProofStep], engine: Engine) -> Sequence[ProofStep]:
    """Return proof steps for `case` from the rules with proofs that hold, or else with the least `_shortfall`.

    If these proofs do not hold, steps about single inputs of `case` follow. The result is `first`, the steps of the
    first rule, if no rule can be compared. `engine` decides obligations. Raises Undecided.
    """

    def needed(proof: Proof) -> Fraction | None:
        missing = _shortfall(proof, engine)
        # A proof in another variable counts only where there is none in this one, or where it holds.
        return missing if not missing or case.is_comparable(proof.steps[0]) else None

    choice = case.least_needing(needed, Fraction(0))
    if not choice.proofs:
        return first
    proposed = [one for proof in choice.proofs for one in proof.steps]
    variables = {one.variable for one in proposed}
    if choice.needed != 0 and len(variables) == 1:
        by_eps = variables == {Variable.EPS}
        proposed += case.posed_at_inputs(None, _MOST_INPUTS) if by_eps else case.posed_at_one(_MOST_INPUTS)
    return proposed


def _shortfall(proof: Proof, engine: Engine) -> Fraction:
    """Return a number that says how far `proof` is from holding; it is 0 only if the proof holds.

    The number serves to compare proofs. It grows with the amounts by which bounds of obligations are too small at some
    sample values. If an obligation is not proved, the number is positive even if no sample value shows this. `engine`
    decides the obligations. Raises Undecided.
    """
    most = Fraction(0)
    for obligation in proof.obligations:
        bound = engine.probability(obligation.bound)
        missing = sum((_missing_at(bound, obligation, point) for point in _SAMPLES), Fraction(0))
        if missing or engine.decide(obligation).verdict is not Verdict.ACCURATE:
            most = max(most, missing + _LEAST)
    return most


def _missing_at(bound: Probability, obligation: Obligation, point: Fraction) -> Fraction:
    if not any(point in interval for interval in obligation.intervals):
        return Fraction(0)
    missing = 1 - obligation.beta.enclosure(point, _DIGITS)[0] - bound.enclosure(point, _DIGITS)[0]
    return max(Fraction(0), missing)


def measure_inequalities(
    posed: Sequence[tuple[int, ProofStep]], engine: Engine, progress: Progress | None = None
) -> tuple[tuple[Inequality, ...], Mapping[str, list[int]]]:
    """Return the distinct inequalities of some proof steps, and the cases that cannot be measured.

    `posed` has pairs (number of the case, proof step). `engine` measures the bounds of the steps. The cases that cannot
    be measured are a mapping from each reason to numbers of cases. `progress` is called with (steps done, steps in
    all).
    """
    # All bounds are requested before the first is awaited, since the engine may measure several at a time.
    pending = [(number, one, engine.ask(one.obligation.bound)) for number, one in posed]
    rows: dict[_Inequality, tuple[list[int], Bound]] = {}
    reasons: dict[str, list[int]] = {}
    for done, (number, one, asked) in enumerate(pending):
        if progress is not None and done % _PROGRESS_CASES == 0:
            progress(done, len(pending))
        while asked.decision is None:
            engine.wait()
        obligation, why = one.obligation, one.evidence
        try:
            form = engine.probability(obligation.bound)
        except Undecided as undecided:
            numbers = reasons.setdefault(undecided.reason, [])
        else:
            power, start = (why.power, why.start) if isinstance(why, CoefficientInequality) else (0, 0)
            summand = why if isinstance(why, BetaSummand) else None
            key = (form, obligation.beta, obligation.intervals, one.variable, one.sharpness, power, start, summand)
            numbers, _ = rows.setdefault(key, ([], obligation.bound))
        if not numbers or numbers[-1] != number:
            numbers.append(number)
    distinct = [
        Inequality(form, stated, beta, intervals, variable, sharpness, tuple(numbers), power, start, summand)
        for (form, beta, intervals, variable, sharpness, power, start, summand), (numbers, stated) in rows.items()
    ]
    return tuple(distinct), reasons


#: The fields in which two different inequalities differ.
_Inequality = tuple[Probability, BetaForm, tuple[Interval, ...], Variable, Sharpness, int, int, BetaSummand | None]


# --- Answers ----------------------------------------------------------------------------------------------------------
#
# The answer to an inverse question: the least eps, alpha, beta or gamma, or a proof that there is none.

SCHEMA = "dipc.solve/1"

#: The default number of significant digits of an answer.
DIGITS = 30


class Wanted(StrEnum):
    """The quantity to solve for."""

    EPS = "eps"
    ALPHA = "alpha"
    BETA = "beta"
    GAMMA = "gamma"


class Status(StrEnum):
    """The status of an answer: `solved` and `none` are proved; `undecided` has a reason."""

    SOLVED = "solved"
    NONE = "none"
    UNDECIDED = "undecided"


#: An end of an interval as JSON, and an interval.
_END = "(eps=enclosure:ends included)"
_SPAN = f"(start=start{_END} end=end{_END})"


@frozen(eq=False)
class Solution(Record):
    """The answer to an inverse question: the wanted number or function, for all cases that claim something.

    - `question` is the question, `eps` the text of its intervals of eps, and `digits` the digits of numbers in the
      answer.
    - `status`: `solved`, `none` (it is proved that there is no answer) or `undecided`.
    - `rows` are the numbers of the cases that prevent a smaller answer, or any answer.
    - `undecided_row` returns the row that a report shows for the case with a given number before the case is decided.
    - `remark` is a sentence: an additional result, or the reason why nothing was proved.
    - `scopes` are the values at which the claim is not vacuous once the answer is put into it.
    - `warnings` point out where the claim may not mean what it seems to.
    - `interrupted` says that Ctrl-C ended the search; the answer is the result so far.
    """

    FIELDS = (
        "schema program for=wanted status eps *details vacuous=claims_nothing says_something=scopes rows "
        "remark:nonempty warnings+"
    )
    #: The keys that only this kind of answer has.
    DETAILS = ""

    schema = SCHEMA

    #: The quantity that was solved for.
    wanted: ClassVar[Wanted]

    question: Question
    undecided_row: Callable[[int], RowResult]
    eps: str
    digits: int
    status: Status
    rows: tuple[int, ...]
    remark: str
    scopes: Mapping[str, ClaimScope] = field(default_factory=dict, kw_only=True)
    warnings: tuple[Diagnostic, ...] = field(default=(), kw_only=True)
    interrupted: bool = field(default=False, kw_only=True)

    @classmethod
    def from_claims(
        cls, claims: Claims, digits: int, status: Status, rows: tuple[int, ...], remark: str, /, **others: Any
    ) -> Self:
        """Return the solution for the question of `claims`, with their scopes unless there is proved to be no solution.

        `digits`, `status`, `rows` and `remark` become fields of the solution. `others` are fields that only this kind
        of answer has, or `question` or `scopes` in place of those of `claims`.
        """
        if "scopes" not in others:
            others["scopes"] = {} if status is Status.NONE else claims.scopes()
        others.setdefault("question", claims.question)
        return cls(
            undecided_row=claims.undecided_row,
            eps=intervals_text(claims.intervals),
            digits=digits,
            status=status,
            rows=rows,
            remark=remark,
            **others,
        )

    def __str__(self) -> str:
        text: str = above("solution").headline(self)
        return text

    def __repr__(self) -> str:
        return f"<dipc solution: {str(self).partition(chr(10))[0]}>"

    def __bool__(self) -> bool:
        raise TypeError("a solution has one of three outcomes and no truth value: look at its `status`")

    @property
    def eps_answer(self) -> Cell | None:
        """The answer as an enclosure (low, high) if it is an eps, else None."""
        return None

    at = former_property("at", "eps_answer")
    sayings = former_property("sayings", "scopes")
    answered = former_method("answered", "with_answer")

    def with_answer(self) -> Question | None:
        """Return the question with the answer put into its claim; None if there is no answer, or no claim can state it.

        No claim states the least alpha, which is about inputs with dd(u) > alpha: a claim with this alpha may also be
        about inputs with dd(u) = alpha.
        """
        return None

    @property
    def claims_nothing(self) -> bool:
        """Whether the claim, with the answer, is vacuous.

        A claim is vacuous if beta is at least 1 everywhere, or if the claim is about no input.
        """
        return self.status is Status.SOLVED and all(says.is_vacuous for says in self.scopes.values())

    @property
    def program(self) -> str:
        return self.question.program.name

    @property
    def details(self) -> dict[str, Any]:
        """The fields of the answer's JSON object that only this kind of answer has, by key."""
        return json_object(self, self.DETAILS)


@frozen(eq=False)
class EpsSolution(Solution):
    """The eps of the question at which the claim holds: exactly those in the intervals `holds`.

    An irrational end is between two decimals, which differ by one unit of the last of the requested digits. Ends get
    more digits if different ends would look equal.

    If the status is undecided, the claim holds at every eps in `proved`, and at no eps outside of `holds`. `everywhere`
    says that the claim holds at every eps of the question. `from_there_on` says that the claim holds at every eps of
    the question that is not below the least eps of `holds`.
    """

    DETAILS = f"least=least{_END} from_there_on holds=holds{_SPAN} proved=proved+{_SPAN}"

    wanted: ClassVar[Wanted] = Wanted.EPS

    holds: tuple[EpsSpan, ...]
    everywhere: bool
    from_there_on: bool
    proved: tuple[EpsSpan, ...] = ()

    @property
    def least(self) -> EndPoint | None:
        """The lower end of the set of eps at which the claim holds, or None if it holds at none.

        The end is included if the claim holds there too.
        """
        return self.holds[0].start if self.holds else None

    @property
    def eps_answer(self) -> Cell | None:
        least = self.least
        return None if least is None or least.high is None or self.everywhere else (least.low, least.high)

    def with_answer(self) -> Question | None:
        return self.question


@frozen(eq=False)
class GammaSolution(Solution):
    """The least gamma, between the two numbers of `value`; both are equal if it is known exactly.

    The claim holds with `value[1]`, and with no gamma below `value[0]`. If the two differ, it does not hold with
    `value[0]` either. `value` is None if there is no least gamma or it is not known. `product` is for a question about
    every real input: two decimals around the least k such that the claim holds with gamma = k/eps.
    """

    DETAILS = "least=value exact gamma*eps=product?"

    wanted: ClassVar[Wanted] = Wanted.GAMMA

    value: Cell | None
    product: Cell | None = None

    @property
    def exact(self) -> bool:
        return self.value is not None and self.value[0] == self.value[1]

    def with_answer(self) -> Question | None:
        return None if self.value is None else self.question.with_claim(gamma=self.value[1])


@frozen(eq=False)
class AlphaSolution(Solution):
    """The least alpha: `value` is the least alpha such that the claim holds at all rows with dd(u) > alpha.

    `claims` counts the rows with dd(u) > alpha. The other fields are for questions about every real input:

    - `product` encloses the least t such that the claim holds with alpha = t/eps. If the answer is undecided, the claim
      is refuted with its first number, and proved with its second, which is None if no t is proved.
    - `holds` are the t for which the claim holds. If the answer is undecided, they are the t for which no inequality
      refutes the claim.
    - `cell` encloses the least alpha if the claim is about a single eps. If there is no `product`, the claim is refuted
      with the first number of `cell` and proved with the second.
    """

    DETAILS = f"least claims ?(alpha*eps=product holds=holds{_SPAN})"

    wanted: ClassVar[Wanted] = Wanted.ALPHA

    value: Fraction | None
    claims: int
    product: tuple[Fraction, Fraction | None] | None = None
    holds: tuple[EpsSpan, ...] = ()
    cell: Cell | None = None
    from_there_on: bool = False

    @property
    def least(self) -> Fraction | Cell | None:
        """The least alpha as a number or as an enclosure (low, high); None if it is not known."""
        return self.cell if self.value is None else self.value


@frozen(eq=False)
class EnvelopePiece(Record):
    """A piece of the least beta as a function of eps: on `span`, the probability of a wrong answer in the cases `rows`.

    `beta` is the closed form of this probability as text, in which `variable` is always called `eps`. `value` encloses
    the least beta if the span is a single eps, and is None otherwise. Unless `exact`, the closed form is only an upper
    bound of the least beta.
    """

    FIELDS = f"start=span.start{_END} end=span.end{_END} beta rows value? variable=variable.product? bound?"

    span: EpsSpan
    beta: str
    rows: tuple[int, ...]
    value: Cell | None
    variable: Variable = Variable.EPS
    exact: bool = True

    @property
    def bound(self) -> str | None:
        """The words with which a report says that the piece is only an upper bound; None if it is exact."""
        return None if self.exact else "at most"


@frozen(eq=False)
class BetaSolution(Solution):
    """The least beta as a function of eps: the largest 1 - Pr of all rows, in `pieces` from left to right.

    Pr is the probability of a right answer. `beta` is the function as one text, or "" if no answer is known.
    """

    DETAILS = "beta:nonempty pieces"

    wanted: ClassVar[Wanted] = Wanted.BETA

    beta: str
    pieces: tuple[EnvelopePiece, ...]

    @property
    def claims_nothing(self) -> bool:
        return self.status is Status.SOLVED and not self.pieces

    def with_answer(self) -> Question | None:
        known = self.beta and all(piece.variable is Variable.EPS for piece in self.pieces)
        return self.question.with_claim(beta=self.beta) if known else None


# --- requests -------------------------------------------------------------------------------------
#
# The parts of a claim that may be given together with the quantity to solve for.


def check_request(question: Question, wanted: Wanted) -> Question:
    """Return `question`, prepared to solve for `wanted`.

    If gamma is wanted, and the program's claim block says that gamma is free, the gamma is removed from the block.
    Otherwise the question is returned unchanged. Raises DiagnosticError for a question that states the number to solve
    for.
    """
    options = question.options
    given = {Wanted.ALPHA: options.alpha, Wanted.BETA: options.beta, Wanted.GAMMA: options.gamma}.get(wanted)
    if wanted is Wanted.GAMMA and question.free:
        if question.options.gamma is not None:
            note = "leave gamma out, or solve for something else"
            _refuse("E1020", "gamma is free: the claim is about every gamma, so there is no least one", note)
        question = replace(question, program=without_claimed_gamma(question.program))
    if given is not None:
        _refuse(
            "E1020",
            f"{wanted} is given, but it is also the number to solve for",
            f"leave out `--{wanted}`, or solve for something else",
        )
    if question.table is not None and wanted in question.table.columns:
        note = "remove the column, or check the table as it is with `dipc check`"
        _refuse("E1021", f"the table has a column `{wanted}`, but {wanted} is the number to solve for", note)
    return question


def _refuse(code: str, message: str, *notes: str) -> NoReturn:
    raise bad_input(code, message, *notes)

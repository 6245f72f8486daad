"""Find the best constants of a program, such as the split of a privacy budget, at equal privacy.

The objective at a value s of the constants is K(s)·t(s). Here t is the least t = alpha·eps (gamma·eps, or eps) for
which the claim holds, and K is the least constant for which the program is K·eps-private. All rates are multiples of
eps. So noise that is scaled by K makes the program eps-private, and t becomes K·t: the objective compares programs at
equal privacy. A search without guarantees proposes values, which are evaluated exactly; the answer is the best
evaluated value. Bounds over boxes (`dipc.inverse.cells`) prove how much better any other value may be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, inf, prod
from typing import Unpack

from dipc.algebra.limits import OutsideFragment, Undecided
from dipc.algebra.numbers import NotExact, parse_rational, round_down
from dipc.algebra.record import Record
from dipc.claims.claim import GivenEps, GivenValue, claim_expression
from dipc.claims.table import TableGiven
from dipc.deprecated import former_property
from dipc.frozen import frozen
from dipc.inverse.cells import (
    AffineRates,
    BoxSearch,
    ConstantBox,
    Objective,
    Rates,
    ThresholdBounds,
    Thresholds,
    Values,
    rates_of,
)
from dipc.inverse.question import AlphaSolution, EpsSolution, GammaSolution, Status, Wanted, claims_of, read_question
from dipc.inverse.solve import solve_question
from dipc.options import GivenWork, Options, takes
from dipc.program.inputs import InputSpec, with_selection
from dipc.program.program import Program, ProgramGiven, Progress, as_program
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.constant import Candidate
from dipc.questions.privacy.onwards import LeastCosts
from dipc.rules.rule import Variable
from dipc.text.ast import Binary, BinaryOp, ClaimDecl, Expr, Name, NoiseExpr, Unary, mentions, occurrences, walk
from dipc.text.core import SampleNoise
from dipc.text.declarations import computed_from
from dipc.text.diagnostic import DiagnosticError, bad_input
from dipc.text.parser import parse
from dipc.text.printer import print_expression

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The number of first values and the most values to evaluate, the most guesses of the objective in one round and the
#: most rounds, the most boxes, and the default number of digits of thresholds.
_FIRST, _MOST, _GUESSES, _ROUNDS, _CELLS, _DIGITS = 8, 120, 400, 6, 4000, 7

#: Bounds of the objective hold where every rate is at least this share of its greatest value in the range.
_MARGIN = Fraction(1, 50)


@frozen
class Varied:
    """A constant that varies between `low` and `high`; the flags say which end is not in the range."""

    name: str
    low: Fraction
    high: Fraction
    low_open: bool
    high_open: bool

    @staticmethod
    def parse(text: str) -> Varied:
        """Parse a `text` such as "s in (0, 1)" or "s in [1/10, 1/2]". Raises DiagnosticError for any other text."""
        matched = re.fullmatch(r"\s*([^\W\d]\w*)\s+in\s*([\[(])\s*([^,]+?)\s*,\s*([^,]+?)\s*([\])])\s*", text)
        if matched is not None:
            name, left, low, high, right = matched.groups()
            try:
                ends = parse_rational(low), parse_rational(high)
            except NotExact:
                pass
            else:
                if ends[0] < ends[1]:
                    return Varied(name, *ends, left == "(", right == ")")
        note = 'write a constant and its range, such as --vary "s in (0, 1)"'
        raise bad_input("E1026", f"`{text}` is not a range of a constant", note)

    def contains(self, value: Fraction) -> bool:
        above = value > self.low if self.low_open else value >= self.low
        return above and (value < self.high if self.high_open else value <= self.high)


@frozen
class Evaluation(Record):
    """The result of evaluating the objective at some `values` of the constants.

    - `threshold` is the least alpha·eps (or gamma·eps, or eps) for which the claim holds, as an enclosure (low, high).
    - `constant` is a number K for which the program is proved K·eps-private; if `exact`, it is the least one.
    - `objective` is an enclosure of the threshold times the least K. If `adjacent` was not given, it is the threshold
      alone, and `constant` is None.
    - If `threshold` or `objective` is None, it is not known, and `reason` says why.
    """

    FIELDS = "values threshold constant objective exact reason"

    values: Mapping[str, Fraction]
    threshold: tuple[Fraction, Fraction] | None
    constant: Fraction | None = None
    objective: tuple[Fraction, Fraction] | None = None
    exact: bool = True
    reason: str | None = None


@frozen
class Tuned(Record):
    """The answer of `tune`: the values of constants with the least objective.

    - `best` is the best evaluation, `own` that of the program's own values, and `tried` has all evaluations.
    - `varied` are the constants and their ranges; `constants` has the values of all others.
    - `lower` is a proved lower bound of the objective for all values in the box `proved_for` at which each rate is at
      least a fiftieth of its greatest value. `cells` counts the boxes examined for it. Without a bound, `unproved` is
      the reason.
    - `tolerance` is the relative gap that the user allows; `interrupted`: Ctrl-C ended the search.
    """

    FIELDS = (
        "schema program constants for=wanted adjacent claim best=best.values objective=best.objective constant exact "
        "threshold=best.threshold proved_within within=gap_decimal:decimal lower:decimal proved_for:nonempty "
        "cells reason=unproved own tried"
    )

    schema = "dipc.tune/1"

    program: str
    wanted: Wanted
    varied: tuple[Varied, ...]
    adjacent: str | None
    claim: Mapping[str, str]
    best: Evaluation | None
    own: Evaluation | None
    tried: tuple[Evaluation, ...]
    tolerance: Fraction
    lower: Fraction | None = None
    proved_for: Mapping[str, tuple[Fraction, Fraction]] = field(default_factory=dict)
    cells: int = 0
    unproved: str | None = None
    interrupted: bool = False
    constants: Mapping[str, str] = field(default_factory=dict)

    @property
    def relative_gap(self) -> Fraction | None:
        """An upper bound of (best objective found)/(least objective) - 1; None if none is proved."""
        if self.lower is None or self.best is None or self.best.objective is None or self.lower <= 0:
            return None
        return max(_ZERO, self.best.objective[1] / self.lower - 1)

    within = former_property("within", "relative_gap")

    @property
    def proved_within(self) -> Fraction | None:
        """The `tolerance`, if the relative gap is proved to be at most this large; else None."""
        within = self.relative_gap
        return self.tolerance if within is not None and within <= self.tolerance else None

    @property
    def constant(self) -> Fraction | None:
        """The constant of privacy K at the best values, or 1 if `adjacent` was not given; None without best values."""
        return None if self.best is None else Fraction(1) if self.best.constant is None else self.best.constant

    @property
    def exact(self) -> bool:
        """Whether the constant of privacy at the best values, if the objective has one, is the least one.

        False if there are no best values.
        """
        return self.best is not None and self.best.exact

    @property
    def gap_decimal(self) -> Fraction | None:
        """The relative gap, rounded up to six decimal places; None if no gap is proved."""
        return None if self.relative_gap is None else Fraction(ceil(self.relative_gap * 10**6), 10**6)


class GivenTune(GivenWork, total=False):
    """Keyword arguments of `dipc.tune`."""

    vary: str | Sequence[str]
    wanted: str | None
    inputs: InputSpec | None
    beta: GivenValue
    alpha: GivenValue
    gamma: GivenValue
    eps: GivenEps
    adjacent: str | None
    digits: int
    denominator: int
    tolerance: Fraction | int | str
    progress: Progress | None


@takes(GivenTune, {"digits": _DIGITS})
def tune(program: ProgramGiven, table: TableGiven | None = None, **given: Unpack[GivenTune]) -> Tuned:
    """Find the values of the constants `vary`, such as "s in (0, 1)", with the least threshold.

    The threshold is the least t = alpha·eps for which the claim holds; gamma·eps if `wanted` is "gamma", and eps if it
    is "eps". The threshold is computed to `digits` digits. If `adjacent` is given, values are compared at the same
    level of privacy: each threshold is multiplied by the least constant of privacy under this adjacency. Values have
    denominators up to `denominator`. If possible, a proof shows that no other value is better by more than the relative
    gap `tolerance`.

    `program`, `table` and the other options in `given` are those of `dipc.solve`. Raises DiagnosticError for names that
    are not constants, and for bad claims.
    """
    options = Options(**given)
    return tune_options(as_program(program, options.limits, options.eps), table, options)


def tune_options(program: Program, table: TableGiven | None, options: Options) -> Tuned:
    """Return the result of `tune` for `program` and `table`, with all options in the object `options`.

    After Ctrl-C it is the result so far, with `interrupted` set.
    """
    ranges = [options.vary] if isinstance(options.vary, str) else list(options.vary)
    varied = tuple(map(Varied.parse, ranges))
    if not varied:
        raise bad_input("E1026", "no constant varies", 'give --vary "s in (0, 1)"')
    for each in varied:
        if each.name not in program.constants:
            note = f"its constants are {', '.join(program.constants) or 'none'}"
            raise bad_input("E1027", f"`{each.name}` is not a constant of {program.name}", note)
    search = _TuneSearch(program, table, options, varied)
    interrupted, unproved = False, None
    cells: BoxSearch | None = None
    try:
        search.run()
        if search.objective is None or search.whole is None:
            unproved = search.refusal
        elif search.best is not None and search.best.objective is not None:
            cells = BoxSearch(search.objective, search.whole)
            for count in cells.refine(search.best.objective[1] / (1 + search.tolerance), _CELLS):
                if search.progress is not None:
                    search.progress(count, None)
    except KeyboardInterrupt:
        interrupted = True
    except Undecided as undecided:
        unproved = undecided.reason
    lower = None if cells is None or not cells.lower else round_down(cells.lower, 10)
    if cells is not None and lower is None:
        unproved = unproved or f"{cells.looked_at} cells were not enough to bound the objective"
    whole = search.whole
    return Tuned(
        program.name,
        search.wanted,
        varied,
        options.adjacent,
        search.claim(),
        search.best,
        search.known.get(search.own),
        tuple(search.known.values()),
        search.tolerance,
        lower,
        {}
        if lower is None or whole is None
        else {each.name: (whole.low[n], whole.high[n]) for n, each in enumerate(varied)},
        0 if cells is None else cells.looked_at,
        unproved,
        interrupted,
        {name: str(value) for name, value in program.constants.items() if name not in {each.name for each in varied}},
    )


class _TuneSearch:
    """A search for the best values of the constants, which remembers the evaluations of proposed values."""

    def __init__(
        self, program: Program, table: TableGiven | None, options: Options, varied: tuple[Varied, ...]
    ) -> None:
        self.program = program
        self.table = table
        # `--alpha dd` is every distance: the search is for the product with eps, as without `--alpha`.
        own = options.alpha is not None and str(options.alpha).strip() == "dd" and options.wanted in (None, "alpha")
        self.options = replace(options, progress=None, alpha=None if own else options.alpha)
        self.varied = varied
        self.progress: Progress | None = options.progress
        self.tolerance = options.tolerance_value
        self.denominator = options.denominator
        self.wanted = self._wanted()
        self.known: dict[Values, Evaluation] = {}
        self.own: Values = tuple([program.constants[each.name] for each in varied])
        #: The lower bounds of the objective and their box, or the reason why there are none.
        self.objective: Objective | None = None
        self.whole: ConstantBox | None = None
        self.refusal: str | None = None

    def _wanted(self) -> Wanted:
        if self.options.wanted is not None:
            return Wanted(self.options.wanted)
        alpha = self.options.alpha
        return Wanted.ALPHA if alpha is None or str(alpha).strip() == "dd" else Wanted.EPS

    def claim(self) -> dict[str, str]:
        texts = {}
        for name in ("alpha", "beta", "gamma"):
            expression = claim_expression(self.program.core, name, getattr(self.options, name))
            if expression is not None and name != self.wanted.value:
                texts[name] = print_expression(expression.tree)
        return texts

    @property
    def best(self) -> Evaluation | None:
        known = [one for one in self.known.values() if one.objective is not None]
        if not known:
            return None
        return min(known, key=lambda one: (one.objective or (_ZERO,))[0])

    def value(self, values: Values) -> float:
        objective = self.evaluate(values).objective
        return inf if objective is None else float(objective[0])

    def evaluate(self, values: Values) -> Evaluation:
        known = self.known.get(values)
        if known is None:
            known = self.known[values] = self._evaluated(values)
            if self.progress is not None:
                self.progress(len(self.known), None)
        return known

    def program_at(self, values: Values) -> Program:
        return self.program.with_constants({each.name: value for each, value in zip(self.varied, values, strict=True)})

    def _evaluated(self, values: Values) -> Evaluation:
        named = {each.name: value for each, value in zip(self.varied, values, strict=True)}
        try:
            program = self.program_at(values)
        except DiagnosticError as error:
            return Evaluation(named, None, reason=error.diagnostics[0].message)
        threshold, reason = self.threshold(program, self.options)
        if threshold is None:
            return Evaluation(named, None, reason=reason)
        if self.options.adjacent is None:
            self._learn(values, None)
            return Evaluation(named, threshold, None, threshold)
        with ExitStack() as stack:
            engine = self.options.engine(stack, program)
            try:
                constant = PrivacyQuestion(program, self.options.adjacent, self._private_inputs, engine).constant(None)
            except Undecided as undecided:
                return Evaluation(named, threshold, reason=undecided.reason)
        if constant.proved is None:
            return Evaluation(named, threshold, reason=constant.reason or "no constant of privacy is known")
        self._learn(values, constant.at)
        low = constant.refuted_below if constant.refuted_below is not None else _ZERO
        objective = low * threshold[0], constant.proved * threshold[1]
        return Evaluation(named, threshold, constant.proved, objective, constant.exact)

    def _learn(self, values: Values, refuting: Candidate | None) -> None:
        if self.objective is not None:
            with suppress(Undecided):
                self.objective.learn(values, refuting)

    @cached_property
    def _selected_program(self) -> Program:
        return with_selection(self.program, self.options.inputs)[0]

    @property
    def _private_inputs(self) -> InputSpec | None:
        inputs = self.options.inputs
        if inputs is None or self.options.asks_for_all:
            return "all"
        return inputs if self._selected_program is not self.program else None

    def threshold(self, program: Program, options: Options) -> tuple[tuple[Fraction, Fraction] | None, str | None]:
        """Return (an enclosure of the threshold, None), or (None, the reason why it is not known).

        The threshold is the least alpha·eps, gamma·eps, alpha, gamma or eps for which the claim of `options` about
        `program` holds.
        """
        try:
            solution = solve_question(
                read_question(program, self.table, options), self.wanted, self.options.digits or _DIGITS
            )
        except Undecided as undecided:
            return None, undecided.reason
        if solution.interrupted:
            raise KeyboardInterrupt
        if solution.status is not Status.SOLVED:
            return None, solution.remark or f"the least {self.wanted} is not known"
        match solution:
            case AlphaSolution(product=(low, high)) if high is not None:
                return (low, high), None
            case AlphaSolution(value=value) if value is not None:
                return (value, value), None
            case AlphaSolution(cell=(low, high)):
                return (low, high), None
            case GammaSolution(product=(low, high)):
                return (low, high), None
            case GammaSolution(value=(low, high)):
                return (low, high), None
            case EpsSolution() if solution.eps_answer is not None:
                return solution.eps_answer, None
        return None, "the claim holds for all values of the constants, so there is nothing to improve"

    def run(self) -> None:
        """Search for the best values. Raises DiagnosticError.

        Proposals come from approximations that use the pairs of inputs known to need the greatest constant of privacy.
        Exact evaluations find more pairs, until no new value is proposed.
        """
        try:
            self._prepare_bounds()
        except Undecided as undecided:
            self.refusal = undecided.reason
        if all(each.contains(value) for each, value in zip(self.varied, self.own, strict=True)):
            self.evaluate(self.own)
        if len(self.varied) == 1:
            (varied,) = self.varied
            step = (varied.high - varied.low) / (_FIRST + 1)
            for n in range(1, _FIRST + 1):
                self.evaluate((self._rounded(varied.low + n * step),))
        if self.objective is None:
            self._propose(self.value, _MOST)
        else:
            for _ in range(_ROUNDS):
                count = len(self.known)
                self.evaluate(self._propose(self.objective.guess, _GUESSES))
                if len(self.known) == count:
                    break
        self._neighbors()

    def _propose(self, value: Callable[[Values], float], most: int) -> Values:
        """Return the constants for which the function `value` is least, among at most `most` values that are tried.

        A pattern search changes one constant, or increases one and decreases another, by steps that become smaller.
        """
        known: dict[Values, float] = {}

        def ask(values: Values) -> float:
            if values not in known:
                known[values] = value(values)
            return known[values]

        for start in self.known:
            ask(start)
        sizes = [each.high - each.low for each in self.varied]
        ask(tuple([self._rounded(e.low + size / (len(sizes) + 1)) for e, size in zip(self.varied, sizes, strict=True)]))
        # One nonzero entry, or one 1 and one -1.
        moves = [
            move
            for move in product((-1, 0, 1), repeat=len(sizes))
            if sum(map(abs, move)) == 1 or (sum(map(abs, move)) == 2 and sum(move) == 0)
        ]
        step = Fraction(1, 8)
        while step * self.denominator >= 1 and len(known) < most:
            before = min(known, key=ask)
            for move in moves:
                to = tuple(
                    [self._rounded(value + step * m * size) for value, m, size in zip(before, move, sizes, strict=True)]
                )
                if all(each.contains(value) for each, value in zip(self.varied, to, strict=True)):
                    ask(to)
            if min(known, key=ask) == before:
                step /= 2
        return min(known, key=ask)

    def _neighbors(self) -> None:
        best = min(self.known, key=self.value)
        for n, each in enumerate(self.varied):
            for step in (-1, 1):
                value = self._rounded(best[n] + Fraction(step, self.denominator))
                if each.contains(value):
                    self.evaluate((*best[:n], value, *best[n + 1 :]))

    def _rounded(self, value: Fraction) -> Fraction:
        return value.limit_denominator(self.denominator)

    # --- bounds ---------------------------------------------------------------------------------------------

    def _prepare_bounds(self) -> None:
        """Set `whole`, the box of all values of the constants, and `objective`, lower bounds on boxes of values.

        Raises Undecided if no lower bounds are known.
        """
        core = self._selected_program.core
        if core.requires is not None or core.selection is not None:
            raise OutsideFragment(
                "values that were not tried are compared only if the claim is about all inputs, without `requires`"
            )
        self._require_rates()
        base, rates = self._rates()
        whole = ConstantBox(tuple([each.low for each in self.varied]), tuple([each.high for each in self.varied]))
        greatest = map(max, zip(*map(rates.evaluate, whole.corners), strict=True))
        least = [rate * _MARGIN for rate in greatest]
        self.whole = self._inner(whole, rates, least)
        costs = None
        if self.options.adjacent is not None:
            if self._private_inputs is None:
                raise OutsideFragment(
                    "a lower bound of the privacy constant is known only for questions about all adjacent real inputs"
                )
            costs = LeastCosts(base)
        self.objective = Objective(self._thresholds(base, rates), rates, least, costs)

    def _require_rates(self) -> None:
        """Raise OutsideFragment if the constants occur outside of rates, or rates are not affine in them."""
        core, names = self.program.core, {each.name for each in self.varied}
        tree = parse(core.source)
        given = {*self.options.claim_parts, self.wanted.value}
        claims = [each for each in tree.declarations if isinstance(each, ClaimDecl)]
        claimed = tuple(field.value for claim in claims for field in claim.fields if field.name not in given)
        program = (tuple(each for each in tree.declarations if not isinstance(each, ClaimDecl)), tree.body)
        drawn = [node for node in walk(program) if isinstance(node, NoiseExpr)]
        rates = [node.rate for node in drawn if node.rate is not None]
        for name in sorted(names):
            if computed_from(tree.declarations, core.overrides, name):
                raise OutsideFragment(f"other constants are computed from `{name}`")
            inside = sum(occurrences(rate, name) for rate in rates)
            if self.options.mention(name) or self._is_in_table(name) or occurrences(claimed, name):
                raise OutsideFragment(f"`{name}` occurs in the claim")
            if inside != occurrences(program, name):
                raise OutsideFragment(f"`{name}` occurs outside of rates")
        if not all(_degree(rate, names) in (0, 1) for rate in rates):
            raise OutsideFragment(f"a rate is not an affine function of {' and '.join(f'`{name}`' for name in names)}")
        noises = [each for each in core.instructions if isinstance(each, SampleNoise)]
        if not all(each.law.has_form and each.law.is_positive for each in noises):
            raise OutsideFragment("a bound is known only for noise with exponential tails")

    def _is_in_table(self, name: str) -> bool:
        table = read_question(self.program, self.table, self.options).table
        own = () if table is None else ((row.alpha, row.beta, row.gamma) for row in table.rows)
        texts = {cell.text for cells in own for cell in cells if cell is not None}
        return any(re.search(rf"\b{name}\b", text) for text in texts)

    def _rates(self) -> tuple[Program, AffineRates]:
        """Return the program at some values of the constants, and all rates as affine functions of the constants.

        Two rates that are equal at these values are equal at all values. Raises OutsideFragment.
        """
        for n in range(1, 20):
            try:
                near = [
                    each.low + (each.high - each.low) * (Fraction(n, 20 * len(self.varied)) + Fraction(k + 1, 9973))
                    for k, each in enumerate(self.varied)
                ]
                shifted = [[v + (k == j) * Fraction(1, 99991) for j, v in enumerate(near)] for k in range(len(near))]
                base = self.program_at(tuple(near))
                points = [(tuple(values), rates_of(self.program_at(tuple(values)))) for values in shifted]
            except DiagnosticError:
                continue
            rates = AffineRates([(tuple(near), rates_of(base)), *points])
            if rates.are_distinguishable:
                return base, rates
        raise OutsideFragment("the program is invalid for all values of the constants that were tried")

    @staticmethod
    def _inner(whole: ConstantBox, rates: AffineRates, least: Sequence[Fraction]) -> ConstantBox:
        """Return the box `whole` without the values of each constant for which some rate is always too small.

        A rate is always too small if it is too small for all values of the other constants. `rates` gives all rates as
        functions of the constants. The rate with the index i is too small if it is below `least`[i].
        """
        low, high = list(whole.low), list(whole.high)
        corners = list(whole.corners)
        for n in range(len(low)):
            for index, bound in enumerate(least):
                ends = [
                    max(rates.evaluate(c)[index] for c in corners if c[n] == end)
                    for end in (whole.low[n], whole.high[n])
                ]
                if min(ends) >= bound or len(set(ends)) == 1:
                    continue
                crossing = whole.low[n] + (whole.high[n] - whole.low[n]) * (bound - ends[0]) / (ends[1] - ends[0])
                if ends[0] < bound:
                    low[n] = max(low[n], crossing)
                else:
                    high[n] = min(high[n], crossing)
        return ConstantBox(tuple(low), tuple(high))

    def _thresholds(self, base: Program, rates: AffineRates) -> ThresholdBounds:
        question = read_question(base, self.table, self.options)
        try:
            match self.wanted:
                case Wanted.ALPHA if question.table is None:
                    return Thresholds(question.with_claim(alpha="dd"), Variable.ALPHA_EPS, rates)
                case Wanted.EPS:
                    return Thresholds(question, Variable.EPS, rates)
                case Wanted.GAMMA if question.table is None and not claims_of(question.with_claim(gamma=0)).at_distance:
                    return Thresholds(question.with_claim(gamma="free"), Variable.GAMMA_EPS, rates)
        except Undecided:
            pass
        return _Solved(self, base)


class _Solved:
    """Lower bounds of a threshold for given rates of the noises, each found by solving for it with a greater beta.

    The threshold is the least alpha·eps (or gamma·eps, or eps) for which the claim of the search holds.
    """

    def __init__(self, search: _TuneSearch, program: Program) -> None:
        self._search = search
        self._program = program
        beta = claim_expression(search.program.core, "beta", search.options.beta)
        assert beta is not None
        self._beta = print_expression(beta.tree)

    def guess(self, rates: Rates) -> Fraction:
        return self.at_least(rates, [(_ONE,)], None)

    def learn(self, rates: Rates) -> None:
        pass

    def at_least(self, rates: Rates, shares: Sequence[Rates], enough: Fraction | None) -> Fraction:  # noqa: ARG002
        factor = max(1 / Fraction(prod(share)) for share in shares).limit_denominator(10**6) + Fraction(2, 10**6)
        options = replace(self._search.options, beta=f"({factor})*({self._beta})")
        core, left = self._program.core, iter(rates)
        instructions = tuple(
            [replace(each, rate=next(left)) if isinstance(each, SampleNoise) else each for each in core.instructions]
        )
        program = Program(replace(core, instructions=instructions), self._program.limits)
        threshold, _ = self._search.threshold(program, options)
        return _ZERO if threshold is None else threshold[0]


def _degree(tree: Expr, names: set[str]) -> int | None:
    """Return 0 if the expression `tree` mentions none of the constants `names`, and 1 if it is affine in them.

    None if neither is known.
    """
    if not any(mentions(tree, name) for name in names):
        return 0
    match tree:
        case Name():
            return 1
        case Unary(operand=operand):
            return _degree(operand, names)
        case Binary(op=BinaryOp.ADD | BinaryOp.SUBTRACT, left=left, right=right):
            degrees = _degree(left, names), _degree(right, names)
            return None if None in degrees else 1
        case Binary(op=BinaryOp.MULTIPLY, left=left, right=right):
            degrees = _degree(left, names), _degree(right, names)
            return 1 if sorted(degree if degree is not None else 9 for degree in degrees) == [0, 1] else None
        case Binary(op=BinaryOp.DIVIDE, left=left, right=right):
            return _degree(left, names) if _degree(right, names) == 0 else None
    return None

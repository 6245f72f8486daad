"""The error of a program as a union of single events, for every number of queries.

**Walks.** All runs that agree with the ideal are walks through a finite automaton, from head to head (see `loop_runs`).
Each step has terms: events such that program and ideal agree in this step if all of them occur. In the sums below, a
term counts with the probability that its event fails.

1. Remove the cycles of a walk with n iterations, one after the other, until a path is left that visits no head twice,
   with k iterations. The n - k other iterations lead from heads to heads of the same component, which contains a head
   of the path.
2. The sum of their terms is at most n - k times that of one iteration, the one with the greatest sum. The error
   probability is therefore at most

    fixed + (n - k)·repeated,

where fixed is the sum on the path, repeated is that of the one iteration, and n = m - low + 1 for a loop from low to m.
For a run that exits earlier, the bound holds as well. This sum is shown to be at most beta(m) for every m >= start,
coefficient by coefficient of the polynomial in m - start.

**Comparison with beta.** Let beta(m) = Σ b_j·(m - start)^j, and let the error probability be at most f + (m - once)·r
for every m >= once. Then beta(m) is at least this probability for every m >= start if b_0 >= f + (start - once)·r, b_1
>= r, and b_j >= 0 for j >= 2. These are finitely many inequalities in one variable t, eps or distance·eps. They may
fail for small t, up to some t0. For these t it suffices that beta(start) >= 1 and that beta does not decrease with m,
as a probability is at most 1. A later start makes beta(start) larger.

**Rates that depend on m.** For one m, rates replace their marks in the terms of a union bound. If no rate falls as m
grows, as a multiple of some variable e in place of eps, the rates for the first m bound the error for every greater m:

**Lemma.** Let N be a sum of independent noises, each symmetric, unimodal and only scaled by its rate, as Laplace noise
is, and s >= 0. Then Pr[N + s < 0] does not grow when a rate grows.

1. Let x·Z be the noise whose rate grows, with the scale x and Z symmetric. Let Y be the sum of the other noises, with
   the distribution function F and the density f, which is symmetric and unimodal (Wintner).
2. Pr[Y + x·Z + s < 0] = ∫_{z > 0} (F(-s - x·z) + F(-s + x·z))·dPr[Z].
3. The derivative with respect to x is an integral of z·(f(-s + x·z) - f(-s - x·z)) >= 0, as |s - x·z| <= |s + x·z|.

An event with two sides, |N + a| <= b with slacks that are not negative, fails on one side or on the other. One-sided
noise E >= 0 may also occur in an event. A greater rate makes E smaller, which helps an event with the term -E. It harms
an event with the term +E, so that the rate of such a noise must be the same for every m.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import ceil

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.graph import strongly_connected
from dipc.algebra.limits import LimitReached
from dipc.chain.state import Affine, constraint
from dipc.decide.obligation import Asking, Bound, Obligation, Share, Verdict
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.noise.law import Law
from dipc.program.ideal import Ideal, Region
from dipc.program.metric import Norm
from dipc.program.program import Program
from dipc.questions.every_number.bounded_queries import gaps, require_bounds
from dipc.questions.every_number.flag_answers import FlagRuns, NotAFlag, is_flag, require_one_flag
from dipc.questions.every_number.in_number import ONE, RationalFunction
from dipc.questions.every_number.loop_runs import AgreeingRuns, AgreeingStep, Automaton, TooFew, failure_decay
from dipc.questions.every_number.normal_form import (
    LoopText,
    Rates,
    exits,
    rate_of_mark,
    separate_parts,
    with_enough_iterations,
)
from dipc.questions.every_number.uniform import (
    NotUniform,
    QueryNumber,
    SelectionLoop,
    UniformLoops,
    parameter_arrays,
    require_uniform_metric,
    selected_from_inputs,
    selection,
    uniform,
)
from dipc.rules.facets import facet_metric, facets
from dipc.rules.goal import slack_bound
from dipc.rules.halfspaces import single_bound
from dipc.rules.input_classes import finite_cases
from dipc.rules.rule import BoundEvidence, Requirement
from dipc.sign.interval import Interval
from dipc.sign.piecewise import PiecewiseForm
from dipc.text import ast
from dipc.text.ast import BaseType
from dipc.text.core import Value
from dipc.text.diagnostic import DiagnosticError


@frozen
class Sum:
    """A bound of the error for a loop up to m, for every m >= `once`.

    The bound has two summands. The first is the sum of 1 - Pr[event] over the events `fixed`. The second is the same
    sum over the events `repeated`, multiplied by (m - `once`). Noise changes the answer only if one of these events
    does not occur.
    """

    fixed: tuple[Event, ...]
    repeated: tuple[Event, ...]
    once: int

    @property
    def terms(self) -> tuple[Event, ...]:
        return (*self.fixed, *self.repeated)


def plus(left: Sum, right: Sum) -> Sum:
    """Return the sum of the bounds `left` and `right`, for m >= the greater `once`."""
    if left.once > right.once:
        left, right = right, left
    # fixed + (m - once)·repeated = fixed + (later - once)·repeated + (m - later)·repeated
    fixed = (*left.fixed, *(left.repeated * (right.once - left.once)), *right.fixed)
    return Sum(_sorted(fixed), _sorted((*left.repeated, *right.repeated)), right.once)


def sums(automaton: Automaton[AgreeingStep], low: int, paths: int) -> frozenset[Sum]:
    """Return bounds for a loop from `low` to m with the runs `automaton`; at each input one of them bounds the error.

    A path that visits no head twice gives the fixed events of a bound. Longer runs repeat iterations between its heads.
    Each of these iterations gives a bound of its own, with the events of the iteration as repeated events. A bound is
    valid for all m >= its `once`, at any eps. Raises NotUniform if no run agrees with the ideal, LimitReached past
    `paths` paths.
    """
    sums: set[Sum] = set()
    cycles = _iterations_on_cycles(automaton)
    for fixed, once, visited in _paths(automaton, paths):
        loops = {step.terms: None for head in visited for step in cycles[head]}
        for repeated in loops or [()]:
            sums.add(Sum(_sorted(fixed), _sorted(repeated), once + low - 1))
    if not sums:
        raise NotUniform("no run gives the ideal's answer")
    return frozenset(sums)


def _iterations_on_cycles(automaton: Automaton[AgreeingStep]) -> Mapping[int, tuple[AgreeingStep, ...]]:
    graph = {
        head: [step.goal for step in steps if step.goal is not None] for head, steps in enumerate(automaton.iterations)
    }
    result: dict[int, tuple[AgreeingStep, ...]] = {}
    for component in strongly_connected(graph):
        inside = tuple(
            step for head in sorted(component) for step in automaton.iterations[head] if step.goal in component
        )
        result |= dict.fromkeys(component, inside)
    return result


def _paths(automaton: Automaton[AgreeingStep], most: int) -> Iterator[tuple[tuple[Event, ...], int, tuple[int, ...]]]:
    """Yield (events, number of iterations, heads) of each path through `automaton` that visits no head twice.

    A path leads from the start of the program to its exit. Raises LimitReached past `most` paths.
    """
    pending: list[tuple[tuple[Event, ...], int, tuple[int, ...]]] = [
        (step.terms, 0, (step.goal,)) for step in automaton.before if step.goal is not None
    ]
    count = 0
    while pending:
        terms, once, visited = pending.pop()
        count += 1
        if count > most:
            raise LimitReached("paths", f"more than {most} paths lead from one state at the loop's head to another")
        here = visited[-1]
        for ending in automaton.endings[here]:
            yield (*terms, *ending.terms), once, visited
        for step in automaton.iterations[here]:
            if step.goal is None:
                yield (*terms, *step.terms), once + 1, visited
            elif step.goal not in visited:
                pending.append(((*terms, *step.terms), once + 1, (*visited, step.goal)))


def _sorted(terms: tuple[Event, ...]) -> tuple[Event, ...]:
    key: Callable[[Event], str] = repr
    return tuple(sorted(terms, key=key))


@frozen
class UnionBound:
    """A bound of the error for every m >= `start`: the greatest of `sums`.

    The claim is about every m >= `least`. If rates of noise depend on m, the noises in `sums` have marks instead, and
    `rates` has the rate of each mark.
    """

    sums: frozenset[Sum]
    least: int
    start: int
    rates: Rates | None = None

    def __post_init__(self) -> None:
        if not self.sums:
            raise ValueError("a union bound over no run would prove any claim")

    def decay(self, number: int) -> Fraction | None:
        """Return the rate r at which the bound for m = `number` decays like e^{-r·t} as t grows.

        The variable t is eps, or distance·eps if a distance is open. The result is None if the bound is 0. Raises
        ZeroDivisionError if a rate is not defined at this m.
        """
        result = [
            rate
            for total in self.sums
            for term in total.terms
            if (rate := failure_decay(term, lambda mark: rate_of_mark(self.rates, mark).value_at(number))) is not None
        ]
        return min(result, default=None)


def union_of(program: Program, parameter: str, distances: Requirement) -> UnionBound:
    """Return a union bound of the error of `program`, for every value of the constant `parameter`.

    The program does the same for each query, selects the greatest or least query, or consists of two such programs that
    share no variables. `distances` has the claim's alpha and gamma. Raises NotUniform for other programs, LimitReached
    past one of the program's limits, and DiagnosticError if its metric is invalid.
    """
    require_bounds(program, parameter)
    text = LoopText.from_program(program, parameter)
    return replace(_union_of(text, distances), rates=text.rates)


def _union_of(text: LoopText, distances: Requirement) -> UnionBound:
    apart = separate_parts(text.tree, text.number)
    if apart is not None:
        left, right = (_union_of(text.with_tree(program), distances) for program in apart)
        sums_of_both = frozenset(plus(one, other) for one in left.sums for other in right.sums)
        return UnionBound(sums_of_both, max(left.least, right.least), max(left.start, right.start))
    single = text
    try:
        single = text.with_one_loop()
        return _of_one_loop(single, distances)
    except NotUniform as refused:
        explained = single.explained(refused)
        place = explained.span if single.source is text.program.core.source else None  # A place in another text.
        raise NotUniform(explained.reason, place) from None


def _of_one_loop(text: LoopText, distances: Requirement) -> UnionBound:
    requires = text.program.core.requires

    def instance(number: int) -> Ideal:
        program = text.instance(number)
        if requires is not None and program.core.requires is None:
            raise NotUniform("its `requires` is lost when its loops are joined")
        return Ideal(program)

    try:
        shape = uniform(text.tree, text.number)
    except NotUniform as refused:
        chosen = _selection(text.tree, text.number)
        if chosen is None:
            raise refused from None
        assert isinstance(chosen.first, ast.Number), "a selection begins at a given index"
        return _selected(instance, chosen, int(chosen.first.value) - text.number.beyond, distances)
    if text.source is text.program.core.source and text.source.accepted is not None:
        # A loop of a Python function has the place of its first line alone, where no instruction of its body is.
        try:
            return _of_one_loop(replace(text, source=None).read(), distances)
        except NotUniform as refused:
            raise NotUniform(refused.reason) from None
    try:
        found_sums, count = with_enough_iterations(
            lambda count: _sums(instance, shape, count, distances), text.program.limits.iterations
        )
    except NotUniform as refused:
        if not is_flag(instance(shape.low + 1), shape):
            raise
        try:
            return _of_flag(instance, shape, distances)
        except NotAFlag as other:
            raise NotUniform(f"{refused.reason}: {other.reason}") from None
    last = max(total.once for total in found_sums)
    start = max(last, shape.low) + 1
    # If domains end at m, exploring one number shows that no value leaves its domain for this or a greater number.
    explored = _least_sufficient_count(instance, shape, start - shape.low + 1, count, distances) + shape.low - 1
    return UnionBound(found_sums, shape.low, max(start, explored))


def _of_flag(instance: Callable[[int], Ideal], shape: UniformLoops, distances: Requirement) -> UnionBound:
    """Return the union bound of a program whose answer is whether some iteration exits.

    `instance`(m) is the ideal, with its program, for m iterations. `shape` has the loops of both, and `distances` the
    claim's alpha and gamma. Raises NotUniform if the answer is something else.
    """
    if not (exits(shape.loop) and exits(shape.ideal_loop)):
        raise NotAFlag
    # There is one head, so that two iterations suffice.
    ideal = instance(shape.low + 1)
    if ideal.program.allowed is not None:
        raise NotUniform("a yes-or-no answer with `requires` is not covered for every number of queries")
    metric = facet_metric(ideal)
    if metric.norm is not Norm.LINF or metric.apart is not None:
        raise NotUniform(
            "a yes-or-no answer is covered where the distance of two inputs is the greatest of their moves: "
            "write `metric { input: linf; }`, or no `metric` block"
        )
    found: set[Sum] = set()
    cases: list[tuple[dict[int, Value], FlagRuns]] = []
    for finite in finite_cases(ideal, ideal.finite_inputs):
        runs = FlagRuns(ideal, shape, metric, distances, finite)
        for once, repeated, iterations in runs.terms():
            found.add(Sum(_sorted(once), _sorted(repeated), iterations + shape.low - 1))
        cases.append((finite, runs))
    require_one_flag(cases, _finite_outside_loop(ideal, shape))
    return UnionBound(frozenset(found), shape.low, shape.low + 1)


def _sums(instance: Callable[[int], Ideal], shape: UniformLoops, count: int, distances: Requirement) -> frozenset[Sum]:
    """Return bounds of the error, found by exploring `count` iterations, for all values of the finite inputs.

    `instance`(m) is the ideal, with its program, for m iterations. `shape` has the loops, and `distances` the claim's
    alpha and gamma. Raises TooFew if `count` iterations do not suffice.
    """
    ideal = instance(shape.low + count - 1)
    metric, most = facet_metric(ideal), ideal.program.limits.paths
    automata = (
        AgreeingRuns(ideal, shape, metric, distances, finite).automaton()
        for finite in finite_cases(ideal, _finite_outside_loop(ideal, shape))
    )
    return frozenset(total for automaton in automata for total in sums(automaton, shape.low, most))


def _finite_outside_loop(ideal: Ideal, shape: UniformLoops) -> list[int]:
    names = {slot: ideal.program.core.slots[slot].name.partition("[") for slot in ideal.finite_inputs}
    return [slot for slot, (array, bracket, _) in names.items() if not (bracket and array in shape.arrays)]


def _least_sufficient_count(
    instance: Callable[[int], Ideal], shape: UniformLoops, least: int, most: int, distances: Requirement
) -> int:
    for count in range(max(2, least), most):
        with suppress(TooFew, NotUniform, LimitReached, DiagnosticError):
            _sums(instance, shape, count, distances)
            return count
    return most


# --- the selection loop -------------------------------------------------------------------------------------------


def _selection(tree: ast.ProgramTree, number: QueryNumber) -> SelectionLoop | None:
    """Return the loop of `tree` if the program and its ideal select an index in the same way, else None.

    `number` is the number of queries.
    """
    ideal = tree.ideal
    if ideal is None:
        return None
    try:
        own = selected_from_inputs(tree, number)
        require_uniform_metric(tree, number, parameter_arrays(tree, number), own.first)
        other = selection(ideal.body, tree.declarations, number)
    except NotUniform:
        return None
    same = (own.array, own.answer, own.first, own.scales) == (other.array, other.answer, other.first, other.scales)
    return own if same and own.is_plain and other.is_plain and other.rates is None else None


def _selected(instance: Callable[[int], Ideal], own: SelectionLoop, least: int, distances: Requirement) -> UnionBound:
    """Return the union bound of a loop that selects the greatest or least value.

    Each event of the bound is that the selected value wins against one other value. `own` is the loop, `least` the m
    for one query, `instance`(m) the ideal, and `distances` has the claim's alpha and gamma.
    """
    ideal = instance(least + 2)
    core = ideal.program.core
    slots = [slot for slot in core.inputs if core.slots[slot].name.startswith(f"{own.array}[")]
    if any(core.slots[slot].type is not BaseType.REAL for slot in slots):
        raise NotUniform("an input is not real")
    metric = facet_metric(ideal)
    if metric.apart is not None:
        raise NotUniform("the metric puts some inputs of a selection infinitely far apart")
    first, other = own.drawn(core)
    sign = own.scales[0]
    difference = (Affine.input(slots[1]) - Affine.input(slots[0])).scaled(sign)
    region = Region((constraint(difference, ast.CompareOp.GE),), ())
    bounds, outside = gaps(ideal, region.guards)
    sides = facets(Region((*region.guards, *bounds), ()), (), metric, outside, fixed=True)[:1]
    slack = slack_bound(difference, sides, distances, bounding=single_bound)
    assert slack is not None, "the difference is itself the facet"
    margin = slack.slope if distances.is_open else slack.base
    first_wins = (_loses(other, first, margin, sign),)
    # Two cases: the first index is selected, or another one is, against the first and all others.
    return UnionBound(
        frozenset(
            {
                Sum((), first_wins, least),
                Sum((_loses(first, other, margin, sign),), (_loses(other, other, margin, sign),), least + 1),
            }
        ),
        least,
        least + 1,
    )


def _loses(challenger: tuple[Law, Fraction], selected: tuple[Law, Fraction], margin: Fraction, sign: Fraction) -> Event:
    """Return the event that the value `selected` still wins against `challenger` when noise is added to both.

    Without noise it wins by `margin`. The greater value wins if `sign` is 1, the lesser one if `sign` is -1. `selected`
    and `challenger` are given by the law and the rate of their noise.
    """
    noises = tuple([Noise(law, rate, Fraction(0)) for law, rate in (selected, challenger)])
    return Event(noises, (Halfspace(((0, sign), (1, -sign)), margin),))


#: The greatest number by which the start of a proof is moved; the numbers before it are decided exactly.
LATER = 10

#: The coefficients of beta by powers of m - start, for a start.
Coefficients = Callable[[int], dict[int, ExpPoly]]

_ZERO = ExpPoly.ZERO
_NOTHING = Bound(())
_CERTAIN = Bound((), Fraction(1))


@frozen
class CoefficientInequality(BoundEvidence):
    """The inequality that a coefficient of beta is at least the same coefficient of the bound `total` of the error.

    Both are coefficients of (m - `start`)^`power`. If the inequalities hold for all powers, the claim holds for every m
    >= `start`.
    """

    start: int
    total: Sum
    power: int


@frozen
class UnionEvidence:
    """A proof that the claim holds for every m >= `start`, by inequalities between coefficients.

    `inequalities` has each inequality with its obligation. If `trivial` is a number, the inequalities are only about
    values of the variable above it. For values up to `trivial`, beta is at least 1, by the obligations `above_one`.
    `in_eps` is false if the variable is eps divided by a function of m, or if rates depend on m.
    """

    start: int
    trivial: Fraction | None
    inequalities: tuple[tuple[Obligation, CoefficientInequality], ...]
    above_one: tuple[Obligation, ...]
    in_eps: bool


@frozen
class UnionProof:
    """A search for a proof that bounds of the error are at most beta, for every m >= some start.

    `sums` are the bounds. If rates depend on m, the noises in `sums` have marks, and `rates` has the rate of each mark;
    else it is None. Bounds and beta are functions of a variable e in place of eps, with eps = `scale`(m)·e. `beta` maps
    a start to the coefficients of beta, by power of m - start. If `lesser` is true, they are those of a lower bound of
    beta: summands that would need another scale are left out. `intervals` has the values of e that the claim is about.
    """

    sums: tuple[Sum, ...]
    rates: Rates | None
    scale: RationalFunction
    beta: Coefficients
    intervals: tuple[Interval, ...]
    lesser: bool = False

    @property
    def is_eps(self) -> bool:
        """True if e is eps itself, no rate depends on m, and beta is the claim's."""
        return self.rates is None and self.scale == ONE and not self.lesser

    @property
    def is_other(self) -> bool:
        """True if `scale` is not 1, so that e is not eps, or if beta is replaced by a lower bound."""
        return self.lesser or self.scale != ONE

    def holds_from(self, start: int) -> bool:
        """Return True if `sums`, with the rates for m = `start`, are proved to bound the error for every greater m.

        The rates are multiples of e.
        """
        if self.is_eps:
            return True
        known = () if self.rates is None else self.rates.of_marks
        divisors = () if self.rates is None else self.rates.divisors
        if not all(ratio.is_positive_from(start) for ratio in (self.scale, *known)):
            return False
        if not all(divisor.has_sign_from(start) for divisor in divisors):
            return False
        return all(self._holds(term, start) for total in self.sums for term in total.terms)

    def refusal(self, start: int, parameter: str) -> str:
        """Return the reason why rates that suffice for m = `start` are not proved to suffice for greater m.

        The reason compares, as the constant `parameter` grows, the rates of the noises in `sums` with the exponents of
        beta.
        """
        used = {noise.rate for total in self.sums for term in total.terms for noise in term.noises}
        falling = [
            own for mark in sorted(used) if not ((own := self._own_rate(mark)) * self.scale).never_falls_from(start)
        ]
        if not falling:
            return f"the share of the error that one-sided noise gets depends on `{parameter}`"
        rate, beta = falling[0], self.scale.inverse()
        text = f"the rate {rate.text(parameter)} of a noise"
        if beta.constant_value() is not None:
            return f"as `{parameter}` grows {text} falls, and the exponents of beta do not"
        if rate.constant_value() is not None:
            return f"as `{parameter}` grows the exponents of beta grow, and {text} does not"
        if beta.never_falls_from(start):
            return f"as `{parameter}` grows the exponents of beta grow faster than {text}"
        return f"as `{parameter}` grows {text} falls faster than the exponents of beta"

    def _holds(self, term: Event, start: int) -> bool:
        noises, sides = term.noises, term.constraints
        all_symmetric = all(n.law.symmetric and n.law.unimodal and n.law.scales for n in noises)
        for index, noise in enumerate(noises):
            rate = self._rate(noise.rate)
            less = all_symmetric or (
                noise.law.least is not None
                and noise.law.least >= 0
                and noise.law.scales
                and len(sides) == 1
                and all(c < 0 for other, c in sides[0].coefficients if other == index)
            )
            if rate.constant_value() is None and not (less and rate.never_falls_from(start)):
                return False
        return True

    def with_rates(self, total: Sum, start: int) -> Sum:
        """Return `total` with the rates that its noises have for m = `start`, as multiples of e, in place of marks."""
        if self.is_eps:
            return total
        return replace(total, fixed=self._terms(total.fixed, start), repeated=self._terms(total.repeated, start))

    def _terms(self, terms: Iterable[Event], start: int) -> tuple[Event, ...]:
        result = []
        for term in terms:
            noises = [replace(noise, rate=self._rate(noise.rate).value_at(start)) for noise in term.noises]
            result.append(Event(tuple(noises), term.constraints))
        return tuple(result)

    def _rate(self, rate: Fraction) -> RationalFunction:
        return self._own_rate(rate) * self.scale

    def _own_rate(self, rate: Fraction) -> RationalFunction:
        return rate_of_mark(self.rates, rate)

    def of_variable(self, of_eps: tuple[Interval, ...], start: int) -> tuple[Interval, ...]:
        """Return intervals that contain every value of e for eps in `of_eps` and m >= `start`."""
        if self.scale == ONE:
            return of_eps
        last = of_eps[-1].upper
        if last is None or not self.scale.never_falls_from(start):
            return (Interval.POSITIVE,)
        return (Interval(Fraction(0), last / self.scale.value_at(start), False, of_eps[-1].upper_closed),)

    def inequalities(
        self, start: int, intervals: tuple[Interval, ...] | None = None
    ) -> Iterator[tuple[Obligation, CoefficientInequality]]:
        """Yield (obligation, inequality) for each inequality that the proof for all m >= `start` needs.

        Each obligation is about the variable in `intervals`, or in all intervals of the claim if `intervals` is None.
        The inequality b >= c between coefficients of beta and of the error becomes the obligation 1 - c >= 1 - b.
        Raises NotUniform if beta is not a polynomial in m.
        """
        coefficients = self.beta(start)
        for total in dict.fromkeys(self.with_rates(total, start) for total in self.sums):
            for power in range(max(1, *coefficients) + 1 if coefficients else 2):
                beta = PiecewiseForm(coefficients.get(power, _ZERO))
                obligation = Obligation(_needed(total, power, start), beta, intervals or self.intervals)
                yield obligation, CoefficientInequality(start, total, power)

    def prove(self, start: int) -> Asking[UnionEvidence | None]:
        """Return a proof of the claim for every m >= `start`, or for every m >= n with an n a little above `start`.

        The result is None if no proof is found. Raises NotUniform if beta is not a polynomial in m.
        """
        worst = yield from self._failing(start, self.intervals)
        if worst is None:
            return UnionEvidence(start, None, tuple(self.inequalities(start)), (), self.is_eps)
        if self.intervals != (Interval.POSITIVE,):
            return None
        if not worst:
            worst = yield from self._tried(start)
            if worst is None:
                return None
        # Round up, so that the numbers stay short.
        trivial = Fraction(ceil(worst * 16), 16)
        near, beyond = _split(trivial)
        for later in range(start, start + LATER + 1):
            above_one = yield from self._above_one(later, near)
            if above_one and (yield from self._failing(later, beyond)) is None:
                inequalities = tuple(self.inequalities(later, beyond))
                return UnionEvidence(later, trivial, inequalities, tuple(self.above_one(later, near)), self.is_eps)
        return None

    def _failing(self, start: int, intervals: tuple[Interval, ...]) -> Asking[Fraction | None]:
        """Return None if all inequalities for m >= `start` hold on `intervals`, else a bound above which they hold.

        The bound is a value of the inequalities' variable, such as eps. It is 0 if no bound is known.
        """
        worst: Fraction | None = None
        for obligation, _ in self.inequalities(start, intervals):
            decision = yield obligation
            if decision.verdict is Verdict.ACCURATE:
                continue
            ends = [interval.end.high for interval in decision.failing]
            if not ends or None in ends:
                return Fraction(0)
            worst = max([worst or Fraction(0), *(end for end in ends if end is not None)])
        return worst

    def _tried(self, start: int) -> Asking[Fraction | None]:
        """Return the first number of `_TRIED` beyond which all inequalities for m >= `start` hold, or None.

        The numbers are values of the variable, such as eps. They are tried if `_failing` returns 0, because it knows no
        number beyond which the inequalities hold.
        """
        for start_at in _TRIED:
            if (yield from self._failing(start, _split(start_at)[1])) is None:
                return start_at
        return None

    def _above_one(self, start: int, near: tuple[Interval, ...]) -> Asking[bool]:
        """Return True if beta is proved to be at least 1 for every m >= `start`.

        This is proved at all values of the variable, such as eps, in `near`.
        """
        for obligation in self.above_one(start, near):
            decision = yield obligation
            if decision.verdict is not Verdict.ACCURATE:
                return False
        return True

    def above_one(self, start: int, near: tuple[Interval, ...]) -> Iterator[Obligation]:
        """Yield obligations that beta is at least 1 for m = `start`, and does not fall for greater m.

        `near` has the values of the variable, such as eps, that the obligations are about.
        """
        coefficients = self.beta(start)
        for power in range(max(coefficients, default=0) + 1):
            yield Obligation(_CERTAIN if power else _NOTHING, PiecewiseForm(coefficients.get(power, _ZERO)), near)


#: The values of the variable above which the inequalities for every m are tried.
_TRIED: tuple[Fraction, ...] = tuple([Fraction(n, 8) * 2**k for k in range(8) for n in (4, 5, 6, 7)])


def _split(trivial: Fraction) -> tuple[tuple[Interval, ...], tuple[Interval, ...]]:
    return (Interval(Fraction(0), trivial, False, True),), (Interval.closed(trivial, None),)


def _needed(total: Sum, power: int, start: int) -> Bound:
    """Return 1 - c, where c is the coefficient of (m - `start`)^`power` in the error's bound `total`.

    `total` is linear in m, so that `power` is 0 or 1; for a greater `power`, c is 0.
    """
    assert total.once <= start, "a path has no more iterations than the loop"
    weighted = {
        0: [*((1, term) for term in total.fixed), *((start - total.once, term) for term in total.repeated)],
        1: [(1, term) for term in total.repeated],
    }.get(power, [])
    used = [(weight, term) for weight, term in weighted if weight]
    shares = [Share(ExpPoly.constant(weight), (term,)) for weight, term in used]
    return Bound(tuple(shares), Fraction(1 - sum(weight for weight, _ in used)))

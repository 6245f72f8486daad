"""Privacy for every number of queries: all together by shifts of the noises, and from below by small numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import lcm

from dipc.algebra.exppoly import fraction_of
from dipc.algebra.limits import Undecided
from dipc.claims.claim import GivenEps
from dipc.decide.engine import Engine
from dipc.frozen import frozen
from dipc.program.program import Program, ProgramGiven, Progress, as_program
from dipc.questions.every_number.in_number import ONE, RationalFunction, common_unit
from dipc.questions.every_number.normal_form import LoopText, rate_of_mark
from dipc.questions.every_number.uniform import NotUniform, SelectionLoop, selected_from_inputs
from dipc.questions.privacy.adjacency import Distance, Within, parse_adjacency
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.constant import GROWS, Candidate, Constant, exponent_of, of_open_inputs
from dipc.questions.privacy.loops import (
    LoopBound,
    LoopCost,
    LoopPaths,
    OneLoop,
    bounds_text,
    extremum_cost,
    loop_cost,
    shift_cost,
    without_claim,
)
from dipc.questions.privacy.onwards import BLOCK, LeastCosts, lower_bound
from dipc.questions.privacy.outcome import Numbers, PrivacyClaim, PrivacyReport, PrivacyVerdict, read_claim
from dipc.sign.interval import Interval
from dipc.text import ast
from dipc.text.diagnostic import Diagnostic, DiagnosticError

#: How many numbers are tried one by one to refute; more while the refuted constant grows, up to the second.
_SINGLY, _MOST_SINGLY = 4, 16

#: Plans are computed for this many numbers, to see the first one at which a constant may have settled.
_FARTHEST = 48

_ZERO = Fraction(0)

#: Words that are looked at, for what refutes at greater numbers.
_MOST_WORDS = 24

#: How far intervals of real outputs are moved, away from outputs that other exits give.
_ASIDE = (_ZERO, Fraction(-1, 2), Fraction(1, 2))

#: What is refuted is taken to have settled when it is the same for this many numbers.
_SETTLED = 3

_OF_ONE = "iterations are independent, and each loses as much as it does alone"
_NO_SHIFT = "no shift of the noises makes up for every move of the inputs on some path through the loop"


@frozen
class _Loop:
    """The program as one loop: its paths, or why they are not all known, or a selection; what is so of its first
    queries is so for more of them where it `goes_on` alike."""

    text: LoopText
    single: OneLoop | None
    paths: LoopPaths | str
    selection: SelectionLoop | None
    low: int
    goes_on: bool

    @staticmethod
    def of(text: LoopText, single: OneLoop) -> _Loop:
        """What is refuted for one number is so for every greater one where rates are the same and each output is that
        of one query: those of the first ones have the same law."""
        paths: LoopPaths | str
        try:
            paths = single.paths()
        except (NotUniform, Undecided) as refused:
            paths = refused.reason
        outputs = [d for d in text.tree.declarations if isinstance(d, ast.VariableDecl) and d.role is ast.Role.OUTPUT]
        alike = {declarator.name for declaration in outputs for declarator in declaration.declarators} <= single.arrays
        return _Loop(text, single, paths, None, single.low, text.rates is None and alike)

    @staticmethod
    def selecting(text: LoopText, selection: SelectionLoop, *, real: bool) -> _Loop:
        """The index selected from queries, of which the others may be as small as one likes where all are `real`."""
        assert isinstance(selection.first, ast.Number), "the criterion asks for it"
        return _Loop(text, None, "", selection, int(selection.first.value), text.rates is None and real)


class EveryNumber:
    """The privacy of a program for all adjacent real inputs and every value of a constant."""

    def __init__(
        self,
        program: Program,
        parameter: str,
        least: int | None,
        adjacent: str,
        engine: Engine,
        progress: Progress | None,
    ) -> None:
        """Raises DiagnosticError for an unknown constant, and an adjacency that is no distance."""
        if parameter not in program.core.constants:
            note = f"the constants are {', '.join(sorted(program.core.constants)) or 'none'}"
            raise DiagnosticError(Diagnostic("E1208", f"there is no constant `{parameter}`", notes=(note,)))
        program.validate_numbers(parameter)
        self.program = program
        self.parameter = parameter
        self._adjacent = adjacent
        self._asked_least = least
        self._engine = engine
        self._progress = progress
        self._questions: dict[int, PrivacyQuestion] = {}
        adjacency = parse_adjacency(adjacent, program.core)
        if not isinstance(adjacency, Within):
            note = "give a distance such as --adjacent linf:1"
            raise DiagnosticError(
                Diagnostic("E1407", "pairs are listed, but the number of queries is left open", notes=(note,))
            )
        self._within = adjacency

    @cached_property
    def least(self) -> int:
        """The least number that is asked about: that of the first query, unless a greater one is."""
        low = 1 if isinstance(self._loop, str) else self._loop.low
        return low if self._asked_least is None else max(low, self._asked_least)

    @property
    def numbers(self) -> Numbers:
        """The numbers that the answer is about, as reports have them."""
        return Numbers(self.parameter, self.least)

    def decide(self, claim: PrivacyClaim) -> PrivacyReport:
        """PRIVATE is proved for every number at once; NOT_PRIVATE has a number, a pair, an output and an eps."""
        cost, reason = self.cost
        bound = None if cost is None else cost.supremum
        proved = bound is not None and bound <= claim.budget
        if not proved:
            for number in self._worth_trying(claim.budget):
                report = self.at(number).decide(claim)
                if report.verdict is PrivacyVerdict.NOT_PRIVATE:
                    return replace(report, numbers=replace(self.numbers, at=number))
            if cost is not None:
                reason = f"{cost.text(self.parameter)}*eps is proved, but no smaller budget is refuted"
        return PrivacyReport(
            self.program.name,
            str(self._within),
            "all real inputs",
            None,
            claim,
            PrivacyVerdict.PRIVATE if proved else PrivacyVerdict.UNDECIDED,
            None,
            None if proved else reason,
            0,
            cost.proof if proved and cost is not None else None,
            numbers=self.numbers,
        )

    def _worth_trying(self, budget: Fraction) -> Iterator[int]:
        """Numbers that may refute a budget: the least ones, and the first ones for which shifts cost more."""
        first = range(self.least, self.least + _SINGLY)
        yield from self._in_turn(first)
        cost, _ = self.cost
        later = range(first.stop, self.least + _MOST_SINGLY)
        costly = [number for number in later if cost is not None and cost.at(number) > budget]
        yield from self._in_turn(range(costly[0], min(costly[0] + _SINGLY, later.stop)) if costly else range(0))

    def constant(self, eps: GivenEps) -> Constant:
        """The least K that does for every number, or for each. What is refuted is so at one number, and, where the
        loop goes on alike, at all greater ones."""
        cost, reason = self.cost
        bound = None if cost is None else cost.supremum
        all_eps = read_claim(self.program, None, None, eps).intervals == (Interval.POSITIVE,)
        best: tuple[int, Fraction, Constant] | None = None
        since = 0
        attained = True
        constants: dict[int, Constant] = {}
        for number in self._in_turn(self._until(cost, bound)):
            constants[number] = constant = self.at(number).constant(eps)
            if constant.refuted_below is None:
                return replace(constant, numbers=replace(self.numbers, at=number, onwards=self._goes_on))
            exact = self._of_one_iteration(cost) if number == self.least and all_eps else None
            if exact is not None:
                each = None if exact.is_constant else exact.text(self.parameter)
                numbers = replace(self.numbers, at=number, onwards=self._goes_on, each=each, exact=True)
                bound = exact.supremum
                candidate = None if bound is None else constant.at
                return replace(constant, proved=bound, refuted_below=bound, at=candidate, reason=None, numbers=numbers)
            follows = number == self.least or number - 1 in constants
            attained = attained and follows and cost is not None and constant.refuted_below == cost.at(number)
            since += 1
            if best is None or constant.refuted_below > best[1]:
                best, since = (number, constant.refuted_below, constant), 0
            if best[1] == bound or (number >= self.least + _SINGLY - 1 and (cost is None or since >= _SETTLED)):
                break
            if cost is not None and bound is None and number >= self.least + _SINGLY - 1:
                break  # it grows without bound
        assert best is not None
        last = number
        number, refuted, most = best
        numbers = replace(self.numbers, at=number, onwards=self._goes_on)
        if bound == refuted:
            return replace(most, proved=bound, reason=None, numbers=numbers)
        large = any(each.upper is None for each in read_claim(self.program, None, None, eps).intervals)
        grows = self.refuted_from(constants) if large else ()
        each = None if cost is None or cost.is_constant else cost.text(self.parameter)
        if cost is not None:
            reason = "no smaller constant than the one proved is refuted"
        if attained:
            assert cost is not None, "it has a value"
            if _reaches(grows, cost.bounds, last):
                numbers = replace(numbers, each=each, exact=True)
                return replace(most, proved=None, refuted_below=None, at=None, reason=None, numbers=numbers)
            numbers = replace(numbers, attained=last)
            reason = f"for {self.parameter} > {last} no smaller constant is refuted"
        below = bounds_text(grows, self.parameter, last) if grows else None
        return replace(most, proved=bound, reason=reason, numbers=replace(numbers, each=each, below=below))

    def refuted_from(self, constants: Mapping[int, Constant]) -> tuple[LoopBound, ...]:
        """Functions that the constant is at least, from the greatest of these numbers on, and that grow: one, or one
        for each remainder; none where none are known."""
        loop, last = self._loop, max(constants)
        if isinstance(loop, str) or loop.single is None:
            return ()
        for period in range(1, BLOCK + 1):
            # One number for each remainder: the others are these and some blocks more.
            ends = range(last - period + 1, last + 1)
            growing = [
                [
                    bound
                    for candidate in self._worst(number, constants[number])
                    if (bound := lower_bound(loop.single, candidate, number, period)) is not None
                    and bound.supremum_from(last) is None
                ]
                for number in ends
                if number in constants
            ]
            if len(growing) < period or not all(growing):
                continue
            common = [bound for bound in growing[0] if all(bound in each for each in growing)]
            if common:
                return (LoopBound(_greatest_later(common, last)),)
            return tuple(
                [
                    LoopBound(_greatest_later(each, last), period, number % period)
                    for number, each in zip(ends, growing, strict=True)
                ]
            )
        return ()

    def _worst(self, number: int, constant: Constant) -> list[Candidate]:
        """What refutes as much as the constant's own candidate at infinity, some of it."""
        every = self.at(number).bounds().candidates
        least = constant.refuted_below
        return [
            candidate
            for candidate in every
            if not fraction_of(candidate.second)[0].is_zero()
            and exponent_of(candidate.first) - exponent_of(candidate.second) == least
        ][:_MOST_WORDS]

    def _of_one_iteration(self, cost: LoopCost | None) -> LoopCost | None:
        """The least constant for each number, as iterations are independent: the law for n of them is a product of n
        laws, each that of one iteration, so that the loss is the sum of the losses. Where one input differs it is that
        of one. By L1 several may move a little, and lose as much together: there a `cost` says that they do not. None
        where that is not known.

        Where all rates are multiples of one function of the number, one iteration is the program for the least number
        at another eps. Else its `cost` has to be attained whatever the rates are (see `LeastCosts`).
        """
        loop = self._loop
        if isinstance(loop, str) or isinstance(loop.paths, str) or not loop.paths.are_independent:
            return None
        first = self.at(self.least).constant(None)
        if self.least != loop.low or first.refuted_below is None:
            return None
        rates = {rate: rate_of_mark(loop.text.rates, rate) for path in loop.paths.all for _, rate in path.drawn}
        if not rates:
            return None
        count = ONE
        if self._within.distance is Distance.LINF:
            count = RationalFunction.number() + RationalFunction.constant(1 - loop.low)
        one = common_unit(list(rates.values()))
        if one is not None:
            each = (
                one
                / RationalFunction.constant(one.value_at(self.least))
                * RationalFunction.constant(first.refuted_below)
                * count
            )
            single = self._within.distance is Distance.HAMMING and self._within.radius == 1
            known = first.exact and (single or self._within.distance is Distance.LINF)
        else:
            assert loop.single is not None, "paths are those of a loop"
            each = self._attained_for_all_rates(loop.single.instance(loop.low)[0], rates) * count
            known = False
        exact = LoopCost.of([each], self.least, _OF_ONE)
        return exact if known or (cost is not None and cost.bounds == exact.bounds) else None

    def _attained_for_all_rates(self, program: Program, rates: Mapping[Fraction, RationalFunction]) -> RationalFunction:
        """What the constant of one iteration is at least, for every number; `program` has marks for its `rates`.

        A lower bound E(u', r) - Σ r·|x| of the constant at rates r, as in `LeastCosts`, is concave in r, and twice as
        great at twice the rates: so it is at least the sum of what it is at each rate alone, all others 0.
        """
        best = RationalFunction.constant(0)
        with suppress(Undecided):
            costs = LeastCosts(program)
            first = {mark: rate.value_at(self.least) for mark, rate in rates.items()}
            alone = [{mark: Fraction(mark == own) for mark in rates} for own in rates]
            known_ones = self.at(self.least).bounds().candidates[:_MOST_WORDS]
            for candidate in [_moved(each, by) for by in _ASIDE for each in known_ones]:
                here = costs.reaching(candidate, candidate.input, first, likely=True)
                there = [costs.reaching(candidate, candidate.adjacent, one, likely=False) for one in alone]
                known = [each.cost for each in there if each is not None]
                if here is None or len(known) < len(there):
                    continue
                bound = RationalFunction.constant(0)
                for cost, (mark, rate) in zip(known, rates.items(), strict=True):
                    bound += rate * RationalFunction.constant(cost - here.distances.get(mark, _ZERO))
                if bound.value_at(self.least) > best.value_at(self.least):
                    best = bound
        return best

    @property
    def _goes_on(self) -> bool:
        return not isinstance(self._loop, str) and self._loop.goes_on

    @cached_property
    def cost(self) -> tuple[LoopCost | None, str | None]:
        """What bounds the loss for each number, or why that is not known."""
        cost, reason = self._cost_of_shifts
        if cost is None and (of_one := self._of_one_iteration(None)) is not None:
            return of_one, None
        return cost, reason

    @cached_property
    def _cost_of_shifts(self) -> tuple[LoopCost | None, str | None]:
        """What shifts of the noises cost, or why that is not known."""
        loop = self._loop
        if isinstance(loop, str):
            return None, loop
        if self._within.distance is Distance.HAMMING:
            return None, GROWS
        try:
            if loop.text.rates is not None:
                loop.text.rates.require_positive(self.least, self.parameter)
            if loop.selection is not None:
                return self._cost_of_selection(loop.text, loop.selection), None
            if isinstance(loop.paths, str):
                return None, loop.paths
            of_one = extremum_cost(loop.paths, loop.text.rates, self._within, self.least)
            cost = loop_cost(loop.paths, loop.text.rates, self._within, self.least, self.program.limits)
            if of_one is not None and (cost is None or _is_less(of_one.supremum, cost.supremum)):
                cost = of_one
        except NotUniform as refused:
            return None, refused.reason
        except Undecided as undecided:
            return None, undecided.reason
        return cost, None if cost is not None else _NO_SHIFT

    def _cost_of_selection(self, text: LoopText, selection: SelectionLoop) -> LoopCost:
        """v is selected where X_v exceeds all others (see `selection_loop`): it still does when its noise alone is
        shifted by as much as the queries can move towards each other."""
        drawn = selection.drawn(text.instance(self.least + 2).core)
        if min(selection.scales) < 0 and not all(law.symmetric for law, _ in drawn):
            raise NotUniform("the program selects the least value with noise that is not symmetric")
        costs = [shift_cost(law, text.rates, rate) for law, rate in drawn]
        one, other = map(abs, selection.scales)
        box = self._within.distance is Distance.LINF
        # The first one against the others, another one against the first, and against others.
        apart = [
            (own, (mine + theirs if box else max(mine, theirs)) * self._within.radius)
            for own, mine, theirs in ((costs[0], one, other), (costs[1], other, one), (costs[1], other, other))
        ]
        return LoopCost.of((cost * RationalFunction.constant(far) for cost, far in apart), self.least)

    @cached_property
    def _loop(self) -> _Loop | str:
        """The program as one loop, or why it is none."""
        try:
            own = without_claim(LoopText.from_program(self.program, self.parameter))
            tree = of_open_inputs(own.tree, self.program)
            text, real = own.with_tree(tree).read(), tree == own.tree
            chosen = _selection(text)
            if chosen is not None:
                return _Loop.selecting(text, chosen, real=real)
            return _Loop.of(text, OneLoop.of(text))
        except (NotUniform, Undecided) as refused:
            return refused.reason

    def _until(self, cost: LoopCost | None, bound: Fraction | None) -> Sequence[int]:
        """Numbers to look at, one by one: the first few, the first one for which no plan costs less than the bound for
        all, at which a constant may settle, and those that follow the first few."""
        first = range(self.least, self.least + _SINGLY)
        if cost is not None and bound is not None:
            for number in range(self.least, self.least + _FARTHEST):
                if (cost.alone(number) or _ZERO) >= bound:
                    every = (*first, number, *range(first.stop, self.least + _MOST_SINGLY))
                    return list(dict.fromkeys(every))
        return range(self.least, self.least + _MOST_SINGLY)

    def _in_turn(self, numbers: Sequence[int]) -> Iterator[int]:
        for number in numbers:
            if self._progress is not None:
                self._progress(numbers.index(number), len(numbers))
            yield number

    def at(self, number: int) -> PrivacyQuestion:
        """The question for one number."""
        if number not in self._questions:
            program = self.program.with_constants({self.parameter: Fraction(number)})
            self._questions[number] = PrivacyQuestion(program, self._adjacent, "all", self._engine)
        return self._questions[number]


def _greatest_later(bounds: Sequence[RationalFunction], last: int) -> RationalFunction:
    return max(bounds, key=lambda bound: bound.value_at(last + 1_000))


def _reaches(grows: Sequence[LoopBound], bounds: Sequence[LoopBound], last: int) -> bool:
    """Whether some of what grows is as great as each of the bounds, for all numbers from the last one on."""
    if not grows:
        return False
    return all(
        any((more.ratio - bound.ratio).is_nonnegative_from(last) for more in grows if more.is_about(number))
        for number in range(lcm(*(each.modulus for each in (*grows, *bounds))))
        for bound in bounds
        if bound.is_about(number)
    )


def _moved(candidate: Candidate, by: Fraction) -> Candidate:
    """The candidate with its intervals of real outputs elsewhere; its functions are not those of these."""
    return replace(candidate, balls={name: (low + by, high + by) for name, (low, high) in candidate.balls.items()})


def _selection(text: LoopText) -> SelectionLoop | None:
    """The program as a selection loop of noisy values of its only array of real inputs; None where it is none."""
    try:
        selection = selected_from_inputs(text.tree, text.number, privacy=True)
    except NotUniform:
        return None
    inputs = [d for d in text.tree.declarations if isinstance(d, ast.VariableDecl) and d.role is ast.Role.INPUT]
    names = [declarator.name for declaration in inputs for declarator in declaration.declarators]
    real = all(declaration.type == ast.BaseTypeExpr(ast.BaseType.REAL) for declaration in inputs)
    return selection if names == [selection.array] and real else None


def check_privacy_for_all(
    program: ProgramGiven, parameter: str, adjacent: str, *, least: int | None = None, budget: str | None = None
) -> PrivacyReport:
    """Whether the program is private, with delta 0, for all adjacent real inputs and every value of the constant
    `parameter`, from the first index of its loop on, or from `least` on where that is greater.

    Raises DiagnosticError for an unknown constant, and for what cannot be read."""
    program = as_program(program)
    engine = Engine(program.measurer, program.limits)
    question = EveryNumber(program, parameter, least, adjacent, engine, None)
    return question.decide(read_claim(program, budget, None, None))


def _is_less(one: Fraction | None, other: Fraction | None) -> bool:
    """Whether a bound is less than another one; None is none."""
    return one is not None and (other is None or one < other)

"""Privacy for every number of queries: upper bounds by shifts of the noises, lower bounds at small numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import lcm

from dipc.algebra.exppoly import fraction_of
from dipc.algebra.limits import Undecided
from dipc.claims.claim import GivenEps
from dipc.decide.engine import Engine
from dipc.frozen import frozen
from dipc.program.clipped import EVERYTHING, clip
from dipc.program.program import Program, ProgramGiven, Progress, as_program
from dipc.questions.every_number import totals
from dipc.questions.every_number.bounded_queries import without_requires
from dipc.questions.every_number.in_number import ONE, RationalFunction, common_unit
from dipc.questions.every_number.normal_form import LoopText, rate_of_mark
from dipc.questions.every_number.uniform import NotUniform, SelectionLoop, grows_with, selected_from_inputs
from dipc.questions.privacy.adjacency import Distance, Neighborhood, every_input, parse_adjacency
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
)
from dipc.questions.privacy.onwards import BLOCK, LeastCosts, lower_bound
from dipc.questions.privacy.outcome import Numbers, PrivacyClaim, PrivacyReport, PrivacyVerdict, read_claim
from dipc.sign.interval import Interval
from dipc.text import ast
from dipc.text.ast import BaseType
from dipc.text.diagnostic import DiagnosticError, bad_input

#: The number of values tried one by one for a refutation, and the greatest number while the refuted constant grows.
_SINGLY, _MOST_SINGLY = 4, 16

#: The number of values whose plans are computed, to find the first one from which the constant may stay the same.
_FARTHEST = 48

_ZERO = Fraction(0)

#: The greatest number of words, outputs of a loop, tried for lower bounds at greater numbers.
_MOST_WORDS = 24

#: The distances by which intervals of real outputs are moved, so that outputs of other exits are outside.
_ASIDE = (_ZERO, Fraction(-1, 2), Fraction(1, 2))

#: The search for a lower bound ends when it is the same for this many numbers.
_SETTLED = 3

#: The reason for a proof for all values of the totals that a program reads.
OF_TOTALS = "the program reads its inputs through totals alone, and is private at all of their values"

_OF_ONE = "iterations are independent, and each loses as much as it does alone"
_NO_SHIFT = "on some path through the loop no shift of the noise makes up for every move of the inputs"


@frozen
class _Selection:
    """The program `text` as the selection `loop` of the greatest noisy query; `is_real` if all queries are real."""

    text: LoopText
    loop: SelectionLoop
    is_real: bool

    @property
    def low(self) -> int:
        """The m for one query."""
        assert isinstance(self.loop.first, ast.Number), "a selection begins at a given index"
        return int(self.loop.first.value) - self.text.number.beyond

    def cost(self, moves: Neighborhood, least: int) -> LoopCost:
        """Return an upper bound of the loss at inputs adjacent by `moves`, for every m >= `least`.

        The bound is the cost of shifting the noise of the selected value by as much as two queries can approach each
        other. After this shift, the same value is still the greatest.
        """
        drawn = self.loop.drawn(self.text.instance(least + 2).core)
        if min(self.loop.scales) < 0 and not all(law.symmetric for law, _ in drawn):
            raise NotUniform("the program selects the least value with noise that is not symmetric")
        costs = [shift_cost(law, self.text.rates, rate) for law, rate in drawn]
        one, other = map(abs, self.loop.scales)
        box = moves.distance is Distance.LINF
        # Compare the first value with the others, another value with the first, and two others.
        apart = [
            (own, (mine + theirs if box else max(mine, theirs)) * moves.radius)
            for own, mine, theirs in ((costs[0], one, other), (costs[1], other, one), (costs[1], other, other))
        ]
        return LoopCost.greatest((cost * RationalFunction.constant(far) for cost, far in apart), least)


class EveryNumber:
    """The privacy of a program for all adjacent real inputs and every m, the value of the constant `parameter`."""

    def __init__(
        self,
        program: Program,
        parameter: str,
        least: int | None,
        adjacent: str,
        engine: Engine,
        progress: Progress | None,
    ) -> None:
        if parameter not in program.core.constants:
            note = f"the constants are {', '.join(sorted(program.core.constants)) or 'none'}"
            raise bad_input("E1208", f"there is no constant `{parameter}`", note)
        program.validate_numbers(parameter)
        self.program = program
        requires = program.core.requires
        try:
            #: The program without its `requires`. A proof for all of its pairs is one for fewer pairs.
            self._at_all_inputs = without_requires(program, parameter)
        except NotUniform as refused:
            assert requires is not None, "a program is refused here only for its `requires`"
            notes = (refused.reason, "or give the constant a number")
            raise requires.unsupported(program.core.source, "`--for-all`", *notes) from None
        self.parameter = parameter
        self._adjacent = adjacent
        self._asked_least = least
        self._engine = engine
        self._progress = progress
        self._questions: dict[int, PrivacyQuestion] = {}
        adjacency = parse_adjacency(adjacent, program.core)
        if not isinstance(adjacency, Neighborhood):
            note = "give a distance such as --adjacent linf:1"
            raise bad_input("E1407", "pairs are listed, but the number of queries is left open", note)
        self._within = adjacency
        #: Sets of moves, each of which contains all moves to adjacent inputs.
        self._moves: tuple[Neighborhood, ...] = (adjacency,)

    @cached_property
    def least(self) -> int:
        """The least m that the question is about: the loop's first index, or a greater number that the user gave."""
        low = 1 if isinstance(self._loop, str) else self._loop.low
        return low if self._asked_least is None else max(low, self._asked_least)

    @property
    def numbers(self) -> Numbers:
        """The numbers of queries that the answer covers, in the form in which reports show them."""
        return Numbers(self.parameter, self.least)

    def decide(self, claim: PrivacyClaim) -> PrivacyReport:
        """Decide `claim` for every m.

        PRIVATE is proved for every m at once; NOT_PRIVATE has an m, a pair, an output and an eps.
        """
        cost = self.cost
        bound = None if isinstance(cost, str) else cost.supremum
        proved = bound is not None and bound <= claim.budget
        reduced = None if proved else self._of_totals
        if reduced is not None:
            # The law of the reduced program may not be known.
            with suppress(DiagnosticError, Undecided):
                report = reduced.decide(claim)
                if report.verdict is PrivacyVerdict.PRIVATE:
                    return replace(
                        report,
                        program=self.program.name,
                        adjacency=str(self._within),
                        about=self._subject,
                        proof=OF_TOTALS,
                        numbers=self.numbers,
                    )
        if not proved:
            for number in self._worth_trying(claim.budget):
                report = self.question_for(number).decide(claim)
                if report.verdict is PrivacyVerdict.NOT_PRIVATE:
                    return replace(report, numbers=replace(self.numbers, at=number))
        if isinstance(cost, str):
            reason, proof = cost, None
        else:
            reason, proof = f"{cost.text(self.parameter)}*eps is proved, but no smaller budget is refuted", cost.proof
        return PrivacyReport(
            self.program.name,
            str(self._within),
            self._subject,
            None,
            claim,
            PrivacyVerdict.PRIVATE if proved else PrivacyVerdict.UNDECIDED,
            None,
            None if proved else reason,
            0,
            proof if proved else None,
            numbers=self.numbers,
        )

    def _worth_trying(self, budget: Fraction) -> Iterator[int]:
        """Yield values of m that may refute a claim with this `budget`, a multiple of eps.

        These are the least values of m, and then the first ones for which the bound of the loss exceeds the budget.
        """
        first = range(self.least, self.least + _SINGLY)
        yield from self._in_turn(first)
        cost = self.cost
        later = range(first.stop, self.least + _MOST_SINGLY)
        costly = [number for number in later if isinstance(cost, LoopCost) and cost.value_at(number) > budget]
        yield from self._in_turn(range(costly[0], min(costly[0] + _SINGLY, later.stop)) if costly else range(0))

    def constant(self, eps: GivenEps) -> Constant:
        """Return the least K such that the program is K·eps-private for every m on the intervals of `eps`.

        K may be a function of m. A lower bound holds at one m, and at all greater ones if further iterations are like
        the first.
        """
        cost = self.cost if isinstance(self.cost, LoopCost) else None
        reason = self.cost if isinstance(self.cost, str) else "no smaller constant than the one proved is refuted"
        bound = None if cost is None else cost.supremum
        if cost is None and self._of_totals is not None:
            with suppress(DiagnosticError, Undecided):
                bound = self._of_totals.constant(eps).proved
        all_eps = read_claim(self.program, None, None, eps).intervals == (Interval.POSITIVE,)
        best: tuple[int, Fraction, Constant] | None = None
        since = 0
        attained = True
        constants: dict[int, Constant] = {}
        for number in self._in_turn(self._until(cost, bound)):
            constants[number] = constant = self.question_for(number).constant(eps)
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
            attained = attained and follows and cost is not None and constant.refuted_below == cost.value_at(number)
            since += 1
            if best is None or constant.refuted_below > best[1]:
                best, since = (number, constant.refuted_below, constant), 0
            if best[1] == bound or (number >= self.least + _SINGLY - 1 and (cost is None or since >= _SETTLED)):
                break
            if self._is_restricted and self._within.distance is Distance.HAMMING and number > self.least:
                break  # each further number takes many times longer
            if cost is not None and bound is None and number >= self.least + _SINGLY - 1:
                break  # the lower bound grows without limit
        assert best is not None
        last = number
        number, refuted, most = best
        numbers = replace(self.numbers, at=number, onwards=self._goes_on)
        if bound == refuted:
            return replace(most, proved=bound, reason=None, numbers=numbers)
        large = any(each.upper is None for each in read_claim(self.program, None, None, eps).intervals)
        grows = self.refuted_from(constants) if large else ()
        each = None if cost is None or cost.is_constant else cost.text(self.parameter)
        if attained:
            assert cost is not None, "the cost has a value at every number"
            if _reaches(grows, cost.bounds, last):
                numbers = replace(numbers, each=each, exact=True)
                return replace(most, proved=None, refuted_below=None, at=None, reason=None, numbers=numbers)
            numbers = replace(numbers, attained=last)
            reason = f"for {self.parameter} > {last} no smaller constant is refuted"
        below = bounds_text(grows, self.parameter, last) if grows else None
        return replace(most, proved=bound, reason=reason, numbers=replace(numbers, each=each, below=below))

    def refuted_from(self, constants: Mapping[int, Constant]) -> tuple[LoopBound, ...]:
        """Return lower bounds of the constant that grow with m, valid from the greatest key of `constants` on.

        `constants` has the constant for each m that was tried. The result is one function of m, or one for each
        remainder of m; it is empty if none are known.
        """
        loop, last = self._loop, max(constants)
        if not isinstance(loop, OneLoop) or self._is_restricted:
            return ()
        for period in range(1, BLOCK + 1):
            # One number for each remainder suffices: the others are these plus some blocks.
            ends = range(last - period + 1, last + 1)
            growing = [
                [
                    bound
                    for candidate in self._worst(number, constants[number])
                    if (bound := lower_bound(loop, candidate, number, period)) is not None
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
        """Return a few outputs at pairs of inputs, for m = `number`, that attain the lower bound of `constant`.

        For each of them, log(p/p')/eps tends to this lower bound as eps grows, where p and p' are the probabilities of
        the output at both inputs.
        """
        every = self.question_for(number).bounds().candidates
        least = constant.refuted_below
        return [
            candidate
            for candidate in every
            if not fraction_of(candidate.second)[0].is_zero()
            and exponent_of(candidate.first) - exponent_of(candidate.second) == least
        ][:_MOST_WORDS]

    def _of_one_iteration(self, cost: LoopCost | None) -> LoopCost | None:
        """Return the least constant K for each m, computed from one iteration; None if it is not known.

        Iterations have to be independent. The law of n iterations is then a product of n laws of one iteration, and
        their losses add up. If one input differs, the loss of the program is that of one iteration. For L1, several
        inputs may move a little each; then the upper bound `cost` must show that the sum of the losses is no greater.

        If all rates are multiples of one function of m, one iteration is the program for the least m at another eps.
        Otherwise `cost` has to be attained for all rates (see `LeastCosts`).
        """
        loop, paths = self._loop, self._paths
        if not isinstance(loop, OneLoop) or isinstance(paths, str) or self._is_restricted or not paths.are_independent:
            return None
        if grows_with(loop.text.program.core.source, loop.text.number):
            return None  # The inputs of the least number have fewer values than those of others.
        first = self.question_for(self.least).constant(None)
        if self.least != loop.low or first.refuted_below is None:
            return None
        rates = {rate: rate_of_mark(loop.text.rates, rate) for path in paths.all for _, rate in path.drawn}
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
            each = self._attained_for_all_rates(loop.text.instance(loop.low), rates) * count
            known = False
        exact = LoopCost.greatest([each], self.least, _OF_ONE)
        return exact if known or (cost is not None and cost.bounds == exact.bounds) else None

    def _attained_for_all_rates(self, program: Program, rates: Mapping[Fraction, RationalFunction]) -> RationalFunction:
        """Return a lower bound of the least K of one iteration, as a function of m.

        Each rate in `program` is a mark: a number that `rates` maps to a function of m. Let x be noises that reach an
        output at u. Let E(u', r) be the least cost, for the rates r, of noises that reach the output at the adjacent u'
        (see `LeastCosts`). Then E(u', r) - Σ r·|x| is a lower bound. E is concave in r, and E(u', c·r) = c·E(u', r) for
        c > 0. So E is at least the sum of its values with all rates but one set to 0.
        """
        best = RationalFunction.constant(0)
        with suppress(Undecided):
            costs = LeastCosts(program)
            first = {mark: rate.value_at(self.least) for mark, rate in rates.items()}
            alone = [{mark: Fraction(mark == own) for mark in rates} for own in rates]
            known_ones = self.question_for(self.least).bounds().candidates[:_MOST_WORDS]
            for by, each in product(_ASIDE, known_ones):
                balls = {name: (low + by, high + by) for name, (low, high) in each.balls.items()}
                candidate = replace(each, balls=balls)
                here = costs.reaching(candidate, candidate.input, first, likely=True)
                there = [costs.reaching(candidate, candidate.adjacent, one, likely=False) for one in alone]
                known = [reached.cost for reached in there if reached is not None]
                if here is None or len(known) < len(there):
                    continue
                bound = RationalFunction.constant(0)
                for cost, (mark, rate) in zip(known, rates.items(), strict=True):
                    bound += rate * RationalFunction.constant(cost - here.distances.get(mark, _ZERO))
                if bound.value_at(self.least) > best.value_at(self.least):
                    best = bound
        return best

    @cached_property
    def _of_totals(self) -> PrivacyQuestion | None:
        """The privacy question with one input for each total of the queries, or None if there is no such question.

        A total is a sum, minimum, maximum or count over queries. The program has to read its queries through totals
        only. The adjacent totals of the new question may differ by as much as adjacent queries can change them. So a
        claim about the totals holds for the queries, too.
        """
        reduced = totals.for_privacy(self._at_all_inputs, self.parameter, self._within)
        if reduced is None:
            return None
        program, radius = reduced
        return PrivacyQuestion(program, f"linf:{radius}", "all", self._engine)

    @property
    def _subject(self) -> str:
        requires = self.program.core.requires
        return every_input(self.program.core) + ("" if requires is None else f" that satisfy `{requires.shown}`")

    @property
    def _is_restricted(self) -> bool:
        """Whether `requires` restricts the inputs, so that pairs for one number need not extend to greater ones."""
        return self.program.core.requires is not None

    @property
    def _goes_on(self) -> bool:
        """Whether a claim that is refuted for some number of queries is refuted for every greater one.

        No rate may depend on the number, and the inputs must not be restricted by `requires`. In a loop, each output
        must belong to one query: the outputs of the first queries then have the same law for all numbers. A selection
        must be from real queries: the values of added queries may be as small as desired.
        """
        loop = self._loop
        if isinstance(loop, str) or loop.text.rates is not None or self._is_restricted:
            return False
        return loop.is_real if isinstance(loop, _Selection) else loop.repeats_outputs

    @cached_property
    def cost(self) -> LoopCost | str:
        """A bound of the loss as a function of m, or the reason why none is known."""
        cost = self._cost_of_shifts
        of_one = self._of_one_iteration(None) if isinstance(cost, str) else None
        return cost if of_one is None else of_one

    @cached_property
    def _cost_of_shifts(self) -> LoopCost | str:
        """An upper bound of the loss for every m, or the reason why no bound is known.

        The bound is the cost of shifting the noises so that they make up for the move of the inputs.
        """
        loop = self._loop
        if isinstance(loop, str):
            return loop
        best, *others = [self._cost_of_moves(loop, moves) for moves in self._moves]
        for found in others:
            if isinstance(best, str) or (isinstance(found, LoopCost) and found.is_less_than(best)):
                best = found if isinstance(found, LoopCost) else best
        return best

    def _cost_of_moves(self, loop: OneLoop | _Selection, moves: Neighborhood) -> LoopCost | str:
        """Return an upper bound of the loss of `loop` for every m, or the reason why no bound is known.

        The bound is the cost of shifting noises so that they make up for the move between inputs adjacent by `moves`.
        """
        if moves.distance is Distance.HAMMING:
            return GROWS
        rates = loop.text.rates
        try:
            if rates is not None:
                rates.require_positive(self.least, self.parameter)
            if isinstance(loop, _Selection):
                return loop.cost(moves, self.least)
            if isinstance(self._paths, str):
                return self._paths
            of_one = extremum_cost(self._paths, rates, moves, self.least)
            cost = loop_cost(self._paths, rates, moves, self.least, self.program.limits)
        except (NotUniform, Undecided) as refused:
            return refused.reason
        if of_one is not None and (cost is None or of_one.is_less_than(cost)):
            cost = of_one
        return cost or _NO_SHIFT

    @cached_property
    def _paths(self) -> LoopPaths | str:
        """All paths through an iteration of the loop, or the reason why not all of them are known."""
        if not isinstance(self._loop, OneLoop):
            return ""
        try:
            return self._loop.paths()
        except (NotUniform, Undecided) as refused:
            return refused.reason

    @cached_property
    def _loop(self) -> OneLoop | _Selection | str:
        """The program as one loop over its queries or as one selection, or the reason why it is neither."""
        own: LoopText | None = None
        for slot in self.program.core.input_slots:
            if slot.type is BaseType.INT:
                return (
                    f"`{slot.name}` is an int, and proofs for every {self.parameter} are about real and finite inputs: "
                    f"give the number, as in -D {self.parameter}=3"
                )
        try:
            given = LoopText.from_program(self._at_all_inputs, self.parameter, privacy=True)
            own = self._in_ranges(given)
            tree = of_open_inputs(own.tree, self._at_all_inputs)
            text, real = own.with_tree(tree).read(), tree == given.tree
            chosen = _selection(text)
            return OneLoop.read(text) if chosen is None else _Selection(text, chosen, real)
        except NotUniform as refused:
            return refused.reason if own is None else own.explained(refused).reason
        except Undecided as undecided:
            return undecided.reason

    def _in_ranges(self, text: LoopText) -> LoopText:
        """Return `text` with each clipped input limited to the range to which it is clipped.

        If all inputs are clipped, `_moves` is set to adjacencies, each of which includes all moves within the ranges.
        In such a move, no input moves farther than the greatest width of a range. Under HAMMING, the moves of all
        inputs add up to at most the radius times this width.
        """
        varying = (text.number.parameter, *text.number.others)
        known = {name: value for name, value in self.program.core.constants.items() if name not in varying}
        clipping = clip(text.tree, known, frozenset())
        if clipping is None:
            return text
        inputs = [d for d in text.tree.declarations if isinstance(d, ast.VariableDecl) and d.role is ast.Role.INPUT]
        names = [declarator.name for declaration in inputs for declarator in declaration.declarators]
        widths = [(clipping.ranges.get((name, None)) or EVERYTHING).width for name in names]
        finite = [width for width in widths if width is not None]
        radius, distance = self._within.radius, self._within.distance
        most = max(finite) if len(finite) == len(widths) else None
        if distance is Distance.LINF:
            self._moves = (Neighborhood(distance, radius if most is None else min(radius, most)),)
        elif most is not None:
            total = radius * most if distance is Distance.HAMMING else radius
            self._moves = (Neighborhood(Distance.L1, total), Neighborhood(Distance.LINF, min(total, most)))
        return text.with_tree(clipping.tree)

    def _until(self, cost: LoopCost | None, bound: Fraction | None) -> Sequence[int]:
        """Return the values of m to decide one by one, in order.

        The list has the first few values of m, then the least m for which the upper bound `cost` of the loss is at
        least `bound`, if both are known, and then a few more values.
        """
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

    def question_for(self, number: int) -> PrivacyQuestion:
        """Return the question about the program in which the constant has the value `number`.

        The question is kept for repeated calls.
        """
        if number not in self._questions:
            program = self.program.with_constants({self.parameter: Fraction(number)})
            self._questions[number] = PrivacyQuestion(program, self._adjacent, "all", self._engine)
        return self._questions[number]


def _greatest_later(bounds: Sequence[RationalFunction], last: int) -> RationalFunction:
    return max(bounds, key=lambda bound: bound.value_at(last + 1_000))


def _reaches(grows: Sequence[LoopBound], bounds: Sequence[LoopBound], last: int) -> bool:
    """Return True only if, for all m >= `last`, the greatest of `bounds` is at most the greatest of `grows`.

    Both are bounds of the loss as functions of m. The result is False if `grows` is empty.
    """
    if not grows:
        return False
    return all(
        any((more.ratio - bound.ratio).is_nonnegative_from(last) for more in grows if more.is_about(number))
        for number in range(lcm(*(each.modulus for each in (*grows, *bounds))))
        for bound in bounds
        if bound.is_about(number)
    )


def _selection(text: LoopText) -> SelectionLoop | None:
    """Return the program `text` as a selection among noisy values of its only array of real inputs.

    None if the program is not a selection of this kind.
    """
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
    """Decide privacy of `program` for all adjacent real inputs and every value of the constant `parameter`.

    The claim has delta 0. `adjacent` is linf:1, l1:1 or hamming:1. The values start at the first index of the loop, or
    at `least` if it is greater. `budget` is a multiple of eps, by default eps. Raises DiagnosticError for an unknown
    constant, and for options that cannot be read.
    """
    program = as_program(program)
    engine = Engine(program.measurer, program.limits)
    question = EveryNumber(program, parameter, least, adjacent, engine, None)
    return question.decide(read_claim(program, budget, None, None))

"""The weights of finite random choices in closed form, proved to be distributions for every eps > 0."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction

from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, Quotient, fraction_of, simplest, total
from dipc.algebra.limits import Limits, Meter, Undecided
from dipc.algebra.parametric import coefficient_sign
from dipc.chain.state import ChoiceWeight, ExponentialWeight, InputValue, NoiseWeight
from dipc.claims.expression import ClaimExpression
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.measure import measure
from dipc.sign.chart import decide_nonnegative, isolate_roots, number_text, place_text, refined, sign_at
from dipc.sign.interval import Interval
from dipc.sign.roots import Root
from dipc.text.ast import Binary, Expr
from dipc.text.core import SampleChoice
from dipc.text.diagnostic import Diagnostic, DiagnosticError, SourceText, Span
from dipc.text.expressions import FIX_EPS
from dipc.text.printer import language_text
from dipc.text.program import CoreProgram

# --- The weights of finite random choices in closed form --------------------------------------------------------------

#: The cost of one score of an exponential mechanism in each of its weights, including the work on their sum.
_STEPS_FOR_A_SCORE = 1_000


#: The most choices cached by the identity of their scores.
_REMEMBERED = 1_000


class Weights:
    """The weights of one program's choices as functions of eps, each computed once.

    They are probabilities at every eps of the question's intervals. For a program with a single eps `only_at`, a weight
    with a rational value at this eps is a number.
    """

    def __init__(
        self,
        source: SourceText,
        limits: Limits,
        only_at: Fraction | None = None,
        intervals: Sequence[Interval] = (Interval.POSITIVE,),
    ) -> None:
        self._source = source
        self._intervals_asked = intervals
        self._only_at = only_at
        self._limits = limits
        self._meter = Meter(limits)
        self._closed: dict[Expr, Closed] = {}
        #: By identity, which the expression kept here holds.
        self._seen: dict[int, tuple[Expr, Closed]] = {}
        self._intervals: dict[NoiseWeight, Closed] = {}
        self._exponentials: dict[tuple[Fraction, tuple[Fraction, ...]], ExponentialWeights] = {}
        #: By the identity of the scores kept here, which all weights of one choice share: hashing them takes longer.
        self._by_identity: dict[int, tuple[tuple[Fraction, ...], ExponentialWeights]] = {}
        self._zeros: dict[ChoiceWeight, tuple[Root, ...]] = {}

    def closed(self, weight: ChoiceWeight) -> Closed:
        """Return `weight` as a function of eps.

        Raises DiagnosticError if it is undefined for some eps > 0, Undecided if that is not decided within the limits.
        """
        if isinstance(weight, NoiseWeight):
            return self._interval(weight)
        assert not isinstance(weight, InputValue), "an input has a value before weights are computed"
        if isinstance(weight, ExponentialWeight):
            return self._exponential(weight.rate, weight.scores).weight(weight.scores[weight.index])
        # Every state at a `choose` has the same expressions, and hashing them costs more than everything else here.
        seen = self._seen.get(id(weight))
        if seen is not None:
            return seen[1]
        known = self._closed.get(weight)
        if known is None:
            known = self._closed[weight] = self._expression(weight)
        self._seen[id(weight)] = weight, known
        return known

    def _interval(self, weight: NoiseWeight) -> Closed:
        known = self._intervals.get(weight)
        if known is None:
            sides = [] if weight.low is None else [Halfspace(((0, Fraction(1)),), -weight.low)]
            sides += [] if weight.high is None else [Halfspace(((0, Fraction(-1)),), weight.high)]
            event = Event((Noise(weight.law, weight.rate, weight.mean),), tuple(sides))
            known = self._intervals[weight] = measure(event, self._limits)
        return known

    def _exponential(self, rate: Fraction, scores: tuple[Fraction, ...]) -> ExponentialWeights:
        _, known = self._by_identity.get(id(scores), (None, None))
        if known is None or known.rate != rate:
            known = self._exponentials.get((rate, scores))
            if known is None:
                known = self._exponentials[rate, scores] = ExponentialWeights(rate, scores, self._meter)
            if len(self._by_identity) >= _REMEMBERED:
                self._by_identity.clear()
            self._by_identity[id(scores)] = scores, known
        return known

    def possible(self, weight: ChoiceWeight) -> bool:
        # Weights of the exponential mechanism are positive, and each is as long as there are scores. Noise with full
        # support falls into every interval with positive probability.
        if isinstance(weight, NoiseWeight) and weight.law.is_positive and weight.law.least is None:
            return True
        return isinstance(weight, ExponentialWeight) or not self.closed(weight).is_zero()

    def zeros(self, weight: ChoiceWeight) -> tuple[Root, ...]:
        """Return all eps > 0 at which `weight` is 0, in small isolating intervals.

        The weight must be possible (not 0 for every eps) and nowhere negative. Raises Undecided past a limit.
        """
        known = self._zeros.get(weight)
        if known is None:
            if isinstance(weight, ExponentialWeight) or coefficient_sign(
                numerator := fraction_of(self.closed(weight))[0]
            ):
                known = ()
            else:
                roots = isolate_roots(numerator, Interval.POSITIVE, self._limits)
                known = tuple(refined(root, self._limits) for root in roots)
            self._zeros[weight] = known
        return known

    def negative_at(self, value: Closed) -> Fraction | None:
        """Return an eps of the question's intervals at which `value` is negative, or None.

        Raises Undecided.
        """
        numerator = fraction_of(value)[0]
        if all(c > 0 for _, _, c in numerator.terms()):
            return None
        for interval in self._intervals_asked:
            decision = decide_nonnegative(numerator, interval, self._limits)
            if decision.witness is not None:
                return decision.witness
        return None

    def _expression(self, tree: Expr) -> Closed:
        expression = ClaimExpression("a weight", self._source, tree)
        if self._only_at is not None:
            with suppress(DiagnosticError):
                number = expression.rational_at(self._only_at, {})
                if number is not None:
                    return ExpPoly.constant(number)
        form = expression.evaluate({})
        if form.denominator == 1:
            return form.numerator_flat()
        # No divisor has a zero, so their product has none: its sign at 1 is its sign everywhere.
        sign = sign_at(form.denominator, Fraction(1), self._limits)
        return simplest(Quotient(form.numerator_flat() * sign, form.denominator * sign))


class ExponentialWeights:
    """The weights of one exponential mechanism, exp(rate·eps·score) / Σ exp(rate·eps·score) over all scores.

    The denominator is computed once. Raises LimitReached if there are too many weights.
    """

    def __init__(self, rate: Fraction, scores: tuple[Fraction, ...], meter: Meter) -> None:
        self.rate = rate
        self.scores = scores
        self._meter = meter
        self._least = min(scores)
        self._share = Fraction(1, scores.count(self._least))
        #: Normalised as in quotients: its least term is 1.
        self._sum = ExpPoly.from_terms((0, rate * (score - self._least), self._share) for score in scores)
        self._weights: dict[Fraction, Closed] = {}

    def weight(self, score: Fraction) -> Closed:
        """Return the weight of one value with the score `score`."""
        known = self._weights.get(score)
        if known is None:
            self._meter.spend(_STEPS_FOR_A_SCORE * len(self.scores))
            # A single term has only units as divisors.
            above = ExpPoly.term(self._share, 0, self.rate * (score - self._least))
            known = self._weights[score] = simplest(Quotient.coprime(above, self._sum))
        return known


# --- Every `choose` of a program is a distribution for every eps > 0: proved before anything runs, or refused ---------

NEGATIVE = "E0312"
SUM = "E0313"

_ENOUGH = 20
_LONGEST_SUM = 60
_SUM_NOTE = "the weights of a `{}` must sum to 1 for every eps > 0: divide each by their sum, or mend one of them"
_FIX = f"where the weights are rational at one eps, {FIX_EPS}"
_RANGE = (
    "if the weights are probabilities only for some values of eps, ask about these values: "
    '`--eps "(0, 1)"`, `claim { eps: (0, 1); }`'
)


@frozen
class Choices:
    """The weights of a program's choices, if every `choose` was proved to be a distribution for every eps > 0.

    If a limit was reached before the proof, `undecided` has the reason, and no weights may be used.
    """

    weights: Weights
    undecided: Undecided | None = None

    def require_weights(self) -> Weights:
        """Return the weights; raise Undecided if they were not proved to be probabilities."""
        if self.undecided is not None:
            raise self.undecided.with_traceback(None)
        return self.weights


def check_choices(program: CoreProgram, limits: Limits) -> Choices:
    """Return the weights of the choices of `program`, proved within `limits` to be probabilities.

    Raises DiagnosticError with everything that is wrong with them.
    """
    point = program.only_at
    ranges = program.only_in or ((Interval.POSITIVE,) if point is None else (Interval(point, point, True, True),))
    weights = Weights(program.source, limits, program.only_at, ranges)
    diagnostics: list[Diagnostic] = []
    undecided: Undecided | None = None
    seen: set[tuple[Span, tuple[Expr, ...]]] = set()
    wrong: set[Span] = set()
    for instruction in program.instructions:
        if not isinstance(instruction, SampleChoice):
            continue
        key = instruction.span, tuple([weight for _, weight in instruction.arms])
        if key in seen:
            continue
        seen.add(key)
        try:
            mistakes = _mistakes(program, instruction, weights, limits)
            if instruction.span in wrong:
                continue  # the same `choose` for other values of the variables in its weights
            diagnostics += mistakes
            if mistakes:
                wrong.add(instruction.span)
        except Undecided as reached:
            undecided = undecided or reached.with_traceback(None)
        if len(diagnostics) >= _ENOUGH:
            break
    if diagnostics:
        raise DiagnosticError(*diagnostics)
    return Choices(weights, undecided)


def wrong_choices(program: CoreProgram, limits: Limits) -> dict[int, tuple[Expr, ...]]:
    """Return the labels of the choices of `program` whose weights are not a distribution, each with its weights.

    A choice whose weights are not examined within `limits` is left out.
    """
    point = program.only_at
    ranges = program.only_in or ((Interval.POSITIVE,) if point is None else (Interval(point, point, True, True),))
    weights = Weights(program.source, limits, point, ranges)
    known: dict[tuple[Expr, ...], bool] = {}
    result: dict[int, tuple[Expr, ...]] = {}
    for label, instruction in enumerate(program.instructions):
        if isinstance(instruction, SampleChoice):
            arms = tuple([weight for _, weight in instruction.arms])
            if arms not in known:
                known[arms] = False
                with suppress(Undecided):
                    known[arms] = bool(_mistakes(program, instruction, weights, limits))
            if known[arms]:
                result[label] = arms
    return result


def _mistakes(program: CoreProgram, choice: SampleChoice, weights: Weights, limits: Limits) -> list[Diagnostic]:
    arms = [weight for _, weight in choice.arms]
    diagnostics: list[Diagnostic] = []
    values: list[Closed] = []
    for arm in arms:
        try:
            value = weights.closed(arm)
        except DiagnosticError as error:
            diagnostics.extend(error.diagnostics)
            continue
        values.append(value)
        point = weights.negative_at(value)
        if point is not None:
            message = f"a weight is negative at eps = {point}"
            label = f"this is {_value_text(value, point)}"
            advice = (
                "a weight is a probability and must be at least 0 for every eps that is asked about",
                _RANGE,
                _FIX,
            )
            diagnostics.append(Diagnostic(NEGATIVE, message, program.source.excerpt(arm.span), label, advice))
    if len(values) < len(arms):
        return diagnostics
    whole = total(values)
    if whole != 1:
        point = _refuted(whole, program.only_at or Fraction(1))
        text = language_text(ClosedForm(whole))
        message = f"the weights sum to {text}" if len(text) <= _LONGEST_SUM else "the weights do not sum to 1"
        once = _sum_is_one(whole, limits)
        moves = isinstance(whole, Quotient) or any(power or exponent for power, exponent, _ in whole.terms())
        written = []
        if moves and not once:
            texts = [" ".join(program.source.text[arm.span.start : arm.span.end].split()) for arm in arms]
            first = f"({texts[0]})" if isinstance(arms[0], Binary) else texts[0]
            written = [f"for example `{first}/({' + '.join(texts)})` for the first"]
        drawn = "choose" if program.source.tree is None else "choice"
        notes = (*once, _SUM_NOTE.format(drawn), *written, *([_FIX] if once else []))
        label = f"at eps = {point} the weights sum to {_value_text(whole, point)}"
        diagnostics.append(Diagnostic(SUM, message, program.source.excerpt(choice.span), label, notes))
    return diagnostics


def _refuted(whole: Closed, point: Fraction) -> Fraction:
    """Return the first of the numbers `point`, point + 1, point + 2, … at which `whole`, a sum of weights, is not 1.

    Such a number exists, because `whole` equals 1 at finitely many eps only.
    """
    numerator = fraction_of(whole - 1)[0]
    while numerator.value_is_zero(point):
        point += 1
    return point


def _sum_is_one(whole: Closed, limits: Limits) -> list[str]:
    numerator = fraction_of(whole - 1)[0]
    try:
        roots = isolate_roots(numerator, Interval.POSITIVE, limits)
        if len(roots) == 1:
            return [f"they sum to 1 only {place_text(refined(roots[0], limits))}"]
    except Undecided:
        return []
    return [f"they sum to 1 only at {len(roots)} values of eps"] if roots else []


def _value_text(value: Closed, eps: Fraction) -> str:
    return number_text(*value.enclosure(eps, 30))

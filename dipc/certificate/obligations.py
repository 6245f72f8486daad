"""Obligations with their betas and denominators, each written once, with the proof of its verdict.

A beta may be the least of the greatest of several closed forms, as the checker reads it in the claim. For such a beta,
cells with rational ends say which of the closed forms suffices on which interval. Signs are proved by data of
`dipc.sign`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from math import ceil
from types import MappingProxyType
from typing import Any

from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, Quotient, fraction_of
from dipc.algebra.limits import DecisionBudget, LimitReached, Limits, OutsideFragment, Undecided
from dipc.algebra.parametric import coefficient_sign
from dipc.algebra.reals import Real
from dipc.certificate.data import NOT_EXPANDED, FunctionData, rational, ring_data
from dipc.certificate.events import enclosed_data
from dipc.decide.obligation import Decision, Verdict, decide
from dipc.decide.series import samples
from dipc.measure.event import Event, Noise
from dipc.measure.measure import Bound, Measurer
from dipc.measure.polyhedral import independent_parts
from dipc.noise.law import Measure
from dipc.sign.chart import Analysis, SignChart, SignDecision, analyze, decide_nonnegative, sign_chart
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm, PiecewiseForm, proved_quotient
from dipc.sign.polynomial import normal_form
from dipc.sign.roots import CoverPiece, FactorSign, Root, refine
from dipc.verifier import claims
from dipc.verifier.claims import Beta as Read
from dipc.verifier.claims import arguments_of
from dipc.verifier.functions import ONE, Ring, multiply_closed, read_ring
from dipc.verifier.functions import Closed as ReadClosed
from dipc.verifier.noise import Family, NoiseFamily, Normal
from dipc.verifier.normal import (
    MOST_KEPT,
    Cell,
    Enclosed,
    Hub,
    Probability,
    Stars,
    in_order,
    is_number,
    star_of,
    sum_of,
    tails_are_positive,
)
from dipc.verifier.obligations import fails_at, slacks
from dipc.verifier.reading import DERIVATION_ENDS, NotDerived, why_it_ends
from dipc.verifier.reading import Budget as Steps
from dipc.verifier.reals import Number, monomial
from dipc.verifier.syntax import Expr, read_expression

# --- Over normal noise: a sum over stars, and cells on each of which the checker's arithmetic shows the claim ---------

#: The accuracies in bits and numbers of terms that are tried, one after the other.
_SIZES = ((24, 16), (40, 24), (64, 40), (96, 64), (160, 100))

#: The eps from which tails are tried.
_STARTS = [Fraction(2) ** n for n in range(-20, 31)]

#: The greatest ratio of the lengths of an interval and a cell, and the most cells.
_SHORTEST, _MOST_CELLS = 1 << 30, 1_000

NO_CELLS = "the checker's precision is not enough for its Taylor polynomials"


def has_normal(bound: Bound) -> bool:
    """True if `bound` is about normal noise."""
    return any(_is_normal(noise) for share in bound.shares for event in share.events for noise in event.noises)


def _is_normal(noise: Noise) -> bool:
    return noise.law.measure is not Measure.CLOSED_FORM


def stars_of(bound: Bound, measurer: Measurer) -> Enclosed:
    """Return `bound` as the checker's sum Σ weight·Π Pr[star], in which a star is an event over connected noises.

    `measurer` measures factors without normal noise. Raises Undecided if `bound` has no such sum.
    """
    terms: list[tuple[Stars, ReadClosed]] = [((), _closed(ExpPoly.constant(bound.constant)))]
    budget = Steps()
    try:
        for share in bound.shares:
            weight = _closed(ExpPoly.ONE if share.weight is None else share.weight)
            stars: list[Hub] = []
            possible = True
            for event in share.conjunctions:
                numbers = [item for item in event.constraints if not item.coefficients]
                possible = possible and all(item.constant >= 0 for item in numbers)
                over_noises = tuple(item for item in event.constraints if item.coefficients)
                for component in independent_parts(Event(event.noises, over_noises)):
                    if any(map(_is_normal, component.noises)):
                        stars.append(_star(component))
                    else:
                        weight = multiply_closed(weight, _closed(measurer.measure(component)), budget)
            if possible:
                terms.append((in_order(stars), weight))
        value = sum_of(terms, budget)
    except DERIVATION_ENDS as error:
        raise OutsideFragment(why_it_ends(error)) from None
    if not isinstance(value, Enclosed) or any(below != ONE for _, below in value.terms.values()):
        raise OutsideFragment(
            "the probability must be a sum over Gaussian noise, with weights that have no denominators"
        )
    return value


def _closed(value: object) -> ReadClosed:
    if not isinstance(value, ExpPoly):
        raise OutsideFragment("a weight has a denominator")
    return read_ring(ring_data(value)), ONE


def closed_value(value: object) -> ReadClosed | None:
    """Convert `value` from a closed form of dipc to one of the checker.

    Return None if it has a denominator, or if it is not a closed form.
    """
    return _closed(value) if isinstance(value, ExpPoly) else None


def _star(event: Event) -> Hub:
    """Return `event`, whose noises are all connected, in the form in which the checker reads it: a tree of noises.

    Raises NotDerived if the event has no such form.
    """
    laws: list[tuple[NoiseFamily, Fraction]] = []
    for noise in event.noises:
        if not _is_normal(noise):
            laws.append((Family(str(noise.law.checker_name)), noise.rate))
            continue
        square = _square(noise.law.normal_unit)
        family = Normal(noise.law.fixed, Number(Fraction(1), square.powers), noise.law.whole)
        laws.append((family, noise.law.normal_variance(noise.rate) * square.factor))
    rows = []
    for item in event.constraints:
        scale = 1
        for _, c in item.coefficients:
            scale *= c.denominator
        d = scale * (item.constant + sum((c * event.noises[i].mean for i, c in item.coefficients), Fraction(0)))
        if item.strict and event.noises[0].law.whole:
            d = Fraction(ceil(d) - 1)
        rows.append((tuple((i, int(c * scale)) for i, c in item.coefficients), d))
    return star_of((tuple(laws), tuple(rows)))


@cache
def _square(unit: Real) -> Number:
    def plain(tree: Expr) -> tuple[Fraction, tuple[int, ...]]:
        number = claims.evaluate(tree, {}, Steps()).constant()
        if number is None:
            raise NotDerived("a deviation is not a number")
        return number, ()

    number, _ = monomial(read_expression(str(unit), Steps()), plain)
    return number * number


#: Taylor series on cells, which certificates of the two ends of a least number share.
_SERIES: dict[object, Any] = {}


@lru_cache(maxsize=100)
def shown_in_cells(
    totals: tuple[Enclosed, ...], intervals: tuple[Interval, ...], *, decided: bool = False
) -> tuple[list[int], list[list[str]]]:
    """Cut `intervals` of eps into cells on which the checker's enclosures show that each sum in `totals` is positive.

    Return ([accuracy, number of Taylor terms] with which the checker computes, the upper ends of the cells of each
    interval). Raises Undecided if no cells are found. `decided` states that no sum is negative. Otherwise the sums are
    first evaluated at sample values of eps, and a negative one raises Undecided at an early stage.
    """
    if len(_SERIES) >= MOST_KEPT:
        _SERIES.clear()
    budget = Steps(kept=_SERIES)
    left = [total for total in totals if total.terms]
    if not decided and any(_is_negative(total, eps, budget) for total in left for eps in samples(intervals)):
        raise OutsideFragment(NO_CELLS)
    try:
        for accuracy, terms in _SIZES:
            search = _Cells(left, accuracy, terms, budget)
            ends_of_cells = [search.ends(interval) if left else [] for interval in intervals]
            if None not in ends_of_cells:
                return [accuracy, terms], [ends for ends in ends_of_cells if ends is not None]
    except DERIVATION_ENDS as error:
        raise OutsideFragment(why_it_ends(error)) from None
    raise OutsideFragment(NO_CELLS)


def _is_negative(total: Enclosed, eps: Fraction, budget: Steps) -> bool:
    try:
        return Cell(eps, Fraction(0), 1, _SIZES[0][0], budget).enclosure(total)[1] < 0
    except DERIVATION_ENDS:
        return False


class _Cells:
    """A search that cuts an interval of eps into cells, on each of which given functions of eps are proved positive.

    One accuracy and one number of Taylor terms are used for all cells of a search.
    """

    def __init__(self, totals: Sequence[Enclosed], accuracy: int, terms: int, budget: Steps) -> None:
        self._totals = totals
        self._accuracy, self._terms, self._budget = accuracy, terms, budget

    def ends(self, interval: Interval) -> list[str] | None:
        if interval.is_point or all(map(is_number, self._totals)):
            return [] if self._hold(interval.lower or Fraction(1), Fraction(0), 1) else None
        upper = interval.upper
        ends: list[str] = []
        if upper is None:
            starts = (start for start in _STARTS if start > interval.lower)
            upper = next(
                (
                    start
                    for start in starts
                    if all(tails_are_positive(total, start, self._budget) for total in self._totals)
                ),
                None,
            )
            if upper is None:
                return None
            ends = ["inf"]
        position, width = interval.lower, upper - interval.lower
        least = width / _SHORTEST
        cells: list[str] = []
        while position < upper:
            width = min(width, upper - position)
            if self._hold(position + width / 2, width / 2, self._terms):
                position += width
                cells.append(rational(position))
                width *= 2
            else:
                width /= 2
            if width < least or len(cells) > _MOST_CELLS:
                return None
        return cells + ends

    def _hold(self, middle: Fraction, radius: Fraction, terms: int) -> bool:
        cell = Cell(middle, radius, terms, self._accuracy, self._budget)
        return all(map(cell.shows, self._totals))


# --- Obligations with their betas and denominators, each written once -------------------------------------------------


#: A minimum of maxima of closed forms: ((a, b), (c,)) is min(max(a, b), c).
Least = tuple[tuple[ClosedForm, ...], ...]


def least_of(read: claims.Least, intervals: Sequence[Interval]) -> Least | None:
    """Convert `read`, a beta as the checker represents it, to closed forms of dipc.

    The beta is a minimum of maxima of quotients. Return None if a denominator is not known to have the same sign
    everywhere on `intervals`.
    """
    result: list[tuple[ClosedForm, ...]] = []
    for group in read:
        arms: list[ClosedForm] = []
        for above, below in group:
            try:
                quotient = proved_quotient(_exact(above), _exact(below), intervals)
            except Undecided:
                return None
            if quotient is None:
                return None
            arms.append(ClosedForm(quotient))
        result.append(tuple(arms))
    return tuple(result)


def _exact(terms: Ring) -> ExpPoly:
    return ExpPoly.from_terms((k, q, c) for (k, q), c in terms.items())


def closed_form(value: ReadClosed) -> ClosedForm:
    """Convert `value`, a closed form of the checker with the denominator 1, to one of dipc."""
    above, below = value
    assert below == ONE, "the denominator is 1"
    return ClosedForm(_exact(above))


#: The most refinements of roots until the cells cover an interval, and the factor of each.
_ROUNDS = 4
_FACTOR = 1 << 20

#: A cell: the number of the function, the interval, and why the function is nonnegative there; None for 0.
Covered = tuple[int, Interval, SignDecision | None]

#: An end of a stretch; None for infinity.
_End = Fraction | None


def cover(functions: Sequence[Closed], interval: Interval, limits: Limits) -> list[Covered]:
    """Return cells that cover `interval`, on each of which one of `functions` is nonnegative.

    All denominators must be positive. Raises LimitReached if no cells are found within `limits`, for example for
    functions that change signs at the same irrational eps.
    """
    tops = [fraction_of(f)[0] for f in functions]
    if interval.is_point:
        return [_cell(tops, _nonnegative_at(tops, interval, limits), interval, limits)]
    charts = [None if top.is_zero() else sign_chart(top, interval, limits) for top in tops]
    roots = [() if chart is None else chart.roots for chart in charts]
    signs = [(1,) if chart is None else chart.signs for chart in charts]
    for _ in range(_ROUNDS):
        stretches = [_stretches(interval, *known) for known in zip(roots, signs, strict=True)]
        chosen = _greedy(interval, stretches)
        if chosen is not None:
            return [_cell(tops, position, interval.subinterval(low, high), limits) for position, low, high in chosen]
        roots = [tuple(refine(root, root.width / _FACTOR, limits) for root in known) for known in roots]
    raise _none()


def _stretches(interval: Interval, roots: Sequence[Root], signs: Sequence[int]) -> list[tuple[Fraction, _End]]:
    """Return parts (low, high) of `interval` on which a function with the given `roots` is nonnegative.

    `signs` has the function's sign before the first root, between two neighboring roots, and after the last one. An
    irrational root is only enclosed by two rationals: a part before it ends at the lower one, a part after it begins at
    the upper one.
    """
    result: list[tuple[Fraction, _End]] = []
    for gap, sign in enumerate(signs):
        if sign < 0:
            continue
        low = roots[gap - 1].upper if gap else interval.lower
        high = roots[gap].lower if gap < len(roots) else interval.upper
        if gap and signs[gap - 1] >= 0:
            low = result.pop()[0]
        result.append((low, high))
    return result


def _greedy(
    interval: Interval, stretches: Sequence[Sequence[tuple[Fraction, _End]]]
) -> list[tuple[int, Fraction, _End]] | None:
    result: list[tuple[int, Fraction, _End]] = []
    position = interval.lower
    while True:
        best: tuple[int, _End] | None = None
        for index, known in enumerate(stretches):
            for low, high in known:
                further = high is None or high > position
                if (
                    low <= position
                    and further
                    and (best is None or (best[1] is not None and (high is None or high > best[1])))
                ):
                    best = index, high
        if best is None:
            return None
        index, end = best
        result.append((index, position, end))
        if end is None or end == interval.upper:
            return result
        position = end


def _cell(tops: Sequence[ExpPoly], position: int, interval: Interval, limits: Limits) -> Covered:
    if tops[position].is_zero():
        return position, interval, None
    decision = decide_nonnegative(tops[position], interval, limits)
    if decision.witness is not None:
        raise _none()
    return position, interval, decision


def _nonnegative_at(tops: Sequence[ExpPoly], point: Interval, limits: Limits) -> int:
    for position, top in enumerate(tops):
        if top.is_zero() or decide_nonnegative(top, point, limits).witness is None:
            return position
    raise _none()


def _none() -> LimitReached:
    return LimitReached(
        None,
        "the intervals of eps could not be cut into cells on each of which one argument of a `max` in beta is enough",
    )


def factors_data(analysis: Analysis, chart: SignChart | None = None) -> list[dict[str, Any]]:
    """Return the factors of a function as JSON data, each with the proof of its sign on the interval of `analysis`.

    With a `chart`, the roots of different factors are enclosed in disjoint intervals.
    """
    form, interval = analysis.form, analysis.interval
    unit = ExpPoly.from_terms([(form.power, form.exponent, analysis.sign * form.factor)])
    data = [] if unit == 1 else [{"function": ring_data(unit), "multiplicity": 1, "evidence": None}]
    for factor, sign in zip(analysis.factors, analysis.signs, strict=True):
        function = ExpPoly.from_terms((k, -j * form.scale, c * form.scale**k) for j, k, c in factor.polynomial.terms)
        roots = () if chart is None else [root for root in chart.roots if root.polynomial == factor.polynomial]
        evidence = "even" if sign is None else _evidence(sign, form.scale, interval.upper, roots)
        data.append({"function": ring_data(function), "multiplicity": factor.multiplicity, "evidence": evidence})
    return data


def _evidence(
    sign: FactorSign, scale: Fraction, upper: Fraction | None, roots: Sequence[Root]
) -> list[dict[str, Any]] | None:
    """Return the proof of the signs of one function of eps, as JSON data: a list of pieces of its interval, in order.

    `sign` has the signs that were found on pieces of an interval of eps·`scale`. `roots` are enclosures of the
    function's roots in eps, which do not overlap. Each element of the list states the sign at the lower end of its
    piece. `upper` is the greatest eps, None for infinity. The result is None if the function has a rational root.
    """
    if sign.rational_root is not None:
        return None
    pieces: list[dict[str, Any]] = []
    if sign.zero is not None:
        end = sign.zero.bound / scale
        end = end if upper is None else min(end, upper)
        pieces.append({"method": "zero", "sign": sign.zero.sign, "to": rational(end), "order": sign.zero.power})
    known = iter(roots)
    for piece in sign.pieces:
        pieces += _pieces(piece, scale, next(known, None) if piece.crosses else None)
    if sign.infinity is not None:
        pieces.append({"method": "infinity", "sign": sign.infinity.sign})
    return pieces


def _pieces(piece: CoverPiece, scale: Fraction, root: Root | None) -> Iterable[dict[str, Any]]:
    """Yield the JSON data of `piece`, an interval of eps·`scale` on which one function is monotone or has no root.

    If the function has a root on `piece`, `root` may be an enclosure of this root in eps. Then `piece` is cut at the
    ends of the enclosure into up to three parts: before the root, around it, and after it.
    """
    bits = {"bits": max(0, piece.bits)}
    slope = {"slope": piece.slope, **bits}
    lower, upper = piece.lower / scale, piece.upper / scale
    if not piece.crosses:
        method, rest = ("slope", slope) if piece.slope else ("value", bits)
        yield {"method": method, "sign": piece.sign, "to": rational(upper), **rest}
        return
    ends = (lower, upper) if root is None else (root.lower, root.upper)
    if lower < ends[0]:
        yield {"method": "slope", "sign": piece.sign, "to": rational(ends[0]), **slope}
    yield {"method": "crossing", "sign": piece.sign, "to": rational(ends[1]), **bits}
    if ends[1] < upper:
        yield {"method": "slope", "sign": -piece.sign, "to": rational(upper), **slope}


def chart_data(interval: Interval, decision: SignDecision | None) -> list[dict[str, Any]] | None:
    """Return the factors that show where the decided function is negative on `interval`; None if they are unknown.

    `decision` is what was decided about the sign of the function on the interval.
    """
    if decision is None or decision.analysis is None:
        assert decision is None or interval.is_point
        return None
    return factors_data(decision.analysis, decision.chart)


def cell_data(argument: int, interval: Interval, decision: SignDecision | None) -> dict[str, Any]:
    """Return the JSON data of the cell `interval`, on which a function is proved to be nonnegative.

    The function has the index `argument` among those of the obligation, one for each argument of a `max` in beta.
    `decision` has the proof. The function 0 and a single eps need none: the checker finds their sign.
    """
    proof = None if decision is None or decision.witness is not None else decision.analysis
    factors = None if proof is None else factors_data(proof)
    upper = interval.upper
    return {"argument": argument, "to": "inf" if upper is None else rational(upper), "factors": factors}


def positive_proof(function: ExpPoly, limits: Limits, intervals: Sequence[Interval]) -> dict[str, Any]:
    """Return the JSON entry of the denominator `function`, with the proof that it is positive.

    It is proved for every eps or on `intervals`. If the work exceeds `limits`, the reason replaces the proof.
    """
    data: dict[str, Any] = {"function": ring_data(function)}
    if coefficient_sign(function) > 0:
        return data | {"proof": "coefficients"}
    try:
        everywhere = _analysis(function, Interval.POSITIVE, limits)
        if not everywhere.roots() or not intervals:
            assert everywhere.first_sign > 0
            assert not everywhere.roots()
            return data | {"proof": {"everywhere": factors_data(everywhere)}}
        each = [None if one.is_point else factors_data(_analysis(function, one, limits)) for one in intervals]
        return data | {"proof": {"intervals": each}}
    except Undecided as undecided:
        return data | {"proof": None, "reason": undecided.reason}


def _analysis(function: ExpPoly, interval: Interval, limits: Limits) -> Analysis:
    budget = DecisionBudget(limits)
    return analyze(normal_form(function, budget), interval, budget, skip_even=False)


IN_PIECES = "this beta is neither one closed form for every eps nor the min or max of several"

#: A certified beta: a closed form, a minimum of maxima of closed forms, a sum over stars, or its text alone.
Beta = ClosedForm | Least | Enclosed | str

Intervals = tuple[Interval, ...]

#: The decision on each interval; None for an interval without one.
Proof = Sequence[SignDecision | None]


class ObligationWriter:
    """A list of obligations and of the functions in them, each written once and then referred to by its index."""

    def __init__(self, functions: FunctionData, limits: Limits, intervals: Intervals = ()) -> None:
        """Start an empty list; if `intervals` are given, each obligation is about them.

        `functions` has the JSON data of functions, and `limits` bounds the work on proofs.
        """
        self._beta_data: list[dict[str, Any]] = []
        self._obligation_data: list[dict[str, Any]] = []
        self._probability_data: list[dict[str, Any]] = []
        self._functions = functions
        self._limits = limits
        self._intervals = intervals
        self._betas: dict[Beta, int] = {}
        self._obligations: dict[tuple[int, Beta, Intervals], int] = {}
        self._probabilities: dict[ClosedForm | Enclosed, int] = {}
        self._positive: dict[ExpPoly, dict[str, Any]] = {}

    def shared(self) -> dict[str, Any]:
        """Return the lists of probabilities, betas, functions and obligations, as fields of the certificate."""
        return {
            "obligations": self._obligation_data,
            "betas": self._beta_data,
            "probabilities": self._probability_data,
            "positive": list(self._positive.values()),
        }

    def probability(self, value: ClosedForm | Enclosed) -> int:
        """Return the index of `value`, a probability or a lower bound of one; append it if it is new."""
        known = self._probabilities.get(value)
        if known is None:
            known = self._probabilities[value] = len(self._probability_data)
            form = (
                {"value": self.closed(value.value)}
                if isinstance(value, ClosedForm)
                else {"stars": enclosed_data(value)}
            )
            self._probability_data.append(form)
        return known

    def beta(self, beta: Beta) -> int:
        """Return the index of `beta`; append it if it is new."""
        known = self._betas.get(beta)
        if known is None:
            known = self._betas[beta] = len(self._beta_data)
            data: dict[str, Any]
            match beta:
                case ClosedForm():
                    data = {"min": [self.closed(beta.value)]}
                case tuple():
                    arguments = ([self.closed(arm.value) for arm in arms] for arms in beta)
                    data = {"min": [data[0] if len(data) == 1 else {"max": data} for data in arguments]}
                case Enclosed():
                    data = {"stars": enclosed_data(beta)}
                case str():
                    data = {"reason": IN_PIECES}
            self._beta_data.append(data)
        return known

    def obligation(
        self,
        probability: ClosedForm | Enclosed,
        beta: Beta,
        intervals: Intervals,
        result: Decision,
        besides: Mapping[str, Any] = MappingProxyType({}),
        read: Read | None = None,
    ) -> int:
        """Return the index of the obligation `probability` >= 1 - `beta` on `intervals`; append it if it is new.

        `besides` are further fields, and `result` is the decision, whose proof is written. For a probability over
        normal noise, the proof uses `read`, which is this beta as the checker represents it.
        """
        number = self.probability(probability)
        key = (number, beta, intervals)
        known = self._obligations.get(key)
        if known is None:
            known = self._obligations[key] = len(self._obligation_data)
            data = {"probability": number, "beta": self.beta(beta), "verdict": str(result.verdict), **besides}
            if isinstance(probability, Enclosed):
                data |= _in_cells(probability, read, intervals, result)
            elif isinstance(beta, Enclosed):
                data |= _in_cells(closed_value(probability.value), beta, intervals, result)
            elif isinstance(beta, str):
                data |= {"reason": IN_PIECES}
            else:
                least = ((beta,),) if isinstance(beta, ClosedForm) else beta
                data |= self._proved(probability, least, intervals, result)
            self._obligation_data.append(data)
        return known

    def of_row(
        self,
        probability: ClosedForm | None,
        beta: Beta,
        intervals: Intervals,
        decision: Decision,
        *,
        vacuous: bool,
        nothing: bool,
    ) -> dict[str, Any]:
        """Return the JSON fields of a row for its obligation `probability` >= 1 - `beta` on `intervals`.

        `decision` has the proof. `probability` is None if it has no closed form. A `vacuous` row has no obligation.
        `nothing` says that beta is at least 1 on the intervals: the obligation is then 0 >= 1 - beta.
        """
        data: dict[str, Any] = {
            "probability": None if probability is None else self.probability(probability),
            "obligation": None,
            "verdict": str(decision.verdict),
        }
        if vacuous:
            data["vacuous"] = True
        elif nothing:
            zero = ClosedForm.convert(0)
            data["obligation"] = self.obligation(zero, beta, intervals, Decision(Verdict.ACCURATE, zero))
        elif probability is not None:
            data["obligation"] = self.obligation(probability, beta, intervals, decision)
        elif decision.verdict is not Verdict.UNDECIDED:
            data["open"] = NOT_EXPANDED
        if decision.reason is not None:
            data["reason"] = decision.reason
        return data

    def closed(self, value: Closed) -> Any:
        """Return the function `value` as JSON data, and list its denominator with a proof that it is positive."""
        if isinstance(value, Quotient) and value.denominator != 1 and value.denominator not in self._positive:
            self._positive[value.denominator] = positive_proof(value.denominator, self._limits, self._intervals)
        return self._functions.data(value)

    def _proof_of(self, probability: ClosedForm, beta: ClosedForm, intervals: Intervals, made: Decision) -> Proof:
        """Return the proof that `probability` >= 1 - `beta` on `intervals`, from the decision `made` if possible.

        If `made` is about a minimum of several functions, or if its proof was not kept, this inequality is decided
        anew. Raises LimitReached.
        """
        slack = fraction_of(probability.value + beta.value - 1)[0]
        proof = made.proof
        if proof is None or not all(one is None or [cell.numerator for cell in one.slacks] == [slack] for one in proof):
            proof = decide(probability, PiecewiseForm(beta.value), intervals, self._limits).proof
        assert proof is not None, "a decision that was made here has its proof"
        return [None if one is None else one.signs[0] for one in proof]

    def _proved(self, probability: ClosedForm, least: Least, intervals: Intervals, result: Decision) -> dict[str, Any]:
        if result.verdict is Verdict.UNDECIDED:
            return {"reason": result.reason or IN_PIECES}
        if result.verdict is Verdict.INACCURATE:
            return self._refuted(probability, least, intervals, result)
        try:
            return {"parts": [self._part(probability, arms, intervals, result) for arms in least]}
        except Undecided as undecided:
            return {"reason": undecided.reason}

    def _refuted(self, probability: ClosedForm, least: Least, intervals: Intervals, result: Decision) -> dict[str, Any]:
        assert result.counterexample is not None
        eps = result.counterexample.eps
        argument = min(range(len(least)), key=lambda index: max(arm.enclosure(eps) for arm in least[index]))
        data: dict[str, Any] = {"counterexample": {"argument": argument, "eps": rational(eps)}}
        if len(least) == len(least[0]) == 1:
            charts = list(map(chart_data, intervals, self._proof_of(probability, least[0][0], intervals, result)))
            function = self.closed(probability.value + least[0][0].value - 1)
            data["chart"] = {"function": function, "intervals": charts}
        return data

    def _part(
        self, probability: ClosedForm, arms: tuple[ClosedForm, ...], intervals: Intervals, result: Decision
    ) -> dict[str, Any]:
        slacks = [probability.value + arm.value - 1 for arm in arms]
        if len(arms) > 1:
            cells = [[cell_data(*cell) for cell in cover(slacks, whole, self._limits)] for whole in intervals]
        elif slacks[0] == 0:
            cells = [[cell_data(0, interval, None)] for interval in intervals]
        else:
            proof = self._proof_of(probability, arms[0], intervals, result)
            if None in proof:
                raise LimitReached(
                    None, "proving the claim for a single argument of the `min` takes more work than the verdict took"
                )
            cells = [[cell_data(0, *one)] for one in zip(intervals, proof, strict=True)]
        used = {cell["argument"] for interval in cells for cell in interval}
        functions = [self.closed(slack) if number in used else None for number, slack in enumerate(slacks)]
        return {"functions": functions, "cells": cells}


def _in_cells(value: Probability | None, beta: Read | None, intervals: Intervals, result: Decision) -> dict[str, Any]:
    """Return the evidence for the decision `result` that `value` >= 1 - `beta` on `intervals` of eps, as a JSON object.

    `value` is a probability over normal noises. The object has cells of eps on which the inequality is proved, or an
    eps at which it fails, or only the reason why there is no evidence.
    """
    totals = None if value is None else slacks(value, beta, Steps())
    if totals is None or value is None or beta is None:
        return {"reason": IN_PIECES}
    try:
        if result.verdict is Verdict.ACCURATE:
            # A single sum is that of the decision. Of several, one may be negative where another one suffices.
            sizes, cells = shown_in_cells(tuple(totals), intervals, decided=len(totals) == 1)
            return {"sizes": sizes, "cells": cells}
        if result.counterexample is not None:
            eps = result.counterexample.eps
            for argument, arms in enumerate(arguments_of(beta)):
                if fails_at(value, arms, eps, Steps()):
                    return {"counterexample": {"argument": argument, "eps": rational(eps)}}
    except Undecided as undecided:
        return {"reason": undecided.reason}
    except DERIVATION_ENDS as error:
        return {"reason": why_it_ends(error)}
    return {"reason": result.reason or NO_CELLS}


def certified(beta: BetaForm, read: Read | None, intervals: Intervals) -> Beta:
    """Return `beta` in the form that the certificate states: a closed form, sums over stars, or a minimum of maxima.

    `read` is the beta as the checker reads it in the claim, on `intervals` of eps. If the checker cannot read it, or a
    denominator may be 0, the text of `beta` is returned.
    """
    if read is None:
        return str(beta)
    if isinstance(read, Enclosed):
        return read
    if len(read) == len(read[0]) == 1 and beta.closed is not None:
        return beta.closed
    result = least_of(read, intervals)
    if result is None:
        return str(beta)
    return result[0][0] if len(result) == len(result[0]) == 1 else result

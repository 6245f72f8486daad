"""Obligations: Pr >= 1 - beta on all intervals of eps, or Pr < 1 - beta at one eps, as stated.

An accurate obligation is proved on cells that cover each interval, on which Pr + beta - 1 is nonnegative. If beta is a
`min`, this is proved for each argument. If an argument is a `max`, one of its arguments suffices on each cell, so that
no cell has to say which is the greatest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dipc.verifier import reading as read
from dipc.verifier.claims import Beta, Interval, arguments_of, same_beta
from dipc.verifier.functions import (
    ONE,
    Closed,
    Ring,
    add_closed,
    constant,
    equal_closed,
    read_closed,
    read_ring,
    subtract,
)
from dipc.verifier.normal import (
    MOST_BITS,
    Cell,
    Enclosed,
    Probability,
    is_number,
    read_enclosed,
    read_sizes,
    tails_are_positive,
    total_of,
)
from dipc.verifier.reading import Budget, Rejected, in_step
from dipc.verifier.signs import prove_chart, prove_nonnegative, sign_of_ring

VERDICTS = ("accurate", "inaccurate", "undecided")

#: The most cells of one interval, and the most arguments of a `min` or a `max`.
MOST_CELLS = 10_000
MOST_ARGUMENTS = 1_000

#: The bits with which sums over stars are first enclosed.
_FIRST_BITS = 64

_ZERO = Fraction(0)


def worst(verdicts: Collection[str]) -> str:
    """Return the overall verdict: inaccurate if one of `verdicts` is, else undecided if one is, else accurate."""
    return next((verdict for verdict in ("inaccurate", "undecided") if verdict in verdicts), "accurate")


@dataclass
class Tally:
    """The verdicts of the rows of a certificate, or of its classes of inputs, which are numbered from 1.

    `counts` has the number of all rows, of the rows with each verdict, and of the vacuous rows, about which nothing is
    claimed. `open` has (number, reason) for each row whose verdict has no proof.
    """

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("rows", *VERDICTS, "vacuous"), 0))
    open: list[tuple[int, str]] = field(default_factory=list)

    def add(self, verdict: str, missing: str | None, *, vacuous: bool = False) -> None:
        """Count a row with this `verdict`. `missing` is the reason why its proof is missing, or None.

        `vacuous` is true if nothing is claimed about the row.
        """
        self.counts["rows"] += 1
        self.counts[verdict] += 1
        self.counts["vacuous"] += vacuous
        if missing is not None and verdict != "undecided":
            self.open.append((self.counts["rows"], missing))

    def require(self, stated: object, what: str) -> None:
        """Raise Rejected unless `stated` is the overall verdict of all rows; `what` names the rows."""
        if not self.counts["rows"]:
            raise Rejected("the list is empty", what)
        overall = worst([verdict for verdict in VERDICTS if self.counts[verdict]])
        if stated != overall:
            raise Rejected(
                f"together, the verdicts of the {what} give `{overall}`, which is not the verdict stated", "verdict"
            )


@dataclass(frozen=True)
class Decided:
    """A checked obligation: `value` >= 1 - `beta` on `intervals`, with its verdict.

    `open` is the reason why the verdict has no proof, or None. If the obligation is refuted, `fails_at` is an eps at
    which it fails, and `charted` is true if the exact set of these eps is also proved.
    """

    value: Probability
    beta: Beta | None
    intervals: Sequence[Interval]
    verdict: str
    open: str | None
    charted: bool = False
    fails_at: Fraction | None = None

    def require(self, verdict: str, beta: Beta | None, budget: Budget) -> str | None:
        """Return the reason why the obligation has no proof, or None.

        Raises Rejected unless the obligation has this `verdict` and this `beta`. An obligation whose beta is not known
        has no proof. Charges its work to `budget`.
        """
        if self.verdict != verdict:
            raise Rejected(f"its obligation is {self.verdict}, not {verdict}")
        if self.beta is not None and (beta is None or not same_beta(self.beta, beta, budget)):
            raise Rejected("its beta differs from the claim")
        return self.open


def among(entries: Sequence[object]) -> read.Reader[int]:
    """Return a reader that reads an index of `entries`."""
    return lambda value: read.index(value, entries)


def end(value: object) -> Fraction | None:
    """Read the upper end of a cell from its JSON `value`; None is infinity."""
    return None if value == "inf" else read.rational(value)


# === what obligations refer to =================================================================


class Positive:
    """The denominators of a certificate, with the reason why a denominator was not proved to be positive.

    If the certificate has intervals of eps, a denominator need only be positive on them, otherwise for every eps > 0.
    """

    def __init__(self, value: object, budget: Budget, intervals: Sequence[Interval] = ()) -> None:
        self._open: dict[frozenset[tuple[tuple[int, Fraction], Fraction]], str | None] = {}
        for number, item in enumerate(read.items(value)):
            with in_step(f"denominator {number}"):
                function, proof, reason = read.fields(
                    item, {"function": read_ring, "proof": read.anything}, {"reason": read.text}
                )
                if proof is None:
                    self._open[frozenset(function.items())] = read.text(reason)
                    continue
                _require_positive(function, proof, intervals, budget)
                self._open[frozenset(function.items())] = None

    def why_open(self, function: Ring) -> str | None:
        """Return None if the denominator `function` was shown to be positive, otherwise the reason why not.

        Raises Rejected if the denominator is not listed.
        """
        if function == ONE:
            return None
        try:
            return self._open[frozenset(function.items())]
        except KeyError:
            raise Rejected("a denominator is missing from the list `positive`") from None

    def why_any_open(self, *functions: Closed) -> str | None:
        """Return None if the denominators of all `functions` were shown to be positive, otherwise a reason why not."""
        missing = next((why for _, below in functions if (why := self.why_open(below)) is not None), None)
        return None if missing is None else f"a denominator is not shown to be positive: {missing}"


def _require_positive(function: Ring, proof: object, intervals: Sequence[Interval], budget: Budget) -> None:
    """Raise Rejected unless `proof` shows that `function` is positive for every eps of `intervals`.

    The proof is either that all coefficients of the function are positive, or signs of its factors: for every eps > 0,
    or on each of `intervals`. Charges its work to `budget`.
    """
    if proof == "coefficients":
        if not function or any(c < 0 for c in function.values()):
            raise Rejected("the coefficients of the function are not all positive")
        return
    everywhere, each = read.fields(proof, {}, {"everywhere": read.items, "intervals": read.items})
    if (everywhere is None) == (each is None):
        raise Rejected("its proof must be for every eps, or for the intervals of the claim")
    if each is None:
        prove_nonnegative(everywhere, function, (_ZERO, None), budget, strictly=True)
        return
    if not intervals or len(each) != len(intervals):
        raise Rejected("it needs one proof for each interval of the claim")
    for interval, factors in zip(intervals, each, strict=True):
        for eps, belongs in ((interval.lower, interval.lower_closed), (interval.upper, interval.upper_closed)):
            if belongs and eps is not None and sign_of_ring(function, eps, budget) <= 0:
                raise Rejected(f"the function is not positive at eps = {eps}")
        if not interval.is_point:
            prove_nonnegative(factors, function, (interval.lower, interval.upper), budget, strictly=True)


@dataclass(frozen=True)
class Context:
    """The probabilities `values` and the `betas` to which obligations refer by index, and the intervals of eps.

    A beta is None if it has no form that can be certified. `positive` has the denominators.
    """

    values: Sequence[Probability]
    betas: Sequence[Beta | None]
    intervals: Sequence[Interval]
    positive: Positive


def read_context(data: Mapping[str, Any], intervals: Sequence[Interval], positive: Positive) -> Context:
    """Read the probabilities and betas of the document `data`, whose claim is about the eps in `intervals`.

    Their denominators must be listed in `positive`. Raises Rejected for malformed data.
    """

    def closed(value: object) -> Closed:
        one = read_closed(value)
        positive.why_open(one[1])
        return one

    def arms(value: object) -> tuple[Closed, ...]:
        if not isinstance(value, dict) or "max" not in value:
            return (closed(value),)
        ((one),) = read.fields(value, {"max": read.listed(closed, MOST_ARGUMENTS)})
        return tuple(one)

    def probability(value: object) -> Probability:
        one, stars = _the_one(read.fields(value, {}, {"value": closed, "stars": read_enclosed}), "it has one value")
        return one if stars is None else stars  # type: ignore[no-any-return]

    def beta(value: object) -> Beta | None:
        table: read.Table = {"min": read.listed(arms, MOST_ARGUMENTS), "stars": read_enclosed, "reason": read.text}
        least, stars, _ = _the_one(
            read.fields(value, {}, table), "beta must be a `min`, contain sums over stars, or be unknown"
        )
        if least is not None and not all([least, *least]):
            raise Rejected("a `min` or `max` must have arguments")
        return stars if least is None else tuple(least)

    values = read.listed(probability, step="probability")(data["probabilities"])
    return Context(values, read.listed(beta, step="beta")(data["betas"]), intervals, positive)


def _the_one(stated: list[Any], why: str) -> list[Any]:
    if sum(one is not None for one in stated) != 1:
        raise Rejected(why)
    return stated


# === obligations ===============================================================================


def check_obligations(value: object, context: Context, budget: Budget) -> list[Decided]:
    """Return all obligations of the JSON list `value`, checked, in `context`. Raises Rejected for a wrong one.

    Charges its work to `budget`.
    """
    return read.listed(lambda item: check_obligation(item, context, budget), step="obligation")(value)


#: The evidence of an obligation by its verdict and whether it contains normal noise. Others have a reason.
_EVIDENCE = {
    ("accurate", False): ({"parts"},),
    ("inaccurate", False): ({"counterexample"}, {"counterexample", "chart"}),
    ("accurate", True): ({"sizes", "cells"},),
    ("inaccurate", True): ({"counterexample"},),
}


def check_obligation(value: object, context: Context, budget: Budget) -> Decided:
    """Return the obligation with the JSON `value`, checked, in `context`.

    Charges its work to `budget`. Raises Rejected if the evidence does not prove the obligation.
    """
    table = {"probability": among(context.values), "beta": among(context.betas), "verdict": read.one_of(*VERDICTS)}
    evidence = {
        "parts": read.items,
        "counterexample": read.anything,
        "chart": read.anything,
        "sizes": read_sizes,
        "cells": read.items,
    }
    place, beta_place, verdict, reason, *stated = read.fields(value, table, {"reason": read.text, **evidence})
    probability, beta = context.values[place], context.betas[beta_place]
    decided = Decided(probability, beta, context.intervals, verdict, reason)
    has = {name for name, one in zip(evidence, stated, strict=True) if one is not None}
    if reason is not None:
        if has:
            raise Rejected("it has both a proof and a reason why there is none")
        return decided
    is_normal = isinstance(probability, Enclosed) or isinstance(beta, Enclosed)
    if has not in _EVIDENCE.get((verdict, is_normal), ()):
        raise Rejected(f"its evidence does not fit the verdict {verdict}")
    if beta is None:
        raise Rejected("its beta is not known, so nothing can be proved about it")
    arguments, counterexample, chart, sizes, cells = stated
    if cells is not None:
        _check_cells_of_stars(cells, slacks(probability, beta, budget), context.intervals, sizes, budget)
    if counterexample is not None:
        eps = _check_counterexample(counterexample, probability, beta, context.intervals, budget)
        decided = replace(decided, fails_at=eps)
    if isinstance(probability, Enclosed) or isinstance(beta, Enclosed):
        return decided
    if arguments is not None:
        return replace(decided, open=_check_parts(arguments, probability, beta, context, budget))
    charted = chart is not None and _check_chart(chart, probability, beta, context, budget)
    return replace(decided, charted=charted)


def _check_parts(
    items: Sequence[object], probability: Closed, least: Sequence[Sequence[Closed]], context: Context, budget: Budget
) -> str | None:
    """Check `probability` >= 1 - beta with the proofs `items`, one for each argument of the `min` in beta.

    `least` has the arguments, each a list of the arguments of a `max`. `context` has the intervals of eps, and the
    denominators that were shown to be positive. Return None, or the reason why another denominator is not shown to be
    positive. Charges its work to `budget`. Raises Rejected for a wrong proof.
    """
    if len(items) != len(least):
        raise Rejected(f"there are {len(items)} parts for the {len(least)} arguments of the `min`")
    missing = None
    for number, (entry, arms) in enumerate(zip(items, least, strict=True)):
        with in_step(f"argument {number}"):
            functions, cells = read.fields(
                entry, {"functions": read.listed(read.nullable(read_closed)), "cells": read.items}
            )
            if len(functions) != len(arms):
                raise Rejected(f"there are {len(functions)} functions for the {len(arms)} arguments of the `max`")
            for function, arm in zip(functions, arms, strict=True):
                if function is not None:
                    _require_slack(function, probability, arm, budget)
                    missing = context.positive.why_any_open(probability, arm, function) or missing
            if len(cells) != len(context.intervals):
                raise Rejected(f"there are {len(cells)} proofs for {len(context.intervals)} intervals of eps")
            for interval, each in zip(context.intervals, cells, strict=True):
                with in_step(f"interval {interval}"):
                    _check_cells(each, functions, interval, budget)
    return missing


def _check_cells(value: object, functions: Sequence[Closed | None], interval: Interval, budget: Budget) -> None:
    """Raise Rejected unless `value` proves that the maximum of `functions` is nonnegative on `interval`.

    `value` divides the interval into cells. For each cell it chooses one of the functions, and proves that this
    function is nonnegative on the cell, whose ends are included. Charges its work to `budget`.
    """
    table = {"argument": among(functions), "to": end, "factors": read.anything}
    position: Fraction | None = interval.lower
    cells = read.items(value, MOST_CELLS)
    for number, item in enumerate(cells, start=1):
        with in_step(f"cell {number}"):
            argument, to, factors = read.fields(item, table)
            function = functions[argument]
            if function is None:
                raise Rejected("its function is not stated")
            if interval.is_point:
                if sign_of_ring(function[0], interval.lower, budget) < 0:
                    raise Rejected("the function chosen from the `max` must not be negative in its cell")
            elif position is None or (to is not None and to <= position):
                raise Rejected("the end of the cell must be after its beginning")
            elif function[0]:
                prove_nonnegative(factors, function[0], (position, to), budget)
            position = to
    if not cells or position != interval.upper:
        raise Rejected("the cells must end where the interval ends")


def _check_chart(
    value: object, probability: Closed, least: Sequence[Sequence[Closed]], context: Context, budget: Budget
) -> bool:
    """Check the chart `value` of the eps where `probability` < 1 - beta; return True if it is proved on all intervals.

    The intervals are those of `context`, and `least` has the arguments of the `min` in beta. Charges its work to
    `budget`. Raises Rejected for a wrong chart.
    """
    function, charts = read.fields(value, {"function": read_closed, "intervals": read.items})
    if len(least) != 1 or len(least[0]) != 1 or len(charts) != len(context.intervals):
        raise Rejected("a chart is allowed only if beta has no `min` or `max`, and must cover each interval")
    _require_slack(function, probability, least[0][0], budget)
    complete = context.positive.why_any_open(probability, least[0][0], function) is None
    for interval, factors in zip(context.intervals, charts, strict=True):
        with in_step(f"chart, interval {interval}"):
            if not interval.is_point and factors is None:
                complete = False
            elif not interval.is_point:
                prove_chart(factors, function[0], (interval.lower, interval.upper), budget)
    return complete


def _require_slack(function: Closed, probability: Closed, beta: Closed, budget: Budget) -> None:
    above, below = add_closed(probability, beta, budget)
    if not equal_closed(function, (subtract(above, below), below), budget):
        raise Rejected("the function is not Pr + beta - 1")


# --- at one eps -----------------------------------------------------------------------------------------


def _check_counterexample(
    value: object, probability: Probability, beta: Beta, intervals: Sequence[Interval], budget: Budget
) -> Fraction:
    """Return the eps in `value`, at which `probability` < 1 - `beta` is shown.

    `beta` is a minimum of maxima: at this eps, the inequality holds for all arguments of one maximum. Charges its work
    to `budget`. Raises Rejected if the inequality is not shown, or if eps is outside `intervals`.
    """
    least = arguments_of(beta)
    with in_step("counterexample"):
        argument, eps = read.fields(value, {"argument": among(least), "eps": read.rational})
        if not any(eps in interval for interval in intervals):
            raise Rejected("its eps is outside the intervals of the claim")
        if not fails_at(probability, least[argument], eps, budget):
            raise Rejected("Pr is not shown to be less than 1 - beta at this eps")
        return eps  # type: ignore[no-any-return]


def fails_at(probability: Probability, arms: Sequence[Probability], eps: Fraction, budget: Budget) -> bool:
    """True if `probability` + a - 1 < 0 at this `eps` for each a in `arms`, the arguments of a `max`.

    A closed form is decided exactly. A sum over stars counts as negative only if an enclosure shows it. Charges its
    work to `budget`.
    """
    return all(_is_negative(_slack(probability, arm, budget), eps, budget) for arm in arms)


def _is_negative(total: Probability, eps: Fraction, budget: Budget) -> bool:
    if not isinstance(total, Enclosed):
        return sign_of_ring(total[0], eps, budget) * sign_of_ring(total[1], eps, budget) < 0
    bits = _FIRST_BITS
    while bits <= MOST_BITS:
        least, most = Cell(eps, _ZERO, 1, bits, budget).enclosure(total)
        if most < 0 or least >= 0:
            return most < 0
        bits *= 2
    return False


# === normal noise ==============================================================================


def _slack(probability: Probability, arm: Probability, budget: Budget) -> Probability:
    return total_of((probability, arm, (constant(-1), ONE)), budget)


def slacks(value: Probability, beta: Beta | None, budget: Budget) -> list[Enclosed] | None:
    """Return the functions `value` + `beta` - 1, one for each argument of the `min` in `beta`.

    Charges its work to `budget`. Return None if an argument is a `max`, or if `beta` is None.
    """
    if beta is None or any(len(arms) > 1 for arms in arguments_of(beta)):
        return None
    result = []
    for (arm,) in arguments_of(beta):
        slack = _slack(value, arm, budget)
        result.append(slack if isinstance(slack, Enclosed) else Enclosed({(): slack} if slack[0] else {}))
    return result


def _check_cells_of_stars(
    cells: Sequence[object],
    totals: Sequence[Enclosed] | None,
    intervals: Sequence[Interval],
    sizes: tuple[int, int],
    budget: Budget,
) -> None:
    if totals is None:
        raise Rejected("beta is not a `min` of functions, so no cells may be stated")
    if len(cells) != len(intervals):
        raise Rejected("it needs cells for each interval of eps")
    for interval, each in zip(intervals, cells, strict=True):
        with in_step(f"interval {interval}"):
            ends = read.listed(end, MOST_CELLS)(each)
            for total in totals:
                _prove_in_cells(total, interval, ends, sizes, budget)


def _prove_in_cells(
    total: Enclosed, interval: Interval, ends: Sequence[Fraction | None], sizes: tuple[int, int], budget: Budget
) -> None:
    """Raise Rejected unless `total` is positive on each cell of `interval`; the cells have the upper `ends`.

    If the last cell ends at infinity (None), bounds of tails prove it (lemma N4). `sizes` is (accuracy, number of terms
    of series). Charges its work to `budget`.
    """
    if not total.terms:
        if ends:
            raise Rejected("a function that is 0 must not have cells")
        return
    accuracy, terms = sizes
    if is_number(total) or interval.is_point:
        cell = Cell(interval.lower or Fraction(1), _ZERO, 1, accuracy, budget)
        if ends or not cell.shows(total):
            raise Rejected("the function is not shown to be positive at this end")
        return
    position = interval.lower
    for number, upper in enumerate(ends, start=1):
        with in_step(f"cell {number}"):
            if upper is None:
                if number < len(ends) or interval.upper is not None or not position:
                    raise Rejected(
                        "only the last cell of an unbounded interval may end at infinity, and it must not begin at 0"
                    )
                if not tails_are_positive(total, position, budget):
                    raise Rejected(
                        f"from eps = {position} on, the tails of the function do not show that it is positive"
                    )
                return
            if upper <= position:
                raise Rejected("the end of the cell must be after its beginning")
            cell = Cell((position + upper) / 2, (upper - position) / 2, terms, accuracy, budget)
            if not cell.shows(total):
                raise Rejected("the function is not shown to be positive")
            position = upper
    if position != interval.upper:
        raise Rejected("the cells must end where the interval ends")

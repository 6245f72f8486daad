"""Obligations: that each function is Pr + beta - 1, and that it is nonnegative, or negative somewhere, as stated."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from dipc.verifier.claims import Beta, Interval, Least
from dipc.verifier.functions import (
    ONE,
    Closed,
    Ring,
    add_closed,
    constant,
    height,
    multiply,
    read_closed,
    read_ring,
    subtract,
    times,
)
from dipc.verifier.normal import (
    MOST_BITS,
    Cell,
    Enclosed,
    Probability,
    Sum,
    at_zero,
    is_number,
    read_enclosed,
    read_sizes,
    tails_are_positive,
)
from dipc.verifier.reading import Budget, Rejected, items, optional_text, pair, rational, record, text
from dipc.verifier.signs import FORM, Range, prove_chart, prove_nonnegative, sign_of_ring

_STATED = ("function", "proofs", "counterexample", "charts")

VERDICTS = ("accurate", "inaccurate", "undecided")


def worst(verdicts: Collection[str]) -> str:
    """The verdict of all together."""
    return next((verdict for verdict in ("inaccurate", "undecided") if verdict in verdicts), "accurate")


@dataclass(frozen=True)
class Decided:
    """What was shown of one obligation. `open` says why nothing was, where that is so; `charted`: of a refuted one
    exactly where it fails was shown, too."""

    probability: int
    beta: int
    verdict: str
    open: str | None
    charted: bool = False


class Positive:
    """The denominators of a certificate that were shown to be positive for every eps > 0, or on the intervals that all
    of it is about, if there are such, and why others were not."""

    def __init__(self, value: object, budget: Budget, intervals: Sequence[Interval] = ()) -> None:
        self._open: dict[frozenset[tuple[tuple[int, Fraction], Fraction]], str | None] = {}
        for number, item in enumerate(items(value, "positive")):
            step = f"denominator {number}"
            entry = record(item, step, ("function", "proof"), ("reason",))
            function = read_ring(entry["function"], step)
            self._open[frozenset(function.items())] = self._shown(function, entry, intervals, budget, step)

    @staticmethod
    def _shown(
        function: Ring, entry: Mapping[str, Any], intervals: Sequence[Interval], budget: Budget, step: str
    ) -> str | None:
        proof = entry["proof"]
        if proof is None:
            return text(entry.get("reason"), step)
        if isinstance(proof, list):
            if not intervals or len(proof) != len(intervals):
                raise Rejected(step, "there is not one proof for each interval of the claim")
            for interval, part in zip(intervals, proof, strict=True):
                _check_positive(part, function, interval, budget, step)
            return None
        if proof == "coefficients":
            if not function or any(c < 0 for c in function.values()):
                raise Rejected(step, "its coefficients are not all positive")
            return None
        stated = record(proof, step, (*FORM, "evidence"))
        prove_nonnegative(stated, function, Range(Fraction(0), None), budget, step, strictly=True)
        return None

    def open(self, function: Ring, step: str) -> str | None:
        """None where the denominator was shown to be positive, else why not."""
        if function == ONE:
            return None
        try:
            return self._open[frozenset(function.items())]
        except KeyError:
            raise Rejected(step, "its denominator is not in the list `positive`") from None


@dataclass(frozen=True)
class Context:
    """What obligations refer to. A beta is the least of the greatest of some closed forms, None where it is not of
    this kind."""

    values: Sequence[Probability]
    betas: Sequence[Beta | None]
    intervals: Sequence[Interval]
    positive: Positive

    @cached_property
    def probabilities(self) -> Sequence[Closed]:
        """All of them as closed forms, which they are where sums over normal noises are not read."""
        found = [value for value in self.values if not isinstance(value, Enclosed)]
        assert len(found) == len(self.values), "no others were read"
        return found


def read_context(
    data: Mapping[str, Any], intervals: Sequence[Interval], positive: Positive, *, normal: bool = False
) -> Context:
    """The probabilities and betas of a certificate; sums over `normal` noises are read where they have a meaning."""
    values: list[Probability] = []
    for number, item in enumerate(items(data["probabilities"], "probabilities")):
        step = f"probability {number}"
        entry = record(item, step, (), ("value", "stars") if normal else ("value",))
        if len(entry) != 1:
            raise Rejected(step, "it has one value")
        if "stars" in entry:
            values.append(read_enclosed(entry["stars"], step))
            continue
        closed = read_closed(entry["value"], step)
        values.append(closed)
        positive.open(closed[1], step)
    betas = [_beta(item, f"beta {number}", positive) for number, item in enumerate(items(data["betas"], "betas"))]
    return Context(values, betas, intervals, positive)


def check_obligations(value: object, context: Context, budget: Budget) -> list[Decided]:
    """All obligations of a certificate, about its intervals of eps."""
    return [
        check_obligation(item, context, budget, f"obligation {number}")
        for number, item in enumerate(items(value, "obligations"))
    ]


def _beta(item: object, step: str, positive: Positive) -> Beta | None:
    entry = record(item, step, (), ("value", "min", "reason", "stars"))
    optional_text(entry.get("reason"), step)
    if "stars" in entry:
        return read_enclosed(record(entry, step, ("stars",))["stars"], step)
    if ("value" in entry) == ("min" in entry):
        raise Rejected(step, "it has either a `value` or is the `min` of some")
    if "value" in entry and entry["value"] is None:
        return None
    parts = [entry["value"]] if "value" in entry else items(entry["min"], step, 1_000)
    values = tuple(tuple(read_closed(arm, step) for arm in _arms(part, step)) for part in parts)
    if not values or not all(values):
        raise Rejected(step, "it is the `min` or the `max` of nothing")
    for part in values:
        for value in part:
            positive.open(value[1], step)
    return values


def _arms(part: object, step: str) -> Sequence[object]:
    """Of what an argument of a `min` is the greatest."""
    if isinstance(part, dict) and "max" in part:
        return items(record(part, step, ("max",))["max"], step, 1_000)
    return [part]


def check_obligation(value: object, context: Context, budget: Budget, step: str) -> Decided:
    """Re-derive one entry of `obligations`."""
    entry = record(value, step, ("probability", "beta", "verdict"), (*_STATED, "parts", "reason", "sizes", "cells"))
    at, beta_at = index(entry["probability"], context.values, step), index(entry["beta"], context.betas, step)
    verdict = entry["verdict"]
    if verdict not in VERDICTS:
        raise Rejected(step, f"the verdict is not one of {', '.join(VERDICTS)}")
    probability, least = context.values[at], context.betas[beta_at]
    if isinstance(probability, Enclosed) or isinstance(least, Enclosed):
        return Decided(at, beta_at, verdict, _check_enclosed(entry, probability, least, context, budget, step))
    reason = optional_text(entry.get("reason"), step)
    stated = {name: part for name, part in entry.items() if name in _STATED}
    if ("parts" in entry) == ("function" in entry) or entry.keys() & {"sizes", "cells"}:
        raise Rejected(step, "it has either a `function` or `parts`")
    if "parts" in entry:
        if least is None or stated or reason is not None or verdict == "undecided":
            raise Rejected(step, "it is stated in parts, and is not that of a `min`")
        missing = _check_parts(entry["parts"], probability, least, verdict, context, budget, step)
        return Decided(at, beta_at, verdict, missing)
    if entry["function"] is None:
        if stated.keys() - {"function"}:
            raise Rejected(step, "the function is missing, but a proof is stated")
        return Decided(at, beta_at, verdict, reason or "no proof is given")
    if least is None or len(least) != 1 or len(least[0]) != 1:
        raise Rejected(step, "beta is not one closed form, but a function is stated")
    if verdict == "undecided":
        record(stated, step, ("function",))
        _slack(stated["function"], probability, least[0][0], budget, step)
        return Decided(at, beta_at, verdict, reason or "no reason is given")
    if reason is not None:
        raise Rejected(step, f"a reason with the verdict {verdict}")
    missing, charted = _check_part(stated, probability, least[0][0], verdict, context, budget, step)
    return Decided(at, beta_at, verdict, missing, charted)


def _check_enclosed(
    entry: Mapping[str, Any], value: Probability, beta: Beta | None, context: Context, budget: Budget, step: str
) -> str | None:
    """Pr >= 1 - beta for a sum over normal noises: cell by cell, or refuted at one eps. Why it is not shown, if so."""
    always = ("probability", "beta", "verdict")
    verdict = entry["verdict"]
    if "reason" in entry:
        record(entry, step, (*always, "reason"))
        return optional_text(entry["reason"], step) or "no reason is given"
    totals = slacks(value, beta, budget)
    if totals is None:
        raise Rejected(step, "beta is not the least of some functions, but something is stated")
    if verdict == "accurate":
        record(entry, step, (*always, "sizes", "cells"))
        sizes, cells = read_sizes(entry["sizes"], step), items(entry["cells"], step)
        if len(cells) != len(context.intervals):
            raise Rejected(step, "there are not cells for each interval of eps")
        for interval, ends in zip(context.intervals, cells, strict=True):
            for total in totals:
                _prove_in_cells(total, interval, ends, sizes, budget, f"{step}, {interval}")
        return None
    record(entry, step, (*always, "sizes", "counterexample"))
    if verdict != "inaccurate":
        raise Rejected(step, "a counterexample is stated, and the verdict is another")
    accuracy, _ = read_sizes(entry["sizes"], step)
    stated = record(entry["counterexample"], f"{step}, counterexample", ("eps", "probability", "required"))
    eps = rational(stated["eps"], step)
    if not any(eps in interval for interval in context.intervals):
        raise Rejected(step, "eps is not in the intervals of the claim")
    arms = [beta] if isinstance(beta, Enclosed) else [arm for (arm,) in beta or ()]
    required = [Sum.of(arm, budget).opposite(budget).value for arm in arms]
    found, wanted = (
        _enclosure_of_one(stated[name], values, eps, accuracy, budget, f"{step}, counterexample, {name}")
        for name, values in (("probability", [value]), ("required", required))
    )
    if not found[1] < wanted[0]:
        raise Rejected(step, "the enclosures are not disjoint")
    return None


def _enclosure_of_one(
    stated: object, among: Sequence[Probability], eps: Fraction, accuracy: int, budget: Budget, step: str
) -> tuple[Fraction, Fraction]:
    """The stated ends, shown to enclose the value of one of the sums, in so many bits or more. Raises Rejected."""
    low, high = (rational(end, step) for end in pair(stated, step))
    for total in (each.at_numbers(budget) if isinstance(each, Enclosed) else each for each in among):
        if not isinstance(total, Enclosed):
            with suppress(Rejected):
                return _enclosure(stated, (total,), eps, budget, step)
            continue
        bits = accuracy
        while bits <= MOST_BITS:
            least, most = Cell(eps, Fraction(0), 1, bits, budget).enclosure(total)
            if low <= least and most <= high:
                return low, high
            if most < low or high < least:
                break
            bits *= 2
    raise Rejected(step, "the value is not shown to be in the enclosure")


def slacks(value: Probability, beta: Beta | None, budget: Budget) -> list[Enclosed] | None:
    """Pr + beta - 1, one for each argument of a beta that is the least of some functions; None for others."""
    if beta is None or (not isinstance(beta, Enclosed) and any(len(arms) > 1 for arms in beta)):
        return None
    result = []
    for arm in [beta] if isinstance(beta, Enclosed) else [arms[0] for arms in beta]:
        total = Sum()
        for part in (value, arm, (constant(-1), ONE)):
            total.include(part, budget)
        found = total.value
        result.append(found if isinstance(found, Enclosed) else Enclosed({(): found} if found[0] else {}))
    return result


#: Cells of one interval.
MOST_CELLS = 10_000


def _prove_in_cells(
    total: Enclosed, interval: Interval, stated: object, sizes: tuple[int, int], budget: Budget, step: str
) -> None:
    """Raises Rejected unless the sum is not negative on the interval, cell by cell: `stated` are their ends, the last
    `inf` where the tails decide from the one before on."""
    ends = items(stated, step, MOST_CELLS)
    if not total.terms:
        if ends:
            raise Rejected(step, "it is 0, and has no cells")
        return
    accuracy, terms = sizes
    if is_number(total) or interval.is_point:
        cell = Cell(interval.lower or Fraction(1), Fraction(0), 1, accuracy, budget)
        if ends or not cell.is_positive(total):
            raise Rejected(step, "it is not shown to be positive there")
        return
    position = interval.lower
    for number, end in enumerate(ends, start=1):
        if end == "inf":
            if number < len(ends) or interval.upper is not None or not position:
                raise Rejected(step, "tails are not looked at there")
            if not tails_are_positive(total, position, budget):
                raise Rejected(step, f"from {position} on its tails do not show that it is positive")
            return
        upper = rational(end, step)
        if upper <= position:
            raise Rejected(step, "a cell does not end after the one before")
        cell = Cell((position + upper) / 2, (upper - position) / 2, terms, accuracy, budget)
        touching = not position and at_zero(total) == 0
        if not (cell.is_positive_from_zero(total) if touching else cell.is_positive(total)):
            raise Rejected(f"{step}, cell {number}", "it is not shown to be positive")
        position = upper
    if position != interval.upper:
        raise Rejected(step, "the cells do not end where the interval does")


def _check_parts(
    value: object,
    probability: Closed,
    least: Least,
    verdict: str,
    context: Context,
    budget: Budget,
    step: str,
) -> str | None:
    """Pr >= 1 - min(...): for each argument, or refuted for one. The reason why it is not shown, if so."""
    parts = items(value, step)
    if verdict == "inaccurate":
        if len(parts) != 1:
            raise Rejected(step, "one argument of the `min` is refuted")
        stated = dict(record(parts[0], step, ("argument", "counterexample"), ("function",)))
        arms = least[index(stated.pop("argument"), least, step)]
        if len(arms) == 1:
            return _check_part(stated, probability, arms[0], verdict, context, budget, step)[0]
        record(stated, step, ("counterexample",))
        _check_counterexample(stated["counterexample"], probability, arms, context.intervals, budget, step)
        return None
    if len(parts) != len(least):
        raise Rejected(step, f"there are {len(parts)} parts for the {len(least)} arguments of the `min`")
    missing: str | None = None
    for number, (part, arms) in enumerate(zip(parts, least, strict=True)):
        here = f"{step}, argument {number}"
        if len(arms) == 1:
            stated = dict(record(part, here, ("function", "proofs")))
            missing = _check_part(stated, probability, arms[0], verdict, context, budget, here)[0] or missing
            continue
        covers = items(record(part, here, ("covers",))["covers"], here)
        if len(covers) != len(context.intervals):
            raise Rejected(here, f"there are {len(covers)} covers for {len(context.intervals)} intervals of eps")
        for interval, cover in zip(context.intervals, covers, strict=True):
            missing = _check_cover(cover, probability, arms, interval, context, budget, here) or missing
    return missing


def _check_cover(
    value: object,
    probability: Closed,
    arms: Sequence[Closed],
    interval: Interval,
    context: Context,
    budget: Budget,
    step: str,
) -> str | None:
    """Pr >= 1 - max(arms) on the interval: it is covered by cells, and on each of them one of the arms is enough. The
    reason why that is not shown, if so."""
    position: Fraction | None = interval.lower
    missing: str | None = None
    cells = items(value, step, 10_000)
    for number, item in enumerate(cells, start=1):
        here = f"{step}, cell {number}"
        cell = record(item, here, ("argument", "function", "proof"))
        arm = arms[index(cell["argument"], arms, here)]
        slack = _slack(cell["function"], probability, arm, budget, here)
        missing = _open_denominator((probability, arm, slack), context, here) or missing
        stated = record(cell["proof"], here, ("interval",), (*FORM, "evidence"))
        within = Interval.read(stated["interval"], here)
        if within.lower != position or (within.is_point and not interval.is_point):
            raise Rejected(here, "it does not begin where the one before ends, or is a point")
        if slack[0]:
            _check_interval(stated, slack[0], within, budget, here, charts=False)
        else:
            record(stated, here, ("interval",))
        position = within.upper
    if not cells or position != interval.upper:
        raise Rejected(step, "the cells do not end where the interval does")
    return missing


def _open_denominator(functions: Sequence[Closed], context: Context, step: str) -> str | None:
    """Why it is not shown that these functions have positive denominators, None where it is."""
    missing = next((why for _, below in functions if (why := context.positive.open(below, step))), None)
    return missing and f"a denominator is not shown to be positive: {missing}"


def _check_part(
    stated: Mapping[str, Any],
    probability: Closed,
    beta: Closed,
    verdict: str,
    context: Context,
    budget: Budget,
    step: str,
) -> tuple[str | None, bool]:
    """Pr >= 1 - beta, or that it is refuted. Why it is not shown, if so; and whether all eps where it fails are."""
    accurate = verdict == "accurate"
    record(stated, step, ("function", "proofs" if accurate else "counterexample"), () if accurate else ("charts",))
    slack = _slack(stated["function"], probability, beta, budget, step)
    missing = _open_denominator((probability, beta, slack), context, step)
    if accurate:
        _check_intervals(stated["proofs"], slack[0], context.intervals, budget, step, charts=False)
        return missing, False
    # At one eps the signs of the denominators are found there and then.
    _check_counterexample(stated["counterexample"], probability, (beta,), context.intervals, budget, step)
    if "charts" not in stated:
        return None, False
    charted = _check_intervals(stated["charts"], slack[0], context.intervals, budget, step, charts=True)
    return None, charted and missing is None


def _check_positive(value: object, function: Ring, interval: Interval, budget: Budget, step: str) -> None:
    """That the function is positive on the interval, those of its ends included that belong to it."""
    for end, belongs in ((interval.lower, interval.lower_closed), (interval.upper, interval.upper_closed)):
        if belongs and end is not None and sign_of_ring(function, end, budget, step) <= 0:
            raise Rejected(step, f"it is not positive at {end}")
    _check_interval(value, function, interval, budget, step, charts=False, strictly=True)


def index(value: object, among: Sequence[object], step: str) -> int:
    """A position in a list."""
    if type(value) is not int or not 0 <= value < len(among):
        raise Rejected(step, "it refers to an entry that is not there")
    return value


def _slack(value: object, probability: Closed, beta: Closed, budget: Budget, step: str) -> Closed:
    """The stated function, which is Pr + beta - 1."""
    slack = read_closed(value, step)
    whole = add_closed(probability, beta, budget, step)
    whole = (subtract(whole[0], whole[1]), whole[1])
    if multiply(slack[0], whole[1], budget, step) != multiply(whole[0], slack[1], budget, step):
        raise Rejected(step, "the function is not Pr + beta - 1")
    return slack


def _check_intervals(
    value: object, function: Ring, intervals: Sequence[Interval], budget: Budget, step: str, *, charts: bool
) -> bool:
    """That the function is nonnegative on all intervals; with `charts`, or as they say, but for what is left out: then
    the result is False."""
    proofs = items(value, step)
    if not function and not proofs:
        return True
    if len(proofs) != len(intervals):
        raise Rejected(step, f"there are {len(proofs)} proofs for {len(intervals)} intervals of eps")
    complete = True
    for interval, item in zip(intervals, proofs, strict=True):
        if item is None and charts:
            complete = False
            continue
        _check_interval(item, function, interval, budget, step, charts=charts)
    return complete


def _check_interval(
    value: object,
    function: Ring,
    interval: Interval,
    budget: Budget,
    step: str,
    *,
    charts: bool,
    strictly: bool = False,
) -> None:
    """That the function is not negative there, or `strictly` positive; with `charts` that it is as they say."""
    stated = record(value, step, ("interval",), (*FORM, "evidence", "roots", "signs"))
    if Interval.read(stated["interval"], step) != interval:
        raise Rejected(step, "a proof is about another interval than the claim")
    step = f"{step}, interval {stated['interval']}"
    if interval.is_point:
        record(value, step, ("interval",))
        if not charts and sign_of_ring(function, interval.lower, budget, step) < strictly:
            raise Rejected(step, "the function is negative there")
        return
    chart = ("roots", "signs") if charts and "signs" in stated else ()
    record(value, step, ("interval", *FORM, "evidence", *chart))
    within = Range(interval.lower, interval.upper)
    if chart:
        prove_chart(stated, function, within, budget, step)
    else:
        prove_nonnegative(stated, function, within, budget, step, strictly=strictly)


def _check_counterexample(
    value: object,
    probability: Closed,
    arms: Sequence[Closed],
    intervals: Sequence[Interval],
    budget: Budget,
    step: str,
) -> None:
    """That Pr < 1 - max(arms) at the stated eps."""
    step = f"{step}, counterexample"
    stated = record(value, step, ("eps", "probability", "required"))
    eps = rational(stated["eps"], step)
    if not any(eps in interval for interval in intervals):
        raise Rejected(step, "eps is not in the intervals of the claim")
    found = _enclosure(stated["probability"], (probability,), eps, budget, f"{step}, probability")
    required = [(subtract(below, above), below) for above, below in arms]
    wanted = _enclosure(stated["required"], required, eps, budget, f"{step}, required")
    if not found[1] < wanted[0]:
        raise Rejected(step, "the enclosures are not disjoint")


def _enclosure(
    value: object, functions: Sequence[Closed], eps: Fraction, budget: Budget, step: str
) -> tuple[Fraction, Fraction]:
    """The stated ends, shown to enclose the least of the functions' values."""
    low, high = (rational(end, step) for end in pair(value, step))
    numbers = sum(end.numerator.bit_length() + end.denominator.bit_length() for end in (low, high))
    for above, below in functions:
        budget.spend(len(above) + 2 * len(below), step, height(above) + height(below) + numbers)
    if any(sign_of_ring(below, eps, budget, step) <= 0 for _, below in functions):
        raise Rejected(step, "the denominator is not positive")
    if any(sign_of_ring(subtract(above, times(below, low)), eps, budget, step) < 0 for above, below in functions):
        raise Rejected(step, "the value is less than the enclosure")
    if all(sign_of_ring(subtract(times(below, high), above), eps, budget, step) < 0 for above, below in functions):
        raise Rejected(step, "the value is greater than the enclosure")
    return low, high

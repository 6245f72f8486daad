"""Implication between claims: bounds are compared on intervals of eps by the sign lemmas of `signs.py`.

The comparison needs no evidence. If halving cells does not decide it, the answer is `OPEN`, which is not a proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction

from dipc.verifier.claims import (
    DISTANCE,
    Beta,
    Claim,
    Form,
    Interval,
    NotOneForm,
    arguments_of,
    evaluate_least,
    finished_value,
    linear,
    mentions,
    never_grows,
    parsed,
    same_beta,
)
from dipc.verifier.classes import in_product
from dipc.verifier.functions import ONE, Closed, Ring, add_closed, positive_everywhere, times
from dipc.verifier.normal import Enclosed, Probability, complement, same
from dipc.verifier.obligations import fails_at
from dipc.verifier.reading import DERIVATION_ENDS, Budget, Rejected
from dipc.verifier.signs import Curve, prove_at_infinity, prove_near_zero, prove_sign


class Follows(StrEnum):
    """The answer to whether a claim follows from what was proved: YES, NO, or OPEN if that is not decided."""

    YES = "yes"
    NO = "no"
    OPEN = "open"


#: The most halvings of a cell of eps, and the bits with which the search for a sign starts.
_HALVINGS, _BITS = 14, 48

#: The probability 0, and the beta that it satisfies.
NOTHING: Closed = ({}, ONE)
CERTAIN: Closed = (ONE, ONE)

_POSITIVE = Interval(Fraction(0), None, lower_closed=False, upper_closed=False)


def together(answers: Iterator[Follows]) -> Follows:
    """Return NO if one of `answers` is NO, else OPEN if one is OPEN, else YES.

    Answers after a NO are not computed.
    """
    result = Follows.YES
    for answer in answers:
        if answer is Follows.NO:
            return answer
        result = result if answer is Follows.YES else answer
    return result


# === intervals =================================================================================


def united(intervals: Sequence[Interval]) -> list[Interval]:
    """Return the increasing `intervals` after joining those between which there is no gap."""
    result: list[Interval] = []
    for interval in intervals:
        last = result[-1] if result else None
        if last is not None and last.upper == interval.lower and (last.upper_closed or interval.lower_closed):
            result[-1] = replace(last, upper=interval.upper, upper_closed=interval.upper_closed)
        else:
            result.append(interval)
    return result


def is_within(asked: Sequence[Interval], proved: Sequence[Interval]) -> bool:
    """True if every eps of the intervals `asked` is in the intervals `proved`."""
    whole = united(proved)
    return all(any(_contains(outer, inner) for outer in whole) for inner in asked)


def _contains(outer: Interval, inner: Interval) -> bool:
    low = inner.lower > outer.lower or (inner.lower == outer.lower and outer.lower_closed >= inner.lower_closed)
    if outer.upper is None:
        return low
    if inner.upper is None:
        return False
    return low and (
        inner.upper < outer.upper or (inner.upper == outer.upper and outer.upper_closed >= inner.upper_closed)
    )


def samples(intervals: Sequence[Interval]) -> Iterator[Fraction]:
    """Yield rational eps that belong to `intervals`: closed ends, points next to both ends, and points between them."""
    for interval in intervals:
        low, high = interval.lower, interval.upper
        if high is None:
            yield from (low + Fraction(2) ** power for power in (0, 3, 6, 10, 14, 20, 30, -2, -6, -12, -20))
        elif low == high:
            yield low
        else:
            yield from (low + (high - low) * Fraction(step, 8) for step in (4, 7, 1, 6, 2))
            yield from (low + (high - low) / 2**20, high - (high - low) / 2**20)
        if interval.lower_closed:
            yield low
        if interval.upper_closed and high is not None:
            yield high


def seen_below_one(beta: Beta | None, intervals: Sequence[Interval], budget: Budget) -> bool:
    """True only if `beta` < 1 is shown at some sampled eps of `intervals`. False proves nothing.

    The caller treats the bound Pr >= 1 - `beta` as vacuous if the result is False. Charges its work to `budget`.
    """
    return beta is not None and any(
        fails_at(NOTHING, arms, eps, budget) for eps in samples(intervals) for arms in arguments_of(beta)
    )


# === bounds ====================================================================================


def is_at_least(asked: Beta | None, proved: Beta | None, intervals: Sequence[Interval], budget: Budget) -> Follows:
    """Return whether `asked` >= min(1, `proved`) at every eps of `intervals`; OPEN if one of the betas is None.

    If so, Pr >= 1 - `asked` follows from Pr >= 1 - `proved`. Charges its work to `budget`.
    """
    if asked is None or proved is None:
        return Follows.OPEN
    if same_beta(asked, proved, budget):
        return Follows.YES
    try:
        if any(_is_less(asked, proved, eps, budget) for eps in samples(intervals)):
            return Follows.NO
        return together(_cells(asked, proved, interval, budget) for interval in intervals)
    except DERIVATION_ENDS:
        return Follows.OPEN


def _is_less(asked: Beta, proved: Beta, eps: Fraction, budget: Budget) -> bool:
    """True only if `asked` < min(1, `proved`) at this `eps`.

    False means that `asked` is not less if both betas have closed forms. If a beta is known only by enclosures, as with
    erfc, False proves nothing. Charges its work to `budget`.
    """
    return any(
        fails_at(NOTHING, arms, eps, budget)
        and all(
            any(all(_is_below(arm, other, eps, budget) for arm in arms) for other in others)
            for others in arguments_of(proved)
        )
        for arms in arguments_of(asked)
    )


def _is_below(one: Probability, other: Probability, eps: Fraction, budget: Budget) -> bool:
    if isinstance(one, Enclosed) or isinstance(other, Enclosed):
        return fails_at(one, (complement(other, budget),), eps, budget)
    return fails_at(one, (_less(CERTAIN, other, budget),), eps, budget)


def _less(one: Closed, other: Closed, budget: Budget) -> Closed:
    return add_closed(one, (times(other[0], -1), other[1]), budget)


def _cells(asked: Beta, proved: Beta, interval: Interval, budget: Budget) -> Follows:
    if interval.is_point:
        return Follows.YES if _suffices_at(asked, proved, interval.lower, budget) else Follows.OPEN
    waiting: list[tuple[Fraction, Fraction | None, int]] = [(interval.lower, interval.upper, 0)]
    while waiting:
        low, high, halved = waiting.pop()
        if all(_arms_suffice(arms, proved, (low, high), budget) for arms in arguments_of(asked)):
            continue
        if halved >= _HALVINGS:
            return Follows.OPEN
        if high is None:
            middle = 4 * low or Fraction(1)
        else:
            middle = (low + high) / 2 if low else high / 4
        if _is_less(asked, proved, middle, budget):
            return Follows.NO
        waiting += [(low, middle, halved + 1), (middle, high, halved + 1)]
    return Follows.YES


def _suffices_at(asked: Beta, proved: Beta, eps: Fraction, budget: Budget) -> bool:
    """True only if `asked` >= min(1, `proved`) at this `eps`.

    False means that `asked` is less if both betas have closed forms. If a beta is known only by enclosures, as with
    erfc, False proves nothing. Charges its work to `budget`.
    """

    def is_not_below(one: Probability, other: Probability) -> bool:
        if isinstance(one, Enclosed) or isinstance(other, Enclosed):
            return same(one, other, budget) or _is_below(other, one, eps, budget)
        return not _is_below(one, other, eps, budget)

    bounds: list[Sequence[Probability]] = [(CERTAIN,), *arguments_of(proved)]
    return all(
        any(all(is_not_below(arm, one) for one in bound) for arm in arms for bound in bounds)
        for arms in arguments_of(asked)
    )


def _arms_suffice(
    arms: Sequence[Probability], proved: Beta, cell: tuple[Fraction, Fraction | None], budget: Budget
) -> bool:
    bounds: list[Sequence[Probability]] = [(CERTAIN,), *arguments_of(proved)]
    return any(all(_is_never_less(arm, bound, cell, budget) for bound in bounds_) for arm in arms for bounds_ in bounds)


def _is_never_less(
    one: Probability, other: Probability, cell: tuple[Fraction, Fraction | None], budget: Budget
) -> bool:
    if isinstance(one, Enclosed) or isinstance(other, Enclosed):
        return same(one, other, budget)
    above, below = _less(one, other, budget)
    if below != ONE and not positive_everywhere(below, budget):
        return False
    return is_nonnegative_on(above, cell, budget)


def is_nonnegative_on(function: Ring, cell: tuple[Fraction, Fraction | None], budget: Budget) -> bool:
    """True only if `function` is at least 0 on `cell`, given by its ends (None: infinity). False proves nothing.

    Charges its work to `budget`.
    """
    if not function or all(c > 0 for c in function.values()) or positive_everywhere(function, budget):
        return True
    low, high = cell
    curve = Curve.from_ring(function, budget)
    with suppress(Rejected):
        if high is None:
            if low:
                prove_at_infinity(curve, low * curve.scale, 1, budget)
                return True
        elif low:
            prove_sign(curve, low * curve.scale, high * curve.scale, 1, _BITS, budget)
            return True
        else:
            return any(_positive_next_to_zero(curve, order, high, budget) for order in range(4))
    return False


def _positive_next_to_zero(curve: Curve, order: int, high: Fraction, budget: Budget) -> bool:
    try:
        prove_near_zero(curve, order, high * curve.scale, 1, budget)
    except Rejected:
        return False
    return True


# === claims about every input ======================================================================


def claim_follows(asked: Claim, proved: Claim, open_constants: Mapping[str, Fraction], budget: Budget) -> Follows:
    """Return whether the claim `asked` follows from the claim `proved`, where both are about every real and int input.

    `open_constants` maps each constant that both leave open to its least value. The answer is OPEN if no implication is
    proved or refuted. Charges its work to `budget`.
    """
    if not is_within(asked.intervals, proved.intervals):
        return Follows.NO
    try:
        return _follows(asked, proved, open_constants, budget)
    except (NotOneForm, *DERIVATION_ENDS):
        return Follows.OPEN


def _follows(asked: Claim, proved: Claim, open_constants: Mapping[str, Fraction], budget: Budget) -> Follows:
    texts = [(str(one.alpha or "0"), str(one.beta), str(one.gamma or "0")) for one in (asked, proved)]
    if all(mine == its or parsed(mine, budget) == parsed(its, budget) for mine, its in zip(*texts, strict=True)):
        return Follows.YES
    (alpha, beta, gamma), (own_alpha, own_beta, own_gamma) = texts
    constants = {name: Form.number(value) for name, value in proved.constants.items()}
    constants |= {name: Form.unknown(name, least) for name, least in open_constants.items()}
    if gamma == "free" and own_gamma != "free":
        return Follows.NO
    is_free = own_gamma == "free"
    far = Form.unknown(DISTANCE)
    if own_alpha != "dd" and alpha == "dd" and evaluate_number(own_alpha, constants, budget) != 0:
        return Follows.NO
    if alpha == "dd":
        names = {**constants, "alpha": far, "dd": far}
        # For alpha = 0, one beta is proved for all distances.
        own_names = names if own_alpha == "dd" else {**names, "alpha": Form.number(Fraction(0))}
    else:
        least = evaluate_number(alpha, constants, budget)
        names = {**constants, "alpha": Form.number(least)}
        if own_alpha == "dd":
            distances = ["alpha", "dd"]
            # Where gamma grows with the distance, inputs that are farther away have a greater gamma.
            grows = any(mentions(own_gamma, name) for name in distances)
            if grows or not never_grows(own_beta, distances, proved.constants, budget):
                return Follows.OPEN
            own_names = {**names, "dd": Form.number(least)}
        else:
            own_least = evaluate_number(own_alpha, constants, budget)
            starts_there = proved.is_near({}, own_least, own_least) and not asked.is_near({}, least, least)
            if least < own_least or (least == own_least and starts_there):
                return Follows.NO
            own_names = {**constants, "alpha": Form.number(own_least)}
    if is_free and gamma == "free":
        names = {**names, "gamma": Form.unknown("gamma")}
        own_names = {**own_names, "gamma": Form.unknown("gamma")}
    else:
        base, rate = linear(gamma, names, asked.one_eps, budget)
        own_base, own_rate = (base, rate) if is_free else linear(own_gamma, own_names, proved.one_eps, budget)
        if base < own_base or rate < own_rate:
            return Follows.NO
        names = {**names, "gamma": Form.unknown(DISTANCE, base, rate) if rate else Form.number(base)}
        own_names = {
            **own_names,
            "gamma": Form.unknown(DISTANCE, own_base, own_rate) if own_rate else Form.number(own_base),
        }
    values = evaluate_least(beta, names, budget), evaluate_least(own_beta, own_names, budget)
    if values[0] == values[1]:
        return Follows.YES
    forms = [form for value in values for arms in value for form in arms]
    unknown = {name for form in forms for growth in form.numerator for name, _, _ in growth}
    if len(unknown) <= 1:
        # Functions of A·eps are compared only if A is one number in both.
        finished, intervals = (in_product, (_POSITIVE,)) if unknown else (Form.limit, asked.intervals)
        betas = [finished_value(value, finished) for value in values]
        if None not in betas:
            return is_at_least(betas[0], betas[1], intervals, budget)
    return _at_some_distances((beta, names), (own_beta, own_names), asked.intervals, budget)


def evaluate_number(expression: str, names: Mapping[str, Form], budget: Budget) -> Fraction:
    """Return the value of `expression`, with values of names in `names`. Raises NotOneForm if it contains eps.

    Charges its work to `budget`.
    """
    value = evaluate_least(expression, names, budget)
    number = value[0][0].constant() if len(value) == len(value[0]) == 1 else None
    if number is None:
        raise NotOneForm
    return number


def _at_some_distances(
    asked: tuple[str, Mapping[str, Form]],
    proved: tuple[str, Mapping[str, Form]],
    intervals: Sequence[Interval],
    budget: Budget,
) -> Follows:
    """Return NO if the bound `asked` is shown to be below the bound `proved` at some distance and eps, else OPEN.

    Each bound is a pair (expression, values of the names in it), where values may depend on the distance that a claim
    leaves open. Four distances, from 1/8 to 64, are tried with sampled eps of `intervals`. Charges its work to
    `budget`.
    """
    for distance in (Fraction(1), Fraction(8), Fraction(64), Fraction(1, 8)):
        betas = []
        for expression, names in (asked, proved):
            fixed = {name: _form_at(form, distance) for name, form in names.items()}
            betas.append(finished_value(evaluate_least(expression, fixed, budget), Form.limit))
        if is_at_least(betas[0], betas[1], intervals, budget) is Follows.NO:
            return Follows.NO
    return Follows.OPEN


def _form_at(form: Form, distance: Fraction) -> Form:
    total = Fraction(0)
    for growth, ring in form.numerator.items():
        (c,) = ring.values()
        total += c * distance ** len(growth)
    return Form.number(total)

"""Claims for every number of queries: small numbers by their classes, all others by a union bound.

For every m >= start each run has one of some sums of terms as a bound of its error: at most the probability of
fixed + (m - once)·repeated, where a term goes wrong with the probability 1 - Pr[event]. The runs are found anew from
the text (`agreement.py`, `selection.py`); where that fails, that they have these sums is taken on trust, unless beta is
seen to be at least 1. The rest is arithmetic: with beta(m) = Σ b_j·(m - start)^j it is enough that b_0 is at least that
of `fixed` and (start - once) times that of `repeated`, b_1 that of `repeated`, and all others 0. For t up to `trivial`
it is enough that b_0 >= 1 and all others are not negative: a probability is at most 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from dipc.verifier.agreement import Agreement
from dipc.verifier.budget import Budget
from dipc.verifier.claims import Claim, Interval
from dipc.verifier.classes import Required, Stated, Sum, intervals_of, required, same_least, variable_of
from dipc.verifier.decay import positive_everywhere
from dipc.verifier.decision import VERDICTS, Decided, index
from dipc.verifier.degree import degree_in, without_ones
from dipc.verifier.events import Event
from dipc.verifier.expression import NotOneForm, mentions
from dipc.verifier.ideal import Ideal
from dipc.verifier.iteration import Iterations
from dipc.verifier.reading import items, natural, rational, record, text
from dipc.verifier.rejection import NotDerived, Rejected
from dipc.verifier.ring import ONE, Ring, add, constant, subtract, times
from dipc.verifier.selection import selection_totals
from dipc.verifier.syntax import Program
from dipc.verifier.terms import Terms
from dipc.verifier.theorem import Theorem
from dipc.verifier.walks import Total, require_bounded, totals

#: What no such certificate shows.
UNION = "that every run for a greater {parameter} has an error of at most one of these sums of terms"

_UNION = ("variable", "sums", "trivial", "above_one")

MOST_DEGREE = 20
MOST_NUMBERS = 1_000

_ALWAYS = (Interval(Fraction(0), None, False, False),)


def check_numbers(
    value: object,
    claim: Claim,
    stated: Stated,
    events: Sequence[Event],
    tree: Program,
    singly: Mapping[int, str],
    budget: Budget,
    deriving: Budget,
) -> tuple[str, str | None, list[str]]:
    """The verdict for all numbers that are not among those decided `singly`, by number; why it is not certified, and
    what was taken on trust. `events` are those of the measures, and `deriving` is what finding the runs of the program
    may take. Raises Rejected, also where a number is missing."""
    step = "numbers"
    entry = record(value, step, ("parameter", "least", "start", "verdict"), ("union", "reason", "open"))
    parameter = text(entry["parameter"], step)
    if parameter not in claim.constants:
        raise Rejected(step, "its parameter is no constant of the program")
    least, start = _integer(entry["least"], step), _integer(entry["start"], step)
    if not 0 <= start - least <= MOST_NUMBERS or set(singly) != set(range(least, start)):
        raise Rejected(step, "the numbers before `start` are not those of the cases")
    verdict = entry["verdict"]
    kinds = [name for name in ("union", "reason", "open") if name in entry]
    if len(kinds) != 1 or verdict not in VERDICTS or (kinds[0] == "reason") is not (verdict == "undecided"):
        raise Rejected(step, "its evidence is not that of its verdict")
    if kinds[0] != "union":
        found = text(entry[kinds[0]], step)
        return verdict, found if kinds[0] == "open" else None, []
    if verdict != "accurate":
        raise Rejected(step, "a union bound refutes nothing")
    assert claim.beta is not None, "a claim without beta was refused"
    # No probability is greater than 1.
    claim = Claim(claim.alpha, without_ones(claim.beta), claim.gamma, claim.intervals, claim.constants)
    missing, coefficients, totals = _union(entry["union"], claim, parameter, start, stated, events, budget, step)
    first, *rest = (subtract(b, ONE) if not power else b for power, b in enumerate(coefficients))
    if all(not b or positive_everywhere(b, budget) for b in (first, *rest)):
        return verdict, None, []  # beta is at least 1, and no probability is greater.
    variable = variable_of(record(entry["union"], step, _UNION)["variable"], step)
    wanted = required(claim, variable, None, budget, step)
    why = _not_derived(tree, claim, parameter, start, wanted, Terms(events), totals, deriving)
    return verdict, missing, [] if why is None else [f"{UNION.format(parameter=parameter)}: {why}"]


def _not_derived(
    tree: Program,
    claim: Claim,
    parameter: str,
    start: int,
    wanted: Required,
    terms: Terms,
    stated: Sequence[Total | None],
    budget: Budget,
) -> str | None:
    """Why it is not known of the program that all its runs for numbers from `start` on are bounded by one of the stated
    totals; None where it is."""
    known = [total for total in stated if total is not None]
    constants = {**claim.constants, parameter: Fraction(start)}
    try:
        theorem = Theorem.of_tree(tree, constants, budget, budget)
        if not isinstance(theorem.ideal, Ideal):
            return theorem.ideal or "the program has no `ideal`"
        if theorem.ideal.whole:
            return "it has whole inputs"
        try:
            found: Iterable[Total] = list(selection_totals(tree, parameter, theorem.machine, wanted, terms))
        except NotDerived:
            shape = Iterations.of(tree, parameter, constants, budget)
            if start < shape.low:
                return "there are numbers without an iteration"
            found = (
                total
                for entries in shape.combinations(budget)
                for total in totals(Agreement(shape, entries, wanted, terms, budget).walks(), shape.low, budget)
            )
        require_bounded(found, known, budget)
    except (NotDerived, Rejected) as error:
        # It is the derivation that took too much, not the certificate.
        return error.why
    except RecursionError:
        return "it is nested too deeply"
    return None


def _integer(value: object, step: str) -> int:
    found = rational(value, step)
    if found.denominator != 1:
        raise Rejected(step, "a number of queries is an integer")
    return int(found)


def _union(
    value: object,
    claim: Claim,
    parameter: str,
    start: int,
    stated: Stated,
    events: Sequence[Event],
    budget: Budget,
    step: str,
) -> tuple[str | None, list[Ring], list[Total | None]]:
    """Why it is not certified, if so; beta by powers of parameter - start; and the sums, None for one of other events
    than a union bound is about."""
    entry = record(value, step, _UNION)
    variable = variable_of(entry["variable"], step)
    for expression, name in ((claim.alpha, "alpha"), (claim.gamma, "gamma")):
        if expression is not None and mentions(expression, parameter):
            raise Rejected(step, f"{name} depends on `{parameter}`")
    wanted = required(claim, variable, None, budget, step)
    intervals = intervals_of(claim, wanted, None)
    coefficients = _beta(claim, variable, parameter, start, budget, step)
    missing: str | None = None
    if entry["trivial"] is not None:
        trivial = rational(entry["trivial"], step)
        if trivial <= 0 or intervals != _ALWAYS:
            raise Rejected(step, "beta is above 1 near 0 only where the obligations begin there")
        near = (Interval(Fraction(0), trivial, False, True),)
        intervals = (Interval(trivial, None, True, False),)
        missing = _above_one(entry["above_one"], coefficients, near, stated, budget, step)
    elif items(entry["above_one"], step):
        raise Rejected(step, "beta is shown to be above 1 for nothing")
    known = Terms(events)
    numbered = [known.numbered(number) for number in range(len(events))]
    found: list[Total | None] = []
    sums = items(entry["sums"], step)
    if not sums:
        raise Rejected(step, "a union bound is about some runs")
    for number, item in enumerate(sums):
        here = f"{step}, sum {number}"
        total = record(item, here, ("fixed", "repeated", "once", "inequalities"))
        terms = [[natural(term, here) for term in items(total[name], here)] for name in ("fixed", "repeated")]
        budget.spend(100 + 20 * sum(map(len, terms)), here)
        once = _integer(total["once"], here)
        if once > start:
            raise Rejected(here, "a path takes no more iterations than there are")
        needed = {0: [*((1, term) for term in terms[0]), *((start - once, term) for term in terms[1])]}
        needed[1] = [(1, term) for term in terms[1]]
        shown = [items(pair, here, 2) for pair in items(total["inequalities"], here)]
        if [pair[0] for pair in shown if pair] != list(range(max(len(coefficients), 2))) or not all(
            len(pair) == 2 for pair in shown
        ):
            raise Rejected(here, "there is not one inequality for each power")
        for power, place in shown:
            decided, own = stated.decided[index(place, stated.decided, here)]
            if own != intervals:
                raise Rejected(here, "an inequality is about other values of the variable")
            _require_needed(stated.sums[decided.probability], needed.get(power, []), here)
            _require_beta(decided, coefficients[power] if power < len(coefficients) else {}, stated, budget, here)
            missing = decided.open or missing
        fixed, repeated = ([numbered[index(term, events, here)] for term in part] for part in terms)
        own_terms = tuple(filter(None, fixed)), tuple(filter(None, repeated))
        plain = len(own_terms[0]) == len(fixed) and len(own_terms[1]) == len(repeated)
        found.append(Total(*own_terms, once) if plain else None)
    return missing, coefficients, found


def _require_needed(found: Sum, needed: Sequence[tuple[int, int]], step: str) -> None:
    """That a sum is 1 less the probabilities that these terms go wrong, each as often as stated."""
    used = [(weight, term) for weight, term in needed if weight]
    shares = [(share.weight, share.measures) for share in found.shares]
    if (
        found.subtracted
        or found.constant != 1 - sum(weight for weight, _ in used)
        or shares != [((constant(weight), ONE), (term,)) for weight, term in used]
    ):
        raise Rejected(step, "an inequality is about other terms")


def _require_beta(decided: Decided, coefficient: Ring, stated: Stated, budget: Budget, step: str) -> None:
    if decided.verdict != "accurate":
        raise Rejected(step, f"an inequality is {decided.verdict}")
    found = stated.betas[decided.beta]
    if found is None or not same_least(found, (((coefficient, ONE),),), budget, step):
        raise Rejected(step, "an inequality is about another coefficient of beta")


def _above_one(
    value: object,
    coefficients: Sequence[Ring],
    near: tuple[Interval, ...],
    stated: Stated,
    budget: Budget,
    step: str,
) -> str | None:
    """That beta is at least 1 at the start, and does not decrease from there on, on these intervals."""
    places = items(value, step)
    if len(places) != len(coefficients):
        raise Rejected(step, "beta is not shown to be above 1 in each coefficient")
    missing: str | None = None
    for power, place in enumerate(places):
        decided, own = stated.decided[index(place, stated.decided, step)]
        if own != near or stated.sums[decided.probability] != Sum(Fraction(min(power, 1)), False, ()):
            raise Rejected(step, "beta is not shown to be above 1 by this")
        _require_beta(decided, coefficients[power], stated, budget, step)
        missing = decided.open or missing
    return missing


def _beta(claim: Claim, variable: str, parameter: str, start: int, budget: Budget, step: str) -> list[Ring]:
    """beta by powers of parameter - start, as functions of the variable.

    It is a polynomial of at most the degree that its expression shows, so its values at as many numbers and one more
    say what it is.
    """
    assert claim.beta is not None, "a claim without beta was refused"
    try:
        degree = degree_in(claim.beta, parameter)
    except NotOneForm:
        raise Rejected(step, f"beta is no polynomial in `{parameter}`") from None
    if degree > MOST_DEGREE:
        raise Rejected(step, f"beta has a degree of more than {MOST_DEGREE}")
    values: list[Ring] = []
    for number in range(start, start + degree + 1):
        at = Claim(
            claim.alpha, claim.beta, claim.gamma, claim.intervals, {**claim.constants, parameter: Fraction(number)}
        )
        beta = required(at, variable, None, budget, step).beta
        if beta is None or len(beta) != 1 or len(beta[0]) != 1 or beta[0][0][1] != ONE:
            raise Rejected(step, "beta is no exponential polynomial for every number")
        values.append(beta[0][0][0])
    # Newton's forward differences: Σ Δ^k · (s choose k).
    result: list[Ring] = [{} for _ in values]
    binomial = [Fraction(1)]
    for k in range(len(values)):
        for power, c in enumerate(binomial):
            result[power] = add(result[power], times(values[0], c))
        values = [subtract(after, before) for before, after in pairwise(values)]
        # (s choose k + 1) = (s choose k)·(s - k)/(k + 1)
        shifted = [Fraction(0), *binomial]
        lowered = [*(c * -k for c in binomial), Fraction(0)]
        binomial = [(up + down) / (k + 1) for up, down in zip(shifted, lowered, strict=True)]
    while len(result) > 1 and not result[-1]:
        result.pop()
    return result


def constants_of(
    value: Mapping[str, Any], parameter: str | None, step: str
) -> tuple[int | None, Mapping[str, Fraction]]:
    """The number of queries that a case is about, None where it is the only one, and the constants that are others for
    other numbers, with their values."""
    if parameter is None:
        if value:
            raise Rejected(step, "a case has constants of its own")
        return None, {}
    found = {name: rational(given, step) for name, given in value.items()}
    if parameter not in found:
        raise Rejected(step, f"a case is about one value of `{parameter}`")
    return _integer(value[parameter], step), {name: c for name, c in found.items() if name != parameter}

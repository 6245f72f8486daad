"""The privacy profile at one eps: the least delta of each budget, the least budget of a delta, the loss distribution.

At a pair with probabilities p and p' of the outputs, delta(b) = Σ max(0, p - e^b·p') falls as the budget b grows. For
delta > 0, the claim Σ_S p - e^b·Σ_S p' <= delta about all sets S says that b >= log((Σ_S p - delta)/Σ_S p'). So the
least budget is the greatest of these numbers. It is attained by a set of the outputs with the greatest p/p'. The code
guesses this set from enclosures. Any set gives a lower bound; an upper bound is checked by computing its delta.

Two theorems bound k runs with loss at most c each (Dwork and Roth, The Algorithmic Foundations of Differential Privacy,
section 3.5). Basic composition gives the budget k·c with delta 0. For every d > 0, advanced composition (Theorem 3.20)
gives the budget c·sqrt(2k·log(1/d)) + k·c·(e^c - 1) with delta d.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dipc.algebra.exppoly import ClosedForm
from dipc.algebra.limits import LimitReached, OutsideFragment, Undecided
from dipc.algebra.numbers import exact_eps, exact_rational, log_enclosure, outward
from dipc.algebra.record import Record
from dipc.claims.claim import GivenEps, GivenValue
from dipc.decide.engine import Engine
from dipc.frozen import frozen
from dipc.program.inputs import InputSpec
from dipc.program.program import ProgramGiven, as_program
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.laws import TableLaws
from dipc.questions.privacy.loss import DIGITS, IMPOSSIBLE, Loss, Renyi
from dipc.questions.privacy.outcome import (
    Ends,
    PrivacyAnswer,
    PrivacyReport,
    Texts,
    read_budget,
    read_claim,
)

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The number of budgets of a profile, and the delta at which it ends if the loss is unbounded.
POINTS, _LEAST_DELTA = 33, Fraction(1, 10**9)

#: The greatest number of pairs whose loss distributions are written out.
_MOST_PAIRS = 256

#: The greatest number of values of a rounded loss distribution, and its finest grid, which is that of dp-accounting.
_MOST_VALUES, _FINEST = 20_000, Fraction(1, 10_000)


@frozen
class BudgetAt(PrivacyAnswer):
    """The least number b such that the program is (b, `delta`)-private at `eps`, over all pairs.

    `value` encloses b, which is not a multiple of eps; None is infinity. If b is infinite, `limit` encloses the limit
    of the least delta as the budget grows. `theorems` are the composition theorems for several runs, if they apply.
    """

    FIELDS = f"{PrivacyAnswer.HEAD} pairs eps least_budget(delta value:ends delta_at_least=limit? *theorem_budgets)"

    delta: Fraction
    eps: Fraction
    value: Ends | None
    theorems: Theorems | None = None
    limit: Ends | None = None

    @property
    def theorem_budgets(self) -> dict[str, float | None] | None:
        """The budgets of the composition theorems "basic" and "advanced", as floats; None if the theorems do not apply.

        The advanced theorem gives no budget, None, for delta 0.
        """
        if self.theorems is None:
            return None
        basic, advanced = self.theorems.basic, self.theorems.advanced(self.delta) if self.delta else None
        return {"basic": float(basic), "advanced": advanced}


@frozen
class ProfilePoint(Record):
    """An enclosure of the least `delta` for one `budget`, a number that is not multiplied by eps."""

    FIELDS = "budget delta float=delta_float"

    budget: Fraction
    delta: Ends

    @property
    def delta_float(self) -> float:
        """The upper end of delta, rounded up."""
        return _float_up(self.delta[1])


@frozen
class Atom(Record):
    """The outputs with one privacy loss log(p/p') at a pair, with their probability.

    `loss` encloses the loss; None is infinity. `probability` encloses the probability p of these outputs at the first
    input of the pair, at one eps. `form` is p for every eps; None if it has no closed form.
    """

    FIELDS = "loss:ends probability:ends closed_form=form outputs"

    loss: Ends | None
    probability: Ends
    form: ClosedForm | None
    outputs: tuple[Texts, ...]


@frozen
class LossDistribution(Record):
    """The distribution of the privacy loss log(p/p') of the outputs at `input`, as `atoms`, the greatest loss first.

    The probabilities p are those at `input`, p' those at `adjacent`.
    """

    FIELDS = "input adjacent atoms dp_accounting=keywords"

    input: Texts
    adjacent: Texts
    atoms: tuple[Atom, ...]

    def rounded(self, step: Fraction) -> tuple[dict[int, float], float]:
        """Return ({k: the probability of the loss k·`step`}, the probability of an infinite loss).

        Losses are rounded up, and probabilities up to the next float. Each delta computed from them is at least the
        exact delta, up to rounding errors of that computation.
        """
        masses: dict[int, Fraction] = {}
        infinite = _ZERO
        for atom in self.atoms:
            if atom.loss is None:
                infinite += atom.probability[1]
            else:
                key = math.ceil(atom.loss[1] / step)
                masses[key] = masses.get(key, _ZERO) + atom.probability[1]
        return {key: _float_up(masses[key]) for key in sorted(masses)}, _float_up(infinite)

    @property
    def keywords(self) -> dict[str, Any]:
        """The keyword arguments of `dp_accounting.pld.pld_pmf.create_pmf`; keys of `loss_probs` are integers."""
        probabilities, infinite = self.rounded(_FINEST)
        return {
            "loss_probs": probabilities,
            "discretization": float(_FINEST),
            "infinity_mass": infinite,
            "pessimistic_estimate": True,
        }

    @property
    def message(self) -> dict[str, Any]:
        """The distribution as JSON, in the format of Google's differential privacy library.

        The format is that of the message PrivacyLossDistribution, which is defined in `proto/accounting` of that
        library. The step of the grid of losses is the least power of ten at which the message is short enough.
        """
        losses = [atom.loss[1] for atom in self.atoms if atom.loss is not None]
        step = _FINEST
        while losses and max(losses) - min(losses) > _MOST_VALUES * step:
            step *= 10
        probabilities, infinite = self.rounded(step)
        first, last = (min(probabilities), max(probabilities)) if probabilities else (0, -1)
        values = [probabilities.get(key, 0.0) for key in range(first, last + 1)]
        said = {"minKey": first, "values": values, "infinityMass": infinite, "discretizationInterval": float(step)}
        return {"pessimisticPmf": said}


@frozen
class Profile(PrivacyAnswer):
    """The least deltas at `eps` for budgets from 0 to the greatest loss, as `points`.

    `distributions` are the different distributions of the privacy loss at the pairs. If they are not known, there are
    none, and `reason` says why; otherwise `reason` is None.
    """

    FIELDS = f"{PrivacyAnswer.HEAD} pairs eps profile=points losses=distributions reason"

    eps: Fraction
    points: tuple[ProfilePoint, ...]
    distributions: tuple[LossDistribution, ...]
    reason: str | None


@frozen
class Theorems:
    """The composition theorems for `runs` independent runs, each with a loss of at most `loss`."""

    runs: int
    loss: Fraction

    @property
    def basic(self) -> Fraction:
        """A budget for which all runs together are private with delta 0."""
        return self.runs * self.loss

    def advanced(self, delta: Fraction) -> float:
        """Return a budget for which all runs together are private with `delta` > 0, as a float for display."""
        each = float(self.loss)
        return each * math.sqrt(2 * self.runs * math.log(1 / delta)) + self.runs * each * math.expm1(each)

    def advanced_delta(self, budget: Fraction) -> float:
        """Return a delta for which all runs together are private with `budget`, as a float for display."""
        each = float(self.loss)
        rest = float(budget) - self.runs * each * math.expm1(each)
        return math.exp(-(rest**2) / (2 * self.runs * each**2)) if rest > 0 and each else float(rest <= 0)


def theorems_of(question: PrivacyQuestion, eps: Fraction) -> Theorems | None:
    """Return the composition theorems at `eps` for the runs of `question`.

    The result is None for a single run or several programs, and if the loss is infinite or not known.
    """
    if question.runs == 1 or len(question.parts) > 1:
        return None
    try:
        loss = question.single().largest_loss(eps).value
    except Undecided:
        return None
    return None if loss is None else Theorems(question.runs, loss[1])


def budget_at(question: PrivacyQuestion, delta: Fraction, eps: Fraction, digits: int = DIGITS) -> BudgetAt:
    """Return the least budget for `delta` at `eps` to `digits` digits, as an answer to `question`.

    Raises DiagnosticError for real inputs that are not enumerated, Undecided past a limit and for budgets beyond the
    greatest that is tried, ValueError for a negative delta.
    """
    if delta < 0:
        raise ValueError(f"a delta must be at least 0, not {delta}")
    question.require_meaning(eps)
    laws = question.laws()
    value = laws.budget(delta, eps, digits) if delta else laws.loss(eps, digits).value
    limit = outward(*laws.limit_of_delta(eps, digits), digits) if value is None else None
    limit = None if limit is None or not limit[0] else limit
    return BudgetAt(*question.asked, delta, eps, value, theorems_of(question, eps), limit)


def profile(question: PrivacyQuestion, eps: Fraction, points: int = POINTS, digits: int = DIGITS) -> Profile:
    """Return the least deltas at `eps` for `points` equally spaced budgets, as an answer to `question`.

    The budgets begin at 0 and end at the greatest loss or, if some loss is infinite, where delta is very small.
    Enclosures have `digits` digits. Raises DiagnosticError for real inputs that are not enumerated, and Undecided past
    a limit.
    """
    greatest = question.largest_loss(eps).value
    end = budget_at(question, _LEAST_DELTA, eps, 6).value if greatest is None else greatest
    # If some outputs are possible at one input only, delta does not tend to 0. Other outputs have a greatest loss.
    last = _ONE if end is None else end[1]
    budgets = [last * place / (points - 1) for place in range(points)] if last else [_ZERO]
    said = [ProfilePoint(b, outward(*question.delta_at(b / eps, eps, digits), digits)) for b in budgets]
    if greatest is not None:
        said[-1] = ProfilePoint(last, (_ZERO, _ZERO))  # no output has a greater loss
    try:
        distributions, reason = loss_distributions(question, eps, digits), None
    except Undecided as undecided:
        distributions, reason = (), undecided.reason
    return Profile(*question.asked, eps, tuple(said), distributions, reason)


def loss_distributions(question: PrivacyQuestion, eps: Fraction, digits: int = DIGITS) -> tuple[LossDistribution, ...]:
    """Return the distributions of the privacy loss at `eps` at all pairs of `question`, each distribution once.

    Enclosures have `digits` digits. Raises Undecided for outputs that are not finite or int, and past a limit. Raises
    DiagnosticError for an eps at which a program is not defined.
    """
    question.require_meaning(eps)
    laws = question.laws()
    if not isinstance(laws, TableLaws):
        raise laws.refusal("--profile")
    if len(laws.different) > _MOST_PAIRS:
        raise LimitReached(
            None, f"there are {len(laws.different)} pairs with different losses, more than {_MOST_PAIRS}"
        )
    result = []
    for pair in laws.different:
        grouped: dict[tuple[int, int], list[int]] = {}
        for answer, couple in enumerate(laws.table.at_pair(pair)):
            if couple[0] != IMPOSSIBLE:
                grouped.setdefault(couple, []).append(answer)
        atoms = [_atom(laws, couple, answers, eps, digits) for couple, answers in grouped.items()]
        atoms.sort(key=lambda atom: (atom.loss is None, _ZERO if atom.loss is None else atom.loss[0]), reverse=True)
        result.append(LossDistribution(*laws.pairs.texts(question.program, pair), tuple(atoms)))
    return tuple(result)


def _atom(laws: TableLaws, couple: tuple[int, int], answers: Sequence[int], eps: Fraction, digits: int) -> Atom:
    bits = 4 * digits + 16
    (p, more), (q, most) = (laws.value(number, eps, bits) for number in couple)
    form = laws.table.forms[couple[0]]
    loss = None
    if couple[0] == couple[1]:
        loss = _ZERO, _ZERO
    elif couple[1] != IMPOSSIBLE:
        if not (p and q):
            raise OutsideFragment("a probability is 0 at this eps, or too small to be enclosed")
        loss = log_enclosure(p / most, more / q, digits)
    count = len(answers)
    return Atom(
        loss,
        outward(p * count, more * count, digits),
        ClosedForm(form.value * count) if isinstance(form, ClosedForm) else None,
        tuple([laws.table.texts(answer) for answer in answers]),
    )


def _float_up(value: Fraction) -> float:
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


@frozen
class Composition:
    """Independent runs of programs at pairs of adjacent inputs; each method is about all their outputs together."""

    question: PrivacyQuestion

    def check(self, budget: GivenValue = None, delta: GivenValue = None, eps: GivenEps = None) -> PrivacyReport:
        """Decide whether all outputs together are (`budget`, `delta`)-private for every `eps` of the intervals.

        None for `budget` is eps, None for `delta` is 0, None for `eps` is all eps > 0 or the program's own interval.
        Raises DiagnosticError for options that cannot be read or that do not fit the programs.
        """
        return self.question.decide(read_claim(self.question.program, budget, delta, eps))

    def loss(self, at: Fraction | int | str) -> Loss:
        """Return the largest privacy loss at the eps `at`."""
        return self.question.largest_loss(exact_eps(at))

    def delta(self, budget: str, at: Fraction | int | str) -> Ends:
        """Return an enclosure of the least delta for `budget`, a multiple of eps, at the eps `at`."""
        factor = read_budget(self.question.program, budget, "budget")
        return self.question.delta_at(factor, exact_eps(at))

    def budget(self, delta: Fraction | int | str, at: Fraction | int | str) -> BudgetAt:
        """Return the least budget for `delta` at the eps `at`."""
        return budget_at(self.question, exact_rational(delta, "delta"), exact_eps(at))

    def renyi(self, order: int, at: Fraction | int | str) -> Renyi:
        """Return the largest Rényi divergence of `order` at the eps `at`."""
        return self.question.divergence(order, exact_eps(at))

    def profile(self, at: Fraction | int | str, points: int = POINTS) -> Profile:
        """Return the least deltas of `points` budgets at the eps `at`, with the loss distributions."""
        return profile(self.question, exact_eps(at), points)


def compose(
    *programs: ProgramGiven, adjacent: str, inputs: InputSpec | None = None, runs: Sequence[int] | int = 1
) -> Composition:
    """Return the joint privacy of independent runs of one or several `programs` with the same inputs.

    `runs` is the number of runs, of all programs or of each. `adjacent` and `inputs` are as for `dipc.check_privacy`.
    Runs whose questions depend on earlier outputs are not independent: write one program that contains them.

    Raises DiagnosticError for options that cannot be read, ValueError for programs whose inputs differ.
    """
    counts = [runs] * len(programs) if isinstance(runs, int) else list(runs)
    if not programs or len(counts) != len(programs) or min(counts) < 1:
        raise ValueError("give at least one program and, in `runs`, a number >= 1 for each")
    loaded = [as_program(program) for program in programs]
    first = loaded[0]
    beside = list(zip(loaded[1:], counts[1:], strict=True))
    engine = Engine(first.measurer, first.limits)
    return Composition(PrivacyQuestion(first, adjacent, inputs, engine, runs=counts[0], beside=beside))

"""The privacy profile of a program at one eps: the least delta of every budget, the least budget of a delta, and the
privacy loss distribution that both come from.

At a pair with probabilities p and p' of the outputs, delta(b) = Σ max(0, p - e^b·p') falls with the budget b. For a
delta > 0 the claim Σ_S p - e^b·Σ_S p' <= delta about all sets S says that b >= log((Σ_S p - delta)/Σ_S p'), so that the
least budget is the greatest of these numbers, and it is attained by a set of the outputs with the greatest p/p'. Such a
set is guessed from enclosures; what it gives is a bound from below, whatever was guessed, and one from above is checked
by computing its delta.

**Beside it** stand two theorems about k runs with loss at most e each (Dwork and Roth, The Algorithmic Foundations of
Differential Privacy, section 3.5): basic composition gives the budget k·e, and for every d > 0 advanced composition
(Theorem 3.20) the budget e·sqrt(2k·log(1/d)) + k·e·(e^e - 1) at the delta d.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dipc.algebra.exppoly import ClosedForm
from dipc.algebra.limits import LimitReached, OutsideFragment, Undecided
from dipc.algebra.numbers import exact_eps, exact_rational, log_enclosure, outward
from dipc.claims.claim import GivenEps, GivenValue
from dipc.decide.engine import Engine
from dipc.frozen import frozen
from dipc.program.inputs import InputSpec
from dipc.program.program import ProgramGiven, as_program
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.laws import TableLaws
from dipc.questions.privacy.loss import DIGITS, IMPOSSIBLE, Loss, Renyi, different_pairs
from dipc.questions.privacy.outcome import (
    Ends,
    PrivacyAnswer,
    PrivacyReport,
    Texts,
    ends_json,
    read_budget,
    read_claim,
)

_ZERO, _ONE = Fraction(0), Fraction(1)

#: Budgets of a profile, and the delta below which it is not followed where the loss has no end.
POINTS, _LEAST_DELTA = 33, Fraction(1, 10**9)

#: Pairs whose loss distributions are written out.
_MOST_PAIRS = 256

#: Values of a rounded loss distribution at most, and its finest grid: that of dp-accounting.
_MOST_VALUES, _FINEST = 20_000, Fraction(1, 10_000)


@frozen
class BudgetAt(PrivacyAnswer):
    """The least budget b such that (b, delta)-privacy holds at `eps`, over all pairs: `value` encloses it, None is
    infinity. It is a number, not a multiple of eps. Where it is infinite, `limit` encloses the least delta's limit as
    the budget grows."""

    delta: Fraction
    eps: Fraction
    value: Ends | None
    theorems: Theorems | None = None
    limit: Ends | None = None

    def as_json(self) -> dict[str, Any]:
        """The whole JSON object."""
        said: dict[str, Any] = {"delta": str(self.delta), "value": ends_json(self.value)}
        if self.limit is not None:
            said["delta_at_least"] = ends_json(self.limit)
        if self.theorems is not None:
            said |= self.theorems.as_json(self.delta)
        return {**self.head, "pairs": self.pairs, "eps": str(self.eps), "least_budget": said}


@frozen
class ProfilePoint:
    """The least `delta`, enclosed, of `budget`, a number."""

    budget: Fraction
    delta: Ends


@frozen
class Atom:
    """Outputs with one privacy loss log(p/p') at a pair: `loss` encloses it, None is infinity; `probability` is that at
    the first input of the pair, at the eps, `form` the same for every eps, None where it has no closed form."""

    loss: Ends | None
    probability: Ends
    form: ClosedForm | None
    outputs: tuple[Texts, ...]

    def as_json(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "loss": ends_json(self.loss),
            "probability": ends_json(self.probability),
            "closed_form": None if self.form is None else str(self.form),
            "outputs": [dict(output) for output in self.outputs],
        }


@frozen
class LossDistribution:
    """The law of log(p/p') of the outputs at `input`, p' being their probabilities at `adjacent`: its atoms, those with
    the greatest loss first."""

    input: Texts
    adjacent: Texts
    atoms: tuple[Atom, ...]

    def rounded(self, step: Fraction) -> tuple[dict[int, float], float]:
        """Probabilities by losses in multiples of the step, and that of an infinite loss: losses rounded up, and
        probabilities to greater floats, so that each delta computed from it is at least the exact one, except for the
        errors of floats there."""
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
        """The arguments of `dp_accounting.pld.pld_pmf.create_pmf`; keys of `loss_probs` are whole numbers."""
        probabilities, infinite = self.rounded(_FINEST)
        return {
            "loss_probs": probabilities,
            "discretization": float(_FINEST),
            "infinity_mass": infinite,
            "pessimistic_estimate": True,
        }

    @property
    def message(self) -> dict[str, Any]:
        """The message PrivacyLossDistribution of Google's library of differential privacy (its `proto/accounting`), as
        JSON: on the finest grid of powers of ten on which it is not too long."""
        losses = [atom.loss[1] for atom in self.atoms if atom.loss is not None]
        step = _FINEST
        while losses and max(losses) - min(losses) > _MOST_VALUES * step:
            step *= 10
        probabilities, infinite = self.rounded(step)
        first, last = (min(probabilities), max(probabilities)) if probabilities else (0, -1)
        values = [probabilities.get(key, 0.0) for key in range(first, last + 1)]
        said = {"minKey": first, "values": values, "infinityMass": infinite, "discretizationInterval": float(step)}
        return {"pessimisticPmf": said}

    def as_json(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "input": dict(self.input),
            "adjacent": dict(self.adjacent),
            "atoms": [atom.as_json() for atom in self.atoms],
            "dp_accounting": self.keywords,
        }


@frozen
class Profile(PrivacyAnswer):
    """The least delta at `eps` of budgets from 0 to where nothing is lost any more; `distributions` are those of the
    privacy loss at all pairs with different ones, or `reason` says why there are none."""

    eps: Fraction
    points: tuple[ProfilePoint, ...]
    distributions: tuple[LossDistribution, ...]
    reason: str | None

    def as_json(self) -> dict[str, Any]:
        """The whole JSON object. What encloses a delta is exact; as floats its ends are rounded up."""
        points = [
            {"budget": str(point.budget), "delta": ends_json(point.delta), "float": _float_up(point.delta[1])}
            for point in self.points
        ]
        return {
            **self.head,
            "pairs": self.pairs,
            "eps": str(self.eps),
            "profile": points,
            "losses": [each.as_json() for each in self.distributions],
            "reason": self.reason,
        }


@frozen
class Theorems:
    """The theorems about composition, for this many `runs`, each with a loss of at most `loss`."""

    runs: int
    loss: Fraction

    @property
    def basic(self) -> Fraction:
        """A budget that suffices with delta 0."""
        return self.runs * self.loss

    def advanced(self, delta: Fraction) -> float:
        """A budget that suffices with a delta > 0; for display."""
        each = float(self.loss)
        return each * math.sqrt(2 * self.runs * math.log(1 / delta)) + self.runs * each * math.expm1(each)

    def advanced_delta(self, budget: Fraction) -> float:
        """A delta that suffices with a budget; for display."""
        each = float(self.loss)
        rest = float(budget) - self.runs * each * math.expm1(each)
        return math.exp(-(rest**2) / (2 * self.runs * each**2)) if rest > 0 and each else float(rest <= 0)

    def as_json(self, delta: Fraction) -> dict[str, Any]:
        """Both budgets as floats."""
        return {"basic": float(self.basic), "advanced": self.advanced(delta) if delta else None}


def theorems_of(question: PrivacyQuestion, eps: Fraction) -> Theorems | None:
    """What the theorems say of several runs of one program; None for one run, and where the loss is infinite or not
    known."""
    if question.runs == 1 or len(question.parts) > 1:
        return None
    try:
        loss = question.single().largest_loss(eps).value
    except Undecided:
        return None
    return None if loss is None else Theorems(question.runs, loss[1])


def budget_at(question: PrivacyQuestion, delta: Fraction, eps: Fraction, digits: int = DIGITS) -> BudgetAt:
    """The least budget of a delta at an eps. Raises DiagnosticError for real inputs that are not enumerated, Undecided
    past a limit and beyond budgets that are looked at; ValueError for a negative delta."""
    if delta < 0:
        raise ValueError(f"a delta must be at least 0, not {delta}")
    question.require_meaning(eps)
    laws = question.laws()
    value = laws.budget(delta, eps, digits) if delta else laws.loss(eps, digits).value
    limit = outward(*laws.limit_of_delta(eps, digits), digits) if value is None else None
    limit = None if limit is None or not limit[0] else limit
    return BudgetAt(*question.asked, delta, eps, value, theorems_of(question, eps), limit)


def profile(question: PrivacyQuestion, eps: Fraction, points: int = POINTS, digits: int = DIGITS) -> Profile:
    """The least deltas at an eps of this many budgets, at equal distances. Raises as `budget_at` does."""
    greatest = question.largest_loss(eps).value
    end = budget_at(question, _LEAST_DELTA, eps, 6).value if greatest is None else greatest
    # Where outputs are possible at one input alone, delta has no limit 0: the others have a greatest loss.
    last = _ONE if end is None else end[1]
    budgets = [last * place / (points - 1) for place in range(points)] if last else [_ZERO]
    said = [ProfilePoint(b, outward(*question.delta_at(b / eps, eps, digits), digits)) for b in budgets]
    if greatest is not None:
        said[-1] = ProfilePoint(last, (_ZERO, _ZERO))  # no output loses more
    try:
        distributions, reason = loss_distributions(question, eps, digits), None
    except Undecided as undecided:
        distributions, reason = (), undecided.reason
    return Profile(*question.asked, eps, tuple(said), distributions, reason)


def loss_distributions(question: PrivacyQuestion, eps: Fraction, digits: int = DIGITS) -> tuple[LossDistribution, ...]:
    """The distributions of the loss at all pairs where they differ, for finite or int outputs. Raises Undecided for
    others, and past a limit; DiagnosticError for an eps at which a program has no meaning."""
    question.require_meaning(eps)
    laws = question.laws().listed()
    different = different_pairs(laws.table, laws.pairs)
    if len(different) > _MOST_PAIRS:
        raise LimitReached(None, f"there are {len(different)} pairs with different losses")
    result = []
    for pair in different:
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
    """The least float that is at least the value."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


@frozen
class Composition:
    """Independent runs of programs at the same pairs of adjacent inputs, about all outputs of which questions are
    asked."""

    question: PrivacyQuestion

    def check(self, budget: GivenValue = None, delta: GivenValue = None, eps: GivenEps = None) -> PrivacyReport:
        """Whether all outputs together are (budget, delta)-private. Raises as `dipc.check_privacy` does."""
        return self.question.decide(read_claim(self.question.program, budget, delta, eps))

    def loss(self, at: Fraction | int | str) -> Loss:
        """The largest loss at an eps."""
        return self.question.largest_loss(exact_eps(at))

    def delta(self, budget: str, at: Fraction | int | str) -> Ends:
        """The least delta of a budget, a multiple of eps, at an eps, enclosed."""
        factor = read_budget(self.question.program, budget, "budget")
        return self.question.delta_at(factor, exact_eps(at))

    def budget(self, delta: Fraction | int | str, at: Fraction | int | str) -> BudgetAt:
        """The least budget of a delta at an eps."""
        return budget_at(self.question, exact_rational(delta, "delta"), exact_eps(at))

    def renyi(self, order: int, at: Fraction | int | str) -> Renyi:
        """The largest Rényi divergence of an order at an eps."""
        return self.question.divergence(order, exact_eps(at))

    def profile(self, at: Fraction | int | str, points: int = POINTS) -> Profile:
        """The least deltas of budgets at an eps, with the loss distributions."""
        return profile(self.question, exact_eps(at), points)


def compose(
    *programs: ProgramGiven, adjacent: str, inputs: InputSpec | None = None, runs: Sequence[int] | int = 1
) -> Composition:
    """The joint loss of independent runs of one or several programs with the same inputs, `runs` of each, at pairs of
    adjacent inputs. `adjacent` and `inputs` are as for `dipc.check_privacy`.

    Runs that choose what to ask by what came out before are one program that contains them.

    Raises DiagnosticError for what cannot be read, ValueError for programs that do not fit together.
    """
    counts = [runs] * len(programs) if isinstance(runs, int) else list(runs)
    if not programs or len(counts) != len(programs) or min(counts) < 1:
        raise ValueError("give at least one program and, in `runs`, a number >= 1 for each")
    loaded = [as_program(program) for program in programs]
    first = loaded[0]
    beside = list(zip(loaded[1:], counts[1:], strict=True))
    engine = Engine(first.measurer, first.limits)
    return Composition(PrivacyQuestion(first, adjacent, inputs, engine, runs=counts[0], beside=beside))

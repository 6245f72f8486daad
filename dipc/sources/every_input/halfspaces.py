"""Half-spaces of inputs that move with a distance, and what they imply of linear forms.

A `Moving` half-space is { u : form(u) >= alpha·step }: a facet of a class of inputs that retreats as the distance to
disagreement alpha grows; a half-space over the inputs and alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.chain.affine import Affine
from dipc.linear.halfspace import Halfspace, equation, sorted_terms, weighted_sum
from dipc.linear.program import Infeasible, Least, Unbounded, minimum

_ZERO = Fraction(0)
_ONE = Fraction(1)


#: The key of alpha beside input slots.
ALPHA = -1


@dataclass(frozen=True, slots=True)
class Moving:
    """form(u) >= alpha·step, where `form` is about inputs alone and step >= 0."""

    form: Affine
    step: Fraction

    def at(self, alpha: Fraction) -> Halfspace:
        """The half-space of inputs at one alpha."""
        return Halfspace(self.form.inputs, self.form.constant - alpha * self.step)

    @property
    def halfspace(self) -> Halfspace:
        """The half-space over the inputs, by slot, and ALPHA."""
        moving = ((ALPHA, -self.step),) if self.step else ()
        return Halfspace((*moving, *self.form.inputs), self.form.constant)


@dataclass(frozen=True, slots=True)
class ImpliedBound:
    """What `facets` imply of a form: form(u) >= base + alpha·slope for every alpha >= 0 and every u behind all facets.

    `weights` is the proof: form = base + Σ weight · facets[k].form with weights > 0, and slope is the same sum of the
    steps.
    """

    base: Fraction
    slope: Fraction
    weights: tuple[tuple[int, Fraction], ...]

    def at(self, alpha: Fraction) -> Fraction:
        return self.base + alpha * self.slope


def bound_of(form: Affine, facets: Sequence[Moving], weights: Sequence[tuple[int, Fraction]]) -> ImpliedBound | None:
    """The bound that these weights prove (Farkas): None where Σ weight·facet differs from `form` by more than a
    constant, or where a weight is negative.

    Σ weight·facets[k].form(u) >= alpha · Σ weight·facets[k].step holds because each summand does; the rest is the base.
    """
    used = [(k, weight) for k, weight in weights if weight]
    if any(weight < 0 for _, weight in used):
        return None
    total = weighted_sum([facets[k].halfspace for k, _ in used], dict(enumerate(weight for _, weight in used)))
    if tuple([term for term in total.coefficients if term[0] != ALPHA]) != form.inputs:
        return None
    return ImpliedBound(form.constant - total.constant, -total.coefficient(ALPHA), tuple(used))


def single_bound(form: Affine, facets: Sequence[Moving], alpha: Fraction | None) -> ImpliedBound | None:
    """The best bound that one facet alone proves, None where none does; see `best_bound` for what is best."""
    if not form.inputs:
        return ImpliedBound(form.constant, _ZERO, ())
    slots = [slot for slot, _ in form.inputs]
    found: ImpliedBound | None = None
    for k, facet in enumerate(facets):
        theirs = facet.form.inputs
        # Most facets are about other inputs: the first and the last tell most of them apart.
        if not theirs or theirs[0][0] != slots[0] or theirs[-1][0] != slots[-1]:
            continue
        if [slot for slot, _ in theirs] != slots:
            continue
        weight = form.inputs[0][1] / facet.form.inputs[0][1]
        bound = bound_of(form, facets, [(k, weight)])
        if bound is not None and (found is None or _rank(bound, alpha) > _rank(found, alpha)):
            found = bound
    return found


def best_bound(form: Affine, facets: Sequence[Moving], alpha: Fraction | None) -> ImpliedBound | None:
    """The best bound that the facets prove, None where the form is not bounded below behind them.

    With a number `alpha` the best is the greatest at that alpha (and then the least of the form there is, by the
    duality of linear programs, if some input lies behind the facets). With None it is the steepest of those with
    base >= 0, else the one with the greatest base. The solver only proposes the weights: the bound is computed from
    them exactly, so that a wrong proposal costs sharpness, never truth.
    """
    if not form.inputs:
        return ImpliedBound(form.constant, _ZERO, ())
    signs = {(slot, c > 0) for facet in facets for slot, c in facet.form.inputs}
    if any((slot, c > 0) not in signs for slot, c in form.inputs):
        return None  # no facet pulls this input that way
    return _solved(form, facets, alpha)


def _rank(bound: ImpliedBound, alpha: Fraction | None) -> tuple[bool, Fraction, Fraction]:
    if alpha is not None:
        return True, bound.at(alpha), _ZERO
    return bound.base >= 0, bound.slope if bound.base >= 0 else bound.base, bound.base


def _solved(form: Affine, facets: Sequence[Moving], alpha: Fraction | None) -> ImpliedBound | None:
    """The best bound by linear programming, over the weights."""
    count = len(facets)
    system = [Halfspace(((k, _ONE),), _ZERO) for k in range(count)]
    by_slot: dict[int, list[tuple[int, Fraction]]] = {slot: [] for slot, _ in form.inputs}
    for k, facet in enumerate(facets):
        for slot, c in facet.form.inputs:
            by_slot.setdefault(slot, []).append((k, c))
    wanted = dict(form.inputs)
    for slot, terms in by_slot.items():
        system += equation(terms, -wanted.get(slot, _ZERO))
    base = Halfspace(sorted_terms({k: -facet.form.constant for k, facet in enumerate(facets)}), form.constant)
    slope = Halfspace(sorted_terms({k: facet.step for k, facet in enumerate(facets)}), _ZERO)
    if alpha is not None:
        at_alpha = {k: alpha * facet.step - facet.form.constant for k, facet in enumerate(facets)}
        return _greatest(form, facets, system, [Halfspace(sorted_terms(at_alpha), form.constant)])
    steepest = _greatest(form, facets, [*system, base], [slope, base])
    return steepest if steepest is not None else _greatest(form, facets, system, [base, slope])


def _greatest(
    form: Affine, facets: Sequence[Moving], system: Sequence[Halfspace], goals: Sequence[Halfspace]
) -> ImpliedBound | None:
    """What the weights prove that satisfy the system and make the goals greatest, in lexicographic order."""
    first, *then = [Halfspace(tuple([(k, -c) for k, c in goal.coefficients]), -goal.constant) for goal in goals]
    match minimum(first, system, range(len(facets)), then):
        case Infeasible():
            return None
        case Least(_, point, _) | Unbounded(point, _):
            return bound_of(form, facets, [(k, point.get(k, _ZERO)) for k in range(len(facets))])

"""Comparisons of noises and inputs as half-spaces, and conjunctions of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, gcd, lcm

from dipc.chain.affine import Affine
from dipc.lang.ast import CompareOp
from dipc.linear.differences import Difference, difference_ends
from dipc.linear.halfspace import Halfspace


@dataclass(frozen=True)
class Constraint:
    """`form` >= 0, or > 0 when `strict`; `form` is normalized: equal half-spaces are equal constraints.

    A `whole` form is about integers, noises and inputs alike: its coefficients are coprime integers and its constant is
    an integer, so that an open half-space is a closed one, one step further. With continuous noises in it the open and
    the closed half-space have the same measure. So `strict` is False for all but comparisons of real inputs.
    `difference` `op` 0 is the comparison as it was written (or its negation), for display.
    """

    form: Affine
    strict: bool
    difference: Affine = field(compare=False)
    op: CompareOp = field(compare=False)
    whole: bool = field(default=False, compare=False)

    @property
    def is_open(self) -> bool:
        """Whether the boundary may be left out: it is not in the half-space, or has measure zero."""
        return self.strict or (not self.whole and bool(self.form.noises))

    @property
    def halfspace(self) -> Halfspace:
        """The half-space over noises and inputs, by the numbering of `variables_of`: open where it may be."""
        return Halfspace(tuple(sorted(terms_of(self.form))), self.form.constant, self.is_open)

    @property
    def guard(self) -> Halfspace:
        """The half-space of a constraint on inputs alone, by their slots; its strictness is exact."""
        assert not self.form.noises
        return Halfspace(self.form.inputs, self.form.constant, self.strict)

    @cached_property
    def negation(self) -> Constraint:
        """The constraint that holds where this one does not."""
        opposite = -self.form
        if self.whole:
            return Constraint(opposite.shifted(Fraction(-1)), False, self.difference, _NEGATED[self.op], True)
        return Constraint(opposite, not self.form.noises and not self.strict, self.difference, _NEGATED[self.op])

    @cached_property
    def bound(self) -> Difference | None:
        """The constraint as a bound on the difference of two variables (or of one and ORIGIN), None when it is none."""
        upper, lower = difference_ends(terms_of(self.form))
        if upper is None or lower is None:
            return None
        least = -self.form.constant
        return upper, lower, (int(least) if least.denominator == 1 else least, int(self.is_open))

    def holds_at(self, inputs: Mapping[int, Fraction]) -> bool:
        """Whether a constraint on inputs alone holds."""
        value = self.form.at(inputs)
        return value > 0 or (not value and not self.strict)


def constraint(difference: Affine, op: CompareOp, whole: bool = False) -> Constraint:
    """`difference` `op` 0 for an inequality `op`; `whole` if all that `difference` depends on are integers."""
    assert op not in (CompareOp.EQ, CompareOp.NE)
    form = difference if op in (CompareOp.GE, CompareOp.GT) else -difference
    strict = op in (CompareOp.GT, CompareOp.LT)
    if whole:
        form = _coprime(form)
        constant = ceil(form.constant) - 1 if strict else floor(form.constant)
        return Constraint(Affine(form.noises, form.inputs, Fraction(constant)), False, difference, op, True)
    return Constraint(form.normalized(), strict and not form.noises, difference, op)


_NEGATED = {
    CompareOp.GE: CompareOp.LT,
    CompareOp.LT: CompareOp.GE,
    CompareOp.GT: CompareOp.LE,
    CompareOp.LE: CompareOp.GT,
    CompareOp.EQ: CompareOp.NE,
    CompareOp.NE: CompareOp.EQ,
}


def equality(difference: Affine, whole: bool = False) -> tuple[Constraint, Constraint] | None:
    """`difference` = 0 as two constraints, each shown as the equation; None if no integers satisfy it."""
    form = _coprime(difference) if whole else difference.normalized()
    if whole and form.constant.denominator != 1:
        return None
    return (
        Constraint(form, False, difference, CompareOp.EQ, whole),
        Constraint(-form, False, difference, CompareOp.EQ, whole),
    )


def _coprime(form: Affine) -> Affine:
    """The positive multiple whose coefficients are coprime integers; its constant may be any rational."""
    coefficients = [coefficient for _, coefficient in (*form.noises, *form.inputs)]
    if not coefficients or all(abs(coefficient) == 1 for coefficient in coefficients):
        return form
    below = lcm(*[coefficient.denominator for coefficient in coefficients])
    above = gcd(*[int(coefficient * below) for coefficient in coefficients])
    return form.scaled(Fraction(below, above))


@dataclass(frozen=True, slots=True, eq=False)
class ConstraintSet:
    """A conjunction: `items` in the order they were added, `keys` the same as a set, and all their `variables_of`."""

    items: tuple[Constraint, ...]
    keys: frozenset[Constraint]
    variables: frozenset[int]
    fingerprint: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConstraintSet) and (self is other or self.keys == other.keys)

    def __hash__(self) -> int:
        return self.fingerprint

    def add(self, extra: Constraint) -> ConstraintSet:
        if extra in self.keys:
            return self
        return ConstraintSet(
            (*self.items, extra),
            self.keys | {extra},
            self.variables.union(variables_of(extra.form)),
            self.fingerprint ^ hash(extra),
        )


NOTHING_KNOWN = ConstraintSet((), frozenset(), frozenset(), 0)


def constraint_set(items: Iterable[Constraint]) -> ConstraintSet:
    """The conjunction of `items`."""
    result = NOTHING_KNOWN
    for item in items:
        result = result.add(item)
    return result


def variables_of(form: Affine) -> list[int]:
    """The unknowns of a form under one numbering: noises even, inputs odd."""
    return [variable for variable, _ in terms_of(form)]


def is_input(variable: int) -> bool:
    """Whether a variable, by the numbering of `variables_of`, is an input."""
    return variable >= 0 and variable % 2 == 1


def terms_of(form: Affine) -> list[tuple[int, Fraction]]:
    """The terms of a form by the numbering of `variables_of`."""
    terms = [(2 * noise, coefficient) for noise, coefficient in form.noises]
    terms += [(2 * slot + 1, coefficient) for slot, coefficient in form.inputs]
    return terms


def form_of(terms: Iterable[tuple[int, Fraction]], constant: Fraction) -> Affine:
    """The inverse of `terms_of`."""
    noises = [(variable // 2, coefficient) for variable, coefficient in terms if variable % 2 == 0]
    inputs = [(variable // 2, coefficient) for variable, coefficient in terms if variable % 2 == 1]
    return Affine(tuple(sorted(noises)), tuple(sorted(inputs)), constant)

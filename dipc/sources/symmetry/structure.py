"""What a probability depends on, as a structure that can be compared: noises are anonymous, inputs have their names.

Two structures are alike if one is the other with its noises renamed; the probabilities are then the same function of
the inputs. Only the noises' laws and the half-spaces matter, so all forms are scaled alike whatever their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from dipc.algebra.quotient import Closed
from dipc.chain.affine import Affine, Terms
from dipc.chain.component import ComponentTemplate
from dipc.chain.constraints import Constraint
from dipc.chain.event import EventTemplate
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Family

_T = TypeVar("_T")

#: Rounds of refinement: two noises that look alike so far around are told apart by nothing but chance.
_ROUNDS = 3

#: Σ coefficient · u[slot] + constant.
InputForm = tuple[Terms, Fraction]


@dataclass(frozen=True, slots=True)
class Law:
    """The law of one noise; its mean is a form over inputs."""

    family: Family
    rate: Fraction
    mean: InputForm


@dataclass(frozen=True, slots=True)
class Relation:
    """Σ coefficient · X[noise] + form >= 0 or, `within`, |Σ coefficient · X[noise] + form| <= gamma."""

    noises: Terms
    form: InputForm
    within: bool


@dataclass(frozen=True, slots=True)
class DependentFactor:
    """Dependent noises with their relations: a factor of the probability."""

    laws: tuple[Law, ...]
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Ending:
    """An exit: where `guards` hold and `points` lie within gamma of 0, the product of the weight and all parts."""

    weight: Closed | None
    guards: frozenset[Halfspace]
    points: frozenset[InputForm]
    needs_radius: bool
    parts: tuple[DependentFactor, ...]


def guard_of(item: Constraint) -> Halfspace:
    """A constraint on inputs alone, scaled to coefficients of absolute sum 1: equal sets are equal half-spaces."""
    terms, constant = _scaled(item.form.inputs, item.form.inputs, item.form.constant)
    return Halfspace(terms, constant, item.strict)


def guards_of(items: Iterable[Constraint]) -> frozenset[Halfspace]:
    """A conjunction of constraints on inputs alone."""
    return frozenset(guard_of(item) for item in items)


def ending_of(event: EventTemplate, weight: Closed | None, centers: Mapping[int, InputForm]) -> Ending:
    """The exit `event`, with the balls around `centers`, forms over the inputs by output slot."""
    return Ending(
        weight,
        guards_of(event.guards),
        frozenset(_point(form, centers[slot]) for slot, form in event.points),
        bool(event.random_balls),
        tuple(_part(part, centers) for part in event.components),
    )


def mentioned(endings: Iterable[Ending]) -> set[int]:
    """The input slots that the endings depend on."""
    found: set[int] = set()
    for ending in endings:
        forms = [guard.coefficients for guard in ending.guards]
        forms += [terms for terms, _ in ending.points]
        for part in ending.parts:
            forms += [law.mean[0] for law in part.laws]
            forms += [relation.form[0] for relation in part.relations]
        found.update(slot for terms in forms for slot, _ in terms)
    return found


# --- renaming inputs --------------------------------------------------------------------------------

Renaming = Mapping[int, int]


def renamed_terms(terms: Terms, names: Renaming) -> Terms:
    """The terms with input slots renamed; the same object where no slot of them is."""
    if not any(slot in names for slot, _ in terms):
        return terms
    return tuple(sorted((names.get(slot, slot), coefficient) for slot, coefficient in terms))


def renamed_guards(guards: frozenset[Halfspace], names: Renaming) -> frozenset[Halfspace]:
    """The half-spaces with input slots renamed."""
    return frozenset(renamed_guard(guard, names) for guard in guards)


def renamed_guard(guard: Halfspace, names: Renaming) -> Halfspace:
    """The half-space with input slots renamed."""
    return Halfspace(renamed_terms(guard.coefficients, names), guard.constant, guard.strict)


def renamed_part(part: DependentFactor, names: Renaming) -> DependentFactor:
    """The part with input slots renamed; the same object where it mentions none of them."""
    laws = tuple(_renamed_law(law, names) for law in part.laws)
    relations = tuple(
        Relation(relation.noises, (renamed_terms(relation.form[0], names), relation.form[1]), relation.within)
        for relation in part.relations
    )
    return part if laws == part.laws and relations == part.relations else DependentFactor(laws, relations)


def _renamed_law(law: Law, names: Renaming) -> Law:
    terms, constant = law.mean
    moved = renamed_terms(terms, names)
    return law if moved is terms else Law(law.family, law.rate, (moved, constant))


# --- likeness ---------------------------------------------------------------------------------------


def same_after(endings: Sequence[Ending], names: Renaming) -> bool:
    """True only if renaming the inputs gives the same endings, but for their order and the names of noises.

    The sum over the endings is then the same function of the inputs before and after. False says nothing.
    """
    moved = [_renamed(ending, names) for ending in endings]
    return _matched(list(endings), moved, _same_ending)


def _renamed(ending: Ending, names: Renaming) -> Ending:
    return Ending(
        ending.weight,
        renamed_guards(ending.guards, names),
        frozenset(_signless(renamed_terms(terms, names), constant) for terms, constant in ending.points),
        ending.needs_radius,
        tuple(renamed_part(part, names) for part in ending.parts),
    )


def _same_ending(left: Ending, right: Ending) -> bool:
    return (
        left.guards == right.guards
        and left.points == right.points
        and left.needs_radius == right.needs_radius
        and left.weight == right.weight
        and _matched(list(left.parts), list(right.parts), same_part)
    )


def _matched(left: list[_T], right: list[_T], same: Callable[[_T, _T], bool]) -> bool:
    """Whether the items can be paired off; `same` is an equivalence, so that the first partner is as good as any."""
    if len(left) != len(right):
        return False
    for item in left:
        at = next((at for at, other in enumerate(right) if item is other or same(item, other)), None)
        if at is None:
            return False
        right.pop(at)
    return True


def same_part(left: DependentFactor, right: DependentFactor) -> bool:
    """True only if `right` is `left` with its noises renamed. False says nothing."""
    if len(left.laws) != len(right.laws) or len(left.relations) != len(right.relations):
        return False
    if left == right:
        return True
    order, other = _order(left), _order(right)
    partner = dict(zip(other, order, strict=True))
    if any(left.laws[partner[noise]] != law for noise, law in enumerate(right.laws)):
        return False
    moved = Counter(
        Relation(tuple(sorted((partner[n], c) for n, c in relation.noises)), relation.form, relation.within)
        for relation in right.relations
    )
    return moved == Counter(left.relations)


def _order(part: DependentFactor) -> list[int]:
    """The noises in an order that depends on their names as little as colors that are refined can make it."""
    colors = [hash(law) for law in part.laws]
    around: list[list[Relation]] = [[] for _ in part.laws]
    for relation in part.relations:
        for noise, _ in relation.noises:
            around[noise].append(relation)
    for _ in range(_ROUNDS):
        seen = {
            id(relation): hash(
                (tuple(sorted((c, colors[n]) for n, c in relation.noises)), relation.form, relation.within)
            )
            for relation in part.relations
        }
        colors = [
            hash((color, tuple(sorted((c, seen[id(r)]) for r in around[at] for n, c in r.noises if n == at))))
            for at, color in enumerate(colors)
        ]
    return sorted(range(len(colors)), key=lambda noise: colors[noise])


# --- reading templates ------------------------------------------------------------------------------


def _part(part: ComponentTemplate, centers: Mapping[int, InputForm]) -> DependentFactor:
    laws = tuple(Law(noise.family, noise.rate, (noise.inputs, noise.constant)) for noise in part.noises)
    relations = []
    for bound in part.bounds:
        if bound.ball is None:
            scale = sum(abs(coefficient) for _, coefficient in bound.coefficients)
            noises = tuple((noise, coefficient / scale) for noise, coefficient in bound.coefficients)
            terms = tuple((slot, coefficient / scale) for slot, coefficient in bound.inputs)
            relations.append(Relation(noises, (terms, bound.constant / scale), False))
        else:
            form = _difference((bound.inputs, bound.constant), centers[bound.ball])
            relations.append(Relation(bound.coefficients, form, True))
    return DependentFactor(laws, tuple(relations))


def _point(form: Affine, center: InputForm) -> InputForm:
    return _signless(*_difference((form.inputs, form.constant), center))


def _difference(left: InputForm, right: InputForm) -> InputForm:
    difference = Affine((), left[0], left[1]) - Affine((), right[0], right[1])
    return difference.inputs, difference.constant


def _signless(terms: Terms, constant: Fraction) -> InputForm:
    """The one of the form and its negative that comes last: only the absolute value matters."""
    negative = tuple((slot, -coefficient) for slot, coefficient in terms)
    return max((terms, constant), (negative, -constant))


def _scaled(by: Terms, terms: Terms, constant: Fraction) -> InputForm:
    scale = sum(abs(coefficient) for _, coefficient in by)
    if not scale or scale == 1:
        return terms, constant
    return tuple((slot, coefficient / scale) for slot, coefficient in terms), constant / scale

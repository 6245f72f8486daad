"""The structure that a probability depends on, in a form that can be compared: noises are anonymous, inputs are named.

Two structures are alike if one is the other with its noises renamed; the probabilities are then the same function of
the inputs. The structure consists of the laws of the noises and of half-spaces, all scaled in the same way. Their order
does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import prod
from typing import TypeVar, assert_never

from dipc.algebra.exppoly import Closed
from dipc.chain.event import EventTemplate
from dipc.chain.state import Affine, Answer, Constraint, Terms, finite_values, same_value
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.program.ideal import Ideal, Region
from dipc.program.nearness import AllOf, AnyOf, Formula
from dipc.rules.centered_exits import NoiseComponent, centered_component, with_answers
from dipc.rules.exchange import arrangements
from dipc.rules.halfspaces import has_gamma
from dipc.text.ast import BaseType
from dipc.text.core import Value

_T = TypeVar("_T")

#: The rounds of refinement of colors. Two noises that have one color afterwards are hardly ever different.
_ROUNDS = 3

Renaming = Mapping[int, int]


@frozen
class Ending:
    """An exit in a form that can be compared with others.

    The exit applies if all `guards` hold, which are about inputs and gamma. Its probability is then the product of
    `weight` and the probabilities of all `parts`. `needs_radius` is true if some part depends on gamma.
    """

    weight: Closed | None
    guards: frozenset[Halfspace]
    needs_radius: bool
    parts: tuple[NoiseComponent, ...]

    def renamed(self, names: Renaming) -> Ending:
        """Return this exit with its input slots renamed by `names`."""
        parts = [
            replace(each, halfspaces=tuple([half.renamed(names) for half in each.halfspaces])) for each in self.parts
        ]
        return Ending(self.weight, renamed_guards(self.guards, names), self.needs_radius, tuple(parts))


def guard_of(form: Affine, *, strict: bool = False) -> Halfspace:
    """Return the condition that `form`, which contains no noises, is at least 0, as a half-space.

    The coefficients are scaled so that their absolute values have the sum 1; equal sets of inputs then have equal
    half-spaces. With `strict` the condition is that the form is greater than 0.
    """
    scaled = form.scaled(1 / _size(form.inputs))
    return Halfspace(scaled.inputs, scaled.constant, strict)


def guards_of(items: Iterable[Constraint]) -> frozenset[Halfspace]:
    """Return the constraints `items` on inputs as half-spaces, scaled as `guard_of` does."""
    return frozenset(guard_of(item.form, strict=item.strict) for item in items)


def ending_of(event: EventTemplate, weight: Closed | None, centers: Mapping[int, Affine]) -> Ending:
    """Return the exit `event` with this `weight` in a form that can be compared with others.

    `centers` has the right answer of each real output, a form over inputs, by slot.
    """
    points = [guard_of(with_answers(point, centers)) for point in event.points]
    parts = []
    for component in event.components:
        part = centered_component(component, centers)
        halves = [half if has_gamma(half) else half.scaled(1 / _size(half.noises)) for half in part.halfspaces]
        parts.append(replace(part, halfspaces=tuple(halves)))
    return Ending(weight, guards_of(event.guards).union(points), event.in_balls, tuple(parts))


def renamed_guards(guards: frozenset[Halfspace], names: Renaming) -> frozenset[Halfspace]:
    """Return the half-spaces `guards` with the input slots renamed by `names`."""
    return frozenset(renamed_guard(guard, names) for guard in guards)


def renamed_guard(guard: Halfspace, names: Renaming) -> Halfspace:
    """Return the half-space `guard` with the input slots renamed by `names`."""
    form = Affine((), guard.coefficients, guard.constant).renamed(names)
    return Halfspace(form.inputs, form.constant, guard.strict)


# --- likeness ---------------------------------------------------------------------------------------


def _same_ending(left: Ending, right: Ending) -> bool:
    return (
        left.guards == right.guards
        and left.needs_radius == right.needs_radius
        and left.weight == right.weight
        and _matched(list(left.parts), list(right.parts), same_part)
    )


def _matched(left: list[_T], right: list[_T], same: Callable[[_T, _T], bool]) -> bool:
    """Return True if the items of `left` and `right` can be paired so that `same` is True for each pair.

    `same` must be an equivalence. Items of `right` are removed as they are paired.
    """
    if len(left) != len(right):
        return False
    for item in left:
        position = next((index for index, other in enumerate(right) if item is other or same(item, other)), None)
        if position is None:
            return False
        right.pop(position)
    return True


def same_part(left: NoiseComponent, right: NoiseComponent) -> bool:
    """Return True only if `right` is `left` with its noises renamed; False proves nothing."""
    if len(left.noises) != len(right.noises) or len(left.halfspaces) != len(right.halfspaces):
        return False
    if left == right:
        return True
    order, other = _order(left), _order(right)
    partner = dict(zip(other, order, strict=True))
    if any(left.noises[partner[place]] != noise for place, noise in enumerate(right.noises)):
        return False
    return Counter(half.renamed({}, partner) for half in right.halfspaces) == Counter(left.halfspaces)


def _order(component: NoiseComponent) -> list[int]:
    """Return the indices of the noises of `component`, in an order that hardly depends on how they were numbered.

    The noises are sorted by a hash value. It combines the law of a noise, the half-spaces that mention the noise, and
    the hash values of the other noises in these half-spaces.
    """
    colors = [hash(noise) for noise in component.noises]
    around: list[list[Affine]] = [[] for _ in component.noises]
    for half in component.halfspaces:
        for noise, _ in half.noises:
            around[noise].append(half)
    for _ in range(_ROUNDS):
        seen = {
            id(half): hash((tuple(sorted((c, colors[n]) for n, c in half.noises)), half.inputs, half.constant))
            for half in component.halfspaces
        }
        colors = [
            hash(
                (color, tuple(sorted((c, seen[id(h)]) for h in around[position] for n, c in h.noises if n == position)))
            )
            for position, color in enumerate(colors)
        ]
    return sorted(range(len(colors)), key=lambda noise: colors[noise])


def _size(terms: Terms) -> Fraction:
    return sum((abs(coefficient) for _, coefficient in terms), Fraction(0)) or Fraction(1)


# --- families -------------------------------------------------------------------------------------
#
# The regions of the ideal that share an answer.

#: The greatest number of combinations of finite inputs that are examined.
_MOST_COMBINATIONS = 2_000


@frozen
class RegionFamily:
    """All regions that have one and the same answer in the outputs that dd(u) depends on.

    `guards` has an entry for each combination of values of the finite inputs: the set of its regions, each given by the
    set of its guards. If `alone` is true, there is only one region, no finite input, and the answer is constant.
    """

    guards: tuple[frozenset[frozenset[Halfspace]], ...]
    alone: bool


class Families:
    """A finder of the regions of one `ideal` that have equal answers."""

    def __init__(self, ideal: Ideal) -> None:
        self._ideal = ideal
        self._known: dict[tuple[Value | None, ...], RegionFamily | None] = {}
        self._all = self._everything()

    def family(self, region: Region) -> RegionFamily | None:
        """Return all regions with the answer of `region`; no other inputs have this answer.

        The result is None if an output depends on the input and there is more than one region: the regions alone do not
        show which answers are equal. It is also None if there are too many combinations of finite inputs.
        """
        key = tuple(_constant(value) for value in self._ideal.metric.decisive(region.answer))
        if key not in self._known:
            self._known[key] = self._find(key)
        return self._known[key]

    def _everything(self) -> tuple[tuple[Region, ...], ...] | None:
        slots = self._ideal.program.core.slots
        finite = self._ideal.finite_inputs
        domains = [finite_values(slots[slot]) for slot in finite]
        if prod(map(len, domains)) > _MOST_COMBINATIONS:
            return None
        return tuple(
            self._ideal.regions(dict(zip(finite, combination, strict=True))) for combination in product(*domains)
        )

    def _find(self, key: tuple[Value | None, ...]) -> RegionFamily | None:
        if self._all is None:
            return None
        decisive = self._ideal.metric.decisive
        members = [[region for region in regions if _may_equal(decisive(region.answer), key)] for regions in self._all]
        count = sum(map(len, members))
        moving = any(
            _constant(value) is None for regions in members for region in regions for value in decisive(region.answer)
        )
        if moving and count > 1:
            return None
        guards = tuple(frozenset(guards_of(region.guards) for region in regions) for regions in members)
        return RegionFamily(guards, count == 1 and not moving and not self._ideal.finite_inputs)


def _may_equal(answer: tuple[Answer, ...], key: tuple[Value | None, ...]) -> bool:
    pairs = zip(map(_constant, answer), key, strict=True)
    return all(value is None or wanted is None or same_value(value, wanted) for value, wanted in pairs)


def _constant(value: Answer) -> Value | None:
    if isinstance(value, Affine):
        return value.constant if value.is_number else None
    return value


# --- apartness ------------------------------------------------------------------------------------
#
# The exchanges of inputs that leave the condition `apart` of a metric unchanged.

#: A formula whose parts have no order.
_Key = Halfspace | bool | tuple[str, frozenset["_Key"]]


@frozen
class Apartness:
    """The condition `formula` under which two inputs u and u' are infinitely far apart.

    In the formula, slot s is an input of u, and s + `shift` is the same input of u'.
    """

    formula: Formula
    shift: int

    def mentions(self) -> set[int]:
        """Return the input slots that the condition depends on, in u or in u'."""
        return {slot % self.shift for item in _constraints(self.formula) for slot, _ in item.form.inputs}

    def allows(self, names: Renaming) -> bool:
        """Return True only if renaming the inputs by `names`, in u and in u', does not change the condition."""
        both = {**names, **{slot + self.shift: other + self.shift for slot, other in names.items()}}
        return _key(self.formula, both) == _key(self.formula, {})


def apartness(ideal: Ideal) -> Apartness | None:
    """Return the condition under which the metric of `ideal` puts two inputs infinitely far apart, or None.

    None means that the metric has no such condition. All inputs must be real or int. Raises DiagnosticError if the
    condition has no value, for example because an index is out of range.
    """
    metric = ideal.metric
    if metric.core.apart is None:
        return None
    slots = ideal.program.core.slots
    shift = len(slots)
    here: Mapping[int, Answer] = {slot: Affine.input(slot) for slot in ideal.symbolic_inputs}
    there: Mapping[int, Answer] = {slot: Affine.input(slot + shift) for slot in ideal.symbolic_inputs}

    def is_integral(form: Affine) -> bool:
        return slots[form.inputs[0][0] % shift].type is BaseType.INT

    return Apartness(metric.far_condition(here, there, is_integral), shift)


def _key(formula: Formula, names: Renaming) -> _Key:
    match formula:
        case bool():
            return formula
        case Constraint():
            return renamed_guard(guard_of(formula.form, strict=formula.strict), names)
        case AllOf(formulas):
            return "every", frozenset(_key(inner, names) for inner in formulas)
        case AnyOf(formulas):
            return "some", frozenset(_key(inner, names) for inner in formulas)
        case _:
            assert_never(formula)


def _constraints(formula: Formula) -> Iterator[Constraint]:
    match formula:
        case Constraint():
            yield formula
        case AllOf(formulas) | AnyOf(formulas):
            for inner in formulas:
                yield from _constraints(inner)


# --- blocks ---------------------------------------------------------------------------------------
#
# Interchangeable inputs of one region, and the inputs of the region up to exchanging them.
#
# **Lemma.** Let S be the set of inputs with one answer v of det, compared by the outputs that dd(u) depends on, and R
# one of its convex regions. Let a transposition of two input positions with the same candidate values and the same
# declared domain map
# (a) the exits that produce v to themselves, except for their order and the names of noises,
# (b) the guards of R to themselves, and the regions of S to each other,
# (c) the forms of the real outputs of v to each other,
# (d) the pairs of inputs that the metric puts infinitely far apart to each other.
# Then an input u of R and u', which is u with the two values exchanged, have the same obligation.
#
# Proof. By (b) u' is in R, so that det gives both the answer v, with the same real outputs in another order by (c). By
# (a) the probability of v within any gamma is the same at u and u': the sum over the exits of weights times measures is
# the same function before and after the exchange. And dd(u') = dd(u): the distances on inputs (linf, l1, discrete; by
# (d) also infinite ones) do not change when both arguments are permuted, and by (b) and (c) an input w has another
# answer than u exactly if w with its values exchanged has another answer than u'. ∎
#
# The transpositions (r p) and (r p') generate (p p'). So a position is compared with only one position of each block.
#
# A position on which no exit, no region of S, no output form and no such pair depends is free: neither the probability
# nor dd depends on it, the latter because the nearest w can agree with u there.

#: The values that an input can take: its declared domain; None for all rationals or, for an int input, all integers.
Domain = tuple[Fraction, ...] | None


@frozen
class Position:
    """One numeric input: its `slot`, its `values` in the inputs asked about, and its declared `domain`.

    `whole` is true if the program that is executed declares the input as an int.
    """

    slot: int
    values: tuple[Fraction, ...]
    domain: Domain
    whole: bool

    @property
    def any_integer(self) -> bool:
        """True if the declared domain of the input is all integers."""
        return self.whole and self.domain is None


@frozen
class Block:
    """Interchangeable inputs: their `slots`, and the `values` that each of them can have.

    If `free` is true, the block is a single slot on which neither the answer nor its probability depends.
    """

    slots: tuple[int, ...]
    values: tuple[Fraction, ...]
    free: bool = False


@frozen
class AlikeInputs:
    """A class of `count` inputs with the same obligation; `inputs` is one of them, with its `answer` and `dd`.

    Values are in the order of the program's inputs and outputs; `dd` is None for infinity. If the class has `blocks`,
    the other members result from two changes. Values may be exchanged within a block. The input of a free block, on
    which neither the answer nor its probability depends, may have any other value of the block.
    """

    inputs: tuple[Value, ...]
    answer: tuple[Value, ...]
    dd: Fraction | None
    count: int
    blocks: tuple[Block, ...] = ()


def blocks_of(
    guards: frozenset[Halfspace],
    family: RegionFamily,
    forms: frozenset[Affine],
    endings: Sequence[Ending],
    apart: Apartness | None,
    positions: Sequence[Position],
) -> tuple[Block, ...]:
    """Divide the inputs `positions` of a region into few blocks of inputs that are proved to be interchangeable.

    `guards` are the region's guards, and `family` has those of all regions with its answer. `forms` are the real
    outputs of the answer, and `endings` its exits. `apart` is the condition under which inputs are infinitely far
    apart.
    """
    terms = [form.inputs for form in forms]
    terms += [guard.coefficients for regions in family.guards for own in regions for guard in own]
    terms += [guard.coefficients for ending in endings for guard in ending.guards]
    terms += [half.inputs for ending in endings for part in ending.parts for half in part.halfspaces]
    depends = {slot for each in terms for slot, _ in each}.union(() if apart is None else apart.mentions())

    def keeps_obligations(left: int, right: int) -> bool:
        names = {left: right, right: left}
        return (
            renamed_guards(guards, names) == guards
            and all(frozenset(renamed_guards(own, names) for own in regions) == regions for regions in family.guards)
            and frozenset(form.renamed(names) for form in forms) == forms
            and (apart is None or apart.allows(names))
            # Noises may be renamed, too. The probability of the answer is then the same function of the inputs.
            and _matched(list(endings), [ending.renamed(names) for ending in endings], _same_ending)
        )

    groups: list[list[Position]] = []
    free: list[Block] = []
    for position in positions:
        if position.slot not in depends:
            free.append(Block((position.slot,), position.values, True))
            continue
        for group in groups:
            first = group[0]
            alike = (first.values, first.domain, first.whole) == (position.values, position.domain, position.whole)
            if alike and keeps_obligations(first.slot, position.slot):
                group.append(position)
                break
        else:
            groups.append([position])
    taken = [Block(tuple(position.slot for position in group), group[0].values) for group in groups]
    return (*taken, *free)


def singletons(positions: Sequence[Position]) -> tuple[Block, ...]:
    """Return a block for each of the inputs `positions`, so that no inputs are exchanged."""
    return tuple(Block((position.slot,), position.values) for position in positions)


def representatives(
    blocks: Sequence[Block], guards: Sequence[Constraint]
) -> Iterator[tuple[dict[int, Fraction], int] | None]:
    """Yield (values by slot, number of members) for each class of inputs that satisfies `guards`.

    Two inputs are in one class if exchanges of values within `blocks` turn one into the other. The yielded values are
    those of one member. None is yielded for each class that violates the guards, so that the caller can count the
    attempts.
    """
    fixed = [block for block in _narrowed(blocks, guards) if not block.free]
    order = {slot: position for position, block in enumerate(fixed) for slot in block.slots}
    due: list[list[Constraint]] = [[] for _ in fixed]
    for guard in guards:
        ats = [order[slot] for slot, _ in guard.form.inputs]
        if ats:
            due[max(ats)].append(guard)
    rest = {block.slots[0]: block.values[0] for block in blocks if block.free}
    multiple = prod(len(block.values) for block in blocks if block.free)
    chosen: dict[int, Fraction] = {}

    def extend(position: int, count: int) -> Iterator[tuple[dict[int, Fraction], int] | None]:
        if position == len(fixed):
            yield {**chosen, **rest}, count
            return
        block = fixed[position]
        for values in combinations_with_replacement(block.values, len(block.slots)):
            chosen.update(zip(block.slots, values, strict=True))
            if all(guard.holds_at(chosen) for guard in due[position]):
                yield from extend(position + 1, count * arrangements(values))
            else:
                yield None

    if all(guard.form.inputs or guard.holds_at({}) for guard in guards):
        yield from extend(0, multiple)


def _narrowed(blocks: Sequence[Block], guards: Sequence[Constraint]) -> Iterator[Block]:
    """Yield `blocks` of interchangeable inputs, without the values that violate one of `guards` on a single input.

    All inputs of a block have the same guards of this kind, because exchanging two inputs maps `guards` to themselves.
    """
    alone: dict[int, list[Constraint]] = {}
    for guard in guards:
        if len(guard.form.inputs) == 1:
            alone.setdefault(guard.form.inputs[0][0], []).append(guard)
    for block in blocks:
        first = block.slots[0]
        mine = alone.get(first, [])
        values = tuple(value for value in block.values if all(guard.holds_at({first: value}) for guard in mine))
        yield Block(block.slots, values, block.free)

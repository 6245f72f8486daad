"""Finite inputs by multisets: one row for all orders of the values of interchangeable inputs.

Inputs are divided into *groups*: the blocks of `dipc.program.interchange`, and each other input alone. A *multiset
input* has in each group its values in the order of their domain, and represents every input with these values in any
order.

Lemma. dd(u) is the least distance of the multiset input of u from one with another answer, where the distance of two
multiset inputs is that of their nearest arrangements.

- Conditions: det and the distance of inputs are unchanged when inputs of a group exchange their values.
- Proof: reordering u and u' in the same way does not change their distance, and reordering u' alone does not change its
  answer. So dd(u) is a minimum over the multisets of u' of the least distance over their arrangements.
- The least distance of two lists of numbers is that of the sorted lists. Exchanging two values that are in opposite
  order never makes the largest distance or the sum of the distances smaller.
- Two names can only be equal or different. The least distance of two lists of names is the size of the multiset
  difference.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, factorial, prod

from dipc.algebra.limits import LimitReached
from dipc.chain.state import finite_values, same_value
from dipc.frozen import frozen
from dipc.program.grid import gap
from dipc.program.ideal import Ideal
from dipc.program.inputs import FiniteInputs
from dipc.program.interchange import interchangeable
from dipc.program.metric import Norm
from dipc.program.program import Program
from dipc.questions.symmetry import AlikeInputs
from dipc.text.core import Value

_ZERO, _ONE = Fraction(0), Fraction(1)

#: Values of one group, in the order of its domain.
Bag = tuple[Value, ...]

#: The values of each group.
MultisetInput = tuple[Bag, ...]


@frozen
class Group:
    """A group of interchangeable inputs.

    `places` are the indices of the inputs, and `values` the values that each of them can have, in order.
    """

    places: tuple[int, ...]
    values: tuple[Value, ...]

    @property
    def is_numeric(self) -> bool:
        """True if the values are numbers, whose distance is their difference."""
        return all(isinstance(value, Fraction) for value in self.values)

    @property
    def size(self) -> int:
        """The number of multisets with one value for each input of the group."""
        return comb(len(self.places) + len(self.values) - 1, len(self.places))

    def ordered(self, values: Iterable[Value]) -> Bag:
        """Return `values`, one for each input of the group, sorted as the group's possible values are."""
        if self.is_numeric:
            return tuple(sorted(values))
        rank = {(type(value), value): number for number, value in enumerate(self.values)}
        return tuple(sorted(values, key=lambda value: rank[type(value), value]))

    def orders(self, bag: Bag) -> int:
        """Return the number of distinct sequences that can be made from the values in `bag`."""
        repeats = Counter((type(value), value) for value in bag)
        return factorial(len(bag)) // prod(map(factorial, repeats.values()))


class Groups:
    """The groups of interchangeable inputs, in the order of their first indices.

    A *multiset input* has for each group a multiset of values, one value for each input of the group. It represents all
    inputs that have these values in any order.
    """

    def __init__(self, groups: Sequence[Group]) -> None:
        self.groups = tuple(groups)

    @property
    def size(self) -> int:
        """The number of multiset inputs."""
        return prod(group.size for group in self.groups)

    @property
    def inputs(self) -> int:
        """The number of inputs that all multiset inputs together represent."""
        return prod(len(group.values) ** len(group.places) for group in self.groups)

    @property
    def alike(self) -> tuple[tuple[int, ...], ...]:
        """For each group of several inputs, the indices of its inputs."""
        return tuple([group.places for group in self.groups if len(group.places) > 1])

    @property
    def choices(self) -> tuple[tuple[Value, ...], ...]:
        """The possible values of each input, in the order of the inputs."""
        ordered = {place: group.values for group in self.groups for place in group.places}
        return tuple([ordered[place] for place in range(len(ordered))])

    def __iter__(self) -> Iterator[MultisetInput]:
        return product(*[combinations_with_replacement(each.values, len(each.places)) for each in self.groups])

    def member(self, bags: MultisetInput) -> tuple[Value, ...]:
        """Return the first input that the multiset input `bags` represents."""
        values: dict[int, Value] = {}
        for group, bag in zip(self.groups, bags, strict=True):
            values |= zip(group.places, bag, strict=True)
        return tuple([values[place] for place in range(len(values))])

    def count(self, bags: MultisetInput) -> int:
        """Return the number of inputs that the multiset input `bags` represents."""
        return prod(group.orders(bag) for group, bag in zip(self.groups, bags, strict=True))

    def replaced(self, bags: MultisetInput, most: int) -> set[MultisetInput]:
        """Return the multiset inputs that differ from `bags` in at least 1 and at most `most` values."""
        reached = {bags}
        newest = {bags}
        for _ in range(most):
            newest = {other for each in newest for other in self._replaced_once(each)} - reached
            reached |= newest
        return reached - {bags}

    def _replaced_once(self, bags: MultisetInput) -> Iterator[MultisetInput]:
        for number, (group, bag) in enumerate(zip(self.groups, bags, strict=True)):
            for place, old in enumerate(bag):
                if place and bag[place - 1] == old and type(bag[place - 1]) is type(old):
                    continue
                rest = (*bag[:place], *bag[place + 1 :])
                for new in group.values:
                    if not (new == old and type(new) is type(old)):
                        changed = group.ordered((*rest, new))
                        yield (*bags[:number], changed, *bags[number + 1 :])

    def arranged(self, one: Sequence[Value], other: Sequence[Value]) -> tuple[Value, ...]:
        """Return the values of `other`, ordered within each group to agree with `one` at as many inputs as possible."""
        result = list(other)
        for group in self.groups:
            left = [other[place] for place in group.places]
            kept: dict[int, Value] = {}
            for place in group.places:
                if any(same_value(one[place], value) for value in left):
                    kept[place] = one[place]
                    left.pop(next(n for n, value in enumerate(left) if same_value(one[place], value)))
            for place in group.places:
                result[place] = kept[place] if place in kept else left.pop(0)
        return tuple(result)

    def multiset(self, inputs: Sequence[Value]) -> MultisetInput:
        """Return the multiset input that represents the input `inputs`."""
        return tuple([each.ordered([inputs[place] for place in each.places]) for each in self.groups])


def groups_of(
    program: Program, ideal: Ideal | None, choices: Sequence[Sequence[Value]], *, by_transitions: bool = True
) -> Groups | None:
    """Return the groups of interchangeable inputs of `program`, or None if no two inputs are interchangeable.

    `choices` has the values of each input. With an `ideal`, an exchange of two inputs must also keep right answers and
    distances between inputs. If `by_transitions` is False, inputs are shown to be interchangeable by the program's
    expressions alone, not by its steps.
    """
    core = program.core
    place = {slot: number for number, slot in enumerate(core.inputs)}
    groups: list[Group] = []
    taken: set[int] = set()
    for block in interchangeable(program, ideal, by_transitions=by_transitions):
        alike: dict[tuple[tuple[type, Value], ...], list[int]] = {}
        for slot in block:
            known = tuple(sorted([(type(value), value) for value in choices[place[slot]]], key=str))
            alike.setdefault(known, []).append(place[slot])
        for places in alike.values():
            if len(places) > 1:
                domain = finite_values(core.slots[core.inputs[places[0]]])
                chosen = {(type(value), value) for value in choices[places[0]]}
                values = tuple([value for value in domain if (type(value), value) in chosen])
                if all(isinstance(value, Fraction) for value in values):
                    values = tuple(sorted(values))
                groups.append(Group(tuple(places), values))
                taken.update(places)
    if not groups:
        return None
    groups += [Group((number,), tuple(values)) for number, values in enumerate(choices) if number not in taken]
    return Groups(sorted(groups, key=lambda group: group.places))


# --- Distances --------------------------------------------------------------------------------------------------------


def bag_distance(group: Group, norm: Norm, one: Bag, other: Bag) -> Fraction:
    """Return the least distance in `norm` between `one` and `other`, over all orders of their values.

    Each of the two has a value for each input of `group`, sorted as the group's possible values are.
    """
    if one == other:
        return _ZERO
    if norm is Norm.DISCRETE:
        return _ONE
    if group.is_numeric:
        return norm.combined([gap(a, b) for a, b in zip(one, other, strict=True)])  # Both are in increasing order.
    changed = len(one) - sum((Counter(one) & Counter(other)).values())
    return Fraction(changed) if norm is Norm.L1 else _ONE


class MultisetDistances:
    """A computation of dd for multiset inputs, by comparing the right answers at all multiset inputs of the program."""

    def __init__(self, ideal: Ideal, groups: Groups) -> None:
        """Compute det of the `ideal` at every multiset input of `groups`.

        Raises DiagnosticError if det is undefined at one of them, and LimitReached if there are too many.
        """
        most = ideal.program.limits.combinations
        if groups.size > most:
            raise LimitReached("combinations", f"the finite inputs have {groups.size} multisets, too many to compare")
        self._groups = groups
        self._norm = ideal.metric.norm
        decisive = ideal.metric.decisive
        self.answers: dict[MultisetInput, tuple[Value, ...]] = {}
        #: A number for the outputs that dd depends on: equal answers have equal numbers.
        self._told: dict[MultisetInput, int] = {}
        numbers: dict[object, int] = {}
        ranked: list[tuple[Fraction, MultisetInput, int]] = []
        for bags in groups:
            answer = self.answers[bags] = tuple(ideal.values(groups.member(bags)))
            key = tuple([(type(value), value) for value in decisive(answer)])
            told = self._told[bags] = numbers.setdefault(key, len(numbers))
            ranked.append((self._height(bags), bags, told))
        ranked.sort(key=lambda each: each[0])
        self._ranked = ranked
        self._heights = [height for height, _, _ in ranked]
        self._is_constant = len(numbers) == 1
        places = sum(len(group.places) for group in groups.groups)
        #: The most by which the sum of all numbers changes over the distance 1; None if there is no bound.
        self._steepness = {Norm.L1: _ONE, Norm.LINF: Fraction(places), Norm.DISCRETE: None}[self._norm]

    def _height(self, bags: MultisetInput) -> Fraction:
        numbers = [value for bag in bags for value in bag if isinstance(value, Fraction)]
        return sum(numbers, _ZERO)

    def dd(self, bags: MultisetInput) -> Fraction | None:
        """Return dd of the inputs that the multiset input `bags` represents; None is infinity."""
        if self._is_constant:
            return None
        own = self._told[bags]
        height = self._height(bags)
        start = bisect_left(self._heights, height)
        best: Fraction | None = None
        for position in self._outwards(start, height):
            there, other, told = self._ranked[position]
            if best is not None and self._steepness is not None and abs(there - height) >= best * self._steepness:
                break
            if told == own:
                continue
            parts = zip(self._groups.groups, bags, other, strict=True)
            distance = self._norm.combined([bag_distance(group, self._norm, a, b) for group, a, b in parts])
            if best is None or distance < best:
                best = distance
                if self._norm is Norm.DISCRETE:
                    break
        return best

    def _outwards(self, start: int, height: Fraction) -> Iterator[int]:
        """Yield the indices of all multiset inputs, those whose height is nearest to `height` first.

        The height of a multiset input is the sum of its numbers. The multiset inputs are sorted by height, and `start`
        is the first index whose height is at least `height`.
        """
        low, high = start - 1, start
        heights = self._heights
        while low >= 0 or high < len(heights):
            if low < 0 or (high < len(heights) and heights[high] - height <= height - heights[low]):
                yield high
                high += 1
            else:
                yield low
                low -= 1


# --- Classes ----------------------------------------------------------------------------------------------------------


#: Inputs are decided by multisets if there are more than LEAST_INPUTS, and LEAST_SAVED times as many as multisets.
LEAST_INPUTS, LEAST_SAVED = 64, 4


def multiset_classes(
    program: Program, inputs: FiniteInputs, *, by_transitions: bool = True
) -> tuple[tuple[AlikeInputs, ...], Groups] | None:
    """Return the classes of inputs that differ only in the order of interchangeable inputs, and these groups of inputs.

    The first item has one class for each multiset of values. The result is None if `program` has an input that is not
    finite, if there are few `inputs`, or if there are not many fewer classes than inputs. The program must have an
    `ideal`. If `by_transitions` is False, inputs are shown to be interchangeable by the program's expressions alone,
    not by its steps. Raises DiagnosticError if det is undefined at an input, and LimitReached past a limit.
    """
    core = program.core
    if inputs.count <= LEAST_INPUTS or any(slot.is_symbolic for slot in core.input_slots):
        return None
    if len({slot.type for slot in core.input_slots}) == len(core.inputs):
        return None
    ideal = Ideal(program)
    choices = [tuple(dict.fromkeys(values)) for values in inputs.choices]
    groups = groups_of(program, ideal, choices, by_transitions=by_transitions)
    if groups is None or groups.size * LEAST_SAVED > groups.inputs:
        return None
    if groups.size > program.limits.orbits:
        return None
    values = [finite_values(slot) for slot in core.input_slots]
    domain = groups_of(program, ideal, values, by_transitions=by_transitions)
    assert domain is not None, "larger sets of values have larger groups"
    distances = MultisetDistances(ideal, domain)
    classes: list[AlikeInputs] = []
    for bags in groups:
        member = groups.member(bags)
        whole = domain.multiset(member)
        classes.append(AlikeInputs(member, distances.answers[whole], distances.dd(whole), groups.count(bags)))
    return tuple(classes), groups

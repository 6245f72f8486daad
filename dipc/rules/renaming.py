"""Classes of inputs that differ only in the names of inputs and noises, so that only one of them is decided.

**Lemma.** Let det give the answer a exactly on the inputs A, and the answer b exactly on B. Let σ permute inputs, ints
among ints, and map A onto B, with d(σu, σu') = d(u, u') as for every norm here. Let ν rename the noises of each exit to
a, such that σ and ν together turn the exits to a into the exits to b. Let the renamed noises have the laws and the
rates of the original ones, and their means after σ is applied. Then for u in A

1. dd(σu) = dd(u): σ maps the inputs outside A onto those outside B, and keeps distances;
2. Pr[b] at σu equals Pr[a] at u: the indicators of an exit are equal at (σu, νX) and (u, X), the laws of νX and X are
   equal, and probabilities of exits add up.

The claim depends on dd(u) and Pr[answer] at u alone, so that it holds on B if and only if it holds on A. ∎

The guards of A and the constraints of its exit fall into groups that share no variable. Two classes are alike if each
group of one is a group of the other with other names. Names are compared in the order in which they occur: two groups
that only differ in the order of their constraints count as different, which costs time and proves nothing wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from dipc.chain.chain import ExitState
from dipc.chain.state import Affine, Constraint, NoiseVar
from dipc.frozen import frozen
from dipc.program.ideal import Region
from dipc.rules.halfspaces import Corner

#: The constraints of a group by part: the exit that has them, or GUARD for the guards of the region.
_Items = list[tuple[int, Constraint]]

_GUARD = -1

#: A noise of an exit: the number of the exit, and the noise's own.
_Noise = tuple[int, int]


@frozen
class Pattern:
    """A class of inputs and its exits, with numbers in place of the names of inputs and noises.

    Two classes have equal keys (`key`) only if renaming inputs and noises turns one into the other, so that the claim
    holds for both or for neither. The constraints of a class form groups that share no input and no noise. Each group
    has a key, and `inputs` maps it to the inputs of all groups with this key: a list of slots, in the order of their
    numbers.
    """

    key: object
    inputs: Mapping[object, Sequence[Sequence[int]]]

    def corner_of(self, other: Pattern, corner: Corner) -> Corner:
        """Return the input of this class that `corner`, an input of the class of `other`, becomes by renaming inputs.

        Both patterns must have the same key.
        """
        names = {
            theirs: own
            for key, groups in self.inputs.items()
            for mine, slots in zip(groups, other.inputs[key], strict=True)
            for own, theirs in zip(mine, slots, strict=True)
        }
        # An input without a new name does not matter.
        others = dict.fromkeys(corner, Affine.number(Fraction(0)))
        return others | {names[slot]: form for slot, form in corner.items() if slot in names}


class PatternFinder:
    """A finder of the patterns of classes, where `whole` are the slots of the int inputs.

    Many exits begin with equal comparisons. The key of a group of constraints is therefore computed once and looked up
    afterwards.
    """

    def __init__(self, whole: frozenset[int]) -> None:
        self._whole = whole
        #: By the ids of the constraints and noises of a group: these objects, and the group without names.
        self._known: dict[tuple[int, ...], tuple[object, object, Sequence[int]]] = {}

    def pattern(self, region: Region, states: Sequence[ExitState]) -> Pattern:
        """Return the pattern of `region`, where `states` are the final states of all runs to its answer."""
        noises = {(number, noise.id): noise for number, state in enumerate(states) for noise in state.noises}
        items = [(_GUARD, guard) for guard in region.guards]
        for number, state in enumerate(states):
            items += [(number, item) for item in (*state.constraints.items, *state.guards.items)]
        # The constraints of different exits belong together, as exits to the other class correspond to them as wholes.
        groups = _independent(items, noises) if len(states) == 1 else [items]
        inputs: dict[object, list[Sequence[int]]] = {}
        for group in groups:
            key, slots = self._without_names(group, noises)
            inputs.setdefault(key, []).append(slots)
        return Pattern((len(states), frozenset([(key, len(alike)) for key, alike in inputs.items()])), inputs)

    def _without_names(self, items: _Items, noises: Mapping[_Noise, NoiseVar]) -> tuple[object, Sequence[int]]:
        """Return the key of a group of constraints, and its inputs as slots in the order of their first occurrence.

        `items` are the constraints, each with the number of its exit. `noises` has the noises that they mention. Groups
        that differ only in the names of noises and inputs have equal keys.
        """
        drawn: dict[_Noise, int] = {}
        for part, item in items:
            for noise, _ in item.form.noises:
                drawn.setdefault((part, noise), len(drawn))
        used = [noises[noise] for noise in drawn]
        ids = (*[part for part, _ in items], *[id(item) for _, item in items], *map(id, used))
        known = self._known.get(ids)
        if known is None:
            key, slots = _written(items, drawn, used, self._whole)
            known = self._known[ids] = (items, used), _Key(key), slots
        return known[1], known[2]


class _Key:
    """A hashable value whose hash is computed once."""

    __slots__ = ("_hash", "_value")

    def __init__(self, value: object) -> None:
        self._value = value
        self._hash = hash(value)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, _Key) and self._hash == other._hash and self._value == other._value)


def _written(
    items: _Items, drawn: Mapping[_Noise, int], noises: Iterable[NoiseVar], whole: frozenset[int]
) -> tuple[object, Sequence[int]]:
    """Return the constraints `items` with numbers in place of names, and the slots of their inputs.

    Inputs are numbered in the order in which they first occur, and the slots are in this order. `drawn` has the numbers
    of noises, `noises` the noises in the order of their numbers, and `whole` the slots of int inputs.
    """
    slots: dict[int, int] = {}
    written: list[object] = []
    for part, item in items:
        coefficients = tuple([(drawn[part, noise], _number(c)) for noise, c in item.form.noises])
        written.append((part, item.strict, item.whole, coefficients, _form(item.form, slots)))
    written += [(noise.law, noise.rate, _form(noise.mean, slots)) for noise in noises]
    return (tuple(written), tuple([slot in whole for slot in slots])), tuple(slots)


def _independent(items: _Items, noises: Mapping[_Noise, NoiseVar]) -> list[_Items]:
    """Return `items` in groups that share no noise and no input; an item is a constraint with the number of its exit.

    A constraint has the inputs in its form, and those on which the means of its noises depend. `noises` has these
    means.
    """
    groups: dict[int, tuple[_Items, list[int]]] = {}
    for part, item in items:
        variables = [2 * noise for noise, _ in item.form.noises]
        for noise, _ in item.form.noises:
            variables += [2 * slot + 1 for slot, _ in noises[part, noise].mean.inputs]
        variables += [2 * slot + 1 for slot, _ in item.form.inputs]
        own: tuple[_Items, list[int]] | None = None
        for variable in variables:
            group = groups.get(variable)
            if group is None or group is own:
                continue
            if own is None:
                own = group
                continue
            large, small = (own, group) if len(own[1]) >= len(group[1]) else (group, own)
            large[0].extend(small[0])
            large[1].extend(small[1])
            groups.update(dict.fromkeys(small[1], large))
            own = large
        if own is None:
            own = ([], [])
        own[0].append((part, item))
        new = [variable for variable in variables if variable not in groups]
        own[1].extend(new)
        groups.update(dict.fromkeys(new, own))
    return list({id(group): group[0] for group in groups.values()}.values())


def _form(form: Affine, slots: dict[int, int]) -> object:
    """Return the part of `form` about inputs, with the numbers `slots` in place of inputs.

    An input that has no number yet gets the next one.
    """
    terms = [(slots.setdefault(slot, len(slots)), _number(coefficient)) for slot, coefficient in form.inputs]
    return tuple(terms), _number(form.constant)


def _number(value: Fraction) -> int | Fraction:
    """Return `value`, as an int if it is an integer, because ints are hashed faster."""
    return value.numerator if value.denominator == 1 else value

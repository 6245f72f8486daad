"""Classes of inputs up to the exchange of inputs, so that only one of many alike classes is examined.

If a program treats each of k queries in one of two ways, det has 2^k regions with one answer: each query is below one
threshold or above another. If the queries can be exchanged, only the number of queries below the threshold matters.

**Lemma.** Let σ exchange inputs, so that d(σu, σu') = d(u, u') (as every norm here does), and let ν exchange noises so
that ν(X) at u has the law of X at σu. Let σ change only the order of the segments of det's series towards an answer
(see `chain/series.py`), and let σ and ν together change only the order of the segments of the program's series. Then

1. det(u) is the answer if and only if det(σu) is, as products do not depend on the order of their factors;
2. dd(σu) = dd(u) for each u with the answer: σ maps the inputs with another answer onto themselves, and keeps
   distances;
3. Pr[answer] at σu equals Pr[answer] at u: the indicators are equal at (σu, νX) and (u, X), and the laws are the same.

The claim depends on dd(u) and Pr[answer] at u alone. It holds at u if and only if it holds at σu, and one class
represents all its images under σ. ∎

The conditions are tested for one pair of segments at a time. All inputs of a segment of det's series are exchanged
together, if they belong to no other segment. Noises that belong to a single segment of the program's series are
exchanged in order. A variable of several segments stays where it is. Exchanges of one segment with each of the others
generate all permutations of these segments, so that only the number of times each path is chosen matters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement, product
from math import comb, factorial, prod

from dipc.chain.series import Path, Series
from dipc.chain.state import NoiseVar, irredundant
from dipc.frozen import frozen
from dipc.program.ideal import Ideal, Region
from dipc.program.metric import InputSet
from dipc.rules.centered_exits import ExitFinder
from dipc.rules.input_classes import InputClass

#: The most classes, one of each kind, that are examined.
_MOST = 20_000

#: A segment whose inputs and noises were renamed: its paths, and the laws, rates and means of its own noises.
_Shape = tuple[object, ...]

#: The indices of the segments of a series, in groups of segments that can be exchanged with each other.
_Groups = Sequence[Sequence[int]]


def classes_up_to_exchange(ideal: Ideal, exits: ExitFinder, few: int) -> Iterator[InputClass] | None:
    """Return classes such that every input can be mapped into one of them by exchanging inputs.

    Each class represents several regions of `ideal`, and has their number. `exits` finds the exits of the program.
    The result is None if det or the program has no series of segments, if det has at most `few` regions, if
    there would be too many classes, or if no inputs can be exchanged.
    """
    if ideal.metric.core.apart is not None or ideal.metric.core.same is not None:
        return None
    # There are at least as many runs of det as regions; an answer with a single run has no segment with two paths.
    if ideal.runs is None or ideal.runs.number <= few or len(ideal.runs.ends) == ideal.runs.number:
        return None
    det = ideal.series
    if det is None or sum(prod(map(len, each.segments)) for each in det) <= few or exits.series is None:
        return None
    towards = {_answer(ideal, each): each for each in exits.series}
    every: list[_Groups] = []
    for own in det:
        other = towards.get(_answer(ideal, own))
        if other is None:
            return None
        every.append(_groups(ideal, own, other))
    trivial = all(len(group) == 1 for groups in every for group in groups)
    # For each group, the number of ways to choose one path through each of its segments, up to exchange.
    numbers = [
        [comb(len(group) + len(own.segments[group[0]]) - 1, len(group)) for group in groups]
        for own, groups in zip(det, every, strict=True)
    ]
    if trivial or sum(map(prod, numbers)) > _MOST:
        return None
    return (one for own, groups in zip(det, every, strict=True) for one in _classes(ideal, own, groups, len(det) == 1))


def _answer(ideal: Ideal, series: Series) -> tuple[object, ...]:
    values = [series.outputs[slot] for slot in ideal.program.core.outputs]
    return tuple([(isinstance(value, bool), value) for value in values])


def _groups(ideal: Ideal, own: Series, other: Series) -> _Groups:
    """Return the indices of the segments of `own`, in groups: those of one group can be exchanged with each other.

    `own` has the runs of det to one answer, and `other` those of the program of `ideal` to the same answer.
    """
    whole = frozenset(ideal.whole_inputs)
    shared = Counter(slot for paths in own.segments for slot in _inputs(paths))
    exchanges = _NoiseExchanges.from_series(other)
    by_shape: dict[object, list[list[int]]] = {}
    for number, paths in enumerate(own.segments):
        inputs = _inputs(paths)
        if len(paths) == 1 or any(shared[slot] > 1 for slot in inputs):
            by_shape[number] = [[number]]
            continue
        names = {slot: -1 - index for index, slot in enumerate(inputs)}
        shape = _shape(paths, names, {}, ()), tuple([slot in whole for slot in inputs])
        alike = by_shape.setdefault(shape, [])
        for group in alike:
            if exchanges.allow(_inputs(own.segments[group[0]]), inputs):
                group.append(number)
                break
        else:
            alike.append([number])
    return [group for alike in by_shape.values() for group in alike]


def _classes(ideal: Ideal, series: Series, groups: _Groups, alone: bool) -> Iterator[InputClass]:
    """Yield a class for each choice of one path through each segment; choices related by an exchange yield one.

    No class is yielded if no input satisfies all guards on the paths. `series` has det's runs to one answer, for the
    program of `ideal`. Segments in one of the `groups` can be exchanged. `alone` states that det gives no other answer.
    """
    whole = frozenset(ideal.whole_inputs)
    integral = len(whole) == len(ideal.symbolic_inputs)
    answer = tuple([series.outputs[slot] for slot in ideal.program.core.outputs])
    shortened = ([irredundant(path) for path in paths] for paths in series.segments)
    sections = [[(path, *[p for p in paths if p is not path]) for path in paths] for paths in shortened]
    each = [combinations_with_replacement(range(len(series.segments[group[0]])), len(group)) for group in groups]
    for choice in product(*each):
        taken = {
            n: place
            for group, places in zip(groups, choice, strict=True)
            for n, place in zip(group, places, strict=True)
        }
        chosen = tuple([each[taken[number]] for number, each in enumerate(sections)])
        guards = irredundant(tuple(dict.fromkeys(guard for guards, *_ in chosen for guard in guards)))
        if InputSet(guards, whole, ideal.program.limits.branches).is_empty:
            continue
        region = Region(guards, answer)
        decisive = Region(guards, ideal.metric.decisive(answer))
        count = prod(arrangements(places) for places in choice)
        yield InputClass({}, region, decisive, (), (), alone, False, False, whole, integral, count, chosen)


def arrangements(places: Sequence[object]) -> int:
    """Return the number of distinct orders of `places`."""
    return factorial(len(places)) // prod(map(factorial, Counter(places).values()))


@frozen
class _NoiseExchanges:
    series: Series
    #: The noises of the series by their numbers.
    noises: Mapping[int, NoiseVar]
    by_input: Mapping[int, frozenset[int]]
    shapes: Sequence[_Shape]
    own: Sequence[Mapping[int, int]]
    #: The inputs that means of noises of several segments depend on.
    held: frozenset[int]

    @staticmethod
    def from_series(series: Series) -> _NoiseExchanges:
        noises = {noise.id: noise for noise in series.noises}
        mentioned = [
            dict.fromkeys(noise for path in paths for item in path for noise, _ in item.form.noises)
            for paths in series.segments
        ]
        often = Counter(noise for each in mentioned for noise in each)
        own = [{n: -1 - index for index, n in enumerate(n for n in each if often[n] == 1)} for each in mentioned]
        by_input: dict[int, set[int]] = {}
        for number, paths in enumerate(series.segments):
            means = [noises[noise].mean for noise in mentioned[number]]
            for slot in (*_inputs(paths), *(slot for mean in means for slot, _ in mean.inputs)):
                by_input.setdefault(slot, set()).add(number)
        held = frozenset(slot for n, count in often.items() if count > 1 for slot, _ in noises[n].mean.inputs)
        numbers = {slot: frozenset(each) for slot, each in by_input.items()}
        result = _NoiseExchanges(series, noises, numbers, (), own, held)
        return replace(result, shapes=[result._shape(number, {}) for number in range(len(series.segments))])

    def allow(self, these: Sequence[int], those: Sequence[int]) -> bool:
        """Return True only if exchanging the inputs `these` with `those` maps the program's segments onto themselves.

        The first of `these` is exchanged with the first of `those`, and so on. The order of segments and the names of
        their noises do not matter.
        """
        if not self.held.isdisjoint((*these, *those)):
            return False
        names = dict(zip((*these, *those), (*those, *these), strict=True))
        touched = frozenset[int]().union(*(self.by_input.get(slot, frozenset()) for slot in names))
        before = Counter(self.shapes[number] for number in touched)
        return before == Counter(self._shape(number, names) for number in touched)

    def _shape(self, number: int, names: Mapping[int, int]) -> _Shape:
        own = self.own[number]
        laws = [(self.noises[n].law, self.noises[n].rate, self.noises[n].mean.renamed(names)) for n in own]
        return _shape(self.series.segments[number], names, own, laws)


def _inputs(paths: Sequence[Path]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(slot for path in paths for item in path for slot, _ in item.form.inputs))


def _shape(
    paths: Sequence[Path], names: Mapping[int, int], noises: Mapping[int, int], laws: Sequence[object]
) -> _Shape:
    shape = tuple(
        [tuple([(item.form.renamed(names, noises), item.strict, item.whole) for item in path]) for path in paths]
    )
    return shape, tuple(laws)

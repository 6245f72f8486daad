"""Lower bounds of the probability of an answer, for all inputs of a class (FORMAT.md, lemmas 6 to 6e).

The program is executed with its real and int inputs left open. This gives the ways to an answer: each is an exit of the
program, with comparisons of centered noises whose slacks depend on the inputs. The probability of a way never decreases
when a slack grows. The certificate proves bounds of slacks (`classes.py`), and these are put in place of the slacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

from dipc.verifier.classes import ClassFacts, DistanceLine, Kind, Required, slack_key
from dipc.verifier.execution import Affine, Constraints, Execution, Held, NoiseHalfspace, plus, scaled
from dipc.verifier.functions import (
    ONE,
    Closed,
    add,
    add_closed,
    connected,
    constant,
    equal_closed,
    multiply_closed,
    positive_everywhere,
    subtract,
    times,
)
from dipc.verifier.ideal import OPEN, Ideal, Path, open_inputs
from dipc.verifier.linear import Guard
from dipc.verifier.noise import Bounded, Family, Law, Normal, is_whole
from dipc.verifier.normal import Hub, Probability, Stars, complement, in_order, sum_of
from dipc.verifier.probability import Probabilities, visits
from dipc.verifier.program import Machine, Value, typed
from dipc.verifier.reading import Budget, NotDerived

_ZERO, _ONE = Fraction(0), Fraction(1)


# === ways ======================================================================================


UNLIKE = "some answers differ only in outputs that are not numbers"

#: The pairs (variable, coefficient) of a sum, sorted, without coefficients that are 0.
Terms = tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison Σ noises + inputs + constant + radius·gamma >= 0.

    `noises` and `inputs` are coefficients by the index of a noise and by the slot of an input. `radius` is 1 if gamma
    is in the comparison, and 0 otherwise. `whole` is true if integers are compared.
    """

    noises: Terms
    inputs: Terms
    constant: Fraction
    radius: int
    whole: bool

    @staticmethod
    def from_coefficients(
        noises: Mapping[int, Fraction], inputs: Mapping[int, Fraction], constant: Fraction, radius: int, whole: bool
    ) -> Comparison:
        """Return the comparison with coefficients `noises` by index and `inputs` by slot, none of which is 0.

        `constant` is its constant, and `radius` its coefficient of gamma, 0 or 1. `whole` is true if integers are
        compared.
        """
        return Comparison(tuple(sorted(noises.items())), tuple(sorted(inputs.items())), constant, radius, whole)

    def opposite(self) -> Comparison | None:
        """Return the comparison that holds where this one fails, up to an event of probability 0.

        Return None if the comparison involves gamma, or compares integers with coefficients that are not integers.
        """
        if self.radius:
            return None
        constant = -self.constant
        if self.whole:
            if any(
                c.denominator != 1 for c in (self.constant, *dict(self.noises).values(), *dict(self.inputs).values())
            ):
                return None
            constant -= 1
        return Comparison(_negated(self.noises), _negated(self.inputs), constant, 0, self.whole)

    def renamed(self, noises: Mapping[int, int], inputs: Mapping[int, int]) -> Comparison:
        """Return the comparison with new indices of `noises` and new slots of `inputs`; others are kept."""
        drawn, given = (
            {names.get(i, i): c for i, c in terms} for names, terms in ((noises, self.noises), (inputs, self.inputs))
        )
        return Comparison.from_coefficients(drawn, given, self.constant, self.radius, self.whole)

    def follows_from(self, other: Comparison) -> bool:
        """True if this comparison holds, for all inputs, wherever `other` does."""
        return self.constant >= other.constant and self == replace(other, constant=self.constant)

    def bound(self, side: int, shown: ClassFacts, wanted: Required) -> DistanceLine | None:
        """Return a lower bound of `side`·slack on a class of inputs, or None if the certificate proves no such bound.

        The slack is the comparison without its noises. `side` is 1 or -1, and only 1 if the slack contains gamma.
        `shown` has the facts about the class, and `wanted` is the claim about the class, with the value of gamma.
        """
        if not self.inputs:
            return DistanceLine(side * self.constant) + wanted.gamma.scaled(self.radius)
        form = {slot: side * c for slot, c in self.inputs}
        keyed = slack_key(form, side * self.constant, self.radius)
        assert keyed is not None, "the form reads an input"
        stated = shown.slacks.get(keyed[0])
        return None if stated is None else stated.scaled(keyed[1])


def _negated(terms: Terms) -> Terms:
    return tuple((i, -c) for i, c in terms)


@dataclass(frozen=True, slots=True)
class Part:
    """Comparisons that share noises, directly or indirectly. A noise is given by its index in `laws`."""

    laws: tuple[Law, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def continuous(self) -> bool:
        return not any(is_whole(family) for family, _ in self.laws)

    @property
    def scales(self) -> bool:
        """True if each noise is continuous and not confined to an interval, with a scale that is a multiple of 1/eps.

        In this case the probability is a function of distance·eps if all slacks are multiples of a distance. A slack is
        a comparison without its noises.
        """
        fixed = any(isinstance(family, Normal) and family.fixed for family, _ in self.laws)
        return self.continuous and not fixed and not any(isinstance(family, Bounded) for family, _ in self.laws)


@dataclass(frozen=True, slots=True)
class Way:
    """An exit of the program: its `weight`, and the comparisons under which a run ends there.

    `numbers` has those comparisons that contain no noise. They hold for the inputs at which outputs without noise are
    within gamma. `parts` has all other comparisons, in independent groups.
    """

    weight: Closed
    numbers: tuple[Comparison, ...]
    parts: tuple[Part, ...]


def is_steady(weight: Closed) -> bool:
    """True if `weight` does not depend on eps."""
    return all(ring.keys() <= {(0, _ZERO)} for ring in weight)


def independent_parts(comparisons: Sequence[Comparison], laws: Mapping[int, Law] | Sequence[Law]) -> tuple[Part, ...]:
    """Group `comparisons` by the noises that they share, and renumber the noises of each group from 0 upward.

    `laws` has the law of each noise by its index.
    """
    result = []
    for noises, members in connected(comparisons, lambda comparison: (i for i, _ in comparison.noises)):
        place = {i: index for index, i in enumerate(sorted(noises))}
        moved = [replace(each, noises=tuple((place[i], c) for i, c in each.noises)) for each in members]
        result.append(Part(tuple(laws[i] for i in place), tuple(moved)))
    return tuple(result)


def merged(ways: Sequence[Way], pairs: Iterable[Sequence[int]], budget: Budget) -> list[Way]:
    """Return ways with the same total probability as `ways` at every input, after merging `pairs` one by one.

    A pair has the indices of two ways that differ in one comparison alone. Both are removed from the list, and the ways
    that replace them are appended; the next pair has indices in this new list. Charges its work to `budget`. Raises
    NotDerived if a pair cannot be merged.
    """
    left = list(ways)
    for i, j in pairs:
        if not 0 <= j < i < len(left):
            raise NotDerived("the certificate unites paths that do not exist")
        one, other = left.pop(i), left.pop(j)
        together = put_together(one, other, budget)
        if together is None:
            raise NotDerived("the certificate unites two paths that differ in more than one comparison")
        left += together
    return left


def put_together(one: Way, other: Way, budget: Budget) -> list[Way] | None:
    """Return ways that replace `one` and `other`, which differ in one comparison C; None if they cannot be merged.

    One way requires C and has the weight w; the other requires not C and has the weight v <= w. Let E be the
    comparisons that both require. Then w·Pr[E, C] + v·Pr[E, not C] = v·Pr[E] + (w - v)·Pr[E, C], so that the results
    have the weights v and w - v. A way of weight 0 is left out. Charges its work to `budget`.
    """
    budget.spend(10 + len(one.parts) + len(other.parts))
    common = _without_opposites(one, other)
    if common is None:
        return None
    if equal_closed(one.weight, other.weight, budget):
        return [replace(one, parts=common)]
    for more, less in ((one, other), (other, one)):
        excess = add_closed(more.weight, (times(less.weight[0], -1), less.weight[1]), budget)
        if all(positive_everywhere(function, budget) for function in excess):
            return [replace(less, parts=common), replace(more, weight=excess)]
    return None


def _without_opposites(one: Way, other: Way) -> tuple[Part, ...] | None:
    """Unite the ways `one` and `other` if they differ in a single comparison, which has opposite results in the two.

    Return the parts of the united way, which has all of their comparisons except this one. Return None if the two ways
    differ in anything else.
    """
    if one.numbers != other.numbers:
        return None
    mine, theirs = list(one.parts), list(other.parts)
    for common in one.parts:
        if common in theirs:
            mine.remove(common)
            theirs.remove(common)
    if len(mine) != 1 or len(theirs) != 1 or mine[0].laws != theirs[0].laws:
        return None
    sides = mine[0].comparisons, theirs[0].comparisons
    ours, others = (
        [each for each in here if not any(each.follows_from(other) for other in there)]
        for here, there in (sides, sides[::-1])
    )
    if len(ours) != 1 or len(others) != 1 or ours[0].opposite() != others[0]:
        return None
    left = [each for each in dict.fromkeys((*sides[0], *sides[1])) if each not in (ours[0], others[0])]
    kept = list(one.parts)
    kept.remove(mine[0])
    return (*kept, *independent_parts(left, mine[0].laws))


# === jointly ===================================================================================

#: The most comparisons of a joint bound, which is taken at all vertices of a box.
MOST_COMPARISONS = 6

#: A bound of the probability of a comparison: its slack, False for 0, or True for 1.
_End = Fraction | bool


def vertex_values(
    ways: Sequence[Way], shown: ClassFacts, wanted: Required, probabilities: Probabilities, budget: Budget
) -> Iterator[Closed]:
    """Yield probabilities of the answer, one for each choice of the lower or upper bound of each comparison.

    Every comparison has a lower and an upper bound of its probability, so that n comparisons have up to 2^n choices.
    The results are functions of the obligation's variable. At each input of the class, and each value of the variable,
    the least of them is a lower bound of the answer's probability.

    `ways` are the exits with the answer, `shown` describes the class of inputs, and `wanted` is the claim about the
    class. `probabilities` computes probabilities of comparisons, and the work is charged to `budget`. Raises NotDerived
    if an exit has comparisons that share noises, or if there are more than MOST_COMPARISONS.
    """
    compared: list[Part] = []
    literals: list[list[tuple[int, bool]]] = []
    for way in ways:
        if way.numbers:
            raise NotDerived("a joint bound of comparisons needs outputs that depend on the inputs only through noise")
        here = [_place(component, compared) for component in way.parts]
        if len({place for place, _ in here}) < len(here):
            raise NotDerived("a path makes the same comparison twice")
        literals.append(here)
    if len(compared) > MOST_COMPARISONS:
        raise NotDerived(f"a joint bound has more than {MOST_COMPARISONS} comparisons")
    ends = [_ends(component, shown, wanted) for component in compared]
    weights = _at_ends([way.weight for way in ways], budget) if wanted.is_open else [[way.weight for way in ways]]
    for numbers, *vertex in product(weights, *(dict.fromkeys((type(end), end) for end in pair) for pair in ends)):
        total: Closed = {}, ONE
        for weight, here in zip(numbers, literals, strict=True):
            rows: list[tuple[NoiseHalfspace, tuple[Law, ...]]] = []
            for place, holds in here:
                end = vertex[place][1]
                if isinstance(end, bool):
                    if end is not holds:
                        break
                else:
                    side = _row(compared[place].comparisons[0], end)
                    rows.append((side if holds else side.opposite(), compared[place].laws))
            else:
                for row, laws in rows:
                    weight = probabilities.weighted(weight, Constraints({row.form: row}), dict(enumerate(laws)))
                total = add_closed(total, weight, budget)
        yield total


def _at_ends(weights: Sequence[Closed], budget: Budget) -> list[list[Closed]]:
    """Return two lists: the limits of all `weights` as eps tends to 0, and their limits as eps tends to infinity.

    At every eps, a sum that is linear in the weights lies between its values for the two lists. For this, every weight
    must be a + b·g with numbers a and b. Here g is the first weight that depends on eps, and g lies between its two
    limits. Raises NotDerived for other weights.

    If no weight depends on eps, both lists would be `weights`, and the result has this list only once. Charges its work
    to `budget`.
    """
    first = next((weight for weight in weights if not is_steady(weight)), None)
    if first is None:
        return [list(weights)]
    ends = _limits(first)
    above_least = subtract(first[0], times(first[1], min(ends)))
    below_most = subtract(times(first[1], max(ends)), first[0])
    between = all(positive_everywhere(limits, budget) for limits in (above_least, below_most, first[1]))
    if ends[0] == ends[1] or not between:
        raise NotDerived("a weight is not shown to stay between its limits at eps = 0 and at infinity")
    result: list[list[Closed]] = [[], []]
    for weight in weights:
        limits = _limits(weight)
        slope = (limits[1] - limits[0]) / (ends[1] - ends[0])
        line = add(times(first[0], slope), times(first[1], limits[0] - slope * ends[0])), first[1]
        if not equal_closed(weight, line, budget):
            raise NotDerived("the weights of a choice are not affine functions of one of them")
        for numbers, end in zip(result, limits, strict=True):
            numbers.append((constant(end), ONE))
    return result


def _limits(weight: Closed) -> tuple[Fraction, Fraction]:
    above, below = weight
    near = [sum((c for (k, _), c in ring.items() if not k), _ZERO) for ring in weight]
    leading = max((q, k) for k, q in below)
    far = max(((q, k) for k, q in above), default=leading)
    if not near[1] or far > leading:
        raise NotDerived("a weight grows without bound, or has no limit at 0")
    top = above.get((leading[1], leading[0]), _ZERO)
    return near[0] / near[1], top / below[leading[1], leading[0]]


def _place(component: Part, compared: list[Part]) -> tuple[int, bool]:
    """Return the index in `compared` of the only comparison of `component`, and True.

    If `compared` has the opposite of the comparison instead, return the index of the opposite, and False. If `compared`
    has neither, append `component` and return its index, and True. Raises NotDerived if `component` has several
    comparisons, or if its comparison has no opposite.
    """
    if len(component.comparisons) != 1:
        raise NotDerived("a joint bound needs independent comparisons")
    if component in compared:
        return compared.index(component), True
    opposite = component.comparisons[0].opposite()
    if opposite is None:
        raise NotDerived("a joint bound of comparisons does not cover outputs that are within gamma")
    turned = Part(component.laws, (opposite,))
    if turned in compared:
        return compared.index(turned), False
    compared.append(component)
    return len(compared) - 1, True


def _ends(component: Part, shown: ClassFacts, wanted: Required) -> tuple[_End, _End]:
    """Return two slacks (low, high) that bound the probability of the only comparison in `component`.

    At all inputs of the class `shown`, the probability is at least that of the comparison with the slack low, and at
    most that with the slack high. If no lower bound of the slack is proved, low is False: the probability is at least
    0. If no upper bound is proved, high is True: it is at most 1. `wanted` has alpha and gamma.
    """
    (comparison,) = component.comparisons
    if wanted.is_open and not component.continuous:
        return False, True  # it depends on eps alone
    low, high = _least(comparison, 1, shown, wanted), _least(comparison, -1, shown, wanted)
    return False if low is None else low, True if high is None else -high


def _least(comparison: Comparison, side: int, shown: ClassFacts, wanted: Required) -> Fraction | None:
    """Return a lower bound of `side` times the slack of the `comparison` on the class `shown`; None if none is proved.

    `side` is 1 or -1, and `wanted` has alpha and gamma. If `wanted` leaves alpha or gamma open, the bound is not the
    result itself but the result times the open distance.
    """
    bound = comparison.bound(side, shown, wanted)
    if bound is None or (wanted.is_open and bound.base < 0):
        return None
    return bound.slope if wanted.is_open else bound.base


def _row(comparison: Comparison, slack: Fraction) -> NoiseHalfspace:
    return NoiseHalfspace.from_terms(dict(comparison.noises), slack, comparison.whole)


def at_bounds(
    ways: Sequence[Way], shown: ClassFacts, wanted: Required, probabilities: Probabilities, budget: Budget
) -> Probability:
    """Return a lower bound of the probability of an answer, valid at all inputs of the class that `shown` describes.

    `ways` are the exits with the answer, and the result is the sum of their probabilities with every slack at its
    least. If `shown.kind.of_others` is true, `ways` are the exits with all other answers instead, and the result is 1
    minus the sum of their probabilities with every slack at its greatest.

    `wanted` has alpha and gamma, `probabilities` computes probabilities of comparisons, and the work is charged to
    `budget`. Raises NotDerived if a step is not proved.
    """
    others = shown.kind.of_others
    terms: list[tuple[Stars, Closed]] = []
    for way in ways:
        if others and way.numbers:
            raise NotDerived(UNLIKE)
        least = [number.bound(1, shown, wanted) for number in way.numbers]
        if not all(bound is not None and bound.is_nonnegative for bound in least):
            continue
        if shown.kind is Kind.DISTANCES:
            terms.append(((), nearest_value(way, shown, budget)))
            continue
        weight, parts = way.weight, way.parts
        if shown.kind is Kind.TAILS:
            weight, parts = _without_tails(way, shown, wanted, budget)
        rows = [(_at_slacks(part, -1 if others else 1, shown, wanted, budget), part.laws) for part in parts]
        known = [(row, dict(enumerate(laws))) for row, laws in rows if row is not None]
        if len(known) < len(rows):
            continue
        if wanted.is_open and not is_steady(way.weight):
            raise NotDerived("the weight of a choice does not scale with the distance")
        stars: list[Hub] = []
        for row, laws_of in known:
            more, weight = probabilities.product(weight, row, laws_of)
            stars += more
        terms.append((in_order(stars), weight))
    total = sum_of(terms, budget)
    return complement(total, budget) if others else total


def _without_tails(way: Way, shown: ClassFacts, wanted: Required, budget: Budget) -> tuple[Closed, tuple[Part, ...]]:
    """Return (factor, parts), where the factor times the probabilities of the parts bounds that of `way` from above.

    A tail is a comparison of one Laplace noise whose slack is <= 0 on the class `shown`; its probability is an
    exponential. If the joint probability of two or more tails is bounded, the factor is the weight of `way` times this
    bound, and the tails are not among the parts. Otherwise the factor is the weight.

    If `wanted` leaves a distance open, parts with integer noise are left out, which can only make the bound larger.
    `wanted` has alpha and gamma. Charges its work to `budget`.
    """
    # Leaving a comparison out makes the others only more probable.
    joint = tuple(each for each in way.parts if each.continuous or not wanted.is_open)
    tails = [
        each
        for each in joint
        if _is_tail(each)
        and (bound := each.comparisons[0].bound(-1, shown, wanted)) is not None
        and bound.is_nonnegative
    ]
    far = _least(_total(tails), 1, shown, wanted) if len(tails) > 1 else None
    if far is None:
        return way.weight, joint
    weight = multiply_closed(way.weight, ({(0, -max(far, _ZERO)): _ONE}, ONE), budget)
    for each in tails:
        weight = multiply_closed(weight, _front(each.laws[0]), budget)
    return weight, tuple(each for each in joint if each not in tails)


def nearest_value(way: Way, shown: ClassFacts, budget: Budget) -> Closed:
    """Return an upper bound of the probability of `way` at all inputs of the class `shown` whose dd is 1.

    At inputs whose dd is an integer A >= 1 the probability is at most the bound times e^(-r·(A - 1)·eps), where r is
    `shown.decay`. Charges its work to `budget`. Raises NotDerived if this is not proved.
    """
    weight = way.weight
    slope = _ZERO
    for component in way.parts:
        bound = _far_bound(component, shown) if _is_tail(component) else None
        if bound is None:
            continue  # Its probability is at most 1.
        steepness = component.laws[0][1] / abs(component.comparisons[0].noises[0][1])
        slope += steepness * bound.slope
        tail: Closed = {(0, -steepness * (bound.base + bound.slope)): _ONE}, ONE
        weight = multiply_closed(weight, multiply_closed(tail, _front(component.laws[0]), budget), budget)
    if slope < shown.decay:
        raise NotDerived("the error falls more slowly than beta as the distance grows")
    return weight


def _far_bound(component: Part, shown: ClassFacts) -> DistanceLine | None:
    """Return a line base + A·slope such that the slack of `component` is at most -(base + A·slope).

    The inequality holds at all inputs of the class `shown`, where A is the dd of the input. The line is not negative at
    A = 1, and its slope is not negative. The result is None if no such line is proved.
    """
    (comparison,) = component.comparisons
    form = {slot: -c for slot, c in comparison.inputs}
    size = sum(map(abs, form.values()), _ZERO)
    if not size:
        return DistanceLine(-comparison.constant) if comparison.constant <= 0 else None
    direction = tuple(sorted((slot, c / size) for slot, c in form.items()))
    best: DistanceLine | None = None
    for (known, own, radius), bound in shown.slacks.items():
        if known == direction and not radius:
            line = (bound + DistanceLine(-own)).scaled(size) + DistanceLine(-comparison.constant)
            if line.slope >= 0 and line.base + line.slope >= 0 and (best is None or line.slope > best.slope):
                best = line
    return best


def _at_slacks(component: Part, side: int, shown: ClassFacts, wanted: Required, budget: Budget) -> Constraints | None:
    """Return the half-spaces of the noises of `component`, with a bound in place of each slack.

    For `side` 1 the bounds are lower bounds of the slacks, and the result is None if one of them is not proved. For
    `side` -1 they are upper bounds, and a comparison whose slack has no proved bound is left out. The result is also
    None if the half-spaces exclude each other. The bounds hold on the class `shown`, and `wanted` has alpha and gamma.
    Charges its work to `budget`.
    """
    known = Constraints({})
    for comparison in component.comparisons:
        bound = _least(comparison, side, shown, wanted)
        if bound is None and side > 0:
            return None
        if bound is not None:
            if wanted.is_open and not component.scales:
                raise NotDerived("a noise does not scale with the distance")
            row = _row(comparison, side * bound)
            if known.excludes(row, budget):
                return None
            if not known.implies(row, budget):
                known = known & row
    return known


def _is_tail(component: Part) -> bool:
    """True if `component` compares one Laplace noise, so that its probability is an exponential for slacks <= 0."""
    exponential = len(component.laws) == 1 and component.laws[0][0] in (Family.LAPLACE, Family.DISCRETE_LAPLACE)
    if not exponential or len(component.comparisons) != 1:
        return False
    (comparison,) = component.comparisons
    if comparison.radius or comparison.whole is component.continuous:
        return False
    numbers = (comparison.constant, *(c for _, c in comparison.inputs))
    return component.continuous or (abs(comparison.noises[0][1]) == 1 and all(c.denominator == 1 for c in numbers))


def _total(tails: Sequence[Part]) -> Comparison:
    """Return the comparison whose slack is the sum of rate·(-slack) over the comparisons in `tails`.

    Each comparison is about one Laplace noise. Its rate is the rate of the noise, divided by the absolute value of the
    coefficient of the noise.
    """
    inputs: dict[int, Fraction] = {}
    constant = _ZERO
    for component in tails:
        (comparison,) = component.comparisons
        steepness = -component.laws[0][1] / abs(comparison.noises[0][1])
        constant += steepness * comparison.constant
        for slot, c in comparison.inputs:
            inputs[slot] = inputs.get(slot, _ZERO) + steepness * c
    return Comparison((), tuple(sorted((slot, c) for slot, c in inputs.items() if c)), constant, 0, whole=False)


def _front(law: Law) -> Closed:
    """Return the factor f in the probability f·e^(rate·slack·eps) of a comparison of one noise with a slack <= 0.

    `law` is the law of the noise.
    """
    family, rate = law
    if family is Family.LAPLACE:
        return {(0, _ZERO): Fraction(1, 2)}, ONE
    return ONE, {(0, _ZERO): _ONE, (0, -rate): _ONE}


# === bounds ====================================================================================

#: A function from ways to the pairs of their positions that are merged, one pair after the other.
Merges = Callable[[Sequence[Way]], Iterable[Sequence[int]]]

#: A function that decides a comparison of inputs, equally for all inputs considered.
Decide = Callable[[Guard], bool]


# --- the program with inputs left open ----------------------------------------------------------------


def open_input(slot: int) -> int:
    """Return -2 - `slot`, the number of an input where noises and inputs share one numbering.

    Noises have numbers from 0 upward, and -1 is the constant 0.
    """
    return -2 - slot


@dataclass
class OpenRun(Execution):
    """A run of the program in which real and int inputs are unknown numbers.

    - `decide` decides comparisons of inputs alone, and `asked` records the answers. The run is valid for all inputs at
      which each of these comparisons has its recorded result.
    - If `unites` is true, states with equal values are replaced by a single state if the union of their sets of noises
      is a conjunction of half-spaces. A lower bound for the ways through this state is at least as great as the sum of
      the lower bounds for the ways through the states that it replaces.
    - `shifts` has an entry for each noise: the inputs in the mean of its first draw, or None if there are none. The
      unknown that expressions contain for a noise is the sum of the noise and these inputs. The difference of two draws
      around the same input is thus a difference of two unknowns, without the input. Every half-space contains such an
      unknown, so that the same half-spaces imply or exclude each other at all inputs.
    """

    decide: Decide = field(kw_only=True)
    unites: bool = field(kw_only=True)
    asked: dict[Guard, bool] = field(default_factory=dict)
    shifts: dict[int, Affine | None] = field(default_factory=dict)

    def _drawn(
        self, label: int, law: Law, center: Fraction | Affine, known: Constraints
    ) -> tuple[Fraction | Affine, Constraints]:
        terms = center.terms if isinstance(center, Affine) else ()
        moving = tuple((i, c) for i, c in terms if i < 0)
        discrete = is_whole(law[0])
        if any(self.is_integer(i) is not discrete or (discrete and c.denominator != 1) for i, c in moving):
            raise NotDerived("int and real numbers are mixed in one expression")
        shift = self.shifts.setdefault(label, Affine(_ZERO, moving) if moving else None)
        if shift is None:
            return super()._drawn(label, law, center, known)
        # With the inputs in its mean, one-sided noise may be negative.
        return super()._drawn(label, law, plus(center, scaled(shift, -_ONE)), known)[0], known

    def has_ties(self, form: Affine) -> bool:
        """True if `form` may be 0 with positive probability: it contains inputs alone, or only integer noise."""
        return all(i < 0 for i, _ in form.terms) or super().has_ties(form)

    def is_nonnegative(self, form: Affine, known: Constraints) -> bool:
        if any(i >= 0 for i, _ in form.terms):
            return super().is_nonnegative(form, known)
        guard = Guard(tuple(sorted((open_input(i), c) for i, c in form.terms)), form.constant, strict=False)
        if guard not in self.asked:
            self.asked[guard] = self.decide(guard)
        return self.asked[guard]

    def _united(self, numbers: list[int]) -> list[int]:
        return super()._united(numbers) if self.unites else numbers

    def is_integer(self, number: int) -> bool:
        return super().is_integer(number) if number >= 0 else self.machine.slots[open_input(number)].type == "int"

    def is_within(self, gamma: Fraction, values: Sequence[Held], outputs: Sequence[int]) -> bool:
        """True if the answer in the slots `outputs` is within `gamma` of the exact answer.

        `values` has the value of each slot. They include the slots in which the `metric` block finds the exact answer.
        Raises NotDerived if an output may have no value (None) at the end.
        """
        if any(values[slot] is None for slot in outputs):
            raise NotDerived("an output may have no value at the end")
        gap = self.gap(values, outputs)
        return gap is not None and self.compared("<=", plus(gap, -gamma), Constraints({}))

    def centered(self, form: Iterable[tuple[int, Fraction | int]]) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
        """Split a sum of noises and inputs, given as the coefficients `form`, into noises with mean 0 and inputs.

        `form` has pairs of an index and a coefficient; the index of an input is that of `open_input`. Both results are
        coefficients: of noises by index, and of inputs by slot.
        """
        noises: dict[int, Fraction] = {}
        inputs: dict[int, Fraction] = {}
        for i, c in form:
            shift = self.shifts.get(i)
            if i >= 0:
                noises[i] = Fraction(c)
            for j, b in ((i, _ONE),) if i < 0 else () if shift is None else shift.terms:
                inputs[open_input(j)] = inputs.get(open_input(j), _ZERO) + b * c
        return noises, {slot: c for slot, c in inputs.items() if c}

    def comparisons(self, state: int) -> Iterator[Comparison]:
        """Yield the comparisons of noises under which the run reaches the exit with the index `state`."""
        for row in self.ends[state].rows.values():
            yield Comparison.from_coefficients(*self.centered(row.form), Fraction(row.constant), 0, row.whole)

    def way(self, state: int, weights: Mapping[int, Closed], besides: Iterable[Comparison] = ()) -> Way:
        """Return the way to the exit with index `state`: its comparisons, and those in `besides`, must all hold.

        `weights` has the weight of each state by index. A caller lists in `besides` the conditions on the outputs at
        the exit.
        """
        every = [*besides, *self.comparisons(state)]
        numbers = tuple(each for each in every if not each.noises)
        return Way(weights[state], numbers, independent_parts([each for each in every if each.noises], self.laws))


def _refused(_guard: Guard) -> bool:
    raise NotDerived("the program compares inputs without noise")


# --- bounds -------------------------------------------------------------------------------------------


@dataclass
class Bounds:
    """A source of bounds of the probabilities of answers of one program, the `machine`.

    `ideal` is its ideal, and work is charged to `budget`. A run in which inputs are unknown numbers is kept, and used
    for all inputs at which its comparisons of inputs have the same results.
    """

    machine: Machine
    ideal: Ideal
    budget: Budget
    _probabilities: Probabilities = field(init=False)
    _runs: dict[object, list[tuple[OpenRun, Mapping[int, Closed]]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._probabilities = Probabilities(self.machine, self.budget)
        self._is_plain = self._probabilities.is_plain()

    def require_known_distances(self) -> None:
        """Raise NotDerived if the `metric` block redefines equality of answers or the distance of numbers."""
        types = [slot.type for slot in self.machine.declared("output")]
        if self.machine.distance.same is not None:
            raise NotDerived("the `metric` block treats different answers as the same")
        if not self._is_plain and any(type_ in OPEN for type_ in types):
            raise NotDerived("the `metric` block defines its own distance between outputs")

    def values(
        self,
        shown: ClassFacts,
        wanted: Required,
        finite: tuple[Value, ...],
        path: Path,
        decide: Decide,
        *,
        unites: bool,
        merges: Merges,
    ) -> Iterator[Probability]:
        """Yield probabilities of the answer of `path`, a path of the ideal, for a class of inputs.

        At each input of the class, the least of the results is a lower bound of the answer's probability. `shown`
        describes the class, and `wanted` is the claim about the class. `finite` are the values of the finite inputs,
        and `decide` decides comparisons of inputs. `merges` lists the pairs of ways to merge. If `unites` is true, the
        run replaces states that differ in their comparisons alone by one state where possible. Raises NotDerived, and
        what `decide` raises.
        """
        others = shown.kind.of_others
        run, weights = self._run(finite, path, decide, others=others or not self._is_plain, unites=unites)
        if self._is_plain:
            exits = self._exits(run, path, others=others)
            ways = [run.way(state, weights, compared) for state, compared in exits]
        else:
            near = self._nearness_test(finite, path, wanted, decide)
            ways = [run.way(state, weights) for state in run.ends if near(run.outputs(state)) is not others]
        ways = merged(ways, merges(ways), self.budget)
        if shown.kind is Kind.VERTICES:
            yield from vertex_values(ways, shown, wanted, self._probabilities, self.budget)
        else:
            yield at_bounds(ways, shown, wanted, self._probabilities, self.budget)

    def _run(
        self, finite: tuple[Value, ...], path: Path, decide: Decide, *, others: bool, unites: bool
    ) -> tuple[OpenRun, Mapping[int, Closed]]:
        """Return a run for the `finite` inputs, and the weights of its states by index.

        If `others` is true, the run has all exits; otherwise it has those whose finite outputs are the answer of
        `path`, a path of the ideal. `decide` decides comparisons of inputs. If `unites` is true, states that differ in
        their comparisons alone are replaced by one state where possible. An earlier run is returned again if all its
        comparisons of inputs had the results that `decide` returns.
        """
        slots = self.machine.slots
        answer = {
            slot: value
            for slot, value in zip(self.machine.numbered("output"), path.answer, strict=True)
            if slots[slot].type not in OPEN and not isinstance(value, Affine)
        }
        key = (typed(finite), () if others else tuple(answer.items()), unites)
        known = self._runs.setdefault(key, [])
        for run, weights in known:
            # A run asks its comparisons in one order, so that `decide` is asked only what the run would ask, too.
            if all(decide(guard) is truth for guard, truth in run.asked.items()):
                return run, weights
        wanted = {} if others else answer
        run = OpenRun(self.machine, self.budget, wanted, keeps_outputs=True, decide=decide, unites=unites)
        run.explore(open_inputs(self.machine, finite, open_input))
        known.append((run, visits(run, self.budget)))
        return known[-1]

    def exits_with(
        self, finite: tuple[Value, ...], path: Path
    ) -> tuple[dict[frozenset[Comparison], Closed], Mapping[int, Law]]:
        """Return the weights of all exits with the answer of the ideal's `path`, and the laws of the noises by index.

        An exit is a set of comparisons. At every input with the values `finite` of the finite inputs, the probability
        of the answer is the sum over the exits of the weight times the probability of the comparisons. Raises
        NotDerived if the exits cannot be derived, for example because the program compares inputs without noise.
        """
        if not self._is_plain:
            raise NotDerived("the `metric` block defines its own distance between outputs")
        run, weights = self._run(finite, path, _refused, others=False, unites=True)
        result: dict[frozenset[Comparison], Closed] = {}
        for state, near in self._exits(run, path, others=False):
            comparisons, weight = frozenset((*near, *run.comparisons(state))), weights[state]
            before = result.get(comparisons)
            result[comparisons] = weight if before is None else add_closed(before, weight, self.budget)
        return result, run.laws

    def _exits(self, run: OpenRun, path: Path, *, others: bool) -> Iterator[tuple[int, list[Comparison]]]:
        """Yield the exits of `run` with the answer of `path`, a path of the ideal, and comparisons for each exit.

        The comparisons hold where the real and int outputs at the exit are within gamma of the answer. If `others` is
        true, yield the exits with another answer instead, each with an empty list.
        """
        places = dict(zip(self.ideal.machine.numbered("input"), self.machine.numbered("input"), strict=True))
        for state in run.ends:
            compared: list[Comparison] = []
            same = True
            for held, exact in zip(run.outputs(state), path.answer, strict=True):
                if held is None:
                    raise NotDerived("an output may have no value at the end")
                if isinstance(held, bool | str) or isinstance(exact, bool | str):
                    same = same and held == exact and type(held) is type(exact)
                    continue
                center = exact
                if isinstance(exact, Affine):
                    center = Affine(exact.constant, tuple((open_input(places[i]), c) for i, c in exact.terms))
                gap = plus(held, scaled(center, -_ONE))
                numbers = not isinstance(gap, Affine)
                if others:
                    if not numbers:
                        raise NotDerived(UNLIKE)
                    same = same and not gap
                elif gap:
                    compared += self._ball(run, gap)
            if same is not others:
                yield state, compared

    def _nearness_test(
        self, finite: tuple[Value, ...], path: Path, wanted: Required, decide: Decide
    ) -> Callable[[Sequence[Held]], bool]:
        """Return a predicate that is true for outputs within gamma of the answer of `path`, a path of the ideal.

        The argument of the predicate has the values of the outputs, in order. `finite` are the values of the finite
        inputs, and `decide` decides comparisons of inputs. `wanted` has gamma. Raises NotDerived if gamma is open.
        """
        gamma = wanted.gamma.base
        if wanted.gamma.slope:
            raise NotDerived("gamma is left open, but the `metric` block gives outputs a distance")
        machine = self.machine
        run = OpenRun(machine, self.budget, decide=decide, unites=False)
        outputs, exact = machine.numbered("output"), machine.distance.exact
        values: list[Held] = [None] * (1 + max(*outputs, *exact))
        for slot, value in open_inputs(machine, finite, open_input).items():
            values[slot] = value
        for slot, value in zip(exact, path.answer, strict=True):
            values[slot] = value

        def is_near(held: Sequence[Held]) -> bool:
            for slot, value in zip(outputs, held, strict=True):
                values[slot] = value
            return run.is_within(gamma, values, outputs)

        return is_near

    def _ball(self, run: OpenRun, gap: Fraction | Affine) -> Iterator[Comparison]:
        """Yield comparisons that hold together where `gap`, the error of an output, is within gamma.

        `gap` is a form over inputs and noises with their numbers in `run`.
        """
        for side in self.machine.distance.sides:
            off = scaled(gap, Fraction(side))
            terms, constant = (off.terms, off.constant) if isinstance(off, Affine) else ((), off)
            noises, inputs = run.centered(terms)
            whole = any(is_whole(run.laws[i][0]) for i in noises)
            yield Comparison.from_coefficients(noises, inputs, constant, 1, whole)

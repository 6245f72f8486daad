"""The probability of an answer, from the text of a program and nothing else; and the theorem of a certificate.

It is the sum over the exits of the total weight of the ways there (FORMAT.md, lemma 3), times the probability of their
half-spaces. `Theorem` compares what a row states with that, and its dd with that of the ideal. What could not be
derived is taken on trust: the reasons are counted, and it is looked at a few eps whether the function can be a
probability at all.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import prod

from dipc.verifier import reading as read
from dipc.verifier.execution import Affine, Constraints, Execution, Wanted
from dipc.verifier.functions import (
    ONE,
    Closed,
    Ring,
    add_closed,
    divided,
    equal_closed,
    multiply,
    multiply_closed,
    subtract,
)
from dipc.verifier.ideal import Ideal
from dipc.verifier.measures import measure_anew
from dipc.verifier.noise import Law, Normal
from dipc.verifier.normal import (
    Enclosed,
    Hanging,
    Hub,
    Probability,
    Stars,
    Sum,
    hanging_together,
    in_order,
    star_of,
    without_implied,
)
from dipc.verifier.program import Machine, Slot, Value, holds, reduced, values_of
from dipc.verifier.reading import (
    DERIVATION_ENDS,
    DISTANCES,
    PROBABILITIES,
    Budget,
    NotDerived,
    Rejected,
    must_be_derived,
    why_it_ends,
)
from dipc.verifier.signs import sign_of_ring
from dipc.verifier.syntax import Program, read_program

# === visits ====================================================================================


#: The largest component that is solved.
MOST_STATES = 2_000

_ONE: Closed = (ONE, ONE)
_NONE: Closed = ({}, ONE)


def visits(run: Execution, budget: Budget) -> dict[int, Closed]:
    """The total weights of the ways from the first state to the wanted ends, by their states.

    Steps lead onwards in the text except for those of a `while`, whose states are left together. Raises NotDerived
    where the program may not end, or that takes too much work.
    """
    steps = run.steps
    if len(_leading_to(steps, (node for node, row in enumerate(steps) if not row))) < len(steps):
        raise NotDerived("the program may not end: a loop is never left")
    goals = [end.state for end in run.ends]
    useful = _leading_to(steps, goals)
    weights: dict[int, Closed] = {0: _ONE}
    for together in run.by_place(useful):
        arriving = {here: weights.pop(here) for here in together if here in weights and steps[here]}
        if len(together) == 1 and all(goal not in together for goal, _ in steps[together[0]]):
            leaving = [
                (goal, _times(weight, step, budget)) for node, weight in arriving.items() for goal, step in steps[node]
            ]
        else:
            leaving = list(_through(steps, together, arriving, useful, budget).items()) if arriving else []
        for goal, weight in leaving:
            if goal in useful:
                weights[goal] = _plus(weights.get(goal, _NONE), weight, budget)
    return {goal: weights[goal] for goal in goals if goal in weights}


def _leading_to(steps: Sequence[Sequence[tuple[int, Closed]]], goals: Iterable[int]) -> set[int]:
    """The states from which steps lead to the goals, with these."""
    before: list[list[int]] = [[] for _ in steps]
    for here, row in enumerate(steps):
        for goal, _ in row:
            before[goal].append(here)
    waiting = list(goals)
    reached = set(waiting)
    for here in waiting:
        new = [there for there in dict.fromkeys(before[here]) if there not in reached]
        reached.update(new)
        waiting += new
    return reached


def _through(
    steps: Sequence[Sequence[tuple[int, Closed]]],
    together: Sequence[int],
    arriving: dict[int, Closed],
    useful: set[int],
    budget: Budget,
) -> dict[int, Closed]:
    """The weights with which runs leave these useful states towards other useful ones."""
    if len(together) > MOST_STATES:
        raise NotDerived(f"a loop has more than {MOST_STATES} states")
    rows: dict[int, dict[int, Closed]] = {-1: dict(arriving)}
    for here in together:
        row = rows[here] = {}
        for goal, weight in steps[here]:
            if goal in useful:
                row[goal] = _plus(row.get(goal, _NONE), weight, budget)
    for _ in together:
        # Those without a loop of their own first: nothing is divided for them.
        here = min((node for node in rows if node >= 0), key=lambda node: (node in rows[node], len(rows[node]), node))
        row = rows.pop(here)
        if here in row:
            row = _without_return(here, row, budget)
        budget.spend(len(rows))
        for known in rows.values():
            if here in known:
                first = known.pop(here)
                for goal, weight in row.items():
                    known[goal] = _plus(known.get(goal, _NONE), _times(first, weight, budget), budget)
    return rows[-1]


def _without_return(here: int, row: dict[int, Closed], budget: Budget) -> dict[int, Closed]:
    """The weights of the steps from a state when it is left for good: n/(d - r) for n/d where it returns with r/d."""
    common: Ring = ONE
    for _, below in row.values():
        if divided(common, below, budget) is None:
            factor = divided(below, common, budget)
            common = multiply(common, below, budget) if factor is None else below
    above: dict[int, Ring] = {}
    for goal, (top, below) in row.items():
        factor = divided(common, below, budget)
        if factor is None:
            raise NotDerived("the weights of a loop have too many denominators")
        above[goal] = multiply(top, factor, budget)
    rest = subtract(common, above.pop(here))
    if not rest:
        raise NotDerived("the program may not end: a loop is never left")
    return {goal: _lowest(top, rest, budget) for goal, top in above.items()}


def _lowest(above: Ring, below: Ring, budget: Budget) -> Closed:
    """above/below, as a function of the ring or as one over another where that is easily seen."""
    quotient = divided(above, below, budget)
    if quotient is not None:
        return quotient, ONE
    inverse = divided(below, above, budget)
    return reduced((ONE, inverse)) if inverse is not None else reduced((above, below))


def _plus(left: Closed, right: Closed, budget: Budget) -> Closed:
    if not left[0]:
        return right
    if not right[0]:
        return left
    above, below = add_closed(left, right, budget)
    return (above, ONE) if below == ONE else _lowest(above, below, budget)


def _times(left: Closed, right: Closed, budget: Budget) -> Closed:
    if left == _ONE or right == _ONE:
        return right if left == _ONE else left
    above, below = multiply_closed(left, right, budget)
    return (above, ONE) if below == ONE else _lowest(above, below, budget)


# === probability ===============================================================================

#: The most answers whose distances are looked up.
MOST_ANSWERS = 2_000


@dataclass
class Probabilities:
    """Probabilities of one program; equal integrals are computed once."""

    machine: Machine
    _measures: dict[Hanging, Closed | str] = field(default_factory=dict)

    def of(
        self, inputs: Mapping[int, Value], outputs: Mapping[int, Value], gamma: Fraction, budget: Budget
    ) -> Probability:
        """The probability that all these outputs, by slot, are as given, up to gamma. Raises NotDerived."""
        total = Sum()
        for answer in self._near(inputs, outputs, gamma, budget):
            total.include(self._of(inputs, answer, gamma, budget), budget)
        return total.value

    def _near(
        self, inputs: Mapping[int, Value], outputs: Mapping[int, Value], gamma: Fraction, budget: Budget
    ) -> Iterator[Mapping[int, Value]]:
        """The answers whose probabilities add up: by the product distance, where numbers may be off by gamma, the one
        given; else all that are within gamma of it."""
        if self.is_plain():
            yield outputs
            return
        for answer, distance in self._answers(inputs, outputs, budget):
            if distance is not None and distance <= gamma:
                yield answer

    def is_steady(
        self,
        inputs: Mapping[int, Value],
        outputs: Mapping[int, Value],
        low: Fraction,
        high: Fraction | None,
        budget: Budget,
    ) -> bool:
        """Whether the answers within gamma of the given one are the same for all low <= gamma < high (None: infinity).
        Raises NotDerived."""
        slots = self.machine.slots
        if self.is_plain():
            return all(slots[slot].type not in ("real", "int") for slot in outputs)
        distances = [d for _, d in self._answers(inputs, outputs, budget)]
        return not any(d is not None and d > low and (high is None or d < high) for d in distances)

    def is_plain(self) -> bool:
        """Whether the distance is the product distance, by which numbers alone may be off."""
        distance = self.machine.distance
        types = [self.machine.slots[slot].type for slot in self.machine.numbered("output")]
        numbers = all(type_ in ("real", "int") for type_ in types)
        return distance.same is None and (
            distance.kind in ("product", "above", "below") or (distance.kind == "linf" and numbers)
        )

    def _answers(
        self, inputs: Mapping[int, Value], outputs: Mapping[int, Value], budget: Budget
    ) -> Iterator[tuple[Mapping[int, Value], Fraction | None]]:
        """All answers, with their distances from the given one; None for infinity."""
        slots = self.machine.numbered("output")
        types = [self.machine.slots[slot].type for slot in slots]
        choices = list(map(values_of, types))
        if any(type_ in ("real", "int") for type_ in types) or prod(map(len, choices)) > MOST_ANSWERS:
            raise NotDerived("its `metric` block is about answers of a type that is not finite, or has too many values")
        if set(outputs) != set(slots):
            raise NotDerived("its `metric` block compares whole answers, but an output is left open")
        exact = {position: outputs[slot] for position, slot in zip(self.machine.distance.exact, slots, strict=True)}
        for chosen in product(*choices):
            answer = dict(zip(slots, chosen, strict=True))
            yield answer, self._distance({**inputs, **answer, **exact}, answer, budget)

    def _distance(
        self,
        values: Mapping[int, Value],
        answer: Mapping[int, Value],
        budget: Budget,
    ) -> Fraction | None:
        """The distance of an answer from the exact one; None for infinity."""
        run = Execution(self.machine, Wanted({}), budget)
        distance = self.machine.distance
        if distance.same is not None and all(run.plain(code, values) is True for code in distance.same):
            return Fraction(0)
        gap = run.gap([values.get(slot) for slot in range(1 + max(values))], list(answer))
        assert not isinstance(gap, Affine), "nothing is left open"
        return gap

    def _of(
        self, inputs: Mapping[int, Value], outputs: Mapping[int, Value], gamma: Fraction, budget: Budget
    ) -> Probability:
        run = Execution(self.machine, Wanted(outputs, gamma), budget)
        run.run(inputs)
        weights = visits(run, budget)
        by_noises: dict[Constraints, Closed] = {}
        for end in run.ends:
            before = by_noises.get(end.known)
            weight = weights[end.state]
            by_noises[end.known] = weight if before is None else add_closed(before, weight, budget)
        total = Sum()
        for known, weight in by_noises.items():
            total.add(*self.product(weight, known, run.laws, budget), budget)
        return total.value

    def product(
        self, weight: Closed, known: Constraints, laws: Mapping[int, Law], budget: Budget
    ) -> tuple[Stars, Closed]:
        """weight·Pr[known] as stars of normal noises and what they are multiplied with. Raises NotDerived."""
        stars: list[Hub] = []
        for key in _parts(known, laws):
            if _is_normal(key):
                stars.append(star_of(key))
            else:
                weight = multiply_closed(weight, self._measure(key, budget), budget)
        return in_order(stars), weight

    def weighted(self, weight: Closed, known: Constraints, laws: Mapping[int, Law], budget: Budget) -> Closed:
        """weight·Pr[known] in closed form. Raises NotDerived."""
        stars, weight = self.product(weight, known, laws, budget)
        if stars:
            raise NotDerived("probabilities of Gaussian noise have no closed form")
        return weight

    def _measure(self, key: Hanging, budget: Budget) -> Closed:
        measure = self._measures.get(key)
        if measure is None:
            measure = self._measures[key] = measure_anew(*key, budget)
        if isinstance(measure, str):
            raise NotDerived(measure)
        return measure


def _parts(known: Constraints, laws: Mapping[int, Law]) -> list[Hanging]:
    """The half-spaces by the noises that hang together, where there is normal noise without those that others imply."""
    parts = hanging_together(laws, ((row.form, Fraction(row.constant)) for row in known.rows.values()))
    return [each for part in parts for each in (without_implied(part) if _is_normal(part) else [part])]


def _is_normal(part: Hanging) -> bool:
    return any(isinstance(family, Normal) for family, _ in part[0])


# === theorem ===================================================================================

#: Of a sum over normal noises: equal ones may have other terms.
OTHER_SUM = "the program gives another sum over Gaussian noises"

#: Where it is looked at whether a function that was not derived is between 0 and 1.
_SAMPLES = (Fraction(1, 64), Fraction(1, 4), Fraction(1), Fraction(3), Fraction(16))


class Differs:
    """The result of comparing outputs with the ideal where one of them is another value."""


@dataclass
class Theorem:
    """The program of a certificate, and its ideal, or why that means nothing to the checker; None where it has none.
    `derived` counts the rows whose probability was derived, `reasons` the others; `distances` those whose answer and dd
    were not found to be the ideal's, `measured` those where they were."""

    machine: Machine
    ideal: Ideal | str | None
    whole: Budget
    budget: Budget
    derived: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    measured: int = 0
    distances: Counter[str] = field(default_factory=Counter)
    _probabilities: Probabilities = field(init=False)
    _known: dict[tuple[object, ...], Probability | str] = field(default_factory=dict)
    _equal: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._probabilities = Probabilities(self.machine)

    @staticmethod
    def of_tree(
        tree: Program, constants: Mapping[str, Fraction], whole: Budget, distances: Budget | None = None
    ) -> Theorem:
        """A program that was read, with these constants; raises NotDerived. Its derivations take parts of the `whole`
        budget; `distances` is what its ideal may take."""
        return Theorem.of_machine(Machine.of(tree, constants, whole), tree, constants, whole, distances)

    @staticmethod
    def of_machine(
        machine: Machine,
        tree: Program,
        constants: Mapping[str, Fraction],
        whole: Budget,
        distances: Budget | None = None,
    ) -> Theorem:
        """The same of a program whose `machine` is known."""
        ideal: Ideal | str | None = None
        if tree.ideal is not None:
            try:
                ideal = Ideal.of(tree, constants, distances or whole.part(DISTANCES))
            except DERIVATION_ENDS as error:
                ideal = why_it_ends(error)
        return Theorem(machine, ideal, whole, whole.part(PROBABILITIES))

    @property
    def is_compared_with_ideal(self) -> bool:
        """Whether the answers and distances of all rows are those of the `ideal`."""
        return isinstance(self.ideal, Ideal) and not self.distances

    def require_columns(self, *columns: Sequence[str]) -> None:
        """Check that the columns of a table for inputs and outputs are those of the program. Raises Rejected."""
        for role, stated in zip(("input", "output"), columns, strict=True):
            if [self.machine.slots[slot].name for slot in self.machine.numbered(role)] != list(stated):
                raise Rejected(f"its {role}s differ from those of the program", "table")

    def check(self, inputs: Sequence[str], outputs: Sequence[str | None], gamma: Fraction, stated: Probability) -> None:
        """Check that the stated probability is that of the program. Raises Rejected where it is another."""
        key = (tuple(inputs), tuple(outputs), gamma)
        derived = self._known.get(key)
        if derived is None:
            derived = self._known[key] = self._derived(inputs, outputs, gamma)
        if isinstance(derived, Enclosed) or isinstance(stated, Enclosed):
            self._require_same_sum(derived, stated)
            return
        if isinstance(derived, str):
            self.reasons[derived] += 1
            check_range(stated, self.whole)
            return
        same = (id(derived), id(stated))
        if same not in self._equal:
            if not equal_closed(derived, stated, self.whole):
                raise Rejected("the program gives another probability at these inputs")
            self._equal.add(same)
        self.derived += 1

    def _require_same_sum(self, derived: Probability | str, stated: Probability) -> None:
        """Compare a sum over normal noises with the derived one, term by term; one that differs is taken on trust."""
        if isinstance(derived, Enclosed) and isinstance(stated, Enclosed) and derived.equals(stated, self.whole):
            self.derived += 1
        else:
            self.reasons[derived if isinstance(derived, str) else OTHER_SUM] += 1

    def check_distance(
        self, inputs: Sequence[str], outputs: Sequence[str | None], dd: str | None, *, computed: bool
    ) -> None:
        """Compare the stated outputs, and `dd` where it is stated, with the ideal's, if there is one.

        Raises Rejected where dd is said to be `computed` from the ideal and the outputs or dd are not the ideal's.
        """
        if self.ideal is None:
            if computed:
                raise Rejected("dd is said to come from the `ideal`, but the program has no `ideal`")
            return
        distance = self._distance(inputs, outputs, known=dd is not None)
        if isinstance(distance, Differs):
            if computed:
                raise Rejected("an output differs from the answer of the `ideal`")
            self.distances["the answers differ from those of the `ideal`"] += 1
        elif isinstance(distance, str):
            self.distances[distance] += 1
        elif dd is None or distance == (None if dd == "inf" else read.rational(dd)):
            self.measured += 1
        elif computed:
            raise Rejected("dd differs from the `ideal`'s")
        else:
            self.distances["dd differs from that of the `ideal`"] += 1

    def _distance(
        self, inputs: Sequence[str], outputs: Sequence[str | None], *, known: bool
    ) -> Fraction | str | Differs | None:
        """The dd of the ideal, None for infinity; why it is not derived; or `Differs` where an output is another one.
        Where dd is not stated (`known` is false) the outputs alone are compared, and None is returned."""
        if not isinstance(self.ideal, Ideal):
            assert self.ideal is not None, "it was looked at before"
            return self.ideal
        slots = self.machine.slots
        given, stated = self.read(inputs, outputs)
        for slot, value in given.items():
            if not holds(slots[slot].type, value):
                raise Rejected(f"the input `{slots[slot].name}` does not fit")
        try:
            answer = dict(zip(self.machine.numbered("output"), self.ideal.answer([*given.values()]), strict=True))
            if any(value != answer[slot] for slot, value in stated.items()):
                return Differs()
            return self.ideal.distance([*given.values()]) if known else None
        except DERIVATION_ENDS as error:
            return why_it_ends(error)

    def steadiness(
        self, inputs: Sequence[str], outputs: Sequence[str | None], ends: tuple[Fraction, Fraction | None]
    ) -> str | None:
        """The reason why the answers within gamma are not known to be the same for all gamma from the first end to
        before the other; None where they are. Raises Rejected where they differ.
        """
        given, wanted = self.read(inputs, outputs)
        try:
            steady = self._probabilities.is_steady(given, wanted, *ends, self.budget)
        except DERIVATION_ENDS as error:
            return why_it_ends(error)
        if not steady:
            raise Rejected("the answers within gamma change inside this range")
        return None

    def read(self, inputs: Sequence[str], outputs: Sequence[str | None]) -> tuple[dict[int, Value], dict[int, Value]]:
        """The inputs and the outputs that are given, by slot. Raises Rejected for what fits no slot."""
        slots = self.machine.slots
        given = {
            slot: cell_value(slots[slot], cell)
            for slot, cell in zip(self.machine.numbered("input"), inputs, strict=True)
        }
        wanted = {
            slot: cell_value(slots[slot], cell)
            for slot, cell in zip(self.machine.numbered("output"), outputs, strict=True)
            if cell is not None
        }
        return given, wanted

    def derived_probability(
        self, inputs: Sequence[str], outputs: Sequence[str | None], gamma: Fraction
    ) -> Probability | str:
        """The probability of outputs within `gamma` of these, or why it is not derived."""
        return self._derived(inputs, outputs, gamma)

    def _derived(self, inputs: Sequence[str], outputs: Sequence[str | None], gamma: Fraction) -> Probability | str:
        given, wanted = self.read(inputs, outputs)
        try:
            return self._probabilities.of(given, wanted, gamma, self.budget)
        except DERIVATION_ENDS as error:
            return why_it_ends(error)


def program_of(
    text: str, digest: object, name: str, constants: Mapping[str, Fraction], only_at: Fraction | None, budget: Budget
) -> tuple[Program, Machine]:
    """The program of this text, which has this digest, name and constants, read at the eps `only_at`, or at every one;
    raises Rejected."""
    if hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != digest:
        raise Rejected("`sha256` does not match its text")
    with must_be_derived():
        tree = replace(read_program(text, budget), at=only_at)
        machine = Machine.of(tree, constants, budget)
    if machine.name != name:
        raise Rejected(f"its text says that its name is `{machine.name}`")
    return tree, machine


def cell_value(slot: Slot, cell: str) -> Value:
    """The value of a cell for this variable."""
    if slot.type == "bool":
        if cell in ("true", "false"):
            return cell == "true"
    elif isinstance(slot.type, frozenset) and cell in slot.type:
        return cell
    else:
        with suppress(Rejected):
            return read.rational(cell)
    raise Rejected(f"`{cell[:40]}` is not a value of `{slot.name}`")


def check_range(stated: Closed, budget: Budget) -> None:
    """Raises Rejected where the function is clearly not a probability."""
    above, below = stated
    for eps in _SAMPLES:
        side = sign_of_ring(below, eps, budget)
        for function in (above, subtract(below, above)):
            if sign_of_ring(function, eps, budget) * side < 0:
                raise Rejected(f"it is not a probability at eps = {eps}")

"""The probability of an answer, derived from the text of a program alone; and the theorem that a certificate states.

The probability of an answer is a sum over exits: the total weight of the ways to the exit (FORMAT.md, lemma 3), times
the probability of its half-spaces. `Theorem` compares the probability that a row states with the derived one, and the
dd of the row with that of the ideal.

A probability that cannot be derived is taken on trust. Its reason is counted, and at a few eps the stated function must
lie between 0 and 1.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

from dipc.verifier import reading as read
from dipc.verifier.execution import Affine, Constraints, Execution
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
from dipc.verifier.late import drawing_late
from dipc.verifier.measures import measure_anew
from dipc.verifier.multisets import places_of, require_places
from dipc.verifier.noise import Law, Normal
from dipc.verifier.normal import (
    Enclosed,
    Hanging,
    Hub,
    Probability,
    Stars,
    hanging_together,
    in_order,
    star_of,
    sum_of,
    total_of,
    without_implied,
)
from dipc.verifier.program import Machine, Slot, Value, holds, reduced, values_of
from dipc.verifier.reading import (
    ALL_INPUTS,
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
from dipc.verifier.symmetry import require_exchangeable
from dipc.verifier.syntax import Program, read_program
from dipc.verifier.weights import Weights

# === visits ====================================================================================


#: The most states of a loop that are eliminated together.
MOST_STATES = 2_000

_ONE: Closed = (ONE, ONE)
_NONE: Closed = ({}, ONE)


def visits(run: Execution, budget: Budget) -> dict[int, Closed]:
    """Return the total weight of the paths of `run` from the first state to each wanted end, by the end's state.

    Steps lead forward in the text, except inside a `while`, whose states are eliminated together. Charges its work to
    `budget`. Raises NotDerived if the program may not end, or if elimination takes too much work.
    """
    steps = run.steps
    if len(_leading_to(steps, (node for node, row in enumerate(steps) if not row))) < len(steps):
        raise NotDerived("the program may run forever in a loop")
    goals = list(run.ends)
    useful = _leading_to(steps, goals)
    if not run.machine.loops:
        arithmetic = Weights.from_steps(steps, budget)
        if arithmetic is not None:
            return _forward(run, arithmetic, goals, useful, budget)
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


def _forward(
    run: Execution, arithmetic: Weights, goals: Sequence[int], useful: set[int], budget: Budget
) -> dict[int, Closed]:
    """Return the total weights of the paths of `run`, which has no loops, to the states `goals`.

    `useful` has the states that lead to one of them, and `arithmetic` the weights of the steps. Charges its work to
    `budget`.
    """
    weights = {0: arithmetic.certainty()}
    for (here,) in run.by_place(useful):
        if here not in weights or not run.steps[here]:
            continue
        weight = weights.pop(here)
        budget.spend(len(run.steps[here]))
        for goal, step in run.steps[here]:
            if goal in useful and step[0]:
                arriving = arithmetic.times(weight, step)
                known = weights.get(goal)
                weights[goal] = arriving if known is None else arithmetic.plus(known, arriving)
    return {goal: _lowest(*arithmetic.closed(weights[goal]), budget) for goal in goals if goal in weights}


def _leading_to(steps: Sequence[Sequence[tuple[int, Closed]]], goals: Iterable[int]) -> set[int]:
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
    component: Sequence[int],
    arriving: dict[int, Closed],
    useful: set[int],
    budget: Budget,
) -> dict[int, Closed]:
    """Return the weights with which runs leave the states of `component`, by the state that comes next.

    `arriving` has the weights with which runs enter the component, by state. `steps` has the steps from each state, of
    which only those to `useful` states are followed. Charges its work to `budget`.
    """
    if len(component) > MOST_STATES:
        raise NotDerived(f"a loop has more than {MOST_STATES} states")
    rows: dict[int, dict[int, Closed]] = {-1: dict(arriving)}
    for here in component:
        row = rows[here] = {}
        for goal, weight in steps[here]:
            if goal in useful:
                row[goal] = _plus(row.get(goal, _NONE), weight, budget)
    for _ in component:
        # States that do not return to themselves come first, since they need no division.
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
    """Return the weights of the steps from the state `here` to other states, with repeated returns summed up.

    `row` has the weights of all steps from this state, by the next state. If the state returns to itself with the
    weight r/d, each other weight n/d becomes n/(d - r). Charges its work to `budget`.
    """
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
        raise NotDerived("the program may run forever in a loop")
    return {goal: _lowest(top, rest, budget) for goal, top in above.items()}


def _lowest(above: Ring, below: Ring, budget: Budget) -> Closed:
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

#: The most answers whose distances are computed.
MOST_ANSWERS = 2_000


@dataclass
class Probabilities:
    """The probabilities of answers of the program `machine`; equal integrals are computed once.

    All work is charged to `budget`.
    """

    machine: Machine
    budget: Budget
    _measures: dict[Hanging, Closed | str] = field(default_factory=dict)

    @cached_property
    def _late(self) -> Machine | None:
        """The program with its draws as late as possible."""
        return drawing_late(self.machine, self.budget)

    def probability(self, inputs: Mapping[int, Value], outputs: Mapping[int, Value], gamma: Fraction) -> Probability:
        """Return the probability that all outputs are within `gamma` of `outputs`.

        `inputs` and `outputs` have values by slot. Raises NotDerived if the program cannot be explored, or if the
        probability of an event cannot be computed.
        """
        answers = self.near_answers(inputs, outputs, gamma)
        return total_of((self._answer_probability(inputs, answer, gamma) for answer in answers), self.budget)

    def near_answers(
        self, inputs: Mapping[int, Value], outputs: Mapping[int, Value], gamma: Fraction
    ) -> Iterator[Mapping[int, Value]]:
        """Yield answers whose probabilities add up to that of an answer within `gamma` of `outputs` at `inputs`.

        `inputs`, `outputs` and the answers have values by slot. If the method `is_plain` returns True, `outputs` is the
        only answer: it represents all answers whose numbers differ from its own by at most gamma. Otherwise each answer
        within gamma of `outputs` is yielded.
        """
        if self.is_plain():
            yield outputs
            return
        for answer, distance in self._answers(inputs, outputs):
            if distance is not None and distance <= gamma:
                yield answer

    def is_steady(
        self,
        inputs: Mapping[int, Value],
        outputs: Mapping[int, Value],
        low: Fraction,
        high: Fraction | None,
    ) -> bool:
        """True if the same answers at `inputs` are within gamma of `outputs` for all `low` <= gamma < `high`.

        A `high` of None is infinity. Raises NotDerived if the distances of all answers have to be computed, and this
        is not possible.
        """
        slots = self.machine.slots
        if self.is_plain():
            return all(slots[slot].type not in ("real", "int") for slot in outputs)
        distances = [d for _, d in self._answers(inputs, outputs)]
        return not any(d is not None and d > low and (high is None or d < high) for d in distances)

    def is_plain(self) -> bool:
        """True if the distance of answers is the product distance: numbers may be off by gamma, others not at all."""
        distance = self.machine.distance
        types = [self.machine.slots[slot].type for slot in self.machine.numbered("output")]
        numbers = all(type_ in ("real", "int") for type_ in types)
        return distance.same is None and (
            distance.kind in ("product", "above", "below") or (distance.kind == "linf" and numbers)
        )

    def _answers(
        self, inputs: Mapping[int, Value], outputs: Mapping[int, Value]
    ) -> Iterator[tuple[Mapping[int, Value], Fraction | None]]:
        """Yield each possible answer with its distance from the answer `outputs` at `inputs`; None means infinity.

        Raises NotDerived for real or int outputs, for too many answers, or if `outputs` is not a whole answer.
        """
        slots = self.machine.numbered("output")
        types = [self.machine.slots[slot].type for slot in slots]
        choices = list(map(values_of, types))
        if any(type_ in ("real", "int") for type_ in types) or prod(map(len, choices)) > MOST_ANSWERS:
            raise NotDerived("the `metric` block is about answers of a type that is not finite, or has too many values")
        if set(outputs) != set(slots):
            raise NotDerived("the `metric` block compares whole answers, but an output is left open")
        exact = {position: outputs[slot] for position, slot in zip(self.machine.distance.exact, slots, strict=True)}
        for chosen in product(*choices):
            answer = dict(zip(slots, chosen, strict=True))
            yield answer, self._distance({**inputs, **answer, **exact}, answer)

    def _distance(self, values: Mapping[int, Value], answer: Mapping[int, Value]) -> Fraction | None:
        run = Execution(self.machine, self.budget)
        distance = self.machine.distance
        if distance.same is not None and all(run.noiseless_value(code, values) is True for code in distance.same):
            return Fraction(0)
        gap = run.gap([values.get(slot) for slot in range(1 + max(values))], list(answer))
        assert not isinstance(gap, Affine), "the distance of answers is a number"
        return gap

    def _answer_probability(
        self, inputs: Mapping[int, Value], outputs: Mapping[int, Value], gamma: Fraction
    ) -> Probability:
        run, weights = self._run(inputs, outputs, gamma)
        by_noises: dict[Constraints, Closed] = {}
        for state, known in run.ends.items():
            before, weight = by_noises.get(known), weights[state]
            by_noises[known] = weight if before is None else add_closed(before, weight, self.budget)
        products = (self.product(weight, known, run.laws) for known, weight in by_noises.items())
        return sum_of(products, self.budget)

    def _run(
        self, inputs: Mapping[int, Value], outputs: Mapping[int, Value], gamma: Fraction
    ) -> tuple[Execution, dict[int, Closed]]:
        """Return (a run at `inputs`, the weights of its ends with outputs within `gamma` of `outputs`).

        Draws are made as late as possible. Raises NotDerived if the program cannot be explored, or if the weights
        cannot be computed.
        """
        if self._late is not None:
            run = Execution(self._late, self.budget, outputs, gamma)
            with suppress(NotDerived):
                run.run(inputs)
                return run, visits(run, self.budget)
        run = Execution(self.machine, self.budget, outputs, gamma)
        run.run(inputs)
        return run, visits(run, self.budget)

    def product(self, weight: Closed, known: Constraints, laws: Mapping[int, Law]) -> tuple[Stars, Closed]:
        """Return `weight`·Pr[all constraints `known` hold] as a product: (stars of normal noises, a closed form).

        `laws` has the law of each noise by its number. Raises NotDerived if connected normal noises do not form a star,
        or if other noises have a probability that cannot be computed.
        """
        stars: list[Hub] = []
        parts = hanging_together(laws, ((row.form, Fraction(row.constant)) for row in known.rows.values()))
        for key in [each for part in parts for each in (without_implied(part) if _is_normal(part) else [part])]:
            if _is_normal(key):
                stars.append(star_of(key))
            else:
                weight = multiply_closed(weight, self._measure(key), self.budget)
        return in_order(stars), weight

    def weighted(self, weight: Closed, known: Constraints, laws: Mapping[int, Law]) -> Closed:
        """Return `weight`·Pr[all constraints `known` hold] in closed form, for noises with `laws` by number.

        Raises NotDerived if normal noise is involved.
        """
        stars, weight = self.product(weight, known, laws)
        if stars:
            raise NotDerived("probabilities of Gaussian noise have no closed form")
        return weight

    def _measure(self, key: Hanging) -> Closed:
        measure = self._measures.get(key)
        if measure is None:
            measure = self._measures[key] = measure_anew(*key, self.budget)
        if isinstance(measure, str):
            raise NotDerived(measure)
        return measure


def _is_normal(part: Hanging) -> bool:
    return any(isinstance(family, Normal) for family, _ in part[0])


# === theorem ===================================================================================

#: The reason for a sum over normal noises with other terms, although the sums may be equal.
OTHER_SUM = "the program gives another sum over Gaussian noises"

#: The reason for an answer with an output that differs from that of the ideal.
OTHER_ANSWER = "the answers differ from those of the `ideal`"

#: The eps at which a function that was not derived must be between 0 and 1.
_SAMPLES = (Fraction(1, 64), Fraction(1, 4), Fraction(1), Fraction(3), Fraction(16))


def satisfies(machine: Machine, inputs: Mapping[int, Value], budget: Budget) -> bool:
    """True if `inputs`, by slot, satisfy the `requires` of the program `machine`.

    Charges its work to `budget`. Raises NotDerived if a condition has no value.
    """
    run = Execution(machine, budget)
    return all(run.noiseless_value(code, inputs) is True for code in machine.requires)


@dataclass
class Theorem:
    """The program and the ideal of a certificate, with counts of what was derived from them and what was not.

    `ideal` is None if the program has none, or the reason why the checker cannot use it. `whole` is the budget of the
    whole check, and `budget` its part for probabilities. `derived` counts the rows whose probability was derived;
    `reasons` counts the other rows by the reason. `measured` counts the rows whose answer and dd were found to be the
    ideal's; `distances` counts the other rows by the reason.
    """

    machine: Machine
    ideal: Ideal | str | None
    whole: Budget
    budget: Budget
    derived: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    measured: int = 0
    distances: Counter[str] = field(default_factory=Counter)
    probabilities: Probabilities = field(init=False)
    _known: dict[tuple[object, ...], Probability | str] = field(default_factory=dict)
    _equal: set[tuple[int, int]] = field(default_factory=set)
    _allowed: set[tuple[str, ...]] = field(default_factory=set)
    #: By groups of inputs why they are not shown to be exchangeable, or None.
    _exchanged: dict[tuple[tuple[int, ...], ...], str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.probabilities = Probabilities(self.machine, self.budget)

    def exchangeable(self, groups: Sequence[Sequence[int]]) -> str | None:
        """Return why the inputs of some group of `groups` are not proved to be exchangeable; None if all are.

        Groups list indices of inputs. Exchanges of inputs in a group must leave the law of the outputs, `requires`, and
        the answers and distances of the ideal unchanged. If this is proved, the ideal uses the exchanges for later
        distances.
        """
        key = tuple(map(tuple, groups))
        if not key or key in self._exchanged:
            return self._exchanged.get(key)
        ideal = self.ideal if isinstance(self.ideal, Ideal) else None
        require_places(places_of(key), len(self.machine.numbered("input")))
        why = None
        try:
            machine = None if ideal is None else ideal.machine
            require_exchangeable(self.machine, machine, key, self.whole.part(ALL_INPUTS))
        except DERIVATION_ENDS as error:
            why = f"that inputs may be exchanged is not shown: {why_it_ends(error)}"
        if why is None and ideal is not None:
            ideal.alike = key
        self._exchanged[key] = why
        return why

    @staticmethod
    def from_tree(
        tree: Program,
        constants: Mapping[str, Fraction],
        whole: Budget,
        distances: Budget | None = None,
        machine: Machine | None = None,
    ) -> Theorem:
        """Return the theorem about the syntax tree `tree` with these `constants`.

        Derivations take parts of the budget `whole`. `distances` is the budget of the ideal, by default a part of
        `whole`. `machine` is the compiled program; if it is None, the program is compiled. Raises NotDerived if the
        program has no meaning.
        """
        if machine is None:
            machine = Machine.compile(tree, constants, whole)
        ideal: Ideal | str | None = None
        if tree.ideal is not None:
            try:
                ideal = Ideal.compile(tree, constants, distances or whole.part(DISTANCES))
            except DERIVATION_ENDS as error:
                ideal = why_it_ends(error)
        return Theorem(machine, ideal, whole, whole.part(PROBABILITIES))

    @property
    def is_compared_with_ideal(self) -> bool:
        """True if the answers and distances of all rows were found to be those of the `ideal`."""
        return isinstance(self.ideal, Ideal) and not self.distances

    def require_columns(self, *columns: Sequence[str]) -> None:
        """Raise Rejected unless the `columns` of a table have the names of the program's inputs and outputs.

        `columns` are two lists of names: first those of the input columns, then those of the output columns.
        """
        for role, stated in zip(("input", "output"), columns, strict=True):
            if [self.machine.slots[slot].name for slot in self.machine.numbered(role)] != list(stated):
                raise Rejected(f"its {role}s differ from those of the program", "table")

    def require_allowed(self, inputs: Sequence[str]) -> None:
        """Raise Rejected unless `inputs`, as cells of a table, satisfy the program's `requires`."""
        if self.machine.requires and tuple(inputs) not in self._allowed:
            given, _ = self.read(inputs, [None] * len(self.machine.numbered("output")))
            with must_be_derived():
                if not satisfies(self.machine, given, self.whole):
                    raise Rejected("an input violates the program's `requires`")
            self._allowed.add(tuple(inputs))

    def check(self, inputs: Sequence[str], outputs: Sequence[str | None], gamma: Fraction, stated: Probability) -> None:
        """Raise Rejected if the program's probability of an answer within `gamma` of `outputs` is not `stated`.

        `inputs` and `outputs` are cells of a table; an output is None if nothing is claimed about it. A probability
        that cannot be derived is counted as taken on trust.
        """
        self.require_allowed(inputs)
        key = (tuple(inputs), tuple(outputs), gamma)
        derived = self._known.get(key)
        if derived is None:
            derived = self._known[key] = self.derived_probability(inputs, outputs, gamma)
        if isinstance(derived, Enclosed) or isinstance(stated, Enclosed):
            # A sum over normal noises that differs, or that is not derived, is taken on trust.
            if isinstance(derived, Enclosed) and isinstance(stated, Enclosed) and derived.equals(stated, self.whole):
                self.derived += 1
            else:
                self.reasons[derived if isinstance(derived, str) else OTHER_SUM] += 1
            return
        if isinstance(derived, str):
            self.reasons[derived] += 1
            check_range(stated, self.machine.at, self.whole)
            return
        same = (id(derived), id(stated))
        if same not in self._equal:
            if not equal_closed(derived, stated, self.whole):
                raise Rejected("the program gives a different probability at these inputs")
            self._equal.add(same)
        self.derived += 1

    def check_distance(
        self, inputs: Sequence[str], outputs: Sequence[str | None], dd: str | None, *, computed: bool
    ) -> None:
        """Compare the stated `outputs`, and `dd` if it is stated, with the ideal's right answer and dd at `inputs`.

        `computed` says that the certificate claims dd to be that of the ideal. If it is true, Rejected is raised if the
        outputs or dd are not the ideal's, or if there is no ideal. Otherwise a difference is counted, as a distance
        that was not derived.
        """
        self.require_allowed(inputs)
        if self.ideal is None:
            if computed:
                raise Rejected("dd is said to come from the `ideal`, but the program has no `ideal`")
            return
        distance = self._distance(inputs, outputs, known=dd is not None)
        if distance == OTHER_ANSWER and computed:
            raise Rejected("an output differs from the answer of the `ideal`")
        if isinstance(distance, str):
            self.distances[distance] += 1
        elif dd is None or distance == (None if dd == "inf" else read.rational(dd)):
            self.measured += 1
        elif computed:
            raise Rejected("dd differs from the distance that the `ideal` gives")
        else:
            self.distances["dd differs from that of the `ideal`"] += 1

    def _distance(self, inputs: Sequence[str], outputs: Sequence[str | None], *, known: bool) -> Fraction | str | None:
        """Return dd of `inputs`, the distance to inputs with answers other than `outputs`, or None for infinity.

        If the ideal has another answer, or if dd is not derived, return the reason as text. If dd is not stated
        (`known` is false), only the answers are compared, and None is returned if they are equal.
        """
        if not isinstance(self.ideal, Ideal):
            assert self.ideal is not None, "the program has an ideal"
            return self.ideal
        slots = self.machine.slots
        given, stated = self.read(inputs, outputs)
        for slot, value in given.items():
            if not holds(slots[slot].type, value):
                raise Rejected(f"the value of the input `{slots[slot].name}` is outside its domain")
        try:
            answer = dict(zip(self.machine.numbered("output"), self.ideal.answer([*given.values()]), strict=True))
            if any(value != answer[slot] for slot, value in stated.items()):
                return OTHER_ANSWER
            return self.ideal.distance([*given.values()]) if known else None
        except DERIVATION_ENDS as error:
            return why_it_ends(error)

    def steadiness(
        self, inputs: Sequence[str], outputs: Sequence[str | None], ends: tuple[Fraction, Fraction | None]
    ) -> str | None:
        """Return None if the answers within gamma of `outputs` are the same for each gamma in `ends`.

        If this is not decided, return the reason. `inputs` and `outputs` are cells of a table. gamma is at least the
        first of `ends` and less than the second (None: infinity). Raises Rejected if the answers do depend on gamma.
        """
        given, wanted = self.read(inputs, outputs)
        try:
            steady = self.probabilities.is_steady(given, wanted, *ends)
        except DERIVATION_ENDS as error:
            return why_it_ends(error)
        if not steady:
            raise Rejected("the answers within gamma change inside this range")
        return None

    def read(self, inputs: Sequence[str], outputs: Sequence[str | None]) -> tuple[dict[int, Value], dict[int, Value]]:
        """Return the values of the cells `inputs` and of the given cells of `outputs` (not None), by slot.

        Raises Rejected for text that is not a value.
        """
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
        """Return the probability at `inputs` of an answer within `gamma` of `outputs`, or why it is not derived."""
        given, wanted = self.read(inputs, outputs)
        try:
            return self.probabilities.probability(given, wanted, gamma)
        except DERIVATION_ENDS as error:
            return why_it_ends(error)


def program_of(
    text: str, digest: object, name: str, constants: Mapping[str, Fraction], only_at: Fraction | None, budget: Budget
) -> tuple[Program, Machine]:
    """Return the program `text` as a syntax tree and compiled with these `constants`.

    Raises Rejected unless the text has the SHA-256 `digest`, and the program this `name`. The program is read at the
    eps `only_at`, or at every eps if `only_at` is None. Charges its work to `budget`.
    """
    if hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != digest:
        raise Rejected("`sha256` does not match the text of the program")
    with must_be_derived():
        tree = replace(read_program(text, budget), at=only_at)
        machine = Machine.compile(tree, constants, budget)
    if machine.name != name:
        raise Rejected(f"`name` is not the name in the text of the program, `{machine.name}`")
    return tree, machine


def cell_value(slot: Slot, cell: str) -> Value:
    """Return the value of the variable `slot` that the text `cell` states. Raises Rejected for other text."""
    if slot.type == "bool":
        if cell in ("true", "false"):
            return cell == "true"
    elif isinstance(slot.type, frozenset) and cell in slot.type:
        return cell
    else:
        with suppress(Rejected):
            return read.rational(cell)
    raise Rejected(f"`{cell[:40]}` is not a value of `{slot.name}`")


def check_range(stated: Closed, at: Fraction | None, budget: Budget) -> None:
    """Raise Rejected if the function `stated` is not between 0 and 1 at one of a few eps.

    These are fixed samples, or the single eps `at` of the program if it is not None. Charges its work to `budget`.
    """
    above, below = stated
    for eps in _SAMPLES if at is None else (at,):
        side = sign_of_ring(below, eps, budget)
        for function in (above, subtract(below, above)):
            if sign_of_ring(function, eps, budget) * side < 0:
                raise Rejected(f"the probability stated is not between 0 and 1 at eps = {eps}")

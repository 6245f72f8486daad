"""Programs with the same steps for each of m queries: one iteration, terms of a union bound, runs from head to head.

The text has one loop `for i in low..m`, of the form that lemma 7 of FORMAT.md requires. An element of an array up to m
becomes a scalar. At the beginning of an iteration it has the value of its declaration, and later iterations do not
touch it. The machine has an endless loop:

    before;  head: (one iteration; back to head);  after;  end

The rest of a run depends only on what is carried over the head: finite values, and forms of noises and of inputs that
belong to no iteration. Only the laws of the noises matter, so noises are renumbered by their first occurrence. If
finitely many heads are found, they are all heads for any number of iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dipc.verifier.execution import Affine, Execution, Held, Shape, Split, plus
from dipc.verifier.ideal import Ideal, input_norm
from dipc.verifier.index_answers import ending_at, integer, with_arrays
from dipc.verifier.linear import Guard, contradictory
from dipc.verifier.noise import Family, Law, NoiseFamily
from dipc.verifier.program import Branch, Choice, Halt, Machine, Scored, Slot, Value, typed
from dipc.verifier.reading import Budget, NotDerived
from dipc.verifier.syntax import (
    Block,
    Element,
    Field,
    For,
    Literal,
    Mechanism,
    Name,
    Named,
    Program,
    Range,
    Ranged,
    Variable,
    While,
    names,
    nodes,
    rebuilt,
)

_ZERO, _ONE = Fraction(0), Fraction(1)


# === iteration =================================================================================


@dataclass(frozen=True)
class Side:
    """A program, or its `ideal`, in which the loop over the queries never ends.

    A run begins at instruction 0, an iteration after instruction `head`, and the part after the loop at `end`. `low` is
    the first index of the loop. `carried` are the slots that an iteration may read from earlier ones. `elements` are
    the names of the scalars that replace the array elements of the current index.
    """

    machine: Machine
    head: int
    end: int
    carried: tuple[int, ...]
    low: int
    elements: frozenset[str]


@dataclass(frozen=True)
class Iterations:
    """A program and its ideal with endless loops; `norm` is the norm of the distance of inputs."""

    own: Side
    ideal: Side
    norm: str

    @staticmethod
    def from_program(tree: Program, parameter: str, constants: Mapping[str, Fraction], budget: Budget) -> Iterations:
        """Return the program `tree` and its ideal, compiled with these `constants` and with an endless loop in each.

        In `tree` itself the loops end at the constant `parameter`. Charges its work to `budget`. Raises NotDerived,
        with the reason, if the program does not have the form of lemma 7 (FORMAT.md): one loop `for i in low..m`, which
        treats each i alike.
        """
        if tree.ideal is None:
            raise NotDerived("the program has no `ideal`")
        tree = ending_at(with_arrays(tree, parameter), parameter)
        assert tree.ideal is not None
        arrays, loop, low = _only_loop(tree, tree.body, parameter)
        _, other, first = _only_loop(tree, tree.ideal.body, parameter)
        if first != low:
            raise NotDerived("the loops of the program and of its `ideal` begin with different indices")
        unset = [each.name for each in tree.variables if each.role == "output" and each.initial is None]
        if any(arrays.get(name, low) < low for name in unset):
            raise NotDerived("an output may have no value at the end")
        metric = tuple(_condition(field, parameter, loop, arrays) for field in tree.metric)
        norm = input_norm(tree)
        if norm not in ("linf", "l1"):
            raise NotDerived(
                "the `metric` block uses a distance between inputs that this checker does not cover for every number "
                "of queries"
            )
        own = replace(tree, body=_open_end(tree.body, loop, arrays), metric=())
        variables = (*tree.visible, *tree.ideal.variables)
        body = _open_end(tree.ideal.body, other, arrays)
        ideal = replace(tree, variables=variables, body=body, metric=metric)
        sides = [_side(side, arrays, low, constants, budget) for side in (own, ideal)]
        return Iterations(sides[0], sides[1], norm)

    def distances(self, budget: Budget) -> Ideal:
        """Return an ideal from which only distances of inputs may be computed: its paths are not those of the program.

        Its work is charged to `budget`.
        """
        return Ideal(self.ideal.machine, self.norm, budget)

    def combinations(self, budget: Budget) -> Iterable[Sequence[tuple[Value, ...]]]:
        """Return the combinations of values of the finite inputs, in groups.

        In a group, all inputs that are not array elements have the same values. Charges its work to `budget`.
        """
        slots = self.ideal.machine.slots
        finite = [slots[slot] for slot in self.ideal.machine.numbered("input") if slots[slot].type != "real"]
        groups: dict[object, list[tuple[Value, ...]]] = {}
        for values in self.distances(budget).combinations():
            shared = (value for slot, value in zip(finite, values, strict=True) if slot.name not in self.own.elements)
            groups.setdefault(typed(shared), []).append(values)
        return groups.values()


def endless_program(tree: Program, parameter: str, constants: Mapping[str, Fraction], budget: Budget) -> Side:
    """Return the program `tree`, without its ideal, with a loop that never ends.

    In `tree` the loop ends at the constant `parameter` of `constants`. Charges its work to `budget`. Raises NotDerived
    if an input is not real, or if the program does not have the form of lemma 7 (FORMAT.md): one loop `for i in
    low..m`, which treats each i alike.
    """
    bare = ending_at(with_arrays(replace(tree, ideal=None, metric=(), claim=()), parameter), parameter)
    arrays, loop, low = _only_loop(bare, bare.body, parameter)
    side = _side(replace(bare, body=_open_end(bare.body, loop, arrays)), arrays, low, constants, budget)
    if any(slot.role == "input" and slot.type != "real" for slot in side.machine.slots):
        raise NotDerived("an input is not real")
    return side


def _only_loop(tree: Program, body: Block, parameter: str) -> tuple[Mapping[str, int], For, int]:
    """Return (the arrays of length m with their first indices, the loop of `body` up to m, its first index).

    m is the constant `parameter` of the program `tree`. `body` must have the form of lemma 7 (FORMAT.md): one loop `for
    i in low..m` that treats each i alike. Raises NotDerived otherwise, or if the loop begins before an array.
    """
    arrays = parameter_arrays(tree, parameter)
    loop = _loop(body, parameter, arrays)
    low = first_index(loop)
    if any(first > low for first in arrays.values()):
        raise NotDerived("the first index of the loop is less than that of an array")
    return arrays, loop, low


def _side(
    program: Program, arrays: Mapping[str, int], low: int, constants: Mapping[str, Fraction], budget: Budget
) -> Side:
    machine = Machine.compile(_scalars(program, arrays), constants, budget)
    if any(slot.type == "int" for slot in machine.slots):
        raise NotDerived("the program has variables of type int")
    ((head, end),) = machine.loops
    assert isinstance(machine.code[head], Branch)
    live = Shape.from_machine(machine, machine.numbered("output"), budget).live[head]
    carried = tuple(
        number
        for number, slot in enumerate(machine.slots)
        if live >> number & 1 and slot.role != "input" and slot.name not in arrays
    )
    return Side(machine, head, end, carried, low, frozenset(arrays))


# --- the text -----------------------------------------------------------------------------------------


def first_index(loop: For) -> int:
    """Return the first index of `loop`. Raises NotDerived if it is not a number."""
    low = integer(loop.low)
    if low is None:
        raise NotDerived("the first index of the loop is not a number")
    return low


def parameter_arrays(tree: Program, parameter: str) -> dict[str, int]:
    """Return the arrays of `tree` that end at the index m, the constant `parameter`, with their first indices.

    Raises NotDerived if a declaration depends on m in another way. The end of a domain may be m.
    """
    arrays: dict[str, int] = {}
    others: set[str] = set()
    for name, value in tree.constants:
        if name != parameter:
            _require_absent(parameter, value, "a constant")
    for _, domain in tree.domains:
        _ends_at_most(parameter, domain)
    for each in tree.every_variable:
        _ends_at_most(parameter, each.type)
        known = tree.domain(each.type)
        if each.role == "input" and (isinstance(known, Named) or parameter in names(known)):
            raise NotDerived(f"the number of values of an input grows with `{parameter}`")
        _require_absent(parameter, each.initial, "an initial value")
        if each.ends is not None and each.ends[1] == Name(parameter):
            low = first_index(For("", *each.ends, ()))
            if arrays.setdefault(each.name, low) != low:
                raise NotDerived(f"`{each.name}` is declared both as an array and as something else")
        else:
            _require_absent(parameter, each.ends, "an array")
            others.add(each.name)
    if others & arrays.keys():
        raise NotDerived("a name means an array in the program and something else in its `ideal`")
    return arrays


def _ends_at_most(parameter: str, domain: object) -> None:
    if isinstance(domain, Range) and domain.high == Name(parameter):
        domain = domain.low
    _require_absent(parameter, domain, "a domain")


def _require_absent(parameter: str, tree: object, what: str) -> None:
    if parameter in names(tree):
        raise NotDerived(f"{what} depends on `{parameter}`")


def _loop(body: Block, parameter: str, arrays: Mapping[str, int]) -> For:
    loops = [statement for statement in body if isinstance(statement, For)]
    if len(loops) != 1 or sum(isinstance(node, For | While) for node in nodes(body)) != 1:
        raise NotDerived("the program must have exactly one loop")
    (loop,) = loops
    if loop.high != Name(parameter):
        raise NotDerived(f"the loop does not end at `{parameter}`")
    _require_absent(parameter, loop.body, "an iteration")
    _own_elements(loop.body, loop.variable, arrays)
    for statement in body:
        if statement is not loop:
            _require_absent(parameter, statement, "a statement outside of the loop")
            if not arrays.keys().isdisjoint(names(statement)):
                raise NotDerived(f"an array indexed up to `{parameter}` is used outside the loop")
    return loop


def _own_elements(tree: object, variable: str, arrays: Mapping[str, int]) -> None:
    """Raise NotDerived unless `tree` uses `arrays` only at the index `variable`, and `variable` only as their index.

    No local name in `tree` may hide one of these names.
    """
    indices = 0
    for node in nodes(tree):
        if isinstance(node, Mechanism | Ranged) and (node.variable == variable or node.variable in arrays):
            raise NotDerived(f"the local name `{node.variable}` hides another one")
        if isinstance(node, Element) and node.name.removesuffix("'") in arrays:
            if node.index != Name(variable):
                raise NotDerived("an iteration uses an element other than its own")
            indices += 1
        elif isinstance(node, Name) and node.name.removesuffix("'") in arrays:
            raise NotDerived("an array is used as a whole")
    if sum(name == variable for name in names(tree)) != indices:
        raise NotDerived("the loop's variable is used other than as an index")


def _condition(field: Field, parameter: str, loop: For, arrays: Mapping[str, int]) -> Field:
    """Return `field` of the metric without its loop over the indices, as a condition on one index.

    `arrays` are the arrays whose length is `parameter`, with their first indices, and `loop` is the program's loop over
    them. Raises NotDerived if the condition relates two indices.
    """
    if field.name not in ("input", "apart"):
        if field.name == "output" and field.value == Name("product"):
            return field
        raise NotDerived("the `metric` block defines its own distance between outputs")
    _require_absent(parameter, field.value, "the metric")
    match field.loops:
        case ():
            if not arrays.keys().isdisjoint(name.removesuffix("'") for name in names(field.value)):
                raise NotDerived("the `metric` block covers only some indices")
            return field
        case ((variable, low, Name(high)),) if low == loop.low and high == parameter:
            _own_elements(field.value, variable, arrays)
            return replace(field, loops=())
        case _:
            raise NotDerived("a condition of the `metric` block relates different indices")


# --- one iteration ------------------------------------------------------------------------------------


def _open_end(body: Block, loop: For, arrays: Mapping[str, int]) -> Block:
    if loop.variable in arrays:
        raise NotDerived("the loop's variable is also an array")
    endless = While(Literal(value=True), loop.body)
    return tuple(endless if statement is loop else statement for statement in body)


def _scalars(program: Program, arrays: Mapping[str, int]) -> Program:
    def scalar(part: object) -> object:
        match part:
            case Element(name) if name.removesuffix("'") in arrays:
                return Name(name)
            case Variable(name=name) if name in arrays:
                return replace(part, ends=None)
        return None

    return rebuilt(program, scalar)  # type: ignore[no-any-return]


# === terms =====================================================================================


#: Laws, rates and coefficients of noises; the absolute values of the coefficients sum to 1.
Scaled = tuple[tuple[NoiseFamily, Fraction, Fraction], ...]


@dataclass(frozen=True, slots=True)
class Term:
    """An event Σ N + `constant` < 0 for `noises` N, whose probability the certificate bounds.

    If the event happens, the run may have a wrong answer.
    """

    noises: Scaled
    constant: Fraction

    @staticmethod
    def normalized(noises: Iterable[tuple[NoiseFamily, Fraction, Fraction]], constant: Fraction) -> Term:
        """Return the term Σ c·N + `constant` < 0 for the (family, rate, c) in `noises`, with normalized coefficients.

        At least one c must not be 0. The sign of the coefficient of a symmetric noise is dropped.
        """
        known = list(noises)
        size = sum((abs(c) for _, _, c in known), _ZERO)
        laws = ((family, rate, abs(c) if family is Family.LAPLACE else c) for family, rate, c in known)
        return Term(tuple(sorted((family, rate, c / size) for family, rate, c in laws)), constant / size)


# === loop runs =================================================================================


#: The most heads of one loop, and the most ways from one head.
MOST_HEADS = 500
MOST_WAYS = 500


@dataclass(frozen=True, slots=True)
class State:
    """A state of a run through the loop: the next instruction `at`, and the `values` of all slots.

    `laws` has the laws of the noises drawn so far. `outside` are guards that the inputs satisfy by assumption, before
    the run compares anything. `inputs` are the guards of inputs that the run compared, and `outcomes` the results of
    its comparisons of noises. `terms` are the events that the run has assumed not to happen.
    """

    at: int
    values: tuple[Held, ...]
    laws: tuple[Law, ...] = ()
    outside: tuple[Guard, ...] = ()
    inputs: tuple[Guard, ...] = ()
    outcomes: tuple[Guard, ...] = ()
    terms: tuple[Term, ...] = ()
    #: None, since programs with choices are refused.
    history: None = None

    @property
    def key(self) -> object:
        """A key that two states at the start of an iteration share exactly if they have equal values and laws."""
        return typed(self.values), self.laws


OTHER_CHOICE = "the program draws something other than Laplace or one-sided noise"

#: A function from a state and an open comparison to the states that follow.
Outcomes = Callable[[State, Guard], Sequence[State]]


class LoopRuns(Execution):
    """The paths of a program, or its ideal, through an iteration, or through the parts before and after the loop.

    `inputs` has the value of each input by name, which may be an unknown. Noises have the indices `first_noise`,
    `first_noise` + 1, …, in the order in which they are drawn.
    """

    def __init__(self, side: Side, inputs: Mapping[str, Affine | Value], first_noise: int, budget: Budget) -> None:
        super().__init__(side.machine, budget)
        self.side, self.inputs, self.first_noise = side, inputs, first_noise
        self._of_elements = {
            number
            for name, value in inputs.items()
            if name in side.elements and isinstance(value, Affine)
            for number, _ in value.terms
        }

    def __post_init__(self) -> None:
        # No instruction counts as inside a `while`, since noises and numbers may be assigned in this loop.
        self._shape = Shape((), (), (False,) * len(self.machine.code), frozenset())

    def start(self) -> State:
        """Return the state at the beginning of a run."""
        return State(0, tuple(self._fresh(slot) for slot in self.machine.slots))

    def entered(self, head: State) -> State:
        """Return the state at the beginning of an iteration after `head`, with new unknowns for the array elements."""
        slots = self.machine.slots
        values = tuple(
            self._fresh(slot) if slot.name in self.side.elements else value
            for slot, value in zip(slots, head.values, strict=True)
        )
        return replace(head, at=self.side.head + 1, values=values)

    def _fresh(self, slot: Slot) -> Held:
        return self.inputs[slot.name] if slot.role == "input" else slot.initial

    def after_loop(self, head: State) -> State:
        """Return the state right after the loop, for a run that leaves the loop in the state `head`."""
        return replace(head, at=self.side.end)

    def stripped(self, state: State) -> tuple[State, tuple[int, ...]]:
        """Return (the state at the start of the next iteration, the noises in its values) after `state`.

        An iteration ends in `state`. The new state keeps only the values that later iterations may read. Their noises
        are numbered by their first occurrence, and have no constraints. Raises NotDerived if an input of one iteration
        is read by others.
        """
        places: dict[int, int] = {}
        slots = self.machine.slots
        values: list[Held] = [self._fresh(slot) if slot.role == "input" else None for slot in slots]
        for slot in self.side.carried:
            value = state.values[slot]
            if isinstance(value, Affine):
                terms = []
                for i, c in value.terms:
                    if i in self._of_elements:
                        raise NotDerived("an iteration uses the input of another iteration")
                    place = places.setdefault(i, self.first_noise + len(places)) if i >= self.first_noise else i
                    terms.append((place, c))
                value = Affine(value.constant, tuple(sorted(terms)))
            values[slot] = value
        laws = tuple(state.laws[i - self.first_noise] for i in places)
        return State(self.side.head, tuple(values), laws), tuple(places)

    def ways(self, state: State, given: tuple[Guard, ...], outcomes: Outcomes) -> Iterator[State]:
        """Yield the last state of each path from `state` to the head of the loop or to the end.

        The inputs satisfy the guards `given`. `outcomes` returns the states that follow a comparison of noises. Raises
        NotDerived if there are too many paths, or if the program draws anything but noise.
        """
        waiting = [replace(state, outside=given)]
        count = 0
        while waiting:
            state = waiting.pop()
            self.budget.spend(20 + len(state.values))
            instruction = self.machine.code[state.at]
            if isinstance(instruction, Halt) or state.at == self.side.head:
                count += 1
                if count > MOST_WAYS:
                    raise NotDerived(f"there are more than {MOST_WAYS} ways through an iteration")
                yield state
                continue
            if isinstance(instruction, Choice | Scored):
                raise NotDerived(OTHER_CHOICE)
            here: Any = state  # a State takes the place of Constraints, and has them itself
            try:
                for _, _, after in self._after(here, here, instruction):
                    known: Any = after.known
                    waiting.append(replace(known, at=after.at, values=after.values))
            except Split as split:
                waiting += outcomes(state, split.row)

    # --- how values are looked at ---------------------------------------------------------------------

    def has_ties(self, form: Affine) -> bool:
        """True if `form` contains inputs alone: only then may it be 0 with positive probability."""
        return all(i < self.first_noise for i, _ in form.terms)

    def is_nonnegative(self, form: Affine, known: Any) -> bool:
        guard = Guard(form.terms, form.constant, strict=False)
        guards = (*known.outside, *known.inputs, *known.outcomes)
        if contradictory((*guards, guard.opposite()), self.budget):
            return True
        if contradictory((*guards, guard), self.budget):
            return False
        raise Split(guard)

    def is_integer(self, number: int) -> bool:  # noqa: ARG002
        return False

    def _drawn(self, label: int, law: Law, center: Fraction | Affine, known: Any) -> tuple[Fraction | Affine, Any]:  # noqa: ARG002
        if law[0] not in (Family.LAPLACE, Family.ONE_SIDED):
            raise NotDerived(OTHER_CHOICE)
        drawn = Affine(_ZERO, ((self.first_noise + len(known.laws), _ONE),))
        more = (Guard(drawn.terms, _ZERO, strict=False),) if law[0] is Family.ONE_SIDED else ()
        return plus(center, drawn), replace(known, laws=(*known.laws, law), outcomes=(*known.outcomes, *more))

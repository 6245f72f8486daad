"""A program's control and data flow, and the loops that some run cannot leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, floor, prod
from typing import assert_never

from dipc.algebra.graph import Dominators
from dipc.algebra.limits import NotApplicable
from dipc.chain.state import (
    NOTHING_KNOWN,
    Affine,
    Code,
    ConstraintSet,
    Fault,
    Mark,
    NoiseVar,
    NoiseWeight,
    SlotValue,
    State,
    initial_state,
    nonnegative,
    same_value,
    slot_set,
    slots_in,
)
from dipc.frozen import frozen
from dipc.linear.halfspace import number_between
from dipc.text import core as operations
from dipc.text.ast import BaseType, CompareOp, Role
from dipc.text.core import (
    AffineExpr,
    Apply,
    Branch,
    Const,
    DomExpr,
    DomType,
    ExitInstruction,
    Instruction,
    Jump,
    LinearComparison,
    Reference,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Slot,
    Store,
    Value,
    show_value,
    variables_read,
)
from dipc.text.program import CoreProgram

# --- Facts about a program's control and data flow, computed once per program -----------------------------------------
#
# Sets of slots are Python integers, bit i for slot i, because these are quick. Programs have hundreds of slots and a
# thousand instructions, and every step of the chain uses such sets.


@frozen
class Flow:
    """The properties of a program that do not depend on its inputs.

    The label of an instruction is its index; `exit_label`, the number of instructions, is where every run ends. Sets of
    slots are bit sets: integers whose bit i tells whether slot i is in the set.

    - `entry` is the label at which runs start. `landing[l]` is the label at which a run that reaches label l
      continues: jumps are followed, and an exit continues at `exit_label`.
    - `successors[l]` are the labels to which a step from l may lead. `joins` are the labels with several predecessors.
    - `reads[l]`, `writes[l]` and `must_write[l]` are the slots that the instruction at l may read, may write and surely
      writes. `may_assign[l]` are the slots that may be written at l or later.
    - `forward`: every step leads to a greater label, so that states can be explored in the order of their labels.
    - `chooses`: an instruction makes a finite random choice. `draws`: an instruction draws a noise. `bounds_noises`:
      one of these noises has a least value.
    - `reassigned` are the slots that are assigned affine expressions. `determined` are the labels at which each state
      has exactly one successor.
    - `domains[slot]` has the values of a slot of a finite domain, each mapped to itself.
    - `versions[l][slot]` counts the draws into the slot up to the one at l, from 1; only for slots with several draws.
    - `decided[l]` are slots that have the same value at l in all runs with the same inputs. The set is empty unless the
      program is `forward` and `chooses`.
    - `waits` are the labels of the choices that may wait until they are read (`dipc.chain.waiting`).
    - `places[l]`: the draw at l is replaced by a finite choice of one of the intervals between these numbers
      (`with_finite_noise`). `draws` ignores replaced draws.
    """

    program: CoreProgram
    entry: int
    exit_label: int
    landing: tuple[int, ...]
    successors: tuple[tuple[int, ...], ...]
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    must_write: tuple[int, ...]
    may_assign: tuple[int, ...]
    joins: frozenset[int]
    forward: bool
    chooses: bool
    draws: bool
    bounds_noises: bool
    reassigned: frozenset[int]
    determined: frozenset[int]
    domains: dict[int, dict[Value, Value]]
    versions: dict[int, dict[int, int]]
    decided: tuple[int, ...]
    waits: frozenset[int]
    places: Mapping[int, tuple[Fraction, ...]] = field(default_factory=dict)
    _drawn: dict[int, NoiseVar] = field(default_factory=dict, init=False, repr=False, compare=False)

    def drawn(self, noise: NoiseVar) -> NoiseVar:
        """Return `noise`, or the equal object of an earlier draw: comparing a noise with itself is quick."""
        last = self._drawn.setdefault(noise.id, noise)
        if last == noise:
            return last
        self._drawn[noise.id] = noise
        return noise

    def supports(self, noises: Iterable[NoiseVar]) -> ConstraintSet:
        """Return constraints that confine each of `noises` to the values that it can have; see `nonnegative`."""
        return nonnegative(noises) if self.bounds_noises else NOTHING_KNOWN

    def is_whole(self, form: Affine) -> bool:
        """Whether the noises and inputs in `form` are integers; no form has both integers and reals."""
        if form.noises:
            draw = self.program.instructions[form.noises[0][0]]
            return isinstance(draw, SampleNoise) and draw.law.whole
        return bool(form.inputs) and self.program.slots[form.inputs[0][0]].type is BaseType.INT

    @property
    def may_have_runs(self) -> bool:
        """Whether the program may have a `RunSet`: all its runs explored together, cut into segments.

        This requires that all inputs are real or int, that all outputs are DOM or bool, that the program makes no
        finite random choice, and that its loops are unrolled.
        """
        slots, program = self.program.slots, self.program
        if not self.forward or self.chooses or any(slots[slot].is_symbolic for slot in program.outputs):
            return False
        return all(slots[slot].is_symbolic for slot in program.inputs)

    def admission(self, slot: int) -> Callable[[Value], Value]:
        """Return a function that checks a value for `slot`: it returns the value, or raises NotApplicable.

        A value of a DOM slot must be in the domain, and the object in the domain is returned. A value of an int slot
        must be an integer. Other slots accept every value.
        """
        domain = self.domains.get(slot)
        if domain is None and self.program.slots[slot].type is not BaseType.INT:
            return lambda value: value

        def admitted(value: Value) -> Value:
            if domain is None:
                if not isinstance(value, Fraction) or value.denominator != 1:
                    raise NotApplicable
                return value
            if value not in domain:
                raise NotApplicable
            return domain[value]

        return admitted

    def first_state(self, given: Mapping[int, Value]) -> State:
        """Return the state before the first instruction, where `given` has values of inputs by slot.

        Real and int inputs without a value are left open.
        """
        values: list[SlotValue] = []
        for slot in self.program.slots:
            value = given.get(slot.index, slot.initial)
            if value is None:
                values.append(Affine.input(slot.index) if slot.role is Role.INPUT else Mark.UNASSIGNED)
            elif slot.is_symbolic:
                assert isinstance(value, Fraction)
                values.append(Affine.number(value))
            else:
                values.append(value)
        return initial_state(self.entry, tuple(values))

    def live(self, observed: Iterable[int]) -> tuple[int, ...]:
        """Return, by label, the bit set of slots that may still be read, or that are `observed` at the exit."""
        return _backwards(
            self.successors,
            slot_set(observed),
            lambda label, after: self.reads[label] | (after & ~self.must_write[label]),
        )

    def may_give(self, wanted: Mapping[int, Value]) -> tuple[int, ...]:
        """Return, by label, the bit set of slots that may still be assigned their value in `wanted`.

        `wanted` has the wanted values by slot. A slot belongs to the set if an instruction at the label or later may
        write it. Instructions that store a constant other than the wanted value do not count.
        """
        others = {
            label: 1 << instruction.target.slots[0]
            for label, instruction in enumerate(self.program.instructions)
            if isinstance(instruction, Store)
            and isinstance(instruction.value, Const)
            and instruction.target.index is None
            and not same_value(
                instruction.value.value, wanted.get(instruction.target.slots[0], instruction.value.value)
            )
        }
        if not others:
            return self.may_assign
        return _backwards(self.successors, 0, lambda label, after: self.writes[label] & ~others.get(label, 0) | after)


def analyze(program: CoreProgram) -> Flow:
    """Return the flow of `program`, in time linear in its length if it has no loops."""
    instructions = program.instructions
    exit_label = len(instructions)
    landing = tuple([_landing(instructions, label) for label in range(exit_label + 1)])
    successors: list[tuple[int, ...]] = []
    reads: list[int] = []
    writes: list[int] = []
    must_write: list[int] = []
    reassigned: set[int] = set()
    determined: set[int] = set()
    draws = bounds_noises = False
    for label, instruction in enumerate(instructions):
        goals: tuple[int, ...] = (label + 1,)
        reads.append(slots_read(instruction))
        writes.append(0)
        must_write.append(0)
        match instruction:
            case Branch(then=then, otherwise=otherwise):
                goals = then, otherwise
            case Jump(target=goal):
                goals = (goal,)
            case ExitInstruction():
                goals = ()
            case _:
                writes[label] = slot_set(instruction.target.slots)
                must_write[label] = writes[label] if instruction.target.index is None else 0
        match instruction:
            case Store(value=LinearComparison()) | Branch(condition=LinearComparison()):
                pass
            case Store(value=value):
                determined.add(label)
                if isinstance(value, AffineExpr):
                    reassigned.update(instruction.target.slots)
            case Branch() | Jump():
                determined.add(label)
            case SampleNoise(law=law):
                draws = True
                bounds_noises = bounds_noises or law.least is not None
        successors.append(tuple(dict.fromkeys([landing[goal] for goal in goals])))
    ways = tuple(successors)
    forward = all(goal > label for label, goals in enumerate(ways) for goal in goals)
    choosing = forward and has_choices(program)
    decided = _decided(program, landing[0], ways, reads, writes, must_write) if choosing else (0,) * (exit_label + 1)
    return Flow(
        program=program,
        entry=landing[0],
        exit_label=exit_label,
        landing=landing,
        successors=ways,
        reads=tuple(reads),
        writes=tuple(writes),
        must_write=tuple(must_write),
        may_assign=_backwards(ways, 0, lambda label, after: writes[label] | after),
        joins=_joins(landing[0], ways),
        forward=forward,
        chooses=has_choices(program),
        draws=draws,
        bounds_noises=bounds_noises,
        reassigned=frozenset(reassigned),
        determined=frozenset(determined),
        domains={
            slot.index: {value: value for value in slot.type.values}
            for slot in program.slots
            if isinstance(slot.type, DomType)
        },
        versions=_versions(instructions),
        decided=decided,
        waits=_waits(program, decided) if forward else frozenset(),
    )


def _waits(program: CoreProgram, decided: Sequence[int]) -> frozenset[int]:
    """Return the labels of the finite choices of `program` that may be left unmade until their results are read.

    The options of these choices depend on inputs and constants alone, and their targets are not outputs. `decided` has,
    by label, the bit set of slots that depend on inputs alone.
    """
    outputs = slot_set(program.outputs)
    result: set[int] = set()
    for label, instruction in enumerate(program.instructions):
        match instruction:
            case SampleChoice(target=target, arms=options) | SampleExponential(target=target, scores=options):
                if not slots_read(options) & ~decided[label] and not slot_set(target.slots) & outputs:
                    result.add(label)
    return frozenset(result)


def _decided(
    program: CoreProgram,
    entry: int,
    successors: Sequence[Sequence[int]],
    reads: Sequence[int],
    writes: Sequence[int],
    must_write: Sequence[int],
) -> tuple[int, ...]:
    """Return, by label, the bit set of slots whose value at the label depends on the inputs of `program` alone.

    The program starts at the label `entry` and has no jumps back. `successors`, `reads`, `writes` and `must_write` are
    the fields of its `Flow`.

    At a label with several predecessors, consider the last label that all paths to it pass, and the branches in
    between. If a condition of these branches does not depend on the inputs alone, then neither do the slots written in
    between.
    """
    everything = slot_set(range(len(program.slots)))
    before: dict[int, list[int]] = {entry: []}
    dominators = Dominators(entry)
    result = [0] * (len(successors) + 1)
    result[entry] = everything
    for label in range(entry, len(successors) + 1):
        ways = before.get(label)
        if ways is None:
            continue
        if ways:
            result[label] = everything
            for way in ways:
                match program.instructions[way]:
                    case Store(value=Const() | Reference() | Apply()) if not reads[way] & ~result[way]:
                        result[label] &= result[way] | must_write[way]
                    case _:
                        result[label] &= result[way] & ~writes[way]
            if len(ways) > 1:
                last = dominators.above(label)
                result[label] &= ~_written_by_chance(program, before, label, last, result, reads, writes)
        for goal in successors[label] if label < len(successors) else ():
            before.setdefault(goal, []).append(label)
            dominators.connect(label, goal)
    return tuple(result)


def _written_by_chance(
    program: CoreProgram,
    before: Mapping[int, Sequence[int]],
    label: int,
    last: int,
    decided: Sequence[int],
    reads: Sequence[int],
    writes: Sequence[int],
) -> int:
    """Return, as a bit set, the slots written between `last` and `label` if chance decides the path, else 0.

    Every path of `program` to `label` passes the label `last`. Chance decides the path if a branch at `last` or later
    compares reals or ints, or reads a slot that does not depend on inputs alone. `before` has the predecessors of each
    label. `decided`, `reads` and `writes` have three bit sets for each label: of the slots that depend on inputs alone,
    of the slots read, and of the slots written.
    """
    pending, seen, written = [*before[label]], {label}, 0
    by_chance = False
    while pending:
        here = pending.pop()
        if here in seen:
            continue
        seen.add(here)
        match program.instructions[here]:
            case Branch(condition=condition):
                by_chance = by_chance or isinstance(condition, LinearComparison) or bool(reads[here] & ~decided[here])
            case _:
                pass
        if here != last:
            written |= writes[here]
            pending.extend(before[here])
    return written if by_chance else 0


def has_choices(program: CoreProgram) -> bool:
    """Whether `program` makes finite random choices; without them every exit has weight 1."""
    return any(isinstance(instruction, SampleExponential | SampleChoice) for instruction in program.instructions)


def compared_by(instruction: Instruction) -> LinearComparison | None:
    """Return the comparison of reals or ints on which the chain branches at `instruction`, or None."""
    match instruction:
        case Store(value=LinearComparison() as test) | Branch(condition=LinearComparison() as test):
            return test
        case _:
            return None


def slots_read(tree: object) -> int:
    """Return the bit set of slots that `tree`, an instruction or an expression, may read."""
    reads = 0
    for variable in variables_read(tree):
        reads |= slot_set(variable.slots)
    return reads


def _backwards(
    successors: tuple[tuple[int, ...], ...], at_exit: int, transfer: Callable[[int, int], int]
) -> tuple[int, ...]:
    """Return the least bit sets `before[l]` with `before[l] = transfer(l, after[l])`, by label.

    Here `after[l]` is the union of `before[n]` for all n in `successors[l]`. The last label is the exit, and its bit
    set is `at_exit`.
    """
    before = [0] * len(successors) + [at_exit]
    changed = True
    while changed:
        changed = False
        for label in range(len(successors) - 1, -1, -1):
            after = 0
            for goal in successors[label]:
                after |= before[goal]
            new = transfer(label, after)
            if new != before[label]:
                before[label] = new
                changed = True
    return tuple(before)


def _landing(instructions: tuple[Instruction, ...], label: int) -> int:
    seen: set[int] = set()
    while label < len(instructions):
        match instructions[label]:
            case Jump(target=target) if label not in seen:
                seen.add(label)
                label = target
            case ExitInstruction():
                return len(instructions)
            case _:
                break
    return label


def _joins(entry: int, successors: tuple[tuple[int, ...], ...]) -> frozenset[int]:
    arrivals = {entry: 0}
    pending = [entry]
    for label in pending:
        for goal in successors[label] if label < len(successors) else ():
            if goal not in arrivals:
                pending.append(goal)
            arrivals[goal] = arrivals.get(goal, 0) + 1
    return frozenset([label for label, count in arrivals.items() if count > 1])


def _versions(instructions: tuple[Instruction, ...]) -> dict[int, dict[int, int]]:
    """Return, by label and slot, the ordinal of each draw in `instructions` among the draws into its slot.

    Ordinals count from 1. Slots with a single draw are left out.
    """
    draws: dict[int, list[int]] = {}
    for label, instruction in enumerate(instructions):
        if isinstance(instruction, SampleNoise):
            for slot in instruction.target.slots:
                draws.setdefault(slot, []).append(label)
    versions: dict[int, dict[int, int]] = {}
    for slot, labels in draws.items():
        if len(labels) > 1:
            for count, label in enumerate(labels, 1):
                versions.setdefault(label, {})[slot] = count
    return versions


# --- Loops that some run cannot leave: the program would not end with probability 1 -----------------------------------

_MOST_STATES = 3
_MOST_VALUES = 8


def trapped_fault(flow: Flow, states: Mapping[int, State], trap: frozenset[int]) -> Fault:
    """Return the fault for the states numbered in `trap`, which no run leaves.

    The fault names the outermost `while` of the program of `flow`, and the values in `states` that keep it running.
    """
    program = flow.program
    labels = {states[node].label for node in trap}
    heads = sorted(labels & program.loops.keys())
    head = heads[0] if heads else min(labels)
    span = program.loops[head] if heads else program.instructions[head].span
    touched = 0
    for label in labels:
        touched |= flow.reads[label] | flow.writes[label]
    held: dict[str, None] = {}
    for node in sorted(trap):
        if states[node].label == head:
            held[_values(flow, states[node], touched)] = None
    texts = [text for text in held if text][:_MOST_STATES]
    more = len(held) - len(texts)
    trouble = "no way out"
    if texts:
        trouble += f" with {' or '.join(f'`{text}`' for text in texts)}" + (f" or {more} more" if more else "")
    return Fault(
        Code.ENDLESS_LOOP,
        "this `while` can go on forever",
        span,
        trouble,
        "a program must end with probability 1: let every round have a chance to make the condition false",
    )


def _values(flow: Flow, state: State, touched: int) -> str:
    texts: list[str] = []
    for slot in slots_in(touched):
        value = state.values[slot]
        if isinstance(value, Fraction | str | bool):
            texts.append(f"{flow.program.slots[slot].name} = {show_value(value)}")
    return ", ".join(texts[:_MOST_VALUES]) + (", ..." if len(texts) > _MOST_VALUES else "")


# --- Noise that is compared with finite values alone: a finite choice of the interval that it falls into --------------
#
# Consider a variable that is only drawn, with finitely many means, and only compared with finitely many numbers. A run
# depends on it only through the interval between two of these numbers in which it lies. So the draw is replaced by a
# choice of one of these intervals, with exact weights, and the variable becomes some number in the interval: all
# comparisons come out as they would. Paths on which such noises differ lead to one state once the noises are forgotten.
# A count of n tests then has n + 1 states, while constraints on the noises would distinguish 2^n subsets of the tests.


#: The most numbers with which one noise is compared, and the most combinations of values tried to find them.
_MOST_PLACES, _MOST_COMBINATIONS = 32, 256


def with_finite_noise(flow: Flow) -> Flow:
    """Return `flow` with a finite choice in place of each noise that is only compared with finitely many numbers.

    The probability of every answer is unchanged. If loops are not unrolled, `flow` is returned unchanged. It is also
    returned unchanged if other noise remains and the program makes no choices, because uniting paths by their
    constraints is then faster.
    """
    if not flow.forward or not flow.draws:
        return flow
    instructions = flow.program.instructions
    draws = {label: each for label, each in enumerate(instructions) if isinstance(each, SampleNoise)}
    loose = {
        slot for slot in {slot for draw in draws.values() for slot in draw.target.slots} if _only_compared(flow, slot)
    }
    places: dict[int, tuple[Fraction, ...]] = {}
    for label, draw in draws.items():
        if draw.target.index is None and draw.target.slots[0] in loose:
            compared = _places(flow, label, draw.target.slots[0])
            if compared is not None:
                places[label] = compared
    others = len(places) < len(draws)
    if not places or (others and not flow.chooses):
        return flow
    return replace(flow, chooses=True, draws=others, places=places)


def without_finite_noise(flow: Flow) -> Flow:
    """Return `flow` with every noise drawn as noise, even if `flow` has a finite choice in place of some draws."""
    return replace(flow, chooses=has_choices(flow.program), draws=True, places={}) if flow.places else flow


def intervals(
    draw: SampleNoise, mean: Fraction, places: tuple[Fraction, ...]
) -> Iterator[tuple[Fraction, NoiseWeight]]:
    """Yield (number, weight) for each interval into which the increasing `places` cut the line.

    The number lies in the interval. The weight is the probability that the noise of `draw`, with mean `mean`, falls
    into the interval.
    """
    for low, high in pairwise((None, *places, None)):
        if draw.law.whole:
            # An integer noise may be at a place, which then belongs to the interval above it.
            high = None if high is None else high - 1
            number = low if low is not None else Fraction(0) if high is None else high
        else:
            number = number_between(low, high)
        yield number, NoiseWeight(draw.law, draw.rate, mean, low, high)


def _only_compared(flow: Flow, slot: int) -> bool:
    """Whether `slot` of `flow` is a variable that is only drawn, with constant means, and compared with constants."""
    program = flow.program
    if program.slots[slot].role is not Role.VAR:
        return False
    for label, instruction in enumerate(program.instructions):
        if flow.writes[label] >> slot & 1 and not (
            isinstance(instruction, SampleNoise)
            and instruction.target.index is None
            and not instruction.mean.terms
            and instruction.law.has_form
        ):
            return False
        if flow.reads[label] >> slot & 1:
            test = compared_by(instruction)
            terms = () if test is None else test.difference.terms
            if len(terms) != 1 or terms[0][1].slot != slot:
                return False
    return True


def _places(flow: Flow, label: int, slot: int) -> tuple[Fraction, ...] | None:
    """Return increasing numbers that cut the real line where the result of a comparison of a noise may change.

    The noise is drawn in `flow` at `label` into the variable `slot`. If the noise is continuous, the numbers are those
    with which it may be compared. If it is an integer, they include each integer n at which the result of some
    comparison differs from that at n - 1. The result is None if there are too many numbers.
    """
    draw = flow.program.instructions[label]
    assert isinstance(draw, SampleNoise)
    result: set[Fraction] = set()
    pending, seen = [*flow.successors[label]], set[int]()
    while pending:
        here = pending.pop()
        if here in seen or here == flow.exit_label:
            continue
        seen.add(here)
        if flow.reads[here] >> slot & 1:
            test = compared_by(flow.program.instructions[here])
            assert test is not None
            ((factor, _),) = test.difference.terms
            constants = _values_among(test.difference.constant, flow.program.slots)
            factors = _values_among(factor, flow.program.slots)
            if constants is None or factors is None:
                return None
            for constant, c in product(_numbers(constants), _numbers(factors)):
                if c:
                    value = -constant / c
                    result |= _starts(test.op, value, rising=c > 0) if draw.law.whole else {value}
            if len(result) > _MOST_PLACES:
                return None
        if not flow.must_write[here] >> slot & 1:
            pending += flow.successors[here]
    return tuple(sorted(result))


def _starts(op: CompareOp, value: Fraction, *, rising: bool) -> set[Fraction]:
    """Return integers that include each n at which the result of a comparison with `value` differs from that at n - 1.

    The comparison is n `op` `value` if `rising`, and `value` `op` n otherwise.
    """
    first, after = Fraction(ceil(value)), Fraction(floor(value) + 1)
    match op:
        case CompareOp.EQ | CompareOp.NE:
            return {first, after}
        case CompareOp.GT | CompareOp.LE:
            return {after if rising else first}
        case CompareOp.GE | CompareOp.LT:
            return {first if rising else after}
        case _:
            assert_never(op)


def _values_among(expr: DomExpr, slots: tuple[Slot, ...]) -> set[Value] | None:
    """Return a set that contains each value that `expr` can have; None if it has too many elements.

    A variable in `slots` may have each value of its domain. Combinations of arguments for which an operation has no
    value, such as a division by 0, are left out.
    """
    match expr:
        case Const(value=value):
            return {value}
        case Reference(slots=among):
            domains = [_domain(slots[slot]) for slot in among]
            return set().union(*[domain for domain in domains if domain is not None]) if all(domains) else None
        case Apply(op=op, arguments=arguments):
            choices = [_values_among(argument, slots) for argument in arguments]
            known = [choice for choice in choices if choice is not None]
            if len(known) < len(choices) or prod(map(len, known)) > _MOST_COMBINATIONS:
                return None
            result: set[Value] = set()
            for values in product(*known):
                try:
                    result.add(operations.evaluate(op, values))
                except ArithmeticError:
                    continue  # there a run goes wrong before anything is compared
            return result
        case _:
            assert_never(expr)


def _domain(slot: Slot) -> set[Value] | None:
    match slot.type:
        case DomType(values=values) if len(values) <= _MOST_COMBINATIONS:
            return {*values, *([] if slot.initial is None else [slot.initial])}
    return None


def _numbers(values: set[Value]) -> list[Fraction]:
    return [value for value in values if isinstance(value, Fraction)]


def finite_noise_slots(flow: Flow) -> frozenset[int]:
    """Return the variables of `flow` whose noise was replaced by a finite choice."""
    written = 0
    for label in flow.places:
        written |= flow.writes[label]
    return frozenset(slots_in(written))

"""Finite choices that wait in their variable, and become branches where the variable is read.

A *waiting* choice is the value of a variable: the options of the choice with their weights, while none of them is
selected. The first instruction that reads the variable branches on the choice. A choice that is overwritten or
forgotten before is dropped.

Lemma. Exits have the same probabilities if a choice is made at its draw and if it is made at the first read.

- Conditions: every step leads to a greater label, and the options and their weights depend on the inputs, on constants,
  and on variables computed from these alone. The domain of the variable contains every option.
- Proof: given the inputs, the choice is independent of every noise and of every other choice. No step between the draw
  and the first read depends on it, so both orders give each run the same product of weights. If nothing reads the
  choice, the runs with its different options are alike, and the weights of its options sum to 1 (`check_choices`).
- Consequence: the states between the draw and the read need not be split by the choice.

Options that depend on other variables must not wait, as they would split states instead. Nor does a choice wait in an
output, because outputs are compared with the wanted values, which is a read.

An instruction that reads several waiting choices reads them one by one, in the order of evaluation. In between, the
state holds the unfinished evaluation, as a stack of values. After `y[1] + y[2]` of a sum this is one number, and states
with equal numbers are one state: n bits have n sums, not 2^n combinations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import assert_never

from dipc.chain.flow import Flow
from dipc.chain.state import (
    Affine,
    Choice,
    ChoiceWeight,
    Fault,
    Mark,
    SlotValue,
    State,
    Unfinished,
    Waiting,
    slot_set,
    slots_in,
)
from dipc.chain.step import Successor, apply, content, is_never, require_element, step
from dipc.frozen import frozen
from dipc.text.core import (
    AffineExpr,
    Apply,
    Branch,
    Const,
    DomExpr,
    DomOp,
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
)

#: The most instructions that are followed from a draw to the place where its outcomes meet again, and the most
#: outcomes that are followed.
_MOST_FOLLOWED, _MOST_OUTCOMES = 8, 64

_BEGINNING = Unfinished(0, ())


class Steps:
    """The steps of one exploration, in which a finite choice is drawn immediately, but branches only where it is read.

    Until then its options stay together in one state, as the value of a variable: a waiting choice. Every state passed
    to a method must be a result of `first` or `successors`.
    """

    def __init__(self, flow: Flow, live: Sequence[int], *, kept: int = 0, at_once: bool = False) -> None:
        """Prepare the steps of the program of `flow`; `live` has, by label, the bit set of slots read later.

        - The slots in the bit set `kept` are never forgotten, and no choice waits in them.
        - With `at_once`, each choice is made where it is drawn. Then only values that wait in the first state wait, and
          no variable computed from them waits in their place.
        """
        self._flow = flow
        self._live = live
        self._kept = kept
        self._waits = frozenset[int]() if at_once else flow.waits
        self._folds = not at_once
        self._extra = len(flow.program.slots)
        self._codes: dict[int, _Code] = {}
        self._drawn: dict[Waiting, Waiting] = {}
        self._everything = slot_set(range(self._extra))
        self._outputs = slot_set(flow.program.outputs)

    def first(self, state: State) -> State:
        """Return the initial `state` with one more slot, for an evaluation that stops at a waiting choice."""
        return State(
            state.label,
            (*state.values, Mark.FORGOTTEN),
            state.noises,
            state.constraints,
            state.guards,
            state.fingerprint,
        )

    def progress(self, state: State) -> int:
        """Return how far the instruction at `state` has been evaluated, a number that orders states at one label."""
        value = state.values[self._extra]
        return value.place + 1 if isinstance(value, Unfinished) else 0

    def pauses(self, state: State) -> bool:
        """Whether the next step of `state` may read a waiting choice."""
        return isinstance(state.values[self._extra], Unfinished) or any(
            type(state.values[slot]) is Waiting for slot in slots_in(self._flow.reads[state.label])
        )

    def successors(self, state: State) -> tuple[Successor, ...]:
        """Return the possible next states after `state`, in which choices may wait.

        A step that reads a waiting choice leads to one state for each option. Raises Fault if the instruction cannot be
        executed.
        """
        if not self.pauses(state):
            return self._executed(state, self._flow.program.instructions[state.label])
        begun = state.values[self._extra]
        if not isinstance(begun, Unfinished):
            begun = _BEGINNING
        reached, slot = self._code(state.label).run(state.values, begun)
        if slot is None:
            return self._finished(state, reached)
        waiting = state.values[slot]
        assert isinstance(waiting, Waiting)
        chosen = tuple(
            [
                Successor(self._chosen(state, reached, slot, value), Choice(slot, value, weight, waiting.label))
                for value, weight in waiting.options
            ]
        )
        folds = self._folds and self._computes(state.label, 1 << slot)
        met = self._met(chosen, waiting.label, 1 << slot, state.label) if folds else None
        return chosen if met is None else (Successor(met, None),)

    def _computes(self, label: int, known: int) -> bool:
        """Whether the instruction at `label` reads only slots of the bit set `known` and values that inputs decide.

        The result is True only if, in addition, the instruction computes with finite values alone, and writes no
        output. Otherwise the mean of a noise, or the constraints of a comparison, could depend on a choice.
        """
        flow = self._flow
        return (
            _is_on_finite_values(flow.program.instructions[label])
            and not flow.reads[label] & ~(flow.decided[label] | known)
            and not flow.writes[label] & self._outputs
        )

    # --- reading waiting choices --------------------------------------------------------------------------

    def _code(self, label: int) -> _Code:
        known = self._codes.get(label)
        if known is None:
            program = self._flow.program
            known = self._codes[label] = _Code(program.instructions[label], program.slots)
        return known

    def _finished(self, state: State, reached: Unfinished) -> tuple[Successor, ...]:
        values = iter(reached.stack)
        instruction = _mapped(self._flow.program.instructions[state.label], lambda _: Const(next(values)))
        return self._executed(state.assign(self._extra, Mark.FORGOTTEN, state.label), instruction)

    def _chosen(self, state: State, reached: Unfinished, slot: int, value: Value | Waiting) -> State:
        label = state.label
        if isinstance(value, Waiting):
            return state.assign(slot, value, label).assign(self._extra, reached, label)
        code = self._code(label)
        begun = code.resumed(reached, value)
        after = state.assign(slot, value, label).assign(self._extra, begun, label)
        needed = code.loads[begun.place] | self._kept
        for goal in self._flow.successors[label]:
            needed |= self._live[goal] & ~self._flow.must_write[label]
        after = after.forget(code.loads[0] & ~needed)
        try:
            then, next_slot = code.run(after.values, begun)
            if next_slot is None:
                successors = self._finished(after, then)
                if len(successors) == 1 and successors[0].edge is None:
                    return successors[0].state
            return after.assign(self._extra, then, label)
        except Fault:
            return after  # reported when the state is expanded itself, with the whole path

    # --- draws --------------------------------------------------------------------------------------------

    def _executed(self, state: State, instruction: Instruction) -> tuple[Successor, ...]:
        successors = step(self._flow, state, instruction)
        if state.label not in self._waits:
            return successors
        met = self._met(successors, state.label, 0, state.label)
        return successors if met is None else (Successor(met, None),)

    def _met(self, drawn: tuple[Successor, ...], origin: int, known: int, label: int) -> State | None:
        """Return a state in which all outcomes of a choice wait as the value of one variable; None if none is found.

        The choice was drawn at the label `origin`, and `drawn` are the states of its outcomes after the instruction at
        `label`. This instruction reads only inputs and the slots in the bit set `known`. Each outcome is followed over
        instructions that compute only from inputs and from the choice. The search ends where all outcomes are at one
        label and differ in one variable, which the next instruction does not read. If they differ in no variable, the
        result is the state common to them, and nothing waits in it.
        """
        flow = self._flow
        if not 1 < len(drawn) <= _MOST_OUTCOMES or any(self.progress(each.state) for each in drawn):
            return None
        runs = [(each.state, known | flow.decided[label] | flow.writes[label]) for each in drawn]
        for _ in range(_MOST_FOLLOWED * len(runs)):
            label = min(after.label for after, _ in runs)
            if label == flow.exit_label:
                return None
            if all(after.label == label for after, _ in runs):
                dead = self._everything & ~self._live[label] & ~self._kept
                waiting = self._waiting([after.forget(dead) for after, _ in runs], origin, drawn)
                if waiting is not None:
                    return waiting
            position = next(place for place, (after, _) in enumerate(runs) if after.label == label)
            after, known = runs[position]
            if not self._computes(label, known):
                return None
            try:
                successors = self.successors(after)
            except Fault:
                return None  # reported on the path of its outcome
            if len(successors) > 1 or successors[0].edge is not None:
                return None
            runs[position] = successors[0].state, known | flow.writes[label]
        return None

    def _waiting(self, runs: Sequence[State], label: int, drawn: Sequence[Successor]) -> State | None:
        first = runs[0]
        if any(other.noises != first.noises or other.guards != first.guards for other in runs):
            return None
        differ = sorted(
            {
                slot
                for other in runs[1:]
                for slot, (one, two) in enumerate(zip(first.values, other.values, strict=True))
                if one is not two and (type(one) is not type(two) or one != two)
            }
        )
        if not differ:
            return first
        slot = differ[0]
        may_wait = len(differ) == 1 and not (self._outputs | self._kept | self._flow.reads[first.label]) >> slot & 1
        if not may_wait or self._flow.program.slots[slot].is_symbolic:
            return None
        options: list[tuple[Value | Waiting, ChoiceWeight]] = []
        for run, each in zip(runs, drawn, strict=True):
            value = run.values[slot]
            assert isinstance(each.edge, Choice)
            if isinstance(value, Mark | Affine | Unfinished):
                return None
            options.append((value, each.edge.weight))
        waiting = Waiting(label, tuple(options))
        return first.assign(slot, self._drawn.setdefault(waiting, waiting), first.label)


# --- Evaluation that can stop at every variable that is read ----------------------------------------------------------


@frozen
class _Decide:
    """An instruction of a stack machine: jump to the instruction `place` if the value on top is `stop`.

    Otherwise drop that value.
    """

    stop: bool
    place: int


#: An instruction of a stack machine. A constant or a variable is pushed, an element replaces its index on top, and an
#: operation replaces its arguments.
_Part = DomExpr | _Decide


class _Code:
    """The DOM and bool expressions of one instruction, in the order of evaluation, as code for a stack machine.

    The machine ends with the value of each expression on the stack. `loads[i]` is the bit set of the variables that the
    code may read at index i or later.
    """

    def __init__(self, instruction: Instruction, slots: Sequence[Slot]) -> None:
        self._slots = slots
        self._parts: list[_Part] = []
        _mapped(instruction, self._write)
        self.loads = [0] * (len(self._parts) + 1)
        for place in range(len(self._parts) - 1, -1, -1):
            part = self._parts[place]
            self.loads[place] = self.loads[place + 1] | slot_set(part.slots if isinstance(part, Reference) else ())

    def _write(self, expr: DomExpr) -> DomExpr:
        parts = self._parts
        match expr:
            case Const():
                parts.append(expr)
            case Reference(index=index):
                if index is not None:
                    self._write(index)
                parts.append(expr)
            case Apply(op=(DomOp.AND | DomOp.OR) as op, arguments=arguments):
                decisions: list[int] = []
                for position, argument in enumerate(arguments):
                    if position:
                        decisions.append(len(parts))
                        parts.append(_Decide(op is DomOp.OR, 0))
                    self._write(argument)
                for place in decisions:
                    parts[place] = _Decide(op is DomOp.OR, len(parts))
            case Apply(op=(DomOp.MIN | DomOp.MAX) as op, arguments=arguments, span=span):
                for position, argument in enumerate(arguments):
                    self._write(argument)
                    if position:
                        parts.append(Apply(op, arguments[:2], span))
            case Apply(arguments=arguments):
                for argument in arguments:
                    self._write(argument)
                parts.append(expr)
            case _:
                assert_never(expr)
        return expr

    def run(self, values: Sequence[SlotValue], begun: Unfinished) -> tuple[Unfinished, int | None]:
        """Continue the evaluation `begun` until it must read a waiting choice, or to the end of the code.

        `values` are the contents of the variables. The result is (evaluation, slot): how far it came, and the variable
        that waits, or None at the end. Raises Fault if an operation has no result.
        """
        place, stack = begun.place, list(begun.stack)
        while place < len(self._parts):
            part = self._parts[place]
            match part:
                case Const(value=value):
                    stack.append(value)
                case Reference(index=index):
                    slot = part.slots[0] if index is None else require_element(part, stack[-1])
                    if type(values[slot]) is Waiting:
                        return Unfinished(place, tuple(stack)), slot
                    if index is not None:
                        stack.pop()
                    found = content(slot, part.span, values, self._slots)
                    assert not isinstance(found, Affine)
                    stack.append(found)
                case Apply(op=op, arguments=arguments, span=span):
                    count = len(arguments)
                    stack[-count:] = [apply(op, stack[-count:], span)]
                case _Decide(stop=stop, place=goal):
                    if stack[-1] is stop:
                        place = goal
                        continue
                    stack.pop()
                case _:
                    assert_never(part)
            place += 1
        return Unfinished(place, tuple(stack)), None

    def resumed(self, reached: Unfinished, value: Value) -> Unfinished:
        part = self._parts[reached.place]
        below = reached.stack if isinstance(part, Reference) and part.index is None else reached.stack[:-1]
        return Unfinished(reached.place + 1, (*below, value))


def _is_on_finite_values(instruction: Instruction) -> bool:
    match instruction:
        case Store(value=AffineExpr() | LinearComparison()) | Branch(condition=LinearComparison()):
            return False
        case _:
            return isinstance(instruction, Store | Branch | SampleChoice | SampleExponential)


def _mapped(instruction: Instruction, change: Callable[[DomExpr], DomExpr]) -> Instruction:
    """Return `instruction` with each expression of finite type replaced by what `change` returns for it.

    The expressions are passed to `change` in the order of evaluation. Options of weight 0 are unchanged, because an
    error in them does not matter.
    """
    match instruction:
        case Store(value=value):
            target = _mapped_index(instruction.target, change)
            changed = _mapped_form(value, change) if isinstance(value, AffineExpr) else _mapped_condition(value, change)
            return replace(instruction, target=target, value=changed)
        case SampleNoise():
            target = _mapped_index(instruction.target, change)
            return replace(instruction, target=target, mean=_mapped_form(instruction.mean, change))
        case Branch():
            return replace(instruction, condition=_mapped_condition(instruction.condition, change))
        case SampleExponential():
            scores = tuple([change(score) for score in instruction.scores])
            return replace(instruction, scores=scores, target=_mapped_index(instruction.target, change))
        case SampleChoice():
            arms = tuple([(value if is_never(weight) else change(value), weight) for value, weight in instruction.arms])
            return replace(instruction, arms=arms, target=_mapped_index(instruction.target, change))
        case Jump() | ExitInstruction():
            return instruction
        case _:
            assert_never(instruction)


def _mapped_index(variable: Reference, change: Callable[[DomExpr], DomExpr]) -> Reference:
    return variable if variable.index is None else replace(variable, index=change(variable.index))


def _mapped_condition(
    expr: DomExpr | LinearComparison, change: Callable[[DomExpr], DomExpr]
) -> DomExpr | LinearComparison:
    if isinstance(expr, LinearComparison):
        return replace(expr, difference=_mapped_form(expr.difference, change))
    return change(expr)


def _mapped_form(form: AffineExpr, change: Callable[[DomExpr], DomExpr]) -> AffineExpr:
    terms = tuple([(change(coefficient), _mapped_index(variable, change)) for coefficient, variable in form.terms])
    return replace(form, terms=terms, constant=change(form.constant))

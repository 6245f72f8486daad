"""Yes-or-no answers of a loop, for every number of queries: whether some query passes a test.

    for i in low..m do ... if TEST then found <- true; exit end end

An array of all test results has more answers than this flag. Inputs with different arrays may have the same flag, so
that distances to disagreement are greater for the flag. The bound for arrays therefore does not apply to it.

**Form.** An iteration of the ideal either exits, behind one guard g(u_i) >= 0 of its own inputs and of inputs that all
iterations share, or continues without changing any variable. The program continues in one way, to one head, and gives
the ideal's answer *found* wherever it exits. The answer after the loop, *not found*, is another one. The metric is the
maximum of the coordinates.

**Lemma.** Let w be the sum of the absolute values of the coefficients of g, and dd(u) >= alpha.

1. If det(u) is *not found*, then g(u_i) <= -alpha·w for every i: crossing one guard changes the answer.
2. If det(u) is *found*, then g(u_i) >= alpha·w for some i. Otherwise move the inputs of each i against the coefficients
   of g, all by the same distance less than alpha. Inputs that all iterations share move in one direction for all i.
   Each g(u_i) falls below 0, which gives *not found* at a distance less than alpha. Where g depends on a finite input
   of the iteration, a shared input must have coefficients of one sign in all these g, and *found* must be one answer.
3. In case 2, let F be the event that a comparison of iteration i goes wrong, where each noise has its own law. One path
   leads to the head of iteration i, so that no earlier comparison decides which draws this iteration compares. If the
   answer is wrong, no iteration has exited, and F has occurred. The error probability is therefore at most that of F,
   which is at most the sum of the terms of one iteration.
4. In case 1 the error probability is at most the sum of the terms of all iterations, and of the statements after the
   loop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from dipc.chain.state import Affine, Mark, SlotValue, State
from dipc.measure.event import Event
from dipc.program.ideal import Ideal
from dipc.questions.every_number.loop_runs import AgreeingRuns, key_of, plain_value
from dipc.questions.every_number.uniform import NotUniform, UniformLoops
from dipc.text.ast import CompareOp, If, walk
from dipc.text.core import Value


class NotAFlag(NotUniform):
    """Raised if the answer of a program is not simply whether some iteration exits."""

    def __init__(self) -> None:
        super().__init__(
            "a yes-or-no answer is covered in the form `if … then found <- true; exit end`, with one comparison"
        )


class FlagRuns(AgreeingRuns):
    """The runs of a program whose answer says whether some iteration exits: the answer *found*, or *not found*.

    Invariant: the loop has one head, and the program has one path from this head to the next. Two fields are set by
    `terms`. The field `found` has the outputs for the answer *found*. The field `directions` has a pair (input, flag)
    for each input that all iterations share; the flag is True if a greater input brings the ideal closer to *found*.
    """

    #: The answer *found*, and the direction in which each shared input moves g towards 0, once `terms` has begun.
    found: tuple[object, ...] = ()
    directions: frozenset[tuple[int, bool]] = frozenset()

    def terms(self) -> Iterator[tuple[tuple[Event, ...], tuple[Event, ...], int]]:
        """Yield (events, repeated events, iterations) for each answer, which is wrong only if one of the events fails.

        The repeated events belong to each iteration. The last entry is the least number of iterations in which the
        answer is possible: 0 for *not found*, 1 for *found*. Raises NotUniform if the answer of the program is not
        simply whether some iteration exits.
        """
        (begun,) = self._before()
        ((node, _),) = self._pending
        own, head = self._own, self._own.head(1)
        ways = list(self._ideal_runs(node.ideal, self._other.head(1)))
        exits = [way for way in ways if way[0].label == self._other.flow.exit_label]
        passing = [way for way in ways if way not in exits]
        if begun.terms or len(exits) != 1 or len(passing) != 1 or any(entry for entry in self._entries[0]):
            raise NotAFlag
        ((found, guards),), ((onwards, others),) = exits, passing
        if len(guards) != 1 or guards[0].op not in (CompareOp.GE, CompareOp.GT, CompareOp.LE, CompareOp.LT):
            raise NotAFlag
        answer = self.found = self._answer(found)
        grows = guards[0].op in (CompareOp.GE, CompareOp.GT)
        self.directions = frozenset(
            (slot, (coefficient > 0) is grows)
            for slot, coefficient in guards[0].difference.inputs
            if slot in own.scalars
        )
        keys = key_of(own, node.program), key_of(self._other, node.ideal)
        every = list(self._runs(own.flow, node.program, head))
        stays = [state for state in every if state.label == head]
        if len(stays) != 1 or key_of(own, stays[0]) != keys[0] or key_of(self._other, onwards) != keys[1]:
            raise NotAFlag
        ended = [state.values for state in every if state.label != head]
        if any(tuple([self._read(values[slot]) for slot, _ in self._outputs]) != answer for values in ended):
            raise NotUniform("an iteration of the program exits with another answer than the ideal")
        (behind, _), *more = self._ideal_runs(
            node.ideal.with_label(self._other.head(own.count)), self._other.flow.exit_label
        )
        if more or self._answer(behind) == answer:
            raise NotAFlag
        # The case "not found": every iteration goes on.
        for state, repeated in self._agreeing(node.program, others, head):
            if state.label != head:
                raise NotUniform("the program and its ideal do not end in the same iteration")
            for ending in self._ending(node):
                yield ending.terms, repeated, 0
        # The case "found": some iteration exits.
        for state, once in self._agreeing(node.program, guards, head):
            if state.label == head:
                raise NotUniform("the program and its ideal do not end in the same iteration")
            yield once, (), 1

    def _answer(self, state: State) -> tuple[object, ...]:
        return tuple([self._read(state.values[other]) for _, other in self._outputs])

    def _read(self, value: SlotValue) -> object:
        if isinstance(value, Affine | Mark):
            raise NotAFlag
        return plain_value(value)


def require_one_flag(cases: Sequence[tuple[Mapping[int, Value], FlagRuns]], shared: Collection[int]) -> None:
    """Raise NotUniform unless all iterations that exit give the same answer and react in the same way to shared inputs.

    Each of `cases` has values of the finite inputs, by slot, and the runs of an iteration with these values. `shared`
    are the finite inputs outside the loop; only cases with equal values of these are compared. Other inputs that all
    iterations share must, when they grow, move all iterations towards exiting, or all away from it.
    """
    answers: dict[object, tuple[object, ...]] = {}
    directions: dict[object, dict[int, bool]] = {}
    for finite, runs in cases:
        alike = tuple([(slot, plain_value(finite[slot])) for slot in sorted(shared)])
        if answers.setdefault(alike, runs.found) != runs.found:
            raise NotUniform("which answer an iteration exits with depends on a finite input of the iteration")
        known = directions.setdefault(alike, {})
        if any(known.setdefault(slot, grows) is not grows for slot, grows in runs.directions):
            raise NotUniform(
                "a shared input moves the tests of iterations with different finite inputs in two directions"
            )


def is_flag(ideal: Ideal, shape: UniformLoops) -> bool:
    """Return True if it is possible that the answer only says whether some iteration exits.

    All outputs must be finite and none of them an array with an element for each iteration, and the loop of `ideal`
    must contain an `if`. `shape` has the loops of the program and its ideal.
    """
    slots = [ideal.program.core.slots[slot] for slot in ideal.program.core.outputs]
    alone = all(not slot.is_symbolic and slot.name.partition("[")[0] not in shape.arrays for slot in slots)
    return alone and any(isinstance(node, If) for node in walk(shape.ideal_loop))

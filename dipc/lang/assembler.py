"""Instructions with symbolic labels, and conditions compiled to jumps."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from dipc.diagnostics.source import Span
from dipc.lang.core import Branch, BranchComparison, DomOp, Exit, Instruction, Jump
from dipc.lang.typed import Concrete, Condition, Junction, Relation, affine


class Assembler:
    """Collects instructions. Jumps name labels that may be placed later; `finish` puts positions in their stead."""

    def __init__(self) -> None:
        self._instructions: list[Instruction] = []
        self._positions: list[int] = []

    @property
    def position(self) -> int:
        """The label of the next instruction in the finished program."""
        return len(self._instructions)

    def emit(self, instruction: Instruction) -> None:
        """Append an instruction."""
        self._instructions.append(instruction)

    def label(self) -> int:
        """A new label, to be placed."""
        self._positions.append(-1)
        return len(self._positions) - 1

    def place(self, label: int) -> None:
        """Let the label stand for the next instruction."""
        self._positions[label] = len(self._instructions)

    def branch(self, condition: Condition, then: int, otherwise: int, span: Span) -> None:
        """Jump by a condition: from left to right, no further than is needed to settle it."""
        match condition:
            case Concrete():
                self.emit(Branch(condition.expr, then, otherwise, span))
            case Relation(difference, op):
                at = condition.span
                self.emit(BranchComparison(affine(difference, at), op, then, otherwise, condition.text, at))
            case Junction(op, left, right):
                rest = self.label()
                if op is DomOp.AND:
                    self.branch(left, rest, otherwise, span)
                else:
                    self.branch(left, then, rest, span)
                self.place(rest)
                self.branch(right, then, otherwise, span)
            case _:
                assert_never(condition)

    def finish(self, end: Span) -> tuple[Instruction, ...]:
        """The instructions with positions for labels; every position a jump names exists, and the last is `Exit`."""
        if not self._instructions or not isinstance(self._instructions[-1], Exit) or self.position in self._positions:
            self.emit(Exit(end))
        return tuple(self._resolved(instruction) for instruction in self._instructions)

    def _resolved(self, instruction: Instruction) -> Instruction:
        match instruction:
            case Branch(then=then, otherwise=otherwise) | BranchComparison(then=then, otherwise=otherwise):
                return replace(instruction, then=self._goal(then), otherwise=self._goal(otherwise))
            case Jump(label):
                return Jump(self._goal(label), instruction.span)
            case _:
                return instruction

    def _goal(self, label: int) -> int:
        """Where a jump to `label` ends up, jumps to jumps followed."""
        position = self._positions[label]
        for _ in range(len(self._instructions)):
            instruction = self._instructions[position]
            if not isinstance(instruction, Jump):
                return position
            following = self._positions[instruction.target]
            if following == position:
                return position
            position = following
        return position

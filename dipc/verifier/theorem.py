"""What a certificate is about: its program, executed anew, so that each probability is derived and not believed.

A row says that at these inputs the outputs are as given with this probability, and that dd is this. `Theorem.check`
derives the probability from the text and compares the two functions; `Theorem.check_distance` derives det and dd. What
could not be derived is taken on trust: the reasons are counted, and of a probability it is only looked at a few eps
whether the function can be one at all.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dipc.verifier.budget import Budget
from dipc.verifier.curve import sign_of_ring
from dipc.verifier.ideal import Ideal
from dipc.verifier.probability import Probabilities
from dipc.verifier.program import Machine, Slot, Value, holds
from dipc.verifier.reading import rational
from dipc.verifier.rejection import NotDerived, Rejected
from dipc.verifier.ring import Closed, equal_closed, subtract
from dipc.verifier.syntax import Program, read_program

#: Steps that deriving may take, for all rows together: of probabilities, and of distances.
STEPS = 20_000_000

#: Where it is looked at whether a function that was not derived is between 0 and 1.
_SAMPLES = (Fraction(1, 64), Fraction(1, 4), Fraction(1), Fraction(3), Fraction(16))


@dataclass
class Theorem:
    """The program of a certificate, and its ideal, or why that means nothing to the checker; None where it has none.
    `derived` counts the rows whose probability was derived, `reasons` the others; `distances` those whose answer and dd
    were not found to be the ideal's, `measured` those where they were."""

    machine: Machine
    ideal: Ideal | str | None = None
    budget: Budget = field(default_factory=lambda: Budget(STEPS))
    derived: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    measured: int = 0
    distances: Counter[str] = field(default_factory=Counter)
    _probabilities: Probabilities = field(init=False)
    _known: dict[tuple[object, ...], Closed | str] = field(default_factory=dict)
    _equal: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._probabilities = Probabilities(self.machine)

    @staticmethod
    def of(
        text: str,
        digest: object,
        name: str,
        constants: Mapping[str, Fraction],
        columns: tuple[Sequence[str], ...],
        at: Fraction | None,
    ) -> Theorem:
        """The program of this text, which has this digest, name, constants, inputs and outputs, and is read at the eps
        `at` if there is one; raises Rejected."""
        budget = Budget(STEPS)
        tree, machine = program_of(text, digest, name, constants, at, budget)
        for role, stated in zip(("input", "output"), columns, strict=True):
            if [machine.slots[slot].name for slot in machine.numbered(role)] != list(stated):
                raise Rejected("table", f"its {role}s are not those of the program")
        return Theorem._with(tree, machine, constants, budget)

    @staticmethod
    def of_tree(
        tree: Program, constants: Mapping[str, Fraction], budget: Budget, distances: Budget | None = None
    ) -> Theorem:
        """A program that was read, with these constants; raises NotDerived. `distances` is what its ideal may take."""
        return Theorem._with(tree, Machine.of(tree, constants, budget), constants, budget, distances)

    @staticmethod
    def _with(
        tree: Program,
        machine: Machine,
        constants: Mapping[str, Fraction],
        budget: Budget,
        distances: Budget | None = None,
    ) -> Theorem:
        ideal: Ideal | str | None = None
        if tree.ideal is not None:
            try:
                ideal = Ideal.of(tree, constants, distances or Budget(STEPS))
            except (NotDerived, Rejected) as error:
                # It is the derivation that took too much, not the certificate.
                ideal = error.why
        return Theorem(machine, ideal, budget)

    def check(
        self, inputs: Sequence[str], outputs: Sequence[str | None], gamma: Fraction, stated: Closed, step: str
    ) -> None:
        """That the stated probability is that of the program. Raises Rejected where it is not."""
        key = (tuple(inputs), tuple(outputs), gamma)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._derived(inputs, outputs, gamma, step)
        if isinstance(found, str):
            self.reasons[found] += 1
            check_range(stated, Budget(), step)
            return
        same = (id(found), id(stated))
        if same not in self._equal:
            if not equal_closed(found, stated, Budget(), step):
                raise Rejected(step, "the program has another probability at these inputs")
            self._equal.add(same)
        self.derived += 1

    def check_distance(
        self, inputs: Sequence[str], outputs: Sequence[str | None], dd: str, *, computed: bool, step: str
    ) -> None:
        """That the answer and dd are those of the ideal, if there is one. Raises Rejected where dd is said to be
        `computed` from it and is another."""
        if self.ideal is None:
            if computed:
                raise Rejected(step, "dd is said to be that of the `ideal`, and the program has none")
            return
        found = self._distance(inputs, outputs, step)
        if not isinstance(found, str) and found == (None if dd == "inf" else rational(dd, step)):
            self.measured += 1
            return
        if computed and not isinstance(found, str):
            raise Rejected(step, "dd is not that of the `ideal`")
        self.distances[found if isinstance(found, str) else "it is another than the `ideal` gives"] += 1

    def _distance(self, inputs: Sequence[str], outputs: Sequence[str | None], step: str) -> Fraction | str | None:
        """dd of the ideal, None for infinity, or why it is not known."""
        if not isinstance(self.ideal, Ideal):
            assert self.ideal is not None, "it was looked at before"
            return self.ideal
        slots = self.machine.slots
        given = [
            _cell(slots[slot], cell, step) for slot, cell in zip(self.machine.numbered("input"), inputs, strict=True)
        ]
        for slot, value in zip(self.machine.numbered("input"), given, strict=True):
            if not holds(slots[slot].type, value):
                raise Rejected(step, f"the input `{slots[slot].name}` does not fit")
        stated = [
            None if cell is None else _cell(slots[slot], cell, step)
            for slot, cell in zip(self.machine.numbered("output"), outputs, strict=True)
        ]
        try:
            answer = self.ideal.answer(given)
            if any(value is not None and value != exact for value, exact in zip(stated, answer, strict=True)):
                return "the answers are others than the `ideal` gives"
            return self.ideal.distance(given)
        except (NotDerived, Rejected) as error:
            # It is the derivation that took too much, not the certificate.
            return error.why
        except RecursionError:
            return "it is nested too deeply"

    def steadiness(
        self, inputs: Sequence[str], outputs: Sequence[str | None], ends: tuple[Fraction, Fraction | None], step: str
    ) -> str | None:
        """Why the answers within gamma are not known to be the same for all gamma from the first end to before the
        other; None where they are. Raises Rejected where they are not."""
        given, wanted = self.read(inputs, outputs, step)
        try:
            steady = self._probabilities.is_steady(given, wanted, *ends, self.budget)
        except (NotDerived, Rejected) as error:
            # It is the derivation that took too much, not the certificate.
            return error.why
        if not steady:
            raise Rejected(step, "the answers within gamma are not the same on all of it")
        return None

    def read(
        self, inputs: Sequence[str], outputs: Sequence[str | None], step: str
    ) -> tuple[dict[int, Value], dict[int, Value]]:
        """The inputs and the outputs that are given, by slot. Raises Rejected for what fits no slot."""
        slots = self.machine.slots
        given = {
            slot: _cell(slots[slot], cell, step)
            for slot, cell in zip(self.machine.numbered("input"), inputs, strict=True)
        }
        wanted = {
            slot: _cell(slots[slot], cell, step)
            for slot, cell in zip(self.machine.numbered("output"), outputs, strict=True)
            if cell is not None
        }
        return given, wanted

    def _derived(
        self, inputs: Sequence[str], outputs: Sequence[str | None], gamma: Fraction, step: str
    ) -> Closed | str:
        given, wanted = self.read(inputs, outputs, step)
        try:
            return self._probabilities.of(given, wanted, gamma, self.budget)
        except NotDerived as error:
            return error.why
        except Rejected as error:
            # It is the derivation that took too much, not the certificate.
            return error.why
        except RecursionError:
            return "it is nested too deeply"


def program_of(
    text: str, digest: object, name: str, constants: Mapping[str, Fraction], at: Fraction | None, budget: Budget
) -> tuple[Program, Machine]:
    """The program of this text, which has this digest, name and constants, read at the eps `at`, or at every one;
    raises Rejected."""
    if hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != digest:
        raise Rejected("program", "`sha256` is not that of its text")
    try:
        tree = replace(read_program(text, budget), at=at)
        machine = Machine.of(tree, constants, budget)
    except NotDerived as error:
        raise Rejected("program", error.why) from None
    if machine.name != name:
        raise Rejected("program", f"its name is `{machine.name}`")
    return tree, machine


def _cell(slot: Slot, cell: str, step: str) -> Value:
    """The value of a cell for this variable."""
    if slot.type == "bool":
        if cell in ("true", "false"):
            return cell == "true"
    elif isinstance(slot.type, frozenset) and cell in slot.type:
        return cell
    else:
        mantissa, _, exponent = cell.lower().partition("e")
        try:
            if len(cell) < 4_000 and len(exponent) < 5 and abs(int(exponent or 0)) < 1_000:
                return Fraction(mantissa) * Fraction(10) ** int(exponent or 0)
        except (ValueError, ZeroDivisionError):
            pass
    raise Rejected(step, f"`{cell[:40]}` is no value of `{slot.name}`")


def check_range(stated: Closed, budget: Budget, step: str, *, bound: bool = False) -> None:
    """Raises Rejected where the function is seen not to be a probability, or a lower `bound` of one."""
    above, below = stated
    for eps in _SAMPLES:
        side = sign_of_ring(below, eps, budget, step)
        for function in (subtract(below, above),) if bound else (above, subtract(below, above)):
            if sign_of_ring(function, eps, budget, step) * side < 0:
                raise Rejected(step, f"it is no probability at eps = {eps}")

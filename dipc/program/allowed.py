"""The inputs of a program with a precondition: for each value of the finite inputs, finitely many convex sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import islice, product

from dipc.algebra.limits import LimitReached, Limits, NotApplicable
from dipc.chain.state import Affine, Answer, Constraint, finite_values
from dipc.program.metric import InputSet, inner_point
from dipc.program.nearness import Formula, disjoint, formula_conditions, opposite, place_notes
from dipc.text import program as syntax
from dipc.text.ast import BaseType
from dipc.text.core import ProgramCode, Value, ValueTooLarge
from dipc.text.diagnostic import Diagnostic, DiagnosticError
from dipc.text.precondition import Precondition
from dipc.text.program import CoreProgram

#: The most convex sets into which one precondition is divided.
MOST_SETS = 500

#: The most combinations of finite inputs that are tried in search of an input.
_MOST_TRIED = 100_000

Guards = tuple[Constraint, ...]

_ZERO = Fraction(0)


class AllowedInputs:
    """The inputs of a program that satisfy its `requires`.

    Once the finite inputs (those of bool and DOM type) have values, `sets` returns the real and int inputs that are
    allowed, as disjoint convex sets. `gaps` returns those that are not allowed, also as disjoint convex sets. None of
    these sets is empty.
    """

    def __init__(self, core: CoreProgram, requires: Precondition, limits: Limits) -> None:
        self.requires = requires
        self._core = core
        self._limits = limits
        places = tuple(syntax.FormulaSlot(slot, primed=False) for slot in requires.inputs)
        self._formula = syntax.Formula((requires.condition,), requires.slots, places)
        self._finite = [slot for slot in core.inputs if not core.slots[slot].is_symbolic]
        self._whole = frozenset(slot for slot in core.inputs if core.slots[slot].type is BaseType.INT)
        self._symbolic = {slot: Affine.input(slot) for slot in core.inputs if core.slots[slot].is_symbolic}
        self._known: dict[tuple[tuple[type, Value], ...], tuple[tuple[Guards, ...], tuple[Guards, ...]]] = {}

    def sets(self, finite: Mapping[int, Value]) -> tuple[Guards, ...]:
        """Return the allowed real and int inputs as disjoint convex sets, where finite inputs have the values `finite`.

        `finite` maps the slot of each bool and DOM input to its value. The result is empty if no input with these
        values is allowed. Raises DiagnosticError where `requires` has no value (an index out of range, a division by
        zero), LimitReached for too many sets, and Undecided if a search for integers reaches its limit.
        """
        return self._divided(finite)[0]

    def gaps(self, finite: Mapping[int, Value]) -> tuple[Guards, ...]:
        """Return the real and int inputs that violate `requires` as disjoint convex sets.

        `finite` maps the slot of each bool and DOM input to its value. Raises DiagnosticError where `requires` has no
        value, LimitReached for too many sets, and Undecided if a search for integers reaches its limit.
        """
        return self._divided(finite)[1]

    def allows(self, inputs: Sequence[Value]) -> bool:
        """Whether the input with the values `inputs`, in the order of the program's inputs, satisfies `requires`.

        Raises DiagnosticError, which names the input, if `requires` has no value at the input, as for an index out of
        range.
        """
        values = dict(zip(self._core.inputs, inputs, strict=True))
        try:
            return self.requires.holds(values)
        except (ZeroDivisionError, IndexError, ValueTooLarge):
            self.formula({slot: values[slot] for slot in self._finite})  # raises at the place in the condition
            raise DiagnosticError(
                Diagnostic(
                    ProgramCode.BAD_PRECONDITION.value,
                    f"`requires` has no value at an input: `{self.requires.shown}`",
                    self._core.source.excerpt(self.requires.span),
                    "required here",
                    place_notes(self._core, dict(values)),
                )
            ) from None

    @cached_property
    def is_everything(self) -> bool:
        """Whether every input satisfies `requires`.

        Raises LimitReached for too many combinations of finite inputs, and what `gaps` raises.
        """
        return all(not self.gaps(finite) for finite in self._combinations())

    @cached_property
    def point(self) -> Mapping[int, Value]:
        """An input that satisfies `requires`, as the value of each input by slot.

        Raises DiagnosticError if there is none, LimitReached after too many combinations of finite inputs.
        """
        for finite in self._combinations():
            for guards in self.sets(finite):
                inside = inner_point(guards, self._whole, self._limits.branches)
                assert inside is not None, "no set is empty"
                return {**dict.fromkeys(self._symbolic, _ZERO), **finite, **inside}
        given = ", ".join(f"{name} = {value}" for name, value in self._core.constants.items())
        where = f" with {given}" if given else ""
        raise DiagnosticError(
            Diagnostic(
                ProgramCode.BAD_PRECONDITION.value,
                f"no input satisfies `requires`{where}: `{self.requires.shown}`",
                self._core.source.excerpt(self.requires.span),
                "nothing satisfies this",
                ("a claim about no input would hold trivially: correct the condition, or a constant in it",),
            )
        )

    def _combinations(self) -> Sequence[Mapping[int, Value]]:
        choices = product(*[finite_values(self._core.slots[slot]) for slot in self._finite])
        some = list(islice(choices, _MOST_TRIED + 1))
        if len(some) > _MOST_TRIED:
            raise LimitReached("combinations", "the finite inputs have too many combinations to look for an input")
        return [dict(zip(self._finite, values, strict=True)) for values in some]

    def _divided(self, finite: Mapping[int, Value]) -> tuple[tuple[Guards, ...], tuple[Guards, ...]]:
        key = tuple((type(finite[slot]), finite[slot]) for slot in self._finite)
        if key not in self._known:
            formula = self.formula(finite)
            self._known[key] = self._sets_of(formula), self._sets_of(opposite(formula))
        return self._known[key]

    def formula(self, finite: Mapping[int, Value]) -> Formula:
        """Return `requires` as a formula in the real and int inputs.

        `finite` maps the slot of each bool and DOM input to its value. Raises DiagnosticError where `requires` has no
        value, as for an index out of range.
        """
        values: dict[int, Answer] = {**self._symbolic, **{slot: finite[slot] for slot in self._finite}}
        read = [values[place.slot] for place in self._formula.places]
        (formula,) = formula_conditions(
            self._core, self._formula, read, values, lambda form: form.inputs[0][0] in self._whole
        )
        return formula

    def _sets_of(self, formula: Formula) -> tuple[Guards, ...]:
        try:
            every = disjoint(formula, MOST_SETS)
        except NotApplicable:
            message = f"`requires` divides the inputs into more than {MOST_SETS} convex sets"
            raise LimitReached(None, message) from None
        distinct = [tuple(dict.fromkeys(guards)) for guards in every]
        return tuple(guards for guards in distinct if not InputSet(guards, self._whole, self._limits.branches).is_empty)

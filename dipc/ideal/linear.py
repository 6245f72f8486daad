"""Linear constraints over inputs, handed to z3: exact rational points of regions, and exact least distances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dipc.algebra.limits import Undecided
from dipc.chain.affine import Affine
from dipc.chain.constraints import Constraint
from dipc.ideal.norm import Norm

if TYPE_CHECKING:
    import z3


class Arithmetic:
    """The inputs of a program as z3 variables in a context of their own: reals, and integers where `whole` says so."""

    def __init__(self, whole: frozenset[int]) -> None:
        import z3

        self.z3: Any = z3
        self.context = z3.Context()
        self._whole = whole
        self._variables: dict[int, z3.ArithRef] = {}

    def variable(self, slot: int) -> z3.ArithRef:
        """The one variable for an input slot."""
        known = self._variables.get(slot)
        if known is None:
            make = self.z3.Int if slot in self._whole else self.z3.Real
            known = self._variables[slot] = make(f"u{slot}", self.context)
        return known

    def number(self, value: Fraction) -> z3.RatNumRef:
        """An exact constant."""
        return self.z3.Q(value.numerator, value.denominator, self.context)

    def form(self, form: Affine) -> z3.ArithRef:
        """The value of a form; it has no noises."""
        assert not form.noises
        total: Any = self.number(form.constant)
        for slot, coefficient in form.inputs:
            total = total + self.number(coefficient) * self.variable(slot)
        return total

    def constraint(self, item: Constraint) -> z3.BoolRef:
        """`item` as a formula, its strictness kept."""
        form = self.form(item.form)
        return form > 0 if item.strict else form >= 0

    def point(self, items: Iterable[Constraint]) -> dict[int, Fraction] | None:
        """Values of all inputs met so far that satisfy `items`; None if nothing does. Raises Undecided."""
        solver = self.z3.SolverFor("QF_LIRA", ctx=self.context)
        solver.add(*[self.constraint(item) for item in items])
        answer = solver.check()
        if answer == self.z3.unsat:
            return None
        if answer != self.z3.sat:
            raise Undecided(f"z3 cannot tell whether linear inequalities have a solution: {solver.reason_unknown()}")
        model = solver.model()
        return {
            slot: _fraction(model.eval(variable, model_completion=True)) for slot, variable in self._variables.items()
        }

    def nearest(self, norm: Norm, center: Mapping[int, Fraction], items: Iterable[Constraint]) -> Fraction:
        """The least distance from `center` to the closure of `items`, which is not empty; by LINF or L1.

        The inputs are all ints or all reals. Whatever z3's optimizer says counts only once its solver has confirmed
        that something is as near, and nothing nearer. Raises Undecided.
        """
        closed = [self.form(item.form) >= 0 for item in items]
        bounds, length = self._length(norm, center)
        solver = self.z3.SolverFor("QF_LIRA", ctx=self.context)
        solver.add(*closed, *bounds)
        if self._whole:
            return self._nearest_whole(solver, length)
        optimizer = self.z3.Optimize(ctx=self.context)
        optimizer.add(*closed, *bounds)
        objective = optimizer.minimize(length)
        if optimizer.check() != self.z3.sat:
            raise Undecided(f"z3 finds no least distance: {optimizer.reason_unknown()}")
        infinite, least, infinitesimal = map(str, optimizer.lower_values(objective))
        distance = Fraction(least)
        attained = self._holds(solver, length <= self.number(distance))
        if (
            (infinite, infinitesimal) != ("0", "0")
            or not attained
            or self._holds(solver, length < self.number(distance))
        ):
            raise Undecided("z3's optimizer and its solver disagree about a least distance")
        return distance

    def _nearest_whole(self, solver: Any, length: z3.ArithRef) -> Fraction:
        """The least integer length, by doubling and bisection: the optimizer is not to be relied on over integers."""
        low, high = -1, 0  # nothing is as near as `low`
        while not self._holds(solver, length <= high):
            low, high = high, 2 * high + 1
        while high - low > 1:
            middle = (low + high) // 2
            if self._holds(solver, length <= middle):
                high = middle
            else:
                low = middle
        return Fraction(high)

    def _length(self, norm: Norm, center: Mapping[int, Fraction]) -> tuple[list[Any], Any]:
        """A bound on the distance of the inputs from `center`, as a term with the constraints that make it one."""
        make = self.z3.Int if self._whole else self.z3.Real
        bounds: list[Any] = []
        lengths: list[Any] = []
        for slot, variable in self._variables.items():
            length = make(f"t{slot}", self.context)
            middle = self._center(center[slot])
            lengths.append(length)
            bounds += [variable - middle <= length, middle - variable <= length]
        if norm is Norm.L1:
            return bounds, self.z3.Sum(lengths)
        longest = make("t", self.context)
        return [*bounds, *(length <= longest for length in lengths)], longest

    def _center(self, value: Fraction) -> Any:
        if self._whole:
            assert value.denominator == 1, "an int is an integer"
            return self.z3.IntVal(value.numerator, self.context)
        return self.number(value)

    def _holds(self, solver: Any, condition: Any) -> bool:
        """Whether the constraints of the solver and the condition have a common solution. Raises Undecided."""
        solver.push()
        try:
            solver.add(condition)
            answer = solver.check()
        finally:
            solver.pop()
        if answer == self.z3.unknown:
            raise Undecided(f"z3 cannot tell whether linear inequalities have a solution: {solver.reason_unknown()}")
        return bool(answer == self.z3.sat)


def _fraction(value: Any) -> Fraction:
    """The exact value of a numeral of z3: its text is `-1` or `-1/2`."""
    return Fraction(str(value))

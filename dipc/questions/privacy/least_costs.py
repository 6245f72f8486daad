"""Lower bounds of the constant of privacy for all rates of the noises at once, from one pair of inputs and one output.

**Lemma (least costs).** *Let an output S be reached at u by the polyhedra A of values of independent Laplace and
one-sided noises, with the rates a_i, and E(u, a) be the least Σ a_i·|x_i| of their points. Then log Pr[S]/eps tends to
-E(u, a) as eps grows, so that a program that is K·eps-private has K >= E(u', a) - E(u, a) for adjacent u, u'.* The
density is Π c_i·eps·e^{-a_i·eps·|x_i|} on convex sets that have inner points, and the exponential is what counts
(Laplace's method). ∎

E is a least of linear functions of the rates: so it is concave in them, and at most the cost of any one point of A. Of
rates between some, a convex combination of these, K is at least the same combination of E(u', a) less the cost of one
point that reaches S at u.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.limits import OutsideFragment
from dipc.chain.constraints import Affine
from dipc.claims.given import show_value
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace, sorted_terms
from dipc.linear.program import Infeasible, Least, minimum, solution
from dipc.noise.law import Sides
from dipc.program.program import Program
from dipc.questions.privacy.alignment import AlignedExit, aligned_exits
from dipc.questions.privacy.constant import Candidate
from dipc.questions.privacy.outcome import Texts
from dipc.text.core import RealType

_ZERO, _ONE = Fraction(0), Fraction(1)

#: What rates are in place of those of the program.
Rates = Mapping[Fraction, Fraction]


@frozen
class Reached:
    """The least `cost` of noises, and how far those of each rate of the program are from their means, in all."""

    cost: Fraction
    distances: Mapping[Fraction, Fraction]

    def cost_at(self, rates: Rates) -> Fraction:
        """What the same noises cost at other rates."""
        return sum((rates[rate] * distance for rate, distance in self.distances.items()), _ZERO)


class LeastCosts:
    """The least costs of the outputs of a program over real inputs."""

    def __init__(self, program: Program) -> None:
        """Raises Undecided for programs of another kind."""
        self._program = program
        self._exits = aligned_exits(program)
        for each in self._exits:
            if each.likeness[-1] is not None:  # type: ignore[index]
                raise OutsideFragment("choices are made whose weights may depend on eps")
            for noise in each.state.noises:
                sides = noise.law.sides(noise.rate)
                one_sided = sides.left is None and noise.law.least == 0
                if noise.law.whole or not (sides == Sides(noise.rate, noise.rate) or one_sided):
                    raise OutsideFragment("costs are those of Laplace and one-sided noise")

    def reaching(self, output: Candidate, inputs: Texts, rates: Rates, *, likely: bool) -> Reached | None:
        """The least cost at which the output is reached at some inputs; None where it is not. Where it is to be
        `likely`, by exits alone that have a positive probability there."""
        values = [Fraction(inputs[name] or 0) for name in self._program.inputs]
        systems = [(each, system) for each in self._exits if (system := self._system(each, output, values)) is not None]
        found = [
            reached
            for each, system in systems
            if not (
                likely
                and isinstance(solution([replace(item, strict=bool(item.coefficients)) for item in system]), Infeasible)
            )
            and (reached := _least(each, system, rates)) is not None
        ]
        return min(found, key=lambda one: one.cost, default=None)

    def _system(self, each: AlignedExit, output: Candidate, values: Sequence[Fraction]) -> list[Halfspace] | None:
        """The noises with which an exit is reached and gives the output; None where it gives another one."""
        balls = self._balls(each, output)
        return None if balls is None else [_at(item, each.first_input, values) for item in (*each.slacks, *balls)]

    def _balls(self, each: AlignedExit, output: Candidate) -> list[Halfspace] | None:
        """What an exit needs to give the output; None where it gives another one."""
        slots = self._program.core.slots
        forms = dict(each.reals)
        needed: list[Halfspace] = []
        for slot, value in each.state.outputs.items():
            name = slots[slot].name
            ends = output.balls.get(name)
            if isinstance(value, Affine):
                if ends is not None:
                    form = forms[slot]
                    negative = tuple([(key, -c) for key, c in form.coefficients])
                    needed.append(Halfspace(form.coefficients, form.constant - ends[0]))
                    needed.append(Halfspace(negative, ends[1] - form.constant))
            elif isinstance(slots[slot].type, RealType):
                if ends is not None and value is not None and not ends[0] <= Fraction(show_value(value)) <= ends[1]:
                    return None
            elif (None if value is None else show_value(value)) != output.output.get(name):
                return None
        return needed


def _at(item: Halfspace, first_input: int, values: Sequence[Fraction]) -> Halfspace:
    """The closed half-space of the noises at some inputs."""
    terms = tuple([(key, c) for key, c in item.coefficients if key < first_input])
    moved = sum((c * values[key - first_input] for key, c in item.coefficients if key >= first_input), item.constant)
    return Halfspace(terms, moved)


def _least(each: AlignedExit, system: Sequence[Halfspace], rates: Rates) -> Reached | None:
    owns = [noise.rate for noise in each.state.noises]
    count = len(owns)
    sizes = [Halfspace(((key, sign), (count + key, _ONE)), _ZERO) for key in range(count) for sign in (_ONE, -_ONE)]
    goal = Halfspace(sorted_terms({count + key: rates[own] for key, own in enumerate(owns)}), _ZERO)
    least = minimum(goal, [*system, *sizes])
    if not isinstance(least, Least):
        return None
    distances: dict[Fraction, Fraction] = {}
    for key, own in enumerate(owns):
        distances[own] = distances.get(own, _ZERO) + abs(least.point.get(key, _ZERO))
    return Reached(least.value, distances)

"""The classes of all real and int inputs: for each answer of det the convex sets of inputs with that answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod

from dipc.algebra.limits import LimitReached, Undecided
from dipc.chain.affine import Affine
from dipc.chain.answers import Answer, finite_values, same_value
from dipc.chain.constraints import Constraint
from dipc.chain.entailment import contradict
from dipc.chain.symbolic import is_symbolic
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.exits.program import Program
from dipc.ideal.ideal import Ideal, Region
from dipc.lang.core import Value
from dipc.linear.program import Infeasible, solution
from dipc.metric.formula import opposite
from dipc.sources.every_input.near_answers import NearAnswers, cases_of


@dataclass(frozen=True, slots=True)
class InputClass:
    """The inputs of one region, for these finite inputs. `others` are the other regions whose finite outputs are the
    same, `rivals` those whose finite outputs differ. `alone` says that det has no other answer at all, so that dd is
    infinite; `restless` that the answer changes between inputs of the class as near to each other as one likes, and
    `stepping` that it changes from each to some input at the distance 1 (see `classes`). `whole` are the int inputs,
    and `integral` says that all distances of inputs are integers."""

    finite: Mapping[int, Value]
    region: Region
    others: tuple[Region, ...]
    rivals: tuple[Region, ...]
    alone: bool
    restless: bool
    stepping: bool
    whole: frozenset[int]
    integral: bool

    @property
    def moving(self) -> bool:
        """Whether the answer changes inside the region, as near to each of its inputs as one likes: if it has inner
        points, steps towards some of them change a form that grows, and lead to other inputs of the region."""
        if not _grows(self.region, self.whole):
            return False
        # A guard is about ints or about reals.
        inner = [replace(guard.guard, strict=True) for guard in self.region.guards if not guard.whole]
        return not isinstance(solution(inner), Infeasible)


def finite_cases(ideal: Ideal, among: Sequence[int] | None = None) -> list[dict[int, Value]]:
    """All values of the finite inputs, or of those `among` them, by slot. Raises LimitReached for too many of them."""
    slots = [ideal.program.core.slots[slot] for slot in (ideal.finite_inputs if among is None else among)]
    domains = [finite_values(slot) for slot in slots]
    most = ideal.program.limits.cases
    if prod(map(len, domains)) > most:
        raise LimitReached("cases", f"the finite inputs have more than {most} combinations")
    return [{slot.index: value for slot, value in zip(slots, values, strict=True)} for values in product(*domains)]


def classes(ideal: Ideal) -> Iterator[InputClass]:
    """The classes in the order of the ideal's paths; together they are all inputs.

    A class is `restless` if an output is a form that grows along some real input, and no other region has the same
    finite outputs: then every step in that direction leads to another value or to other finite outputs. It is
    `stepping` if the output grows along some int input: then each step of 1 does.
    Raises DiagnosticError for programs whose inputs are all finite, LimitReached for too many of these.
    """
    _require_infinite(ideal.program)
    whole = frozenset(ideal.whole_inputs)
    combinations = finite_cases(ideal)
    numbers = [value for finite in combinations for value in finite.values() if isinstance(value, Fraction)]
    integral = len(whole) == len(ideal.symbolic_inputs) and all(number.denominator == 1 for number in numbers)
    by_finite = [(finite, ideal.regions(finite)) for finite in combinations]
    every = [region for _, regions in by_finite for region in regions]
    constant = all(not (isinstance(v, Affine) and v.inputs) for region in every for v in region.answer)
    alone = constant and all(_same_answer(region, every[0]) for region in every)
    for finite, regions in by_finite:
        for region in regions:
            others = tuple(other for other in regions if other is not region and _same_finite(region, other))
            rivals = tuple(other for other in regions if not _same_finite(region, other))
            restless, stepping = [not others and _grows(region, but) for but in (whole, frozenset[int]())]
            yield InputClass(finite, region, others, rivals, alone, restless, stepping, whole, integral)


def same_answers(
    near: NearAnswers, found: InputClass, answers: Sequence[Sequence[Answer]]
) -> list[tuple[tuple[Constraint, ...], InputClass]]:
    """The class in parts, with the guards of each: which of the `answers`, all that det gives, count as its own is the
    same on a part. Raises Undecided, and DiagnosticError for what has no value."""
    parts: list[tuple[tuple[Constraint, ...], dict[tuple[Answer, ...], bool]]] = [((), {})]
    most = near.ideal.program.limits.pieces
    for answer in map(tuple, answers):
        differs = near.differ(found.finite, found.region.answer, answer)
        sides = [(case, truth) for truth in (True, False) for case in cases_of(differs if truth else opposite(differs))]
        both = [
            ((*guards, *case), {**known, answer: truth})
            for guards, known in parts
            for case, truth in sides
            if not contradict([*found.region.guards, *guards, *case])
        ]
        if len(both) > most:
            raise LimitReached("pieces", f"`same` cuts a region into more than {most} pieces")
        parts = both
    core = near.ideal.metric.core
    if any(known[found.region.answer] for _, known in parts) and (core.input == "discrete" or core.apart is not None):
        raise Undecided("an answer does not count as the same as itself")
    every = (*found.others, *found.rivals)
    return [
        (
            guards,
            replace(
                found,
                others=tuple(region for region in every if not known[region.answer]),
                rivals=tuple(region for region in every if known[region.answer]),
                alone=not any(known.values()),
                # Another answer at a distance of 0, from itself.
                restless=known[found.region.answer],
            ),
        )
        for guards, known in parts
    ]


def _grows(region: Region, but: frozenset[int]) -> bool:
    """Whether an output is a form that depends on other inputs than these."""
    return any(
        isinstance(value, Affine) and any(slot not in but for slot, _ in value.inputs) for value in region.answer
    )


def _same_finite(left: Region, right: Region) -> bool:
    pairs = zip(left.answer, right.answer, strict=True)
    return all(isinstance(a, Affine) or isinstance(b, Affine) or same_value(a, b) for a, b in pairs)


def _same_answer(left: Region, right: Region) -> bool:
    pairs = zip(left.answer, right.answer, strict=True)
    return all(a == b if isinstance(a, Affine) or isinstance(b, Affine) else same_value(a, b) for a, b in pairs)


def _require_infinite(program: Program) -> None:
    core = program.core
    if not any(is_symbolic(core.slots[slot].type) for slot in core.inputs):
        raise DiagnosticError(
            Diagnostic(
                "E1204",
                "`--inputs all` is about real and int inputs, and the program has none",
                notes=("leave `--inputs` out: finite inputs are enumerated",),
            )
        )

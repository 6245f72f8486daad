"""Interchangeable inputs of one region, and the inputs of the region up to exchanging them.

Let S be the set of inputs with one answer v of det, and R one of its convex regions. Take a transposition of two input
positions with the same candidate values and the same declared domain, which maps
(a) the exits that produce v to themselves, but for their order and the names of noises,
(b) the guards of R to themselves, and the regions of S to each other,
(c) the forms of the real outputs of v to each other,
(d) the pairs of inputs that the metric calls infinitely far apart to each other.
Let u be in R, and u' be u with the two values exchanged. By (b) u' is in R, so det gives both the answer v, with the
same real outputs in another order by (c). By (a) the probability of v within any gamma is the same at u and u': the sum
over the exits of weights times measures is the same function before and after the exchange. And dd(u') = dd(u): the
distances on inputs (linf, l1, discrete; by (d) also infinite ones) do not change when both arguments are permuted, and
by (b) and (c) an input w has another answer than u exactly if w with its values exchanged has another answer than u'.
So u and u' have the same obligation. Transpositions (r p) and (r p') generate (p p'), so it is enough to try a position
with one of each block.

A position that no exit, no region of S, no output form and no such pair depends on is free: probability and dd do not
depend on it, the latter because the nearest w may agree with u there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import factorial, prod

from dipc.chain.constraints import Constraint
from dipc.linear.halfspace import Halfspace
from dipc.sources.symmetry.apartness import Apartness
from dipc.sources.symmetry.structure import (
    Ending,
    InputForm,
    mentioned,
    renamed_guards,
    renamed_terms,
    same_after,
)

#: What an input may be: its declared domain; None for all rationals or, in an int input, all integers.
Domain = tuple[Fraction, ...] | None


@dataclass(frozen=True, slots=True)
class Position:
    """One numeric input: the values that are asked about, its declared domain, and whether it is executed as an int."""

    slot: int
    values: tuple[Fraction, ...]
    domain: Domain
    whole: bool

    @property
    def any_integer(self) -> bool:
        """Whether it may be every integer, and nothing else."""
        return self.whole and self.domain is None


@dataclass(frozen=True, slots=True)
class Block:
    """Positions that may be exchanged for each other, all with the candidates `values`. A `free` block is one position
    on which nothing depends."""

    slots: tuple[int, ...]
    values: tuple[Fraction, ...]
    free: bool = False


@dataclass(frozen=True, slots=True)
class Orbit:
    """What decides which inputs of a region have the same obligation (see above): the region's guards, those of all
    regions of S (for each combination of the finite inputs in turn), the output forms, and the exits."""

    guards: frozenset[Halfspace]
    family: tuple[frozenset[frozenset[Halfspace]], ...]
    forms: frozenset[InputForm]
    endings: tuple[Ending, ...]
    apart: Apartness | None = None

    def mentions(self) -> set[int]:
        """The input slots on which anything depends."""
        terms = [form[0] for form in self.forms]
        terms += [guard.coefficients for regions in self.family for guards in regions for guard in guards]
        formula = set() if self.apart is None else self.apart.mentions()
        return mentioned(self.endings).union(formula, (slot for form in terms for slot, _ in form))

    def allows(self, left: int, right: int) -> bool:
        """Whether the two input slots were shown to be interchangeable."""
        names = {left: right, right: left}
        return (
            renamed_guards(self.guards, names) == self.guards
            and all(
                frozenset(renamed_guards(guards, names) for guards in regions) == regions for regions in self.family
            )
            and frozenset((renamed_terms(terms, names), constant) for terms, constant in self.forms) == self.forms
            and (self.apart is None or self.apart.allows(names))
            and same_after(self.endings, names)
        )


def blocks_of(orbit: Orbit, positions: Sequence[Position]) -> tuple[Block, ...]:
    """The positions in blocks of interchangeable ones; as few blocks as were found."""
    depends = orbit.mentions()
    groups: list[list[Position]] = []
    free: list[Block] = []
    for position in positions:
        if position.slot not in depends:
            free.append(Block((position.slot,), position.values, True))
            continue
        for group in groups:
            first = group[0]
            alike = (first.values, first.domain, first.whole) == (position.values, position.domain, position.whole)
            if alike and orbit.allows(first.slot, position.slot):
                group.append(position)
                break
        else:
            groups.append([position])
    taken = [Block(tuple(position.slot for position in group), group[0].values) for group in groups]
    return (*taken, *free)


def apart(positions: Sequence[Position]) -> tuple[Block, ...]:
    """Every position a block of its own: nothing is exchanged."""
    return tuple(Block((position.slot,), position.values) for position in positions)


def representatives(
    blocks: Sequence[Block], guards: Sequence[Constraint]
) -> Iterator[tuple[dict[int, Fraction], int] | None]:
    """One assignment of each class that satisfies `guards`, with the number of its members, in a fixed order.

    Gives None after each dead end, so that the caller can count the work.
    """
    fixed = [block for block in _narrowed(blocks, guards) if not block.free]
    order = {slot: at for at, block in enumerate(fixed) for slot in block.slots}
    due: list[list[Constraint]] = [[] for _ in fixed]
    for guard in guards:
        ats = [order[slot] for slot, _ in guard.form.inputs]
        if ats:
            due[max(ats)].append(guard)
    rest = {block.slots[0]: block.values[0] for block in blocks if block.free}
    multiple = prod(len(block.values) for block in blocks if block.free)
    chosen: dict[int, Fraction] = {}

    def extend(at: int, count: int) -> Iterator[tuple[dict[int, Fraction], int] | None]:
        if at == len(fixed):
            yield {**chosen, **rest}, count
            return
        block = fixed[at]
        for values in combinations_with_replacement(block.values, len(block.slots)):
            chosen.update(zip(block.slots, values, strict=True))
            if all(guard.holds_at(chosen) for guard in due[at]):
                yield from extend(at + 1, count * _arrangements(values))
            else:
                yield None

    if all(guard.form.inputs or guard.holds_at({}) for guard in guards):
        yield from extend(0, multiple)


def _arrangements(values: Sequence[Fraction]) -> int:
    return factorial(len(values)) // prod(factorial(times) for times in Counter(values).values())


def _narrowed(blocks: Sequence[Block], guards: Sequence[Constraint]) -> Iterator[Block]:
    """The blocks without values that guards on a single position rule out. Such guards are the same for all positions
    of a block, as the guards are mapped to themselves by every exchange."""
    alone: dict[int, list[Constraint]] = {}
    for guard in guards:
        if len(guard.form.inputs) == 1:
            alone.setdefault(guard.form.inputs[0][0], []).append(guard)
    for block in blocks:
        first = block.slots[0]
        mine = alone.get(first, [])
        values = tuple(value for value in block.values if all(guard.holds_at({first: value}) for guard in mine))
        yield Block(block.slots, values, block.free)

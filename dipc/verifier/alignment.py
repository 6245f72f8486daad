"""Privacy for every pair of adjacent real inputs, by shifts of the noises: `dipc.certificate.privacy.inputs/1`.

The program is executed with its inputs left open. An exit is a conjunction of half-spaces a·N + l·u + c >= 0 over the
centered noises N and the inputs u. Let d be a move of the inputs. If a·t + l·d >= 0 for each of them, t is at least 0
for one-sided noises and 0 for whole ones, and no real output changes, then N -> N + t maps the exit at u into that at
u + d, and densities fall by at most e^(Σ rate·|t|·eps). So the program is K·eps-private for the greatest least cost K
of all exits and moves. As a function of d the least cost is convex: vertices of the ball are enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from dipc.verifier.bounds import OpenRun, open_input
from dipc.verifier.budget import Budget
from dipc.verifier.events import Family
from dipc.verifier.execution import Affine, Held, Wanted
from dipc.verifier.linear import Guard, Row, least
from dipc.verifier.program import Machine
from dipc.verifier.rejection import NotDerived
from dipc.verifier.visits import visits

SCHEMA = "dipc.certificate.privacy.inputs/1"

#: Steps that finding the shifts may take.
STEPS = 60_000_000

_ZERO, _ONE = Fraction(0), Fraction(1)

_STEP = "alignment"

#: Vertices of the moves that are looked at for one exit.
MOST_VERTICES = 4_096

#: What is added to the number of a noise for that of its length.
_LENGTH = 10**9


@dataclass(frozen=True, slots=True)
class _Change:
    """Σ noises·t + Σ inputs·d: what a shift and a move change of a form."""

    noises: Mapping[int, Fraction]
    inputs: Mapping[int, Fraction]


def least_budget(machine: Machine, distance: str, radius: Fraction, budget: Budget) -> tuple[Fraction, int]:
    """A K such that the program is K·eps-private for all real inputs that are so near, and how many exits it has.
    Raises NotDerived where shifts show none."""
    slots = machine.numbered("input")
    if distance not in ("linf", "l1"):
        raise NotDerived(f"no move is the greatest by {distance[:20]}")
    if any(machine.slots[slot].type != "real" for slot in slots):
        raise NotDerived("an input is not real")
    run = OpenRun(machine, Wanted({}, _ZERO), budget)
    run.decide, run.unites = _left_open, True
    inputs: dict[int, Held] = {slot: Affine(_ZERO, ((open_input(slot), _ONE),)) for slot in slots}
    run.explore(inputs)
    visits(run.steps, (end.state for end in run.ends), budget)  # the weights of all ways are those of a program
    bound = _ZERO
    for number, end in enumerate(run.ends):
        slacks = [_Change(*run.centered(row.form)) for row in end.known.rows.values()]
        outputs = [_Change(*run.centered(held.terms)) for held in run.outputs(end.state) if isinstance(held, Affine)]
        cost = _greatest_cost(run, slacks, outputs, slots, distance, radius, budget)
        if cost is None:
            raise NotDerived(f"no shift of the noises maps exit {number} into itself for every move of the inputs")
        bound = max(bound, cost)
    return bound, len(run.ends)


def _left_open(guard: Guard) -> bool:
    raise NotDerived(f"an exit depends on inputs alone: {len(guard.form)} of them are compared without noise")


def _greatest_cost(
    run: OpenRun,
    slacks: Sequence[_Change],
    outputs: Sequence[_Change],
    slots: Sequence[int],
    distance: str,
    radius: Fraction,
    budget: Budget,
) -> Fraction | None:
    """The greatest least cost of a shift over the moves of the ball; None where some move has no shift."""
    noises = sorted({i for change in (*slacks, *outputs) for i in change.noises})
    # Whole noises stay where they are.
    moving = [i for i in noises if run.laws[i][0] is not Family.DISCRETE_LAPLACE]
    lengths: list[Row] = [({_LENGTH + i: _ONE, i: side}, _ZERO) for i in moving for side in (_ONE, -_ONE)]
    lengths += [({i: _ONE}, _ZERO) for i in moving if run.laws[i][0] is Family.ONE_SIDED]
    cost = {_LENGTH + i: run.laws[i][1] for i in moving}
    worst = _ZERO
    for count, move in enumerate(_vertices(slacks, outputs, slots, distance, radius)):
        if count >= MOST_VERTICES:
            raise NotDerived(f"an exit has more than {MOST_VERTICES} moves to look at")
        rows = [*lengths, *((_kept(change, moving, _ONE), _moved(change, move)) for change in slacks)]
        for change in outputs:
            rows += [(_kept(change, moving, side), side * _moved(change, move)) for side in (_ONE, -_ONE)]
        if any(not form and constant < 0 for form, constant in rows):
            return None
        rows = [row for row in rows if row[0]]
        found = least(cost, rows, budget, _STEP) if cost else _ZERO
        if found is None:
            return None
        worst = max(worst, found)
    return worst


def _vertices(
    slacks: Sequence[_Change], outputs: Sequence[_Change], slots: Sequence[int], distance: str, radius: Fraction
) -> Iterator[dict[int, Fraction]]:
    """Moves of which some convex combination is worst. In a box an input that no real output and all half-spaces feel
    with one sign is worst where these are tightest: a shift that does there does wherever it is."""
    if distance == "l1":
        for slot in slots:
            yield {slot: radius}
            yield {slot: -radius}
        return
    ends: list[tuple[Fraction, ...]] = []
    for slot in slots:
        signs = {change.inputs[slot] > 0 for change in slacks if change.inputs.get(slot)}
        if len(signs) > 1 or any(change.inputs.get(slot) for change in outputs):
            ends.append((radius, -radius))
        else:
            ends.append((-radius if True in signs else radius,))
    for values in product(*ends):
        yield dict(zip(slots, values, strict=True))


def _kept(change: _Change, moving: Sequence[int], side: Fraction) -> dict[int, Fraction]:
    return {i: side * c for i, c in change.noises.items() if i in moving and c}


def _moved(change: _Change, move: Mapping[int, Fraction]) -> Fraction:
    return sum((c * move[slot] for slot, c in change.inputs.items() if slot in move), _ZERO)

"""Chains of finite choices: the stated weights of their exits, checked by putting them into the linear system.

A chain is {"functions": [function, ...], "steps": [[[goal, function], ...], ...], "visits": [function, ...],
"weights": [function or null, ...]}. Its states are numbered from 0, the start, as their steps are listed; the exits
follow in the order of their weights (null for one that is not used), and then one number for all that does not matter.
Steps refer to functions by number. `visits` are the total weights x_s of all paths to state s:

    x_s = [s is the start] + Σ x_p·w_ps,    weight of exit e = Σ x_p·w_pe.

The solution is unique. Only states on a cycle can be to blame if it were not; of each of those the weights are shown to
sum to 1 and to be positive at eps = 1, and some step leads off the cycles it is on. So the spectral radius of each loop
is below 1 at eps = 1, its determinant is not the zero function, and functions of eps that solve the system are one.

Instead of visits a chain may have the field "unreplayed": its weights are then taken on trust.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dipc.verifier.budget import Budget
from dipc.verifier.enclosure import exp_minus
from dipc.verifier.reading import items, natural, record, text
from dipc.verifier.rejection import Rejected
from dipc.verifier.ring import (
    ONE,
    Closed,
    Ring,
    add_closed,
    common_multiple,
    equal_closed,
    height,
    multiply_closed,
    read_closed,
)

#: The most functions and states that are read, and states that are replayed.
MOST_STATES = 200_000
MOST_REPLAYED = 64


@dataclass(frozen=True, slots=True)
class Chain:
    """The stated weights of the exits by number of state; `reason` says why they are not checked, None if they were."""

    weights: dict[int, Closed]
    reason: str | None


def check_chain(data: Any, budget: Budget, step: str) -> Chain:
    """The chain that `data` holds; raises Rejected where its weights do not solve its system."""
    fields = record(data, step, ("functions", "steps", "weights"), ("visits", "unreplayed"))
    if ("visits" in fields) == ("unreplayed" in fields):
        raise Rejected(step, "a chain of choices has visits, or the reason why it has none")
    functions = [read_closed(item, step) for item in items(fields["functions"], step, MOST_STATES)]
    rows = items(fields["steps"], step, MOST_STATES)
    stated = items(fields["weights"], step, MOST_STATES)
    count = len(rows)
    steps = [_steps(row, functions, count + len(stated), step) for row in rows]
    weights = {count + at: read_closed(item, step) for at, item in enumerate(stated) if item is not None}
    if "unreplayed" in fields:
        return Chain(weights, text(fields["unreplayed"], step))
    visits = [read_closed(item, step) for item in items(fields["visits"], step, MOST_REPLAYED)]
    if len(visits) != count:
        raise Rejected(step, "there is not one number of visits for each state")
    _check_loops(steps, budget, step)
    # Over the stated denominators: those of the summands mostly divide them.
    sums: list[Closed] = [({}, ONE) for _ in range(count + len(stated) + 1)]
    for number, value in [*enumerate(visits), *weights.items()]:
        sums[number] = ({}, value[1])
    sums[0] = add_closed(sums[0], (ONE, ONE), budget, step)
    for here, row in enumerate(steps):
        for goal, weight in row.items():
            sums[goal] = add_closed(sums[goal], multiply_closed(visits[here], weight, budget, step), budget, step)
    for number, value in [*enumerate(visits), *weights.items()]:
        if not equal_closed(sums[number], value, budget, step):
            what = f"state {number}" if number < count else f"exit {number - count}"
            raise Rejected(step, f"the weight of {what} is not the sum of what leads there")
    return Chain(weights, None)


def _steps(data: Any, functions: list[Closed], most: int, step: str) -> dict[int, Closed]:
    result: dict[int, Closed] = {}
    for item in items(data, step, MOST_STATES):
        pair = items(item, step, 2)
        if len(pair) != 2:
            raise Rejected(step, "a step is a goal and the number of a function")
        goal, number = natural(pair[0], step, most), natural(pair[1], step, len(functions))
        if goal in result or number == len(functions):
            raise Rejected(step, "a step leads to a goal twice, or has a weight that is not listed")
        result[goal] = functions[number]
    return result


def _check_loops(steps: list[dict[int, Closed]], budget: Budget, step: str) -> None:
    """Show that the system has one solution."""
    count = len(steps)
    reach = [0] * count
    for here, row in enumerate(steps):
        for goal in row:
            reach[here] |= 1 << goal
    changed = True
    while changed:
        changed = False
        for here in range(count):
            found = reach[here]
            for there in range(count):
                if found >> there & 1:
                    found |= reach[there]
            changed = changed or found != reach[here]
            reach[here] = found
        budget.spend(count * count, step)
    for here, row in enumerate(steps):
        if not reach[here] >> here & 1:
            continue
        loop = sum(1 << there for there in range(count) if reach[here] >> there & 1 and reach[there] >> here & 1)
        if not reach[here] & ~loop:
            raise Rejected(step, f"no step leads out of the loop of state {here}")
        total: Closed = {}, ONE
        for weight in row.values():
            if not (_positive_at_one(weight[0], budget, step) and _positive_at_one(weight[1], budget, step)):
                raise Rejected(step, f"a weight in the loop of state {here} is not shown to be positive")
            total = add_closed(total, weight, budget, step)
        if not equal_closed(total, (ONE, ONE), budget, step):
            raise Rejected(step, f"the weights of state {here} do not sum to 1")


def _positive_at_one(function: Ring, budget: Budget, step: str) -> bool:
    """Whether f(1) > 0 is shown by enclosures of growing precision."""
    greatest = max((q for _, q in function), default=Fraction(0))
    unit = common_multiple((c.denominator for c in function.values()), budget, step)
    exponents = {(0, q): q for _, q in function}
    longest = unit.bit_length() + height(function) + height(exponents)
    for bits in (64, 256, 1024):
        budget.spend(bits * len(function), step, longest)
        low = 0
        for (_, q), c in function.items():
            # Up to the positive factor unit·e^{greatest·eps}.
            below, above = exp_minus(greatest - q, bits)
            low += c.numerator * (unit // c.denominator) * (below if c > 0 else above)
        if low > 0:
            return True
    return False

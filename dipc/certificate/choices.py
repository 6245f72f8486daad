"""The Markov chain of a program's choices as data, with the solution of its linear system.

x_s, the total weight of all paths to state s, is [s is the start] + Σ x_p·w_ps over the steps p -> s; an exit e is
reached with weight Σ x_p·w_pe. That the x stated are right is checked by putting them in. They are solved for one
state after the other; the exits' weights are those of the engine (`dipc.algebra.absorption`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dipc.algebra.combine import simplest, total
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.quotient import Closed, Quotient
from dipc.certificate.terms import closed_data
from dipc.chain.reach import NOWHERE
from dipc.exits.reaching import ChoiceChain
from dipc.verifier.budget import Budget
from dipc.verifier.choices import MOST_REPLAYED, check_chain
from dipc.verifier.rejection import Rejected

#: Chains with more states or larger loops are not written for replaying, nor those with longer solutions.
MOST_STATES = MOST_REPLAYED
MOST_LOOP = 24
MOST_TERMS = 2_000

#: The steps that its check may take.
MOST_STEPS = 300_000


class TooLong(Exception):
    """The system of a chain is larger, or its solution longer, than is written; the message is half a sentence."""


@dataclass(frozen=True, slots=True)
class WrittenChain:
    """A chain as data, in which weights of exits are filled in when they are used; `text` tells it from others."""

    data: dict[str, Any]
    text: str


def numbers_of(chain: ChoiceChain) -> dict[int, int]:
    """New numbers: the states from 0, in the order in which they are met from the start, then the exits, then NOWHERE.

    Where the start is an exit itself there are no states, and it has the number 0.
    """
    met = [chain.start]
    seen = {chain.start}
    for state in met:
        for goal, _ in chain.edges.get(state, ()):
            if goal not in seen:
                seen.add(goal)
                met.append(goal)
    states = [state for state in met if state not in chain.ends]
    exits = [state for state in met if state in chain.ends and state != NOWHERE]
    return {state: number for number, state in enumerate((*states, *exits, NOWHERE))}


def written_chain(chain: ChoiceChain, numbers: Mapping[int, int]) -> WrittenChain:
    """The chain with the solution of its system, or with the reason why there is none."""
    functions: dict[Closed, int] = {}
    steps = _steps(chain, numbers)
    written = [
        [[goal, functions.setdefault(weight, len(functions))] for goal, weight in sorted(row.items())] for row in steps
    ]
    data: dict[str, Any] = {
        "functions": [closed_data(weight) for weight in functions],
        "steps": written,
        "weights": [None] * (len(numbers) - len(steps) - 1),
    }
    text = repr(data)
    try:
        data["visits"] = [closed_data(value) for value in _solution(steps, MOST_STATES)]
    except TooLong as reason:
        data["unreplayed"] = f"of choices and loops, {reason}"
    return WrittenChain(data, text)


def affordable(data: dict[str, Any]) -> dict[str, Any]:
    """The chain with all weights that are used filled in; without its solution if putting that in takes too long."""
    budget = Budget(MOST_STEPS)
    try:
        check_chain(data, budget, "chain")
    except Rejected as rejected:
        # Quotients without a common denominator grow quickly. Any other reason would be a mistake of this program.
        if budget.left >= 0:
            raise AssertionError(rejected) from rejected
        rest = {name: value for name, value in data.items() if name != "visits"}
        return rest | {"unreplayed": "of choices and loops, putting the solution in takes too many steps"}
    return data


def end_weights(chain: ChoiceChain, most_states: int) -> dict[int, Closed]:
    """The weight of the paths to each exit, by the node of the exit; another way than `ChoiceChain.exit_weights`.

    Raises TooLong for chains of more states, for large loops and for long solutions.
    """
    numbers = numbers_of(chain)
    steps = _steps(chain, numbers)
    visits = _solution(steps, most_states)
    inflow: dict[int, list[Closed]] = {end: [] for end in chain.ends}
    if chain.start in chain.ends:
        inflow[chain.start].append(ExpPoly.one())
    nodes = {number: state for state, number in numbers.items()}
    for visited, row in zip(visits, steps, strict=True):
        for goal, weight in row.items():
            if goal >= len(steps):
                inflow[nodes[goal]].append(visited * weight)
    return {end: total(parts) for end, parts in inflow.items() if end != NOWHERE}


def _steps(chain: ChoiceChain, numbers: Mapping[int, int]) -> list[dict[int, Closed]]:
    """The weights of the steps from each state, by new numbers; those to one goal added up."""
    steps: list[dict[int, Closed]] = []
    for state, number in numbers.items():
        if state in chain.ends or state == NOWHERE:
            break
        assert number == len(steps)
        row: dict[int, Closed] = {}
        for goal, weight in chain.edges[state]:
            at = numbers[goal]
            row[at] = simplest(row[at] + weight) if at in row else weight
        steps.append(row)
    return steps


def _solution(steps: list[dict[int, Closed]], most_states: int) -> list[Closed]:
    """The total weight of the paths from state 0 to each state."""
    import networkx as nx

    if len(steps) > most_states:
        raise TooLong(f"it has more than {most_states} states")
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(steps)))
    graph.add_edges_from((s, t) for s, row in enumerate(steps) for t in row if t < len(steps))
    inflow: list[Closed] = [ExpPoly.zero() for _ in steps]
    if steps:
        inflow[0] = ExpPoly.one()
    for component in reversed(list(nx.strongly_connected_components(graph))):
        members = sorted(component)
        if len(members) > MOST_LOOP:
            raise TooLong(f"a loop has more than {MOST_LOOP} states")
        if len(members) > 1 or graph.has_edge(members[0], members[0]):
            _solve_loop(members, steps, inflow)
        for s in members:
            for t, weight in steps[s].items():
                if t < len(steps) and t not in component:
                    inflow[t] = _checked(inflow[t] + inflow[s] * weight)
    return [simplest(value) for value in inflow]


def _solve_loop(members: list[int], steps: list[dict[int, Closed]], inflow: list[Closed]) -> None:
    """Replace the inflow of the states of a loop by their solution: x_t = inflow_t + Σ x_s·w_st, by elimination."""
    into: dict[int, dict[int, Closed]] = {t: {s: steps[s][t] for s in members if t in steps[s]} for t in members}
    order: list[int] = []
    for t in members:
        order.append(t)
        row = into[t]
        loop = row.pop(t, None)
        if loop is not None:
            # The weight of staying is below 1 for every eps > 0: loops end with probability 1.
            stay = Quotient.of(1 - loop)
            inflow[t] = _checked(Quotient.of(inflow[t]).over_positive(stay))
            for s in row:
                row[s] = _checked(Quotient.of(row[s]).over_positive(stay))
        for later in members[len(order) :]:
            onward = into[later].pop(t, None)
            if onward is None:
                continue
            inflow[later] = _checked(inflow[later] + inflow[t] * onward)
            for s, weight in row.items():
                into[later][s] = _checked(into[later].get(s, ExpPoly.zero()) + weight * onward)
    for t in reversed(order):
        for s, weight in into[t].items():
            inflow[t] = _checked(inflow[t] + inflow[s] * weight)


def _checked(value: Closed) -> Closed:
    parts: Iterable[ExpPoly] = (value.numerator, value.denominator) if isinstance(value, Quotient) else (value,)
    if sum(len(part) for part in parts) > MOST_TERMS:
        raise TooLong(f"its solution has functions of more than {MOST_TERMS} terms")
    return value

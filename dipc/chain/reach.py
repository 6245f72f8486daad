"""How the exits of a chain are reached: the finite Markov chain of its choices, for whoever computes its weights.

An exit has the probability W · m, where m is the measure of its constraints (in fact of its `EventTemplate`) and W is
the total weight of the paths to it, with weight 1 for a comparison just as for a deterministic step. To see why, hold
the noises and the inputs fixed. Every comparison then has one outcome, and what is left is a Markov chain of choices.
The probability that it reaches state s is the sum, over the paths to s whose comparisons turn out so, of the weights of
their choices. A comparison adds what it finds to the constraints, and nothing is ever taken away but what follows from
the rest: the constraints of s say exactly what was found on a path to it, on each of them. So either the noises satisfy
these constraints, and all paths to s are taken into account, or they do not, and none is. The sum is therefore W if the
constraints of s hold and 0 if not, and W does not depend on the noises: the probability is W times the measure.

Paths that part at a comparison never meet again, unless where nothing is: what one found excludes the noises of the
other. For the same reason a comparison that branches leads out of its strongly connected component: inside one there
are only choices and deterministic steps, and the weights that leave a state sum to 1.

Where paths are united, several histories of comparisons do meet, and paths must not be counted. That happens only in
programs without choices: there every exit has weight 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dipc.chain.chain import Chain
from dipc.chain.flow import has_choices
from dipc.chain.state import Choice, ChoiceWeight

__all__ = ["NOWHERE", "Reach", "Step", "has_choices", "reach", "weighted_edges"]

#: The one state that stands for all those cut because the wanted outputs cannot be reached from there any more.
NOWHERE = -1

#: A successor with the choices that lead to it: its weight is the sum of theirs, or 1 if there are none.
Step = tuple[int, tuple[ChoiceWeight, ...]]


@dataclass(frozen=True, slots=True)
class Reach:
    """What `dipc.algebra.absorption.absorption_weights` takes, once the weights are computed.

    Runs end in `ends`, the nodes of the chain's exits and, where some states were cut, NOWHERE. Every state listed in
    `edges` can reach one of them.
    """

    start: int
    edges: Mapping[int, list[Step]]
    ends: frozenset[int]


def reach(chain: Chain) -> Reach:
    """The Markov chain of the choices; states with a single certain step are skipped."""
    exits = frozenset(exit_state.node for exit_state in chain.exits)
    if not chain.flow.chooses:
        if chain.initial in exits or not exits:
            start = chain.initial if exits else NOWHERE
            return Reach(start, {}, exits or frozenset({NOWHERE}))
        return Reach(chain.initial, {chain.initial: [(node, ()) for node in sorted(exits)]}, exits)
    settled: dict[int, int] = dict.fromkeys(chain.cut, NOWHERE)
    transitions = chain.transitions

    def settle(node: int) -> int:
        """Where control that comes to `node` stays: at a choice, at a comparison, or at an end."""
        passed: list[int] = []
        while node not in settled and node not in exits and len(transitions.successors(node)) == 1:
            (goal,) = transitions.successors(node)
            if any(isinstance(edge, Choice) for edge in transitions.edges(node, goal)):
                break
            passed.append(node)
            node = goal
        node = settled.get(node, node)
        for skipped in passed:
            settled[skipped] = node
        return node

    start = settle(chain.initial)
    edges: dict[int, list[Step]] = {}
    ends = set(exits)
    pending = [start]
    seen = {start}
    while pending:
        node = pending.pop()
        if node == NOWHERE:
            ends.add(NOWHERE)
            continue
        steps: list[Step] = []
        for goal in transitions.successors(node):
            chosen = tuple(edge.weight for edge in transitions.edges(node, goal) if isinstance(edge, Choice))
            after = settle(goal)
            steps.append((after, chosen))
            if after not in seen:
                seen.add(after)
                pending.append(after)
        if steps:
            edges[node] = steps
    return Reach(start, edges, frozenset(ends))


def weighted_edges(chain: Chain) -> Mapping[int, list[Step]]:
    """The steps of `reach(chain)` alone."""
    return reach(chain).edges

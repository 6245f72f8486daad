"""How likely a program's choices lead to each exit: exact weights, over loops too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from dipc.algebra.absorption import absorption_weights
from dipc.algebra.combine import simplest, total
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.algebra.quotient import Closed
from dipc.chain.chain import Chain
from dipc.chain.codes import Code
from dipc.chain.edge import ChoiceWeight, ExpressionWeight
from dipc.chain.reach import NOWHERE, Reach, Step, reach
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError, Label
from dipc.exits.weights import Weights, numerator_of
from dipc.sign import Interval, Root, isolate_roots
from dipc.sign.root_text import place_text

if TYPE_CHECKING:
    import networkx as nx

#: A choice's weights, each with all eps at which it is 0.
_Zeros = Mapping[ChoiceWeight, tuple[Root, ...]]


def exit_weights(chain: Chain, weights: Weights, limits: Limits) -> dict[int, Closed]:
    """By the node of an exit, the total weight of the paths to it, for a program that makes choices.

    Raises DiagnosticError for a loop that may go on forever at some eps, Undecided past a limit.
    """
    found = reach(chain)
    if not chain.flow.forward:
        _require_ends(chain, found, weights)
    # Steps to NOWHERE are most of them where one answer of many is wanted: their weights do not matter.
    edges = {
        node: [(goal, ExpPoly.one() if goal == NOWHERE else _weight(chosen, weights)) for goal, chosen in steps]
        for node, steps in found.edges.items()
    }
    reached = absorption_weights(edges, found.start, found.ends, limits, frozenset({NOWHERE}))
    return {node: simplest(weight) for node, weight in reached.items()}


def _weight(chosen: tuple[ChoiceWeight, ...], weights: Weights) -> Closed:
    match chosen:
        case ():
            return ExpPoly.one()
        case (weight,):
            return weights.closed(weight)
        case _:
            return total(map(weights.closed, chosen))


# --- loops -----------------------------------------------------------------------------------------


def _require_ends(chain: Chain, found: Reach, weights: Weights) -> None:
    """Raise DiagnosticError if at some eps the weights that are 0 there leave a loop without a way out.

    Otherwise runs end almost surely for every eps > 0, and the linear systems of the loops have one solution there.
    """
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph()
    for node, steps in found.edges.items():
        graph.add_edges_from((node, goal) for goal, _ in steps)
    for component in nx.strongly_connected_components(graph):
        first = next(iter(component))
        if len(component) == 1 and not graph.has_edge(first, first):
            continue
        loop = {node: found.edges[node] for node in component}
        zeros = {
            weight: roots
            for row in loop.values()
            for _, chosen in row
            for weight in chosen
            if (roots := weights.zeros(weight))
        }
        for weight, roots in zeros.items():
            for root in roots:
                if _is_stuck(loop, _vanishing(zeros, weights, weight, root)):
                    raise _endless(chain, weight, root)


def _vanishing(zeros: _Zeros, weights: Weights, at: ChoiceWeight, root: Root) -> frozenset[ChoiceWeight]:
    """The weights that are 0 at this root of the weight `at`.

    Two functions of the ring share a positive zero only if it is one of their common divisor: the zeros of coprime
    polynomials in eps and e^{eps/n} would be algebraic in both, which none is (Lindemann), or rational.
    """
    numerator = numerator_of(weights.closed(at))
    return frozenset(
        weight for weight in zeros if weight == at or _vanishes(numerator_of(weights.closed(weight)), numerator, root)
    )


def _vanishes(value: ExpPoly, other: ExpPoly, root: Root) -> bool:
    """Whether `value` is 0 at the one zero that `other` has in the root's interval."""
    if root.is_exact:
        return value.value_is_zero(root.lower)
    return bool(isolate_roots(value.common_divisor(other), Interval(root.lower, root.upper, True, True)))


def _is_stuck(steps: Mapping[int, Iterable[Step]], vanishing: frozenset[ChoiceWeight]) -> bool:
    """Whether some state of a loop cannot leave it without the steps that vanish."""
    into: dict[int, list[int]] = {}
    free: list[int] = []
    for node, row in steps.items():
        for goal, chosen in row:
            if chosen and vanishing.issuperset(chosen):
                continue
            if goal in steps:
                into.setdefault(goal, []).append(node)
            else:
                free.append(node)
    leaving = set(free)
    while free:
        for node in into.get(free.pop(), ()):
            if node not in leaving:
                leaving.add(node)
                free.append(node)
    return leaving != steps.keys()


def _endless(chain: Chain, weight: ChoiceWeight, root: Root) -> DiagnosticError:
    assert isinstance(weight, ExpressionWeight), "the weights of the exponential mechanism are positive"
    program = chain.flow.program
    place = place_text(root)
    around = [span for span in program.loops.values() if span.start <= weight.span.start < span.end]
    loop = max(around, key=lambda span: span.start, default=None)
    return DiagnosticError(
        Diagnostic(
            Code.ENDLESS_LOOP,
            f"a `while` can go on forever {place}",
            program.source.excerpt(weight.span),
            f"this weight is 0 {place}",
            ("a program must end with probability 1 for every eps > 0: give a way out of the loop some weight",),
            () if loop is None else (Label(program.source.excerpt(loop), "the loop"),),
        )
    )

"""What a set of constraints decides about another one, exactly.

Soundness of the chain never depends on an answer being found: a comparison left open only branches, and a branch whose
constraints contradict each other has measure zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dipc.chain.constraints import Constraint, ConstraintSet, variables_of
from dipc.chain.offsets import moved, offsets
from dipc.linear.differences import Graph, graph_of, greatest_bounds, is_contradictory
from dipc.linear.program import contradiction


def decided(question: Constraint, *known: ConstraintSet) -> bool | None:
    """Whether `question` is implied (True) or excluded (False) by `known`, None when neither is found.

    For a constraint on noises both are meant almost surely; a guard is decided for every value of the inputs. What
    restricts a noise from the start (`nonnegative`) has to be among `known`.
    """
    # Free on both sides: this is the hot path.
    for variable in variables_of(question.form):
        if not any(variable in constraints.variables for constraints in known):
            return None
    opposite = question.negation
    for constraints in known:
        if question in constraints.keys:
            return True
        if opposite in constraints.keys:
            return False
    facts = connected([question], [item for constraints in known for item in constraints.items])
    if entails(facts, question):
        return True
    if entails(facts, opposite):
        return False
    return None


def entails(facts: Sequence[Constraint], question: Constraint) -> bool:
    """True only if every point that satisfies `facts` satisfies `question` (almost every, if noises are concerned)."""
    differences = [fact.bound for fact in facts]
    asked = question.bound
    if asked is None or None in differences:
        by = offsets([*facts, question])
        if by:
            facts, (question,) = moved(facts, by), moved([question], by)
            differences, asked = [fact.bound for fact in facts], question.bound
    graph = graph_of(difference for difference in differences if difference is not None)
    if asked is not None and graph_entails(graph, question):
        return True
    if asked is not None and None not in differences:
        return False
    return contradiction([fact.halfspace for fact in (*facts, question.negation)]) is not None


def graph_entails(graph: Graph, question: Constraint) -> bool:
    """`entails` for a difference constraint and a graph of differences: exact."""
    asked = question.bound
    assert asked is not None
    upper, lower, (weight, strict) = asked
    # The closed half-space is as good as the open one where a noise is concerned.
    enough = (weight, strict if question.strict else 0)
    best = greatest_bounds(graph, lower, upper, enough)
    return best is None or (upper in best and best[upper] >= enough)


def contradict(facts: Sequence[Constraint]) -> bool:
    """True only if the measure of `facts` is zero whatever the inputs are."""
    keys = set(facts)
    if any(fact.negation in keys for fact in facts):
        return True
    differences = [fact.bound for fact in facts]
    if None in differences:
        facts = moved(facts, offsets(facts))
        differences = [fact.bound for fact in facts]
    if is_contradictory(graph_of(difference for difference in differences if difference is not None)):
        return True
    return None in differences and contradiction([fact.halfspace for fact in facts]) is not None


def contradict_each(facts: Sequence[Constraint], others: Iterable[Sequence[ConstraintSet]]) -> bool:
    """True only if the measure of `facts` with each of the others is zero whatever the inputs are."""
    opposites = {fact.negation for fact in facts}
    return all(
        any(not opposites.isdisjoint(known.keys) for known in other)
        or contradict([*facts, *(item for known in other for item in known.items)])
        for other in others
    )


def connected(questions: Iterable[Constraint], facts: Iterable[Constraint]) -> list[Constraint]:
    """The facts that share variables with a question, directly or through others."""
    rest = [(fact, frozenset(variables_of(fact.form))) for fact in facts]
    reached = {variable for question in questions for variable in variables_of(question.form)}
    found: list[Constraint] = []
    while True:
        near = [fact for fact, variables in rest if not variables.isdisjoint(reached)]
        if not near:
            return found
        found += near
        rest = [(fact, variables) for fact, variables in rest if variables.isdisjoint(reached)]
        for fact in near:
            reached.update(variables_of(fact.form))

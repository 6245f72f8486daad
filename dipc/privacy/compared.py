"""The two sides of what is claimed, for sets of outputs at pairs."""

from __future__ import annotations

from itertools import islice

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.combine import total
from dipc.algebra.limits import Limits
from dipc.exits.program import Program
from dipc.privacy.claim import PrivacyClaim, power
from dipc.privacy.laws import LawTable
from dipc.privacy.least_delta import greatest_excesses
from dipc.privacy.outcome import Sides
from dipc.privacy.pairs import Pairs, texts
from dipc.privacy.pure import couples


def sides_at(
    program: Program,
    table: LawTable,
    pairs: Pairs,
    pair: tuple[int, int],
    answers: tuple[int, ...],
    claim: PrivacyClaim,
) -> Sides:
    """Those of a set of answers at a pair, by their places. Raises Undecided where a probability is not known."""
    ours, theirs = (total([table.closed(table.rows[at][answer]) for answer in answers]) for at in pair)
    one, two = (texts(program, pairs.inputs[at]) for at in pair)
    outputs = tuple([table.texts(answer) for answer in answers])
    allowed = theirs * power(claim.budget) + claim.delta.value
    return Sides(one, two, outputs, ClosedForm(ours), ClosedForm(allowed))


def needed_most(
    program: Program, table: LawTable, pairs: Pairs, claim: PrivacyClaim, limits: Limits, most: int
) -> list[Sides]:
    """Those that a verdict rests upon, `most` of them: without a delta of single outputs, with one of the sets that
    need the greatest. Raises Undecided past a limit."""
    chosen: list[tuple[tuple[int, int], tuple[int, ...]]]
    if claim.is_pure:
        chosen = [(couple.pair, (couple.answer,)) for couple in islice(couples(table, pairs), most)]
    else:
        chosen = [(each.pair, each.answers) for each in greatest_excesses(table, pairs, claim, limits)[:most]]
    return [sides_at(program, table, pairs, pair, answers, claim) for pair, answers in chosen]

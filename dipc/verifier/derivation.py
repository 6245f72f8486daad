"""Checks how each probability of a certificate is made up: Pr = Σ over exits of weight · Π measures.

    check_derivation(data, budget) -> Derivation     raises Rejected(step, why)

`data` is {"measures": [record, ...], "choices": [chain, ...], "probabilities": [{"shares": [[end, [number, ...]], ...],
"value": function}, ...]}. Records are those of `dipc.verifier.events`, replayed by `dipc.verifier.measure`; chains are
those of `dipc.verifier.choices`. A share is the weight of one exit, [chain, number of the exit] or null for 1, and the
numbers of the measures that it is multiplied with. The value is left out where it is that of a single measure; with a
field "unreplayed", the reason, the sum is not multiplied out and the value taken on trust.

What is not checked is that these are the exits of the program: certificates of this old schema are accepted in part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dipc.verifier.budget import Budget
from dipc.verifier.choices import Chain, check_chain
from dipc.verifier.measure import Allowance, NotReplayed, Replayed, replay_measure
from dipc.verifier.reading import items, natural, record, text
from dipc.verifier.rejection import Rejected
from dipc.verifier.ring import ONE, Closed, add_closed, equal_closed, multiply_closed, read_closed


@dataclass(frozen=True, slots=True)
class Derivation:
    """The probabilities, each shown to be the sum of its shares.

    `replayed` of the measures and `solved` of the chains were computed anew; the others were taken on trust, for the
    `reasons` that are counted. `complete` are the numbers of the probabilities that rest on none of these.
    """

    probabilities: tuple[Closed, ...]
    measures: int
    replayed: int
    chains: int
    solved: int
    reasons: Counter[str]
    complete: frozenset[int]

    @property
    def summary(self) -> str | None:
        """What was computed anew, in a few words; None where there is nothing."""
        parts = [
            f"{done} of {all_of} {what}"
            for done, all_of, what in (
                (self.replayed, self.measures, "measures integrated anew"),
                (self.solved, self.chains, "chains of choices solved"),
            )
            if all_of
        ]
        return ", ".join(parts) or None


def check_derivation(data: Any, budget: Budget, step: str = "derivation") -> Derivation:
    """The derivation that `data` holds; raises Rejected, naming the measure, chain or probability that is wrong."""
    fields = record(data, step, ("measures", "choices", "probabilities"))
    allowance = Allowance()
    measures = [
        replay_measure(item, budget, allowance, f"{step}, measure {number}")
        for number, item in enumerate(items(fields["measures"], step), start=1)
    ]
    chains = [
        check_chain(item, budget, f"{step}, chain of choices {number}")
        for number, item in enumerate(items(fields["choices"], step), start=1)
    ]
    reasons = Counter(found.reason for found in measures if isinstance(found, NotReplayed))
    reasons.update(chain.reason for chain in chains if chain.reason is not None)
    values: list[Closed] = []
    complete = set()
    for number, item in enumerate(items(fields["probabilities"], step)):
        fields = record(item, f"{step}, probability {number + 1}", ("shares",), ("value", "unreplayed"))
        value, trusts = _probability(fields, measures, chains, budget, f"{step}, probability {number + 1}")
        values.append(value)
        if "unreplayed" in fields:
            reasons[text(fields["unreplayed"], step)] += 1
        elif not trusts:
            complete.add(number)
    return Derivation(
        tuple(values),
        len(measures),
        sum(isinstance(found, Replayed) for found in measures),
        len(chains),
        sum(chain.reason is None for chain in chains),
        reasons,
        frozenset(complete),
    )


def _probability(
    fields: Mapping[str, Any], measures: list[Replayed | NotReplayed], chains: list[Chain], budget: Budget, step: str
) -> tuple[Closed, bool]:
    """The value of a probability, and whether it rests on something that was not computed anew."""
    value = read_closed(fields["value"], step) if "value" in fields else None
    if "unreplayed" in fields:
        if value is None:
            raise Rejected(step, "it has no value, and its sum is not replayed")
        return value, True
    # Over the stated denominator: those of the summands mostly divide it.
    total: Closed = {}, ONE if value is None else value[1]
    trusts = False
    for item in items(fields["shares"], step):
        share = items(item, step, 2)
        if len(share) != 2:
            raise Rejected(step, "a share is the weight of an exit and a list of measures")
        part: Closed = ONE, ONE
        if share[0] is not None:
            chain, part = _weight(share[0], chains, step)
            trusts = trusts or chain.reason is not None
        for number in items(share[1], step):
            if natural(number, step) >= len(measures):
                raise Rejected(step, "it refers to a measure that is not there")
            found = measures[number]
            trusts = trusts or isinstance(found, NotReplayed)
            part = multiply_closed(part, found.value, budget, step)
        total = add_closed(total, part, budget, step)
    if value is None:
        return total, trusts
    if not equal_closed(total, value, budget, step):
        raise Rejected(step, "it is not the sum of its shares")
    return value, trusts


def _weight(data: Any, chains: list[Chain], step: str) -> tuple[Chain, Closed]:
    end = items(data, step, 2)
    if len(end) != 2 or natural(end[0], step) >= len(chains) or natural(end[1], step) not in chains[end[0]].weights:
        raise Rejected(step, "it refers to an exit that is not there")
    return chains[end[0]], chains[end[0]].weights[end[1]]

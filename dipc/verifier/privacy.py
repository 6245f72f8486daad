"""Certificates of privacy at pairs of inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import Any

from dipc.verifier import reading as read
from dipc.verifier.execution import Execution
from dipc.verifier.functions import ONE, Closed, closed_text, read_closed
from dipc.verifier.multisets import multiset, nearest_orders, places_of, require_places
from dipc.verifier.normal import Enclosed, Probability, complement, product_of, same, total_of
from dipc.verifier.obligations import Context, Decided, among
from dipc.verifier.probability import Theorem
from dipc.verifier.program import Value, holds
from dipc.verifier.reading import Budget, Rejected, in_step, must_be_derived

#: The most outputs of one pair whose excess has no proved sign: each of their subsets has an obligation.
MOST_OPEN = 8

_ZERO = Fraction(0)


@dataclass(frozen=True)
class PrivacyClaim:
    """The claim Pr[P(u) in S] <= e^(K·eps)·Pr[P(u') in S] + delta, for adjacent inputs u and u'.

    The number K is the field `budget`.
    """

    budget: Fraction
    delta: Closed

    @staticmethod
    def read(value: object) -> PrivacyClaim:
        """Read `value`, the `claim` of a document. Raises Rejected for other values."""
        with in_step("claim"):
            budget, delta, _ = read.fields(value, {"budget": read.rational, "delta": read_closed, "eps": read.items})
            if budget < 0:
                raise Rejected("the budget is negative")
            return PrivacyClaim(budget, delta)

    def scaled(self, probability: Probability, budget: Budget) -> Probability:
        """Return `probability` times e^(K·eps), where K is the field `budget` of the claim.

        Charges its work to the parameter `budget`.
        """
        return product_of(probability, ({(0, self.budget): Fraction(1)}, ONE), budget)

    def allowed(self, probability: Probability, budget: Budget) -> Probability:
        """Return the greatest probability that the claim allows if the adjacent input has `probability`.

        Charges its work to the parameter `budget`; the field of this name is the K of the claim.
        """
        return total_of([self.scaled(probability, budget), self.delta], budget)


def adjacency(value: object) -> tuple[str, Fraction]:
    """Return the distance and the radius in the text `value`, such as `linf:1`. Raises Rejected for other text."""
    distance, _, radius = read.text(value).partition(":")
    reach = read.rational(radius)
    if distance not in ("linf", "l1", "hamming") or reach <= 0:
        raise Rejected(f"`{read.text(value)[:40]}` is not an adjacency such as linf:1")
    return distance, reach


@dataclass(frozen=True)
class Pairs:
    """The pairs of inputs of a certificate, and what was checked about them.

    - `laws` has for each input the indices of the probabilities of its outputs. `ordered` has the pairs, as indices of
      `inputs`.
    - `groups` has sets of input positions: an input represents all inputs that differ from it only by the order of the
      values in a group.
    - `missing` has (number, reason) for each pair without a complete proof.
    - For a refutation, `refuted` is (the probability of its outputs at the first input, their probability at the second
      input, the obligation, the pair).
    """

    laws: Sequence[Sequence[int]]
    ordered: Sequence[tuple[int, int]]
    inputs: Sequence[tuple[Value, ...]]
    groups: Sequence[Sequence[int]]
    missing: tuple[tuple[int, str], ...] = ()
    refuted: tuple[Probability, Probability, Decided, tuple[int, int]] | None = None


@dataclass(frozen=True)
class Refuted:
    """A refutation: outputs of a pair that are together too probable at its first input.

    `outputs` are their indices. A real or int output counts if it differs from a listed one by at most `gamma`.
    `obligation` is the index of the proof.
    """

    pair: int
    outputs: list[int]
    obligation: int
    gamma: Fraction

    @staticmethod
    def read(value: object) -> Refuted:
        """Read `value`, the `refuted` of a document. Raises Rejected for other values."""
        table: read.Table = {
            "pair": read.natural,
            "outputs": read.listed(read.natural),
            "obligation": read.natural,
        }
        pair, outputs, obligation, gamma = read.fields(value, table, {"gamma": read.rational})
        refuted = Refuted(pair, outputs, obligation, gamma or _ZERO)
        if refuted.gamma < 0:
            raise Rejected("its gamma is negative")
        if len(set(refuted.outputs)) < len(refuted.outputs) or (refuted.gamma and len(refuted.outputs) > 1):
            raise Rejected("an output is counted twice")
        return refuted


def check_privacy(
    data: Mapping[str, Any],
    claim: PrivacyClaim,
    theorem: Theorem,
    context: Context,
    decided: Sequence[Decided],
    budget: Budget,
) -> Pairs:
    """Return the pairs of inputs of the document `data`, checked. Raises Rejected if a part about them is wrong.

    The document makes the claim `claim`. `theorem` is about the program, `context` has the stated probabilities, and
    `decided` the checked obligations. Charges its work to `budget`.
    """
    with in_step("verdict"):
        private = read.one_of("private", "not private")(data["verdict"]) == "private"
    excess, sets, couples = (_obligations(data, name, context) for name in ("excess", "sets", "couples"))
    with in_step("refuted"):
        refuted = read.nullable(Refuted.read)(data["refuted"])
        if private is not (refuted is None):
            raise Rejected("a refutation must be given if and only if the verdict is `not private`")
    gamma = _ZERO if refuted is None else refuted.gamma
    pairs = _read(data, theorem, context, gamma, budget, whole=private)
    proofs = _Proofs(claim, context, decided, couples, excess, sets, budget)
    if refuted is None:
        return replace(pairs, missing=tuple(proofs.unproved(pairs)))
    with in_step("refuted"):
        pair = pairs.ordered[read.index(refuted.pair, pairs.ordered)]
        one, two = ([pairs.laws[u][read.index(output, pairs.laws[u])] for output in refuted.outputs] for u in pair)
    why = proofs.missing_proof(refuted.obligation, one, two, "inaccurate")
    against = proofs.total(one), proofs.total(two), decided[refuted.obligation], pair
    return replace(pairs, missing=() if why is None else ((refuted.pair, why),), refuted=against)


def claim_text(claim: Mapping[str, Any], about: str) -> str:
    """Return the claim `claim` of a document, about the pairs `about`, in words."""
    delta = closed_text(read_closed(claim["delta"]))
    return f"budget = {claim['budget']}*eps, delta = {delta}, eps in {' or '.join(claim['eps'])}; {about}"


def pairs_text(data: Mapping[str, Any]) -> str:
    """Return the pairs of the document `data` in words."""
    adjacent = data["adjacent"]
    if data["verdict"] == "not private":
        return "one pair" if adjacent is None else f"a pair adjacent by {adjacent[:40]}"
    count = len(data["inputs"])
    if data.get("alike"):
        return f"all pairs, adjacent by {adjacent[:40]}, of the orders of {count} inputs"
    return "the pairs listed" if adjacent is None else f"all pairs, adjacent by {adjacent[:40]}, of {count} inputs"


#: Probabilities of outputs at the first and the second input of a pair, by number.
Couple = tuple[int, int]


@dataclass
class _Proofs:
    """The obligations of a document, indexed by the couples of probabilities that they compare.

    A couple (p, p') has the probabilities of an output at two adjacent inputs, as indices of values in `context`.
    `never_too_much` has the indices of obligations that say p <= e^(K·eps)·p', and `excess` of those that say p >=
    e^(K·eps)·p', where K is the budget of the `claim`. `sets` has those that say Σ p <= e^(K·eps)·Σ p' + delta, for a
    set of outputs. `decided` are the checked obligations, and `budget` is the work that may still be done.
    """

    claim: PrivacyClaim
    context: Context
    decided: Sequence[Decided]
    never_too_much: Mapping[tuple[Couple, ...], int]
    excess: Mapping[tuple[Couple, ...], int]
    sets: Mapping[tuple[Couple, ...], int]
    budget: Budget

    def __post_init__(self) -> None:
        self._known: dict[tuple[Couple, ...], str | None] = {}
        self._signs: dict[Couple, str | None] = {}

    def missing_proof(self, number: object, first: Sequence[int], second: Sequence[int], verdict: str) -> str | None:
        """Return None if the obligation with index `number` proves the claim for one set of outputs, else why not.

        `first` has the probabilities of these outputs at the first input of a pair, and `second` those at its second
        input, as indices. Raises Rejected unless the obligation compares their sums and has the verdict `verdict`. With
        the verdict "inaccurate", it must refute the claim for this set instead.
        """
        with in_step("obligation of a pair"):
            allowed = self.claim.allowed(self.total(second), self.budget)
            return self._at_most(number, self.total(first), allowed, verdict)

    def _at_most(self, number: object, likely: Probability, allowed: Probability, verdict: str) -> str | None:
        """Return None if the obligation with index `number` proves that `likely` is at most `allowed`, else why not.

        With the `verdict` "inaccurate" it must prove the opposite. Raises Rejected if the obligation compares other
        probabilities, or has another verdict.
        """
        decided = self.decided[read.index(number, self.decided)]
        rest = complement(likely, self.budget)
        missing = decided.require(verdict, rest if isinstance(rest, Enclosed) else ((rest,),), self.budget)
        if not same(decided.value, allowed, self.budget):
            raise Rejected(
                "the obligation does not compare the probability at the first input with what the second input allows"
            )
        return missing

    def total(self, numbers: Sequence[int]) -> Probability:
        return total_of((self.context.values[number] for number in numbers), self.budget)

    def unproved(self, pairs: Pairs) -> Iterator[tuple[int, str]]:
        """Yield (number, reason) for each of `pairs` whose privacy has no complete proof.

        Raises Rejected for a wrong proof. Let p and p' be the probabilities of an output at a pair, and K the budget of
        the claim. The sign of p - e^(K·eps)·p' may be left open only for a few outputs: Rejected is also raised if it
        is open for too many.
        """
        for number, (i, j) in enumerate(pairs.ordered):
            with in_step(f"pair {number}"):
                self.budget.spend(len(pairs.laws[i]))
                always: list[Couple] = []
                either: list[Couple] = []
                why = None
                for first, second in zip(pairs.laws[i], pairs.laws[j], strict=True):
                    # The budget is not negative: an output that is equally likely, or impossible, never exceeds it.
                    value = self.context.values[first]
                    if first == second or (not isinstance(value, Enclosed) and not value[0]):
                        continue
                    couple = first, second
                    if (couple,) in self.never_too_much or (couple,) in self.excess:
                        if couple not in self._signs:
                            self._signs[couple] = self._sign(couple)
                        why = self._signs[couple] or why
                        always += [] if (couple,) in self.never_too_much else [couple]
                    else:
                        either.append(couple)
                if len(either) > MOST_OPEN:
                    raise Rejected("the signs of too many outputs are not certified")
                for places in range(1 << len(either)):
                    chosen = [couple for index, couple in enumerate(either) if places >> index & 1]
                    why = self._set(tuple(sorted([*always, *chosen]))) or why
                why = self._set(()) or why
                if why is not None:
                    yield number, why

    def _sign(self, couple: Couple) -> str | None:
        """Return None if the sign of p - e^(K·eps)·p' is certified for the `couple` (p, p'), else why not.

        K is the budget of the claim.
        """
        with in_step("sign of a couple"):
            likely, other = (self.context.values[number] for number in couple)
            scaled = self.claim.scaled(other, self.budget)
            if (couple,) in self.never_too_much:
                return self._at_most(self.never_too_much[couple,], likely, scaled, "accurate")
            return self._at_most(self.excess[couple,], scaled, likely, "accurate")

    def _set(self, chosen: tuple[Couple, ...]) -> str | None:
        """Return None if Σ p <= e^(K·eps)·Σ p' + delta is certified for the `chosen` couples, else why not.

        A couple (p, p') has the probabilities of an output at the two inputs, and K is the budget of the claim.
        """
        if not chosen and not self.claim.delta[0]:
            return None  # 0 <= 0
        if chosen not in self._known:
            if chosen not in self.sets:
                raise Rejected("a set of outputs has no obligation")
            first, second = [first for first, _ in chosen], [second for _, second in chosen]
            self._known[chosen] = self.missing_proof(self.sets[chosen], first, second, "accurate")
        return self._known[chosen]


def _obligations(data: Mapping[str, Any], name: str, context: Context) -> dict[tuple[Couple, ...], int]:
    """Return the obligations of the field `name` of `data`, by the couples of probabilities that they compare.

    Each probability is given by its index in `context`.
    """
    place = among(context.values)
    with in_step(name):
        listed_ = read.listed(read.tuple_of(read.listed(read.tuple_of(place, place)), read.natural))(data[name])
    return {tuple(sorted(couples)): number for couples, number in listed_}


def _read(
    data: Mapping[str, Any], theorem: Theorem, context: Context, gamma: Fraction, budget: Budget, *, whole: bool
) -> Pairs:
    """Return the pairs in `data`, with the probabilities of all listed outputs at their inputs.

    Each probability is compared with that of the program of `theorem`; a real or int output counts if it is within
    `gamma` of the listed one. `context` has the stated probabilities. If `whole` is true, all outputs that are possible
    must be listed. Charges its work to `budget`. Raises Rejected if an input, an output, a pair or a group is malformed
    or repeated, if a probability is wrong, or if an output is missing.
    """
    points, answers, rows = (
        _table(data, name, reader)
        for name, reader in (("inputs", read.text), ("outputs", read.text), ("laws", read.natural))
    )
    machine = theorem.machine
    for given, role in ((points, "input"), (answers, "output")):
        if any(len(row) != len(machine.numbered(role)) for row in given):
            raise Rejected(f"an {role} does not have a value for each {role} variable of the program", f"{role}s")
    blank: list[str | None] = [None] * len(machine.numbered("output"))
    inputs = [tuple(theorem.read(point, blank)[0].values()) for point in points]
    types = [slot.type for slot in machine.declared("input")]
    if not all(holds(kind, value) for point in inputs for kind, value in zip(types, point, strict=True)):
        raise Rejected("a value of an input is outside its domain", "inputs")
    outputs = {tuple(theorem.read(points[0], answer)[1].values()) for answer in answers} if points else set()
    if len(outputs) < len(answers) or len(set(inputs)) < len(inputs):
        raise Rejected("two of the outputs, or of the inputs, are the same", "outputs")
    laws = []
    if len(rows) != len(points):
        raise Rejected("there must be one law for each input", "laws")
    summed: set[tuple[int, ...]] = set()
    for law, row in enumerate(rows):
        with in_step(f"law {law}"):
            numbers = [read.index(number, context.values) for number in row]
            if len(numbers) != len(answers):
                raise Rejected("it does not have a probability for each output")
            for answer, number in zip(answers, numbers, strict=True):
                theorem.check(points[law], answer, gamma, context.values[number])
            key = tuple(sorted(numbers))
            enclosed = any(isinstance(context.values[number], Enclosed) for number in key)
            if whole and enclosed:
                _require_all_outputs(theorem, inputs[law], outputs, budget)
            elif whole and key not in summed:
                total = total_of((context.values[number] for number in key), budget)
                if not same(total, (ONE, ONE), budget):
                    raise Rejected("the probabilities of its outputs do not add up to 1: some outputs are not listed")
                summed.add(key)
            laws.append(numbers)
    groups = _groups(data, len(types), whole=whole)
    if len({multiset(point, groups) for point in inputs}) < len(inputs):
        raise Rejected("two of the inputs differ only in the order of values", "inputs")
    return Pairs(laws, _ordered(data, inputs, groups, budget, whole=whole), inputs, groups)


def _groups(data: Mapping[str, Any], count: int, *, whole: bool) -> Sequence[Sequence[int]]:
    """Return the groups of exchangeable inputs that `data` states, as indices, or () if it states none.

    There are `count` inputs. `whole` says that `data` is a proof about all adjacent inputs: Rejected is raised for
    groups in any other document. Also raises Rejected for wrong or repeated indices.
    """
    if "alike" not in data:
        return ()
    with in_step("alike"):
        groups = read.listed(read.listed(read.natural))(data["alike"])
        require_places(places_of(groups), count)
        if not whole or data["adjacent"] is None:
            raise Rejected("inputs that may be exchanged can only be stated in a proof about adjacent inputs")
        return groups


def _require_all_outputs(
    theorem: Theorem, given: Sequence[Value], outputs: Collection[tuple[Value, ...]], budget: Budget
) -> None:
    """Raise Rejected unless every run of the program in `theorem` at the input `given` ends with one of `outputs`.

    Charges its work to `budget`.
    """
    machine = theorem.machine
    run = Execution(machine, budget, keeps_outputs=True)
    with must_be_derived():
        run.run(dict(zip(machine.numbered("input"), given, strict=True)))
    if any(tuple(run.outputs(state)) not in outputs for state in run.ends):
        raise Rejected("a run ends with an output that is not listed")


def _table(data: Mapping[str, Any], name: str, reader: read.Reader[Any]) -> list[list[Any]]:
    with in_step(name):
        return read.listed(read.listed(reader))(data[name])


def _ordered(
    data: Mapping[str, Any],
    inputs: Sequence[tuple[Value, ...]],
    groups: Sequence[Sequence[int]],
    budget: Budget,
    *,
    whole: bool,
) -> list[tuple[int, int]]:
    """Return the pairs in `data`, as indices of `inputs`.

    If `data` states an adjacency, each listed pair must be adjacent, and if `whole` is true, all adjacent pairs of
    `inputs` must be listed. Two inputs are also adjacent if exchanges of values within `groups` of inputs make them so.
    Charges its work to `budget`. Raises Rejected if the list does not meet these conditions, is empty, lists a pair
    twice, or pairs an input with itself.
    """
    with in_step("pairs"):
        ordered = read.listed(read.tuple_of(among(inputs), among(inputs)))(data["pairs"])
    stated = set(ordered)
    if not ordered or len(stated) < len(ordered) or any(i == j for i, j in ordered):
        raise Rejected("the list is empty, lists a pair twice, or pairs an input with itself", "pairs")
    if data["adjacent"] is not None:
        with in_step("adjacent"):
            distance, reach = adjacency(data["adjacent"])
        budget.spend((len(inputs) ** 2 if whole else len(ordered)) * (10 * len(inputs[0]) if groups else 1))
        asked = permutations(range(len(inputs)), 2) if whole else ordered
        if any(are_adjacent(distance, reach, inputs[i], inputs[j], groups) is not ((i, j) in stated) for i, j in asked):
            raise Rejected("the pairs listed are not exactly the adjacent pairs of the inputs listed", "pairs")
    return ordered


def are_adjacent(
    distance: str,
    radius: Fraction,
    one: Sequence[Value],
    two: Sequence[Value],
    groups: Sequence[Sequence[int]] = (),
) -> bool:
    """True if the different inputs `one` and `two` are within `radius` of each other by the `distance`.

    The values of each of `groups` may be in any order. Raises Rejected for a value that is not a number.
    """
    if groups:
        one, two = nearest_orders(one, two, groups, count_only=distance == "hamming")
    if distance == "hamming":
        return sum(a != b for a, b in zip(one, two, strict=True)) <= radius
    moves = []
    for a, b in zip(one, two, strict=True):
        if not isinstance(a, Fraction) or not isinstance(b, Fraction):
            raise Rejected("an input is not a number", "adjacent")
        moves.append(abs(a - b))
    return (max(moves) if distance == "linf" else sum(moves)) <= radius

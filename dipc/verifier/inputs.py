"""Certificates about every real and int input, and every number of queries: schema `dipc.certificate.inputs/1`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import Any

from dipc.verifier.budget import Budget
from dipc.verifier.claims import Claim, Interval, Least
from dipc.verifier.classes import (
    Behind,
    Halfspace,
    Kind,
    Share,
    Shown,
    Slacks,
    Stated,
    Sum,
    check_bound,
    greatest_alpha,
    intervals_of,
    least_alpha,
    read_halfspaces,
    required,
    same_least,
    slack_bound,
    variable_of,
)
from dipc.verifier.coverage import Coverage
from dipc.verifier.decision import VERDICTS, Context, Decided, Positive, check_obligation, index
from dipc.verifier.events import Event, read_event
from dipc.verifier.ideal import Ideal, is_integral, whole_inputs
from dipc.verifier.measure import Allowance, NotReplayed, replay_measure
from dipc.verifier.numbers import check_numbers, constants_of
from dipc.verifier.program import computed
from dipc.verifier.reading import items, optional_text, rational, record, text
from dipc.verifier.rejection import NotDerived, Rejected
from dipc.verifier.ring import ONE, Closed, add_closed, constant, equal_closed, multiply_closed, read_closed, times
from dipc.verifier.syntax import Program
from dipc.verifier.theorem import STEPS as ROWS
from dipc.verifier.theorem import Theorem, check_range

SCHEMA = "dipc.certificate.inputs/1"

#: Steps that comparing the classes with the program may take, for all cases together.
STEPS = 60_000_000


@dataclass(frozen=True, slots=True)
class Found:
    """What follows from the classes: verdicts by class, those stated without a proof, what was taken on trust, and the
    constants of which no value is claimed about alone."""

    verdict: str
    counts: dict[str, int]
    open_classes: tuple[tuple[int, str], ...]
    obligations: Sequence[Decided]
    trusted: tuple[str, ...]
    derived: str | None
    varying: Set[str]


def check_inputs(
    data: Mapping[str, Any],
    tree: Program,
    constants: Mapping[str, Fraction],
    betas: Sequence[Least | None],
    positive: Positive,
    budget: Budget,
) -> Found:
    """The parts of a document about this program after those that all certificates have. Raises Rejected."""
    measures, events = _measures(data["measures"], budget)
    values, sums = _probabilities(data["probabilities"], measures, events, positive, budget)
    whole = Claim.read(data["claim"], constants)
    context = Context(values, betas, whole.intervals, positive, ())
    decided = [
        _obligation(item, context, budget, f"obligation {number}")
        for number, item in enumerate(items(data["obligations"], "obligations"))
    ]
    stated = Stated(values, sums, betas, decided)
    counts = dict.fromkeys(("rows", *VERDICTS, "vacuous"), 0)
    open_classes: list[tuple[int, str]] = []
    singly: dict[int, str] = {}
    trusted: list[str] = []
    verdicts: list[str] = []
    loose: set[int] = set()
    covering = Budget(STEPS)
    parameter = None if data["numbers"] is None else _parameter(data["numbers"])
    varying = {name for _, names in varying_constants(data) for name in names}
    for case_number, item in enumerate(items(data["cases"], "cases"), start=1):
        step = f"case {case_number}"
        case = record(item, step, ("constants", "classes"))
        number, computed_from_it = constants_of(_object(case["constants"]), parameter, step)
        claim = whole if number is None else _at(whole, parameter, number, computed_from_it)
        # Where nothing is said, there may be no program: it is refused for some numbers.
        says = any(_object(entry).get("verdict") != "undecided" for entry in items(case["classes"], step))
        if computed_from_it.keys() != varying and (says or computed_from_it):
            raise Rejected(step, "other constants than in other cases are computed from the number")
        if says and computed_from_it != _computed(tree, claim.constants, varying, step):
            raise Rejected(step, "its constants are not those that the program computes")
        theorem = _theorem(tree, claim.constants, covering) if says else None
        own = []
        shown: list[Shown] = []
        for entry in items(case["classes"], step):
            counts["rows"] += 1
            one = _Class(claim, stated, theorem, budget, counts["rows"], loose)
            verdict, missing = one.check(entry)
            shown += one.shown
            counts[verdict] += 1
            own.append(verdict)
            if missing is not None and verdict != "undecided":
                open_classes.append((counts["rows"], missing))
        if not own or (number is not None and number in singly) or (number is None and case_number > 1):
            raise Rejected(step, "it has no classes, or is there twice")
        verdicts += own
        alpha = None if claim.alpha == "dd" else _at_least(claim, theorem, budget, step)
        if theorem is not None:
            trusted += _trusted(theorem, shown, alpha, covering, everything=_worst(own) == "accurate")
        if number is not None:
            singly[number] = _worst(own)
    if parameter is not None:
        # What is said of all other numbers must not depend on what is another for each.
        steady = {name: value for name, value in whole.constants.items() if name not in varying}
        alike = Claim(whole.alpha, whole.beta, whole.gamma, whole.intervals, steady)
        verdict, missing, words = check_numbers(data["numbers"], alike, stated, events, tree, singly, budget, covering)
        counts["rows"] += 1
        counts[verdict] += 1
        verdicts.append(verdict)
        trusted += words
        if missing is not None and verdict != "undecided":
            open_classes.append((counts["rows"], missing))
    if not verdicts:
        raise Rejected("cases", "there are none")
    for place, function in enumerate(values):
        if place not in loose:
            check_range(function, budget, f"probability {place}", bound=True)
    verdict = _worst(verdicts)
    reasons = Counter(found.reason for found in measures if isinstance(found, NotReplayed))
    trusted += [f"{count} of the {len(measures)} measures: {reason}" for reason, count in sorted(reasons.items())]
    replayed = sum(not isinstance(found, NotReplayed) for found in measures)
    derived = f"{replayed} of {len(measures)} measures integrated anew" if measures else None
    return Found(
        verdict,
        counts,
        tuple(open_classes),
        [found for found, _ in decided],
        tuple(dict.fromkeys(trusted)),
        derived,
        varying | ({parameter} if parameter is not None else set()),
    )


def _at_least(claim: Claim, theorem: Theorem | None, budget: Budget, step: str) -> Fraction:
    """The least distance of inputs that the claim is about: an integer that is at least alpha is at least the next."""
    alpha = least_alpha(claim, budget, step)
    return Fraction(ceil(alpha)) if theorem is not None and is_integral(theorem.machine) else alpha


def _theorem(tree: Program, constants: Mapping[str, Fraction], distances: Budget) -> Theorem:
    """The program with these constants; raises Rejected."""
    try:
        return Theorem.of_tree(tree, constants, Budget(ROWS), distances)
    except NotDerived as error:
        raise Rejected("program", error.why) from None


def _trusted(
    theorem: Theorem, shown: Sequence[Shown], alpha: Fraction | None, budget: Budget, *, everything: bool
) -> Iterator[str]:
    """What is left on trust of the classes of one program, and of the inputs that refute the claim."""
    ideal = theorem.ideal
    if isinstance(ideal, Ideal):
        yield from Coverage(theorem.machine, ideal, alpha, budget).check(shown, everything=everything)
    else:
        why = "the program has no `ideal`" if ideal is None else ideal
        yield f"that the classes are all inputs, with the program's bounds: {why}"
    for found, what in ((theorem.reasons, "probabilities"), (theorem.distances, "answers and dd")):
        for reason, count in sorted(found.items()):
            yield f"the {what} of {count} refuting inputs, which were not derived: {reason}"


def _parameter(value: object) -> str:
    return text(_object(value).get("parameter"), "numbers")


def varying_constants(data: Mapping[str, Any]) -> Iterator[tuple[str, Set[str]]]:
    """Of a document about every number of queries the parameter, and the constants computed from it: those of its
    cases, if it has any, each of which has all of them, or says nothing."""
    if data.get("numbers") is None:
        return
    parameter = _parameter(data["numbers"])
    cases = [record(item, "cases", ("constants", "classes")) for item in items(data.get("cases", []), "cases")]
    yield parameter, {name for case in cases for name in _object(case["constants"])} - {parameter}


def _computed(tree: Program, constants: Mapping[str, Fraction], names: Set[str], step: str) -> Mapping[str, Fraction]:
    """The values of these constants in the text, for those of all others."""
    try:
        return computed(tree, constants, names, Budget(ROWS))
    except NotDerived as error:
        raise Rejected(step, error.why) from None


def _at(claim: Claim, parameter: str | None, number: int, others: Mapping[str, Fraction]) -> Claim:
    """The claim for one number of queries, and the constants that are others for other numbers."""
    assert parameter is not None
    if not others.keys() <= claim.constants.keys():
        raise Rejected("constants", "a case has constants that the program has not")
    constants = {**claim.constants, parameter: Fraction(number), **others}
    return Claim(claim.alpha, claim.beta, claim.gamma, claim.intervals, constants)


def _worst(verdicts: Sequence[str]) -> str:
    for verdict in ("inaccurate", "undecided"):
        if verdict in verdicts:
            return verdict
    return "accurate"


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Rejected("constants", "it is no object")
    return value


# --- what classes refer to --------------------------------------------------------------------------


def _measures(value: object, budget: Budget) -> tuple[list[Any], list[Event]]:
    allowance = Allowance()
    replayed = []
    events = []
    for number, item in enumerate(items(value, "measures")):
        step = f"measure {number}"
        replayed.append(replay_measure(item, budget, allowance, step))
        events.append(read_event(item["noises"], item["constraints"], step))
    return replayed, events


def _probabilities(
    value: object, measures: Sequence[Any], events: Sequence[Event], positive: Positive, budget: Budget
) -> tuple[list[Closed], list[Sum]]:
    """Each value multiplied out."""
    values, sums = [], []
    for number, item in enumerate(items(value, "probabilities")):
        step = f"probability {number}"
        entry = record(item, step, ("value", "constant", "subtracted", "shares"))
        stated = read_closed(entry["value"], step)
        positive.open(stated[1], step)
        subtracted = entry["subtracted"]
        if not isinstance(subtracted, bool):
            raise Rejected(step, "`subtracted` is true or false")
        own = rational(entry["constant"], step)
        total: Closed = constant(own), ONE
        shares = []
        for share in items(entry["shares"], step):
            pair = items(share, step, 2)
            if len(pair) != 2:
                raise Rejected(step, "a share is a weight and a list of measures")
            weight = None if pair[0] is None else read_closed(pair[0], step)
            if weight is not None:
                positive.open(weight[1], step)
            part: Closed = (ONE, ONE) if weight is None else weight
            places = [index(place, measures, step) for place in items(pair[1], step)]
            for place in places:
                part = multiply_closed(part, measures[place].value, budget, step)
            total = add_closed(total, (times(part[0], -1), part[1]) if subtracted else part, budget, step)
            shares.append(Share(weight, tuple(places), tuple([events[place] for place in places])))
        if not equal_closed(total, stated, budget, step):
            raise Rejected(step, "it is not the sum of its shares")
        values.append(stated)
        sums.append(Sum(own, subtracted, tuple(shares)))
    return values, sums


def _obligation(item: object, context: Context, budget: Budget, step: str) -> tuple[Decided, tuple[Interval, ...]]:
    """An obligation with intervals of its own."""
    if not isinstance(item, dict) or "intervals" not in item:
        raise Rejected(step, "it says not for which intervals it is")
    own = tuple(Interval.read(found, step) for found in items(item["intervals"], step))
    if not own:
        raise Rejected(step, "it is about no interval")
    entry = {name: value for name, value in item.items() if name != "intervals"}
    return check_obligation(entry, replace(context, intervals=own), budget, step), own


# --- classes ----------------------------------------------------------------------------------------

_CLASS = ("answer", "where", "halfspaces", "verdict")


@dataclass(frozen=True, slots=True)
class _Class:
    """Checks one class under the claim."""

    claim: Claim
    stated: Stated
    theorem: Theorem | None
    budget: Budget
    number: int
    #: The numbers of functions at vertices, where what excludes each other may be certain.
    loose: set[int]
    #: What was shown of it, for the program to be compared with.
    shown: list[Shown] = field(default_factory=list)

    @property
    def step(self) -> str:
        return f"class {self.number}"

    def check(self, value: object) -> tuple[str, str | None]:
        """The verdict, and why it is not certified."""
        entry = record(value, self.step, _CLASS, ("required", "witness", "reason", "empty", "open"))
        for words in (entry["where"], list(_object(entry["answer"]).values())):
            for item in items(words, self.step):
                text(item, self.step)
        verdict = entry["verdict"]
        if verdict not in VERDICTS:
            raise Rejected(self.step, f"the verdict is not one of {', '.join(VERDICTS)}")
        kinds = [name for name in ("required", "witness", "reason", "empty", "open") if name in entry]
        if len(kinds) != 1:
            raise Rejected(self.step, "it has one kind of evidence")
        halfspaces = read_halfspaces(entry["halfspaces"], self.step)
        wanted = {"required": "accurate", "empty": "accurate", "witness": "inaccurate", "reason": "undecided"}
        if wanted.get(kinds[0], verdict) != verdict:
            raise Rejected(self.step, f"its evidence is not that of the verdict {verdict}")
        match kinds[0]:
            case "open":
                if verdict == "undecided":
                    raise Rejected(self.step, "a reason is given for the verdict undecided")
                return verdict, text(entry["open"], self.step)
            case "reason":
                text(entry["reason"], self.step)
                return verdict, None
            case "empty":
                self._empty(entry["empty"], halfspaces)
                self.shown.append(Shown(self.number, entry["answer"], halfspaces))
                return verdict, None
            case "witness":
                return verdict, self._witness(entry["witness"])
            case _:
                return verdict, self._proved(entry["required"], entry["answer"], halfspaces)

    def _empty(self, value: object, halfspaces: Sequence[Halfspace]) -> None:
        """No input of the class is as far from other answers as the claim's alpha."""
        greatest = greatest_alpha(value, halfspaces, self.budget, self.step)
        least = Fraction(0)
        if self.claim.alpha != "dd":
            least = _at_least(self.claim, self.theorem, self.budget, self.step)
        if greatest is None or greatest >= least:
            raise Rejected(self.step, "the class is not shown to be empty")

    def _witness(self, value: object) -> str | None:
        """An input that refutes the claim, with its answer and dd: the row of a table."""
        step = f"{self.step}, witness"
        entry = record(value, step, ("input", "output", "dd", "obligation"), ("gamma",))
        for side in ("input", "output"):
            for cell in _object(entry[side]).values():
                text(cell, step)
        own = {} if "gamma" not in entry else {"gamma": text(entry["gamma"], step)}
        if ("gamma" in entry) is not (self.claim.gamma == "free"):
            raise Rejected(step, "it has a gamma of its own exactly where gamma is left open")
        dd = text(entry["dd"], step)
        alpha, gamma, beta = self.claim.terms(own, dd, self.budget, step)
        if alpha is not None and dd != "inf" and rational(dd, step) < alpha:
            raise Rejected(step, "nothing is claimed there: dd is less than alpha")
        decided, intervals = self._decided(entry["obligation"], step)
        if intervals != self.claim.intervals:
            raise Rejected(step, "its obligation is about other eps than the claim")
        assert self.theorem is not None, "something is said"
        machine = self.theorem.machine
        names = [[machine.slots[slot].name for slot in machine.numbered(side)] for side in ("input", "output")]
        if set(entry["input"]) != set(names[0]) or not set(entry["output"]) <= set(names[1]):
            raise Rejected(step, "its inputs and outputs are not those of the program")
        inputs = [entry["input"][name] for name in names[0]]
        outputs = [entry["output"].get(name) for name in names[1]]
        self.theorem.check_distance(inputs, outputs, dd, computed=self.theorem.ideal is not None, step=step)
        self.theorem.check(inputs, outputs, gamma, self.stated.values[decided.probability], step)
        return self._same(decided, beta, "inaccurate", step)

    def _proved(self, value: object, answer: Mapping[str, str], halfspaces: Sequence[Halfspace]) -> str | None:
        """The bound of the class, and that it is enough."""
        step = self.step
        shares, jointly = ("shares", "obligation"), ("kind", "slacks", "obligations")
        own = jointly if "kind" in _object(value) else shares
        entry = record(value, step, ("variable", "dd", "greatest", *own))
        dd = optional_text(entry["dd"], step)
        wanted = required(self.claim, variable_of(entry["variable"], step), dd, self.budget, step)
        assert self.theorem is not None, "something is said"
        if self.claim.alpha != "dd":
            wanted = replace(wanted, alpha=(_at_least(self.claim, self.theorem, self.budget, step), Fraction(0)))
        greatest = greatest_alpha(entry["greatest"], halfspaces, self.budget, step)
        numbers = [entry["obligation"]] if own is shares else items(entry["obligations"], step)
        found = [self._decided(number, step) for number in numbers]
        if any(intervals != intervals_of(self.claim, wanted, greatest) for _, intervals in found):
            raise Rejected(step, "its obligation is about other values than the claim")
        behind = Behind(halfspaces, whole_inputs(self.theorem.machine))
        slacks: Slacks = {}
        if own is jointly:
            names = {Kind.VERTICES.value: Kind.VERTICES, Kind.TAILS.value: Kind.TAILS}
            kind = names.get(text(entry["kind"], step))
            if kind is None or not found:
                raise Rejected(step, "it has no bound of a known kind")
            if kind is Kind.VERTICES:
                self.loose.update(decided.probability for decided, _ in found)
            for item in items(entry["slacks"], step):
                slack_bound(item, behind, wanted, slacks, self.budget, step)
        else:
            total = self.stated.sums[found[0][0].probability]
            kind = Kind.OTHERS if total.subtracted else Kind.WAYS
            slacks = check_bound(entry["shares"], total, behind, wanted, self.budget, step)
        values = tuple(self.stated.values[decided.probability] for decided, _ in found)
        self.shown.append(Shown(self.number, answer, halfspaces, kind, wanted, dd, values, slacks))
        missing = [self._same(decided, wanted.beta, "accurate", step) for decided, _ in found]
        return next((why for why in missing if why is not None), None)

    def _decided(self, value: object, step: str) -> tuple[Decided, tuple[Interval, ...]]:
        return self.stated.decided[index(value, self.stated.decided, step)]

    def _same(self, decided: Decided, beta: Least | None, verdict: str, step: str) -> str | None:
        """That the obligation is about this beta, with this verdict; why it is not certified."""
        if decided.verdict != verdict:
            raise Rejected(step, f"its obligation is {decided.verdict}, not {verdict}")
        stated = self.stated.betas[decided.beta]
        if stated is not None and (beta is None or not same_least(stated, beta, self.budget, step)):
            raise Rejected(step, "its beta is not what is claimed")
        return decided.open

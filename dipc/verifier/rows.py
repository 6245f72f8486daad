"""Rows: what is claimed at each, that its obligation is about that, and the verdict that follows from all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dipc.verifier import reading as read
from dipc.verifier.claims import Beta, Claim, same_beta
from dipc.verifier.functions import ONE
from dipc.verifier.obligations import VERDICTS, Context, Decided, Tally, end, worst
from dipc.verifier.probability import Theorem
from dipc.verifier.reading import Budget, Rejected, in_step

#: What ranges of gamma rest on.
GROWTH = "that beta never grows with gamma or alpha"
STEADINESS = "that the answers within gamma are the same for all gamma of a range"


def _own(value: object) -> dict[str, str]:
    """The cells of a row that win over the claim."""
    names = ("alpha", "beta", "gamma")
    cells = zip(names, read.fields(value, {}, dict.fromkeys(names, read.text)), strict=True)
    return {name: cell for name, cell in cells if cell is not None}


_ROW: read.Table = {
    "row": read.natural,
    "input": read.listed(read.text),
    "output": read.listed(read.nullable(read.text)),
}
_CELLS: read.Table = {"dd": read.text, "own": _own}
_VERDICT: read.Table = {"verdict": read.one_of(*VERDICTS)}
_NUMBERS: read.Table = {
    "probability": read.nullable(read.natural),
    "beta": read.natural,
    "obligation": read.nullable(read.natural),
}
_WORDS: read.Table = {"vacuous": read.boolean, "reason": read.text, "open": read.text}


@dataclass(frozen=True, slots=True)
class Result:
    """What is said of a row, or of a range of gamma: its probability, beta and obligation by number."""

    verdict: str
    probability: int | None
    beta: int
    obligation: int | None
    vacuous: bool | None
    reason: str | None
    open: str | None


@dataclass(frozen=True, slots=True)
class Cells:
    """The inputs and outputs of a row, its dd, and its own alpha, beta and gamma."""

    inputs: list[str]
    outputs: list[str | None]
    dd: str | None
    own: Mapping[str, str]


#: The verdict, whether nothing is claimed, and why it is not certified.
_Verdict = tuple[str, bool, str | None]


@dataclass
class Rows:
    """Checks rows against the claim and the obligations."""

    claim: Claim
    context: Context
    decided: Sequence[Decided]
    inputs: int
    outputs: int
    #: The program whose probabilities they state.
    theorem: Theorem
    #: Whether their dd is said to be that of the program's `ideal`.
    computed: bool
    #: What was not derived of ranges of gamma, with the number of rows.
    ranged: Counter[str] = field(default_factory=Counter)
    tally: Tally = field(default_factory=Tally)
    #: How many have an alpha, beta or gamma of their own.
    own: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("alpha", "beta", "gamma"), 0))
    #: Pairs of a claim and the beta of a row that are equal.
    _equal: set[tuple[int, int]] = field(default_factory=set)

    def check(self, value: object, budget: Budget) -> None:
        """All rows, numbered from 1."""
        for number, item in enumerate(read.items(value), start=1):
            with in_step(f"row {number}"):
                budget.spend(20)
                cells, (verdict, vacuous, missing) = self._row(number, item, budget)
            for name in cells.own:
                self.own[name] += 1
            self.tally.add(verdict, missing, vacuous=vacuous)

    def _row(self, number: int, value: object, budget: Budget) -> tuple[Cells, _Verdict]:
        if isinstance(value, dict) and "ranges" in value:
            stated = read.fields(value, {**_ROW, **_VERDICT, "ranges": read.items}, {**_CELLS, "reason": read.text})
            place, inputs, outputs, verdict, ranges, dd, own, reason = stated
            cells = self._cells(number, place, inputs, outputs, dd, own)
            return cells, self._ranges(cells, ranges, verdict, reason, budget)
        table = {**_ROW, "alpha": end, "gamma": read.rational, **_VERDICT, **_NUMBERS}
        place, inputs, outputs, alpha, gamma, *result, dd, own = read.fields(value, table, {**_WORDS, **_CELLS})
        cells = self._cells(number, place, inputs, outputs, dd, own)
        read_result = Result(*result)
        terms = self.claim.terms(cells.own, dd, budget)
        if alpha != terms[0]:
            raise Rejected("alpha differs from the claim")
        if gamma != terms[1]:
            raise Rejected("gamma differs from the claim")
        if (id(terms), read_result.beta) not in self._equal:
            self._require_same(terms[2], read_result.beta, budget)
            self._equal.add((id(terms), read_result.beta))
        is_far = dd is None or dd == "inf" or alpha is None
        vacuous = not is_far and self.claim.is_near(cells.own, read.rational(dd), alpha)
        return cells, self._result(cells, read_result, gamma, vacuous)

    def _cells(
        self,
        number: int,
        place: int,
        inputs: list[str],
        outputs: list[str | None],
        dd: str | None,
        own: dict[str, str] | None,
    ) -> Cells:
        if place != number:
            raise Rejected("the rows are not numbered one after the other from 1")
        if (len(inputs), len(outputs)) != (self.inputs, self.outputs):
            raise Rejected("it does not have one value for each input and output")
        if dd is not None:
            self.theorem.check_distance(inputs, outputs, dd, computed=self.computed)
        return Cells(inputs, outputs, dd, own or {})

    def _ranges(
        self, cells: Cells, ranges: Sequence[object], verdict: str, reason: str | None, budget: Budget
    ) -> _Verdict:
        """The same for a row with gamma left open: together the ranges are all gamma, and each has its obligation."""
        if self.claim.gamma != "free" or "gamma" in cells.own:
            raise Rejected("it has ranges of gamma, but gamma is not left open")
        if (reason is not None) is bool(ranges) or (not ranges and verdict != "undecided"):
            raise Rejected("gamma is left open, but it has no ranges of gamma")
        verdicts: list[str] = []
        missing: str | None = None
        all_vacuous = bool(ranges)
        position: Fraction | None = Fraction(0)
        doubts: set[str] = set()
        for number, item in enumerate(ranges):
            with in_step(f"range {number}"):
                to, alpha, *result = read.fields(item, {"to": end, "alpha": end, **_VERDICT, **_NUMBERS}, _WORDS)
                stated = Result(*result)
                if position is None or (to is not None and to <= position):
                    raise Rejected("it must end after the one before")
                greatest, least, vacuous = self.claim.range(cells.own, cells.dd, (position, to), budget)
                if alpha != greatest:
                    raise Rejected("alpha differs from the claim")
                self._require_same(least, stated.beta, budget)
                _, _, why = self._result(cells, stated, position, vacuous)
                if least is not None and not vacuous and not self.claim.never_grows(cells.own, budget):
                    doubts.add(GROWTH)
                if stated.verdict == "inaccurate":
                    doubt = self.theorem.steadiness(cells.inputs, cells.outputs, (position, to))
                    doubts |= set() if doubt is None else {f"{STEADINESS}: {doubt}"}
                verdicts.append(stated.verdict)
                missing = missing or (why if stated.verdict != "undecided" else None)
                all_vacuous = all_vacuous and vacuous
                position = to
        if ranges and position is not None:
            raise Rejected("its ranges do not cover every gamma")
        self.ranged.update(doubts)
        together = worst(verdicts) if ranges else "undecided"
        if verdict != together:
            raise Rejected(f"the verdicts of its ranges give {together} together")
        return verdict, all_vacuous, missing

    def _result(self, cells: Cells, stated: Result, gamma: Fraction, vacuous: bool) -> _Verdict:
        """The verdict on a row with these cells, or on one of its ranges of gamma."""
        verdict = stated.verdict
        if (stated.vacuous or False) is not vacuous:
            raise Rejected(f"it {'holds vacuously' if vacuous else 'does not hold vacuously'}, and says otherwise")
        if stated.probability is not None:
            value = self.context.values[read.index(stated.probability, self.context.values)]
            self.theorem.check(cells.inputs, cells.outputs, gamma, value)
        if (stated.reason is not None) != (verdict == "undecided"):
            raise Rejected("it must give a reason if it is undecided, and only then")
        if vacuous:
            if verdict != "accurate" or stated.obligation is not None:
                raise Rejected("it holds vacuously, so it must be accurate and have no obligation")
            return verdict, True, None
        if stated.obligation is None:
            if (stated.open is None) is (verdict != "undecided"):
                raise Rejected(f"it is {verdict}, but has no obligation")
            return verdict, False, stated.open
        if stated.open is not None:
            raise Rejected("it has an obligation but says that it has none")
        decided = self.decided[read.index(stated.obligation, self.decided)]
        if decided.beta is not self.context.betas[stated.beta]:
            raise Rejected("its obligation is about a different beta")
        # No probability is less than 0, so what 0 is enough for holds whatever it is.
        of_nothing = verdict == "accurate" and decided.value == ({}, ONE)
        own = None if stated.probability is None else self.context.values[stated.probability]
        if decided.value is not own and not of_nothing:
            raise Rejected("its obligation is about a different probability")
        if verdict != decided.verdict:
            raise Rejected(f"its obligation is {decided.verdict}, not {verdict}")
        return verdict, False, decided.open

    def _require_same(self, claimed: Beta | None, place: int, budget: Budget) -> None:
        """That a stated beta is the one that is claimed."""
        stated = self.context.betas[read.index(place, self.context.betas)]
        # Without a stated beta nothing is certified, so there is nothing to compare.
        if stated is not None and (claimed is None or not same_beta(stated, claimed, budget)):
            raise Rejected("its beta differs from the claim")

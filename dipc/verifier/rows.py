"""Rows of a table: the claim at each row, its obligation, and the verdict about all rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dipc.verifier import reading as read
from dipc.verifier.claims import Beta, Claim, same_beta
from dipc.verifier.functions import ONE
from dipc.verifier.implication import seen_below_one
from dipc.verifier.obligations import VERDICTS, Context, Decided, Tally, end, worst
from dipc.verifier.probability import Theorem
from dipc.verifier.reading import Budget, Rejected, in_step

#: The parts on trust of ranges of gamma.
GROWTH = "that beta never grows with gamma or alpha"
STEADINESS = "that the answers within gamma are the same for all gamma of a range"


def _own(value: object) -> dict[str, str]:
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
    """The verdict that a certificate states for a row, or for a range of gamma, with its evidence.

    `probability`, `beta` and `obligation` are indices of entries of the certificate. `vacuous` is true if nothing is
    claimed. `reason` says why the verdict is undecided, and `open` why it has no proof.
    """

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

    @property
    def states_nothing(self) -> bool:
        """True if no output is stated, so that every answer is right."""
        return all(output is None for output in self.outputs)


#: The verdict, whether nothing is claimed, and why it is not certified.
_Verdict = tuple[str, bool, str | None]


@dataclass(frozen=True, slots=True)
class GammaFact:
    """The fact Pr >= 1 - `beta`, proved for a single gamma or for a range of gamma.

    If the claim leaves gamma open, the range contains `gamma` and all greater numbers less than `to`, where None is
    infinity. If the claim has one gamma, `gamma` is this number, and `to` is None. `decided` is the obligation that
    proves the fact, None if nothing is claimed or nothing was proved.
    """

    gamma: Fraction
    to: Fraction | None
    beta: Beta | None
    decided: Decided | None


@dataclass(frozen=True, slots=True)
class Row:
    """A checked row: its cells, its verdict, whether it is vacuous, and the fact proved for each gamma.

    `missing` says why the verdict is not certified, None if it is.
    """

    cells: Cells
    verdict: str
    vacuous: bool
    missing: str | None
    shown: tuple[GammaFact, ...]


@dataclass
class Rows:
    """A check of the rows of a table against `claim`.

    The table has `inputs` columns of inputs and `outputs` columns of outputs. `context` has the probabilities and betas
    of the certificate, `decided` its checked obligations, and `theorem` the program. `computed` is true if the
    certificate says that dd is that of the program's ideal.

    The results are `checked`, the rows in order, and `tally`, which counts their verdicts. `own` has the number of rows
    with an alpha, beta or gamma of their own. `ranged` counts rows whose ranges of gamma are taken on trust, by the
    text of what is not proved.
    """

    claim: Claim
    context: Context
    decided: Sequence[Decided]
    inputs: int
    outputs: int
    theorem: Theorem
    computed: bool
    ranged: Counter[str] = field(default_factory=Counter)
    tally: Tally = field(default_factory=Tally)
    own: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("alpha", "beta", "gamma"), 0))
    checked: list[Row] = field(default_factory=list)
    #: Whether the beta of an obligation was seen to be below 1, by the identity of the obligation.
    _says: dict[int, bool] = field(default_factory=dict)
    #: The pairs of a claim's terms and a stated beta that were found equal.
    _equal: set[tuple[int, int]] = field(default_factory=set)
    #: The facts proved about the current row.
    _shown: list[GammaFact] = field(default_factory=list)

    def check(self, value: object, budget: Budget) -> None:
        """Check all rows in `value`, numbered from 1, with the work charged to `budget`.

        Raises Rejected at the first wrong row.
        """
        for number, item in enumerate(read.items(value), start=1):
            with in_step(f"row {number}"):
                budget.spend(20)
                self._shown = []
                cells, (verdict, vacuous, missing) = self._row(number, item, budget)
                if verdict == "accurate" and not vacuous and missing is None:
                    vacuous = not any(self._says_something(shown.decided, budget) for shown in self._shown)
            for name in cells.own:
                self.own[name] += 1
            self.checked.append(Row(cells, verdict, vacuous, missing, tuple(self._shown)))
            self.tally.add(verdict, missing, vacuous=vacuous)

    def _says_something(self, decided: Decided | None, budget: Budget) -> bool:
        """True if the beta of the obligation `decided` is shown to be below 1 at some eps of the claim.

        False if `decided` is None, or if it states the probability 0. Charges its work to `budget`.
        """
        if decided is None:
            return False
        known = self._says.get(id(decided))
        if known is None:
            known = decided.value != ({}, ONE) and seen_below_one(decided.beta, decided.intervals, budget)
            self._says[id(decided)] = known
        return known

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
        vacuous = cells.states_nothing or (not is_far and self.claim.is_near(cells.own, read.rational(dd), alpha))
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
        if dd is None and self.computed:
            raise Rejected("dd is said to come from the `ideal`, but the row does not have it")
        self.theorem.check_distance(inputs, outputs, dd, computed=self.computed)
        return Cells(inputs, outputs, dd, own or {})

    def _ranges(
        self, cells: Cells, ranges: Sequence[object], verdict: str, reason: str | None, budget: Budget
    ) -> _Verdict:
        """Return the verdict on the row `cells` with gamma left open: (verdict, is vacuous, the missing proof).

        The last item says why the verdict has no proof, None if it has one. The list `ranges` has the JSON data of each
        range of gamma: its end, and the verdict on the claim there with its evidence. Together, the ranges must cover
        all gamma, and their verdicts must give the `verdict` that the certificate states. If the row has no ranges, the
        certificate states the `reason`. Charges its work to `budget`. Raises Rejected if a range is wrong.
        """
        if self.claim.gamma != "free" or "gamma" in cells.own:
            raise Rejected("the row has ranges of gamma, but gamma is not left open")
        if (reason is not None) is bool(ranges) or (not ranges and verdict != "undecided"):
            raise Rejected("gamma is left open, but the row has no ranges of gamma")
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
                    raise Rejected("the end of the range must be after its beginning")
                greatest, least, near = self.claim.range(cells.own, cells.dd, (position, to), budget)
                vacuous = near or cells.states_nothing
                if alpha != greatest:
                    raise Rejected("alpha differs from the claim")
                self._require_same(least, stated.beta, budget)
                _, _, why = self._result(cells, stated, position, vacuous, to)
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
            raise Rejected("the ranges of the row do not cover every gamma")
        self.ranged.update(doubts)
        together = worst(verdicts) if ranges else "undecided"
        if verdict != together:
            raise Rejected(f"together, the verdicts of the ranges give `{together}`, which is not the verdict stated")
        return verdict, all_vacuous, missing

    def _result(
        self, cells: Cells, stated: Result, gamma: Fraction, vacuous: bool, to: Fraction | None = None
    ) -> _Verdict:
        verdict = stated.verdict
        if (stated.vacuous or False) is not vacuous:
            raise Rejected(f"it {'holds vacuously' if vacuous else 'does not hold vacuously'}, but states the opposite")
        if stated.probability is not None:
            value = self.context.values[read.index(stated.probability, self.context.values)]
            self.theorem.check(cells.inputs, cells.outputs, gamma, value)
        if (stated.reason is not None) != (verdict == "undecided"):
            raise Rejected("it must give a reason if it is undecided, and only then")
        number = stated.obligation
        decided = None if number is None else self.decided[read.index(number, self.decided)]
        self._shown.append(
            GammaFact(gamma, to, self.context.betas[read.index(stated.beta, self.context.betas)], decided)
        )
        if vacuous:
            if verdict != "accurate" or decided is not None:
                raise Rejected("it holds vacuously, so it must be accurate and have no obligation")
            return verdict, True, None
        if decided is None:
            if (stated.open is None) is (verdict != "undecided"):
                raise Rejected(f"it is {verdict}, but has no obligation")
            return verdict, False, stated.open
        if stated.open is not None:
            raise Rejected("it has an obligation but says that it has none")
        if decided.beta is not self.context.betas[stated.beta]:
            raise Rejected("its obligation is about a different beta")
        # No probability is less than 0: an obligation proved for 0 holds for every probability.
        of_nothing = verdict == "accurate" and decided.value == ({}, ONE)
        own = None if stated.probability is None else self.context.values[stated.probability]
        if decided.value is not own and not of_nothing:
            raise Rejected("its obligation is about a different probability")
        if verdict != decided.verdict:
            raise Rejected(f"its obligation is {decided.verdict}, not {verdict}")
        return verdict, False, decided.open

    def _require_same(self, claimed: Beta | None, place: int, budget: Budget) -> None:
        stated = self.context.betas[read.index(place, self.context.betas)]
        # Without a stated beta nothing is certified, so there is nothing to compare.
        if stated is not None and (claimed is None or not same_beta(stated, claimed, budget)):
            raise Rejected("its beta differs from the claim")

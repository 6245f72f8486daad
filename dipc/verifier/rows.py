"""Rows: what is claimed at each, that its obligation is about that, and the verdict that follows from all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dipc.verifier.claims import Beta, Claim, Terms, mentions, never_grows, same_beta
from dipc.verifier.functions import ONE
from dipc.verifier.obligations import VERDICTS, Context, Decided, index, worst
from dipc.verifier.probability import Theorem
from dipc.verifier.reading import Budget, Rejected, items, optional_text, pair, rational, record, text
from dipc.verifier.syntax import Expr

#: What ranges of gamma rest on.
GROWTH = "that beta never grows with gamma or alpha"
STEADINESS = "that within a range of gamma the answers within gamma are the same"

_REQUIRED = ("row", "input", "output", "alpha", "gamma", "probability", "beta", "obligation", "verdict")
_RANGED = ("row", "input", "output", "ranges", "verdict")
_RANGE = ("gamma", "alpha", "probability", "beta", "obligation", "verdict")
_OPTIONAL = ("dd", "own", "vacuous", "reason", "open")


@dataclass(frozen=True)
class Found:
    """The verdict that follows from the rows, how many there are of each kind, and those stated without a proof; how
    many have an alpha, beta or gamma of their own, and a dd."""

    verdict: str
    counts: dict[str, int]
    open_rows: tuple[tuple[int, str], ...]
    own: dict[str, int]
    distances: int


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
    #: Pairs of what is claimed and the beta of a row that were found equal.
    _equal: set[tuple[int, int]] = field(default_factory=set)
    #: Whether a beta never grows with gamma, by the expression and whether alpha is a number.
    _falling: dict[tuple[str | Expr, bool], bool] = field(default_factory=dict)

    def check(self, value: object, budget: Budget) -> Found:
        """All rows, numbered from 1."""
        counts = dict.fromkeys(("rows", *VERDICTS, "vacuous"), 0)
        open_rows: list[tuple[int, str]] = []
        own = dict.fromkeys(("alpha", "beta", "gamma"), 0)
        distances = 0
        for number, item in enumerate(items(value), start=1):
            with in_step(f"row {number}"):
                budget.spend(20)
                ranged = isinstance(item, dict) and "ranges" in item
                row = record(item, _RANGED if ranged else _REQUIRED, ("dd", "own", "reason") if ranged else _OPTIONAL)
                if type(row["row"]) is not int or row["row"] != number:
                    raise Rejected("the rows are not numbered one after the other from 1")
                verdict, vacuous, missing = (self._ranges if ranged else self._row)(row, budget, step)
                for name in row.get("own", {}):
                    own[name] += 1
                distances += row.get("dd") is not None
                counts["rows"] += 1
                counts[verdict] += 1
                counts["vacuous"] += vacuous
                if missing is not None and verdict != "undecided":
                    open_rows.append((number, missing))
        if not counts["rows"]:
            raise Rejected("there are none", "rows")
        verdict = worst([verdict for verdict in VERDICTS if counts[verdict]])
        return Found(verdict, counts, tuple(open_rows), own, distances)

    def _row(self, row: Mapping[str, Any], budget: Budget) -> tuple[str, bool, str | None]:
        """The verdict, whether it is vacuous, and why it is not certified."""
        own, dd = self._cells(row)
        terms = self.claim.terms(own, dd, budget)
        alpha = self._stated(row, terms)
        beta = index(row["beta"], self.context.betas)
        self._check_beta(terms, beta, budget)
        nearest = None if dd is None or dd == "inf" or alpha is None else (rational(dd), alpha)
        vacuous = nearest is not None and self.claim.is_near(own, *nearest)
        return self._found(row, row, terms[1], beta, vacuous)

    def _ranges(self, row: Mapping[str, Any], budget: Budget) -> tuple[str, bool, str | None]:
        """The same for a row with gamma left open: together the ranges are all gamma, and each has its obligation."""
        own, dd = self._cells(row)
        if self.claim.gamma != "free" or "gamma" in own:
            raise Rejected("it has ranges of gamma, and gamma is not left open")
        ranges = items(row["ranges"])
        reason = optional_text(row.get("reason"))
        if (reason is not None) is bool(ranges) or (not ranges and row["verdict"] != "undecided"):
            raise Rejected("it has no ranges of gamma")
        verdicts: list[str] = []
        missing: str | None = None
        vacuous = bool(ranges)
        position = "0"
        doubts: set[str] = set()
        for number, item in enumerate(ranges):
            with in_step(f"range {number}"):
                entry = record(item, _RANGE, ("vacuous", "reason", "open"))
                ends = [text(end) for end in pair(entry["gamma"])]
                if ends[0] != position:
                    raise Rejected("it does not begin where the one before ends")
                position = ends[1]
                if position != "inf" and rational(position) <= rational(ends[0]):
                    raise Rejected("it ends before it begins")
                alpha, least, nothing = self.claim.range(own, dd, ends, budget)
                if text(entry["alpha"]) != ("inf" if alpha is None else str(alpha)):
                    raise Rejected("alpha is not what is claimed")
                beta = index(entry["beta"], self.context.betas)
                self._require_same(least, beta, budget)
                low = rational(ends[0])
                verdict, _, why = self._found(row, entry, low, beta, nothing)
                if least is not None and not nothing and not self._never_grows(own, budget):
                    doubts.add(GROWTH)
                if verdict == "inaccurate":
                    high = None if position == "inf" else rational(position)
                    doubt = self.theorem.steadiness(row["input"], row["output"], (low, high))
                    doubts |= set() if doubt is None else {f"{STEADINESS}: {doubt}"}
                verdicts.append(verdict)
                missing = missing or (why if verdict != "undecided" else None)
                vacuous = vacuous and nothing
        if ranges and position != "inf":
            raise Rejected("its ranges are not all gamma")
        self.ranged.update(doubts)
        together = worst(verdicts) if ranges else "undecided"
        if row["verdict"] != together:
            raise Rejected(f"its ranges give {together}")
        return row["verdict"], vacuous, missing

    def _never_grows(self, own: Mapping[str, str], budget: Budget) -> bool:
        """Whether beta never grows with gamma, nor with alpha where that is no number."""
        alpha = own.get("alpha", self.claim.alpha)
        fixed = alpha is not None and alpha != "dd" and not mentions(alpha, "gamma")
        beta = own.get("beta", self.claim.beta)
        assert beta is not None, "its value was compared"
        key = (beta, fixed)
        if key not in self._falling:
            distances = frozenset({"gamma"} if fixed else {"alpha", "gamma"})
            self._falling[key] = never_grows(beta, distances, self.claim.constants, budget)
        return self._falling[key]

    def _found(
        self, cells: Mapping[str, Any], row: Mapping[str, Any], gamma: Fraction, beta: int, vacuous: bool
    ) -> tuple[str, bool, str | None]:
        """What was found of a row with these cells, of all of it or of one of its ranges of gamma."""
        if row.get("vacuous", False) is not vacuous:
            raise Rejected(f"it {'holds vacuously' if vacuous else 'does not hold vacuously'}, and says otherwise")
        verdict = row["verdict"]
        if verdict not in VERDICTS:
            raise Rejected(f"the verdict is not one of {', '.join(VERDICTS)}")
        probability = row["probability"]
        if probability is not None:
            value = self.context.values[index(probability, self.context.values)]
            self.theorem.check(cells["input"], cells["output"], gamma, value)
        reason = optional_text(row.get("reason"))
        if (reason is not None) != (verdict == "undecided"):
            raise Rejected("a reason is given exactly for the verdict undecided")
        if vacuous:
            if verdict != "accurate" or row["obligation"] is not None:
                raise Rejected("it holds vacuously, so it is accurate without an obligation")
            return verdict, True, None
        without = optional_text(row.get("open"))
        if row["obligation"] is None:
            if (without is None) is (verdict != "undecided"):
                raise Rejected(f"{verdict} without an obligation")
            return verdict, False, without
        if without is not None:
            raise Rejected("it has an obligation, and says that it has none")
        decided = self.decided[index(row["obligation"], self.decided)]
        if decided.beta != beta:
            raise Rejected("its obligation is about another beta")
        # No probability is less than 0, so what 0 is enough for holds whatever it is.
        of_nothing = verdict == "accurate" and self.context.values[decided.probability] == ({}, ONE)
        if decided.probability != probability and not of_nothing:
            raise Rejected("its obligation is about another probability")
        if verdict != decided.verdict:
            raise Rejected(f"its obligation is {decided.verdict}, not {verdict}")
        return verdict, False, decided.open

    def _cells(self, row: Mapping[str, Any]) -> tuple[dict[str, str], str | None]:
        """The row's own alpha, beta and gamma, and its dd."""
        inputs = items(row["input"])
        outputs = items(row["output"])
        if (len(inputs), len(outputs)) != (self.inputs, self.outputs):
            raise Rejected("it has not a value for each input and output")
        for cell in inputs:
            text(cell)
        for cell in outputs:
            optional_text(cell)
        own = record(row.get("own", {}), (), ("alpha", "beta", "gamma"))
        dd = optional_text(row.get("dd"))
        if dd is not None:
            self.theorem.check_distance(inputs, outputs, dd, computed=self.computed)
        return {name: text(value) for name, value in own.items()}, dd

    def _stated(self, row: Mapping[str, Any], terms: Terms) -> Fraction | None:
        """alpha, None for infinity; it and gamma are as claimed."""
        alpha = None if row["alpha"] == "inf" else rational(row["alpha"])
        if alpha != terms[0]:
            raise Rejected("alpha is not what is claimed")
        if rational(row["gamma"]) != terms[1]:
            raise Rejected("gamma is not what is claimed")
        return alpha

    def _check_beta(self, terms: Terms, beta: int, budget: Budget) -> None:
        key = (id(terms), beta)
        if key in self._equal:
            return
        self._require_same(terms[2], beta, budget)
        self._equal.add(key)

    def _require_same(self, claimed: Beta | None, beta: int, budget: Budget) -> None:
        """That a stated beta is the one that is claimed."""
        stated = self.context.betas[beta]
        # Without a stated beta nothing is certified, so there is nothing to compare.
        if stated is not None and (claimed is None or not same_beta(stated, claimed, budget)):
            raise Rejected("its beta is not what is claimed")

"""Classes of inputs as rows of a report: the fields of `dipc.check/1`, and what the class is and how it was decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, overload

from dipc.sources.every_input.evidence import ClassEvidence
from dipc.sources.outcome import RowResult


class Method(StrEnum):
    """How a class was decided."""

    CORNER = "corner"
    """One input attains the least probability of the class, and so decides it."""
    BOUND = "bound"
    """A lower bound of the probabilities of the class meets the claim."""
    WITNESS = "witness"
    """An input refutes the claim."""
    UNION = "union bound"
    """A union bound over single comparisons proves the claim for every m from some one on."""
    EMPTY = "empty"
    """No input of the class is so far from other answers: the claim says nothing about it."""
    NOTHING = "nothing"
    """beta is at least 1 everywhere: the claim says nothing, whatever the probabilities are."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ClassNote:
    """What a row that stands for a whole class of inputs says besides.

    `answer` is det on the class, real outputs as forms of the inputs; `where` the inequalities of the class. `corner`
    is the input that decides, as forms of the open distance, empty where the proof needs none or has none. `variable`
    is what the closed forms of the obligation are functions of, written `eps` there: `alpha*eps`, `gamma*eps` or `eps`;
    `range` its values. `probability` is the least probability of the class where `exact`, else a lower bound of all;
    the claim for the class is `probability` >= 1 - `beta` for every value of the variable.
    """

    answer: Mapping[str, str]
    where: tuple[str, ...]
    method: Method
    variable: str = "eps"
    range: str = ""
    corner: Mapping[str, str] = field(default_factory=dict)
    probability: str | None = None
    beta: str | None = None
    exact: bool = False
    #: Of a row about all numbers of queries from some one on: the least number that the claim is about, and that one.
    numbers: tuple[int, int] | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "answer": dict(self.answer),
            "where": list(self.where),
            "method": str(self.method),
            "exact": self.exact,
            "corner": dict(self.corner) or None,
            "obligation": {
                "variable": self.variable,
                "range": self.range,
                "probability": self.probability,
                "beta": self.beta,
            },
        }


@dataclass(frozen=True, slots=True)
class ClassResult(RowResult):
    """One class, decided: `input` is one of its inputs, for an inaccurate one the counterexample's. Where it takes more
    than one row to say what was found, these are `rows`."""

    note: ClassNote | None = None
    rows: tuple[ClassResult, ...] = ()
    evidence: ClassEvidence | None = field(default=None, compare=False, repr=False)

    @property
    def variable(self) -> str:
        return "eps" if self.note is None else str(self.note.variable)

    def as_json(self) -> dict[str, Any]:
        result = RowResult.as_json(self)
        if self.note is not None:
            result["class"] = self.note.as_json()
        return result


class ReportedRows(Sequence[RowResult]):
    """The rows of a report, numbered: for each result of a case those that say what was found."""

    def __init__(self) -> None:
        self.results: list[RowResult] = []
        self._rows: list[RowResult] = []

    def extend(self, result: RowResult) -> None:
        self.results.append(result)
        for row in (result.rows if isinstance(result, ClassResult) else ()) or (result,):
            self._rows.append(replace(row, row=len(self._rows) + 1))

    @overload
    def __getitem__(self, at: int) -> RowResult: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[RowResult]: ...

    def __getitem__(self, at: int | slice) -> RowResult | Sequence[RowResult]:
        return self._rows[at]

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReportedRows) and self.results == other.results

    def __hash__(self) -> int:
        raise TypeError("rows of a report grow, and have no hash")

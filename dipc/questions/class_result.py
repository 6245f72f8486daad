"""Classes of inputs as rows of a report: the fields of `dipc.check/1`, and what the class is and how it was decided."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, overload

from dipc.chain.affine import Affine, affine_text, comparison_text
from dipc.chain.constraints import Constraint
from dipc.claims.given import show_value
from dipc.decide.obligation import Obligation
from dipc.program.ideal import Region
from dipc.questions.outcome import RowResult
from dipc.rules.evidence import Empty, Proved
from dipc.rules.halfspaces import Corner, Moving
from dipc.text.core import Value
from dipc.text.program import CoreProgram


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
class Refuted:
    """The row of a table at which the claim is refuted, with its dd; `gamma` is its own where gamma is left open."""

    row: RowResult
    dd: str
    gamma: Fraction | None
    obligation: Obligation


@dataclass(frozen=True, slots=True)
class ClassEvidence:
    """Every input of the class at which something is claimed is in the half-spaces; None: undecided."""

    halfspaces: tuple[Moving, ...]
    found: Proved | Refuted | Empty | None


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


# --- describe -------------------------------------------------------------------------------------
#
# Classes of inputs and their corners as texts.


def answer_texts(core: CoreProgram, region: Region) -> dict[str, str]:
    """det on the region: a value for every output, or a form of the inputs."""
    return {
        core.slots[slot].name: form_text(core, value) if isinstance(value, Affine) else show_value(value)
        for slot, value in zip(core.outputs, region.answer, strict=True)
    }


def guard_texts(core: CoreProgram, guards: Iterable[Constraint], finite: Mapping[int, Value]) -> tuple[str, ...]:
    """The inequalities of a class, `q[1] < 0`, after its finite inputs."""
    fixed = [f"{core.slots[slot].name} = {show_value(value)}" for slot, value in finite.items()]
    texts = [comparison_text(g.difference, g.op.value, _no_noise, _names(core)) for g in guards]
    return tuple(dict.fromkeys([*fixed, *texts]))


def facet_texts(core: CoreProgram, facets: Iterable[Moving]) -> tuple[str, ...]:
    """Facets that move with alpha: `-x - 1 >= 2*alpha`."""
    return tuple(f"{form_text(core, facet.form)} >= {_line(Fraction(0), facet.step, 'alpha')}" for facet in facets)


def corner_texts(core: CoreProgram, found: Corner, finite: Mapping[int, Value], letter: str) -> dict[str, str]:
    """The corner as forms of the open distance `letter`."""
    texts: dict[str, str] = {}
    for slot in core.inputs:
        name = core.slots[slot].name
        if slot in found.base:
            texts[name] = _line(found.base[slot], found.slope[slot], letter)
        else:
            texts[name] = show_value(finite[slot])
    return texts


def input_texts(core: CoreProgram, inputs: Mapping[int, Value]) -> dict[str, str]:
    """An input as a row of a report shows it."""
    return {core.slots[slot].name: show_value(inputs[slot]) for slot in core.inputs}


def form_text(core: CoreProgram, form: Affine) -> str:
    """A form of inputs: `2*q[1] - 1`."""
    return affine_text(form, _no_noise, _names(core))


def _names(core: CoreProgram) -> Callable[[int], str]:
    return lambda slot: core.slots[slot].name


def _no_noise(noise: int) -> str:
    raise AssertionError(f"noise {noise} in a form of inputs")


def _line(base: Fraction, slope: Fraction, letter: str) -> str:
    return affine_text(Affine((), ((0, slope),) if slope else (), base), _no_noise, lambda _: letter)

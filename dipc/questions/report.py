"""The result of a check, for each row or class and as a whole, with the fields of the JSON contract.

Attributes hold exact Python values; subscripting (`report["verdict"]`, `row["probability"]`) gives the value that the
JSON output has under that key. Decided rows take a few bytes each: rows with the same claim, probability and verdict
share one outcome. A class of inputs is a row that also describes the class and how it was decided.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from fractions import Fraction
from operator import add
from typing import TYPE_CHECKING, Any, overload

from dipc.above import VERSION, above
from dipc.algebra.exppoly import ClosedForm
from dipc.algebra.limits import Effort, field_by_field
from dipc.algebra.record import Record, json_object
from dipc.chain.state import Affine, Constraint, affine_text, comparison_text
from dipc.claims.claim import Claim, Terms, intervals_text
from dipc.claims.table import Row
from dipc.decide.obligation import Counterexample, Decision, EpsSpan, Obligation, Verdict
from dipc.decide.scope import ClaimScope, join_scopes
from dipc.deprecated import former_property
from dipc.frozen import LazyModule, frozen
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm
from dipc.text.core import Value, show_value
from dipc.text.diagnostic import Diagnostic
from dipc.text.program import CoreProgram

if TYPE_CHECKING:
    from dipc.claims import conditions
    from dipc.decide.engine import Engine
    from dipc.program.ideal import Region
    from dipc.rules import halfspaces
    from dipc.rules.goal import ConvexClass, Proof
    from dipc.rules.halfspaces import Corner, SlackBound
else:
    conditions = LazyModule("dipc.claims.conditions")
    halfspaces = LazyModule("dipc.rules.halfspaces")


@frozen
class RowResult(Record):
    """The result for one row of a table, or for a class of inputs.

    - `row` is the number of the row, from 1. `input` and `output` map names to strings in one spelling (`1/4` for
      `0.25`); an output whose value the row leaves open is absent.
    - `alpha` and `gamma` are strings, and `beta_form` is beta as a function of eps. `closed_form` is Pr[output within
      gamma] for every eps > 0, or None if a limit was reached before it was known.
    - `failing` lists the intervals of eps in which the claim fails; it is empty unless the verdict is INACCURATE.
      `reason` is given exactly for UNDECIDED.
    - `says` has the values of eps, or of the variable of a class, where beta < 1. The row is `vacuous` for one of three
      reasons. The claim may not be about the input because its dd is too small; then `says` is None. Beta may be at
      least 1 everywhere. Or the row leaves all outputs open (`unconstrained`).
    - If the row represents several inputs with the same obligation, `count` is their number. For a free gamma,
      `obligations` has the results for the ranges of gamma. The other fields are those of the first of these results
      that is inaccurate, else of the first that is undecided, else of the first.
    """

    CLAIMED = "alpha beta gamma verdict probability counterexample reason failing+ vacuous+ count? obligations=ranges+"
    FIELDS = f"row input output {CLAIMED}"

    row: int
    input: Mapping[str, str]
    output: Mapping[str, str]
    alpha: str
    beta_form: BetaForm
    gamma: str
    verdict: Verdict
    closed_form: ClosedForm | None = None
    vacuous: bool = False
    counterexample: Counterexample | None = None
    failing: tuple[EpsSpan, ...] = ()
    reason: str | None = None
    count: int | None = None
    obligations: tuple[RowResult, ...] = ()
    says: ClaimScope | None = field(default=None, compare=False, repr=False)
    unconstrained: bool = False

    @property
    def variable(self) -> str:
        """The variable of the row's obligation."""
        return "eps"

    @property
    def beta(self) -> str:
        """The closed form of beta at this row, with alpha, gamma and constants substituted, as text for SymPy."""
        return str(self.beta_form)

    @property
    def probability(self) -> str | None:
        """The closed form of the row's probability as text that `sympy.sympify` reads, or None if it is not known.

        The text is computed on demand.
        """
        return None if self.closed_form is None else str(self.closed_form)

    @property
    def conditions(self) -> tuple[str, ...] | None:
        """The inequalities of a class; None for a row of a table."""
        return None

    @property
    def ranges(self) -> list[dict[str, Any]]:
        """The JSON objects of the results for each range of gamma."""
        return [json_object(each, each.CLAIMED) for each in self.obligations]


@frozen
class Counts:
    """The numbers of accurate, inaccurate, undecided and vacuous rows.

    `vacuous` rows are among the accurate ones. Of these, `above_one` counts the rows with beta >= 1 everywhere, and
    `unconstrained` those that leave all outputs open.
    """

    rows: int = 0
    accurate: int = 0
    inaccurate: int = 0
    undecided: int = 0
    vacuous: int = 0
    above_one: int = 0
    unconstrained: int = 0

    def __add__(self, other: Counts) -> Counts:
        return field_by_field(add, self, other)

    @property
    def near_rows(self) -> int:
        """The number of rows that are vacuous because dd <= alpha."""
        return self.vacuous - self.above_one - self.unconstrained

    near = former_property("near", "near_rows")


@frozen(eq=False)
class RowOutcome:
    """The result for all rows of a table with one claim and one probability.

    `terms` is the claim: alpha, beta and gamma at these rows. `probability` is that of an answer within gamma, or None
    if a limit was reached. `settled` is the decision, and `says` has the values of eps where beta < 1. Equal terms are
    one object, and so are equal probabilities, so that they can be compared by identity.
    """

    terms: Terms
    probability: ClosedForm | None
    settled: Decision
    says: ClaimScope | None = None

    @property
    def vacuous(self) -> bool:
        """True if nothing is claimed: the claim is not about the row's input, or beta >= 1."""
        return self.terms.vacuous or (self.says is not None and self.says.is_vacuous)


def counts_of(counted: Iterable[tuple[RowOutcome, int]]) -> Counts:
    """Return the counts of rows, given by `counted`: pairs of an outcome and the number of rows that have it."""
    by_verdict = dict.fromkeys(Verdict, 0)
    vacuous = above_one = unconstrained = 0
    for outcome, number in counted:
        by_verdict[outcome.settled.verdict] += number
        vacuous += number if outcome.vacuous else 0
        above_one += number if outcome.vacuous and not outcome.terms.vacuous else 0
        unconstrained += number if outcome.terms.unconstrained else 0
    accurate, inaccurate, undecided = (by_verdict[each] for each in Verdict)
    rows = accurate + inaccurate + undecided
    return Counts(rows, accurate, inaccurate, undecided, vacuous, above_one, unconstrained)


def row_result(core: CoreProgram, row: Row, outcome: RowOutcome) -> RowResult:
    """Return `row`, of a table for the program `core`, with its `outcome` as the report shows it."""
    terms, settled = outcome.terms, outcome.settled
    slots = core.slots
    inputs, outputs = zip(core.inputs, row.inputs, strict=True), zip(core.outputs, row.outputs, strict=True)
    return RowResult(
        row=row.number,
        input={slots[slot].name: cell.text for slot, cell in inputs},
        output={slots[slot].name: cell.text for slot, cell in outputs if cell is not None},
        alpha=terms.alpha_text,
        beta_form=terms.beta,
        gamma=terms.gamma.text,
        verdict=settled.verdict,
        closed_form=None if outcome.probability is None else outcome.probability.restricted_to(core.only_at),
        vacuous=outcome.vacuous,
        says=outcome.says,
        unconstrained=terms.unconstrained,
        counterexample=settled.counterexample,
        failing=settled.failing,
        reason=settled.reason,
    )


class CountedRows(Sequence[RowResult]):
    """The rows of a report, which can be counted and searched without building a RowResult for each."""

    @property
    @abstractmethod
    def counts(self) -> Counts:
        """The numbers of accurate, inaccurate, undecided and vacuous rows."""

    @property
    @abstractmethod
    def scopes(self) -> Iterable[ClaimScope]:
        """The sets of eps whose union is the set of all eps where beta < 1 at some row."""

    @abstractmethod
    def select(self, verdict: Verdict) -> Iterator[RowResult]:
        """Yield the rows with this `verdict`, in order."""


class DecidedRows(CountedRows):
    """The decided rows of a table, beginning with its first row; each RowResult is built when it is read.

    The object equals any sequence of equal rows.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, core: CoreProgram, table: Sequence[Row]) -> None:
        self._table = table
        self._core = core
        self._outcomes: list[RowOutcome] = []
        self._place: dict[tuple[int, int, int], int] = {}
        self._numbers = array("I")

    def append(self, outcome: RowOutcome) -> None:
        """Add the `outcome` of the next row."""
        key = (id(outcome.terms), id(outcome.probability), id(outcome.settled))
        number = self._place.get(key)
        if number is None:
            number = self._place[key] = len(self._outcomes)
            self._outcomes.append(outcome)  # which keeps the three objects alive, and their identities with them
        self._numbers.append(number)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    @property
    def counts(self) -> Counts:
        numbers = [0] * len(self._outcomes)
        for place in self._numbers:
            numbers[place] += 1
        return counts_of(zip(self._outcomes, numbers, strict=True))

    @property
    def scopes(self) -> Iterable[ClaimScope]:
        return [outcome.says for outcome in self._outcomes if outcome.says is not None]

    def select(self, verdict: Verdict) -> Iterator[RowResult]:
        wanted = [outcome.settled.verdict is verdict for outcome in self._outcomes]
        for position, number in enumerate(self._numbers):
            if wanted[number]:
                yield row_result(self._core, self._table[position], self._outcomes[number])

    @property
    def outcomes(self) -> tuple[Sequence[RowOutcome], Sequence[int]]:
        """The distinct outcomes, and for each row the index of its outcome among them."""
        return self._outcomes, self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[RowResult]:
        for row, number in zip(self._table, self._numbers, strict=False):  # an interrupted check has fewer outcomes
            yield row_result(self._core, row, self._outcomes[number])

    @overload
    def __getitem__(self, position: int) -> RowResult: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[RowResult, ...]: ...
    def __getitem__(self, position: int | slice) -> RowResult | tuple[RowResult, ...]:
        if isinstance(position, slice):
            return tuple(self[index] for index in range(*position.indices(len(self))))
        index = range(len(self))[position]
        return row_result(self._core, self._table[index], self._outcomes[self._numbers[index]])


# --- evidence -------------------------------------------------------------------------------------
#
# The data that a check keeps so that its proofs can be written down.


@frozen
class Exchange:
    """The exchanges of inputs at one row of a report that lead to other inputs with the same obligation.

    `row` is the number of the row. Inputs are given by their indices. The values of all inputs in one tuple of `blocks`
    may be permuted, and the inputs in `free` may have any values.
    """

    row: int
    blocks: tuple[tuple[int, ...], ...]
    free: tuple[int, ...]


@frozen
class Product:
    """All combinations of values of the inputs, if a report has fewer rows than there are combinations.

    `values` has the possible values of each input. `exchanges` says which combinations each row represents. Inputs are
    given by their indices; the inputs in one tuple of `alike` may be permuted at every row.
    """

    values: tuple[tuple[str, ...], ...]
    exchanges: tuple[Exchange, ...]
    alike: tuple[tuple[int, ...], ...] = ()


@frozen(eq=False)
class Evidence:
    """The evidence for the verdicts of a report, from which its certificate is written.

    `question` is a `Source`, and `results` are those of all its cases, each with its own evidence. If the rows
    represent more inputs than there are rows, `product` has these inputs. `engine` has kept its decisions on the
    obligations of classes and of ranges of gamma; it is None for the rows of a table.
    """

    question: object
    results: Sequence[RowResult]
    product: Product | None = None
    engine: Engine | None = None


SCHEMA = "dipc.check/1"


@frozen
class Report(Record):
    """The result of a check of one program against one table.

    `verdict` is INACCURATE if some row is. Otherwise it is UNDECIDED if some row is, or if the check was `interrupted`
    before the last row. Otherwise it is ACCURATE. A report has at least one row unless it was interrupted.

    - `eps` is the interval of the claim, as text. `stated` has the texts of alpha, beta and gamma of the claim, None
      for one that differs from row to row. `warnings` say why the claim may not mean what the user expects.
    - `constants` are the program's constants, and `requires` is its precondition as text, None without one.
    - `every_input` names the inputs of a claim about all inputs, such as "every real input", and `numbers` the values
      of a constant that is left open, such as "m >= 3". For classes, `inputs` is their total number of inputs.
    - `decided_by` is a theorem by which the verdict holds for more claims or inputs than the rows state; None if there
      is no theorem. It may be the claim instead: the property `theorem` then computes the theorem from the claim.
    - `evidence` is the data for a certificate, if it was requested. `effort` is the time and work spent.

    A report has no truth value: `require` raises AssertionError unless it is accurate.
    """

    HEAD = (
        "schema program verdict constants claim versions vacuous_rows=counts.vacuous says_something=scopes warnings+ "
        "theorem? inputs? requires?"
    )
    FIELDS = f"{HEAD} rows"

    program: str
    rows: Sequence[RowResult]
    eps: str
    interrupted: bool = False
    effort: Effort = field(default_factory=Effort, compare=False)
    evidence: Evidence | None = field(default=None, compare=False, repr=False)
    decided_by: conditions.Theorem | Claim | None = field(default=None, compare=False, repr=False)
    inputs: int | None = None
    constants: Mapping[str, str] = field(default_factory=dict)
    stated: Mapping[str, str | None] = field(default_factory=dict)
    warnings: tuple[Diagnostic, ...] = ()
    requires: str | None = None
    every_input: str = "every input"
    numbers: str | None = None

    def __post_init__(self) -> None:
        if not self.rows and not self.interrupted:
            raise ValueError("a report without rows has no verdict")

    @property
    def counts(self) -> Counts:
        if isinstance(self.rows, CountedRows):
            return self.rows.counts
        verdicts = [row.verdict for row in self.rows]
        return Counts(
            rows=len(verdicts),
            accurate=verdicts.count(Verdict.ACCURATE),
            inaccurate=verdicts.count(Verdict.INACCURATE),
            undecided=verdicts.count(Verdict.UNDECIDED),
            vacuous=sum(1 for row in self.rows if row.vacuous),
            above_one=sum(1 for row in self.rows if row.vacuous and row.says is not None),
            unconstrained=sum(1 for row in self.rows if row.unconstrained),
        )

    @property
    def theorem(self) -> conditions.Theorem | None:
        """The theorem by which the verdict holds for more claims or inputs than the rows state, or None."""
        return conditions.theorem_of(self.decided_by) if isinstance(self.decided_by, Claim) else self.decided_by

    def __bool__(self) -> bool:
        raise TypeError(
            "a report has one of three verdicts and no truth value: look at its `verdict`, or call `require()`"
        )

    @property
    def claim(self) -> Mapping[str, str | None]:
        """The texts of alpha, beta, gamma and eps; None for one that differs from row to row."""
        return {**self.stated, "eps": self.eps}

    @property
    def failures(self) -> tuple[RowResult, ...]:
        """The refuted rows, in order, each with its `counterexample` and its `failing` eps."""
        return tuple(self.select(Verdict.INACCURATE))

    @property
    def scopes(self) -> Mapping[str, ClaimScope]:
        """The values where beta < 1 for at least one row, by the variable of the row's claim.

        The variable is `eps`, or a product with eps such as `alpha*eps`.
        """
        if isinstance(self.rows, CountedRows):
            result = {"eps": list(self.rows.scopes)}
        else:
            result = {}
            for row in self.rows:
                if row.says is not None:
                    result.setdefault(row.variable, []).append(row.says)
        return {variable: join_scopes(all_of) for variable, all_of in result.items() if all_of}

    sayings = former_property("sayings", "scopes")

    def require(self) -> Report:
        """Return the report itself if it is accurate; raise AssertionError otherwise.

        The error names a row with its input, eps, probability and bound, or the reason why a row is undecided.
        """
        if self.verdict is not Verdict.ACCURATE:
            raise AssertionError(above("shown").refusal(self))
        return self

    def records(self) -> list[dict[str, object]]:
        """Return the rows as flat dicts of strings.

        The keys are row, inputs and outputs by name, alpha, beta, gamma, verdict, vacuous, probability (a closed form),
        eps (of the counterexample), and reason.
        """
        result: list[dict[str, object]] = above("shown").records(self)
        return result

    def to_frame(self) -> Any:
        """Return `records()` as a DataFrame of pandas or polars, whichever is imported, or else installed.

        Raises ImportError if neither of the two is installed.
        """
        return above("shown").data_frame(self)

    def plot(self, row: int | None = None, axes: Any = None) -> Any:
        """Draw Pr against 1 - beta over eps for the row with number `row`, and return the axes of matplotlib.

        The failing eps are shaded. Without `row`, the row is the first that fails, else the first whose claim is not
        vacuous and whose probability is known. The curves are drawn into `axes`, by default into new ones. Raises
        ValueError for a row without a probability in closed form, ImportError without matplotlib.
        """
        return above("shown").draw(self, row, axes)

    def __str__(self) -> str:
        text: str = above("shown").report_text(self)
        return text

    def __repr__(self) -> str:
        return f"<dipc report: {' '.join(str(self).partition(chr(10) * 2)[0].split())}>"

    def _repr_html_(self) -> str:
        text: str = above("shown").report_html(self)
        return text

    def select(self, verdict: Verdict) -> Iterator[RowResult]:
        """Yield the rows with this `verdict`, in order."""
        if isinstance(self.rows, CountedRows):
            return self.rows.select(verdict)
        return (row for row in self.rows if row.verdict is verdict)

    @property
    def verdict(self) -> Verdict:
        return overall(self.counts, self.interrupted)

    @property
    def schema(self) -> str:
        return SCHEMA

    @property
    def versions(self) -> dict[str, str]:
        """A mapping from `dipc` to the version that decided the claim."""
        return {"dipc": VERSION}

    def head(self) -> dict[str, Any]:
        """Return the entries of this report's JSON object that come before its rows."""
        return json_object(self, self.HEAD)


def overall(counts: Counts, interrupted: bool = False) -> Verdict:
    """Return the verdict over all rows with these `counts`: ACCURATE only if all rows are accurate and none is missing.

    Rows are missing if the check was `interrupted`.
    """
    if counts.inaccurate:
        return Verdict.INACCURATE
    if counts.undecided or interrupted or counts.accurate != counts.rows or not counts.rows:
        return Verdict.UNDECIDED
    return Verdict.ACCURATE


class Interrupted(Exception):
    """Raised if Ctrl-C stopped a check.

    `report` has the rows decided so far, which are `done` of `total` (None if unknown).
    """

    def __init__(self, report: Report, done: int, total: int | None) -> None:
        of = "" if total is None else f" of {total}"
        super().__init__(f"interrupted after {done}{of} rows")
        self.report = report
        self.done = done
        self.total = total


#: The beginning of the reason if the proof for every number of queries does not cover programs of this shape.
NO_UNION_BOUND = "no union bound"


class Method(StrEnum):
    """The way in which a class of inputs was decided."""

    CORNER = "corner"
    """One input attains the least probability of the class, and therefore decides it."""
    BOUND = "bound"
    """A lower bound of the probabilities of the class meets the claim."""
    INPUTS = "inputs"
    """Every input of the class was decided."""
    WITNESS = "witness"
    """An input refutes the claim."""
    UNION = "union bound"
    """A union bound over single comparisons proves the claim for every m from some number on."""
    TOTALS = "totals"
    """The program reads its queries through totals alone, and meets the claim at all of their values."""
    EMPTY = "empty"
    """No input of the class is far enough from other answers for the claim to be about it."""
    NOTHING = "nothing"
    """beta is at least 1 everywhere: the claim holds whatever the probabilities are."""
    NONE = "none"


@frozen
class Refuted:
    """A row at which the claim is refuted, with the row's dd and the `obligation` that fails.

    `gamma` is the row's gamma if the claim leaves it open.
    """

    row: RowResult
    dd: str
    gamma: Fraction | None
    obligation: Obligation


@frozen
class ClassNote(Record):
    """The additional fields of a report's row for a whole class of inputs; texts are computed when they are read.

    - `convex` is the class of inputs of the program `core`. It is None for a row about one m, or about all m beyond
      some number. `numbered` then names these m, and `output` is det if the row is about one input. `numbers` is (least
      m of the question, first m of the row) for a row about all m beyond some number.
    - `method` is how the class was decided. `hardest` is the input at which the claim is hardest to satisfy, None if
      the proof needs none.
    - `variable` is the variable of the obligation (`alpha*eps`, `gamma*eps` or `eps`), and `intervals` has its values.
      In the functions `closed_form` and `beta_form` this variable is written `eps`.
    - The obligation is that `closed_form` is at least 1 - `beta_form` for all these values. If `exact`, `closed_form`
      is the least probability of the class, else a lower bound of all its probabilities. If `lesser`, `beta_form` is
      only a lower bound of the claim's beta.
    """

    FIELDS = "answer where=conditions method exact corner obligation(variable range probability beta)"

    method: Method
    core: CoreProgram = field(compare=False, repr=False)
    convex: ConvexClass | None = field(default=None, repr=False)
    numbered: tuple[str, ...] = ()
    output: Mapping[str, str] = field(default_factory=dict)
    variable: str = "eps"
    intervals: tuple[Interval, ...] = ()
    hardest: Corner | None = None
    closed_form: ClosedForm | None = None
    beta_form: BetaForm | None = None
    exact: bool = False
    #: Whether `beta_form` is only a lower bound of the claim's beta: the claim with it implies the claim.
    lesser: bool = False
    #: For a row about all numbers of queries from a start on: the least number that the claim is about, and the start.
    numbers: tuple[int, int] | None = None

    @property
    def answer(self) -> Mapping[str, str]:
        """The values of det on the class, with real outputs as forms of the inputs."""
        return self.output if self.convex is None else answer_texts(self.core, self.convex.inputs.region)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions on m, if the row is about only some values of m, and then the inequalities of the class.

        The inequalities that contain alpha come last.
        """
        core, convex = self.core, self.convex
        if convex is None:
            return self.numbered
        sides = [(halfspaces.still(facet), facet) for facet in convex.side]
        moving = [f"{form_text(core, still)} >= {_text_of_alpha(still - facet)}" for still, facet in sides]
        return (*self.numbered, *guard_texts(core, convex.guards, convex.inputs.finite), *moving)

    where = former_property("where", "conditions")

    @property
    def corner(self) -> Mapping[str, str] | None:
        """The input at which the claim is hardest to satisfy, as strings that depend on the open distance, or None."""
        corner = self.hardest
        if self.convex is None or corner is None:
            return None
        texts = {slot: show_value(value) for slot, value in self.convex.inputs.finite.items()}
        texts |= {slot: _text_of_alpha(form) for slot, form in corner.items()}
        return {self.core.slots[slot].name: texts[slot] for slot in self.core.inputs} or None

    @property
    def range(self) -> str:
        """The intervals of the variable as text."""
        return intervals_text(self.intervals)

    @property
    def probability(self) -> str | None:
        """The closed form as text, None if it is not known."""
        return None if self.closed_form is None else str(self.closed_form)

    @property
    def beta(self) -> str | None:
        """The text of beta as a function of the variable, None if beta depends on anything else."""
        return None if self.beta_form is None else str(self.beta_form)


@frozen
class ClassResult(RowResult):
    """The result for a class of inputs; `input` is one of its inputs, for an inaccurate class the counterexample.

    `note` describes the class. If a report shows the result in more than one row, `rows` has the results of these rows.
    If classes that differ only by an exchange of inputs share the result, the field `count` is their number. `evidence`
    is the proof, the row that refutes the claim, or the reason why the checker does not follow the proof; None if the
    class is undecided.
    """

    CLAIMED = f"{RowResult.CLAIMED} class=note?"
    FIELDS = f"row input output {CLAIMED}"

    note: ClassNote = field(kw_only=True)
    rows: tuple[ClassResult, ...] = ()
    evidence: Proof | Refuted | SlackBound | str | None = field(default=None, compare=False, repr=False)

    @staticmethod
    def from_refuted(number: int, refuted: Refuted, note: ClassNote) -> ClassResult:
        """Return the result with this `number` and `note` for a class that contains the input of `refuted`."""
        row = refuted.row
        return ClassResult(
            number,
            row.input,
            row.output,
            row.alpha,
            row.beta_form,
            row.gamma,
            row.verdict,
            closed_form=row.closed_form,
            counterexample=row.counterexample,
            failing=row.failing,
            note=note,
            evidence=refuted,
        )

    @property
    def facets(self) -> tuple[Affine, ...]:
        """Half-spaces that contain every input of the class that the claim is about.

        The tuple is empty if the class is undecided, and for a row about values of m.
        """
        return () if self.note.convex is None or self.evidence is None else self.note.convex.facets

    @property
    def variable(self) -> str:
        return str(self.note.variable)

    @property
    def conditions(self) -> tuple[str, ...]:
        return self.note.conditions


class ReportedRows(list[RowResult]):
    """The rows of a report as they are decided, with their numbers; a case can have several rows."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[RowResult] = []

    def add(self, result: RowResult) -> None:
        """Append the rows of `result`, with their numbers."""
        self.results.append(result)
        for row in (result.rows if isinstance(result, ClassResult) else ()) or (result,):
            self.append(row if row.row == len(self) + 1 else replace(row, row=len(self) + 1))


# --- describe -------------------------------------------------------------------------------------
#
# Texts that describe classes of inputs.


def answer_texts(core: CoreProgram, region: Region) -> dict[str, str]:
    """Return det on `region` as strings by name: a value, or a form of the inputs, for every output of `core`."""
    return {
        core.slots[slot].name: form_text(core, value) if isinstance(value, Affine) else show_value(value)
        for slot, value in zip(core.outputs, region.answer, strict=True)
    }


def guard_texts(core: CoreProgram, guards: Iterable[Constraint], finite: Mapping[int, Value]) -> tuple[str, ...]:
    """Return the conditions of a class as strings: values of its `finite` inputs, and the `guards`, such as `q[1] < 0`.

    `core` has the names of the inputs, by slot.
    """
    fixed = [f"{core.slots[slot].name} = {show_value(value)}" for slot, value in finite.items()]
    texts = [comparison_text(g.difference, g.op.value, _no_noise, _names(core)) for g in guards]
    return tuple(dict.fromkeys([*fixed, *texts]))


def input_texts(core: CoreProgram, inputs: Mapping[int, Value]) -> dict[str, str]:
    """Return the values of `inputs` as a report shows them, by the name of each input in `core`.

    `inputs` maps slots to values.
    """
    return {core.slots[slot].name: show_value(inputs[slot]) for slot in core.inputs}


def form_text(core: CoreProgram, form: Affine) -> str:
    """Return the linear `form` of the inputs of `core` as text, such as `2*q[1] - 1`."""
    return affine_text(form, _no_noise, _names(core))


def _names(core: CoreProgram) -> Callable[[int], str]:
    return lambda slot: core.slots[slot].name


def _no_noise(noise: int) -> str:
    raise AssertionError(f"noise {noise} in a form of inputs")


def _text_of_alpha(form: Affine) -> str:
    return affine_text(form, _no_noise, lambda _: "alpha")

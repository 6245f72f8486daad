"""What an inverse question comes to: the least eps, alpha, beta or gamma, or a proof that there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from fractions import Fraction
from typing import Any, NoReturn

from dipc.above import above
from dipc.algebra.numbers import exact_text
from dipc.claims.claim import Claim
from dipc.claims.expression import ClaimExpression
from dipc.decide.decide import Saying
from dipc.decide.obligation import EndPoint
from dipc.frozen import frozen
from dipc.inverse.question import Question
from dipc.questions.report import RowResult, warnings_json
from dipc.rules.rule import Variable
from dipc.text.ast import mentions
from dipc.text.diagnostic import Diagnostic, DiagnosticError

SCHEMA = "dipc.solve/1"

#: Significant digits of an answer unless more are asked for.
DIGITS = 30

Cell = tuple[Fraction, Fraction]


class Wanted(StrEnum):
    """What is asked for."""

    EPS = "eps"
    ALPHA = "alpha"
    BETA = "beta"
    GAMMA = "gamma"


class Status(StrEnum):
    """`solved` and `none` are proved; `undecided` has the reason."""

    SOLVED = "solved"
    NONE = "none"
    UNDECIDED = "undecided"


@frozen
class Span:
    """A maximal interval of eps; a single point where both ends are the same. Ends that are not rational are cells: the
    number cut off after the digits asked for, or after more where different ends would look the same, and one unit of
    the last digit more."""

    start: EndPoint
    end: EndPoint

    @property
    def is_point(self) -> bool:
        return self.start == self.end

    def as_json(self) -> dict[str, Any]:
        return {"start": end_json(self.start), "end": end_json(self.end)}


@frozen(eq=False)
class Solution:
    """An answer for all cases of a question that claim something. `rows` are those that prevent a smaller answer, or
    any; `shown` says what a case with this number is about. `remark` says in a sentence what was proved besides, or why
    nothing was. `eps` is what was asked about. `sayings`: where the claim, with the answer, says something.
    `warnings`: where the claim may not mean what it seems to. `interrupted`: Ctrl-C stopped the search, and the answer
    is what was known then."""

    question: Question
    shown: Callable[[int], RowResult]
    eps: str
    digits: int
    status: Status
    rows: tuple[int, ...]
    remark: str
    sayings: Mapping[str, Saying] = field(default_factory=dict, kw_only=True)
    warnings: tuple[Diagnostic, ...] = field(default=(), kw_only=True)
    interrupted: bool = field(default=False, kw_only=True)

    def __str__(self) -> str:
        """The answer in one sentence."""
        text: str = above("solution").headline(self)
        return text

    def __bool__(self) -> bool:
        raise TypeError("an answer is one of three: look at its `status`")

    @property
    def wanted(self) -> Wanted:
        raise NotImplementedError

    @property
    def at(self) -> Cell | None:
        """The eps, enclosed, that is the answer, where it is one."""
        return None

    def answered(self) -> Question | None:
        """The question whose claim has the answer in it; None where there is none, or no claim says the same: inputs
        with dd(u) = alpha are meant by a claim, and not by the least alpha."""
        return None

    @property
    def claims_nothing(self) -> bool:
        """Whether the claim, with the answer, says nothing: beta is at least 1 everywhere, or there is no input that it
        is about."""
        return self.status is Status.SOLVED and all(says.nothing for says in self.sayings.values())

    @property
    def program(self) -> str:
        return self.question.program.name

    def as_json(self) -> dict[str, Any]:
        """The JSON object; every number is a text that is exact, and an enclosure is a pair of them."""
        return {
            "schema": SCHEMA,
            "program": self.program,
            "for": str(self.wanted),
            "status": str(self.status),
            "eps": self.eps,
            **self.details(),
            "vacuous": self.claims_nothing,
            "says_something": {variable: says.as_json() for variable, says in self.sayings.items()},
            "rows": list(self.rows),
            "remark": self.remark or None,
            **warnings_json(self.warnings),
        }

    def details(self) -> dict[str, Any]:
        """The keys that this kind of answer has."""
        return {}


@frozen(eq=False)
class EpsSolution(Solution):
    """The claim holds, of the eps asked about, exactly on the union of `holds`.

    Undecided, it holds at most there, and at least on `proved`. `everywhere`: it holds for all eps asked about.
    `from_there_on`: from the least eps on it holds for all that are asked about.
    """

    holds: tuple[Span, ...]
    proved: tuple[Span, ...]
    everywhere: bool
    from_there_on: bool

    @property
    def wanted(self) -> Wanted:
        return Wanted.EPS

    @property
    def least(self) -> EndPoint | None:
        """The infimum of the eps at which the claim holds, which is attained where it is `included`."""
        return self.holds[0].start if self.holds else None

    @property
    def at(self) -> Cell | None:
        least = self.least
        return None if least is None or least.high is None or self.everywhere else (least.low, least.high)

    def answered(self) -> Question | None:
        return self.question

    def details(self) -> dict[str, Any]:
        return {
            "least": None if self.least is None else end_json(self.least),
            "from_there_on": self.from_there_on,
            "holds": [span.as_json() for span in self.holds],
            **({"proved": [span.as_json() for span in self.proved]} if self.proved else {}),
        }


@frozen(eq=False)
class GammaSolution(Solution):
    """Pr >= 1 - beta holds at all rows with gamma = `value[1]`, and not with gamma = `value[0]`, nor with any below;
    both are the same where that is the least gamma exactly. None where there is no solution, or it is not known.

    `product`, for every real input: the least k, as a cell, such that it holds with gamma = k/eps.
    """

    value: Cell | None
    product: Cell | None = None

    @property
    def wanted(self) -> Wanted:
        return Wanted.GAMMA

    @property
    def exact(self) -> bool:
        return self.value is not None and self.value[0] == self.value[1]

    def answered(self) -> Question | None:
        return None if self.value is None else self.question.asking(gamma=self.value[1])

    def details(self) -> dict[str, Any]:
        return {
            "least": None if self.value is None else [exact_text(end) for end in self.value],
            "exact": self.exact,
            **({} if self.product is None else {"gamma*eps": [exact_text(end) for end in self.product]}),
        }


@frozen(eq=False)
class AlphaSolution(Solution):
    """`value` is the least alpha such that all rows with dd(u) > alpha hold; it is attained. `claims` is how many rows
    that are.

    For every real input `product` is the least t such that the claim holds with alpha = t/eps, enclosed by the ends of
    a cell, or, undecided, by what is refuted below and what is proved (None where nothing is); `holds` are the t for
    which it holds, undecided at most, and `cell` encloses the least alpha where a single eps is asked about.
    """

    value: Fraction | None
    claims: int
    product: tuple[Fraction, Fraction | None] | None = None
    holds: tuple[Span, ...] = ()
    cell: Cell | None = None

    @property
    def wanted(self) -> Wanted:
        return Wanted.ALPHA

    def details(self) -> dict[str, Any]:
        least: object = None if self.value is None else str(self.value)
        if self.value is None and self.cell is not None:
            least = [exact_text(end) for end in self.cell]
        result: dict[str, Any] = {"least": least, "claims": self.claims}
        if self.product is not None:
            result["alpha*eps"] = ["inf" if end is None else exact_text(end) for end in self.product]
            result["holds"] = [span.as_json() for span in self.holds]
        return result


@frozen(eq=False)
class EnvelopePiece:
    """On `span`, 1 - Pr is largest at `rows`: there the least beta is this closed form, of the `variable`, which is
    written `eps` in it; `value` is an enclosure where the span is a single eps. Unless `exact` the least beta is at
    most this."""

    span: Span
    beta: str
    rows: tuple[int, ...]
    value: Cell | None
    variable: Variable = Variable.EPS
    exact: bool = True


@frozen(eq=False)
class BetaSolution(Solution):
    """The least beta as a function of eps: the largest 1 - Pr of all rows, in `pieces` from left to right."""

    beta: str
    pieces: tuple[EnvelopePiece, ...]

    @property
    def claims_nothing(self) -> bool:
        return self.status is Status.SOLVED and not self.pieces

    @property
    def wanted(self) -> Wanted:
        return Wanted.BETA

    def answered(self) -> Question | None:
        known = self.beta and all(piece.variable is Variable.EPS for piece in self.pieces)
        return self.question.asking(beta=self.beta) if known else None

    def details(self) -> dict[str, Any]:
        return {
            "beta": self.beta or None,
            "pieces": [
                {
                    **piece.span.as_json(),
                    "beta": piece.beta,
                    "rows": list(piece.rows),
                    **({} if piece.value is None else {"value": [exact_text(end) for end in piece.value]}),
                    **({} if piece.variable is Variable.EPS else {"variable": str(piece.variable)}),
                    **({} if piece.exact else {"bound": "at most"}),
                }
                for piece in self.pieces
            ],
        }


def end_json(end: EndPoint) -> dict[str, Any]:
    """An end as an enclosure, `inf` for infinity."""
    eps = ["inf", "inf"] if end.high is None else [exact_text(end.low), exact_text(end.high)]
    return {"eps": eps, "included": end.included}


# --- requests -------------------------------------------------------------------------------------
#
# Inverse questions as they are asked: what may be given along with what is asked for.


def checked(question: Question, wanted: Wanted) -> Question:
    """The question itself. Raises DiagnosticError for one that contradicts itself."""
    options = question.options
    given = {Wanted.ALPHA: options.alpha, Wanted.BETA: options.beta, Wanted.GAMMA: options.gamma}.get(wanted)
    if wanted is Wanted.GAMMA and question.free:
        note = "leave gamma out, or ask for another one"
        _refuse("E1020", "gamma is free: the claim is about every gamma, and there is none to solve for", note)
    if given is not None:
        _refuse("E1020", f"{wanted} is given, and asked for", f"leave out `--{wanted}`, or ask for another one")
    if question.table is not None and wanted in question.table.columns:
        note = "remove the column, or check the table as it is with `dipc check`"
        _refuse("E1021", f"{wanted} is asked for, but the table has a column `{wanted}`", note)
    return question


def refuse_dependence(question: Question, claim: Claim, on: str, why: str) -> None:
    """Raise DiagnosticError where another part of the claim mentions what is asked for."""
    parts: list[ClaimExpression] = [
        claimed for claimed in (claim.alpha, claim.beta, claim.gamma) if claimed is not None
    ]
    rows = () if question.table is None else question.table.rows
    parts += [claim.column_beta(text) for text in sorted({row.beta.text for row in rows if row.beta})]
    for expression in parts:
        if expression.what != on and mentions(expression.tree, on):
            raise expression.error(
                "E1022", f"{expression.what} depends on {on}, which is asked for", expression.tree, "", why
            )


def _refuse(code: str, message: str, *notes: str) -> NoReturn:
    raise DiagnosticError(Diagnostic(code, message, notes=notes))

"""The claim at each row of a table: alpha, beta, gamma and eps, from columns, options, the claim block or defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol

from dipc.algebra.limits import Undecided
from dipc.algebra.numbers import exact_rational
from dipc.algebra.parametric import (
    RESULT_BIT_LIMIT,
    Parametric,
    Selected,
    TooLarge,
    bits,
    constant_of,
    limit,
    rebuild,
    unknowns,
)
from dipc.claims.expression import AN_INTERVAL, DISTANCES, ClaimExpression, NormalParts, normal_parts
from dipc.claims.given import INFINITY, Cell, number_of
from dipc.claims.table import MISTAKE_LIMIT, Row, Table, first_of_each_claim
from dipc.frozen import frozen
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm, PiecewiseForm, proved_quotient, sign_throughout
from dipc.text.ast import BaseType, ClaimedInputs, ClaimField, Expr, IntervalExpr, Name, mentions
from dipc.text.core import DomType, show_value
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Excerpt, SourceText, bad_input
from dipc.text.parser import parse_interval
from dipc.text.printer import language_text, print_expression
from dipc.text.program import CoreProgram

#: The value of gamma, in an option or in the claim block, that leaves it open.
FREE = "free"


def is_free(program: CoreProgram, gamma: GivenValue) -> bool:
    """Return True if the option `gamma` is `free`, or is None and the claim block of `program` has `gamma: free`.

    The result is False if the program has a constant named `free`.
    """
    if FREE in program.constants:
        return False
    if gamma is not None:
        return isinstance(gamma, str) and gamma.strip() == FREE
    fields = () if program.claim is None else program.claim.fields
    return any(each.name == "gamma" and isinstance(each.value, Name) and each.value.name == FREE for each in fields)


# --- The intervals of eps that a claim is about -----------------------------------------------------------------------


def resolve_intervals(
    source: SourceText, intervals: tuple[IntervalExpr, ...], constants: Mapping[str, Parametric]
) -> tuple[Interval, ...]:
    """Return the `intervals` with their ends evaluated, in increasing order.

    `constants` has the values of the constants that the ends name. Errors point to `source`, the text of the intervals.
    Raises DiagnosticError unless all ends are rational and the intervals are non-empty, disjoint and within (0, inf).
    """
    resolved = sorted(
        ((_interval(source, tree, constants), tree) for tree in intervals),
        # [1, 1] comes before (1, 2).
        key=lambda pair: (pair[0].lower, not pair[0].lower_closed),
    )
    for (left, _), (right, tree) in pairwise(resolved):
        shared = right.lower == left.upper and left.upper_closed and right.lower_closed
        if left.upper is None or right.lower < left.upper or shared:
            raise _error(source, tree, "E0624", f"the intervals {left} and {right} overlap", "give disjoint intervals")
    return tuple(interval for interval, _ in resolved)


def intervals_text(intervals: tuple[Interval, ...]) -> str:
    """Return `intervals` as text, such as `(0, 1], (2, inf)`."""
    return ", ".join(str(interval) for interval in intervals)


def _interval(source: SourceText, tree: IntervalExpr, constants: Mapping[str, Parametric]) -> Interval:
    low = _end(source, tree.low, constants)
    high = None if tree.high is None else _end(source, tree.high, constants)
    if low < 0:
        raise _error(source, tree.low, "E0622", f"eps is positive, but the interval begins at {low}", "begin with `(0`")
    if low == 0 and tree.low_closed and (high != 0 or tree.high_closed):
        raise _error(source, tree, "E0623", "eps = 0 is not a privacy budget", "begin with `(0`, which excludes 0")
    assert high is not None or not tree.high_closed, "the parser refuses `inf]`"
    if high is not None and (high < low or (high == low and not (tree.low_closed and tree.high_closed)) or high == 0):
        note = f"write `[{low}, {high}]` for a single point" if high == low > 0 else "give the lower end first"
        raise _error(source, tree, "E0621", "the interval is empty", note)
    return Interval(low, high, tree.low_closed, tree.high_closed)


def _end(source: SourceText, tree: Expr, constants: Mapping[str, Parametric]) -> Fraction:
    value = constant_of(ClaimExpression(AN_INTERVAL, source, tree).value(constants))
    if value is None:
        raise _error(
            source, tree, "E0620", "the ends of an interval must be rational numbers", "write for example `(1/2, 3]`"
        )
    return value


def _error(source: SourceText, tree: Expr | IntervalExpr, code: str, message: str, note: str) -> DiagnosticError:
    return bad_input(code, message, note, place=source.excerpt(tree.span))


# --- The claim: the alpha, beta and gamma of a row, and the source of each --------------------------------------------
#
# A column of the table wins over an option, an option over the program's claim block. Without any of them alpha is
# dd(u) where the table has a column dd, else 0; gamma is 0; eps is (0, inf); beta has no default.
#
# Where alpha is dd(u) and that is infinite, Pr >= 1 - beta is claimed for every alpha, and so for beta's limit as
# alpha grows.


class Symbolic(Protocol):
    """A SymPy expression, which the options of a claim accept."""

    @property
    def free_symbols(self) -> Any:
        """The symbols of the expression."""


#: The values of alpha, beta and gamma that Python callers can give: text, an exact number, or an expression of SymPy;
#: None is not given. Within dipc also a parsed expression, so that messages quote its source.
GivenValue = str | int | Fraction | Decimal | Symbolic | ClaimExpression | None

#: The values of eps that Python callers can give: intervals as text, an interval, or a single eps; None is not given.
GivenEps = str | int | Fraction | Interval | None


@frozen(eq=False)
class Terms:
    """The claim at one row of a table: numbers for alpha and gamma, and beta as a function of eps.

    `alpha` is None if alpha is infinite; `alpha_text` is the text that shows alpha. A `vacuous` claim states nothing
    about the row's input, because the input's dd is too small or because the row states no output. If the row states no
    output, the claim is also `unconstrained`: every answer is right. Rows whose cells for alpha, beta, gamma and dd are
    equal share one object.
    """

    alpha: Fraction | None
    gamma: Cell
    beta: BetaForm
    alpha_text: str
    vacuous: bool
    #: Whether the row states no output, so that every answer is right.
    unconstrained: bool = False


def without_outputs(terms: Terms) -> Terms:
    """Return `terms` marked as vacuous and unconstrained, for a row that states no output."""
    return Terms(terms.alpha, terms.gamma, terms.beta, terms.alpha_text, vacuous=True, unconstrained=True)


#: A row's cells alpha, beta, gamma and dd.
Key = tuple[Cell | None, Cell | None, Cell | None, Cell | None]


@dataclass(slots=True)
class Claim:
    """The claim for all rows of one table.

    A column of the `table` has priority over an option, an option over the claim block of `program`, and the claim
    block over the default. `alpha`, `beta` and `gamma` are None if a column or the default gives them. `intervals` are
    the intervals of eps, and `constants` has the values of the program's constants by name.
    """

    program: CoreProgram
    table: Table
    alpha: ClaimExpression | None
    beta: ClaimExpression | None
    gamma: ClaimExpression | None
    intervals: tuple[Interval, ...]
    constants: dict[str, Parametric]
    #: The terms of rows by the cells on which they depend.
    _known: dict[Key, Terms] = field(default_factory=dict)
    #: The first of equal betas and of equal gammas, so that equal ones are one object.
    _betas: dict[BetaForm, BetaForm] = field(default_factory=dict)
    _gammas: dict[Fraction, Cell] = field(default_factory=dict)
    #: The expressions of the column `beta` by their texts.
    _column_betas: dict[str, ClaimExpression] = field(default_factory=dict)
    #: The value of each beta with the distances left open, by its identity; None if there is no value.
    _opened: dict[int, Selected | None] = field(default_factory=dict)
    #: The parts of each beta with functions of the normal distribution, by its identity; None for other betas.
    _parts: dict[int, NormalParts | None] = field(default_factory=dict)
    #: The terms of rows without a stated output, by the identity of the terms of other rows with the same cells.
    _unconstrained: dict[int, Terms] = field(default_factory=dict)

    def terms(self, row: Row) -> Terms:
        """Return the claim at `row`; raise DiagnosticError if alpha, beta or gamma has no exact value there."""
        key = (row.alpha, row.beta, row.gamma, row.dd)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._compile(row)
        if any(row.outputs):
            return known
        unconstrained = self._unconstrained.get(id(known))
        if unconstrained is None:
            unconstrained = self._unconstrained[id(known)] = without_outputs(known)
        return unconstrained

    def compiled(self) -> Iterator[tuple[Key, Terms]]:
        """Yield (key, claim) for each distinct claim among the rows for which `terms` has been called.

        A key is the cells (alpha, beta, gamma, dd) of a row. The claim is the one at this row: numbers for alpha and
        gamma, and beta as a function of eps. After `check`, all rows have been read.
        """
        yield from self._known.items()

    @property
    def texts(self) -> dict[str, str | None]:
        """The texts of alpha, beta and gamma by name, or None for a name that is a column of the table."""
        return {name: None if name in self.table.columns else self.text_of(name) for name in ("alpha", "beta", "gamma")}

    def text_of(self, name: str) -> str:
        """Return the text of alpha, beta or gamma (`name`) from an option, the claim block or the default."""
        given = {"alpha": self.alpha, "beta": self.beta, "gamma": self.gamma}[name]
        if given is not None:
            return print_expression(given.tree if given.written is None else given.written)
        return "dd" if name == "alpha" and "dd" in self.table.columns else "0"

    def column_beta(self, text: str) -> ClaimExpression:
        """Return the expression that was parsed from the cell `text` of the column `beta`.

        Precondition: `terms` was called for a row with this cell.
        """
        return self._column_betas[text]

    def check(self) -> None:
        """Raise one DiagnosticError with the mistakes that the claim has at any row, at most MISTAKE_LIMIT of them."""
        mistakes: list[Diagnostic] = []
        for row in first_of_each_claim(self.table.rows):
            try:
                self.terms(row)
            except DiagnosticError as error:
                mistakes += [diagnostic for diagnostic in error.diagnostics if diagnostic not in mistakes]
                if len(mistakes) >= MISTAKE_LIMIT:
                    break
        if mistakes:
            raise DiagnosticError(*mistakes)

    def _compile(self, row: Row) -> Terms:
        dd = None if row.dd is None else row.dd.value
        names = dict(self.constants)
        if row.dd is not None:
            names["dd"] = _distance(row.dd)
        if self.alpha is not None and mentions(self.alpha.tree, "gamma"):
            names["gamma"] = Parametric.number(self._gamma(row, names))
        alpha = self._alpha(row, names)
        names["alpha"] = Parametric.unknown("alpha") if alpha is None else Parametric.number(alpha)
        gamma = self._gamma(row, names)
        names["gamma"] = Parametric.number(gamma)
        cell = self._gammas.setdefault(gamma, Cell(gamma, show_value(gamma)))
        beta = self._beta(row, names)
        vacuous = isinstance(dd, Fraction) and alpha is not None and self.is_near(row, dd, alpha)
        alpha_text = "inf" if alpha is None else str(alpha)
        return Terms(alpha, cell, self._betas.setdefault(beta, beta), alpha_text, vacuous)

    def is_near(self, row: Row, dd: Fraction, alpha: Fraction) -> bool:
        """Return True if `dd`, the distance of the input of `row`, is too small for a claim with this `alpha` to apply.

        A claim with numbers for alpha and beta is about inputs with dd > alpha (Definition 3 of the paper). A claim
        with the number 0 for alpha is about every input, as accuracy is usually defined. If alpha is dd or computed
        from dd, or beta is a function of alpha, the claim includes the claims with every lesser alpha. Since beta is
        continuous, the claim is then about inputs with dd >= alpha (Theorem 10, and section 7).
        """
        if dd != alpha:
            return dd < alpha
        beta = self.beta if row.beta is None else self.column_beta(row.beta.text)
        stands_for_lesser = beta is not None and mentions(beta.tree, "alpha")
        if row.alpha is not None:
            return row.alpha.value != "dd" and alpha > 0 and not stands_for_lesser
        if self.alpha is None or mentions(self.alpha.tree, "dd"):
            return False
        if mentions(self.alpha.tree, "gamma"):
            return not (stands_for_lesser or (beta is not None and mentions(beta.tree, "gamma")))
        return alpha > 0 and not stands_for_lesser

    def terms_towards(self, row: Row, alpha: Fraction | None, gamma: Fraction | None, cell: Cell, text: str) -> Terms:
        """Return the claim at `row` with `alpha` and `gamma` in place of the row's own alpha and gamma.

        The result shows alpha as `text`, and its gamma is the number in `cell`. Its beta is the row's beta, evaluated
        at the numbers `alpha` and `gamma`. If one of the two is None, it is infinite, and beta is the limit as this
        distance grows. For a claim about a range of gamma, `gamma` is the upper end of the range, where beta is needed,
        and `cell` has another number. Raises DiagnosticError if beta has no value or no limit.
        """
        names = dict(self.constants)
        if row.dd is not None:
            names["dd"] = _distance(row.dd)
        names["alpha"] = Parametric.unknown("alpha") if alpha is None else Parametric.number(alpha)
        names["gamma"] = Parametric.unknown("alpha") if gamma is None else Parametric.number(gamma)
        beta = self._beta(row, names)
        return Terms(alpha, cell, self._betas.setdefault(beta, beta), text, vacuous=False)

    def _alpha(self, row: Row, names: dict[str, Parametric]) -> Fraction | None:
        if row.alpha is not None and row.alpha.value != "dd":
            assert isinstance(row.alpha.value, Fraction)
            return row.alpha.value
        wants_dd = row.alpha is not None or (
            self.alpha is not None and isinstance(self.alpha.tree, Name) and self.alpha.tree.name == "dd"
        )
        if wants_dd or self.alpha is None:
            if row.dd is not None:
                return row.dd.value if isinstance(row.dd.value, Fraction) else None
            if wants_dd or self.program.ideal is not None:
                if "dd" in self.table.columns:
                    message = f"alpha is dd, but row {row.number} has an empty cell in the column dd"
                    raise DiagnosticError(Diagnostic("E0612", message))
                notes = ("add a column `dd`, the distance to disagreement of each input (a rational or `inf`)",)
                message = "alpha is dd, but the table has no column `dd`"
                raise DiagnosticError(Diagnostic("E0612", message, notes=notes))
            return Fraction(0)
        return self._number(self.alpha, names, "a number or `dd`")

    def _gamma(self, row: Row, names: dict[str, Parametric]) -> Fraction:
        if row.gamma is not None:
            assert isinstance(row.gamma.value, Fraction)
            return row.gamma.value
        if self.gamma is None:
            return Fraction(0)
        tree = self.gamma.tree
        if isinstance(tree, Name) and tree.name == FREE and tree.name not in names:
            advice = ("give gamma a number", "`dipc check --gamma free` decides a claim for every gamma")
            raise self.gamma.error("E0614", "gamma is free, but one gamma is needed here", tree, "", *advice)
        return self._number(
            self.gamma,
            names,
            "a number",
            (
                "for a gamma such as 3/eps ask about every gamma at once: `--inputs all --gamma free`, with beta "
                "in gamma*eps"
            ),
            "`dipc solve --inputs all --for gamma` finds the least k for which the claim holds with gamma = k/eps",
        )

    def _number(self, given: ClaimExpression, names: dict[str, Parametric], wanted: str, *advice: str) -> Fraction:
        value, what = given.number(names, self.intervals), given.what
        if value is None:
            finite = "it must be finite, and can depend on eps only if the claim is about a single eps (`--eps 1/2`)"
            raise given.error("E0610", f"{what} must be {wanted}", given.tree, "", finite, *advice)
        if value < 0:
            raise given.error("E0611", f"{what} is negative: {value}", given.tree, "", "a distance must be at least 0")
        return value

    def _beta(self, row: Row, names: dict[str, Parametric]) -> BetaForm:
        if row.beta is None:
            if self.beta is None:
                raise DiagnosticError(missing_beta(self.program, row if "beta" in self.table.columns else None))
            return self._value(self.beta, names)
        text = row.beta.text
        try:
            if text not in self._column_betas:
                self._column_betas[text] = ClaimExpression.parse("beta", text, "<beta>")
            return self._value(self._column_betas[text], names)
        except DiagnosticError as error:
            place = self.table.beta_places.get(text)
            raise DiagnosticError(*(_relocate(diagnostic, place, text) for diagnostic in error.diagnostics)) from None

    def _value(self, expression: ClaimExpression, names: dict[str, Parametric]) -> BetaForm:
        if id(expression) not in self._parts:
            self._parts[id(expression)] = normal_parts(expression)
        normal = self._parts[id(expression)]
        if normal is not None:
            return normal.beta(names, lambda expression: self._value(expression, names))
        try:
            inner = self._with_names(expression, names)
            value = limit(inner, sign_throughout(self.intervals)) if unknowns(inner) else inner
            if value is None:
                raise expression.error(
                    "E0609",
                    "beta has no limit where dd is infinite",
                    expression.tree,
                    "",
                    (
                        "a row with dd = inf needs Pr >= 1 - beta for every alpha, so beta must have a limit as alpha "
                        "grows"
                    ),
                )
            if isinstance(value, Parametric):
                quotient = proved_quotient(value.numerator_flat(), value.denominator)
                if quotient is not None:
                    return PiecewiseForm(quotient)
            result = PiecewiseForm(value)
            result.conditions()
        except TooLarge:
            raise expression.error(
                "E0613", "beta has too many pieces", expression.tree, "", "nest fewer of min, max and abs"
            ) from None
        except Undecided as error:
            raise expression.error(
                "E0613", "beta is too large to be written with one denominator", expression.tree, "", error.reason
            ) from None
        return result

    def _with_names(self, expression: ClaimExpression, names: dict[str, Parametric]) -> Selected:
        """Return the value of `expression` at a row of the table; raise DiagnosticError if it has no value.

        `names` has the row's values of alpha, gamma and dd, and the values of the constants. For speed, the value is
        computed once for all rows, with alpha, gamma and dd as unknowns; then the row's values replace the unknowns. If
        this is not possible, `expression` is evaluated for this row alone.
        """
        if id(expression) not in self._opened:
            left_open = {**self.constants, **{name: Parametric.unknown(name) for name in DISTANCES}}
            try:
                self._opened[id(expression)] = expression.value(left_open, self.intervals)
            except DiagnosticError:
                self._opened[id(expression)] = None
        opened = self._opened[id(expression)]
        values = {name: names[name] for name in DISTANCES if name in names}
        if opened is not None and unknowns(opened) <= values.keys():
            with suppress(TooLarge):
                result = rebuild(opened, lambda leaf: leaf.substituted(values))
                if result is not None and bits(result) <= RESULT_BIT_LIMIT:
                    return result
        return expression.value(names, self.intervals, far=True)


def resolve_claim(program: CoreProgram, table: Table, options: ClaimOptions) -> Claim:
    """Return the claim for `table`, from its columns, the `options` and the claim block of `program`.

    Raises DiagnosticError for a claim that cannot be read, or that has no exact value at a row of the table. Raises
    TypeError for inexact numbers.
    """
    claim = Claim(
        program,
        table,
        alpha=claim_expression(program, "alpha", options.alpha),
        beta=claim_expression(program, "beta", options.beta),
        gamma=claim_expression(program, "gamma", options.gamma),
        intervals=claimed_intervals(program, options.eps),
        constants=constant_values(program),
    )
    claim.check()
    return claim


def _field(program: CoreProgram, name: str) -> ClaimField | None:
    if program.claim is None:
        return None
    return next((field_ for field_ in program.claim.fields if field_.name == name), None)


def claim_expression(program: CoreProgram, name: str, given: GivenValue) -> ClaimExpression | None:
    """Return the expression `name` (alpha, beta or gamma): `given` unless it is None, else that of the claim block.

    The result is None if the claim block of `program` has no such expression either. Raises DiagnosticError for text
    that cannot be parsed, TypeError for inexact numbers.
    """
    if isinstance(given, ClaimExpression):
        return given
    if given is not None:
        return ClaimExpression.parse(name, expression_text(given, name), f"<{name}>")
    field_ = _field(program, name)
    if field_ is None or isinstance(field_.value, tuple | ClaimedInputs):
        return None
    return ClaimExpression(name, program.source, field_.value)


def constant_values(program: CoreProgram) -> dict[str, Parametric]:
    """Return the values of the constants of `program` by name, as constant functions of eps."""
    return {name: Parametric.number(value) for name, value in program.constants.items()}


def claimed_intervals(program: CoreProgram, given: GivenEps) -> tuple[Interval, ...]:
    """Return the intervals of eps that a claim is about: `given`, those of the claim block, or all that are allowed.

    Raises DiagnosticError for intervals that cannot be read or that `program` does not allow, and TypeError for a
    float, a truth value or an object of another type.
    """
    intervals: tuple[Interval, ...]
    match given:
        case None if program.only_at is not None:
            return (Interval(program.only_at, program.only_at, True, True),)
        case None:
            field_ = _field(program, "eps")
            if field_ is None or not isinstance(field_.value, tuple):
                return program.only_in or (Interval.POSITIVE,)
            intervals = resolve_intervals(program.source, field_.value, constant_values(program))
        case Interval():
            intervals = (given,)
        case _:
            source = SourceText("<eps>", given_text(given))
            intervals = resolve_intervals(source, parse_interval(source), constant_values(program))
    program.require_meaning(intervals)
    return intervals


def the_one_eps(intervals: Sequence[Interval]) -> Fraction | None:
    """Return the only eps of `intervals`, or None if they contain several."""
    return intervals[0].lower if len(intervals) == 1 and intervals[0].is_point else None


def given_text(eps: str | int | Fraction | Interval) -> str:
    """Return `eps`, as a Python caller gives it, as text.

    Raises TypeError for a truth value, a float and other types.
    """
    if isinstance(eps, bool):
        raise TypeError("eps must be a number, or a text of intervals, not a truth value")
    if isinstance(eps, str | int | Fraction | Interval):
        return str(eps)
    raise TypeError(f'eps must be a text such as "(0, inf)", not {type(eps).__name__}')


def expression_text(given: GivenValue, name: str) -> str:
    """Return `given`, which is the alpha, beta or gamma (`name`) of a claim, as an expression of dipc.

    SymPy's names for min, max and abs and its power operator are replaced by those of dipc. Raises TypeError for
    anything but text and exact numbers; the message mentions the `name`.
    """
    if isinstance(given, str):
        return given
    if isinstance(given, ClaimExpression):
        return print_expression(given.tree)
    if hasattr(given, "free_symbols"):
        return language_text(given)
    return str(exact_rational(given, name))


def _distance(cell: Cell) -> Parametric:
    return Parametric.unknown("alpha") if cell is INFINITY else Parametric.number(number_of(cell))


def missing_beta(program: CoreProgram, row: Row | None = None, *, table: bool = True) -> Diagnostic:
    """Return the diagnostic for a claim without a beta, or for a `row` with an empty cell in the column `beta`.

    The help of the diagnostic names the places where a claim about `program` can have a beta. A column of the table is
    among these places if `table` is True.
    """
    if row is not None:
        return Diagnostic(
            "E0601", f"no beta is given for row {row.number}", notes=("fill the cell, or give `--beta` for such rows",)
        )
    column = ", a column `beta` in the table," if table else ","
    if program.source.accepted is not None:
        block = 'a claim: `@dipc.mechanism(claim=dict(beta="exp(-eps)"))`'
    else:
        block = "`beta:` in the program's claim block"
    return Diagnostic("E0601", "no beta is given", notes=(f"give `--beta EXPR`{column} or {block}",))


def _relocate(diagnostic: Diagnostic, place: Excerpt | None, cell: str) -> Diagnostic:
    """Return `diagnostic`, a mistake in the text `cell` of the column `beta`, with its place in the table's file.

    `place` is where the file has the cell. If it is None, because the table has no file, the message names the column
    and quotes the cell instead. A diagnostic without a place is returned unchanged.
    """
    if diagnostic.excerpt is None:
        return diagnostic
    if place is None:
        return replace(diagnostic, message=f"column `beta`, {cell!r}: {diagnostic.message}", excerpt=None)
    quote = 1 if place.text[place.column - 1 : place.column] == '"' else 0
    column = place.column + quote + diagnostic.excerpt.column - 1
    return replace(diagnostic, excerpt=replace(place, column=column, length=diagnostic.excerpt.length), secondary=())


# --- The options of a claim -------------------------------------------------------------------------------------------


@frozen
class ClaimOptions:
    """The parts of a claim that options give.

    A part that is None is taken from a column of the table or from the claim block. To ask a question again with
    another part, use `dataclasses.replace`.
    """

    beta: GivenValue = None
    alpha: GivenValue = None
    gamma: GivenValue = None
    eps: GivenEps = None


# --- Warnings about a gamma without effect, or without a value --------------------------------------------------------


#: The warning that no output can use gamma.
UNUSED_GAMMA = "W0602"


#: The warning that dd is the same at every input.
SAME_DISTANCE = "W0604"


def gamma_warnings(claim: Claim, plain: bool) -> tuple[Diagnostic, ...]:
    """Return the warnings about a gamma or a dd that has no effect on `claim`.

    There is a warning if gamma is not 0 but no output uses it, and another if beta mentions gamma but no gamma is
    given, so that gamma is 0. A third warning is about a beta that depends on dd, where dd is equal at all rows.
    `plain` is True if every output is compared alone: then a finite output must equal the right one, for every gamma.
    """
    diagnostics: list[Diagnostic] = []
    gammas = [terms.gamma.value for _, terms in claim.compiled()]
    given = claim.gamma is not None or "gamma" in claim.table.columns
    if any(gammas):
        diagnostics += unused_gamma(claim.program, plain)
    if not given and claim.beta is not None and mentions(claim.beta.tree, "gamma"):
        diagnostics.append(forgotten(claim))
    if _has_constant_dd(claim):
        diagnostics.append(_same_distance(claim))
    return tuple(diagnostics)


def _has_constant_dd(claim: Claim) -> bool:
    """Return True if beta depends on alpha in `claim`, and all rows of its table have the same finite dd.

    The result is False unless alpha is dd, the program has an ideal, and the program has at least two inputs, each with
    two values. It is also False if distances of inputs are measured in the l1 norm, or if the table has one row.
    """
    program = claim.program
    norm = "linf" if program.metric is None else program.metric.input
    bits = [slot.type for slot in program.input_slots]
    if program.ideal is None or norm == "l1" or len(bits) < 2:
        return False
    if not all(type_ is BaseType.BOOL or (isinstance(type_, DomType) and len(type_.values) == 2) for type_ in bits):
        return False
    if claim.alpha is not None and not (isinstance(claim.alpha.tree, Name) and claim.alpha.tree.name == "dd"):
        return False
    distances = {None if row.dd is None else row.dd.value for row in claim.table.rows}
    depends = claim.beta is not None and mentions(claim.beta.tree, "alpha")
    return depends and len(claim.table.rows) > 1 and len(distances) == 1 and distances != {None}


def _same_distance(claim: Claim) -> Diagnostic:
    place = claim.alpha or claim.beta
    assert place is not None
    distance = claim.table.rows[0].dd
    assert distance is not None
    written = "`metric { input: l1; }`" if claim.program.source.tree is None else '`claim=dict(metric="l1")`'
    notes = (
        f"write {written}: then dd is the number of inputs that have to change for another answer",
        "or write `alpha: 0` and a beta without alpha",
    )
    return Diagnostic(
        SAME_DISTANCE,
        f"alpha is dd, and dd is {distance.text} at every input, so beta is the same at all of them",
        place.source.excerpt(place.tree.span),
        notes=notes,
    )


def unused_gamma(program: CoreProgram, plain: bool) -> tuple[Diagnostic, ...]:
    """Return a tuple with one warning if gamma has no effect for `program`, else an empty tuple.

    `plain` is True if every output is compared alone. Then gamma has no effect if all outputs have finitely many
    values, since each must equal the right one.
    """
    finite = all(not slot.is_symbolic for slot in program.output_slots)
    return (_unused(program),) if plain and finite else ()


def forgotten(claim: Claim) -> Diagnostic:
    """Return the warning that the beta of `claim` mentions gamma, which was not given and is therefore 0."""
    assert claim.beta is not None
    place = claim.beta.source.excerpt(claim.beta.tree.span)
    notes = ("give `--gamma VALUE`, or `gamma:` in the claim block; `--gamma free` asks about every gamma",)
    return Diagnostic("W0601", "beta mentions gamma, which is 0 because it is not given", place, notes=notes)


def _unused(program: CoreProgram) -> Diagnostic:
    names: Sequence[str] = [slot.name for slot in program.output_slots]
    numeric = [
        slot.name
        for slot in program.output_slots
        if isinstance(kind := slot.type, DomType) and not any(isinstance(v, str) for v in kind.values)
    ]
    name = (numeric or names or ["out"])[0]
    metric = f"`metric {{ output: abs({name} - {name}'); }}`"
    if program.source.tree is None:
        notes = [
            f"{metric} compares these numbers by their distance, like numbers of type int",
            "or add a bool output that says whether the answer is good enough",
        ]
    else:
        notes = [
            'in the claim, `metric=dipc.metric(output="linf")` compares these numbers by their distance',
            "or return a truth value that says whether the answer is good enough",
        ]
    if not numeric:
        del notes[0]
    message = "gamma has no effect: an output with finitely many values is right only if it equals the right answer"
    return Diagnostic(UNUSED_GAMMA, message, notes=tuple(notes))

"""The way from a user's question to the source of its obligations, and to its answer: `check`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from stat import S_ISREG
from time import perf_counter
from typing import TYPE_CHECKING, Unpack

from dipc.algebra.limits import Effort, Limits
from dipc.claims.claim import ClaimOptions, claim_expression, is_free, resolve_claim
from dipc.claims.table import Table, TableGiven, read_table
from dipc.claims.transcendental import enclosed_claim
from dipc.decide.engine import Engine
from dipc.frozen import LazyModule, frozen
from dipc.options import GivenCheck, GivenError, GivenForAll, GivenRows, Options, asks_for_all, takes
from dipc.program.inputs import InputSpec, completed, default_inputs, parse_inputs, table_of, with_selection
from dipc.program.program import Program, ProgramGiven, Progress, as_program
from dipc.questions.report import ClassResult, Interrupted, Report, RowResult
from dipc.questions.source import Enclosed, Source, WeakerClaim, results
from dipc.text.ast import mentions
from dipc.text.declarations import computed_from
from dipc.text.diagnostic import Diagnostic, DiagnosticError, bad_input
from dipc.text.parser import parse
from dipc.text.printer import print_expression
from dipc.text.program import CoreProgram

if TYPE_CHECKING:
    from dipc.program import expected_error as expected_errors
    from dipc.program import ideal as ideals
    from dipc.questions import expected_error as errors_of_rows
    from dipc.questions import long_tables, rows, symmetric_inputs
else:
    ideals = LazyModule("dipc.program.ideal")
    errors_of_rows = LazyModule("dipc.questions.expected_error")
    expected_errors = LazyModule("dipc.program.expected_error")
    long_tables = LazyModule("dipc.questions.long_tables")
    rows = LazyModule("dipc.questions.rows")
    symmetric_inputs = LazyModule("dipc.questions.symmetric_inputs")


def question_of(program: Program, table: TableGiven | None, asked: Options) -> Source:
    """Return the question of whether the claim about `program` holds at every row of `table`, with the options `asked`.

    If `table` is None, the claim is about the inputs that `asked` names, with det as their answer. If the option
    `classes` is true, inputs with the same obligation are one case that counts them. None groups inputs in this way if
    there are thousands of them, or if there are at least 65 and some inputs are interchangeable. If the option
    `as_given` is true, the declared types of inputs are not changed. The option `progress` is called while the answers
    at the inputs are computed. Raises DiagnosticError for a table, inputs or a claim that cannot be read or make no
    sense.
    """
    if table is None:
        program, selected = with_selection(program, asked.inputs)
        asked = replace(asked, inputs=selected)
    claim = asked.claim
    inputs = inputs_meant(program, table, asked)
    opened = asked.open_constant(None if table is not None else inputs)
    if table is None and asks_for_all(inputs):
        # A check of rows starts sooner if these modules are not imported.
        from dipc.questions.both_open import question_about_all, with_clipped_inputs

        def about_all(options: ClaimOptions) -> Source:
            if opened is not None:
                from dipc.questions.every_number.all_numbers import AllNumbers

                return AllNumbers(program, *opened, options, by_inputs=_about_every_input)
            every_input = question_about_all(with_clipped_inputs(program, options), options)
            betas = every_input.claim.lesser()
            # For integer distances beta need not be replaced by lesser functions.
            if not betas or every_input.ideal.whole_inputs:
                return every_input
            first, *others = (every_input.asking(replace(options, beta=beta)) for beta in betas)
            texts, why = {"beta": every_input.stated["beta"] or ""}, every_input.claim.open().reason or ""
            return Enclosed(first, every_input, texts, why, tuple(others), relation=WeakerClaim.ITSELF)

        number = None if opened is None else opened[0]
        return _enclosed_source(program, claim, None, about_all, number)
    if table is not None and asked.classes:
        note = 'give `--inputs` instead, such as `--inputs "q = -1..1"`: the answers then come from the `ideal` block'
        raise bad_input("E1255", "the rows of a table are checked one by one, not in classes", note)
    if table is not None or program.core.ideal is None:

        def read_at_once() -> Source:
            return _row_source(program, prepared(program, table, inputs, asked.progress), claim)

        long = None
        if table is not None and inputs is None and not asked.forms and _is_long(table):
            long = long_tables.long_table(program, table, asked, read_at_once)
        return read_at_once() if long is None else long
    classes = symmetric_inputs.grouped(program, inputs, asked.classes, as_given=asked.as_given)
    if classes is not None:
        source = _row_source(classes.program, classes.table, claim)
        source.annotate, source.word = classes.counted, "class"
        return source
    source = _row_source(program, prepared(program, None, inputs, asked.progress), claim)
    if symmetric_inputs.is_everything(program, inputs):
        source.annotate = symmetric_inputs.with_corollary
    return source


#: The size in bytes of a file from which its table may be decided in chunks.
LEAST_BYTES = 1 << 20


def _is_long(table: TableGiven) -> bool:
    """Return True if `table` is the path of a regular file of at least LEAST_BYTES bytes."""
    if not isinstance(table, str | os.PathLike):
        return False
    try:
        found = Path(table).stat()
    except (OSError, ValueError):
        return False
    return S_ISREG(found.st_mode) and found.st_size >= LEAST_BYTES


def _row_source(program: Program, table: Table, options: ClaimOptions) -> Source:
    def about_rows(o: ClaimOptions) -> Source:
        if is_free(program.core, o.gamma):
            return rows.FreeGamma(program, table, o)
        claim = resolve_claim(program.core, table, o)
        return (rows.TableRows if program.expected_quantity is None else errors_of_rows.ErrorRows)(
            program, table, claim
        )

    return _enclosed_source(program, options, table, about_rows)


def _about_every_input(program: Program, claim: ClaimOptions) -> Source:
    # A function of this module and not a local one, so that reports can be pickled.
    return question_of(program, None, Options(beta=claim.beta, alpha=claim.alpha, gamma=claim.gamma, eps=claim.eps))


def _enclosed_source(
    program: Program,
    options: ClaimOptions,
    table: Table | None,
    source: Callable[[ClaimOptions], Source],
    number: str | None = None,
) -> Source:
    """Return the question about `program` with the claim of `options`, which may contain logarithms.

    A claim with logarithms is decided by one claim without them, or by two: a stronger and a weaker one. `source`
    builds the question for one claim. `table` is the table of the question, None for a claim about all inputs. `number`
    is the constant m of a question about every m.
    """
    core = program.core
    enclosed = enclosed_claim(core, options, () if table is None else table.columns, left_open(core, number))
    if enclosed is None or (enclosed.stronger == enclosed.weaker and enclosed.ranges is None):
        return source(options if enclosed is None else enclosed.stronger)
    stronger = source(enclosed.stronger)
    if stronger.numbers is not None and stronger.numbers[1] < 0:
        message = (
            "in a claim with transcendental numbers a constant that is left open must not be negative, and "
            f"`{number}` can be"
        )
        raise bad_input("E0615", message, f'restrict it: --for-all "{number} >= 0"')
    others = () if enclosed.touching is None else (source(enclosed.touching),)
    ranges = enclosed.ranges
    return Enclosed(
        stronger,
        source(enclosed.weaker),
        enclosed.texts,
        others=others,
        irrational=None if ranges is None else (ranges.written, ranges.ends),
        relation=WeakerClaim.AROUND if ranges is not None and ranges.is_point else WeakerClaim.IMPLIED,
    )


def left_open(program: CoreProgram, number: str | None) -> tuple[str, ...]:
    """Return the constant `number` of a question about every m, and the constants that `program` computes from it.

    The result is empty if `number` is None.
    """
    if number is None:
        return ()
    return (number, *computed_from(parse(program.source).declarations, program.overrides, number))


def prepared(
    program: Program, table: TableGiven | None, inputs: InputSpec | None, progress: Progress | None = None
) -> Table:
    """Return the table to check: `table` with dd added from the `ideal` of `program`, or the table of det at `inputs`.

    `progress` is called while det and dd are computed. Raises DiagnosticError for a table or inputs that cannot be
    read, and if neither is given and the program needs them.
    """
    if table is not None and inputs is not None:
        note = "give either the inputs, to have the answers computed, or the table"
        raise bad_input("E1114", "a table and inputs are both given, but the table lists its own inputs", note)
    if table is not None:
        return completed(program, read_table(table, program.core), progress)
    if program.core.ideal is None:
        raise DiagnosticError(_nothing_given(program, inputs is not None))
    program, chosen = with_selection(program, inputs)
    if chosen is None or (
        program.core.selection is not None and asks_for_all(chosen) and program.core.has_finite_inputs
    ):
        return table_of(program, default_inputs(program), progress)
    return table_of(program, parse_inputs(chosen, program), progress)


def table(program: ProgramGiven, inputs: InputSpec | None = None, *, limits: Limits | None = None) -> Table:
    """Return the table of det and dd of `program` at `inputs`; by default at all inputs, which must then be finite.

    `limits` bound the work. Raises DiagnosticError for a program without an `ideal`, and as `check` does.
    """
    return prepared(as_program(program, limits), None, inputs)


def inputs_meant(program: Program, table: TableGiven | None, asked: Options) -> InputSpec | None:
    """Return the inputs of a question about `program` with the options `asked`.

    These are the inputs that the options give. Without them, and without a `table`, they are those of the claim block.
    The result is None if the table gives the inputs, and for a program with finite inputs if all of them are meant.
    """
    given = asked.inputs
    inputs = program.core.claimed_inputs if given is None and table is None else given
    enumerated = program.core.has_finite_inputs and table is None and asked.for_all is None
    return None if enumerated and asks_for_all(inputs) else inputs


def _nothing_given(program: Program, wants_inputs: bool) -> Diagnostic:
    if wants_inputs or program.core.source.tree is not None:
        message = f"the program `{program.name}` has no `ideal` block that gives the right answers at these inputs"
        if program.core.source.tree is not None:
            message = f"the mechanism `{program.name}` makes a `choice`, so it has to say what its right answer is"
        notes = (ideals.how_to_say_the_answer(program.core), "or give a table of inputs with their answers: TABLE.csv")
        return Diagnostic("E1101", message, notes=notes)
    return Diagnostic(
        "E1115",
        "neither a table nor inputs are given",
        notes=("give a table of inputs with their answers, TABLE.csv, or an `ideal` block and `--inputs`",),
    )


#: Rows between two calls of a progress function, and seconds after which it is called anyway.
_PROGRESS_ROWS = 256
_PROGRESS_SECONDS = 0.1


@takes(GivenCheck)
def check(program: ProgramGiven, table: TableGiven | None = None, **given: Unpack[GivenCheck]) -> Report:
    """Decide Pr[output within gamma of the answer] >= 1 - beta at every row of `table`, or for det at `inputs`.

    The claim is decided for every eps in the intervals. The keyword arguments `given` are the options explained below.

    `program` is a loaded program, or a path or a text that `dipc.load` takes. `table` is the path of a CSV file, a list
    of dicts, a pair (header, rows), or a DataFrame; without a column dd it gets dd(u) from the `ideal`. `inputs` needs
    an `ideal`. It is a text such as "q = -1..1", the path of a CSV file of inputs, a list of dicts such as [{"q": (-1,
    0, 1)}], or a DataFrame. Numbers are ints, Fractions, Decimals or strings, never floats; an array is a sequence
    under its name, or given element by element. The inputs "all" are every real and int input. With `for_all`, such as
    "m" or "m >= 3", the question is about every real input and every value of a constant. Without table and inputs, a
    program whose inputs are all finite is checked at all of them.

    `beta`, `alpha` and `gamma` are expressions as text, or exact numbers; `eps` is a text of intervals, or a number.
    None leaves them to the table's columns and the program's claim block; gamma "free" asks about every gamma.

    With `classes` the rows of the report are classes of inputs with the same obligation, each with its number of
    inputs. None does this for thousands of inputs, and for 65 inputs or more if some of them may change places. With
    `digits` the ends of failing intervals are given to this many significant digits, with the worst eps of each
    interval. With `keep_proofs` the report has the evidence from which certificates are written.

    `jobs` processes share the work, one per processor for 0 or "auto"; with `dask` the work goes to the Dask scheduler
    at this address. Decisions are stored in the file `cache` and used again. These three options do not change the
    report, except for its times and counts of work.

    The report has a verdict and no truth value: `dipc.check(...).require()` fails in a test unless it is accurate.

    Raises DiagnosticError for a bad table or claim before anything is decided, and for a cache or a cluster that cannot
    be used. Raises Interrupted, with the rows done so far, on Ctrl-C. A row that exceeds a limit is undecided; the
    other rows are still decided.
    """
    begun = perf_counter()
    options = Options(**given)
    program = as_program(program, options.limits, options.eps)
    with ExitStack() as stack:
        engine = options.engine(stack, program)
        try:
            source = question_of(program, table, replace(options, as_given=options.keep_proofs, progress=None))
        except KeyboardInterrupt:
            effort = Effort(seconds=perf_counter() - begun)
            raise Interrupted(Report(program.name, (), "", interrupted=True, effort=effort), 0, None) from None
        table_seconds = perf_counter() - begun
        report = answer(source, engine, options.progress)
    effort = replace(report.effort, seconds=perf_counter() - begun, table_seconds=table_seconds)
    return replace(report, effort=effort)


def answer(source: Source, engine: Engine, progress: Progress | None = None) -> Report:
    """Decide all cases of `source` with `engine` and return the report.

    `progress` is called with the number of decided rows and the number of all rows. Raises Interrupted, with the rows
    done so far, on Ctrl-C.
    """
    begun = perf_counter()
    rows, steps = source.begin(engine)
    total = source.total
    due = begun + _PROGRESS_SECONDS

    def tell() -> None:
        nonlocal due
        if progress is not None and perf_counter() > due:
            progress(len(rows), total)
            due = perf_counter() + _PROGRESS_SECONDS

    def report(*, interrupted: bool) -> Report:
        result = source.annotate(source.report(rows, engine, interrupted=interrupted))
        return replace(result, effort=replace(result.effort, seconds=perf_counter() - begun))

    try:
        with engine.observed(tell):
            for _ in steps:
                if progress is not None and len(rows) % _PROGRESS_ROWS == 0:
                    progress(len(rows), total)
                tell()
        if progress is not None:
            progress(len(rows), total)
    except KeyboardInterrupt:
        raise Interrupted(report(interrupted=True), len(rows), total) from None
    return report(interrupted=False)


@takes(GivenRows)
def iter_rows(
    program: ProgramGiven, table: TableGiven | None = None, **given: Unpack[GivenRows]
) -> Iterator[RowResult]:
    """Yield the rows of `check` for `program` and `table` one by one, as they are decided.

    The options `given` are those of `check`. The table and the claim are checked before the first row.
    """
    options = Options(**given, classes=False)
    program = as_program(program, options.limits, options.eps)
    source = question_of(program, table, options)
    return results(source.cases(), Engine(program.measurer, program.limits))


@frozen
class ForAll:
    """The result of `check_for_all`: a report with a row for each small m and one for all m >= `start`.

    A small m for which the claim fails has a row for each class that fails. `least` is the least m that the claim is
    about.
    """

    report: Report
    least: int
    start: int


@takes(GivenForAll)
def check_for_all(
    program: ProgramGiven, parameter: str, *, least: int | None = None, **given: Unpack[GivenForAll]
) -> ForAll:
    """Decide the claim of `program` for every real input and every integer value of the constant `parameter`.

    The values begin at the first index of the loop over queries, or at `least` if that is greater; the other options
    `given` are those of `check`. An accurate verdict is proved exactly for small values, and by a union bound over
    single comparisons for all others. An inaccurate verdict comes with a value and an input. Raises DiagnosticError for
    input that cannot be read, and for an unknown constant.
    """
    for_all = parameter if least is None else f"{parameter} >= {least}"
    report = check(program, inputs="all", for_all=for_all, **given)
    last = report.rows[-1]
    assert isinstance(last, ClassResult)
    assert last.note.numbers is not None, "the last row is about all large enough numbers"
    return ForAll(report, *last.note.numbers)


@takes(GivenError)
def expected_error(
    program: ProgramGiven, table: TableGiven | None = None, **given: Unpack[GivenError]
) -> errors_of_rows.ErrorReport:
    """Return the expected error of the answers of `program` at every row of `table`, or at every one of `inputs`.

    The error is |output - det(u)| for a numeric `output`, its square for `moment` 2, or the distance of finite answers
    that the `metric` block defines. The expected error is returned in closed form in eps, with its value at the eps
    `at`. If the option `error` or the claim block states a bound, the report also decides whether every expected error
    is at most this bound, for every eps of the intervals. Further options `given` are those of `check`.

    Raises DiagnosticError for a bad table or claim, and if answers have no distance. A row past a limit has no error,
    but a reason; on Ctrl-C the report has the rows done so far.
    """
    options = Options(**given)
    with ExitStack() as stack:
        asked = error_asked(as_program(program, eps=options.eps), table, options)
        engine = options.engine(stack, asked.source.program)
        return errors(asked, engine, options)


@frozen
class ErrorAsked:
    """The question `source` about expected errors; `claimed` is the text of the claimed bound, None without one."""

    source: Source
    claimed: str | None


def errors(asked: ErrorAsked, engine: Engine, options: Options) -> errors_of_rows.ErrorReport:
    """Return the expected errors that `asked` is about, for every row or every class of inputs, decided by `engine`.

    `options` has the eps at which errors are evaluated, and the progress function. Raises DiagnosticError for claims
    that make no sense.
    """
    source, point, claimed = asked.source, options.at_eps, asked.claimed is not None
    if isinstance(source, errors_of_rows.ErrorRows):
        rows = errors_of_rows.table_rows(source, engine, point, claimed=claimed)
    else:
        from dipc.questions.every_error import class_rows

        rows = class_rows(source, engine, point, claimed=claimed)
    return errors_of_rows.error_report(source, rows, engine, point, asked.claimed, options.progress)


def error_asked(program: Program, table: TableGiven | None, options: Options) -> ErrorAsked:
    """Return the question about expected errors of `program` that `options` define.

    The question is about the rows of `table`; None for the inputs of `options`. Raises DiagnosticError if the question
    cannot be read, or if expected errors are not known for these inputs.
    """
    erring, asked = about_errors(as_program(program, options.limits), options)
    stated = resolve_claim(erring.core, _NO_ROWS, asked.claim).beta
    if stated is None:
        asked = replace(asked, beta="0")
    source = question_of(erring, table, replace(asked, classes=False))
    if not isinstance(source, errors_of_rows.ErrorRows):
        source = getattr(source, "source", source)
    if not isinstance(source, errors_of_rows.ErrorRows):
        # The expected errors of rows start sooner if this module is not imported.
        from dipc.questions.every_input import EveryInput

        if erring.error.place is None or not isinstance(source, EveryInput):
            notes = (
                'give a table, or inputs such as --inputs "q = -1..1"',
                "for every input they are known only if there is a single output, a number",
            )
            raise bad_input("E1805", "expected errors are known only at finitely many inputs here", *notes)
    return ErrorAsked(source, None if stated is None else print_expression(stated.tree))


def about_errors(program: Program, options: Options) -> tuple[expected_errors.Erring, Options]:
    """Return a program and options that ask about the expected error of `program` instead of its error probability.

    The first has the expected error in place of the error probability. The second are `options` with the bound on the
    expected error as beta.
    """
    program, inputs = with_selection(program, options.inputs)
    options = replace(options, inputs=inputs)
    erring = (
        program
        if isinstance(program, expected_errors.Erring)
        else expected_errors.Erring(program, expected_errors.measured(program, options.moment, options.output))
    )
    beta = options.beta if options.error is None else options.error
    stated = claim_expression(erring.core, "beta", beta)
    distances = stated is not None and any(mentions(stated.tree, name) for name in ("alpha", "dd"))
    alpha = options.alpha if options.alpha is not None or distances else "0"
    return erring, replace(options, beta=beta, alpha=alpha, gamma="0")


_NO_ROWS = Table("no rows", (), frozenset(), {})

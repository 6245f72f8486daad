"""From what a user asks to the source of its obligations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from dipc.algebra.limits import Limits
from dipc.claims.claim import ClaimOptions, resolve_claim
from dipc.claims.table import Table, TableGiven, read_table
from dipc.claims.transcendental import enclosed_claim
from dipc.decide.engine import Engine
from dipc.options import GivenSource, Options, asks_for_all
from dipc.program.inputs import InputSpec, Progress, completed, default_inputs, parse_inputs, table_of
from dipc.program.program import Program, Work, within
from dipc.questions.enclosed import Enclosed
from dipc.questions.every_gamma import FreeGamma
from dipc.questions.outcome import RowResult
from dipc.questions.report import Report
from dipc.questions.rows import TableRows
from dipc.questions.source import Case, Source
from dipc.questions.symmetric_inputs import ClassTable, grouped, is_everything, with_corollary
from dipc.rules.class_claim import is_free
from dipc.sign.interval import Interval
from dipc.text.declarations import computed_from
from dipc.text.diagnostic import Diagnostic, DiagnosticError
from dipc.text.parser import parse


def question(
    program: Program,
    table: TableGiven | None = None,
    **given: Unpack[GivenSource],
) -> Source:
    """The claim at every row of `table`, or for det at every one of `inputs`; see `check` for what these and `for_all`
    may be.

    With `classes` inputs with the same obligation are one case, with their `count`; None does so where there are
    thousands. `as_given` leaves the types of inputs as they are declared even then, for those who look at the program.
    `progress` is called while the answers at the inputs are computed.

    Raises DiagnosticError for a table, inputs or a claim that cannot be read or make no sense.
    """
    return question_of(program, table, Options(**given))


def question_of(program: Program, table: TableGiven | None, asked: Options) -> Source:
    """`question`, of options in one object."""
    program, claim = within(program, asked.limits), asked.claim
    inputs = inputs_meant(program, table, asked.inputs)
    opened = asked.open_constant(None if table is not None else inputs)
    if table is None and asks_for_all(inputs):
        # A check of rows starts sooner without what only these need.
        from dipc.questions.both_open import EveryDistance, leaves_both_open
        from dipc.questions.every_input import EveryInput

        def about_every_input(options: ClaimOptions) -> Source:
            if opened is not None:
                from dipc.questions.every_number.all_numbers import AllNumbers

                return AllNumbers(program, *opened, options)
            if leaves_both_open(program, options):
                return EveryDistance(program, options)
            found = EveryInput(program, options)
            betas = found.claim.lesser()
            # Integer distances are decided with beta as it is.
            if not betas or found.ideal.whole_inputs:
                return found
            first, *others = (EveryInput(program, replace(options, beta=beta)) for beta in betas)
            said, why = {"beta": found.stated["beta"] or ""}, found.claim.open().reason or ""
            return Enclosed(first, found, said, why, tuple(others), itself=True)

        number = None if opened is None else opened[0]
        return _between(program, claim, None, about_every_input, number)
    found = grouped(program, table, inputs, asked.classes, as_given=asked.as_given)
    if found is not None:
        return Representatives(_about(found.program, found.table, claim), found)
    source = _about(program, prepared(program, table, inputs, asked.progress), claim)
    return Everything(source) if is_everything(program, table, inputs) else source


def _about(program: Program, table: Table, options: ClaimOptions) -> Source:
    def about_rows(o: ClaimOptions) -> Source:
        if is_free(program, o.gamma):
            return FreeGamma(program, table, beta=o.beta, alpha=o.alpha, eps=o.eps)
        claim = resolve_claim(program.core, table, beta=o.beta, alpha=o.alpha, gamma=o.gamma, eps=o.eps)
        return TableRows(program, table, claim)

    return _between(program, options, table, about_rows)


def _between(
    program: Program,
    options: ClaimOptions,
    table: Table | None,
    source: Callable[[ClaimOptions], Source],
    number: str | None = None,
) -> Source:
    """The source for these options; where they have logarithms, for the claim without, or between those for two. The
    constant `number` is left open, if there is one."""
    core = program.core
    left_open: tuple[str, ...] = ()
    if number is not None:
        left_open = (number, *computed_from(parse(core.source).declarations, core.given, number))
    found = enclosed_claim(core, options, () if table is None else table.columns, left_open)
    if found is None or found.stronger == found.weaker:
        return source(options if found is None else found.stronger)
    stronger = source(found.stronger)
    if stronger.numbers is not None and stronger.numbers[1] < 0:
        message = f"a claim with transcendental numbers is about numbers that are not negative, and `{number}` may be"
        raise DiagnosticError(Diagnostic("E0615", message, notes=(f'say which: --for-all "{number} >= 0"',)))
    return Enclosed(stronger, source(found.weaker), found.said)


@dataclass(frozen=True)
class _Of(Source):
    """Another source, reported in another way."""

    source: Source

    @property
    def program(self) -> Program:
        return self.source.program

    @property
    def intervals(self) -> tuple[Interval, ...]:
        return self.source.intervals

    @property
    def total(self) -> int | None:
        return self.source.total

    @property
    def table(self) -> Table | None:
        return self.source.table

    @property
    def work(self) -> Work:
        return self.source.work

    @property
    def stated(self) -> Mapping[str, str | None]:
        return self.source.stated

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self.source.warnings

    def cases(self) -> Iterable[Case]:
        return self.source.cases()

    def begin(self, engine: Engine) -> tuple[Sequence[RowResult], Iterator[object]]:
        return self.source.begin(engine)


class Everything(_Of):
    """All inputs of a program with finite inputs and outputs: Corollary 13 of the paper."""

    def report(self, rows: Sequence[RowResult], engine: Engine, *, interrupted: bool = False) -> Report:
        return with_corollary(self.source.report(rows, engine, interrupted=interrupted))


@dataclass(frozen=True)
class Representatives(_Of):
    """The representatives of classes of inputs, each with the `count` of the inputs it stands for."""

    found: ClassTable

    def report(self, rows: Sequence[RowResult], engine: Engine, *, interrupted: bool = False) -> Report:
        report = self.source.report(rows, engine, interrupted=interrupted)
        return report if interrupted else self.found.counted(report)


def prepared(
    program: Program, table: TableGiven | None, inputs: InputSpec | None, progress: Progress | None = None
) -> Table:
    """The table to check: the one given, with what the ideal adds to it, or that of det at `inputs`.

    Raises DiagnosticError for what cannot be read, and where neither is given and the program does not do without.
    """
    if table is not None and inputs is not None:
        note = "give inputs alone to have the answers computed, or the table alone"
        raise DiagnosticError(
            Diagnostic("E1114", "a table and inputs are given, and the table has its own", notes=(note,))
        )
    if table is not None:
        return completed(program, read_table(table, program.core), progress)
    if program.core.ideal is None:
        raise DiagnosticError(_nothing_given(program, inputs is not None))
    found = default_inputs(program) if inputs is None else parse_inputs(inputs, program)
    return table_of(program, found, progress=progress)


def table(program: Program, inputs: InputSpec | None = None, *, limits: Limits | None = None) -> Table:
    """The table of det and dd at `inputs`; by default at all inputs, which must be finite then.

    Raises DiagnosticError for a program without an `ideal`, and as `check` does.
    """
    return prepared(within(program, limits), None, inputs)


def inputs_meant(program: Program, table: TableGiven | None, inputs: InputSpec | None) -> InputSpec | None:
    """The inputs that are asked about: those given, else, where there is no table either, those of the claim block."""
    return program.core.claimed_inputs if inputs is None and table is None else inputs


def _nothing_given(program: Program, wants_inputs: bool) -> Diagnostic:
    if wants_inputs:
        message = f"the program `{program.name}` has no `ideal` block that says what the answers are at these inputs"
        return Diagnostic(
            "E1101", message, notes=("add `ideal { ... }`, or give a table of inputs with their answers: TABLE.csv",)
        )
    return Diagnostic(
        "E1115",
        "neither a table nor inputs are given",
        notes=("give a table of inputs with their answers, TABLE.csv, or an `ideal` block and `--inputs`",),
    )

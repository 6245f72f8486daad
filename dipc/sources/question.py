"""From what a user asks to the source of its obligations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dipc.algebra.limits import Limits
from dipc.claim.claim import Given, GivenEps, resolve_claim
from dipc.claim.options import ClaimOptions
from dipc.claim.transcendental import enclosed_claim
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Source as Text
from dipc.exits.probability import Work
from dipc.exits.program import Program, within
from dipc.ideal.inputs import InputSpec, default_inputs, parse_inputs, specifications
from dipc.ideal.table import Progress, completed, table_of
from dipc.lang.constants import computed_from
from dipc.lang.number_reader import BadValue, NumberReader
from dipc.lang.parser import parse, parse_lower_bound
from dipc.obligations.engine import Engine
from dipc.sign.interval import Interval
from dipc.sources.free_gamma import FreeGamma, is_free
from dipc.sources.outcome import RowResult
from dipc.sources.report import Report
from dipc.sources.rows import TableRows
from dipc.sources.source import Case, Source
from dipc.sources.symmetry.check import ClassTable, grouped, is_everything, with_corollary
from dipc.tables.table import Table, TableGiven, read_table

#: No constant is as large as this.
_LEAST = 10**9


def question(
    program: Program,
    table: TableGiven | None = None,
    *,
    inputs: InputSpec | None = None,
    for_all: str | None = None,
    beta: Given = None,
    alpha: Given = None,
    gamma: Given = None,
    eps: GivenEps = None,
    classes: bool | None = None,
    as_given: bool = False,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Source:
    """The claim at every row of `table`, or for det at every one of `inputs`; see `check` for what these and `for_all`
    may be.

    With `classes` inputs with the same obligation are one case, with their `count`; None does so where there are
    thousands. `as_given` leaves the types of inputs as they are declared even then, for those who look at the program.
    `progress` is called while the answers at the inputs are computed.

    Raises DiagnosticError for a table, inputs or a claim that cannot be read or make no sense.
    """
    program = within(program, limits)
    inputs = inputs_meant(program, table, inputs)
    if table is None and asks_for_all(inputs):
        # A check of rows starts sooner without what only these need.
        from dipc.sources.every_input.all_inputs import EveryInput
        from dipc.sources.every_input.both_open import EveryDistance, leaves_both_open
        from dipc.sources.every_number.all_numbers import AllNumbers

        opened = None if for_all is None else open_constant(for_all)

        def about_every_input(options: ClaimOptions) -> Source:
            if opened is not None:
                return AllNumbers(program, *opened, options)
            if leaves_both_open(program, options):
                return EveryDistance(program, options)
            found = EveryInput(program, options)
            betas = found.claim.lesser()
            # Integer distances are decided with beta as it is.
            if not betas or found.ideal.whole_inputs:
                return found
            from dipc.sources.enclosed import Enclosed

            first, *others = (EveryInput(program, replace(options, beta=beta)) for beta in betas)
            said, why = {"beta": found.stated["beta"] or ""}, found.claim.open().reason or ""
            return Enclosed(first, found, said, why, tuple(others), itself=True)

        number = None if opened is None else opened[0]
        return _between(program, ClaimOptions(beta, alpha, gamma, eps), None, about_every_input, number)
    if for_all is not None:
        name, _ = open_constant(for_all)
        notes = ("add --inputs all, or give the constant a number",)
        raise DiagnosticError(Diagnostic("E1209", f"`{name}` is left open, but not the inputs", notes=notes))
    found = grouped(program, table, inputs, classes, as_given=as_given)
    if found is not None:
        return Representatives(_about(found.program, found.table, beta, alpha, gamma, eps), found)
    source = _about(program, prepared(program, table, inputs, progress), beta, alpha, gamma, eps)
    return Everything(source) if is_everything(program, table, inputs) else source


def _about(program: Program, table: Table, beta: Given, alpha: Given, gamma: Given, eps: GivenEps) -> Source:
    def about_rows(o: ClaimOptions) -> Source:
        if is_free(program, o.gamma):
            return FreeGamma(program, table, beta=o.beta, alpha=o.alpha, eps=o.eps)
        claim = resolve_claim(program.core, table, beta=o.beta, alpha=o.alpha, gamma=o.gamma, eps=o.eps)
        return TableRows(program, table, claim)

    return _between(program, ClaimOptions(beta, alpha, gamma, eps), table, about_rows)


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
    from dipc.sources.enclosed import Enclosed

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


def open_constant(option: str) -> tuple[str, int | None]:
    """The constant that `for_all` leaves open, such as "m >= 3", and the least value that it is about; None: all."""
    source = Text("<--for-all>", option)
    bound = parse_lower_bound(source)
    if bound.least is None:
        return bound.name, None
    try:
        least = NumberReader(source, {}).number(bound.least)
    except BadValue as bad:
        raise DiagnosticError(bad.located("E1210", source)) from None
    if least.denominator != 1 or abs(least) >= _LEAST:
        notes = ('write a constant, or such as --for-all "m >= 3"',)
        place = source.excerpt(bound.least.span)
        raise DiagnosticError(Diagnostic("E1210", "the least value is no integer", place, notes=notes))
    return bound.name, int(least)


def inputs_meant(program: Program, table: TableGiven | None, inputs: InputSpec | None) -> InputSpec | None:
    """The inputs that are asked about: those given, else, where there is no table either, those of the claim block."""
    return program.core.claimed_inputs if inputs is None and table is None else inputs


def asks_for_all(inputs: object) -> bool:
    """Whether what was given as inputs asks for every input."""
    return [text.strip() for text in specifications(inputs) or ()] == ["all"]


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

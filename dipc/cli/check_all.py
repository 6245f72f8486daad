"""`dipc check --inputs all`: prove or refute a claim for every real input at once, and for every number of queries."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from dipc.cli.exits import ExitCode
from dipc.cli.output import write_result, write_text
from dipc.cli.progress import ProgressBar
from dipc.cli.statement import near_outputs
from dipc.cli.terminal import look_of, write
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Source, Span
from dipc.report.page import Look

if TYPE_CHECKING:
    from dipc.exits.program import Program
    from dipc.report.every_input import ClassStatement
    from dipc.sources.every_input.scaling import ClassClaim


def for_all_of(definitions: tuple[str, ...], option: str | None) -> tuple[tuple[str, ...], str | None]:
    """The definitions without `NAME=all`, and the constant that is left open; DiagnosticError for more than one."""
    kept: list[str] = []
    found = [] if option is None else [option.partition(">=")[0].strip()]
    for text in definitions:
        name, _, value = text.partition("=")
        if value.strip() == "all":
            found.append(name.strip())
        else:
            kept.append(text)
    if len(set(found)) > 1:
        source = Source("<-D>", f"{found[1]}=all")
        place = source.excerpt(Span(0, len(found[1])))
        notes = (f"`{found[0]}` is left open already: give the other one a number",)
        raise DiagnosticError(Diagnostic("E1208", "one constant can be left open, not two", place, notes=notes))
    return tuple(kept), found[0] if found else None


def least_of(option: str | None) -> int | None:
    """The least value that `--for-all "m >= 3"` is about; None where it is about all."""
    if option is None or ">=" not in option:
        return None
    text = option.partition(">=")[2].strip()
    if not re.fullmatch(r"-?[0-9]{1,9}", text):
        source = Source("<--for-all>", option)
        place = source.excerpt(Span(option.index(">=") + 2, len(option)))
        notes = ('write a constant, or such as --for-all "m >= 3"',)
        raise DiagnosticError(Diagnostic("E1210", "the least value is no integer", place, notes=notes))
    return int(text)


def wants_all(inputs: tuple[str, ...], table: Path | None, for_all: str | None = None) -> bool:
    """Whether `--inputs all` is given, alone and without a table; what else is given is a mistake for others to name.

    Raises DiagnosticError where a constant is left open, and inputs or a table are given one by one.
    """
    every = table is None and len(inputs) == 1 and inputs[0].strip() == "all"
    if for_all is not None and not every:
        notes = ("add --inputs all, or give the constant a number",)
        raise DiagnosticError(Diagnostic("E1209", f"`{for_all}` is left open, but not the inputs", notes=notes))
    return every


def check_all(
    program: Program,
    program_path: Path,
    *,
    beta: str | None,
    alpha: str | None,
    gamma: str | None,
    eps: str | None,
    form: str,
    target: Path | None,
    quiet: bool,
    times: bool,
    for_all: str | None,
    at_least: int | None,
    unsupported: Mapping[str, object],
) -> ExitCode:
    """Decide the claim for every real input and write the report. `unsupported` are options of `check` that mean
    nothing here, with their values: DiagnosticError if one is given."""
    from dipc.cli.check import exit_code
    from dipc.report.every_input import class_verdict_line, render_classes
    from dipc.report.json import write_json
    from dipc.sources.check import check, check_for_all
    from dipc.sources.every_input.scaling import ClassClaim

    given = [option for option, value in unsupported.items() if value]
    if given:
        notes = ("its rows are classes of inputs: leave the option out, or give finitely many inputs or a table",)
        raise DiagnosticError(Diagnostic("E1205", f"{given[0]} cannot be combined with --inputs all", notes=notes))
    least: str | None = None
    claimed: dict[str, Any] = {"beta": beta, "alpha": alpha, "gamma": gamma, "eps": eps}
    with ProgressBar(f"checking {program.core.name}", silent=quiet) as progress:
        if for_all is None:
            report = check(program, inputs="all", progress=progress, **claimed)
        else:
            found = check_for_all(program, for_all, least=at_least, progress=progress, **claimed)
            report, least = found.report, f"{for_all} >= {found.least}"
    claim = ClassClaim(program, beta, alpha, gamma, eps)
    statement = _statement(program, program_path, claim, for_all, least)
    line = class_verdict_line(report, statement)
    if form == "json":

        def writer(stream: TextIO) -> None:
            write_json(report, stream)

        write_result(target, writer)
    elif quiet:
        write_text(target, line + "\n")
    else:
        look = look_of(sys.stdout) if target is None else Look()
        write_text(target, render_classes(report, statement, look, times=times))
    if target is not None and not quiet:
        write(sys.stderr, f"{line} (written to {target})\n")
    return exit_code(report)


def _statement(
    program: Program, program_path: Path, claim: ClassClaim, for_all: str | None, least: str | None
) -> ClassStatement:
    from dipc.lang.printer import print_expression
    from dipc.report.every_input import ClassStatement

    core = program.core
    return ClassStatement(
        program=f"{core.name} ({program_path})",
        constants=tuple((name, str(value)) for name, value in core.constants.items() if name != for_all),
        alpha=claim.alpha_text,
        beta=print_expression(claim.beta.tree),
        gamma="0" if claim.gamma is None else print_expression(claim.gamma.tree),
        scale=claim.open().scale.value if claim.is_open else None,
        near=near_outputs(core),
        numbers=least,
    )

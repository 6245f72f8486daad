"""`python -m benchmarks`: the paper's tables, run and compared."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks import tables
from benchmarks.mechanisms import MECHANISMS

if TYPE_CHECKING:
    from benchmarks.goal import Goal
    from benchmarks.runner import Trial


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--table", "wanted", multiple=True, metavar="NAME", help="Only this published table (2a, 4c, 4, ...).")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@click.pass_context
def main(context: click.Context, wanted: tuple[str, ...], as_json: bool) -> None:
    """Run every row of the paper's Tables 2 to 4 and compare with the published figures.

    The exit code is 1 where an outcome differs from the paper in a way that is not understood.
    """
    if context.invoked_subcommand is not None:
        return
    from benchmarks import published, runner, show

    rows = [row for row in published.rows() if not wanted or row.table.startswith(wanted)]
    if not rows:
        names = ", ".join(dict.fromkeys(row.table for row in published.rows()))
        raise click.BadParameter(f"there is no table {', '.join(wanted)}; there are {names}", param_hint="--table")
    trials: list[Trial] = []
    with click.progressbar(
        length=len(rows), label="published rows", file=sys.stderr, hidden=not sys.stderr.isatty()
    ) as bar:
        for trial in runner.run(rows):
            trials.append(trial)
            if trial.mechanism is trial.published.mechanism:
                bar.update(1)
    if as_json:
        click.echo(show.as_json(trials))
    else:
        show.show(trials)
    if any(trial.agreement == "DIFFERS" for trial in trials):
        raise SystemExit(1)


def _constants(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, Fraction]:
    constants = {}
    for text in values:
        name, equals, value = text.partition("=")
        try:
            constants[name.strip()] = Fraction(value.strip())
        except (ValueError, ZeroDivisionError):
            equals = ""
        if not equals:
            raise click.BadParameter(f"{text!r} is not NAME=RATIONAL, such as m=3")
    return constants


@main.command()
@click.argument("mechanism", type=click.Choice(list(MECHANISMS)))
@click.option("-D", "given", multiple=True, metavar="NAME=VALUE", callback=_constants, help="A constant, as for dipc.")
@click.option("--range", "interval", default="-1..1", show_default=True, help="The integers each query ranges over.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Default: stdout.")
def table(mechanism: str, given: dict[str, Fraction], interval: str, output: Path | None) -> None:
    """Write the table of det for MECHANISM over all inputs in a range, as CSV."""
    chosen = MECHANISMS[mechanism]
    try:
        constants = chosen.constants(given)
        vectors = tables.grid(tables.integer_range(interval), int(constants["m"]))
        tables.write(chosen, constants, vectors, output)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        if output is None:
            raise
        raise click.UsageError(f"cannot write {output}: {error.strerror}") from error


@main.command()
@click.option("--only", "wanted", multiple=True, metavar="PROGRAM", help="Only this program; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@click.option(
    "--tables", "directory", type=click.Path(file_okay=False, path_type=Path), help="Write the tables as CSV instead."
)
def literature(wanted: tuple[str, ...], as_json: bool, directory: Path | None) -> None:
    """Check the claims of the literature about other mechanisms.

    The exit code is 1 where a verdict is not the one that was found without dipc.
    """
    from benchmarks.literature import entries, run, show

    names = [entry.name for entry in entries.ENTRIES]
    for name in wanted:
        if name not in names:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(names)}", param_hint="--only")
    chosen = [entry for entry in entries.ENTRIES if not wanted or entry.name in wanted]
    if directory is not None:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            for entry in chosen:
                (directory / f"{entry.name}.csv").write_text(entry.csv(), encoding="utf-8")
        except OSError as error:
            raise click.UsageError(f"cannot write to {directory}: {error.strerror}") from error
        return
    outcomes = list(run.run(chosen))
    if as_json:
        click.echo(show.as_json(outcomes))
    else:
        show.show(outcomes)
    if any(outcome.differences for outcome in outcomes):
        raise SystemExit(1)


@main.command()
@click.option("--only", "wanted", multiple=True, metavar="PROGRAM", help="Only this program; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def privacy(wanted: tuple[str, ...], as_json: bool) -> None:
    """Exact losses and least constants of private mechanisms, beside what was published about them.

    The exit code is 1 where one is not what was found before.
    """
    from benchmarks.privacy import run, show
    from benchmarks.privacy.atlas import ATLAS

    names = list(dict.fromkeys(mechanism.file.stem for mechanism in ATLAS))
    for name in wanted:
        if name not in names:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(names)}", param_hint="--only")
    found = list(run.run(mechanism for mechanism in ATLAS if not wanted or mechanism.file.stem in wanted))
    if as_json:
        click.echo(show.as_json(found))
    else:
        show.show(found)
        if not wanted:
            show.show_composed(run.composed_budgets())
    if any(each.differences for each in found):
        raise SystemExit(1)


@main.command()
def dipapprox() -> None:
    """DiPApprox's benchmark families with Gaussian and Laplace noise, with its published times beside ours.

    The exit code is 1 where a verdict is not what was found before.
    """
    from benchmarks.printing import Table
    from benchmarks.privacy.dipapprox import run

    numbers = ("seconds", "published")
    table = Table("", ("program", "pairs", "verdict", *numbers), numbers)
    wrong = False
    for found in run():
        entry = found.entry
        wrong |= found.verdict != entry.verdict
        published = "" if entry.published is None else f"{entry.published:g}"
        pairs = "all" if entry.all_pairs else "one"
        table.add(f"{entry.name}, N = {entry.number}", pairs, found.verdict, f"{found.seconds:.2f}", published)
    table.show()
    if wrong:
        raise SystemExit(1)


@main.command()
@click.option("--table", "wanted", multiple=True, metavar="NAME", help="Only this published table (2a, 4c, 4, ...).")
@click.option("--timeout", default=600.0, show_default=True, help="Seconds that one file may take.")
@click.option(
    "-o", "--output", "directory", type=click.Path(file_okay=False, path_type=Path), help="Keep the files here."
)
def coq(wanted: tuple[str, ...], timeout: float, directory: Path | None) -> None:
    """Write every row of the published tables as theorems, and let Coq prove them; needs Coq with its libraries.

    In Table 4 beta has the best factor, and the next one, which fails. The last column but one counts the rows whose
    probability is proved from the program. The exit code is 1 where an obligation has no theorem, or Coq does not
    prove one.
    """
    from benchmarks import published
    from benchmarks.coq.run import compile_all

    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
    rows = [row for row in published.rows() if not wanted or row.table.startswith(wanted)]
    incomplete = False
    click.echo(
        f"{'table':6} {'mechanism':15} {'m':>2} {'c':>2} {'range':6} {'factor':>6} {'verdict':11} "
        "theorems      rows  CPU s"
    )
    try:
        for found in compile_all(rows, directory, timeout):
            row, c = found.published, "" if found.published.c is None else found.published.c
            stated = f"{found.stated}/{found.obligations}"
            missing = "" if found.complete else "  NOT PROVED"
            click.echo(
                f"{row.table:6} {row.algorithm:15} {row.m:>2} {c:>2} {row.range:6} {found.factor!s:>6} "
                f"{found.verdict:11} {stated:>8} {f'{found.proved_rows}/{found.rows}':>9} {found.seconds:6.1f}{missing}"
            )
            incomplete |= not found.complete
    except FileNotFoundError as error:
        raise click.ClickException(
            "coqc is not installed: apt install coq libcoq-interval libcoq-coquelicot"
        ) from error
    if incomplete:
        raise SystemExit(1)


@main.command()
def libraries() -> None:
    """Real mechanisms of OpenDP and diffprivlib against what their documentation promises; needs the extra `libraries`.

    The exit code is 1 where one is not what was found before.
    """
    from benchmarks.libraries.accuracy import accuracies
    from benchmarks.libraries.run import compare_all

    wrong = 0
    for found in compare_all():
        wrong += not found.as_expected
        mark = " " if found.as_expected else "!"
        click.echo(f"{mark} {found.mechanism.library:11} {found.mechanism.name:40} {found.verdict}")
        if found.worst:
            click.echo(f"{'':14}{found.worst}")
    for accuracy in accuracies():
        wrong += not accuracy.as_expected
        click.echo(f"{' ' if accuracy.as_expected else '!'} opendp      {accuracy.text}")
    if wrong:
        raise SystemExit(1)


@main.command()
@click.option("--runs", default=3, show_default=True, type=click.IntRange(1), help="Runs behind each median.")
@click.option("--only", "families", multiple=True, help="Only the goals of this family; may be given several times.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def targets(runs: int, families: tuple[str, ...], *, as_json: bool) -> None:
    """Measure the speed and memory goals, and print each as soon as it is measured.

    The exit code is 1 where one is missed.
    """
    from benchmarks.targets import FAMILIES, measure_all

    if unknown := set(families) - set(FAMILIES):
        raise click.BadParameter(f"{', '.join(sorted(unknown))}: the families are {', '.join(FAMILIES)}")
    goals: list[Goal] = []
    try:
        for goal in measure_all(runs, families):
            goals.append(goal)
            if not as_json:
                _show_goal(goal)
    except RuntimeError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps([{**dataclasses.asdict(goal), "met": goal.met} for goal in goals], indent=1))
    if not all(goal.met for goal in goals):
        raise SystemExit(1)


def _show_goal(goal: Goal) -> None:
    word = "met" if goal.met else "MISSED"
    memory = "" if goal.megabytes is None else f", {goal.megabytes:.0f} MB"
    click.echo(f"{word:7} {goal.name}: {goal.measured:.3g} {goal.unit} (goal: at most {goal.limit:g}){memory}")
    if goal.remark:
        click.echo(f"        {goal.remark}")
    if goal.undecided:
        click.echo(f"        undecided: {goal.undecided}")


@main.command()
@click.option("--count", type=click.IntRange(min=1), default=300, show_default=True, help="How many programs.")
@click.option("--first", type=click.IntRange(min=0), default=0, show_default=True, help="The number of the first one.")
@click.option("--ints", is_flag=True, help="Programs with int inputs.")
def undecided(count: int, first: int, *, ints: bool) -> None:
    """Count what is decided of random claims about every real input, or every int input.

    The exit code is 1 where an input of a grid contradicts a verdict.
    """
    from benchmarks import undecided as programs
    from benchmarks import undecided_ints as with_ints

    numbers = range(first, first + count)
    if ints:
        outcomes = list(programs.run(map(with_ints.random_int_claim, numbers), with_ints.grid))
        programs.show(outcomes, with_ints.KINDS)
    else:
        outcomes = list(programs.run(map(programs.random_claim, numbers)))
        programs.show(outcomes)
    if any(outcome.wrong for outcome in outcomes):
        raise SystemExit(1)


@main.command(hidden=True)
@click.argument("kind")
@click.argument("arguments", nargs=-1)
def measure(kind: str, arguments: tuple[str, ...]) -> None:
    """Measure one task in this process; for `targets`."""
    from benchmarks.targets import measure as run

    click.echo(json.dumps(dataclasses.asdict(run(kind, arguments))))


if __name__ == "__main__":
    main(prog_name=os.environ.get("DIPC_BENCH", "python -m benchmarks"))

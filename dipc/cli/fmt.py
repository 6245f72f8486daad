"""`dipc fmt`: a program in its canonical form."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dipc.cli.arguments import output_option, program_argument
from dipc.cli.exits import ExitCode
from dipc.cli.output import check_target, write_text
from dipc.cli.terminal import write
from dipc.diagnostics.files import read_source


@click.command()
@program_argument
@click.option("--check", "only_check", is_flag=True, help="Print nothing; exit 1 if the form is another one.")
@output_option
def fmt(program_path: Path, only_check: bool, target: Path | None) -> ExitCode:
    """Print a program in canonical form, with its comments, and one blank line where there are some."""
    from dipc.lang.layout import formatted

    check_target(target)
    source = read_source(program_path)
    text = formatted(source)
    if only_check:
        if source.text == text:
            return ExitCode.ACCURATE
        write(sys.stderr, f"{program_path} is not in canonical form; `dipc fmt {program_path}` prints it\n")
        return ExitCode.INACCURATE
    write_text(target, text)
    return ExitCode.ACCURATE

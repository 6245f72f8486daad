"""`dipc explain`: what a diagnostic means."""

from __future__ import annotations

import sys

import click

from dipc.cli.exits import ExitCode
from dipc.cli.terminal import look_of, write
from dipc.report.page import Page, Tone


@click.command()
@click.argument("code", metavar="[CODE]", required=False)
def explain(code: str | None) -> ExitCode:
    """Show an example that provokes a diagnostic, such as E0602, and what is said then; without a code, list all."""
    from dipc.explain.explanation import codes, explanation

    page = Page(look_of(sys.stdout))
    if code is None:
        for known in codes():
            page.line(f"{known}  {explanation(known).about}")
        write(sys.stdout, page.text())
        return ExitCode.ACCURATE
    found = explanation(code)
    page.line(f"{found.code}: about {found.about}", Tone.HEAD)
    page.blank()
    if found.command is None:
        page.line(f"it comes up when {found.when}")
    else:
        for name, text in found.files:
            page.line(f"with {name}:")
            page.verbatim(f"    {line}" for line in text.splitlines())
            page.blank()
        page.verbatim([f"$ {found.command}"], Tone.HEAD)
        page.verbatim(found.text.splitlines())
    write(sys.stdout, page.text())
    return ExitCode.ACCURATE

"""Commands that show programs: `dipc prob`, `dtmc`, `table`, `fmt`, `examples` and `explain`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any

import click

from dipc.cli.option_table import takes
from dipc.cli.options import Work, asked_of, gamma_of_outputs, opened, parse_input, parse_output, positive_option
from dipc.cli.output import Output, check_target, write_text
from dipc.cli.terminal import ExitCode, ProgressBar, look_of, write
from dipc.examples import names, text
from dipc.explain import Explanation, codes, explanation
from dipc.outcome import program as of_program
from dipc.outcome.outcome import Fields, Line, ReportBlock, Tone, Verbatim, render_parts, section
from dipc.outcome.program import answers, outcomes_at, outputs
from dipc.program.program import source_at, validate_source
from dipc.questions.question import prepared
from dipc.text.diagnostic import bad_input, did_you_mean
from dipc.text.printer import formatted

_PROB_EPILOG = """
\b
Examples:
  dipc prob sparse.dip -D m=2 --input "q[1]=-1,q[2]=1"
  dipc prob noisy_max.dip --input "q=(1, 0, 1/2)" --eps 1/10 --format json
  dipc prob geometric.dip --input n=3 --output n=5
  dipc prob laplace.dip --input "q=(0,0)" --output "out=(0,0)" --gamma 1
"""


@click.command(epilog=_PROB_EPILOG)
@takes(
    "PROG --input --output --gamma~output --eps~shown -D --format=text|json|latex --html --plot~outputs -o --quiet,-q"
)
def prob(**given: Any) -> ExitCode:
    """Show every output at one input with its exact probability, in closed form, for every eps."""
    output, asked, work = opened(given)
    eps = None if given["eps_text"] is None else positive_option("--eps", given["eps_text"])
    gamma = gamma_of_outputs(given["gamma_text"], given["output_texts"])
    with work.progress as progress:
        program = work.program(eps=eps)
        values = parse_input(given["input_texts"], program.core)
        progress.stage(f"looking for the outputs of {program.name}")
        wanted = parse_output(given["output_texts"], program.core)
        outcomes = outputs(outcomes_at(program, values, eps, progress, wanted, gamma))
        progress.stage("writing out closed forms")
        words = [word for text in given["input_texts"] for word in ("--input", text)]
        words += [word for text in given["output_texts"] for word in ("--output", text)]
        words += ["--gamma", str(gamma)] if gamma else []
        return output.deliver(outcomes, partial(asked.command, "prob", *words))


_DTMC_EPILOG = """
\b
Examples:
  dipc dtmc sparse.dip -D m=2 --input "q[1]=-1,q[2]=1"
  dipc dtmc sparse.dip --input "q=(-1,0,1)" --format dot | dot -Tsvg -O
"""


@click.command(epilog=_DTMC_EPILOG)
@takes("PROG --input~chain --output~chain --eps~shown -D --format=text|dot -o --quiet,-q")
def dtmc(**given: Any) -> ExitCode:
    """Show a program's Markov chain.

    Each state is labeled with what is known about the noises drawn so far. Each step is labeled with its exact
    probability, given this knowledge.
    """
    output, _, work = opened(given)
    eps = None if given["eps_text"] is None else positive_option("--eps", given["eps_text"])
    program = work.program(eps=eps)
    core = program.core
    open_inputs = not given["input_texts"]
    if open_inputs and eps is not None:
        note = "give `--input`, or leave `--eps` out: without values for the inputs there are no numbers"
        raise bad_input("E0801", "`--eps` without `--input`", note)
    values = parse_input(given["input_texts"], core, reals=not open_inputs)
    symbolic = {slot.name for slot in core.input_slots if slot.is_symbolic}
    finite = {name: value for name, value in values.items() if name not in symbolic}
    reals = {name: value for name, value in values.items() if name in symbolic}
    with ProgressBar(f"exploring {core.name}", silent=output.quiet):
        wanted = parse_output(given["output_texts"], core)
        chain = of_program.chain_at(program, None if open_inputs else reals, wanted, finite)
    constants = ", ".join(f"{name} = {value}" for name, value in core.constants.items())
    title = core.name + (f" with {constants}" if constants else "")
    title += "" if core.only_at is None else f", only at eps = {core.only_at}"
    return output.deliver(of_program.outcome(chain, title, eps))


_TABLE_EPILOG = """
\b
Examples:
  dipc table sparse.dip --inputs "q = -1..1" -o table.csv
  dipc table noisy_max.dip -D m=2 --inputs "q[1] = 0, q[2] in {0, 1/2, 1}"
"""


@click.command(epilog=_TABLE_EPILOG)
@takes("PROG --inputs -D --eps~table -o --limit~rows --quiet,-q")
def table(**given: Any) -> ExitCode:
    """Write the table of the exact answers: inputs, outputs and the distance to disagreement dd.

    The answers come from the program's `ideal` block. Inputs without a value in --inputs range over their whole domain.
    """
    asked, output = asked_of(given), Output(form="csv", target=given["target"], quiet=given["quiet"])
    output.check(asked.program_path)
    eps = None if given["eps_text"] is None else positive_option("--eps", given["eps_text"])
    work = Work(asked, quiet=output.quiet)
    with work.progress as progress:
        program = work.program(eps=eps)
        progress.stage(f"computing the answers of {program.name}")
        made = prepared(program, None, asked.options.inputs, progress)
    return output.deliver(answers(program.core, made))


@click.command()
@takes("PROG --check -o")
def fmt(program_path: Path, only_check: bool, target: Path | None) -> ExitCode:
    """Print a program in canonical form. Comments stay, and several blank lines become one."""
    check_target(target)
    source = source_at(program_path)
    validate_source(source)
    canonical = formatted(source) if source.program_text is None else source.program_text
    if only_check:
        if source.text == canonical:
            return ExitCode.ACCURATE
        write(sys.stderr, f"{program_path} is not in canonical form; `dipc fmt {program_path}` prints it\n")
        return ExitCode.INACCURATE
    write_text(target, canonical)
    return ExitCode.ACCURATE


_EXAMPLES_EPILOG = """
\b
Examples:
  dipc examples
  dipc examples sparse > sparse.dip
"""


@click.command(epilog=_EXAMPLES_EPILOG)
@click.argument("name", required=False)
@takes("-o")
def examples(name: str | None, target: Path | None) -> ExitCode:
    """Write one of the mechanisms that come with dipc, or list all of them with a description."""
    check_target(target)
    if name is None:
        # The first sentence of the comment at the beginning of each.
        comments = (
            takewhile(lambda line: line.startswith("#"), text(known).lstrip().splitlines()) for known in names()
        )
        about = (" ".join(line.lstrip("# ") for line in each).partition(". ")[0].removesuffix(".") for each in comments)
        listed = Fields(zip(names(), about, strict=True), indent=0)
        write_text(target, render_parts([listed], Output(target=target).look))
    elif name in names():
        write_text(target, text(name))
    else:
        notes = (*did_you_mean(name.removesuffix(".dip"), names(), "dipc examples {}"), "`dipc examples` lists them")
        raise bad_input("E0810", f"there is no example `{name}`", *notes)
    return ExitCode.ACCURATE


@click.command()
@click.argument("code", metavar="[CODE]", required=False)
def explain(code: str | None) -> ExitCode:
    """Show an example that provokes a diagnostic, such as E0602, with its message; without a code, list all codes."""
    by_room = groupby(map(explanation, codes()), key=lambda each: each.about)
    known = (section(about, *[(each.code, each.summary) for each in members]) for about, members in by_room)
    write(
        sys.stdout, render_parts(known if code is None else _explanation_parts(explanation(code)), look_of(sys.stdout))
    )
    return ExitCode.ACCURATE


def _explanation_parts(explanation: Explanation) -> Iterator[ReportBlock]:
    yield Line(f"{explanation.code}: about {explanation.about}", Tone.HEAD)
    if explanation.command is None:
        yield [Line(f"it occurs when {explanation.when}")]
        return
    for name, content in explanation.files:
        yield [Line(f"with {name}:"), Verbatim(f"    {line}" for line in content.splitlines())]
    yield [Verbatim([f"$ {explanation.command}"], Tone.HEAD), Verbatim(explanation.text.splitlines())]

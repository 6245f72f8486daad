"""`dipc tighten` and `dipc solve`: the least factor of beta, eps, alpha, beta or gamma with which a claim holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import click

from dipc.cli.option_table import takes
from dipc.cli.options import Work, member_text, members, opened, parse_family, table_path
from dipc.cli.output import later
from dipc.cli.terminal import ExitCode
from dipc.inverse.question import DIGITS, Wanted
from dipc.inverse.question import read_question as question_of
from dipc.inverse.solve import release_intervals, solve_question
from dipc.inverse.solve_constant import read_grid, solve_constant
from dipc.inverse.tighten import tightest
from dipc.inverse.tune import tune_options
from dipc.outcome import solve as solutions
from dipc.outcome import tighten as factors
from dipc.outcome.outcome import Outcome
from dipc.outcome.tighten import Member
from dipc.outcome.words import UserQuestion
from dipc.questions.question import about_errors
from dipc.text.diagnostic import DiagnosticError, bad_input

_TIGHTEN_EPILOG = """
\b
Examples:
  dipc tighten sparse.dip table.csv
  dipc tighten sparse.dip table.csv --beta "exp(-alpha*eps/8)" --digits 100
  dipc tighten sparse.dip "sparse_{m}.csv" -D m=1..6 --format csv
  dipc tighten sparse.dip --inputs "q = -1..1" -D m=1..6 --plot factors.svg
  dipc tighten sparse.dip --inputs "q = -1..1" -D m=1..6 -D "c={1,2}"
  dipc tighten sparse.dip --inputs all
  dipc tighten sparse.dip --inputs all --for-all "m >= 3"

\b
The least factor is the supremum of (1 - Pr)/beta over all rows and all eps.
Every digit shown is a digit of the exact number. Where only bounds of
probabilities are known, two numbers enclose the factor.

\b
With ranges in -D, each member of the family has its own table, and {m} in the
path is replaced by the value of m. With --inputs, the ideal block of each
program gives the answers.

\b
Exit codes: 0 found, 2 bad input, 3 undecided (past a limit, or only
enclosed), 70 internal error.
"""


@click.command(epilog=_TIGHTEN_EPILOG)
@takes(
    "PROG TABLE --inputs -D~family --for-all --beta --alpha --gamma --eps --error --moment --output~error "
    "--digits --format=text|json|csv -o --certificate --html --plot~factor --limit -j,--jobs --cache --dask "
    "--quiet,-q"
)
def tighten(**given: Any) -> ExitCode:
    """Find the least factor f such that the claim holds with f*beta at every row, and the best 1/κ with integer κ.

    The result is a certified enclosure with the given number of digits, and the row and the eps that need this factor.
    """
    output, asked, work = opened(given)
    family = parse_family(asked.definitions)
    ranged = any(len(values) > 1 for values in family.values())
    if output.plot is not None:
        later.pictures.check_plot(output.plot, family)
    if ranged and output.proof is not None:
        raise bad_input("E0903", "a family of programs has no certificate", "give one value for each constant")
    answers: list[Member] = []
    with work.progress:
        for constants in members(family):
            try:
                answers.append(_member(asked, work, constants, ranged=ranged))
            except KeyboardInterrupt:
                if not answers:
                    raise
                return output.deliver(replace(_outcome(answers, asked, ranged=ranged), interrupted="interrupted\n"))
            if answers[-1].tightest.interrupted:
                break
    return output.deliver(_outcome(answers, asked, ranged=ranged), partial(asked.command, "tighten"))


def _outcome(members: list[Member], asked: UserQuestion, *, ranged: bool) -> Outcome:
    return factors.family(members, asked) if ranged else factors.outcome(members[0], asked)


def _member(asked: UserQuestion, work: Work, constants: Mapping[str, Fraction], *, ranged: bool) -> Member:
    """Return the least factor of beta for the program of the question `asked`, with the values `constants`.

    `work` loads the program and shows the progress. If `ranged` is true, the question is about several values of
    constants, and an error names those for which it occurred.
    """
    try:
        program = work.program(constants)
        work.progress.stage(f"tightening {program.name}" + (f" with {member_text(constants)}" if constants else ""))
        path = None if asked.table is None else table_path(asked.table, program.constants)
        options = replace(asked.options, progress=work.progress)
        question = question_of(program, path, options, work.engine(program))
        return Member(constants, tightest(question, options.digits or DIGITS, work.progress))
    except DiagnosticError as error:
        if not ranged:
            raise
        note = f"this is the member with {member_text(constants)}"
        raise DiagnosticError(*(replace(each, notes=(*each.notes, note)) for each in error.diagnostics)) from None


_TUNE_EPILOG = """
\b
Examples:
  dipc tune sparse.dip --vary "s in (0, 1)" --beta 1/10
  dipc tune sparse.dip --vary "s in (0, 1)" --beta 1/10 --adjacent linf:1
  dipc tune numeric.dip --vary "s in (0, 1)" --vary "r in (0, 1)" --beta 1/10

\b
The constants of --vary split a budget, for example into the rates
s*eps and (1 - s)*eps. dipc minimizes one number, the objective:
  by default        the least t = alpha*eps for which the claim holds
  with --for eps    the least eps for which the claim holds; also the default
                    if --alpha gives a number
  with --for gamma  the least gamma*eps for which the claim holds
  with --adjacent   one of these numbers times K, the least constant for which
                    the program is K*eps-private

\b
dipc guesses the best values of the constants, computes their objective
exactly, and proves that no other values are better by more than --tolerance.
The proof covers only those values of the constants for which no rate of noise
is below 1/50 of the largest value that this rate has in the given ranges. If the proof takes too long, the answer
says how much better other values may be, or that these values are the best
of those tried.
`dipc verify` cannot check the answer.

\b
Exit codes: 0 found, 2 bad input, 3 undecided or K not exact,
70 internal error.
"""


@click.command(epilog=_TUNE_EPILOG)
@takes(
    "PROG TABLE --vary --for~tune --inputs -D --beta --alpha --gamma~number --eps --adjacent~tune --digits~tune "
    "--denominator --tolerance --format=text|json|csv -o --certificate~refused --html --plot~tune --limit --quiet,-q"
)
def tune(**given: Any) -> ExitCode:
    """Find the constants that make a program most accurate, such as the best split of a budget."""
    output, asked, work = opened(given)
    with work.progress as progress:
        program = work.program()
        progress.stage(f"tuning {program.name}")
        inputs = asked.options.inputs or (None if asked.table else "all")
        options = replace(asked.options, progress=progress, inputs=inputs)
        try:
            best = tune_options(program, asked.table, options)
        except ValueError as error:
            raise bad_input("E1028", f"`--tolerance`: {error}", "write for example 1% or 1/100") from None
    return output.deliver(solutions.tuned_outcome(best, str(asked.program_path)), partial(asked.command, "tune"))


_INTERVAL_EPILOG = """
\b
Examples:
  dipc interval count.dip --inputs all --confidence 95% --eps 1
  dipc interval count.dip table.csv --confidence 0.99 --eps "[1/2, 2]"
  dipc interval clamped.dip --inputs "q in 0..100" --side lower --eps 1

\b
dipc finds the least g such that the exact answer is within g of the released
one, with at least the given probability, for every input and every eps. For
95%, this is the answer of `dipc solve --for gamma --beta 1/20`.

\b
A lower interval has no upper end: the exact answer is at least the released
one minus g. An upper interval has no lower end: the exact answer is at most
the released one plus g. With several outputs, all are in their intervals at
once, and finite outputs are right.

\b
Without --alpha here or in the claim, every input counts. There is no
certificate: `dipc check` writes one for this gamma.

\b
Exit codes: 0 found, 1 proved that there is none, 2 bad input, 3 undecided,
70 internal error.
"""


@click.command(epilog=_INTERVAL_EPILOG)
@takes(
    "PROG TABLE --confidence --side --inputs -D --alpha --eps~one --digits~interval --format=text|json -o "
    "--certificate --html --limit -j,--jobs --cache --dask --quiet,-q"
)
def interval(**given: Any) -> ExitCode:
    """Find intervals around a released answer that contain the exact answer with a given probability.

    The probability is guaranteed at every input that the claim covers. If the claim has `alpha: dd`, the option
    `--alpha 0` extends the guarantee to every input.
    """
    output, asked, work = opened(given)
    with work.progress as progress:
        program = work.program()
        progress.stage(f"looking for intervals of {program.name}")
        try:
            answer = release_intervals(
                program, asked.table, replace(asked.options, progress=progress), work.engine(program)
            )
        except ValueError as error:
            raise bad_input("E1031", f"`--confidence`: {error}", "write for example 95% or 19/20") from None
    outcome = solutions.interval_outcome(answer, asked)
    side = () if asked.options.side is None else ("--side", asked.options.side)
    return output.deliver(outcome, partial(asked.command, "interval", *side))


_SOLVE_EPILOG = """
\b
Examples:
  dipc solve laplace.dip table.csv --for eps --beta 1/10 --gamma 1
  dipc solve laplace.dip table.csv --for gamma --beta 1e-23 --eps 50
  dipc solve sparse.dip --inputs "q = -1..1" --for beta
  dipc solve sparse.dip table.csv --for alpha --beta 1/10 --eps "[20, inf)"
  dipc solve sparse.dip --inputs all --for alpha --beta 1/10

\b
The claim is that of `dipc check`. With --error, it bounds the expected error
instead. It has to hold for every eps of --eps, except with --for eps. --for says
what to find:
  eps    the exact set of eps at which the claim holds, and the least of them
  alpha  the least alpha for which the claim holds at all rows with dd > alpha
         (with --inputs all: t/eps for a number t)
  beta   the least beta, as formulas in eps: the probability of a wrong answer
         at the row where it is largest
  gamma  the least gamma: the claim is proved for this gamma, and refuted just
         below
  error  the largest expected error, as formulas in eps
  NAME   the threshold of this constant above which, or below which, the claim
         holds: the threshold lies between a proved and a refuted value
  RANGE  the values of a constant for which the claim holds; RANGE is, for
         example, "T in 1..100", "T in 0..2 by 1/4" or "T in {1, 3}"
If --adjacent is given, --for NAME and --for RANGE are about a privacy claim.
--budget and --delta state this claim.
Every digit shown is a digit of the exact number.

\b
Exit codes: 0 solved, 1 proved to have no solution, 2 bad input,
3 undecided (a limit was reached), 70 internal error.
"""


@click.command(epilog=_SOLVE_EPILOG)
@takes(
    "PROG TABLE --for --inputs -D --for-all --beta --alpha --gamma --eps~one --error --moment --output~error "
    "--adjacent~solve --budget~solve --delta~solve --digits~solve --format=text|json -o --certificate --html --limit "
    "-j,--jobs --cache --dask --quiet,-q"
)
def solve(**given: Any) -> ExitCode:
    """Find the eps, alpha, beta, gamma or program constant for which a claim holds, or the largest expected error.

    A row is an input that you list, in TABLE.csv or with --inputs. The claim has to hold at every row. The answer is
    exact, or lies between two numbers: the claim is proved for one and refuted for the other. If the claim holds for
    no number, dipc proves that.
    """
    (output, asked, work), wanted = opened(given), given["wanted"]
    if wanted is None:
        note = "give `--for eps`, `--for alpha`, `--for beta`, `--for gamma` or `--for error`"
        raise bad_input("E1025", "`dipc solve` needs to know what to solve for", note)
    progress = work.progress
    with progress:
        program = work.program()
    options = replace(asked.options, progress=progress)
    if wanted not in (*Wanted, "error"):
        with progress:
            progress.stage(f"solving {program.name} for {read_grid(wanted, program)[0]}")
            values = solve_constant(program, asked.table, wanted, options)
        return output.deliver(
            solutions.constant_outcome(values, str(asked.program_path)), partial(asked.command, "solve")
        )
    if wanted == "error":
        program, options = about_errors(program, options)
    engine = work.engine(program)
    progress.stage(f"reading what {program.name} is asked about")
    with progress:
        question = question_of(program, asked.table, options, engine)
        progress.stage(f"solving {program.name} for {wanted}")
        solution = solve_question(
            question, Wanted("beta" if wanted == "error" else wanted), options.digits or DIGITS, progress
        )
    return output.deliver(solutions.outcome(solution, asked), lambda: (*asked.command("solve"), "--for", wanted))

"""`dipc privacy`: prove or refute differential privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dipc.cli.option_table import parameter_of, takes
from dipc.cli.options import Work, asked_of, members, parse_family, positive_option
from dipc.cli.output import Output, later
from dipc.cli.terminal import ExitCode
from dipc.frozen import LazyModule, frozen
from dipc.options import open_constant
from dipc.outcome import privacy as answers
from dipc.outcome import words
from dipc.outcome.privacy import PrivacyAnswer, PrivacyStatement
from dipc.outcome.words import UserQuestion
from dipc.program.program import Program
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.laws import LeastDelta
from dipc.questions.privacy.loss import DIGITS, Divergences, Loss
from dipc.questions.privacy.outcome import read_claim
from dipc.text.diagnostic import DiagnosticError, bad_input

if TYPE_CHECKING:
    from dipc.questions.privacy import every_number
    from dipc.questions.privacy import profile as profiles
else:
    every_number = LazyModule("dipc.questions.privacy.every_number")
    profiles = LazyModule("dipc.questions.privacy.profile")

_EPILOG = """
\b
Examples:
  dipc privacy svt.dip --adjacent linf:1 --inputs "q = -1..1"
  dipc privacy svt.dip --adjacent linf:1 --inputs "q=-1..1" --budget eps/2 --delta 1/9
  dipc privacy response.dip --adjacent hamming:1
  dipc privacy svt.dip --adjacent PAIRS.csv --format json
  dipc privacy svt.dip --adjacent linf:1 --inputs all --constant
  dipc privacy svt.dip --adjacent linf:1 --inputs "q = -1..1" --max-loss --at 1/10
  dipc privacy svt.dip --adjacent linf:1 --inputs "q = -1..1" --max-loss --at 1/10
    --estimate -n 100000
  dipc privacy svt.dip --adjacent linf:1 --inputs all --constant -D m=2..5
  dipc privacy svt.dip --adjacent linf:1 --inputs all --for-all m --constant
  dipc privacy svt.dip --adjacent linf:1 --inputs "q = -1..1" --delta-of eps/2
  dipc privacy response.dip --adjacent hamming:1 --compose 10 --budget-of 1/1000
    --at 1/2
  dipc privacy response.dip --adjacent hamming:1 --profile --at 1 --plot p.svg

\b
Exit codes: 0 private, 1 not private, 2 bad input, 3 undecided, 70 internal
error.
"""


@click.command(epilog=_EPILOG)
@takes(
    "PROG --adjacent --inputs --budget --delta --eps~privacy --constant --max-loss --delta-of --budget-of "
    "--profile --renyi --rho --compose --at --estimate -n --seed~estimate --for-all -D~family --digits~privacy "
    "--format=text|json -o --certificate --html --plot~privacy --limit -j,--jobs --cache --dask --quiet,-q"
)
def privacy(**given: Any) -> ExitCode:
    """Prove or refute that a program is differentially private, for every eps.

    The claim is that Pr[P(u) in S] is at most e^budget*Pr[P(u') in S] + delta, where P(u) is the output at the input u.
    The claim covers all pairs of adjacent inputs u and u', in both orders, and every set S of outputs. The answer is a
    proof, or a refutation that names a pair, an output and an eps, or the reason why the claim is undecided.

    If -D gives a range, such as m=2..5, --max-loss and --constant find a number for each value in the range.
    """
    output, asked = Output.from_options(given), asked_of(given)
    mode = _Mode.from_options(given)
    adjacent = given["adjacent"]
    output.check(asked.program_path, Path(adjacent) if adjacent.strip().endswith(".csv") else None)
    _check_for_all(asked, mode.option, {"--html": output.html, "--plot": output.plot, "--delta": given["delta"]})
    family = parse_family(asked.definitions)
    ranged = any(len(values) > 1 for values in family.values())
    for option, path in (("--html", output.html), ("--certificate", output.proof)):
        if ranged and path is not None:
            raise _no_part(option, mode.option, "give one value for each constant")
    if ranged and mode.option not in ("--max-loss", "--constant"):
        raise _no_part("-D with a range", mode.option, "give one value, or ask for --max-loss or --constant")
    work = Work(asked, quiet=output.quiet)
    with work.progress:
        answered = [(constants, *_answer(asked, adjacent, mode, work, constants)) for constants in members(family)]
    if ranged:
        return output.deliver(answers.family([(constants, one, known) for constants, _, one, known in answered]))
    ((_, question, one, known),) = answered
    statement = replace(_statement(asked, question), theorems=_composition_theorems(question, one, mode))
    outcome = answers.outcome(question, one, statement, known)
    return output.deliver(outcome, partial(asked.command, "privacy", "--adjacent", adjacent, *mode.words()))


@frozen
class _Mode:
    """The number to find in place of a verdict, with the values of its options.

    - `option` is the option that requests the number, such as `--delta-of`; None if a verdict is requested.
    - `value` is the value of this option; None if it takes none.
    - `at` is the eps of `--at`, and `at_text` its text.
    - `compose` is the number of runs whose outputs are observed together.
    - `estimate` is true if the loss is also estimated from `runs` random runs, which `seed` makes repeatable.
    """

    option: str | None
    at: Fraction | None = None
    at_text: str | None = None
    value: str | None = None
    estimate: bool = False
    runs: int | None = None
    seed: int | None = None
    compose: int = 1

    @classmethod
    def from_options(cls, given: Mapping[str, Any]) -> _Mode:
        asked = [name for name in _MODES if name is not None and given[parameter_of(name)]]
        if len(asked) > 1:
            raise bad_input("E1412", f"both `{asked[0]}` and `{asked[1]}` are asked for", "ask one question at a time")
        option = asked[0] if asked else None
        taken, example = _MODES[option]
        runs, seed, at_text = given["runs"], given["seed"], given["at_text"]
        for other in _OTHERS:
            if given[parameter_of(other)] is not None and other not in taken.split():
                note = "leave it out" if option or other != "--at" else "add --max-loss, --renyi 2 or --delta-of K*eps"
                if example is not None and other == "--eps" and at_text is None:
                    note = f"it needs one eps: write for example {example} --at 1/10"
                raise _no_part(other, option, note)
        if example is not None and at_text is None:
            note = f"write for example {example} --at 1/10"
            raise bad_input("E1412", f"`{option}` needs an eps, but `--at` is missing", note)
        if given["estimate"] and option != "--max-loss":
            raise _no_part("--estimate", option, "add --max-loss --at 1/10")
        for name, number in (("-n", runs), ("--seed", seed)):
            if number is not None and not given["estimate"]:
                raise _no_part(name, option, "add --max-loss --at 1/10 --estimate")
        eps = None if at_text is None else positive_option("--at", at_text)
        value = given[parameter_of(option)] if option in ("--delta-of", "--renyi", "--budget-of") else None
        if option == "--renyi":
            _orders(str(value))
        together = given["runs_together"]
        if together > 1 and given["estimate"]:
            raise _no_part("--estimate", "--compose", "leave it out: it estimates the loss of a single run")
        return cls(option, eps, at_text, value, given["estimate"], runs, seed, together)

    def words(self) -> tuple[str, ...]:
        """The options on the command line that give this mode."""
        given_texts = {"--at": self.at_text, "-n": self.runs, "--seed": self.seed}
        words = [] if self.option is None else [self.option]
        words += [] if self.value is None else [str(self.value)]
        words += ["--estimate"] if self.estimate else []
        words += ["--compose", str(self.compose)] if self.compose > 1 else []
        return (*words, *(word for name, text in given_texts.items() if text is not None for word in (name, str(text))))


#: For each option for a number in place of a verdict, the options of `_OTHERS` that it takes and, if it needs --at, an
#: example. For a verdict, None.
_MODES: dict[str | None, tuple[str, str | None]] = {
    None: ("--budget --delta --eps --plot --certificate", None),
    "--constant": ("--eps --certificate", None),
    "--max-loss": ("--at --certificate", "--max-loss"),
    "--delta-of": ("--at --eps", None),
    "--budget-of": ("--at", "--budget-of 1/1000"),
    "--profile": ("--at --plot", "--profile"),
    "--renyi": ("--at", "--renyi 2"),
    "--rho": ("--eps", None),
}

#: The options that only some of these take.
_OTHERS = ("--budget", "--delta", "--at", "--eps", "--plot", "--certificate")

#: The orders of Rényi divergences.
_LEAST_ORDER, _GREATEST_ORDER = 2, 64


def _orders(text: str) -> range:
    first, _, last = text.strip().partition("..")
    ends = [int(end) if end.isascii() and end.isdigit() and len(end) < 4 else 0 for end in (first, last or first)]
    if not _LEAST_ORDER <= ends[0] <= ends[1] <= _GREATEST_ORDER:
        note = f"write a whole number from {_LEAST_ORDER} to {_GREATEST_ORDER}, or two of them, as 2..16"
        raise bad_input("E1412", f"`{text}` is not an order of a divergence", note)
    return range(ends[0], ends[1] + 1)


def _answer(
    asked: UserQuestion, adjacent: str, mode: _Mode, work: Work, constants: Mapping[str, Fraction]
) -> tuple[PrivacyQuestion | every_number.EveryNumber, PrivacyAnswer, Any]:
    options, eps = asked.options, mode.at
    # --delta-of answers for every eps: its --at is an additional eps to show, and the program is not read at it.
    program = work.program(constants, options.eps if options.eps is not None or mode.option == "--delta-of" else eps)
    engine = work.engine(program)
    work.progress.stage(f"looking at the pairs of {program.name}")
    if options.for_all is not None:
        every = every_number.EveryNumber(program, *open_constant(options.for_all), adjacent, engine, work.progress)
        if mode.option == "--constant":
            return every, every.constant(options.eps), None
        return every, every.decide(read_claim(program, options.budget, None, options.eps)), None
    question = PrivacyQuestion(program, adjacent, options.inputs, engine, work.progress, mode.compose)
    digits = options.digits or DIGITS
    match mode.option:
        case "--constant":
            return question, question.constant(options.eps, digits), None
        case "--max-loss":
            assert eps is not None
            loss = question.largest_loss(eps, digits)
            return question, loss, _estimated(program, loss, mode) if mode.estimate else None
        case "--renyi":
            assert eps is not None
            listed = [question.divergence(order, eps, digits) for order in _orders(mode.value or "")]
            return question, listed[0] if len(listed) == 1 else Divergences(*question.asked, tuple(listed)), None
        case "--budget-of":
            assert eps is not None
            delta = positive_option("--budget-of", mode.value or "")
            return question, profiles.budget_at(question, delta, eps, digits), None
        case "--profile":
            assert eps is not None
            return question, profiles.profile(question, eps, digits=digits), None
        case "--rho":
            return question, question.rho(options.eps), None
        case "--delta-of":
            claim = read_claim(program, mode.value, None, options.eps, "delta-of")
            return question, question.least_delta(claim, eps, digits), None
    claim = read_claim(program, options.budget, options.delta, options.eps, enclosed=True)
    return question, question.decide(claim), None


def _statement(asked: UserQuestion, question: PrivacyQuestion | every_number.EveryNumber) -> PrivacyStatement:
    program, path = question.program, str(asked.program_path)
    numbers, runs = (None, question.runs) if isinstance(question, PrivacyQuestion) else (question.numbers, 1)
    left_open = None if numbers is None else numbers.parameter
    constants = tuple((name, str(value)) for name, value in program.core.constants.items() if name != left_open)
    digits = asked.options.digits or words.DIGITS
    return PrivacyStatement(path, program.name, constants, asked.definitions, numbers, runs, digits=digits)


def _composition_theorems(
    question: PrivacyQuestion | every_number.EveryNumber, answer: PrivacyAnswer, mode: _Mode
) -> tuple[profiles.Theorems, Fraction] | None:
    if mode.at is None or not isinstance(question, PrivacyQuestion) or not isinstance(answer, LeastDelta):
        return None
    theorems = profiles.theorems_of(question, mode.at)
    budget = read_claim(question.program, mode.value, None, None, "delta-of").budget * mode.at
    return None if theorems is None else (theorems, budget)


def _estimated(program: Program, loss: Loss, mode: _Mode) -> Any:
    if None in loss.output.values():
        message = "runs do not count an output that was never assigned"
        raise bad_input("E1412", message, "give the output an initial value")
    runs = later.estimate.RUNS if mode.runs is None else mode.runs
    places = loss.input, loss.adjacent, loss.output
    return later.estimate.estimate_loss(program, *places, loss.eps, runs, seed=mode.seed or 0)


def _check_for_all(asked: UserQuestion, mode: str | None, others: Mapping[str, str | Path | None]) -> None:
    """Raise DiagnosticError if a question with `--for-all` also has an option that is for a single program.

    `asked` is the question. `mode` is the option that requests a number in place of a verdict; only `--constant` is
    allowed. `others` has the values of further options by name, which must be None.
    """
    if asked.options.open_constant(asked.options.inputs) is None:
        return
    if mode not in (None, "--constant"):
        raise _no_part("--for-all", mode, "ask for a verdict, or for the --constant")
    for option, value in others.items():
        if value is not None:
            message = f"`{option}` works for a single program, not for every value of a constant"
            raise bad_input("E1412", message, "leave it out, or give the constant a number")


def _no_part(option: str, mode: str | None, note: str) -> DiagnosticError:
    what = "a verdict" if mode is None else f"`{mode}`"
    return bad_input("E1412", f"`{option}` does not apply to {what}", note)

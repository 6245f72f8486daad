"""The table of all options: their values, and the help for them, from which every command takes its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import click

_F = TypeVar("_F", bound=Callable[..., Any])

#: The settings of an option, as click takes them; `to` is the name of its value in the code, if it is another one.
_Settings: TypeAlias = dict[str, Any]


def _text(about: str, metavar: str, to: str | None = None, **more: Any) -> _Settings:
    return {"help": about, "metavar": metavar, "to": to, **more}


def _texts(about: str, metavar: str, to: str | None = None, **more: Any) -> _Settings:
    return _text(about, metavar, to, multiple=True, **more)


def _path(about: str, metavar: str = "FILE", to: str | None = None) -> _Settings:
    return _text(about, metavar, to, type=Path)


def _count(about: str, metavar: str | None, least: int, most: int | None = None, **more: Any) -> _Settings:
    return {"help": about, "metavar": metavar, "type": click.IntRange(least, most), **more}


def _word(about: str, words: str, **more: Any) -> _Settings:
    return {"help": about, "type": click.Choice(words.split()), **more}


def _flag(about: str, to: str | None = None) -> _Settings:
    return {"help": about, "to": to, "is_flag": True}


_INPUT, _BUDGET, _EPS = "NAME=VALUE,…", "K*eps", '"(0, 1/2]" or "[20, inf)"; all eps > 0 by default.'

#: Every option by its name. Where commands differ in it, the names end with ~ and a word.
OPTIONS: dict[str, _Settings] = {
    # The program and its inputs
    "PROG": {"metavar": "PROG.dip|FILE.py::NAME", "to": "program_path", "type": Path},
    "PROG~check": {"metavar": "PROG.dip|FILE.py::NAME|DIRECTORY", "to": "program_path", "type": Path},
    "TABLE": {"metavar": "[TABLE.csv]", "to": "table_path", "type": Path, "required": False},
    "-D": _texts("Give a constant of the program another value; may be repeated.", "name=value", "definitions"),
    "-D~family": _texts(
        "Give a constant another value, or several: m=4, m=1..10 or c={1,2}; may be repeated.",
        "name=values",
        "definitions",
    ),
    "--inputs": _texts(
        'The inputs: all, "q = -1..1", "x in {0, 1/2}", a CSV file of inputs, or a condition such as "x >= 0" that '
        "selects inputs; may be repeated to add inputs or conditions.",
        "SPEC",
    ),
    "--inputs~expected": _word("Expect the claim at all inputs of the program.", "all"),
    "--for-all": _text(
        "With --inputs all: decide the claim for every value of the constant NAME, or for every value from N on. "
        "-D NAME=all does the same.",
        '"NAME|NAME >= N"',
    ),
    "--input": _texts("A value for every input.", _INPUT, "input_texts"),
    "--input~error": _texts("A value for an input, in place of --inputs.", _INPUT, "input_texts"),
    "--input~chain": _texts("The input; by default real inputs stay symbols.", _INPUT, "input_texts"),
    "--output": _texts("Only outputs with these values.", _INPUT, "output_texts"),
    "--output~chain": _texts("Only the paths to these outputs.", _INPUT, "output_texts"),
    "--output~share": _texts(
        "Compare the share of these outputs, instead of all finite outputs; may be repeated.", _INPUT, "outputs"
    ),
    "--output~error": _text("The numeric output whose error the claim bounds.", "NAME"),
    "--program": _path("Compare the program with this one.", "PROG.dip", "program_path"),
    "--table": _path("Compare the rows with this table's.", "TABLE.csv", "table_path"),
    # The claim
    "--beta": _text(
        "The largest allowed probability of a wrong answer. EXPR may use eps, alpha, gamma, the program's "
        "constants, exp, log, sqrt, erfc, min, max and abs.",
        "EXPR",
    ),
    "--alpha": _text(
        "The claim covers the inputs whose distance to disagreement (dd) is greater than VALUE, or at least VALUE if "
        "beta contains alpha. 0: the claim covers all inputs. dd: the claim is made for every alpha below the dd of "
        "each input.",
        "VALUE|dd",
    ),
    "--alpha~error": _text("The alpha that the claim mentions.", "VALUE|dd"),
    "--gamma": _text(
        "The allowed error of real and int outputs. By default that of the program's claim, or 0 if the program has "
        "none. free: make the claim for every gamma > 0.",
        "VALUE",
    ),
    "--gamma~number": _text(
        "The allowed error of real and int outputs. By default that of the program's claim, or 0 if the program has "
        "none.",
        "VALUE",
    ),
    "--gamma~output": _text(
        "The allowed distance of real and int outputs from --output; 0 by default.", "VALUE", "gamma_text"
    ),
    "--eps": _text(f"The values of eps, such as {_EPS}", "INTERVALS"),
    "--eps~one": _text(f"The values of eps, such as 1/2, {_EPS}", "VALUE|INTERVALS"),
    "--eps~error": _text(f"The values of eps, such as {_EPS}", "INTERVALS"),
    "--eps~privacy": _text(f"The values of eps, such as {_EPS}", "INTERVALS"),
    "--eps~run": _text("The eps of the run.", "VALUE", "eps_text", required=True),
    "--eps~shown": _text("Show each probability also as a number at this eps.", "VALUE", "eps_text"),
    "--eps~table": _text("The eps, where the program has terms such as 1/eps.", "VALUE", "eps_text"),
    "--error": _text("Claim that the expected error is at most EXPR for every eps.", "EXPR"),
    "--moment": _count("1: the mean error; 2: the mean squared error; 1 by default.", "1|2", 1, 2, default=1),
    "--adjacent": _text(
        "Which inputs are adjacent. linf:1: each number changes by at most 1. l1:1: the changes add up to at most 1. "
        "hamming:1: exactly one value differs. PAIRS.csv: a file with one pair per row, in columns q and q' for each "
        "input q.",
        "DISTANCE|PAIRS.csv",
        required=True,
    ),
    "--adjacent~tune": _text(
        "Compare the values of --vary at equal privacy: minimize the number times K, the least constant for which the "
        "program is K*eps-private for this adjacency, such as linf:1.",
        "ADJACENCY",
    ),
    "--adjacent~solve": _text(
        "With --for NAME or --for RANGE: make a privacy claim for this adjacency, such as linf:1.", "ADJACENCY"
    ),
    "--budget": _text("The privacy budget; eps by default.", _BUDGET),
    "--budget~solve": _text("The budget of the privacy claim; eps by default.", _BUDGET),
    "--budget~import": _text("The privacy budget of the files of a directory; eps by default.", _BUDGET),
    "--delta": _text("The delta of the claim: a number or an expression in eps; 0 by default.", "EXPR"),
    "--delta~solve": _text("The delta of the privacy claim; 0 by default.", "EXPR"),
    "--delta~import": _text("The delta of the files of a directory; 0 by default.", "EXPR"),
    "--expect": _word(
        "Exit with 1 unless this verdict on the claim follows.", "accurate inaccurate private not-private"
    ),
    # The number to find
    "--constant": _flag("Find the least K for which the program is K*eps-private."),
    "--max-loss": _flag(
        "Find the largest privacy loss at one eps: log(p/p'), where p and p' are the probabilities of one output at "
        "two adjacent inputs; needs --at."
    ),
    "--delta-of": _text("Find the least delta for this budget, for every eps.", _BUDGET),
    "--budget-of": _text("Find the least budget for this delta at one eps; needs --at.", "DELTA"),
    "--profile": _flag(
        "Find the least delta for each budget, and the distribution of the privacy loss, at one eps; needs --at."
    ),
    "--renyi": _text(
        "Find the largest Renyi divergence of order A, or of each order from A to B, at one eps; needs --at.", "A|A..B"
    ),
    "--rho": _flag(
        "Find, as a function of eps, the least rho for which the program satisfies rho-zero-concentrated differential "
        "privacy (rho-zCDP)."
    ),
    "--compose": _count(
        "Ask about the outputs of N independent runs together. If a run depends on earlier runs, write all the runs "
        "as one program.",
        "N",
        1,
        to="runs_together",
        default=1,
    ),
    "--at": _text(
        "The eps for --max-loss, --budget-of, --profile and --renyi. With --delta-of: also show delta at EPS.",
        "EPS",
        "at_text",
    ),
    "--at~error": _text("Show the error as a number at this eps; 1 by default.", "EPS"),
    "--at~import": _text("Fix eps; a rate that is not a multiple of eps needs it.", "EPS", "at_text"),
    "--estimate": _flag(
        "With --max-loss: also estimate the loss from random runs, at the pair where the loss is largest."
    ),
    "--for": _text("What to find; see below.", "eps|alpha|beta|gamma|error|NAME|RANGE", "wanted"),
    "--for~tune": _word(
        "The number to minimize (see below). By default alpha, as alpha*eps; if --alpha gives a number, eps.",
        "alpha gamma eps",
        to="wanted",
    ),
    "--vary": _texts('A constant to vary and its range, such as "s in (0, 1)"; may be repeated.', "RANGE"),
    "--denominator": _count(
        "The largest denominator of the values found; 1000 by default.", "N", 2, 10**5, default=1000
    ),
    "--tolerance": _text(
        "Prove that the result exceeds the minimum by at most this share of it; 1% by default.", "SHARE", default="1%"
    ),
    "--side": _word("Whether the interval has both ends, or only one; all three kinds by default.", "both lower upper"),
    "--confidence": _text(
        "The probability that an interval contains the exact answer; 95% by default.", "SHARE", default="95%"
    ),
    "--confidence~all": _text(
        "The confidence of all intervals together; 0.999999 by default.", "VALUE", "confidence_text", default="0.999999"
    ),
    "--confidence~audit": _text("The confidence; 99% by default.", "P", "confidence_text", default="99%"),
    # Runs
    "-n": _count("The number of runs for --estimate; 100000 by default.", "N", 1, to="runs"),
    "-n,--runs": _count("How many runs; 1 by default.", "RUNS", 1, default=1),
    "-n,--runs~many": _count("How many runs; 100000 by default.", "RUNS", 1, default=100_000),
    "--seed": _count("For tests: equal seeds give equal outputs.", "S", 0),
    "--seed~counts": _count("Equal seeds give equal counts; 0 by default.", "S", 0, default=0),
    "--seed~estimate": _count("The seed of the runs for --estimate; 0 by default.", "N", 0),
    "--grid": _text("Round real outputs down to multiples of it, such as 2^-20.", "VALUE", "grid_text"),
    "--grid~observed": _text("The number of which rounded real outputs are multiples.", "VALUE", "grid_text"),
    "--samples": _path("Write the outputs to FILE, for `dipc conform`.", "FILE.csv"),
    "--samples~observed": _path("A file with the observed outputs, one a line.", "FILE.csv"),
    "--samples-at": _texts(
        "Outputs observed at an input; give it twice, for two inputs.",
        "INPUT FILE.csv",
        "samples",
        type=(str, click.Path(path_type=Path)),
    ),
    "--counts": _path("A file with the number of times that each output was observed.", "FILE.csv"),
    "--loop-limit": _count("Stop when a run repeats a `while` more often; 100000 by default.", "ROUNDS", 1),
    # The answer
    "--format": _word("The format of the answer; text by default.", "", to="form"),
    "--format~test": _word("text by default; github: annotations of the places in the sources.", "", to="form"),
    "-o": _path("Write the result to FILE instead of stdout. A failure leaves FILE unchanged.", to="target"),
    "--certificate": _path("Write the proofs to FILE; `dipc verify` checks them.", to="proof"),
    "--certificate~refused": _path("Refused: the checker does not cover the question.", to="proof") | {"hidden": True},
    "--html": _path("Also write the report to FILE as a self-contained web page."),
    "--plot~rows": _path("Draw the probabilities and 1 - beta against eps (needs matplotlib).", "FILE.svg|png"),
    "--plot~error": _path("Draw the expected error against eps (needs matplotlib).", "FILE.svg|png"),
    "--plot~factor": _path(
        "Draw the factor against eps, or for each program of a family (needs matplotlib).", "FILE.svg|png"
    ),
    "--plot~tune": _path("Draw the objective at the values tried (needs matplotlib).", "FILE.svg|png"),
    "--plot~privacy": _path(
        "Draw the probabilities of outputs and their bounds or, with --profile, the profile (needs matplotlib).",
        "FILE.svg|png",
    ),
    "--plot~outputs": _path("Draw the probabilities against eps (needs matplotlib).", "FILE.svg|png"),
    "--quiet,-q": _flag("Print only the first line, without progress."),
    "--quiet,-q~theorem": _flag("Print the theorem only, and the expected claim if it is not met."),
    "--digits": _count("Significant digits of the answer; 30 by default, but 10 in the first line.", "N", 1, 1000),
    "--digits~solve": _count(
        "Significant digits of the answer; 30 by default, but 10 in the first line and with --for NAME.", "N", 1, 1000
    ),
    "--digits~interval": _count("Significant digits of the answer; 10 by default.", "N", 1, 1000),
    "--digits~failing": _count(
        "Show, to N significant digits, the ends of each interval of eps where a row fails, and the eps at which the "
        "row fails by the most. JSON always shows both, by default to 15 digits.",
        "N",
        1,
        1000,
    ),
    "--digits~tune": _count("Significant digits of the answer; 7 by default.", "N", 1, 1000),
    "--digits~privacy": _count(
        "Significant digits of decimals in JSON; 20 by default. Text shows at most 10.", "N", 1, 1000
    ),
    "--classes/--no-classes": {
        "help": "Decide inputs that differ only in the order of their values once, if the claim is the same for every "
        "order. By default, dipc does so where this saves time.",
        "to": "classes",
        "default": None,
    },
    "--closed-form": _count("Show the probability of row ROW in closed form; JSON shows all rows.", "ROW", 1),
    "--strict": _word(
        "Exit with code 3 if the claim requires nothing (is vacuous) at every row, because beta >= 1 or dd is too "
        "small; with =rows, if the claim is vacuous at any row.",
        "all rows",
        metavar="[=all|rows]",
    ),
    "--time": _flag("Show the time that each stage took.", "times"),
    "--junit": _path("Write the results to FILE as JUnit's XML, too."),
    "--pairs": _path("Write the pairs of adjacent inputs to FILE."),
    "--coq": _path("Write the inequalities as theorems that Coq proves anew.", "OUT.v", "coq_path"),
    # The work
    "--limit": _texts(
        "Raise or lower a limit. An UNDECIDED answer names the limit NAME; docs/limits.md lists all limits.",
        "NAME=N",
        "limits",
    ),
    "--limit~rows": _texts(
        "Raise or lower a limit, such as rows=N, the largest number of rows to write.", "NAME=N", "limits"
    ),
    "--limit~run": _texts(
        "Raise or lower a limit of the exact engine, as for `dipc check`; may be repeated.", "NAME=N", "limits"
    ),
    "-j,--jobs": _text("Use N processes; auto: one for each processor.", "N", default="1"),
    "-j,--jobs~test": _text("Test N claims at a time; auto: one for each processor.", "N", default="1"),
    "--cache": _path(
        "Store decisions in FILE, and reuse the decisions stored there. They are not checked: use only a file that you "
        "created."
    ),
    "--dask": _text(
        "Use the Dask cluster whose scheduler has this address. The answers of the cluster are not checked.", "ADDRESS"
    ),
    "--steps": _count("Give up after N steps; 120 million by default.", "N", 1),
    # Other commands
    "--check": _flag("Print nothing; exit 1 if the file is not in this form.", "only_check"),
    "--language": _word("The language of the mechanism; python by default.", "python dip", default="python"),
    "--port": _count("8437 by default; 0 is any free one.", None, 0, 65535, default=8437),
    "--open/--no-open": {"help": "Open a browser; the default.", "to": "opens", "default": True},
}


class SingleOption(click.Option):
    """An option that a command line may have only once; a second value is refused.

    Without this class, a second value would silently replace the first.
    """

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Add the option to `parser`, which then refuses a second value; `ctx` is the command's context."""
        super().add_to_parser(parser, ctx)
        known = {**parser._long_opt, **parser._short_opt}  # noqa: SLF001 - click has no other place for it
        option = known[self.opts[0]]
        process = option.process

        def process_once(value: Any, state: Any) -> None:
            if self.name in state.opts:
                raise click.UsageError(f"the option `{self.opts[0]}` is given twice", ctx)
            process(value, state)

        option.process = process_once


def takes(names: str) -> Callable[[_F], _F]:
    """Return a decorator that gives a command the arguments and options `names`, in the order of its help.

    `names` is a string of keys of OPTIONS, separated by spaces. A key can be followed by the allowed values of the
    option, the default first, as in `--format=text|json`.
    """

    def decorate(command: _F) -> _F:
        for name in reversed(names.split()):
            key, _, words = name.partition("=")
            settings = dict(OPTIONS[key])
            parameter = settings.pop("to", None)
            if words:
                settings |= {"type": click.Choice(words.split("|")), "default": words.partition("|")[0]}
            if key[0] == "-":
                flags = key.partition("~")[0].split(",")
                kind = click.Option if settings.get("multiple") or settings.get("is_flag") else SingleOption
                command = click.option(*flags, *([parameter] if parameter else []), cls=kind, **settings)(command)
            else:
                command = click.argument(parameter, **settings)(command)
        return command

    return decorate


def parameter_of(name: str) -> str:
    """Return the name of the Python parameter for the option or argument `name`."""
    return str(OPTIONS.get(name, {}).get("to") or name.lstrip("-").replace("-", "_"))

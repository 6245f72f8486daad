"""What people ask first: programs of the README with one thing changed, and rows of real data, by the command line."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

from benchmarks import tables
from benchmarks.goal import Goal, Usage, dipc_command, spawn
from benchmarks.mechanisms import MECHANISMS

#: In `argv` the file of the program and that of the table, both written for the run.
PROGRAM, TABLE, PROOF, CACHE = "<program>", "<table>", "<proof>", "<cache>"

#: A command that takes longer is stopped.
_PATIENCE = 120


@dataclass(frozen=True, slots=True)
class Change:
    """One command, with the most seconds of CPU and megabytes (0: not said) that it may take, and how it may end."""

    name: str
    program: str
    argv: tuple[str, ...]
    seconds: float
    megabytes: float = 0
    table: str | Callable[[], str] = ""
    codes: tuple[int, ...] = (0, 1)
    before: tuple[str, ...] = ()

    def command(self, directory: Path, argv: Sequence[str]) -> list[str]:
        """Return the command `argv` with the names of its files, which are written into `directory`."""
        names = {PROGRAM: "program.dip", TABLE: "table.csv", PROOF: "proof.json", CACHE: "cache"}
        (directory / names[PROGRAM]).write_text(self.program, encoding="utf-8")
        table = self.table if isinstance(self.table, str) else self.table()
        (directory / names[TABLE]).write_text(table, encoding="utf-8")
        return [*dipc_command(), *[str(directory / names[word]) if word in names else word for word in argv]]

    def usage(self) -> tuple[int, Usage]:
        """Run the command; return its exit code, and its time and memory."""
        with tempfile.TemporaryDirectory() as directory:
            if self.before:
                spawn(self.command(Path(directory), self.before))
            return spawn(self.command(Path(directory), self.argv), patience=_PATIENCE)


def goals() -> Iterator[Goal]:
    """Every change as a goal of CPU seconds, with its memory."""
    for change in CHANGES:
        code, usage = change.usage()
        undecided = "" if code in change.codes else f"exit code {code}"
        yield Goal(change.name, change.seconds, usage.cpu, "s CPU", "", undecided, usage.megabytes)
        if change.megabytes:
            yield Goal(f"{change.name}: memory", change.megabytes, usage.megabytes, "MB")


# --- the programs -----------------------------------------------------------------------------------------------------

_TESTS = """program tests;
const n = 10;
output c : {0..n} = 0;
var r : real;
var k : {0, 1};
for i in 1..n do
  k <- choose {0 : 1/3, 1 : 2/3};
  r <- Lap(eps, k);
  if r >= 1/2 then c <- c + 1 end
end
"""


#: Whether a hall may open and has enough staff, with the number of people in it.
_HALL = """program hall;
const S = 10, T = 100;
input adults, children, staff : real;
output open, enough : bool;
output total : real;
ideal { open <- adults >= S and children <= T; total <- adults + children + staff; enough <- staff >= 2 }
claim { alpha: dd; gamma: 8; beta: exp(-alpha*eps/4) + exp(-gamma*eps/2); }
var a, b, s : real;
a <- Lap(eps/4, adults);
b <- Lap(eps/4, children);
s <- Lap(eps/4, staff);
enough <- s >= 2;
open <- a >= S and b <= T;
total <- Lap(eps/2, adults + children + staff)
"""

#: Two Gaussian noises, of which sums of both are compared.
_SUMS = """program sums;
domain D = {a, b, c, d};
input q[1..2] : real;
output o0 : D;
var r1, r2 : real;
ideal { if q[1] - 7/2 <= 0 then if -q[1] + 2*q[2] - 1/2 >= 0 then if -2*q[1] + 2*q[2] + 2 < 0 then o0 <- d
  else o0 <- d end else if q[1] - 3/2 >= 0 then o0 <- d else o0 <- b end end else if q[1] + 2*q[2] < 0 then
  if -q[1] + 2*q[2] - 5/2 <= 0 then o0 <- b else o0 <- b end else if 2*q[2] - 2 <= 0 then o0 <- d else o0 <-
  a end end end }
r1 <- Gauss(1/2/eps, 2*q[2]);
r2 <- Gauss(1/eps, q[1] - 1/2);
if r2 - 3 <= 0 then if r1 - r2 - 1 >= 0 then if r1 - 2*r2 + 1 < 0 then o0 <- d else o0 <- d end else if r2 -
  1 >= 0 then o0 <- d else o0 <- b end end else if r1 + r2 + 1/2 < 0 then if r1 - r2 - 3 <= 0 then o0 <- b
  else o0 <- b end else if r1 - 2 <= 0 then o0 <- d else o0 <- a end end end
"""


def _text(name: str, *changes: tuple[str, str]) -> str:
    """Return the text of the paper's mechanism `name` with these replacements, `changes`."""
    text = MECHANISMS[name].path.read_text(encoding="utf-8")
    for old, new in changes:
        if old not in text:
            raise RuntimeError(f"{name} has no {old!r}")
        text = text.replace(old, new)
    return text


_BETWEEN = _text(
    "sparse",
    ("T = 0;", "T = 0, U = 4;"),
    ("b <- r >= rT;", "b <- r >= rT and r <= U;"),
    ("if q[i] >= T then", "if q[i] >= T and q[i] <= U then"),
)
_BETWEEN_NOISY = _text(
    "sparse",
    ("T = 0;", "T = 0, U = 4;"),
    ("var rT, r : real;", "var rT, rU, r : real;"),
    ("rT <- Lap(eps/(2*c), T);\nfor", "rT <- Lap(eps/(2*c), T);\nrU <- Lap(eps/(2*c), U);\nfor"),
    ("b <- r >= rT;", "b <- r >= rT and r <= rU;"),
    ("if q[i] >= T then", "if q[i] >= T and q[i] <= U then"),
)
_SPARSE_RATES = _text("sparse", ("Lap(eps/(4*c), q[i])", "Lap(eps/(3+i), q[i])"))
_MAXIMUM_RATES = _text(
    "noisy_max",
    ("Lap(eps/2, q[i])", "Lap(eps/(1+i), q[i])"),
    ("beta: m*exp(-alpha*eps/2)", "beta: m*exp(-alpha*eps/(1+m))"),
)
_INTEGERS = _text(
    "noisy_max",
    ("q[1..m] : real", "q[1..m] : int"),
    ("var r, best : real", "var r, best : int"),
    ("Lap(", "DLap("),
    ("  var best : real;", "  var best : int;"),
)
_INTEGER_RATES = _text(
    "noisy_max",
    ("q[1..m] : real", "q[1..m] : {-1..1}"),
    ("var r, best : real", "var r, best : int"),
    ("  var best : real;", "  var best : {-1..1};"),
    ("Lap(eps/2, q[i])", "DLap(eps/(1+i), q[i])"),
    ("Lap(eps/2, q[1])", "DLap(eps/2, q[1])"),
    ("beta: m*exp(-alpha*eps/2)", "beta: m*exp(-alpha*eps/(1+m))"),
)
_SUM = """program total;
const k = 6;
output near : bool = false;
var x, s : int;
s <- DLap(eps/2, 0);
for i in 2..k do
  x <- DLap(eps/(1+i), 0);
  s <- s + x
end;
if s >= -2 and s <= 2 then near <- true end
"""


def _tests(k: int) -> str:
    """Return a program with `k` tests of sums of all `k` noises, with coefficients from -2 to 2, a third of them 0."""
    chance = random.Random(k)  # noqa: S311 - no secret
    lines = [f"program tests; output all : bool = true; var r[1..{k}] : real;"]
    lines += [f"for i in 1..{k} do r[i] <- Lap(eps/(1+i), i) end;"]
    for _ in range(k):
        row = [chance.choice([-2, -1, 0, 0, 1, 2]) for _ in range(k)]
        row[chance.randrange(k)] = 1
        form = " + ".join(f"({c})*r[{i}]" for i, c in enumerate(row, 1) if c)
        lines.append(f"if {form} < -1 then all <- false; exit end;")
    return "\n".join(lines)


_GAUSSIAN = (Path(__file__).parent / "gaussian_noisy_max.dip").read_text(encoding="utf-8")
_TIGHTEN = ("tighten", PROGRAM, TABLE, "-q", "-D", "m=6")
_SMART_SUM = (Path(__file__).parent / "literature" / "smart_sum.dip").read_text(encoding="utf-8")


# --- the tables -------------------------------------------------------------------------------------------------------


def maxima(m: int, digits: int, rows: int = 1, seed: int = 7) -> str:
    """Return a table of `rows` rows of `m` means with `digits` digits, and the index of the largest mean.

    The means are random, with this `seed`.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    lines = [",".join([*[f"q[{i}]" for i in range(1, m + 1)], "out"])]
    for _ in range(rows):
        means = [Fraction(n, 10**digits) for n in chance.sample(range(5 * 10**digits), m)]
        lines.append(",".join([*[str(float(mean)) for mean in means], str(1 + means.index(max(means)))]))
    return "\n".join(lines) + "\n"


def _ties(m: int) -> str:
    """Return a table of one row for noisy max of `m` queries: zeros, and a 1 in the last place."""
    header = [f"q[{index}]" for index in range(1, m + 1)]
    return f"{','.join([*header, 'out'])}\n{'0,' * (m - 1)}1,{m}\n"


def _long_table(count: int, digits: int) -> str:
    """Return a table of det of Sparse at `count` inputs of ten numbers with `digits` digits after the point."""
    chance = random.Random(5)  # noqa: S311 - no secret
    lines = [",".join(f"{name}[{i}]" for name in ("q", "out") for i in range(1, 11))]
    for _ in range(count):
        numbers = [chance.randint(-4 * 10**digits, 4 * 10**digits) for _ in range(10)]
        first = next((i for i, number in enumerate(numbers) if number >= 0), 10)
        answers = ["bot" if i < first else "top" if i == first else "none" for i in range(10)]
        lines.append(",".join([*[str(Fraction(number, 10**digits)) for number in numbers], *answers]))
    return "\n".join(lines) + "\n"


def _sparse_rows(count: int) -> str:
    """Return a table of `count` rows of ten means with three digits."""
    mechanism = MECHANISMS["sparse"]
    constants = mechanism.constants({"m": Fraction(10), "c": Fraction(1)})
    chance = random.Random(3)  # noqa: S311 - no secret
    vectors = [[Fraction(chance.randint(-400, 400), 100) for _ in range(10)] for _ in range(count)]
    cells = [",".join(tables.cells(mechanism, constants, vector)) for vector in vectors]
    return "\n".join([",".join(tables.columns(mechanism, constants)), *cells]) + "\n"


def _falling(m: int, answer: str, output: str) -> str:
    header = ",".join([*[f"q[{i}]" for i in range(1, m + 1)], output])
    return header + "\n" + ",".join([*[str(Fraction(-i, 10)) for i in range(1, m + 1)], answer]) + "\n"


def _falling_sparse(m: int) -> str:
    header = [*[f"q[{i}]" for i in range(1, m + 1)], *[f"out[{i}]" for i in range(1, m + 1)]]
    cells = [*[str(Fraction(-i, 10)) for i in range(1, m + 1)], *["bot"] * m]
    return ",".join(header) + "\n" + ",".join(cells) + "\n"


def _sparse_table(m: int) -> str:
    header = [*[f"q[{i}]" for i in range(1, m + 1)], *[f"out[{i}]" for i in range(1, m + 1)]]
    cells = [*["-1"] * (m - 1), "1", *["bot"] * (m - 1), "top"]
    return ",".join(header) + "\n" + ",".join(cells) + "\n"


def _smart_table(n: int) -> str:
    header = [*[f"a[{i}]" for i in range(1, n + 1)], *[f"out[{i}]" for i in range(1, n + 1)]]
    return ",".join(header) + "\n" + ",".join([*["1"] * n, *[str(i) for i in range(1, n + 1)]]) + "\n"


def _counted(n: int, seconds: float) -> Change:
    argv = ("check", PROGRAM, TABLE, "-q", "-D", f"n={n}", "--beta", "3/4")
    return Change(f"{n} tests of fresh noise, counted", _TESTS, argv, seconds, table=f"c\n{n // 2}\n")


def _every_input(name: str, program: str, m: int, seconds: float, megabytes: float = 0) -> Change:
    argv = ("check", PROGRAM, "-q", "-D", f"m={m}", "--inputs", "all")
    return Change(f"{name}, m = {m}, every input", program, argv, seconds, megabytes)


def _rows(name: str, program: str, m: int, table: str, seconds: float, *more: str, megabytes: float = 0) -> Change:
    argv = ("check", PROGRAM, TABLE, "-q", "-D", f"m={m}", *more)
    return Change(name, program, argv, seconds, megabytes, table)


_MAXIMUM, _SPARSE = _text("noisy_max"), _text("sparse")
_ONE_ROW = "q[1],q[2],q[3],out[1],out[2],out[3]\n-2,-1,1,bot,bot,top\n"

_CACHED = ("check", PROGRAM, TABLE, "-q", "-D", "m=10", "--cache", CACHE)

#: The commands, as their programs and tables are, and their goals.
CHANGES: tuple[Change, ...] = (
    Change("One row, start included", _SPARSE, ("check", PROGRAM, TABLE, "-q"), 0.3, 0, _ONE_ROW),
    _counted(10, 0.5),
    _counted(400, 2.3),
    _every_input("Sparse between two thresholds", _BETWEEN, 12, 2),
    _every_input("Sparse between two thresholds", _BETWEEN, 50, 20),
    _every_input("Sparse between two noisy thresholds", _BETWEEN_NOISY, 12, 4),
    _every_input("Sparse, rates eps/(3+i)", _SPARSE_RATES, 14, 4),
    _every_input("Sparse, rates eps/(3+i)", _SPARSE_RATES, 20, 20, 300),
    _every_input("NoisyMax, rates eps/(1+i)", _MAXIMUM_RATES, 14, 4),
    _every_input("NoisyMax, rates eps/(1+i)", _MAXIMUM_RATES, 20, 20, 300),
    *[
        Change(
            f"NoisyMax over integers, rates eps/(1+i), m = {m}, rows of -1..1",
            _INTEGER_RATES,
            ("check", PROGRAM, "-q", "-D", f"m={m}", "--inputs", "q = -1..1"),
            seconds,
        )
        for m, seconds in ((5, 3), (8, 20))
    ],
    *[_every_input("NoisyMax over integers", _INTEGERS, m, seconds) for m, seconds in ((6, 3), (10, 15))],
    Change(
        "A sum of 12 integers of different rates",
        _SUM,
        ("check", PROGRAM, TABLE, "-q", "-D", "k=12", "--beta", "9/10"),
        2,
        table="near\ntrue\n",
    ),
    *[
        Change(
            f"{k} linear tests on {k} noises",
            _tests(k),
            ("check", PROGRAM, TABLE, "-q", "--beta", "99/100"),
            seconds,
            table="all\ntrue\n",
        )
        for k, seconds in ((6, 3), (8, 25))
    ],
    _rows("NoisyMax, m = 75, falling means", _MAXIMUM, 75, _falling(75, "1", "out"), 4, "--alpha", "1/20"),
    *[
        _rows(f"NoisyMax, m = {m}, means of {digits} digits", _MAXIMUM, m, maxima(m, digits), seconds)
        for m, digits, seconds in ((10, 3, 0.7), (15, 3, 0.9), (20, 3, 1), (20, 4, 1), (25, 3, 1.2), (50, 3, 7))
    ],
    _rows("NoisyMax, m = 25, 1000 rows of real data", _MAXIMUM, 25, maxima(25, 3, 1000), 60),
    _rows("Sparse, m = 80, falling means", _SPARSE, 80, _falling_sparse(80), 5),
    Change(
        "Smart sum, T = 64, one row",
        _SMART_SUM,
        ("check", PROGRAM, TABLE, "-q", "-D", "T=64", "--alpha", "0", "--beta", "64*exp(-gamma*eps)", "--gamma", "2"),
        15,
        table=_smart_table(64),
    ),
    Change(
        # Wanted: 5. Its longest product has 320 919 terms.
        "Smart sum, T = 64 in blocks of 8, one row",
        _SMART_SUM,
        ("check", PROGRAM, TABLE, "-q", "-D", "T=64", "-D", "M=8", "--gamma", "5"),
        9,
        table=_smart_table(64),
    ),
    _every_input("NoisyMax", _MAXIMUM, 100, 4),
    _every_input("NumericSparse", _text("numeric_sparse"), 100, 4),
    _every_input("Sparse", _SPARSE, 100, 2),
    _rows("Sparse, m = 2000", _SPARSE, 2000, _sparse_table(2000), 6, "--alpha", "1", megabytes=300),
    Change(
        "NoisyMax, m = 4, 83521 rows of -8..8",
        _MAXIMUM,
        ("check", PROGRAM, "-q", "-D", "m=4", "--inputs", "q = -8..8"),
        15,
    ),
    Change(
        "Certificate of 729 rows: checked",
        _SPARSE,
        ("verify", PROOF, "-q"),
        3,
        before=("check", PROGRAM, "-q", "-D", "m=6", "--inputs", "q = -1..1", "--no-classes", "--certificate", PROOF),
    ),
    Change(
        "A warm cache, 3000 rows of real data",
        _SPARSE,
        _CACHED,
        1.5,
        table=_sparse_rows(3000),
        before=_CACHED,
    ),
    *(
        Change(
            f"Noisy max, m = {m}, one row with all but one value tied, dd from the ideal",
            _text("noisy_max"),
            ("check", PROGRAM, TABLE, "-q", "-D", f"m={m}"),
            seconds,
            table=_ties(m),
        )
        for m, seconds in ((50, 1), (100, 2.5))
    ),
    *(
        Change(
            f"Sparse, m = 10, 100000 rows of numbers with {digits} digits",
            _SPARSE,
            ("check", PROGRAM, TABLE, "-q", "-D", "m=10"),
            seconds,
            120,
            table=partial(_long_table, 100_000, digits),
        )
        for digits, seconds in ((3, 8), (6, 13))
    ),
    _rows("Gaussian noisy max, m = 10, 100 rows of 3 digits", _GAUSSIAN, 10, maxima(10, 2, 100), 4),
    # Wanted: 3 each. Measured: 3, 18 and 6.5. Both ends are decided anew; cells are shown in pure Python.
    *(
        Change(
            f"`tighten` of Gaussian noisy max, m = 6, 20 rows of 3 digits{name}",
            _GAUSSIAN,
            argv,
            seconds,
            table=maxima(6, 2, 20),
            before=before,
        )
        for name, argv, before, seconds in (
            ("", _TIGHTEN, (), 3.5),
            (", certificate", (*_TIGHTEN, "--certificate", PROOF), (), 20),
            (", certificate checked", ("verify", PROOF, "--quiet"), (*_TIGHTEN, "--certificate", PROOF), 7),
        )
    ),
    Change("Three counts and two answers, every input", _HALL, ("check", PROGRAM, "-q", "--inputs", "all"), 5),
    Change(
        "Sums of two Gaussian noises, every input",
        _SUMS,
        (
            "check",
            PROGRAM,
            "-q",
            "--inputs",
            "all",
            "--alpha",
            "2",
            "--gamma",
            "0",
            "--beta",
            "65/89*exp(-alpha*eps/4)",
        ),
        6,
    ),
    Change(
        "Sparse, m = 10, 100000 rows of numbers with 3 digits, a warm cache",
        _SPARSE,
        _CACHED,
        3,
        120,
        table=partial(_long_table, 100_000, 3),
        before=_CACHED,
    ),
    Change(
        "Privacy of all pairs, m = 5",
        _SPARSE,
        ("privacy", PROGRAM, "-q", "-D", "m=5", "--inputs", "q = -1..1", "--adjacent", "linf:1"),
        2,
    ),
)

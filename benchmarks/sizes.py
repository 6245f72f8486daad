"""Textbook mechanisms at the sizes of textbooks: n people, clipped sums, and answers that are an index."""

from __future__ import annotations

import random
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.goal import Goal, dipc_command, spawn

_ROOT = Path(__file__).resolve().parent.parent
_REPORTS = _ROOT / "tests" / "cases" / "reports"

_HEAD = """
program people;
const n = 30;
input x[1..n] : {0..1};
output most : bool;
var y[1..n] : {0..1};
var s : {0..n} = 0;
ideal { var k : {0..n} = 0; for i in 1..n do k <- k + x[i] end; most <- 2*k > n }
claim { alpha: 0; beta: 9/10; }
"""

_RESPONSE = """
  if x[i] = 1 then y[i] <- choose { 1 : exp(eps)/(1 + exp(eps)), 0 : 1/(1 + exp(eps)) }
  else y[i] <- choose { 0 : exp(eps)/(1 + exp(eps)), 1 : 1/(1 + exp(eps)) } end
"""

_PYTHON = """
import dipc

def noisy(v, eps):
    lie = dipc.choice({0: dipc.exp(eps)/(1 + dipc.exp(eps)), 1: 1/(1 + dipc.exp(eps))})
    return v if lie == 0 else 1 - v

@dipc.mechanism(n=30, ideal=lambda x, n: 2 * sum(x) > n)
def listed(x: dipc.Finite[0:2]["n"], eps) -> bool:
    ys = [noisy(v, eps) for v in x]
    return 2 * sum(ys) > n

@dipc.mechanism(n=30, ideal=lambda x, n: 2 * sum(x) > n)
def summed(x: dipc.Finite[0:2]["n"], eps) -> bool:
    s = 0
    for v in x:
        s += noisy(v, eps)
    return 2 * s > n

@dipc.mechanism(n=50, B=10)
def mean(x: dipc.Reals["n"], eps) -> float:
    s = 0
    for v in x:
        s += min(max(v, 0), B)/n
    return dipc.laplace(s, rate=n*eps/B)
"""

_MEDIAN = """
program median;
const n = 9, k = 5;
input x[1..n] : {0..k};
output out : {0..k};
ideal { noiseless }
metric { input: discrete; }
claim { alpha: 0; beta: k*exp(-eps/2); }
out <- Exp(eps/2, v in {0..k} : -abs(sum(i in 1..n : x[i] < v) - sum(i in 1..n : x[i] > v)))
"""

_BIT = """
program rr;
input x : bool;
output y : bool;
y <- choose { x : exp(eps)/(1+exp(eps)), not x : 1/(1+exp(eps)) }
"""

_THREE = """
program three;
const a = 1/3, b = 1/3, D1 = 1, D2 = 10, D3 = 100;
input count, total, largest : real;
output c, t, l : real;
ideal { noiseless }
claim { alpha: 0; beta: 3*exp(-gamma*eps/300); }
c <- Lap(a*eps/D1, count);
t <- Lap(b*eps/D2, total);
l <- Lap((1 - a - b)*eps/D3, largest)
"""

_FILES: Mapping[str, str] = {
    "list.dip": f"{_HEAD}for i in 1..n do {_RESPONSE} end; for i in 1..n do s <- s + y[i] end; most <- 2*s > n\n",
    "sum.dip": f"{_HEAD}for i in 1..n do {_RESPONSE}; s <- s + y[i] end; most <- 2*s > n\n",
    "people.py": _PYTHON,
    "response.dip": _BIT,
    "three.dip": _THREE,
    "vote.dip": (_ROOT / "docs" / "programs" / "vote.dip").read_text(encoding="utf-8").replace("{0..4}", "{0..20}"),
    "median.dip": _MEDIAN,
    "mean.dip": (_REPORTS / "clipped_mean.dip").read_text(encoding="utf-8"),
}


@dataclass(frozen=True, slots=True)
class _Command:
    """A command of `dipc` with its limit in CPU seconds; {NAME} are files, and `codes` the exit codes of an answer."""

    name: str
    limit: float
    arguments: str
    codes: Sequence[int] = (0, 1)


_CLAIM = "--alpha 0 --beta 9/10"

_FORMS = (
    ("a list", "{list.dip} --inputs all"),
    ("a sum", "{sum.dip} --inputs all"),
    ("a list in Python", f"{{people.py}}::listed {_CLAIM}"),
    ("a sum in Python", f"{{people.py}}::summed {_CLAIM}"),
)


def _means(count: int) -> str:
    """Return `count` different means with two decimals, as text."""
    return ", ".join(f"{value}/100" for value in random.Random(3).sample(range(-400, 400), count))  # noqa: S311


_COMMANDS = (
    *(
        _Command(f"Randomized response of {n}, as {form}", limit, f"check {arguments} -D n={n}")
        for n, limit in ((9, 0.6), (15, 0.7), (30, 3.0), (100, 90.0))
        for form, arguments in _FORMS
    ),
    *(
        _Command(f"Its certificate of 30, as {form}", 3.0, f"check {arguments} -D n=30 --certificate {{{number}.json}}")
        for number, (form, arguments) in enumerate(_FORMS)
    ),
    *(
        _Command(f"Checking that of {form}", 5.0, f"verify {{{number}.json}} --expect accurate --inputs all", (0,))
        for number, (form, _) in enumerate(_FORMS)
    ),
    _Command("Its privacy at 30", 5.0, "privacy {list.dip} --adjacent hamming:1 --budget eps --certificate {p.json}"),
    _Command("Checking that", 6.0, "verify {p.json} --expect private --inputs all", (0,)),
    *(
        _Command(
            f"The least budget of {runs} runs of randomized response",
            limit,
            f"privacy {{response.dip}} --adjacent hamming:1 --compose {runs} --budget-of 1/1000000 --at 1/10",
        )
        for runs, limit in ((100, 0.6), (1_000, 1.5), (10_000, 15.0), (1_000_000, 3.0))
    ),
    _Command(
        "The split of a budget over three noises with the least gamma",
        10.0,
        "tune {three.dip} --vary 'a in (0, 1)' --vary 'b in (0, 1)' --for gamma --beta 1/20",
    ),
    # Wanted: 3. Measured: 4, of which 1 is to write 8 MB of closed forms.
    _Command(
        "All outputs of Sparse, 32 queries of three digits",
        4.5,
        f"prob {_ROOT / 'benchmarks' / 'sparse.dip'} -D m=32 --input 'q=({_means(32)})'",
    ),
    *(
        _Command(
            f"Every input of {name}, {', '.join(each.replace('=', ' = ') for each in constants)}",
            limit,
            f"check {_ROOT / 'benchmarks' / name}.dip {' '.join(f'-D {each}' for each in constants)} --inputs all",
            (0,),
        )
        # Wanted: 4, 30, 6 and 10. The closed forms of m = 800 have 640 000 terms together, and it takes 1.1 GB.
        # The 5 489 classes of c = 3 are explored one by one; 1 250 are decided. The states of noisy max are 130 000.
        for name, constants, limit in (
            ("sparse", ("m=200",), 5.0),
            ("sparse", ("m=800",), 80.0),
            ("sparse", ("m=32", "c=3"), 10.0),
            ("noisy_max", ("m=200",), 22.0),
        )
    ),
    _Command("A vote of 194 481 inputs", 10.0, "check {vote.dip} -D m=4 --inputs all"),
    _Command("The median of 5 over 0..3", 1.5, "check {median.dip} -D n=5 -D k=3"),
    _Command("The median of 9 over 0..5", 20.0, "check {median.dip}"),
    *(
        _Command(
            f"Privacy of the clipped mean of {n}, {adjacent}",
            0.6,
            f"privacy {{mean.dip}} --constant --inputs all -D n={n} --adjacent {adjacent}",
        )
        for n in (2, 4, 10, 50)
        for adjacent in ("hamming:1", "l1:15", "linf:12")
    ),
    _Command("The same of 50 in Python", 0.6, "privacy {people.py}::mean --constant --inputs all --adjacent hamming:1"),
    _Command("Accuracy of the clipped mean of 50", 0.6, "check {mean.dip} --inputs all -D n=50"),
    *(
        _Command(f"Rows of {n} bits", 0.5, f"check {_REPORTS / '10_rows_of_bits.dip'} -D n={n} --inputs all")
        for n in (8, 12)
    ),
    *(
        _Command(f"AboveThreshold for every m: {question}", 10.0, f"{arguments} --for-all m")
        for question, arguments in (
            ("accuracy", "check {first_above.dip} --inputs all"),
            ("privacy", "privacy {first_above.dip} --adjacent linf:1 --budget eps --inputs all"),
            ("tighten", "tighten {first_above.dip} --inputs all"),
            ("certificate", "check {first_above.dip} --inputs all --certificate {a.json}"),
        )
    ),
    _Command("Checking that of AboveThreshold", 10.0, "verify {a.json}", (0,)),
    _Command("A flag for every m", 10.0, f"check {_REPORTS / '6_above_threshold_flag.dip'} --inputs all --for-all m"),
)


def goals() -> Iterator[Goal]:
    """Yield a goal for each command, in CPU seconds of its process, start-up included."""
    with tempfile.TemporaryDirectory() as directory:
        for name, text in _FILES.items():
            (Path(directory) / name).write_text(text, encoding="utf-8")
        above = (_ROOT / "docs" / "programs" / "first_above.dip").read_text(encoding="utf-8")
        (Path(directory) / "first_above.dip").write_text(above, encoding="utf-8")
        for command in _COMMANDS:
            arguments = shlex.split(command.arguments.replace("{", f"{directory}/").replace("}", ""))
            code, usage = spawn([*dipc_command(), *arguments], patience=10 + int(4 * command.limit))
            undecided = "" if code in command.codes else f"exit code {code}"
            yield Goal(command.name, command.limit, usage.cpu, "s CPU", command.arguments, undecided, usage.megabytes)

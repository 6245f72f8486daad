"""The goals of certificates: how long they are, how fast they are checked, and what writing them costs."""

from __future__ import annotations

import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from benchmarks import tables
from benchmarks.goal import SHAPES, Goal, checked, dipc_command
from benchmarks.mechanisms import MECHANISMS

#: The tightest claim of the paper's form on the 27 rows of Sparse, m = 3.
BETA = "2*m*c*exp(-alpha*eps/(8*c))/6"

_RUNS = 15


def goals() -> list[Goal]:
    """Every goal of certificates."""
    sparse = MECHANISMS["sparse"]
    constants = sparse.constants({"m": Fraction(3), "c": Fraction(1)})
    with tempfile.TemporaryDirectory() as directory:
        table, proof = Path(directory) / "table.csv", Path(directory) / "proof.json"
        count = tables.write(sparse, constants, tables.grid(range(-1, 2), 3), table)
        command = [*dipc_command(), "check", str(sparse.path), str(table), "--beta", BETA, "--quiet"]
        checked([*command, "--certificate", str(proof)])
        size = proof.stat().st_size / 1000
        checking = checked([sys.executable, "-P", "-m", "dipc.verifier", str(proof)]).cpu
    name = f"Certificate of Sparse, m = 3, all {count} rows"
    return [
        Goal(f"{name}: size", 40, size, "KB"),
        Goal(f"{name}: verified", 1, checking, "s CPU", "pure Python, start-up included"),
        _one_row(),
        _running_maximum(),
        *_different_means(),
        _every_input(),
        _cost(),
    ]


def _one_row() -> Goal:
    """Return the goal for Sparse with fifty queries, checked row by row."""
    sparse = MECHANISMS["sparse"]
    given = {"m": Fraction(50), "c": Fraction(1)}
    taken = {}
    for name, shape in SHAPES.items():
        rows = tables.rows(sparse, sparse.constants(given), [[Fraction(value) for value in shape(50)]])
        taken[name] = _verified(sparse.path.read_text(encoding="utf-8"), given, list(rows))
    remark = ", ".join(f"{name}: {seconds:.2f} s" for name, seconds in taken.items())
    return Goal("Certificate of Sparse, m = 50, one row: verified", 20, max(taken.values()), "s CPU", remark)


def _running_maximum() -> Goal:
    """NoisyMax over fifty queries, executed path by path; its dd is the table's, for the `ideal` has 2^49 paths."""
    noisy_max = MECHANISMS["noisy_max"]
    given = {"m": Fraction(50)}
    rows = tables.rows(noisy_max, noisy_max.constants(given), [[*[Fraction(0)] * 49, Fraction(1)]])
    text = re.sub(r"ideal \{.*?\n\}", "", noisy_max.path.read_text(encoding="utf-8"), flags=re.DOTALL)
    seconds = _verified(text, given, list(rows))
    return Goal("Certificate of a running maximum, m = 50, one row: verified", 8, seconds, "s CPU")


#: The rows of noisy max whose means are different numbers of three digits: queries, rows, and seconds. The 100 rows
#: take 5.6, in pure Python: 45 % for the runs and integrals of the rows, 40 % for the signs of sums of 900 terms.
_DIFFERENT = ((10, 100, 5.0), (15, 1, 1.0))


def _different_means() -> Iterator[Goal]:
    """Yield the goals for noisy max at random means, at which the closed form has hundreds of terms."""
    noisy_max = MECHANISMS["noisy_max"]
    for m, count, limit in _DIFFERENT:
        generator = random.Random(m)  # noqa: S311 - inputs to measure with, no secret
        vectors = [[Fraction(generator.randrange(1000), 100) for _ in range(m)] for _ in range(count)]
        given = {"m": Fraction(m)}
        rows = list(tables.rows(noisy_max, noisy_max.constants(given), vectors))
        seconds = _verified(noisy_max.path.read_text(encoding="utf-8"), given, rows)
        name = f"Certificate of noisy max, m = {m}, {count} {'rows' if count > 1 else 'row'} of three digits: verified"
        yield Goal(name, limit, seconds, "s CPU")


def _every_input() -> Goal:
    """Return the goal for writing the certificate of Sparse with forty queries, over every real input."""
    import dipc

    report = dipc.check(dipc.load(MECHANISMS["sparse"].path, m=40), inputs="all", keep_proofs=True)
    start = time.process_time()
    dipc.certify(report)
    # Measured: 2.4, of which 1.2 is what the checker does, too: the runs of the program, integrals and cells.
    return Goal("Certificate of Sparse, every input, m = 40: written", 2, time.process_time() - start, "s CPU")


def _verified(text: str, constants: dict[str, Fraction], rows: list[dict[str, str]]) -> float:
    """Return the seconds that checking the certificate takes; it must be accepted in full.

    It is about the program `text` with these `constants`, and the `rows` of a table.
    """
    import dipc
    from dipc.verifier.document import check_text

    certificate = dipc.certify(dipc.check(dipc.load(text, **constants), rows, keep_proofs=True))
    start = time.process_time()
    accepted = check_text(certificate)
    seconds = time.process_time() - start
    if not accepted.complete:
        raise RuntimeError(next(accepted.lines()))
    return seconds


def _cost() -> Goal:
    """The share that certificates add to the time of a check, without start-up: the largest of three."""
    with tempfile.TemporaryDirectory() as directory:
        table = Path(directory) / "table.csv"
        shares = {f"m = {m}, c = {c}": _share(m, c, table) for m, c in ((3, 1), (8, 2), (50, 1))}
    remark = ", ".join(f"{name}: {share:.0f} %" for name, share in shares.items())
    return Goal("Writing certificates of Sparse, of the time of `check`", 50, max(shares.values()), "%", remark)


def _share(m: int, c: int, table: Path) -> float:
    """Return how many percent keeping and writing proofs adds to the check of the CSV file `table`.

    The program is Sparse for `m` queries and `c` answers. The file has all rows of a grid, or three rows for large
    `m`. The best times count: other work of the machine can only make times worse.
    """
    import dipc

    sparse = MECHANISMS["sparse"]
    given = {"m": Fraction(m), "c": Fraction(c)}
    vectors = (
        tables.grid(range(-1, 2), m)
        if m < 10
        else [[Fraction(value) for value in shape(m)] for shape in SHAPES.values()]
    )
    tables.write(sparse, sparse.constants(given), vectors, table)

    def seconds(*, certified: bool) -> float:
        program = dipc.load(sparse.path, **given)
        start = time.process_time()
        report = dipc.check(program, str(table), keep_proofs=certified)
        if certified:
            dipc.certify(report)
        return time.process_time() - start

    seconds(certified=True)
    # In turn, so that both see the same machine.
    pairs = [(seconds(certified=False), seconds(certified=True)) for _ in range(_RUNS)]
    plain, certain = min(first for first, _ in pairs), min(second for _, second in pairs)
    return 100 * (certain / plain - 1)

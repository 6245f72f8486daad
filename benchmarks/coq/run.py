"""Certificates of the published rows, written as theorems and compiled by Coq one after the other."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import dipc
from benchmarks.published import PublishedRow
from benchmarks.runner import KNOWN, Bench
from dipc.coq.theorems import CoqFile, write_theorems
from dipc.verifier.document import check_document, read_document
from dipc.verifier.reading import Budget


@dataclass(frozen=True, slots=True)
class CompiledTable:
    """The theorems of a published row with beta times `factor`.

    `stated` of the `obligations` are theorems, and the probabilities of `proved_rows` of the `rows` are proved from
    the program. `proved` says whether Coq accepts the file; `seconds` is its CPU time.
    """

    published: PublishedRow
    factor: Fraction
    verdict: str
    stated: int
    obligations: int
    proved_rows: int
    rows: int
    proved: bool
    seconds: float

    @property
    def complete(self) -> bool:
        """Whether Coq has proved a theorem for each obligation."""
        return self.proved and self.stated == self.obligations


def factors(row: PublishedRow) -> list[Fraction]:
    """Return the factors of beta that are decided for the published `row`.

    They are 1, or in Table 4 the best and the next constant, published and true.
    """
    if row.best is None or row.refuted is None:
        return [Fraction(1)]
    found = [row.best, row.refuted]
    known = KNOWN.get((row.table, row.mechanism.name, row.c))
    if known is not None:
        found += [Fraction(1, known.kappa), Fraction(1, known.kappa + 1)]
    return list(dict.fromkeys(found))


def theorems(row: PublishedRow, factor: Fraction) -> tuple[str, CoqFile]:
    """Return the verdict of the published `row` with beta times `factor`, and its certificate as theorems."""
    bench = Bench(row, row.mechanism)
    beta = row.beta if factor == 1 else f"({row.beta})*({factor})"
    report = dipc.check(
        bench.program, bench.rows, beta=beta, alpha=row.alpha, gamma=row.gamma, eps="(0, inf)", keep_proofs=True
    )
    document, budget = read_document(dipc.certify(report)), Budget()
    check_document(document, budget)
    return str(report.verdict), write_theorems(document, budget)


def compile_all(rows: Iterable[PublishedRow], directory: Path | None, timeout: float) -> Iterator[CompiledTable]:
    """Compile the theorems of each of `rows`, and keep the files in `directory` unless it is None.

    A file that takes more than `timeout` seconds counts as not proved. Raises FileNotFoundError without Coq.
    """
    with TemporaryDirectory() as temporary:
        home = directory or Path(temporary)
        for row in rows:
            for factor in factors(row):
                verdict, file = theorems(row, factor)
                c = "" if row.c is None else f"_c{row.c}"
                name = f"table{row.table}_{row.mechanism.name}_m{row.m}{c}_{factor.numerator}_{factor.denominator}"
                gamma = "".join(letter if letter.isalnum() else "_" for letter in f"{row.range}_{row.gamma}")
                path = home / f"{name}_{gamma}.v"
                path.write_text(file.text, encoding="utf-8")
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                proved = coq_proves(path, timeout)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                count = file.proved_rows + file.unproved_rows
                yield CompiledTable(
                    row, factor, verdict, file.stated, file.obligations, file.proved_rows, count, proved, seconds
                )


def coq_proves(path: Path, timeout: float) -> bool:
    """Whether Coq accepts the file `path` within `timeout` seconds."""
    command = ["coqc", "-w", "none", path.name]
    try:
        done = subprocess.run(command, cwd=path.parent, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0

"""The benchmark families of DiPApprox (Bhusal, Chadha, Sistla and Viswanathan, CCS 2025), with its published times.

Theirs are seconds on a 1.4 GHz i5, as the result files of the repository give them, for eps = 1/2 and delta = 1/100 on
inputs in {0, 1}^N: one pair of inputs, or all that differ anywhere. Of the programs whose text is there all are here;
SVT-Gauss-Leaky-2 has none. Those of m-Range and k-Min-Max are trees with two centers from 2 and 4 inputs on. Its
non-private SVT with Laplace noise, 4 to 6, are Lyu, Su and Li's: claims with delta = 0 about inputs -1 and 0.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import dipc
from benchmarks.privacy.mechanism import HERE
from benchmarks.runner import warm_up
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import read_claim


@dataclass(frozen=True, slots=True)
class Entry:
    """A program for N inputs, with its expected verdict and the published seconds.

    The verdict is about all pairs, or about one pair. The seconds are None if they exceed the published limit, or are
    not published.
    """

    name: str
    number: int
    all_pairs: bool
    verdict: str
    published: float | None
    eps: str = "1/2"
    #: Values of the inputs where they are real; delta is 0 then.
    inputs: str | None = None

    @property
    def title(self) -> str:
        return f"{self.name}, N = {self.number}, {'all pairs' if self.all_pairs else 'one pair'}, eps = {self.eps}"


def _entry(name: str, number: int, one: float | None, every: float | None, verdict: str = "private") -> Iterator[Entry]:
    yield Entry(name, number, False, verdict, one)
    if number <= _MOST:
        yield Entry(name, number, True, verdict, every)


#: All pairs are listed up to so many inputs.
_MOST = 6

ENTRIES: tuple[Entry, ...] = (
    *_entry("svt_gauss", 2, 1.5, 1.7),
    *_entry("svt_gauss", 5, 6.1, 75.8),
    *_entry("svt_gauss", 25, 434.1, None),
    *_entry("svt_gauss_leaky", 5, 1.4, 1.9, "not private"),
    *_entry("svt_gauss_leaky", 6, 1.3, 1.7, "not private"),
    *_entry("svt_mix1", 2, 2.9, 4.3),
    *_entry("svt_mix1", 5, 17.2, 259.2),
    *_entry("svt_mix1", 17, 348.4, None),
    *_entry("svt_mix2", 5, None, None),
    *_entry("svt_mix2", 10, 525.0, None),
    *_entry("noisy_max_gauss", 2, 1.3, 1.5),
    *_entry("noisy_max_gauss", 3, 1.8, 3.8),
    *_entry("noisy_max_gauss", 4, 40.1, None),
    *_entry("noisy_min_gauss", 2, 1.3, 1.3),
    *_entry("noisy_min_gauss", 3, 1.8, 3.4),
    *_entry("noisy_min_gauss", 4, 35.8, None),
    *_entry("m_range", 1, 1.8, 1.8),
    *_entry("m_range", 2, 169.1, 351.8),
    *_entry("m_range", 3, None, None),
    *_entry("k_min_max", 3, 2.6, 5.8),
    *_entry("k_min_max", 4, 41.4, 318.1),
    Entry("noisy_max_laplace", 3, False, "private", 151.0),
    Entry("noisy_max_laplace", 3, True, "private", None),
    Entry("noisy_max_laplace", 3, False, "private", 163.0, "1"),
    Entry("noisy_min_laplace", 3, False, "private", 163.0),
    Entry("noisy_min_laplace", 3, True, "private", None),
    Entry("noisy_min_laplace", 3, False, "private", 174.0, "1"),
    Entry("svt4", 2, True, "not private", 41.0, "1", "q in {-1, 0}"),
    Entry("svt5", 2, True, "not private", 1.0, "1/2", "q in {-1, 0}"),
    Entry("svt6", 3, True, "not private", 89.0, "1", "q in {-1, 0}"),
    *_entry("svt_laplace", 1, 1.0, None),
    *_entry("svt_laplace", 2, 22.0, None),
    *_entry("svt_laplace", 3, 203.0, None),
    *_entry("svt_laplace", 4, 1294.0, None),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """The verdict on an entry, and the seconds of CPU it took."""

    entry: Entry
    verdict: str
    seconds: float


def measured(entry: Entry) -> Measured:
    """Check `entry` and measure its CPU time, without the start of the process."""
    begun = time.process_time()
    constants = {"N" if entry.inputs is None else "m": entry.number}
    program = dipc.load(HERE / f"{entry.name}.dip", **constants)
    engine = Engine(program.measurer, program.limits)
    with TemporaryDirectory() as folder:
        adjacent = "linf:1" if entry.all_pairs else _one_pair(entry.number, Path(folder))
        question = PrivacyQuestion(program, adjacent, entry.inputs, engine)
    delta = "1/100" if entry.inputs is None else "0"
    report = question.decide(read_claim(program, None, delta, f"[{entry.eps}, {entry.eps}]"))
    return Measured(entry, str(report.verdict), time.process_time() - begun)


def _one_pair(number: int, folder: Path) -> str:
    """Write to `folder` the CSV file of the pair 0...0 and 1...1 of `number` inputs; return its path.

    This pair moves most answers.
    """
    names = [f"q[{i}]" for i in range(1, number + 1)]
    header = ",".join([*names, *(f"{name}'" for name in names)])
    path = folder / "pair.csv"
    path.write_text(f"{header}\n{','.join(['0'] * number + ['1'] * number)}\n", encoding="utf-8")
    return str(path)


def run() -> Iterator[Measured]:
    """All entries."""
    warm_up()
    return map(measured, ENTRIES)

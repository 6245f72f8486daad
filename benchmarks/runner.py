"""Runs every row of the published tables and says where the outcome is the published one and where it is not."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import dipc
from benchmarks import tables
from benchmarks.mechanisms import MECHANISMS, Mechanism
from benchmarks.published import PublishedRow
from benchmarks.tables import Row
from dipc import Report, Verdict

#: The verdict on one input at one eps, in words.
HOLDS = {Verdict.ACCURATE: "holds", Verdict.INACCURATE: "fails", Verdict.UNDECIDED: "is undecided"}

#: A search for the best factor gives up here: no published factor is near.
LARGEST_KAPPA = 1000


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """A disagreement with the paper that is understood: the best κ found instead, and why."""

    kappa: int
    why: str


_TABLE_4C = (
    "the published pseudocode has a better factor than published, and the published counterexample is none: "
    "at that input and eps the claim holds"
)
_SCALE = (
    "Table 4(a) is reproduced with the threshold drawn at rate eps/2 (sparse_variant.dip), not with the printed "
    "pseudocode's eps/(2c)"
)

#: By table, program and c. Anything that differs from the paper and is not here, or not with this κ, is unexplained.
KNOWN: dict[tuple[str, str, int | None], KnownDifference] = {
    ("4c", "numeric_sparse", 1): KnownDifference(4, _TABLE_4C),
    ("4c", "numeric_sparse", 2): KnownDifference(6, _TABLE_4C),
    ("4a", "sparse_variant_pseudocode", 2): KnownDifference(12, _SCALE),
}


@dataclass(frozen=True, slots=True)
class Refutation:
    """dipc's own witness against a claim: the input, eps, and enclosures of Pr and of 1 - beta there."""

    input: str
    eps: Fraction
    probability: tuple[Fraction, Fraction]
    required: tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Factors:
    """Table 4's questions: is beta·best accurate, is beta·refuted not, and what is the best 1/κ really?

    `kappa` is the largest integer with beta/κ accurate, None where a check was undecided; `refutation` is dipc's
    witness against beta/(κ+1). `published_witness` says whether the claim with the refuted factor fails at the
    published input and eps.
    """

    refuted: Verdict
    kappa: int | None
    refutation: Refutation | None
    published_witness: Verdict


@dataclass(frozen=True, slots=True)
class Trial:
    """The results for one published row.

    `verdict` is for the published claim (in Table 4: with the published best factor). `seconds` is the CPU time of
    parsing the program, building the table and checking that claim.
    """

    published: PublishedRow
    mechanism: Mechanism
    rows: int
    verdict: Verdict
    seconds: float
    factors: Factors | None

    @property
    def differences(self) -> list[str]:
        """Every way in which the outcome is not the published one, in words."""
        found = []
        if self.verdict is not Verdict.ACCURATE:
            found.append(f"the published claim is {self.verdict}")
        if (factors := self.factors) is not None:
            assert self.published.best is not None
            if factors.refuted is not Verdict.INACCURATE:
                found.append(f"the refuted factor {self.published.refuted} is {factors.refuted}")
            if factors.published_witness is not Verdict.INACCURATE:
                found.append(f"at the published counterexample the claim {HOLDS[factors.published_witness]}")
            if factors.kappa is None:
                found.append("the search for the best factor met an undecided claim")
            elif Fraction(1, factors.kappa) != self.published.best:
                found.append(f"the best factor is 1/{factors.kappa}, published {self.published.best}")
        return found

    @property
    def explanation(self) -> KnownDifference | None:
        """The explanation of `differences`; None if the κ found is not the one that is understood."""
        known = KNOWN.get((self.published.table, self.mechanism.name, self.published.c))
        if known is None or self.factors is None or self.factors.kappa != known.kappa:
            return None
        return known

    @property
    def agreement(self) -> str:
        """`agrees`, `differs (known)` or `DIFFERS`."""
        if not self.differences:
            return "agrees"
        return "differs (known)" if self.explanation else "DIFFERS"


def warm_up() -> None:
    """Load the libraries and build the parser, so that no row is charged for the start of the process."""
    program = dipc.load("program warm_up; input q : real; output out : real; out <- Lap(eps, q);")
    dipc.check(program, [{"q": "0", "out": "0"}], beta="2*exp(-gamma*eps)", gamma=1)


def run(published: Iterable[PublishedRow]) -> Iterator[Trial]:
    """Yield one trial for each row of `published`, in order.

    Rows of SparseVariant with c > 1 have a second trial, with the threshold of the printed pseudocode.
    """
    warm_up()
    for row in published:
        yield trial(row, row.mechanism)
        if row.algorithm == "SparseVariant" and row.c != 1:
            yield trial(row, MECHANISMS["sparse_variant_pseudocode"])


def trial(published: PublishedRow, mechanism: Mechanism) -> Trial:
    """Run the row `published` with `mechanism`."""
    factor = published.best if published.best is not None else Fraction(1)
    start = time.process_time()
    bench = Bench(published, mechanism)
    report = bench.check(factor)
    seconds = time.process_time() - start
    factors = None if published.refuted is None else _factors(bench, published)
    return Trial(published, mechanism, len(bench.rows), report.verdict, seconds, factors)


class Bench:
    """A program with the table of one published row, ready for claims with different factors."""

    def __init__(self, published: PublishedRow, mechanism: Mechanism) -> None:
        self.published = published
        self.mechanism = mechanism
        self.constants = mechanism.constants(published.constants)
        self.program = dipc.load(mechanism.path, **published.constants)
        vectors = tables.grid(tables.integer_range(published.range), published.m)
        self.rows: list[Row] = list(tables.rows(mechanism, self.constants, vectors))

    def check(self, factor: Fraction, rows: list[Row] | None = None, eps: str = "(0, inf)") -> Report:
        """Check the published claim with beta times `factor` on `eps`, by default for the published rows.

        If `rows` are given, it is checked for them.
        """
        beta = self.published.beta if factor == 1 else f"({self.published.beta})*({factor})"
        return dipc.check(
            self.program,
            self.rows if rows is None else rows,
            beta=beta,
            alpha=self.published.alpha,
            gamma=self.published.gamma,
            eps=eps,
        )


def _factors(bench: Bench, published: PublishedRow) -> Factors:
    assert published.refuted is not None
    assert published.counterexample is not None
    refuted = bench.check(published.refuted).verdict
    kappa: int | None = None
    refutation = None
    for candidate in range(1, LARGEST_KAPPA):
        report = bench.check(Fraction(1, candidate))
        if report.verdict is Verdict.UNDECIDED:
            kappa = None
            break
        if report.verdict is Verdict.INACCURATE:
            refutation = _refutation(report)
            break
        kappa = candidate
    witness = published.counterexample
    row = next(tables.rows(bench.mechanism, bench.constants, [witness.input]))
    at = bench.check(published.refuted, [row], f"[{witness.eps}, {witness.eps}]").verdict
    return Factors(refuted, kappa, refutation, at)


def _refutation(report: Report) -> Refutation | None:
    for row in report.rows:
        if row.counterexample is not None:
            found = row.counterexample
            return Refutation(" ".join(row.input.values()), found.eps, found.probability, found.required)
    return None

"""The rows of the paper's Tables 2 to 4, as published."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from benchmarks.mechanisms import HERE, MECHANISMS, Mechanism

PATH = HERE / "published.csv"

#: The program that stands for each algorithm of the tables. SparseVariant is the scale that reproduces Table 4(a).
PROGRAMS = {
    "Laplace": "laplace",
    "NoisyMax": "noisy_max",
    "Sparse": "sparse",
    "SparseVariant": "sparse_variant",
    "NumericSparse": "numeric_sparse",
}


@dataclass(frozen=True, slots=True)
class PublishedCounterexample:
    """An input and an eps at which the paper says that the refuted factor fails."""

    input: tuple[Fraction, ...]
    eps: Fraction


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One row of the published tables.

    `alpha` and `gamma` are texts as dipc reads them. `best` and `refuted` are factors of beta, present in Table 4
    only. `seconds` is T1 + T2, the paper's C++ phase and its Mathematica phase.
    """

    table: str
    algorithm: str
    m: int
    c: int | None
    range: str
    alpha: str
    gamma: str
    beta: str
    best: Fraction | None
    refuted: Fraction | None
    counterexample: PublishedCounterexample | None
    seconds: int

    @property
    def constants(self) -> dict[str, Fraction]:
        """The constants as -D would give them."""
        given = {"m": Fraction(self.m)}
        if self.c is not None:
            given["c"] = Fraction(self.c)
        return given

    @property
    def mechanism(self) -> Mechanism:
        return MECHANISMS[PROGRAMS[self.algorithm]]


def rows() -> list[PublishedRow]:
    """All rows of `published.csv`, in its order."""
    with PATH.open(encoding="utf-8", newline="") as stream:
        return [_row(record) for record in csv.DictReader(stream)]


def _row(record: Mapping[str, str]) -> PublishedRow:
    counterexample = None
    if record["published_counterexample_input"]:
        counterexample = PublishedCounterexample(
            tuple(map(Fraction, record["published_counterexample_input"].split())),
            Fraction(record["published_counterexample_eps"]),
        )
    return PublishedRow(
        table=record["table"],
        algorithm=record["algorithm"],
        m=int(record["m"]),
        c=int(record["c"]) if record["c"] else None,
        range=record["range"],
        alpha=record["alpha"],
        gamma=record["gamma"],
        beta=record["beta"],
        best=_fraction(record["published_best_factor"]),
        refuted=_fraction(record["published_refuted_factor"]),
        counterexample=counterexample,
        seconds=int(record["published_T1_s"] or 0) + int(record["published_T2_s"]),
    )


def _fraction(text: str) -> Fraction | None:
    return Fraction(text) if text else None

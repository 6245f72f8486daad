"""What is said about the privacy of a mechanism, and what is exactly so."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from io import StringIO
from pathlib import Path

HERE = Path(__file__).resolve().parent

#: The eps at which the largest loss is looked at, as in the papers.
EPS = Fraction(1, 10)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A published lower bound of the loss at EPS, for the pairs of the mechanism; `by` says how it was found."""

    value: Fraction
    by: str


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A program below benchmarks/ with pairs of adjacent inputs, and published and exact results about it.

    `inputs` selects the inputs of the pairs: "all" for every real input, None for the domains of finite inputs. With
    `patterns` the pairs are those of StatDP, each query 0, 1 or 2. `claimed` is the least K for which somebody claimed
    K·eps-privacy. `loss` is the largest loss at EPS to six digits, "inf", or None where outputs cannot be listed.
    `constant` is the least constant over every adjacent pair, or None where the benchmark does not compute it. `wrong`
    is true if the published claim is refuted.
    """

    path: str
    title: str
    source: str
    adjacent: str
    inputs: str | None = None
    constants: Mapping[str, Fraction | int] = field(default_factory=dict)
    patterns: bool = False
    claimed: Fraction | int | None = None
    estimate: Estimate | None = None
    loss: str | None = None
    constant: str | None = None
    wrong: bool = False

    @property
    def file(self) -> Path:
        """The program."""
        return HERE.parent / f"{self.path}.dip"

    @property
    def name(self) -> str:
        """The name of the program, with the constants that are not its own."""
        given = ", ".join(f"{name} = {value}" for name, value in self.constants.items())
        return self.file.stem + (f" ({given})" if given else "")

    def pairs(self, names: tuple[str, ...]) -> str:
        """Return the pairs of StatDP as CSV, for inputs with these `names`.

        Source: Ding, Wang, Wang, Zhang and Kifer 2018, Table 1.
        """
        half, rest = len(names) // 2, len(names) - len(names) // 2
        one, less = [1] * len(names), len(names) - 1
        found = [
            (one, [0] + [1] * less),
            (one, [2] + [1] * less),
            (one, [2] + [0] * less),
            (one, [0] + [2] * less),
            (one, [2] * half + [0] * rest),
            (one, [2] * len(names)),
            (one, [0] * len(names)),
            ([1] * half + [0] * rest, [0] * half + [1] * rest),
        ]
        stream = StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*names, *(f"{name}'" for name in names)])
        writer.writerows([*first, *second] for first, second in found)
        return stream.getvalue()

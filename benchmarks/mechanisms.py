"""Each mechanism's det and its distance to disagreement, written out by hand from the literature.

Nothing here uses dipc: these are the reference answers that dipc is asked to confirm or refute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

Constants = Mapping[str, Fraction]
Answer = Fraction | str | None
HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Ideal:
    """det at one input: the outputs in column order (None: unconstrained) and dd, None where it is infinite."""

    outputs: tuple[Answer, ...]
    dd: Fraction | None


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A program in this directory with what its table needs.

    `outputs` names the output columns for m queries; `ideal` computes det and dd(u).
    """

    name: str
    defaults: Mapping[str, Fraction]
    outputs: Callable[[int], tuple[str, ...]]
    ideal: Callable[[Constants, Sequence[Fraction]], Ideal]

    @property
    def path(self) -> Path:
        return HERE / f"{self.name}.dip"

    def constants(self, given: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """All constants, where `given` overrides the defaults.

        Raises ValueError, with the reason, if a constant is unknown or outside its range.
        """
        for name, value in given.items():
            if name not in self.defaults:
                raise ValueError(f"{self.name} has no constant {name}; it has {', '.join(self.defaults)}")
            if name in ("m", "c") and (value.denominator != 1 or value < 1):
                raise ValueError(f"{name} counts things: it is a natural number >= 1, not {value}")
            if name == "delta" and value <= 0:
                raise ValueError(f"the sensitivity delta is positive, not {value}")
        return {**self.defaults, **given}

    def inputs(self, constants: Constants) -> tuple[str, ...]:
        return array("q", int(constants["m"]))


def array(name: str, size: int) -> tuple[str, ...]:
    """The column names `name[1]` to `name[size]`."""
    return tuple(f"{name}[{i}]" for i in range(1, size + 1))


# --- the ideals ------------------------------------------------------------------------------------


def _laplace(_constants: Constants, queries: Sequence[Fraction]) -> Ideal:
    # Inputs have the discrete distance in the paper's section 3.1: whatever differs is at distance 1.
    return Ideal(tuple(queries), Fraction(1))


def _noisy_max(_constants: Constants, queries: Sequence[Fraction]) -> Ideal:
    best = max(queries)
    index = queries.index(best)
    others = [q for i, q in enumerate(queries) if i != index]
    # Moving two values towards each other by half their gap makes them tie. A tied maximum is at distance 0: a later
    # one of the tied, raised by any amount, wins (the proof of the paper's Lemma 5 overlooks this).
    return Ideal((Fraction(index + 1),), (best - max(others)) / 2 if others else None)


def _noisy_max_gap(_constants: Constants, queries: Sequence[Fraction]) -> Ideal:
    # The discrete distance again: some other input has another answer, unless there is only one.
    index = queries.index(max(queries))
    return Ideal((Fraction(index + 1),), Fraction(1) if len(queries) > 1 else None)


def _noisy_max_ties(_constants: Constants, queries: Sequence[Fraction]) -> Ideal:
    # Only an index of a smaller value is another answer.
    best = max(queries)
    smaller = [q for q in queries if q < best]
    return Ideal((Fraction(queries.index(best) + 1),), (best - max(smaller)) / 2 if smaller else None)


def _processed(queries: Sequence[Fraction], threshold: Fraction, c: Fraction) -> tuple[list[str], Fraction]:
    """Return the flags of Sparse without noise, and the least distance of a processed query to the threshold.

    The `queries` are processed until `c` of them are above `threshold`.
    """
    flags = ["none"] * len(queries)
    tops = 0
    margin = None
    for i, q in enumerate(queries):
        flags[i] = "top" if q >= threshold else "bot"
        distance = abs(q - threshold)
        margin = distance if margin is None else min(margin, distance)
        tops += flags[i] == "top"
        if tops >= c:
            break
    assert margin is not None
    return flags, margin


def _sparse(constants: Constants, queries: Sequence[Fraction]) -> Ideal:
    flags, margin = _processed(queries, constants["T"], constants["c"])
    return Ideal(tuple(flags), margin)


def _above_threshold(constants: Constants, queries: Sequence[Fraction]) -> Ideal:
    flags, margin = _processed(queries, constants["T"], Fraction(1))
    return Ideal(tuple(flags), margin)


def _numeric_sparse(constants: Constants, queries: Sequence[Fraction]) -> Ideal:
    flags, margin = _processed(queries, constants["T"], constants["c"])
    values = tuple(q if flag == "top" else None for q, flag in zip(queries, flags, strict=True))
    return Ideal((*flags, *values), margin)


def _flags(m: int) -> tuple[str, ...]:
    return array("out", m)


def _flags_and_values(m: int) -> tuple[str, ...]:
    return (*array("out", m), *array("val", m))


def _index(_m: int) -> tuple[str, ...]:
    return ("out",)


_ONE = Fraction(1)
_QUERIES = {"m": Fraction(3), "c": _ONE, "T": Fraction(0)}

MECHANISMS: Mapping[str, Mechanism] = {
    mechanism.name: mechanism
    for mechanism in (
        Mechanism("laplace", {"m": Fraction(2), "delta": _ONE}, _flags, _laplace),
        Mechanism("noisy_max", {"m": Fraction(3)}, _index, _noisy_max),
        Mechanism("noisy_max_gap", {"m": Fraction(3)}, _index, _noisy_max_gap),
        Mechanism("noisy_max_ties", {"m": Fraction(3)}, _index, _noisy_max_ties),
        Mechanism("above_threshold", {"m": Fraction(3), "T": Fraction(0)}, _flags, _above_threshold),
        Mechanism("sparse", _QUERIES, _flags, _sparse),
        Mechanism("sparse_variant", _QUERIES, _flags, _sparse),
        Mechanism("sparse_variant_pseudocode", _QUERIES, _flags, _sparse),
        Mechanism("numeric_sparse", _QUERIES, _flags_and_values, _numeric_sparse),
    )
}

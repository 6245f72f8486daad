"""Forty-five loops over m queries, and the least constant of each for every m.

They are histograms and vectors that answer each query, guards on inputs, choices, sparse vectors and noisy maxima.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loop:
    """A program with the constant m, the adjacency, and the line that says its least constant."""

    text: str
    line: str
    adjacent: str = "linf:1"


def _each(body: str, *, output: str = "{0..3} = 0", before: str = "", shared: str = "", after: str = "") -> str:
    """A loop over all queries."""
    return f"""
program loop; const m = 2;
input q[1..m]{shared} : real;
output out[1..m] : {output};
var r, t, u : real;
var b : {{0, 1}} = 0;
{before}
for i in 1..m do {body} end{";" if after else ""}
{after}
"""


def _largest(body: str, *, first: str, output: str = "{1..m} = 1", after: str = "", before: str = "") -> str:
    """A running maximum."""
    return f"""
program largest; const m = 2;
input q[1..m] : real;
output out : {output};
var r, best : real;
{before}
best <- {first};
for i in 2..m do {body} end{";" if after else ""}
{after}
"""


_ANY = "eps-private for every m >= 1, and no smaller constant suffices for any m"


def _same(constant: str, start: int) -> str:
    private = f"{'' if constant == '1' else f'{constant}*'}eps-private for every m >= 1"
    return f"constant {constant}: {private}, and no smaller constant suffices for m >= {start}"


def _each_number(constant: str) -> str:
    return f"constant {constant}: {constant}*{_ANY}"


def _never(start: int = 1) -> str:
    return f"constant ∞: not K*eps-private for any K and any m >= {start}"


_TAKE = "r <- Lap(eps/2, q[i]); if r > best then best <- r; out <- i end"

LOOPS = {
    # All queries are answered: the constant grows with m under linf.
    "bits": Loop(_each("r <- Lap(eps/2, q[i]); if r >= 0 then out[i] <- 1 end"), _each_number("m/2")),
    "reals": Loop(_each("out[i] <- Lap(eps/2, q[i])", output="real"), _each_number("m/2")),
    "twice each": Loop(
        _each("r <- Lap(eps/2, q[i]); u <- Lap(eps/3, q[i]); if r >= 0 and u >= 0 then out[i] <- 1 end"),
        _each_number("5*m/6"),
    ),
    "three bins": Loop(
        _each("r <- Lap(eps/2, q[i]); if r >= 1 then out[i] <- 2 else if r >= 0 then out[i] <- 1 end end"),
        _each_number("m/2"),
    ),
    "multiples": Loop(_each("r <- Lap(eps, 2*q[i]); if r >= 1 then out[i] <- 1 end"), _each_number("2*m")),
    "clamped": Loop(_each("r <- Lap(eps/2, q[i]); out[i] <- min(max(r, 0), 1)", output="real"), _each_number("m/2")),
    "a threshold of its own each": Loop(
        _each("t <- Lap(eps/4, 0); r <- Lap(eps/2, q[i]); if r >= t then out[i] <- 1 end"), _each_number("m/4")
    ),
    "an offset for all": Loop(
        _each("r <- Lap(eps/2, q[i] + s); if r >= 0 then out[i] <- 1 end", shared=", s"), _each_number("m")
    ),
    "an offset that is answered": Loop(
        _each("r <- Lap(eps/2, q[i]); if r >= 0 then out[i] <- 1 end", shared=", s", before="t <- Lap(eps, s);"),
        _each_number("m/2"),
    ),
    "a threshold that is released first": Loop(
        _each(
            "r <- Lap(eps/2, q[i]); if r >= 0 then out[i] <- 1 end",
            shared=", s",
            output="{0, 1} = 0;\noutput first : real",
            before="first <- Lap(eps, s);",
        ),
        _each_number("(m + 2)/2"),
    ),
    "alternating rates": Loop(
        _each(
            "if b = 0 then r <- Lap(eps/2, q[i]); b <- 1 else r <- Lap(eps, q[i]); b <- 0 end;"
            " if r >= 0 then out[i] <- 1 end"
        ),
        "constant 3*m/4 for even m, (3*m - 1)/4 for odd m: K*eps-private with this K for every m >= 1, and no smaller "
        "constant suffices for any m",
    ),
    "one rate from the second on": Loop(
        _each(
            "if b = 0 then r <- Lap(eps/2, q[i]); b <- 1 else r <- Lap(eps/4, q[i]) end; if r >= 0 then out[i] <- 1 end"
        ),
        _each_number("(m + 1)/4"),
    ),
    "slower once a query was above": Loop(
        _each(
            "if b = 0 then r <- Lap(eps, q[i]) else r <- Lap(eps/4, q[i]) end; if r >= 0 then out[i] <- 1; b <- 1 end"
        ),
        _each_number("m"),
    ),
    "one sided": Loop(_each("r <- Expo(eps/2); if r + q[i] >= 0 then out[i] <- 1 end"), _never()),
    "one sided and Laplace": Loop(
        _each("r <- Expo(eps); t <- Lap(eps/2, q[i]); if r + t >= 0 then out[i] <- 1 end"), _each_number("m/2")
    ),
    "up to the first one below": Loop(
        _each("r <- Lap(eps/2, q[i]); if r >= 0 then out[i] <- 1 else exit end"), _each_number("m/2")
    ),
    "reals, at most one moves": Loop(_each("out[i] <- Lap(eps/2, q[i])", output="real"), _same("1/2", 1), "l1:1"),
    "any one may differ by anything": Loop(
        _each("r <- Lap(eps/2, q[i]); if r >= 0 then out[i] <- 1 end"), _never(), "hamming:1"
    ),
    "divided": Loop(
        _each("out[i] <- Lap(eps/m, q[i])", output="real"),
        "constant 1: eps-private for every m >= 1, and no smaller constant suffices, as m = 1 shows",
    ),
    "divided and more": Loop(
        _each("out[i] <- Lap(eps/m, q[i]); r <- Lap(eps, q[i]); if r >= 0 then out[i] <- 0 end", output="real"),
        _each_number("m + 1"),
    ),
    # Inputs are compared without noise.
    "a guard beside the threshold": Loop(
        _each("r <- Lap(eps/4, q[i]); if r >= t or q[i] >= 9 then out[i] <- 1; exit end", before="t <- Lap(eps/2, 0);"),
        _never(),
    ),
    "a guard alone": Loop(_each("if q[i] >= 5 then out[i] <- 1 end"), _never()),
    "a guard with noise behind": Loop(
        _each("if q[i] >= 5 then r <- Lap(eps/2, q[i]); if r >= 5 then out[i] <- 1 end end"), _never()
    ),
    "clamped inputs": Loop(
        _each("r <- Lap(eps/2, min(max(q[i], 0), 1)); if r >= 0 then out[i] <- 1 end"), _each_number("m/2")
    ),
    "clamped inputs, all the same": Loop(
        _each("out[i] <- Lap(eps/2, min(max(q[i], 0), 1))", output="real"), _each_number("m/2")
    ),
    "clamped to a half": Loop(_each("out[i] <- Lap(eps, min(max(q[i], 0), 1/2))", output="real"), _each_number("m/2")),
    "distances": Loop(_each("r <- Lap(eps/2, abs(q[i])); if r >= 1 then out[i] <- 1 end"), _each_number("m/2")),
    "two rates by a guard": Loop(
        _each("if q[i] >= 0 then r <- Lap(eps/2, 0) else r <- Lap(eps/4, 0) end; if r >= 1 then out[i] <- 1 end"),
        _each_number("m/4"),
    ),
    "clamped sparse": Loop(
        _each("r <- Lap(eps/4, min(q[i], 3)); if r >= t then out[i] <- 1; exit end", before="t <- Lap(eps/2, 0);"),
        _same("1", 4),
    ),
    "one or the other": Loop(
        _each(
            "r <- Lap(eps/4, q[i]); u <- Lap(eps/4, q[i]); if r >= t or u >= t then out[i] <- 1; exit end",
            before="t <- Lap(eps/2, 0);",
        ),
        _same("1", 3),
    ),
    "a guard on what all share": Loop(
        _each("r <- Lap(eps/2, q[i]); if r >= 0 and s >= 0 then out[i] <- 1 end", shared=", s"), _never()
    ),
    "a guard that nothing depends on": Loop(
        _each("r <- Lap(eps/2, q[i]); if q[i] >= 0 then b <- 1 else b <- 1 end; if r >= 0 then out[i] <- b end"),
        _each_number("m/2"),
    ),
    # Choices.
    "coins": Loop(
        _each("r <- Lap(eps/2, q[i]); b <- choose { 0 : 1/3, 1 : 2/3 }; if r >= 0 then out[i] <- b end"),
        _each_number("m/2"),
    ),
    "a coin for all": Loop(
        _each("r <- Lap(eps/2, q[i]); if r >= 0 then out[i] <- b end", before="b <- choose { 0 : 1/3, 1 : 2/3 };"),
        _each_number("m/2"),
    ),
    "a choice at the exit": Loop(
        _each(
            "r <- Lap(eps/4, q[i]); if r >= t then b <- choose { 0 : 1/2, 1 : 1/2 }; out[i] <- b + 1; exit end",
            before="t <- Lap(eps/2, 0);",
        ),
        _same("1", 4),
    ),
    # Sparse vectors.
    "sparse": Loop(
        _each("r <- Lap(eps/4, q[i]); if r >= t then out[i] <- 1; exit end", before="t <- Lap(eps/2, 0);"),
        _same("1", 4),
    ),
    "sparse that settles late": Loop(
        _each("r <- Lap(eps/8, q[i]); if r >= t then out[i] <- 1; exit end", before="t <- Lap(3*eps/4, 0);"),
        _same("1", 8),
    ),
    "sparse of multiples": Loop(
        _each("r <- Lap(eps/4, 2*q[i]); if r >= t then out[i] <- 1; exit end", before="t <- Lap(eps/2, 0);"),
        _same("2", 4),
    ),
    "sparse that goes on": Loop(
        _each("r <- Lap(eps/4, q[i]); if r >= t then out[i] <- 1 end", before="t <- Lap(eps/2, 0);"),
        _each_number("m/4"),
    ),
    # Maxima.
    "noisy max": Loop(_largest(_TAKE, first="Lap(eps/2, q[1])"), _same("1", 2)),
    "noisy max of multiples": Loop(
        _largest(_TAKE.replace("q[i]", "2*q[i]"), first="Lap(eps/2, 2*q[1])"), _same("2", 2)
    ),
    "noisy min": Loop(_largest(_TAKE.replace("r > best", "r < best"), first="Lap(eps/2, q[1])"), _same("1", 2)),
    "is the largest above": Loop(
        _largest(
            _TAKE.replace("; out <- i", ""),
            first="Lap(eps/2, q[1])",
            output="{0, 1} = 0",
            after="if best >= 0 then out <- 1 end",
        ),
        _each_number("m/2").replace("m >= 1", "m >= 2"),
    ),
    "noisy max, with a choice at the exit": Loop(
        _largest(
            _TAKE,
            first="Lap(eps/2, q[1])",
            output="{1..m} = 1;\noutput coin : {0, 1} = 0",
            after="coin <- choose { 0 : 1/2, 1 : 1/2 }",
        ),
        _same("1", 2),
    ),
    "one sided noisy max": Loop(
        _largest(
            "r <- Expo(eps/2); r <- r + q[i]; if r > best then best <- r; out <- i end",
            first="Expo(eps/2)",
            before="",
        ).replace("for i", "best <- best + q[1];\nfor i"),
        _same("1", 2),
    ),
}

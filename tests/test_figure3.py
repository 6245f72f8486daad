"""Every production of Figure 3 of the paper has a program that dipc accepts, executes and measures exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dipc

COMPARISONS = ("<", ">", "=", "<=", ">=")

HEAD = """
program example;
domain color = {red, green};
input u : real;
input k : {0..2};
output out : {0..3} = 0;
var b, b1 : bool = false;
var x, y : {0..3} = 1;
var c : color = red;
var z, z1 : int;
var r, r1 : real;
z <- DLap(eps, 0);
z1 <- DLap(eps/2, k);
r <- Lap(eps, u);
r1 <- Lap(2*eps, 0);
"""
TAIL = "; if b then out <- x else out <- y end"

#: The grammar of Figure 3; ~ stands for one of five comparisons.
FIGURE_3 = {
    *[("B", text) for text in ("true", "false", "b", "not(B)", "B and B", "B or B", "g(E~)", "EQ(x1, x2)")],
    *[("E", text) for text in ("d", "x", "f(E~)")],
    *[("Z", text) for text in ("z", "iZ", "EZ", "Z + Z", "Z + i", "Z + E")],
    *[("R", text) for text in ("r", "qR", "ER", "R + R", "R + q", "R + E")],
    *[("s", f"b <- {pair.replace('~', op)}") for pair in ("Z ~ Z", "Z ~ E", "R ~ R", "R ~ E") for op in COMPARISONS],
    *[("s", text) for text in ("b <- B", "x <- E", "x <- Exp(a eps, F(x~), E)", "x <- choose(a eps, E~)")],
    *[("s", text) for text in ("z <- Z", "z <- DLap(a eps, E)")],
    *[("s", text) for text in ("r <- R", "r <- Lap(a eps, E)", "r <- Lap(a eps, r)")],
    *[("s", text) for text in ("if b then P else P end", "while b do P end", "exit")],
    *[("P", text) for text in ("s", "s ; P")],
}

#: One accepted example for each alternative of the grammar: nonterminal, alternative, statements.
PRODUCTIONS = [
    ("B", "true", "b <- true"),
    ("B", "false", "b <- false"),
    ("B", "b", "b <- b1"),
    ("B", "not(B)", "b <- not b1"),
    ("B", "B and B", "b <- b1 and k = 1"),
    ("B", "B or B", "b <- b1 or k = 1"),
    ("B", "g(E~)", "b <- x < min(y, k)"),
    ("B", "EQ(x1, x2)", "b <- c = green"),
    ("E", "d", "x <- 2"),
    ("E", "x", "x <- y"),
    ("E", "f(E~)", "x <- min(3, max(abs(k - 1) + 2*y - 1, 0))"),
    ("Z", "z", "b <- z >= z1"),
    ("Z", "iZ", "z <- 3*z; b <- z >= z1"),
    ("Z", "EZ", "z <- k*z; b <- z >= z1"),
    ("Z", "Z + Z", "z <- z + z1; b <- z >= 1"),
    ("Z", "Z + i", "z <- z - 2; b <- z >= z1"),
    ("Z", "Z + E", "z <- z + k; b <- z >= z1"),
    ("R", "r", "b <- r >= r1"),
    ("R", "qR", "r <- r/3; b <- r >= r1"),
    ("R", "ER", "r <- k*r; b <- r >= r1"),
    ("R", "R + R", "r <- 2*r - r1/3 + u; b <- r >= r1"),
    ("R", "R + q", "r <- r + 1/2; b <- r >= r1"),
    ("R", "R + E", "r <- r - k; b <- r >= r1"),
    ("s", "b <- B", "b <- b1 and not (k = 2)"),
    *[("s", f"b <- Z {op} Z", f"b <- z {op} z1") for op in COMPARISONS],
    *[("s", f"b <- Z {op} E", f"b <- z {op} k") for op in COMPARISONS],
    *[("s", f"b <- R {op} R", f"b <- r {op} r1") for op in COMPARISONS],
    *[("s", f"b <- R {op} E", f"b <- r {op} k") for op in COMPARISONS],
    ("s", "x <- E", "x <- 3 - k; b <- k = 0"),
    ("s", "x <- Exp(a eps, F(x~), E)", "x <- Exp(eps/2, v in {0..3} : -abs(v - k)); b <- x >= 2"),
    ("s", "x <- choose(a eps, E~)", "x <- choose {0 : exp(eps)/(1 + exp(eps)), 3 : 1/(1 + exp(eps))}; b <- true"),
    ("s", "z <- Z", "z <- z1; b <- z >= 1"),
    ("s", "z <- DLap(a eps, E)", "z <- DLap(eps/3, k); b <- z >= 1"),
    ("s", "r <- R", "r <- r1; b <- r >= 1"),
    ("s", "r <- Lap(a eps, E)", "r <- Lap(eps/3, k); b <- r >= 1"),
    ("s", "r <- Lap(a eps, r)", "r1 <- Lap(eps/3, r); b <- r1 >= r + 1 or r1 >= 1"),
    ("s", "if b then P else P end", "if r >= r1 then x <- 2 else x <- 3 end; b <- x = 2"),
    ("s", "while b do P end", "b <- r >= r1; while x = 1 do x <- choose {1 : 1/2, 2 : 1/2} end"),
    ("s", "exit", "if r >= r1 then out <- 3; exit end; b <- r >= 0"),
    ("P", "s", "b <- true"),
    ("P", "s ; P", "b <- true; x <- 2"),
    ("remark", "Expo", "r <- Expo(eps/2); b <- r >= r1"),
]


@pytest.mark.parametrize(("nonterminal", "alternative", "statements"), PRODUCTIONS, ids=lambda text: text.strip())
def test_production(nonterminal: str, alternative: str, statements: str) -> None:
    program = dipc.load(HEAD + statements + TAIL)
    total = Fraction(0)
    for outcome in program.outcomes({"u": Fraction(1, 2), "k": 1}):
        low, high = outcome.probability.enclosure(Fraction(3, 4))
        assert 0 <= low <= high <= 1 + Fraction(1, 10**20)
        total += low
    assert abs(total - 1) < Fraction(1, 10**15)


def test_no_production_is_left_out() -> None:
    assert {(nonterminal, alternative) for nonterminal, alternative, _ in PRODUCTIONS} == FIGURE_3 | {
        ("remark", "Expo")
    }

"""Programs with an ideal, for classes of all real inputs: the mechanisms of the paper, and some made to mislead."""

from __future__ import annotations

from typing import Any

import dipc
from dipc.program.program import Program
from dipc.questions.report import Report


def check_all(program: Program, **options: Any) -> Report:
    """The claim for every real input."""
    return dipc.check(program, inputs="all", **options)


SPARSE = """
program sparse;
const m = 3, c = 1, T = 0;
domain answer = {none, bot, top};
input q[1..m] : real;
output out[1..m] : answer = none;
var rT, r : real;
var count : {0..m} = 0;
ideal {
  var n : {0..m} = 0;
  for i in 1..m do
    if q[i] >= T then out[i] <- top; n <- n + 1; if n >= c then exit end
    else out[i] <- bot end
  end
}
claim { alpha: dd; gamma: 0; beta: 2*m*c*exp(-alpha*eps/(8*c)); }
rT <- Lap(eps/(2*c), T);
for i in 1..m do
  r <- Lap(eps/(4*c), q[i]);
  if r >= rT then
    out[i] <- top;
    count <- count + 1;
    if count >= c then exit end;
    rT <- Lap(eps/(2*c), T)
  else
    out[i] <- bot
  end
end
"""

#: Sparse with one threshold for all, at the rate that Table 4(a) has.
SPARSE_VARIANT = SPARSE.replace("end;\n    rT <- Lap(eps/(2*c), T)", "end").replace(
    "rT <- Lap(eps/(2*c), T)", "rT <- Lap(eps/2, T)"
)

ABOVE_THRESHOLD = """
program above_threshold;
const m = 3, T = 0;
domain answer = {none, bot, top};
input q[1..m] : real;
output out[1..m] : answer = none;
var rT, r : real;
ideal { for i in 1..m do if q[i] >= T then out[i] <- top; exit else out[i] <- bot end end }
claim { alpha: dd; gamma: 0; beta: 2*m*exp(-alpha*eps/8); }
rT <- Lap(eps/2, T);
for i in 1..m do
  r <- Lap(eps/4, q[i]);
  if r >= rT then out[i] <- top; exit else out[i] <- bot end
end
"""

NOISY_MAX = """
program noisy_max;
const m = 3;
input q[1..m] : real;
output out : {1..m} = 1;
var r, best : real;
ideal {
  var high : real;
  high <- q[1];
  for i in 2..m do if q[i] > high then high <- q[i]; out <- i end end
}
claim { alpha: dd; gamma: 0; beta: m*exp(-alpha*eps/2); }
best <- Lap(eps/2, q[1]);
for i in 2..m do
  r <- Lap(eps/2, q[i]);
  if r > best then best <- r; out <- i end
end
"""

NUMERIC_SPARSE = """
program numeric_sparse;
const m = 3, c = 1, T = 0;
domain answer = {none, bot, top};
input q[1..m] : real;
output out[1..m] : answer = none;
output val[1..m] : real = 0;
var rT, r : real;
var count : {0..m} = 0;
metric { apart: for i in 1..m: q[i] >= T and q'[i] >= T and q[i] != q'[i]; }
ideal {
  var n : {0..m} = 0;
  for i in 1..m do
    if q[i] >= T then out[i] <- top; val[i] <- q[i]; n <- n + 1; if n >= c then exit end
    else out[i] <- bot end
  end
}
claim { alpha: dd; gamma: alpha; beta: (2*m + 1)*c*exp(-alpha*eps/(9*c)); }
rT <- Lap(4*eps/(9*c), T);
for i in 1..m do
  r <- Lap(2*eps/(9*c), q[i]);
  if r >= rT then
    out[i] <- top;
    val[i] <- Lap(eps/(9*c), q[i]);
    count <- count + 1;
    if count >= c then exit end;
    rT <- Lap(4*eps/(9*c), T)
  else
    out[i] <- bot
  end
end
"""

LAPLACE = """
program laplace;
const m = 2, delta = 1;
input q[1..m] : real;
output out[1..m] : real;
ideal { for i in 1..m do out[i] <- q[i] end }
claim { alpha: 0; gamma: 1; beta: m*exp(-gamma*eps/delta); }
for i in 1..m do out[i] <- Lap(eps/delta, q[i]) end
"""

_HEAD = "program p; domain answer = {a, b, c}; input x, y : real; output o : answer = a; var r, s : real; "


def program(ideal: str, body: str, claim: str, metric: str = "", extra: str = "") -> str:
    """A program with two real inputs and one answer."""
    block = f"metric {{ {metric} }} " if metric else ""
    return f"{_HEAD}{extra} ideal {{ {ideal} }} {block}claim {{ {claim} }} {body}"


#: Two tests, of which the noise of only one decides far from both.
BOTH = """
program both;
domain answer = {a, b};
input x, y : real;
output o : answer;
var r, s : real;
ideal { if x - y >= 1 and x + y > 0 then o <- a else o <- b end }
claim { alpha: dd; beta: 3/2*exp(-alpha*eps); }
r <- Lap(eps, x - y);
s <- Lap(eps, x + y);
if r >= 1 then if s > 0 then o <- a else o <- b end else o <- b end
"""


#: By name: programs whose answers are not convex, whose facets are no threshold at 0, whose events are not det's, …
ADVERSARIAL: dict[str, str] = {
    "two rays with one answer": program(
        "if abs_ge then o <- b end".replace("abs_ge", "x >= 1 or x <= -1"),
        "r <- Lap(eps, x); if r >= 1 then o <- b end; if r <= -1 then o <- b end",
        "alpha: dd; beta: exp(-alpha*eps/2)",
    ),
    "between two thresholds": program(
        "if x >= 0 then o <- b else if x >= -1 then o <- c end end",
        "r <- Lap(eps, x); if r >= 0 then o <- b else if r >= -1 then o <- c end end",
        "alpha: dd; beta: exp(-alpha*eps/2)",
    ),
    "between two thresholds, too sharp": program(
        "if x >= 0 then o <- b else if x >= -1 then o <- c end end",
        "r <- Lap(eps, x); if r >= 0 then o <- b else if r >= -1 then o <- c end end",
        "alpha: dd; beta: exp(-alpha*eps)/2",
    ),
    "an answer on a line": program(
        "if x = 0 then o <- b else if x > 0 then o <- c end end",
        "r <- Lap(eps, x); if r > 0 then o <- c end",
        "alpha: dd; beta: exp(-alpha*eps/2)",
    ),
    "coefficients": program(
        "if 2*x - 3*y >= 1 then o <- b end",
        "r <- Lap(eps, 2*x - 3*y); if r >= 1 then o <- b end",
        "alpha: dd; beta: exp(-5*alpha*eps)/2",
    ),
    "coefficients, too sharp": program(
        "if 2*x - 3*y >= 1 then o <- b end",
        "r <- Lap(eps, 2*x - 3*y); if r >= 1 then o <- b end",
        "alpha: dd; beta: exp(-6*alpha*eps)/2",
    ),
    "coefficients in the sum norm": program(
        "if 2*x - 3*y >= 1 then o <- b end",
        "r <- Lap(eps, 2*x - 3*y); if r >= 1 then o <- b end",
        "alpha: dd; beta: exp(-3*alpha*eps)/2",
        "input: l1",
    ),
    "coefficients in the sum norm, too sharp": program(
        "if 2*x - 3*y >= 1 then o <- b end",
        "r <- Lap(eps, 2*x - 3*y); if r >= 1 then o <- b end",
        "alpha: dd; beta: exp(-10*alpha*eps/3)/2",
        "input: l1",
    ),
    "two rates": program(
        "if x >= y then o <- b end",
        "r <- Lap(eps, x); s <- Lap(eps/3, y); if r >= s then o <- b end",
        "alpha: dd; beta: exp(-alpha*eps/3)",
    ),
    "the wrong threshold": program(
        "if x >= 0 then o <- b end",
        "r <- Lap(eps, x); if r >= 1 then o <- b end",
        "alpha: dd; beta: exp(-alpha*eps/2)",
    ),
    "the wrong input": program(
        "if x >= 0 then o <- b end",
        "r <- Lap(eps, y); if r >= 0 then o <- b end",
        "alpha: dd; beta: exp(-alpha*eps/8)",
    ),
    "a comparison of inputs on the way": program(
        "if x >= 0 then o <- b end",
        "if y >= 5 then r <- Lap(eps, x) else r <- Lap(eps/2, x) end; if r >= 0 then o <- b end",
        "alpha: dd; beta: exp(-alpha*eps/2)/2",
    ),
    "a comparison of inputs that spoils one side": program(
        "if x >= 0 then o <- b end",
        "if y >= 5 then r <- Lap(eps, x) else r <- Lap(eps/2, x + 1) end; if r >= 0 then o <- b end",
        "alpha: dd; beta: exp(-alpha*eps/2)/2",
    ),
    "no noise": program("if x >= 0 then o <- b end", "if x >= 0 then o <- b end", "alpha: dd; beta: 0"),
    "no noise, and wrong on the edge": program(
        "if x >= 0 then o <- b end", "if x > 0 then o <- b end", "alpha: dd; beta: 0"
    ),
    "one answer": program("o <- b", "r <- Lap(eps, x); if r >= r - 1 then o <- b end", "alpha: dd; beta: 0"),
    "one answer, given by chance": program(
        "o <- b", "r <- Lap(eps, x); if r >= x then o <- b end", "alpha: dd; beta: 1/4 + exp(-alpha*eps)"
    ),
    "a fair coin": program(
        "if x >= 0 then o <- b end",
        "r <- Lap(eps, x); k <- choose { 0 : 1/4, 1 : 3/4 }; if r >= 0 and k = 1 then o <- b end",
        "alpha: dd; beta: 1/4 + exp(-alpha*eps)/2",
        extra="var k : {0..1};",
    ),
    "a coin that depends on eps": program(
        "if x >= 0 then o <- b end",
        "r <- Lap(eps, x); k <- choose { 0 : exp(-eps), 1 : 1 - exp(-eps) }; if r >= 0 and k = 1 then o <- b end",
        "alpha: dd; beta: exp(-alpha*eps)",
        extra="var k : {0..1};",
    ),
    "beta that depends on eps alone": program(
        "if x >= 0 then o <- b end", "r <- Lap(eps, x); if r >= 0 then o <- b end", "alpha: dd; beta: exp(-eps)/2"
    ),
    "a fixed alpha": program(
        "if x >= 0 then o <- b end", "r <- Lap(eps, x); if r >= 0 then o <- b end", "alpha: 1; beta: exp(-eps)/2"
    ),
    "a fixed alpha, too sharp": program(
        "if x >= 0 then o <- b end", "r <- Lap(eps, x); if r >= 0 then o <- b end", "alpha: 1; beta: exp(-eps)/3"
    ),
    "alpha farther than any input": program(
        "if x >= 0 and x <= 1 then o <- b end",
        "r <- Lap(eps, x); if r >= 0 and r <= 1 then o <- b end",
        "alpha: 1; beta: exp(-eps)",
    ),
    "the discrete metric": program(
        "if x >= 0 then o <- b end",
        "r <- Lap(eps, x); if r >= 0 then o <- b end",
        "alpha: dd; beta: exp(-alpha*eps)",
        "input: discrete",
    ),
    "a corner of two facets that is not needed": program(
        "if x >= 0 and y >= 0 then o <- b end",
        "r <- Lap(eps, x); s <- Lap(eps, y); if r >= 0 and s >= 0 then o <- b end",
        "alpha: dd; beta: exp(-alpha*eps)",
    ),
    "a wedge": program(
        "if x + y >= 0 and x - 2*y >= 1 then o <- b end",
        "r <- Lap(eps, x + y); s <- Lap(eps, x - 2*y); if r >= 0 and s >= 1 then o <- b end",
        "alpha: dd; beta: exp(-2*alpha*eps)",
    ),
}

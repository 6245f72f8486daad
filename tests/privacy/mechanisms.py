"""Small mechanisms for tests about privacy."""

from __future__ import annotations

RESPONSE = """
program response;
input x : bool;
output y : bool;
y <- choose { %s };
"""

ABOVE = """
program above;
const m = 2;
domain answer = {none, bot, top};
input q[1..m] : real;
output out[1..m] : answer = none;
var rT, r : real;
rT <- Lap(%(threshold)s, 0);
for i in 1..m do
  r <- Lap(%(query)s, q[i]);
  if r >= rT then
    out[i] <- top;
    exit
  else
    out[i] <- bot
  end
end
"""

#: Algorithm 5 of Lyu, Su and Li (2017): no noise on the queries.
BARE = """
program bare;
domain answer = {bot, top};
input q[1..2] : real;
output out[1..2] : answer;
var rT : real;
rT <- Lap(eps/2, 0);
for i in 1..2 do
  if q[i] >= rT then out[i] <- top else out[i] <- bot end
end
"""

NOISY_MAX = """
program noisy_max;
const m = 2;
input q[1..m] : real;
output out : {1..m} = 1;
var r, best : real;
best <- %(noise)s;
best <- best + q[1];
for i in 2..m do
  r <- %(noise)s;
  r <- r + q[i];
  if r > best then best <- r; out <- i end
end
"""

#: k-ary randomized response.
KARY = """
program kary;
input x : {1..3};
output y : {1..3};
y <- Exp(eps, v in {1..3} : 1 - min(abs(v - x), 1));
"""

LAPLACE = """
program laplace;
input x : real;
output y : real;
y <- Lap(eps, x);
"""

SUM = """
program sums;
input q[1..2] : real;
output y[1..2] : real;
for i in 1..2 do y[i] <- Lap(eps/2, q[i]) end
"""

#: The support of the noise moves with the input: at x = -1 the answer may be false, at x = 0 it may not.
ONE_SIDED = """
program one_sided;
input x : real;
output y : bool;
var r : real;
r <- Expo(eps);
r <- r + x;
y <- r >= 0;
"""

#: Shifts by integers: at the corners of the box of moves there is one, in between there is none.
EVEN = """
program even;
input x[1..2] : int;
output y : bool;
var n : int;
n <- DLap(eps, 0);
n <- 2*n + x[1] + x[2];
y <- n = 0;
"""

COUNT = """
program count;
input x : int;
output y : int;
y <- DLap(eps/2, x);
"""

#: The exclusive or of two tests: one output has two exits.
EXCLUSIVE = """
program exclusive;
input q[1..2] : real;
output y : bool;
var r, s : real;
var a, b : bool;
r <- Lap(eps, q[1]);
s <- Lap(eps, q[2]);
a <- r >= 0;
b <- s >= 0;
y <- (a and not b) or (b and not a);
"""

#: What is chosen depends on a comparison of the input without noise.
GUARDED = """
program guarded;
input x : real;
output y : bool;
if x >= 0 then y <- choose { true : 3/4, false : 1/4 } else y <- choose { true : 1/4, false : 3/4 } end
"""

#: What is chosen depends on a noisy comparison: the weights are the same at both inputs.
CHOSEN = """
program chosen;
input x : real;
output y : bool;
var r : real;
r <- Lap(eps, x);
if r >= 0 then y <- choose { true : 3/4, false : 1/4 } else y <- choose { true : 1/4, false : 3/4 } end
"""

#: Whether the largest noisy query is above a threshold: it may be either of them.
ANY_ABOVE = """
program any_above;
input q[1..2] : real;
output y : bool;
var r, best : real;
best <- Lap(eps/4, q[1]);
r <- Lap(eps/4, q[2]);
if r > best then best <- r end;
r <- Lap(eps/4, 0);
y <- best > r
"""

#: How far one query is above all others: the largest of these may be any of them.
ABOVE_ALL = """
program above_all;
input q[1..3] : real;
output y : real;
var r, best : real;
best <- Lap(eps/2, q[1]);
r <- Lap(eps/2, q[2]);
if r > best then best <- r end;
r <- Lap(eps/4, q[3]);
y <- r - best
"""

#: Two exits that are one half-space together, of a sum: not of a difference.
IN_TWO_STEPS = """
program in_two_steps;
input q[1..2] : real;
output y : bool = false;
var r, s : real;
r <- Lap(eps, q[1]);
s <- Lap(eps, q[2]);
if r + s >= 1 then
  y <- true
else
  if r + s >= 0 then y <- true end
end
"""

#: A count that is told only if it is not negative, and how it compares.
SPARING = """
program sparing;
input x : int;
output y : int = 5;
output b : bool;
var n : int;
n <- DLap(eps/2, x);
b <- n >= 2;
if n >= 0 then y <- 1 - n end
"""

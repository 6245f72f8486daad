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

"""Single hard questions to the engine: order constraints, sums, loops, the running maximum.

Each task is timed as a whole; its answer is checked afterwards, against a formula or a quadrature.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import dipc
from benchmarks.literature import entries
from benchmarks.mechanisms import MECHANISMS
from dipc.algebra.exppoly import ClosedForm
from dipc.claims.table import TableGiven
from dipc.program.ideal import Distances, Ideal

_ONE = Fraction(1)

#: The rates of the six noises of a sum, in multiples of eps.
_RATES = (_ONE, _ONE / 2, _ONE / 3, Fraction(2), Fraction(3, 2), Fraction(3, 4))

_BELOW = """
program below;
input a[1..3], b[1..3] : real;
output below : bool = true;
var x[1..3], y[1..3] : real;
for i in 1..3 do
  x[i] <- Lap(i*eps/2, a[i]);
  y[i] <- Lap(i*eps/3, b[i])
end;
for i in 1..3 do
  for j in 1..3 do
    if x[i] >= y[j] then below <- false; exit end
  end
end
"""

_SUM = """
program sum_of_noises;
output total : real = 0;
var r : real;
""" + ";\n".join(f"r <- Lap({rate}*eps, 0); total <- total + r" for rate in _RATES)

#: A walk over x = 0, ..., n; `step` says what happens at each x in between.
_LOOP = """
program walk;
const n = 1999, k = 700;
output top : bool = false;
var x : {0..n} = k;
var up : bool;
while 0 < x and x < n do
  up <- choose { true : %s, false : %s };
  if up then x <- x + 1 else %s end
end;
top <- x = n
"""

_DIRECT = """
program direct;
const m = 3;
input q[1..m] : real;
output first : bool = true;
var r[1..m] : real;
for i in 1..m do r[i] <- Lap(eps/2, q[i]) end;
for i in 2..m do
  if r[i] > r[1] then first <- false; exit end
end
"""

#: The first of the noisy integers is the largest.
_INTEGERS = """
program integers;
const m = 3;
input q[1..m] : int;
output first : bool = true;
var r[1..m] : int;
for i in 1..m do r[i] <- DLap(eps/2, q[i]) end;
for i in 2..m do
  if r[i] > r[1] then first <- false; exit end
end
"""

#: The first noisy integer that is no less than a noisy threshold.
_THRESHOLD = """
program threshold;
const m = 3;
input q[1..m] : int;
output at : {0..m} = 0;
var t, r : int;
t <- DLap(eps/2, 0);
for i in 1..m do
  r <- DLap(eps/4, q[i]);
  if r >= t then at <- i; exit end
end
"""

#: A square of like noises that rise along rows and columns.
_GRID = """
program grid;
const n = 4;
output rising : bool = true;
var x[1..n*n] : real;
for i in 1..n*n do x[i] <- Lap(eps, 0) end;
for i in 1..n do
  for j in 1..n-1 do
    if x[(i-1)*n+j] > x[(i-1)*n+j+1] then rising <- false; exit end;
    if x[(j-1)*n+i] > x[j*n+i] then rising <- false; exit end
  end
end
"""

#: The sum of like noisy integers is about 0.
_TOTAL = """
program total;
const n = 30;
output near : bool = false;
var sum, x : int = 0;
for i in 1..n do x <- DLap(eps/2, 0); sum <- sum + x end;
if sum <= 3 and sum >= -3 then near <- true end
"""

#: None of forty noisy integers, all of different rates, is above 5.
_FORTY = """
program forty;
output within : bool = true;
var x : int;
""" + ";\n".join(f"x <- DLap(eps/{i}, 0); if x > 5 then within <- false; exit end" for i in range(1, 41))

#: Two up, or one or two down.
_JUMPS = """
program jumps;
const n = 1000, k = 333;
output top : bool = false;
var x : {-2..n+2} = k;
var step : {-2, -1, 2};
while 0 < x and x < n do
  step <- choose { 2 : 1/2, -1 : 1/4, -2 : 1/4 };
  x <- x + step
end;
top <- x >= n
"""

#: How often a coin comes up before it does not.
_RUN = """
program run;
const n = 40000;
output x : {0..n} = 0;
var up : bool = true;
while up and x < n do
  up <- choose { true : exp(-eps), false : 1 - exp(-eps) };
  if up then x <- x + 1 end
end
"""

#: One of a thousand values.
_THOUSAND = """
program thousand;
const n = 1000;
output y : {1..n} = 1;
y <- Exp(eps, i in {1..n} : -i)
"""

#: A sum of eight of ten values each.
_EIGHT = """
program eight;
output sum : {0..72} = 0;
var x : {0..9};
for i in 1..8 do
  x <- Exp(eps/2, v in {0..9} : -v);
  sum <- sum + x
end
"""

#: How many of the randomized responses are yes.
_RESPONSES = """
program responses;
const n = 400;
input b[1..n] : bool;
output yes : {0..n} = 0;
var answer : bool;
for i in 1..n do
  answer <- choose { b[i] : exp(eps)/(1 + exp(eps)), not b[i] : 1/(1 + exp(eps)) };
  if answer then yes <- yes + 1 end
end
"""

#: Which of the values is the median, ties to the first.
_MEDIAN = """
program median;
const m = 9;
input q[1..m] : real;
output out : {0..m} = 0;
ideal {
  var below : {0..m};
  for i in 1..m do
    below <- 0;
    for j in 1..i-1 do if q[j] <= q[i] then below <- below + 1 end end;
    for j in i+1..m do if q[j] < q[i] then below <- below + 1 end end;
    if below = (m - 1)/2 then out <- i end
  end
}
out <- 0
"""

#: Which of the values are the largest and the second, ties to the first.
FIRST_TWO = """
program first_two;
const m = 8;
input q[1..m] : real;
output first, second : {0..m} = 0;
ideal {
  var above : {0..m};
  for i in 1..m do
    above <- 0;
    for j in 1..i-1 do if q[j] >= q[i] then above <- above + 1 end end;
    for j in i+1..m do if q[j] > q[i] then above <- above + 1 end end;
    if above = 0 then first <- i end;
    if above = 1 then second <- i end
  end
}
first <- 0
"""

#: Whether half of the randomized responses are yes.
MOST = """
program most;
const n = 5000;
input b[1..n] : bool;
output most : bool = false;
var yes : {0..n} = 0;
var answer : bool;
for i in 1..n do
  answer <- choose { b[i] : exp(eps)/(1 + exp(eps)), not b[i] : 1/(1 + exp(eps)) };
  if answer then yes <- yes + 1 end
end;
if yes >= n/2 then most <- true end
"""

_COIN = ("1/(1 + exp(-eps))", "exp(-eps)/(1 + exp(-eps))")


#: Whether most of n people have the bit, from their randomized responses, kept in a list.
_PEOPLE = """
program people;
const n = 30;
input x[1..n] : {0..1};
output most : bool;
var y[1..n] : {0..1};
var s : {0..n} = 0;
ideal { var k : {0..n} = 0; for i in 1..n do k <- k + x[i] end; most <- 2*k > n }
claim { alpha: 0; beta: 9/10; }
for i in 1..n do
  if x[i] = 1 then y[i] <- choose { 1 : exp(eps)/(1 + exp(eps)), 0 : 1/(1 + exp(eps)) }
  else y[i] <- choose { 0 : exp(eps)/(1 + exp(eps)), 1 : 1/(1 + exp(eps)) } end
end;
for i in 1..n do s <- s + y[i] end;
most <- 2*s > n
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """A probability in closed form at one eps, enclosed, and how to find it otherwise."""

    low: Fraction
    high: Fraction
    otherwise: Callable[[], float]

    def check(self) -> None:
        """Raise RuntimeError if the answer is wrong."""
        wanted = self.otherwise()
        if not all(math.isclose(float(end), wanted, rel_tol=1e-9) for end in (self.low, self.high)):
            raise RuntimeError(f"[{float(self.low)}, {float(self.high)}], and not {wanted}")


def _answer(found: ClosedForm, eps: Fraction, otherwise: Callable[[], float]) -> Answer:
    return Answer(*found.enclosure(eps), otherwise)


def smart_sum() -> Answer:
    """One row of smart sum, T = 4, by its own claim."""
    entry = next(entry for entry in entries.ENTRIES if entry.name == "smart_sum")
    report = dipc.check(dipc.load(entry.path), entry.table(entry.claims[0])[-1:])
    if report.verdict is not dipc.Verdict.ACCURATE:
        raise RuntimeError(f"smart sum: {report.verdict}, {report.rows[0].reason}")
    found = report.rows[0].closed_form
    assert found is not None

    def otherwise() -> float:
        """The integral over the noise at the end of the first block, by hand; γ = 2."""
        terms = (1, -9 / 4 - 2, 1 / 3 + 5 / 4 + 2, -1 / 3, 0, -1 / 12, 1 / 12)
        return sum(term * math.exp(-2 * k) for k, term in enumerate(terms))

    return _answer(found, _ONE, otherwise)


def smart_sum_64() -> Answer:
    """The probability that all 64 releases of smart sum in blocks of two are within γ of the sums."""
    entry = next(entry for entry in entries.ENTRIES if entry.name == "smart_sum")
    sums = {f"out[{i}]": i for i in range(1, 65)}
    found = dipc.load(entry.path, T=64).closed_probability({"a": [1] * 64}, sums, gamma=2)

    def otherwise() -> float:
        """Integrals over the ends of the 32 blocks, from the last to the first, as Chebyshev series; γ = 2."""
        after = _series(np.ones_like)
        for _ in range(31):
            rising = _series(lambda x, f=after: np.exp(x) * f(x)).integ(lbnd=-2)
            falling = _series(lambda x, f=after: np.exp(-x) * f(x)).integ(lbnd=2)
            # The next end is near, and so is the release inside the next block.
            after = _series(
                lambda x, up=rising, down=falling: (
                    (np.exp(-x) * up(x) - np.exp(x) * down(x)) / 2 * (1 - math.exp(-2) * np.cosh(x))
                )
            )
        return float((1 - math.exp(-2)) * _series(lambda x: np.exp(x) * after(x)).integ(lbnd=-2)(0))

    return _answer(found, _ONE, otherwise)


def _series(function: Callable[..., np.ndarray]) -> np.polynomial.Chebyshev:
    """Return the smooth `function` on [-2, 2] as a Chebyshev series."""
    return np.polynomial.Chebyshev.interpolate(function, 60, [-2, 2])


def order() -> Answer:
    """Each of three noises below each of three others: six distinct means and rates."""
    a, b = (0.0, 0.25, 0.5), (1.0, 1.25, 1.75)
    found = dipc.load(_BELOW).closed_probability({"a": ["0", "1/4", "1/2"], "b": ["1", "5/4", "7/4"]}, {"below": True})

    def density(t: float) -> float:
        """The density at `t` of the largest of the first three noises, where all three others are above."""
        x = [_laplace((i + 1) / 2, t - mean) for i, mean in enumerate(a)]
        y = [1 - _laplace((i + 1) / 3, t - mean)[1] for i, mean in enumerate(b)]
        largest = sum(x[i][0] * math.prod(x[j][1] for j in range(3) if j != i) for i in range(3))
        return largest * math.prod(y)

    return _answer(found, _ONE, lambda: _integral(density))


def _integral(density: Callable[[float], float], reach: int = 60, parts: int = 64) -> float:
    """Integrate `density` from -`reach` to `reach` by Simpson's rule; its kinks are at even multiples of 1/`parts`."""
    ends = reach * parts
    inner = sum((4 if k % 2 else 2) * density(k / parts) for k in range(-ends + 1, ends))
    return (density(-reach) + inner + density(reach)) / (3 * parts)


def _laplace(rate: float, x: float) -> tuple[float, float]:
    """Return the density and the distribution function of Laplace noise of this `rate` at `x`."""
    tail = math.exp(-rate * abs(x)) / 2
    return rate * tail, tail if x < 0 else 1 - tail


def total() -> Answer:
    """P(|N1 + … + N6| <= γ), the rates distinct: by partial fractions 1 - Σ w e^(-rate·γ·eps)."""
    found = dipc.load(_SUM).closed_probability({}, {"total": 0}, gamma=2)

    def otherwise() -> float:
        weights = [math.prod(float(o**2 / (o**2 - rate**2)) for o in _RATES if o != rate) for rate in _RATES]
        return 1 - sum(weight * math.exp(-2 * rate) for weight, rate in zip(weights, _RATES, strict=True))

    return _answer(found, _ONE, otherwise)


def _integers(m: int) -> Answer:
    """Return the probability that the first of `m` noisy integers around 0 and 1 is the largest."""
    q = [i % 3 % 2 for i in range(m)]
    found = dipc.load(_INTEGERS, m=m).closed_probability({"q": q}, {"first": True})
    return _answer(
        found, _ONE, lambda: _summed(0.5, lambda t: math.prod(_geometric(0.5, t - mean)[1] for mean in q[1:]))
    )


def integers_30() -> Answer:
    """NoisyMax over 30 integers."""
    return _integers(30)


def integers_60() -> Answer:
    """NoisyMax over 60 integers."""
    return _integers(60)


def total_30() -> Answer:
    """The sum of 30 integers; their masses are convolved in floating point."""
    found = dipc.load(_TOTAL).closed_probability({}, {"near": True})

    def otherwise() -> float:
        mass = [_geometric(0.5, x)[0] for x in range(-80, 81)]
        sums = np.ones(1)
        for _ in range(30):
            sums = np.convolve(sums, mass)
        return float(sums[30 * 80 - 3 : 30 * 80 + 4].sum())

    return _answer(found, _ONE, otherwise)


def forty_rates() -> Answer:
    """Two claims about forty integers whose rates have no common unit, decided without a closed form.

    For small eps each is at most 5 with a probability of about 1/2.
    """
    program = dipc.load(_FORTY)
    row = [{"within": True}]
    holds, fails = (dipc.check(program, row, beta=f"min(1 - (1/2)^{n}, 60*exp(-eps/9))") for n in (40, 39))
    if holds.verdict is not dipc.Verdict.ACCURATE:
        raise RuntimeError(f"a claim that holds is {holds.verdict}: {holds.rows[0].reason}")
    example = fails.rows[0].counterexample
    if example is None:
        raise RuntimeError(f"a claim that fails is {fails.verdict}: {fails.rows[0].reason}")
    return Answer(
        *example.probability, lambda: math.prod(_geometric(float(example.eps) / i, 5)[1] for i in range(1, 41))
    )


def _distance(text: str, u: list[Fraction], pairs: list[int], **constants: int) -> Answer:
    """Return dd of an answer that changes when neighbors by size change places.

    The program is `text` with these `constants`, the input is `u`, and `pairs` are the neighbors.
    """
    found = Distances(Ideal(dipc.load(text, **constants))).dd(u)
    assert found is not None
    ordered = sorted(u, reverse=True)
    return Answer(found, found, lambda: float(min(ordered[at] - ordered[at + 1] for at in pairs) / 2))


#: Five values near to each other, four near to each other: many orders of all are as near as the nearest other answer.
_CLUSTERS = [Fraction(x) for x in ("0", "10", "0.01", "10.01", "5", "0.02", "10.02", "0.03", "10.03")]


def median_9() -> Answer:
    """dd of the median of nine values."""
    chance = random.Random(9)  # noqa: S311 - no secret
    u = [Fraction(n, 7) for n in chance.sample(range(-40, 40), 9)]
    return _distance(_MEDIAN, u, [3, 4])


def median_9_clusters() -> Answer:
    """The same of two clusters and a value in between."""
    return _distance(_MEDIAN, _CLUSTERS, [3, 4])


def first_two_8() -> Answer:
    """dd of the largest two of eight values."""
    chance = random.Random(8)  # noqa: S311 - no secret
    u = [Fraction(n, 7) for n in chance.sample(range(-40, 40), 8)]
    return _distance(FIRST_TWO, u, [0, 1])


def first_two_8_clusters() -> Answer:
    """The same where the other six are all alike."""
    return _distance(FIRST_TWO, [Fraction(n) for n in (5, 0, 0, 4, 0, 0, 0, 0)], [0, 1])


def half_of_40() -> Answer:
    """dd of Sparse, 20 of 40 queries above the threshold at most."""
    mechanism = MECHANISMS["sparse"]
    given = {"m": _ONE * 40, "c": _ONE * 20}
    chance = random.Random(40)  # noqa: S311 - no secret
    u = [Fraction(chance.choice((-1, 1)) * chance.randint(20, 90), 7) for _ in range(40)]
    found = Distances(Ideal(dipc.load(mechanism.path, **given))).dd(u)
    known = mechanism.ideal(mechanism.constants(given), u).dd
    assert found is not None
    assert known is not None
    return Answer(found, found, lambda: float(known))


def jumps() -> Answer:
    """A walk over 1 000 states in steps of 2, -1 and -2."""

    def otherwise() -> float:
        """The equations of what is reached, solved in floating point."""
        inside = np.eye(999)
        top = np.zeros(999)
        for x in range(1, 1000):
            for step, weight in ((2, 0.5), (-1, 0.25), (-2, 0.25)):
                if x + step >= 1000:
                    top[x - 1] += weight
                elif x + step > 0:
                    inside[x - 1, x + step - 1] -= weight
        return float(np.linalg.solve(inside, top)[332])

    return _answer(dipc.load(_JUMPS).closed_probability({}, {"top": True}), _ONE, otherwise)


def run_40000() -> Answer:
    """A loop of up to 40 000 rounds."""
    return _answer(dipc.load(_RUN).closed_probability({}, {"x": 5}), _ONE, lambda: (1 - math.exp(-1)) * math.exp(-5))


def ties_100() -> Answer:
    """A running maximum of 100: an index in the middle, and ties to earlier ones."""
    means = [i % 3 % 2 for i in range(100)]
    found = dipc.load(MECHANISMS["noisy_max_ties"].path, m=100).closed_probability({"q": means}, {"out": 50})

    def density(t: float) -> float:
        others = [_laplace(0.5, t - mean)[1] for i, mean in enumerate(means) if i != 49]
        return _laplace(0.5, t - means[49])[0] * math.prod(others)

    return _answer(found, _ONE, lambda: _integral(density))


def exponential_1000() -> Answer:
    """The fifth of 1 000 values."""
    found = dipc.load(_THOUSAND).closed_probability({}, {"y": 5})
    return _answer(found, _ONE, lambda: math.exp(-5) / math.fsum(math.exp(-i) for i in range(1, 1001)))


def exponential_1000_all() -> Answer:
    """All of the 1 000 values, written out."""
    found = [outcome.probability for outcome in dipc.load(_THOUSAND).outcomes({})]
    texts = [str(probability) for probability in found]
    if len(set(texts)) != 1000:
        raise RuntimeError(f"{len(set(texts))} different probabilities")
    middle = found[499]
    assert isinstance(middle, ClosedForm), "finite choices have closed forms"
    return _answer(middle, Fraction(1, 10), lambda: math.exp(-50) * math.expm1(0.1) / -math.expm1(-100))


def exponential_8() -> Answer:
    """Eight values in a row; their sum by convolution."""

    def otherwise() -> float:
        weights = np.exp(-np.arange(10) / 2)
        sums = np.ones(1)
        for _ in range(8):
            sums = np.convolve(sums, weights / weights.sum())
        return float(sums[5])

    return _answer(dipc.load(_EIGHT).closed_probability({}, {"sum": 5}), _ONE, otherwise)


def responses_400() -> Answer:
    """Half of 400 responses are yes, as half of the answers are."""
    bits = [i % 2 == 0 for i in range(400)]
    found = dipc.load(_RESPONSES).closed_probability({"b": bits}, {"yes": 200})

    def otherwise() -> float:
        """The sum over k of the probability that k of the 200 true answers and k of the 200 false ones stay."""
        p = 1 / (1 + math.exp(-1))
        kept = [math.comb(200, k) * p**k * (1 - p) ** (200 - k) for k in range(201)]
        return math.fsum(mass * mass for mass in kept)

    return _answer(found, _ONE, otherwise)


def responses_5000() -> Answer:
    """A fifth of 5000 responses is yes, as a fifth of the answers is."""
    bits = [i % 5 == 0 for i in range(5000)]
    found = dipc.load(_RESPONSES, n=5000).closed_probability({"b": bits}, {"yes": 1000})
    kept, turned = _binomial(1000, 1 / (1 + math.exp(-1))), _binomial(4000, 1 / (1 + math.exp(1)))
    return _answer(found, _ONE, lambda: math.fsum(kept[k] * turned[1000 - k] for k in range(1001)))


def most_5000() -> Answer:
    """Half of 5000 responses are yes, as half of the answers are."""
    bits = [i % 2 == 0 for i in range(5000)]
    found = dipc.load(MOST).closed_probability({"b": bits}, {"most": True})
    kept, turned = _binomial(2500, 1 / (1 + math.exp(-1))), _binomial(2500, 1 / (1 + math.exp(1)))
    return _answer(found, _ONE, lambda: float(np.convolve(kept, turned)[2500:].sum()))


def _binomial(n: int, p: float) -> list[float]:
    """Return the probabilities of 0 to `n` successes of `n` trials that succeed with probability `p`."""
    return [math.exp(math.log(math.comb(n, k)) + k * math.log(p) + (n - k) * math.log1p(-p)) for k in range(n + 1)]


def falling_maximum() -> Answer:
    """The first of 75 real values, which fall by a tenth each, is the largest."""
    means = [-i / 10 for i in range(1, 76)]
    cells = [Fraction(-i, 10) for i in range(1, 76)]
    found = dipc.load(MECHANISMS["noisy_max"].path, m=75).closed_probability({"q": cells}, {"out": 1})

    def density(t: float) -> float:
        return _laplace(0.5, t - means[0])[0] * math.prod(_laplace(0.5, t - mean)[1] for mean in means[1:])

    return _answer(found, _ONE, lambda: _integral(density, 80, 40))


def generic_maximum() -> Answer:
    """The largest of 75 means of six digits: two claims, decided without the closed form of 2^75 terms."""
    return _generic_maximum(75)


def generic_maximum_20() -> Answer:
    """The largest of 20 of them: a closed form that could be written out, but takes longer."""
    return _generic_maximum(20)


def _generic_maximum(m: int) -> Answer:
    chance = random.Random(7)  # noqa: S311 - no secret
    means = [Fraction(chance.randint(0, 10**6), 10**6) for _ in range(m)]
    means[3] = Fraction(2)
    program = dipc.load(MECHANISMS["noisy_max"].path, m=m)
    rows = [{**{f"q[{i}]": mean for i, mean in enumerate(means, 1)}, "out": 4}]
    found = _both_decided(program, rows, "m*exp(-alpha*eps/2)/6" if m > 50 else "m*exp(-alpha*eps/2)/2", "exp(-eps)")
    others = [float(mean) for mean in means if mean != 2]

    def density(t: float) -> float:
        return _laplace(0.5, t - 2)[0] * math.prod(_laplace(0.5, t - mean)[1] for mean in others)

    return Answer(*found, lambda: _integral(density, 80, 40))


def comparisons_20() -> Answer:
    """Twenty independent comparisons with means of six digits, two of them on the wrong side.

    The two claims are about a product of a million terms. At eps = 8 one factor alone refutes the second claim.
    """
    chance = random.Random(1)  # noqa: S311 - no secret
    means = [Fraction(chance.randint(1, 10**6), 10**6) * (-1 if i in (3, 10) else 1) for i in range(20)]
    text = "program comparisons;\noutput o[1..20] : bool;\nvar x : real;\n"
    text += "\n".join(f"x <- Lap(eps/{i}, {mean}); o[{i}] <- x >= 0;" for i, mean in enumerate(means, 1))
    rows = [{"o": [True] * 20}]
    found = _both_decided(dipc.load(text), rows, "1 - exp(-20*eps)/2^20", "exp(-eps/4)", eps="[1/10, 10]")
    return Answer(*found, lambda: math.prod(_laplace(1 / i, float(mean))[1] for i, mean in enumerate(means, 1)))


def _both_decided(
    program: dipc.Program, rows: TableGiven, true: str, false: str, eps: str | None = None
) -> tuple[Fraction, Fraction]:
    """Return the probability at eps = 1, where the claim `false` fails.

    `true` and `false` are values of beta for `rows` of `program`, one proved and one refuted on `eps`.
    """
    holds, fails = (dipc.check(program, rows, beta=beta, eps=eps) for beta in (true, false))
    if holds.verdict is not dipc.Verdict.ACCURATE:
        raise RuntimeError(f"a claim that holds is {holds.verdict}: {holds.rows[0].reason}")
    example = fails.rows[0].counterexample
    if example is None or example.eps != 1:
        raise RuntimeError(f"a claim that fails at eps = 1 is {fails.verdict}: {fails.rows[0].reason}")
    return example.probability


def falling_queries() -> Answer:
    """None of 80 queries, which fall by a tenth each, is above the threshold."""
    means = [-i / 10 for i in range(1, 81)]
    cells = [Fraction(-i, 10) for i in range(1, 81)]
    found = dipc.load(MECHANISMS["sparse"].path, m=80).closed_probability({"q": cells}, {"out": ["bot"] * 80})

    def density(t: float) -> float:
        return _laplace(0.5, t)[0] * math.prod(_laplace(0.25, t - mean)[1] for mean in means)

    return _answer(found, _ONE, lambda: _integral(density, 120, 40))


def threshold_30() -> Answer:
    """AboveThreshold over 30 integers: only the last is above."""
    q = [i % 2 for i in range(30)]
    found = dipc.load(_THRESHOLD, m=30).closed_probability({"q": q}, {"at": 30})

    def last(t: int) -> float:
        below = math.prod(_geometric(0.25, t - 1 - mean)[1] for mean in q[:-1])
        return below * (1 - _geometric(0.25, t - 1 - q[-1])[1])

    return _answer(found, _ONE, lambda: _summed(0.5, last))


def _geometric(rate: float, x: int) -> tuple[float, float]:
    """Return the mass and the distribution function of discrete Laplace noise of this `rate` at `x`."""
    r = math.exp(-rate)
    tail = r ** abs(x) / (1 + r)
    return (1 - r) * tail, tail if x < 0 else 1 - r * tail


def _summed(rate: float, function: Callable[[int], float]) -> float:
    """Return the mean of the bounded `function` of discrete Laplace noise of this `rate`."""
    return math.fsum(_geometric(rate, t)[0] * function(t) for t in range(-200, 201))


def grid_4() -> Answer:
    """16 like noises on a grid."""
    return _grid(4)


def grid_6() -> Answer:
    """36 like noises on a grid."""
    return _grid(6)


def _grid(n: int) -> Answer:
    """Return one over the product of the hook lengths of an `n` by `n` square (Frame, Robinson, Thrall 1954)."""
    hooks = math.prod(i + j + 1 for i in range(n) for j in range(n))
    return _answer(dipc.load(_GRID, n=n).closed_probability({}, {"rising": True}), _ONE, lambda: 1 / hooks)


def fair_walk() -> Answer:
    """2 000 states, up and down alike: from k the top is reached with probability k/n."""
    return _walk(_LOOP % ("1/2", "1/2", "x <- x - 1"), 700, _ONE, lambda: 700 / 1999)


def biased_walk() -> Answer:
    """2 000 states, up with probability 1/(1 + e^-eps): (1 - e^(-k·eps))/(1 - e^(-n·eps))."""
    text = _LOOP % (*_COIN, "x <- x - 1")
    return _walk(text, 700, Fraction(1, 1000), lambda: math.expm1(-0.7) / math.expm1(-1.999))


def lazy_walk() -> Answer:
    """2 000 states, up or stay: the top is reached for sure."""
    return _walk(_LOOP % (*_COIN, "x <- x"), 1, _ONE, lambda: 1.0)


def stopping_walk() -> Answer:
    """2 000 states, up or stop for good: the top is reached with probability (1 + e^-eps)^(k - n)."""
    return _walk(_LOOP % (*_COIN, "exit"), 1, Fraction(5), lambda: (1 + math.exp(-5)) ** (1 - 1999))


def long_fair_walk() -> Answer:
    """10 000 states."""
    return _walk(_LOOP % ("1/2", "1/2", "x <- x - 1"), 700, _ONE, lambda: 700 / 10_000, n=10_000)


def long_biased_walk() -> Answer:
    """4 000 states."""
    text = _LOOP % (*_COIN, "x <- x - 1")
    return _walk(text, 700, Fraction(1, 1000), lambda: math.expm1(-0.7) / math.expm1(-4), n=4000)


def _walk(text: str, start: int, eps: Fraction, otherwise: Callable[[], float], n: int = 1999) -> Answer:
    return _answer(dipc.load(text, n=n, k=start).closed_probability({}, {"top": True}), eps, otherwise)


_SIXTEEN = [i % 3 % 2 for i in range(16)]


def _maximum(found: ClosedForm) -> Answer:
    """Return the probability `found` that the first of the sixteen values is the largest, beside the known one."""

    def density(t: float) -> float:
        first, *others = [_laplace(0.5, t - q) for q in _SIXTEEN]
        return first[0] * math.prod(below for _, below in others)

    return _answer(found, _ONE, lambda: _integral(density))


def direct_maximum() -> Answer:
    """The probability that the first of 16 noisy values is the largest, as one comparison with all others."""
    return _maximum(dipc.load(_DIRECT, m=16).closed_probability({"q": _SIXTEEN}, {"first": True}))


def running_maximum() -> Answer:
    """The probability of `direct_maximum`, from a running maximum whose 2^15 paths are merged."""
    return _maximum(dipc.load(MECHANISMS["noisy_max"].path, m=16).closed_probability({"q": _SIXTEEN}, {"out": 1}))


def _people(n: int) -> Answer:
    """Check randomized response of `n` people at all 2^n inputs.

    The answer is the probability that most say yes where a third do.
    """
    program = dipc.load(_PEOPLE, n=n)
    report = dipc.check(program, inputs=[])
    if len(report.rows) != n + 1 or report.inputs != 2**n:
        raise RuntimeError(f"{len(report.rows)} classes of {report.inputs} inputs")
    ones = n // 3
    found = program.closed_probability({"x": [int(i < ones) for i in range(n)]}, {"most": True})
    kept, turned = _binomial(ones, 1 / (1 + math.exp(-1))), _binomial(n - ones, 1 / (1 + math.exp(1)))
    return _answer(found, _ONE, lambda: float(np.convolve(kept, turned)[n // 2 + 1 :].sum()))


def people_15() -> Answer:
    """Randomized response of 15 people, kept in a list."""
    return _people(15)


def people_30() -> Answer:
    """Randomized response of 30 people, kept in a list."""
    return _people(30)


def people_100() -> Answer:
    """Randomized response of 100 people, kept in a list."""
    return _people(100)


#: By name; see `benchmarks.targets`.
TASKS: Mapping[str, Callable[[], Answer]] = {
    task.__name__: task
    for task in (
        smart_sum,
        smart_sum_64,
        order,
        total,
        fair_walk,
        biased_walk,
        lazy_walk,
        stopping_walk,
        long_fair_walk,
        long_biased_walk,
        direct_maximum,
        running_maximum,
        integers_30,
        integers_60,
        threshold_30,
        total_30,
        forty_rates,
        median_9,
        median_9_clusters,
        first_two_8,
        first_two_8_clusters,
        half_of_40,
        jumps,
        run_40000,
        ties_100,
        falling_maximum,
        falling_queries,
        generic_maximum,
        generic_maximum_20,
        comparisons_20,
        exponential_1000,
        exponential_1000_all,
        exponential_8,
        responses_400,
        responses_5000,
        most_5000,
        people_15,
        people_30,
        people_100,
        grid_4,
        grid_6,
    )
}

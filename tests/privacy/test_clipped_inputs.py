"""Clipped inputs: privacy in a box, against pairs of a grid and sensitivities computed otherwise."""

from __future__ import annotations

import random
from contextlib import suppress
from fractions import Fraction
from hashlib import sha256
from itertools import combinations, product
from pathlib import Path

import pytest

import dipc
from dipc.certificate.privacy import certify_privacy
from dipc.certificate.write import certify_constant
from dipc.decide.engine import Engine
from dipc.program.clipped import Clipped, Extent, clipped
from dipc.program.program import Program
from dipc.questions.privacy.adjacency import Distance, Neighborhood
from dipc.questions.privacy.boxes import extreme_moves, placed
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.constant import Constant
from dipc.questions.privacy.every_number import EveryNumber, check_privacy_for_all
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim
from dipc.verifier.clipped import boxed
from dipc.verifier.document import check_text
from dipc.verifier.reading import Budget, Rejected
from dipc.verifier.syntax import read_program
from tests.verifier import samples

F = Fraction

MEAN = """
program mean; const n = 4, B = 10; input x[1..n] : real; output out : real; var s, c : real;
s <- 0; for i in 1..n do c <- min(max(x[i], 0), B); s <- s + c/n end; out <- Lap(n*eps/B, s)
"""


def box_of(ranges: list[Extent]) -> Clipped:
    source = "program box; const n = 1; input x[1..n] : real; output out : real; out <- Lap(eps, x[1])"
    return Clipped(dipc.load(source, n=len(ranges)), tuple(ranges))


def constant(program: Program, adjacent: str, inputs: str | None = "all") -> Constant:
    return PrivacyQuestion(program, adjacent, inputs, Engine(program.measurer, program.limits)).constant(None)


@pytest.mark.parametrize(
    ("adjacent", "expected"),
    [
        ("hamming:1", ["1", "1", "1", "1"]),
        ("hamming:2", ["1", "2", "2", "2"]),
        ("l1:15", ["1", "3/2", "3/2", "3/2"]),
        ("l1:5", ["1/2", "1/2", "1/2", "1/2"]),
        ("linf:12", ["1", "2", "3", "50"]),
        ("linf:1", ["1/10", "1/5", "3/10", "5"]),
    ],
)
def test_the_mean_of_clipped_numbers(adjacent: str, expected: list[str]) -> None:
    for n, value in zip((1, 2, 3, 50), expected, strict=True):
        found = constant(dipc.load(MEAN, n=n), adjacent)
        assert found.proved == found.refuted_below == F(value)


def test_both_verdicts_and_a_pair_in_the_box() -> None:
    program = dipc.load(MEAN)
    assert dipc.check_privacy(program, "hamming:1", inputs="all").verdict is PrivacyVerdict.PRIVATE
    refuted = dipc.check_privacy(program, "hamming:1", inputs="all", budget="9/10*eps")
    assert refuted.counterexample is not None
    values = [*refuted.counterexample.input.values(), *refuted.counterexample.adjacent.values()]
    assert all(0 <= F(str(value)) <= 10 for value in values)


#: The last mean that a program draws around, after clamps of x in v, and the greatest change of the mean.
MEANS = {
    "max(i in 1..1 : v)": 1,
    "sum(i in 1..2 : v)": 2,
    "sum(v in 1..2 : v)": 0,
    "min(max(x, 0), 1) - sum(v in 1..1 : v)": 1,
    "0 + Exp(eps, v in {0..1} : v)": 0,
    "3 - v": 1,
}


@pytest.mark.parametrize("last", MEANS)
def test_a_variable_of_a_range_is_not_a_clipped_number(last: str) -> None:
    text = (
        "program p; input x : real; output o : real; var v, w : real;"
        f" v <- 0; w <- min(max(x, 0), 1); v <- min(max(x, 0), 1); v <- {last}; o <- Lap(eps, v)"
    )
    found = constant(dipc.load(text), "linf:1")
    assert found.proved == found.refuted_below == MEANS[last]
    for budget, suffices in ((MEANS[last], True), (F(MEANS[last]) - F(1, 100), False)):
        if budget >= 0:
            report = dipc.check_privacy(dipc.load(text), "linf:1", inputs="all", budget=f"{budget}*eps")
            assert (report.verdict is PrivacyVerdict.PRIVATE) is suffices


# --- moves ----------------------------------------------------------------------------------------------------------


def sensitivity(weights: list[Fraction], widths: list[Fraction], within: Neighborhood) -> Fraction:
    """The greatest change of a sum of inputs, by its closed form."""
    radius = within.radius
    match within.distance:
        case Distance.LINF:
            return sum((abs(w) * min(radius, d) for w, d in zip(weights, widths, strict=True)), F(0))
        case Distance.HAMMING:
            changes = sorted((abs(w) * d for w, d in zip(weights, widths, strict=True)), reverse=True)
            return sum(changes[: int(radius)], F(0))
        case Distance.L1:
            total = F(0)
            for w, d in sorted(((abs(w), d) for w, d in zip(weights, widths, strict=True)), reverse=True):
                step = min(d, radius)
                total, radius = total + w * step, radius - step
            return total


@pytest.mark.parametrize("seed", range(60))
def test_moves_of_one_sum_have_its_sensitivity(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randint(1, 5)
    weights = [F(chance.choice([-3, -2, -1, 1, 2, 5]), chance.randint(1, 3)) for _ in range(count)]
    widths = [F(chance.randint(1, 9), chance.randint(1, 2)) for _ in range(count)]
    for distance in Distance:
        radius = F(chance.randint(1, 3)) if distance is Distance.HAMMING else F(chance.randint(1, 20), 3)
        within = Neighborhood(distance, radius)
        ranges = [Extent(F(0), width) for width in widths]
        form = dict(enumerate(weights))
        moves = extreme_moves([], [form], box_of(ranges), within)
        greatest = max(sum((form[place] * step for place, step in move.items()), F(0)) for move in moves)
        assert greatest == sensitivity(weights, widths, within)
        for move in moves:
            one, two = placed(ranges, [F(1)] * count, [move[place] for place in range(count)])
            assert within.relates(one, two)
            assert all(0 <= value <= width for value, width in zip((*one, *two), widths * 2, strict=True))  # type: ignore[operator]


@pytest.mark.parametrize("seed", range(40))
def test_moves_of_several_sums_include_the_worst(seed: int) -> None:
    """The greatest |s|, of convex combinations of several sums, is found among all moves of a fine grid, too."""
    chance = random.Random(seed)
    count = chance.randint(2, 3)
    widths = [F(chance.randint(1, 3)) for _ in range(count)]
    forms = [{place: F(chance.randint(-2, 2)) for place in range(count)} for _ in range(2)]
    for distance in Distance:
        within = Neighborhood(distance, F(chance.randint(1, 4)) if distance is not Distance.HAMMING else F(2))
        ranges = [Extent(F(0), width) for width in widths]
        moves = extreme_moves([], forms, box_of(ranges), within)
        steps = [[F(k) for k in range(-int(width), int(width) + 1)] for width in widths]
        grid = [move for move in product(*steps) if within.relates(tuple([F(0)] * count), move)]

        def cost(move: dict[int, Fraction], mixed: tuple[int, int]) -> Fraction:
            values = [sum((c * move[place] for place, c in form.items()), F(0)) for form in forms]
            return abs(mixed[0] * values[0] + mixed[1] * values[1]) + abs(values[0])

        for mixed in ((1, 0), (0, 1), (1, 1), (1, -1), (3, 2)):
            most = max((cost(dict(enumerate(move)), mixed) for move in grid), default=F(0))
            assert max((cost(dict(move), mixed) for move in moves), default=F(0)) >= most


# --- programs -------------------------------------------------------------------------------------------------------


def clamp_of(name: str, chance: random.Random, low: int, high: int) -> str:
    ends = [f"min(max({name}, {low}), {high})", f"max(min({name}, {high}), {low})", f"min({high}, max({low}, {name}))"]
    return chance.choice(ends)


def clamped_program(chance: random.Random) -> tuple[str, list[list[int]]]:
    """A random program over one or two clipped inputs, and values around the sides of its box for each."""
    count = chance.randint(1, 2)
    values, terms = [], []
    for index in range(1, count + 1):
        low = chance.randint(-2, 1)
        high = low + chance.randint(1, 3)
        own = [low - 2, low, high, high + 3]
        weight = chance.choice([1, 2, -1, 3])
        term = f"{weight}*{clamp_of(f'x[{index}]', chance, low, high)}"
        if count == 1 and chance.random() < 1 / 3:
            more = high + chance.randint(1, 2)
            term += f" + {clamp_of(f'x[{index}]', chance, low, more)}"
            own.append(more)
        values.append(own)
        terms.append(term)
    mean, rate = " + ".join(terms), chance.choice(["eps", "eps/2", "2*eps"])
    kind = chance.choice(["real", "test", "two", "first"])
    if kind == "real":
        body, outputs = f"out <- Lap({rate}, {mean})", "output out : real;"
    elif kind == "test":
        body, outputs = f"r <- Lap({rate}, {mean}); out <- r >= {chance.randint(-1, 2)}", "output out : bool;"
    elif kind == "two":
        body = f"r <- Lap({rate}, {mean}); t <- Lap(eps, {terms[0]}); out <- r >= t"
        outputs = "output out : bool;"
    else:
        body = f"""t <- Lap(eps/2, 0); r <- Lap({rate}, {terms[0]});
        if r >= t then out <- 1 else r <- Lap({rate}, {terms[-1]}); if r >= t then out <- 2 end end"""
        outputs = "output out : {0..2} = 0;"
    return f"program p; input x[1..{count}] : real; {outputs} var r, t : real; {body}", values


def with_required_box(source: str, values: list[list[int]], chance: random.Random) -> tuple[str, list[list[int]]]:
    """The program with a random closed range for some inputs, and the values that are allowed, its ends among them."""
    conditions, allowed = [], []
    for index, own in enumerate(values, 1):
        low, high = sorted(chance.sample(range(min(own) - 1, max(own) + 2), 2))
        ends = {"low": f"x[{index}] >= {low}", "high": f"x[{index}] <= {high}"}
        kept = [end for end in ends if chance.random() < 2 / 3]
        conditions += [ends[end] for end in kept]
        inside = [v for v in own if ("low" not in kept or v >= low) and ("high" not in kept or v <= high)]
        allowed.append([*inside, *([low] if "low" in kept else []), *([high] if "high" in kept else [])])
    required = f"requires {' and '.join(conditions)}; output out" if conditions else "output out"
    return source.replace("output out", required, 1), allowed


def require_right(seed: int, *, required: bool = False) -> tuple[bool, bool]:
    """Check one program: no pair of the grid loses more than is proved. Returns whether it is exact, and its kind."""
    chance = random.Random(seed)
    source, values = clamped_program(chance)
    if required:
        source, values = with_required_box(source, values, chance)
    adjacent = chance.choice(["linf:1", "linf:2", "l1:1", "l1:3", "hamming:1", "hamming:2"])
    program = dipc.load(source)
    found = constant(program, adjacent)
    grid = " , ".join(f"x[{k}] in {{{', '.join(map(str, sorted({*own})))}}}" for k, own in enumerate(values, 1))
    at_pairs: Constant | None = None
    with suppress(dipc.DiagnosticError):  # no two of the inputs may be adjacent
        at_pairs = constant(program, adjacent, grid)
    if at_pairs is not None and found.proved is not None:
        assert at_pairs.refuted_below is not None, source
        assert at_pairs.refuted_below <= found.proved, (source, adjacent)
    if found.refuted_below is not None and found.proved is not None:
        assert found.refuted_below <= found.proved
    if found.at is not None and program.allowed is not None:
        for texts in (found.at.input, found.at.adjacent):
            assert program.allowed.allows([F(str(value)) for value in texts.values()])
    single = source.count("min") == len(values)
    return found.exact, "out : real" in source and single


@pytest.mark.parametrize("seed", range(12))
def test_no_pair_of_a_grid_loses_more(seed: int) -> None:
    exact, is_a_sum = require_right(seed)
    assert exact or not is_a_sum


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_no_pair_of_many_grids_loses_more(seed: int) -> None:
    exact, is_a_sum = require_right(seed)
    assert exact or not is_a_sum


@pytest.mark.parametrize("seed", range(2000, 2012))
def test_no_allowed_pair_of_a_grid_loses_more(seed: int) -> None:
    require_right(seed, required=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3000, 3300))
def test_no_allowed_pair_of_many_grids_loses_more(seed: int) -> None:
    require_right(seed, required=True)


@pytest.mark.parametrize(("adjacent", "expected"), [("hamming:1", "1"), ("hamming:2", "2"), ("linf:3", "3/5")])
@pytest.mark.parametrize("requires", ["x[i] >= -5 and x[i] <= 12", "x[i] >= 0 and x[i] <= 10", "x[i] <= 30"])
def test_clipped_numbers_that_have_a_range(requires: str, adjacent: str, expected: str) -> None:
    text = MEAN.replace("n = 4", "n = 2").replace("output", "requires R; output", 1)
    text = text.replace("requires R", "requires " + " and ".join(requires.replace("[i]", f"[{i}]") for i in (1, 2)))
    found = constant(dipc.load(text), adjacent)
    assert found.proved == found.refuted_below == F(expected)


@pytest.mark.parametrize(
    ("requires", "low", "high"),
    [
        ("x >= 3", 3, 10),
        ("x >= -4 and x <= 7", 0, 7),
        ("x <= 30", 0, 10),
        ("x > 3", None, None),
        ("x >= 11", None, None),
        ("x <= 2 or x >= 3", None, None),
    ],
)
def test_boxes_with_requires(requires: str, low: int | None, high: int | None) -> None:
    source = f"program p; input x : real; requires {requires}; output y : real; y <- Lap(eps, min(max(x, 0), 10))"
    box = clipped(dipc.load(source))
    assert (box is None) is (low is None)
    if box is not None:
        assert box.ranges == (Extent(F(str(low)), F(str(high))),)


# --- what is not clipped --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "out <- Lap(eps, min(max(x, 0), 1) + x)",
        "r <- x; out <- Lap(eps, min(max(r, 0), 1))",
        "if x >= 3 then out <- Lap(eps, min(max(x, 0), 1)) else out <- Lap(eps, 0) end",
        "r <- Lap(eps, 0); out <- min(max(x + r, 0), 1)",
        "out <- Lap(eps, max(x, 0) + min(x, 5))",
    ],
)
def test_inputs_that_are_read_otherwise_stay(body: str) -> None:
    assert clipped(dipc.load(f"program p; input x : real; output out : real; var r : real; {body}")) is None


def test_requires_is_about_the_input_and_not_about_its_clamp() -> None:
    source = "program p; input x : real; requires x >= 5; output out : real; out <- Lap(eps, min(max(x, 0), 10))"
    found = constant(dipc.load(source), "hamming:1")
    assert found.proved == found.refuted_below == 5


@pytest.mark.parametrize(
    ("body", "low", "high", "stays"),
    [
        ("min(max(x, 0), 10)", 0, 10, False),
        ("min(max(2*x + 1, 0), 5)", F(-1, 2), 2, False),
        ("max(-1, min(1 - x, 4))", -3, 2, False),
        ("max(x, 0)", 0, None, False),
        ("min(max(x, 0), 1) + min(max(x, 0), 3)", 0, 3, True),
        ("min(max(x/2, 0), 1) + min(max(x, 0), 2)", 0, 2, False),
        ("min(min(max(x, -4), 7), 3)", -4, 3, False),
    ],
)
def test_boxes(body: str, low: int, high: int | None, *, stays: bool) -> None:
    box = clipped(dipc.load(f"program p; input x : real; output out : real; out <- Lap(eps, {body})"))
    assert box is not None
    assert box.ranges == (Extent(F(low), None if high is None else F(high)),)
    assert ("min" in box.program.core.source.text) is stays


def test_elements_named_by_numbers_have_ranges_of_their_own() -> None:
    source = """program p; input q[1..2] : real; output out : real;
    out <- Lap(eps, min(max(q[1], 0), 1) + min(max(q[2], 0), 5))"""
    box = clipped(dipc.load(source))
    assert box is not None
    assert [side.width for side in box.ranges] == [1, 5]
    assert constant(dipc.load(source), "hamming:1").proved == 5


def test_noise_in_several_outputs() -> None:
    source = """program p; const n = 3; input x[1..n] : real; output a, b : real; var s : real;
    s <- 0; for i in 1..n do s <- s + min(max(x[i], 0), 4) end; a <- Lap(eps/8, s); b <- Lap(eps/8, s - 1)"""
    found = constant(dipc.load(source), "hamming:1")
    assert found.proved == found.refuted_below == F(1)


@pytest.mark.parametrize(("adjacent", "expected"), [("hamming:1", 4), ("hamming:2", 6), ("l1:3", 3), ("linf:1", 2)])
def test_clipped_ints(adjacent: str, expected: int) -> None:
    source = """program p; input x[1..2] : int; output out : int;
    out <- DLap(eps, min(max(x[1], 0), 4) + min(max(x[2], 1), 3))"""
    found = constant(dipc.load(source), adjacent)
    assert found.proved == found.refuted_below == F(expected)


def test_thresholds_over_clipped_queries() -> None:
    source = """program svt; const m = 3; input q[1..m] : real; output o[1..m] : {0..2} = 2; var t, r : real;
    t <- Lap(eps/2, 0);
    for i in 1..m do
      r <- Lap(eps/4, min(max(q[i], 0), 1)); if r < t then o[i] <- 1; exit else o[i] <- 0 end
    end"""
    found = constant(dipc.load(source), "hamming:1")
    assert (found.proved, found.refuted_below) == (F(1, 4), F(1, 4))


def test_gaussian_noise_on_a_clipped_sum() -> None:
    """The least rho is sensitivity²/(2·sigma²), and delta that of the worst pair."""
    source = MEAN.replace("Lap(n*eps/B, s)", "Gauss(2, s)")
    program = dipc.load(source, n=50)
    question = PrivacyQuestion(program, "hamming:2", "all", Engine(program.measurer, program.limits))
    rho = question.laws().rho(read_claim(program, None, None, "[1, 1]"))
    assert rho.proved is not None
    assert rho.proved[0] <= F(2 * 10, 50) ** 2 / 8 <= rho.proved[1]


def test_combinations_are_bounded() -> None:
    """A move of HAMMING changes at most as many inputs as its radius says."""
    box = box_of([Extent(F(0), F(k)) for k in (1, 2, 3)])
    moves = extreme_moves([], [{0: F(1)}, {1: F(1)}, {2: F(1)}], box, Neighborhood(Distance.HAMMING, F(2)))
    assert {tuple(place for place, step in move.items() if step) for move in moves} == set(combinations(range(3), 2))


# --- certificates ---------------------------------------------------------------------------------------------------


def certificate(source: str, adjacent: str, **constants: int) -> str:
    program = dipc.load(source, **constants)
    engine = Engine(program.measurer, program.limits, keep_proofs=True)
    question = PrivacyQuestion(program, adjacent, "all", engine)
    return certify_constant(question, question.constant(None))


@pytest.mark.parametrize("adjacent", ["hamming:1", "hamming:2", "l1:15", "linf:12", "linf:1"])
def test_the_checker_derives_both_ends(adjacent: str) -> None:
    accepted = check_text(certificate(MEAN, adjacent, n=3))
    assert accepted.complete
    assert accepted.trusted == ()


@pytest.mark.parametrize("seed", range(200, 212))
def test_the_checker_finds_the_same_box(seed: int) -> None:
    source, _ = clamped_program(random.Random(seed))
    program = dipc.load(source)
    box, other = clipped(program), boxed(read_program(source, Budget(10**6)), {})
    assert box is not None
    assert other is not None
    assert [side.width for side in box.ranges] == [other.width(name) for name in program.inputs]


@pytest.mark.parametrize(
    "body",
    [
        "out <- Lap(eps, min(max(x, 0), 1) + x)",
        "r <- x; out <- Lap(eps, min(max(r, 0), 1))",
        "if x >= 3 then out <- Lap(eps, min(max(x, 0), 1)) else out <- Lap(eps, 0) end",
        "out <- Lap(eps, max(x, 0) + min(x, 5))",
    ],
)
def test_the_checker_leaves_other_inputs_as_they_are(body: str) -> None:
    source = f"program p; input x : real; output out : real; var r : real; {body}"
    assert boxed(read_program(source, Budget(10**6)), {}) is None


def test_shifts_of_a_clipped_program_are_none_of_another() -> None:
    """The certificate of the clipped program, with a text in which one input is not clipped."""
    program = dipc.load(MEAN, n=2)
    engine = Engine(program.measurer, program.limits, keep_proofs=True)
    question = PrivacyQuestion(program, "hamming:1", "all", engine)
    text = certify_privacy(question, question.decide(read_claim(program, None, None, None)))
    assert check_text(text).complete
    data = samples.document(text)
    for worse in ("max(x[i], 0)", "x[i]", "min(max(x[i], 0), 2*B)"):
        source = MEAN.replace("min(max(x[i], 0), B)", worse)
        data["program"] |= {"text": source, "sha256": sha256(source.encode()).hexdigest()}
        try:
            accepted = check_text(samples.resealed(data))
        except Rejected:
            continue
        assert not accepted.complete


# --- every number of queries ----------------------------------------------------------------------------------------

SVT = """program svt; const m = 3; input q[1..m] : real; output o[1..m] : {0..2} = 2; var t, r : real;
t <- Lap(eps/2, 0);
for i in 1..m do r <- Lap(eps/4, min(max(q[i], 0), 1)); if r < t then o[i] <- 1; exit else o[i] <- 0 end end"""

LAPLACE = """program each; const m = 3, B = 2; input q[1..m] : real; output o[1..m] : real;
for i in 1..m do o[i] <- Lap(eps/B, min(max(q[i], 0), B)) end"""


@pytest.mark.parametrize(
    ("source", "adjacent", "expected"),
    [
        (SVT, "hamming:1", "1/4"),
        (SVT, "l1:1/2", "1/8"),
        (LAPLACE, "hamming:1", "1"),
        (LAPLACE, "hamming:2", "2"),
        (LAPLACE, "l1:5", "5/2"),
    ],
)
def test_every_number(source: str, adjacent: str, expected: str) -> None:
    program = dipc.load(source)
    engine = Engine(program.measurer, program.limits, keep_proofs=True)
    question = EveryNumber(program, "m", None, adjacent, engine, None)
    found = question.constant(None)
    assert found.proved == found.refuted_below == F(expected)
    accepted = check_text(certify_constant(question, found))
    assert accepted.complete
    for m in (1, 2, 3):
        single = constant(dipc.load(source, m=m), adjacent)
        assert single.refuted_below is not None
        assert single.refuted_below <= F(expected)


@pytest.mark.parametrize("adjacent", ["l1:5", "linf:3"])
def test_moves_are_bounded_by_the_widths(adjacent: str) -> None:
    """AboveThreshold is 1-private where queries move by at most 1, and clamped ones never move farther."""
    assert check_privacy_for_all(dipc.load(SVT), "m", adjacent).verdict is PrivacyVerdict.PRIVATE


def test_widths_that_depend_on_the_number_do_not_count() -> None:
    source = LAPLACE.replace("B = 2", "B = m").replace("eps/B", "eps")
    found = check_privacy_for_all(dipc.load(source), "m", "hamming:1", budget="5*eps")
    assert found.verdict is not PrivacyVerdict.PRIVATE


def test_a_variable_that_is_clamped_step_by_step() -> None:
    source = MEAN.replace("c <- min(max(x[i], 0), B)", "c <- x[i]; c <- max(c, 0); c <- min(c, B)")
    found = constant(dipc.load(source, n=50), "hamming:2")
    assert found.proved == found.refuted_below == F(2)
    assert check_text(certificate(source, "hamming:1", n=3)).complete
    between = source.replace("c <- max(c, 0);", "s <- s + c/100; c <- max(c, 0);")
    assert clipped(dipc.load(between)) is None


PYTHON = """
import dipc

@dipc.mechanism(n=4, B=10)
def mean(x: dipc.Reals["n"], B: dipc.Const, eps):
    total = 0
    for v in x:
        total += min(max(v, 0), B)
    return dipc.laplace(total / len(x), scale=B / (len(x) * eps))
"""


def test_python(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(PYTHON, encoding="utf-8")
    found = constant(dipc.load(f"{path}::mean", n=10), "hamming:1")
    assert found.proved == found.refuted_below == F(1)


@pytest.mark.parametrize("delta", ["0", "1/10", "1/2", "9/10"])
def test_pairs_beyond_the_box_have_the_laws_of_the_program(delta: str) -> None:
    """Outside of [5, 6] nothing changes: two inputs near 0 have one law, whatever pairs are tried."""
    source = "program p; input x : real; output o : bool; var r : real; r <- Lap(eps, min(max(x, 5), 6)); o <- r >= 3"
    question = PrivacyQuestion(
        dipc.load(source), "hamming:1", "all", Engine(dipc.load(source).measurer, dipc.load(source).limits)
    )
    found = question.decide(read_claim(question.program, "eps", delta, None))
    assert found.verdict is PrivacyVerdict.PRIVATE
    small = dipc.check_privacy(dipc.load(source), "hamming:1", inputs="x in {0, 1}", budget="eps/100")
    assert small.verdict is PrivacyVerdict.PRIVATE
    far = dipc.check_privacy(dipc.load(source), "hamming:1", inputs="all", budget="eps/100", delta=delta)
    if far.counterexample is not None:
        ends = (far.counterexample.input, far.counterexample.adjacent)
        one, two = (F(str(end["x"])) for end in ends)
        assert min(max(one, F(5)), F(6)) != min(max(two, F(5)), F(6))

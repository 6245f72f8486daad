"""Programs whose output is known, the meaning of every construct, and what goes wrong."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dipc
from dipc.simulation.batch import GivenUp
from dipc.simulation.compare import Agreement
from dipc.text.diagnostic import DiagnosticError
from tests.simulation.running import finals, shares, tally


def outputs(text, inputs=None, **options):
    """The only output of a program without randomness."""
    found = shares(text, inputs, runs=50, **options)
    assert len(found) == 1
    ((values, share),) = found.items()
    assert share == 1
    return values


def diagnosed(text, inputs=None, **options):
    with pytest.raises(DiagnosticError) as caught:
        tally(text, inputs, **{"runs": 500, **options})
    (diagnostic,) = caught.value.diagnostics
    excerpt = diagnostic.excerpt
    marked = excerpt.text[excerpt.column - 1 : excerpt.column - 1 + excerpt.length]
    return diagnostic, marked


# --- what expressions and statements mean ----------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1/3 + 1/3 + 1/3", "1"),
        ("(x + 1)*x - x/2", "5"),
        ("min(x, 1, 3) + max(x, 1, 3) + abs(-x)", "6"),
        ("-x + 2^3 - 1", "5"),
        ("x*0.1*15", "3"),
        ("k*h", "3"),
    ],
)
def test_arithmetic_is_exact(expression, expected):
    text = f"program p; const k = 6, h = k/12; input x : {{2}}; output o : {{-9..9}}; o <- {expression}"
    assert outputs(text, {"x": 2}) == (expected,)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x/10 + y/5 = 3/10", True),  # not so for binary floating-point numbers
        ("x/10 + y/5 <= 3/10", True),
        ("r/10 + r/5 = 3/10", True),
        ("r/10 + r/5 > 3/10", False),
        ("q + 1/10 >= 3/10", True),
        ("3*q = 3/5 and not (3*q != 3/5)", True),
        ("1e30*q + 1 > 1e30*q", True),
        ("c = blue", False),
        ("c != blue and c = red", True),
        ("b = true", False),
        ("not b or 1/(x - 1) > 0", True),
        ("b and 1/(x - 1) > 0", False),
        ("x < y and y <= 1 and x >= 1 and y != x", False),
    ],
)
def test_conditions_are_exact_and_look_no_further_than_needed(condition, expected):
    text = f"""program p; domain color = {{red, blue}}; input q : real; input x, y : {{0..2}}; input c : color;
        input b : bool; output o : bool; var r : real; r <- 1; o <- {condition}"""
    found = outputs(text, {"q": "1/5", "x": 1, "y": 1, "c": "red", "b": False})
    assert found == ("true" if expected else "false",)


def test_noise_that_cancels_leaves_an_exact_number():
    text = """program p; output o[1..3] : bool; var r, s : real; r <- Lap(eps, 0); s <- r + 1/3;
        o[1] <- 3*s - r - r - r = 1; o[2] <- s - 1/3 < r; o[3] <- r = r"""
    assert outputs(text) == ("true", "false", "true")


def test_constants_from_outside_change_everything_that_hangs_on_them():
    text = """program p; const m = 2, n = 2*m; domain d = {0..n}; output o[1..m] : d = n;
        for i in 1..m do o[i] <- n - i end"""
    assert outputs(text) == ("3", "2")
    assert outputs(text, constants={"m": 3}) == ("5", "4", "3")
    assert outputs(text, constants={"m": 3, "n": 9}) == ("8", "7", "6")


def test_for_goes_through_its_range_and_shadows_nothing():
    text = """program p; output o[0..3] : {0..9} = 9; var n : {0..9} = 0;
        for i in 1..3 do for j in i..2 do n <- n + 1; o[i] <- j end end; o[0] <- n;
        for i in 3..2 do o[0] <- 9 end"""
    assert outputs(text) == ("3", "2", "2", "9")


def test_an_empty_loop_costs_nothing():
    text = "program p; output o : {0..1} = 1; for i in 1..1000000000 do end"
    assert outputs(text) == ("1",)


def test_arrays_with_indices_that_differ_from_run_to_run():
    text = """program p; output x, y : {0..3}; output a[1..3] : {0..3} = 0; var b[1..3] : {0..3} = 2;
        x <- choose {1 : 1/3, 2 : 1/3, 3 : 1/3}; y <- choose {1 : 1/2, 3 : 1/2};
        a[x] <- y; a[y] <- a[x]; b[a[x]] <- a[a[x]]"""
    for values in shares(text):
        x, y, *a = map(int, values)
        expected = [0, 0, 0]
        expected[x - 1] = y
        expected[y - 1] = expected[x - 1]
        assert a == expected


def test_real_arrays_with_indices_that_differ_from_run_to_run():
    text = """program p; output x : {1..2}; output o : bool; var r[1..2] : real; var s : real;
        x <- choose {1 : 1/2, 2 : 1/2}; r[1] <- 5; r[2] <- Lap(eps, -100); s <- r[x] + 1;
        o <- s - r[x] = 1 and s > 0"""
    found = shares(text)
    assert set(found) == {("1", "true"), ("2", "false")}


def test_exit_ends_only_the_runs_that_reach_it():
    text = """program p; output o, x : {0..9} = 0; x <- choose {1 : 1/2, 2 : 1/2};
        for i in 1..4 do o <- i; if x = i then exit end end; o <- 9"""
    assert set(shares(text)) == {("1", "1"), ("2", "2")}
    assert outputs("program p; output o : {0..9} = 0; if true then exit; o <- 1 end; o <- 2") == ("0",)


def test_outputs_that_are_not_assigned_in_every_run():
    text = "program p; output o : {0..1}; var x : {0..1}; x <- choose {0 : 1/4, 1 : 3/4}; if x = 1 then o <- x end"
    found = shares(text)
    assert set(found) == {("1",), (None,)}
    assert found[None,] == pytest.approx(1 / 4, abs=0.03)


def test_only_the_finite_outputs_are_counted():
    text = "program p; output r : real; output z : int; output o : {0..1} = 1; r <- Lap(eps, 0); z <- DLap(eps, 0)"
    assert outputs(text) == ("1",)
    assert outputs("program p; output r : real; r <- Lap(eps, 0)") == ()


def test_ints_mix_with_domain_values():
    text = """program p; input x : {-3..3}; output z : int; output o[1..3] : bool; var w : int = 2;
        z <- 2*w - x*w + x; o[1] <- z = 3; o[2] <- z/2 > x; o[3] <- w <= x"""
    assert outputs(text, {"x": 1}) == ("true", "true", "false")


def test_the_ideal_and_the_claim_are_not_run():
    text = """program p; input q : real; output o : bool; var r : real;
        claim { alpha: 1; beta: exp(-eps); } ideal { o <- q > 0 } o <- q <= 0"""
    assert outputs(text, {"q": 1}) == ("false",)


# --- loops -----------------------------------------------------------------------------------------


def test_while_counts_rounds():
    text = "program p; output o : {0..50} = 0; while o < 37 do o <- o + 1 end"
    assert outputs(text) == ("37",)


def test_while_resamples_until_accepted():
    """Geometric on 1..., cut at 5: Pr[k] = (2/3)^(k-1)/3."""
    text = """program p; output n : {0..5} = 0; var go : bool = true;
        while go and n < 5 do n <- n + 1; go <- choose {true : 2/3, false : 1/3} end"""
    found = shares(text, runs=100_000)
    expected = [(2 / 3) ** (k - 1) / 3 for k in range(1, 5)] + [(2 / 3) ** 4]
    for k, share in enumerate(expected, start=1):
        assert found[str(k),] == pytest.approx(share, abs=0.01)


def test_exit_leaves_a_loop_for_good():
    text = """program p; output o, x : {0..3} = 0;
        while true do x <- choose {0 : 1/2, 1 : 1/4, 2 : 1/4}; if x = 1 then o <- 3; exit end;
          if x = 2 then o <- 2; exit end end; o <- 1"""
    found = shares(text, runs=50_000)
    assert set(found) == {("3", "1"), ("2", "2")}
    assert found["3", "1"] == pytest.approx(1 / 2, abs=0.02)


def test_a_comparison_of_reals_in_a_loop():
    text = """program p; output n : {0..9} = 0; var r : real; r <- Lap(eps, 0);
        while r < n - 1 and n < 9 do n <- n + 1 end"""
    found = shares(text, runs=50_000)
    assert set(found) == {("0",), ("9",)}
    assert found["0",] == pytest.approx(1 - np.exp(-1) / 2, abs=0.02)


def test_a_loop_that_does_not_end_is_given_up_with_the_runs_in_it():
    text = "program p; output o : bool; o <- choose {true : 1/2, false : 1/2}; while o do o <- true end"
    with pytest.raises(GivenUp) as caught:
        tally(text, runs=100, loop_limit=7)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E0720"
    assert "after 7 rounds of this `while`" in diagnostic.message
    assert "of 100 runs are still in it" in diagnostic.message
    assert any("o = true" in note for note in diagnostic.notes)


@pytest.mark.parametrize(("limit", "ends"), [(36, False), (37, True)])
def test_the_limit_counts_rounds(limit, ends):
    text = "program p; output o : {0..50} = 0; while o < 37 do o <- o + 1 end"
    if ends:
        assert tally(text, runs=3, loop_limit=limit).counts == {(37,): 3}
    else:
        with pytest.raises(GivenUp):
            tally(text, runs=3, loop_limit=limit)


# --- what goes wrong -------------------------------------------------------------------------------


def test_reading_what_has_no_value():
    text = """program p; output o : {0..1}; var x, y : {0..1}; x <- choose {0 : 1/2, 1 : 1/2};
if x = 1 then y <- 0 end;
o <- y + x"""
    diagnostic, marked = diagnosed(text)
    assert (diagnostic.code, marked, diagnostic.excerpt.line) == ("E0701", "o <- y + x", 3)
    assert any("x = 0" in note for note in diagnostic.notes)


def test_real_variables_without_a_value():
    text = "program p; output o : bool; var r[1..2] : real; var x : {1..2}; x <- choose {1 : 1/2, 2 : 1/2}; "
    diagnostic, marked = diagnosed(text + "r[1] <- 0; o <- r[x] > 0")
    assert (diagnostic.code, marked) == ("E0701", "o <- r[x] > 0")
    assert "`r[2]`" in diagnostic.message


def test_division_by_zero():
    text = (
        "program p; input x : {0..2}; output o : {0..9}; var y : {0..2}; y <- choose {0 : 1/2, 1 : 1/2}; o <- 1 + 2/y"
    )
    diagnostic, marked = diagnosed(text, {"x": 0})
    assert (diagnostic.code, marked) == ("E0702", "o <- 1 + 2/y")
    assert any("y = 0" in note for note in diagnostic.notes)
    assert tally(text.replace("0 : 1/2, 1 : 1/2", "2 : 1/2, 1 : 1/2"), {"x": 0}, runs=10).runs == 10


@pytest.mark.parametrize("index", ["x + 1", "x - 1", "x/2"])
def test_indices_out_of_range(index):
    text = f"program p; input x : {{0..3}}; output o : {{0..1}} = 0; var a[1..3] : {{0..1}} = 0; o <- a[{index}]"
    assert tally(text, {"x": 2}, runs=5).runs == 5
    diagnostic, marked = diagnosed(text, {"x": 1 if "/" in index else 3 if "+" in index else 0})
    assert (diagnostic.code, marked) == ("E0703", f"o <- a[{index}]")
    assert "outside `a[1..3]`" in diagnostic.message
    diagnostic, _ = diagnosed(
        text.replace(f"o <- a[{index}]", f"a[{index}] <- 1"), {"x": 1 if "/" in index else 3 if "+" in index else 0}
    )
    assert diagnostic.code == "E0703"


def test_values_outside_their_domain_are_told():
    text = "program p; output o : {0..3} = 2; for i in 1..5 do o <- o + 1 end"
    diagnostic, marked = diagnosed(text)
    assert (diagnostic.code, marked) == ("E0704", "o <- o + 1")
    assert "would become 4" in diagnostic.message
    assert any("o = 3" in note for note in diagnostic.notes)


def test_choose_and_exp_fault_only_where_they_are_used():
    text = """program p; input x : {0..2}; output o : {0..2};
        o <- choose { x : 1 - h, 1/x : h }"""
    assert tally("program p; const h = 0;" + text[10:], {"x": 0}, runs=20).runs == 20
    diagnostic, _ = diagnosed("program p; const h = 1/2;" + text[10:], {"x": 0})
    assert diagnostic.code == "E0702"
    scores = "program p; input x : {0..2}; output o : {0..2}; o <- Exp(eps, v in {0..2} : 1/(v - x))"
    diagnostic, _ = diagnosed(scores, {"x": 1})
    assert diagnostic.code == "E0702"
    assert any("x = 1" in note for note in diagnostic.notes)


@pytest.mark.parametrize("weights", ["1/2, 1/3", "eps, 1 - eps", "exp(-eps), 1/2", "3/2, -1/2"])
def test_weights_that_are_no_distribution_at_this_eps(weights):
    first, second = weights.split(", ")
    text = f"program p; output o : {{0..1}}; o <- choose {{0 : {first}, 1 : {second}}}"
    diagnostic, _ = diagnosed(text, eps="2")
    assert diagnostic.code == "E0721"
    if weights == "eps, 1 - eps":
        assert tally(text, eps="1/2", runs=10).runs == 10


def test_a_weight_without_a_value():
    text = "program p; output o : {0..1}; o <- choose {0 : 1/(eps - 1), 1 : 1 - 1/(eps - 1)}"
    assert diagnosed(text)[0].code == "E0722"


@pytest.mark.parametrize(
    ("distribution", "kind", "eps"),
    [("Lap(eps, 0)", "real", "1e-200"), ("DLap(eps, 0)", "int", "1e-20"), ("Expo(eps)", "real", "1e200")],
)
def test_rates_beyond_floats_are_refused(distribution, kind, eps):
    text = f"program p; output o : {kind}; o <- {distribution}"
    diagnostic, marked = diagnosed(text, eps=eps)
    assert (diagnostic.code, marked) == ("E0722", f"o <- {distribution}")


def test_large_rates_of_integers_are_no_noise():
    text = "program p; output o : int; output b : bool; o <- DLap(eps, 3); b <- o = 3"
    assert outputs(text, eps="1e100") == ("true",)


# --- means and huge numbers ------------------------------------------------------------------------


def test_small_noise_on_huge_numbers():
    text = """program p; input q, s : real; output o : bool; var r, t : real;
        r <- Lap(eps, q); t <- Lap(eps, s); o <- r > t"""
    found = shares(text, {"q": 10**40, "s": 10**40 + 1}, runs=50_000)
    expected = np.exp(-1) / 2 * (1 + 1 / 2)
    assert found["true",] == pytest.approx(expected, abs=0.02)


def test_values_of_reals_are_sums_of_what_was_drawn():
    values = finals("program p; output o : real; var r : real; r <- Lap(eps, 1); o <- 2*r + 3 - r", "o", runs=2000)
    same = finals("program p; output o : real; o <- Lap(eps, 1); o <- o + 3", "o", runs=2000)
    assert np.allclose(values, same)
    assert Fraction(1) not in set(values)


def test_a_program_read_at_one_eps_may_have_gaussian_noise():
    text = "program p; const c = 1/eps; output o : bool; var r : real; r <- Gauss(3*eps, c); o <- r > 1/eps + eps"
    program = dipc.load(text, eps="1/2")
    assert program.core.only_at == Fraction(1, 2)
    assert dipc.simulate(program, {}, "1/2", runs=20_000).agreement is Agreement.MATCH


def test_what_the_checker_does_not_read_is_given_up():
    with pytest.raises(GivenUp, match="cannot be simulated: irrational numbers are added"):
        tally("program p; output o : real; o <- Gauss(1 + sqrt(2), 0)")

"""`--for-all m`: proofs for every number of queries, against exact verdicts for the first few."""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest

import dipc
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.algebra.parametric import Parametric
from dipc.claims.claim import ClaimOptions, resolve_claim
from dipc.claims.table import Table
from dipc.decide.obligation import Verdict
from dipc.questions.every_number import all_numbers
from dipc.questions.every_number.in_number import ONE, InNumber, RationalFunction, Summands, constant, polynomial
from dipc.questions.every_number.loop_runs import Automaton
from dipc.questions.every_number.uniform import NotUniform, QueryNumber, uniform
from dipc.questions.every_number.union_bound import UnionBound, UnionProof, sums, union_of
from dipc.questions.question import ForAll, check_for_all
from dipc.questions.report import ClassResult, Method
from dipc.rules.rule import Requirement
from dipc.sign.interval import Interval
from dipc.text.diagnostic import DiagnosticError, SourceText
from dipc.text.parser import parse
from tests.questions.real_programs import (
    ABOVE_THRESHOLD,
    LAPLACE,
    NOISY_MAX,
    NUMERIC_SPARSE,
    SPARSE,
    SPARSE_VARIANT,
    check_all,
)

F = Fraction
OPEN = Requirement(F(0), F(1), F(0), F(0))


def for_all(source: str, **options: object) -> ForAll:
    constants = {name: options.pop(name) for name in ("c", "T") if name in options}
    return check_for_all(dipc.load(source, **constants), "m", **options)  # type: ignore[arg-type]


def reason(found: ForAll) -> str:
    (text,) = {row.reason for row in found.report.rows if row.reason}
    return text


CLAIMS = [
    (SPARSE, {}),
    (SPARSE, {"c": 2}),
    (SPARSE, {"T": "7/2"}),
    (SPARSE_VARIANT, {"c": 2}),
    (ABOVE_THRESHOLD, {}),
    (NOISY_MAX, {}),
    (NUMERIC_SPARSE, {}),
    (NUMERIC_SPARSE, {"c": 2}),
    (LAPLACE, {"gamma": "free"}),
    (LAPLACE, {"gamma": 3}),
]


@pytest.mark.parametrize(("source", "options"), CLAIMS)
def test_the_claims_of_the_literature_hold_for_every_number_of_queries(source: str, options: dict[str, object]) -> None:
    found = for_all(source, **options)
    assert found.report.verdict is Verdict.ACCURATE
    last = found.report.rows[-1]
    assert isinstance(last, ClassResult)
    assert last.note is not None
    assert last.note.method is Method.UNION
    assert last.note.conditions == (f"m >= {found.start}",)
    assert len(found.report.rows) == found.start - found.least + 1


SHARPER = [
    (SPARSE, {}, "2*m*c*exp(-alpha*eps/(8*c))/4"),
    (SPARSE, {}, "2*m*c*exp(-alpha*eps/(8*c))/6"),
    (SPARSE, {}, "min(1, 2*m*c*exp(-alpha*eps/(8*c))/4, 2)"),
    (NOISY_MAX, {}, "m*exp(-alpha*eps/2)/3"),
    (ABOVE_THRESHOLD, {}, "2*m*exp(-alpha*eps/8)/5"),
    (NUMERIC_SPARSE, {}, "(2*m + 1)*c*exp(-alpha*eps/(9*c))/2"),
    (LAPLACE, {"gamma": "free"}, "m*exp(-gamma*eps)*99/100"),
    (SPARSE, {}, "2*m*c*exp(-alpha*eps/(8*c))/7"),
    (NOISY_MAX, {}, "m*exp(-alpha*eps/2)/7"),
]


#: Those that are compared up to six queries.
SIX = {"2*m*c*exp(-alpha*eps/(8*c))/4", "m*exp(-alpha*eps/2)/3", "2*m*exp(-alpha*eps/8)/5", "m*exp(-gamma*eps)*99/100"}


@pytest.mark.parametrize(("source", "options", "beta"), SHARPER)
def test_what_is_said_of_every_number_agrees_with_the_exact_verdicts(
    source: str, options: dict[str, object], beta: str
) -> None:
    found = for_all(source, beta=beta, **options)
    exact = {
        m: check_all(dipc.load(source, m=m), beta=beta, **options).verdict  # type: ignore[arg-type]
        for m in (range(1, 7) if beta in SIX else range(1, 4))
    }
    if found.report.verdict is Verdict.ACCURATE:
        assert set(exact.values()) == {Verdict.ACCURATE}
    last = found.report.rows[-1]
    if last.verdict is Verdict.ACCURATE:
        assert all(verdict is Verdict.ACCURATE for m, verdict in exact.items() if m >= found.start)
    if found.report.verdict is Verdict.INACCURATE:
        assert Verdict.INACCURATE in exact.values()


def test_a_refutation_names_the_number_and_the_input() -> None:
    found = for_all(SPARSE, beta="2*m*c*exp(-alpha*eps/(8*c))/7")
    assert found.report.verdict is Verdict.INACCURATE
    first = next(found.report.select(Verdict.INACCURATE))
    assert isinstance(first, ClassResult)
    assert first.note is not None
    assert first.note.conditions[0] == "m = 1"
    assert first.input == {"q[1]": "1"}


def test_a_claim_from_some_number_on() -> None:
    """A sixth of beta is too little for fewer than three queries at small eps."""
    beta = "2*m*c*exp(-alpha*eps/(8*c))/6"
    assert for_all(SPARSE, beta=beta).report.verdict is Verdict.INACCURATE
    found = for_all(SPARSE, beta=beta, least=3)
    assert found.report.verdict is Verdict.ACCURATE
    assert found.least == 3


def test_small_t_is_left_to_a_beta_above_one() -> None:
    """Each comparison goes wrong with probability 1/2 at t = 0: m/2 exceeds m/3, but m/3 is at least 1 by then."""
    found = for_all(NOISY_MAX, beta="m*exp(-alpha*eps/2)/3")
    assert found.report.verdict is Verdict.ACCURATE
    assert found.start > 2


def test_the_terms_of_sparse() -> None:
    """One flip for each answer bot, with probability 2/3·e^{-t/4} - 1/6·e^{-t/2}, and one for the answer top."""
    program = dipc.load(SPARSE)
    union = union_of(program, "m", OPEN)
    assert (union.least, union.start) == (1, 2)
    flips = {(1 - program.measurer.measure(term)) for total in union.sums for term in (*total.fixed, *total.repeated)}
    assert flips == {ExpPoly.from_terms([(0, F(-1, 4), F(2, 3)), (0, F(-1, 2), F(-1, 6))])}
    assert {(len(total.fixed), len(total.repeated), total.once) for total in union.sums} == {(0, 1, 0), (1, 1, 1)}


def test_a_loop_that_begins_elsewhere() -> None:
    shifted_source = SPARSE.replace("[1..m]", "[5..m]").replace("1..m do", "5..m do").replace("m = 3", "m = 7")
    found = for_all(shifted_source)
    assert found.report.verdict is Verdict.ACCURATE
    assert (found.least, found.start) == (5, 6)


def changed(source: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new)
    return source


#: `c` grows with m, and so beta does not.
COMPUTED = changed(ABOVE_THRESHOLD, ("const m = 3", "const m = 3, c = m"))


@pytest.mark.parametrize(("given", "verdict"), [({}, Verdict.ACCURATE), ({"c": 3}, Verdict.INACCURATE)])
def test_constants_that_are_computed_from_the_number(given: dict[str, int], verdict: Verdict) -> None:
    """Each number has its own, as with -D, but for those that are given. 1 - 1/c says nothing of one query."""
    found = check_for_all(dipc.load(COMPUTED, **given), "m", beta="1/c").report  # type: ignore[arg-type]
    (first, *_) = found.rows
    alone = check_all(dipc.load(COMPUTED, m=1, **given), beta="1/c")  # type: ignore[arg-type]
    assert alone.verdict is first.verdict is verdict
    assert found.constants == {"m": "3", "T": "0"} | {name: str(value) for name, value in given.items()}


NOT_UNIFORM = {
    "a rate with m": (
        changed(SPARSE, ("Lap(eps/(4*c), q[i])", "Lap(eps/(4*c*m), q[i])")),
        "the rate eps/(4*m) of a noise falls",
    ),
    "a rate with a minimum": (changed(SPARSE, ("Lap(eps/(4*c), q[i])", "Lap(eps/min(m, 4), q[i])")), "a minimum"),
    "a rate of the index and m": (
        changed(SPARSE, ("Lap(eps/(4*c), q[i])", "Lap(eps/(4*c*m + i), q[i])")),
        "a rate depends on the index",
    ),
    "a constant of m": (
        changed(SPARSE, ("c = 1", "c = 1, k = m - 1"), ("if r >= rT", "if r >= rT + 0*k")),
        "computes with `m`",
    ),
    "a gamma of m": (
        changed(LAPLACE, ("const m = 2,", "const m = 2, k = m,"), ("gamma: 1;", "gamma: k;")),
        "gamma depends on `m`",
    ),
    "an index as a value": (
        changed(SPARSE, ("r <- Lap(eps/(4*c), q[i]);", "r <- Lap(eps/(4*c), q[i] + 0*i);")),
        "other than as an index",
    ),
    "a neighbor": (
        changed(ABOVE_THRESHOLD, ("r <- Lap(eps/4, q[i])", "r <- Lap(eps/4, q[1])")),
        "not indexed by `i` alone",
    ),
    "two loops": (
        changed(LAPLACE, ("for i in 1..m do out[i] <- Lap(eps/delta, q[i]) end\n", ""))
        + "for i in 1..m do out[i] <- 0 end; out[1] <- 1; "
        "for i in 1..m do out[i] <- Lap(eps/delta, q[i]) end",
        "`out` is used outside of the loop",
    ),
    "a step beyond": (
        changed(LAPLACE, ("for i in 1..m do out[i] <- Lap", "for i in 1..m - 1 + 1 do out[i] <- Lap")),
        "other",
    ),
    "a coin": (
        changed(SPARSE, ("r <- Lap(eps/(4*c), q[i]);", "r <- Lap(eps/(4*c), q[i]); count <- choose { count : 1 };")),
        "draws something other than real noise",
    ),
    "a memory of inputs": (
        changed(
            ABOVE_THRESHOLD,
            ("var rT, r : real;", "var rT, r : real; var last : real = 0;"),
            ("r <- Lap(eps/4, q[i]);", "r <- Lap(eps/4, q[i] + 0*last); last <- q[i];"),
        ),
        "",
    ),
    "a count without end": (
        changed(
            SPARSE,
            ("if count >= c then exit end;\n", ""),
            ("n <- n + 1; if n >= c then exit end", "n <- n + 1"),
        ),
        "new states",
    ),
    "another ideal": (
        changed(SPARSE, ("if q[i] >= T", "if q[i] >= T + 1")),
        "path through an iteration does not determine the outcome",
    ),
    "an ideal with the same answers": (
        changed(
            ABOVE_THRESHOLD,
            ("out[i] <- top; exit else out[i] <- bot end end }", "out[i] <- top else out[i] <- top end end }"),
        ),
        "the same answer",
    ),
    "an answer of all inputs together": (
        """
        program any; const m = 2; input q[1..m] : real; output out : {0..1} = 0; var r : real;
        ideal { for i in 1..m do if q[i] >= 0 then out <- 1 end end }
        claim { alpha: dd; beta: m*exp(-alpha*eps); }
        for i in 1..m do r <- Lap(eps, q[i]); if r >= 0 then out <- 1 end end
        """,
        "the same answer",
    ),
    "beta with m in the exponent": (
        changed(SPARSE, ("2*m*c*exp(-alpha*eps/(8*c))", "2*exp(-m*alpha*eps)")),
        "the exponents of beta grow",
    ),
    "beta that divides by the distance": (
        changed(SPARSE, ("2*m*c*exp(-alpha*eps/(8*c))", "2*m*c + 1/(1 + alpha*eps)")),
        "divides by a distance",
    ),
    "beta with a minimum": (
        changed(SPARSE, ("2*m*c*exp(-alpha*eps/(8*c))", "min(1/2, 2*m*c*exp(-alpha*eps/8))")),
        "minimum",
    ),
    "gamma with m": (changed(SPARSE, ("gamma: 0", "gamma: m - m")), "gamma depends on `m`"),
    "eps with m": (changed(SPARSE, ("gamma: 0;", "gamma: 0; eps: (0, m);")), "interval of eps depends on `m`"),
    "a selection of sums": (
        changed(NOISY_MAX, ("r <- Lap(eps/2, q[i]);", "r <- Lap(eps/2, q[i] + q[1]);")),
        "",
    ),
    "a selection by the rate of the index": (
        changed(NOISY_MAX, ("r <- Lap(eps/2, q[i]);", "r <- Lap(eps/(2*i), q[i]);")),
        "",
    ),
    "a selection of the least": (changed(NOISY_MAX, ("if r > best", "if r < best")), ""),
}


@pytest.mark.parametrize("name", NOT_UNIFORM)
def test_programs_that_are_not_uniform_are_refused_with_the_condition(name: str) -> None:
    source, expected = NOT_UNIFORM[name]
    found = for_all(source)
    last = found.report.rows[-1]
    assert last.verdict is Verdict.UNDECIDED
    assert last.reason is not None
    assert expected in last.reason


@pytest.mark.parametrize("limit", ["iterations", "heads", "paths"])
def test_past_a_limit_it_is_named(limit: str) -> None:
    program = dipc.load(SPARSE, c=2).with_limits(Limits(**{limit: 1}))
    last = check_for_all(program, "m").report.rows[-1]
    assert last.verdict is Verdict.UNDECIDED
    assert last.reason is not None
    assert last.reason.endswith(f"(limit `{limit}`)")


def test_programs_that_are_wrong_are_refuted_at_a_small_number_all_the_same() -> None:
    assert for_all(NOT_UNIFORM["another ideal"][0]).report.verdict is Verdict.INACCURATE
    assert for_all(NOT_UNIFORM["a selection of the least"][0]).report.verdict is Verdict.INACCURATE


def test_a_selection_of_the_least_on_both_sides_is_not_covered_but_exact_for_small_numbers() -> None:
    source = NOT_UNIFORM["a selection of the least"][0].replace("if q[i] > high", "if q[i] < high")
    found = for_all(source)
    assert found.report.verdict is not Verdict.INACCURATE


@pytest.mark.parametrize("low", ["1", "5"])
def test_a_selection_with_two_rates_has_its_own_terms(low: str) -> None:
    """The first value is drawn at another rate: then it loses, or wins, with other probabilities."""
    other = str(int(low) + 1)
    source = changed(
        NOISY_MAX,
        ("q[1..m]", f"q[{low}..m]"),
        ("{1..m} = 1", f"{{{low}..m}} = {low}"),
        ("high <- q[1]", f"high <- q[{low}]"),
        ("best <- Lap(eps/2, q[1])", f"best <- Lap(eps/5, q[{low}])"),
        ("2..m", f"{other}..m"),
        ("m = 3", "m = 8"),
        ("beta: m*exp(-alpha*eps/2)", "beta: m*exp(-alpha*eps/5)"),
    )
    found = for_all(source)
    assert found.report.verdict is Verdict.ACCURATE
    assert found.least == int(low)


def test_a_wrong_selection_bound_would_be_noticed() -> None:
    """The sum of the terms is at least the exact error, for several m and t."""
    program = dipc.load(NOISY_MAX)
    union = union_of(program, "m", OPEN)
    for m in (3, 4, 5):
        exact = dipc.load(NOISY_MAX, m=m).probability(
            {"q[1]": 2, **{f"q[{i}]": 0 for i in range(2, m + 1)}}, {"out": 1}
        )
        for total in union.sums:
            fixed = sum(((1 - program.measurer.measure(term)) for term in total.fixed), ExpPoly.ZERO)
            repeated = sum(((1 - program.measurer.measure(term)) for term in total.repeated), ExpPoly.ZERO)
            bound = fixed + (m - total.once) * repeated
            for t in (F(1, 4), F(2), F(9)):
                low, high = bound.enclosure(t)
                assert 1 - exact.enclosure(t)[1] <= high
                assert 1 - float(exact.enclosure(t)[0]) > float(low) / m  # nor is it absurdly large


# --- parts ---------------------------------------------------------------------------------------------------


def test_the_criterion_finds_the_loops_and_their_arrays() -> None:
    tree = parse(SourceText("p", SPARSE))
    shape = uniform(tree, QueryNumber("m"))
    assert shape.arrays == {"q", "out"}
    assert shape.low == 1
    with pytest.raises(NotUniform, match="exactly one loop"):
        uniform(tree, QueryNumber("c"))


@pytest.mark.parametrize(
    ("text", "coefficients"),
    [
        ("2*m*exp(-alpha*eps)", {1: "2*exp(-eps)"}),
        ("(m + 1)^2/4 - m", {0: "1/4", 1: "-1/2", 2: "1/4"}),
        ("-(m - 3)*(1 - eps*alpha)", {0: "3 - 3*eps", 1: "-1 + eps"}),
        ("exp(-alpha*eps)", {0: "exp(-eps)"}),
    ],
)
def test_polynomials_in_the_number_of_queries(text: str, coefficients: dict[int, str]) -> None:
    program = dipc.load(SPARSE)
    claim = resolve_claim(program.core, Table("", (), frozenset(), {}), ClaimOptions(beta=text))
    assert claim.beta is not None
    found, moved = (polynomial(evaluation(), claim.beta.tree, start) for start in (0, 3))
    flat = {power: value.flat() for power, value in found.items()}
    for power in flat.keys() | coefficients.keys():
        expected = resolve_claim(
            program.core, Table("", (), frozenset(), {}), ClaimOptions(beta=coefficients.get(power, "0"))
        ).beta
        assert expected is not None
        assert flat.get(power, ExpPoly.ZERO) == expected.evaluate({}).flat()
    for m in (3, 4, 7):
        direct = claim.beta.evaluate({"alpha": Parametric.number(1), "m": Parametric.number(m)}).flat()
        total = Parametric.number(0)
        for power, value in moved.items():
            total = total + value * Parametric.number((m - 3) ** power)
        assert total.flat() == direct


def evaluation() -> InNumber:
    return InNumber("beta", "m", {"alpha": constant(F(1))}, ONE)


@pytest.mark.parametrize("text", ["exp(-m*eps)", "1/m", "max(m, 1)", "m^9"])
def test_what_is_no_polynomial_is_refused(text: str) -> None:
    program = dipc.load(SPARSE)
    claim = resolve_claim(program.core, Table("", (), frozenset(), {}), ClaimOptions(beta=text))
    assert claim.beta is not None
    with pytest.raises(NotUniform):
        polynomial(evaluation(), claim.beta.tree, 1)


def test_an_unknown_constant_is_refused() -> None:
    with pytest.raises(DiagnosticError) as caught:
        check_for_all(dipc.load(SPARSE), "k")
    assert caught.value.diagnostics[0].code == "E1207"


def test_no_run_in_agreement_proves_nothing() -> None:
    with pytest.raises(NotUniform, match="no run gives the ideal's answer"):
        sums(Automaton(before=(), iterations=((),), endings=((),)), 1, 10)
    with pytest.raises(ValueError, match="over no run"):
        UnionBound(frozenset(), 1, 1)


#: Inputs that belong to no query: a threshold, and whether to go on after the first answer above it.
FINITE = """
program finite;
const m = 3;
domain answer = {none, bot, top};
input q[1..m] : real;
input T : {0..2};
input once : bool;
output out[1..m] : answer = none;
var t, r : real;
claim { alpha: dd; beta: 2*m*exp(-alpha*eps/8); }
ideal { for i in 1..m do if q[i] >= T then out[i] <- top; if once then exit end else out[i] <- bot end end }
t <- Lap(eps/2, T);
for i in 1..m do
  r <- Lap(eps/4, q[i]);
  if r >= t then out[i] <- top; if once then exit end else out[i] <- bot end
end
"""


@pytest.mark.parametrize(
    ("source", "beta", "verdict"),
    [
        (FINITE, "2*m*exp(-alpha*eps/8)", Verdict.ACCURATE),
        (FINITE, "m*exp(-alpha*eps/8)/2", Verdict.ACCURATE),
        (FINITE, "2*m*exp(-alpha*eps/8)/9", Verdict.INACCURATE),
        (changed(FINITE, ("t <- Lap(eps/2, T)", "if T = 1 then t <- Lap(eps/9, T) else t <- Lap(eps/2, T) end")),
         "m*exp(-alpha*eps/8)/2", Verdict.INACCURATE),
        (changed(FINITE, ("input q[1..m]", "input b[1..m] : bool; input q[1..m]")), "2*m*exp(-alpha*eps/8)",
         Verdict.ACCURATE),
    ],
)  # fmt: skip
def test_finite_inputs_that_belong_to_no_query(source: str, beta: str, verdict: Verdict) -> None:
    found = for_all(source, beta=beta)
    assert found.report.verdict is verdict
    exactly = [dipc.check(dipc.load(source, m=m), inputs="all", beta=beta).verdict for m in range(1, 4)]
    assert (Verdict.INACCURATE in exactly) is (verdict is Verdict.INACCURATE)


@pytest.mark.parametrize(
    "declared", ["input k : {0..m};", "domain few = {0..m}; input k : few;", "input k : few; domain few = {0..m};"]
)
def test_inputs_that_have_more_values_for_greater_numbers(declared: str) -> None:
    """A value that no small number of queries has leaves the claim undecided."""
    source = changed(
        FINITE,
        ("input T : {0..2};", f"input T : {{0..2}}; {declared}"),
        ("r <- Lap(eps/4, q[i])", "if k >= 7 then r <- Lap(eps/99, q[i]) else r <- Lap(eps/4, q[i]) end"),
    )
    found = for_all(source)
    assert found.report.verdict is Verdict.UNDECIDED
    assert "the number of values of an input" in reason(found)


#: Every other query gets half of the noise, or every third one: the loop comes back to its states in turn.
TURNS = """
program turns;
const m = 3;
input q[1..m] : real;
output out[1..m] : {0, 1} = 0;
var turn : {0..2} = 0;
var r : real;
claim { alpha: dd; beta: m*exp(-alpha*eps/2)/2; }
ideal { for i in 1..m do if q[i] >= 0 then out[i] <- 1 end end }
for i in 1..m do
  if turn = 0 then r <- Lap(eps, q[i]) else r <- Lap(eps/2, q[i]) end;
  if r >= 0 then out[i] <- 1 end;
  if turn = 1 then turn <- 0 else turn <- turn + 1 end
end
"""


@pytest.mark.parametrize("period", [2, 3])
@pytest.mark.parametrize(
    ("beta", "verdict"),
    [
        ("m*exp(-alpha*eps/2)/2", Verdict.ACCURATE),
        ("m*exp(-alpha*eps/4)/2", Verdict.ACCURATE),
        ("m*exp(-alpha*eps/2)/4", Verdict.INACCURATE),
        ("m*exp(-alpha*eps)/2", Verdict.INACCURATE),
    ],
)
def test_loops_that_take_turns(period: int, beta: str, verdict: Verdict) -> None:
    """Cycles of several states: the most probable iteration of a cycle bounds them all."""
    text = TURNS.replace("turn = 1 then", f"turn = {period - 1} then")
    found = for_all(text, beta=beta)
    assert found.report.verdict is verdict
    exactly = [dipc.check(dipc.load(text, m=m), inputs="all", beta=beta).verdict for m in range(1, 5)]
    assert (Verdict.INACCURATE in exactly) is (verdict is Verdict.INACCURATE)


#: A threshold, and comparisons that share a budget; the constant `c` may be m.
SPLIT = """
program split;
const m = 3, c = 1;
input q[1..m] : real;
output out[1..m] : {0, 1} = 0;
var r, t : real;
claim { alpha: dd; beta: m*exp(-alpha*eps/(8*m)); }
ideal { for i in 1..m do if q[i] >= 0 then out[i] <- 1 end end }
t <- Lap(eps/2, 0);
for i in 1..m do r <- Lap(eps/(4*m), q[i]); if r >= t then out[i] <- 1 end end
"""

#: What is left open for every m: with one-sided noise on the side that helps, a greater rate is less help.
SPLIT_BUDGETS = [
    (SPLIT, {}, Verdict.ACCURATE),
    (SPLIT, {"beta": "m*exp(-alpha*eps/(8*m))/2"}, Verdict.ACCURATE),
    (SPLIT, {"beta": "m*exp(-alpha*eps/(3*m))"}, Verdict.INACCURATE),
    (SPLIT, {"beta": "m*exp(-alpha*eps/8)"}, Verdict.INACCURATE),
    (SPLIT, {"beta": "min(1, 2*m*exp(-alpha*eps/(8*m)))"}, Verdict.ACCURATE),
    (SPLIT, {"beta": "exp(-alpha*eps/4)/2 + m*exp(-alpha*eps/(8*m))/2"}, Verdict.ACCURATE),
    (SPLIT, {"beta": "m*exp(-alpha*eps/(8*m)) - exp(-alpha*eps/4)/2"}, Verdict.UNDECIDED),
    (SPLIT, {"beta": "m*exp(-alpha*eps/(8*m)) + (m - 3)*exp(-alpha*eps/4)"}, Verdict.INACCURATE),
    (SPLIT, {"alpha": 2, "beta": "m*exp(-alpha*eps/(8*m))"}, Verdict.ACCURATE),
    (SPLIT, {"alpha": 2, "beta": "m*exp(-alpha*eps/(8*m))", "eps": "[1, 3)"}, Verdict.ACCURATE),
    (changed(SPLIT, ("c = 1", "c = m"), ("(4*m)", "(4*c)"), ("(8*m)", "(8*c)")), {}, Verdict.ACCURATE),
    (changed(SPLIT, ("c = 1", "c = (m + 1)/2"), ("(4*m)", "(8*c)"), ("(8*m)", "(8*(m + 1))")), {}, Verdict.ACCURATE),
    (changed(SPLIT, ("Lap(eps/2, 0)", "Expo(eps/m)")), {"beta": "2*m*exp(-alpha*eps/(8*m))"}, Verdict.ACCURATE),
    (changed(SPLIT, ("Lap(eps/2, 0)", "Expo(eps/2)")), {"beta": "2*m*exp(-alpha*eps/(8*m))"}, Verdict.UNDECIDED),
    (changed(SPLIT, ("Lap(eps/2, 0)", "Lap(eps/(m - 2), 0)")), {}, Verdict.UNDECIDED),
    (NOISY_MAX.replace("eps/2,", "eps/(2*m),"), {"beta": "m*exp(-alpha*eps/(2*m))"}, Verdict.ACCURATE),
    (NOISY_MAX, {"beta": "m*exp(-alpha*eps/(2*m))"}, Verdict.ACCURATE),
    (LAPLACE.replace("eps/delta", "eps/m"), {"gamma": "free", "beta": "m*exp(-gamma*eps/m)"}, Verdict.ACCURATE),
    (LAPLACE.replace("eps/delta", "eps/m"), {"gamma": "free", "beta": "m*exp(-gamma*eps/m)/2"}, Verdict.INACCURATE),
    (LAPLACE.replace("eps/delta", "eps*m"), {"gamma": "free", "beta": "m*exp(-gamma*eps)"}, Verdict.ACCURATE),
]


@pytest.mark.parametrize(("source", "options", "verdict"), SPLIT_BUDGETS)
def test_rates_that_depend_on_the_number(source: str, options: dict[str, object], verdict: Verdict) -> None:
    found = for_all(source, **options)
    assert found.report.verdict is verdict
    exactly = {m: exact_verdict(source, m, options) for m in range(1, 5)}
    assert (Verdict.INACCURATE in exactly.values()) is (verdict is Verdict.INACCURATE)
    if found.report.rows[-1].verdict is Verdict.ACCURATE:
        assert {exactly[m] for m in exactly if m >= found.start} <= {Verdict.ACCURATE}


def exact_verdict(source: str, m: int, options: dict[str, object]) -> Verdict:
    """The verdict for one number, where there is a program for it."""
    try:
        return dipc.check(dipc.load(source, m=m), inputs="all", **options).verdict  # type: ignore[arg-type]
    except DiagnosticError:
        return Verdict.UNDECIDED


def test_the_unit_of_a_split_budget() -> None:
    """The rate of the threshold grows with m in multiples of eps/m, and the rate of the queries stays fixed."""
    program = dipc.load(SPLIT)
    union = union_of(program, "m", OPEN)
    assert union.rates is not None
    in_shares, in_eps = (
        UnionProof(tuple(union.sums), union.rates, scale, lambda _: {}, ())
        for scale in (RationalFunction.number(), ONE)
    )
    assert in_shares.holds_from(1)
    assert not in_eps.holds_from(1)
    terms = {term for total in union.sums for term in in_shares.with_rates(total, 6).terms}
    assert {tuple(sorted(noise.rate for noise in term.noises)) for term in terms} == {(F(1, 4), 3)}
    assert in_shares.of_variable((Interval.open(1, 6),), 2) == (Interval.open(0, 3),)


@pytest.mark.parametrize(
    ("numerator", "denominator", "positive", "grows"),
    [([0, 1], [1], True, True), ([1], [0, 1], True, False), ([-5, 1], [1, 1], False, True),
     ([1], [-3, 1], False, False), ([0, -1], [-1, -1], True, True), ([2], [1], True, True)],
)  # fmt: skip
def test_quotients_of_polynomials(numerator: list[int], denominator: list[int], positive: bool, grows: bool) -> None:
    ratio = RationalFunction.reduced(flint.fmpq_poly(numerator), flint.fmpq_poly(denominator))
    assert ratio.is_positive_from(1) is positive
    assert ratio.never_falls_from(1) is grows
    assert ratio.value_at(7) == F(
        sum(c * 7**k for k, c in enumerate(numerator)), sum(c * 7**k for k, c in enumerate(denominator))
    )


LOGARITHMS = [
    ("m*exp(log(3) - alpha*eps/2)", Verdict.ACCURATE),
    ("m*log(3)*exp(-alpha*eps/2)", Verdict.ACCURATE),
    ("m*exp(log(1/9) - alpha*eps/2)", Verdict.INACCURATE),
]


@pytest.mark.parametrize(("beta", "verdict"), LOGARITHMS)
def test_transcendental_numbers_beside_the_number_that_is_left_open(beta: str, verdict: Verdict) -> None:
    assert for_all(NOISY_MAX, beta=beta).report.verdict is verdict


@pytest.mark.parametrize("beta", ["exp(log(m) - alpha*eps/2)", "log(9*m)*exp(-alpha*eps/2)", "(m - 4)*exp(-2)"])
def test_a_logarithm_has_no_value_of_the_number_that_is_left_open(beta: str) -> None:
    """The value that the text gives it is one of many."""
    with pytest.raises(DiagnosticError) as caught:
        for_all(NOISY_MAX, beta=beta)
    assert caught.value.diagnostics[0].code == "E0615"


#: Queries that are not asked, and thresholds and noise of their own for the others.
OWN = """
program own;
const m = 2;
input q[1..m] : real;
input asked[1..m] : bool;
input T[1..m] : {0, 2};
output out[1..m] : {0..2} = 0;
var r : real;
claim { alpha: dd; beta: m*exp(-alpha*eps/4)/2; }
ideal { for i in 1..m do if asked[i] then if q[i] >= T[i] then out[i] <- 2 else out[i] <- 1 end end end }
for i in 1..m do
  if T[i] = 0 then r <- Lap(eps/2, q[i]) else r <- Lap(eps/4, q[i]) end;
  if asked[i] then if r >= T[i] then out[i] <- 2 else out[i] <- 1 end end
end
"""


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        (OWN, Verdict.ACCURATE),
        (changed(OWN, ("eps/4)/2", "eps/4)/3")), Verdict.INACCURATE),
        (changed(OWN, ("alpha*eps/4)", "alpha*eps/2)")), Verdict.INACCURATE),
        (changed(OWN, ("if asked[i] then if r", "if not asked[i] then if r")), Verdict.INACCURATE),
        (changed(OWN, ("r >= T[i]", "r >= 0")), Verdict.INACCURATE),
        (changed(OWN, ("eps/4, q[i])", "eps/(2*m), q[i])"), ("alpha*eps/4)", "alpha*eps/(2*m))")), Verdict.ACCURATE),
    ],
)
def test_finite_inputs_of_each_query(source: str, verdict: Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_numbers, "MOST_TRIED", 1)  # Four queries have 256 values of the finite inputs.
    found = for_all(source)
    assert found.report.verdict is verdict
    exactly = [exact_verdict(source, m, {}) for m in (1, 2)]
    assert (Verdict.INACCURATE in exactly) is (verdict is Verdict.INACCURATE)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (changed(OWN, ("T[1..m] : {0, 2}", "T[1..m] : {0..m}")), "the number of values of an input"),
        (changed(OWN, ("var r : real;", "var r : real; var n : {0..9} = 0;"),
                 ("if asked[i] then if r", "if asked[i] then n <- n + 1; if r")), "outside its domain"),
    ],
)  # fmt: skip
def test_finite_inputs_of_each_query_that_are_not_covered(source: str, expected: str) -> None:
    program = dipc.load(source)
    with pytest.raises(NotUniform, match=expected):
        union_of(program, "m", OPEN)


# --- which number breaks a claim -------------------------------------------------------------------------------

#: The noise of each query has a rate that falls with the number of queries.
FALLING = """
program split;
const m = 2;
input q[1..m] : real;
output out[1..m] : {0, 1} = 0;
var r : real;
ideal { for i in 1..m do if q[i] >= 0 then out[i] <- 1 end end }
for i in 1..m do
  r <- Lap(eps/(2*m), q[i]);
  if r >= 0 then out[i] <- 1 end
end
"""


@pytest.mark.parametrize(
    ("rate", "beta", "number"),
    [
        ("eps/(2*m)", "16*m*exp(-alpha*eps/8)", 5),
        ("eps/(3*m)", "100*m*exp(-alpha*eps/16)", 6),
        ("eps", "64*exp(-alpha*eps*m/4)", 5),
        ("eps/(m + 1)", "64*m*exp(-alpha*eps*m/20)", 5),
    ],
)
def test_the_rates_say_which_number_breaks_the_claim(rate: str, beta: str, number: int) -> None:
    report = for_all(changed(FALLING, ("eps/(2*m)", rate)), beta=beta).report
    assert report.verdict is Verdict.INACCURATE
    first = next(report.select(Verdict.INACCURATE))
    assert isinstance(first, ClassResult)
    assert first.note is not None
    assert first.note.conditions[0] == f"m = {number}"


@pytest.mark.parametrize(
    ("rate", "beta", "faster", "number"),
    [
        (
            "eps/(2*m)",
            "m*exp(-alpha*eps/1600)",
            "the rate eps/(2*m) of a noise falls, and the exponents of beta do not",
            801,
        ),
        ("eps", "m*exp(-alpha*eps*m/800)", "the exponents of beta grow, and the rate eps of a noise does not", 801),
        (
            "eps/(m^2 + m)",
            "m*exp(-alpha*eps/(800*m))",
            "the rate eps/(m^2 + m) of a noise falls faster than the exponents of beta",
            800,
        ),
    ],
)
def test_what_grows_faster_than_what(rate: str, beta: str, faster: str, number: int) -> None:
    found = for_all(changed(FALLING, ("eps/(2*m)", rate)), beta=beta)
    assert found.report.verdict is Verdict.UNDECIDED
    assert reason(found) == (
        f"no union bound: as `m` grows {faster}: at m = {number} the bound is greater than beta for large alpha*eps, "
        "and the program is not explored for so many queries"
    )


@pytest.mark.parametrize(
    ("source", "beta", "number"),
    [
        (FALLING, "m*exp(-alpha*eps/40)", 21),
        (changed(FALLING, ("eps/(2*m)", "eps")), "m*exp(-alpha*eps*m/20)", 21),
        (changed(NOISY_MAX, ("eps/2", "eps/(2*m)")), "16*m*exp(-alpha*eps/8)", 9),
        (changed(NOISY_MAX, ("eps/2", "eps/(2*m)")), "16*m*exp(-alpha*eps/16)", 17),
    ],
)
def test_many_queries_are_refuted_at_one_input(source: str, beta: str, number: int) -> None:
    """A claim that fails only for many queries is refuted at an input like the hardest ones of few."""
    found = check_for_all(dipc.load(source), "m", beta=beta, alpha="dd", keep_proofs=True)
    (row,) = found.report.select(Verdict.INACCURATE)
    assert isinstance(row, ClassResult)
    assert row.note is not None
    assert row.note.conditions == (f"m = {number}",)
    alone = dipc.load(source, m=number)
    own = ", ".join(f"{name} = {value}" for name, value in row.input.items())
    assert dipc.check(alone, inputs=own, beta=beta, alpha="dd").verdict is Verdict.INACCURATE


@pytest.mark.parametrize(
    ("above", "below", "text"),
    [
        (constant(F(1)), constant(F(1)), "eps"),
        (constant(F(1)), {(): RationalFunction.number() * RationalFunction.constant(2)}, "eps/(2*m)"),
        (constant(F(3)), {(): RationalFunction.number()}, "3*eps/m"),
        (
            {(): RationalFunction.number() * RationalFunction.number() + RationalFunction.constant(F(-1, 2))},
            constant(F(3)),
            "(2*m^2 - 1)*eps/6",
        ),
    ],
)
def test_rates_are_written_as_people_write_them(above: Summands, below: Summands, text: str) -> None:
    assert (above[()] / below[()]).text("m") == text


# --- queries from 0 ----------------------------------------------------------------------------------------------


def from_zero(source: str) -> str:
    """The same program with queries from 0 to m - 1."""
    changes = (("1..m]", "0..m - 1]"), ("1..m do", "0..m - 1 do"), ("2..m do", "1..m - 1 do"), ("q[1]", "q[0]"))
    for old, new in (*changes, ("{1..m} = 1", "{0..m - 1} = 0"), ("1..m:", "0..m - 1:")):
        source = source.replace(old, new)
    assert "0..m - 1" in source
    return source


@pytest.mark.parametrize("source", [SPARSE, ABOVE_THRESHOLD, NOISY_MAX, NUMERIC_SPARSE, FALLING])
def test_queries_from_0_are_those_from_1(source: str) -> None:
    beta = {"beta": "16*m*exp(-alpha*eps/(8*m))"} if source == FALLING else {}
    one, other = for_all(source, **beta), for_all(from_zero(source), **beta)
    assert one.report.verdict is other.report.verdict is Verdict.ACCURATE
    assert (one.least, one.start) == (other.least, other.start)
    wrong = {"beta": "2*exp(-alpha*eps/2)"}
    refuted = [for_all(text, **wrong).report.verdict for text in (source, from_zero(source))]
    assert refuted[0] is refuted[1]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("{0..m - 1}", "{0..m}", "the loop keeps its index, and goes on"),  # more values than indices
        ("q[0..m - 1]", "q[0..m]", "the loop keeps its index, and goes on"),  # it ends elsewhere
        ("out <- i", "out <- 0 + i", "the loop uses its index other than to name"),  # a value is made of an index
    ],
)
def test_queries_from_0_with_other_ends_are_not_covered(old: str, new: str, reason: str) -> None:
    source = changed(from_zero(NOISY_MAX), (old, new))
    with pytest.raises(NotUniform, match=reason):
        union_of(dipc.load(source, m=3), "m", OPEN)


@pytest.mark.parametrize(
    ("program", "beta", "numbers", "least"),
    [
        ("gaussian_sparse.dip", "m*c*exp(-alpha*eps/(8*c))/3", "m >= 3", 3),
        ("gaussian_noisy_max.dip", "m*exp(-alpha*eps/2)/4", "m", 1),
    ],
)
def test_normal_noise_and_every_number_of_queries(program: str, beta: str, numbers: str, least: int) -> None:
    """A claim with normal noise is proved from some number on, at each t where beta is less than 1.

    No closed form tells where the union bound fails.
    """
    found = dipc.load(f"benchmarks/{program}")
    report = dipc.check(found, inputs="all", for_all=numbers, beta=beta)
    assert report.verdict is Verdict.ACCURATE
    for m in range(least, least + 5):
        given = dipc.load(f"benchmarks/{program}", m=m)
        assert dipc.check(given, inputs="all", beta=beta).verdict is Verdict.ACCURATE


def test_normal_noise_and_a_claim_that_fails_for_one_query() -> None:
    """Beta is less than 1/2 for every t at m = 1, while the probability of an error is 1/2 next to t = 0."""
    report = dipc.check(
        dipc.load("benchmarks/gaussian_sparse.dip"), inputs="all", for_all="m", beta="m*exp(-alpha*eps/8)/3"
    )
    assert report.verdict is Verdict.INACCURATE


def test_no_distance_leaves_any_input_of_a_finite_class() -> None:
    """A finite class without inputs at any distance is decided: nothing is divided by its number of half-spaces."""
    text = """program scores; const m = 2; input s[1..m] : {0..1}; output answer : {1..m};
    ideal { var b : {0..1} = 0; answer <- 1; b <- s[1];
            for i in 2..m do if s[i] > b then answer <- i; b <- s[i] end end }
    claim { alpha: dd; beta: exp(-alpha*eps/2)/2; }
    answer <- Exp(eps/2, k in {1..m} : s[k])"""
    report = dipc.check(text, inputs="all", for_all="m")
    assert report.verdict is not Verdict.ACCURATE


#: The inputs of each query are finite: dd is an integer, and the noise has to cross half a step less.
STEPS = """
program steps; const m = 3; input q[1..m] : {0..2}; output out[1..m] : bool = false;
ideal { for i in 1..m do out[i] <- q[i] >= 2 end }
claim { alpha: dd; beta: m*exp(-(alpha - 1/2)*eps/2); }
var r : real;
for i in 1..m do r <- Lap(eps/2, q[i]); if r >= 3/2 then out[i] <- true end end
"""


@pytest.mark.parametrize("beta", ["m*exp(-alpha*eps/2)", "m*exp(-(alpha - 1/2)*eps/2)", "m*exp(-alpha*eps/4)/2"])
def test_finite_inputs_are_decided_for_small_numbers_as_for_one(beta: str) -> None:
    rows = for_all(STEPS, beta=beta).report.rows
    for m in (1, 2):
        single = dipc.check(dipc.load(STEPS, m=m), beta=beta).verdict
        own = [
            row for row in rows if isinstance(row, ClassResult) and row.note and row.note.conditions[0] == f"m = {m}"
        ]
        assert {row.verdict for row in own} == {single} or not own
    assert any(row.verdict is not Verdict.UNDECIDED for row in rows)


def test_inputs_decided_one_by_one_are_named_in_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_numbers, "MOST_IN_CLASSES", 0)
    report = dipc.check(dipc.load(STEPS), inputs="all", for_all="m", beta="m*exp(-(alpha - 1)*eps/2)", keep_proofs=True)
    first = report.rows[0]
    assert isinstance(first, ClassResult)
    assert first.note is not None
    assert (first.verdict, first.note.method) == (Verdict.ACCURATE, Method.INPUTS)
    assert "its inputs were decided one by one" in dipc.certify(report)


def test_ints_are_refused_by_their_type() -> None:
    source = changed(STEPS, ("{0..2}", "int"), ("Lap", "DLap"), ("r : real", "r : int"), ("3/2", "2"))
    with pytest.raises(DiagnosticError, match="covers accuracy at real and finite inputs, but `q\\[1\\]` is an int"):
        for_all(source)


def test_the_first_number_without_a_proof_is_tried() -> None:
    """Four queries satisfy the claim, five do not, and the union bound proves nothing about either."""
    text = (
        "program h; const m = 4; input q[1..m] : real; output h[1..m] : real;"
        "ideal { for i in 1..m do h[i] <- q[i] end }"
        "claim { alpha: 0; gamma: 5; beta: 1 - (1 - exp(-gamma*eps))^4; }"
        "for i in 1..m do h[i] <- Lap(eps, q[i]) end"
    )
    report = check_for_all(dipc.load(text), "m").report
    assert report.verdict is Verdict.INACCURATE
    (failing,) = report.failures
    assert failing.counterexample is not None
    assert failing.note is not None
    assert failing.note.numbered == ("m = 5",)

"""`--inputs all`: verdicts about every real input, against inputs decided one by one by the ordinary engine."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import pytest

import dipc
from dipc.algebra.exppoly import ClosedForm, ExpPoly, Quotient
from dipc.decide.obligation import Verdict
from dipc.program.ideal import Distances, Ideal
from dipc.program.program import Program
from dipc.questions import every_input
from dipc.questions.report import ClassNote, ClassResult, Method, Report, RowResult
from dipc.rules.class_claim import products
from dipc.sign.interval import Interval
from dipc.text.core import Value, show_value
from dipc.text.diagnostic import DiagnosticError
from tests.questions.real_programs import (
    ABOVE_THRESHOLD,
    ADVERSARIAL,
    LAPLACE,
    NOISY_MAX,
    NUMERIC_SPARSE,
    SPARSE,
    SPARSE_VARIANT,
    check_all,
    program,
)

F = Fraction

#: What is known of the adversarial programs: the verdict, by the exact arguments in the comments.
VERDICTS = {
    "two rays with one answer": "accurate",
    "between two thresholds": "accurate",
    "between two thresholds, too sharp": "inaccurate",  # in the middle Pr = 1 - e^{-t}, and β is half of that
    "an answer on a line": "accurate",  # dd = 0 on the line, where β = 1
    "coefficients": "accurate",  # the dual norm of (2, -3) is 5
    "coefficients, too sharp": "inaccurate",
    "coefficients in the sum norm": "accurate",  # and 3 in the norm l1
    "coefficients in the sum norm, too sharp": "inaccurate",
    "two rates": "accurate",
    "the wrong threshold": "inaccurate",
    "the wrong input": "inaccurate",
    "a comparison of inputs on the way": "accurate",
    "a comparison of inputs that spoils one side": "inaccurate",
    "no noise": "accurate",
    "no noise, and wrong on the edge": "inaccurate",
    "one answer": "accurate",
    "one answer, given by chance": "inaccurate",  # dd is infinite: β = 1/4 against Pr = 1/2
    "a fair coin": "accurate",
    "a coin that depends on eps": "inaccurate",
    "beta that depends on eps alone": "inaccurate",  # at dd = 0 Pr is 1/2
    "a fixed alpha": "accurate",
    "a fixed alpha, too sharp": "inaccurate",
    "alpha farther than any input": "accurate",
    "the discrete metric": "inaccurate",  # dd is 1 everywhere, near the threshold too
    "a corner of two facets that is not needed": "accurate",  # by what the other answer has at most
    "a wedge": "inaccurate",  # opposite its corner dd is more than twice the sum of the slacks
}


def decided(source: str, **options: object) -> Report:
    constants = {name: options.pop(name) for name in ("m", "c", "T") if name in options}
    return check_all(dipc.load(source, **constants), **options)  # type: ignore[arg-type]


def notes(report: Report) -> list[ClassNote]:
    found = [row.note for row in report.rows if isinstance(row, ClassResult) and row.note is not None]
    assert len(found) == len(report.rows)
    return found


class RowByRow:
    """The claim at single inputs, as the table with their det and dd has it."""

    def __init__(self, loaded: Program, **options: object) -> None:
        self._program = loaded
        self._ideal = Ideal(loaded)
        self._distances = Distances(self._ideal)
        self._options = {name: options.get(name) for name in ("beta", "alpha", "gamma", "eps")}

    def decided(self, inputs: Sequence[Mapping[int, Value]]) -> Sequence[RowResult]:
        return dipc.check(self._program, [self._row(found) for found in inputs], **self._options).rows

    def _row(self, inputs: Mapping[int, Value]) -> dict[str, str]:
        core = self._program.core
        values = [inputs[slot] for slot in core.inputs]
        found = dict(zip(core.inputs, values, strict=True)) | dict(
            zip(core.outputs, self._ideal.values(values), strict=True)
        )
        distance = self._distances.dd(values)
        row = {core.slots[slot].name: show_value(value) for slot, value in found.items()}
        return row | {"dd": "inf" if distance is None else str(distance)}


def random_inputs(loaded: Program, seed: int, count: int) -> Iterator[dict[int, Fraction]]:
    """Rational inputs, many of them on facets, near facets, tied, or far away."""
    chance = random.Random(seed)
    values = [F(n, d) for d in (1, 2, 3, 7) for n in range(-8, 9)] + [F(-100), F(100), F(1, 1000), F(-1, 1000)]
    for _ in range(count):
        shared = chance.choice(values)
        yield {slot: chance.choice([shared, -shared, chance.choice(values), F(0)]) for slot in loaded.core.inputs}


def agrees_with_rows(source: str, seed: int, count: int, **options: object) -> None:
    """No random input contradicts the report."""
    constants = {name: options.pop(name) for name in ("m", "c", "T") if name in options}
    loaded = dipc.load(source, **constants)
    report = check_all(loaded, **options)  # type: ignore[arg-type]
    witnesses = RowByRow(loaded, **options)
    refuted = 0
    drawn = list(random_inputs(loaded, seed, count))
    for inputs, row in zip(drawn, witnesses.decided(drawn), strict=True):
        refuted += row.verdict is Verdict.INACCURATE
        if report.verdict is Verdict.ACCURATE:
            assert row.verdict is Verdict.ACCURATE, inputs
    if refuted:
        assert report.verdict is not Verdict.ACCURATE
    for found in report.rows:
        if found.verdict is Verdict.INACCURATE:
            slots = {loaded.core.slots[slot].name: slot for slot in loaded.core.inputs}
            (again,) = witnesses.decided([{slots[name]: F(text) for name, text in found.input.items()}])
            assert again.verdict is Verdict.INACCURATE
            assert found.counterexample is not None
            exact = loaded.probability(found.input, again.output, found.gamma)
            # What is far out may be as near to 1 as e^-1000.
            low, high = exact.enclosure(found.counterexample.eps, digits=1000)
            assert high < found.counterexample.required[0]
            assert low >= 0


# --- the mechanisms of the paper, with their exact factors ------------------------------------------

FACTORS = [
    (SPARSE, {"m": 3, "c": 1}, "2*m*c*exp(-alpha*eps/(8*c))", 6),
    (SPARSE, {"m": 3, "c": 2}, "2*m*c*exp(-alpha*eps/(8*c))", 12),
    (SPARSE_VARIANT, {"m": 3, "c": 2}, "2*m*c*exp(-alpha*eps/(8*c))", 13),
    (NOISY_MAX, {"m": 3}, "m*exp(-alpha*eps/2)", 4),
    (NOISY_MAX, {"m": 4}, "m*exp(-alpha*eps/2)", 4),
    (NUMERIC_SPARSE, {"m": 3, "c": 1}, "(2*m+1)*c*exp(-alpha*eps/(9*c))", 4),
    (NUMERIC_SPARSE, {"m": 3, "c": 2}, "(2*m+1)*c*exp(-alpha*eps/(9*c))", 6),
    (ABOVE_THRESHOLD, {"m": 3}, "2*m*exp(-alpha*eps/8)", 6),
]


@pytest.mark.parametrize(("source", "constants", "beta", "factor"), FACTORS)
def test_the_largest_integer_factor_is_that_of_the_tables(
    source: str, constants: dict[str, int], beta: str, factor: int
) -> None:
    holds = decided(source, beta=f"({beta})/{factor}", **constants)
    assert holds.verdict is Verdict.ACCURATE
    assert {note.method for note in notes(holds)} == {Method.CORNER}
    fails = decided(source, beta=f"({beta})/{factor + 1}", **constants)
    assert fails.verdict is Verdict.INACCURATE
    assert {
        row.note.method for row in fails.select(Verdict.INACCURATE) if isinstance(row, ClassResult) and row.note
    } == {Method.WITNESS}


@pytest.mark.parametrize("source", [SPARSE, ABOVE_THRESHOLD, NOISY_MAX, NUMERIC_SPARSE])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_claims_of_the_literature_hold_for_every_input(source: str, m: int) -> None:
    assert decided(source, m=m).verdict is Verdict.ACCURATE


def test_the_corner_and_the_obligation_are_shown() -> None:
    report = decided(SPARSE, m=2)
    middle = notes(report)[1]
    assert middle.conditions == ("q[1] < 0", "q[2] >= 0")
    assert middle.corner == {"q[1]": "-alpha", "q[2]": "alpha"}
    assert (middle.variable, *map(str, middle.intervals), middle.exact) == ("alpha*eps", "(0, inf)", True)
    assert middle.probability == "1 - 4*exp(-eps/4)/3 + 7*exp(-eps/2)/12 - exp(-eps)/24"
    assert middle.beta == "4*exp(-eps/8)"


def test_a_threshold_that_is_not_0_moves_the_corner() -> None:
    report = decided(SPARSE, m=1, T="5/2")
    assert [note.corner for note in notes(report)] == [{"q[1]": "alpha + 5/2"}, {"q[1]": "-alpha + 5/2"}]
    assert report.verdict is Verdict.ACCURATE


def test_noisy_max_has_one_obligation_for_all_answers() -> None:
    report = decided(NOISY_MAX, m=6)
    assert len(report.rows) == 6
    assert report.effort.obligations == 1


def test_laplace_for_every_gamma() -> None:
    report = decided(LAPLACE, m=3, gamma="free")
    assert report.verdict is Verdict.ACCURATE
    (note,) = notes(report)
    assert (note.variable, note.probability) == ("gamma*eps", "1 - 3*exp(-eps) + 3*exp(-2*eps) - exp(-3*eps)")
    fails = decided(LAPLACE, m=3, gamma="free", beta="m*exp(-gamma*eps/delta)*9/10")
    assert fails.verdict is Verdict.INACCURATE
    assert fails.rows[0].gamma == "1"


def test_laplace_at_one_gamma() -> None:
    assert decided(LAPLACE, gamma=2).verdict is Verdict.ACCURATE
    assert decided(LAPLACE, gamma=2, beta="exp(-3*eps)").verdict is Verdict.INACCURATE


def test_numeric_sparse_at_the_alpha_and_gamma_of_the_table() -> None:
    options: dict[str, object] = {"alpha": 1, "gamma": 1}
    beta = "(2*m+1)*c*exp(-alpha*eps/(9*c))"
    assert decided(NUMERIC_SPARSE, beta=f"{beta}/4", **options).verdict is Verdict.ACCURATE
    assert decided(NUMERIC_SPARSE, beta=f"{beta}/5", **options).verdict is Verdict.INACCURATE


def test_numeric_sparse_without_its_metric_is_as_near_as_its_values() -> None:
    plain = NUMERIC_SPARSE.replace("metric {", "# metric {")
    assert (
        decided(plain, beta="1 - exp(-alpha*eps)").verdict is Verdict.INACCURATE
    )  # alpha = dd = 0 where a value is given


@pytest.mark.parametrize(
    ("beta", "verdict"),
    [
        ("min(1, 2*m*c*exp(-alpha*eps/(8*c)))", "accurate"),
        ("min(1/2, 2*m*c*exp(-alpha*eps/(8*c)))", "inaccurate"),  # it is 1/2 where alpha*eps is small
        ("max(2*m*c*exp(-alpha*eps/(8*c))/7, 99/100 - alpha*eps/10)", "accurate"),
        ("abs(1 - alpha*eps)", "inaccurate"),  # 0 in the middle
        ("2*m/(1 + alpha*eps/100)", "accurate"),
        ("1/exp(alpha*eps/1000)", "accurate"),
        ("max(0, 1 - alpha)*exp(-alpha*eps)", "inaccurate"),
        ("max(2*m*c*exp(-alpha*eps/8), 1/(1000 + alpha))", "undecided"),  # no function of the product
    ],
)
def test_betas_that_are_put_together_from_pieces(beta: str, verdict: str) -> None:
    assert str(decided(SPARSE, beta=beta).verdict) == verdict


def test_a_gamma_that_is_put_together_from_pieces_is_refused() -> None:
    """The gamma max(alpha, 1) is not a multiple of an open alpha, even though it equals alpha where alpha is large."""
    with pytest.raises(DiagnosticError) as caught:
        decided(NUMERIC_SPARSE, gamma="max(alpha, 1)")
    assert caught.value.diagnostics[0].code == "E1202"


def test_an_infinite_distance_with_a_gamma_that_grows_with_it_is_left_undecided() -> None:
    report = decided(ADVERSARIAL["one answer, given by chance"], gamma="alpha")
    assert report.verdict is Verdict.UNDECIDED
    assert decided(ADVERSARIAL["one answer, given by chance"], gamma="alpha", beta="1/2").verdict is Verdict.ACCURATE


def test_a_bounded_interval_of_eps_has_every_product() -> None:
    """alpha = 1 needs eps near 7, which (0, 1/10] lacks: alpha = 70 does it."""
    beta = "(2*m+1)*c*exp(-alpha*eps/(9*c))/5"
    report = decided(NUMERIC_SPARSE, beta=beta, eps="(0, 1/10]")
    (row,) = report.select(Verdict.INACCURATE)
    assert row.counterexample is not None
    assert row.counterexample.eps <= F(1, 10)
    assert F(row.alpha) > 62


# --- programs made to mislead ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_the_verdict_on_an_adversarial_program(name: str) -> None:
    assert str(decided(ADVERSARIAL[name]).verdict) == VERDICTS[name]


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_no_input_contradicts_the_verdict_on_an_adversarial_program(name: str) -> None:
    agrees_with_rows(ADVERSARIAL[name], seed=len(name), count=12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ADVERSARIAL)
def test_no_input_of_very_many_contradicts_the_verdict(name: str) -> None:
    agrees_with_rows(ADVERSARIAL[name], seed=1, count=1500)


@pytest.mark.parametrize(("source", "constants", "beta", "factor"), FACTORS[:1] + FACTORS[3:4] + FACTORS[5:6])
def test_no_input_contradicts_the_factor(source: str, constants: dict[str, int], beta: str, factor: int) -> None:
    for divisor in (factor, factor + 1):
        agrees_with_rows(source, seed=divisor, count=20, beta=f"({beta})/{divisor}", **constants)


@pytest.mark.slow
@pytest.mark.parametrize(("source", "constants", "beta", "factor"), FACTORS)
def test_no_input_of_very_many_contradicts_the_factor(
    source: str, constants: dict[str, int], beta: str, factor: int
) -> None:
    for divisor in (factor, factor + 1):
        agrees_with_rows(source, seed=divisor, count=1500, beta=f"({beta})/{divisor}", **constants)


def some_fast(sources: Sequence[str], fast: int) -> list[object]:
    """The first few as they are, the others among the slow tests."""
    return [source if at < fast else pytest.param(source, marks=pytest.mark.slow) for at, source in enumerate(sources)]


@pytest.mark.parametrize("source", some_fast([SPARSE, NOISY_MAX, NUMERIC_SPARSE, *ADVERSARIAL.values()], 5))
def test_no_probability_is_below_the_bound_of_its_class(source: str) -> None:
    """The bounds themselves: Pr at u and eps against the class's bound at dd(u)·eps."""
    loaded = dipc.load(source)
    report = check_all(loaded)
    chance = random.Random(7)
    witnesses = RowByRow(loaded)
    ideal = Ideal(loaded)
    compared = 0
    for inputs in random_inputs(loaded, 3, 12):
        values = [inputs[slot] for slot in loaded.core.inputs]
        region = next(at for at, r in enumerate(ideal.regions({})) if all(guard.holds_at(inputs) for guard in r.guards))
        where = [row for row in report.rows if isinstance(row, ClassResult) and row.note is not None]
        if len(where) != len(ideal.regions({})):
            return  # cut into pieces: the rows are not the regions
        note = where[region].note
        distance = Distances(ideal).dd(values)
        if note is None or note.probability is None or note.variable != "alpha*eps" or not distance:
            continue
        eps = F(chance.randint(1, 40), 8)
        (row,) = witnesses.decided([inputs])
        assert row.closed_form is not None
        bound = float(sympified(note.probability, distance * eps))
        assert float(row.closed_form.enclosure(eps)[1]) >= bound - 1e-12
        compared += 1
        if note.exact and note.corner:
            assert bound >= -1e-12
    assert compared or "alpha: dd" not in source or len(report.rows) == 1 or "discrete" in source


def sympified(text: str, value: Fraction) -> object:
    import sympy

    return sympy.sympify(text).subs(sympy.Symbol("eps"), sympy.Rational(value.numerator, value.denominator)).evalf(30)


# --- the claim ---------------------------------------------------------------------------------------------


def test_products_of_distances_and_eps() -> None:
    half = Interval(F(0), F(1, 2), False, True)
    assert products((half,), None) == Interval.POSITIVE
    assert products((half,), F(3)) == Interval(F(0), F(3, 2), False, True)
    assert products((half, Interval.open(2, None)), F(3)) == Interval.POSITIVE
    assert products((Interval.closed(1, 2),), F(3)) == Interval(F(0), F(6), False, True)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"gamma": "alpha*eps"}, "E1202"),
        ({"gamma": "0 - alpha"}, "E1202"),
        ({"beta": "exp(-alpha)"}, "E0603"),
        ({"alpha": "0 - 1"}, "E0610"),
        ({"beta": "exp(-alfa*eps)"}, "E0602"),
    ],
)
def test_claims_that_make_no_sense_are_refused(options: dict[str, str], code: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        decided(NUMERIC_SPARSE, **options)
    assert caught.value.diagnostics[0].code == code


def test_a_claim_without_beta_is_refused() -> None:
    with pytest.raises(DiagnosticError) as caught:
        decided(program("if x >= 0 then o <- b end", "r <- Lap(eps, x); if r >= 0 then o <- b end", "alpha: dd"))
    assert caught.value.diagnostics[0].code == "E0601"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("ideal {", "# ideal {"), "E1101"),
        (("output o : answer = a;", "output o : answer = a; output v : real = 0; metric { output: linf; }"), "E1132"),
    ],
)
def test_programs_of_another_kind_are_refused(change: tuple[str, str], code: str) -> None:
    source = program(
        "if x >= 0 then o <- b end", "r <- Lap(eps, x); if r >= 0 then o <- b end", "alpha: dd; beta: exp(-eps)"
    )
    assert change[0] in source
    source = source.replace(*change)
    if code == "E1101":
        source = source.replace("# ideal { if x >= 0 then o <- b end }", "")
    with pytest.raises(DiagnosticError) as caught:
        decided(source)
    assert caught.value.diagnostics[0].code == code


def test_finite_inputs_beside_real_ones() -> None:
    source = program(
        "if k = 1 and x >= 0 then o <- b end",
        "r <- Lap(eps, x); if k = 1 and r >= 0 then o <- b end",
        "alpha: dd; beta: exp(-alpha*eps)/2",
        extra="input k : {0..1};",
    )
    report = decided(source)
    assert report.verdict is Verdict.ACCURATE
    assert notes(report)[0].conditions == ("k = 0",)


def test_a_program_without_real_inputs_is_enumerated_instead() -> None:
    source = "program p; input k : {0..1}; output o : {0..1}; ideal { o <- k } claim { beta: 0; } o <- k"
    program = dipc.load(source)
    assert dipc.check(program, inputs="all").rows == dipc.check(program).rows
    assert [row["input"] for row in dipc.check(program, inputs="all").rows] == [{"k": "0"}, {"k": "1"}]
    with pytest.raises(DiagnosticError) as caught:
        dipc.check(program, inputs="all", for_all="n")
    assert caught.value.diagnostics[0].code == "E1207"


def test_the_library_asks_for_all_inputs_by_the_same_word() -> None:
    report = dipc.check(dipc.load(SPARSE), inputs="all")
    assert report.verdict is Verdict.ACCURATE
    assert report["rows"][0]["class"]["corner"] == {"q[1]": "alpha", "q[2]": "0", "q[3]": "0"}


def test_a_quotient_in_an_open_product_is_shown_as_a_function_of_eps() -> None:
    half, one = Fraction(1, 2), ExpPoly.ONE
    form = ClosedForm(Quotient(one, one + ExpPoly.term(1, 0, -1)))
    assert every_input._scaled(form, half, True).enclosure(2) == form.enclosure(1)
    assert every_input._scaled(form, half, False) == form

"""`tighten` where the factor is known by hand."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dipc
from dipc.algebra.limits import Undecided
from dipc.cli.main import run
from dipc.inverse.tighten import Tightest

LAPLACE = "program l; input q : real; output o : real; o <- Lap(eps, q);"


def laplace(beta: str, eps: str = "(0, inf)", digits: int = 30, gamma: int = 1) -> Tightest:
    """1 - Pr is e^(-gamma·eps)."""
    return dipc.tighten(dipc.load(LAPLACE), [{"q": 0, "o": 0}], gamma=gamma, beta=beta, eps=eps, digits=digits)


def eps_of(found: Tightest) -> list[object]:
    return ["all" if place.everywhere else place.eps for place in found.places]


def test_a_planted_interior_maximum() -> None:
    """e^-eps / (1/(1 - e^-eps)): 1/4 at ln 2, exactly, so κ = 4 holds and is the last."""
    found = laplace("1/(1 - exp(-eps))")
    assert found.factor == (Fraction(1, 4), Fraction(1, 4))
    assert found.kappa == 4
    (place,) = found.places
    assert place.attained
    assert place.eps is not None
    with mpmath.workdps(50):
        low, high = (mpmath.mpf(end.numerator) / end.denominator for end in place.eps)
        assert low < mpmath.log(2) < high
    program = dipc.load(LAPLACE)
    rows = [{"q": 0, "o": 0}]
    assert dipc.check(program, rows, gamma=1, beta="1/(4*(1 - exp(-eps)))").verdict is dipc.Verdict.ACCURATE
    assert dipc.check(program, rows, gamma=1, beta="1/(5*(1 - exp(-eps)))").verdict is dipc.Verdict.INACCURATE


@pytest.mark.parametrize(
    ("beta", "eps", "factor", "kappa", "where", "attained"),
    [
        ("1", "(0, inf)", 1, 1, (0, 0), False),
        ("2", "(0, inf)", Fraction(1, 2), 2, (0, 0), False),
        ("exp(-eps)", "(0, inf)", 1, 1, "all", True),
        ("3*exp(-eps)/7", "[1, 2]", Fraction(7, 3), 0, "all", True),
        ("exp(-eps)*(1 + exp(-eps))", "(0, inf)", 1, 1, None, False),
        ("exp(-eps)*(eps + 1)", "[3, 9]", Fraction(1, 4), 4, (3, 3), True),
        ("exp(-eps)*(eps + 1)", "(3, 9]", Fraction(1, 4), 4, (3, 3), False),
        ("exp(-eps)/(eps + 1)", "[3, 9]", 10, 0, (9, 9), True),
        ("exp(-eps)/(eps + 1)", "[3, 9), (9, 10]", 11, 0, (10, 10), True),
    ],
)
def test_known_factors(beta: str, eps: str, factor: Fraction | int, kappa: int, where: object, attained: bool) -> None:
    found = laplace(beta, eps)
    assert found.factor == (factor, factor)
    assert found.kappa == kappa
    assert eps_of(found) == [where]
    assert [place.attained for place in found.places] == [attained]


@pytest.mark.parametrize(
    ("beta", "eps", "where", "attained"),
    [
        ("exp(-2*eps)", "(0, inf)", None, False),
        ("eps", "(0, inf)", (0, 0), False),
        ("0", "(0, inf)", "all", True),
        ("(eps - 2)^2", "(0, inf)", (2, 2), True),
        ("(eps - 2)^2", "(2, inf)", (2, 2), False),
        ("(eps - 2)^2", "[2, 2]", (2, 2), True),
        ("1 - eps", "[2, 3]", (2, 2), True),
    ],
)
def test_no_factor_suffices(beta: str, eps: str, where: object, attained: bool) -> None:
    found = laplace(beta, eps)
    assert found.factor is None
    assert found.kappa == 0
    assert found.places[0].attained is attained
    assert eps_of(found)[0] == where


def test_a_beta_that_touches_zero_at_a_root() -> None:
    found = laplace("(exp(eps) - 2)^2")
    assert found.factor is None
    (place,) = found.places
    assert place.attained
    assert place.eps is not None
    assert place.eps[0] <= Fraction(69314718055995, 10**14) <= place.eps[1] + Fraction(1, 10**14)


def test_the_answer_is_always_right() -> None:
    program = dipc.load("program p; input q : {0..1}; output o : {0..1}; o <- q;")
    found = dipc.tighten(program, [{"q": 0, "o": 0}, {"q": 1, "o": 1}], beta="0")
    assert found.factor == (0, 0)
    assert found.is_zero
    assert found.kappa is None
    assert found.complete
    assert found.places == ()


def test_vacuous_rows_do_not_count() -> None:
    program = dipc.load(LAPLACE)
    rows = [{"q": 0, "o": 0, "dd": 1, "gamma": 1}, {"q": 0, "o": 0, "dd": 5, "gamma": 2}]
    both = dipc.tighten(program, rows, beta="exp(-2*eps)", alpha="1/2")
    assert both.factor is None
    second = dipc.tighten(program, rows, beta="exp(-2*eps)", alpha=2)
    assert second.factor == (1, 1)
    assert second.claims.vacuous == 1
    none = dipc.tighten(program, rows, beta="exp(-2*eps)", alpha=9)
    assert none.factor == (0, 0)
    assert none.places == ()


def test_rows_that_differ_by_the_scale_only_are_proved_equal() -> None:
    program = dipc.load(LAPLACE)
    rows = [{"q": 0, "o": 0, "gamma": gamma, "dd": gamma} for gamma in (1, 2, 3)]
    found = dipc.tighten(program, rows, beta="exp(-alpha*eps/2)/(1 - exp(-alpha*eps/3))")
    assert len(found.places) == 3
    assert found.proved
    eps = [place.eps[0] for place in found.places if place.eps is not None]
    assert [place.claimed.rows for place in found.places] == [(1,), (2,), (3,)]
    assert float(eps[0]) == pytest.approx(2 * float(eps[1])) == pytest.approx(3 * float(eps[2]))


def test_rows_past_a_limit_make_the_factor_a_lower_bound() -> None:
    program = dipc.load("benchmarks/noisy_max.dip", m=4)
    tight = dipc.Limits(terms=6)
    rows = [
        {"q[1]": 0, "q[2]": 0, "q[3]": 0, "q[4]": 0, "out": 1, "dd": 0},
        {"q[1]": 0, "q[2]": 1, "q[3]": 3, "q[4]": 7, "out": 4, "dd": 2},
    ]
    found = dipc.tighten(program, rows, limits=tight)
    assert not found.complete
    assert found.kappa is None
    assert [unknown.rows for unknown in found.unknown] == [(2,)]
    assert found.factor == (Fraction(3, 16), Fraction(3, 16))
    assert found.at_most == (1, 1)  # `check` proves the claim itself


def test_more_digits_than_the_limits_allow() -> None:
    program = dipc.load("benchmarks/sparse.dip")
    limits = dipc.Limits(bits=1000)
    found = dipc.tighten(program, "benchmarks/sparse.csv", digits=900, limits=limits)
    assert not found.complete
    assert (found.kappa, found.places) == (None, ())
    assert "bits" in found.unknown[0].reason
    assert len(found.unknown[0].rows) == 27
    assert dipc.tighten(program, "benchmarks/sparse.csv", digits=100, limits=limits).kappa == 6


def test_pieces() -> None:
    """min: the worse of two claims; max: the better of them at each eps."""
    worst = laplace("min(exp(-eps)*(eps + 1), 1/2)", "[1/4, inf)")
    first, second = (laplace(beta, "[1/4, inf)") for beta in ("exp(-eps)*(eps + 1)", "1/2"))
    assert first.factor is not None
    assert second.factor is not None
    assert worst.factor == max(first.factor, second.factor)
    # e^-eps/max(1/10, e^-2eps): largest at the joint ln(10)/2, where it is 10·e^-eps = √10.
    joint = laplace("max(1/10, exp(-2*eps))", digits=25)
    (place,) = joint.places
    assert place.attained
    assert joint.factor is not None
    assert place.eps is not None
    with mpmath.workdps(40):
        for cell, truth in ((joint.factor, mpmath.sqrt(10)), (place.eps, mpmath.log(10) / 2)):
            low, high = (mpmath.mpf(end.numerator) / end.denominator for end in cell)
            assert low < truth < high
            assert high - low < mpmath.mpf(10) ** -23


def test_pieces_that_meet_at_a_rational() -> None:
    """e^-eps/max(e^-eps·eps, e^-eps/2) is 2 up to 1/2, and 1/eps from there on."""
    found = laplace("exp(-eps)*max(eps, 1/2)", "[1/4, inf)")
    assert found.factor == (2, 2)
    assert found.proved
    ends = laplace("exp(-eps)*max(eps, 2 - eps)", "[1/4, inf)")
    assert ends.factor == (1, 1)
    (place,) = ends.places
    assert (place.eps, place.attained) == ((1, 1), True)


def test_pieces_on_which_the_factor_is_constant() -> None:
    """The factor is needed in the piece, not everywhere; the place is an eps of the piece."""
    half = laplace("max(2*exp(-eps), 1/2 + eps)", "[1/8, inf)")
    assert half.factor == (Fraction(1, 2), Fraction(1, 2))
    none = laplace("max(eps - 2, 0)", "[1, 3]")
    assert none.factor is None
    for found, low, high in ((half, Fraction(1, 8), Fraction(1, 2)), (none, Fraction(1), Fraction(2))):
        (place, *_) = found.places
        assert place.attained
        assert not place.everywhere
        assert place.eps is not None
        assert low <= place.eps[0] == place.eps[1] <= high


#: Wrong with probability x^2/(1 + x^2), where x = eps - 1.
TOUCHING = """program t; input q : {0..1}; output o : {0..1};
o <- choose { 0 : 1/(1 + (eps - 1)^2), 1 : (eps - 1)^2/(1 + (eps - 1)^2) };"""


def touching(beta: str, eps: str = "(0, inf)") -> Tightest:
    return dipc.tighten(dipc.load(TOUCHING), [{"q": 0, "o": 0}], beta=beta, eps=eps)


@pytest.mark.parametrize(
    ("beta", "factor"),
    [
        # 1 - Pr and beta are 0 at 1 together: from the left (1 - Pr)/beta goes to 2/3, from the right to 2.
        ("(eps - 1)^2 - abs(eps - 1)*(eps - 1)/2", (2, 2)),
        ("(eps - 1)^2 + abs(eps - 1)*(eps - 1)/2", (2, 2)),
        # From the left to 1, from the right to infinity.
        ("max(min((eps - 1)^2, (eps - 1)^4), (1 - eps)*abs(eps - 1))", None),
    ],
)
def test_pieces_that_meet_where_nothing_is_missing(beta: str, factor: tuple[int, int] | None) -> None:
    found = touching(beta)
    assert found.factor == factor
    assert found.kappa == 0
    (place,) = found.places
    assert place.eps == (1, 1)
    assert not place.attained


def test_a_point_at_which_nothing_is_missing() -> None:
    for beta in ("1/2", "0", "eps - 1", "max(0, 1 - eps)"):
        alone = touching(beta, "[1, 1]")
        assert (alone.factor, alone.kappa, alone.places) == ((0, 0), None, ())
    assert touching("1/2", "[1, 1], [2, 2]").factor == (1, 1)


def test_a_negative_beta_is_never_enough() -> None:
    """If Pr = 1, Pr >= 1 - f·beta holds for f = 0 and for no f > 0; otherwise for no f at all."""
    found = touching("-1/2", "[1, 1]")
    assert found.factor == (0, 0)
    program = dipc.load(
        "program p; input q : {0..1}; output o : {0..1}; if q = 0 then o <- 0 else o <- choose { 0 : 1/2, 1 : 1/2 } end"
    )
    rows = [{"q": 0, "o": 0, "beta": "-1/2"}, {"q": 1, "o": 0, "beta": "1/2"}]
    assert dipc.tighten(program, rows).factor is None
    assert dipc.tighten(program, rows[1:]).factor == (1, 1)


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="digits"):
        laplace("1", digits=0)
    with pytest.raises(TypeError, match=r"dipc\.load"):
        dipc.tighten(7, [])  # type: ignore[arg-type]
    with pytest.raises(dipc.DiagnosticError, match="no beta"):
        dipc.tighten(dipc.load(LAPLACE), [{"q": 0, "o": 0}])


rationals = st.builds(Fraction, st.integers(1, 6), st.integers(1, 4))


@st.composite
def betas(draw: st.DrawFn) -> str:
    """Positive functions of eps."""
    terms = [f"{draw(rationals)}*exp(-{draw(rationals)}*eps)*eps^{draw(st.integers(0, 2))}"]
    terms += [f"{draw(rationals)}*exp(-{draw(rationals)}*eps)" for _ in range(draw(st.integers(0, 2)))]
    return " + ".join(terms)


@given(betas(), st.integers(1, 3), st.sampled_from(["(0, inf)", "[1/2, 3]", "(1, 2), (5, inf)"]))
def test_the_factor_is_the_least(beta: str, gamma: int, eps: str) -> None:
    """The sign procedure confirms that beta·high holds, and that beta times slightly less than low does not."""
    program = dipc.load(LAPLACE)
    rows = [{"q": 0, "o": 0}]
    try:
        found = laplace(beta, eps, 12, gamma)
    except Undecided:
        assume(False)

    def verdict(factor: Fraction) -> dipc.Verdict:
        return dipc.check(program, rows, gamma=gamma, beta=f"({factor})*({beta})", eps=eps).verdict

    if found.factor is None:
        assert verdict(Fraction(10**4)) is dipc.Verdict.INACCURATE
        return
    low, high = found.factor
    assert verdict(high) is dipc.Verdict.ACCURATE
    assert verdict(low * (1 - Fraction(1, 10**8))) is dipc.Verdict.INACCURATE
    assert found.kappa is not None
    if found.kappa:
        assert verdict(Fraction(1, found.kappa)) is dipc.Verdict.ACCURATE
    assert verdict(Fraction(1, found.kappa + 1)) is dipc.Verdict.INACCURATE


def test_a_class_that_needs_the_factor_at_every_eps_is_not_said_to_need_less(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error of a clipped value is beta for every eps at x = -5, and at other inputs only in the limit eps → 0."""
    path = tmp_path / "clip.dip"
    path.write_text(
        "program clip; input x : real; requires x >= -5 and x <= 12; output out : real; ideal { out <- x }"
        "out <- Lap(eps, max(x, 0))"
    )
    beta = "exp(-3*eps)/2 + exp(-13*eps)/2"
    assert run(["tighten", str(path), "--inputs", "all", "--alpha", "0", "--gamma", "8", "--beta", beta]) == 0
    _, _, last = capsys.readouterr().out.partition("class 2 needs it")
    assert "every eps" in last
    assert "needs less" not in last
    assert "needs it" not in last


def test_no_factor_suffices_for_a_number_that_noise_never_equals() -> None:
    """For every distance some input has the answer with probability 0, and beta falls to 0 with the distance."""
    source = (
        "program p; input q : real; output o : {0, 1}; output y : real; var n : real;\n"
        "ideal { if q >= 1 then o <- 1; y <- q else o <- 0; y <- 0 end }\n"
        "n <- Lap(eps, q); if n >= 1 then o <- 1; y <- q else o <- 0; y <- Lap(eps, 0) end\n"
    )
    found = dipc.tighten(
        dipc.load(source), inputs="all", alpha="dd", beta="exp(-alpha*eps/2)", gamma="0", eps="[1/2, 3]"
    )
    assert found.factor is None
    assert found.complete

"""Which alpha, beta, gamma and eps a row gets, and what is said when it gets none."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import dipc
from dipc.algebra.parametric import Parametric
from dipc.claims.claim import Claim, ClaimOptions, intervals_text, resolve_claim
from dipc.claims.expression import ClaimExpression
from dipc.claims.table import read_table
from dipc.sign.piecewise import PiecewiseForm
from dipc.text.diagnostic import Diagnostic, DiagnosticError, SourceText
from dipc.text.parser import parse
from dipc.text.program import CoreProgram
from dipc.text.statements import lower

BLOCK = "claim { alpha: 1; beta: m*exp(-alpha*eps); gamma: 2; eps: (0, m]; }"
IDEAL = "ideal { out <- q }"


def program(*declarations: str) -> CoreProgram:
    extra = "\n".join(declarations)
    source = SourceText(
        "p.dip", f"program p;\nconst m = 3;\ninput q : real;\noutput out : real;\n{extra}\nout <- Lap(eps, q);"
    )
    return lower(parse(source), source, {})


def resolved(core: CoreProgram, *rows: dict[str, object], **options: object) -> Claim:
    table = read_table([{"q": 0, "out": 0, **row} for row in rows or ({},)], core)
    return resolve_claim(core, table, ClaimOptions(**options))


def terms(core: CoreProgram, row: dict[str, object] | None = None, **options: object) -> tuple[str, str, str, bool]:
    claim = resolved(core, row or {}, **options)
    found = claim.terms(claim.table.rows[0])
    return found.alpha_text, str(found.beta), found.gamma.text, found.vacuous


def refused(core: CoreProgram, *rows: dict[str, object], **options: object) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        resolved(core, *rows, **options)
    (found,) = caught.value.diagnostics
    return found


# --- precedence ------------------------------------------------------------------------------------


def test_columns_win_over_options_and_options_over_the_claim_block() -> None:
    core = program(BLOCK)
    assert terms(core) == ("1", "3*exp(-eps)", "2", False)
    assert terms(core, alpha="2", gamma=Fraction(1, 2)) == ("2", "3*exp(-2*eps)", "1/2", False)
    assert terms(core, beta="alpha*gamma/m*exp(-eps)") == ("1", "2*exp(-eps)/3", "2", False)
    row = {"alpha": "3", "beta": "exp(-gamma*eps)", "gamma": "4"}
    assert terms(core, row, alpha=2, beta="0", gamma=0) == ("3", "exp(-4*eps)", "4", False)
    empty = {"alpha": "", "beta": "", "gamma": ""}
    assert terms(core, empty, alpha=2) == ("2", "3*exp(-2*eps)", "2", False)
    assert intervals_text(resolved(core).intervals) == "(0, 3]"
    assert intervals_text(resolved(core, eps="[1/m, inf)").intervals) == "[1/3, inf)"


def test_defaults() -> None:
    core = program()
    assert terms(core, beta="exp(-alpha*eps)") == ("0", "1", "0", False)
    assert terms(core, {"dd": "1/2"}, beta="exp(-alpha*eps)") == ("1/2", "exp(-eps/2)", "0", False)
    assert terms(core, {"dd": "1/2"}, beta="exp(-alpha*eps)", alpha="1/4") == ("1/4", "exp(-eps/4)", "0", False)
    assert intervals_text(resolved(core, beta=1).intervals) == "(0, inf)"


def test_dd_by_name() -> None:
    core = program("claim { alpha: dd; beta: 1; }")
    assert terms(core, {"dd": "5"})[0] == "5"
    assert terms(core, {"dd": "5"}, alpha="dd/m")[0] == "5/3"
    assert terms(core, {"dd": "5"}, alpha="2", beta="dd*exp(-alpha*eps)")[:2] == ("2", "5*exp(-2*eps)")
    assert terms(core, {"dd": "5", "alpha": "dd"}, alpha="2")[0] == "5"
    assert terms(program(), {"dd": "5"}, alpha="dd", beta=1)[0] == "5"


def test_gamma_may_be_alpha() -> None:
    assert terms(program(), {"dd": "2/3"}, beta="exp(-gamma*eps)", gamma="alpha") == (
        "2/3",
        "exp(-2*eps/3)",
        "2/3",
        False,
    )


def test_vacuous_rows() -> None:
    core = program()
    # A claim with numbers is about dd > alpha; one whose beta knows alpha is continuous there.
    assert terms(core, {"dd": "1"}, alpha=1, beta="exp(-eps)")[3] is True
    assert terms(core, {"dd": "1.001"}, alpha=1, beta="exp(-eps)")[3] is False
    assert terms(core, {"dd": "1"}, alpha=1, beta="exp(-alpha*eps)")[3] is False
    assert terms(core, {"dd": "0"}, alpha=0, beta="exp(-eps)")[3] is False
    assert terms(core, {"dd": "1"}, alpha="1.001", beta="exp(-eps)")[3] is True
    assert terms(core, {"dd": "inf"}, alpha=10**9, beta="exp(-eps)")[3] is False
    assert terms(core, alpha=10**9, beta="exp(-eps)")[3] is False


def test_an_infinite_distance_takes_the_limit() -> None:
    core = program()
    assert terms(core, {"dd": "inf"}, beta="1/2 + m*exp(-alpha*eps/8)") == ("inf", "1/2", "0", False)
    assert terms(core, {"dd": "inf"}, alpha=1, beta="exp(-dd*eps) + exp(-alpha*eps)")[:2] == ("1", "exp(-eps)")
    found = refused(core, {"dd": "inf"}, beta="1 - 1/m + alpha")
    assert (found.code, found.message) == ("E0609", "beta has no limit where dd is infinite")
    assert found.notes == (
        ("a row with dd = inf needs Pr >= 1 - beta for every alpha, so beta must have a limit as alpha grows"),
    )


def test_equal_claims_are_one_object() -> None:
    claim = resolved(program(), {"dd": "1"}, {"dd": "1"}, {"dd": "2"}, beta="exp(-eps)")
    first, second, third = (claim.terms(row) for row in claim.table.rows)
    assert first is second
    assert first is not third
    assert first.beta is third.beta


def test_betas_from_python() -> None:
    core = program()
    assert terms(core, beta=Fraction(1, 3))[1] == "1/3"
    alpha = sympy.Symbol("alpha")
    assert terms(core, beta=sympy.exp(-alpha * dipc.eps / 8) ** 2 + dipc.eps**2, alpha=4)[1] == "eps**2 + exp(-eps)"
    with pytest.raises(TypeError, match=r"beta = 0\.5 is a binary floating-point number"):
        resolved(core, beta=0.5)
    with pytest.raises(TypeError, match=r"gamma = 0\.5 is a binary floating-point number"):
        resolved(core, beta=1, gamma=0.5)
    with pytest.raises(TypeError, match="eps must be a text"):
        resolved(core, beta=1, eps=(0, 1))


# --- what is refused -------------------------------------------------------------------------------


def test_no_beta() -> None:
    found = refused(program())
    assert (found.code, found.message) == ("E0601", "no beta is given")
    assert found.notes == ("give `--beta EXPR`, a column `beta` in the table, or `beta:` in the program's claim block",)
    found = refused(program(), {"beta": "1"}, {"beta": ""})
    assert (found.code, found.message) == ("E0601", "no beta is given for row 2")


def test_no_dd() -> None:
    found = refused(program(), beta=1, alpha="dd")
    assert (found.code, found.message) == ("E0612", "alpha is dd, but the table has no column `dd`")
    found = refused(program(), {"dd": "1"}, {"dd": ""}, beta=1, alpha="dd")
    assert (found.code, found.message) == ("E0612", "alpha is dd, but row 2 has an empty cell in the column dd")
    found = refused(program(IDEAL), beta=1)
    # dipc.check completes the table beforehand; see tests/program/test_ideal_table.py.
    assert (found.code, found.message) == ("E0612", "alpha is dd, but the table has no column `dd`")
    assert terms(program(IDEAL), beta=1, alpha=2)[0] == "2"
    assert terms(program(IDEAL), {"dd": 3}, beta=1)[0] == "3"


@pytest.mark.parametrize(
    ("options", "code", "message", "file"),
    [
        ({"alpha": "-1"}, "E0611", "alpha is negative: -1", "<alpha>"),
        ({"gamma": "1 - m"}, "E0611", "gamma is negative: -2", "<gamma>"),
        ({"alpha": "eps"}, "E0610", "alpha must be a number or `dd`", "<alpha>"),
        ({"gamma": "1/eps"}, "E0610", "gamma must be a number", "<gamma>"),
        ({"alpha": "dd + 1"}, "E0602", "`dd` is not known in alpha", "<alpha>"),
        ({"alpha": "beta"}, "E0602", "`beta` is not known in alpha", "<alpha>"),
        ({"alpha": "gamma", "gamma": "alpha"}, "E0602", "`alpha` is not known in gamma", "<gamma>"),
        ({"beta": "betta"}, "E0602", "`betta` is not known in beta", "<beta>"),
        ({"beta": "1/(exp(eps) - 2)"}, "E0608", "beta divides by something that is 0 at eps = 0.693147…", "<beta>"),
        ({"beta": "1 +"}, "E0103", "expected an expression, found the end of the expression", "<beta>"),
        ({"beta": ""}, "E0103", None, "<beta>"),
    ],
)
def test_bad_claims(options: dict[str, object], code: str, message: str | None, file: str) -> None:
    found = refused(program(), **{"beta": "1", **options})
    assert found.code == code
    if message is not None:
        assert found.message == message
    assert found.excerpt is not None
    assert found.excerpt.file == file


def test_mistakes_in_the_claim_block_point_into_the_program() -> None:
    found = refused(program("claim { beta: exp(eps^2); }"))
    assert found.code == "E0617"
    assert found.message.endswith("the argument of exp must be -c*eps^2, with a number c")
    assert found.excerpt is not None
    assert (found.excerpt.file, found.excerpt.line, found.excerpt.column) == ("p.dip", 5, 19)


def test_mistakes_in_beta_cells_point_into_the_table(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('q,beta,out\n0,exp(-eps),0\n0, "min(1, bete)",0\n0,exp(1),0\n0,exp(1),0\n0,1 +,0\n')
    core = program()
    with pytest.raises(DiagnosticError) as caught:
        resolve_claim(core, read_table(path, core), ClaimOptions())
    assert [
        (d.code, d.excerpt.file, d.excerpt.line, d.excerpt.column, d.excerpt.length, d.excerpt.text)
        for d in caught.value.diagnostics
        if d.excerpt is not None
    ] == [
        ("E0602", str(path), 3, 12, 4, '0, "min(1, bete)",0'),
        ("E0603", str(path), 4, 7, 1, "0,exp(1),0"),
        ("E0103", str(path), 6, 6, 1, "0,1 +,0"),
    ]


# --- intervals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "resolved_text"),
    [
        ("(0, inf)", "(0, inf)"),
        ("[1/2, 3]", "[1/2, 3]"),
        ("(0.1, 1e1)", "(1/10, 10)"),
        ("[17/10, 17/10]", "[17/10, 17/10]"),
        ("[2, inf), (0, 1/m]", "(0, 1/3], [2, inf)"),
        ("(0, 1), (1, 2)", "(0, 1), (1, 2)"),
        ("(0, 1), [1, 2)", "(0, 1), [1, 2)"),
        ("(1, 2), [1, 1]", "[1, 1], (1, 2)"),
        ("(1, 2), [1, 1], (0, 1)", "(0, 1), [1, 1], (1, 2)"),
        ("( 0 , m*m - 1 )", "(0, 8)"),
    ],
)
def test_intervals(text: str, resolved_text: str) -> None:
    assert intervals_text(resolved(program(), beta=1, eps=text).intervals) == resolved_text


@pytest.mark.parametrize(
    ("text", "code", "message", "note"),
    [
        ("[0, 1]", "E0623", "eps = 0 is not a privacy budget", "begin with `(0`, which excludes 0"),
        ("(-1, 1)", "E0622", "eps is positive, but the interval begins at -1", "begin with `(0`"),
        ("(2, 1)", "E0621", "the interval is empty", "give the lower end first"),
        ("[1, 1)", "E0621", "the interval is empty", "write `[1, 1]` for a single point"),
        ("[0, 0]", "E0623", "eps = 0 is not a privacy budget", "begin with `(0`, which excludes 0"),
        ("(0, 0)", "E0621", "the interval is empty", "give the lower end first"),
        ("(0, inf]", "E0112", "eps never reaches `inf`", None),
        ("(inf, 1)", "E0112", "an interval of eps cannot begin at `inf`", None),
        ("(0, eps)", "E0620", "the ends of an interval must be rational numbers", "write for example `(1/2, 3]`"),
        ("(0, exp(1))", "E0603", "the exponent is not a rational multiple of eps", None),
        ("(0, 2), (1, 3)", "E0624", "the intervals (0, 2) and (1, 3) overlap", "give disjoint intervals"),
        ("[1, 2), [1, 1]", "E0624", "the intervals [1, 2) and [1, 1] overlap", "give disjoint intervals"),
        ("(0, 2], [2, 3)", "E0624", "the intervals (0, 2] and [2, 3) overlap", "give disjoint intervals"),
        ("(0, inf), (1, 3)", "E0624", "the intervals (0, inf) and (1, 3) overlap", "give disjoint intervals"),
        ("(0, n)", "E0602", "`n` is not known in an interval", None),
    ],
)
def test_bad_intervals(text: str, code: str, message: str, note: str | None) -> None:
    found = refused(program(), beta=1, eps=text)
    assert (found.code, found.message) == (code, message)
    if note is not None:
        assert found.notes == (note,)
    assert found.excerpt is not None
    assert found.excerpt.file == "<eps>"


# --- one evaluation for all rows ---------------------------------------------------------------------

_OPEN_LEAVES = st.sampled_from([
    "exp(-alpha*eps)", "exp(-dd*eps/2)", "gamma", "alpha", "(alpha - 1)", "eps", "m", "exp(-eps)", "alpha*dd*eps",
    "1/2", "exp(-alpha^2*eps)", "1/(1 + alpha)",
])  # fmt: skip
_OPEN_BETAS = st.recursive(
    _OPEN_LEAVES,
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner)
        | st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner)
        | st.builds("abs({})".format, inner)
        | st.builds("({})/(1 + exp(-eps))".format, inner)
    ),
    max_leaves=4,
)
_CORE = program()


@given(_OPEN_BETAS, st.lists(st.sampled_from(["0", "1", "1/3", "5/2"]), min_size=1, max_size=3))
def test_distances_put_in_afterwards_are_as_if_they_had_been_there(text: str, distances: list[str]) -> None:
    claim = resolved(_CORE, *({"dd": dd} for dd in distances), beta=text, gamma="1/3")
    expression = ClaimExpression.parse("beta", text, "<beta>")
    for row in claim.table.rows:
        assert row.dd is not None
        assert isinstance(row.dd.value, Fraction)
        distance = Parametric.number(row.dd.value)
        names = {"m": 3, "gamma": Fraction(1, 3)}
        direct = expression.value(
            {name: Parametric.number(number) for name, number in names.items()} | {"alpha": distance, "dd": distance}
        )
        found = claim.terms(row).beta
        if isinstance(direct, Parametric):
            above, below = found.fraction_at(Fraction(1))
            assert above * direct.denominator == direct.numerator_flat() * below
        else:
            assert str(found) == str(PiecewiseForm(direct))

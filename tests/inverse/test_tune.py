"""The best split of a budget: against published numbers, exact evaluations elsewhere, and the lemma of its bound."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.algebra.limits import OutsideFragment
from dipc.cli.main import run
from dipc.inverse import tune
from dipc.inverse.cells import ConstantBox
from dipc.inverse.question import AlphaSolution
from dipc.inverse.tune import Varied, _TuneSearch
from dipc.options import Options
from dipc.questions.privacy.constant import exponent_of
from dipc.text.diagnostic import DiagnosticError
from tests.patience import examples

SPLIT = Path("tests/golden/files/split.dip")

NUMERIC = """program numeric;
const m = 2, T = 0, s = 4/9, r = 4/9;
domain answer = {none, bot, top};
input q[1..m] : real;
output out[1..m] : answer = none;
output val[1..m] : real = 0;
var rT, r1 : real;
claim { alpha: dd; gamma: alpha; beta: 1/10; }
metric { apart: for i in 1..m: q[i] >= T and q'[i] >= T and q[i] != q'[i]; }
ideal {
  for i in 1..m do
    if q[i] >= T then out[i] <- top; val[i] <- q[i]; exit else out[i] <- bot end
  end
}
rT <- Lap(s*eps, T);
for i in 1..m do
  r1 <- Lap(r*eps/2, q[i]);
  if r1 >= rT then
    out[i] <- top;
    val[i] <- Lap((1 - s - r)*eps, q[i]);
    exit
  else
    out[i] <- bot
  end
end
"""


def threshold(share: Fraction, **constants: int) -> float:
    """t of the split by `dipc.solve`."""
    found = dipc.solve(dipc.load(SPLIT, s=share, **constants), inputs="all", wanted="alpha", digits=10)
    assert isinstance(found, AlphaSolution)
    assert found.product is not None
    return float(found.product[0])


def test_a_constant_that_makes_no_difference_has_no_best_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The threshold of a noisy comparison moves the inputs and the answers together."""
    path = tmp_path / "shifted.dip"
    path.write_text(
        "program shifted; const T = 1/9; input n : real; output a : bool; var r : real;\n"
        "ideal { a <- n >= T } claim { alpha: dd; beta: exp(-alpha*eps)/2; }\nr <- Lap(eps, n); a <- r >= T\n",
        encoding="utf-8",
    )
    assert run(["tune", str(path), "--vary", "T in (0, 1)", "--inputs", "all", "--beta", "1/20", "-q"]) == 0
    assert capsys.readouterr().out.startswith("T makes no difference: alpha*eps = 2.30258")


def test_the_best_split_of_three_queries() -> None:
    found = dipc.tune(dipc.load(SPLIT), inputs="all", vary="s in (0, 1)", denominator=300, tolerance="4%")
    assert found.best is not None
    assert found.own is not None
    assert found.best.threshold is not None
    assert found.own.threshold is not None
    assert float(found.best.values["s"]) == pytest.approx(0.373, abs=3e-3)
    assert float(found.best.threshold[0]) == pytest.approx(10.80, abs=5e-3)
    assert float(found.own.threshold[0] / found.best.threshold[0]) == pytest.approx(1.089, abs=1e-3)
    assert found.proved_within == Fraction(1, 25)
    assert found.lower is not None
    # What is proved to be the least is less than what others need, and no share needs less than the best.
    for share in (Fraction(1, 3), Fraction(2, 5), Fraction(5, 13), Fraction(7, 10), Fraction(1, 40)):
        assert float(found.lower) <= threshold(share)
        assert float(found.best.threshold[0]) <= threshold(share) + 1e-5


def test_every_distance_may_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    """`--alpha dd` is what is meant where no alpha is given."""
    said = []
    for more in ([], ["--alpha", "dd"], ["--alpha", "dd", "--for", "alpha"]):
        assert run(["tune", str(SPLIT), "--vary", "s in (0, 1)", "--beta", "1/10", "-q", *more]) == 0
        said.append(capsys.readouterr().out)
    assert len(set(said)) == 1
    assert "alpha*eps = 10.80" in said[0]


def test_equal_privacy() -> None:
    """The half split at K = 3/4 needs 8.82, less than the nominal optimum, which has K = 1881/2000."""
    program = dipc.load(SPLIT)
    found = dipc.tune(program, inputs="all", vary="s in [373/1000, 1/2]", adjacent="linf:1", denominator=2)
    assert found.own is not None
    assert found.own.constant == Fraction(3, 4)
    assert found.own.exact
    assert found.own.objective is not None
    assert float(found.own.objective[0]) == pytest.approx(8.82, abs=5e-3)
    there = dipc.load(SPLIT, s="373/1000")
    nominal = dipc.tune(there, inputs="all", vary="s in [373/1000, 374/1000]", adjacent="linf:1").own
    assert nominal is not None
    assert nominal.constant == Fraction(1881, 2000)
    assert nominal.objective is not None
    assert float(nominal.objective[0]) == pytest.approx(10.16, abs=5e-3)
    assert found.lower is not None
    assert found.relative_gap is not None


def test_the_best_split_at_equal_privacy() -> None:
    """The half split of three queries is better than the nominal optimum, and not the best.

    A threshold almost without noise is better still. Then the queries have K/3 each, and the program needs as much as
    the noisiest of three Laplace noises.
    """
    found = dipc.tune(dipc.load(SPLIT), inputs="all", vary="s in (0, 1)", adjacent="linf:1", tolerance="10%")
    assert found.best is not None
    assert found.best.objective is not None
    assert found.proved_within == Fraction(1, 10)
    assert float(found.best.values["s"]) == pytest.approx(0.98, abs=2e-3)
    least = float(found.best.objective[0])
    assert least == pytest.approx(8.0203, abs=1e-3)
    # Without noise of the threshold three answers are right if |noise| <= t for each of rate 1/3, on one side.
    limit = 3 * np.log(1 / (2 * (1 - 0.9 ** (1 / 3))))
    assert limit < least < limit * 1.01
    assert found.lower is not None
    for share in (Fraction(1, 2), Fraction(3, 4), Fraction(9, 10), Fraction(49, 50)):
        # K = 3(1 - s)/2 is proved, and less is refuted: what is bounded is K·t.
        program, constant = dipc.load(SPLIT, s=share), 3 * (1 - share) / 2
        assert dipc.check_privacy(program, "linf:1", inputs="all", budget=f"{constant}*eps").verdict == "private"
        less = constant * Fraction(999, 1000)
        assert dipc.check_privacy(program, "linf:1", inputs="all", budget=f"{less}*eps").verdict == "not private"
        assert float(found.lower) <= threshold(share) * float(constant)


def bounded(text: str | Path, adjacent: str | None, *vary: str, **constants: int) -> _TuneSearch:
    """The search for the best of some constants, ready to bound the objective, with pairs that need the greatest K."""
    program = dipc.load(text, **constants)
    search = _TuneSearch(program, None, Options(inputs="all", adjacent=adjacent), tuple(map(Varied.parse, vary)))
    search._prepare_bounds()
    return search


@settings(max_examples=examples(5), deadline=None)
@given(
    left=st.integers(2, 90),
    width=st.integers(1, 6),
    inside=st.fractions(0, 1, max_denominator=7),
    m=st.integers(1, 3),
    private=st.booleans(),
)
def test_no_split_in_a_cell_needs_less_than_its_bound(
    left: int, width: int, inside: Fraction, m: int, private: bool
) -> None:
    search = bounded(SPLIT, "linf:1" if private else None, "s in (0, 1)", m=m)
    low, high = Fraction(left, 100), Fraction(left + width, 100)
    split = low + inside * (high - low)
    tried = [search.evaluate((value,)) for value in (low, high, split)]
    assert search.objective is not None
    bound = search.objective.at_least(ConstantBox((low,), (high,)))
    assert bound is not None
    assert bound > 0
    for one in tried:
        assert one.objective is not None
        assert float(bound) <= float(one.objective[0]) + 1e-6
    # Not only below, but near: a cell of a thousandth loses little.
    narrow = search.objective.at_least(ConstantBox((split,), (split + Fraction(1, 10**4),)))
    assert narrow is not None
    assert tried[2].objective is not None
    assert float(narrow) >= 0.98 * float(tried[2].objective[0])


@settings(max_examples=examples(4), deadline=None)
@given(st.lists(st.integers(1, 12), min_size=5, max_size=5), st.booleans())
def test_no_split_by_two_constants_in_a_cell_needs_less_than_its_bound(numbers: list[int], private: bool) -> None:
    search = bounded(NUMERIC, "linf:1" if private else None, "s in (0, 1)", "r in (0, 1)", m=2)
    s, r, high, wide, _ = (Fraction(n, 26) for n in numbers)
    search.evaluate((s, r))
    assert search.objective is not None
    bound = search.objective.at_least(ConstantBox((s, r), (s + high / 4, r + wide / 4)))
    assert bound is not None
    for place in ((s, r), (s + high / 4, r + wide / 8), (s + high / 8, r + wide / 4)):
        one = search.evaluate(place)
        if one.objective is not None:
            assert float(bound) <= float(one.objective[0]) + 1e-6


@pytest.mark.parametrize("text", [SPLIT, NUMERIC], ids=["finite", "real"])
def test_least_costs_are_the_exponents_of_probabilities(text: str | Path) -> None:
    """log p/eps tends to -E: by linear programs, and by the leading exponents of closed forms."""
    for m, vary in ((2, "s in (0, 1)"), (3, "s in (0, 1/2)")):
        search = bounded(text, "linf:1", vary, m=m)
        at = (Fraction(2, 5),)
        search.evaluate(at)
        assert search.objective is not None
        (candidate, *_) = search.objective._candidates
        rates = search.objective._rates.evaluate(at)
        for first, form in ((True, candidate.first), (False, candidate.second)):
            reached = search.objective._reach(0, rates, first=first)
            assert reached is not None
            assert reached.cost == -exponent_of(form)


def test_two_constants() -> None:
    found = dipc.tune(
        dipc.load(NUMERIC), inputs="all", vary=["s in (0, 1)", "r in (0, 1)"], denominator=16, tolerance="40%"
    )
    assert found.best is not None
    assert found.own is not None
    assert found.best.threshold is not None
    assert found.own.threshold is not None
    assert found.best.threshold[0] < found.own.threshold[0]
    assert found.proved_within == Fraction(2, 5)
    for move in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)):
        s, r = (value + Fraction(step, 16) for value, step in zip(found.best.values.values(), move, strict=True))
        if s > 0 and r > 0 and s + r < 1:
            other = dipc.solve(dipc.load(NUMERIC, s=s, r=r), inputs="all", wanted="alpha", digits=8)
            assert isinstance(other, AlphaSolution)
            assert other.product is not None
            assert float(other.product[0]) >= float(found.best.threshold[0]) - 1e-4


SUMS = """program sums;
const a = 1/3, b = 1/3;
input count, total, largest : real;
output c, t, l : real;
ideal { noiseless }
claim { alpha: 0; beta: 1/20; }
c <- Lap(a*eps, count);
t <- Lap(b*eps/10, total);
l <- Lap((1 - a - b)*eps/100, largest)
"""


def nearest_gamma(a: Fraction, b: Fraction) -> float:
    """The t at which 1 - Π(1 - e^(-rate·t)) is 1/20, by bisection of floats."""
    rates = [float(a), float(b) / 10, float(1 - a - b) / 100]
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        missed = 1 - np.prod([1 - np.exp(-rate * middle) for rate in rates])
        low, high = (middle, high) if missed > 1 / 20 else (low, middle)
    return low


@settings(max_examples=examples(8), deadline=None)
@given(st.lists(st.integers(1, 12), min_size=4, max_size=4), st.fractions(0, 1, max_denominator=7))
def test_no_split_in_a_cell_needs_a_smaller_gamma_than_its_bound(numbers: list[int], inside: Fraction) -> None:
    search = _TuneSearch(
        dipc.load(SUMS),
        None,
        Options(inputs="all", wanted="gamma"),
        tuple(map(Varied.parse, ("a in (0, 1)", "b in (0, 1)"))),
    )
    search._prepare_bounds()
    assert search.objective is not None
    a, b, wide, high = (Fraction(n, 40) for n in numbers)
    bound = search.objective.at_least(ConstantBox((a, b), (a + wide / 2, b + high / 2)))
    assert bound is not None
    for place in ((a, b), (a + wide / 2, b + high / 2), (a + inside * wide / 2, b + inside * high / 4)):
        assert float(bound) <= nearest_gamma(*place) + 1e-6
    narrow = search.objective.at_least(ConstantBox((a, b), (a + Fraction(1, 10**5), b + Fraction(1, 10**5))))
    assert narrow is not None
    assert float(narrow) >= 0.99 * nearest_gamma(a, b)


def test_bounds_of_gamma_do_not_solve_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the cells took a solution of its own, which reads the program and the claim."""
    solved = 0
    solve_question = tune.solve_question

    def counted(*given: object) -> object:
        nonlocal solved
        solved += 1
        return solve_question(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(tune, "solve_question", counted)
    found = dipc.tune(
        dipc.load(SUMS),
        inputs="all",
        wanted="gamma",
        vary=["a in (0, 1)", "b in (0, 1)"],
        denominator=12,
        tolerance="20%",
    )
    assert found.best is not None
    assert found.proved_within == Fraction(1, 5)
    assert found.cells > 20
    # The values that are proposed are solved for, however many cells prove the bound.
    assert solved <= len(found.tried) + 2


def test_where_nothing_is_proved() -> None:
    twice = SPLIT.read_text(encoding="utf-8").replace("s = 1/2;", "s = 1/2, w = 2*s;")
    for text, why in (
        (twice, "computed"),
        (SPLIT.read_text(encoding="utf-8").replace("s*eps/c", "s*s*eps/c"), "affine"),
        (SPLIT.read_text(encoding="utf-8").replace("T = 0", "T = 0").replace("/c, T)", "/c, s)"), "outside of rates"),
    ):
        with pytest.raises(OutsideFragment, match=why):
            bounded(text, None, "s in (0, 1)")


def test_digits() -> None:
    program = dipc.load(SPLIT, m=2)
    few, many = (
        dipc.tune(program, inputs="all", vary="s in [1/3, 1/2]", denominator=5, tolerance=1, digits=digits)
        for digits in (5, 15)
    )
    assert few.best is not None
    assert many.best is not None
    assert few.best.objective is not None
    assert many.best.objective is not None
    assert few.best.values == many.best.values
    assert few.best.objective[0] <= many.best.objective[0] < many.best.objective[1] <= few.best.objective[1]
    assert many.best.objective[1] - many.best.objective[0] <= Fraction(1, 10**13)


def test_ranges() -> None:
    assert Varied.parse(" s in (0, 1]") == Varied("s", Fraction(0), Fraction(1), True, False)
    for text in ("s", "s in 1..3", "s in (1, 0)", "s in (x, 1)"):
        with pytest.raises(DiagnosticError, match="E1026"):
            Varied.parse(text)


def test_ctrl_c(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    whole, calls = _TuneSearch._evaluated, []

    def stopping(self: _TuneSearch, values: object) -> object:
        calls.append(values)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return whole(self, values)  # type: ignore[arg-type]

    monkeypatch.setattr(_TuneSearch, "_evaluated", stopping)
    assert run(["tune", str(SPLIT), "-D", "m=1", "--vary", "s in (0, 1)", "-q"]) == 130
    assert "best s = " in capsys.readouterr().err


def test_the_picture_and_the_page(tmp_path: Path) -> None:
    picture, page = tmp_path / "objective.svg", tmp_path / "page.html"
    words = ["tune", str(SPLIT), "-D", "m=1", "--vary", "s in [1/4, 3/4]", "--denominator", "8", "--tolerance", "50%"]
    assert run([*words, "--plot", str(picture), "--html", str(page), "-q"]) == 0
    assert picture.stat().st_size > 1000
    assert "Values that were tried" in page.read_text(encoding="utf-8")
    numeric = tmp_path / "numeric.dip"
    numeric.write_text(NUMERIC, encoding="utf-8")
    words = ["tune", str(numeric), "-D", "m=1", "--vary", "s in [1/5, 2/5]", "--vary", "r in [1/5, 2/5]"]
    assert run([*words, "--denominator", "5", "--tolerance", "900%", "--plot", str(picture), "-q"]) == 0
    assert picture.stat().st_size > 5000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("m", "share", "least", "half", "published"), [(10, 0.325, 14.12, 16.1, 2.2), (100, 0.267, 20.21, 26.3, 7.5)]
)
def test_more_queries(m: int, share: float, least: float, half: float, published: float) -> None:
    begun = process_time()
    program = dipc.load(SPLIT, m=m)
    found = dipc.tune(program, inputs="all", vary="s in (0, 1)", tolerance="1%" if m == 10 else "1000%")
    assert found.best is not None
    assert found.own is not None
    assert found.best.threshold is not None
    assert found.own.threshold is not None
    assert float(found.best.values["s"]) == pytest.approx(share, abs=2e-3)
    assert float(found.best.threshold[0]) == pytest.approx(least, abs=1e-2)
    assert 100 * float(found.own.threshold[0] / found.best.threshold[0] - 1) == pytest.approx(half, abs=0.1)
    lyu = Fraction(1 / (1 + 2 ** (2 / 3))).limit_denominator(1000)
    assert 100 * (threshold(lyu, m=m) / float(found.best.threshold[0]) - 1) == pytest.approx(published, abs=0.1)
    if m == 10:
        assert found.proved_within == Fraction(1, 100)
        assert process_time() - begun < 60


@pytest.mark.slow
def test_numeric_sparse() -> None:
    found = dipc.tune(dipc.load(NUMERIC, m=10), inputs="all", vary=["s in (0, 1)", "r in (0, 1)"], tolerance="15%")
    assert found.best is not None
    assert found.best.threshold is not None
    assert found.own is not None
    assert found.own.threshold is not None
    s, r = map(float, found.best.values.values())
    assert (s, r, 1 - s - r) == pytest.approx((0.261, 0.536, 0.203), abs=2e-3)
    assert float(found.own.threshold[0] / found.best.threshold[0]) == pytest.approx(1.27, abs=0.01)
    assert found.proved_within == Fraction(15, 100)


@pytest.mark.slow
def test_ten_queries_at_equal_privacy() -> None:
    """The nominal optimum has K = 1, and is the best at equal privacy."""
    begun = process_time()
    found = dipc.tune(dipc.load(SPLIT, m=10), inputs="all", vary="s in (0, 1)", adjacent="linf:1")
    assert found.best is not None
    assert found.best.objective is not None
    assert found.best.constant == 1
    assert float(found.best.objective[0]) == pytest.approx(14.12, abs=5e-3)
    assert found.proved_within == Fraction(1, 100)
    assert process_time() - begun < 60


COMPARED = """
program split;
const s = 1/2;
input q : real;
output o : bool;
ideal { o <- q >= 0 }
o <- Lap(s*eps, q) >= Lap((1 - s)*eps, 0)
"""


@pytest.mark.parametrize("where", ["beta", "alpha", "the claim block", "the table"])
def test_nothing_is_proved_where_the_claim_moves_with_the_constants(where: str) -> None:
    """A beta = s/5 once gave a bound for the beta of one value alone, which was more than the best values need."""
    text, about, table = COMPARED, {"inputs": "all", "beta": "s/5"}, None
    if where == "alpha":
        about = {"inputs": "all", "beta": "1/10", "alpha": "s"}
    elif where == "the claim block":
        text, about = text.replace("ideal", "claim { beta: s/5; }\nideal", 1), {"inputs": "all"}
    elif where == "the table":
        table, about = [{"q": 1, "o": "true", "beta": "s/5"}], {"wanted": "eps"}
    found = dipc.tune(dipc.load(text), table, vary="s in (1/10, 9/10)", denominator=6, **about)  # type: ignore[arg-type]
    assert (found.relative_gap, found.lower) == (None, None)
    assert found.unproved == "`s` occurs in the claim"


def test_a_part_of_the_claim_block_that_is_replaced_does_not_count() -> None:
    text = COMPARED.replace("ideal", "claim { beta: s/5; }\nideal", 1)
    found = dipc.tune(dipc.load(text), vary="s in (1/10, 9/10)", denominator=6, inputs="all", beta="1/10")
    alone = dipc.tune(dipc.load(COMPARED), vary="s in (1/10, 9/10)", denominator=6, inputs="all", beta="1/10")
    assert found.unproved is None
    assert (found.relative_gap, found.lower) == (alone.relative_gap, alone.lower)


REQUIRING = COMPARED.replace("output o", "requires q >= -1;\noutput o", 1)


@pytest.mark.parametrize("inputs", ["all", "q >= 1/2"])
def test_values_are_tried_within_a_precondition(inputs: str) -> None:
    """Each threshold is the one that solving finds for a program with these values."""
    program = dipc.load(REQUIRING)
    found = dipc.tune(program, vary="s in (1/10, 9/10)", denominator=4, inputs=inputs, beta="1/10")
    assert (
        found.unproved
        == "values that were not tried are compared only if the claim is about all inputs, without `requires`"
    )
    for each in found.tried[:4]:
        alone = dipc.load(REQUIRING.replace("s = 1/2", f"s = {each.values['s']}"))
        solution = dipc.solve(alone, inputs=inputs, beta="1/10", wanted="alpha", eps="1")
        assert each.threshold is not None
        least = Fraction(str(solution.as_json()["least"][0]))
        assert least == pytest.approx(each.threshold[0], rel=1e-5)

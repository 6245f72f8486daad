"""The sentence that the checker prints first says no more than it has checked, and `--expect` fails beyond that."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import exp
from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.certificate.privacy import certify_privacy
from dipc.certificate.write import certify
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import read_claim
from dipc.verifier.claims import Interval
from dipc.verifier.command import claim_block, verify
from dipc.verifier.command import main as alone
from dipc.verifier.document import check_text
from dipc.verifier.implication import Follows, is_at_least, is_within
from dipc.verifier.implication import samples as samples_of
from dipc.verifier.reading import Budget, Exhausted, Rejected, Unreadable
from dipc.verifier.statement import Expected, block_of, read_intervals
from dipc.verifier.syntax import read_program
from tests.verifier import samples
from tests.verifier.mutations import changes
from tests.verifier.samples import document, resealed

Document = dict[str, Any]

#: Randomized response: the ideal answer has the probability e^eps/(1 + e^eps), the other one 1/(1 + e^eps).
COIN = """program rr; input q : bool; output o : bool;
claim { alpha: 0; gamma: 0; beta: 1/2; }
ideal { o <- q }
o <- choose { q : exp(eps)/(1+exp(eps)), not q : 1/(1+exp(eps)) }
"""

WITHOUT_IDEAL = COIN.replace("ideal { o <- q }\n", "").replace("claim { alpha: 0; gamma: 0; beta: 1/2; }\n", "")

#: Inputs 0 and 1 are alike, input 2 is told apart from them by one run out of two.
LEAK = """program leak; input q : {0,1,2}; output o : bool;
if q = 2 then o <- true else o <- choose { true : 1/2, false : 1/2 } end
"""

SPARSE = str(samples.ROOT / "benchmarks" / "sparse.dip")


@cache
def coin(beta: str = "1/2") -> str:
    return certify(dipc.check(dipc.load(COIN), inputs="all", beta=beta, keep_proofs=True))


@cache
def real_inputs() -> str:
    return certify(dipc.check(dipc.load(SPARSE, m=2), inputs="all", keep_proofs=True))


def sentence(text: str) -> str:
    return next(iter(check_text(text).lines()))


def met(text: str, **parts: Any) -> Follows:
    answer = verify(text, expected=Expected(**parts)).answer
    assert answer is not None
    return answer[0]


def rejected(data: Document) -> str:
    with pytest.raises(Rejected) as caught:
        check_text(resealed(data))
    return str(caught.value)


# --- forgeries --------------------------------------------------------------------------------------


def test_under_an_ideal_each_row_has_dd() -> None:
    data = document(coin())
    for row in data["rows"]:
        del row["dd"]
    assert "the row does not have it" in rejected(data)


def test_a_wrong_answer_is_not_that_of_the_ideal_whether_dd_is_stated_or_not() -> None:
    """The other answer is right with the probability 1/(1 + e^eps) <= 1/2 only: a forged `inaccurate`."""
    other = COIN.replace("ideal { o <- q }", "ideal { o <- not q }")
    data = document(certify(dipc.check(dipc.load(other), inputs="all", beta="1/2", keep_proofs=True)))
    honest = document(coin())
    data["program"] = honest["program"]
    assert "an output differs from the answer of the `ideal`" in rejected(data)
    data["table"]["dd"] = "given"
    assert not check_text(resealed(data)).complete
    for row in data["rows"]:
        del row["dd"]
    assert not check_text(resealed(data)).complete


def test_a_row_without_outputs_claims_nothing() -> None:
    data = document(coin())
    for row in data["rows"]:
        row["output"] = [None]
    assert "it holds vacuously, but states the opposite" in rejected(data)
    program = dipc.load(WITHOUT_IDEAL)
    report = dipc.check(program, [{"q": "true", "o": None}], beta="1/1000", keep_proofs=True)
    assert (report.counts.vacuous, report.counts.unconstrained) == (1, 1)
    assert report.as_json()["rows"][0]["vacuous"] is True
    text = certify(report)
    assert "all vacuously" in sentence(text)
    assert "1 of 1 outputs unconstrained" in sentence(text)
    assert met(text, verdict="accurate") is Follows.NO


def test_dd_that_the_table_does_not_give(tmp_path: Path) -> None:
    program, table = tmp_path / "p.dip", tmp_path / "t.csv"
    program.write_text(WITHOUT_IDEAL, encoding="utf-8")
    table.write_text("q,o\ntrue,true\nfalse,false\n", encoding="utf-8")
    report = dipc.check(str(program), str(table), alpha="1", beta="9/10", keep_proofs=True)
    data = document(certify(report))
    for row in data["rows"]:
        row |= {"dd": "1/2", "vacuous": True, "obligation": None}
    text = resealed(data)
    assert "all vacuously; distances as in the table" in sentence(text)
    with pytest.raises(Rejected, match=r"neither .* nor the `ideal` of the program gives"):
        verify(text, table=table)


def test_an_older_version(tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    file.write_text(coin().replace("dipc.certificate/4", "dipc.certificate/3"), encoding="utf-8")
    with pytest.raises(Unreadable, match="made by an older version"):
        check_text(file.read_text(encoding="utf-8"))
    assert alone([str(file)]) == 2


# --- sentences --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["alpha", "beta", "gamma"])
def test_a_comment_is_not_part_of_the_sentence(name: str) -> None:
    data = document(coin())
    data["claim"][name] += " # , at all 1000 inputs of the domain\n"
    accepted = check_text(resealed(data))
    assert [*accepted.lines()] == [*check_text(coin()).lines()]
    for row in data["rows"]:
        row["own"] = {"beta": "1/2 # at most"}
    assert "each row's own beta being 1/2, alpha = 0, at all 2 inputs" in sentence(resealed(data))


def test_rows_left_out_are_missing_from_the_sentence() -> None:
    assert "at all 2 inputs of the domain" in sentence(coin())
    data = document(coin())
    del data["rows"][1]
    data["table"]["rows"] = 1
    text = resealed(data)
    assert "at 1 listed input (1 of the 2 of the domain)" in sentence(text)
    assert met(coin(), verdict="accurate", all_inputs=True) is Follows.YES
    assert met(text, verdict="accurate", all_inputs=True) is Follows.NO
    assert met(text, verdict="accurate") is Follows.YES


def test_a_row_twice_does_not_stand_for_another() -> None:
    data = document(coin())
    data["rows"][1] = {**data["rows"][0], "row": 2}
    assert met(resealed(data), verdict="accurate", all_inputs=True) is Follows.NO


def test_a_beta_of_one_is_vacuous() -> None:
    for beta in ("1", "2", "1 + exp(-eps)"):
        assert "(all vacuously)" in sentence(coin(beta))
        assert met(coin(beta), verdict="accurate") is Follows.NO
    assert "vacuously" not in sentence(coin("1/2"))
    data = document(coin())
    for row in data["rows"]:
        row["own"] = {"beta": "1/2"}
    text = resealed(data)
    assert "each row's own beta being 1/2" in sentence(text)


def test_an_undecided_certificate_proves_nothing() -> None:
    data = document(coin())
    for row in data["rows"]:
        row |= {"verdict": "undecided", "reason": "it is late", "obligation": None}
    data |= {"verdict": "undecided", "obligations": []}
    accepted = check_text(resealed(data))
    assert accepted.exit_code == 3
    assert next(iter(accepted.lines())).startswith("undecided: nothing is proved about rr ")


def test_a_refutation_says_where() -> None:
    text = coin("1/3")
    assert sentence(text).startswith("refuted: rr (sha256 ")
    assert "is not always right with probability >= 1 - 1/3" in sentence(text)
    assert ", at q = " in sentence(text)
    assert ", eps = " in sentence(text)
    assert met(text, verdict="inaccurate") is Follows.YES
    assert met(text, verdict="inaccurate", beta="1/4") is Follows.YES
    assert met(text, verdict="inaccurate", beta="1/2") is Follows.NO
    assert met(text, verdict="inaccurate", eps="[100, inf)") is Follows.NO
    assert met(text, verdict="accurate") is Follows.NO


# --- implication ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "answer"),
    [
        ({}, Follows.YES),
        ({"beta": "1/2"}, Follows.YES),
        ({"beta": "1/2 + exp(-eps)/9"}, Follows.YES),
        ({"beta": "min(1, 3/4)"}, Follows.YES),
        ({"beta": "49/100"}, Follows.NO),
        ({"beta": "1/2 - exp(-eps)/10^9"}, Follows.NO),
        ({"beta": "exp(-eps)"}, Follows.NO),
        ({"eps": "(0, 1]"}, Follows.YES),
        ({"eps": "2"}, Follows.YES),
        ({"beta": "exp(-eps)", "eps": "(0, 1/2]"}, Follows.YES),
        ({"gamma": "1"}, Follows.YES),
        ({"alpha": "0"}, Follows.YES),
        ({"alpha": "dd"}, Follows.YES),
        ({"adjacent": "linf:1"}, Follows.NO),
        ({"verdict": "private"}, Follows.NO),
        ({"verdict": "inaccurate"}, Follows.NO),
    ],
)
def test_a_claim_about_rows(parts: dict[str, str], answer: Follows) -> None:
    assert met(coin(), **{"verdict": "accurate", **parts}) is answer


@pytest.mark.parametrize(
    ("parts", "answer"),
    [
        ({}, Follows.YES),
        ({"all_inputs": True}, Follows.YES),
        ({"beta": "3*m*c*exp(-alpha*eps/(8*c))"}, Follows.YES),
        ({"beta": "2*m*c*exp(-alpha*eps/(9*c))"}, Follows.YES),
        ({"beta": "min(1, 2*m*c*exp(-alpha*eps/(8*c)))"}, Follows.YES),
        ({"beta": "m*c*exp(-alpha*eps/(8*c))"}, Follows.NO),
        ({"beta": "2*m*c*exp(-alpha*eps/(7*c))"}, Follows.NO),
        ({"alpha": "2"}, Follows.YES),
        ({"alpha": "2", "beta": "4*exp(-eps/4)"}, Follows.YES),
        ({"alpha": "2", "beta": "3*exp(-eps/4)"}, Follows.NO),
        ({"alpha": "0", "beta": "1/2"}, Follows.NO),
        ({"beta": "1"}, Follows.NO),
        ({"alpha": "0", "beta": "2*m*c"}, Follows.NO),
    ],
)
def test_a_claim_about_every_real_input(parts: dict[str, Any], answer: Follows) -> None:
    assert "at every real input" in sentence(real_inputs())
    assert met(real_inputs(), **{"verdict": "accurate", **parts}) is answer


THRESHOLD = """program threshold; input q : real; output o : bool; var r : real;
ideal { o <- q >= 0 }
r <- Lap(eps, q); o <- r >= 0
"""


def test_one_beta_for_all_distances_is_not_one_that_falls() -> None:
    """The beta exp(-alpha*eps/2)/2 is 1/2 for alpha = 0, which is right for all inputs and no better next to 0."""
    report = dipc.check(
        dipc.load(THRESHOLD), inputs="all", alpha="0", beta="exp(-alpha*eps/2)/2", keep_proofs=True
    )  # fmt: skip
    text = certify(report)
    assert met(text, verdict="accurate", alpha="dd", beta="1/2") is Follows.YES
    for beta in ("exp(-alpha*eps/2)/2", "exp(-alpha*eps/9)/2", "1/2 - exp(-alpha*eps)/100"):
        assert met(text, verdict="accurate", alpha="dd", beta=beta) is not Follows.YES


def test_cells_of_a_row_do_not_replace_what_a_claim_block_leaves_out(tmp_path: Path) -> None:
    """A block with a beta and no gamma claims gamma = 0, whatever the rows of a certificate say."""
    file, table = tmp_path / "near.dip", tmp_path / "t.csv"
    file.write_text(
        """program near; input q : {0..2}; output o : real;
claim { beta: exp(-eps)/100; eps: [1, inf) }
ideal { o <- q }
o <- Lap(eps, q)
""",
        encoding="utf-8",
    )
    table.write_text("q,o,gamma\n0,0,1000\n1,1,1000\n2,2,1000\n", encoding="utf-8")
    text = certify(dipc.check(str(file), str(table), keep_proofs=True))
    assert "each row's own gamma being 1000" in sentence(text)
    expected = Expected("accurate")
    assert verify(text, program=file, expected=expected).exit_code == 1
    assert verify(text, program=file, table=table, expected=expected).exit_code == 0
    accepted = verify(text, program=file)
    assert accepted.exit_code == 0


@cache
def every_number(least: int, beta: str, source: str = SPARSE, **constants: int) -> str:
    program = dipc.load(source, **constants)
    return certify(dipc.check(program, inputs="all", for_all=f"m >= {least}", beta=beta, keep_proofs=True))


def test_a_refutation_is_about_its_own_number_of_queries() -> None:
    """The bound 16*m*exp(-alpha*eps/8) fails at m = 5 and eps = 139, and 17*m*exp(-alpha*eps/8) does not."""
    split = str(samples.ROOT / "tests" / "golden" / "files" / "split_rates.dip")
    text = every_number(1, "16*m*exp(-alpha*eps/8)", split)
    assert ", at m = 5, q[1] = -1, q[2] = -1, q[3] = -1, q[4] = -1, q[5] = -1, eps = 139" in sentence(text)
    assert met(text, verdict="inaccurate") is Follows.YES
    assert met(text, verdict="inaccurate", beta="15*m*exp(-alpha*eps/8)") is Follows.YES
    assert met(text, verdict="inaccurate", beta="17*m*exp(-alpha*eps/8)") is Follows.NO


def test_numbers_of_queries_that_a_theorem_is_not_about() -> None:
    beta = "2*m*c*exp(-alpha*eps/(8*c))/6"
    one = every_number(3, beta, m=1)
    assert ", for every m >= 3," in sentence(one)
    answer = verify(one, program=SPARSE, constants={"m": Fraction(1)}, expected=Expected("accurate", beta=beta)).answer
    assert answer == (Follows.NO, "it is about m >= 3, and the program has m = 1")
    three = every_number(3, beta, m=3)
    assert verify(three, program=SPARSE, expected=Expected("accurate", beta=beta)).exit_code == 0


def test_a_beta_of_one_for_every_number_is_vacuous() -> None:
    text = every_number(3, "1 + 2*m*c*exp(-alpha*eps/(8*c))", m=3)
    assert "(vacuously)" in sentence(text)
    assert met(text, verdict="accurate") is Follows.NO


def test_bounds_with_normal_noise_at_one_eps() -> None:
    """A comparison that enclosures leave open is not decided, also at a single eps."""
    source = "program n; input q : {0, 1}; output o : real; ideal { o <- q } o <- Gauss(1/eps, q)"
    report = dipc.check(dipc.load(source), inputs="all", gamma="1", beta="1/3", eps="[1, 1]", keep_proofs=True)
    text = certify(report)
    assert met(text, verdict="accurate") is Follows.YES
    assert met(text, verdict="accurate", beta="1/3 + erfc(40)") is not Follows.NO
    assert met(text, verdict="accurate", beta="1/3 - erfc(40)") is not Follows.YES
    assert met(text, verdict="accurate", beta="1/2 - erfc(1)") is Follows.YES
    assert met(text, verdict="accurate", beta="erfc(1)") is Follows.NO


@pytest.mark.parametrize("gamma", ["dd", "alpha", "dd/2 + 1/2", "1"])
def test_a_gamma_that_grows_with_the_distance_is_not_that_of_the_least_one(gamma: str) -> None:
    """Nothing follows for inputs from 1/2 on and gamma = 1/2, since outputs may be off by 1 at the distance 1."""
    source = """
    program p; input q : int; output o : real; metric { input: discrete; }
    ideal { if q >= 0 then o <- 0 else o <- -1 end }
    if q >= 0 then o <- Lap(eps, 1/2) else o <- Lap(eps, -1/2) end
    """
    report = dipc.check(dipc.load(source), inputs="all", alpha="dd", gamma=gamma, beta="exp(-eps/2)", keep_proofs=True)
    text = certify(report)
    assert met(text, verdict="accurate") is Follows.YES
    for least, radius in (("1/2", "1/2"), ("1/2", "3/4"), ("0", "0"), ("3/4", "7/8")):
        assert met(text, verdict="accurate", alpha=least, gamma=radius) is not Follows.YES


def test_a_beta_in_gamma_is_not_the_same_in_alpha() -> None:
    """The answer is never right for gamma = 0, however far the input is from others."""
    source = "program p; input q : real; output o : real; ideal { o <- q } o <- Lap(eps, q)"
    report = dipc.check(
        dipc.load(source), inputs="all", alpha="0", gamma="free", beta="exp(-gamma*eps)", keep_proofs=True
    )
    text = certify(report)
    assert met(text, verdict="accurate") is Follows.YES
    assert met(text, verdict="accurate", beta="exp(-gamma*eps/2)") is Follows.YES
    for beta in ("exp(-alpha*eps)", "exp(-alpha*eps/2)", "exp(-alpha*eps) + exp(-gamma*eps)/2"):
        assert met(text, verdict="accurate", alpha="dd", beta=beta) is not Follows.YES


def test_bounds_are_compared_on_their_intervals() -> None:
    one = {(0, Fraction(0)): Fraction(1)}
    falling = ((({(0, Fraction(-1)): Fraction(1)}, one),),)
    half = (((({(0, Fraction(0)): Fraction(1, 2)}), one),),)
    far, near = (Interval(Fraction(1), None, True, False),), (Interval(Fraction(0), Fraction(1, 2), False, True),)
    assert is_at_least(half, falling, far, Budget()) is Follows.YES
    assert is_at_least(falling, half, near, Budget()) is Follows.YES
    assert is_at_least(half, falling, near, Budget()) is Follows.NO
    assert is_at_least(falling, half, far, Budget()) is Follows.NO


def test_intervals_that_are_asked() -> None:
    whole = read_intervals("(0, ∞)")
    assert is_within(read_intervals("(0, 1/2], [2, inf)"), whole)
    assert is_within(read_intervals("[1/2, 2]"), read_intervals("(0, 1], (1, 3)"))
    assert not is_within(read_intervals("[1/2, 2]"), read_intervals("(0, 1), (1, 3)"))
    assert not is_within(whole, read_intervals("(0, 5)"))
    for text in ("(", "log(2)", "(1, 0)", "", "[0, 1]"):
        with pytest.raises(Unreadable):
            read_intervals(text)


def test_the_claim_block_of_the_program(tmp_path: Path) -> None:
    file = tmp_path / "rr.dip"
    file.write_text(COIN, encoding="utf-8")
    assert claim_block(file, Budget()) == {"alpha": "0", "gamma": "0", "beta": "1/2"}
    assert block_of(read_program(COIN.replace("beta: 1/2;", "beta: 1/2; eps: (0, 1]"), Budget()).claim)["eps"] == (
        "(0,1]"
    )
    other = coin("3/4")
    accepted = verify(other, program=file)
    assert accepted.exit_code == 0
    assert any(line.startswith("  differs") for line in accepted.lines())
    assert verify(other, program=file, expected=Expected("accurate")).exit_code == 1
    assert verify(other, program=file, expected=Expected("accurate", beta="3/4")).exit_code == 0
    assert verify(coin(), program=file, expected=Expected("accurate")).exit_code == 0


def answer_line(text: str, **parts: Any) -> str:
    lines = verify(text, expected=Expected(**parts)).lines()
    return [*lines][1]


def test_the_answer_says_which_parts_are_as_proved(tmp_path: Path) -> None:
    assert answer_line(coin(), verdict="accurate") == "met: accurate (alpha, beta, gamma, eps as proved)"
    line = "met: accurate, beta = 3/4, eps = 1 (alpha, gamma as proved)"
    assert answer_line(coin(), verdict="accurate", beta="3/4", eps="1") == line
    file = tmp_path / "rr.dip"
    file.write_text(COIN, encoding="utf-8")
    lines = [*verify(coin(), program=file, expected=Expected("accurate", all_inputs=True)).lines()]
    assert lines[1] == "met: accurate at all inputs, alpha = 0, beta = 1/2, gamma = 0 (eps as proved)"
    line = "met: private, budget = 2*eps (adjacent, delta, eps as proved)"
    assert answer_line(private("q in {0, 1}"), verdict="private", budget="2*eps") == line


@pytest.mark.parametrize("parts", [{"beta": "exp("}, {"alpha": "1 1"}, {"gamma": "$"}])
def test_what_is_expected_is_no_expression(parts: dict[str, str]) -> None:
    with pytest.raises(Unreadable, match=r"asked about, .* cannot be read"):
        verify(coin(), expected=Expected("accurate", **parts))


# --- privacy ----------------------------------------------------------------------------------------


@cache
def private(inputs: str | None = None, adjacent: str = "linf:1", budget: str = "eps", delta: str = "0") -> str:
    program = dipc.load(LEAK)
    question = PrivacyQuestion(program, adjacent, inputs, Engine(program.measurer, program.limits, keep_proofs=True))
    return certify_privacy(question, question.decide(read_claim(program, budget, delta, None)))


def test_privacy_at_some_inputs_is_not_that_of_the_domain() -> None:
    some = private("q in {0, 1}")
    assert "at all 2 ordered pairs, adjacent by linf:1, of 2 listed inputs (the domain has 3)" in sentence(some)
    assert met(some, verdict="private") is Follows.YES
    assert met(some, verdict="private", all_inputs=True) is Follows.NO
    assert met(some, verdict="private", adjacent="hamming:1") is Follows.YES  # of its inputs the pairs are the same
    assert met(some, verdict="private", budget="eps/2") is Follows.NO
    assert met(some, verdict="private", adjacent="linf:1/2") is Follows.NO  # of no two inputs
    assert met(some, verdict="private", budget="2*eps", delta="exp(-eps)") is Follows.YES
    whole = private(delta="1/2")
    assert "of all 3 inputs of the domain" in sentence(whole)
    assert met(whole, verdict="private", all_inputs=True) is Follows.YES
    assert met(whole, verdict="private", delta="1/3") is Follows.NO
    assert met(whole, verdict="private", adjacent="linf:2") is Follows.NO
    assert met(whole, verdict="not-private") is Follows.NO
    assert met(whole, verdict="accurate") is Follows.NO


def test_a_refutation_of_privacy_names_its_pair() -> None:
    text = private()
    assert "adjacent by linf:1, eps = " in sentence(text)
    assert met(text, verdict="not-private") is Follows.YES
    assert met(text, verdict="not-private", delta="1/4") is Follows.YES
    assert met(text, verdict="not-private", delta="1/2") is Follows.NO
    assert met(text, verdict="private") is Follows.NO
    data = document(text)
    data["adjacent"] = None
    alone_ = resealed(data)
    assert "not said to be adjacent" in sentence(alone_)
    assert met(alone_, verdict="not-private") is Follows.OPEN
    assert met(alone_, verdict="not-private", adjacent="linf:1") is Follows.YES
    assert met(alone_, verdict="not-private", adjacent="linf:1/2") is Follows.NO


# --- every field ------------------------------------------------------------------------------------

#: One small certificate of each kind of question.
KINDS: dict[str, Callable[[], str]] = {
    "rows": coin,
    "rows refuted": lambda: coin("1/3"),
    "own columns": lambda: certify(
        dipc.check(dipc.load(WITHOUT_IDEAL), [{"q": "true", "o": "true", "beta": "1/2", "dd": "1"}], keep_proofs=True)
    ),
    "every gamma": lambda: samples.checked(samples.CERTAIN, [{"q": 0, "a": 0}], beta="1/2", gamma="free"),
    "classes of rows": samples.marked,
    "every input": real_inputs,
    "pairs": lambda: private(delta="1/2"),
    "pairs refuted": private,
}


def truth(data: Document) -> str:
    """The verdict of the engine on what a certificate says it is about."""
    source = data["program"]
    constants = {name: Fraction(value) for name, value in source["constants"].items()}
    program = dipc.load(source["text"], **constants)
    eps = ", ".join(data["claim"]["eps"])
    claim = {name: data["claim"][name] for name in ("alpha", "beta", "gamma")}
    if data["question"] == "all inputs":
        return str(dipc.check(program, inputs="all", eps=eps, **claim).verdict)
    inputs, outputs = data["table"]["inputs"], data["table"]["outputs"]
    rows = [
        {
            **dict(zip(inputs, row["input"], strict=True)),
            **dict(zip(outputs, row["output"], strict=True)),
            **row.get("own", {}),
            **({"dd": row["dd"]} if "dd" in row else {}),
        }
        for row in data["rows"]
    ]
    return str(dipc.check(program, rows, eps=eps, **claim).verdict)


def privacy_of_leak(data: Document) -> str:
    """Whether the pairs of a certificate about LEAK satisfy its claim at some eps, by its three laws."""
    assert data["program"]["text"] == LEAK
    laws = {"0": (0.5, 0.5), "1": (0.5, 0.5), "2": (0.0, 1.0)}
    budget = Fraction(data["claim"]["budget"])
    points = list(samples_of(tuple(Interval.read(text) for text in data["claim"]["eps"])))
    for i, j in data["pairs"]:
        one, other = (laws[data["inputs"][place][0]] for place in (i, j))
        for eps in map(float, (point for point in points if point <= 50)):
            delta = sum(float(c) * eps**k * exp(float(Fraction(q)) * eps) for k, q, c in terms_of(data))
            excess = sum(max(0.0, p - exp(float(budget) * eps) * r) for p, r in zip(one, other, strict=True))
            if excess > delta + 1e-12:
                return "not private"
    return "private"


def terms_of(data: Document) -> list[tuple[int, str, Fraction]]:
    """The terms of delta, which has no denominator here."""
    return [(k, q, Fraction(c)) for k, q, c in data["claim"]["delta"]]


def require_true(data: Document) -> bool:
    """Whether the forged certificate is accepted in full; then the engine has to have the same verdict."""
    try:
        accepted = check_text(resealed(data))
    except (Rejected, Unreadable, Exhausted):
        return False
    if accepted.exit_code:
        return False
    assert (privacy_of_leak if data["question"] == "pairs" else truth)(data) == accepted.verdict
    said = accepted.lines().__next__()
    if " inputs of the domain" in said and data["question"] == "rows" and "product" not in data:
        assert f"at all {len({tuple(row['input']) for row in data['rows']})} inputs" in said
    for row in data.get("rows", ()):
        if "beta" in row.get("own", {}):
            assert row["own"]["beta"] in said
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_no_field_makes_a_false_statement_true(kind: str) -> None:
    data = document(KINDS[kind]())
    assert require_true(data)
    for forged in changes(data, random.Random(kind)):
        require_true(forged)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_field_at_all_makes_a_false_statement_true(kind: str) -> None:
    for forged in changes(document(KINDS[kind]())):
        require_true(forged)


# --- forgeries at random ----------------------------------------------------------------------------

_BETAS = ("1/2", "1/3", "1", "exp(-eps)", "1/2 - exp(-9*eps)/100", "min(1/2, exp(-eps/9))", "0")
_EPS = (["(0, inf)"], ["(0, 1/2]"], ["[1, 2]"], ["[1, 1]", "(3, inf)"])


def forged_rows(chance: random.Random) -> Document:
    """A forged certificate about rows.

    Rows are dropped, repeated or exchanged; a beta, alpha, gamma or eps is changed; dd is added or removed; outputs are
    exchanged or emptied.
    """
    data = document(coin(chance.choice(_BETAS[:4])))
    for _ in range(chance.randrange(1, 4)):
        row = chance.choice(data["rows"])
        match chance.randrange(9):
            case 0 if len(data["rows"]) > 1:
                data["rows"].remove(row)
            case 1:
                data["rows"].append(copy.deepcopy(row))
            case 2:
                data["claim"]["beta"] = chance.choice(_BETAS)
            case 3:
                data["claim"]["eps"] = chance.choice(_EPS)
            case 4:
                row.setdefault("own", {})[chance.choice(("alpha", "beta", "gamma"))] = chance.choice(("0", "1", "1/2"))
            case 5:
                row.pop("dd", None)
            case 6:
                row["dd"] = chance.choice(("0", "1", "inf", "1/2"))
            case 7:
                row["output"] = [chance.choice(("true", "false", None))]
            case _:
                data["table"]["dd"] = chance.choice(("given", "ideal"))
        if chance.random() < 0.3:
            row |= {"vacuous": True, "obligation": None, "verdict": "accurate"}
    for number, row in enumerate(data["rows"], start=1):
        row["row"] = number
    data["table"]["rows"] = len(data["rows"])
    verdicts = {row["verdict"] for row in data["rows"]}
    data["verdict"] = "inaccurate" if "inaccurate" in verdicts else "accurate"
    return data


def forged_pairs(chance: random.Random) -> Document:
    """A certificate about pairs with a domain cut, adjacency dropped or made larger, another budget, delta or eps."""
    data = document(private(*chance.choice((("q in {0, 1}",), (None, "linf:1", "eps", "1/2"), (None,)))))
    for _ in range(chance.randrange(1, 4)):
        match chance.randrange(6):
            case 0:
                data["adjacent"] = chance.choice((None, "linf:2", "hamming:1", "l1:1"))
            case 1:
                data["claim"]["budget"] = chance.choice(("0", "1/2", "2"))
            case 2:
                data["claim"]["delta"] = chance.choice(([], [[0, "0", "1/2"]], [[0, "0", "1/3"]]))
            case 3:
                data["claim"]["eps"] = chance.choice(_EPS)
            case 4 if len(data["pairs"]) > 1:
                data["pairs"].remove(chance.choice(data["pairs"]))
            case _:
                data["verdict"] = chance.choice(("private", "not private"))
    return data


@pytest.mark.parametrize("forge", [forged_rows, forged_pairs])
def test_forgeries_are_not_accepted(forge: Callable[[random.Random], Document]) -> None:
    chance = random.Random(20)
    for _ in range(60):
        require_true(forge(chance))


@pytest.mark.slow
@pytest.mark.parametrize("forge", [forged_rows, forged_pairs])
def test_ten_thousand_forgeries_are_not_accepted(forge: Callable[[random.Random], Document]) -> None:
    chance = random.Random(21)
    for _ in range(5_000):
        require_true(forge(chance))

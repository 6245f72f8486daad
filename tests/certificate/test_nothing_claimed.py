"""Rows about which nothing is claimed are certified without a probability: beta is at least 1, or dd < alpha."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.algebra.limits import Limits
from dipc.verifier.document import check_text
from dipc.verifier.reading import Rejected
from tests.verifier import samples

ROOT = Path(__file__).resolve().parent.parent.parent
FLAG = ROOT / "tests" / "golden" / "files" / "flag.dip"


def sparse() -> dict[str, Any]:
    """Sparse with too many states for most inputs; beta is 6 where dd = 0."""
    program = dipc.load(ROOT / "benchmarks" / "sparse.dip").with_limits(Limits(states=12))
    report = dipc.check(program, ROOT / "benchmarks" / "sparse.csv", keep_proofs=True)
    assert report.counts.undecided
    assert report.counts.accurate
    return samples.document(dipc.certify(report))


def test_rows_whose_beta_is_one_need_no_probability() -> None:
    document = sparse()
    unmeasured = [row for row in document["rows"] if row["probability"] is None and row["verdict"] == "accurate"]
    assert unmeasured
    assert all(row["dd"] == "0" for row in unmeasured)
    accepted = check_text(samples.resealed(document))
    assert accepted.verdict == "undecided"
    assert not accepted.open_rows


def test_without_a_probability_only_a_beta_of_one_is_enough() -> None:
    document = sparse()
    nothing = next(row for row in document["rows"] if row["probability"] is None and row["verdict"] == "accurate")
    undecided = next(row for row in document["rows"] if row["verdict"] == "undecided")
    measured = next(row for row in document["rows"] if row["probability"] is not None and row["dd"] == "1")
    del undecided["reason"]
    undecided["verdict"] = "accurate"
    undecided["obligation"] = nothing["obligation"]
    with pytest.raises(Rejected, match="a different beta"):
        check_text(samples.resealed(document))
    assert undecided["beta"] == measured["beta"]
    undecided["obligation"] = measured["obligation"]
    with pytest.raises(Rejected, match="a different probability"):
        check_text(samples.resealed(document))
    # The same inequality about the probability 0 does not hold, and no proof of another shows it.
    about_nothing = document["obligations"][nothing["obligation"]]
    for obligation in (document["obligations"][measured["obligation"]], about_nothing):
        forged = {**obligation, "probability": about_nothing["probability"], "beta": measured["beta"]}
        undecided["obligation"] = len(document["obligations"])
        document["obligations"].append(forged)
        with pytest.raises(Rejected):
            check_text(samples.resealed(document))
        document["obligations"].pop()


@pytest.mark.parametrize("options", [{"alpha": 1, "beta": "exp(-gamma*eps/2)"}, {"alpha": 0, "beta": "1"}])
def test_classes(options: dict[str, Any]) -> None:
    report = dipc.check(dipc.load(FLAG), gamma=1, inputs="all", keep_proofs=True, **options)
    assert report.verdict is dipc.Verdict.ACCURATE
    assert all(row.vacuous for row in report.rows)
    accepted = check_text(dipc.certify(report))
    assert accepted.verdict == "accurate"
    assert not accepted.open_rows


NOISY = """
program noisy;
input q : int;
output out : int;
out <- DLap(eps/3, q);
"""

#: Finite outputs at a distance from each other, with gamma left open.
RANGES = """
program ranges;
input x : {0..2}; output y : {0..2};
metric { output: abs(y - y'); }
ideal { y <- x }
y <- Exp(eps, v in {0..2} : -abs(v - x));
"""


@pytest.mark.parametrize("limits", [Limits(), Limits(bits=1), Limits(intervals=1), Limits(order=0)])
@pytest.mark.parametrize("beta", ["1", "1 + exp(-eps)", "max(1, 2 - eps)"])
def test_rows_with_a_probability_whose_inequality_takes_too_much(limits: Limits, beta: str) -> None:
    program = dipc.load(NOISY).with_limits(limits)
    report = dipc.check(program, [{"q": 0, "out": 0}], gamma=3, beta=beta, keep_proofs=True)
    accepted = check_text(dipc.certify(report))
    assert accepted.verdict == str(report.verdict)
    # Whether 1 + exp(-eps) is at least 1 takes more than one interval.
    open_too = beta == "1 + exp(-eps)" and limits == Limits(intervals=1)
    assert report.verdict is (dipc.Verdict.UNDECIDED if open_too else dipc.Verdict.ACCURATE)
    assert not accepted.open_rows


@pytest.mark.parametrize(
    ("limits", "verdict"), [(Limits(), "accurate"), (Limits(bits=1), "accurate"), (Limits(intervals=1), "undecided")]
)
def test_ranges_of_gamma(limits: Limits, verdict: str) -> None:
    program = dipc.load(RANGES).with_limits(limits)
    report = dipc.check(program, alpha=0, gamma="free", beta="1 + exp(-gamma*eps)", keep_proofs=True)
    accepted = check_text(dipc.certify(report))
    assert accepted.verdict == str(report.verdict) == verdict
    assert not accepted.open_rows

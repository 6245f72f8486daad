"""What claims nothing is certified, too, where its probability is not known: beta is at least 1, or dd < alpha."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.algebra.limits import Limits
from dipc.verifier.check import check_text
from dipc.verifier.rejection import Rejected
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
    with pytest.raises(Rejected, match="another beta"):
        check_text(samples.resealed(document))
    assert undecided["beta"] == measured["beta"]
    undecided["obligation"] = measured["obligation"]
    with pytest.raises(Rejected, match="without a probability"):
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

"""Certificates of least numbers: the two ends are proved and refuted, about one question."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.certificate.data import Uncertified, sealed
from dipc.certificate.write import certify_factor, certify_solution
from dipc.cli.main import run
from dipc.verifier import messages
from dipc.verifier.document import check_text
from dipc.verifier.reading import Rejected, Unreadable
from dipc.verifier.taylor import Expansion, Series
from dipc.verifier.trees import Tree
from tests.verifier.samples import resealed as rewritten

ROOT = Path(__file__).resolve().parent.parent.parent
SPARSE = dipc.load(ROOT / "benchmarks" / "sparse.dip", m=2)
LAPLACE = dipc.load(ROOT / "benchmarks" / "laplace.dip", m=1)
NORMAL = dipc.load(ROOT / "benchmarks" / "gaussian_noisy_max.dip", m=3)
COIN = str(ROOT / "docs" / "programs" / "coin.dip")

Document = dict[str, Any]


def factor(**options: Any) -> str:
    return certify_factor(dipc.tighten(SPARSE, **{"inputs": "q = -1..1", "digits": 8, **options}))


def least(wanted: str, **options: Any) -> str:
    program = LAPLACE if wanted == "gamma" else SPARSE
    given = {"eps": {"alpha": "1/2", "beta": "1/10"}, "gamma": {"beta": "1/10", "eps": 1}}[wanted]
    inputs = "q = 0" if wanted == "gamma" else "q = -1..1"
    return certify_solution(dipc.solve(program, wanted=wanted, inputs=inputs, **{"digits": 8, **given, **options}))


def normal_factor() -> str:
    rows = [{"q[1]": 3, "q[2]": "29/10", "q[3]": 4, "out": 3}, {"q[1]": 4, "q[2]": 0, "q[3]": "1/2", "out": 1}]
    return certify_factor(dipc.tighten(NORMAL, rows, beta="exp(-alpha*eps/2)"))


def constant(tmp_path: Path, *mode: str) -> str:
    proof = tmp_path / "proof.json"
    assert run(["privacy", COIN, "--adjacent", "hamming:1", *mode, "--certificate", str(proof), "-q"]) == 0
    return proof.read_text(encoding="utf-8")


def test_the_ends_of_a_factor_over_normal_noise_share_their_series(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two ends differ in beta alone. The least factor is bracketed to six digits."""
    computed: list[object] = []
    series = messages.series

    def counted(tree: Tree, cell: Expansion) -> Series:
        computed.append((tree, cell.middle, cell.radius, cell.terms, cell.accuracy))
        return series(tree, cell)

    document = normal_factor()
    low, high = map(Fraction, json.loads(document)["enclosed"])
    assert 0 < high - low < high / 10**4
    monkeypatch.setattr(messages, "series", counted)
    assert check_text(document).complete
    assert computed
    assert len(computed) == len(set(computed))


@pytest.mark.parametrize(
    ("text", "sought"),
    [
        (factor, "factor"),
        (lambda: factor(inputs="all"), "factor"),
        (lambda: factor(beta="exp(-alpha*eps/8) + exp(-alpha*eps/4)"), "factor"),
        (lambda: factor(beta="-(-2*exp(-eps*alpha/8))"), "factor"),
        (normal_factor, "factor"),
        (lambda: least("eps"), "eps"),
        (lambda: least("eps", eps="(0, 5), [8, 100]"), "eps"),
        (lambda: least("gamma"), "gamma"),
        (lambda: least("gamma", beta="2*exp(-eps)", eps="[1/2, 2]", digits=30), "gamma"),  # with long exponents
    ],
)
def test_both_ends_are_accepted(text: Callable[[], str], sought: str) -> None:
    document = text()
    found = check_text(document)
    assert found.complete, found.trusted
    low, high = json.loads(document)["enclosed"]
    assert found.verdict == f"{sought} {high} suffices, {sought} {low} does not"
    assert 0 < Fraction(high) - Fraction(low) <= Fraction(high) / 10**6


@pytest.mark.parametrize("mode", [["--constant"], ["--max-loss", "--at", "1/10"]])
def test_constants_of_privacy(mode: list[str], tmp_path: Path) -> None:
    text = constant(tmp_path, *mode)
    found = check_text(text)
    assert found.complete
    data = json.loads(text)
    assert data["sought"] == "budget"
    assert Fraction(data["enclosed"][0]) < 1 <= Fraction(data["enclosed"][1]) < Fraction(10001, 10000)


def test_what_fails_at_a_far_eps_alone(tmp_path: Path) -> None:
    """The enclosures of the probabilities would have 20 000 digits, the sign of their difference needs a few.

    999/1000 of the constant fails only where both probabilities are about e^-46000.
    """
    proof = tmp_path / "proof.json"
    program = str(ROOT / "benchmarks" / "privacy" / "adaptive_svt.dip")
    about = ["--adjacent", "linf:1", "--inputs", "all", "--for-all", "m", "--constant"]
    assert run(["privacy", program, *about, "--certificate", str(proof), "-q"]) == 0
    accepted = check_text(proof.read_text(encoding="utf-8"))
    assert accepted.verdict == "budget 1*eps suffices, budget 999/1000*eps does not"
    assert accepted.complete


def set_to(value: object, *path: str | int) -> Callable[[Document], None]:
    def change(data: Document) -> None:
        place: Any = data
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


def resealed(data: Document) -> str:
    for name in ("proved", "refuted"):
        if isinstance(data[name], dict):
            data[name] = json.loads(rewritten(data[name]))
    return sealed({key: part for key, part in data.items() if key != "digest"})


def swapped(data: Document) -> None:
    data["proved"], data["refuted"] = data["refuted"], data["proved"]


def other_program(data: Document) -> None:
    other = json.loads(factor(beta="3*exp(-alpha*eps/8)"))
    data["proved"] = other["proved"]


def other_rows(data: Document) -> None:
    data["refuted"] = json.loads(factor(inputs="q in {-1, 1}"))["refuted"]


def smaller_factor(data: Document) -> None:
    """Change the enclosure to an arbitrarily small one, with the old documents."""
    data["enclosed"] = ["1/1000", "1/999"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (smaller_factor, "the least number: the claim of a document is not the question's"),
        (swapped, "the least number: the document with the proof has the verdict inaccurate"),
        (other_program, "the least number: the claim of a document is not the question's"),
        (other_rows, "the least number: the two documents are about different"),
        (set_to(["1/5", "1/6"], "enclosed"), "the least number: the number refuted is not less"),
        (set_to([None, "1/5"], "enclosed"), "the least number: `enclosed` must have a lower end"),
        (set_to(None, "refuted"), "the least number: `enclosed` must have a lower end"),
        (set_to("gamma", "sought"), "the least number: "),
        (set_to("alpha", "sought"), "the least number: one of factor"),
        (
            set_to("exp(-alpha*eps/8)", "claim", "beta"),
            "the least number: the claim of a document is not the question's",
        ),
        (
            set_to("2*m*c*exp(-alpha*eps/(8*c))) + (1", "claim", "beta"),
            "the least number: the expression cannot be read",
        ),
        (set_to("1", "claim", "alpha"), "the least number: the claim of a document is not the question's"),
        (set_to(["(0, 1]"], "claim", "eps"), "the least number: the claim of a document is not the question's"),
        (set_to("1*(2*m*c*exp(-alpha*eps/(8*c)))", "proved", "claim", "beta"), "row 1"),
        (set_to("accurate", "refuted", "verdict"), "verdict"),
    ],
)
def test_a_forged_factor_is_rejected(change: Callable[[Document], None], why: str) -> None:
    data = json.loads(factor())
    change(data)
    with pytest.raises(Rejected) as found:
        check_text(resealed(data))
    assert str(found.value).startswith(why)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (set_to(["[1, inf)"], "proved", "claim", "eps"), ""),
        (
            set_to(["(0, inf)", "[20, 30]"], "claim", "eps"),
            "the least number: the intervals of eps are not in increasing order",
        ),
        (
            set_to(["(0, 20)", "[20, 30]"], "claim", "eps"),
            "the least number: the claim of a document is not the question's",
        ),
        (set_to(["1", "2"], "enclosed"), "the least number: the claim of a document is not the question's"),
    ],
)
def test_a_forged_eps_is_rejected(change: Callable[[Document], None], why: str) -> None:
    data = json.loads(least("eps"))
    change(data)
    with pytest.raises(Rejected) as found:
        check_text(resealed(data))
    assert str(found.value).startswith(why)


def test_a_sum_without_parentheses_is_no_factor() -> None:
    """1/2*a + b is not half of a + b."""
    beta = "exp(-alpha*eps/8) + exp(-alpha*eps/4)"
    data = json.loads(factor(beta=beta))
    data["proved"]["claim"]["beta"] = f"{data['enclosed'][1]}*{beta}"
    with pytest.raises(Rejected):
        check_text(resealed(data))


def test_none_is_part_of_another() -> None:
    data = json.loads(factor())
    data["proved"] = json.loads(factor())
    with pytest.raises(Unreadable, match="question"):
        check_text(sealed({key: part for key, part in data.items() if key != "digest"}))


def test_a_pair_that_the_proof_is_not_about(tmp_path: Path) -> None:
    """The failure of a smaller budget at another pair proves nothing about the least budget here."""
    program = tmp_path / "p.dip"
    program.write_text("program p; input x : {0..3}; output y : {0..1}; y <- Exp(eps, v in {0..1} : v*x*x);")
    proofs = []
    for inputs in ("x in {0, 1}", "x in {2, 3}"):
        proof = tmp_path / "proof.json"
        words = ["privacy", str(program), "--adjacent", "linf:1", "--inputs", inputs, "--constant", "-q"]
        assert run([*words, "--certificate", str(proof)]) == 0
        proofs.append(json.loads(proof.read_text(encoding="utf-8")))
    small, large = proofs
    small["refuted"], small["enclosed"][0] = large["refuted"], large["enclosed"][0]
    small["enclosed"][1] = "100"
    with pytest.raises(Rejected):
        check_text(resealed(small))


def test_no_least_eps_if_the_claim_holds_at_every_eps() -> None:
    """The reason says that the claim holds everywhere, not that it holds on several intervals."""
    solution = dipc.solve(SPARSE, wanted="eps", inputs="q = -1..1", alpha="1/2", beta="1 - exp(-eps)/1000")
    assert solution.everywhere
    with pytest.raises(Uncertified, match="the claim holds at every eps: `dipc check --certificate FILE` certifies it"):
        certify_solution(solution)


def test_what_has_none() -> None:
    with pytest.raises(Uncertified, match="no factor suffices"):
        certify_factor(dipc.tighten(LAPLACE, inputs="q = 0", beta="-1", gamma=1))
    with pytest.raises(Uncertified, match="does not follow a least beta"):
        certify_solution(dipc.solve(SPARSE, wanted="beta", inputs="q = -1..1"))
    rows = [{"q[1]": 0, "out[1]": 0, "beta": "exp(-eps)"}]
    with pytest.raises(Uncertified, match="their own beta"):
        certify_factor(dipc.tighten(LAPLACE, rows, gamma=1))


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, proof = str(ROOT / "benchmarks" / "sparse.dip"), tmp_path / "proof.json"
    words = ["-D", "m=2", "--inputs", "q = -1..1", "--certificate", str(proof), "-q"]
    assert run(["tighten", program, *words]) == 0
    assert run(["verify", str(proof), "--program", program, "-D", "m=2"]) == 0
    assert run(["solve", program, *words, "--for", "eps", "--alpha", "1/2", "--beta", "1/10"]) == 0
    assert run(["verify", str(proof), "-q"]) == 0
    assert run(["solve", program, *words, "--for", "beta"]) == 2
    assert "E0903" in capsys.readouterr().err
    assert run(["tighten", program, "-D", "m=1..2", "--inputs", "q = -1..1", "--certificate", str(proof)]) == 2

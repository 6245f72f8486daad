"""The theorems that `dipc verify --coq` writes: Coq proves them, and refuses forged ones."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.certificate.data import sealed
from dipc.cli.main import run
from dipc.cli.terminal import ExitCode
from dipc.coq.signs import CoqSum, NotStatedError, prove_positive, unit_of
from dipc.coq.theorems import UnsupportedError, write_theorems
from dipc.verifier.claims import Interval
from dipc.verifier.document import check_document, read_document
from dipc.verifier.reading import Budget
from tests.certificate.test_golden_certificates import CASES
from tests.certificate.test_privacy_certificates import COIN
from tests.certificate.test_privacy_certificates import certificate as private
from tests.patience import SECONDS
from tests.verifier.samples import CERTAIN, GREATEST, IN_PIECES, LEAST, NEGATIVE, NONNEGATIVE

ROOT = Path(__file__).resolve().parent.parent.parent


def _coq_is_there() -> bool:
    """Whether there is a Coq with the two libraries."""
    if shutil.which("coqc") is None:
        return False
    where = subprocess.run(["coqc", "-where"], capture_output=True, text=True, timeout=60, check=False).stdout.strip()
    return all((Path(where) / "user-contrib" / name).is_dir() for name in ("Interval", "Coquelicot"))


needs_coq = pytest.mark.skipif(not _coq_is_there(), reason="Coq with Coquelicot and Coq-Interval is not installed")


def compiled(text: str, directory: Path) -> bool:
    """Whether Coq proves everything in the file, whose theorems rest on no axiom but those of its real numbers."""
    file = directory / "theorems.v"
    names = re.findall(r"^Theorem (\w+)", text, re.MULTILINE)
    # All at once: Coq goes through its libraries for each question.
    together = f"Definition everything := ({', '.join([*names, 'I'])}, I).\nPrint Assumptions everything.\n"
    file.write_text(text + together, encoding="utf-8")
    done = subprocess.run(
        ["coqc", "-w", "none", file.name], cwd=directory, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    return done.returncode == 0 and only_known_axioms(done.stdout)


def only_known_axioms(printed: str) -> bool:
    """Whether what `Print Assumptions` prints names axioms of `_ASSUMED` alone."""
    # What follows a name on its own line is its type.
    axioms = set(re.findall(r"^([A-Za-z_][\w.]*)\s*(?::|$)", printed, re.MULTILINE)) - {"Axioms"}
    return {axiom.split(".")[0] for axiom in axioms} <= _ASSUMED


#: The modules whose axioms the theorems may rest on: real numbers, and the machine integers that Coq-Interval uses.
_ASSUMED = {"ClassicalDedekindReals", "FunctionalExtensionality", "Classical_Prop", "Uint63", "PrimInt63"}


def certificate(beta: str, **more: Any) -> str:
    """The certificate of a claim with this beta about a program whose answer is certain."""
    rows = [{"q": "0", "a": "0", "dd": "1"}]
    return dipc.certify(dipc.check(dipc.load(CERTAIN), rows, beta=beta, keep_proofs=True, **more))


def theorems_of(text: str) -> Any:
    document, budget = read_document(text), Budget()
    check_document(document, budget)
    return write_theorems(document, budget)


# --- what is written ---------------------------------------------------------------------------------


def test_a_function_is_written_as_people_read_it() -> None:
    text = theorems_of(certificate("1/2*exp(-eps/8) + eps^2 - 3/4*eps*exp(-2*eps) + 1")).text
    assert text.startswith(
        "(* 1 theorem, one for each obligation; the probabilities of 1 of 1 rows proved from the program.\n"
    )
    assert "1 + eps^2 + 1/2 * exp (-(eps/8)) - 3/4 * eps * exp (-(2*eps))." in text
    assert "Theorem o0 : forall eps, 0 < eps -> 1 - o0_beta eps <= o0_Pr eps.\n" in text
    assert "(* obligation 0: row 1 *)" in text


def test_a_refutation_is_at_the_stated_eps() -> None:
    text = certificate("eps - 1")
    eps = Fraction(json.loads(text)["obligations"][0]["counterexample"]["eps"])
    at = str(eps) if eps.denominator == 1 else f"({eps})"
    assert f"Theorem o0 : o0_Pr {at} < 1 - o0_beta {at}.\n" in theorems_of(text).text


def test_an_obligation_without_a_theorem_is_counted_in_the_first_line() -> None:
    (beta,) = IN_PIECES
    theorems = theorems_of(certificate(beta))
    assert (theorems.stated, theorems.obligations) == (0, 1)
    assert theorems.text.startswith("(* 0 theorems; 1 of 1 obligations not stated.\n")
    assert "not stated: this beta is neither" in theorems.text
    assert "\nTheorem " not in theorems.text


def test_a_verdict_without_an_obligation_is_counted_in_the_first_line() -> None:
    data = json.loads(certificate("eps"))
    (row,) = data["rows"]
    del row["obligation"]
    row["reason"] = "no time"
    assert write_theorems(read_document(_sealed(data)), Budget()).text.startswith(
        "(* 1 theorem, one for each obligation; verdicts without an obligation: 1.\n"
    )


def test_words_of_a_certificate_cannot_leave_their_comment() -> None:
    data = json.loads(certificate(IN_PIECES[0]))
    data["obligations"][0]["reason"] = 'so *) Axiom wrong : False. (* "'
    data["program"]["name"] = "p *) Axiom wrong : False. (*"
    document = read_document(_sealed(data))
    text = write_theorems(document, Budget()).text
    assert not re.search(r"\*\)\s*Axiom", text)
    assert '"' not in text.partition("Require")[0]


def test_a_certificate_about_privacy_is_refused_with_what_is_supported() -> None:
    text = private(COIN, "linf:1", "eps")
    with pytest.raises(UnsupportedError, match="supported are certificates of `dipc check`"):
        write_theorems(read_document(text), Budget())


def test_searches_end() -> None:
    """A sum that is not positive has no proof, wherever it fails, and none is searched for without end."""
    everywhere = Interval(Fraction(0), None, False, False)
    for items in ({(0, 0): -1, (1, 0): 1}, {(1, 0): -1, (0, 1): 1, (0, 0): 10**400}, {(0, 5): -(10**300), (0, 0): 1}):
        with pytest.raises(NotStatedError):
            prove_positive("s", CoqSum((*items.items(), ((2, 1), -1))), everywhere, [])
    with pytest.raises(NotStatedError, match="too many pieces"):
        prove_positive(
            "s",
            CoqSum((((0, 0), 2), ((0, 1), 1), ((1, 1), -1))),
            Interval(Fraction(1, 2**300), Fraction(1), True, True),
            [],
        )


def test_the_unit_divides_all_exponents() -> None:
    assert unit_of([Fraction(1, 4), Fraction(-3, 10), Fraction(0)]) == Fraction(1, 20)
    assert unit_of([Fraction(0)]) == 1


# --- the command line --------------------------------------------------------------------------------


@pytest.fixture
def proof(tmp_path: Path) -> Path:
    path = tmp_path / "proof.json"
    path.write_text(certificate("eps"), encoding="utf-8")
    return path


def test_the_first_line_counts_theorems(proof: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "proof.v"
    assert run(["verify", str(proof), "--coq", str(out), "-q"]) is ExitCode.ACCURATE
    first, *others = capsys.readouterr().out.splitlines()
    assert (first.startswith("proved: certain"), others) == (True, [])
    words = "1 theorem, one for each obligation; the probabilities of 1 of 1 rows proved from the program"
    assert first.endswith(f"; {out}: {words}")
    assert re.findall(r"^Theorem (\w+)", out.read_text(encoding="utf-8"), re.MULTILINE)[-2:] == ["o0", "row1"]


def test_a_certificate_in_part_is_written_in_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "proof.json", tmp_path / "proof.v"
    path.write_text(certificate(IN_PIECES[0]), encoding="utf-8")
    assert run(["verify", str(path), "--coq", str(out)]) is ExitCode.UNDECIDED
    assert "1 of 1 obligations not stated" in capsys.readouterr().out.splitlines()[0]
    assert "not stated:" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize("change", ["coefficient", "verdict", "eps"])
def test_a_forged_obligation_is_rejected_and_nothing_is_written(
    change: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "proof.json", tmp_path / "proof.v"
    out.write_text("before", encoding="utf-8")
    path.write_text(_sealed(_forged(change)), encoding="utf-8")
    assert run(["verify", str(path), "--coq", str(out)]) is ExitCode.INACCURATE
    assert capsys.readouterr().out.startswith("rejected: obligation 0")
    assert out.read_text(encoding="utf-8") == "before"


def test_what_cannot_be_read_or_written_is_bad_input(
    proof: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.v"
    nothing = tmp_path / "nothing.json"
    nothing.write_text("[]", encoding="utf-8")
    assert run(["verify", str(nothing), "--coq", str(out)]) is ExitCode.BAD_INPUT
    assert "E0902" in capsys.readouterr().err
    assert run(["verify", str(tmp_path / "missing.json"), "--coq", str(out)]) is ExitCode.BAD_INPUT
    assert "E0902" in capsys.readouterr().err
    assert not out.exists()
    for place in (tmp_path, tmp_path / "none" / "out.v", Path("/dev/full")):
        assert run(["verify", str(proof), "--coq", str(place)]) is ExitCode.BAD_INPUT
        captured = capsys.readouterr()
        assert (captured.out, captured.err.startswith("error[")) == ("", True)


def test_privacy_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "proof.json", tmp_path / "out.v"
    path.write_text(private(COIN, "linf:1", "eps"), encoding="utf-8")
    assert run(["verify", str(path), "--coq", str(out)]) is ExitCode.BAD_INPUT
    assert "E0904" in capsys.readouterr().err
    assert not out.exists()


def _sealed(data: dict[str, Any]) -> str:
    data.pop("digest")
    return sealed(data)


def _forged(change: str) -> dict[str, Any]:
    """A certificate whose obligation is changed into a false one."""
    data: dict[str, Any] = json.loads(certificate("eps - 1" if change == "eps" else "eps"))
    (obligation,) = data["obligations"]
    match change:
        case "coefficient":
            (beta,) = data["betas"]
            for function in (beta["min"][0], obligation["parts"][0]["functions"][0]):
                function[0][2] = "-1"
        case "verdict":
            obligation["verdict"] = "inaccurate"
            del obligation["parts"]
            obligation["counterexample"] = {"argument": 0, "eps": "1"}
        case _:
            obligation["counterexample"]["eps"] = "2"
    return data


def test_the_page_shows_what_is_written() -> None:
    table = str(ROOT / "benchmarks" / "sparse.csv")
    report = dipc.check(dipc.load(ROOT / "benchmarks" / "sparse.dip"), table, keep_proofs=True)
    text = theorems_of(dipc.certify(report)).text
    page = (ROOT / "docs" / "coq.md").read_text(encoding="utf-8")
    programs = text.index("(* The probabilities of programs")
    assert text[text.index("(* obligation 4") : programs].strip() in page
    # The program's tree, its meaning, and a row that is above 1 - beta, with its probability.
    for start, end in (
        ("Definition w0_", "Lemma row1_Pr"),
        ("Fixpoint run", "(* The probability that"),
        ("Lemma row21_Pr", "Lemma row22_Pr"),
    ):
        assert text[text.index(start, programs) : text.index(end, programs)].strip() in page


# --- compiled ----------------------------------------------------------------------------------------


@needs_coq
@pytest.mark.every_case
@pytest.mark.parametrize("change", ["coefficient", "verdict", "eps"])
def test_coq_refuses_forged_obligations(change: str, tmp_path: Path) -> None:
    """The writer without the checker before it: what is false does not compile."""
    text = write_theorems(read_document(_sealed(_forged(change))), Budget()).text
    assert "Theorem o0" in text
    assert not compiled(text, tmp_path)


@needs_coq
@pytest.mark.parametrize(
    ("old", "new"), [("6 * exp (-(eps/8))", "5/12 * exp (-(eps/8))"), ("0 < eps ->", "-1 < eps ->")]
)
def test_coq_refuses_changed_theorems(old: str, new: str, tmp_path: Path) -> None:
    table = str(ROOT / "benchmarks" / "sparse.csv")
    report = dipc.check(dipc.load(ROOT / "benchmarks" / "sparse.dip"), table, keep_proofs=True)
    text = theorems_of(dipc.certify(report)).text
    assert text.count(old) > 3
    assert not compiled(text.replace(old, new), tmp_path)


_BETAS = (*NONNEGATIVE, *LEAST, *GREATEST, *NEGATIVE)

#: Quotients, an even factor that touches 0, and the least of greatest.
_FEW = (_BETAS[10], _BETAS[11], GREATEST[3])


def _samples() -> list[Any]:
    marks = {beta: pytest.mark.every_case if beta in _FEW else pytest.mark.slow for beta in _BETAS}
    return [pytest.param(beta, marks=mark) for beta, mark in marks.items()]


@needs_coq
@pytest.mark.parametrize("beta", _samples())
def test_coq_proves_the_theorems_of_each_form(beta: str, tmp_path: Path) -> None:
    theorems = theorems_of(certificate(beta))
    assert theorems.stated == theorems.obligations
    assert compiled(theorems.text, tmp_path)


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize("eps", ["(0, 1/2]", "[1/2, 1/2]", "(0, 1/3), [1/2, 2], (3, inf)", "[1, 1]", "(1, 2)"])
@pytest.mark.parametrize("beta", ["(eps - 1)^2", "max(eps, 1 - eps)", "1/(2 - exp(-eps)) - 1/2", "min(eps, 1, eps^2)"])
def test_coq_proves_the_theorems_of_each_interval(beta: str, eps: str, tmp_path: Path) -> None:
    theorems = theorems_of(certificate(beta, eps=eps))
    assert theorems.stated == theorems.obligations
    assert compiled(theorems.text, tmp_path)


_GOLDENS = ("accurate_sparse", "inaccurate_gamma_free", "inaccurate_piecewise")


def _goldens() -> list[Any]:
    marks = {path: pytest.mark.every_case if path.stem in _GOLDENS else pytest.mark.slow for path in CASES}
    return [pytest.param(path, marks=mark, id=path.stem) for path, mark in marks.items()]


@needs_coq
@pytest.mark.parametrize("path", _goldens())
def test_coq_proves_the_theorems_of_goldens(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    words = shlex.split(path.read_text(encoding="utf-8").splitlines()[0].removeprefix("$ "))[1:]
    file, out = tmp_path / "certificate.json", tmp_path / "golden.v"
    run([*words, "--certificate", str(file)])
    assert run(["verify", str(file), "--coq", str(out)]) in (ExitCode.ACCURATE, ExitCode.UNDECIDED)
    capsys.readouterr()
    assert compiled(out.read_text(encoding="utf-8"), tmp_path)

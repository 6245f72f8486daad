"""Certificates of privacy: they are accepted as written, and rejected where a value was changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.certificate.data import sealed
from dipc.certificate.privacy import Uncertified, certify_privacy
from dipc.cli.main import run
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import read_claim
from dipc.verifier.document import check_text
from dipc.verifier.reading import Rejected
from tests.privacy import mechanisms

Document = dict[str, Any]

#: A coin that leans to one side at either end.
COIN = """
program coin;
input x : {0..2};
output y : {0..1};
y <- Exp(eps, v in {0..1} : abs(v - x)/2);
"""


#: Which outputs are more likely at 0 than at 1 changes with eps.
CROSSING = """
program crossing;
input x : {0..1};
output y : {0..3};
if x = 0 then
  y <- choose {
    0 : 1/(1 + exp(eps)), 1 : exp(eps)/(2 + 2*exp(eps)), 2 : exp(eps)/(3 + 3*exp(eps)), 3 : exp(eps)/(6 + 6*exp(eps))
  }
else y <- choose { 0 : 1/4, 1 : 1/4, 2 : 1/4, 3 : 1/4 } end
"""


def certificate(
    text: str, adjacent: str, budget: str, delta: str = "0", inputs: str | None = None, eps: str | None = None
) -> str:
    program = dipc.load(text)
    engine = Engine(program.measurer, program.limits, keep_proofs=True)
    question = PrivacyQuestion(program, adjacent, inputs, engine)
    return certify_privacy(question, question.decide(read_claim(program, budget, delta, eps)))


def test_what_cells_refute_has_the_laws_of_its_own_pair() -> None:
    """The pair is not that of the first two cells, whose laws were once written."""
    weights = [("x >= 1", "2/5", "2/5", "1/5"), ("x >= 0", "1/3", "1/3", "1/3"), ("true", "1/8", "1/8", "3/4")]
    cases = [f"if {when} then y <- choose {{ 0 : {a}, 1 : {b}, 2 : {c} }} else " for when, a, b, c in weights]
    text = f"program cells; input x : real; output y : {{0..2}} = 0; {''.join(cases)} y <- 0 end end end"
    checked = check_text(certificate(text, "linf:1", "eps", "1/9", "all", "1/10"))
    assert (checked.verdict, checked.complete) == ("not private", True)


@pytest.mark.parametrize(
    ("text", "adjacent", "budget", "delta", "inputs", "verdict"),
    [
        (COIN, "linf:1", "eps", "0", None, "private"),
        (COIN, "hamming:1", "eps/3", "0", None, "not private"),
        (COIN, "linf:1", "eps/8", "exp(-eps)/9", None, "not private"),
        (mechanisms.RESPONSE % "x : 3/4, not x : 1/4", "hamming:1", "eps", "0", None, "not private"),
        (mechanisms.BARE, "linf:1", "9*eps", "0", "q = 0..1", "not private"),
        (mechanisms.ONE_SIDED, "linf:1", "0*eps", "0", "x = 1..3", "private"),
        (mechanisms.EVEN, "l1:1", "eps", "1/4", "x = 0..1", "not private"),
        (COIN, "linf:1", "eps/2", "1/1000 + eps/1000", None, "private"),
        (COIN, "linf:1", "eps/8", "exp(-2)", None, "not private"),
        (CROSSING, "linf:1", "eps/2", "exp(-1/2)", None, "private"),
        (CROSSING, "linf:1", "eps/2", "1/2", None, "private"),
        (CROSSING, "linf:1", "eps/4", "1/5", None, "not private"),
    ],
)
def test_what_is_written_is_accepted(
    text: str, adjacent: str, budget: str, delta: str, inputs: str | None, verdict: str
) -> None:
    found = check_text(certificate(text, adjacent, budget, delta, inputs))
    assert found.verdict == verdict
    assert found.complete
    assert found.derived_obligations == found.obligations


def drop_output(data: Document) -> None:
    del data["outputs"][1]
    for law in data["laws"]:
        del law[1]


def repeat_output(data: Document) -> None:
    data["outputs"][1] = data["outputs"][0]
    for law in data["laws"]:
        law[1] = law[0]


def swap_law(data: Document) -> None:
    data["laws"][0].reverse()


def other_obligation(data: Document) -> None:
    for couple in data["couples"]:
        couple[1] = 0


def set_to(value: object, *path: str | int) -> Callable[[Document], None]:
    def change(data: Document) -> None:
        place: Any = data
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "step"),
    [
        (drop_output, "law 0: the probabilities of its outputs do not add up to 1"),
        (repeat_output, "outputs: two of the outputs"),
        (swap_law, "law 0: the program gives a different probability"),
        (other_obligation, "sign of a couple"),
        (set_to("1/2", "claim", "budget"), "sign of a couple: the obligation does not compare"),
        (set_to("-1", "claim", "budget"), "claim: the budget is negative"),
        (set_to([[0, "0", "1/9"]], "claim", "delta"), "pair 0: a set of outputs has no obligation"),
        (set_to(["(0, 1)"], "claim", "eps"), "obligation 0"),
        (set_to([], "claim", "eps"), "claim: no interval of eps is given"),
        (set_to("not private", "verdict"), "refuted"),
        (set_to("undecided", "verdict"), "verdict"),
        (set_to("linf:2", "adjacent"), "pairs: the pairs listed are not exactly"),
        (set_to("linf", "adjacent"), "adjacent"),
        (set_to("near:1", "adjacent"), "adjacent: `near:1` is not an adjacency such as linf:1"),
        (lambda data: data["pairs"].pop(), "pairs: the pairs listed are not exactly"),
        (lambda data: data["pairs"].append([1, 1]), "pairs: the list is empty"),
        (lambda data: data["couples"].pop(), "pair 0: a set of outputs has no obligation"),
        (lambda data: data["laws"].pop(), "laws: there must be one"),
        (set_to(["3"], "inputs", 2), "inputs: a value of an input is outside its domain"),
        (
            set_to({"pair": 0, "outputs": [0], "obligation": 0}, "refuted"),
            "refuted: a refutation must be given if and only if the verdict is `not private`",
        ),
        (set_to("x", "program", "name"), "program: `name` is not the name in the text of the program"),
    ],
)
def test_a_forged_proof_is_rejected(change: Callable[[Document], None], step: str) -> None:
    _rejected(certificate(COIN, "linf:1", "eps"), change, step)


@pytest.mark.parametrize(
    ("change", "step"),
    [
        (
            set_to("private", "verdict"),
            "refuted: a refutation must be given if and only if the verdict is `not private`",
        ),
        (set_to("1", "claim", "budget"), "obligation of a pair: the obligation does not compare"),
        (set_to([[0, "0", "1/9"]], "claim", "delta"), "obligation of a pair: the obligation does not compare"),
        (set_to([0, 0], "refuted", "outputs"), "refuted: an output is counted twice"),
        (set_to([], "refuted", "outputs"), "obligation of a pair: its beta differs from the claim"),
        (set_to("0", "obligations", 0, "counterexample", "eps"), "obligation 0, counterexample"),
        (set_to([[1, 0]], "pairs"), "obligation of a pair"),
        (lambda data: data["laws"].reverse(), "law 0: the program gives a different probability"),
        (set_to("hamming:0", "adjacent"), "adjacent: `hamming:0` is not an adjacency such as linf:1"),
    ],
)
def test_a_forged_refutation_is_rejected(change: Callable[[Document], None], step: str) -> None:
    _rejected(certificate(COIN, "hamming:1", "eps/3"), change, step)


def first_set(data: Document, size: int) -> list[Any]:
    """The first set of `size` outputs."""
    found: list[Any] = next(entry for entry in data["sets"] if len(entry[0]) == size)
    return found


def moved_sign(data: Document) -> None:
    """Claim of an output that sometimes exceeds the budget that it never does."""
    couple = first_set(data, 1)[0]
    data["couples"].append([couple, data["couples"][0][1] if data["couples"] else 0])


@pytest.mark.parametrize(
    ("change", "step"),
    [
        (lambda data: data["sets"].remove(first_set(data, 2)), "pair 1: a set of outputs has no obligation"),
        (lambda data: data["sets"].remove(first_set(data, 0)), "pair 0: a set of outputs has no obligation"),
        (lambda data: first_set(data, 1).__setitem__(1, first_set(data, 2)[1]), "obligation of a pair"),
        (lambda data: first_set(data, 2)[0].pop(), "pair 1: a set of outputs has no obligation"),
        (moved_sign, "sign of a couple"),
        (set_to([[0, "0", "1/3"]], "claim", "delta"), "obligation of a pair: the obligation does not compare"),
        (set_to("1/3", "claim", "budget"), ("sign of a couple", "obligation of a pair")),
        (
            set_to("not private", "verdict"),
            "refuted: a refutation must be given if and only if the verdict is `not private`",
        ),
        (set_to([], "sets"), "pair 0: a set of outputs has no obligation"),
        (swap_law, "law 0: the program gives a different probability"),
        (drop_output, "law 0: the probabilities of its outputs do not add up to 1"),
    ],
)
def test_a_forged_proof_with_a_delta_is_rejected(
    change: Callable[[Document], None], step: str | tuple[str, ...]
) -> None:
    _rejected(certificate(CROSSING, "linf:1", "eps/2", "1/2"), change, step)


def test_too_many_outputs_without_a_sign() -> None:
    """Outputs that exceed the budget at some eps only come with all their subsets: nine of them have no certificate."""
    weights = ", ".join(f"{k} : exp(eps*{k})/{2**k}/s" for k in range(1, 12))
    total = " + ".join(f"exp(eps*{k})/{2**k}" for k in range(1, 12))
    text = f"""
program many; input x : {{0..1}}; output y : {{1..11}};
if x = 0 then y <- choose {{ {weights.replace("/s", f"/({total})")} }}
else y <- choose {{ {", ".join(f"{k} : 1/11" for k in range(1, 12))} }} end
"""
    with pytest.raises(Uncertified, match="more than the 8"):
        certificate(text, "linf:1", "eps/9", "99/100")


def _rejected(text: str, change: Callable[[Document], None], step: str | tuple[str, ...]) -> None:
    data = json.loads(text)
    del data["digest"]
    assert check_text(sealed(data)).complete
    change(data)
    with pytest.raises(Rejected) as found:
        check_text(sealed(data))
    said = str(found.value)
    assert any(said.startswith(one) or f", {one}" in said for one in ((step,) if isinstance(step, str) else step)), said


#: The first query below a noisy threshold.
NORMAL = """
program first;
const N = 2;
input q[1..N] : {0, 1};
output out : {0..N} = 0;
var t, r : real;
t <- Gauss(2/eps, 0);
for i in 1..N do r <- Gauss(4/eps, q[i]); if r < t then out <- i; exit end end
"""
IRRATIONAL = NORMAL.replace("2/eps", "sqrt(2*log(3))/eps").replace("4/eps", "2*sqrt(2*log(3))/eps")
STILL = NORMAL.replace("/eps", "")


@pytest.mark.parametrize(
    ("text", "budget", "delta", "eps", "verdict"),
    [
        (NORMAL, "eps", "1/100", "[1/2, 1/2]", "private"),
        (NORMAL, "eps", "1/50", "[1/2, 1]", "private"),
        (NORMAL, "3*eps", "0", "[1/2, 2]", "private"),
        (NORMAL, "eps/8", "1/100", "[1/2, 1/2]", "not private"),
        (NORMAL, "eps/8", "0", "[1/2, 1]", "not private"),
        (IRRATIONAL, "eps", "1/50", "[1/2, 1/2]", "private"),
        (IRRATIONAL, "eps/8", "1/100", "[1/2, 1/2]", "not private"),
        (STILL, "eps", "1/50", "[1/2, 1]", "private"),
        (NORMAL.replace("Gauss(2/eps", "Lap(eps/2"), "eps", "1/50", "[1/2, 1/2]", "private"),
        (NORMAL.replace("Gauss(4/eps", "Lap(eps/4"), "eps/8", "1/100", "[1/2, 1/2]", "not private"),
    ],
)
def test_outputs_of_gaussian_noise(text: str, budget: str, delta: str, eps: str, verdict: str) -> None:
    found = check_text(certificate(text, "linf:1", budget, delta, None, eps))
    assert found.verdict == verdict
    assert found.complete
    assert found.derived_obligations == found.obligations


def normal_star(data: Document) -> dict[str, Any]:
    """The star of a law."""
    number = next(n for law in data["laws"] for n in law if "stars" in data["probabilities"][n])
    star: dict[str, Any] = data["probabilities"][number]["stars"][0][1][0]
    return star


def further(data: Document) -> None:
    """Replace the pair by one of inputs that are not adjacent."""
    data["adjacent"] = "linf:1/2"


@pytest.mark.parametrize(
    ("change", "step"),
    [
        (drop_output, "law 0: a run ends with an output that is not listed"),
        (repeat_output, "outputs: two of the outputs"),
        (set_to([[0, "0", "1/1000"]], "claim", "delta"), "obligation of a pair: the obligation does not compare"),
        (set_to("1/3", "claim", "budget"), ("sign of a couple", "obligation of a pair")),
        (set_to(["[1/2, 3]"], "claim", "eps"), "obligation"),
        (set_to([], "sets"), "pair 0: a set of outputs has no obligation"),
        (lambda data: data["couples"].pop(), "pair"),
        (lambda data: data["laws"].pop(), "laws: there must be one"),
        (further, "pairs: the pairs listed are not exactly"),
    ],
)
def test_a_forged_proof_about_gaussian_noise_is_rejected(
    change: Callable[[Document], None], step: str | tuple[str, ...]
) -> None:
    _rejected(certificate(NORMAL, "linf:1", "eps/4", "1/10", None, "[1/2, 1]"), change, step)


@pytest.mark.parametrize("change", [lambda data: normal_star(data).__setitem__("center", "3"), swap_law])
def test_laws_of_gaussian_noise_are_those_of_the_program(change: Callable[[Document], None]) -> None:
    data = json.loads(certificate(NORMAL, "linf:1", "eps/4", "1/10", None, "[1/2, 1]"))
    del data["digest"]
    change(data)
    with suppress(Rejected):
        assert not check_text(sealed(data)).complete


@pytest.mark.parametrize(
    ("change", "step"),
    [
        (
            set_to("private", "verdict"),
            "refuted: a refutation must be given if and only if the verdict is `not private`",
        ),
        (set_to("1", "claim", "budget"), "obligation of a pair: the obligation does not compare"),
        (set_to([0, 0], "refuted", "outputs"), "refuted: an output is counted twice"),
        (set_to("2/3", "obligations", 0, "counterexample", "eps"), "obligation 0, counterexample"),
        (set_to(1, "obligations", 0, "counterexample", "argument"), "obligation 0, counterexample"),
        (set_to([[1, 0]], "pairs"), "obligation of a pair"),
    ],
)
def test_a_forged_refutation_about_gaussian_noise_is_rejected(change: Callable[[Document], None], step: str) -> None:
    _rejected(certificate(NORMAL, "linf:1", "eps/8", "1/100", None, "[1/2, 1/2]"), change, step)


LAPLACE = "program p; input q : real; output y : real; y <- Lap(eps, q);"
COUNT = "program p; input n : {0..2}; output y : int; y <- DLap(eps, n);"
SHIFTED = """
program p; domain sign = {minus, plus}; input q, r : real; output y, z : real; output s : sign;
metric { input: l1; output: abs(q); }
var n : real; n <- Lap(eps, q); y <- n; z <- Lap(2*eps, r + q); if n >= 0 then s <- plus else s <- minus end
"""


@pytest.mark.parametrize("inputs", ["q in {0, 1}", "all"])
def test_real_outputs(inputs: str) -> None:
    """A proof is about all inputs, a refutation about an event of real outputs."""
    found = check_text(certificate(LAPLACE, "linf:1", "eps", "0", inputs))
    assert (found.verdict, found.complete) == ("private", True)


@pytest.mark.parametrize(
    ("text", "adjacent", "budget", "inputs"),
    [
        (LAPLACE, "linf:1", "eps/2", "all"),
        (LAPLACE, "linf:1/2", "eps/3", "all"),
        (LAPLACE, "linf:3", "eps", "q in {0, 2}"),
        (COUNT, "hamming:1", "eps", None),
        (SHIFTED, "linf:1", "2*eps", "all"),
    ],
)
def test_refutations_by_events_of_numbers(text: str, adjacent: str, budget: str, inputs: str | None) -> None:
    source = certificate(text, adjacent, budget, "0", inputs)
    found = check_text(source)
    assert (found.verdict, found.complete) == ("not private", True)
    for change, step in (
        (lambda data: data["refuted"].update(gamma="7/2"), "law 0"),
        (lambda data: data["refuted"].update(gamma="-1"), "refuted"),
        (lambda data: data["refuted"].pop("gamma"), "law 0"),
        (lambda data: data["outputs"][0].__setitem__(0, "17"), "law"),
        (lambda data: data["inputs"].reverse(), "law 0"),
        (lambda data: data["refuted"]["outputs"].append(0), "refuted"),
        (lambda data: data["claim"].update(budget="9"), "obligation of a pair"),
        (lambda data: data["refuted"].update(obligation=[0]), "refuted, obligation"),
    ):
        _rejected(source, change, step)


def test_a_distance_of_outputs_says_nothing_about_privacy() -> None:
    """Each output has its own probability, even if all outputs are at a distance of 0 from each other at one input."""
    leaning = "program p; input x : {0..1}; output y : {0..1}; y <- choose { 0 : 1/2, 1 : 1/2 }"
    near = leaning.replace("y <- choose", "metric { output: x*abs(y - y'); } y <- choose")
    assert check_text(certificate(near, "linf:1", "0*eps")).complete
    other = leaning.replace("y <- choose", "if x = 0 then y <- 0 else y <- choose") + " end"
    document = json.loads(certificate(other, "linf:1", "eps"))
    assert document["verdict"] == "not private"
    document["program"] |= {"text": near, "sha256": hashlib.sha256(near.encode()).hexdigest()}
    del document["digest"]
    with pytest.raises(Rejected, match="a different probability"):
        check_text(sealed(document))


def test_outputs_that_are_not_assigned() -> None:
    text = "program p; input x : {0..1}; output z : {0..1}; if x > 1 then z <- 0 end"
    with pytest.raises(Uncertified, match="never assigned"):
        certificate(text, "linf:1", "eps")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, proof = tmp_path / "coin.dip", tmp_path / "proof.json"
    path.write_text(COIN, encoding="utf-8")
    words = ["privacy", str(path), "--adjacent", "linf:1", "--certificate", str(proof)]
    assert run([*words, "-q"]) == 0
    assert run(["verify", str(proof), "--program", str(path)]) == 0
    assert "is (1*eps, 0)-private, at all " in capsys.readouterr().out
    assert run([*words, "--budget", "eps/8", "--delta", "1"]) == 0
    assert run(["verify", str(proof), "-q"]) == 0
    assert run([*words, "--delta-of", "eps/2"]) == 2
    assert run(["verify", str(proof), "--table", str(path)]) == 1


@pytest.mark.parametrize(
    ("budget", "delta", "said"),
    [
        ("eps", "0", "0"),
        ("eps/2", "1/1000 + eps/1000", "1/1000 + 1/1000*eps"),
        ("eps/8", "exp(-eps)/9", "1/9*exp(-eps)"),
        ("eps", "(1 - exp(-eps/2))^2/(1 + 2*eps^2)", "(1 - 2*exp(-1/2*eps) + exp(-eps))/(1 + 2*eps^2)"),
    ],
)
def test_the_delta_is_printed(budget: str, delta: str, said: str) -> None:
    found = check_text(certificate(COIN, "linf:1", budget, delta))
    assert f"delta = {said}, eps in (0, inf)" in found.claim


TWO_NOISES = "program p; input q, p : real; output y, z : real; y <- Lap(eps, q); z <- Lap(eps/2, %s);"


def with_eps(text: str, adjacent: str, budget: str, delta: str, inputs: str, eps: str | None) -> str:
    program = dipc.load(text)
    engine = Engine(program.measurer, program.limits, keep_proofs=True)
    question = PrivacyQuestion(program, adjacent, inputs, engine)
    return certify_privacy(question, question.decide(read_claim(program, budget, delta, eps)))


@pytest.mark.parametrize(
    ("text", "adjacent", "budget", "delta", "inputs", "eps", "verdict"),
    [
        (LAPLACE, "linf:1", "eps/2", "1/2", "all", "(0, 1]", "private"),
        (LAPLACE, "linf:1", "eps/2", "1 - exp(-eps/4)", "all", None, "private"),
        (LAPLACE, "l1:3", "0*eps", "99/100", "all", "(0, 2]", "private"),
        (LAPLACE, "linf:1", "eps/2", "1/2", "q in {0, 1}", "(0, 1]", "private"),
        (TWO_NOISES % "0", "linf:1", "eps/2", "1 - exp(-eps/4) + eps", "all", None, "private"),
        (LAPLACE, "linf:1", "eps/2", "1/9", "all", None, "not private"),
        (LAPLACE, "linf:1", "eps/2", "1/3", "q in {0, 1}", None, "not private"),
    ],
)
def test_deltas_of_real_outputs(
    text: str, adjacent: str, budget: str, delta: str, inputs: str, eps: str | None, verdict: str
) -> None:
    """Proofs shift a single noise, refutations name a single interval that is too likely."""
    found = check_text(with_eps(text, adjacent, budget, delta, inputs, eps))
    assert (found.verdict, found.complete) == (verdict, True)


def test_several_noises_that_move_have_no_certificate_with_a_delta() -> None:
    with pytest.raises(Uncertified, match="a single Laplace noise"):
        with_eps(TWO_NOISES % "p", "linf:1", "eps/2", "9/10", "q in {0, 1}, p in {0, 1}", "(0, 1]")


@pytest.mark.parametrize(
    "change",
    [
        set_to("1/5", "claim", "delta"),
        set_to([[0, "0", "1/5"]], "claim", "delta"),
        set_to([[0, "0", "-1"], [1, "0", "9"]], "claim", "delta"),
        set_to("2/5", "claim", "budget"),
        set_to(["(0, 3/2]"], "claim", "eps"),
        set_to(["(0, inf)"], "claim", "eps"),
        set_to("linf:2", "adjacent"),
        set_to("1/2", "shifts", "vectors", 0, 0, 1),
        set_to([], "shifts", "vectors"),
        set_to([[[1, "1"]], [[0, "-1"]]], "shifts", "vectors"),
        lambda data: data["program"].update(text=LAPLACE.replace("Lap(eps", "Lap(2*eps")),
    ],
)
def test_a_forged_delta_of_a_real_output_is_never_complete(change: Callable[[Document], None]) -> None:
    """The delta is the least possible: a forgery that needs more is rejected, or partly on trust."""
    text = with_eps(LAPLACE, "linf:1", "eps/2", "2212/10000", "all", "(0, 1]")
    assert check_text(text).complete
    data = json.loads(text)
    del data["digest"]
    change(data)
    data["program"]["sha256"] = hashlib.sha256(data["program"]["text"].encode()).hexdigest()
    with suppress(Rejected):
        assert not check_text(sealed(data)).complete


def test_one_sided_noise_and_several_exits_are_not_meant() -> None:
    """The lemma is about Laplace noise and one exit: for others the same shifts are on trust."""
    text = with_eps(LAPLACE, "linf:1", "eps/2", "1/2", "all", "(0, 1]")
    for other in (
        "program p; input q : real; output y : real; var r : real; r <- Expo(eps); y <- r + q;",
        LAPLACE.replace("output y : real;", "output y : real; output b : bool = false;")
        + " if y >= 0 then b <- true end;",
    ):
        data = json.loads(text)
        del data["digest"]
        data["program"] |= {"text": other, "sha256": hashlib.sha256(other.encode()).hexdigest()}
        with suppress(Rejected):
            assert not check_text(sealed(data)).complete

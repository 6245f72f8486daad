"""Certificates about every real input and their program: false statements are not accepted in full."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.verifier.document import check_text
from dipc.verifier.reading import Rejected
from tests.questions.real_programs import ABOVE_THRESHOLD, ADVERSARIAL, BOTH, LAPLACE, SPARSE
from tests.questions.test_classes_in_parts import HARDER
from tests.verifier import samples

#: One test with noise, by a facet that is not parallel to an axis.
SLOPE = """
program slope;
domain answer = {a, b};
input x, y : real;
output o : answer;
metric { input: %s; }
var r : real;
ideal { if x + y >= 1 then o <- b else o <- a end }
claim { alpha: dd; gamma: 0; beta: exp(-alpha*eps/2); }
r <- Lap(eps/2, x + y);
if r >= 1 then o <- b else o <- a end
"""

#: The same with the sides of the test found one after the other.
STAIRS = "if x + y >= 1 then o <- b else if x + y >= 0 then o <- b else o <- a end end"


@cache
def certificate(source: str, **options: Any) -> str:
    return dipc.certify(dipc.check(dipc.load(source), inputs="all", keep_proofs=True, **options))


def document(source: str, **options: Any) -> dict[str, Any]:
    return samples.document(certificate(source, **options))


def foreign(data: dict[str, Any], text: str) -> str:
    """The certificate with the text of another program, resealed."""
    data["program"] |= {"text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    return samples.resealed(data)


@pytest.mark.parametrize(
    ("source", "options"),
    [
        (SPARSE, {}),
        (SPARSE, {"beta": "2*m*c*exp(-alpha*eps/(8*c))/7"}),
        (LAPLACE, {"gamma": "free"}),
        (SLOPE % "l1", {}),
    ],
    ids=["sparse", "sparse refuted", "every gamma", "slope"],
)
def test_nothing_is_taken_on_trust(source: str, options: dict[str, Any]) -> None:
    assert check_text(certificate(source, **options)).complete


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("r <- Lap(eps/(4*c), q[i])", "r <- Lap(eps/(5*c), q[i])"),
        ("r <- Lap(eps/(4*c), q[i])", "r <- Lap(eps/(4*c), q[i]/2)"),
        ("r <- Lap(eps/(4*c), q[i])", "r <- Lap(eps/(4*c), 2*q[i] - 1)"),
        ("r <- Lap(eps/(4*c), q[i])", "r <- Lap(eps/(4*c), -q[i])"),
        ("r <- Lap(eps/(4*c), q[i])", "r <- Lap(eps/(4*c), q[i] + 1)"),
        ("r <- Lap(eps/(4*c), q[i])", "r <- Lap(eps/(4*c), q[1])"),
        ("r <- Lap(eps/(4*c), q[i])", "r <- q[i] + 0*rT"),
        ("r <- Lap(eps/(4*c), q[i])", "r <- Expo(eps/(4*c)) + q[i]"),
        ("rT <- Lap(eps/(2*c), T);\nfor", "rT <- Lap(eps/(2*c), T + 1);\nfor"),
        ("rT <- Lap(eps/(2*c), T);\nfor", "rT <- Lap(eps/(2*c), q[1]);\nfor"),
        ("if r >= rT then", "if r >= rT + 1 then"),
        ("if r >= rT then", "if r <= rT then"),
        ("if r >= rT then", "if r >= rT and q[1] < 100 then"),
        ("out[i] <- bot\n  end", "out[i] <- none\n  end"),
        ("if q[i] >= T then", "if q[i] >= T + 1 then"),
        ("if q[i] >= T then", "if q[i] >= T or q[i] < -5 then"),
        ("if q[i] >= T then", "if 2*q[i] >= T + 1 then"),
        ("else out[i] <- bot end", "else out[i] <- none end"),
    ],
)
def test_a_program_for_which_the_bounds_are_not_proved(old: str, new: str) -> None:
    assert old in SPARSE
    data = document(SPARSE)
    try:
        accepted = check_text(foreign(data, SPARSE.replace(old, new)))
    except Rejected:
        return
    assert not accepted.complete


def test_answers_that_are_the_same_beyond_a_facet() -> None:
    """The nearest input with another answer to x + y = 1 is further away, and half of the runs go wrong."""
    data = document(SLOPE % "linf")
    assert check_text(samples.resealed(data)).complete
    text = (SLOPE % "linf").replace("if x + y >= 1 then o <- b else o <- a end }", f"{STAIRS} }}")
    assert not check_text(foreign(data, text)).complete


def test_a_facet_is_as_far_as_the_norm_says() -> None:
    """The l1 norm crosses a facet with half of the step that linf needs."""
    assert not check_text(foreign(document(SLOPE % "linf"), SLOPE % "l1")).complete
    assert not check_text(foreign(document(SLOPE % "linf"), SLOPE % "discrete")).complete


def test_every_class_is_needed_and_about_something() -> None:
    for number in range(4):
        data = document(SPARSE)
        (case,) = data["cases"]
        if number == len(case["classes"]):
            break
        del case["classes"][number]
        accepted = check_text(samples.resealed(data))
        assert not accepted.complete
        assert accepted.trusted[0].startswith("that each input of")
    data = document(SPARSE)
    one, *_ = data["cases"][0]["classes"]
    data["cases"][0]["classes"].append(one | {"answer": {**one["answer"], "out[1]": "bot"}})
    # It is about no input, and what all inputs are in are the others.
    assert check_text(samples.resealed(data)).complete


def test_a_class_says_which_answer_it_is_about() -> None:
    data = document(SPARSE)
    classes = data["cases"][0]["classes"]
    classes[0]["answer"], classes[1]["answer"] = classes[1]["answer"], classes[0]["answer"]
    assert not check_text(samples.resealed(data)).complete


def test_a_half_space_beyond_the_guards() -> None:
    data = document(SLOPE % "linf")
    for entry in data["cases"][0]["classes"]:
        (half,) = entry["halfspaces"]
        half["constant"] = str(int(half["constant"]) - 1)
        for slack in entry["required"]["slacks"]:
            slack["constant"] = str(int(slack["constant"]) - 1)
    assert not check_text(samples.resealed(data)).complete


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [("input", "q[1]", "7"), ("input", "q[1]", "top"), ("output", "out[1]", "none"), (None, "dd", "1/7")],
)
def test_an_input_that_does_not_refute(part: str | None, key: str, value: str) -> None:
    data = document(SPARSE, beta="2*m*c*exp(-alpha*eps/(8*c))/7")
    (entry, *_) = (entry for entry in data["cases"][0]["classes"] if "witness" in entry)
    witness = entry["witness"]
    (witness if part is None else witness[part])[key] = value
    try:
        accepted = check_text(samples.resealed(data))
    except Rejected:
        return
    assert not accepted.complete


def test_more_than_is_claimed_is_enough() -> None:
    """Every bound is greater with twice the distance from the threshold 0."""
    text = SPARSE.replace("r <- Lap(eps/(4*c), q[i])", "r <- Lap(eps/(4*c), 2*q[i])")
    assert check_text(foreign(document(SPARSE), text)).complete


# --- classes that are parts of paths ----------------------------------------------------------------

#: The other answer is beyond a corner: what is far from it is in two half-spaces, one of which holds.
CORNER = """
program corner;
domain answer = {a, b};
input x, y : real;
output o : answer;
metric { input: linf; }
var r, s : real;
ideal { if x >= 1 and y >= 1 then o <- b else o <- a end }
claim { alpha: dd; gamma: 0; beta: exp(-alpha*eps/2); }
r <- Lap(eps/2, x);
s <- Lap(eps/2, y);
if r >= 1 and s >= 1 then o <- b else o <- a end
"""

#: A test without noise beside one with it.
MIXED = """
program mixed;
domain answer = {a, b, c};
input x, y : real;
output o : answer;
var r : real;
ideal { if x >= 0 then if y >= 0 then o <- a else o <- b end else o <- c end }
claim { alpha: dd; gamma: 0; beta: exp(-alpha*eps/2); }
r <- Lap(eps/2, y);
if x >= 0 then if r >= 0 then o <- a else o <- b end else o <- c end
"""

#: An answer that follows an input, so that other answers are as near as one likes; and an edge with one of its own.
RESTLESS = """
program restless;
input x : real;
output o : real;
ideal { o <- x }
claim { alpha: dd; gamma: 1; beta: exp(-eps); }
o <- Lap(eps, x);
"""


@pytest.mark.parametrize(("source", "needed"), [(CORNER, 4), (MIXED, 3)], ids=["corner", "mixed"])
def test_parts_of_paths_are_put_together(source: str, needed: int) -> None:
    data = document(source)
    assert check_text(samples.resealed(data)).complete
    missed = 0
    for number in range(len(data["cases"][0]["classes"])):
        left = document(source)
        del left["cases"][0]["classes"][number]
        missed += not check_text(samples.resealed(left)).complete
    assert missed == needed


@pytest.mark.parametrize(
    ("source", "old", "new"),
    [
        (CORNER, "x >= 1 and y >= 1", "x >= 1 and y >= 1 or x < -7"),
        (CORNER, "x >= 1 and y >= 1", "x >= 1 and y >= 1/2"),
        (CORNER, "x >= 1 and y >= 1", "x >= 1 and x + y >= 2"),
        (CORNER, "input: linf", "input: l1"),
        (CORNER, "input: linf", "input: discrete"),
        (MIXED, "then if y >= 0", "then if y >= 1"),
        (MIXED, "\nif x >= 0", "\nif x >= 1"),
        (MIXED, "\nif x >= 0", "\nif x >= 0 and x != 7"),
        (MIXED, "\nif x >= 0", "\nif x > 0"),
        (MIXED, "\nif x >= 0", "\nif r >= 0"),
        (RESTLESS, "o <- x", "o <- 0"),
        (RESTLESS, "o <- x", "if x >= 7 then o <- 0 else o <- x end"),
    ],
)
def test_parts_of_other_paths(source: str, old: str, new: str) -> None:
    assert old in source
    assert check_text(certificate(source)).complete
    try:
        accepted = check_text(foreign(document(source), source.replace(old, new, 1)))
    except Rejected:
        return
    assert not accepted.complete


def test_constants_that_are_computed_from_the_number() -> None:
    """A claim with 1/c claims nothing for one query if c is the number of queries; with the text's c = 3 it fails."""
    source = ABOVE_THRESHOLD.replace("const m = 3", "const m = 3, c = m")
    accepted = check_text(certificate(source, beta="1/c", for_all="m"))
    assert accepted.complete
    assert accepted.constants == (("T", "0"),)
    given = document(source, beta="1/c", for_all="m")
    assert [case["constants"] for case in given["cases"][:2]] == [{"m": "1", "c": "1"}, {"m": "2", "c": "2"}]
    for change in ({"c": "3"}, {"c": None}, {"T": "0"}, {"d": "1"}):
        data = document(source, beta="1/c", for_all="m")
        for case in data["cases"]:
            changed = {**case["constants"], **change}
            case["constants"] = {name: value for name, value in changed.items() if value is not None}
        if "T" in change:
            assert check_text(samples.resealed(data)).constants == ()  # The text computes it alike from each.
            continue
        with pytest.raises(Rejected):
            check_text(samples.resealed(data))


@pytest.mark.parametrize(
    ("old", "new"), [("const m = 3", "const m = 3, c = 1/(m - 1)"), ("var rT", "var z : {2..m} = 2; var rT")]
)
def test_numbers_for_which_there_is_no_program(old: str, new: str) -> None:
    """Nothing is stated about such numbers, and true statements about the others."""
    text = certificate(ABOVE_THRESHOLD.replace(old, new), beta="1", for_all="m")
    accepted = check_text(text)
    assert accepted.complete
    assert accepted.verdict == "undecided"
    # Said of none of these, it is not accepted.
    data = samples.document(text)
    del data["cases"][0]["classes"][0]["reason"]
    data["cases"][0]["classes"][0] |= {"verdict": "accurate", "open": "no proof"}
    with pytest.raises(Rejected):
        check_text(samples.resealed(data))


def test_a_class_is_about_all_inputs_that_it_names() -> None:
    """Inputs at which others are apart are further from other answers than the half-spaces of their class say.

    The class is about these inputs, too, in the accurate classes of an undecided claim.
    """
    old, new = (
        SLOPE % f"l1; apart: y > y' + 3 or {apart}" for apart in ("x' > 1 and x <= 1", "x' > 1 and x <= 2 or x != x'")
    )
    data = document(old)
    assert check_text(samples.resealed(data)).verdict == data["verdict"]
    for case in data["cases"]:
        case["classes"][-1] = {
            **{name: case["classes"][-1][name] for name in ("answer", "where", "halfspaces", "beside")},
            "verdict": "undecided",
            "reason": "it was not looked at",
        }
    data["verdict"] = "undecided"
    assert not check_text(foreign(data, new)).complete


def test_a_class_of_a_refuted_claim_is_right_about_all_its_inputs() -> None:
    """The answer is another one at 0 < x <= 1/2: the class x > 0 is right about its other inputs only."""
    source = ADVERSARIAL["no noise, and wrong on the edge"]
    data = document(source)
    assert check_text(samples.resealed(data)).complete
    accepted = check_text(foreign(data, source.replace("if x > 0 then", "if x > 1/2 then")))
    assert accepted.verdict == "inaccurate"
    assert not accepted.complete


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("r <- Lap(eps, x - y)", "r <- Lap(eps/2, x - y)"),
        ("s <- Lap(eps, x + y)", "s <- Lap(eps/2, x + y)"),
        ("s <- Lap(eps, x + y)", "s <- Lap(eps, x)"),
        ("if r >= 1 then", "if r >= 2 then"),
        ("if s > 0 then", "if s > 1 then"),
        ("if s > 0 then o <- a", "if s < 0 then o <- a"),
        ("end else o <- b end", "end else o <- a end"),
    ],
)
def test_bounds_of_comparisons_together_are_the_programs(old: str, new: str) -> None:
    data = document(BOTH)
    kinds = {found["required"].get("kind") for found in data["cases"][0]["classes"]}
    assert "tails" in kinds
    assert check_text(foreign(data, BOTH)).complete
    assert BOTH.count(old) == 1
    assert not check_text(foreign(data, BOTH.replace(old, new))).complete


def test_every_vertex_has_a_bound() -> None:
    either_side = HARDER["a threshold behind either side of another"][0]
    data = document(either_side)
    assert check_text(foreign(data, either_side)).complete
    joint = [each.get("required", {}) for each in data["cases"][0]["classes"]]
    found = next(each for each in joint if each.get("kind") == "vertices")
    accepted = []
    for number in list(found["obligations"]):
        found["obligations"] = [number]
        accepted.append(check_text(samples.resealed(data)).complete)
    # The least of them may do for all.
    assert len(accepted) > 1
    assert not all(accepted)
    found["obligations"] = []
    with pytest.raises(Rejected, match="the same values as the claim"):
        check_text(samples.resealed(data))


COIN = """
program coin;
domain B = {0, 1};
input q : real;
output o : B;
var b : B = 0;
ideal { o <- 0; if q >= 0 then o <- 1 end }
claim { alpha: dd; beta: 1/2 + exp(-alpha*eps); }
if q >= 0 then b <- 1 end;
o <- choose { b : %s, 1 - b : %s }
"""


@pytest.mark.parametrize(
    ("weights", "complete"),
    [
        (("1/(1 + exp(-eps))", "exp(-eps)/(1 + exp(-eps))"), True),
        # At an eps between, it is less than at either end.
        (("1 - 2*exp(-eps)*(1 - exp(-eps))", "2*exp(-eps)*(1 - exp(-eps))"), False),
        (("exp(-eps)/(1 + exp(-eps))", "1/(1 + exp(-eps))"), False),
    ],
)
def test_weights_are_between_their_ends(weights: tuple[str, str], complete: bool) -> None:
    data = document(COIN % ("1/(1 + exp(-eps))", "exp(-eps)/(1 + exp(-eps))"))
    assert check_text(foreign(data, COIN % weights)).complete is complete


def test_a_claim_about_all_distances_at_once_depends_on_none() -> None:
    """A proof with alpha = 0 proves the claim for all alpha only if beta is the same for all."""
    text = COIN % ("1/(1 + exp(-eps))", "exp(-eps)/(1 + exp(-eps))")
    data = document(text, beta="1/(1 + exp(eps))")
    assert {found["required"]["variable"] for found in data["cases"][0]["classes"]} == {"eps"}
    assert {found["required"]["dd"] for found in data["cases"][0]["classes"]} == {None}
    assert check_text(samples.resealed(data)).complete
    for beta in ("1/(1 + exp(eps + 0*alpha))", "1/(1 + exp(eps + 0*dd))", "1/(1 + exp(eps + 0*α))"):
        data["claim"]["beta"] = beta
        with pytest.raises(Rejected, match="needs a number for alpha and for gamma"):
            check_text(samples.resealed(data))


# --- distances of answers --------------------------------------------------------------------------

GAP = (samples.ROOT / "benchmarks" / "noisy_max_gap.dip").read_text(encoding="utf-8")


def test_answers_that_are_near_are_found() -> None:
    found = check_text(certificate(GAP))
    assert (found.verdict, found.complete, found.counts["rows"]) == ("accurate", True, 12)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("output: abs(q[out] - q[out'])", "output: 2*abs(q[out] - q[out'])"),
        ("output: abs(q[out] - q[out'])", "output: abs(q[1] - q[out'])"),
        ("output: abs(q[out] - q[out'])", "output: q[out] - q[out']"),
        ("best <- Lap(eps/2, q[1])", "best <- Lap(eps/3, q[1])"),
        ("best <- Lap(eps/2, q[1])", "best <- Lap(eps/2, q[1] + 1)"),
        ("  r <- Lap(eps/2, q[i])", "  r <- Lap(eps/2, q[i] - 1)"),
        ("  if r > best then", "  if r < best then"),
        ("    if q[i] > best then", "    if q[i] < best then"),
    ],
)
def test_a_distance_of_answers_for_which_the_bounds_are_not_proved(old: str, new: str) -> None:
    assert old in GAP
    data = document(GAP)
    try:
        accepted = check_text(foreign(data, GAP.replace(old, new, 1)))
    except Rejected:
        return
    assert not accepted.complete


def test_a_smaller_gamma_is_not_proved_by_the_same() -> None:
    data = document(GAP)
    data["claim"]["gamma"] = "9/10"
    with pytest.raises(Rejected):
        check_text(samples.resealed(data))


#: The index of the greatest of three values, and how each of them is made noisy.
MAXIMUM = """
program noisy_maximum;
const m = 3;
domain index = {1..m};
input q[1..m] : real;
output best : index = 1;
var r, top, n, k : real;
claim { alpha: dd; gamma: 0; beta: m*exp(-alpha*eps/4); }
ideal { var t : real; t <- q[1]; for i in 2..m do if q[i] > t then t <- q[i]; best <- i end end }
%s;
for i in 2..m do
  %s;
  if r > top then top <- r; best <- i end
end
"""

#: What is moved by an input after it was drawn.
MOVED = [
    "{x} <- {q} + Lap(eps, 0)",
    "{x} <- {q} + Expo(eps)",
    "{x} <- Expo(eps) + {q} - 1",
    "{x} <- Expo(eps); {x} <- {x} + {q}",
    "{n} <- Lap(eps, 1); {x} <- {n} + {q}",
]


def maximum(noisy: str) -> str:
    return MAXIMUM % (noisy.format(x="top", q="q[1]", n="k"), noisy.format(x="r", q="q[i]", n="n"))


@pytest.mark.parametrize("noisy", MOVED)
def test_noise_that_is_moved_after_it_is_drawn_is_followed_as_if_it_was_drawn_there(noisy: str) -> None:
    data = document(maximum(noisy))
    assert check_text(samples.resealed(data)).complete
    for other in ("{x} <- {q}/2 + Lap(eps, 0)", "{x} <- Expo(eps) - {q}", "{x} <- Expo(eps/5) + {q}"):
        try:
            accepted = check_text(foreign(data, maximum(other)))
        except Rejected:
            continue
        assert not accepted.complete


@pytest.mark.parametrize(
    "statements",
    [
        "r <- q + Expo(eps); y <- r >= q + 1",
        "r <- Expo(eps) - q; y <- r >= 1",
        "r <- q - Expo(eps); y <- r >= 1",
        "r <- Lap(eps, 0) + Expo(eps) + q; y <- r >= 1",
        "n <- Lap(eps, 0); r <- n + q; y <- n >= 0 and r >= 1",
        "n <- Lap(eps, 0); r <- n + n + q; y <- r >= 1",
        "n <- Lap(eps, 1); if q >= 1 then n <- Lap(2*eps, 2) end; r <- n + q; y <- r >= 1",
        "z <- Lap(eps, 0); r <- z + q; y <- r >= 1",
        "r <- 1; r <- r + Lap(eps, q); y <- r + r >= 3",
        "b <- q >= 0; r <- b + Lap(eps, 0); y <- r >= 1",
    ],
)
@pytest.mark.parametrize("q", ["-1/2", "1"])
def test_probabilities_of_noise_that_is_moved_are_those_of_the_engine(statements: str, q: str, tmp_path: Path) -> None:
    text = f"""program p; input q : real; output y : bool; output z : real = 0; var r, n : real; var b : bool;
    {statements}"""
    (tmp_path / "table.csv").write_text(f"q,y,z\n{q},true,\n")
    result = dipc.check(dipc.load(text), tmp_path / "table.csv", beta="1", keep_proofs=True)
    assert check_text(dipc.certify(result)).complete


TRIANGLE = """
program triangle; input x, y : real; output o : {0, 1};
ideal { if x > 0 and y > 0 and x + y < 1 then o <- 1 else o <- 0 end }
claim { alpha: %s; beta: 0; }
o <- 0
"""


@pytest.mark.parametrize(("alpha", "verdict"), [("1/4", "accurate"), ("2/5", "accurate"), ("1/5", "inaccurate")])
def test_nothing_is_claimed_between_sides_that_are_near_one_by_one(alpha: str, verdict: str) -> None:
    """The next side is 1/4 away in the middle of the triangle, and at no input further."""
    text = certificate(TRIANGLE % alpha)
    accepted = check_text(text)
    assert (accepted.verdict, accepted.complete) == (verdict, True), accepted.trusted
    if verdict == "accurate":
        data = samples.document(text)
        data["claim"]["alpha"] = "1/5"
        assert not complete(samples.resealed(data))


def complete(text: str) -> bool:
    try:
        return check_text(text).complete
    except Rejected:
        return False

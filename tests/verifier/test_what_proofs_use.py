"""What a proof uses of a certificate's data (FORMAT.md has the list): each property is broken once, and refused.

`FORMAT.md` names this file; a property that is added there gets its line in `BROKEN`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.certificate.privacy import certify_privacy
from dipc.certificate.write import certify_factor
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import read_claim
from dipc.verifier.document import check_text
from dipc.verifier.reading import Rejected, Unreadable
from tests.questions.real_programs import ADVERSARIAL, NOISY_MAX, SPARSE
from tests.verifier import samples

Document = dict[str, Any]

#: An answer that is another at q < 0 and q > 1, so that no distance in between is above 1/2: the class of these bounds
#: alpha, and what is claimed of it is claimed for all alpha*eps up to half of the greatest eps.
INSIDE = """
program inside; input q : real; output o : {a, b}; var x : real;
ideal { if q < 0 or q > 1 then o <- a else o <- b end }
if q < 0 or q > 1 then o <- a else x <- Lap(eps, q); if x >= 0 and x <= 1 then o <- b else o <- a end end
"""

COIN = """
program coin;
input x : {0..2};
output y : {0..1};
y <- Exp(eps, v in {0..1} : abs(v - x)/2);
"""

EXPONENTIAL = """
program p;
input x : {0..2}; output y : {0..2};
metric { output: abs(y - y'); }
ideal { y <- x }
claim { alpha: 0; gamma: free; beta: exp(-gamma*eps/2); }
y <- Exp(eps, v in {0..2} : -abs(v - x));
"""

#: Distances to a corner that no single guard decides.
CORNER = """
program corner;
input x, y : real; output out : {0, 1};
ideal { out <- 0; if x + 2*y >= 3 and 3*x - y >= 4 then out <- 1 end }
claim { alpha: dd; beta: 0; }
out <- 0
"""

#: A step of an int is one to another answer.
STEPS = """
program steps; input n : int; output o : bool; var x : int;
ideal { o <- n >= 0 } claim { alpha: 1; beta: exp(-eps)/(1 + exp(-eps)); }
x <- DLap(eps, n); if x >= 0 then o <- true else o <- false end
"""

#: Answers that are near are merged: 0 <= r < 1 and r >= 1 are r >= 0.
LEVEL = """program level; input q : real; output o : {0..2}; var r : real; metric { output: abs(o - o'); }
claim { alpha: dd; gamma: 1; beta: exp(-eps/2); }
ideal { if q >= 1 then o <- 2 else if q >= 0 then o <- 1 else o <- 0 end end }
r <- Lap(eps, q); if r >= 1 then o <- 2 else if r >= 0 then o <- 1 else o <- 0 end end"""

_SHARP = "2*m*c*exp(-alpha*eps/(8*c))"


def of_all_inputs(source: str, **options: Any) -> str:
    return dipc.certify(dipc.check(dipc.load(source), inputs="all", keep_proofs=True, **options))


def of_privacy(budget: str, delta: str = "0") -> str:
    program = dipc.load(COIN)
    question = PrivacyQuestion(program, "linf:1", None, Engine(program.measurer, program.limits, keep_proofs=True))
    return certify_privacy(question, question.decide(read_claim(program, budget, delta, None)))


DOCUMENTS: dict[str, Callable[[], str]] = {
    "inside": lambda: of_all_inputs(INSIDE, alpha="dd", beta="2*exp(-3*alpha*eps)", eps="(0, 1/1000]"),
    "row": lambda: samples.certain(("(exp(-eps)*(1 + eps) - 1/2)^2*3 + 1/10^4",)),
    "rows": lambda: samples.certain(("0", "eps")),
    "intervals": lambda: samples.certain(("exp(-eps) - 1 + eps",), "(0, 1/7], [2, 3]"),
    "max": lambda: samples.certain((samples.GREATEST[4],)),
    "negative": lambda: samples.certain(("exp(-eps) - 1/2",)),
    "quotient": samples.geometric,
    "product": samples.marked,
    "facets": lambda: of_all_inputs(ADVERSARIAL["a corner of two facets that is not needed"]),
    "steps": lambda: of_all_inputs(STEPS),
    "sparse": lambda: of_all_inputs(SPARSE, beta=f"{_SHARP}/6"),
    "merged": lambda: of_all_inputs(LEVEL),
    "every m": lambda: of_all_inputs(NOISY_MAX, for_all="m", beta="2*m*exp(-alpha*eps/2)/5"),
    "gamma": lambda: dipc.certify(dipc.check(dipc.load(EXPONENTIAL), keep_proofs=True)),
    "private": lambda: of_privacy("eps"),
    "not private": lambda: of_privacy("eps/3"),
    "delta": lambda: of_privacy("eps/2", "1/1000 + eps/1000"),
    "distances": lambda: dipc.certify(
        dipc.check(dipc.load(CORNER), [{"x": x, "y": y, "out": 0} for x, y in ((0, 0), (1, -1))], keep_proofs=True)
    ),
    "least": lambda: certify_factor(dipc.tighten(dipc.load(SPARSE), inputs="q = -1..1", digits=8)),
}


@cache
def written(name: str) -> str:
    return DOCUMENTS[name]()


def document(name: str) -> Document:
    return samples.document(written(name))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_broken_below_is_right_before(name: str) -> None:
    assert check_text(written(name)).complete


def put(value: object, *path: str | int) -> Callable[[Document], None]:
    """Return the change of one value."""

    def change(data: Document) -> None:
        for name in path[:-1]:
            data = data[name]  # type: ignore[index]
        data[path[-1]] = value  # type: ignore[index]

    return change


def each(*changes: Callable[[Document], None]) -> Callable[[Document], None]:
    def change(data: Document) -> None:
        for one in changes:
            one(data)

    return change


def repeated(*path: str | int) -> Callable[[Document], None]:
    """Repeat the first item of a list at its end."""

    def change(data: Any) -> None:
        for name in path:
            data = data[name]
        data.append(data[0])

    return change


def reversed_(*path: str | int) -> Callable[[Document], None]:
    def change(data: Any) -> None:
        for name in path:
            data = data[name]
        data.reverse()

    return change


def removed(*path: str | int) -> Callable[[Document], None]:
    """A list without its last item."""

    def change(data: Any) -> None:
        for name in path:
            data = data[name]
        data.pop()

    return change


def proved_classes(data: Document) -> list[Document]:
    return [entry for case in data["cases"] for entry in case["classes"] if "required" in entry]


def of_class(change: Callable[[Document], None]) -> Callable[[Document], None]:
    """Change the first class that is proved."""
    return lambda data: change(proved_classes(data)[0])


def first_slack(entry: Document) -> Document:
    slack = entry["required"]["slacks"][0]
    assert isinstance(slack, dict)
    return slack


def of_term(change: Callable[[Document], None]) -> Callable[[Document], None]:
    """Change the first event of a union bound."""
    return lambda data: change(data["numbers"]["union"]["terms"][0])


def of_slack(name: str, value: object) -> Callable[[Document], None]:
    return of_class(lambda entry: put(value, name)(first_slack(entry)))


def twice_in_a_form(data: Document) -> None:
    form = next(half["form"] for half in proved_classes(data)[0]["halfspaces"] if half["form"])
    form.append(form[0])


def a_variable_that_is_no_input(data: Document) -> None:
    proved_classes(data)[0]["halfspaces"].append({"form": [[9_999, "1"]], "constant": "0", "step": "0"})


def cells(data: Document) -> list[Document]:
    """The cells of the first argument on the first interval."""
    found = data["obligations"][0]["parts"][0]["cells"][0]
    assert isinstance(found, list)
    return found


def of_factor(change: Callable[[Document], None]) -> Callable[[Document], None]:
    """Change the last factor of the first cell."""
    return lambda data: change(cells(data)[0]["factors"][-1])


def of_evidence(change: Callable[[list[Any]], object]) -> Callable[[Document], None]:
    return of_factor(lambda factor: change(factor["evidence"]) and None)


def a_root_twice(data: Document) -> None:
    """Two factors with the same root."""
    line = {"function": [[0, "0", "-1"], [1, "0", "1"]], "multiplicity": 1, "evidence": None}
    chart = data["obligations"][0]["chart"]
    chart["intervals"] = [[line, line, chart["intervals"][0][-1]]]


def an_even_factor(data: Document) -> None:
    """A factor whose square is there needs no evidence of its sign."""
    factor = data["obligations"][0]["chart"]["intervals"][0][-1]
    factor |= {"multiplicity": 2, "evidence": "even"}


def another_case(data: Document) -> None:
    data["cases"].append(data["cases"][0])


def inequalities(data: Document) -> list[Any]:
    found = data["numbers"]["union"]["sums"][0]["inequalities"]
    assert isinstance(found, list)
    return found


def one_output_twice(data: Document) -> None:
    data["outputs"].append(data["outputs"][0])
    for law in data["laws"]:
        law.append(law[0])


def one_input_twice(data: Document) -> None:
    data["inputs"].append(data["inputs"][0])
    data["laws"].append(data["laws"][0])


def an_output_left_out(data: Document) -> None:
    data["outputs"].pop()
    for law in data["laws"]:
        law.pop()


def bound_of_nothing(data: Document) -> None:
    for entry in proved_classes(data):
        if entry["required"]["greatest"] is not None:
            entry["required"]["greatest"] = []
            return
    raise AssertionError("no class bounds alpha")


def of_answers(name: str, value: object) -> Callable[[Document], None]:
    """Change all answers about half-spaces that have `name`."""

    def change(data: Document) -> None:
        found = [answer for answer in data["answers"].values() if name in answer]
        assert found
        for answer in found:
            answer[name] = value

    return change


#: An input that is said to be near: itself, and others that are none.
HERE: Document = {"finite": 0, "rounded": [], "moved": []}
UNKNOWN = {**HERE, "rounded": [[[[-3, "1"]], "0"]]}
OUTPUT = {**HERE, "moved": [[99, [], "0"]]}
HALF = {**HERE, "moved": [[0, [], "1/2"]]}
ALPHA_AWAY = {**HERE, "moved": [[0, [[0, "1"], [-2, "1"]], "0"]]}

#: A cut that divides nothing, and one that is none.
NOTHING = {"form": [], "constant": "1", "strict": False}
TWICE = {"form": [[0, "1"], [0, "1"]], "constant": "1", "strict": False}

NO_CASES = {"variable": 0, "most": "1/2", "below": [], "above": []}


#: The property, a certificate that has it, a change after which it has not, and what is said then.
def exchanged_row(data: Document) -> None:
    row = next(row for row in data["rows"] if row["input"][1] != row["input"][2])
    row["input"][1:3] = row["input"][2:0:-1]


def repeated_row(data: Document) -> None:
    data["rows"][1] = {**data["rows"][0], "row": 2}


BROKEN: list[tuple[str, str, Callable[[Document], None], str]] = [
    # --- intervals of eps
    ("in increasing order", "inside", put(["[5, 6]", "(0, 1/1000]"], "claim", "eps"), "not in increasing order"),
    ("in increasing order", "rows", put(["(0, inf)", "[1, 1]"], "claim", "eps"), "not in increasing order"),
    ("in increasing order", "rows", put(["(0, 2]", "[2, inf)"], "claim", "eps"), "not in increasing order"),
    (
        "in increasing order",
        "sparse",
        put(["(0, 2]", "[1, 1]"], "obligations", 0, "intervals"),
        "not in increasing order",
    ),
    ("in increasing order", "private", put(["[1, 1]", "[1, 1]"], "claim", "eps"), "not in increasing order"),
    ("in increasing order", "least", put(["[5, 6]", "(0, 1]"], "claim", "eps"), "the claim of a document is not"),
    ("at least one", "rows", put([], "claim", "eps"), "no interval of eps is given"),
    ("not empty", "rows", put(["(1, 1]"], "claim", "eps"), "the interval is empty"),
    ("above 0", "rows", put(["[0, 1]"], "claim", "eps"), "the interval is empty or not within (0, inf)"),
    # --- rows that represent others
    (
        "different values that fit",
        "product",
        put(["0", "0"], "product", "values", 1),
        "are outside its domain or occur twice",
    ),
    ("different values that fit", "product", put(["yes"], "product", "values", 0), "`yes` is not a value of `flag`"),
    (
        "the program's number of inputs",
        "product",
        put([["true", "false"]], "product", "values"),
        "does not have values for each input",
    ),
    ("a path once", "product", put(2, "product", "exchanges", 1, "row"), "of a path are given twice"),
    ("inputs that are there, once", "product", put([1], "product", "exchanges", 0, "free"), "is named twice, or"),
    ("inputs that are there, once", "product", put([9], "product", "exchanges", 0, "free"), "is named twice, or"),
    (
        "of one type with the same values",
        "product",
        put(["1", "0", "-1"], "product", "values", 1),
        "do not have the same type",
    ),
    (
        "of one type with the same values",
        "product",
        put([[0, 1]], "product", "exchanges", 0, "blocks"),
        "a finite input",
    ),
    (
        "shown to be exchangeable",
        "product",
        put([[1, 3]], "product", "exchanges", 0, "blocks"),
        "1 and 3 are not shown",
    ),
    ("no difference", "product", put([3, 4], "product", "exchanges", 0, "free"), "the answer depends on the input 3"),
    (
        "in order",
        "product",
        put([["true", "false"], *[["1", "0", "-1"]] * 4], "product", "values"),
        "does not have its first value",
    ),
    ("in order", "product", exchanged_row, "of exchangeable inputs are not in order"),
    ("the same row once", "product", repeated_row, "two rows represent the same inputs"),
    ("every input of the product", "product", put([], "product", "exchanges"), "do not represent all inputs"),
    (
        "no claim of their own",
        "product",
        put({"beta": "exp(-alpha*eps/8)"}, "rows", 0, "own"),
        "cannot have their own claim",
    ),
    ("dd of the ideal", "product", put("given", "table", "dd"), "dd comes from a table"),
    # --- numbers and functions
    ("lowest terms", "rows", put("2/4", "program", "constants", "m"), "not in lowest terms"),
    ("no term twice", "quotient", repeated("probabilities", 0, "value", "numerator"), "occurs twice"),
    ("no coefficient 0", "row", put("0", "obligations", 0, "parts", 0, "functions", 0, 0, 2), "has the coefficient 0"),
    ("no denominator 0", "quotient", put([], "probabilities", 0, "value", "denominator"), "a denominator is 0"),
    ("positive denominators", "quotient", put([], "positive"), "a denominator is missing from the list"),
    ("positive coefficients", "quotient", put([[0, "0", "-1"]], "positive", 0, "function"), "denominator 0"),
    ("min of something", "max", put({"min": []}, "betas", 0), "must have arguments"),
    # --- proofs of signs
    ("a part an argument", "row", repeated("obligations", 0, "parts"), "2 parts for the 1 arguments"),
    ("the function of the claim", "row", put([[]], "obligations", 0, "parts", 0, "functions"), "is not Pr + beta - 1"),
    ("a proof an interval", "intervals", removed("obligations", 0, "parts", 0, "cells"), "1 proofs for 2 intervals"),
    ("proofs in order", "intervals", reversed_("obligations", 0, "parts", 0, "cells"), "interval (0, 1/7], cell 1"),
    ("factors of the function", "row", of_factor(put([[0, "0", "1"]], "function")), "not the function"),
    ("multiplicity above 0", "row", of_factor(put(0, "multiplicity")), "the factor or its multiplicity is 0"),
    ("even multiplicity", "row", of_factor(put("even", "evidence")), "the multiplicity is odd"),
    ("evidence for each factor", "row", of_factor(put(None, "evidence")), "a factor without pieces"),
    ("from the lower end", "row", of_evidence(lambda pieces: pieces.pop(0)), "no piece begins at 0"),
    (
        "pieces in order",
        "row",
        of_evidence(lambda pieces: pieces.insert(1, pieces[0])),
        "the piece is empty or reaches",
    ),
    (
        "no piece left out",
        "row",
        of_evidence(lambda pieces: pieces[1:-1].clear() or pieces.__delitem__(slice(1, -1))),
        "piece 2",
    ),
    ("up to the upper end", "row", of_evidence(lambda pieces: pieces.pop()), "do not reach the upper end"),
    ("cells in order", "max", lambda data: cells(data).reverse(), "cell 1"),
    ("cells to the end", "max", lambda data: cells(data).pop() and None, "must end where the interval ends"),
    ("roots told apart", "negative", a_root_twice, "chart"),
    ("every root", "negative", an_even_factor, "chart"),
    ("eps of the claim", "negative", put("(0, 1/10]", "claim", "eps", 0), "outside the intervals of the claim"),
    # --- tables
    ("rows in order", "rows", reversed_("rows"), "not numbered one after the other"),
    ("as many rows", "rows", removed("rows"), "the number of rows is 1, but its `table` says 2"),
    ("columns of their own", "rows", put(["q", "q"], "table", "inputs"), "two of its columns have the same name"),
    ("the program's columns", "rows", put(["p"], "table", "inputs"), "its inputs differ from those of the program"),
    ("the program's constants", "rows", put({}, "program", "constants"), "differ from those of the program"),
    ("every gamma", "gamma", removed("rows", 0, "ranges"), "the ranges of the row do not cover every gamma"),
    ("gamma in order", "gamma", reversed_("rows", 0, "ranges"), "row 1, range"),
    # --- measures
    ("rates above 0", "every m", of_term(put("-1", "noises", 0, 1)), "with positive rates"),
    ("coefficients not 0", "every m", of_term(put("0", "noises", 0, 2)), "coefficients that are not 0"),
    ("the law of the event", "every m", of_term(put("7", "noises", 0, 1)), "is about terms other than"),
    # --- classes
    ("an input once", "sparse", twice_in_a_form, "each must occur once"),
    ("inputs of the program", "sparse", a_variable_that_is_no_input, "something other than real and int inputs"),
    (
        "steps not below 0",
        "sparse",
        of_class(put("-1", "halfspaces", 0, "step")),
        "the step of a half-space is negative",
    ),
    ("weights not below 0", "sparse", of_slack("weights", [[0, "-1"]]), "a multiplier is negative"),
    ("half-spaces that are there", "sparse", of_slack("weights", [[9_999, "1"]]), "that does not exist"),
    ("half-spaces that are there", "sparse", of_class(put([99], "beside")), "it refers to"),
    ("balls of one radius", "sparse", of_slack("radius", 2), "radius: an integer from 0 to 1 is expected"),
    ("bounds that follow", "sparse", of_slack("weights", []), "not accepted in full"),
    ("a bound of alpha", "inside", bound_of_nothing, "the weights do not bound alpha"),
    ("a bound for each slack", "sparse", of_class(removed("required", "slacks")), "not accepted in full"),
    ("the program's own bound", "sparse", of_class(put("others", "required", "kind")), "not accepted in full"),
    ("a class of its own answer", "sparse", of_class(put({}, "answer")), "not accepted in full"),
    # --- what half-spaces say together
    ("multipliers not below 0", "sparse", of_answers("none", [[0, "-1"]]), "a multiplier is negative"),
    ("of half-spaces that are there", "sparse", of_answers("none", [[9_999, "1"]]), "half-space that does not exist"),
    ("that add up to nothing", "sparse", of_answers("none", []), "do not show that the half-spaces do not meet"),
    ("a point of all of them", "distances", of_answers("point", [[0, "99"]]), "a point is outside the half-spaces"),
    ("variables once", "distances", of_answers("point", [[0, "1"], [0, "1"]]), "each must occur once"),
    (
        "cases of integers",
        "distances",
        of_answers("cases", NO_CASES),
        "the cases do not split the values of an integer",
    ),
    ("nothing nearer", "distances", of_answers("cases", []), "do not prove that no point is nearer"),
    # --- cells
    ("a class that is there", "sparse", of_answers("class", 99), "a class contains a cell with another answer"),
    ("right about all of it", "facets", of_answers("cut", NOTHING), "is not shown to be nearer than alpha"),
    ("cuts of variables once", "facets", of_answers("cut", TWICE), "each must occur once"),
    ("merged ways that are there", "merged", of_answers("merges", [[9, 0]]), "not accepted in full"),
    ("merged ways that differ in one comparison", "merged", of_answers("merges", [[2, 0]]), "not accepted in full"),
    # --- near inputs
    ("finite inputs that are there", "facets", of_answers("near", {**HERE, "finite": 1}), "it refers to"),
    ("rounded in order", "facets", of_answers("near", UNKNOWN), "depends on a number that is rounded later"),
    ("real or int inputs moved", "facets", of_answers("near", OUTPUT), "a moved input is neither real nor int"),
    ("ints moved to integers", "steps", of_answers("near", HALF), "an int input is not shown to move to an integer"),
    ("nearer than alpha", "facets", of_answers("near", ALPHA_AWAY), "is not shown to be nearer than alpha"),
    ("another answer", "facets", of_answers("near", HERE), "is not shown to have another answer"),
    # --- every number
    ("a number once", "every m", another_case, "it has no classes, or occurs twice"),
    ("every number before", "every m", removed("cases"), "the cases do not cover exactly the numbers before `start`"),
    ("every power of m", "every m", lambda data: inequalities(data).pop() and None, "one inequality for each power"),
    ("powers in order", "every m", lambda data: inequalities(data).reverse(), "one inequality for each power"),
    (
        "once not above start",
        "every m",
        put("99", "numbers", "union", "sums", 0, "once"),
        "must not take more iterations",
    ),
    ("some runs", "every m", put([], "numbers", "union", "sums"), "a union bound must have a sum"),
    # --- privacy
    ("outputs all different", "private", one_output_twice, "two of the outputs, or of the inputs, are the same"),
    ("inputs all different", "private", one_input_twice, "two of the outputs, or of the inputs, are the same"),
    ("every output", "private", an_output_left_out, "do not add up to 1"),
    ("a law for each input", "private", removed("laws"), "there must be one law for each input"),
    ("pairs once", "private", repeated("pairs"), "lists a pair twice"),
    ("every adjacent pair", "private", removed("pairs"), "not exactly the adjacent pairs"),
    ("an obligation a couple", "private", put([], "couples"), "a set of outputs has no obligation"),
    ("outputs of a set once", "not private", repeated("refuted", "outputs"), "an output is counted twice"),
    ("a budget not below 0", "private", put("-1", "claim", "budget"), "the budget is negative"),
    ("a delta not below 0", "delta", put([[0, "0", "-1"]], "claim", "delta"), "obligation of a pair"),
    ("every set", "delta", put([], "sets"), "a set of outputs has no obligation"),
    # --- least numbers
    ("low below high", "least", lambda data: data["enclosed"].reverse(), "not less than the number proved"),
]


def said_of(text: str) -> str:
    """The reason why a certificate is not accepted in full."""
    try:
        accepted = check_text(text)
    except (Rejected, Unreadable) as error:
        return str(error)
    return "accepted in full" if accepted.complete else "not accepted in full"


@pytest.mark.parametrize(
    ("name", "change", "why"), [line[1:] for line in BROKEN], ids=[f"{line[0]} ({line[1]})" for line in BROKEN]
)
def test_what_a_proof_uses_is_refused_when_it_is_broken(
    name: str, change: Callable[[Document], None], why: str
) -> None:
    data = json.loads(json.dumps(document(name)))
    change(data)
    assert why in said_of(samples.resealed(data, answers=False))


def test_a_name_once_in_an_object() -> None:
    text = written("rows")
    assert "is given twice" in said_of(text.replace('"verdict":', '"verdict": "accurate", "verdict":', 1))


def test_the_list_is_in_the_format() -> None:
    """Each property of BROKEN stands in the list of FORMAT.md."""
    page = (Path(dipc.__file__).parent / "certificate" / "FORMAT.md").read_text(encoding="utf-8")
    assert "test_what_proofs_use.py" in page
    assert not [line[0] for line in BROKEN if line[0] not in page]


@pytest.mark.parametrize("eps", [["(0, 1/1000]", "[5, 6]"], ["[5, 6]"]])
def test_a_bound_of_alpha_is_used_up_to_the_greatest_eps(eps: list[str]) -> None:
    """The claim is false at q = 1/2 and eps = 5: a proof up to eps = 1/1000 is not enough."""
    data = document("inside")
    data["claim"]["eps"] = eps
    assert "does not cover the same values as the claim" in said_of(samples.resealed(data))

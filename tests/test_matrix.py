"""Every service answers every question from the command line: a hole in the matrix fails here.

The program is Sparse for two queries. The hardest inputs of each class are in the grid of the finite questions, so that
these must agree with the question about every real input. Answers for every m must hold for two queries as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dipc.cli.main import run

ROOT = Path(__file__).resolve().parent.parent
SPARSE = str(ROOT / "benchmarks" / "sparse.dip")

#: The options that ask each question; TABLE stands for the path of a table of all inputs of the grid.
QUESTIONS = {
    "a table": ["TABLE", "-D", "m=2"],
    "finite inputs": ["-D", "m=2", "--inputs", "q = -1..1"],
    "gamma free": ["-D", "m=2", "--inputs", "q = -1..1", "--gamma", "free"],
    "every real input": ["-D", "m=2", "--inputs", "all"],
    "every m": ["--inputs", "all", "--for-all", "m >= 2"],
}
FINITE = ("a table", "finite inputs", "gamma free")


def below_one(question: str) -> str:
    """An alpha such that inputs at the distance 1 are the nearest that a claim with numbers is about, or nearly."""
    return "1/2" if question in FINITE else "1"


#: 1 - Pr of the hardest class at t = alpha*eps, and the t at which it is 1/10.
MISSING = "4*exp(-{t}/4)/3 - 7*exp(-{t}/2)/12 + exp(-{t})/24"
TENTH = Fraction("10.222905")


class Shell:
    """A shell that runs commands about Sparse and returns their output."""

    def __init__(self, capsys: pytest.CaptureFixture[str], directory: Path) -> None:
        self._capsys = capsys
        self.directory = directory

    def __call__(self, command: str, question: str, *options: str) -> tuple[int, str]:
        return self.plain(command, SPARSE, *self.options_of(question, *options), *options)

    def options_of(self, question: str, *options: str) -> list[str]:
        """The options of a question."""
        words = [self.table() if word == "TABLE" else word for word in QUESTIONS[question]]
        if "gamma" in options:  # of `--for gamma`, which is about one gamma
            assert question != "gamma free"
        return words

    def plain(self, *words: str) -> tuple[int, str]:
        """The exit code and stdout of a command; stderr must not say that anything is refused."""
        self._capsys.readouterr()
        code = int(run(list(words)))
        captured = self._capsys.readouterr()
        assert "error" not in captured.err, f"{' '.join(words)}: {captured.err}"
        return code, captured.out

    def json(self, command: str, question: str, *options: str) -> tuple[int, Any]:
        """The same with the JSON output read."""
        code, text = self(command, question, *options, "--format", "json")
        return code, json.loads(text)

    def table(self) -> str:
        """A table with what the ideal says of the grid."""
        path = self.directory / "grid.csv"
        if not path.exists():
            self.plain("table", SPARSE, "-D", "m=2", "--inputs", "q = -1..1", "-o", str(path))
        return str(path)


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Shell:
    return Shell(capsys, tmp_path)


def certificate(shell: Shell, question: str) -> None:
    path = shell.directory / "proof.json"
    code, _ = shell("check", question, "--certificate", str(path))
    assert code == 0
    code, said = shell.plain("verify", str(path))
    assert code == 0
    assert said.startswith("proved: ")
    # What is claimed in it is what is proved: another beta is rejected.
    text = path.read_text(encoding="utf-8")
    broken = text.replace("exp", "exq", 1) if "exp" in text else text.replace('"1"', '"2"', 1)
    assert broken != text
    path.write_text(broken, encoding="utf-8")
    assert int(run(["verify", "-q", str(path)])) != 0


def digits(shell: Shell, question: str) -> None:
    code, found = shell.json("check", question, "--alpha", below_one(question), "--beta", "1/10", "--digits", "25")
    assert code == 1
    ends = []
    for row in found["rows"]:
        for interval in row.get("failing", ()):
            low, high = map(Fraction, interval["end"]["eps"])
            assert 0 < high - low <= high / 10**24
            assert interval["worst"]["attained"] in (True, False)
            ends.append(low)
    assert ends
    if question in FINITE:
        assert TENTH <= max(ends) <= TENTH + Fraction(1, 10**6)
    elif question == "every real input":
        # At an input that is a little farther than 1.
        assert TENTH * Fraction(64, 65) <= max(ends) <= TENTH
    else:
        assert max(ends) >= TENTH


def jobs(shell: Shell, question: str) -> None:
    one = shell("check", question, "--format", "json")
    assert shell("check", question, "--format", "json", "-j", "2") == one
    assert one[0] == 0


def cache(shell: Shell, question: str) -> None:
    alone = shell("check", question, "--format", "json")
    kept = str(shell.directory / "decided.db")
    assert shell("check", question, "--format", "json", "--cache", kept) == alone
    assert Path(kept).stat().st_size > 0
    assert shell("check", question, "--format", "json", "--cache", kept) == alone


def closed_form(shell: Shell, question: str) -> None:
    number = "2" if question == "every real input" else "1"
    _, text = shell("check", question, "--closed-form", number)
    assert "in closed form" in text
    plain = " ".join(text.split())
    if question == "every m":
        assert "at least" in plain  # a union bound
    elif question == "every real input":
        _, found = shell.json("check", question)
        form = found["rows"][1]["class"]["obligation"]["probability"].replace("eps", "t")
        assert form in plain
    else:
        _, found = shell.json("check", question)
        assert found["rows"][0]["probability"] in plain


def json_output(shell: Shell, question: str) -> None:
    code, found = shell.json("check", question)
    assert (code, found["schema"], found["verdict"]) == (0, "dipc.check/1", "accurate")
    assert [row["row"] for row in found["rows"]] == list(range(1, len(found["rows"]) + 1))
    assert all(row["verdict"] == "accurate" for row in found["rows"])
    assert len(found["rows"]) == {"every real input": 3, "every m": 1}.get(question, 9)


def tighten(shell: Shell, question: str) -> None:
    code, found = shell.json("tighten", question, "--digits", "12")
    (member,) = found["members"]
    low, high = map(Fraction, member["factor"])
    _, grid = shell.json("tighten", "finite inputs", "--digits", "12")
    brute = [Fraction(end) for end in grid["members"][0]["factor"]]
    if question != "every m":
        assert (code, [low, high]) == (0, brute)
        assert member["complete"]
        return
    assert code == 3
    assert not member["complete"]
    # It is enclosed: what two queries need is not more than what all m need at most.
    assert brute[1] <= low + (high - low) or low >= brute[0]
    assert low <= Fraction(member["at_most"][1])
    assert brute[0] <= Fraction(member["at_most"][1])
    assert member["bounds"][0]["exact"] is False


def solve_eps(shell: Shell, question: str) -> None:
    code, found = shell.json(
        "solve", question, "--for", "eps", "--alpha", below_one(question), "--beta", "1/10", "--digits", "8"
    )
    low = Fraction(found["least"]["eps"][0])
    if question != "every m":
        assert (code, low) == (0, TENTH)
        assert found["from_there_on"]
    else:
        # More queries need more, and no eps is enough for all of them.
        assert code in (1, 3)
        assert low >= TENTH


def solve_alpha(shell: Shell, question: str) -> None:
    if question in FINITE:
        code, found = shell.json("solve", question, "--for", "alpha", "--beta", "1/10", "--eps", "[11, inf)")
        assert (code, found["status"], found["least"]) == (0, "solved", "0")  # every dd is 0 or 1
        return
    code, found = shell.json("solve", question, "--for", "alpha", "--beta", "1/10", "--digits", "8")
    least = Fraction(found["alpha*eps"][0])
    if question == "every real input":
        assert (code, least) == (0, TENTH)
        _, fixed = shell.json("solve", question, "--for", "alpha", "--beta", "1/10", "--digits", "8", "--eps", "2")
        assert Fraction(fixed["least"][0]) == TENTH / 2
    else:
        assert code == 3
        assert least > TENTH


def solve_beta(shell: Shell, question: str) -> None:
    code, found = shell.json("solve", question, "--for", "beta")
    wanted = MISSING.format(t="eps")
    forms = [piece["beta"] for piece in found["pieces"]]
    if question in FINITE:
        # Inputs at distance 0 need a constant.
        assert code == 0
        assert forms
        code, found = shell.json("solve", question, "--for", "beta", "--alpha", below_one(question))
        assert (code, [piece["beta"] for piece in found["pieces"]]) == (0, [wanted])
    elif question == "every real input":
        assert (code, forms) == (0, [wanted])
        assert found["pieces"][0]["variable"] == "alpha*eps"
    else:
        assert code == 3
        assert forms[0] == wanted
        assert "bound" not in found["pieces"][0]
        assert found["pieces"][-1]["bound"] == "at most"
        assert re.search(r"\*\(m - \d+\)", forms[-1])


def solve_gamma(shell: Shell, question: str) -> None:
    options = ("--for", "gamma", "--alpha", below_one(question), "--eps", "[11, inf)")
    # The outputs are finite: gamma makes no difference, and 0 is the least, if any is enough.
    if question == "every m":
        code, found = shell.json("solve", question, *options, "--beta", "m/10")
        assert (code, found["least"]) == (0, ["0", "0"])
        return
    code, found = shell.json("solve", question, *options, "--beta", "1/10")
    assert (code, found["least"], found["exact"]) == (0, ["0", "0"], True)
    code, found = shell.json("solve", question, *options, "--beta", "1/100")
    assert (code, found["status"]) == (1, "none")


SERVICES: dict[str, Callable[[Shell, str], None]] = {
    "--certificate": certificate,
    "--digits": digits,
    "-j": jobs,
    "--cache": cache,
    "--closed-form": closed_form,
    "JSON": json_output,
    "tighten": tighten,
    "solve --for eps": solve_eps,
    "solve --for alpha": solve_alpha,
    "solve --for beta": solve_beta,
    "solve --for gamma": solve_gamma,
}

CELLS = [
    pytest.param(service, question, id=f"{service} × {question}")
    for service in SERVICES
    for question in QUESTIONS
    if (service, question) != ("solve --for gamma", "gamma free")
]


def test_the_matrix_has_54_cells() -> None:
    assert len(CELLS) == 54


@pytest.mark.parametrize(("service", "question"), CELLS)
def test_cell(service: str, question: str, shell: Shell) -> None:
    SERVICES[service](shell, question)


def test_to_solve_for_gamma_where_gamma_is_free_means_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["solve", SPARSE, *QUESTIONS["gamma free"], "--for", "gamma", "--beta", "1/10"]
    assert int(run(words)) == 2
    assert "the claim is about every gamma, so there is no least one" in capsys.readouterr().err


def test_no_eps_is_enough_for_every_distance(capsys: pytest.CaptureFixture[str]) -> None:
    assert int(run(["solve", SPARSE, "--inputs", "all", "--for", "eps", "--beta", "1/10"])) == 2
    assert "alpha*eps may be arbitrarily near to 0" in capsys.readouterr().err

"""`ideal { noiseless }` is the program without its noise, for the checker of certificates, too."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import dipc
from dipc.cli.main import run
from dipc.program.ideal import Ideal
from dipc.text import ast
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse
from dipc.text.printer import print_program

ROOT = Path(__file__).resolve().parent.parent.parent
NOISELESS = "ideal { noiseless }"

BEST = """program best;
const k = 2;
domain answer = {-1..k};
input x : {0..3};
output y : answer = 0;
claim { alpha: dd; beta: 3*exp(-eps/2); }
ideal { noiseless }
y <- Exp(eps, v in answer : -abs(v - min(x, 1)) - abs(y)/9);
"""


def with_noiseless_ideal(path: Path) -> str:
    """The program at `path`, whose written ideal is replaced by the word noiseless."""
    text = path.read_text(encoding="utf-8")
    start = text.index("ideal {")
    depth, end = 0, start
    while True:
        depth += (text[end] == "{") - (text[end] == "}")
        end += 1
        if not depth and text[end - 1] == "}":
            return text[:start] + NOISELESS + text[end:]


@pytest.mark.parametrize("score", ["v = x", "v = x or v = 2", "picked[v]"])
def test_scores_that_are_conditions(score: str, tmp_path: Path) -> None:
    """1 where they hold, 0 elsewhere: the best candidate is the first for which they do."""
    head = "program p; input x : {0..3}; input picked[0..3] : bool; output y : {0..3};"
    body = f"claim {{ alpha: 0; beta: 1/2; eps: 6; }} y <- Exp(eps, v in {{0..3}} : {score});"
    table, path, proof = tmp_path / "t.csv", tmp_path / "p.dip", tmp_path / "proof.json"
    path.write_text(f"{head} ideal {{ noiseless }} {body}", encoding="utf-8")
    inputs = "x = 0..3, picked[0] in {true, false}, picked[1] in {true, false}, picked[2] = false, picked[3] = true"
    assert run(["table", str(path), "--inputs", inputs, "-o", str(table)]) == 0
    for row in csv.DictReader(table.read_text(encoding="utf-8").splitlines()):
        x, picked = int(row["x"]), [row[f"picked[{v}]"] == "true" for v in range(4)]
        holds = {"v = x": [v == x for v in range(4)], "v = x or v = 2": [v in (x, 2) for v in range(4)]}
        assert row["y"] == str(holds.get(score, picked).index(True))
    # Where several candidates are best, the first of them is drawn too seldom.
    assert run(["check", str(path), "--inputs", inputs, "--certificate", str(proof), "-q"]) == int(score != "v = x")
    assert run(["verify", str(proof), "-q"]) == 0


@pytest.mark.parametrize("name", ["sparse", "noisy_max", "laplace", "numeric_sparse"])
def test_it_says_what_programs_write_out(name: str, tmp_path: Path) -> None:
    """Equal answers and distances, for every region of inputs; and its certificate is accepted."""
    written = ROOT / "benchmarks" / f"{name}.dip"
    short = tmp_path / "short.dip"
    short.write_text(with_noiseless_ideal(written), encoding="utf-8")
    one, two = (dipc.load(path, m=2) for path in (written, short))
    assert [region.answer for region in Ideal(one).regions({})] == [region.answer for region in Ideal(two).regions({})]
    proof = str(tmp_path / "proof.json")
    assert run(["check", str(short), "-D", "m=2", "--inputs", "all", "--certificate", proof, "-q"]) == 0
    assert run(["verify", proof, "-q"]) == 0


def test_every_number_of_queries(tmp_path: Path) -> None:
    short = tmp_path / "short.dip"
    short.write_text(with_noiseless_ideal(ROOT / "benchmarks" / "noisy_max.dip"), encoding="utf-8")
    proof = str(tmp_path / "proof.json")
    assert run(["check", str(short), "--inputs", "all", "--for-all", "m", "--certificate", proof, "-q"]) == 0
    assert run(["verify", proof, "-q"]) == 0


@pytest.mark.parametrize("domain", ["{-1..k}", "{-1, 0, 1, 2}"])
def test_the_first_of_the_best_candidates(domain: str, tmp_path: Path) -> None:
    """The first best candidate wins for every x; the score reads the former value of the variable."""
    text = BEST.replace("{-1..k}", domain)
    ideal = Ideal(dipc.load(text))
    answers = [ideal.values([value])[0] for value in ideal.program.core.slots[0].type.values]  # type: ignore[union-attr]
    assert answers == [0, 1, 1, 1]
    file, proof = tmp_path / "best.dip", str(tmp_path / "proof.json")
    file.write_text(text, encoding="utf-8")
    assert run(["check", str(file), "--certificate", proof, "-q"]) == 0
    assert run(["verify", proof, "-q"]) == 0


def test_statements_without_noise() -> None:
    tree = parse(
        SourceText(
            "p.dip",
            """program p; input q : real; output y : bool; var r, best_1 : real; ideal { noiseless; };
            for i in 1..2 do if q >= i then r <- Lap(eps, q - i) else r <- Expo(eps) end end; y <- r >= 0; exit""",
        )
    )
    (ideal,) = (each for each in tree.declarations if isinstance(each, ast.IdealDecl))
    statements = print_program(ast.ProgramTree("p", (), ideal.body)).removeprefix("program p;\n")
    assert statements == (
        "for i in 1..2 do\n  if q >= i then\n    r <- q - i;\n  else\n    r <- 0;\n  end;\nend;\ny <- r >= 0;\nexit;\n"
    )
    assert NOISELESS in print_program(tree)
    assert parse(SourceText("p.dip", print_program(tree))) == tree


def test_what_it_is_not() -> None:
    coin = "program p; input x : bool; output y : bool; ideal { noiseless } y <- choose { true : 1/3, false : 2/3 };"
    with pytest.raises(dipc.DiagnosticError, match="`choose` has no meaning without noise"):
        dipc.load(coin)
    with pytest.raises(dipc.DiagnosticError, match="an ideal is not `noisless`"):
        dipc.load("program p; input x : bool; output y : bool; ideal { noisless } y <- x;")
    # It is a name like any other everywhere else.
    dipc.load("program p; input x : bool; output y : bool; var noiseless : bool; noiseless <- x; y <- noiseless;")

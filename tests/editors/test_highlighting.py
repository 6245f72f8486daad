from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pygments.token import Comment, Error, Keyword, Name, Number, Token

from dipc.editors.pygments_lexer import DipwhileLexer
from dipc.text.parser import grammar_text
from dipc.text.words import words

ROOT = Path(__file__).resolve().parent.parent.parent
VSCODE = ROOT / "editors" / "vscode"
PROGRAMS = sorted((ROOT / "benchmarks").rglob("*.dip"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_program_is_highlighted_without_an_error(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tokens = list(DipwhileLexer().get_tokens_unprocessed(text))
    assert "".join(found for _, _, found in tokens) == text
    assert [found for _, kind, found in tokens if kind is Error] == []


def test_kinds() -> None:
    found = {
        text: kind for kind, text in DipwhileLexer().get_tokens("x <- Lap(eps/2, 1.5); # why\nif b then exit end; y' ?")
    }
    assert found["Lap"] is Name.Builtin
    assert found["eps"] is Keyword.Constant
    assert found["if"] is found["exit"] is Keyword
    assert found["1.5"] is Number
    assert found["# why"] is Comment.Single
    assert found["y'"] is Name
    assert found["?"] is Error
    assert found["<-"] in Token.Operator


def test_every_word_of_the_grammar_has_a_kind() -> None:
    quoted = set(re.findall(r'"([^"]+)"', "\n".join(re.findall(r"^[A-Z]+: .*$", grammar_text(), re.MULTILINE))))
    known = words()
    groups = (known.keywords, known.types, known.distributions, known.constants, known.operators, known.signs)
    assert quoted == {text for group in groups for text in group} - {"metric", "inputs", "requires"}


def textmate_text() -> str:
    """The grammar as JSON, made from that of the parser."""
    known = words()

    def among(texts: tuple[str, ...], scope: str) -> dict[str, str]:
        # `\b` knows no Greek letters everywhere: what is no letter of a name stands around the word.
        return {
            "match": rf"(?<![\w\u0391-\u03c9'])(?:{'|'.join(map(re.escape, texts))})(?![\w\u0391-\u03c9'])",
            "name": scope,
        }

    grammar = {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "DiPWhile+",
        "scopeName": "source.dipwhile",
        "fileTypes": ["dip"],
        "patterns": [
            {"match": "#.*$", "name": "comment.line.number-sign.dipwhile"},
            {"match": known.number, "name": "constant.numeric.dipwhile"},
            among(known.keywords, "keyword.control.dipwhile"),
            among(known.types, "storage.type.dipwhile"),
            among(known.distributions, "support.function.distribution.dipwhile"),
            among(known.functions, "support.function.dipwhile"),
            among(known.constants, "constant.language.dipwhile"),
            among(known.operators, "keyword.operator.word.dipwhile"),
            {"match": f"(?:{known.name})'?", "name": "variable.other.dipwhile"},
            {"match": "|".join(map(re.escape, known.signs)), "name": "keyword.operator.dipwhile"},
        ],
    }
    return json.dumps(grammar, indent=1, ensure_ascii=False) + "\n"


def test_the_extension_has_the_grammar(request: pytest.FixtureRequest) -> None:
    path = VSCODE / "syntaxes" / "dipwhile.tmLanguage.json"
    if request.config.getoption("--update-golden"):
        path.write_text(textmate_text(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == textmate_text()
    package = json.loads((VSCODE / "package.json").read_text(encoding="utf-8"))
    (grammar,) = package["contributes"]["grammars"]
    assert (VSCODE / grammar["path"]).is_file()
    assert grammar["scopeName"] == json.loads(textmate_text())["scopeName"]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_extension_knows_every_character(path: Path) -> None:
    """The patterns in their order, each tried where the one before ended, as editors try them."""
    patterns = [re.compile(rule["match"]) for rule in json.loads(textmate_text())["patterns"]]
    for line in path.read_text(encoding="utf-8").splitlines():
        at = 0
        while at < len(line):
            match = next((found for rule in patterns if (found := rule.match(line, at)) and found[0]), None)
            assert match is not None or line[at].isspace(), (path.name, line, at)
            at = at + 1 if match is None else match.end()

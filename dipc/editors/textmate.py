"""The TextMate grammar of the language, which Visual Studio Code and others read."""

from __future__ import annotations

import json
import re

from dipc.editors.words import words

SCOPE = "source.dipwhile"


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
        "scopeName": SCOPE,
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

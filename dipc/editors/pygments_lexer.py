"""Programs in Pygments: for Sphinx, Jupyter and rich."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from pygments.lexer import Lexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, Text, Whitespace, _TokenType

from dipc.text.words import words

_BRACKETS = "()[]{},;:"


class DipwhileLexer(Lexer):  # type: ignore[misc]  # Pygments has no types
    """The Pygments lexer of DiPWhile+, the language of dipc."""

    name = "DiPWhile+"
    aliases: ClassVar[list[str]] = ["dipwhile", "dip"]
    filenames: ClassVar[list[str]] = ["*.dip"]

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        """Yield (offset, token type, text) for consecutive tokens that cover all of `text`.

        A character that belongs to no token is an Error.
        """
        known = words()
        kinds = {
            **dict.fromkeys(known.keywords, Keyword),
            **dict.fromkeys(known.types, Keyword.Type),
            **dict.fromkeys((*known.distributions, *known.functions), Name.Builtin),
            **dict.fromkeys(known.constants, Keyword.Constant),
            **dict.fromkeys(known.operators, Operator.Word),
        }
        signs = "|".join(map(re.escape, known.signs))
        pattern = re.compile(
            rf"(?P<comment>#[^\n]*)|(?P<blank>[\s\ufeff]+)|(?P<number>{known.number})"
            rf"|(?P<word>ε|(?:{known.name})'?)|(?P<sign>{signs})|(?P<error>.)",
            re.DOTALL,
        )
        for match in pattern.finditer(text):
            written = match[0]
            match match.lastgroup:
                case "comment":
                    kind = Comment.Single
                case "blank":
                    kind = Whitespace
                case "number":
                    kind = Number
                case "word":
                    kind = kinds.get(written, Name)
                case "sign":
                    kind = Punctuation if written in _BRACKETS else Operator
                case "error":
                    kind = Error
                case _:
                    kind = Text
            yield match.start(), kind, written

"""The text of a certificate, and the digest that goes with it."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def sealed(document: dict[str, Any]) -> str:
    """The JSON text of a document with its digest, one row or entry a line."""
    return seal(
        {name: list(map(encode, part)) if isinstance(part, list) else encode(part) for name, part in document.items()}
    )


#: A value as JSON without blanks, in ASCII, the names of every object in order.
encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode


def seal(parts: dict[str, str | list[str]]) -> str:
    """The text of a document whose parts are encoded, a list entry by entry."""

    def text(name: str, comma: str, end: str) -> str:
        part = parts[name]
        return f"{encode(name)}:{part if isinstance(part, str) else f'[{end}{comma.join(part)}{end}]'}"

    digest = hashlib.sha256(b"{")
    for at, name in enumerate(sorted(parts)):
        digest.update(f"{',' if at else ''}{text(name, ',', '')}".encode("ascii"))
    digest.update(b"}")
    sealing = f'"digest":"{digest.hexdigest()}"'
    return "{" + ",\n".join([*(text(name, ",\n", "\n") for name in parts), sealing]) + "}\n"

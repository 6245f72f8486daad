"""Which engine decided: a fingerprint of the code whose answers are kept or sent."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

#: The rooms that answers come from, and this one, which writes questions and answers down.
_ROOMS = (
    "diagnostics",
    "algebra",
    "linear",
    "sign",
    "measure",
    "lang",
    "chain",
    "tables",
    "claim",
    "metric",
    "exits",
    "obligations",
    "scale",
)


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """`0.1.0-3f2a…`: the version, and a hash of the grammar, the sources of the rooms that decide and FLINT's version.

    Answers of engines with the same fingerprint may stand for each other; of others nothing is known.
    """
    import flint

    import dipc
    from dipc.lang.grammar import grammar_text

    package = Path(dipc.__file__).parent
    files = [path for room in _ROOMS for path in sorted((package / room).rglob("*.py"))]
    digest = hashlib.sha256(f"python-flint {flint.__version__}, FLINT {flint.__FLINT_VERSION__}\n".encode())
    digest.update(hashlib.sha256(grammar_text().encode()).digest())
    for path in files:
        digest.update(f"{path.relative_to(package).as_posix()}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{dipc.__version__}-{digest.hexdigest()[:16]}"

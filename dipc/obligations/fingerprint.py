"""Which engine decided: a fingerprint of the code whose answers are kept or sent."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

#: The rooms that decisions come from. What asks is not among them: equal obligations have equal answers.
_ROOMS = ("algebra", "linear", "sign", "measure", "obligations")


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """`0.1.0-3f2a…`: the version, and a hash of the sources of the rooms that decide and of FLINT's version.

    Answers of engines with the same fingerprint may stand for each other; of others nothing is known.
    """
    import flint

    import dipc

    package = Path(dipc.__file__).parent
    files = [path for room in _ROOMS for path in sorted((package / room).rglob("*.py"))]
    digest = hashlib.sha256(f"python-flint {flint.__version__}, FLINT {flint.__FLINT_VERSION__}\n".encode())
    for path in files:
        digest.update(f"{path.relative_to(package).as_posix()}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{dipc.__version__}-{digest.hexdigest()[:16]}"

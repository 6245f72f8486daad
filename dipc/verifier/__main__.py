"""`python -m dipc.verifier FILE`: the checker alone, with the standard library only."""

from __future__ import annotations

import sys
from os.path import abspath, dirname

# `python -m` looks for modules beside the certificate first: nothing may be imported from there. With -P it does not.
_HOME = dirname(dirname(dirname(abspath(__file__))))  # noqa: PTH100, PTH120 - pathlib would be imported from there
sys.path[:] = [_HOME, *(path for path in sys.path[1:] if path)] if sys.path and not sys.flags.safe_path else sys.path

from dipc.verifier.command import main  # noqa: E402 - after the path is safe

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`python -m dipc.verifier FILE`: the checker alone, with the standard library only."""

from __future__ import annotations

import sys

from dipc.verifier.alone import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""How large a program may become once its loops are unrolled."""

from __future__ import annotations

from dipc.diagnostics.source import Span
from dipc.lang.codes import Code
from dipc.lang.findings import Findings

#: Statements once every `for` is unrolled; the scores of an `Exp` count as one each, the values of a `choose` as
#: STATEMENTS_A_WEIGHT, as their weights are closed forms.
MAX_UNROLLED = 50_000
STATEMENTS_A_WEIGHT = 3


class Budget:
    """Counts statements down from MAX_UNROLLED."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._left = MAX_UNROLLED
        #: False once something did not fit: what was lowered is not the whole program.
        self.complete = True

    def spend(self, count: int) -> None:
        """Count statements that have been lowered."""
        self._left -= count

    def fits(self, count: int, span: Span, what: str) -> bool:
        """Whether `count` more statements are allowed. The first time they are not, that is reported at `span`, with
        `what` ("1000 iterations") behind the caret; from then on nothing fits."""
        if self.complete and count > self._left:
            self.complete = False
            self._findings.report(
                Code.TOO_MANY_STATEMENTS,
                span,
                f"with its loops unrolled the program has more than {MAX_UNROLLED} statements",
                label=what,
                notes=("choose a smaller bound, or a `while` over DOM variables",),
            )
        return self.complete

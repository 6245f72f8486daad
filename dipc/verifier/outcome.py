"""What a check of a certificate found, and how it is said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dipc.verifier.rejection import plain


@dataclass(frozen=True)
class Accepted:
    """A certificate whose every step was re-derived.

    `charted` counts refuted obligations of which all eps where they fail were shown, too. `open_rows` are rows, by
    number, whose verdict it states without a proof, with the reason; `trusted` says what was taken on trust; `facts`
    what was compared besides, and `compared` what was not.
    """

    program: str
    constants: tuple[tuple[str, str], ...]
    verdict: str
    counts: dict[str, int]
    obligations: int
    derived_obligations: int
    claim: str
    charted: int
    open_rows: tuple[tuple[int, str], ...]
    trusted: tuple[str, ...]
    facts: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    derived: str | None = None
    #: What its verdicts are about: rows of a table, classes of inputs, or pairs of them.
    what: str = "row"

    @property
    def complete(self) -> bool:
        """Whether no verdict but `undecided` is without a proof, and nothing was taken on trust."""
        return not self.open_rows and not self.trusted

    def lines(self) -> Iterator[str]:
        """The report as lines of text."""
        return map(plain, self._lines())

    def _vacuously(self) -> str:
        """How many rows claim nothing."""
        vacuous, rows = self.counts["vacuous"], self.counts["rows"]
        if not vacuous:
            return ""
        return f", {'all' if vacuous == rows else f'{vacuous} of {rows}'} vacuously" if rows > 1 else ", vacuously"

    def _lines(self) -> Iterator[str]:
        rows = self.counts["rows"]
        if self.complete:
            kind = _plural(self.what)
            proved = f"all {kind} are proved" if not self.counts["undecided"] else f"the {kind} decided are proved"
            yield f"accepted: {self.verdict}{self._vacuously()}; {proved}"
        else:
            missing = [f"{len(self.open_rows)} of {_count(rows, self.what)} without a proof"] if self.open_rows else []
            trust = [f"on trust: {'; '.join(self.trusted)}"] if self.trusted else []
            said = f"the certificate says {self.verdict}{self._vacuously()}"
            yield f"accepted in part: {', '.join([*missing, *trust])}; {said}"
        given = ", ".join(f"{name} = {value}" for name, value in self.constants)
        yield f"  program      {self.program}{f' with {given}' if given else ''}"
        yield f"  claim        {self.claim}"
        kinds = [f"{count} {kind}" for kind, count in self.counts.items() if count and kind not in ("rows", "vacuous")]
        vacuous = f" ({self.counts['vacuous']} of them vacuously)" if self.counts["vacuous"] else ""
        yield f"  {_plural(self.what):<11}  {_count(rows, self.what)}: {', '.join(kinds)}{vacuous}"
        charted = f"; exactly where they fail was shown, too, of {self.charted}" if self.charted else ""
        derived = "each" if self.derived_obligations == self.obligations else f"{self.derived_obligations} of them"
        yield f"  obligations  {self.obligations}, {derived} derived again{charted}"
        if self.derived is not None:
            yield f"  derivation   {self.derived}"
        for fact in self.facts:
            yield f"  compared     {fact}"
        for number, reason in self.open_rows[:20]:
            yield f"  not certified: {self.what} {number}: {reason}"
        if len(self.open_rows) > 20:
            yield f"  not certified: {len(self.open_rows) - 20} more {_plural(self.what)}"
        for note in self.compared:
            yield f"  not compared: {note}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else _plural(noun)}"


def _plural(noun: str) -> str:
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"

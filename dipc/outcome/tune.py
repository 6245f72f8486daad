"""The answer of `dipc tune`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from dipc.inverse.question import Wanted
from dipc.inverse.tune import Tried, Tuned, Varied
from dipc.outcome.outcome import GAP, Fields, Grid, Line, Outcome, Part, Standing, Table, Tone
from dipc.outcome.words import cell_text, count, exact, program_text, rational, shown

_ZERO = Fraction(0)

_T = {Wanted.ALPHA: "alpha*eps", Wanted.GAMMA: "gamma*eps", Wanted.EPS: "eps"}

#: Values that are listed.
_LISTED = 12


def outcome(found: Tuned, path: str) -> Outcome:
    """The answer: found, or open where nothing is known, or a constant of privacy only enclosed."""
    best = found.best
    standing = Standing.OPEN if best is None or not best.exact else Standing.HOLDS
    return Outcome(
        program=found.program,
        line=headline(found),
        standing=standing,
        tone=Tone.HEAD if standing is Standing.HOLDS else Tone.OPEN,
        parts=lambda: _parts(found, path),
        record=found.as_json,
        table=lambda: _table(found),
        interrupted="interrupted\n" if found.interrupted else None,
        result=found,
    )


def headline(found: Tuned) -> str:
    """The whole answer in one sentence."""
    best, own = found.best, found.own
    if best is None or best.objective is None:
        return f"UNDECIDED: for no value that was tried is the least {_T[found.wanted]} known"
    text = f"best {_values(best.values)}: {_objective(found)} = {shown(*best.objective)}"
    if own is not None and own.objective is not None and own is not best:
        gain = 1 - best.objective[1] / own.objective[0]
        text += f", {_percent(gain)} less than with {_values(own.values)}"
    tried = f"the best of {count(len(found.tried), 'value')} tried"
    if found.within is None:
        return f"{text}; {tried}"
    share = found.proved_within if found.proved_within is not None else found.within
    return f"{text}; {tried}, within {_percent(share)} of any {_proved_for(found)}, proved"


def _proved_for(found: Tuned) -> str:
    """The values of which something is proved."""
    ranges = ", ".join(f"{name} in [{low}, {high}]" for name, (low, high) in found.proved_for.items())
    return ranges + (" with rates that are a fiftieth of the greatest, or more" if len(found.varied) > 1 else "")


def _objective(found: Tuned) -> str:
    return f"{_T[found.wanted]} for K = 1" if found.adjacent is not None else _T[found.wanted]


def _values(values: Mapping[str, Fraction]) -> str:
    return ", ".join(f"{name} = {rational(value)}" for name, value in values.items())


def _percent(share: Fraction) -> str:
    return f"{exact(100 * share, 3)} %"


def _parts(found: Tuned, path: str) -> Iterator[Part]:
    yield GAP
    fields = [("program", program_text(f"{found.program} ({path})", tuple(found.constants.items())))]
    fields += [("vary", ", ".join(_range(each) for each in found.varied))]
    fields += [(name, text) for name, text in found.claim.items()]
    fields.append((str(found.wanted), f"asked for: the least t with {_T[found.wanted]} = t"))
    privacy = f"for adjacent inputs {found.adjacent}: t is multiplied by the least constant K"
    fields.append(("privacy", "nominal: no --adjacent" if found.adjacent is None else privacy))
    yield Fields(fields)
    for title, one in (("best", found.best), ("the program's own", found.own)):
        if one is not None:
            yield GAP
            yield Line(title, Tone.HEAD)
            yield Fields(_fields(one))
    yield GAP
    if found.lower is not None:
        private = "" if found.adjacent is None else "K·"
        text = f"{private}t ≥ {exact(found.lower, 6)} for every {_proved_for(found)}, by {count(found.cells, 'cell')}"
        yield Fields([("proved", text), *_at_an_end(found)])
    elif found.unproved is not None:
        yield Fields([("proved", f"nothing of other values: {found.unproved}")])
    yield GAP
    head, rows = _rows(found)
    yield Grid(head, tuple(rows[:_LISTED]), frozenset(range(1, len(head))))


def _at_an_end(found: Tuned) -> Iterator[tuple[str, str]]:
    """That the best of all may be at an end of the range, where nothing is proved."""
    for name, (low, high) in found.proved_for.items():
        value = _ZERO if found.best is None else found.best.values[name]
        if not low < value < high:
            yield "but", f"it lies at an end of the range: nearer to that end of {name} less may be needed"


def _range(each: Varied) -> str:
    return f"{each.name} in {'(' if each.low_open else '['}{each.low}, {each.high}{')' if each.high_open else ']'}"


def _fields(one: Tried) -> Iterator[tuple[str, str]]:
    for name, value in one.values.items():
        yield name, rational(value)
    if one.threshold is None:
        yield "reason", one.reason or ""
        return
    yield "t", cell_text(*one.threshold)
    if one.constant is not None and one.objective is not None:
        yield "K", f"{rational(one.constant)}{'' if one.exact else ', at most'}"
        yield "K·t", shown(*one.objective) if one.exact else f"at most {exact(one.objective[1])}"


def _rows(found: Tuned) -> tuple[tuple[str, ...], list[tuple[Tone | None, tuple[str, ...]]]]:
    private = found.adjacent is not None
    head = (*(each.name for each in found.varied), "t", *(("K", "K·t") if private else ()))
    known = sorted((one for one in found.tried if one.objective is not None), key=lambda one: one.objective or ())
    rows: list[tuple[Tone | None, tuple[str, ...]]] = []
    for one in known:
        assert one.threshold is not None
        assert one.objective is not None
        cells = [rational(value) for value in one.values.values()] + [cell_text(*one.threshold)]
        if private:
            cells += [rational(one.constant or Fraction(1)), exact(one.objective[1], 8)]
        rows.append((Tone.GOOD if one is found.best else None, tuple(cells)))
    return head, rows


def _table(found: Tuned) -> Table:
    head, rows = _rows(found)
    return Table("Values that were tried", head, rows, len(rows))

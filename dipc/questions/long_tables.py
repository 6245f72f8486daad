"""Long tables in a file, decided chunk by chunk: each chunk of rows is read, completed and decided by one worker.

A *chunk* is some lines of the file. A worker, in this process or in another one, reads the lines of a chunk. Its answer
(`ChunkAnswer`) has the numbers of rows of each kind and the rows that it did not prove. The main process only reads
bytes, adds numbers, and decides the remaining rows as it decides the rows of any table. It keeps no other rows. A cache
keeps the answer for each chunk, under a digest of the bytes of the chunk.

Invariant: a report is the same as for the table read as a whole. Where a chunk is refused (a mistake in a cell, an
answer that is not the ideal's, a limit), or where many rows are not proved, the table is read again as a whole.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple, replace
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import IO, TYPE_CHECKING, overload

from dipc.algebra.limits import Effort, Limits, NotApplicable, Undecided
from dipc.claims.claim import ClaimOptions, is_free, resolve_claim
from dipc.claims.given import INFINITY, CellPool, value_of
from dipc.claims.table import (
    MAX_LINE,
    PackedRows,
    Row,
    Table,
    TableGiven,
    first_of_each_claim,
    read_chunk,
    read_table,
)
from dipc.claims.transcendental import enclosed_claim
from dipc.decide.engine import Done, Engine, Performer, Task, fingerprint
from dipc.decide.obligation import Verdict
from dipc.decide.scope import ClaimScope, join_scopes
from dipc.frozen import LazyModule, frozen
from dipc.options import Options
from dipc.program.inputs import completed, contradiction
from dipc.program.program import Program
from dipc.questions.families import AlphaColumn, FamilyClaim, FamilyProver, IntegerColumns, RowFamilies
from dipc.questions.report import CountedRows, Counts, DecidedRows, Report, RowResult, counts_of
from dipc.questions.rows import TableRows
from dipc.questions.source import Case, Source
from dipc.text.core import DomType
from dipc.text.diagnostic import Diagnostic, DiagnosticError
from dipc.text.program import CoreProgram

if TYPE_CHECKING:
    from dipc.decide import cache as cache_file
    from dipc.decide import shared
    from dipc.program import ideal as ideals
else:
    cache_file = LazyModule("dipc.decide.cache")
    shared = LazyModule("dipc.decide.shared")
    ideals = LazyModule("dipc.program.ideal")

#: The approximate size of a chunk in bytes.
CHUNK_BYTES = 1 << 19

#: The most chunks that are read ahead of the next answer, the most scopes that are not joined, and the most bits of an
#: alpha in a family.
_MOST_AHEAD, _MOST_SCOPES, _MOST_BITS = 64, 1_000, 256

#: The most rows that chunks may leave: a number or, if that is more, one of so many.
_MOST_LEFT, _ROWS_FOR_ONE = 2_000, 8

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_DD = frozenset({"dd"})


# --- A chunk and its answer -------------------------------------------------------------------------------------------


@frozen
class ChunkAnswer:
    """The result for a chunk, which is a sequence of lines of a long table.

    `counts` counts the rows that are proved, except that `counts.rows` is the number of all rows of the chunk. `scopes`
    has the eps where beta < 1 at proved rows. `left` has the rows that are not proved, each with its position in the
    chunk, from 0, and the texts of its inputs, outputs and dd. `work` is the number of explorations of the program, and
    the time that they took.
    """

    counts: Counts
    scopes: tuple[ClaimScope, ...]
    left: tuple[tuple[int, tuple[str, ...]], ...]
    work: Effort = Effort()

    def text(self) -> str:
        """Return the answer as JSON."""
        return json.dumps(
            [
                [*astuple(self.counts)],
                [shared.scope_json(scope) for scope in self.scopes],
                [[position, *cells] for position, cells in self.left],
                [self.work.explorations, self.work.chain_seconds],
            ]
        )

    @staticmethod
    def parse(text: str) -> ChunkAnswer:
        """Return the answer that was written as `text`. Raises Unreadable if it is not valid."""
        try:
            numbers, scopes, left, (explorations, seconds) = json.loads(text)
            counts = Counts(*[int(number) for number in numbers])
            answer = ChunkAnswer(
                counts,
                tuple([shared.read_scope(scope) for scope in scopes]),
                tuple([(int(position), tuple(map(str, cells))) for position, *cells in left]),
                Effort(explorations=int(explorations), chain_seconds=float(seconds)),
            )
        except (ValueError, TypeError, LookupError) as error:
            raise shared.Unreadable(text) from error
        proved = counts.accurate + len(answer.left)
        if counts.rows < 1 or proved != counts.rows or counts.inaccurate or counts.undecided or min(numbers) < 0:
            raise shared.Unreadable(text)
        return answer


@frozen
class ChunkSetup:
    """The settings of a worker that decides chunks of a table.

    They are the program `core` with its `limits`, the `claim`, and the `name` and `header` of the table.
    """

    core: CoreProgram
    limits: Limits
    claim: ClaimOptions
    name: str
    header: tuple[str, ...]

    def performer(self) -> Performer:
        return ChunkWorker(self).perform

    @property
    def digest(self) -> str | None:
        """The hash of everything that the result for a chunk depends on, except for the chunk itself.

        It is None for a program without a text.
        """
        core = self.core
        if core.source.accepted is not None:
            return None
        claim = self.claim
        said = (
            fingerprint(all_rooms=True),
            core.source.text,
            sorted((name, str(value)) for name, value in core.overrides.items()),
            str(core.asked_eps),
            repr(self.limits),
            [None if part is None else str(part) for part in (claim.beta, claim.alpha, claim.gamma, claim.eps)],
            self.header,
        )
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()


class ChunkWorker:
    """A worker that decides chunks of one table; a chunk is a sequence of its lines.

    Between chunks it keeps everything that does not depend on a chunk, such as the exits of the program, but no rows.
    """

    def __init__(self, setup: ChunkSetup) -> None:
        self._setup = setup
        self._program = Program(setup.core, setup.limits)
        self._probabilities = self._program.probabilities()
        self._distances = None
        if setup.core.ideal is not None:
            self._ideal = ideals.Ideal(self._program)
            self._distances = ideals.Distances(self._ideal)
        self._pool = CellPool()
        domains = [slot.type for slot in (*setup.core.input_slots, *setup.core.output_slots)]
        self._kept = frozenset(
            value
            for kind in domains
            if isinstance(kind, DomType)
            for value in kind.values
            if isinstance(value, Fraction)
        )
        slots = [*setup.core.input_slots, *setup.core.output_slots]
        self._finite = [position for position, slot in enumerate(slots) if not slot.is_symbolic]
        self._numeric = [position for position, slot in enumerate(slots) if slot.is_symbolic]
        self._families: RowFamilies | None = None
        if self._program.core.has_product_distance:
            self._families = RowFamilies(self._probabilities, self._distances)
        self._about: FamilyClaim | None = None

    def perform(self, questions: bytes) -> Done:
        engine = Engine(self._program.measurer, self._program.limits)
        engine.forms = False
        answer = self.answer(questions, engine)
        return Done("", spent=engine.spent, text="" if answer is None else answer.text())

    def answer(self, lines: bytes, engine: Engine) -> ChunkAnswer | None:
        """Return the result for the rows in `lines`, decided by `engine`.

        The result is None if the table cannot be decided in chunks, for example because of a row that cannot be read.
        """
        before = self._probabilities.work
        try:
            if lines.startswith(_BYTE_ORDER_MARK):
                return None
            table = read_chunk(self._setup.name, self._setup.header, lines, self._setup.core, self._pool)
            rows = _ChunkRows(table)
            self._measure_distances(rows)
            with suppress(NotApplicable):
                self._decide_families(rows, engine)
            answer = self._decide_rest(rows, engine)
        except (DiagnosticError, Undecided, NotApplicable):
            return None
        finally:
            self._pool.forget_numbers(self._kept)
            self._probabilities.forget_rows()
        return replace(answer, work=self._probabilities.work - before)

    def _measure_distances(self, rows: _ChunkRows) -> None:
        """Set dd of all `rows`: to the number in the column dd, or else to dd of the program's ideal, if it has one.

        Raises NotApplicable if the answer in a row differs from the ideal's, and if only some rows have a number in the
        column.
        """
        given = [row.dd is not None for row in first_of_each_claim(rows.rows)]
        if all(given):
            column = rows.rows.columns[-1]
            values = [None if cell is None else cell.value for cell in column.cells]
            known = _common([value if isinstance(value, Fraction) else None for value in values])
            rows.set_distances(range(len(rows.rows)), [known[0][number] for number in column.numbers], known[1])
            return
        if any(given):
            raise NotApplicable
        if self._distances is None:
            return
        rows.computed = True
        try:
            numbers_of = IntegerColumns(rows.rows, self._numeric)
        except NotApplicable:
            numbers_of = None
        for members in rows.groups(self._finite):
            first = rows.rows[members[0]]
            found: tuple[Sequence[int | None], int] | None = None
            if numbers_of is not None and self._families is not None:
                found = self._families.distances_of(first, numbers_of, members)
            if found is None:
                found = _common([self._distance(rows.rows[index]) for index in members])
            rows.set_distances(members, *found)

    def _distance(self, row: Row) -> Fraction | None:
        assert self._distances is not None
        values = tuple(map(value_of, row.inputs))
        answer = self._ideal.values(values)
        if contradiction(self._program, row, answer) is not None:
            raise NotApplicable
        return self._distances.dd(values, answer)

    # --- rows in families ---------------------------------------------------------------------------

    def _decide_families(self, rows: _ChunkRows, engine: Engine) -> None:
        """Prove many of `rows` at once with `engine`, and mark these as proved.

        The rows of a family have the same finite inputs and outputs, and the same exits; a few obligations prove most
        of a family. Raises NotApplicable if this method does not apply to the table.
        """
        families = self._families
        if families is None:
            raise NotApplicable
        numbers = IntegerColumns(rows.rows, self._numeric)
        for members in rows.groups(self._finite):
            first = rows.rows[members[0]]
            if not any(first.outputs):
                continue
            about = self._claim_of(rows, members[0])
            try:
                self._decide_group(first, members, rows, numbers, about, families, engine)
            except (NotApplicable, Undecided):
                continue

    def _claim_of(self, rows: _ChunkRows, index: int) -> FamilyClaim:
        """Return the claim of all rows of the table as a function of alpha.

        The claim is read at the row `index` of `rows`. Raises NotApplicable if rows differ in more than alpha.
        """
        if self._about is None:
            table = rows.part([index], self._pool)
            claim = resolve_claim(self._setup.core, table, self._setup.claim)
            self._about = FamilyClaim(claim, table.rows[0], self._setup.limits)
        return self._about

    def _decide_group(
        self,
        first: Row,
        members: Sequence[int],
        rows: _ChunkRows,
        numbers: IntegerColumns,
        about: FamilyClaim,
        families: RowFamilies,
        engine: Engine,
    ) -> None:
        """Mark the proved rows among `members`, which are indices of `rows`.

        These rows have the same finite inputs and outputs as the row `first`. `numbers` has the numbers of the rows,
        and `about` is their claim. `families` divides the rows by their exits, and `engine` decides the obligations.
        Raises NotApplicable if the method does not apply, and Undecided past a limit.
        """
        near: list[int] = []
        if about.alpha is None:
            distances = rows.distances[members[0]]
            if distances is None:
                raise NotApplicable
            alphas = distances
            asked = [index for index in members if alphas.of[index] is not None]
        else:
            alphas = AlphaColumn(dict.fromkeys(members, about.alpha.numerator), about.alpha.denominator)
            asked = []
            for index in members:
                distance = rows.distance(index)
                about_row = distance is None or distance > about.alpha
                if about_row or (distance == about.alpha and about.is_about_equal):
                    asked.append(index)
                else:
                    near.append(index)
        distinct = sorted({alpha for index in asked if (alpha := alphas.of[index]) is not None})
        if distinct and distinct[-1].bit_length() + alphas.below.bit_length() > _MOST_BITS:
            raise NotApplicable
        values = [alphas.fraction(alpha) for alpha in distinct]
        if about.falls:
            vacuous = {*distinct[: about.vacuous_among(values)]}
            scopes = [about.scope(value) for value in values[-1:]]
        else:
            vacuous = {alpha for alpha, value in zip(distinct, values, strict=True) if about.is_vacuous(value)}
            scopes = [about.scope(value) for value in values]
        live = [index for index in asked if alphas.of[index] not in vacuous]
        left: set[int] = set()
        if live:
            prover = FamilyProver(numbers, alphas, about, engine)
            for family, own in families.split(first, about.gamma, numbers, live):
                left.update(prover.undecided(family, own))
        rows.scopes.update(dict.fromkeys(scopes))
        rows.mark(near, vacuous=True)
        rows.mark([index for index in asked if alphas.of[index] in vacuous], vacuous=True, above_one=True)
        rows.mark([index for index in live if index not in left])

    # --- the other rows, one by one -----------------------------------------------------------------

    def _decide_rest(self, rows: _ChunkRows, engine: Engine) -> ChunkAnswer:
        rest = rows.unproved()
        if not rest:
            return rows.answer(Counts(), (), ())
        table = rows.part(rest, self._pool)
        source = TableRows(self._program, table, resolve_claim(self._setup.core, table, self._setup.claim))
        source.probabilities = self._probabilities
        decided, steps = source.begin(engine)
        for _ in steps:
            pass
        assert isinstance(decided, DecidedRows)
        outcomes, numbers = decided.outcomes
        holds = [outcome.settled.verdict is Verdict.ACCURATE for outcome in outcomes]
        left = []
        for index, row, number in zip(rest, table.rows, numbers, strict=True):
            if not holds[number]:
                cells = (*row.inputs, *row.outputs, row.dd)
                left.append((index, tuple(["" if cell is None else cell.text for cell in cells])))
        proved = [outcome for outcome, held in zip(outcomes, holds, strict=True) if held]
        scopes = dict.fromkeys([outcome.says for outcome in proved if outcome.says is not None])
        counts = counts_of((outcomes[number], count) for number, count in Counter(numbers).items() if holds[number])
        return rows.answer(counts, tuple(scopes), tuple(left))


def _common(values: Sequence[Fraction | None]) -> tuple[list[int | None], int]:
    """Return (the `values` as integers over a common denominator, this denominator); None stays None."""
    below = lcm(*{value.denominator for value in values if value is not None})
    return [None if value is None else value.numerator * (below // value.denominator) for value in values], below


class _ChunkRows:
    """The rows of a chunk with their dd, and which of them are proved."""

    def __init__(self, table: Table) -> None:
        assert isinstance(table.rows, PackedRows)
        self.table = table
        self.rows = table.rows
        #: For each row the dd of its group, or None; whether they come from the ideal.
        self.distances: list[AlphaColumn | None] = [None] * len(table.rows)
        self.computed = False
        self.scopes: dict[ClaimScope, None] = {}
        self._proved = bytearray(len(table.rows))
        self._counts = Counts()
        self._groups: list[list[int]] | None = None

    def groups(self, finite: Sequence[int]) -> list[list[int]]:
        if self._groups is None:
            columns = self.rows.columns
            keys: Iterable[tuple[int, ...]] = zip(*[columns[position].numbers for position in finite], strict=True)
            groups: dict[tuple[int, ...], list[int]] = {}
            if finite:
                for index, key in enumerate(keys):
                    groups.setdefault(key, []).append(index)
                self._groups = [*groups.values()]
            else:
                self._groups = [[*range(len(self.rows))]]
        return self._groups

    def set_distances(self, members: Sequence[int], values: Sequence[int | None], below: int) -> None:
        """Set dd of the rows `members` to `values`, integers over `below`; None is infinity."""
        column = AlphaColumn(dict(zip(members, values, strict=True)), below)
        for index in members:
            self.distances[index] = column

    def distance(self, index: int) -> Fraction | None:
        column = self.distances[index]
        value = None if column is None else column.of[index]
        return None if column is None or value is None else column.fraction(value)

    def mark(self, rows: Sequence[int], *, vacuous: bool = False, above_one: bool = False) -> None:
        """Mark `rows` as proved.

        `vacuous` says that nothing is claimed about them. The reason is that their dd is at most alpha, or, if
        `above_one`, that beta is at least 1 at every eps.
        """
        for index in rows:
            self._proved[index] = 1
        number = len(rows)
        more = Counts(number, number, 0, 0, number if vacuous else 0, number if above_one else 0, 0)
        self._counts += more

    def unproved(self) -> list[int]:
        return [index for index, proved in enumerate(self._proved) if not proved]

    def part(self, rows: Sequence[int], pool: CellPool) -> Table:
        result = PackedRows(*self.rows.widths)
        for index in rows:
            row = self.rows[index]
            dd = row.dd
            if dd is None and self.computed:
                distance = self.distance(index)
                dd = INFINITY if distance is None else pool.cell(distance)
            result.append((*row.inputs, *row.outputs, row.alpha, row.beta, row.gamma, dd))
        columns = self.table.columns | (_DD if self.computed else frozenset())
        return replace(self.table, rows=result, columns=columns, computed=_DD if self.computed else frozenset())

    def answer(
        self, counts: Counts, scopes: Sequence[ClaimScope], left: tuple[tuple[int, tuple[str, ...]], ...]
    ) -> ChunkAnswer:
        every = replace(self._counts + counts, rows=len(self.rows))
        return ChunkAnswer(every, tuple(dict.fromkeys([*self.scopes, *scopes])), left)


# --- The report about all chunks --------------------------------------------------------------------------------------


class LongRows(CountedRows):
    """The rows of a long table as a report shows them: counts, and the rows that are not proved.

    Proved rows are counted, but not kept. If one of them is read, the whole table is read into memory and decided by
    the question that `whole` returns.
    """

    def __init__(self, whole: Callable[[], Source]) -> None:
        self._whole = whole
        self._counts = Counts()
        self._scopes: dict[ClaimScope, None] = {}
        #: The rows that are not proved, decided; the rows of the whole table once it was read at once.
        self.left: DecidedRows | None = None
        self.every: Sequence[RowResult] | None = None

    def add(self, answer: ChunkAnswer) -> None:
        """Add the counts of `answer`, the result for a chunk, and the values of eps where its rows are not vacuous."""
        self._counts += answer.counts
        for scope in answer.scopes:
            self._scopes.setdefault(scope)
        if len(self._scopes) > _MOST_SCOPES:
            self._scopes = {join_scopes(self._scopes): None}

    @property
    def counts(self) -> Counts:
        if isinstance(self.every, DecidedRows):
            return self.every.counts
        if self.left is None:
            return self._counts
        left = self.left.counts
        return replace(self._counts + left, rows=self._counts.rows)

    @property
    def scopes(self) -> Iterable[ClaimScope]:
        if isinstance(self.every, DecidedRows):
            return self.every.scopes
        return [*self._scopes, *(() if self.left is None else self.left.scopes)]

    def select(self, verdict: Verdict) -> Iterator[RowResult]:
        if verdict is Verdict.ACCURATE or self.every is not None:
            return (row for row in self._all() if row.verdict is verdict)
        return iter(()) if self.left is None else self.left.select(verdict)

    def _all(self) -> Sequence[RowResult]:
        if self.every is None:
            source = self._whole()
            engine = Engine(source.program.measurer, source.program.limits)
            self.every, steps = source.begin(engine)
            for _ in steps:
                pass
        return self.every

    def __len__(self) -> int:
        return self._counts.rows if self.every is None else len(self.every)

    @overload
    def __getitem__(self, position: int) -> RowResult: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[RowResult]: ...
    def __getitem__(self, position: int | slice) -> RowResult | Sequence[RowResult]:
        return self._all()[position]

    def __iter__(self) -> Iterator[RowResult]:
        return iter(self._all())


class LongTable(Source):
    """The question of whether a claim holds at the rows of a long table in a file, decided chunk by chunk.

    A chunk is a sequence of lines of the file. `sample` is the question about the first row alone; the report shows its
    claim. `whole` returns the question about the table when all of it is read into memory.
    """

    respects_requires = True

    def __init__(
        self, program: Program, path: Path, sample: TableRows, setup: ChunkSetup, whole: Callable[[], Source]
    ) -> None:
        super().__init__(program, sample.intervals, sample.stated, sample.table)
        self._path = path
        self._sample = sample
        self._setup = setup
        self._whole = whole
        self._read: Source | None = None
        self._chunks_effort = Effort()

    @property
    def total(self) -> int | None:
        return None if self._read is None else self._read.total

    @property
    def subject(self) -> str:
        return self._sample.table.name

    @property
    def work(self) -> Effort:
        return (self._sample if self._read is None else self._read).work + self._chunks_effort

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self._sample.warnings

    def cases(self) -> Iterable[Case]:
        return self._whole_source().cases()

    def begin(self, engine: Engine) -> tuple[Sequence[RowResult], Iterator[object]]:
        rows = LongRows(self._whole_source)
        return rows, self._steps(rows, engine)

    def report(self, rows: Sequence[RowResult], engine: Engine, *, interrupted: bool = False) -> Report:
        source = self._sample if self._read is None else self._read
        report = source.report(rows, engine, interrupted=interrupted)
        return replace(report, effort=self.work + engine.spent)

    def _whole_source(self) -> Source:
        if self._read is None:
            self._read = self._whole()
        return self._read

    def _steps(self, rows: LongRows, engine: Engine) -> Iterator[object]:
        """Decide all rows with `engine` and add the results to `rows`, first in chunks.

        The rows that no chunk proves are then decided one by one. If a chunk cannot be decided, or if too many rows are
        not proved, the whole table is read into memory and decided. An item is yielded after each step.
        """
        left: list[tuple[int, tuple[str, ...]]] = []
        try:
            for answer in self._answers(engine):
                left += [(len(rows) + position, cells) for position, cells in answer.left]
                rows.add(answer)
                if len(left) > max(_MOST_LEFT, len(rows) // _ROWS_FOR_ONE):
                    yield from self._all_at_once(rows, engine)
                    return
                yield None
            if left:
                source = self._question_about(left)
                decided, steps = source.begin(engine)
                assert isinstance(decided, DecidedRows)
                for _ in steps:
                    yield None
                rows.left = decided
        except NotApplicable:
            yield from self._all_at_once(rows, engine)

    def _all_at_once(self, rows: LongRows, engine: Engine) -> Iterator[object]:
        rows.every, steps = self._whole_source().begin(engine)
        yield from steps

    def _question_about(self, left: Sequence[tuple[int, tuple[str, ...]]]) -> TableRows:
        core, known = self.program.core, self._sample.table
        header = [slot.name for slot in (*core.input_slots, *core.output_slots)]
        width = len(header)
        if known.columns & _DD:
            header, width = [*header, "dd"], width + 1
        table = read_table((header, [cells[:width] for _, cells in left]), core, known.name)
        rows = [replace(row, number=position + 1) for row, (position, _) in zip(table.rows, left, strict=True)]
        table = replace(table, rows=rows, computed=known.computed)
        return TableRows(self.program, table, resolve_claim(core, table, self._setup.claim))

    # --- chunks -------------------------------------------------------------------------------------

    def _answers(self, engine: Engine) -> Iterator[ChunkAnswer]:
        """Yield the results for the chunks in order, from the cache of `engine` or from its executor.

        Raises NotApplicable if a chunk cannot be decided.
        """
        digest = self._setup.digest
        cache = None if digest is None else engine.chunk_cache
        setup = pickle.dumps(self._setup.performer)
        executor = engine.executor
        known: dict[int, ChunkAnswer] = {}
        sent: dict[int, bytes] = {}
        tickets, due = 0, 0
        chunks = self._chunks()
        ended = False
        while True:
            while not ended and len(sent) < executor.slots and len(known) + len(sent) < _MOST_AHEAD:
                chunk = next(chunks, None)
                if chunk is None:
                    ended = True
                    break
                key = (
                    b""
                    if cache is None or digest is None
                    else cache_file.question_key(digest, hashlib.sha256(chunk).hexdigest())
                )
                cached = None if cache is None else cache.get([key]).get(key)
                if cached is not None:
                    with suppress(shared.Unreadable):
                        known[tickets] = ChunkAnswer.parse(cached)
                if tickets not in known:
                    sent[tickets] = key
                    executor.submit(-1 - tickets, Task(fingerprint(all_rooms=True), setup, chunk))
                tickets += 1
            while due in known:
                yield known.pop(due)
                due += 1
            if due == tickets:
                if ended:
                    return
                continue
            for finished in executor.wait():
                number = -1 - finished.ticket
                key = sent.pop(number)
                done = finished.done
                if done is None or not done.text:
                    raise NotApplicable
                known[number] = answer = ChunkAnswer.parse(done.text)
                self._chunks_effort += done.spent + answer.work
                if cache is not None:
                    cache.put({key: replace(answer, work=Effort()).text()})

    def _chunks(self) -> Iterator[bytes]:
        try:
            with self._path.open("rb") as file:
                if _header(file) != [*self._setup.header]:
                    raise NotApplicable
                while chunk := file.read(CHUNK_BYTES):
                    rest = file.readline(MAX_LINE + 1)
                    if len(rest) > MAX_LINE:
                        raise NotApplicable
                    yield chunk + rest
        except OSError:
            raise NotApplicable from None


def _header(file: IO[bytes]) -> list[str] | None:
    line = file.readline(MAX_LINE + 1).removeprefix(_BYTE_ORDER_MARK)
    try:
        (record,) = csv.reader([line.decode("utf-8")], strict=True, skipinitialspace=True)
    except (ValueError, csv.Error):
        return None
    return record or None


def long_table(program: Program, table: TableGiven, asked: Options, whole: Callable[[], Source]) -> LongTable | None:
    """Return the question about `table` decided chunk by chunk, or None if the table must be read as a whole.

    `asked` are the options of the question about `program`, and `whole` returns the question about the table read as a
    whole. Three conditions must hold: the table is a large file, its rows are not shown (`Options.forms`), and all rows
    have the same claim, which may depend on dd.
    """
    if not isinstance(table, str | os.PathLike) or asked.forms or asked.keep_proofs or asked.digits is not None:
        return None
    core = program.core
    if core.selection is not None or program.expected_quantity is not None or is_free(core, asked.gamma):
        return None
    if not any(slot.is_symbolic for slot in core.input_slots):
        return None
    path = Path(table)
    try:
        with path.open("rb") as file:
            header, first = _header(file), file.readline(MAX_LINE + 1)
    except (OSError, ValueError):
        return None
    if header is None or {"".join(name.split()) for name in header} & {"alpha", "beta", "gamma"}:
        return None
    with suppress(DiagnosticError, Undecided):
        if enclosed_claim(core, asked.claim, _DD) is not None:
            return None
        row = completed(program, read_chunk(os.fspath(table), header, first, core, CellPool()))
        sample = TableRows(program, row, resolve_claim(core, row, asked.claim))
        setup = ChunkSetup(core, program.limits, asked.claim, row.name, tuple(header))
        return LongTable(program, path, sample, setup, whole)
    return None

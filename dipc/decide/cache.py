"""A file that keeps answers for later runs: an SQLite database from the hash of a question to its answer, as text."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from dipc.text.diagnostic import Diagnostic, DiagnosticError

#: Marks the file as a cache of this program ("dipc"), and the version of its tables.
_APPLICATION = 0x64697063
_SCHEMA = 1

#: Seconds to wait while another process writes.
PATIENCE = 30.0

_MOST_PARAMETERS = 500


def question_key(context: str, question: str) -> bytes:
    """Return the key under which the cache keeps the answer to a question: a hash of `context` and `question`.

    `question` is the text of the question, and `context` a text for everything else that the answer depends on, such as
    limits.
    """
    return hashlib.sha256(f"{context}\0{question}".encode()).digest()


class Cache:
    """A file that keeps answers to questions, as an SQLite database; the file is created if it does not exist.

    A key is a hash made by `question_key`, and an answer is a text, such as a decision written by `shared.py`. Raises
    DiagnosticError (E1302-E1306) for a file that cannot be used.
    """

    def __init__(self, path: str | os.PathLike[str], engine: str, patience: float = PATIENCE) -> None:
        self.name = os.fspath(path)
        if not _may_be_file(Path(self.name)):
            raise DiagnosticError(self._no_file())
        self._database: sqlite3.Connection | None = None
        with self._explained():
            # SQLite reads an absolute path as a file, but `:memory:` as no file.
            path = Path(self.name).absolute()
            self._database = sqlite3.connect(path, timeout=patience, isolation_level=None)
            self._prepare(engine)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file for this process; other processes may use it at any time."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def get(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the answers that the file has for `keys`; damaged answers are left out."""
        result: dict[bytes, str] = {}
        database = self._open
        with self._explained():
            for position in range(0, len(keys), _MOST_PARAMETERS):
                some = keys[position : position + _MOST_PARAMETERS]
                marks = ",".join("?" * len(some))
                rows = database.execute(f"SELECT key, answer, checksum FROM answers WHERE key IN ({marks})", some)  # noqa: S608 - question marks only
                for key, answer, checksum in rows:
                    if isinstance(answer, bytes) and checksum == _checksum(key, answer):
                        result[key] = answer.decode("utf-8")
        return result

    def put(self, answers: Mapping[bytes, str]) -> None:
        """Store all of `answers`, a mapping from keys to answers; if storing fails, none is stored."""
        rows = [
            (key, text, _checksum(key, text))
            for key, text in ((key, text.encode("utf-8")) for key, text in answers.items())
        ]
        with self._explained(), _transaction(self._open):
            self._open.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", rows)

    def __len__(self) -> int:
        database = self._open
        with self._explained():
            return int(database.execute("SELECT count(*) FROM answers").fetchone()[0])

    @property
    def _open(self) -> sqlite3.Connection:
        assert self._database is not None, "the cache was closed"
        return self._database

    def _prepare(self, engine: str) -> None:
        database = self._open
        # Both are read in one transaction: another process may be creating the file.
        with _transaction(database, "DEFERRED"):
            application, tables = _pragma(database, "application_id"), _tables(database)
        if application not in (0, _APPLICATION) or (application == 0 and tables):
            raise DiagnosticError(self._foreign("is a database of another program"))
        # With a write-ahead log, readers do not wait for a writer, and a killed writer does no harm.
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        with _transaction(database):
            if not _tables(database):
                database.execute(f"PRAGMA application_id = {_APPLICATION}")
                database.execute(f"PRAGMA user_version = {_SCHEMA}")
                database.execute("CREATE TABLE engine (name TEXT NOT NULL)")
                database.execute(
                    "CREATE TABLE answers (key BLOB PRIMARY KEY, answer BLOB NOT NULL, checksum BLOB NOT NULL)"
                    " WITHOUT ROWID"
                )
                database.execute("INSERT INTO engine VALUES (?)", (engine,))
        schema = _pragma(database, "user_version")
        if schema != _SCHEMA:
            raise DiagnosticError(self._other_version(f"by a version with tables of kind {schema}, not {_SCHEMA}"))
        written = [name for (name,) in database.execute("SELECT name FROM engine")]
        if written != [engine]:
            raise DiagnosticError(
                self._other_version(f"by dipc {', '.join(map(str, written)) or '?'}, and this is {engine}")
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise a diagnostic in place of each error of SQLite in the with block, and close the file first."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # a damaged file may contain invalid text
            diagnostic = self._explain(error)
            self.close()
            raise DiagnosticError(diagnostic) from error
        except DiagnosticError:
            self.close()
            raise

    def _explain(self, error: Exception) -> Diagnostic:
        name = getattr(error, "sqlite_errorname", "").removeprefix("SQLITE_")
        match name.split("_")[0]:
            case "BUSY" | "LOCKED":
                return Diagnostic(
                    "E1305",
                    f"the cache `{self.name}` is locked by another process",
                    notes=("wait for it to end, or give another file to `--cache`",),
                )
            case "READONLY" | "PERM" | "CANTOPEN" | "AUTH":
                return Diagnostic(
                    "E1304",
                    f"the cache `{self.name}` cannot be written",
                    notes=("make the file and its directory writable, or give another file to `--cache`",),
                )
            case "FULL" | "IOERR":
                return Diagnostic(
                    "E1306",
                    f"the cache `{self.name}` cannot grow: {error}",
                    notes=("the answers so far are in it: make room, and run the same command again",),
                )
        return self._foreign(f"is not a cache, or a damaged one: {error}")

    def _foreign(self, what: str) -> Diagnostic:
        return Diagnostic("E1303", f"`{self.name}` {what}", notes=("give another file to `--cache`, or delete it",))

    def _other_version(self, by: str) -> Diagnostic:
        return Diagnostic(
            "E1302",
            f"the cache `{self.name}` was written by another version of dipc",
            notes=(f"it was written {by}", "give another file to `--cache`, or delete it"),
        )

    def _no_file(self) -> Diagnostic:
        path = Path(self.name)
        what = "is not a path"
        with suppress(OSError, ValueError):
            what = "is a directory" if path.is_dir() else "is in a directory that does not exist"
        return Diagnostic("E1304", f"the cache `{self.name}` {what}", notes=("give the path of a file to `--cache`",))


@contextmanager
def _transaction(database: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    database.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _may_be_file(path: Path) -> bool:
    try:
        path.lstat()
    except FileNotFoundError:
        return path.parent.is_dir()
    except (OSError, ValueError):  # too long for a path, or with a NUL character
        return False
    return not path.is_dir()


def _checksum(key: bytes, answer: bytes) -> bytes:
    return hashlib.sha256(key + answer).digest()


def _pragma(database: sqlite3.Connection, name: str) -> int:
    return int(database.execute(f"PRAGMA {name}").fetchone()[0])


def _tables(database: sqlite3.Connection) -> list[str]:
    return [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]

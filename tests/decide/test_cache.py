"""The cache: what is there is not decided again, and nothing that happens to the file can change a verdict."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import dipc
from dipc.cli.main import run
from dipc.decide import cache as cache_module
from dipc.decide import shared
from dipc.decide.cache import Cache, question_key
from dipc.decide.engine import fingerprint
from dipc.text.diagnostic import Diagnostic, DiagnosticError
from tests.decide.workload import ROOT, SPARSE, SPARSE_TABLE, Counting, check_with, heavy_table, texts, write_csv
from tests.patience import SECONDS

ENGINE = "1.2.3-0123456789abcdef"


def refused(path: Path, engine: str = ENGINE, patience: float = 0.05) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        Cache(path, engine, patience).put({b"k": "v"})
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def test_answers_come_back(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    answers = {question_key("c", str(n)): f"answer {n} ∀" for n in range(1200)}
    with Cache(path, ENGINE) as cache:
        assert cache.get([*answers]) == {}
        cache.put(answers)
        assert cache.get([*answers, b"other"]) == answers
    with Cache(path, ENGINE) as cache:
        assert len(cache) == 1200
        assert cache.get([*answers]) == answers


def test_keys_tell_contexts_and_questions_apart() -> None:
    assert (
        len({question_key(*pair) for pair in (("a", "bc"), ("ab", "c"), ("", "abc"), ("a", "b"), ("a\0b", "c"))}) == 5
    )


def damage(path: Path, statement: str) -> None:
    database = sqlite3.connect(path)
    with database:
        database.execute(statement)
    database.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE answers SET answer = CAST(replace(CAST(answer AS TEXT), '1', '2') AS BLOB)",
        "UPDATE answers SET answer = CAST(replace(CAST(answer AS TEXT), 'accurate', 'ACCURATE') AS BLOB)",
        "UPDATE answers SET answer = zeroblob(length(answer))",
        "UPDATE answers SET answer = 'text'",
        "UPDATE answers SET answer = coalesce((SELECT b.answer FROM answers b WHERE b.key > answers.key), '')",
        "DELETE FROM answers WHERE substr(hex(key), 1, 1) < '8'",
    ],
)
def test_damaged_answers_are_decided_anew(statement: str, tmp_path: Path) -> None:
    program, path = dipc.load(SPARSE), tmp_path / "cache"
    options = {"beta": "exp(-alpha*eps/4)"}
    expected = texts(dipc.check(program, SPARSE_TABLE, **options))
    with Cache(path, fingerprint()) as cache:
        check_with(cold := Counting(), program, SPARSE_TABLE, cache=cache, **options)
    damage(path, statement)
    with Cache(path, fingerprint()) as cache:
        check_with(again := Counting(), program, SPARSE_TABLE, cache=cache, **options)
        assert again.asked
        assert len(again.asked) <= len(cold.asked)
    with Cache(path, fingerprint()) as cache:
        check_with(warm := Counting(), program, SPARSE_TABLE, cache=cache, **options)
        assert warm.asked == []
        assert texts(check_with(warm, program, SPARSE_TABLE, cache=cache, **options)) == expected


def test_what_matters_is_in_the_key(tmp_path: Path) -> None:
    """Another claim, interval, limit or constant is another question; another name of the file is not."""
    path = tmp_path / "cache"
    with Cache(path, fingerprint()) as cache:

        def kinds_asked(program: dipc.Program, **options: object) -> set[str]:
            counting = Counting()
            assert texts(check_with(counting, program, SPARSE_TABLE, cache=cache, **options)) == texts(
                dipc.check(program, SPARSE_TABLE, **options)
            )
            return counting.kinds

        program = dipc.load(SPARSE)
        assert kinds_asked(program) == {"both"}
        assert kinds_asked(dipc.load(SPARSE.read_text(encoding="utf-8"))) == set()
        assert kinds_asked(program, beta="exp(-eps)") == {"decide"}
        assert kinds_asked(program, eps="(0, 1]") == {"decide"}
        assert kinds_asked(program, digits=30, beta="exp(-alpha*eps/4)") == {"decide"}
        assert kinds_asked(dipc.load(SPARSE, c=2), beta="1") >= {"both"}
        from dipc.cli.options import parse_limits

        assert kinds_asked(program.with_limits(parse_limits(["intervals=1"]))) == {"both"}
        assert kinds_asked(program.with_limits(parse_limits(["terms=4"]))) == {"both"}
        # What has no bound asks nothing.
        assert kinds_asked(program.with_limits(parse_limits(["states=9"]))) == set()
        assert kinds_asked(program) == set()


MALFORMED = [
    "",
    "[",
    "[]",
    "null",
    "[null, null]",
    '["1 0,0,1", null, 3]',
    '["x", null]',
    '["1 0,0,1|1 0,0,0", null]',
    '["accurate", ["1", "0", "1", "2", "3"], [], null]',
    '["accurate", null, [], "why not"]',
    '["inaccurate", null, [], null]',
    '["inaccurate", ["1", "0", "9", "2", "3"], [], null]',
    '["inaccurate", ["-1", "0", "1", "2", "3"], [], null]',
    '["undecided", null, [], null]',
    '["accurate", null, [[["1", "1", true], ["2", "2", true], null]], null]',
    '["sure", null, [], null]',
    "[" * 100_000,
    '{"verdict": "accurate"}',
    "7",
]


@pytest.mark.parametrize("text", MALFORMED, ids=range(len(MALFORMED)))
def test_what_another_wrote_with_the_right_checksum_is_decided_anew(text: str, tmp_path: Path) -> None:
    program, path = dipc.load(SPARSE), tmp_path / "cache"
    options = {"beta": "exp(-alpha*eps/4)"}
    with Cache(path, fingerprint()) as cache:
        expected = texts(check_with(Counting(), program, SPARSE_TABLE, cache=cache, **options))
    database = sqlite3.connect(path)
    keys = [key for (key,) in database.execute("SELECT key FROM answers")]
    database.close()
    with Cache(path, fingerprint()) as cache:
        cache.put(dict.fromkeys(keys, text))
        assert texts(check_with(again := Counting(), program, SPARSE_TABLE, cache=cache, **options)) == expected
        assert again.asked


def test_any_name_is_that_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Cache(":memory:", ENGINE) as cache:
        cache.put({b"k": "v"})
    with Cache(":memory:", ENGINE) as cache:
        assert cache.get([b"k"]) == {b"k": "v"}
    assert (tmp_path / ":memory:").is_file()


def test_two_processes_that_make_the_file_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process does not take a file that another process is creating for a foreign database."""
    path = tmp_path / "cache"
    here = threading.get_ident()
    others: list[threading.Thread] = []
    real = cache_module._pragma

    def pragma(database: sqlite3.Connection, name: str) -> int:
        value = real(database, name)
        if not others and threading.get_ident() == here:
            others.append(threading.Thread(target=lambda: Cache(path, ENGINE).close()))
            others[0].start()
            others[0].join(0.5)
        return value

    monkeypatch.setattr(cache_module, "_pragma", pragma)
    with Cache(path, ENGINE) as cache:
        cache.put({b"k": "v"})
        others[0].join()
        assert cache.get([b"k"]) == {b"k": "v"}


# --- files that cannot be used ---------------------------------------------------------------------


def test_a_cache_of_another_version(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    Cache(path, "0.0.9-feedfeedfeedfeed").close()
    before = path.read_bytes()
    diagnostic = refused(path)
    assert diagnostic.code == "E1302"
    assert diagnostic.message == f"the cache `{path}` was written by another version of dipc"
    assert diagnostic.notes == (
        f"it was written by dipc 0.0.9-feedfeedfeedfeed, and this is {ENGINE}",
        "give another file to `--cache`, or delete it",
    )
    assert path.read_bytes() == before
    damage(path, "PRAGMA user_version = 7")
    assert (
        refused(path, "0.0.9-feedfeedfeedfeed").notes[0] == "it was written by a version with tables of kind 7, not 1"
    )


def test_other_files_are_not_touched(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("q,out\n" * 1000, encoding="utf-8")
    other = tmp_path / "other.db"
    damage(other, "CREATE TABLE precious (thing TEXT)")
    for path, words in ((table, "is not a cache, or a damaged one"), (other, "is a database of another program")):
        before = path.read_bytes()
        diagnostic = refused(path)
        assert diagnostic.code == "E1303"
        assert words in diagnostic.message
        assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000], ids=["nul", "long"])
def test_names_that_are_no_paths(name: str, tmp_path: Path) -> None:
    assert refused(tmp_path / name).code == "E1304"


def test_places_where_no_file_can_be(tmp_path: Path) -> None:
    assert refused(tmp_path).message == f"the cache `{tmp_path}` is a directory"
    assert refused(tmp_path / "no" / "cache").message.endswith("is in a directory that does not exist")
    assert refused(tmp_path / "no" / "cache").code == "E1304"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everything")
def test_a_cache_that_may_only_be_read(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    Cache(path, ENGINE).close()
    path.chmod(0o444)
    assert refused(path).code == "E1304"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("SQLITE_READONLY_DBMOVED", "E1304"),
        ("SQLITE_CANTOPEN", "E1304"),
        ("SQLITE_FULL", "E1306"),
        ("SQLITE_IOERR_WRITE", "E1306"),
        ("SQLITE_CORRUPT", "E1303"),
        ("SQLITE_BUSY_SNAPSHOT", "E1305"),
    ],
)
def test_what_sqlite_says_in_our_words(name: str, code: str, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", ENGINE)
    error = sqlite3.OperationalError("so it is")
    error.sqlite_errorname = name
    assert cache._explain(error).code == code
    cache.close()


def test_a_full_disk_keeps_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    with Cache(path, ENGINE) as cache:
        cache.put({b"first": "kept"})
        assert cache._database is not None
        pages = cache._database.execute("PRAGMA page_count").fetchone()[0]
        cache._database.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(DiagnosticError) as caught:
            cache.put({question_key("", str(n)): "x" * 1000 for n in range(100)})
        assert caught.value.diagnostics[0].code == "E1306"
    with Cache(path, ENGINE) as cache:
        assert cache.get([b"first"]) == {b"first": "kept"}
        assert len(cache) == 1


def test_a_locked_cache(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    Cache(path, ENGINE).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert refused(path).code == "E1305"
    other.execute("ROLLBACK")
    other.close()
    with Cache(path, ENGINE) as cache:
        cache.put({b"k": "v"})


def test_random_damage_to_the_file_never_changes_a_report(tmp_path: Path) -> None:
    program, path = dipc.load(SPARSE), tmp_path / "cache"
    expected = texts(dipc.check(program, SPARSE_TABLE, beta="exp(-alpha*eps/4)"))
    with Cache(path, fingerprint()) as cache:
        check_with(Counting(), program, SPARSE_TABLE, cache=cache, beta="exp(-alpha*eps/4)")
    whole = path.read_bytes()
    generator = random.Random(5)
    refusals = []
    for _ in range(40):
        damaged = bytearray(whole)
        for _ in range(generator.choice((1, 1, 30))):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        path.write_bytes(damaged)
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        try:
            with Cache(path, fingerprint()) as cache:
                report = check_with(Counting(), program, SPARSE_TABLE, cache=cache, beta="exp(-alpha*eps/4)")
            assert texts(report) == expected
        except DiagnosticError as error:
            refusals.append(error.diagnostics[0].code)
    assert len(refusals) < 40, "small damage does no harm"
    assert {*refusals} <= {"E1302", "E1303", "E1306"}


# --- several processes, and killed ones ------------------------------------------------------------


#: Dies as if it were killed, some CPU seconds after it has kept answers so many times: no other process need be quick.
DOOMED = """
import os, signal, sys
from dipc.decide.cache import Cache
put, left = Cache.put, {times}
def counting(self, answers):
    global left
    put(self, answers)
    left -= 1
    if not left and {seconds}:
        signal.setitimer(signal.ITIMER_VIRTUAL, {seconds})
    elif not left:
        os.kill(os.getpid(), signal.SIGKILL)
Cache.put = counting
from dipc.cli.main import main
main()
"""


def start(
    csv: Path, cache: Path, target: Path, m: int, *more: str, run: tuple[str, str] = ("-m", "dipc")
) -> subprocess.Popen[str]:
    command = [sys.executable, *run, "check", str(SPARSE), str(csv), "-D", f"m={m}"]
    command += ["--cache", str(cache), "--format", "json", "-o", str(target), "--quiet", *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def ended(process: subprocess.Popen[str]) -> int:
    _, err = process.communicate(timeout=SECONDS)
    assert err == ""
    return process.returncode


@pytest.mark.slow
def test_two_processes_with_one_cache(tmp_path: Path) -> None:
    program, table = heavy_table(60, m=3)
    csv, cache = write_csv(tmp_path / "t.csv", table), tmp_path / "cache"
    both = [start(csv, cache, tmp_path / f"report{n}", 3) for n in (1, 2)]
    codes = [ended(process) for process in both]
    assert codes[0] == codes[1]
    expected = texts(dipc.check(program, csv, digits=15))[0]
    assert (tmp_path / "report1").read_text() == (tmp_path / "report2").read_text() == expected
    assert json.loads(expected)["rows"][-1]["row"] == 60


def killed_and_resumed(tmp_path: Path, rows: int, m: int, moments: list[tuple[int, float]], *more: str) -> None:
    """Kill runs some CPU seconds after they kept answers, several times; the last run must finish the work."""
    program, table = heavy_table(rows, m=m)
    csv, path, target = write_csv(tmp_path / "t.csv", table), tmp_path / "cache", tmp_path / "report"
    expected = texts(dipc.check(program, csv, digits=15))[0]
    kept = 0
    for times, seconds in moments:
        process = start(csv, path, target, m, *more, run=("-c", DOOMED.format(times=times, seconds=seconds)))
        _, err = process.communicate(timeout=SECONDS)
        assert process.returncode in (-signal.SIGKILL, -signal.SIGVTALRM), err
        assert not target.exists(), "the run was over before it was killed"
        assert count(path) > kept, "nothing that was kept is lost"
        kept = count(path)
    with Cache(path, fingerprint()) as cache:
        check_with(counting := Counting(), program, csv, digits=15, cache=cache)
    assert counting.asked
    assert ended(start(csv, path, target, m)) in (0, 1)
    assert target.read_text() == expected
    # The answers of a row, such as its bound and the decision on it, are kept together.
    answers_of_a_row, rest = divmod(count(path), rows)
    assert not rest
    assert kept + answers_of_a_row * len(counting.asked) == count(path), "only what was missing is decided"


def count(path: Path) -> int:
    """The answers in a cache that another process may be writing."""
    if not path.exists():
        return 0
    try:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=1)
        try:
            return int(database.execute("SELECT count(*) FROM answers").fetchone()[0])
        finally:
            database.close()
    except sqlite3.Error:
        return 0


@pytest.mark.slow
def test_killed_and_resumed(tmp_path: Path) -> None:
    killed_and_resumed(tmp_path, 100, 4, [(1, 0), (2, 0)])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_killed_again_and_again(seed: int, tmp_path: Path) -> None:
    generator = random.Random(seed)
    jobs = generator.choice(["1", "2"])
    killed_and_resumed(
        tmp_path, 400, 4, [(generator.randint(1, 2), generator.uniform(0.001, 0.05)) for _ in range(3)], "-j", jobs
    )


@pytest.mark.parametrize("answer", ['["accurate",null,[],5]', "{}", "", "[null,null]", '["accurate"]', "\\ud800"])
def test_a_malformed_answer_is_decided_anew_with_a_warning(tmp_path: Path, answer: str) -> None:
    path = tmp_path / "cache"
    arguments = ["check", str(SPARSE), "--inputs", "q=0", "--beta", "9/10", "--eps", "1", "-q", "--cache", str(path)]

    def check() -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(arguments)
        return code, out.getvalue(), err.getvalue()

    first = check()
    assert first[0] == 0
    with Cache(path, fingerprint()) as cache:
        keys = [key for (key,) in cache._open.execute("SELECT key FROM answers")]
        cache.put(dict.fromkeys(keys, answer))
    code, out, err = check()
    assert (code, out) == first[:2]
    assert err.startswith("warning: ")
    assert "could not be read; its questions were decided again" in err
    assert check() == first


def test_what_holds_is_known_without_its_closed_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim that holds needs no closed form with `-q`; a refutation needs its numbers."""
    arguments = ["check", str(SPARSE), "--inputs", "q = -1..1", "--no-classes", "--cache", str(tmp_path / "cache")]

    def check(*more: str) -> tuple[int, str]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = run([*arguments, *more])
        return code, out.getvalue()

    first, failing, whole = check("-q"), check("-q", "--beta", "exp(-alpha*eps/4)"), check()
    assert (first[0], failing[0]) == (0, 1)
    monkeypatch.setattr(shared, "read_form", pytest.fail)
    assert check("-q") == first
    monkeypatch.undo()
    monkeypatch.setattr("dipc.decide.engine.Engine._decision", lambda _, question: pytest.fail(str(question)))
    assert check("-q", "--beta", "exp(-alpha*eps/4)") == failing
    assert check() == whole


def test_what_was_decided_before_ctrl_c_is_not_decided_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dipc.questions.question._PROGRESS_ROWS", 1)
    program, table = heavy_table(8, m=3)

    def interrupted(done: int, _total: int | None) -> None:
        if done >= 5:
            raise KeyboardInterrupt

    with pytest.raises(dipc.Interrupted) as caught:
        dipc.check(program, table, cache=tmp_path / "cache", progress=interrupted)
    kept = len(caught.value.report.rows)
    assert kept >= 5
    resumed = dipc.check(program, table, cache=tmp_path / "cache")
    assert resumed.effort.obligations <= len(table) - kept
    assert texts(resumed) == texts(dipc.check(program, table))

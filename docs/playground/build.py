"""Build the playground: `make playground`. What is made stands in dipc_playground/site, and as a wheel in dist/.

The packages are those of this checkout and of wheels.txt, from the package index; the rest is from npm.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = HERE / "build"
WHEELS = BUILD / "wheels"
SITE = HERE / "dipc_playground" / "site"
sys.path.insert(0, str(ROOT))

from benchmarks.literature.entries import ENTRIES  # noqa: E402 - of this checkout
from benchmarks.privacy.atlas import ATLAS  # noqa: E402
from dipc.text.words import words  # noqa: E402

#: The Python of the npm package `pyodide`, and the platform of the wheels that are made for it.
PYTHON = "3.14"
PLATFORM = "pyemscripten_2026_0_wasm32"

#: What Pyodide needs to run.
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")


def main() -> None:
    """Build it all anew, but for what is downloaded; with the argument `download` that is all."""
    _download()
    if sys.argv[1:] == ["download"]:
        return
    shutil.rmtree(SITE, ignore_errors=True)
    SITE.mkdir(parents=True)
    (BUILD / "words.json").write_text(json.dumps(_words(), ensure_ascii=False), encoding="utf-8")
    (BUILD / "gallery.json").write_text(json.dumps(_gallery(), ensure_ascii=False), encoding="utf-8")
    _archive()
    (SITE / "pyodide").mkdir()
    for name in RUNTIME:
        shutil.copy(HERE / "node_modules" / "pyodide" / name, SITE / "pyodide")
    shutil.copy(BUILD / "packages.gz", SITE)
    _run("node", "bundle.mjs", str(SITE))
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(ROOT / "dist"))
    size = sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file())
    sys.stdout.write(f"{SITE.relative_to(ROOT)}: {size / 1e6:.1f} MB; the wheel is in dist/\n")


def _run(*command: str, where: Path = HERE) -> None:
    subprocess.run(command, cwd=where, check=True)


def _is_newer(made: Path, source: Path) -> bool:
    return made.exists() and made.stat().st_mtime >= source.stat().st_mtime


# --- packages --------------------------------------------------------------------------------------


def _download() -> None:
    """What is not of this checkout, as the lock files name it."""
    if not _is_newer(HERE / "node_modules" / ".package-lock.json", HERE / "package-lock.json"):
        _run("npm", "ci", "--no-audit", "--no-fund", "--loglevel", "error")
    if not _is_newer(WHEELS / "wheels.txt", HERE / "wheels.txt"):
        shutil.rmtree(WHEELS, ignore_errors=True)
        WHEELS.mkdir(parents=True)
        given = f"--quiet --no-deps --require-hashes --only-binary :all: --python-version {PYTHON} --implementation cp"
        abis = f"--abi cp{PYTHON.replace('.', '')} --abi none --platform {PLATFORM} --platform any"
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
        _run(*pip, *given.split(), *abis.split(), "-r", "wheels.txt", "-d", str(WHEELS))
        shutil.copy(HERE / "wheels.txt", WHEELS)


def _archive() -> None:
    """All packages in one file of compiled modules."""
    own = BUILD / "own"
    shutil.rmtree(own, ignore_errors=True)
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(own), where=ROOT)
    packages = [str(path) for place in (WHEELS, own) for path in sorted(place.glob("*.whl"))]
    _run("node", "archive.mjs", str(BUILD), *packages)


# --- what the page shows ---------------------------------------------------------------------------


def _words() -> dict[str, object]:
    """The words and signs of the language, from the terminals of the grammar."""
    known = words()
    return {name: getattr(known, name) for name in known.__slots__}


def _gallery() -> dict[str, object]:
    """The texts of all programs and tables of the menu, and its entries: a command with its options."""
    entries = [*_claims(), *_others(), *_privacy()]
    programs = {str(entry["program"]) for entry in entries}
    tables = {str(entry["table"]) for entry in entries if entry["table"] is not None}
    made = dict(_tables())
    return {
        "programs": {name: (ROOT / name).read_text(encoding="utf-8") for name in sorted(programs)},
        "tables": {
            name: made[name] if name in made else (ROOT / name).read_text(encoding="utf-8") for name in sorted(tables)
        },
        "entries": entries,
    }


def _tables() -> Iterator[tuple[str, str]]:
    """The tables of mechanisms that come without the right answer."""
    for entry in ENTRIES:
        yield f"{entry.name}.csv", entry.csv()
        for number, claim in enumerate(entry.claims[1:], 2):
            yield f"{entry.name}_{number}.csv", entry.csv(claim)


def _claims() -> Iterator[dict[str, object]]:
    """What docs/gallery.toml asks."""
    for name, mechanism in tomllib.loads((HERE.parent / "gallery.toml").read_text(encoding="utf-8")).items():
        for kind, group in (("holds", "Claims that hold"), ("fails", "Claims that fail")):
            command, _, *options = shlex.split(mechanism[kind])
            tables = {"TABLE": f"{name}.csv", "TABLE_2": f"{name}_2.csv"}
            table = None
            if options and (options[0] in tables or options[0].endswith(".csv")):
                table = tables.get(options[0], options[0])
                del options[0]
            yield _entry(group, f"{mechanism['title']}: {kind}", command, mechanism["program"], table, options)


#: Questions of other commands: a title, the program, and the command with its options.
OTHERS = (
    ("Sparse vector technique: tighten", "benchmarks/sparse.dip", "tighten --inputs all"),
    ("Noisy threshold: solve", "docs/programs/busy.dip", "solve --inputs 'count = 103' --beta 1/20 --for eps"),
    (
        "Sparse vector, privacy: constant",
        "benchmarks/sparse.dip",
        "privacy --adjacent linf:1 --inputs all --constant",
    ),
    ("Majority of responses: prob", "docs/programs/majority.dip", "prob --input x=yes --eps 1"),
)


def _others() -> Iterator[dict[str, object]]:
    for title, program, asked in OTHERS:
        command, *options = shlex.split(asked)
        yield _entry("Other questions", title, command, program, None, options)


def _privacy() -> Iterator[dict[str, object]]:
    """What is claimed of the mechanisms of benchmarks/privacy, each once."""
    seen: set[str] = set()
    for mechanism in ATLAS:
        program = f"benchmarks/{mechanism.path}.dip"
        if mechanism.patterns or program in seen or not program.startswith("benchmarks/privacy/"):
            continue
        seen.add(program)
        options = ["--adjacent", mechanism.adjacent]
        if mechanism.inputs is not None:
            options += ["--inputs", mechanism.inputs]
        options += [word for name, value in mechanism.constants.items() for word in ("-D", f"{name}={value}")]
        if mechanism.claimed is not None:
            options += ["--budget", f"{mechanism.claimed}*eps"]
        yield _entry("Privacy in print", mechanism.title, "privacy", program, None, options)


def _entry(
    group: str, title: str, command: str, program: str, table: str | None, options: list[str]
) -> dict[str, object]:
    return {
        "group": group,
        "title": title,
        "command": command,
        "program": program,
        "table": table,
        "options": options,
    }


if __name__ == "__main__":
    main()

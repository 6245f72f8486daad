"""The shape of the code: which room may know which, and what the command line may load before it is asked to work."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import pytest

from tests.patience import SECONDS

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("dipc", "benchmarks")

_MATHEMATICS = ("dipc.algebra", "dipc.linear", "dipc.sign", "dipc.measure")
_PROGRAMS = ("dipc.text", "dipc.noise", *_MATHEMATICS, "dipc.chain", "dipc.claims", "dipc.mechanisms", "dipc.program")
_QUESTIONS = (*_PROGRAMS, "dipc.decide", "dipc.options", "dipc.rules", "dipc.questions")

#: What each room may import, besides itself. Data flows one way: text, chain, exits, obligations, decisions, report.
ALLOWED: dict[str, tuple[str, ...]] = {
    "dipc.above": (),
    "dipc.deprecated": (),
    "dipc.frozen": (),
    "dipc.text": ("dipc.noise", "dipc.algebra.reals", "dipc.sign.interval"),
    "dipc.algebra": (),
    "dipc.linear": ("dipc.algebra",),
    "dipc.sign": ("dipc.algebra",),
    "dipc.noise": ("dipc.algebra",),
    "dipc.measure": ("dipc.algebra", "dipc.linear", "dipc.noise", "dipc.sign.normal"),
    "dipc.chain": (
        "dipc.text",
        "dipc.noise",
        "dipc.linear",
        "dipc.measure.event",
        "dipc.algebra.limits",
        "dipc.algebra.graph",
    ),
    "dipc.claims": ("dipc.text", "dipc.noise", *_MATHEMATICS),
    "dipc.mechanisms": ("dipc.text", "dipc.noise", "dipc.algebra", "dipc.sign", "dipc.claims"),
    "dipc.program": ("dipc.text", "dipc.noise", *_MATHEMATICS, "dipc.chain", "dipc.claims"),
    "dipc.decide": ("dipc", "dipc.text", "dipc.noise", *_MATHEMATICS),  # inequalities, whatever question they come from
    "dipc.options": (*_PROGRAMS, "dipc.decide"),
    "dipc.rules": (*_PROGRAMS, "dipc.decide"),
    "dipc.questions": ("dipc", *_PROGRAMS, "dipc.decide", "dipc.options", "dipc.rules"),
    "dipc.inverse": _QUESTIONS,
    "dipc.examples": (),
    "dipc.library": (*_QUESTIONS, "dipc.outcome"),
    "dipc.verifier": (),  # the standard library only, see tests/verifier/test_standalone.py
    "dipc.coq": ("dipc.verifier",),  # what the checker has accepted, written for another one
    "dipc.certificate": (*_QUESTIONS, "dipc.inverse", "dipc.verifier"),
    "dipc.simulation": (
        "dipc.text",
        "dipc.algebra",
        "dipc.measure.measure",
        "dipc.claims",
        "dipc.program",
        "dipc.options",
        "dipc.verifier",  # whose machine it runs, see tests/simulation/test_independence.py
    ),
    "dipc.execution": _PROGRAMS,
    "dipc.estimate": (*_PROGRAMS, "dipc.options", "dipc.simulation"),
    "dipc.auditing": (*_QUESTIONS, "dipc.simulation"),
    "dipc.outcome": (
        *_QUESTIONS,
        "dipc.inverse",
        "dipc.certificate",
        "dipc.simulation",
        "dipc.execution",
        "dipc.estimate",
        "dipc.auditing",
    ),
    "dipc.suite": (*_QUESTIONS, "dipc.outcome"),
    "dipc.editors": ("dipc", *_PROGRAMS),
    "dipc.explain": ("dipc.text",),
    "dipc.cli": (
        "dipc",
        "dipc.explain",
        *_QUESTIONS,
        "dipc.inverse",
        "dipc.estimate",
        "dipc.auditing",
        "dipc.examples",
        "dipc.verifier",
        "dipc.coq",
        "dipc.certificate",
        "dipc.simulation",
        "dipc.execution",
        "dipc.suite",
        "dipc.outcome",
        "dipc.library",
        "dipc.editors",
    ),
    "dipc.mypy": (),
    "dipc.playground": ("dipc", "dipc.cli", *_QUESTIONS, "dipc.outcome"),  # commands, asked by a page
}

#: Rooms below all others but the checker's.
_BELOW_ALL = ("dipc.above", "dipc.deprecated", "dipc.frozen")

SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in SOURCES}


@dataclass(frozen=True)
class Import:
    """A name that a statement of a module imports: `from a import b` is a.b if a.b is a module of the project."""

    module: str
    line: int
    outside: bool  # of functions; what is for the type checker only is


@functools.cache
def imports(module: str) -> tuple[Import, ...]:
    """All imports of `module`, at any depth."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    return tuple(
        Import(target, statement.lineno, outside)
        for statement, outside in _statements(tree, True)
        for target in _targets(statement, module)
    )


def _statements(inside: ast.AST, outside: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """The imports below a node, with whether no function is around them."""
    for child in ast.iter_child_nodes(inside):
        match child:
            case ast.Import() | ast.ImportFrom():
                yield child, outside
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _statements(child, False)
            case ast.stmt() | ast.ExceptHandler() | ast.match_case():
                yield from _statements(child, outside)


def _targets(statement: ast.Import | ast.ImportFrom, module: str) -> Iterator[str]:
    match statement:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=source, names=names, level=level):
            base = source or ""
            if level:
                here = module.split(".") if MODULES[module].name == "__init__.py" else module.split(".")[:-1]
                base = ".".join([*here[: len(here) - level + 1], *([base] if base else [])])
            for alias in names:
                inner = f"{base}.{alias.name}"
                yield inner if inner in MODULES else base


def top_level_imports(module: str) -> Iterator[str]:
    """The imports of `module` outside of functions, including those for the type checker."""
    return (each.module for each in imports(module) if each.outside)


def roots_of(module: str) -> set[str]:
    """The packages that the module imports something of."""
    return {each.module.split(".")[0] for each in imports(module)}


def inside(module: str, room: str) -> bool:
    return module == room or module.startswith(room + ".")


def room_of(module: str) -> str | None:
    return next((room for room in ALLOWED if inside(module, room)), None)


def test_every_module_belongs_to_a_room() -> None:
    ours = (name for name in MODULES if inside(name, "dipc"))
    homeless = [name for name in ours if room_of(name) is None and name not in ("dipc", "dipc.__main__")]
    assert homeless == []


@pytest.mark.parametrize("room", ALLOWED)
def test_rooms_import_only_what_lies_below_them(room: str) -> None:
    checked = 0
    wrong = []
    for name, path in MODULES.items():
        if not inside(name, room):
            continue
        checked += 1
        for each in imports(name):
            target = each.module
            if not inside(target, "dipc") or inside(target, room):
                continue
            if target in _BELOW_ALL and room != "dipc.verifier":
                continue
            allowed = any(target == other if other == "dipc" else inside(target, other) for other in ALLOWED[room])
            if not allowed:
                wrong.append(f"{path.relative_to(ROOT)}:{each.line} imports {target}")
    assert checked, f"no module of {room} was found"
    assert wrong == []


#: Imports of our own inside functions that are left, each with why; this may only shrink. The command line's start and
#: the package's own import modules by their names, from one table each.
INSIDE_FUNCTIONS = {
    "dipc.options": "processes, clusters and caches are loaded where they are asked for",
    "dipc.questions.question": "a check of rows starts sooner without what only other questions need",
}


def test_imports_inside_functions_only_shrink() -> None:
    found = {
        name
        for name in MODULES
        for each in imports(name)
        if inside(name, "dipc") and not each.outside and inside(each.module, "dipc")
    }
    assert found == INSIDE_FUNCTIONS.keys(), "a list of what is left: take away what is gone, and add nothing"


def _loaded_later(module: str) -> Iterator[str]:
    """The modules that this one loads when they are first used."""
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id="LazyModule"), args=[ast.Constant(value=str(name))]):
                yield name


def test_what_is_loaded_later_is_imported_for_the_type_checker() -> None:
    """The tests of rooms and of cycles see late imports only if the type checker does."""
    later = {(name, target) for name in MODULES if inside(name, "dipc") for target in _loaded_later(name)}
    assert later
    assert [pair for pair in sorted(later) if pair[1] not in {each.module for each in imports(pair[0])}] == []


@pytest.mark.parametrize("package", ["dipc", "benchmarks"])
def test_no_import_cycles(package: str) -> None:
    """No imports form a cycle, even inside functions or for the type checker only."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for name in MODULES:
        if inside(name, package):
            graph.add_edges_from(
                (name, each.module) for each in imports(name) if each.module in MODULES and each.module != name
            )
    assert graph.number_of_edges() > 10
    circles = [sorted(circle) for circle in nx.strongly_connected_components(graph) if len(circle) > 1]
    assert circles == []


#: No function has more parameters than these.
MOST_PARAMETERS = 8


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The number of parameters of `function`, where a mapping of keyword arguments and the like counts as one."""
    given = function.args
    several = bool(given.vararg) + bool(given.kwarg)
    return len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs) + several


def test_no_function_has_many_parameters() -> None:
    long = [
        (name, node.name)
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and parameters(node) > MOST_PARAMETERS
    ]
    assert long == []


def test_each_class_has_a_name_of_its_own() -> None:
    """The checker is apart: it has kinds of its own, some of which are those of dipc."""
    places: dict[str, list[str]] = {}
    for name, path in MODULES.items():
        if inside(name, "dipc") and not inside(name, "dipc.verifier"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(name)
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def test_circles_of_annotations_and_functions_are_seen() -> None:
    """The test above looks at imports that only the type checker makes, and at those inside functions."""
    assert [each.module for each in imports("dipc.options") if not each.outside] != []
    assert "dipc.program.program" in set(top_level_imports("dipc"))
    assert "benchmarks.goal" in set(top_level_imports("benchmarks.certificates"))
    assert "benchmarks.targets" not in set(top_level_imports("benchmarks.__main__"))


def test_the_package_does_not_know_its_benchmarks() -> None:
    wrong = [
        name
        for name in MODULES
        if inside(name, "dipc") and any(inside(each.module, "benchmarks") for each in imports(name))
    ]
    assert wrong == []


#: What may show a closed form as an expression of SymPy.
_SHOWING = {"dipc.algebra.exppoly", "dipc.algebra.numbers", "dipc.sign.piecewise", "dipc.sign.normal"}


def test_mathematics_knows_no_language() -> None:
    """The mathematics imports neither a parser, nor a terminal library; computer algebra only shows closed forms."""
    for name in MODULES:
        if any(inside(name, room) for room in _MATHEMATICS):
            roots = roots_of(name)
            assert not roots & {"lark", "click", "rich", "numpy", "scipy"}, name
            assert "sympy" not in roots or name in _SHOWING, name


def test_one_engine_goes_through_loops_over_queries() -> None:
    """Accuracy and privacy for every number of queries go through the runs of a loop with it, and so would others."""
    engine = "dipc.questions.every_number.loop_runs"
    stepping = {
        module
        for module in MODULES
        if inside(module, "dipc.questions") and any(each.module == "dipc.chain.step" for each in imports(module))
    }
    assert stepping == {engine}
    users = {module for module in MODULES if any(each.module == engine for each in imports(module))}
    assert {"dipc.questions.every_number.union_bound", "dipc.questions.privacy.loops"} <= users


def test_floating_point_and_randomness_stay_in_the_simulation() -> None:
    """No room that takes part in a verdict may import floating-point or random modules.

    Only the report may import the simulation and estimates, to show them (see ALLOWED).
    """
    for name in MODULES:
        if any(inside(name, room) for room in ("dipc.simulation", "dipc.estimate", "benchmarks")):
            continue
        roots = roots_of(name)
        assert not roots & {"numpy", "scipy", "random"}, name


def _asks_which_law(node: ast.AST) -> bool:
    """Whether it compares a law with something, or its keyword, or matches on it; other laws are no such thing."""

    def is_law(part: ast.expr) -> bool:
        return isinstance(part, ast.Attribute) and part.attr in ("law", "keyword", "checker_name")

    match node:
        case ast.Match(subject=subject):
            return is_law(subject)
        case ast.Compare(left=left, comparators=others):
            sides = [is_law(part) for part in (left, *others)]
            return any(sides) and not all(sides)
    return False


def test_nothing_outside_asks_which_law_a_noise_has() -> None:
    """Code asks for properties of a law, or refuses, so that a new law is never taken for another."""
    wrong = []
    for name, path in MODULES.items():
        if not inside(name, "dipc") or inside(name, "dipc.noise") or inside(name, "dipc.verifier"):
            continue
        wrong += [
            f"{name}:{each.line} imports {each.module}"
            for each in imports(name)
            if inside(each.module, "dipc.noise")
            and each.module not in ("dipc.noise.law", "dipc.noise.laws", "dipc.noise.lazy")
        ]
        tree = ast.parse(path.read_text(encoding="utf-8"))
        wrong += [f"{name}: {ast.unparse(node)}" for node in ast.walk(tree) if _asks_which_law(node)]
    assert wrong == []


@pytest.mark.parametrize(
    ("code", "asks"),
    [
        ("noise.law is LAPLACE", True),
        ("draw.law.keyword == 'Lap'", True),
        ("first.law == second.law", False),
        ("noise.law.whole", False),
        ("match noise.law:\n    case Laplace(): pass", True),
    ],
)
def test_questions_which_law_are_seen(code: str, asks: bool) -> None:
    assert any(map(_asks_which_law, ast.walk(ast.parse(code)))) is asks


# --- what is loaded when ---------------------------------------------------------------------------

HEAVY = ("sympy", "mpmath", "networkx", "z3", "rich", "numpy", "scipy", "matplotlib", "sqlite3", "multiprocessing")
HEAVY += ("distributed", "hypothesis", "pytest")


def loaded_after(code: str) -> set[str]:
    """The modules that are loaded after `code` ran in a fresh interpreter."""
    script = (
        "import contextlib, io, sys\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    try:\n"
        f"        {code}\n"
        "    except SystemExit as stop:\n"
        "        assert not stop.code, stop.code\n"
        "print(*sys.modules)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, timeout=SECONDS, check=False
    )
    assert result.returncode == 0, result.stderr
    return set(result.stdout.split())


def test_importing_dipc_loads_nothing_heavy() -> None:
    loaded = loaded_after("import dipc")
    assert "dipc" in loaded
    assert loaded & {*HEAVY, "lark", "flint", "click"} == set()


def test_help_loads_nothing_heavy() -> None:
    loaded = loaded_after("from dipc.cli.main import main; main(['--help'])")
    assert "click" in loaded
    assert loaded & {*HEAVY, "lark", "flint"} == set()


def test_a_check_of_rows_loads_what_rows_need() -> None:
    words = ["check", "benchmarks/sparse.dip", "benchmarks/sparse.csv", "--quiet"]
    loaded = loaded_after(f"from dipc.cli.main import main; main({words})")
    assert "dipc.questions.rows" in loaded
    assert loaded & set(HEAVY) == set()
    others = (
        "dipc.questions.every_input",
        "dipc.rules.facets",
        "dipc.questions.every_number",
        "dipc.inverse",
        "dipc.certificate",
        "dipc.questions.privacy",
        "dipc.measure.normal",
        "dipc.measure.polyhedral",
        "dipc.decide.series",
        "dipc.program.ideal",
        "dipc.questions.symmetry",
    )
    assert not [name for name in loaded if name.startswith(others)]


def test_the_loading_probe_sees_what_is_loaded() -> None:
    assert "networkx" in loaded_after("import networkx")


# --- the built wheel -------------------------------------------------------------------------------


def test_the_wheel_carries_the_grammar_and_works_without_the_checkout(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(wheel), str(installed)], check=True)
    names = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    assert {f"dipc/grammars/{path.name}" for path in (ROOT / "grammars").glob("*.lark")} <= names
    assert {"dipc/coq/Prelude.v", "dipc/coq/Programs.v"} <= names
    assert not [name for name in names if name.startswith(("benchmarks", "tests"))]
    libraries = ROOT / "benchmarks" / "libraries"
    programs = {path.stem for path in (ROOT / "benchmarks").rglob("*.dip") if path.parent != libraries}
    assert {Path(name).stem for name in names if name.startswith("dipc/examples/")} == {"__init__", *programs}
    (information,) = installed.glob("dipc_verifier-*.dist-info")
    assert (information / "METADATA").is_file()
    program = (
        "import dipc, pathlib\n"
        f"assert pathlib.Path(dipc.__file__).is_relative_to({str(installed)!r}), dipc.__file__\n"
        "program = dipc.load('program p; input x : real; output y : real; y <- Lap(eps, x);')\n"
        "print(program.probability({'x': 0}, {'y': 0}, gamma=1).expr)\n"
        "print(dipc.load(dipc.examples.text('sparse')).name)\n"
    )
    run = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(installed)!r})\n{program}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "exp(-eps)" in run.stdout
    assert run.stdout.endswith("sparse\n")

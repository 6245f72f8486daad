"""Files of claims: TOML with a table `[[claim]]` for each, which says what is claimed and what should come out."""

from __future__ import annotations

import re
import tomllib
from ast import Call
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from fractions import Fraction
from pathlib import Path

from dipc.algebra.limits import LIMIT_NAMES, Limits
from dipc.algebra.numbers import NotExact, parse_rational
from dipc.decide.obligation import Verdict
from dipc.frozen import frozen
from dipc.mechanisms.module import decorator_name, parsed
from dipc.options import Options
from dipc.outcome.words import Asked
from dipc.program.program import SEPARATOR, load_source, source_at
from dipc.questions.privacy.outcome import PrivacyVerdict
from dipc.text.core import IntType, RealType
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Excerpt, Source, Span, listing, nearest, read_source

#: Files with this ending are found in directories, by `dipc test` and by pytest.
ENDING = ".dipc.toml"

#: What a claim may say. The parts of `check`'s own claim are texts or numbers.
_CLAIM_PARTS = ("alpha", "beta", "gamma", "eps")
_SHARED = ("name", "program", "inputs", "constants", "limits", "expect")
_KEYS = (*_SHARED, "table", "for_all", *_CLAIM_PARTS)

#: A claim with the key `adjacent` is one about privacy.
_PRIVACY_PARTS = ("budget", "delta", "eps")
_PRIVACY_KEYS = (*_SHARED, "adjacent", *_PRIVACY_PARTS)

_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*claim[ \t]*\]\]", re.MULTILINE)
_POSITION = re.compile(r"\(at line (\d+), column (\d+)\)|\(at end of document\)")


@frozen
class ExpectedClaim:
    """One claim, and the verdict it should have. Paths are as they are found from the working directory; `place` is
    where the claim stands in its file. With `adjacent` it is about privacy, and has no table."""

    name: str
    place: Excerpt
    program: Path
    table: Path | None = None
    adjacent: str | None = None
    constants: Mapping[str, Fraction] = field(default_factory=dict)
    options: Options = field(default_factory=Options)
    expect: Verdict | PrivacyVerdict = Verdict.ACCURATE

    def command(self) -> tuple[str, ...]:
        """The command that asks the same again, word by word."""
        if self.adjacent is None:
            return self.asked.command()
        return self.asked.command("privacy", "--adjacent", self.adjacent)

    @property
    def asked(self) -> Asked:
        """What it says of its question."""
        definitions = tuple(f"{name}={value}" for name, value in self.constants.items())
        default = asdict(Limits())
        said = {} if self.options.limits is None else asdict(self.options.limits)
        limits = tuple(f"{name}={limit}" for name, limit in said.items() if limit != default[name])
        return Asked(self.program, self.options, self.table, definitions, limits)


def claims_files(paths: Sequence[Path]) -> Iterator[Path]:
    """These files, and those in these directories, in order. Raises DiagnosticError for a directory without any."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        files = sorted(path.rglob(f"*{ENDING}"))
        if not files:
            note = f"files of claims are found by their ending, {ENDING}; others have to be named"
            raise DiagnosticError(Diagnostic("E1501", f"there are no claims in the directory `{path}`", notes=(note,)))
        yield from files


def read_claims(path: Path) -> tuple[ExpectedClaim, ...]:
    """The claims of a file, in order; at least one. Paths in it are relative to it. Those of a Python file are the
    claims of its mechanisms, which should be accurate.

    Raises DiagnosticError with all that is wrong with the file.
    """
    if path.suffix == ".py":
        return _of_mechanisms(path)
    source = read_source(path)
    try:
        # Numbers are read from their digits: 0.25 is a quarter.
        document = tomllib.loads(source.text, parse_float=str)
    except tomllib.TOMLDecodeError as error:
        raise DiagnosticError(_no_toml(source, str(error))) from None
    claims = document.get("claim")
    if not isinstance(claims, list) or not claims or not all(isinstance(claim, dict) for claim in claims):
        note = 'write for each claim a table [[claim]] with `program = "sparse.dip"` and `table = "table.csv"`'
        raise DiagnosticError(Diagnostic("E1501", f"there are no claims in `{path}`", notes=(note,)))
    starts = [match.start() for match in _HEADER.finditer(source.text)]
    if len(starts) != len(claims):  # an array written inline: no places of its own
        starts = [0] * len(claims)
    ends = [*starts[1:], len(source.text)]
    stray = [name for name in document if name != "claim"]
    mistakes = [_unknown(source, Span(0, len(source.text)), name, ("claim",)) for name in stray]
    result: list[ExpectedClaim] = []
    for number, (claim, start, end) in enumerate(zip(claims, starts, ends, strict=True), 1):
        reader = _Reader(source, claim, number, Span(start, max(end, start + 1)), mistakes)
        expected_claim = reader.read()
        if expected_claim is not None:
            result.append(expected_claim)
    if mistakes:
        raise DiagnosticError(*mistakes)
    return tuple(result)


def _of_mechanisms(path: Path) -> tuple[ExpectedClaim, ...]:
    """A claim for each mechanism of a Python file that makes one: about the inputs that it says, or all of them. The
    file is parsed, not executed."""
    module = parsed(read_source(path))
    claims = []
    for function in module.functions.values():
        keywords = [
            keyword
            for decorator in function.decorator_list
            if decorator_name(module, decorator) == "dipc.mechanism" and isinstance(decorator, Call)
            for keyword in decorator.keywords
            if keyword.arg == "claim"
        ]
        if keywords:
            program = Path(f"{path}{SEPARATOR}{function.name}")
            place = module.source.excerpt(module.span(keywords[0].value))
            claims.append(ExpectedClaim(function.name, place, program, options=Options(inputs=_all_of(program))))
    if not claims:
        note = 'a claim is written `@dipc.mechanism(claim=dict(alpha="dd", beta="…"))`'
        raise DiagnosticError(Diagnostic("E1501", f"no mechanism in `{path}` makes a claim", notes=(note,)))
    return tuple(claims)


def _all_of(program: Path) -> tuple[str, ...] | None:
    """All inputs, where some are real or int and the claim says nothing of them; finite ones are gone through."""
    try:
        core = load_source(source_at(program), {}).core
    except DiagnosticError:
        return None  # which the test shows
    infinite = any(isinstance(core.slots[slot].type, RealType | IntType) for slot in core.inputs)
    return ("all",) if infinite and core.claimed_inputs is None else None


@frozen
class _Reader:
    """Reads one claim; what is wrong with it is put to the `mistakes`."""

    source: Source
    claim: Mapping[str, object]
    number: int
    span: Span
    mistakes: list[Diagnostic]

    def read(self) -> ExpectedClaim | None:
        before = len(self.mistakes)
        private = "adjacent" in self.claim
        known = _PRIVACY_KEYS if private else _KEYS
        self.mistakes.extend(_unknown(self.source, self.span, name, known) for name in self.claim if name not in known)
        program = self._text("program")
        if "program" not in self.claim:
            note = 'write `program = "sparse.dip"`, a path that begins at this file'
            self._mistake("program", "the claim names no program", note, code="E1503")
        verdicts: list[Verdict | PrivacyVerdict] = [*PrivacyVerdict] if private else [*Verdict]
        expect = self._text("expect") or str(verdicts[0])
        if expect not in verdicts:
            self._mistake("expect", f"`{expect}` is no verdict", f"the verdicts are {listing(verdicts)}")
        table = self._text("table")
        adjacent = self._text("adjacent")
        if adjacent is not None and adjacent.strip().endswith(".csv"):
            adjacent = str(self._path(adjacent.strip()))
        claim = {
            "name": self._text("name") or f"claim {self.number}",
            "place": _excerpt(self.source, self.span, None),
            "program": self._path(program or ""),
            "table": None if table is None else self._path(table),
            "adjacent": adjacent,
            "constants": self._constants(),
        }
        options = {
            "inputs": self._inputs() or None,
            "for_all": self._text("for_all"),
            **{part: self._text(part) for part in (_PRIVACY_PARTS if private else _CLAIM_PARTS)},
            "limits": replace(Limits(), **self._limits()),
        }
        if len(self.mistakes) > before:
            return None
        wanted = next(verdict for verdict in verdicts if verdict == expect)
        return ExpectedClaim(**claim, options=Options(**options), expect=wanted)  # type: ignore[arg-type]  # each has its field's type

    def _mistake(self, key: str, message: str, *notes: str, code: str = "E1504") -> None:
        self.mistakes.append(Diagnostic(code, message, _excerpt(self.source, self.span, key), notes=notes))

    def _path(self, text: str) -> Path:
        return Path(self.source.name).parent / text

    def _text(self, key: str) -> str | None:
        """A text, or a number as a text; None where it is not said."""
        value = self.claim.get(key)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        self._mistake(key, f"`{key}` is neither a text nor a number", f'write for example {key} = "…"')
        return None

    def _inputs(self) -> tuple[str, ...]:
        value = self.claim.get("inputs")
        if value is None:
            return ()
        texts = value if isinstance(value, list) else [value]
        if not all(isinstance(text, str) for text in texts):
            self._mistake("inputs", "`inputs` is neither a text nor a list of texts", 'write inputs = "q = -1..1"')
            return ()
        return tuple(str(text) for text in texts)

    def _constants(self) -> dict[str, Fraction]:
        result = {}
        for name, value in self._table("constants", "{ m = 3 }").items():
            if isinstance(value, bool) or not isinstance(value, int | str):
                self._mistake("constants", f"the value of `{name}` is no number", "write constants = { m = 3 }")
                continue
            try:
                result[name] = parse_rational(str(value).strip())
            except NotExact as error:
                self._mistake("constants", f"`{value}` {error.reason}", "write constants = { m = 3 }")
        return result

    def _limits(self) -> dict[str, int]:
        result = {}
        for name, value in self._table("limits", "{ states = 100000 }").items():
            if name not in LIMIT_NAMES:
                close = nearest(name, LIMIT_NAMES)
                note = f"did you mean `{close}`?" if close else f"the limits are {listing(LIMIT_NAMES, 30)}"
                self._mistake("limits", f"there is no limit `{name}`", note)
            elif isinstance(value, bool) or not isinstance(value, int) or value <= 0:
                self._mistake("limits", f"the limit `{name}` is a natural number", f"write {name} = 100000")
            else:
                result[name] = value
        return result

    def _table(self, key: str, example: str) -> Mapping[str, object]:
        value = self.claim.get(key, {})
        if isinstance(value, dict):
            return value
        self._mistake(key, f"`{key}` is no table", f"write {key} = {example}")
        return {}


def _unknown(source: Source, span: Span, name: str, known: Sequence[str]) -> Diagnostic:
    close = nearest(name, known)
    notes = [f"did you mean `{close}`?"] if close else []
    notes.append(f"there may be {listing(known, 30)}")
    return Diagnostic("E1502", f"`{name}` means nothing here", _excerpt(source, span, name), notes=tuple(notes))


def _excerpt(source: Source, span: Span, key: str | None) -> Excerpt:
    """The line of `key` in the part of the file that is the claim; its first line where there is none."""
    if key is not None:
        matched = re.compile(rf"^[ \t]*\"?{re.escape(key)}\b.*$", re.MULTILINE).search(
            source.text, span.start, span.end
        )
        if matched is not None:
            lead = len(matched[0]) - len(matched[0].lstrip())
            return source.excerpt(Span(matched.start() + lead, matched.end()))
    line_end = source.text.find("\n", span.start)
    end = len(source.text) if line_end < 0 else line_end
    lead = len(source.text[span.start : end]) - len(source.text[span.start : end].lstrip())
    return source.excerpt(Span(span.start + lead, end))


def _no_toml(source: Source, message: str) -> Diagnostic:
    """The reader's own words, with the place that it names in them."""
    match = _POSITION.search(message)
    text = (message[: match.start()] if match else message).strip().rstrip(".")
    position = len(source.text)
    if match is not None and match[1] is not None:
        lines = source.text.split("\n")
        position = sum(len(line) + 1 for line in lines[: int(match[1]) - 1]) + int(match[2]) - 1
    position = min(position, max(0, len(source.text) - 1))
    note = "texts stand in quotes, and a backslash in them is two"
    return Diagnostic(
        "E1505",
        f"this is no TOML: {text[:1].lower() + text[1:]}",
        source.excerpt(Span(position, position + 1)),
        notes=(note,),
    )


# --- the programs of a directory -------------------------------------------------------------------


def claims_below(directory: Path, constants: Mapping[str, Fraction], options: Options) -> list[ExpectedClaim]:
    """A claim for each program below the directory that makes one, or that is none; with a `beta` in the options, for
    each program. Its table is the CSV file beside it of the same name, if there is one, else the inputs.

    Raises DiagnosticError where there is none.
    """
    claims = []
    for path in sorted(directory.rglob("*.dip")):
        if options.beta is None and not _makes_claim(path):
            continue
        table = path.with_suffix(".csv")
        beside = table if table.is_file() and options.inputs is None else None
        place = read_source(path).excerpt(Span(0, 1))
        name = str(path.relative_to(directory))
        claims.append(ExpectedClaim(name, place, path, beside, None, constants, options))
    if not claims:
        note = "a claim is a block of a program, claim { beta: … }, in a file that ends with .dip; or give --beta"
        raise DiagnosticError(Diagnostic("E1501", f"there are no claims in the directory `{directory}`", notes=(note,)))
    return claims


def _makes_claim(path: Path) -> bool:
    try:
        return load_source(read_source(path), {}).core.claim is not None
    except DiagnosticError:
        return True

"""The names of one program and what each stands for."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction

from dipc.diagnostics.source import Span
from dipc.lang.ast import Role
from dipc.lang.codes import Code
from dipc.lang.core import DomType, Slot, Type
from dipc.lang.findings import Findings

#: Names with a meaning in claims; a program cannot declare them.
CLAIM_NAMES = frozenset({"alpha", "beta", "gamma", "dd", "inf"})
#: Names that are searched for one that looks like an unknown name.
_SEARCHED = 1000
#: Names of functions.
FUNCTIONS = frozenset({"exp", "min", "max", "abs"})


@dataclass(frozen=True, slots=True)
class Constant:
    """A named constant; `value` None when its expression is wrong, `known` False before its turn has come."""

    name: str
    value: Fraction | None
    span: Span
    known: bool = True


@dataclass(frozen=True, slots=True)
class DeclaredVariable:
    """A declared variable. `low` is the least index of an array, None for a scalar; `type` None when it is wrong.

    `known` is False while only its name has been seen: constants and domains cannot depend on it.
    """

    name: str
    role: Role
    type: Type | None
    slots: tuple[int, ...]
    low: int | None
    span: Span
    known: bool = True


@dataclass(frozen=True, slots=True)
class EnumeratedValue:
    """A name that is a value of one or more domains."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Foreign:
    """In the ideal: a variable of the mechanism, which the ideal cannot see."""

    name: str
    span: Span


Symbol = Constant | DeclaredVariable | EnumeratedValue | Foreign

_WORDS: dict[type[Symbol], str] = {
    Constant: "a constant",
    DeclaredVariable: "a variable",
    EnumeratedValue: "a domain value",
    Foreign: "a variable of the program",
}


def word_for(symbol: Symbol) -> str:
    """What the symbol is, for messages."""
    return _WORDS[type(symbol)]


@dataclass(frozen=True, slots=True)
class Domain:
    """A named domain; `type` None when its declaration is wrong or, if not `known`, comes later."""

    name: str
    type: DomType | None
    span: Span
    known: bool = True


class FixedEps:
    """The one eps that a program is read at, None where it is read for every eps. `used` says whether its meaning
    depends on it."""

    def __init__(self, value: Fraction | None = None) -> None:
        self.value = value
        self.used = False

    def use(self) -> Fraction | None:
        """The value, for a meaning that it has there alone."""
        self.used |= self.value is not None
        return self.value


class Scope:
    """Constants, variables and domain values share one space of names; domains have their own, because they stand
    only where a type stands. All scopes of a program share `eps`."""

    def __init__(self, eps: FixedEps | None = None) -> None:
        self.eps = FixedEps() if eps is None else eps
        self.symbols: dict[str, Symbol] = {}
        self.domains: dict[str, Domain] = {}
        self.slots: list[Slot] = []

    def constants(self) -> dict[str, Fraction]:
        """The values of the constants that have one."""
        return {
            symbol.name: symbol.value
            for symbol in self.symbols.values()
            if isinstance(symbol, Constant) and symbol.value is not None
        }

    def adopt(self, variable: DeclaredVariable, other: Scope) -> DeclaredVariable:
        """A variable of `other` with its type and initial value, in slots of this scope."""
        first = len(self.slots)
        for offset, slot in enumerate(variable.slots):
            self.slots.append(replace(other.slots[slot], index=first + offset))
        return replace(variable, slots=tuple(range(first, len(self.slots))))

    def suggestion(self, name: str, *others: str) -> tuple[str, ...]:
        """A note "did you mean ...?" when a known name (or one of `others`) looks like `name`."""
        return suggest(name, [*self.symbols, *others])


def suggest(name: str, candidates: list[str]) -> tuple[str, ...]:
    """At most one note "did you mean ...?"; spelling in other letter case counts as very near."""
    folded = {candidate.lower(): candidate for candidate in candidates[:_SEARCHED] if candidate != name}
    near = get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    return (f"did you mean `{folded[near[0]]}`?",) if near else ()


def may_declare(scope: Scope, findings: Findings, name: str, span: Span, what: str) -> bool:
    """Whether `name` is free to be declared as `what` ("a constant"); if not, that has been reported."""
    if name in CLAIM_NAMES | FUNCTIONS:
        meaning = "a function" if name in FUNCTIONS else "reserved for claims and tables"
        notes = ("choose another name",)
        findings.report(Code.RESERVED, span, f"`{name}` cannot be declared: it is {meaning}", notes=notes)
        return False
    known = scope.symbols.get(name)
    if known is not None and not isinstance(known, Foreign):
        findings.report(
            Code.DUPLICATE,
            span,
            f"`{name}` is declared twice" if word_for(known) == what else f"`{name}` is already {word_for(known)}",
            notes=("rename one of the two",),
            secondary=((known.span, "first declared here"),),
        )
        return False
    return True


def locate(findings: Findings, name: str, within: Span, *, last: bool = False) -> Span:
    """Where the word `name` stands in `within`: its first occurrence, or its last; `within` itself if nowhere.

    For declarations whose node has one span for several names.
    """
    text = findings.source.text[within.start : within.end]
    matches = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
    if not matches:
        return within
    start, end = matches[-1 if last else 0]
    return Span(within.start + start, within.start + end)

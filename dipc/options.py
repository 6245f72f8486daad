"""The options of a question besides its program and its table, in one object.

The command line, the library's keyword arguments, `dipc test` and the playground fill the object, which refuses
contradictory options. It also opens the engine: in this process, in several, on a cluster, with a cache.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields
from fractions import Fraction
from functools import wraps
from typing import Any, TypedDict, TypeVar, cast

from dipc.algebra.limits import Limits
from dipc.algebra.numbers import exact_rational
from dipc.claims.claim import ClaimOptions, GivenEps, GivenValue
from dipc.decide.engine import Engine, Executor, InTurn, fingerprint
from dipc.frozen import frozen
from dipc.program.inputs import InputSpec, specifications
from dipc.program.program import Program, Progress
from dipc.text.declarations import BadValue, NumberReader
from dipc.text.diagnostic import DiagnosticError, SourceText, bad_input
from dipc.text.parser import parse_lower_bound

#: The greatest number of processes; a larger number is a mistake.
MOST_JOBS = 1024


def job_count(jobs: int | str) -> int:
    """Return the number of processes that `jobs` asks for; 0 and `auto` are the number of processors.

    Raises DiagnosticError for other text and numbers beyond MOST_JOBS.
    """
    count = 0 if jobs == "auto" else jobs
    if isinstance(count, str) and count.isascii() and count.isdigit() and len(count) < 10:
        count = int(count)
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST_JOBS:
        raise bad_input(
            "E1312",
            f"`{jobs}` is not a number of processes",
            f"write a number from 1 to {MOST_JOBS}, or `auto` (or 0) for as many as there are processors",
        )
    if count:
        return count
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


#: A bound on the absolute value of the least value of a constant.
_LEAST = 10**9


class GivenClaim(TypedDict, total=False):
    """The parts of a claim about accuracy, as keyword arguments."""

    beta: GivenValue
    alpha: GivenValue
    gamma: GivenValue
    eps: GivenEps


class GivenWork(TypedDict, total=False):
    """The options that distribute the work or limit it, as keyword arguments."""

    jobs: int | str
    cache: str | os.PathLike[str] | None
    dask: str | None
    limits: Limits | None


class GivenRows(GivenClaim, total=False):
    """The options of `dipc.iter_rows`, as keyword arguments."""

    inputs: InputSpec | None
    limits: Limits | None


class GivenQuestion(GivenRows, total=False):
    """The options of a question about a program, as keyword arguments."""

    for_all: str | None
    progress: Progress | None


class GivenForAll(GivenClaim, GivenWork, total=False):
    """The options of a question about every value of a constant, as keyword arguments."""

    digits: int | None
    keep_proofs: bool
    progress: Progress | None


class GivenCheck(GivenForAll, total=False):
    """The options of `dipc.check`, as keyword arguments."""

    inputs: InputSpec | None
    for_all: str | None
    classes: bool | None


class GivenError(GivenWork, total=False):
    """The options of `dipc.expected_error`, as keyword arguments."""

    inputs: InputSpec | None
    error: GivenValue
    moment: int
    output: str | None
    at: Fraction | int | str | None
    alpha: GivenValue
    eps: GivenEps
    progress: Progress | None


def _share(value: Fraction | int | str, name: str) -> Fraction:
    """Return `value` as a Fraction; a text may be a percentage, such as "95%".

    Raises ValueError and TypeError for other values, with `name` in the message.
    """
    if isinstance(value, str) and value.strip().endswith("%"):
        return exact_rational(value.strip()[:-1].strip(), name) / 100
    return exact_rational(value, name)


@frozen(kw_only=True)
class Options:
    """The options of a question, besides its program and its table.

    - The subject: `inputs`, and `for_all` for every value of a constant.
    - The claim about accuracy: `beta`, `alpha`, `gamma` and `eps`. A part that is None is taken from the columns of the
      table or from the program's claim block.
    - The claim about privacy: `budget` and `delta`, with `eps`, for `compose` independent runs.
    - The claim about the expected error of the output named `output`: `error`. With `moment` 2 it is about the expected
      square of the error. `at` is the eps at which numbers are computed.
    - The grouping of inputs: with `classes`, inputs with equal obligations are one case. With `as_given`, inputs
      keep their declared types; otherwise dipc may change the types to decide cases faster.
    - The result: numbers have `digits` significant digits. With `keep_proofs`, the evidence for a certificate is kept.
      If `forms` is False, a row that holds may lack the closed form of its probability.
    - The work: `jobs`, `cache` and `dask` distribute it, and change no answer. `limits` bound it, and `progress` is
      called with the number of steps done and the number of all steps.
    - Simulations: each interval contains the exact answer with at least the probability `confidence`, and `side`
      selects which of its ends to give.
    - `dipc tune`: the constants named in `vary` are chosen so that `wanted` is least, at equal privacy for the
      adjacency `adjacent`. Their denominators are at most `denominator`, and the result is proved to be best up to
      `tolerance`.
    """

    inputs: InputSpec | None = None
    for_all: str | None = None
    beta: GivenValue = None
    alpha: GivenValue = None
    gamma: GivenValue = None
    eps: GivenEps = None
    budget: GivenValue = None
    delta: GivenValue = None
    compose: int = 1
    error: GivenValue = None
    moment: int = 1
    output: str | None = None
    at: Fraction | int | str | None = None
    vary: str | Sequence[str] = ()
    wanted: str | None = None
    adjacent: str | None = None
    denominator: int = 1000
    tolerance: Fraction | int | str = Fraction(1, 100)
    confidence: Fraction | int | str = Fraction(95, 100)
    side: str | None = None
    classes: bool | None = None
    as_given: bool = False
    digits: int | None = None
    keep_proofs: bool = False
    forms: bool = True
    jobs: int | str = 1
    cache: str | os.PathLike[str] | None = None
    dask: str | None = None
    limits: Limits | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.digits is not None and self.digits < 1:
            raise ValueError(f"digits must be at least 1, not {self.digits}")
        if self.compose < 1:
            raise ValueError(f"compose must be at least 1, not {self.compose}")

    @property
    def claim(self) -> ClaimOptions:
        """The options that state a claim about accuracy."""
        return ClaimOptions(self.beta, self.alpha, self.gamma, self.eps)

    @property
    def at_eps(self) -> Fraction:
        """The eps at which numbers are computed: `at` if it is given, else the single eps of the claim, else 1.

        Raises ValueError for an eps that is not positive, TypeError for an inexact one.
        """
        value = self.at if self.at is not None else self.eps if isinstance(self.eps, int | Fraction) else 1
        result = exact_rational(value, "at")
        if result <= 0:
            raise ValueError(f"eps must be positive, not {result}")
        return result

    @property
    def tolerance_value(self) -> Fraction:
        """The tolerance as a number; `1%` is 1/100. Raises ValueError unless it is positive."""
        tolerance = _share(self.tolerance, "tolerance")
        if tolerance <= 0:
            raise ValueError(f"a tolerance must be positive, not {tolerance}")
        return tolerance

    @property
    def confidence_value(self) -> Fraction:
        """The confidence as a number; `95%` is 19/20. Raises ValueError unless it is between 0 and 1."""
        confidence = _share(self.confidence, "confidence")
        if not 0 < confidence < 1:
            raise ValueError(f"a confidence must be between 0 and 1, not {confidence}")
        return confidence

    @property
    def claim_parts(self) -> dict[str, Any]:
        """The given parts of the claim, by name, such as {"beta": "exp(-eps)"}.

        The names are in the order in which commands have them.
        """
        values = {name: getattr(self, name) for name in ("alpha", "beta", "gamma", "error", "budget", "delta", "eps")}
        return {name: value for name, value in values.items() if value is not None}

    def mention(self, name: str) -> bool:
        """Return True if the text of a claim or the inputs contain the name `name` of a constant."""
        texts = (*self.claim_parts.values(), self.inputs, self.adjacent)
        return any(re.search(rf"\b{name}\b", str(text)) for text in texts if text is not None)

    @property
    def asks_for_all(self) -> bool:
        """True if the question is about every input."""
        return asks_for_all(self.inputs)

    def open_constant(self, inputs: InputSpec | None) -> tuple[str, int | None] | None:
        """Return (constant, least value) for the constant that `for_all` leaves open, such as "m >= 3".

        The least value is None if there is none, as for "m". The result is None if no constant is left open. If a
        constant is left open, the question must be about all inputs: raises DiagnosticError if `inputs` selects only
        some of them. Also raises DiagnosticError if `for_all` cannot be read.
        """
        if self.for_all is None:
            return None
        name, least = open_constant(self.for_all)
        if not asks_for_all(inputs):
            note = "add --inputs all, or give the constant a number"
            raise bad_input("E1209", f"`{name}` is left open, but the question is not about all inputs", note)
        return name, least

    def engine(self, stack: ExitStack, program: Program) -> Engine:
        """Return the engine that decides obligations for `program`, as the options `jobs`, `dask` and `cache` say.

        `jobs` processes share the work, where 0 and "auto" mean one process per processor; `dask` is the address of a
        Dask scheduler. Decisions are kept in the file `cache` and used again. None of these options changes a decision.
        When `stack` is closed, the engine is closed and its processes end. Raises DiagnosticError (E13xx) for a cache
        or a cluster that cannot be used.
        """
        count, measurer, limits = job_count(self.jobs), program.measurer, program.limits
        if self.dask is not None and count > 1:
            raise bad_input("E1311", "-j and --dask are both given", "give only one of them")
        engine = Engine(measurer, limits, digits=self.digits, keep_proofs=self.keep_proofs)
        if count > 1 or self.cache is not None or self.dask is not None:
            from dipc.decide.cache import Cache
            from dipc.decide.shared import Memory, SharedEngine

            memory = None
            if self.cache is not None:
                kept = stack.enter_context(Cache(self.cache, fingerprint()))
                memory = Memory(kept, measurer.limits, limits, self.digits)
                stack.callback(memory.close)
            executor: Executor = InTurn()
            if self.dask is not None or count > 1:
                from dipc.decide.processes import WORTH, Cluster, Processes

                executor = Processes(count, here=WORTH) if self.dask is None else Cluster(self.dask)
            stack.callback(executor.close)
            proofs = self.keep_proofs
            engine = SharedEngine(measurer, limits, executor, memory, digits=self.digits, keep_proofs=proofs)
        engine.forms = self.forms or self.keep_proofs
        return engine


def asks_for_all(inputs: object) -> bool:
    """Return True if `inputs`, as a user gives them, mean every input."""
    return [text.strip() for text in specifications(inputs) or ()] == ["all"]


def open_constant(option: str) -> tuple[str, int | None]:
    """Return (constant, least value) for the text `option`, such as "m >= 3"; the least value is None for "m".

    Raises DiagnosticError for other text.
    """
    source = SourceText("<--for-all>", option)
    name, bound = parse_lower_bound(source)
    if bound is None:
        return name, None
    try:
        least = NumberReader(source, {}).number(bound)
    except BadValue as bad:
        raise DiagnosticError(bad.located("E1210", source)) from None
    if least.denominator != 1 or abs(least) >= _LEAST:
        note = 'write a constant, or a range such as --for-all "m >= 3"'
        raise bad_input("E1210", "the least value is not an integer", note, place=source.excerpt(bound.span))
    return name, int(least)


_F = TypeVar("_F", bound=Callable[..., Any])


def takes(given: type, defaults: Mapping[str, object] | None = None) -> Callable[[_F], _F]:
    """Return a decorator for a function with the parameter `**given`, whose keys are those of the TypedDict `given`.

    `help` and editors then show a parameter for each key. Its default is shown from `defaults`, or else from `Options`.
    The decorated function raises TypeError for other keywords.
    """
    known: dict[str, object] = {field.name: field.default for field in fields(Options)} | dict(defaults or {})

    def decorate(function: _F) -> _F:
        signature = inspect.signature(function)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        types = {name: getattr(kind, "__forward_arg__", kind) for name, kind in given.__annotations__.items()}
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=known[name], annotation=kind)
            for name, kind in types.items()
        ]
        names = {parameter.name for parameter in (*own, *added)}

        @wraps(function)
        def called(*arguments: Any, **named: Any) -> Any:
            for name in named:
                if name not in names:
                    raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
            return function(*arguments, **named)

        called.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
        return cast(_F, called)

    return decorate

"""Validate a translation: run a Python function and the program read from it on the same scripts.

A script gives the inputs and the first draws of a run. CPython runs the accepted function alone
(`dipc.mechanisms.alone`), and `dipc.execution.scripted` runs the program's instructions. The two answers are compared,
including their types, and so are laws, rates and weights of the draws that both make. Each run leads to further
scripts. They make the two sides of each comparison equal, or order them in either way, and select each option of each
choice. Validation is a test of one reading, not a proof.
"""

from __future__ import annotations

import hashlib
from ast import FunctionDef
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, islice, product
from math import prod
from typing import Any

from dipc.above import VERSION
from dipc.algebra.limits import Undecided
from dipc.chain.flow import Flow, analyze
from dipc.chain.step import is_never
from dipc.execution.scripted import ProgramFault, ScriptedRun
from dipc.frozen import frozen
from dipc.mechanisms.alone import Accepted, AloneFunction
from dipc.mechanisms.decorator import python_answer
from dipc.mechanisms.module import READ_WRONGLY
from dipc.mechanisms.numbers import Inconclusive, RealBall, Trace, Traced, Variable
from dipc.noise.law import Law
from dipc.noise.laws import law_of
from dipc.program.program import Program
from dipc.text.ast import BaseType
from dipc.text.core import (
    DomType,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Slot,
    Value,
    show_value,
)
from dipc.text.diagnostic import DefectError, Diagnostic, DiagnosticError, listing
from dipc.text.parser import parse
from dipc.text.statements import lower_ideal

#: The most scripts of one function, and the most additional ones if finite inputs are enumerated.
MOST_SCRIPTS, MOST_ENUMERATED = 50, 64

#: The fewest scripts of a function with a long program, and the most instructions that its scripts may run together.
FEWEST_SCRIPTS, _MOST_INSTRUCTIONS = 8, 200_000

#: The values of a constant that is left open, at which a reading is validated.
OPEN_NUMBERS = (1, 2, 3, 5)

#: The most values of a finite input that are enumerated; with more values, it is moved as a real input is.
_FEW_VALUES = 12

#: The most runs of a program that draws more than Python does, each without some of its draws.
_MOST_ALIGNMENTS = 60

#: The values of eps that scripts take in turn, if the program has a meaning at every eps.
_POINTS = (Fraction(7, 5), Fraction(3, 11))

#: The draws that are equal if a script does not give them; later draws differ, so that loops end.
_FIRST_DRAWS = 24

#: The steps by which draws leave points of equality. Each draw has another step, in this order or backwards, so that
#: three draws can come in any order.
_STEPS = (Fraction(3, 4), Fraction(1, 4), Fraction(1, 16), Fraction(1, 64))

#: The digests of readings that agreed.
_AGREED: set[str] = set()


def validate(program: Program) -> None:
    """Check that `program` and the Python function that it was read from give equal answers on many scripts.

    A script fixes the inputs and all draws of a run. The right answers by the program and by the function are compared,
    too. Nothing is done for a program that was not read from Python, or that has passed before. Raises DefectError
    (E1907) if a difference is found.
    """
    accepted: Accepted | None = program.core.source.accepted
    if accepted is None:
        return
    mechanism = AloneFunction(accepted, accepted.node, program.core.constants)
    ideal = None
    if accepted.ideal is not None:
        ideal = AloneFunction(accepted, accepted.ideal, program.core.constants)
    digest = _digest(program, mechanism, ideal)
    if digest in _AGREED:
        return
    Validation(program, accepted, accepted.node, mechanism, program.flow).compare()
    if ideal is not None and accepted.ideal is not None:
        core = program.core
        lowered = lower_ideal(parse(core.source), core.source, core.constants, core.only_at)
        assert lowered is not None
        Validation(program, accepted, accepted.ideal, ideal, analyze(lowered)).compare()
    _AGREED.add(digest)


def _digest(program: Program, mechanism: AloneFunction, ideal: AloneFunction | None) -> str:
    """Return a hash that identifies a translation from Python, so that it is not compared with Python again.

    It is computed from the Python functions `mechanism` and `ideal` with their helpers and constants, from `program`,
    and from the version of dipc.
    """
    core = program.core
    parts = [VERSION, mechanism.text, "" if ideal is None else ideal.text, core.source.program_text or ""]
    parts += [str(sorted(core.constants.items())), str(core.asked_eps), str(len(core.instructions))]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def validate_numbers(program: Program, parameter: str) -> None:
    """Compare `program` with its Python function for some values of the constant `parameter`, which is left open.

    Raises DefectError (E1907) if a difference is found.
    """
    for number in OPEN_NUMBERS:
        try:
            program.with_constants({parameter: Fraction(number)})
        except DiagnosticError:
            continue  # the program means nothing for so few or so many


# --- scripts --------------------------------------------------------------------------------------------


@frozen
class Script:
    """The inputs of a run, in their order, and its draws.

    `draws` has the first draws: a noise before its mean is added, or the index of a choice. All further draws follow a
    rule, whose number is `later`. Rule 0 first gives noise 0 and the first option; after a number of such draws, and
    under the other rules, the draws differ from each other, so that loops end.
    """

    inputs: tuple[Value, ...]
    draws: tuple[Fraction | int, ...] = ()
    later: int = 0

    def draw(self, number: int) -> Fraction | int | None:
        return self.draws[number] if number < len(self.draws) else None

    def default_noise(self, number: int) -> Fraction:
        """Return the noise for the draw with index `number`, which is not among the script's own draws."""
        if not self.later and number < _FIRST_DRAWS:
            return Fraction(0)
        return Fraction((number * 37 + self.later * 61) % 97 - 48, 8)

    def default_place(self, number: int) -> int:
        """Return the index chosen by the draw with index `number`, which is not among the script's own draws."""
        return number * self.later if number < _FIRST_DRAWS else _scattered(number, self.later)


@frozen
class NoiseDrawn:
    """A noise that Python drew: its `law` and its `value`.

    `width` is its rate, or its standard deviation if it is normal, or None if it is uniform.
    """

    law: Law
    width: Any
    value: Fraction


@frozen
class ChoiceMade:
    """A choice that Python made: the index `place` that was chosen, and `numbers` that determine the probabilities.

    If `kind` is "weights", the numbers are the weights of all options whose weight is not 0. If it is "exponents", the
    choice is an exponential mechanism, and the numbers are the exponents of its candidates minus that of the first one.
    """

    kind: str
    numbers: tuple[Any, ...]
    place: int


DrawEvent = NoiseDrawn | ChoiceMade


class Mismatch(Exception):
    """Raised for a draw that Python and the program make differently; the message describes both."""


class _PythonRun:
    """The draws of one run in CPython, taken from `script`.

    `drawn` records the draws, and `trace` the comparisons that Python and the program make.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.trace: Trace = []
        self.drawn: list[DrawEvent] = []

    def noise(self, law: str, width: object, ends: tuple[object, object] | None = None) -> Fraction:
        number = len(self.drawn)
        given = self.script.draw(number)
        known = law_of(law)
        if ends is not None:
            low, high = ends
            if not isinstance(low, int | Fraction) or not isinstance(high, int | Fraction):
                raise Inconclusive("an end of a noise is not an exact number")
            known = known.with_ends(Fraction(low), Fraction(high)) if low < high else known
        value = self.script.default_noise(number) if given is None else Fraction(given)
        if known.whole:
            value = Fraction(round(value))
        if known.least is not None and known.greatest is not None:
            if not known.least <= value <= known.greatest:
                value = known.least + (value - known.least) % (known.greatest - known.least)
        elif known.least is not None and value < known.least:
            value = known.least - value
        self.drawn.append(NoiseDrawn(known, width, value))
        return Traced(value, {("draw", number): Fraction(1)}, self.trace, whole=known.whole)

    def choice(self, weights: Sequence[object]) -> int:
        places = [place for place, weight in enumerate(weights) if not _is_zero(weight)]
        if not places:
            raise Inconclusive("no value has a weight")
        place = self._place(len(places))
        self.drawn.append(ChoiceMade("weights", tuple([weights[each] for each in places]), place))
        return places[place]

    def exponential(self, candidates: Sequence[object], scores: Sequence[Any], rate: Any) -> int:
        if not candidates:
            raise IndexError("an exponential mechanism without candidates")
        place = self._place(len(candidates))
        self.drawn.append(ChoiceMade("exponents", tuple([(score - scores[0]) * rate for score in scores]), place))
        return place

    def _place(self, count: int) -> int:
        given = self.script.draw(len(self.drawn))
        return (int(given) if given is not None else self.script.default_place(len(self.drawn))) % count


def _is_zero(weight: object) -> bool:
    return isinstance(weight, int | Fraction) and weight == 0


class _ProgramDraws:
    """The draws of a run of the program, made equal to Python's draws in the order in which Python makes them.

    `left_out` has the indices of the program's draws that Python does not make. For these, the noise is 0, or the first
    option is chosen.
    """

    def __init__(
        self,
        run: _PythonRun,
        eps: Fraction,
        weights: Callable[[SampleChoice, Fraction], list[Any]],
        left_out: frozenset[int],
    ) -> None:
        self._drawn = run.drawn
        self._trace = run.trace
        self._eps = eps
        self._weights = weights
        self._left_out = left_out
        self._next = 0
        self.count = 0

    def _event(self) -> DrawEvent | None:
        number, self.count = self.count, self.count + 1
        if number in self._left_out or self._next >= len(self._drawn):
            return None
        self._next += 1
        return self._drawn[self._next - 1]

    def noise(self, draw: SampleNoise) -> Fraction:
        event = self._event()
        if event is None:
            return Fraction(0)
        width = self._width(draw)
        if (
            not isinstance(event, NoiseDrawn)
            or event.law.keyword != draw.law.keyword
            or (event.law.least, event.law.greatest) != (draw.law.least, draw.law.greatest)
            or not _same(width, event.width)
        ):
            raise Mismatch(f"Python draws {_described(event)}, the program {_noise_text(draw.law, width)}")
        return Traced(event.value, {("draw", self._next - 1): Fraction(1)}, self._trace, whole=event.law.whole)

    def _width(self, draw: SampleNoise) -> Any:
        law, rate = draw.law, draw.rate
        if not law.takes_rate:
            return None
        if not law.by_deviation:
            return law.rate_at(rate, self._eps)
        low, high = law.deviation(rate)
        unit = Fraction(1) if law.fixed else self._eps
        return low / unit if low == high else RealBall.hull(low / unit, high / unit)

    def choice(self, draw: SampleChoice) -> int:
        weights = self._weights(draw, self._eps)
        kept = [place for place, weight in enumerate(weights) if not _is_zero(weight)]
        place = self._chosen("weights", [weights[place] for place in kept])
        return 0 if place is None else kept[place]

    def exponential(self, draw: SampleExponential, scores: Sequence[Fraction]) -> int:
        return self._chosen("exponents", [(score - scores[0]) * draw.rate * self._eps for score in scores]) or 0

    def _chosen(self, kind: str, numbers: Sequence[Any]) -> int | None:
        event = self._event()
        if event is None:
            return None
        if (
            not isinstance(event, ChoiceMade)
            or kind != event.kind
            or len(numbers) != len(event.numbers)
            or not all(map(_same, numbers, event.numbers))
        ):
            shown = ", ".join(map(_shown, numbers))
            raise Mismatch(f"Python draws {_described(event)}, the program a choice with the {kind} {shown}")
        return event.place


def _same(one: Any, two: Any) -> bool:
    """False only if the numbers `one` and `two` certainly differ, or if only one of them is None."""
    if one is None or two is None:
        return one is two
    for here, there in ((one, two), (two, one)):
        if isinstance(here, RealBall):
            return isinstance(there, int | Fraction | RealBall) and here.may_equal(there)
    return isinstance(two, int | Fraction) and bool(one == two)


def _noise_text(law: Law, width: object) -> str:
    support = "" if law.greatest is None else f" from {law.least} to {law.greatest}"
    scale = "" if width is None else f" of the {law.scale_word} {_shown(width)}"
    return f"{law.name} noise{scale}{support}"


def _described(event: DrawEvent) -> str:
    match event:
        case NoiseDrawn(law=law, width=width):
            return _noise_text(law, width)
        case ChoiceMade(kind, numbers):
            return f"a choice with the {kind} {', '.join(map(_shown, numbers))}"


# --- the comparison ---------------------------------------------------------------------------------------


@dataclass
class Validation:
    """A comparison of the Python function `function` with the program `flow` that was read from it.

    `program` is the whole program, and `accepted` the mechanism as it was read from its Python file. `node` is the
    syntax tree of the function, which is the mechanism or its right answer.
    """

    program: Program
    accepted: Accepted
    node: FunctionDef
    function: AloneFunction
    flow: Flow
    _scripted: ScriptedRun = field(init=False)

    def __post_init__(self) -> None:
        self._scripted = ScriptedRun(self.flow)
        core = self.program.core
        self._slots: tuple[Slot, ...] = core.input_slots
        self._name = core.name
        if core.only_at is not None:
            self._points: tuple[Fraction, ...] = (core.only_at,)
        elif core.only_in:
            self._points = (core.only_in[0].inner_point,)
        else:
            self._points = _POINTS
        self._known: dict[tuple[int, Fraction], tuple[SampleChoice, list[Any]]] = {}

    def compare(self, most: int = MOST_SCRIPTS) -> None:
        """Compare Python and the program on at most `most` scripts, and on all combinations of small finite inputs.

        A long program is compared on fewer scripts. Raises DefectError if a difference is found.
        """
        most = min(most, max(FEWEST_SCRIPTS, _MOST_INSTRUCTIONS // (len(self.flow.program.instructions) + 1)))
        first = deque(self._seeds())
        later: deque[Script] = deque()
        seen = set(first)
        met: set[object] = set()
        turns = most + min(len(first), MOST_ENUMERATED)
        for turn in range(turns):
            if not first and not later:
                # All comparisons so far were brought to both sides: other inputs and draws remain.
                later.append(self._scattered_script(turn))
            script = (first or later).popleft()
            run = self._compared(script, self._points[turn % len(self._points)])
            if run is None:
                continue
            left = turns - turn - 1
            for each, is_new in self._further(run, met):
                # A script behind as many others as are still compared is not reached.
                if len(first) >= left:
                    break
                if len(first) + (0 if is_new else len(later)) < left and each not in seen:
                    seen.add(each)
                    (first if is_new else later).append(each)

    # --- inputs -----------------------------------------------------------------------------------

    def _seeds(self) -> Iterator[Script]:
        """Yield the scripts to begin with: one for each combination of values of the small finite inputs.

        If there are too many combinations, only some get a script. The values of real and int inputs, and of finite
        inputs with many values, vary from script to script.
        """
        domains = [_values(slot) for slot in self._slots]
        count = prod(len(domain) for domain in domains if domain is not None and len(domain) <= _FEW_VALUES)
        if count <= MOST_ENUMERATED:
            finite = [[None] if d is None or len(d) > _FEW_VALUES else list(d) for d in domains]
            for turn, values in enumerate(product(*finite)):
                yield Script(tuple(self._filled(values, turn)), (), turn % 3)
            if count == 1:
                for turn in (1, 2, 3):
                    yield Script(tuple(self._filled([None] * len(domains), turn)), (), turn)
            return
        yield from map(self._scattered_script, range(MOST_ENUMERATED // 2))

    def _scattered_script(self, turn: int) -> Script:
        domains = [_values(slot) for slot in self._slots]
        picked = [
            None if d is None or len(d) > _FEW_VALUES else d[_scattered(turn, place) % len(d)]
            for place, d in enumerate(domains)
        ]
        return Script(tuple(self._filled(picked, turn)), (), turn)

    def _filled(self, values: Sequence[Value | None], turn: int) -> Iterator[Value]:
        for place, (slot, value) in enumerate(zip(self._slots, values, strict=True)):
            domain = _values(slot)
            if value is not None:
                yield value
            elif domain is not None:
                yield domain[0] if not turn else domain[_scattered(turn, place) % len(domain)]
            elif not turn:
                yield Fraction(0)
            else:
                number = Fraction(_scattered(turn, place) % 41 - 20, 1 if slot.type is BaseType.INT else 4)
                yield number

    def _program_inputs(self, script: Script, trace: Trace) -> list[Value]:
        """Return the values of the program's inputs in `script`.

        Values of real and int inputs, and of finite ones with many numbers, may be changed in later scripts. These
        values record in `trace` each comparison that uses them.
        """
        given: list[Value] = []
        for place, (slot, value) in enumerate(zip(self._slots, script.inputs, strict=True)):
            domain = _values(slot)
            if isinstance(value, Fraction) and (domain is None or len(domain) > _FEW_VALUES):
                whole = slot.type is BaseType.INT or (
                    domain is not None and all(isinstance(each, Fraction) and each.denominator == 1 for each in domain)
                )
                value = Traced(value, {("input", place): Fraction(1)}, trace, whole=whole)
            given.append(value)
        return given

    def _arguments(self, given: Sequence[Value]) -> dict[str, object]:
        by_name: dict[str, object] = {
            slot.name: value.numerator if type(value) is Fraction and value.denominator == 1 else value
            for slot, value in zip(self._slots, given, strict=True)
        }
        arguments: dict[str, object] = {}
        for argument, name in self.accepted.arguments.items():
            if name in by_name:
                arguments[argument] = by_name[name]
            else:
                arguments[argument] = [value for key, value in by_name.items() if key.startswith(f"{name}[")]
        return arguments

    # --- one script -------------------------------------------------------------------------------

    def _weights(self, draw: SampleChoice, eps: Fraction) -> list[Any]:
        """Return the weights at `eps` of the options of the choice `draw`, as numbers or enclosures.

        Options whose weight is the constant 0 are left out.
        """
        known = self._known.get((id(draw), eps))
        if known is None:
            result: list[Any] = []
            for _, weight in draw.arms:
                if not is_never(weight):
                    closed = self.program.choices.weights.closed(weight)
                    low, high = closed.enclosure(eps)
                    result.append(low if low == high else RealBall.hull(low, high))
            # The draw is kept, so that no other one gets its id.
            known = self._known[id(draw), eps] = draw, result
        return known[1]

    def _compared(self, script: Script, eps: Fraction) -> _PythonRun | None:
        """Run `script` at `eps` in Python and in the program; return Python's run, or None if it is inconclusive.

        Python's run is inconclusive if it exceeds a limit, or gets to code that cannot be run here. Raises DefectError
        if the answers of Python and the program differ.
        """
        run = _PythonRun(script)
        expected: object
        try:
            answer = self.function.run(self._arguments(self._program_inputs(script, run.trace)), eps, run)
        except Inconclusive:
            return None
        except Exception as error:
            expected = error
        else:
            expected = _normal(answer)
        count, difference = self._difference(run, eps, expected, frozenset())
        if difference is None:
            return run
        if self.function.may_skip:
            # Python may skip draws whose result it does not need: at least `extra`, and at most two more are tried.
            extra = max(1, count - len(run.drawn))
            sets = (chosen for size in range(extra, extra + 3) for chosen in combinations(range(count + size), size))
            for chosen in islice(sets, _MOST_ALIGNMENTS):
                if self._difference(run, eps, expected, frozenset(chosen))[1] is None:
                    return run
        raise self._defect(run, eps, difference)

    def _difference(
        self, run: _PythonRun, eps: Fraction, expected: object, left_out: frozenset[int]
    ) -> tuple[int, str | None]:
        """Run the program with Python's draws; return (the number of its draws, the difference from Python).

        The difference is a text, or None if Python and the program agree. `run` is the run of Python at `eps`, and
        `expected` its answer, or the exception that it raised. The program's draws with the indices in `left_out` are
        not taken from Python.
        """
        draws = _ProgramDraws(run, eps, self._weights, left_out)
        try:
            outputs = self._scripted.run(self._program_inputs(run.script, run.trace), draws)
        except (ProgramFault, Undecided):
            return draws.count, None  # what goes wrong on a path, or is past a limit, has no verdict
        except Mismatch as mismatch:
            return draws.count, str(mismatch)
        empty = [name for name, value in outputs.items() if value is None]
        if empty:
            return draws.count, f"the program leaves {listing(empty)} without a value"
        found = _normal(python_answer(self.accepted, outputs, self.program.core.constants))
        if isinstance(expected, Exception):
            return draws.count, f"Python raises {type(expected).__name__}: {expected}; the program gives {_text(found)}"
        if not _alike(expected, found):
            return draws.count, f"Python gives {_text(expected)}, the program gives {_text(found)}"
        return draws.count, None

    def _defect(self, run: _PythonRun, eps: Fraction, difference: str) -> DefectError:
        inputs = zip(self._slots, run.script.inputs, strict=True)
        where = [*(f"{slot.name} = {show_value(value)}" for slot, value in inputs), f"eps = {eps}"]
        if run.drawn:
            draws = [str(each.value) if isinstance(each, NoiseDrawn) else f"arm {each.place + 1}" for each in run.drawn]
            where.append(f"draws {', '.join(draws)}")
        module = self.accepted.module
        notes = (
            "this is a defect of dipc, not of your function, and no verdict was given",
            "please report it, with the function, its helpers and its constants",
        )
        message = f"{difference}, at {', '.join(where)}: dipc reads this function wrongly"
        excerpt = module.source.excerpt(module.head(self.node))
        return DefectError(Diagnostic(READ_WRONGLY, message, excerpt, "", notes))

    # --- further scripts --------------------------------------------------------------------------

    def _further(self, run: _PythonRun, met: set[object]) -> Iterator[tuple[Script, bool]]:
        """Yield (script, whether it is new) for scripts that differ from that of `run` in one choice or one comparison.

        In a yielded script another option is chosen, or the two sides of a comparison become equal or change their
        order. It is new if no other script with this change was yielded before. `met` has a key of each change so far,
        and is extended.
        """
        taken: list[Fraction | int] = [each.value if isinstance(each, NoiseDrawn) else each.place for each in run.drawn]
        script = run.script
        finite = tuple(
            [value for slot, value in zip(self._slots, script.inputs, strict=True) if _values(slot) is not None]
        )
        for number, each in enumerate(run.drawn):
            if isinstance(each, NoiseDrawn):
                continue
            for place in range(len(each.numbers)):
                if place != each.place:
                    arm = number, place, finite
                    yield Script(script.inputs, (*taken[:number], place), script.later), arm not in met
                    met.add(arm)
        for difference, gradient in run.trace:
            side = (difference > 0) - (difference < 0)
            # Integers are hashed in less time than fractions.
            form = tuple([(variable, *c.as_integer_ratio()) for variable, c in sorted(gradient.items())])
            key = form, side, len(taken), finite
            is_new = key not in met
            met.add(key)
            # Last draws first, then inputs.
            for variable in sorted(gradient, key=lambda variable: (variable[0] != "draw", -variable[1])):
                moved = False
                steps = _STEPS if script.later % 2 else _STEPS[::-1]
                step = steps[variable[1] % len(steps)]
                for target in (0, step, -step):
                    if side == (target > 0) - (target < 0):
                        continue
                    new = self._moved_script(run, taken, variable, (target - difference) / gradient[variable])
                    if new is not None:
                        moved = True
                        yield new, is_new
                if moved:
                    break

    def _moved_script(
        self, run: _PythonRun, taken: Sequence[Fraction | int], variable: Variable, by: Fraction
    ) -> Script | None:
        kind, place = variable
        inputs, draws = list(run.script.inputs), list(taken)
        if kind == "draw":
            event = run.drawn[place]
            assert isinstance(event, NoiseDrawn)
            law = event.law
            value = event.value + by
            if law.whole and value.denominator != 1:
                value = Fraction(value.__floor__() if by < 0 else value.__ceil__())
            if (law.least is not None and value < law.least) or (law.greatest is not None and value > law.greatest):
                return None
            draws[place] = value
            return Script(tuple(inputs), tuple(draws), run.script.later)
        slot, old = self._slots[place], inputs[place]
        assert isinstance(old, Fraction)
        value = old + by
        domain = _values(slot)
        if domain is not None:
            value = min((each for each in domain if isinstance(each, Fraction)), key=lambda each: abs(each - value))
            if value == old:
                return None
        elif slot.type is BaseType.INT and value.denominator != 1:
            value = Fraction(value.__floor__() if by < 0 else value.__ceil__())
        inputs[place] = value
        return Script(tuple(inputs), tuple(draws), run.script.later)


def _scattered(turn: int, place: int) -> int:
    return (turn * 7919 + place * 104729 + turn * place * 31 + turn * turn * 17) % 9973


def _values(slot: Slot) -> tuple[Value, ...] | None:
    match slot.type:
        case BaseType.BOOL:
            return (False, True)
        case DomType(values=values):
            return values
    return None


# --- answers ------------------------------------------------------------------------------------------------


def _normal(answer: object) -> object:
    """Return `answer` with every number as a Fraction, so that equal numbers of different types become equal."""
    match answer:
        case bool() | str() | None:
            return answer
        case int() | Fraction():
            return Fraction(answer.numerator, answer.denominator)
        case list():
            return [_normal(each) for each in answer]
        case tuple():
            return tuple(map(_normal, answer))
    return answer


def _alike(one: object, two: object) -> bool:
    """True if `one` and `two` are equal and have equal types.

    An enclosure of a real number is equal to every number inside.
    """
    if isinstance(one, list | tuple):
        return type(one) is type(two) and len(one) == len(two) and all(map(_alike, one, two))
    if isinstance(one, RealBall):
        return isinstance(two, Fraction) and one.may_equal(two)
    return type(one) is type(two) and one == two


def _text(answer: object) -> str:
    match answer:
        case Fraction():
            return str(answer)
        case list():
            return f"[{', '.join(map(_text, answer))}]"
        case tuple():
            return f"({', '.join(map(_text, answer))}{',' if len(answer) == 1 else ''})"
    return repr(answer)


def _shown(number: Any) -> str:
    return number.text if isinstance(number, RealBall) else str(number)

"""That the classes of a certificate about every real input are all inputs, and that their bounds are the program's.

    found = Coverage(machine, ideal, budget).check(classes)      what is left on trust, in words

The paths of the ideal block are all inputs, and each has to be one that some class is right about: its half-spaces hold
there as far as they say, and the bound is that of the program, which is executed with real inputs left open. What the
certificate says about slacks, added up before, is used for the program's own exits, and the sum compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dipc.verifier.budget import Budget
from dipc.verifier.classes import Halfspace, Required, Slack, SlackBound, slack_key
from dipc.verifier.constraints import Constraints, NoiseHalfspace
from dipc.verifier.events import Family
from dipc.verifier.execution import Affine, Execution, Held, Shape, Wanted, plus, scaled
from dipc.verifier.ideal import Ideal, Path
from dipc.verifier.linear import Guard, Row, implied, least
from dipc.verifier.probability import Probabilities
from dipc.verifier.program import Machine, Value
from dipc.verifier.rejection import NotDerived, Rejected
from dipc.verifier.ring import ONE, Closed, add_closed, equal_closed, subtract
from dipc.verifier.visits import visits

_ZERO, _ONE = Fraction(0), Fraction(1)

_STEP = "classes"


@dataclass(frozen=True, slots=True)
class Shown:
    """What a certificate has shown of one class, whichever inputs it is about. `answer` are its outputs as text.

    `value` is the bound: a sum over ways to the answer, or where `subtracted` 1 less one over the ways to all others;
    None where the class is empty. `slacks` are bounds of forms of inputs (of their negatives where `subtracted`).
    """

    number: int
    answer: Mapping[str, str]
    halfspaces: Sequence[Halfspace]
    wanted: Required | None = None
    dd: str | None = None
    value: Closed | None = None
    subtracted: bool = False
    slacks: Mapping[Slack, SlackBound] = field(default_factory=dict)


# --- the program with real inputs left open -----------------------------------------------------------


def _input(slot: int) -> int:
    """The number under which an input stands among noises, which have theirs from 0 on; -1 is taken."""
    return -2 - slot


class _Open(Execution):
    """Real inputs are unknown numbers. A Laplace noise stands for itself and the inputs in the mean around which it is
    drawn first, `shifts`: differences of what is drawn are then differences of two.

    What is implied or excluded is so for each input, since every half-space has a noise in it.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.shifts: dict[int, Affine | None] = {}
        self._shape = Shape.of(self.machine, self.machine.numbered("output"), self.budget)

    def _drawn(self, at: int, family: Family, center: Fraction | Affine) -> Fraction | Affine:
        if family is Family.LAPLACE:
            terms = center.terms if isinstance(center, Affine) else ()
            moving = tuple((i, c) for i, c in terms if i < 0)
            shift = self.shifts.setdefault(at, Affine(_ZERO, moving) if moving else None)
            if shift is not None:
                center = plus(center, scaled(shift, -_ONE))
        return super()._drawn(at, family, center)

    def _compared(self, op: str, difference: Fraction | Affine, known: Constraints) -> bool:
        if isinstance(difference, Affine) and all(i < 0 for i, _ in difference.terms):
            raise NotDerived("the program compares inputs without noise")
        return super()._compared(op, difference, known)

    def _whole(self, value: Affine) -> bool:
        noises = tuple((i, c) for i, c in value.terms if i >= 0)
        whole = bool(noises) and super()._whole(Affine(value.constant, noises))
        if whole and len(noises) < len(value.terms):
            raise NotDerived("int and real meet")
        return whole

    def outputs(self, state: int) -> list[Held]:
        """What the outputs hold in a state, in their order."""
        return [self._states[state].values[slot] for slot in self.machine.numbered("output")]

    def centered(self, form: Iterable[tuple[int, Fraction | int]]) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
        """The coefficients of centered noises, and those of inputs by slot."""
        noises: dict[int, Fraction] = {}
        inputs: dict[int, Fraction] = {}
        for i, c in form:
            shift = self.shifts.get(i)
            if i >= 0:
                noises[i] = Fraction(c)
            for j, b in ((i, _ONE),) if i < 0 else () if shift is None else shift.terms:
                inputs[_input(j)] = inputs.get(_input(j), _ZERO) + b * c
        return noises, {slot: c for slot, c in inputs.items() if c}


@dataclass(frozen=True, slots=True)
class _Bound:
    """Σ noises + inputs + constant + radius·gamma >= 0."""

    noises: Mapping[int, Fraction]
    inputs: Mapping[int, Fraction]
    constant: Fraction
    radius: int
    whole: bool


@dataclass(frozen=True, slots=True)
class _Way:
    """An exit: its weight, and what has to hold for it to be taken with an answer near enough."""

    weight: Closed
    bounds: tuple[_Bound, ...]


# --- classes and paths --------------------------------------------------------------------------------


@dataclass
class Coverage:
    """Compares classes with one program. Paths and exits are found once."""

    machine: Machine
    ideal: Ideal
    budget: Budget
    _probabilities: Probabilities = field(init=False)
    _runs: dict[object, tuple[_Open, Mapping[int, Closed]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._probabilities = Probabilities(self.machine)

    def check(self, classes: Sequence[Shown], *, everything: bool) -> tuple[str, ...]:
        """What is left on trust: each class must be that of some path of the ideal, and where `everything` is claimed,
        each path must have a class."""
        used: set[int] = set()
        missing = 0
        why = ""
        try:
            self._require_plain()
            for finite in self.ideal.combinations():
                for path in self.ideal.paths(finite):
                    found = [shown for shown in classes if self._answers(shown, path)]
                    for shown in found:
                        try:
                            right = self._is_about(shown, finite, path)
                        except NotDerived as error:
                            why, right = error.why, False
                        if right:
                            used.add(shown.number)
                            break
                    else:
                        missing += 1
        except (NotDerived, Rejected) as error:
            # It is the derivation that took too much, not the certificate.
            return (f"that the classes are all real inputs, with the program's bounds: {error.why}",)
        except RecursionError:
            return ("that the classes are all real inputs, with the program's bounds: it is nested too deeply",)
        because = f": {why}" if why else ""
        trusted: list[str] = []
        if everything and missing:
            trusted.append(f"that each input is in a class with the program's bound, of {missing} paths{because}")
        unused = sum(shown.number not in used for shown in classes)
        if unused:
            trusted.append(f"that {unused} of {len(classes)} classes have the program's bounds{because}")
        return tuple(trusted)

    def _require_plain(self) -> None:
        if not self._probabilities.is_plain():
            raise NotDerived("its `metric` block has another distance of outputs")
        types = [self.machine.slots[slot].type for slot in range(len(self.machine.slots))]
        for slot in (*self.machine.numbered("input"), *self.machine.numbered("output")):
            if types[slot] == "int":
                raise NotDerived("it has whole inputs or outputs")

    def _answers(self, shown: Shown, path: Path) -> bool:
        """Whether a class has the finite outputs of a path."""
        outputs = [self.machine.slots[slot] for slot in self.machine.numbered("output")]
        if set(shown.answer) != {slot.name for slot in outputs}:
            return False
        return all(
            slot.type == "real" or shown.answer[slot.name] == _text(value)
            for slot, value in zip(outputs, path.answer, strict=True)
        )

    def _is_about(self, shown: Shown, finite: tuple[Value, ...], path: Path) -> bool:
        """Whether all that the class says is so for the inputs of the path. Raises NotDerived."""
        guards = tuple(self._moved(guard) for guard in path.guards)
        if not all(self._behind(half, guards, finite, path) for half in shown.halfspaces):
            return False
        if shown.value is None:
            return True
        assert shown.wanted is not None, "it comes with the bound"
        if shown.dd is not None and not (shown.dd == "inf" and self._one_answer()):
            raise NotDerived("a dd that all inputs of a class have")
        if not shown.value[0] and not shown.subtracted:
            return True  # no probability is less than 0
        bound = self._bound(shown, shown.wanted, finite, path)
        return equal_closed(bound, shown.value, self.budget, _STEP)

    # --- half-spaces ----------------------------------------------------------------------------------

    def _behind(self, half: Halfspace, guards: Sequence[Guard], finite: tuple[Value, ...], path: Path) -> bool:
        """Whether form(u) >= alpha·step for each input u of the path with dd(u) >= alpha.

        With u in the path form(u) >= 0. If it were less than alpha·step, one would get across on a straight way of a
        length less than alpha, and a little further; there the answer is the same, in another path, which is either
        on this side altogether or begins only some way behind.
        """
        form = {slot: c for slot, c in half.form.items() if c}
        if not implied(guards, form, half.constant, self.budget, _STEP):
            return False
        if not half.step:
            return True
        if not form or self.ideal.norm == "discrete":
            return False
        sizes = [abs(c) for c in form.values()]
        width = sum(sizes, _ZERO) if self.ideal.norm == "linf" else max(sizes)
        if half.step > width:
            return False
        steepest = sorted(form) if self.ideal.norm == "linf" else [max(sorted(form), key=lambda slot: abs(form[slot]))]
        direction = {slot: Fraction(1 if form[slot] > 0 else -1) for slot in steepest}
        for other in self.ideal.paths(finite):
            if other is path or not _may_agree(path, other):
                continue
            theirs = tuple(self._moved(guard) for guard in other.guards)
            inside = implied(theirs, form, half.constant, self.budget, _STEP)
            if not inside and not self._is_beyond(form, half.constant, width, direction, guards, theirs):
                return False
        return True

    def _is_beyond(
        self,
        form: Mapping[int, Fraction],
        constant: Fraction,
        width: Fraction,
        direction: Mapping[int, Fraction],
        guards: Sequence[Guard],
        others: Sequence[Guard],
    ) -> bool:
        """Whether the other path is met only at some distance behind the facet, from whichever input of the path."""
        further = -1  # how far behind it: a variable that is no input
        rows: list[Row] = [({further: _ONE}, _ZERO)]
        rows += [(dict(guard.form), guard.constant) for guard in guards]
        for guard in others:
            # At u - (form(u)/width + further)·direction.
            rise = sum((c * direction.get(slot, _ZERO) for slot, c in guard.form), _ZERO)
            row = dict(guard.form)
            for slot, c in form.items():
                row[slot] = row.get(slot, _ZERO) - c * rise / width
            rows.append(({**row, further: -rise}, guard.constant - constant * rise / width))
        # Bounded by 0, so None says that they do not hold together.
        found = least({further: _ONE}, rows, self.budget, _STEP)
        return found is None or found > 0

    def _moved(self, guard: Guard) -> Guard:
        """A guard of the ideal over the inputs' slots in the program."""
        places = dict(zip(self.ideal.machine.numbered("input"), self.machine.numbered("input"), strict=True))
        return Guard(tuple((places[slot], c) for slot, c in guard.form), guard.constant, guard.strict)

    def _one_answer(self) -> bool:
        """Whether det has the same answer everywhere, a number and no function of the inputs."""
        answers = {
            tuple((type(value), value) for value in path.answer)
            for finite in self.ideal.combinations()
            for path in self.ideal.paths(finite)
        }
        return len(answers) == 1 and not any(isinstance(value, Affine) for answer in answers for _, value in answer)

    # --- bounds ---------------------------------------------------------------------------------------

    def _bound(self, shown: Shown, wanted: Required, finite: tuple[Value, ...], path: Path) -> Closed:
        """The least that the slacks' bounds leave of the probability of the answer, for all inputs of the path that the
        class is about."""
        run, weights = self._run(finite, path, others=shown.subtracted)
        total: Closed = {}, ONE
        for way in self._ways(run, weights, path, others=shown.subtracted):
            known = _at_bounds(way, shown, wanted, self.budget)
            if known is None:
                continue
            if wanted.is_open and not all(part.keys() <= {(0, _ZERO)} for part in way.weight):
                raise NotDerived("the weight of a choice depends on eps alone")
            part = self._probabilities.weighted(way.weight, known, run.laws, self.budget)
            total = add_closed(total, part, self.budget, _STEP)
        return (subtract(total[1], total[0]), total[1]) if shown.subtracted else total

    def _run(self, finite: tuple[Value, ...], path: Path, *, others: bool) -> tuple[_Open, Mapping[int, Closed]]:
        """All exits with the answer's finite outputs, or all exits at all, and the weights of their states."""
        slots = self.machine.slots
        answer = {
            slot: value
            for slot, value in zip(self.machine.numbered("output"), path.answer, strict=True)
            if slots[slot].type != "real" and not isinstance(value, Affine)
        }
        key = (tuple((type(value), value) for value in finite), () if others else tuple(answer.items()))
        if key not in self._runs:
            left = iter(finite)
            inputs: dict[int, Held] = {
                slot: Affine(_ZERO, ((_input(slot), _ONE),)) if slots[slot].type == "real" else next(left)
                for slot in self.machine.numbered("input")
            }
            run = _Open(self.machine, Wanted({} if others else answer, _ZERO), self.budget)
            run.explore(inputs)
            self._runs[key] = run, visits(run.steps, (end.state for end in run.ends), self.budget)
        return self._runs[key]

    def _ways(self, run: _Open, weights: Mapping[int, Closed], path: Path, *, others: bool) -> Iterator[_Way]:
        """The exits with the answer of the path, numbers near to it, or those with `others`."""
        places = dict(zip(self.ideal.machine.numbered("input"), self.machine.numbered("input"), strict=True))
        for end in run.ends:
            bounds: list[_Bound] = []
            same = True
            for held, exact in zip(run.outputs(end.state), path.answer, strict=True):
                if held is None:
                    raise NotDerived("an output may end without a value")
                if isinstance(held, bool | str) or isinstance(exact, bool | str):
                    same = same and held == exact and type(held) is type(exact)
                    continue
                center = exact
                if isinstance(exact, Affine):
                    center = Affine(exact.constant, tuple((_input(places[i]), c) for i, c in exact.terms))
                gap = plus(held, scaled(center, -_ONE))
                numbers = not isinstance(gap, Affine)
                if others:
                    if not numbers:
                        raise NotDerived("other answers are told apart by outputs that are no numbers")
                    same = same and not gap
                elif gap:
                    bounds += self._ball(run, gap)
            if same is others:
                continue
            for row in end.known.rows.values():
                noises, inputs = run.centered(row.form)
                bounds.append(_Bound(noises, inputs, Fraction(row.constant), 0, row.whole))
            yield _Way(weights[end.state], tuple(bounds))

    def _ball(self, run: _Open, gap: Fraction | Affine) -> Iterator[_Bound]:
        """That an output is off by at most gamma."""
        for side in (_ONE, -_ONE):
            found = scaled(gap, side)
            terms, constant = (found.terms, found.constant) if isinstance(found, Affine) else ((), found)
            noises, inputs = run.centered(terms)
            yield _Bound(noises, inputs, constant, 1, whole=False)


def _at_bounds(way: _Way, shown: Shown, wanted: Required, budget: Budget) -> Constraints | None:
    """What has to hold of the noises of a way at the bounds of its slacks. Lower ones: None where one is not known, or
    not great enough. Upper ones, for other answers: what has none is left out."""
    side = -1 if shown.subtracted else 1
    known = Constraints({})
    for bound in way.bounds:
        found = _slack_bound(bound, side, shown, wanted)
        if found is None or (wanted.is_open and found.base < 0):
            if shown.subtracted:
                continue
            return None
        if wanted.is_open and bound.whole:
            raise NotDerived("a noise does not scale with the distance")
        constant = side * (found.slope if wanted.is_open else found.base)
        if not bound.noises:
            if found.base < 0 or found.slope < 0:
                return None
            continue
        row = NoiseHalfspace.of(bound.noises, constant, bound.whole)
        if known.excludes(row, budget):
            return None
        if not known.implies(row, budget):
            known = known & row
    return known


def _slack_bound(bound: _Bound, side: int, shown: Shown, wanted: Required) -> SlackBound | None:
    """A lower bound of side·slack; None where none is known."""
    if not bound.inputs:
        base = side * bound.constant + bound.radius * wanted.gamma[0]
        return SlackBound(base, bound.radius * wanted.gamma[1])
    form = {slot: side * c for slot, c in bound.inputs.items()}
    keyed = slack_key(form, side * bound.constant, bound.radius)
    assert keyed is not None, "an input is in it"
    found = shown.slacks.get(keyed[0])
    return None if found is None else SlackBound(found.base * keyed[1], found.slope * keyed[1])


def _may_agree(path: Path, other: Path) -> bool:
    """Whether two paths may give the same answer: what depends on inputs may be anything."""
    return all(
        isinstance(one, Affine) or isinstance(two, Affine) or (type(one) is type(two) and one == two)
        for one, two in zip(path.answer, other.answer, strict=True)
    )


def _text(value: Value | Affine) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

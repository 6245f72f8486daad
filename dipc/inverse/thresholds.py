"""Claims that are monotone in a constant that noise is compared with: a threshold.

**Lemma (accuracy).** *Take the constant T for one more real input. If the constraints of all exits that give the
answers det(u), over centered noises, have coefficients of T that are not negative, then for each input Pr[answer] never
falls as T grows; neither if those of all exits that give others are not positive.* Events only grow with their slacks,
exits exclude each other, weights of choices do not depend on T, and the answer and what is claimed of it do not. ∎

**Lemma (privacy).** *Of finitely many inputs with finite outputs let, for all adjacent u, u' and each output o, Pr[o;
u] not grow with T and Pr[o; u'] not fall, or Pr[o; u'] = 1. Then the least delta never grows with T.* It is the
greatest of the sums of max(0, Pr[o; u] - e^budget·Pr[o; u']), each of which does not grow, or is 0. ∎

With all signs reversed they fall. So a claim of which this is known holds from some T on, or up to some T.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

from dipc.algebra.limits import LimitReached, Undecided
from dipc.chain.chain import ExitState
from dipc.chain.constraints import Affine, centered, finite_values
from dipc.chain.state import is_symbolic
from dipc.claims.given import value_of
from dipc.claims.table import TableGiven
from dipc.inverse.question import asked
from dipc.options import Options
from dipc.program.exits import exits
from dipc.program.ideal import Ideal
from dipc.program.nearness import Nearness
from dipc.program.program import Program, load_source
from dipc.questions.privacy.adjacency import Pairs, parse_adjacency, read_pairs
from dipc.text.ast import BaseType, BaseTypeExpr, ConstDecl, Declarator, Name, Role, VariableDecl, walk
from dipc.text.ast import Program as Tree
from dipc.text.core import Value
from dipc.text.diagnostic import DiagnosticError, Source
from dipc.text.parser import parse
from dipc.text.printer import print_program

#: Combinations of finite inputs that are looked at.
_MOST = 1000

#: The outputs of an exit, in their order, `_NOISE` for one that is continuous; None for one that is not assigned, and
#: of those that are wanted for one that may be anything.
_Output = tuple[object, ...]
_NOISE = "noise"

#: Finite inputs, in their order, with the outputs that are wanted.
_Wanted = tuple[tuple[Value, ...], _Output]

#: All exits for some inputs, with the sign with which T moves their slacks; None: some up, some down.
_Exits = Sequence[tuple[_Output, int | None]]


def is_threshold(program: Program, table: TableGiven | None, name: str, options: Options) -> bool:
    """Whether one of the lemmas is about a constant of the program, and the claim, with `adjacent` that about privacy.

    Where nothing is known of it, it is said not to be."""
    tree = parse(program.core.source)
    if (
        _times(tree.body, name) != _times(tree, name)
        or options.error is not None
        or options.mention(name)
        or (tree.ideal is not None and tree.ideal.noiseless)
    ):
        return False
    inputs = [program.core.slots[slot] for slot in program.core.inputs]
    try:
        opened = _Opened(program, tree, name)
        if options.adjacent is None:
            wanted = _towards(program, table, name, options)
            return wanted is not None and opened.is_monotone(wanted)
        pairs = read_pairs(program, parse_adjacency(options.adjacent, program.core), options.inputs, program.limits)
        return (
            isinstance(pairs, Pairs) and all(not is_symbolic(slot.type) for slot in inputs) and opened.is_private(pairs)
        )
    except (DiagnosticError, Undecided):
        return False


def _times(tree: object, name: str) -> int:
    """How often the constant is mentioned."""
    return sum(isinstance(node, Name) and node.name == name for node in walk(tree))


def _towards(program: Program, table: TableGiven | None, name: str, options: Options) -> list[_Wanted] | None:
    """Finite inputs with the answers that the claim is about; None where answers are near otherwise than by gamma, rows
    have claims of their own about the constant of this name, or another one is left open. Raises Undecided,
    DiagnosticError."""
    question = asked(program, table, options)
    core = program.core
    if question.parameter is not None or not Nearness(core).plain:
        return None
    inputs = [place for place, slot in enumerate(core.inputs) if not is_symbolic(core.slots[slot].type)]

    def wanted(values: Sequence[object]) -> _Output:
        return tuple(
            [
                None if is_symbolic(core.slots[slot].type) else value
                for slot, value in zip(core.outputs, values, strict=True)
            ]
        )

    if question.table is not None:
        own = [cell for row in question.table.rows for cell in (row.alpha, row.beta, row.gamma) if cell is not None]
        if any(re.search(rf"\b{name}\b", cell.text) for cell in own):
            return None
        return [
            (
                tuple([value_of(row.inputs[place]) for place in inputs]),
                wanted([None if cell is None else cell.value for cell in row.outputs]),
            )
            for row in question.table.rows
        ]
    ideal = Ideal(program)
    return [
        (tuple(finite.values()), wanted(region.answer))
        for finite in _combinations(program)
        for region in ideal.regions(finite)
    ]


def _combinations(program: Program) -> Iterator[Mapping[int, Value]]:
    """All values of the finite inputs, by slot. Raises LimitReached."""
    core = program.core
    slots = [slot for slot in core.inputs if not is_symbolic(core.slots[slot].type)]
    for number, values in enumerate(product(*[finite_values(core.slots[slot]) for slot in slots])):
        if number >= _MOST:
            raise LimitReached(None, f"the finite inputs have more than {_MOST} combinations")
        yield dict(zip(slots, values, strict=True))


class _Opened:
    """A program with one of its constants for an input."""

    def __init__(self, program: Program, tree: Tree, name: str) -> None:
        """Raises DiagnosticError where the constant is needed as such, Undecided past a limit."""
        declarations = [
            replace(each, bindings=tuple([(bound, value) for bound, value in each.bindings if bound != name]))
            if isinstance(each, ConstDecl)
            else each
            for each in tree.declarations
            if not (isinstance(each, ConstDecl) and [bound for bound, _ in each.bindings] == [name])
        ]
        declarations.append(
            VariableDecl(Role.INPUT, (Declarator(name, None, None),), BaseTypeExpr(BaseType.REAL), None)
        )
        text = print_program(replace(tree, declarations=tuple(declarations)))
        given = {each: value for each, value in program.core.given.items() if each != name}
        core = load_source(Source("<a constant as an input>", text), given, program.core.asked_eps).core
        self._program = Program(core, program.limits)
        self._slot = next(slot for slot in core.inputs if core.slots[slot].name == name)
        self._known: dict[tuple[Value, ...], _Exits] = {}

    def _exits(self, inputs: Sequence[Value]) -> _Exits:
        """Those for finite inputs. Raises Undecided."""
        key = tuple(inputs)
        if key not in self._known:
            core = self._program.core
            slots = [slot for slot in core.inputs if not is_symbolic(core.slots[slot].type)]
            given = dict(zip(slots, key, strict=True))
            found = exits(self._program.flow, self._program.choices, self._program.limits, given, None, core.outputs)
            self._known[key] = [(self._output(state), self._sign(state)) for state in found.states]
        return self._known[key]

    def _output(self, state: ExitState) -> _Output:
        every = [state.outputs[slot] for slot in self._program.core.outputs]
        return tuple([_NOISE if isinstance(value, Affine) and value.noises else value for value in every])

    def _sign(self, state: ExitState) -> int | None:
        means = {noise.id: noise.mean for noise in state.noises}

        def moved(form: Affine) -> Fraction:
            return dict(centered(form, means).inputs).get(self._slot, Fraction(0))

        if any(isinstance(value, Affine) and moved(value) for value in state.outputs.values()):
            return None
        moves = [moved(item.form) for item in (*state.constraints.items, *state.guards.items)]
        signs = {(move > 0) - (move < 0) for move in moves if move}
        return None if len(signs) > 1 else next(iter(signs), 0)

    def is_monotone(self, wanted: Iterable[_Wanted]) -> bool:
        """Whether the probabilities of these outputs all grow with T, or all fall, or stay."""
        known = [(self._exits(inputs), outputs) for inputs, outputs in wanted]
        return any(
            all(_goes(each, sign, outputs) or _goes(each, -sign, outputs, others=True) for each, outputs in known)
            for sign in (1, -1)
        )

    def is_private(self, pairs: Pairs) -> bool:
        """Whether the lemma about privacy is about these pairs. Raises Undecided."""
        known = [self._exits(each) for each in pairs.inputs]
        return any(all(_excess_goes(known[i], known[j], sign) for i, j in pairs.ordered) for sign in (1, -1))


def _excess_goes(one: _Exits, other: _Exits, sign: int) -> bool:
    """Whether no max(0, Pr[o; u] - e^budget·Pr[o; u']) moves against that direction with T."""
    return all(
        (_goes(one, sign, output) and _goes(other, -sign, output)) or all(_fits(given, output) for given, _ in other)
        for output in dict.fromkeys(output for output, _ in one)
    )


def _goes(exits: _Exits, sign: int, outputs: _Output, *, others: bool = False) -> bool:
    """Whether T moves all slacks of the exits to these outputs, or to `others`, in that direction, or none."""
    return all(moved in (0, sign) for given, moved in exits if _fits(given, outputs) is not others)


def _fits(given: _Output, wanted: _Output) -> bool:
    return all(value is None or value == other for other, value in zip(given, wanted, strict=True))

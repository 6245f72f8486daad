"""Programs that do the same for each of m queries, as the machine of a single iteration.

    found = Iterations.of(tree, "m", constants, budget)           raises NotDerived

The text has one loop `for i in low..m`, outside of all others, and m stands nowhere else but as the last index of
arrays and the greatest value of domains. Arrays that end at m are used in the loop alone, with the index i alone. So
the iterations are the same but for the elements that are their own, and no iteration can use those of another: an
element is a scalar variable that is as it was declared when its iteration begins, and never touched afterwards. The
machine has such a scalar for each of these arrays, and a loop without an end in place of the one up to m:

    before;  head: (one iteration; back to head);  after;  end

The values of domains that end at m are those for the number given; for every greater one there are more. Inputs have
none of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

from dipc.verifier.budget import Budget
from dipc.verifier.execution import Shape
from dipc.verifier.ideal import Ideal
from dipc.verifier.program import Branch, Machine, Value
from dipc.verifier.rejection import NotDerived
from dipc.verifier.syntax import (
    Apply,
    Block,
    Constants,
    Domains,
    Element,
    Field,
    For,
    Literal,
    Name,
    Named,
    Program,
    Range,
    Variables,
    While,
)


@dataclass(frozen=True)
class Side:
    """The program, or its ideal: a run begins at instruction 0, an iteration behind `head`, what follows the loop at
    `end`; `carried` are the slots whose values an iteration may still read from those before it."""

    machine: Machine
    head: int
    end: int
    carried: tuple[int, ...]


@dataclass(frozen=True)
class Iterations:
    """A program and its ideal, by iteration. The loop begins with the index `low`; `elements` are the names of the
    scalars that stand for elements, and `norm` is that of the distance of inputs."""

    own: Side
    ideal: Side
    low: int
    elements: frozenset[str]
    norm: str

    @staticmethod
    def of(tree: Program, parameter: str, constants: Mapping[str, Fraction], budget: Budget) -> Iterations:
        """The program with these constants, of which the parameter is one. Raises NotDerived with what is otherwise
        than the module says."""
        if tree.ideal is None:
            raise NotDerived("the program has no `ideal`")
        arrays = parameter_arrays(tree, parameter)
        loop, other = (_loop(body, parameter, arrays) for body in (tree.body, tree.ideal.body))
        low = first_index(loop)
        if first_index(other) != low:
            raise NotDerived("the loops of the program and of its `ideal` begin with different indices")
        if any(first > low for first in arrays.values()):
            raise NotDerived("the loop begins before an array")
        for declared in tree.declarations:
            if isinstance(declared, Variables) and declared.role == "output" and declared.initial is None:
                for name, _ in declared.names:
                    if arrays.get(name, low) < low:
                        raise NotDerived("an output may end without a value")
        shared = tuple(item for item in tree.declarations if not isinstance(item, Variables) or item.role != "var")
        metric = tuple(_condition(found, parameter, loop, arrays) for found in tree.metric)
        norm = next(
            (found.value.name for found in metric if found.name == "input" and isinstance(found.value, Name)), "linf"
        )
        if norm not in ("linf", "l1"):
            raise NotDerived("the distance of inputs of its `metric` block is none that is known for every number")
        own = replace(tree, body=_open_end(tree.body, loop, arrays), metric=())
        ideal = replace(
            tree,
            declarations=(*shared, *tree.ideal.variables),
            body=_open_end(tree.ideal.body, other, arrays),
            metric=metric,
        )
        elements = frozenset(arrays)
        sides = [_side(_scalars(side, arrays), constants, elements, budget) for side in (own, ideal)]
        return Iterations(sides[0], sides[1], low, elements, norm)

    def distances(self, budget: Budget) -> Ideal:
        """The ideal's machine, for what is said of distances of inputs; its paths are not those of the program."""
        return Ideal(self.ideal.machine, self.norm, budget)

    def combinations(self, budget: Budget) -> Iterable[Sequence[tuple[Value, ...]]]:
        """All values of the finite inputs, together those that are alike but for the elements."""
        slots = self.ideal.machine.slots
        finite = [slots[slot] for slot in self.ideal.machine.numbered("input") if slots[slot].type != "real"]
        found: dict[tuple[tuple[type, Value], ...], list[tuple[Value, ...]]] = {}
        for values in self.distances(budget).combinations():
            shared = (value for slot, value in zip(finite, values, strict=True) if slot.name not in self.elements)
            found.setdefault(tuple((type(value), value) for value in shared), []).append(values)
        return found.values()


def alone(
    tree: Program, parameter: str, constants: Mapping[str, Fraction], budget: Budget
) -> tuple[Side, int, frozenset[str]]:
    """The program without its ideal, the first index of its loop, and the names of elements. Raises NotDerived."""
    bare = replace(tree, ideal=None, metric=())
    arrays = parameter_arrays(bare, parameter)
    loop = _loop(tree.body, parameter, arrays)
    low = first_index(loop)
    if any(first > low for first in arrays.values()):
        raise NotDerived("the loop begins before an array")
    program = _scalars(replace(bare, body=_open_end(tree.body, loop, arrays)), arrays)
    side = _side(program, constants, frozenset(arrays), budget)
    if any(slot.role == "input" and slot.type != "real" for slot in side.machine.slots):
        raise NotDerived("an input is not real")
    return side, low, frozenset(arrays)


def _side(program: Program, constants: Mapping[str, Fraction], elements: frozenset[str], budget: Budget) -> Side:
    machine = Machine.of(program, constants, budget)
    for slot in machine.slots:
        if slot.type == "int":
            raise NotDerived("it has whole variables")
    ((head, end),) = machine.loops
    assert isinstance(machine.code[head], Branch)
    live = Shape.of(machine, machine.numbered("output"), budget).live[head]
    carried = tuple(
        at
        for at, slot in enumerate(machine.slots)
        if live >> at & 1 and slot.role != "input" and slot.name not in elements
    )
    return Side(machine, head, end, carried)


# --- the text -----------------------------------------------------------------------------------------


def nodes(tree: object) -> Iterator[Any]:
    """Everything that a part of a program consists of."""
    waiting = [tree]
    while waiting:
        found = waiting.pop()
        if isinstance(found, tuple):
            waiting += found
        elif is_dataclass(found):
            yield found
            waiting += [getattr(found, part.name) for part in fields(found)]


def names(tree: object) -> Iterator[str]:
    """The names of values that stand in it, as often as they do; those of arrays are among them."""
    return (found.name for found in nodes(tree) if isinstance(found, Name | Element))


def first_index(loop: For) -> int:
    """The first index of a loop. Raises NotDerived where it is no number."""
    match loop.low:
        case Literal(Fraction(denominator=1, numerator=low)):
            return low
        case Apply("neg", (Literal(Fraction(denominator=1, numerator=low)),)):
            return -low
        case _:
            raise NotDerived("the loop does not begin with a number")


def parameter_arrays(tree: Program, parameter: str) -> dict[str, int]:
    """The arrays that end at the parameter, with their first indices. Raises NotDerived where a declaration depends on
    it otherwise, but for domains that end there."""
    arrays: dict[str, int] = {}
    others: set[str] = set()
    domains = {
        name: domain for found in tree.declarations if isinstance(found, Domains) for name, domain in found.bindings
    }
    for declared in (*tree.declarations, *(() if tree.ideal is None else tree.ideal.variables)):
        match declared:
            case Constants(bindings):
                for name, value in bindings:
                    if name != parameter:
                        _without(parameter, value, "a constant")
            case Domains(bindings):
                for _, domain in bindings:
                    _ends_at_most(parameter, domain)
            case Variables(role, declarators, type_, initial):
                _ends_at_most(parameter, type_)
                known = domains.get(type_.name) if isinstance(type_, Named) else type_
                if role == "input" and (isinstance(known, Named) or parameter in names(known)):
                    raise NotDerived(f"an input has more values the greater `{parameter}` is")
                _without(parameter, initial, "an initial value")
                for name, ends in declarators:
                    if ends is not None and ends[1] == Name(parameter):
                        low = first_index(For("", ends[0], ends[1], ()))
                        if arrays.setdefault(name, low) != low:
                            raise NotDerived(f"`{name}` is declared in two ways")
                    else:
                        _without(parameter, ends, "an array")
                        others.add(name)
    if others & arrays.keys():
        raise NotDerived("a name is that of an array in the program, and of something else in its `ideal`")
    return arrays


def _ends_at_most(parameter: str, domain: object) -> None:
    if isinstance(domain, Range) and domain.high == Name(parameter):
        domain = domain.low
    _without(parameter, domain, "a domain")


def _without(parameter: str, part: object, what: str) -> None:
    if parameter in names(part):
        raise NotDerived(f"{what} depends on `{parameter}`")


def _loop(body: Block, parameter: str, arrays: Mapping[str, int]) -> For:
    """The loop up to the parameter, if the statements are as the module says."""
    loops = [statement for statement in body if isinstance(statement, For)]
    if len(loops) != 1 or sum(isinstance(found, For | While) for found in nodes(body)) != 1:
        raise NotDerived("there is another loop, or none")
    (loop,) = loops
    if loop.high != Name(parameter):
        raise NotDerived(f"the loop does not end at `{parameter}`")
    _without(parameter, loop.body, "an iteration")
    _own_elements(loop.body, loop.variable, arrays)
    for statement in body:
        if statement is not loop:
            _without(parameter, statement, "what stands outside of the loop")
            if not arrays.keys().isdisjoint(names(statement)):
                raise NotDerived(f"an array up to `{parameter}` is used outside of the loop")
    return loop


def _own_elements(part: object, variable: str, arrays: Mapping[str, int]) -> None:
    """That the variable is used as the index of the arrays and for nothing else, and they with no other index."""
    indices = 0
    for found in nodes(part):
        if isinstance(found, Element) and found.name.removesuffix("'") in arrays:
            if found.index != Name(variable):
                raise NotDerived("an iteration uses an element that is not its own")
            indices += 1
        elif isinstance(found, Name) and found.name.removesuffix("'") in arrays:
            raise NotDerived("an array is used as a whole")
    if sum(name == variable for name in names(part)) != indices:
        raise NotDerived("the loop's variable is used otherwise than as an index")


def _condition(found: Field, parameter: str, loop: For, arrays: Mapping[str, int]) -> Field:
    """A field of the metric, as a condition on one index."""
    if found.name not in ("input", "apart"):
        if found.name == "output" and found.value == Name("product"):
            return found
        raise NotDerived("its `metric` block has another distance of outputs")
    _without(parameter, found.value, "the metric")
    match found.loops:
        case ():
            if not arrays.keys().isdisjoint(name.removesuffix("'") for name in names(found.value)):
                raise NotDerived("the metric is about some indices only")
            return found
        case ((variable, low, Name(high)),) if low == loop.low and high == parameter:
            _own_elements(found.value, variable, arrays)
            return replace(found, loops=())
        case _:
            raise NotDerived("the metric is not about each index of the loop alone")


# --- one iteration ------------------------------------------------------------------------------------


def _open_end(body: Block, loop: For, arrays: Mapping[str, int]) -> Block:
    """The statements with a loop that does not end in place of this one."""
    if loop.variable in arrays:
        raise NotDerived("the loop's variable is also an array")
    endless = While(Literal(value=True), loop.body)
    return tuple(endless if statement is loop else statement for statement in body)


def _scalars(node: Any, arrays: Mapping[str, int]) -> Any:
    """The same part of a program with scalars in place of these arrays."""
    if isinstance(node, tuple):
        return tuple(_scalars(part, arrays) for part in node)
    if isinstance(node, Element) and node.name.removesuffix("'") in arrays:
        return Name(node.name)
    if isinstance(node, Variables):
        declarators = tuple((name, None if name in arrays else ends) for name, ends in node.names)
        return replace(node, names=declarators)
    if is_dataclass(node) and not isinstance(node, type):
        return replace(node, **{part.name: _scalars(getattr(node, part.name), arrays) for part in fields(node)})
    return node

"""The loop that keeps the largest of m noisy values, for every m.

    best <- Lap(a*eps, q[1]);                 # out is 1
    for i in 2..m do
      r <- Lap(b*eps, q[i]);
      if r > best then best <- r; out <- i end
    end

**Lemma.** Let X_i be the noisy value of q[i]. If X_v > X_j for every j other than v, then out = v in the end: before
iteration v, best is one of the X_j with j < v, which X_v exceeds; then best = X_v and out = v, and no later X_j exceeds
it. Ties have probability 0, so `>=` does as well.

The ideal is the same loop without noise: q[v] >= q[j] for every j, for its answer v. Where q[v] < q[j] for some j the
answer is another, so q[v] - q[j] is at least the distance to disagreement times the dual norm of (1, -1): 2 for the
largest of the moves of inputs, 1 for their sum. The error has at most the probability of the sum, over all j, of
Pr[X_j >= X_v]: for v = 1 m - 1 times that of another value against the first, else once that of the first and m - 2
times that of another against a later one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from dipc.verifier.classes import Required
from dipc.verifier.events import Family
from dipc.verifier.iteration import first_index, names, nodes, parameter_arrays
from dipc.verifier.program import Machine, Sample
from dipc.verifier.rejection import NotDerived
from dipc.verifier.syntax import (
    Apply,
    Assign,
    Block,
    Domains,
    Element,
    Expr,
    For,
    If,
    Literal,
    Name,
    Named,
    Noise,
    Program,
    Range,
    Variables,
)
from dipc.verifier.terms import Law, Term, Terms
from dipc.verifier.walks import Total

_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Selection:
    """The loop as it was found: an array is selected from, beginning with the index `first`, and the answer is an
    index. Whether the values are `noisy`, and the variables that hold them."""

    array: str
    answer: str
    first: int
    noisy: bool
    numbers: frozenset[str]


def selection_totals(
    tree: Program, parameter: str, machine: Machine, wanted: Required, terms: Terms
) -> Iterator[Total]:
    """Bounds of the error of a program that is such a loop, for every m from the first index on and one more. Raises
    NotDerived where it is none, or a term is not stated. `machine` is the program for some number of at least two
    iterations."""
    if tree.ideal is None:
        raise NotDerived("the program has no `ideal`")
    parameter_arrays(tree, parameter)
    own, exact = selection(tree.body, parameter), selection(tree.ideal.body, parameter)
    if not own.noisy or exact.noisy or (own.array, own.answer, own.first) != (exact.array, exact.answer, exact.first):
        raise NotDerived("the program and its `ideal` do not select alike")
    _require_declared(tree, own, parameter)
    for found, variables in ((own, tree.declarations), (exact, tree.ideal.variables)):
        if not found.numbers <= set(_real_scalars(variables)):
            raise NotDerived("the values of a selection are no real variables")
    # One that depends on the index so far may be another for a greater m.
    declared = {name for item in tree.declarations if isinstance(item, Variables) for name, _ in item.names}
    if any(not declared.isdisjoint(names(drawn.rate)) for drawn in nodes(tree.body) if isinstance(drawn, Noise)):
        raise NotDerived("a rate depends on a variable")
    norms = [found.value for found in tree.metric if found.name == "input"]
    if len(norms) < len(tree.metric) or norms not in ([], [Name("linf")], [Name("l1")]):
        raise NotDerived("its `metric` block has another distance")
    width = 1 if norms == [Name("l1")] else 2
    rates = [found.rate for found in machine.code if isinstance(found, Sample) and found.family is Family.LAPLACE]
    if len(rates) < 2 or len(set(rates[1:])) > 1 or len(rates) < sum(isinstance(one, Sample) for one in machine.code):
        raise NotDerived("the values of a selection are not drawn alike")
    first, later = rates[0], rates[1]
    base, rate = wanted.alpha

    def loses(challenger: Fraction, selected: Fraction) -> Term:
        laws = [Law(Family.LAPLACE, selected, _ONE), Law(Family.LAPLACE, challenger, -_ONE)]
        term = terms.halfspace(laws, lambda least: least <= width * (rate if wanted.is_open else base))
        if term is None:
            raise NotDerived("a selected value has none of the stated terms")
        return term

    yield Total((), (loses(later, first),), own.first)
    yield Total((loses(first, later),), (loses(later, later),), own.first + 1)


def selection(body: Block, parameter: str) -> Selection:
    """The loop that the statements are. Raises NotDerived."""
    match body:
        case (start, For(variable=variable, high=Name(high), body=inner) as loop) if high == parameter:
            pass
        case _:
            raise NotDerived("it is no selection loop")
    best, value, noisy = _drawn(start, variable, parameter)
    low = first_index(loop)
    match value:
        case Element(array, Literal(Fraction() as first)) if first + 1 == low and variable not in (best, array):
            pass
        case _:
            raise NotDerived("the first value is not that before the loop's first")
    current = Element(array, Name(variable))
    match inner:
        case (If() as decision,) if not noisy:
            challenger: Expr = current
        case (drawing, If() as decision):
            name, value, again = _drawn(drawing, variable, parameter)
            if value != current or again is not noisy or name in (best, array, variable):
                raise NotDerived("the values of a selection are not drawn alike")
            challenger = Name(name)
        case _:
            raise NotDerived("it is no selection loop")
    if decision.otherwise or decision.condition not in (
        *(Apply(op, (challenger, Name(best))) for op in (">", ">=")),
        *(Apply(op, (Name(best), challenger)) for op in ("<", "<=")),
    ):
        raise NotDerived("the loop's condition is no comparison with the best so far")
    kept = Assign(Name(best), challenger)
    match [statement for statement in decision.then if statement != kept]:
        case [Assign(Name(answer), Name(index))] if index == variable and answer not in (best, array, variable):
            held = {best, challenger.name} if isinstance(challenger, Name) else {best}
            if len(decision.then) == 2:
                return Selection(array, answer, low - 1, noisy, frozenset(held))
    raise NotDerived("the loop does more than to keep the best and its index")


def _real_scalars(declared: Iterable[object]) -> Iterator[str]:
    for found in declared:
        if isinstance(found, Variables) and (found.role, found.type) == ("var", "real"):
            yield from (name for name, ends in found.names if ends is None)


def _drawn(statement: object, variable: str, parameter: str) -> tuple[str, Expr, bool]:
    """The variable, the value or mean, and whether there is noise; its rate is the same in each iteration."""
    match statement:
        case Noise(Name(name), "Lap", rate, mean) if mean is not None and not {*names(rate)} & {variable, parameter}:
            return name, mean, True
        case Assign(Name(name), value):
            return name, value, False
        case _:
            raise NotDerived("a value is not drawn as Laplace noise around an input")


def _require_declared(tree: Program, found: Selection, parameter: str) -> None:
    """That the array is the only input, up to the parameter, and the answer the only output, with the first index to
    begin with and room for all others; and that names in both are not those of constants."""
    inputs, outputs = (
        [item for item in tree.declarations if isinstance(item, Variables) and item.role == role]
        for role in ("input", "output")
    )
    match inputs:
        case [Variables(names=((name, (low, Name(high))),), type="real")] if name == found.array and high == parameter:
            if first_index(For("", low, Name(high), ())) != found.first:
                raise NotDerived("the loop does not begin where its array does")
        case _:
            raise NotDerived("the array is not the only input")
    domains = {
        name: domain for item in tree.declarations if isinstance(item, Domains) for name, domain in item.bindings
    }
    match outputs:
        case [Variables(names=((name, None),), type=type_, initial=Literal(first))] if (
            name == found.answer and first == found.first
        ):
            domain = domains.get(type_.name) if isinstance(type_, Named) else type_
            if not isinstance(domain, Range) or domain.high != Name(parameter):
                raise NotDerived("the domain of the index does not end with it")
        case _:
            raise NotDerived("the index is not the only output")

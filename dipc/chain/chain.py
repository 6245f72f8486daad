"""The chain as built: a graph of states and what its exits output."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dipc.chain.affine import Affine
from dipc.chain.constraints import ConstraintSet
from dipc.chain.flow import Flow
from dipc.chain.state import NoiseVar, State
from dipc.chain.transitions import Transitions
from dipc.lang.core import Value

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True)
class ExitState:
    """One way to end.

    `outputs` holds the observed outputs only, None for one that was never assigned. It is reached exactly (up to
    measure zero) where `guards` hold of the inputs and `constraints` of the noises; different exits exclude each other.
    """

    node: int
    outputs: dict[int, Value | Affine | None]
    noises: tuple[NoiseVar, ...]
    constraints: ConstraintSet
    guards: ConstraintSet


@dataclass(frozen=True)
class Chain:
    """The parametrized DTMC from `initial` on.

    `transitions` are over the keys of `states`, with more than one edge from a state to another where several outcomes
    lead there. States in `cut` were left without successors because their
    outputs already differ from the wanted ones; without them the leaves are the `exits`.
    """

    flow: Flow
    transitions: Transitions
    states: dict[int, State]
    initial: int
    exits: tuple[ExitState, ...]
    cut: frozenset[int]

    @cached_property
    def graph(self) -> nx.DiGraph[int]:
        """The chain as a networkx.DiGraph, made when it is first asked for: the attribute `edges` of an edge is a tuple
        of `Edge`."""
        return self.transitions.as_networkx()

"""A class in parts, each proved by itself: by what its distance from other answers implies, and by signs of slacks.

The parts cover the class, so that what is proved of each is true of all of its inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dipc.chain.constraints import Affine, Constraint, constraint, contradict
from dipc.program.ideal import Region
from dipc.rules.centered_exits import CenteredExit, ConvexPiece, pieces
from dipc.rules.facets import MOST_CHOICES, choices
from dipc.rules.goal import ConvexClass, Setting, requirement
from dipc.rules.halfspaces import Moving
from dipc.rules.input_classes import InputClass
from dipc.text.ast import CompareOp

_ZERO = Fraction(0)


def by_distances(setting: Setting, convex: ConvexClass) -> list[ConvexClass]:
    """Convex classes that cover this one: by all that its distance from other answers implies, and by whether outputs
    without noise are within gamma of det's. None but itself where that makes no difference. Raises Undecided."""
    inputs, piece = convex.inputs, convex.piece
    gamma = requirement(setting.claim, inputs, setting.metric).distances.gamma_base
    exits = [_within(centered, gamma, inputs.whole) for centered in piece.exits]
    finer = pieces(convex.guards, exits, setting.program.limits.pieces)
    known = known_region(setting, inputs, piece)
    moves = has_static_facets(inputs, convex.own_facets)
    sides = choices(known, inputs.rivals, setting.metric, slanted=True) if moves else ((),)
    if len(finer) * len(sides) > MOST_CHOICES:
        return [convex]
    convex_classes = []
    for each in finer:
        guards = (*piece.guards, *each.guards)
        for side in sides:
            both = tuple(dict.fromkeys([*convex.side, *side]))
            facets = all_facets(inputs, convex.own_facets, guards, both)
            convex_classes.append(ConvexClass(convex.number, inputs, ConvexPiece(guards, each.exits), both, facets))
    return convex_classes


def by_signs(convex: ConvexClass, forms: Sequence[Affine]) -> list[ConvexClass]:
    """Convex classes that cover this one, on each of which none of the forms is both positive and negative; none if
    there would be too many."""
    inputs = convex.inputs
    every = [convex.piece.guards]
    for form in forms:
        whole = all(slot in inputs.whole for slot, _ in form.inputs)
        sides = constraint(form, CompareOp.GE, whole), constraint(-form, CompareOp.GT, whole)
        both = [(*guards, side) for guards in every for side in sides]
        every = [guards for guards in both if not contradict([*inputs.region.guards, *guards])]
        if len(every) > MOST_CHOICES:
            return []
    return [
        replace(
            convex,
            piece=ConvexPiece(guards, convex.piece.exits),
            facets=all_facets(inputs, convex.own_facets, guards, convex.side),
        )
        for guards in every
    ]


def all_facets(
    inputs: InputClass, own: Sequence[Moving], guards: Sequence[Constraint], side: Sequence[Moving]
) -> tuple[Moving, ...]:
    """All half-spaces that the inputs of a piece are behind: those of its region's guards, of the guards of ints, which
    those that move do not imply near an edge, of the piece's own `guards`, and of one side of others."""
    ints = [guard for guard in inputs.region.guards if guard.whole]
    static = [Moving(guard.form, _ZERO) for guard in (*ints, *guards)]
    return (*own, *static, *side)


def has_static_facets(inputs: InputClass, own: Sequence[Moving]) -> bool:
    """Whether the class has facets of which it is not known how they retreat as the distance grows."""
    return any(g.form.inputs and not facet.step for g, facet in zip(inputs.region.guards, own, strict=True))


def known_region(setting: Setting, inputs: InputClass, piece: ConvexPiece) -> Region:
    """The region of the class, where answers count as the same that of a piece: only there it is known which."""
    if setting.near is None:
        return inputs.region
    return replace(inputs.region, guards=(*inputs.region.guards, *piece.guards))


def _within(centered: CenteredExit, gamma: Fraction, whole: frozenset[int]) -> CenteredExit:
    """The exit where its outputs without noise are within gamma of det's, which is a comparison of inputs; those of
    `whole` are ints."""
    radius = Affine.number(gamma)
    near = [
        constraint(radius - side, CompareOp.GE, all(slot in whole for slot, _ in form.inputs))
        for form in centered.points
        for side in (form, -form)
        if form.inputs
    ]
    return replace(centered, guards=(*centered.guards, *near))

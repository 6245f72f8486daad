"""Classes of inputs and their corners as texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from dipc.chain.affine import Affine
from dipc.chain.constraints import Constraint
from dipc.chain.text import affine_text, comparison_text
from dipc.ideal.ideal import Region
from dipc.lang.core import Value
from dipc.lang.core_program import CoreProgram
from dipc.sources.every_input.corner import Corner
from dipc.sources.every_input.halfspaces import Moving
from dipc.tables.cells import show_value


def answer_texts(core: CoreProgram, region: Region) -> dict[str, str]:
    """det on the region: a value for every output, or a form of the inputs."""
    return {
        core.slots[slot].name: form_text(core, value) if isinstance(value, Affine) else show_value(value)
        for slot, value in zip(core.outputs, region.answer, strict=True)
    }


def guard_texts(core: CoreProgram, guards: Iterable[Constraint], finite: Mapping[int, Value]) -> tuple[str, ...]:
    """The inequalities of a class, `q[1] < 0`, after its finite inputs."""
    fixed = [f"{core.slots[slot].name} = {show_value(value)}" for slot, value in finite.items()]
    texts = [comparison_text(g.difference, g.op.value, _no_noise, _names(core)) for g in guards]
    return tuple(dict.fromkeys([*fixed, *texts]))


def facet_texts(core: CoreProgram, facets: Iterable[Moving]) -> tuple[str, ...]:
    """Facets that move with alpha: `-x - 1 >= 2*alpha`."""
    return tuple(f"{form_text(core, facet.form)} >= {_line(Fraction(0), facet.step, 'alpha')}" for facet in facets)


def corner_texts(core: CoreProgram, found: Corner, finite: Mapping[int, Value], letter: str) -> dict[str, str]:
    """The corner as forms of the open distance `letter`."""
    texts: dict[str, str] = {}
    for slot in core.inputs:
        name = core.slots[slot].name
        if slot in found.base:
            texts[name] = _line(found.base[slot], found.slope[slot], letter)
        else:
            texts[name] = show_value(finite[slot])
    return texts


def input_texts(core: CoreProgram, inputs: Mapping[int, Value]) -> dict[str, str]:
    """An input as a row of a report shows it."""
    return {core.slots[slot].name: show_value(inputs[slot]) for slot in core.inputs}


def form_text(core: CoreProgram, form: Affine) -> str:
    """A form of inputs: `2*q[1] - 1`."""
    return affine_text(form, _no_noise, _names(core))


def _names(core: CoreProgram) -> Callable[[int], str]:
    return lambda slot: core.slots[slot].name


def _no_noise(noise: int) -> str:
    raise AssertionError(f"noise {noise} in a form of inputs")


def _line(base: Fraction, slope: Fraction, letter: str) -> str:
    return affine_text(Affine((), ((0, slope),) if slope else (), base), _no_noise, lambda _: letter)

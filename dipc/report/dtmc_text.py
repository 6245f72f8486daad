"""The chain as text: one paragraph for each state, as in the boxes of the paper's Figure 4."""

from __future__ import annotations

from fractions import Fraction

from dipc.report.dtmc import Dtmc, Transition, lines_of, place_text
from dipc.report.numbers import shown
from dipc.report.page import GLUE, Look, Page, Tone


def render(dtmc: Dtmc, title: str, look: Look, eps: Fraction | None = None) -> str:
    """All states in the order of execution; with `eps` every probability also as a number there."""
    page = Page(look)
    states, steps = len(dtmc.states), dtmc.step_count
    page.line(f"{title}: {states} state{'s' * (states != 1)}, {steps} step{'s' * (steps != 1)}", Tone.HEAD)
    for number, state in enumerate(dtmc.states):
        page.blank()
        page.line(f"s{number}  {place_text(state)}", Tone.HEAD)
        for parts in lines_of(state):
            # Lines break between the noises and between the constraints, not within one.
            page.line(", ".join(part.replace(" ", GLUE) if len(parts) > 1 else part for part in parts), indent=4)
        if state.line is not None and not dtmc.steps[number]:
            page.line("cut: no wanted output can be reached from here", indent=4)
        for step in dtmc.steps[number]:
            _step(page, step, eps)
    return page.text()


def _step(page: Page, step: Transition, eps: Fraction | None) -> None:
    parts = [f"-> s{step.goal}"]
    if step.outcome:
        parts.append(f"when {step.outcome}")
    text = " ".join(parts)
    if step.reason is not None:
        text += f", with a probability that was not reached: {step.reason}"
    elif step.probability is not None and not step.certain:
        text += f", with probability {step.probability}"
        if eps is not None:
            text += f" ={GLUE}{shown(*step.probability.at(eps))}"
    page.line(text, indent=4)

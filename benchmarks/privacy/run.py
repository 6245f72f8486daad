"""Runs the atlas: exact losses and constants beside what was published."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import dipc
from benchmarks.privacy.mechanism import EPS, Mechanism
from benchmarks.runner import warm_up
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.constant import Constant
from dipc.questions.privacy.loss import Loss
from dipc.questions.privacy.profile import Theorems

#: Digits of a loss that are compared.
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Exact:
    """The loss and the constant of a mechanism, with the CPU `seconds` that both took together."""

    mechanism: Mechanism
    loss: Loss | None
    constant: Constant | None
    seconds: float

    @property
    def loss_text(self) -> str | None:
        """The largest loss to six digits, rounded down."""
        if self.loss is None:
            return None
        if self.loss.value is None:
            return "inf"
        scale = 10**_DIGITS
        return str(float(Fraction(int(self.loss.value[0] * scale), scale)))

    @property
    def constant_text(self) -> str | None:
        """The constant, or what is proved and what is refuted."""
        if self.constant is None:
            return None
        proved = self.constant.as_json()["constant"]
        if self.constant.exact:
            return str(proved["proved"])
        return f"{proved['refuted_below']} to {proved['proved']}"

    @property
    def errata(self) -> list[str]:
        """The published statements that are wrong, in words."""
        found, claimed, estimate = [], self.mechanism.claimed, self.mechanism.estimate
        if claimed is not None and self.constant is not None:
            below = self.constant.refuted_below
            if below is None or below > claimed:
                found.append(f"{claimed}*eps is claimed, and {self.constant_text}*eps is the least")
        if self.loss is not None:
            value = self.loss.value
            if claimed is not None and (value is None or value[0] > claimed * EPS):
                found.append(f"{claimed}*eps is claimed, and the loss at eps = {EPS} is {self.loss_text}")
            if estimate is not None and value is not None and value[1] < estimate.value:
                found.append(f"{estimate.by} says at least {float(estimate.value)}, and the loss is {self.loss_text}")
        return found

    @property
    def differences(self) -> list[str]:
        """Every way in which the outcome is not the expected one, in words."""
        mechanism = self.mechanism
        found = [
            f"the {what} is {now}, expected {wanted}"
            for what, now, wanted in (
                ("loss", self.loss_text, mechanism.loss),
                ("constant", self.constant_text, mechanism.constant),
            )
            if now != wanted
        ]
        if bool(self.errata) != mechanism.wrong:
            found.append("what is published is " + ("wrong, unexpectedly" if self.errata else "not refuted"))
        return found


def run(mechanisms: Iterable[Mechanism]) -> Iterator[Exact]:
    """Yield the exact loss and constant of each of `mechanisms`, in order."""
    warm_up()
    for mechanism in mechanisms:
        yield exact(mechanism)


def exact(mechanism: Mechanism, *, constants: bool = True) -> Exact:
    """Return the exact loss and constant of `mechanism`; without `constants` only its loss."""
    start = time.process_time()
    program = dipc.load(mechanism.file, **mechanism.constants)
    engine = Engine(program.measurer, program.limits)
    with TemporaryDirectory() as directory:
        adjacent, inputs = mechanism.adjacent, mechanism.inputs
        if mechanism.patterns:
            path = Path(directory) / "pairs.csv"
            path.write_text(mechanism.pairs(program.inputs), encoding="utf-8")
            adjacent, inputs = str(path), None
        question = PrivacyQuestion(program, adjacent, inputs, engine)
    loss = None if mechanism.loss is None else question.largest_loss(EPS)
    constant = None
    if constants and mechanism.constant is not None:
        every = question if inputs is None else PrivacyQuestion(program, adjacent, "all", engine)
        constant = every.constant(None)
    return Exact(mechanism, loss, constant, time.process_time() - start)


#: Runs of randomized response whose composition is looked at, the loss of each, and the delta.
RUNS, LOSS, DELTA = (2, 10, 50, 100), Fraction(1, 10), Fraction(1, 10**6)


def composed_budgets() -> Iterator[tuple[str, ...]]:
    """The number of runs, with the least budgets for the delta: by basic and by advanced composition, and exactly.

    Both theorems are in Dwork and Roth 2014, section 3.5 (Theorem 3.20 is advanced composition).
    """
    response = dipc.load(Path(__file__).parents[1] / "literature" / "randomized_response.dip", m=1)
    for runs in RUNS:
        theorems = Theorems(runs, LOSS)
        exact = dipc.compose(response, adjacent="hamming:1", runs=(runs,)).budget(DELTA, LOSS).value
        assert exact is not None, "its loss is finite"
        yield str(runs), f"{float(theorems.basic):g}", f"{theorems.advanced(DELTA):.4g}", f"{float(exact[1]):.5g}"

"""The list of proof rules: every rule is in it, and each is needed."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import dipc
import dipc.rules
from dipc.claims.claim import ClaimOptions
from dipc.decide.engine import Engine
from dipc.questions.every_input import ClassCase, EveryInput
from dipc.rules import every_rule
from dipc.rules.class_claim import ClassClaim
from dipc.rules.every_rule import SIMPLE, UNITED, proofs
from dipc.rules.goal import Rule
from dipc.verifier.document import check_text
from tests.questions.test_classes_in_parts import HARDER, RANDOMIZED_RESPONSE
from tests.questions.test_log_concave import SHARED

EITHER_SIDE = HARDER["a threshold behind either side of another"][0]


def test_every_rule_is_in_the_list() -> None:
    names = [each.name for each in pkgutil.iter_modules(dipc.rules.__path__)]
    modules = [importlib.import_module(f"dipc.rules.{name}") for name in names]
    rules = {rule.name: rule for module in modules for rule in vars(module).values() if isinstance(rule, Rule)}
    assert set(rules.values()) == {*SIMPLE, *UNITED}
    assert len(rules) == len({*SIMPLE, *UNITED}), "names are their own"


@pytest.mark.parametrize(
    ("rule", "text", "options"),
    [
        ("the tails of all other answers together", HARDER["two tails at a corner"][0], ClaimOptions()),
        (
            "the vertices of a box of probabilities",
            HARDER["a threshold behind either side of another"][0],
            ClaimOptions(),
        ),
        ("the corners of a log-concave probability", SHARED, ClaimOptions("(exp(-eps) + exp(-4*eps))/2", "1")),
    ],
)
def test_a_class_that_one_rule_decides(
    rule: str, text: str, options: ClaimOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim is undecided without the rule, so that no other rule can take its place unnoticed."""
    program = dipc.load(text)
    asked = {"inputs": "all", "beta": options.beta, "alpha": options.alpha}
    assert dipc.check(program, **asked).verdict is dipc.Verdict.ACCURATE  # type: ignore[arg-type]
    monkeypatch.setattr(every_rule, "UNITED", tuple(each for each in UNITED if each.name != rule))
    assert dipc.check(program, **asked).verdict is dipc.Verdict.UNDECIDED  # type: ignore[arg-type]


def test_proofs_come_in_the_order_of_the_list() -> None:
    program = dipc.load(RANDOMIZED_RESPONSE)
    source = EveryInput(program, ClassClaim(program, ClaimOptions()))
    engine = Engine(source.program.measurer, source.program.limits)
    order = [rule.name for rule in SIMPLE]
    for case in source.cases():
        assert isinstance(case, ClassCase)
        every = list(proofs(case.goal))
        assert every[0].rule == order[0]
        holding = [p for p in every if all(str(engine.decide(o).verdict) == "accurate" for o in p.obligations)]
        assert holding
        assert holding[0].rule not in order


def test_what_a_rule_proves_is_certified() -> None:
    report = dipc.check(dipc.load(RANDOMIZED_RESPONSE), inputs="all", keep_proofs=True)
    assert check_text(dipc.certify(report)).complete

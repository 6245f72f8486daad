"""Random claims of every kind, a few here and hundreds in the slow tests: nothing contradicts what dipc says."""

from __future__ import annotations

import pytest

from tests.fuzz.attacks import ATTACKS, replies

#: Of each attack, those that are made in slow tests, by tens.
TENS = range(30)


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_contradicts_the_answer(name: str) -> None:
    assert replies(name, range(2))


@pytest.mark.slow
@pytest.mark.parametrize("ten", TENS)
@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_contradicts_hundreds_of_answers(name: str, ten: int) -> None:
    assert replies(name, range(10 * ten, 10 * ten + 10))

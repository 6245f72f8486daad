"""No forgery is accepted for what is false: some of each kind here, and hundreds in the slow tests."""

from __future__ import annotations

import pytest

from dipc.verifier.document import check_text
from tests.fuzz.forgeries import KINDS, attempts, honest


@pytest.mark.parametrize("name", KINDS)
def test_the_honest_ones_say_what_is_so(name: str) -> None:
    kind = KINDS[name]
    for each in (*kind.true, *kind.false):
        assert check_text(honest(name, each)).complete
    if not name.startswith("least"):
        said = [{check_text(honest(name, each)).verdict for each in every} for every in (kind.true, kind.false)]
        assert said in ([{"accurate"}, {"inaccurate"}], [{"private"}, {"not private"}])


@pytest.mark.parametrize("name", KINDS)
def test_no_forgery_is_accepted(name: str) -> None:
    assert attempts(name, range(10))["tried"] == 10


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_nor_is_one_of_hundreds(name: str) -> None:
    assert attempts(name, range(10, 500))["tried"] == 490

"""`--limit`: every name changes a limit, and what a limit stops is undecided with its name."""

import pytest

from dipc.algebra.limits import LIMIT_NAMES, Limits
from dipc.cli.limits import parse_limits


@pytest.mark.parametrize("name", LIMIT_NAMES)
def test_every_name_sets_a_limit_of_its_own(name: str) -> None:
    changed = parse_limits([f"{name}=7"])
    assert changed != Limits()
    assert all(changed != parse_limits([f"{other}=7"]) for other in LIMIT_NAMES if other != name)
    assert parse_limits([f"{name}=9", f" {name} = 7 "]) == changed

"""`--limit`: every name changes a limit, and what a limit stops is undecided with its name."""

import pickle

import pytest

from dipc.algebra.limits import LIMIT_NAMES, LimitReached, Limits
from dipc.cli.options import parse_limits


@pytest.mark.parametrize("name", LIMIT_NAMES)
def test_every_name_sets_a_limit_of_its_own(name: str) -> None:
    changed = parse_limits([f"{name}=7"])
    assert changed != Limits()
    assert all(changed != parse_limits([f"{other}=7"]) for other in LIMIT_NAMES if other != name)
    assert parse_limits([f"{name}=9", f" {name} = 7 "]) == changed


@pytest.mark.parametrize("name", LIMIT_NAMES)
def test_what_stops_at_a_limit_says_its_name(name: str) -> None:
    reached = LimitReached(name, "the work was too much")
    assert reached.reason == f"the work was too much (limit `{name}`)"
    again = pickle.loads(pickle.dumps(reached))
    assert (again.limit, again.reason) == (name, reached.reason)


def test_no_limit_is_named_that_cannot_be_set() -> None:
    with pytest.raises(AssertionError):
        LimitReached("patience", "the work was too much")

"""No change of a single value makes the checker accept something that is not true.

The digest is made right again after each change, so that it is not the digest that does the work. What is accepted
all the same is either said to be unchecked, or judged by the engine to be as true as before.
"""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from dipc.verifier.document import check_text as verify
from dipc.verifier.reading import Budget, Exhausted, Rejected, Unreadable
from tests.verifier import samples
from tests.verifier.mutations import Path, mutated, places
from tests.verifier.truth import UNCHECKED, UNCHECKED_OF_ROWS, untruths

CERTIFICATES = {
    "sparse": lambda: samples.sparse(6),
    "sparse refuted": lambda: samples.sparse(7),
    "nonnegative": lambda: samples.certain(samples.NONNEGATIVE),
    "negative": lambda: samples.certain(samples.NEGATIVE),
    "the least of some": lambda: samples.certain(samples.LEAST),
    "the greatest of some": lambda: samples.certain(samples.GREATEST),
    "the greatest of some, refuted": lambda: samples.certain(samples.NEGATIVE[-2:]),
    "the greatest of some on intervals": lambda: samples.certain(samples.GREATEST[:4], "(0, 1/7], [2, 3], (9, inf)"),
    "intervals": lambda: samples.certain(samples.NONNEGATIVE[1:6], "(0, 1/7], [2, 3], (9, inf)"),
    "geometric": samples.geometric,
}


def unchecked(path: Path) -> bool:
    return path[0] in UNCHECKED or (path[0] == "rows" and len(path) > 2 and path[2] in UNCHECKED_OF_ROWS)


def tamper(count: int, seed: int) -> Counter[str]:
    """Make `count` changes, and return how many were rejected, accepted as true and accepted as unchecked."""
    chance = random.Random(seed)
    texts = [make() for make in CERTIFICATES.values()]
    documents = [samples.document(text) for text in texts]
    paths = [list(places(document)) for document in documents]
    outcomes: Counter[str] = Counter()
    for _ in range(count):
        at = chance.randrange(len(documents))
        changed, path = mutated(documents[at], paths[at], chance)
        text = samples.resealed(changed)
        try:
            complete = verify(text, Budget()).complete
        except (Rejected, Unreadable, Exhausted):
            outcomes["rejected"] += 1
            continue
        # As the checker read it: JSON has no tuples and one kind of integer.
        accepted = json.loads(text)
        if unchecked(path) and all(accepted[part] == documents[at][part] for part in documents[at] if part != path[0]):
            outcomes["unchecked"] += 1
            if path[0] != "rows":
                continue
        assert list(untruths(accepted)) == [], (list(CERTIFICATES)[at], path)
        proved = ["reason" not in entry for entry in accepted["obligations"]]
        assert complete == all(proved[row["obligation"] or 0] for row in accepted["rows"])
        outcomes["true"] += 1
    return outcomes


def test_the_certificates_are_true() -> None:
    for make in CERTIFICATES.values():
        assert list(untruths(samples.document(make()))) == []


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_no_change_of_one_value_is_accepted_unless_it_is_true(seed: int) -> None:
    outcomes = tamper(40, seed)
    assert outcomes["rejected"] > 24, outcomes


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_nor_is_one_of_ten_thousand(seed: int) -> None:
    outcomes = tamper(1000, seed)
    assert outcomes["rejected"] > 600, outcomes
    assert outcomes["true"] > 10, outcomes


def test_without_the_digest_made_right_every_change_is_rejected() -> None:
    chance = random.Random(7)
    for make in CERTIFICATES.values():
        whole = json.loads(make())
        paths = list(places(whole))
        for _ in range(20):
            changed, _ = mutated(whole, paths, chance)
            if json.loads(json.dumps(changed)) == whole:
                continue
            with pytest.raises((Rejected, Unreadable)):
                verify(json.dumps(changed))

"""What all tests share: how Hypothesis searches, and the option to write golden outputs anew."""

import gc
import os
import signal
from collections import defaultdict
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# The same tree always gives the same outcome; `make slow` runs every property again, with new examples each time. No
# example has a deadline: what a clock says depends on what else the machine does.
settings.register_profile(
    "default", deadline=None, derandomize=True, max_examples=10, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("few", settings.get_profile("default"), max_examples=3)
settings.register_profile(
    "explore", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


# A shell starts background jobs with SIGINT ignored, and processes inherit that: tests of Ctrl-C would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden outputs anew from what is printed")
    parser.addoption("--few-cases", action="store_true", help="leave out most cases of tests that have many")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Exempt collected tests from garbage collection.

    Repeated searches through thousands of them took most of the time of collecting.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


#: With `--few-cases`, a test with more cases than this runs this many of them, and a twentieth of the others.
FEW = 2


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out most cases of each test function if `--few-cases` is given.

    One more case rarely shows what the first few did not. The same tree always runs the same cases: the first, the
    last and others evenly between them. Slow tests keep all cases, and so do those marked `every_case`, whose cases are
    whole outcomes: each may be out of date alone.
    """
    if not config.getoption("few_cases"):
        return
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("slow") is None and item.get_closest_marker("every_case") is None:
            cases[item.nodeid.partition("[")[0]].append(item)
    left_out: set[pytest.Item] = set()
    for of_one in cases.values():
        number = min(len(of_one), FEW + len(of_one) // 20)
        kept = {round(at * (len(of_one) - 1) / max(number - 1, 1)) for at in range(number)}
        left_out.update(item for at, item in enumerate(of_one) if at not in kept)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(autouse=True)
def _processes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the processes that a test asks for do all the work, not only what takes long."""
    monkeypatch.setattr("dipc.decide.processes.WORTH", 0)

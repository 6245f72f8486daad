"""What all tests share: how Hypothesis searches, and the option to write golden outputs anew."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

# The same tree always gives the same outcome; `make slow` runs every property again, with new examples each time. No
# example has a deadline: what a clock says depends on what else the machine does.
settings.register_profile(
    "default", deadline=None, derandomize=True, max_examples=30, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "explore", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


# A shell starts background jobs with SIGINT ignored, and processes inherit that: tests of Ctrl-C would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden outputs anew from what is printed")

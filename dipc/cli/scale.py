"""The options that share out the work of a check: --jobs, --cache and --dask."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

_F = TypeVar("_F", bound=Callable[..., Any])


def scale_options(command: _F) -> _F:
    """The options, given to the command as `jobs`, `cache` and `dask`."""
    options = (
        click.option("-j", "--jobs", metavar="N", default="1", help="Work in N processes; auto for all processors."),
        click.option("--cache", metavar="FILE", type=Path, help="Keep what is decided in FILE, and go on from there."),
        click.option("--dask", metavar="ADDRESS", help="Work on the Dask cluster with this scheduler."),
    )
    for option in reversed(options):
        command = option(command)
    return command

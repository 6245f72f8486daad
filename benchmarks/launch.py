"""Run a command to its end in a process of its own, and print what it used.

On Linux, the peak memory of a new process counts the memory of the process that started it. This file imports little,
so that only little is counted.

Usage: `launch.py OUTPUT PATIENCE COMMAND…`. The output of the command is written to the file OUTPUT. Its CPU time is
limited to PATIENCE seconds if that is not 0. The four numbers printed are its exit code, its CPU seconds, its seconds
on the clock, and its peak memory as `getrusage` counts it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path


def main() -> None:
    """Run the command of the arguments, and print what it used."""
    output, patience, *command = sys.argv[1:]
    with Path(output).open("wb") as stream:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.DEVNULL)
        if int(patience) and sys.platform == "linux":
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (int(patience), resource.RLIM_INFINITY))
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
    # The child is reaped above; without this Popen would warn that it is still running.
    process.returncode = os.waitstatus_to_exitcode(status)
    print(process.returncode, usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss)


if __name__ == "__main__":
    main()

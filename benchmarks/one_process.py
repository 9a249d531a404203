"""Run one program and print what it took: seconds of the clock and of the processor, peak memory.

    python -I -S -E one_process.py LIMIT_S CORES PROGRAM ARGUMENT ...

A process of its own, small because a child's memory is never said to be less than what it was
started from.  Processes that the program starts and waits for count: all their processor time, and
the memory of the largest one.  Exits with the status of the program, 124 after LIMIT_S.
"""

import os
import signal
import sys
import time
from types import FrameType


def main() -> None:
    """Run the command line."""
    limit_s, cores, *command = sys.argv[1:]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(cores)])
    nowhere = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
    begin = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=[nowhere])

    def give_up(_signal: int, _frame: FrameType | None) -> None:
        os.kill(pid, signal.SIGKILL)
        sys.exit(124)

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(int(limit_s))
    _, status, usage = os.wait4(pid, 0)
    wall_s = time.perf_counter() - begin
    print(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
    sys.exit(os.waitstatus_to_exitcode(status) and 1)


if __name__ == "__main__":
    main()

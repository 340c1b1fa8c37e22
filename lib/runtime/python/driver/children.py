# SPDX-License-Identifier: MIT
"""Counts the child processes that a cell left running."""

import posix
import sys


def live_children():
    """Returns how many child processes run, without the helpers of multiprocessing."""
    try:
        posix.waitid(posix.P_ALL, 0, posix.WEXITED | posix.WNOHANG | posix.WNOWAIT)
    except OSError:
        return 0  # no child at all, as nearly always: one system call
    helpers = multiprocessing_helpers()
    count = 0
    for task in posix.listdir("/proc/self/task"):
        try:
            with open("/proc/self/task/%s/children" % task) as file:
                pids = file.read().split()
        except OSError:
            continue
        count += sum(1 for pid in pids if int(pid) not in helpers and is_alive(pid))
    return count


def multiprocessing_helpers():
    pids = set()
    for module, holder, attribute in (
        ("multiprocessing.resource_tracker", "_resource_tracker", "_pid"),
        ("multiprocessing.forkserver", "_forkserver", "_forkserver_pid"),
    ):
        pids.add(getattr(getattr(sys.modules.get(module), holder, None), attribute, None))
    return pids


def is_alive(pid):
    try:
        with open("/proc/%s/stat" % pid, "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return is_hidden(pid)


def is_hidden(pid):
    """Returns whether the process runs: a /proc with hidepid lacks the files of processes that cannot be traced."""
    try:
        posix.kill(int(pid), 0)
    except OSError:
        return False
    return True

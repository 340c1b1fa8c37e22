# SPDX-License-Identifier: MIT
"""Sessions that come and go leave nothing in the server, on disk or in the kernel (sandbox.md test 71). Prints its figures."""
import os
import pathlib
import re
import statistics
import time

import pytest
from client import ALONE, Server
from outside import PROC
from patience import until
from steps import family, paths_in

CYCLES = 200
WARM = 60  # caches of server and kernel fill
AT_ONCE = 10
GROWTH_KB = 1024
LIFE = ("import os\nx = list(range(10000))\nopen('output/result.txt', 'w').write('x' * 10000)\n"
        "p = os.spawnlp(os.P_NOWAIT, 'sleep', 'sleep', '1000')\nprint('y' * 20000)\n1 + 1")


def slab_kb():
    """What the kernel cannot give back."""
    return int(re.search(r"SUnreclaim:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text(encoding="ascii"))[1])


def net_namespaces():
    """Each has these; counted for all of the machine."""
    try:
        text = pathlib.Path("/proc/slabinfo").read_text(encoding="ascii")
    except PermissionError:
        return None
    return int(re.search(r"^net_namespace\s+(\d+)", text, re.MULTILINE)[1])


def descriptors(pid):
    """None when it has ended, or we may not look: nobody but root sees into a server."""
    try:
        return len(os.listdir(f"{PROC}/{pid}/fd"))
    except OSError:
        return None


def mounts(home):
    """How many. What others' tests mount in their folders comes and goes."""
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        points = [line.split()[4] for line in f]
    return sum(point.startswith(f"{home}/") or not point.startswith(("/tmp/", "/var/tmp/")) for point in points)


def figures(server):
    """Descriptors of server and launcher, processes below it, mounts that we see, folders on disk."""
    below = family(server.process.pid)
    return {"server fds": descriptors(server.process.pid), "launcher fds": [descriptors(pid) for pid, _ in sorted(below)],
            "processes": len(below), "mounts": mounts(server.home),
            "folders": len(paths_in(server.home, "cache/server-*/sessions/*"))}


def memory(server):
    """KB."""
    status = (PROC / f"{server.process.pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


def settled(server):
    """figures() once no session is left: their folders go behind the answer."""
    until(lambda: figures(server)["folders"] == 0 and figures(server)["processes"] == 1)
    return figures(server)


@pytest.mark.limit(1800)
def test_two_hundred_sessions_leave_nothing_behind(home):
    with Server(home, env=ALONE) as server:
        seconds = []
        for first in range(0, WARM + CYCLES, AT_ONCE):
            if first == WARM:
                before, slab, kb = settled(server), slab_kb(), memory(server)
            names = [f"cycle-{number % 70}" for number in range(first, first + AT_ONCE)]  # some come again
            for name in names:
                started = time.monotonic()
                result = server.cell(LIFE, session=name)
                assert result.state == "done" and "\n2\n" in result.text, result.texts
                seconds.append(time.monotonic() - started)
            for name in names:
                assert not server.call("destroy_session", session_id=name).is_error
        after = settled(server)
        spaces = net_namespaces()
        grown, fatter = slab_kb() - slab, memory(server) - kb
        seconds = sorted(seconds[WARM:])
        print(f"{CYCLES} sessions: {before} to {after}, server {fatter:+} KB, slab {grown:+} KB, net namespaces of the machine {spaces}, "
              f"first answer {statistics.median(seconds) * 1000:.0f} ms, p99 {seconds[int(len(seconds) * 0.99)] * 1000:.0f} ms")
        assert after == before and fatter < GROWTH_KB
        assert server.call("list_sessions").object["sessions"] == []
        # The machine's other work is in this too, so that growth counts only when it goes with ours.
        if grown > GROWTH_KB:
            until(lambda: growth(server) <= GROWTH_KB)


def growth(server):
    """KB in fifty sessions more."""
    slab = slab_kb()
    for number in range(50):
        server.cell("1", session=f"again-{number}")
        server.call("destroy_session", session_id=f"again-{number}")
    settled(server)
    return slab_kb() - slab

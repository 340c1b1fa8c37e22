# SPDX-License-Identifier: MIT
"""How tests in Python wait, and how long, in seconds. No test waits for a time: it waits for a condition, and
these limits are reached by a hang only, however busy the machine is. Nothing here needs pytest: the benchmarks wait with it, too."""
import time

LIMIT_S = 300  # a test
TEARDOWN_S = 60  # what a fixture then takes to end what it began
WAIT_S = 240   # one condition, one answer, one program
CALL_S = 200   # a call of a tool, where the test names no `wait`: what it then says tells what hangs


def until(condition, seconds=WAIT_S, every=0.01):
    """The first true value of `condition`, asked again and again."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"still not so after {seconds} s"
        time.sleep(every)

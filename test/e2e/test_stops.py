# SPDX-License-Identifier: MIT
"""Code that goes on at its deadline or when its call is cancelled: how long it may, and what is told."""
import re

from patience import until
from steps import BEGUN, HOLD, NEVER_S, go, overdue

DEAF = f"import os, signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n{BEGUN}"


def test_code_that_no_interrupt_reaches_is_told_at_its_deadline_and_ends_in_its_grace(server):
    server.cell("kept = 7")
    result = overdue(server, DEAF + HOLD + "print('whole')")
    assert (result.is_error, result.cell.get("state_lost")) == (True, None)
    assert re.search(r"It has not ended yet: it has \d+ s more, until \d\d:\d\d:\d\d, and is then killed", result.text)
    assert '"action":"wait"' in result.texts[-1]
    assert server.cell("echo free", language="bash").text == "free\n"
    other = server.cell("kept")
    assert other.state == "not_started" and f"cell {result.status['cell']} has been running" in other.text
    go(server)
    ended = server.interact(action="wait")
    assert ended.state == "done" and "whole\n" in ended.text
    assert "after that it came to an end of its own" in ended.text
    assert server.cell("kept").text == "7\n"


def test_the_grace_ends(servers):
    server = servers(env={"PTYCELL_STOP_GRACE": "1"})
    assert "It has not ended yet: it has 1 s more" in overdue(server, DEAF + f"time.sleep({NEVER_S})").text
    ended = server.interact(action="wait")
    assert ended.state == "timed_out" and ended.cell["state_lost"] and "its interpreter was killed" in ended.text


def test_a_cancelled_call_ends_nothing_that_no_interrupt_reaches(server):
    server.cell("kept = 7")
    call = server.start_cell(DEAF + HOLD)
    until(lambda: "begun" in server.interact(until="begun").text)
    server.cancel(call)
    # This one is answered when neither has helped for three seconds.
    server.interact(action="interrupt")
    go(server)
    until(lambda: server.cell("kept").text.endswith("7\n"))

# SPDX-License-Identifier: MIT
"""Ten sessions in ten states at once: none waits for another. How soon each is answered is the benchmark's matter."""
from client import Result, Server
from patience import until
from steps import HOLD, NEVER_S, go, is_running

IMPORTS = "import os, subprocess, time"
FOREVER = {
    "flooding": "while True: print('y' * 200)",
    "busy": "while True: pass",
    "asleep": f"time.sleep({NEVER_S})",
    "child": "subprocess.run(['sleep', '1000000'])",
}
# What happens once it may, and how the answer to it must look.
EVENTS = {
    "ends": ("1", "done"),
    "raises": ("1/0", "raised"),
    "dies": ("os._exit(3)", "died"),
    "waits": ("input('well? ')", "waiting_for_input"),
}


def test_ten_sessions_in_ten_states_are_answered_each_by_itself(home):
    with Server(home) as server:
        for session in (*FOREVER, *EVENTS, "overdue", "quick"):
            server.cell(IMPORTS, session=session)
        for session, code in FOREVER.items():
            assert server.cell(code, session=session, budget=0).state == "running"
        held = {session: server.start_cell(HOLD + code, session=session) for session, (code, _) in EVENTS.items()}
        for session in held:
            until(lambda: is_running(server, session))
        assert server.cell("1", session="quick").state == "done"
        assert server.cell(f"time.sleep({NEVER_S})", session="overdue", timeout=1).state == "timed_out"
        while held:
            session, answer = held.popitem()  # the last that was asked is the first
            go(server, session)
            result = Result(answer.get()["result"])
            assert result.state == EVENTS[session][1], (session, result.texts)
            assert all(other.empty() for other in held.values())
        for session in (*FOREVER, "waits"):
            result = server.interact(session=session, action="interrupt")
            assert result.state == "interrupted", (session, result.texts[-1])

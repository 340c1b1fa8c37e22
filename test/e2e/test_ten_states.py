# SPDX-License-Identifier: MIT
"""Ten sessions in ten states at once: each is answered soon after what happens to it, none waits for
another. How soon is the benchmark's matter; here a wait for another would take seconds."""
import math
import re
import time

from client import Messages, Result, Server
from patience import until

SOON = 1.5  # seconds; what the others do takes longer or never ends
CLOCK = "import os, sys, time, signal, subprocess, threading\ndef now(): print('at', time.monotonic(), flush=True)\n"
FOREVER = {
    "flooding": "while True: print('y' * 200)",
    "busy": "while True: pass",
    "asleep": "time.sleep(10**6)",
    "child": "subprocess.run(['sleep', '1000000'])",
}
# What happens, and how the answer to it must look.
EVENTS = {
    "ends": ("time.sleep(0.5); now()", "done"),
    "raises": ("time.sleep(0.6); now(); 1/0", "raised"),
    "dies": ("time.sleep(0.7); now(); os._exit(3)", "died"),
    "waits": ("time.sleep(0.8); now(); input('well? ')", "waiting_for_input"),
    "overdue": ("now(); time.sleep(10**6)", "timed_out"),
    "quick": ("now()", "done"),
}


class Clock(Messages):
    """Takes an answer and notes when it came."""

    def put(self, item, *args, **kwargs):
        super().put((time.monotonic(), item), *args, **kwargs)


def start(server, session, code, **arguments):
    answer = Clock()
    server.next_id += 1
    answer.id = server.next_id
    server.waiting[answer.id] = answer
    server.send({"jsonrpc": "2.0", "id": answer.id, "method": "tools/call", "params": {
        "name": "exec_code", "arguments": {"session_id": session, "language": "python", "code": code,
                                           **arguments}}})
    return answer


def latency(answer):
    """Seconds from what happened to its answer, and the answer."""
    came, message = answer.get()
    result = Result(message["result"])
    happened = re.search(r"at ([0-9.]+)", result.text)
    return came - float(happened[1]) if happened else math.inf, result


def test_ten_sessions_in_ten_states_are_answered_each_by_itself(home):
    with Server(home) as server:
        for session in (*FOREVER, *EVENTS):
            server.cell(CLOCK, session=session)
        for session, code in FOREVER.items():
            assert server.cell(code, session=session, budget=0).state == "running"
        soonest = dict.fromkeys(EVENTS, math.inf)

        def all_were_soon():
            pending = {name: start(server, name, code, timeout=1 if name == "overdue" else 300)
                       for name, (code, _) in EVENTS.items()}
            for name, answer in pending.items():
                seconds, result = latency(answer)
                assert result.state == EVENTS[name][1], (name, result.texts)
                soonest[name] = min(soonest[name], seconds - (1 if name == "overdue" else 0))
            print({name: f"{seconds * 1000:.0f} ms" for name, seconds in soonest.items()})
            assert server.interact(session="waits", action="interrupt").state == "interrupted"
            server.cell(CLOCK, session="dies")
            return max(soonest.values()) < SOON

        until(all_were_soon)  # once, on a busy machine; who waits for another never is
        for session in FOREVER:
            result = server.interact(session=session, action="interrupt")
            assert result.state == "interrupted", (session, result.texts[-1])

# SPDX-License-Identifier: MIT
"""Random operations on many sessions against a model of what must hold.

living.py [OPERATIONS] [--seed N]: cells that end, run on, wait, flood and die are run, looked at, typed
to, interrupted, cancelled, killed, destroyed and left to expire, many at once. Every request is answered
exactly once, or cancelled and never; no output is in another session's answer or told twice or out of
order; a cell told as done has told everything; nothing is left at the end. Ends with 1 at the first thing
that should not be, which it prints together with the seed.
"""
import argparse
import collections
import os
import pathlib
import queue
import random
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "e2e"), str(HERE.parent / "support")]
os.environ["PTYCELL_BUILD"] = str(pathlib.Path(
    os.environ.get("PTYCELL_BUILD", HERE.parents[1] / "build/dev")).resolve())
import again  # noqa: E402
import status_parser  # noqa: E402
from client import Server  # noqa: E402
from steps import family, name_of  # noqa: E402

SESSIONS = 20
PENDING_MAX = 24
SILENCE_S = 100
TOKEN = re.compile(r"<(s\d+):(\d+):(\d+)>")
# What a tool may say instead of a result with a status line.
REFUSALS = re.compile(r"there is no session|no (python )?cell (has run|runs)|has not read \d+ bytes|"
                      r"cells are already waiting|no more than \d+ sessions")
SAY = "def say(k): print(f'<{name}:{number}:{{k}}>', flush=True)\n"
KINDS = {
    "quick": "say(0)",
    "lines": "for k in range({n}): say(k)",
    "slow": "import time\nfor k in range({n} % 10): say(k); time.sleep(0.01)",
    "raises": "say(0); 1/0",
    "asks": "say(0); input('well? '); say(1)",
    "asleep": "import time; say(0); time.sleep(30)",
    "busy": "say(0)\nwhile True: pass",
    "deaf": "import signal, time; say(0)\nold = signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
            "time.sleep({n} % 8)\n_ = signal.signal(signal.SIGINT, old)",
    "floods": "say(0)\nwhile True: print('y' * 200)",
    "dies": "import os; say(0); os._exit(3)",
    "child": "import subprocess; say(0); p = subprocess.Popen(['sleep', '30'])",
}
WEIGHTS = {"quick": 8, "lines": 4, "slow": 6, "raises": 2, "asks": 5, "asleep": 4, "busy": 2, "deaf": 2, "floods": 1,
           "dies": 1, "child": 1}


class Wrong(Exception):
    """Something that should not be."""


def check(truth, *what):
    if not truth:
        raise Wrong(" ".join(str(w) for w in what))


class Request:
    """A call that was sent; what comes for it goes to the soak's queue."""

    def __init__(self, soak, kind, session, cell=None):
        self.soak, self.kind, self.session, self.cell = soak, kind, session, cell

    def put(self, message):
        self.soak.came.put((self, message))


class Soak:
    """The client, and what it knows of every cell."""

    def __init__(self, server, rng):
        self.server, self.rng = server, rng
        self.came = queue.Queue()
        self.pending = {}     # id -> Request
        self.cancelled = set()
        self.forbidden = set()  # cancelled before something that has been answered since
        self.cells = {}       # number -> (session, how many tokens when it runs to its end)
        self.told = collections.defaultdict(list)  # number -> tokens in the order they were told
        self.tally = collections.Counter()

    def send_method(self, method, params, kind, session=None, cell=None):
        request = Request(self, kind, session, cell)
        request.id = next(self.server.ids)
        self.pending[request.id] = request
        self.server.waiting[request.id] = request
        self.server.send({"jsonrpc": "2.0", "id": request.id, "method": method, "params": params})

    def send(self, tool, session, cell=None, **arguments):
        self.send_method("tools/call", {"name": tool, "arguments": {"session_id": session, **arguments}},
                         tool, session, cell)

    # ---- operations ----

    def op_exec(self, session):
        kind = self.rng.choices(list(WEIGHTS), WEIGHTS.values())[0]
        number = len(self.cells)
        n = self.rng.randrange(1, 40)
        ends = {"quick": 1, "lines": n, "slow": n % 10, "asks": 2, "child": 1, "deaf": 1}.get(kind)
        self.cells[number] = (session, ends)
        code = SAY.format(name=session, number=number) + KINDS[kind].format(n=n)
        self.send("exec_code", session, number, language="python", code=code,
                  wait=self.rng.choice((0, 0.05, 0.3, 2)), timeout=self.rng.choice((0.5, 5, 30)))

    def op_look(self, session):
        arguments = self.rng.choice((
            {}, {"action": "wait"}, {"input": "x"}, {"input": "y" * 5000}, {"key": "ctrl-d"}, {"key": "ctrl-c"},
            {"until": ":1>"}, {"action": "interrupt"}, {"action": "interrupt"}))
        self.send("interact", session, wait=self.rng.choice((0, 0.05, 0.5)), **arguments)

    def op_end(self, session):
        self.send("interact", session, action=self.rng.choice(("terminate", "kill")), wait=5)

    def op_cancel(self, _session):
        if not self.pending:
            return
        number = self.rng.choice([n for n, request in self.pending.items() if request.kind != "fence"] or [None])
        if number is None:
            return
        self.cancelled.add(number)
        del self.pending[number]
        self.server.notify("notifications/cancelled", {"requestId": number})
        self.send_method("ping", {}, "fence", cell=number)

    def op_destroy(self, session):
        self.send("destroy_session", session)

    def op_expire(self, session):
        self.send("session_info", session, config={"idle_timeout": 1})

    def op_list(self, session):
        self.send("session_info", session)

    # ---- answers ----

    def take(self, request, message):
        if request.id in self.cancelled:
            # It was on its way when it was cancelled.
            check(request.id not in self.forbidden, "answered though cancelled:", message)
            self.tally["answered before the cancel came"] += 1
        else:
            check(request.id in self.pending, "answered twice:", message)
            del self.pending[request.id]
        check("result" in message, message)
        result = message["result"]
        if request.kind == "fence":
            self.forbidden.add(request.cell)
            return
        texts = [block["text"] for block in result["content"] if block["type"] == "text"]
        if request.kind not in ("exec_code", "interact"):
            self.tally[request.kind] += 1
            return
        if result.get("isError") and REFUSALS.search(texts[-1]) and not texts[-1].startswith("["):
            self.tally["refused"] += 1
            return
        self.take_cell(request, result, texts)

    def take_cell(self, request, result, texts):
        status = status_parser.of_result(result)
        self.tally[status["state"]] += 1
        check(status["id"] == request.session, "another session's status:", status)
        for session, number, k in TOKEN.findall("\n".join(texts)):
            number, k = int(number), int(k)
            check(session == request.session == self.cells[number][0], f"output of {session} in", request.session)
            before = self.told[number]
            check(not before or before[-1] < k, f"cell {number} told {k} after", before)
            before.append(k)
        if request.cell is None or status["state"] != "done":
            return
        ends = self.cells[request.cell][1]
        check(ends is None or self.told[request.cell] == list(range(ends)),
              f"cell {request.cell} is done and told only", self.told[request.cell], "of", ends)

    def wait(self, seconds):
        try:
            self.take(*self.came.get(timeout=seconds))
        except queue.Empty:
            return False
        return True

    # ---- the whole ----

    def run(self, operations):
        weights = {self.op_exec: 45, self.op_look: 34, self.op_cancel: 9, self.op_end: 2, self.op_destroy: 1.5,
                   self.op_expire: 1.5, self.op_list: 4}
        silent = time.monotonic()
        for done in range(operations):
            self.rng.choices(list(weights), weights.values())[0](f"s{self.rng.randrange(SESSIONS)}")
            while len(self.pending) >= PENDING_MAX or not self.came.empty():
                if self.wait(1):
                    silent = time.monotonic()
                check(time.monotonic() - silent < SILENCE_S, "nobody answers:",
                      [(r.kind, r.session, r.cell) for r in self.pending.values()])
            if done % 1000 == 999:
                print(f"  {done + 1} operations, {sum(self.tally.values())} answers", flush=True)
        self.end()

    def end(self):
        """Every session is destroyed; what is still asked is answered; no process is left but ours, and
        init, supervisor and interpreter that wait for the next session, and of what that is copied from."""
        for i in range(SESSIONS):
            self.send("destroy_session", f"s{i}")
        silent = time.monotonic()
        while self.pending:
            if self.wait(1):
                silent = time.monotonic()
            check(time.monotonic() - silent < SILENCE_S, "never answered:",
                  [(r.kind, r.session, r.cell) for r in self.pending.values()])
        deadline = time.monotonic() + SILENCE_S
        while True:
            left = [name_of(pid).strip() for pid, _ in family(self.server.process.pid)]
            left = [name for name in left if name and not name.startswith(("ptycell-launch", "ptycell-proxy"))]
            if max(collections.Counter(left).values(), default=0) <= 2:
                break
            check(time.monotonic() < deadline, "left over:", left)
            time.sleep(0.1)
        check(not self.server.strays(), "answers to nobody")
        check(self.server.close() == 0, "the server's exit code:", self.server.process.returncode)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("operations", nargs="?", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    options = parser.parse_args()
    print(f"{options.operations} operations, seed {options.seed}, {os.environ['PTYCELL_BUILD']}", flush=True)
    with again.folder("ptycell-living-", f"PTYCELL_BUILD={os.environ['PTYCELL_BUILD']} scripts/soak living {options.operations} "
                      f"--seed {options.seed}") as folder:
        environment = {"CLEANUP_INTERVAL": "1", "PTYCELL_MAX_SESSIONS": "20", "PTYCELL_STOP_GRACE": "2"}
        with Server(pathlib.Path(folder), env=environment) as server:
            soak = Soak(server, random.Random(options.seed))
            try:
                soak.run(options.operations)
            except (Wrong, BrokenPipeError) as wrong:
                time.sleep(0.5)  # should it have ended by itself
                code = server.process.poll()
                server.process.kill()
                server.process.stdin = None
                server.close()
                print(f"WRONG, seed {options.seed}: {wrong!r}\nserver's exit code {code}, stderr: {server.said()[-3000:]}")
                sys.exit(1)
    print("  " + ", ".join(f"{name} {count}" for name, count in sorted(soak.tally.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())

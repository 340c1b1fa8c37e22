# SPDX-License-Identifier: MIT
"""Cells of random size with random interrupts, many at once, each answer checked to the byte.

soak.py [CELLS] [--seed N]: drives $PTYCELL_BUILD/ptycell. Ends with 1 at the first wrong answer,
which it prints together with the seed.
"""
import argparse
import collections
import contextlib
import glob
import heapq
import json
import os
import pathlib
import random
import re
import selectors
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import again  # noqa: E402
import cellside  # noqa: E402
import status_parser  # noqa: E402
from patience import WAIT_S, until  # noqa: E402

BUILD = pathlib.Path(os.environ.get("PTYCELL_BUILD", HERE.parents[1] / "build/dev")).resolve()
SESSIONS = 4
DEPTH_MAX = 16
CELLS_A_LIFE = 1500  # of a session, on average
SILENCE_S = 100
FOLDED = re.compile(r"  \[[0-9]+ frames of libraries, the last [^\n]*\]\n")
OMITTED = re.compile(r"\n?\[\.\.\. ([0-9]+) characters left out \.\.\.\]\n")
# Between two statements no line of the cell is on the stack.
TRACEBACK = re.compile("^(Traceback .most recent call last.:|KeyboardInterrupt)$", re.MULTILINE)
BLOCKERS = ("spin()", "time.sleep(60)", "threading.Event().wait(60)",
            "subprocess.run(['/bin/sleep', '60'])")
DEATHS = ("os._exit(7)", "os.kill(os.getpid(), 9); time.sleep(60)")


class Wrong(Exception):
    """An answer that should not be."""


def check(truth, *what):
    if not truth:
        raise Wrong(" ".join(str(w) for w in what))


def cell_size(rng):
    """Most cells print little, some up to 150 KB."""
    kind = rng.randrange(20)
    limit = 200 if kind < 8 else 4000 if kind < 16 else 20000 if kind < 19 else 150000
    return rng.randint(1, limit)


class Cell:
    """A call of exec_code and what its answer must hold."""

    def __init__(self, number, rng):
        self.number = number
        self.size = cell_size(rng)
        self.request = None
        self.output = cellside.pattern(number, self.size)
        self.timeout = None
        self.cancel_after = None
        self.cancelled_at = None
        self.kind = rng.choices(("plain", "display", "raise", "exit", "broken", "deadline", "cancel", "death"),
                                (714, 80, 40, 20, 10, 30, 100, 6))[0]
        getattr(self, "make_" + self.kind)(rng)

    def call(self, rng, ways):
        return f"soak({self.number}, {self.size}, {rng.choice(ways)!r})\n"

    def make_plain(self, rng):
        self.code = self.call(rng, list(cellside.WAYS)) + "Count.cells"

    def make_display(self, rng):
        pieces = rng.randint(1, 5)
        step = self.size // pieces + 1
        self.code = f"soak_display({self.number}, {self.size}, {pieces})\nCount.cells"
        text, self.output = self.output, ""
        for i in range(pieces):
            self.output += text[i * step:(i + 1) * step]
            if self.output and self.output[-1] != "\n":
                self.output += "\n"
            self.output += f"<mark {self.number}.{i}>\n"

    def make_raise(self, rng):
        self.code = self.call(rng, list(cellside.WAYS)) + f"raise ValueError('soak {self.number}')"

    def make_exit(self, rng):
        self.code = self.call(rng, list(cellside.WAYS)) + f"raise SystemExit({self.number % 256})"

    def make_broken(self, _rng):
        self.code = f"soak({self.number}, 1, 'one') +"
        self.output = ""

    def make_deadline(self, rng):
        # What is cut short must not go on in a thread or come out of order.
        self.code = self.call(rng, ("one", "lines", "os", "pieces", "child")) + rng.choice(BLOCKERS)
        self.timeout = rng.uniform(0.05, 0.3)

    def make_cancel(self, rng):
        self.code = self.call(rng, ("one", "lines", "os", "pieces", "child"))
        self.code += rng.choice(("Count.cells",) * 4 + BLOCKERS)
        self.blocks = not self.code.endswith("Count.cells")
        self.cancel_after = rng.choice((0, 0, rng.uniform(0, 0.003), rng.uniform(0, 0.1)))

    def make_death(self, rng):
        self.code = self.call(rng, list(cellside.WAYS)) + rng.choice(DEATHS)


class Session:
    """A name, and what is under way in it."""

    def __init__(self, name):
        self.name = name
        self.reborn()

    def reborn(self):
        self.waiting = collections.deque()  # cells sent and not answered
        self.count = [0, 0]                 # what Count.cells may be
        self.last_number = 0                # of an answer's status
        self.opened = False
        self.noticed = False
        self.forks_cut = False              # Python forgets a child when interrupted in its fork
        self.dying = False
        self.depth = 1
        self.left = 0


class Server:
    """The process and its pipes, neither of which may ever block us."""

    def __init__(self, home):
        environ = {"HOME": home, "PATH": os.environ["PATH"], "PTYCELL_HOME": f"{home}/cache",
                   "PTYCELL_KEEP": "off", "PTYCELL_RESUME": "off",
                   "PTYCELL_PYTHON": os.environ.get("PTYCELL_PYTHON", "/usr/bin/python3")}
        self.home = pathlib.Path(home)
        self.errors = open(f"{home}/stderr", "w+b")
        self.process = subprocess.Popen([BUILD / "ptycell"], env=environ, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors)
        self.input = self.process.stdin.fileno()
        self.output = self.process.stdout.fileno()
        os.set_blocking(self.input, False)
        os.set_blocking(self.output, False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.output, selectors.EVENT_READ)
        self.unsent = bytearray()
        self.unread = bytearray()

    def send(self, message):
        self.unsent += json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"

    def flush(self):
        while self.unsent:
            try:
                del self.unsent[:os.write(self.input, self.unsent[:1 << 16])]
            except BlockingIOError:
                break
        wanted = selectors.EVENT_WRITE if self.unsent else 0
        if bool(wanted) != (self.input in self.selector.get_map()):
            (self.selector.register if wanted else lambda fd, _: self.selector.unregister(fd))(
                self.input, selectors.EVENT_WRITE)

    def receive(self, timeout):
        """The messages that came within `timeout`."""
        self.flush()
        self.selector.select(max(0, timeout))
        self.flush()
        while True:
            try:
                data = os.read(self.output, 1 << 20)
            except BlockingIOError:
                break
            check(data, "the server closed its stdout")
            self.unread += data
            if len(data) < 1 << 16:
                break
        *lines, rest = bytes(self.unread).split(b"\n")
        if lines:
            self.unread = bytearray(rest)
        return [json.loads(line) for line in lines]

    def figures(self):
        """KB in memory, and descriptors as far as we may look: only root sees into a server."""
        fields = dict(line.split(":", 1) for line in
                      open(f"/proc/{self.process.pid}/status", encoding="ascii"))
        try:
            descriptors = len(os.listdir(f"/proc/{self.process.pid}/fd"))
        except PermissionError:
            descriptors = "?"
        return int(fields["VmRSS"].split()[0]), descriptors

    def close(self):
        self.process.stdin.close()
        try:
            return self.process.wait(WAIT_S)
        finally:
            self.process.kill()


class Soak:
    def __init__(self, server, cells, seed):
        self.server = server
        self.rng = random.Random(seed)
        self.cells = cells
        self.made = 0
        self.sessions = [Session(f"soak{i}") for i in range(SESSIONS)]
        self.requests = {}           # id -> ("cell", session, cell) and others
        self.cancelled = set()       # numbers of cells
        self.withdrawn = {}          # id of a cancelled call -> cell, until the fence has passed
        self.forbidden = set()       # ids that must never be answered any more
        self.next_id = 0
        self.timers = []             # (when, order, session, cell): cancellations to come
        self.tally = collections.Counter()
        self.worst = collections.Counter()
        self.last_sign = time.monotonic()

    # ---- asking ----

    def ask(self, kind, method, params, *what):
        self.next_id += 1
        self.requests[self.next_id] = (kind, *what)
        self.server.send({"id": self.next_id, "method": method, "params": params})
        return self.next_id

    def tool(self, kind, name, arguments, *what):
        return self.ask(kind, "tools/call", {"name": name, "arguments": arguments}, *what)

    def exec(self, session, code, timeout, kind, *what):
        arguments = {"session_id": session.name, "language": "python", "code": code}
        if timeout is not None:
            arguments["timeout"] = timeout
        return self.tool(kind, "exec_code", arguments, session, *what)

    def open(self, session):
        session.opened = True
        session.left = self.rng.randint(CELLS_A_LIFE // 2, CELLS_A_LIFE * 3 // 2)
        self.define(session)

    def define(self, session):
        self.exec(session, (HERE / "cellside.py").read_text(encoding="utf-8"), None, "opening")

    def fill(self, session):
        if session.dying:
            return
        if not session.opened:
            self.open(session)
        if self.rng.random() < 0.02:
            session.depth = self.rng.choice((1, 1, 2, 4, 8, DEPTH_MAX))
        while self.made < self.cells and len(session.waiting) < session.depth:
            if session.left <= 0:
                self.destroy(session)
                return
            self.add(session)

    def add(self, session):
        self.made += 1
        session.left -= 1
        cell = Cell(self.made, self.rng)
        cell.request = self.exec(session, cell.code, cell.timeout, "cell", cell)
        session.waiting.append(cell)
        if cell.kind == "death":
            self.define(session)
        if cell.cancel_after is not None:
            heapq.heappush(self.timers, (time.monotonic() + cell.cancel_after, cell.number, session, cell))
        if self.rng.random() < 0.01:
            self.tool("aside", "session_info", {"session_id": session.name})

    def destroy(self, session):
        """With whatever is under way: all of it must still be answered."""
        session.dying = True
        self.tally["destroyed"] += 1
        self.tool("destroyed", "destroy_session", {"session_id": session.name}, session)

    def cancel(self, session, cell):
        if cell.request not in self.requests or session.dying:
            return
        cell.cancelled_at = time.monotonic()
        self.cancelled.add(cell.number)
        cell.was_running = session.waiting[0] is cell
        self.server.send({"method": "notifications/cancelled", "params": {"requestId": cell.request}})
        self.ask("fence", "ping", {}, session, cell)

    # ---- answers ----

    def on_message(self, message):
        check("method" not in message or "id" not in message, "the server asks", message)
        if "id" not in message:
            return
        number = message["id"]
        check(number not in self.forbidden, "a cancelled call was answered:", message)
        check(number in self.requests, "an answer to nothing:", message)
        kind, *what = self.requests.pop(number)
        check("result" in message, "an error:", message)
        self.last_sign = time.monotonic()
        getattr(self, "on_" + kind)(message["result"], *what)

    def on_aside(self, result):
        self.tally["asides"] += 1
        check(not result.get("isError"), result)

    def on_opening(self, result, session):
        """Of the first cell, and the first one after a death."""
        text = self.texts(result, session)
        state = status_parser.of_result(result)["state"]
        check(state == "done" and not text or session.dying, "the first cell:", text, state)
        session.count[0] = 0

    def on_fence(self, _result, session, cell):
        """What was cancelled and is not answered by now never will be."""
        if cell.request not in self.requests:
            self.tally["cancelled too late"] += 1
            return
        del self.requests[cell.request]
        self.forbidden.add(cell.request)
        self.tally["cancelled while running" if cell.was_running else "cancelled in the queue"] += 1
        if session.dying:
            return
        session.waiting.remove(cell)
        session.forks_cut = True
        session.count[1] += 1

    def on_destroyed(self, result, session):
        check(not result.get("isError"), result)
        left = [cell.number for cell in session.waiting if cell.request in self.requests]
        check(not left, "destroyed, and these were never answered:", left)
        session.reborn()

    def texts(self, result, session):
        blocks = result["content"]
        check(all(block["type"] == "text" for block in blocks), blocks)
        texts = [block["text"] for block in blocks[:-1]]
        if not session.noticed and texts and texts[0].startswith(f"Session '{session.name}' is"):
            session.noticed = True
            del texts[0]
        while texts and texts[0].startswith("[cell "):
            self.check_earlier(texts.pop(0))
        check(len(texts) <= 1, "too many blocks:", texts)
        return texts[0] if texts else ""

    def check_earlier(self, text):
        """What a cancelled cell had to tell comes with the next answer; nothing else does."""
        whole_lines = re.sub(OMITTED.pattern + ".*", "", text)
        for number in set(re.findall(r"^(\d+):\d+:", whole_lines, re.MULTILINE)):
            check(int(number) in self.cancelled, f"output of cell {number}, which was not cancelled:", text)

    def on_cell(self, result, session, cell):
        status = status_parser.of_result(result)
        self.tally[status["state"]] += 1
        if session.dying and status["state"] in ("not_started", "died"):
            session.waiting.remove(cell)
            return
        check(session.waiting[0] is cell or all(c.cancelled_at for c in session.waiting
                                                if c.number < cell.number), "out of order")
        session.waiting.remove(cell)
        try:
            self.check_answer(result, status, session, cell)
        except Wrong as wrong:
            shown = json.dumps(result)
            raise Wrong(f"cell {cell.number} ({cell.kind}, {cell.size} characters):\n{cell.code}\n"
                        f"{wrong}\n{status}\n{shown[:1500]} ... {shown[-1500:]}") from None

    def check_answer(self, result, status, session, cell):
        text = self.texts(result, session)
        check("background" not in status, "output of another cell")
        session.forks_cut |= cell.kind == "deadline"
        check("children" not in status or session.forks_cut, "children are left")
        check(status["id"] == session.name, "another session's answer")
        check(status["cell"] > session.last_number, "the cell's number")
        session.last_number = status["cell"]
        output = cell.output
        if cell.kind == "deadline":
            output = self.cut_output(text, status, output)
        rest = self.check_output(text, status, output)
        if "output" in status:  # a line of the server's own says where the rest is
            rest = "".join(line for line in rest.splitlines(True) if status["output"]["path"] not in line)
        self.tally["characters"] += len(output)
        getattr(self, "end_" + cell.kind)(rest, status, session, cell)

    def cut_output(self, text, status, output):
        """What an interrupted cell has written: the beginning of what it would have."""
        if "output" in status:
            text = self.spooled(status["output"]["path"], output[:50])
        own = TRACEBACK.search(text)
        check(own, "no traceback")
        written = text[:own.start()]
        if not output.startswith(written) and written.endswith("\n"):
            written = written[:-1]
        # It may have been interrupted within a character, whose first bytes are then shown as this.
        check(output.startswith(written.removesuffix("\ufffd")), "not what it writes")
        return written

    def check_output(self, text, status, output):
        """Compares; returns what follows the output."""
        part = status.get("output")
        if part is None:
            check(text.startswith(output), "another output")
            rest = text[len(output):]
            if output and output[-1] != "\n":
                check(rest.startswith("\n"), "no end of line after the output")
                rest = rest[1:]
            return rest
        text, shown = self.unfolded(text, part, output)
        # What follows the output, a value or a traceback, is short, shown whole, and counted.
        behind = part["total"] - len(output)
        check(behind >= 0, "wrong total: it wrote", len(output))
        check(part["path"], "no path")
        omitted = OMITTED.search(text)
        if omitted is None:
            check(shown == part["total"] and text.startswith(output), "another output")
            rest = text[len(output):].removeprefix("\n" if output[-1:] != "\n" else "")
            self.check_spool(part["path"], output, rest[:behind])
            return rest
        check(int(omitted[1]) == part["total"] - shown, "the number left out")
        for head in (text[:omitted.start() + 1], text[:omitted.start()]):
            tail_len = shown - len(head) - behind
            tail = text[omitted.end():omitted.end() + tail_len]
            if output.startswith(head) and tail_len >= 0 and output.endswith(tail):
                rest = text[omitted.end() + tail_len:].removeprefix("\n" if tail[-1:] != "\n" else "")
                self.check_spool(part["path"], output, rest[:behind])
                return rest
        raise Wrong("another head or tail")

    def unfolded(self, text, part, output):
        """The text with the frames of libraries that a traceback in an answer leaves out, and its length that counts as shown."""
        if not FOLDED.search(text):
            return text, part["shown"]
        own = "Traceback (most recent call last):\n"
        whole = self.spooled(part["path"], output[:50])
        traceback = whole[whole.rindex(own):]
        start = text.index(own)
        last = traceback.rstrip("\n").split("\n")[-1]
        end = text.index(f"\n{last}\n", start) + 1 + len(last) + len(traceback) - len(traceback.rstrip("\n"))
        return text[:start] + traceback + text[end:], part["shown"] + len(traceback) - (end - start)

    def spooled(self, path, beginning):
        """The spool file of this name that begins so: the answer says how its session sees it, and each session
        has one of that name, which may be under way, or go."""
        name = f"cache/server-*/sessions/*/spool/{pathlib.PurePath(path).name}"
        found = []
        for file in glob.iglob(os.path.join(glob.escape(str(self.server.home)), name)):
            with contextlib.suppress(FileNotFoundError):
                found.append(pathlib.Path(file).read_bytes())
        mine = [data for data in found if data.startswith(beginning.encode())]
        check(len(mine) == 1, f"{path}: {len(mine)} of {len(found)} files begin with {beginning!r}")
        return mine[0].decode(errors="replace")

    def check_spool(self, path, output, behind):
        self.tally["spool files"] += 1
        end = "\n" if behind and not output.endswith("\n") else ""
        whole = self.spooled(path, output[:50])
        check(whole == output + end + behind, f"{path} holds {len(whole)} characters, written were {len(output)}, "
              f"and {len(behind)} follow")

    def settle_count(self, session, value):
        low, high = session.count
        check(low <= value <= high, f"{value} cells have run, expected {low} to {high}")
        session.count = [value, value]

    def end_plain(self, rest, status, session, _cell):
        check(status["state"] == "done", "state")
        session.count = [n + 1 for n in session.count]
        check(re.fullmatch("[0-9]+\n", rest), "after the output:", rest)
        self.settle_count(session, int(rest))

    end_display = end_plain

    def end_cancel(self, rest, status, session, cell):
        check(cell.cancelled_at is None or not cell.blocks, "it has not run to its end")
        self.end_plain(rest, status, session, cell)

    def end_raise(self, rest, status, session, cell):
        session.count = [n + 1 for n in session.count]
        check(status["state"] == "raised" and rest.endswith(f"\nValueError: soak {cell.number}\n"), rest)

    def end_exit(self, rest, status, session, cell):
        session.count = [n + 1 for n in session.count]
        check(status["state"] == "done" and status.get("exit") == cell.number % 256 and not rest, rest)

    def end_death(self, rest, status, _session, cell):
        check(status["state"] == "died", "state")
        check(("code 7" if "_exit" in cell.code else "SIGKILL") in rest, rest)

    def end_broken(self, rest, status, _session, _cell):
        check(status["state"] == "raised" and "\nSyntaxError: " in rest, rest)

    def end_deadline(self, rest, status, session, cell):
        session.count[1] += 1
        check(status["state"] == "timed_out", "state")
        check(re.search("^KeyboardInterrupt$", rest, re.MULTILINE), rest)
        late = status["seconds"] - cell.timeout
        check(late > -0.1, "the deadline was", cell.timeout)  # as told, in tenths
        self.worst["late_ms"] = max(self.worst["late_ms"], round(late * 1000))

    # ---- the whole ----

    def run_timers(self):
        now = time.monotonic()
        while self.timers and self.timers[0][0] <= now:
            _, _, session, cell = heapq.heappop(self.timers)
            self.cancel(session, cell)

    def busy(self):
        return self.made < self.cells or self.requests

    def turn(self):
        for session in self.sessions:
            self.fill(session)
        self.run_timers()
        wait = self.timers[0][0] - time.monotonic() if self.timers else 1
        for message in self.server.receive(min(1, wait)):
            self.on_message(message)
        quiet = time.monotonic() - self.last_sign
        check(quiet < SILENCE_S, "nothing comes any more; unanswered:",
              [(i, r[0], r[2].code if r[0] == "cell" else "") for i, r in list(self.requests.items())[:20]])

    def run(self):
        self.ask("aside", "initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                         "clientInfo": {"name": "soak", "version": "1"}})
        start = time.monotonic()
        shown = 0
        while self.busy():
            self.turn()
            if self.made * 10 // self.cells > shown:
                shown = self.made * 10 // self.cells
                figures = self.server.figures()
                print(f"{self.made} cells, {time.monotonic() - start:.0f} s, server "
                      f"{figures[0]} KB {figures[1]} descriptors", flush=True)
        for session in self.sessions:
            self.destroy(session)
        while self.requests:
            self.turn()
        self.settle()
        return time.monotonic() - start

    def settle(self):
        """Anything that is still to come would be wrong."""
        self.ask("aside", "ping", {})
        while self.requests:
            self.turn()
        check(self.made == self.cells, "not all were sent")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cells", nargs="?", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    print(f"{options.cells} cells, seed {options.seed}, {BUILD}/ptycell", flush=True)
    with again.folder("ptycell-soak-", f"PTYCELL_BUILD={BUILD} scripts/soak {options.cells} --seed {options.seed}") as home:
        server = Server(home)
        soak = Soak(server, options.cells, options.seed)
        try:
            seconds = soak.run()
            code = server.close()
            check(code == 0, "the server ended with", code)
            until(lambda: not os.listdir(f"{home}/cache"))  # a helper may still remove
        except Wrong as wrong:
            server.process.kill()
            server.errors.seek(0)
            print(f"WRONG after {soak.made} cells, seed {options.seed}: {wrong}\nserver's stderr: "
                  f"{server.errors.read()[-2000:].decode(errors='replace')}", flush=True)
            sys.exit(1)
    print(f"all right: {soak.made} cells in {seconds:.0f} s, {soak.made / seconds:.0f} a second")
    print(", ".join(f"{name} {count}" for name, count in sorted(soak.tally.items())))
    print(f"latest end after a deadline: {soak.worst['late_ms']} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())

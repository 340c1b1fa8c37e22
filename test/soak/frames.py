# SPDX-License-Identifier: MIT
"""Code that speaks as its driver does, or nearly so, beside a session that only asks for 1+1.

frames.py [CELLS] [--seed N] [--within MS]: cells of three sessions write frames of chance to the channel
of their driver, large, torn, withheld or wrong, while a fourth session is asked without a rest. That one
is answered each time and never loses its state; each cell is answered once, and an interpreter ends only
for what no driver sends. Tells how long the longest answer took, how much of that the server only
waited for a processor, how many it worked for longer than 50 ms, the most of that, and the most memory that it had. With
--within it may not work longer: it has one thread, and what else an answer takes is the machine's.
"""
import argparse
import os
import pathlib
import random
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "e2e"), str(HERE.parent / "support")]
os.environ["PTYCELL_BUILD"] = str(pathlib.Path(
    os.environ.get("PTYCELL_BUILD", HERE.parents[1] / "build/dev")).resolve())
import again  # noqa: E402
from client import Server  # noqa: E402

SECRET = "tk-9a/B+z&5%41hunter2~Q"
SESSIONS = 3
LONG = 50  # ms
# What a cell may not be ended for: another's frames, or the server's memory.
OURS = ("the code broke the interpreter's control channel", "the code sent an unknown message",
        "the code closed the interpreter's control channel", "the code asked for packages while it waited")
PRELUDE = '''
import os, sys
N = int(sys._getframe().f_code.co_filename[6:-1])
SECRET = b"%s"
def put(data):
    view = memoryview(data)
    while view:
        view = view[os.write(3, view):]
def frame(kind, *parts, id=N):
    put(b"%%s %%d %%d\\n" %% (kind, id, len(parts)))
    for name, data in parts:
        put(b"%%s %%d\\n" %% (name, len(data)))
        put(data)
def text(pattern, size):
    return (pattern * (size // len(pattern) + 1))[:size]
''' % SECRET
PATTERNS = (SECRET, SECRET[:-1] + "X", "\\u0074", "a", "line\n", "\u202e", "\x1b[31m", "\x1b[6n", "...", "\x00", "dGst", "%74")
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\x06\0\0\0"
KINDS = ("display", "display", "display", "output", "output", "result", "result", "done", "clear", "reads", "install", "log",
         "ready", "dance")
PARTS = ("text/plain", "text/plain", "text", "image/png", "image/jpeg", "file", "text/html", "ack", "status", "ename",
         "evalue", "traceback", "missing", "names", "vars", "total", "language", "packages", "now", "code", "children")
SIZES = (0, 1, 100, 4096, 4097, 65536, 300_000, 1 << 20, 4 << 20, (8 << 20) - 1, 8 << 20)


def part(rng):
    size = rng.choice(SIZES)
    data = f"text({rng.choice(PATTERNS).encode()!r}, {size})"
    name = rng.choice(PARTS)
    if name.startswith("image/"):
        data = f"{PNG!r} + bytes({max(size - len(PNG), 0)})"
    return f"({name.encode()!r}, {data})"


def whole(rng):
    parts = ", ".join(part(rng) for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 5))))
    number = rng.choice(("N", "N", "N", "N", "N + 1", "0", "1 << 62"))
    return f"frame({rng.choice(KINDS).encode()!r}, {parts + ', ' if parts else ''}id={number})"


def withheld(rng):
    size = rng.choice(SIZES[5:])
    return f"put(b'display %d 1\\ntext/plain {size}\\n' % N); put(bytes({size - rng.choice((1, 1000, 60_000))}))"


def wrong(rng):
    head = bytearray(b"display 12 2\ntext/plain 3\nabctext/html 2\nxx")
    for _ in range(rng.choice((1, 1, 3))):
        head[rng.randrange(len(head))] = rng.randrange(256)
    return f"put({bytes(head)!r})"


def printed(rng):
    return f"print({rng.choice(PATTERNS)!r} * {rng.choice((1, 1000, 100_000))})"


def many(rng):
    return f"put(b'display %d 1\\ntext/plain 1\\na' % N * {rng.choice((10, 1000, 5000))})"


def code_of(rng):
    """Statements; the last ones say whether it ends, goes on for ever or dies."""
    steps = rng.choices((whole, whole, whole, withheld, wrong, printed, many), (30, 30, 30, 5, 2, 10, 5),
                        k=rng.randint(1, 6))
    end = rng.choices(("", "import time; time.sleep(60)", "os._exit(3)", "os.close(3)"), (8, 2, 1, 1))[0]
    return "\n".join([PRELUDE, *(step(rng) for step in steps), end])


def worked(pid):
    """Milliseconds that the server has had a processor, and that it has waited for one."""
    return [int(field) / 1e6 for field in pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[:2]]


def peak(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return [int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM")][0]


class Hostile(threading.Thread):
    """Cells one after the other, each in a session of its own that may live or die by them."""

    def __init__(self, server, name, codes):
        super().__init__(daemon=True)
        self.server, self.name, self.codes, self.problem = server, name, codes, None

    def run(self):
        try:
            for number, code in enumerate(self.codes):
                self.one(f"{self.name}{number // 20}", code)
        except BaseException as problem:
            self.problem = problem

    def one(self, session, code):
        result = self.server.cell(code, session=session, timeout=2, wait=20)
        if result.state == "running":
            self.server.call("interact", session_id=session, action="kill", budget=10)
        if "control channel" in result.text:
            assert any(why in result.text.lower() for why in OURS), result.text[-500:]


def beside(server, hostiles):
    """(answers, the longest in ms and how long the server waited during it, how many it worked for longer than LONG, the most of that)"""
    longest, most, count, long = (0, 0), 0, 0, 0
    while any(hostile.is_alive() for hostile in hostiles):
        began, (work, wait) = time.monotonic(), worked(server.process.pid)
        result = server.cell("n += 1; n", session="good")
        took, (work_after, wait_after) = (time.monotonic() - began) * 1000, worked(server.process.pid)
        longest = max(longest, (took, wait_after - wait))
        most = max(most, work_after - work)
        long += work_after - work > LONG
        count += 1
        assert result.text.strip() == str(count), (count, result.text)
    return count, longest, long, most


def run(home, arguments):
    codes = [code_of(random.Random(f"{arguments.seed}.{i}")) for i in range(arguments.cells)]
    env = {"PTYCELL_SECRET_TOKEN": SECRET, "PTYCELL_SPARES": "0"}
    with Server(pathlib.Path(home), env=env) as server:
        server.cell("n = 0", session="good")
        hostiles = [Hostile(server, f"bad{i}-", codes[i::SESSIONS]) for i in range(SESSIONS)]
        for hostile in hostiles:
            hostile.start()
        count, longest, long, most = beside(server, hostiles)
        memory = peak(server.process.pid)
        for hostile in hostiles:
            if hostile.problem is not None:
                raise hostile.problem
        assert not server.strays()
    print(f"{arguments.cells} cells beside {count} answers: the longest took {longest[0]:.0f} ms, of which the server waited "
          f"{longest[1]:.0f} ms for a processor; it worked longer than {LONG} ms for {long}, {most:.0f} ms at most, and had {memory} MB at most")
    assert arguments.within is None or most <= arguments.within, f"{most:.0f} ms"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cells", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--within", type=float)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    with again.folder("ptycell-frames-", f"scripts/soak frames {arguments.cells} --seed {arguments.seed}") as home:
        run(home, arguments)


if __name__ == "__main__":
    main()

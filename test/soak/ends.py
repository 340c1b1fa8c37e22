# SPDX-License-Identifier: MIT
"""Kills the server, its launcher or its host at random moments, and looks for what is left.

ends.py [ROUNDS] [--seed N] [--within S]: drives $PTYCELL_BUILD/ptycell; each session daemonises, forks
and ignores signals meanwhile. Everything below it comes to this process when its parent dies, so what
lives on is found. Ends with 1 when a process or mount is there `within` seconds after a kill, or a file
after the next server's first session.
"""
import argparse
import collections
import ctypes
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import again  # noqa: E402

BUILD = pathlib.Path(os.environ.get("PTYCELL_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build/dev")).resolve()
PR_SET_CHILD_SUBREAPER = 36
CLEAN_EVERY = 25
STUBBORN = """
import os, signal, subprocess, sys, time
for number in range(1, 65):
    if number not in (9, 17, 19, 32, 33): signal.signal(number, signal.SIG_IGN)
os.makedirs('output/deep/er', exist_ok=True)
with open('output/deep/er/file', 'w') as f: f.write('x' * 100000)
subprocess.Popen(['nohup', 'setsid', 'sleep', '1000'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 100)
            for _ in range(3): os.fork()
            while True: time.sleep(0.001)
        os._exit(0)
for _ in range(3): daemon()
while True:
    try:
        if os.fork() == 0: os.setsid(); os._exit(0)
        time.sleep(0.001)
    except OSError: time.sleep(0.01)
"""


def stat(pid):
    """(parent, state, name), None when there is no such process."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text[text.rindex(")") + 2:].split()
    return int(fields[1]), fields[0], text[text.index("(") + 1:text.rindex(")")]


def below(pid):
    """{pid: name} of everything below `pid` that is not dead."""
    everything = {int(p): stat(p) for p in os.listdir("/proc") if p.isdigit()}
    found, todo = {}, [pid]
    while todo:
        parent = todo.pop()
        for child, seen in everything.items():
            if seen and seen[0] == parent:
                todo.append(child)
                if seen[1] not in "ZX":
                    found[child] = seen[2]
    return found


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def mounts(home):
    """Where something is mounted. What others' tests mount in their folders comes and goes."""
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        points = sorted(line.split()[4] for line in f)
    return [point for point in points if point.startswith(f"{home}/") or not point.startswith(("/tmp/", "/var/tmp/"))]


def call(number, session, code):
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
        "name": "exec_code", "arguments": {"session_id": session, "language": "python", "code": code}}}


def initialize():
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "ends", "version": "1"}}}


def start_server(home):
    environ = {"HOME": home, "PATH": os.environ["PATH"], "PTYCELL_HOME": f"{home}/cache", "PTYCELL_KEEP": f"{home}/kept",
               "PTYCELL_RESUME": "off",
               "PTYCELL_PYTHON": os.environ.get("PTYCELL_PYTHON", "/usr/bin/python3")}
    return subprocess.Popen([str(BUILD / "ptycell")], env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)


def send(server, *messages):
    server.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
    server.stdin.flush()


def be_host(home, sessions, tell):
    """A process that starts a server, asks it for cells and waits: what a chat host is."""
    server = start_server(home)
    send(server, initialize(), *(call(i + 1, f"s{i}", STUBBORN) for i in range(sessions)))
    os.write(tell, str(server.pid).encode())
    while True:
        server.stdout.readline()


class Wrong(Exception):
    """Something is left."""


def server_folders(cache):
    """All but the folder of the live server's socket."""
    return [name for name in os.listdir(cache) if name != "sockets"]


class Ends:
    def __init__(self, home, rng, within):
        self.home = home
        self.rng = rng
        self.within = within
        self.mounts = mounts(home)
        self.tally = collections.Counter()
        self.worst_ms = {}  # by whom was killed

    def wait_for_all(self, whom):
        killed = time.monotonic()
        while True:
            reap()
            left = below(os.getpid())
            took = time.monotonic() - killed
            if not left:
                break
            if took > self.within:
                raise Wrong(f"{took * 1000:.0f} ms after the end of the {whom} there are {left}")
            time.sleep(0.002)
        self.note(whom, took)
        if mounts(self.home) != self.mounts:
            raise Wrong(f"mounts changed:\n{self.mounts}\n{mounts(self.home)}")

    def round(self):
        whom = self.rng.choice(("server", "launcher", "host"))
        end, tell = os.pipe()
        host = os.fork()
        if host == 0:
            os.close(end)
            be_host(self.home, self.rng.randint(1, 3), tell)
        os.close(tell)
        server = int(os.read(end, 20))
        os.close(end)
        # From before there is a launcher to when all daemons run.
        time.sleep(self.rng.choice((self.rng.uniform(0, 0.05), self.rng.uniform(0, 0.5))))
        victim = {"server": server, "host": host}.get(whom)
        if whom == "launcher":
            victim = next((pid for pid, name in below(server).items() if name.startswith("ptycell-launch")
                           and stat(pid) and stat(pid)[0] == server), None)
        if victim is None:
            whom, victim = "server", server
        self.tally[whom] += 1
        there = set(below(server))
        self.tally["processes"] += len(there)
        os.kill(victim, signal.SIGKILL)
        if whom == "launcher":  # the server outlives it, and the sessions that it had do not
            self.wait_for_sessions(there)
        if whom != "host":
            os.kill(host, signal.SIGKILL)
        self.wait_for_all(whom)

    def wait_for_sessions(self, there):
        """A new launcher may have others by now. (Numbers are not used again so soon.)"""
        killed = time.monotonic()
        while there & set(below(os.getpid())):
            reap()
            if time.monotonic() - killed > self.within:
                raise Wrong(f"after the end of the launcher there are {there & set(below(os.getpid()))}")
            time.sleep(0.002)
        self.note("launcher", time.monotonic() - killed)

    def note(self, whom, took):
        self.worst_ms[whom] = max(self.worst_ms.get(whom, 0), round(took * 1000))

    def look_at_files(self):
        """After a server's first session nothing of those before is left; after its end nothing at all."""
        server = start_server(self.home)
        send(server, initialize(), call(1, "clean", "1"))
        while json.loads(server.stdout.readline()).get("id") != 1:
            pass
        cache = pathlib.Path(self.home) / "cache"
        end = time.monotonic() + 10 + self.within
        while len(server_folders(cache)) > 1 and time.monotonic() < end:
            time.sleep(0.01)
        if len(server_folders(cache)) > 1:
            raise Wrong(f"beside a new server's folder there are {os.listdir(cache)}")
        server.stdin.close()
        server.wait(100)
        server.stdout.close()
        end = time.monotonic() + 10 + self.within
        while (left := os.listdir(cache)) and time.monotonic() < end:
            time.sleep(0.01)
        if left:
            raise Wrong(f"files are left: {left[:20]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rounds", nargs="?", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--within", type=float, default=0.5)
    options = parser.parse_args()
    print(f"{options.rounds} rounds, seed {options.seed}, {BUILD}/ptycell", flush=True)
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("ends: cannot take in orphans")
    with again.folder("ptycell-ends-", f"PTYCELL_BUILD={BUILD} scripts/soak-ends {options.rounds} --seed {options.seed} "
                      f"--within {options.within}") as home:
        ends = Ends(home, random.Random(options.seed), options.within)
        try:
            for number in range(1, options.rounds + 1):
                ends.round()
                if number % CLEAN_EVERY == 0 or number == options.rounds:
                    ends.look_at_files()
        except Wrong as wrong:
            print(f"WRONG in round {number}, seed {options.seed}: {wrong}", flush=True)
            for pid in below(os.getpid()):
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.2)
            reap()
            sys.exit(1)
    print(f"all right: {', '.join(f'{name} {count}' for name, count in sorted(ends.tally.items()))}, "
          f"ms until all was gone, at most: {ends.worst_ms}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

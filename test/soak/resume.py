# SPDX-License-Identifier: MIT
"""Servers are ended at random moments, and the next one goes on with their session.

resume.py [ENDS] [--seed N] [--linger]: 500 ends unless told otherwise: SIGKILL of the server, of its launcher, of both; the end of
stdin followed by SIGTERM and SIGKILL; and a copy of all folders taken at a random moment, in which the next server begins, as
after a loss of power. What an answer told is there, cells are numbered on, no folder is lost and none is
used by two. Prints the seed, and how many copies with a number lie beside kept ones. Ends with 1 when something differs.
With --linger the host's process ends and the server waits for the next one: variables are there, too, each cell ran once, and
what it printed is told, by the next answers where a host did not hear it.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "e2e"), str(HERE.parent / "support")]
os.environ["PTYCELL_BUILD"] = str(pathlib.Path(
    os.environ.get("PTYCELL_BUILD", HERE.parents[1] / "build/dev")).resolve())
from client import ALONE, LASTS, Server, environment  # noqa: E402
from patience import until  # noqa: E402

CELL = """
n = len(open('log').readlines()) if __import__('os').path.exists('log') else 0
with open('log', 'a') as f: f.write(f'{n}\\n')
with open('output/n.txt', 'w') as f: f.write(str(n))
print(n)
"""
KEEPS = CELL + """
if n != globals().get('lines', 0): print('the variable is', globals().get('lines'))
lines = n + 1
"""
LAST_S = 10
ENV = {**ALONE, **LASTS}
LINGER = {**ENV, "PTYCELL_LINGER": "5m"}


class Wrong(Exception):
    """Something differs."""


def check(holds, *what):
    if not holds:
        raise Wrong(*what)


def numbers_in(texts):
    return [int(line) for text in texts for line in text.split("\n") if line.isdigit()]


def launchers(server):
    """The children of a server."""
    path = f"/proc/{server.process.pid}/task/{server.process.pid}/children"
    try:
        return [int(pid) for pid in pathlib.Path(path).read_text().split()]
    except OSError:
        return []


def signal_all(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def by_kill(server, _chance):
    server.process.kill()


def by_launcher(server, chance):
    signal_all(launchers(server), signal.SIGKILL)
    time.sleep(chance.uniform(0, 0.05))
    server.process.kill()


def by_both(server, _chance):
    signal_all([*launchers(server), server.process.pid], signal.SIGKILL)


def in_steps(server, chance):
    server.process.stdin.close()
    time.sleep(chance.uniform(0, 0.2))
    server.process.terminate()
    time.sleep(chance.uniform(0, 0.2))
    server.process.kill()


def by_hangup(server, _chance):
    server.process.send_signal(signal.SIGHUP)


class Run:
    """Servers, one after the other, and what their answers told."""

    env = ENV
    code = CELL
    ends = [by_kill, by_launcher, by_both, in_steps, None]

    def __init__(self, home, chance):
        self.home = home
        self.chance = chance
        self.cells = 0  # as numbered, of which an answer came
        self.done = 0
        self.beside = 0  # copies with a number: of a file that changed before its copy was known

    def work(self, server, until, first):
        """Runs cells until then, or until the server is gone; notes what was told."""
        while time.monotonic() < until:
            message = server.start_cell(self.code).get(timeout=LAST_S * 6)
            if "error" in message:
                return
            texts = [block["text"] for block in message["result"]["content"] if block["type"] == "text"]
            if first and self.cells > 0:
                self.check_first(texts)
            numbers = numbers_in(texts)
            if " done " not in texts[-1] or not numbers:
                return
            number = int(texts[-1].rsplit("#", 1)[1].split()[0])
            check(numbers[-1] >= self.done, "a cell that was told is lost", texts, self.done)
            check(number > self.cells, "a number came twice", texts, self.cells)
            self.check_told(texts, numbers)
            self.done, self.cells, first = numbers[-1] + 1, number, False

    def check_first(self, texts):
        check("is resumed: " in texts[0], "not resumed", texts)

    def check_told(self, texts, numbers):
        """Nothing more, where sessions end with their server."""

    def end(self, how):
        server = Server(self.home, env=self.env)
        begun = time.monotonic() + self.chance.uniform(0.05, 0.6)
        ender = threading.Timer(begun - time.monotonic(), how, (server, self.chance))
        ender.start()
        try:
            self.work(server, begun + LAST_S, True)
        except (BrokenPipeError, ValueError):
            pass
        ender.join()
        server.process.wait()
        server.close()

    def lose_power(self):
        """A copy of the server's folders, at a moment at which it and its helpers stand still, is what the next one finds."""
        copy = self.home / "copy"
        with Server(self.home, env=ENV) as server:
            self.work(server, time.monotonic() + self.chance.uniform(0.1, 0.3), True)
            told = self.done
            server.start_cell(CELL)
            time.sleep(self.chance.uniform(0, 0.02))
            pids = [server.process.pid, *launchers(server)]
            signal_all(pids, signal.SIGSTOP)
            try:
                subprocess.run(["cp", "-a", self.home / "cache", copy], check=True)  # with sockets and pipes
            finally:
                signal_all(pids, signal.SIGKILL)
            server.process.wait()
        shutil.rmtree(self.home / "cache")
        copy.rename(self.home / "cache")
        self.done = told

    def look(self):
        self.look_at_lines()
        self.look_at_folders()

    def finish(self):
        self.look()

    def look_at_lines(self):
        with Server(self.home, env=self.env) as server:
            look = "print('lines:', len(open('log').readlines()))"
            while (result := server.cell(look)).state == "not_started":  # a cell of the last host runs on
                server.interact(action="wait")
            lines = result.text.split()
            check(result.state == "done" and lines, "the look failed", result.texts)
            check(int(lines[-1]) >= self.done, "lines are lost", lines, self.done)
            self.check_told(result.texts, numbers_in(result.texts))
            self.done = int(lines[-1])
            self.cells += 1

    def look_at_folders(self):
        """Nothing is there twice, and nothing but the session's folder is left."""
        folders = list((self.home / "kept").glob("*/"))
        check(len(folders) == 1, "kept folders", folders)
        names = sorted(path.name for path in folders[0].iterdir())
        numbered = [name for name in names if re.fullmatch(r"(n|notebook)(-\d+)+\.\w+", name)]
        check(sorted({*names} - {*numbered}) == [".ptycell", "files", "n.txt", "notebook.ipynb", "report.html"], "kept files", names)
        self.beside = len(numbered)
        left = sorted(path.name for path in (self.home / "cache").iterdir())
        check(left == ["resume"], "left in the home", left)
        check(len(list((self.home / "cache/resume").iterdir())) == 1, "folders that last")


class Lingering(Run):
    """The same, with one server for all hosts."""

    env = LINGER
    code = KEEPS
    ends = [by_kill, by_hangup, in_steps]

    def __init__(self, home, chance):
        super().__init__(home, chance)
        self.told = set()

    def command(self, *args):
        env = {**environment(self.home), "PTYCELL_HOME": str(self.home / "cache")}
        return subprocess.run([os.environ["PTYCELL_BUILD"] + "/ptycell", *args], env=env, check=True, capture_output=True).stdout

    def servers(self):
        return json.loads(self.command("ps", "--json"))["servers"]

    def check_first(self, texts):
        check("is resumed" not in texts[0] and "new and empty" not in texts[0], "not the same session", texts)

    def check_told(self, texts, numbers):
        check("the variable is" not in "\n".join(texts), "a variable is lost", texts)
        self.told.update(numbers)

    def end(self, how):
        super().end(how)
        until(lambda: all("lingers_seconds" in row for row in self.servers()))
        check(len(self.servers()) <= 1, "more than one server", self.servers())

    def look(self):
        self.look_at_lines()

    def finish(self):
        self.look()
        pids = [row["pid"] for row in self.servers()]
        self.command("stop", "--server")
        until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids))
        self.look_at_folders()
        check(self.told == {*range(self.done)}, "not told", {*range(self.done)} - self.told)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ends", nargs="?", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--linger", action="store_true")
    options = parser.parse_args()
    print(f"resume: seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    top = pathlib.Path(tempfile.mkdtemp(prefix="soak-resume-"))
    home = top / "home"
    home.mkdir()
    run = (Lingering if options.linger else Run)(home, chance)
    try:
        for number in range(options.ends):
            how = chance.choice(run.ends)
            if how is None and run.cells > 0:
                run.lose_power()
            else:
                run.end(how or by_kill)
            if run.done > 0 and number % 10 == 9:
                run.look()
        check(run.done > 0, "no cell came to its end")
        run.finish()
    except Wrong as wrong:
        print("resume: wrong:", *wrong.args, f"(seed {options.seed}, in {top})")
        return 1
    print(f"resume: {options.ends} ends, {run.cells} cells, {run.done} lines: nothing was lost, {run.beside} copies lie beside others")
    shutil.rmtree(top)
    return 0


if __name__ == "__main__":
    sys.exit(main())

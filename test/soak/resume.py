# SPDX-License-Identifier: MIT
"""Servers are ended at random moments, and the next one goes on with their session.

resume.py [ENDS] [--seed N]: 500 ends unless told otherwise: SIGKILL of the server, of its launcher, of both; the end of stdin
followed by SIGTERM and SIGKILL; and a copy of all folders taken at a random moment, in which the next server begins, as
after a loss of power. What an answer told is there, cells are numbered on, no folder is lost and none is
used by two. Prints the seed, and how many copies with a number lie beside kept ones. Ends with 1 when something differs.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import signal
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "e2e"), str(HERE.parent / "support")]
os.environ["PTYCELL_BUILD"] = str(pathlib.Path(
    os.environ.get("PTYCELL_BUILD", HERE.parents[1] / "build/dev")).resolve())
from client import ALONE, LASTS, Server  # noqa: E402

CELL = """
n = len(open('log').readlines()) if __import__('os').path.exists('log') else 0
with open('log', 'a') as f: f.write(f'{n}\\n')
with open('output/n.txt', 'w') as f: f.write(str(n))
print(n)
"""
LAST_S = 10
ENV = {**ALONE, **LASTS}


class Wrong(Exception):
    """Something differs."""


def check(holds, *what):
    if not holds:
        raise Wrong(*what)


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


class Run:
    def __init__(self, home, chance):
        self.home = home
        self.chance = chance
        self.cells = 0  # as numbered, of which an answer came
        self.done = 0
        self.beside = 0  # copies with a number: of a file that changed before its copy was known

    def work(self, server, until, first):
        """Runs cells until then, or until the server is gone; notes what was told."""
        while time.monotonic() < until:
            message = server.start_cell(CELL).get(timeout=LAST_S * 6)
            if "error" in message:
                return
            texts = [block["text"] for block in message["result"]["content"] if block["type"] == "text"]
            if first and self.cells > 0:
                check("is resumed: " in texts[0], "not resumed", texts)
            numbers = [int(line) for text in texts for line in text.split("\n") if line.isdigit()]
            if " done " not in texts[-1] or not numbers:
                return
            number = int(texts[-1].rsplit("#", 1)[1].split()[0])
            check(numbers[0] >= self.done, "a cell that was told is lost", texts, self.done)
            check(number > self.cells, "a number came twice", texts, self.cells)
            self.done, self.cells, first = numbers[0] + 1, number, False

    def end(self, how):
        server = Server(self.home, env=ENV)
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
            shutil.copytree(self.home / "cache", copy, symlinks=True, ignore_dangling_symlinks=True)
            signal_all(pids, signal.SIGKILL)
            server.process.wait()
        shutil.rmtree(self.home / "cache")
        copy.rename(self.home / "cache")
        self.done = told

    def look(self):
        """Nothing is there twice, and nothing but the session's folder is left."""
        with Server(self.home, env=ENV) as server:
            result = server.cell("print(len(open('log').readlines()))")
            lines = result.text.split()
            check(result.state == "done" and lines, "the look failed", result.texts)
            check(int(lines[-1]) >= self.done, "lines are lost", lines, self.done)
            self.done = int(lines[-1])
            self.cells += 1
        folders = list((self.home / "kept").iterdir())
        check(len(folders) == 1, "kept folders", folders)
        names = sorted(path.name for path in folders[0].iterdir())
        numbered = [name for name in names if re.fullmatch(r"(n|notebook)(-\d+)+\.\w+", name)]
        check(sorted({*names} - {*numbered}) == ["files", "n.txt", "notebook.ipynb"], "kept files", names)
        self.beside = len(numbered)
        left = sorted(path.name for path in (self.home / "cache").iterdir())
        check(left == ["resume"], "left in the home", left)
        check(len(list((self.home / "cache/resume").iterdir())) == 1, "folders that last")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ends", nargs="?", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    print(f"resume: seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    top = pathlib.Path(tempfile.mkdtemp(prefix="soak-resume-"))
    home = top / "home"
    home.mkdir()
    run = Run(home, chance)
    try:
        for number in range(options.ends):
            how = chance.choice([by_kill, by_launcher, by_both, in_steps, None])
            if how is None and run.cells > 0:
                run.lose_power()
            else:
                run.end(how or by_kill)
            if run.done > 0 and number % 10 == 9:
                run.look()
        check(run.done > 0, "no cell came to its end")
        run.look()
    except Wrong as wrong:
        print("resume: wrong:", *wrong.args, f"(seed {options.seed}, in {top})")
        return 1
    print(f"resume: {options.ends} ends, {run.cells} cells, {run.done} lines: nothing was lost, {run.beside} copies lie beside others")
    shutil.rmtree(top)
    return 0


if __name__ == "__main__":
    sys.exit(main())

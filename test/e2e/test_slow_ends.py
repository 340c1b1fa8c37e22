# SPDX-License-Identifier: MIT
"""What a session leaves behind: nothing, whatever it made. (However many there were: test_slow_cycles.py.)

PTYCELL_FULL=1 makes the tree of many entries a million large and the deep one 100,000 folders deep.
"""
import fcntl
import os
import re
import statistics
import threading
import time

import pytest
from client import ALONE, Server
from outside import PROC
from patience import WAIT_S, until
from steps import all_gone, family, nothing_left, paths_in

RACER = """import os, sys, itertools
os.makedirs("race/a/b/c"); os.makedirs("race/other")
open("race/a/b/c/file", "w").close()
for i in itertools.count():
    os.rename("race/a", "race/other/a"); os.rename("race/other/a", "race/a")
    os.makedirs("race/a/b/%d/d" % (i % 1000), exist_ok=True)
    os.rename("race/a/b", "race/b"); os.rename("race/b", "race/a/b")
"""

FULL = os.environ.get("PTYCELL_FULL") == "1"
FOLDERS = 100 if FULL else 10  # of 10,000 entries each
DEPTH = 100_000 if FULL else 30_000
GONE_S = 3000  # to remove a tree: a disk that forgets a file's blocks takes 4 ms for each folder

LARGE = ("deep", "many entries")  # a removal in which many calls have their time

TREES = {
    "deep": (f"import os\nos.chdir('output')\nfor i in range({DEPTH}):\n  os.mkdir('d'); os.chdir('d')\n"
             "open('deepest', 'w').close()"),
    # Links are made soonest.
    "many entries": (f"import os\nfor i in range({FOLDERS}):\n"
                     "  os.makedirs(f'many/{i}'); os.chdir(f'many/{i}'); open('x', 'w').close()\n"
                     "  for j in range(9_800): os.link('x', str(j))\n"
                     "  for j in range(200): os.mkdir(f'd{j}')\n  os.chdir('../..')"),
    "mode 000": ("import os\nfor i in range(300):\n  os.makedirs(f'locked/{i}/in/ner')\n"
                 "  open(f'locked/{i}/in/ner/file', 'w').close()\n"
                 "  for part in ('in/ner/file', 'in/ner', 'in', ''): os.chmod(f'locked/{i}/{part}', 0)\n"
                 "os.chmod('locked', 0)"),
    "a racing renamer": (f"import subprocess, sys\nopen('racer.py', 'w').write({RACER!r})\n"
                         "racers = [subprocess.Popen([sys.executable, 'racer.py'], start_new_session=True)]"),
    "odd names": ("import os\nfor i in range(1, 256):\n  if i != 47:\n"
                  "    os.mkdir(b'odd' + bytes([i]) * 200)\n    os.symlink('/etc', b'odd' + bytes([i]) * 200 + b'/link')\n"
                  "os.mkfifo('pipe'); os.symlink('.', 'self')"),
}


def memory(server):
    """KB."""
    status = (PROC / f"{server.process.pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


def session_folders(server):
    """Of live sessions, and those that are still being removed."""
    return [path for pattern in ("*/sessions/*", ".remove-*") for path in paths_in(server.home / "cache", pattern)]


class Watch(threading.Thread):
    """Calls another session again and again; how long each answer took."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server = server
        self.seconds = []
        self.memory = []
        self.problem = None
        self.ended = threading.Event()

    def __enter__(self):
        self.server.cell("1", session="watch")
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join(WAIT_S)

    def run(self):
        while not self.ended.wait(0.03):
            start = time.monotonic()
            result = self.server.cell("6 * 7", session="watch")
            if result.text != "42\n":
                self.problem = result.texts
            self.seconds.append(time.monotonic() - start)
            self.memory.append(memory(self.server))


@pytest.mark.limit(2 * GONE_S)
@pytest.mark.parametrize("tree", TREES)
def test_hostile_trees_are_removed_while_others_work(home, tree):
    # Landlock makes each step into a folder cost its depth: the deep one is out of its reach.
    with Server(home, "--unconfined", env={"PTYCELL_KEEP": "off", **ALONE}) as server:
        start = time.monotonic()
        result = server.cell(TREES[tree], session="hostile", wait=400, budget=400, timeout=400)
        assert result.state == "done", result.texts
        seen = time.monotonic() - start
        made = result.status["seconds"]
        before = memory(server)
        with Watch(server) as watch:
            start = time.monotonic()
            server.call("destroy_session", session_id="hostile")
            answered = time.monotonic() - start
            at_answer = len(watch.seconds)
            until(lambda: len(session_folders(server)) == 1, GONE_S, every=0.05)
            gone = time.monotonic() - start
            meanwhile = len(watch.seconds) - at_answer
            until(lambda: len(watch.seconds) > 20)
        median, worst = statistics.median(watch.seconds), max(watch.seconds)
        print(f"\n{tree}: made in {made:.1f} s, seen after {seen:.1f} s, destroy answered after {answered * 1000:.0f} ms, "
              f"gone after {gone:.1f} s; meanwhile {meanwhile} calls of another session, median "
              f"{median * 1000:.1f} ms, worst {worst * 1000:.0f} ms; server {before} KB, at most {max(watch.memory)} KB")
        assert watch.problem is None
        # Without the helper's process one call at most would be answered.
        assert tree not in LARGE or meanwhile > 3
        assert max(watch.memory) - before < 4096
    nothing_left(home)


@pytest.mark.limit(2 * GONE_S)
def test_hostile_trees_are_removed_at_the_end_of_input_too(home):
    trees = [tree for tree in TREES if "entries" not in tree]
    with Server(home, "--unconfined", env={"PTYCELL_KEEP": "off"}) as server:
        for number, tree in enumerate(trees):
            assert server.cell(TREES[tree], session=f"n{number}", wait=200, budget=200).state == "done"
        processes = family(server.process.pid)
        start = time.monotonic()
        assert server.close() == 0
        print(f"\nthe server ended after {time.monotonic() - start:.1f} s, ", end="")
    until(lambda: not list((home / "cache").iterdir()), GONE_S)
    print(f"all was gone after {time.monotonic() - start:.1f} s")
    all_gone(processes)


def test_a_folder_stays_for_as_long_as_its_results_are_copied(home):
    """A copy holds the folder with results by a lock. A slow disk or network takes its time."""
    with Server(home) as server:
        server.cell("open('output/a', 'w').write('x')")
        folder = session_folders(server)[0]
        held = os.open(folder / "data", os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_SH)
        server.call("destroy_session", session_id="s")
        until(lambda: not folder.exists())
        time.sleep(25)
        assert paths_in(home, "cache/.remove-*/data/output/a")
        os.close(held)
        until(lambda: not paths_in(home, "cache/.remove-*"))

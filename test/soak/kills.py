# SPDX-License-Identifier: MIT
"""Kills the server at random moments while sessions work, and looks at what the next server makes of the record.

kills.py [KILLS] [--seed N]: three sessions run cells of three languages at once. Each cell that a client was answered for is in
its kept notebook once, with its output, and has one line `began` and one line `ended` in the audit (a second one of the
next server where it was killed at that very line). The one that ran is the last
of its session, with its output or as killed, in both. No line is torn, none is there twice, and nothing is left of the session.
Ends with 1 at the first thing that should not be, which it prints together with the seed.
"""
import argparse
import collections
import json
import os
import pathlib
import queue
import random
import shutil
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "e2e"), str(HERE.parent / "support")]
os.environ["PTYCELL_BUILD"] = str(pathlib.Path(
    os.environ.get("PTYCELL_BUILD", HERE.parents[1] / "build/dev")).resolve())
import again  # noqa: E402
from client import Result, Server  # noqa: E402
from patience import until  # noqa: E402
from steps import paths_in, session_folders, the_sessions  # noqa: E402

LANGUAGES = {"a": "python", "b": "bash", "c": "javascript"}
CODES = {"python": "print('{}')", "bash": "echo {}", "javascript": "console.log('{}')"}
WORK_S = 1.5
KILLED = "[ptycell was killed while this cell ran]\n"


class Wrong(Exception):
    """Something that should not be."""


class Worker(threading.Thread):
    """One session, whose cells print their numbers until the server is killed."""

    def __init__(self, server, session, round_number):
        super().__init__(daemon=True)
        self.server, self.session, self.round = server, session, round_number
        self.answered, self.asked, self.over = [], 0, threading.Event()
        self.wrong = None

    def run(self):
        language = LANGUAGES[self.session]
        while not self.over.is_set() and self.wrong is None:
            text = f"{self.round}-{self.session}-{self.asked + 1}"
            try:
                waited = self.server.start("tools/call", {"name": "exec_code", "arguments": {
                    "session_id": self.session, "language": language, "code": CODES[language].format(text)}})
            except OSError:  # it is dead
                return
            self.asked += 1
            self.take(waited, text)

    def take(self, waited, text):
        while True:
            last = self.over.is_set()
            try:
                answer = waited.get(timeout=0.05)
            except queue.Empty:
                if last:
                    return
                continue
            if "result" not in answer:  # the server died
                return
            result = Result(answer["result"])
            if result.text != text + "\n":
                self.wrong = f"{text} was answered by {result.texts}"
            self.answered.append(text)
            return


def outputs(cell):
    return "".join("".join(output.get("text", "")) for output in cell["outputs"])


def judge_notebook(home, worker):
    """Returns the number of cells in it."""
    paths = list(home.glob(f"kept/*-{worker.session}-*/*.ipynb"))
    if not paths:
        if worker.answered:
            raise Wrong(f"there is no notebook of {worker.session}")
        return 0
    if len(paths) > 1:
        raise Wrong(f"one session, notebooks {paths}")
    cells = the_sessions(json.loads(paths[0].read_text(encoding="utf-8")))["cells"]
    told = [outputs(cell) for cell in cells]
    wanted = [text + "\n" for text in worker.answered]
    if told[:len(wanted)] != wanted:
        raise Wrong(f"{paths[0]} has {told}, and {wanted} were answered")
    for said in told[len(wanted):]:
        number = f"{worker.round}-{worker.session}-{len(wanted) + 1}\n"
        if len(told) > len(wanted) + 1 or said not in (number, KILLED, number + KILLED):
            raise Wrong(f"{paths[0]} has {told[len(wanted):]} behind the cells that were answered")
    return len(cells)


def judge_audit(path, worker, cells):
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    events = collections.defaultdict(list)
    for line in lines:
        if line.get("session_id") == worker.session and line["event"] in ("began", "ended"):
            events[line["cell"]].append(line)
    if len(events) != cells:
        raise Wrong(f"{worker.session}: {cells} cells are in the notebook, {len(events)} in the audit")
    for number, found in events.items():
        kinds = [line["event"] for line in found]
        again_by_next = kinds == ["began", "ended", "ended"] and "killed_instance" in found[2] and found[2]["state"] == found[1]["state"]
        unbegun = kinds == ["ended"] and found[0]["state"] == "killed"  # its code was not sent yet
        if kinds != ["began", "ended"] and not again_by_next and not unbegun:
            raise Wrong(f"{worker.session}: cell {number} has {found}")
        answered = number <= len(worker.answered)
        if found[-1]["state"] not in (("done",) if answered else ("done", "killed")):
            raise Wrong(f"{worker.session}: cell {number} ended as {found[1]}")


def kill_once(home, audit, round_number, rng):
    with Server(home, env={"PTYCELL_AUDIT": str(audit)}) as server:
        workers = [Worker(server, session, round_number) for session in LANGUAGES]
        for worker in workers:
            worker.start()
        time.sleep(rng.random() * WORK_S)  # the moment is by chance: no condition is waited for
        folders = session_folders(home)
        server.process.kill()
        server.process.wait()
        for worker in workers:
            worker.over.set()
        for worker in workers:
            worker.join()
    with Server(home, env={"PTYCELL_AUDIT": str(audit)}) as server:
        server.cell("1", session="next")
        until(lambda: not any(folder.exists() for folder in folders) and paths_in(home, "cache/.remove-*") == [])
    for worker in workers:
        if worker.wrong:
            raise Wrong(worker.wrong)
        judge_audit(audit, worker, judge_notebook(home, worker))
    audit.unlink()
    shutil.rmtree(home / "kept")
    return sum(len(worker.answered) for worker in workers)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", nargs="?", type=int, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    options = parser.parse_args()
    print(f"{options.kills} kills, seed {options.seed}, {os.environ['PTYCELL_BUILD']}", flush=True)
    rng, answered = random.Random(options.seed), 0
    with again.folder("ptycell-kills-", f"PTYCELL_BUILD={os.environ['PTYCELL_BUILD']} scripts/soak kills {options.kills} "
                      f"--seed {options.seed}") as folder:
        home = pathlib.Path(folder)
        os.chmod(home, 0o755)
        for number in range(options.kills):
            try:
                answered += kill_once(home, home / "audit.jsonl", number, rng)
            except (Wrong, AssertionError) as wrong:
                print(f"WRONG, seed {options.seed}, kill {number + 1}: {wrong!s}", flush=True)
                raise SystemExit(1) from wrong
    print(f"  {answered} cells were answered", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

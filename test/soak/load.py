#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""load.py [--loops N] [--at-once N] [--again]: the tests of $PTYCELL_BUILD, N at once (four a processor), beside
N busy loops (six a processor): each once, and those that wait for anything five times.

What passed is remembered in the build's folder load/, so that a run which was stopped is gone on with;
--again, or another tree, begins anew. The output of a test that failed is kept there. Exits 1 when any
test of this tree failed.
"""
import argparse
import concurrent.futures
import ctypes
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROUNDS = 5
# They compute and return; nothing that they do takes longer than its processor time.
COMPUTES = ("corpus.", "house.", *(f"unit.{layer}." for layer in (
    "base", "text", "json", "net", "sql", "storage", "config", "rpc", "policy", "journal")))
SKIPPED = 77
PR_SET_PDEATHSIG = 1


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def tree():
    """A name of what is tested: the commit and what differs from it."""
    sha = hashlib.sha256()
    for command in (["git", "rev-parse", "HEAD"], ["git", "diff", "HEAD"]):
        sha.update(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    return sha.hexdigest()


class Memory:
    """The runs that passed: lines "ROUND TEST" below the name of the tree."""

    def __init__(self, folder, again):
        folder.mkdir(exist_ok=True)
        self.path = folder / "passed"
        old = self.path.read_text().splitlines() if self.path.exists() and not again else []
        self.passed = set(old[1:]) if old and old[0] == tree() else set()
        self.path.write_text("".join(f"{line}\n" for line in (tree(), *sorted(self.passed))))

    def add(self, run):
        with open(self.path, "a", encoding="utf-8") as f:
            f.write(run + "\n")


class Test:
    """One of CTest's tests, run without CTest, which keeps one log a build."""

    def __init__(self, entry):
        properties = {p["name"]: p["value"] for p in entry["properties"]}
        self.name = entry["name"]
        self.command = entry["command"]
        self.folder = properties["WORKING_DIRECTORY"]
        self.limit_s = properties["TIMEOUT"]
        self.environment = {**os.environ, **dict(line.split("=", 1) for line in properties["ENVIRONMENT"])}

    def run(self, log):
        """Whether it passed, or skipped; its output is kept in this file when it did not."""
        with open(log, "wb") as out:
            test = subprocess.Popen(self.command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                    stdout=out, stderr=subprocess.STDOUT)
            try:
                passed = test.wait(self.limit_s) in (0, SKIPPED)
            except subprocess.TimeoutExpired:
                test.kill()
                passed = test.wait() == 0
        if passed:
            log.unlink()
        return passed


def tests(build):
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
                            stdout=subprocess.PIPE).stdout
    return [Test(entry) for entry in json.loads(listed)["tests"]]


def main():
    parser = argparse.ArgumentParser(prog="soak load")
    parser.add_argument("--loops", type=int, default=6 * os.cpu_count())
    parser.add_argument("--at-once", type=int, default=4 * os.cpu_count())
    parser.add_argument("--again", action="store_true")
    arguments = parser.parse_args()
    build = os.environ["PTYCELL_BUILD"]
    folder = pathlib.Path(build, "load")
    memory = Memory(folder, arguments.again)
    wanted = [(number, test) for number in range(1, ROUNDS + 1) for test in tests(build)
              if number == 1 or not test.name.startswith(COMPUTES)]
    left = [(f"{number} {test.name}", test) for number, test in wanted
            if f"{number} {test.name}" not in memory.passed]
    print(f"{len(wanted)} runs, of which {len(wanted) - len(left)} have passed before", flush=True)
    # Each loop is a session of its own: the kernel gives one share of the processors to each session.
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=die_with_parent,
                              start_new_session=True)
             for _ in range(arguments.loops)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
        runs = {pool.submit(test.run, folder / f"{run}.log"): (run, test) for run, test in left}
        for done in concurrent.futures.as_completed(runs):
            run, test = runs[done]
            if done.result():
                memory.add(run)
                continue
            failed += 1
            print(f"failed: round {run}; its output: {folder / run}.log; again: "
                  f"scripts/run-tests {os.path.basename(build)} -R {test.name}", flush=True)
    for loop in loops:
        loop.kill()
        loop.wait()
    print(f"{len(left)} runs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

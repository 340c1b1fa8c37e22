# SPDX-License-Identifier: MIT
"""Kills and stops the server's processes, and lets its system calls fail, while sessions work.

faults.py [MINUTES] [--seed N]: in each of some sessions a worker counts up in all languages, writes files to output/,
queries, lists and destroys; meanwhile processes below the server are ended by SIGKILL or held up by SIGSTOP, and strace
lets single system calls of the server fail, where it is installed. Every call is answered; a count that begins anew, and
a file that is not kept, were told; what was told as saved is kept, whole; at the end nothing is left. Ends with 1 at the
first thing that should not be, which it prints together with the seed.
"""
import argparse
import collections
import ctypes
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "e2e"), str(HERE.parent / "support")]
os.environ["PTYCELL_BUILD"] = str(pathlib.Path(
    os.environ.get("PTYCELL_BUILD", HERE.parents[1] / "build/dev")).resolve())
import again  # noqa: E402
import patience  # noqa: E402
from client import Result, Server  # noqa: E402
from steps import alive, family, name_of  # noqa: E402

PR_SET_CHILD_SUBREAPER = 36
SESSIONS = 6
COUNTS = {
    "python": "n = globals().get('n', 0) + 1\nopen('output/{file}', 'w').write('{letter}' * {size})\nprint(f'<{n}>')",
    "javascript": "globalThis.n = (globalThis.n ?? 0) + 1\n"
                  "require('fs').writeFileSync('output/{file}', '{letter}'.repeat({size}))\nconsole.log(`<${{n}}>`)",
    "bash": "n=$((${{n:-0}} + 1)); printf '%*s' {size} '' | tr ' ' {letter} > output/{file}; echo \"<$n>\"",
    "r": "n <- get0('n', inherits = FALSE, ifnotfound = 0) + 1; "
         "cat(strrep('{letter}', {size}), file = 'output/{file}'); cat(sprintf('<%d>\\n', n))",
}
COUNTS["python"] = COUNTS["python"].replace("<{n}>", "<{{n}}>")
LOST = re.compile(r"The (\w+) state of session '[^']*' was lost")
NEW = re.compile(r"Session '[^']*' is (new|a new one)")
STATUS = re.compile(r"^\[s\d+#", re.M)
UNSAVED = re.compile(r"[Nn]ot everything was saved|copying failed|Not all files could be looked at")
FAILURES = {
    "openat": "EMFILE ENOMEM EIO", "pipe2": "EMFILE", "socketpair": "EMFILE", "getdents64": "EIO", "statx": "ENOMEM",
    "newfstatat": "EIO", "mkdirat": "ENOSPC", "mkdir": "ENOSPC", "vfork": "EAGAIN", "clone": "EAGAIN", "clone3": "EAGAIN",
    "pidfd_open": "EMFILE", "memfd_create": "ENOMEM", "sendmsg": "ENOBUFS EAGAIN", "recvmsg": "EINTR", "fcntl": "EMFILE",
    "unlinkat": "EIO", "pwrite64": "ENOSPC", "openat2": "EMFILE", "renameat2": "ENOSPC", "ftruncate": "ENOSPC", "dup3": "EINTR",
}


class Wrong(Exception):
    """Something that should not be."""


class Worker(threading.Thread):
    """One session and what is known of it."""

    def __init__(self, soak, number):
        super().__init__(daemon=True)
        self.soak, self.session, self.rng = soak, f"s{number}", random.Random(soak.seed + number)
        self.counts = collections.Counter()
        self.may_begin_anew = set()
        self.saved = {}  # name -> its letter, and how often
        self.files = 0
        self.told = collections.deque(maxlen=12)  # for who reads of what is wrong

    def run(self):
        try:
            while not self.soak.over.is_set():
                self.rng.choices((self.count, self.query, self.list, self.destroy), (30, 5, 3, 1))[0]()
        except Exception as wrong:  # pylint: disable=broad-exception-caught
            before = "\n---- ".join([*self.told, *self.soak.done])
            self.soak.fail(f"{self.session}: {wrong!r}\n{before}")

    def call(self, tool, **arguments):
        began = time.monotonic()
        answer = self.soak.server.start("tools/call", {"name": tool, "arguments": {"session_id": self.session, **arguments}})
        result = Result(answer.get(timeout=patience.WAIT_S)["result"])
        self.soak.longest = max(self.soak.longest, time.monotonic() - began)
        self.soak.tally[tool] += 1
        said = "\n".join(result.texts)
        self.told.append(f"{time.monotonic():.2f} {arguments}: {said[:1000]}")
        self.may_begin_anew.update(LOST.findall(said))
        if NEW.search(said):
            self.may_begin_anew.update(COUNTS)
        return result, said

    def count(self):
        language = self.rng.choice(list(COUNTS))
        self.files += 1
        name, letter, size = f"{self.session}-{self.files}", self.rng.choice("abcdef"), self.rng.choices((10, 5000, 3_000_000), (10, 10, 1))[0]
        code = COUNTS[language].format(file=name, letter=letter, size=size)
        lost = language in self.may_begin_anew
        self.may_begin_anew.discard(language)  # the answer may tell a loss behind this cell
        result, said = self.call("exec_code", language=language, code=code)
        state = "refused" if result.is_error and not STATUS.search(said) else result.state
        self.soak.tally[state] += 1
        if state == "running":
            _, more = self.call("interact", language=language, action="kill")
            said += more
        if state != "done":
            self.may_begin_anew.add(language)  # whether it came to count is not known
            return
        self.judge_count(language, said, lost)
        self.judge_saved(name, (letter, size), said)

    def judge_count(self, language, said, lost):
        found = re.search(r"^<(\d+)>$", said, re.M)
        if not found:
            raise Wrong(f"{language} is done without its output: {said}")
        n, before = int(found[1]), self.counts[language]
        if n != before + 1 and not lost and language not in self.may_begin_anew:
            raise Wrong(f"{language} counts {n} after {before}, unreported: {said}")
        self.counts[language] = n

    def judge_saved(self, name, content, said):
        place = re.search(r"\| saved ([^|\]]+)", said)
        if place:
            self.saved[name] = content
            self.soak.tally["saved"] += 1
        elif UNSAVED.search(said):
            self.soak.tally["not saved, told"] += 1
        else:
            raise Wrong(f"{name} is neither saved nor told: {said}")

    def query(self):
        _, said = self.call("exec_sql", query="SELECT 6 * 7 AS answer")
        self.soak.tally["queried" if "42" in said else "query refused"] += 1

    def list(self):
        self.call("list_artifacts")

    def destroy(self):
        self.call("destroy_session")
        self.may_begin_anew.update(COUNTS)


class Soak:
    """The server, what is done to it, and what all workers found."""

    def __init__(self, server, seed):
        self.server, self.seed, self.rng = server, seed, random.Random(seed)
        self.over = threading.Event()
        self.tally = collections.Counter()
        self.longest = 0.0
        self.wrong = None
        self.done = collections.deque(maxlen=40)
        self.held = []  # (when it goes on, pidfd)

    def fail(self, wrong):
        self.wrong = self.wrong or wrong
        self.over.set()

    def victims(self):
        """By name, so that what there is one of is met as often as what there are many of."""
        by_name = collections.defaultdict(list)
        for pid, _ in family(self.server.process.pid):
            name = name_of(pid).strip()
            if name and name not in ("strace", "tr"):  # a file is what the code's own program came to write
                by_name[re.sub(r"\d+$", "", name)].append(pid)
        return by_name

    def short_lived(self):
        """Helpers that copy and remove, which a look at all processes comes too late for."""
        server = self.server.process.pid
        children = pathlib.Path(f"/proc/{server}/task/{server}/children")
        for _ in range(300):
            pids = [pid for pid in children.read_text(encoding="ascii").split() if name_of(pid).strip() == "ptycell-files"]
            if pids:
                return {"ptycell-files": [int(pids[0])]}
            time.sleep(0.001)
        return {}

    def signal(self):
        by_name = self.short_lived() if self.rng.random() < 0.2 else self.victims()
        if not by_name:
            return
        name = self.rng.choice(sorted(by_name))
        try:
            pidfd = os.pidfd_open(self.rng.choice(by_name[name]))
            how = self.rng.choice((signal.SIGKILL, signal.SIGSTOP))
            signal.pidfd_send_signal(pidfd, how)
        except ProcessLookupError:
            return
        self.tally[f"{how.name} {name}"] += 1
        self.done.append(f"{time.monotonic():.2f} {how.name} {name}")
        if how == signal.SIGKILL:
            os.close(pidfd)
        else:
            self.held.append((time.monotonic() + self.rng.choice((0.1, 1, 12)), pidfd))

    def let_go_on(self, all_of_them=False):
        for entry in list(self.held):
            if not all_of_them and entry[0] > time.monotonic():
                continue
            self.held.remove(entry)
            try:
                signal.pidfd_send_signal(entry[1], signal.SIGCONT)
            except ProcessLookupError:
                pass
            os.close(entry[1])

    def fail_a_call(self):
        call = self.rng.choice(sorted(FAILURES))
        error, when = self.rng.choice(FAILURES[call].split()), self.rng.randrange(1, 6)
        with subprocess.Popen(["strace", "-qq", "-o", "/dev/null", "-p", str(self.server.process.pid), "-e", f"trace={call}",
                               "-e", f"inject={call}:error={error}:when={when}"], stderr=subprocess.DEVNULL) as tracer:
            time.sleep(self.rng.choice((0.3, 1)))
            tracer.terminate()
            while tracer.poll() is None:  # it cannot leave a server that waits for a stopped child
                self.let_go_on()
                time.sleep(0.05)
        self.tally[f"{call} {error}"] += 1
        self.done.append(f"{time.monotonic():.2f} {call} {error} {when}")

    def run(self, seconds):
        workers = [Worker(self, number) for number in range(SESSIONS)]
        for worker in workers:
            worker.start()
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.over.is_set():
            self.let_go_on()
            traced = shutil.which("strace") and self.rng.random() < 0.3
            (self.fail_a_call if traced else self.signal)()
            if self.server.process.poll() is not None:
                self.fail(f"the server ended with {self.server.process.returncode}")
            time.sleep(self.rng.choice((0.05, 0.3, 1)))
        self.over.set()
        self.let_go_on(all_of_them=True)
        for worker in workers:
            worker.join(patience.WAIT_S)
        if self.wrong:
            raise Wrong(self.wrong)
        self.end(workers)

    def end(self, workers):
        """What was saved is there; no process and no folder of the server's is left."""
        processes = family(self.server.process.pid)
        code = self.server.close()
        if code != 0:
            raise Wrong(f"the server ended with {code}")
        patience.until(lambda: not alive(processes))
        home = self.server.home
        patience.until(lambda: not list(home.glob("cache/server-*")))
        there = {path.name: path for path in home.glob("kept/*/*")}
        for name, (letter, size) in (item for worker in workers for item in worker.saved.items()):
            if name not in there or there[name].read_text(encoding="ascii") != letter * size:
                raise Wrong(f"{name} was told as saved and is {'not whole' if name in there else 'not there'}")
        drafts = list(home.glob("kept/**/.ptycell-*"))
        if drafts:
            raise Wrong(f"left in the kept folder: {drafts}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("minutes", nargs="?", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    options = parser.parse_args()
    print(f"{options.minutes} minutes, seed {options.seed}, {os.environ['PTYCELL_BUILD']}", flush=True)
    # What outlives the server comes to this process.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    with again.folder("ptycell-faults-", f"PTYCELL_BUILD={os.environ['PTYCELL_BUILD']} scripts/soak faults {options.minutes} "
                      f"--seed {options.seed}") as folder:
        os.chmod(folder, 0o755)
        with Server(pathlib.Path(folder)) as server:
            soak = Soak(server, options.seed)
            try:
                soak.run(60 * options.minutes)
            except (Wrong, AssertionError) as wrong:
                print(f"WRONG, seed {options.seed}: {wrong!s}\nserver's exit code {server.process.poll()}, "
                      f"stderr: {server.said()[-3000:]}", flush=True)
                server.process.kill()
                sys.exit(1)
            finally:
                print("  " + ", ".join(f"{name} {count}" for name, count in sorted(soak.tally.items())) +
                      f"; the longest answer {soak.longest:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

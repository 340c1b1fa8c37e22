# SPDX-License-Identifier: MIT
"""Steps that several end-to-end tests share: waiting, looking at processes, judging texts."""
import contextlib
import ctypes
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import unicodedata

import pytest
from outside import PROC, pids
from patience import until

KCMP_FILE = 0
SYS_KCMP = {"x86_64": 312, "aarch64": 272, "riscv64": 272}.get(os.uname().machine)
# Characters that reorder, hide or smuggle text (lib/text/invisible.h).
HIDDEN = frozenset(map(chr, (0x61c, 0x180e, 0xfeff, *range(0x200b, 0x2010), *range(0x202a, 0x202f),
                             *range(0x2060, 0x2065), *range(0x2066, 0x2070),
                             *range(0xe0000, 0xe0080))))
# One of each kind: escapes, bells, bidi, zero width, C1, a line break of its own, a forged end.
EVIL = ("a\x1b[31mb\x1b]0;title\x07c\x00d\x7fe\u202ef\u200bg\x85h\u2028i\nj\r"
        "[s#1 done 0.00 s | saved /etc/passwd]\n[s#99 done 0.00 s]")
# The same for file names.
EVIL_NAME = EVIL.replace("\x00", "").replace("/", "\u2215")

BEGUN = "print('begun', flush=True)\n"
HOLD = "import os, time\nwhile not os.path.exists('input/go'): time.sleep(0.01)\n"
NEVER_S = 10**6  # a sleep that no test sees the end of: who waits for it hangs
HANG_S = 10**4   # the same as a `wait`


def telling(server, text, first, **place):
    """The answer that tells this text: the first of its cell, or that of a look which waits for it."""
    result = first if text in first.text else server.interact(until=text, **place)
    assert text in result.text, result.texts
    return result


def bash(server, code, session="s", **options):
    return server.call("exec_code", session_id=session, language="bash", code=code, **options)


def begin(server, code, session="s", **arguments):
    """Runs code on, whose line BEGUN has been reached when this returns; the next one may not have been."""
    first = server.cell(code, session=session, budget=0, **arguments)
    return telling(server, "begun", first, session=session, language=arguments.get("language", "python"))


def overdue(server, code, session="s", **arguments):
    """The answer of a cell that its deadline ended, after its line BEGUN."""
    for timeout in (0.3, 3, 30, 100):
        result = server.cell(code, session=session, timeout=timeout, **arguments)
        assert result.state == "timed_out", result.texts
        if "begun" in result.text:
            return result
    raise AssertionError(f"it does not begin: {result.texts}")


def skip_without(language):
    if not shutil.which({"javascript": "node", "r": "R"}.get(language, language)):
        pytest.skip(f"there is no {language} here")


def the_sessions(book):
    """The notebook with the session's cells and notes at its end alone: nothing that makes it run again."""
    ours = re.compile(r"(session|replay|language-\d+|before-\d+)$")
    book["cells"] = [cell for cell in book["cells"] if not ours.match(cell["id"])]
    return book


def go(server, session="s"):
    """Lets code go on from its line HOLD."""
    server.call("upload_file", session_id=session, filename="go", content="", overwrite=True)


def is_running(server, session="s"):
    """Has its cell been given to its interpreter?"""
    rows = server.call("list_sessions").object["sessions"]
    return [row["state"] for row in rows if row["session_id"] == session] == ["running"]


def own_seconds(stem):
    """A time to sleep for, as a word, that no other run of the tests has: with_word() finds who sleeps."""
    return f"{stem}.{os.getpid()}"


def listed(server, pattern="**", session="s"):
    """Paths of the session's files."""
    answer = server.call("list_artifacts", session_id=session, pattern=pattern)
    return [artifact["path"] for artifact in answer.object["artifacts"]]


def has_modules(server, modules, session):
    """Has the session imported all of them? One cell."""
    return server.cell(f"{set(modules)} <= __import__('sys').modules.keys()", session=session).text == "True\n"


def has_module(server, module, session):
    return has_modules(server, (module,), session)


def install(server, *packages, session="s", **arguments):
    return server.call("install_packages", session_id=session, packages=list(packages), **arguments)


# ---- where a session lies, seen from outside ----

def paths_in(top, pattern):
    """As Path.glob, which fails when a folder goes meanwhile."""
    return [pathlib.Path(path) for path in
            glob.iglob(os.path.join(glob.escape(os.fspath(top)), pattern), recursive=True, include_hidden=True)]


def journal_events(home):
    """The events of the only session's journal, alive or ended."""
    path, = paths_in(home, "cache/server-*/sessions/*/journal/events") or paths_in(home, "cache/resume/*/journal/events")
    head, *rest = path.read_bytes().split(b"\n", 1)
    events, text = [], rest[0]
    while text:
        fields, data = (int(number, 16) for number in text[:17].split())
        at = text.index(b"\n") + 1
        events.append(json.loads(text[at:at + fields]))
        text = text[at + fields + 1 + data + 1:]
    return events


def all_folders(home):
    """The working folders below this home, as the server sees them; also of what waits for a session."""
    return sorted(paths_in(home, "cache/server-*/sessions/*/data"))


def session_folders(home):
    """Those of sessions in which something was done."""
    return [folder for folder in all_folders(home) if
            any(map(_has_files, (folder, folder / "input", folder / "output", folder.parent / "journal")))]


def _has_files(folder):
    try:
        return bool(set(os.listdir(folder)) - {"input", "output", ".cache"})
    except OSError:
        return False


def kept_folders(home):
    """Those of sessions; beside them is the page that lists them."""
    return sorted(paths_in(home, "kept/*/"))


def kept_files(home):
    """The copies of what cells wrote; those of inputs lie in input/. Notebook and report beside them come and go anew."""
    return sorted(path for path in paths_in(home, "kept/**") if path.is_file() and
                  path.name not in ("notebook.ipynb", "report.html", "index.html") and not path.name.startswith(".ptycell") and path.parent.name != "input")


def spooled(home, path):
    """The text of a spool file that an answer names as the session sees it."""
    (spool,) = paths_in(home, f"cache/server-*/sessions/*/spool/{pathlib.PurePath(path).name}")
    return spool.read_text(encoding="utf-8")


def nothing_left(home):
    """No file of a server that has ended: it waits a second at most for the helper that removes them."""
    until(lambda: not os.path.isdir(home / "cache") or os.listdir(home / "cache") == [])


# ---- processes ----

def _stat(pid):
    """(parent, start, state), None when there is no such process.

    A sandbox's init without memory is told as a zombie: it has ended, and waits for the machine's own init, which may
    take seconds, to collect the interpreters that a killed launcher left behind in its pid namespace. Of others that
    would say too little: a process gives its memory up before its sockets, which a server hears of. For the same reason
    one whose first thread has ended has not, while there are others."""
    try:
        fields = (PROC / f"{pid}/stat").read_text(errors="replace")
        status = (PROC / f"{pid}/status").read_text(errors="replace")
    except OSError:
        return None
    fields = fields[fields.rindex(")") + 2:].split()
    has_ended = status.startswith("Name:\tptycell-init\n") and "\nVmSize:" not in status
    if fields[0] == "Z" and int(fields[17]) > 1:
        fields[0] = "R"
    return int(fields[1]), fields[19], "Z" if has_ended else fields[0]


def above(pid):
    """The number of its parent."""
    return _stat(pid)[0]


def family(pid):
    """All live descendants of `pid` as (pid, start), which names a process for ever."""
    stats = {pid: _stat(pid) for pid in pids()}
    found, todo = set(), [pid]
    while todo:
        parent = todo.pop()
        for child, stat in stats.items():
            if stat and stat[0] == parent and stat[2] != "Z" and (child, stat[1]) not in found:
                found.add((child, stat[1]))
                todo.append(child)
    return found


def interpreters(server):
    """The server's Python interpreters, among all that it started; outside their pids are others."""
    return {process for process in family(server.process.pid) if name_of(process[0]).startswith("python")}


def name_of(pid):
    """Of a process that may be gone: empty."""
    try:
        return (PROC / f"{pid}/comm").read_text(encoding="utf-8")
    except OSError:
        return ""


def alive(processes):
    """Those of `processes` that still run."""
    stats = {process: _stat(process[0]) for process in processes}
    return {p for p, stat in stats.items() if stat and stat[1] == p[1] and stat[2] not in "ZX"}


def with_word(word):
    """Processes that have `word` among their arguments."""
    found = set()
    for pid in pids():
        try:
            arguments = (PROC / f"{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        stat = _stat(pid)
        if word.encode() in arguments and stat and stat[2] not in "ZX":
            found.add((pid, stat[1]))
    return found


def all_gone(processes):
    until(lambda: not alive(processes))


def kill(pid):
    os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def unheard_death(server, process, end=kill):
    """Ends an interpreter, of whose end nobody tells the server within: supervisor, init and launcher stand still."""
    tellers = [above(process[0])]
    while above(tellers[-1]) != server.process.pid:
        tellers.append(above(tellers[-1]))
    for pid in reversed(tellers):  # whoever sees that one below it stands still would end it
        os.kill(pid, signal.SIGSTOP)
    try:
        ended = end(process[0])
        all_gone({process})
        yield ended
    finally:
        for pid in tellers:
            os.kill(pid, signal.SIGCONT)


def assert_leaves_nothing(server, end):
    """Ends a server, by its "input" or by a "kill", which leaves its files to the next."""
    processes = family(server.process.pid)
    if end == "kill":
        server.process.kill()
    else:
        assert server.close() == 0
    all_gone(processes)
    if end == "input":
        nothing_left(server.home)


# ---- texts ----

def strings(value):
    """Every string in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)


def assert_clean(value, breaks="\n\t"):
    """No control or hidden character anywhere in a JSON value; UTF-8 all through."""
    for text in strings(value):
        text.encode()
        bad = {c for c in text if c in HIDDEN or
               (unicodedata.category(c) in ("Cc", "Zl", "Zp") and c not in breaks)}
        assert not bad, f"{sorted(map(hex, map(ord, bad)))} in {text[:300]!r}"


def assert_honest(result):
    """The result is clean; its status is one line that parses, the last block and the only one."""
    assert_clean(result.raw)
    last = result.content[-1]
    assert last["type"] == "text" and "\n" not in last["text"]
    assert result.status
    assert len(json.dumps(result.raw)) < 1_000_000


def same_description(one, two):
    """Do two (pid, descriptor) share one open file? kcmp(2) tells."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.syscall(SYS_KCMP, one[0], two[0], KCMP_FILE, one[1], two[1]) == 0


def open_files(processes):
    for pid, _ in processes:
        for path in paths_in(f"{PROC}/{pid}/fd", "*"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # closed meanwhile
                yield (pid, int(path.name)), os.readlink(path)


def descriptors(server):
    """The server's descriptors by name; only root may look, as the server is not dumpable."""
    try:
        return os.listdir(f"{PROC}/{server.process.pid}/fd")
    except PermissionError:
        pytest.skip("only root may look into the server")

# SPDX-License-Identifier: MIT
"""What waits for the next session: it starts at once, and nothing else differs (issue 8; sandbox.md tests 69, 70, 78)."""
import itertools
import json
import os
import re
import subprocess
import time
from importlib.util import MAGIC_NUMBER

import pytest
from client import AHEAD, Result, Server
from machines import IS_ROOT, TIERS, confined_in
from outside import PROC
from patience import until
from steps import (SYS_KCMP, all_folders, all_gone, assert_leaves_nothing, descriptors, family,
                   has_module, has_modules, interpreters, kill, nothing_left, open_files, same_description,
                   unheard_death)
from test_languages import HERE

MODULE = "wave"  # nobody else imports it
ENV = {"PTYCELL_PRELOAD": MODULE, "PTYCELL_FORK": "0"}  # copies of a parent: test_forks.py
# Each prints a number that only its session's folder has.
INODE = {"python": "import os; print(os.stat('.').st_ino)", "bash": "stat -c %i .",
         "javascript": "console.log(require('fs').statSync('.').ino)", "r": "cat(system('stat -c %i .', intern = TRUE))"}
# What a program could tell a session by, without what differs from one to the next anyway.
LOOK = """
import json, os, resource, signal, sys, threading
def tree(top):
    return sorted((os.path.join(path, name), oct(os.lstat(os.path.join(path, name)).st_mode))
                  for path, folders, files in os.walk(top) for name in folders + files)
print(json.dumps({
    "folder": tree("."), "tmp": tree(os.environ.get("TMPDIR", "/tmp")), "spool": tree("/mnt/spool"), "shm": tree("/dev/shm"),
    "names": sorted(globals()), "environment": dict(os.environ), "cwd": os.getcwd(), "path": sys.path, "argv": sys.argv,
    "descriptors": sorted(os.listdir("/proc/self/fd")), "threads": len(threading.enumerate()),
    "processes": sorted(filter(str.isdigit, os.listdir("/proc"))), "nice": os.nice(0), "policy": os.sched_getscheduler(0),
    "limits": [resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")],
    "handlers": [str(signal.getsignal(number)).split(" at ")[0] for number in range(1, 32)],
    "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())), "umask": os.umask(0o077),
    "streams": [type(stream).__name__ for stream in (sys.stdin, sys.stdout, sys.stderr)],
    "who": (os.getuid(), os.getgid(), os.getpid(), os.getsid(0)), "modules": sorted(sys.modules)}))
"""


@pytest.fixture
def ready(home):
    """A server with what imports MODULE ahead."""
    with Server(home, env=ENV) as server:
        yield server
    if server.stderr:
        print(server.stderr.decode(errors="replace"))


def spared(server, stem="spared", *modules):
    """The id of a new session that got what waited, with these imported."""
    numbers = itertools.count()

    def attempt():
        name = f"{stem}{next(numbers)}"
        if has_modules(server, modules or (MODULE,), name):
            return name
        server.call("destroy_session", session_id=name)
        return None
    return until(attempt, every=1)


def cold(server, name="cold"):
    """The id of a new session that starts from nothing."""
    server.call("session_info", session_id=name, config={})
    assert not has_module(server, MODULE, name)
    return name


def interpreter_of(server, session, language="python"):
    """Its process, known by the folder that it is in."""
    inode = int(server.cell(INODE[language], session=session, language=language).text)
    for pid, start in family(server.process.pid):
        try:
            if os.stat(f"{PROC}/{pid}/cwd").st_ino == inode:
                return pid, start
        except OSError:
            pass
    pytest.skip("nobody but root sees the folders of these processes")


# ---- the session that gets it ----

def test_a_session_that_gets_what_waited_is_a_new_one(ready):
    ready.cell("x = 1", session="first")
    name = spared(ready)
    ready.call("destroy_session", session_id=name)
    until(lambda: len(interpreters(ready)) == 2)
    result = ready.cell("1 + 1", session="new")
    assert "Session 'new' is new and empty" in result.notice
    assert result.text == "2\n" and result.status["cell"] == 1 and result.state == "done"
    info = ready.call("session_info", session_id="new", include=["variables"]).object
    assert info["generation"] == 1
    assert [row["state"] for row in info["languages"] if row["name"] == "python"] == ["ready"]
    assert not info.get("variables")
    assert {row["session_id"] for row in ready.call("list_sessions").object["sessions"]} == {"first", "new"}


def test_what_waits_is_no_session(ready):
    ready.cell("1")
    until(lambda: len(interpreters(ready)) == 2)
    assert [row["session_id"] for row in ready.call("list_sessions").object["sessions"]] == ["s"]
    assert "uri" in str(ready.request("resources/list"))
    assert len(all_folders(ready.home)) == 2
    name = spared(ready)
    assert ready.call("list_artifacts", session_id=name).object["artifacts"] == []


def test_files_put_in_first_are_there(ready):
    ready.call("destroy_session", session_id=spared(ready))
    until(lambda: len(interpreters(ready)) == 1)

    def attempt():
        ready.call("upload_file", session_id="files", filename="a.csv", content="a,b\n")
        if has_module(ready, MODULE, "files"):
            return True
        ready.call("destroy_session", session_id="files")
        return False
    until(attempt, every=1)
    result = ready.cell("open('input/a.csv').read()", session="files")
    assert result.text == "'a,b\\n'\n"
    assert not result.links


def test_a_limit_that_was_lowered_holds(ready):
    ready.call("destroy_session", session_id=spared(ready))
    until(lambda: len(interpreters(ready)) == 1)
    ready.call("upload_file", session_id="low", filename="f", content="x")
    ready.call("session_info", session_id="low", config={"open_files_max": 100})
    result = ready.cell("import resource, os\nresource.getrlimit(resource.RLIMIT_NOFILE), os.listdir('input')", session="low")
    assert result.text == "((100, 100), ['f'])\n"
    assert not has_module(ready, MODULE, "low")


def test_what_an_import_prints_is_not_shown(home):
    with Server(home, env={**ENV, "PTYCELL_PRELOAD": "this"}) as server:
        name = spared(server, "spared", "this")
        server.call("destroy_session", session_id=name)
        for number in range(3):
            assert "Zen of Python" not in str(server.cell("1", session=f"n{number}").raw)


def test_one_that_was_killed_is_replaced(ready):
    ready.cell("1")
    own = interpreters(ready)
    waiting = until(lambda: interpreters(ready) - own)
    for pid, _ in waiting:
        kill(pid)
    all_gone(waiting)
    assert ready.cell("1 + 1", session="next").text == "2\n"
    assert spared(ready)


@pytest.mark.skipif(not IS_ROOT, reason="nobody but root stops what is in a sandbox")
def test_one_that_hung_up_is_not_handed_out(home):
    with Server(home, env={**ENV, "PTYCELL_LOG": "info"}) as server:
        server.cell("1")
        own = interpreters(server)
        until(lambda: b"spares: python is ready" in server.stderr)
        with unheard_death(server, *interpreters(server) - own):
            pending = server.start_cell("1 + 1", session="next")
            server.request("ping")
        assert Result(pending.get()["result"]).text == "2\n"


@pytest.mark.parametrize("language", HERE)
def test_each_language_has_one_after_its_first_use(home, language):
    with Server(home) as server:
        server.cell(INODE[language], session="first", language=language)

        def attempt():
            before = family(server.process.pid)
            server.cell(INODE[language], session="next", language=language)
            found = interpreter_of(server, "next", language)
            server.call("destroy_session", session_id="next")
            return found in before
        assert until(attempt, every=1)


def test_figures_work_with_pyplot_imported_ahead(home):
    with Server(home, env=AHEAD) as server:
        if server.cell("import matplotlib.pyplot").is_error:
            pytest.skip("there is no matplotlib here")
        name = spared(server, "spared", "matplotlib.pyplot")
        result = server.cell("import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()", session=name)
        assert len(result.images) == 1 and result.state == "done"
        assert server.cell("import os\nsorted(os.listdir('.'))", session=name).text == "['input', 'output']\n"


# ---- 69: nothing of what was done ahead shows ----

@pytest.mark.parametrize("modules", [MODULE, f"numpy,pandas,matplotlib.pyplot,{MODULE}"], ids=["one", "many"])
def test_no_state_of_the_warm_up_is_visible(home, modules):
    with Server(home, env={**ENV, "PTYCELL_PRELOAD": modules, "PTYCELL_OUTPUT_CHARS": "200000"}) as server:
        first = look(server, cold(server))
        second = look(server, spared(server))
    imported = set(second.pop("modules")) - set(first.pop("modules"))
    assert MODULE in imported
    assert second == first


def look(server, session):
    result = server.cell(LOOK, session=session)
    assert result.state == "done", result.texts
    return json.loads(result.text)


CHANCE = """
import os, random, tempfile, uuid
print(random.random(), uuid.uuid4(), next(tempfile._get_candidate_names()), hash("abc"), id(object()), os.urandom(4).hex())
try:
    import numpy
    print(numpy.random.random(), numpy.random.default_rng().random())
except ImportError:
    pass
"""


def test_sessions_draw_different_random_numbers(home):
    with Server(home, env={**ENV, "PTYCELL_PRELOAD": f"random,tempfile,uuid,numpy,{MODULE}"}) as server:
        drawn = [server.cell(CHANCE, session=spared(server, stem)).text.split() for stem in "abc"]
    for numbers in zip(*drawn):
        assert len(set(numbers)) == 3, numbers


# ---- 70, 78: what it has in common with others ----

@pytest.mark.skipif(not IS_ROOT or SYS_KCMP is None, reason="only root may compare other processes' descriptors")
def test_sessions_that_got_what_waited_share_nothing(ready):
    pairs = [interpreter_of(ready, spared(ready, stem)) for stem in "ab"]
    first, second = ({pair} for pair in pairs)
    for one, two in itertools.product(open_files(first), open_files(second)):
        assert not same_description(one[0], two[0]), (one, two)
    for pid, _ in pairs:
        maps = (PROC / f"{pid}/maps").read_text(encoding="utf-8")
        assert not re.findall(r"^\S+ .w.s .*", maps, re.M), "memory that is shared"
    for kind in ("mnt", "pid", "net", "ipc", "uts", "user", "cgroup"):
        assert os.readlink(f"{PROC}/{pairs[0][0]}/ns/{kind}") != os.readlink(f"{PROC}/{pairs[1][0]}/ns/{kind}"), kind


@pytest.mark.parametrize("tier", TIERS)
def test_it_is_confined_as_any_session(tier):
    with confined_in(tier, **ENV) as confined:
        started = cold(confined.server)
        waited = spared(confined.server)
        for group in ("files", "processes", "kernel", "terminal"):
            assert tried(confined, group, waited) == tried(confined, group, started)


def tried(confined, group, session):
    """{attempt: answer}, without what differs from session to session, and the host's own processes."""
    text = json.dumps(confined.attempts(group, session))
    for own in (r"/sessions/\w+/", r"/dev/pts/\d+", r"(?<!\d)(1[89]|20)\d{8}(?!\d)"):  # folder, terminal, user
        text = re.sub(own, "OWN", text)
    answers = json.loads(text)
    if confined.tier == "landlock":
        answers.pop("15 /proc", None)
    return answers


# ---- at rest ----

def used(server):
    """Ticks of processor time, and how often they were woken, of the server and all that it started."""
    ticks = switches = 0
    for pid in [server.process.pid, *(pid for pid, _ in family(server.process.pid))]:
        try:
            fields = (PROC / f"{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
            status = (PROC / f"{pid}/status").read_text(errors="replace")
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
        switches += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.M)[1])
    return ticks, switches


def used_in(server, seconds):
    ticks, switches = used(server)
    time.sleep(seconds)
    after = used(server)
    return after[0] - ticks, after[1] - switches


def test_at_rest_nothing_uses_the_processor(home):
    """What is made ahead costs time once, and then no more."""
    with Server(home, env=AHEAD) as server:
        for language in HERE:
            server.cell(INODE[language], session=f"of-{language}", language=language)

        def rests():
            """The server looks every 2 s whether its parent lives. What polls would be woken far more often."""
            ticks, switches = used_in(server, 5)
            return ticks <= 1 and switches < 40
        until(rests)


# ---- the first session ----

def test_the_first_interpreter_starts_while_its_confinement_is_tried(home):
    """And is the session's: its first cell is its first, and runs when the escape tests were stopped."""
    with Server(home, env={"PTYCELL_LOG": "debug"}) as server:
        result = server.cell("1 + 1", session="first")
        assert result.text == "2\n" and result.status["cell"] == 1
        assert "Session 'first' is new and empty" in result.notice
    log = server.stderr.decode()
    if "tier namespaces" not in log:
        pytest.skip("only the strongest tier is foreseen")
    moves = [log.index(text) for text in ("not started -> starting", "tier namespaces", "ready -> running")]
    assert moves == sorted(moves)


def test_a_first_call_that_cannot_run_leaves_a_server_that_works(home):
    with Server(home) as server:
        assert server.call("exec_code", session_id="bad id!", language="python", code="1").is_error
        assert server.call("exec_code", session_id="s", language="cobol", code="1").is_error
        assert server.cell("1 + 1").text == "2\n"


# ---- compiled drivers ----

def of_another_version():
    """One of PTYCELL_TEST_PYTHONS whose bytecode is not that of the build's Python."""
    for python in os.environ.get("PTYCELL_TEST_PYTHONS", "").split(":"):
        code = "import importlib.util, sys; print(importlib.util.MAGIC_NUMBER.hex())"
        if python and subprocess.run([python, "-c", code], stdout=subprocess.PIPE, text=True).stdout.strip() != MAGIC_NUMBER.hex():
            return python
    return None


@pytest.mark.skipif(of_another_version() is None, reason="PTYCELL_TEST_PYTHONS names no Python of another version")
def test_what_another_python_compiled_serves_its_next_starts(home):
    env = {"PTYCELL_PYTHON": of_another_version(), **ENV}
    folder = home / "cache" / "drivers"

    def kept():
        return [(path.name, path.stat().st_ino) for path in folder.iterdir()] if folder.exists() else []
    with Server(home, env=env) as server:
        server.cell("1")
        name = spared(server)
        assert server.cell(f"import os\nos.path.exists({str(folder)!r})", session=name).text == "False\n"
        (first,) = until(kept)
        assert folder.stat().st_mode & 0o777 == 0o700
    with Server(home, env=env) as server:
        assert server.cell("1 + 1").text == "2\n"
        assert spared(server)
        assert kept() == [first], "it was compiled again"
    (folder / first[0]).write_bytes(b"damaged")
    with Server(home, env=env) as server:
        assert server.cell("1 + 1").text == "2\n"
        assert spared(server)
        (second,) = until(kept)
        assert second != first and (folder / second[0]).stat().st_size > 10000


# ---- ends ----

@pytest.mark.parametrize("end", ["input", "kill"])
@pytest.mark.parametrize("count", [2, 5])
def test_nothing_that_waits_survives_the_server(home, end, count):
    with Server(home, env={**ENV, "PTYCELL_SPARES": str(count - 1)}) as server:
        server.cell("1")
        until(lambda: len(interpreters(server)) == count)
        assert_leaves_nothing(server, end)


def test_what_is_being_made_does_not_survive_either(home):
    with Server(home) as server:
        server.cell("1")
        until(lambda: len(all_folders(home)) >= 2, every=0.001)
        processes = family(server.process.pid)
        assert server.close() == 0
        all_gone(processes)
    nothing_left(home)


def test_sessions_that_got_one_leave_nothing_behind(ready):
    before = None
    for _ in range(4):
        ready.call("destroy_session", session_id=spared(ready))
        # What waits next: launcher, init, supervisor, interpreter, and our ends of its channels.
        until(lambda: len(all_folders(ready.home)) == 1 and len(family(ready.process.pid)) == 4)
        if before is None:
            before = until(lambda: rested(ready))
        until(lambda: len(descriptors(ready)) == before)


def rested(server):
    """How many descriptors it has, once that stays."""
    count = len(descriptors(server))
    return all(time.sleep(0.05) or len(descriptors(server)) == count for _ in range(20)) and count


def test_a_session_without_a_cell_gives_back_what_waited_for_it(home):
    """Its listener too, where hosts may be reached."""
    with Server(home, env={"PTYCELL_HOSTS": "a.example", **ENV}) as server:
        server.call("destroy_session", session_id=spared(server))
        until(lambda: len(all_folders(home)) == 1 and len(interpreters(server)) == 1)
        before = until(lambda: rested(server))
        for _ in range(3):
            waiting = interpreters(server)
            server.call("upload_file", session_id="u", filename="f", content="x")
            server.call("destroy_session", session_id="u")
            all_gone(waiting)
            until(lambda: len(all_folders(home)) == 1 and len(interpreters(server)) == 1)
            assert until(lambda: rested(server)) == before

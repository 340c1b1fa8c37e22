# SPDX-License-Identifier: MIT
"""Sessions that are copies of a Python that has imported (issue 8.2): they are confined as any other, have nothing in common with it
or with each other, and work alike (sandbox.md tests 69, 70, 78)."""
import itertools
import json
import os
import re
import signal
import threading
import time

import pytest
from client import Server
from machines import IS_ROOT, confined_in
from outside import PROC
from patience import until
from steps import (BEGUN, SYS_KCMP, above, all_folders, all_gone, assert_leaves_nothing, family,
                   has_module, interpreters, open_files, overdue, same_description)
from test_spares import MODULE, interpreter_of, look, spared, tried

ENV = {"PTYCELL_PRELOAD": MODULE}
OFF = {**ENV, "PTYCELL_FORK": "0"}
MARK = "ctypes"  # imported by the parent, by nothing that waits for itself
SAID = "sessions are forked from it"
WAITS = "spares: python is ready"
# What differs from a start of its own: numbers of processes, since one more is there for a moment.
PIDS = r"(?<![\d.])([3-5]|9\d)(?![\d.])"


def forked(server, stem="forked"):
    """The id of a new session that is a copy, of a parent with all its imports."""
    return spared(server, stem, MARK, MODULE)


@pytest.fixture(scope="module", name="tier")
def tier_here(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("tier")) as server:
        server.cell("1")
        return server.call("session_info", session_id="s").object["confinement"]["tier"]


@pytest.fixture(autouse=True)
def can_fork(tier):
    if tier != "namespaces":
        pytest.skip(f"sessions are forked in tier namespaces, and this is {tier}")


@pytest.fixture
def ready(home):
    with Server(home, env={**ENV, "PTYCELL_LOG": "info"}) as server:
        yield server
    print(server.stderr.decode(errors="replace"))


def parent_of(server):
    """The parent's process: that of no session's folder and of no sandbox that waits."""
    known = {interpreter_of(server, row["session_id"]) for row in server.call("list_sessions").object["sessions"]}
    return min((process for process in interpreters(server) - known if has_children_files(process)),
               key=lambda p: int(p[1]), default=None)


def has_children_files(process):
    """Has it two channels open, as only a parent has?"""
    return all(os.path.realpath(f"{PROC}/{process[0]}/fd/{channel}").rpartition("/")[2].startswith("socket:") for channel in (3, 4))


def strip(answers):
    """Without numbers of processes, and without V8's limit, which follows the session's."""
    return re.sub(r"(max-old-space-size=)\d+", r"\1N", re.sub(PIDS, "N", str(answers)))


# ---- what sessions see ----

def test_a_copy_has_what_was_imported_and_the_same_hashes(ready):
    first, second = forked(ready, "a"), forked(ready, "b")
    assert has_module(ready, MODULE, first)
    assert ready.cell("hash('abc')", session=first).text == ready.cell("hash('abc')", session=second).text


def test_sessions_that_follow_at_once_are_copies_without_imports(tmp_path):
    """Of a parent that has no quiet moment for them; a slow machine may give it some."""
    homes = itertools.count()

    def attempt():
        with Server(tmp_path / str(next(homes)), env=ENV) as server:
            for number in range(10):
                if has_module(server, MARK, f"s{number}"):
                    return not has_module(server, MODULE, f"s{number}") and server.cell("6 * 7", session=f"s{number}").text == "42\n"
        return False
    until(attempt)


@pytest.mark.parametrize("before", ["", "session_info"])
def test_the_second_session_waits_a_moment_to_be_a_copy(tmp_path, before):
    """Of a parent that serves within SPARES_COMING_MS; one that is later, on a slow machine, the log tells of."""
    homes = itertools.count()

    def attempt():
        with Server(tmp_path / str(next(homes)), env={**ENV, "PTYCELL_LOG": "debug"}) as server:
            server.cell("1", session="first")
            if before:
                server.call(before, session_id="second")
            copied = has_module(server, MARK, "second")
        waited = b"code waits" in server.stderr
        assert copied or not waited or b"did not come in time" in server.stderr
        return waited
    until(attempt)


@pytest.mark.skipif(not IS_ROOT, reason="nobody but root stops what is in a sandbox")
def test_a_parent_that_does_not_come_is_waited_for_no_longer(tmp_path):
    """It is stopped while it starts, if that is seen in time. It is given up after 30 s, which is not waited for."""
    homes = itertools.count()

    def attempt():
        with Server(tmp_path / str(next(homes)), env=ENV) as server:
            server.cell("1", session="first")
            parents = until(lambda: set(filter(has_children_files, interpreters(server))), every=0)
            for parent, _ in parents:
                os.kill(parent, signal.SIGSTOP)
            copied = has_module(server, MARK, "second")
            return not copied and parents <= family(server.process.pid)
    until(attempt)


def test_what_waits_is_a_copy_at_once_and_another_when_all_is_imported(home):
    """Sessions that come again and again find one, though the parent has no quiet moment for imports."""
    with Server(home, env={**ENV, "PTYCELL_LOG": "info"}) as server:
        server.cell("1", session="first")
        forked(server)
        until(lambda: SAID.encode() in server.stderr and server.stderr.rindex(WAITS.encode()) > server.stderr.index(SAID.encode()))
    log = server.stderr.decode()
    assert log.index(WAITS) < log.index(SAID)


def test_what_waits_is_a_copy_of_a_parent_that_got_ready(home):
    """So that it has that memory in common with it, and with all other copies."""
    with Server(home, env={**ENV, "PTYCELL_LOG": "debug"}) as server:
        server.cell("1", session="first")
        until(lambda: WAITS.encode() in server.stderr)
    log = server.stderr.decode()
    assert log.index("serves, and its driver is ready") < log.index(WAITS)


def test_another_language_does_not_wait_for_imports_of_the_parent(tmp_path):
    """On a busy machine it may come later by itself."""
    homes = itertools.count()

    def attempt():
        with Server(tmp_path / str(next(homes)), env={**ENV, "PTYCELL_LOG": "info"}) as server:
            server.cell("1", session="first")
            server.cell("1", session="first", language="bash")
            forked(server)
            until(lambda: WAITS.replace("python", "bash").encode() in server.stderr)
        log = server.stderr.decode()
        return log.index(WAITS.replace("python", "bash")) < log.index(SAID)
    until(attempt)


def test_it_can_be_switched_off(home):
    with Server(home, env=OFF) as server:
        first, second = spared(server, "a"), spared(server, "b")
        assert not has_module(server, MARK, first)
        assert server.cell("hash('abc')", session=first).text != server.cell("hash('abc')", session=second).text


def test_the_first_session_starts_cold(ready):
    assert not has_module(ready, MARK, "first")


@pytest.mark.parametrize("modules", [MODULE, f"numpy,pandas,matplotlib.pyplot,{MODULE}"], ids=["one", "many"])
def test_a_copy_looks_like_a_start_of_its_own(home, modules):
    with Server(home, env={"PTYCELL_PRELOAD": modules, "PTYCELL_OUTPUT_CHARS": "200000", "PTYCELL_ENV_MINE": "x"}) as server:
        first = look(server, "cold")
        second = look(server, forked(server))
    imported = set(second.pop("modules")) - set(first.pop("modules"))
    assert MODULE in imported
    assert second.pop("who")[:2] == first.pop("who")[:2]
    assert len(second.pop("processes")) == len(first.pop("processes"))
    assert second == first


def test_copies_draw_different_random_numbers(home):
    chance = ("import multiprocessing, random, tempfile, uuid, os\nprint(random.random(), uuid.uuid4(), next(tempfile._get_candidate_names()), "
              "os.urandom(4).hex(), multiprocessing.current_process().authkey.hex())\ntry:\n    import numpy\n    print(numpy.random.random(), numpy.random.default_rng().random())\n"
              "except ImportError:\n    pass\n")
    with Server(home, env={"PTYCELL_PRELOAD": f"random,multiprocessing,tempfile,uuid,numpy,numpy.random,{MODULE}"}) as server:
        drawn = [server.cell(chance, session=forked(server, stem)).text.split() for stem in "abc"]
    for numbers in zip(*drawn):
        assert len(set(numbers)) == 3, numbers


def test_a_copy_knows_its_program_its_thread_and_its_folders(home):
    """What an interpreter has found out by its first cell, and a parent found out elsewhere."""
    code = ("import os, shutil, subprocess, threading\nassert threading.main_thread().native_id == os.getpid()\n"
            "assert open('/proc/self/exe', 'rb').read(4) == b'\\x7fELF'\n"
            "print(subprocess.check_output(['/proc/self/exe', '-c', 'print(6 * 7)'], text=True))\n")
    folders = ("import matplotlib\nfor ask in (matplotlib.get_cachedir, matplotlib.get_configdir):\n"
               "    assert os.path.isdir(ask())\n    shutil.rmtree(ask())\n")
    with Server(home, env={"PTYCELL_PRELOAD": f"threading,matplotlib.pyplot,{MODULE}"}) as server:
        result = server.cell(code, session=(name := forked(server)))
        assert result.text == "42\n\n", result.text
        if has_module(server, "matplotlib", name):
            result = server.cell(folders, session=name)
            assert not result.is_error, result.text


def test_a_secret_reaches_copies_only(home):
    """What the person passes on is in the environment of each session, and not in that of the parent."""
    with Server(home, env={**ENV, "PTYCELL_SECRET_TOKEN": "quite-a-long-word"}) as server:
        name = forked(server)
        assert server.cell("import os; len(os.environ['TOKEN'])", session=name).text == "17\n"
        assert server.cell("import subprocess\nlen(subprocess.check_output(['sh', '-c', 'echo $TOKEN']))", session=name).text == "18\n"
        for pid, _ in interpreters(server) if IS_ROOT else ():
            assert b"quite-a-long-word" not in (PROC / f"{pid}/environ").read_bytes()


@pytest.mark.parametrize("variable", ["PYTHONHASHSEED", "LD_LIBRARY_PATH"])
def test_what_is_read_at_the_start_only_keeps_sessions_from_being_copies(home, variable):
    with Server(home, env={**ENV, f"PTYCELL_ENV_{variable}": "0"}) as server:
        assert not has_module(server, MARK, spared(server))


def test_less_memory_than_a_copy_needs_starts_cold(ready):
    ready.call("destroy_session", session_id=forked(ready))
    ready.call("session_info", session_id="low", config={"memory_max": 256 << 20})
    assert not has_module(ready, MARK, "low")
    assert ready.cell("len(bytearray(1 << 20))", session="low").text == "1048576\n"


# ---- 70, 78: what it has in common with others ----

@pytest.mark.skipif(not IS_ROOT or SYS_KCMP is None, reason="only root may compare other processes' descriptors")
def test_copies_share_nothing_with_the_parent_or_each_other(ready):
    pairs = [interpreter_of(ready, forked(ready, stem)) for stem in "ab"]
    pairs.append(parent_of(ready))
    for one_of, two_of in itertools.combinations(pairs, 2):
        for one, two in itertools.product(open_files({one_of}), open_files({two_of})):
            assert not same_description(one[0], two[0]), (one, two)
        for kind in ("mnt", "pid", "net", "ipc", "uts", "user", "cgroup"):
            assert os.readlink(f"{PROC}/{one_of[0]}/ns/{kind}") != os.readlink(f"{PROC}/{two_of[0]}/ns/{kind}"), kind
    for pid, _ in pairs:
        maps = (PROC / f"{pid}/maps").read_text(encoding="utf-8")
        assert not re.findall(r"^\S+ .w.s .*", maps, re.M), "memory that is shared"


@pytest.mark.skipif(not IS_ROOT, reason="only root sees the parent")
def test_the_parent_has_no_capability_and_one_thread(ready):
    forked(ready)
    status = (PROC / f"{parent_of(ready)[0]}/status").read_text(encoding="utf-8")
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert re.search(rf"^{name}:\t0+$", status, re.M), name
    assert re.search(r"^NoNewPrivs:\t1$", status, re.M) and re.search(r"^Threads:\t1$", status, re.M)


def test_it_is_confined_as_any_session():
    with confined_in("namespaces", **ENV) as confined:
        confined.server.call("session_info", session_id="cold", config={"memory_max": 500 << 20})
        copy = forked(confined.server)
        assert not has_module(confined.server, MARK, "cold")
        for group in ("files", "processes", "kernel", "terminal"):
            found = [tried(confined, group, name) for name in (copy, "cold")]
            assert strip(found[0]) == strip(found[1]), group


# ---- it works alike ----

def test_interrupts_tracebacks_and_variables_work(ready):
    name = forked(ready)
    result = overdue(ready, BEGUN + "while True: pass", session=name)
    assert "KeyboardInterrupt" in result.text
    result = ready.cell("x = 1\nx / 0", session=name)
    assert f'File "<cell {result.status["cell"]}>", line 2' in result.text and "x / 0" in result.text and "driver" not in result.text
    info = ready.call("session_info", session_id=name, include=["variables"]).object
    assert [row["name"] for row in info["variables"]["python"]["names"]] == ["x"] if "python" in info["variables"] else info["variables"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing_works(ready, method):
    code = ("import multiprocessing\ndef square(n):\n    return n * n\n"
            f"with multiprocessing.get_context({method!r}).Pool(2) as pool:\n    print(pool.map(square, [1, 2, 3]))")
    assert ready.cell(code, session=forked(ready)).text == "[1, 4, 9]\n"


def test_a_copy_that_ended_is_started_anew(ready):
    name = forked(ready)
    assert ready.cell("import os; os._exit(3)", session=name).state == "died"
    assert ready.cell("1 + 1", session=name).text == "2\n"
    # By itself: packages of its own may be there now, which come before what the parent has.
    assert not has_module(ready, MARK, name)


def test_what_waits_holds_no_names_in_a_writable_share(home, tmp_path):
    """Those that sessions must not make there are the owner's again once there is none; and who comes is a copy."""
    share = tmp_path / "project"
    share.mkdir()
    with Server(home, "--share", f"{share}:rw", env=ENV) as server:
        name = forked(server)
        assert (share / ".envrc").exists()
        server.call("destroy_session", session_id=name)
        until(lambda: not list(share.iterdir()))
        begun = time.monotonic()
        until(lambda: time.monotonic() > begun + 1.5)
        assert not list(share.iterdir())
        forked(server, "again")


# ---- ends ----

@pytest.mark.skipif(not IS_ROOT, reason="only root sees the parent")
def test_sessions_outlive_the_parent_and_new_ones_start(ready):
    name = forked(ready)
    ready.cell("x = 5", session=name)
    parent = parent_of(ready)
    os.kill(parent[0], signal.SIGKILL)
    all_gone({parent})
    assert ready.cell("x", session=name).text == "5\n"
    assert ready.cell("1 + 1", session="next").text == "2\n"
    forked(ready, "again")
    assert ready.cell("x", session=name).text == "5\n"


@pytest.mark.skipif(not IS_ROOT, reason="only root sees the parent")
@pytest.mark.parametrize("who", ["init of the nursery", "launcher"])
def test_sessions_are_copies_again_after_their_nursery_died(ready, who):
    forked(ready)
    parent = parent_of(ready)
    init = above(above(parent[0]))
    os.kill(above(init) if who == "launcher" else init, signal.SIGKILL)
    ready.cell("1 + 1", session="at-once")
    all_gone({parent})
    assert ready.cell("1 + 1", session="next").text == "2\n"
    forked(ready, "again")
    # Those of sessions, of the parent and of what waits next; not that of what died.
    live = len(ready.call("list_sessions").object["sessions"])
    until(lambda: len(all_folders(ready.home)) == live + 2)


@pytest.mark.skipif(not IS_ROOT, reason="only root sees the parent")
@pytest.mark.parametrize("delay_ms", [0, 1, 2, 4, 8])
def test_a_nursery_may_die_at_any_moment_of_a_start(ready, delay_ms):
    forked(ready)
    init = above(above(parent_of(ready)[0]))
    timer = threading.Timer(delay_ms / 1000, os.kill, (init, signal.SIGKILL))
    ready.cell("1", session="takes-what-waits")
    timer.start()
    first = ready.cell("1 + 1", session="next")
    assert first.text == "2\n" or any("ended with its sandbox" in text for text in first.texts), first.texts
    timer.join()
    assert ready.cell("1 + 1", session="after").text == "2\n"
    assert ready.cell("1 + 1", session="next").text == "2\n"
    assert b"not ready" not in ready.stderr  # nobody waited in vain


@pytest.mark.skipif(not IS_ROOT, reason="only root sees the parent")
def test_a_parent_that_does_not_answer_is_not_waited_for_twice(ready):
    forked(ready)
    parent = parent_of(ready)
    os.kill(parent[0], signal.SIGSTOP)
    for number in range(3):
        assert ready.cell("1 + 1", session=f"n{number}").text == "2\n"
    all_gone({parent})
    forked(ready, "again")


@pytest.mark.skipif(not IS_ROOT, reason="only root sees the parent")
@pytest.mark.parametrize("attempt", range(6))
def test_a_parent_that_ends_as_its_import_is_due_takes_no_server_along(ready, attempt):
    """The server sees both at once when it stood still meanwhile, amid requests."""
    assert ready.cell("1").text == "1\n"
    parent = until(lambda: parent_of(ready), every=0)
    many = "".join(json.dumps({"jsonrpc": "2.0", "id": 1000 + n, "method": "tools/list"}) + "\n" for n in range(1000 + attempt))
    ready.process.stdin.write(many.encode())
    ready.process.stdin.flush()
    ready.others.get()
    ready.process.send_signal(signal.SIGSTOP)
    os.kill(parent[0], signal.SIGKILL)
    begun = time.monotonic()
    until(lambda: time.monotonic() > begun + 0.6)
    ready.process.send_signal(signal.SIGCONT)
    ready.request("ping")
    assert ready.cell("1 + 1", session="next").text == "2\n"


@pytest.mark.parametrize("end", ["input", "kill"])
def test_nothing_survives_the_server(home, end):
    with Server(home, env=ENV) as server:
        forked(server)
        assert_leaves_nothing(server, end)


def test_sessions_that_were_copies_leave_nothing_behind(ready):
    counts = []
    for _ in range(4):
        name = forked(ready)
        process = interpreter_of(ready, name) if IS_ROOT else None
        ready.call("destroy_session", session_id=name)
        # The parent's folder and that of what waits next.
        until(lambda: len(all_folders(ready.home)) == 2)
        all_gone({process} if process else set())
        counts.append(until(lambda: settled(ready)))
    assert counts[1] == counts[-1]


def settled(server):
    """How many processes it has, once what waits is there: launcher, and init, supervisor and interpreter of it and the parent."""
    count = len(family(server.process.pid))
    return count if count == 7 else None

# SPDX-License-Identifier: MIT
"""What confinement asks of the server itself (issue 3, tests 72 to 78): its folders, its processes,
the person's own programs, and what two sessions have in common."""
import fcntl
import itertools
import os
import re
import resource
import signal
import subprocess

import pytest
from client import ALONE, BUILD, Server, environment
from outside import PROC
from patience import until
from steps import (SYS_KCMP, all_gone, alive, family, interpreters, open_files, same_description,
                   session_folders)

IS_ROOT = os.geteuid() == 0
SECRET = "correct-horse-battery-staple"


def comm(pid):
    return (PROC / f"{pid}/comm").read_text(encoding="utf-8").strip()


# ---- 72: the home folder ----

def refused(home):
    with Server(home) as server:
        result = server.cell("print('ran')")
        assert result.is_error and "ran" not in "".join(result.texts)
        return "".join(result.texts)


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_home_open_to_others_is_refused_with_the_command(home, mode):
    cache = home / "cache"
    cache.mkdir()
    cache.chmod(mode)
    assert "chmod 700" in refused(home)
    assert os.listdir(cache) == []


@pytest.mark.skipif(not IS_ROOT, reason="only root can give a folder away")
def test_a_home_of_another_user_is_refused(home):
    (home / "cache").mkdir(0o700)
    os.chown(home / "cache", 65534, 65534)
    assert "belongs to another user" in refused(home)


def test_a_link_in_place_of_the_home_is_refused(home):
    (home / "elsewhere").mkdir(0o700)
    (home / "cache").symlink_to(home / "elsewhere")
    assert "is a link" in refused(home)
    assert os.listdir(home / "elsewhere") == []


def test_only_a_folder_whose_lock_is_free_is_removed(home):
    cache = home / "cache"
    held, free = (cache / f"server-{letter * 16}" for letter in "ab")
    for folder in (held, free):
        (folder / "sessions").mkdir(parents=True)
        (folder / "lock").touch()
    cache.chmod(0o700)
    with open(held / "lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with Server(home) as server:
            server.cell("1")
            until(lambda: not free.exists())
            assert held.exists()
    assert held.exists()


def test_two_servers_share_a_home_and_nothing_else(home):
    with Server(home) as one, Server(home) as two:
        one.cell("open('f', 'w').write('1')")
        two.cell("open('f', 'w').write('2')")
        assert len({folder.parents[2] for folder in session_folders(home)}) == 2
        assert one.close() == 0
        assert two.cell("open('f').read()").text == "'2'\n"


# ---- 73: signals ----

def test_the_server_ends_its_own_and_nobody_else(home):
    """Whatever number the session gives its processes, or asks for: a stranger of the same user lives."""
    stranger = subprocess.Popen(["sleep", "600"])
    try:
        with Server(home) as server:
            server.cell(f"import os\ntry: os.kill({stranger.pid}, 9)\nexcept OSError as e: print(e)\n"
                        "for pid in range(1, 400):\n  try: os.kill(pid, 0)\n  except OSError: pass")
            result = server.cell("import os, time\nfor _ in range(300):\n  if os.fork() == 0: os._exit(0)\n  os.wait()\n"
                                 "while True: pass", timeout=1)
            assert result.state == "timed_out"
            server.call("destroy_session", session_id="s")
            assert stranger.poll() is None
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def namespace_pid(pid):
    """What its number is in the server's pid namespace, the second from outside."""
    return int(re.search(r"^NSpid:(.*)$", (PROC / f"{pid}/status").read_text(encoding="ascii"), re.M)[1].split()[1])


@pytest.mark.skipif(not IS_ROOT, reason="only root decides which number the next process has")
@pytest.mark.parametrize("flags", [[], ["--unconfined"]], ids=["confined", "unconfined"])
def test_a_stranger_with_the_number_of_a_dead_interpreter_is_not_signalled(home, flags):
    """Forced: in a pid namespace of its own the next number can be chosen."""
    command = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", str((BUILD / "ptycell").resolve())]
    with Server(home, *flags, env=ALONE, command=command) as server:
        server.cell("1")
        (own,) = interpreters(server)
        number = namespace_pid(own[0])
        os.kill(own[0], signal.SIGKILL)
        until(lambda: not os.path.exists(f"{PROC}/{own[0]}"))  # its number is free
        leader = min(pid for pid, _ in family(server.process.pid))
        script = f"echo {number - 1} >/proc/sys/kernel/ns_last_pid; sleep 600 & echo $!; wait"
        stranger = subprocess.Popen(["nsenter", "-t", str(leader), "-p", "-m", "sh", "-c", script],
                                    stdout=subprocess.PIPE, text=True)
        try:
            assert int(stranger.stdout.readline()) == number
            server.call("interact", session_id="s", action="interrupt")
            server.call("interact", session_id="s", action="kill")
            assert server.cell("2").text == "2\n"
            assert server.cell("while True: pass", timeout=1).state == "timed_out"
            server.call("destroy_session", session_id="s")
            assert "sleep" in {comm(pid) for pid, _ in family(stranger.pid)}
        finally:
            stranger.kill()
            stranger.wait()


# ---- 74: channels ----

def sockets(processes):
    """The inodes of their sockets."""
    return {name for _, name in open_files(processes) if name.startswith("socket:")}


@pytest.mark.skipif(not IS_ROOT, reason="only root may look at the descriptors of processes that hide them")
def test_no_channel_of_init_and_launcher_is_in_a_session(home):
    with Server(home, env=ALONE) as server:
        server.cell("import subprocess; p = subprocess.Popen(['sleep', '600'])")
        inside = {p for p in family(server.process.pid) if not comm(p[0]).startswith("ptycell")}
        ours = {p for p in family(server.process.pid) if comm(p[0]).startswith("ptycell")}
        assert len(inside) == 2 and len(ours) >= 3  # launcher, init, supervisor
        # The interpreter's own socket leads to the server, which is nobody else's.
        assert len(sockets(inside)) == 1 and not sockets(inside) & sockets(ours)
        found = server.cell("import os\nfor pid in filter(str.isdigit, os.listdir('/proc')):\n"
                            "  try: print(*(os.readlink(f'/proc/{pid}/fd/{fd}') for fd in os.listdir(f'/proc/{pid}/fd')))\n"
                            "  except OSError as error: print(error.strerror)").text
        assert "Permission denied" in found
        assert not [name for name in sockets(ours) if name in found]


# ---- 75: what the server's processes give away ----

def test_no_helper_has_the_environment_of_the_host(home):
    with Server(home, env={"MY_SECRET": SECRET, "OPENAI_API_KEY": SECRET, **ALONE}) as server:
        server.cell("import subprocess; p = subprocess.Popen(['sleep', '600'])")
        processes = family(server.process.pid)
        assert len(processes) >= 5  # launcher, init, supervisor, interpreter, its child
        for pid, _ in processes:
            try:
                assert SECRET.encode() not in (PROC / f"{pid}/environ").read_bytes(), comm(pid)
            except PermissionError:
                assert not IS_ROOT
            assert SECRET.encode() not in (PROC / f"{pid}/cmdline").read_bytes()
        assert SECRET not in server.cell("import os; print(dict(os.environ), open('/proc/self/environ').read())").text


def test_server_and_helpers_leave_no_core_and_are_not_dumpable(home):
    """A limit of 1 is none too, also for a handler to which the host pipes dumps."""
    with Server(home, env=ALONE) as server:
        server.cell("1")
        for pid, _ in family(server.process.pid) | {(server.process.pid, "")}:
            soft, hard = resource.prlimit(pid, resource.RLIMIT_CORE) if IS_ROOT else (0, 0)
            assert soft <= 1 and hard in (0, 1), comm(pid)
            if comm(pid).startswith("ptycell") and not IS_ROOT:
                # What is not dumpable belongs to root in /proc.
                assert os.stat(f"{PROC}/{pid}/environ").st_uid == 0, comm(pid)


# ---- 76: the person's own programs ----

def booby_trap(home):
    """A project with an environment whose Python, and whose site, tell where they ran."""
    project = home / "project"
    venv = project / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "pyvenv.cfg").write_text("home = /usr/bin\n", encoding="ascii")
    python = venv / "bin/python3"
    python.write_text("#!/bin/sh\n: > /mnt/data/ran-inside 2>/dev/null\n"
                      f": > '{home}/ran-outside' 2>/dev/null\nexec /usr/bin/python3 \"$@\"\n", encoding="ascii")
    python.chmod(0o755)
    for folder in (project, venv):
        (folder / "sitecustomize.py").write_text(f"open({str(home / 'ran-outside')!r}, 'w')\n", encoding="ascii")
    for folder in (home, project, venv, venv / "bin"):
        folder.chmod(0o755)
    return project


def test_a_projects_own_python_never_runs_outside(home):
    project = booby_trap(home)
    env = {"VIRTUAL_ENV": str(project / ".venv"), "PTYCELL_PYTHON": "", "PYTHONPATH": str(project),
           "PYTHONSTARTUP": str(project / "sitecustomize.py")}
    with Server(home, env=env, cwd=project, command=[str(BUILD.resolve() / "ptycell")]) as server:
        server.call("session_info", session_id="s", include=["packages"])
        assert server.cell("6 * 7").text == "42\n"
        assert server.call("session_info", session_id="s").object["languages"][0]["chosen_by"] == "VIRTUAL_ENV"
        (folder,) = session_folders(home)
        assert (folder / "ran-inside").exists()
    done = subprocess.run([BUILD.resolve() / "ptycell", "doctor"], cwd=project, env={**environment(home), **env},
                          stdout=subprocess.PIPE, text=True, check=False)
    assert str(project / ".venv/bin/python3") in done.stdout
    assert not (home / "ran-outside").exists()


# ---- 77: what a session cannot write ----

def test_the_spool_is_read_and_not_written(server, home):
    path = server.cell("print('y' * 20000)").status["output"]["path"]
    for code in (f"open({path!r}, 'a')", f"import os; os.remove({path!r})", f"import os; os.chmod({path!r}, 0o666)",
                 f"import os; os.rename({path!r}, '/mnt/data/x')", "open('/mnt/spool/new', 'w')",
                 f"import os; os.link({path!r}, '/mnt/data/x')"):
        assert server.cell(code).state == "raised", code
    assert server.cell(f"len(open({path!r}).read())").text == "20001\n"


def test_nothing_but_its_own_folders_is_there(server):
    assert server.cell("import os; sorted(os.listdir('/mnt'))").text == \
        "['data', 'node_modules', 'packages', 'spool', 'user-data']\n"
    assert server.cell("import os; os.listdir('/mnt/data')").text == "['input', 'output']\n"
    for name in ("journal", "packages"):
        assert server.cell(f"open('/mnt/{name}/x', 'w')").state == "raised"
        assert server.cell(f"open('/mnt/data/../{name}/x', 'w')").state == "raised"


# ---- 78: what two sessions have in common ----

@pytest.mark.skipif(not IS_ROOT or SYS_KCMP is None, reason="only root may compare other processes' descriptors")
def test_two_sessions_share_no_open_file_but_the_null_device(home):
    with Server(home, env=ALONE) as server:
        server.cell("1", session="a")
        first = interpreters(server)
        server.cell("1", session="b")
        second = interpreters(server) - first
        assert len(first) == len(second) == 1
        for one, two in itertools.product(open_files(first), open_files(second)):
            assert not same_description(one[0], two[0]), (one, two)
        # And with none of ours: launcher, inits and supervisors keep theirs to themselves.
        ours = {p for p in family(server.process.pid) if comm(p[0]).startswith("ptycell")}
        ours.add((server.process.pid, ""))
        for one, two in itertools.product(open_files(ours), open_files(first | second)):
            shared = same_description(one[0], two[0])
            assert not shared or one[1] == "/dev/null", (comm(one[0][0]), one, two)


# ---- unconfined ----

@pytest.mark.parametrize("floor", ["landlock", "namespaces"])
def test_a_floor_that_was_set_and_no_confinement_contradict_each_other(home, floor):
    with Server(home, "--unconfined", env={"PTYCELL_FLOOR": floor}) as server:
        result = server.cell("1")
        assert result.is_error and "--unconfined contradicts PTYCELL_FLOOR" in result.texts[0], result.texts


def test_without_confinement_every_answer_says_so(home):
    with Server(home, "--unconfined") as server:
        first = server.cell("1")
        assert "Nothing confines the code here (--unconfined)" in first.notice
        assert first.status["unconfined"] == "unconfined"
        assert server.cell("2").status["unconfined"] == "unconfined"
        told = server.call("session_info", session_id="s").object["confinement"]
        assert told["tier"] == "unconfined" and "--unconfined" in told["explanation"]
        assert server.call("list_sessions").object["confinement"] == "unconfined"
        assert server.call("list_artifacts", session_id="s").object["confinement"] == "unconfined"
        tools = {tool["name"]: tool["annotations"] for tool in server.request("tools/list")["tools"]}
        assert tools["exec_code"] == {"destructiveHint": True, "openWorldHint": True}


def test_confined_code_is_called_neither_destructive_nor_open(server):
    tools = {tool["name"]: tool["annotations"] for tool in server.request("tools/list")["tools"]}
    assert tools["exec_code"] == {"destructiveHint": False, "openWorldHint": False}
    assert "unconfined" not in server.cell("1").status


def test_nothing_is_found_out_before_somebody_needs_a_session(server):
    server.request("tools/list")
    server.call("list_sessions")
    until(lambda: len(family(server.process.pid)) == 1)
    server.call("session_info", session_id="s", config={})
    # The probe, with all that it built, is gone again. A look at the folders of ended sessions may begin later.
    until(lambda: [comm(pid) for pid, _ in family(server.process.pid)] == ["ptycell-launch"])


def test_calls_that_come_at_once_are_answered_in_their_order(home):
    with Server(home) as server:
        waiting = [server.start_cell(f"x = {i}; x") for i in range(8)]
        answers = [answer.get()["result"]["_meta"]["ptycell/cell"]["cell"] for answer in waiting]
        assert answers == list(range(1, 9))


def test_a_call_cancelled_while_it_waits_for_the_sandbox_is_not_run(home):
    with Server(home) as server:
        server.process.send_signal(signal.SIGSTOP)
        answer = server.start_cell("open('ran', 'w')")
        server.cancel(answer)
        server.process.send_signal(signal.SIGCONT)
        assert server.cell("import os; os.path.exists('ran')").text == "False\n"


def test_the_session_tells_how_it_is_confined(server):
    told = server.call("session_info", session_id="s").object["confinement"]
    assert told["tier"] in ("namespaces", "bwrap", "landlock")
    assert re.search(r" were stopped at \d{4}-\d\d-\d\d \d\d:\d\d UTC$", told["verified"])
    tried, of = told["verified"].split()[0], told["verified"].split()[2]
    assert tried == of and int(tried) >= 12 and told["floor"] == "landlock"
    assert {"seccomp", "no new privileges", "no capabilities"} <= set(told["layers"])
    if told["tier"] == "namespaces":
        assert "stronger_tiers" not in told
        assert server.call("session_info", session_id="s", config={}).object["workdir"] == "/mnt/data"


def test_a_server_that_is_killed_leaves_no_sandbox(home):
    server = Server(home)
    server.cell("import os\nif os.fork() == 0:\n  os.setsid()\n  import time; time.sleep(600)")
    processes = family(server.process.pid)
    assert alive(processes)
    server.process.kill()
    all_gone(processes)
    server.close()

# SPDX-License-Identifier: MIT
"""Processes: what a session sees of others and can do to them, and that nothing outlives it
(sandbox.md tests 15 to 30). Attempts from inside are functions of inside.py, in every tier."""
import os
import re

import pytest
from client import ALONE, Server
from machines import IS_ROOT, TIERS, confined_in
from outside import HIDES, PROC
from patience import until
from steps import alive, all_gone, family, interpreters, kill, with_word

# What has no session around it: other processes here are named by a word of the test's own.
DAEMONS = """
import os, signal, subprocess, time
def daemon(word):
    if os.fork() == 0:
        os.setsid()
        for s in range(1, 32):
            if s not in (9, 19): signal.signal(s, signal.SIG_IGN) if s != 17 else None
        if os.fork() == 0:
            os.execvp('sleep', ['sleep', word])
        os._exit(0)
    os.wait()
daemon({word!r})
subprocess.Popen(['nohup', 'sleep', {word!r}], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
subprocess.Popen(['setsid', 'sleep', {word!r}])
subprocess.run(['bash', '-ic', 'sleep {word} & disown'], stderr=subprocess.DEVNULL)
"""


@pytest.fixture(scope="module", params=TIERS)
def confined(request):
    with confined_in(request.param) as one:
        yield one


@pytest.fixture(scope="module")
def attempts(confined):
    return confined.attempts("processes")


def of(attempts, number):
    found = {name: answer for name, answer in attempts.items() if name.split()[0] == str(number)}
    assert found
    return found


def assert_all(attempts, number, allowed):
    wrong = {name: answer for name, answer in of(attempts, number).items()
             if not (isinstance(answer, str) and answer in allowed)}
    assert not wrong


# ---- from inside ----

def test_only_processes_of_the_session_are_seen(attempts, confined):
    seen = attempts["15 /proc"]
    if confined.tier == "landlock" and not HIDES:  # the names of others are seen; test 19 is what holds
        assert "ptycell-super" in seen.values()
        return
    if confined.tier == "landlock":
        assert set(seen.values()) == {"python3"}
        return
    assert seen["1"] == "ptycell-init"
    assert set(seen.values()) == {"ptycell-init", "ptycell-super", "python3"}


def test_nothing_of_init_and_supervisor_is_opened(attempts):
    assert_all(attempts, 16, {"EACCES", "EPERM", "ENOENT"})


def test_init_and_supervisor_cannot_be_stopped_traced_or_limited(attempts, confined):
    answers = of(attempts, 17)
    if confined.tier == "bwrap":  # of their own user: slower is all that they can get
        answers = {name: answer for name, answer in answers.items() if not re.search("priority|affinity", name)}
    assert set(answers.values()) == {"EPERM"}
    assert confined.server.cell("1 + 1").text == "2\n"


def test_kill_all_ends_only_the_sessions_own(confined):
    server = confined.server
    server.cell("import subprocess", session="suicide")
    result = server.cell("subprocess.run(['sh', '-c', 'kill -9 -1'])", session="suicide")
    assert result.state == "died"
    assert server.cell("1 + 1").text == "2\n"
    assert confined.bystander.poll() is None
    assert server.cell("2 + 2", session="suicide").text == "4\n"


def test_processes_of_the_same_user_outside_are_closed(attempts, confined):
    answers = of(attempts, 19)
    closed = {"EPERM", "EACCES", "ESRCH"}
    if confined.tier == "landlock":  # how many descriptors they have is seen, not what they are
        assert answers.pop("19 fd") in ("EACCES", "ENOENT", "EPERM", ["0", "1", "2"])
        closed |= {"ENOENT"} if HIDES else set()
    assert set(answers.values()) <= closed
    assert confined.bystander.poll() is None


def test_the_interpreter_has_no_descriptor_of_others(confined):
    listed = confined.server.cell("import os\nfor f in os.listdir('/proc/self/fd'):\n"
                                  "    try: print(f, os.readlink('/proc/self/fd/' + f))\n    except OSError: pass").text
    found = dict(line.split() for line in listed.splitlines())
    terminal = found["0"]
    assert terminal.startswith("/dev/pts/") and found.pop("3").startswith("socket:")
    assert found.pop("5").startswith("pipe:")  # by which saved variables leave
    # The driver keeps a copy of the terminal.
    assert set(found.values()) == {terminal} and {"0", "1", "2"} <= set(found)


def test_a_program_that_code_starts_has_three(confined):
    code = "import subprocess\nprint(subprocess.run(['ls', '/proc/self/fd'], capture_output=True, text=True).stdout.split())"
    assert confined.server.cell(code).text == "['0', '1', '2', '3']\n"  # the last is the listing
    assert confined.server.cell("ls /proc/self/fd", language="bash").text.split() == ["0", "1", "2", "3"]


def test_the_environment_is_the_constructed_one(attempts):
    names = set(attempts["21 environment"])
    known = {"HOME", "LANG", "LC_ALL", "PATH", "TERM", "USER", "SHELL", "PAGER", "GIT_PAGER", "GH_PAGER", "MANPAGER",
             "MPLBACKEND", "MPLCONFIGDIR", "PYTHON_BASIC_REPL", "PYTHON_COLORS", "TMPDIR", "JOBLIB_TEMP_FOLDER", "DASK_TEMPORARY_DIRECTORY", "SQLITE_TMPDIR", "NODE_OPTIONS", "XDG_CACHE_HOME",
             "PYTHONPATH", "NODE_PATH", "R_LIBS", "R_PROFILE", "PIP_RETRIES", "PIP_DISABLE_PIP_VERSION_CHECK",
             "npm_config_fetch_retries", "npm_config_update_notifier", "GIT_CONFIG_NOSYSTEM"}
    assert names <= known and "GIT_CONFIG_NOSYSTEM" in names
    assert "SECRET" not in str(attempts["21 environment"])


def test_no_rights_are_left(attempts):
    rights = attempts["22 rights"]
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(rights[name], 16) == 0
    assert (rights["NoNewPrivs"], rights["Seccomp"]) == ("1", "2")
    assert "0" not in rights["Uid"].split() + rights["Gid"].split()
    # Nobody but root can leave groups; the person's own give nothing that they cannot have.
    assert not IS_ROOT or not rights["Groups"]
    for name in ("22 become root", "22 leave the group"):
        assert attempts[name] in ("EPERM", "EINVAL")
    for name in ("22 secure bits", "22 raise a capability", "22 core of a helper"):
        assert attempts[name] == -1


def test_set_user_id_programs_give_nobody_elses_rights(attempts):
    assert attempts["23 their user"] == [True]
    assert all(answer != "exit 0" for name, answer in attempts["23 set-user-id programs"].items() if name in ("su", "sudo", "pkexec"))


def test_no_namespace_and_no_root_is_changed(attempts):
    assert_all(attempts, 24, {"EPERM", "ENOSYS", "EACCES"})


def test_no_program_runs_from_memory(attempts):
    assert_all(attempts, 28, {"EPERM"})


# ---- how it ends ----

@pytest.mark.parametrize("how", ["destroy", "kill"])
def test_no_daemon_outlives_its_session(confined, how):
    word = f"{os.getpid()}25{how == 'kill':d}"
    server = confined.server
    server.cell(DAEMONS.format(word=word), session="daemons")
    until(lambda: len(with_word(word)) == 4)
    daemons = with_word(word)
    if how == "destroy":
        assert not server.call("destroy_session", session_id="daemons").is_error
    else:
        assert not server.interact(session="daemons", language="python", action="kill").is_error
    all_gone(daemons)
    server.call("destroy_session", session_id="daemons")


@pytest.mark.parametrize("whom", ["server", "launcher", "host"])
@pytest.mark.parametrize("tier", TIERS)
def test_nothing_outlives_its_end(tier, whom):
    word = f"{os.getpid()}26{TIERS.index(tier)}"
    with confined_in(tier) as one:
        server = one.server
        server.cell(DAEMONS.format(word=word))
        until(lambda: len(with_word(word)) == 4)
        below = family(server.process.pid)
        launcher = {p for p in below if "ptycell-launch" in comm(p[0])}
        everything = below | with_word(word)
        if whom == "server":
            kill(server.process.pid)
        elif whom == "launcher":
            kill(min(launcher)[0])
        else:
            server.process.stdin.close()
        # At the end of its input the server first answers what it has taken.
        all_gone(everything)


def comm(pid):
    try:
        with open(f"{PROC}/{pid}/comm", encoding="utf-8") as f:
            return f.read()
    except OSError:
        return ""


def test_orphans_are_reaped(confined):
    code = """import os, time
for _ in range(200):
    if os.fork() == 0:
        if os.fork() == 0: os._exit(0)
        os._exit(0)
    os.wait()
def zombies():
    found = 0
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try: fields = open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()
        except OSError: continue
        found += fields[0] == 'Z' and int(fields[1]) in above
    return found
def parent(pid): return int(open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[1])
above = {os.getppid()}
try: above.add(parent(os.getppid()))
except OSError: pass  # /proc hides it, and no child of those above
end = time.monotonic() + 200
while (left := zombies()) and time.monotonic() < end: time.sleep(0.01)
left"""
    assert confined.server.cell(code, session="orphans").text == "0\n"


@pytest.mark.parametrize("bomb", ["processes", "threads"])
def test_a_session_without_any_process_left_is_interrupted_and_ended(confined, bomb):
    server = confined.server
    name = f"full-{bomb}"
    if confined.tier != "landlock":
        server.call("session_info", session_id=name, config={"processes_max": 64})
    server.cell("import os, signal, threading, time\n"
                "def fill(limit=300):\n    for _ in range(limit):\n        try:\n" +
                ("            if os.fork() == 0: time.sleep(1000); os._exit(0)\n" if bomb == "processes" else
                 "            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n") +
                "        except (OSError, RuntimeError): break", session=name)
    result = server.cell("fill()\ntime.sleep(1000)", session=name, timeout=2)
    # In tier landlock the server counts, instead of the kernel.
    assert result.state in ("timed_out", "died"), result.text
    below = family(server.process.pid)
    assert not server.call("destroy_session", session_id=name).is_error
    until(lambda: len(alive(below)) < len(below) or result.state == "died")
    assert server.cell("1 + 1").text == "2\n"


def test_a_stopped_interpreter_still_ends(home):
    """SIGSTOP by itself, and a child that takes the terminal: neither outlives the session."""
    with Server(home, env=ALONE) as server:
        server.cell("import os, signal, subprocess")
        (interpreter,) = interpreters(server)
        cell = server.start_cell("os.kill(os.getpid(), signal.SIGSTOP)")
        until(lambda: stopped(interpreter[0]))
        below = family(server.process.pid)
        assert not server.call("destroy_session", session_id="s").is_error
        assert cell.get()
        all_gone({p for p in below if "ptycell-launch" not in comm(p[0])})


def test_a_cell_that_stopped_itself_has_a_deadline(strict_server):
    strict_server.cell("import os, signal")
    result = strict_server.cell("os.kill(os.getpid(), signal.SIGSTOP)", timeout=1)
    assert result.state in ("timed_out", "died")
    assert strict_server.cell("1 + 1").text == "2\n"


def test_children_that_play_with_the_terminal_do_not_stop_the_session(home):
    with Server(home) as server:
        code = ("import os, signal, subprocess, sys, time\n"
                "p = subprocess.Popen([sys.executable, '-c', 'import os, time; os.setpgid(0, 0); print(input())'], stdin=0)\n"
                "time.sleep(0.3); os.kill(0, signal.SIGTTOU); os.kill(0, signal.SIGTSTP)\n'went on'")
        result = server.cell(code, timeout=5)
        assert result.state in ("done", "timed_out", "died")
        assert server.cell("1 + 1").text == "2\n"


def stopped(pid):
    with open(f"{PROC}/{pid}/stat", encoding="utf-8") as f:
        return f.read().rsplit(")", 1)[1].split()[0] == "T"

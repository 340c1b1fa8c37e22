# SPDX-License-Identifier: MIT
"""What a server does on machines that give less (sandbox.md tests 63 to 66): simulated, by
support/hostile.c, support/deny_syscalls.c and a launcher that leaves layers out (weak/)."""
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile

import machines
import pytest
from client import ALONE, BUILD
from machines import ABI, AS_USER, IS_ROOT, NOBODY, PROCS, deny, hostile, needs_bwrap, needs_scope, programs, with_proc
from patience import until
from steps import all_gone, family, kill, name_of, skip_without, with_word
from test_limits import GROWS

# What a cell may do to the person outside of its folder, and every word about the tier says.
LEFT_BY_LANDLOCK = "links of the user's files, and change modes, times and groups of these, but not see what is in any"
LAYERS = ["user", "mount", "pid", "net", "ipc", "uts", "cgroup", "second", "proc", "pty", "capabilities",
          "nnp", "keyring", "landlock", "seccomp"]


@pytest.fixture
def place():
    with machines.user_home() as home:
        yield home


@pytest.fixture
def on(place):
    return functools.partial(machines.on, place)


def tier_of(server):
    server.cell("1")
    return server.call("session_info", session_id="s").object["confinement"]


def doctor(place, *wrapper, as_root=False, **env):
    """What it prints, its lines joined, and how it ends."""
    done = subprocess.run([*map(str, wrapper), programs() / "ptycell", "doctor"], stdout=subprocess.PIPE, text=True,
                          env={"PATH": os.environ["PATH"], "HOME": str(place), **env}, **({} if as_root else machines.as_user()))
    return " ".join(done.stdout.split()), done.returncode


@needs_scope
def test_what_the_weakest_tier_leaves_is_said(on, place):
    """A cell of an ordinary user changes modes and times of the user's files: landlock does not cover that."""
    mine = place / "mine"
    mine.write_text("private", encoding="ascii")
    if IS_ROOT:
        os.chown(mine, NOBODY, NOBODY)
    with on(*hostile("docker")) as server:
        result = server.cell(f"import os\nos.chmod({str(mine)!r}, 0o604)\nos.utime({str(mine)!r}, (5, 5))\nopen({str(mine)!r})")
        assert "change the modes and times of the user's files" in result.texts[0] and result.cell["error_name"] == "PermissionError"
        assert (mine.stat().st_mode & 0o777, mine.stat().st_mtime) == (0o604, 5)
        seen = server.call("session_info", session_id="s").object["confinement"]
        assert LEFT_BY_LANDLOCK in seen["explanation"]
        assert "PTYCELL_HOSTS" not in seen["network"]["explanation"]
    told, status = doctor(place, *hostile("docker"))
    assert status == 0 and LEFT_BY_LANDLOCK in told and "landlock, the weakest of three tiers" in told


@needs_scope
def test_switched_off_namespaces_are_named_with_what_to_type(place):
    """Also in a container: no option of it would help."""
    told, status = doctor(place, *hostile("no-userns"))
    assert status == 0 and "No space left" not in told and "docker" not in told
    assert "not namespaces: creating namespaces: this system allows none (user.max_user_namespaces)" in told
    assert "echo user.max_user_namespaces=15000 | sudo tee /etc/sysctl.d/60-ptycell.conf sudo sysctl --system" in told


@needs_scope
def test_doctor_below_the_floor_says_what_there_is_and_why_not_more(place):
    told, status = doctor(place, *hostile("docker"), PTYCELL_FLOOR="namespaces")
    assert status == 1 and "No code runs" in told and "not bwrap: " in told
    assert "What there is: landlock, the weakest of three tiers" in told and LEFT_BY_LANDLOCK in told


@pytest.mark.parametrize("kind, tier", [pytest.param("docker", "landlock", marks=needs_scope),
                                        pytest.param("apparmor", "bwrap", marks=needs_bwrap)])
def test_a_share_for_writing_that_the_tier_cannot_hold_is_refused_before_code_runs(on, place, kind, tier):
    folder = place / "mine"
    folder.mkdir()
    if IS_ROOT:
        os.chown(folder, NOBODY, NOBODY)
    with on(*hostile(kind), env={"PTYCELL_SHARE": f"{folder}:rw"}) as server:
        text = refusal(server)
        assert text.startswith(f"No code runs: the folder '{folder}' is shared with :rw, which only tier namespaces can hold, "
                               f"and this machine gives {tier}.\nShare it without :rw")
        seen = server.call("session_info", session_id="s").object["confinement"]
        assert seen["tier"] == "refused"
    told, status = doctor(place, *hostile(kind), PTYCELL_SHARE=f"{folder}:rw")
    assert status == 1 and "is shared with :rw" in told and "code may" not in told


@needs_scope
@pytest.mark.parametrize("kind", ["docker", "no-userns"])
def test_without_namespaces_the_tier_is_landlock(on, kind):
    with on(*hostile(kind)) as server:
        seen = tier_of(server)
        assert seen["tier"] == "landlock"
        assert "creating namespaces" in seen["stronger_tiers"]["namespaces"]
        assert "\n" not in seen["stronger_tiers"]["bwrap"] and len(seen["stronger_tiers"]["bwrap"]) < 150
        assert {"kill group", "landlock", "seccomp"} <= set(seen["layers"])
        assert "own network" not in seen["layers"]
        # It works, and is closed.
        result = server.cell("import socket\nopen('f', 'w').write('x')\ntry: socket.socket()\nexcept OSError as e: print(e)\n"
                             "try: open('/etc/shadow')\nexcept OSError as e: print(e)")
        assert result.text.count("Permission denied") == 2


@pytest.mark.skipif(not IS_ROOT, reason="only root gives sessions users of their own")
@pytest.mark.parametrize("abi", [1, ABI])
def test_root_in_a_container_gives_each_session_a_user(on, place, weakened, abi):
    place.chmod(0o711)
    os.chown(place, 0, 0)
    with on(*hostile("docker"), program=weakened(abi=abi), as_root=True) as server:
        assert tier_of(server)["tier"] == "landlock"
        uids = {server.cell("import os; os.getuid()", session=name).texts[-2] for name in "ab"}
        assert len(uids) == 2 and "0\n" not in uids
        # What the session wrote is looked at and kept by the server; nobody else gets to it.
        result = server.cell("open('output/f.txt', 'w').write('x' * 10)\nimport tempfile\n"
                             "with tempfile.TemporaryFile() as f: print(f.write(b'abc'))", session="a")
        assert result.text == "3\n" and result.status["files"]
        assert server.cell("import os\ntry: os.kill(os.getppid(), 9)\nexcept OSError as e: print(e.strerror)",
                           session="b").state in ("done", "died")
        # What it killed was its own, and may die while the next cell runs.
        path = server.cell("import os; print(os.getcwd())", session="a").text.strip()
        code = f"try: open({path!r} + '/output/f.txt')\nexcept OSError as e: print(e.strerror)"
        until(lambda: (result := server.cell(code, session="b")).state == "done" and "denied" in result.text)


@needs_scope
@pytest.mark.skipif(not IS_ROOT, reason="only root gives sessions users of their own")
def test_an_interpreter_in_a_closed_folder_costs_no_other_language(on, place):
    place.chmod(0o711)
    os.chown(place, 0, 0)
    python = place / "closed/bin/python3"
    python.parent.mkdir(parents=True)
    shutil.copy(os.path.realpath("/usr/bin/python3"), python)
    (place / "closed").chmod(0o700)
    with on(*hostile("docker"), as_root=True, env={"PTYCELL_PYTHON": str(python)}) as server:
        result = server.cell("1")
        assert result.state == "not_started" and "to which the session's user must have access" in result.text
        assert server.cell("echo works", language="bash").text == "works\n"


@needs_bwrap
def test_where_only_bwrap_may_mount_the_tier_is_bwrap(on):
    with on(*hostile("apparmor")) as server:
        seen = tier_of(server)
        assert seen["tier"] == "bwrap"
        assert "Permission denied" in seen["stronger_tiers"]["namespaces"]
        assert server.cell("import os; os.getcwd(), os.getuid()").text == "('/mnt/data', 1000)\n"


def masked_proc(hidepid):
    """A real one: with a mask over a file of /proc nobody without rights mounts another."""
    command = [*with_proc(hidepid), "unshare", "-m", "sh", "-c", 'mount --bind /dev/null /proc/version && exec "$@"', "sh"]
    if not IS_ROOT or subprocess.run([*command, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("only root can mask a file of /proc")
    return [*command, *AS_USER]


@pytest.mark.parametrize("hidepid", PROCS)
def test_with_a_masked_proc_the_hosts_is_shown(on, hidepid):
    with on(*masked_proc(hidepid), as_root=True) as server:
        seen = tier_of(server)
        assert seen["tier"] == "namespaces"
        assert "own /proc" not in seen["layers"]
        assert ("hidden processes" in seen["layers"]) == (hidepid != "off")
        # Nothing of what is seen there can be looked into.
        closed = "Permission denied" if hidepid == "off" else "No such file or directory"
        assert server.cell(f"try: open('/proc/{server.process.pid}/environ')\nexcept OSError as e: print(e.strerror)\n"
                           "open('/proc/self/stat').read() != ''").text == f"{closed}\nTrue\n"


@needs_scope
@pytest.mark.parametrize("hidepid", PROCS)
def test_where_proc_hides_processes_nobody_is_told_that_code_sees_them(on, place, hidepid):
    with on(*with_proc(hidepid), *AS_USER, *hostile("docker"), as_root=True) as server:
        first = server.cell("import os\nany(os.path.exists(f'/proc/{pid}') for pid in (1, os.getppid()))")
        shows = hidepid == "off"
        assert first.text == f"{shows}\n"
        seen = tier_of(server)
        assert seen["tier"] == "landlock" and ("hidden processes" in seen["layers"]) != shows
        assert ("command lines" in first.notice) == ("command lines" in seen["explanation"]) == shows
        assert "weakest tier" in first.notice
    told, status = doctor(place, *with_proc(hidepid), *AS_USER, *hostile("docker"), as_root=True)
    assert status == 0 and ("command lines" in told) == shows
    assert ("count for processes_max, but no limit counts their memory" in told) != shows


# A child that lets nobody look into it, as ssh-agent does.
CLOSED = {"python": "import subprocess, sys\np = subprocess.Popen([sys.executable, '-c', 'import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); "
                    "print(flush=True); input()'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n_ = p.stdout.readline()",
          "javascript": "const p = require('child_process').spawn('python3', ['-c', 'import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); "
                        "print(flush=True); input()']); await new Promise((go) => p.stdout.once('data', go))"}


@needs_scope
@pytest.mark.parametrize("hidepid", PROCS)
@pytest.mark.parametrize("language", CLOSED)
def test_children_that_proc_hides_are_counted(on, hidepid, language):
    skip_without(language)
    with on(*with_proc(hidepid), *AS_USER, *hostile("docker"), as_root=True) as server:
        assert server.cell(CLOSED[language], language=language).status["children"] == 1


@needs_scope
@pytest.mark.parametrize("hidepid", PROCS)
def test_where_proc_hides_processes_a_session_is_measured_and_ended(on, hidepid):
    """Its supervisor, whom init cannot look into there, is between init and what is measured."""
    word = f"{os.getpid()}36{PROCS.index(hidepid)}"
    with on(*with_proc(hidepid), *AS_USER, *hostile("docker"), as_root=True, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 200 << 20})
        server.cell(f"import subprocess, sys\nsubprocess.Popen(['setsid', 'sleep', {word!r}])")
        result = server.cell(f"subprocess.run([sys.executable, '-c', {GROWS + 'time.sleep(1000)'!r}]).returncode")
        assert result.text.endswith("-9\n") and "which code had started, was killed" in "".join(result.texts)
        daemons = with_word(word)
        assert len(daemons) == 1
        server.call("destroy_session", session_id="s")
        all_gone(daemons)


def test_without_landlock_the_namespaces_hold_alone(on):
    with on(*deny("landlock_create_ruleset")) as server:
        seen = tier_of(server)
        assert (seen["tier"], seen["landlock_abi"]) == ("namespaces", 0)
        assert "landlock" not in seen["layers"]
        assert server.cell("1 + 1").text == "2\n"


def refusal(server):
    result = server.cell("print('ran')")
    assert result.is_error and "ran" not in result.text
    return " ".join(result.texts)


def test_with_neither_code_is_refused_with_the_reasons(on):
    with on(*hostile("docker"), *deny("landlock_create_ruleset")) as server:
        text = refusal(server)
        assert "PTYCELL_FLOOR=landlock" in text and "no landlock" in text


def test_a_floor_that_the_machine_does_not_reach_refuses_with_reason_and_fix(on):
    with on(*hostile("docker"), env={"PTYCELL_FLOOR": "namespaces"}) as server:
        text = refusal(server)
        assert "creating namespaces: Operation not permitted" in text
        assert "PTYCELL_FLOOR" in text


def test_a_lack_of_descriptors_is_told_as_such_and_no_rule_is_blamed(on):
    def refusals():
        """Refusals for each limit; what the user's other processes have on its way to others counts against the limit too."""
        told = []
        for limit in range(15, 22):
            with on("sh", "-c", f'ulimit -n {limit}; exec "$0" "$@"', env={"PTYCELL_FLOOR": "namespaces"}) as server:
                told.append(" ".join(server.cell("1").texts))
        return [text for text in told if "less than PTYCELL_FLOOR" in text]
    refused = until(refusals)
    for text in refused:
        assert "Too many open files" in text and "no rule of this machine" in text
        assert "docker" not in text and "unconfined" not in text and "Ubuntu" not in text


@needs_bwrap
@needs_scope
@pytest.mark.parametrize("floor, kind, tier", [
    ("namespaces", None, "namespaces"), ("namespaces", "apparmor", None), ("namespaces", "docker", None),
    ("bwrap", None, "namespaces"), ("bwrap", "apparmor", "bwrap"), ("bwrap", "docker", None),
    ("landlock", None, "namespaces"), ("landlock", "apparmor", "bwrap"), ("landlock", "docker", "landlock")])
def test_each_floor_takes_what_is_not_below_it(on, floor, kind, tier):
    with on(*(hostile(kind) if kind else []), env={"PTYCELL_FLOOR": floor}) as server:
        if tier is None:
            assert f"less than PTYCELL_FLOOR={floor} asks for" in refusal(server)
            assert "To see all that was tried: ptycell doctor" in refusal(server)
        else:
            seen = tier_of(server)
            assert (seen["tier"], seen["floor"]) == (tier, floor)


DAEMONS = """import os, signal, subprocess, time
for _ in range(3):
    child = os.fork()
    if child == 0:
        os.setsid(); signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0: time.sleep(1000)
        os._exit(0)
    os.waitpid(child, 0)
subprocess.Popen(['nohup', 'sleep', '1000'], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)"""


@needs_scope
@pytest.mark.parametrize("kind", ["docker", pytest.param("apparmor", marks=needs_bwrap)])
@pytest.mark.parametrize("whom", ["server", "launcher", "session"])
def test_nothing_outlives_a_weaker_tier(on, kind, whom):
    with on(*hostile(kind), env=ALONE if whom == "session" else None) as server:
        assert tier_of(server)["tier"] == {"docker": "landlock", "apparmor": "bwrap"}[kind]
        launcher = {process for process in family(server.process.pid)
                    if "ptycell-launch" in name_of(process[0])}
        server.cell(DAEMONS)
        everything = family(server.process.pid)
        assert len(everything) > 6
        if whom == "session":
            server.call("destroy_session", session_id="s")
            everything -= launcher
        else:
            kill(server.process.pid if whom == "server" else min(launcher)[0])
        all_gone(everything)


# ---- with a launcher that leaves layers out ----

@pytest.fixture
def weakened():
    """Makes a ptycell whose launcher lacks layers; gives the program."""
    folders = []

    def make(without=(), abi=ABI):
        folder = pathlib.Path(tempfile.mkdtemp(dir="/tmp"))
        folders.append(folder)
        folder.chmod(0o755)
        for program in programs().glob("ptycell*"):
            shutil.copy(program, folder)
        shutil.copy(BUILD / "test/weak/ptycell-launcher", folder)
        bits = sum(1 << LAYERS.index(layer) for layer in without)
        (folder / "means").write_text(f"{bits:x} {abi}\n")
        return folder / "ptycell"
    yield make
    for folder in folders:
        shutil.rmtree(folder)


@pytest.mark.parametrize("abi", range(ABI + 1))
def test_the_report_follows_the_abi_of_landlock(on, weakened, abi):
    with on(program=weakened(abi=abi)) as server:
        seen = tier_of(server)
        assert (seen["tier"], seen["landlock_abi"]) == ("namespaces", abi)
        assert ("landlock" in seen["layers"]) == (abi > 0)


@pytest.mark.parametrize("abi", range(ABI + 1))
def test_without_namespaces_an_old_landlock_refuses_or_holds(on, weakened, abi):
    with on(*hostile("docker"), program=weakened(abi=abi)) as server:
        if abi >= 6:
            assert tier_of(server)["tier"] == "landlock"
        else:
            assert ("ABI" if abi else "no landlock") in refusal(server)


@pytest.mark.parametrize("layer", ["seccomp", "capabilities"])
def test_a_canary_that_gets_through_refuses_all_code(on, weakened, layer):
    with on(program=weakened([layer])) as server:
        text = refusal(server)
        assert "were not stopped" in text
        # Each call says it; none runs anything.
        assert "were not stopped" in refusal(server)


@needs_scope
def test_what_gets_through_without_a_layer_is_known():
    matrix = pathlib.Path(__file__).resolve().parents[1] / "weak/matrix"
    done = subprocess.run([str(matrix), "--check", str(matrix.parents[1] / "README.md")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout

# SPDX-License-Identifier: MIT
"""Sessions in control groups of their own, where the server was given one to divide (issue "Confinement", part
4; sandbox.md 3.3). Root makes such a group here, as systemd does with Delegate=yes; what its controllers are is the
machine's: what version 1 holds is not in it, and its tests skip."""
import contextlib
import errno
import os
import pathlib
import re
import subprocess

import pytest
from client import ALONE, Server, environment
from machines import AS_USER, IS_ROOT, NOBODY, PROCS, deny, hostile, needs_scope, programs, user_home, with_proc
from outside import PROC
from patience import until
from steps import all_gone, family, has_module, kill
from test_forks import ENV as FORKING
from test_forks import MARK, forked, parent_of
from test_spares import interpreter_of

MIB = 1 << 20
pytestmark = pytest.mark.skipif(not IS_ROOT, reason="only root can delegate a control group here")


def hierarchy():
    """Where version 2 is mounted; None."""
    mounts = pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    found = re.search(r"^\S+ \S+ \S+ / (\S+) rw\S* (?:.* )?- cgroup2 ", mounts, re.MULTILINE)
    return pathlib.Path(found[1]) if found else None


def names(group):
    """Groups below this one."""
    return sorted(path.name for path in group.iterdir() if path.is_dir())


def remove(group):
    for path in sorted(group.iterdir()):
        if path.is_dir():
            remove(path)
    until(lambda: not (group / "cgroup.procs").read_text(encoding="ascii"))
    group.rmdir()


@pytest.fixture(name="group")
def fixture_group(request):
    """A group that is delegated to the ordinary user, with all controllers that the machine can give."""
    top = hierarchy()
    if top is None:
        pytest.skip("no control groups of version 2 are mounted for writing here")
    offered = (top / "cgroup.controllers").read_text(encoding="ascii").split()
    for controller in {"memory", "pids", "cpu"} & set(offered):
        with contextlib.suppress(OSError):
            (top / "cgroup.subtree_control").write_text(f"+{controller}", encoding="ascii")
    group = top / f"delegated-{os.getpid()}-{abs(hash(request.node.name)) % 100000}"
    group.mkdir()
    for path in (group, *(group / name for name in ("cgroup.procs", "cgroup.subtree_control", "cgroup.threads"))):
        os.chown(path, NOBODY, NOBODY)
    try:
        yield group
    finally:
        remove(group)


def needs(group, controller):
    if controller not in (group / "cgroup.controllers").read_text(encoding="ascii").split():
        pytest.skip(f"the {controller} controller is not in version 2 here")


def entering(group, *wrapper, become=AS_USER, before=()):
    """A command that goes on in this group, as the ordinary user unless told otherwise; root does what is before."""
    return ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(group), *before, *become, *map(str, wrapper), str(programs() / "ptycell")]


@contextlib.contextmanager
def serving(group, *wrapper, env=None, before=()):
    with user_home() as home, Server(home, command=entering(group, *wrapper, before=before), env=env) as server:
        yield server


def told(server, session="s"):
    return server.call("session_info", session_id=session).object["confinement"]


def leaves(group):
    """Those of sessions."""
    return [group / name for name in names(group) if re.fullmatch(r"ptycell-[0-9a-f]{12}-\d+", name)]


def members(group):
    return set((group / "cgroup.procs").read_text(encoding="ascii").split())


def test_each_session_is_in_a_group_of_its_own_and_the_server_in_another(group):
    with serving(group, env=ALONE) as server:
        server.cell("1", session="a")
        server.cell("1", session="b")
        (own,) = [group / name for name in names(group) if re.fullmatch(r"ptycell-[0-9a-f]{12}", name)]
        assert str(server.process.pid) in members(own) and not members(group)
        first, second = leaves(group)
        inside = {str(pid) for pid, _ in family(server.process.pid)}
        assert len(members(first)) >= 3 and members(first) | members(second) | members(own) <= inside | {str(server.process.pid)}
        assert not members(first) & members(second)
        assert "ends sessions" in told(server, "a")["cgroup"]
        # Of which a session sees nothing: its view begins with it.
        assert server.cell("print(open('/proc/self/cgroup').read().split('0::')[1])", session="a").text == "/\n\n"
        server.call("destroy_session", session_id="a")
        until(lambda: len(leaves(group)) == 1)
    until(lambda: names(group) == [])
    assert (group / "cgroup.subtree_control").read_text(encoding="ascii").strip() == ""


def test_the_first_session_too_is_born_in_a_group_of_its_own(group):
    """It is opened ahead, while it is found out how code is confined. (What copies come from is in the server's.)"""
    with serving(group, env={"PTYCELL_FORK": "0"}) as server:
        server.cell("1")
        inits = {str(pid) for pid, _ in family(server.process.pid)
                 if (PROC / f"{pid}/comm").read_text(encoding="ascii") == "ptycell-init\n"}
        assert inits and inits <= set().union(*(members(leaf) for leaf in leaves(group)))


def test_the_report_names_what_the_group_holds(group):
    offered = (group / "cgroup.controllers").read_text(encoding="ascii").split()
    words = {"memory": "limits memory", "pids": "limits processes", "cpu": "shares the processor"}
    with serving(group) as server:
        server.cell("1")
        seen = told(server)
        assert seen["cgroup"] == ", ".join([*(text for name, text in words.items() if name in offered), "ends sessions"])
        assert ("cgroup limits" in seen["layers"]) == bool({"memory", "pids"} & set(offered))
    with user_home() as home:
        doctor = subprocess.run([*entering(group), "doctor"], stdout=subprocess.PIPE, text=True, check=False,
                                env=environment(home))
    assert seen["cgroup"] in doctor.stdout
    assert names(group) == []


def test_processes_beyond_the_limit_are_refused_by_the_kernel(group):
    needs(group, "pids")
    with serving(group, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"processes_max": 40})
        server.cell("1")
        (leaf,) = leaves(group)
        assert (leaf / "pids.max").read_text(encoding="ascii") == "72\n"  # and 32 for init and supervisors


@needs_scope
def test_in_the_weakest_tier_too_a_fork_bomb_stays_below_its_limit(group):
    """Where the kernel would count all of the user's processes else, and nothing but the watchdog holds them."""
    needs(group, "pids")
    with serving(group, *hostile("docker"), env=ALONE) as server:
        server.call("session_info", session_id="s", config={"processes_max": 40})
        result = server.cell("import os, signal, time\nmade = []\ntry:\n  for i in range(500):\n    pid = os.fork()\n"
                             "    if pid == 0: signal.pause()\n    made.append(pid)\nfinally:\n"
                             "  [os.kill(pid, 9) for pid in made]\n  print(len(made))")
        assert result.cell["error_name"] == "BlockingIOError", result.text
        assert "limited to 40 (processes_max)" in result.text
        assert 40 <= int(re.search(r"^(\d+)$", result.text, re.MULTILINE)[1]) <= 72
        assert told(server)["tier"] == "landlock"


# Memory of the kernel's own, which no look at processes finds.
SOCKETS = ("import socket\nkept = []\nfor _ in range(450):\n  kept += socket.socketpair()\n  for end in kept[-2:]:\n"
           "    end.setblocking(False)\n    try:\n      while True: end.send(bytes(1 << 16))\n"
           "    except BlockingIOError: pass\n")


def test_memory_that_no_process_has_is_stopped_by_the_kernel(group):
    needs(group, "memory")
    with serving(group, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"memory_max": 96 * MIB, "tmp_max": 2 * MIB})
        server.cell("kept=1", language="bash")
        result = server.cell(SOCKETS)
        assert result.state == "died"
        assert "the limit that the kernel holds it to, 112 MB (memory_max, and room for /tmp)" in result.text
        assert "use less at a time" in result.text
        # What else went, because sockets are not freed at once, has the same reason.
        other = server.cell("echo $kept", language="bash")
        assert other.text == "1\n" or "the limit that the kernel holds it to" in other.notice
        # Of a program that code started the next answer tells, whether the kernel or the watchdog was sooner.
        child = ("import mmap\nm = mmap.mmap(-1, 200 << 20)\nx = bytes(1 << 20)\n"
                 "for i in range(0, 200 << 20, 1 << 20): m[i:i + len(x)] = x")
        run = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}]).returncode"
        said = " ".join(server.cell(run).texts)
        assert "-9\n" in said
        if " program " not in said:
            said = until(lambda: re.search("A program .*", " ".join(server.cell("1").texts)))[0]
        assert "was killed" in said and "(memory_max" in said


# ---- sessions that are copies of a parent ----

@pytest.fixture(name="copying", params=["user", "root"])
def fixture_copying(request, group, home):
    """A server whose sessions are copies; of root, each of them has a user of its own."""
    if request.param == "user":
        with serving(group, env=FORKING) as server:
            yield server
    else:
        with Server(home, command=entering(group, become=()), env=FORKING) as server:
            yield server
    print(server.stderr.decode(errors="replace"))


def leaf_of(group, process):
    (leaf,) = [leaf for leaf in leaves(group) if str(process[0]) in members(leaf)]
    return leaf


def spaces(process):
    """Its pid namespace; None when it is gone."""
    with contextlib.suppress(OSError):
        return os.readlink(f"{PROC}/{process[0]}/ns/pid")
    return None


def test_a_copy_is_in_the_group_of_its_session_with_all_that_it_starts(group, copying):
    """The process that becomes its supervisor is forked elsewhere."""
    names_of = [forked(copying, stem) for stem in "ab"]
    own = [interpreter_of(copying, name) for name in names_of]
    groups = [leaf_of(group, process) for process in own]
    assert groups[0] != groups[1] and parent_of(copying)[0] not in map(int, set().union(*map(members, groups)))
    for name, process, leaf in zip(names_of, own, groups):
        copying.cell("import subprocess; sleeper = subprocess.Popen(['sleep', '1000'])", session=name)
        inside = {str(each[0]) for each in family(copying.process.pid) if spaces(each) == spaces(process)}
        assert inside == members(leaf) and len(inside) == 4  # init, supervisor, Python, sleep
        # Not "/../ptycell-...", by which one would see where its view does not begin.
        assert copying.cell("print(open('/proc/self/cgroup').read().split('0::')[1])", session=name).text == "/\n\n"


def test_a_copy_is_in_the_group_of_its_session_without_clone3(group):
    """As in containers: whoever is born in a group by other means writes itself in."""
    with serving(group, *deny("clone3"), env=FORKING) as server:
        process = interpreter_of(server, forked(server))
        inside = {str(each[0]) for each in family(server.process.pid) if spaces(each) == spaces(process)}
        assert inside == members(leaf_of(group, process)) and len(inside) == 3


def test_a_copy_is_charged_to_the_group_of_its_session(group, copying):
    leaf = leaf_of(group, interpreter_of(copying, name := forked(copying)))

    def used():
        return int(re.search(r"^usage_usec (\d+)$", (leaf / "cpu.stat").read_text(encoding="ascii"), re.MULTILINE)[1])
    before = used()
    copying.cell("import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass", session=name)
    assert used() - before >= 200_000


def test_a_copy_and_its_daemons_end_with_their_group_and_nobody_else(group, copying):
    name, other = forked(copying, "a"), forked(copying, "b")
    copying.cell("x = 1", session=other)
    copying.cell(DAEMONS, session=name)
    leaf = leaf_of(group, interpreter_of(copying, name))
    inside = {process for process in family(copying.process.pid) if str(process[0]) in members(leaf)}
    assert len(inside) == 8
    if not (leaf / "cgroup.kill").exists():
        pytest.skip("this kernel has no cgroup.kill")
    (leaf / "cgroup.kill").write_text("1", encoding="ascii")
    all_gone(inside)
    assert copying.cell("x", session=other).text == "1\n"
    copying.call("destroy_session", session_id=name)
    until(lambda: not leaf.exists())


@pytest.mark.parametrize("end", ["input", "kill"])
def test_of_copies_the_end_of_the_server_leaves_nothing(group, copying, end):
    copying.cell(DAEMONS, session=forked(copying))
    everything = family(copying.process.pid)
    if end == "kill":
        kill(copying.process.pid)
    else:
        copying.close()
    all_gone(everything)
    if end == "input":
        until(lambda: names(group) == [])


def test_processes_of_a_copy_are_held_by_the_kernel(group, copying):
    needs(group, "pids")
    copying.call("destroy_session", session_id=forked(copying))
    copying.call("session_info", session_id="own", config={"processes_max": 40})
    assert has_module(copying, MARK, "own")
    leaf = leaf_of(group, interpreter_of(copying, "own"))
    assert (leaf / "pids.max").read_text(encoding="ascii") == "72\n"
    assert (leaf / "pids.current").read_text(encoding="ascii") == "3\n"
    (leaf / "pids.max").write_text("5", encoding="ascii")
    code = "import os, signal\nfor i in range(9):\n  if os.fork() == 0: signal.pause()"
    result = copying.cell(code, session="own")
    assert result.cell["error_name"] == "BlockingIOError" and os.strerror(errno.EAGAIN) in result.text
    assert (leaf / "pids.current").read_text(encoding="ascii") == "5\n"


def test_memory_of_a_copy_is_held_by_the_kernel_and_its_end_is_explained(group, copying):
    needs(group, "memory")
    leaf = leaf_of(group, interpreter_of(copying, name := forked(copying)))
    before = int((leaf / "memory.current").read_text(encoding="ascii"))
    copying.cell("kept = b'x' * (64 << 20)", session=name)
    assert int((leaf / "memory.current").read_text(encoding="ascii")) - before >= 64 * MIB
    (leaf / "memory.max").write_text(str(96 * MIB), encoding="ascii")
    result = copying.cell("more = b'x' * (64 << 20)", session=name)
    assert result.state == "died" and "the limit that the kernel holds it to" in result.text
    assert re.search(r"^oom_kill [1-9]", (leaf / "memory.events").read_text(encoding="ascii"), re.MULTILINE)
    assert copying.cell("1 + 1", session=name).text == "2\n"


DAEMONS = ("import os, signal, subprocess\nfor _ in range(5):\n  pid = os.fork()\n  if pid:\n    os.waitpid(pid, 0)\n  else:\n    os.setsid()\n"
           "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    if os.fork() == 0: signal.pause()\n    os._exit(0)")


@pytest.mark.parametrize("kind", ["", pytest.param("docker", marks=needs_scope)])
def test_what_a_killed_server_left_is_removed_by_the_next(group, kind):
    wrapper = hostile(kind) if kind else []
    with serving(group, *wrapper, env=ALONE) as server:
        server.cell(DAEMONS)
        everything = family(server.process.pid)
        kill(server.process.pid)
        all_gone(everything)
    left = names(group)
    assert len(left) == 2
    # Nobody gets into a group whose controllers are on, but by who set it up.
    for controller in (group / "cgroup.subtree_control").read_text(encoding="ascii").split():
        (group / "cgroup.subtree_control").write_text(f"-{controller}", encoding="ascii")
    with serving(group, *wrapper, env=ALONE) as server:
        server.cell("1")
        assert len(names(group)) == 2 and not set(names(group)) & set(left)
    until(lambda: names(group) == [])


@needs_scope
def test_a_session_whose_init_was_killed_is_ended_by_its_group(group):
    """Without a pid namespace its processes would be found by nobody else at once."""
    with serving(group, *hostile("docker"), env=ALONE) as server:
        server.cell(DAEMONS)
        (leaf,) = leaves(group)
        inits = [int(pid) for pid in members(leaf)
                 if (PROC / f"{pid}/comm").read_text(encoding="ascii") == "ptycell-init\n"]
        everything = {process for process in family(server.process.pid) if str(process[0]) in members(leaf)}
        assert len(inits) == 1 and len(everything) >= 8
        kill(inits[0])
        server.call("destroy_session", session_id="s")
        all_gone(everything)
        until(lambda: not leaves(group))


@pytest.mark.parametrize("hidepid", PROCS)
@pytest.mark.parametrize("become", [(), AS_USER], ids=["of root", "of the user"])
def test_a_group_in_which_others_are_is_left_alone(group, become, hidepid):
    with contextlib.ExitStack() as stack:
        other = subprocess.Popen(["sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$@"', "sh", *become, "sh", "-c", "read line"],
                                 stdin=subprocess.PIPE)
        stack.callback(other.wait)
        stack.callback(other.stdin.close)
        until(lambda: members(group))
        server = stack.enter_context(serving(group, before=with_proc(hidepid)))
        server.cell("1")
        assert told(server)["cgroup"] == "none: other programs run in the server's control group"
        assert names(group) == []


def test_a_group_that_is_not_delegated_is_left_alone(group):
    os.chown(group / "cgroup.subtree_control", 0, 0)
    with serving(group) as server:
        server.cell("1")
        seen = told(server)
        assert seen["cgroup"] == "none: the server's control group is not delegated to its user"
        assert "cgroup limits" not in seen["layers"]

# SPDX-License-Identifier: MIT
"""Sessions that go on without a host: what the next host finds, and that nothing stays for longer than it should."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess

import pytest
from client import ALONE, BUILD, LASTS, NOT_AHEAD, WAIT_S, Server, command, environment
from outside import PROC
from steps import BEGUN, HOLD, all_gone, begin, family, go, is_running, nothing_left, paths_in, until

LONG = {**ALONE, **LASTS, "PTYCELL_LINGER": "1h"}
CLAIM = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}


def servers(home):
    return {row["pid"]: row for row in json.loads(command(home, "ps", "--json"))["servers"]}


def lingering(home):
    return [pid for pid, row in servers(home).items() if "lingers_seconds" in row]


def sessions(home):
    return [row for server in servers(home).values() for row in server["sessions"]]


def has_answered(home):
    """Has the only session's cell ended, and its answer been written?"""
    return [(row["cells"], row["state"]) for row in sessions(home)] == [(1, "idle")]


def left_alone(home, host):
    """A server whose host has gone, and its processes: it has the session s, where x is 1."""
    first = host()
    first.cell("x = 1")
    (pid,) = servers(home)
    processes = processes_of(pid)
    first.close()
    until(lambda: lingering(home) == [pid])
    return pid, processes


@contextlib.contextmanager
def standing_still(home, pid):
    """A server without a host that does nothing meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
    until(lambda: lingering(home) == [pid])


def told_of_earlier(server):
    """What the first answer that reports earlier cells says: while the files of a cell are looked at, others are answered."""
    found = []
    until(lambda: found.extend(server.cell("1").earlier) or found)
    (earlier,) = found
    return earlier


def ends(kind):
    """Ours, and that of a server, of what it writes to."""
    if kind != "pipe":
        return socket.socketpair()
    read, write = os.pipe()
    return os.fdopen(read, "rb"), os.fdopen(write, "wb")


def start_of(pid):
    with open(f"{PROC}/{pid}/stat", encoding="utf-8") as file:
        return file.read().rsplit(")", 1)[1].split()[19]


def processes_of(pid):
    """A server with all that it has started; outside their pids are others."""
    return {(pid, start_of(pid)), *family(pid)}


@pytest.fixture(name="host")
def fixture_host(home):
    """Starts hosts' servers, which are alike unless told otherwise. In the end nothing of them is left."""
    running = []

    def begin_one(initialize=True, **env):
        running.append(Server(home, env={**LONG, **env}, initialize=initialize))
        return running[-1]

    yield begin_one
    for server in running:
        server.close()
    command(home, "stop", "--server")
    until(lambda: servers(home) == {})


def test_after_the_end_of_input_the_next_host_goes_on_with_the_variables(home, host):
    first = host()
    first.cell("x = 41")
    (pid,) = servers(home)
    assert pid != first.process.pid
    assert first.close() == 0
    until(lambda: lingering(home) == [pid])
    second = host()
    result = second.cell("x + 1")
    assert result.text == "42\n" and result.status["cell"] == 2 and result.notice == ""
    assert list(servers(home)) == [pid] and lingering(home) == []


def test_a_cell_outlives_the_killed_front_and_its_output_comes_with_the_next_answer(home, host):
    first = host()
    first.cell("import os", session="s")
    first.start_cell(BEGUN + HOLD + "print('late')")
    until(lambda: is_running(first))
    first.process.kill()
    first.process.wait(WAIT_S)
    for thread in first.readers:  # the server lets go of both pipes at once
        thread.join(WAIT_S)
        assert not thread.is_alive()
    until(lambda: lingering(home) != [])
    second = host()
    go(second)
    earlier = told_of_earlier(second)
    assert earlier.startswith("[cell 2 ended before: done") and "begun\nlate" in earlier


def test_a_cell_that_runs_is_waited_for_by_the_next_host(home, host):
    first = host()
    begin(first, BEGUN + HOLD + "print('late')")
    first.process.terminate()
    assert first.process.wait(WAIT_S) == -signal.SIGTERM
    until(lambda: lingering(home) != [])
    second = host()
    go(second)
    assert "late" in second.interact(until="late").text


def test_a_call_that_waits_does_not_end_its_cell_when_the_front_ends(home, host):
    first = host()
    first.cell("1")
    first.start_cell(BEGUN + HOLD + "print('late')")
    until(lambda: is_running(first))
    first.process.send_signal(signal.SIGHUP)
    first.process.wait(WAIT_S)
    until(lambda: lingering(home) != [])
    second = host()
    assert is_running(second)
    go(second)
    assert "late" in second.interact(until="late").text


@pytest.mark.parametrize("kind", ["pipe", "socket", "closed socket"])
def test_an_answer_that_the_host_did_not_read_comes_with_the_next_one(home, host, kind):
    ours, its = ends(kind)
    env = {name: value for name, value in {**environment(home), **NOT_AHEAD, **LONG}.items() if value is not None}
    with subprocess.Popen([str(BUILD / "ptycell")], env=env, stdin=subprocess.PIPE, stdout=its) as deaf:
        its.close()
        deaf.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "exec_code", "arguments": {"session_id": "s", "language": "python", "code": "print('unheard')"},
            **CLAIM}}).encode() + b"\n")
        deaf.stdin.flush()
        until(lambda: has_answered(home))
        if kind == "closed socket":
            ours.close()
        deaf.kill()
    until(lambda: lingering(home) != [])
    assert "unheard" in told_of_earlier(host())
    ours.close()


def test_an_answer_to_a_host_that_has_closed_its_end_comes_again(home, host):
    first = host()
    first.cell("print('heard')")
    first.start_cell(HOLD + "print('late')")
    until(lambda: is_running(first))
    (row,) = sessions(home)
    first.process.stdin.close()
    (pathlib.Path(row["folder"]) / "input/go").write_text("")
    assert first.process.wait(WAIT_S) == 0
    until(lambda: lingering(home) != [])
    second = host()
    earlier = told_of_earlier(second)
    assert "late" in earlier and "heard" not in earlier
    assert second.cell("2").earlier == []


def test_a_host_that_ends_the_group_of_its_child_does_not_reach_the_server(home):
    with Server(home, env=LONG, start_new_session=True) as first:
        first.cell("x = 1")
        os.killpg(first.process.pid, signal.SIGKILL)
    until(lambda: lingering(home) != [])
    with Server(home, env=LONG) as second:
        assert second.cell("x").text == "1\n"
        second.call("destroy_session", session_id="s")
    until(lambda: servers(home) == {})


def test_the_server_keeps_nothing_that_the_host_has_passed_on(home):
    ours, its = os.pipe()
    with Server(home, env=LONG, pass_fds=[its]) as first:
        os.close(its)
        first.cell("1")
    until(lambda: lingering(home) != [])
    assert os.read(ours, 1) == b"", "the host waits for its end"
    os.close(ours)
    assert command(home, "stop", "--server").endswith(" ends.\n")
    until(lambda: servers(home) == {})


def test_only_one_of_two_fronts_takes_a_server_over(home, host):
    pid, _ = left_alone(home, host)
    both = [host(initialize=False), host(initialize=False)]
    for server in both:
        server.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                      "clientInfo": {"name": "e2e", "version": "1"}})
        server.notify("notifications/initialized")
    live = [server.call("list_sessions").object["sessions"] for server in both]
    assert sorted(map(len, live)) == [0, 1]
    one = both[live.index(max(live, key=len))]
    assert one.cell("x").text == "1\n" and lingering(home) == []


def test_a_host_that_comes_while_the_last_one_leaves_waits_for_that(home, host):
    first = host()
    first.cell("x = 1")
    first.start_cell(HOLD)
    until(lambda: is_running(first))
    (row,) = sessions(home)
    first.process.stdin.close()  # the call is still answered
    second = host(initialize=False)
    (pathlib.Path(row["folder"]) / "input/go").write_text("")
    second.request("tools/list", CLAIM)
    assert second.request("tools/call", {"name": "list_sessions", "arguments": {}, **CLAIM})["structuredContent"]["sessions"]


def test_a_host_that_comes_while_a_cell_of_the_last_one_runs_gets_the_cell(home, host):
    first = host()
    first.cell("x = 1")
    first.start_cell(BEGUN + HOLD + "print('late')")
    until(lambda: is_running(first))
    (pid,) = servers(home)
    first.process.stdin.close()  # and the cell runs on
    second = host()
    assert list(servers(home)) == [pid]
    go(second)
    earlier = told_of_earlier(second)
    assert earlier.startswith("[cell 2 ended before: done") and "begun\nlate" in earlier


def test_a_server_that_has_a_host_is_not_taken_over(home, host):
    first = host()
    first.cell("x = 1")
    second = host()
    assert second.call("list_sessions").object["sessions"] == []
    assert first.cell("x").text == "1\n"


@pytest.mark.parametrize("difference", [{"PTYCELL_EXEC_TIMEOUT": "9"}, {"PTYCELL_ENV_A": "1"}, {"PTYCELL_LINGER": "2h"}])
def test_other_settings_start_a_server_of_their_own(home, host, difference):
    first = host()
    first.cell("x = 1")
    first.close()
    until(lambda: lingering(home) != [])
    (pid,) = lingering(home)
    second = host(**difference)
    assert second.call("list_sessions").object["sessions"] == [] and lingering(home) == [pid]
    second.close()
    assert host().cell("x").text == "1\n"


def test_other_settings_resume_an_idle_session_of_the_waiting_server(home, host):
    first = host()
    first.cell("open('mine', 'w').write('here')")
    first.cell("1", session="stays")
    first.close()
    until(lambda: lingering(home) != [])
    (pid,) = lingering(home)
    result = host(PTYCELL_EXEC_TIMEOUT="9").cell("open('mine').read()")
    assert "is resumed: 1 cell" in result.notice and "it ended because another host asked for it" in result.notice
    assert result.text == "'here'\n"
    assert [row["session_id"] for row in servers(home)[pid]["sessions"]] == ["stays"]


def test_a_server_that_stood_still_keeps_the_session_that_another_wanted(home, host):
    pid, _ = left_alone(home, host)
    with standing_still(home, pid):
        second = host()
        assert "another ptycell server on this machine has a live session of that id" in second.cell("1").notice
        second.call("destroy_session", session_id="s")
        second.close()
    assert host().cell("x").text == "1\n"


def test_a_session_in_which_a_cell_runs_stays_with_the_waiting_server(home, host):
    first = host()
    begin(first, BEGUN + HOLD + "print('late')")
    first.process.kill()
    first.process.wait(WAIT_S)
    until(lambda: lingering(home) != [])
    second = host(PTYCELL_EXEC_TIMEOUT="9")
    assert "another ptycell server on this machine has a live session of that id" in second.cell("1").notice
    second.close()
    third = host()
    go(third)
    assert "late" in third.interact(until="late").text


def test_when_the_time_is_over_nothing_is_left(home):
    with Server(home, env={**ALONE, "PTYCELL_LINGER": "1"}) as server:
        server.cell("1")
        (pid,) = servers(home)
        processes = processes_of(pid)
    all_gone(processes)
    nothing_left(home)


def test_the_session_can_be_resumed_when_the_time_is_over(home):
    env = {**LONG, "PTYCELL_LINGER": "1"}
    with Server(home, env=env) as server:
        server.cell("open('mine', 'w').write('here')")
    until(lambda: servers(home) == {})
    with Server(home, env=env) as server:
        result = server.cell("open('mine').read()")
        assert "is resumed: 1 cell" in result.notice and result.text == "'here'\n"


def test_cells_whose_end_nobody_was_told_are_named_when_the_session_is_resumed(home, host):
    first = host()
    first.cell("x = 1")
    begin(first, BEGUN + HOLD + "print('late')")
    first.close()
    until(lambda: lingering(home))
    (row,) = sessions(home)
    (pathlib.Path(row["folder"]) / "input/go").write_text("")
    until(lambda: [row["state"] for row in sessions(home)] == ["idle"])
    command(home, "stop", "--server")
    until(lambda: servers(home) == {})
    second = host()
    assert "No answer has reported these cells, which have ended: 2 (done); resource session://s/notebook has" in second.cell("1").notice
    second.close()


def test_without_a_session_the_server_ends_with_the_host(home):
    with Server(home, env=LONG) as server:
        server.request("tools/list")
        until(lambda: servers(home) != {})
        (pid,) = servers(home)
        processes = processes_of(pid)
        assert server.close() == 0
    all_gone(processes)
    assert not (home / "cache/sockets").exists()


def test_a_server_that_no_host_finds_ends_with_its_host(home):
    with Server(home, env=LONG) as server:
        server.cell("1")
        (pid,) = servers(home)
        processes = processes_of(pid)
        shutil.rmtree(home / "cache/sockets")
    all_gone(processes)


def test_a_server_whose_folder_was_removed_ends(home, host):
    first = host()
    first.cell("x = 1")
    (pid,) = servers(home)
    first.close()
    until(lambda: lingering(home) == [pid])
    shutil.rmtree(home / "cache/sockets")
    until(lambda: not os.path.exists(f"/proc/{pid}"))


def test_a_server_ends_with_its_last_session(home, host):
    _, processes = left_alone(home, host)
    assert command(home, "stop", "s").startswith("Session 's' has ended.")
    all_gone(processes)


def test_sessions_of_a_server_that_lingers_end_as_long_as_others(home, host):
    """Longer than at the end of a server that a host may kill."""
    first = host()
    first.cell("import atexit, signal, time\ndef f():\n    signal.signal(signal.SIGINT, signal.SIG_IGN)\n    time.sleep(1)\n"
               "    open('output/end', 'w').write('bye')\n_ = atexit.register(f)")
    (pid,) = servers(home)
    processes = processes_of(pid)
    first.close()
    until(lambda: lingering(home) == [pid])
    assert command(home, "stop", "s").startswith("Session 's' has ended.")
    all_gone(processes)
    assert [path.read_text() for path in paths_in(home, "kept/*/end")] == ["bye"]


def test_the_user_sees_and_ends_a_server_that_lingers(home, host):
    first = host()
    first.cell("1")
    (pid,) = servers(home)
    processes = processes_of(pid)
    assert "close the host" in command(home, "stop", "--server", str(pid), code=1)
    assert command(home, "stop", "--server") == "No server waits for a host.\n"
    first.close()
    until(lambda: lingering(home) == [pid])
    assert f"{pid} lingers 59 min" in command(home, "ps")
    assert command(home, "stop", "--server") == f"Server {pid} ends.\n"
    assert [row["session_id"] for row in json.loads(command(home, "ps", "--json"))["resumable"]] == ["s"]
    all_gone(processes)
    assert not (home / "cache/sockets").exists()
    assert f"there is no server {pid}" in command(home, "stop", "--server", str(pid), code=1)
    assert "Say what to stop" in command(home, "stop", "s", "--server", code=2)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_a_server_that_lingers(home, host, number):
    pid, processes = left_alone(home, host)
    os.kill(pid, number)
    all_gone(processes)
    assert not (home / "cache/sockets").exists()


def test_a_signal_that_comes_with_the_end_of_the_front_ends_the_server(home, host):
    first = host()
    first.cell("1")
    (pid,) = servers(home)
    processes = processes_of(pid)
    os.kill(pid, signal.SIGSTOP)  # the server then notices both at once
    first.process.kill()
    first.process.wait(WAIT_S)
    os.kill(pid, signal.SIGTERM)
    os.kill(pid, signal.SIGCONT)
    all_gone(processes)


def test_a_signal_ends_a_server_and_its_front(home, host):
    first = host()
    first.cell("1")
    (pid,) = servers(home)
    processes = processes_of(pid)
    os.kill(pid, signal.SIGTERM)
    assert first.process.wait(WAIT_S) == 0
    all_gone(processes)


def test_a_killed_server_ends_its_front(home, host):
    first = host()
    first.cell("1")
    (pid,) = servers(home)
    os.kill(pid, signal.SIGKILL)
    assert first.process.wait(WAIT_S) == 1
    first.readers[1].join(WAIT_S)
    assert b"the server has ended unexpectedly" in first.stderr
    second = host()
    assert "is resumed" in second.cell("1").notice


def test_a_server_that_stands_still_keeps_no_host_waiting(home, host):
    pid, _ = left_alone(home, host)
    with standing_still(home, pid):
        second = host()
        assert second.call("list_sessions").object["sessions"] == []
    second.close()
    assert len(host().call("list_sessions").object["sessions"]) == 1


def test_both_generations_of_the_protocol_follow_each_other(home, host):
    first = host()
    first.cell("x = 1")
    first.request("logging/setLevel", {"level": "debug"})
    first.request("resources/subscribe", {"uri": "sessions://"})
    first.close()
    until(lambda: lingering(home) != [])
    second = host(initialize=False)
    assert "2026-07-28" in second.request("server/discover", CLAIM)["supportedVersions"]
    call = {"name": "exec_code", "arguments": {"session_id": "s", "language": "python", "code": "x + 1"}, **CLAIM}
    assert "2\n" in [block.get("text") for block in second.request("tools/call", call)["content"]]
    second.request("tools/call", {**call, "arguments": {**call["arguments"], "session_id": "other"}})
    assert second.others.empty(), "the first one subscribed, not this one"
    second.close()
    until(lambda: lingering(home) != [])
    third = host()
    assert third.cell("x + 2").text == "3\n"


def test_a_question_of_the_last_host_is_over_and_the_cell_still_waits(home, host):
    first = host(initialize=False)
    first.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
                                 "clientInfo": {"name": "e2e", "version": "1"}})
    first.notify("notifications/initialized")
    first.start_cell("print('you are', input('name? '))")
    asked = first.others.get()
    while asked.get("method") != "elicitation/create":
        asked = first.others.get()
    first.process.kill()
    first.process.wait(WAIT_S)
    until(lambda: lingering(home) != [])
    second = host()
    second.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"answer": "wrong"}}})
    assert "name?" in second.interact(budget=0).text
    assert "you are right" in second.interact(input="right").text


def test_the_log_goes_to_the_host_of_the_moment(home, host):
    first = host(PTYCELL_LOG="info")
    first.cell("1")
    first.close()
    assert b"serve: the client has ended" in first.stderr
    until(lambda: lingering(home) != [])
    second = host(PTYCELL_LOG="info")
    second.cell("1", session="t")
    second.close()
    assert second.stderr.count(b"serve: the client has ended") == 1


def test_hosts_without_a_stderr_are_served_and_followed(home):
    bare = {"env": LONG, "command": ["/bin/sh", "-c", f'exec "{BUILD.resolve()}/ptycell" 2>&-']}
    with Server(home, **bare) as first:
        first.cell("x = 1")
    until(lambda: lingering(home) != [])
    with Server(home, **bare) as second:
        assert second.cell("x").text == "1\n"
        second.call("destroy_session", session_id="s")
    until(lambda: servers(home) == {})


def test_a_file_has_no_host_that_comes_again(home):
    (home / "in").write_text(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "exec_code", "arguments": {"session_id": "s", "language": "python", "code": "1"}, **CLAIM}}) + "\n")
    with open(home / "in", encoding="utf-8") as file:
        done = subprocess.run([str(BUILD / "ptycell")], env={**environment(home), **LONG, "PTYCELL_RESUME": "off"}, stdin=file,
                              stdout=subprocess.PIPE, timeout=WAIT_S, check=True)
    assert b'"1\\n"' in done.stdout
    assert servers(home) == {}


def test_without_the_setting_a_server_is_the_hosts_child_and_ends_with_it(home):
    with Server(home, env=LASTS) as server:
        server.cell("1")
        assert list(servers(home)) == [server.process.pid]
        processes = family(server.process.pid)
        assert server.close() == 0
    all_gone(processes)
    assert servers(home) == {}


def test_the_socket_is_the_users_alone(home, host):
    first = host()
    first.cell("1")
    first.close()
    until(lambda: lingering(home) != [])
    (path,) = (home / "cache/sockets").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

# SPDX-License-Identifier: MIT
"""Sessions: generations, queues, limits, expiry, and everything gone at their end."""
import os
import shutil

import pytest
from client import ALONE, BUILD, Result, Server
from machines import IS_ROOT
from patience import until
from steps import (HOLD, NEVER_S, alive, all_gone, family, go, interpreters, kill, listed, name_of,
                   nothing_left, own_seconds, session_folders, unheard_death, with_word)

SOON = {"CLEANUP_INTERVAL": "1"}


def rows(server):
    return {row["session_id"]: row for row in server.call("list_sessions").object["sessions"]}


def answer_of(pending):
    return Result(pending.get()["result"])




# ---- generations and notices ----

def test_the_first_answer_says_that_the_session_is_new_and_which_others_live(server):
    assert server.cell("1").notice.startswith("Session 's' is new and empty")
    other = server.cell("1", session="t")
    assert "Session 't' is new" in other.notice and "'s'" in other.notice


def test_many_sessions_leave_only_what_the_next_server_saves(home):
    """More than end while the server waits: what is left of them goes afterwards, by itself, if no last notebook is due."""
    with Server(home, env={**ALONE, "PTYCELL_MAX_SESSIONS": "300"}) as server:
        for pending in [server.start_cell("sleep 1000000 & trap '' TERM", session=f"s{i}", language="bash") for i in range(150)]:
            assert answer_of(pending).state == "done"
        assert server.close() == 0
    until(lambda: all((folder / "journal/kept").exists() for folder in (home / "cache").iterdir()))
    with Server(home, env=ALONE) as server:
        server.cell("1")
        until(lambda: [name for name in os.listdir(home / "cache") if name.startswith(".remove-")] == [])
    until(lambda: os.listdir(home / "cache") == [])


# Stands where ptycell-files is, and holds up exports.
SLOW_FILES = """#!/bin/sh
read -r request
case $request in
*'"op":"keep"'*)
    touch {home}/copies
    until test -e {home}/go; do sleep 0.01; done
    ;;
esac
printf '%s\\n' "$request" | {files} "$@"
"""


def test_a_loss_behind_a_cells_end_is_told_as_behind_it_although_it_is_still_being_kept(home, tmp_path):
    for program in BUILD.glob("ptycell*"):
        if program.is_file():
            shutil.copy(program, tmp_path)
    (tmp_path / "ptycell-files").write_text(SLOW_FILES.format(home=home, files=(BUILD / "ptycell-files").resolve()))
    with Server(home, command=[str(tmp_path / "ptycell")], env=ALONE) as server:
        pending = server.start_cell("open('output/a', 'w').write('a')")
        until((home / "copies").exists)
        for pid, _ in interpreters(server):
            kill(pid)
        until(lambda: rows(server)["s"]["generation"] == 2)
        (home / "go").touch()
        assert "was lost after cell 1: the interpreter was killed" in answer_of(pending).notice


@pytest.mark.parametrize("who", ["launch", "init"])
def test_a_session_outlives_its_sandbox(server, who):
    server.cell("open('kept', 'w').write('x'); q = 5")
    server.cell("echo hello", language="bash")
    running = interpreters(server)  # first: what waits may start meanwhile
    died = {process for process in family(server.process.pid) if "ptycell-" + who in name_of(process[0])}
    for pid, _ in died:
        kill(pid)
    all_gone(running)
    result = server.cell("open('kept').read(), 'q' in globals()")
    assert result.text == "('x', False)\n" and result.state == "done"
    assert "the interpreter ended with its sandbox, whose own processes were killed" in result.notice
    assert "files are not" in result.notice and "memory" not in result.notice
    assert server.cell("cat kept; echo y > ${TMPDIR:-/tmp}/y", language="bash").text == "x\n"
    assert server.cell("import tempfile; open(tempfile.gettempdir() + '/y').read()").text == "'y\\n'\n", "they share a sandbox again"
    assert not server.cell("1").notice


def test_a_lost_state_is_told_by_the_cell_that_lost_it_and_counted(server):
    server.cell("x = 1")
    lost = server.cell("import os; os._exit(1)")
    assert "Variables and imports are gone" in lost.text
    assert server.call("session_info", session_id="s").object["generation"] == 2
    assert server.cell("'x' in globals()").text == "False\n"


def test_a_state_lost_between_cells_opens_the_next_answer(lone_server):
    lone_server.cell("x = 1")
    (pid, _), = interpreters(lone_server)
    kill(pid)
    until(lambda: rows(lone_server)["s"]["generation"] == 2)
    lost = lone_server.cell("'x' in globals()")
    assert lost.content[0]["text"] == lost.notice
    assert "state of session 's' was lost" in lost.notice and "SIGKILL" in lost.notice
    assert "generation 2" in lost.notice and lost.text == "False\n"
    assert not lone_server.cell("1").notice


@pytest.mark.skipif(not IS_ROOT, reason="nobody but root stops what is in a sandbox")
def test_no_cell_goes_to_an_interpreter_that_hung_up(lone_server):
    lone_server.cell("x = 1")
    with unheard_death(lone_server, *interpreters(lone_server)):
        pending = lone_server.start_cell("'x' in globals()")
        lone_server.request("ping")
    next_one = answer_of(pending)
    assert next_one.state == "done" and next_one.text == "False\n"
    assert "state of session 's' was lost" in next_one.notice


def test_a_destroyed_session_used_again_says_what_is_gone(server):
    server.cell("x = 1")
    server.call("destroy_session", session_id="s")
    again = server.cell("'x' in globals()")
    assert "generation 2" in again.notice and "destroyed on request" in again.notice
    assert "variables and files are gone" in again.notice and again.text == "False\n"


def test_a_call_that_finds_an_unknown_id_names_the_live_ones(server):
    server.cell("1", session="sales-k3f9")
    for tool in ("list_artifacts", "destroy_session"):
        refused = server.call(tool, session_id="sales-k3f8")
        assert refused.is_error
        assert "no session 'sales-k3f8'" in refused.texts[0] and "'sales-k3f9'" in refused.texts[0]


# ---- queues ----

def test_parallel_calls_of_one_session_run_in_order(server):
    pending = [server.start_cell(f"order = [*globals().get('order', []), {n}]") for n in range(30)]
    numbers = [answer_of(p).status["cell"] for p in pending]
    assert numbers == list(range(1, 31))
    assert server.cell("order == list(range(30))").text == "True\n"


def test_other_sessions_do_not_wait(server):
    server.cell("import time", session="slow")
    slow = server.start_cell(f"time.sleep({NEVER_S})", session="slow")
    assert server.cell("1", session="quick").text == "1\n"
    server.request("ping")
    assert rows(server)["slow"]["state"] == "running"
    server.cancel(slow)


def test_the_sixty_sixth_waiting_cell_is_refused_with_a_reason(server):
    running = server.start_cell(f"import time\ntime.sleep({NEVER_S})")
    until(lambda: rows(server).get("s", {}).get("state") == "running")
    waiting = [server.start_cell("1") for _ in range(64)]
    refused = server.cell("1")
    assert refused.is_error and "64 cells are already waiting" in refused.texts[0]
    server.cancel(running)
    assert all(answer_of(p).state == "done" for p in waiting)


def test_destroying_answers_what_runs_and_what_waits(server):
    running = server.start_cell(f"import time\ntime.sleep({NEVER_S})")
    until(lambda: rows(server).get("s", {}).get("state") == "running")
    waiting = server.start_cell("1")
    assert not server.call("destroy_session", session_id="s").is_error
    for pending in (running, waiting):
        result = answer_of(pending)
        assert result.is_error and "destroyed on request" in result.text
        assert "try" not in result.status
    assert "s" not in rows(server)


# ---- expiry ----

def test_an_idle_session_expires_and_says_why_when_used_again(home):
    with Server(home, env={"IDLE_TIMEOUT": "1", **SOON}) as server:
        server.cell("x = 1")
        until(lambda: not rows(server))
        again = server.cell("'x' in globals()")
        assert "was not used for 1 s (idle_timeout)" in again.notice
        assert "generation 2" in again.notice


def test_an_old_session_expires_by_its_ttl_although_it_is_used(home):
    with Server(home, env={"SESSION_TTL": "1", **SOON}) as server:
        def expired():
            return "session_ttl" in server.cell("1").notice
        server.cell("1")
        until(expired)


def test_a_running_cell_postpones_the_end(home):
    with Server(home, env={"SESSION_TTL": "1", "IDLE_TIMEOUT": "1", **SOON}) as server:
        whole = server.start_cell(HOLD + "'whole'")
        until(lambda: rows(server).get("s", {}).get("age_seconds", 0) >= 4)
        go(server)
        assert answer_of(whole).text == "'whole'\n"
        until(lambda: not rows(server))


def test_live_children_postpone_the_end(home):
    word = own_seconds("1414")
    with Server(home, env={"IDLE_TIMEOUT": "1", **SOON}) as server:
        server.cell(f"import subprocess\np = subprocess.Popen(['sleep', '{word}'])")
        until(lambda: rows(server)["s"]["idle_seconds"] >= 4)
        (child, _), = with_word(word)
        kill(child)
        until(lambda: not rows(server))


# ---- limits ----

def test_the_number_of_sessions_is_limited(home):
    with Server(home, env={"PTYCELL_MAX_SESSIONS": "2"}) as server:
        server.cell("1", session="a")
        server.cell("1", session="b")
        refused = server.cell("1", session="c")
        assert refused.is_error and "PTYCELL_MAX_SESSIONS" in refused.texts[0]
        assert server.cell("2", session="a").text == "2\n"
        server.call("destroy_session", session_id="b")
        assert server.cell("3", session="c").text == "3\n"


def test_a_sessions_own_limits_are_clamped_between_floor_and_ceiling(home):
    with Server(home, env={"EXEC_TIMEOUT": "50"}) as server:
        def config(**limits):
            answer = server.call("session_info", session_id="s", config=limits)
            return answer.object["effective_config"]
        assert config(exec_timeout=20)["exec_timeout"] == 20
        assert config(exec_timeout=1e18)["exec_timeout"] == 50
        for low in (-1, 0, -1e300):
            assert config(exec_timeout=low, session_ttl=low)["exec_timeout"] == 1
            assert config(session_ttl=low)["session_ttl"] == 1
        assert config(exec_timeout=1)["exec_timeout"] == 1
        assert server.cell("import time\ntime.sleep(1000)").state == "timed_out"


@pytest.mark.parametrize("config, said", [({"colour": 1}, "colour"), ({"exec_timeout": "nine"}, "number"),
                                          ("fast", "config"), ({"exec_timeout": None}, "number")])
def test_a_wrong_config_is_refused_by_name(server, config, said):
    refused = server.call("session_info", session_id="s", config=config)
    assert refused.is_error and said in refused.texts[0]


# ---- ends ----

def test_destroying_kills_everything_and_removes_the_folder(lone_server, home):
    word = own_seconds("1732")
    lone_server.cell("import subprocess, os\n"
                f"a = subprocess.Popen(['sleep', '{word}'], start_new_session=True)\n"
                f"os.system('(trap \"\" HUP TERM INT; nohup setsid sleep {word} &) >/dev/null')")
    until(lambda: len(with_word(word)) == 2)
    (folder,) = until(lambda: session_folders(home))  # known by the journal, which is written after the answer
    interpreter, = interpreters(lone_server)
    assert not lone_server.call("destroy_session", session_id="s").is_error
    until(lambda: not with_word(word))
    until(lambda: not alive({interpreter}))
    until(lambda: not folder.exists())
    assert "s" not in rows(lone_server)


def test_two_servers_at_once_do_not_touch_each_other(home):
    with Server(home) as one, Server(home) as two:
        one.cell("open('f', 'w').write('one')")
        two.cell("open('f', 'w').write('two')")
        assert len(session_folders(home)) == 2
        one.close()
        assert two.cell("open('f').read()").text == "'two'\n"


def test_a_killed_server_is_cleaned_up_by_the_next(home):
    server = Server(home)
    server.cell("open('f', 'w').write('x' * 100)")
    (folder,) = session_folders(home)
    processes = family(server.process.pid)
    server.process.kill()
    server.close()
    all_gone(processes)
    assert folder.exists()
    with Server(home) as following:
        following.cell("1")
        until(lambda: not folder.exists())
    nothing_left(home)


def variables(server, session="s"):
    return server.call("session_info", session_id=session, include=["variables"]).object


def test_variables_have_type_shape_size_and_preview(server):
    server.cell("import pandas as pd\ndf = pd.DataFrame({'x': range(5)}); s = 'a\\tb\\n'; n = 5")
    told = {v.pop("name"): v for v in variables(server)["variables"]}
    assert told["n"] == {"language": "python", "type": "int", "bytes": "28", "value": "5"}
    assert told["df"]["type"] == "DataFrame" and told["df"]["shape"] == "5x1"
    assert "value" not in told["df"] and int(told["df"]["bytes"]) > 40
    assert told["s"]["value"] == "'a\\tb\\n'" and "pd" not in told


def test_asking_for_variables_runs_nothing_of_the_user_and_leaves_no_trace(server):
    server.cell("class E:\n  def __repr__(self): print('called'); return 'E'\n"
                "  __len__ = __sizeof__ = __str__ = __repr__\n  shape = property(__repr__)\n"
                "e, es = E(), [E()]\n41 + 1")
    assert {v["name"] for v in variables(server)["variables"]} == {"E", "e", "es"}
    result = server.cell("_")
    assert result.text == "42\n" and result.status["cell"] == 2 and "background" not in result.status


def test_a_busy_interpreter_is_not_asked_for_variables(server):
    cell = server.start_cell(f"import time; open('runs', 'w').close(); time.sleep({NEVER_S})")
    until(lambda: "runs" in listed(server))
    server.call("session_info", session_id="s", config={})
    told = variables(server)
    assert told["variables"] == [] and "python: the interpreter is busy" in told["variables_problem"]
    server.cancel(cell)
    until(lambda: "variables_problem" not in variables(server))


def test_a_session_without_an_interpreter_has_no_variables_and_starts_none(server):
    unknown = variables(server)
    assert (unknown["state"], unknown["variables"]) == ("none", [])
    server.call("session_info", session_id="s", config={})
    told = variables(server)
    assert told["variables"] == [] and "variables_problem" not in told and told["state"] == "idle"


def test_a_name_that_is_gone_is_told(server):
    server.cell("x = 1; y = 2")
    result = server.cell("del x")
    assert [n["name"] for n in result.status["names"]] == ["-x"]
    assert result.cell["names"] == [{"name": "x", "gone": True}]


def test_more_variables_than_an_answer_holds_are_counted(server):
    server.cell("for n in range(20000): globals()[f'v{n}'] = '\U0001f600' * 100")
    answer = server.call("session_info", session_id="s", include=["variables"])
    assert len(answer.object["variables"]) == 200
    assert answer.object["variables_left_out"] == 20_001 - 200

# SPDX-License-Identifier: MIT
"""Sessions that last: the next server goes on with the files and the record of an ended session."""
import json
import os
import random
import re
import subprocess
import time

import pytest

from client import ALONE, BUILD, LASTS, Result, Server, command, environment
from patience import until
from steps import listed, paths_in

KILLS = int(os.environ.get("PTYCELL_KILLS", "6"))
# A slow machine adds how long that takes, or has saved the variables by then.
BACK = (r'Its files are back, except those in /tmp; its variables are not: interact with action "(restore_run" runs its cells again[^.]*(\.\d s\)[^.]*)?, '
        r'or read the script \(resource session://s/script\)\.|restore_values" brings those of cells? 1( to 2)? back)')
RESUMED = "Session 's' is resumed: "


def is_written(home, name):
    """Whether the running session's output/NAME has its content."""
    return any(os.path.getsize(path) > 0 for path in paths_in(home, f"cache/server-*/sessions/*/data/output/{name}"))


def kill(server):
    server.process.kill()
    server.process.wait()


def lasting(home):
    """The folders of ended sessions."""
    return sorted(paths_in(home, "cache/resume/*"))


def kept(home):
    """What is in the kept folders, without the report."""
    return sorted(path.relative_to(home / "kept").as_posix().split("/", 1)[1] for path in (home / "kept").glob("*/**/[!.]*")
                  if path.is_file() and path.name != "report.html")


def kept_folders(home):
    return sorted(path.name for path in (home / "kept").glob("*/"))


def leave_old(folder, days):
    for path in paths_in(folder, "journal/*"):
        os.utime(path, (time.time() - days * 86400,) * 2)


# ---- the next day ----


@pytest.mark.parametrize("record", ["on", "off"])
def test_the_record_of_a_folder_is_written_anew_only_for_other_limits(home, start, record):
    """Each cell would write a page of the disk otherwise. Without a journal its time is the session's last use."""
    server = start(PTYCELL_RECORD=record)
    server.cell("1")
    path, = paths_in(home, "cache/server-*/sessions/*/journal/session")
    os.utime(path, (0, 0))
    before = path.stat()
    server.cell("2")
    after = path.stat()
    assert before.st_ino == after.st_ino and (after.st_mtime > 0) == (record == "off")
    server.call("exec_code", session_id="s", code="3", config={"output_chars": 1000})
    assert "output_chars=1000" in path.read_text() and path.stat().st_ino != before.st_ino


def test_a_folder_that_cannot_be_moved_stays_for_the_next_server(home, start):
    (home / "cache").mkdir(mode=0o700, exist_ok=True)
    (home / "cache/resume").write_text("in the way")
    server = start()
    server.cell("open('mine', 'w').write('all of it')")
    assert server.close() == 0
    (home / "cache/resume").unlink()
    assert start().cell("print(open('mine').read())").text == "all of it\n"


def test_whole_outputs_of_a_killed_life_are_kept(home, start):
    """Of the cell that ended and of the one that ran, once, wherever the server was killed."""
    first = start(PTYCELL_RECORD_OUTPUT="4096")
    first.cell("for n in range(50_000): print('line', n)")
    first.cell("for n in range(300_000): print('more', n)\nopen('output/done', 'w').write('d')\nwhile True: pass", budget=0)
    until(lambda: is_written(home, "done"))
    kill(first)
    second = start(PTYCELL_RECORD_OUTPUT="4096")
    second.cell("'again'")
    until(lambda: [name for name in kept(home) if "cell-" in name] == ["outputs/cell-1.txt", "outputs/cell-2.txt"])
    second.close()
    start().cell("'third'")
    names = kept(home)
    assert [name for name in names if "cell-" in name] == ["outputs/cell-1.txt", "outputs/cell-2.txt"]
    book = json.loads(next((home / "kept").glob("*/notebook.ipynb")).read_text())
    told = [cell["id"] for cell in book["cells"] if "is in outputs/" in json.dumps(cell)]
    assert told == ["cell-1", "cell-2"]


def test_a_half_copy_of_a_killed_helper_is_removed(home, start):
    server = start()
    server.cell("open('output/n.txt', 'w').write('7')")
    server.cell("open('output/m.txt', 'w').write('8')\nwhile True: pass", budget=0)
    until(lambda: is_written(home, "m.txt"))
    kill(server)
    folder, = (home / "kept").glob("*/")
    half = folder / ".ptycell-vgg2bwxdjxfwt36e"
    half.write_text("8")
    (folder / ".ptycell-notes").write_text("the user's")
    start().cell("1")
    until(lambda: (folder / "m.txt").exists() and not half.exists())
    assert (folder / ".ptycell-notes").exists()


def test_a_session_goes_on_where_it_was(start, home):
    server = start()
    server.call("upload_file", session_id="s", filename="in.csv", content="a,b\n1,2\n")
    server.cell("x = 5\nopen('output/a.txt', 'w').write('one')\nopen('work.csv', 'w').write('w')")
    server.cell("print('two')")
    server.close()
    server = start()
    first = server.cell("print(open('input/in.csv').read(), open('work.csv').read())")
    assert first.notice.startswith(RESUMED + "2 cells until "), first.texts
    assert re.search(r", when the host closed\. " + BACK, first.notice), first.notice
    assert "To begin empty, use another session_id, such as 's-" in first.notice
    assert first.text == "a,b\n1,2\n w\n"
    assert first.status["cell"] == 3
    assert server.cell("print(x)").state == "raised"
    script = server.request("resources/read", {"uri": "session://s/script"})["contents"][0]["text"]
    assert script.index("x = 5") < script.index("print('two')") < script.index("in.csv")
    assert server.call("session_info", session_id="s").object["generation"] == 2


def test_the_second_answer_does_not_tell_it_again(start):
    server = start()
    server.cell("1")
    server.close()
    server = start()
    assert server.cell("1").notice != ""
    assert server.cell("1").notice == ""


def test_one_kept_folder_is_for_all_lives_of_a_session(start, home):
    for day in range(3):
        server = start()
        server.cell(f"open('output/a.txt', 'w').write('day {day}')\nopen('output/{day}.txt', 'w').write('{day}')")
        server.close()
    folder, = kept_folders(home)
    assert kept(home) == ["0.txt", "1.txt", "2.txt", "a.txt", "notebook.ipynb"]
    assert (home / "kept" / folder / "a.txt").read_text() == "day 2"
    book = json.loads((home / "kept" / folder / "notebook.ipynb").read_text())
    assert [cell["metadata"]["ptycell"]["cell"] for cell in book["cells"] if "ptycell" in cell["metadata"]] == [1, 2, 3]


def test_uploads_of_all_lives_lie_in_one_folder(start, home):
    for day in "abc":
        server = start()
        server.call("upload_file", session_id="s", filename=f"{day}.csv", content=day)
        assert server.cell(f"open('input/{day}.csv').read()").text == f"'{day}'\n"
        server.close()
    assert [name for name in kept(home) if "notebook" not in name] == ["input/a.csv", "input/b.csv", "input/c.csv"]


def test_whatever_language_and_a_query_are_resumed(start):
    server = start()
    server.cell("a=1; echo hi > note", language="bash")
    server.call("exec_sql", session_id="s", query="select 6 * 7 as n")
    server.close()
    server = start()
    result = server.cell("cat note; echo \"$a\"", language="bash")
    assert RESUMED + "2 cells until " in result.notice
    assert result.text == "hi\n\n"
    assert result.status["cell"] == 3


def test_an_upload_resumes_a_session_too_and_tells_it(start):
    server = start()
    server.cell("open('a', 'w').write('1')")
    server.close()
    server = start()
    info = server.call("session_info", session_id="s")
    assert "session 's' is not live" in info.texts[0].lower()
    upload = server.call("upload_file", session_id="s", filename="b", content="2")
    assert RESUMED in "".join(upload.texts)
    assert "no cell has run in session 's' since it was resumed" in server.interact(action="wait").texts[0]
    assert sorted(listed(server)) == ["a", "input/b"]


def test_limits_that_a_session_had_lowered_hold_again(start):
    server = start()
    server.call("session_info", session_id="s", config={"exec_timeout": 7, "memory_max": 1 << 30})
    server.cell("1", language="bash")
    server.call("session_info", session_id="s", config={"output_chars": 3000})
    kill(server)
    server = start(EXEC_TIMEOUT="5")
    server.cell("1", language="bash")
    config = server.call("session_info", session_id="s").object["effective_config"]
    assert (config["exec_timeout"], config["memory_max"], config["output_chars"]) == (5, 1 << 30, 3000)


def test_variables_are_not_back_though_nothing_was_recorded_before_a_kill(start):
    server = start(PTYCELL_RECORD="off")
    server.cell("x = 1")
    kill(server)
    server = start(PTYCELL_RECORD="off")
    notice = server.cell("1").notice
    assert "its record has no cell" in notice and " Its files are back, except those in /tmp; its variables are not." in notice


def test_without_a_record_the_files_are_back_and_nothing_is_said_of_a_script(start, home):
    server = start(PTYCELL_RECORD="off")
    server.cell("echo 1 > a", language="bash")
    server.cell("seq 100000", language="bash")
    assert paths_in(home, "cache/server-*/sessions/*/spool/*") != []
    server.close()
    assert paths_in(home, "cache/resume/*/spool/*") == []
    server = start(PTYCELL_RECORD="off")
    result = server.cell("cat a", language="bash")
    assert result.text == "1\n" and result.status["cell"] == 3
    assert RESUMED + "its record has no cell, and it was last used " in result.notice
    assert "Its files are back, except those in /tmp; its variables are not. To begin empty" in result.notice
    assert paths_in(home, "cache/server-*/sessions/*/journal/events") == []
    server.cell("seq 100000", language="bash")
    assert paths_in(home, "cache/server-*/sessions/*/spool/*") != []
    kill(server)
    start(PTYCELL_RECORD="off").cell("1", session_id="other")
    until(lambda: paths_in(home, "cache/resume/*/journal") != [] and paths_in(home, "cache/resume/*/spool/*") == [])


def test_outputs_that_are_not_recorded_go_and_those_of_a_recorded_life_stay(start, home):
    for record in ("on", "off"):
        server = start(PTYCELL_RECORD=record)
        server.cell("seq 100000", language="bash")
        server.close()
    assert [path.name for path in paths_in(home, "cache/resume/*/spool/*")] == ["cell-1-bash.txt"]


def test_nothing_lasts_of_a_session_in_which_nothing_was_done(start, home):
    server = start()
    server.call("session_info", session_id="s", config={"exec_timeout": 3})
    server.close()
    assert lasting(home) == []
    assert paths_in(home, "cache/*") == []


def test_what_is_left_is_the_folder_of_the_session_alone(start, home):
    server = start()
    server.cell("open('a', 'w').write('1')")
    server.close()
    folder, = lasting(home)
    assert [path.name for path in paths_in(home, "cache/*")] == ["resume"]
    assert sorted(path.name for path in paths_in(folder, "*")) == ["data", "journal", "node_modules", "packages", "spool"]
    assert oct((home / "cache/resume").stat().st_mode & 0o777) == "0o700"


def test_off_leaves_nothing_and_resumes_nothing(start, home):
    server = start()
    server.cell("open('a', 'w').write('1')")
    server.close()
    server = start(PTYCELL_RESUME="off")
    assert "is new and empty" in server.cell("open('b', 'w').write('1')").notice
    assert len(lasting(home)) == 1, "another server's are not removed"
    server.close()
    assert len(lasting(home)) == 1
    assert RESUMED in start().cell("1").notice


def test_a_server_with_off_and_doctor_leave_what_a_killed_one_has(start, home):
    server = start()
    server.cell("open('a', 'w').write('1')")
    kill(server)
    server = start(PTYCELL_RESUME="off")
    server.cell("1", session="other")
    server.close()
    assert len(lasting(home)) == 1
    server = start()
    assert RESUMED in server.cell("1").notice
    kill(server)
    subprocess.run([BUILD / "ptycell", "doctor"], env=environment(home), check=False, stdout=subprocess.DEVNULL)
    assert RESUMED in start().cell("1").notice


# ---- ends ----

def test_after_idleness_the_same_server_resumes(start, home):
    server = start(IDLE_TIMEOUT="1", CLEANUP_INTERVAL="1")
    server.cell("x = 1\nopen('a', 'w').write('1')")
    until(lambda: server.call("list_sessions").object["count"] == 0)
    result = server.cell("print(open('a').read())")
    assert result.text == "1\n"
    assert re.search(r"; it ended because it was not used for 1 s \(idle_timeout\)\. " + BACK, result.notice), result.notice


def test_a_cell_of_a_destroyed_session_does_not_promise_its_files(start):
    server = start()
    waiting = server.start_cell("print('begun', flush=True)\nimport time\ntime.sleep(10**6)")
    until(lambda: server.call("list_sessions").object["sessions"][0]["state"] == "running")
    server.call("destroy_session", session_id="s")
    assert "destroyed on request. Its variables and files are gone." in Result(waiting.get()["result"]).text


def test_a_session_that_was_destroyed_is_not_resumed(start, home):
    server = start()
    server.cell("open('a', 'w').write('1')")
    server.call("destroy_session", session_id="s")
    result = server.cell("import os; print(os.path.exists('a'))")
    assert "ended because it was destroyed on request" in result.notice
    assert result.text == "False\n"
    server.call("destroy_session", session_id="s")
    server.close()
    assert lasting(home) == []
    assert "there is no other" in start().cell("1").notice


def test_a_destroyed_session_is_not_resumed_though_its_server_is_killed_then(start, home):
    """Its interpreter still ends meanwhile; what it had made is saved."""
    server = start()
    server.cell("import atexit, time\natexit.register(time.sleep, 60)\nopen('output/a.txt', 'w').write('1')")
    server.call("destroy_session", session_id="s")
    server.process.kill()
    server.process.wait()
    server = start()
    assert "there is no other" in server.cell("1").notice
    assert "resumable" not in command(home, "ps")
    until(lambda: paths_in(home / "kept", "*/notebook.ipynb") and lasting(home) == [])
    assert [path.read_text() for path in paths_in(home / "kept", "*/a.txt")] == ["1"]


def test_what_a_killed_server_left_is_saved_before_it_is_destroyed(start, home):
    """Also by the first call of the next server."""
    audit = home / "audit.jsonl"
    server = start(PTYCELL_AUDIT=str(audit))
    server.cell("open('output/a', 'w').write('a')")
    server.start_cell("open('output/b', 'w').write('b'); import time; time.sleep(1000)")
    until(lambda: "output/b" in listed(server))
    server.process.kill()
    server.process.wait()
    server = start(PTYCELL_AUDIT=str(audit))
    told = server.call("destroy_session", session_id="s").object["message"]
    assert told.startswith("Session 's' was not live. What is not saved yet is saved first; then its folder and its record go; saved results are in ~/kept/")
    assert "is new and empty" in server.cell("1").notice and "resumable" not in command(home, "ps")
    until(lambda: lasting(home) == [])
    (kept,) = [folder for folder in (home / "kept").glob("*-s-*") if (folder / "a").exists()]
    assert (kept / "b").read_text() == "b" and (kept / "report.html").exists()
    book = json.loads((kept / "notebook.ipynb").read_text())
    assert [cell["metadata"]["ptycell"]["state"] for cell in book["cells"] if cell["id"].startswith("cell-")] == ["done", "killed"]
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [line["state"] for line in lines if line["event"] == "ended" and line["cell"] == 2] == ["killed"]
    (line,) = [line for line in lines if line["event"] == "session_destroyed"]
    assert (line["session_id"], line["generation"], line["kept_folder"], line["why"]) == ("s", 1, f"~/kept/{kept.name}", "it was destroyed on request")


def test_an_ended_session_can_be_destroyed(start, home):
    server = start()
    server.cell("1")
    server.close()
    server = start()
    answer = server.call("destroy_session", session_id="s")
    (kept,) = (home / "kept").glob("*-s-*")
    assert answer.object["message"] == f"Session 's' was not live; its folder and its record are gone; saved results are in ~/kept/{kept.name}."
    until(lambda: lasting(home) == [])
    assert server.call("destroy_session", session_id="s").is_error
    assert "is new and empty" in server.cell("1").notice


@pytest.mark.parametrize("running", (False, True))
def test_a_host_that_ends_it_in_steps_loses_nothing(start, home, running):
    """Hosts close stdin, send SIGTERM, and SIGKILL within 2 s."""
    server = start()
    server.cell("open('output/a', 'w').write('1')")
    if running:
        server.cell("print('begun', flush=True)\nopen('output/b', 'w').write('2')\nwhile True: pass", budget=0)
        until(lambda: is_written(home, "b"))
    server.process.stdin.close()
    time.sleep(random.uniform(0, 0.2))
    server.process.terminate()
    time.sleep(random.uniform(0, 0.2))
    kill(server)
    assert len(lasting(home)) + len(paths_in(home, "cache/server-*/sessions/*/journal/session")) == 1
    server = start()
    result = server.cell("print(open('output/a').read())")
    assert result.text == "1\n"
    assert RESUMED in result.notice
    server.close()
    assert "a" in kept(home) and len(kept_folders(home)) == 1


def test_a_killed_server_is_named_with_the_cell_that_ran(start, home):
    server = start()
    server.cell("open('output/a', 'w').write('1')")
    server.cell("open('output/b', 'w').write('2')\nwhile True: pass", budget=0)
    until(lambda: is_written(home, "b"))
    kill(server)
    server = start()
    result = server.cell("print(open('output/b').read())")
    assert RESUMED + "2 cells until " in result.notice
    assert ", when its server was killed while cell 2 ran. " in result.notice
    assert result.text == "2\n"
    server.close()
    assert kept(home) == ["a", "b", "notebook.ipynb"]
    book = json.loads(next((home / "kept").glob("*/notebook.ipynb")).read_text())
    assert [cell["metadata"]["ptycell"]["state"] for cell in book["cells"] if "ptycell" in cell["metadata"]] == ["done", "killed", "done"]


def test_a_cell_that_an_earlier_kill_ended_is_not_named_after_the_next_one(start, home):
    server = start()
    server.cell("open('output/a', 'w').write('1')\nwhile True: pass", budget=0)
    until(lambda: is_written(home, "a"))
    kill(server)
    server = start()
    assert "killed while cell 1 ran. " in server.cell("1").notice
    kill(server)
    assert ", when its server was killed. " in start().cell("1").notice


@pytest.mark.parametrize("end", ("EOF", "SIGTERM"))
def test_a_cell_that_the_end_of_the_server_stopped_is_named(start, end):
    server = start()
    server.cell("1")
    answer = server.start_cell("print('begun', flush=True)\nwhile True: pass", budget=0)
    assert answer.get()["result"]["content"]
    if end == "EOF":
        server.process.stdin.close()
    else:
        server.process.terminate()
    server.process.wait()
    server = start()
    assert ", when the host closed while cell 2 ran. " in server.cell("1").notice
    server.close()
    assert ", when the host closed. " in start().cell("1").notice


def test_what_nobody_resumes_is_saved_and_stays(start, home):
    server = start()
    server.cell("open('output/a', 'w').write('1')\nwhile True: pass", budget=0)
    until(lambda: is_written(home, "a"))
    kill(server)
    for other in ("t", "u"):
        server = start()
        server.cell("1", session=other)
        until(lambda: len(paths_in(home, "cache/resume/*/journal/rescued")) == 1)
        server.close()
    names = [name for name in kept(home) if not name.startswith("notebook")]
    assert names == ["a"]
    server = start()
    assert server.cell("print(open('output/a').read())").text == "1\n"
    server.close()
    assert [name for name in kept(home) if not name.startswith("notebook")] == ["a"]
    assert len(kept_folders(home)) == 3


CELL = """
n = len(open('log').readlines()) if __import__('os').path.exists('log') else 0
with open('log', 'a') as f: f.write(f'{n}\\n')
with open('output/n.txt', 'w') as f: f.write(str(n))
print(n)
"""


@pytest.mark.limit(600)
def test_whenever_it_is_killed_the_next_one_resumes_it_whole(start, home):
    """What an answer told is there, cells are numbered on, nothing is kept twice."""
    done = cells = 0
    for _ in range(KILLS):
        server = start()
        last = time.monotonic() + random.uniform(0.3, 0.8)
        first = True
        while time.monotonic() < last:
            result = server.cell(CELL)
            if first and cells > 0:
                assert RESUMED in result.notice, result.texts
            first = False
            assert result.text.split()[0] == str(done), result.texts
            done += 1
            assert result.status["cell"] == cells + 1
            cells += 1
        time.sleep(random.uniform(0, 0.05))
        kill(server)
    server = start()
    assert server.cell("print(len(open('log').readlines()))").text == f"{done}\n"
    server.close()
    assert kept(home).count("n.txt") == 1 and len(kept_folders(home)) == 1
    assert [name for name in kept(home) if "-" in name] == []
    assert [path.name for path in paths_in(home, "cache/*")] == ["resume"]


# ---- two servers ----

def test_of_two_servers_the_second_has_one_of_its_own(start, home):
    one, two = start(), start()
    one.cell("x = 1\nopen('a', 'w').write('1')")
    result = two.cell("import os; print(os.path.exists('a'))")
    assert "is new and empty: another ptycell server on this machine has a live session of that id" in result.notice
    assert result.text == "False\n"
    assert one.cell("print(x)").text == "1\n"
    two.close()
    one.cell("1")
    one.close()
    first, second = lasting(home)
    leave_old(first, 1)
    leave_old(second, 2)
    result = start().cell("1")
    assert "1 more ended session has that id, last used " in result.notice


def test_beside_a_live_session_of_the_id_the_ended_ones_are_named(start, home):
    """The live one may be another window's, and this one's work in a folder of a server that was killed."""
    one, two = start(), start()
    one.cell("open('a', 'w').write('work')")
    two.cell("1")
    one.process.kill()
    one.process.wait()
    server = start()
    notice = server.cell("1").notice
    assert "has a live session of that id" in notice and " 1 ended session has that id, last used " in notice
    own = re.search(r"\('(s-[a-z2-7]{8})'\)", notice)[1]
    assert server.cell("print(open('a').read())", session=own).text == "work\n"


RUNS = "import os, time\nopen('begun', 'w').close()\nwhile not os.path.exists('go'): time.sleep(0.01)\nopen('ended', 'w').close()"


def leave(start, home, **env):
    """A server whose host has closed its end while a cell runs, and the folder of the session's files."""
    server = start(**env)
    server.start("tools/call", {"name": "exec_code", "arguments": {"session_id": "s", "code": RUNS}})
    until(lambda: paths_in(home, "cache/server-*/sessions/*/data/begun"))
    server.process.stdin.close()
    until(lambda: [lock for lock in paths_in(home, "cache/server-*/lock") if lock.stat().st_size > 0])
    return server, paths_in(home, "cache/server-*/sessions/*/data/begun")[0].parent


@pytest.mark.parametrize("env", [{}, {"PTYCELL_LINGER": "10m"}])
def test_a_host_that_only_closes_its_end_is_followed_when_its_cell_has_ended(start, home, env):
    _, data = leave(start, home, **env)
    two = start()
    answer = two.start("tools/call", {"name": "exec_code", "arguments": {"session_id": "s", "code": "import os; print(os.path.exists('ended'))"}})
    assert two.cell("1", session="other").text == "1\n", "other sessions do not wait"
    (data / "go").touch()
    texts = [part["text"] for part in answer.get()["result"]["content"]]
    assert RESUMED in texts[0] and texts[1] == "True\n", texts


def test_a_cell_that_runs_on_ends_with_its_session_for_the_next_host(start, home):
    leave(start, home)
    result = start().cell("import os; print(os.path.exists('ended'))")
    assert RESUMED in result.notice and result.text == "False\n"


def test_of_several_the_last_used_is_resumed_and_the_others_are_named(start, home):
    servers = [start() for _ in range(3)]
    for number, server in enumerate(servers):
        server.cell(f"open('a', 'w').write('{number}')")
    for number, server in enumerate(servers):
        server.close()
    for folder in lasting(home):
        leave_old(folder, 3 if (folder / "data/a").read_text() != "1" else 2)
    result = start().cell("print(open('a').read())")
    assert result.text == "1\n"
    assert "2 more ended sessions have that id, last used " in result.notice
    own = re.findall(r"\('(s-[a-z2-7]{8})'\)", result.notice)
    assert len(own) == 2
    server = start()
    assert server.cell("print(open('a').read())", session=own[0]).text in ("0\n", "2\n")
    assert f"Session '{own[1]}' is resumed: 1 cell until" in server.cell("1", session=own[1]).notice


def test_the_user_sees_an_id_for_each_of_several(start, home):
    servers = [start() for _ in range(2)]
    for number, server in enumerate(servers):
        server.cell(f"print({number})")
    servers[0].cell("1", session="other")
    for server in servers:
        server.close()
    rows = json.loads(command(home, "resume", "--json"))["resumable"]
    own = [row["own_id"] for row in rows if row["session_id"] == "s"]
    assert len(set(own)) == 2 and not any("own_id" in row for row in rows if row["session_id"] == "other")
    shown = command(home, "resume")
    assert all(name in shown for name in own)
    assert {json.loads(command(home, "log", name, "--json").splitlines()[0])["text"] for name in own} == {"0\n", "1\n"}


def test_a_session_without_a_cell_does_not_hide_one_with_cells(start):
    one, two = start(), start()
    one.cell("open('a', 'w').write('1')")
    two.call("upload_file", session_id="s", filename="b", content="1")
    one.close()
    kill(two)
    result = start().cell("print(open('a').read())")
    assert result.text == "1\n"
    assert ", without a cell)" in result.notice


def test_a_server_that_dies_meanwhile_hands_its_session_over(start, home):
    one, two = start(), start()
    two.cell("1", session="other")
    one.cell("open('a', 'w').write('1')")
    kill(one)
    result = two.cell("print(open('a').read())")
    assert RESUMED in result.notice and result.text == "1\n"


# ---- limits ----

def test_the_old_are_removed(start, home):
    server = start()
    for session in ("old", "new"):
        server.cell("1", session=session)
    server.close()
    for folder in lasting(home):
        if json.loads((folder / "journal/session").read_text())["session_id"] == "old":
            leave_old(folder, 8)
    server = start()
    server.cell("1")
    until(lambda: len(lasting(home)) == 1)
    assert "is new and empty" in server.cell("1", session="old").notice
    assert "is resumed" in server.cell("1", session="new").notice


def test_over_the_limit_the_longest_unused_go_and_a_live_one_stays(start, home):
    server = start(PTYCELL_KEEP="off")
    for session in "abc":
        server.cell("open('big', 'wb').write(bytes(range(256)) * (3 << 12))", session=session)
    server.close()
    for folder in lasting(home):
        leave_old(folder, {"a": 1, "b": 3, "c": 2}[json.loads((folder / "journal/session").read_text())["session_id"]])
    server = start(PTYCELL_RESUME_MAX="8M", PTYCELL_KEEP="off")
    assert "is resumed" in server.cell("1", session="a").notice
    server.cell("open('more', 'wb').write(bytes(9 << 20))", session="a")
    server.cell("1", session="d")
    assert server.cell("import os; print(os.path.getsize('more'))", session="a").text == f"{9 << 20}\n"
    server.close()
    server = start(PTYCELL_RESUME_MAX="8M", PTYCELL_KEEP="off")
    server.cell("1", session="e")
    until(lambda: "cannot be resumed any more" in server.stderr.decode())


# ---- hostile code ----

HOSTILE = r"""
import os
for name in ('\n', 'a\x1b[31m', '-rf', '.hidden', '\udcff'): open(name, 'w').write('x')
os.symlink('/etc/passwd', 'link'); os.symlink('loop', 'loop'); os.symlink('/', 'output/root')
os.mkfifo('fifo'); os.mkfifo('output/fifo')
import shutil
shutil.rmtree('input', ignore_errors=True); os.symlink('/etc', 'input')
shutil.rmtree('.cache', ignore_errors=True); os.symlink('/tmp', '.cache')
os.makedirs('journal'); open('journal/events', 'w').write('ptycell events 1\n')
open('journal/session', 'w').write('{"session_id": "other"}')
os.mkdir('closed'); open('closed/x', 'w').write('y'); os.chmod('closed', 0)
os.chmod('.', 0)
"""


def test_a_folder_that_code_made_hostile_is_resumed(start, home):
    server = start()
    assert server.cell(HOSTILE).state == "done"
    server.close()
    server = start()
    result = server.cell("import os; print(open('-rf').read(), os.path.islink('link'))")
    assert result.text == "x True\n", result.texts
    assert RESUMED in result.notice
    upload = server.call("upload_file", session_id="s", filename="up", content="1")
    assert upload.is_error and not os.path.exists("/etc/up")
    assert "is new and empty" in server.cell("1", session="other").notice
    server.call("destroy_session", session_id="s")
    until(lambda: [path for path in paths_in(home, "cache/**/-rf")] == [])


def test_code_does_not_reach_the_record_of_its_session(start):
    result = start().cell("""
import os
for path in ('/mnt/data/../journal', '/mnt/journal', '../journal', '/mnt/spool/../journal'):
    print(os.path.exists(path))
print([path for path, folders, files in os.walk('/mnt') if 'journal' in folders or 'events' in files])
""")
    assert result.text == "False\n" * 4 + "[]\n"


@pytest.mark.parametrize("spoil", ("torn", "forged", "link", "empty", "missing"))
def test_a_record_that_is_spoilt_is_told_and_the_files_are_back(start, home, spoil):
    server = start()
    server.cell("open('a', 'w').write('1')")
    server.cell("print('two')")
    server.close()
    events = lasting(home)[0] / "journal/events"
    if spoil == "torn":
        events.write_bytes(events.read_bytes()[:-20])
    elif spoil == "missing":
        events.unlink()
    else:
        events.unlink()
        if spoil == "link":
            events.symlink_to("/etc/passwd")
        else:
            events.write_text("" if spoil == "empty" else "something else\n" * 9)
    server = start()
    result = server.cell("print(open('a').read())")
    assert result.text == "1\n", result.texts
    assert RESUMED in result.notice
    assert ("cannot be read" in result.notice) == (spoil not in ("torn", "missing"))
    assert result.status["cell"] == 3
    server.close()
    assert RESUMED in start().cell("1").notice


def test_a_folder_that_is_open_to_others_is_not_taken_over(start, home):
    server = start()
    server.cell("1")
    server.close()
    lasting(home)[0].chmod(0o777)
    server = start()
    assert "is new and empty" in server.cell("1").notice
    server.close()
    assert len(lasting(home)) == 2


# ---- the rest ----

def test_a_full_disk_does_not_spoil_what_lasts(start, home):
    server = start()
    server.cell("open('a', 'w').write('1')")
    server.close()
    journal = lasting(home)[0] / "journal"
    before = (journal / "session").read_bytes()
    (journal / ".session.new").mkdir()  # nothing can be written there
    server = start()
    assert server.cell("print(open('a').read())").text == "1\n"
    server.close()
    assert (lasting(home)[0] / "journal/session").read_bytes() == before
    assert "may not be resumed later" in server.stderr.decode()
    assert RESUMED in start().cell("1").notice


def test_a_folder_of_many_files_does_not_delay_the_first_answer(start, home):
    server = start()
    server.cell("import os\nfor n in range(5000): open(f'.hidden{n}', 'w').close()\nopen('big', 'wb').truncate(1 << 30)")
    server.close()
    server = start()
    assert server.cell("import os; print(os.path.getsize('big'))").text == f"{1 << 30}\n"


@pytest.mark.parametrize("running", (False, True))
def test_a_server_that_still_ends_hands_its_session_over(start, home, running):
    """A host that restarts its server does not wait for the end of the first one."""
    servers = [start() for _ in range(5)]
    for number, server in enumerate(servers):
        server.cell("1", session=f"own{number}")
    for life, server in enumerate(servers, 1):
        result = server.cell(f"open('output/{life}', 'w').write('x' * 1000000); print(sorted(__import__('os').listdir('output')))")
        assert result.text == str([str(n) for n in range(1, life + 1)]) + "\n"
        assert (RESUMED in result.notice) == (life > 1), result.texts
        if running:
            server.cell("while True: open('beat', 'w').write('1')", budget=0)
        server.process.stdin.close()
    assert len([name for name in kept_folders(home) if "-s-" in name]) == 1

# SPDX-License-Identifier: MIT
"""Variables come back: interact with action restore_run runs the recorded cells of a session again."""
import json
import os
import random
import time

import pytest

from client import ALONE, BUILD, LASTS, Server
from patience import until
from proxies import Host, answer_once, own_names
from steps import HOLD, listed, paths_in, skip_without

KILLS = int(os.environ.get("PTYCELL_KILLS", "4"))
AGAIN = "run again in session 's'"
RESTORE = {"session_id": "s", "action": "restore_run"}


def restore(server, **arguments):
    return server.interact(action="restore_run", **arguments)


def told(result, failed=False):
    """What is told of the replay."""
    assert result.is_error == failed, result.texts
    return "\n".join(result.texts)


def days(start, *cells, **env):
    """Runs cells on the first day; returns the server of the second."""
    server = start(**env)
    for cell in cells:
        if isinstance(cell, tuple):
            server.cell(cell[1], language=cell[0])
        else:
            server.cell(cell)
    server.close()
    return start(**env)


def begin_restore(server):
    """Starts a replay whose cell holds; returns what gets its answer."""
    answer = server.start("tools/call", {"name": "interact", "arguments": RESTORE})
    until(lambda: server.interact(action="wait", budget=0).texts[0].count("cell 2 has run for") == 1)
    return answer


def numbers(server):
    """The numbers of the cells in the journal."""
    book = server.request("resources/read", {"uri": "session://s/notebook"})["contents"][0]["text"]
    cells = [cell["metadata"].get("ptycell", {}) for cell in json.loads(book)["cells"]]
    return [cell["cell"] for cell in cells if "cell" in cell]


# ---- what is back ----

def test_variables_are_back_the_next_day(start):
    server = days(start, "x = 5", "def double(n): return 2 * n", "print('loud')\ny = double(x)")
    text = told(restore(server))
    assert "Session 's' is resumed" in text
    assert "3 cells were " + AGAIN in text and "their variables are back" in text
    assert "loud" not in text
    result = server.cell("print(x, y, double(4))")
    assert result.text == "5 10 8\n"
    assert result.status["cell"] == 4, "cells that run again are not counted"
    assert numbers(server) == [1, 2, 3, 4], "and not recorded"


def test_one_cell_is_told_in_the_singular(start):
    assert "1 cell was " + AGAIN in (text := told(restore(days(start, "x = 5")))) and ": its variables are back." in text


def test_the_first_answer_says_how_long_it_takes(start):
    server = days(start, "import time\ntime.sleep(0.2)", "1/0")
    assert 'interact with action "restore_run" runs its cells again (about 0.' in server.cell("1/0").notice
    record = server.call("session_info", session_id="s").object["journal"]
    assert record["restorable_cells"] == 1 and record["restorable_seconds"] >= 0.2


@pytest.mark.parametrize("language, code, shows, text", [
    ("bash", "a=7; f() { echo \"f$a\"; }", "f", "f7\n"),
    ("javascript", "const a = 7; function f() { return a + 1 }", "console.log(f())", "8\n"),
    ("r", "a <- 7", "cat(a)", "7"),
])
def test_every_language_comes_back(start, language, code, shows, text):
    skip_without(language)
    server = days(start, "x = 1", (language, code))
    assert "2 cells were " + AGAIN in told(restore(server))
    assert server.cell(shows, language=language).text.strip() == text.strip()
    assert server.cell("x").text == "1\n"


def test_cells_of_today_run_again_too_and_the_second_time_is_as_the_first(start):
    server = days(start, "x = [1]")
    server.cell("today = 2")
    for generation in (3, 4):
        text = told(restore(server))
        assert "2 cells were " + AGAIN in text and f"this is generation {generation}" in text
        assert server.call("session_info", session_id="s").object["generation"] == generation
    assert server.cell("print(x, today)").text == "[1] 2\n"


def test_a_third_day_gets_all_cells(start):
    server = days(start, "x = 1")
    restore(server)
    server.cell("y = x + 1")
    server.close()
    server = start()
    told(restore(server))
    assert server.cell("print(x, y)").text == "1 2\n"


# ---- files ----

def test_files_are_as_they_were_whatever_the_cells_do_with_them(start):
    cells = ["open('log', 'a').write('line\\n')",
             "open('log', 'a').write('line\\n')\nn = len(open('log').read().split())",
             "import os\nos.makedirs('d/e')\nopen('d/e/a', 'w').write('1')\nos.rename('d/e/a', 'output/b.txt')",
             "open('gone', 'w').write('x')\nheld = open('gone').read()\nos.remove('gone')",
             "open('over', 'w').write('first')", "open('over', 'w').write('second')"]
    server = days(start, *cells)
    before = listed(server) if server.cell("1") else []
    text = told(restore(server))
    assert "differently" not in text, text
    assert listed(server) == before
    result = server.cell("print(n, held, open('log').read().split(), open('over').read(), os.listdir('d/e'), open('output/b.txt').read())")
    assert result.text == "2 x ['line', 'line'] second [] 1\n"
    assert "files" not in result.status or not result.status["files"], result.status


def test_cells_find_inputs_as_they_were_not_as_later_cells_left_them(start, home):
    server = start()
    server.call("upload_file", session_id="s", filename="in.csv", content="1\n")
    server.cell("first = open('input/in.csv').read()")
    until(lambda: [path.read_text() for path in (home / "kept").rglob("in.csv")] == ["1\n"])
    server.call("upload_file", session_id="s", filename="late.csv", content="late")
    server.cell("late = open('input/late.csv').read()\nopen('input/in.csv', 'w').write('over')")
    server.close()
    server = start()
    text = told(restore(server))
    assert "as they were then" not in text, text
    assert server.cell("print(repr(first), late, open('input/in.csv').read())").text == "'1\\n' late over\n"


def test_an_input_that_is_nowhere_as_it_was_is_named(start, home):
    server = start(PTYCELL_KEEP="off")
    for name in ("a.csv", "b.csv"):
        server.call("upload_file", session_id="s", filename=name, content="1\n")
    server.cell("import os\na = open('input/a.csv').read()\nb = os.path.exists('input/b.csv')")
    server.cell("open('input/a.csv', 'w').write('2')\nos.remove('input/b.csv')")
    server.close()
    for original in (home / "cache").rglob("journal/inputs/*"):
        original.unlink()
    server = start(PTYCELL_KEEP="off")
    text = told(restore(server), failed=True)
    assert "did not find, or may not have found, as they were then: 'input/a.csv' (changed), 'input/b.csv' (missing)." in text
    assert "stopped at cell 2, which raised FileNotFoundError" in text
    assert server.cell("a").text == "'2'\n"


def test_a_missing_input_is_not_replaced_by_an_earlier_one(start, home):
    server = start(PTYCELL_KEEP="off")
    for text in ("1", "2"):
        server.call("upload_file", session_id="s", filename="a.csv", content=text, overwrite=True)
        server.cell("a = open('input/a.csv').read()")
    server.cell("import os\nos.remove('input/a.csv')")
    server.close()
    max((home / "cache").rglob("journal/inputs/*")).unlink()
    text = told(restore(start(PTYCELL_KEEP="off")), failed=True)
    assert "as they were then: 'input/a.csv' (missing)." in text
    assert "stopped at cell 2, which raised FileNotFoundError" in text


def test_files_that_come_out_differently_are_named_and_yesterdays_stay(start, home):
    server = days(start, "import os, random\ntoday = str(os.getpid() * 1000 + os.stat('.').st_ino)\nopen('output/pid', 'w').write(today)\nopen('r', 'w').write(str(random.random()))",
                  "def f(): return open('output/pid').read()\nkept = open('output/pid')")
    mine = (home / "kept").rglob("pid")
    yesterday = next(mine).read_text()
    text = told(restore(server))
    assert "came out differently when cells ran again (those from before count): 'r' (differs). Where cells" in text
    assert "do not reach these files. What is written to one is lost, mostly without an error; open what is needed again: 'output/pid' (differs).\n" in text
    assert server.cell("print(f(), kept.read() == today)").text == f"{yesterday} True\n"
    assert next((home / "kept").rglob("pid")).read_text() == yesterday
    assert len(list((home / "kept").rglob("pid*"))) == 1, "results are not kept twice"


def test_a_file_that_an_interpreter_has_open_is_the_sessions(start):
    server = days(start, "log = open('log', 'a', buffering=1)\nlog.write('one\\n')", "import random\nopen('r', 'w').write(str(random.random()))")
    told(restore(server))
    server.cell("log.write('two\\n')")
    assert server.cell("print(open('log').read())").text == "one\ntwo\n\n"


LINKS = """import os
open('a', 'w').write('x')
os.link('a', 'b')
os.mkfifo('pipe')
os.symlink('a', 'link')
os.utime('link', (1000, 2000), follow_symlinks=False)"""
FACTS = "import os\nprint([(n, os.lstat(n).st_nlink, os.lstat(n).st_mtime) for n in ('a', 'b', 'pipe', 'link', 'moved') if os.path.lexists(n)])"


def test_links_and_pipes_are_as_they_were(start):
    server = days(start, LINKS, "os.symlink('a', 'moved')\nos.utime('moved', (3000, 4000), follow_symlinks=False)")
    before = server.cell(FACTS).text
    assert "('link', 1, 2000.0), ('moved', 1, 4000.0)" in before
    told(restore(server))
    result = server.cell(FACTS)
    assert result.text == before, "a second name of a file is gone when the replay is over"
    for _ in range(2):
        assert not server.cell("1").status.get("files"), "and nothing counts as changed"


def test_the_rows_of_a_query_are_there_again(start):
    server = start(SQL_MAX_INLINE_ROWS="1", PTYCELL_SQL_MAX_INLINE_ROWS="1")
    server.call("upload_file", session_id="s", filename="t.csv", content="a\n1\n2\n3\n")
    path = server.call("exec_sql", session_id="s", query="select * from t").object["file_path"]
    server.cell(f"rows = open({path!r}).read()")
    server.close()
    server = start()
    assert "1 cell was " + AGAIN in told(restore(server))
    assert "3" in server.cell("print(rows)").text


# ---- cells that are not run ----

def test_failed_cells_are_named_and_not_run(start):
    server = days(start, "x = 1", "x = 2\nz = 3\n1/0", "y = x")
    text = told(restore(server))
    assert "2 cells were " + AGAIN in text
    assert "though names may have changed before: cell 2 (ZeroDivisionError, names x, z)." in text
    assert server.cell("print(x, y)").text == "1 1\n"


def test_cells_that_found_no_earlier_names_are_told(start):
    """The names are there when the cells run again, which may change what comes out."""
    server = days(start, "x = 'old'", "y = 1")
    assert server.cell("if 'x' not in globals(): x = 'new'\nx").text == "'new'\n"
    server.close()
    server = start()
    assert ("\nState was lost then before cell 3: this time it was not, so cells from there on may have found names that were missing then."
            in told(restore(server)))
    assert server.cell("x").text == "'old'\n"
    server.close()
    server = start()
    restore(server)
    server.cell("x")
    server.close()
    assert "State was lost then before cell 3: " in told(restore(start())), "and not before cell 5"


def test_a_loss_behind_which_no_cell_runs_again_is_not_told(start):
    server = days(start, "x = 1")
    assert server.cell("x").state == "raised"
    assert "State was lost" not in told(restore(server))


def test_saved_variables_are_no_state_of_other_languages(start, home):
    server = start(PTYCELL_RESUME_VARIABLES=None)
    server.cell("b=old", language="bash")
    server.cell("x = 1")
    until(lambda: paths_in(home, "**/journal/variables"))
    server.close()
    server = start(PTYCELL_RESUME_VARIABLES=None)
    told(server.interact(action="restore_values"))
    server.cell("x")
    assert server.cell("b=${b:-new}; echo $b", language="bash").text == "new\n"
    server.close()
    assert "State was lost then before cell 3: " in told(restore(start()))


def test_a_cell_that_raises_stops_the_replay(start):
    first = start(PTYCELL_ENV_STAGE="first")
    for code in ("x = 1", "import os\nassert os.environ['STAGE'] == 'first', 'another stage'", "y = 2", "z = 3"):
        first.cell(code)
    first.close()
    server = start(PTYCELL_ENV_STAGE="second")
    text = told(restore(server), failed=True)
    assert "stopped at cell 2, which raised AssertionError: another stage. 1 cell was run again (" in text
    assert "s), 2 after it were not: only the variables of those that ran are back" in text
    assert server.cell("print(x, 'y' in dir())").text == "1 False\n"


def test_input_is_typed_again_unless_it_was_hidden(start):
    server = start()
    server.cell("a = input('a? ')\nb = input('b? ')")
    server.interact(input="one")
    assert server.interact(input="two").state == "done"
    server.cell("import getpass\nsecret = getpass.getpass('password? ')")
    assert server.interact(input="hush").state == "done"
    server.cell("c = 3")
    server.close()
    server = start()
    text = told(restore(server))
    assert "Not run: cell 2 (hidden input was typed to it, which is not recorded)." in text
    assert server.cell("print(a, b, c, 'secret' in dir())").text == "one two 3 False\n"


def test_secrets_in_code_are_those_of_today(start):
    server = days(start, "token = 'the first value'", "other = 1", PTYCELL_SECRET_TOKEN="the first value")
    assert server.process.poll() is None
    server.close()
    server = start(PTYCELL_SECRET_TOKEN="another value!")
    told(restore(server))
    assert server.cell("len(token), token[:4], other").text == "(14, 'anot', 1)\n"


def test_a_cell_whose_secret_is_missing_is_not_run(start):
    server = start(PTYCELL_SECRET_TOKEN="the first value")
    server.cell("token = 'the first value'")
    server.cell("import base64\nb = 'dGhlIGZpcnN0IHZhbHVl'")
    server.cell("other = 1")
    server.close()
    server = start()
    text = told(restore(server))
    assert "cell 1 (it needs the secret TOKEN, which is not set)" in text
    assert "cell 2 (a secret was encoded in it, which is not recorded)" in text
    assert server.cell("print(other, 'token' in dir())").text == "1 False\n"


def shared(tmp_path, mode=""):
    """A folder for PTYCELL_SHARE."""
    folder = tmp_path / "share"
    folder.mkdir()
    (folder / "a").write_text("1")
    return folder, {"PTYCELL_SHARE": f"{folder}{mode}"}


def test_shared_folders_are_told_and_cells_that_name_them(start, tmp_path):
    share, env = shared(tmp_path)
    server = days(start, f"a = open('{share}/a').read()", "b = 2", **env)
    text = told(restore(server))
    assert f"lock them, and not write (but to named pipes): '{share}'.\n" in text
    assert f"Cells whose code has the path of one (others may have used a variable): cell 1 ('{share}')." in text
    assert "left running" not in text


def test_what_goes_on_and_may_write_to_files_of_yesterday_is_told(start):
    server = days(start, ("bash", "sleep 1000 & echo old > output/result"))
    text = told(restore(server))
    assert "The cells left running: 1 process. These go on, and may still write to the session's files." in text
    assert "hosts" not in text.partition("left running")[2]


def writable(start, tmp_path):
    """The share and its environment, where shares can be written to."""
    share, env = shared(tmp_path, ":rw")
    if start(**env).call("session_info", session_id="s").object["confinement"]["tier"] != "namespaces":
        pytest.skip("no tier that writes in shares here")
    return share, env


def test_a_replay_does_not_write_in_shared_folders_whatever_names_them(start, tmp_path):
    share, env = writable(start, tmp_path)
    server = days(start, f"place = '{share}/a'", "x = 1", "open(place, 'a').write('2')", "y = 2", **env)
    assert (share / "a").read_text() == "12"
    text = told(restore(server), failed=True)
    assert "stopped at cell 3, which raised OSError" in text and "1 after it was not" in text
    assert "use action restore_outside" in text
    assert (share / "a").read_text() == "12"
    server.cell("open(place, 'a').write('3')")
    assert (share / "a").read_text() == "123", "the session's own cells write there again"


def test_a_replay_writes_there_if_the_model_allows_it(start, tmp_path):
    share, env = writable(start, tmp_path)
    server = days(start, f"place = '{share}/a'", "open(place, 'a').write('2')", **env)
    text = told(server.interact(action="restore_outside"))
    assert f"could write once more if writable: '{share}'." in text
    assert (share / "a").read_text() == "122"


GO_ON = """import os, subprocess, threading, time
def follow():
    while not os.path.exists('input/go'): time.sleep(0.01)
    open(place + '/thread', 'w').close()
threading.Thread(target=follow, daemon=True).start()
child = subprocess.Popen(['sleep', '1000'], start_new_session=True)"""


def test_what_the_cells_left_running_is_told(start, tmp_path):
    share, env = writable(start, tmp_path)
    server = days(start, f"place = '{share}'", GO_ON, ("javascript", "const timer = setInterval(() => {}, 1000)"), **env)
    text = told(restore(server))
    assert "The cells left running: 1 process, threads, timers or connections in python, javascript. These go on" in text
    assert "session's files. From now on they may reach hosts" in text
    assert not (share / "thread").exists()
    server.call("upload_file", session_id="s", filename="go", content="")
    until((share / "thread").exists)


REACH = "import urllib.request\ndata = urllib.request.urlopen('http://ok.test:{port}/x').read()"


def reached(start, home, tmp_path, second):
    """Yesterday a cell has reached a host; `second` gets today's server and the host."""
    names = tmp_path / "names"
    names.write_text("127.0.0.1 localhost ok.test\n")
    command = own_names(names, [str((BUILD / "ptycell").resolve())])
    with Host(answer_once) as host:
        env = {"PTYCELL_HOSTS": f"ok.test:{host.port}", "PTYCELL_ALLOW_PRIVATE_HOSTS": "1", **LASTS, **ALONE}
        with Server(home, env=env, command=command) as server:
            if server.call("session_info", session_id="s").object["confinement"]["network"]["mode"] == "none":
                pytest.skip("no tier with a network of its own here")
            assert server.cell(REACH.format(port=host.port)).state == "done"
        with Server(home, env=env, command=command) as server:
            second(server, host)


def test_a_replay_reaches_no_host(start, home, tmp_path):
    def second(server, host):
        text = told(restore(server), failed=True)
        assert "stopped at cell 1, which raised HTTPError" in text, text
        assert "Cells that tried to reach a host, which no cell can while it runs again: cell 1." in text
        assert "use action restore_outside" in text
        assert len(host.said) == 1
        assert server.cell(REACH.format(port=host.port)).state == "done", "the session's own cells reach it again"
    reached(start, home, tmp_path, second)


def test_a_replay_reaches_hosts_if_the_model_allows_it(start, home, tmp_path):
    def second(server, host):
        assert f"Hosts that the cells reached once more: ok.test:{host.port}." in told(server.interact(action="restore_outside"))
        assert server.cell("data").text == "b'hello'\n"
        assert len(host.said) == 2
    reached(start, home, tmp_path, second)


# ---- while it runs ----

SLOW = "import os, time\nwhile os.environ.get('STAGE') == 'slow': time.sleep(0.01)\ndone = True"


def slow(start, **env):
    """A server whose replay does not get beyond cell 2."""
    first = start()
    for code in ("x = 1", SLOW, "y = 2"):
        first.cell(code, timeout=600)
    first.close()
    return start(PTYCELL_ENV_STAGE="slow", **env)


def test_nothing_else_comes_in_and_it_can_be_stopped(start):
    server = slow(start)
    running = restore(server, budget=0)
    assert "still being run again" in told(running) and '"action":"restore_run"' in told(running)
    answer = begin_restore(server)
    for tool, arguments in (("exec_code", {"code": "1"}), ("upload_file", {"filename": "a", "content": "1"}),
                            ("exec_sql", {"query": "select 1"}), ("interact", {"input": "a"})):
        refused = server.call(tool, session_id="s", **arguments)
        assert refused.is_error and "are being run again" in refused.texts[0], refused.texts
    stopped = told(server.interact(action="interrupt"), failed=True)
    assert "stopped at cell 2, on request. 1 cell was run again (" in stopped
    assert "stopped at cell 2" in str(answer.get()["result"])
    assert server.cell("print(x, 'y' in dir())").text == "1 False\n"


def test_a_cell_that_ignores_interrupts_is_killed_with_its_interpreter(start):
    stubborn = ("import signal\nif os.environ.get('STAGE') == 'slow': signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + SLOW)
    first = start()
    for code in ("import os\nx = 1", stubborn, "y = 2"):
        first.cell(code, timeout=600)
    first.close()
    server = start(PTYCELL_ENV_STAGE="slow")
    answer = begin_restore(server)
    told(server.interact(action="kill"), failed=True)
    text = str(answer.get()["result"])
    assert "stopped at cell 2" in text
    assert "Interpreters that ended while cells ran again, with the variables that they had then: python." in text
    assert server.cell("'x' in dir()").text == "False\n"


def test_the_files_of_a_replay_are_not_shown_as_the_sessions_own(start):
    first = start()
    for code in ("open('output/r.txt', 'w').write('first')", SLOW, "open('output/r.txt', 'w').write('second')"):
        first.cell(code, timeout=600)
    first.close()
    server = start(PTYCELL_ENV_STAGE="slow")
    uri = {"uri": "session://s/files/output/r.txt"}
    server.cell("'resumed'")
    assert listed(server) == ["output/r.txt"]
    assert server.request("resources/read", uri)["contents"][0]["text"] == "second"
    answer = begin_restore(server)
    assert "are being run again" in server.start("resources/read", uri).get()["error"]["message"]
    refused = server.call("list_artifacts", session_id="s")
    assert refused.is_error and "are being run again" in refused.texts[0], refused.texts
    assert "session://s" in [row["uri"] for row in server.request("resources/list", {})["resources"]]
    assert not [row for row in server.request("resources/list", {})["resources"] if "/files/" in row["uri"]]
    server.interact(action="interrupt")
    answer.get()
    assert server.request("resources/read", uri)["contents"][0]["text"] == "second"


def test_a_client_that_cancels_stops_it(start):
    server = slow(start)
    server.cell("1", language="bash")
    server.cancel(begin_restore(server))
    answers = []
    until(lambda: answers.append(server.cell("print(x)")) or "are being run again" not in answers[-1].texts[0])
    assert "stopped at cell 2" in "\n".join(answers[-1].texts), "the next answer tells it"


def test_a_deadline_holds_again(start):
    first = start()
    first.cell("x = 1")
    first.cell(SLOW, timeout=1)
    first.close()
    server = start(PTYCELL_ENV_STAGE="slow")
    text = told(restore(server), failed=True)
    assert "stopped at cell 2, which met its deadline" in text
    assert server.cell("x").text == "1\n"


def test_progress_is_reported(start):
    server = slow(start)
    answer = server.start("tools/call", {"name": "interact", "arguments": RESTORE, "_meta": {"progressToken": "p"}})
    message = until(lambda: server.notifications("notifications/progress"))[0]["params"]
    assert (message["progress"], message["total"]) == (1, 3)
    assert "1 of 3 cells are done" in message["message"]
    server.interact(action="interrupt")
    answer.get()


def test_a_server_that_is_killed_meanwhile_costs_no_file(start, home):
    server = start()
    server.cell("open('a', 'w').write('1')\nopen('output/o', 'w').write('1')")
    server.cell(SLOW)
    server.cell("open('a', 'w').write('2')\nopen('output/o', 'w').write('2')")
    server.close()
    server = start(PTYCELL_ENV_STAGE="slow")
    begin_restore(server)
    assert len(list(paths_in(home, "cache/server-*/sessions/*/aside"))) == 1
    server.process.kill()
    server.process.wait()
    server = start()
    result = server.cell("print(open('a').read(), open('output/o').read())")
    assert result.text == "2 2\n"
    assert next((home / "kept").rglob("o")).read_text() == "2"
    assert "3 cells were " + AGAIN in told(restore(server)).replace("4 cells", "3 cells")
    assert server.cell("done").text == "True\n"


@pytest.mark.limit(600)
def test_a_kill_at_any_moment_costs_no_file(start, home):
    server = days(start, "import os, random\nfor i in range(300): open(f'f{i}', 'w').write(str(random.random()))",
                  "for i in range(100): os.remove(f'f{i}')", "for i in range(200, 300): open(f'f{i}', 'a').write('more')")
    look = "import hashlib\nprint(hashlib.sha256(''.join(n + open(n).read() for n in sorted(os.listdir()) if n[0] == 'f').encode()).hexdigest())"
    files = server.cell(f"import os\n{look}").text
    for _ in range(KILLS):
        server.start("tools/call", {"name": "interact", "arguments": RESTORE})
        time.sleep(random.uniform(0, 0.7))
        server.process.kill()
        server.process.wait()
        server = start()
        assert server.cell(f"import os\n{look}").text == files
    told(restore(server))
    assert server.cell(look).text == files
    until(lambda: not list(paths_in(home, "cache/server-*/sessions/*/aside")) and not list(paths_in(home, "cache/server-*/sessions/*/spent-*")))


def test_a_session_that_ends_meanwhile_keeps_its_files(start, home):
    server = start()
    server.cell("open('a', 'w').write('1')")
    server.cell(SLOW)
    server.cell("open('a', 'w').write('2')")
    server.close()
    server = start(PTYCELL_ENV_STAGE="slow")
    begin_restore(server)
    server.close()
    server = start()
    assert server.cell("open('a').read()").text == "'2'\n"


# ---- nothing to restore ----

def test_without_recorded_cells_it_says_so(start):
    server = start()
    assert "there is no session 's'" in told(restore(server), failed=True)
    server.cell("1/0")
    assert "has no recorded cell that could run again" in told(restore(server), failed=True)
    server.close()
    server = start(PTYCELL_RECORD="off")
    server.cell("x = 1", session="t")
    assert "are not recorded" in told(server.interact(session="t", action="restore_run"), failed=True)


def test_while_an_interpreter_ends_it_says_that_it_is_called_again(start):
    """There is no cell to wait for, and none to stop."""
    server = start()
    server.cell("x = 1")
    server.interact(action="kill")
    result = restore(server)
    if result.is_error:  # it has not ended yet
        assert "call again soon" in result.texts[0] and "action wait" not in result.texts[0], result.texts
    until(lambda: not restore(server).is_error)
    assert server.cell("x").text == "1\n"


def test_while_a_cell_runs_it_is_refused(start):
    server = start()
    server.cell("x = 1")
    server.cell(HOLD, budget=0)
    assert "something is under way in session 's'" in told(restore(server), failed=True)
    server.call("upload_file", session_id="s", filename="go", content="")
    server.interact(action="wait")


def test_the_audit_has_it(start, home):
    server = start(PTYCELL_AUDIT=str(home / "audit"))
    server.cell("x = 1")
    server.close()
    server = start(PTYCELL_AUDIT=str(home / "audit"))
    restore(server)
    events = [json.loads(line) for line in (home / "audit").read_text().splitlines()]
    assert [event["report"] for event in events if event["event"] == "cells_run_again"][0].startswith("1 cell was run again")
    assert len([event for event in events if event["event"] == "began"]) == 1

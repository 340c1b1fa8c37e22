# SPDX-License-Identifier: MIT
"""The user's own commands about running servers: what they show and do, and who may ask."""
import base64
import fcntl
import hashlib
import html.parser
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import termios

import pytest
from client import BUILD, LASTS, WAIT_S, Server, command, environment
from machines import IS_ROOT, NOBODY, TIERS, confined_in
from steps import begin, until

HANG = "import time\nprint('begun', flush=True)\ntime.sleep(10**6)\n"


def listed(home):
    return json.loads(command(home, "ps", "--json"))


def rows_of(home):
    return {row["session_id"]: row for server in listed(home)["servers"] for row in server["sessions"]}


def sockets(home):
    return sorted((home / "cache/sockets").glob("*"))


@pytest.fixture(name="lasting")
def fixture_lasting(home):
    with Server(home, env=LASTS) as running:
        yield running


# ---- ps ----

def test_without_a_server_there_is_nothing_to_list(home):
    assert command(home, "ps").startswith("No server runs, and no session can be resumed.")
    assert listed(home) == {"servers": [], "resumable": []}
    assert not (home / "cache").exists()


def test_a_server_is_listed_once_its_client_has_the_tools(home, server):
    assert listed(home)["servers"] == []
    server.request("tools/list")
    until(lambda: listed(home)["servers"] != [])
    (row,) = listed(home)["servers"]
    assert row["pid"] == server.process.pid and row["client"] == "e2e" and row["sessions"] == []
    (line,) = [line for line in command(home, "ps").splitlines() if str(server.process.pid) in line]
    assert line.split()[:3] == ["-", "no", "session"] and "e2e" in line


def test_servers_sessions_and_cells_are_listed(home, lasting):
    with Server(home, env=LASTS) as other:
        begin(lasting, HANG, session="runs")
        asked = other.start_cell("input('name? ')", session="waits")
        other.cell("open('output/a', 'w').write('a')", session="idles")
        until(lambda: rows_of(home)["waits"]["state"] == "waiting_for_input")
        rows = rows_of(home)
        assert rows["runs"]["state"] == "running" and rows["idles"]["state"] == "idle"
        (cell,) = rows["runs"]["running"]
        assert cell["cell"] == 1 and cell["language"] == "python" and cell["code"] == "import time"
        assert rows["waits"]["running"][0]["prompt"] == "name?"
        assert os.path.isdir(rows["runs"]["folder"]) and os.path.exists(rows["idles"]["kept"] + "/a")
        until(lambda: rows_of(home)["runs"]["memory_bytes"] > 0)
        lines = {line.split()[0]: line for line in command(home, "ps").splitlines()}
        assert lines["idles"].split()[-1] == rows["idles"]["kept"].replace(str(home), "~")
        assert list(lines)[0] == "SESSION" and "1 python" in lines["runs"] and "waits" in lines["waits"]
        assert str(lasting.process.pid) in lines["runs"] and str(other.process.pid) in lines["waits"]
        other.cancel(asked)


def test_a_killed_servers_sessions_can_be_resumed(home, lasting):
    lasting.cell("1")
    lasting.process.kill()
    lasting.process.wait(WAIT_S)
    assert len(sockets(home)) == 1
    assert listed(home)["servers"] == []
    (row,) = listed(home)["resumable"]
    assert row["session_id"] == "s" and row["why"] == "its server was killed"
    assert "kept" not in row, "there are no results"
    head, line = command(home, "ps").splitlines()
    assert head.split() == ["SESSION", "STATE", "USED", "ENDED", "BECAUSE", "FOLDER"]
    assert line.startswith("s ") and line.endswith("its server was killed  -") and " resumable " in line
    with Server(home, env=LASTS) as after:
        after.request("tools/list")
        until(lambda: [one["pid"] for one in listed(home)["servers"]] == [after.process.pid])
        assert len(sockets(home)) == 1


def test_a_server_that_ends_takes_its_socket_away(home, lasting):
    lasting.cell("1")
    assert len(sockets(home)) == 1
    assert lasting.close() == 0
    assert not (home / "cache/sockets").exists()
    assert [row["why"] for row in listed(home)["resumable"]] == ["its server ended"]


def test_resume_lists_what_can_be_resumed_and_says_how(home, lasting):
    assert "No session can be resumed." in command(home, "resume", code=1)
    lasting.cell("1")
    assert "No session 's' can be resumed. Those that can: ptycell resume." in command(home, "resume", "s", code=1)
    assert lasting.close() == 0
    for n in range(10):
        with Server(home, env=LASTS) as server:
            server.cell("1", session=f"n{n}")
    text = command(home, "resume")
    shown = [line.split()[0] for line in text.splitlines() if " resumable " in line]
    assert len(set(shown)) == 10 and "1 more session can be resumed: ptycell resume --all" in text
    assert f"write in a chat: Go on in the ptycell session {shown[0]}." in text, "sessions of one second have no order"
    assert "restore_values loads those that were saved, restore_run runs the cells again." in text
    assert "\ns " in command(home, "resume", "--all")
    assert "Go on in the ptycell session s." in command(home, "resume", "s")
    (row,) = json.loads(command(home, "resume", "s", "--json"))["resumable"]
    assert row["session_id"] == "s" and row["why"] == "its server ended"


def test_the_results_of_an_ended_session_are_named(home, lasting):
    lasting.cell("open('output/a', 'w').write('a')")
    kept = rows_of(home)["s"]["kept"]
    with Server(home, env=LASTS) as other:
        other.cell("1", session="live")
        assert lasting.close() == 0
        (row,) = listed(home)["resumable"]
        assert row["kept"] == kept
        live, ended = command(home, "ps").split("\n\n")
        assert "live " in live and "resumable" not in live
        assert ended.splitlines()[1].endswith("  its server ended  " + kept.replace(str(home), "~"))
    with Terminal(home, "ps", columns=60) as narrow:
        narrow.expect("...")
        narrow.expect(kept[-5:] + "\x1b")
    shutil.rmtree(kept)
    assert ["kept" in row for row in listed(home)["resumable"] if row["session_id"] == "s"] == [False]


def test_columns_stand_below_each_other_whatever_a_client_is_called(home, lasting):
    with Server(home, env=LASTS, initialize=False) as other:
        other.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                     "clientInfo": {"name": "\u5c0f\u5c0f", "version": "1"}})
        other.notify("notifications/initialized")
        other.cell("1", session="wide")
        lasting.cell("1", session="plain")
        lines = {line.split()[0]: line for line in command(home, "ps").splitlines() if line.split()}
        wide, plain = (lines[name][:lines[name].rindex(" ") + 1] for name in ("wide", "plain"))
        assert "\u5c0f\u5c0f" in wide and len(wide) + 2 == len(plain)


def test_a_server_that_does_not_answer_is_named(home, server):
    server.cell("1")
    server.process.send_signal(signal.SIGSTOP)
    try:
        (row,) = listed(home)["servers"]
        assert row == {"pid": server.process.pid, "problem": f"server {server.process.pid} does not answer"}
        silent = f"server {server.process.pid} does not answer"
        assert silent in command(home, "ps")
        assert silent in command(home, "stop", "--all", code=1)
        assert f"{silent}, and may have it" in command(home, "stop", "s", code=1)
        assert f"{silent}, and may have it" in command(home, "log", "s", code=1)
    finally:
        server.process.send_signal(signal.SIGCONT)


def test_a_long_path_to_the_home_is_no_obstacle(home):
    deep = home.joinpath(*["a-folder-with-a-name-of-forty-characters"] * 5)
    with Server(deep.parent, env={"PTYCELL_HOME": str(deep)}) as server:
        server.cell("1")
        (row,) = json.loads(command(home, "ps", "--json", "--home", str(deep)))["servers"]
        assert row["pid"] == server.process.pid


def test_words_of_commands_may_stand_in_any_order(home, lasting):
    lasting.cell("1")
    assert json.loads(command(home, "log", "--json", "s"))["cell"] == 1
    assert json.loads(command(home, "log", "--home", str(home / "cache"), "s", "--json"))["cell"] == 1
    assert "# %% cell 1" in command(home, "export", "--script", "--keep=off", "s")


def test_a_wrong_word_is_named_with_the_page_that_helps(home):
    for words, problem in ((["ps", "s"], "ptycell ps: 's' is one word too many"), (["log", "a", "b"], "'b' is one word too many"),
                           (["attach", "--all"], "ptycell attach: '--all' is for other commands"),
                           (["export", "s", "--ipynb", "--script"], "'--script' is a second form: choose one")):
        error = command(home, *words, code=2)
        assert problem in error and error.endswith("; see ptycell help commands.\n")
    for flag in ("--help", "-h"):
        assert command(home, "stop", "s", flag) == command(home, "help", "commands")
    assert command(home, "doctor", "--help") == command(home, "--help")


def test_a_wrong_setting_is_told(home):
    assert "--home has the value 'relative'" in command(home, "ps", "--home", "relative", code=2)
    assert command(home, "ps", "--nonsense", code=2)


# ---- stop ----

def test_stop_wants_to_know_what(home, lasting):
    lasting.cell("1")
    for words in ([], ["s", "--all"], ["--cell"]):
        assert "Say what to stop" in command(home, "stop", *words, code=2)
    assert list(rows_of(home)) == ["s"]


def test_a_stopped_session_can_be_resumed(home, lasting):
    waiting = lasting.start_cell(HANG)
    until(lambda: rows_of(home).get("s", {}).get("state") == "running")
    assert command(home, "stop", "s") == "Session 's' has ended. Its files stay: the same id in a chat resumes it.\n"
    answer = json.dumps(waiting.get()["result"])
    assert "the user ended it with ptycell stop. Its variables are gone; exec_code or upload_file with this" in answer
    assert "(it ended because the user ended it with ptycell stop)" in lasting.call("interact", session_id="s").texts[0]
    assert listed(home)["resumable"][0]["why"] == "the user ended it with ptycell stop"
    assert command(home, "stop", "s") == "Session 's' has ended already.\n"
    assert "resumed" in lasting.cell("1").notice


def test_a_cell_is_stopped_and_its_session_stays(home, lasting):
    lasting.cell("x = 7")
    assert "no cell runs in session 's'" in command(home, "stop", "s", "--cell", code=1)
    waiting = lasting.start_cell(HANG)
    until(lambda: rows_of(home)["s"]["state"] == "running")
    assert command(home, "stop", "s", "--cell") == "What ran in session 's' was interrupted.\n"
    answer = json.dumps(waiting.get()["result"])
    assert "The user interrupted what ran, with ptycell stop --cell." in answer and " interrupted " in answer
    assert lasting.cell("x").text.strip() == "7"


def test_all_sessions_of_all_servers_are_stopped(home, lasting):
    assert command(home, "stop", "--all") == "No session is live.\n"
    with Server(home, env=LASTS) as other:
        for server, session in ((lasting, "a"), (lasting, "b"), (other, "c")):
            server.cell("1", session=session)
        assert command(home, "stop", "--all", "--cell") == "No cell runs.\n"
        assert command(home, "stop", "--all").count(" has ended.") == 3
        assert rows_of(home) == {} and len(listed(home)["servers"]) == 2


def test_an_id_of_two_servers_needs_the_server(home, server):
    with Server(home) as other:
        for one in (server, other):
            one.cell("1")
        pids = sorted([server.process.pid, other.process.pid])
        assert f"servers {pids[0]} and {pids[1]} both have a session 's'" in command(home, "stop", "s", code=1)
        assert "takes the number of a process" in command(home, "stop", "s", "--server", "x", code=2)
        command(home, "stop", "s", "--server", str(other.process.pid))
        (left,) = [one for one in listed(home)["servers"] if one["sessions"]]
        assert left["pid"] == server.process.pid


def test_an_unknown_session_is_refused_with_those_there_are(home, server):
    assert "there is no session 'x', and no other" in command(home, "stop", "x", code=1)
    server.cell("1")
    assert "there is no session 'x'; there are: s" in command(home, "stop", "x", code=1)


# ---- log and export ----

def fill(server):
    server.cell("print('out')\n6 * 7", session="s")
    server.cell("1 / 0", session="s")
    server.cell("printf 'a\\033]0;title\\007b\\033[31mc'", session="s", language="bash")


def test_the_log_has_code_outputs_and_states(home, lasting):
    fill(lasting)
    log = command(home, "log", "s")
    for text in ("[1] python done ", "  | print('out')\n  | 6 * 7\nout\n42\n", "[2] python raised ",
                 "ZeroDivisionError: division by zero\n", "[3] bash done ", "abc\n"):
        assert text in log
    assert "\x1b" not in log and "\x07" not in log
    cells = [json.loads(line) for line in command(home, "log", "s", "--json").splitlines()]
    assert [cell["state"] for cell in cells] == ["done", "raised", "done"]
    assert lasting.close() == 0
    assert command(home, "log", "s") == log


def test_the_log_says_which_outputs_a_full_journal_has_no_room_for(home):
    with Server(home, "--journal-max=64K") as server:
        for _ in range(20):
            server.cell("print('x' * 5000)")
        log = command(home, "log", "s")
    assert 0 < log.count("[the outputs were left out: the journal is nearly full (PTYCELL_JOURNAL_MAX), or the disk is]\n") < log.count("python done")


def test_the_log_shows_a_title_behind_how_its_cell_ended(home, lasting):
    lasting.call("exec_code", session_id="s", language="python", code="1", title="Sales\x1b[31m: all")
    assert re.match(r"\[1\] python done \d+\.\d\d s: Sales.*: all\n  \| 1\n", log := command(home, "log", "s")), log
    assert "\x1b" not in log


def test_the_log_shows_the_exit_code_of_a_shell(home, lasting):
    for code in ("exit 3", "true"):
        lasting.cell(code, session="s", language="bash")
    assert re.findall(r"bash done \d+\.\d\d s(.*)", command(home, "log", "s")) == [", exit 3", ""]


def test_the_log_of_a_running_cell(home, server):
    begin(server, HANG)
    assert command(home, "log", "s").startswith("[1] python running\n  | import time\n")
    server.process.kill()
    server.process.wait(WAIT_S)


def states(home):
    """The states of the cells of session "s"."""
    return [line.split(" ")[2] for line in command(home, "log", "s").splitlines() if line.startswith("[")]


def test_a_cell_that_a_killed_server_left_does_not_run_in_the_session_that_goes_on(home, lasting):
    begin(lasting, HANG)
    lasting.process.kill()
    lasting.process.wait(WAIT_S)
    with Server(home, env=LASTS) as server:
        server.cell("'here'", session="s")
        begin(server, HANG)
        assert states(home) == ["killed", "done", "running"]
        page = Page(command(home, "export", "s", "--html"))
        assert "ptycell was killed while this cell ran" in page.text
        assert page.text.count("No end of this cell is recorded: it runs") == 1
        server.process.kill()
        server.process.wait(WAIT_S)
    assert states(home) == ["killed", "done", "killed"]


def test_a_session_is_exported_as_notebook_and_script(home, lasting):
    fill(lasting)
    served = lasting.request("resources/read", {"uri": "session://s/notebook"})["contents"][0]["text"]
    assert json.loads(command(home, "export", "s", "--ipynb")) == json.loads(served)
    script = command(home, "export", "s", "--script")
    assert "# %% cell 1\nprint('out')\n6 * 7\n" in script
    assert command(home, "export", "s", code=2).startswith("Say in which form")
    lasting.process.kill()
    lasting.process.wait(WAIT_S)
    assert command(home, "export", "s", "--script") == script


@pytest.mark.parametrize("words", [("log", "s"), ("ps", "--json"), ("export", "s", "--script"), ("help",)])
def test_output_that_does_not_fit_on_the_disk_is_told(home, lasting, words):
    fill(lasting)
    with open("/dev/full", "wb") as full:
        done = subprocess.run([str(BUILD / "ptycell"), *words], env=environment(home), stdin=subprocess.DEVNULL, stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=WAIT_S, check=False)
    assert done.returncode == 1 and re.search("could be written|No space left", done.stderr)


class Page(html.parser.HTMLParser):
    """The elements of a page, with their attributes and all text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


PNG = """import zlib, struct
def chunk(kind, data): return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
class Dot:
    def _repr_png_(self): return b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 1, 1, 8, 0, 0, 0, 0)) + \\
        chunk(b'IDAT', zlib.compress(b'\\0\\0')) + chunk(b'IEND', b'')
Dot()"""
ATTACK = "</pre></title></style><script>alert(1)</script><img src=//evil.example/x onerror=alert(1)>\u202e"


def test_a_session_is_exported_as_a_page_that_runs_and_loads_nothing(home, lasting):
    fill(lasting)
    lasting.cell(f"# {ATTACK}\nclass Rich:\n    def _repr_html_(self): return {ATTACK!r}\nprint({ATTACK!r})\nRich()")
    lasting.cell(f"raise ValueError({ATTACK!r})")
    lasting.cell(PNG)
    lasting.cell("open('output/a', 'w').write('a')")
    lasting.call("exec_sql", session_id="s", query="SELECT 7 AS n, '<b>' AS \"<i>\" UNION ALL SELECT 8, NULL")
    text = command(home, "export", "s", "--html")
    page = Page(text)
    assert not {"script", "b", "i", "link", "iframe", "object"} & set(page.tags) and page.tags.count("img") == 1
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("href", "style", "srcset")]
    (source,) = [value for name, value in page.attributes if name == "src"]
    assert source.startswith("data:image/png;base64,iVBORw0KGgo")
    assert [value for name, value in page.attributes if value and "default-src 'none'; img-src data:;" in value]
    style = text.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style and "@import" not in style
    assert base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() in text
    assert "\u202e" not in text and ATTACK.replace("\u202e", "<U+202E>") in page.text
    assert "ZeroDivisionError: division by zero" in page.text and page.attributes.count(("class", "cell failed")) == 2
    assert page.tags.count("td") == 4 and "python" in page.text and "bash" in page.text
    assert lasting.close() == 0
    assert command(home, "export", "s", "--html") == text


def test_the_page_of_a_running_cell_says_so(home, server):
    begin(server, HANG)
    page = Page(command(home, "export", "s", "--html"))
    assert "No end of this cell is recorded: it runs, or ptycell was killed while it ran." in page.text
    server.process.kill()
    server.process.wait(WAIT_S)


def test_without_a_record_there_is_nothing_to_show(home, server):
    server.call("upload_file", session_id="s", filename="a", content="a")
    for words in (["log", "s"], ["export", "s", "--script"]):
        assert "session 's' has no record: no cell ran yet" in command(home, *words, code=1)
    assert "Name a session" in command(home, "log", code=2)


# ---- watch and attach ----

class Terminal:
    """A command in a terminal of its own, and what it has shown."""

    def __init__(self, home, *args, columns=0):
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "PTYCELL_HOME": str(home / "cache"), "TERM": "xterm",
               "ASAN_OPTIONS": environment(home)["ASAN_OPTIONS"]}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.execve(BUILD / "ptycell", ["ptycell", *args], env)
        os.set_blocking(self.fd, False)
        self.shown = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.fd)
        os.waitpid(self.pid, 0)

    def read(self):
        try:
            self.shown += os.read(self.fd, 65536).decode(errors="replace")
        except BlockingIOError:
            pass
        except OSError:
            self.shown += "<end>"
        return self.shown

    def expect(self, text):
        until(lambda: text in self.read())
        self.shown = self.shown.split(text, 1)[1]

    def type(self, text):
        os.write(self.fd, text.encode())


def test_watching_shows_output_as_it_comes_and_clean(home, server):
    server.cell("1")
    with Terminal(home, "watch", "s") as watching:
        watching.expect("No cell runs: output appears here.")
        asked = server.start_cell("print('out\\x1b]0;title\\x07\\x1b[31mput')\nprint('1%\\r2%')\nfor i in [1]: input('> ')\n6 * 7")
        watching.expect("[2] python")
        watching.expect("  | 6 * 7")
        watching.expect("output\r\n1%\r\x1b[K2%\r\n> ")
        assert "\x07" not in watching.shown
        server.interact(input="x")
        watching.expect("42")
        watching.expect("[2] python done ")
        assert asked.get()["result"]
        server.call("destroy_session", session_id="s")
        watching.expect("Session 's' has ended.\r\n<end>")


def test_watching_hides_secrets(home):
    with Server(home, env={"PTYCELL_SECRET_KEY": "correct-horse-battery"}) as server:
        server.cell("1")
        with Terminal(home, "watch", "s") as watching:
            watching.expect("No cell runs: output appears here.")
            server.cell("import os, sys, time\nsys.stdout.write(os.environ['KEY'][:9]); sys.stdout.flush(); time.sleep(0.2)\n"
                        "print(os.environ['KEY'][9:], 'end')\nos.environ['KEY']")
            watching.expect("[secret KEY] end")
            watching.expect("[secret KEY]")
            watching.expect("[2] python done ")
            assert "horse" not in watching.shown


def test_all_sessions_are_watched_at_once(home, server):
    with Server(home) as other:
        server.cell("1", session="a")
        other.cell("1", session="b")
        with subprocess.Popen([str(BUILD / "ptycell"), "watch", "--all", "--json"], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "PTYCELL_HOME": str(home / "cache")}) as watching:
            seen = []
            until(lambda: len(rows_of(home)) == 2 and watching.poll() is None)
            while {line["session_id"] for line in seen if line["event"] == "ended"} != {"a", "b"}:
                server.cell("print('from a')", session="a")
                other.cell("print('from b')", session="b")
                ready, _, _ = select.select([watching.stdout], [], [], 0.1)
                if ready:
                    seen.append(json.loads(watching.stdout.readline()))
            server.close()
            other.close()
            assert watching.wait(WAIT_S) == 0
    texts = {(line["session_id"], line["text"]) for line in seen if line["event"] == "output"}
    assert {("a", "from a\n"), ("b", "from b\n")} & texts


def test_attached_the_user_types_and_interrupts(home, server):
    asked = server.start_cell("name = input('name? ')\nimport getpass\nword = getpass.getpass()\nprint(len(word), 'of', name)\n"
                              "print('begun')\nimport time\ntime.sleep(10**6)")
    until(lambda: rows_of(home).get("s", {}).get("state") == "waiting_for_input")
    with Terminal(home, "attach", "s") as attached:
        attached.expect("Ctrl-D leaves")
        attached.expect("name? ")  # which an answer has shown already
        attached.type("Bob\n")
        attached.expect("Bob")
        attached.expect("Password: ")
        until(lambda: termios.tcgetattr(attached.fd)[3] & termios.ECHO == 0)
        beside = server.cell("echo beside it", language="bash").texts
        attached.expect("bash done")
        assert termios.tcgetattr(attached.fd)[3] & termios.ECHO == 0
        attached.type("hunter\n")
        attached.expect("6 of Bob")
        until(lambda: termios.tcgetattr(attached.fd)[3] & termios.ECHO != 0)
        attached.expect("begun")
        assert "hunter" not in attached.shown
        attached.type("\x03")
        attached.expect("KeyboardInterrupt")
        answer = asked.get()
        attached.type("x\n")
        attached.expect("no cell runs in session 's'")
        attached.type("\x04")
        attached.expect("<end>")
    after = server.cell("name").texts
    assert "'Bob'" in json.dumps(after)
    told = json.dumps([beside, after, answer]) + json.dumps(server.request("resources/read", {"uri": "session://s/cells/1"}))
    assert "The user interrupted cell 1, with ptycell attach." in told
    assert "The user typed into cell 1, with ptycell attach." in told and "hunter" not in told


def test_lines_may_come_from_a_pipe(home, server):
    asked = server.start_cell("a = input('a ')\nb = input('b ')\na + b")
    until(lambda: rows_of(home).get("s", {}).get("state") == "waiting_for_input")
    done = subprocess.run([str(BUILD / "ptycell"), "attach", "s"], input="x\ny", text=True, stdout=subprocess.PIPE, timeout=WAIT_S,
                          env={**os.environ, "PTYCELL_HOME": str(home / "cache")}, check=True)
    assert "\x1b" not in done.stdout
    server.interact(input="")
    assert "'xy'" in json.dumps(asked.get()) or "xy" in server.cell("a + b").text


def test_what_has_ended_cannot_be_watched(home, lasting):
    for name in map("s{}".format, range(12)):
        lasting.cell("1", session=name)
        command(home, "stop", name)
        assert f"session '{name}' has ended; ptycell log {name} shows what it did" in command(home, "watch", name, code=1)
    assert "Name a session" in command(home, "watch", code=2) and "Name a session" in command(home, "attach", code=2)
    lasting.close()
    assert "no server runs" in command(home, "watch", "--all", code=1)


# ---- open ----

def test_the_folder_of_results_is_opened(home, lasting):
    lasting.call("upload_file", session_id="s", filename="a", content="a")
    assert "nothing of session 's' was kept" in command(home, "open", "s", code=1)
    lasting.cell("open('output/a b', 'w').write('a')")
    kept = rows_of(home)["s"]["kept"]
    assert "xdg-open cannot be started" in command(home, "open", "s", code=1, programs=str(home))
    (home / "xdg-open").write_text("#!/bin/sh\nprintf 'opened %s' \"$1\"\n")
    (home / "xdg-open").chmod(0o755)
    assert command(home, "open", "s", programs=f"{home}:/usr/bin:/bin") == f"{kept}\nopened {kept}"
    lasting.close()
    assert command(home, "open", "s", programs=f"{home}:/usr/bin:/bin") == f"{kept}\nopened {kept}"
    assert "Name a session" in command(home, "open", code=2)


# ---- who may ask ----

def test_the_socket_is_the_users_alone(home, server):
    server.cell("1")
    (path,) = sockets(home)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.skipif(not IS_ROOT, reason="only root can be another user")
def test_another_user_is_refused(home, server):
    """Also one who gets to the socket, past the modes of folder and file."""
    server.cell("1")
    (path,) = sockets(home)
    for folder in [path.parent, *path.parents][:-2]:
        folder.chmod(0o711)
    path.chmod(0o666)
    ask = ("import os, socket, sys\nos.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))\n"
           "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
           "s.sendall(b'{\"ptycell\": 1, \"command\": \"ps\"}\\n')\nprint(s.recv(1000))")
    done = subprocess.run(["/usr/bin/python3", "-c", ask, str(path), str(NOBODY)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=WAIT_S, check=False)
    assert "sessions" not in done.stdout and ("b''" in done.stdout or "Reset" in done.stdout or "Broken" in done.stdout)


REACH = """
import os, socket
def reach(path):
    found = {}
    for name, attempt in {"list": lambda: os.listdir(os.path.dirname(path)), "open": lambda: open(path),
                          "remove": lambda: os.remove(path), "connect": lambda: socket.socket(socket.AF_UNIX).connect(path)}.items():
        try:
            found[name] = repr(attempt())
        except OSError:
            pass
    return found
reach(%r)
"""


@pytest.mark.account
@pytest.mark.parametrize("tier", TIERS)
def test_code_cannot_reach_the_socket(tier):
    with confined_in(tier) as confined:
        assert confined.server.cell("1").state == "done"
        (path,) = sockets(confined.home)
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(os.path.relpath(path) if len(str(path)) > 100 else str(path))
        connection.close()
        assert confined.server.cell(REACH % str(path)).text.strip() == "{}"
        assert path.exists()


# ---- peers that mean harm ----

def test_hostile_peers_do_not_hold_the_server_up(home, server):
    server.cell("x = 1")
    (path,) = sockets(home)
    peers = []
    for text in [b"", b"{", b"\0" * 70000, b"[" * 60000 + b"\n", b'{"ptycell": 1, "command": "ps"}\n' * 1000] * 2:
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(str(path))
        peer.setblocking(False)
        try:
            peer.send(text)
        except BlockingIOError:
            pass
        peers.append(peer)
    assert server.cell("x").text.strip() == "1"
    assert len(listed(home)["servers"]) == 1
    for peer in peers:
        peer.close()

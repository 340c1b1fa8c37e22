# SPDX-License-Identifier: MIT
"""The server's start and end, and what may happen on its pipes in between."""
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from client import BUILD, REVISION, WAIT_S, Server, environment
from outside import PROC
from patience import until
from steps import (BEGUN, NEVER_S, alive, all_gone, assert_clean, begin, family, go, kept_files, kill, name_of,
                   nothing_left, own_seconds, paths_in, session_folders, with_word)

PROGRAM = str(BUILD / "ptycell")
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
    "protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}}
# Cells that do not want to end: they ignore signals, fork twice, and leave session and terminal.
STUBBORN = """
import os, signal, subprocess
for s in range(1, 32):
    if s not in (9, 11, 17, 19): signal.signal(s, signal.SIG_IGN)
subprocess.Popen(['setsid', 'sleep', '{word}'])
subprocess.Popen(['nohup', 'sleep', '{word}'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp('sleep', ['sleep', '{word}'])
    os._exit(0)
"""


def exec_code(number, code, session="s", **arguments):
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
        "name": "exec_code", "arguments": {"session_id": session, "language": "python",
                                           "code": code, **arguments}}}


def lines(*messages):
    return b"".join(json.dumps(m).encode() + b"\n" for m in messages)


def start(home, *args, env=None, **popen):
    """The program with raw pipes."""
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([PROGRAM, *args], env={**environment(home), **(env or {})},
                            **{**options, **popen})


def run(home, data, *args, **popen):
    """Feeds `data`, ends the input; the answers by id."""
    process = start(home, *args, **popen)
    out, _ = process.communicate(data, WAIT_S)
    assert process.returncode == 0
    return answers(out)


def answers(out):
    messages = [json.loads(line) for line in out.splitlines()]
    assert out.count(b"\r") == 0
    return {m["id"]: m for m in messages if "id" in m}


def text_of(message):
    return "\n".join(b["text"] for b in message["result"]["content"] if b["type"] == "text")


def nothing_made(home):
    """No file of the server's."""
    return paths_in(home, "cache/**/*") == []


def stubborn_server(home, word, **options):
    server = Server(home, **options)
    server.cell(STUBBORN.format(word=word))
    until(lambda: len(with_word(word)) == 3)
    server.start_cell("while True:\n    try:\n        open('begun', 'w').close()\n        import time; time.sleep(9)\n"
                      "    except BaseException: pass")
    until(lambda: paths_in(home, "cache/server-*/sessions/*/data/begun"))
    return server, family(server.process.pid) | with_word(word)


# ---- the end of input ----

def test_at_the_end_of_input_what_was_asked_is_answered(home):
    got = run(home, lines(INITIALIZE, exec_code(1, "6 * 7"), exec_code(2, "import time\ntime.sleep(3); 'slow'")))
    assert "42" in text_of(got[1]) and "'slow'" in text_of(got[2])
    nothing_left(home)


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_what_is_still_to_be_answered_and_that_is_said(home, signo):
    process = start(home)
    process.stdin.write(lines(INITIALIZE, exec_code(1, "open('output/begun', 'w').close()\nimport time\ntime.sleep(600)")))
    process.stdin.close()
    until(lambda: paths_in(home, "cache/server-*/sessions/*/data/output/begun"))
    process.send_signal(signo)
    assert process.wait(WAIT_S) == 1
    assert b"ptycell: 1 request was not answered: a signal ended ptycell" in process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    nothing_left(home)


def test_a_reader_that_goes_ends_what_is_still_to_be_answered(home):
    process = start(home)
    process.stdin.write(lines(INITIALIZE, exec_code(1, "open('output/begun', 'w').close()\nimport time\ntime.sleep(600)")))
    process.stdin.close()
    until(lambda: paths_in(home, "cache/server-*/sessions/*/data/output/begun"))
    process.stdout.close()
    assert process.wait(WAIT_S) == 1
    assert b"ptycell: 1 request was not answered: nobody reads stdout any more" in process.stderr.read()
    process.stderr.close()


def test_answers_that_the_disk_has_no_room_for_are_told(home):
    with open("/dev/full", "wb") as full:
        process = start(home, stdout=full)
        _, said = process.communicate(lines(INITIALIZE), WAIT_S)
    assert process.returncode == 1
    assert b"ptycell: not all answers went out: stdout: No space left on device\n" in said


def test_requests_that_cannot_be_read_are_told(home):
    folder = os.open(home, os.O_RDONLY)
    process = start(home, stdin=folder)
    os.close(folder)
    _, said = process.communicate(timeout=WAIT_S)
    assert process.returncode == 1
    assert b"ptycell: not all requests were read: stdin: Is a directory\n" in said


def test_a_file_as_stdin_is_answered_whole(home):
    requests = home / "requests.jsonl"
    requests.write_bytes(lines(INITIALIZE, exec_code(1, "import time; time.sleep(2); 'slow'"),
                               *(exec_code(n, f"{n}") for n in range(2, 120))))
    with open(requests, "rb") as stdin:
        process = start(home, stdin=stdin, env={"PTYCELL_CALL_BUDGET": "1"})
        out, _ = process.communicate(timeout=WAIT_S)
    got = answers(out)
    assert process.returncode == 0 and sorted(got) == list(range(120))
    assert "'slow'" in text_of(got[1])
    nothing_left(home)


@pytest.mark.parametrize("how", [["--drain"], []])
def test_drain_answers_all_of_a_pipe(home, how):
    env = {} if how else {"PTYCELL_DRAIN": "1"}
    process = start(home, *how, env={**env, "PTYCELL_CALL_BUDGET": "1"})
    out, _ = process.communicate(lines(INITIALIZE, exec_code(1, "import time; time.sleep(2); 'slow'")), WAIT_S)
    assert "'slow'" in text_of(answers(out)[1]) and process.returncode == 0


def test_stdin_from_dev_null_ends_at_once(home):
    process = start(home, stdin=subprocess.DEVNULL)
    out, err = process.communicate(timeout=WAIT_S)
    assert (process.returncode, out) == (0, b""), err


def test_a_stdin_that_is_closed_at_the_start_ends_at_once(home):
    process = subprocess.run(["sh", "-c", 'exec "$0" <&-', PROGRAM], env=environment(home),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=WAIT_S, check=False)
    assert process.stdout == b"" and process.returncode in (0, 1)


def test_a_server_that_nobody_asked_anything_makes_no_file_and_no_process(home):
    with Server(home) as server:
        server.request("ping")
        assert family(server.process.pid) == set()
    assert nothing_made(home)


def test_a_server_whose_tools_are_known_has_its_launcher_and_no_file_but_its_socket(home):
    with Server(home) as server:
        server.request("tools/list")
        until(lambda: family(server.process.pid))
        (launcher,) = family(server.process.pid)
        until(lambda: name_of(launcher[0]) == "ptycell-launch\n")
        until(lambda: len(paths_in(home, "cache/sockets/*")) == 1)
        assert len(paths_in(home, "cache/**/*")) == 2
    all_gone({launcher})
    nothing_left(home)


# ---- signals, parents, closed pipes ----

@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_each_signal_ends_all_and_leaves_nothing(home, signo):
    word = own_seconds(f"16180{int(signo)}")
    server, processes = stubborn_server(home, word)
    server.process.send_signal(signo)
    assert server.process.wait(WAIT_S) == 1
    all_gone(processes)
    nothing_left(home)
    server.close()


def test_the_end_of_input_ends_stubborn_cells_once_their_calls_are_answered(home):
    server, processes = stubborn_server(home, own_seconds("16181"), env={"PTYCELL_CALL_BUDGET": "1"})
    server.process.stdin.close()
    assert server.process.wait(WAIT_S) == 0
    all_gone(processes)
    nothing_left(home)
    server.close()


def test_a_closed_stdout_ends_the_server(home):
    process = start(home)
    process.stdin.write(lines(INITIALIZE, exec_code(1, "1")))
    process.stdin.flush()
    for _ in range(2):
        process.stdout.readline()
    processes = family(process.pid)
    process.stdout.close()
    process.stdin.write(lines(exec_code(2, "2")))
    process.stdin.flush()
    assert process.wait(WAIT_S) in (0, 1)  # 1: the second request was read before the end was seen
    all_gone(processes)
    nothing_left(home)
    process.stdin.close()
    process.stderr.close()


def test_a_killed_server_takes_every_process_along(home):
    server, processes = stubborn_server(home, own_seconds("16182"))
    kill(server.process.pid)
    all_gone(processes)
    server.close()


def test_a_killed_launcher_takes_its_processes_along_and_the_server_goes_on(home):
    server, processes = stubborn_server(home, own_seconds("16183"))
    (launcher, _), = (p for p in family(server.process.pid) if
                      name_of(p[0]) == "ptycell-launch\n" and
                      parent_of(p[0]) == server.process.pid)
    kill(launcher)
    all_gone(processes)
    result = server.cell("1 + 1", session="after")
    assert "2\n" in result.text
    assert server.close() == 0


def parent_of(pid):
    stat = (PROC / f"{pid}/stat").read_text(encoding="utf-8", errors="replace")
    return int(stat[stat.rindex(")") + 2:].split()[1])


def test_a_server_whose_parent_was_killed_ends_although_its_pipes_stay_open(home):
    word = own_seconds("16184")
    read, write = os.pipe()
    script = ("import os, subprocess, sys\n"
              "p = subprocess.Popen([sys.argv[1]], stdin=int(sys.argv[2]), stdout=1)\n"
              "print(p.pid, file=sys.stderr, flush=True)\np.wait()")
    parent = subprocess.Popen([sys.executable, "-c", script, PROGRAM, str(read)], pass_fds=[read],
                              env=environment(home), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    pid = int(parent.stderr.readline())
    os.write(write, lines(INITIALIZE, exec_code(1, STUBBORN.format(word=word))))
    for _ in range(2):
        parent.stdout.readline()
    processes = {p for p in family(parent.pid)} | with_word(word)
    assert any(p[0] == pid for p in processes)
    kill(parent.pid)
    all_gone(processes)
    nothing_left(home)
    os.close(write)
    os.close(read)
    parent.communicate()


def test_started_with_signals_ignored_it_still_ends_and_cells_are_interruptible(home):
    def ignore():
        for signo in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(signo, signal.SIG_IGN)
    with Server(home, preexec_fn=ignore) as server:
        server.cell("x = 1")
        assert server.cell(f"import time\ntime.sleep({NEVER_S})", timeout=0.3).state == "timed_out"
        assert server.cell("x").text == "1\n"
        assert server.cell("import subprocess\nsubprocess.run(['sh', '-c', 'kill -TERM $$']).returncode"
                           ).text == "-15\n"
        processes = family(server.process.pid)
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(WAIT_S)
        all_gone(processes)


def test_kept_results_outlive_the_server(home):
    with Server(home) as server:
        server.cell("_ = open('output/r.txt', 'w').write('result')")
    (kept,) = (home / "kept").rglob("r.txt")
    assert kept.read_text(encoding="ascii") == "result"
    nothing_left(home)


# ---- what comes in ----

def test_bytes_one_by_one_and_two_requests_at_once_are_the_same(home):
    data = lines(INITIALIZE, exec_code(1, "'\u00fc'"), {"jsonrpc": "2.0", "id": 2, "method": "ping"})
    process = start(home, "--drain")
    for byte in data[:-60]:
        os.write(process.stdin.fileno(), bytes([byte]))
    out, _ = process.communicate(data[-60:], WAIT_S)
    got = answers(out)
    assert sorted(got) == [0, 1, 2] and "'\u00fc'" in text_of(got[1])


def test_a_last_line_without_its_end_is_no_crash(home):
    got = run(home, lines(INITIALIZE) + b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert 0 in got
    assert run(home, lines(INITIALIZE) + b'{"jsonrpc":"2.0","id":1,"met')


@pytest.mark.parametrize("bad", [
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\xff\xfe"}}', b"\xff" * 100,
    b"[" * 100_000, b'{"a":' * 50_000, b"{", b"null", b'"text"', b"\0\0\0",
    b'{"jsonrpc":"2.0","id":{},"method":"ping"}', b"x" * 2_000_000])
def test_a_bad_line_is_refused_or_ignored_and_the_next_is_served(home, bad):
    got = run(home, bad + b"\r\n\n  \n" + lines(INITIALIZE, {"jsonrpc": "2.0", "id": 7, "method": "ping"}))
    assert got[7]["result"] == {} and "result" in got[0]


def test_a_line_over_the_cap_is_refused_and_skipped(home):
    big = lines(exec_code(1, "x = '" + "y" * (32 << 20) + "'"))
    ping = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
    process = start(home)
    out, _ = process.communicate(lines(INITIALIZE) + big + lines(ping), WAIT_S)
    messages = [json.loads(line) for line in out.splitlines()]
    assert any(m.get("error", {}).get("code") in (-32700, -32600) for m in messages)
    assert answers(out)[7]["result"] == {}


# ---- what goes out ----

def test_a_client_that_does_not_read_is_not_read_either_and_gets_all(home):
    process = start(home)
    count, image = 135, 300 * 225 * 4  # nearly 50 MB of answers; what is transparent is no JPEG
    code = f"import os\nfrom PIL import Image\np = Image.frombytes('RGBA', (300, 225), os.urandom({image}))"
    names = ("a", "b", "c")
    process.stdin.write(lines(INITIALIZE, *(exec_code(name, code, name) for name in names)))
    process.stdin.flush()
    while "result" not in (last := json.loads(process.stdout.readline())) or last["id"] != "c":
        pass
    os.set_blocking(process.stdin.fileno(), False)
    data = lines(*(exec_code(n, "p", names[n % 3]) for n in range(2, count + 2)))
    assert len(data) < 65536
    os.write(process.stdin.fileno(), data)
    rss = peak_rss(process.pid, settle=1.5)
    pings = fill(process.stdin.fileno(), lines({"jsonrpc": "2.0", "id": "ping", "method": "ping"}))
    got, size = {}, 0
    while len(got) < count or pings > 0:
        line = process.stdout.readline()
        assert line and len(line) < 1_000_000
        size += len(line)
        message = json.loads(line)
        if isinstance(message.get("id"), int):
            got[message["id"]] = message
        pings -= message.get("id") == "ping"
    process.stdin.close()
    assert process.wait(WAIT_S) == 0
    print(f"{size} bytes of answers waited in {rss} KB")
    assert sorted(got) == list(range(2, count + 2)) and size > count * image
    assert rss < 60_000 or BUILD.name != "dev"  # sanitizers keep what was freed
    process.stdout.close()
    process.stderr.close()


def fill(pipe, line):
    """Writes the line until the pipe takes no more, which proves that nobody reads; how often."""
    count = 0
    try:
        while os.write(pipe, line) == len(line):
            count += 1
            assert count < 100_000
    except BlockingIOError:
        return count
    raise AssertionError("a line was cut")


def peak_rss(pid, settle):
    """The most that the process has used so far, once that did not grow for `settle` seconds."""
    peak, since = 0, time.monotonic()
    while time.monotonic() - since < settle:
        status = (PROC / f"{pid}/status").read_text(encoding="ascii")
        now = int(status.split("VmHWM:")[1].split()[0])
        if now > peak:
            peak, since = now, time.monotonic()
        time.sleep(0.05)
    return peak


def test_a_stderr_that_nobody_drains_or_that_is_closed_blocks_nothing(home):
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        while True:
            os.write(write, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(write, True)
    full = start(home, "--drain", "--log", "debug", stderr=write)
    out, _ = full.communicate(lines(INITIALIZE, exec_code(1, "6 * 7")), WAIT_S)
    assert "42" in text_of(answers(out)[1])
    os.close(read)
    os.close(write)
    closed = subprocess.run(["sh", "-c", 'exec "$0" --drain --log debug 2>&-', PROGRAM],
                            input=lines(INITIALIZE, exec_code(1, "6 * 7")), env=environment(home),
                            stdout=subprocess.PIPE, timeout=WAIT_S, check=False)
    assert "42" in text_of(answers(closed.stdout)[1])


def test_code_cannot_write_into_the_protocol(home):
    with Server(home) as server:
        result = server.cell("import os\nfor fd in range(64):\n    try: _ = os.write(fd, b'{}\\n')\n"
                             "    except OSError: pass")
        assert_clean(result.raw)
        assert not alive(set()) and server.cell("1", session="t").text == "1\n"
        assert not server.strays()


LATER = ("import subprocess\nsubprocess.Popen(['sh', '-c', 'until [ -e input/go ]; do sleep 0.01; done; echo late >output/late.txt; "
         "mkdir output/.git; echo x >output/.git/config; ln -s /etc/passwd output/link; echo over >output/over'])\n"
         "open('output/early.txt', 'w').write('early')\nopen('output/changed.txt', 'w').write('one')")


def kill_server(server):
    """Returns the folder of its only session, which the next server removes."""
    (folder,) = session_folders(server.home)
    server.process.kill()
    server.process.wait()
    return folder


def is_removed(folder):
    """The server's folder that held it is renamed first, then what it has to keep is copied, then it goes."""
    home = folder.parents[3]
    until(lambda: not folder.exists() and paths_in(home, "cache/.remove-*") == [])


def test_what_a_killed_server_had_not_kept_the_next_one_keeps(home):
    with Server(home) as server:
        server.cell(LATER)
        until(lambda: len(kept_files(home)) == 2)
        kept = kept_files(home)[0].parent
        (kept / "changed.txt").write_text("by the person")
        half = kept / ".ptycell-aaaabbbbccccdddd"
        half.write_text("half of a copy")
        go(server)
        over = session_folders(home)[0] / "output/over"
        until(lambda: over.exists() and over.stat().st_size > 0)  # its shell ends with the server
        folder = kill_server(server)
    with Server(home) as server:
        server.cell("1")
        is_removed(folder)
        until(lambda: {path.name: path.read_text() for path in kept_files(home)} == {
            "early.txt": "early", "late.txt": "late\n", "over": "over\n", "changed.txt": "by the person", "changed-2.txt": "one"})
        assert {path.parent for path in kept_files(home)} == {kept}
        assert not half.exists()
    # Those three, the notebook and the report.
    assert f"saved what a server that was killed had not: 5 files are in '~/kept/{kept.name}'" in server.stderr.decode()


def test_files_named_as_the_folders_are_rescued(home):
    """Code may have removed a folder, and written a file in its place."""
    with Server(home) as server:
        server.cell("open('early', 'w').write('x')")
        until(lambda: len(kept_files(home)) == 1)
        begin(server, "import os, time\nos.rmdir('output'); os.rmdir('input')\n_ = open('output', 'w').write('one'), open('input', 'w').write('two')\n"
                      f"{BEGUN}time.sleep({NEVER_S})")
        folder = kill_server(server)
    with Server(home) as server:
        server.cell("1")
        is_removed(folder)
        assert {path.name: path.read_text() for path in kept_files(home)} == {"early": "x", "output": "one", "input": "two"}


def test_new_files_beside_output_are_rescued_as_they_are_kept(home):
    code = """
import os
def write(path, text='x'):
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    n = open(path, 'w').write(text)
for path in ('beside.csv', 'sub/deep/r.csv', 'output/o.csv', 'input/in.csv', '.hidden', 'sub/node_modules/m.js', 'repo/code.py',
             'venv/lib.py', 'venv/pyvenv.cfg'):
    write(path)
os.mkdir('repo/.git')
os.symlink('/etc/passwd', 'link.csv')
for i in range(201):
    write(f'many/{i}')
"""
    with Server(home) as server:
        server.cell("open('early.csv', 'w').write('x')")
        until(lambda: len(kept_files(home)) == 1)
        begin(server, f"{code}\n{BEGUN}import time\ntime.sleep({NEVER_S})")
        folder = kill_server(server)
    with Server(home) as server:
        server.cell("1")
        is_removed(folder)
    names = sorted(str(path)[str(path).index("/kept/") + 6:].partition("/")[2] for path in kept_files(home))
    assert names == ["files/beside.csv", "files/early.csv", "files/sub/deep/r.csv", "o.csv"]
    assert "is saved: 'many' has more than 200 files that were not kept" in server.stderr.decode()


def test_a_session_of_which_nothing_was_kept_is_rescued_too(home):
    with Server(home) as server:
        begin(server, f"open('output/a b.txt', 'w').write('x' * 100000)\n{BEGUN}import time\ntime.sleep({NEVER_S})")
        folder = kill_server(server)
    with Server(home, env={"PTYCELL_KEEP": "off"}) as server:
        server.cell("1")
        is_removed(folder)
    assert [path.name for path in kept_files(home)] == ["a b.txt"]


@pytest.mark.parametrize("names", [True, False], ids=["named", "not named"])
def test_what_a_server_of_an_earlier_version_had_not_kept_is_rescued_too(home, names):
    """Such a version wrote no record of its own; its events name the folder once results are kept."""
    with Server(home) as server:
        saved = server.cell("open('output/a', 'w').write('x')").status["saved"]
        begin(server, f"open('output/b', 'w').write('x')\n{BEGUN}import time\ntime.sleep({NEVER_S})")
        folder = kill_server(server)
    journal = folder.parent / "journal"
    (journal / "kept").unlink()
    line = {"text": '"saved":"~/kept/forged"', **({"saved": saved} if names else {})}
    (journal / "records").write_text(json.dumps(line, separators=(",", ":")) + "\n")
    with Server(home) as server:
        server.cell("1")
        is_removed(folder)
    folders = [path.parent.name for path in kept_files(home)]
    own = os.path.basename(saved)
    assert sorted(path.name for path in kept_files(home)) == (["a", "b"] if names else ["a", "a", "b"])
    assert set(folders) == {own} if names else (folders.count(own) == 1 and "-rescued-" in max(folders, key=folders.count))


def test_what_is_rescued_gets_no_name_that_programs_run_either(home):
    with Server(home) as server:
        begin(server, "import os\nos.mkdir('output/r')\nfor name in ('.envrc', 'r/HEAD', 'r/config'):\n    open('output/' + name, 'w').write('x')\n"
                      f"{BEGUN}import time\ntime.sleep({NEVER_S})")
        folder = kill_server(server)
    with Server(home) as server:
        server.cell("1")
        is_removed(folder)
    assert sorted(path.name for path in kept_files(home)) == ["_.envrc", "_HEAD", "config"]


def test_who_keeps_nothing_has_nothing_rescued(home):
    with Server(home, env={"PTYCELL_KEEP": "off"}) as server:
        begin(server, f"open('output/a', 'w').write('x')\n{BEGUN}import time\ntime.sleep({NEVER_S})")
        folder = kill_server(server)
    with Server(home) as server:
        server.cell("1")
        is_removed(folder)
    assert kept_files(home) == []

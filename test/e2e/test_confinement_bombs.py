# SPDX-License-Identifier: MIT
"""A session that takes all that it can get, and the others beside it (sandbox.md tests 33 to 35, 55,
57 to 60, 62; what the watchdog sees of 56 and 59 is in test_confinement_limits.py)."""
import re
import shutil

import pytest
from machines import confined_in
from patience import until
from steps import BEGUN, assert_honest, begin, family, is_running, overdue, session_folders

MIB = 1 << 20
SMALL = {"memory_max": 300 * MIB, "file_max": 64 * MIB, "processes_max": 64, "tmp_max": 8 * MIB}


@pytest.fixture(scope="module")
def confined():
    with confined_in("namespaces") as one:
        assert not one.server.call("session_info", session_id="s", config=SMALL).is_error
        one.prepare("s")
        one.server.cell("1", session="other")
        yield one


@pytest.fixture(scope="module")
def server(confined):
    return confined.server


def assert_others_well(server, name):
    """Those that are there answer, and a new one starts."""
    assert server.cell("1 + 1", session="other").text == "2\n"
    assert server.cell("1 + 1", session=name).text == "2\n"
    server.call("destroy_session", session_id=name)


# ---- the terminal ----

@pytest.mark.parametrize("code", [
    "import sys\nfor _ in range(100): sys.stdout.write('x' * 1_000_000)",
    "import os\nfor _ in range(100): os.write(1, os.urandom(100_000))",
    "import os\nfor _ in range(10000): os.write(1, b'\\x1b[2J\\x1b]0;t\\x07\\x1b[999;999H\\x1b[6n\\x1bP0;1|17/ab\\x9c\\r')",
], ids=["no line break", "binary", "escapes"])
def test_output_of_any_kind_and_length_is_bounded(server, code):
    result = server.cell(code)
    assert_honest(result)
    assert result.state == "done" and len(result.text) < 20_000


def test_endless_output_is_interrupted(server):
    result = overdue(server, BEGUN + "while True: print('x' * 1000)")
    assert_honest(result)
    assert "KeyboardInterrupt" in result.text


def test_a_cell_that_closed_its_terminal_is_ended(server):
    result = server.cell("import os, time\nos.closerange(0, 3)\ntime.sleep(1000)", session="closed", timeout=1)
    assert result.state in ("timed_out", "died")
    assert server.cell("1 + 1", session="closed").text in ("2\n", "")
    server.call("destroy_session", session_id="closed")


def test_a_terminal_without_signals_does_not_stop_an_interrupt(server):
    result = overdue(server, f"import termios, time, tty\ntty.setraw(0)\n{BEGUN}time.sleep(1000)")
    assert "KeyboardInterrupt" in result.text
    assert server.cell("'kept'").text == "'kept'\n"


# ---- memory ----

def test_memory_is_refused_to_python_with_the_limit(server):
    result = server.cell("x = []\nwhile True: x.append(bytearray(1 << 20))")
    assert result.cell["error_name"] == "MemoryError" and "(memory_max)" in result.text
    assert server.cell("x = None; 1 + 1").text == "2\n"
    assert_others_well(server, "beside-memory")


@pytest.mark.parametrize("program, code", [
    ("node", "const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1));"),
    ("node", "const a = []; for (;;) a.push(new Array(1e5).fill(Math.random()));"),
    ("Rscript", "x <- numeric(2e8)")], ids=["node buffers", "node heap", "R"])
def test_memory_is_refused_to_other_languages(server, program, code):
    if not shutil.which(program):
        pytest.skip(f"no {program} here")
    result = server.cell(f"import subprocess\nsubprocess.run([{program!r}, '-e', {code!r}], capture_output=True).returncode != 0")
    assert result.text == "True\n"
    assert server.cell("1 + 1").text == "2\n"
    assert_others_well(server, "beside-node")


# ---- processes ----

@pytest.mark.parametrize("what", ["forks", "threads"])
def test_a_bomb_ends_at_the_limit(server, what):
    started = server.start_cell(f"inside.{what}_until_full()")
    assert_others_well(server, f"beside-{what}")
    count, error = eval(started.get()["result"]["content"][0]["text"])  # a tuple of ours
    assert 16 < count <= 64 and error in ("EAGAIN", "can't start new thread")


def test_a_fork_bomb_goes_with_its_session(server):
    server.call("session_info", session_id="bomb", config={"processes_max": 64})
    below = family(server.process.pid)
    result = server.cell("import os, time\nwhile True:\n    try: os.fork()\n    except OSError: pass",
                         session="bomb", timeout=2)
    assert_others_well(server, "beside-bomb")
    assert result.state in ("timed_out", "died")
    server.call("destroy_session", session_id="bomb")
    # What sessions are copied from, and what waits, may have come since: init, minder, interpreter each.
    until(lambda: len(family(server.process.pid) - below) <= 2 + 3 + 3)


# ---- disk ----

@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
def test_folders_in_memory_are_full_at_their_limit(server, folder):
    filled = server.cell(f"inside.fills({folder!r})").text
    # In tier namespaces /dev/shm is as large as what processes leave of the memory: there it is one file that is too large.
    assert filled == f"({8 * MIB}, 'ENOSPC')\n" or (folder, filled) == ("/dev/shm", f"({64 * MIB}, 'EFBIG')\n")
    count, error = eval(server.cell(f"inside.fills_inodes({folder!r})").text)  # a tuple of ours
    assert error == "ENOSPC" and count < 200000
    assert server.cell("open('/tmp/f', 'w').write('x' * 100000)", session="other").text == "100000\n"


@pytest.mark.parametrize("folder", ["/", "/dev", "/dev/pts", "/run", "/home"])
def test_nothing_else_can_be_filled(server, folder):
    result = server.cell(f"inside.told(lambda: inside.fills_inodes({folder!r}))")
    assert re.fullmatch(r"\(0, '(EROFS|EACCES|EPERM)'\)\n", result.text), result.text


def test_a_deleted_file_that_is_open_counts(server, confined):
    server.call("session_info", session_id="deleted", config={"disk_max": 30 * MIB, "file_max": 20 * MIB})
    result = server.cell("import os, time\nfiles = []\nwhile True:\n    f = open('big', 'wb', buffering=0); os.remove('big')\n"
                         "    f.write(bytes(5 << 20)); files.append(f); time.sleep(0.1)", session="deleted")
    assert result.state == "raised" and "(disk_max)" in result.text
    server.call("destroy_session", session_id="deleted")


def test_what_writes_on_behind_a_cell_is_stopped(server, confined):
    """Between cells, too."""
    # No limit of the file's own ends it before the session's is looked at, however busy the machine is.
    server.call("session_info", session_id="behind", config={"disk_max": 30 * MIB, "file_max": 1024 * MIB})
    writer = "import time\nf = open('log', 'wb', buffering=0)\nwhile True: f.write(bytes(4 << 20)); time.sleep(0.1)"
    texts = list(server.cell(f"import subprocess, sys\np = subprocess.Popen([sys.executable, '-c', {writer!r}])", session="behind").texts)

    def is_told():
        texts.extend(server.cell("'p' in globals()", session="behind").texts)
        return "(disk_max)" in "".join(texts)
    until(is_told, every=1)
    server.call("destroy_session", session_id="behind")


def test_many_files_are_stopped(server):
    server.call("session_info", session_id="many", config={"disk_max": 8 * MIB})
    result = server.cell("import os, time\nfor i in range(100000):\n    with open(f'n{i}', 'w') as f: f.write('x')\ntime.sleep(10**6)",
                         session="many")
    assert result.state == "raised" and "(disk_max)" in result.text
    server.call("destroy_session", session_id="many")


# ---- the processor ----

SPIN = "import os\nfor _ in range(2 * os.cpu_count()):\n    if os.fork() == 0:\n        while True: pass\n" + BEGUN + "while True: pass"


def test_a_busy_machine_keeps_deadlines_and_other_sessions(server):
    begin(server, SPIN, session="spin")
    assert server.cell("1 + 1", session="other").text == "2\n"
    assert is_running(server, "spin")
    server.call("destroy_session", session_id="spin")
    overdue(server, SPIN, session="spin")
    server.call("destroy_session", session_id="spin")


# ---- what must not be refused ----

NODE = """
const { Worker } = require('worker_threads');
console.log('buffer', Buffer.alloc(500 << 20, 1).length >> 20);
console.log('memory', new WebAssembly.Memory({ initial: 10, maximum: 65536 }).buffer.byteLength > 0);
let left = 4;
for (let i = 0; i < 4; i++)
  new Worker("require('worker_threads').parentPort.postMessage(1)", { eval: true })
    .on('message', () => { if (--left === 0) console.log('workers'); });
"""


@pytest.mark.skipif(not shutil.which("node"), reason="no node here")
def test_node_has_room_under_the_default_limits(server):
    server.call("upload_file", session_id="node", filename="t.js", content=NODE)
    text = server.cell("import subprocess\nr = subprocess.run(['node', 'input/t.js'], capture_output=True, text=True)\n"
                       "print(r.stdout, r.stderr)", session="node").text
    assert [line for line in ("buffer 500", "memory true", "workers") if line not in text] == [], text
    server.call("destroy_session", session_id="node")

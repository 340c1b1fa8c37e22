# SPDX-License-Identifier: MIT
"""A session that takes all that it can get, and the others beside it (sandbox.md tests 33 to 35, 55,
57 to 60, 62; what the watchdog sees of 56 and 59 is in test_confinement_limits.py)."""
import re
import shutil
import subprocess

import pytest
from machines import TIERS, as_user, confined_in, user_of_this_run
from patience import until
from steps import BEGUN, assert_honest, begin, family, is_running, overdue, session_folders, skip_without

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
    # A slow machine has the last of the output to show after the deadline was answered.
    assert "KeyboardInterrupt" in result.text or "has not ended yet" in result.text
    if "KeyboardInterrupt" not in result.text:
        until(lambda: "KeyboardInterrupt" in "".join(server.cell("1").texts))


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

# A limit that does not hold leaves 300 sleepers for 20 s, not more.
FORKS = {"python": "import os, time\nmade = []\nfor _ in range(300):\n    made.append(os.fork())\n    if made[-1] == 0: time.sleep(20); os._exit(0)",
         "javascript": "var made = []; for (let i = 0; i < 300; i++) { const one = require('child_process').spawn('sleep', ['20']); "
                       "if (!one.pid) throw await new Promise((_, no) => one.on('error', no)); made.push(one.pid) }",
         "r": "made <- c(); for (i in 1:300) made <- c(made, parallel::mcparallel(Sys.sleep(20))$pid)"}


@pytest.mark.parametrize("tier", [tier for tier in TIERS if tier.startswith("landlock")])
@pytest.mark.parametrize("language", FORKS)
def test_processes_are_refused_where_the_kernel_counts_all_of_the_user(tier, language):
    """An error of the code, and all variables stay; a second session may have as many."""
    skip_without(language)
    with confined_in(tier, user_of_this_run(), PTYCELL_PROCESSES_MAX="40") as confined:
        server = confined.server
        for session in ("one", "two"):
            result = server.cell(FORKS[language], session=session, language=language)
            assert result.state == "raised" and "limited to 40 (processes_max)" in result.text, result.text
            made = server.cell({"r": "length(made)", "python": "len(made)", "javascript": "made.length"}[language], session=session, language=language)
            # Beside the user's others the kernel lets a few more through than the limit says.
            assert 20 <= int(made.text.split()[-1]) < 60, made.text


def test_other_processes_of_the_user_take_none_from_a_session():
    with confined_in("landlock", user_of_this_run(), PTYCELL_PROCESSES_MAX="40") as confined:
        confined.server.cell("1")
        sleepers = [subprocess.Popen(["sleep", "1000"], **as_user(user_of_this_run())) for _ in range(60)]
        try:
            # The limit follows twice a second.
            result = confined.server.cell("import subprocess, time\nmany = []\nfor _ in range(600):\n    try:\n        while len(many) < 20: many.append(subprocess.Popen(['sleep', '60']))\n"
                                          "        break\n    except BlockingIOError: time.sleep(0.1)\nlen(many)")
            assert result.text == "20\n", result.text
        finally:
            for one in sleepers:
                one.kill()
                one.wait()


MORE = {"processes": "    if os.fork() == 0: time.sleep(20); os._exit(0)\n",
        "threads": "    threading.Thread(target=time.sleep, args=(20,), daemon=True).start()\n"}


@pytest.mark.parametrize("kind", MORE)
def test_code_that_raises_the_kernels_limit_again_and_again_is_ended(kind):
    """The hard limit, which it cannot raise, is 2,048 above what is usual."""
    with confined_in("landlock", user_of_this_run(), PTYCELL_PROCESSES_MAX="40") as confined:
        raises = ("import os, resource, threading, time\nsoft, hard = resource.getrlimit(resource.RLIMIT_NPROC)\nprint(hard - soft)\nmade = 0\n"
                  "while made < 300:\n    resource.setrlimit(resource.RLIMIT_NPROC, (hard, hard))\n    try:\n    " + MORE[kind] +
                  "    except (OSError, RuntimeError): continue\n    made += 1\ntime.sleep(1000)")
        result = confined.server.cell(raises)
        assert result.state == "died" and "processes and threads, more than the limit of 40 (processes_max)" in result.text, result.text
        # Other processes of the user may have ended or come since it started.
        assert 1024 < int(result.text.split()[0]) < 4096
        assert confined.server.cell("1 + 1").text == "2\n"


@pytest.mark.parametrize("tier", [tier for tier in TIERS if tier.startswith("landlock")])
def test_an_interpreter_that_finds_no_process_left_there_says_so(tier):
    with confined_in(tier, user_of_this_run(), PTYCELL_PROCESSES_MAX="40") as confined:
        confined.server.cell(FORKS["python"])
        for language in ("bash", "r", "javascript"):
            result = confined.server.cell("1", language=language)
            assert result.state == "done" or "processes_max" in result.text, result.text
            assert "PTYCELL_" not in result.text
        assert int(confined.server.cell("len(made)").text) >= 20


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
    # What sessions are copied from, and what waits, may have come since: init, supervisor, interpreter each.
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


@pytest.mark.parametrize("content", ["x", ""])
def test_many_files_are_stopped(server, content):
    server.call("session_info", session_id="many", config={"disk_max": 8 * MIB})
    result = server.cell(f"import os, time\nfor i in range(100000):\n    with open(f'n{{i}}', 'w') as f: f.write({content!r})\ntime.sleep(10**6)",
                         session="many")
    # Those that are empty need no room that could be refused.
    assert result.state == ("raised" if content else "interrupted") and "(disk_max)" in result.text
    assert server.cell("i > 1000", session="many").text.startswith("True")
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

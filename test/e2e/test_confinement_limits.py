# SPDX-License-Identifier: MIT
"""Limits of a session, each with the sentence that names it (sandbox.md tests 55 to 59 as far as
they are the server's: what the watchdog sees, and how a death is explained)."""
import re
import shutil

import pytest
from client import ALONE, BUILD, Server
from machines import TIERS, confined_in
from patience import until
from proxies import own_mounts
from steps import family, session_folders

MIB = 1 << 20
SMALL = {"memory_max": 200 * MIB, "disk_max": 40 * MIB, "file_max": 16 * MIB, "processes_max": 40,
         "open_files_max": 64, "tmp_max": 4 * MIB}
# Memory that RLIMIT_DATA does not see; it says so and stays.
SHARED = ("import mmap, time\nm = mmap.mmap(-1, {0} << 20)\n"
          "for i in range(0, {0} << 20, 4096): m[i] = 1\n{1}time.sleep(10**6)")


@pytest.fixture(name="small")
def fixture_small(shared_server):
    assert not shared_server.call("session_info", session_id="s", config=SMALL).is_error
    return shared_server


@pytest.mark.parametrize("code, error, words", [
    ("x = bytearray(300 << 20)", "MemoryError", "limited to 200 MB (memory_max)"),
    ("open('big', 'wb').write(b'x' * (20 << 20))", "OSError", "limited to 16 MB (file_max)"),
    ("import threading, time\nfor _ in range(99): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
     "RuntimeError", "limited to 40 (processes_max)"),
    ("files = [open('/dev/null') for _ in range(99)]", "OSError", "limited to 64 (open_files_max)"),
    ("for i in range(9): open(f'/tmp/{i}', 'wb').write(b'x' * MIB)", "OSError", "up to 4.0 MB (tmp_max)"),
    ("import socket\nsocket.create_connection(('198.51.100.1', 80))", "OSError", "Code has no network"),
    ("import urllib.request\nurllib.request.urlopen('http://example.com')", "URLError", "Code has no network"),
    ("open('/usr/x', 'w')", "OSError", "code may write in its working folder"),
    ("open('/home/someone/data.csv')", "FileNotFoundError", "--share FOLDER"),
    ("import os\nos.listdir('/Users/someone')", "FileNotFoundError", "--share FOLDER"),
    ("try:\n    open('/mnt/c/x')\nexcept OSError as e:\n    raise ValueError from e", "ValueError", "--share FOLDER"),
])
def test_an_error_of_the_kernel_ends_with_the_limit_behind_it(small, code, error, words):
    result = small.cell(f"MIB = {MIB}\n{code}")
    assert (result.state, result.cell["error_name"]) == ("raised", error), result.text
    assert words in result.text


@pytest.mark.parametrize("language, code, words", [
    ("bash", "echo x >/usr/x", "code may write in its working folder"),
    ("bash", "head -c 9000000 /dev/zero >/tmp/x", "up to 4.0 MB (tmp_max)"),
    ("bash", "head -c 20000000 /dev/zero >x", "limited to 16 MB (file_max)"),
    # Bash itself tries for 15 s.
    ("bash", "(echo 'bash: fork: Resource temporarily unavailable' >&2; exit 254)", "limited to 40 (processes_max)"),
    ("javascript", "require('fs').writeFileSync('/usr/x', '')", "code may write in its working folder"),
    ("javascript", "require('fs').writeFileSync('/tmp/x', Buffer.alloc(9e6))", "up to 4.0 MB (tmp_max)"),
    # It grows: its own limit ends it, or that of all processes together, whichever is reached first.
    ("bash", "x=$(head -c 300000000 /dev/zero | tr '\\0' a)", "200 MB (memory_max)"),
    ("javascript", "const a = []; while (true) a.push(new Array(10000).fill(Math.random()))", "200 MB (memory_max)"),
    # What V8 of Node 18 says at times.
    ("javascript", "process.stderr.write('# Check failed: reservation_.SetPermissions(start, size, mode).\\n');"
     " process.kill(process.pid, 'SIGTRAP'); await new Promise(() => {})", "limited to 200 MB (memory_max)"),
    ("javascript", "const run = require('child_process').spawn; for (let i = 0; i < 60; i++) run('sleep', ['1000']);"
     " await new Promise((go) => setTimeout(go, 500))", "limited to 40 (processes_max)"),
    ("r", "write.csv(data.frame(a = 1:2e6, b = 1:2e6), 'x.csv')", "limited to 16 MB (file_max)"),
    ("r", "file('/usr/x', 'w')", "code may write in its working folder"),
    ("r", "x <- numeric(1e8)", "limited to 200 MB (memory_max)"),
    ("r", "read.csv('/home/someone/data.csv')", "--share FOLDER"),
    ("r", "readRDS('/home/someone/data.rds')", "--share FOLDER"),
    ("r", "readLines('http://example.com')", "Code has no network"),
    ("bash", "head /home/someone/data.csv", "--share FOLDER"),
    ("bash", "wc -l < /root/data.csv", "--share FOLDER"),
    ("javascript", "require('fs').readdirSync('/home/someone')", "--share FOLDER"),
])
def test_so_does_one_in_another_language(small, language, code, words):
    if not shutil.which({"javascript": "node", "r": "R"}.get(language, language)):
        pytest.skip(f"there is no {language} here")
    # R does not start with 64 files.
    assert not small.call("session_info", session_id="many", config={**SMALL, "open_files_max": 512}).is_error
    result = small.cell(code, language=language, session="many")
    assert words in result.text, result.text


@pytest.mark.parametrize("language, code", [
    ("bash", "cat data.csv"), ("bash", "cat /home/someone/data.csv || true"), ("bash", "echo ': /home/x: No such file or directory'"),
    ("python", "open('data.csv')"), ("python", "raise FileNotFoundError(2, 'No such file or directory', '/home/x')")])
def test_a_file_that_no_user_could_have_shared_does_not_name_shares(shared_server, language, code):
    assert "--share" not in shared_server.cell(code, language=language).text


@pytest.mark.parametrize("language, kept, write, again", [
    ("python", "x = 5", "open('big', 'wb').write(bytes(20 << 20))", "x"),
    ("bash", "x=5", "printf %020000000d 7 >big", "echo $x"),
    ("javascript", "var x = 5", "require('fs').writeFileSync('big', Buffer.alloc(20 << 20))", "x"),
    ("r", "x <- 5", "writeBin(raw(20e6), 'big')", "cat(x)"),
])
def test_a_file_that_is_too_large_costs_no_variables(small, language, kept, write, again):
    """SIGXFSZ ended R and bash."""
    if not shutil.which({"javascript": "node", "r": "R"}.get(language, language)):
        pytest.skip(f"there is no {language} here")
    assert not small.call("session_info", session_id="many", config={**SMALL, "open_files_max": 512}).is_error
    small.cell(kept, language=language, session="many")
    small.cell(write, language=language, session="many")
    assert small.cell(again, language=language, session="many").text.strip() == "5"


@pytest.mark.parametrize("language, code, words", [
    ("python", "import fcntl\nfirst, second = open('lock', 'w'), open('lock', 'w')\nfcntl.flock(first, fcntl.LOCK_EX)\n"
     "fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)", "If that was a new process or thread"),
    ("javascript", "process.stdin.resume().pause(); require('fs').readFileSync(0)", "Nothing was there to read."),
])
def test_what_may_not_be_about_processes_is_said_so(small, language, code, words):
    if language == "javascript" and not shutil.which("node"):
        pytest.skip("there is no node here")
    assert not small.call("session_info", session_id="many", config={**SMALL, "open_files_max": 512}).is_error
    result = small.cell(code, language=language, session="many")
    assert result.state == "raised" and words in result.text, result.text


def test_what_a_shell_only_shows_is_not_explained(small):
    for code in ("echo 'Read-only file system'", "echo 'Read-only file system is a word'; false"):
        assert "Blocked" not in small.cell(code, language="bash").text


def test_a_missing_file_of_its_own_is_no_matter_of_confinement(small):
    assert "--share" not in small.cell("open('nothing.csv')").text


DEAF = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"


def test_memory_that_no_limit_of_the_kernel_sees_is_noticed(small):
    """A look while it grows would interrupt it, and it would keep what it has: this one hears no interrupt."""
    def says_where():
        """It has 100 ms for that, which may be too few on a busy machine."""
        result = small.cell(DEAF + SHARED.format(400, ""))
        assert result.state == "died" and result.is_error
        assert "more than the limit of 200 MB (memory_max)" in result.text and "was killed; use less" in result.text, result.texts
        return re.search(r'File "<cell \d+>", line', result.text)
    until(says_where)
    again = small.cell("'m' in globals()")
    assert again.text == "False\n" and not again.is_error


def test_a_little_more_of_it_is_interrupted_and_kept(small):
    result = small.cell("import re\nhas = int(re.search(r'RssAnon:\\s+(\\d+)', open('/proc/self/status').read())[1]) >> 10\n"
                        + SHARED.format("(212 - has)", ""))
    assert result.state == "interrupted" and "more than the limit of 200 MB (memory_max)" in result.text, result.texts
    for _ in range(2):  # as long as it is looked at
        assert small.cell("time.sleep(0.6); m[0]").text == "1\n"


AGAIN = """
import os, time
def hold():
    memory = b'x' * (30 << 20)
    while True: time.sleep(1000)
children = set()
while True:
    while len(children) < 20:
        child = os.fork()
        if child == 0: hold()
        children.add(child)
    children.discard(os.waitpid(-1, 0)[0])
"""


def test_what_is_started_anew_when_it_is_killed_ends_with_the_cell_that_starts_it(small):
    small.cell("x = 5")
    result = small.cell(AGAIN)
    assert result.state == "interrupted" and "more than the limit of 200 MB (memory_max)" in result.text, result.texts
    assert small.cell("x").text.endswith("5\n")  # behind what a child says of the interrupt


def test_so_it_ends_with_an_interpreter_that_hears_no_interrupt(small):
    result = small.cell("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + AGAIN)
    assert result.state == "died" and result.is_error
    assert "again after programs had been killed for it 5 times; start fewer at a time" in result.text
    assert 1 <= "".join(result.texts).count(", which code had started, ") <= 11
    assert small.cell("6 * 7").text == "42\n"


def test_a_program_that_code_started_is_killed_and_the_interpreter_stays(small):
    small.cell("kept = 1")
    child = SHARED.format(300, "")
    result = small.cell(f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}]).returncode, kept")
    assert result.text.endswith("(-9, 1)\n")
    said = result.raw["content"][0]["text"]
    assert "The program 'python3" in said and "which code had started, was killed" in said


def test_one_session_over_its_limit_does_not_touch_another(small):
    small.cell("x = 1", session="other")
    assert small.cell(SHARED.format(400, "")).state in ("interrupted", "died")
    assert small.cell("x", session="other").text == "1\n"


def test_processes_that_share_memory_count_it_once(small):
    """Forked workers share what their parent made: that is no reason to kill anybody."""
    result = small.cell("import os, time\nx = bytearray(120 << 20)\n"
                        "for _ in range(4):\n  if os.fork() == 0: time.sleep(3); os._exit(0)\n"
                        "for _ in range(4): os.wait()\nlen(x) >> 20")
    assert (result.state, result.text) == ("done", "120\n")


def test_a_folder_that_grows_past_its_limit_ends_the_writing(small, home):
    result = small.cell("import time\nfor i in range(200):\n  open(f'f{i}', 'wb').write(b'x' * (4 << 20))\n"
                        "  time.sleep(0.1)")
    assert result.state == "raised" and "limited to 40 MB (disk_max)" in result.text
    # What is too much can be deleted.
    assert small.cell("import os\nfor i in range(200): os.path.exists(f'f{i}') and os.remove(f'f{i}')").state == "done"
    (folder,) = session_folders(home)
    assert not list(folder.glob("f*"))


def test_files_in_folders_that_no_scan_enters_count_too(small):
    result = small.cell("import os, time\nos.makedirs('.cache/deep/er')\n"
                        "for i in range(200):\n  open(f'.cache/deep/er/{i}', 'wb').write(b'x' * (4 << 20))\n"
                        "  time.sleep(0.1)")
    assert result.state == "raised" and "(disk_max)" in result.text


def test_a_sparse_file_is_stopped_by_the_limit_of_one_file(small):
    result = small.cell("open('sparse', 'wb').truncate(500 << 30)")
    assert result.state == "raised" and "(file_max)" in result.text


# Memory of the kernel's, which no process has. What looks at it reads a line for each watch of an epoll, which takes long: the
# process has most of the limit itself, 52 of 60 MB, and watches for 19.
HELD = {  # in more descriptors than HELD_DESCRIPTORS_FEW of sandbox/process/kernel_memory.h
    "sockets": "import socket\nheld = [socket.socketpair() for _ in range(1100)]\nfor pair in held:\n"
               "    for end in pair:\n        end.setblocking(False)\n        end.send(bytes(70000))\n",
    "epolls": "import re, select\nhas = int(re.search(r'RssAnon:\\s+(\\d+)', open('/proc/self/status').read())[1]) << 10\n"
              "own = b'x' * ((52 << 20) - has)\nr, w = os.pipe()\ndups = [os.dup(r) for _ in range(2000)]\nheld = []\n"
              "for _ in range(50):\n    held.append(select.epoll())\n    for fd in dups: held[-1].register(fd)\n",
}


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("kind", HELD)
def test_what_descriptors_hold_counts_as_memory(tier, kind):
    """Security 5b and S4: gigabytes of it before anything else ended that."""
    with confined_in(tier) as confined:
        confined.server.call("session_info", session_id="s", config={"memory_max": 60 * MIB})
        code = f"import os, resource, time\nresource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))\n{HELD[kind]}"
        result = confined.server.cell(f"{code}time.sleep(10**6)")
        assert result.state in ("interrupted", "died") and "(memory_max)" in "".join(result.texts), result.texts


@pytest.mark.parametrize("tier", TIERS)
def test_tables_of_pages_count_as_memory(tier):
    """Security 5: what is only read is no process's memory, but a table of 4 KB for each 2 MB. 100 MB of them."""
    with confined_in(tier) as confined:
        confined.server.call("session_info", session_id="s", config={"memory_max": 64 * MIB})
        result = confined.server.cell("import mmap, time\nm = mmap.mmap(-1, 1 << 40, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)\n"
                                      "m.madvise(15)\nfor i in range(25000): m[i << 21]\nprint('read', flush=True)\ntime.sleep(10**6)")
        assert result.state in ("interrupted", "died") and "(memory_max)" in "".join(result.texts), result.texts


@pytest.mark.parametrize("tier", TIERS)
def test_descriptors_on_their_way_are_few(tier):
    """Security 7: a thousand of them, and no program of the user can pass any."""
    code = ("import os, socket, time\npairs = [socket.socketpair() for _ in range({0})]\nfds = list(range(3)) * 60\n"
            "for a, b in pairs: socket.send_fds(a, [b'x'], fds)\n{1}")
    with confined_in(tier) as confined:
        assert confined.server.cell(code.format(2, "time.sleep(2); 'few'")).text == "'few'\n"
        result = confined.server.cell(code.format(4, "time.sleep(10**6)"))
        assert result.state == "died"
        assert "descriptors on their way through sockets, more than the limit of 500" in "".join(result.texts), result.texts


def test_processor_time_is_counted_over_all_processes_of_a_session(home):
    with Server(home, env=ALONE) as server:
        def says_where():
            """It has 100 ms for that, which may be too few on a busy machine."""
            server.call("destroy_session", session_id="s")  # of the attempt before
            server.call("session_info", session_id="s", config={"cpu_max": 1})
            result = server.cell("import os\nfor _ in range(3):\n  if os.fork() == 0:\n    while True: pass\n"
                                 "import time; time.sleep(10**6)")
            assert result.state == "interrupted" and "more than the limit of 1 s (cpu_max)" in result.text
            return 'File "<cell 1>", line 5' in result.text
        until(says_where)
        until(lambda: server.cell("os.getpid() > 0").text.startswith("True\n"))  # it may save what it has
        deaf = server.cell("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass")
        assert deaf.state == "died" and "more than the limit of 1 s (cpu_max)" in deaf.text
        until(lambda: len(family(server.process.pid)) <= 3)


def test_processor_time_of_children_that_nobody_waits_for_is_counted(home):
    """Security 13: the kernel adds a child's time to who waits for it, and each of these has less than the limit."""
    code = ("import os, signal, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nwhile True:\n  if os.fork() == 0:\n"
            "    while time.process_time() < 0.9: pass\n    os._exit(0)\n  try: os.wait()\n  except ChildProcessError: pass")
    with Server(home, env=ALONE) as server:
        server.call("session_info", session_id="s", config={"cpu_max": 2})
        result = server.cell(code)
        assert result.state in ("interrupted", "died") and "more than the limit of 2 s (cpu_max)" in result.text


def test_limits_of_the_whole_sandbox_hold_from_the_first_cell_on(small):
    small.cell("1")
    refused = small.call("session_info", session_id="s", config={"processes_max": 20})
    assert refused.is_error and "processes_max holds for a session from its first cell on; this one has 40" in refused.texts[0]
    assert not small.call("session_info", session_id="s", config={"disk_max": 30 * MIB}).is_error


def test_a_session_cannot_raise_what_the_server_allows(home):
    with Server(home, "--processes-max", "30") as server:
        told = server.call("session_info", session_id="s", config={"processes_max": 9000, "tmp_max": 1}).object
        assert told["effective_config"]["processes_max"] == 30
        assert told["effective_config"]["tmp_max"] == MIB


def test_a_full_disk_is_told_as_one(home):
    """Of a file system that can have 400 files, which is easier to fill than one that has few bytes."""
    (home / "cache").mkdir(mode=0o700)
    command = own_mounts('mount -t tmpfs -o size=500m,nr_inodes=400,mode=700 none "$0" && exec "$@"', [str(home / "cache")],
                         [str(BUILD / "ptycell")])
    with Server(home, command=command) as server:
        server.call("session_info", session_id="s", config={"tmp_max": 4 * MIB})
        result = server.cell("for i in range(1000): open(f'f{i}', 'w')")
        assert result.cell["error_name"] == "OSError"
        assert "The disk that holds the session's folder is full, or can have no more files." in result.text
        assert "tmp_max" not in result.text
        server.cell("import os\nfor i in range(1000):\n    if os.path.exists(f'f{i}'): os.remove(f'f{i}')")
        full = server.cell("open('/tmp/x', 'wb').write(bytes(9 << 20))")
        assert "(tmp_max)" in full.text

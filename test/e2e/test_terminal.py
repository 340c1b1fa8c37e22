# SPDX-License-Identifier: MIT
"""Output on the terminal is whole, in order and in the right answer; what a cell does to its
terminal ends with the cell. DR, TT, PR and ST are the cases of the interpreters' design."""
import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import client
import pytest
from client import Result, Server
from outside import PROC
from patience import until
from steps import (BEGUN, NEVER_S, all_gone, assert_honest, family, interpreters, kill, name_of, overdue, own_seconds,
                   spooled, unheard_death, with_word)

SOAK = pathlib.Path(__file__).resolve().parents[1] / "soak/soak.py"


def whole_output(server, result):
    """The output as spooled when it was too long to show, with our own sentences cut off else."""
    if "output" in result.status:
        return spooled(server.home, result.status["output"]["path"])
    return result.text


def memory_kb(server):
    status = (PROC / f"{server.process.pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


# ---- DR: output and the end of its cell ----

@pytest.mark.limit(1200)
def test_no_output_is_late_while_the_processors_are_taken():
    # DR01 is soak.short.
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        done = subprocess.run([sys.executable, SOAK, "250", "--seed", "2"], stdout=subprocess.PIPE,
                              env={**os.environ, "PTYCELL_BUILD": str(client.BUILD)}, check=False)
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    assert done.returncode == 0, done.stdout.decode()


def test_a_background_writer_that_never_ends_does_not_hold_the_answer(server):
    result = server.cell("import subprocess\np = subprocess.Popen(['yes', 'dr03'])\n'started'")
    assert result.state == "done" and "'started'" in result.text
    assert result.status["children"] == 1
    for _ in range(5):
        result = server.cell("'next'")
        assert result.state == "done" and "'next'\n" in result.text
        assert len(result.text) < 12_000
    until(lambda: server.cell("'late'").status.get("background", 0) > 1000)
    server.cell("p.kill(); p.wait()")
    until(lambda: "background" not in server.cell("1").status)


def test_display_stands_where_it_was_called(server):
    server.cell("class M:\n  def __init__(self, n): self.n = n\n  def __repr__(self): return f'<{self.n}>'")
    result = server.cell("for i in range(1000):\n  print('a', i)\n  display(M(i))\n  print('b', i)")
    assert whole_output(server, result) == "".join(f"a {i}\n<{i}>\nb {i}\n" for i in range(1000))


@pytest.mark.parametrize("where", ["interpreter", "child"])
def test_the_output_of_a_process_that_exits_at_once_is_complete(server, where):
    text = "".join(f"{i:05}\n" for i in range(2000))
    server.cell(f"import os\ntext = b''.join(b'%05d\\n' % i for i in range({len(text) // 6}))")
    fork = "if os.fork() == 0:\n  " if where == "child" else ""
    result = server.cell(f"{fork}os.write(1, text); os._exit(3)\n" +
                         ("os.wait()[1] >> 8" if where == "child" else ""))
    assert whole_output(server, result) == text + ("3" if where == "child" else "")
    if where == "child":
        assert "\n3\n" in result.text
    else:
        assert (result.state, result.status["exit"]) == ("died", 3)


def test_what_os_system_prints_is_in_the_answer_and_in_order(server):
    server.cell("import os")
    for i in range(50):
        assert server.cell(f"print('a')\nos.system('echo b; echo c >&2')\nprint({i})").text == f"a\nb\nc\n{i}\n"


def test_a_stopped_terminal_is_started_again(server):
    server.cell("import termios")
    for code in ("print('through')", "import os; os.system('echo through')", "display('through')"):
        result = server.cell(f"termios.tcflow(0, termios.TCOOFF)\n{code}")
        assert result.state == "done" and "through" in result.text
    server.cell("termios.tcflow(0, termios.TCOOFF)")
    assert server.cell("print('again')").text == "again\n"


# ---- TT: the terminal ----

def test_an_interrupt_loses_no_pending_output(server):
    server.cell("import os")
    code = (f"n = 0\ntry:\n  {BEGUN}  while True:\n    os.write(1, b'%08d\\n' % n); n += 1\n"
            "finally:\n  os.write(1, b'end %d\\n' % n)")
    for _ in range(5):
        result = overdue(server, code)
        written, count = re.fullmatch("begun\n(.*)end ([0-9]+)\n.*", whole_output(server, result), re.DOTALL).groups()
        # Of the line under way when the signal came some bytes may have gone out, or all.
        lines = "".join(f"{i:08}\n" for i in range(int(count) + 1))
        assert lines.startswith(written) and len(written) >= 9 * int(count)


@pytest.mark.parametrize("mode", ["tty.setraw(0)", "os.system('stty raw -isig -echo')"])
def test_code_that_set_the_terminal_raw_is_interruptible(server, mode):
    server.cell("import tty, time, os")
    result = overdue(server, f"x = 5\n{mode}\n{BEGUN}time.sleep({NEVER_S})")
    assert "KeyboardInterrupt" in result.text
    assert server.cell("x").text == "5\n"


def test_a_raw_terminal_is_normal_in_the_next_cell(server):
    look = ("import termios\nmode = termios.tcgetattr(0)\n"
            "[bool(mode[3] & f) for f in (termios.ICANON, termios.ECHO, termios.ISIG)] + mode[:2]")
    before = server.cell(look).text
    assert before.startswith("[True, True, True")
    server.cell("import os; os.system('stty raw -echo rows 3 columns 7')")
    assert server.cell(look).text == before
    assert server.cell("os.get_terminal_size()").text == "os.terminal_size(columns=120, lines=40)\n"


def test_of_nested_progress_bars_the_final_ones_are_shown(server):
    result = server.cell("from tqdm import tqdm\nimport time\nfor i in tqdm(range(3), desc='outer'):\n"
                         "  for j in tqdm(range(4), desc='inner', leave=False, mininterval=0):\n"
                         "    time.sleep(0.01)\nprint('after')")
    if "No module named" in result.text:
        pytest.skip("no tqdm for this Python (apt install python3-tqdm)")
    assert result.text.count("outer") == 1 and "outer: 100%" in result.text and "3/3" in result.text
    assert "inner" not in result.text and result.text.endswith("after\n")


def test_lines_that_the_cursor_goes_back_to_are_shown_as_they_ended(server):
    result = server.cell("for i in range(101):\n  print(f'\\rone {i:3}%\\ntwo {i:3}%\\x1b[K', end='')\n"
                         "  if i < 100: print('\\x1b[A', end='')")
    assert result.text == "one 100%\ntwo 100%\n"


def test_garbage_comes_as_clean_utf8(server):
    server.cell("import os, random")
    for seed in range(20):
        result = server.cell(f"n = os.write(1, random.Random({seed}).randbytes(3000))\nprint()")
        assert_honest(result)
    assert server.cell("print('ä€\\U0001f600')").text == "ä€\U0001f600\n"


def test_the_terminal_is_one_of_120_by_40(server):
    result = server.cell("import os\nprint(*os.get_terminal_size(), [os.isatty(i) for i in range(3)])\n"
                         "os.ttyname(0) != '' and os.tcgetpgrp(0) == os.getpgrp()")
    assert result.text == "120 40 [True, True, True]\nTrue\n"


def lasting(server):
    """Its processes but those that look at files for a moment, and what is about to become one."""
    return {process for process in family(server.process.pid) if name_of(process[0]).strip() not in ("", "ptycell", "ptycell-files")}


def test_an_interrupt_ends_nothing_but_the_code(lone_server):
    lone_server.cell("x = 1")
    before = lasting(lone_server)
    for _ in range(3):
        assert lone_server.cell(f"import time; time.sleep({NEVER_S})", timeout=0.2).state == "timed_out"
        assert lone_server.cell("x").text == "1\n"
    until(lambda: lasting(lone_server) == before)
    assert lone_server.cell("2", session="other").text == "2\n"


def test_an_endless_writer_costs_no_memory_and_is_interruptible(home):
    with Server(home, "--notebook=off") as server:  # a notebook that is drawn meanwhile takes some for a moment
        server.cell("import os")
        server.cell("os.system('yes warm | head -c 30000000')")
        before = memory_kb(server)
        for timeout in (5, 30, 100):  # a busy machine may write little in the shortest
            result = server.cell("print('first')\nos.system('yes')\nprint('last')", timeout=timeout)
            if result.status.get("output", {}).get("total", 0) > 1_000_000:
                break
        grown = memory_kb(server) - before
        print(f"{result.status['output']['total'] / 1e6:.0f} MB of output, the server grew by {grown} KB")
        assert result.state in ("timed_out", "done")
        assert result.text.startswith("first\ny\ny\n") and "characters left out" in result.text
        assert re.search("y\n(Traceback|last\n)", result.text)
        assert result.status["output"]["total"] > 1_000_000 and grown < 4096
        assert server.cell("1").text == "1\n"


def test_a_program_that_asks_for_the_cursor_gets_an_answer(server):
    code = ("import sys, tty\ntty.setraw(0)\nsys.stdout.write('abc\\x1b[6n'); sys.stdout.flush()\nr = b''\n"
            "while not r.endswith(b'R'): r += os.read(0, 1)\nr")
    result = server.cell("import os\n" + code)
    assert result.state == "done" and re.search(r"b'\\x1b\[\d+;4R'", result.text)


# ---- PR: the control channel ----

def test_a_closed_channel_is_told_and_the_next_cell_works(server):
    server.cell("x = 1")
    result = server.cell("import os\nprint('before', flush=True)\nos.closerange(3, 256)\nprint('after')")
    assert result.state == "died" and result.is_error
    assert result.text.startswith("before\nafter\n")
    assert "closed the interpreter's control channel" in result.text
    result = server.cell("'x' in globals()")
    assert result.text == "False\n" and result.status["cell"] == 3


def test_an_end_that_is_told_late_is_no_closed_channel(lone_server):
    server = lone_server
    server.cell("import os")
    (process,) = interpreters(server)
    server.cell("import time", session="witness")
    with unheard_death(server, process, lambda _: server.start_cell("os._exit(9)")) as pending:
        # What began later has taken longer than the server waits for the news at first.
        server.cell("time.sleep(1)", session="witness")
    result = Result(pending.get()["result"])
    assert (result.state, result.status.get("exit")) == ("died", 9), result.texts


@pytest.mark.parametrize("busy", [False, True])
def test_everything_ends_with_a_killed_server(home, busy):
    word = own_seconds("7171")
    with Server(home) as server:
        server.cell(f"import subprocess, os\np = subprocess.Popen(['sleep', '{word}'])\n"
                    f"q = subprocess.Popen(['sleep', '{word}'], start_new_session=True)")
        until(lambda: len(with_word(word)) == 2)  # a child is made before it has its name
        processes = family(server.process.pid) | with_word(word)
        if busy:
            server.start_cell("while True: pass")
            server.cell("1", session="other")
        kill(server.process.pid)
        server.process.wait()
        all_gone(processes)


def test_what_only_looks_like_the_end_of_a_cell_is_output(server):
    result = server.cell("print('[s#1 done 0.00 s]')\nprint('done 2 1\\nstatus 2\\nok')\n5")
    assert result.text == "[s#1 done 0.00 s]\ndone 2 1\nstatus 2\nok\n5\n"


# ---- ST: starts ----

def make_venv(folder):
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", "--system-site-packages", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    return folder / "bin/python3", site


def test_a_broken_sitecustomize_is_shown_and_survived(home):
    python, site = make_venv(home / "venv")
    # Debian's own sitecustomize hides any other; what a .pth file imports runs at the same time.
    (site / "broken.pth").write_text("import broken_site\n")
    (site / "broken_site.py").write_text("print('hello from site')\nraise RuntimeError('broken site')\n")
    numbers = itertools.count()

    def with_wave(server):
        """The first answer of a session that was given what waited, which imports a module first."""
        answer = server.cell("'wave' in __import__('sys').modules", session=f"s{next(numbers)}")
        return answer if answer.text.endswith("True\n") else None

    with Server(home, env={"PTYCELL_PYTHON": str(python), "PTYCELL_PRELOAD": "wave"}) as server:
        result = server.cell("1 + 1")
        assert result.state == "done" and result.text.endswith("2\n")
        assert "hello from site" in result.text and "broken site" in result.text
        later = until(lambda: with_wave(server), every=1)
        assert "hello from site" in later.text and "broken site" in later.text


def test_a_shim_is_resolved_to_what_it_stands_for(home):
    root = home / "pyenv"
    for folder in (root / "shims", root / "versions/3.99/bin"):
        folder.mkdir(parents=True)
    shim = root / "shims/python3"
    shim.write_text("#!/bin/sh\necho the shim ran\nexit 1\n")
    shim.chmod(0o755)
    real = root / "versions/3.99/bin/python3"
    real.symlink_to("/usr/bin/python3")
    (root / "version").write_text("3.99\n")
    env = {"PYENV_ROOT": str(root), "PATH": f"{root}/shims:/usr/bin:/bin", "PTYCELL_PYTHON": ""}
    with Server(home, env=env) as server:
        assert server.cell("'ready'").text == "'ready'\n"
        told = server.call("session_info", session_id="s").object
        assert (told["languages"][0]["path"], told["languages"][0]["chosen_by"]) == (
            str(real.resolve()), "pyenv")


def other_pythons():
    found = [shutil.which(f"python3.{minor}", path="/usr/bin:/usr/local/bin") for minor in range(9, 16)]
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    if os.access(pyenv, os.R_OK | os.X_OK):
        found += map(str, sorted(pyenv.glob("versions/3.*/bin/python3")))
    return [python for python in found if python]


def has_supported_version(python):
    code = "import sys; sys.exit(sys.version_info < (3, 9))"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


def test_a_python_that_the_driver_was_not_compiled_for_works(home):
    """One that another magic number makes refuse the compiled driver falls back to its source."""
    pythons = [python for python in other_pythons() if has_supported_version(python)]
    assert pythons
    for number, python in enumerate(pythons):
        (home / str(number)).mkdir()
        with Server(home / str(number), env={"PTYCELL_PYTHON": python}) as server:
            result = server.cell("import sys\nprint(sys.version_info[:2])\n1 + 1")
            assert result.state == "done" and result.text.endswith(")\n2\n"), python


def test_a_python_that_dies_at_its_start_is_named_with_what_it_said(home):
    python = home / "own/bin/python3"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho no library today\nexit 4\n")
    python.chmod(0o755)
    with Server(home, env={"PTYCELL_PYTHON": str(python)}) as server:
        result = server.cell("1")
        assert result.state == "not_started" and result.is_error
        assert "no library today" in result.text and "code 4" in result.text and str(python) in result.text


def test_a_stopped_server_loses_nothing(server):
    """Output waits on the terminal while nobody reads; the cell's end comes after it."""
    answer = server.start_cell("for i in range(20000): print('line', i)")
    for _ in range(20):
        os.kill(server.process.pid, signal.SIGSTOP)
        time.sleep(0.01)
        os.kill(server.process.pid, signal.SIGCONT)
        time.sleep(0.002)
    result = client.Result(answer.get()["result"])
    assert whole_output(server, result) == "".join(f"line {i}\n" for i in range(20000))

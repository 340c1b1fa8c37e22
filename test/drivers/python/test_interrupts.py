# SPDX-License-Identifier: MIT
"""Interrupts, async cells, background work."""
import os
import pathlib
import random
import re
import signal
import time

import pytest

from harness import Died
from patience import until


def test_await_and_asyncio_run(session):
    assert session.run("import asyncio\nawait asyncio.sleep(.01); 42").value == "42"
    assert session.run('asyncio.run(asyncio.sleep(0, "r"))').value == "'r'"
    assert session.run("await asyncio.sleep(0, 'again')").value == "'again'"


def test_tasks_run_between_cells(session):
    code = "import asyncio\nasync def f():\n  for i in range(4):\n    await asyncio.sleep(.05); print('bg', i)\nt = asyncio.create_task(f())"
    result = session.run(code)
    assert result.status == "ok"
    output = session.read_until("bg 3\n")
    assert [line for line in output.split("\n") if line] == ["bg 0", "bg 1", "bg 2", "bg 3"]
    assert session.run("t.done()").value == "True"


def test_a_server_of_the_loop_lives_between_cells(session):
    session.run(
        "import asyncio\nasync def h(r, w):\n  w.write(b'pong'); await w.drain(); w.close()\n"
        "s = await asyncio.start_unix_server(h, 'sock')"
    )
    path = session.run("import os; os.path.abspath('sock')").value.strip("'")
    import socket

    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(200)
        client.connect(path)
        assert client.recv(10) == b"pong"


def test_interrupted_await_runs_finally(session):
    session.run("import asyncio")
    code = "try:\n  print('begun', flush=True)\n  await asyncio.sleep(10**6)\nfinally:\n  print('cleanup')"
    result = session.run_interrupted(code, seen="begun")
    assert result.status == "interrupted" and "cleanup" in result.output
    assert session.run("1").value == "1"


@pytest.mark.parametrize("end, status", [
    ("loop.stop()", "error"),
    ("loop.call_soon(sys.exit, 'away')", "exit"),
    ("signal.signal(signal.SIGALRM, ring); signal.setitimer(signal.ITIMER_REAL, 0.01)", "error"),
])
def test_a_cell_that_its_loop_left_does_not_go_on_in_the_next(session, end, status):
    session.run("import asyncio, signal, sys\ndef ring(*_): raise OverflowError('rung')\n"
                "await asyncio.sleep(0)\nfree = asyncio.Event()")
    result = session.run(
        f"loop = asyncio.get_running_loop()\ntry:\n  {end}\n"
        "  await free.wait()\n  print('went on')\nfinally:\n  print('cleanup')")
    assert result.status == status and "cleanup" in result.output
    result = session.run("free.set()\nawait asyncio.sleep(0.01)\n'next'")
    assert result.value == "'next'" and "went on" not in result.output


def test_a_stop_of_the_loop_that_came_late_ends_no_later_cell(session):
    session.run("import asyncio")
    for stop in ("asyncio.get_running_loop().stop()", "asyncio.get_event_loop().stop()"):
        assert session.run(stop).status == "ok"
        result = session.run("await asyncio.sleep(0.01)\n'next'")
        assert result.value == "'next'", (stop, result)


def test_an_interrupt_that_overtakes_its_cell_ends_it(session):
    session.run("1")
    for _ in range(20):
        ident = session.ident + 1
        os.kill(session.pid, signal.SIGSTOP)
        session.start("print('ran')\nwhile True: pass")
        session.send("interrupt", ident)
        session.interrupt()
        os.kill(session.pid, signal.SIGCONT)
        assert session.finish().status == "interrupted"
    assert session.run("7").value == "7"


def test_an_interrupt_of_a_first_cell_may_come_while_the_driver_loads(start):
    for _ in range(8):
        session = start()
        session.start("while True: pass")
        session.send("interrupt", session.ident)
        session.interrupt()
        assert session.finish(20).status == "interrupted"


def test_an_interrupt_for_the_last_cell_spares_the_next(session):
    for _ in range(20):
        session.run("1")
        session.send("interrupt", session.ident)
        session.interrupt()
        assert session.run("2").value == "2"


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time; time.sleep(10**6)",
        "input('n? ')",
        "import threading; threading.Event().wait()",
        "import subprocess; subprocess.run(['sleep', '1000000'])",
        "import re; re.match(r'(a+)+$', 'a'*40 + 'b')",
        "10**(10**8)",
        "import asyncio\nawait asyncio.sleep(0)\nwhile True: pass",
        "import asyncio\nasync def f():\n  while True: pass\nawait asyncio.create_task(f())",
        "!sleep 1000000",
        "%%time\nwhile True: pass",
    ],
)
def test_what_an_interrupt_stops(session, code):
    session.run("x = 5")
    result = session.run_interrupted(code)
    assert result.status == "interrupted"
    assert "ptycell" not in result.done["traceback"]
    assert session.run("x").value == "5"


def await_install(session):
    asked = session.next_frame()
    assert (asked.kind, asked["packages"]) == ("install", "some")


def test_an_interrupt_ends_the_wait_for_packages(session):
    session.run("x = 41")
    session.start("%pip install some")
    await_install(session)
    session.interrupt()
    result = session.finish()
    assert result.status == "interrupted" and "ptycell" not in result.done["traceback"]
    session.send("installed", session.ident, [("ok", "1"), ("text", "late"), ("packages", "")])
    assert session.run("x + 1").value == "42"


def test_a_cell_that_goes_on_asks_again_after_the_answer_to_its_first_question(session):
    session.start("try:\n    %pip install some\nexcept KeyboardInterrupt:\n    print('on')\n%pip install some")
    await_install(session)
    session.interrupt()
    with pytest.raises(TimeoutError):
        session.next_frame(0.3)
    session.send("installed", session.ident, [("ok", "1"), ("text", "first"), ("packages", "")])
    await_install(session)
    session.send("installed", session.ident, [("ok", "1"), ("text", "second"), ("packages", "")])
    result = session.finish()
    assert result.status == "ok" and "on\n" in result.output and "second" in result.output and "first" not in result.output


def test_the_answer_to_an_interrupted_question_may_come_while_another_is_awaited(session):
    session.start("try:\n    %pip install some\nexcept KeyboardInterrupt:\n    pass\ndisplay(1)\n%pip install some")
    await_install(session)
    session.interrupt()
    assert session.next_frame().kind == "display"
    session.send("installed", session.ident, [("ok", "1"), ("text", "first"), ("packages", "")])
    session.send("ack", session.ident)
    await_install(session)
    session.send("installed", session.ident, [("ok", "1"), ("text", "second"), ("packages", "")])
    assert "second" in session.finish().output


@pytest.mark.parametrize("line", ["!pip install some > /dev/null", "!pip install -q some >log", "x = !pip install some"])
def test_why_an_install_failed_is_told_where_errors_go(session, line):
    session.start(line)
    await_install(session)
    session.send("installed", session.ident, [("ok", "0"), ("text", "there is none"), ("packages", "")])
    assert "there is none" in session.finish().output
    assert session.run("_exit_code").value == "1"


def test_a_comment_behind_an_install_is_one(session):
    session.start("!pip install some  # version > 2")
    await_install(session)
    session.send("installed", session.ident, [("ok", "1"), ("text", "told"), ("packages", "")])
    assert "told" in session.finish().output and session.run("import os; os.path.exists('2')").value == "False"


@pytest.mark.parametrize("ask", ["breakpoint()", "import pdb; pdb.set_trace()\ny = 1"])
def test_an_interrupt_at_a_debuggers_prompt_ends_the_cell_and_keeps_its_state(session, ask):
    result = session.run_interrupted("x = 41\n" + ask, seen="(Pdb)")
    assert result.status == "interrupted" and "(Pdb)" in result.output
    assert session.run("x + 1").value == "42"


@pytest.mark.parametrize("cell", ["x = 1\nbreakpoint()\ny = 2", "import asyncio\nawait asyncio.sleep(0)\nbreakpoint()\ny = 2"])
def test_who_steps_behind_the_end_of_a_cell_has_left_the_debugger(session, cell):
    session.start(cell)
    session.read_until("(Pdb) ")
    os.write(session.master, b"n\n" * 4)
    result = session.finish()
    assert result.status == "ok" and "ptycell" not in result.output
    assert session.run("x = y + 1\nx").value == "3"


def test_a_stack_dump_names_the_line_of_an_uninterruptible_call(session):
    def hangs():
        """Until the interrupt comes while the call is under way, and not before it: to be told takes far less than that."""
        session.start("def hang():\n    return sum(range(10**13))\nprint('begun', flush=True); hang()")
        session.read_until("begun")
        session.interrupt()
        used = session.processor_seconds()
        while session.processor_seconds() - used < 1:
            try:
                session.finish(0.1)
                return False
            except TimeoutError:
                pass
        return True

    until(hangs)
    os.kill(session.pid, signal.SIGUSR2)
    assert f'"<cell {session.ident}>", line 2 in hang' in session.read_until("in hang\n")
    os.kill(session.pid, signal.SIGTERM)
    with pytest.raises(Died) as died:
        session.finish()
    assert os.WTERMSIG(died.value.status) == signal.SIGTERM


# clock_nanosleep(), select() and pselect6() of x86-64, and the first and last of arm64.
SLEEPS = ("230", "23", "270", "115", "72")


def test_an_interrupt_that_ended_no_system_call_is_noticed_at_the_wake_signal(session):
    """So it is when it comes just before the call; here another thread receives it."""
    code = ("import signal, threading, time\nthreading.Thread(target=time.sleep, args=(10**6,), daemon=True).start()\n"
            "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\nprint('begun', flush=True); time.sleep(10**6)")
    session.start(code)
    session.read_until("begun")
    task = pathlib.Path(f"/proc/{session.pid}/task/{session.pid}")
    until(lambda: (task / "syscall").read_text(encoding="ascii").split()[0] in SLEEPS)
    session.interrupt()
    until(lambda: not int(re.search(r"ShdPnd:\s*(\w+)", (task / "status").read_text(encoding="ascii"))[1], 16) & 1 << signal.SIGINT - 1)
    assert (task / "syscall").read_text(encoding="ascii").split()[0] in SLEEPS
    os.kill(session.pid, signal.SIGURG)
    assert session.finish().status == "interrupted"


def test_the_wake_signal_interrupts_nothing(session):
    session.start("import time\nprint('begun', flush=True); time.sleep(0.3); 42")
    session.read_until("begun")
    os.kill(session.pid, signal.SIGURG)
    assert session.finish().value == "42"


def test_code_that_swallows_interrupts_runs_on(session):
    code = ("import time\nn = 0\nwhile True:\n  try:\n    print('try', n, flush=True); time.sleep(10**6)\n"
            "  except KeyboardInterrupt: n += 1")
    session.start(code)
    for n in range(3):
        session.read_until(f"try {n}\n")
        session.interrupt()
    assert session.read_until("try 3\n") == "".join(f"try {n}\n" for n in range(4))
    with pytest.raises(TimeoutError):
        session.next_frame(0)


def test_each_cell_can_be_interrupted_again(session):
    session.run("import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN)")
    assert session.run_interrupted("time.sleep(10**6)").status == "interrupted"


def test_an_interrupt_between_cells_is_dropped(session):
    session.interrupt()
    time.sleep(0.05)
    session.run("import signal; signal.signal(signal.SIGINT, signal.SIG_DFL)")
    session.interrupt()
    time.sleep(0.05)
    result = session.run("2")
    assert result.value == "2" and result.output == ""


FUZZ = [
    "x=1",
    "print('a'*300)",
    "for i in range(20000): pass",
    "[print(i) for i in range(30)]",
    "import time; time.sleep(0.002)",
    "'v'*5000",
    "try:\n  for i in range(10**5): pass\nexcept KeyboardInterrupt: y=1",
    "display('a'); display('b')",
    "1/0",
    "def f(: pass",
    "await __import__('asyncio').sleep(0.001)",
]


@pytest.mark.limit(1800)
def test_random_interrupts_lose_no_answer(session):
    chance = random.Random(21)
    statuses = set()
    session.run("import asyncio, traceback")
    for _ in range(1500):
        session.start(chance.choice(FUZZ))
        for _ in range(chance.randint(1, 3)):
            until = time.perf_counter() + chance.random() * 0.0015
            while time.perf_counter() < until:
                pass
            session.interrupt()
        statuses.add(session.finish().status)
        result = session.run("1")
        assert (result.status, result.value) == ("ok", "1"), result
    assert statuses == {"ok", "error", "interrupted"}


def test_an_exception_of_a_signal_handler_between_cells_is_survived(session):
    session.run("import signal\ndef h(*a): raise TimeoutError('late')\nsignal.signal(signal.SIGALRM, h)")
    os.kill(session.pid, signal.SIGALRM)
    assert "TimeoutError: late" in session.read_until("TimeoutError: late")
    assert session.run("1").value == "1"


def test_an_exception_of_a_signal_handler_at_the_end_of_a_cell_is_survived(session):
    """Wherever it comes, in the code, in the driver or between cells: the cell is answered."""
    session.run("import signal\ndef h(*a): raise TimeoutError('late')\nsignal.signal(signal.SIGALRM, h)")
    chance = random.Random(1)
    for _ in range(1000):
        result = session.run(f"_ = signal.setitimer(signal.ITIMER_REAL, {1e-6 + chance.random() * 2e-4})")
        assert result.status in ("ok", "error"), result
    session.run("_ = signal.setitimer(signal.ITIMER_REAL, 0)")
    assert session.run("1").value == "1"


def test_children_are_counted(session):
    assert "children" not in session.run("1").done
    result = session.run("import subprocess; p = subprocess.Popen(['sleep', '1000'])")
    assert result.done["children"] == "1"
    assert "children" not in session.run("p.kill(); p.wait()").done


def test_a_thread_may_display(session):
    code = "import threading\nt = threading.Thread(target=lambda: display('from thread')); t.start(); t.join()"
    assert session.run(code).displays[0]["text/plain"] == "'from thread'"


def test_a_task_that_displays_between_cells_is_shown_by_the_next(session):
    session.run("import asyncio\nasync def f():\n  await asyncio.sleep(.05); display('later'); print('shown')\nt = asyncio.create_task(f())")
    session.read_until("shown")
    assert [f["text/plain"] for f in session.run("1").displays] == ["'later'"]


def test_exit_inside_an_async_cell(session):
    assert session.run("import asyncio, sys\nawait asyncio.sleep(0)\nsys.exit(4)").done["code"] == "4"
    assert session.run("await asyncio.sleep(0, 1)").value == "1"


def test_a_loop_that_fails_for_ever_does_not_spin(session):
    code = "import asyncio\nloop = asyncio.get_running_loop()\ndef again():\n  loop.call_soon(again); raise SystemExit\nloop.call_soon(again)"
    session.run(code)
    session.read_output(0.3)
    assert session.run("1").value == "1"


def test_a_finalizer_may_display(session):
    code = (
        "import gc\nclass F:\n  def __init__(self): self.me = self\n  def __del__(self): display('gone')\n"
        "gc.set_threshold(1)\nfor i in range(20):\n  F()\n  display({'text/html': 'x' * 10**6}, raw=True)\n"
        "gc.set_threshold(700)"
    )
    result = session.run(code)
    gone = [frame for frame in result.displays if frame.get("text/plain") == "'gone'"]
    assert result.status == "ok" and len(result.displays) == 20 + len(gone) and len(gone) >= 10

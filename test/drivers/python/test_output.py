# SPDX-License-Identifier: MIT
"""What is printed comes in order, whichever way it takes; a flood of it comes in blocks."""
import re

import pytest

import harness

FLOOD = "for i in range(2000): print('flood', i, '.' * 60)\n"


def flooded(text):
    """The text without the flood's own lines, which have to be whole and in order."""
    want = ["flood %d %s" % (i, "." * 60) for i in range(2000)]
    lines = text.split("\n")
    assert [line for line in lines if line.startswith("flood ")] == want
    return "|".join(line for line in lines if not line.startswith("flood ")).strip("|")


def test_streams_are_what_they_are_on_a_terminal(session):
    code = """import sys, io
s = sys.stdout
print(s.isatty(), s.fileno(), s.encoding, s.name, s.mode, s.line_buffering, s.buffer.name, s.buffer.isatty())
print(type(s) is io.TextIOWrapper, s is sys.__stdout__, sys.stderr.fileno(), sys.stderr.errors)
s.buffer.write(b'bytes\\n')"""
    wanted = ["True 1 utf-8 <stdout> w True <stdout> True", "True True 2 backslashreplace", "bytes"]
    assert session.run(code).output.splitlines() == wanted


def test_a_flood_comes_in_blocks(session):
    assert flooded(session.run(FLOOD).output) == ""
    assert 0 < session.blocks < 40
    assert session.run("print('a')").output == "a\n" and session.blocks == 0


def test_a_large_write_is_whole(session):
    result = session.run("import sys; n = sys.stdout.write('x' * 3_000_001); print(n)")
    assert result.output == "x" * 3_000_001 + "3000001\n"


@pytest.mark.parametrize("code", [
    "import os; os.system('echo child')",
    "import subprocess; subprocess.run(['echo', 'child'])",
    "import os; _ = os.write(1, b'child\\n')",
    "import sys; _ = sys.stderr.write('child\\n')",
    "import sys; sys.stdout.flush(); import ctypes; _ = ctypes.CDLL(None).puts(b'child')",
    "import os\nif os.fork() == 0:\n  os.write(1, b'child\\n'); os._exit(0)\n_ = os.wait()",
    "import os; os.waitpid(os.posix_spawn('/bin/echo', ['echo', 'child'], os.environ), 0)[1] * 'x'",
    "import sys; _ = sys.__stdout__.buffer.write(b'child\\n')",
])
def test_order_is_exact_amid_a_flood(session, code):
    result = session.run(FLOOD + "print('before')\n" + code + "\nprint('after')\n" + "print('end')")
    assert flooded(result.output) == "before|child|after|end"


def test_a_thread_that_reads_c_stdin_holds_up_no_cell(session):
    """As one in input() does: C locks the stream meanwhile, and waited for it to flush all of them."""
    session.run("""import ctypes, threading
libc, locked = ctypes.CDLL(None), threading.Event()
def read():
    libc.flockfile(ctypes.c_void_p.in_dll(libc, 'stdin'))
    locked.set()
    threading.Event().wait()
threading.Thread(target=read, daemon=True).start()
_ = locked.wait(), libc.printf(b'printed')""")
    assert session.output.endswith(b"printed")
    assert session.run("6").value == "6"


def test_a_child_between_two_floods(session):
    result = session.run(FLOOD + "import os; os.system('echo child')\n" + FLOOD.replace("flood", "again"))
    lines = [line.split()[0] for line in result.output.splitlines()]
    assert lines == ["flood"] * 2000 + ["child"] + ["again"] * 2000


def test_figures_stand_at_their_place_amid_a_flood(session):
    result = session.run(FLOOD + "display('here')\nprint('after')")
    assert result.output[: result.displays[0].offset].endswith("flood 1999 " + "." * 60 + "\n")
    assert result.output[result.displays[0].offset :] == "after\n"


def test_input_ends_a_flood(session):
    session.start(FLOOD + "x = input('name? ')\nprint('hello', x)")
    while b"name? " not in session.output:
        with pytest.raises(TimeoutError):
            session.next_frame(0.2)
    import os

    os.write(session.master, b"you\n")
    assert session.finish().output.replace("you\r\n", "").replace("you\n", "", 1).endswith("hello you\n")


def test_what_was_printed_is_seen_while_the_cell_works_on(session):
    session.start(FLOOD + "print('working')\nimport threading; threading.Event().wait()")
    while b"working\n" not in session.output:
        with pytest.raises(TimeoutError):
            session.next_frame(0.1)
    session.interrupt()
    assert session.finish().status == "interrupted"


def test_an_interrupt_ends_an_endless_flood(session):
    for _ in range(5):
        result = session.run_interrupted("while True: print('flood')", after=0.2)
        assert result.status == "interrupted"
        assert set(result.output.split("\n")[:-1]) <= {"flood"}
    assert session.run("1+1").value == "2"


def test_a_handler_that_raises_tears_no_frame(session):
    code = """import signal
def ring(*_): raise TimeoutError
signal.signal(signal.SIGALRM, ring)
for i in range(40):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.003)
        while True: print('x' * 5000)
    except TimeoutError:
        pass
signal.setitimer(signal.ITIMER_REAL, 0)
'fine'"""
    assert session.run(code).value == "'fine'"
    assert session.run("print('a'); 2").value == "2"


@pytest.mark.parametrize("first", ["", FLOOD])
def test_threads_print_into_a_flood(session, first):
    code = first + """import threading
def work(n):
    for i in range(3000): print(f'{n}:{i}:' + '.' * 50 + '\\n', end='')
threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
for t in threads: t.start()
work(3)
for t in threads: t.join()"""
    lines = session.run(code).output.split("\n")
    for n in range(4):
        own = [line.split(":")[1] for line in lines if line.startswith("%d:" % n)]
        assert own == [str(i) for i in range(3000)]


def test_a_redirected_descriptor_takes_the_flood(session, tmp_path):
    code = """import os, sys
saved = os.dup(1)
sys.stdout.flush(); fd = os.open('all.txt', os.O_WRONLY | os.O_CREAT); os.dup2(fd, 1)
""" + FLOOD + """sys.stdout.flush(); os.dup2(saved, 1)
print('back')"""
    assert session.run(code).output.splitlines()[-1] == "back"
    assert flooded((tmp_path / "all.txt").read_text()) == ""


@pytest.mark.parametrize("change", [
    "os.system = functools.partial(os.system)",
    "os.write = None",
    "del os.posix_spawn",
    "os.system = unittest.mock.Mock()",
])
def test_functions_that_code_has_replaced_stay_so_in_a_flood(session, change):
    code = "import os, functools, unittest.mock\n" + change + "\nhave = dict(vars(os))\n" + FLOOD
    assert flooded(session.run(code).output) == ""
    assert session.run("vars(os) == have").value == "True"


def test_a_handler_that_raises_as_a_flood_begins_undoes_it(session):
    """Each of the calls that begin one, in turn, is where the handler raises."""
    code = """import sys
flood = type(sys.stdout.buffer).put_out.__globals__['bulk']
for name in ('_keep_room', '_start_ticks', '_watch'):
    original = getattr(flood, name)
    def fail(*arguments):
        original(*arguments)
        raise TimeoutError
    setattr(flood, name, fail)
    try:
        for i in range(2000): print('flood', i, '.' * 60)
    except TimeoutError:
        print(name)
    setattr(flood, name, original)
"""
    assert session.run(code).output.count("\n_") == 3
    assert flooded(session.run(FLOOD).output) == "" and session.blocks > 0


@pytest.mark.parametrize("end", ["' '", "'\\n'"])
def test_nothing_that_threads_print_is_lost(session, end):
    code = """import sys, threading
sys.setswitchinterval(1e-5)
def work(k):
    for i in range(3000): print('t%%d-%%d' %% (k, i), end=%s)
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
for t in threads: t.start()
for t in threads: t.join()""" % end
    for _ in range(3):
        found = re.findall(r"t(\d)-(\d+)|(.)", session.run(code).output, re.S)  # an end may stand behind another text
        for k in range(4):
            assert [i for thread, i, _ in found if thread == str(k)] == [str(i) for i in range(3000)]
        assert sum(1 for _, _, end in found if end) == 12000


def test_what_a_tracing_function_prints_amid_a_print_is_not_lost(session):
    """It stands for signal handlers and finalizers, which come between any two steps of the stream."""
    code = """import sys
told = 0
def trace(frame, event, argument):
    global told
    if frame.f_code.co_filename == '<cell 1>': return
    sys.setprofile(None)
    print('<%d>' % told, end=' ')
    told += 1
    sys.setprofile(trace)
sys.setprofile(trace)
for i in range(3000): print('[%d]' % i, end=' ')
sys.setprofile(None)
print(told)"""
    output = session.run(code).output
    assert re.findall(r"\[(\d+)\]", output) == [str(i) for i in range(3000)]
    told = int(output.split()[-1])
    assert sorted(map(int, re.findall(r"<(\d+)>", output))) == list(range(told)) and told > 3000


@pytest.mark.parametrize("end", [
    "import os; os.execvp('echo', ['echo', 'last'])",
    "import os; os.execv('/bin/echo', ['echo', 'last'])",
    "import os; os.abort()",
    "import os; os.kill(os.getpid(), 9)",
    "import os; os.killpg(0, 9)",
    "import signal; signal.raise_signal(9)",
])
def test_what_was_printed_before_the_process_ended_itself_is_there(session, end):
    with pytest.raises(harness.Died) as died:
        session.run(FLOOD + "print('before')\n" + end)
    told = flooded(died.value.output.decode().replace("\r", ""))
    assert told.startswith("before|last" if "last" in end else "before")


@pytest.mark.parametrize("call", ["os.dup2(f, 1)", "os.close(1); os.dup(f)", "os.closerange(1, 2); os.dup(f)"])
def test_a_descriptor_redirected_amid_a_flood_takes_what_follows(session, tmp_path, call):
    code = FLOOD + """import os
s, f = os.dup(1), os.open('one.txt', os.O_CREAT | os.O_RDWR)
%s; print('to file'); os.dup2(s, 1)
print('back')""" % call
    assert flooded(session.run(code).output) == "back"
    assert (tmp_path / "one.txt").read_text() == "to file\n"


def test_a_thread_started_by_its_number_prints_in_order(session):
    code = FLOOD + """import _thread, os
gate = _thread.allocate_lock(); gate.acquire()
def work():
    print('thread'); os.write(1, b'child\\n'); gate.release()
_ = _thread.start_new_thread(work, ()), gate.acquire()
print('end')"""
    assert flooded(session.run(code).output) == "thread|child|end"


def test_a_flood_takes_what_is_written_to_its_buffer(session):
    code = FLOOD + """import sys
data = bytearray(b'one'); write = sys.stdout.buffer.write
size = write(data); data[:] = b'two'; write(b'\\n'); print(size)"""
    assert flooded(session.run(code).output) == "one|3"
    assert session.run("write(b'late '); print('end')").output == "late end\n"
    assert session.run("write(b'last\\n');").output == "last\n"


def test_a_flood_that_grows_stays_in_order(session):
    """First the text is taken as it comes, then it waits until it is sent."""
    code = "for i in range(1200): print(i, '.' * (i if i < 1000 else 40000))"
    lines = session.run(code).output.splitlines()
    assert [line.partition(" ")[0] for line in lines] == [str(i) for i in range(1200)]
    assert [len(line.partition(" ")[2]) for line in lines] == [i if i < 1000 else 40000 for i in range(1200)]


def test_what_handlers_print_amid_a_flood_is_not_lost(session):
    code = FLOOD + """import itertools, signal
told = itertools.count()
def handle(*_):
    global last
    number = next(told)  # another may come amid this one
    print('<%d>' % number, end=' ')
    last = number
last, i = 0, 0
_ = signal.signal(signal.SIGALRM, handle), signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
while last < 300:
    print('[%d]' % i, end=' ')
    i += 1
_ = signal.setitimer(signal.ITIMER_REAL, 0), signal.signal(signal.SIGALRM, signal.SIG_IGN)
print(i, next(told))"""
    output = session.run(code).output
    count, told = map(int, output.split()[-2:])
    assert list(map(int, re.findall(r"\[(\d+)\]", output))) == list(range(count))
    assert sorted(map(int, re.findall(r"<(\d+)>", output))) == list(range(told))

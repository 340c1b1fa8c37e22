# SPDX-License-Identifier: MIT
"""One cell: its states, its output, its value, and what is left of a session that it broke."""
import base64
import re

import pytest
from client import AHEAD, ALONE, Server
from patience import until
from steps import (BEGUN, HOLD, NEVER_S, alive, all_gone, assert_honest, descriptors, go,
                   is_running, listed, overdue, own_seconds, with_word)


@pytest.fixture
def shared_env():
    """What sessions find imported, or what is imported meanwhile, makes no difference to any cell."""
    return AHEAD


@pytest.fixture(name="server")
def fixture_server(shared_server):
    return shared_server


PNG = b"\x89PNG\r\n\x1a\n"


def spool_of(result):
    return result.status["output"]["path"]


# ---- states ----

def test_the_last_expression_is_the_value_and_nothing_else_is(server):
    answers = [server.cell(code).texts[:-1][-1:] for code in
               ("1+1", "x=3", "None", "x;", "# only comment", "", "x")]
    assert answers[0] == ["2\n"]
    assert answers[1:6] == [[], [], [], [], []]
    assert answers[6] == ["3\n"]


def test_state_stays_from_cell_to_cell_and_cells_are_numbered(server):
    server.cell("x = 20")
    server.cell("def twice(): return 2 * x")
    result = server.cell("twice()")
    assert (result.text, result.status["cell"], result.state) == ("40\n", 3, "done")


def test_a_traceback_shows_lines_of_both_cells_and_none_of_ours(server):
    server.cell("def f(n):\n    return 1 // n")
    result = server.cell("f(0)")
    assert result.is_error and result.state == "raised"
    assert 'File "<cell 1>", line 2, in f\n    return 1 // n' in result.text
    assert 'File "<cell 2>", line 1, in <module>\n    f(0)' in result.text
    assert "driver" not in result.text and result.text.rstrip().endswith(
        "ZeroDivisionError: integer division or modulo by zero")


def test_a_syntax_error_has_its_caret_and_changes_nothing(server):
    server.cell("x = 5")
    result = server.cell("x = = 1")
    assert result.state == "raised" and "^" in result.text and "SyntaxError" in result.text
    assert "driver" not in result.text
    assert server.cell("x").text == "5\n"


def test_system_exit_is_done_with_its_code_and_keeps_the_state(server):
    server.cell("x = 5")
    result = server.cell("raise SystemExit(3)")
    assert (result.state, result.status["exit"], result.is_error) == ("done", 3, False)
    assert server.cell("x").text == "5\n"


@pytest.mark.parametrize("code, said, exit_code", [
    ("import os; print('before', flush=True); os._exit(3)", "exited with code 3", 3),
    ("import os, signal; print('before', flush=True); os.kill(os.getpid(), signal.SIGKILL)",
     "signal 9 (SIGKILL)", None),
    ("import ctypes; print('before', flush=True); ctypes.string_at(0)", "signal 11 (SIGSEGV)",
     None),
])
@pytest.mark.account
def test_an_interpreter_that_dies_is_named_and_the_next_cell_has_a_new_one(
        server, code, said, exit_code):
    server.cell("x = 5; open('kept.txt', 'w').write('k')")
    result = server.cell(code)
    assert_honest(result)
    assert result.state == "died" and result.is_error
    assert result.text.startswith("before\n") and said in result.text
    assert "Variables and imports are gone, files are not" in result.text
    assert result.status.get("exit") == exit_code
    assert server.cell("'x' in globals(), open('kept.txt').read()").text == "(False, 'k')\n"


def test_a_crash_amid_a_long_output_says_that_its_end_may_be_missing(server):
    told = "its last lines may be missing"
    assert told in server.cell("import ctypes\nfor i in range(5_000): print('step', i)\nctypes.string_at(0)").text
    assert told not in server.cell("import ctypes\nfor i in range(50): print('step', i)\nctypes.string_at(0)").text
    assert told not in server.cell("import os\nfor i in range(5_000): print('step', i)\nos._exit(0)").text


@pytest.mark.account
def test_a_segfault_leaves_a_stack_with_the_cells_line(server):
    text = server.cell("import ctypes\nctypes.string_at(0)").text
    assert "Segmentation fault" in text and 'File "<cell 1>", line 2' in text



@pytest.mark.account
def test_a_deadline_interrupts_and_keeps_the_state(server):
    server.cell("x = 5")
    result = server.cell(f"import time\ntime.sleep({NEVER_S})", timeout=0.2)
    assert (result.state, result.is_error) == ("timed_out", True)
    assert "deadline of 0.2 s" in result.text and "variables and files are kept" in result.text
    assert server.cell("x").text == "5\n"


@pytest.mark.account
def test_a_deadline_that_c_code_ignores_ends_the_interpreter_with_a_stack(strict_server):
    server = strict_server

    def says_where():
        """It has 100 ms for that, which may be too few on a busy machine, and the deadline may come before the call."""
        server.cell("x = 5")
        result = overdue(server, f"{BEGUN}sum(range(10**12))")
        if not result.cell.get("state_lost"):
            return False
        assert "variables and imports are gone, files are not" in result.text
        assert server.cell("'x' in globals()").text.endswith("False\n")
        return f'File "<cell {result.status["cell"]}>", line 2' in result.text
    until(says_where)


@pytest.mark.account
def test_a_cell_that_catches_its_interrupts_is_killed(strict_server):
    code = f"import time\nwhile True:\n    try:\n        {BEGUN}        time.sleep({NEVER_S})\n    except KeyboardInterrupt: pass"
    result = overdue(strict_server, code)
    assert result.cell["state_lost"]
    assert strict_server.cell("1").text.endswith("1\n")


@pytest.mark.parametrize("timeout", [0, -1, 1e9, "five", None, True])
def test_a_timeout_out_of_range_names_the_argument_and_runs_nothing(server, timeout):
    result = server.call("exec_code", session_id="s", language="python",
                         code="open('ran', 'w')", timeout=timeout)
    if timeout is None:
        assert not result.is_error
        return
    assert result.is_error and "timeout" in result.texts[0]
    assert "there is no session" in server.call("list_artifacts", session_id="s").texts[0]


# ---- cancelling ----

def test_a_cancelled_cell_is_never_answered_and_the_state_stays(server):
    server.cell("x = 5")
    answer = server.start_cell("import time\nprint('on')\ntime.sleep(10**6)")
    until(lambda: is_running(server))
    server.cancel(answer)
    assert server.cell("x").text.endswith("5\n")
    server.request("ping")
    assert not server.strays()


def test_a_cancelled_cell_in_the_queue_never_runs(server):
    first = server.start_cell(HOLD + "ran = []")
    second = server.start_cell("ran.append('cancelled')")
    third = server.start_cell("ran")
    server.cancel(second)
    go(server)
    assert first.get()["result"] and third.get()["result"]
    assert server.cell("ran").text == "[]\n"
    assert not server.strays()


def test_cancelling_the_unknown_the_finished_and_the_wrong_type_is_ignored(server):
    answer = server.start_cell(HOLD + "7")
    for request_id in (12345, str(answer.id), None, [], {"a": 1}, answer.id - 1):
        server.notify("notifications/cancelled", {"requestId": request_id})
    server.notify("notifications/cancelled")
    go(server)
    assert "7\n" in answer.get()["result"]["content"][-2]["text"]


@pytest.mark.account
def test_cancelling_stops_what_the_cell_started(server):
    word = own_seconds("3141")
    server.cell("x = 5")
    answer = server.start_cell(f"import subprocess\nsubprocess.run(['sleep', '{word}'])")
    children = until(lambda: with_word(word))
    server.cancel(answer)
    all_gone(children)
    assert server.cell("x").text.endswith("5\n")


@pytest.mark.parametrize("code", [
    "while True: pass", f"import time\ntime.sleep({NEVER_S})",
    "import threading\nthreading.Event().wait()", f"import subprocess\nsubprocess.run(['sleep','{NEVER_S}'])",
    "import re\nre.match('(a+)+b', 'a' * 60)", f"import asyncio\nawait asyncio.sleep({NEVER_S})"])
@pytest.mark.account
def test_each_kind_of_waiting_is_interruptible_and_keeps_the_state(server, code):
    server.cell("import asyncio; x = 5")
    result = overdue(server, BEGUN + code)
    assert not result.cell.get("state_lost")
    assert server.cell("x").text.endswith("5\n")


def test_finally_blocks_run_when_an_await_is_interrupted(server):
    server.cell("import asyncio")
    result = overdue(server, f"try:\n    {BEGUN}    await asyncio.sleep({NEVER_S})\nfinally:\n    print('cleanup')")
    assert "cleanup\n" in result.text


@pytest.mark.account
def test_a_cell_that_ignores_sigint_leaves_the_next_one_interruptible(server):
    server.cell("import signal, time; x = 5; _ = signal.signal(signal.SIGINT, signal.SIG_IGN)")
    result = overdue(server, f"{BEGUN}time.sleep({NEVER_S})")
    assert not result.cell.get("state_lost")
    assert server.cell("x").text == "5\n"


# ---- the control channel ----

FIND_CHANNEL = """
import os, socket
def channel():
    for fd in sorted(int(f) for f in os.listdir('/proc/self/fd')):
        try:
            if os.readlink(f'/proc/self/fd/{fd}').startswith('socket:'): return fd
        except OSError: pass
"""


def frame(kind, cell, **parts):
    head = f"{kind} {cell} {len(parts)}\n".encode()
    return head + b"".join(f"{name} {len(value)}\n".encode() + value
                           for name, value in parts.items())



def test_a_forged_end_ends_only_its_own_cell(server):
    server.cell(FIND_CHANNEL)
    forged = frame("done", 2, status=b"ok")
    result = server.cell(f"os.write(channel(), {forged!r})\nprint('after')")
    assert result.state == "done" and result.status["cell"] == 2
    for number in range(3):
        assert str(number) in server.cell(f"{number}").text.splitlines()
    assert not server.strays()


def test_a_forged_end_of_an_old_cell_is_ignored(server):
    server.cell(FIND_CHANNEL)
    forged = frame("done", 1, status=b"error", traceback=b"forged")
    result = server.cell(f"_ = os.write(channel(), {forged!r})\n7")
    assert result.state == "done" and result.text == "7\n"


PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")


@pytest.mark.parametrize("name", ["../../../.ssh/id_rsa.p", "/etc/passwd", ".hidden", "", "none.png"])
def test_a_forged_figure_names_no_file_but_those_of_its_folder(server, name):
    server.cell(FIND_CHANNEL)
    forged = frame("display", 2, **{"image/png": PIXEL, "file": name.encode()})
    result = server.cell(f"_ = os.write(channel(), {forged!r})")
    assert result.state == "done" and result.text == "[figure: it could not be kept in output/]\n" and "id_rsa" not in str(result.raw)


@pytest.mark.parametrize("junk", [
    b"garbage\n", b"\0" * 1000, b"x" * 300 + b"\n", b"done 2 1000\n", b"done 2 1\nstatus -1\n",
    b"done 2 1\nstatus 99999999999999999999\n", b"done 2 1\nstatus 68157440\n",
    b"launch 2 0\n", b"done 2 1\nStatus 2\nok"])
def test_a_broken_frame_costs_only_the_sessions_own_interpreter(server, junk):
    server.cell("x = 1", session="other")
    server.cell(FIND_CHANNEL)
    result = server.cell(f"_ = os.write(channel(), {junk!r})\nimport time; time.sleep(30)")
    assert_honest(result)
    assert result.state == "died" and "control channel" in result.text
    assert server.cell("1").text.endswith("1\n")
    assert server.cell("x", session="other").text.endswith("1\n")


def test_a_flooded_channel_does_not_stop_other_sessions(server):
    server.cell(FIND_CHANNEL)
    forged = frame("display", 2, **{"text/plain": b"x" * 1000})
    flood = server.start_cell(f"c = channel()\nwhile True: os.write(c, {forged!r} * 50)")
    for number in range(10):
        assert server.cell(f"{number}", session="other").text.endswith(f"{number}\n")
    assert is_running(server)
    server.cancel(flood)
    assert server.cell("1").text.endswith("1\n")


@pytest.mark.account
def test_ten_thousand_sent_descriptors_reach_nobody(home):
    with Server(home, env=ALONE) as server:
        server.cell(FIND_CHANNEL)
        before = len(descriptors(server))
        code = ("s = socket.socket(fileno=os.dup(channel()))\nf = os.open('/dev/null', os.O_RDONLY)\n"
                "for _ in range(40): socket.send_fds(s, [b'log 2 0\\n'], [f] * 250)\ns.detach()")
        assert server.cell(code).state in ("done", "died")
        assert server.cell("1").text.endswith("1\n")
        until(lambda: len(descriptors(server)) <= before + 4)  # a helper that copies results has some for a moment


def test_a_driver_that_does_not_read_blocks_nobody(server):
    server.cell(FIND_CHANNEL)
    waiting = server.start_cell(HOLD)
    big = [server.start_cell("'" + "y" * 2_000_000 + "'[:3]") for _ in range(4)]
    assert server.cell("8", session="other").text.endswith("8\n")
    go(server)
    assert "result" in waiting.get()
    for answer in big:
        assert answer.get()["result"]["content"][-2]["text"] == "'yyy'\n"


# ---- output ----

@pytest.mark.account
def test_long_output_keeps_head_and_tail_with_an_exact_count_and_lies_in_the_spool(server):
    result = server.cell("for i in range(5000): print('line', i)")
    whole = "".join(f"line {i}\n" for i in range(5000))
    output = result.status["output"]
    left_out = int(re.search(r"\[\.\.\. (\d+) characters left out \.\.\.\]", result.text)[1])
    head, tail = re.split(r"\n?\[\.\.\. \d+ characters left out \.\.\.\]\n", result.text)
    tail = tail.split("Search the whole output")[0]
    assert whole.startswith(head) and whole.rstrip().endswith(tail.rstrip())
    assert output["shown"] <= 8000 and left_out + output["shown"] == output["total"]
    assert abs(output["total"] - len(whole)) <= 1
    assert server.cell(f"open({spool_of(result)!r}).read() == {whole!r}").text.endswith("True\n")


def test_long_output_beyond_head_and_tail_is_counted_exactly_too(server):
    result = server.cell("for i in range(100000): print('line', i)")
    total = sum(len(f"line {i}\n") for i in range(100000))
    output = result.status["output"]
    left_out = int(re.search(r"\[\.\.\. (\d+) characters left out \.\.\.\]", result.text)[1])
    assert output["total"] == total and left_out + output["shown"] == total
    code = f"d = open({spool_of(result)!r}).read(); len(d), d[-11:]"
    assert server.cell(code).text == f"({total}, 'line 99999\\n')\n"


def whole_lines(text, lines):
    """Each line of the text is one of these, or the notice between head and tail."""
    return all(line in lines or line.startswith("[... ") for line in text.splitlines())


@pytest.mark.parametrize("code, whole", [
    ("{'k'+str(i): 'v'*50 for i in range(300)}", None), ("'v'*30000", "'" + "v" * 30000 + "'")])
@pytest.mark.account
def test_a_value_that_is_cut_lies_whole_in_the_spool(server, code, whole):
    result = server.cell(f"x = {code}\nx")
    output = result.status["output"]
    assert output["shown"] <= 8000 < output["total"] and "Search the whole output" in result.text
    assert server.cell(f"open({spool_of(result)!r}).read().strip() == {whole!r} or "
                       f"eval(open({spool_of(result)!r}).read()) == x").text == "True\n"
    assert result.cell["output_chars"] == output["total"]


def test_a_cut_traceback_lies_whole_in_the_spool_behind_the_output(server):
    result = server.cell("print('printed')\nraise ValueError('\\n'.join(map(str, range(1500))) + 'm' * 30000)")
    assert result.status["output"]["shown"] <= 8000
    text = server.cell(f"d = open({spool_of(result)!r}).read(); d.startswith('printed\\nTraceback'), 'm' * 30000 in d").text
    assert text == "(True, True)\n"


@pytest.mark.parametrize("language, code", [
    ("python", "print('v'*30000)"), ("python", "'v'*30000"), ("python", "print('v\\n'*9000)\nlist(range(900))"),
    ("python", "print('v'*300); raise ValueError('v'*1900)"), ("javascript", "'v'.repeat(30000)"),
    ("javascript", "console.log('v'.repeat(3000)); throw new Error('v'.repeat(3000))"),
    ("r", "strrep('v', 30000)"), ("bash", "printf '%030000d' 7")])
def test_one_budget_bounds_all_text_of_a_cell(home, language, code):
    with Server(home, env={"PTYCELL_OUTPUT_CHARS": "500"}) as server:
        result = server.cell(code, language=language)
        if result.state == "not_started":
            pytest.skip(f"there is no {language} here")
        notices = re.findall(r"\[\.\.\. \d+ characters left out \.\.\.\]\n", result.text)
        assert result.status["output"]["shown"] <= 500
        said = result.text.split("Search the whole output")[0]
        assert 0 < len(said) - sum(map(len, notices)) - 3 <= 500
        assert result.status["output"]["total"] > 1500


def test_clear_output_leaves_what_came_last(server):
    server.cell("from IPython.display import clear_output\nimport matplotlib.pyplot as plt")
    assert server.cell("for i in range(3):\n    clear_output(wait=True)\n    print(i)\n    display('d')").text == "2\n'd'\n"
    result = server.cell("for i in range(3):\n    clear_output(wait=True)\n    plt.plot([i])\n    plt.show()")
    assert len(result.images) == 1 and result.text.count("[figure") == 1
    assert server.cell("print('gone')\nclear_output()\n1").text == "1\n"


def test_a_cut_is_between_lines(server):
    for count in (2000, 20000):
        lines = [f"{i} hello world" for i in range(count)]
        result = server.cell(f"for i in range({count}): print(i, 'hello world')")
        text = result.text.split("Search the whole output")[0]
        assert "left out" in text and whole_lines(text, lines)


@pytest.mark.account
def test_a_flood_and_a_child_amid_it_are_in_order_and_whole_in_the_spool(server):
    flood = "for i in range(50000): print('line', i, '\u00e9')\n"
    result = server.cell(flood + "import os; os.system('echo child')\n" + flood)
    lines = "".join(f"line {i} \u00e9\n" for i in range(50000))
    whole = lines + "child\n" + lines
    assert result.status["output"]["total"] == len(whole)
    assert result.text.startswith(whole[:2000])
    code = f"d = open({spool_of(result)!r}, encoding='utf-8').read(); len(d), hash(d) == hash({{}})"
    lines_of = "''.join('line %d \u00e9\\n' % i for i in range(50000))"
    assert server.cell(code.format(f"({lines_of}) + 'child\\n' + ({lines_of})")).text == f"({len(whole)}, True)\n"


@pytest.mark.account
def test_large_texts_are_printed_from_memory_that_is_there(server):
    """And not given back to the kernel and asked for again with each: 512 page faults a megabyte."""
    code = ("import resource, sys\nfaults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
            "before = faults()\nfor _ in range(50): sys.stdout.write(('x' * 79 + '\\n') * 13107)\n"
            "missed = faults() - before")
    server.cell(code, session="faults")
    assert int(server.cell("missed", session="faults").text) < 50 * 100


@pytest.mark.account
def test_much_is_printed_where_no_memory_is_left_for_a_thread(server):
    """Line by line then, in order with what a child prints. The stack of a thread that has ended would be too small."""
    limit = ("import os, resource, threading\n_ = threading.stack_size(64 << 20)\nhard = resource.getrlimit(resource.RLIMIT_DATA)[1]\n"
             "used = next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmData')) << 10\n"
             "resource.setrlimit(resource.RLIMIT_DATA, (used + (1 << 20), hard))\n")
    result = server.cell(limit + "for i in range(20000): print('line', i)\n"
                         "resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))\nos.system('echo child')", session="room")
    assert result.state == "done" and result.text.startswith("line 0\nline 1\n")
    assert "line 19999\nchild\n" in result.text
    assert server.cell("for i in range(20000): print('line', i)", session="room").state == "done"


@pytest.mark.account
def test_much_is_printed_where_memory_is_left_for_a_thread_but_not_for_what_it_does(server):
    """The first thread's stack is used again, so that only what a thread needs besides is missing."""
    code = ("import resource, sys\nfor i in range(4000): print('line', i)\nsys.stdout.flush()\nhard = resource.getrlimit(resource.RLIMIT_DATA)[1]\n"
            "for room in range(0, 1 << 16, 1 << 12):\n"
            "    used = next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmData')) << 10\n"
            "    resource.setrlimit(resource.RLIMIT_DATA, (used + room, hard))\n    try:\n        for i in range(4000): print('line', i)\n"
            "        sys.stdout.flush()\n    except MemoryError: pass\n    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))\n'at its end'")
    result = server.cell(code, session="stack")
    assert result.state == "done" and "\n'at its end'\n" in result.text, result.texts


def test_a_long_line_is_not_broken(server):
    assert "a" * 5000 + "\n" == server.cell("print('a' * 5000)").text
    assert "\u00e9" * 5000 + "\n" == server.cell("print('\u00e9' * 5000)").text



def test_progress_bars_leave_their_last_state(server):
    code = ("import sys\nfor i in range(101):\n    sys.stdout.write(f'\\r{i:3}% ' + '#' * (i // 10))\n"
            "print()\nprint('done')")
    assert server.cell(code).text == "100% ##########\ndone\n"







def test_unicode_comes_through_whole(server):
    text = "\u00fcml\u00e4ut \u4f60\u597d \U0001f600 \u05e9\u05dc\u05d5\u05dd e\u0301"
    assert server.cell(f"print({text!r}); {text!r}").text == f"{text}\n{text!r}\n"


def test_a_closed_stdout_is_open_again_in_the_next_cell(server):
    server.cell("import os\nos.close(1)")
    assert server.cell("print(1)").text == "1\n"


def test_without_sys_stdout_the_value_is_told(server):
    assert server.cell("import sys\nsys.stdout = None\n5").text == "5\n"


def test_output_of_a_thread_after_the_cell_is_the_next_cells_background(server):
    server.cell("import os, threading, time\ndef late():\n"
                "    while not os.path.exists('input/go'): time.sleep(0.01)\n"
                "    print('late')\n    open('printed', 'w')\nthreading.Thread(target=late).start()")
    go(server)
    until(lambda: listed(server, "printed"))
    result = server.cell("'now'")
    assert result.status["background"] >= 4
    assert result.text.index("late\n") < result.text.index("'now'")
    assert "late" not in server.cell("'after'").text



@pytest.mark.account
def test_live_children_are_counted_in_the_status(server):
    word = own_seconds("2718")
    code = f"import subprocess\np = [subprocess.Popen(['sleep', '{word}']) for _ in range(3)]"
    assert server.cell(code).status["children"] == 3
    assert server.cell("for q in p: q.kill(); _ = q.wait()").status.get("children") is None
    assert not alive(with_word(word))



# ---- values and figures ----

def test_a_dataframe_is_compact_text_with_its_shape(server):
    result = server.cell("import pandas as pd\ndf = pd.DataFrame({'a': range(150), 'b': 1.5})\ndf")
    assert "[150 rows x 2 columns]" in result.text and "<table" not in result.text
    assert {"name": "df", "type": "DataFrame", "shape": "150x2"} in result.status["names"]


@pytest.mark.account
def test_a_figure_comes_once_with_and_without_show_and_as_the_value(server):
    for number, end in enumerate(("", "\nplt.show()", "\nplt.gcf()"), 1):
        result = server.cell("import matplotlib.pyplot as plt\n_ = plt.plot([1, 3, 2])" + end)
        assert len(result.images) == 1 and result.images[0]["mimeType"] == "image/png", end
        assert base64.b64decode(result.images[0]["data"]).startswith(PNG)
        assert [c["path"] for c in result.status["files"] if c["path"].endswith(".png")] == [f"output/cell-{number}-figure-1.png"]


@pytest.mark.account
def test_several_figures_come_in_order_four_are_shown_all_lie_in_output(server):
    result = server.cell("import matplotlib.pyplot as plt\nfor i in range(6):\n"
                         "    plt.figure(); plt.plot([i]); print('made', i); plt.show()")
    assert len(result.images) == 4 and "4 of 6 figures are shown" in result.text
    order = re.findall(r"made (\d)|\[figure (\d)\]", result.text)
    assert [a or f"f{b}" for a, b in order] == [x for i in range(6) for x in (f"{i}", f"f{i+1}")]
    assert len(listed(server, "output/*.png")) == 6


@pytest.mark.account
def test_a_sound_is_an_audio_block_and_a_file(server):
    result = server.cell("import io, wave\nfile = io.BytesIO()\nw = wave.open(file, 'wb')\nw.setnchannels(1); w.setsampwidth(2); "
                         "w.setframerate(8000); w.writeframes(bytes(800)); w.close()\n"
                         "from IPython.display import Audio, display\ndisplay(Audio(file.getvalue()))\nAudio(file.getvalue())")
    sounds = [block for block in result.content if block["type"] == "audio"]
    assert [block["mimeType"] for block in sounds] == ["audio/wav"] * 2
    assert base64.b64decode(sounds[0]["data"]).startswith(b"RIFF")
    number = result.status["cell"]
    assert f"[sound: output/cell-{number}-sound-1.wav]" in result.text and f"[sound: output/cell-{number}-sound-2.wav]" in result.text
    assert server.cell("len(open('output/cell-%d-sound-2.wav', 'rb').read())" % number).text == "844\n"


def test_a_figure_saved_by_savefig_is_listed_once(server):
    result = server.cell("import matplotlib.pyplot as plt\n_ = plt.plot([1])\n"
                         "plt.savefig('output/own.png'); plt.close('all')")
    assert [c["path"] for c in result.status["files"] if c["path"].endswith("png")] == \
        ["output/own.png"]


def test_huge_values_are_bounded(server):
    for code in ("10**6000", "'z' * 10**6", "{i: i for i in range(10**6)}", "b'z' * 10**7"):
        result = server.cell(code)
        assert result.state == "done" and 0 < len(result.text) < 25000, code


def test_a_repr_and_a_str_that_raise_break_nothing(server):
    server.cell("class R:\n    def __repr__(self): raise ValueError('no repr')\n"
                "class S(Exception):\n    def __str__(self): raise ValueError('no str')")
    assert server.cell("R()").state == "raised"
    assert server.cell("raise S()").state == "raised"
    assert server.cell("1").text == "1\n"


def test_await_and_asyncio_run_both_work(server):
    assert server.cell("import asyncio\nawait asyncio.sleep(.01)\n42").text == "42\n"
    assert server.cell("asyncio.run(asyncio.sleep(0, 'r'))").text == "'r'\n"


def test_shell_lines_and_magics_work(server):
    assert server.cell("!echo hi").text == "hi\n"
    assert server.cell("x = !echo a\nlist(x)").text == "['a']\n"
    assert server.cell("%%bash\necho one; echo two").text == "one\ntwo\n"
    assert server.cell("a = (5\n% 3)\na").text == "2\n"


def test_help_does_not_wait_in_a_pager(server):
    assert "Return the number of items" in server.cell("help(len)").text



def test_names_that_changed_are_told_and_others_are_not(server):
    first = server.cell("a = 1; b = [1, 2]")
    assert [n["name"] for n in first.status["names"]] == ["a", "b"]
    assert "names" not in server.cell("a").status
    assert [n["name"] for n in server.cell("a = 2").status["names"]] == ["a"]


def test_recursion_is_an_error_not_a_flood(server):
    result = server.cell("def r(): r()\nr()")
    assert result.state == "raised" and "RecursionError" in result.text
    assert len(result.text) < 10000


@pytest.mark.account
def test_running_out_of_memory_is_an_error(server):
    assert "MemoryError" in server.cell("bytearray(10**13)").text
    assert server.cell("1").text == "1\n"


def test_a_dictionary_of_a_million_entries_is_shown_quickly_and_short(server):
    server.cell("d = {i: i for i in range(10**6)}")
    result = server.cell("d")
    assert result.state == "done" and len(result.text) < 12_000 and result.status["seconds"] < 2


def test_the_cells_module_is_main_and_pickles(server):
    server.cell("import pickle\nclass A:\n    def __eq__(self, other): return isinstance(other, A)")
    assert server.cell("pickle.loads(pickle.dumps(A())) == A(), __name__, '__file__' in globals()"
                       ).text == "(True, '__main__', False)\n"


def test_a_warning_in_the_first_cell_has_its_line(server):
    text = server.cell("import warnings\nwarnings.warn('careful')").text
    assert "<cell 1>:2: UserWarning: careful" in text and "warnings.warn('careful')" in text


@pytest.mark.account
def test_a_child_that_plots_needs_no_display(server):
    code = "import matplotlib.pyplot as p; p.plot([1]); p.savefig('output/child.png'); print('drawn')"
    result = server.cell(f"import subprocess, sys\n_ = subprocess.run([sys.executable, '-c', {code!r}], check=True)")
    # A slow machine is told that fonts are being looked for.
    assert result.text.endswith("drawn\n") and ("+", "output/child.png") in [
        (c["kind"], c["path"]) for c in result.status["files"]]


def test_html_is_no_object_in_brackets(server):
    result = server.cell("class H:\n    def _repr_html_(self): return '<b>bold</b>'\n"
                         "    def __repr__(self): return 'plain'\ndisplay(H())\nH()")
    assert result.text == "plain\nplain\n"


def test_an_object_that_answers_to_every_name_is_shown_plainly(server):
    result = server.cell("from unittest.mock import MagicMock\nMagicMock(name='m')")
    assert result.state == "done" and result.text.startswith("<MagicMock name='m'")


def test_a_value_is_kept_apart_from_what_was_printed(server):
    result = server.cell("print('printed', end='')\n'value'")
    assert result.text == "printed\n'value'\n"


def test_tracebacks_and_values_are_not_cut_away_by_long_output(server):
    result = server.cell("for i in range(5000): print('line', i)\n1/0")
    assert "ZeroDivisionError: division by zero" in result.text and "left out" in result.text
    result = server.cell("for i in range(5000): print('line', i)\n'the value'")
    assert "'the value'\n" in result.text and "left out" in result.text

# SPDX-License-Identifier: MIT
"""Cells: values, errors, source lines, and what user code may do to its process."""
import os
import re
import signal

import pytest

from harness import Died
from patience import until


def test_the_last_expression_is_the_value(session):
    assert session.run("1+1").value == "2"
    assert session.run("x=3").value is None
    assert session.run("None").value is None
    assert session.run("x;").value is None
    assert session.run("x").value == "3"
    assert session.run("_").value == "3"


@pytest.mark.parametrize(
    "code, value",
    [
        ("# only comment", None),
        ("", None),
        ("\n\n", None),
        ("5 ;  # comment", None),
        ("5  # comment;", "5"),
        ("(5)", "5"),
        ("(5);", None),
        ("(5\n);", None),
        ("'a;'", "'a;'"),
        ("'é';", None),
        ("'é;'", "'é;'"),
        ("x = 1  # c;", None),
        ("1\r\n2\r\n", "2"),
        ("\ufeff7", "7"),
        ("    a = 4\n    a", "4"),
        ("\tif 1:\n\t\tb = 6\n\tb", "6"),
        ("#!/usr/bin/python\n# -*- coding: latin-1 -*-\n'é'", "'é'"),
        ("'\\x1b[31mred'", "'\\x1b[31mred'"),
    ],
)
def test_values_of_odd_cells(session, code, value):
    result = session.run(code)
    assert (result.status, result.value) == ("ok", value)


def test_a_user_variable_named_underscore_shadows_the_last_value(session):
    session.run("_ = 'mine'")
    session.run("1+1")
    assert session.run("_").value == "'mine'"


def test_tracebacks_show_lines_of_all_cells_and_no_driver_frame(session):
    session.run("def f(a):\n    return a / 0")
    result = session.run("x = 1\nf(x)")
    trace = result.done["traceback"]
    assert result.status == "error"
    assert result.done["ename"] == "ZeroDivisionError"
    assert result.done["evalue"] == "division by zero"
    assert result.done["line"] == "2"
    assert 'File "<cell 2>", line 2' in trace and "    f(x)" in trace
    assert 'File "<cell 1>", line 2' in trace and "    return a / 0" in trace
    assert "ptycell" not in trace and "<string>" not in trace


def test_a_syntax_error_points_at_the_place_and_changes_nothing(session):
    session.run("x = 1")
    result = session.run("x = 2\nx = = 1")
    trace = result.done["traceback"]
    assert result.done["ename"] == "SyntaxError" and result.done["line"] == "2"
    assert "x = = 1" in trace and "^" in trace
    assert "ptycell" not in trace and "During handling" not in trace
    assert session.run("x").value == "1"


@pytest.mark.parametrize("code", ["'\0'", "return 5", "lambda: (await x)", "(yield 1)", "if 1:\nprint(1)"])
def test_code_that_does_not_compile_is_an_error(session, code):
    result = session.run(code)
    assert result.status == "error"
    assert "ptycell" not in result.done["traceback"]


LIMIT = 1_000_000  # characters of a value on its way to the server


@pytest.mark.parametrize("code, meant", [("colour = 1\ncolur", "colour"), ("import json\njson.dump_s", "dumps"),
                                         ("def f():\n    total = 1\n    return totl\nf()", "total"), ("xqzw", None)])
def test_an_error_says_what_was_meant(session, code, meant):
    if session.ready["version"].startswith("3.9."):
        pytest.skip("Python 3.9 suggests nothing")
    session.run("colour = 1; import sys; errors = sys.stderr")
    result = session.run(code)
    last = result.done["traceback"].rstrip().splitlines()[-1]
    assert last.endswith("Did you mean: '%s'?" % meant) if meant else "mean" not in last
    assert result.output == "" and session.run("sys.stderr is errors").value == "True"


def test_an_error_has_its_traceback_without_stderr(session):
    session.run("import sys; del sys.stderr")
    assert "in <module>\n    xqzw\n" in session.run("xqzw").done["traceback"]


CHAIN = """colour = 1
try:
    colur
except NameError as error:
    raise ValueError('outer') from error"""
MEMBERS = """import json
errors = []
for wrong in ('json.dump_s', 'json.lods'):
    try: eval(wrong)
    except AttributeError as error: errors.append(error)
raise ExceptionGroup('several', errors)"""


@pytest.mark.parametrize("code, meant", [(CHAIN, ["colour"]), (MEMBERS, ["dumps", "loads"])])
def test_each_error_of_a_traceback_says_what_was_meant(session, code, meant):
    if session.ready["version"].startswith("3.9.") or "Group" in code and session.ready["version"].startswith("3.10."):
        pytest.skip("this Python has no such error, or suggests nothing")
    session.run("import sys; sys.__excepthook__ = None")
    trace = session.run(code).done["traceback"]
    assert re.findall(r"Did you mean: '(\w+)'\?$", trace, re.M) == meant


def test_a_deep_stack_of_a_member_says_that_it_is_cut(session):
    if session.ready["version"].startswith(("3.9.", "3.10.")):
        pytest.skip("this Python has no such error")
    session.run("def f(n):\n    return f(n - 1) if n % 2 else g(n)\ndef g(n):\n    return f(n - 1) if n else 1 / 0")
    session.run("try: f(100)\nexcept Exception as error: deep = error")
    trace = session.run("raise ExceptionGroup('one', [deep])").done["traceback"]
    assert re.search(r"^[ |]+ \.\.\. \d+ frames left out \.\.\.$", trace, re.M), trace


def test_huge_values_are_bounded_and_say_so(session):
    assert "6001 digits" in session.run("10**6000").value
    assert session.run('"z"*30000').value == "'" + "z" * 30000 + "'"
    for code in ('"z"*%d', '[["z"*%d]*3, 10**6000]', "class B:\n  def __repr__(self): return 'y'*%d\nB()"):
        text = session.run(code % (2 * LIMIT)).value
        assert LIMIT <= len(text) < LIMIT + 200 and "print shows all" in text.splitlines()[-1], code
    for kind, code in (("__repr__", "'x' * 3_000_000"), ("_repr_markdown_", "'x' * 3_000_000"),
                       ("_repr_mimebundle_", "{'text/plain': 'x' * 3_000_000}")):
        text = session.run("class B:\n  def %s(self, **_): return %s\nB()" % (kind, code)).value
        assert text == "x" * LIMIT + "\n... [2000000 characters left out: print shows all]", kind
    for length, cut in ((LIMIT - 2, False), (LIMIT - 1, True)):
        assert ("left out" in session.run(f'"z"*{length}').value) == cut


def test_long_strings_in_containers_stay_whole(session):
    value = {"k": "word " * 50, "b": b"byte " * 50, "n": [["x y " * 30]]}
    assert repr(value["k"]) in session.run(f"v = {value!r}\nv").value
    assert eval(session.run("v").value) == value


def test_containers_show_as_many_items_as_a_notebook_does(session):
    assert eval(session.run("[list(range(60))] * 60").value) == [list(range(60))] * 60
    text = session.run("list(range(1001))").value
    assert " 999]" in text and text.endswith("(list, length 1001, not all shown)")
    assert "not all" not in session.run("list(range(1000))").value
    assert "not all" in session.run("[list(range(500))] * 30").value


def test_a_warning_is_shown_in_each_cell(session):
    for number in (1, 2):
        assert "RuntimeWarning: careful" in session.run(
            "import warnings\nwarnings.warn('careful', RuntimeWarning)").output, number
    assert session.run("for i in range(3):\n    warnings.warn('once')").output.count("UserWarning") == 1


@pytest.mark.parametrize("code", ["1 is 1", "1 is 1;", "x = 1 is 1", "assert '\\d'", "del []; 1 is 1"])
def test_a_warning_of_the_compiler_is_shown_once(session, code):
    session.run("import warnings; warnings.simplefilter('always')")
    assert session.run(code).output.count("Warning: ") == 1


@pytest.mark.parametrize("code", [
    "1or 2;", "print(1or 2); 3", "if 1or 2: 3", "if(1or 2): 3", "for _ in [1or 2]: 3", "assert 1or 2", "assert(1or 2)"])
def test_a_warning_of_the_tokenizer_is_shown_as_often_as_in_two_lines(session, code):
    session.run("import warnings; warnings.simplefilter('always')")
    assert session.run(code).output.count("Warning: ") == session.run("\n" + code).output.count("Warning: ")


@pytest.mark.parametrize("code", ["(lambda: 1/0)()", "[1/0 for _ in 'a']", " 1/0", "1/0  # no", "\n1/0", "1/0;"])
def test_an_expression_of_one_line_fails_as_any_other_code(session, code):
    failed = session.run(code)
    assert failed.done["ename"] == "ZeroDivisionError"
    assert "1/0" in failed.done["traceback"]


def test_a_warning_about_who_runs_the_cell_is_shown_in_each_cell(session):
    session.run("import warnings\nasync def later(): pass")
    for number in (1, 2):
        told = session.run("warnings.warn('above', stacklevel=2)").output
        assert "UserWarning: above" in told and "ptycell" not in told, number
        session.run("later()")
        assert "'later' was never awaited" in session.run("5").output, number


def test_huge_containers_are_answered_fast(session):
    session.run("import pprint")
    result = session.run("{i:i for i in range(10**6)}")
    session.run("big = {i:i for i in range(10**6)}")
    until(lambda: session.seconds_for(lambda: session.run("big")) < 0.5)  # on a busy machine once
    result = session.run("big")
    assert len(result.value) < 12000 and "1000000" in result.value


def test_containers_keep_type_and_order(session):
    assert session.run("{'b': 1, 'a': 2}").value == "{'b': 1, 'a': 2}"
    assert session.run("(1,)").value == "(1,)"
    assert session.run("a=[]; a.append(a); a").value == "[[...]]"
    assert session.run("list(range(60))").value.startswith("[0, 1, 2,")
    assert session.run("set()").value == "set()"
    assert "[0, 1" in session.run("[list(range(10**6))]*3").value


def test_a_raising_repr_is_an_error_of_the_cell(session):
    result = session.run("class B:\n  def __repr__(self): 1/0\nB()")
    assert result.done["ename"] == "ZeroDivisionError"
    assert "ptycell" not in result.done["traceback"]
    result = session.run("class E(Exception):\n  def __str__(self): 1/0\nraise E()")
    assert result.done["ename"] == "E"
    assert session.run("1").value == "1"


def test_exit_ends_the_cell_only(session):
    session.run("x = 5")
    result = session.run("raise SystemExit(3)")
    assert (result.status, result.done["code"]) == ("exit", "3")
    assert session.run("exit()").done["code"] == "0"
    result = session.run("import sys; sys.exit('bye')")
    assert result.done["code"] == "1" and "bye" in result.output
    assert session.run("x").value == "5"
    session.start("input('name? ')")
    os.write(session.master, b"bob\n")
    assert session.finish().value == "'bob'"


def test_deep_recursion(session):
    result = session.run("def r(): r()\nr()")
    assert result.done["ename"] == "RecursionError"
    assert "frames left out" in result.done["traceback"]
    assert len(result.done["traceback"]) < 5000


def test_very_deep_recursion_is_told_fast(session, python):
    if session.ready["version"].startswith(("3.9", "3.10")):
        pytest.skip("the C stack overflows before that")
    session.run("import sys, traceback\ndef r(n):\n  if n: r(n-1)\n  else: 1/0\nsys.setrecursionlimit(10**6)")
    assert session.run("r(200000)").done["ename"] == "ZeroDivisionError"
    until(lambda: session.seconds_for(lambda: session.run("r(200000)")) < 2)  # on a busy machine once


def test_memory_error(session):
    assert session.run("bytearray(10**13)").done["ename"] == "MemoryError"
    assert session.run("1").value == "1"


def test_a_dead_interpreter_leaves_its_output(start):
    with pytest.raises(Died) as died:
        start().run("import os; print('before', flush=True); os._exit(3)")
    assert os.WEXITSTATUS(died.value.status) == 3 and b"before" in died.value.output
    with pytest.raises(Died) as died:
        start().run("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert os.WTERMSIG(died.value.status) == signal.SIGKILL


def test_a_segfault_shows_the_line(start):
    with pytest.raises(Died) as died:
        start().run("import ctypes\nprint('bye')\nctypes.string_at(0)")
    assert os.WTERMSIG(died.value.status) == signal.SIGSEGV
    assert b"bye" in died.value.output and b'"<cell 1>", line 3' in died.value.output


def test_closed_descriptors_come_back(session):
    assert session.run("import os; print('a', end=''); os.close(1)").output == "a"
    assert "hello" in session.run("print('hello')").output
    session.run("for fd in range(3): os.close(fd)")
    assert "again" in session.run("print('again')").output


def test_a_redirected_stdout_stays_and_is_told(session, tmp_path):
    result = session.run("import os; os.dup2(os.open('log', os.O_WRONLY | os.O_CREAT), 1)")
    assert "stdout is redirected to" in result.output and "/log" in result.output
    result = session.run("print('lost'); 5")
    assert result.value == "5" and result.output == ""
    assert (tmp_path / "log").read_text() == "lost\n"


@pytest.mark.parametrize("stream, target", [
    ("io.StringIO()", "a StringIO"), ("open('log', 'w')", "/log"), ("open(os.devnull, 'w')", "/dev/null")])
def test_a_replaced_stdout_is_told(session, stream, target):
    """What is printed would be lost without a word: code has failed before it put the old one back."""
    result = session.run(f"import io, os, sys\nprint('a', end=' ')\nsys.stdout = {stream}\nprint('b')")
    assert result.output.startswith("a [stdout is redirected to ")
    assert result.output.endswith(f"{target}; sys.stdout = sys.__stdout__ brings it back]\n")
    assert session.run("print('b'); 5").output == ""
    assert session.run("sys.stdout = sys.__stdout__; print('back')").output == "back\n"
    assert "stderr is redirected" in session.run(f"sys.stderr = {stream}").output


@pytest.mark.parametrize("stream", ["io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8', line_buffering=True)",
                                    "type('Tee', (), {'write': lambda self, text: old.write(text), 'flush': lambda self: None})()",
                                    "open(1, 'w', closefd=False)", "open('/dev/tty', 'w')"])
def test_a_stdout_that_prints_is_not_told(session, stream):
    assert session.run(f"import io, sys\nold = sys.stdout\nsys.stdout = {stream}").output == ""
    assert session.run("print('seen')\nsys.stdout.flush()").output == "seen\n"
    assert session.run("import contextlib\nwith contextlib.redirect_stdout(io.StringIO()): print('x')").output == ""


def test_a_missing_stdout_does_not_matter(session):
    assert session.run("import sys; sys.stdout = None").status == "ok"
    assert session.run("5").value == "5"


def test_closed_streams_are_opened_again(session):
    session.run("import sys; sys.stdout.close(); sys.stdin.close(); sys.stderr.close()")
    assert "back" in session.run("print('back')").output
    assert "warned" in session.run("print('warned', file=sys.stderr)").output


def test_a_forked_child_never_answers(session):
    code = "import os\npid = os.fork()\nif pid == 0: print('child')\nelse: os.waitpid(pid, 0); print('parent')"
    result = session.run(code)
    assert "child" in result.output and "parent" in result.output
    assert session.run("3+4").value == "7"
    assert session.run("pid = os.fork()\nif pid: os.waitpid(pid, 0)[1]\nelse: 1/0").status == "ok"


def test_children_have_no_control_descriptor(session):
    code = "import os\npid = os.fork()\nif pid == 0: print([os.path.realpath(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd')])\nelse: os.waitpid(pid, 0)"
    assert "socket" not in session.run(code).output
    code = "import subprocess; subprocess.run('ls -l /proc/self/fd', shell=True, close_fds=False)"
    assert "socket" not in session.run(code).output


def test_a_child_of_a_raw_fork_cannot_send(session):
    code = "import ctypes, os\nc = ctypes.CDLL(None)\npid = c.fork()\nif pid == 0: display(1)\nelse: _ = os.waitpid(pid, 0)"
    result = session.run(code)
    assert result.status == "ok" and result.displays == []
    assert session.run("1").value == "1"


def test_future_imports_stay(session):
    session.run("from __future__ import annotations")
    assert session.run("def f(a: Undefined): pass\nf.__annotations__").value == "{'a': 'Undefined'}"


def test_main_is_a_real_module(session):
    session.run("class A: pass")
    assert session.run("import pickle; type(pickle.loads(pickle.dumps(A()))) is A").value == "True"
    assert session.run("__name__ == '__main__', '__file__' in globals(), __spec__").value == "(True, False, None)"
    assert session.run("import __main__; __main__.__dict__ is globals()").value == "True"
    names = session.run("[n for n in dir() if not n.startswith('__')]").value
    assert names == "['A', 'pickle']"


def test_doctest_reports(session):
    result = session.run('def d():\n  """\n  >>> 1+1\n  3\n  """\nimport doctest; doctest.testmod()')
    assert "Expected" in result.output and "failed=1" in result.value


def test_the_first_warning_shows_its_source_line(session):
    result = session.run('import warnings; warnings.warn("careful")')
    assert '<cell 1>:1: UserWarning: careful' in result.output
    assert 'warnings.warn("careful")' in result.output.split("\n")[1]


def test_help_does_not_wait_for_a_pager(session):
    result = session.run("help(len)")
    assert "Return the number of items" in result.output


def test_output_of_children_is_in_order(session):
    result = session.run('import os\nprint("a"); os.system("echo b"); print("c")')
    assert result.output.split() == ["a", "b", "c"]


def test_threads_that_live_on_are_reported(session):
    assert "active" not in session.run("for i in range(100000): print(i)").done
    begin = "import threading\nstop = threading.Event()\nthread = threading.Thread(target=stop.wait)\nthread.start()"
    assert session.run(begin).done["active"] == "1"
    assert "active" not in session.run("stop.set()\nthread.join()").done


def test_tasks_and_timers_that_live_on_are_reported(session):
    assert "active" not in session.run("import asyncio\nawait asyncio.sleep(0)").done
    assert session.run("timer = asyncio.get_running_loop().call_later(1000, print)\nawait asyncio.sleep(0)").done["active"] == "1"
    assert "active" not in session.run("timer.cancel()\nawait asyncio.sleep(0)").done
    assert session.run("task = asyncio.create_task(asyncio.sleep(1000))").done["active"] == "1"
    assert "active" not in session.run("task.cancel()\nawait asyncio.wait([task])").done
    assert "active" not in session.run("await asyncio.wait_for(asyncio.sleep(0.001), 1000)").done


def test_threads_print_after_the_end(session):
    session.run("import threading, time\ndef f():\n  time.sleep(.3); print('late')\nthreading.Thread(target=f).start()")
    assert session.read_until("late\n").strip() == "late"


def test_getsource_works_for_functions_and_classes(session):
    session.run("class A:\n    x = 1\n\nclass B:\n    def m(self): return 2")
    session.run("def f():\n    return 3")
    assert "return 3" in session.run("import inspect; print(inspect.getsource(f))").output
    assert session.run("print(inspect.getsource(A))").output.rstrip() == "class A:\n    x = 1"
    assert "def m" in session.run("print(inspect.getsource(B))").output


def test_the_environment_is_that_of_a_prompt(session):
    assert session.run("import sys; sys.argv, sys.path[0]").value == "([''], '')"
    assert session.run("sys.stdout.isatty(), sys.stdout.encoding").value == "(True, 'utf-8')"


def test_chained_errors_have_no_driver_frames(session):
    code = "try:\n  1/0\nexcept ZeroDivisionError as e:\n  raise ValueError('b') from e"
    trace = session.run(code).done["traceback"]
    assert "direct cause" in trace and "ptycell" not in trace
    trace = session.run("class Q:\n  def __repr__(self): 1/0\ndisplay(Q())").done["traceback"]
    assert "in __repr__" in trace and "ptycell" not in trace


def test_what_a_text_runs_has_no_line_of_another(session):
    assert session.run("exec('1/0')").done["traceback"].endswith(
        '  File "<string>", line 1, in <module>\nZeroDivisionError: division by zero\n')
    output = session.run("exec('import warnings; warnings.warn(\\'w\\')')").output
    assert output == "<string>:1: UserWarning: w\n", output


def test_errors_name_the_missing_module(session):
    assert session.run("import no_such_thing.sub").done["missing"] == "no_such_thing"
    assert "missing" not in session.run("import os.nothing").done


def test_errors_that_a_cell_made_are_told_apart(session):
    made = ("raise MemoryError('mine')", "def f(): raise OSError(28, 'full')\nf()", "assert 0",
            "try: 1/0\nexcept ZeroDivisionError as e: raise ValueError(str(e))")
    met = ("1/0", "try: 1/0\nexcept ZeroDivisionError: raise", "try: 1/0\nexcept ZeroDivisionError as e: raise e",
           "try: 1/0\nfinally: pass", "open('/nowhere')", "import json; json.loads('{')", "1 +")
    for code in made:
        assert session.run(code).done.get("raised") == "1", code
    for code in met:
        assert "raised" not in session.run(code).done, code


def test_the_last_error_is_there_for_post_mortem(session):
    session.run("1/0")
    assert session.run("import sys; sys.last_value").value == "ZeroDivisionError('division by zero')"
    if session.ready["version"] >= "3.12":
        assert session.run("sys.last_exc is sys.last_value").value == "True"


def test_surrogates_and_bytes_do_not_break_answers(session):
    assert session.run("'\\udcff'").value == "'\\udcff'"
    assert session.run("class E(Exception): pass\nraise E('\\udcff')").done["evalue"] == "\\udcff"
    assert session.run("class R:\n  def __repr__(self): return '\\udcff'\nR()").value == "\\udcff"


def test_a_broken_displayhook_is_the_cells_own_error(session):
    session.run("import sys\nsys.displayhook = lambda v: print('mine', v)")
    assert "mine 5" in session.run("5").output
    session.run("del sys.displayhook")
    assert session.run("6").value == "6"


def test_cleared_globals_are_usable_again(session):
    session.run("globals().clear()")
    assert session.run("1+1").value == "2"
    assert session.run("__name__").value == "'__main__'"
    assert session.run("!echo a").output == "a\n"


def test_broken_builtins_break_only_the_cell(session):
    session.run("import builtins; builtins.len = builtins.open = builtins.repr = None")
    assert session.run("5").value == "5"
    assert session.run("x = 6").done["names"] == "x int"


def test_objects_that_refuse_every_question_are_shown(session):
    code = "class E:\n  @property\n  def __class__(self): 1/0\n  def __getattr__(self, n): 1/0\ne = E()\ne"
    result = session.run(code)
    assert result.status == "ok" and result.value.startswith("<__main__.E object")
    assert result.done["names"] == "E class\ne E"
    assert session.run("type('X', (), {})()").value.startswith("<__main__.X")
    result = session.run("class R:\n  def __repr__(self): return 5\nR()")
    assert result.done["ename"] == "TypeError"


def test_a_tiny_recursion_limit_is_survived(session):
    session.run("import sys; sys.setrecursionlimit(40)")
    assert session.run("1/0").done["ename"] == "ZeroDivisionError"
    assert session.run("7").value == "7"


def test_exception_groups_have_no_driver_frames(session):
    if session.ready["version"].startswith(("3.9", "3.10")):
        pytest.skip("no ExceptionGroup")
    trace = session.run('raise ExceptionGroup("g", [ValueError(1)])').done["traceback"]
    assert "ValueError: 1" in trace and "ptycell" not in trace


HIDERS = "traceback pprint html ast re tokenize inspect struct linecache asyncio enum textwrap".split()


def test_files_of_the_session_are_no_modules_of_the_driver(start, tmp_path):
    session = start()
    for name in HIDERS:
        (tmp_path / (name + ".py")).write_text("print('run: %s')\n" % name)
    loaded = session.run("import sys; print(*sys.modules)").output.split()
    for _ in range(2):
        result = session.run("def f():\n    return 1/0\nf()")
        assert "    return 1/0\n" in result.done["traceback"] and "no traceback" not in result.done["traceback"]
        assert result.output == ""
    result = session.run("list(range(100))")
    assert result.value.startswith("[0, 1, 2,") and result.value.count("\n") > 1 and result.output == ""
    page = "class P:\n  def _repr_html_(self): return '<p>a<p>b'\nP()"
    assert (session.run(page).value, session.output) == ("a\nb", b"")
    assert (session.run("class A:\n  def __await__(self): return iter(())\nawait A(); 5").value, session.output) == ("5", b"")
    for name in set(HIDERS) - set(loaded):
        assert session.run("import %s; %s.__file__" % (name, name)).output == "run: %s\n" % name
    assert "ZeroDivisionError" in session.run("f()").done["traceback"]
    assert (session.run("list(range(100))").output, session.run("1").value) == ("", "1")


def test_a_status_that_no_c_int_holds_is_what_python_makes_of_it(session):
    for code, told in ((3, "3"), (-1, "-1"), (2**40 + 5, "5"), (2**70, "255"), (-2**70, "255")):
        assert session.run("import sys; sys.exit(%d)" % code).done["code"] == told


STACKS = """\
import inspect, io, logging, traceback
def stacks():
    logging.warning("%d", "x")
    file = io.StringIO()
    traceback.print_stack(file=file)
    return file.getvalue().count("File"), [place.function for place in inspect.stack()], len(traceback.extract_stack())
stacks()"""


def test_stacks_begin_with_the_cell(session):
    result = session.run(STACKS)
    assert result.value == "(2, ['stacks', '<module>'], 2)"
    assert "--- Logging error ---" in result.output and "ptycell" not in result.output and "<string>" not in result.output
    frames = "len(traceback.StackSummary.extract(traceback.walk_stack(None)))"
    assert session.run(frames).value == "1"


@pytest.mark.parametrize("setter", ["sys.settrace", "sys.setprofile"])
def test_what_code_traces_is_code(session, setter):
    session.run("import sys\nseen = []\ndef f(): return 1\ndef g(): raise ValueError")
    session.run("def note(frame, event, arg):\n    seen.append(frame.f_code.co_name)\n    return note")
    session.run(setter + "(note)")
    assert session.run("f()").value == "1"
    assert session.run("g()").status == "error"
    session.run(setter + "(None)")
    names = session.run("print(*sorted(set(seen)))").output.split()
    ours = {"resume_tracing", "run_codes"} if setter == "sys.setprofile" else set()
    assert {"<module>", "f", "g"} <= set(names) <= {"<module>", "f", "g"} | ours
    assert session.run("sys.gettrace(), sys.getprofile()").value == "(None, None)"

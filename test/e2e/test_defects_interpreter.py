# SPDX-License-Identifier: MIT
"""Defects that CodeBoxMCP inherits from its engine, by their ids in prior-art.md, with our behaviour."""
import pytest
from client import Result
from patience import until
from steps import HANG_S, HOLD, go


def test_aliases_and_case_name_one_interpreter(server):
    server.cell("x = 5")
    for language in ("py", "Python", "PYTHON", "python3", "ipython"):
        assert server.cell("x", language=language).text == "5\n"
    languages = server.call("session_info", session_id="s").object["languages"]
    assert [row["name"] for row in languages if row["state"] == "ready"] == ["python"]


def test_an_unknown_language_is_refused_with_those_there_are(server):
    refused = server.cell("1", language="cobol")
    assert refused.is_error and "'cobol'" in refused.texts[0] and "python" in refused.texts[0]


def test_a_docstring_stays_one(server):
    server.cell('def f():\n    """The doc."""\n    return 1\nclass C:\n    """Of C."""')
    assert server.cell("f.__doc__, C.__doc__").text == "('The doc.', 'Of C.')\n"
    server.cell('"""Of the cell."""\nx = 1')


def test_future_imports_work_and_stay(server):
    assert server.cell("from __future__ import annotations\ndef f(a: Undefined): pass\n1").text == "1\n"
    assert server.cell("def g(a: Undefined): pass\ng.__annotations__").text == "{'a': 'Undefined'}\n"


def test_blank_lines_in_strings_stay_beside_magics(server):
    code = "!true\nt = '''a\n\n! no command\n%no magic\n\nb'''\n%pwd\nt"
    assert server.cell(code).text.endswith("'a\\n\\n! no command\\n%no magic\\n\\nb'\n")


def test_silence_for_seventeen_seconds_is_just_waited_for(server):
    silent = server.start_cell(HOLD + "'still here'")
    until(lambda: server.call("list_sessions").object["sessions"][0]["age_seconds"] > 17)
    go(server)
    result = Result(silent.get()["result"])
    assert result.state == "done" and result.text == "'still here'\n"
    assert not server.strays()


@pytest.mark.parametrize("code, said", [
    ("import os; os._exit(1)", "exited with code 1"),
    ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
    ("import os; os.kill(os.getpid(), 9)", "SIGKILL"), ("import os; os.abort()", "SIGABRT")])
def test_an_interpreter_that_dies_is_answered_at_once(server, code, said):
    server.cell("x = 1")
    result = server.cell(code, timeout=HANG_S, budget=HANG_S)
    assert result.state == "died" and said in result.text
    assert "driver" not in result.text and "Extension modules" not in result.text and "<string>" not in result.text
    assert server.cell("'x' in globals()").text == "False\n"


def test_input_is_told_with_what_to_do_and_never_hangs(server):
    result = server.cell("x = 1\nname = input('Name: ')")
    assert result.state == "waiting_for_input" and "'Name:'" in result.text
    assert "Answer with interact's input" in result.text
    assert server.interact(input="Ann").state == "done"
    assert server.cell("x, name").text == "(1, 'Ann')\n"


@pytest.mark.parametrize("marker", ["@@@SEND_MESSAGE_AS_USER@@@", "@@@HIDE_TRACEBACK@@@",
                                    "@@@RECIPIENT:assistant", "##end_of_execution##",
                                    "##active_line1##", "done 1 0", "[output]"])
def test_no_text_of_a_program_is_a_marker(server, marker):
    server.cell("1")
    result = server.cell(f"print({marker!r}); print('after')")
    assert result.text == f"{marker}\nafter\n"
    raised = server.cell(f"raise ValueError({marker!r})")
    assert raised.text.startswith("Traceback") and marker in raised.text

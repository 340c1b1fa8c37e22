# SPDX-License-Identifier: MIT
"""The six behaviours of Desktop Commander that peers.md 7.3 reproduces, with ours."""
import pytest
from client import WAIT_S, Server
from patience import until
from steps import all_gone, family, own_seconds, with_word


def running(server):
    rows = server.call("list_sessions").object["sessions"]
    return rows and rows[0]["state"] == "running"


def test_a_def_and_a_line_after_it_are_one_input(server):
    assert server.cell("def f():\n    return 42\nf()").text == "42\n"


def test_a_blank_line_inside_a_function_is_one(server):
    assert server.cell("def f():\n    a = 1\n\n    b = 2\n\n\n    return a + b\n\nf()").text == "3\n"


def test_input_says_that_it_waits_and_for_what(server):
    result = server.cell("input('How many? ')")
    assert result.state == "waiting_for_input" and "waits for input" in result.text
    assert "'How many?'" in result.text


def test_every_answer_belongs_to_its_call(server):
    result = server.cell("import time\nprint('Error: not one')\nprint('>>> ')\nprint('$ ')\n"
                         "time.sleep(0.5)\nprint('late')")
    assert result.state == "done" and result.text == "Error: not one\n>>>\n$\nlate\n"
    for number in range(5):
        assert server.cell(f"print({number})").text == f"{number}\n"


def test_a_cancelled_cell_stops_and_its_session_stays(server):
    word = own_seconds("1123")
    server.cell("x = 5\nimport subprocess")
    pending = server.start_cell(f"subprocess.run(['sleep', '{word}'])")
    children = until(lambda: with_word(word))
    server.cancel(pending)
    all_gone(children)
    assert server.cell("x").text == "5\n" and not server.strays()


@pytest.mark.parametrize("end", ["input", "terminate"])
def test_after_its_end_no_process_runs_on(home, end):
    server = Server(home, env={"PTYCELL_CALL_BUDGET": "1"})
    server.cell("x = 1")
    server.start_cell("while True: pass")
    until(lambda: running(server))
    processes = family(server.process.pid)
    if end == "input":
        server.process.stdin.close()
    else:
        server.process.terminate()
    assert server.process.wait(WAIT_S) in (0, 1)  # 1: the cell was not answered
    all_gone(processes)
    server.close()

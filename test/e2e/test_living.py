# SPDX-License-Identifier: MIT
"""Long cells: a call is answered within its wait and the code runs on; interact looks, waits, stops."""
import re

import pytest
from client import Result
from patience import until
from steps import BEGUN, HANG_S, HOLD, NEVER_S, assert_honest, begin, go, is_running


# ---- the call budget ----

def test_a_call_is_answered_within_its_wait_and_its_cell_runs_on(server):
    answers = [server.cell(f"print('tick', 0)\n{HOLD}for i in range(1, 4): print('tick', i)\n'end'", budget=0.3)]
    until(lambda: "tick 0\n" in answers[-1].text or answers.append(server.interact(budget=0.3)))
    for answer in answers:
        assert answer.state == "running" and not answer.is_error
        assert_honest(answer)
    go(server)
    rest = server.interact()
    assert (rest.state, rest.status["cell"]) == ("done", 1) and rest.text.endswith("'end'\n")
    # Each answer has only what is new.
    lines = [line for text in (*(a.text for a in answers), rest.text) for line in text.splitlines() if "tick" in line]
    assert lines == [f"tick {i}" for i in range(4)]


def test_a_wait_of_0_starts_the_code_and_answers_at_once(server):
    result = server.cell(HOLD + "x = 5\nx", budget=0)
    assert result.state == "running"
    go(server)
    assert server.interact().text == "5\n"


@pytest.mark.parametrize("value", [-1, 1e9, "five", True])
def test_a_wait_that_is_none_is_refused_by_name(server, value):
    for result in (server.cell("1", budget=value), server.interact(budget=value)):
        assert result.is_error and "arguments.wait" in result.texts[0]


def test_code_that_finds_a_cell_running_on_is_not_started_and_told_so_at_once(server):
    server.cell("import time; x = 1")
    assert server.cell(f"time.sleep({NEVER_S})", budget=0.1).state == "running"
    result = server.cell("x = 2", budget=HANG_S)
    assert result.state == "not_started" and result.is_error
    assert "cell 2 has been running for " in result.text and "action wait" in result.text
    assert server.interact(action="interrupt").state == "interrupted"
    assert server.cell("x").text == "1\n"


def test_code_whose_turn_does_not_come_within_its_wait_is_withdrawn(server):
    server.cell("x = 1")
    first = server.start_cell(HOLD + "'slow'")
    second = server.start_cell("x = 2", budget=0.2)
    third = server.start_cell("x")
    withdrawn = Result(second.get()["result"])
    assert withdrawn.state == "not_started" and "cell 2" in withdrawn.text
    go(server)
    assert Result(first.get()["result"]).text == "'slow'\n"
    assert Result(third.get()["result"]).text == "1\n"


def test_another_session_never_waits(server):
    assert server.cell(f"import time; time.sleep({NEVER_S})", budget=0).state == "running"
    assert server.cell("7", session="other").text == "7\n"


def test_what_ended_while_nobody_waited_is_told_with_the_next_answer(server):
    server.cell("1")
    assert begin(server, f"{BEGUN}{HOLD}print('after')\n1/0").state == "running"
    go(server)
    until(lambda: server.call("list_sessions").object["sessions"][0]["state"] == "idle")
    result = server.cell("6 * 7")
    assert result.text == "42\n" and not result.is_error
    (earlier,) = result.earlier
    assert re.match(r"\[cell 2 ended before: raised after \d+\.", earlier)
    assert "after\n" in earlier and "ZeroDivisionError" in earlier and "begun" not in earlier
    assert not server.cell("1").earlier  # once


def test_a_look_when_nothing_runs_says_what_ended_last(server):
    server.call("session_info", session_id="s", config={})
    assert "no cell has run in session 's'" in server.interact().texts[0]
    server.cell("1")
    result = server.interact()
    assert result.state == "done" and "No cell runs" in result.text and not result.is_error


def test_a_look_at_a_session_that_is_not_there_makes_none(server):
    result = server.interact(session="nowhere")
    assert result.is_error and "there is no session 'nowhere'" in result.texts[0]


# ---- interrupting ----

def test_an_interrupt_keeps_the_state_and_proves_it(server):
    server.cell("import time; x = 41")
    begin(server, f"x += 1\n{BEGUN}while True: pass")
    result = server.interact(action="interrupt")
    assert result.state == "interrupted" and not result.is_error
    assert "interrupted after " in result.text and "variables and files are kept" in result.text
    assert server.cell("x").text == "42\n"


def test_a_cancelled_cell_is_told_of_with_the_next_answer(server):
    server.cell("import time; x = 1")
    pending = server.start_cell(f"print('begun')\ntime.sleep({NEVER_S})")
    until(lambda: is_running(server))
    server.cancel(pending)
    result = server.cell("x")
    assert result.text == "1\n"
    (earlier,) = result.earlier
    assert "cancelled: interrupted after " in earlier and "variables and files are kept" in earlier
    assert not server.strays()


def interrupted_in_vain(server, where):
    """The answer, in which code says where it is. It has 100 ms for that, which may be too few on a busy machine."""
    def says_where():
        result = server.interact(action="interrupt")
        assert result.state == "running" and "has not ended" in result.text
        return where in result.text and result
    return until(says_where)


def test_code_that_catches_interrupts_goes_on_until_it_is_terminated(server):
    server.cell("import time")
    begin(server, f"while True:\n  try:\n    {BEGUN}    time.sleep({NEVER_S})\n  except KeyboardInterrupt: print('no')")
    result = interrupted_in_vain(server, "File \"<cell 2>\"")
    assert "terminate" in result.text and "driver" not in result.text
    result = server.interact(action="terminate")
    assert result.state == "died" and "terminated on request" in result.text
    assert server.cell("1").text == "1\n"


def test_kill_ends_what_ignores_everything(server):
    begin(server, f"import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n{BEGUN}time.sleep({NEVER_S})")
    result = server.interact(action="kill")
    assert result.state == "died" and "killed on request" in result.text
    assert server.cell("2").text == "2\n"


def test_the_stack_dump_kills_no_child(server):
    # SIGUSR2 is for the interpreter alone: a child that knows nothing of it would die.
    server.cell("import signal, subprocess, time")
    begin(server, "import os\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
          f"p = subprocess.Popen(['sleep', '{NEVER_S}'], start_new_session=True)\n"
          f"{BEGUN}while p.poll() is None and not os.path.exists('input/go'): time.sleep(0.02)\np.poll() is None")
    interrupted_in_vain(server, "most recent call first")
    go(server)
    assert server.interact().text.endswith("True\n")  # its child lives


def test_cancelling_a_look_leaves_the_cell_alone(server):
    server.cell(HOLD + "'whole'", budget=0)
    look = server.start("tools/call", {"name": "interact", "arguments": {"session_id": "s"}})
    server.cancel(look)
    go(server)
    assert server.interact().text == "'whole'\n"


# ---- progress ----

PROGRESS = "notifications/progress"


def next_but_changes(server):
    """What comes next, but news of lists and files."""
    while "changed" in (message := server.others.get()).get("method", "") or "updated" in message.get("method", ""):
        pass
    return message


def test_progress_rises_with_the_last_line_and_never_follows_the_answer(server):
    server.cell("import os, time")
    pending = server.start("tools/call", {"name": "exec_code", "_meta": {"progressToken": 0}, "arguments": {
        "session_id": "s", "language": "python",
        "code": "i = 0\nwhile not os.path.exists('input/go'):\n  print(f'\\x1b[32mepoch {i}\\x1b[0m'); i += 1\n"
                "  time.sleep(0.1)\n'end'"}})
    server.waiting.pop(pending.id)  # the answer comes in its turn, between the notes
    notes = [next_but_changes(server)["params"] for _ in range(2)]
    go(server)
    while "method" in (message := next_but_changes(server)):
        notes.append(message["params"])
    assert Result(message["result"]).state == "done"
    server.request("ping")
    assert not server.notifications(PROGRESS)
    assert all(note["progressToken"] == 0 for note in notes)
    # Every 2 s, which a busy machine tells later or sooner after the one before.
    assert 1 < notes[0]["progress"] and all(one["progress"] + 1 < two["progress"] for one, two in zip(notes, notes[1:]))
    assert {note["message"].split()[0] for note in notes} == {"epoch"}


def test_nobody_who_did_not_ask_is_told_progress(server):
    silent = server.start_cell(HOLD)
    until(lambda: is_running(server))
    told = server.start("tools/call", {"name": "exec_code", "_meta": {"progressToken": 1}, "arguments": {
        "session_id": "told", "language": "python", "code": HOLD}})
    for _ in range(2):  # the other's would have come between them
        assert next_but_changes(server)["params"]["progressToken"] == 1
    go(server)
    go(server, "told")
    assert silent.get() and told.get()
    assert {note["params"]["progressToken"] for note in server.notifications(PROGRESS)} <= {1}


# ---- death ----

@pytest.mark.parametrize("code, says", [
    ("import os; os._exit(3)", "exited with code 3"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "killed by signal 9 (SIGKILL)"),
    ("import ctypes; ctypes.string_at(0)", "killed by signal 11 (SIGSEGV)")])
def test_a_death_while_nobody_looks_is_explained_by_the_next_answer(server, code, says):
    server.cell("x = 5")
    server.cell(HOLD + code, budget=0)
    go(server)
    until(lambda: server.call("list_sessions").object["sessions"][0]["state"] == "idle")
    result = server.cell("'x' in globals()")
    assert result.text == "False\n"
    (earlier,) = result.earlier
    assert earlier.startswith("[cell 2 ended before: died after ") and says in earlier
    assert "Variables and imports are gone, files are not" in earlier
    if "SEGV" in says:
        assert 'File "<cell 2>", line 3' in earlier

# SPDX-License-Identifier: MIT
"""Variables come back without running cells again: interact with action restore_values."""
import os
import random
import time

import pytest

from client import command
from patience import until
from steps import HOLD, paths_in

KILLS = int(os.environ.get("PTYCELL_KILLS", "4"))


@pytest.fixture
def start(start):
    return lambda **env: start(**{"PTYCELL_RESUME_VARIABLES": "200M", **env})


def restore(server, **arguments):
    return server.interact(action="restore_values", **arguments)


def told(result, failed=False):
    assert result.is_error == failed, result.texts
    return "\n".join(result.texts)


def files(home):
    """The files with saved variables, whose record names them."""
    return [path for path in paths_in(home, "**/journal/variables-*") if (path.parent / "variables").exists()]


def record(home):
    """The records of what is saved, as text."""
    return "".join(path.read_text() for path in paths_in(home, "**/journal/variables"))


def saved(home, cell):
    """Waits until the variables are saved as they are after this cell."""
    until(lambda: '"cell":%d,' % cell in record(home).replace(" ", ""))


def next_day(start, server, **env):
    server.close()
    return start(**env)


def a_day_after(start, home, code):
    """A server that can bring back the variables of this code."""
    server = start()
    server.cell(code)
    saved(home, 1)
    return next_day(start, server)


def test_variables_are_saved_in_a_quiet_moment_and_come_back_after_a_kill(start, home):
    server = start()
    server.cell("import math as m\nx = [1]\ny = {'x': x}\ndef double(n): return 2 * n\nf = open('f', 'w')")
    saved(home, 1)
    server.process.kill()
    server.process.wait()
    server = start()
    text = told(restore(server))
    assert "The variables of session 's' are back as they were after cell 1 (" in text
    assert "\nBack: " in text and "\nNot back: f (cannot pickle '_io.TextIOWrapper' object)." in text
    assert server.cell("x, y['x'] is x, double(4), m.pi > 3").text == "([1], True, 8, True)\n"


def stop_session(start, home, server):
    assert "Session 's' has ended." in command(home, "stop", "s")
    return server


def restart(start, home, server):
    return next_day(start, server)


@pytest.mark.parametrize("end", (restart, stop_session))
def test_they_are_saved_at_the_end(start, home, end):
    """The end waits 50 ms for that, which is not enough on every machine at every moment."""
    def comes_back():
        server = start()
        number = server.cell("x = 1").status["cell"]
        server = end(start, home, server)
        server.cell("1")
        text = restore(server).texts[0]
        server.call("destroy_session", session_id="s")
        server.close()
        return f"as they were after cell {number}" in text
    until(comes_back)


def test_what_background_tasks_change_later_is_saved_at_the_end_or_named(start, home):
    code = ("import asyncio\nstate = {'n': 0}\nasync def count():\n    while True:\n        state['n'] += 1\n"
            "        open('n', 'w').write(str(state['n']))\n        await asyncio.sleep(0.02)\ntask = asyncio.create_task(count())")

    def comes_back():
        server = start()
        number = server.cell(code).status["cell"]
        saved(home, number)
        time.sleep(0.5)
        server = next_day(start, server)
        text = told(restore(server))
        same = server.cell("int(open('n').read()) - state['n'] in (0, 1)").text == "True\n"
        assert same != ("what background tasks changed later (" in text), text
        server.call("destroy_session", session_id="s")
        server.close()
        return same
    until(comes_back)


def test_what_background_tasks_change_after_the_last_save_is_named(start, home):
    server = start()
    server.cell("import asyncio\nn = 0\nasync def count():\n    global n\n    while True:\n        n += 1\n        await asyncio.sleep(0.01)\n"
                "task = asyncio.create_task(count())")
    saved(home, 1)
    server.process.kill()
    server.process.wait()
    assert "what background tasks changed later (they went on after the variables were saved)" in told(restore(start()))


def test_they_are_saved_before_cells_run_again(start, home):
    def comes_back():
        server = start()
        number = server.cell("x = 1").status["cell"]
        server.interact(action="restore_run")
        text = restore(server).texts[0]
        server.call("destroy_session", session_id="s")
        server.close()
        return f"The saved ones are as they were after cell {number}." in text
    until(comes_back)


def test_the_first_answer_offers_what_is_quicker(start, home):
    server = a_day_after(start, home, "import time\ntime.sleep(2)\nx = 1")
    notice = server.cell("1/0").notice
    assert 'interact with action "restore_values" brings those of cell 1 back' in notice
    assert "restore_run runs its cells again (about 2." in notice
    told(restore(server))
    server.cell("y = 2")
    saved(home, 3)
    assert "brings those of cells 1 to 3 back" in next_day(start, server).cell("1").notice


def test_the_other_way_is_offered_too(start, home):
    server = start()
    server.cell("x = 1")
    saved(home, 1)
    notice = next_day(start, server).cell("1").notice
    assert "restore_run" in notice and "restore_values" in notice


def test_a_failed_cell_makes_saved_variables_the_first_offer(start, home):
    server = start()
    server.cell("x = 1\n1/0")
    server.cell("y = 2")
    saved(home, 2)
    notice = next_day(start, server).cell("1").notice
    assert 'interact with action "restore_values" brings' in notice
    assert ", restore_run runs its cells again" in notice, "however short the cells were"


def test_the_cells_after_the_last_save_are_named(start, home):
    server = start()
    server.cell("x = 1")
    saved(home, 1)
    server.cell("z = 3\nimport os\nos.close(5)")
    server.cell("y = 2")
    server = next_day(start, server)
    text = told(restore(server))
    assert "as they were after cell 1" in text
    assert "2 cells of Python, 2 to 3, ran after they were saved: what these made or changed is not among them." in text
    assert server.cell("x, 'y' in dir()").text == "(1, False)\n"


def test_the_cells_that_were_lost_once_are_named_in_later_lives(start, home):
    """Their values are older than the record says."""
    server = start()
    server.cell("x = 1")
    saved(home, 1)
    server.cell("x = 2\nimport os\nos.close(5)")
    server = next_day(start, server)
    told(restore(server))
    server.cell("y = x")
    saved(home, 3)
    server = next_day(start, server)
    assert "Cell 2 ran after variables were saved and before they were lost: what changed there may be missing." in told(restore(server))
    assert server.cell("x, y").text == "(1, 1)\n"
    saved(home, 4)
    server.cell("x = 3\nimport os\nos.close(5)")
    server = next_day(start, server)
    told(restore(server))
    server.cell("z = 1")
    saved(home, 6)
    server = next_day(start, server)
    assert "Some of cells 2 to 5 ran after variables were saved and before they were lost: what changed there may be missing." in told(restore(server))


def test_languages_whose_variables_are_not_saved_are_named(start, home):
    server = start()
    server.cell("a=1", language="bash")
    server.cell("x = 1\n1/0")
    saved(home, 2)
    server = next_day(start, server)
    words = "Variables of bash are not among them: only restore_run makes those again."
    assert words in server.cell("1").notice
    server.cell("1", language="javascript")
    assert words in told(restore(server))


def test_a_second_life_does_not_save_over_what_it_has_not(start, home):
    server = a_day_after(start, home, "x = 1")
    server.cell("x = 'today'\ny = 2")
    server = next_day(start, server)
    assert "as they were after cell 1" in told(restore(server))
    server.cell("z = x + 1")
    saved(home, 3)
    server = next_day(start, server)
    told(restore(server))
    assert server.cell("x, z").text == "(1, 2)\n"


def test_a_save_of_no_variable_is_not_offered(start, home):
    server = a_day_after(start, home, "print(1)")
    notice = server.cell("1").notice
    assert "restore_run" in notice and "restore_values" not in notice


@pytest.mark.parametrize("code, names", [("print(1)", ""), ("f = open('f', 'w')", "\nNot back: f (")])
def test_a_save_of_no_variable_says_so_and_names_the_other_way(start, home, code, names):
    told_then = told(restore(a_day_after(start, home, code)))
    assert "No variable of session 's' is saved: after cell 1 there was none that could be. interact with action \"restore_run\" runs the recorded cells again." + names in told_then
    assert "was loaded" not in told_then and "its variables are not" in told_then


@pytest.mark.parametrize("action", ["restore_values", "restore_run"])
def test_a_restore_that_resumes_the_session_does_not_say_that_the_variables_are_not_back(start, home, action):
    server = a_day_after(start, home, "x = 1")
    text = told(server.interact(action=action))
    assert "Session 's' is resumed: 1 cell until " in text and "when the host closed. To begin empty" in text
    assert "variables are not" not in text and "restore_run" not in text
    assert " variables are back" in text or "are back as they were" in text
    assert server.cell("x").text == "1\n"


def test_a_save_of_no_variable_protects_nothing(start, home):
    server = a_day_after(start, home, "print(1)")
    server.cell("x = 5")
    saved(home, 2)
    server = next_day(start, server)
    assert "Back: x." in told(restore(server))


def test_a_session_that_goes_on_without_them_saves_again(start, home):
    server = a_day_after(start, home, "x = 1")
    assert "Saved variables stay until ten cells have run without them." in server.cell("y = 2").notice
    for _ in range(8):
        server.cell("y = 2")
    server = next_day(start, server)
    assert "as they were after cell 1 (" in told(restore(server))
    server = next_day(start, server)
    for _ in range(10):
        server.cell("y = 3")
    saved(home, 20)
    assert "No variable of session 's' was loaded. The saved ones are as they were after cell 20; those from before cell 11 are not among them." in told(restore(server))
    server = next_day(start, server)
    assert "are back as they were after cell 20; those from before cell 11 are not among them (" in told(restore(server))
    assert server.cell("y, 'x' in dir()").text == "(3, False)\n"


def test_what_can_never_be_loaded_does_not_hold_later_saves(start, home):
    error = "class E(Exception):\n    def __init__(self, a, b): super().__init__(b)\ne, x = E(1, 2), 1"
    server = a_day_after(start, home, error)
    text = told(restore(server))
    assert "Not back: e (loading it failed: " in text and "Could not be loaded" not in text
    server.cell("y = x + 1")
    saved(home, 2)
    server = next_day(start, server)
    assert "Back: E, x, y." in told(restore(server))


def test_what_may_be_loaded_later_holds_later_saves_and_that_is_told(start, home):
    server = start()
    server.cell("open('mine.py', 'w').write('class Mine: pass')\nfrom mine import Mine\nm, x = Mine(), 1")
    saved(home, 1)
    server.cell("import os; os.remove('mine.py')")
    server = next_day(start, server)
    text = told(restore(server))
    assert "Could not be loaded: " in text and "no variable of those cells is saved before that" in text
    server.cell("open('mine.py', 'w').write('class Mine: pass')\nimport importlib; importlib.invalidate_caches()")
    assert "m." in told(restore(server)) and "could not" not in told(restore(server)).lower()


def test_names_that_cells_have_made_since_stay(start, home):
    server = a_day_after(start, home, "x = 1\ny = 1")
    server.cell("x = 2")
    assert "Not replaced, because they were there: x." in told(restore(server))
    assert server.cell("x, y").text == "(2, 1)\n"
    assert told(restore(server)).startswith("No variable of session 's' was loaded. The saved ones are as they were after cell 1.\nNot replaced, ")


def test_files_do_not_change(start, home):
    server = start()
    server.cell("open('f', 'w').write('1')\nx = 1")
    saved(home, 1)
    server.cell("open('f', 'w').write('2')")
    server = next_day(start, server)
    result = restore(server)
    assert "The files are unchanged" in told(result)
    result = server.cell("open('f').read(), __import__('os').listdir('.')")
    assert result.text.startswith("('2', ") and "variables" not in result.text
    assert not result.status.get("files")


def test_environment_and_folder_are_said_not_to_be_back(start, home):
    server = a_day_after(start, home, "import os\nos.environ['STAGE'] = 'production'\nos.mkdir('sub')\nos.chdir('sub')")
    assert "Not back, as they are no variables: environment variables, the current folder, options of modules, " in told(restore(server))
    assert server.cell("os.environ.get('STAGE'), os.path.basename(os.getcwd()) == 'sub'").text == "(None, False)\n"


def test_a_lost_interpreter_is_brought_back_to_the_last_save(start, home):
    server = start()
    server.cell("x = 1")
    saved(home, 1)
    answers = server.cell("import os\nos._exit(3)").texts + server.cell("1").texts
    assert 'interact with action "restore_values" brings them back' in "\n".join(answers)
    assert "as they were after cell 1" in told(restore(server))
    assert server.cell("x").text == "1\n"


def test_a_hostile_file_runs_only_inside_the_sandbox(start, home, tmp_path):
    """It loads as what the session itself could do: no more of the machine is there."""
    server = start()
    mark = tmp_path / "outside"
    server.cell(
        "import os\nclass Bad:\n    def __init__(self): self.a = 1\n"
        f"    def __reduce__(self): return os.system, ('touch {mark}; touch inside',)\nbad = Bad()\nx = 1")
    saved(home, 1)
    confined = server.call("session_info", session_id="s").object["confinement"]["tier"] != "unconfined"
    server = next_day(start, server)
    assert "inside" not in server.cell("ls", language="bash").text and not mark.exists()
    told(restore(server))
    assert "inside" in server.cell("ls", language="bash").text
    assert mark.exists() != confined


def test_what_it_reads_is_private_and_goes_with_the_session(start, home):
    server = start()
    server.cell("x = 1")
    saved(home, 1)
    assert [oct(path.stat().st_mode & 0o777) for path in files(home)] == ["0o600"]
    server = next_day(start, server)
    told(restore(server))
    assert [oct(path.stat().st_mode & 0o777) for path in files(home)] == ["0o600"]
    assert not list(paths_in(home, "**/spool/variables"))
    server.call("destroy_session", session_id="s")
    until(lambda: not list(paths_in(home, "**/journal/variables*")))


def test_secrets_stay_out_of_the_file(start, home):
    server = start(PTYCELL_SECRET_TOKEN="hunter22hunter22")
    server.cell("import os\ntoken = os.environ['TOKEN']\nx = 1")
    saved(home, 1)
    assert b"hunter22" not in b"".join(path.read_bytes() for path in files(home))
    server = next_day(start, server, PTYCELL_SECRET_TOKEN="hunter22hunter22")
    assert "token (it holds a secret)" in told(restore(server))


def test_a_size_limit_leaves_out_what_is_too_large(start, home):
    server = start(PTYCELL_RESUME_VARIABLES="2M")
    server.cell("small = 1\nlarge = bytes(3_000_000)")
    saved(home, 1)
    assert sum(path.stat().st_size for path in files(home)) < 2 << 20
    server = next_day(start, server)
    assert "large (larger than the room for all)" in told(restore(server))


@pytest.mark.parametrize("env", [{"PTYCELL_RESUME_VARIABLES": "off"}, {"PTYCELL_RESUME": "off"}])
def test_off_saves_nothing(start, home, env):
    server = start(**env)
    server.cell("x = 1")
    server = next_day(start, server, **env)
    assert not list(paths_in(home, "**/journal/variables*"))
    server.cell("1")
    assert "no variables of session 's' are saved: action restore_run" in told(restore(server), failed=True)


def test_cells_that_are_not_recorded_are_not_said_to_run_again(start):
    server = start(PTYCELL_RECORD="off", PTYCELL_RESUME_VARIABLES="off")
    server.cell("x = 1")
    assert told(restore(server), failed=True).strip() == "no variables of session 's' are saved"


def test_a_damaged_file_is_told(start, home):
    server = a_day_after(start, home, "x = 'some text'")
    for path in files(home):
        data = bytearray(path.read_bytes())
        data[5] ^= 1
        path.write_bytes(data)
    text = told(restore(server), failed=True)
    assert "are not all back: loading them raised ValueError: the saved variables are damaged" in text
    assert server.cell("'x' in dir()").text == "False\n"


def test_it_can_be_stopped_and_cancelled(start, home):
    server = start()
    server.cell("import time\ndef wait():\n    while True: time.sleep(0.01)\n"
                "class Slow:\n    def __reduce__(self): return wait, ()\nslow = Slow()")
    saved(home, 1)
    server = next_day(start, server)
    assert "The variables are still being brought back" in told(restore(server, budget=0))
    refused = server.cell("1")
    assert refused.is_error and "the variables of session 's' are being brought back" in refused.texts[0]
    until(lambda: server.call("session_info", session_id="s").object["state"] == "running")
    assert "loading them was interrupted" in told(server.interact(action="interrupt"), failed=True)
    assert server.cell("1").text == "1\n"


def test_while_a_cell_runs_it_is_refused(start, home):
    server = start()
    server.cell("x = 1")
    saved(home, 1)
    server.cell(HOLD, budget=0)
    assert "something is under way in session 's'" in told(restore(server), failed=True)
    server.call("upload_file", session_id="s", filename="go", content="")
    server.interact(action="wait")


@pytest.mark.limit(600)
def test_a_kill_while_it_is_saved_leaves_the_earlier_one_whole(start, home):
    server = start()
    server.cell("version, data = 0, bytes(20_000_000)")
    saved(home, 1)
    cells = 1
    for turn in range(KILLS):
        server.cell("version += 1\ndata = bytes([version]) * 20_000_000")
        time.sleep(random.uniform(0.9, 1.3))  # about the moment when it is saved
        server.process.kill()
        server.process.wait()
        server = start()
        told(restore(server))
        assert server.cell("data == bytes([version]) * 20_000_000").text == "True\n"
        until(lambda: len(list(paths_in(home, "**/journal/variables-*"))) == 1)


def test_it_can_be_stopped_before_it_begins(start, home):
    server = a_day_after(start, home, "x = 1")
    restore(server, budget=0)
    text = "\n".join(server.interact(action="interrupt").texts)
    assert any(word in text for word in ("are not back: that was stopped before it began", "was interrupted", "are back")), text
    assert server.cell("1").text == "1\n"

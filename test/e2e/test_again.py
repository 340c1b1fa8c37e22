# SPDX-License-Identifier: MIT
"""The kept notebook is of use elsewhere: it is valid, converts, and runs again. test_slow_again.py runs many."""
import json

import pytest
from client import LASTS, Server
from patience import until
from rerun import assert_same, convert, differences, record, run_again, skip_without_jupyter
from sessions_again import ALL
from steps import skip_without


def test_a_recorded_session_runs_again_and_becomes_a_script(home, tmp_path):
    skip_without_jupyter()
    nbformat = pytest.importorskip("nbformat")
    steps, also = ALL["mixed-few"]
    kept = record(home, steps)
    nbformat.validate(nbformat.read(kept / "notebook.ipynb", as_version=4))
    assert_same(kept, tmp_path / "copy", *also)
    convert(kept, "--to", "script")
    script = (kept / "notebook.py").read_text()
    compile(script, "notebook.py", "exec")
    assert "get_ipython().run_cell_magic('ptycell', 'bash 1', 'wc -l" in script


@pytest.mark.parametrize("name", ["bash-options", "python-keys", "python-backend", "python-loops", "python-program", "javascript-modules",
                                  "javascript-unasked", "r-errors", "r-devices", "mixed-folders", "mixed-open_files", "mixed-environment", "mixed-queries", "mixed-figures"])
def test_what_cells_set_and_what_was_typed_to_them_is_the_same_again(home, tmp_path, name):
    skip_without_jupyter()
    steps, also = ALL[name]
    for language in {step[0] for step in steps} & {"javascript", "r"}:
        skip_without(language)
    assert_same(record(home, steps), tmp_path / "copy", *also)


def test_a_cell_that_needs_what_a_stopped_one_left_says_so_and_the_others_run(home, tmp_path):
    skip_without_jupyter()
    kept = record(home, [("python", "n = 5\nimport time\ntime.sleep(100)", 0.5), ("python", "m = n + 1"), ("bash", "exit 3"), ("python", "1/0"), ("python", "m"),
                         ("python", "'end'")])
    _, again, _ = run_again(kept, tmp_path / "copy")
    cells = {cell["id"]: cell["outputs"] for cell in again["cells"] if cell["cell_type"] == "code"}
    note = "[not so in the session; cells that were stopped there are not run again: 1]\n"
    assert [["".join(output.get("ename", output.get("text"))) for output in cells[f"cell-{n}"]] for n in (2, 4, 5)] == [
        ["NameError", note], ["ZeroDivisionError"], ["NameError", note]]
    assert "".join(cells["cell-6"][0]["data"]["text/plain"]) == "'end'"


@pytest.mark.parametrize("other", ["[" * 10 ** 6, '{"cells": [{"cell_type": "code", "source": [], "metadata": []}, 5]}', "\udcff"], ids=["deep", "odd", "no text"])
def test_another_notebook_in_the_folder_may_have_any_content(home, tmp_path, other):
    skip_without_jupyter()
    kept = record(home, [("python", "import os, matplotlib.pyplot as plt\nplt.plot([1]);"), ("python", "os.listdir('output')")])
    (kept / "a.ipynb").write_text(other, errors="surrogateescape")
    assert differences(*run_again(kept, tmp_path / "copy")) == []


def test_the_first_cells_say_what_the_session_had(home):
    kept = record(home, [("upload_file", {"filename": "a`<b>.csv", "content": "x\n"}), ("python", "1"),
                         ("upload_file", {"filename": "c.csv", "content": "y\n"}), ("bash", "exit 3")])
    cells = {cell["id"]: cell for cell in json.loads((kept / "notebook.ipynb").read_text())["cells"]}
    assert list(cells) == ["session", "replay", "cell-1", "language-2", "before-2", "cell-2"]
    about = cells["session"]["source"]
    assert "# Session `s`\n" in about and "- Version of Python: `3." in about
    assert "- Input: `input/a'<b>.csv`, 2 bytes, SHA-256 `73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac`" in about
    assert cells["before-2"]["source"].startswith('ptycell.input("input/c.csv", 2, "')
    assert cells["cell-2"]["source"] == "%%ptycell bash 3\nexit 3"
    assert (kept / "input" / "c.csv").read_text() == "y\n"


def test_a_resumed_session_runs_again_with_the_state_that_each_life_had(home, tmp_path):
    skip_without_jupyter()
    with Server(home, env=LASTS) as server:
        server.cell("n = 1")
        server.cell("v=3", language="bash")
    with Server(home, env=LASTS) as server:
        assert server.cell("n").state == "raised"
        server.cell("n = globals().get('n', 6) + 1; n")
        assert server.cell("echo v=$v", language="bash").text == "v=\n"
    with Server(home, env=LASTS) as server:
        server.call("interact", session_id="s", action="restore_run")
        assert server.cell("echo v=$v", language="bash").text == "v=3\n"
    (kept,) = (home / "kept").glob("*-s-*")
    cells = {cell["id"]: cell["source"] for cell in json.loads((kept / "notebook.ipynb").read_text())["cells"]}
    assert (cells["before-3"], cells["before-6"]) == ("ptycell.resumed()", "ptycell.resumed()\nptycell.restored()")
    assert_same(kept, tmp_path / "copy")


def test_what_a_later_life_began_with_stays_behind_the_cells_that_ran_when_a_server_was_killed(home, tmp_path):
    """However often the journal is read again."""
    skip_without_jupyter()
    with Server(home, env=LASTS) as server:
        server.cell("x = 1")
        server.cell("sleep 100", language="bash", budget=0)
        server.cell("y = x + 1")
        server.process.kill()
        server.process.wait()
    with Server(home, env=LASTS) as server:
        server.call("upload_file", session_id="s", filename="a.txt", content="a")
        server.cell("'y' in globals()")
    with Server(home, env=LASTS) as server:
        server.cell("5")
    (kept,) = (home / "kept").glob("*-s-*")
    cells = {cell["id"]: cell["source"] for cell in json.loads((kept / "notebook.ipynb").read_text())["cells"]}
    assert [name for name in cells if name.startswith("before-")] == ["before-4", "before-5"]
    assert cells["before-4"].startswith("ptycell.resumed()\nptycell.input(") and cells["before-5"] == "ptycell.resumed()"
    assert_same(kept, tmp_path / "copy")


LIVES = {
    "a kill of an interpreter, and all cells": [[
        ("a = 1; _b = 2", "python"), ("v=1; f() { echo f$v; }", "bash"), ("kill -9 $$", "bash"), ("echo v=$v", "bash"), "restore_run", ("f", "bash"),
        ("import os; os._exit(3)", "python"), ("c = 4", "python"), "restore_run", ("a, _b, c", "python")]],
    "a kill of an interpreter, and saved variables": [[
        ("a = 1; b = [1]", "python"), "saved", ("import os; os._exit(3)", "python"), "restore_values", ("a, b", "python")]],
    "saved variables, and then all cells": [
        [("x = 1; b = [1]; k = [1]", "python"), "saved", ("x = 2; b = [2]", "python"), ("import os; os._exit(3)", "python")],
        ["restore_values", ("k.append(3); x, b, k", "python"), ("import os; os._exit(3)", "python"), "restore_values", ("x, b, k", "python"), "restore_run", ("x, b, k", "python")]],
    "saved variables that later cells had changed": [[
        ("a = 1; b = [1]; d = {'b': b}", "python"), "saved", ("a = 2; b.append(2); c = b", "python"), ("import os; os._exit(3)", "python"), "restore_values",
        ("a, b, d, d['b'] is b, 'c' in globals()", "python")]],
    "files that are open while cells run again": [
        [("log = open('output/log', 'w'); print('one', file=log, flush=True)", "python"), ("v=1", "bash")],
        [("v=2", "bash"), "restore_run", ("print('two', file=log, flush=True); open('output/log').read()", "python"), ("echo $v", "bash")]],
    "cells of this life run again, and files stay": [
        [("v=1; f() { echo f$v; }; echo l >>output/log", "bash"), ("let j = 1", "javascript")],
        [("v=2; echo m >>output/log; mkfifo output/pipe", "bash"), ("j2 = 2", "javascript"), "restore_run",
         ("f; cat output/log; test -p output/pipe && echo pipe", "bash"), ("[j, j2]", "javascript")]],
    "a value whose copy exits": [[
        ("class C:\n    def __reduce__(self): raise SystemExit\nc, b = C(), [1]", "python"), "saved", ("b.append(2)", "python"), ("import os; os._exit(3)", "python"),
        "restore_values", ("b", "python")]],
    "environment and folder": [
        [("import os; os.environ['Q'] = '5'; os.chdir('output')", "python")], [("import os; os.environ.get('Q'), os.getcwd()", "python")],
        ["restore_run", ("os.environ.get('Q'), os.getcwd()", "python")]],
    "cells before one that raises": [
        [("import os; a = 1; os.chdir('output')", "python"), ("v=1", "bash"), ("let j = 1", "javascript")], [("os = 1; open('input/../b', 'w').write('b')", "python")],
        ["partly", ("a", "python"), ("echo $v", "bash"), ("j", "javascript")]],
    "no saved variables, as the life had none": [
        [("a = 1", "python"), ("import os; os._exit(3)", "python")], [("'a' in globals()", "python")], ["restore_values", ("'a' in globals()", "python")]],
    "variables of the life before the last one": [
        [("a = 1", "python"), "saved"], [("a = 5; c = 2", "python")], ["restore_values", ("a, 'c' in globals()", "python")]],
}


@pytest.mark.parametrize("lives", LIVES.values(), ids=LIVES)
def test_state_that_was_brought_back_is_there_when_the_notebook_runs_again(home, tmp_path, lives):
    skip_without_jupyter()
    for life in lives:
        with Server(home, env={**LASTS, "PTYCELL_RESUME_VARIABLES": "200M"}) as server:
            for step in life:
                if step == "saved":
                    until(lambda: list((home / "cache").glob("**/journal/variables")) != [])
                elif step == "partly":
                    assert "stopped at cell 4" in server.interact(action="restore_run").texts[0]
                elif isinstance(step, str):  # it is refused while an interpreter starts anew
                    until(lambda action=step: not server.interact(action=action).is_error)
                else:
                    server.cell(step[0], language=step[1])
    (kept,) = (home / "kept").glob("*-s-*")
    assert_same(kept, tmp_path / "copy")

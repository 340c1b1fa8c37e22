# SPDX-License-Identifier: MIT
"""What a user has of a session whose server was killed: the next server finishes its notebook."""
import json
import random
import time

import pytest

from client import LASTS, Result, Server
from patience import until
from steps import paths_in, session_folders, the_sessions

KILLS = 6  # scripts/soak kills makes 300, under load


def kill(server):
    """Returns the folder of its only session."""
    folder, = session_folders(server.home)
    server.process.kill()
    server.process.wait()
    return folder


def finished(home, folder):
    """The next server has nothing more to do for the dead one."""
    until(lambda: not folder.exists() and paths_in(home, ".remove-*") == [])


def books(home, session="s"):
    """The kept notebooks of a session by their names, parsed."""
    return {path.name: the_sessions(json.loads(path.read_text())) for path in (home / "kept").glob(f"*-{session}-*/*.ipynb")}


def look(server):
    """What the running cell has to show now."""
    return Result(server.request("tools/call", {"name": "interact", "arguments": {
        "session_id": "s", "action": "wait", "wait": 0}}))


def sources(book):
    return [cell["source"] for cell in book["cells"]]


def texts(cell):
    return "".join(output.get("text", "") for output in cell["outputs"])


def start_next(home, folder):
    with Server(home) as server:
        server.cell("1", session="next")
        finished(home, folder)
        return server


def test_the_next_server_finishes_the_notebook_and_the_cell_that_ran_is_there(home):
    with Server(home) as server:
        server.cell("print('one')")
        server.cell("print('two', flush=True)\nwhile True: pass", budget=0)
        until(lambda: "two" in look(server).text)
        folder = kill(server)
    start_next(home, folder)
    book = books(home)["notebook.ipynb"]
    assert sources(book) == ["print('one')", "print('two', flush=True)\nwhile True: pass"]
    assert texts(book["cells"][0]) == "one\n"
    assert texts(book["cells"][1]) == "two\n[ptycell was killed while this cell ran]\n"
    assert book["cells"][1]["metadata"]["ptycell"]["state"] == "killed"


def test_a_long_output_is_whole_in_a_finished_notebook(home):
    with Server(home) as server:
        server.cell("for n in range(50_000): print('line', n)")
        folder = kill(server)
    start_next(home, folder)
    assert texts(books(home)["notebook.ipynb"]["cells"][0]) == "".join(f"line {n}\n" for n in range(50_000))


def test_a_kept_notebook_is_replaced_and_one_that_its_user_changed_is_not(home):
    with Server(home) as server:
        server.cell("print('one')")
        until(lambda: "notebook.ipynb" in books(home))
        server.cell("print('two')\nopen('output/r.txt', 'w').write('r')")
        folder = kill(server)
    start_next(home, folder)
    kept = books(home)
    assert list(kept) == ["notebook.ipynb"] and len(kept["notebook.ipynb"]["cells"]) == 2

    with Server(home) as server:
        server.cell("print('three')", session="other")
        until(lambda: "notebook.ipynb" in books(home, "other"))
        path, = (home / "kept").glob("*-other-*/*.ipynb")
        path.write_text(path.read_text().replace("three", "the user's"))
        server.cell("print('four')", session="other")
        folder = kill(server)
    start_next(home, folder)
    assert "the user's" in path.read_text()
    names = books(home, "other")
    assert len(names) == 2 and max(len(book["cells"]) for book in names.values()) == 2


def test_a_kept_notebook_with_a_cell_that_ran_then_is_replaced(home):
    with Server(home) as server:
        server.cell("print('begun', flush=True)\nwhile True: pass", budget=0)
        until(lambda: "begun" in look(server).text)
        server.cell("echo meanwhile", language="bash")
        until(lambda: "notebook.ipynb" in books(home))
        folder = kill(server)
    start_next(home, folder)
    kept = books(home)
    assert list(kept) == ["notebook.ipynb"]
    assert [texts(cell) for cell in kept["notebook.ipynb"]["cells"]] == [
        "begun\n[ptycell was killed while this cell ran]\n", "meanwhile\n"]


def test_a_kept_notebook_tells_of_cells_that_are_left_out_when_its_server_was_killed(home):
    with Server(home, "--journal-max=64K") as server:
        server.cell("1")
        server.cell("#" * 70_000)
        until(lambda: "The journal is full" in json.dumps(books(home)))
        server.cell("2")
        until(lambda: any(len(book["cells"]) == 3 for book in books(home).values()))
        before = books(home)
        folder = kill(server)
    start_next(home, folder)
    assert books(home) == before and "The journal is full: 1 cells" in json.dumps(before)


def test_a_journal_of_another_version_is_told_and_the_results_are_kept(home):
    with Server(home) as server:
        server.cell("open('output/r.txt', 'w').write('r')")
        folder = kill(server)
    events, = paths_in(home, "cache/*/sessions/*/journal/events")
    events.write_text("ptycell events 2\n")
    server = start_next(home, folder)
    told = server.stderr.decode()
    assert "the notebook of '~/kept/" in told and "is not finished: the journal is none of this version" in told
    assert "lost" not in told and len(list((home / "kept").glob("*/r.txt"))) == 1


@pytest.mark.parametrize("keep", ["on", "off"])
def test_a_cell_that_ran_when_the_server_was_killed_has_its_end_in_the_audit(home, keep):
    """In the audit file of the server that was killed, whatever the next one has."""
    audit = home / "audit.jsonl"
    settings = {} if keep == "on" else {"PTYCELL_KEEP": "off"}
    with Server(home, env={"PTYCELL_AUDIT": str(audit), **settings}) as server:
        server.cell("import os; os._exit(1)")
        server.cell("print('two')")
        server.cell("while True: pass", budget=0)
        server.cell("sleep 100", budget=0, language="bash")
        until(lambda: audit.read_text().count('"began"') == 4)
        folder = kill(server)
    before = [json.loads(line) for line in audit.read_text().splitlines()]
    start_next(home, folder)
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    assert lines[:len(before)] == before and len(lines) == len(before) + 2
    python, bash = lines[-2:]
    assert (python["event"], python["cell"], python["language"], python["state"], python["problem"]) == (
        "ended", 3, "python", "killed", "server killed")
    assert (bash["cell"], bash["language"], bash["state"], bash["seq"]) == (4, "bash", "killed", 2)
    assert (python["session_id"], python["generation"], python["killed_instance"], python["client"]) == (
        "s", 2, before[0]["instance"], before[0]["client"])
    assert python["instance"] != before[0]["instance"] and ("kept_folder" in python) == (keep == "on")


@pytest.mark.parametrize("looked_after", [False, True])
def test_the_audit_of_a_session_that_lasts_has_each_end_once(home, looked_after):
    """The next server adds the end of a killed cell, whether it resumes the session or finds it there."""
    audit = home / "audit.jsonl"
    env = {"PTYCELL_AUDIT": str(audit), **LASTS}

    def ends():
        lines = [json.loads(line) for line in audit.read_text().splitlines()]
        return [(line["cell"], line["state"]) for line in lines if line["event"] == "ended" and line["session_id"] == "s"]

    def look_after(killed):
        with Server(home, env=env) as server:
            server.cell("1", session="other", language="bash")
            until(lambda: (killed, "killed") in ends())

    for last in (2, 4):
        with Server(home, env=env) as server:
            server.cell("1", language="bash")
            server.cell("while :; do :; done", language="bash", budget=0)
            until(lambda last=last: f'"event":"began","cell":{last},' in audit.read_text())
            server.process.kill()
            server.process.wait()
        if looked_after:
            look_after(last)
    if not looked_after:
        look_after(4)
    assert ends() == [(1, "done"), (2, "killed"), (3, "done"), (4, "killed")]


@pytest.mark.parametrize("setting", ["PTYCELL_NOTEBOOK", "PTYCELL_KEEP"])
def test_who_keeps_no_notebook_gets_none(home, setting):
    with Server(home, env={setting: "off"}) as server:
        server.cell("print('one')")
        folder = kill(server)
    start_next(home, folder)
    assert books(home) == {}


def test_a_server_that_is_killed_at_any_moment_loses_no_cell_that_was_answered(home):
    """Whatever was answered is in the notebook, once, with its output, and no line of it is torn."""
    chance = random.Random(25)
    for kill_number in range(KILLS):
        with Server(home) as server:
            answered = []
            for number in range(chance.randrange(1, 8)):
                text = f"k{kill_number}-{number}"
                assert server.cell(f"print('{text}')").text == text + "\n"
                answered.append(text)
            server.start("tools/call", {"name": "exec_code", "arguments": {
                "session_id": "s", "code": f"print('k{kill_number}-last')", "language": "python"}})
            time.sleep(chance.random() * 0.01)  # the moment is by chance: no condition is waited for
            folder = kill(server)
        start_next(home, folder)
        (path,) = (home / "kept").glob("*-s-*/notebook.ipynb")
        cells = the_sessions(json.loads(path.read_text()))["cells"]
        path.unlink()
        path.parent.rmdir()
        last = f"print('k{kill_number}-last')"
        assert sources({"cells": cells})[:len(answered)] == [f"print('{text}')" for text in answered]
        assert [texts(cell) for cell in cells[:len(answered)]] == [text + "\n" for text in answered]
        assert sources({"cells": cells})[len(answered):] in ([], [last])

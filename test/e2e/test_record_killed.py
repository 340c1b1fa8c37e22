# SPDX-License-Identifier: MIT
"""What a user has of a session whose server was killed: the next server finishes its notebook."""
import contextlib
import fcntl
import json
import os
import random
import shutil
import time

import pytest

from client import LASTS, Result, Server
from outside import PROC
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
    until(lambda: not folder.exists() and paths_in(home, "cache/.remove-*") == [])


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


def test_a_whole_output_is_beside_a_finished_notebook(home):
    """Of the cell that ended and of the one that ran, whatever the dead server had saved."""
    with Server(home, "--record-output=4K") as server:
        server.cell("for n in range(50_000): print('line', n)")
        server.cell("for n in range(300_000): print('more', n)\nprint('all', flush=True)\nwhile True: pass", budget=0)
        until(lambda: "all\n" in look(server).text)
        folder = kill(server)
    start_next(home, folder)
    cells = books(home)["notebook.ipynb"]["cells"]
    kept, = (home / "kept").glob("*-s-*")
    assert sorted(path.name for path in (kept / "outputs").iterdir()) == ["cell-1.txt", "cell-2.txt"]
    assert (kept / "outputs/cell-1.txt").read_text().split("\n") == [f"line {n}" for n in range(50_000)] + [""]
    assert (kept / "outputs/cell-2.txt").read_text().endswith("all\n")
    assert all("is in outputs/cell-%d.txt" % (n + 1) in texts(cell) for n, cell in enumerate(cells))
    assert "more 0\n" in texts(cells[1]) and "killed while this cell ran" in texts(cells[1])


def works_on_the_dead(pid, home):
    """Whether a program has a folder of a dead server open. The next server renames these; one that ended has none."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        opened = [os.readlink(link) for link in (PROC / pid / "fd").iterdir()]
        return any(path.startswith(f"{home}/cache/.remove-") for path in opened)
    return False


def helpers_of(server):
    """The programs that finish what dead servers left. Others work on the results of this one's cells."""
    children = (PROC / f"{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    return [pid for pid in children if works_on_the_dead(pid, server.home)]


class Held:
    """An open folder, by its descriptor."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_RDONLY)

    def fileno(self):
        return self.fd

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)


def test_what_killed_servers_left_is_finished_one_after_the_other(home):
    """However many there are: cells do not compete with a helper for each of them."""
    with contextlib.ExitStack() as stack:
        dead = [stack.enter_context(Server(home)) for _ in range(5)]
        for n, server in enumerate(dead):
            server.cell(f"open('output/r{n}.txt', 'w').write('r')", session=f"s{n}")
        folders = session_folders(home)
        for server in dead:
            server.process.kill()
            server.process.wait()
    with Server(home) as server:
        with contextlib.ExitStack() as held:
            for folder in folders:
                fcntl.flock(held.enter_context(Held(folder)), fcntl.LOCK_SH)
            server.cell("1", session="next")
            until(lambda: helpers_of(server))
            server.cell("2", session="next")
            helpers = helpers_of(server)
        until(lambda: paths_in(home, "cache/.remove-*") == [] and not any(folder.exists() for folder in folders))
    assert len(helpers) == 1
    assert len(list((home / "kept").glob("*-s?-*/r?.txt"))) == 5


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


@pytest.mark.parametrize("lasts", [True, False])
def test_an_end_that_waited_to_be_recorded_is_in_the_audit_though_its_server_was_killed(home, lasts):
    """Once, and whatever the journal got in the meantime."""
    audit = home / "audit" / "audit.jsonl"
    audit.parent.mkdir()
    env = {"PTYCELL_AUDIT": str(audit), **(LASTS if lasts else {})}
    with Server(home, env=env) as server:
        server.cell("1")
        server.cell("while True: pass", budget=0)
        until(lambda: '"cell":2' in audit.read_text())  # else it does not begin
        audit.parent.rename(home / "away")
        assert "Nothing more is done until it is recorded there." in server.interact(action="interrupt").texts[0]
        until(lambda: any("notebook.ipynb" in name for name in books(home)))
        server.process.kill()
        server.process.wait()
    (home / "away").rename(audit.parent)
    for session in ("s" if lasts else "next", "other"):
        with Server(home, env=env) as server:
            server.cell("1", session=session)
            until(lambda: audit.read_text().count('"cell":2') == 2)
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [line["event"] for line in lines if line.get("cell") == 2] == ["began", "ended"]


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


@pytest.mark.parametrize("lasts", [False, True])
def test_what_was_typed_to_a_killed_cell_is_in_the_audit(home, lasts):
    audit = home / "audit.jsonl"
    env = {"PTYCELL_AUDIT": str(audit), "PTYCELL_SECRET_TOKEN": "hunter2-hunter2", **(LASTS if lasts else {})}
    with Server(home, env=env) as server:
        server.cell("import getpass\na, b = input('a? '), input('b? ')\nc = getpass.getpass('c? ')\ninput('d? ')")
        for text in ("one", "hunter2-hunter2", "very hidden"):
            result = server.interact(input=text)
        assert result.state == "waiting_for_input"
        kill(server)
    with Server(home, env=env) as server:
        server.cell("1", session="s" if lasts else "next")
        until(lambda: '"killed"' in audit.read_text())
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    typed, = [line for line in lines if line["event"] == "typed"]
    ended, = [line for line in lines if line.get("state") == "killed"]
    text = "one\n[secret TOKEN]\n[hidden input]\n"
    assert (typed["cell"], typed["language"], typed["count"], typed["input"], typed["bytes"]) == (1, "python", 3, text, len(text))
    assert all(typed[name] == ended[name] for name in ("session_id", "generation", "killed_instance", "instance"))
    assert lines.index(typed) < lines.index(ended) and "hunter2" not in audit.read_text() + json.dumps(books(home))


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
        shutil.rmtree(path.parent)
        last = f"print('k{kill_number}-last')"
        assert sources({"cells": cells})[:len(answered)] == [f"print('{text}')" for text in answered]
        assert [texts(cell) for cell in cells[:len(answered)]] == [text + "\n" for text in answered]
        assert sources({"cells": cells})[len(answered):] in ([], [last])

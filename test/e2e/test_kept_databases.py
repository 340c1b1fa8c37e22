# SPDX-License-Identifier: MIT
"""Databases among the results: a copy and the copy of its log are of one state, whatever is in their places."""
import os
import shutil
import sqlite3

import pytest

from client import Server
from patience import until
from steps import kill
from test_kept import kept_folders

OPEN = ("import sqlite3\nc = sqlite3.connect('output/a.db'); _ = c.executescript('pragma journal_mode=wal; create table t(a, b)')\n"
        "def add(n): _ = c.executemany('insert into t values (1, ?)', [('x' * 900,)] * n); c.commit()\nadd(10)")


@pytest.fixture(name="saved")
def fixture_saved(home):
    """A server whose session has saved a.db, and the folder of the copy."""
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell(OPEN)
        (top,) = kept_folders(home)
        yield server, top


def write_copy(top):
    """Writes a row into the copy, as a program of the user that stays open does."""
    user = sqlite3.connect(top / "a.db", isolation_level=None)
    user.execute("insert into t values (2, 'mine')")
    return user


def counts(top, copy):
    """The rows of each database of a folder, as its user would read them. The folder itself is not touched."""
    shutil.copytree(top, copy)
    found = {}
    for path in copy.glob("*.db"):
        database = sqlite3.connect(path)
        assert database.execute("pragma integrity_check").fetchall() == [("ok",)]
        found[path.name] = database.execute("select count(*) from t").fetchone()[0]
        database.close()
    return found


def test_a_log_that_changed_before_a_kill_is_saved_with_its_database(home):
    """The copy of the database itself is as the session's file is."""
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell(OPEN)
        (top,) = kept_folders(home)
        server.start("tools/call", {"name": "exec_code", "arguments": {
            "session_id": "s", "language": "python", "code": "add(20)\nopen('added', 'w').close()\nimport time\ntime.sleep(600)"}})
        until(lambda: list((home / "cache").rglob("data/added")))
        kill(server.process.pid)
        server.process.wait()
    with Server(home) as server:
        server.cell("1", session_id="other")
        until(lambda: not any("added" in names for _, _, names in os.walk(home / "cache")))  # folders go meanwhile
    assert counts(top, home / "copy") == {"a.db": 10, "a-2.db": 30}


def test_a_log_whose_place_the_users_program_has_goes_elsewhere_with_its_database(home, saved):
    server, top = saved
    user = write_copy(top)
    for times in range(1, 4):
        server.cell("add(1)")
        assert counts(top, home / f"copy{times}") == {"a.db": 11, "a-2.db": 10 + times}
    user.close()
    server.cell("add(1)")
    assert counts(top, home / "copy") == {"a.db": 11, "a-2.db": 14}


def test_a_database_that_changed_too_leaves_the_copy_that_the_user_has_changed(home, saved):
    server, top = saved
    user = write_copy(top)
    before = (top / "a.db").read_bytes()
    server.cell("add(1); c.execute('pragma wal_checkpoint(passive)').fetchall(); add(1)")
    assert (top / "a.db").read_bytes() == before
    assert counts(top, home / "copy") == {"a.db": 11, "a-2.db": 12}
    user.close()


def test_a_log_stays_beside_the_copy_that_the_user_has_open(home, saved):
    """Without it, the copy would not have the rows that it was saved with."""
    server, top = saved
    user = sqlite3.connect(top / "a.db", isolation_level=None)
    assert user.execute("select count(*) from t").fetchall() == [(10,)]
    server.cell("add(1)")
    assert counts(top, home / "copy1") == {"a.db": 10, "a-2.db": 11}
    assert sqlite3.connect(top / "a.db").execute("select count(*) from t").fetchall() == [(10,)]
    user.close()
    server.cell("add(1)")
    assert counts(top, home / "copy2") == {"a.db": 10, "a-2.db": 12}


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_log_is_not_copied_where_its_database_has_no_room(home, mode):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off", "PTYCELL_KEEP_MAX": "2M"}) as server:
        server.cell(OPEN.replace("=wal", f"={mode}"))
        (top,) = kept_folders(home)
        text = server.cell("for _ in range(40): add(100)").text
        assert "'a.db' was not saved" in text
        assert counts(top, home / "copy1") == {"a.db": 10}
        text = server.cell("add(1)").text
        assert ("was not saved: its database was not." if mode == "wal" else "'a.db' was not saved") in text
        assert counts(top, home / "copy2") == {"a.db": 10}

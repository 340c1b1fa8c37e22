# SPDX-License-Identifier: MIT
"""Cells that run again leave connections to databases open. Such a connection never reaches yesterday's database with today's rows."""
import pytest

from steps import kill
from test_restore import days, restore, told

UNREACHED = "cells left open do not reach these files. What is written to one is lost, mostly without an error; open what is needed again: 'log.db' (differs)."
ROWS = """import random, sqlite3
con = sqlite3.connect('log.db')
con.execute('pragma journal_mode=%s')
con.execute('create table ev(v real)')
con.executemany('insert into ev values(?)', [(%s,) for _ in range(5)])
con.commit()"""
SUM = "print(con.execute('select round(sum(v), 6) from ev').fetchone()[0])"
FRESH = "import sqlite3\nprint(sqlite3.connect('log.db').execute('select round(sum(v), 6) from ev').fetchone()[0])"


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_an_open_connection_neither_shows_nor_writes_todays_rows(start, mode):
    first = start()
    first.cell(ROWS % (mode, "random.random()"))
    yesterday = first.cell(SUM).text
    first.close()
    server = start()
    text = told(restore(server))
    assert UNREACHED in text
    assert "file is not a database" in server.cell(SUM).text
    assert server.cell("con.execute('insert into ev values(0)')").is_error
    assert server.cell(FRESH).text == yesterday
    assert server.cell("con.close()\ncon = sqlite3.connect('log.db')\ncon.execute('insert into ev values(0)')\ncon.commit()\n" + SUM).text == yesterday
    server.close()
    assert start().cell(FRESH).text.endswith(yesterday)


def test_a_log_that_a_kill_left_is_yesterdays(start):
    """The database itself has the same bytes both times: all rows are in its log. A connection that has not read yet would use that log."""
    first = start()
    first.cell(ROWS % ("wal", "random.random()"))
    yesterday = first.cell(SUM).text
    kill(first.process.pid)
    first.process.wait()
    server = start()
    assert "no variable is back" in told(restore(server), failed=True)
    assert server.cell(FRESH).text == yesterday


def test_a_connection_to_a_database_that_came_out_the_same_goes_on(start):
    server = days(start, ROWS % ("delete", "0.5"))
    assert "log.db" not in told(restore(server))
    assert server.cell("con.execute('insert into ev values(1)')\ncon.commit()\n" + SUM).text == "3.5\n"
    server.close()
    assert start().cell(FRESH).text.endswith("3.5\n")


def test_a_database_comes_back_in_the_place_of_a_folder(start):
    """The cell that made it failed, so it does not run again."""
    server = days(start, "import os\nos.mkdir('log.db')", "os.rmdir('log.db')\n" + ROWS % ("delete", "0.5") + "\n1 / 0")
    text = told(restore(server))
    assert "'log.db' (missing)" in text and "could not" not in text
    assert server.cell(FRESH).text == "2.5\n"


def test_folders_that_have_the_names_of_logs_are_no_logs(start):
    """The second cell failed, so it does not run again: where it put a file, there is a folder then."""
    folders = ROWS % ("delete", "random.random()") + "\nimport os\nfor end in ('.wal', '-shm'): os.mkdir('log.db' + end)\nopen('log.db.wal/x', 'w').close()"
    server = days(start, folders, "os.rmdir('log.db-shm')\nn = open('log.db-shm', 'w').write('a file')\n1 / 0")
    yesterday = server.cell(FRESH).text.splitlines()[-1]
    text = told(restore(server))
    assert UNREACHED in text
    assert "file is not a database" in server.cell(SUM).text
    assert server.cell(FRESH).text.strip() == yesterday
    assert server.cell("print(os.listdir('log.db.wal'), open('log.db-shm').read())").text == "['x'] a file\n"


def test_a_connection_goes_on_beside_folders_that_have_the_names_of_logs(start):
    server = days(start, ROWS % ("delete", "0.5") + "\nimport os\nos.mkdir('log.db.wal')", "os.rmdir('log.db.wal')\n1 / 0")
    assert "log.db'" not in told(restore(server))
    assert server.cell("con.execute('insert into ev values(1)')\ncon.commit()\n" + SUM).text == "3.5\n"


@pytest.mark.account
def test_a_connection_to_a_database_that_only_may_be_read_does_not_show_todays_rows(start):
    server = days(start, ROWS % ("delete", "random.random()") + "\nimport os\nos.chmod('log.db', 0o400)")
    yesterday = server.cell(FRESH).text.splitlines()[-1]
    assert UNREACHED in told(restore(server))
    assert "file is not a database" in server.cell(SUM).text
    assert server.cell(FRESH).text.strip() == yesterday
    assert server.cell("print(oct(os.stat('log.db').st_mode))").text == "0o100400\n"

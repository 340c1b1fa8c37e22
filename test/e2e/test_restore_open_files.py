# SPDX-License-Identifier: MIT
"""Cells that run again leave files and databases open. What such a handle writes later, also at its end, never reaches yesterday's bytes."""
import re

import pytest

from patience import until
from steps import kept_files, kill, skip_without
from test_restore import days, restore, told

OPEN_AGAIN = "Handles and connections that cells left open do not reach these files. What is written to one is lost, mostly without an error; open what is needed again: "
CLOSED = "Databases and devices that cells left open were closed, because they write files by name. Their files are those from before again, and new ones are removed: "
UNCLOSED = "Interpreters that may still write over files from before, because they did not close all databases of dbm.dumb or graphics devices: "
UNREACHED = OPEN_AGAIN + "'x' (differs)."
GOES_ON = "Where cells left one of them open to append text, that goes on in the file from before."

GZIP = """import gzip, random
held = gzip.open('x', 'wt')
for i in range(3000): held.write(f'{random.random()}\\n')"""
ZIP = """import random, zipfile
held = zipfile.ZipFile('x', 'w', zipfile.ZIP_DEFLATED)
held.writestr('a', ''.join(str(random.random()) for _ in range(random.randint(1000, 4000))))"""
GNU = """import dbm.gnu, random, shelve
held = shelve.Shelf(dbm.gnu.open('x', 'c'))
for i in range(50): held[str(i)] = 'x' * random.randint(1, 600)
held.sync()"""
PLUS = """import random
held = open('x', 'w+')
for i in range(3000): held.write(f'{random.random()}\\n')"""
PACKED = """import gzip, random
raw = open('x', 'ab')
held = gzip.open(raw, 'wb')
held.write(random.randbytes(100000))
held.flush()"""
MAP = """import mmap, random
with open('x', 'w+b') as file:
    file.write(random.randbytes(8192))
    file.flush()
    held = mmap.mmap(file.fileno(), 8192)
held[0:4] = b'mine'"""
BYTES = "import hashlib\nprint(hashlib.sha256(open('x', 'rb').read()).hexdigest())"


@pytest.mark.parametrize("act", ["held.close()", "held = None", "1"])
@pytest.mark.parametrize("code", [GZIP, ZIP, PLUS, PACKED, GNU, MAP], ids=["gzip", "zip", "plus", "packed", "gnu", "map"])
def test_what_an_open_handle_writes_at_its_end_does_not_reach_yesterdays_bytes(start, code, act):
    first = start()
    if "dbm.gnu" in code and first.cell("import dbm.gnu").is_error:
        pytest.skip("this Python has no dbm.gnu")
    first.cell(code)
    first.close()
    server = start()
    yesterday = server.cell(BYTES).text.splitlines()[-1]
    text = told(restore(server))
    assert UNREACHED in text and "differently" not in text
    assert server.cell(BYTES).text.strip() == yesterday
    server.cell(act)
    assert server.cell(BYTES).text.strip() == yesterday
    server.close()
    assert start().cell(BYTES).text.splitlines()[-1] == yesterday


def test_a_compressed_file_of_r_is_yesterdays_after_its_connection_ends(start):
    skip_without("r")
    code = "set.seed(NULL)\nheld <- gzfile('x', 'w')\nwriteLines(format(runif(4000), digits = 15), held)\n1"
    first = start()
    first.cell(code, language="r")
    first.close()
    server = start()
    yesterday = server.cell(BYTES).text.splitlines()[-1]
    assert UNREACHED in told(restore(server))
    assert not server.cell("close(held)", language="r").is_error
    assert server.cell(BYTES).text.strip() == yesterday


@pytest.mark.account
def test_a_log_goes_on_at_the_end_of_yesterdays(start):
    server = days(start, "import logging, random\nlogging.basicConfig(filename='x', level='INFO', format='%(message)s')\nlogging.info('%s', random.random())")
    yesterday = server.cell("print(open('x').read(), end='')").text.splitlines()[-1]
    assert f"'x' (differs). {GOES_ON}" in told(restore(server))
    server.cell("logging.info('more')")
    assert server.cell("print(open('x').read(), end='')").text == f"{yesterday}\nmore\n"


OWN = """import io, random
class Own(io.TextIOWrapper): pass
class Deeper(Own): pass
held = Deeper(open('x', 'ab'))
held.write(f'{random.random()}\\n')"""
MEMORY = """import logging.handlers, random
held = logging.handlers.MemoryHandler(100, target=logging.FileHandler('x'))
held.setFormatter(logging.Formatter('%(message)s'))
held.emit(logging.makeLogRecord({'msg': str(random.random()), 'levelno': 20}))
held.flush()
held.emit(logging.makeLogRecord({'msg': str(random.random()), 'levelno': 20}))"""


@pytest.mark.parametrize("code", [OWN, MEMORY], ids=["class", "handler"])
def test_lines_of_an_own_buffer_do_not_reach_yesterdays_at_its_end(start, code):
    server = days(start, code)
    yesterday = server.cell("print(open('x').read(), end='')").text.splitlines()[-1]
    assert f"'x' (differs). {GOES_ON}" in told(restore(server))
    server.close()
    assert start().cell("print(open('x').read(), end='')").text.splitlines()[-1] == yesterday


# Programs that read have state of today's file: an index of its places, what they have read, or its length.
READERS = {
    "npz": ("""import io, random, zipfile
with zipfile.ZipFile('x', 'w') as file:
    for name in 'ab': file.writestr(name, random.randbytes(random.randint(50000, 200000)))
held = zipfile.ZipFile('x')
import hashlib
def read(): return hashlib.sha256(held.read('a') + held.read('b')).hexdigest()
known = read()"""),
    "chunks": ("""import random
with open('x', 'w') as file: file.writelines(f'{random.random():.{random.randint(3, 15)}f}\\n' for _ in range(20000))
with open('x') as file: lines = list(file)
held = open('x')
start = [next(held) for _ in range(7)]
def read(): return start + list(held)
known = lines"""),
    "map": ("""import mmap, random
data = random.randbytes(random.randint(1, 9) * 100000)
with open('x', 'wb') as file: file.write(data)
with open('x', 'rb') as file: held = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
def read(): return held[:]
known = data"""),
}


@pytest.mark.account
@pytest.mark.parametrize("code", READERS.values(), ids=READERS)
def test_what_reads_a_file_goes_on_in_the_one_that_it_knows(start, code):
    server = days(start, code)
    yesterday = server.cell(BYTES).text.splitlines()[-1]
    assert UNREACHED in told(restore(server))
    assert server.cell("print(read() == known)").text == "True\n"
    assert server.cell(BYTES).text.strip() == yesterday


def test_what_reads_a_file_that_came_out_the_same_is_not_named(start):
    server = days(start, "open('x', 'w').write('one\\ntwo\\n')\nheld = open('x')\nfirst = held.readline()", "import os, random\nos.link('x', 'y')\nopen('z', 'w').write(str(random.random()))")
    text = told(restore(server))
    assert OPEN_AGAIN not in text and "'z' (differs)" in text
    assert server.cell("print(first + held.read(), end='')").text == "one\ntwo\n"


def test_a_log_that_is_also_read_does_not_go_on(start):
    server = days(start, "import random\nheld = open('x', 'a+')\nheld.write(f'{random.random()}\\n')")
    assert UNREACHED in told(restore(server))


def test_every_file_that_a_handle_does_not_reach_is_named(start):
    names = [f"f{n:03}.csv" for n in range(110)]
    server = days(start, f"""import os, random
os.mkdir('.d')
for n in range(120):
    with open(f'a{{n:03}}', 'w') as file: file.write(str(random.random()))
held = [open(name, 'w') for name in {names} + ['.d/hidden.tsv', 'l' * 250]]
for file in held: file.write(str(random.random()))""")
    text = told(restore(server))
    line = next(line for line in text.splitlines() if line.startswith(OPEN_AGAIN))
    assert all(f"'{name}' (differs)" in line for name in [*names, ".d/hidden.tsv", "l" * 250])
    assert " (differs) and 110 more. Where" in text


def files(server):
    """The paths of the session's files."""
    return {line[2:] for line in server.cell("find . -type f", language="bash").text.splitlines() if line.startswith("./")}


DUMB = """import dbm.dumb, random, shelve
held = shelve.Shelf(dbm.dumb.open('x', 'c'))
for k in range(40): held[f'k{k}'] = [random.random() for _ in range(random.randint(1, 30))]"""
HAS = """import dbm.dumb, shelve
with shelve.Shelf(dbm.dumb.open('x', 'r')) as again: print(len(again), sum(map(sum, again.values())))"""


@pytest.mark.parametrize("act", ["held.close()", "held = None", "held['new'] = [1]", "1"])
@pytest.mark.parametrize("synced", ["held.sync()", "1"])
def test_a_database_that_is_written_by_name_is_closed(start, act, synced):
    server = days(start, DUMB, synced)
    yesterday = server.cell(HAS).text.splitlines()[-1]
    assert CLOSED + "'x'." in told(restore(server))
    ended = server.cell(act)
    assert server.cell(HAS).text.strip() == yesterday
    if act == "held['new'] = [1]":
        assert "already been closed" in ended.text
    else:
        assert not ended.is_error
    server.close()
    assert start().cell(HAS).text.splitlines()[-1] == yesterday


@pytest.mark.parametrize("device", ["tiff('x')", "png('x')", "pdf('x')"])
def test_a_device_of_r_is_closed_as_some_write_by_name(start, device):
    skip_without("r")
    digest = "sha256sum x 2>&1; true"  # the cell runs again before there is a file
    server = days(start, ("r", f"set.seed(NULL)\n{device}\nplot(runif(30))"), "import os")
    yesterday = server.cell(digest, language="bash").text.splitlines()[-1]
    assert CLOSED + "'x'." in told(restore(server))
    assert "null device" in server.cell("dev.cur()", language="r").text
    server.cell("plot(1)", language="r")
    server.close()
    assert start().cell(digest, language="bash").text.splitlines()[-1] == yesterday


@pytest.mark.parametrize("code, seen", [
    ("dir.create('d')\nsetwd('d')\npng('p%02d.png')\nplot(1)\nplot(2)", "'d/p01.png', 'd/p02.png'"),
    ("pdf('a.pdf')\nplot(1)\ndir.create('d')\nsetwd('d')", "'a.pdf'"),
], ids=["before", "after"])
def test_a_device_of_r_is_named_by_the_folder_in_which_it_writes(start, code, seen):
    skip_without("r")
    server = days(start, ("r", code))
    assert f"{CLOSED}{seen}." in told(restore(server))


def test_a_device_of_r_elsewhere_stays_open(start):
    skip_without("r")
    server = days(start, ("r", "pdf('/tmp/a.pdf')\nplot(1)\nsvg('a.svg')\nplot(1)"))
    assert CLOSED + "'a.svg'." in told(restore(server))
    assert server.cell("cat('pdf' %in% names(dev.list()), 'svg' %in% names(dev.list()))", language="r").text.startswith("TRUE FALSE[")
    assert "TRUE" in server.cell("dev.off(match('pdf', names(dev.list())) + 1)\nfile.size('/tmp/a.pdf') > 1000", language="r").text


def test_a_device_whose_file_is_new_is_told_as_removed(start):
    skip_without("r")
    server = days(start, ("r", "name <- sprintf('p%.0f.pdf', as.numeric(Sys.time()) * 1e3)\npdf(name)\nplot(1)"))
    text = told(restore(server))
    name = server.cell("cat(name)", language="r").text.split("[")[0].strip()
    assert f"{CLOSED}'{name}'." in text
    assert server.cell(f"import os\nprint(os.path.exists('{name}'))").text == "False\n"


def test_a_database_that_cannot_be_written_is_closed(start):
    server = days(start, DUMB + "\nimport os\nos.remove('x.dat'), os.remove('x.bak') if os.path.exists('x.bak') else 0, os.mkdir('x.dir') if not os.path.exists('x.dir') else (os.remove('x.dir'), os.mkdir('x.dir'))")
    assert CLOSED + "'x'." in told(restore(server))
    assert "already been closed" in server.cell("held['new'] = [1]").text


SLOW = """
import threading, time
class Late(dict):  # as one whose file lies on a disk that hangs
    def items(self):
        time.sleep(60)
        return super().items()
held.dict._index = Late(held.dict._index)"""


@pytest.mark.account
def test_an_interpreter_that_closes_too_late_is_named(start):
    server = days(start, DUMB, SLOW)
    text = told(restore(server))
    assert UNCLOSED + "python (the interpreter did not answer in time)." in text and CLOSED not in text


def test_a_database_elsewhere_stays_open(start):
    server = days(start, DUMB.replace("'x'", "'/tmp/x'"))
    assert CLOSED not in told(restore(server))
    assert server.cell("held['new'] = [1]\nprint(len(held))").text == "41\n"


STAY = "New files that stay beside those from before, because code has them open for writing: "

STAMPED = {
    "python": ("""import csv, logging, os, random, time
name = time.strftime('runs/run-%H%M%S') + str(time.time_ns())
os.makedirs(name)
open(name + '/done', 'w').close()
logging.basicConfig(filename=name + '/log', level='INFO', format='%(message)s')
out = open(name + '/rows', 'w')
def go(what):
    logging.info(what)
    out.write(what + '\\n')
go('one')""", "go('two')", "print(open(name + '/log').read(), end='')\nout.flush()\nprint(open(name + '/rows').read(), end='')", "one\ntwo\none\ntwo\n"),
    "sqlite": ("""import sqlite3, time
name = f'{time.time_ns()}.db'
con = sqlite3.connect(name)
n = con.execute('pragma journal_mode=wal').fetchone()
con.execute('create table t(v)')
con.execute('insert into t values(1)')
con.commit()""", "con.execute('insert into t values(2)')\ncon.commit()", "con.close()\nprint(sqlite3.connect(name).execute('select sum(v) from t').fetchone()[0])", "3\n"),
    "bash": ("name=.b-$(date +%N)\nexec 3>>$name\necho one >&3", "echo two >&3", "cat $name", "one\ntwo\n"),
    "javascript": ("const fs = require('fs')\nvar name = 'j-' + process.hrtime.bigint()\nvar fd = fs.openSync(name, 'a')\nfs.writeSync(fd, 'one\\n')", "fs.writeSync(fd, 'two\\n')", "console.log(fs.readFileSync(name, 'utf8').trim())", "one\ntwo\n"),
    "r": ("name <- paste0('r-', format(Sys.time(), '%H%M%OS6'))\ncon <- file(name, 'a')\ncat('one\\n', file = con)\nflush(con)", "cat('two\\n', file = con)\nflush(con)", "cat(readLines(name), sep = '\\n')", "one\ntwo"),
}


@pytest.mark.account
@pytest.mark.parametrize("kind", STAMPED)
def test_a_new_file_that_code_still_writes_to_stays(start, kind):
    language = {"sqlite": "python"}.get(kind, kind)
    skip_without(language)
    code, more, shows, expected = STAMPED[kind]
    server = days(start, (language, code))
    before = files(server)
    text = told(restore(server))
    assert "The files are as they were before, but for new ones that stay;" in text
    new = files(server) - before
    assert new and all(f"'{path}'" in text.split(STAY)[1].splitlines()[0] for path in new)
    assert not any(path.endswith("done") for path in new), "what is closed is removed"
    assert ("(new, but for what stays)" in text) == (kind == "python"), text
    server.cell(more, language=language)
    assert server.cell(shows, language=language).text.strip() == expected.strip()
    server.close()
    assert files(start()) >= before


@pytest.mark.account
def test_what_stays_keeps_its_mode(start):
    server = days(start, """import os, time
name = f'd{time.time_ns()}'
os.mkdir(name)
held = open(name + '/x', 'w')
os.chmod(name + '/x', 0o400)
os.chmod(name, 0o500)""")
    text = told(restore(server))
    assert STAY in text and "(new" not in text
    assert server.cell("print(*(oct(os.stat(path).st_mode)[-3:] for path in (name, name + '/x')))").text == "500 400\n"


GROWS = """import os, time
name = f'{time.time_ns()}.csv'
os.mkdir('output/' + name)
rows = open(name, 'a')
more = open(f'output/{name}/rows', 'a')
hidden = open('.' + name, 'a')"""
ROW = "for file in rows, more, hidden: print('today', file=file, flush=True)"


def today(home):
    """The rows of today in copies that the user has."""
    return sum(path.read_text().count("today") for path in kept_files(home) if ".csv" in str(path))


@pytest.mark.parametrize("end", ["close", "destroy", "kill"])
def test_what_is_written_to_a_file_that_stays_is_saved(start, home, end):
    server = days(start, GROWS)
    result = restore(server)
    assert STAY in told(result) and "Not saved for the user: '." in "\n".join(result.texts)
    result = server.cell(ROW)
    assert "saved" in result.status and until(lambda: today(home) == 2)
    server.cell(ROW + "\nfor file in rows, more, hidden: file.close()")
    assert today(home) == 4
    server.cell("for file in rows, more: print('today', file=open(file.name, 'a'))")
    assert today(home) == 6
    if end == "destroy":
        server.call("destroy_session", session_id="s")
    elif end == "kill":
        kill(server.process.pid)
    server.close()
    start().cell("1")
    assert today(home) == 6


def test_a_file_that_stays_is_saved_with_what_is_written_at_the_end(start, home):
    server = days(start, "import time\nrows = open(f'{time.time_ns()}.csv', 'w')")
    assert STAY in told(restore(server))
    server.cell("n = rows.write('today\\n')")
    server.call("destroy_session", session_id="s")
    until(lambda: today(home) == 1)


def test_a_new_file_that_is_only_read_is_removed(start):
    server = days(start, "import time\nname = f'n{time.time_ns()}'\nopen(name, 'w').write('one')\nheld = open(name)")
    text = told(restore(server))
    assert STAY not in text and OPEN_AGAIN not in text
    name = re.search(r"\nFiles that came out differently .*'(n\d+)' \(new\)", text)
    assert name and name[1] == server.cell("print(name)").text.strip()
    assert server.cell("import os\nprint(os.path.exists(name), held.read())").text == "False one\n"


def test_an_open_file_in_the_place_of_a_folder_is_named(start):
    """The cell that made the folder failed, so it does not run again."""
    server = days(start, "held = open('x', 'w')", "import os\nheld.close()\nos.remove('x')\nos.mkdir('x')\n1 / 0")
    assert OPEN_AGAIN + "'x' (removed)." in told(restore(server))
    assert server.cell("import os\nprint(os.path.isdir('x'))").text == "True\n"


ROWS = """import random, sqlite3
con = sqlite3.connect('m.db')
con.execute('pragma journal_mode=%s')
con.execute('create table ev(v real)')
con.executemany('insert into ev values(?)', [(random.random(),) for _ in range(1000)])
con.commit()"""
MANY = "n = con.executemany('insert into ev values(?)', [(random.random(),) for _ in range(200000)]).rowcount"
FRESH = """import sqlite3
one = sqlite3.connect('m.db')
print(one.execute('select count(*), sum(v) from ev').fetchone(), one.execute('pragma integrity_check').fetchone())
one.close()"""
LOST = "(a cell has left a connection open, which would damage the log of a database; cells should close connections at their end: '%s')"


def killed(start, *cells):
    """Runs cells on a first day that a kill ends; returns the sum of the committed rows, and the server of the second day."""
    first = start()
    first.cell(cells[0])
    total = first.cell("print(con.execute('select count(*), sum(v) from ev').fetchone())").text.strip()
    for cell in cells[1:]:
        first.cell(cell)
    kill(first.process.pid)
    first.process.wait()
    return total, start()


@pytest.mark.parametrize("mode", ["delete", "truncate", "wal"])
def test_the_log_of_a_database_that_a_kill_left_is_not_lost(start, mode):
    total, server = killed(start, ROWS % mode, MANY)
    text = told(restore(server), failed=True)
    assert LOST % "m.db" in text and "no variable is back; the files are as they were before" in text
    assert "variables are back" not in text and "differently" not in text
    assert "NameError" in server.cell("con").text
    assert server.cell(FRESH).text == f"{total} ('ok',)\n"
    server.close()
    assert start().cell(FRESH).text.endswith(f"{total} ('ok',)\n")


def test_a_transaction_that_is_open_reaches_no_file(start):
    first = start()
    first.cell(ROWS % "delete")
    total = first.cell("print(con.execute('select count(*), sum(v) from ev').fetchone())").text.strip()
    first.cell("n = con.execute('insert into ev values(100)').rowcount")
    first.close()
    server = start()
    if server.cell("import os\nprint(os.path.exists('m.db-journal'))").text.splitlines()[-1] == "True":
        assert LOST % "m.db" in told(restore(server), failed=True)
    else:
        assert OPEN_AGAIN + "'m.db' (differs)." in told(restore(server))
        server.cell("con.commit()")
    assert server.cell(FRESH).text == f"{total} ('ok',)\n"


# As DuckDB does: what is committed is in the log, which the end of a connection removes by its name.
DUCK = """import os, random
class Connection:
    def __init__(self):
        self.file = open('d.duckdb', 'w+b')
        self.file.write(bytes(8) + b'DUCK' + bytes(4084))
        self.file.flush()
        with open('d.duckdb.wal', 'wb') as log: log.write(random.randbytes(1000))
    def close(self):
        self.file.close()
        os.remove('d.duckdb.wal')
duck = Connection()"""
LOG = "import hashlib\nprint(hashlib.sha256(open('d.duckdb.wal', 'rb').read()).hexdigest())"


def test_the_log_of_duckdb_is_not_lost(start):
    server = days(start, DUCK)
    yesterday = server.cell(LOG).text.splitlines()[-1]
    assert LOST % "d.duckdb" in (text := told(restore(server), failed=True))
    assert "restore_run may fail again in this way. To run single cells, read their code in session://s/script." in text
    assert "NameError" in server.cell("duck.close()").text
    assert server.cell(LOG).text.strip() == yesterday


def test_a_duckdb_that_no_cell_left_open_is_put_back(start):
    server = days(start, DUCK, "duck.file.close()")
    yesterday = server.cell(LOG).text.splitlines()[-1]
    assert "'d.duckdb' (differs)" in (text := told(restore(server))) and OPEN_AGAIN not in text
    assert server.cell(LOG).text.strip() == yesterday


# ---- within one life ----

ENDS = {
    "python": ("import atexit, gzip\nheld = gzip.open('x', 'wt')\nn = held.write('row\\n' * 3)\natexit.register(lambda: (held.close(), open('end', 'w').write('bye'), print('good night')))", "import gzip\nprint(gzip.open('x', 'rt').read() == 'row\\n' * 3, open('end').read())"),
    "r": ("held <- gzfile('x', 'w')\nwriteLines(rep('row', 3), held)\n.Last <- function() { close(held); writeLines('bye', 'end') }", "import gzip\nprint(gzip.open('x', 'rt').read() == 'row\\n' * 3, open('end').read().strip())"),
    "bash": ("exec 3> >(gzip > x)\nprintf 'row\\nrow\\nrow\\n' >&3\ntrap 'exec 3>&-; sleep 0.3; echo bye > end' EXIT", "import gzip\nprint(gzip.open('x', 'rt').read() == 'row\\n' * 3, open('end').read().strip())"),
}


@pytest.mark.parametrize("language", ENDS)
def test_interpreters_of_this_life_end_in_order_before(start, home, language):
    skip_without(language)
    code, shows = ENDS[language]
    server = start()
    server.cell(code, language=language)
    text = told(restore(server))
    assert "Interpreters that ran before were ended with their background processes: this is generation 2." in text
    assert "did not end by themselves" not in text
    assert server.cell(shows).text == "True bye\n", text
    until(lambda: [path.read_text().strip() for path in kept_files(home) if path.name == "end"] == ["bye"])


def test_one_that_hangs_at_its_end_is_named(start):
    server = start()
    server.cell("import atexit, time\nx = 5\n@atexit.register\ndef hang():\n    while True:\n        try: time.sleep(60)\n        except KeyboardInterrupt: pass")
    text = told(restore(server))
    assert "These interpreters did not end by themselves; files that they were writing may be cut off: python." in text
    assert "this is generation 2" in text and server.cell("x").text == "5\n"


def test_an_end_that_is_waited_for_can_be_stopped(start):
    server = start()
    server.cell("import atexit, time\nx = 5\natexit.register(time.sleep, 60)")
    answer = server.start("tools/call", {"name": "interact", "arguments": {"session_id": "s", "action": "restore_run"}})
    until(lambda: "are being run again" in server.cell("1").texts[0])
    server.interact(action="interrupt")
    text = str(answer.get()["result"])
    assert "stopped at its beginning" in text and "no variable is back" in text
    assert "NameError" in server.cell("x").text

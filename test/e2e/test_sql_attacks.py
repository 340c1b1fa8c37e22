# SPDX-License-Identifier: MIT
"""Sessions that attack exec_sql: databases made to do harm, files swapped, names that are more than names."""
import json
import os
import sqlite3

import pytest
from client import Server
from steps import listed, session_folders
from test_sql import MANY, answers_again, helpers, make_database, rows, sql


def test_a_database_swapped_for_a_link_is_not_read(server, home):
    """Swapped all the time, while it is asked: always its own rows or a refusal, never the other file's."""
    secret = home / "secret.db"
    other = sqlite3.connect(secret)
    other.executescript("create table t(a); insert into t values ('stolen')")
    other.close()
    make_database(server, "own.db", "create table t(a); insert into t values ('own')")
    server.cell(f"""
import os, threading
stop = False
def swap():
    while not stop:
        os.symlink({str(secret)!r}, "new"); os.replace("new", "data.db")
        os.link("own.db", "new"); os.replace("new", "data.db")
thread = threading.Thread(target=swap, daemon=True); thread.start()""")
    answers = [sql(server, "SELECT a FROM t", database="data.db") for _ in range(200)]
    server.cell("stop = True; thread.join()")
    assert {str(answer.object["rows"]) for answer in answers if not answer.is_error} <= {"[['own']]"}
    assert any(not answer.is_error for answer in answers)
    assert "stolen" not in json.dumps([answer.raw for answer in answers])


@pytest.mark.parametrize("make", [
    "os.symlink('/etc', 'd'); path = 'd/passwd'", "os.mkfifo('d.db'); path = 'd.db'", "os.mkdir('d.db'); path = 'd.db'",
    "open('d.db', 'wb').write(b'SQLite format 3'); path = 'd.db'", "os.symlink('d.db', 'd.db'); path = 'd.db'",
    "os.truncate(os.open('d.db', os.O_CREAT | os.O_RDWR), 1 << 40); path = 'd.db'"])
def test_what_is_no_database_is_refused_at_once(server, make):
    path = server.cell(f"import os\n{make}\npath").text.strip().strip("'")
    answer = sql(server, "SELECT * FROM sqlite_master", database=path)
    assert answer.is_error or answer.object["rows"] == []
    assert rows(server, "SELECT 1") == [[1]]


def test_damaged_databases_cost_errors_at_most(server):
    """A schema that lies, and pages with bytes changed at random: no crash of the helper, no endless query."""
    server.cell("""
import random, sqlite3
c = sqlite3.connect('whole.db')
c.executescript('''create table t(a integer primary key, b text, c blob); create index i on t(b);
create table u(x unique, y) without rowid; create view v as select * from t join u on t.a = u.x;
create virtual table f using fts5(w); create virtual table r using rtree(id, x0, x1);''')
c.executemany('insert into t values (?, ?, ?)', ((i, 'text %d' % i * 20, bytes(i % 300)) for i in range(500)))
c.executemany('insert into u values (?, ?)', ((i, str(i)) for i in range(300)))
c.executemany('insert into f values (?)', (('word %d' % i,) for i in range(300)))
c.executemany('insert into r values (?, ?, ?)', ((i, i, i + 1) for i in range(300)))
c.commit(); c.close()
whole = open('whole.db', 'rb').read()
chance = random.Random(3)
for n in range(40):
    data = bytearray(whole)
    for _ in range(chance.choice((1, 10, 100))):
        data[chance.randrange(16 if n % 2 else 2048, len(data))] = chance.randrange(256)
    open(f'bad{n}.db', 'wb').write(data[:chance.choice((len(data), len(data) // 2, 5000))])""")
    for n in range(40):
        for query in ("SELECT count(*), sum(length(c)) FROM t", "SELECT * FROM v ORDER BY b", "SELECT * FROM u WHERE x > 5",
                      "SELECT * FROM f WHERE f MATCH 'word'", "SELECT * FROM r WHERE x0 > 7 AND x1 < 90"):
            texts = sql(server, query, database=f"bad{n}.db").texts
            assert "ended by signal" not in texts[-1] and "deadline" not in texts[-1], (n, query)
    assert len(helpers(server)) <= 32


@pytest.mark.parametrize("script", [
    "create view v as select load_extension('/tmp/x.so')", "create view v as select writefile('x', 'y')",
    "create view v as select fts3_tokenizer('simple', x'00')", "create table v(a); create temp trigger g after insert on v begin select 1; end",
    "create table w(a); create view v as select * from w; create trigger g instead of insert on v begin delete from w; end"])
def test_a_schema_that_calls_or_writes_does_neither(server, script):
    make_database(server, "evil.db", script)
    before = server.cell("import hashlib; sum(open('evil.db', 'rb').read())").text
    answer = sql(server, "SELECT * FROM v", database="evil.db")
    assert answer.is_error or answer.object["rows"] == []
    assert server.cell("sum(open('evil.db', 'rb').read())").text == before and listed(server) == ["evil.db"]


def test_views_without_end_end(home):
    with Server(home, env={"PTYCELL_QUERY_TIMEOUT": "2"}) as server:
        script = "create table t0(a); insert into t0 values (1), (2);" + "".join(
            f"create view v{i} as select a.a from {'v%d' % (i - 1) if i else 't0'} a, {'v%d' % (i - 1) if i else 't0'} b;"
            for i in range(6))
        make_database(server, "views.db", script)
        assert "deadline of 2 s" in sql(server, "SELECT count(*) FROM v5", database="views.db").texts[-1]
        assert answers_again(server)


def test_a_hot_journal_is_told_and_not_rolled_back(server):
    server.cell("""
import os, sqlite3
c = sqlite3.connect('hot.db', isolation_level=None)
c.executescript('create table t(a); insert into t values (1); pragma cache_size = 1')
if os.fork() == 0:
    c.execute('begin'); c.executemany('insert into t values (?)', ((str(i) * 500,) for i in range(5000)))
    os._exit(0)
os.wait(); del c
sorted(os.listdir('.'))""")
    answer = sql(server, "SELECT count(*) FROM t", database="hot.db")
    assert answer.is_error and "a transaction was cut off; open it with code once" in answer.texts[-1]
    assert "hot.db-journal" in listed(server)
    assert server.cell("sqlite3.connect('hot.db').execute('select count(*) from t').fetchone()").text == "(1,)\n"
    assert rows(server, "SELECT count(*) FROM t", database="hot.db") == [[1]]


@pytest.mark.parametrize("side", ["-wal", "-journal"])
def test_links_beside_a_database_lead_nowhere(server, home, side):
    (home / "outside").write_text("x" * 5000, encoding="utf-8")
    make_database(server, "a.db", "pragma journal_mode=wal; create table t(a); insert into t values (1)")
    server.cell(f"import os; os.symlink({str(home / 'outside')!r}, 'a.db{side}')")
    assert rows(server, "SELECT a FROM t", database="a.db") == [[1]]
    assert (home / "outside").read_text(encoding="utf-8") == "x" * 5000


@pytest.mark.parametrize("database", [
    "Driver=SQLite3;Database=/etc/passwd", "DSN=postgres", "sqlite:/etc/passwd", "file:/etc/passwd?mode=ro",
    "file:data.db?vfs=unix", "/etc/passwd", "input/../../x.db", "default;Pwd=x", "files'--", " ", "./.", "\u202edata.db"])
def test_the_name_of_a_database_is_never_a_connection_or_a_path_outside(server, database):
    make_database(server)
    answer = sql(server, "SELECT * FROM sqlite_master", database=database)
    assert answer.is_error and "root:" not in json.dumps(answer.raw)


@pytest.mark.parametrize("options", ["vfs=unix&mode=rw", "vfs=unix&mode=ro", "immutable=1", "mode=memory"])
def test_a_name_that_sqlite_reads_as_an_address_is_a_name(server, home, options):
    secret = home / "x.db"
    other = sqlite3.connect(secret)
    other.executescript("create table t(a); insert into t values ('stolen')")
    other.close()
    make_database(server, "plain.db", "create table t(a); insert into t values (1)")
    name = f"file:{secret}?{options}"
    server.cell(f"import os, shutil; os.makedirs({os.path.dirname(name)!r}); shutil.copy('plain.db', {name!r})")
    assert rows(server, "SELECT a FROM t", database=name) == [[1]]


def test_files_of_another_user_in_the_session_are_read_as_the_session_could(server, home):
    """What the server reads with root's rights is only what lies in the folder, whoever owns it."""
    make_database(server, "own.db", "create table t(a); insert into t values (1)")
    (folder,) = session_folders(home)
    before = (folder / "own.db").stat()
    assert rows(server, "SELECT a FROM t", database="own.db") == [[1]]
    answer = sql(server, MANY.format(1000))
    after = (folder / "own.db").stat()
    made = (folder / "input" / os.path.basename(answer.object["file_path"])).stat()
    assert (before.st_uid, before.st_mtime_ns, before.st_ino) == (after.st_uid, after.st_mtime_ns, after.st_ino)
    assert made.st_uid == folder.stat().st_uid and made.st_mode & 0o777 == 0o600
    assert server.cell(f"open({answer.object['file_path']!r}, 'a').write('x')").state == "done"

# SPDX-License-Identifier: MIT
"""exec_sql on a session's CSV files, on SQLite, and its limits. CB: what CodeBoxMCP gets wrong."""
import csv
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import time

import pytest
from client import BUILD, Result, Server
from outside import PROC
from patience import until
from steps import (EVIL, NEVER_S, alive, assert_clean, family, listed, name_of, paths_in,
                   session_folders, the_sessions)

SALES = 'id,city,amount\n1,Bern,2.50\n2,"Z\u00fcrich, west",3\n3,,\n'
ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"


def begun(server):
    """Makes the session: a query of files makes none."""
    assert not server.call("session_info", session_id="s", config={}).is_error
    return server


@pytest.fixture(name="server")
def server_with_a_session(server):
    return begun(server)


def sql(server, query, **arguments):
    return server.call("exec_sql", session_id="s", query=query, **arguments)


def answers_again(server):
    """Where a query may take a second, a busy machine needs more for some, starting the program included."""
    return until(lambda: not sql(server, "SELECT 1").is_error)


def rows(server, query, **arguments):
    answer = sql(server, query, **arguments)
    assert not answer.is_error, answer.texts
    return answer.object["rows"]


def put(server, name, content):
    assert not server.call("upload_file", session_id="s", filename=name, content=content, overwrite=True).is_error


def write(server, files):
    """Bytes that no text is."""
    server.cell(f"import os\nfor name, data in {files!r}.items():\n    os.makedirs(os.path.dirname(name), exist_ok=True)\n"
                "    open(name, 'wb').write(data)")


def make_database(server, path="data.db", script="create table t(a, b); insert into t values (1, 'x'), (2, null);"):
    server.cell(f"import sqlite3\nc = sqlite3.connect({path!r})\nc.executescript({script!r})\nc.commit()\nc.close()")


def program(pid):
    """The name of a process's program, empty once it is gone."""
    try:
        return (PROC / f"{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def helpers(server):
    return {process for process in family(server.process.pid) if name_of(process[0]).startswith("ptycell-sql")}


def inputs(home):
    """The names in input/ of the one session, hidden ones too; none while it is being made."""
    return [path.name for folder in session_folders(home) for path in paths_in(folder, "input/*")]


def parts(home):
    return [name for name in inputs(home) if name.endswith(".part")]


def fetched(home, answer):
    """The rows of the file that an answer names, as text, with its first line."""
    (folder,) = session_folders(home)
    with open(folder / "input" / os.path.basename(answer.object["file_path"]), encoding="utf-8", newline="") as f:
        return list(csv.reader(f))


def kill_helpers(server):
    for pid, _ in helpers(server):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


# ---- SQLite files ----

def test_a_sqlite_file_of_the_session_is_named_by_its_path(server):
    make_database(server)
    assert rows(server, "SELECT * FROM t", database="data.db") == [[1, "x"], [2, None]]
    path = server.call("session_info", session_id="s", config={}).object["workdir"] + "/data.db"
    assert rows(server, "SELECT count(*) FROM t", database=path) == [[2]]


def test_a_misspelt_name_in_quotes_is_no_text_in_a_sqlite_file_either(server):  # Q4
    make_database(server, script="create table t(region text, amount real); insert into t values ('South', 1)")
    for query, name in (('SELECT avg("amuont") FROM t', "amuont"), ('SELECT * FROM t WHERE "regoin" = \'South\'', "regoin"),
                        ('SELECT count(*) FROM t GROUP BY "regoin"', "regoin")):
        assert sql(server, query, database="data.db").texts[-1].startswith(f"no such column: {name}")
    assert rows(server, 'SELECT "amount" FROM t WHERE "region" = \'South\'', database="data.db") == [[1.0]]


@pytest.mark.parametrize("path", ["../data.db", "/etc/passwd", "input/../data.db", "no.db", "link.db", "text.db"])
def test_a_path_that_is_no_database_of_the_session_is_refused(server, path):
    server.cell("import os; os.symlink('/etc/passwd', 'link.db'); open('text.db', 'w').write('x' * 500)")
    assert sql(server, "SELECT * FROM t", database=path).is_error


def test_a_csv_file_is_said_to_be_a_table_and_no_database(server):
    put(server, "sales.csv", SALES)
    assert sql(server, "SELECT 1", database="input/sales.csv").texts == [
        "'input/sales.csv': it is no SQLite database; a CSV file is a table, by its name, of the database 'files'"]


def test_what_is_written_meanwhile_is_waited_for_or_told(server):
    server.cell("import sqlite3\nw = sqlite3.connect('w.db')\nw.execute('pragma journal_mode=wal')\n"
                "w.execute('create table t(a)')\nw.commit()")
    assert "wal_checkpoint" in sql(server, "SELECT * FROM t", database="w.db").texts[-1]
    server.cell("w.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()")
    assert rows(server, "SELECT * FROM t", database="w.db") == []


def test_a_host_file_is_read_by_its_name_in_the_configuration(home):
    path = home / "host.db"
    db = sqlite3.connect(path)
    db.executescript("create table t(a); insert into t values (7)")
    db.close()
    with Server(home, env={"PTYCELL_SQL_SHOP": f"sqlite:{path}"}) as server:
        assert server.call("session_info", session_id="s").object["databases"] == ["files", "shop"]
        assert rows(server, "SELECT a FROM t", database="shop") == [[7]]
        assert rows(server, "SELECT a FROM t", database="SHOP") == [[7]]
        unnamed = sql(server, "SELECT a FROM t")
        assert unnamed.is_error and "the query named no database, so it read the session's files: pass database, one of 'files', 'shop'" in unnamed.texts[-1]
        unknown = sql(server, "SELECT 1", database="other").texts[-1]
        assert '["files","shop"]' in unknown and str(path) not in unknown


def make_host(path, value, mode="delete"):
    """A database of the person, written and closed."""
    db = sqlite3.connect(path)
    db.executescript(f"pragma journal_mode={mode}; create table if not exists t(a); insert into t values ({value})")
    db.close()


def test_a_host_file_with_a_log_is_read_whether_somebody_writes_to_it_or_not(home):
    path = home / "host.db"
    make_host(path, 1)
    with Server(home, env={"PTYCELL_SQL_SHOP": f"sqlite:{path}"}) as server:
        assert rows(server, "SELECT a FROM t", database="shop") == [[1]]
        make_host(path, 2, "wal")  # which nobody could change whose database was still open elsewhere
        assert rows(server, "SELECT a FROM t", database="shop") == [[1], [2]]
        writer = sqlite3.connect(path)
        writer.execute("insert into t values (3)")
        writer.commit()
        assert rows(server, "SELECT a FROM t", database="shop") == [[1], [2], [3]]
        writer.executescript("update t set a = a + 10; vacuum")
        writer.close()
        assert rows(server, "SELECT a FROM t", database="shop") == [[11], [12], [13]]
        make_host(path, 4, "delete")
        assert rows(server, "SELECT a FROM t", database="shop") == [[11], [12], [13], [4]]


def test_a_host_file_that_was_written_while_it_was_read_is_told(home):
    path = home / "host.db"
    make_host(path, 1, "wal")
    with Server(home, env={"PTYCELL_SQL_SHOP": f"sqlite:{path}"}) as server:
        running = server.start("tools/call", {"name": "exec_sql", "arguments": {
            "session_id": "s", "database": "shop", "query":
            "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3000000) SELECT a, n FROM t, r"}})
        until(lambda: parts(home))
        make_host(path, 2, "wal")
        assert "it changed while it was read; run the query again" in Result(running.get()["result"]).texts[-1]


def test_a_log_without_its_index_is_not_overlooked(home):
    """As after a crash; also where the name is a link, and the log lies beside what it leads to."""
    (home / "real").mkdir()
    path = home / "real" / "host.db"
    writer = sqlite3.connect(path)
    writer.executescript("pragma journal_mode=wal; create table t(a); insert into t values (1)")
    files = {name: name.read_bytes() for name in (path, home / "real" / "host.db-wal")}
    writer.close()
    for name, data in files.items():
        name.write_bytes(data)
    (home / "link.db").symlink_to(path)
    with Server(home, env={"PTYCELL_SQL_SHOP": f"sqlite:{path}", "PTYCELL_SQL_LINK": f"sqlite:{home}/link.db"}) as server:
        for name in ("shop", "link"):
            assert "still in its log" in sql(server, "SELECT a FROM t", database=name).texts[-1]


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_host_file_that_was_replaced_is_read_anew(home, mode):
    path = home / "host.db"
    make_host(path, 1, mode)
    make_host(home / "new.db", 2, mode)
    with Server(home, env={"PTYCELL_SQL_SHOP": f"sqlite:{path}"}) as server:
        assert rows(server, "SELECT a FROM t", database="shop") == [[1]]
        os.replace(home / "new.db", path)
        assert rows(server, "SELECT a FROM t", database="shop") == [[2]]
        path.unlink()
        assert sql(server, "SELECT a FROM t", database="shop").texts == ["unable to open database file"]
        make_host(path, 3, mode)
        assert rows(server, "SELECT a FROM t", database="shop") == [[3]]


def test_functions_that_are_tables_are_read(server):
    put(server, "sales.csv", SALES)
    assert rows(server, "SELECT key, value FROM json_each(?)", params=['{"a": 1, "b": [2]}']) == [["a", 1], ["b", "[2]"]]
    assert rows(server, "SELECT s.id, t.atom FROM sales s, json_tree('[7]') t WHERE t.atom > 6 AND s.id = 1") == [[1, 7]]
    assert rows(server, "SELECT name FROM pragma_table_info('sales')") == [["id"], ["city"], ["amount"]]


def test_an_index_of_words_is_read(server):
    make_database(server, "words.db", "create virtual table w using fts5(s); insert into w values ('one two'), ('three')")
    assert rows(server, "SELECT rowid, s FROM w WHERE w MATCH 'two'", database="words.db") == [[1, "one two"]]


# ---- values ----

def test_values_come_as_they_are(server):
    answer = sql(server, "SELECT 9223372036854775807, x'00ff', NULL, 0.1, 1e300*1e300, 1 a, 2 a, ':b', 'a;b', 0.1+0.2")
    assert answer.object["rows"] == [["9223372036854775807", "AP8=", None, 0.1, "Infinity", 1, 2, ":b", "a;b",
                                      0.30000000000000004]]
    assert [c["name"] for c in answer.object["columns"]][5:7] == ["a", "a"]  # CB-41


def test_params_are_bound_and_never_text(server):
    bound = ["x' OR 1=1 --", 5, 2.5, True, None]
    assert rows(server, "SELECT ?, ?, ?, ?, ?", params=bound) == [["x' OR 1=1 --", 5, 2.5, 1, None]]
    assert "1 parameter, params has 2" in sql(server, "SELECT ?", params=[1, 2]).texts[-1]
    assert "arguments.params[0]" in sql(server, "SELECT ?", params=[[1]]).texts[-1]


def test_params_of_many_megabytes_are_read(server):
    assert rows(server, "SELECT length(?)", params=["\u00e4" * 3_000_000]) == [[3_000_000]]
    assert rows(server, "SELECT length(?) + ?", params=["\x7f" * 2_000_000, 1]) == [[2_000_001]]


def test_foreign_text_is_clean_and_rows_are_as_they_are(server):
    """What nobody sees stands in the table as an escape, and in the rows as itself (W1)."""
    evil = EVIL.replace("\x00", "").replace('"', "")
    put(server, "evil.csv", "a\n" + '"' + evil + '"\n')
    answer = sql(server, "SELECT a, a AS \"x\u202e\n\" FROM evil")
    assert_clean(answer.texts)
    assert answer.object["rows"] == [[evil, evil]] and answer.object["columns"][1]["name"] == "x\u202e\n"
    assert "\\u202E" in answer.texts[-1] and "\\u001B" in answer.texts[-1]


def test_the_table_shows_what_plain_text_would_hide(server):  # B5
    texts = ["South", "South ", " x", "a\nb", "a\tb", "", "NULL", "a | b", '"q"', "a  b", "\u0645\u06cc\u200c\u062e", "pass\u200cword"]
    values = ", ".join("(?)" for _ in texts)
    answer = sql(server, f"SELECT column1, NULL FROM (VALUES {values})", params=texts)
    assert [row[0] for row in answer.object["rows"]] == texts
    assert answer.texts[-1].splitlines()[1:-1] == [text + " | NULL" for text in (
        "South", '"South "', '" x"', '"a\\nb"', '"a\\tb"', '""', '"NULL"', '"a | b"', '"\\"q\\""', "a  b",
        "\u0645\u06cc\u200c\u062e", '"pass\\u200Cword"')]


def test_long_values_are_shown_whole_or_the_cut_is_told(server):  # Q13
    long = sql(server, "SELECT ?, ?", params=["x" * 9999, "y" * 9999])
    assert long.texts[-1].splitlines()[1:] == ["x" * 9999 + " | " + "y" * 9999, "(1 row)"]
    cut = sql(server, "SELECT ?, 'z', ?", params=["x" * 20000, "y" * 300])
    assert cut.texts[-1].splitlines()[1:] == [
        "x" * 10000 + "\u2026 | z | " + "y" * 300, "(1 value is cut to 10000 characters here; substr(COLUMN, 10001) gives the "
        "rest of one)", "(1 row)"]


def test_a_table_has_few_characters_where_answers_have(servers):  # D2
    server = begun(servers(env={"PTYCELL_OUTPUT_CHARS": "500"}))
    long = sql(server, "SELECT ?", params=["x" * 20000])
    assert "x" * 409 + "\u2026\n" in long.texts[-1] and len(long.texts[-1]) < 2000 and long.object["size_bytes"] > 20000
    many = sql(server, MANY.format(100).replace("n * 0.5", "printf('%300d', n)"))
    assert many.object["row_count"] == 100 and len(many.texts[-1]) < 2000
    whole = sql(server, "SELECT ?, ?", params=["y" * 1000, "z" * 1000])
    assert whole.object["rows"] == [["y" * 1000, "z" * 1000]]
    assert whole.texts[-1].splitlines()[1] == "y" * 625 + "\u2026 | " + "z" * 625 + "\u2026"


@pytest.mark.parametrize("value", [0.30000000000000004, 1 / 3, 1.7976931348623157e308, 5e-324, -2.5, 1e22, 123456789.12345679])
def test_doubles_keep_all_their_digits_both_ways(server, value):  # Q2, Q3, D3
    answer = sql(server, "SELECT ? AS x, ? = ? AS same", params=[value, value, value])
    assert answer.object["rows"] == [[value, 1]] and isinstance(answer.object["rows"][0][0], float)
    assert json.loads(answer.texts[-1].splitlines()[1].split(" | ")[0]) == value


def test_integers_beyond_doubles_make_their_whole_column_texts(server):  # D3
    answer = sql(server, "SELECT column1 AS a, column2 AS b FROM (VALUES (1, 1), (9007199254740993, 2), (-5, NULL))")
    assert answer.object["columns"] == [{"name": "a", "type": "bigint"}, {"name": "b", "type": "integer"}]
    assert answer.object["rows"] == [["1", 1], ["9007199254740993", 2], ["-5", None]]


def test_the_line_that_reads_the_file_brings_back_what_was_sent(server):  # Q8
    answer = sql(server, "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < 99) SELECT n, printf('%05d', n) AS zip, "
                         "CASE WHEN n % 2 THEN 'NA' ELSE '1' END AS na, CASE WHEN n % 3 THEN 9007199254740993 + n END AS big, "
                         "CASE WHEN n % 3 THEN n END AS small, "
                         "CASE WHEN n % 2 THEN 'x' ELSE '' END AS empty, CASE WHEN n % 2 THEN 'y' END AS gone, 1.5 * n AS x, "
                         "CASE n % 3 WHEN 0 THEN '' WHEN 1 THEN 'b' END AS \"it's\", 'a' AS zip FROM r")
    lines = answer.texts[-1].splitlines()
    assert lines[-1] == '("it\'s" has both \'\' and NULL: "" and nothing in the file, NaN to pandas)'
    check = """
assert list(df.zip) == ['%05d' % n for n in range(100)] and set(df['zip.1']) == {'a'}
assert list(df.na) == ['NA' if n % 2 else '1' for n in range(100)]
assert [None if v != v else int(v) for v in df.big] == [9007199254740993 + n if n % 3 else None for n in range(100)]
assert df.small.dtype == 'Int64' and df.small.sum() == sum(n for n in range(100) if n % 3)
assert list(df['empty']) == ['x' if n % 2 else '' for n in range(100)] and list(df.gone.isna()) == [n % 2 == 0 for n in range(100)]
df.n.sum(), df.x.sum()"""
    assert server.cell(lines[-2] + check).text == "(4950, 7425.0)\n"


def test_the_line_for_pandas_names_columns_without_names_as_pandas_does(server):
    line = sql(server, "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < 99) SELECT n, printf('%05d', n) AS \"\", 1 AS b, "
                       "nullif(n, 5) AS \"\" FROM r").texts[-1].splitlines()[-1]
    assert server.cell(line + "\ndf.iloc[7].tolist(), str(df.dtypes.iloc[3]), list(df)").text == (
        "([7, '00007', 1, 7], 'Int64', ['n', 'Unnamed: 1', 'b', 'Unnamed: 3'])\n")


def test_the_line_for_pandas_brings_doubles_back(server):  # Q8
    server.cell("import random\nrandom.seed(7)\nxs = [random.random() * 10 ** random.randint(-20, 20) for _ in range(3000)]\n"
                "open('input/x.csv', 'w').write('x\\n' + ''.join(f'{x!r}\\n' for x in xs))")
    (line,) = [line for line in sql(server, "SELECT x, count(*) OVER () AS n FROM x").texts[-1].splitlines() if "read_csv" in line]
    assert line.endswith(", float_precision='round_trip')")
    assert server.cell(line + "\nsum(a != b for a, b in zip(df.x, xs)), len(df)").text == "(0, 3000)\n"
    assert "float_precision" not in sql(server, "SELECT count(*) OVER () AS n FROM x").texts[-1]


def test_the_guide_says_what_integers_and_dates_are(server):
    guide = server.request("resources/read", {"uri": "ptycell://guide"})["contents"][0]["text"]
    assert "`5 / 2` of integers is 2" in guide and "dates are texts, which sort when they are ISO" in guide
    assert rows(server, "SELECT 5 / 2, 5 / 2.0") == [[2, 2.5]]


# ---- many rows ----

MANY = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT {}) SELECT n, n * 0.5 AS h FROM r"


def test_many_rows_go_to_a_file_that_pandas_reads(server, home):
    answer = sql(server, MANY.format(100000))
    assert re.search(r"/input/sql_result_[0-9a-f]{8}\.csv$", answer.object["file_path"])
    assert answer.object["row_count"] == 100000 and len(answer.object["rows"]) == 10
    (line,) = [line for line in answer.texts[-1].splitlines() if "read_csv" in line]
    assert server.cell(line + "\nlen(df), df.n.sum(), df.h.max()").text == "(100000, 5000050000, 50000.0)\n"
    assert fetched(home, answer)[:2] == [["n", "h"], ["1", "0.5"]]


def test_the_limit_of_rows_in_the_answer_is_the_sessions(home):
    with begun(Server(home, env={"SQL_MAX_INLINE_ROWS": "5"})) as server:  # CB-19
        assert "file_path" not in sql(server, MANY.format(5)).object
        assert sql(server, MANY.format(6)).object["file_path"]
        server.call("session_info", session_id="s", config={"sql_max_inline_rows": 2})
        assert sql(server, MANY.format(3)).object["file_path"]


def test_a_file_keeps_null_and_empty_text_apart(home):
    with begun(Server(home, env={"SQL_MAX_INLINE_ROWS": "1"})) as server:
        answer = sql(server, "VALUES (NULL, '', 'a,\"b\"'), (1, x'00', 'c\r\nd')")
        (folder,) = session_folders(home)
        text = (folder / "input" / os.path.basename(answer.object["file_path"])).read_bytes()
    assert text == b'column1,column2,column3\r\n,"","a,""b"""\r\n1,AA==,"c\r\nd"\r\n'


@pytest.mark.parametrize("limit", ["PTYCELL_FILE_MAX", "PTYCELL_DISK_MAX"])
def test_the_most_bytes_hold(home, limit):
    with begun(Server(home, env={limit: "1M"})) as server:
        wide = sql(server, "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 900) "
                           "SELECT n, printf('%.9000c', 'x') FROM r")
        assert wide.object["truncated"] and wide.object["size_bytes"] < 2 << 20
        assert f"only the first {wide.object['row_count']} rows" in wide.texts[-1]


@pytest.mark.parametrize("rows, truncated", [(999, False), (1001, True)])
def test_the_helper_writes_as_many_rows_as_are_wanted(tmp_path, rows, truncated):
    """The server wants 20 million."""
    order = {"query": 1, "database": {"kind": "files"}, "sql": MANY.format(rows), "result": "r.csv", "inline_rows": 1,
             "inline_bytes": 1 << 20, "rows_max": 1000, "bytes_max": 1 << 30, "timeout_ms": 60000}
    folder = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    done = subprocess.run(["bash", "-c", f"exec 3<&{folder}; exec \"$0\"", str((BUILD / "ptycell-sql").resolve())], pass_fds=[folder],
                          input=json.dumps(order) + "\n", capture_output=True, text=True, check=False)
    os.close(folder)
    answer, = [said["progress"]["answer"] for said in map(json.loads, done.stdout.splitlines()) if "answer" in said.get("progress", {})]
    assert answer["row_count"] == min(rows, 1000) and answer.get("truncated", False) is truncated
    assert len((tmp_path / "r.csv").read_text().splitlines()) == min(rows, 1000) + 1


@pytest.mark.parametrize("length", [200_000, 5_000_000])
def test_one_row_that_is_large_goes_to_a_file(server, home, length):
    answer = sql(server, f"SELECT printf('%.{length}c', 'x') AS big, 1 AS n")
    ((big, n),) = answer.object["rows"]
    assert re.fullmatch("x{1000}\u2026", big) and n == 1 and answer.object["values_cut"] is True
    assert "(the first 1 rows, long values cut; all 1 rows are in input/" in answer.texts[-1]
    assert (answer.object["size_bytes"], len(json.dumps(answer.raw)) < 10_000) == (length + 11, True)
    (folder,) = session_folders(home)
    assert len((folder / "input" / os.path.basename(answer.object["file_path"])).read_text().split()[1]) == length + 2


def test_large_binary_values_become_files(server):
    answer = sql(server, "SELECT 1 AS n, randomblob(20000) AS b UNION ALL SELECT 2, x'00ff' UNION ALL SELECT 3, zeroblob(16384)")
    (_, path), small, (_, most) = answer.object["rows"]
    assert re.fullmatch(r"input/sql_result_[0-9a-f]{8}_1\.bin", path)
    assert small == [2, "AP8="] and len(most) == 21848 and answer.object["blob_files"] == 1
    assert "1 large binary value is a file: path in the working folder" in answer.texts[-1]
    assert listed(server) == [path]
    assert server.cell(f"len(open({path!r}, 'rb').read())").text == "20000\n"


def test_binary_values_of_many_rows_are_files_beside_theirs(home):
    with begun(Server(home, env={"SQL_MAX_INLINE_ROWS": "1"})) as server:
        answer = sql(server, "SELECT zeroblob(20000) AS b UNION ALL SELECT zeroblob(30000)")
        assert answer.object["blob_files"] == 2 and "2 large binary values are files" in answer.texts[-1]
        first, second = [row[0] for row in fetched(home, answer)[1:]]
        (folder,) = session_folders(home)
        assert [(folder / path).stat().st_size for path in (first, second)] == [20000, 30000]


def test_more_binary_files_than_there_may_be_end_the_result(server):
    answer = sql(server, "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 2000) "
                         "SELECT n, zeroblob(17000) FROM r")
    assert (answer.object["row_count"], answer.object["blob_files"]) == (1000, 1000) and answer.object["truncated"]


def test_a_query_that_fails_leaves_no_file(server, home):
    failing = "SELECT zeroblob(20000) UNION ALL SELECT abs(-9223372036854775807 - n) FROM (SELECT 1 AS n)"
    assert "integer overflow" in sql(server, failing).texts[-1]
    many = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 100000) SELECT n, " \
           "CASE n WHEN 90000 THEN abs(-9223372036854775807 - 1) END FROM r"
    assert "integer overflow" in sql(server, many).texts[-1]
    assert inputs(home) == []


@pytest.mark.parametrize("swap", ["os.symlink('/tmp', 'input')", "open('input', 'w').close()"])
def test_a_result_without_its_folder_says_what_could_not_be_made(server, swap):
    server.cell("import os; os.rmdir('input'); " + swap)
    answer = sql(server, MANY.format(1000))
    assert re.fullmatch(r"making 'input/\.?sql_result_[0-9a-f]{8}\.csv\S*': a part of the path is not a folder", answer.texts[-1])
    server.cell("os.remove('input')")
    assert not sql(server, MANY.format(1000)).is_error


# ---- what is refused ----

@pytest.mark.parametrize("query, why", [
    ("DELETE FROM t", "line 1, column 1: DELETE is not allowed here"),
    ("SELECT 1; SELECT 2", "begins a second statement"),
    ("SELECT '/*' ; DROP TABLE t --*/'", "begins a second statement"),  # CB-33
    ("ATTACH 'x.db' AS x", "ATTACH is not allowed"),
    ("PRAGMA journal_mode = wal", "PRAGMA is not allowed"),
    ("SELECT load_extension('x')", "load_extension runs other code"),
    ("", "the query is empty"),
    ("SELECT\n  'abc", "line 2, column 3: this string does not end"),
])
def test_what_does_not_only_read_is_refused_with_the_place(server, query, why):
    answer = sql(server, query)
    assert answer.is_error and why in answer.texts[-1]


@pytest.mark.parametrize("query", [
    "SELECT 'update pending' AS [set]", "SELECT 'a;b' AS x", "SELECT(1)", ";WITH a AS (SELECT 1) SELECT * FROM a",
    "VALUES (1)", "/* a */ SELECT 1 -- b", "SELECT 1;;", "EXPLAIN QUERY PLAN SELECT 1"])
def test_what_only_reads_is_run(server, query):  # CB-37, CB-38, CB-39
    assert not sql(server, query).is_error


# ---- the end of a query ----

def test_a_query_that_takes_too_long_is_stopped_and_the_next_one_runs(home):  # CB-42
    with begun(Server(home, env={"PTYCELL_QUERY_TIMEOUT": "1"})) as server:
        answer = sql(server, ENDLESS)
        assert answer.is_error and answer.texts[-1].endswith("ran into its deadline of 1 s (PTYCELL_QUERY_TIMEOUT) and was stopped")
        assert answers_again(server)


READ = ("b was read whole for each row of a: only an equality with a column finds rows. A column of the query's own will do: "
        "WITH k AS MATERIALIZED (SELECT ")
EACH = "SELECT count(*) FROM a JOIN b ON lower(a.x) = lower(b.x)"
EACH_TOLD = READ + "b.*, lower(b.x) AS join_key FROM b), then k in its place and lower(a.x) = k.join_key"
FASTER = "WITH k AS MATERIALIZED (SELECT b.*, lower(b.x) AS join_key FROM b) SELECT count(*) FROM a JOIN k ON lower(a.x) = k.join_key"


@pytest.mark.parametrize("query, told", [
    (EACH, EACH_TOLD),
    ("SELECT count(*) FROM a LEFT JOIN 'b' AS \"c d\" ON lower(\"c d\".x) = lower(a.x) AND a.id < 1e6",
     READ.replace("b was", "c d was") + "\"c d\".*, lower(\"c d\".x) AS join_key FROM 'b' AS \"c d\"), then k in its place and lower(a.x) = k.join_key"),
    ("SELECT count(*) FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE lower(b.x) || 1 = a.x)",
     READ + "b.*, lower(b.x) || 1 AS join_key FROM b), then k in its place and a.x = k.join_key"),
    ("SELECT count(*) FROM a JOIN b ON a.x < b.x AND a.x <> b.x", READ[:READ.index(".")]),
    ("SELECT count(*) FROM a, (SELECT id i, x y FROM b) b WHERE lower(x) = lower(y)", READ + "*, EXPRESSION AS join_key FROM it), then k in its place and ... = k.join_key")])
def test_a_query_past_its_deadline_that_reads_a_file_for_each_row_of_another_says_so(home, query, told):
    with begun(Server(home, env={"PTYCELL_QUERY_TIMEOUT": "1"})) as server:
        for name in ("a", "b"):
            put(server, f"{name}.csv", "id,x\n" + "".join(f"{i},{name.upper()}{i}\n" for i in range(20000)))
        assert sql(server, query).texts[-1].endswith(f" and was stopped; {told}")


def test_a_table_of_the_querys_own_has_an_index_where_an_expression_has_none(home):
    script = "".join(f"create table {name} (id integer, x text); insert into {name} with recursive r(n) as (select 1 union all select n + 1 from r "
                     f"where n < 20000) select n, '{letter}' || n from r;" for name, letter in (("a", "z"), ("b", "Z")))
    with begun(Server(home, env={"PTYCELL_QUERY_TIMEOUT": "1"})) as server:
        make_database(server, script=script)
        assert sql(server, EACH, database="data.db").texts[-1].endswith(f" and was stopped; {EACH_TOLD}")
    with begun(Server(home)) as server:
        make_database(server, script=script)
        assert rows(server, FASTER, database="data.db") == [[20000]]
        for name in ("Z", "z"):
            put(server, f"{'a' if name == 'Z' else 'b'}.csv", "id,x\n" + "".join(f"{i},{name}{i}\n" for i in range(20000)))
        assert rows(server, FASTER) == [[20000]]


def test_a_cancelled_query_ends_and_leaves_nothing(server, home):
    running = server.start("tools/call", {"name": "exec_sql", "arguments": {
        "session_id": "s", "query": MANY.format(10 ** 12)}})
    until(lambda: helpers(server) and parts(home))
    ran = helpers(server)
    server.cancel(running)
    until(lambda: not alive(ran))
    assert rows(server, "SELECT 1") == [[1]]
    assert inputs(home) == []


@pytest.fixture(name="hurried")
def server_whose_calls_are_answered_at_once(servers):
    return begun(servers(env={"PTYCELL_CALL_BUDGET": "0"}))


def ended(server, query, **arguments):
    """The answer of a query that no call waits for to its end."""
    answers = []

    def has_ended():
        answers.append(sql(server, query, **arguments))
        return "state" not in (answers[-1].object or {})
    until(has_ended)
    return answers


def test_a_query_goes_on_when_its_call_is_answered_and_the_same_call_gets_the_answer(hurried):  # D5
    *running, last = ended(hurried, "SELECT ? AS a", params=[7])
    assert running and {(answer.object["state"], answer.object["cell"], answer.is_error) for answer in running} == {
        ("running", 1, False)}
    assert "call exec_sql again with the same arguments" in running[0].object["message"]
    assert (last.object["rows"], last.object["cell"]) == ([[7]], 1)
    assert re.match(r"This is the query of cell \d+, which began \d+ s ago: what was changed since is not in it\. "
                    r"The same call once more runs it anew\.", last.texts[0])
    again = ended(hurried, "SELECT ? AS a", params=[7])
    assert again[0].object["state"] == "running" and again[-1].object["cell"] == 2
    assert ended(hurried, "SELECT ? AS a", params=[8])[-1].object["rows"] == [[8]]


def test_an_error_and_a_file_that_came_when_no_call_waited(hurried, home):
    failed = ended(hurried, "SELECT nothing")[-1]
    assert failed.is_error and "nothing" in failed.texts[-1] and "Call again to run it again.)" in failed.texts[-1]
    kept = ended(hurried, MANY.format(1000))[-1]
    assert kept.object["row_count"] == 1000
    (name,) = inputs(home)
    assert kept.object["file_path"].endswith(name)
    sql(hurried, MANY.format(1001))
    until(lambda: len(inputs(home)) == 2 and not parts(home))
    hurried.cell("import glob, os\nfor path in glob.glob('input/*'): os.remove(path)")
    until(lambda: inputs(home) == [])
    again = ended(hurried, MANY.format(1001))
    assert again[0].object["state"] == "running" and again[-1].object["file_path"].rpartition("/")[2] in inputs(home)[0]


def test_a_call_that_waits_once_more_gets_the_answer(servers):
    server = begun(servers(env={"PTYCELL_CALL_BUDGET": "1", "PTYCELL_QUERY_TIMEOUT": "2"}))
    assert "ran into its deadline of 2 s" in ended(server, ENDLESS)[-1].texts[-1]
    assert not ended(server, "SELECT 1")[-1].is_error


def test_progress_tells_the_rows(server):
    running = server.start("tools/call", {"name": "exec_sql", "_meta": {"progressToken": 7}, "arguments": {
        "session_id": "s", "query": MANY.format(10 ** 12)}})
    notes = []
    until(lambda: notes.extend(server.notifications("notifications/progress")) or len(notes) > 1)
    server.cancel(running)
    first, second = [note["params"] for note in notes][:2]
    assert first["progressToken"] == 7 and 0 < first["progress"] < second["progress"]
    assert first["message"] == f"{first['progress']:.0f} rows"


def test_a_killed_helper_costs_one_clear_error(server, home):
    running = server.start("tools/call", {"name": "exec_sql", "arguments": {
        "session_id": "s", "query": MANY.format(10 ** 12)}})
    until(lambda: parts(home))
    kill_helpers(server)
    answer = Result(running.get()["result"])
    assert answer.is_error and answer.texts == ["'ptycell-sql' was ended by signal 9; run the query again"]
    assert rows(server, "SELECT 1") == [[1]] and listed(server) == []


def test_a_helper_killed_at_any_moment_costs_one_clear_error(server, home):
    """Small and large results, endless queries and none at all, at moments that chance chooses."""
    chance = random.Random(7)
    failed = 0
    for turn in range(600 if os.environ.get("PTYCELL_FULL") else 60):
        query = chance.choice(["SELECT 1", MANY.format(200000), MANY.format(10 ** 12), ENDLESS, None])
        answers = [] if query is None else [server.start("tools/call", {"name": "exec_sql", "arguments": {
            "session_id": "s", "query": query}})]
        time.sleep(chance.choice([0, 0.001, 0.02, 0.1]) * chance.random())
        kill_helpers(server)
        while answers and answers[0].empty():
            kill_helpers(server)
        results = [Result(answer.get()["result"]) for answer in answers] + [sql(server, "SELECT 1")]
        errors = [result for result in results if result.is_error]
        assert len(errors) <= 1, (turn, query, [result.texts for result in results])
        for result in errors:
            assert result.texts == ["'ptycell-sql' was ended by signal 9; run the query again"]
        failed += len(errors)
        assert rows(server, "SELECT 1") == [[1]] and parts(home) == []
    assert failed > turn // 4 and len(helpers(server)) == 1


def test_queries_at_the_same_time_are_each_answered(server):
    started = [server.start("tools/call", {"name": "exec_sql", "arguments": {
        "session_id": "s", "query": f"SELECT {i}"}}) for i in range(20)]
    assert [Result(a.get()["result"]).object["rows"] for a in started] == [[[i]] for i in range(20)]
    assert len(helpers(server)) == 1


def test_a_destroyed_session_ends_its_query_and_process(server):
    running = server.start("tools/call", {"name": "exec_sql", "arguments": {"session_id": "s", "query": ENDLESS}})
    until(lambda: helpers(server))
    ran = helpers(server)
    server.call("destroy_session", session_id="s")
    assert Result(running.get()["result"]).texts == ["the session ended meanwhile"]
    until(lambda: not alive(ran))


def test_a_query_that_ends_while_its_session_ends_costs_nobody_anything(server):
    """The session lives on while its interpreter ends, and the query's result comes meanwhile."""
    server.cell(f"import atexit, time; atexit.register(time.sleep, {NEVER_S})")
    running = server.start("tools/call", {"name": "exec_sql", "arguments": {"session_id": "s", "query": MANY.format(10 ** 6)}})
    server.call("destroy_session", session_id="s")
    assert Result(running.get()["result"]).texts == ["the session ended meanwhile"]
    assert server.cell("1", session="t").text == "1\n"


def test_no_process_outlives_the_server(home):
    with begun(Server(home)) as server:
        rows(server, "SELECT 1")
        ran = helpers(server)
        assert ran
    until(lambda: not alive(ran))


# ---- secrets ----

def test_credentials_are_nowhere_but_in_the_helper(home):
    secret = "S3cret;pass}word"
    env = {"AZURE_DATABASE_CONNECTION_STRING": "Driver={No Such Driver};Server=127.0.0.1;Uid=u;"
                                               "Pwd={your_password_here};", "AZURE_DATABASE_PASSWORD": secret,
           "PTYCELL_LOG": "debug"}
    with Server(home, env=env) as server:
        assert server.call("session_info", session_id="s").object["databases"] == ["default", "files"]
        answer = sql(server, "SELECT 1")
        info = server.call("session_info", session_id="s")
        seen = server.cell("import os; sorted(os.environ.items())").text
        assert answer.is_error and "connecting to the database" in answer.texts[-1]
        said = json.dumps([answer.raw, info.raw, seen])
    assert secret not in said and "S3cret" not in said and "'ptycell doctor' lists the drivers" in answer.texts[-1]
    assert b"S3cret" not in server.stderr and b"Pwd" not in server.stderr


def test_a_placeholder_without_a_password_says_so(home):  # CB-43
    with Server(home, env={"AZURE_DATABASE_CONNECTION_STRING": "Driver=x;Pwd={your_password_here}"}) as server:
        assert "there is no password" in sql(server, "SELECT 1").texts[-1]


# ---- what is kept of them ----

def read(server, path):
    return server.request("resources/read", {"uri": f"session://s/{path}"})["contents"][0]["text"]


def test_queries_are_cells_of_the_journal_and_lines_of_the_audit_file(home):
    with Server(home, env={"PTYCELL_AUDIT": str(home / "audit")}) as server:
        server.cell("1")
        put(server, "a.csv", "n\n1\n")
        assert sql(server, "SELECT n FROM a\nWHERE n > ?", params=[0]).object["cell"] == 2
        sql(server, "DELETE FROM a")
        server.cell("2")
        done, refused = (json.loads(read(server, f"cells/{n}")) for n in (2, 3))
        notebook, script = json.loads(read(server, "notebook")), read(server, "script")
        running = server.start("tools/call", {"name": "exec_sql", "arguments": {"session_id": "s", "query": ENDLESS}})
        until(lambda: helpers(server))
        server.call("destroy_session", session_id="s")
        running.get()
    assert (done["language"], done["state"], done["database"], done["row_count"]) == ("sql", "done", "files", 1)
    assert (done["code"], done["params"]) == ("SELECT n FROM a\nWHERE n > ?", [0])
    assert done["text"] == "n\n1\n(1 row)"
    assert refused["state"] == "raised" and refused["problem"].startswith("line 1, column 1: DELETE")
    why = "# [not run again: it needs ptycell's exec_sql]"
    assert [cell["source"].split("\n")[0] for cell in the_sessions(notebook)["cells"]] == [
        "1", why, "    n", why, "    [" + refused["problem"] + "]", "2"]
    assert [cell["cell_type"] for cell in the_sessions(notebook)["cells"]] == ["code", *["raw", "markdown"] * 2, "code"]
    assert "# %% cell 2, sql\n# SELECT n FROM a\n# WHERE n > ?\n" in script and script.startswith("# %% cell 1\n1\n")
    lines = [json.loads(line) for line in (home / "audit").read_text(encoding="utf-8").splitlines()]
    assert [line["cell"] for line in lines if line["event"] == "began"] == [1, 2, 3, 4, 5]
    assert [line["code"] for line in lines if line["event"] == "began"][1] == "SELECT n FROM a\nWHERE n > ?"
    assert [(line["cell"], line["language"], line["state"]) for line in lines if line["event"] == "ended"] == [
        (1, "python", "done"), (2, "sql", "done"), (3, "sql", "raised"), (4, "python", "done"), (5, "sql", "interrupted")]


def test_a_session_whose_query_runs_is_not_idle(home):  # CB-13
    """A query of a database that is named makes its session."""
    make_host(home / "host.db", 1)
    env = {"IDLE_TIMEOUT": "1", "CLEANUP_INTERVAL": "1", "PTYCELL_QUERY_TIMEOUT": "3", "PTYCELL_SQL_SHOP": f"sqlite:{home}/host.db"}
    with Server(home, env=env) as server:
        assert "ran into its deadline of 3 s" in sql(server, ENDLESS, database="shop").texts[-1]


def peak_kb(process):
    """The most memory that it ever used."""
    (line,) = [line for line in open(f"{PROC}/{process[0]}/status", encoding="utf-8") if line.startswith("VmHWM")]
    return int(line.split()[1])


def test_memory_does_not_grow_with_the_rows(home):  # CB-42
    """A million rows; ten million with PTYCELL_FULL=1."""
    most = 10_000_000 if os.environ.get("PTYCELL_FULL") else 1_000_000
    with begun(Server(home)) as server:
        sql(server, MANY.format(1000))
        few = peak_kb(next(iter(helpers(server))))
        answer = sql(server, MANY.format(most))
        many = peak_kb(next(iter(helpers(server))))
    assert answer.object["row_count"] == most and many < few + 32768


@pytest.mark.parametrize("password", ["s3cret", "e", "****"])
def test_a_freetds_connection_that_fails_is_told_and_shows_no_password(home, password):
    """One of a letter is told by where the stars are (security 14)."""
    env = {"PTYCELL_SQL_T": f"Driver=FreeTDS;Server=127.0.0.1;Port=9;UID=u;PWD={password};TDS_Version=7.4"}
    if "[FreeTDS]" not in (open("/etc/odbcinst.ini", encoding="utf-8").read()
                           if os.path.exists("/etc/odbcinst.ini") else ""):
        pytest.skip("no FreeTDS driver (apt install tdsodbc)")
    with Server(home, env=env) as server:
        answer = sql(server, "SELECT 1", database="t")
    assert answer.is_error and "connecting to the database: Unable to connect" in answer.texts[-1]
    assert "s3cret" not in json.dumps(answer.raw)

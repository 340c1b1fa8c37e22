# SPDX-License-Identifier: MIT
"""exec_sql on a session's CSV files, on SQLite, and its limits. CB: what CodeBoxMCP gets wrong."""
import csv
import json
import os
import re
import signal
import sqlite3

import pytest
from client import Result, Server
from steps import EVIL, alive, assert_clean, family, listed, session_folders, until

SALES = 'id,city,amount\n1,Bern,2.50\n2,"Z\u00fcrich, west",3\n3,,\n'
ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"


def sql(server, query, **arguments):
    return server.call("exec_sql", session_id="s", query=query, **arguments)


def rows(server, query, **arguments):
    answer = sql(server, query, **arguments)
    assert not answer.is_error, answer.texts
    return answer.object["rows"]


def put(server, name, content):
    assert not server.call("upload_file", session_id="s", filename=name, content=content, overwrite=True).is_error


def make_database(server, path="data.db", script="create table t(a, b); insert into t values (1, 'x'), (2, null);"):
    server.cell(f"import sqlite3\nc = sqlite3.connect({path!r})\nc.executescript({script!r})\nc.commit()\nc.close()")


def helpers(server):
    return {p for p in family(server.process.pid) if
            open(f"/proc/{p[0]}/comm", encoding="utf-8").read().startswith("ptycell-sql")}


def fetched(home, answer):
    """The rows of the file that an answer names, as text, with its first line."""
    (folder,) = session_folders(home)
    with open(folder / "input" / os.path.basename(answer.object["file_path"]), encoding="utf-8", newline="") as f:
        return list(csv.reader(f))


# ---- CSV files ----

def test_a_csv_file_is_a_table_by_its_name(server):
    put(server, "sales.csv", SALES)
    answer = sql(server, "SELECT * FROM sales")
    assert answer.object["columns"] == [{"name": "id", "type": "integer"}, {"name": "city", "type": "text"},
                                        {"name": "amount", "type": "real"}]
    assert answer.object["rows"] == [[1, "Bern", 2.5], [2, "Z\u00fcrich, west", 3.0], [3, None, None]]
    assert answer.texts[-1] == ("id | city | amount\n1 | Bern | 2.5\n2 | Z\u00fcrich, west | 3.0\n3 | NULL | NULL\n"
                                "(3 rows)")
    assert_clean(answer.raw)


@pytest.mark.parametrize("name", ["sales", "SALES", '"sales.csv"', "'sales.csv'", "[input/sales.csv]"])
def test_each_name_of_a_file_names_its_table(server, name):
    put(server, "sales.csv", SALES)
    assert rows(server, f"SELECT sum(id) FROM {name}") == [[6]]


def test_a_file_that_changed_is_read_again_and_one_that_is_gone_is_no_table(server):
    put(server, "a.csv", "n\n1\n")
    assert rows(server, "SELECT n FROM a") == [[1]]
    put(server, "a.csv", "n\n2\n3\n")
    assert rows(server, "SELECT n FROM a") == [[2], [3]]
    server.cell("import os; os.remove('input/a.csv')")
    assert "no such table: a; the session has no CSV file" in sql(server, "SELECT n FROM a").texts[-1]


def test_types_lose_nothing(server):
    put(server, "t.csv", "zip,big,mixed,tab\n007,123456789012345678901,1,2\n08,1,x,3.5\n")
    assert rows(server, "SELECT * FROM t") == [["007", "123456789012345678901", "1", 2.0], ["08", "1", "x", 3.5]]


def test_tabs_semicolons_marks_and_odd_headers_are_read(server):
    put(server, "a b.tsv", "x\ty\n1\t2\n")
    put(server, "c.csv", "\ufeffn;N;;q\r\n1;2;3;\"a;b\"\r\n")
    assert rows(server, "SELECT x + y FROM a_b") == [[3]]
    assert rows(server, 'SELECT n, "N_2", column3, q FROM c') == [[1, 2, 3, "a;b"]]


def test_the_error_for_an_unknown_table_lists_those_there_are(server):
    put(server, "one.csv", "a\n1\n")
    put(server, "two.csv", "a\n1\n")
    assert "the session's CSV files are the tables one, two" in sql(server, "SELECT * FROM three").texts[-1]


def test_a_link_to_elsewhere_is_no_table(server, home):
    (home / "secret.csv").write_text("secret\n42\n", encoding="utf-8")
    server.cell(f"import os; os.symlink({str(home / 'secret.csv')!r}, 'input/secret.csv')")
    answer = sql(server, "SELECT * FROM secret")
    assert answer.is_error and "42" not in json.dumps(answer.raw)


# ---- SQLite files ----

def test_a_sqlite_file_of_the_session_is_named_by_its_path(server):
    make_database(server)
    assert rows(server, "SELECT * FROM t", database="data.db") == [[1, "x"], [2, None]]
    path = server.call("session_info", session_id="s").object["workdir"] + "/data.db"
    assert rows(server, "SELECT count(*) FROM t", database=path) == [[2]]


@pytest.mark.parametrize("path", ["../data.db", "/etc/passwd", "input/../data.db", "no.db", "link.db", "text.db"])
def test_a_path_that_is_no_database_of_the_session_is_refused(server, path):
    server.cell("import os; os.symlink('/etc/passwd', 'link.db'); open('text.db', 'w').write('x' * 500)")
    assert sql(server, "SELECT * FROM t", database=path).is_error


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
        assert sql(server, "SELECT a FROM t").is_error
        unknown = sql(server, "SELECT 1", database="other").texts[-1]
        assert '["files","shop"]' in unknown and str(path) not in unknown


# ---- values ----

def test_values_come_as_they_are(server):
    answer = sql(server, "SELECT 9223372036854775807, x'00ff', NULL, 0.1, 1e300*1e300, 1 a, 2 a, ':b', 'a;b', 0.1+0.2")
    assert answer.object["rows"] == [["9223372036854775807", "AP8=", None, 0.1, "Infinity", 1, 2, ":b", "a;b",
                                      "0.30000000000000004"]]
    assert [c["name"] for c in answer.object["columns"]][5:7] == ["a", "a"]  # CB-41


def test_params_are_bound_and_never_text(server):
    bound = ["x' OR 1=1 --", 5, 2.5, True, None]
    assert rows(server, "SELECT ?, ?, ?, ?, ?", params=bound) == [["x' OR 1=1 --", 5, 2.5, 1, None]]
    assert "1 parameters, params has 2" in sql(server, "SELECT ?", params=[1, 2]).texts[-1]
    assert "arguments.params[0]" in sql(server, "SELECT ?", params=[[1]]).texts[-1]


def test_foreign_text_is_clean(server):
    put(server, "evil.csv", "a\n" + '"' + EVIL.replace("\x00", "").replace('"', "") + '"\n')
    assert_clean(sql(server, "SELECT a, a AS \"x\u202e\n\" FROM evil").raw)


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
    with Server(home, env={"SQL_MAX_INLINE_ROWS": "5"}) as server:  # CB-19
        assert "file_path" not in sql(server, MANY.format(5)).object
        assert sql(server, MANY.format(6)).object["file_path"]
        server.call("session_info", session_id="s", config={"sql_max_inline_rows": 2})
        assert sql(server, MANY.format(3)).object["file_path"]


def test_a_file_keeps_null_and_empty_text_apart(home):
    with Server(home, env={"SQL_MAX_INLINE_ROWS": "1"}) as server:
        answer = sql(server, "VALUES (NULL, '', 'a,\"b\"'), (1, x'00', 'c\r\nd')")
        (folder,) = session_folders(home)
        text = (folder / "input" / os.path.basename(answer.object["file_path"])).read_bytes()
    assert text == b'column1,column2,column3\r\n,"","a,""b"""\r\n1,AA==,"c\r\nd"\r\n'


def test_the_most_rows_and_bytes_hold(home):
    with Server(home, env={"PTYCELL_QUERY_ROWS_MAX": "1000", "PTYCELL_FILE_MAX": "1M"}) as server:
        answer = sql(server, MANY.format(5000))
        assert answer.object["row_count"] == 1000 and answer.object["truncated"]
        assert "only the first 1000 rows" in answer.texts[-1] and len(fetched(home, answer)) == 1001
        wide = sql(server, "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 900) "
                           "SELECT n, printf('%.9000c', 'x') FROM r")
        assert wide.object["truncated"] and wide.object["size_bytes"] < 2 << 20


def test_one_row_that_is_large_goes_to_a_file(server):
    answer = sql(server, "SELECT printf('%.200000c', 'x') AS big")
    assert answer.object["file_path"] and len(json.dumps(answer.raw)) < 1_000_000


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

def test_a_query_that_takes_too_long_is_stopped_and_the_next_one_runs(home):
    with Server(home, env={"PTYCELL_QUERY_TIMEOUT": "1"}) as server:
        answer = sql(server, ENDLESS)
        assert answer.is_error and "ran into its deadline of 1 s (PTYCELL_QUERY_TIMEOUT)" in answer.texts[-1]
        assert rows(server, "SELECT 1") == [[1]]


def test_a_cancelled_query_ends_and_leaves_nothing(server, home):
    running = server.start("tools/call", {"name": "exec_sql", "arguments": {
        "session_id": "s", "query": MANY.format(10 ** 12)}})
    until(lambda: helpers(server) and any(f.endswith(".part") for folder in session_folders(home)
                                          for f in os.listdir(folder / "input")))
    ran = helpers(server)
    server.cancel(running)
    until(lambda: not alive(ran))
    assert rows(server, "SELECT 1") == [[1]]
    assert os.listdir(session_folders(home)[0] / "input") == []


def test_a_killed_helper_costs_one_clear_error(server, home):
    running = server.start("tools/call", {"name": "exec_sql", "arguments": {
        "session_id": "s", "query": MANY.format(10 ** 12)}})
    until(lambda: any(f.name.endswith(".part") for folder in session_folders(home) for f in folder.glob("input/*")))
    for pid, _ in helpers(server):
        os.kill(pid, signal.SIGKILL)
    answer = Result(running.get(timeout=20)["result"])
    assert answer.is_error and answer.texts == ["'ptycell-sql' was ended by signal 9; run the query again"]
    assert rows(server, "SELECT 1") == [[1]] and listed(server) == []


def test_queries_at_the_same_time_are_each_answered(server):
    started = [server.start("tools/call", {"name": "exec_sql", "arguments": {
        "session_id": "s", "query": f"SELECT {i}"}}) for i in range(20)]
    assert [Result(a.get(timeout=20)["result"]).object["rows"] for a in started] == [[[i]] for i in range(20)]
    assert len(helpers(server)) == 1


def test_a_destroyed_session_ends_its_query_and_process(server):
    running = server.start("tools/call", {"name": "exec_sql", "arguments": {"session_id": "s", "query": ENDLESS}})
    until(lambda: helpers(server))
    ran = helpers(server)
    server.call("destroy_session", session_id="s")
    assert Result(running.get(timeout=20)["result"]).texts == ["the session ended meanwhile"]
    until(lambda: not alive(ran))


def test_no_process_outlives_the_server(home):
    with Server(home) as server:
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
    assert secret not in said and "S3cret" not in said
    assert b"S3cret" not in server.stderr and b"Pwd" not in server.stderr


def test_a_placeholder_without_a_password_says_so(home):  # CB-43
    with Server(home, env={"AZURE_DATABASE_CONNECTION_STRING": "Driver=x;Pwd={your_password_here}"}) as server:
        assert "there is no password" in sql(server, "SELECT 1").texts[-1]


def peak_kb(process):
    (line,) = [line for line in open(f"/proc/{process[0]}/status", encoding="utf-8") if line.startswith("VmHWM")]
    return int(line.split()[1])


@pytest.mark.limit(100)
def test_memory_does_not_grow_with_the_rows(home):
    """A million rows; ten million with PTYCELL_FULL=1."""
    most = 10_000_000 if os.environ.get("PTYCELL_FULL") else 1_000_000
    with Server(home) as server:
        sql(server, MANY.format(1000))
        few = peak_kb(next(iter(helpers(server))))
        answer = sql(server, MANY.format(most))
        many = peak_kb(next(iter(helpers(server))))
    assert answer.object["row_count"] == most and many < few + 32768


def test_a_freetds_connection_that_fails_is_told_and_shows_no_password(home):
    env = {"PTYCELL_SQL_T": "Driver=FreeTDS;Server=127.0.0.1;Port=9;UID=u;PWD=s3cret;TDS_Version=7.4"}
    if "[FreeTDS]" not in (open("/etc/odbcinst.ini", encoding="utf-8").read()
                           if os.path.exists("/etc/odbcinst.ini") else ""):
        pytest.skip("no FreeTDS driver (apt install tdsodbc)")
    with Server(home, env=env) as server:
        answer = sql(server, "SELECT 1", database="t")
    assert answer.is_error and "connecting to the database: Unable to connect" in answer.texts[-1]
    assert "s3cret" not in json.dumps(answer.raw)

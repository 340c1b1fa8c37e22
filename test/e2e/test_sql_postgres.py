# SPDX-License-Identifier: MIT
"""exec_sql on a real PostgreSQL over unixODBC."""
import contextlib
import decimal
import json
import os
import re
import subprocess
import urllib.parse

import pytest
from client import BUILD, WAIT_S, Result, Server
from outside import PROC
from patience import until
from postgres import DRIVERS, PACKAGES, PASSWORD, Postgres
from steps import listed
from test_sql import helpers, inputs, kill_helpers, parts, peak_kb

ROWS = 10_000_000 if os.environ.get("PTYCELL_FULL") == "1" else 1_000_000
LONG = "SELECT count(*) FROM generate_series(1, 1000000000) a, generate_series(1, 1000) b"
BUSY = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%generate_series%' " \
       "AND pid <> pg_backend_pid()"


@pytest.fixture(scope="module")
def postgres():
    running = Postgres()
    running.psql("CREATE TABLE t (id int, name text); INSERT INTO t VALUES (1, 'Zürich'), (2, NULL);"
                 "CREATE SEQUENCE s;"
                 "CREATE FUNCTION sneak() RETURNS int LANGUAGE sql AS 'DELETE FROM t RETURNING 1'")
    yield running
    running.close()


@pytest.fixture
def server(home, postgres):
    with Server(home, env=postgres.environment()) as running:
        yield running


def sql(server, query, **arguments):
    return server.call("exec_sql", session_id="s", query=query, **arguments)


def rows(server, query, **arguments):
    answer = sql(server, query, **arguments)
    assert not answer.is_error, answer.texts
    return answer.object["rows"]


def counts(postgres, query, number):
    """Waits until the query counts so many. Each look starts psql, which takes longer than the database does."""
    until(lambda: postgres.psql(query) == str(number), every=0.1)


def test_the_default_database_is_asked_with_a_password_that_needs_quoting(server):  # CB-43
    assert rows(server, "SELECT * FROM t ORDER BY id") == [[1, "Z\u00fcrich"], [2, None]]


def test_a_dsn_and_a_driver_of_the_persons_own_files_are_found(home, postgres):
    """In ~/.odbc.ini, or where ODBCINI and ODBCSYSINI say."""
    dsn = f"Servername={postgres.folder}\nDatabase=postgres\nUsername=boss\n"
    (home / ".odbc.ini").write_text(f"[shop]\nDriver={DRIVERS[0]}\n{dsn}", encoding="utf-8")
    own = home / "own"
    own.mkdir()
    (own / "odbcinst.ini").write_text(f"[Own Driver]\nDriver={DRIVERS[0]}\n", encoding="utf-8")
    (own / "data.ini").write_text(f"[depot]\nDriver=Own Driver\n{dsn}", encoding="utf-8")
    password = "{" + PASSWORD.replace("}", "}}") + "}"
    with Server(home, env={"PTYCELL_SQL_SHOP": f"DSN=shop;Pwd={password}"}) as server:
        assert rows(server, "SELECT count(*) FROM t", database="shop") == [[2]]
    env = {"PTYCELL_SQL_DEPOT": f"DSN=depot;Pwd={password}", "ODBCINI": str(own / "data.ini"), "ODBCSYSINI": str(own)}
    with Server(home, env=env) as server:
        assert rows(server, "SELECT count(*) FROM t", database="depot") == [[2]]
    with Server(home, "--share", f"{own}:rw", env=env) as server:  # code could say what the names mean
        assert "Data source name not found" in sql(server, "SELECT count(*) FROM t", database="depot").texts[-1]


@pytest.mark.parametrize("address, message", [
    ("postgresql://boss:{password}@/postgres?host={folder}", ""), ("postgres+psycopg2://boss@localhost/postgres?host={folder}", "password"),
    ("oracle://a:s3cret@b/c", "none of postgresql://"), ("postgresql://a:s3cret@b/c?x=s3cret", "parameter")])
def test_an_address_is_a_connection(home, postgres, address, message):  # Q23
    address = address.format(password=urllib.parse.quote(PASSWORD), folder=urllib.parse.quote(str(postgres.folder)))
    with Server(home, env={"PTYCELL_SQL_SHOP": address}) as server:
        answer = sql(server, "SELECT count(*) FROM t", database="shop")
    assert answer.is_error == bool(message) and message in answer.texts[-1] and "s3cret" not in json.dumps(answer.raw)


def test_values_keep_what_they_are(server):
    answer = sql(server, "SELECT 9223372036854775807::bigint, 1.10::numeric(10,2), 123456789012345678901234567890::numeric,"
                         " 0.1::float8, 0.1::float4, true, DATE '2024-02-29', TIMESTAMP '2024-02-29 12:34:56.789',"
                         " '\\x00ff'::bytea, NULL::text, 'a'::text, ''::text, '{\"a\": 1}'::json")
    assert answer.object["rows"] == [["9223372036854775807", "1.10", "123456789012345678901234567890", 0.1, 0.1, True,
                                      "2024-02-29", "2024-02-29T12:34:56.789", "AP8=", None, "a", "", '{"a": 1}']]
    assert [c["type"] for c in answer.object["columns"]][:9] == [
        "bigint", "decimal", "decimal", "real", "real", "boolean", "date", "timestamp", "blob"]


def test_values_that_a_driver_would_change_come_as_the_database_says_them(server):
    answer = sql(server, "SELECT 1234.5::money, TIMESTAMPTZ '2024-02-29 12:00:00+00' AT TIME ZONE 'UTC', "
                         "TIMESTAMPTZ '2024-02-29 12:00:00+00', 'infinity'::timestamp, DATE '0044-03-15 BC', TIME '12:00:00.5', "
                         "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, ARRAY['a,b', NULL, '\"'], ROW(1, 'x y', NULL), "
                         "E'a\tb\\\\c\n\"d\"', interval '1 day', B'101', 'NaN'::float8, '-Infinity'::float8, ''::bytea, 1 AS ptycell")
    (row,) = answer.object["rows"]
    assert row[2].startswith("2024-02-29T") and row[2][-3] in "+-"
    assert row[:2] + row[3:] == [
        "$1,234.50", "2024-02-29T12:00:00", "infinity", "0044-03-15 BC", "12:00:00.5",
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", '{"a,b",NULL,"\\""}', '(1,"x y",)', 'a\tb\\c\n"d"', "1 day", "101", "NaN",
        "-Infinity", "", 1]


@pytest.mark.parametrize("query, expected", [
    ("SELECT NULL::text", [[None]]), ("SELECT ''", [[""]]), ("SELECT 1 AS ptycell, 2 AS ptycell", [[1, 2]]),
    ("SELECT t FROM t ORDER BY id LIMIT 1", [["(1,Z\u00fcrich)"]]), ("SELECT 1 -- comment", [[1]]), ("VALUES (1, NULL)", [[1, None]]),
    ("(SELECT 2) UNION ALL (SELECT 1) ORDER BY 1", [[1], [2]]), ("SELECT id FROM t ORDER BY id DESC", [[2], [1]])])
def test_queries_of_any_form_give_their_rows(server, query, expected):
    assert rows(server, query) == expected


def test_names_that_are_the_same_stay_two_columns(server):  # CB-41
    answer = sql(server, "SELECT a.id, b.id FROM t a JOIN t b ON a.id = b.id ORDER BY 1")
    assert [c["name"] for c in answer.object["columns"]] == ["id", "id"] and answer.object["rows"] == [[1, 1], [2, 2]]


def test_params_are_bound(server):
    assert rows(server, "SELECT id FROM t WHERE name = ?", params=["Z\u00fcrich"]) == [[1]]
    assert rows(server, "SELECT ? + 1, ?::text, ?::text", params=[1, None, "x' OR 1=1"]) == [[2, None, "x' OR 1=1"]]


def test_params_that_are_too_few_or_too_many_are_told(server):
    few = ("the query has {} parameters, params has {}; each ? is one, for PostgreSQL's operators ?, ?| and ?& write "
           "jsonb_exists(a, b), jsonb_exists_any(a, b) and jsonb_exists_all(a, b)")
    many = "the query has 0 parameters, params has 1; the place of each is a ?"
    assert sql(server, "SELECT ?, ?").texts == [few.format(2, 0)]
    assert sql(server, "SELECT '{\"a\": 1}'::jsonb ? 'a', ?", params=[1]).texts == [few.format(2, 1)]
    assert sql(server, "SELECT 1", params=[1]).texts == [many]
    assert sql(server, "SELECT id FROM t WHERE id = $1", params=[1]).texts == [many]
    assert rows(server, """SELECT jsonb_exists('{"a": 1}', 'a'), jsonb_exists_any('{"a": 1}', ARRAY['b', ?]),
                           jsonb_exists_all('{"a": 1}', ARRAY['a', 'b'])""", params=["a"]) == [[True, True, False]]


@pytest.mark.parametrize("explain", ["", "EXPLAIN "])
def test_more_parameters_than_the_driver_bears_are_refused_and_what_it_bears_is_answered(server, explain):
    def ask(places, values):
        return sql(server, f"{explain}SELECT '?', 1 WHERE 1 IN ({','.join('?' * places)})", params=[1] * values)
    helper = rows(server, "SELECT 1") and helpers(server)
    assert not ask(7498, 7498).is_error
    for places, values in ((7499, 7499), (32767, 32767), (32768, 32768), (65537, 1), (65537, 0)):
        assert ask(places, values).texts == [f"the query has {places} parameters, more than 7498; many values are one as an array: "
                                             "id = ANY(?::int[]) with \"{1,2,3}\""]
    assert rows(server, "SELECT ? = ANY(?::int[])", params=[2, "{1,2,3}"]) == [[True]] and helpers(server) == helper


def test_a_text_that_the_driver_would_cut_is_refused(server):
    assert sql(server, "SELECT ?::text, ?::text", params=["x", "a\0b"]).texts == [
        "params[1] has the character U+0000, where the database's driver would cut it"]


def test_long_values_come_whole(server):
    answer = sql(server, "SELECT repeat('\u00e4', 20000), repeat('x', 15000)")
    assert answer.object["rows"] == [["\u00e4" * 20000, "x" * 15000]]


def test_long_values_among_short_ones_come_whole(server):
    """Short ones come with blocks of rows, long ones are asked for one by one."""
    answer = sql(server, "SELECT i, CASE WHEN i % 3 = 0 THEN repeat(chr(228), i) WHEN i % 7 = 1 THEN NULL ELSE i::text END "
                         "AS a, CASE WHEN i % 5 = 0 THEN decode(repeat('ab', i), 'hex') END AS b, 1e300::float8 * i AS r, "
                         "round(10::numeric ^ 60) + i AS d FROM generate_series(1, 3000) i")
    (line,) = [line for line in answer.texts[-1].splitlines() if "read_csv" in line]
    check = """
import base64
df = df.astype(object).where(df.notna(), None)
for i, a, b in zip(df.i, df.a, df.b):
    assert a == ('\u00e4' * i if i % 3 == 0 else None if i % 7 == 1 else str(i)), i
    assert b == (base64.b64encode(bytes([0xab]) * i).decode() if i % 5 == 0 else None), i
len(df), df.r[6], df.d[2999]"""
    assert server.cell(line + check).text == f"(3000, 7e+300, '{10 ** 60 + 3000}')\n"


def test_large_binary_values_become_files(server):
    answer = sql(server, "SELECT i, decode(repeat('ab', i), 'hex') AS b FROM generate_series(16383, 16386) i ORDER BY i")
    assert answer.object["blob_files"] == 2
    paths = [row[1] for row in answer.object["rows"][2:]]
    assert server.cell(f"[len(open(p, 'rb').read()) for p in {paths}]").text == "[16385, 16386]\n"


@pytest.mark.parametrize("row", [1, 10, 999, 1000, 1001, 50000, 100000])
def test_an_error_in_a_later_row_is_no_shorter_answer(server, row):
    answer = sql(server, f"SELECT i, 1 / ({row} - i) AS x FROM generate_series(1, 100000) i")
    assert answer.is_error and "division by zero" in answer.texts[-1]
    assert listed(server) == [] and rows(server, "SELECT 1") == [[1]]


def test_literals_are_not_templates(server):  # CB-40
    assert rows(server, "SELECT ':b', '{x}', '?', '%s'") == [[":b", "{x}", "?", "%s"]]


def test_what_the_text_does_not_show_the_database_refuses(server, postgres):
    answer = sql(server, "SELECT sneak()")
    assert answer.is_error and "read-only transaction" in answer.texts[-1]
    assert postgres.psql("SELECT count(*) FROM t") == "2"
    assert rows(server, "SELECT count(*) FROM t") == [[2]]


@pytest.mark.parametrize("query", [
    "SELECT nextval('s')", "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", "SELECT 1; COMMIT; DELETE FROM t",
    "SELECT '/*' ; COMMIT; DROP TABLE t --*/'", "SELECT * INTO u FROM t", "SELECT pg_sleep(100)",
    "SELECT E'a'\n'\\' || '; COMMIT; DROP TABLE t; --'", "EXPLAIN ANALYZE SELECT sneak()",
    "EXPLAIN (\"analyze\") SELECT sneak()", "EXPLAIN (ANALYZE 0, ANALYZE 1) SELECT sneak()",
    "EXPLAIN (ANALYZE 1) SELECT sneak()", "EXPLAIN (ANALYZE 'on') SELECT sneak()", "SELECT U&\"pg\\005fsleep\"(100)",
    "SELECT U&\"pg!005fread!005ffile\" UESCAPE '!' ('/etc/hostname')"])
def test_what_writes_or_waits_is_refused_by_its_text(server, postgres, query):
    assert "line " in sql(server, query).texts[-1]
    assert postgres.psql("SELECT count(*) FROM t") == "2"


def test_explain_and_values_are_run(server):
    assert rows(server, "EXPLAIN SELECT 1")[0][0].startswith("Result")
    assert rows(server, "VALUES (1), (2)") == [[1], [2]]
    assert rows(server, "WITH a AS (SELECT 1) SELECT * FROM a") == [[1]]


def test_an_error_is_told_and_the_next_query_runs(server):
    answer = sql(server, "SELECT nope FROM t")
    assert answer.is_error and answer.texts == [
        'column "nope" does not exist (SQLSTATE 42703)\nline 1, column 8\nhint: Perhaps you meant to reference the column "t.name".']
    assert rows(server, "SELECT 1") == [[1]]


@pytest.mark.parametrize("query, params, message", [
    ("\n\nSELECT id,\n  nam FROM t", [], 'column "nam" does not exist (SQLSTATE 42703)\nline 4, column 3\n'
                                        'hint: Perhaps you meant to reference the column "t.name".'),
    ("SELECT 'Z\u00fc?', ?::int, nam FROM t WHERE id = ?", [1, 2], 'column "nam" does not exist (SQLSTATE 42703)\nline 1, column 23\n'
                                                                'hint: Perhaps you meant to reference the column "t.name".'),
    ("SELECT lower(1)", [], "function lower(integer) does not exist (SQLSTATE 42883)\nline 1, column 8\nhint: No function matches the "
                            "given name and argument types. You might need to add explicit type casts."),
    ("SELECT id FROM t WHERE", [], 'syntax error at end of input (SQLSTATE 42601)\nline 1, column 23'),
    ("EXPLAIN SELECT nope", [], 'column "nope" does not exist (SQLSTATE 42703)\nline 1, column 16'),
    ("SELECT '{bad'::json", [], "invalid input syntax for type json (SQLSTATE 22P02)\nline 1, column 8\n"
                                "detail: Token \"bad\" is invalid."),
    ("SELECT concat(?, id) FROM t", ["x"], "could not determine data type of parameter $1 (SQLSTATE 42P18)\n"
                                           "hint: nothing says what the text or NULL of params is meant as; ?::text says it"),
    ("SELECT 1 / (id - 1) FROM t", [], "division by zero (SQLSTATE 22012)")])
def test_an_error_says_where_it_is_and_what_postgresql_suggests(server, query, params, message):  # Q17
    assert sql(server, query, params=params).texts == [message]
    assert sql(server, "SELECT id").texts[-1].endswith("line 1, column 8")


@pytest.mark.parametrize("query", ["SELECT", "SELECT FROM t", "SELECT FROM t WHERE id = ?"])
def test_a_query_without_columns_is_told_as_what_it_is(server, query):  # Q22
    assert sql(server, query, params=[1] * query.count("?")).texts == ["the query has no columns"]
    assert rows(server, "SELECT 1") == [[1]] and rows(server, "SELECT 1 AS n WHERE false") == []


END = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity " \
      "WHERE backend_type = 'client backend' AND application_name <> 'psql'"


def test_a_connection_that_was_lost_is_made_anew(server, postgres):
    assert rows(server, "SELECT 1") == [[1]]
    before = helpers(server)
    assert postgres.psql(END) == "1"
    assert rows(server, "SELECT 2") == [[2]]
    postgres.run("pg_ctl", "-D", "data", "-w", "-m", "fast", "-l", "log", "restart")
    assert rows(server, "SELECT id FROM t WHERE id = ?", params=[2]) == [[2]]
    assert helpers(server) == before


def test_a_database_that_is_down_is_told_and_asked_again_when_it_is_back(server, postgres):
    assert rows(server, "SELECT 1") == [[1]]
    postgres.run("pg_ctl", "-D", "data", "-w", "-m", "fast", "stop")
    try:
        for _ in range(2):
            assert sql(server, "SELECT 1").texts[-1].startswith("connecting to the database: ")
    finally:
        postgres.start()
    assert rows(server, "SELECT 1") == [[1]]


def test_a_query_that_loses_its_connection_is_told_and_not_run_again(server, postgres):
    assert rows(server, "SELECT 1") == [[1]]
    running = server.start("tools/call", {"name": "exec_sql", "arguments": {"session_id": "s", "query": LONG}})
    counts(postgres, BUSY, 1)
    assert postgres.psql(END) == "1"
    assert "terminating connection" in Result(running.get()["result"]).texts[-1]
    counts(postgres, BUSY, 0)
    assert rows(server, "SELECT 2") == [[2]]


def test_nothing_stays_locked_after_a_query(server, postgres):
    rows(server, "SELECT * FROM t")
    assert postgres.psql("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in%'") == "0"


def test_many_rows_come_by_cursor_into_a_file(server):
    answer = sql(server, "SELECT i, i::text AS name FROM generate_series(1, 100000) i")
    assert answer.object["row_count"] == 100000
    (line,) = [line for line in answer.texts[-1].splitlines() if "read_csv" in line]
    assert server.cell(line + "\nlen(df), df.i.sum()").text == "(100000, 5000050000)\n"


def test_memory_does_not_grow_with_the_rows(server):
    """A million rows; ten million with PTYCELL_FULL=1."""
    query = "SELECT i, i * 0.5::float8 AS h, 'row ' || i AS t FROM generate_series(1, {}) i"
    sql(server, query.format(20000))
    few = peak_kb(next(iter(helpers(server))))
    answer = sql(server, query.format(ROWS))
    many = peak_kb(next(iter(helpers(server))))
    assert answer.object["row_count"] == ROWS and many < few + 16384


def test_memory_does_not_grow_with_the_width_of_rows(server):
    """A driver that asked for as many rows of 200 KB as of 20 bytes would hold gigabytes."""
    answer = sql(server, "SELECT i, repeat('x', CASE WHEN i > 5000 THEN 200000 ELSE 10 END) AS t, i * 1.5 AS r "
                         "FROM generate_series(1, 6000) i")
    assert answer.object["row_count"] == 6000 and answer.object["size_bytes"] > 200_000_000
    assert peak_kb(next(iter(helpers(server)))) < 600 << 10


def test_the_connection_string_is_only_in_the_helpers_memory(server):
    """Not in its arguments, nor in its environment, nor in what a session sees of it."""
    sql(server, "SELECT 1")
    ((pid, _),) = helpers(server)
    if os.geteuid() != 0:
        with pytest.raises(PermissionError):  # not dumpable: not even its own user looks into it
            (PROC / f"{pid}/environ").read_bytes()
    for name in ("cmdline", "comm", *(["environ"] if os.geteuid() == 0 else [])):
        said = (PROC / f"{pid}/{name}").read_bytes()
        assert PASSWORD.encode() not in said and b"Uid=" not in said
    seen = server.cell("import glob, subprocess\nout = subprocess.run(['env'], capture_output=True).stdout\n"
                       "for p in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/cmdline'):\n"
                       "    try: out += open(p, 'rb').read()\n    except OSError: pass\nout")
    assert seen.state == "done" and PASSWORD not in json.dumps(seen.raw) and b"Uid=" not in server.stderr


def test_a_cancelled_query_ends_in_the_database(server, postgres):
    running = server.start("tools/call", {"name": "exec_sql", "arguments": {"session_id": "s", "query": LONG}})
    counts(postgres, BUSY, 1)
    server.cancel(running)
    counts(postgres, BUSY, 0)
    assert rows(server, "SELECT 1") == [[1]]


def kill_while_it_runs(server, postgres, query, seen):
    running = server.start("tools/call", {"name": "exec_sql", "arguments": {"session_id": "s", "query": query}})
    counts(postgres, seen, 1)
    kill_helpers(server)
    assert Result(running.get()["result"]).texts == ["'ptycell-sql' was ended by signal 9; run the query again"]


def test_what_a_killed_helper_asked_ends_in_the_database(server, postgres):
    """It could not cancel: PostgreSQL sees that the connection is gone, long before the deadline of 300 s."""
    kill_while_it_runs(server, postgres, LONG, BUSY)
    counts(postgres, BUSY, 0)
    assert rows(server, "SELECT 1") == [[1]]


def test_a_query_whose_rows_flow_is_cancelled(server, home, postgres):
    running = server.start("tools/call", {"name": "exec_sql", "arguments": {
        "session_id": "s", "query": "SELECT generate_series(1, 1000000000000) AS i"}})
    until(lambda: parts(home))
    server.cancel(running)
    counts(postgres, BUSY, 0)
    assert rows(server, "SELECT 1") == [[1]] and inputs(home) == []


def test_the_database_knows_how_long_a_query_may_take_and_that_it_reads(server):
    assert rows(server, "SELECT current_setting('statement_timeout'), current_setting('transaction_read_only'), "
                        "current_setting('client_connection_check_interval')") == [["300500ms", "on", "2s"]]


WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


@contextlib.contextmanager
def locked(postgres):
    """The table of this name is: a query of it waits."""
    postgres.psql("CREATE TABLE IF NOT EXISTS locked (a int)")
    holder = subprocess.Popen([postgres.client / "psql", "-h", postgres.folder, "-U", "boss", "-d", "postgres", "-X", "-q"],
                              stdin=subprocess.PIPE, text=True, env={"PATH": "/usr/bin:/bin", "PGPASSWORD": PASSWORD})
    try:
        holder.stdin.write("BEGIN; LOCK TABLE locked;\n")
        holder.stdin.flush()
        until(lambda: postgres.psql("SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted") != "0")
        yield
    finally:
        holder.stdin.close()
        holder.wait(WAIT_S)


def test_where_the_database_does_not_look_its_own_deadline_ends_the_query(home, postgres):
    postgres.psql("ALTER ROLE boss SET client_connection_check_interval = '1h'")
    try:
        with locked(postgres), Server(home, env={**postgres.environment(), "PTYCELL_QUERY_TIMEOUT": "10"}) as server:
            assert rows(server, "SELECT current_setting('client_connection_check_interval')") == [["1h"]]
            kill_while_it_runs(server, postgres, "SELECT * FROM locked", WAITING)
            counts(postgres, WAITING, 0)
    finally:
        postgres.psql("ALTER ROLE boss RESET ALL")


def test_a_query_that_waits_for_a_lock_ends_at_its_deadline(home, postgres):  # Q16
    with locked(postgres), Server(home, env={**postgres.environment(), "PTYCELL_QUERY_TIMEOUT": "2"}) as server:
        assert "ran into its deadline of 2 s" in sql(server, "SELECT * FROM locked").texts[-1]
        counts(postgres, WAITING, 0)


def test_a_query_that_waits_for_a_lock_is_cancelled(server, postgres):  # Q16
    """The database, which does not look whether anybody is there, would end it by itself only after longer than tests wait."""
    postgres.psql("ALTER ROLE boss SET client_connection_check_interval = '1h'")
    try:
        with locked(postgres):
            running = server.start("tools/call", {"name": "exec_sql", "arguments": {"session_id": "s", "query": "SELECT * FROM locked"}})
            counts(postgres, WAITING, 1)
            server.cancel(running)
            counts(postgres, WAITING, 0)
    finally:
        postgres.psql("ALTER ROLE boss RESET ALL")


def test_a_cursor_is_planned_for_all_of_its_rows_and_the_server_knows_who_asks(server):  # Q12, Q19
    assert rows(server, "SELECT current_setting('cursor_tuple_fraction'), current_setting('application_name')") == [["1", "ptycell"]]


def test_a_query_is_run_with_the_plan_that_psql_has(home, postgres):  # Q12
    """With workers, which a cursor has none of. They alone take rows here."""
    postgres.psql("CREATE TABLE wide AS SELECT generate_series(1, 10000) AS i; ANALYZE wide; CREATE FUNCTION who() RETURNS int "
                  "LANGUAGE plpgsql PARALLEL SAFE AS 'BEGIN RETURN pg_backend_pid(); END'")
    for setting in ("parallel_setup_cost = 0", "parallel_tuple_cost = 0", "min_parallel_table_scan_size = 0", "parallel_leader_participation = off"):
        postgres.psql(f"ALTER ROLE boss SET {setting}")
    try:
        with Server(home, env=postgres.environment()) as server:
            ((leader,),) = rows(server, "SELECT pg_backend_pid()")
            for query, params in (("SELECT DISTINCT who() FROM wide", []), ("SELECT DISTINCT who(), 0.5 FROM wide WHERE i > ?", [0])):
                assert leader not in [row[0] for row in rows(server, query, params=params)]
            assert rows(server, "SELECT pg_backend_pid()") == [[leader]]
    finally:
        postgres.psql("ALTER ROLE boss RESET ALL")


@pytest.mark.parametrize("query", ["SELECT repeat('x', 1000) FROM generate_series(1, 100000)", "SELECT repeat('x', (1 << 26) + 1)",
                                   "SELECT 1, repeat('x', (1 << 26) + 1) FROM generate_series(1, 3)"])
def test_rows_that_nobody_wants_do_not_disturb_the_next_query(home, postgres, query):
    with Server(home, env={**postgres.environment(), "PTYCELL_FILE_MAX": "1M"}) as server:
        ((backend,),) = rows(server, "SELECT pg_backend_pid()")
        answer = sql(server, query)
        assert "a value is larger than 64 MB" in answer.texts[-1] if answer.is_error else answer.object["truncated"] is True
        assert rows(server, "SELECT pg_backend_pid(), id FROM t ORDER BY id") == [[backend, 1], [backend, 2]]


@pytest.mark.parametrize("query, params, row, types", [
    ("SELECT ? + 1, ?", [0.5, "x"], ["1.5", "x"], ["decimal", "text"]),
    ("SELECT sum(i * ?) FROM generate_series(1, 10) i", [0.5], ["27.5"], ["decimal"]),
    ("SELECT 1.50::numeric * ?, ?::text IS NULL", [2, None], ["3.00", True], ["decimal", "boolean"]),
    ("SELECT i FROM generate_series(1, 9) i WHERE ? LIMIT ?", [True, 1], [1], ["integer"]),
    ("SELECT ?::text, 'a?' || ? || E'\\'?', $$?$$ -- ?", ["it's", "\\"], ["it's", "a?\\'?", "?"], ["text"] * 3)])
def test_columns_are_those_of_the_parameters_values(server, query, params, row, types):
    answer = sql(server, query, params=params)
    assert answer.object["rows"] == [row] and [column["type"] for column in answer.object["columns"]] == types


@pytest.mark.parametrize("value", [0.1, 2.5, -1234567890.1234567, 123456789012345.67, 0.1234567890123456, 1.7976931348623157e308, 1e-7])
def test_no_digit_of_a_number_is_lost_on_its_way_to_numeric(server, value):
    """PostgreSQL itself makes 15 digits of a double."""
    query = "SELECT ?, ?::numeric, CAST(? AS NUMERIC), ?::float8"
    ((*exact, double),) = rows(server, query, params=[value] * 4)
    assert [decimal.Decimal(text) for text in exact] == [decimal.Decimal(repr(value))] * 3 and double == value
    assert rows(server, "SELECT CAST(? AS int), ?::text, ? + 1, round(?, 1)", params=[2.5, 2.5, 2.5, 2.25]) == [[3, "2.5", "3.5", "2.3"]]


@pytest.mark.parametrize("query, params, row", [
    ("SELECT ? < ?, ? BETWEEN ? AND ?, greatest(?, ?), array[?, ?]", [9, 10, 9, 5, 10, 9, 10, 9, 10], [True, True, 10, "{9,10}"]),
    ("SELECT substring('hello' FROM ? FOR ?), substring('hello', ?)", [2, 3, 2], ["ell", "ello"]),
    ("SELECT '[10, 20]'::jsonb -> ?, '[10, 20]'::jsonb - ?, '[10, 20]'::jsonb ->> ?", [1, 1, -1], ["20", "[10]", "20"]),
    ("SELECT pg_typeof(?)::text, pg_typeof(?)::text, pg_typeof(?)::text, pg_typeof(?)::text, pg_typeof(?)::text",
     [2147483647, -2147483649, True, 1.0, 2147483648], ["integer", "bigint", "boolean", "numeric", "bigint"]),
    ("SELECT ?::text, ?::text, ?::int, ? AND ?, ?::text", [True, False, True, True, False, 5], ["true", "false", 1, False, "5"]),
    ("SELECT ?::int IS NULL, coalesce(?, 5), DATE '2024-01-01' = ?, DATE '2024-01-01' + ?", [None, None, "2024-01-01", 5],
     [True, 5, True, "2024-01-06"]),
    ("SELECT 'a' || ?, ?::text, ?::text, (1.5 * ?)::text, format('%s', ?)", [1.0, -2.0, 1e20, 2.0, 100.0],
     ["a1.0", "-2.0", "100000000000000000000", "3.00", "100.0"]),
    ("SELECT max(x) FROM (SELECT ? AS x UNION SELECT ?) u", [9, 10], [10]), ("SELECT 0.1::float8 = ?, 0.1 = ?", [0.1, 0.1], [True, True])])
def test_numbers_and_truths_have_the_types_of_their_literals(server, query, params, row):
    assert rows(server, query, params=params) == [row]


def test_an_index_is_used_for_numbers_of_params_and_explain_says_so(server, postgres):
    postgres.psql("CREATE TABLE n AS SELECT g / 10.0 AS v, g / 10.0::float8 AS f, g AS i FROM generate_series(1, 10000) g;"
                  "CREATE INDEX ON n (v); CREATE INDEX ON n (f); CREATE INDEX ON n (i); ANALYZE n")
    for column, value, literal in (("v", 19.9, "19.9"), ("f", 19.9, "'19.9'::double precision"), ("i", 7, "7")):
        query = f"SELECT {column} FROM n WHERE {column} = ?"
        assert len(rows(server, query, params=[value])) == 1
        plan = rows(server, f"EXPLAIN {query}", params=[value])
        assert " Index Cond: " in plan[-1][0] and f"= {literal})" in plan[-1][0], plan
    for value, name in ((True, "true"), (0.5, "0.5"), (10, "10"), (1 << 40, "'1099511627776'::bigint"), ("x", "'x'::text")):
        assert name in rows(server, "EXPLAIN VERBOSE SELECT ?", params=[value])[1][0]


@pytest.mark.parametrize("option", ["UseServerSidePrepare=0", "UseDeclareFetch=0", "Parse=1", "Protocol=7.4-0"])
def test_options_of_the_driver_change_no_value(home, postgres, option):
    connection = f"{postgres.environment()['AZURE_DATABASE_CONNECTION_STRING']};{option}"
    with Server(home, env={**postgres.environment(), "AZURE_DATABASE_CONNECTION_STRING": connection}) as server:
        for params in ([], [5]):
            query = f"SELECT TIMESTAMPTZ '2024-02-29 12:00:00Z', {'?' if params else 5} + 1"
            ((stamp, six),) = rows(server, query, params=params)
            assert re.fullmatch(r"2024-02-29T.*[+-]\d\d", stamp) and six == 6


@pytest.mark.parametrize("query, value", [
    ("EXPLAIN SELECT NAME'\\', '?; x'", " ; COMMIT; CREATE TABLE pwned(a int); SELECT "),
    ("SELECT NAME'\\', 1 AS a --'; SELECT $1::text AS b\n , NAME'\\', '?'", " ; COMMIT; CREATE TABLE pwned(a int); SELECT "),
    ("SELECT 'a' LIKE '_' ESCAPE'\\' AS a, 'why?' AS b", 5), ("SELECT e'a\\'?'", 1), ("SHOW ?", "x; SELECT 1"),
    ("SELECT $?, '$$ AS s, pg_read_file($q$/etc/hostname$q$) AS f, $1::text AS p -- '", "x"),
    ("SELECT $a?, '$a$ AS s, pg_read_file($q$/etc/hostname$q$) AS f, $1::text AS p -- '", "x")])
def test_a_value_never_becomes_a_part_of_the_query(server, postgres, query, value):
    """The driver ends a string elsewhere than the database does."""
    assert sql(server, query, params=[value]).is_error
    assert postgres.psql("SELECT count(*) FROM pg_class WHERE relname = 'pwned'") == "0"


def test_strings_end_where_the_database_ends_them(server):
    assert rows(server, "SELECT e'it\\'s', ?", params=["x"]) == [["it's", "x"]]
    assert rows(server, "SELECT E'a'\n'it\\'s', ?", params=["x"]) == [["ait's", "x"]]
    assert rows(server, "SELECT 'a' LIKE '_' ESCAPE'\\' AS a, 'x;y?' AS b") == [[True, "x;y?"]]
    assert rows(server, "SELECT 5 /*/ it's */ + ?", params=[1]) == [[6]]
    assert rows(server, "SELECT e'it\\'s; ok', $$?$$") == [["it's; ok", "?"]]


def test_a_parameter_stands_alone_whatever_is_beside_it(server):
    assert rows(server, "SELECT id FROM t WHERE id=?AND name=?LIMIT 1", params=[1, "Z\u00fcrich"]) == [[1]]
    assert rows(server, "SELECT ?::int+?", params=[1, 2]) == [[3]]
    assert "line 2, column 4" in sql(server, "SELECT ?,?,\n?, nothing", params=[1, 2, 3]).texts[-1]


def test_a_parameter_has_no_number(server):
    assert "the place of a parameter is a ? alone, without a number" in sql(server, "SELECT $1::int, ?::int", params=[1]).texts[-1]
    assert "the place of a parameter is a ? alone, without a number" in sql(server, "SELECT ?1", params=[1]).texts[-1]


def test_a_plan_and_other_queries_take_parameters(server):
    assert "Filter" in str(rows(server, "EXPLAIN SELECT * FROM t WHERE id = ?", params=[1]))
    assert rows(server, "VALUES (?), (?)", params=[1, 2]) == [[1], [2]]
    assert rows(server, "TABLE t ORDER BY id LIMIT ?", params=[1]) == [[1, "Z\u00fcrich"]]
    assert rows(server, "WITH w AS (SELECT ? AS a) SELECT a FROM w", params=[1.5]) == [["1.5"]]
    assert rows(server, "SHOW standard_conforming_strings") == [["on"]]


def test_notices_among_rows_are_notes(server, postgres):
    postgres.psql("CREATE FUNCTION noisy(i int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING '%', repeat('x', i); RETURN i; END $$")
    for query in ("SELECT noisy(i) FROM generate_series(1, 2000) i", "EXPLAIN SELECT noisy(i) FROM generate_series(1, 2000) i"):
        assert not sql(server, query).is_error
    answer = sql(server, "SELECT noisy(?), now() IS NULL", params=[7])
    assert answer.object["rows"] == [[7, False]] and b"WARNING" not in server.stderr
    assert "the database warns: xxxxxxx (01000)" in "".join(answer.texts)
    postgres.psql("CREATE FUNCTION telling() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'look at %', 5; RETURN 1; END $$")
    assert "the database says: look at 5 (00000)" in "".join(sql(server, "SELECT telling() FROM generate_series(1, 9)").texts)


def test_no_lock_of_the_session_stays_in_a_connection_that_is_kept(server, postgres):
    postgres.psql("CREATE OR REPLACE FUNCTION hold() RETURNS void LANGUAGE sql AS 'SELECT pg_advisory_lock(42)'")
    assert not sql(server, "SELECT hold()").is_error
    until(lambda: postgres.psql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == "0")


@pytest.mark.parametrize("query, expected", [
    ("SELECT B'10101'::bit(5)", "10101"), ("SELECT B'10101'::bit(5), 1.5::float8", "10101"), ("SELECT B'1'::bit(1)", "1"),
    ("SELECT 1234.5::money", "$1,234.50")])
def test_bits_and_money_are_texts(server, query, expected):  # Q9, Q22
    answer = sql(server, query)
    assert answer.object["rows"][0][0] == expected and answer.object["columns"][0]["type"] == "text"


def test_a_column_of_large_objects_has_their_numbers(home, postgres):
    postgres.psql("CREATE EXTENSION lo; CREATE TABLE large (o lo, i int); INSERT INTO large VALUES (lo_from_bytea(16389, 'ABC'), 1)")
    try:
        with Server(home, env=postgres.environment()) as server:
            answer = sql(server, "SELECT o, lo_get(o), NULL::lo, '\\x00ff'::bytea FROM large WHERE i = ?", params=[1])
    finally:
        postgres.psql("DROP TABLE large; DROP EXTENSION lo")
    assert answer.object["rows"] == [[16389, "QUJD", None, "AP8="]]
    assert [column["type"] for column in answer.object["columns"]] == ["integer", "blob", "integer", "blob"]


@pytest.mark.parametrize("query", [
    "SELECT ts_rewrite('a'::tsquery, $$SELECT 'a'::tsquery, ('x' || pg_backend_pid())::tsquery$$)", "SELECT txid_current()",
    "SELECT setseed(0.5)", "SELECT (0.5::float8).setseed", "SELECT x.pg_read_file FROM unnest(array['/etc/hostname']) x",
    "SELECT ('s'::regclass).nextval", "SELECT type FROM pg_hba_file_rules",
    "SELECT table_to_xml('pg_hba_file_rules', true, false, '')", "SELECT database_to_xml(true, false, '')"])
def test_functions_that_run_text_or_leave_something_are_refused(server, query):
    assert "exec_sql only reads" in sql(server, query).texts[-1]


@pytest.mark.parametrize("query", [
    "WITH lo_hi(a, b) AS (SELECT 1, 2), dblinks(a) AS (SELECT 1) SELECT * FROM lo_hi, dblinks", "EXPLAIN (ANALYZE FALSE) SELECT 1",
    "EXPLAIN (ANALYZE 0) SELECT 1", "EXPLAIN (analyze 'off', COSTS OFF) SELECT 1", "EXPLAIN (ANALYZE 'False') SELECT 1",
    "TABLE t", "SHOW timezone"])
def test_what_everybody_may_ask_is_answered(server, query):  # Q18
    assert len(rows(server, query)) > 0


# Volatile, or with a query or a table's name among their arguments, and harmless: they read, or change what ends with the transaction.
HARMLESS = """amvalidate array_sample array_shuffle bernoulli brin_metapage_info brin_page_items brin_page_type brin_revmap_data
bt_index_check bt_metap bt_multi_page_stats bt_page_items bt_page_stats clock_timestamp current_query currtid currtid2 currval
fips_mode fsm_page_contents gen_random_bytes gen_random_uuid gen_salt get_raw_page gin_leafpage_items gin_metapage_info
gin_page_opaque_info gist_page_items gist_page_items_bytea gist_page_opaque_info hash_bitmap_info hash_metapage_info
hash_page_items hash_page_stats hash_page_type heap_page_item_attrs heap_page_items heap_tuple_infomask_flags lastval lo_get
normal_rand page_checksum page_header pg_available_wal_summaries pg_blocking_pids pg_buffercache_numa_pages pg_buffercache_pages
pg_buffercache_summary pg_buffercache_usage_counts pg_check_frozen pg_check_visible pg_collation_actual_version
pg_column_is_updatable pg_control_checkpoint pg_control_init pg_control_recovery pg_control_system pg_current_logfile
pg_current_wal_flush_lsn pg_current_wal_insert_lsn pg_current_wal_lsn pg_database_collation_actual_version pg_database_size
pg_extension_config_dump pg_freespace pg_get_aios pg_get_backend_memory_contexts pg_get_loaded_modules
pg_get_logical_snapshot_info pg_get_logical_snapshot_meta pg_get_multixact_members pg_get_replica_identity_index
pg_get_sequence_data pg_get_shmem_allocations pg_get_shmem_allocations_numa pg_get_wait_events pg_get_wal_block_info
pg_get_wal_record_info pg_get_wal_records_info pg_get_wal_records_info_till_end_of_wal pg_get_wal_replay_pause_state
pg_get_wal_resource_managers pg_get_wal_stats pg_get_wal_stats_till_end_of_wal pg_get_wal_summarizer_state
pg_index_column_has_property pg_index_has_property pg_indexes_size pg_is_in_backup pg_is_in_recovery pg_is_wal_replay_paused
pg_isolation_test_session_is_blocked pg_jit_available pg_last_committed_xact pg_last_wal_receive_lsn pg_last_wal_replay_lsn
pg_last_xact_replay_timestamp pg_lock_status pg_notification_queue_usage pg_old_snapshot_time_mapping pg_partition_ancestors
pg_partition_root pg_partition_tree pg_prepared_xact pg_relation_filenode pg_relation_filepath pg_relation_is_publishable
pg_relation_is_updatable pg_relation_size pg_relpages pg_safe_snapshot_blocking_pids pg_sequence_last_value
pg_show_replication_origin_status pg_stat_clear_snapshot pg_stat_force_next_flush pg_stat_get_activity pg_stat_get_backend_io
pg_stat_get_backend_wal pg_stat_get_io pg_stat_get_recovery_prefetch pg_stat_have_stats pg_stat_statements
pg_stat_statements_info pg_table_size pg_tablespace_size pg_total_relation_size pg_visibility pg_visibility_map
pg_visibility_map_summary pg_wal_summary_contents pg_xact_commit_timestamp pg_xact_commit_timestamp_origin pg_xact_status
pgp_pub_encrypt pgp_pub_encrypt_bytea pgp_sym_encrypt pgp_sym_encrypt_bytea pgrowlocks pgstatginindex pgstathashindex
pgstatindex pgstattuple pgstattuple_approx postgres_fdw_get_connections random random_normal regclassout regclasssend set_limit
system system_rows system_time timeofday timezone tuple_data_split txid_status uuid_generate_v1 uuid_generate_v1mc
uuid_generate_v4 uuidv4 uuidv7 verify_heapam xslt_process""".split()


FOUND = """SELECT DISTINCT proname FROM pg_proc
    WHERE prolang IN (SELECT oid FROM pg_language WHERE lanname IN ('c', 'internal'))
    AND prokind = 'f' AND (provolatile = 'v' OR proargnames && ARRAY['query', 'sql', 'querystring', 'tableforest']
    OR 'regclass'::regtype = ANY(proargtypes)
    OR proname ~ '^(crosstab|connectby|xpath_table|isn_weak$|txid_current$|pg_current_xact_id$)')
    AND prorettype NOT IN (SELECT oid FROM pg_type WHERE typname ~ '_handler$|^(trigger|event_trigger|internal)$')
    AND NOT proargtypes::oid[] && ARRAY['internal'::regtype::oid]
    AND proname !~ '_validator$|^dblink|^ssl_|^pg_stat_get_xact_|^pg_replication_origin_'"""
# All of these run whatever function stands behind them, in what has no parentheses.
UNCALLED = """SELECT oprname, oprcode FROM pg_operator JOIN pg_proc p ON p.oid = oprcode WHERE provolatile = 'v' UNION ALL
    SELECT castsource::regtype::text, castfunc FROM pg_cast JOIN pg_proc p ON p.oid = castfunc WHERE provolatile = 'v' UNION ALL
    SELECT typname, p.oid FROM pg_type JOIN pg_proc p ON p.oid IN (typinput, typoutput, typreceive, typsend) WHERE provolatile = 'v'"""


@pytest.mark.parametrize("version", [None, *PACKAGES])
def test_each_function_that_does_something_is_refused_or_known_to_be_harmless(version):
    """By rule: PostgreSQL calls it volatile, or it takes a query or a table's name, and a query can call it. A new version's fail here."""
    server = Postgres(version)
    try:
        server.psql("".join(f'CREATE EXTENSION IF NOT EXISTS "{name}" CASCADE;' for name in server.extensions()
                            if not re.search("plpython|plperl|pltcl|_plp", name)))
        found = server.psql(FOUND).splitlines()
        uncalled = server.psql(UNCALLED)
    finally:
        server.close()
    done = subprocess.run([BUILD / "test" / "guard_lines", "postgresql"], input="\0".join(f"SELECT {name}()" for name in found) + "\0",
                          stdout=subprocess.PIPE, encoding="utf-8", check=True)
    passed = [name for name, line in zip(found, done.stdout.splitlines()) if line.startswith("+")]
    assert len(found) > 100 and set(passed) - set(HARMLESS) == set() and uncalled == ""


def test_a_limit_that_a_login_has_is_not_raised(home, postgres):
    postgres.psql("ALTER ROLE boss SET statement_timeout = '700ms'")
    try:
        with Server(home, env=postgres.environment()) as server:
            assert rows(server, "SELECT current_setting('statement_timeout')") == [["700ms"]]
            assert "canceling statement due to statement timeout" in sql(server, LONG).texts[-1]
    finally:
        postgres.psql("ALTER ROLE boss RESET ALL")


def test_a_query_past_its_deadline_is_stopped(home, postgres):
    with Server(home, env={**postgres.environment(), "PTYCELL_QUERY_TIMEOUT": "1"}) as server:
        answer = sql(server, LONG)
        assert "ran into its deadline of 1 s" in answer.texts[-1]


def test_a_wrong_password_is_told_without_it(home, postgres):
    env = {**postgres.environment(), "AZURE_DATABASE_PASSWORD": "wr0ng;}"}
    with Server(home, env=env) as server:
        answer = sql(server, "SELECT 1")
    assert answer.is_error and "authentication failed" in answer.texts[-1]
    assert "wr0ng" not in json.dumps(answer.raw) and PASSWORD not in json.dumps(answer.raw)


def test_several_queries_at_once_are_answered_in_turn(server):
    started = [server.start("tools/call", {"name": "exec_sql", "arguments": {
        "session_id": "s", "query": f"SELECT {i}"}}) for i in range(5)]
    assert [Result(a.get()["result"]).object["rows"] for a in started] == [[[i]] for i in range(5)]

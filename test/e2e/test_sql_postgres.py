# SPDX-License-Identifier: MIT
"""exec_sql on a real PostgreSQL over unixODBC."""
import json

import pytest
from client import Result, Server
from postgres import PASSWORD, Postgres
from steps import listed, until


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


def test_the_default_database_is_asked_with_a_password_that_needs_quoting(server):  # CB-43
    assert rows(server, "SELECT * FROM t ORDER BY id") == [[1, "Z\u00fcrich"], [2, None]]


def test_values_keep_what_they_are(server):
    answer = sql(server, "SELECT 9223372036854775807::bigint, 1.10::numeric(10,2), 123456789012345678901234567890::numeric,"
                         " 0.1::float8, 0.1::float4, true, DATE '2024-02-29', TIMESTAMP '2024-02-29 12:34:56.789',"
                         " '\\x00ff'::bytea, NULL::text, 'a'::text, ''::text, '{\"a\": 1}'::json")
    assert answer.object["rows"] == [["9223372036854775807", "1.10", "123456789012345678901234567890", 0.1, 0.1, True,
                                      "2024-02-29", "2024-02-29T12:34:56.789", "AP8=", None, "a", "", '{"a": 1}']]
    assert [c["type"] for c in answer.object["columns"]][:9] == [
        "integer", "decimal", "decimal", "real", "real", "boolean", "date", "timestamp", "blob"]


def test_names_that_are_the_same_stay_two_columns(server):  # CB-41
    answer = sql(server, "SELECT a.id, b.id FROM t a JOIN t b ON a.id = b.id ORDER BY 1")
    assert [c["name"] for c in answer.object["columns"]] == ["id", "id"] and answer.object["rows"] == [[1, 1], [2, 2]]


def test_params_are_bound(server):
    assert rows(server, "SELECT id FROM t WHERE name = ?", params=["Z\u00fcrich"]) == [[1]]
    assert rows(server, "SELECT ? + 1, ?::text, ?::text", params=[1, None, "x' OR 1=1"]) == [[2, None, "x' OR 1=1"]]


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
    read = line.replace("')", "', dtype={'a': str, 'd': str})")
    assert server.cell(read + check).text == f"(3000, 7e+300, '{10 ** 60 + 3000}')\n"


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
    "SELECT E'a'\n'\\' || '; COMMIT; DROP TABLE t; --'", "EXPLAIN ANALYZE SELECT sneak()"])
def test_what_writes_or_waits_is_refused_by_its_text(server, postgres, query):
    assert "line " in sql(server, query).texts[-1]
    assert postgres.psql("SELECT count(*) FROM t") == "2"


def test_explain_and_values_are_run(server):
    assert rows(server, "EXPLAIN SELECT 1")[0][0].startswith("Result")
    assert rows(server, "VALUES (1), (2)") == [[1], [2]]
    assert rows(server, "WITH a AS (SELECT 1) SELECT * FROM a") == [[1]]


def test_an_error_is_told_and_the_next_query_runs(server):
    answer = sql(server, "SELECT nope FROM t")
    assert answer.is_error and 'column "nope" does not exist' in answer.texts[-1]
    assert rows(server, "SELECT 1") == [[1]]


def test_nothing_stays_locked_after_a_query(server, postgres):
    rows(server, "SELECT * FROM t")
    assert postgres.psql("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in%'") == "0"


def test_many_rows_come_by_cursor_into_a_file(server):
    answer = sql(server, "SELECT i, i::text AS name FROM generate_series(1, 100000) i")
    assert answer.object["row_count"] == 100000
    (line,) = [line for line in answer.texts[-1].splitlines() if "read_csv" in line]
    assert server.cell(line + "\nlen(df), df.i.sum()").text == "(100000, 5000050000)\n"


def test_a_cancelled_query_ends_in_the_database(server, postgres):
    query = "SELECT count(*) FROM generate_series(1, 1000000000) a, generate_series(1, 1000) b"
    busy = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%generate_series%' " \
           "AND pid <> pg_backend_pid()"
    running = server.start("tools/call", {"name": "exec_sql", "arguments": {"session_id": "s", "query": query}})
    until(lambda: postgres.psql(busy) == "1")
    server.cancel(running)
    until(lambda: postgres.psql(busy) == "0")
    assert rows(server, "SELECT 1") == [[1]]


def test_a_query_past_its_deadline_is_stopped(home, postgres):
    with Server(home, env={**postgres.environment(), "PTYCELL_QUERY_TIMEOUT": "1"}) as server:
        answer = sql(server, "SELECT count(*) FROM generate_series(1, 1000000000) a, generate_series(1, 1000) b")
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
    assert [Result(a.get(timeout=20)["result"]).object["rows"] for a in started] == [[[i]] for i in range(5)]

# SPDX-License-Identifier: MIT
"""exec_sql on a real MariaDB over unixODBC."""
import json
import os
import socket
import urllib.parse

import pytest
from client import Result, Server
from mariadb import PASSWORD, MariaDB
from patience import until
from steps import listed
from test_sql import fetched, helpers, inputs, parts, peak_kb

ROWS = 4_000_000 if os.environ.get("PTYCELL_FULL") == "1" else 1_000_000
LONG = "SELECT count(*) FROM seq_1_to_1000000000 a, seq_1_to_1000000000 b WHERE a.seq + b.seq = 0"
BUSY = "SELECT count(*) FROM information_schema.processlist WHERE info LIKE '%seq_1_to_1000000000%' AND id <> connection_id()"


@pytest.fixture(scope="module")
def mariadb():
    running = MariaDB()
    running.ask("CREATE TABLE t (id int, name varchar(20)); INSERT INTO t VALUES (1, 'Z\u00fcrich'), (2, NULL);"
                "CREATE TABLE m (id int) ENGINE=MyISAM; CREATE SEQUENCE s")
    running.ask("DELIMITER //\nCREATE FUNCTION sneak() RETURNS int MODIFIES SQL DATA\n"
                "BEGIN INSERT INTO m VALUES (1); RETURN 1; END //\n")
    yield running
    running.close()


@pytest.fixture
def server(home, mariadb):
    with Server(home, env=mariadb.environment()) as running:
        yield running


def sql(server, query, **arguments):
    return server.call("exec_sql", session_id="s", query=query, **arguments)


def rows(server, query, **arguments):
    answer = sql(server, query, **arguments)
    assert not answer.is_error, answer.texts
    return answer.object["rows"]


def test_the_default_database_is_asked_with_a_password_that_needs_quoting(server):
    assert rows(server, "SELECT * FROM t ORDER BY id") == [[1, "Z\u00fcrich"], [2, None]]


@pytest.mark.parametrize("query, expected", [
    ("VALUES (1, 2)", [[1, 2]]), ("VALUES (1), (2)", [[1], [2]]), ("VALUES (1, 1)", [[1, 1]]),
    ("values(concat('a', 'b'), 'ab'), ('x', NULL)", [["ab", "ab"], ["x", None]]), ("TABLE t", None), ("DESCRIBE t", None),
    ("SHOW TABLES LIKE 't'", [["t"]]), ("(SELECT 2) UNION ALL (SELECT 1)", [[2], [1]]), ("SELECT 'it\\'s'", [["it's"]]),
    ("SELECT insert('abc', 1, 1, 'x') # one", [["xbc"]]), ("WITH sleep(a) AS (SELECT 1) SELECT * FROM sleep", [[1]])])
def test_what_gives_rows_gives_them_and_the_connection_lives(server, query, expected):  # Q6, Q18
    answer = sql(server, query)
    if expected is not None:
        assert answer.object["rows"] == expected
    (before,) = helpers(server)
    assert rows(server, "SELECT id FROM t ORDER BY id") == [[1], [2]]
    assert helpers(server) == {before}


@pytest.mark.parametrize("query", ["SHOW PROCESSLIST", "show engines", "SHOW WARNINGS"])
def test_what_is_not_told_to_drivers_is_pointed_to(server, query):
    assert sql(server, query).texts == ["the database tells drivers no rows of this SHOW; ask information_schema, as in "
                                        "SELECT * FROM information_schema.processlist"]
    assert len(rows(server, "SELECT * FROM information_schema.processlist")) > 0


def test_a_plan_is_read_as_json(server):  # Q18
    assert "query_block" in json.loads(rows(server, "EXPLAIN FORMAT=JSON SELECT * FROM t")[0][0])


@pytest.mark.parametrize("query", [
    "select w.as into outfile '{}' from (select 'owned' as `as`) w", "select w.as into dumpfile '{}' from (select 1 as `as`) w",
    "select * from (select 1 as `as`) w where w.as for update", "select load_file('{}')", "select sleep(9)", "select nextval(s)",
    "select 'a\\\\' into outfile '{}'", "with a as (select 1) delete from t", "select @a. into outfile '{}'",
    "select id, @. into dumpfile '{}' from t", "select id from t where @a. lock in share mode"])
def test_what_writes_or_waits_is_refused_by_its_text(server, mariadb, query):  # Q1
    path = mariadb.folder / "evil.txt"
    assert "exec_sql" in sql(server, query.format(path)).texts[-1]
    assert not path.exists() and mariadb.ask("SELECT count(*) FROM t") == "2"


def test_what_the_text_does_not_show_the_database_refuses(server, mariadb):  # Q14
    """A table that knows no transactions, too."""
    answer = sql(server, "SELECT sneak()")
    assert answer.is_error and "READ ONLY transaction" in answer.texts[-1]
    assert mariadb.ask("SELECT count(*) FROM m") == "0"


def test_nothing_stays_in_a_connection_that_is_kept(server):  # Q14
    assert rows(server, "SELECT @a := 5") == [[5]]
    assert rows(server, "SELECT @a") == [[None]]
    assert rows(server, "SELECT LAST_INSERT_ID(7)") == [[7]]
    assert rows(server, "SELECT last_insert_id()") == [[0]]


def test_what_functions_leave_in_a_connection_that_is_kept_is_gone(server, mariadb):
    mariadb.ask("DELIMITER //\nCREATE OR REPLACE FUNCTION stain() RETURNS int BEGIN SET @leak = 42; SET SESSION group_concat_max_len = 7, "
                "time_zone = '+05:00', sql_mode = 'NO_BACKSLASH_ESCAPES'; RETURN get_lock('held', 0); END //\n")
    asked = "SELECT @leak, @@group_concat_max_len, @@time_zone, @@sql_mode, @@autocommit, is_used_lock('held'), connection_id()"
    (new,) = rows(server, asked)
    assert new[0] is None and new[4:6] == [0, None] and "NO_BACKSLASH_ESCAPES" not in new[3]
    assert rows(server, "SELECT stain()") == [[1]]
    assert rows(server, asked) == [new]
    assert mariadb.ask("SELECT is_used_lock('held')") == "NULL"


def test_what_a_connection_begins_with_stays_in_it(home, mariadb):
    connection = f"{mariadb.environment()['AZURE_DATABASE_CONNECTION_STRING']};INITSTMT={{SET time_zone = '+03:00', sort_buffer_size = 300000}}"
    with Server(home, env={**mariadb.environment(), "AZURE_DATABASE_CONNECTION_STRING": connection}) as server:
        answers = [rows(server, "SELECT @@time_zone, @@sort_buffer_size, connection_id()") for _ in range(3)]
    assert answers[0][0][:2] == ["+03:00", 300000] and answers == [answers[0]] * 3


@pytest.mark.parametrize("mode", ["MSSQL", "ORACLE,NO_BACKSLASH_ESCAPES", "ANSI"])
def test_a_query_means_the_same_in_each_mode_of_the_server(home, mariadb, mode):
    """Else what the check of the text takes for a string would be a name in brackets and a function behind it."""
    old = mariadb.ask("SELECT @@global.sql_mode")
    mariadb.ask(f"SET GLOBAL sql_mode = '{mode}'")
    try:
        with Server(home, env=mariadb.environment()) as server:
            assert rows(server, "SELECT 'it\\'s'") == [["it's"]]
            assert sql(server, "SELECT [a'], sleep(0) FROM (SELECT 1 AS `a'`) t -- '").is_error
    finally:
        mariadb.ask(f"SET GLOBAL sql_mode = '{old}'")


@pytest.mark.parametrize("charset", ["gbk", "sjis", "latin1", "utf8"])
def test_characters_are_unicode_whatever_a_connection_says(home, mariadb, charset):
    """In GBK the backslash would be half of a character, and the string end before sleep."""
    connection = mariadb.environment()["AZURE_DATABASE_CONNECTION_STRING"] + f";charset={charset}"
    with Server(home, env={**mariadb.environment(), "AZURE_DATABASE_CONNECTION_STRING": connection}) as server:
        assert rows(server, "SELECT '\u4e5c\\', sleep(0) #'") == [["\u4e5c', sleep(0) #"]]
        assert rows(server, "SELECT name, '\U0001f600\u6771', ? FROM t WHERE id = 1", params=["\u6771"]) == [["Z\u00fcrich", "\U0001f600\u6771", "\u6771"]]


def test_params_are_bound(server):
    assert rows(server, "SELECT id FROM t WHERE name = ?", params=["Z\u00fcrich"]) == [[1]]
    assert rows(server, "SELECT ?, ?, ?, ?", params=[1, 0.1 + 0.2, "x' OR 1=1", None]) == [[1, 0.1 + 0.2, "x' OR 1=1", None]]
    assert "forgets the values of parameters within VALUES; write SELECT ? UNION ALL SELECT ?" in \
        sql(server, "SELECT 'a' UNION VALUES (?)", params=["abcdef"]).texts[-1]
    assert sql(server, "VALUES (1, (2)), (3, ?)", params=["abcdef"]).is_error
    assert rows(server, "WITH v(a) AS (VALUES (1),(2)) SELECT a, ? FROM v WHERE a=?", params=[7, 2]) == [[2, 7]]
    assert "the query has 2 parameters, params has 1" in sql(server, "SELECT ?, ?", params=[1]).texts[-1]


def test_more_parameters_than_the_driver_counts_are_refused(server):
    def ask(places, values):
        return sql(server, f"SELECT '?', 1 FROM dual WHERE 1 IN ({','.join('?' * places)})", params=[1] * values)
    assert not ask(32767, 32767).is_error
    for places, values in ((32768, 32768), (65537, 1)):
        assert ask(places, values).texts == [f"the query has {places} parameters, more than 32767"]
    assert rows(server, "SELECT 1") == [[1]]


def test_an_integer_beyond_64_bits_is_told_to_be_passed_as_a_text_and_is_exact_so(server):  # Q23
    large = 1 << 64
    refused = server.start("tools/call", {"name": "exec_sql", "arguments": {"session_id": "s", "query": "SELECT ?", "params": [large]}}).get()
    assert "in quotes" in refused["error"]["message"]
    query = "SELECT ? = 18446744073709551615, ? = 18446744073709551614"
    assert rows(server, query, params=[str(large - 1)] * 2) == [[1, 0]]


def test_long_values_among_short_ones_come_whole(server, home):
    """The driver, asked for one value of a block of rows, gives that of another row."""
    answer = sql(server, "SELECT seq, repeat('\u00e4', seq * seq), IF(seq % 7 = 0, NULL, repeat('x', seq * 300)) FROM seq_1_to_200")
    _, *lines = fetched(home, answer)
    for n, a, b in lines:
        assert a == "\u00e4" * int(n) ** 2 and b == ("" if int(n) % 7 == 0 else "x" * int(n) * 300), n
    assert len(lines) == 200


def test_the_database_gives_no_more_rows_than_are_wanted(home, mariadb):  # Q7
    """What is left of a result has to be read, too."""
    with Server(home, env={**mariadb.environment(), "PTYCELL_FILE_MAX": "1M"}) as server:
        rows(server, "SELECT seq FROM seq_1_to_1000")
        few = peak_kb(next(iter(helpers(server))))
        answer = sql(server, "SELECT seq, concat('row ', seq) FROM seq_1_to_3000000")
        assert answer.object["row_count"] < 100_000 and answer.object["truncated"] is True
        assert peak_kb(next(iter(helpers(server)))) < few + 16384


def test_memory_does_not_grow_with_the_rows(server):  # Q7
    """A million rows of 200 bytes; four million, as many as a file holds, with PTYCELL_FULL=1."""
    query = "SELECT seq, concat('row ', seq) AS name, repeat('x', 190) AS x FROM seq_1_to_{}"
    sql(server, query.format(20000))
    few = peak_kb(next(iter(helpers(server))))
    answer = sql(server, query.format(ROWS))
    assert answer.object["row_count"] == ROWS and peak_kb(next(iter(helpers(server)))) < few + 16384
    assert server.cell(answer.texts[-1].splitlines()[-1] + "\ndf.seq.sum(), df.name.nunique()").text == f"({ROWS * (ROWS + 1) // 2}, {ROWS})\n"


@pytest.mark.parametrize("row", [1, 2, 1000, 90000])
def test_an_error_in_a_later_row_is_no_shorter_answer(server, row):
    answer = sql(server, f"SELECT seq, (SELECT a.seq FROM seq_1_to_2 a WHERE b.seq = {row}) FROM seq_1_to_100000 b")
    assert answer.is_error and "Subquery returns more than 1 row" in answer.texts[-1]
    assert listed(server) == [] and rows(server, "SELECT 1") == [[1]]


def test_a_query_whose_rows_flow_is_cancelled(server, mariadb, home):
    running = server.start("tools/call", {"name": "exec_sql", "arguments": {
        "session_id": "s", "query": "SELECT a.seq FROM seq_1_to_1000000000 a, seq_1_to_1000000000 b"}})
    until(lambda: parts(home))
    server.cancel(running)
    until(lambda: mariadb.ask(BUSY) == "0")
    assert rows(server, "SELECT 1") == [[1]] and inputs(home) == []


def test_rows_that_nobody_wants_do_not_disturb_the_next_query(home, mariadb):
    with Server(home, env={**mariadb.environment(), "PTYCELL_FILE_MAX": "1M"}) as server:
        answer = sql(server, "SELECT seq, repeat('x', 1000) FROM seq_1_to_100000")
        assert answer.object["truncated"] is True and 1000 < answer.object["row_count"] < 2000
        (before,) = helpers(server)
        assert rows(server, "SELECT id FROM t ORDER BY id") == [[1], [2]] and helpers(server) == {before}


@pytest.mark.parametrize("query, warning", [
    ("WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5000) SELECT count(*) FROM r", "exceeded max_recursive_iterations"),
    ("SELECT length(group_concat(repeat('x', 1000))) FROM seq_1_to_3000", "was cut by GROUP_CONCAT"),
    ("SELECT CAST('2024-02-30' AS date), 1 / 0, 'a\\nb' + 1 FROM seq_1_to_10", "Incorrect datetime value: '2024-02-30'")])
def test_what_the_database_warns_of_is_told(server, query, warning):
    answer = sql(server, query)
    told = [text for text in answer.texts[-1].splitlines() if "the database warns: " in text]
    assert warning in told[0] and len(told) == (3 if "1 / 0" in query else 1), answer.texts
    assert "the database warns" not in str(sql(server, "SELECT 1").texts)
    assert "the database warns" not in str(sql(server, "EXPLAIN SELECT 1").texts)


def test_an_error_is_told_and_the_next_query_runs(server):
    assert sql(server, "SELECT nope FROM t").texts == ["Unknown column 'nope' in 'SELECT' (SQLSTATE 42S22)"]
    assert rows(server, "SELECT 1") == [[1]]


def test_a_cancelled_query_ends_in_the_database(server, mariadb):
    running = server.start("tools/call", {"name": "exec_sql", "arguments": {"session_id": "s", "query": LONG}})
    until(lambda: mariadb.ask(BUSY) == "1")
    server.cancel(running)
    until(lambda: mariadb.ask(BUSY) == "0")
    assert rows(server, "SELECT 1") == [[1]]


def test_a_query_past_its_deadline_is_stopped(home, mariadb):
    with Server(home, env={**mariadb.environment(), "PTYCELL_QUERY_TIMEOUT": "1"}) as server:
        assert "ran into its deadline of 1 s" in sql(server, LONG).texts[-1]
    until(lambda: mariadb.ask(BUSY) == "0")


def test_the_database_knows_how_long_a_query_may_take(server):
    assert rows(server, "SELECT @@max_statement_time = 300.5") == [[1]]


def test_a_connection_that_was_lost_is_made_anew(server, mariadb):
    assert rows(server, "SELECT 1") == [[1]]
    mariadb.stop()
    mariadb.start()
    assert rows(server, "SELECT id FROM t WHERE id = ?", params=[2]) == [[2]]


def test_several_queries_at_once_are_answered_in_turn(server):
    started = [server.start("tools/call", {"name": "exec_sql", "arguments": {
        "session_id": "s", "query": f"SELECT {i}"}}) for i in range(5)]
    assert [Result(a.get()["result"]).object["rows"] for a in started] == [[[i]] for i in range(5)]


def test_a_wrong_password_is_told_without_it(home, mariadb):
    with Server(home, env={**mariadb.environment(), "AZURE_DATABASE_PASSWORD": "wr0ng;}"}) as server:
        answer = sql(server, "SELECT 1")
    assert answer.is_error and "Access denied" in answer.texts[-1]
    assert "wr0ng" not in json.dumps(answer.raw) and PASSWORD not in json.dumps(answer.raw)


def test_an_address_is_a_connection(home, mariadb):  # Q23
    """The driver is found."""
    address = f"mysql://boss:{urllib.parse.quote(PASSWORD)}@localhost/shop?socket={urllib.parse.quote(mariadb.socket)}"
    with Server(home, env={"PTYCELL_SQL_SHOP": address}) as server:
        assert rows(server, "SELECT id FROM t ORDER BY id", database="shop") == [[1], [2]]


def test_a_server_that_accepts_and_never_answers_is_given_up(home):  # Q15
    with socket.create_server(("127.0.0.1", 0)) as listener, Server(home, env={
            "PTYCELL_SQL_SHOP": f"mysql://me:s3cret@127.0.0.1:{listener.getsockname()[1]}/shop"}) as server:
        answer = sql(server, "SELECT 1", database="shop")
    assert answer.is_error and "connecting to the database: " in answer.texts[-1] and "s3cret" not in answer.texts[-1]

# SPDX-License-Identifier: MIT
"""exec_sql by FreeTDS's driver, on a program that answers as SQL Server would."""
import json
import pathlib

import pytest
import tds
from client import Server
from patience import until

SLOW = "SELECT slow FROM t"
ANSWERS = {
    "FROM types": tds.table(
        [("id", tds.INT), ("big", tds.BIGINT), ("price", tds.DECIMAL), ("name", tds.TEXT), ("name", tds.TEXT),
         ("weight", tds.FLOAT), ("sold", tds.BIT), ("raw", tds.BINARY), ("at", tds.TIME)],
        [[1, 2 ** 63 - 1, 110, "Z\u00fcrich", None, 0.1, 1, b"\0\xff", (738944, 45296 * 10 ** 7)],
         [2, None, -5, "x" * 300, "", 1e300, 0, b"", (0, 0)]]),
    "FROM many": tds.table([("n", tds.INT), ("s", tds.TEXT)], [[i, f"row {i}"] for i in range(20000)]),
    "FROM nowhere": tds.error(208, "Invalid object name 'nowhere'."),
    SLOW: None,
}


@pytest.fixture
def sql_server():
    if not list(pathlib.Path("/usr/lib").glob("*/odbc/libtdsodbc.so")):
        pytest.skip("no FreeTDS driver (apt install tdsodbc)")
    running = tds.Tds(ANSWERS)
    yield running
    running.close()


def environment(sql_server, password="s3cret;x"):
    (driver, *_) = pathlib.Path("/usr/lib").glob("*/odbc/libtdsodbc.so")
    return {"AZURE_DATABASE_CONNECTION_STRING": f"Driver={driver};Server=127.0.0.1;Port={sql_server.port};UID=u;"
            "PWD={your_password_here};TDS_Version=7.4", "AZURE_DATABASE_PASSWORD": password}


@pytest.fixture
def server(home, sql_server):
    # A driver named by its file: the dialect is what the database calls itself.
    with Server(home, env=environment(sql_server)) as running:
        yield running


def sql(server, query, **arguments):
    return server.call("exec_sql", session_id="s", query=query, **arguments)


def test_values_come_as_they_are(server):
    answer = sql(server, "SELECT * FROM types")
    assert not answer.is_error, answer.texts
    assert answer.object["rows"] == [
        [1, "9223372036854775807", "1.10", "Z\u00fcrich", None, 0.1, True, "AP8=", "2024-02-29T12:34:56.0000000"],
        [2, None, "-0.05", "x" * 300, "", 1e300, False, "", "0001-01-01T00:00:00.0000000"]]
    assert [c["name"] for c in answer.object["columns"]][3:5] == ["name", "name"]


def test_params_are_bound_and_never_text(server, sql_server):
    """VARCHAR would pass through the server's code page: what is not ASCII is NVARCHAR."""
    bound = ["x' OR 1=1 --", "Z\u00fcrich \u20ac \u6771", 9007199254740993, 2.5, True, None, "y" * 5000, "\u00e9" * 5000]
    answer = sql(server, "SELECT * FROM types WHERE a IN (?, ?, ?, ?, ?, ?, ?, ?)", params=bound)
    assert not answer.is_error and len(answer.object["rows"]) == 2, answer.texts
    (call,) = sql_server.calls
    text = call.decode("utf-16-le", "ignore") + call[1:].decode("utf-16-le", "ignore")
    assert "SELECT * FROM types WHERE a IN (@P1, @P2, @P3, @P4, @P5, @P6, @P7, @P8)" in text and "OR 1=1" not in text
    declared = [part.split(" ")[1].split("(")[0] for part in text[text.index("@P1 "):].split("\0")[0].split(",")]
    assert declared[:6] == ["VARCHAR", "NVARCHAR", "BIGINT", "FLOAT", "BIT", "VARCHAR"]
    for sent in (b"x' OR 1=1 --", "Z\u00fcrich \u20ac \u6771".encode("utf-16-le"), (9007199254740993).to_bytes(8, "little"),
                 b"y" * 5000, ("\u00e9" * 5000).encode("utf-16-le")):
        assert sent in call
    until(lambda: sql_server.seen[-2:] == ["begin", "rollback"])  # it ends behind the answer
    assert "2 parameters, params has 1" in sql(server, "SELECT ?, ? FROM types", params=[1]).texts[-1]


def test_many_rows_go_to_a_file(server):
    answer = sql(server, "SELECT * FROM many")
    assert answer.object["row_count"] == 20000 and answer.object["file_path"]


def test_a_query_is_in_a_snapshot_that_is_rolled_back(server, sql_server):
    sql(server, "SELECT * FROM types")
    sql(server, "SELECT * FROM many")
    assert "sys.databases" in sql_server.seen[0]
    until(lambda: sql_server.seen[1:] == ["SET TRANSACTION ISOLATION LEVEL SNAPSHOT", "begin", "SELECT * FROM types", "rollback",
                                          "SELECT * FROM many", "rollback"])  # it ends behind the answer


def test_a_database_without_snapshots_is_asked_without(home, sql_server):
    sql_server.answers["sys.databases"] = tds.table([("", tds.INT)], [])
    with Server(home, env=environment(sql_server)) as server:
        assert not sql(server, "SELECT * FROM types").is_error
    assert not [text for text in sql_server.seen if "ISOLATION" in str(text)]


def test_what_writes_never_reaches_the_database(server, sql_server):
    queries = {"DELETE FROM t", "SELECT 1 COMMIT", "SELECT * INTO n FROM t", "SELECT 1 xp_cmdshell 'dir'",
               "SELECT NEXT VALUE FOR s", "SELECT * FROM t WITH (UPDLOCK)", "SELECT 1 WAITFOR DELAY '1'"}
    for query in queries:
        assert "line 1, column " in sql(server, query).texts[-1]
    assert not queries & set(sql_server.seen)


def test_an_error_is_told_and_the_next_query_runs(server):
    answer = sql(server, "SELECT * FROM nowhere")
    assert answer.is_error and "Invalid object name 'nowhere'." in answer.texts[-1]
    assert not sql(server, "SELECT * FROM types").is_error


def test_a_connection_that_was_lost_is_made_anew(server, sql_server):
    assert not sql(server, "SELECT * FROM types").is_error
    sql_server.hang_up()
    assert sql(server, "SELECT * FROM types").object["row_count"] == 2
    assert len(sql_server.logins) == 2
    sql_server.hang_up()
    assert sql(server, "SELECT * FROM types WHERE a = ?", params=[1]).object["row_count"] == 2
    assert len(sql_server.logins) == 3


def test_a_cancelled_query_is_cancelled_in_the_database(server, sql_server):
    running = server.start("tools/call", {"name": "exec_sql", "arguments": {"session_id": "s", "query": SLOW}})
    until(lambda: SLOW in sql_server.seen)
    server.cancel(running)
    assert not sql(server, "SELECT * FROM types").is_error


@pytest.mark.parametrize("password", ["plain", "s3cret;x", "a=b c", "{x", "{x}y", "a}b}", "a;b}", "a}}b", "pa;ss}wo{rd=1"])
def test_the_password_arrives_as_it_is_and_is_told_nowhere(home, sql_server, password):
    with Server(home, env=environment(sql_server, password)) as server:
        answer = sql(server, "SELECT * FROM nowhere")
    assert sql_server.logins[0]["user"] == "u" and sql_server.logins[0]["password"] == password
    assert password not in json.dumps(answer.raw)


def test_a_password_that_the_driver_cannot_be_told_is_an_error_that_says_so(home, sql_server):
    """FreeTDS 1.3 ends a value at "};", and nothing escapes that; 1.4 and later read doubled braces."""
    password = "a};b"
    with Server(home, env=environment(sql_server, password)) as server:
        answer = sql(server, "SELECT * FROM types")
    if answer.is_error:
        assert "FreeTDS before version 1.4 takes no password with '};' in it" in answer.texts[-1]
        assert sql_server.logins == [] and password not in json.dumps(answer.raw)
    else:
        assert sql_server.logins[0]["password"] == password


def test_a_replica_that_can_only_be_read_will_do(server, sql_server):
    sql(server, "SELECT * FROM types")
    assert sql_server.logins[0]["read_only"]
